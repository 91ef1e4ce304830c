//! Estimated duration of each policy, from a short trial: policies differ a thousandfold, and the
//! cheapest come first.

use super::bench::CompareInputs;
use crate::output::message;
use crate::output::number::format_duration;
use crate::parallel;
use drystone::engine::{Levels, Observer, Simulation, WorkloadReplay};
use drystone::experiment::build_scheduler;
use drystone::model::{EndedJob, Time, Workload};
use drystone::policy::PolicySpec;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const TRIAL: Duration = Duration::from_millis(150);
/// Instants between two looks at the clock.
const STRIDE: u32 = 64;
/// Less need not be announced.
const WORTH_SAYING: f64 = 10.0;

/// Counts ends, and how many jobs wait at the instants seen.
#[derive(Default)]
struct QueueCounter {
    ends: u64,
    instants: u64,
    waiting: u64,
}

impl Observer for QueueCounter {
    fn note_end(&mut self, _: &EndedJob<'_>) {
        self.ends += 1;
    }

    fn note_settlement(&mut self, _: Time, levels: Levels) {
        self.instants += 1;
        self.waiting += levels.queued_jobs();
    }
}

/// About how many seconds each policy will take on one thread. `waiting` is how many jobs wait on
/// average under the baseline: a trial begins on an empty machine, and what plans every waiting job
/// becomes slower as they become more.
pub(super) fn estimate_costs(
    bench: &CompareInputs<'_>,
    parts: &[Workload],
    specs: &[PolicySpec],
    waiting: f64,
) -> Vec<f64> {
    let jobs: usize = parts.iter().map(Workload::len).sum();
    let estimate_spec = |_: usize, spec: &PolicySpec| run_trial(bench, parts, spec, jobs, waiting).unwrap_or(0.0);
    parallel::map(specs.iter().collect(), bench.thread_count(), estimate_spec)
}

#[expect(clippy::disallowed_methods, reason = "durations of trials")]
fn run_trial(
    bench: &CompareInputs<'_>,
    parts: &[Workload],
    spec: &PolicySpec,
    jobs: usize,
    waiting: f64,
) -> Option<f64> {
    let part = parts.iter().max_by_key(|part| part.len())?;
    let priorities = bench.priorities.filter(|p| crate::input::check_priorities(spec, p, part).is_ok());
    let scheduler = build_scheduler(spec, priorities, part).ok()?;
    let mut simulation =
        Simulation::new(part.machine(), scheduler, WorkloadReplay::new(part)).with_platform(&bench.platform);
    let (mut queue_counter, since, mut steps) = (QueueCounter::default(), Instant::now(), 0_u32);
    // A broken contract is reported by the simulation itself.
    while simulation.step(&mut queue_counter).ok()? {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(STRIDE) && (since.elapsed() > TRIAL || bench.stop.load(Ordering::Relaxed)) {
            break;
        }
    }
    let took = since.elapsed().as_secs_f64() * jobs as f64 / queue_counter.ends.max(1) as f64;
    let mean_queue = queue_counter.waiting as f64 / queue_counter.instants.max(1) as f64;
    let deeper = match spec.kind().name {
        "fcfs" | "easy" | "greedy" => 1.0,
        _ => ((1.0 + waiting) / (1.0 + mean_queue)).max(1.0),
    };
    Some(took * deeper)
}

/// The places of some policies, the cheapest first.
pub(super) fn cheapest_first(estimates: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..estimates.len()).collect();
    order.sort_by(|&a, &b| estimates[a].total_cmp(&estimates[b]).then(a.cmp(&b)));
    order
}

/// Says how long it will take, where that is long.
pub(super) fn announce_duration(specs: &[PolicySpec], estimates: &[f64], threads: usize) {
    let total_seconds: f64 = estimates.iter().sum();
    let longest = estimates.iter().fold(0.0_f64, |longest, &seconds| longest.max(seconds));
    let wall = longest.max(total_seconds / threads.clamp(1, specs.len().max(1)) as f64);
    if wall < WORTH_SAYING {
        return;
    }
    let order = cheapest_first(estimates);
    let slow = order.iter().rev().filter(|&&at| estimates[at] > total_seconds / 20.0).take(4);
    let slow: Vec<String> = slow.map(|&at| format!("{} {}", specs[at], format_duration(estimates[at]))).collect();
    message::print_note(&format!(
        "a short trial predicts about {}, most of it {}; the cheapest policies come first, Ctrl-C ends the others \
         and keeps the finished ones, --within TIME does so automatically",
        format_duration(wall),
        slow.join(", ")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_come_first_and_equals_stay_in_order() {
        assert_eq!(cheapest_first(&[3.0, 0.5, 3.0, 0.1]), [3, 1, 0, 2]);
        assert!(cheapest_first(&[]).is_empty());
    }
}
