//! Subject of one search: the machine, the running jobs and the waiting ones, also in the form that
//! the search uses.

use super::steps::FreeSteps;
use crate::model::{Procs, ResourceId, SharedSort, Time, UNKNOWN};
use crate::parts::ResourceAmounts;
use crate::policy::SupplyChange;
use crate::room::search_nodes::GoalNodes;
use crate::room::{JobNeed, OpenRoom};
use std::collections::BTreeMap;

/// A waiting job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GoalCandidate {
    /// Submit time; not after the present.
    pub submit: Time,
    /// Processors it needs; no more than the machine has.
    pub procs: Procs,
    /// The run time in seconds for which it is placed; less than 1 s counts as 1 s.
    pub span: i64,
    /// The run time in seconds that counts in its slowdown, and in the heuristic that goes by
    /// slowdowns.
    pub run: i64,
    /// Owner.
    pub owner: GoalOwner,
}

/// Owner of a job, for measures of single users, groups and queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoalOwner {
    /// User; [`UNKNOWN`] is one user like any other.
    pub user: i32,
    /// Group.
    pub group: i32,
    /// Queue.
    pub queue: i32,
}

impl Default for GoalOwner {
    fn default() -> GoalOwner {
        GoalOwner { user: UNKNOWN, group: UNKNOWN, queue: UNKNOWN }
    }
}

/// Demands of a job as shares of the machine, in 65,535ths rounded up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResourceShares {
    /// Of GPUs of any type; 0 where none are counted.
    pub gpus: u16,
    /// Of memory; 0 where it is not counted.
    pub memory: u16,
    /// The largest share, of processors or of any resource.
    pub dominant: u16,
}

impl ResourceShares {
    /// Returns so much of a total in 65,535ths, rounded up.
    pub(super) fn scale_share(amount: u64, total: u64) -> u16 {
        let share = (u128::from(amount) * u128::from(u16::MAX)).div_ceil(u128::from(total.max(1)));
        u16::try_from(share).unwrap_or(u16::MAX)
    }
}

/// A moment at which a schedule is looked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GoalTask {
    /// The present.
    pub now: Time,
    /// Free processors now.
    pub free: Procs,
    /// Predicted ends and processors of the running jobs, in order of the ends, all in the future.
    /// Together with `free` they are the machine.
    pub running: Vec<(Time, Procs)>,
    /// Processors that come back, or go and come back, without a job: when, and how many more or,
    /// below 0, fewer; in any order. No waiting job is wider than what is there in the end.
    pub changes: Vec<(Time, i64)>,
    /// The waiting jobs in the order of their arrival.
    pub waiting: Vec<GoalCandidate>,
    /// Free amounts of resources beyond processors, by resource; empty where the machine has none.
    pub levels: Vec<i64>,
    /// Announced changes in the amounts of resources beyond processors, in order of time.
    pub supply: Vec<SupplyChange>,
    /// Amounts that each running job holds, in the order of `running`; empty where the machine has
    /// none.
    pub held: Vec<Vec<(ResourceId, u64)>>,
    /// Amounts that each waiting job asks for, in the order of `waiting`; empty where the machine
    /// has none.
    pub asks: Vec<Vec<(ResourceId, u64)>>,
    /// Nodes, where jobs are placed on such.
    pub nodes: Option<Box<GoalNodes>>,
    /// Shares of each waiting job, in the order of `waiting`; empty where no measure weighs by
    /// them.
    pub shares: Vec<ResourceShares>,
    /// Processor-seconds that each user had within the window of the objective's `fair`; users
    /// without any may be missing.
    pub usage: BTreeMap<i32, i64>,
    /// The best path of an earlier decision: places in `waiting` of those of its jobs that still
    /// wait, each once. Used as [`GoalSettings::reuse`](super::GoalSettings::reuse) says.
    pub last: Vec<u32>,
    /// Places in `waiting` in the order of branches, where
    /// [`GoalSettings::order`](super::GoalSettings::order) says another than the heuristic's; else
    /// empty.
    pub ranked: Vec<u32>,
}

impl GoalTask {
    /// Processors of the machine, as many as are there in the end.
    #[must_use]
    pub fn procs(&self) -> Procs {
        let without_changes = self.free + self.running.iter().map(|r| r.1).sum::<Procs>();
        let changes: i64 = self.changes.iter().map(|change| change.1).sum();
        Procs::try_from((i64::from(without_changes) + changes).max(0)).unwrap_or(without_changes)
    }

    pub(super) fn running_ends(&self) -> impl Iterator<Item = (i64, Procs)> {
        self.running.iter().map(|&(end, procs)| ((end - self.now).0.max(0), procs))
    }

