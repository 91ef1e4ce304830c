//! `drystone run`: one policy on one workload, in depth.

use super::excess;
use crate::args::RunArgs;
use crate::exit::{DONE, FINDING, Failure, Outcome};
use crate::input::{self, Files, Input};
use crate::interrupt;
use crate::meta::{Determined, ExperimentMeta, PolicyMeta, VERSION, WorkloadMeta};
use crate::output::beside::{self, Csv};
use crate::output::document::Document;
use crate::output::file;
use crate::output::flat::{Row, Rows};
use crate::output::number::{count, plural, speed};
use crate::output::report::{self, Timing};
use crate::output::{self, Form, Printable, ReportFile, jobs, message, plots};
use crate::progress::Progress;
use crate::simulate::{Given, config, details, simulate};
use drystone::engine::{Notes, Segments};
use drystone::log::clean::Study;
use drystone::log::transform;
use drystone::metrics::{HeelAndToe, JobRow, PromisesKept, Report, SearchEffort, Stalls, weekly};
use drystone::model::{Setting, Workload};
use drystone::policy::PolicySpec;
use drystone_report::{Details, Watcher};
use serde::Serialize;
use std::path::Path;

/// The result of a run.
#[derive(Serialize)]
pub(crate) struct RunResult {
    schema: &'static str,
    drystone: &'static str,
    workload: WorkloadMeta,
    policy: PolicyMeta,
    experiment: ExperimentMeta,
    promises: PromisesKept,
    report: Report,
    /// What plots need, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    /// How backfilling delayed the head of the queue, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    stalls: Option<Stalls>,
    /// What the policy's searches did, where it searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchEffort>,
    /// Jobs simulated per second, where it was asked for. Differs from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<Timing>,
}

