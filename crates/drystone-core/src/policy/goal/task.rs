//! Subject of one search: the machine, the running jobs and the waiting ones, also in the form that
//! the search uses.

use super::measures::{GoalRule, SearchRow};
use super::settings::{Branching, GoalSettings, PathReuse, Prune};
use super::steps::FreeSteps;
use super::weights;
use crate::model::{Procs, ResourceId, Time, UNKNOWN};
use crate::parts::ResourceAmounts;
use crate::policy::room::JobNeed;
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

/// A moment at which a schedule is looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
    /// Amounts that each running job holds, in the order of `running`; empty where the machine has
    /// none.
    pub held: Vec<Vec<(ResourceId, u64)>>,
    /// Amounts that each waiting job asks for, in the order of `waiting`; empty where the machine
    /// has none.
    pub asks: Vec<Vec<(ResourceId, u64)>>,
    /// Processor-seconds that each user had within the window of the objective's `fair`; users
    /// without any may be missing.
    pub usage: BTreeMap<i32, i64>,
    /// The best path of an earlier decision: places in `waiting` of those of its jobs that still
    /// wait, each once. Used as [`GoalSettings::reuse`] says.
    pub last: Vec<u32>,
    /// Places in `waiting` in the order of branches, where [`GoalSettings::order`] says another
    /// than the heuristic's; else empty.
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

    pub(super) fn ends(&self) -> impl Iterator<Item = (i64, Procs)> {
        self.running.iter().map(|&(end, procs)| ((end - self.now).0.max(0), procs))
    }

    /// Every change of free processors ahead, in seconds from now, in order of time.
    fn all_changes(&self) -> Vec<(i64, i64)> {
        let others = self.changes.iter().map(|&(at, procs)| ((at - self.now).0.max(0), procs));
        let mut all: Vec<(i64, i64)> = self.ends().map(|(end, procs)| (end, i64::from(procs))).chain(others).collect();
        all.sort_by_key(|change| change.0);
        all
    }

    /// Amounts that a running job holds.
    fn held(&self, at: usize) -> &ResourceAmounts {
        self.held.get(at).map_or(&[], Vec::as_slice)
    }

    /// Needs of a waiting job.
    pub(super) fn need(&self, place: usize) -> JobNeed<'_> {
        let amounts = self.asks.get(place).map_or(&[][..], Vec::as_slice);
        JobNeed { procs: self.waiting[place].procs, amounts }
    }

    /// Ends of running jobs, in seconds from now, with what they give back, and processors that
    /// come back as if jobs ended on them, where none go before.
    pub(super) fn ends_and_returns(&self) -> Vec<(i64, JobNeed<'_>)> {
        let give_back = |(at, (end, procs))| (end, JobNeed { procs, amounts: self.held(at) });
        let mut all: Vec<(i64, JobNeed<'_>)> = self.ends().enumerate().map(give_back).collect();
        if self.changes.iter().all(|change| change.1 > 0) {
            let returns = |&(at, procs): &(Time, i64)| {
                ((at - self.now).0.max(0), JobNeed { procs: procs as Procs, amounts: &[] })
            };
            all.extend(self.changes.iter().map(returns));
            all.sort_by_key(|end| end.0);
        }
        all
    }

    /// Fills the steps of what the running jobs leave.
    pub(super) fn fill(&self, steps: &mut FreeSteps) {
        if !self.levels.is_empty() {
            let ends = self.ends().enumerate().map(|(at, (end, procs))| (end, i64::from(procs), self.held(at)));
            let none: &ResourceAmounts = &[];
            let others = self.changes.iter().map(|&(at, procs)| ((at - self.now).0.max(0), procs, none));
            let mut all: Vec<(i64, i64, &ResourceAmounts)> = ends.chain(others).collect();
            all.sort_by_key(|change| change.0);
            steps.fill_pooled(self.free, &self.levels, all.into_iter());
        } else if self.changes.is_empty() {
            steps.fill(self.free, self.ends());
        } else {
            steps.fill_changing(self.free, self.all_changes());
        }
    }

    /// The current wait of the job that has waited longest: the dynamic threshold of the total
    /// excessive wait.
    #[must_use]
    pub fn oldest_wait(&self) -> i64 {
        self.waiting.iter().map(|job| self.age(job)).max().unwrap_or(0)
    }

    pub(super) fn age(&self, job: &GoalCandidate) -> i64 {
        (self.now - job.submit).0.max(0)
    }

    /// Processor-seconds that running and waiting jobs still need.
    pub(super) fn work(&self) -> i64 {
        let area = |span: i64, procs: Procs| span.saturating_mul(i64::from(procs));
        let running = self.ends().map(|(end, procs)| area(end, procs));
        let waiting = self.waiting.iter().map(|job| area(job.span.max(1), job.procs));
        running.chain(waiting).fold(0, i64::saturating_add)
    }
}

