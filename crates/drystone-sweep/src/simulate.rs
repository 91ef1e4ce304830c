//! One simulation, measured by what a study asks for and no more.

use crate::error::SweepError;
use crate::metric::{Metric, config};
use crate::plan::Plan;
use drystone::engine::{Levels, Observer, Replay, Simulation};
use drystone::metrics::{Collector, Scope};
use drystone::model::{Ended, JobId, Time};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a simulation gave: a value for each metric of the plan, or why it failed.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// The metrics, in the plan's order.
    pub values: Vec<Option<f64>>,
    /// What the policy did wrong; then there are no values.
    pub error: Option<String>,
}

/// The simulation was told to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

/// How many instants pass between two looks at whether to stop.
const STRIDE: u32 = 1 << 10;

/// Carries out the simulation at a place of a plan.
///
/// # Errors
/// [`Cancelled`] if `cancel` was set before it ended.
pub fn simulate(plan: &Plan, place: usize, cancel: &AtomicBool) -> Result<Measured, Cancelled> {
    let (simulated, case) = (&plan.simulations[place], plan.case_of(place));
    let (config, queue) = config(&plan.metrics, case.trim);
    let accuracy = config.predictability;
    let mut watch = Watch { collector: Collector::new(Scope::of(&case.workload), config), queue };
    let scheduler = simulated.policy.scheduler();
    let mut simulation = Simulation::new(case.workload.machine(), scheduler, Replay::new(&case.workload));
    if !accuracy {
        simulation = simulation.without_accuracy();
    }
    let mut steps = 0u32;
    loop {
        if steps == 0 && cancel.load(Ordering::Relaxed) {
            return Err(Cancelled);
        }
        steps = (steps + 1) % STRIDE;
        match simulation.step(&mut watch) {
            Ok(true) => {}
            Ok(false) => break,
            Err(source) => {
                let (policy, workload) = (simulated.policy.to_string(), case.label());
                let error = SweepError::Simulation { policy, workload, source };
                return Ok(Measured { values: vec![None; plan.metrics.len()], error: Some(error.to_string()) });
            }
        }
    }
    let report = watch.collector.finish();
    let values = plan.metrics.iter().map(|metric: &Metric| metric.of(&report)).collect();
    Ok(Measured { values, error: None })
}

/// A collector that watches the queue only where that is asked for.
struct Watch {
    collector: Collector,
    queue: bool,
}

impl Observer for Watch {
    #[inline]
    fn ended(&mut self, ended: &Ended<'_>) {
        Collector::ended(&mut self.collector, ended);
    }

    fn suspended(&mut self, now: Time, id: JobId) {
        self.collector.suspended(now, id);
    }

    fn resumed(&mut self, now: Time, id: JobId) {
        self.collector.resumed(now, id);
    }

    #[inline]
    fn settled(&mut self, now: Time, levels: Levels) {
        if self.queue {
            self.collector.settled(now, levels);
        }
    }
}
