//! Nodes that come or go at a time, and places that changes name.

use super::change::SiteChange;
use super::change_values::NodesFrom;
use super::conf_text::{ConfText, processors_of};
use super::places::own_partition;
use super::premises::{ApplyError, PoolPremises, Premises};
use super::state::Applied;
use super::words::count_things;
use drystone::model::{Outage, ProcSet, Procs, ResourceId, Span, SupplyStep, Time, Which};
use drystone_slurm::conf::expand_hostlist;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Time between the announcement of a closure and its beginning.
pub(super) const NOTICE: Span = Span(14 * 86_400);

/// Processors of a pool; `None`: all of them.
pub(super) type PoolPlace = (usize, Option<Vec<Range<u32>>>);

/// Returns the processors of a partition, a pool, or nodes as a hostlist.
pub(super) fn places_of(premises: &Premises, change: &SiteChange, name: &str) -> Result<Vec<PoolPlace>, ApplyError> {
    let unknown = match premises.find_place(change, name) {
        Ok((at, true)) => {
            let conf = premises.pools[at].described_nodes();
            return Ok(vec![(at, conf.and_then(|conf| processors_of(conf, name)))]);
        }
        Ok((at, false)) => return Ok(vec![(at, None)]),
        Err(unknown) => unknown,
    };
    let Ok(names) = expand_hostlist(name) else { return Err(unknown) };
    let mut missing: BTreeSet<String> = names.into_iter().collect();
    let requested_names = missing.clone();
    let mut places = Vec::new();
    for (at, pool) in premises.pools.iter().enumerate() {
        let Some(conf) = pool.described_nodes().and_then(|text| ConfText::from_text(text).parse_conf().ok()) else {
            continue;
        };
        let (mut first, mut ranges) = (0, Vec::new());
        for node in &conf.nodes {
            if requested_names.contains(&node.name) {
                missing.remove(&node.name);
                ranges.push(first..first + node.cpus);
            }
            first += node.cpus;
        }
        if !ranges.is_empty() {
            places.push((at, Some(ranges)));
        }
    }
    match missing.first() {
        _ if places.is_empty()
            && premises.pools.iter().all(|pool| pool.described_nodes().is_none())
            && name.contains('[') =>
        {
            Err(ApplyError::new(change, "nodes have names only where there is a slurm.conf; name a partition or pool"))
        }
        _ if places.is_empty() => Err(unknown),
        Some(node) => Err(ApplyError::new(change, format!("slurm.conf has no node `{node}`"))),
        None => Ok(places),
    }
}

