//! Orders in flight, not seen yet: acknowledged, timed out, undone. The cluster's view decides,
//! never the order.

use super::blocked::{IMPOSSIBLE, compute_pause};
use super::settle::FORGOTTEN;
use super::{Flying, LookResult, PATIENCE, Retry, Tracked, TrackedPlace, Tracker, TrackerNews};
use crate::cluster::{ClusterOrder, JobFact, JobKey, JobState, PendingReason};
use drystone::model::Time;

/// Delay of a start against its decision from which the session learns the actual start time, in
/// seconds.
const LATE: i64 = 5;
/// Longest wait of a job that a limit stopped before it is tried again, in seconds.
const LIMITED: i64 = 600;
/// Waits of a job that was released and still depends on another, in seconds: the first and the
/// longest. The end of a job of its user ends them.
pub(super) const DEPENDS: (i64, i64) = (2, 60);
/// Time for which a released job may wait for room, in milliseconds: the controller has considered
/// it by then, and nothing behind it starts.
const ROOM_PATIENCE: u64 = 3_000;

impl Tracker {
    /// Looks at a job in flight. Returns whether it still is, so that where the session has it
    /// stays.
    pub(super) fn still_flies(&mut self, t: &mut Tracked, fact: Option<&JobFact>, turn: &mut LookResult) -> bool {
        let Some(flight) = t.flight else { return false };
        let Some(fact) = fact else {
            t.flight = None;
            return false;
        };
        let flies = match flight.what {
            Flying::Planned => fact.state == JobState::Pending && fact.held,
            Flying::PlannedResume => fact.state == JobState::Suspended,
            Flying::Launching => self.advance_launch(t, fact, turn),
            Flying::Holding => self.advance_hold(t, fact, turn),
            Flying::Stopping => self.advance_stop(t, fact, turn),
            Flying::Resuming => self.advance_resume(t, fact, turn),
            Flying::Taking => self.advance_take(t, fact, turn),
            Flying::LettingGo => self.letting_go(t, fact, turn),
            Flying::Shrinking => self.is_shrinking(t, fact),
            Flying::Killing => self.advance_kill(t, fact, turn),
            Flying::Probing => self.advance_probe(t, fact, turn),
        };
        if !flies {
            t.flight = None;
        }
        flies
    }

    /// Returns whether an order has been in flight for too long.
    pub(super) fn is_late(&self, t: &Tracked) -> bool {
        t.flight.is_some_and(|flight| self.stamp.steady.saturating_sub(flight.since) >= PATIENCE)
    }

    fn advance_launch(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        match fact.state {
            JobState::Running => {
                self.did_start(t, fact);
                t.vain = 0;
                let since = fact.start.map(|start| Time(start + self.offset));
                if let (Some(decision), Some(since)) = (t.story.decided, since)
                    && (since.0 - decision.0).abs() > LATE
                {
                    turn.add_news(
                        t.id,
                        TrackerNews::Started { key: t.key, since: since.min(self.stamp.session_time()) },
                    );
                }
                false
            }
            JobState::Suspended | JobState::Ended(_) => false,
            JobState::Pending if fact.held => {
                if fact.reason.sets_aside() {
                    self.note_failure(t, fact);
                } else {
                    self.is_held_again(t, fact);
                }
                self.comes_back(t, turn);
                false
            }
            JobState::Pending => {
                if let Some(flight) = &mut t.flight {
                    flight.seen = true;
                }
                if self.is_stuck(t, fact) {
                    self.gives_up(t, fact, turn);
                }
                true
            }
        }
    }

    /// Returns whether a released job will not start now: the cluster names a limit or an
    /// impossibility, finds no room for it, or gives no reason for too long.
    fn is_stuck(&self, t: &Tracked, fact: &JobFact) -> bool {
        match fact.reason {
            PendingReason::Limit
            | PendingReason::NodesOut
            | PendingReason::PartitionClosed
            | PendingReason::Unsatisfiable
            | PendingReason::Dependency
            | PendingReason::Begin
            | PendingReason::Throttle => true,
            PendingReason::Room => {
                let elapsed_time = t.flight.map_or(0, |flight| self.stamp.steady.saturating_sub(flight.since));
                elapsed_time >= ROOM_PATIENCE || self.has_failed(t, fact)
            }
            _ => self.is_late(t) || self.has_failed(t, fact),
        }
    }

