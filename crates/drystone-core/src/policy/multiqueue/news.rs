//! Effects of users, operators and the machine on jobs and processors.

use super::{ClassQueue, MultiQueue, planned_end};
use crate::model::{JobId, Procs, Span};
use crate::parts::RunningJob;
use crate::policy::{Outlook, View};

impl MultiQueue {
    /// A job waits again. It has been sorted into a queue already, and its prediction may be
    /// another.
    pub(super) fn note_release(&mut self, id: JobId, view: &View<'_>) {
        let (job, span) = (view.job(id), view.prediction(id).max(Span(1)));
        let class = self.classes.queue_of(span, job.procs);
        self.class_of[id] = class as u8;
        self.queue_up(id, span, class, view);
        self.dirty = true;
    }

    /// A running job has gone without having ended.
    pub(super) fn note_stop(&mut self, id: JobId, view: &View<'_>) {
        self.privileges.forget_job(id, view);
        let class = self.job_class(id);
        self.running.remove(planned_end(id, view.prediction(id), view), id);
        if let Some(partitions) = &mut self.partitions {
            partitions.end_job(class, view.job(id).procs);
        }
        (self.dirty, self.stale) = (true, true);
    }

    /// A job runs that this policy has not started.
    pub(super) fn note_foreign_start(&mut self, id: JobId, view: &View<'_>) {
        self.privileges.record_job(id, view);
        let (class, procs) = (self.job_class(id), view.job(id).procs);
        let end = planned_end(id, view.prediction(id), view);
        self.running.insert(RunningJob { end, id, procs });
        if let Some(partitions) = &mut self.partitions {
            partitions.start_job(class, procs);
        }
        (self.dirty, self.stale) = (true, true);
    }

    /// Processors have gone or come back.
    pub(super) fn capacity_changed(&mut self, view: &View<'_>) {
        (self.dirty, self.stale) = (true, true);
        self.fresh.append(&mut self.aside);
        let Some(outlook) = view.outlook() else { return };
        let most = outlook.left_of(view.machine().procs);
        let waiting_jobs = self.queues.iter().flat_map(ClassQueue::jobs);
        let wide: Vec<JobId> = waiting_jobs.filter(|job| job.procs > most).map(|job| job.id).collect();
        for id in wide {
            let job = self.withdraw_job(id);
            self.aside.extend(job);
            self.promises.drop(id);
            self.seats.remove(&id);
            self.literal.forget_job(id);
        }
        self.set_aside_fresh(most);
    }

    /// Before a pass while processors are out or announced to be.
    pub(super) fn look_ahead(&mut self, outlook: &Outlook, view: &View<'_>) {
        let now = view.current_time();
        let end = |id| view.predicted_end(id).max(now + Span(1));
        outlook.capacity_changes(now, end, &mut self.scratch.changes);
        self.set_aside_fresh(outlook.left_of(view.machine().procs));
        // An overdue job on processors that go with it puts off what was promised behind it from
        // second to second.
        self.stale |= outlook.hangs_on_jobs();
    }

    /// Jobs that are wider than what is there in the end wait without a promise, and are in no
    /// job's way.
    fn set_aside_fresh(&mut self, most: Procs) {
        self.aside.extend(self.fresh.extract_if(.., |job| job.procs > most));
    }
}
