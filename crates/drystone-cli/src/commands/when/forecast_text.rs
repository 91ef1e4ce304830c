//! Forecasts in the forms for people and programs.

use super::clock::TimeRounding::{self, Down, Nearest, Up};
use super::clock::{ZoneClock, format_limit, format_span};
use super::reasons::{Condition, WaitEffect, WaitReason};
use super::scene::WhenScene;
use super::site_text::fill_template;
use crate::args::WhenArgs;
use crate::output::number::format_plural;
use drystone::model::Span;
use drystone_when::{Adoption, Forecaster, Rehearsal, StartAnswer};
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) struct WhenOutput {
    now: i64,
    /// Length of the futures, in seconds.
    horizon: i64,
    policy: String,
    /// Futures that were wanted, and those that were simulated.
    wanted: u32,
    pub(super) samples: u32,
    machine: u32,
    free: u32,
    running: u32,
    waiting: u32,
    kept: Vec<(String, WaitReason)>,
    rehearsal: Rehearsal,
    raw90: Option<f64>,
    single: bool,
    jobs: Vec<JobAnswer>,
    pub(super) what_if: Vec<ChangeRow>,
    /// The longest of the user's last jobs, and how many these are.
    pub(super) longest: Option<(Span, usize)>,
}

struct JobAnswer {
    name: String,
    user: Option<String>,
    procs: u32,
    limit: i64,
    waited: i64,
    place: Option<usize>,
    /// The start that the policy plans, and the latest one that it promises.
    promise: Option<(i64, i64)>,
    /// `None` where it starts at the next pass, or never.
    answer: Option<StartAnswer>,
    /// True if the machine is too small.
    too_wide: bool,
    plan: Option<i64>,
    /// Reason to wait for more than processors: a time to begin, or what is not simulated.
    reason: Option<WaitReason>,
}

pub(super) struct ChangeRow {
    change: WhenChange,
    /// Mean gain over the futures, and its standard error, in seconds.
    gain: (f64, f64),
    /// Share of the futures in which it starts earlier.
    earlier: f64,
    answer: Option<StartAnswer>,
    killed: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WhenChange {
    /// It asks for these processors and this limit.
    Asks(u32, Span),
    Later(Span),
}

impl JobAnswer {
    /// A line that says what has to happen first, where anything has.
    fn first_condition(&self, clock: &ZoneClock, now: i64) -> String {
        let Some(reason) = self.reason.as_ref().filter(|reason| reason.condition().is_some()) else {
            return String::new();
        };
        match reason.begin {
            Some(begin) => {
                format!("{:<8}may begin at {} ({})\n", "", clock.format_known(now, begin - now), reason.word)
            }
            None => format!("{:<8}{reason}\n", ""),
        }
    }

    /// The time at which it may begin, where that lies ahead.
    fn begin_time(&self) -> Option<i64> {
        self.reason.as_ref().and_then(|reason| reason.begin)
    }
}

impl ChangeRow {
    pub(super) fn new(
        change: WhenChange,
        earlier: &[f64],
        answer: Option<StartAnswer>,
        kill_share: Option<f64>,
    ) -> ChangeRow {
        let n = earlier.len().max(2) as f64;
        let mean = earlier.iter().sum::<f64>() / n;
        let variance = earlier.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let share = earlier.iter().filter(|&&gain| gain > 0.0).count() as f64 / n;
        ChangeRow { change, gain: (mean, (variance / n).sqrt()), earlier: share, answer, killed: kill_share }
    }

    /// Returns whether it is more than noise.
    fn is_significant(&self) -> bool {
        self.gain.0.abs() > 2.0 * self.gain.1 && self.gain.0.abs() >= 60.0
    }
}

/// Width of lines, of a time in the table of all jobs, and how many times a row has.
const COLUMNS: usize = 80;
const TIME: usize = 10;
const TIMES: usize = 4;

/// In place of a time that lies behind the end of the futures.
const BEYOND: &str = "beyond 14 days";

/// Length of the futures, as that says, in seconds.
const FUTURE: f64 = 14.0 * 86_400.0;

/// Returns whether no start is known at this level: so many futures have none until their end, or
/// the corrected time lies behind it.
fn is_beyond(answer: &StartAnswer, level: f64) -> bool {
    1.0 - level <= answer.sample.share_beyond() || answer.quantile(level) > FUTURE
}

/// Levels of what programs read.
const LEVELS: [(&str, f64); 7] =
    [("p05", 0.05), ("p10", 0.1), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95)];

