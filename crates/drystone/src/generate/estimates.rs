//! Users' run time estimates by Tsafrir, Etsion & Feitelson, "Modeling user runtime estimates"
//! (JSSPP 2005).
//!
//! Estimates are modal: a few round values take nearly all jobs, the largest one the most. First
//! the distinct values and how many jobs have each are fixed; then each job is given one that is
//! not below its run time, at random among those left, from the longest job downwards.
//!
//! Choices where the paper is silent, and deviations from it:
//! - Which values the head has beside the fifteen that are in the top 20 of all four logs studied,
//!   is open: we fill up with the round values that come next by mean share in the four (KTH, CTC,
//!   SDSC SP2, BLUE; the archive's cleaned logs).
//! - The assignment of ranks is also open. The largest is first; the others are ranked by the
//!   number of run times for which each is the tightest: people with short jobs make short
//!   estimates popular. Ranks of the tail are random.
//! - A user takes the smallest of `care` random estimates that fit (8 by default; 1 is the paper's
//!   rule). With the paper's rule and the run times of Lublin & Feitelson, half of which are below
//!   three minutes, accuracy is about 20 %; in the logs it is 30 to 47 %.
//! - Similar jobs of one user share an estimate, so values are drawn for whole *groups* of jobs
//!   (see [`super::campaigns`]), by the longest of the group. How many jobs have each value stays
//!   exact.
//! - Where no value that is left reaches a run time (very small workloads), the smallest value that
//!   does is given once more, and a smaller one goes unused.

use super::random::RandomStream;
use crate::model::SharedSort;

/// Minutes. The fifteen values in the top 20 of all logs, and the round values that come next, by
/// mean share.
const HEAD: [u32; 26] =
    [1080, 120, 15, 30, 5, 10, 60, 240, 180, 20, 360, 600, 720, 480, 300, 1, 90, 2, 900, 150, 40, 45, 3, 420, 25, 960];
const HEAD_LENGTH: usize = 20;
/// The share of jobs whose estimate is one of the head, in percent.
const HEAD_PERCENT: f64 = 89.0;
/// Number of jobs and of distinct estimates, joined by straight lines.
const DISTINCT: [(f64, f64); 7] =
    [(0.0, 0.0), (20.0, 10.0), (200.0, 20.0), (1_000.0, 35.0), (10_000.0, 90.0), (70_000.0, 340.0), (250_000.0, 565.0)];
/// Round values, in seconds, roundest first.
const ROUND: [u32; 13] = [86_400, 43_200, 21_600, 14_400, 7_200, 3_600, 1_800, 900, 600, 300, 60, 10, 1];

/// A value and how many jobs have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EstimateMode {
    /// The estimate in seconds.
    pub(super) seconds: u32,
    /// Number of jobs with this value.
    pub(super) jobs: u32,
}

/// The number of distinct estimates of `jobs` jobs: straight lines through the table, and beyond it
/// the power law, but never fewer than the table's last (the power law is 5 % above it there).
pub(super) fn count_distinct(jobs: u32) -> usize {
    let n = f64::from(jobs);
    let lines = DISTINCT.windows(2).find(|pair| n <= pair[1].0).map(|pair| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        y0 + (y1 - y0) * (n - x0) / (x1 - x0)
    });
    let count = lines.unwrap_or_else(|| 0.6536 * libm::pow(n, 0.5478));
    (libm::floor(count + 0.5) as usize).max(1)
}

