//! Changes of the machine: nodes, partitions, limits of QOS, times that nodes are out.

use super::change::{Closure, NodeAmount, SiteChange, length};
use super::conf_text::ConfText;
use super::node_times::{NOTICE, PoolPlace, outage_processors, places_of, within_the_log};
use super::places::{Renumbering, retotalled, size_of};
use super::premises::{ApplyError, PartitionPremises, PoolPremises};
use super::state::{Applied, JobDraft, LeftOutJobs, needs_slurm, node_hours};
use crate::words::count_things;
use drystone::model::{JobId, Outage, ProcSet, Span, Time, Which};
use drystone_slurm::conf::SlurmConf;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Adds nodes to a partition or pool, or takes some away.
pub(super) fn nodes(
    applied: &mut Applied,
    change: &SiteChange,
    of: Option<&str>,
    amount: NodeAmount,
) -> Result<(), ApplyError> {
    let premises = &applied.premises;
    let (at, partition) = match of {
        None => (premises.only_pool(change)?, None),
        Some(name) => match premises.place(change, name)? {
            (at, true) => (at, Some(name)),
            (at, false) => (at, None),
        },
    };
    let pool = &premises.pools[at];
    let wrong = |problem: String| ApplyError::new(change, problem);
    let now = match (&pool.conf, partition) {
        (Some(conf), Some(name)) => {
            let read = ConfText::of(conf).read().map_err(wrong)?;
            let found = read.partition(name).map(|partition| partition.nodes.len() as u32);
            found.ok_or_else(|| ApplyError::new(change, format!("slurm.conf has no partition `{name}`")))?
        }
        (Some(conf), None) => ConfText::of(conf).read().map_err(wrong)?.nodes.len() as u32,
        (None, _) => pool.nodes(),
    };
    let wanted = amount.of(now).filter(|&wanted| wanted > 0);
    let wanted = wanted.ok_or_else(|| {
        ApplyError::new(change, format!("of {} at least one has to stay", count_things(now.into(), "node", "nodes")))
    })?;
    if wanted == now {
        return Ok(());
    }
    let mut conf = pool.conf.as_deref().map(ConfText::of);
    let changed = match &mut conf {
        Some(text) if wanted > now => text.add_nodes(partition, wanted - now).map_err(wrong)?,
        Some(text) => text.remove_nodes(partition, now - wanted).map_err(wrong)?,
        None => (f64::from(wanted.abs_diff(now)) * pool.per_node).round() as u32,
    };
    let name = of.unwrap_or(&pool.name).to_string();
    let old_conf = pool.conf.as_deref().and_then(|text| ConfText::of(text).read().ok());
    let new_conf = conf.as_ref().and_then(|text| text.read().ok());
    let procs = if wanted > now { pool.procs.checked_add(changed) } else { pool.procs.checked_sub(changed) };
    let procs =
        procs.filter(|&procs| procs > 0).ok_or_else(|| ApplyError::new(change, "no processor would be left"))?;
    let pool = &mut applied.premises.pools[at];
    let pool_of_processors = pool.per_node <= 1.0;
    pool.conf = conf.map(|text| text.text());
    let gone = resized(applied, change, at, procs, (old_conf.as_ref(), new_conf.as_ref()))?;
    let more = if wanted > now { "more" } else { "fewer" };
    let processors = |number: u32| count_things(number.into(), "processor", "processors");
    applied.note(match pool_of_processors {
        true => format!("{name} has {} instead of {now}", processors(wanted)),
        false => {
            let nodes = count_things(wanted.into(), "node", "nodes");
            format!("{name} has {nodes} instead of {now}, {} {more}", processors(changed))
        }
    });
    let mut drafts = applied.drafts();
    leave_running(applied, &mut drafts, &gone);
    if let (Some(old), Some(new)) = (&old_conf, &new_conf) {
        leave_crowded(applied, &mut drafts, at, (old, new));
    }
    applied.rebuild(change, drafts)
}

