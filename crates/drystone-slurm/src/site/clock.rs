//! Clocks of the two schedulers: the loop of slurmctld that ticks every second, and backfill's own
//! clock.
//!
//! Times are milliseconds. Where the clocks stand within a second is a parameter, since it decides
//! over single jobs.

use crate::conf::SchedParams;
use serde::{Deserialize, Serialize};

/// The loop sleeps for a second and works for one or two milliseconds.
const TICK_MICROS: i64 = 1_001_500;
/// Delay of backfill's clock in each period, in seconds.
const BACKFILL_DRIFT: i64 = 2;

/// The phases of the two clocks and what they have done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ScheduleClocks {
    /// Microseconds of the first tick.
    first_tick: i64,
    /// Seconds of the last full pass of the main scheduler, and of the last pass of either kind.
    last_full: i64,
    last: i64,
    /// True if a pass of the main scheduler is requested.
    requested: bool,
    /// Milliseconds at which the last backfill pass ended.
    backfill_end: i64,
    /// Duration of a backfill pass, sleeps included, by the last one made.
    pass: i64,
}

impl ScheduleClocks {
    /// Clocks that have run for a while at `now` milliseconds. `phase` picks where they stand.
    pub(super) fn new(now: i64, phase: u64, params: &SchedParams) -> ScheduleClocks {
        let full = params.sched_interval.max(1);
        let second = now.div_euclid(1000);
        let interval = params.bf_interval.max(1) * 1000;
        ScheduleClocks {
            first_tick: now * 1000 - 1000 * 1000 + pick_below(phase, 1, 1_000_000),
            last_full: second - 1 - pick_below(phase, 2, full),
            last: second - 1 - pick_below(phase, 2, full),
            requested: false,
            backfill_end: now - pick_below(phase, 3, interval),
            pass: 0,
        }
    }

    /// The first tick at or after `at` milliseconds.
    fn next_tick(&self, at: i64) -> i64 {
        let since = at * 1000 - self.first_tick;
        let ticks = since.div_euclid(TICK_MICROS) + i64::from(since.rem_euclid(TICK_MICROS) > 0);
        (self.first_tick + ticks.max(0) * TICK_MICROS).div_euclid(1000).max(at)
    }

    /// Asks for a pass of the main scheduler.
    pub(super) fn request_pass(&mut self) {
        self.requested = true;
    }

    /// The next pass of the main scheduler at or after `at` milliseconds, if nothing more is asked
    /// for; [`i64::MAX`] for never.
    pub(super) fn next_main(&self, at: i64, params: &SchedParams) -> i64 {
        if params.sched_interval < 0 {
            return i64::MAX;
        }
        let full = self.last_full + params.sched_interval.max(1);
        let requested_pass = if self.requested { self.last + params.batch_sched_delay } else { i64::MAX };
        self.next_tick(at.max(full.min(requested_pass) * 1000))
    }

    /// A pass of the main scheduler is made. Returns whether it is a full one.
    pub(super) fn main_made(&mut self, at: i64, params: &SchedParams) -> bool {
        let second = at.div_euclid(1000);
        let full = second - self.last_full >= params.sched_interval.max(1);
        if full {
            self.last_full = second;
        }
        self.last = second;
        self.requested = false;
        full
    }

    /// Full passes of the main scheduler up to `at` milliseconds change nothing: they are only
    /// counted.
    pub(super) fn skip_main(&mut self, at: i64, params: &SchedParams) {
        let interval = params.sched_interval.max(1);
        let second = at.div_euclid(1000) - 1;
        let passes = (second - self.last_full).div_euclid(interval);
        if passes > 0 {
            self.last_full += passes * interval;
            self.last = self.last.max(self.last_full);
        }
        if self.requested && second >= self.last + params.batch_sched_delay {
            self.last = second;
            self.requested = false;
        }
    }

    /// The next backfill pass at or after `at` milliseconds, while jobs wait; [`i64::MAX`] for
    /// never.
    pub(super) fn next_backfill(&self, at: i64, params: &SchedParams) -> i64 {
        if params.bf_interval < 0 {
            return i64::MAX;
        }
        let period = params.bf_interval * 1000 + BACKFILL_DRIFT + self.pass;
        let first = self.backfill_end + params.bf_interval * 1000 + BACKFILL_DRIFT;
        if first >= at { first } else { first + (at - first + period - 1).div_euclid(period) * period }
    }

    /// No job has waited for a while: backfill looks every second for a change. The next time at or
    /// after `at` milliseconds.
    pub(super) fn wake_backfill(&mut self, at: i64, params: &SchedParams) {
        let first = self.backfill_end + params.bf_interval.max(1) * 1000 + BACKFILL_DRIFT;
        if first < at {
            let seconds = (at - first + 999).div_euclid(1000);
            self.backfill_end += seconds * 1000 + seconds;
        }
    }

    /// A backfill pass that began at `begin` ended at `end` milliseconds.
    pub(super) fn backfill_made(&mut self, begin: i64, end: i64) {
        self.backfill_end = end;
        self.pass = end - begin;
    }

    /// Backfill passes that change nothing were made up to `next`, which is the next one.
    pub(super) fn skip_backfill(&mut self, next: i64, params: &SchedParams) {
        self.backfill_end = next - params.bf_interval * 1000 - BACKFILL_DRIFT;
    }
}

/// A number from 0 below `below` that depends on the seed alone.
pub(super) fn pick_below(seed: u64, stream: u64, below: i64) -> i64 {
    // SplitMix64.
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) % below.max(1) as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_for_the_delay_and_the_next_tick() {
        let params = SchedParams::default();
        let clock =
            ScheduleClocks { first_tick: 500_000, last_full: 0, last: 10, requested: true, backfill_end: 0, pass: 0 };
        // Three seconds after the pass at 10 s: the first tick in second 13 or later.
        assert_eq!(clock.next_main(11_000, &params), 13_519);
        let idle = ScheduleClocks { requested: false, ..clock };
        assert_eq!(idle.next_main(11_000, &params), 60_590);
    }

    #[test]
    fn backfill_comes_an_interval_after_its_end() {
        let params = SchedParams::default();
        let mut clock = ScheduleClocks::new(0, 7, &params);
        clock.backfill_made(1_000, 1_000);
        assert_eq!(clock.next_backfill(2_000, &params), 31_002);
        assert_eq!(clock.next_backfill(31_003, &params), 61_004);
    }
}
