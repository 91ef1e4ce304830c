//! Data that plots need beyond a report: distributions, series, classes, users. Small, whatever the
//! length of the log.

use crate::timeline::{Timeline, TimelineMeter, round_decimals};
use drystone::engine::{GaugeNote, Levels, Notes, Observer};
use drystone::metrics::{
    Categorised, Category, ClassWeek, Distribution, JobRow, MANY_WEEKS, PowerTimeline, SearchEffort, SlowdownRatios,
    Summary, measures, slowdown_ratios, weekly_classes,
};
use drystone::model::{Procs, Time};
use drystone::policy::Gauge;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most users that are listed one by one: those with most jobs.
pub const MOST_USERS: usize = 200;
/// Most points of a step function over time.
const MOST_STEPS: usize = 600;

/// Data of one policy for plots, beyond its report.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlotDetails {
    /// Distribution of waits over the jobs that count, in seconds.
    pub wait: Quantiles,
    /// Distribution of bounded slowdowns over the jobs that count.
    pub bounded_slowdown: Quantiles,
    /// Distribution of |start − start first reserved|, in seconds, over jobs that waited and had a
    /// reservation.
    pub reservation_error: Quantiles,
    /// Jobs that count by the accuracy of their predictions.
    pub accuracy: Bars,
    /// Jobs that count by run time × width, in the 25 classes of `chiang`.
    pub classes: Vec<DetailCell>,
    /// The users with most jobs that count.
    pub users: Vec<DetailCell>,
    pub user_count: usize,
    /// The machine over time; absent where months were simulated apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// Four classes of run times, week by week.
    pub weekly: Weekly,
    /// The slowdown ratio R against the baseline, per class and per batch of submissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratios: Option<SlowdownRatios>,
    /// Quantities inside the policy over time, such as the sizes of its partitions.
    pub gauges: Vec<QuantitySteps>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchDetails>,
    /// Power over time, where it is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerTimeline>,
}

/// A distribution as points of its cumulative distribution function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Quantiles {
    pub count: u64,
    /// (share of all values, the smallest value not exceeded by so many), ascending; values by
    /// nearest rank.
    pub points: Vec<(f64, f64)>,
}

impl Quantiles {
    /// Of some values; negative and undefined ones are left out. Every half percent, and finer
    /// where it gets rare. O(n log n).
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Quantiles {
        // Numbers that are not negative are ordered like their bits, which are faster to compare.
        // Plus 0: one zero.
        let defined_values = values.into_iter().filter(|v| (0.0..f64::INFINITY).contains(v));
        let mut values: Vec<u64> = defined_values.map(|v| (v + 0.0).to_bits()).collect();
        values.sort_unstable();
        let count = values.len() as u64;
        // In 1/100,000, so that every rank is exact.
        let shares = (0..=198_u64)
            .map(|i| i * 500)
            .chain((1..10).map(|i| 99_000 + i * 100))
            .chain((1..10).map(|i| 99_900 + i * 10))
            .chain([100_000]);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for share in shares {
            let rank = (u128::from(share) * u128::from(count)).div_ceil(100_000).max(1) as usize - 1;
            let Some(value) = values.get(rank).map(|&bits| f64::from_bits(bits)) else { break };
            let point = (share as f64 / 1e5, value);
            // Of a run of equal values the first and the last say everything.
            match points.as_slice() {
                [.., (_, a), (_, b)] if *a == value && *b == value => {
                    let last = points.len() - 1;
                    points[last] = point;
                }
                _ => points.push(point),
            }
        }
        Quantiles { count, points }
    }

    /// The value that this share of all values does not exceed; `None` without values. Exact for
    /// the shares that [`Quantiles::from_values`] looks at.
    pub fn value_at(&self, share: f64) -> Option<f64> {
        // Between two points with the same value the value is the same.
        let next = self.points.iter().find(|p| p.0 >= share)?;
        Some(next.1)
    }
}

/// Counts of values in ranges of equal width.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Bars {
    /// Lower end of the first range.
    pub start: f64,
    /// Width of a range.
    pub width: f64,
    /// Values in each.
    pub counts: Vec<u64>,
}

/// Some jobs together: a class, or a user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DetailCell {
    /// Number of the class or of the user.
    pub key: i64,
    /// Name of the class.
    pub name: String,
    /// Jobs that count.
    pub jobs: u64,
    /// Their mean wait, in seconds.
    pub wait: Option<f64>,
    /// Their mean bounded slowdown.
    pub bounded_slowdown: Option<f64>,
}

impl DetailCell {
    fn from_category(category: &Category) -> DetailCell {
        let Category { key, name, measures } = category;
        DetailCell {
            key: *key,
            name: name.clone(),
            jobs: measures.wait.count,
            wait: measures.wait.mean,
            bounded_slowdown: measures.bounded_slowdown.mean,
        }
    }
}

