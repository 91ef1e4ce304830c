//! Run-time predictions: what plans, where the user's estimate kills.

mod build;
mod deviations;
mod history;
mod kinds;
mod learner;
mod quantile;
mod random;
mod recent;
mod recent_options;

pub use build::{PREDICTOR, VALUES, build_forecast, parse_forecast};
pub(crate) use build::{canonical_text, in_full, is_learning};
pub use deviations::{Deviations, Like};
pub use drystone_engine::parts::predict::{
    Correction, Expired, Forecast, Perfect, Prediction, Predictor, Propagation, UserEstimate, prediction_accuracy,
};
pub use kinds::{BuildPredictor, PredictorKind, predictor_kinds, register_predictor};
pub use learner::{Branch, JobWeight, Learner, LearnerOptions};
pub use quantile::Quantile;
pub use random::RandomFactor;
pub use recent::RecentPredictor;
pub use recent_options::{AboveEstimate, Fallback, Recency, RecentOptions, RecentWindow, WindowMetric};
