//! Sums per period while a simulation runs.

use crate::figure::{GoalFigure, Thresholds};
use crate::study::PeriodFigures;
use drystone::engine::Observer;
use drystone::metrics::JobSelection;
use drystone::model::{EndedJob, JobId, LogStatus, Time};
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
        let sums = PeriodFigures::empty(periods.count(), figures.len());
        PeriodObserver { figures, thresholds, periods, selection, uncounted: None, sums }
    }

    /// Without these jobs, of which it is not known how long they ran.
    pub fn without(self, uncounted: Option<&'a BTreeSet<JobId>>) -> PeriodObserver<'a> {
        PeriodObserver { uncounted, ..self }
    }

    pub fn into_sums(self) -> PeriodFigures {
        self.sums
    }

    fn counts(&self, ended: &EndedJob<'_>, submit: Time) -> bool {
        let selected = match self.selection {
            JobSelection::Completed => ended.truth.status == LogStatus::Completed,
            JobSelection::Submitted { from, until } => submit >= from && submit < until,
            // The periods begin and end with the window.
            JobSelection::All | JobSelection::Tsafrir | JobSelection::Window { .. } => true,
        };
        selected && ended.outcome.found.is_none() && !self.uncounted.is_some_and(|jobs| jobs.contains(&ended.id))
    }
}

impl Observer for PeriodObserver<'_> {
    const NOTES: bool = false;

    fn ended(&mut self, ended: &EndedJob<'_>) {
        let submit = ended.job.submit;
        if !self.counts(ended, submit) {
            return;
        }
        let Some(period) = self.periods.place(submit) else { return };
        for (at, figure) in self.figures.iter().enumerate() {
            if let Some((value, weight)) = figure.of(ended, self.thresholds) {
                self.sums.of_mut(period, at).push(value, weight);
            }
        }
        self.sums.jobs[period] += 1;
    }
}
