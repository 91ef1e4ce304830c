//! Step from the session's state of a job to the cluster's.

use super::{
    DaemonMode, ExportedJob, Flight, Flying, HoldReason, LookResult, Retry, Tracked, TrackedPlace, Tracker, TrackerNews,
};
use crate::cluster::{ClusterOrder, Ending, HookMark, JobFact, JobName, JobState, PendingReason};
use drystone::engine::How;
use drystone::model::{Job, Span, Time};

/// Run time assumed for a job without a time limit, in seconds: a year.
const UNLIMITED: i64 = 365 * 86_400;

/// Time in which nodes tell a controller that was killed of the jobs that it has forgotten to have
/// started, and these are ended, in seconds.
pub(super) const FORGOTTEN: i64 = 15;

enum ClusterTarget {
    /// Nowhere that concerns the session.
    Absent,
    Waiting,
    Held(HoldReason),
    Running,
    Suspended,
    /// Suspended by another than the daemon.
    Interrupted,
    Over(Ending),
    /// Not listed.
    Gone,
}

impl Tracker {
    /// Tells the session whatever brings it from where it has a job to where the cluster has it.
    pub(super) fn settle_job(
        &mut self,
        t: &mut Tracked,
        fact: Option<&JobFact>,
        is_throttled: bool,
        turn: &mut LookResult,
    ) {
        let target = self.cluster_target(t, fact, is_throttled, turn);
        if t.place == TrackedPlace::Done && !matches!(target, ClusterTarget::Over(_) | ClusterTarget::Gone) {
            // The cluster has forgotten that it is over.
            if let Some(id) = t.id.take() {
                self.ids.remove(&id);
            }
            (t.place, t.job) = (TrackedPlace::Absent, None);
        }
        match (target, fact) {
            (ClusterTarget::Gone, _) => self.settle_gone(t, turn),
            (ClusterTarget::Absent, _) => self.settle_absent(t, turn),
            (ClusterTarget::Over(ending), Some(fact)) => self.settle_over(t, fact, ending, turn),
            (ClusterTarget::Waiting, Some(fact)) => self.settle_pending(t, fact, None, turn),
            (ClusterTarget::Held(reason), Some(fact)) => self.settle_pending(t, fact, Some(reason), turn),
            (ClusterTarget::Running, Some(fact)) => self.settle_running(t, fact, turn),
            (ClusterTarget::Suspended, Some(fact)) => self.settle_suspended(t, fact, true, turn),
            (ClusterTarget::Interrupted, Some(fact)) => self.settle_suspended(t, fact, false, turn),
            (_, None) => {}
        }
    }

    /// A job that is requeued while it is suspended comes back held, as if an administrator held
    /// it.
    fn note_orphan(t: &mut Tracked, fact: &JobFact) {
        let is_stopped = matches!(t.place, TrackedPlace::Suspended | TrackedPlace::Interrupted) || t.stopped;
        if fact.state != JobState::Pending {
            t.orphaned = false;
        } else if is_stopped && fact.reason == PendingReason::AdminHold {
            t.orphaned = true;
        }
    }

    fn cluster_target(
        &mut self,
        t: &mut Tracked,
        fact: Option<&JobFact>,
        is_throttled: bool,
        turn: &mut LookResult,
    ) -> ClusterTarget {
        let Some(fact) = fact else { return ClusterTarget::Gone };
        Tracker::note_orphan(t, fact);
        match fact.state {
            JobState::Ended(ending) => ClusterTarget::Over(ending),
            JobState::Running | JobState::Suspended if self.held_by(fact) == 0 => ClusterTarget::Absent,
            JobState::Running => ClusterTarget::Running,
            JobState::Suspended if t.stopped && self.settings.suspends => ClusterTarget::Suspended,
            JobState::Suspended => ClusterTarget::Interrupted,
            JobState::Pending => self.pending_target(t, fact, is_throttled, turn),
        }
    }

