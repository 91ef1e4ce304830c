//! Speedups: how much faster a job is on more processors, in exact rational numbers.

use crate::model::{Procs, Span, TIME_LIMIT};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A decimal number that is not negative, exact: `digits / 10^places`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Decimal {
    digits: u64,
    places: u32,
}

/// Digits behind the point, at most.
const PLACES: u32 = 6;

impl Decimal {
    /// The number 0.
    pub const ZERO: Decimal = Decimal { digits: 0, places: 0 };
    /// The number 1.
    pub const ONE: Decimal = Decimal { digits: 1, places: 0 };

    fn denominator(self) -> u128 {
        10u128.pow(self.places)
    }

    /// The numerator over [`Decimal::denominator`] of another decimal that has more places.
    fn scaled_numerator(self, places: u32) -> u128 {
        u128::from(self.digits) * 10u128.pow(places - self.places)
    }

    /// The nearest number with this many digits behind the point, at most six; 0 of what is below.
    #[must_use]
    pub fn from_rounded(number: f64, places: u32) -> Decimal {
        let places = places.min(PLACES);
        let mut digits = (number.clamp(0.0, 1e9) * 10f64.powi(places as i32)).round() as u64;
        let mut places = places;
        while places > 0 && digits.is_multiple_of(10) {
            (digits, places) = (digits / 10, places - 1);
        }
        Decimal { digits, places }
    }

    /// The time that a run takes at this speed, rounded up, given its time at speed 1. At speed 0
    /// it is the longest.
    #[must_use]
    pub(super) fn of_speed(self, run: Span) -> Span {
        match self.digits {
            0 => Span(TIME_LIMIT),
            digits => multiply_span(run, (self.denominator(), u128::from(digits))),
        }
    }

    /// The nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / self.denominator() as f64
    }

    /// This share of a length of time, rounded up.
    #[must_use]
    pub fn share_of(self, span: Span) -> Span {
        let product = u128::from(self.digits) * span.0.max(0) as u128;
        Span(i64::try_from(product.div_ceil(self.denominator())).unwrap_or(TIME_LIMIT))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let places = self.places.max(other.places);
        self.scaled_numerator(places).cmp(&other.scaled_numerator(places))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Decimal, String> {
        let wrong =
            || format!("`{text}` is no decimal number with at most {PLACES} digits behind the point, such as 0.95");
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let part = part.trim_end_matches('0');
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) || part.len() > PLACES as usize {
            return Err(wrong());
        }
        let digits = format!("{whole}{part}").parse().map_err(|_| wrong())?;
        if digits > 1_000_000_000_000 {
            return Err(wrong());
        }
        Ok(Decimal { digits, places: part.len() as u32 })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.denominator();
        let digits = u128::from(self.digits);
        if self.places == 0 {
            return write!(f, "{digits}");
        }
        write!(f, "{}.{:0width$}", digits / whole, digits % whole, width = self.places as usize)
    }
}

/// A speedup: the run time at one size follows from that at another.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Speedup {
    /// A run time that is equal at every size.
    None,
    /// As many times faster as there are processors.
    #[default]
    Linear,
    /// Amdahl 1967, with this parallel share.
    Amdahl(Decimal),
    /// Downey 1997, with the average parallelism and its variation.
    Downey(Decimal, Decimal),
    /// The number of processors to this power.
    Power(Decimal),
    /// Seconds at each size, ascending by size.
    #[serde(serialize_with = "write_rows", deserialize_with = "read_rows")]
    Table(Arc<[(Procs, Span)]>),
}

fn write_rows<S: serde::Serializer>(rows: &Arc<[(Procs, Span)]>, to: S) -> Result<S::Ok, S::Error> {
    rows.as_ref().serialize(to)
}

fn read_rows<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Arc<[(Procs, Span)]>, D::Error> {
    Vec::deserialize(from).map(Arc::from)
}

/// The models by name, for messages.
pub const SPEEDUPS: &str = "none, linear, amdahl:SHARE, downey:A:SIGMA, power:EXPONENT or table:SIZE=SECONDS;…";

impl FromStr for Speedup {
    type Err = String;

