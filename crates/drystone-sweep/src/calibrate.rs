//! Estimate of a sweep's run time from a few of its simulations.

use crate::Plan;
use crate::simulate::simulate;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Extrapolation from a few simulations of a workload to all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Calibration {
    /// The place of the workload in the plan's cases.
    pub case: usize,
    /// Simulations to be made on it.
    pub simulations: usize,
    /// Simulations that were tried.
    pub tried: usize,
    /// Mean duration of those, in seconds, on one thread.
    pub seconds: f64,
}

impl Calibration {
    /// Returns the estimated time of all simulations on one thread, in seconds.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.seconds * self.simulations as f64
    }
}

/// Tries simulations of each workload among those at `todo`, spread over the study, until each
/// workload has had `budget`, at least one and at most all of them. Nothing is recorded.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "how long a study may take")]
pub fn calibrate(plan: &Plan, todo: &[usize], budget: Duration) -> Vec<Calibration> {
    let never = AtomicBool::new(false);
    let mut calibrations = Vec::new();
    for case in 0..plan.cases.len() {
        let places: Vec<usize> = todo.iter().copied().filter(|&p| plan.simulations[p].case == case).collect();
        let (since, mut tried) = (Instant::now(), 0);
        while tried < places.len() && (tried == 0 || since.elapsed() < budget) {
            // Multiples of the golden ratio spread evenly however many there will be.
            let place = (tried as f64 * 0.618_033_988_749_895).fract() * places.len() as f64;
            let _ = simulate(plan, places[place as usize], &never);
            tried += 1;
        }
        let seconds = if tried == 0 { 0.0 } else { since.elapsed().as_secs_f64() / tried as f64 };
        calibrations.push(Calibration { case, simulations: places.len(), tried, seconds });
    }
    calibrations
}
