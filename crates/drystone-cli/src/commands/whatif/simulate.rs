//! Simulates before and after, several at a time.

use super::baseline::WhatIfBaseline;
use crate::args::WhatifArgs;
use crate::exit::CommandFailure;
use crate::parallel;
use crate::progress::WorkProgress;
use drystone::engine::{Observer, SimulationError};
use drystone::experiment::{Experiment, ExperimentError, PoolDivision, PoolShare};
use drystone::metrics::{JobRow, JobSelection, MetricsConfig};
use drystone::model::{JobId, Machine, Outages, Span, Time, Workload};
use drystone::policy::{PolicySpec, StartReason};
use drystone_advise::Periods;
use drystone_advise::quote_value;
use drystone_slurm::site::STANDSTILL;
use drystone_whatif::{Applied, ChangeList, PoolPremises, SiteChange};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// Run times below this count as this much in bounded slowdowns, as in every report.
const BOUND: f64 = 10.0;

pub(crate) struct WhatIfInputs<'a> {
    pub(crate) args: &'a WhatifArgs,
    pub(crate) baseline: &'a WhatIfBaseline,
    pub(crate) selection: JobSelection,
    pub(crate) stop: &'a AtomicBool,
}

/// A job of the site as it is, before or after.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct JobFate {
    /// Its wait, in seconds; NaN where it was not simulated to its end.
    pub(crate) wait: f64,
    /// The time that it ran, in seconds.
    pub(crate) ran: f64,
    pub(crate) counted: bool,
}

const NEVER: JobFate = JobFate { wait: f64::NAN, ran: 0.0, counted: false };

/// Figures over all jobs that count.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub(super) struct ScenarioFigures {
    /// Jobs that count.
    pub(super) jobs: u64,
    /// Mean wait in seconds.
    pub(super) wait_mean: f64,
    /// The wait that 95 % of the jobs do not exceed, in seconds.
    pub(super) wait_p95: f64,
    /// Longest wait in seconds.
    pub(super) wait_max: f64,
    pub(super) bounded_slowdown_mean: f64,
    /// Share of the processors that were up which are in use, as in every report.
    pub(super) utilisation: f64,
}

pub(crate) struct ScenarioRun {
    /// By place among the jobs before.
    pub(crate) fates: Vec<JobFate>,
    pub(super) added: Vec<JobFate>,
    pub(super) utilisation: f64,
    /// The premises without jobs that could never run, where there were such.
    pub(super) repaired: Option<Applied>,
}

/// The site as it is, simulated.
pub(crate) struct Before {
    pub(crate) ran: ScenarioRun,
    pub(crate) workload: Workload,
    pub(crate) periods: Periods,
}

pub(super) struct SimulatedScenarios {
    pub(super) before: Before,
    pub(super) after: Vec<Option<ScenarioRun>>,
    /// Difference of the mean wait between two phases of Slurm's clocks, in seconds.
    pub(super) noise: Option<f64>,
}

impl ScenarioRun {
    fn counted_fates(&self) -> impl Iterator<Item = &JobFate> + '_ {
        self.fates.iter().chain(&self.added).filter(|fate| fate.counted && fate.wait.is_finite())
    }

    pub(super) fn compute_figures(&self) -> ScenarioFigures {
        let mut waits: Vec<f64> = self.counted_fates().map(|fate| fate.wait).collect();
        waits.sort_unstable_by(f64::total_cmp);
        let jobs = waits.len();
        let divisor = jobs.max(1) as f64;
        let slowdown = |fate: &JobFate| ((fate.wait + fate.ran) / fate.ran.max(BOUND)).max(1.0);
        ScenarioFigures {
            jobs: jobs as u64,
            wait_mean: waits.iter().sum::<f64>() / divisor,
            wait_p95: jobs.checked_sub(1).map_or(0.0, |last| waits[(jobs * 95).div_ceil(100).clamp(1, last + 1) - 1]),
            wait_max: waits.last().copied().unwrap_or(0.0),
            bounded_slowdown_mean: self.counted_fates().map(slowdown).sum::<f64>() / divisor,
            utilisation: self.utilisation,
        }
    }
}

impl Before {
    pub(super) fn compute_figures(&self) -> ScenarioFigures {
        self.ran.compute_figures()
    }

    pub(super) fn counted_places(&self) -> impl Iterator<Item = usize> + '_ {
        let fates = self.ran.fates.iter().enumerate();
        fates.filter(|(_, fate)| fate.counted && fate.wait.is_finite()).map(|(at, _)| at)
    }
}

