//! Changes of the machine: nodes, partitions, limits of QOS, times that nodes are out.

use super::change::SiteChange;
use super::change_values::{Closure, NodeAmount, format_length};
use super::conf_text::ConfText;
use super::node_times::{NOTICE, PoolPlace, outage_processors, places_of, reduce_partitions, within_the_log};
use super::places::{Renumbering, recompute_totals, size_of};
use super::premises::{ApplyError, PartitionPremises, PoolPremises};
use super::state::{Applied, JobDraft, LeftOutJobs, needs_slurm, node_hours};
use crate::words::count_things;
use drystone::model::{JobId, Outage, ProcSet, Span, Time, Which};
use drystone_slurm::conf::SlurmConf;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Adds nodes to a partition or pool, or takes some away.
pub(super) fn change_nodes(
    state: &mut Applied,
    change: &SiteChange,
    of: Option<&str>,
    amount: NodeAmount,
) -> Result<(), ApplyError> {
    let premises = &state.premises;
    let (at, partition) = match of {
        None => (premises.only_pool(change)?, None),
        Some(name) => match premises.find_place(change, name)? {
            (at, true) => (at, Some(name)),
            (at, false) => (at, None),
        },
    };
    let pool = &premises.pools[at];
    let wrong = |problem: String| ApplyError::new(change, problem);
    let now = match (&pool.conf, partition) {
        (Some(conf), Some(name)) => {
            let slurm_conf = ConfText::from_text(conf).parse_conf().map_err(wrong)?;
            let node_count = slurm_conf.find_partition(name).map(|partition| partition.nodes.len() as u32);
            node_count.ok_or_else(|| ApplyError::new(change, format!("slurm.conf has no partition `{name}`")))?
        }
        (Some(conf), None) => ConfText::from_text(conf).parse_conf().map_err(wrong)?.nodes.len() as u32,
        (None, Some(name)) => {
            let layout = pool.layout.as_deref().and_then(|text| ConfText::from_text(text).parse_conf().ok());
            let own = layout.as_ref().and_then(|conf| size_of(conf, name));
            own.map_or_else(|| pool.node_count(), |(_, nodes)| nodes)
        }
        (None, None) => pool.node_count(),
    };
    let target_count = amount.apply_to(now).filter(|&count| count > 0);
    let target_count = target_count.ok_or_else(|| {
        ApplyError::new(change, format!("of {} at least one has to stay", count_things(now.into(), "node", "nodes")))
    })?;
    if target_count == now {
        return Ok(());
    }
    let mut conf = pool.conf.as_deref().map(ConfText::from_text);
    let proc_change = match &mut conf {
        Some(text) if target_count > now => text.add_nodes(partition, target_count - now).map_err(wrong)?,
        Some(text) => text.remove_nodes(partition, now - target_count).map_err(wrong)?,
        None => (f64::from(target_count.abs_diff(now)) * pool.per_node).round() as u32,
    };
    let name = of.unwrap_or(&pool.name).to_string();
    let old_conf = pool.conf.as_deref().and_then(|text| ConfText::from_text(text).parse_conf().ok());
    let new_conf = conf.as_ref().and_then(|text| text.parse_conf().ok());
    let procs =
        if target_count > now { pool.procs.checked_add(proc_change) } else { pool.procs.checked_sub(proc_change) };
    let procs =
        procs.filter(|&procs| procs > 0).ok_or_else(|| ApplyError::new(change, "no processor would be left"))?;
    let pool = &mut state.premises.pools[at];
    let pool_of_processors = pool.per_node <= 1.0;
    pool.conf = conf.map(|text| text.render_text());
    let lost_jobs = resize_pool(state, change, at, procs, (old_conf.as_ref(), new_conf.as_ref()))?;
    let more = if target_count > now { "more" } else { "fewer" };
    let processors = |number: u32| count_things(number.into(), "processor", "processors");
    state.add_note(match pool_of_processors {
        true => format!("{name} has {} instead of {now}", processors(target_count)),
        false => {
            let nodes = count_things(target_count.into(), "node", "nodes");
            format!("{name} has {nodes} instead of {now}, {} {more}", processors(proc_change))
        }
    });
    let mut drafts = state.job_drafts();
    leave_running(state, &mut drafts, &lost_jobs);
    if let (Some(old), Some(new)) = (&old_conf, &new_conf) {
        leave_crowded(state, &mut drafts, at, (old, new));
    }
    state.rebuild_jobs(change, drafts)
}

