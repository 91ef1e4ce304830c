//! From rows to a site.

use super::lost::find_losses;
use super::machine::{DividedMachine, by_symbol, place_on_machine};
use super::nothing_left;
use super::packing::check_packing;
use super::runaways::settle_runaways;
use super::side_data::BesideData;
use super::strangers::describe_strangers;
use super::summary::{order_pools, outage_percent, sum_work, summarise_nodes, summarise_partitions, summarise_pool};
use super::warnings::list_warnings;
use super::zones;
use crate::capacity::PoolLoss;
use crate::clock::Zone;
use crate::edge::parse_edge;
use crate::error::SiteError;
use crate::jobs::{self, FoundJob, FoundJobs, JobMarks, SiteJobFate, count_rule};
use crate::machine::{PoolUnit, Projection, ProjectionInputs, SiteMachine, project_pools};
use crate::manifest::MeasuredWindow;
use crate::manifest::{FileRead, Manifest, PoolSummary, SCHEMA, SiteSetting};
use crate::options::{Arrive, Het, ImportOptions, JobChoices, Preempted, Size, Throttle, Wide, Withdraw};
use crate::readers::{Carrier, ReaderMemory};
use crate::rows::{AccountingTable, Interner, RowIntake};
use crate::rules::{ImportRule, RuleTally};
use crate::site::{Imported, Site, SiteJobs};
use crate::sweep::{Crew, by_moment};
use crate::text::Amount;
use crate::watch::ImportObserver;
use drystone::model::SharedSort;
use drystone_slurm::accounts::Accounts;
use std::collections::{BTreeMap, BTreeSet};

/// Files read, with their carriers and rows.
pub(super) type FilesRead = Vec<(String, Carrier, u64)>;

pub(super) fn build_site(
    mut intake: RowIntake,
    memory: ReaderMemory,
    beside: BesideData,
    files: FilesRead,
    options: &ImportOptions,
    watch: &ImportObserver<'_>,
) -> Result<Site, SiteError> {
    let zone = intake.zone().cloned();
    (watch.phase)("finding jobs");
    let mut making = Making::find_jobs(&mut intake, beside, (options, &memory.carriers), watch)?;
    (watch.phase)("placing jobs");
    let mut placed_machine = making.place_jobs()?;
    watch.check_stop()?;
    let projections = making.project_jobs(&mut placed_machine)?;
    let window = making.cut_window(zone.as_ref())?;
    watch.check_stop()?;
    (watch.phase)("capacity over time");
    let Making { beside, table, jobs, amounts, .. } = &mut making;
    let (losses, node_losses) =
        find_losses(beside, &placed_machine, table, jobs, amounts.items(), &projections, &window);
    let mut manifest = making.make_manifest(files, &memory, zone.as_ref(), window);
    manifest.warnings = list_warnings(&making.beside, &manifest, &making.table, &making.jobs, &memory);
    let zone_name = zone.as_ref().map_or("UTC", Zone::name);
    manifest.warnings.extend(zones::wrong_zone(making.hour_off, &making.off_spans, zone_name));
    manifest.pools = making.summarise_pools(&placed_machine, &projections, &losses, &manifest.window);
    let Making { beside, table, mut jobs, amounts, .. } = making;
    let pool_name = |number: Option<u16>| number.map(|n| placed_machine.pools.pools[usize::from(n)].name.clone());
    manifest.partitions = summarise_partitions(&beside.machine, &table, &placed_machine, pool_name);
    let nodes = summarise_nodes(&beside.machine, &placed_machine, pool_name);
    let (losses, node_losses) = order_pools(&mut manifest, &mut jobs, (losses, node_losses))?;
    let mut site = Site {
        manifest,
        nodes,
        losses,
        jobs: SiteJobs::Imported(Box::new(Imported { table, jobs, amounts, swf: Vec::new() })),
        slurm_conf: beside.slurm_conf,
        accounts: beside.accounts,
        node_losses,
        folder: None,
        keeps_limits: true,
        on_nodes: false,
        fill: None,
    };
    warn_of_contradictions(&mut site);
    let places: Vec<u32> = (0..site.len()).filter_map(|at| u32::try_from(at).ok()).collect();
    site.manifest.limits = u32::try_from(site.limits_at(&places).limits().len()).unwrap_or(u32::MAX);
    let unknown = site.unknown_limits();
    site.manifest.warnings.extend(unknown);
    Ok(site)
}

