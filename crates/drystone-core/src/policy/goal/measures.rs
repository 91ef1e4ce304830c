//! Measures of a schedule of the waiting jobs: each is a sum or a maximum of one non-negative term
//! per job, so that the value of the jobs placed so far is a lower bound of the whole (section 3.1
//! of the paper; rule 6).

use super::objective::MOST_MEASURES;
use super::task::{GoalOwner, GoalTask};
use crate::model::{Procs, Span};
use crate::policy::NamedCall;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A measure of a tentative schedule, over the jobs that wait now; less is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum GoalMeasure {
    /// `maxW`: the longest wait, in seconds.
    MaxWait,
    /// `Tw`: the total excessive wait, in seconds: of each job the wait beyond a threshold. `None`
    /// is the dynamic one, the current wait of the oldest waiting job; `Tw(50h)` fixes it.
    Excess(Option<Span>),
    /// `avgW`: the average wait.
    Wait,
    /// `avgX`: the average slowdown, bounded at 60 s: 1 + wait / max(predicted run time, 60 s).
    Slowdown,
    /// `unused`: processor-seconds left unused until the last of the jobs that run or wait now has
    /// ended. All schedules do the same work, so the least unused is the highest utilisation.
    Unused,
    /// `late(24h)`: how many jobs miss the deadline of starting within so long after their submit.
    Late(Span),
    /// `areaW`: the average wait, each job weighted by its processors: what waits is capacity, not
    /// jobs.
    Area,
    /// `fair(7d)`: the average wait, each job weighted by how little its user had within this time
    /// before the present: ⌊1024·S / (S + U)⌋, where U are the user's processor-seconds and S is
    /// the equal share, ⌊all processor-seconds / users⌋, counting the users that had some or wait
    /// now. A user that had nothing has 1024 (also for 0/0), one with the equal share half of it.
    Fair(Span),
    /// `special(queue=2)`: the average wait of the jobs of one user, group or queue.
    Special(SpecialJobs),
    /// `maxTw`: the largest excessive wait: of the job that waits longest the wait beyond a
    /// threshold, which is that of [`GoalMeasure::Excess`] (section 6.2 of the paper).
    LargestExcess(Option<Span>),
}

/// Owner of the special jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SpecialJobs {
    /// A user's.
    User(i32),
    /// A group's.
    Group(i32),
    /// A queue's.
    Queue(i32),
}

impl SpecialJobs {
    /// Returns whether a job with this owner is special.
    #[must_use]
    pub fn holds(self, owner: &GoalOwner) -> bool {
        match self {
            SpecialJobs::User(user) => owner.user == user,
            SpecialJobs::Group(group) => owner.group == group,
            SpecialJobs::Queue(queue) => owner.queue == queue,
        }
    }
}

/// Unit of [`GoalMeasure::Slowdown`]: a slowdown of 1.
const ONE: i64 = 1 << 32;

/// Bound of the bounded slowdown, in seconds.
const BOUND: i64 = 60;

/// A job as the search sees it; times relative to the present.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SearchRow {
    /// Planned run time, at least 1 s.
    pub(super) span: i64,
    /// Wait so far.
    pub(super) age: i64,
    /// Increase of its slowdown per second of wait, in units of 2⁻⁶⁴.
    pub(super) pace: u64,
    /// Processors it needs.
    pub(super) procs: Procs,
    /// Weight of its wait in each measure of the objective that weighs waits.
    pub(super) weights: [u16; MOST_MEASURES],
}

impl SearchRow {
    /// Placed for `span`, with the slowdown of a job that runs for `run`.
    pub(super) fn new(procs: Procs, span: i64, run: i64, age: i64) -> SearchRow {
        let bounded = run.max(BOUND) as u128;
        SearchRow { span, age, pace: (((1 << 64) + bounded / 2) / bounded) as u64, procs, weights: [0; MOST_MEASURES] }
    }
}