    fn from_str(text: &str) -> Result<Speedup, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        match (name, &rest[..]) {
            ("none", []) => Ok(Speedup::None),
            ("linear", []) => Ok(Speedup::Linear),
            ("amdahl", [share]) => {
                let share: Decimal = share.parse()?;
                match share.as_f64() <= 1.0 {
                    true => Ok(Speedup::Amdahl(share)),
                    false => Err(format!("`{text}`: the parallel share is {share}; expected 0 to 1")),
                }
            }
            ("downey", [average, sigma]) => {
                let (average, sigma): (Decimal, Decimal) = (average.parse()?, sigma.parse()?);
                match average.as_f64() >= 1.0 {
                    true => Ok(Speedup::Downey(average, sigma)),
                    false => Err(format!("`{text}`: the average parallelism is {average}; expected 1 or more")),
                }
            }
            ("power", [exponent]) => {
                let exponent: Decimal = exponent.parse()?;
                match exponent.as_f64() <= 2.0 {
                    true => Ok(Speedup::Power(exponent)),
                    false => Err(format!("`{text}`: the exponent is {exponent}; expected 0 to 2")),
                }
            }
            ("table", [rows]) => read_table(rows),
            _ => Err(format!("`{text}` is no speedup; expected {SPEEDUPS}")),
        }
    }
}

fn read_table(text: &str) -> Result<Speedup, String> {
    let row = |cell: &str| -> Result<(Procs, Span), String> {
        let wrong = || format!("`{cell}` is no row of a table of run times; expected SIZE=SECONDS, such as 4=213");
        let (size, seconds) = cell.split_once('=').ok_or_else(wrong)?;
        let size: Procs = size.trim().parse().ok().filter(|size| *size > 0).ok_or_else(wrong)?;
        let seconds: i64 = seconds.trim().parse().map_err(|_| wrong())?;
        if !(0..=TIME_LIMIT).contains(&seconds) {
            return Err(wrong());
        }
        Ok((size, Span(seconds)))
    };
    let cells = text.split(';').map(str::trim).filter(|cell| !cell.is_empty());
    let mut rows = cells.map(row).collect::<Result<Vec<_>, String>>()?;
    rows.sort_unstable();
    for pair in rows.windows(2) {
        if pair[0].0 == pair[1].0 {
            return Err(format!("the table of run times names size {} twice", pair[0].0));
        }
        if pair[1].1 > pair[0].1 {
            return Err(format!(
                "the speedup of the table falls: {} s at size {} and {} s at size {}; more processors must not take longer, so \
                 leave the larger size out",
                pair[0].1, pair[0].0, pair[1].1, pair[1].0
            ));
        }
    }
    Ok(Speedup::Table(rows.into()))
}

impl fmt::Display for Speedup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speedup::None => f.write_str("none"),
            Speedup::Linear => f.write_str("linear"),
            Speedup::Amdahl(share) => write!(f, "amdahl:{share}"),
            Speedup::Downey(average, sigma) => write!(f, "downey:{average}:{sigma}"),
            Speedup::Power(exponent) => write!(f, "power:{exponent}"),
            Speedup::Table(rows) => {
                let rows: Vec<String> = rows.iter().map(|(size, seconds)| format!("{size}={seconds}")).collect();
                write!(f, "table:{}", rows.join(";"))
            }
        }
    }
}

impl Speedup {
    /// The speedup of `n` processors over one as a fraction. Of a table it has no meaning.
    pub(super) fn speedup_ratio(&self, n: Procs) -> (u128, u128) {
        let n = u128::from(n.max(1));
        match self {
            Speedup::None | Speedup::Table(_) => (1, 1),
            Speedup::Linear => (n, 1),
            Speedup::Amdahl(share) => {
                let (part, whole) = (u128::from(share.digits), share.denominator());
                (n * whole, (whole - part) * n + part)
            }
            Speedup::Power(exponent) => (((n as f64).powf(exponent.as_f64()) * 1e6 + 0.5).floor() as u128, 1_000_000),
            Speedup::Downey(average, sigma) => downey_ratio(*average, *sigma, n),
        }
    }

