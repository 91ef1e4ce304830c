//! Earliest start of a job beside the running ones: Slurm's simulation of their ends.
//!
//! Late by design: ends within a window that doubles are taken together, and the last of them
//! counts.

use super::end_groups::EndGroups;
use super::held_words::HeldWords;
use super::idle_steps::IdleSteps;
use super::linear::WeightUse;
use super::table_window::RunningEnds;
use super::{Alloc, IdleNodes, ModelCluster, NodeSet, Pending};

/// Room that passes reuse.
#[derive(Clone, Debug, Default)]
pub struct WillRunScratch {
    idle: Option<IdleNodes>,
    /// Places of the jobs that were released since `idle` was up to date.
    since: Vec<u32>,
    /// Room for the nodes that a job may use.
    free: NodeSet,
    /// Places of all jobs that were released, where processors are distinguished.
    released: Vec<u32>,
    /// Idle processors by the ends of running jobs.
    steps: IdleSteps,
    /// Nodes of the running jobs.
    held: HeldWords,
}

impl WillRunScratch {
    /// Room for a set of nodes.
    pub(super) fn take_free(&mut self, nodes: usize) -> NodeSet {
        let free = std::mem::take(&mut self.free);
        if free.capacity() < nodes { NodeSet::empty(nodes) } else { free }
    }

    /// Returns a bound of the processors that are idle on these nodes by a time, if no job starts
    /// before.
    pub(super) fn most_on(&mut self, cluster: &ModelCluster, free: &NodeSet, time: i64) -> u64 {
        self.steps.most_on(cluster, free, time)
    }

    /// The ends of running jobs.
    pub(super) fn running_ends<'a>(&'a mut self, cluster: &'a ModelCluster) -> RunningEnds<'a> {
        RunningEnds { cluster, steps: &mut self.steps }
    }

    /// A search elsewhere has found a start without an end before it.
    pub(super) fn release_none(&mut self) {
        self.since.clear();
        self.released.clear();
    }

    /// Gives it back.
    pub(super) fn give_free(&mut self, free: NodeSet) {
        self.free = free;
    }
}

/// Earliest start of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Soonest {
    /// In seconds.
    pub(super) at: i64,
    /// Allocation, if the search needed it: see [`Soonest::alloc_at_start`].
    alloc: Option<Alloc>,
}

impl Soonest {
    /// A start whose place has not been worked out.
    pub(super) fn unplaced_start(at: i64) -> Soonest {
        Soonest { at, alloc: None }
    }

    /// Returns the allocation; call it before the next search.
    pub(super) fn alloc_at_start(
        &mut self,
        cluster: &ModelCluster,
        job: &Pending,
        eligible: &NodeSet,
        scratch: &mut WillRunScratch,
    ) -> Alloc {
        let alloc =
            self.alloc.take().or_else(|| WillRunSearch::resume_search(cluster, job, eligible, scratch).find_place());
        alloc.unwrap_or_default()
    }

    /// Returns whether it is on nodes that are not done with a job yet.
    pub(super) fn meets_completing(
        &mut self,
        cluster: &ModelCluster,
        job: &Pending,
        eligible: &NodeSet,
        scratch: &mut WillRunScratch,
    ) -> bool {
        if cluster.completing.is_empty() {
            return false;
        }
        let alloc = self.alloc_at_start(cluster, job, eligible, scratch);
        let meets = alloc.nodes.has_common(&cluster.completing);
        self.alloc = Some(alloc);
        meets
    }
}

/// Extent of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// Only the present counts.
    Now,
    /// A start later than that is as good as none.
    Until(i64),
    /// To the end.
    All,
}

/// Returns the earliest start of a job on the allowed nodes, at or after `now` seconds, with its
/// place.
pub(super) fn will_run(
    cluster: &ModelCluster,
    job: &Pending,
    eligible: &NodeSet,
    now: i64,
    reach: Reach,
    scratch: &mut WillRunScratch,
) -> Option<Soonest> {
    let mut search = WillRunSearch::new(cluster, job, eligible, scratch);
    if search.single {
        if search.has_enough() {
            return Some(Soonest { at: now, alloc: None });
        }
    } else if let Some(alloc) = plan_on(&cluster.idle, cluster, job, eligible) {
        return Some(Soonest { at: now, alloc: Some(alloc) });
    }
    let victims = cluster.preempting.find_candidates(cluster, job, now);
    if !victims.is_empty() {
        for &slot in &victims {
            search.release_job(slot);
        }
        // It cannot start now, but backfill is to begin with the preemption.
        if let Some(alloc) = search.fits_now() {
            return Some(Soonest { at: now, alloc });
        }
    }
    if reach == Reach::Now {
        return None;
    }
    search.simulate_ends(now, &victims, if let Reach::Until(until) = reach { until.max(now) } else { i64::MAX })
}

/// Returns the place that a plan would take on idle nodes.
fn plan_on(idle: &IdleNodes, cluster: &ModelCluster, job: &Pending, eligible: &NodeSet) -> Option<Alloc> {
    if cluster.machine.linear {
        return idle.place_whole(job, eligible, &cluster.machine, WeightUse::Plan);
    }
    idle.place_job(job, eligible, &cluster.machine)
}