/// Warns of demands that the description of the machine does not meet, with what is assumed.
fn warn_of_contradictions(site: &mut Site) {
    // As it is simulated; the account of the import counts its own units.
    let (manifest, losses) = (site.manifest.clone(), site.losses.clone());
    if site.take_nodes() {
        let pools: Vec<u16> = (0..site.manifest.pools.len()).filter_map(|at| u16::try_from(at).ok()).collect();
        let places: Vec<u32> = (0..site.len()).filter_map(|at| u32::try_from(at).ok()).collect();
        let warning_result =
            site.find_demands(&pools, &places).map(|demands| [site.describe_crowded(&demands), demands.told].concat());
        let warnings = warning_result.unwrap_or_default();
        (site.manifest, site.losses, site.on_nodes) = (manifest, losses, false);
        site.manifest.on_nodes = true;
        site.manifest.warnings.extend(warnings);
        site.manifest.warnings.extend(describe_strangers(site));
        site.manifest.warnings.extend(limits_apart(site));
    }
}

/// Describes what fair share lacks where pools have schedulers of their own.
fn limits_apart(site: &Site) -> Option<String> {
    let pools = site.manifest.pools.len();
    let accounts = Accounts::parse(site.accounts.as_deref()?, "accounts.txt").ok()?;
    (pools > 1 && accounts.limits_anything()).then(|| {
        format!(
            "the use that fair share counts under slurm is that of each of the {pools} pools by itself, since each has a scheduler of its own; the \
             cluster counts it over all pools"
        )
    })
}

/// A site in the making.
struct Making<'a> {
    beside: BesideData,
    table: AccountingTable,
    jobs: Vec<FoundJob>,
    amounts: Interner<Amount>,
    tally: RuleTally,
    /// Tasks of each array that run at once at most, where a row says so.
    throttles: BTreeMap<u64, u32>,
    /// Set where a job is a component of a heterogeneous job.
    components: bool,
    /// Rows that were read.
    read: u64,
    /// Rows whose end minus start is an hour off their run time, and all rows that have these
    /// three.
    hour_off: (u64, u64),
    /// Local start, local end and run time of some of the former.
    off_spans: Vec<(i64, i64, i64)>,
    carriers: BTreeSet<Carrier>,
    options: &'a ImportOptions,
}

impl<'a> Making<'a> {
    /// Jobs from rows, without those that never ended and, where so asked, those that were
    /// withdrawn.
    fn find_jobs(
        intake: &mut RowIntake,
        beside: BesideData,
        (options, carriers): (&'a ImportOptions, &BTreeSet<Carrier>),
        watch: &ImportObserver<'_>,
    ) -> Result<Making<'a>, SiteError> {
        let carriers = carriers.clone();
        let choices = JobChoices {
            merge_preempted: options.preempted == Preempted::Merge,
            preempts_by_requeue: beside.machine.preempts_by_requeue,
            requested_size: options.size == Size::Requested,
            arrive_at_submit: options.arrive == Arrive::Submit,
        };
        let RowIntake { table, mut tally, orphans, hour_off, off_spans, read, .. } = intake_parts(intake);
        let crew = Crew::for_effort(options.effort);
        let FoundJobs { mut jobs, amounts, throttles, components } =
            jobs::find_attempts(&table, &mut tally, &choices, &orphans, crew);
        watch.check_stop()?;
        settle_runaways(&mut jobs, &table, &beside.machine, amounts.items(), &mut tally, crew);
        if options.withdraw == Withdraw::Drop {
            drop_withdrawn(&mut jobs, &table, &mut tally);
        }
        let making = Making {
            beside,
            table,
            jobs,
            amounts,
            tally,
            throttles,
            components,
            read,
            hour_off,
            off_spans,
            carriers,
            options,
        };
        making.has_jobs()?;
        Ok(making)
    }

    fn has_jobs(&self) -> Result<(), SiteError> {
        if self.jobs.is_empty() { Err(nothing_left(self.read, &self.tally, &self.carriers)) } else { Ok(()) }
    }

