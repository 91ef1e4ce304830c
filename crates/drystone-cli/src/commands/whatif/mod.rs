//! `drystone whatif`: a site or a log after changes, beside itself without them.

pub(crate) mod baseline;
pub(crate) mod classes;
mod curve;
mod document;
mod facts;
mod printed;
mod result;
mod rows;
pub(crate) mod simulate;

use self::baseline::WhatIfBaseline;
use self::result::{MeanWaitReplay, NodeAlternative, WhatIfResult};
use self::simulate::WhatIfInputs;
use crate::args::WhatifArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, WorkloadInput};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::{self, Printable, ReportFile, file, message};
use drystone::metrics::JobSelection;
use drystone_whatif::{Applied, ArrivalChange, ChangeList, SiteChange, apply_changes};

/// Most alternatives that are simulated at once.
const MOST: usize = 100;

/// Records that load by compression cannot keep.
const WITHOUT: &str = "Load by compression moves every job, so neither side has what the site recorded at its own times: nodes that were \
                       out, and jobs that ran or waited at the beginning. --arrivals resampled keeps both.";

pub(crate) fn run_whatif(args: &WhatifArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    let input_paths = [args.source.path(), args.slurm.as_deref(), args.accounts.as_deref()];
    file::check_distinct(
        &input_paths,
        &[("--report", args.output.report.as_deref()), ("--audit", args.log.audit.as_deref())],
    )?;
    let lists = args.list_alternatives().map_err(CommandFailure::usage_error)?;
    check_lists(&lists)?;
    let report = args.output.report.as_deref().map(ReportFile::create_file).transpose()?;
    let mut input = read_input(args, &lists)?;
    let stop = interrupt::stop_in_order();
    if let Some(time) = args.within {
        interrupt::stop_after(time).map_err(|e| CommandFailure::usage_error(format_args!("--within: {e}")))?;
    }
    let outcome = compare_changes(args, &mut input, &lists, stop)?;
    interrupt::stop_at_once();
    let Some((result, is_interrupted)) = outcome else {
        let reason = if interrupt::time_is_up() { "time was up" } else { "interrupted" };
        message::print_note(&format!("{reason} before the site as it is was simulated"));
        return Ok(if interrupt::time_is_up() { DONE } else { interrupt::exit_code() });
    };
    if let Some(file) = report.and_then(|file| file.unless_lost(is_interrupted)) {
        file.write_result(&result)?.publish()?;
    }
    output::print_result(&result, args.output.format)?;
    Ok(if is_interrupted { interrupt::exit_code() } else { DONE })
}

fn check_lists(lists: &[ChangeList]) -> Result<(), CommandFailure> {
    match lists.len() {
        0 => Err(CommandFailure::usage_error(
            "nothing is to change; give e.g. --nodes +8, --limits x0.5 or --change 'nodes +8; load 1.2' (drystone whatif --help)",
        )),
        1..=MOST => Ok(()),
        many => Err(CommandFailure::usage_error(format_args!(
            "{many} alternatives; no more than {MOST} are possible. Options of different kinds multiply: leave some values out"
        ))),
    }
}

/// The site or log. Where jobs are to arrive at other times, neither side has what happened at the
/// recorded ones.
fn read_input(args: &WhatifArgs, lists: &[ChangeList]) -> Result<WorkloadInput, CommandFailure> {
    let compresses = |change: &SiteChange| matches!(change, SiteChange::Load(factor, ArrivalChange::Compressed) if factor.as_f64() != 1.0);
    let moves = lists.iter().flat_map(|list| &list.0).any(compresses);
    if moves && args.real.warm_start.is_some() {
        return Err(CommandFailure::usage_error(
            "--warm-start does not go with a load by compression: what ran and waited is recorded at the load of the log",
        ));
    }
    let log = crate::args::LogArgs { load: None, ..args.log.clone() };
    let read_args = (&log, &args.cut, &args.real);
    match moves {
        true => WorkloadInput::whole_plain(args.source.path(), read_args, args.seed),
        false => WorkloadInput::read_whole(args.source.path(), read_args, args.seed),
    }
}