    fn pending_target(
        &mut self,
        t: &mut Tracked,
        fact: &JobFact,
        is_throttled: bool,
        turn: &mut LookResult,
    ) -> ClusterTarget {
        let driving = self.settings.mode == DaemonMode::Drive;
        if !self.settings.adopt_old && !self.begun && driving && !fact.held {
            t.foreign = true;
        }
        // The hook kept its owner's release from the cluster: the hold is ours since.
        let is_freed =
            fact.held && fact.reason == PendingReason::UserHold && self.user_words.last_word(t.key) == Some(false);
        t.taken |= driving && is_freed;
        if self.is_foreign(t, fact) {
            // It may have become so in flight, and the nodes that we chose may not hold it now.
            if driving && std::mem::take(&mut t.pinned) {
                turn.orders.push(ClusterOrder::Unpin(t.key));
            }
            let is_ours = fact.held && Tracker::is_ours(t, fact);
            // What the cluster has set aside, and what an administrator holds, is theirs.
            let set_aside = fact.reason == PendingReason::Unsatisfiable && !t.freed;
            let admins = fact.reason == PendingReason::AdminHold && self.is_administrators(t, fact);
            if driving && is_ours && !t.user_hold && !set_aside && !admins {
                if t.taken {
                    self.issue_order(t, Flying::LettingGo, ClusterOrder::Release(t.key), turn);
                } else {
                    // It had been let go. The words of the hook are read before a look, so that the
                    // word of a hold which this look shows may come with the next.
                    t.taken = true;
                    self.timers.insert((Time(self.stamp.now + 1), t.key));
                }
            }
            return ClusterTarget::Absent;
        }
        if !fact.held {
            // An authorised user has released it.
            t.user_hold = false;
            let name = JobName { id: t.key.id, task: t.key.task };
            if self.user_words.last_word(t.key).unwrap_or(fact.mark == HookMark::User) {
                self.user_words.note_hold(name, false);
            }
            if self.operator_words.is_held(t.key) {
                self.operator_words.note_hold(name, false);
            }
        }
        if driving && !fact.held {
            let is_known = matches!(t.place, TrackedPlace::Waiting | TrackedPlace::Held);
            let is_kept = matches!(
                t.why,
                Some(HoldReason::Admin | HoldReason::LaunchFailed | HoldReason::User | HoldReason::Taking)
            );
            if is_known && !is_kept && !self.retake {
                return ClusterTarget::Held(HoldReason::LetGo);
            }
            t.taken = true;
            self.issue_order(t, Flying::Taking, ClusterOrder::Hold(t.key), turn);
            return ClusterTarget::Held(HoldReason::Taking);
        }
        let reason = self.why_not(t, fact, is_throttled);
        if driving
            && matches!(reason, Some(HoldReason::PartitionClosed | HoldReason::Unsatisfiable))
            && self.is_to_be_probed(t, fact)
        {
            self.issue_order(t, Flying::Probing, ClusterOrder::Release(t.key), turn);
        }
        reason.map_or(ClusterTarget::Waiting, ClusterTarget::Held)
    }

    /// Orders something and remembers that it is on its way.
    pub(super) fn issue_order(&mut self, t: &mut Tracked, kind: Flying, order: ClusterOrder, turn: &mut LookResult) {
        let tries = t.flight.filter(|flight| flight.what == kind).map_or(0, |flight| flight.tries) + 1;
        t.flight = Some(Flight { what: kind, since: self.stamp.steady, doubtful: false, tries, seen: false });
        self.flying.insert(t.key);
        turn.orders.push(order);
    }

    fn settle_gone(&mut self, t: &mut Tracked, turn: &mut LookResult) {
        let key = t.key;
        match t.place {
            TrackedPlace::Absent | TrackedPlace::Done => {}
            TrackedPlace::Waiting | TrackedPlace::Held | TrackedPlace::Suspended | TrackedPlace::Interrupted => {
                turn.add_news(t.id, TrackerNews::Cancelled(key))
            }
            // It is not known how long it ran, or whether it did.
            TrackedPlace::Running => turn.add_news(t.id, TrackerNews::Ended { key, how: How::NotStarted, ran: None }),
        }
        self.finish_job(t, None);
    }

    fn settle_absent(&mut self, t: &mut Tracked, turn: &mut LookResult) {
        let key = t.key;
        match t.place {
            TrackedPlace::Absent | TrackedPlace::Done => return,
            TrackedPlace::Running => turn.add_news(t.id, TrackerNews::Ended { key, how: How::NotStarted, ran: None }),
            _ => turn.add_news(t.id, TrackerNews::Cancelled(key)),
        }
        if let Some(id) = t.id.take() {
            self.ids.remove(&id);
        }
        (t.place, t.job) = (TrackedPlace::Absent, None);
    }

