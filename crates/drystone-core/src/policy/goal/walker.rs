//! The search tree, walked: LDS and DDS over permutations, one node placed at a time, nothing
//! placed twice that consecutive paths share (sections 2.4 and 3.4 of the paper; rules 3 to 5).
//!
//! The jobs that are left are a list linked by rank, from which the jobs on the path are taken out;
//! the first one left is the heuristic's choice. A path that follows the heuristic to its end (its
//! tail) runs along the list without taking anything out. Nodes are taken back only when the next
//! path needs it: one by one, or many at once from a copy of the steps made where the path
//! branched.

use super::objective::Judge;
use super::settings::{Prune, Traversal};
use super::steps::{FreeSteps, PlacedSpot};
use super::table::RankTable;
use crate::policy::Stopwatch;

/// One iteration of a traversal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Iteration {
    pub(super) traversal: Traversal,
    /// LDS: discrepancies; DDS: depth of the last discrepancy. From 1; iteration 0 is the heuristic
    /// path.
    pub(super) number: usize,
}

/// Limits that end a search before the tree is exhausted.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchLimits<'a> {
    /// Most nodes.
    pub(super) nodes: u64,
    /// Says when time is up.
    pub(super) watch: Option<&'a dyn Stopwatch>,
}

/// Effort of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeEffort {
    /// Nodes placed.
    pub nodes: u64,
    /// Paths followed to their end.
    pub paths: u64,
    /// Number of times that a path was better than the best before it. The heuristic path does not
    /// count.
    pub improvements: u64,
}

impl TreeEffort {
    pub(super) fn add_effort(&mut self, effort: &TreeEffort) {
        self.nodes += effort.nodes;
        self.paths += effort.paths;
        self.improvements += effort.improvements;
    }
}

/// A path to the end: jobs by rank and their starts in seconds from now.
#[derive(Clone, Debug, Default)]
pub(super) struct BestPath {
    pub(super) path: Vec<u32>,
    pub(super) starts: Vec<i64>,
}

/// A node on the current path.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    job: u32,
    spot: PlacedSpot,
}

/// Result of visiting a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WalkStep {
    /// It is on the path.
    Placed,
    /// It is on the path, and nothing below it can be better than the best.
    Pruned,
    /// It was not placed: the search is over.
    Stop,
}

/// The end of the list of jobs that are left.
const END: u32 = u32::MAX;
/// Deepest node at which the steps are copied for the way back.
const DEEPEST_COPY: usize = 64;
/// Fewest nodes that are worth taking back by a copy.
const WORTH_A_COPY: usize = 3;
/// Steps that may be searched between two looks at the stopwatch, about: some tens of microseconds.
const STEPS_PER_LOOK: usize = 1 << 14;

/// The walk's own state. Reused from search to search: it allocates only while it grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Walker {
    /// Links by rank + 1; 0 is both ends.
    next: Vec<u32>,
    prev: Vec<u32>,
    steps: FreeSteps,
    /// The path: `frames[d]` is the node at depth d, from 1; the first `placed` of them are in
    /// `steps`.
    frames: Vec<Frame>,
    placed: usize,
    /// Number of them taken out of the list. Those behind are a tail.
    linked: usize,
    /// Values of the partial schedules, `measures` per depth.
    values: Vec<i64>,
    /// A bound in the making, per measure.
    bound: Vec<i64>,
    /// The steps at some depths of the path, deepest last.
    copies: Vec<FreeSteps>,
    copied: Vec<usize>,
    /// Per depth: the child being visited, and the discrepancies left at the node above it.
    child: Vec<u32>,
    left: Vec<usize>,
    pub(super) best: BestPath,
    /// Effort since [`Walker::reset_to_root`].
    pub(super) effort: TreeEffort,
    /// Nodes at which the limits are looked at again.
    look_at: u64,
    /// Every path visited, by rank, where that is asked for.
    pub(super) visited: Option<Vec<Vec<u32>>>,
}

