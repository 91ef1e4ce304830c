//! The search for the best schedule of the jobs that wait now.

use super::baseline::reference_values;
use super::local;
use super::objective::{GoalObjective, Judge};
use super::parallel;
use super::settings::{GoalSettings, Prune};
use super::table::RankTable;
use super::task::{GoalCandidate, GoalTask};
use super::walker::{BestPath, Iteration, SearchLimits, TreeEffort, Walker};
use crate::model::{JobId, Span};
use crate::parts::NodeSeat;
use crate::policy::Stopwatch;
use std::collections::BTreeMap;

/// Searches permutations of waiting jobs. Keeps its memory from search to search, and nothing else.
#[derive(Clone, Debug, Default)]
pub struct GoalSearch {
    pub(super) table: RankTable,
    walker: Walker,
    /// One per thread, where there are several.
    helpers: Vec<Walker>,
}

/// Result of a search.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundSchedule {
    /// The best permutation: places in [`GoalTask::waiting`].
    pub path: Vec<u32>,
    /// Its starts in seconds from now, by place in [`GoalTask::waiting`]; `i64::MAX` where time was
    /// up before a job was placed, or where a job is beyond the horizon and does not start now.
    pub starts: Vec<i64>,
    /// Its value in each measure, in the order of the objective: sums over the waiting jobs instead
    /// of averages, and slowdowns in units of 2⁻³²; jobs beyond the horizon do not count. Empty
    /// where time was up before the heuristic path was complete.
    pub values: Vec<i64>,
    /// Effort of the search.
    pub effort: TreeEffort,
    /// True if every path was visited or proved to be no better than the best: then this is the
    /// best schedule there is, where the objective has one ([`GoalObjective::is_unique`]).
    pub exhausted: bool,
}

impl GoalSearch {
    /// The best schedule that can be found within the limits of the settings; `watch` is looked at
    /// where they set a time. The heuristic path is completed whatever the number of nodes is;
    /// where time is up before, a job that is not on it yet has no start. One job is always placed.
    ///
    /// A node costs O(steps of the plan), no more than running jobs + jobs on the path; nothing is
    /// allocated per node.
    ///
    /// # Panics
    /// If a waiting job is wider than the machine.
    #[must_use]
    pub fn run(&mut self, task: &GoalTask, settings: &GoalSettings, watch: Option<&dyn Stopwatch>) -> FoundSchedule {
        match settings.horizon {
            Some(most) if task.waiting.len() > most as usize => self.run_within(most as usize, task, settings, watch),
            _ => self.run_all(task, settings, watch),
        }
    }

    pub(super) fn run_all(
        &mut self,
        task: &GoalTask,
        settings: &GoalSettings,
        watch: Option<&dyn Stopwatch>,
    ) -> FoundSchedule {
        let GoalSearch { table, walker, helpers } = self;
        let machine = task.procs();
        // On nodes a job may fit before processors go for good: the caller looks for its place.
        let is_held = |job: &GoalCandidate| task.nodes.is_some() || job.procs <= machine;
        assert!(task.waiting.iter().all(is_held), "a job is wider than the machine of {machine}");
        let watch = watch.filter(|_| settings.budget.is_some());
        table.fill_table(task, settings);
        walker.reset_to_root(table);
        if !walker.follow_heuristic(table, watch) {
            return self.build_schedule(Vec::new(), false);
        }
        let values = walker.leaf_values(table).to_vec();
        let Some(references) = reference_values(task, &settings.objective, table, watch) else {
            return self.build_schedule(values, false);
        };
        let mut judge = Judge::new(&settings.objective, task.waiting.len(), task.oldest_wait(), &references);
        judge.set_best(&values);
        let nodes = settings.nodes.unwrap_or(u64::MAX);
        let local_nodes = (u128::from(nodes) * u128::from(settings.local.min(100)) / 100) as u64;
        let limits = SearchLimits { nodes: nodes - if settings.nodes.is_some() { local_nodes } else { 0 }, watch };
        let is_exhausted = walker.try_seed_path(table, &mut judge, &limits)
            && explore_tree(table, walker, helpers, &mut judge, settings, &limits);
        if !is_exhausted && limits.nodes < nodes {
            local::search_locally(table, walker, &mut judge, &SearchLimits { nodes, watch });
        }
        self.build_schedule(judge.best, is_exhausted)
    }

    fn build_schedule(&self, values: Vec<i64>, is_exhausted: bool) -> FoundSchedule {
        let BestPath { path, starts: path_starts } = &self.walker.best;
        let mut starts = vec![i64::MAX; self.table.len()];
        let place = |&rank: &u32| self.table.places[rank as usize];
        for (rank, &start) in path.iter().zip(path_starts) {
            starts[place(rank) as usize] = start;
        }
        FoundSchedule {
            path: path.iter().map(place).collect(),
            starts,
            values,
            effort: self.walker.effort,
            exhausted: is_exhausted,
        }
    }

    /// The references of version C: what backfilling with one reservation would achieve in each
    /// measure.
    #[must_use]
    pub fn reference_values(&mut self, task: &GoalTask, objective: &GoalObjective) -> Vec<i64> {
        self.table.fill_table(task, &GoalSettings { objective: objective.clone(), ..GoalSettings::default() });
        reference_values(task, objective, &self.table, None).unwrap_or_default()
    }

    /// As [`GoalSearch::run`], and every path visited in order, as places in [`GoalTask::waiting`].
    #[must_use]
    pub fn trace_paths(&mut self, task: &GoalTask, settings: &GoalSettings) -> (FoundSchedule, Vec<Vec<u32>>) {
        self.walker.visited = Some(Vec::new());
        let schedule = self.run(task, settings, None);
        let visited_paths = self.walker.visited.take().unwrap_or_default();
        let places = |path: Vec<u32>| path.iter().map(|&rank| self.table.places[rank as usize]).collect();
        (schedule, visited_paths.into_iter().map(places).collect())
    }
}

impl GoalTask {
    /// Seats of the jobs of a schedule: those that the search had found, found again. Empty where
    /// processors are counted only.
    pub(super) fn find_seats(&self, schedule: &FoundSchedule) -> BTreeMap<JobId, NodeSeat> {
        let Some(nodes) = &self.nodes else { return BTreeMap::new() };
        let mut room = nodes.room.clone();
        let is_placed = |place: &&u32| schedule.starts[**place as usize] < i64::MAX;
        for &place in schedule.path.iter().filter(is_placed) {
            let span = Span(self.waiting[place as usize].span.max(1));
            room.place_need(self.job_need(place as usize), span, self.now);
        }
        room.take_seats()
    }
}

/// All iterations after the heuristic path. `false` where a limit ended the search.
fn explore_tree(
    table: &RankTable,
    walker: &mut Walker,
    helpers: &mut Vec<Walker>,
    judge: &mut Judge,
    settings: &GoalSettings,
    limits: &SearchLimits<'_>,
) -> bool {
    for number in 1..table.len() {
        // What no schedule at all can beat is the best.
        if settings.prune != Prune::Never && !judge.is_better(&table.root) {
            return true;
        }
        let iteration = Iteration { traversal: settings.traversal, number };
        if !parallel::walk_iteration(table, walker, helpers, judge, iteration, limits, settings) {
            return false;
        }
    }
    true
}