/// Four classes of run times (up to 100, 1,000, 10,000 s, more), week by week of submits. A list
/// per class, an entry per week; means are rounded to four decimals. Empty where there are more
/// weeks than [`MANY_WEEKS`]: no plot would show them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Weekly {
    /// Jobs submitted.
    pub jobs: [Vec<u64>; 4],
    /// Their mean wait, in seconds.
    pub wait: [Vec<Option<f64>>; 4],
    /// Their mean slowdown.
    pub slowdown: [Vec<Option<f64>>; 4],
}

impl Weekly {
    fn from_weeks(weeks: &[ClassWeek]) -> Weekly {
        let mut weekly = Weekly::default();
        if weeks.last().is_some_and(|last| last.week >= MANY_WEEKS) {
            return weekly;
        }
        for week in weeks {
            weekly.jobs[week.class].push(week.jobs);
            weekly.wait[week.class].push(week.wait.map(round_decimals));
            weekly.slowdown[week.class].push(week.slowdown.map(round_decimals));
        }
        weekly
    }
}

/// A quantity inside a policy over time: from each point on it has that value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QuantitySteps {
    /// The quantity, e.g. `partition 1`.
    pub name: String,
    /// (since when, value). Where there are many, sampled after a number of changes of any of the
    /// policy's quantities.
    pub points: Vec<(Time, i64)>,
    /// Changes there were, points or not.
    pub changes: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchDetails {
    pub effort: SearchEffort,
    /// Nodes placed per search.
    pub nodes: Summary,
    /// Paths followed per search.
    pub paths: Summary,
    /// Searches by nodes placed: the i-th count is of those with 2^i to 2^(i+1) − 1 nodes (the
    /// first also of none).
    pub by_nodes: Vec<u64>,
}

/// Watches one simulation for what [`PlotDetails`] need beyond rows and categories.
#[derive(Clone, Debug)]
pub struct Watcher {
    timeline: TimelineMeter,
    notes: Notes,
}

impl Watcher {
    /// For a machine of this many processors.
    pub fn new(procs: Procs) -> Watcher {
        Watcher { timeline: TimelineMeter::new(procs), notes: Notes::default() }
    }
}

impl Observer for Watcher {
    const ENDS: bool = false;

    #[inline]
    fn note_gauge(&mut self, now: Time, gauge: Gauge, value: i64) {
        self.notes.note_gauge(now, gauge, value);
    }

    #[inline]
    fn note_settlement(&mut self, now: Time, levels: Levels) {
        self.timeline.note_settlement(now, levels);
    }
}

/// Sources of [`PlotDetails`].
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    pub rows: &'a [JobRow],
    /// Every job under the baseline, where this is not the baseline.
    pub baseline: Option<&'a [JobRow]>,
    /// Submissions per batch of the slowdown ratio R.
    pub batch: usize,
    /// Classes of `chiang`.
    pub classes: Option<&'a Categorised>,
    pub users: Option<&'a Categorised>,
}

impl PlotDetails {
    /// From a simulation's rows and categories and what was watched; `watched` is absent where
    /// months were simulated apart. O(n log n) for n jobs.
    pub fn from_material(material: Material<'_>, watcher: Option<Watcher>) -> PlotDetails {
        let Material { rows, baseline, batch, classes, users } = material;
        let counted_rows = || rows.iter().filter(|r| r.counted);
        let late = |r: &JobRow| {
            let reserved_start = r.first_reservation.filter(|_| r.start > r.submit)?;
            Some((r.start.0 as f64 - reserved_start.0 as f64).abs())
        };
        let cells = |breakdown: Option<&Categorised>| -> Vec<DetailCell> {
            breakdown.map_or_else(Vec::new, |c| c.categories.iter().map(DetailCell::from_category).collect())
        };
        let mut users = cells(users);
        let user_count = users.len();
        users.sort_by_key(|u| (std::cmp::Reverse(u.jobs), u.key));
        users.truncate(MOST_USERS);
        let (timeline, notes) = watcher.map(|w| (w.timeline.finish(), w.notes)).unwrap_or_default();
        PlotDetails {
            wait: Quantiles::from_values(counted_rows().map(|r| r.wait().as_f64())),
            bounded_slowdown: Quantiles::from_values(
                counted_rows().map(|r| measures::bounded_slowdown(r.wait(), r.ran)),
            ),
            reservation_error: Quantiles::from_values(counted_rows().filter_map(late)),
            accuracy: accuracy_bars(counted_rows().filter_map(|r| r.accuracy)),
            classes: cells(classes),
            users,
            user_count,
            timeline,
            weekly: Weekly::from_weeks(&weekly_classes(rows)),
            ratios: baseline.and_then(|base| slowdown_ratios(base, rows, batch).ok()),
            gauges: gauge_steps(&notes.list),
            search: SearchDetails::from_notes(&notes),
            power: None,
        }
    }
}

/// Twenty ranges from 0 to 1.
fn accuracy_bars(values: impl Iterator<Item = f64>) -> Bars {
    let mut counts = vec![0; 20];
    for value in values {
        counts[((value * 20.0) as usize).min(19)] += 1;
    }
    Bars { start: 0.0, width: 0.05, counts }
}