impl Walker {
    pub(super) fn reset_to_root(&mut self, table: &RankTable) {
        let n = table.len();
        self.next.clear();
        self.next.extend((1..=n as u32).chain([0]));
        self.prev.clear();
        self.prev.extend([n as u32].into_iter().chain(0..n as u32));
        self.steps.copy_from(&table.base);
        self.frames.clear();
        self.frames.resize(n + 2, Frame::default());
        self.values.clear();
        self.values.extend_from_slice(&table.root);
        self.values.resize((n + 1) * table.rules.len(), 0);
        self.child.clear();
        self.child.resize(n + 2, END);
        self.left.clear();
        self.left.resize(n + 2, 0);
        (self.placed, self.linked) = (0, 0);
        self.copied.clear();
        self.effort = TreeEffort::default();
        self.look_at = 0;
    }

    /// Back to the root, without forgetting what was done.
    pub(super) fn rewind_to_root(&mut self, table: &RankTable) {
        self.relink_jobs(0);
        self.steps.copy_from(&table.base);
        self.placed = 0;
        self.copied.clear();
        self.look_at = self.effort.nodes;
    }

    /// Iteration 0: the heuristic path, completed whatever the limit of nodes is. It is the best so
    /// far. `false` where time was up before its end.
    pub(super) fn follow_heuristic(&mut self, table: &RankTable, watch: Option<&dyn Stopwatch>) -> bool {
        let interval = nodes_per_look(table) as usize;
        for job in 0..table.len() {
            // With one job placed at least, a job starts on an idle machine.
            if job % interval == 0 && job > 0 && watch.is_some_and(|watch| watch.is_up()) {
                self.keep_best();
                return false;
            }
            self.place_job(table, self.placed + 1, job as u32);
        }
        self.effort.paths += 1;
        self.keep_best();
        self.record_visit();
        true
    }

    /// Right after the heuristic path: the path to try, if there is one. `false` where a limit
    /// ended it.
    pub(super) fn try_seed_path(&mut self, table: &RankTable, judge: &mut Judge, limits: &SearchLimits<'_>) -> bool {
        table.seed.is_empty() || self.follow_path(table, judge, &table.seed, limits).is_some()
    }

    /// Follows a path to its end, or to where nothing behind it can be better than the best. The
    /// list of the jobs that are left must be whole. Returns whether it is the best now; `None`
    /// where a limit ended it.
    pub(super) fn follow_path(
        &mut self,
        table: &RankTable,
        judge: &mut Judge,
        path: &[u32],
        limits: &SearchLimits<'_>,
    ) -> Option<bool> {
        for (&job, depth) in path.iter().zip(1..) {
            match self.descend_to(table, judge, depth, job, false, limits) {
                WalkStep::Placed => {}
                WalkStep::Pruned => return Some(false),
                WalkStep::Stop => return None,
            }
        }
        Some(self.complete_path(table, judge))
    }

    /// The path is complete. Returns whether it is the best now.
    fn complete_path(&mut self, table: &RankTable, judge: &mut Judge) -> bool {
        self.effort.paths += 1;
        let better = judge.is_better(self.leaf_values(table));
        if better {
            judge.set_best(self.leaf_values(table));
            self.effort.improvements += 1;
            self.keep_best();
        }
        self.record_visit();
        better
    }

    /// Visits the paths of one iteration from left to right, or those below one child of the root.
    /// `false` where a limit ended it.
    pub(super) fn walk_iteration(
        &mut self,
        table: &RankTable,
        judge: &mut Judge,
        iteration: Iteration,
        only: Option<u32>,
        limits: &SearchLimits<'_>,
    ) -> bool {
        let n = table.len();
        self.relink_jobs(0);
        let mut depth = 1;
        self.left[1] = iteration.number;
        self.child[1] = only.unwrap_or_else(|| self.first_child(n, 1, iteration));
        loop {
            let child = self.child[depth];
            if child == END {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
                self.child[depth] = self.next_sibling(depth, only);
                continue;
            }
            let discrepancy = usize::from(!self.is_first(depth, child));
            let rest = match iteration.traversal {
                Traversal::Lds => self.left[depth] - discrepancy,
                Traversal::Dds => iteration.number - depth,
            };
            let step = self.descend_to(table, judge, depth, child, true, limits);
            if step == WalkStep::Placed && rest > 0 {
                depth += 1;
                self.left[depth] = rest;
                self.child[depth] = self.first_child(n, depth, iteration);
                self.copy_steps(depth - 1);
                continue;
            }
            if step == WalkStep::Stop || (step == WalkStep::Placed && !self.follow_tail(table, judge, depth, limits)) {
                return false;
            }
            self.child[depth] = self.next_sibling(depth, only);
        }
    }

