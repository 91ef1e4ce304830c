//! Ways to answer that are scored.

use serde::{Deserialize, Serialize};

drystone_core::word_enum! {
    /// A way to answer.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum AnswerMethod {
        /// The start in a conservative plan made of time limits: one number, as `squeue --start`.
        Plan = "plan",
        /// The policy simulated as if every job ran as long as its limit: one number.
        Limits = "limits",
        /// The answer if every job ran as long as its user's last two: one number.
        LastTwo = "last-two",
        /// [`AnswerMethod::Plan`], with the errors of earlier answers as a distribution.
        PlanErrors = "plan-errors",
        /// [`AnswerMethod::LastTwo`], with the errors of earlier answers as a distribution.
        LastTwoErrors = "last-two-errors",
        /// Waits of jobs of the same size and limit since the last change.
        Waits = "waits",
        /// Outcomes of the most similar states.
        Neighbours = "neighbours",
        /// Futures without arrivals, not calibrated.
        Closed = "closed",
        /// Futures with arrivals, not calibrated.
        Raw = "raw",
        /// [`AnswerMethod::Raw`] with each quantile moved by a regression on all other answers and
        /// on the state.
        Regression = "regression",
        /// Futures with arrivals, mixed with what the past alone says where that has done well, and
        /// calibrated: the answer.
        Calibrated = "calibrated",
    }
}

impl AnswerMethod {
    /// One line for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            AnswerMethod::Plan => "a conservative plan of time limits, as `squeue --start` makes one",
            AnswerMethod::Limits => "the policy, as if jobs ran to their limits",
            AnswerMethod::LastTwo => "the policy, as if jobs ran as long as their users' last two",
            AnswerMethod::PlanErrors => "plan, with the errors of its earlier answers around it",
            AnswerMethod::LastTwoErrors => "last-two, with the errors of its earlier answers around it",
            AnswerMethod::Waits => "waits of jobs of the same size and limit since the last change",
            AnswerMethod::Neighbours => "outcomes of the 60 most similar states",
            AnswerMethod::Closed => "sampled futures without arrivals, not calibrated",
            AnswerMethod::Raw => "sampled futures with arrivals, not calibrated",
            AnswerMethod::Regression => "raw, its quantiles moved by a regression on all other answers and the state",
            AnswerMethod::Calibrated => {
                "raw, mixed with plan-errors, last-two-errors and neighbours where these have done well, calibrated by past answers"
            }
        }
    }

    /// Returns whether it is one number and no distribution.
    #[must_use]
    pub fn is_point(self) -> bool {
        matches!(self, AnswerMethod::Plan | AnswerMethod::Limits | AnswerMethod::LastTwo)
    }

    /// Returns whether it is a stage of the answer itself, and no baseline.
    #[must_use]
    pub fn is_own(self) -> bool {
        matches!(self, AnswerMethod::Closed | AnswerMethod::Raw | AnswerMethod::Regression | AnswerMethod::Calibrated)
    }
}
