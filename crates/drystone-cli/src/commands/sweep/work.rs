//! Simulating a study, or a part of it.

use super::status::Progressed;
use crate::args::{ChunkArgs, MergeArgs, ResumeArgs, SweepArgs, WorkArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE, VIOLATION};
use crate::input::InputKind;
use crate::input::resources::say_what_is_odd;
use crate::interrupt;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{fixed_or, format_count, format_duration, format_plural, format_speed};
use crate::output::{self, Printable, message};
use crate::progress::WorkProgress;
use crate::waiting::WaitingNote;
use drystone::metrics::Better;
use drystone_sweep::{
    Executor, LongRun, Processes, Store, StoreGrowth, SweepChunk, SweepPlan, SweepStudy, Vigil, WorkSummary,
    calibrate_costs, carry_out_except, merge_stores, open_chunk, take_up,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Duration from which on a simulation is named.
const LONG: Duration = Duration::from_secs(60);

pub(super) fn run_sweep(args: &SweepArgs) -> CommandOutcome {
    message::be_quiet(args.work.quiet);
    let Some(file) = &args.study else { return Err(CommandFailure::usage_error("a study file is needed")) };
    InputKind::refuse_path(file, &[InputKind::Study, InputKind::Log])?;
    let study = SweepStudy::read_file(file)?;
    tell_of_time_limits(&study);
    let plan = make_plan(&study, &args.work)?;
    let store = args.store.clone().unwrap_or_else(|| study.store_path());
    if args.dry_run {
        return dry_run(&plan, &args.work, args.trial, &store);
    }
    let Some(processes) = args.processes else {
        return complete_store(&plan, &store, None, None, &start_vigil(&args.work));
    };
    let program = crate::own_program()?;
    let command = |chunk: SweepChunk, part: &Path| {
        let mut command = Command::new(&program);
        command.args(["sweep", "chunk", &chunk.to_string()]).arg(file).arg("--store").arg(part);
        command.args(["--threads", "1", "--quiet", "--under"]).arg(&store);
        command.args(["--parent", &std::process::id().to_string()]);
        if let Some(logs) = &args.work.logs {
            command.arg("--logs").arg(logs);
        }
        if let Some(limit) = args.work.limit {
            command.arg("--limit").arg(format!("{}s", limit.as_secs_f64()));
        }
        command
    };
    let executor = Processes { count: processes.into(), directory: chunks_of(&store), command: &command };
    complete_store(&plan, &store, None, None, &executor)
}

/// Returns the folder in which processes keep their stores while they work for a store.
fn chunks_of(store: &Path) -> PathBuf {
    // The whole name: others may differ in their ending alone.
    let mut name = store.as_os_str().to_os_string();
    name.push(".chunks");
    name.into()
}

pub(super) fn run_resume(args: &ResumeArgs) -> CommandOutcome {
    message::be_quiet(args.work.quiet);
    let (study, chunk) = Store::open_to_read(&args.store)?.study()?;
    tell_of_time_limits(&study);
    let plan = make_plan(&study, &args.work)?;
    complete_store(&plan, &args.store, chunk, None, &start_vigil(&args.work))
}

pub(super) fn run_chunk(args: &ChunkArgs) -> CommandOutcome {
    message::be_quiet(args.work.quiet);
    let study = SweepStudy::read_file(&args.study)?;
    // The parent of a process that simulates a chunk has told of it.
    if args.under.is_none() {
        tell_of_time_limits(&study);
    }
    let plan = make_plan(&study, &args.work)?;
    let SweepChunk { k, n } = args.chunk;
    let store = args.store.clone().unwrap_or_else(|| {
        let whole = study.store_path();
        let stem = whole.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        whole.with_file_name(format!("{stem}-{k}-of-{n}.db"))
    });
    let under = args.under.as_deref().zip(args.parent).map(|(store, pid)| SweepParent { store, pid });
    if under.is_some() {
        // In order from here on: an end between the making of a lock and its removal would leave
        // the lock.
        interrupt::stop_in_order();
        interrupt::stop_with_parent();
    }
    complete_store(&plan, &store, Some(args.chunk), under, &start_vigil(&args.work))
}

/// Process that has a chunk simulated, and its store.
struct SweepParent<'a> {
    store: &'a Path,
    pid: u32,
}

pub(super) fn run_merge(args: &MergeArgs) -> CommandOutcome {
    let merge_summary = merge_stores(&args.into, &args.from)?;
    let mut document = Document::default();
    document.add_facts(vec![
        ("store".to_string(), args.into.display().to_string()),
        ("results added".to_string(), format_count(merge_summary.added)),
        ("there already, equal".to_string(), format_count(merge_summary.equal)),
        ("still missing".to_string(), format_count(merge_summary.missing)),
    ]);
    output::print_document(&document)?;
    Ok(DONE)
}

fn thread_count(work: &WorkArgs) -> usize {
    work.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// Threads that simulate, and notes on simulations that take long.
fn start_vigil(work: &WorkArgs) -> Vigil<'_> {
    Vigil { threads: thread_count(work), limit: work.limit, long: LONG, tell: &tell_of_long_run }
}

