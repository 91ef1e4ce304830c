//! Rankings: the method of Tsafrir, Etsion & Feitelson 2007, section 7.

use super::condition::sorted;
use super::{Subspace, Table};
use crate::Level;
use crate::error::SweepError;
use serde::Serialize;

/// Candidates by how much worse than the best of each test case they are, on average.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// What each test case's best is.
    pub tests: Vec<TestCase>,
    /// The candidates, best first; equal ones in the order of the study.
    pub ranked: Vec<Ranked>,
}

/// A workload and a metric.
#[derive(Clone, Debug, Serialize)]
pub struct TestCase {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// The best value.
    pub best: f64,
    /// The policy that has it.
    pub policy: String,
}

/// A candidate in its place.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// From 1: how many are better, and one. Equal ones share a rank, so that the order in which a study names its values makes
    /// no difference.
    pub rank: usize,
    /// Its place in the table's candidates.
    pub candidate: usize,
    /// Mean of the degradations, in percent.
    pub average: f64,
    /// How much worse than the best of each test case, in percent.
    pub degradations: Vec<f64>,
}

/// How the values of a parameter share the ranks (figure 9 of the paper).
#[derive(Clone, Debug, Serialize)]
pub struct Distribution {
    /// The parameter.
    pub parameter: String,
    /// Its values, or groups of neighbouring values where there are many.
    pub shares: Vec<Share>,
}

/// The share that a value has of each twentieth of the ranks.
#[derive(Clone, Debug, Serialize)]
pub struct Share {
    /// The value or group.
    pub value: String,
    /// Share of the configurations in the first 5 % of ranks, the next 5 %, …; `None` where a bin is empty.
    pub bins: Vec<Option<f64>>,
}

/// Average degradation for each value of a parameter (figure 10).
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// The parameter.
    pub parameter: String,
    /// Value, and the spread of those that have it.
    pub values: Vec<(String, Spread)>,
}

/// How good a set of configurations is (figure 11, table 12).
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// How many.
    pub count: usize,
    /// The smallest average degradation, in percent.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (of the population).
    pub deviation: f64,
    /// The best rank.
    pub best_rank: usize,
    /// The worst rank.
    pub worst_rank: usize,
}

/// Bins of ranks.
const BINS: usize = 20;
/// A parameter with more values than this is shown in groups.
const MANY: usize = 8;
/// Of which there are so many.
const GROUPS: usize = 6;

impl Ranking {
    /// Ranks the candidates of a table.
    ///
    /// # Errors
    /// As for [`Table::degradations`].
    pub fn of(table: &Table) -> Result<Ranking, SweepError> {
        let (bests, degradations) = table.degradations()?;
        let mut ranked: Vec<Ranked> = degradations
            .into_iter()
            .enumerate()
            .map(|(candidate, degradations)| {
                let average = degradations.iter().sum::<f64>() / degradations.len() as f64;
                Ranked { rank: 0, candidate, average, degradations }
            })
            .collect();
        ranked.sort_by(|a, b| a.average.total_cmp(&b.average).then(a.candidate.cmp(&b.candidate)));
        let mut before = (f64::NAN, 0);
        for (at, ranked) in ranked.iter_mut().enumerate() {
            if ranked.average != before.0 {
                before = (ranked.average, at + 1);
            }
            ranked.rank = before.1;
        }
        let tests = bests
            .into_iter()
            .enumerate()
            .map(|(test, best)| TestCase {
                workload: table.case_of(test).to_string(),
                metric: table.metric_of(test).to_string(),
                best: table.candidates[best].values[test],
                policy: table.candidates[best].policy.clone(),
            })
            .collect();
        Ok(Ranking { tests, ranked })
    }

    /// How the values of each parameter share the ranks; parameters with one value are left out.
    #[must_use]
    pub fn distributions(&self, table: &Table) -> Vec<Distribution> {
        let mut all = Vec::new();
        for (at, parameter) in table.parameters.iter().enumerate() {
            let levels = levels(table, at);
            if levels.len() < 2 {
                continue;
            }
            let groups: Vec<&[Level]> = if levels.len() > MANY {
                levels.chunks(levels.len().div_ceil(GROUPS)).collect()
            } else {
                levels.chunks(1).collect()
            };
            let mut totals = [0usize; BINS];
            let mut counts = vec![[0usize; BINS]; groups.len()];
            for ranked in &self.ranked {
                let bin = (ranked.rank - 1) * BINS / self.ranked.len();
                let level = &table.candidates[ranked.candidate].point[at];
                let group = level.as_ref().and_then(|l| groups.iter().position(|group| group.contains(l)));
                if let Some(group) = group {
                    totals[bin] += 1;
                    counts[group][bin] += 1;
                }
            }
            let shares = groups
                .iter()
                .zip(&counts)
                .map(|(group, counts)| Share {
                    value: match (group.first(), group.last()) {
                        (Some(first), Some(last)) if group.len() > 1 => format!("{first}..{last}"),
                        (Some(only), _) => only.to_string(),
                        _ => String::new(),
                    },
                    bins: counts.iter().zip(&totals).map(|(&n, &of)| (of > 0).then(|| n as f64 / of as f64)).collect(),
                })
                .collect();
            all.push(Distribution { parameter: parameter.clone(), shares });
        }
        all
    }

    /// Average degradation against the values of each parameter.
    #[must_use]
    pub fn against(&self, table: &Table) -> Vec<Against> {
        let mut all = Vec::new();
        for (at, parameter) in table.parameters.iter().enumerate() {
            let levels = levels(table, at);
            if levels.len() < 2 {
                continue;
            }
            let values = levels
                .iter()
                .filter_map(|level| {
                    let spread =
                        self.spread(|candidate| table.candidates[candidate].point[at].as_ref() == Some(level))?;
                    Some((level.to_string(), spread))
                })
                .collect();
            all.push(Against { parameter: parameter.clone(), values });
        }
        all
    }

    /// How good the candidates of a subspace are; `None` if it is empty. Degradations and ranks are those of the whole
    /// ranking.
    #[must_use]
    pub fn subspace(&self, table: &Table, subspace: &Subspace) -> Option<Spread> {
        self.spread(|candidate| subspace.holds(&table.candidates[candidate]))
    }

    /// How good all candidates are.
    #[must_use]
    pub fn whole(&self) -> Option<Spread> {
        self.spread(|_| true)
    }

    fn spread(&self, holds: impl Fn(usize) -> bool) -> Option<Spread> {
        // In the order of ranks, so that the first is the best.
        let members: Vec<&Ranked> = self.ranked.iter().filter(|r| holds(r.candidate)).collect();
        let (first, last) = (members.first()?, members.last()?);
        let count = members.len();
        let mean = members.iter().map(|r| r.average).sum::<f64>() / count as f64;
        let variance = members.iter().map(|r| (r.average - mean).powi(2)).sum::<f64>() / count as f64;
        Some(Spread {
            count,
            min: first.average,
            max: last.average,
            mean,
            deviation: variance.sqrt(),
            best_rank: first.rank,
            worst_rank: last.rank,
        })
    }
}

/// The values that a parameter takes.
fn levels(table: &Table, at: usize) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for level in table.candidates.iter().filter_map(|c| c.point[at].as_ref()) {
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    sorted(&mut levels);
    levels
}