/// A task in the order of the branching heuristic: rank 0 is the leftmost child of the root. Does
/// not change while the search goes on, so that threads share it.
#[derive(Clone, Debug, Default)]
pub(super) struct RankTable {
    /// The waiting jobs by rank.
    pub(super) rows: Vec<SearchRow>,
    /// Amounts of further resources that the waiting jobs ask for, by rank; empty where the machine
    /// has none.
    pub(super) needs: Vec<Vec<(ResourceId, u64)>>,
    /// Per rank the place in [`GoalTask::waiting`].
    pub(super) places: Vec<u32>,
    /// The measures.
    pub(super) rules: Vec<GoalRule>,
    /// Per rank and measure the least term that the job can have: what it adds to a lower bound
    /// before it is placed.
    pub(super) least: Vec<i64>,
    /// Value of the empty schedule per measure: a lower bound of every schedule.
    pub(super) root: Vec<i64>,
    /// A path to try after the heuristic path, by rank; may be empty.
    pub(super) seed: Vec<u32>,
    /// Free processors with the running jobs only.
    pub(super) base: FreeSteps,
    /// The narrowest waiting job.
    pub(super) narrowest: Procs,
    /// Criterion for giving up a subtree.
    pub(super) prune: Prune,
}

impl RankTable {
    /// For a search with these settings. O(n log n + n·r) for n waiting and r running jobs.
    pub(super) fn fill(&mut self, task: &GoalTask, settings: &GoalSettings) {
        let GoalSettings { objective, branching, prune, reuse, .. } = settings;
        self.order(task, *branching);
        self.reuse(task, *reuse);
        self.rows.clear();
        self.rows.extend(self.places.iter().map(|&place| row(task, place as usize)));
        weights::fill(task, objective, &self.places, &mut self.rows);
        self.narrowest = self.rows.iter().map(|job| job.procs).min().unwrap_or(0);
        self.needs.clear();
        if !task.levels.is_empty() {
            self.needs.extend(self.places.iter().map(|&place| task.need(place as usize).amounts.to_vec()));
        }
        task.fill(&mut self.base);
        self.base.skip(self.narrowest);
        self.rules.clear();
        self.rules.extend(objective.measures.iter().enumerate().map(|(at, m)| m.rule(at, task)));
        self.prune = *prune;
        self.bound();
    }

    /// Ranks by the branching heuristic.
    pub(super) fn order(&mut self, task: &GoalTask, branching: Branching) {
        self.places.clear();
        if task.ranked.len() == task.waiting.len() {
            return self.places.extend(&task.ranked);
        }
        self.places.extend(0..task.waiting.len() as u32);
        if branching == Branching::Lxf {
            // (wait + run) / run compares as wait / run; ties by arrival.
            let key = |place: u32| {
                let job = &task.waiting[place as usize];
                (i128::from(task.age(job)), i128::from(job.run.max(1)))
            };
            self.places.sort_by(|&a, &b| {
                let ((wait_a, run_a), (wait_b, run_b)) = (key(a), key(b));
                (wait_b * run_a).cmp(&(wait_a * run_b))
            });
        }
    }

    /// An earlier best path as the order of branches, or as a path to try: its jobs first,
    /// newcomers behind them in the order of the heuristic.
    fn reuse(&mut self, task: &GoalTask, reuse: PathReuse) {
        self.seed.clear();
        if reuse == PathReuse::No || task.last.is_empty() {
            return;
        }
        let mut old = vec![false; self.places.len()];
        task.last.iter().for_each(|&place| old[place as usize] = true);
        let newcomers = self.places.iter().copied().filter(|&place| !old[place as usize]);
        let path: Vec<u32> = task.last.iter().copied().chain(newcomers).collect();
        if reuse == PathReuse::Branch {
            self.places = path;
        } else if path != self.places {
            let mut ranks = vec![0; path.len()];
            for (rank, &place) in (0..).zip(&self.places) {
                ranks[place as usize] = rank;
            }
            self.seed.extend(path.iter().map(|&place| ranks[place as usize]));
        }
    }

    /// A job cannot start earlier than it could if no other job waited.
    fn bound(&mut self) {
        let RankTable { rows, needs, rules, least, root, base, prune, .. } = self;
        let earliest = matches!(prune, Prune::Earliest | Prune::Beside);
        least.clear();
        root.clear();
        root.resize(rules.len(), 0);
        for (rank, job) in rows.iter().enumerate() {
            let need = need_of(rows, needs, rank);
            let start = if earliest { base.earliest(need, job.span) } else { 0 };
            for (rule, root) in rules.iter().zip(root.iter_mut()) {
                let term = if earliest { rule.term(job, start) } else { 0 };
                *root = if rule.adds() { root.saturating_add(term) } else { term.max(*root) };
                least.push(term);
            }
        }
    }

    /// Needs of a waiting job, by rank.
    #[inline(always)]
    pub(super) fn need(&self, rank: usize) -> JobNeed<'_> {
        need_of(&self.rows, &self.needs, rank)
    }

    /// Number of waiting jobs.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// Needs of a waiting job.
#[inline(always)]
fn need_of<'a>(rows: &[SearchRow], needs: &'a [Vec<(ResourceId, u64)>], rank: usize) -> JobNeed<'a> {
    let amounts = if needs.is_empty() { &[][..] } else { &needs[rank][..] };
    JobNeed { procs: rows[rank].procs, amounts }
}

/// A waiting job as the search sees it, without its weights.
fn row(task: &GoalTask, place: usize) -> SearchRow {
    let job = &task.waiting[place];
    SearchRow::new(job.procs, job.span.max(1), job.run, task.age(job))
}