/// Leaves out jobs that ask for more of their partition than it has left.
fn leave_crowded(state: &mut Applied, drafts: &mut Vec<JobDraft>, at: usize, (old, new): (&SlurmConf, &SlurmConf)) {
    let names: BTreeMap<i32, String> =
        state.premises.pools[at].partitions.iter().map(|p| (p.number, p.name.clone())).collect();
    // Processors and nodes of a partition, before and behind the change.
    type PartSize = (u64, u32);
    let mut sizes: BTreeMap<i32, (PartSize, PartSize)> = BTreeMap::new();
    for (&number, name) in &names {
        if let (Some(was), Some(is)) = (size_of(old, name), size_of(new, name)) {
            sizes.insert(number, (was, is));
        }
    }
    let mut left_out = LeftOutJobs::default();
    let mut kept_drafts = Vec::with_capacity(drafts.len());
    for draft in drafts.drain(..) {
        let nodes =
            state.table.as_ref().and_then(|table| table.node_shape(draft.job.demand)).map_or(0, |shape| shape.nodes.0);
        let fits = |(cpus, count): (u64, u32)| u64::from(draft.job.procs) <= cpus && nodes <= count;
        let is_crowded = sizes.get(&draft.job.partition).is_some_and(|&(was, is)| fits(was) && !fits(is));
        if is_crowded && !draft.place.is_some_and(|place| state.is_running(place)) {
            left_out.jobs += 1;
            left_out.node_hours += node_hours(&state.premises, &draft.job, draft.truth.run);
        } else {
            kept_drafts.push(draft);
        }
    }
    *drafts = kept_drafts;
    if left_out.jobs > 0 {
        state.left.jobs += left_out.jobs;
        state.left.node_hours += left_out.node_hours;
        state.refused += left_out.jobs;
        state.add_note(match left_out.jobs {
            1 => "1 job asks for more nodes than its partition has left: it cannot run, and is refused".to_string(),
            jobs => format!(
                "{jobs} jobs ask for more nodes than their partition has left: none can run, and all are refused"
            ),
        });
    }
}

/// Gives a pool another size: processors keep their nodes under new numbers, outages and resources
/// are those of the nodes that are there. Returns the running jobs that lose their places.
fn resize_pool(
    state: &mut Applied,
    change: &SiteChange,
    at: usize,
    procs: u32,
    (old, new): (Option<&SlurmConf>, Option<&SlurmConf>),
) -> Result<BTreeSet<JobId>, ApplyError> {
    let wrong = |error: String| ApplyError::new(change, error);
    let size = |pool: &PoolPremises| pool.procs.saturating_mul(pool.scale.max(1));
    let pools = &state.premises.pools;
    let (before, behind): (u32, u32) = (pools[..at].iter().map(size).sum(), pools[at + 1..].iter().map(size).sum());
    let (was, scale) = (pools[at].procs, pools[at].scale.max(1));
    let own = Renumbering::between_pools((&pools[at], old), (procs, new));
    let circumstances = state.premises.workload.circumstances().cloned().unwrap_or_default();
    let pool = &mut state.premises.pools[at];
    for outage in &mut pool.outages {
        if let Which::Named(set) = &mut outage.which {
            *set = own.map(set);
        }
    }
    pool.procs = procs;
    clip_outages(pool);
    let mut lost_jobs = BTreeSet::new();
    if scale == 1 {
        let whole = own.shift_among(before, was, procs, behind);
        let (new_circumstances, placeless_jobs) = whole.renumber_jobs(&circumstances);
        state.known = Some(new_circumstances);
        lost_jobs = placeless_jobs;
    }
    if let (Some(table), Some(conf)) = (&state.table, new) {
        let table =
            recompute_totals(table, &state.premises.pools[at], conf).map_err(|error| wrong(error.to_string()))?;
        state.table = Some(table);
    }
    Ok(lost_jobs)
}