fn tell_of_long_run(plan: &SweepPlan, long: LongRun) {
    let simulation = &plan.simulations[long.place];
    let (case, since) = (plan.case_of(long.place).label(), format_duration(long.since.as_secs_f64()));
    message::print_note(&format!(
        "{} on {case} has been simulated for {since}; --limit TIME stops longer simulations",
        simulation.policy
    ));
}

/// Tells of a store that was of a smaller study.
fn tell_of_growth(path: &Path, growth: StoreGrowth) {
    let StoreGrowth { kept, again, added } = growth;
    let mut parts = vec![format!("{} kept", format_plural(kept as u64, "simulation"))];
    if again > 0 {
        parts.push(format!("{} to be made again for the new metrics", format_count(again as u64)));
    }
    parts.push(format!("{} new", format_count(added as u64)));
    message::print_note(&format!("{} grows with its study: {}", path.display(), parts.join(", ")));
}

/// Says that results depend on the machine, where they do.
fn tell_of_time_limits(study: &SweepStudy) {
    if let Some(policy) = study.timed_policy() {
        message::print_loud_warning(&format!(
            "`{policy}` has a time limit: its results depend on the speed and load of the machine and vary between \
             runs; a limit of nodes instead of `budget` gives equal results everywhere"
        ));
    }
}

pub(super) fn make_plan(study: &SweepStudy, work: &WorkArgs) -> Result<SweepPlan, CommandFailure> {
    let plan = SweepPlan::from_study(study, work.logs.as_deref())?;
    let saved_count = plan.saved_simulations();
    if saved_count > 0 {
        message::print_note(&format!(
            "{} need {}: {} equal to others, simulated once",
            format_plural(plan.configurations.len() as u64, "configuration"),
            format_plural(plan.simulations.len() as u64, "simulation"),
            format_count(saved_count as u64)
        ));
    }
    for (at, case) in plan.cases.iter().enumerate() {
        // Its parts and loads have the same jobs.
        if plan.cases[..at].iter().all(|case_before| case_before.name != case.name) {
            let of = format!("workload {}: ", case.name);
            say_what_is_odd(&of, &of, &case.notes);
        }
        if case.trim.at_most(&case.workload) == 0 {
            let (label, trim) = (case.label(), case.trim);
            message::print_loud_warning(&format!("no job of {label} counts ({trim}): nothing is measured there"));
        }
    }
    Ok(plan)
}

/// Brings a store to completion, without what the store of the parent `under` which it is made has
/// already.
fn complete_store(
    plan: &SweepPlan,
    path: &Path,
    chunk: Option<SweepChunk>,
    under: Option<SweepParent<'_>>,
    executor: &dyn Executor,
) -> CommandOutcome {
    let maybe_store = match (&under, chunk) {
        (Some(parent), Some(chunk)) => open_chunk(path, plan, chunk, &|| interrupt::is_orphan_of(parent.pid))?,
        _ => Some(Store::open(path, plan, chunk)?),
    };
    let Some(mut store) = maybe_store else { return Ok(interrupt::exit_code()) };
    if let Some(growth) = store.growth_at_open() {
        tell_of_growth(path, growth);
    }
    let cancel = interrupt::stop_in_order();
    let chunks = chunks_of(path);
    let remaining_count = take_up(&chunks, plan, &mut store)?;
    if remaining_count > 0 {
        let remaining_text = format_plural(remaining_count as u64, "simulation");
        message::print_note(&format!("{remaining_text} taken over from processes that were cut short"));
    }
    let elsewhere = match under {
        None => BTreeSet::new(),
        Some(parent) => {
            Store::open_to_read(parent.store)?.outcomes(plan)?.into_iter().map(|outcome| outcome.place).collect()
        }
    };
    let recorded_count = store.recorded_places(plan)?.len();
    let total = plan.simulation_places(chunk).count();
    if recorded_count > 0 {
        let (recorded_text, total) = (format_count(recorded_count as u64), format_count(total as u64));
        message::print_note(&format!("{recorded_text} of {total} simulations are recorded already"));
    }
    let progress = WorkProgress::new("simulating", "simulations", Some(total as u64));
    progress.add_done(recorded_count as u64);
    let mut best = BestValues::new(plan);
    let mut over_limit = 0;
    let work_summary = carry_out_except(&elsewhere, plan, &mut store, executor, cancel, &mut |outcome| {
        progress.add_done(1);
        over_limit += usize::from(outcome.measured.is_over_limit());
        if let Some(text) = best.note_outcome(plan, outcome) {
            progress.set_message(text);
        }
    });
    drop(progress);
    let work_summary = work_summary?;
    // All of it is in the store now.
    take_up(&chunks, plan, &mut store)?;
    output::print_document(&Progressed::from_store(&store)?.render_document())?;
    say_what_was_done(&work_summary);
    if work_summary.left > 0 {
        let remaining_text = format_plural(work_summary.left as u64, "simulation");
        message::print_note(&format!("interrupted: {remaining_text} left; the same command continues"));
        return Ok(interrupt::exit_code());
    }
    if over_limit > 0 {
        let stopped_text = format_plural(over_limit as u64, "simulation");
        message::print_warning(&format!(
            "{stopped_text} stopped, longer than --limit: see `drystone sweep status {}`; the same command with a longer one tries \
             them again",
            path.display()
        ));
    }
    if work_summary.failed > over_limit {
        message::print_error(&format!(
            "{} failed: a policy broke its contract, see `drystone sweep status {}`; please report it",
            format_plural((work_summary.failed - over_limit) as u64, "simulation"),
            path.display()
        ));
        return Ok(VIOLATION);
    }
    Ok(DONE)
}

