//! Faults of the records that no policy explains: clocks that differ, and outages that are missing.

use super::case::{ELSEWHERE, PoolCase};
use super::errors::WaitPairs;
use super::stats::sort_values;
use crate::capacity::Cause;
use crate::clock::{self, Zone};
use crate::site::Site;
use crate::waits::limit_seconds;
use drystone::statistics::nearest_rank_quantile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Difference that nearly every job has between its replayed and its recorded wait.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConstantShift {
    /// Replayed less recorded, in seconds.
    pub seconds: f64,
    /// Share of the jobs within a minute of it.
    pub share: f64,
}

/// Smallest shift that is named, distance from it that still is the shift, and share of the jobs
/// that have it.
const LEAST_SHIFT: f64 = 120.0;
const NEAR: f64 = 60.0;
const NEARLY_ALL: f64 = 0.9;

impl ConstantShift {
    pub(super) fn find_shift(waits: &WaitPairs) -> Option<ConstantShift> {
        let distances: Vec<f64> = waits.replayed.iter().zip(&waits.recorded).map(|(new, old)| new - old).collect();
        let seconds = nearest_rank_quantile(&sort_values(distances.clone()), 0.5)?;
        let near = distances.iter().filter(|&&distance| (distance - seconds).abs() <= NEAR).count();
        let share = near as f64 / distances.len() as f64;
        (seconds.abs() >= LEAST_SHIFT && share >= NEARLY_ALL).then_some(ConstantShift { seconds, share })
    }

    pub(super) fn describe_shift(&self) -> String {
        let way = if self.seconds < 0.0 { "early" } else { "late" };
        format!(
            "every job {:.1} min {way} in the replay ({:.0}% within a minute of that): the clock or the time zone of submissions is not \
             that of starts, or something delays each job by as much",
            self.seconds.abs() / 60.0,
            self.share * 100.0
        )
    }
}

/// Time in which a nearly empty machine started nothing although jobs that fitted waited. Times are
/// seconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuietTime {
    pub from: i64,
    pub until: i64,
    /// Most jobs that waited and fitted.
    pub waiting: u64,
}

/// Shortest time that is named, and the part of the machine that may still be held in it.
const LEAST_QUIET: i64 = 3_600;
const STILL_HELD: f64 = 0.1;

/// Change of what is held, of what there is, or of what waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum QuietChange {
    Capacity(i64),
    Held(i64),
    Waits(u32, i64),
}

/// Returns the times in which the pool looks as if it was out, beyond the outages that are known.
pub(super) fn quiet_times(site: &Site, case: &PoolCase) -> Vec<QuietTime> {
    let window = &site.manifest.window;
    let mut changes: Vec<(i64, QuietChange)> = Vec::new();
    for (job, waits_for_limit) in case.jobs.iter().zip(wait_for_limits(site, case)) {
        let units = i64::from(job.units);
        if let Some(start) = job.start {
            let end = start.saturating_add(job.holds);
            changes.extend([(start, QuietChange::Held(units)), (end, QuietChange::Held(-units))]);
        }
        let leaves = job.start.or(job.end).unwrap_or(i64::MAX);
        if job.modelled && job.simulated && leaves > job.arrive && !waits_for_limit {
            changes.push((job.arrive, QuietChange::Waits(job.units, 1)));
            changes.push((leaves, QuietChange::Waits(job.units, -1)));
        }
    }
    // A reservation also keeps jobs from idle nodes.
    for loss in site.losses.iter().filter(|loss| loss.pool == case.pool && loss.cause != Cause::ReservedJob) {
        let units = i64::from(loss.units);
        changes.push((loss.begin, QuietChange::Capacity(-units)));
        changes.push((loss.end.unwrap_or(i64::MAX), QuietChange::Capacity(units)));
    }
    changes.sort_unstable();
    let edges = (window.from, window.until);
    quiet_in(&changes, i64::from(case.units), edges)
}

/// Returns for each job of a pool whether a limit had no room for it in most of its wait.
fn wait_for_limits(site: &Site, case: &PoolCase) -> Vec<bool> {
    let of_pool = case.places.iter().enumerate().filter(|(_, place)| **place != ELSEWHERE);
    let waits: Vec<(usize, i64, i64)> = of_pool
        .map(|(at, &place)| {
            let job = &case.jobs[place as usize];
            (at, job.arrive, job.start.or(job.end).unwrap_or(site.manifest.window.until))
        })
        .collect();
    let mut for_limits = vec![false; case.jobs.len()];
    for (&(at, begin, end), seconds) in waits.iter().zip(limit_seconds(site, &waits)) {
        for_limits[case.places[at] as usize] = end > begin && 2.0 * seconds > (end - begin) as f64;
    }
    for_limits
}

