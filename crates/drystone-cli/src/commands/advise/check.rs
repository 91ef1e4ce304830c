//! `drystone advise --check`: a `slurm.conf` against the jobs that were recorded, in seconds.

use super::inputs::AdviseInputs;
use super::limits::Changer;
use crate::args::AdviseArgs;
use crate::commands::waits::causes::{causes_table, format_headline};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, WorkloadInput};
use crate::interrupt;
use crate::meta::{VERSION, WorkloadMeta};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{TimeColumn, format_count, format_fixed, format_percent};
use crate::output::{self, Printable, ReportFile};
use drystone::metrics::JobSelection;
use drystone_advise::{Evidence, HealthCase, HealthRemark, PassCost, RecordedJob, SiteKnobs, check_health};
use drystone_site::PoolSummary;
use drystone_site::waits::{SiteWaits, WaitCause, WaitsOptions, measure_waits as recorded_waits};
use drystone_slurm::conf::SlurmConf;
use drystone_whatif::{ChangeList, PairedChange};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

#[derive(Serialize)]
struct CheckedRemarks {
    schema: &'static str,
    drystone: &'static str,
    workload: WorkloadMeta,
    /// The `slurm.conf` that was checked.
    slurm: String,
    /// Jobs whose start is recorded.
    jobs: u64,
    cost: PassCost,
    causes: Vec<WaitCause>,
    /// These waits; `None` for a log.
    #[serde(skip)]
    waits: Option<SiteWaits>,
    remarks: Vec<HealthRemark>,
    /// Simulated worth of the settings that remarks suggest, where it was asked for.
    worth: Vec<Worth>,
}

/// The difference that a suggested setting makes in a simulation.
#[derive(Serialize)]
struct Worth {
    /// The setting, as a change.
    change: String,
    /// Waits of the same jobs before and after; `None` where it was stopped.
    wait: Option<PairedChange>,
}

pub(super) fn check_conf(args: &AdviseArgs, log: &Path) -> CommandOutcome {
    let report = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let stop = interrupt::stop_in_order();
    if let Some(time) = args.within.filter(|_| args.worth) {
        interrupt::stop_after(time).map_err(|e| CommandFailure::usage_error(format_args!("--within: {e}")))?;
    }
    let remarks = conf_remarks(args, log, stop)?;
    if let Some(file) = report {
        file.write_result(&remarks)?.publish()?;
    }
    output::print_result(&remarks, args.output.format)?;
    Ok(DONE)
}

/// The remarks about a `slurm.conf`, for programs.
pub(crate) fn conf_remarks(
    args: &AdviseArgs,
    log: &Path,
    stop: &AtomicBool,
) -> Result<impl Printable + use<>, CommandFailure> {
    let cost = super::pass_cost(args)?;
    let cycle = match &args.sdiag {
        None => None,
        Some(path) => std::fs::read_to_string(path).ok().and_then(|text| PassCost::cycle_of_sdiag(&text).ok()),
    };
    let input = WorkloadInput::whole_recorded(Some(log), (&args.log, &args.cut, &args.real), args.seed)?;
    let path = args.slurm.clone().or_else(|| input.site.as_ref().and_then(|site| site.slurm_conf()));
    let Some(path) = path else {
        return Err(CommandFailure::usage_error(format_args!(
            "--check compares a slurm.conf with recorded jobs, and {} has none; give --slurm FILE",
            log.display()
        )));
    };
    let conf = SlurmConf::read_file(&path).map_err(CommandFailure::usage_error)?;
    let jobs = recorded_jobs(&input);
    if jobs.is_empty() {
        return Err(CommandFailure::usage_error(format_args!(
            "{}: no start of a job is recorded, so nothing can be checked",
            log.display()
        )));
    }
    let waits = waits_of(&input, log)?;
    let remarks = remarks_of_jobs(&input, &jobs, &conf, (&cost, cycle), waits.as_ref());
    let worth = if args.worth { measure_worth(args, log, &remarks, stop)? } else { Vec::new() };
    Ok(CheckedRemarks {
        schema: "drystone/check/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        slurm: path.display().to_string(),
        jobs: jobs.len() as u64,
        cost,
        causes: waits.as_ref().map_or_else(Vec::new, |waits| waits.causes.clone()),
        waits,
        remarks,
        worth,
    })
}

/// The recorded waits of a site as `waits` counts them: in the units of the pools, not on nodes.
/// `None` for a log.
///
/// # Errors
/// A folder that cannot be read again.
pub(super) fn waits_of(input: &WorkloadInput, log: &Path) -> Result<Option<SiteWaits>, CommandFailure> {
    let Some((folder, name)) = input.site.as_ref().and_then(|_| crate::site::split_site_path(log)) else {
        return Ok(None);
    };
    let site = drystone_site::open_folder(&folder)?;
    let is_named = |pool: &PoolSummary| Some(&pool.name) == name.as_ref();
    let pool = site.manifest.pools.iter().position(is_named).and_then(|at| u16::try_from(at).ok());
    Ok(Some(recorded_waits(&site, &WaitsOptions { pool, ..WaitsOptions::default() })))
}