    /// Returns the run time at one size of a job that takes `base` at another, rounded up to whole
    /// seconds.
    #[must_use]
    pub fn convert_run(&self, base: Span, from: Procs, to: Procs) -> Span {
        if let Speedup::Table(rows) = self {
            let seconds = |size| rows.binary_search_by_key(&size, |row| row.0).ok().map(|at| rows[at].1.0 as u128);
            return match (seconds(from), seconds(to)) {
                (Some(at), Some(then)) if at > 0 => multiply_span(base, (then, at)),
                _ => base,
            };
        }
        if from == to || *self == Speedup::None {
            return base;
        }
        let ((a, b), (c, d)) = (self.speedup_ratio(from), self.speedup_ratio(to));
        let ((a, c), (b, d)) = (reduce_fraction(a, c), reduce_fraction(b, d));
        match (a.checked_mul(d), b.checked_mul(c)) {
            (Some(over), Some(under)) => multiply_span(base, (over, under)),
            _ => Span((base.as_f64() * (a as f64 / b as f64) * (d as f64 / c as f64)).ceil() as i64),
        }
    }

    /// Returns times at several sizes and speeds as one time at another size and speed 1, rounded
    /// up once.
    #[must_use]
    pub fn convert_all(&self, times: &[(Procs, Decimal, Span)], to: Procs) -> Span {
        // Work as a fraction: seconds times speed.
        let speed = |size| match self {
            Speedup::Table(_) => self.listed_seconds(size).map_or((1, 1), |seconds| (1, seconds.0.max(1) as u128)),
            _ => self.speedup_ratio(size),
        };
        let mut work = Some((0u128, 1u128));
        for &(size, pace, time) in times {
            let (over, under) = speed(size);
            work = work.and_then(|(sum, whole)| {
                let part = (time.0.max(0) as u128).checked_mul(over)?.checked_mul(u128::from(pace.digits))?;
                let under = under.checked_mul(pace.denominator())?;
                let sum = sum.checked_mul(under)?.checked_add(part.checked_mul(whole)?)?;
                Some(reduce_fraction(sum, whole.checked_mul(under)?))
            });
        }
        let (over, under) = speed(to);
        let exact = work.and_then(|(sum, whole)| {
            let (sum, over) = reduce_fraction(sum, over);
            let (under, whole) = reduce_fraction(under, whole);
            Some(sum.checked_mul(under)?.div_ceil(whole.checked_mul(over)?))
        });
        match exact {
            Some(seconds) => Span(i64::try_from(seconds).unwrap_or(TIME_LIMIT).min(TIME_LIMIT)),
            None => times
                .iter()
                .fold(Span::ZERO, |sum, &(size, pace, time)| sum + self.convert_run(pace.share_of(time), size, to)),
        }
    }

    /// Returns the seconds that a table says for a size.
    #[must_use]
    pub fn listed_seconds(&self, size: Procs) -> Option<Span> {
        let Speedup::Table(rows) = self else { return None };
        rows.binary_search_by_key(&size, |row| row.0).ok().map(|at| rows[at].1)
    }
}

/// Downey's two cases, each continuous at its borders.
fn downey_ratio(average: Decimal, sigma: Decimal, n: u128) -> (u128, u128) {
    let places = average.places.max(sigma.places);
    let (a, s, q) = (average.scaled_numerator(places), sigma.scaled_numerator(places), 10u128.pow(places));
    let flat = (a, q);
    let (over, under) = if s <= q {
        if n * q <= a {
            (2 * a * n, 2 * a + s * (n - 1))
        } else if (n + 1) * q <= 2 * a {
            (2 * q * a * n, s * (2 * a - q) + n * q * (2 * q - s))
        } else {
            flat
        }
    } else if n * q * q <= a * q + a * s - s * q {
        (n * a * (s + q), s * (n * q + a - q) + a * q)
    } else {
        flat
    };
    reduce_fraction(over, under)
}

fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

fn reduce_fraction(a: u128, b: u128) -> (u128, u128) {
    let common = common_divisor(a, b);
    (a / common, b / common)
}

