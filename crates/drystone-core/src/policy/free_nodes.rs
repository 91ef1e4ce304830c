//! Nodes of a machine as policies see them.

use crate::model::{Job, JobId, ProcSet, ResourceTable};
use crate::parts::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The nodes of a machine, what of each no job holds, and where the running jobs are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FreeNodes {
    floor: NodeFloor,
    levels: NodeLevels,
    /// Processors that no job has, in words of 64.
    idle: Vec<u64>,
    held: BTreeMap<JobId, HeldNodes>,
}

/// Nodes of a running job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct HeldNodes {
    need: JobNodeNeed,
    seat: NodeSeat,
    set: ProcSet,
}

impl FreeNodes {
    /// The nodes without jobs; `None` where the table places no jobs.
    pub(crate) fn new(table: &ResourceTable) -> Option<FreeNodes> {
        let floor = NodeFloor::of(table)?;
        let (levels, procs) = (NodeLevels::empty(&floor), floor.procs() as usize);
        let word = |at: usize| u64::MAX >> (64 - (procs - at * 64).min(64));
        let idle = (0..procs.div_ceil(64)).map(word).collect();
        Some(FreeNodes { floor, levels, idle, held: BTreeMap::new() })
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
    pub(crate) fn idle(&self) -> &[u64] {
        &self.idle
    }

    /// Returns what a running job holds; `None` for a job that does not run.
    #[inline]
    #[must_use]
    pub fn held_by(&self, id: JobId) -> Option<(&JobNodeNeed, &NodeSeat)> {
        self.held.get(&id).map(|held| (&held.need, &held.seat))
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
        let need = match JobNodeNeed::of(job, table, &self.floor) {
            Ok(need) => need,
            Err(problem) => return Some(problem),
        };
        let seat = self.floor.seat(set);
        if !anyway && !self.levels.admits(&need, &seat, &self.floor) {
            return Some(format!("is placed on {set}, nodes that do not have all that it asks for"));
        }
        self.levels.change(&need, &seat, &self.floor, -1);
        self.mark(set, false);
        self.held.insert(id, HeldNodes { need, seat, set: set.clone() });
        None
    }

    /// A job leaves its nodes, if it has any.
    pub(crate) fn leave(&mut self, id: JobId) {
        if let Some(held) = self.held.remove(&id) {
            self.levels.change(&held.need, &held.seat, &self.floor, 1);
            self.mark(&held.set, true);
        }
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
