//! Ways to answer that are scored.

use serde::{Deserialize, Serialize};

/// A way to answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// The start in a conservative plan made of time limits: one number, as `squeue --start`.
    Plan,
    /// The policy simulated as if every job ran as long as its limit: one number.
    Limits,
    /// The answer if every job ran as long as its user's last two: one number.
    LastTwo,
    /// [`Method::Plan`], with the errors of earlier answers as a distribution.
    PlanErrors,
    /// [`Method::LastTwo`], with the errors of earlier answers as a distribution.
    LastTwoErrors,
    /// Waits of jobs of the same size and limit since the last change.
    Waits,
    /// Outcomes of the most similar states.
    Neighbours,
    /// Futures without arrivals, not calibrated.
    Closed,
    /// Futures with arrivals, not calibrated.
    Raw,
    /// [`Method::Raw`] with each quantile moved by a regression on all other answers and on the
    /// state.
    Regression,
    /// Futures with arrivals, calibrated: the answer.
    Calibrated,
}

impl Method {
    /// All, the answer last.
    pub const ALL: [Method; 11] = [
        Method::Plan,
        Method::Limits,
        Method::LastTwo,
        Method::PlanErrors,
        Method::LastTwoErrors,
        Method::Waits,
        Method::Neighbours,
        Method::Closed,
        Method::Raw,
        Method::Regression,
        Method::Calibrated,
    ];

    /// Its name in options and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Plan => "plan",
            Method::Limits => "limits",
            Method::LastTwo => "last-two",
            Method::PlanErrors => "plan-errors",
            Method::LastTwoErrors => "last-two-errors",
            Method::Waits => "waits",
            Method::Neighbours => "neighbours",
            Method::Closed => "closed",
            Method::Raw => "raw",
            Method::Regression => "regression",
            Method::Calibrated => "calibrated",
        }
    }

    /// One line for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Method::Plan => "a conservative plan of time limits, as `squeue --start` makes one",
            Method::Limits => "the policy, as if jobs ran to their limits",
            Method::LastTwo => "the policy, as if jobs ran as long as their users' last two",
            Method::PlanErrors => "plan, with the errors of its earlier answers around it",
            Method::LastTwoErrors => "last-two, with the errors of its earlier answers around it",
            Method::Waits => "waits of jobs of the same size and limit since the last change",
            Method::Neighbours => "outcomes of the 60 most similar states",
            Method::Closed => "sampled futures without arrivals, not calibrated",
            Method::Raw => "sampled futures with arrivals, not calibrated",
            Method::Regression => "raw, its quantiles moved by a regression on all other answers and the state",
            Method::Calibrated => "sampled futures with arrivals, calibrated by past answers",
        }
    }

    /// Returns whether it is one number and no distribution.
    #[must_use]
    pub fn is_point(self) -> bool {
        matches!(self, Method::Plan | Method::Limits | Method::LastTwo)
    }

    /// Returns whether it is a stage of the answer itself, and no baseline.
    #[must_use]
    pub fn is_own(self) -> bool {
        matches!(self, Method::Closed | Method::Raw | Method::Regression | Method::Calibrated)
    }
}
