//! Shared parts of policies that plan a start for every waiting job: the plan, its compression, and
//! the believed ends of the running jobs.

mod bounds;
mod deep;
mod horizon;
mod in_place;
mod stairs;

use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{Profile, RunningJob, RunningSet};
pub(crate) use bounds::Bounds;
pub(crate) use deep::{DEEP, Deep};
use drystone_engine::policy::{Outlook, Param, Takes, View};
pub use horizon::Horizon;
pub(crate) use in_place::compress_in_place;
use serde::{Deserialize, Serialize};
pub(crate) use stairs::StartStairs;
use std::collections::BTreeMap;

/// Moment at which a policy takes note of a job that ended before its predicted end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Notice {
    /// At once.
    #[default]
    Immediate,
    /// At the next event it knew about beforehand: an arrival, a planned start or a predicted end.
    /// So did the simulator behind Talby & Feitelson 1999.
    Late,
}

impl Notice {
    pub(crate) const NAMES: &'static [(&'static str, Notice)] =
        &[("immediate", Notice::Immediate), ("late", Notice::Late)];
}

/// Belief of a plan about a running job that has outlived its prediction: one rule for all
/// families, and the older one, which studies keep.
pub(crate) const OVERDUE: Param = Param::new(
    "overdue",
    "extended",
    &[Takes::Words(&["extended", "again"])],
    "a running job past its predicted end has that end put off (by a minute, then 15, 30, 60 minutes and so on, or as \
     correct says), or is found out at the next pass and expected to need as long again as it is overdue, at least a minute",
)
.for_studies();

/// A waiting job with its planned start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PlannedJob {
    /// Planned start; [`Time::MAX`] before it is planned.
    pub(crate) start: Time,
    pub(crate) id: JobId,
    pub(crate) procs: Procs,
    /// Time for which it is planned to need them. At least 1 s: even a job without run time needs
    /// its processors for an instant.
    pub(crate) span: Span,
}

impl PlannedJob {
    /// A job that has no place in the plan yet, with its prediction of now.
    pub(crate) fn new(id: JobId, view: &View<'_>) -> PlannedJob {
        let span = view.prediction(id).max(Span(1));
        PlannedJob { start: Time::MAX, id, procs: view.job(id).procs, span }
    }

    /// A job with no place in the plan yet, with another size than the preferred.
    pub(crate) fn with_size(id: JobId, procs: Procs, view: &View<'_>) -> PlannedJob {
        PlannedJob { start: Time::MAX, id, procs, span: view.prediction_at(id, procs).max(Span(1)) }
    }

    #[inline]
    pub(crate) fn planned_end(&self) -> Time {
        self.start.saturating_add(self.span)
    }

    /// The order of a plan: by planned start, then arrival.
    #[inline]
    pub(crate) fn plan_key(&self) -> (Time, JobId) {
        (self.start, self.id)
    }

    /// Plans the job at its earliest place, which is known to lie no earlier than `from`, and takes
    /// its processors out of the profile. O(steps).
    pub(crate) fn place_earliest(&mut self, profile: &mut Profile, from: Time) {
        // No job is wider than the machine. One that is wider than what is up, and it is not known
        // for how long, has no place.
        self.start = profile.place_job(self.procs, self.span, from).unwrap_or(Time::MAX);
    }
}

impl AsRef<PlannedJob> for PlannedJob {
    fn as_ref(&self) -> &PlannedJob {
        self
    }
}

impl AsMut<PlannedJob> for PlannedJob {
    fn as_mut(&mut self) -> &mut PlannedJob {
        self
    }
}

/// Compression: puts all waiting jobs of a plan back, in its order, each at its earliest place.
/// `profile` holds the running jobs only, and afterwards also the plan. `moved` receives each job
/// that has moved, with its old start.
///
/// No job moves back if the plan fitted the profile before: what moved up leaves its old place to
/// those behind it. O(jobs × steps), of which [`Bounds`] spare most where many wait.
pub(crate) fn compress_plan<P: AsRef<PlannedJob> + AsMut<PlannedJob>>(
    plan: &mut [P],
    profile: &mut Profile,
    now: Time,
    mut on_move: impl FnMut(&mut P, Time),
) {
    let mut bounds: Bounds = Bounds::default();
    for job in plan.iter_mut() {
        let planned_job = job.as_mut();
        let old = planned_job.start;
        let bound = bounds.earliest_bound(planned_job.procs, planned_job.span, now);
        planned_job.place_earliest(profile, bound);
        bounds.learn_start(planned_job.procs, planned_job.span, bound, planned_job.start);
        if planned_job.start != old {
            on_move(job, old);
        }
    }
    in_order_of_starts(plan);
}