fn quiet_in(changes: &[(i64, QuietChange)], units: i64, (from, until): (i64, i64)) -> Vec<QuietTime> {
    let (mut capacity, mut held_units) = (units, 0_i64);
    let mut waiting_jobs: BTreeMap<u32, i64> = BTreeMap::new();
    let (mut quiet, mut open): (Vec<QuietTime>, Option<QuietTime>) = (Vec::new(), None);
    for moment in changes.chunk_by(|a, b| a.0 == b.0) {
        let now = moment[0].0.clamp(from, until);
        let mut starts = false;
        for (_, change) in moment {
            match *change {
                QuietChange::Capacity(by) => capacity += by,
                QuietChange::Held(by) => {
                    held_units += by;
                    starts |= by > 0;
                }
                QuietChange::Waits(units, by) => *waiting_jobs.entry(units).or_default() += by,
            }
        }
        let free = capacity - held_units;
        let fits: i64 =
            waiting_jobs.iter().take_while(|(units, _)| i64::from(**units) <= free).map(|(_, jobs)| jobs).sum();
        let is_quiet = fits > 0 && held_units as f64 <= STILL_HELD * capacity as f64;
        if let Some(time) = open.as_mut() {
            time.until = now;
            time.waiting = time.waiting.max(fits.unsigned_abs());
        }
        if starts || !is_quiet {
            quiet.extend(open.take());
        }
        if is_quiet && open.is_none() {
            open = Some(QuietTime { from: now, until: now, waiting: fits.unsigned_abs() });
        }
    }
    if let Some(time) = open {
        quiet.push(QuietTime { until, ..time });
    }
    quiet.retain(|time| time.until - time.from >= LEAST_QUIET);
    quiet
}

/// Most times that are named one by one.
const NAMED: usize = 3;

pub(super) fn quiet_texts(quiet: &[QuietTime], site: &Site) -> Vec<String> {
    let zone = Zone::from_name(&site.manifest.time_zone).unwrap_or_else(|_| Zone::utc_zone());
    let minute = |moment: i64| clock::format_minute(zone.civil_time(moment));
    let describe_time = |time: &QuietTime| {
        let jobs = if time.waiting == 1 {
            "a job that fits waits".into()
        } else {
            format!("{} jobs that fit wait", time.waiting)
        };
        format!(
            "from {} to {} nothing starts and nearly nothing runs while {jobs}: an outage that is not recorded, or all were held \
             (drystone import --ask fetches outages)",
            minute(time.from),
            minute(time.until)
        )
    };
    let mut texts: Vec<String> = quiet.iter().take(NAMED).map(describe_time).collect();
    match quiet.len().saturating_sub(NAMED) {
        0 => {}
        1 => texts.push("one more such time".to_string()),
        more => texts.push(format!("{more} more such times")),
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(record_waits: &[f64], replay_waits: &[f64]) -> WaitPairs {
        WaitPairs {
            recorded: record_waits.to_vec(),
            replayed: replay_waits.to_vec(),
            blocks: vec![0; record_waits.len()],
        }
    }

    #[test]
    fn a_shift_is_what_nearly_all_jobs_have() {
        let record_waits = [3_600.0, 3_700.0, 4_000.0, 9_000.0];
        let shift_waits: Vec<f64> = record_waits.iter().map(|wait| wait - 3_600.0).collect();
        let shift = ConstantShift::find_shift(&pairs(&record_waits, &shift_waits)).expect("a shift");
        assert_eq!((shift.seconds, shift.share), (-3_600.0, 1.0));
        assert!(shift.describe_shift().starts_with("every job 60.0 min early"), "{}", shift.describe_shift());
        // As many jobs early as late, the same time, and a replay that is right.
        assert_eq!(ConstantShift::find_shift(&pairs(&record_waits, &[0.0, 3_700.0, 4_000.0, 5_400.0])), None);
        assert_eq!(ConstantShift::find_shift(&pairs(&record_waits, &record_waits)), None);
        assert_eq!(ConstantShift::find_shift(&pairs(&[], &[])), None);
    }

    #[test]
    fn an_empty_machine_with_a_queue_is_quiet() {
        use QuietChange::{Capacity, Held, Waits};
        // Ten units. A job of eight ends at 100; one of four waits from 50 to 9,000.
        let mut changes =
            vec![(0, Held(8)), (50, Waits(4, 1)), (100, Held(-8)), (9_000, Held(4)), (9_000, Waits(4, -1))];
        let quiet = |changes: &[(i64, QuietChange)]| quiet_in(changes, 10, (0, 20_000));
        assert_eq!(quiet(&changes), [QuietTime { from: 100, until: 9_000, waiting: 1 }]);
        // A start within the time parts it; a recorded outage explains it.
        let with_start = [&changes[..3], &[(4_000, Held(1)), (4_010, Held(-1))], &changes[3..]].concat();
        let times: Vec<(i64, i64)> = quiet(&with_start).iter().map(|time| (time.from, time.until)).collect();
        assert_eq!(times, [(100, 4_000), (4_000, 9_000)]);
        changes.splice(2..2, [(90, Capacity(-10))]);
        changes.insert(4, (8_000, Capacity(10)));
        assert_eq!(quiet(&changes), []);
        // A machine that is half full is not quiet, nor one on which the job does not fit.
        assert_eq!(quiet(&[(0, Held(5)), (50, Waits(4, 1)), (9_000, Waits(4, -1))]), []);
        assert_eq!(quiet(&[(50, Waits(11, 1)), (9_000, Waits(11, -1))]), []);
    }
}