/// `base · over / under`, rounded up.
pub(crate) fn multiply_span(base: Span, ratio: (u128, u128)) -> Span {
    let (base, under) = reduce_fraction(base.0.max(0) as u128, ratio.1.max(1));
    let (over, under) = reduce_fraction(ratio.0, under);
    let seconds = match base.checked_mul(over) {
        Some(product) => product.div_ceil(under),
        None => (base as f64 * (over as f64 / under as f64)).ceil() as u128,
    };
    Span(i64::try_from(seconds).unwrap_or(TIME_LIMIT).min(TIME_LIMIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(model: &str, base: i64, from: Procs, to: Procs) -> i64 {
        model.parse::<Speedup>().unwrap_or_else(|e| panic!("{e}")).convert_run(Span(base), from, to).0
    }

    #[test]
    fn run_times_are_exact_and_rounded_up() {
        // Computed by hand: 100 s at 6 processors of downey:4:0.5, whose speedups are 1, 8/4.25,
        // 16/4.75 and 4.
        let downey = [1, 2, 4, 8].map(|n| seconds("downey:4:0.5", 100, 8, n));
        assert_eq!(downey, [400, 213, 119, 100]);
        assert_eq!(seconds("linear", 100, 8, 3), 267);
        assert_eq!(seconds("none", 100, 8, 1), 100);
        // 0.1 + 0.9 / n: 100 s at 1 are 55 s at 2 and 32.5 s at 4.
        assert_eq!([1, 2, 4].map(|n| seconds("amdahl:0.9", 100, 1, n)), [100, 55, 33]);
        assert_eq!(seconds("power:0.5", 100, 1, 4), 50);
        assert_eq!(seconds("table:1=400;2=170;4=60", 60, 4, 2), 170);
    }

    #[test]
    fn times_at_several_sizes_are_rounded_once() {
        let time_at = |model: &str, times: &[(Procs, i64)], to| {
            let times: Vec<(Procs, Decimal, Span)> =
                times.iter().map(|(size, time)| (*size, Decimal::ONE, Span(*time))).collect();
            model.parse::<Speedup>().unwrap_or_else(|e| panic!("{e}")).convert_all(&times, to).0
        };
        // 10 s at 3 processors and 10 s at 2 are 50 processor-seconds: 12.5 s at 4; rounded one by
        // one they would be 8 and 5.
        assert_eq!(time_at("linear", &[(3, 10), (2, 10)], 4), 13);
        assert_eq!(time_at("linear", &[(3, 10), (1, 10)], 4), 10);
        assert_eq!(time_at("none", &[(3, 10), (1, 10)], 4), 20);
        // Half of 400 s and a quarter of 213 s are three quarters of 120 s.
        assert_eq!(time_at("table:1=400;2=212;4=120", &[(1, 200), (2, 53)], 4), 90);
        assert_eq!(time_at("linear", &[], 4), 0);
    }

    #[test]
    fn times_at_several_paces_are_rounded_once() {
        let half: Decimal = "0.5".parse().expect("a speed");
        let times = [(4, Decimal::ONE, Span(10)), (4, half, Span(5)), (2, half, Span(5))];
        // 10 s, 2.5 s, and 2.5 s at half the size: 13.75 s at the full pace of 4 processors.
        assert_eq!(Speedup::Linear.convert_all(&times, 4), Span(14));
        assert_eq!(Speedup::None.convert_all(&times, 4), Span(15));
    }

    #[test]
    fn downey_is_continuous_at_its_borders() {
        for (average, sigma) in [("4", "0"), ("4", "1"), ("5", "0.7"), ("3", "2"), ("1", "0.3")] {
            let model: Speedup = format!("downey:{average}:{sigma}").parse().expect("a model");
            assert_eq!(model.speedup_ratio(1), (1, 1), "{model}");
            let value = |n| {
                let (over, under) = model.speedup_ratio(n);
                over as f64 / under as f64
            };
            let most: f64 = average.parse().expect("a number");
            for n in 1..40 {
                assert!(value(n + 1) >= value(n) && value(n) <= most, "{model} at {n}");
            }
            assert!((value(1000) - most).abs() < 1e-12, "{model}");
        }
    }

    #[test]
    fn a_wrong_speedup_says_what_is_expected() {
        for (text, part) in [
            ("amdahl:1.5", "0 to 1"),
            ("amdahl:0.99999999", "at most 6 digits"),
            ("downey:0.5:1", "1 or more"),
            ("table:1=10;2=20", "falls"),
            ("table:1=10;1=9", "twice"),
            ("table:1", "SIZE=SECONDS"),
            ("magic", "expected none, linear"),
        ] {
            let error = text.parse::<Speedup>().expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        for text in ["none", "linear", "amdahl:0.999", "downey:4:0.5", "power:0.7", "table:1=400;2=213"] {
            assert_eq!(text.parse::<Speedup>().expect(text).to_string(), text);
        }
    }
}
