//! Results side by side: a candidate per point of the study, a value per test case.

use crate::error::SweepError;
use crate::{DesignLevel, Store, StoreRow, SweepMetric};
use drystone::metrics::Better;
use drystone::policy::PolicySpec;
use drystone::statistics::round_significant;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct CaseSelection {
    /// Metrics by name; all where empty.
    pub metrics: Vec<String>,
    /// Workloads, by name or by name with transformations; all where empty.
    pub workloads: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct CandidateTable {
    /// The study's parameters.
    pub parameters: Vec<String>,
    /// The metrics that count.
    pub metrics: Vec<SweepMetric>,
    /// The workloads that count.
    pub cases: Vec<String>,
    /// Those with a value for every test case, in the order of the study.
    pub candidates: Vec<StudyCandidate>,
    /// Points of the study that lack a value, those that were not simulated yet among them.
    pub incomplete: usize,
    /// The metrics that some simulations which were made have no value of, such as the error of
    /// reservations where none were made.
    pub undefined: Vec<SweepMetric>,
}

/// A point of the study, on all workloads.
#[derive(Clone, Debug)]
pub struct StudyCandidate {
    /// Its number in the study, from 1.
    pub number: usize,
    /// The name of the policy's entry in the study.
    pub name: String,
    /// The policy; without the variant of a published study where workloads do not share one.
    pub policy: String,
    /// The policy on each workload, where they differ: each with the variant of the study that its
    /// workload is of. Empty where all are `policy`.
    pub policies: Vec<String>,
    /// The values of the parameters.
    pub point: Vec<Option<DesignLevel>>,
    /// A value per test case: metric by metric for the first workload, then for the next; to
    /// [`DIGITS`].
    pub values: Vec<f64>,
    /// The simulation on each workload, by its number in the store.
    pub simulations: Vec<i64>,
}

/// Significant digits that values are compared to. Policies that do the same job by job in another
/// order may have sums, and with them means, that differ in the sixteenth.
pub const DIGITS: usize = 12;

/// A value to [`DIGITS`], so that equal ones are.
pub(super) fn round_digits(value: f64) -> f64 {
    round_significant(value, DIGITS)
}

/// Returns whether a policy knows true run times: a bound for others, impossible on a real machine.
/// Returns `false` for text that names no policy.
pub fn is_clairvoyant(policy: &str) -> bool {
    policy.parse::<PolicySpec>().is_ok_and(|spec| spec.build_scheduler().forecast.predictor.is_clairvoyant())
}

/// Returns the first of many values, in words.
pub fn list_some(values: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown_values = values.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if values.len() > SHOWN { format!("{shown_values}, … ({} values)", values.len()) } else { shown_values }
}

impl StudyCandidate {
    /// Returns whether the policy knows true run times.
    pub fn is_clairvoyant(&self) -> bool {
        is_clairvoyant(self.policy_on(0))
    }

    /// Returns whether its entry in the study has an explicit name.
    pub fn is_named(&self) -> bool {
        // What has none is called by what stands before its parameters, which may itself be a
        // parameter: `{spec}`.
        !self.name.contains('{') && self.policy.split(['(', '@', ' ']).next() != Some(self.name.as_str())
    }

    pub fn policy_on(&self, case: usize) -> &str {
        self.policies.get(case).unwrap_or(&self.policy)
    }
}

/// A policy's name for several workloads, and its names on each where they differ.
fn policy_names(rows: &[&StoreRow]) -> (String, Vec<String>) {
    let policies: Vec<&str> = rows.iter().map(|row| row.policy.as_str()).collect();
    let Some((first, rest)) = policies.split_first() else { return Default::default() };
    if rest.iter().all(|policy| policy == first) {
        return ((*first).to_string(), Vec::new());
    }
    let mut plain: Vec<String> = policies.iter().map(|policy| without_variant(policy)).collect();
    plain.dedup();
    (plain.join(" / "), policies.into_iter().map(str::to_string).collect())
}

/// `easy@tsafrir2007(reserve=2)` as `easy(reserve=2)`: what the study file says.
fn without_variant(policy: &str) -> String {
    let Some((name, rest)) = policy.split_once('@') else { return policy.to_string() };
    let end = rest.find('(').unwrap_or(rest.len());
    format!("{name}{}", &rest[end..])
}

/// A text that does not name one configuration of a table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CandidateError {
    #[error("no configuration that is ranked has this number, name or policy; there is {}", list_some(ranked))]
    Unknown {
        /// Number and policy of each configuration.
        ranked: Vec<String>,
    },
    #[error("{} configurations are called so; give a number of the study: {}", numbers.len(), list_some(numbers))]
    Ambiguous {
        /// Numbers in the study of those that are called so.
        numbers: Vec<String>,
    },
}