/// The remarks on a site's own `slurm.conf`, without any simulation; none for a log.
pub(super) fn remarks_of_site(input: &WorkloadInput, site: &SiteKnobs, waits: Option<&SiteWaits>) -> Vec<HealthRemark> {
    match (&site.conf, &input.site) {
        (Some((_, conf)), Some(_)) => remarks_of_jobs(input, &recorded_jobs(input), conf, (&site.cost, None), waits),
        _ => Vec::new(),
    }
}

fn remarks_of_jobs(
    input: &WorkloadInput,
    jobs: &[RecordedJob],
    conf: &SlurmConf,
    (cost, cycle_micros): (&PassCost, Option<u64>),
    waits: Option<&SiteWaits>,
) -> Vec<HealthRemark> {
    let qos: BTreeSet<i32> = input.workload.jobs().iter().map(|job| job.queue).collect();
    let procs = input.workload.machine().procs;
    let wait_seconds = waits.map(|waits| waits.seconds);
    check_health(&HealthCase { conf, jobs, procs, waited: wait_seconds, cost, cycle_micros, qos: qos.len() })
}

/// Simulates the site as it is and with each suggested setting.
fn measure_worth(
    args: &AdviseArgs,
    log: &Path,
    remarks: &[HealthRemark],
    stop: &AtomicBool,
) -> Result<Vec<Worth>, CommandFailure> {
    let lists: Vec<ChangeList> = remarks
        .iter()
        .filter_map(|remark| Some(format!("set {}", remark.set.as_ref()?)))
        .map(|text| text.parse().map_err(CommandFailure::caused_by))
        .collect::<Result<_, _>>()?;
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = WorkloadInput::read_whole(Some(log), (&args.log, &args.cut, &args.real), args.seed)?;
    let selection = input.site.as_ref().map_or(JobSelection::All, |site| site.selection);
    let mut experiment = input::untrimmed_experiment(args.log.study, args.seed, &input.header);
    let outages = input.find_outages(&args.real, &mut experiment)?;
    let changer = Changer::from_args(args, &mut input, &outages)?;
    let periods = super::choose_periods(&input, selection, args.cut.slice.is_some());
    let feedback = args.real.feedback;
    let ground = AdviseInputs { outages: &outages, selection, periods: &periods, figures: &[], feedback, stop };
    let wait_changes = changer.measure_worth(&input, &lists, &ground)?;
    let worth_pairs = lists.iter().zip(wait_changes);
    Ok(worth_pairs.map(|(list, wait)| Worth { change: list.to_string(), wait }).collect())
}

/// The jobs whose start, or whose leaving, is recorded.
fn recorded_jobs(input: &WorkloadInput) -> Vec<RecordedJob> {
    let jobs = input.workload.jobs();
    if let Some(site) = &input.site {
        let of = |(at, &place): (usize, &u32)| {
            let job = site.site.job_at(place as usize);
            let departure = job.start.or(job.end)?;
            let end = if job.start.is_some() { job.end.unwrap_or(departure) } else { departure };
            Some(RecordedJob {
                submit: job.arrive,
                start: departure,
                end,
                limit: i64::from(job.limit),
                procs: jobs.get(at)?.procs,
                reason: job.reason.to_string(),
            })
        };
        return site.places.iter().enumerate().filter_map(of).collect();
    }
    let records = input.records.as_deref().unwrap_or_default();
    let of =
        |(record, (job, truth)): (&drystone::log::swf::SwfRecord, (&drystone::model::Job, &drystone::model::Truth))| {
            let wait = record.wait.round();
            let start = job.submit.0 + wait;
            (wait >= 0).then(|| RecordedJob {
                submit: job.submit.0,
                start,
                end: start + truth.run.0,
                limit: job.estimate.0,
                procs: job.procs,
                reason: String::new(),
            })
        };
    records.iter().zip(jobs.iter().zip(input.workload.truth())).filter_map(of).collect()
}

