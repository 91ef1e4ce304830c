//! The difference of one mean on one log: everything that is said of it.

use super::estimate::{Estimate, NoEstimate, PairedSums, PeriodSum, blocks_of, says_nothing};
use super::signs::WeekSigns;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A relative change of no more than this is no difference worth the name.
pub const SAME_WORTH: f64 = 0.02;

/// Verdict on a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceVerdict {
    /// The new mean is smaller: by its p value, or in every one of at least eight weeks that
    /// differ, or in every one of at least eight blocks of weeks.
    Shorter,
    /// The new mean is larger.
    Longer,
    /// Equal in every week.
    Same,
    /// The whole interval lies within ±2 %: no difference worth the name.
    Alike,
    /// Not decided.
    Unclear,
    /// No interval: too few weeks, or one block of weeks holds all.
    TooFew,
    /// No ratio: the old mean is 0 or absent.
    NoRatio,
}

/// A mean before and after, from its sums by week.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeanDifference {
    /// The ratio with its error, or the reason for none.
    pub estimate: Result<Estimate, NoEstimate>,
    /// Weeks by the sign of their difference.
    pub signs: WeekSigns,
    /// Blocks of weeks by the sign of their difference.
    pub block_signs: WeekSigns,
}

impl MeanDifference {
    /// Compares paired sums of the weeks of one log, in the order of time.
    #[must_use]
    pub fn compare_sums(old: Vec<PeriodSum>, new: Vec<PeriodSum>) -> MeanDifference {
        MeanDifference::of_case(PairedSums { old, new }, Estimate::of_log)
    }

    /// Compares paired sums of windows of one log that were simulated apart.
    #[must_use]
    pub fn between_windows(old: Vec<PeriodSum>, new: Vec<PeriodSum>) -> MeanDifference {
        MeanDifference::of_case(PairedSums { old, new }, Estimate::of_windows)
    }

    fn of_case(case: PairedSums, estimate: fn(&[PairedSums]) -> Result<Estimate, NoEstimate>) -> MeanDifference {
        let signs = WeekSigns::count_signs(&case.old, &case.new);
        let blocks = blocks_of(case.old.len().min(case.new.len()));
        let sums = |weeks: &[PeriodSum]| -> Vec<PeriodSum> {
            blocks.iter().map(|block| sum_up(&weeks[block.clone()])).collect()
        };
        let block_signs = WeekSigns::count_signs(&sums(&case.old), &sums(&case.new));
        MeanDifference { estimate: estimate(std::slice::from_ref(&case)), signs, block_signs }
    }

    /// The interval of new / old − 1, where there is one.
    #[must_use]
    pub fn change_interval(&self, confidence: f64) -> Option<(f64, f64)> {
        self.estimate.ok().map(|estimate| estimate.change_interval(confidence))
    }

    /// The p value of no difference, where there is one.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        self.estimate.ok().map(|estimate| estimate.p_value())
    }

    /// Returns the verdict by a p value: the difference's own one, or that corrected for a family
    /// of `family` candidates.
    #[must_use]
    pub fn judge_difference(&self, p: Option<f64>, confidence: f64, family: usize) -> DifferenceVerdict {
        if self.signs.week_count() > 0 && self.signs.longer + self.signs.shorter == 0 {
            return DifferenceVerdict::Same;
        }
        let of = |direction| match direction {
            Ordering::Less => DifferenceVerdict::Shorter,
            _ => DifferenceVerdict::Longer,
        };
        if let Some(direction) = self.decided_by_signs(confidence, family) {
            return of(direction);
        }
        match (&self.estimate, p) {
            (Err(NoEstimate::NoRatio), _) => DifferenceVerdict::NoRatio,
            (Err(NoEstimate::TooFew | NoEstimate::OneBlock), _) => DifferenceVerdict::TooFew,
            (Ok(estimate), Some(p)) if p < 1.0 - confidence => of(estimate.logarithm.total_cmp(&0.0)),
            (Ok(estimate), _) => {
                let (low, high) = estimate.change_interval(confidence);
                let alike = low >= -SAME_WORTH && high <= SAME_WORTH;
                if alike { DifferenceVerdict::Alike } else { DifferenceVerdict::Unclear }
            }
        }
    }

    /// Returns the direction that the signs decide.
    ///
    /// The signs of the weeks decide first. Those of the blocks decide where all blocks go one way
    /// and the probability that chance does that for any of the family is below 1 − `confidence`.
    /// Where different jobs count on the two sides, all signs may go one way and the whole the
    /// other: then they decide nothing.
    #[must_use]
    pub fn decided_by_signs(&self, confidence: f64, family: usize) -> Option<Ordering> {
        let is_rare = self.block_signs.chance_probability() * (family as f64) < 1.0 - confidence;
        let of_blocks = || self.block_signs.decided_direction().filter(|_| self.block_signs.equal == 0 && is_rare);
        let direction = self.signs.decided_direction().or_else(of_blocks)?;
        let whole = self.estimate.map_or(direction, |estimate| estimate.logarithm.total_cmp(&0.0));
        (whole == direction).then_some(direction)
    }

    /// Returns whether the interval says nothing of the size of the change.
    #[must_use]
    pub fn says_nothing(&self, confidence: f64) -> bool {
        self.change_interval(confidence).is_none_or(says_nothing)
    }
}

fn sum_up(weeks: &[PeriodSum]) -> PeriodSum {
    let mut sum = PeriodSum::default();
    weeks.iter().for_each(|week| sum.add(*week));
    sum
}