impl CandidateTable {
    /// The results of a store.
    ///
    /// # Errors
    /// The store cannot be read, has no such metric or workload, or no complete candidate.
    pub fn from_store(store: &Store, choice: &CaseSelection) -> Result<CandidateTable, SweepError> {
        store.check_results()?;
        let all_metrics = store.metrics()?;
        let mut metrics = Vec::new();
        for name in &choice.metrics {
            let position = all_metrics.iter().position(|m| m.to_string() == *name).ok_or_else(|| {
                let metric_names: Vec<String> = all_metrics.iter().map(ToString::to_string).collect();
                SweepError::analysis_error(format!(
                    "the store has no metric `{name}`; it has {}",
                    metric_names.join(", ")
                ))
            })?;
            if metrics.contains(&position) {
                return Err(SweepError::analysis_error(format!("the metric `{name}` is given twice")));
            }
            metrics.push(position);
        }
        if metrics.is_empty() {
            metrics = (0..all_metrics.len()).collect();
        }
        let all_cases = store.cases()?;
        for workload in &choice.workloads {
            if !all_cases.iter().any(|(label, name)| label == workload || name == workload) {
                let case_labels: Vec<&str> = all_cases.iter().map(|c| c.0.as_str()).collect();
                let problem = format!("the store has no workload `{workload}`; it has {}", case_labels.join(", "));
                return Err(SweepError::analysis_error(problem));
            }
        }
        let counts = |at: usize| {
            let (label, name) = &all_cases[at];
            choice.workloads.is_empty() || choice.workloads.iter().any(|w| w == label || w == name)
        };
        let cases: Vec<usize> = (0..all_cases.len()).filter(|&at| counts(at)).collect();
        // A plan goes point by point, and each point through all workloads.
        let mut points: BTreeMap<usize, Vec<Option<crate::StoreRow>>> = BTreeMap::new();
        for row in store.rows()? {
            let at = row.configuration as usize - 1;
            let point = points.entry(at / all_cases.len()).or_insert_with(|| vec![None; all_cases.len()]);
            point[at % all_cases.len()] = Some(row);
        }
        let mut candidates = Vec::new();
        let mut undefined_metrics: Vec<usize> = Vec::new();
        // Whether any simulation gave a value: a test case without is why nothing can be compared.
        let mut has_value = vec![false; cases.len() * metrics.len()];
        for (at, rows) in points {
            let simulated_rows = cases.iter().filter_map(|&case| rows[case].as_ref());
            undefined_metrics
                .extend(simulated_rows.flat_map(|row| metrics.iter().filter(|&&metric| row.values[metric].is_none())));
            let values: Vec<Option<f64>> = cases
                .iter()
                .flat_map(|&case| metrics.iter().map(move |&metric| (case, metric)))
                .map(|(case, metric)| rows[case].as_ref()?.values[metric].map(round_digits))
                .collect();
            has_value.iter_mut().zip(&values).for_each(|(any, value)| *any |= value.is_some());
            let rows: Option<Vec<&StoreRow>> = cases.iter().map(|&case| rows[case].as_ref()).collect();
            if let (Some(values), Some(rows)) = (values.into_iter().collect(), rows)
                && let Some(row) = rows.first()
            {
                let (policy, policies) = policy_names(&rows);
                let (name, point) = (row.name.clone(), row.point.clone());
                let simulations = rows.iter().map(|row| row.simulation).collect();
                candidates.push(StudyCandidate { number: at + 1, name, policy, policies, point, values, simulations });
            }
        }
        if candidates.is_empty() {
            let lacking = has_value.iter().position(|&any| !any).filter(|_| !undefined_metrics.is_empty());
            let problem = match lacking {
                Some(test) => format!(
                    "no configuration has a value of {} on {}: perhaps none of its jobs counts; leave it out with --metric \
                     or --workload",
                    all_metrics[metrics[test % metrics.len()]],
                    all_cases[cases[test / metrics.len()]].0
                ),
                None => "no configuration has results for every test case yet; see `drystone sweep status`".to_string(),
            };
            return Err(SweepError::analysis_error(problem));
        }
        undefined_metrics.sort_unstable();
        undefined_metrics.dedup();
        let configuration_count = store.status()?.configurations as usize / all_cases.len().max(1);
        Ok(CandidateTable {
            incomplete: configuration_count.saturating_sub(candidates.len()),
            undefined: undefined_metrics.into_iter().map(|at| all_metrics[at].clone()).collect(),
            parameters: store.parameters()?,
            metrics: metrics.into_iter().map(|at| all_metrics[at].clone()).collect(),
            cases: cases.into_iter().map(|at| all_cases[at].0.clone()).collect(),
            candidates,
        })
    }