/// Sorts a plan by starts, then by ids.
pub(crate) fn in_order_of_starts<P: AsRef<PlannedJob>>(plan: &mut [P]) {
    plan.sort_unstable_by_key(|job| job.as_ref().plan_key());
}

/// The running jobs as a plan believes in them: until when they run, and which have ended as far as
/// the policy noticed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Believed {
    notice: Notice,
    running: RunningSet,
    /// Believed ends of running jobs whose predicted end is past, or was never in the future.
    extended: BTreeMap<JobId, Time>,
    /// Ends not taken note of yet: whose, when they were believed to end, and whether they came
    /// before that.
    unnoticed: Vec<(JobId, Time, bool)>,
    /// The time has come that the policy had asked to be woken at: an event known beforehand, even
    /// where a job that was believed to end then is given more time in that very second.
    woken: bool,
    /// True if a foreign job has started or the capacity has changed: the running jobs may not fit
    /// the machine.
    doubtful: bool,
}

impl Believed {
    pub(crate) fn new(notice: Notice) -> Believed {
        Believed {
            notice,
            running: RunningSet::default(),
            extended: BTreeMap::new(),
            unnoticed: Vec::new(),
            woken: false,
            doubtful: false,
        }
    }

    /// Returns whether the policy looks up at this instant, given whether a job has arrived or is
    /// due: with late notice it does not see ends as they happen.
    pub(crate) fn looks_up(&self, now: Time, arrived_or_due: bool) -> bool {
        let end_has_come = self.woken || self.next_end().is_some_and(|end| end <= now);
        self.notice == Notice::Immediate || arrived_or_due || end_has_come
    }

    /// The time has come that the policy had asked to be woken at.
    pub(crate) fn note_wake(&mut self) {
        self.woken = true;
    }

    /// Takes note of processors that fail or return.
    pub(crate) fn capacity_changed(&mut self) {
        self.woken = true;
        self.doubtful = true;
    }

    /// Returns whether free processors may come up that a profile of these jobs did not foresee:
    /// now or when the last profile was made, the running jobs did not fit the machine. `guests`
    /// are processors of running jobs that are not listed here. O(running jobs) after foreign jobs
    /// and changes of capacity, else O(1).
    pub(crate) fn has_doubts(&mut self, guests: Procs, view: &View<'_>) -> bool {
        if !self.doubtful {
            return false;
        }
        // On nodes no two jobs share processors.
        self.doubtful = view.nodes().is_none() && !self.fits_machine(guests, view);
        true
    }

    pub(crate) fn note_end(&mut self, job: JobId, predicted_end: Time, now: Time) {
        let end = self.extended.remove(&job).unwrap_or(predicted_end);
        self.unnoticed.push((job, end, end > now));
    }

    /// Takes note of all ends; `early` receives the jobs that ended before their believed ends,
    /// with those ends. Returns whether there was one.
    pub(crate) fn notice_ends(&mut self, mut early: impl FnMut(RunningJob)) -> bool {
        let mut has_early_end = false;
        self.woken = false;
        for (id, end, is_early) in self.unnoticed.drain(..) {
            let job = self.running.remove(end, id);
            if is_early {
                has_early_end = true;
                job.into_iter().for_each(&mut early);
            }
        }
        has_early_end
    }

    /// The prediction of a running job was `old` and has changed. Returns the job as it was
    /// believed in, and when it is believed to end now.
    pub(crate) fn note_prediction(&mut self, job: JobId, old: Span, view: &View<'_>) -> Option<(RunningJob, Time)> {
        let (prediction, predicted_end) = (view.prediction(job), view.predicted_end(job));
        let old = self.extended.remove(&job).unwrap_or(predicted_end - (prediction - old));
        // Even now it needs its processors for an instant.
        let end = predicted_end + (prediction.max(Span(1)) - prediction);
        let running_job = self.running.remove(old, job)?;
        self.running.insert(RunningJob { end, ..running_job });
        if end > predicted_end {
            self.extended.insert(job, end);
        }
        Some((running_job, end))
    }

    /// The prediction of a running job was `old` and has changed; when it is believed to end has
    /// not.
    pub(crate) fn note_unmoved_end(&mut self, job: JobId, old: Span, view: &View<'_>) {
        let end = view.predicted_end(job) - (view.prediction(job) - old);
        self.extended.entry(job).or_insert(end);
    }

    /// The prediction of a running job was `old` and has changed; it is believed to end no earlier
    /// than it was.
    pub(crate) fn note_prolonged_end(&mut self, job: JobId, old: Span, view: &View<'_>) {
        let end = view.predicted_end(job);
        let believed_end = self.extended.get(&job).copied().unwrap_or(end - (view.prediction(job) - old));
        if let Some(running) = self.running.remove(believed_end, job) {
            self.running.insert(RunningJob { end: end.max(believed_end), ..running });
            self.extended.insert(job, end.max(believed_end));
        }
    }