/// Leaves out jobs that ask for more of their partition than it has left.
fn leave_crowded(applied: &mut Applied, drafts: &mut Vec<JobDraft>, at: usize, (old, new): (&SlurmConf, &SlurmConf)) {
    let names: BTreeMap<i32, String> =
        applied.premises.pools[at].partitions.iter().map(|p| (p.number, p.name.clone())).collect();
    // Processors and nodes of a partition, before and behind the change.
    type PartSize = (u64, u32);
    let mut sizes: BTreeMap<i32, (PartSize, PartSize)> = BTreeMap::new();
    for (&number, name) in &names {
        if let (Some(was), Some(is)) = (size_of(old, name), size_of(new, name)) {
            sizes.insert(number, (was, is));
        }
    }
    let mut left = LeftOutJobs::default();
    let mut kept = Vec::with_capacity(drafts.len());
    for draft in drafts.drain(..) {
        let nodes =
            applied.table.as_ref().and_then(|table| table.shape(draft.job.demand)).map_or(0, |shape| shape.nodes.0);
        let fits = |(cpus, count): (u64, u32)| u64::from(draft.job.procs) <= cpus && nodes <= count;
        let crowded = sizes.get(&draft.job.partition).is_some_and(|&(was, is)| fits(was) && !fits(is));
        if crowded && !draft.place.is_some_and(|place| applied.is_running(place)) {
            left.jobs += 1;
            left.node_hours += node_hours(&applied.premises, &draft.job, draft.truth.run);
        } else {
            kept.push(draft);
        }
    }
    *drafts = kept;
    if left.jobs > 0 {
        applied.left.jobs += left.jobs;
        applied.left.node_hours += left.node_hours;
        applied.refused += left.jobs;
        applied.note(match left.jobs {
            1 => "1 job asks for more nodes than its partition has left: it cannot run, and is refused".to_string(),
            jobs => format!(
                "{jobs} jobs ask for more nodes than their partition has left: none can run, and all are refused"
            ),
        });
    }
}

/// Gives a pool another size: processors keep their nodes under new numbers, outages and resources
/// are those of the nodes that are there. Returns the running jobs that lose their places.
fn resized(
    applied: &mut Applied,
    change: &SiteChange,
    at: usize,
    procs: u32,
    (old, new): (Option<&SlurmConf>, Option<&SlurmConf>),
) -> Result<BTreeSet<JobId>, ApplyError> {
    let wrong = |error: String| ApplyError::new(change, error);
    let size = |pool: &PoolPremises| pool.procs.saturating_mul(pool.scale.max(1));
    let pools = &applied.premises.pools;
    let (before, behind): (u32, u32) = (pools[..at].iter().map(size).sum(), pools[at + 1..].iter().map(size).sum());
    let (was, scale) = (pools[at].procs, pools[at].scale.max(1));
    let own = Renumbering::of((&pools[at], old), (procs, new));
    let known = applied.premises.workload.circumstances().cloned().unwrap_or_default();
    let pool = &mut applied.premises.pools[at];
    for outage in &mut pool.outages {
        if let Which::Named(set) = &mut outage.which {
            *set = own.map(set);
        }
    }
    pool.procs = procs;
    clip(pool);
    let mut gone = BTreeSet::new();
    if scale == 1 {
        let whole = own.among(before, was, procs, behind);
        let (known, lost) = whole.jobs(&known);
        applied.known = Some(known);
        gone = lost;
    }
    if let (Some(table), Some(conf)) = (&applied.table, new) {
        let table = retotalled(table, &applied.premises.pools[at], conf).map_err(|error| wrong(error.to_string()))?;
        applied.table = Some(table);
    }
    Ok(gone)
}

/// Leaves out running jobs that have no place any longer, and of those without known places the
/// last ones that are too many.
fn leave_running(applied: &mut Applied, drafts: &mut Vec<JobDraft>, gone: &BTreeSet<JobId>) {
    let mut used: Vec<u64> = vec![0; applied.premises.pools.len()];
    let mut left = LeftOutJobs::default();
    let mut dropped = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let Some(place) = draft.place.filter(|&place| applied.is_running(place)) else { continue };
        let pool = applied.premises.pool_of(&draft.job);
        let size = &applied.premises.pools[pool];
        let most = u64::from(size.procs) * u64::from(size.scale.max(1));
        if gone.contains(&JobId(place)) || used[pool] + u64::from(draft.job.procs) > most {
            left.jobs += 1;
            left.node_hours += node_hours(&applied.premises, &draft.job, draft.truth.run);
            dropped.push(at);
        } else {
            used[pool] += u64::from(draft.job.procs);
        }
    }
    if dropped.is_empty() {
        return;
    }
    let mut at = 0;
    drafts.retain(|_| {
        at += 1;
        !dropped.contains(&(at - 1))
    });
    applied.left.jobs += left.jobs;
    applied.left.node_hours += left.node_hours;
    applied.note(format!("jobs that run at the beginning on nodes that are gone, and are left out: {}", left.jobs));
}

/// Outages of nodes that are gone take none; what is left of one takes what is left of the machine.
fn clip(pool: &mut PoolPremises) {
    let size = pool.procs;
    for outage in &mut pool.outages {
        match &mut outage.which {
            Which::Count(count) => *count = (*count).min(size),
            Which::Named(set) => *set = set.intersection(&ProcSet::range(0..size)),
        }
    }
    pool.outages.retain(|outage| outage.procs() > 0);
    // Where all that is out at a time is more than is left, later ones take less.
    let mut kept: Vec<Outage> = Vec::new();
    let mut all = std::mem::take(&mut pool.outages);
    all.sort_by_key(|outage| outage.begin);
    for mut outage in all {
        if let Which::Count(count) = &mut outage.which {
            *count = (*count).min(size - most_out(&kept, outage.begin, outage.end.unwrap_or(Time::MAX)).min(size));
        }
        if outage.procs() > 0 {
            kept.push(outage);
        }
    }
    pool.outages = kept;
}