struct ReadyScenario<'a> {
    spec: PolicySpec,
    applied: &'a Applied,
    /// The changes; none for the site as it is.
    changes: &'a ChangeList,
    outages: Outages,
    division: Option<PoolDivision>,
}

impl WhatIfInputs<'_> {
    /// Simulates the site as it is, in two clock phases where it has clocks, and every alternative.
    /// `None` where it was stopped before the first was done.
    pub(super) fn simulate_all(
        &self,
        before: &Applied,
        after: &[Applied],
        lists: &[ChangeList],
    ) -> Result<Option<SimulatedScenarios>, CommandFailure> {
        let files = make_folder()?;
        let no_change = ChangeList::default();
        let mut ready = vec![self.prepare_scenario((before, &no_change), &files, 0, 0)?];
        let clocks = self.baseline.premises.is_slurm;
        if clocks {
            ready.push(self.prepare_scenario((before, &no_change), &files, 0, 1)?);
        }
        let first = ready.len();
        for (at, change) in after.iter().zip(lists).enumerate() {
            ready.push(self.prepare_scenario(change, &files, at + 1, 0)?);
        }
        let jobs: usize = ready.iter().map(|ready| ready.applied.premises.workload.len()).sum();
        let progress = WorkProgress::new("simulating", "jobs", Some(jobs as u64));
        progress.set_message(format!(", {} simulations", ready.len()));
        let threads = self.args.threads.map_or_else(crate::site::thread_count, usize::from);
        let run_ready =
            |_: usize, ready: &ReadyScenario<'_>| self.run_scenario(ready, &before.premises.workload, &progress);
        let mut ran = parallel::map(ready.iter().collect(), threads, run_ready)
            .into_iter()
            .collect::<Result<Vec<_>, CommandFailure>>()?;
        drop(progress);
        let after = ran.split_off(first);
        let other_phase = if clocks { ran.pop().flatten() } else { None };
        let Some(first) = ran.pop().flatten() else { return Ok(None) };
        let noise = other_phase.map(|run| (run.compute_figures().wait_mean - first.compute_figures().wait_mean).abs());
        let workload = before.premises.workload.clone();
        let periods = self.choose_periods(&workload, &first);
        Ok(Some(SimulatedScenarios { before: Before { ran: first, workload, periods }, after, noise }))
    }

    /// Weeks of the submits that count, or days.
    fn choose_periods(&self, workload: &Workload, ran: &ScenarioRun) -> Periods {
        let counted_submits =
            workload.jobs().iter().zip(&ran.fates).filter(|(_, fate)| fate.counted).map(|(job, _)| job.submit);
        let (first, last) =
            (counted_submits.clone().min().unwrap_or_default(), counted_submits.max().unwrap_or_default());
        Periods::from_submits((first, last), false)
    }

    /// Simulates one scenario; `None` where it was stopped.
    pub(crate) fn simulate_once(
        &self,
        change: (&Applied, &ChangeList),
        before: &Workload,
        progress: &WorkProgress,
    ) -> Result<Option<ScenarioRun>, CommandFailure> {
        let files = make_folder()?;
        let ready = self.prepare_scenario(change, &files, 1, 0)?;
        self.run_scenario(&ready, before, progress)
    }

    /// Writes what is changed of the configuration, and names it in the policy.
    fn prepare_scenario<'a>(
        &self,
        (applied, changes): (&'a Applied, &'a ChangeList),
        files: &TempDir,
        number: usize,
        phase: u32,
    ) -> Result<ReadyScenario<'a>, CommandFailure> {
        let (premises, base) = (&applied.premises, &self.baseline.premises);
        let write = |name: String, text: &str| -> Result<String, CommandFailure> {
            let path: PathBuf = files.path().join(name);
            std::fs::write(&path, text).map_err(|error| {
                CommandFailure::usage_error(format_args!("{}: cannot be written: {error}", path.display()))
            })?;
            Ok(path.display().to_string())
        };
        let mut text = self.baseline.text.clone();
        let confs = premises.pools.iter().zip(&base.pools).any(|(pool, was)| pool.conf != was.conf);
        // Beside a changed configuration there are no accounts to be found.
        if premises.is_slurm
            && (premises.limits != base.limits || confs && self.baseline.accounts.is_none())
            && let Some(accounts) = premises.accounts_text()
        {
            let path = write(format!("{number}.accounts"), &accounts)?;
            text = put_parameter(&text, "accounts", self.baseline.accounts.as_deref(), &path);
        }
        if premises.is_slurm {
            text = put_parameter(&text, "phase", None, &phase.to_string());
        }
        let mut texts = Vec::new();
        for (at, (pool, was)) in premises.pools.iter().zip(&base.pools).enumerate() {
            texts.push(self.pool_texts(pool, was, (number, at), &write)?);
        }
        let shares = premises.pools.iter().zip(texts);
        let wrong = |error: String| CommandFailure::usage_error(format_args!("after the changes: {error}"));
        if premises.pools.len() > 1 {
            let share = |(pool, texts): (&PoolPremises, Vec<(String, String)>)| PoolShare {
                name: pool.name.clone(),
                procs: pool.procs,
                scale: pool.scale,
                partitions: pool.partitions.iter().map(|p| (p.number, p.own)).collect(),
                outages: pool.outages.clone(),
                classes: None,
                texts,
            };
            let division = PoolDivision::new(shares.map(share).collect());
            return Ok(ReadyScenario {
                spec: text.parse()?,
                applied,
                changes,
                outages: Outages::default(),
                division: Some(division),
            });
        }
        let pool = &premises.pools[0];
        for (from, to) in shares.flat_map(|(_, texts)| texts) {
            text = text.replace(&from, &to);
        }
        // Where the text named no file there is none to replace.
        if self.baseline.conf.is_none()
            && let Some(conf) = &pool.conf
        {
            let path = write(format!("{number}-0.slurm.conf"), conf)?;
            text = put_parameter(&put_parameter(&text, "conf", None, &path), "epilog", None, "yes");
            if let Some(names) = &pool.names {
                text = put_parameter(
                    &text,
                    "names",
                    self.baseline.names.as_deref(),
                    &write(format!("{number}-0.names.csv"), names)?,
                );
            }
        }
        let outages =
            Outages::new(Machine::new(pool.procs), pool.outages.clone()).map_err(|error| wrong(error.to_string()))?;
        Ok(ReadyScenario { spec: text.parse()?, applied, changes, outages, division: None })
    }

    fn pool_texts(
        &self,
        pool: &PoolPremises,
        was: &PoolPremises,
        (number, at): (usize, usize),
        write: &dyn Fn(String, &str) -> Result<String, CommandFailure>,
    ) -> Result<Vec<(String, String)>, CommandFailure> {
        let (Some(path), Some(conf)) = (&self.baseline.conf, &pool.conf) else { return Ok(Vec::new()) };
        let own = self.baseline.pool_confs.get(at).cloned().flatten();
        let mut to = match (pool.conf == was.conf, own) {
            (true, Some(own)) => own,
            _ => write(format!("{number}-{at}.slurm.conf"), conf)?,
        };
        let mut texts = Vec::new();
        let quoted_path = quote_value(path);
        to = quote_value(&to);
        // Beside a changed configuration there are no names to be found.
        let alone = self.baseline.names.is_none() && pool.conf != was.conf;
        if let Some(names) = pool.names.as_ref().filter(|_| pool.names != was.names || alone) {
            let file = write(format!("{number}-{at}.names.csv"), names)?;
            match &self.baseline.names {
                Some(own) => texts.push((quote_value(own), quote_value(&file))),
                None => to = format!("{to},names={}", quote_value(&file)),
            }
        }
        texts.insert(0, (quoted_path, to));
        Ok(texts)
    }

    /// Simulates a scenario. Jobs that could never run after the changes, not even alone on the
    /// empty machine, are left out and the rest is simulated again.
    fn run_scenario(
        &self,
        ready: &ReadyScenario<'_>,
        before: &Workload,
        progress: &WorkProgress,
    ) -> Result<Option<ScenarioRun>, CommandFailure> {
        let mut repair: Option<Applied> = None;
        loop {
            let applied_changes = repair.as_ref().unwrap_or(ready.applied);
            let mut started_jobs = Started(vec![false; applied_changes.premises.workload.len()]);
            match self.simulate_premises(ready, applied_changes, &mut started_jobs, &|jobs| progress.add_done(jobs)) {
                Ok(Some((rows, utilisation))) => {
                    let never = self.find_given_others(ready, applied_changes, &rows)?;
                    if !never.is_empty() {
                        let reduced = applied_changes.without_jobs(&never, ready.changes);
                        repair = Some(reduced.map_err(CommandFailure::caused_by)?);
                        continue;
                    }
                    let mut ran = ScenarioRun { utilisation, ..find_fates(applied_changes, before, &rows) };
                    ran.repaired = repair;
                    return Ok(Some(ran));
                }
                Ok(None) => return Ok(None),
                Err(error) if waits_for_ever(&error) && !ready.changes.0.is_empty() => {
                    let mut never = self.find_never_starting(ready, applied_changes, &started_jobs)?;
                    if never.is_empty() {
                        never = short_in_the_end(&applied_changes.premises.workload, &started_jobs);
                    }
                    if never.is_empty() {
                        return Err(CommandFailure::experiment_error(&self.baseline.name, error));
                    }
                    repair =
                        Some(applied_changes.without_jobs(&never, ready.changes).map_err(CommandFailure::caused_by)?);
                }
                Err(error) => return Err(CommandFailure::experiment_error(&self.baseline.name, error)),
            }
        }
    }

    /// Simulates premises once; `None` where it was stopped.
    fn simulate_premises(
        &self,
        ready: &ReadyScenario<'_>,
        changed_site: &Applied,
        starts: &mut Started,
        tell: &(dyn Fn(u64) + Sync),
    ) -> Result<Option<(Vec<JobRow>, f64)>, ExperimentError> {
        let config =
            MetricsConfig { selection: self.selection, keep_jobs: true, weeks: false, ..MetricsConfig::light_config() };
        let measurement = Experiment::new(&ready.spec, &changed_site.premises.workload)
            .with_outages(Some(&ready.outages))
            .with_division(ready.division.as_ref())
            .feeding_back(self.args.real.feedback || changed_site.feeds_back)
            .with_metrics(config)
            .with_stop(self.stop)
            .with_progress(tell)
            .run(starts)?;
        Ok(measurement.map(|outcome| {
            (outcome.report.jobs.unwrap_or_default(), outcome.report.machine.utilisation.unwrap_or(0.0))
        }))
    }

    /// Finds the jobs that can never start on nodes that are left after a drain: Slurm's model
    /// gives them other nodes, once nothing has run for a week.
    fn find_given_others(
        &self,
        ready: &ReadyScenario<'_>,
        applied: &Applied,
        rows: &[JobRow],
    ) -> Result<BTreeSet<JobId>, CommandFailure> {
        let drains = ready.changes.0.iter().any(|change| matches!(change, SiteChange::Drain(_)));
        let mut in_time = Started(vec![true; applied.premises.workload.len()]);
        for row in rows.iter().filter(|row| drains && row.wait() >= Span(STANDSTILL)) {
            in_time.0[row.id.index()] = false;
        }
        self.find_never_starting(ready, applied, &in_time)
    }

    /// Finds the jobs that never start, each simulated alone on the empty machine as it is after
    /// the last change of its capacity. Equal jobs are tried once.
    fn find_never_starting(
        &self,
        ready: &ReadyScenario<'_>,
        changed_site: &Applied,
        starts: &Started,
    ) -> Result<BTreeSet<JobId>, CommandFailure> {
        let workload = &changed_site.premises.workload;
        let settled = last_change(changed_site);
        let mut cache = BTreeMap::new();
        let mut never = BTreeSet::new();
        for (at, (job, truth)) in workload.jobs().iter().zip(workload.truth()).enumerate() {
            if starts.0[at] {
                continue;
            }
            let kind = (job.procs, job.demand.0, job.partition, job.queue, job.user, job.group, job.estimate);
            let runs = match cache.get(&kind) {
                Some(&runs) => runs,
                None => {
                    let mut late_job = job.clone();
                    late_job.submit = job.submit.max(settled);
                    let alone = Workload::with_resources(
                        workload.machine(),
                        workload.resources().cloned(),
                        vec![late_job],
                        vec![truth.clone()],
                        workload.provenance.clone(),
                    );
                    let alone = alone.map_err(CommandFailure::caused_by)?;
                    let mut site_copy = changed_site.clone();
                    site_copy.premises.workload = alone;
                    let runs = match self.simulate_premises(ready, &site_copy, &mut Started(vec![false]), &|_| {}) {
                        Ok(alone) => {
                            let rows = alone.map(|(rows, _)| rows).unwrap_or_default();
                            rows.iter().all(|row| row.wait() < Span(STANDSTILL))
                        }
                        Err(error) if waits_for_ever(&error) => false,
                        Err(error) => return Err(CommandFailure::experiment_error(&self.baseline.name, error)),
                    };
                    cache.insert(kind, runs);
                    runs
                }
            };
            if !runs {
                never.insert(JobId(at as u32));
            }
        }
        Ok(never)
    }
}