impl WhenOutput {
    pub(super) fn new(
        args: &WhenArgs,
        scene: &WhenScene,
        adoption: &Adoption,
        forecaster: &Forecaster,
        rehearsal: Rehearsal,
    ) -> WhenOutput {
        // As the cluster has them, before the pass that the policy would make now.
        let matching_jobs =
            |runs: bool| adoption.jobs.iter().filter(move |&&job| scene.observed[job].start.is_some() == runs);
        let reserved_count = scene.reserved.values().flat_map(|pool| pool.waiting_jobs()).count();
        let busy: u32 = matching_jobs(true).map(|&job| scene.observed[job].job.procs).sum();
        WhenOutput {
            now: scene.now,
            horizon: forecaster.settings().horizon.0,
            policy: scene.policy.to_string(),
            wanted: forecaster.settings().samples,
            samples: forecaster.settings().samples,
            machine: scene.procs(),
            free: adoption.session.view().machine().procs.saturating_sub(busy),
            running: matching_jobs(true).count() as u32,
            waiting: (matching_jobs(false).count() + scene.too_wide().count() + reserved_count) as u32,
            kept: scene.kept_jobs(),
            rehearsal,
            raw90: forecaster.calibration().raw_coverage(0.9),
            single: args.job.is_some() || args.procs.is_some(),
            jobs: Vec::new(),
            what_if: Vec::new(),
            longest: None,
        }
    }

    pub(super) fn add_job(
        &mut self,
        scene: &WhenScene,
        job: usize,
        (place, promise): (Option<usize>, Option<(i64, i64)>),
        answer: Option<(StartAnswer, Option<i64>)>,
    ) {
        let (name, user) = scene.job_name(job);
        let own = &scene.observed[job].job;
        let (answer, plan) = answer.map_or((None, None), |(answer, plan)| (Some(answer), plan));
        let (procs, limit, waited_time) = (own.procs, own.estimate.0, scene.now - own.submit.0);
        let too_wide = procs > self.machine;
        let reason = scene.also_waits(job);
        self.jobs.push(JobAnswer {
            name,
            user,
            procs,
            limit,
            waited: waited_time,
            place,
            promise,
            answer,
            too_wide,
            plan,
            reason,
        });
    }

    pub(super) fn render_text(&self, clock: &ZoneClock) -> String {
        if self.single { self.render_one(clock) } else { self.render_all(clock) }
    }

    /// A line for each job that is answered, in the words of the site.
    pub(super) fn site_lines(&self, clock: &ZoneClock, template: &str) -> String {
        let at = |job: &JobAnswer, level: f64, rounding: TimeRounding| match &job.answer {
            None if job.too_wide => "never".to_string(),
            None => "at the next pass".to_string(),
            Some(answer) if is_beyond(answer, level) => "in more than 14 days".to_string(),
            Some(answer) => clock.day_and_hour(self.now, answer.quantile(level) as i64, rounding),
        };
        let line = |job: &JobAnswer| {
            let value = |name: &str| match name {
                "job" => job.name.clone(),
                "user" => job.user.clone().unwrap_or_default(),
                "procs" => job.procs.to_string(),
                "early" => at(job, 0.05, Down),
                "likely" => at(job, 0.5, Nearest),
                "by90" => at(job, 0.9, Up),
                "by95" => at(job, 0.95, Up),
                _ => job.reason.as_ref().map_or_else(String::new, ToString::to_string),
            };
            fill_template(template, value) + "\n"
        };
        self.jobs.iter().map(line).collect()
    }

