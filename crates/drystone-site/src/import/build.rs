//! From rows to a site.

use super::machine::{Placed, by_symbol, place};
use super::packing::packing;
use super::window::Window;
use super::{Arrive, Beside, Choices, Het, Options, Preempted, Size, Throttle, Wide, Withdraw, nothing_left};
use crate::capacity::{Cause, Closures, Loss, Reservation, Scene as CapacityScene, timeline};
use crate::clock::Zone;
use crate::error::SiteError;
use crate::jobs::{self, Found, Job, Kind, Marks, count};
use crate::machine::{Machine, Projection, Scene, project};
use crate::readers::{Carrier, Memory};
use crate::rows::{Intake, Table};
use crate::rules::{Rule, Tally};
use crate::site::{
    FileRead, Imported, Jobs, Manifest, NodeSummary, PartitionSummary, PoolSummary, SCHEMA, Setting, Site,
};
use crate::text::{Form, When};
use crate::watch::Watch;
use std::collections::BTreeSet;

/// What was read, and how.
pub(super) type FilesRead = Vec<(String, Carrier, u64)>;

/// Builds the site.
pub(super) fn build(
    mut intake: Intake,
    memory: Memory,
    mut beside: Beside,
    files: FilesRead,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Site, SiteError> {
    let choices = Choices {
        merge_preempted: options.preempted == Preempted::Merge,
        preempts_by_requeue: beside.machine.preempts_by_requeue,
        requested_size: options.size == Size::Requested,
        arrive_at_submit: options.arrive == Arrive::Submit,
    };
    (watch.phase)("finding jobs");
    let zone = intake.zone().cloned();
    let Intake { table, mut tally, orphans, hour_off, read, .. } = intake_parts(&mut intake);
    let Found { mut jobs, mut amounts, throttles } = jobs::find(&table, &mut tally, &choices, &orphans);
    watch.check()?;
    runaways(&mut jobs, &table, &mut tally);
    if options.withdraw == Withdraw::Drop {
        drop_withdrawn(&mut jobs, &table, &mut tally);
    }
    if jobs.is_empty() {
        return Err(nothing_left(read, &tally));
    }
    (watch.phase)("placing jobs");
    let placed = place(&mut beside, &table, &mut jobs, &amounts, &mut tally)?;
    jobs::set_limits(
        &mut jobs,
        &table,
        amounts.items(),
        &by_symbol(&beside.machine, &table),
        placed.described,
        &mut tally,
    );
    jobs::mark_causes(&mut jobs, &table, amounts.items(), &mut tally);
    if options.throttle != Throttle::Off {
        jobs::throttle(&mut jobs, &table, &throttles, options.throttle == Throttle::Infer, amounts.items(), &mut tally);
    }
    mark_reserved(&mut jobs, &table, amounts.items(), &mut tally);
    watch.check()?;
    let scene = Scene {
        machine: &beside.machine,
        table: &table,
        sets: &placed.sets,
        described: placed.described,
        count: options.count,
    };
    let numbered = || placed.pools.pools.iter().zip(0_u16..);
    let projections: Vec<Projection> =
        numbered().map(|(pool, number)| project(scene, pool, number, &mut jobs, &mut amounts)).collect();
    jobs::join_components(&mut jobs, &table, &mut amounts, options.het == Het::Split, &mut tally);
    too_wide(&mut jobs, &table, &projections, options, &mut tally)?;
    if jobs.is_empty() {
        return Err(nothing_left(read, &tally));
    }
    let imputed = jobs::impute_runs(&mut jobs, &table);
    tally.jobs(Rule::ImputedRun, imputed, 0, || crate::rules::Example::new(String::new(), b""));
    let edge = |text: &Option<String>, option| text.as_deref().map(|t| edge(t, option, zone.as_ref())).transpose();
    let window = Window::of(&jobs, edge(&options.from, "--from")?, edge(&options.until, "--until")?)?;
    outside(&mut jobs, &table, &window, &mut tally);
    if jobs.is_empty() {
        return Err(nothing_left(read, &tally));
    }
    sort(&mut jobs, &table);
    watch.check()?;
    (watch.phase)("capacity over time");
    let losses = losses(&mut beside, &placed, &table, &jobs, amounts.items(), &projections, &window);
    let mut manifest = Manifest {
        schema: SCHEMA.to_string(),
        cluster: cluster(&table, &beside.machine),
        time_zone: zone.as_ref().map_or("UTC".to_string(), |zone| zone.name().to_string()),
        files: files
            .into_iter()
            .map(|(name, carrier, rows)| FileRead { name, kind: carrier.name().to_string(), rows })
            .collect(),
        slurm_versions: memory.versions.iter().cloned().collect(),
        ignored_columns: memory.ignored.iter().cloned().collect(),
        options: options.settings().into_iter().map(|s| Setting { name: s.name, value: s.value }).collect(),
        rows: read,
        jobs: jobs.len() as u64,
        users: users(&jobs, &table),
        grace: beside.machine.grace,
        evidence: beside.machine.evidence.clone(),
        window,
        ..Manifest::default()
    };
    manifest.count(&tally);
    manifest.warnings = warnings(&beside, &manifest, &table, &jobs, hour_off, &memory);
    for ((pool, number), projection) in numbered().zip(&projections) {
        let gaps = packing(pool, number, projection, &beside.machine, &jobs, &table, amounts.items(), &placed.sets);
        let mut summary = summary(pool, number, projection, &beside.machine, &jobs, amounts.items());
        (summary.packing_fits, summary.packing_gaps) = (gaps.fits, gaps.gaps);
        summary.out = out(&losses, number, projection, &manifest.window);
        manifest.pools.push(summary);
    }
    let pool_name = |number: Option<u16>| number.map(|n| placed.pools.pools[usize::from(n)].name.clone());
    manifest.partitions = partitions(&beside.machine, &table, &placed, pool_name);
    let nodes = nodes(&beside.machine, &placed, pool_name);
    order_pools(&mut manifest, &mut jobs, losses).map(|losses| Site {
        manifest,
        nodes,
        losses,
        jobs: Jobs::Imported(Box::new(Imported { table, jobs, amounts, swf: Vec::new() })),
        slurm_conf: beside.slurm_conf,
        folder: None,
    })
}

/// The parts of an intake.
fn intake_parts(intake: &mut Intake) -> Intake {
    std::mem::replace(intake, Intake::new(crate::rows::Settings::default()))
}

/// The edge of a window: seconds since 1970, or a date or time of the site.
fn edge(text: &str, option: &str, zone: Option<&Zone>) -> Result<i64, SiteError> {
    let day = format!("{text}T00:00:00");
    let text = if text.len() == 10 && text.matches('-').count() == 2 { day.as_str() } else { text };
    match (Form::default().read(text.as_bytes()), zone) {
        (Ok(When::Epoch(moment)), _) => Ok(moment),
        (Ok(When::Civil(civil)), zone) => Ok(match zone.cloned().unwrap_or_else(Zone::utc).local(civil) {
            crate::clock::Local::Once(at) | crate::clock::Local::Twice(at, _) | crate::clock::Local::Skipped(at) => at,
        }),
        _ => Err(SiteError::Option(format!(
            "{option} {text}: expected a date such as 2026-01-31, a time such as 2026-01-31T12:00:00, or seconds since 1970"
        ))),
    }
}

/// A record that was never closed: it runs a day beyond its limit and longer, while another job started on one of its nodes.
fn runaways(jobs: &mut Vec<Job>, table: &Table, tally: &mut Tally) {
    const DAY: u32 = 86_400;
    let last = jobs.iter().map(|job| job.start.max(job.end).max(job.submit)).max().unwrap_or(0);
    let suspects: Vec<usize> = (0..jobs.len())
        .filter(|&at| {
            let (job, row) = (&jobs[at], table.rows.get(jobs[at].row));
            let limit = if let crate::text::Limit::Seconds(limit) = row.limit() { limit } else { return false };
            job.kind == Kind::Running && job.start.saturating_add(limit).saturating_add(DAY) < last
        })
        .collect();
    if suspects.is_empty() {
        return;
    }
    let expand = |job: &Job| -> BTreeSet<String> {
        let list = table.node_lists.text(table.rows.get(job.row).nodes);
        drystone_slurm::conf::expand_hostlist(&list).unwrap_or_default().into_iter().collect()
    };
    // When another job was started last on each of their nodes.
    let wanted: BTreeSet<String> = suspects.iter().flat_map(|&at| expand(&jobs[at])).collect();
    let mut latest: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    for job in jobs.iter().filter(|job| job.kind.started()) {
        for node in expand(job).into_iter().filter(|node| wanted.contains(node)) {
            let known = latest.entry(node).or_default();
            *known = (*known).max(job.start);
        }
    }
    let mut gone = BTreeSet::new();
    for at in suspects {
        let job = &jobs[at];
        let row = table.rows.get(job.row);
        let limit = if let crate::text::Limit::Seconds(limit) = row.limit() { limit } else { 0 };
        let over = job.start + limit + DAY;
        let nodes = expand(job);
        let given_away = nodes.iter().any(|node| latest.get(node).is_some_and(|&start| start > over));
        if given_away || (nodes.is_empty() && over + 6 * DAY < last) {
            tally.row(Rule::Runaway, 0, || jobs::example(table, row));
            gone.insert(at);
        }
    }
    let mut at = 0;
    jobs.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
}

fn drop_withdrawn(jobs: &mut Vec<Job>, table: &Table, tally: &mut Tally) {
    jobs.retain(|job| {
        let never = job.kind == Kind::Withdrawn;
        if never {
            count(tally, table, Rule::WithdrawDropped, table.rows.get(job.row), 0);
        }
        !never
    });
}

fn mark_reserved(jobs: &mut [Job], table: &Table, amounts: &[crate::text::Amount], tally: &mut Tally) {
    for job in jobs.iter_mut().filter(|job| job.kind.started()) {
        let row = table.rows.get(job.row);
        if table.at(row).reservation != crate::rows::Symbol(0) {
            job.marks.set(Marks::RESERVED);
            count(tally, table, Rule::Reserved, row, job.core_seconds(&amounts[job.amount as usize]));
        }
    }
}

fn too_wide(
    jobs: &mut Vec<Job>,
    table: &Table,
    projections: &[Projection],
    options: &Options,
    tally: &mut Tally,
) -> Result<(), SiteError> {
    let wide = |job: &Job| job.units > projections[usize::from(job.pool)].units;
    if options.wide == Wide::Error
        && let Some(job) = jobs.iter().find(|job| wide(job))
    {
        let row = table.rows.get(job.row);
        let has = projections[usize::from(job.pool)].units;
        return Err(SiteError::Option(format!(
            "{}: job {} needs {} of a pool of {has}; give the machine's true size, or --wide drop",
            table.files.text(row.place()),
            jobs::name(row),
            job.units
        )));
    }
    jobs.retain(|job| {
        let wide = wide(job);
        if wide {
            let run = if job.run == jobs::NOTHING { 0 } else { u64::from(job.run) };
            count(tally, table, Rule::Wide, table.rows.get(job.row), u64::from(job.units) * run);
        }
        !wide
    });
    Ok(())
}

/// Leaves out jobs that the window has no part of.
fn outside(jobs: &mut Vec<Job>, table: &Table, window: &Window, tally: &mut Tally) {
    jobs.retain(|job| {
        let over = job.kind != Kind::Waiting && job.end > 0 && i64::from(job.end) <= window.from;
        // A job of no length that ends as the window begins is in it.
        let over = over && i64::from(job.arrive) < window.from;
        let later = i64::from(job.arrive) > window.until;
        if over || later {
            count(tally, table, Rule::Outside, table.rows.get(job.row), 0);
        }
        !(over || later)
    });
}

/// In the order of arrival; of those that arrive at once, by number. Jobs are moved once, and where they are: there may be ten million.
fn sort(jobs: &mut [Job], table: &Table) {
    let key = |of: &u64| {
        let job = &jobs[*of as u32 as usize];
        let row = table.rows.get(job.row);
        let number = if job.task == jobs::NOTHING { row.id } else { row.of };
        (number, job.task, job.submit, job.attempt, job.start)
    };
    let mut order: Vec<u64> = jobs.iter().zip(0_u64..).map(|(job, at)| u64::from(job.arrive) << 32 | at).collect();
    order.sort_unstable();
    for at_once in order.chunk_by_mut(|a, b| a >> 32 == b >> 32).filter(|some| some.len() > 1) {
        at_once.sort_by_key(key);
    }
    let mut from: Vec<u32> = order.into_iter().map(|of| of as u32).collect();
    for first in 0..jobs.len() {
        let job = jobs[first];
        let mut to = first;
        loop {
            let next = std::mem::replace(&mut from[to], to as u32) as usize;
            if next == first || next == to {
                break;
            }
            jobs[to] = jobs[next];
            to = next;
        }
        jobs[to] = job;
    }
}

/// What pools lacked over time.
fn losses(
    beside: &mut Beside,
    placed: &Placed,
    table: &Table,
    jobs: &[Job],
    amounts: &[crate::text::Amount],
    projections: &[Projection],
    window: &Window,
) -> Vec<Loss> {
    let mut closures = Closures::default();
    closures.take(&placed.closures);
    let numbers: std::collections::BTreeMap<&str, u32> =
        beside.machine.nodes.iter().zip(0..).map(|(node, number)| (node.name.as_str(), number)).collect();
    let mut warnings = Vec::new();
    let mut unknown = 0_u64;
    let mut close = |list: &str, begin, end, cause| {
        let names = drystone_slurm::conf::expand_hostlist(list).unwrap_or_else(|_| vec![list.to_string()]);
        for name in names {
            match numbers.get(name.as_str()) {
                Some(&node) => closures.add(node, begin, end, cause),
                None => unknown += 1,
            }
        }
    };
    for event in beside.events.iter().filter(|event| !event.nodes.is_empty()) {
        close(&event.nodes, event.begin, event.end, Cause::Down);
    }
    let mut covered = BTreeSet::new();
    for reservation in &beside.reservations {
        if reservation.nodes.is_empty() {
            continue;
        }
        close(&reservation.nodes, reservation.begin, Some(reservation.end), Cause::Reservation);
        covered.insert(reservation.name.as_str());
    }
    let mut extra = reserved_jobs(jobs, table, &covered);
    extra.extend(bare_reservations(&beside.reservations, jobs, table, projections, &mut warnings));
    extra.extend(cluster_rows(beside, projections, &mut warnings));
    if unknown > 0 {
        warnings.push(format!(
            "{unknown} events or reservations are of nodes that no description and no job names: left out"
        ));
    }
    drop(numbers);
    let scene = CapacityScene {
        jobs,
        table,
        amounts,
        sets: &placed.sets,
        machine: &beside.machine,
        pools: &placed.pools,
        projections,
        records: (window.from, window.until),
    };
    let losses = timeline(&scene, closures, extra);
    beside.warnings.extend(warnings);
    losses
}

/// Jobs within reservations of which the nodes are unknown start when they started: others lack what they take.
fn reserved_jobs(jobs: &[Job], table: &Table, covered: &BTreeSet<&str>) -> Vec<Loss> {
    let mut losses = Vec::new();
    for job in jobs.iter().filter(|job| job.marks.has(Marks::RESERVED) && job.end != job.start) {
        let name = table.names.text(table.at(table.rows.get(job.row)).reservation);
        if covered.contains(name.as_ref()) {
            continue;
        }
        losses.push(Loss {
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

/// Reservations of processors on nodes that are not named take these from the only pool, where no job ran within them.
fn bare_reservations(
    reservations: &[Reservation],
    jobs: &[Job],
    table: &Table,
    projections: &[Projection],
    warnings: &mut Vec<String>,
) -> Vec<Loss> {
    let used: BTreeSet<String> = jobs
        .iter()
        .filter(|job| job.marks.has(Marks::RESERVED))
        .map(|job| table.names.text(table.at(table.rows.get(job.row)).reservation).into_owned())
        .collect();
    let bare = reservations.iter().filter(|r| r.nodes.is_empty() && !used.contains(&r.name));
    let mut losses = Vec::new();
    let mut left = 0;
    for reservation in bare {
        match (reservation.cpus, projections) {
            (Some(cpus), [only]) => losses.push(Loss {
                pool: 0,
                begin: reservation.begin,
                end: Some(reservation.end),
                units: ((f64::from(cpus) / only.cpus_per_unit).round() as u32).max(1),
                announced: Some(reservation.begin - crate::capacity::AHEAD),
                cause: Cause::Reservation,
            }),
            _ => left += 1,
        }
    }
    if left > 0 {
        warnings.push(format!(
            "{left} reservations say neither their nodes nor jobs that ran within them: left out; at the site: sacctmgr -P show reservation \
             format=Cluster,Name,NodeNames,TRES,Start,End"
        ));
    }
    losses
}

/// Rows about the whole cluster count where there is one pool and no row about nodes.
fn cluster_rows(beside: &Beside, projections: &[Projection], warnings: &mut Vec<String>) -> Vec<Loss> {
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
    let lost = |cpus: u32| u64::from(only.units).saturating_sub((f64::from(cpus) / only.cpus_per_unit).round() as u64);
    rows.into_iter()
        .filter_map(|event| {
            let units = u32::try_from(lost(event.cpus?)).ok().filter(|&units| units > 0)?;
            Some(Loss { pool: 0, begin: event.begin, end: event.end, units, announced: None, cause: Cause::Cluster })
        })
        .collect()
}

/// How many different users jobs have.
fn users(jobs: &[Job], table: &Table) -> u64 {
    let mut seen = vec![false; table.names.len()];
    jobs.iter().for_each(|job| seen[table.who(table.rows.get(job.row)).user.0 as usize] = true);
    seen.into_iter().filter(|&is| is).count() as u64
}

fn cluster(table: &Table, machine: &Machine) -> String {
    let named = table.at.items().iter().map(|at| table.names.text(at.cluster)).find(|name| !name.is_empty());
    named.map(|name| name.into_owned()).or(machine.cluster.clone()).unwrap_or_default()
}

/// What people should know, beyond the rules.
fn warnings(
    beside: &Beside,
    manifest: &Manifest,
    table: &Table,
    jobs: &[Job],
    (off, known): (u64, u64),
    memory: &Memory,
) -> Vec<String> {
    let mut warnings = beside.warnings.clone();
    if off * 10 > known && off > 10 {
        warnings.push(format!(
            "of {known} rows {off} have an end that is an hour off their start and run time: the time zone is wrong, or its summer time"
        ));
    }
    let named = |job: &Job| table.who(table.rows.get(job.row)).user != crate::rows::Symbol(0);
    if manifest.users == 1 && jobs.len() > 1 && jobs.iter().all(named) {
        warnings.push(
            "all jobs are of one user: where PrivateData=jobs is set, sacct -a shows an ordinary user that user's own jobs only; let an \
             operator run it"
                .to_string(),
        );
    }
    if let Some(joined) = manifest.rule(Rule::Joined).filter(|joined| joined.rows * 2 > manifest.rows) {
        warnings.push(format!(
            "in {} of {} rows the last column holds delimiters: the rows may have other columns than the header or --columns say",
            joined.rows, manifest.rows
        ));
    }
    for place in &memory.cut {
        warnings.push(format!("{place}: the file ends in the middle of a record, and what should follow is missing"));
    }
    if memory.pbs.unheard > 0 {
        warnings.push(format!(
            "{} jobs are deleted, aborted or changed by records, and nothing else is told of them: they were queued before the first record; \
             at the site: the files of the days before, too",
            memory.pbs.unheard
        ));
    }
    if let Some(cut) = manifest.rule(Rule::ArrayCut) {
        let told = format!(
            "{} rows stand for tasks whose list is cut: how many tasks are missing is unknown; at the site: SLURM_BITSTR_LEN=0 sacct …",
            cut.rows
        );
        warnings.push(told);
    }
    if jobs.iter().all(|job| job.limit_from == crate::jobs::LimitFrom::Year) {
        warnings.push(
            "no job has a limit, so each may run for a year as far as a policy knows, and none can be backfilled by its length; \
             --overrun exact or a predictor is the alternative, and every figure says which"
                .to_string(),
        );
    }
    let gap = longest_gap(jobs, &manifest.window);
    if let Some((from, until)) = gap {
        warnings.push(format!(
            "between {} and {} UTC no job arrives, starts or ends: a file is missing, or the site was down; at the site: sacct … -S {} -E {}",
            crate::clock::text(from),
            crate::clock::text(until),
            &crate::clock::text(from)[..10],
            &crate::clock::text(until + 86_400)[..10]
        ));
    }
    warnings
}

/// The longest time in which nothing happens, where it is days, and much longer than usual.
fn longest_gap(jobs: &[Job], window: &Window) -> Option<(i64, i64)> {
    if jobs.len() < 1_000 {
        return None;
    }
    let mut moments: Vec<u32> =
        jobs.iter().flat_map(|job| [job.arrive, job.start, job.end]).filter(|&t| i64::from(t) >= window.from).collect();
    moments.sort_unstable();
    let gap = moments.windows(2).max_by_key(|pair| pair[1] - pair[0])?;
    let span = moments.last()? - moments.first()?;
    let usual = u64::from(span) / moments.len() as u64;
    let long = u64::from(gap[1] - gap[0]);
    (long > 2 * 86_400 && long > 200 * usual.max(1)).then(|| (i64::from(gap[0]), i64::from(gap[1])))
}

fn summary(
    pool: &crate::machine::Pool,
    number: u16,
    projection: &Projection,
    machine: &Machine,
    jobs: &[Job],
    amounts: &[crate::text::Amount],
) -> PoolSummary {
    let percent = |(part, all): (u64, u64)| if all == 0 { 0.0 } else { part as f64 / all as f64 * 100.0 };
    let mine = || jobs.iter().filter(|job| job.pool == number);
    let (held, stood) = projection.inflated;
    PoolSummary {
        name: pool.name.clone(),
        unit: projection.unit,
        units: projection.units,
        cpus_per_unit: projection.cpus_per_unit,
        nodes: projection.nodes,
        cpus: projection.cpus,
        gpus: projection.gpus,
        described: projection.described,
        partitions: pool.partitions.iter().map(|&p| machine.partitions[p as usize].name.clone()).collect(),
        jobs: mine().count() as u64,
        core_seconds: mine()
            .filter(|job| job.kind == Kind::Ran)
            .map(|job| job.core_seconds(&amounts[job.amount as usize]))
            .sum(),
        whole_nodes: percent(projection.whole),
        with_gpus: percent(projection.with_gpus),
        dominant: projection.dominant,
        by_cpus: projection.dominated.cpus,
        by_memory: projection.dominated.memory,
        by_gpus: projection.dominated.gpus,
        inflated: if held == 0 { 0.0 } else { (stood as f64 / held as f64 - 1.0) * 100.0 },
        ..PoolSummary::default()
    }
}

/// The part of a pool's time that was out, in percent.
fn out(losses: &[Loss], pool: u16, projection: &Projection, window: &Window) -> f64 {
    let of = |loss: &Loss| {
        let end = loss.end.unwrap_or(window.until).min(window.until);
        (end - loss.begin.max(window.from)).max(0) as f64 * f64::from(loss.units)
    };
    let lost: f64 = losses.iter().filter(|loss| loss.pool == pool).map(of).sum();
    lost / ((window.until - window.from).max(1) as f64 * f64::from(projection.units.max(1))) * 100.0
}

fn partitions(
    machine: &Machine,
    table: &Table,
    placed: &Placed,
    pool_name: impl Fn(Option<u16>) -> Option<String>,
) -> Vec<PartitionSummary> {
    let pool = |name: &str| {
        let number = table.names.find(name.as_bytes()).and_then(|symbol| placed.pools.of_partition(symbol));
        pool_name(number)
    };
    machine
        .partitions
        .iter()
        .map(|p| PartitionSummary {
            name: p.name.clone(),
            pool: pool(&p.name),
            nodes: p.nodes.len() as u32,
            max_limit: p.max_limit,
            default_limit: p.default_limit,
            max_nodes: p.max_nodes,
            tier: p.tier,
            exclusive: p.exclusive,
        })
        .collect()
}

fn nodes(machine: &Machine, placed: &Placed, pool_name: impl Fn(Option<u16>) -> Option<String>) -> Vec<NodeSummary> {
    let one = |(node, number): (&crate::machine::Node, u32)| NodeSummary {
        name: node.name.clone(),
        cpus: node.cpus,
        memory_kb: node.memory_kb,
        gpus: node.gpus,
        pool: pool_name(placed.pools.of_node(number)),
        described: placed.described && number < placed.sets.described,
    };
    machine.nodes.iter().zip(0..).map(one).collect()
}

/// Puts the pool with most work first, and leaves out pools without a job.
fn order_pools(manifest: &mut Manifest, jobs: &mut [Job], losses: Vec<Loss>) -> Result<Vec<Loss>, SiteError> {
    let pools = std::mem::take(&mut manifest.pools);
    let mut order: Vec<usize> = (0..pools.len()).filter(|&at| pools[at].jobs > 0).collect();
    order.sort_by(|&a, &b| {
        pools[b].core_seconds.cmp(&pools[a].core_seconds).then_with(|| pools[a].name.cmp(&pools[b].name))
    });
    let idle: Vec<&str> = pools.iter().filter(|pool| pool.jobs == 0).map(|pool| pool.name.as_str()).collect();
    if !idle.is_empty() {
        manifest.warnings.push(format!("pools without a job are left out: {}", idle.join(", ")));
    }
    let mut moved = vec![None; pools.len()];
    for (new, &old) in order.iter().enumerate() {
        moved[old] = u16::try_from(new).ok();
    }
    manifest.pools = order.iter().map(|&at| pools[at].clone()).collect();
    jobs.iter_mut().for_each(|job| job.pool = moved[usize::from(job.pool)].unwrap_or(0));
    let keep = |loss: Loss| moved[usize::from(loss.pool)].map(|pool| Loss { pool, ..loss });
    let mut losses: Vec<Loss> = losses.into_iter().filter_map(keep).collect();
    losses.sort_unstable();
    Ok(losses)
}
