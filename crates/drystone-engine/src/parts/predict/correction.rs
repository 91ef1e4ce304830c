//! Corrections of a prediction that a running job has outlived.

use crate::model::Span;
use serde::{Deserialize, Serialize};

/// The new prediction of a job that still runs when its prediction expires.
///
/// Except for [`Correction::Doubling`], predictions go up to the user's estimate (times the factor
/// of the forecast) first; beyond it they grow by 1 minute, then 15·2^(i−2) minutes at the i-th
/// correction there (Tsafrir et al. 2007, section 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Correction {
    /// Nothing: the job is overdue until it ends.
    #[default]
    None,
    /// The user's estimate at once.
    Estimate,
    /// By 1 minute, then 15·2^(i−2) minutes at the i-th correction.
    Gradual,
    /// By a fifth of the prediction, at least 1 minute.
    Exponential,
    /// The prediction that the first correction found plus 1, 5, 15, 30 minutes, 1, 2, 5, 10, 20,
    /// 50, 100 hours (Gaussier et al. 2015, "tsafrir").
    Steps,
    /// Twice the last prediction, beyond the estimate, too (Gaussier et al. 2015, "recursive
    /// doubling").
    Doubling,
}

/// A prediction that has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expired {
    /// The prediction that expired.
    pub prediction: Span,
    /// The user's estimate times the factor of the forecast.
    pub limit: Span,
    /// Corrections of this job so far.
    pub corrections: u32,
    /// Corrections of this job so far that were made at or beyond the limit.
    pub late: u32,
}

/// Increments of [`Correction::Steps`] over the prediction that the first correction found, in
/// seconds.
const STEPS: [i64; 11] = [60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000];

impl Correction {
    /// All corrections with the names used in policy texts.
    pub const NAMES: [(&str, Correction); 6] = [
        ("none", Correction::None),
        ("estimate", Correction::Estimate),
        ("gradual", Correction::Gradual),
        ("exponential", Correction::Exponential),
        ("steps", Correction::Steps),
        ("doubling", Correction::Doubling),
    ];

    /// The new prediction; above the expired one except with [`Correction::None`].
    #[must_use]
    pub fn correct_prediction(self, e: &Expired) -> Span {
        let below = e.prediction < e.limit;
        match self {
            Correction::None => e.prediction,
            Correction::Doubling => e.prediction + e.prediction.max(Span(1)),
            _ if !below => e.prediction + next_increment(e.late),
            Correction::Estimate => e.limit,
            Correction::Gradual => (e.prediction + next_increment(e.corrections)).min(e.limit),
            Correction::Exponential => (e.prediction + Span(e.prediction.0 / 5).max(Span::MINUTE)).min(e.limit),
            Correction::Steps => {
                // From step to step, so that the start of the first one makes no difference: a
                // prediction may have been renewed since the job arrived.
                let before = (e.corrections as usize).checked_sub(1).and_then(|i| STEPS.get(i)).unwrap_or(&0);
                let next = STEPS.get(e.corrections as usize);
                next.map_or(e.limit, |next| e.prediction + Span(next - before)).min(e.limit)
            }
        }
    }
}

/// The increment after `before` others: 1 min, 15 min, 30 min, 1 h, …
fn next_increment(before: u32) -> Span {
    match before {
        0 => Span::MINUTE,
        i => Span(900i64.saturating_mul(1 << (i - 1).min(30))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The predictions of a job that outlives them all.
    fn grow(correction: Correction, first: i64, limit: i64, times: usize) -> Vec<i64> {
        let mut e = Expired { prediction: Span(first), limit: Span(limit), corrections: 0, late: 0 };
        (0..times)
            .map(|_| {
                let new = correction.correct_prediction(&e);
                e.late += u32::from(e.prediction >= e.limit);
                e.corrections += 1;
                e.prediction = new;
                new.0
            })
            .collect()
    }

    #[test]
    fn predictions_grow_as_published() {
        // Tsafrir et al. 2007, section 3.2: to the estimate, then 1 min, 15 min, 30 min, 1 h.
        assert_eq!(grow(Correction::Estimate, 100, 600, 5), [600, 660, 1560, 3360, 6960]);
        // Section 7, "gradual": by predefined increments as in section 3.
        assert_eq!(grow(Correction::Gradual, 100, 3000, 5), [160, 1060, 2860, 3000, 3060]);
        // "exponential": by 20 % each time, at least a minute.
        assert_eq!(grow(Correction::Exponential, 100, 600, 8)[..4], [160, 220, 280, 340]);
        assert_eq!(grow(Correction::Exponential, 1000, 2000, 6), [1200, 1440, 1728, 2000, 2060, 2960]);
    }

    #[test]
    fn corrections_of_gaussier_et_al() {
        assert_eq!(grow(Correction::Steps, 100, 2500, 6), [160, 400, 1000, 1900, 2500, 2560]);
        assert_eq!(grow(Correction::Doubling, 100, 150, 3), [200, 400, 800]);
        assert_eq!(grow(Correction::Doubling, 0, 150, 3), [1, 2, 4]);
    }
}
