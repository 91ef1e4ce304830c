//! Both ends of a bracket for some jobs, and where policies stand in it.

use crate::exit::CommandFailure;
use crate::output::message;
use crate::output::number::{NONE, format_duration, format_fixed, format_percent, format_plural};
use crate::progress::WorkProgress;
use drystone::metrics::JobRow;
use drystone_headroom::{
    Ascended, Ascent, Certificate, DelayMeasure, HeadroomCase, HeadroomSearch, Relaxation, TaskSchedule, TimeLimit,
    ascend_prices, search_schedule,
};
use serde::Serialize;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Floor proven, schedule found, and results of policies.
#[derive(Clone, Serialize)]
pub(crate) struct Bracket {
    pub(crate) measure: &'static str,
    /// Of all figures: `s`, or nothing for slowdowns.
    unit: &'static str,
    /// Fingerprint of the jobs: submit, processors and run time of each.
    jobs_hash: String,
    /// No schedule that runs every job without a break is below it.
    pub(crate) floor: Floor,
    /// No schedule that may suspend jobs is below it, where a policy suspends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor_with_suspension: Option<Floor>,
    pub(crate) found: FoundMeta,
    /// 1 − floor/found, of what is above the least that is possible.
    gap: Option<f64>,
    pub(crate) policies: Vec<BracketPolicy>,
}

impl Bracket {
    /// Returns the saving of the schedule found on a policy's measure, and the largest possible
    /// one, for tables.
    pub(crate) fn table_columns(&self, policy: &str) -> [String; 2] {
        let policy_bracket = self.policies.iter().find(|bracket| bracket.policy == policy);
        let text = |share: Option<f64>, show: fn(f64) -> String| share.map_or_else(|| NONE.to_string(), show);
        [
            text(policy_bracket.and_then(|bracket| bracket.saved), share_below),
            text(policy_bracket.and_then(|bracket| bracket.at_most), share_above),
        ]
    }
}

/// A proven floor.
#[derive(Clone, Serialize)]
pub(crate) struct Floor {
    pub(crate) value: f64,
    /// Seconds of a cell of the prices.
    pub(crate) grid: i64,
    pub(crate) steps: u32,
    q: u32,
    prices_hash: String,
    /// True if the ascent was stopped early: with more steps the floor would be higher.
    pub(crate) stopped: bool,
}

/// The best schedule found.
#[derive(Clone, Serialize)]
pub(crate) struct FoundMeta {
    pub(crate) value: f64,
    /// The schedule that the search began with.
    pub(crate) begun_from: String,
    begun_at: f64,
    pub(crate) seed: u64,
    /// Seconds spent, where they limit the search; they differ from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    pub(crate) trials: u64,
    pub(crate) stopped: bool,
}

impl FoundMeta {
    /// Length of the search in words: its time, or its trials where these limit it.
    pub(super) fn describe_effort(&self) -> String {
        self.seconds.map_or_else(|| format_plural(self.trials, "trial"), |seconds| format_duration(seconds.max(1.0)))
    }
}

/// A policy beside the bracket.
#[derive(Clone, Serialize)]
pub(crate) struct BracketPolicy {
    pub(crate) policy: String,
    pub(crate) value: f64,
    pub(crate) suspends: bool,
    /// Saving of the schedule found, as a share.
    pub(crate) saved: Option<f64>,
    /// Upper bound of the saving of any schedule, as a share.
    pub(crate) at_most: Option<f64>,
}

/// Settings of the search for a bracket.
pub(crate) struct Seek<'a> {
    pub(crate) grids: Vec<(i64, u32)>,
    pub(crate) limit: Option<TimeLimit>,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) stop: &'a AtomicBool,
}

/// A schedule that was simulated.
pub(crate) struct BracketSchedule<'a> {
    pub(crate) policy: &'a str,
    pub(crate) rows: &'a [JobRow],
    /// True if it is shown beside the bracket, false if it is only a starting point.
    pub(crate) shown: bool,
}

/// A bracket with all that is written of it.
pub(crate) struct Sought {
    pub(crate) bracket: Bracket,
    pub(crate) certificate: Certificate,
    pub(crate) schedule: TaskSchedule,
}

