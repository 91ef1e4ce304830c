//! `drystone evolve`: a search for orders of waiting jobs, and what they are worth where they were
//! not chosen.

mod evolved;
mod overview;
mod regression;
mod search_results;

use crate::args::{EvolveArgs, EvolveMethod};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::{self, Printable, ReportFile, file, message};
use crate::progress::WorkProgress;
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_evolve::{
    ChoiceGround, EvolveSearch, EvolveSettings, JudgedPolicy, LogWeeks, OnLog, ScoredCandidate, SearchError, Stopped,
    judge_policies,
};
use evolved::Evolved;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Published orders and a clairvoyant one, beside which what was found is judged. The first is what
/// changes are against.
const BESIDE: [&str; 9] = ["fcfs", "spf", "saf", "wfp3", "unicef", "f1", "f2", "f3", "f4"];
const CLAIRVOYANT: &str = "easy(order=sjf,backfill=sjf,predict=perfect)";

/// The name under which the best formula at random is judged.
const RANDOM: &str = "best at random";

/// Default number of evaluations, without `--time` or a number.
const EVALUATIONS: u64 = 1_000;
/// Most formulas of the front that are judged.
const JUDGED: usize = 4;

pub(crate) fn run_evolve(args: &EvolveArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    if args.method == EvolveMethod::Regression {
        return regression::run_regression(args);
    }
    let log = args.source.require_path("evolve")?;
    let mut input_paths = vec![Some(log)];
    input_paths.extend(args.learn.iter().chain(&args.also).map(|path| Some(path.as_path())));
    let output_paths = [
        ("--report", args.output.report.as_deref()),
        ("--audit", args.log.audit.as_deref()),
        ("--state", args.state.as_deref()),
    ];
    file::check_distinct(&input_paths, &output_paths)?;
    let report_file = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let input = WorkloadInput::read_workload(Some(log), &args.log, args.seed, false)?;
    let stop = interrupt::stop_in_order();
    let (result, is_interrupted) = search_and_judge(args, &input, stop)?;
    if let Some(file) = report_file {
        file.write_result(&result)?.publish()?;
    }
    output::print_result(&result, args.output.format)?;
    Ok(if is_interrupted { interrupt::exit_code() } else { DONE })
}

/// Searches and judges; answers also whether the search was interrupted.
pub(crate) fn search_and_judge(
    args: &EvolveArgs,
    input: &WorkloadInput,
    stop: &AtomicBool,
) -> Result<(impl Printable + use<>, bool), CommandFailure> {
    let read_input = |path: &PathBuf| WorkloadInput::read_workload(Some(path), &args.log, args.seed, false);
    let learning_inputs = args.learn.iter().map(read_input).collect::<Result<Vec<WorkloadInput>, CommandFailure>>()?;
    let other_inputs = args.also.iter().map(read_input).collect::<Result<Vec<WorkloadInput>, CommandFailure>>()?;
    let parts = LogWeeks { weeks: args.weeks, count: args.parts };
    let guard = args.guard.as_ref();
    let ground = ChoiceGround::new(&input.workload, parts, args.objective, guard, args.policy.clone());
    let ground =
        learning_inputs.iter().try_fold(ground.map_err(CommandFailure::usage_error)?, |ground, other_input| {
            ground
                .with_log(&other_input.workload, parts, guard)
                .map_err(|e| CommandFailure::usage_error(format_args!("{}: {e}", other_input.workload.provenance.name)))
        })?;
    let search = run_search(args, &ground, (input, &learning_inputs), stop)?;
    let is_interrupted = interrupt::stop_at_once() || stop.load(Ordering::Relaxed);
    let state = search.state().clone();
    if is_interrupted {
        message::print_note(&format!(
            "stopped after {} generations; what was found until then is judged{}",
            state.generation,
            if args.state.is_some() { ", and the same command continues" } else { "" }
        ));
    }
    let never = AtomicBool::new(false);
    let policies = policies_to_judge(args, &state.front, &state.random_front)?;
    let progress = WorkProgress::new("judging", "logs", Some((1 + learning_inputs.len() + other_inputs.len()) as u64));
    let mut logs: Vec<OnLog> = Vec::new();
    let own = std::iter::once(input).chain(&learning_inputs).map(|input| (&input.workload, Some(parts)));
    for (workload, parts) in own.chain(other_inputs.iter().map(|other_input| (&other_input.workload, None))) {
        logs.push(judge_log(workload, parts, args, &policies, &never)?);
        progress.add_done(1);
    }
    drop(progress);
    let result = Evolved {
        schema: "drystone/evolve/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        objective: args.objective.to_string(),
        guard: args.guard.as_ref().map(ToString::to_string),
        bound: ground.bound(),
        policy: args.policy.to_string(),
        seed: args.seed,
        parts_of_weeks: args.weeks,
        generations: state.generation,
        evaluations: state.evaluations,
        random_evaluations: state.random_evaluations,
        front: state.front,
        random_front: state.random_front,
        logs,
        whole: args.output.details,
    };
    Ok((result, is_interrupted))
}

