//! Conversion of a policy's decisions into orders.

use super::kept_nodes::{Found, KeptNodes};
use super::room::IdleRoom;
use super::{AnnouncedStart, DaemonMode, Flight, Flying, LookResult, Tracked, TrackedPlace, Tracker, TrackerNews};
use crate::cluster::{ClusterOrder, JobKey};
use drystone::model::{JobId, ProcSet};
use drystone::policy::{Action, Actions, Placement};

impl Tracker {
    /// Takes in a decision. The session has already carried it out; an impossible action is
    /// reported back in `news`.
    pub fn note_decision(&mut self, actions: &Actions) -> LookResult {
        let mut turn = LookResult::default();
        let vain = self.find_vain(actions);
        let frees = |(at, action): (usize, &Action)| {
            matches!(action, Action::Suspend(_) | Action::Resize { .. }) && !vain.contains(&at)
        };
        let is_later = actions.list().iter().enumerate().any(frees);
        // Actions that free processors come first: starts may need their room.
        for (at, &action) in actions.list().iter().enumerate() {
            match action {
                Action::Suspend(id) => self.with_job(id, |tracker, t| tracker.suspend_job(t, &mut turn)),
                Action::Resize { job, procs, .. } if !vain.contains(&at) => {
                    self.with_job(job, |tracker, t| tracker.shrink_job(t, procs, &mut turn));
                }
                _ => {}
            }
        }
        let mut room = self.current_room();
        let mut reserve = self.kept_nodes();
        for (at, &action) in actions.list().iter().enumerate() {
            match action {
                Action::Start { job, on, why } => {
                    let set = if let Placement::Set(index) = on { actions.processor_set(index) } else { None };
                    self.with_job(job, |tracker, t| {
                        let spot = if vain.contains(&at) {
                            Found::Crowded
                        } else if is_later {
                            Found::Anywhere
                        } else {
                            tracker.finds_room(t, set, &mut room, reserve.as_mut())
                        };
                        let is_kept = match spot {
                            Found::Anywhere => return tracker.start_job(t, set, None, is_later, &mut turn),
                            Found::On(nodes) => return tracker.start_job(t, set, Some(&nodes), is_later, &mut turn),
                            Found::Crowded => false,
                            Found::Kept => true,
                        };
                        if !is_kept && tracker.comes_first(t, why) {
                            reserve = tracker.mirror.job_fact(t.key).and_then(|fact| tracker.kept_for(t, fact));
                        }
                        turn.add_news(t.id, TrackerNews::Requeued(t.key));
                        turn.refused = true;
                        tracker.keeps_back(t, is_kept, &mut turn);
                    });
                }
                Action::Resume(job) | Action::ResumeOn { job, .. } => self.with_job(job, |tracker, t| {
                    t.place = TrackedPlace::Running;
                    if is_later {
                        tracker.plan_order(t, Flying::PlannedResume);
                    } else {
                        tracker.resume_job(t, &mut turn);
                    }
                }),
                Action::Kill(id) => self.with_job(id, |tracker, t| {
                    tracker.issue_order(t, Flying::Killing, ClusterOrder::Cancel(t.key), &mut turn);
                }),
                Action::Reserve { job, start, latest } => {
                    let promise = AnnouncedStart { at: self.stamp.session_time(), start, latest };
                    self.with_job(job, |_, t| t.note_promise(promise));
                }
                // Suspensions and sizes are ordered already, a policy that requeues is refused at
                // the start, the others are for the session alone.
                _ => {}
            }
        }
        for at in vain {
            if let Action::Resize { job, .. } = actions.list()[at] {
                self.with_job(job, |tracker, t| {
                    t.keeps_its_nodes(&mut turn);
                    if tracker.named {
                        // The next look says which they are.
                        tracker.recheck.insert(t.key);
                    }
                });
            }
        }
        turn.kept = self.announce_kept(reserve.as_ref());
        turn
    }

    /// Takes in what the policy would do, where it only looks.
    pub fn note_proposal(&mut self, actions: &Actions) {
        let now = self.stamp.session_time();
        for &action in actions.list() {
            match action {
                Action::Start { job, .. } => self.with_job(job, |_, t| {
                    t.story.wanted.get_or_insert(now);
                }),
                Action::Reserve { job, start, latest } => {
                    self.with_job(job, |_, t| t.note_promise(AnnouncedStart { at: now, start, latest }));
                }
                _ => {}
            }
        }
    }

    fn with_job(&mut self, id: JobId, mut f: impl FnMut(&mut Tracker, &mut Tracked)) {
        let Some(key) = self.find_key(id) else { return };
        let Some(mut t) = self.jobs.remove(&key) else { return };
        f(self, &mut t);
        self.keep_job(t, true);
    }

    /// Remembers something that is ordered later.
    fn plan_order(&mut self, t: &mut Tracked, step: Flying) {
        t.flight = Some(Flight { what: step, since: self.stamp.steady, doubtful: false, tries: 1, seen: false });
    }

