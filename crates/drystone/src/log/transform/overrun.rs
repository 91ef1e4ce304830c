//! Other treatments of jobs that outlive their estimates than to let them run on.

use crate::model::{Adopted, Circumstances, JobId, Setting, Span, Workload, WorkloadError};

/// Treatment of jobs that outlive their estimates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overrunning {
    /// Their run times are cut at their estimates, as a machine does that enforces limits.
    Kill,
    /// Their estimates are raised to their run times, as if users had known.
    Raise,
}

/// The workload with its overrunning jobs treated so, as `overrun=kill` or `overrun=raise` would
/// have cleaned it, and says so in the provenance.
///
/// # Errors
/// None for a workload whose run times are possible estimates.
///
/// Cost: O(n).
pub fn treat_overruns(workload: Workload, rule: Overrunning) -> Result<Workload, WorkloadError> {
    let circumstances = workload.circumstances().cloned();
    let resources = workload.resources().cloned();
    let (machine, mut jobs, mut truth, mut provenance) = workload.into_parts();
    for (at, (job, truth)) in jobs.iter_mut().zip(&mut truth).enumerate() {
        match rule {
            // A job that is here already has run for as long as it has.
            Overrunning::Kill => truth.run = truth.run.min(job.estimate.max(earlier_run(circumstances.as_ref(), at))),
            Overrunning::Raise => job.estimate = job.estimate.max(truth.run),
        }
    }
    let value = if rule == Overrunning::Kill { "kill" } else { "raise" };
    provenance.settings.push(Setting { name: "overrunning".to_string(), value: value.to_string() });
    let workload = Workload::with_resources(machine, resources, jobs, truth, provenance)?;
    match circumstances {
        None => Ok(workload),
        Some(circumstances) => workload.with_circumstances(circumstances),
    }
}

/// Returns the run time of a job before the first instant.
fn earlier_run(circumstances: Option<&Circumstances>, at: usize) -> Span {
    let state_and_begin = circumstances.and_then(|c| Some((c.here.get(&JobId(at as u32))?, c.begin?)));
    match state_and_begin {
        Some((Adopted::Running { since, .. }, begin)) => begin - *since,
        Some((Adopted::Suspended { ran, .. }, _)) => *ran,
        _ => Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth};

    #[test]
    fn only_jobs_that_outlive_their_estimates_change() {
        let job = |estimate| Job::new(Time(0), 1, Span(estimate));
        let truth = |run| Truth { run: Span(run), number: 1, status: LogStatus::Completed };
        let workload = Workload::new(
            Machine::new(1),
            [10, 10, 10].map(job).to_vec(),
            [5, 10, 30].map(truth).to_vec(),
            Provenance::default(),
        );
        let workload = workload.expect("possible");
        let times = |rule| -> Vec<(i64, i64)> {
            let treated_workload = treat_overruns(workload.clone(), rule).expect("possible");
            treated_workload
                .jobs()
                .iter()
                .zip(treated_workload.truth())
                .map(|(job, truth)| (job.estimate.0, truth.run.0))
                .collect()
        };
        assert_eq!(times(Overrunning::Kill), [(10, 5), (10, 10), (10, 10)]);
        assert_eq!(times(Overrunning::Raise), [(10, 5), (10, 10), (30, 30)]);
    }
}