    fn render_one(&self, clock: &ZoneClock) -> String {
        let Some(job) = self.jobs.first() else { return String::new() };
        let at = |seconds: f64, rounding: TimeRounding| clock.day_and_hour(self.now, seconds as i64, rounding);
        let place = job.place.map(|place| format!(", {} in the queue", format_ordinal(place))).unwrap_or_default();
        let wait_text =
            if job.waited >= 60 { format!(", has waited {}", format_span(job.waited)) } else { String::new() };
        let name = if job.user.is_some() { format!("job {}", job.name) } else { job.name.clone() };
        let mut text = format!("{name} ({} procs, limit {}){place}{wait_text}\n", job.procs, format_limit(job.limit));
        let Some(answer) = &job.answer else {
            text += &match job.too_wide {
                true => format!(
                    "  cannot start: the nodes that take new jobs have {}\n",
                    format_plural(u64::from(self.machine), "processor")
                ),
                false => "  starts at the next scheduling pass, as far as processors and the policy go\n".to_string(),
            };
            return text;
        };
        let of = |level| answer.quantile(level);
        let beyond = answer.sample.share_beyond();
        if !is_beyond(answer, 0.5) {
            let _ = writeln!(text, "  likely start   {}   in {}", at(of(0.5), Nearest), format_span(of(0.5) as i64));
        }
        let bound = |level: f64| match is_beyond(answer, level) {
            true => BEYOND.to_string(),
            false => at(of(level), if level < 0.5 { Down } else { Up }),
        };
        for (name, low, high) in [("50 %", 0.25, 0.75), ("90 %", 0.05, 0.95)] {
            match (is_beyond(answer, low), is_beyond(answer, high)) {
                (true, true) => _ = writeln!(text, "  {name:<15}{BEYOND}"),
                _ => _ = writeln!(text, "  {name:<15}{} – {}", bound(low), bound(high)),
            }
        }
        if beyond > 0.0 {
            let _ = writeln!(text, "  not within 14 days in {:.0} % of futures", 100.0 * beyond);
        }
        let soon = format!("within the next hour: {:.0} %", 100.0 * answer.probability_within(3600.0));
        let _ = match is_beyond(answer, 0.95) {
            true => writeln!(text, "  {soon}"),
            false => writeln!(text, "  will have started by {} with 95 %  ·  {soon}", at(of(0.95), Up)),
        };
        match job.plan {
            _ if job.begin_time().is_some() => {}
            Some(plan) => {
                let _ = writeln!(text, "  the plan with time limits says {}", clock.day_and_hour(self.now, plan, Up));
            }
            None => text += "  the plan with time limits names no start within 14 days\n",
        }
        if let Some(reason) = &job.reason {
            text += &match (reason.begin, reason.effect) {
                (Some(begin), _) => {
                    let begin = clock.format_known(self.now, begin - self.now);
                    format!("  it may begin at {begin} at the earliest ({})\n", reason.word)
                }
                (None, WaitEffect::Adds) => format!("  it {reason}: it may start later than this says\n"),
                (None, _) if reason.condition() == Some(Condition::Reservation) => format!("  it {reason}\n"),
                (None, _) => format!("  it {reason}, and then for room\n"),
            };
        }
        if let Some((_, latest)) = job.promise {
            let _ = writeln!(
                text,
                "  {} promises {} at the latest{}",
                self.policy,
                at((latest - self.now) as f64, Up),
                self.kept_promises()
            );
        }
        text += &self.describe_fit();
        text += &self.describe_changes(clock, job, answer);
        text
    }

    /// Share of such promises that would have been kept.
    fn kept_promises(&self) -> String {
        let Rehearsal { promised, kept, .. } = self.rehearsal;
        if promised < 20 {
            return String::new();
        }
        format!("; of the last {promised} such promises {:.1} % were kept", 100.0 * kept as f64 / promised as f64)
    }

