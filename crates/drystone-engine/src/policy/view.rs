//! View of a policy: the jobs announced to it, and the machine.

use super::outlook::{Outlook, merge_changes};
use super::{FreeNodes, FreeResources, JobNeed, SeatWish, ShapeWorld};
use crate::model::{Job, JobId, JobWindow, Machine, ProcSet, Procs, ResourceId, Span, Time};
use crate::parts::predict::Expired;
use crate::parts::{NeedWithSeat, NodeSeat, Profile, RunningSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Phase of a job's life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Phase {
    /// Arrived, not started.
    Waiting,
    /// Arrived, not started, and held back: no policy may start it.
    Held,
    /// On its processors.
    Running,
    /// Started, taken off its processors, to be resumed.
    Suspended,
    /// Ended or cancelled.
    Done,
}

/// State of one job. One cache line: an entry is written for every job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobEntry {
    /// Predicted run time in total.
    pub(crate) prediction: Span,
    /// Start of the current run segment.
    pub(crate) segment: Time,
    /// Run time of earlier segments.
    pub(crate) ran: Span,
    pub(crate) first_start: Time,
    pub(crate) first_prediction: Span,
    /// `Time::MAX` without one.
    pub(crate) first_reservation: Time,
    pub(crate) procs: Procs,
    pub(crate) suspensions: u32,
    /// Corrections; they grow so fast that a few hundred cover any span of time.
    pub(crate) corrections: u16,
    /// Corrections made after the prediction had reached the user's estimate.
    pub(crate) late_corrections: u16,
    /// Number of times that it was sent back to wait with nothing of its progress left.
    pub(crate) requeues: u16,
    pub(crate) phase: Phase,
    /// True if the first prediction was learned.
    pub(crate) learned: bool,
    /// True if it started as the head of its queue.
    pub(crate) as_head: bool,
    /// The last of its changed predictions: see [`Changes`](crate::engine).
    pub(crate) changes: u32,
}

impl JobEntry {
    #[inline]
    pub(crate) fn predicted_end(&self) -> Time {
        self.end_after(self.prediction)
    }

    /// Returns its end, if it continues to run, for this total run time.
    #[inline]
    pub(crate) fn end_after(&self, run: Span) -> Time {
        self.segment + (run - self.ran)
    }

    /// Its prediction as one that has expired; `limit` is what corrections go up to first.
    #[inline]
    pub(crate) fn as_expired(&self, limit: Span) -> Expired {
        Expired {
            prediction: self.prediction,
            limit,
            corrections: u32::from(self.corrections),
            late: u32::from(self.late_corrections),
        }
    }

    #[inline]
    pub(crate) fn correct_prediction(&mut self, new: Span, limit: Span) {
        self.late_corrections = self.late_corrections.saturating_add(u16::from(self.prediction >= limit));
        self.corrections = self.corrections.saturating_add(1);
        self.prediction = new;
    }
}

/// A job and what happens to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KnownEntry {
    pub(crate) entry: JobEntry,
    pub(crate) job: Job,
}

/// State of the scheduler behind every [`View`]. True run times are not in it.
///
/// [`View::from_world`] gives access to it. It has no lifetime of its own, so that an adapter to
/// another language can lend it for the time of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PolicyWorld {
    pub(crate) now: Time,
    /// Submit time of the first job; 0 before.
    pub(crate) origin: Time,
    pub(crate) machine: Machine,
    /// Free processors. Below 0 only within an instant, and only with
    /// [`Pass::Pyss`](super::Pass::Pyss).
    pub(crate) free: i64,
    pub(crate) jobs: JobWindow<KnownEntry>,
    /// Everything before it is done.
    pub(crate) oldest: JobId,
    /// The running jobs by predicted end: the prediction of the first expires next.
    pub(crate) running: RunningSet,
    /// Known processors that are out or will be; `None` while all are up and nothing is announced.
    pub(crate) outlook: Option<Box<Outlook>>,
    /// Free resources beyond processors; `None` on a machine that has nothing else that is counted.
    pub(crate) resources: Option<Box<FreeResources>>,
    /// Processors of jobs that were started on named ones, running or suspended.
    pub(crate) named: BTreeMap<JobId, ProcSet>,
    /// Sizes of jobs that may have several, and power; `None` where there is nothing of the kind.
    pub(crate) shapes: Option<Box<ShapeWorld>>,
}

impl PolicyWorld {
    #[inline]
    pub(crate) fn job_entry(&self, id: JobId) -> &JobEntry {
        &self.jobs[id].entry
    }

    #[inline]
    pub(crate) fn entry_mut(&mut self, id: JobId) -> &mut JobEntry {
        &mut self.jobs[id].entry
    }

    /// A job is here: its need is known from now on, where jobs are placed on nodes.
    pub(crate) fn meet_need(&mut self, id: JobId) {
        let PolicyWorld { resources, jobs, oldest, .. } = self;
        let Some((nodes, table)) = resources.as_mut().and_then(|resources| resources.nodes_mut()) else { return };
        nodes.note_arrival(&jobs[id].job, table);
        if nodes.is_crowded() {
            let present_jobs = (oldest.0..jobs.next_id().0).filter_map(|id| jobs.get(JobId(id)));
            nodes.forget_all_but(present_jobs.map(|record| &record.job));
        }
    }

