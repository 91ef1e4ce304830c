//! Nodes of a machine as policies see them.

use super::Outlook;
use crate::model::{DemandId, Job, JobId, ProcSet, Procs, ResourceTable};
use crate::parts::{JobNodeNeed, NeedWithSeat, NodeFloor, NodeLevels, NodeSeat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Kinds of possible jobs that are remembered.
const KINDS: usize = 1 << 16;

/// The nodes of a machine, what of each no job holds, and where the running jobs are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FreeNodes {
    #[serde(serialize_with = "write_floor", deserialize_with = "read_floor")]
    floor: Arc<NodeFloor>,
    levels: NodeLevels,
    /// Processors that no job has, in words of 64.
    idle: Vec<u64>,
    held: BTreeMap<JobId, HeldNodes>,
    /// True if it is known that no two jobs share a processor. News of a real machine may put a job
    /// where another is still thought to be.
    #[serde(skip)]
    apart: bool,
    /// Needs of the jobs that are here, by demand and processors, on which alone they depend. Each
    /// is put together once.
    #[serde(skip)]
    needs: BTreeMap<(DemandId, Procs), Arc<JobNodeNeed>>,
    /// Number of them when those of jobs of the past were forgotten last.
    #[serde(skip)]
    needs_kept: usize,
    /// Kinds of jobs that have started, and so are possible.
    #[serde(skip)]
    possible: BTreeSet<(DemandId, Procs)>,
    #[serde(skip)]
    changes: NodeChanges,
}

fn write_floor<S: Serializer>(floor: &Arc<NodeFloor>, to: S) -> Result<S::Ok, S::Error> {
    floor.as_ref().serialize(to)
}

fn read_floor<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<NodeFloor>, D::Error> {
    NodeFloor::deserialize(from).map(Arc::new)
}

/// Nodes that have changed, in order; older ones are forgotten from time to time.
#[derive(Clone, Default, Debug)]
struct NodeChanges {
    forgotten: u64,
    nodes: Vec<u32>,
}

impl PartialEq for FreeNodes {
    fn eq(&self, other: &FreeNodes) -> bool {
        let FreeNodes { floor, levels, idle, held, apart: _, needs: _, needs_kept: _, possible: _, changes: _ } = self;
        (floor, levels, idle, held) == (&other.floor, &other.levels, &other.idle, &other.held)
    }
}

/// Nodes of a running job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct HeldNodes {
    on: NeedWithSeat,
    set: ProcSet,
    /// True while it is suspended: then it has its memory only.
    parked: bool,
}

impl FreeNodes {
    /// The nodes without jobs; `None` where the table places no jobs.
    pub(crate) fn new(table: &ResourceTable) -> Option<FreeNodes> {
        let floor = Arc::new(NodeFloor::from_table(table)?);
        let (levels, procs) = (NodeLevels::from_floor(&floor), floor.procs() as usize);
        let word = |at: usize| u64::MAX >> (64 - (procs - at * 64).min(64));
        let idle = (0..procs.div_ceil(64)).map(word).collect();
        Some(FreeNodes {
            floor,
            levels,
            idle,
            held: BTreeMap::new(),
            apart: true,
            needs: BTreeMap::new(),
            needs_kept: 0,
            possible: BTreeSet::new(),
            changes: NodeChanges::default(),
        })
    }

    /// The nodes when no job runs.
    #[inline]
    #[must_use]
    pub fn floor(&self) -> &NodeFloor {
        &self.floor
    }

    /// Returns the nodes when no job runs, to be kept.
    pub fn shared_floor(&self) -> &Arc<NodeFloor> {
        &self.floor
    }

    /// Returns the need of a job that is here.
    ///
    /// # Panics
    /// If it is not: a bug of the session.
    #[inline]
    pub fn need_of(&self, job: &Job) -> &Arc<JobNodeNeed> {
        &self.needs[&(job.demand, job.procs)]
    }

    /// A job is here from now on, which is possible.
    pub(crate) fn note_arrival(&mut self, job: &Job, table: &ResourceTable) {
        let FreeNodes { needs, floor, .. } = self;
        if let std::collections::btree_map::Entry::Vacant(place) = needs.entry((job.demand, job.procs))
            && let Ok(need) = JobNodeNeed::from_job(job, table, floor)
        {
            place.insert(Arc::new(need));
        }
    }

    /// Returns whether so many needs are known that those of jobs of the past should be forgotten.
    pub(crate) fn is_crowded(&self) -> bool {
        self.needs.len() >= KINDS.max(2 * self.needs_kept)
    }

