//! `drystone advise`: what a site can change tomorrow, and what that is worth on weeks that were
//! not used to find it.

mod advised;
pub(crate) mod check;
mod document;
mod inputs;
mod limits;
mod overview;
mod recent;
mod result;
mod rows;
mod simulate;

use self::advised::{Advised, PayingClasses, SiteBaseline};
use self::inputs::AdviseInputs;
use self::limits::Changer;
use self::recent::{RecentInput, RecentPart, read_recent};
use self::simulate::CliBench;
use crate::args::{AdviseArgs, Only};
use crate::commands::compare::candidates::takes_long;
use crate::commands::compare::replay::JobReplay;
use crate::commands::whatif::baseline::path_text;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, WorkloadInput};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::{self, Printable, ReportFile, file, message};
use crate::wait_conditions::HeldWaits;
use drystone::metrics::{JobSelection, Measure, MetricUnit};
use drystone::model::{Span, Time};
use drystone::policy::PolicySpec;
use drystone_advise::{
    Advice, AdviceReason, AdviceSettings, AdviceStudy, AdvisedWay, GoalFigure, KnobChange, LivePolicy, PassCost,
    PeriodFigures, SiteKnobs, Thresholds, list_options,
};
use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::SlurmConf;
use drystone_whatif::{ChangeList, ClassChange, PeriodLength, Periods};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Waits are excessive beyond what so large a share of the jobs wait now.
const EXCESSIVE: f64 = 0.98;

