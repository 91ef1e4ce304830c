//! A job as the suspending policies see it.

use super::parts::MachineParts;
use super::ratio::Ratio;
use crate::model::{DemandId, JobId, ProcSet, Procs, Span, TIME_LIMIT, Time};
use crate::parts::NeedWithSeat;
use crate::policy::{Phase, View};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A job that waits, runs or is suspended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SuspensionTask {
    pub(super) id: JobId,
    pub(super) procs: Procs,
    /// Demands beyond processors.
    pub(super) demand: DemandId,
    /// Need of nodes, and its last seat; nothing where processors are counted only.
    pub(super) on: Option<NeedWithSeat>,
    pub(super) submit: Time,
    /// e: how long it is believed to run, at least a second.
    pub(super) length: i64,
    /// Time run in earlier segments.
    pub(super) ran: Span,
    /// Start of the current run segment, for running jobs.
    pub(super) since: Time,
    pub(super) suspensions: u32,
    /// Its processors; none before its first start.
    pub(super) set: ProcSet,
    /// Coarse position of its processors on the machine.
    pub(super) parts: MachineParts,
    pub(super) exact: bool,
}

impl SuspensionTask {
    pub(super) fn from_arrival(id: JobId, view: &View<'_>) -> SuspensionTask {
        let job = view.job(id);
        SuspensionTask {
            id,
            procs: job.procs,
            demand: job.demand,
            on: view.unseated_jobs(id),
            submit: job.submit,
            length: believed_length(view.prediction(id)),
            ran: Span::ZERO,
            since: Time::ZERO,
            suspensions: 0,
            set: ProcSet::new(),
            parts: MachineParts::default(),
            exact: true,
        }
    }

    /// A job that runs or is suspended, as another scheduler left it.
    pub(super) fn from_foreign(id: JobId, view: &View<'_>) -> SuspensionTask {
        let mut task = SuspensionTask::from_arrival(id, view);
        let set = view.job_processors(id).cloned().unwrap_or_default();
        if let (Some(on), Some(seat)) = (&mut task.on, view.seat_on(&set)) {
            on.seat = seat;
        }
        let ran = view.run_time_so_far(id);
        let runs = view.phase(id) == Phase::Running;
        task.run_on(set, if runs { view.segment_start(id) } else { Time::ZERO }, view.machine().procs);
        task.ran = if runs { ran - (view.current_time() - task.since) } else { ran };
        task
    }

    /// Returns the time for which it is believed to need its processors still, if it resumes now.
    pub(super) fn remaining_time(&self) -> Span {
        Span((self.length - self.ran.0).max(1))
    }

    /// It starts, or resumes.
    pub(super) fn run_on(&mut self, set: ProcSet, now: Time, machine: Procs) {
        self.parts = MachineParts::from_set(&set, machine);
        self.exact = MachineParts::are_exact(machine);
        (self.set, self.since) = (set, now);
    }

    #[inline]
    pub(super) fn has_common_processor(&self, rival: &SuspensionTask) -> bool {
        self.parts.has_common_part(&rival.parts) && self.meets_indeed(rival)
    }

    /// Returns whether it shares processors with another in some of whose parts of the machine it
    /// is.
    #[inline]
    pub(super) fn meets_indeed(&self, rival: &SuspensionTask) -> bool {
        self.exact || !self.set.is_disjoint(&rival.set)
    }

    /// Returns whether it was suspended, if it does not run.
    #[inline]
    pub(super) fn has_run(&self) -> bool {
        !self.set.is_empty()
    }

    /// tau of a waiting or suspended job: (w + e) / e.
    #[inline]
    pub(super) fn idle_priority(&self, now: Time) -> Ratio {
        Ratio { over: (now - self.submit - self.ran).0 + self.length, under: self.length }
    }

    /// tau of a running job, which stands still.
    #[inline]
    pub(super) fn running_priority(&self) -> Ratio {
        self.idle_priority(self.since)
    }

    /// g of a running job: seconds run so far.
    #[inline]
    pub(super) fn executed_time(&self, now: Time) -> Span {
        self.ran + (now - self.since)
    }

    /// Returns the time at which tau of a waiting or suspended job has `over` as its numerator.
    pub(super) fn when_over(&self, over: i128) -> Time {
        let at = over - i128::from(self.length) + i128::from(self.submit.0) + i128::from(self.ran.0);
        i64::try_from(at).map_or(Time::MAX, Time).min(Time::MAX)
    }

    /// Descending tau, ties by arrival: the order of waiting jobs.
    pub(super) fn compare_priority(&self, rival: &SuspensionTask, now: Time) -> Ordering {
        rival.idle_priority(now).compare_with(self.idle_priority(now)).then(self.id.cmp(&rival.id))
    }

    /// Ascending tau, ties by the start of the segment, then by arrival: the order of possible
    /// victims.
    pub(super) fn gives_way_before(&self, rival: &SuspensionTask) -> Ordering {
        let by_tau = self.running_priority().compare_with(rival.running_priority());
        by_tau.then(self.since.cmp(&rival.since)).then(self.id.cmp(&rival.id))
    }

    /// It leaves its processors but keeps its progress.
    pub(super) fn stop_run(&mut self, now: Time) {
        self.ran = self.executed_time(now);
        self.suspensions += 1;
    }
}

/// A prediction as the length of a job: from 1 s to the limit of all times, so that every fraction
/// is defined.
pub(super) fn believed_length(prediction: Span) -> i64 {
    prediction.0.clamp(1, TIME_LIMIT)
}