    fn settle_over(&mut self, t: &mut Tracked, fact: &JobFact, ending: Ending, turn: &mut LookResult) {
        let key = t.key;
        let ran = Span(fact.ran.max(0));
        let over = TrackerNews::Ended { key, how: classify_ending(ending), ran: Some(ran) };
        let did_run = !fact.places.is_empty() || ran > Span::ZERO;
        match t.place {
            TrackedPlace::Absent | TrackedPlace::Done => {}
            TrackedPlace::Waiting | TrackedPlace::Held if did_run => {
                turn.add_news(t.id, TrackerNews::Started { key, since: self.running_since(fact) });
                turn.add_news(t.id, over);
            }
            TrackedPlace::Running => turn.add_news(
                t.id,
                if did_run { over } else { TrackerNews::Ended { key, how: How::NotStarted, ran: Some(Span::ZERO) } },
            ),
            TrackedPlace::Suspended | TrackedPlace::Interrupted
                if !matches!(ending, Ending::Cancelled | Ending::Removed) =>
            {
                // It has gone on meanwhile.
                turn.add_news(t.id, TrackerNews::Continued(key));
                turn.add_news(t.id, over);
            }
            _ => turn.add_news(t.id, TrackerNews::Cancelled(key)),
        }
        if did_run {
            t.story.started = Some(self.running_since(fact));
        }
        self.finish_job(t, Some(ending));
    }

    fn finish_job(&mut self, t: &mut Tracked, ending: Option<Ending>) {
        if !matches!(t.place, TrackedPlace::Done | TrackedPlace::Absent) {
            t.story.ended = Some((self.stamp.session_time(), ending.unwrap_or(Ending::Cancelled)));
            self.remember_finished(t);
        }
        (t.place, t.flight, t.why, t.retry) = (TrackedPlace::Done, None, None, None);
        self.depending.remove(&t.key);
    }

    fn settle_pending(&mut self, t: &mut Tracked, fact: &JobFact, reason: Option<HoldReason>, turn: &mut LookResult) {
        let key = t.key;
        let is_forgotten = t.place == TrackedPlace::Running && t.story.started.is_some() && fact.restarts == t.restarts;
        let hold_reason = if is_forgotten && reason.is_none() { self.wait_for_nodes(t, FORGOTTEN) } else { reason };
        let is_held = hold_reason.is_some();
        match t.place {
            TrackedPlace::Absent | TrackedPlace::Done => {
                let job = self.job_of(t, fact, fact.procs);
                t.job = Some(job.clone());
                turn.add_news(t.id, TrackerNews::Arrive { key, job, held: is_held });
            }
            TrackedPlace::Waiting | TrackedPlace::Held => {
                if t.place == TrackedPlace::Waiting && is_held {
                    turn.add_news(t.id, TrackerNews::Held(key));
                }
                self.update_job(t, fact, fact.procs, turn);
                if t.place == TrackedPlace::Held && !is_held {
                    turn.add_news(t.id, TrackerNews::Released(key));
                }
            }
            TrackedPlace::Running | TrackedPlace::Suspended | TrackedPlace::Interrupted => {
                turn.add_news(t.id, TrackerNews::Requeued(key));
                if is_held {
                    turn.add_news(t.id, TrackerNews::Held(key));
                }
                if self.settings.shrinks
                    && let Some(job) = &mut t.job
                {
                    // The session gives it the size back that it had before it gave nodes: it has
                    // to hear of this one.
                    job.procs = 0;
                }
                self.update_job(t, fact, fact.procs, turn);
                (t.stopped, t.story.decided, t.story.started) = (false, None, None);
            }
        }
        (t.place, t.why) = (if is_held { TrackedPlace::Held } else { TrackedPlace::Waiting }, hold_reason);
    }

    /// A controller that was killed has forgotten a start: the job may run still. It is not
    /// released before its node has told of it and it was ended there, or Slurm takes the node out
    /// of service.
    pub(super) fn wait_for_nodes(&mut self, t: &mut Tracked, seconds: i64) -> Option<HoldReason> {
        if self.settings.mode == DaemonMode::Shadow {
            return None;
        }
        let until = Time(self.stamp.now + seconds);
        t.retry = Some(Retry::At(until));
        self.timers.insert((until, t.key));
        Some(HoldReason::Retry)
    }

    pub(super) fn settle_running(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) {
        let key = t.key;
        if fact.leaving && t.place == TrackedPlace::Running {
            self.give_nodes_back(t, fact, turn);
            return;
        }
        let procs = self.held_by(fact);
        let since = self.running_since(fact);
        match t.place {
            TrackedPlace::Absent | TrackedPlace::Done => {
                let job = self.job_of(t, fact, procs);
                t.job = Some(job.clone());
                turn.add_news(t.id, TrackerNews::AdoptRunning { key, job, since });
            }
            TrackedPlace::Waiting | TrackedPlace::Held => {
                self.update_job(t, fact, procs, turn);
                turn.add_news(t.id, TrackerNews::Started { key, since });
            }
            TrackedPlace::Suspended | TrackedPlace::Interrupted => {
                turn.add_news(t.id, TrackerNews::Continued(key));
                self.update_job(t, fact, procs, turn);
            }
            TrackedPlace::Running => self.update_job(t, fact, procs, turn),
        }
        if self.named {
            turn.add_news(t.id, TrackerNews::Placed(key));
        }
        (t.place, t.why, t.stopped, t.retry, t.freed) = (TrackedPlace::Running, None, false, None, false);
        t.story.started = Some(since);
    }

