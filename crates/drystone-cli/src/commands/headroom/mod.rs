//! `drystone headroom`: what no schedule can beat, and the best that a search finds.

pub(crate) mod bracket;
mod files;
pub(crate) mod result;

use self::bracket::{BracketSchedule, Seek, Sought, seek_bracket};
use self::files::HeadroomFiles;
use self::result::{BracketNeighbours, HeadroomResult};
use crate::args::{FailureArgs, Grid, HeadroomArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, PolicyFiles, WorkloadInput};
use crate::interrupt;
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION};
use crate::output::number::{format_count, format_plural};
use crate::output::{self, message, report};
use crate::parallel;
use crate::progress::WorkProgress;
use drystone::experiment::{self, Experiment};
use drystone::metrics::{Collector, JobRow, MetricsConfig, Report, Scope};
use drystone::model::{Outages, Span, Workload};
use drystone::policy::PolicySpec;
use drystone_headroom::{HeadroomCase, TimeLimit, replay_rows};
use drystone_report::meta::NamedPairs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Default policies shown beside a bracket.
const SHOWN: [&str; 2] = ["easy", "easy++"];
/// Further starting points of a search: policies that know run times.
pub(crate) const BEGINNINGS: [&str; 3] =
    ["sjf-perfect", "easy(order=saf,backfill=saf,predict=perfect)", "easy(order=lxf,backfill=lxf,predict=perfect)"];
/// From this many jobs on the finest cells are longer, unless others are asked for.
const MANY: usize = 100_000;

pub(crate) fn run_headroom(args: &HeadroomArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    let files = HeadroomFiles::open(args)?;
    let cut = (&args.cleaning, &args.cut, &args.real);
    let input = WorkloadInput::read_part(args.log.as_deref(), cut, args.seed, files.need_records())?;
    let stop = interrupt::stop_in_order();
    let Some(answer) = find_answer(args, &input, stop)? else {
        message::print_note("interrupted before a policy was simulated");
        return Ok(interrupt::exit_code());
    };
    let is_stopped = interrupt::stop_at_once();
    files.write_all(args, &input, &answer)?;
    output::print_result(&answer.result, args.output.format)?;
    Ok(if is_stopped { interrupt::exit_code() } else { DONE })
}

/// Result, with the schedule found.
pub(crate) struct HeadroomAnswer {
    pub(crate) result: HeadroomResult,
    /// A row per job of the schedule found.
    pub(crate) rows: Vec<JobRow>,
    sought: Sought,
    case: HeadroomCase,
    outages: Outages,
}

impl HeadroomAnswer {
    /// Writes what the options name: schedule, chart, prices, report.
    pub(crate) fn write_files(&self, args: &HeadroomArgs, input: &WorkloadInput) -> Result<(), CommandFailure> {
        HeadroomFiles::open(args)?.write_all(args, input, self)
    }
}

/// A policy that was simulated.
struct HeadroomRun {
    spec: PolicySpec,
    report: Report,
    rows: Vec<JobRow>,
    shown: bool,
}

/// Simulates, proves and searches; `None` if cancelled before a policy was done.
pub(crate) fn find_answer(
    args: &HeadroomArgs,
    input: &WorkloadInput,
    stop: &AtomicBool,
) -> Result<Option<HeadroomAnswer>, CommandFailure> {
    if input.pool_division().is_some() {
        return Err(CommandFailure::usage_error(
            "a bracket is one of one machine, and the site has several pools; SITE#POOL names one",
        ));
    }
    let workload = &input.workload;
    let selection = args.trim.unwrap_or_else(|| experiment::study_selection(args.cleaning.study));
    let mut experiment = input::untrimmed_experiment(args.cleaning.study, args.seed, &input.header);
    experiment.trim = selection.to_string();
    let (ran, outages) = simulate_policies(args, input, &mut experiment, stop)?;
    let Some(first) = ran.iter().find(|run| run.shown) else { return Ok(None) };
    report::warn_if_none_counts(&first.report);
    let case =
        HeadroomCase::from_rows(workload, &first.rows, (&outages, args.real.feedback), (args.measure, selection));
    let case = case.map_err(CommandFailure::caused_by)?;
    refuse_others(&case, &ran)?;
    let schedules: Vec<BracketSchedule<'_>> = ran
        .iter()
        .filter(|run| case.count_differing(&run.rows) == 0)
        .map(|run| BracketSchedule { policy: run.spec.text(), rows: &run.rows, shown: run.shown })
        .collect();
    let seek = Seek {
        grids: args.grid.unwrap_or(if workload.len() < MANY { Grid::FiveMinutes } else { Grid::Quarter }).grid_steps(),
        limit: search_limit(args),
        seed: args.seed,
        threads: thread_count(args.threads),
        stop,
    };
    let sought = seek_bracket(&case, &schedules, &seek)?;
    let rows = case.schedule_rows(&first.rows, &sought.schedule);
    let found_report = measure_schedule(workload, &rows, &outages, selection);
    let beside =
        |run: &HeadroomRun| BracketNeighbours { policy: PolicyMeta::from_spec(&run.spec), report: run.report.clone() };
    let result = HeadroomResult {
        schema: "drystone/headroom/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        experiment,
        floor_of_slowdown: args.floor,
        measure: args.measure,
        whole: args.output.details,
        verdict: result::bracket_lines(&sought.bracket, args.measure, result::shows_floor(args.measure, args.floor)),
        bracket: sought.bracket.clone(),
        policies: ran.iter().filter(|run| run.shown).map(beside).collect(),
        found: BracketNeighbours { policy: found_meta(args, &sought), report: found_report },
    };
    Ok(Some(HeadroomAnswer { result, rows, sought, case, outages }))
}

