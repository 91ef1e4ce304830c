//! A task as the search sees it: jobs by rank.

use super::rules::{GoalRule, SearchRow};
use super::settings::{Branching, GoalSettings, PathReuse, Prune};
use super::steps::FreeSteps;
use super::task::GoalTask;
use super::weights;
use crate::model::{JobId, Procs, ResourceId, SharedSort};
use crate::parts::{JobNodeNeed, NodeFloor};
use crate::room::{JobNeed, SeatWish};
use std::sync::Arc;

/// A task in the order of the branching heuristic: rank 0 is the leftmost child of the root. Does
/// not change while the search goes on, so that threads share it.
#[derive(Clone, Debug, Default)]
pub(super) struct RankTable {
    /// The waiting jobs by rank.
    pub(super) rows: Vec<SearchRow>,
    /// Further needs of the waiting jobs.
    needs: RankNeeds,
    /// Per rank the place in [`GoalTask::waiting`].
    pub(super) places: Vec<u32>,
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
    pub(super) narrowest: Procs,
    /// Criterion for giving up a subtree.
    pub(super) prune: Prune,
}

/// Needs of the waiting jobs beyond processors, by rank.
#[derive(Clone, Debug, Default)]
struct RankNeeds {
    /// Amounts of further resources; empty where processors are all that is counted.
    amounts: Vec<Vec<(ResourceId, u64)>>,
    /// Nodes, where jobs are placed on such.
    nodes: Option<Arc<NodeFloor>>,
    wishes: Vec<(JobId, Arc<JobNodeNeed>)>,
}

impl RankNeeds {
    fn fill_needs(&mut self, task: &GoalTask, places: &[u32]) {
        let RankNeeds { amounts, nodes, wishes } = self;
        amounts.clear();
        wishes.clear();
        *nodes = task.nodes.as_ref().map(|nodes| Arc::clone(&nodes.floor));
        let asks = |place: &u32| task.job_need(*place as usize);
        if !task.levels.is_empty() || nodes.is_some() {
            amounts.extend(places.iter().map(|place| asks(place).amounts.to_vec()));
        }
        let wish = |place: &u32| asks(place).on.map(|wish| (wish.id, Arc::clone(wish.need)));
        wishes.extend(places.iter().filter_map(wish));
    }

    #[inline(always)]
    fn need_at_rank(&self, rank: usize, procs: Procs) -> JobNeed<'_> {
        if self.amounts.is_empty() {
            return JobNeed::of_procs(procs);
        }
        let on = self.nodes.as_deref().map(|floor| {
            let (id, need) = &self.wishes[rank];
            SeatWish { id: *id, need, floor, seat: None }
        });
        JobNeed { procs, amounts: &self.amounts[rank], on }
    }
}

impl RankTable {
    /// For a search with these settings. O(n log n + n·r) for n waiting and r running jobs.
    pub(super) fn fill_table(&mut self, task: &GoalTask, settings: &GoalSettings) {
        let GoalSettings { objective, branching, prune, reuse, .. } = settings;
        self.rank_jobs(task, *branching);
        self.reuse_path(task, *reuse);
        self.rows.clear();
        self.rows.extend(self.places.iter().map(|&place| search_row(task, place as usize)));
        weights::fill_weights(task, objective, &self.places, &mut self.rows);
        self.narrowest = self.rows.iter().map(|job| job.procs).min().unwrap_or(0);
        self.needs.fill_needs(task, &self.places);
        task.fill_steps(&mut self.base);
        self.base.skip_narrow(self.narrowest);
        self.rules.clear();
        self.rules.extend(objective.measures.iter().enumerate().map(|(at, m)| m.rule_for_task(at, task)));
        self.prune = *prune;
        self.compute_bounds();
    }

    pub(super) fn rank_jobs(&mut self, task: &GoalTask, branching: Branching) {
        self.places.clear();
        if task.ranked.len() == task.waiting.len() {
            return self.places.extend(&task.ranked);
        }
        self.places.extend(0..task.waiting.len() as u32);
        if branching == Branching::Lxf {
            // (wait + run) / run compares as wait / run; ties by arrival.
            let key = |place: u32| {
                let job = &task.waiting[place as usize];
                (i128::from(task.candidate_age(job)), i128::from(job.run.max(1)))
            };
            self.places.sort_shared_by(|&a, &b| {
                let ((wait_a, run_a), (wait_b, run_b)) = (key(a), key(b));
                (wait_b * run_a).cmp(&(wait_a * run_b))
            });
        }
    }

    /// An earlier best path as the order of branches, or as a path to try: its jobs first,
    /// newcomers behind them in the order of the heuristic.
    fn reuse_path(&mut self, task: &GoalTask, reuse: PathReuse) {
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
    fn compute_bounds(&mut self) {
        let RankTable { rows, needs, rules, least, root, base, prune, .. } = self;
        let earliest = matches!(prune, Prune::Earliest | Prune::Beside);
        least.clear();
        root.clear();
        root.resize(rules.len(), 0);
        for (rank, job) in rows.iter().enumerate() {
            let need = needs.need_at_rank(rank, job.procs);
            let start = if earliest { base.earliest_start(need, job.span) } else { 0 };
            for (rule, root) in rules.iter().zip(root.iter_mut()) {
                let term = if earliest { rule.compute_term(job, start) } else { 0 };
                *root = if rule.is_sum() { root.saturating_add(term) } else { term.max(*root) };
                least.push(term);
            }
        }
    }

    #[inline(always)]
    pub(super) fn need_at_rank(&self, rank: usize) -> JobNeed<'_> {
        self.needs.need_at_rank(rank, self.rows[rank].procs)
    }

    /// Number of waiting jobs.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// A waiting job as the search sees it, without its weights.
fn search_row(task: &GoalTask, place: usize) -> SearchRow {
    let job = &task.waiting[place];
    SearchRow::new(job.procs, job.span.max(1), job.run, task.candidate_age(job))
}