    /// A job that is being cleaned up gives its nodes back one by one.
    fn give_nodes_back(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) {
        let had = t.job.as_ref().map_or(0, |job| job.procs);
        let has = if fact.places.is_empty() { had } else { self.layout.held_procs(&fact.places, fact.procs) };
        if has > 0 && has < had {
            self.update_job(t, fact, has, turn);
            if self.named {
                turn.add_news(t.id, TrackerNews::Placed(t.key));
            }
        }
    }

    fn settle_suspended(&mut self, t: &mut Tracked, fact: &JobFact, is_ours: bool, turn: &mut LookResult) {
        let key = t.key;
        let procs = self.held_by(fact);
        match (t.place, is_ours) {
            (TrackedPlace::Suspended, true) | (TrackedPlace::Interrupted, false) => return,
            (TrackedPlace::Absent | TrackedPlace::Done, true) => {
                let job = self.job_of(t, fact, procs);
                t.job = Some(job.clone());
                turn.add_news(t.id, TrackerNews::AdoptSuspended { key, job, ran: Span(fact.ran.max(0)) });
            }
            (TrackedPlace::Running, true) => turn.add_news(t.id, TrackerNews::StaysSuspended(key)),
            (_, _) => {
                if t.place != TrackedPlace::Running {
                    self.settle_running(t, fact, turn);
                }
                turn.add_news(t.id, TrackerNews::Interrupted(key));
            }
        }
        t.place = if is_ours { TrackedPlace::Suspended } else { TrackedPlace::Interrupted };
        t.stopped = is_ours;
    }

    /// Tells of a job that is another one now.
    fn update_job(&mut self, t: &mut Tracked, fact: &JobFact, procs: u32, turn: &mut LookResult) {
        let job = self.job_of(t, fact, procs);
        if t.job.as_ref() != Some(&job) {
            t.job = Some(job.clone());
            turn.add_news(t.id, TrackerNews::Updated { key: t.key, job });
        }
    }

    /// Returns the session's description of a job. The submit time stays fixed once reported.
    fn job_of(&mut self, t: &Tracked, fact: &JobFact, procs: u32) -> Job {
        let submit = Time(fact.submit + self.offset).min(self.stamp.session_time());
        let submit = t.job.as_ref().map_or(submit, |job| job.submit);
        let mut job = Job::new(submit, procs.max(1), Span(fact.limit.unwrap_or(UNLIMITED)));
        job.user = self.users.assign_number(&fact.user);
        job.group = self.groups.assign_number(&fact.group);
        job.queue = self.queues.assign_number(if fact.class.is_empty() { &fact.partition } else { &fact.class });
        job.priority = fact.priority;
        job.demand = self.demand_of(t, fact);
        job.partition =
            self.settings.partitions.iter().position(|p| *p == fact.partition).map_or(0, |at| at as i32 + 1);
        job
    }

    /// Returns the session's description of a job that ended before.
    pub(crate) fn job_of_past(&mut self, past: &ExportedJob, offset: i64) -> Job {
        let limit = past.limit.unwrap_or(UNLIMITED);
        let mut job = Job::new(Time(past.submit + offset), past.procs.max(1), Span(limit));
        job.user = self.users.assign_number(&past.user);
        job.group = self.groups.assign_number(&past.group);
        job.queue = self.queues.assign_number(&past.queue);
        job
    }

    fn running_since(&self, fact: &JobFact) -> Time {
        fact.start.map_or(self.stamp.session_time(), |start| Time(start + self.offset).min(self.stamp.session_time()))
    }

    /// Returns the number of our processors that a running job holds.
    fn held_by(&self, fact: &JobFact) -> u32 {
        if fact.places.is_empty() {
            // Its nodes are not said yet.
            let is_driven = self.settings.partitions.contains(&fact.partition);
            return if is_driven { fact.procs } else { 0 };
        }
        self.layout.held_procs(&fact.places, fact.procs)
    }
}

/// Returns the meaning of an end for the run time.
pub(crate) fn classify_ending(ending: Ending) -> How {
    match ending {
        Ending::Completed | Ending::Failed | Ending::OutOfMemory => How::Completed,
        Ending::AtLimit => How::AtLimit,
        Ending::Cancelled | Ending::Removed => How::Cancelled,
        Ending::MachineFailed => How::MachineFailed,
    }
}