impl Printable for CheckedRemarks {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(format!(
            "{} against {} recorded jobs of {}",
            self.slurm,
            format_count(self.jobs),
            self.workload.name
        ));
        if let Some((waits, headline)) = self.waits.as_ref().and_then(|waits| Some((waits, format_headline(waits)?))) {
            document.add_text(headline);
            document.add_table(causes_table(waits, false));
        }
        let mut table = DocumentTable::new(["setting", "", "finding"]).with_text_columns(&[0, 1, 2]);
        let (change, fine): (Vec<&HealthRemark>, Vec<&HealthRemark>) =
            self.remarks.iter().partition(|remark| remark.change);
        for remark in change.iter().chain(&fine) {
            let (word, tone) = if remark.change { ("look", Tone::Bad) } else { ("fine", Tone::Faint) };
            table.add_row(vec![remark.setting.into(), TableValue::toned_text(word, tone), remark.text.clone().into()]);
        }
        document.add_table(table);
        let evidence: Vec<(String, String)> = change
            .iter()
            .filter(|remark| !remark.evidence.is_empty())
            .map(|remark| {
                let numbers: Vec<String> = remark.evidence.iter().map(format_evidence).collect();
                (remark.setting.to_string(), numbers.join("; "))
            })
            .collect();
        if !evidence.is_empty() {
            document.add_heading("The numbers");
            document.add_facts(evidence);
        }
        if !self.worth.is_empty() {
            document.add_heading("Their worth, simulated");
            document.add_table(self.worth_table());
        }
        let set: Vec<String> = change.iter().filter_map(|remark| remark.set.clone()).collect();
        if !set.is_empty() && self.worth.is_empty() {
            document.add_text(format!("By Slurm's documentation, worth a try: {}. `--worth` simulates it; `drystone advise SITE` searches for the best.", set.join(", ")));
        }
        document.add_text(format!("A test of backfill takes {} µs ({}).", self.cost.micros, self.cost.source));
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for remark in &self.remarks {
            let mut row = FlatRow::default();
            row.add_text("slurm", &self.slurm);
            row.add_text("workload", &self.workload.name);
            row.add_text("setting", remark.setting);
            row.add_text("change", remark.change);
            row.add_text("finding", &remark.text);
            row.add_text("set", remark.set.clone().unwrap_or_default());
            let numbers: Vec<String> =
                remark.evidence.iter().map(|e| format!("{}={} {}", e.name, e.value, e.unit)).collect();
            row.add_text("evidence", numbers.join("; "));
            let of = |worth: &&Worth| remark.set.as_ref().is_some_and(|set| worth.change.contains(set.as_str()));
            let wait = self.worth.iter().find(of).and_then(|worth| worth.wait.as_ref());
            row.add_text("worth_s", wait.map_or(String::new(), |wait| wait.difference.to_string()));
            rows.push(row);
        }
        rows
    }
}

impl CheckedRemarks {
    /// The differences that suggested settings make.
    fn worth_table(&self) -> DocumentTable {
        let changes: Vec<&PairedChange> = self.worth.iter().filter_map(|worth| worth.wait.as_ref()).collect();
        let waits: Vec<f64> = changes.iter().flat_map(|wait| [wait.before, wait.after]).collect();
        let unit = TimeColumn::for_values(&waits).unit;
        let ends = |wait: &&PairedChange| (wait.difference, wait.interval.filter(|_| wait.tells_size()));
        let column = TimeColumn::of_intervals(unit, &changes.iter().map(ends).collect::<Vec<_>>());
        let mut table = DocumentTable::new([
            "change".to_string(),
            format!("mean wait now, {}", unit.name()),
            "then".to_string(),
            "difference (95% interval)".to_string(),
        ])
        .with_text_columns(&[0, 3]);
        for worth in &self.worth {
            let Some(wait) = &worth.wait else {
                table.add_row(vec![worth.change.clone().into(), "-".into(), "-".into(), "stopped".into()]);
                continue;
            };
            let tone = match wait.change_sign() {
                1 => Tone::Bad,
                -1 => Tone::Good,
                _ => Tone::Faint,
            };
            let interval = wait.interval.filter(|_| wait.tells_size()).map_or(String::new(), |(low, high)| {
                format!(" ({} to {})", column.format_difference(low), column.format_difference(high))
            });
            table.add_row(vec![
                worth.change.clone().into(),
                unit.format_seconds(Some(wait.before)).into(),
                unit.format_seconds(Some(wait.after)).into(),
                TableValue::toned_text(format!("{}{interval}", column.format_difference(wait.difference)), tone),
            ]);
        }
        table
    }
}

/// A number with as many digits as say something.
/// A number with its name and unit; a share in per cent.
fn format_evidence(evidence: &Evidence) -> String {
    let Evidence { name, value, unit } = evidence;
    let text = match unit.strip_prefix("share of ") {
        Some(whole) => format!("{name}: {} of {whole}", format_percent(Some(*value), 0)),
        None => format!("{name}: {} {unit}", format_number(*value)),
    };
    text.trim_end().to_string()
}

fn format_number(value: f64) -> String {
    let decimals = if value.abs() >= 100.0 || value.fract() == 0.0 { 0 } else { 3 };
    format_fixed(value, decimals)
}