    /// Returns whether a child is the heuristic's choice at its depth. The nodes above must be
    /// taken out of the list, and no others.
    fn is_first(&mut self, depth: usize, child: u32) -> bool {
        self.relink_jobs(depth - 1);
        self.next[0] == child + 1
    }

    fn first_child(&self, n: usize, depth: usize, iteration: Iteration) -> u32 {
        let first = self.next[0] as usize;
        // The heuristic's choice, unless a discrepancy is due here.
        let due = match iteration.traversal {
            // Below a choice of the heuristic, n − depth − 1 levels with more than one branch are
            // left.
            Traversal::Lds => self.left[depth] + depth + 1 > n,
            Traversal::Dds => depth == iteration.number,
        };
        let link = if due { self.next[first] } else { self.next[0] };
        link.checked_sub(1).unwrap_or(END)
    }

    /// The child to the right of the one being visited.
    fn next_sibling(&self, depth: usize, only: Option<u32>) -> u32 {
        if depth == 1 && only.is_some() {
            return END;
        }
        // A job keeps its own links while it is out of the list.
        self.next[self.child[depth] as usize + 1].checked_sub(1).unwrap_or(END)
    }

    /// Follows the heuristic from below `depth` to the end. `false` where a limit ended it.
    fn follow_tail(&mut self, table: &RankTable, judge: &mut Judge, depth: usize, limits: &SearchLimits<'_>) -> bool {
        let mut link = self.next[0];
        for depth in depth + 1..=table.len() {
            match self.descend_to(table, judge, depth, link - 1, false, limits) {
                WalkStep::Placed => link = self.next[link as usize],
                WalkStep::Pruned => return true,
                WalkStep::Stop => return false,
            }
        }
        self.complete_path(table, judge);
        true
    }

    /// Puts a job on the path at a depth, unless it is there already.
    #[inline(always)]
    fn descend_to(
        &mut self,
        table: &RankTable,
        judge: &Judge,
        depth: usize,
        job: u32,
        branching: bool,
        limits: &SearchLimits<'_>,
    ) -> WalkStep {
        if !(self.placed >= depth && self.frames[depth].job == job) {
            if self.effort.nodes >= self.look_at && self.is_over(table, limits) {
                return WalkStep::Stop;
            }
            if self.placed >= depth {
                self.take_back(table, depth - 1);
            }
            self.place_job(table, depth, job);
        }
        if branching {
            self.unlink_job(job);
            self.linked = depth;
        }
        let k = table.rules.len();
        // Where nodes of an earlier path are still placed below, the steps hold more than the path.
        let beside = branching && table.prune == Prune::Beside && self.placed == depth;
        let hopeful = table.prune == Prune::Never
            || (judge.is_better(&self.values[depth * k..][..k]) && !(beside && self.is_hopeless(table, judge, depth)));
        if hopeful { WalkStep::Placed } else { WalkStep::Pruned }
    }

    /// Returns whether nothing below a branching at this depth can be better, even if each of the
    /// jobs that are left started where it could if it were the next: it cannot start earlier in
    /// any schedule below. O(jobs left × steps).
    #[cold]
    fn is_hopeless(&mut self, table: &RankTable, judge: &Judge, depth: usize) -> bool {
        let k = table.rules.len();
        let Walker { bound, values, next, steps, .. } = self;
        bound.clear();
        bound.extend_from_slice(&values[depth * k..][..k]);
        let mut link = next[0];
        while link > 0 {
            let row = &table.rows[link as usize - 1];
            let start = steps.earliest_start(table.need_at_rank(link as usize - 1), row.span);
            let least = &table.least[(link as usize - 1) * k..][..k];
            for ((rule, bound), &least) in table.rules.iter().zip(bound.iter_mut()).zip(least) {
                let term = rule.compute_term(row, start);
                *bound = if rule.is_sum() { bound.saturating_add(term - least) } else { term.max(*bound) };
            }
            link = next[link as usize];
        }
        !judge.is_better(bound)
    }

