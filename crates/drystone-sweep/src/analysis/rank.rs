//! Rankings: the method of Tsafrir, Etsion & Feitelson 2007, section 7.

use super::condition::parameter_levels;
use super::table::round_digits;
use super::{CandidateTable, Subspace};
use serde::Serialize;

/// Candidates by how much worse than the best of each test case they are, on average.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The best value of each test case.
    pub tests: Vec<TestCase>,
    /// The candidates, best first; equal ones in the order of the study.
    pub ranked: Vec<RankedCandidate>,
    /// Number of metrics: test cases go metric by metric.
    metrics: usize,
}

/// A workload and a metric.
#[derive(Clone, Debug, Serialize)]
pub struct TestCase {
    pub workload: String,
    pub metric: String,
    pub best: f64,
    pub policy: String,
}

/// A candidate in its place.
#[derive(Clone, Debug)]
pub struct RankedCandidate {
    /// From 1: how many are better, and one. Equal ones share a rank, so that the order in which a
    /// study names its values makes no difference.
    pub rank: usize,
    /// Its place in the table's candidates.
    pub candidate: usize,
    /// Rank by each metric of the table alone.
    pub by_metric: Vec<usize>,
    /// Mean of the degradations, in percent.
    pub average: f64,
    /// Distance from the best of each test case, in percent.
    pub degradations: Vec<f64>,
}

/// Distribution of a parameter's values over the ranks (figure 9 of the paper).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RankDistribution {
    pub parameter: String,
    /// Number of configurations with the parameter in the first 5 % of ranks, the next 5 %, and so
    /// on. Bins differ in size where configurations share a rank, because equal ranks share a bin.
    pub configurations: Vec<usize>,
    /// Its values.
    pub shares: Vec<RankShare>,
}

/// The share that a value has of each twentieth of the ranks.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RankShare {
    /// The value, or `1..9` for a group.
    pub value: String,
    /// Share of the configurations in the first 5 % of ranks, the next 5 %, …; `None` where a bin
    /// is empty.
    pub bins: Vec<Option<f64>>,
    /// Number of configurations per bin.
    #[serde(skip)]
    pub counts: Vec<usize>,
    /// True for a number: only neighbouring numbers make a meaningful group.
    #[serde(skip)]
    pub number: bool,
}

/// Average degradation for each value of a parameter (figure 10).
#[derive(Clone, Debug, Serialize)]
pub struct ValueDegradation {
    pub parameter: String,
    /// Value, and the spread of those that have it.
    pub values: Vec<(String, SetQuality)>,
}

/// Quality of a set of configurations (figure 11, table 12).
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SetQuality {
    /// Number of configurations.
    pub count: usize,
    /// The smallest average degradation, in percent.
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    /// Their standard deviation (of the population).
    pub deviation: f64,
    pub best_rank: usize,
    pub worst_rank: usize,
}

/// Bins of ranks.
const BINS: usize = 20;
/// A parameter with more numbers than this is shown in groups.
const MANY: usize = 8;
const GROUPS: usize = 6;

fn compute_shares(counts: &[usize], of: &[usize]) -> Vec<Option<f64>> {
    counts.iter().zip(of).map(|(&n, &of)| (of > 0).then(|| n as f64 / of as f64)).collect()
}

fn sum_bins(bins: &[usize], edges: &[usize]) -> Vec<usize> {
    edges.windows(2).map(|edge| bins[edge[0]..edge[1]].iter().sum()).collect()
}

impl RankDistribution {
    /// Returns the distribution with fewer bins, each from one of these edges (in twentieths) up to
    /// the next.
    ///
    /// # Panics
    /// Edges that are no places of bins in ascending order.
    pub fn merge_bins(&self, edges: &[usize]) -> RankDistribution {
        let configurations = sum_bins(&self.configurations, edges);
        let merged_shares = self.shares.iter().map(|share| {
            let counts = sum_bins(&share.counts, edges);
            RankShare { bins: compute_shares(&counts, &configurations), counts, ..share.clone() }
        });
        RankDistribution { parameter: self.parameter.clone(), shares: merged_shares.collect(), configurations }
    }

    /// Returns the distribution with long lists of numbers merged into six groups of neighbours;
    /// words stay single.
    pub fn group_numbers(&self) -> RankDistribution {
        let (numbers, words): (Vec<&RankShare>, Vec<&RankShare>) = self.shares.iter().partition(|share| share.number);
        if numbers.len() <= MANY {
            return self.clone();
        }
        let group = |members: &[&RankShare]| {
            let counts = (0..self.configurations.len()).map(|bin| members.iter().map(|m| m.counts[bin]).sum());
            let counts: Vec<usize> = counts.collect();
            let value = match members {
                [only] => only.value.clone(),
                [first, .., last] => format!("{}..{}", first.value, last.value),
                [] => String::new(),
            };
            RankShare { value, bins: compute_shares(&counts, &self.configurations), counts, number: true }
        };
        let groups = numbers.chunks(numbers.len().div_ceil(GROUPS)).map(group);
        let shares = groups.chain(words.into_iter().cloned()).collect();
        RankDistribution { parameter: self.parameter.clone(), configurations: self.configurations.clone(), shares }
    }
}