/// Leaves out running jobs that have no place any longer, and of those without known places the
/// last ones that are too many.
fn leave_running(state: &mut Applied, drafts: &mut Vec<JobDraft>, victims: &BTreeSet<JobId>) {
    let mut pool_usage: Vec<u64> = vec![0; state.premises.pools.len()];
    let mut left_out = LeftOutJobs::default();
    let mut dropped_places = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let Some(place) = draft.place.filter(|&place| state.is_running(place)) else { continue };
        let pool = state.premises.pool_of(&draft.job);
        let size = &state.premises.pools[pool];
        let most = u64::from(size.procs) * u64::from(size.scale.max(1));
        if victims.contains(&JobId(place)) || pool_usage[pool] + u64::from(draft.job.procs) > most {
            left_out.jobs += 1;
            left_out.node_hours += node_hours(&state.premises, &draft.job, draft.truth.run);
            dropped_places.push(at);
        } else {
            pool_usage[pool] += u64::from(draft.job.procs);
        }
    }
    if dropped_places.is_empty() {
        return;
    }
    let mut at = 0;
    drafts.retain(|_| {
        at += 1;
        !dropped_places.contains(&(at - 1))
    });
    state.left.jobs += left_out.jobs;
    state.left.node_hours += left_out.node_hours;
    state.add_note(format!(
        "jobs that run at the beginning on nodes that are gone, and are left out: {}",
        left_out.jobs
    ));
}

/// Outages of nodes that are gone take none; what is left of one takes what is left of the machine.
fn clip_outages(pool: &mut PoolPremises) {
    let size = pool.procs;
    for outage in &mut pool.outages {
        match &mut outage.which {
            Which::Count(count) => *count = (*count).min(size),
            Which::Named(set) => *set = set.intersection(&ProcSet::from_range(0..size)),
        }
    }
    pool.outages.retain(|outage| outage.procs() > 0);
    // Where all that is out at a time is more than is left, later ones take less.
    let mut kept_outages: Vec<Outage> = Vec::new();
    let mut outages = std::mem::take(&mut pool.outages);
    outages.sort_by_key(|outage| outage.begin);
    for mut outage in outages {
        if let Which::Count(count) = &mut outage.which {
            *count =
                (*count).min(size - most_out(&kept_outages, outage.begin, outage.end.unwrap_or(Time::MAX)).min(size));
        }
        if outage.procs() > 0 {
            kept_outages.push(outage);
        }
    }
    pool.outages = kept_outages;
}

/// The most processors that are out at once between two times.
fn most_out(outages: &[Outage], begin: Time, end: Time) -> u32 {
    let at = |time: Time| -> u32 {
        outages
            .iter()
            .filter(|o| o.begin <= time && time < o.end_time())
            .map(Outage::procs)
            .fold(0, u32::saturating_add)
    };
    let begins = outages.iter().map(|outage| outage.begin).filter(|&time| begin <= time && time < end);
    begins.chain([begin]).map(at).max().unwrap_or(0)
}

/// Makes a log's machine larger or smaller.
pub(super) fn change_processors(
    state: &mut Applied,
    change: &SiteChange,
    amount: NodeAmount,
) -> Result<(), ApplyError> {
    let at = state.premises.only_pool(change)?;
    let pool = &mut state.premises.pools[at];
    let now = pool.procs;
    let target_count = amount.apply_to(now).filter(|&count| count > 0);
    let target_count = target_count.ok_or_else(|| {
        ApplyError::new(
            change,
            format!("of {} at least one has to stay", count_things(now.into(), "processor", "processors")),
        )
    })?;
    if target_count == now {
        return Ok(());
    }
    if pool.conf.is_some() && pool.per_node > 1.0 {
        let problem = format!("the machine has nodes of {} processors; say how many nodes: nodes +8", pool.per_node);
        return Err(ApplyError::new(change, problem));
    }
    let (mut old_conf, mut new_conf) = (None, None);
    if let Some(conf) = &pool.conf {
        let mut text = ConfText::from_text(conf);
        old_conf = text.parse_conf().ok();
        let edit_result = match target_count > now {
            true => text.add_nodes(None, target_count - now),
            false => text.remove_nodes(None, now - target_count),
        };
        edit_result.map_err(|problem| ApplyError::new(change, problem))?;
        new_conf = text.parse_conf().ok();
        pool.conf = Some(text.render_text());
    }
    let lost_jobs = resize_pool(state, change, at, target_count, (old_conf.as_ref(), new_conf.as_ref()))?;
    let processors = count_things(target_count.into(), "processor", "processors");
    state.add_note(format!("the machine has {processors} instead of {now}"));
    let mut drafts = state.job_drafts();
    leave_running(state, &mut drafts, &lost_jobs);
    state.rebuild_jobs(change, drafts)
}

