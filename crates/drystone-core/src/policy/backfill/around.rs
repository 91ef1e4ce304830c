//! Passes while processors are out, or are announced to be.
//!
//! Processors that come back are ends of jobs that were never submitted, and the pass is the usual
//! one. It is also the usual one before an announced window that no job can reach that might start
//! now, and that the reservation ends before. Nearer to it, and while jobs run on processors that
//! go with them, the pass is a plan of the future: then all ends at the shadow time count
//! (`extra=all`), and an overdue job ends now (`overdue=now`).

use super::{Backfill, BackfillChoices, OverdueRule, OvertakeGuard};
use crate::model::{JobId, Span, Time};
use crate::parts::ranking;
use crate::parts::{ExtraRule, QueuePlace, WaitingJob};
use crate::policy::{Actions, Outlook, View};
use crate::room::node_outlook::FinalRoom;
use crate::room::shadow_room::can_plan_midway;
use serde::{Deserialize, Serialize};

/// State of passes around windows.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Around {
    /// No job that is here was ever predicted, or asked, to run longer than this.
    longest: Span,
    /// Longest of the waiting jobs.
    longest_waiting: Span,
    /// The pass is the usual one as long as the reservation ends by then: a window begins.
    #[serde(skip)]
    window: Option<Time>,
    /// The job that headed the queue when the last pass found nothing more to start.
    head: Option<QueuePlace>,
}

impl Around {
    /// No job waits.
    pub(super) fn is_empty(&mut self) {
        self.longest_waiting = Span::ZERO;
    }

    /// The last pass found nothing more to start behind this head.
    pub(super) fn found_none_behind(&mut self, head: &WaitingJob) {
        self.head = Some(head.queue_place());
    }
}

impl Backfill {
    /// Makes the pass where it is not the usual one. Returns whether it has. `changed` says whether
    /// anything but an arrival has happened since the last one.
    pub(super) fn decide_around(
        &mut self,
        outlook: &Outlook,
        has_changed: bool,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        self.set_aside_fresh(outlook, view);
        if self.no_job_waits() {
            self.around.is_empty();
        }
        for at in 0..self.fresh.len() {
            let job = &self.fresh[at];
            self.note_longer_prediction(job.prediction.max(view.job(job.id).estimate));
        }
        self.around.window = None;
        if outlook.only_returns() || self.choices.reservations > 1 || self.is_far(outlook, view) {
            self.around.head = None;
            return false;
        }
        if !has_changed && self.cannot_start_any(view) {
            self.enqueue_fresh(view);
            return true;
        }
        self.around.head = None;
        if self.all_end_before(outlook, view) {
            self.around.window = outlook.windows().first().map(|window| window.from);
            return false;
        }
        self.enqueue_fresh(view);
        self.rate_queues(view);
        self.plan_ahead(view, actions);
        self.blocked = None;
        true
    }

    /// Returns whether each job that could start now would end before the first window, and the
    /// usual pass plans as one around windows does.
    fn all_end_before(&self, outlook: &Outlook, view: &View<'_>) -> bool {
        let BackfillChoices { extra, overdue, backfill, .. } = &self.choices;
        let window = outlook.windows().first().filter(|_| outlook.supply_changes().is_empty());
        window.is_some_and(|window| view.current_time().saturating_add(self.around.longest_waiting) <= window.from)
            && (*extra, *overdue) == (ExtraRule::All, OverdueRule::Now)
            && backfill.is_some()
            && can_plan_midway(view)
            && outlook.drains.is_empty()
            && outlook.shared.is_empty()
            // What goes for good may leave too little for a job, which then is in no job's way.
            && outlook.windows().iter().all(|window| window.until < Time::MAX)
    }

    /// Returns whether a window lies in the way of the reservation of a job that heads the queue,
    /// or an overdue job does: then the usual pass does not do.
    pub(super) fn is_in_the_way(&self, head: &WaitingJob, shadow: Time, now: Time) -> bool {
        let reaches = |from: Time| shadow <= now || shadow.saturating_add(head.prediction.max(Span(1))) > from;
        self.choices.reservations > 0 && self.around.window.is_some_and(reaches)
    }