    /// The needs of all jobs that are here are known from now on.
    pub(crate) fn meet_needs(&mut self) {
        (self.oldest.0..self.jobs.next_id().0)
            .map(JobId)
            .filter(|&id| self.jobs.get(id).is_some())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|id| self.meet_need(id));
    }
}

/// Tells a policy that its time for a decision is up. It belongs to what drives the session; only a
/// policy with a [`time_limit`](super::Policy::time_limit) is given one.
pub trait Stopwatch: fmt::Debug + Send + Sync {
    /// Starts it: a decision may take this long.
    fn start_timer(&mut self, limit: Duration);

    /// Returns whether the time is up. Cheap enough to be asked every few microseconds.
    fn is_up(&self) -> bool;
}

/// The world as a policy sees it at one instant.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) world: &'a PolicyWorld,
    pub(crate) stopwatch: Option<&'a dyn Stopwatch>,
}

impl<'a> View<'a> {
    /// Returns the view of this world, without a stopwatch.
    #[inline]
    #[must_use]
    pub fn from_world(world: &'a PolicyWorld) -> View<'a> {
        View { world, stopwatch: None }
    }

    /// The world behind it.
    #[inline]
    #[must_use]
    pub fn world(&self) -> &'a PolicyWorld {
        self.world
    }

    /// The present.
    #[inline]
    #[must_use]
    pub fn current_time(&self) -> Time {
        self.world.now
    }

    /// Returns the submit time of the first announced job; [`Time::ZERO`] before.
    #[inline]
    #[must_use]
    pub fn first_submit(&self) -> Time {
        self.world.origin
    }

    /// The machine.
    #[inline]
    #[must_use]
    pub fn machine(&self) -> Machine {
        self.world.machine
    }

    /// Free processors before anything that is being decided now.
    #[inline]
    #[must_use]
    pub fn free_processors(&self) -> Procs {
        self.world.free.max(0) as Procs
    }

    /// Returns whether a job may be asked about.
    #[inline]
    #[must_use]
    pub fn is_known(&self, id: JobId) -> bool {
        self.world.jobs.get(id).is_some()
    }