    /// Gives every job its pool, and marks what kept it from starting.
    fn place_jobs(&mut self) -> Result<DividedMachine, SiteError> {
        let Making { beside, table, jobs, amounts, tally, throttles, options, .. } = self;
        let crew = Crew::for_effort(options.effort);
        let placed_machine = place_on_machine(beside, table, jobs, amounts, tally, crew)?;
        let partitions = by_symbol(&beside.machine, table);
        let limits = jobs::DefaultLimits::from_jobs(jobs, table, &partitions, placed_machine.described, crew);
        let (causes, table, amounts) = (jobs::find_cause_notes(table), &*table, amounts.items());
        nodes_that_differ(jobs, table, amounts, &placed_machine.sets, tally);
        let part_tallies = crew.map_parts_mut(jobs, |jobs| {
            let mut tally = RuleTally::default();
            // As many jobs at once as stay at hand.
            for jobs in jobs.chunks_mut(1 << 10) {
                jobs::set_limits(jobs, table, amounts, &limits, &mut tally);
                jobs::mark_causes(jobs, table, amounts, &causes, &mut tally);
                mark_reserved(jobs, table, amounts, &mut tally);
            }
            tally
        });
        part_tallies.into_iter().for_each(|part_tally| tally.absorb_tally(part_tally));
        if options.throttle != Throttle::Off {
            jobs::throttle_arrays(jobs, table, throttles, options.throttle == Throttle::Infer, amounts, tally);
        }
        Ok(placed_machine)
    }

    /// Counts what each job takes of its pool, and leaves out those that are too wide for it.
    fn project_jobs(&mut self, division: &mut DividedMachine) -> Result<Vec<Projection>, SiteError> {
        let Making { beside, table, jobs, amounts, tally, components, options, .. } = self;
        let crew = Crew::for_effort(options.effort);
        let scene = ProjectionInputs {
            machine: &beside.machine,
            table,
            sets: &division.sets,
            described: division.described,
            count: options.count,
            crew,
        };
        let projections = project_pools(scene, &division.pools.pools, jobs, amounts, tally);
        if *components {
            jobs::join_components(jobs, table, &mut division.sets, amounts, options.het == Het::Split, tally);
        }
        let room = pool_room(beside, division, &projections);
        too_wide(jobs, table, &room, options, tally)?;
        self.has_jobs()?;
        Ok(projections)
    }

    /// Leaves out what the window has no part of, and puts the rest in order.
    fn cut_window(&mut self, zone: Option<&Zone>) -> Result<MeasuredWindow, SiteError> {
        let Making { table, jobs, tally, options, .. } = self;
        let crew = Crew::for_effort(options.effort);
        let imputed_count = jobs::impute_runs(jobs, table, crew);
        tally.count_jobs(ImportRule::ImputedRun, imputed_count, 0, || crate::rules::Example::new(String::new(), b""));
        let last = MeasuredWindow::last_moment(jobs);
        let edge =
            |text: &Option<String>, option| text.as_deref().map(|t| parse_edge(t, option, zone, last)).transpose();
        let window =
            MeasuredWindow::from_jobs(jobs, edge(&options.from, "--from")?, edge(&options.until, "--until")?, crew)?;
        drop_outside(jobs, table, &window, tally, crew);
        let until = u32::try_from(window.until).unwrap_or(u32::MAX);
        let amounts = self.amounts.items();
        let running_jobs = jobs.iter().filter(|job| job.kind == SiteJobFate::Running);
        let work = |job: &FoundJob| job.core_seconds_until(until, &amounts[job.amount as usize]);
        tally.add_work(ImportRule::Running, running_jobs.map(work).sum());
        self.has_jobs()?;
        sort_jobs(&mut self.jobs, &self.table);
        Ok(window)
    }

    fn make_manifest(
        &self,
        files: FilesRead,
        memory: &ReaderMemory,
        zone: Option<&Zone>,
        window: MeasuredWindow,
    ) -> Manifest {
        let machine = &self.beside.machine;
        let read_entry =
            |(name, carrier, rows): (String, Carrier, u64)| FileRead { name, kind: carrier.name().to_string(), rows };
        let mut manifest = Manifest {
            schema: SCHEMA.to_string(),
            cluster: cluster_name(&self.table, machine),
            time_zone: zone.map_or("UTC".to_string(), |zone| zone.name().to_string()),
            files: files.into_iter().map(read_entry).collect(),
            slurm_versions: memory.versions.iter().cloned().collect(),
            ignored_columns: memory.ignored.iter().cloned().collect(),
            options: self
                .options
                .settings()
                .into_iter()
                .map(|s| SiteSetting { name: s.name, value: s.value })
                .collect(),
            rows: self.read,
            jobs: self.jobs.len() as u64,
            users: count_users(&self.jobs, &self.table, Crew::for_effort(self.options.effort)),
            grace: machine.grace,
            evidence: machine.evidence.clone(),
            window,
            ..Manifest::default()
        };
        manifest.count_rules(&self.tally);
        manifest
    }