    fn suspend_job(&mut self, t: &mut Tracked, turn: &mut LookResult) {
        t.place = TrackedPlace::Suspended;
        self.issue_order(t, Flying::Stopping, ClusterOrder::Suspend(t.key), turn);
    }

    /// Starts a job on its processors, on certain nodes, or wherever there is room.
    fn start_job(
        &mut self,
        t: &mut Tracked,
        set: Option<&ProcSet>,
        nodes: Option<&[usize]>,
        later: bool,
        turn: &mut LookResult,
    ) {
        t.place = TrackedPlace::Running;
        let now = self.stamp.session_time();
        (t.story.decided, t.why) = (Some(now), None);
        t.story.wanted.get_or_insert(now);
        if self.settings.mode == DaemonMode::Shadow {
            return;
        }
        let node_count = self.mirror.job_fact(t.key).map_or(0, |fact| fact.nodes as usize);
        // Only the cluster knows on how many nodes a job may be: one that names no number of nodes
        // shows the least. One that would be on more is not bound, so that its number stays.
        let set = set.filter(|_| self.layout.len() > 1 && !t.user_nodes && !t.narrow);
        let set = set.filter(|set| self.settings.names || self.layout.split_by_node(set).len() == node_count);
        let node_names = set.map(|set| {
            self.layout.split_by_node(set).into_iter().map(|(name, _)| name.to_string()).collect::<Vec<String>>()
        });
        let chosen_nodes = nodes.map(|nodes| {
            let node_entries = self.layout.nodes().enumerate().filter(|(at, _)| nodes.contains(at));
            node_entries.map(|(_, (name, _))| name.to_string()).collect::<Vec<String>>()
        });
        if let Some(nodes) = node_names.or(chosen_nodes) {
            t.pinned = true;
            let is_resized = nodes.len() != node_count;
            turn.orders.push(ClusterOrder::Pin { key: t.key, nodes, resized: is_resized });
        } else if t.pinned {
            t.pinned = false;
            turn.orders.push(ClusterOrder::Unpin(t.key));
        }
        if later {
            self.plan_order(t, Flying::Planned);
        } else {
            self.issue_order(t, Flying::Launching, ClusterOrder::Release(t.key), turn);
        }
    }

    /// Returns whether a job can start now by what the cluster shows: a policy that only counts
    /// does not know the processors of each node.
    fn finds_room(
        &self,
        t: &Tracked,
        set: Option<&ProcSet>,
        room: &mut IdleRoom,
        reserve: Option<&mut KeptNodes>,
    ) -> Found {
        if self.settings.mode == DaemonMode::Shadow {
            return Found::Anywhere;
        }
        let Some(fact) = self.mirror.job_fact(t.key) else { return Found::Crowded };
        let is_known = |t: &Tracked| !t.user_nodes || !self.named_nodes(t, fact).is_empty();
        if let Some(set) = set.filter(|_| !t.narrow && is_known(t)) {
            let on: Vec<(usize, u32)> = self
                .layout
                .nodes()
                .enumerate()
                .map(|(at, (_, range))| (at, set.intersection(&ProcSet::from_range(range.clone())).len()))
                .collect();
            let need = self.compute_need(t, fact, false);
            let fits = room.fits_on(&on) && room.has_memory(&need, &on);
            if fits {
                room.take_at(&need, &on);
            }
            return if fits { Found::Anywhere } else { Found::Crowded };
        }
        self.find_room(t, fact, room, reserve)
    }

    /// Holds a job back that no node has room for, or none beside what is kept for another: the
    /// policy, which counts processors only, would start it again at once, in place of jobs that
    /// fit.
    fn keeps_back(&mut self, t: &mut Tracked, is_kept: bool, turn: &mut LookResult) {
        let Some(fact) = self.mirror.job_fact(t.key).cloned() else { return };
        if is_kept {
            self.gives_way(t, &fact);
        } else {
            self.is_crowded_out(t, &fact);
        }
        if let Some((reason, until)) = self.block_shape(t, &fact) {
            self.timers.insert((until, t.key));
            turn.add_news(t.id, TrackerNews::Held(t.key));
            (t.place, t.why) = (TrackedPlace::Held, Some(reason));
        }
    }

    /// Jobs that were suspended by us, as far as is known.
    pub fn stopped_jobs(&self) -> impl Iterator<Item = JobKey> + '_ {
        self.jobs.values().filter(|t| t.stopped).map(|t| t.key)
    }
}

impl Tracked {
    /// Says that no nodes are taken from it, which the session has taken already.
    fn keeps_its_nodes(&self, turn: &mut LookResult) {
        if let Some(job) = self.job.clone() {
            turn.add_news(self.id, TrackerNews::Updated { key: self.key, job });
        }
    }

    pub(super) fn note_promise(&mut self, promise: AnnouncedStart) {
        self.story.promised.get_or_insert(promise);
        self.story.planned = Some(promise);
    }
}