/// A measure at one decision: thresholds resolved, in a form that is cheap to add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GoalRule {
    /// Maximum of waits.
    MaxWait,
    /// Sum of waits beyond a threshold.
    Excess(i64),
    /// Sum of waits.
    Wait,
    /// Sum of bounded slowdowns.
    Slowdown,
    /// Maximum of end × processors − work; `last` is the last end of a running job.
    Unused { procs: i64, work: i64, last: i64 },
    /// Number of waits beyond a threshold.
    Late(i64),
    /// Sum of waits × processors.
    Area,
    /// Sum of waits × the weight for this measure.
    Weighted(usize),
    /// Maximum of waits beyond a threshold.
    LargestExcess(i64),
}

impl GoalRule {
    /// The term of a job that starts `start` seconds from now. Never negative, and never less for a
    /// later start.
    #[inline(always)]
    pub(super) fn term(self, job: &SearchRow, start: i64) -> i64 {
        let wait = job.age.saturating_add(start);
        match self {
            GoalRule::MaxWait | GoalRule::Wait => wait,
            GoalRule::Excess(threshold) | GoalRule::LargestExcess(threshold) => (wait - threshold).max(0),
            GoalRule::Slowdown => slowdown(wait, job.pace),
            GoalRule::Unused { procs, work, last } => {
                start.saturating_add(job.span).max(last).saturating_mul(procs).saturating_sub(work).max(0)
            }
            GoalRule::Late(threshold) => i64::from(wait > threshold),
            GoalRule::Area => wait.saturating_mul(i64::from(job.procs)),
            GoalRule::Weighted(at) => wait.saturating_mul(i64::from(job.weights[at])),
        }
    }

    /// Returns whether terms are added up; otherwise the largest counts.
    #[inline(always)]
    pub(super) fn adds(self) -> bool {
        !matches!(self, GoalRule::MaxWait | GoalRule::Unused { .. } | GoalRule::LargestExcess(_))
    }
}

/// The slowdown of a job that waits for so long, in units of 1 / [`ONE`]. Waits of up to a hundred
/// years are off by no more than a unit.
#[inline(always)]
fn slowdown(wait: i64, pace: u64) -> i64 {
    let added = (i128::from(wait) * i128::from(pace) + (1 << 31)) >> 32;
    i64::try_from(added).map_or(i64::MAX, |added| added.saturating_add(ONE))
}

impl GoalMeasure {
    /// Returns the largest difference between sums over this many jobs where the schedules are
    /// equally good: the rounding of each job in both.
    pub(super) fn rounding(self, jobs: usize) -> i64 {
        if self == GoalMeasure::Slowdown { 2 * jobs as i64 } else { 0 }
    }

    /// The measure for the decision of a task; it is the `at`-th of its objective.
    pub(super) fn rule(self, at: usize, task: &GoalTask) -> GoalRule {
        match self {
            GoalMeasure::MaxWait => GoalRule::MaxWait,
            GoalMeasure::Excess(threshold) => GoalRule::Excess(threshold.map_or_else(|| task.oldest_wait(), |t| t.0)),
            GoalMeasure::LargestExcess(threshold) => {
                GoalRule::LargestExcess(threshold.map_or_else(|| task.oldest_wait(), |t| t.0))
            }
            GoalMeasure::Wait => GoalRule::Wait,
            GoalMeasure::Slowdown => GoalRule::Slowdown,
            GoalMeasure::Unused => {
                let last = task.ends().map(|(end, _)| end).max().unwrap_or(0);
                GoalRule::Unused { procs: i64::from(task.procs()), work: task.work(), last }
            }
            GoalMeasure::Late(threshold) => GoalRule::Late(threshold.0),
            GoalMeasure::Area => GoalRule::Area,
            GoalMeasure::Fair(_) | GoalMeasure::Special(_) => GoalRule::Weighted(at),
        }
    }

    /// Returns whether LXF-backfill gives the reference value of version C, and not FCFS-backfill
    /// (section 3.2).
    pub(super) fn favoured_by_lxf(self) -> bool {
        matches!(self, GoalMeasure::Slowdown | GoalMeasure::Wait | GoalMeasure::Fair(_) | GoalMeasure::Special(_))
    }
}