    fn summarise_pools(
        &self,
        division: &DividedMachine,
        projections: &[Projection],
        losses: &[PoolLoss],
        window: &MeasuredWindow,
    ) -> Vec<PoolSummary> {
        let (machine, amounts) = (&self.beside.machine, self.amounts.items());
        let pools = division.pools.pools.iter().zip(0_u16..).zip(projections);
        let work =
            sum_work(&self.jobs, amounts, (projections.len(), window.until), Crew::for_effort(self.options.effort));
        let say = |((pool, number), projection)| {
            let gaps =
                check_packing(pool, number, projection, machine, &self.jobs, &self.table, amounts, &division.sets);
            let mut summary = summarise_pool(pool, projection, machine, work[usize::from(number)]);
            (summary.packing_fits, summary.packing_gaps) = (gaps.fits, gaps.gaps);
            summary.out = outage_percent(losses, number, projection, window);
            summary
        };
        pools.map(say).collect()
    }
}

fn intake_parts(intake: &mut RowIntake) -> RowIntake {
    std::mem::replace(intake, RowIntake::new(crate::rows::ReadSettings::default()))
}

fn drop_withdrawn(jobs: &mut Vec<FoundJob>, table: &AccountingTable, tally: &mut RuleTally) {
    jobs.retain(|job| {
        let never = job.kind == SiteJobFate::Withdrawn;
        if never {
            count_rule(tally, table, ImportRule::WithdrawDropped, table.rows.get(job.row), 0);
        }
        !never
    });
}

/// Counts jobs whose list of nodes contradicts their number of nodes or processors.
fn nodes_that_differ(
    jobs: &[FoundJob],
    table: &AccountingTable,
    amounts: &[Amount],
    sets: &crate::machine::NodeSets,
    tally: &mut RuleTally,
) {
    for job in jobs.iter().filter(|job| job.kind.has_start()) {
        let row = table.rows.get(job.row);
        let listed_count = sets.len(row.nodes);
        let held_amount = &table.shape_of(row).held;
        let is_known = |count: u32| count != crate::text::UNKNOWN && count > 0;
        let differs = (is_known(held_amount.nodes) && held_amount.nodes != listed_count)
            || (is_known(held_amount.cpus) && held_amount.cpus < listed_count);
        if listed_count > 0 && differs {
            count_rule(tally, table, ImportRule::NodesDiffer, row, job.core_seconds(&amounts[job.amount as usize]));
        }
    }
}

fn mark_reserved(
    jobs: &mut [FoundJob],
    table: &AccountingTable,
    amounts: &[crate::text::Amount],
    tally: &mut RuleTally,
) {
    for job in jobs.iter_mut().filter(|job| job.kind.has_start()) {
        let row = table.rows.get(job.row);
        if table.place_of(row).reservation != crate::rows::Symbol(0) {
            job.marks.set_mark(JobMarks::RESERVED);
            count_rule(tally, table, ImportRule::Reserved, row, job.core_seconds(&amounts[job.amount as usize]));
        }
    }
}

/// Returns the most units that a job can have in each pool. Where Slurm gives out the nodes, a job
/// has those of one partition; nodes that the description lacks may be of any.
fn pool_room(beside: &BesideData, division: &DividedMachine, projections: &[Projection]) -> Vec<u32> {
    let SiteMachine { nodes, partitions, .. } = &beside.machine;
    let of_pool = |(pool, projection): (&crate::machine::NodePool, &Projection)| {
        if beside.slurm_conf.is_none() || projection.unit != PoolUnit::Cpu {
            return projection.units;
        }
        let cpus = |node: &u32| u64::from(nodes[*node as usize].cpus);
        let added_cpus: u64 = pool.nodes.iter().filter(|&&node| node >= division.sets.described).map(cpus).sum();
        let own = |number: &u32| partitions[*number as usize].nodes.iter().map(cpus).sum::<u64>();
        let widest = pool.partitions.iter().map(own).max().filter(|&most| most > 0);
        let most = widest.map_or(u64::MAX, |most| most + added_cpus);
        projection.units.min(u32::try_from(most).unwrap_or(u32::MAX))
    };
    division.pools.pools.iter().zip(projections).map(of_pool).collect()
}