/// Searches until time is up, enough is simulated, or it is cancelled.
#[expect(clippy::disallowed_methods, reason = "the user chooses the duration of a search")]
fn run_search<'a>(
    args: &EvolveArgs,
    ground: &'a ChoiceGround,
    (input, learned): (&WorkloadInput, &[WorkloadInput]),
    stop: &AtomicBool,
) -> Result<EvolveSearch<'a>, CommandFailure> {
    let settings = EvolveSettings {
        population: args.population.into(),
        seed: args.seed,
        largest: args.largest.into(),
        ..EvolveSettings::default()
    };
    let threads = args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let of = search_identity(args, (input, learned), &settings);
    let mut search = EvolveSearch::new(ground, settings, threads, of);
    if let Some(state_text) = args.state.as_deref().and_then(|path| std::fs::read_to_string(path).ok()) {
        search = search.resume_from(&state_text).map_err(search_failure)?;
        message::print_note(&format!("going on after {} generations", search.state().generation));
    }
    let most = args.evaluations.or(args.limit.is_none().then_some(EVALUATIONS));
    let progress = WorkProgress::new("searching", "formulas", most);
    progress.add_done(search.state().evaluations);
    let since = Instant::now();
    while most.is_none_or(|most| search.state().evaluations < most)
        && args.limit.is_none_or(|limit| since.elapsed() < limit)
    {
        let before = search.state().evaluations;
        if search.breed_generation(stop).map_err(search_failure)?.is_err() {
            break;
        }
        if search.state().evaluations == before {
            message::print_note("nothing new was bred any more; the search ends");
            break;
        }
        progress.add_done(search.state().evaluations - before);
        if let Some(best) = search.state().population.first() {
            progress.set_message(format!(", best {:.4} {}", best.score.quality, best.formula));
        }
        save_search(args.state.as_deref(), &search)?;
    }
    if !stop.load(Ordering::Relaxed) {
        // Interrupted meanwhile, the front stays as it is.
        let _ = search.polish_front(stop).map_err(search_failure)?;
    }
    Ok(search)
}

fn save_search(path: Option<&Path>, search: &EvolveSearch<'_>) -> Result<(), CommandFailure> {
    match path {
        Some(path) => file::write_bytes(path, search.serialize_state().as_bytes())?.publish(),
        None => Ok(()),
    }
}

fn search_failure(error: SearchError) -> CommandFailure {
    CommandFailure::usage_error(error)
}

fn search_identity(
    args: &EvolveArgs,
    (input, learned): (&WorkloadInput, &[WorkloadInput]),
    settings: &EvolveSettings,
) -> String {
    let other_hashes: String =
        learned.iter().map(|other_input| format!(" and {}", other_input.workload_meta().hash)).collect();
    let guard = args.guard.as_ref().map(ToString::to_string).unwrap_or_default();
    format!(
        "log {}{other_hashes}, objective {}, guard {guard}, policy {}, parts {} of {} weeks, population {}, largest {}, seed {}",
        input.workload_meta().hash,
        args.objective,
        args.policy,
        args.parts,
        args.weeks,
        settings.population,
        settings.largest,
        settings.seed
    )
}

/// Returns the policies to judge: the published orders, the front from its best on, the best at
/// random, and the clairvoyant.
fn policies_to_judge(
    args: &EvolveArgs,
    front: &[ScoredCandidate],
    random: &[ScoredCandidate],
) -> Result<Vec<JudgedPolicy>, CommandFailure> {
    let mut policies = Vec::new();
    let mut add = |name: String, policy: PolicySpec| policies.push(JudgedPolicy { name, policy });
    for order in BESIDE {
        add(order.to_string(), args.policy.with_formula(order)?);
    }
    for (at, formula) in front.iter().rev().take(JUDGED).enumerate() {
        let parts = if formula.size == 1 { "part" } else { "parts" };
        let name = if at == 0 { "evolved".to_string() } else { format!("evolved, of {} {parts}", formula.size) };
        add(name, args.policy.with_formula(&formula.formula)?);
    }
    if let Some(best) = random.last() {
        add(RANDOM.to_string(), args.policy.with_formula(&best.formula)?);
    }
    add("clairvoyant sjf".to_string(), CLAIRVOYANT.parse()?);
    Ok(policies)
}

fn judge_log(
    workload: &Workload,
    parts: Option<LogWeeks>,
    args: &EvolveArgs,
    policies: &[JudgedPolicy],
    stop: &AtomicBool,
) -> Result<OnLog, CommandFailure> {
    match judge_policies(workload, parts, (args.objective, args.guard.as_ref()), policies, stop)
        .map_err(CommandFailure::usage_error)?
    {
        Ok(on_log) => Ok(on_log),
        Err(Stopped) => Err(CommandFailure::usage_error("stopped")),
    }
}