/// The result of a question, for programs; `None` on cancellation. `given` is the log where it is
/// in memory.
pub(crate) fn find_result(
    args: &WhatifArgs,
    log_input: Option<&WorkloadInput>,
    stop: &std::sync::atomic::AtomicBool,
) -> Result<Option<impl Printable + use<>>, CommandFailure> {
    let lists = args.list_alternatives().map_err(CommandFailure::usage_error)?;
    check_lists(&lists)?;
    let mut input = match log_input {
        Some(input) => input.clone(),
        None => read_input(args, &lists)?,
    };
    let outcome = compare_changes(args, &mut input, &lists, stop)?;
    Ok(outcome.filter(|_| !stop.load(std::sync::atomic::Ordering::Relaxed)).map(|(result, _)| result))
}

/// Simulates before and after, and compares; whether it was interrupted beside it. `None` where not
/// even the site as it is was known by then.
fn compare_changes(
    args: &WhatifArgs,
    input: &mut WorkloadInput,
    lists: &[ChangeList],
    stop: &std::sync::atomic::AtomicBool,
) -> Result<Option<(WhatIfResult, bool)>, CommandFailure> {
    let selection = input.site.as_ref().map_or(JobSelection::All, |site| site.selection);
    let mut experiment = input::untrimmed_experiment(args.log.study, args.seed, &input.header);
    experiment.trim = selection.to_string();
    let outages = input.find_outages(&args.real, &mut experiment)?;
    let baseline = WhatIfBaseline::from_args(args, input, &outages)?;
    let log_end = input.workload.submit_range().map_or(drystone::model::Time(0), |(_, last)| last);
    let clock = |text: &str| {
        drystone_whatif::parse_moment(&input.workload.provenance, log_end, text).map_err(|error| error.to_string())
    };
    let apply = |list: &ChangeList| {
        apply_changes(&baseline.premises, list, &clock, args.seed).map_err(CommandFailure::caused_by)
    };
    let before = apply(&ChangeList::default())?;
    let after: Vec<Applied> = lists.iter().map(apply).collect::<Result<_, _>>()?;
    let bench = WhatIfInputs { args, baseline: &baseline, selection, stop };
    let Some(scenarios) = bench.simulate_all(&before, &after, lists)? else { return Ok(None) };
    let is_stopped = stop.load(std::sync::atomic::Ordering::Relaxed);
    let classes = classes::JobClasses::from_input(input, &baseline, &scenarios.before);
    let mut alternatives = Vec::new();
    let mut not_done = Vec::new();
    for ((list, changed_site), ran) in lists.iter().zip(&after).zip(&scenarios.after) {
        match ran {
            Some(ran) => {
                let applied_changes = ran.repaired.as_ref().unwrap_or(changed_site);
                alternatives.push(NodeAlternative::from_runs(
                    list,
                    applied_changes,
                    (&scenarios, ran),
                    &classes,
                    args.confidence,
                ));
            }
            None => not_done.push(list.to_string()),
        }
    }
    result::judge_family(&mut alternatives, scenarios.noise, args.confidence);
    if let Some(warning) = scenarios.before.counted_places().next().is_none().then_some("no job counts") {
        message::print_warning(warning);
    }
    let curve = curve::find_curve(lists, (&baseline.premises, &after), &scenarios, args.confidence);
    let result = WhatIfResult {
        schema: "drystone/whatif/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        experiment,
        policy: baseline.name.clone(),
        own: baseline.own,
        unit: baseline.unit,
        confidence: args.confidence,
        seed: args.seed,
        period: scenarios.before.periods.length,
        periods: scenarios.before.periods.period_count(),
        basis: scenarios.before.periods.estimate_basis(),
        clock_noise: scenarios.noise,
        machine: input
            .site
            .as_ref()
            .filter(|_| !baseline.premises.is_slurm)
            .map(crate::site::SiteInput::describe_assumptions),
        replay: input
            .site
            .as_ref()
            .filter(|site| !site.plain)
            .and_then(|site| MeanWaitReplay::from_site(site, &scenarios.before)),
        without: input.site.as_ref().filter(|site| site.plain).map(|_| WITHOUT),
        example: args.source.path().is_none(),
        whole: args.output.details,
        before: scenarios.before.compute_figures(),
        alternatives,
        curve,
        not_done,
    };
    Ok(Some((result, is_stopped && !interrupt::time_is_up())))
}