pub(crate) fn run(args: &RunArgs) -> Outcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    // What cannot be written is said before the work is done.
    let excessive = excess::fixed(&common.excess)?;
    let besides = [
        ("--jobs", args.jobs.as_deref(), args.jobs.as_deref().and_then(jobs::beside)),
        ("--trace", args.trace.as_deref(), args.trace.as_deref().and_then(beside::beside)),
        ("--weeks", args.weeks.as_deref(), args.weeks.as_deref().and_then(beside::beside)),
        ("--segments", args.segments.as_deref(), args.segments.as_deref().and_then(beside::beside)),
        ("--audit", common.log.audit.as_deref(), None),
        ("--report", common.report.as_deref(), None),
    ];
    let files = besides.iter().flat_map(|(option, path, beside)| [(*option, *path), (*option, beside.as_deref())]);
    let written: Vec<(&str, Option<&Path>)> = files.collect();
    file::distinct(&input::read_by(common), &written)?;
    let schedule = args.jobs.as_deref().map(jobs::Target::open).transpose()?;
    let report_file = common.report.as_deref().map(ReportFile::open).transpose()?;
    let _folder = common.plots.as_deref().map(plots::prepare).transpose()?;
    let records = schedule.as_ref().is_some_and(jobs::Target::needs_records);
    let trace = args.trace.as_deref().map(Csv::open).transpose()?;
    let weeks = args.weeks.as_deref().map(Csv::open).transpose()?;
    let segments_file = args.segments.as_deref().map(Csv::open).transpose()?;
    let input = Input::simulated(common, records)?;
    let mut experiment = input::experiment(common, &input.header);
    let spec = in_study(&args.policy, common.log.study)?;
    input::fits([&spec], &input.workload)?;
    let (priorities, platform) = (common.priorities.as_deref(), common.platform.as_deref());
    let Files { priorities, platform } = Files::read(priorities, platform, &spec, &input.workload, &mut experiment)?;
    let given = Given { priorities: priorities.as_ref(), platform, stop: None };
    let parts = parts(&input.workload, common.each_month)?;
    let progress = Progress::new("simulating", "jobs", Some(input.workload.len() as u64));
    let detailed = common.details || common.plots.is_some() || report_file.as_ref().is_some_and(ReportFile::is_page);
    let config = config(common, &excessive, schedule.is_some() || weeks.is_some(), detailed);
    let mut watcher = if detailed { Watcher::new(input.workload.machine().procs) } else { Watcher::idle() };
    let mut notes = Notes::default();
    let mut segments = Segments::default();
    let mut heel = args.stalls.then(|| HeelAndToe::new(&input.workload, config.selection));
    let measured = match &mut heel {
        Some(heel) => {
            let watching = &mut (heel, (&mut notes, &mut watcher));
            simulate(&input.workload, parts.as_slice(), &spec, given, config, &progress, watching)
        }
        None if segments_file.is_some() => {
            let watching = &mut (&mut segments, (&mut notes, &mut watcher));
            simulate(&input.workload, parts.as_slice(), &spec, given, config, &progress, watching)
        }
        None => {
            let watching = &mut (&mut notes, &mut watcher);
            simulate(&input.workload, parts.as_slice(), &spec, given, config, &progress, watching)
        }
    };
    let Some(measured) = measured.map_err(|e| Failure::simulation(spec.text(), &e))? else {
        return Ok(interrupt::code());
    };
    drop(progress);
    let timing = Timing::of(&measured);
    let mut report = measured.report;
    warn_if_none_counts(&report);
    if common.platform.is_some() && report.suspensions.total == 0 {
        message::note("no job that counts was suspended: --platform says what suspensions cost");
    }
    // Months that are simulated apart overlap in time.
    let watched = (!common.each_month).then_some(watcher);
    let details = detailed.then(|| details(common, &mut report, None, watched));
    let rows = report.jobs.take();
    let broken = measured.promises.broken;
    let on_terminal = Form::from(common.format) == Form::Table && output::stdout::is_terminal();
    let mut result = RunResult {
        schema: "drystone/run/1",
        drystone: VERSION,
        workload: WorkloadMeta::of(&input),
        policy: PolicyMeta::of(&spec),
        experiment,
        promises: measured.promises,
        report,
        details,
        stalls: heel.map(HeelAndToe::finish),
        search: SearchEffort::of(&notes),
        timing: common.timing.then_some(timing),
    };
    let mut files = Vec::new();
    let determined = |schema| Determined {
        schema,
        drystone: VERSION,
        workload: &result.workload,
        policy: &result.policy,
        experiment: &result.experiment,
    };
    if let (Some(schedule), Some(rows)) = (schedule, &rows) {
        files.extend(schedule.write(rows, &input, &determined("drystone/schedule/1"))?);
    }
    if let (Some(file), Some(rows)) = (weeks, &rows) {
        files.extend(file.write(&weeks_csv(rows)?, &determined("drystone/weeks/1"))?);
    }
    if let Some(file) = trace {
        if notes.list.is_empty() {
            message::warning(&format!("{} said nothing of itself: the file of --trace has no rows", spec.text()));
        }
        let mut csv = Vec::new();
        notes.write_csv(&mut csv).map_err(Failure::usage)?;
        files.extend(file.write(&csv, &determined("drystone/trace/1"))?);
    }
    if let Some(file) = segments_file {
        let mut csv = Vec::new();
        segments.write_csv(&mut csv).map_err(Failure::usage)?;
        files.extend(file.write(&csv, &determined("drystone/segments/1"))?);
    }
    // Files can be compared byte by byte: no timing unless it was asked for.
    if let Some(file) = report_file {
        files.push(file.write(&result)?);
    }
    if let Some(directory) = &common.plots {
        files.extend(plots::write(directory, &output::results(&result)?)?);
    }
    // All of them are complete, or the command has failed before and none of them is new.
    file::publish(files)?;
    if on_terminal {
        result.timing = Some(timing);
    }
    match written.iter().find(|(_, path)| *path == Some(Path::new("-"))) {
        Some((option, _)) => message::note(&format!(
            "{option} has the standard output, so the results are not printed; --report FILE writes them"
        )),
        None => output::print(&result, common.format.into())?,
    }
    if !(common.timing || on_terminal) {
        message::note(&format!("simulated {} jobs/s", speed(timing.jobs_per_second)));
    }
    Ok(if common.require_promises && broken > 0 {
        message::error(&format!("broken promises: {}", count(broken)));
        FINDING
    } else {
        DONE
    })
}