    /// Describes the record of past forecasts, and what answers are mixed of.
    fn describe_fit(&self) -> String {
        let Rehearsal { answers, inside, .. } = self.rehearsal;
        let futures = self.fewer_futures();
        if answers < 20 {
            return "  not calibrated: too few jobs that waited are known\n".to_string() + &futures;
        }
        let share = 100.0 * inside[1] as f64 / answers as f64;
        let fit = match self.raw90 {
            _ if answers < 200 => "few answers",
            Some(raw) if raw < 0.75 => "fit: poor",
            _ => "fit: good",
        };
        let mut text = format!("  of the last {answers} such answers {share:.1} % lay within their 90 % ({fit})\n");
        let pool: Vec<(&str, f64)> = self.forecaster_weights().filter(|part| part.1 >= 0.05).collect();
        if pool.len() > 1 && answers >= 200 {
            let parts: Vec<String> =
                pool.iter().map(|(name, weight)| format!("{name} {:.0} %", 100.0 * weight)).collect();
            let _ = writeln!(text, "  by their past scores, answers are mixed of {}", parts.join(", "));
        }
        text + &futures
    }

    /// A sentence where fewer futures were simulated than are usual.
    fn fewer_futures(&self) -> String {
        match self.samples < self.wanted {
            true => format!(
                "  from {} futures, as {} take long here; --samples {} simulates all\n",
                self.samples, self.wanted, self.wanted
            ),
            false => String::new(),
        }
    }

    /// Forecasters whose answers are mixed, each with its weight.
    fn forecaster_weights(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.jobs
            .iter()
            .find_map(|job| job.answer.as_ref())
            .into_iter()
            .flat_map(|answer| answer.correction.forecaster_weights())
    }

    fn describe_changes(&self, clock: &ZoneClock, job: &JobAnswer, answer: &StartAnswer) -> String {
        if self.what_if.is_empty() {
            return String::new();
        }
        let mut text = format!("{:<30}{:<14}{}\n", "changes that would move it", "p50", "95 % by");
        let line = |change: String, answer: Option<&StartAnswer>| match answer {
            Some(answer) => {
                let format_level = |level: f64, format: &dyn Fn(i64) -> String| match is_beyond(answer, level) {
                    true => "> 14 days".to_string(),
                    false => format(answer.quantile(level) as i64),
                };
                let by = format_level(0.95, &|seconds| clock.day_and_hour(self.now, seconds, Up));
                format!("  {change:<28}{:<14}{by}", format_level(0.5, &|seconds| format_span(seconds)))
            }
            None => format!("  {change:<28}{:<14}at once", "at once"),
        };
        let own = line(String::new(), Some(answer));
        let _ = writeln!(text, "{}", line("as submitted".into(), Some(answer)));
        for row in &self.what_if {
            let change_text = match row.change {
                WhenChange::Later(after) => format!("submitted {} later", format_span(after.0)),
                WhenChange::Asks(procs, other) if procs == job.procs => format!("limit {}", format_limit(other.0)),
                WhenChange::Asks(procs, _) => format!("{procs} procs"),
            };
            // What reads the same is no change to the reader.
            if !row.is_significant() || line(String::new(), row.answer.as_ref()) == own {
                let _ = writeln!(text, "  {change_text:<28}no clear change");
                continue;
            }
            text += &line(change_text, row.answer.as_ref());
            if let Some(share) = row.killed.filter(|&share| share >= 0.005) {
                let _ = write!(text, "   killed with {:.0} %", 100.0 * share);
            }
            text.push('\n');
        }
        if let Some((longest, jobs)) = self.longest {
            let last = if jobs == 1 { "job".to_string() } else { format!("{jobs} jobs") };
            let _ = writeln!(text, "  The last {last} of the user ran for no longer than {}.", format_limit(longest.0));
        }
        text += "  By the same futures, the place in the queue kept. Fewer processors lengthen the run: only the start is shown.\n";
        text
    }

    fn render_all(&self, clock: &ZoneClock) -> String {
        let mut text = format!(
            "{} waiting, {} running, {} free; {} held back or not yet eligible\n",
            format_plural(u64::from(self.waiting), "job"),
            self.running,
            format_plural(u64::from(self.free), "processor"),
            self.kept.len()
        );
        if self.jobs.is_empty() {
            text += "No job waits for processors.\n";
            return text + &self.left_out(clock);
        }
        text += &self.render_table(clock);
        text += &self.left_out(clock);
        text += "Started by then with 5 %, 50 % and 90 %; last, the plan with time limits.\n";
        self.describe_fit().lines().for_each(|line| text += &format!("{}\n", line.trim_start()));
        text
    }