/// Returns the limit of the search; `None` for no search.
fn search_limit(args: &HeadroomArgs) -> Option<TimeLimit> {
    match args.trials {
        Some(trials) => Some(TimeLimit::Trials(trials)),
        None if args.search_for > Span::ZERO => {
            Some(TimeLimit::Time(Duration::from_secs(args.search_for.0.unsigned_abs())))
        }
        None => None,
    }
}

/// As many threads as were asked for, else as there are processors.
pub(crate) fn thread_count(thread_option: Option<u16>) -> usize {
    thread_option.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// The floor belongs to one set of jobs.
fn refuse_others(case: &HeadroomCase, ran: &[HeadroomRun]) -> Result<(), CommandFailure> {
    let Some((one, others)) =
        ran.iter().filter(|run| run.shown).map(|run| (run, case.count_differing(&run.rows))).find(|o| o.1 > 0)
    else {
        return Ok(());
    };
    Err(CommandFailure::usage_error(format_args!(
        "{}: {} of {} have another submit time, size or run time than under {}, and a floor belongs to one set of jobs; leave the \
         policy out, or --overrun run-on, under which no policy ends a job before its time",
        one.spec,
        format_plural(others as u64, "job"),
        format_count(one.rows.len() as u64),
        ran.first().map_or_else(String::new, |first| first.spec.to_string())
    )))
}

/// Simulates the policies beside the bracket, and the further starting points. Cancelled ones are
/// left out.
fn simulate_policies(
    args: &HeadroomArgs,
    input: &WorkloadInput,
    experiment: &mut ExperimentMeta,
    stop: &AtomicBool,
) -> Result<(Vec<HeadroomRun>, Outages), CommandFailure> {
    let workload = &input.workload;
    let study = args.cleaning.study;
    let asked_specs: Vec<PolicySpec> = if args.policy.is_empty() {
        SHOWN.iter().filter_map(|text| text.parse().ok()).collect()
    } else {
        args.policy.clone()
    };
    let mut specs: Vec<(PolicySpec, bool)> = Vec::new();
    let further_specs = BEGINNINGS.iter().filter_map(|text| text.parse().ok()).map(|spec: PolicySpec| (spec, false));
    for (spec, is_asked) in asked_specs.into_iter().map(|spec| (spec, true)).chain(further_specs) {
        let spec = input.localised_policy(&input::in_study(&spec, study)?)?;
        if !specs.iter().any(|(spec_before, _)| spec_before.text() == spec.text()) {
            specs.push((spec, is_asked));
        }
    }
    input.check_fit(specs.iter().map(|(spec, _)| spec))?;
    let mut outages = Outages::default();
    for (spec, _) in &specs {
        outages =
            PolicyFiles::read_files((None, None), (&args.real, &FailureArgs::default()), spec, input, experiment)?
                .outages;
    }
    let selection = args.trim.unwrap_or_else(|| experiment::study_selection(study));
    let progress = WorkProgress::new("simulating", "jobs", Some((specs.len() * workload.len()) as u64));
    let simulate_spec =
        |_: usize, (spec, is_shown): (PolicySpec, bool)| -> Result<Option<HeadroomRun>, CommandFailure> {
            let config = MetricsConfig { selection, keep_jobs: true, ..MetricsConfig::default() };
            let report_jobs = |jobs| progress.add_done(jobs);
            let simulation = Experiment::new(&spec, workload)
                .with_outages(Some(&outages))
                .feeding_back(args.real.feedback)
                .with_metrics(config)
                .with_progress(&report_jobs)
                .with_stop(stop);
            let measurement = simulation.run(&mut ()).map_err(|e| CommandFailure::experiment_error(spec.text(), e))?;
            Ok(measurement.map(|outcome| {
                let mut report = outcome.report;
                let rows = report.take_schedule().unwrap_or_default();
                HeadroomRun { spec, report, rows, shown: is_shown }
            }))
        };
    let ran: Result<Vec<Option<HeadroomRun>>, CommandFailure> =
        parallel::map(specs, thread_count(args.threads), simulate_spec).into_iter().collect();
    Ok((ran?.into_iter().flatten().collect(), outages))
}

fn measure_schedule(
    workload: &Workload,
    rows: &[JobRow],
    outages: &Outages,
    selection: drystone::metrics::JobSelection,
) -> Report {
    let config = MetricsConfig { selection, predictability: false, ..MetricsConfig::default() };
    let mut collector = Collector::new(Scope::from_workload(workload), config);
    replay_rows(workload, rows, outages, &mut collector);
    collector.finish()
}

/// Returns the metadata that represent the schedule found.
fn found_meta(args: &HeadroomArgs, sought: &Sought) -> PolicyMeta {
    let pair = |name: &str, value: String| (name.to_string(), value);
    let best_found = &sought.bracket.found;
    let parameters = vec![
        pair("measure", args.measure.option_word().to_string()),
        pair("begun-from", best_found.begun_from.clone()),
        pair("trials", best_found.trials.to_string()),
        pair("seed", best_found.seed.to_string()),
    ];
    PolicyMeta {
        text: "best found".to_string(),
        kind: "headroom".to_string(),
        parameters: NamedPairs(parameters),
        clairvoyant: true,
        preemptive: false,
    }
}