/// The distinct values for `jobs` jobs, most popular first, and how many jobs have each; the counts
/// add up to `jobs`.
pub(super) fn draw_modes<'a>(
    runs: impl Iterator<Item = &'a u32> + Clone,
    largest: u32,
    stream: &mut RandomStream,
) -> Vec<EstimateMode> {
    let jobs = runs.clone().count() as u32;
    let values = draw_values(count_distinct(jobs), largest, runs, stream);
    let shares = popularity_shares(values.len());
    let total: f64 = shares.iter().sum();
    let mut modes = Vec::with_capacity(values.len());
    let (mut sum, mut given_count) = (0.0, 0);
    for (seconds, share) in values.into_iter().zip(shares) {
        sum += share;
        // Rounding the running total, not each share, makes the counts add up.
        let upto = libm::floor(f64::from(jobs) * (sum / total).min(1.0) + 0.5) as u32;
        modes.push(EstimateMode { seconds, jobs: upto - given_count });
        given_count = upto;
    }
    modes
}

/// Popularity by rank, in percent; relative to their sum where there is no tail.
pub(super) fn popularity_shares(distinct: usize) -> Vec<f64> {
    let head = |rank: usize| 14.0491 * libm::exp(-0.177531 * rank as f64) + 0.462513;
    let first = HEAD_PERCENT - (2..=HEAD_LENGTH).map(head).sum::<f64>();
    let tail = |rank: usize| 795.6 * libm::pow(rank as f64, -2.267);
    let tail_sum: f64 = (HEAD_LENGTH + 1..=distinct).map(tail).sum();
    (1..=distinct)
        .map(|rank| match rank {
            1 => first,
            2..=HEAD_LENGTH => head(rank),
            _ => tail(rank) * (100.0 - HEAD_PERCENT) / tail_sum,
        })
        .collect()
}

/// The distinct values, most popular first.
fn draw_values<'a>(
    count: usize,
    largest: u32,
    runs: impl Iterator<Item = &'a u32>,
    stream: &mut RandomStream,
) -> Vec<u32> {
    let mut values = vec![largest];
    values.extend(HEAD.iter().map(|minutes| minutes * 60).filter(|&v| v < largest));
    values.truncate(HEAD_LENGTH);
    by_demand(&mut values[1..], runs);
    values.truncate(count);
    if count <= values.len() {
        return values;
    }
    // The i-th of `count` values; those nearest to a head value are the head's.
    let a = 1.0 + 12.1039 * libm::pow(count as f64, -0.6026);
    let ideal = |i: f64| {
        let x = i / count as f64;
        f64::from(largest) * (a - 1.0) * x / (a - x)
    };
    let mut is_taken = vec![false; count + 1];
    for &head in &values {
        let distance = |i: usize| (ideal(i as f64) - f64::from(head)).abs();
        let nearest = (1..=count).filter(|&i| !is_taken[i]).min_by(|&i, &j| distance(i).total_cmp(&distance(j)));
        if let Some(i) = nearest {
            is_taken[i] = true;
        }
    }
    let mut used_values: Vec<u32> = values.clone();
    used_values.sort_unstable();
    let mut tail: Vec<u32> = (1..=count)
        .filter(|&i| !is_taken[i])
        .filter_map(|i| find_roundest(ideal(i as f64 - 0.5), ideal((i as f64 + 0.5).min(count as f64)), &used_values))
        .collect();
    stream.shuffle(&mut tail);
    values.extend(tail);
    values
}

/// Ranks values by how many run times they are the tightest for, the most wanted first.
fn by_demand<'a>(values: &mut [u32], runs: impl Iterator<Item = &'a u32>) {
    values.sort_unstable();
    let mut demand = vec![0_u32; values.len() + 1];
    for run in runs {
        demand[values.partition_point(|v| v < run)] += 1;
    }
    let mut ranked_values: Vec<(u32, u32)> = demand.into_iter().zip(values.iter().copied()).collect();
    ranked_values.sort_shared_by_key(|&(need, value)| (std::cmp::Reverse(need), value));
    for (place, (_, value)) in values.iter_mut().zip(ranked_values) {
        *place = value;
    }
}

