//! Nodes of a machine as policies see them.

use crate::model::{DemandId, Job, JobId, ProcSet, Procs, ResourceTable};
use crate::parts::{JobNodeNeed, NeedWithSeat, NodeFloor, NodeLevels, NodeNeedBook, NodeSeat};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of possible jobs that are remembered.
const KINDS: usize = 1 << 16;

/// The nodes of a machine, what of each no job holds, and where the running jobs are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FreeNodes {
    floor: NodeFloor,
    levels: NodeLevels,
    /// Processors that no job has, in words of 64.
    idle: Vec<u64>,
    held: BTreeMap<JobId, HeldNodes>,
    /// True if it is known that no two jobs share a processor. News of a real machine may put a job
    /// where another is still thought to be.
    #[serde(skip)]
    apart: bool,
    #[serde(skip)]
    needs: NodeNeedBook,
    /// Kinds of jobs that have started, and so are possible.
    #[serde(skip)]
    possible: BTreeSet<(DemandId, Procs)>,
    /// The last changes.
    #[serde(skip)]
    changes: NodeChanges,
}

/// Nodes that have changed, in order; older ones are forgotten from time to time.
#[derive(Clone, Default, Debug)]
struct NodeChanges {
    forgotten: u64,
    nodes: Vec<u32>,
}

impl PartialEq for FreeNodes {
    fn eq(&self, other: &FreeNodes) -> bool {
        let FreeNodes { floor, levels, idle, held, apart: _, needs: _, possible: _, changes: _ } = self;
        (floor, levels, idle, held) == (&other.floor, &other.levels, &other.idle, &other.held)
    }
}

/// Nodes of a running job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct HeldNodes {
    on: NeedWithSeat,
    set: ProcSet,
}