/// Returns the time from which on there are as many processors and resources as in the end.
fn last_change(applied: &Applied) -> Time {
    let premises = &applied.premises;
    let outages = premises.pools.iter().flat_map(|pool| &pool.outages);
    let of_outages = outages.flat_map(|outage| [Some(outage.begin), outage.end]).flatten();
    let steps = premises.workload.resources().map_or(&[][..], |table| table.supply_steps());
    of_outages.chain(steps.iter().map(|step| step.from)).max().unwrap_or(Time::MIN)
}

/// Jobs that have started.
struct Started(Vec<bool>);

impl Observer for Started {
    const ENDS: bool = false;
    const NOTES: bool = false;

    fn note_start(&mut self, _now: Time, id: JobId, _why: StartReason) {
        if let Some(has_started) = self.0.get_mut(id.index()) {
            *has_started = true;
        }
    }
}

/// Returns whether a simulation ended because jobs wait that nothing will start.
fn waits_for_ever(error: &ExperimentError) -> bool {
    matches!(
        error,
        ExperimentError::Simulation(
            SimulationError::Starved { suspended: 0, .. }
                | SimulationError::TooFew { .. }
                | SimulationError::TooLittleSupply { .. }
        )
    )
}

/// Returns the jobs that have not started and ask for more of a resource than there is in the end.
fn short_in_the_end(workload: &Workload, starts: &Started) -> BTreeSet<JobId> {
    let Some(table) = workload.resources() else { return BTreeSet::new() };
    let lacks = |id: &JobId| {
        let asks = table.demand_totals(workload.job(*id).demand);
        asks.iter().any(|&(resource, amount)| amount > table.supply_at(resource, Time::MAX))
    };
    (0..workload.len()).filter(|&at| !starts.0[at]).map(|at| JobId(at as u32)).filter(lacks).collect()
}