    /// Says when a released job is tried next that is held, though neither its user nor an
    /// administrator holds it. The order was not carried out; or slurmctld was killed and has
    /// forgotten the release, and perhaps the start; or something else holds it each time: from the
    /// second time on the pauses grow. The hook reports users' holds, and an administrator's has a
    /// reason of its own.
    fn is_held_again(&mut self, t: &mut Tracked, fact: &JobFact) {
        let is_forgotten = matches!(fact.reason, PendingReason::UserHold | PendingReason::None | PendingReason::Other);
        let Some(flight) = t.flight.filter(|_| is_forgotten && !t.user_hold) else { return };
        if flight.doubtful && !flight.seen {
            return;
        }
        let times = t.vain;
        t.vain = t.vain.saturating_add(1);
        if flight.seen || times > 0 {
            self.wait_for_nodes(t, compute_pause((FORGOTTEN, IMPOSSIBLE.1), times));
        }
    }

    /// Holds a released job again, and says when it is tried next.
    fn gives_up(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) {
        self.note_failure(t, fact);
        self.issue_order(t, Flying::Holding, ClusterOrder::Hold(t.key), turn);
    }

    /// Says when a released job is tried next that will not start now.
    fn note_failure(&mut self, t: &mut Tracked, fact: &JobFact) {
        match fact.reason {
            PendingReason::Limit => {
                // The cluster may have judged it before an end that was seen meanwhile, so that the
                // limit has room: no job of its user or class has to wait for another end.
                let is_stale = t.flight.is_some_and(|flight| self.last_ends.has_end_since(fact, flight.since));
                let until = Time(self.stamp.now + if is_stale { DEPENDS.0 } else { LIMITED });
                t.retry = Some(Retry::OnEnd(until));
                if !is_stale {
                    self.limit_alike(t, fact, until);
                }
            }
            // The cluster knows better.
            PendingReason::Dependency | PendingReason::Begin | PendingReason::Throttle => {
                let pause = (DEPENDS.0 << t.vain.min(6)).min(DEPENDS.1);
                t.retry = Some(Retry::At(Time(self.stamp.now + pause)));
                t.vain = t.vain.saturating_add(1);
                self.vain.insert(t.key);
            }
            _ => {
                // There was room, but in too many pieces.
                t.narrow |= fact.reason == PendingReason::Room && self.current_room().idle_procs() >= fact.procs;
                if !self.has_failed(t, fact) {
                    if fact.reason == PendingReason::Room
                        && !self.current_room().take_room(&self.compute_need(t, fact, t.narrow))
                    {
                        // Another took the room, or it was in pieces: nodes show when that ends.
                        self.is_crowded_out(t, fact);
                    } else {
                        self.could_not_start(t, fact);
                    }
                }
            }
        }
    }

    /// It did not start and is held again: it waits, in its place.
    fn comes_back(&mut self, t: &mut Tracked, turn: &mut LookResult) {
        if t.pinned {
            t.pinned = false;
            turn.orders.push(ClusterOrder::Unpin(t.key));
        }
        self.again = true;
    }

    fn advance_hold(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        match fact.state {
            // It has started after all.
            JobState::Running | JobState::Suspended | JobState::Ended(_) => {
                t.retry = None;
                false
            }
            JobState::Pending if fact.held => {
                self.comes_back(t, turn);
                false
            }
            JobState::Pending => {
                if self.is_late(t) {
                    self.issue_order(t, Flying::Holding, ClusterOrder::Hold(t.key), turn);
                }
                true
            }
        }
    }

    fn advance_stop(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        match fact.state {
            JobState::Suspended => {
                t.stopped = true;
                false
            }
            JobState::Running if fact.leaving => true,
            JobState::Running => {
                let Some(flight) = t.flight else { return false };
                if flight.doubtful && flight.tries == 1 {
                    // It was not carried out: the policy decides again.
                    return false;
                }
                if self.is_late(t) {
                    if flight.tries > 1 {
                        turn.doubt.get_or_insert_with(|| format!("job {} cannot be suspended", t.key.name()));
                        return false;
                    }
                    self.issue_order(t, Flying::Stopping, ClusterOrder::Suspend(t.key), turn);
                }
                true
            }
            JobState::Pending | JobState::Ended(_) => false,
        }
    }

    fn advance_resume(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        if fact.state != JobState::Suspended {
            t.stopped = false;
            return false;
        }
        let Some(flight) = t.flight else { return false };
        if flight.doubtful || (self.is_late(t) && flight.tries > 2) {
            // It is still suspended: the policy decides again.
            t.stopped = true;
            self.again = true;
            return false;
        }
        if self.is_late(t) {
            self.issue_order(t, Flying::Resuming, ClusterOrder::Resume(t.key), turn);
        }
        true
    }

