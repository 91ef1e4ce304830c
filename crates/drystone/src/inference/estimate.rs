//! The mean logarithm of a ratio, with its error: of one log, of its windows, of several logs.

use super::student::{student_quantile, tail_probability};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Fewer units than this tell nothing about the variation between units.
pub const LEAST_UNITS: usize = 4;
/// Most blocks that the weeks of a log are gathered into.
pub const MOST_BLOCKS: usize = 10;
/// An interval around no change that reaches as far as this factor on either side says nothing of
/// the size.
const SAYS_NOTHING: f64 = 4.0;

/// The sum of something over the jobs of a week or another unit, and how many they are.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct PeriodSum {
    /// The sum.
    pub sum: f64,
    /// The number of jobs, or the sum of their weights.
    pub count: f64,
}

impl PeriodSum {
    /// Adds another sum.
    pub fn add(&mut self, other: PeriodSum) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// A case: sums of one measure in the same units, in the order of time, under old and under new.
/// Units without jobs stay, as zeros.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PairedSums {
    /// Sums of the baseline.
    pub old: Vec<PeriodSum>,
    /// Sums of what is compared with it.
    pub new: Vec<PeriodSum>,
}

/// Reason for which there is no estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NoEstimate {
    /// Fewer than [`LEAST_UNITS`] units.
    #[error("fewer than four weeks")]
    TooFew,
    /// One block holds all of it: nothing is known of the others.
    #[error("one block of weeks holds all of the wait")]
    OneBlock,
    /// There is no ratio: what there was before is 0, or no job counts.
    #[error("there was nothing before")]
    NoRatio,
}

/// Units that an error was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateBasis {
    /// Blocks of consecutive weeks or other units of one log.
    Blocks {
        /// Number of blocks.
        blocks: usize,
        /// Number of units in all of them.
        units: usize,
    },
    /// Windows of one log, each simulated apart.
    Windows(usize),
    /// Logs.
    Logs(usize),
}

impl EstimateBasis {
    /// Describes the basis: `10 blocks of 4 or 5 weeks`, `10 windows`, `4 logs`.
    #[must_use]
    pub fn describe(&self, unit: &str) -> String {
        match *self {
            EstimateBasis::Blocks { blocks, units } => {
                let (least, rest) = (units / blocks.max(1), units % blocks.max(1));
                let more = if rest > 0 { format!(" or {}", least + 1) } else { String::new() };
                format!("{blocks} blocks of {least}{more} {unit}{}", if least == 1 && rest == 0 { "" } else { "s" })
            }
            EstimateBasis::Windows(windows) => format!("{windows} windows"),
            EstimateBasis::Logs(logs) => format!("{logs} logs"),
        }
    }
}

/// The mean logarithm of new / old over some cases, and its error.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean logarithm θ.
    pub logarithm: f64,
    /// Its standard error s.
    pub error: f64,
    /// Degrees of freedom ν of the error.
    pub freedom: f64,
    /// Units that the error was made from.
    pub basis: EstimateBasis,
}

impl Estimate {
    /// Estimates the mean logarithm over the cases of one log, whose weeks are the same. Up to ten
    /// blocks of consecutive weeks are left out one by one, each of all cases at once.
    ///
    /// # Errors
    /// [`NoEstimate`]: too few weeks, one block with all of a sum, a baseline of 0.
    ///
    /// Cost: O(cases × weeks × blocks).
    pub fn of_log(cases: &[PairedSums]) -> Result<Estimate, NoEstimate> {
        let units = cases.iter().map(|case| case.old.len().min(case.new.len())).min().unwrap_or(0);
        let logarithm = mean_logarithm(cases, None);
        if cases.len() == 1 && logarithm == Some(f64::NEG_INFINITY) {
            return all_gone(&cases[0], units);
        }
        let logarithm = logarithm.filter(|value| value.is_finite()).ok_or(NoEstimate::NoRatio)?;
        let blocks = blocks_of(units);
        if blocks.len() < LEAST_UNITS {
            return Err(NoEstimate::TooFew);
        }
        let block_values: Vec<f64> = blocks
            .iter()
            .map(|block| mean_logarithm(cases, Some(block)).filter(|value| value.is_finite()))
            .collect::<Option<_>>()
            .ok_or(NoEstimate::OneBlock)?;
        let (variance, freedom) = spread_of(&block_values);
        let basis = EstimateBasis::Blocks { blocks: blocks.len(), units };
        Ok(Estimate { logarithm, error: variance.sqrt(), freedom, basis })
    }

    /// Estimates the mean logarithm over windows of one log that were simulated apart: the sums of
    /// each case are by window. Where some window has no logarithm, windows are blocks as weeks are
    /// (Ibragimov & Müller 2010).
    ///
    /// # Errors
    /// [`NoEstimate`]: fewer than four windows, or as of [`Estimate::of_log`].
    pub fn of_windows(cases: &[PairedSums]) -> Result<Estimate, NoEstimate> {
        let windows = cases.iter().map(|case| case.old.len().min(case.new.len())).min().unwrap_or(0);
        if windows < LEAST_UNITS {
            return Err(NoEstimate::TooFew);
        }
        let of_window = |window: usize| -> Option<f64> {
            let sum = cases.iter().map(|case| log_ratio(case.old[window], case.new[window])).sum::<Option<f64>>()?;
            Some(sum / cases.len() as f64).filter(|value| value.is_finite())
        };
        let Some(logarithms) = (0..windows).map(of_window).collect::<Option<Vec<f64>>>() else {
            return Estimate::of_log(cases);
        };
        Ok(Estimate::of_values(&logarithms, EstimateBasis::Windows(windows)))
    }