    /// A job that waits is predicted to run so long by now.
    #[inline]
    pub(super) fn note_longer_prediction(&mut self, prediction: Span) {
        let Around { longest, longest_waiting, .. } = &mut self.around;
        (*longest, *longest_waiting) = (prediction.max(*longest), prediction.max(*longest_waiting));
    }

    /// Returns whether the first window begins so late that no job that starts now, and no
    /// reservation, can reach it, and likewise the first time at which the amount of a further
    /// resource falls. Where an amount rises, a reservation may wait for that.
    pub(super) fn is_far(&self, outlook: &Outlook, view: &View<'_>) -> bool {
        let Some(first) = outlook.first_change().filter(|_| !outlook.supply_grows()) else { return false };
        let (now, longest) = (view.current_time(), self.around.longest);
        let far = |end: Time| end.saturating_add(longest) <= first;
        far(now.saturating_add(longest))
            && outlook.drains.is_empty()
            && outlook.shared.is_empty()
            && view.running_jobs().last_ending().is_none_or(|job| far(job.end))
            && outlook.expected_returns().iter().all(|back| back.0 == Time::MAX || far(back.0))
    }

    /// Only jobs have arrived, all behind the head, and none of them fits what is free: what could
    /// not start before cannot start now. A running job that is overdue ends now as far as a plan
    /// goes, at each pass at a later time: then the reservation of the head, and what is free
    /// beside it, may be others by time alone.
    pub(super) fn cannot_start_any(&self, view: &View<'_>) -> bool {
        let (free, now) = (view.free_processors(), view.current_time());
        !self.choices.order.is_dynamic()
            && view.running_jobs().first_ending().is_none_or(|job| job.end > now)
            && !self.backfill_order().is_dynamic()
            && self.starvation.is_none()
            // Where estimates guard, a job that had to use extra processors may count as ending in
            // time at the next pass.
            && self.choices.guard == OvertakeGuard::Prediction
            && self.around.head.is_some_and(|head| self.fresh.iter().all(|job| job.procs > free && job.queue_place() > head))
    }

    /// Processors have gone or come back.
    #[cold]
    pub(super) fn capacity_changed(&mut self, view: &View<'_>) {
        (self.blocked, self.ended, self.around.head, self.final_room) = (None, true, None, None);
        for id in std::mem::take(&mut self.aside) {
            self.note_arrival(id, view);
        }
        let Some(outlook) = view.outlook() else { return };
        let queue = self.candidates.as_ref().unwrap_or(&self.queue);
        let queued_jobs = queue.sorted_jobs(self.backfill_order(), view);
        if outlook.first_change().is_some() {
            // The longest that any job that is here is predicted, or asks, to run.
            let run_bound = |id: JobId| view.prediction(id).max(view.job(id).estimate);
            let longest = |jobs: &mut dyn Iterator<Item = JobId>| jobs.map(run_bound).fold(Span::ZERO, Span::max);
            let among_waiting = longest(&mut queued_jobs.iter().chain(&self.fresh).map(|job| job.id));
            self.around.longest_waiting = among_waiting;
            self.around.longest = longest(&mut view.running_jobs().iter().map(|job| job.id)).max(among_waiting);
        }
        let mut final_room = FinalRoom::from_outlook(outlook, view);
        for id in queued_jobs.iter().map(|job| job.id) {
            if !final_room.fits_job(id, outlook, view) {
                self.dequeue_job(&ranking::waiting_job(&self.choices.order, id, view.prediction(id), view), view);
                self.aside.push(id);
            }
        }
        self.final_room = Some(final_room);
        self.set_aside_fresh(outlook, view);
    }

    /// Jobs that do not fit on what is there in the end wait without a reservation, and are in no
    /// job's way.
    fn set_aside_fresh(&mut self, outlook: &Outlook, view: &View<'_>) {
        let Backfill { fresh, aside, final_room, .. } = self;
        let final_room = final_room.get_or_insert_with(|| FinalRoom::from_outlook(outlook, view));
        aside.extend(fresh.extract_if(.., |job| !final_room.fits_job(job.id, outlook, view)).map(|job| job.id));
    }

    /// Takes the job out of the queues that is their head.
    pub(super) fn take_head(&mut self, head: &WaitingJob, view: &View<'_>) {
        match &mut self.line {
            Some(line) => line.remove_first(),
            None => self.leave_queue(head, view),
        }
        self.leave_candidates(head, view);
    }
}