    /// Places a job behind the path and values the result.
    #[inline(always)]
    fn place_job(&mut self, table: &RankTable, depth: usize, job: u32) {
        let row = &table.rows[job as usize];
        let spot = self.steps.place_job(table.need_at_rank(job as usize), row.span, table.narrowest);
        self.frames[depth] = Frame { job, spot };
        self.placed = depth;
        self.effort.nodes += 1;
        let k = table.rules.len();
        let (above, own_values) = self.values.split_at_mut(depth * k);
        let least = &table.least[job as usize * k..][..k];
        for (((rule, above), here), &least) in
            table.rules.iter().zip(&above[(depth - 1) * k..]).zip(own_values).zip(least)
        {
            let term = rule.compute_term(row, spot.start);
            *here = if rule.is_sum() { above.saturating_add(term - least) } else { term.max(*above) };
        }
    }

    pub(super) fn leaf_values(&self, table: &RankTable) -> &[i64] {
        let k = table.rules.len();
        &self.values[table.len() * k..][..k]
    }

    fn keep_best(&mut self) {
        let path = &self.frames[1..=self.placed];
        self.best.path.clear();
        self.best.path.extend(path.iter().map(|frame| frame.job));
        self.best.starts.clear();
        self.best.starts.extend(path.iter().map(|frame| frame.spot.start));
    }

    /// Tells a listener which paths are visited.
    fn record_visit(&mut self) {
        if let Some(paths) = &mut self.visited {
            paths.push(self.frames[1..=self.placed].iter().map(|frame| frame.job).collect());
        }
    }

    /// Takes back all nodes below a depth.
    #[inline]
    fn take_back(&mut self, table: &RankTable, depth: usize) {
        while self.copied.last().is_some_and(|&copy_depth| copy_depth > depth) {
            self.copied.pop();
        }
        if self.placed - depth >= WORTH_A_COPY {
            let copy = if depth == 0 {
                Some(&table.base)
            } else if self.copied.last() == Some(&depth) {
                self.copies.get(self.copied.len() - 1)
            } else {
                None
            };
            if let Some(copy) = copy {
                self.steps.copy_from(copy);
                self.placed = depth;
            }
        }
        while self.placed > depth {
            let frame = &self.frames[self.placed];
            let job = frame.job as usize;
            self.steps.take_back(&frame.spot, table.need_at_rank(job), table.rows[job].span);
            self.placed -= 1;
        }
    }

    /// The path branches at a depth: keeps a copy of the steps for the way back.
    fn copy_steps(&mut self, depth: usize) {
        // Nodes that are placed below it belong to an earlier path; a copy would hold them.
        if depth > DEEPEST_COPY || self.placed != depth || self.copied.last() >= Some(&depth) {
            return;
        }
        let at = self.copied.len();
        if self.copies.len() == at {
            self.copies.push(FreeSteps::default());
        }
        self.copies[at].copy_from(&self.steps);
        self.copied.push(depth);
    }

    /// Takes a job out of the list of those left.
    #[inline]
    fn unlink_job(&mut self, job: u32) {
        let (prev, next) = (self.prev[job as usize + 1], self.next[job as usize + 1]);
        self.next[prev as usize] = next;
        self.prev[next as usize] = prev;
    }

    /// Puts the jobs of the path below a depth back into the list, the last one first.
    #[inline]
    fn relink_jobs(&mut self, depth: usize) {
        while self.linked > depth {
            let link = self.frames[self.linked].job + 1;
            let (prev, next) = (self.prev[link as usize], self.next[link as usize]);
            self.next[prev as usize] = link;
            self.prev[next as usize] = link;
            self.linked -= 1;
        }
    }

    /// Returns whether the search is over before the next node; also sets the next check.
    #[cold]
    fn is_over(&mut self, table: &RankTable, limits: &SearchLimits<'_>) -> bool {
        let nodes = self.effort.nodes;
        if nodes >= limits.nodes {
            return true;
        }
        self.look_at = limits.nodes;
        if let Some(watch) = limits.watch {
            self.look_at = limits.nodes.min(nodes + nodes_per_look(table));
            return watch.is_up();
        }
        false
    }
}

/// Nodes between two looks at the stopwatch: any of them may have to search all steps.
fn nodes_per_look(table: &RankTable) -> u64 {
    (STEPS_PER_LOOK / (table.base.len() + table.len())).max(1) as u64
}
