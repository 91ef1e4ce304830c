//! A log-linear histogram: percentiles of any number of values in bounded memory.

/// Leading bits of the mantissa that tell buckets of one octave apart.
const BITS: u32 = 8;
/// Values below 2^LOWEST share one bucket, which stands for 0.
const LOWEST: i32 = -20;
/// Values from 2^HIGHEST on share the last bucket.
const HIGHEST: i32 = 44;
/// Number of buckets between the two.
const BUCKETS: usize = ((HIGHEST - LOWEST) as usize) << BITS;

/// Counts of values per bucket; every octave from 2⁻²⁰ to 2⁴⁴ has 256 buckets of equal width.
///
/// Waits and slowdowns in this library stay below 2⁴³: a workload holds no time beyond ±2⁴⁰ s.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    tiny: u64,
    huge: u64,
    /// Bucket `first + i` has `counts[i]` values; grown on demand.
    counts: Vec<u64>,
    first: usize,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { tiny: 0, huge: 0, counts: Vec::new(), first: BUCKETS, total: 0 }
    }
}

impl Histogram {
    /// Half the width of a bucket relative to its lower border: 1/512, about 0.2 %.
    pub(super) const RELATIVE_ERROR: f64 = 0.5 / (1 << BITS) as f64;

    pub(super) fn take_values(&mut self, values: &[f64]) {
        self.total += values.len() as u64;
        for &value in values {
            if value < power_of_two(LOWEST) {
                self.tiny += 1;
            } else if value >= power_of_two(HIGHEST) {
                self.huge += 1;
            } else {
                let bucket = find_bucket(value);
                self.make_room(bucket);
                self.counts[bucket - self.first] += 1;
            }
        }
    }

    fn make_room(&mut self, bucket: usize) {
        if self.counts.is_empty() {
            self.first = bucket;
        } else if bucket < self.first {
            let more = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bucket;
        }
        if bucket - self.first >= self.counts.len() {
            self.counts.resize(bucket - self.first + 1, 0);
        }
    }

    /// Median and 90th, 95th, 98th, 99th percentile, kept within the true extremes. `None` without
    /// values.
    pub(super) fn percentiles(&self, (min, max): (f64, f64)) -> Option<[f64; 5]> {
        if self.total == 0 {
            return None;
        }
        let at = |rank| self.value_at(rank, max).clamp(min, max);
        let middle = self.total / 2;
        let median = if self.total.is_multiple_of(2) { f64::midpoint(at(middle - 1), at(middle)) } else { at(middle) };
        let of = |percent| at(nearest_rank(percent, self.total));
        Some([median, of(90), of(95), of(98), of(99)])
    }

    /// The middle of the bucket that holds the value of this rank.
    fn value_at(&self, rank: u64, max: f64) -> f64 {
        let mut seen_count = self.tiny;
        if rank < seen_count {
            return 0.0;
        }
        for (i, &count) in self.counts.iter().enumerate() {
            seen_count += count;
            if rank < seen_count {
                return f64::midpoint(bucket_border(self.first + i), bucket_border(self.first + i + 1));
            }
        }
        max
    }
}

/// Leading bits of exponent and mantissa, counted from the bucket of 2^LOWEST: floating-point
/// numbers of one sign are ordered like their bits, so equal steps in the bits are the log-linear
/// scale.
fn find_bucket(value: f64) -> usize {
    (leading_bits(value) - leading_bits(power_of_two(LOWEST))) as usize
}

/// The lower border of a bucket.
fn bucket_border(bucket: usize) -> f64 {
    f64::from_bits((leading_bits(power_of_two(LOWEST)) + bucket as u64) << (52 - BITS))
}

fn leading_bits(value: f64) -> u64 {
    value.to_bits() >> (52 - BITS)
}

/// 2^exponent for the exponents of normal numbers.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Place (from 0) of the p-th percentile among `count` sorted values by nearest rank. `count` must
/// be positive.
pub(super) fn nearest_rank(percent: u64, count: u64) -> u64 {
    (u128::from(percent) * u128::from(count)).div_ceil(100).max(1) as u64 - 1
}
