//! One simulation, measured by what a study asks for and no more.

use crate::error::SweepError;
use crate::plan::Plan;
use drystone::experiment::{Experiment, ExperimentError};
use drystone::metrics::Metric;
use std::sync::atomic::AtomicBool;

/// Result of a simulation: a value for each metric of the plan, or the reason for its failure.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// The metrics, in the plan's order.
    pub values: Vec<Option<f64>>,
    /// Violation by the policy; there are no values then.
    pub error: Option<String>,
}

/// The simulation was cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

/// Carries out the simulation at a place of a plan.
///
/// # Errors
/// [`Cancelled`] if `cancel` was set before it ended.
pub fn simulate(plan: &Plan, place: usize, cancel: &AtomicBool) -> Result<Measured, Cancelled> {
    let (simulated, case) = (&plan.simulations[place], plan.case_of(place));
    let experiment = Experiment::new(&simulated.policy, &case.workload)
        .on(case.given.platform)
        .losing(Some(&case.given.outages))
        .feeding_back(case.given.feedback)
        .with(case.given.priorities_for(&simulated.policy, &case.workload))
        .finding(&plan.metrics, case.trim)
        .until(cancel);
    match experiment.run(&mut ()) {
        Ok(Some(measured)) => {
            let values = plan.metrics.iter().map(|metric: &Metric| metric.of(&measured)).collect();
            Ok(Measured { values, error: None })
        }
        Ok(None) => Err(Cancelled),
        Err(error) => {
            let (policy, workload) = (simulated.policy.to_string(), case.label());
            let error = match error {
                ExperimentError::Simulation(source) => SweepError::Simulation { policy, workload, source }.to_string(),
                other => format!("policy {policy} on {workload}: {other}"),
            };
            Ok(Measured { values: vec![None; plan.metrics.len()], error: Some(error) })
        }
    }
}