    /// A running job has gone without having ended.
    pub(crate) fn note_stop(&mut self, job: JobId, predicted_end: Time) {
        let end = self.extended.remove(&job).unwrap_or(predicted_end);
        self.running.remove(end, job);
        self.woken = true;
    }

    /// A job runs that the policy has not started.
    pub(crate) fn note_foreign_start(&mut self, id: JobId, view: &View<'_>) {
        let (predicted_end, procs) = (view.predicted_end(id), view.job(id).procs);
        let mut job = RunningJob { end: predicted_end, id, procs };
        if predicted_end <= view.current_time() {
            job.end = grace_end(&job, view);
            self.extended.insert(id, job.end);
        }
        self.running.insert(job);
        self.woken = true;
        self.doubtful = true;
    }

    pub(crate) fn start_job(&mut self, job: &PlannedJob, view: &View<'_>) {
        let end = view.current_time() + job.span;
        if view.prediction_at(job.id, job.procs) < job.span {
            self.extended.insert(job.id, end);
        }
        self.running.insert(RunningJob { end, id: job.id, procs: job.procs });
    }

    /// The first job that still runs at the end it was believed to have.
    pub(crate) fn first_overdue(&self, now: Time) -> Option<RunningJob> {
        self.running.first_ending().filter(|job| job.end <= now)
    }

    pub(crate) fn extend_end(&mut self, job: RunningJob, end: Time) {
        self.running.remove(job.end, job.id);
        self.running.insert(RunningJob { end, ..job });
        self.extended.insert(job.id, end);
    }

    pub(crate) fn forget_job(&mut self, job: RunningJob) {
        self.running.remove(job.end, job.id);
    }

    /// A job that has outlived its prediction is believed to need as long again as it is overdue,
    /// at least a minute. `overdue` receives each such job, with its new end. Returns whether there
    /// was one.
    pub(crate) fn extend_overdue(&mut self, view: &View<'_>, mut overdue: impl FnMut(RunningJob, Time)) -> bool {
        let mut has_extended = false;
        while let Some(job) = self.first_overdue(view.current_time()) {
            let end = grace_end(&job, view);
            self.extend_end(job, end);
            overdue(job, end);
            has_extended = true;
        }
        has_extended
    }

    /// Returns the believed end of the first running job to end.
    #[inline]
    pub(crate) fn next_end(&self) -> Option<Time> {
        self.running.first_ending().map(|job| job.end)
    }

    /// Returns whether the running jobs and those on further `guests` processors fit the machine;
    /// false only after foreign starts: then the processors that a job gives back may not become
    /// free. O(running jobs).
    pub(crate) fn fits_machine(&self, guests: Procs, view: &View<'_>) -> bool {
        let held_procs: u64 = self.running.iter().map(|job| u64::from(job.procs)).sum();
        let down = view.outlook().map_or(0, Outlook::down_processors);
        held_procs + u64::from(guests) + u64::from(view.free_processors()) + u64::from(down)
            == u64::from(view.machine().procs)
    }

    /// Returns whether ends are noticed late.
    pub(crate) fn is_late(&self) -> bool {
        self.notice == Notice::Late
    }

    /// Returns the time at which a policy with this notice and this first planned start has to be
    /// woken, if `ends` matter to it in any case. Late notice of ends matters only to jobs that
    /// wait.
    pub(crate) fn wake_time(&self, first_start: Option<Time>, ends: bool) -> Option<Time> {
        let has_late_notice = self.notice == Notice::Late && first_start.is_some();
        let end = if ends || has_late_notice { self.next_end() } else { None };
        first_start.into_iter().chain(end).min()
    }

    /// The running jobs in the order of their believed ends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &RunningJob> {
        self.running.iter()
    }

    /// Makes the profile that of the running jobs, with `free` processors free now. O(running
    /// jobs).
    pub(crate) fn fill_profile(&self, profile: &mut Profile, view: &View<'_>, free: Procs) {
        let ends = self.running.iter().map(|job| (job.end, job.procs));
        view.fill_believing(profile, free, ends, |id| self.end_of(id, view));
    }

    pub(crate) fn end_of(&self, id: JobId, view: &View<'_>) -> Time {
        self.extended.get(&id).copied().unwrap_or_else(|| view.predicted_end(id))
    }
}

/// Returns the believed end of an overdue job: it runs as long again as it is overdue, at least a
/// minute.
pub(crate) fn grace_end(job: &RunningJob, view: &View<'_>) -> Time {
    let overdue = view.current_time() - view.predicted_end(job.id);
    view.current_time() + overdue.max(Span::MINUTE)
}