/// A folder for changed configurations.
fn make_folder() -> Result<TempDir, CommandFailure> {
    TempDir::with_prefix("drystone-whatif-").map_err(|error| {
        let place = std::env::temp_dir();
        CommandFailure::usage_error(format_args!("{}: no folder for changed configurations: {error}", place.display()))
    })
}

/// Puts a parameter into the text of a policy, in the place of its value or behind the others.
fn put_parameter(text: &str, key: &str, was: Option<&str>, value: &str) -> String {
    let value = quote_value(value);
    if let Some(was) = was {
        return text.replace(&format!("{key}={}", quote_value(was)), &format!("{key}={value}"));
    }
    match text.strip_suffix(')') {
        Some(head) if !text.contains(&format!("{key}=")) => format!("{head},{key}={value})"),
        Some(_) => text.to_string(),
        None => format!("{text}({key}={value})"),
    }
}

/// Returns the fate of each job of the site as it is. Of one that was split the wait is what its
/// response exceeds its run time by; it counts when all of its pieces have ended.
fn find_fates(changed_site: &Applied, before: &Workload, rows: &[JobRow]) -> ScenarioRun {
    let mut fates = vec![NEVER; before.len()];
    let mut pieces: Vec<u32> = vec![0; before.len()];
    changed_site.origin.iter().flatten().for_each(|&origin| pieces[origin as usize] += 1);
    let mut end_counts = vec![0_u32; before.len()];
    let mut added_fates = Vec::new();
    for row in rows {
        let fate = JobFate { wait: row.wait().as_f64(), ran: row.ran.as_f64(), counted: row.counted };
        let Some(origin) = changed_site.origin.get(row.id.index()).copied().flatten() else {
            added_fates.push(fate);
            continue;
        };
        let at = origin as usize;
        let slot = &mut fates[at];
        end_counts[at] += 1;
        if end_counts[at] == 1 {
            *slot = fate;
        } else {
            // Pieces follow each other: their waits add up.
            slot.wait += fate.wait;
            slot.ran += fate.ran;
            slot.counted &= fate.counted;
        }
    }
    for (at, slot) in fates.iter_mut().enumerate().filter(|(at, _)| pieces[*at] > 1) {
        if end_counts[at] < pieces[at] {
            *slot = NEVER;
            continue;
        }
        // What pieces lose to their restarts is no work.
        let run = before.truth()[at].run.as_f64();
        slot.wait += slot.ran - run;
        slot.ran = run;
    }
    ScenarioRun { fates, added: added_fates, utilisation: 0.0, repaired: None }
}