    /// A sentence for each reason that keeps jobs back, and for each that is not simulated.
    fn left_out(&self, clock: &ZoneClock) -> String {
        let mut text = String::new();
        let pick_phrase = |names: &[&str], alone: &str, together: &str| match names {
            [name] => format!("Job {name} {alone}: it"),
            names => format!("{} jobs {together}: each", names.len()),
        };
        let mut kept_jobs: Vec<(&WaitReason, Vec<&str>)> = Vec::new();
        for (name, reason) in &self.kept {
            match kept_jobs.iter_mut().find(|(group_reason, _)| *group_reason == reason) {
                Some((_, names)) => names.push(name),
                None => kept_jobs.push((reason, vec![name])),
            }
        }
        for (reason, names) in kept_jobs {
            let begin = reason.begin.map(|begin| format!(": {}", clock.format_known(self.now, begin - self.now)));
            let subject = pick_phrase(&names, "is left out", "are left out");
            let _ = writeln!(text, "{subject} {reason}{}.", begin.unwrap_or_default());
        }
        let mut open: Vec<(&WaitReason, Vec<&str>)> = Vec::new();
        for job in &self.jobs {
            let Some(reason) = job.reason.as_ref().filter(|reason| reason.effect == WaitEffect::Adds) else { continue };
            match open.iter_mut().find(|(group_reason, _)| *group_reason == reason) {
                Some((_, names)) => names.push(&job.name),
                None => open.push((reason, vec![&job.name])),
            }
        }
        for (reason, names) in open {
            let _ = writeln!(
                text,
                "{} {reason}.",
                pick_phrase(&names, "may start later than that", "may start later than that")
            );
        }
        text
    }