impl Ranking {
    pub fn from_table(table: &CandidateTable) -> Ranking {
        let (bests, degradations) = table.degradations();
        let mut ranked_candidates: Vec<RankedCandidate> = degradations
            .into_iter()
            .enumerate()
            .map(|(candidate, degradations)| {
                let average = round_digits(degradations.iter().sum::<f64>() / degradations.len() as f64);
                RankedCandidate { rank: 0, candidate, by_metric: Vec::new(), average, degradations }
            })
            .collect();
        ranked_candidates.sort_by(|a, b| a.average.total_cmp(&b.average).then(a.candidate.cmp(&b.candidate)));
        let tests = bests
            .into_iter()
            .enumerate()
            .map(|(test, best)| TestCase {
                workload: table.case_of(test).to_string(),
                metric: table.metric_of(test).to_string(),
                best: table.candidates[best].values[test],
                policy: table.candidates[best].policy_on(test / table.metrics.len()).to_string(),
            })
            .collect();
        let mut ranking = Ranking { tests, ranked: ranked_candidates, metrics: table.metrics.len() };
        ranking.number_ranks();
        ranking
    }

    /// Returns the distribution of each parameter's values over the ranks; parameters with one
    /// value are left out.
    pub fn value_distributions(&self, table: &CandidateTable) -> Vec<RankDistribution> {
        let mut distributions = Vec::new();
        for (at, parameter) in table.parameters.iter().enumerate() {
            let levels = parameter_levels(table, at);
            if levels.len() < 2 {
                continue;
            }
            let mut configurations = vec![0; BINS];
            let mut counts = vec![vec![0; BINS]; levels.len()];
            for entry in &self.ranked {
                let bin = (entry.rank - 1) * BINS / self.ranked.len().max(1);
                let level = &table.candidates[entry.candidate].point[at];
                if let Some(value) = level.as_ref().and_then(|l| levels.iter().position(|level| level == l)) {
                    configurations[bin] += 1;
                    counts[value][bin] += 1;
                }
            }
            // In a subspace a parameter may have fewer values.
            let pairs = levels.iter().zip(counts).filter(|(_, counts)| counts.iter().any(|&n| n > 0));
            let shares = pairs.map(|(level, counts)| RankShare {
                value: level.to_string(),
                bins: compute_shares(&counts, &configurations),
                counts,
                number: level.as_number().is_some(),
            });
            let shares: Vec<RankShare> = shares.collect();
            if shares.len() > 1 {
                distributions.push(RankDistribution { parameter: parameter.clone(), configurations, shares });
            }
        }
        distributions
    }

    /// Average degradation against the values of each parameter.
    pub fn value_degradations(&self, table: &CandidateTable) -> Vec<ValueDegradation> {
        let mut degradations = Vec::new();
        for (at, parameter) in table.parameters.iter().enumerate() {
            let levels = parameter_levels(table, at);
            if levels.len() < 2 {
                continue;
            }
            let values = levels
                .iter()
                .filter_map(|level| {
                    let level_quality = self
                        .compute_quality(|candidate| table.candidates[candidate].point[at].as_ref() == Some(level))?;
                    Some((level.to_string(), level_quality))
                })
                .collect();
            degradations.push(ValueDegradation { parameter: parameter.clone(), values });
        }
        degradations
    }

    /// Returns the quality of the candidates of a subspace, or `None` if it is empty. Degradations
    /// and ranks are those of the whole ranking.
    pub fn subspace_quality(&self, table: &CandidateTable, subspace: &Subspace) -> Option<SetQuality> {
        self.compute_quality(|candidate| subspace.holds_for(&table.candidates[candidate]))
    }

    /// Returns the ranking of the candidates of a subspace alone: their ranks count from 1 again,
    /// their degradations stay those of the whole.
    pub fn within_subspace(&self, table: &CandidateTable, subspace: &Subspace) -> Ranking {
        let members = self.ranked.iter().filter(|entry| subspace.holds_for(&table.candidates[entry.candidate]));
        let mut ranking =
            Ranking { tests: self.tests.clone(), ranked: members.cloned().collect(), metrics: self.metrics };
        ranking.number_ranks();
        ranking
    }

    /// Numbers the candidates, which are in order; equal ones share a rank.
    fn number_ranks(&mut self) {
        let mut before = (f64::NAN, 0);
        for (at, entry) in self.ranked.iter_mut().enumerate() {
            if entry.average != before.0 {
                before = (entry.average, at + 1);
            }
            entry.rank = before.1;
        }
        for metric in 0..self.metrics {
            self.rank_by(metric);
        }
    }

    /// Ranks by the mean degradation of one metric.
    fn rank_by(&mut self, metric: usize) {
        let mean = |entry: &RankedCandidate| {
            let own: Vec<f64> = entry.degradations.iter().skip(metric).step_by(self.metrics).copied().collect();
            round_digits(own.iter().sum::<f64>() / own.len() as f64)
        };
        let means: Vec<f64> = self.ranked.iter().map(mean).collect();
        let mut sorted_means = means.clone();
        sorted_means.sort_by(f64::total_cmp);
        for (entry, mean) in self.ranked.iter_mut().zip(means) {
            entry.by_metric.truncate(metric);
            entry.by_metric.push(1 + sorted_means.partition_point(|rival_mean| *rival_mean < mean));
        }
    }

    /// Returns the quality of all candidates.
    pub fn overall_quality(&self) -> Option<SetQuality> {
        self.compute_quality(|_| true)
    }

    fn compute_quality(&self, holds: impl Fn(usize) -> bool) -> Option<SetQuality> {
        // In the order of ranks, so that the first is the best.
        let members: Vec<&RankedCandidate> = self.ranked.iter().filter(|r| holds(r.candidate)).collect();
        let (first, last) = (members.first()?, members.last()?);
        let count = members.len();
        let mean = members.iter().map(|r| r.average).sum::<f64>() / count as f64;
        let variance = members.iter().map(|r| (r.average - mean).powi(2)).sum::<f64>() / count as f64;
        Some(SetQuality {
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
