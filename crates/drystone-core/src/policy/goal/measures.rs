//! Measures of a schedule of the waiting jobs: each is a sum or a maximum of one non-negative term
//! per job, so that the value of the jobs placed so far is a lower bound of the whole (section 3.1
//! of the paper; rule 6).

use super::task::{GoalOwner, ResourceShares};
use crate::clock_length::read_clock_length;
use crate::model::Span;
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
    /// `areaW(gpus)`, `areaW(mem)`, `areaW(share)`: the average wait, each job weighted by its
    /// share of the machine's GPUs, of its memory, or by its dominant share, in 65,535ths rounded
    /// up.
    ShareArea(ShareResource),
}

drystone_engine::word_enum! {
    /// Resource by whose shares waits are weighed.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
    pub enum ShareResource {
        /// GPUs of any type.
        Gpus = "gpus",
        /// Memory.
        Memory = "mem",
        /// The largest share of a job, of processors or of any resource.
        Dominant = "share",
    }
}

impl ShareResource {
    pub(super) fn share_of(self, shares: &ResourceShares) -> u16 {
        match self {
            ShareResource::Gpus => shares.gpus,
            ShareResource::Memory => shares.memory,
            ShareResource::Dominant => shares.dominant,
        }
    }
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
    pub fn is_special(self, owner: &GoalOwner) -> bool {
        match self {
            SpecialJobs::User(user) => owner.user == user,
            SpecialJobs::Group(group) => owner.group == group,
            SpecialJobs::Queue(queue) => owner.queue == queue,
        }
    }
}

impl GoalMeasure {
    /// Returns the largest difference between sums over this many jobs where the schedules are
    /// equally good: the rounding of each job in both.
    pub(super) fn rounding_error(self, jobs: usize) -> i64 {
        if self == GoalMeasure::Slowdown { 2 * jobs as i64 } else { 0 }
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
            GoalMeasure::ShareArea(resource) => write!(f, "areaW({})", resource.name()),
            GoalMeasure::Fair(window) => write!(f, "fair({}s)", window.0),
            GoalMeasure::Special(SpecialJobs::User(user)) => write!(f, "special(user={user})"),
            GoalMeasure::Special(SpecialJobs::Group(group)) => write!(f, "special(group={group})"),
            GoalMeasure::Special(SpecialJobs::Queue(queue)) => write!(f, "special(queue={queue})"),
        }
    }
}

/// Parts of a list of measures, for error messages.
pub(super) const WORDS: &str = "maxW, Tw, Tw(50h), maxTw, avgW, avgX, areaW, areaW(gpus), areaW(mem), areaW(share), unused, late(24h), fair(7d), \
     special(user=1)";

impl FromStr for GoalMeasure {
    type Err = String;

    /// Reads a measure, in any case: `maxW`, `Tw`, `Tw(50h)`, `maxTw`, `maxTw(50h)`, `avgW`,
    /// `avgX`, `areaW`, `areaW(gpus)`, `areaW(mem)`, `areaW(share)`, `unused`, `late(24h)`,
    /// `fair(7d)`, `special(user=1)`, `special(group=1)`, `special(queue=1)`.
    fn from_str(text: &str) -> Result<GoalMeasure, String> {
        let fail = || format!("`{}` is no measure; expected one of {WORDS}", text.trim());
        let call = NamedCall::parse(text).map_err(|_| fail())?;
        if call.name == "special" && call.variant.is_none() {
            let [(Some(owner_kind), number)] = call.args.as_slice() else { return Err(fail()) };
            let number = number.parse().ok().filter(|&n| n >= 0).ok_or_else(|| {
                format!("`{number}` is no number of a user, group or queue; write e.g. special(user=1)")
            })?;
            return Ok(GoalMeasure::Special(match owner_kind.as_str() {
                "user" => SpecialJobs::User(number),
                "group" => SpecialJobs::Group(number),
                "queue" => SpecialJobs::Queue(number),
                _ => return Err(fail()),
            }));
        }
        if let ("areaw", None, [(None, name)]) = (call.name.as_str(), &call.variant, call.args.as_slice()) {
            let matching_resource =
                ShareResource::ALL.into_iter().find(|resource| name.trim().eq_ignore_ascii_case(resource.name()));
            return matching_resource.map(GoalMeasure::ShareArea).ok_or_else(|| {
                format!("`{name}` weighs no waits; write areaW, areaW(gpus), areaW(mem) or areaW(share)")
            });
        }
        let span = match call.args.as_slice() {
            [] => None,
            [(None, span)] => Some(parse_length(span)?),
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

/// A length of time as people and Slurm write it: `90`, `90s`, `30m`, `50h`, `1.5h`, `2d`,
/// `2-00:00:00`; whole seconds, less than 2⁴⁰ s.
fn parse_length(text: &str) -> Result<Span, String> {
    let text = text.trim();
    if let Some(length) = read_clock_length(text).filter(|&length| length < 1 << 40) {
        return Ok(Span(length));
    }
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
    whole_seconds(number, unit)
        .filter(|&s| s < 1 << 40)
        .map(Span)
        .ok_or_else(|| format!("`{text}` is no length of time in whole seconds; write e.g. 50h, 1.5h, 30m or 90s"))
}

/// The seconds of this many units, where they are whole.
fn whole_seconds(number: &str, unit: Span) -> Option<i64> {
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

pub(super) const MOST_MEASURES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_measures() {
        for (text, canonical) in [
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
            ("areaW", "areaW"),
            ("AreaW( GPUs )", "areaW(gpus)"),
            ("areaW(mem)", "areaW(mem)"),
            ("areaW(share)", "areaW(share)"),
        ] {
            let measure: GoalMeasure = text.parse().expect(text);
            assert_eq!(measure.to_string(), canonical);
            assert_eq!(canonical.parse(), Ok(measure));
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
            ("areaW(licence)", "`licence` weighs no waits"),
        ] {
            let error = text.parse::<GoalMeasure>().expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