    /// Joins the estimates of several logs, which count alike: a long log is not more logs. The
    /// logarithms of three or more speak for logs like these; of two, the errors within them are
    /// joined, after Welch and Satterthwaite. A log without an error of its own has a logarithm
    /// alone.
    ///
    /// # Errors
    /// [`NoEstimate::TooFew`] where there are two logs and one has no error, or no log at all.
    pub fn of_logs(logs: &[(f64, Option<Estimate>)]) -> Result<Estimate, NoEstimate> {
        let basis = EstimateBasis::Logs(logs.len());
        match logs {
            [] => Err(NoEstimate::TooFew),
            [(_, only)] => only.ok_or(NoEstimate::TooFew),
            [(one, first), (other, second)] => {
                let (first, second) = first.zip(*second).ok_or(NoEstimate::TooFew)?;
                let [a, b] = [first, second].map(|log| log.error * log.error / 4.0);
                let freedom = if a + b > 0.0 {
                    (a + b).powi(2) / (a * a / first.freedom + b * b / second.freedom)
                } else {
                    first.freedom + second.freedom
                };
                Ok(Estimate { logarithm: f64::midpoint(*one, *other), error: (a + b).sqrt(), freedom, basis })
            }
            _ => Ok(Estimate::of_values(&logs.iter().map(|log| log.0).collect::<Vec<f64>>(), basis)),
        }
    }

    /// The mean of independent logarithms.
    fn of_values(logarithms: &[f64], basis: EstimateBasis) -> Estimate {
        let n = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / n;
        let squares: f64 = logarithms.iter().map(|value| (value - mean).powi(2)).sum();
        Estimate { logarithm: mean, error: (squares / (n - 1.0) / n).sqrt(), freedom: n - 1.0, basis }
    }

    /// The relative change new / old − 1.
    #[must_use]
    pub fn relative_change(&self) -> f64 {
        self.logarithm.exp_m1()
    }

    /// The interval of the relative change.
    #[must_use]
    pub fn change_interval(&self, confidence: f64) -> (f64, f64) {
        if self.error <= 0.0 {
            return (self.relative_change(), self.relative_change());
        }
        let half = student_quantile(1.0 - confidence, self.freedom) * self.error;
        ((self.logarithm - half).exp_m1(), (self.logarithm + half).exp_m1())
    }

    /// The probability of a difference as large in either direction where there is none.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        match (self.logarithm == 0.0, self.error > 0.0) {
            (true, _) => 1.0,
            (false, true) => tail_probability(self.logarithm.abs() / self.error, self.freedom),
            (false, false) => 0.0,
        }
    }

    /// Returns the number of further weeks like these that would tell a relative change of this
    /// size from none; 0 where these do. `None` where the basis is no weeks, or ten years of them
    /// would not do. The error falls with the root of the number of weeks.
    #[must_use]
    pub fn more_weeks(&self, change: f64, confidence: f64) -> Option<usize> {
        const MOST: usize = 520;
        let EstimateBasis::Blocks { units, .. } = self.basis else { return None };
        let is_told = |weeks: usize| {
            let freedom = self.freedom.max(freedom_of(weeks.min(MOST_BLOCKS)));
            let error = self.error * (units as f64 / weeks as f64).sqrt();
            student_quantile(1.0 - confidence, freedom) * error <= change.ln_1p().abs()
        };
        if !is_told(MOST) {
            return None;
        }
        let (mut low, mut high) = (units, MOST);
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_told(middle) { high = middle } else { low = middle + 1 }
        }
        Some(high - units)
    }
}

/// Returns whether an interval says nothing of the size: it has no change in it, and reaches below
/// a quarter and above four times.
#[must_use]
pub fn says_nothing((low, high): (f64, f64)) -> bool {
    low < 1.0 / SAYS_NOTHING - 1.0 && high > SAYS_NOTHING - 1.0
}

/// The places of units, gathered into up to ten blocks of nearly equal numbers.
#[must_use]
pub fn blocks_of(units: usize) -> Vec<Range<usize>> {
    let blocks = units.min(MOST_BLOCKS);
    (0..blocks).map(|at| units * at / blocks..units * (at + 1) / blocks).collect()
}

