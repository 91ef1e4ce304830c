//! Predicted run times: predictors, and the history of a prediction while its job waits and runs.
//!
//! The rules in the comments are those of Tsafrir et al. (2007) as settled against their tables.

mod forecast;
mod learn;
mod predictor;

pub use forecast::{NaiveForecast, NaiveGrowth};
pub(crate) use forecast::{NaiveHere, Predictions};
pub use learn::{Matters, NaiveLearned};
pub use predictor::{NaiveAbove, NaiveLearnerPredictor, NaiveMetric, NaivePropagation, NaiveRecent, NaiveWindow};
