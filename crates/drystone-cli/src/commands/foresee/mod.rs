//! `drystone foresee`: how good answers to "when will my job start?" would have been on a log.

mod page;
mod scores;

use crate::args::{FailureArgs, ForeseeArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, PolicyFiles, WorkloadInput};
use crate::interrupt;
use crate::meta::PolicyMeta;
use crate::output::{self, ReportFile, file, message};
use crate::progress::WorkProgress;
use drystone::experiment::build_scheduler;
use drystone::model::{Time, Workload};
use drystone::policy::PolicySpec;
use drystone_when::{AnswerMethod, ForecasterSettings, ForeseeError, ForeseeOptions};
pub(crate) use scores::Scores;
use std::sync::atomic::AtomicBool;

pub(crate) fn run_foresee(args: &ForeseeArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    let [outages, circumstances, supply] = args.real.named_files();
    let input_paths = [args.source.path(), args.priorities.as_deref(), outages, circumstances, supply];
    let output_paths = [("--audit", args.log.audit.as_deref()), ("--report", args.output.report.as_deref())];
    file::check_distinct(&input_paths, &output_paths)?;
    let report_file = args.output.report.as_deref().map(ReportFile::create_file).transpose()?;
    let input = WorkloadInput::read_part(args.source.path(), (&args.log, &args.cut, &args.real), args.seed, false)?;
    let scores = compute_scores(args, &input, interrupt::stop_in_order())?;
    let Some(mut scores) = scores.filter(|_| !interrupt::stop_at_once()) else { return Ok(interrupt::exit_code()) };
    if let Some(file) = report_file {
        scores.whole = true;
        file.write_result(&scores)?.publish()?;
    }
    scores.whole = args.output.details;
    output::print_result(&scores, args.output.format)?;
    Ok(DONE)
}

/// Asks and scores; `None` on cancellation.
pub(crate) fn compute_scores(
    args: &ForeseeArgs,
    input: &WorkloadInput,
    stop: &AtomicBool,
) -> Result<Option<Scores>, CommandFailure> {
    let workload = &input.workload;
    if input.pool_division().is_some() {
        return Err(CommandFailure::usage_error(
            "the site has pools side by side, each with a queue of its own; ask about one of them: import it with --partition",
        ));
    }
    let spec = input.localised_policy(&input::in_study(&args.policy, args.log.study)?)?;
    input::check_policies([&spec], workload)?;
    let mut experiment = input::untrimmed_experiment(args.log.study, args.seed, &input.header);
    let PolicyFiles { priorities, outages, .. } = PolicyFiles::read_files(
        (args.priorities.as_deref(), None),
        (&args.real, &FailureArgs::default()),
        &spec,
        input,
        &mut experiment,
    )?;
    let (at_work, jobs) = (spec.clone(), workload.clone());
    let new =
        move || build_scheduler(&at_work, priorities.as_ref(), &jobs).unwrap_or_else(|_| at_work.build_scheduler());
    let mut methods = if args.method.is_empty() { AnswerMethod::ALL.to_vec() } else { args.method.clone() };
    methods.push(AnswerMethod::Calibrated);
    methods.sort_unstable();
    methods.dedup();
    let settings = ForecasterSettings {
        samples: args.samples,
        seed: args.seed,
        monday: find_monday(workload),
        ..ForecasterSettings::default()
    };
    let options = ForeseeOptions {
        settings,
        methods,
        every: args.every.unwrap_or_else(|| question_interval(&spec, workload)),
        again: args.again,
        outages: Some(&outages),
        threads: args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from),
        stop: Some(stop),
        ..ForeseeOptions::default()
    };
    let progress = WorkProgress::new("asking", "jobs", Some(workload.len() as u64));
    let answers = drystone_when::score_answers(workload, &spec, new, &options, &|jobs| progress.add_done(jobs));
    drop(progress);
    let answers = answers.map_err(|error| match error {
        ForeseeError::Simulation(error) => CommandFailure::simulation_error(spec.text(), error),
        other => CommandFailure::usage_error(format_args!("policy {spec}: {other}")),
    })?;
    Ok(answers.map(|foresight| {
        Scores::new(input.workload_meta(), PolicyMeta::from_spec(&spec), experiment, &options, foresight)
    }))
}

/// Questions about a log under a policy with passes of its own clocks, at most: each future of a
/// long wait has thousands of passes.
const QUESTIONS_OF_CLOCKS: usize = 250;
/// Questions about a log with resources beyond processors, at most: futures then have no short cut.
const QUESTIONS_OF_RESOURCES: usize = 3_000;

/// Returns the number of jobs that wait for each question, unless that was given.
fn question_interval(spec: &PolicySpec, workload: &Workload) -> u32 {
    let jobs = workload.len();
    let one_in = |questions: usize| u32::try_from(jobs.div_ceil(questions).max(1)).unwrap_or(u32::MAX);
    match spec.kind().name {
        "slurm" => one_in(QUESTIONS_OF_CLOCKS),
        _ if workload.resources().is_some() => one_in(QUESTIONS_OF_RESOURCES),
        _ => ForeseeOptions::every_of(jobs),
    }
}

/// A midnight before a Monday, in the log's own time.
pub(crate) fn find_monday(workload: &Workload) -> i64 {
    let first = workload.submit_range().map_or(Time::ZERO, |submits| submits.0);
    let calendar = drystone::metrics::Calendar::new(first, &workload.provenance);
    // The first hour of a week, seen from the first submit: found by walking back hour by hour.
    let hour = 3_600;
    let begin = first.0.div_euclid(hour) * hour;
    let back = (0..24 * 7).find(|back| calendar.weekday_and_hour(Time(begin - back * hour)) == (0, 0));
    begin - back.unwrap_or(0) * hour
}