pub(crate) fn run_advise(args: &AdviseArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    let log = args.source.require_path("advise")?;
    let input_paths = [Some(log), args.slurm.as_deref(), args.sdiag.as_deref(), args.accounts.as_deref()];
    file::check_distinct(
        &input_paths,
        &[("--report", args.output.report.as_deref()), ("--audit", args.log.audit.as_deref())],
    )?;
    if args.check {
        return check::check_conf(args, log);
    }
    let report = args.output.report.as_deref().map(ReportFile::create_file).transpose()?;
    let cost = pass_cost(args)?;
    let RecentInput { args, mut input, part } = read_recent(args)?;
    let args = &args;
    part.iter().for_each(|part| message::print_note(&part.format_sentence()));
    let site = site_knobs(args, &input, cost)?;
    // What needs no simulation is said at once.
    let waits = check::waits_of(&input, args.source.path().unwrap_or(Path::new("")))?;
    for remark in check::remarks_of_site(&input, &site, waits.as_ref()).iter().filter(|remark| remark.change) {
        message::print_note(&format!("{}: {} (--check)", remark.setting, remark.text));
    }
    let stop = interrupt::stop_in_order();
    if let Some(time) = args.within {
        interrupt::stop_after(time).map_err(|e| CommandFailure::usage_error(format_args!("--within: {e}")))?;
    }
    let Some((result, is_interrupted)) = compute_advice((args, part), &mut input, site, stop)? else {
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

/// Advice for programs; `None` on cancellation. `given` is the log where it is in memory.
pub(crate) fn find_advice(
    args: &AdviseArgs,
    log_input: Option<&WorkloadInput>,
    stop: &AtomicBool,
) -> Result<Option<impl Printable + use<>>, CommandFailure> {
    if args.within.is_some() {
        return Err(CommandFailure::usage_error(
            "--within is for the command line: a program stops when it is interrupted",
        ));
    }
    let cost = pass_cost(args)?;
    let RecentInput { args, mut input, part } = match log_input {
        Some(input) => RecentInput { args: args.clone(), input: input.clone(), part: None },
        None => read_recent(args)?,
    };
    let site = site_knobs(&args, &input, cost)?;
    let outcome = compute_advice((&args, part), &mut input, site, stop)?;
    Ok(outcome.filter(|_| !stop.load(Ordering::Relaxed)).map(|(result, _)| result))
}

/// Returns the duration of passes.
fn pass_cost(args: &AdviseArgs) -> Result<PassCost, CommandFailure> {
    let Some(path) = &args.sdiag else { return Ok(PassCost::for_unknown_site()) };
    let wrong =
        |problem: &dyn std::fmt::Display| CommandFailure::usage_error(format_args!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    PassCost::of_sdiag(&text).map_err(|error| wrong(&error))
}

fn site_knobs(args: &AdviseArgs, input: &WorkloadInput, cost: PassCost) -> Result<SiteKnobs, CommandFailure> {
    let own = input.site.as_ref().and_then(|site| site.slurm_conf());
    let path = args.slurm.clone().or(own);
    path.iter().for_each(|path| crate::site::remarks_of(path, false));
    let conf = path.map(|path| -> Result<(String, SlurmConf), CommandFailure> {
        let conf = SlurmConf::read_file(&path).map_err(CommandFailure::usage_error)?;
        Ok((path_text(&path)?, conf))
    });
    let conf = conf.transpose()?;
    let mut more = Vec::new();
    if conf.is_none() && args.cpus > 1 {
        more.push(("cpus".to_string(), args.cpus.to_string()));
    }
    // Names and accounts of a site are found beside its slurm.conf.
    if let Some(path) = &args.accounts {
        more.push(("accounts".to_string(), path_text(path)?));
    }
    let accounts = match &args.accounts {
        Some(path) => std::fs::read_to_string(path).ok().and_then(|text| Accounts::parse(&text, "accounts").ok()),
        None => input.site.as_ref().and_then(|site| site.site.accounts()),
    };
    let ranks = accounts.iter().flat_map(|accounts| &accounts.qos).map(|qos| qos.priority).collect::<BTreeSet<_>>();
    let longest = input.workload.jobs().iter().map(|job| job.estimate.0).max().unwrap_or(0);
    // Whether passes take time that matters is known once it is known how many jobs wait.
    Ok(SiteKnobs { conf, more, cost, instantaneous: true, longest: (longest + 59) / 60, ranks_qos: ranks.len() > 1 })
}

/// Tries, chooses and judges; answers also whether it was interrupted. `None` where not even the
/// site as it is was known by then.
fn compute_advice(
    (args, recent): (&AdviseArgs, Option<RecentPart>),
    input: &mut WorkloadInput,
    mut site: SiteKnobs,
    stop: &AtomicBool,
) -> Result<Option<(Advised, bool)>, CommandFailure> {
    let selection = match args.warm_up {
        Some(warm_up) => JobSelection::Window { warm_up, cool_down: Span(0) },
        None => input.site.as_ref().map_or(JobSelection::All, |site| site.selection),
    };
    let mut experiment = input::untrimmed_experiment(args.log.study, args.seed, &input.header);
    experiment.trim = selection.to_string();
    let outages = input.find_outages(&args.real, &mut experiment)?;
    let periods = choose_periods(input, selection, args.cut.slice.is_some());
    let (changes, live) = candidates_to_try(args, &site);
    let changer = Changer::from_args(args, input, &outages)?;
    let guards = changer.looked_up(&args.guard)?;
    let waits = check::waits_of(input, args.source.path().unwrap_or(Path::new("")))?;
    let remarks = check::remarks_of_site(input, &site, waits.as_ref());
    let first = AdviceStudy::new(&site, (&args.goal, &guards), (Vec::new(), Vec::new()), args.phases);
    let figures = first.figures.clone();
    drop(first);
    let base: PolicySpec = site.policy_text(&[], 0).parse()?;
    input.check_fit([&base])?;
    let ground = AdviseInputs {
        outages: &outages,
        selection,
        periods: &periods,
        figures: &figures,
        feedback: args.real.feedback,
        stop,
    };
    let Some(first) = simulate::simulate_first(&ground, input, &base)? else { return Ok(None) };
    message::print_note(&first.format_sentence());
    let thresholds = Thresholds { excess: Span(first.wait_percentile(EXCESSIVE).unwrap_or(0.0).ceil() as i64) };
    let replay = input
        .site
        .as_ref()
        .filter(|site| !site.plain)
        .and_then(|site| JobReplay::from_rows(site, base.text(), &first.rows));
    site.instantaneous = !site.passes_matter(first.most_waiting);
    let site = &site;
    let (live, left_out) = affordable_policies(live, input, first.waiting)?;
    let mut study = AdviceStudy::new(site, (&args.goal, &guards), (changes, live), args.phases);
    let threads = args.threads.map_or_else(crate::site::thread_count, usize::from);
    if args.only.is_none() || args.only == Some(Only::Limits) {
        study.limits = changer.list_candidates();
    }
    let as_it_is = study.candidate_policy(&AdviceStudy::baseline_candidate(), 0);
    if as_it_is == base.text() {
        let ended_jobs = first.ended.iter().map(|(job, wait, ran)| (job, *wait, *ran));
        study.add_result(as_it_is, PeriodFigures::of_jobs(&figures, thresholds, &periods, ended_jobs));
    }
    let mut bench = CliBench { ground, input, thresholds, threads, changer: &changer };
    let plan = AdviceSettings {
        splits: args.splits.into(),
        seed: args.seed,
        knobs: args.knobs.into(),
        weekly: periods.length == PeriodLength::Week,
    };
    let outcome = drystone_advise::give_advice(&mut study, &mut bench, plan)?;
    let is_stopped = interrupt::stop_at_once() || stop.load(Ordering::Relaxed);
    let Some(mut advice) = outcome else { return Ok(None) };
    for answer in [&mut advice.settings, &mut advice.live, &mut advice.limits] {
        restrain_answer(answer, &study, replay.as_ref());
        restrain_unnoticed(answer, &study);
    }
    let held_waits = HeldWaits::measure_waits(input, (&outages, args.real.feedback), stop)?;
    let pays =
        if is_stopped { PayingClasses::default() } else { paying_classes(&changer, input, &study, &advice, &ground)? };
    let baseline = site_baseline(&study, &advice);
    let result = Advised {
        whole: args.output.details,
        schema: "drystone/advise/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        experiment,
        goal: args.goal.to_string(),
        guards: args.guard.iter().map(ToString::to_string).collect(),
        excess_beyond: figures.iter().any(GoalFigure::needs_threshold).then_some(thresholds.excess.as_f64()),
        slurm: site.conf.as_ref().map(|(path, _)| path.clone()),
        cost: site.cost.clone(),
        instantaneous: site.instantaneous,
        most_waiting: first.most_waiting,
        period: periods.length,
        edges_left_out: periods.leaves_out_edges(),
        seed: args.seed,
        splits: args.splits,
        settings_tried: args.only.is_none_or(|only| only == Only::Settings),
        live_tried: args.only.is_none_or(|only| only == Only::Live),
        limits_tried: args.only.is_none_or(|only| only == Only::Limits),
        pays,
        counts_processors: counts_processors(site, args),
        not_tried: left_out,
        held: held_waits,
        waits,
        to_look_at: remarks.iter().filter(|remark| remark.change).map(|remark| remark.setting).collect(),
        path: args.source.path().map_or_else(|| "SITE".to_string(), |path| path.display().to_string()),
        replay,
        baseline,
        stopped: is_stopped,
        recent,
        advice,
    };
    Ok(Some((result, is_stopped && !interrupt::time_is_up())))
}

/// True if a node of the site has several processors.
fn counts_processors(site: &SiteKnobs, args: &AdviseArgs) -> bool {
    let conf = site.conf.as_ref();
    conf.map_or(args.cpus > 1, |(_, conf)| conf.nodes.iter().any(|node| node.cpus > 1))
}

fn candidates_to_try(args: &AdviseArgs, site: &SiteKnobs) -> (Vec<KnobChange>, Vec<LivePolicy>) {
    let (changes, live) = list_options(site, &args.goal);
    match args.only {
        Some(Only::Settings) => (changes, Vec::new()),
        Some(Only::Live) => (Vec::new(), live),
        Some(Only::Limits) => (Vec::new(), Vec::new()),
        None => (changes, live),
    }
}

/// Live policies without those that would take long on this log, by name, or cannot be simulated on
/// it.
fn affordable_policies(
    live: Vec<LivePolicy>,
    input: &WorkloadInput,
    waiting: f64,
) -> Result<(Vec<LivePolicy>, Vec<String>), CommandFailure> {
    let (mut kept_policies, mut left_out) = (Vec::new(), Vec::new());
    for candidate in live {
        let spec: PolicySpec = candidate.policy.parse()?;
        if takes_long(&spec, input.workload.len(), waiting) || input.check_fit([&spec]).is_err() {
            left_out.push(candidate.policy);
        } else {
            kept_policies.push(candidate);
        }
    }
    Ok((kept_policies, left_out))
}

/// The periods of the jobs that count. A slice begins with an empty machine, and ends with one that
/// becomes empty.
fn choose_periods(input: &WorkloadInput, selection: JobSelection, is_sliced: bool) -> Periods {
    let (first, last) = input.workload.submit_range().unwrap_or_default();
    let begin = input.workload.circumstances().and_then(|circumstances| circumstances.begin);
    let first = begin.map_or(first, |begin| begin.max(first));
    let (from, until, cut) = match selection {
        JobSelection::Submitted { from, until } => (from.max(first), Time(until.0 - 1).min(last), true),
        JobSelection::Window { warm_up, cool_down } => (first + warm_up, Time(last.0 - cool_down.0), true),
        JobSelection::All | JobSelection::Tsafrir | JobSelection::Completed => (first, last, false),
    };
    Periods::from_submits((from, until.max(from)), is_sliced || (!cut && begin.is_none()))
}

/// Times that differ by fewer seconds are no difference that a user notices.
const NOTICEABLE: f64 = 30.0;
/// Relative differences of other figures below this are none.
const NOTICEABLE_PART: f64 = 0.01;

/// Takes back what is recommended for a change of the goal that no user notices.
fn restrain_unnoticed(answer: &mut AdvisedWay, study: &AdviceStudy<'_>) {
    if !answer.is_recommended() {
        return;
    }
    let is_noticed = |figure: &GoalFigure| {
        let name = figure.to_string();
        let Some(change) = answer.figures.iter().find(|change| change.figure == name) else { return true };
        let by = (change.after - change.before).abs();
        match figure.unit() {
            MetricUnit::Seconds => by >= NOTICEABLE,
            _ => by >= NOTICEABLE_PART * change.before.abs(),
        }
    };
    if !study.goal.figures().iter().any(is_noticed) {
        answer.reason = AdviceReason::Unnoticed;
    }
}

/// Takes back what is recommended for less than the replay of the site is wrong: by every figure of
/// the goal of which that is known, else by the mean wait.
fn restrain_answer(answer: &mut AdvisedWay, study: &AdviceStudy<'_>, replay: Option<&JobReplay>) {
    let (Some(replay), true) = (replay, answer.is_recommended()) else { return };
    let error = |figure: &GoalFigure| match figure {
        GoalFigure::Goal(drystone::policy::goal::GoalMeasure::Wait) => Some(replay.wait.error),
        GoalFigure::Goal(drystone::policy::goal::GoalMeasure::Slowdown) => Some(replay.bounded_slowdown.error),
        GoalFigure::Catalogue(objective) if !objective.maximum => match objective.measure {
            Measure::Wait => Some(replay.wait.error),
            Measure::Response => Some(replay.response.error),
            _ => Some(replay.bounded_slowdown.error),
        },
        _ => None,
    };
    let inside = |figure: &GoalFigure, error: f64| {
        let name = figure.to_string();
        let figure_change = answer.figures.iter().find(|change| change.figure == name);
        figure_change.is_some_and(|change| (change.after - change.before).abs() <= error)
    };
    let within_error: Vec<bool> =
        study.goal.figures().iter().filter_map(|figure| Some(inside(figure, error(figure)?))).collect();
    let mean_wait = GoalFigure::Goal(drystone::policy::goal::GoalMeasure::Wait);
    let all_inside = if within_error.is_empty() {
        inside(&mean_wait, replay.wait.error)
    } else {
        within_error.iter().all(|&is_within| is_within)
    };
    if all_inside {
        answer.reason = AdviceReason::InsideReplayError;
    }
}

/// The classes of jobs that gain from what is recommended, and those that pay for it.
fn paying_classes(
    changer: &Changer,
    input: &WorkloadInput,
    study: &AdviceStudy<'_>,
    advice: &Advice,
    ground: &AdviseInputs<'_>,
) -> Result<PayingClasses, CommandFailure> {
    let no_change = ChangeList::default();
    let now = study.candidate_policy(&AdviceStudy::baseline_candidate(), 0);
    let of = |answer: &AdvisedWay| -> Result<Vec<ClassChange>, CommandFailure> {
        let Some(best) = answer.best.as_ref().filter(|_| answer.is_recommended()) else { return Ok(Vec::new()) };
        match best.policy.split_once('\n') {
            Some((policy, change)) => {
                let list: ChangeList = change.parse().map_err(CommandFailure::caused_by)?;
                changer.paying_classes(input, ((&now, &no_change), (policy, &list)), ground)
            }
            None => changer.paying_classes(input, ((&now, &no_change), (&best.policy, &no_change)), ground),
        }
    };
    Ok(PayingClasses { settings: of(&advice.settings)?, live: of(&advice.live)?, limits: of(&advice.limits)? })
}

/// The site as it is, in numbers.
fn site_baseline(study: &AdviceStudy<'_>, advice: &Advice) -> SiteBaseline {
    let candidate = AdviceStudy::baseline_candidate();
    let values = study.candidate_values(&candidate, &study.filled_periods()).unwrap_or_default();
    let names = study.figures.iter().map(ToString::to_string);
    SiteBaseline {
        policy: study.candidate_policy(&candidate, 0),
        spread: advice.spread,
        figures: names
            .zip(study.figures.iter().copied())
            .zip(values)
            .map(|((name, figure), value)| (name, figure, value))
            .collect(),
    }
}