/// Adds a partition of a higher tier on the same nodes, and moves jobs with short limits there.
pub(super) fn short_queue(state: &mut Applied, change: &SiteChange, most: Span) -> Result<(), ApplyError> {
    needs_slurm(state, change, "partitions")?;
    let mut number =
        state.premises.pools.iter().flat_map(|p| &p.partitions).map(|p| p.number).max().unwrap_or(0).max(0);
    let numbers = state.premises.workload.jobs().iter().map(|job| job.partition.max(job.queue)).max().unwrap_or(0);
    number = number.max(numbers);
    let name = "drystone-short".to_string();
    let mut of_pool = Vec::new();
    for pool in &mut state.premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::from_text(conf);
        let slurm_conf = text.parse_conf().map_err(|problem| ApplyError::new(change, problem))?;
        let tier = slurm_conf.partitions.iter().map(|partition| partition.tier).max().unwrap_or(1);
        let factor = slurm_conf.partitions.iter().map(|partition| partition.job_factor).max().unwrap_or(1);
        let own = pool
            .partitions
            .iter()
            .map(|p| p.own)
            .max()
            .unwrap_or(0)
            .max(slurm_conf.partitions.len() as i32)
            .max(numbers)
            + 1;
        number += 1;
        text.add_partition(&[
            ("PartitionName", name.clone()),
            ("Nodes", "ALL".to_string()),
            ("MaxTime", format!("{}", (most.0 + 59) / 60)),
            ("PriorityTier", (tier + 1).to_string()),
            ("PriorityJobFactor", factor.to_string()),
        ]);
        text.parse_conf().map_err(|problem| ApplyError::new(change, problem))?;
        pool.conf = Some(text.render_text());
        let mut names = pool.names.clone().unwrap_or_else(|| "kind,number,name\n".to_string());
        if !names.lines().any(|line| line.starts_with("partition,")) {
            for (at, partition) in slurm_conf.partitions.iter().enumerate() {
                let _ = writeln!(names, "partition,{},{}", at + 1, partition.name);
            }
        }
        let _ = writeln!(names, "partition,{own},{name}");
        pool.names = Some(names);
        pool.partitions.push(PartitionPremises { name: name.clone(), number, own });
        of_pool.push(number);
    }
    let mut drafts = state.job_drafts();
    let mut move_count = 0_u64;
    state.drop_demand_totals(change, &mut drafts, |draft| draft.job.estimate <= most)?;
    for draft in &mut drafts {
        if draft.job.estimate <= most && !draft.place.is_some_and(|place| state.is_running(place)) {
            draft.job.partition = of_pool[state.premises.pool_of(&draft.job)];
            move_count += 1;
        }
    }
    state.add_note(format!(
        "{} with limits up to {} {} to a partition of a higher tier on the same nodes",
        count_things(move_count, "job", "jobs"),
        format_length(most),
        if move_count == 1 { "goes" } else { "go" }
    ));
    state.rebuild_jobs(change, drafts)
}