/// A beginning, moved into the log where it lies outside.
fn moment_of(
    state: &mut Applied,
    change: &SiteChange,
    text: &str,
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<Time, ApplyError> {
    let time = clock(text).map_err(|problem| ApplyError::new(change, problem))?;
    let (time, shift_note) = within_the_log(state, time, Span::ZERO);
    shift_note.into_iter().for_each(|note| state.add_note(note));
    Ok(time)
}

/// Takes nodes out from a time on for good; jobs that run there run to their ends.
pub(super) fn drain_nodes(
    state: &mut Applied,
    change: &SiteChange,
    nodes: &NodesFrom,
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<(), ApplyError> {
    let places = places_of(&state.premises, change, &nodes.of)?;
    let begin = moment_of(state, change, &nodes.begin, clock)?;
    let mut count = 0.0;
    for (at, ranges) in places {
        let whole_pool = std::iter::once(0..state.premises.pools[at].procs);
        let ranges = ranges.unwrap_or_else(|| whole_pool.collect());
        reduce_partitions(state, change, (at, &ranges), (begin, None))?;
        let pool = &mut state.premises.pools[at];
        let which = outage_processors(pool, &ranges, (begin, Time::MAX));
        let outage = Outage::new_drain(which, begin, None);
        if outage.procs() > 0 {
            count += f64::from(outage.procs()) / pool.per_node.max(1.0);
            pool.outages.push(outage);
        }
    }
    let (of, begin) = (&nodes.of, &nodes.begin);
    let drain = count_things(count.round() as u64, &format!("node of {of} drains"), &format!("nodes of {of} drain"));
    state.add_note(format!("{drain} from {begin} on: running jobs end there, and no more start"));
    Ok(())
}

/// Takes processors that are out from the totals of their partitions, where jobs are counted in
/// these.
pub(super) fn reduce_partitions(
    applied: &mut Applied,
    change: &SiteChange,
    (at, ranges): (usize, &[Range<u32>]),
    (begin, end): (Time, Option<Time>),
) -> Result<(), ApplyError> {
    let pool = &applied.premises.pools[at];
    let Some(layout) = pool.layout.as_deref().filter(|_| pool.conf.is_none()) else { return Ok(()) };
    let Some(table) = applied.table.clone().filter(|table| table.has_resources()) else { return Ok(()) };
    let during = |time: Time| begin <= time && end.is_none_or(|end| time < end);
    let mut steps: BTreeMap<(ResourceId, Time), SupplyStep> =
        table.supply_steps().iter().map(|step| ((step.resource, step.from), *step)).collect();
    for (resource, id) in table.resources().iter().zip((0..).map(ResourceId)) {
        let Some(partition) = own_partition(pool, &resource.name) else { continue };
        let own_ranges = processors_of(layout, partition).unwrap_or_default();
        let shared =
            |own: &Range<u32>, range: &Range<u32>| own.end.min(range.end).saturating_sub(own.start.max(range.start));
        let overlap: u32 = own_ranges.iter().flat_map(|own| ranges.iter().map(move |range| shared(own, range))).sum();
        if overlap == 0 {
            continue;
        }
        let mut amounts = vec![(begin, table.supply_at(id, begin).saturating_sub(overlap.into()))];
        for step in table.supply_steps().iter().filter(|step| step.resource == id && during(step.from)) {
            amounts.push((step.from, step.amount.saturating_sub(overlap.into())));
        }
        amounts.extend(end.map(|end| (end, table.supply_at(id, end))));
        for (from, amount) in amounts {
            steps.insert((id, from), SupplyStep { resource: id, from, amount, announced: None });
        }
    }
    let steps: Vec<SupplyStep> = steps.into_values().collect();
    let new = table.with_supply(&steps).map_err(|error| ApplyError::new(change, error.to_string()))?;
    applied.set_supply(new);
    Ok(())
}

/// Lets nodes of `slurm.conf` be out until they are delivered.
pub(super) fn delay_delivery(
    state: &mut Applied,
    change: &SiteChange,
    nodes: &NodesFrom,
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<(), ApplyError> {
    let places = places_of(&state.premises, change, &nodes.of)?;
    let until = moment_of(state, change, &nodes.begin, clock)?;
    let places = places.into_iter().map(|(at, ranges)| {
        let whole_pool = 0..state.premises.pools[at].procs;
        (at, ranges.unwrap_or_else(|| std::iter::once(whole_pool).collect()))
    });
    take_out_until(state, &places.collect::<Vec<_>>(), (until, &nodes.begin));
    Ok(())
}

/// Lets the processors that a change has added be out until they are delivered. `before` are the
/// sizes of the pools before it.
pub(super) fn delay_added_processors(
    state: &mut Applied,
    change: &SiteChange,
    (before, begin): (&[Procs], &str),
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<(), ApplyError> {
    let sizes_and_pools = before.iter().zip(&state.premises.pools).enumerate();
    // New nodes stand behind all others.
    let places: Vec<(usize, Vec<Range<u32>>)> = sizes_and_pools
        .filter(|(_, (was, pool))| pool.procs > **was)
        .map(|(at, (was, pool))| (at, std::iter::once(*was..pool.procs).collect()))
        .collect();
    if places.is_empty() {
        let problem = "only nodes that are added are delivered; `drain PLACE from TIME` takes nodes out from a time on";
        return Err(ApplyError::new(change, problem));
    }
    let until = moment_of(state, change, begin, clock)?;
    take_out_until(state, &places, (until, begin));
    Ok(())
}

/// Takes processors out from the beginning until a time, which every plan knows.
fn take_out_until(state: &mut Applied, places: &[(usize, Vec<Range<u32>>)], (until, text): (Time, &str)) {
    let first = state.premises.workload.submit_range().map_or(Time(0), |(first, _)| first.min(Time(0)));
    let mut count = 0.0;
    for (at, ranges) in places {
        let pool = &mut state.premises.pools[*at];
        let which = outage_processors(pool, ranges, (first, until));
        let outage = Outage::new_window(which, first - NOTICE, first, until);
        if outage.procs() > 0 {
            count += f64::from(outage.procs()) / pool.per_node.max(1.0);
            pool.outages.push(outage);
        }
    }
    let are = count_things(count.round() as u64, "node is", "nodes are");
    state.add_note(format!("{are} delivered at {text}: no job runs there before"));
}

/// The processors of these ranges that no other named outage has meanwhile; all of them by count
/// where others are counted there.
pub(super) fn outage_processors(
    pool: &PoolPremises,
    ranges: &[std::ops::Range<u32>],
    (begin, end): (Time, Time),
) -> Which {
    let mut set = ProcSet::new();
    for range in ranges {
        set = set.union(&ProcSet::from_range(range.start..range.end.min(pool.procs)));
    }
    let meanwhile = |outage: &&Outage| outage.begin < end && begin < outage.end_time();
    let mut counted_procs = 0;
    for outage in pool.outages.iter().filter(meanwhile) {
        match &outage.which {
            Which::Named(other) => set = set.difference(other),
            Which::Count(count) => counted_procs += count,
        }
    }
    match counted_procs {
        0 => Which::Named(set),
        sum => Which::Count(set.len().min(pool.procs.saturating_sub(sum))),
    }
}

/// A time within the jobs of the log: outside of it the same weekday and hour in its middle stands
/// for it.
pub(super) fn within_the_log(state: &Applied, begin: Time, span: Span) -> (Time, Option<String>) {
    let (first, last) = state.premises.workload.submit_range().unwrap_or_default();
    if begin >= first && begin.saturating_add(span) <= last {
        return (begin, None);
    }
    let middle = first + Span((last - first).0 / 2);
    let weeks = ((middle - begin).0 as f64 / Span::WEEK.0 as f64).round() as i64;
    let place = Time(begin.0.saturating_add(weeks.saturating_mul(Span::WEEK.0)));
    let note = format!(
        "the beginning lies outside the jobs; the same weekday and hour in their middle stands for it, {:.1} days after the first submit",
        (place - first).as_f64() / 86_400.0
    );
    (place, Some(note))
}