    /// Every change of free processors ahead, in seconds from now, in order of time.
    fn all_changes(&self) -> Vec<(i64, i64)> {
        let capacity_changes = self.changes.iter().map(|&(at, procs)| ((at - self.now).0.max(0), procs));
        let mut all_steps: Vec<(i64, i64)> =
            self.running_ends().map(|(end, procs)| (end, i64::from(procs))).chain(capacity_changes).collect();
        all_steps.sort_shared_by_key(|change| change.0);
        all_steps
    }

    fn held_amounts(&self, at: usize) -> &ResourceAmounts {
        self.held.get(at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn job_need(&self, place: usize) -> JobNeed<'_> {
        let amounts = self.asks.get(place).map_or(&[][..], Vec::as_slice);
        let on = self.nodes.as_ref().map(|nodes| nodes.seat_wish(place));
        JobNeed { procs: self.waiting[place].procs, amounts, on }
    }

    pub(super) fn free_room(&self) -> OpenRoom {
        match &self.nodes {
            Some(nodes) => nodes.free.clone(),
            None => OpenRoom::of_counts(self.free, &self.levels),
        }
    }

    /// Returns whether processors come back and none go.
    fn gains_only(&self) -> bool {
        self.changes.iter().all(|change| change.1 > 0)
    }

    /// Cores of nodes that come back, in seconds from now, where none go before: node and number.
    pub(super) fn core_returns(&self) -> impl Iterator<Item = (i64, u32, i64)> {
        let nodes = self.nodes.as_ref().filter(|_| self.gains_only());
        let returns = nodes.map_or(&[][..], |nodes| &nodes.returns);
        returns.iter().map(|&(at, node, cores)| ((at - self.now).0.max(0), node, cores))
    }

    /// Returns the announced changes of supply, with their times in seconds from now.
    pub(super) fn supply_changes(&self) -> impl Iterator<Item = (i64, ResourceId, i64)> {
        self.supply.iter().map(|step| ((step.at - self.now).0.max(1), step.resource, step.change))
    }

    /// Ends of running jobs, in seconds from now, with what they give back, and counted processors
    /// that come back as if jobs ended on them, where none go before.
    pub(super) fn ends_and_returns(&self) -> Vec<(i64, JobNeed<'_>)> {
        let seat = |at: usize| self.nodes.as_ref().map(|nodes| nodes.running_seat(at));
        let give_back = |(at, (end, procs))| (end, JobNeed { procs, amounts: self.held_amounts(at), on: seat(at) });
        let mut needs_by_end: Vec<(i64, JobNeed<'_>)> = self.running_ends().enumerate().map(give_back).collect();
        if self.nodes.is_none() && self.gains_only() {
            let returns = |&(at, procs): &(Time, i64)| ((at - self.now).0.max(0), JobNeed::of_procs(procs as Procs));
            needs_by_end.extend(self.changes.iter().map(returns));
            needs_by_end.sort_shared_by_key(|end| end.0);
        }
        needs_by_end
    }

    /// Fills the steps of what the running jobs leave.
    pub(super) fn fill_steps(&self, steps: &mut FreeSteps) {
        if let Some(nodes) = &self.nodes {
            steps.fill_seated(&nodes.room, self.now);
        } else if !self.levels.is_empty() {
            let ends = self
                .running_ends()
                .enumerate()
                .map(|(at, (end, procs))| (end, i64::from(procs), self.held_amounts(at)));
            let no_amounts: &ResourceAmounts = &[];
            let capacity_changes =
                self.changes.iter().map(|&(at, procs)| ((at - self.now).0.max(0), procs, no_amounts));
            let mut all_steps: Vec<(i64, i64, &ResourceAmounts)> = ends.chain(capacity_changes).collect();
            all_steps.sort_shared_by_key(|change| change.0);
            steps.fill_pooled(self.free, &self.levels, all_steps.into_iter());
            steps.fill_supply(self.supply_changes());
        } else if self.changes.is_empty() {
            steps.fill_steps(self.free, self.running_ends());
        } else {
            steps.fill_changing(self.free, self.all_changes());
        }
    }

    /// The current wait of the job that has waited longest: the dynamic threshold of the total
    /// excessive wait.
    #[must_use]
    pub fn oldest_wait(&self) -> i64 {
        self.waiting.iter().map(|job| self.candidate_age(job)).max().unwrap_or(0)
    }

    pub(super) fn candidate_age(&self, job: &GoalCandidate) -> i64 {
        (self.now - job.submit).0.max(0)
    }

    /// Processor-seconds that running and waiting jobs still need.
    pub(super) fn remaining_work(&self) -> i64 {
        let area = |span: i64, procs: Procs| span.saturating_mul(i64::from(procs));
        let running_work = self.running_ends().map(|(end, procs)| area(end, procs));
        let waiting_work = self.waiting.iter().map(|job| area(job.span.max(1), job.procs));
        running_work.chain(waiting_work).fold(0, i64::saturating_add)
    }
}
