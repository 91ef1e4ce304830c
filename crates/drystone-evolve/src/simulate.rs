//! One candidate on one workload.

use crate::objective::MeasureTally;
use drystone::engine::{Observer, Simulation, SimulationError, WorkloadReplay};
use drystone::metrics::Measure;
use drystone::model::{EndedJob, Span, Time, Workload};
use drystone::policy::{PolicySpec, SpecError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// A policy text with a place for a formula: `easy(order=?,backfill=?)`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Template(String);

impl Template {
    /// The policy with this formula.
    ///
    /// # Errors
    /// None for formulas and templates that were checked.
    pub fn with_formula(&self, formula: &str) -> Result<PolicySpec, SpecError> {
        self.0.replace('?', formula).parse()
    }
}

impl Default for Template {
    fn default() -> Template {
        Template("easy(order=?,backfill=?)".to_string())
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Template, String> {
        if !text.contains('?') {
            return Err(format!("`{text}` has no `?` in place of the formula; write `easy(order=?,backfill=?)`"));
        }
        let template = Template(text.to_string());
        template.with_formula("r").map_err(|e| e.to_string())?;
        Ok(template)
    }
}

/// The search was cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

pub enum SimulationOutcome {
    Done,
    /// The simulation was cancelled.
    Stopped,
}

/// Number of instants between two checks for cancellation.
const STRIDE: u32 = 1 << 10;

/// Simulates a policy on a workload and shows every job that ends to `take`: its submit, its wait,
/// its values of the measures.
///
/// # Errors
/// The simulation's error: a bug of the policy.
pub(crate) fn simulate_candidate(
    workload: &Workload,
    policy: &PolicySpec,
    measures: &[Measure],
    stop: &AtomicBool,
    take: impl FnMut(Time, &[f64]),
) -> Result<SimulationOutcome, SimulationError> {
    let mut watch = WeekObserver { measures, values: Vec::new(), take };
    let simulation = Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(workload));
    let mut simulation = simulation.without_accuracy();
    let mut steps = 0;
    loop {
        if steps == 0 && stop.load(Ordering::Relaxed) {
            return Ok(SimulationOutcome::Stopped);
        }
        steps = (steps + 1) % STRIDE;
        if !simulation.step(&mut watch)? {
            return Ok(SimulationOutcome::Done);
        }
    }
}

struct WeekObserver<'a, F> {
    measures: &'a [Measure],
    values: Vec<f64>,
    take: F,
}

impl<F: FnMut(Time, &[f64])> Observer for WeekObserver<'_, F> {
    fn note_end(&mut self, job: &EndedJob<'_>) {
        let (wait, run): (Span, Span) = (job.wait_time(), job.outcome.ran);
        self.values.clear();
        self.values.extend(self.measures.iter().map(|measure| measure.value_of(wait, run)));
        (self.take)(job.job.submit, &self.values);
    }
}

/// Sums up jobs by a rule that says which tally a submit time belongs to.
pub(crate) fn tally_jobs(
    workload: &Workload,
    policy: &PolicySpec,
    measures: &[Measure],
    stop: &AtomicBool,
    place: impl Fn(Time) -> Option<usize>,
) -> Result<Option<Vec<Vec<MeasureTally>>>, SimulationError> {
    let mut tallies: Vec<Vec<MeasureTally>> = Vec::new();
    let outcome = simulate_candidate(workload, policy, measures, stop, |submit, values| {
        let Some(at) = place(submit) else { return };
        if tallies.len() <= at {
            tallies.resize(at + 1, vec![MeasureTally::default(); measures.len()]);
        }
        tallies[at].iter_mut().zip(values).for_each(|(tally, &value)| tally.push(value));
    })?;
    Ok(matches!(outcome, SimulationOutcome::Done).then_some(tallies))
}
