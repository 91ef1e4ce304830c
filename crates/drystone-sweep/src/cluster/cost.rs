//! Estimated duration of each simulation, from a few trial runs.

use crate::SweepPlan;
use crate::trial::try_simulation;
use drystone::statistics::arithmetic_mean;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

#[derive(Clone, PartialEq, Debug)]
pub struct Costs {
    /// Seconds on one thread of this machine of each simulation that was asked about, in that
    /// order.
    pub seconds: Vec<f64>,
    /// Simulations that were tried.
    pub tried: usize,
}

impl Costs {
    /// Seconds of all of them on one thread.
    pub fn total_seconds(&self) -> f64 {
        self.seconds.iter().sum()
    }
}

/// Simulations of one entry of the study on one workload, which take about the same time.
struct CostKind {
    case: usize,
    entry: usize,
    jobs: usize,
    /// Indices into `todo`.
    members: Vec<usize>,
    /// Duration of each trial, in seconds.
    took: Vec<f64>,
}

impl CostKind {
    /// Mean seconds per job of what was tried, without the slowest tenth: a machine with other work
    /// makes some tries many times as long.
    fn per_job(&self) -> Option<f64> {
        let mut took = self.took.clone();
        took.sort_by(f64::total_cmp);
        took.truncate(took.len() - took.len() / 10);
        arithmetic_mean(took).map(|mean| mean / self.jobs.max(1) as f64)
    }

    /// Returns whether another trial would improve the estimate: five trials for long simulations,
    /// more for short ones.
    fn wants_more(&self) -> bool {
        let tried_count = self.took.len();
        tried_count < self.members.len().min(MOST) && (tried_count < ENOUGH || self.took.iter().sum::<f64>() < SHORT)
    }
}

/// Tries each kind of simulation (an entry of the study on a workload) this often.
const ENOUGH: usize = 5;
/// Total trial time below which a kind counts as short, in seconds.
const SHORT: f64 = 0.2;
/// The longest trial. What is not done by then is predicted from the jobs that had ended.
const MOST_OF_ONE: Duration = Duration::from_secs(60);
/// Most tries of a kind.
const MOST: usize = 100;

/// Tries simulations among those at `todo` until the budget is spent: first one of each entry of
/// the study on its smallest workload, for a minute at most, then other workloads, then more of
/// each. A kind that was not tried is predicted from the time per job of its entry. `None` if
/// `cancel` was set. Nothing is recorded.
#[expect(clippy::disallowed_methods, reason = "durations of simulations")]
pub fn estimate_costs(plan: &SweepPlan, todo: &[usize], budget: Duration, cancel: &AtomicBool) -> Option<Costs> {
    let since = Instant::now();
    let mut kinds = list_kinds(plan, todo);
    let mut tried_count = 0;
    for round in 0..MOST {
        let mut entries = Vec::new();
        for kind in &mut kinds {
            // The first of an entry is its smallest workload.
            let first = round == 0 && !entries.contains(&kind.entry);
            entries.push(kind.entry);
            if !kind.wants_more() || (!first && since.elapsed() >= budget) {
                continue;
            }
            // Multiples of the golden ratio spread evenly however many there will be.
            let place = (round as f64 * 0.618_033_988_749_895).fract() * kind.members.len() as f64;
            let result = try_simulation(plan, todo[kind.members[place as usize]], MOST_OF_ONE, cancel).ok()?;
            kind.took.push(result.seconds);
            tried_count += 1;
        }
    }
    Some(Costs { seconds: predict_costs(&kinds, todo.len()), tried: tried_count })
}

/// The kinds among simulations, by the size of their workloads.
fn list_kinds(plan: &SweepPlan, todo: &[usize]) -> Vec<CostKind> {
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut kinds: Vec<CostKind> = Vec::new();
    for (at, &place) in todo.iter().enumerate() {
        let simulation = &plan.simulations[place];
        let Some(&configuration) = simulation.configurations.first() else { continue };
        let next = entries.len();
        let entry = *entries.entry(&plan.configurations[configuration].name).or_insert(next);
        let case = simulation.case;
        let kind = *places.entry((entry, case)).or_insert_with(|| {
            let jobs = plan.cases[case].workload.len();
            kinds.push(CostKind { case, entry, jobs, members: Vec::new(), took: Vec::new() });
            kinds.len() - 1
        });
        kinds[kind].members.push(at);
    }
    kinds.sort_by_key(|kind| (kind.jobs, kind.case, kind.entry));
    kinds
}

fn predict_costs(kinds: &[CostKind], count: usize) -> Vec<f64> {
    let mean = |rates: Vec<f64>| rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let mut seconds = vec![0.0; count];
    for kind in kinds {
        // Every entry was tried on one workload at least.
        let of_entry = || mean(kinds.iter().filter(|k| k.entry == kind.entry).filter_map(CostKind::per_job).collect());
        let seconds_each = kind.per_job().unwrap_or_else(of_entry) * kind.jobs.max(1) as f64;
        for &member in &kind.members {
            seconds[member] = seconds_each;
        }
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_tried_is_predicted_by_the_time_per_job_of_its_entry() {
        let kind = |entry, jobs, members: &[usize], took: &[f64]| CostKind {
            case: 0,
            entry,
            jobs,
            members: members.to_vec(),
            took: took.to_vec(),
        };
        // 2 s for two of 10 jobs, that is 0.1 s a job; the other entry takes 1 s a job.
        let kinds = [
            kind(0, 10, &[0, 3], &[0.5, 1.5]),
            kind(0, 100, &[1], &[]),
            kind(1, 2, &[2], &[2.0]),
            kind(1, 5, &[4], &[]),
        ];
        assert_eq!(predict_costs(&kinds, 5), [1.0, 10.0, 2.0, 1.0, 5.0]);
    }

    /// One of ten tries that waited for the processor does not count, and quick simulations are
    /// tried more often than slow ones.
    #[test]
    fn a_busy_machine_does_not_make_a_study_long() {
        let of =
            |took: &[f64]| CostKind { case: 0, entry: 0, jobs: 1, members: (0..500).collect(), took: took.to_vec() };
        let mut took = vec![0.001; 9];
        took.push(2.0);
        assert!((of(&took).per_job().expect("tried") - 0.001).abs() < 1e-12);
        assert!(of(&[0.001; 50]).wants_more() && !of(&[0.001; 100]).wants_more());
        assert!(of(&[1.0; 4]).wants_more() && !of(&[1.0; 5]).wants_more());
    }
}