/// A policy's notes on its partitions, borders and delay. Notes of its searches are summed up
/// instead.
fn gauge_steps(notes: &[GaugeNote]) -> Vec<QuantitySteps> {
    let mut gauge_points: BTreeMap<Gauge, Vec<(Time, i64)>> = BTreeMap::new();
    for note in notes {
        let is_stepped = matches!(note.gauge, Gauge::Partition(_) | Gauge::Queues | Gauge::Border(_) | Gauge::Delay);
        if is_stepped {
            let points = gauge_points.entry(note.gauge).or_default();
            if points.last().is_none_or(|&(_, value)| value != note.value) {
                points.push((note.at, note.value));
            }
        }
    }
    // All at the same times, so that partitions add up to the machine wherever one looks.
    let mut times: Vec<Time> = gauge_points.values().flatten().map(|point| point.0).collect();
    times.sort_unstable();
    times.dedup();
    let kept_times: Vec<Time> = times.iter().copied().step_by(times.len().div_ceil(MOST_STEPS).max(1)).collect();
    let thin = |(gauge, points): (Gauge, Vec<(Time, i64)>)| {
        let mut thinned_points: Vec<(Time, i64)> = Vec::new();
        for &at in &kept_times {
            let point_count = points.partition_point(|point| point.0 <= at);
            let value = point_count.checked_sub(1).map(|last| points[last].1);
            if let Some(value) = value.filter(|&v| thinned_points.last().is_none_or(|last| last.1 != v)) {
                thinned_points.push((at, value));
            }
        }
        QuantitySteps { name: gauge.to_string(), changes: points.len() as u64, points: thinned_points }
    };
    gauge_points.into_iter().map(thin).collect()
}

impl SearchDetails {
    fn from_notes(notes: &Notes) -> Option<SearchDetails> {
        let effort = SearchEffort::from_notes(notes)?;
        let (mut nodes, mut paths) = (Distribution::new(true), Distribution::new(true));
        let mut by_nodes: Vec<u64> = Vec::new();
        for note in &notes.list {
            match note.gauge {
                Gauge::Nodes => {
                    nodes.push(note.value as f64);
                    let at = note.value.max(1).ilog2() as usize;
                    if by_nodes.len() <= at {
                        by_nodes.resize(at + 1, 0);
                    }
                    by_nodes[at] += 1;
                }
                Gauge::Paths => paths.push(note.value as f64),
                _ => {}
            }
        }
        Some(SearchDetails { effort, nodes: nodes.finish(), paths: paths.finish(), by_nodes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let q = Quantiles::from_values((1..=1_000).map(f64::from).rev());
        assert_eq!(q.count, 1_000);
        let at = |share: f64| q.points.iter().find(|p| p.0 == share).map(|p| p.1);
        assert_eq!(
            (at(0.0), at(0.5), at(0.95), at(0.999), at(1.0)),
            (Some(1.0), Some(500.0), Some(950.0), Some(999.0), Some(1_000.0))
        );
        assert!(q.points.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    }

    #[test]
    fn equal_values_are_told_once() {
        assert_eq!(Quantiles::from_values(vec![0.0; 50]).points, [(0.0, 0.0), (1.0, 0.0)]);
        assert_eq!(Quantiles::from_values(vec![7.0]).points, [(0.0, 7.0), (1.0, 7.0)]);
        assert_eq!(Quantiles::from_values(Vec::new()), Quantiles::default());
    }

    #[test]
    fn accuracies_fall_into_twentieths() {
        let bars = accuracy_bars([0.0, 0.049, 0.05, 0.5, 1.0].into_iter());
        assert_eq!((bars.counts[0], bars.counts[1], bars.counts[10], bars.counts[19]), (2, 1, 1, 1));
    }

    #[test]
    fn gauges_are_step_functions_without_repetition() {
        let note = |at, gauge, value| GaugeNote { at: Time(at), gauge, value };
        let notes = [
            note(0, Gauge::Partition(1), 4),
            note(0, Gauge::Partition(2), 6),
            note(5, Gauge::Partition(1), 4),
            note(9, Gauge::Partition(1), 5),
        ];
        let steps = gauge_steps(&notes);
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].points, [(Time(0), 4), (Time(9), 5)]);
        assert_eq!(steps[0].name, "partition 1");
    }

    /// Few of many changes are kept, and partitions still add up.
    #[test]
    fn thinned_partitions_add_up() {
        let mut notes = Vec::new();
        for i in 0..5_000 {
            let value = i * 37 % 11;
            notes.push(GaugeNote { at: Time(i), gauge: Gauge::Partition(1), value });
            notes.push(GaugeNote { at: Time(i), gauge: Gauge::Partition(2), value: 10 - value });
        }
        let steps = gauge_steps(&notes);
        assert!(steps.iter().all(|g| g.points.len() <= MOST_STEPS && g.points.len() > 300 && g.changes == 5_000));
        let at = |g: &QuantitySteps, t: Time| g.points.iter().rev().find(|p| p.0 <= t).map(|p| p.1);
        for t in (0..5_000).map(Time) {
            assert_eq!(at(&steps[0], t).zip(at(&steps[1], t)).map(|(a, b)| a + b), Some(10), "{t}");
        }
    }
}
