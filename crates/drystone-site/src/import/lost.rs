//! Capacity that pools lacked over time: by events, by reservations, and by jobs within
//! reservations.

use super::machine::DividedMachine;
use super::side_data::BesideData;
use crate::capacity::{
    Cause, Closures, NodeLoss, PoolLoss, SiteReservation, TimelineInputs as CapacityScene, build_timeline, nodes_out,
};
use crate::jobs::{FoundJob, JobMarks};
use crate::machine::Projection;
use crate::manifest::MeasuredWindow;
use crate::rows::AccountingTable;
use crate::words::count_noun;
use std::collections::BTreeSet;

/// Returns the capacity that pools lacked over time.
pub(super) fn find_losses(
    beside: &mut BesideData,
    division: &DividedMachine,
    table: &AccountingTable,
    jobs: &[FoundJob],
    amounts: &[crate::text::Amount],
    projections: &[Projection],
    window: &MeasuredWindow,
) -> (Vec<PoolLoss>, Vec<NodeLoss>) {
    let mut closures = Closures::default();
    closures.take_closures(&division.closures);
    let numbers: std::collections::BTreeMap<&str, u32> =
        beside.machine.nodes.iter().zip(0..).map(|(node, number)| (node.name.as_str(), number)).collect();
    let mut warnings = Vec::new();
    let (mut unknown, mut example) = (0_u64, String::new());
    let mut close = |list: &str, begin, end, cause| {
        if list.eq_ignore_ascii_case("ALL") {
            numbers.values().for_each(|&node| closures.add_closure(node, begin, end, cause));
            return;
        }
        let names = drystone_slurm::conf::expand_hostlist(list).unwrap_or_else(|_| vec![list.to_string()]);
        for name in names {
            match numbers.get(name.as_str()) {
                Some(&node) => closures.add_closure(node, begin, end, cause),
                None => {
                    unknown += 1;
                    if example.is_empty() {
                        example = name;
                    }
                }
            }
        }
    };
    for event in beside.events.iter().filter(|event| !event.nodes.is_empty()) {
        close(&event.nodes, event.begin, event.end, Cause::Down);
    }
    let mut covered_reservations = BTreeSet::new();
    for reservation in &beside.reservations {
        if reservation.nodes.is_empty() {
            continue;
        }
        close(&reservation.nodes, reservation.begin, Some(reservation.end), Cause::Reservation);
        covered_reservations.insert(reservation.name.as_str());
    }
    let mut extra = reserved_jobs(jobs, table, &covered_reservations);
    extra.extend(bare_reservations(&beside.reservations, jobs, table, projections, &mut warnings));
    extra.extend(cluster_rows(beside, projections, &mut warnings));
    if unknown > 0 {
        let plural =
            if unknown == 1 { "node of an event or reservation is" } else { "nodes of events or reservations are" };
        warnings.push(format!("{unknown} {plural} named by no description and no job, such as {example}: left out"));
    }
    drop(numbers);
    let scene = CapacityScene {
        jobs,
        table,
        amounts,
        sets: &division.sets,
        machine: &beside.machine,
        pools: &division.pools,
        projections,
        records: (window.from, window.until),
    };
    let unnamed_losses: Vec<PoolLoss> = extra.iter().filter(|loss| loss.cause != Cause::ReservedJob).copied().collect();
    let losses = build_timeline(&scene, &mut closures, extra);
    let mut nodes = nodes_out(&scene, &closures);
    nodes.extend(reserved_nodes(&scene, &covered_reservations));
    nodes.extend(unnamed_losses.iter().map(|loss| {
        let cpus = (f64::from(loss.units) * projections[usize::from(loss.pool)].cpus_per_unit).round() as u32;
        let (pool, begin, end, announced_time, cause) = (loss.pool, loss.begin, loss.end, loss.announced, loss.cause);
        NodeLoss { pool, begin, end, node: String::new(), cpus: Some(cpus), announced: announced_time, cause }
    }));
    let (first, last) = scene.records;
    nodes.retain(|loss| loss.begin < last && loss.end.is_none_or(|end| end > first && end > loss.begin));
    nodes.iter_mut().for_each(|loss| loss.begin = loss.begin.max(first));
    nodes.sort_unstable();
    beside.warnings.extend(warnings);
    (losses, nodes)
}