fn too_wide(
    jobs: &mut Vec<FoundJob>,
    table: &AccountingTable,
    room: &[u32],
    options: &ImportOptions,
    tally: &mut RuleTally,
) -> Result<(), SiteError> {
    let wide = |job: &FoundJob| job.units > room[usize::from(job.pool)];
    if !Crew::for_effort(options.effort).any_job(jobs, wide) {
        return Ok(());
    }
    if options.wide == Wide::Error
        && let Some(job) = jobs.iter().find(|job| wide(job))
    {
        let row = table.rows.get(job.row);
        let has = room[usize::from(job.pool)];
        return Err(SiteError::Option(format!(
            "{}: job {} needs {} of a pool of {has}; give the machine's true size, or --wide drop",
            table.files.format_place(row.place()),
            jobs::format_name(row),
            job.units
        )));
    }
    jobs.retain(|job| {
        let wide = wide(job);
        if wide {
            let run = if job.run == jobs::NOTHING { 0 } else { u64::from(job.run) };
            count_rule(tally, table, ImportRule::Wide, table.rows.get(job.row), u64::from(job.units) * run);
        }
        !wide
    });
    Ok(())
}

/// Leaves out jobs that the window has no part of.
fn drop_outside(
    jobs: &mut Vec<FoundJob>,
    table: &AccountingTable,
    window: &MeasuredWindow,
    tally: &mut RuleTally,
    crew: Crew,
) {
    let is_outside = |job: &FoundJob| {
        let over = job.kind != SiteJobFate::Waiting && job.end > 0 && i64::from(job.end) <= window.from;
        // A job of no length that ends as the window begins is in it.
        let over = over && i64::from(job.arrive) < window.from;
        let later = i64::from(job.arrive) > window.until;
        over || later
    };
    if !crew.any_job(jobs, is_outside) {
        return;
    }
    jobs.retain(|job| {
        let outside = is_outside(job);
        if outside {
            count_rule(tally, table, ImportRule::Outside, table.rows.get(job.row), 0);
        }
        !outside
    });
}

/// In the order of arrival; of those that arrive at once, by number. Jobs are moved once, and where
/// they are: there may be ten million.
fn sort_jobs(jobs: &mut [FoundJob], table: &AccountingTable) {
    let key = |of: &u64| {
        let job = &jobs[*of as u32 as usize];
        let row = table.rows.get(job.row);
        let number = if job.task == jobs::NOTHING { row.id } else { row.of };
        (number, job.task, job.submit, job.attempt, job.start)
    };
    let mut order = by_moment(jobs.iter().zip(0_u64..).map(|(job, at)| u64::from(job.arrive) << 32 | at).collect());
    for at_once in order.chunk_by_mut(|a, b| a >> 32 == b >> 32).filter(|some| some.len() > 1) {
        at_once.sort_shared_by_key(key);
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

/// Distinct users; 0 where no job names one.
fn count_users(jobs: &[FoundJob], table: &AccountingTable, crew: Crew) -> u64 {
    let parts = crew.map_parts(jobs, |jobs| {
        let mut seen_users = vec![false; table.who.items().len()];
        jobs.iter().for_each(|job| seen_users[table.rows.get(job.row).who as usize] = true);
        seen_users
    });
    let is_seen = |at: usize| parts.iter().any(|marks| marks[at]);
    let users: BTreeSet<crate::rows::Symbol> =
        table.who.items().iter().enumerate().filter(|(at, _)| is_seen(*at)).map(|(_, person)| person.user).collect();
    // The empty name is none.
    users.iter().filter(|user| **user != crate::rows::Symbol(0)).count() as u64
}

fn cluster_name(table: &AccountingTable, machine: &SiteMachine) -> String {
    let recorded_name = table.at.items().iter().map(|at| table.names.text_of(at.cluster)).find(|name| !name.is_empty());
    recorded_name.map(|name| name.into_owned()).or(machine.cluster.clone()).unwrap_or_default()
}
