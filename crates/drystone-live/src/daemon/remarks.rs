//! Planned starts in jobs' comments, for people who look with Slurm's own commands. Nothing reads
//! them here, and nothing decides by them.

use super::Daemon;
use crate::clock::DaemonClock;
use crate::cluster::{Cluster, HookMark, JobKey};
use crate::tracker::{DaemonMode, Tracked, TrackedPlace};
use std::time::Duration;

/// Pause between two rounds, and comments of a round at most: each is a change of a job.
const EVERY: Duration = Duration::from_secs(60);
const ROUND: usize = 20;
/// A comment is renewed no sooner, and for no smaller change, in seconds.
const OLD: Duration = Duration::from_secs(600);
const CHANGE: i64 = 600;

impl<C: Cluster, K: DaemonClock> Daemon<C, K> {
    /// Writes planned starts into comments, a few at a time. Tasks of arrays have none: a comment
    /// would split each off its array.
    pub(super) fn write_remarks(&mut self, at: usize, now: Duration) {
        let ahead = self.clock.wall_seconds() - self.current_stamp(at).now;
        let desk = &mut self.desks[at];
        if !self.config.comments
            || self.config.mode == DaemonMode::Shadow
            || self.stats.silent
            || now < desk.remarks.next
        {
            return;
        }
        desk.remarks.next = now + EVERY;
        let tracker = desk.core.tracker();
        let foretold = |id| desk.foretell.job_forecast(id).and_then(|start| start.likely);
        let starts = &mut desk.remarks.told;
        starts.retain(|key, _| tracker.find_job(*key).is_some_and(|t| t.place == TrackedPlace::Waiting));
        // A job that the hook did not mark must not look as if it had.
        let is_marked = |key: JobKey| tracker.mirror().job_fact(key).is_some_and(|fact| fact.mark == HookMark::Held);
        let waits = |t: &&Tracked| t.place == TrackedPlace::Waiting && t.flight.is_none() && t.key.task.is_none();
        let planned_jobs = tracker.jobs().filter(waits).filter(|t| is_marked(t.key));
        let mut due: Vec<(JobKey, i64)> = planned_jobs
            .filter_map(|t| {
                let start = t.story.planned.map(|promise| promise.start).or_else(|| t.id.and_then(foretold))?;
                // Policies without a plan for it say so by the end of time.
                let start = start.0.checked_add(ahead).filter(|&start| start < i64::MAX / 2)?;
                let fresh = starts.get(&t.key).is_some_and(|&(old, at)| {
                    now.saturating_sub(at) < OLD || start.abs_diff(old) < CHANGE.unsigned_abs()
                });
                (!fresh).then_some((t.key, start))
            })
            .collect();
        due.sort_by_key(|&(key, start)| (start, key));
        due.truncate(ROUND);
        if due.is_empty() {
            return;
        }
        let heartbeat = &self.heartbeat;
        let mut may = || heartbeat.as_ref().is_some_and(super::Heartbeat::is_mine);
        let texts: Vec<(JobKey, String)> = due.iter().map(|&(key, start)| (key, format_moment(start))).collect();
        self.cluster.write_remarks(&texts, &mut may);
        desk.remarks.told.extend(due.into_iter().map(|(key, start)| (key, (start, now))));
    }
}

/// A moment in UTC, to the minute: `2026-11-27T15:30Z`.
fn format_moment(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 1 March of the year 0, in eras of 400 years.
    let shifted_days = days + 719_468;
    let (era, of_era) = (shifted_days.div_euclid(146_097), shifted_days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}Z", rest / 3_600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::format_moment;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00Z"),
            (951_782_400, "2000-02-29T00:00Z"),
            (1_709_251_199, "2024-02-29T23:59Z"),
            (1_709_251_200, "2024-03-01T00:00Z"),
            (1_795_571_603, "2026-11-25T01:53Z"),
        ] {
            assert_eq!(format_moment(seconds), text);
        }
    }
}
