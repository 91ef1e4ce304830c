//! `drystone run`: one policy on one workload, in depth.

mod files;
mod result;

use self::files::{FileObservers, RunFiles};
pub(crate) use self::result::RunResult;
use crate::args::RunArgs;
use crate::commands::compare::candidates;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::input::{self, PolicyFiles, WorkloadInput, WorkloadParts};
use crate::interrupt;
use crate::measuring::{metrics_config, plot_details};
use crate::meta::{PolicyMeta, VERSION};
use crate::output::number::{format_count, format_speed};
use crate::output::report;
use crate::output::schedules::{ScheduleFile, WrittenSchedule};
use crate::output::{self, ReportFile, excess, file, message};
use crate::progress::WorkProgress;
use drystone::engine::{Notes, Observer, Segments};
use drystone::experiment::Experiment;
use drystone::metrics::{BATCH, HeelAndToe, JobRow, SearchEffort, SizeReport};
use drystone::model::Span;
use drystone::policy::{PolicySpec, Priorities};
use drystone_report::{PoolResult, Timing, Watcher};
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(args: &RunArgs) -> CommandOutcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    let excessive = excess::fixed_thresholds(&common.excess)?;
    let files = RunFiles::open(args)?;
    let mut input = WorkloadInput::read_for_simulation(common, files.need_records(), false)?;
    if input.site.is_some() {
        let policy = input::in_study(&asked_policy(args)?, common.log.study)?;
        input.site.iter_mut().for_each(|site| site.localise_policies([&policy]));
    }
    let wanted_data = WantedData {
        rows: files.need_rows(),
        segments: files.need_segments(),
        details: common.details || files.need_details(),
        excessive,
    };
    let Some(mut ran) = run_policy(args, &input, wanted_data, None)? else { return Ok(interrupt::exit_code()) };
    let on_stdout = files.on_stdout;
    files.write_all(&ran.result, &ran.file_observers(&input))?;
    let timing = ran.timing;
    print_result(args, &mut ran.result, timing, on_stdout)?;
    let broken_promises = ran.result.promises.broken;
    if common.require_promises && broken_promises > 0 {
        message::print_error(&format!("broken promises: {}", format_count(broken_promises)));
        return Ok(FINDING);
    }
    Ok(DONE)
}

/// The policy to run: as asked for, else a site's own Slurm.
pub(crate) fn asked_policy(args: &RunArgs) -> Result<PolicySpec, CommandFailure> {
    input::policy_or_own(args.policy.as_ref(), args.common.source.path())
}

impl RunOutcome {
    /// Sizes of each job over its life, where jobs have several.
    pub(crate) fn size_report(&self) -> Option<&SizeReport> {
        self.result.report.sizes.as_ref()
    }
}

pub(crate) struct WantedData {
    /// A row per job.
    pub(crate) rows: bool,
    /// Segments in which each job ran.
    pub(crate) segments: bool,
    /// Data of plots.
    pub(crate) details: bool,
    /// Thresholds of excessive waits.
    pub(crate) excessive: Vec<Span>,
}

pub(crate) struct RunOutcome {
    pub(crate) result: RunResult,
    /// A row for every job that has ended, lost ones among them.
    pub(crate) rows: Option<Vec<JobRow>>,
    notes: Notes,
    segments: Option<Segments>,
    priorities: Option<Priorities>,
    timing: Timing,
}

impl RunOutcome {
    fn file_observers<'a>(&'a self, input: &'a WorkloadInput) -> FileObservers<'a> {
        FileObservers {
            input,
            rows: self.rows.as_deref(),
            notes: &self.notes,
            segments: self.segments.as_ref(),
            priorities: self.priorities.as_ref(),
        }
    }

    /// Writes the schedule, as its ending says.
    pub(crate) fn write_schedule(&self, input: &WorkloadInput, path: &Path) -> Result<(), CommandFailure> {
        let file = ScheduleFile::create_file(path)?;
        let rows = self.rows.as_deref().unwrap_or_default();
        let inputs = &self.result.result_inputs("drystone/schedule/1");
        let sizes = self.result.report.sizes.as_ref().map(|sizes| &sizes.jobs);
        file::publish_all(file.write_schedule(&WrittenSchedule { rows, input, determined: inputs, sizes })?)
    }

    /// Writes the result, as its ending says.
    pub(crate) fn write_report(&self, path: &Path) -> Result<(), CommandFailure> {
        file::publish_all(vec![ReportFile::create_file(path)?.write_result(&self.result)?])
    }
}

