//! Estimate of a sweep's run time from a few of its simulations.

use crate::SweepPlan;
use crate::trial::try_simulation;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Extrapolation from a few simulations of a workload to all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CostCalibration {
    /// The place of the workload in the plan's cases.
    pub case: usize,
    /// Simulations to be made on it.
    pub simulations: usize,
    /// Simulations that were tried.
    pub tried: usize,
    /// Of them, those that were stopped before their end.
    pub stopped: usize,
    /// Mean duration of those, in seconds, on one thread.
    pub seconds: f64,
}

impl CostCalibration {
    /// Returns the estimated time of all simulations on one thread, in seconds.
    pub fn total_seconds(&self) -> f64 {
        self.seconds * self.simulations as f64
    }
}

/// Tries simulations of each workload among those at `todo`, spread over the study, until each
/// workload has had `budget`, at least one and at most all of them. One that is not done by then is
/// stopped, and predicted from the jobs that had ended. `None` if `cancel` was set. Nothing is
/// recorded.
///
/// Cost: `budget` for each workload.
#[expect(clippy::disallowed_methods, reason = "durations of simulations")]
pub fn calibrate_costs(
    plan: &SweepPlan,
    todo: &[usize],
    budget: Duration,
    cancel: &AtomicBool,
) -> Option<Vec<CostCalibration>> {
    let mut calibrations = Vec::new();
    for case in 0..plan.cases.len() {
        let places: Vec<usize> = todo.iter().copied().filter(|&p| plan.simulations[p].case == case).collect();
        let (since, mut tried_count, mut stopped_count, mut took) = (Instant::now(), 0, 0, 0.0);
        while tried_count < places.len() && (tried_count == 0 || since.elapsed() < budget) {
            // Multiples of the golden ratio spread evenly however many there will be.
            let place = (tried_count as f64 * 0.618_033_988_749_895).fract() * places.len() as f64;
            let result =
                try_simulation(plan, places[place as usize], budget.saturating_sub(since.elapsed()), cancel).ok()?;
            took += result.seconds;
            stopped_count += usize::from(result.stopped);
            tried_count += 1;
        }
        let seconds = if tried_count == 0 { 0.0 } else { took / tried_count as f64 };
        calibrations.push(CostCalibration {
            case,
            simulations: places.len(),
            tried: tried_count,
            stopped: stopped_count,
            seconds,
        });
    }
    Some(calibrations)
}