/// The most processors that are out at once between two times.
fn most_out(outages: &[Outage], begin: Time, end: Time) -> u32 {
    let at = |time: Time| -> u32 {
        outages.iter().filter(|o| o.begin <= time && time < o.until()).map(Outage::procs).fold(0, u32::saturating_add)
    };
    let begins = outages.iter().map(|outage| outage.begin).filter(|&time| begin <= time && time < end);
    begins.chain([begin]).map(at).max().unwrap_or(0)
}

/// Makes a log's machine larger or smaller.
pub(super) fn procs(applied: &mut Applied, change: &SiteChange, amount: NodeAmount) -> Result<(), ApplyError> {
    let at = applied.premises.only_pool(change)?;
    let pool = &mut applied.premises.pools[at];
    let now = pool.procs;
    let wanted = amount.of(now).filter(|&wanted| wanted > 0);
    let wanted = wanted.ok_or_else(|| {
        ApplyError::new(
            change,
            format!("of {} at least one has to stay", count_things(now.into(), "processor", "processors")),
        )
    })?;
    if wanted == now {
        return Ok(());
    }
    if pool.conf.is_some() && pool.per_node > 1.0 {
        let problem = format!("the machine has nodes of {} processors; say how many nodes: nodes +8", pool.per_node);
        return Err(ApplyError::new(change, problem));
    }
    let (mut old_conf, mut new_conf) = (None, None);
    if let Some(conf) = &pool.conf {
        let mut text = ConfText::of(conf);
        old_conf = text.read().ok();
        let done = match wanted > now {
            true => text.add_nodes(None, wanted - now),
            false => text.remove_nodes(None, now - wanted),
        };
        done.map_err(|problem| ApplyError::new(change, problem))?;
        new_conf = text.read().ok();
        pool.conf = Some(text.text());
    }
    let gone = resized(applied, change, at, wanted, (old_conf.as_ref(), new_conf.as_ref()))?;
    let processors = count_things(wanted.into(), "processor", "processors");
    applied.note(format!("the machine has {processors} instead of {now}"));
    let mut drafts = applied.drafts();
    leave_running(applied, &mut drafts, &gone);
    applied.rebuild(change, drafts)
}

/// Adds a partition of a higher tier on the same nodes, and moves jobs with short limits there.
pub(super) fn short_queue(applied: &mut Applied, change: &SiteChange, most: Span) -> Result<(), ApplyError> {
    needs_slurm(applied, change, "partitions")?;
    let mut number =
        applied.premises.pools.iter().flat_map(|p| &p.partitions).map(|p| p.number).max().unwrap_or(0).max(0);
    let numbers = applied.premises.workload.jobs().iter().map(|job| job.partition.max(job.queue)).max().unwrap_or(0);
    number = number.max(numbers);
    let name = "drystone-short".to_string();
    let mut of_pool = Vec::new();
    for pool in &mut applied.premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::of(conf);
        let read = text.read().map_err(|problem| ApplyError::new(change, problem))?;
        let tier = read.partitions.iter().map(|partition| partition.tier).max().unwrap_or(1);
        let factor = read.partitions.iter().map(|partition| partition.job_factor).max().unwrap_or(1);
        let own =
            pool.partitions.iter().map(|p| p.own).max().unwrap_or(0).max(read.partitions.len() as i32).max(numbers) + 1;
        number += 1;
        text.add_partition(&[
            ("PartitionName", name.clone()),
            ("Nodes", "ALL".to_string()),
            ("MaxTime", format!("{}", (most.0 + 59) / 60)),
            ("PriorityTier", (tier + 1).to_string()),
            ("PriorityJobFactor", factor.to_string()),
        ]);
        text.read().map_err(|problem| ApplyError::new(change, problem))?;
        pool.conf = Some(text.text());
        let mut names = pool.names.clone().unwrap_or_else(|| "kind,number,name\n".to_string());
        if !names.lines().any(|line| line.starts_with("partition,")) {
            for (at, partition) in read.partitions.iter().enumerate() {
                let _ = writeln!(names, "partition,{},{}", at + 1, partition.name);
            }
        }
        let _ = writeln!(names, "partition,{own},{name}");
        pool.names = Some(names);
        pool.partitions.push(PartitionPremises { name: name.clone(), number, own });
        of_pool.push(number);
    }
    let mut drafts = applied.drafts();
    let mut moved = 0_u64;
    applied.loosen(change, &mut drafts, |draft| draft.job.estimate <= most)?;
    for draft in &mut drafts {
        if draft.job.estimate <= most && !draft.place.is_some_and(|place| applied.is_running(place)) {
            draft.job.partition = of_pool[applied.premises.pool_of(&draft.job)];
            moved += 1;
        }
    }
    applied.note(format!(
        "{} with limits up to {} {} to a partition of a higher tier on the same nodes",
        count_things(moved, "job", "jobs"),
        length(most),
        if moved == 1 { "goes" } else { "go" }
    ));
    applied.rebuild(change, drafts)
}