    /// Returns the place of the only candidate with this number, name or policy, or says why there
    /// is none.
    pub fn find_candidate(&self, wanted: &str) -> Result<usize, CandidateError> {
        let number = wanted.parse::<usize>().ok();
        let is = |candidate: &StudyCandidate| match number {
            Some(number) => candidate.number == number,
            None => candidate.policy == wanted || candidate.name == wanted,
        };
        let places: Vec<usize> = (0..self.candidates.len()).filter(|&at| is(&self.candidates[at])).collect();
        match places[..] {
            [one] => Ok(one),
            [] => {
                let descriptions = self.candidates.iter().map(|c| format!("{} {}", c.number, c.policy));
                Err(CandidateError::Unknown { ranked: descriptions.collect() })
            }
            _ => {
                let numbers = places.iter().map(|&at| self.candidates[at].number.to_string());
                Err(CandidateError::Ambiguous { numbers: numbers.collect() })
            }
        }
    }

    /// Returns the reason why points are left out, in words: missing simulations or missing values
    /// of metrics.
    pub fn missing_reason(&self) -> String {
        let names: Vec<String> = self.undefined.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => "results".to_string(),
            names => format!("results or a value of {}", names.join(", ")),
        }
    }

    /// Returns whether metrics are of several kinds, which an average weighs against each other all
    /// the same: other than means over jobs, in several.
    pub fn mixes_kinds(&self) -> bool {
        self.metrics.len() > 1 && self.metrics.iter().any(|metric| !metric.is_mean())
    }

    pub fn metric_of(&self, test: usize) -> &SweepMetric {
        &self.metrics[test % self.metrics.len()]
    }

    pub fn case_of(&self, test: usize) -> &str {
        &self.cases[test / self.metrics.len()]
    }

    /// Number of test cases: workloads times metrics.
    pub fn test_count(&self) -> usize {
        self.cases.len() * self.metrics.len()
    }

    /// The place of the best candidate of each test case, and how much worse each candidate is, in
    /// percent: 100·P/B − 100 for its value P and the best value B, or 100·B/P − 100 where more is
    /// better (Tsafrir et al. 2007, section 7). Where all have the same value, 0 among them, none
    /// is worse.
    ///
    /// If some value is 0 and others are not, 0 has no multiple. Degradations are then in percent
    /// of the smallest value above 0: 100·P/S where less is better, and 100·B/S for 0 where more is
    /// better, so that 0 is a whole step of 100 points from S. [`CandidateTable::zero_tests`] says
    /// where.
    pub fn degradations(&self) -> (Vec<usize>, Vec<Vec<f64>>) {
        let mut bests = Vec::new();
        let mut degradations = vec![Vec::with_capacity(self.test_count()); self.candidates.len()];
        for test in 0..self.test_count() {
            let (best, worse) = self.test_degradation(test).unwrap_or_else(|| self.distances_from_zero(test));
            degradations.iter_mut().zip(worse).for_each(|(list, worse)| list.push(worse));
            bests.push(best);
        }
        (bests, degradations)
    }

    /// The test cases in which some value is 0 and others are not.
    pub fn zero_tests(&self) -> Vec<usize> {
        (0..self.test_count()).filter(|&test| self.test_degradation(test).is_none()).collect()
    }

    /// Degradations of a test case with zeros; see [`CandidateTable::degradations`].
    fn distances_from_zero(&self, test: usize) -> (usize, Vec<f64>) {
        let more = self.metric_of(test).better_direction() == Better::More;
        let values: Vec<f64> = self.candidates.iter().map(|candidate| candidate.values[test]).collect();
        let better = |a: usize, b: usize| if more { values[a] > values[b] } else { values[a] < values[b] };
        let best = (1..values.len()).fold(0, |best, at| if better(at, best) { at } else { best });
        let smallest = values.iter().copied().filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min);
        let b = values[best];
        let worse = |p: f64| match p {
            p if p == b => 0.0,
            // Nothing above 0: only an error is below.
            _ if smallest.is_infinite() => 100.0,
            p if more && p <= 0.0 => 100.0 * b / smallest,
            p if more => 100.0 * b / p - 100.0,
            p => 100.0 * (p - b) / smallest,
        };
        (best, values.iter().map(|&value| worse(value)).collect())
    }

    /// Returns the degradations of one test case; `None` where the best value is 0 and others are
    /// not.
    pub(super) fn test_degradation(&self, test: usize) -> Option<(usize, Vec<f64>)> {
        let more = self.metric_of(test).better_direction() == Better::More;
        let value = |at: usize| self.candidates[at].values[test];
        let better = |a: usize, b: usize| if more { value(a) > value(b) } else { value(a) < value(b) };
        let best = (1..self.candidates.len()).fold(0, |best, at| if better(at, best) { at } else { best });
        let divisor =
            if more { (0..self.candidates.len()).map(value).fold(f64::INFINITY, f64::min) } else { value(best) };
        if divisor <= 0.0 && (0..self.candidates.len()).any(|at| value(at) != value(best)) {
            return None;
        }
        let b = value(best);
        let worse = |p: f64| match p {
            p if p == b => 0.0,
            p if more => 100.0 * b / p - 100.0,
            p => 100.0 * p / b - 100.0,
        };
        Some((best, (0..self.candidates.len()).map(|at| worse(value(at))).collect()))
    }
}