/// Jobs within reservations of which the nodes are unknown start when they started: others lack
/// what they take.
fn reserved_jobs(jobs: &[FoundJob], table: &AccountingTable, cover: &BTreeSet<&str>) -> Vec<PoolLoss> {
    let mut losses = Vec::new();
    for job in jobs.iter().filter(|job| job.marks.has_mark(JobMarks::RESERVED) && job.end != job.start) {
        let name = table.names.text_of(table.place_of(table.rows.get(job.row)).reservation);
        if cover.contains(name.as_ref()) {
            continue;
        }
        losses.push(PoolLoss {
            pool: job.pool,
            begin: i64::from(job.start),
            end: (job.end > 0).then_some(i64::from(job.end)),
            units: job.units,
            announced: Some(i64::from(job.submit.min(job.start))),
            cause: Cause::ReservedJob,
        });
    }
    losses
}

/// The processors that jobs within reservations have of each of their nodes, where the nodes of the
/// reservation are unknown.
fn reserved_nodes(scene: &CapacityScene<'_>, cover: &BTreeSet<&str>) -> Vec<NodeLoss> {
    let table = scene.table;
    let mut losses = Vec::new();
    for job in scene.jobs.iter().filter(|job| job.marks.has_mark(JobMarks::RESERVED) && job.end != job.start) {
        let row = table.rows.get(job.row);
        if cover.contains(table.names.text_of(table.place_of(row).reservation).as_ref()) {
            continue;
        }
        let amount = &scene.amounts[job.amount as usize];
        let list = row.nodes;
        let count = scene.sets.len(list);
        let loss = |node: String, cpus: u32| NodeLoss {
            pool: job.pool,
            begin: i64::from(job.start),
            end: (job.end > 0).then_some(i64::from(job.end)),
            node,
            cpus: Some(cpus),
            announced: Some(i64::from(job.submit.min(job.start))),
            cause: Cause::ReservedJob,
        };
        if count == 0 {
            losses.push(loss(String::new(), amount.cpus));
        } else {
            let cpus = amount.cpus.div_ceil(count);
            let node_names = scene.sets.list_nodes(list).map(|node| scene.machine.nodes[node as usize].name.clone());
            losses.extend(node_names.map(|node| loss(node, cpus)));
        }
    }
    losses
}

/// Reservations of processors on nodes that are not named take these from the only pool, where no
/// job ran within them.
fn bare_reservations(
    reservations: &[SiteReservation],
    jobs: &[FoundJob],
    table: &AccountingTable,
    projections: &[Projection],
    warnings: &mut Vec<String>,
) -> Vec<PoolLoss> {
    let used_names: BTreeSet<String> = jobs
        .iter()
        .filter(|job| job.marks.has_mark(JobMarks::RESERVED))
        .map(|job| table.names.text_of(table.place_of(table.rows.get(job.row)).reservation).into_owned())
        .collect();
    let bare = reservations.iter().filter(|r| r.nodes.is_empty() && !used_names.contains(&r.name));
    let mut losses = Vec::new();
    let mut skipped_count = 0;
    for reservation in bare {
        match (reservation.cpus, projections) {
            (Some(cpus), [only]) => losses.push(PoolLoss {
                pool: 0,
                begin: reservation.begin,
                end: Some(reservation.end),
                units: ((f64::from(cpus) / only.cpus_per_unit).round() as u32).max(1),
                announced: Some(reservation.begin - crate::capacity::AHEAD),
                cause: Cause::Reservation,
            }),
            _ => skipped_count += 1,
        }
    }
    if skipped_count > 0 {
        warnings.push(format!(
            "{} without nodes and without jobs that ran within: left out; at the site: sacctmgr -P show reservation \
             format=Cluster,Name,NodeNames,TRES,Start,End",
            count_noun(skipped_count, "reservation")
        ));
    }
    losses
}

/// Rows about the whole cluster count where there is one pool and no row about nodes.
fn cluster_rows(beside: &BesideData, projections: &[Projection], warnings: &mut Vec<String>) -> Vec<PoolLoss> {
    let rows: Vec<_> = beside.events.iter().filter(|event| event.nodes.is_empty() && event.cpus.is_some()).collect();
    if rows.is_empty() || beside.events.iter().any(|event| !event.nodes.is_empty()) {
        return Vec::new();
    }
    let [only] = projections else {
        warnings.push(
            "events count the whole cluster, which has several pools: which of them lacked processors is not said"
                .to_string(),
        );
        return Vec::new();
    };
    let lost_units =
        |cpus: u32| u64::from(only.units).saturating_sub((f64::from(cpus) / only.cpus_per_unit).round() as u64);
    rows.into_iter()
        .filter_map(|event| {
            let units = u32::try_from(lost_units(event.cpus?)).ok().filter(|&units| units > 0)?;
            Some(PoolLoss {
                pool: 0,
                begin: event.begin,
                end: event.end,
                units,
                announced: None,
                cause: Cause::Cluster,
            })
        })
        .collect()
}