/// Takes nodes out for a time, announced two weeks before.
pub(super) fn closure(
    applied: &mut Applied,
    change: &SiteChange,
    closure: &Closure,
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<(), ApplyError> {
    let wrong = |problem: String| ApplyError::new(change, problem);
    let begin = clock(&closure.begin).map_err(wrong)?;
    let (begin, moved) = within_the_log(applied, begin, closure.length);
    let end = begin.saturating_add(closure.length);
    let premises = &applied.premises;
    let pools: Vec<PoolPlace> = match &closure.of {
        None if closure.nodes.is_some() => vec![(premises.only_pool(change)?, None)],
        None => (0..premises.pools.len()).map(|at| (at, None)).collect(),
        Some(name) => places_of(premises, change, name)?,
    };
    let mut taken = 0_u32;
    for (at, ranges) in pools {
        let pool = &mut applied.premises.pools[at];
        let free = pool.procs - most_out(&pool.outages, begin, end).min(pool.procs);
        let which = match (ranges, closure.nodes) {
            (Some(ranges), None) => outage_processors(pool, &ranges, (begin, end)),
            (ranges, nodes) => {
                let room = ranges.map_or(pool.procs, |ranges| ranges.iter().map(|r| r.end - r.start).sum());
                let asked = nodes.map_or(room, |nodes| (f64::from(nodes) * pool.per_node).round() as u32);
                if asked > pool.procs {
                    let problem = format!("{} has {}", pool.name, count_things(pool.nodes().into(), "node", "nodes"));
                    return Err(ApplyError::new(change, problem));
                }
                Which::Count(asked.min(room).min(free))
            }
        };
        let outage = Outage::window(which, begin - NOTICE, begin, end);
        if outage.procs() > 0 {
            taken += (f64::from(outage.procs()) / pool.per_node).round() as u32;
            pool.outages.push(outage);
        }
    }
    if let Some(moved) = moved {
        applied.note(moved);
    }
    applied.note(format!(
        "{} out for {}, announced two weeks before: no job may run into it",
        count_things(taken.into(), "node is", "nodes are"),
        length(closure.length)
    ));
    Ok(())
}

/// Gives each job its nodes for itself, or lets jobs share them.
pub(super) fn sharing(applied: &mut Applied, change: &SiteChange, whole: bool) -> Result<(), ApplyError> {
    let single = applied.premises.pools.iter().all(|pool| pool.per_node <= 1.0);
    if single {
        let problem = match whole {
            true => "every node counts as one processor here, so a job has its nodes for itself already",
            false => {
                "jobs are counted in whole nodes here; import the accounting with `--count cpu`, so that what they use of a node is known"
            }
        };
        return Err(ApplyError::new(change, problem));
    }
    if !applied.premises.is_slurm {
        if !whole {
            return Err(ApplyError::new(change, "this policy counts processors: jobs share nodes already"));
        }
        let premises = &applied.premises;
        let mut drafts = applied.drafts();
        for draft in &mut drafts {
            let pool = &premises.pools[premises.pool_of(&draft.job)];
            let node = (pool.per_node * f64::from(pool.scale.max(1))).round().max(1.0) as u32;
            let most = pool.procs.saturating_mul(pool.scale.max(1));
            draft.job.procs = draft.job.procs.div_ceil(node).saturating_mul(node).min(most).max(draft.job.procs);
        }
        applied.note("sizes are rounded up to whole nodes".to_string());
        return applied.rebuild(change, drafts);
    }
    for pool in &mut applied.premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::of(conf);
        match whole {
            true => text.set_partition(None, "OverSubscribe", "EXCLUSIVE"),
            false => {
                text.set("SelectType", "select/cons_tres");
                text.set_partition(None, "OverSubscribe", "NO");
            }
        }
        text.read().map_err(|problem| ApplyError::new(change, problem))?;
        pool.conf = Some(text.text());
    }
    applied.note(match whole {
        true => "a node has one job: OverSubscribe=EXCLUSIVE in every partition",
        false => "jobs share nodes: SelectType=select/cons_tres",
    });
    Ok(())
}