/// The roundest whole number in
/// [from, to) that is positive and not used; `None` where there is none.
fn find_roundest(from: f64, to: f64, values: &[u32]) -> Option<u32> {
    ROUND.iter().find_map(|&step| {
        let first = (libm::ceil(from / f64::from(step)) as u32).max(1) * step;
        (first..).step_by(step as usize).take_while(|&v| f64::from(v) < to).find(|v| values.binary_search(v).is_err())
    })
}

/// The estimates still to be given, drawn at random among those not below a run time.
pub(super) struct EstimatePool {
    /// Values, largest first.
    values: Vec<u32>,
    /// Number of jobs left for each value.
    left: Vec<u32>,
    /// Sums of `left` as a Fenwick tree: what makes a draw O(log values).
    tree: Vec<u64>,
}

impl EstimatePool {
    /// The pool that holds these modes; the largest value must not be below any run time to come.
    pub(super) fn new(mut modes: Vec<EstimateMode>) -> EstimatePool {
        modes.sort_unstable_by_key(|m| std::cmp::Reverse(m.seconds));
        let mut pool = EstimatePool {
            values: modes.iter().map(|m| m.seconds).collect(),
            left: vec![0; modes.len()],
            tree: vec![0; modes.len() + 1],
        };
        for (i, mode) in modes.iter().enumerate() {
            pool.left[i] = mode.jobs;
            let mut node = i + 1;
            while node < pool.tree.len() {
                pool.tree[node] += u64::from(mode.jobs);
                node += node & node.wrapping_neg();
            }
        }
        pool
    }

    /// Takes an estimate of at least `run` seconds for at most `wanted` jobs: the smallest of
    /// `care` random ones. Returns the value, and how many jobs get it.
    pub(super) fn take_estimate(&mut self, run: u32, wish: u32, care: u32, stream: &mut RandomStream) -> (u32, u32) {
        let fitting = self.values.partition_point(|&v| v >= run);
        let remaining_count = self.sum(fitting);
        if remaining_count == 0 {
            return (self.values[fitting.max(1) - 1], wish);
        }
        // Values are sorted from the largest down: the latest is the smallest.
        let draws = (0..care).map(|_| stream.draw_below(remaining_count)).max();
        let i = self.find_value(draws.unwrap_or(0));
        let taken_count = wish.min(self.left[i]);
        self.remove(i, taken_count);
        (self.values[i], taken_count)
    }

    /// Returns the rest of the first `count` values.
    fn sum(&self, count: usize) -> u64 {
        let mut node = count;
        let mut sum = 0;
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }

    /// The value that owns the `target`-th of what is left, counted from 0.
    fn find_value(&self, target: u64) -> usize {
        let mut rest = target;
        let mut position = 0;
        let mut step = self.values.len().next_power_of_two();
        while step > 0 {
            if position + step <= self.values.len() && self.tree[position + step] <= rest {
                position += step;
                rest -= self.tree[position];
            }
            step /= 2;
        }
        position
    }

