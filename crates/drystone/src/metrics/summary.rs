//! Summaries of streams of values: mean, deviation, percentiles, extremes.

use super::histogram::{Histogram, nearest_rank};
use serde::{Deserialize, Serialize};

/// Number of values that a [`Distribution`] keeps before it folds them into a histogram.
pub const EXACT_LIMIT: usize = 1 << 20;

/// Values are folded into the moments in blocks of this many: small enough for the first-level
/// cache.
const BLOCK: usize = 128;

/// Method that found the percentiles of a [`Summary`].
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// From all values, sorted.
    #[default]
    Exact,
    /// From a histogram, because there were more than [`EXACT_LIMIT`] values.
    Histogram {
        /// Bound on the relative error of every percentile and of the median.
        relative_error: f64,
    },
    /// Percentiles were not asked for and are absent.
    NotKept,
}

/// Summary of a stream of values. Everything is `None` where there was no value.
///
/// Count, mean, deviation and extremes are always exact up to rounding. A percentile is the
/// *nearest rank*: the smallest value such that at least p % of all values are not larger. The
/// median of an even number of values is the mean of the middle two.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub count: u64,
    /// Values left out because they are undefined (not finite) or negative, e.g. the slowdown of a
    /// job that ran for 0 s.
    pub excluded: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation of the population (divided by n, not n − 1).
    pub deviation: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 98th percentile.
    pub p98: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Method that found the percentiles.
    pub precision: Precision,
}

impl Summary {
    /// Sum of all values.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.mean.unwrap_or(0.0) * self.count as f64
    }
}

/// Takes a stream of non-negative values and makes a [`Summary`] of it.
///
/// Sums over blocks of values are compensated (Neumaier), so that sums of whole numbers below 2⁴⁶
/// are exact; deviations are computed within blocks and merged (Chan, Golub & LeVeque), which does
/// not cancel. The same calls with the same values give the same bits everywhere.
///
/// Cost: O(1) a value, a few nanoseconds. Memory: with percentiles 8 bytes a value up to
/// [`EXACT_LIMIT`] values, then a histogram of at most 130 KB; without percentiles about 1 KB.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Values that came one by one and wait for a block to be full.
    pending: Vec<f64>,
    /// All values of blocks so far, if percentiles are to be exact.
    kept: Vec<f64>,
    keep: bool,
    limit: usize,
    excluded: u64,
    moments: StreamMoments,
    histogram: Option<Box<Histogram>>,
}

impl Distribution {
    /// An empty distribution, which keeps what percentiles need if `percentiles` is set.
    #[must_use]
    pub fn new(percentiles: bool) -> Distribution {
        Distribution::with_limit(percentiles, EXACT_LIMIT)
    }

    /// Like [`Distribution::new`], but turning to the histogram after `limit` values instead of
    /// [`EXACT_LIMIT`].
    #[must_use]
    pub fn with_limit(percentiles: bool, limit: usize) -> Distribution {
        Distribution {
            pending: Vec::new(),
            kept: Vec::new(),
            keep: percentiles,
            limit,
            excluded: 0,
            moments: StreamMoments::default(),
            histogram: None,
        }
    }

    /// Takes one more value. Negative, infinite and undefined values are counted as excluded and
    /// otherwise ignored.
    #[inline]
    pub fn push(&mut self, value: f64) {
        self.pending.push(value);
        if self.pending.len() >= BLOCK {
            self.take_pending();
        }
    }

    /// Takes many values, faster than one by one.
    pub fn extend(&mut self, values: &[f64]) {
        for block in values.chunks(BLOCK) {
            self.take_block(block);
        }
    }

    /// Number of values taken so far, excluded ones not counted.
    #[must_use]
    pub fn value_count(&self) -> u64 {
        self.moments.count + self.pending.iter().filter(|v| is_defined(**v)).count() as u64
    }

    fn take_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        self.take_block(&pending);
        pending.clear();
        self.pending = pending;
    }

    /// Takes a block of at most [`BLOCK`] values.
    fn take_block(&mut self, values: &[f64]) {
        let mut defined_values = [0.0; BLOCK];
        let mut block = values;
        // Nearly always all values are defined, and taking the moments finds out: nothing undefined
        // has a finite sum.
        if !self.moments.take_block(block) {
            let mut size = 0;
            for &value in values.iter().filter(|v| is_defined(**v)) {
                defined_values[size] = value;
                size += 1;
            }
            self.excluded += (values.len() - size) as u64;
            block = &defined_values[..size];
            self.moments.take_defined(block);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.take_values(block);
        } else if self.keep {
            // Plus 0: there is only one zero.
            self.kept.extend(block.iter().map(|v| v + 0.0));
            if self.kept.len() > self.limit {
                let mut histogram = Box::<Histogram>::default();
                histogram.take_values(&std::mem::take(&mut self.kept));
                self.histogram = Some(histogram);
            }
        }
    }

    /// The summary of all values taken. Cost: O(n) on average for n kept values.
    #[must_use]
    pub fn finish(mut self) -> Summary {
        self.take_pending();
        let moments = &self.moments;
        let some = moments.count > 0;
        let mut summary = Summary {
            count: moments.count,
            excluded: self.excluded,
            mean: some.then(|| moments.mean()),
            deviation: some.then(|| moments.deviation()),
            min: some.then_some(moments.min),
            max: some.then_some(moments.max),
            ..Summary::default()
        };
        let ranked_values = match (&self.histogram, self.keep) {
            (_, false) => {
                summary.precision = Precision::NotKept;
                return summary;
            }
            (Some(histogram), true) => {
                summary.precision = Precision::Histogram { relative_error: Histogram::RELATIVE_ERROR };
                histogram.percentiles((moments.min, moments.max))
            }
            (None, true) => compute_percentiles(&mut self.kept),
        };
        if let Some([median, p90, p95, p98, p99]) = ranked_values {
            summary.median = Some(median);
            summary.p90 = Some(p90);
            summary.p95 = Some(p95);
            summary.p98 = Some(p98);
            summary.p99 = Some(p99);
        }
        summary
    }
}

