//! Sums per period while a simulation runs.

use crate::figure::{GoalFigure, Thresholds};
use crate::study::PeriodFigures;
use drystone::engine::Observer;
use drystone::metrics::JobSelection;
use drystone::model::{EndedJob, Job, JobId, LogStatus, Span};
use drystone_whatif::Periods;
use std::collections::BTreeSet;

/// Watches a simulation and sums up the jobs that count, period by period.
#[derive(Clone, Debug)]
pub struct PeriodObserver<'a> {
    figures: &'a [GoalFigure],
    thresholds: Thresholds,
    periods: &'a Periods,
    selection: JobSelection,
    uncounted: Option<&'a BTreeSet<JobId>>,
    sums: PeriodFigures,
}

impl<'a> PeriodObserver<'a> {
    /// Sums up these figures. Of a `selection` the rules that go by submit or status count; the
    /// periods are those of the jobs that do.
    pub fn new(
        figures: &'a [GoalFigure],
        thresholds: Thresholds,
        periods: &'a Periods,
        selection: JobSelection,
    ) -> PeriodObserver<'a> {
        let sums = PeriodFigures::with_size(periods.period_count(), figures.len());
        PeriodObserver { figures, thresholds, periods, selection, uncounted: None, sums }
    }

    /// Without these jobs, of which it is not known how long they ran.
    pub fn without_jobs(self, exclusions: Option<&'a BTreeSet<JobId>>) -> PeriodObserver<'a> {
        PeriodObserver { uncounted: exclusions, ..self }
    }

    pub fn into_sums(self) -> PeriodFigures {
        self.sums
    }
}

/// Returns whether a job counts, by its submission, its status and its outcome.
fn is_counted(job: &EndedJob<'_>, selection: JobSelection, exclusions: Option<&BTreeSet<JobId>>) -> bool {
    let submit = job.job.submit;
    let is_selected = match selection {
        JobSelection::Completed => job.truth.status == LogStatus::Completed,
        JobSelection::Submitted { from, until } => submit >= from && submit < until,
        // The periods begin and end with the window.
        JobSelection::All | JobSelection::Tsafrir | JobSelection::Window { .. } => true,
    };
    is_selected && job.outcome.found.is_none() && !exclusions.is_some_and(|jobs| jobs.contains(&job.id))
}

/// Keeps the jobs of a simulation that count, to sum them up once thresholds are known.
#[derive(Clone, Debug)]
pub struct EndedJobs<'a> {
    selection: JobSelection,
    uncounted: Option<&'a BTreeSet<JobId>>,
    jobs: Vec<(Job, Span, Span)>,
}

impl<'a> EndedJobs<'a> {
    /// Makes one for the jobs of a `selection`, as [`PeriodObserver::new`] takes it, without the
    /// `uncounted` ones.
    pub fn new(selection: JobSelection, exclusions: Option<&'a BTreeSet<JobId>>) -> EndedJobs<'a> {
        EndedJobs { selection, uncounted: exclusions, jobs: Vec::new() }
    }

    /// Returns the jobs with their waits and run times, in the order of their ends, in which a
    /// [`PeriodObserver`] sums them up.
    pub fn into_jobs(self) -> Vec<(Job, Span, Span)> {
        self.jobs
    }
}

impl Observer for EndedJobs<'_> {
    const NOTES: bool = false;

    fn note_end(&mut self, job: &EndedJob<'_>) {
        if is_counted(job, self.selection, self.uncounted) {
            self.jobs.push((job.job.clone(), job.wait_time(), job.outcome.ran));
        }
    }
}

impl Observer for PeriodObserver<'_> {
    const NOTES: bool = false;

    fn note_end(&mut self, job: &EndedJob<'_>) {
        let submit = job.job.submit;
        if !is_counted(job, self.selection, self.uncounted) {
            return;
        }
        let Some(period) = self.periods.find_period(submit) else { return };
        for (at, figure) in self.figures.iter().enumerate() {
            if let Some((value, weight)) = figure.job_value(job, self.thresholds) {
                self.sums.of_mut(period, at).push(value, weight);
            }
        }
        self.sums.jobs[period] += 1;
    }
}