impl fmt::Display for GoalMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoalMeasure::MaxWait => f.write_str("maxW"),
            GoalMeasure::Excess(None) => f.write_str("Tw"),
            GoalMeasure::Excess(Some(threshold)) => write!(f, "Tw({}s)", threshold.0),
            GoalMeasure::LargestExcess(None) => f.write_str("maxTw"),
            GoalMeasure::LargestExcess(Some(threshold)) => write!(f, "maxTw({}s)", threshold.0),
            GoalMeasure::Wait => f.write_str("avgW"),
            GoalMeasure::Slowdown => f.write_str("avgX"),
            GoalMeasure::Unused => f.write_str("unused"),
            GoalMeasure::Late(threshold) => write!(f, "late({}s)", threshold.0),
            GoalMeasure::Area => f.write_str("areaW"),
            GoalMeasure::Fair(window) => write!(f, "fair({}s)", window.0),
            GoalMeasure::Special(SpecialJobs::User(user)) => write!(f, "special(user={user})"),
            GoalMeasure::Special(SpecialJobs::Group(group)) => write!(f, "special(group={group})"),
            GoalMeasure::Special(SpecialJobs::Queue(queue)) => write!(f, "special(queue={queue})"),
        }
    }
}

/// Parts of a list of measures, for error messages.
pub(super) const WORDS: &str =
    "maxW, Tw, Tw(50h), maxTw, avgW, avgX, areaW, unused, late(24h), fair(7d), special(user=1)";

impl FromStr for GoalMeasure {
    type Err = String;

    /// Reads a measure, in any case: `maxW`, `Tw`, `Tw(50h)`, `maxTw`, `maxTw(50h)`, `avgW`,
    /// `avgX`, `areaW`, `unused`, `late(24h)`, `fair(7d)`, `special(user=1)`,
    /// `special(group=1)`, `special(queue=1)`.
    fn from_str(text: &str) -> Result<GoalMeasure, String> {
        let fail = || format!("`{}` is no measure; expected one of {WORDS}", text.trim());
        let call = NamedCall::parse(text).map_err(|_| fail())?;
        if call.name == "special" && call.variant.is_none() {
            let [(Some(whose), number)] = call.args.as_slice() else { return Err(fail()) };
            let number = number.parse().ok().filter(|&n| n >= 0).ok_or_else(|| {
                format!("`{number}` is no number of a user, group or queue; write e.g. special(user=1)")
            })?;
            return Ok(GoalMeasure::Special(match whose.as_str() {
                "user" => SpecialJobs::User(number),
                "group" => SpecialJobs::Group(number),
                "queue" => SpecialJobs::Queue(number),
                _ => return Err(fail()),
            }));
        }
        let span = match call.args.as_slice() {
            [] => None,
            [(None, span)] => Some(length(span)?),
            _ => return Err(fail()),
        };
        Ok(match (call.name.as_str(), span) {
            _ if call.variant.is_some() => return Err(fail()),
            ("maxw", None) => GoalMeasure::MaxWait,
            ("tw", threshold) => GoalMeasure::Excess(threshold),
            ("maxtw", threshold) => GoalMeasure::LargestExcess(threshold),
            ("avgw", None) => GoalMeasure::Wait,
            ("avgx", None) => GoalMeasure::Slowdown,
            ("areaw", None) => GoalMeasure::Area,
            ("unused", None) => GoalMeasure::Unused,
            ("late", Some(threshold)) => GoalMeasure::Late(threshold),
            ("fair", Some(window)) if window > Span(0) => GoalMeasure::Fair(window),
            _ => return Err(fail()),
        })
    }
}

/// A length of time as people write it: `90`, `90s`, `30m`, `50h`, `1.5h`, `2d`; whole seconds,
/// less than 2⁴⁰ s.
fn length(text: &str) -> Result<Span, String> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let unit = match unit {
        "m" => Span::MINUTE,
        "h" => Span::HOUR,
        "d" => Span::DAY,
        _ => Span(1),
    };
    seconds(number, unit)
        .filter(|&s| s < 1 << 40)
        .map(Span)
        .ok_or_else(|| format!("`{text}` is no length of time in whole seconds; write e.g. 50h, 1.5h, 30m or 90s"))
}

