//! Nodes, as the suspending policies count them within a pass.
//!
//! A suspended job keeps its memory on its nodes, and gives back cores and devices. It goes on
//! where it was; where jobs migrate, anywhere that it fits.

use super::pool::RangePool;
use super::task::SuspensionTask;
use crate::model::{ProcSet, Procs};
use crate::parts::{NeedWithSeat, NodeFloor, NodeLevels};
use crate::policy::View;
use crate::room::open_nodes;
use std::sync::Arc;

/// Free amounts of each node during a pass.
pub(super) struct PassNodes {
    floor: Arc<NodeFloor>,
    levels: NodeLevels,
}

/// Processors that a job may have: any of them, those of `behind` only where others are too few.
pub(super) struct CandidatePool {
    pub(super) all: RangePool,
    pub(super) behind: ProcSet,
}

impl PassNodes {
    /// Free amounts of nodes now; `None` where jobs are not placed on such.
    pub(super) fn of_now(view: &View<'_>) -> Option<PassNodes> {
        open_nodes(view).map(|(floor, levels)| PassNodes { floor, levels })
    }

    /// A job that waits or is suspended has these processors from now on.
    pub(super) fn seat_task(&mut self, task: &mut SuspensionTask, set: &ProcSet) {
        let (has_run, PassNodes { floor, levels }) = (task.has_run(), self);
        let Some(NeedWithSeat { need, seat }) = &mut task.on else { return };
        if has_run {
            levels.change_memory(need, seat, floor, 1);
        }
        *seat = floor.seat_of(set);
        levels.change_seat(need, seat, floor, -1);
    }

    /// A running job is suspended.
    pub(super) fn park_task(&mut self, task: &SuspensionTask) {
        park_in(&mut self.levels, task, &self.floor);
    }

    /// Returns whether a job may be on a node where another is.
    pub(super) fn may_meet(&self, task: &SuspensionTask, rival: &SuspensionTask) -> bool {
        let (Some(own), Some(rival_place)) = (&task.on, &rival.on) else { return false };
        rival_place.seat.on.iter().any(|&(node, _)| own.need.may_be_on(node as usize, &self.floor))
    }

    /// Returns whether two jobs have a node in common; one that has never run is on these
    /// processors.
    pub(super) fn share_a_node(&self, set: &ProcSet, rival: &SuspensionTask) -> bool {
        let own = self.floor.seat_of(set);
        let is_own = |node: u32| own.on.binary_search_by_key(&node, |on| on.0).is_ok();
        rival.on.as_ref().is_some_and(|place| place.seat.on.iter().any(|&(node, _)| is_own(node)))
    }

    /// Returns whether a suspended job can go on where it was, beside its processors, when others
    /// are suspended.
    pub(super) fn can_resume<'a>(
        &self,
        task: &SuspensionTask,
        victims: impl Iterator<Item = &'a SuspensionTask>,
    ) -> bool {
        let Some(NeedWithSeat { need, seat }) = &task.on else { return true };
        let levels = self.levels_without(task, victims);
        levels.is_seat_free(need, seat, &self.floor)
    }

    /// Finds processors of a pool for a job when others are suspended.
    pub(super) fn pick_processors<'a>(
        &self,
        task: &SuspensionTask,
        pool: &CandidatePool,
        victims: impl Iterator<Item = &'a SuspensionTask>,
    ) -> Option<ProcSet> {
        let on = task.on.as_ref()?;
        let mut levels = self.levels_without(task, victims);
        let mut words = vec![0; (self.floor.procs() as usize).div_ceil(64)];
        let mut cores = vec![0; self.floor.len()];
        for processor in pool.all.ranges().iter().flat_map(Clone::clone) {
            words[processor as usize / 64] |= 1 << (processor % 64);
        }
        for range in pool.all.ranges() {
            self.each_node(range, |node, count| cores[node] += count);
        }
        for (node, count) in cores.into_iter().enumerate() {
            // Cores that none uses are no job's where another has the node to itself.
            levels.add_cores(node, count.min(levels.free_cores(node)) - levels.free_cores(node));
        }
        let seat = self.floor.find_seat(&on.need, &levels)?;
        Some(seat.name_processors(&self.floor, &mut words, &pool.behind))
    }

    /// Passes on the nodes of a range of processors, with how many are on each.
    fn each_node(&self, range: &std::ops::Range<Procs>, mut pass: impl FnMut(usize, i64)) {
        let mut from = range.start;
        while from < range.end {
            let node = self.floor.node_of(from);
            let until = range.end.min(self.floor.node_processors(node).end);
            pass(node, i64::from(until - from));
            from = until;
        }
    }

    /// Room when others are suspended, with the memory that an idle job keeps.
    fn levels_without<'a>(
        &self,
        task: &SuspensionTask,
        victims: impl Iterator<Item = &'a SuspensionTask>,
    ) -> NodeLevels {
        let mut levels = self.levels.clone();
        victims.for_each(|victim| park_in(&mut levels, victim, &self.floor));
        if let Some(NeedWithSeat { need, seat }) = task.on.as_ref().filter(|_| task.has_run()) {
            levels.change_memory(need, seat, &self.floor, 1);
        }
        levels
    }
}

fn park_in(levels: &mut NodeLevels, task: &SuspensionTask, floor: &NodeFloor) {
    if let Some(NeedWithSeat { need, seat }) = &task.on {
        levels.change_seat(need, seat, floor, 1);
        levels.change_memory(need, seat, floor, -1);
    }
}