/// Simulates and measures; `None` on cancellation.
pub(crate) fn run_policy(
    args: &RunArgs,
    input: &WorkloadInput,
    data: WantedData,
    stop: Option<&AtomicBool>,
) -> Result<Option<RunOutcome>, CommandFailure> {
    let common = &args.common;
    let mut experiment = input.experiment_meta(common);
    let asked_spec = asked_policy(args).or_else(|missing| {
        // A fault of the table is said first: with a policy it would be the next error.
        input.find_outages(&common.real, &mut experiment)?;
        Err(missing)
    })?;
    let spec = input.localised_policy(&input::in_study(&asked_spec, common.log.study)?)?;
    input.check_fit([&spec])?;
    let files_given = (common.priorities.as_deref(), common.platform.as_deref());
    let PolicyFiles { priorities, platform, outages, .. } =
        PolicyFiles::read_files(files_given, (&common.real, &common.failure), &spec, input, &mut experiment)?;
    let beyond = input.workload.resources().is_some_and(|table| table.has_resources() || table.node_fill().is_some());
    if args.stalls && beyond {
        return Err(CommandFailure::usage_error(
            "--stalls asks whether processors were free, and nothing else: leave out --resources and --on-nodes (--resources none)",
        ));
    }
    let parts = WorkloadParts::from_input(input, common.each_month)?;
    let config = metrics_config(common, input.job_selection(common), &data.excessive, data.rows, data.details);
    let mut run_observers = RunObservers {
        notes: Notes::default(),
        segments: data.segments.then(Segments::default),
        heel: args.stalls.then(|| HeelAndToe::new(&input.workload, config.selection)),
        watcher: data.details.then(|| Watcher::new(input.workload.machine().procs)),
    };
    let progress = WorkProgress::new("simulating", "jobs", Some(input.workload.len() as u64));
    let report_jobs = |jobs| progress.add_done(jobs);
    let simulation = Experiment::new(&spec, &input.workload)
        .in_parts(parts.as_slice())
        .on_platform(platform)
        .with_outages(Some(&outages))
        .with_division(input.pool_division())
        .feeding_back(common.real.feedback)
        .with_threads(args.search_threads)
        .with_priorities(priorities.as_ref())
        .with_grades(priorities.as_ref())
        .with_power_series(input.series.as_deref())
        .with_metrics(config)
        .with_progress(&report_jobs);
    let simulation = match stop {
        Some(stop) => simulation.with_stop(stop),
        None => simulation,
    };
    let measurement = simulation.run(&mut run_observers.observers());
    let Some(outcome) = measurement.map_err(|e| CommandFailure::experiment_error(spec.text(), e))? else {
        return Ok(None);
    };
    drop(progress);
    let timing = Timing::from_experiment(&outcome);
    let mut report = outcome.report;
    report::warn_if_none_counts(&report);
    let longest_queue = report.queue.as_ref().map_or(0, |queue| queue.whole.max_waiting_jobs);
    candidates::describe_bound(&PolicyMeta::from_spec(&spec), longest_queue)
        .iter()
        .for_each(|note| message::print_note(note));
    if common.platform.is_some() && report.suspensions.total == 0 {
        message::print_note("no counted job was suspended: --platform sets the cost of suspensions");
    }
    let RunObservers { notes, segments, heel, watcher } = run_observers;
    // Months and windows that are simulated apart overlap in time.
    let watcher = watcher.filter(|_| !common.each_month && common.windows.is_none());
    let details = data.details.then(|| plot_details(common, &mut report, (None, BATCH), watcher));
    let rows = report.take_schedule();
    let result = RunResult {
        schema: "drystone/run/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        policy: PolicyMeta::from_spec(&spec),
        experiment,
        promises: outcome.promises,
        report,
        pools: outcome.pools.into_iter().map(PoolResult::from).collect(),
        details,
        stalls: heel.map(HeelAndToe::finish),
        search: SearchEffort::from_notes(&notes),
        timing: common.timing.then_some(timing),
        whole: common.details,
    };
    Ok(Some(RunOutcome { result, rows, notes, segments, priorities, timing }))
}

struct RunObservers<'a> {
    notes: Notes,
    segments: Option<Segments>,
    heel: Option<HeelAndToe<'a>>,
    watcher: Option<Watcher>,
}

impl RunObservers<'_> {
    fn observers(&mut self) -> impl Observer {
        ((&mut self.heel, &mut self.segments), (&mut self.notes, &mut self.watcher))
    }
}

/// Prints the result, unless another file has the standard output. On a terminal it also has how
/// fast the simulation was.
fn print_result(
    args: &RunArgs,
    result: &mut RunResult,
    timing: Timing,
    on_stdout: Option<&'static str>,
) -> Result<(), CommandFailure> {
    let common = &args.common;
    let on_terminal = common.format.for_people() && output::stdout::is_terminal();
    if on_terminal {
        result.timing = Some(timing);
    }
    match on_stdout {
        Some(option) => message::print_note(&format!(
            "{option} has the standard output, so the results are not printed; --report FILE writes them"
        )),
        None => output::print_result(result, common.format)?,
    }
    if !(common.timing || on_terminal) {
        message::print_note(&format!("simulated {} jobs/s", format_speed(timing.jobs_per_second)));
    }
    Ok(())
}