/// Says it where all jobs are trimmed away, and so nothing is measured: also where it is to be quiet, for what is printed then may be
/// dashes alone.
pub(crate) fn warn_if_none_counts(report: &Report) {
    if report.trimmed.kept == 0 {
        message::insist(&format!(
            "none of {} counts ({}): nothing is measured",
            plural(report.trimmed.seen, "job"),
            report.selection
        ));
    }
}

/// How each class of run times fared week by week.
fn weeks_csv(jobs: &[JobRow]) -> Result<Vec<u8>, Failure> {
    let mut rows = Rows::default();
    for week in weekly(jobs) {
        let mut row = Row::default();
        row.number("week", Some((week.week + 1) as f64));
        row.number("class", Some((week.class + 1) as f64));
        row.number("jobs", Some(week.jobs as f64));
        row.number("wait_mean", week.wait);
        row.number("slowdown_mean", week.slowdown);
        rows.push(row);
    }
    rows.csv()
}

/// The policy in the variant of the study, where it has one. Says which of its parameters change nothing.
pub(crate) fn in_study(spec: &PolicySpec, study: Option<Study>) -> Result<PolicySpec, Failure> {
    let spec = match study {
        Some(study) => spec.in_study(study.name())?,
        None => spec.clone(),
    };
    for (name, needs) in spec.idle() {
        message::warning(&format!("{spec}: {name} changes nothing here; it counts with {needs}"));
    }
    Ok(spec)
}

/// The whole workload, or each month of it.
pub(crate) fn parts(workload: &Workload, each_month: bool) -> Result<Parts<'_>, Failure> {
    if !each_month {
        return Ok(Parts::Whole(workload));
    }
    let months = transform::months(workload)?.into_iter().map(|(name, places)| {
        let setting = Setting { name: "month".to_string(), value: name };
        transform::piece(workload, places, setting).map_err(Failure::usage)
    });
    Ok(Parts::Months(months.collect::<Result<_, _>>()?))
}

/// What is simulated from an empty machine.
pub(crate) enum Parts<'a> {
    Whole(&'a Workload),
    Months(Vec<Workload>),
}

impl Parts<'_> {
    pub(crate) fn as_slice(&self) -> &[Workload] {
        match self {
            Parts::Whole(workload) => std::slice::from_ref(*workload),
            Parts::Months(months) => months,
        }
    }
}

impl Printable for RunResult {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(format!("{} on {}", self.policy.text, self.workload.line()));
        document.facts(self.facts());
        document.table(report::measures(&self.report));
        report::say_if_inexact(&mut document, report::summaries(&self.report));
        document.heading("Machine, queue, predictions and promises");
        let mut facts = excess::facts(&self.report);
        facts.extend(report::facts(&self.report, self.promises, self.stalls.as_ref(), self.timing));
        document.facts(facts);
        if let Some(search) = &self.search {
            document.heading("Search");
            document.facts(report::search(search));
        }
        for categorised in &self.report.categories {
            document.heading(format!("By {}", categorised.scheme.name()));
            document.table(report::categories(categorised));
        }
        document
    }

    fn rows(&self) -> Rows {
        let mut row = Row::default();
        report::figures(&mut row, &self.report, self.promises);
        if let Some(stalls) = &self.stalls {
            row.number("stall_rate", stalls.rate);
            row.number("stall_mean", stalls.stall.mean);
            row.number("thieves_mean", stalls.thieves.mean);
        }
        if let Some(timing) = self.timing {
            row.number("jobs_per_second", Some(timing.jobs_per_second));
        }
        let mut rows = Rows::default();
        rows.push(report::determined(&self.workload, &self.policy, &self.experiment).followed_by(row));
        rows
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        (!self.report.categories.is_empty()).then_some("categories")
    }
}

impl RunResult {
    fn facts(&self) -> Vec<(String, String)> {
        report::determined_facts(&self.workload, &self.experiment)
            .into_iter()
            .chain([("policy parameters".to_string(), self.policy.parameters.text())])
            .chain([("jobs that count".to_string(), report::counted(&self.report))])
            .collect()
    }
}