    fn advance_take(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        if fact.state != JobState::Pending {
            t.taken = false;
            return false;
        }
        if !fact.held && self.is_late(t) {
            self.issue_order(t, Flying::Taking, ClusterOrder::Hold(t.key), turn);
        }
        !fact.held
    }

    fn letting_go(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        // Its user or an operator may hold it by now, and the release have been carried out before
        // that, between two looks.
        if fact.state != JobState::Pending || !fact.held || t.user_hold {
            t.taken = false;
            return false;
        }
        if self.is_late(t) {
            match &mut t.flight {
                // The word of a hold that this look shows may come with the next.
                Some(flight) if !flight.seen => flight.seen = true,
                _ => self.issue_order(t, Flying::LettingGo, ClusterOrder::Release(t.key), turn),
            }
        }
        true
    }

    fn advance_kill(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        let over = matches!(fact.state, JobState::Ended(_) | JobState::Pending);
        if !over && !fact.leaving && self.is_late(t) {
            self.issue_order(t, Flying::Killing, ClusterOrder::Cancel(t.key), turn);
        }
        !over
    }

    /// A job that could not start was released beside the policy: it takes no room in a plan
    /// meanwhile. It waits for the policy again once the cluster only lacks room for it.
    fn advance_probe(&mut self, t: &mut Tracked, fact: &JobFact, turn: &mut LookResult) -> bool {
        match fact.state {
            JobState::Running => {
                self.did_start(t, fact);
                false
            }
            JobState::Pending if !fact.held => {
                match fact.reason {
                    PendingReason::PartitionClosed | PendingReason::Unsatisfiable => self.could_not_start(t, fact),
                    PendingReason::Room => self.can_start(t, fact),
                    _ if !self.is_late(t) => return true,
                    _ => {}
                }
                self.issue_order(t, Flying::Holding, ClusterOrder::Hold(t.key), turn);
                true
            }
            JobState::Pending if fact.reason.sets_aside() => {
                self.could_not_start(t, fact);
                false
            }
            // It was not carried out, or is held by another.
            JobState::Pending | JobState::Suspended | JobState::Ended(_) => false,
        }
    }

    /// Starts and resumes that waited for suspensions and for nodes of other jobs, once all of
    /// these are seen.
    pub(super) fn begin_planned(&mut self, turn: &mut LookResult) {
        let is = |key: JobKey, kind| self.jobs.get(&key).is_some_and(|t| t.is_flying(kind));
        if self.flying.iter().any(|&key| is(key, Flying::Stopping) || is(key, Flying::Shrinking)) {
            return;
        }
        let flying = self.flying.iter().copied();
        let mut planned_jobs: Vec<JobKey> =
            flying.filter(|&key| is(key, Flying::Planned) || is(key, Flying::PlannedResume)).collect();
        // In the order in which the session knows them, which is that of their arrival.
        planned_jobs.sort_by_key(|key| self.jobs.get(key).and_then(|t| t.id));
        if planned_jobs.is_empty() {
            return;
        }
        let mut room = self.current_room();
        for key in planned_jobs {
            let Some(mut t) = self.jobs.remove(&key) else { continue };
            if t.is_flying(Flying::Planned) {
                if self.mirror.job_fact(key).is_some_and(|fact| room.take_room(&self.compute_need(&t, fact, t.narrow)))
                {
                    self.issue_order(&mut t, Flying::Launching, ClusterOrder::Release(key), turn);
                } else {
                    // What was to leave its processors has not.
                    turn.add_news(t.id, TrackerNews::Requeued(key));
                    (t.flight, t.place, self.again) = (None, TrackedPlace::Waiting, true);
                }
            } else {
                self.resume_job(&mut t, turn);
            }
            self.keep_job(t, true);
        }
    }

    /// Orders a suspended job to resume, if there is room where it was. The cluster itself would
    /// not look.
    pub(super) fn resume_job(&mut self, t: &mut Tracked, turn: &mut LookResult) {
        if self.mirror.job_fact(t.key).is_some_and(|fact| fact.state == JobState::Running) {
            // It has not stopped as ordered, or was resumed by another.
            (t.flight, t.stopped) = (None, false);
            return;
        }
        let fits = self.mirror.job_fact(t.key).is_some_and(|fact| {
            let counts = self.layout.node_counts(&fact.places, fact.procs);
            self.current_room().fits_on(&counts)
        });
        if fits {
            self.issue_order(t, Flying::Resuming, ClusterOrder::Resume(t.key), turn);
        } else {
            turn.add_news(t.id, TrackerNews::StaysSuspended(t.key));
            (t.flight, t.place, self.again) = (None, TrackedPlace::Suspended, true);
        }
    }
}