struct WillRunSearch<'a> {
    cluster: &'a ModelCluster,
    job: &'a Pending,
    allowed: &'a NodeSet,
    scratch: &'a mut WillRunScratch,
    /// True if every node has one processor.
    single: bool,
    /// Idle processors on the allowed nodes with all that was released; where nodes have several,
    /// an upper bound.
    have: u64,
    /// True if `scratch.idle` is of this search.
    ready: bool,
}

impl<'a> WillRunSearch<'a> {
    fn new(
        cluster: &'a ModelCluster,
        job: &'a Pending,
        eligible: &'a NodeSet,
        scratch: &'a mut WillRunScratch,
    ) -> WillRunSearch<'a> {
        scratch.since.clear();
        scratch.released.clear();
        scratch.held.renew_words(cluster);
        let usable = cluster.idle.usable_nodes(false);
        let single = cluster.idle.is_single() && job.demand == 0;
        let have = if single {
            usable.count_common(eligible) as u64
        } else {
            usable.iter_common(eligible).map(|node| u64::from(cluster.idle.idle_on(node))).sum()
        };
        WillRunSearch { cluster, job, allowed: eligible, scratch, single, have, ready: false }
    }

    /// The last search, as it ended.
    fn resume_search(
        cluster: &'a ModelCluster,
        job: &'a Pending,
        eligible: &'a NodeSet,
        scratch: &'a mut WillRunScratch,
    ) -> WillRunSearch<'a> {
        WillRunSearch {
            cluster,
            job,
            allowed: eligible,
            scratch,
            single: cluster.idle.is_single() && job.demand == 0,
            have: 0,
            ready: false,
        }
    }

    /// Takes a running job away. Nothing is worked out before the job could fit. Returns whether it
    /// has allowed nodes.
    fn release_job(&mut self, slot: u32) -> bool {
        let nodes = self.scratch.held.count_on(slot, self.allowed) as u64;
        let gain = if self.single || nodes == 0 {
            nodes
        } else {
            let Some(running) = self.cluster.job_at(slot) else { return false };
            let on = running.alloc.iter(&self.cluster.machine).filter(|&(node, _)| self.allowed.contains(node));
            on.map(|(_, cpus)| u64::from(cpus)).sum()
        };
        if gain > 0 {
            self.have += gain;
            self.scratch.since.push(slot);
        }
        gain > 0
    }

    fn has_enough(&self) -> bool {
        self.have >= u64::from(self.job.cpus.max(self.job.min_nodes))
    }

    /// Returns whether the job fits now that some are gone, with its place if the check computed
    /// it.
    #[expect(clippy::option_option, reason = "true if it fits, and the place if known")]
    fn fits_now(&mut self) -> Option<Option<Alloc>> {
        // A test for a GPU job is seen in the weights of the nodes.
        let known_demand = self.cluster.machine.resources.known_demand(self.job.demand);
        if !self.has_enough() && known_demand.is_none_or(|entry| entry.demand.gpus.is_none()) {
            None
        } else if self.single {
            // Any nodes do.
            Some(None)
        } else {
            self.find_place().map(Some)
        }
    }

    /// Returns the place of the job now that some are gone.
    fn find_place(&mut self) -> Option<Alloc> {
        let idle = self.scratch.idle.get_or_insert_with(|| self.cluster.idle.clone());
        if !self.ready {
            idle.copy_from(&self.cluster.idle);
            self.ready = true;
        }
        for slot in self.scratch.since.drain(..) {
            self.scratch.released.push(slot);
            if let Some(running) = self.cluster.job_at(slot) {
                idle.give_back(&running.alloc, &self.cluster.machine);
            }
        }
        if self.cluster.tells_cores() {
            self.cluster.recount_idle(idle, &self.scratch.released);
        }
        plan_on(idle, self.cluster, self.job, self.allowed)
    }

    /// Lets running jobs end, group by group, until one ends after `until`.
    fn simulate_ends(&mut self, now: i64, absent_slots: &[u32], until: i64) -> Option<Soonest> {
        let end_order = self.cluster.end_order();
        let staying: Vec<(i64, u64, u32)>;
        let order = if absent_slots.is_empty() {
            end_order
        } else {
            staying = end_order.iter().copied().filter(|(.., slot)| !absent_slots.contains(slot)).collect();
            &staying
        };
        if self.cluster.machine.linear {
            return self.ends_one_by_one(order, now, until);
        }
        let mut groups = EndGroups::new(order, (now, until), self.cluster.window_linear);
        while let Some(last) = groups.next(|place| self.release_job(order[place].2)) {
            if let Some(alloc) = self.fits_now() {
                return Some(Soonest { at: self.cluster.freed_at(order[last].2, now), alloc });
            }
        }
        None
    }

    /// Lets running jobs end one after the other, as select/linear does.
    fn ends_one_by_one(&mut self, order: &[(i64, u64, u32)], now: i64, until: i64) -> Option<Soonest> {
        for &(end, _, slot) in order.iter().take_while(|&&(end, ..)| end <= until) {
            if self.release_job(slot)
                && let Some(alloc) = self.fits_now()
            {
                return Some(Soonest { at: if end <= now { now + 1 } else { end }, alloc });
            }
        }
        None
    }
}