/// The seconds of this many units, where they are whole.
fn seconds(number: &str, unit: Span) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let parts = 10_i64.pow(fraction.len() as u32);
    let fraction = fraction.parse::<i64>().ok()?.checked_mul(unit.0)?;
    let whole = whole.parse::<i64>().ok()?.checked_mul(unit.0)?;
    (fraction % parts == 0).then_some(())?;
    whole.checked_add(fraction / parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_measures() {
        for (text, printed) in [
            ("maxw", "maxW"),
            ("TW", "Tw"),
            ("Tw(50h)", "Tw(180000s)"),
            ("tw(0)", "Tw(0s)"),
            ("Tw(1.5h)", "Tw(5400s)"),
            ("Tw(0.25m)", "Tw(15s)"),
            ("avgX", "avgX"),
            ("late( 30m )", "late(1800s)"),
            ("fair(7d)", "fair(604800s)"),
            ("special(user=3)", "special(user=3)"),
            ("Special( Queue = 0 )", "special(queue=0)"),
        ] {
            let measure: GoalMeasure = text.parse().expect(text);
            assert_eq!(measure.to_string(), printed);
            assert_eq!(printed.parse(), Ok(measure));
        }
        for (text, part) in [
            ("avgY", "no measure"),
            ("late", "no measure"),
            ("Tw(1h,2h)", "no measure"),
            ("Tw(-1)", "no length"),
            ("Tw(1.5s)", "no length"),
            ("Tw(.5h)", "no length"),
            ("Tw(1.h)", "no length"),
            ("Tw(9999999999999d)", "no length"),
            ("avgX(3)", "no measure"),
            ("fair", "no measure"),
            ("fair(0)", "no measure"),
            ("special", "no measure"),
            ("special(3)", "no measure"),
            ("special(day=3)", "no measure"),
            ("special(user=x)", "`x` is no number of a user"),
        ] {
            let error = text.parse::<GoalMeasure>().expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// A job of 4 processors and 600 s that has waited for 100 s and starts in 50 s.
    #[test]
    fn terms_by_hand() {
        let job = SearchRow::new(4, 600, 600, 100);
        assert_eq!(GoalRule::MaxWait.term(&job, 50), 150);
        assert_eq!(GoalRule::Wait.term(&job, 50), 150);
        assert_eq!(GoalRule::Excess(120).term(&job, 50), 30);
        assert_eq!(GoalRule::Excess(200).term(&job, 50), 0);
        assert_eq!(GoalRule::Late(149).term(&job, 50), 1);
        assert_eq!(GoalRule::Late(150).term(&job, 50), 0);
        assert_eq!(GoalRule::Area.term(&job, 50), 600);
        let mut heavy = job;
        heavy.weights[2] = 7;
        assert_eq!([GoalRule::Weighted(1), GoalRule::Weighted(2)].map(|rule| rule.term(&heavy, 50)), [0, 1050]);
        // 10 processors until 650 s from now, less the 4 × 600 s of work.
        assert_eq!(GoalRule::Unused { procs: 10, work: 2400, last: 0 }.term(&job, 50), 4100);
        // A running job that ends at 700 s is the last.
        assert_eq!(GoalRule::Unused { procs: 10, work: 2400, last: 700 }.term(&job, 50), 4600);
        // 1 + 150/600 = 1.25; a job of a second counts as one of a minute: 1 + 90/60 = 2.5.
        let slowdown = |job: &SearchRow, start| GoalRule::Slowdown.term(job, start) as f64 / ONE as f64;
        assert!((slowdown(&job, 50) - 1.25).abs() < 1e-6);
        // Placed for 600 s and believed to run for 300 s: 1 + 150/300.
        assert!((slowdown(&SearchRow::new(4, 600, 300, 100), 50) - 1.5).abs() < 1e-6);
        assert!((slowdown(&SearchRow::new(1, 1, 1, 40), 50) - 2.5).abs() < 1e-6);
    }

    #[test]
    fn absurd_times_saturate() {
        let job = SearchRow::new(u32::MAX, i64::MAX / 4, 1, i64::MAX / 2);
        for rule in [
            GoalRule::MaxWait,
            GoalRule::Excess(0),
            GoalRule::Slowdown,
            GoalRule::Unused { procs: 1 << 31, work: 0, last: 0 },
            GoalRule::Area,
        ] {
            assert!(rule.term(&job, i64::MAX / 2) > 0, "{rule:?}");
        }
    }
}
