//! Questions that are asked again at regular times while jobs wait.
//!
//! A job that waits long is asked about often, so that most of these questions are about long
//! waits. They are scored apart from questions at arrival.

use crate::forecaster::Forecaster;
use crate::general::FutureError;
use crate::pool;
use crate::score::{ForecastScore, LEVELS, ScoreMark, quantile_level};
use drystone_core::engine::Session;
use drystone_core::model::{JobId, Span, Time};
use drystone_core::parts::Profile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

drystone_core::word_enum! {
    /// A way to answer a question about a job that has waited for some time.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RepeatedMethod {
        /// The start in a conservative plan made of time limits.
        Plan = "plan",
        /// Futures, not calibrated.
        Raw = "raw",
        /// Calibrated by answers at arrival.
        Arrivals = "at arrival",
        /// Calibrated by answers to jobs that had waited for some time: the answer.
        Calibrated = "calibrated",
    }
}

impl RepeatedMethod {
    /// Returns whether the answer is one number, not a distribution.
    #[must_use]
    pub fn is_point(self) -> bool {
        self == RepeatedMethod::Plan
    }
}

/// Scores of questions that were asked again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RepeatedScores {
    /// Time from one round of questions to the next, in seconds.
    pub every: Span,
    /// Scores by method, in minutes.
    pub methods: Vec<(RepeatedMethod, ForecastScore)>,
}

/// Quantiles of each method, or the marks once the job has started.
enum RepeatedQuestion {
    Waits {
        at: Time,
        answers: [Option<Vec<f64>>; 4],
    },
    Marked([Option<ScoreMark>; 4]),
    /// The job was withdrawn, or started at once.
    Lost,
}

/// Asks at regular times about jobs that wait, and marks the answers.
pub(crate) struct RepeatedExaminer {
    every: Span,
    next: Time,
    /// One in so many jobs is asked about.
    one_in: u32,
    questions: Vec<RepeatedQuestion>,
    open: BTreeMap<JobId, Vec<usize>>,
    profile: Profile,
}

impl RepeatedExaminer {
    pub(crate) fn new(every: Span, one_in: u32) -> RepeatedExaminer {
        RepeatedExaminer {
            every: every.max(Span(1)),
            next: Time::MIN,
            one_in: one_in.max(1),
            questions: Vec::new(),
            open: BTreeMap::new(),
            profile: Profile::new(Time::ZERO, 0),
        }
    }

    /// Asks if a round is due: at the first event at or after each multiple of the interval.
    ///
    /// # Errors
    /// A policy that cannot be simulated forward.
    pub(crate) fn ask_if_due(&mut self, session: &Session, forecaster: &mut Forecaster) -> Result<(), FutureError> {
        let view = session.view();
        let now = view.current_time();
        if now < self.next {
            return Ok(());
        }
        self.next = Time((now.0.div_euclid(self.every.0) + 1) * self.every.0);
        let is_asked = |&id: &JobId| id.0.is_multiple_of(self.one_in) && view.job(id).submit < now;
        let jobs: Vec<JobId> = view.waiting_jobs().filter(is_asked).collect();
        if jobs.is_empty() {
            return Ok(());
        }
        let answers = forecaster.preview_answers(session, &jobs)?;
        let plans = pool::planned_starts(session, &jobs, &mut self.profile);
        let corrected_answers = forecaster.correct_answers(&answers, now);
        for (((&id, answer), correction), plan) in jobs.iter().zip(&answers).zip(&corrected_answers).zip(plans) {
            let quantiles = |of: &dyn Fn(f64) -> f64| Some((0..LEVELS).map(|k| of(quantile_level(k))).collect());
            let answers = [
                plan.map(|plan| vec![plan as f64; LEVELS]),
                quantiles(&|level| answer.sample.quantile(level)),
                quantiles(&|level| answer.quantile(level)),
                quantiles(&|level| correction.quantile(level)),
            ];
            forecaster.note_repeated(view.job(id).user, answer);
            self.open.entry(id).or_default().push(self.questions.len());
            self.questions.push(RepeatedQuestion::Waits { at: now, answers });
        }
        Ok(())
    }

    pub(crate) fn note_start(&mut self, id: JobId, now: Time) {
        for question in self.open.remove(&id).unwrap_or_default() {
            let question = &mut self.questions[question];
            if let RepeatedQuestion::Waits { at, answers } = question {
                let took = (now - *at).as_f64();
                *question = match took > 0.0 {
                    true => RepeatedQuestion::Marked(
                        answers
                            .each_ref()
                            .map(|answer| answer.as_ref().map(|answer| ScoreMark::from_quantiles(answer, took))),
                    ),
                    false => RepeatedQuestion::Lost,
                };
            }
        }
    }

    pub(crate) fn note_withdrawal(&mut self, id: JobId) {
        for question in self.open.remove(&id).unwrap_or_default() {
            self.questions[question] = RepeatedQuestion::Lost;
        }
    }

    /// Returns the scores without those of the first questions, which only train.
    pub(crate) fn finish(self, training: f64) -> RepeatedScores {
        let first = (self.questions.len() as f64 * training) as usize;
        let mark_rows: Vec<&[Option<ScoreMark>; 4]> = (self.questions[first..].iter())
            .filter_map(|question| match question {
                RepeatedQuestion::Marked(marks) => Some(marks),
                RepeatedQuestion::Waits { .. } | RepeatedQuestion::Lost => None,
            })
            .collect();
        let score = |at: usize| {
            let marks: Vec<ScoreMark> = mark_rows.iter().filter_map(|marks| marks[at]).collect();
            ForecastScore::from_marks(&marks, (mark_rows.len() - marks.len()) as u64)
        };
        let methods = RepeatedMethod::ALL.into_iter().enumerate().map(|(at, method)| (method, score(at))).collect();
        RepeatedScores { every: self.every, methods }
    }
}
