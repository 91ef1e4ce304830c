//! Search on several threads, with one result for any number of them.
//!
//! An iteration falls into the subtrees below the children of the root. Threads search them ahead
//! of their turn, each as if none of its elders had found anything better; in their order, the
//! results are then taken over as if they had been searched one by one. As soon as a subtree holds
//! a better path, those behind it are searched again, from the new best on. That is rare, and
//! nothing of it shows: paths, nodes and the schedule are those of one thread.

use super::objective::Judge;
use super::settings::{GoalSettings, Traversal};
use super::table::RankTable;
use super::walker::{BestPath, Iteration, SearchLimits, TreeEffort, Walker};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Fewest nodes left in the limit that are worth starting threads for: some hundreds of
/// microseconds.
const WORTH_THREADS: u64 = 8_000;

/// A subtree that was searched ahead of its turn.
struct AheadSubtree {
    effort: TreeEffort,
    /// True if no limit ended it.
    finished: bool,
    /// The best path, if it is in here.
    better: Option<(Judge, BestPath)>,
}

/// One iteration. `false` where a limit ended it.
pub(super) fn walk_iteration(
    table: &RankTable,
    walker: &mut Walker,
    helpers: &mut Vec<Walker>,
    judge: &mut Judge,
    iteration: Iteration,
    limits: &SearchLimits<'_>,
    settings: &GoalSettings,
) -> bool {
    let n = table.len();
    // In the first iteration a subtree is a single path with DDS, and shares nodes with the
    // heuristic path with LDS.
    let small = iteration.number == 1 || settings.threads == 1;
    if small || limits.nodes.saturating_sub(walker.effort.nodes) < WORTH_THREADS {
        return walker.walk_iteration(table, judge, iteration, None, limits);
    }
    helpers.resize_with(settings.threads as usize, Walker::default);
    // LDS with discrepancies on every level has none to spare for the first child.
    let mut next = usize::from(iteration.traversal == Traversal::Lds && iteration.number + 1 == n);
    while next < n {
        let ahead = look_ahead(table, walker, helpers, judge, iteration, limits, next..n);
        let from = next;
        for (at, ahead) in ahead.into_iter().enumerate() {
            let Some(ahead) = ahead else { break };
            let over = walker.effort.nodes.saturating_add(ahead.effort.nodes) > limits.nodes;
            if over || !(ahead.finished || limits.watch.is_some()) {
                // The limit falls into this subtree: once more, up to there.
                walker.rewind_to_root(table);
                return walker.walk_iteration(table, judge, iteration, Some((from + at) as u32), limits);
            }
            walker.effort.add_effort(&ahead.effort);
            next += 1;
            let better = ahead.better.is_some();
            if let Some((new, best)) = ahead.better {
                *judge = new;
                walker.best = best;
            }
            if !ahead.finished {
                return false;
            }
            if better {
                break;
            }
        }
    }
    walker.rewind_to_root(table);
    true
}

/// Searches the subtrees below these children of the root, from the first on, until one holds a
/// better path, or more nodes are placed than the limit leaves. The first one is always searched.
fn look_ahead(
    table: &RankTable,
    walker: &Walker,
    helpers: &mut [Walker],
    judge: &Judge,
    iteration: Iteration,
    limits: &SearchLimits<'_>,
    children: std::ops::Range<usize>,
) -> Vec<Option<AheadSubtree>> {
    let nodes_left = limits.nodes.saturating_sub(walker.effort.nodes);
    let limits = SearchLimits { nodes: nodes_left, ..*limits };
    let results: Vec<Mutex<Option<AheadSubtree>>> = children.clone().map(|_| Mutex::new(None)).collect();
    let next_child = AtomicUsize::new(0);
    let enough = AtomicUsize::new(results.len());
    let placed_nodes = AtomicU64::new(0);
    let work = |helper: &mut Walker| {
        loop {
            let at = next_child.fetch_add(1, Ordering::Relaxed);
            // All subtrees before one that is claimed are claimed: they are a beginning of the
            // list, however fast each thread is.
            if at >= enough.load(Ordering::Relaxed) || placed_nodes.load(Ordering::Relaxed) > nodes_left {
                return;
            }
            helper.reset_to_root(table);
            let mut judge = judge.clone();
            let is_finished =
                helper.walk_iteration(table, &mut judge, iteration, Some((children.start + at) as u32), &limits);
            let effort = helper.effort;
            placed_nodes.fetch_add(effort.nodes, Ordering::Relaxed);
            let better = (effort.improvements > 0).then(|| (judge, helper.best.clone()));
            if better.is_some() || !is_finished {
                enough.fetch_min(at + 1, Ordering::Relaxed);
            }
            if let Ok(mut result) = results[at].lock() {
                *result = Some(AheadSubtree { effort, finished: is_finished, better });
            }
        }
    };
    std::thread::scope(|scope| {
        let (first, other_helpers) = helpers.split_at_mut(1);
        for helper in other_helpers {
            // One that cannot be had, for want of memory, is one less: the results are the same.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || work(helper));
        }
        work(&mut first[0]);
    });
    results.into_iter().map(|result| result.into_inner().unwrap_or_default()).collect()
}
