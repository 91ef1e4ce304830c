//! Run-time predictions: what plans, where the user's estimate kills.

mod correction;
mod estimate;

pub use correction::{Correction, Expired};
pub use estimate::{Perfect, UserEstimate};

use crate::model::{FURTHEST, Job, JobId, Span, TIME_LIMIT, Time};
use crate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// Prediction of a job's run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// Predicted run time. Values below 0 or above 2⁴⁰ s are clamped.
    pub run: Span,
    /// True if it was learned from other jobs; false for a fallback to the user's estimate.
    pub learned: bool,
}

impl Prediction {
    /// Learned from other jobs.
    #[inline]
    #[must_use]
    pub fn from_learned(run: Span) -> Prediction {
        Prediction { run, learned: true }
    }

    /// Not learned: an estimate, or the truth.
    #[inline]
    #[must_use]
    pub fn from_given(run: Span) -> Prediction {
        Prediction { run, learned: false }
    }
}

/// Predicts how long jobs will run.
///
/// Like a policy it is a pure state machine: it receives every arrival and every end in the order
/// of time, and its state can be saved and restored. Memory must be bounded per user and per job
/// that is here, not per job that ever was.
///
/// ```
/// use drystone_core::model::{Job, JobId, Span, Time};
/// use drystone_core::parts::predict::{Prediction, Predictor};
/// use serde::{Deserialize, Serialize};
///
/// /// The run time of the job that ended last, whoever's it was.
/// #[derive(Default, Serialize, Deserialize)]
/// struct LastRun(Option<Span>);
///
/// impl Predictor for LastRun {
///     fn name(&self) -> &str {
///         "last-run"
///     }
///     fn predict(&mut self, _id: JobId, job: &Job, _oracle: Option<Span>) -> Prediction {
///         self.0.map_or(Prediction::from_given(job.estimate), Prediction::from_learned)
///     }
///     fn learn_from_end(&mut self, _id: JobId, _job: &Job, ran: Span, _now: Time) {
///         self.0 = Some(ran);
///     }
/// }
///
/// let (mut last, job) = (LastRun::default(), Job::new(Time(0), 1, Span(100)));
/// assert_eq!(last.predict(JobId(0), &job, None).run, Span(100));
/// last.learn_from_end(JobId(0), &job, Span(30), Time(30));
/// assert_eq!(last.predict(JobId(1), &job, None).run, Span(30));
/// ```
pub trait Predictor: Snapshot + Send + Sync {
    /// A name that stays the same from version to version: saved states bear it.
    fn name(&self) -> &str;

    /// The layout of its own saved state. Raise it whenever that changes: a session then refuses
    /// states of other layouts.
    fn layout(&self) -> u32 {
        1
    }

    /// The predicted run time of a job that arrives. `oracle` is its true run time, given only to
    /// predictors that say they are [`Predictor::is_clairvoyant`].
    fn predict(&mut self, id: JobId, job: &Job, oracle: Option<Span>) -> Prediction;

    /// Returns the predictions that change when a job of the same user ends.
    fn propagation(&self) -> Propagation {
        Propagation::None
    }

    /// A job has ended after running for `ran`.
    fn learn_from_end(&mut self, _id: JobId, _job: &Job, _ran: Span, _now: Time) {}

    /// Returns whether there is anything to learn from ends; asked once, before the first event. A
    /// predictor that says no does not receive them.
    fn is_learning(&self) -> bool {
        true
    }

    /// A job was withdrawn before it ended: there is nothing to learn.
    fn note_withdrawal(&mut self, _id: JobId, _job: &Job) {}

    /// Returns whether it needs true run times: good for bounds, impossible on a real machine.
    fn is_clairvoyant(&self) -> bool {
        false
    }
}

/// Predictions already made that are renewed when a job of the same user ends (Tsafrir et al. 2007,
/// section 7).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum Propagation {
    /// None.
    #[default]
    None,
    /// Those of waiting jobs.
    Waiting,
    /// Those of waiting jobs, and of running jobs whose prediction was not corrected yet.
    Running,
}

/// Use of run times in plans: a predictor, a factor, and the correction of a prediction that proves
/// too short.
pub struct Forecast {
    /// Predicts at arrival.
    pub predictor: Box<dyn Predictor>,
    /// Multiplies every prediction and the limit of corrections: 2 in the "X2" policies of Tsafrir
    /// et al. 2007, section 5. Products beyond 2⁶¹ s count as that.
    pub factor: u32,
    /// New value of a running job's expired prediction.
    pub correction: Correction,
}

impl Forecast {
    /// Returns the run time used in plans for this prediction.
    #[inline]
    pub fn planned_span(&self, foreseen: Prediction) -> Span {
        self.times_factor(Span(foreseen.run.0.clamp(0, TIME_LIMIT)))
    }

    /// This many times a run time; at most what can be added to any time.
    #[inline]
    pub(crate) fn times_factor(&self, run: Span) -> Span {
        Span(run.0.saturating_mul(i64::from(self.factor)).min(FURTHEST))
    }
}

impl Default for Forecast {
    fn default() -> Self {
        Forecast { predictor: Box::new(UserEstimate), factor: 1, correction: Correction::None }
    }
}

/// Returns the accuracy of a prediction: 1 if right, else the smaller over the larger of prediction
/// and run time (Tsafrir et al. 2007, section 3.3).
#[must_use]
pub fn prediction_accuracy(prediction: Span, run: Span) -> f64 {
    if prediction == run {
        return 1.0;
    }
    prediction.min(run).as_f64() / prediction.max(run).as_f64()
}
