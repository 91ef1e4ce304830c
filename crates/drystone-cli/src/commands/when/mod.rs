//! `drystone when`: when waiting jobs of a cluster will start.

mod clock;
mod conditions;
mod early_plan;
mod forecast_text;
mod history;
mod places;
mod reasons;
mod reserved;
mod scene;
mod site_nodes;
mod site_text;
pub(super) mod state;
mod unmet;

use crate::args::{StoryFormat, WhenArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::number::format_plural;
use crate::output::{self, message, stdout};
use crate::progress::WorkProgress;
use clock::ZoneClock;
use drystone::engine::Session;
use drystone::model::{Job, JobId, Span, Time};
use drystone::policy::{Phase, PolicySpec};
use drystone_when::{Forecaster, FutureError, Rehearsal, RunTimes, StartAnswer};
use forecast_text::{ChangeRow, WhenChange, WhenOutput};
use scene::WhenScene;
pub(crate) use site_text::read_template;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run_when(args: &WhenArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    if args.ask {
        stdout::write_bytes(state::ASK.as_bytes())?;
        return Ok(DONE);
    }
    let (text, json) = find_answers(args)?;
    match args.format {
        _ if args.text.is_some() => stdout::write_bytes(text.as_bytes())?,
        StoryFormat::Text => output::print_story(&text)?,
        StoryFormat::Json => stdout::write_bytes(&json)?,
    }
    Ok(DONE)
}

/// The answers for people and for programs.
pub(crate) fn find_answers(args: &WhenArgs) -> Result<(String, Vec<u8>), CommandFailure> {
    let Some(dir) = args.state.as_deref() else {
        return Err(CommandFailure::usage_error("--state DIR says where the state is"));
    };
    let clock = ZoneClock::in_zone(args.timezone.as_deref())?;
    let policy = chosen_policy(args, dir)?;
    if policy.build_scheduler().policy.awaits_term().is_some() {
        return Err(CommandFailure::usage_error(format_args!(
            "policy {policy} waits for low carbon intensity or prices, which a state does not hold; leave out `hold`"
        )));
    }
    let mut scene = WhenScene::read_scene(dir, args, &policy)?;
    scene.remarks.iter().for_each(|remark| message::print_warning(remark));
    let output = answer_jobs(args, &mut scene, &clock)?;
    let text = match &args.text {
        Some(template) => output.site_lines(&clock, template),
        None => output.render_text(&clock),
    };
    Ok((text, output::render_json(&output.render_json())?))
}

/// Returns the policy: that of the options, of the folder's own `slurm.conf` where it is Slurm's
/// and names no file, else Slurm's where the folder has one that describes nodes and partitions.
fn chosen_policy(args: &WhenArgs, dir: &Path) -> Result<PolicySpec, CommandFailure> {
    let file = dir.join("slurm.conf");
    let parse = |text: &str| text.parse::<PolicySpec>().map_err(|error| CommandFailure::usage_error(error.to_string()));
    match (&args.policy, file.is_file()) {
        (Some(policy), true) => Ok(drystone_site::with_conf(policy, &file)?),
        (Some(policy), false) => Ok(policy.clone()),
        (None, false) => parse("easy"),
        (None, true) => match drystone_site::with_conf(&parse("slurm")?, &file) {
            Ok(policy) => Ok(policy),
            Err(error) => {
                message::print_warning(&format!("{error}; answers are of --policy easy, which needs no slurm.conf"));
                parse("easy")
            }
        },
    }
}

fn future_failure(policy: &PolicySpec, error: &FutureError) -> CommandFailure {
    CommandFailure::usage_error(format_args!("policy {policy}: {error}"))
}

/// Returns whether the policy has passes of its own clocks: thousands in each future of a long
/// wait.
fn has_clocks(policy: &PolicySpec) -> bool {
    policy.kind().name == "slurm"
}

fn question_count(args: &WhenArgs, policy: &PolicySpec) -> usize {
    args.rehearse.unwrap_or(if has_clocks(policy) { 400 } else { 1_000 })
}

/// Rehearses, then answers for one job or for all.
fn answer_jobs(args: &WhenArgs, scene: &mut WhenScene, clock: &ZoneClock) -> Result<WhenOutput, CommandFailure> {
    let policy = scene.policy.clone();
    let fail = |error: FutureError| future_failure(&policy, &error);
    let schedulers = Arc::clone(&scene.schedulers);
    let forecaster =
        Forecaster::with_schedulers(&policy, scene.forecaster_settings(args), move || schedulers()).map_err(fail)?;
    let threads = args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let mut forecaster = forecaster.on_threads(threads);
    let plan = early_plan::early_plan(args, scene, &mut forecaster, clock).map_err(fail)?;
    let rehearsal = scene.rehearse_past(&mut forecaster, question_count(args, &policy), plan).map_err(fail)?;
    warn_of(&rehearsal, &forecaster, scene);
    let asked_job = scene.asked_job(args)?;
    let adoption = scene.adopt_jobs().map_err(fail)?;
    if adoption.left_out > 0 {
        let jobs = format_plural(adoption.left_out as u64, "job");
        message::print_warning(&format!("left out for more processors than the nodes that take new jobs have: {jobs}"));
    }
    let session = &adoption.session;
    forecaster.set_gates(scene.start_gates(&adoption));
    let waiting_jobs: Vec<JobId> = session.view().waiting_jobs().collect();
    let jobs: Vec<usize> = match asked_job {
        Some(job) if scene.is_reserved(job) => Vec::new(),
        Some(job) => vec![job],
        None => {
            let partition = args.partition.as_deref();
            let waits = |job: &usize| scene.observed[*job].start.is_none() && scene.is_of(*job, partition);
            adoption.jobs.iter().copied().filter(waits).chain(scene.too_wide()).collect()
        }
    };
    let ids: Vec<(usize, Option<JobId>)> =
        jobs.iter().map(|&job| (job, adoption.id(job).filter(|&id| is_open(session, id)))).collect();
    let open: Vec<JobId> = ids.iter().filter_map(|(_, id)| *id).collect();
    let times = simulate_futures(&mut forecaster, session, &open).map_err(fail)?;
    let answers = forecaster.answers_of(session, &open, &times).map_err(fail)?;
    let plans = forecaster.point_starts(session, &open, RunTimes::Limits).map_err(fail)?;
    let mut planned_answers = answers.into_iter().zip(plans);
    // Promises of the policy bind where the cluster schedules as the policy does.
    let is_trusted = rehearsal.keeps_promises() && is_modelled(&forecaster);
    let mut output = WhenOutput::new(args, scene, &adoption, &forecaster, rehearsal);
    if !open.is_empty() {
        output.samples = u32::try_from(times.len()).unwrap_or(u32::MAX);
    }
    for (job, id) in ids {
        let answer = id.and_then(|id| Some((id, planned_answers.next()?)));
        let place = id.and_then(|id| waiting_jobs.iter().position(|&candidate| candidate == id)).map(|at| at + 1);
        let promise = id.and_then(|id| adoption.find_promise(id)).map(|(start, latest)| (start.0, latest.0));
        let latest = promise.filter(|_| is_trusted).map(|(_, latest)| Span(latest - scene.now));
        let bounded_answer = answer.map(|(_, (answer, plan))| (StartAnswer { not_after: latest, ..answer }, plan));
        output.add_job(scene, job, (place, promise), bounded_answer);
    }
    // What would move a job that is held back is no change of its size or limit.
    let competes = asked_job.filter(|&job| !scene.observed[job].held && !scene.is_reserved(job));
    if let (Some(job), false, [_]) = (competes, args.no_what_if, &open[..]) {
        output.longest = forecaster.longest_of(scene.observed[job].job.user, 20);
        output.what_if = what_if(scene, &mut forecaster, job, &times).map_err(fail)?;
    }
    if asked_job.is_none_or(|job| scene.is_reserved(job)) {
        let pools = (&scene.reserved, scene.now);
        for (job, answer) in reserved::answer_reserved(&policy, pools, &mut forecaster, asked_job).map_err(fail)? {
            output.add_job(scene, job, (None, None), answer);
        }
    }
    Ok(output)
}

/// Returns whether a start of a job lies ahead.
fn is_open(session: &Session, id: JobId) -> bool {
    matches!(session.view().phase(id), Phase::Waiting | Phase::Held)
}

/// The futures of the present: starts of these jobs in each.
fn simulate_futures(
    forecaster: &mut Forecaster,
    session: &Session,
    jobs: &[JobId],
) -> Result<Vec<Vec<Option<i64>>>, FutureError> {
    let progress = WorkProgress::new("simulating", "futures", Some(u64::from(forecaster.settings().samples)));
    forecaster.times_watched(session, jobs, 0, true, &|| progress.add_done(1))
}

/// Returns whether nothing speaks against the policy being the cluster's: enough of the starts lay
/// within the intervals of the futures alone.
fn is_modelled(forecaster: &Forecaster) -> bool {
    forecaster.calibration().raw_coverage(0.9).is_none_or(|raw| raw >= 0.75)
}

/// Says how far answers can be relied on.
fn warn_of(rehearsal: &Rehearsal, forecaster: &Forecaster, scene: &WhenScene) {
    if rehearsal.answers < 200 {
        let reason = match (scene.has_accounting, rehearsal.answers) {
            (false, _) => "the folder has no accounting".to_string(),
            (true, 0) => "the accounting has no job that waited and was asked about".to_string(),
            (true, answers) => {
                format!("the record holds no more than {} to a job that waited", format_plural(answers, "answer"))
            }
        };
        message::print_warning(&format!("{reason}: answers are hardly calibrated yet"));
    } else if let Some(raw) = forecaster.calibration().raw_coverage(0.9).filter(|_| !is_modelled(forecaster)) {
        message::print_warning(&format!(
            "before calibration only {:.0} % of the starts lay within 90 % intervals: the cluster does not schedule as the policy \
             here does, so that answers are wide (priorities, limits, other partitions; try another --policy)",
            100.0 * raw
        ));
    }
}

/// Finds changes that would move the start of a job, with the same futures.
fn what_if(
    scene: &WhenScene,
    forecaster: &mut Forecaster,
    job: usize,
    before: &[Vec<Option<i64>>],
) -> Result<Vec<ChangeRow>, FutureError> {
    let own = scene.observed[job].job.clone();
    let longest = forecaster.longest_of(own.user, 20);
    let mut rows = Vec::new();
    if scene.is_hypothetical(job) {
        rows.extend(later_rows(scene, forecaster, &own, before)?);
    }
    for (procs, limit) in list_variants(own.procs, own.estimate, longest) {
        let mut variant = own.clone();
        (variant.procs, variant.estimate) = (procs, limit);
        let adoption = scene.adopt_with(job, &variant)?;
        let waits =
            adoption.id(job).filter(|&id| adoption.session.view().waiting_jobs().any(|candidate| candidate == id));
        let horizon = forecaster.settings().horizon.0;
        let (times, answer): (Vec<Option<i64>>, Option<StartAnswer>) = match waits {
            Some(id) => {
                let times = forecaster.start_times(&adoption.session, &[id], 0, true)?;
                let answer = forecaster.answers_of(&adoption.session, &[id], &times)?.into_iter().next();
                (times.into_iter().map(|starts| starts[0]).collect(), answer)
            }
            // It would start at once.
            None => (before.iter().map(|_| Some(0)).collect(), None),
        };
        let earlier: Vec<f64> = before
            .iter()
            .zip(&times)
            .map(|(before, after)| (before[0].unwrap_or(horizon) - after.unwrap_or(horizon)) as f64)
            .collect();
        let overrun_chance = (limit < own.estimate).then(|| forecaster.runs_beyond(&own, limit));
        rows.push(ChangeRow::new(WhenChange::Asks(procs, limit), &earlier, answer, overrun_chance));
    }
    Ok(rows)
}

/// Later submissions that are worth a look: the price of waiting before the submission.
const LATER: [Span; 3] = [Span(2 * 3600), Span(6 * 3600), Span(24 * 3600)];

fn later_rows(
    scene: &WhenScene,
    forecaster: &mut Forecaster,
    own: &Job,
    before: &[Vec<Option<i64>>],
) -> Result<Vec<ChangeRow>, FutureError> {
    let without = scene.adopt_without_last()?;
    let horizon = forecaster.settings().horizon.0;
    let mut rows = Vec::new();
    for after in LATER {
        let mut job = own.clone();
        job.submit = Time(scene.now) + after;
        let times = forecaster.times_of_later(&without.session, &job, after, 0)?;
        let gain = |(before, after): (&Vec<Option<i64>>, &Option<i64>)| {
            (before[0].unwrap_or(horizon) - after.unwrap_or(horizon)) as f64
        };
        let earlier: Vec<f64> = before.iter().zip(&times).map(gain).collect();
        let answer = forecaster.answer_of(without.session.next_id(), Time(scene.now), &times);
        rows.push(ChangeRow::new(WhenChange::Later(after), &earlier, Some(answer), None));
    }
    Ok(rows)
}

/// Shorter limits and fewer processors that are worth a look.
fn list_variants(procs: u32, limit: Span, longest: Option<(Span, usize)>) -> Vec<(u32, Span)> {
    // A quarter more than the user's longest, in quarters of an hour.
    let safe = longest.map(|(run, _)| Span((run.0 + run.0 / 4).div_euclid(900).saturating_add(1) * 900));
    let mut limits: Vec<Span> =
        [Some(Span(limit.0 / 2)), Some(Span(limit.0 / 4)), safe].into_iter().flatten().collect();
    limits.retain(|&candidate| candidate >= Span(300) && candidate < limit);
    limits.sort_unstable_by(|a, b| b.cmp(a));
    limits.dedup();
    let mut variants: Vec<(u32, Span)> = limits.into_iter().map(|limit| (procs, limit)).collect();
    variants.extend([procs / 2, procs / 4].into_iter().filter(|&fewer| fewer >= 1).map(|fewer| (fewer, limit)));
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_smaller_and_each_once() {
        let hour = 3600;
        // The longest of the last ran for 3 h: 3 h 45 min and a quarter.
        let variants = list_variants(32, Span(12 * hour), Some((Span(3 * hour), 20)));
        let limits = [6 * hour, 4 * hour, 3 * hour].map(|limit| (32, Span(limit)));
        assert_eq!(variants, [&limits[..], &[(16, Span(12 * hour)), (8, Span(12 * hour))]].concat());
        assert_eq!(list_variants(1, Span(400), None), []);
    }
}