    /// One line for each job, or two where names are long: eighty columns at most.
    fn render_table(&self, clock: &ZoneClock) -> String {
        let own = |job: &JobAnswer| {
            let user = job.user.clone().unwrap_or_default();
            [job.name.clone(), user, job.procs.to_string(), format_limit(job.limit)]
        };
        let rows: Vec<[String; 4]> = self.jobs.iter().map(own).collect();
        let header = ["job", "user", "procs", "limit"].map(str::to_string);
        let width = |at: usize| rows.iter().chain([&header]).map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3].map(width);
        let used_width = widths.iter().map(|width| width + 2).sum::<usize>();
        let split = used_width + TIMES * (TIME + 2) - 2 > COLUMNS;
        let between = if split { format!("\n{:<8}", "") } else { String::new() };
        let mut text = String::new();
        let line = |text: &mut String, [job, user, procs, limit]: &[String; 4], times: &str| {
            let [a, b, c, d] = widths;
            let own = format!("{job:<a$}  {user:<b$}  {procs:>c$}  {limit:<d$}  ");
            let own = if split { own.trim_end().to_string() + &between } else { own };
            let _ = writeln!(text, "{}", format!("{own}{times}").trim_end());
        };
        let times = |of: [String; TIMES]| of.map(|time| format!("{time:<width$}", width = TIME + 2)).concat();
        line(&mut text, &header, &times(["not before", "likely", "by (90 %)", "limits say"].map(str::to_string)));
        for (job, row) in self.jobs.iter().zip(&rows) {
            let Some(answer) = &job.answer else {
                let never =
                    format!("cannot start: {} for new jobs", format_plural(u64::from(self.machine), "processor"));
                line(&mut text, row, if job.too_wide { &never } else { "at the next pass" });
                continue;
            };
            let far = || "> 14 days".to_string();
            let at = |level: f64, rounding: TimeRounding| match is_beyond(answer, level) {
                true => far(),
                false => clock.day_or_hour(self.now, answer.quantile(level) as i64, rounding),
            };
            let plan = job.plan.map_or_else(far, |plan| clock.day_or_hour(self.now, plan, Up));
            line(&mut text, row, &times([at(0.05, Down), at(0.5, Nearest), at(0.9, Up), plan]));
            text += &job.first_condition(clock, self.now);
        }
        text
    }

    pub(super) fn render_json(&self) -> Value {
        let mut jobs: Vec<Value> = self.jobs.iter().map(|job| self.one_json(job)).collect();
        if let (true, 1, Some(job)) = (self.single, jobs.len(), jobs.first_mut()) {
            return job.take();
        }
        let of = |(name, reason): &(String, WaitReason)| json!({"job": name, "reason": reason.word, "why": reason.why, "begin": reason.begin});
        let left_out: Vec<Value> = self.kept.iter().map(of).collect();
        json!({"schema": "drystone.when/1", "asked": self.now, "policy": self.policy, "jobs": jobs, "left_out": left_out})
    }

    fn one_json(&self, job: &JobAnswer) -> Value {
        let start = job.answer.as_ref().map(|answer| self.level_times(answer, &|level| answer.quantile(level)));
        let raw = job.answer.as_ref().map(|answer| self.level_times(answer, &|level| answer.sample.quantile(level)));
        let (answers, inside) = (self.rehearsal.answers, self.rehearsal.inside);
        let share = |inside: u64| (answers > 0).then(|| inside as f64 / answers as f64);
        let what_if: Vec<Value> = self
            .what_if
            .iter()
            .map(|row| {
                let change = match row.change {
                    WhenChange::Later(after) => json!({"submit_after": after.0}),
                    WhenChange::Asks(procs, limit) if procs == job.procs => json!({"limit": limit.0}),
                    WhenChange::Asks(procs, _) => json!({"procs": procs}),
                };
                let at = |level| match &row.answer {
                    None => Some(self.now),
                    Some(answer) if is_beyond(answer, level) => None,
                    Some(answer) => Some(self.now + answer.quantile(level) as i64),
                };
                json!({"change": change, "p50": at(0.5), "p95": at(0.95), "p_earlier": row.earlier,
                    "gain_seconds": row.gain.0, "gain_error_seconds": row.gain.1, "killed_risk": row.killed})
            })
            .collect();
        json!({
            "schema": "drystone.when/1",
            "job": job.user.as_ref().map(|_| &job.name),
            "asked": self.now,
            "policy": self.policy,
            "state": {"position": job.place, "free": self.free, "running": self.running, "waiting": self.waiting},
            "start": start,
            "horizon": self.now + self.horizon,
            "not_within_horizon": job.answer.as_ref().map(|answer| answer.sample.share_beyond()),
            "at_next_pass": job.answer.is_none() && !job.too_wide,
            "cannot_start": job.too_wide,
            "also_waits_for": job.reason.as_ref().map(|reason| {
                let is_simulated = reason.condition().is_some();
                json!({"reason": reason.word, "why": reason.why, "begin": reason.begin, "simulated": is_simulated})
            }),
            "plan": job.plan.map(|plan| self.now + plan),
            "promise": job.promise.map(|(start, latest)| json!({"start": start, "latest": latest})),
            "promises": {"made": self.rehearsal.promised, "kept": self.rehearsal.kept},
            "samples": self.samples,
            "calibration": {
                "method": "pit",
                "n": job.answer.as_ref().map_or(0, |answer| answer.correction.answers),
                "censored": job.answer.as_ref().map_or(0, |answer| answer.correction.censored),
                "answers": answers,
                "cover50": share(inside[0]),
                "cover90": share(inside[1]),
                "raw_cover90": self.raw90,
                "pool": self.forecaster_weights().map(|(name, weight)| (name.to_string(), json!(weight))).collect::<serde_json::Map<_, _>>(),
                "raw": raw,
            },
            "what_if": what_if,
        })
    }

    /// Times at the levels; none at one that lies beyond the futures.
    fn level_times(&self, answer: &StartAnswer, of: &dyn Fn(f64) -> f64) -> Value {
        let at = |level: f64| (!is_beyond(answer, level)).then(|| self.now + of(level) as i64);
        LEVELS
            .iter()
            .map(|&(name, level)| (name.to_string(), json!(at(level))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

fn format_ordinal(place: usize) -> String {
    let end = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{place}{end}")
}
