//! Queue and use by the hour of the week.

use crate::capacity::Cause;
use crate::clock::Zone;
use crate::jobs::{JobMarks, SiteJobFate};
use crate::site::Site;
use serde::{Deserialize, Serialize};

const HOURS: usize = 168;
const HOUR: i64 = 3_600;

/// Means by the hour of the week in the zone of the site; the first is Monday, 00:00 to 01:00.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct HoursOfWeek {
    /// Jobs that wait; empty where no wait is known.
    /// `None` for an hour that the window has no part of.
    pub queue: Vec<Option<f64>>,
    /// Share of the processors in use, of those that were up; `None` where none was, or the window
    /// has no part of the hour.
    pub use_of_machine: Vec<Option<f64>>,
    /// Jobs that wait, on average over all hours.
    pub mean_queue: Option<f64>,
    /// Share of the processors in use, on average over all hours.
    pub mean_use: Option<f64>,
    /// Processors of the machine: at least so many where it is inferred.
    pub processors: f64,
    /// True if their number is a lower bound.
    pub inferred: bool,
}

/// A sum over time, hour by hour.
struct Hourly {
    /// Begin of the first hour.
    from: i64,
    /// Time from which on all counts.
    since: i64,
    until: i64,
    /// Part that falls into each hour.
    parts: Vec<f64>,
    /// Changes of what holds for whole hours.
    steps: Vec<f64>,
}

impl Hourly {
    fn new(from: i64, since: i64, until: i64) -> Hourly {
        let hours = usize::try_from((until - from + HOUR - 1) / HOUR).unwrap_or(0);
        Hourly { from, since, until, parts: vec![0.0; hours], steps: vec![0.0; hours + 1] }
    }

    /// So much from one moment to another.
    fn add_span(&mut self, begin: i64, end: i64, amount: f64) {
        let (begin, end) = (begin.max(self.since) - self.from, end.min(self.until) - self.from);
        if begin >= end {
            return;
        }
        let (first, last) = ((begin / HOUR) as usize, ((end - 1) / HOUR) as usize);
        if first == last {
            self.parts[first] += amount * (end - begin) as f64;
            return;
        }
        self.parts[first] += amount * (HOUR - begin % HOUR) as f64;
        self.parts[last] += amount * (end - last as i64 * HOUR) as f64;
        self.steps[first + 1] += amount * HOUR as f64;
        self.steps[last] -= amount * HOUR as f64;
    }

    /// Amounts times seconds of each hour.
    fn finish_hours(self) -> Vec<f64> {
        let mut level = 0.0;
        let steps = self.steps.into_iter().map(|step| {
            level += step;
            level
        });
        self.parts.into_iter().zip(steps).map(|(part, level)| part + level).collect()
    }
}