/// Returns whether a value is within the range of summaries. No range contains NaN.
#[inline]
fn is_defined(value: f64) -> bool {
    (0.0..f64::INFINITY).contains(&value)
}

/// Median and 90th, 95th, 98th, 99th percentile; reorders the values. `None` without values.
fn compute_percentiles(values: &mut [f64]) -> Option<[f64; 5]> {
    if values.is_empty() {
        return None;
    }
    let count = values.len();
    let mut results = [0.0; 5];
    // The 90th percentile first: the others then only look at what is above it, each at what the
    // one before left.
    let mut above = 0;
    for (slot, percent) in [(1, 90), (2, 95), (3, 98), (4, 99)] {
        let rank = nearest_rank(percent, count as u64) as usize;
        if rank >= above {
            select_rank(&mut values[above..], rank - above);
            above = rank + 1;
        }
        // Otherwise the same rank was selected before and still is in its place.
        results[slot] = values[rank];
    }
    let middle = count / 2;
    let lowest = nearest_rank(90, count as u64) as usize;
    if middle < lowest {
        select_rank(&mut values[..lowest], middle);
    }
    results[0] = values[middle];
    if count.is_multiple_of(2) {
        let lower = values[..middle].iter().copied().fold(0.0, f64::max);
        results[0] = f64::midpoint(lower, results[0]);
    }
    Some(results)
}

/// Puts the value of this rank in its place. Numbers that are not negative are ordered like their
/// bits, which are faster to compare.
fn select_rank(values: &mut [f64], rank: usize) {
    values.select_nth_unstable_by_key(rank, |v| v.to_bits());
}

/// Count, sum, squared deviations and extremes.
#[derive(Clone, Debug)]
struct StreamMoments {
    count: u64,
    sum: f64,
    /// Rounding error of `sum` (Neumaier's compensation).
    lost: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    min: f64,
    max: f64,
}

impl Default for StreamMoments {
    fn default() -> Self {
        StreamMoments { count: 0, sum: 0.0, lost: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl StreamMoments {
    fn mean(&self) -> f64 {
        (self.sum + self.lost) / self.count as f64
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }

    /// Adds a block of values and says so, or does nothing where one may be undefined.
    fn take_block(&mut self, block: &[f64]) -> bool {
        let sum: f64 = fold_lanes(block, [0.0; 8], |sum, v| sum + v).iter().sum();
        let min = fold_lanes(block, [self.min; 8], lesser_value).into_iter().fold(self.min, lesser_value);
        let fine = sum.is_finite() && min >= 0.0;
        if fine {
            self.add_block(block, sum, min);
        }
        fine
    }

    /// Adds a block of defined values, however large their sum.
    fn take_defined(&mut self, block: &[f64]) {
        self.add_block(block, block.iter().sum(), block.iter().copied().fold(self.min, lesser_value));
    }

    /// Adds a block with this sum: a second pass for its squares, then a merge of its moments with
    /// these.
    fn add_block(&mut self, block: &[f64], sum: f64, min: f64) {
        if block.is_empty() {
            return;
        }
        let size = block.len() as f64;
        let mean = sum / size;
        let squares = fold_lanes(block, [0.0; 8], |sum, v| sum + (v - mean) * (v - mean));
        self.squares += squares.iter().sum::<f64>();
        if self.count > 0 {
            let before = self.count as f64;
            let shift = mean - self.mean();
            self.squares += shift * shift * (before * size / (before + size));
        }
        self.min = min;
        self.max = fold_lanes(block, [self.max; 8], greater_value).into_iter().fold(self.max, greater_value);
        add_compensated(&mut self.sum, &mut self.lost, sum);
        self.count += block.len() as u64;
    }
}

// Not f64::min and max: what is undefined is caught elsewhere, and these are one instruction each.
fn lesser_value(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

fn greater_value(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Folds a block into eight interleaved lanes: steps that do not wait for each other, in an order
/// that is fixed.
#[inline]
fn fold_lanes(block: &[f64], mut lanes: [f64; 8], step: impl Fn(f64, f64) -> f64) -> [f64; 8] {
    let (eights, rest) = block.as_chunks::<8>();
    for eight in eights {
        for (lane, &value) in lanes.iter_mut().zip(eight) {
            *lane = step(*lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, value);
    }
    lanes
}

/// Neumaier's compensated addition.
fn add_compensated(sum: &mut f64, residue: &mut f64, value: f64) {
    let total = *sum + value;
    *residue += if sum.abs() >= value.abs() { (*sum - total) + value } else { (value - total) + *sum };
    *sum = total;
}
