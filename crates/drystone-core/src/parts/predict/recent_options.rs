//! The choices of predictions from recent jobs (Tsafrir, Etsion & Feitelson 2007, section 7).

use super::Propagation;
use serde::{Deserialize, Serialize};

/// Choice of a user's terminated jobs that make up the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum RecentWindow {
    /// The most recent ones, whatever they are.
    #[default]
    All,
    /// The most recent ones, as far as they are similar: of the same estimate as the arriving job.
    Immediate,
    /// The most recent ones among the similar.
    Extended,
}

/// Statistic of the run times in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum WindowMetric {
    /// Their average, rounded down.
    #[default]
    Average,
    /// Their median; of an even number the average of the middle two, rounded down.
    Median,
    /// The shortest.
    Min,
    /// The longest.
    Max,
}

/// Prediction without enough history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Fallback {
    /// The user's estimate.
    #[default]
    Estimate,
    /// The estimate times the user's mean accuracy so far, min(1, run time / estimate), rounded
    /// down. The mean is a sum of floating-point numbers, in the order of ends: where the product
    /// should be whole it may come out a second less.
    Relative,
}

/// Order by which jobs are recent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Recency {
    /// By submission.
    #[default]
    Submission,
    /// By termination.
    Termination,
}

/// Treatment of a prediction above the user's estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum AboveEstimate {
    /// It is discarded for the estimate, and counts as no prediction. (The value is the same as
    /// with [`AboveEstimate::Clip`]; the rate of predictions differs.)
    #[default]
    Discard,
    /// It is cut to the estimate.
    Clip,
    /// It stays.
    Keep,
}

/// The parameters of a [`RecentPredictor`](super::RecentPredictor) predictor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecentOptions {
    /// Number of jobs in the window, at least 1.
    pub size: usize,
    /// Choice of jobs.
    pub window: RecentWindow,
    /// True if a window must be full to predict from; otherwise any job in it suffices.
    pub full: bool,
    /// Statistic of the run times.
    pub metric: WindowMetric,
    /// Prediction otherwise.
    pub fallback: Fallback,
    /// Meaning of recent.
    pub recency: Recency,
    /// Treatment of predictions above the estimate.
    pub above: AboveEstimate,
    /// Effect of new history on predictions already made.
    pub propagation: Propagation,
}

impl Default for RecentOptions {
    fn default() -> Self {
        RecentOptions {
            size: 2,
            window: RecentWindow::All,
            full: true,
            metric: WindowMetric::Average,
            fallback: Fallback::Estimate,
            recency: Recency::Submission,
            above: AboveEstimate::Discard,
            propagation: Propagation::None,
        }
    }
}

impl RecentOptions {
    /// The options that stand for all that predict the same, always. Two predictors with equal
    /// canonical options make equal predictions from any history:
    ///
    /// - A window of one job has one run time: average, median, minimum and maximum are equal, and
    ///   a window that is not empty is full.
    /// - In a window of at most two jobs the median is the average, both rounded down.
    /// - A window of all jobs that need not be full (or holds one job) is empty only for a user
    ///   without history, whose relative fallback is also the estimate.
    ///
    /// Tsafrir et al. 2007 simulate the first kind once (section 7, footnote 9).
    #[must_use]
    pub fn into_canonical(mut self) -> RecentOptions {
        if self.size == 1 {
            self.metric = WindowMetric::Average;
            self.full = true;
        }
        if self.size == 2 && self.metric == WindowMetric::Median {
            self.metric = WindowMetric::Average;
        }
        if self.window == RecentWindow::All && (self.size == 1 || !self.full) {
            self.fallback = Fallback::Estimate;
        }
        self
    }
}