/// The week of a site between two moments.
pub(super) fn measure_week(site: &Site, pool: Option<u16>, zone: &Zone, (from, until): (i64, i64)) -> HoursOfWeek {
    let pools = || site.manifest.pools.iter().zip(0_u16..).filter(|(_, n)| pool.is_none_or(|pool| pool == *n));
    let cpus_of = |at: u16| {
        let summary = &site.manifest.pools[usize::from(at)];
        (summary.cpus as f64).max(f64::from(summary.units) * summary.cpus_per_unit)
    };
    let processors: f64 = pools().map(|(_, at)| cpus_of(at)).sum();
    let mut week =
        HoursOfWeek { processors, inferred: pools().any(|(pool, _)| !pool.described), ..HoursOfWeek::default() };
    // Hours begin where those of the site's clock do.
    let since = from;
    let from = from - zone.civil_time(from).rem_euclid(HOUR);
    // A window of centuries is no window: a job's broken clock made it.
    if until <= from || until - from > 200 * 366 * 86_400 {
        return week;
    }
    let (mut queue, mut usage, mut capacity_loss) =
        (Hourly::new(from, since, until), Hourly::new(from, since, until), Hourly::new(from, since, until));
    let mut has_submits = false;
    for job in site.jobs().filter(|job| pool.is_none_or(|pool| job.pool == pool)) {
        let end = job.end.unwrap_or(until);
        if let Some(start) = job.start.filter(|_| job.kind.has_start()) {
            usage.add_span(start, end, f64::from(job.cpus.unwrap_or(0)));
        }
        if !job.marks.has_mark(JobMarks::NO_SUBMIT) {
            has_submits = true;
            let leaves = if job.kind == SiteJobFate::Waiting { until } else { job.start.unwrap_or(end) };
            queue.add_span(super::wait_begin(&job), leaves, 1.0);
        }
    }
    let down = |cause: Cause| !matches!(cause, Cause::Reservation | Cause::ReservedJob);
    for loss in site.losses.iter().filter(|loss| down(loss.cause) && pool.is_none_or(|pool| loss.pool == pool)) {
        let summary = &site.manifest.pools[usize::from(loss.pool)];
        let cpus_per_unit = cpus_of(loss.pool) / f64::from(summary.units.max(1));
        capacity_loss.add_span(loss.begin, loss.end.unwrap_or(until), f64::from(loss.units) * cpus_per_unit);
    }
    let (queue, usage_sums, loss_sums) = (queue.finish_hours(), usage.finish_hours(), capacity_loss.finish_hours());
    // Waiting, held, up, and time, of each hour of the week.
    let mut sums = [[0.0_f64; 4]; HOURS];
    for (at, ((queue, use_sum), loss_sum)) in queue.iter().zip(&usage_sums).zip(&loss_sums).enumerate() {
        let begin = from + at as i64 * HOUR;
        let seconds = (until.min(begin + HOUR) - begin.max(since)) as f64;
        let sum = &mut sums[hour_of_week(zone.civil_time(begin))];
        let up = (processors * seconds - loss_sum).max(0.0);
        for (sum, more) in sum.iter_mut().zip([*queue, *use_sum, up, seconds]) {
            *sum += more;
        }
    }
    let total = |at: usize| sums.iter().map(|sum| sum[at]).sum::<f64>();
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    if has_submits {
        week.queue = sums.iter().map(|sum| ratio(sum[0], sum[3])).collect();
        week.mean_queue = ratio(total(0), total(3));
    }
    if total(2) > 0.0 {
        week.use_of_machine = sums.iter().map(|sum| ratio(sum[1], sum[2])).collect();
        week.mean_use = ratio(total(1), total(2));
    }
    week
}

/// The hour of the week of a local time, from Monday on. 1970 began on a Thursday.
fn hour_of_week(civil: i64) -> usize {
    (civil + 3 * 86_400).rem_euclid(7 * 86_400) as usize / HOUR as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weeks_begin_on_monday() {
        // 2026-01-05 is a Monday.
        let at = |text| hour_of_week(crate::clock::parse_civil(text).expect("a time"));
        assert_eq!((at("2026-01-05T00:30:00"), at("2026-01-11T23:00:00"), at("2026-01-06T07:59:59")), (0, 167, 31));
    }

    proptest! {
        #[test]
        fn hours_hold_what_falls_into_them(
            spans in prop::collection::vec((-9_000_i64..40_000, 0_i64..50_000, 1_u8..9), 0..20),
            until in 1_i64..36_000,
            since in 0_i64..3_600,
        ) {
            let since = since.min(until - 1);
            let mut hourly = Hourly::new(0, since, until);
            spans.iter().for_each(|&(begin, length, amount)| hourly.add_span(begin, begin + length, f64::from(amount)));
            let hours = hourly.finish_hours();
            for (at, hour) in hours.iter().enumerate() {
                // Second by second, as it is defined.
                let seconds = (at as i64 * HOUR).max(since)..(at as i64 + 1).saturating_mul(HOUR).min(until);
                let sum: f64 = spans.iter().map(|&(begin, length, amount)| {
                    let part = (begin + length).min(seconds.end) - begin.max(seconds.start);
                    f64::from(amount) * part.max(0) as f64
                }).sum();
                prop_assert!((sum - hour).abs() < 1e-6, "{} {}", sum, hour);
            }
        }
    }
}