impl FreeNodes {
    /// The nodes without jobs; `None` where the table places no jobs.
    pub(crate) fn new(table: &ResourceTable) -> Option<FreeNodes> {
        let floor = NodeFloor::of(table)?;
        let (levels, procs) = (NodeLevels::empty(&floor), floor.procs() as usize);
        let word = |at: usize| u64::MAX >> (64 - (procs - at * 64).min(64));
        let idle = (0..procs.div_ceil(64)).map(word).collect();
        Some(FreeNodes {
            floor,
            levels,
            idle,
            held: BTreeMap::new(),
            apart: true,
            needs: NodeNeedBook::default(),
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

    /// Free amounts of each node.
    #[inline]
    #[must_use]
    pub fn levels(&self) -> &NodeLevels {
        &self.levels
    }

    /// Processors that no job has, in words of 64.
    #[inline]
    pub fn idle(&self) -> &[u64] {
        &self.idle
    }

    /// Returns what a running job holds; `None` for a job that does not run.
    #[inline]
    #[must_use]
    pub fn held_by(&self, id: JobId) -> Option<(&JobNodeNeed, &NodeSeat)> {
        self.held.get(&id).map(|held| (&*held.on.need, &held.on.seat))
    }

    /// Returns the processors of a running job.
    #[inline]
    pub fn processors_of(&self, id: JobId) -> Option<&ProcSet> {
        self.held.get(&id).map(|held| &held.set)
    }

    /// Returns the number of changes so far.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes.forgotten + self.changes.nodes.len() as u64
    }

    /// Returns the nodes that have changed since so many changes; `None` where that is forgotten.
    #[inline]
    pub fn changes_since(&self, seen: u64) -> Option<&[u32]> {
        self.changes.nodes.get(usize::try_from(seen.checked_sub(self.changes.forgotten)?).ok()?..)
    }

    /// The nodes of a seat are about to change.
    fn note(&mut self, seat: &NodeSeat) {
        if self.changes.nodes.len() > 4 * self.floor.len() + 64 {
            self.changes.forgotten = self.changes();
            self.changes.nodes.clear();
        }
        self.changes.nodes.extend(seat.on.iter().map(|on| on.0));
    }

    /// Returns the reason why a job can never run here; `None` if it can.
    pub fn problem(&self, job: &Job, table: &ResourceTable) -> Option<String> {
        if self.possible.contains(&(job.demand, job.procs)) { None } else { self.floor.problem(job, table) }
    }

    /// A job takes these processors and what it asks for beside them; `anyway` where it runs there
    /// already. Returns the reason why it cannot.
    pub(crate) fn take(
        &mut self,
        job: &Job,
        id: JobId,
        set: &ProcSet,
        table: &ResourceTable,
        anyway: bool,
    ) -> Option<String> {
        let need = match self.needs.of(job, table, &self.floor) {
            Ok(need) => need,
            Err(problem) => return Some(problem),
        };
        let seat = self.floor.seat(set);
        if !anyway && !self.levels.admits(&need, &seat, &self.floor) {
            return Some(format!("is placed on {set}, nodes that do not have all that it asks for"));
        }
        if !anyway {
            if self.possible.len() == KINDS {
                self.possible.clear();
            }
            self.possible.insert((job.demand, job.procs));
        }
        self.note(&seat);
        self.levels.change(&need, &seat, &self.floor, -1);
        self.apart = self.apart && (!anyway || self.is_idle(set));
        self.mark(set, false);
        self.held.insert(id, HeldNodes { on: NeedWithSeat { need, seat }, set: set.clone() });
        None
    }

    /// A job leaves its nodes, if it has any.
    pub(crate) fn leave(&mut self, id: JobId) {
        if let Some(held) = self.held.remove(&id) {
            self.note(&held.on.seat);
            self.levels.change(&held.on.need, &held.on.seat, &self.floor, 1);
            if self.apart {
                return self.mark(&held.set, true);
            }
            let others = ProcSet::union_of(self.held.values().map(|held| &held.set));
            self.mark(&held.set.difference(&others), true);
            let all: u64 = self.held.values().map(|held| u64::from(held.set.len())).sum();
            self.apart = all == u64::from(others.len());
        }
    }

    /// Returns whether no job has any of these processors.
    fn is_idle(&self, set: &ProcSet) -> bool {
        let is = |processor: Procs| self.idle[processor as usize / 64] >> (processor % 64) & 1 == 1;
        set.ranges().iter().flat_map(Clone::clone).all(is)
    }

    fn mark(&mut self, set: &ProcSet, idle: bool) {
        for range in set.ranges() {
            let (mut at, end) = (range.start as usize, range.end as usize);
            while at < end {
                let length = (64 - at % 64).min(end - at);
                let ones = (u64::MAX >> (64 - length)) << (at % 64);
                if idle {
                    self.idle[at / 64] |= ones;
                } else {
                    self.idle[at / 64] &= !ones;
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
        ProcSet::range(processors)
    }

    /// News puts a job where another is still thought to be: what they share is idle when both have
    /// left, in either order, and in a state that was saved meanwhile.
    #[test]
    fn a_shared_processor_is_idle_when_both_jobs_have_left() {
        let mut builder = ResourceTableBuilder::new();
        builder.fill(NodeFill::Pack);
        builder.class(NodeClass { nodes: vec!["n1".into(), "n2".into()], cores: 4, ..NodeClass::default() });
        let table = builder.finish();
        let job = Job::new(Time(0), 3, Span(10));
        let (one, other, third) = (JobId(0), JobId(1), JobId(2));
        for (first, last, shared) in [(one, other, set(2..5)), (other, one, set(0..3))] {
            for saved in [false, true] {
                let mut nodes = FreeNodes::new(&table).expect("nodes");
                assert_eq!(nodes.take(&job, one, &set(0..3), &table, false), None);
                assert_eq!(nodes.take(&job, third, &set(5..8), &table, false), None);
                assert_eq!(nodes.take(&job, other, &set(2..5), &table, true), None);
                assert_eq!(nodes.idle(), [0]);
                if saved {
                    let bytes = postcard::to_stdvec(&nodes).expect("saves");
                    nodes = postcard::from_bytes(&bytes).expect("loads");
                }
                nodes.leave(first);
                let held = shared.union(&set(5..8));
                assert!(
                    (0..8).all(|p| (nodes.idle()[0] >> p & 1 == 0) == held.ranges().iter().any(|r| r.contains(&p)))
                );
                nodes.leave(last);
                assert_eq!(nodes.idle(), [0b1_1111]);
                nodes.leave(third);
                assert_eq!(nodes.idle(), [0xff]);
                assert_eq!(nodes, FreeNodes::new(&table).expect("nodes"));
            }
        }
    }
}
