//! The state of the machine over time, in a bounded number of bins.

use drystone::engine::{Levels, Observer};
use drystone::model::{Procs, Span, Time};
use serde::{Deserialize, Serialize};

/// Most bins of a [`Timeline`]. When there would be more, two become one.
pub const MOST_BINS: usize = 512;

/// Time-weighted means of what the machine and its queue did, bin by bin. Values are rounded to
/// four decimals.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Start of the first bin: the first submit.
    pub start: Time,
    /// Width of every bin, in seconds; the last may be cut short by the end of the last job.
    pub width: Span,
    /// Mean share of processors in use.
    pub utilisation: Vec<f64>,
    /// Mean number of waiting jobs.
    pub waiting_jobs: Vec<f64>,
    /// Mean number of processors that waiting jobs ask for: the backlog.
    pub waiting_procs: Vec<f64>,
    /// Mean share of processors that were out; empty where none ever was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub down: Vec<f64>,
}

/// Sums of one bin, in units × seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    seconds: i64,
    used: i128,
    jobs: i128,
    procs: i128,
    down: i128,
}

impl Bin {
    fn combine_with(self, bin: Bin) -> Bin {
        Bin {
            seconds: self.seconds + bin.seconds,
            used: self.used + bin.used,
            jobs: self.jobs + bin.jobs,
            procs: self.procs + bin.procs,
            down: self.down + bin.down,
        }
    }
}

/// Watches a simulation and makes its [`Timeline`]. Cost: O(1) an instant; memory does not grow.
#[derive(Clone, Debug)]
pub struct TimelineMeter {
    procs: Procs,
    start: Option<Time>,
    width: i64,
    bins: Vec<Bin>,
    since: Time,
    levels: Option<Levels>,
}

impl TimelineMeter {
    /// For a machine of this many processors.
    pub fn new(procs: Procs) -> TimelineMeter {
        TimelineMeter {
            procs,
            start: None,
            width: 60,
            bins: Vec::with_capacity(MOST_BINS + 1),
            since: Time::ZERO,
            levels: None,
        }
    }

    /// The timeline; `None` if nothing was seen, or all of it at one instant.
    pub fn finish(self) -> Option<Timeline> {
        let start = self.start?;
        let bins: Vec<Bin> = self.bins.into_iter().filter(|b| b.seconds > 0).collect();
        let mean = |of: fn(&Bin) -> i128, per: f64| -> Vec<f64> {
            bins.iter().map(|b| round_decimals(of(b) as f64 / b.seconds as f64 / per)).collect()
        };
        (!bins.is_empty()).then(|| Timeline {
            start,
            width: Span(self.width),
            utilisation: mean(|b| b.used, f64::from(self.procs)),
            waiting_jobs: mean(|b| b.jobs, 1.0),
            waiting_procs: mean(|b| b.procs, 1.0),
            down: if bins.iter().any(|b| b.down > 0) { mean(|b| b.down, f64::from(self.procs)) } else { Vec::new() },
        })
    }

    /// Lets the present levels hold until `now`.
    fn pass_until(&mut self, now: Time) {
        let (Some(start), Some(levels)) = (self.start, self.levels) else { return };
        let (mut from, until) = ((self.since - start).0, (now - start).0);
        while until > self.width.saturating_mul(MOST_BINS as i64) {
            self.bins =
                self.bins.chunks(2).map(|two| two.iter().fold(Bin::default(), |sum, b| sum.combine_with(*b))).collect();
            self.width = self.width.saturating_mul(2);
        }
        let used_procs = i128::from(self.procs.saturating_sub(levels.free).saturating_sub(levels.down));
        while from < until {
            let at = (from / self.width) as usize;
            let edge = until.min((at as i64 + 1) * self.width);
            if self.bins.len() <= at {
                self.bins.resize(at + 1, Bin::default());
            }
            let seconds = i128::from(edge - from);
            self.bins[at] = self.bins[at].combine_with(Bin {
                seconds: edge - from,
                used: used_procs * seconds,
                jobs: i128::from(levels.queued_jobs()) * seconds,
                procs: i128::from(levels.queued_procs()) * seconds,
                down: i128::from(levels.down) * seconds,
            });
            from = edge;
        }
    }
}

/// Four decimals are more than a plot shows, and a quarter of the bytes.
pub(crate) fn round_decimals(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

impl Observer for TimelineMeter {
    const ENDS: bool = false;
    const NOTES: bool = false;

    fn note_settlement(&mut self, now: Time, levels: Levels) {
        self.start.get_or_insert(now);
        self.pass_until(now);
        (self.since, self.levels) = (now, Some(levels));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(free: Procs, waiting: u32, waiting_procs: u64) -> Levels {
        Levels::new(free, 0).with_waiting(waiting, waiting_procs)
    }

    /// Ten processors: 4 used for 60 s, then 10 used for 30 s with two jobs asking for 7, then 5
    /// used for 90 s.
    #[test]
    fn bins_are_time_weighted_means() {
        let mut meter = TimelineMeter::new(10);
        meter.note_settlement(Time(1_000), levels(6, 0, 0));
        meter.note_settlement(Time(1_060), levels(0, 2, 7));
        meter.note_settlement(Time(1_090), levels(5, 0, 0));
        meter.note_settlement(Time(1_180), levels(10, 0, 0));
        let timeline = meter.finish().expect("something was seen");
        assert_eq!((timeline.start, timeline.width), (Time(1_000), Span(60)));
        assert_eq!(timeline.utilisation, [0.4, 0.75, 0.5]);
        assert_eq!(timeline.waiting_jobs, [0.0, 1.0, 0.0]);
        assert_eq!(timeline.waiting_procs, [0.0, 3.5, 0.0]);
    }

    /// However long it takes, there are few bins, and nothing gets lost in merging them.
    #[test]
    fn merging_loses_nothing() {
        let mut meter = TimelineMeter::new(10);
        let mut integral = 0;
        let mut last: Option<(i64, u32)> = None;
        for i in 0..5_000_i64 {
            let (at, free) = (i * i, (i % 11) as u32);
            if let Some((before, free)) = last {
                integral += (at - before) * i64::from(10 - free);
            }
            meter.note_settlement(Time(at), levels(free, 0, 0));
            last = Some((at, free));
        }
        let use_sum: i128 = meter.bins.iter().map(|b| b.used).sum();
        assert_eq!(use_sum, i128::from(integral));
        let bins = meter.finish().expect("something was seen").utilisation.len();
        assert!(bins > MOST_BINS / 2 - 1 && bins <= MOST_BINS, "{bins}");
    }

    #[test]
    fn nothing_is_seen_of_nothing() {
        assert_eq!(TimelineMeter::new(1).finish(), None);
        let mut meter = TimelineMeter::new(1);
        meter.note_settlement(Time(5), levels(1, 0, 0));
        assert_eq!(meter.finish(), None);
    }
}