/// Seeks a bracket for the jobs of a case; each of `all` has these jobs.
pub(crate) fn seek_bracket(
    case: &HeadroomCase,
    entries: &[BracketSchedule<'_>],
    seek: &Seek<'_>,
) -> Result<Sought, CommandFailure> {
    let (begun_from, begin) = choose_beginning(case, entries)?;
    let ascent = find_floor(case, &begin, Relaxation::Windows, seek);
    let certificate = ascent.certify_floor(&case.instance);
    let suspends = |entry: &BracketSchedule<'_>| entry.rows.iter().any(|row| row.suspensions > 0);
    let suspension_floor = entries.iter().any(|entry| entry.shown && suspends(entry)).then(|| {
        let ascent = find_floor(case, &begin, Relaxation::Seconds, seek);
        floor_meta(case, &ascent, &ascent.certify_floor(&case.instance))
    });
    let begun_at = case.instance.schedule_cost(&begin);
    let mut best_found = FoundMeta {
        value: case.mean_measure(begun_at),
        begun_from,
        begun_at: case.mean_measure(begun_at),
        seed: seek.seed,
        seconds: None,
        trials: 0,
        stopped: false,
    };
    let mut schedule = begin;
    if let Some(limit) = seek.limit.filter(|_| !seek.stop.load(Ordering::Relaxed)) {
        let best = improve_schedule(case, &schedule, limit, seek)?;
        best_found.value = case.mean_measure(best.cost);
        (best_found.trials, best_found.stopped) = (best.trials, best.stopped);
        let is_timed = matches!(limit, TimeLimit::Time(_));
        best_found.seconds = is_timed.then_some(best.took.as_secs_f64());
        schedule = best.schedule;
    }
    let floor = floor_meta(case, &ascent, &certificate);
    let share = |below: f64, of: f64| {
        let (below, of) = (below - least_value(case.measure), of - least_value(case.measure));
        (of > 0.0).then(|| (1.0 - below / of).max(0.0))
    };
    let policies = entries.iter().filter(|entry| entry.shown).map(|entry| {
        let (value, suspends) = (case.judge_schedule(entry.rows), suspends(entry));
        let lowest = if suspends { suspension_floor.as_ref() } else { Some(&floor) };
        BracketPolicy {
            policy: entry.policy.to_string(),
            value,
            suspends,
            saved: share(best_found.value, value).filter(|_| !suspends),
            at_most: lowest.and_then(|lowest| share(lowest.value, value)),
        }
    });
    let bracket = Bracket {
        measure: case.measure.option_word(),
        unit: if case.measure == DelayMeasure::BoundedSlowdown { "" } else { "s" },
        jobs_hash: jobs_hash(case),
        gap: share(floor.value, best_found.value),
        policies: policies.collect(),
        floor_with_suspension: suspension_floor.clone(),
        floor,
        found: best_found,
    };
    Ok(Sought { bracket, certificate, schedule })
}

pub(crate) fn least_value(measure: DelayMeasure) -> f64 {
    if measure == DelayMeasure::BoundedSlowdown { 1.0 } else { 0.0 }
}

/// The best of the schedules that run every job once, else one in order of arrival.
fn choose_beginning(
    case: &HeadroomCase,
    entries: &[BracketSchedule<'_>],
) -> Result<(String, TaskSchedule), CommandFailure> {
    let starts = entries.iter().filter_map(|entry| Some((entry.policy.to_string(), case.extract_starts(entry.rows)?)));
    let cost = |(_, schedule): &(String, TaskSchedule)| case.instance.schedule_cost(schedule);
    let best = starts.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    let plain = || {
        let schedule = case.plain_schedule(entries.first()?.rows)?;
        Some(("the order of arrival".to_string(), schedule))
    };
    best.or_else(plain).ok_or_else(|| {
        CommandFailure::usage_error("no schedule to begin with: under every policy some job is suspended or is cut by an outage; --policy names more")
    })
}

fn find_floor(case: &HeadroomCase, begin: &TaskSchedule, relaxation: Relaxation, seek: &Seek<'_>) -> Ascended {
    let steps = seek.grids.iter().map(|&(_, steps)| u64::from(steps)).sum();
    let progress = WorkProgress::new("proving a floor", "steps", Some(steps));
    let report_step = |step: drystone_headroom::AscentStep| {
        progress.add_done(1);
        if step.steps % 10 == 1 {
            let value = format_figure(case.measure, case.mean_measure(step.value.max(0.0)));
            progress.set_message(format!(": cells of {} s, nothing below {value}", step.delta));
        }
        !seek.stop.load(Ordering::Relaxed)
    };
    let grids = match relaxation {
        Relaxation::Windows => seek.grids.clone(),
        // A coarse grid is as good as it gets, and each step takes ten times as long.
        Relaxation::Seconds => vec![(3600, 200)],
    };
    ascend_prices(&case.instance, begin, &Ascent { relaxation, grids, threads: seek.threads }, &report_step)
}

fn improve_schedule(
    case: &HeadroomCase,
    begin: &TaskSchedule,
    limit: TimeLimit,
    seek: &Seek<'_>,
) -> Result<drystone_headroom::BestFound, CommandFailure> {
    let progress = WorkProgress::new("searching", "%", Some(100));
    let told_of = Cell::new(0_u64);
    let report_progress = |step: drystone_headroom::Searching| {
        let done_percent = (step.done * 100.0) as u64;
        if done_percent > told_of.get() {
            progress.set_message(format!(": at hand {}", format_figure(case.measure, case.mean_measure(step.cost))));
            progress.add_done(done_percent - told_of.replace(done_percent));
        }
        !seek.stop.load(Ordering::Relaxed)
    };
    let search_for = HeadroomSearch { limit, seed: seek.seed, threads: seek.threads, ..HeadroomSearch::default() };
    search_schedule(&case.instance, begin, &search_for, &report_progress).map_err(CommandFailure::caused_by)
}

fn floor_meta(case: &HeadroomCase, ascent: &Ascended, certificate: &Certificate) -> Floor {
    Floor {
        value: least_value(case.measure) + certificate.floor_per(case.divisor()),
        grid: certificate.delta,
        steps: ascent.steps.iter().map(|&(_, steps)| steps).sum(),
        q: certificate.q,
        prices_hash: prices_hash(certificate),
        stopped: ascent.stopped,
    }
}

/// 128 bits tell jobs apart.
fn short_hash(hasher: &blake3::Hasher) -> String {
    format!("blake3:{}", &hasher.finalize().to_hex()[..32])
}

pub(crate) fn jobs_hash(case: &HeadroomCase) -> String {
    let mut hasher = blake3::Hasher::new();
    case.job_bytes().for_each(|bytes| {
        hasher.update(&bytes);
    });
    short_hash(&hasher)
}

fn prices_hash(certificate: &Certificate) -> String {
    let mut hasher = blake3::Hasher::new();
    for value in [i64::from(certificate.q), certificate.begin, certificate.delta] {
        hasher.update(&value.to_le_bytes());
    }
    for price in &certificate.prices {
        hasher.update(&price.to_le_bytes());
    }
    short_hash(&hasher)
}

/// A figure of the measure as people read it, without its unit: minutes, or a slowdown.
pub(crate) fn format_figure(measure: DelayMeasure, value: f64) -> String {
    match measure {
        DelayMeasure::BoundedSlowdown => format_fixed(value, 2),
        DelayMeasure::Wait | DelayMeasure::AreaWait => format_fixed(value / 60.0, minute_decimals(value)),
    }
}

/// Decimals of minutes: waits of seconds would all be 0.0.
fn minute_decimals(seconds: f64) -> usize {
    if seconds > 0.0 && seconds < 60.0 { 3 } else { 1 }
}

/// Formats a floor, rounded down.
pub(crate) fn figure_below(measure: DelayMeasure, value: f64) -> String {
    match measure {
        DelayMeasure::BoundedSlowdown => format_fixed((value * 1_000.0).floor() / 1_000.0, 3),
        DelayMeasure::Wait | DelayMeasure::AreaWait => {
            let decimals = minute_decimals(value);
            let parts = 10_f64.powi(decimals as i32);
            format_fixed((value * parts / 60.0).floor() / parts, decimals)
        }
    }
}

/// A share that can be saved, rounded to what is sure.
pub(crate) fn share_below(share: f64) -> String {
    format_percent(Some((share * 100.0).floor() / 100.0), 0)
}

/// A share that cannot be exceeded, rounded up.
pub(crate) fn share_above(share: f64) -> String {
    format_percent(Some((share * 100.0).ceil() / 100.0), 0)
}

/// Says which schedules have other jobs, and so no place in the bracket.
pub(crate) fn say_others(policies: &[(String, usize)]) {
    for (policy, count) in policies {
        message::print_warning(&format!(
            "{policy} has no place in the bracket: {} there have another submit time, size or run time, and the floor belongs to one \
             set of jobs",
            format_plural(*count as u64, "job")
        ));
    }
}
