//! Predicted run times: predictors, and the history of a prediction while its job waits and runs.
//!
//! The rules in the comments are those of Tsafrir et al. (2007) as settled against their tables.

mod forecast;
mod learn;
mod predictor;

pub use forecast::{Forecast, Growth};
pub(crate) use forecast::{Here, Predictions};
pub use learn::{Learned, Matters};
pub use predictor::{Above, Metric, Predictor, Propagation, Recent, Window};
