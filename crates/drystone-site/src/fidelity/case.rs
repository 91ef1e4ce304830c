//! Reference of a replay: the jobs of a pool as they were recorded.

use super::reason::RecordedReason;
use crate::clock;
use crate::jobs::{JobMarks, SiteJobFate};
use crate::site::Site;
use std::collections::BTreeMap;

/// A job as it was recorded. Times are seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedTimes {
    pub(super) arrive: i64,
    /// Start; `None` if it never started.
    pub(super) start: Option<i64>,
    /// Time at which it left its processors or, without a start, the queue.
    pub(super) end: Option<i64>,
    /// Seconds that it holds its processors, known or imputed.
    pub(super) holds: i64,
    pub(super) limit: i64,
    pub(super) units: u32,
    /// True if its wait is compared.
    pub(super) counts: bool,
    /// True if its wait is one that a model can explain.
    pub(super) modelled: bool,
    /// True if a policy starts it: not within a reservation.
    pub(super) simulated: bool,
    /// True if backfill started it; `None` where the record does not name the scheduler.
    pub(super) backfilled: Option<bool>,
}

impl RecordedTimes {
    pub(super) fn recorded_wait(&self) -> Option<i64> {
        self.start.map(|start| start - self.arrive)
    }
}

/// A pool's jobs, in the order of the site.
pub(super) struct PoolCase {
    pub(super) name: String,
    pub(super) pool: u16,
    pub(super) units: u32,
    pub(super) jobs: Vec<RecordedTimes>,
    /// For each job of the site its place here.
    pub(super) places: Vec<u32>,
    /// Seconds for which the jobs that are compared waited, by the last reason that is recorded,
    /// where that is more than a place on the machine.
    pub(super) reasons: BTreeMap<String, i64>,
    /// Bounds of the part in which waits are compared.
    pub(super) from: i64,
    pub(super) until: i64,
}

/// No place.
pub(super) const ELSEWHERE: u32 = u32::MAX;

impl PoolCase {
    /// The jobs of a pool. Waits are compared of those that arrive within the part of the window
    /// that is measured, started within it, and are no guess.
    pub(super) fn from_site(site: &Site, pool: u16, span: (i64, i64)) -> PoolCase {
        let summary = &site.manifest.pools[usize::from(pool)];
        let window = &site.manifest.window;
        let (from, until) = span;
        let mut places = vec![ELSEWHERE; site.len()];
        let mut jobs = Vec::new();
        let mut reasons: BTreeMap<String, i64> = BTreeMap::new();
        for (at, job) in site.jobs().enumerate() {
            if job.pool != pool {
                continue;
            }
            places[at] = jobs.len() as u32;
            let has_started = job.kind.has_start();
            let is_simulated = Site::is_simulated(&job);
            let fresh = job.start.is_some_and(|start| (window.from..=window.until).contains(&start));
            let holds = job.occupied_seconds().unwrap_or_else(|| match (job.start, job.kind) {
                (Some(start), SiteJobFate::Running) => (window.until - start).max(i64::from(job.limit)),
                _ => job.imputed_run.map_or(0, i64::from),
            });
            let in_time = fresh && !job.marks.has_mark(JobMarks::NO_SUBMIT) && (from..=until).contains(&job.arrive);
            let counts = has_started && is_simulated && in_time;
            if counts && job.marks.has_mark(JobMarks::CAUSE) && !job.reason.is_empty() {
                *reasons.entry(job.reason.to_string()).or_default() += job.wait().unwrap_or(0).max(0);
            }
            jobs.push(RecordedTimes {
                arrive: job.arrive,
                start: job.start.filter(|_| has_started),
                end: job.end,
                holds,
                limit: i64::from(job.limit),
                units: job.units,
                counts,
                modelled: !job.marks.has_mark(JobMarks::CAUSE),
                simulated: is_simulated,
                backfilled: was_backfilled(job.flags),
            });
        }
        PoolCase { name: summary.name.clone(), pool, units: summary.units, jobs, places, reasons, from, until }
    }

    /// The part of the site's window that is measured, `warm_up` seconds of it left out at the
    /// beginning if that is given.
    pub(super) fn measured_span(site: &Site, warm_up: Option<i64>) -> (i64, i64) {
        let window = &site.manifest.window;
        let from = warm_up.map_or(window.measure_from, |warm| window.from + warm);
        (from, window.measure_until.max(from))
    }

    /// Jobs whose waits are compared.
    pub(super) fn counted_jobs(&self) -> impl Iterator<Item = (usize, &RecordedTimes)> {
        self.jobs.iter().enumerate().filter(|(_, job)| job.counts)
    }

    /// Returns the recorded reason for which jobs waited longest for more than a place on the
    /// machine, with its part of all waiting and that of all such reasons.
    pub(super) fn main_reason(&self) -> Option<RecordedReason> {
        let total_wait: i64 =
            self.counted_jobs().filter_map(|(_, job)| job.recorded_wait()).map(|wait| wait.max(0)).sum();
        let (name, &most) = self.reasons.iter().max_by_key(|(name, seconds)| (**seconds, std::cmp::Reverse(*name)))?;
        let part = |seconds: i64| seconds as f64 / total_wait.max(1) as f64;
        (most > 0).then(|| RecordedReason {
            name: name.clone(),
            share: part(most),
            all: part(self.reasons.values().sum()),
        })
    }

    /// Lengths of blocks of time: weeks or, of less than six, days.
    pub(super) fn block_length(&self) -> i64 {
        const DAY: i64 = 86_400;
        if self.until - self.from >= 6 * 7 * DAY { 7 * DAY } else { DAY }
    }

    pub(super) fn block_of(&self, job: &RecordedTimes) -> i64 {
        (job.arrive - self.from).div_euclid(self.block_length())
    }

    pub(super) fn format_moment(moment: i64) -> String {
        clock::format_moment(moment)
    }
}

fn was_backfilled(flags: crate::text::Flags) -> Option<bool> {
    use crate::text::Flags;
    match () {
        () if flags.has_all(Flags::BACKFILL) => Some(true),
        () if flags.has_all(Flags::MAIN) || flags.has_all(Flags::SUBMIT) => Some(false),
        () => None,
    }
}