/// Takes nodes out for a time, announced two weeks before.
pub(super) fn close_nodes(
    state: &mut Applied,
    change: &SiteChange,
    closure: &Closure,
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<(), ApplyError> {
    let wrong = |problem: String| ApplyError::new(change, problem);
    let begin = clock(&closure.begin).map_err(wrong)?;
    let (begin, shift_note) = within_the_log(state, begin, closure.length);
    let end = begin.saturating_add(closure.length);
    let premises = &state.premises;
    let pools: Vec<PoolPlace> = match &closure.of {
        None if closure.nodes.is_some() => vec![(premises.only_pool(change)?, None)],
        None => (0..premises.pools.len()).map(|at| (at, None)).collect(),
        Some(name) => places_of(premises, change, name)?,
    };
    let mut closed_procs = 0_u32;
    for (at, ranges) in pools {
        if let (Some(ranges), None) = (&ranges, closure.nodes) {
            reduce_partitions(state, change, (at, ranges), (begin, Some(end)))?;
        }
        let pool = &mut state.premises.pools[at];
        let free = pool.procs - most_out(&pool.outages, begin, end).min(pool.procs);
        let which = match (ranges, closure.nodes) {
            (Some(ranges), None) => outage_processors(pool, &ranges, (begin, end)),
            (ranges, nodes) => {
                let room = ranges.map_or(pool.procs, |ranges| ranges.iter().map(|r| r.end - r.start).sum());
                let requested_procs = nodes.map_or(room, |nodes| (f64::from(nodes) * pool.per_node).round() as u32);
                if requested_procs > pool.procs {
                    let problem =
                        format!("{} has {}", pool.name, count_things(pool.node_count().into(), "node", "nodes"));
                    return Err(ApplyError::new(change, problem));
                }
                Which::Count(requested_procs.min(room).min(free))
            }
        };
        let outage = Outage::new_window(which, begin - NOTICE, begin, end);
        if outage.procs() > 0 {
            closed_procs += (f64::from(outage.procs()) / pool.per_node).round() as u32;
            pool.outages.push(outage);
        }
    }
    if let Some(note) = shift_note {
        state.add_note(note);
    }
    state.add_note(format!(
        "{} out for {}, announced two weeks before: no job may run into it",
        count_things(closed_procs.into(), "node is", "nodes are"),
        format_length(closure.length)
    ));
    Ok(())
}

/// Gives each job its nodes for itself, or lets jobs share them.
pub(super) fn set_sharing(state: &mut Applied, change: &SiteChange, whole: bool) -> Result<(), ApplyError> {
    let single = state.premises.pools.iter().all(|pool| pool.per_node <= 1.0);
    if single {
        let problem = match whole {
            true => "every node counts as one processor here, so a job has its nodes for itself already",
            false => {
                "jobs are counted in whole nodes here; import the accounting with `--count cpu`, so that what they use of a node is known"
            }
        };
        return Err(ApplyError::new(change, problem));
    }
    if !state.premises.is_slurm {
        if !whole {
            return Err(ApplyError::new(change, "this policy counts processors: jobs share nodes already"));
        }
        let premises = &state.premises;
        let mut drafts = state.job_drafts();
        for draft in &mut drafts {
            let pool = &premises.pools[premises.pool_of(&draft.job)];
            let node = (pool.per_node * f64::from(pool.scale.max(1))).round().max(1.0) as u32;
            let most = pool.procs.saturating_mul(pool.scale.max(1));
            draft.job.procs = draft.job.procs.div_ceil(node).saturating_mul(node).min(most).max(draft.job.procs);
        }
        state.add_note("sizes are rounded up to whole nodes".to_string());
        return state.rebuild_jobs(change, drafts);
    }
    for pool in &mut state.premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::from_text(conf);
        match whole {
            true => text.set_partition(None, "OverSubscribe", "EXCLUSIVE"),
            false => {
                text.replace_setting("SelectType", "select/cons_tres");
                text.set_partition(None, "OverSubscribe", "NO");
            }
        }
        text.parse_conf().map_err(|problem| ApplyError::new(change, problem))?;
        pool.conf = Some(text.render_text());
    }
    state.add_note(match whole {
        true => "a node has one job: OverSubscribe=EXCLUSIVE in every partition",
        false => "jobs share nodes: SelectType=select/cons_tres",
    });
    Ok(())
}