    /// Returns the facts of a job since it arrived. Jobs may be asked about until the decision
    /// after their end.
    ///
    /// # Panics
    /// If no such job was announced, or its end is long past.
    #[inline]
    #[must_use]
    pub fn job(&self, id: JobId) -> &'a Job {
        &self.world.jobs[id].job
    }

    /// Returns the predicted total run time of the job. This plans; [`Job::estimate`] kills.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn prediction(&self, id: JobId) -> Span {
        self.world.job_entry(id).prediction
    }

    /// Returns the phase of the job.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn phase(&self, id: JobId) -> Phase {
        self.world.job_entry(id).phase
    }

    /// Returns the predicted end of a running job; may lie in the past. For other jobs the answer
    /// has no meaning.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn predicted_end(&self, id: JobId) -> Time {
        self.world.job_entry(id).predicted_end()
    }

    /// The running jobs in the order of their predicted ends, before anything that is being decided
    /// now.
    #[inline]
    #[must_use]
    pub fn running_jobs(&self) -> &'a RunningSet {
        &self.world.running
    }

    /// The waiting jobs in the order of their arrival. Costs O(jobs since the oldest that is here):
    /// a policy that looks at them at every pass keeps them itself.
    #[inline]
    pub fn waiting_jobs(&self) -> impl Iterator<Item = JobId> + 'a {
        self.in_phase(Phase::Waiting)
    }

    /// The suspended jobs in the order of their arrival. Costs as [`View::waiting_jobs`].
    #[inline]
    pub fn suspended_jobs(&self) -> impl Iterator<Item = JobId> + 'a {
        self.in_phase(Phase::Suspended)
    }

    fn in_phase(&self, phase: Phase) -> impl Iterator<Item = JobId> + 'a {
        let world = self.world;
        let known_ids = (world.oldest.0..world.jobs.next_id().0).map(JobId);
        known_ids.filter(move |&id| world.jobs.get(id).is_some_and(|record| record.entry.phase == phase))
    }

    /// Returns the run time of the job so far, without suspensions.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn run_time_so_far(&self, id: JobId) -> Span {
        let e = self.world.job_entry(id);
        if e.phase == Phase::Running { e.ran + (self.world.now - e.segment) } else { e.ran }
    }

    /// Returns the time that the job has spent here without running.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn wait_so_far(&self, id: JobId) -> Span {
        (self.world.now - self.job(id).submit) - self.run_time_so_far(id)
    }

    /// Returns the beginning of a running job's current run segment.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn segment_start(&self, id: JobId) -> Time {
        self.world.job_entry(id).segment
    }

    /// Returns the known processors that are out or will be; `None` while all are up and nothing is
    /// announced.
    #[inline]
    #[must_use]
    pub fn outlook(&self) -> Option<&'a Outlook> {
        self.world.outlook.as_deref()
    }

    /// Returns the free resources beyond processors, before anything that is being decided now;
    /// `None` on a machine that has nothing else that is counted. Processors that fail take none of
    /// it with them; announced changes of the amounts are in [`View::outlook`].
    #[inline]
    #[must_use]
    pub fn resources(&self) -> Option<&'a FreeResources> {
        self.world.resources.as_deref()
    }

    /// Returns the demand of a job beyond processors, ascending by resource.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn demanded_amounts(&self, id: JobId) -> &'a [(ResourceId, u64)] {
        self.resources().map_or(&[], |resources| resources.table().demand_totals(self.job(id).demand))
    }

    /// Returns the nodes that jobs are placed on; `None` where none are known.
    #[inline]
    pub fn nodes(&self) -> Option<&'a FreeNodes> {
        self.resources()?.nodes()
    }

    /// Returns what a running job holds on nodes; `None` where jobs are not placed on such.
    #[inline]
    pub fn seat_of(&self, id: JobId) -> Option<&'a NeedWithSeat> {
        self.nodes()?.seat_of(id)
    }

    /// Returns the nodes that a job asks for, without a seat; `None` where jobs are not placed on
    /// such.
    pub fn unseated_jobs(&self, id: JobId) -> Option<NeedWithSeat> {
        let need = Arc::clone(self.nodes()?.need_of(self.job(id)));
        Some(NeedWithSeat { need, seat: NodeSeat::default() })
    }

    /// Returns the seat that these processors are; `None` where jobs are not placed on nodes.
    pub fn seat_on(&self, set: &ProcSet) -> Option<NodeSeat> {
        Some(self.nodes()?.floor().seat_of(set))
    }

    /// Returns the wish for a seat that a job has had; `None` where jobs are not placed on nodes.
    pub fn wish_for<'s>(&self, id: JobId, on: &'s NeedWithSeat) -> Option<SeatWish<'s>>
    where
        'a: 's,
    {
        Some(SeatWish { id, need: &on.need, floor: self.nodes()?.floor(), seat: Some(&on.seat) })
    }

    /// Returns what a job asks of this machine.
    #[inline]
    pub fn job_need(&self, id: JobId) -> JobNeed<'a> {
        let job = self.job(id);
        let mut need = JobNeed { procs: job.procs, amounts: &[], on: None };
        if let Some(resources) = self.resources() {
            need.amounts = resources.table().demand_totals(job.demand);
            need.on = resources.nodes().map(|nodes| SeatWish {
                id,
                need: nodes.need_of(job),
                floor: nodes.floor(),
                seat: None,
            });
        }
        need
    }

    /// The processors of a running or suspended job, where they have names.
    #[inline]
    #[must_use]
    pub fn job_processors(&self, id: JobId) -> Option<&'a ProcSet> {
        self.world.named.get(&id)
    }

    /// Runs while a policy with a time limit decides.
    #[inline]
    #[must_use]
    pub fn stopwatch(&self) -> Option<&'a dyn Stopwatch> {
        self.stopwatch
    }

    /// All jobs before this one are done and will not be asked for again.
    #[inline]
    #[must_use]
    pub fn oldest_job(&self) -> JobId {
        self.world.oldest
    }
}

impl View<'_> {
    /// Makes the profile that of the machine without its waiting jobs: `free` processors now, more
    /// as each of `ends`, in ascending order of time, gives its processors back, and what is known
    /// of processors that go and come back. O(number of ends and of what goes and comes back), and
    /// O(n log n) while running jobs are drained.
    #[inline]
    pub fn fill_profile(&self, profile: &mut Profile, free: Procs, ends: impl Iterator<Item = (Time, Procs)>) {
        self.fill_believing(profile, free, ends, |id| self.predicted_end(id));
    }

    /// Fills a profile for a policy that believes other ends than the predicted ones: `end` is that
    /// of one job.
    pub fn fill_believing(
        &self,
        profile: &mut Profile,
        free: Procs,
        ends: impl Iterator<Item = (Time, Procs)>,
        end: impl Fn(JobId) -> Time,
    ) {
        match self.outlook() {
            None => profile.reset_to_running(self.current_time(), free, ends),
            Some(outlook) if outlook.is_settled() => profile.reset_to_running(self.current_time(), free, ends),
            Some(outlook) => {
                let ends = ends.map(|(end, procs)| (end, i64::from(procs)));
                if !outlook.hangs_on_jobs() {
                    let ahead = outlook.changes_ahead(self.current_time());
                    return profile.reset_to_changes(self.current_time(), free, merge_changes(ahead, ends));
                }
                let mut changes = Vec::new();
                outlook.capacity_changes(self.current_time(), end, &mut changes);
                profile.reset_to_changes(self.current_time(), free, merge_changes(changes.into_iter(), ends));
            }
        }
    }
}
