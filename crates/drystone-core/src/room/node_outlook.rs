//! Nodes that are out or will be, as plans on nodes take them into account.

use crate::model::{DemandId, JobId, Procs, SharedSort, Span, Time};
use crate::parts::{NodeFloor, NodeLevels};
use drystone_engine::policy::{FreeNodes, Outlook, View};
use std::collections::BTreeMap;

/// A change of the cores of a node that no job makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CoreLoss {
    pub(crate) node: u32,
    /// Cores that are out meanwhile; below 0 for cores that come back.
    pub(crate) cores: i64,
    pub(crate) from: Time,
    pub(crate) until: Time,
}

/// Neighbouring processors of one node, from one to another, that something holds for ever from
/// one time until another.
struct NodeSpell {
    node: u32,
    first: Procs,
    end: Procs,
    /// Beginning; `None` for a job that runs.
    from: Option<Time>,
    until: Time,
}

/// Returns what has to be taken away from a plan beside jobs: the plan begins with the cores that
/// no job has and that are up, and each running job gives its own back at the end that is said of
/// it.
///
/// O(n log n) for n nodes of running jobs and of what goes and comes back.
pub(crate) fn core_losses(
    ends: impl Iterator<Item = (Time, JobId)>,
    nodes: &FreeNodes,
    view: &View<'_>,
) -> Vec<CoreLoss> {
    let Some(outlook) = view.outlook() else { return Vec::new() };
    if outlook.windows().is_empty() && outlook.back.is_empty() && !outlook.hangs_on_jobs() {
        return Vec::new();
    }
    let (now, floor) = (view.current_time(), nodes.floor());
    let mut spells: Vec<NodeSpell> = Vec::new();
    let mut touched_nodes = vec![false; floor.len()];
    let gone_processors = outlook.gone_set();
    let back = outlook.back.iter().map(|(until, set)| (set, (*until).max(now.saturating_add(Span(1)))));
    for (set, until) in back.chain([(&gone_processors, Time::MAX)]) {
        each_part(floor, set.ranges(), |node, first, end| {
            spells.push(NodeSpell { node, first, end, from: Some(Time::MIN), until });
        });
    }
    for window in outlook.windows() {
        each_part(floor, window.on.ranges(), |node, first, end| {
            spells.push(NodeSpell { node, first, end, from: Some(window.from.max(now)), until: window.until });
        });
    }
    spells.iter().for_each(|spell| touched_nodes[spell.node as usize] = true);
    for (end, id) in ends {
        let Some(set) = nodes.processors_of(id) else { continue };
        each_part(floor, set.ranges(), |node, first, last| {
            if touched_nodes[node as usize] {
                spells.push(NodeSpell { node, first, end: last, from: None, until: end.max(now) });
            }
        });
    }
    spells.sort_shared_by_key(|spell| (spell.node, spell.first));
    let mut losses = Vec::new();
    for own in spells.chunk_by(|a, b| a.node == b.node) {
        node_losses(own, now, &mut losses);
    }
    losses
}

/// Returns the cores that come back where no running job is on what goes, by time: of which node,
/// and how many. What is expected in this very second is not back yet.
pub(crate) fn core_returns(floor: &NodeFloor, view: &View<'_>) -> Vec<(Time, u32, i64)> {
    let mut returns = Vec::new();
    for (until, set) in view.outlook().into_iter().flat_map(|outlook| &outlook.back) {
        let until = (*until).max(view.current_time().saturating_add(Span(1)));
        each_part(floor, set.ranges(), |node, first, end| returns.push((until, node, i64::from(end - first))));
    }
    returns.sort_unstable();
    returns
}

/// Passes on the parts of ranges of processors that lie on one node each.
fn each_part(floor: &NodeFloor, ranges: &[std::ops::Range<Procs>], mut pass: impl FnMut(u32, Procs, Procs)) {
    for range in ranges {
        let mut from = range.start;
        while from < range.end.min(floor.procs()) {
            let node = floor.node_of(from);
            let until = range.end.min(floor.node_processors(node).end);
            pass(node as u32, from, until);
            from = until;
        }
    }
}

/// Adds what has to be taken away on one node.
fn node_losses(own: &[NodeSpell], now: Time, losses: &mut Vec<CoreLoss>) {
    let mut cuts: Vec<Procs> = own.iter().flat_map(|spell| [spell.first, spell.end]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    // Equal parts of a node make one change.
    let mut sums: BTreeMap<(Time, Time), i64> = BTreeMap::new();
    for part in cuts.windows(2) {
        let cores = i64::from(part[1] - part[0]);
        let spells_here = || own.iter().filter(|spell| spell.first <= part[0] && part[1] <= spell.end);
        let mut outs: Vec<(Time, Time)> = spells_here().filter_map(|spell| Some((spell.from?, spell.until))).collect();
        if outs.is_empty() {
            continue;
        }
        outs.sort_unstable();
        let mut merged_spells: Vec<(Time, Time)> = Vec::new();
        for (from, until) in outs {
            match merged_spells.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(until),
                _ => merged_spells.push((from, until)),
            }
        }
        let held_until = spells_here().filter(|spell| spell.from.is_none()).map(|spell| spell.until).max();
        let is_out = merged_spells[0].0 == Time::MIN;
        let mut add = |from: Time, until: Time, cores: i64| {
            if from < until {
                *sums.entry((from, until)).or_default() += cores;
            }
        };
        if is_out && held_until.is_none() {
            // The plan does not have it to begin with.
            add(merged_spells[0].1, Time::MAX, -cores);
        }
        let begin = held_until.unwrap_or(now);
        for &(from, until) in &merged_spells[usize::from(is_out && held_until.is_none())..] {
            add(from.max(begin), until, cores);
        }
    }
    let node = own[0].node;
    losses.extend(sums.into_iter().map(|((from, until), cores)| CoreLoss { node, cores, from, until }));
}

/// The machine without what is out and not expected back, and which jobs fit on it. All of it
/// follows from the session, until processors go or come back.
pub(crate) struct FinalRoom {
    /// `None` where no node is out for good, or none is known.
    levels: Option<NodeLevels>,
    fits: BTreeMap<(DemandId, Procs), bool>,
}

impl FinalRoom {
    pub(crate) fn from_outlook(outlook: &Outlook, view: &View<'_>) -> Box<FinalRoom> {
        let levels = view.nodes().and_then(|nodes| left_in_the_end(nodes.floor(), outlook));
        Box::new(FinalRoom { levels, fits: BTreeMap::new() })
    }

    /// Returns whether a job fits on what is there in the end.
    pub(crate) fn fits_job(&mut self, id: JobId, outlook: &Outlook, view: &View<'_>) -> bool {
        let FinalRoom { levels, fits } = self;
        let job = view.job(id);
        if job.procs > outlook.left_of(view.machine().procs) {
            return false;
        }
        let (Some(levels), Some(wish)) = (levels, view.job_need(id).on) else { return true };
        let fits_nodes = || wish.floor.find_seat(wish.need, levels).is_some();
        *fits.entry((job.demand, job.procs)).or_insert_with(fits_nodes)
    }
}

/// Returns the nodes without jobs and without what is out and not expected back; `None` where there
/// is no such thing.
fn left_in_the_end(floor: &NodeFloor, outlook: &Outlook) -> Option<NodeLevels> {
    let gone_processors = outlook.gone_set();
    if gone_processors.is_empty() {
        return None;
    }
    let mut levels = NodeLevels::from_floor(floor);
    for processor in gone_processors.ranges().iter().flat_map(Clone::clone) {
        levels.lose_core(floor.node_of(processor));
    }
    Some(levels)
}
