//! Sums per period while a simulation runs.

use crate::figure::{Figure, Thresholds};
use crate::periods::Periods;
use crate::study::Sums;
use drystone::engine::Observer;
use drystone::metrics::Selection;
use drystone::model::{Ended, JobId, Status, Time};
use std::collections::BTreeSet;

/// Watches a simulation and sums up the jobs that count, period by period.
#[derive(Clone, Debug)]
pub struct Watch<'a> {
    figures: &'a [Figure],
    thresholds: Thresholds,
    periods: &'a Periods,
    selection: Selection,
    uncounted: Option<&'a BTreeSet<JobId>>,
    sums: Sums,
}

impl<'a> Watch<'a> {
    /// Sums up these figures. Of a `selection` the rules that go by submit or status count; the
    /// periods are those of the jobs that do.
    #[must_use]
    pub fn new(figures: &'a [Figure], thresholds: Thresholds, periods: &'a Periods, selection: Selection) -> Watch<'a> {
        let sums = Sums::empty(periods.count(), figures.len());
        Watch { figures, thresholds, periods, selection, uncounted: None, sums }
    }

    /// Without these jobs, of which it is not known how long they ran.
    #[must_use]
    pub fn without(self, uncounted: Option<&'a BTreeSet<JobId>>) -> Watch<'a> {
        Watch { uncounted, ..self }
    }

    /// Returns the sums.
    #[must_use]
    pub fn into_sums(self) -> Sums {
        self.sums
    }

    fn counts(&self, ended: &Ended<'_>, submit: Time) -> bool {
        let selected = match self.selection {
            Selection::Completed => ended.truth.status == Status::Completed,
            Selection::Submitted { from, until } => submit >= from && submit < until,
            // The periods begin and end with the window.
            Selection::All | Selection::Tsafrir | Selection::Window { .. } => true,
        };
        selected && ended.outcome.found.is_none() && !self.uncounted.is_some_and(|jobs| jobs.contains(&ended.id))
    }
}

impl Observer for Watch<'_> {
    const NOTES: bool = false;

    fn ended(&mut self, ended: &Ended<'_>) {
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