    fn remove(&mut self, i: usize, jobs: u32) {
        self.left[i] -= jobs;
        let mut node = i + 1;
        while node < self.tree.len() {
            self.tree[node] -= u64::from(jobs);
            node += node & node.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{RandomStream, StreamPurpose};
    use super::{EstimateMode, EstimatePool, by_demand, count_distinct, draw_modes, find_roundest, popularity_shares};
    use proptest::prelude::*;

    #[test]
    fn the_number_of_distinct_estimates_goes_through_the_table() {
        let table = [(20, 10), (200, 20), (1_000, 35), (10_000, 90), (70_000, 340), (250_000, 565)];
        for (jobs, expected) in table {
            assert_eq!(count_distinct(jobs), expected);
        }
        assert_eq!(count_distinct(1), 1);
        // Half way between 10,000 and 70,000.
        assert_eq!(count_distinct(40_000), 215);
        // 0.6536 · 1,000,000^0.5478 = 0.6536 · e^(13.815511 · 0.5478) = 0.6536 · 1935.4 = 1265.
        assert_eq!(count_distinct(1_000_000), 1_265);
    }

    #[test]
    fn shares_are_those_of_the_paper() {
        let shares = popularity_shares(100);
        assert!((shares.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        assert!((shares[..20].iter().sum::<f64>() - 89.0).abs() < 1e-9);
        // 14.0491 · e^(−0.355062) + 0.462513 = 14.0491 · 0.701130 + 0.462513.
        assert!((shares[1] - 10.3127).abs() < 1e-3);
        assert!(shares.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn values_are_distinct_and_the_largest_comes_first() {
        for jobs in [1_u32, 7, 30, 500, 20_000, 400_000] {
            let runs: Vec<u32> = (0..jobs).map(|i| 1 + i * 37 % 60_000).collect();
            for largest in [3_600, 64_800, 172_800, 31_622_400] {
                let mut stream = RandomStream::new(1, StreamPurpose::Estimates, 0);
                let modes = draw_modes(runs.iter(), largest, &mut stream);
                assert_eq!(modes[0].seconds, largest);
                assert_eq!(modes.iter().map(|m| m.jobs).sum::<u32>(), jobs);
                let mut values: Vec<u32> = modes.iter().map(|m| m.seconds).collect();
                values.sort_unstable();
                values.dedup();
                assert_eq!(values.len(), modes.len());
                assert!(values[0] > 0 && values.last() == Some(&largest));
            }
        }
    }

    #[test]
    fn values_are_ranked_by_the_run_times_that_want_them() {
        let mut values = [60, 300, 3_600];
        by_demand(&mut values, [1, 61, 300, 299, 3_600, 60, 9_999].iter());
        // 300 is the tightest for three, 60 for two, 3600 for one; nothing but the largest reaches
        // 9999.
        assert_eq!(values, [300, 60, 3_600]);
    }

    #[test]
    fn round_means_round() {
        assert_eq!(find_roundest(3_500.0, 3_700.0, &[]), Some(3_600));
        assert_eq!(find_roundest(3_500.0, 3_700.0, &[3_600]), Some(3_540));
        assert_eq!(find_roundest(61.0, 69.5, &[]), Some(61));
        assert_eq!(find_roundest(61.2, 61.9, &[]), None);
        assert_eq!(find_roundest(-5.0, 0.5, &[]), None);
    }

    proptest! {
        /// Draws exhaust the pool, never take what is not there, and never give less than the run
        /// time.
        #[test]
        fn a_pool_gives_exactly_what_it_holds(
            counts in proptest::collection::vec(0_u32..20, 1..40),
            wishes in proptest::collection::vec((0_u32..50, 1_u32..10, 1_u32..4), 0..100),
        ) {
            let mode = |(i, &jobs): (usize, &u32)| EstimateMode { seconds: 10 * (i as u32 + 1), jobs };
            let modes: Vec<EstimateMode> = counts.iter().enumerate().map(mode).collect();
            let largest = 10 * counts.len() as u32;
            let mut rest = counts.clone();
            let mut pool = EstimatePool::new(modes);
            let mut stream = RandomStream::new(5, StreamPurpose::Estimates, 0);
            for (run, wish, care) in wishes {
                let run = run * 10 % (largest + 1);
                let (value, estimate) = pool.take_estimate(run, wish, care, &mut stream);
                prop_assert!(value >= run && value > 0 && estimate > 0 && estimate <= wish);
                let i = (value / 10 - 1) as usize;
                let fitting = run.div_ceil(10).max(1) as usize - 1;
                if rest[fitting..].iter().any(|&l| l > 0) {
                    prop_assert!(rest[i] >= estimate);
                    prop_assert!(estimate == wish || estimate == rest[i]);
                    rest[i] -= estimate;
                } else {
                    prop_assert_eq!((value, estimate), (10 * (fitting as u32 + 1), wish));
                }
            }
        }
    }
}