fn say_what_was_done(summary: &WorkSummary) {
    if summary.simulated > 0 && summary.seconds > 0.0 {
        message::print_note(&format!(
            "{} in {}, {} jobs/s",
            format_plural(summary.simulated as u64, "simulation"),
            format_duration(summary.seconds),
            format_speed(summary.jobs as f64 / summary.seconds)
        ));
    }
}

/// The best values of the first metric so far, per workload.
struct BestValues(Vec<Option<f64>>);

impl BestValues {
    fn new(plan: &SweepPlan) -> BestValues {
        BestValues(vec![None; plan.cases.len()])
    }

    /// Returns a message if an outcome is the best of its workload.
    fn note_outcome(&mut self, plan: &SweepPlan, outcome: &drystone_sweep::PlanOutcome) -> Option<String> {
        let simulation = &plan.simulations[outcome.place];
        let metric = plan.metrics.first()?;
        let value = (*outcome.measured.values.first()?)?;
        let best = &mut self.0[simulation.case];
        let better = |old: f64| if metric.better_direction() == Better::More { value > old } else { value < old };
        if best.is_some_and(|old| !better(old)) {
            return None;
        }
        *best = Some(value);
        let case = plan.cases[simulation.case].label();
        Some(format!("; best {metric} on {case} so far {value:.1}: {}", simulation.policy))
    }
}

/// Counts simulations; predicts their duration only on request, by short trials.
fn dry_run(plan: &SweepPlan, work: &WorkArgs, trial: Option<Duration>, store: &Path) -> CommandOutcome {
    let todo: Vec<usize> = plan.simulation_places(None).collect();
    let mut facts = vec![
        ("study".to_string(), plan.name.clone()),
        ("configurations".to_string(), format_count(plan.configurations.len() as u64)),
        ("simulations".to_string(), format_count(plan.simulations.len() as u64)),
        ("saved as equal".to_string(), format_count(plan.saved_simulations() as u64)),
        ("simulated jobs".to_string(), format_count(plan.count_jobs(&todo))),
    ];
    if store.is_file() {
        let recorded_outcomes = match Store::open_to_read(store)?.outcomes(plan) {
            Ok(outcomes) => format_count(outcomes.len() as u64),
            Err(_) => "of another study or a smaller one".to_string(),
        };
        facts.push((format!("recorded in {}", store.display()), recorded_outcomes));
    }
    let mut document = Document::default();
    let Some(budget) = trial else {
        document.add_facts(facts);
        let mut table = DocumentTable::new(["workload", "jobs", "simulations"]);
        for (at, case) in plan.cases.iter().enumerate() {
            let simulations = plan.simulations.iter().filter(|simulation| simulation.case == at).count();
            table.add_row(vec![
                case.label().into(),
                format_count(case.workload.len() as u64).into(),
                format_count(simulations as u64).into(),
            ]);
        }
        document.add_table(table);
        output::print_document(&document)?;
        message::print_note("nothing was simulated; --trial 2s predicts how long it takes");
        return Ok(DONE);
    };
    let threads = thread_count(work);
    let trying = WaitingNote::new("trying simulations");
    let calibration = calibrate_costs(plan, &todo, budget, interrupt::stop_in_order());
    drop(trying);
    let Some(calibrations) = calibration else { return Ok(interrupt::exit_code()) };
    let mut table = DocumentTable::new(["workload", "jobs", "simulations", "tried", "ms each", "all on one thread"]);
    for c in &calibrations {
        let case = &plan.cases[c.case];
        let row: Vec<TableValue> = vec![
            case.label().into(),
            format_count(case.workload.len() as u64).into(),
            format_count(c.simulations as u64).into(),
            match c.stopped {
                0 => format_count(c.tried as u64).into(),
                stop_count => {
                    format!("{} ({} stopped)", format_count(c.tried as u64), format_count(stop_count as u64)).into()
                }
            },
            fixed_or(Some(c.seconds * 1e3), 1).into(),
            format_duration(c.total_seconds()).into(),
        ];
        table.add_row(row);
    }
    let total: f64 = calibrations.iter().map(drystone_sweep::CostCalibration::total_seconds).sum();
    facts.push((
        "predicted time".to_string(),
        format!("{} on {threads} threads", format_duration(total / threads as f64)),
    ));
    document.add_facts(facts);
    document.add_table(table);
    output::print_document(&document)?;
    Ok(DONE)
}