    pub(crate) fn forget_all_but<'a>(&mut self, jobs: impl Iterator<Item = &'a Job>) {
        let kinds: BTreeSet<(DemandId, Procs)> = jobs.map(|job| (job.demand, job.procs)).collect();
        self.needs.retain(|kind, _| kinds.contains(kind));
        self.needs_kept = self.needs.len();
    }

    /// Free amounts of each node.
    #[inline]
    #[must_use]
    pub fn levels(&self) -> &NodeLevels {
        &self.levels
    }

    /// Processors that no job has, in words of 64.
    #[inline]
    pub fn idle_processors(&self) -> &[u64] {
        &self.idle
    }

    /// Returns what a running job holds; `None` for a job that does not run.
    #[inline]
    #[must_use]
    pub fn held_by(&self, id: JobId) -> Option<(&JobNodeNeed, &NodeSeat)> {
        self.seat_of(id).map(|on| (&*on.need, &on.seat))
    }

    /// Returns the seat of a running job, with its need.
    #[inline]
    pub fn seat_of(&self, id: JobId) -> Option<&NeedWithSeat> {
        self.held.get(&id).filter(|holder| !holder.parked).map(|holder| &holder.on)
    }

    /// Returns the processors of a running job.
    #[inline]
    pub fn processors_of(&self, id: JobId) -> Option<&ProcSet> {
        self.held.get(&id).filter(|holder| !holder.parked).map(|holder| &holder.set)
    }

    /// Returns what is free on nodes and not out, and the idle processors that are not out.
    pub fn up_levels(&self, outlook: Option<&Outlook>) -> (NodeLevels, Vec<u64>) {
        let (mut levels, mut idle) = (self.levels.clone(), self.idle.clone());
        let out = outlook.into_iter().flat_map(|outlook| outlook.offline_processors().ranges());
        for processor in out.flat_map(Clone::clone) {
            let (word, bit) = (processor as usize / 64, 1_u64 << (processor % 64));
            if idle[word] & bit != 0 {
                idle[word] &= !bit;
                levels.lose_core(self.floor.node_of(processor));
            }
        }
        (levels, idle)
    }

    /// Returns the number of changes so far.
    #[inline]
    pub fn change_count(&self) -> u64 {
        self.changes.forgotten + self.changes.nodes.len() as u64
    }

    /// Returns the nodes that have changed since so many changes; `None` where that is forgotten.
    #[inline]
    pub fn changes_since(&self, count: u64) -> Option<&[u32]> {
        self.changes.nodes.get(usize::try_from(count.checked_sub(self.changes.forgotten)?).ok()?..)
    }

    /// The nodes of a seat are about to change.
    fn note_change(&mut self, seat: &NodeSeat) {
        if self.changes.nodes.len() > 4 * self.floor.len() + 64 {
            self.changes.forgotten = self.change_count();
            self.changes.nodes.clear();
        }
        self.changes.nodes.extend(seat.on.iter().map(|on| on.0));
    }

    /// Returns the reason why a job can never run here; `None` if it can.
    pub fn find_problem(&self, job: &Job, table: &ResourceTable) -> Option<String> {
        if self.possible.contains(&(job.demand, job.procs)) { None } else { self.floor.find_problem(job, table) }
    }

    /// A job takes these processors and what it asks for beside them; `anyway` where it runs there
    /// already. A suspended one leaves the memory that it kept, and takes it where it goes on.
    /// Returns the reason why it cannot.
    pub(crate) fn take_seat(
        &mut self,
        job: &Job,
        id: JobId,
        set: &ProcSet,
        table: &ResourceTable,
        anyway: bool,
    ) -> Option<String> {
        self.note_arrival(job, table);
        let Some(need) = self.needs.get(&(job.demand, job.procs)).map(Arc::clone) else {
            return self.floor.find_problem(job, table);
        };
        let seat = self.floor.seat_of(set);
        self.leave_seat(id);
        if !anyway && !self.levels.is_seat_free(&need, &seat, &self.floor) {
            return Some(format!("is placed on {set}, nodes that do not have all that it asks for"));
        }
        if !anyway {
            if self.possible.len() == KINDS {
                self.possible.clear();
            }
            self.possible.insert((job.demand, job.procs));
        }
        self.note_change(&seat);
        self.levels.change_seat(&need, &seat, &self.floor, -1);
        self.apart = self.apart && (!anyway || self.is_idle(set));
        self.mark_idle(set, false);
        self.held.insert(id, HeldNodes { on: NeedWithSeat { need, seat }, set: set.clone(), parked: false });
        None
    }

    pub(crate) fn leave_seat(&mut self, id: JobId) {
        let Some(holder) = self.held.remove(&id) else { return };
        self.note_change(&holder.on.seat);
        if holder.parked {
            return self.levels.change_memory(&holder.on.need, &holder.on.seat, &self.floor, 1);
        }
        self.levels.change_seat(&holder.on.need, &holder.on.seat, &self.floor, 1);
        self.leave_processors(&holder.set);
    }

    /// A running job is suspended: it keeps its memory, and gives back everything else.
    pub(crate) fn park_job(&mut self, id: JobId) {
        let Some(mut holder) = self.held.remove(&id).filter(|holder| !holder.parked) else { return };
        self.note_change(&holder.on.seat);
        self.levels.change_seat(&holder.on.need, &holder.on.seat, &self.floor, 1);
        self.levels.change_memory(&holder.on.need, &holder.on.seat, &self.floor, -1);
        self.leave_processors(&holder.set);
        holder.parked = true;
        self.held.insert(id, holder);
    }

    /// A job that is not among the holders any more has left its processors.
    fn leave_processors(&mut self, set: &ProcSet) {
        if self.apart {
            return self.mark_idle(set, true);
        }
        let running_seats = || self.held.values().filter(|holder| !holder.parked);
        let other_sets = ProcSet::union_of(running_seats().map(|holder| &holder.set));
        let total_procs: u64 = running_seats().map(|holder| u64::from(holder.set.len())).sum();
        self.mark_idle(&set.difference(&other_sets), true);
        self.apart = total_procs == u64::from(other_sets.len());
    }

    /// Returns whether no job has any of these processors.
    fn is_idle(&self, set: &ProcSet) -> bool {
        let is = |processor: Procs| self.idle[processor as usize / 64] >> (processor % 64) & 1 == 1;
        set.ranges().iter().flat_map(Clone::clone).all(is)
    }

    fn mark_idle(&mut self, set: &ProcSet, idle: bool) {
        for range in set.ranges() {
            let (mut at, end) = (range.start as usize, range.end as usize);
            while at < end {
                let length = (64 - at % 64).min(end - at);
                let word_mask = (u64::MAX >> (64 - length)) << (at % 64);
                if idle {
                    self.idle[at / 64] |= word_mask;
                } else {
                    self.idle[at / 64] &= !word_mask;
                }
                at += length;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{NodeClass, NodeFill, ResourceTableBuilder, Span, Time};

    fn set(processors: std::ops::Range<Procs>) -> ProcSet {
        ProcSet::from_range(processors)
    }

    /// News puts a job where another is still thought to be: what they share is idle when both have
    /// left, in either order, and in a state that was saved meanwhile.
    #[test]
    fn a_shared_processor_is_idle_when_both_jobs_have_left() {
        let mut builder = ResourceTableBuilder::new();
        builder.set_fill(NodeFill::Pack);
        builder.add_class(NodeClass { nodes: vec!["n1".into(), "n2".into()], cores: 4, ..NodeClass::default() });
        let table = builder.finish();
        let job = Job::new(Time(0), 3, Span(10));
        let (first_job, second_job, third) = (JobId(0), JobId(1), JobId(2));
        for (first, last, overlap) in [(first_job, second_job, set(2..5)), (second_job, first_job, set(0..3))] {
            for is_saved in [false, true] {
                let mut nodes = FreeNodes::new(&table).expect("nodes");
                assert_eq!(nodes.take_seat(&job, first_job, &set(0..3), &table, false), None);
                assert_eq!(nodes.take_seat(&job, third, &set(5..8), &table, false), None);
                assert_eq!(nodes.take_seat(&job, second_job, &set(2..5), &table, true), None);
                assert_eq!(nodes.idle_processors(), [0]);
                if is_saved {
                    let bytes = postcard::to_stdvec(&nodes).expect("saves");
                    nodes = postcard::from_bytes(&bytes).expect("loads");
                }
                nodes.leave_seat(first);
                let busy_set = overlap.union(&set(5..8));
                assert!(
                    (0..8).all(|p| (nodes.idle_processors()[0] >> p & 1 == 0)
                        == busy_set.ranges().iter().any(|r| r.contains(&p)))
                );
                nodes.leave_seat(last);
                assert_eq!(nodes.idle_processors(), [0b1_1111]);
                nodes.leave_seat(third);
                assert_eq!(nodes.idle_processors(), [0xff]);
                assert_eq!(nodes, FreeNodes::new(&table).expect("nodes"));
            }
        }
    }
}