/// Estimates functions of sums per unit that are no plain ratios: `logarithms` returns ln(1 +
/// relative change) of each over all units, and over all but a block of them. `further` are
/// variances of the same from elsewhere with their degrees of freedom, such as clock phases.
pub fn jackknife_estimates(
    units: usize,
    further: &[Vec<(f64, f64)>],
    mut logarithms: impl FnMut(Option<&Range<usize>>) -> Vec<f64>,
) -> Vec<Result<Estimate, NoEstimate>> {
    let whole = logarithms(None);
    let blocks = blocks_of(units);
    let block_logarithms: Vec<Vec<f64>> = blocks.iter().map(|block| logarithms(Some(block))).collect();
    let basis = EstimateBasis::Blocks { blocks: blocks.len(), units };
    let estimate_one = |(at, &logarithm): (usize, &f64)| {
        if !logarithm.is_finite() {
            return Err(NoEstimate::NoRatio);
        }
        if blocks.len() < LEAST_UNITS {
            return Err(NoEstimate::TooFew);
        }
        let block_values: Vec<f64> = block_logarithms.iter().map(|row| row[at]).collect();
        if block_values.iter().any(|value| !value.is_finite()) {
            return Err(NoEstimate::OneBlock);
        }
        let parts = std::iter::once(spread_of(&block_values)).chain(further.get(at).into_iter().flatten().copied());
        let (mut variance, mut shares) = (0.0, 0.0);
        for (own, freedom) in parts {
            variance += own;
            shares += own * own / freedom;
        }
        let freedom = if shares > 0.0 { variance * variance / shares } else { freedom_of(blocks.len()) };
        Ok(Estimate { logarithm, error: variance.sqrt(), freedom, basis })
    };
    whole.iter().enumerate().map(estimate_one).collect()
}

/// The variance of a number from its values with one block left out each, and its degrees of
/// freedom.
pub(super) fn spread_of(estimates: &[f64]) -> (f64, f64) {
    let k = estimates.len() as f64;
    let mean = estimates.iter().sum::<f64>() / k;
    let squares: f64 = estimates.iter().map(|value| (value - mean).powi(2)).sum();
    ((k - 1.0) / k * squares, freedom_of(estimates.len()))
}

/// Degrees of freedom of a variance from so many blocks: half the usual ones, for blocks of waits
/// are heavy-tailed.
fn freedom_of(blocks: usize) -> f64 {
    (blocks as f64 - 1.0) / 2.0
}

/// A sum over units.
pub(super) struct MeanOf(PeriodSum);

impl MeanOf {
    /// Sums up all units but those of a block. What is left is added up, not subtracted: zeros stay
    /// zeros.
    pub(super) fn all_but(units: &[PeriodSum], block: Option<&Range<usize>>) -> MeanOf {
        let mut total = PeriodSum::default();
        let block = block.cloned().unwrap_or(0..0);
        units[..block.start].iter().chain(&units[block.end..]).for_each(|unit| total.add(*unit));
        MeanOf(total)
    }

    /// The mean; `None` without jobs.
    pub(super) fn mean_value(&self) -> Option<f64> {
        (self.0.count > 0.0).then(|| self.0.sum / self.0.count)
    }
}

/// The mean over cases of ln(new / old); `None` where a case has no ratio.
#[must_use]
pub fn log_mean_ratio(cases: &[PairedSums]) -> Option<f64> {
    mean_logarithm(cases, None)
}

/// The mean over cases of ln(new / old), all units but those of a block; `None` where a case has no
/// ratio.
fn mean_logarithm(cases: &[PairedSums], block: Option<&Range<usize>>) -> Option<f64> {
    let is_empty_case = |case: &PairedSums| case.old.iter().chain(&case.new).all(|unit| unit.sum == 0.0);
    let of = |case: &PairedSums| {
        if is_empty_case(case) {
            // Nothing before and after: no change, whatever is left out.
            return Some(0.0);
        }
        log_ratio(MeanOf::all_but(&case.old, block).0, MeanOf::all_but(&case.new, block).0)
    };
    let sum = cases.iter().map(of).sum::<Option<f64>>()?;
    (!cases.is_empty()).then(|| sum / cases.len() as f64)
}

/// ln of the ratio of two means; `None` where the old one is 0 or a side has no job. −∞ where
/// nothing is left.
fn log_ratio(old: PeriodSum, new: PeriodSum) -> Option<f64> {
    if old.sum <= 0.0 || old.count <= 0.0 || new.count <= 0.0 {
        return None;
    }
    // Equal numbers of jobs cancel, and leave no rounding.
    let counts = if old.count == new.count { 0.0 } else { (old.count / new.count).ln() };
    Some((new.sum / old.sum).ln() + counts)
}

/// Nothing is left of what there was: −100 % exactly, where at least four blocks had some.
fn all_gone(case: &PairedSums, units: usize) -> Result<Estimate, NoEstimate> {
    let blocks = blocks_of(units);
    let some = blocks.iter().filter(|block| case.old[(*block).clone()].iter().any(|unit| unit.sum > 0.0)).count();
    if some < LEAST_UNITS {
        return Err(if blocks.len() < LEAST_UNITS { NoEstimate::TooFew } else { NoEstimate::OneBlock });
    }
    let basis = EstimateBasis::Blocks { blocks: blocks.len(), units };
    Ok(Estimate { logarithm: f64::NEG_INFINITY, error: 0.0, freedom: freedom_of(blocks.len()), basis })
}
