//! The difference of one mean on one log: everything that is said of it.

use super::estimate::{Estimate, NoEstimate, PairedSums, PeriodSum, says_nothing};
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
    /// differ.
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
}

impl MeanDifference {
    /// Compares paired sums of the weeks of one log, in the order of time.
    #[must_use]
    pub fn between(old: Vec<PeriodSum>, new: Vec<PeriodSum>) -> MeanDifference {
        MeanDifference::of_case(PairedSums { old, new }, Estimate::of_log)
    }

    /// Compares paired sums of windows of one log that were simulated apart.
    #[must_use]
    pub fn between_windows(old: Vec<PeriodSum>, new: Vec<PeriodSum>) -> MeanDifference {
        MeanDifference::of_case(PairedSums { old, new }, Estimate::of_windows)
    }

    fn of_case(case: PairedSums, estimate: fn(&[PairedSums]) -> Result<Estimate, NoEstimate>) -> MeanDifference {
        let signs = WeekSigns::count(&case.old, &case.new);
        MeanDifference { estimate: estimate(std::slice::from_ref(&case)), signs }
    }

    /// The interval of new / old − 1, where there is one.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        self.estimate.ok().map(|estimate| estimate.interval(confidence))
    }

    /// The p value of no difference, where there is one.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        self.estimate.ok().map(|estimate| estimate.p_value())
    }

    /// Returns the verdict, with the p value that is to decide: the own one, or that of a family.
    #[must_use]
    pub fn verdict(&self, p: Option<f64>, confidence: f64) -> DifferenceVerdict {
        if self.signs.weeks() > 0 && self.signs.longer + self.signs.shorter == 0 {
            return DifferenceVerdict::Same;
        }
        let of = |direction| match direction {
            Ordering::Less => DifferenceVerdict::Shorter,
            _ => DifferenceVerdict::Longer,
        };
        if let Some(direction) = self.decided_by_signs() {
            return of(direction);
        }
        match (&self.estimate, p) {
            (Err(NoEstimate::NoRatio), _) => DifferenceVerdict::NoRatio,
            (Err(NoEstimate::TooFew | NoEstimate::OneBlock), _) => DifferenceVerdict::TooFew,
            (Ok(estimate), Some(p)) if p < 1.0 - confidence => of(estimate.logarithm.total_cmp(&0.0)),
            (Ok(estimate), _) => {
                let (low, high) = estimate.interval(confidence);
                let alike = low >= -SAME_WORTH && high <= SAME_WORTH;
                if alike { DifferenceVerdict::Alike } else { DifferenceVerdict::Unclear }
            }
        }
    }

    /// Returns the direction that the signs decide. Where other jobs count on either side, all
    /// weeks may go one way and the whole the other: then they decide nothing.
    #[must_use]
    pub fn decided_by_signs(&self) -> Option<Ordering> {
        let direction = self.signs.decided()?;
        let whole = self.estimate.map_or(direction, |estimate| estimate.logarithm.total_cmp(&0.0));
        (whole == direction).then_some(direction)
    }

    /// Returns whether the interval says nothing of the size of the change.
    #[must_use]
    pub fn says_nothing(&self, confidence: f64) -> bool {
        self.interval(confidence).is_none_or(says_nothing)
    }
}
