//! The prediction in force of every job: made at arrival, made again with new history, corrected
//! when it is outlived.

use super::predictor::NaiveHistory;
use super::{NaiveLearnerPredictor, NaivePropagation};
use crate::JobIn;

/// Use of run times in a scheduler's plans.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NaiveForecast {
    /// Predictor of the run time of an arriving job.
    pub predictor: NaiveLearnerPredictor,
    /// Rule 12: every prediction is multiplied by this, whatever it comes from.
    pub factor: i64,
    /// Growth of an outlived prediction (rule 8); `None` for no growth.
    pub correction: Option<NaiveGrowth>,
}

impl Default for NaiveForecast {
    /// The user's estimate, and nothing else.
    fn default() -> NaiveForecast {
        NaiveForecast { predictor: NaiveLearnerPredictor::Estimate, factor: 1, correction: None }
    }
}

/// Growth of an outlived prediction up to its limit, the estimate times the factor (section 7).
/// Beyond the limit, rule 8, except for [`NaiveGrowth::Doubling`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveGrowth {
    /// To the limit at once.
    AtOnce,
    /// By 1 min at the job's first correction, by 15·2^(i−2) min at its i-th.
    Gradual,
    /// By a fifth, at least a minute.
    Exponential,
    /// To the prediction that the first correction found plus 1, 5, 15, 30 min, 1, 2, 5, 10, 20,
    /// 50, 100 h at the job's i-th correction, then to the limit (Gaussier et al. 2015).
    Steps,
    /// To twice as much, at least a second, whatever the limit (Gaussier et al. 2015).
    Doubling,
}

/// State of a job, as far as repeated predictions depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NaiveHere {
    /// It has not arrived or has terminated.
    No,
    Waiting,
    /// It runs since this time.
    Running(i64),
}

/// The predictions of all jobs.
pub(crate) struct Predictions<'a> {
    forecast: NaiveForecast,
    jobs: &'a [JobIn],
    history: NaiveHistory,
    /// For each job the predictions in force, each with the time from which it held.
    made: Vec<Vec<(i64, i64)>>,
    /// Corrections, per job.
    corrections: Vec<u32>,
    /// The prediction that the first of them replaced, per job.
    outlived: Vec<i64>,
    /// Corrections at or past the limit, per job.
    late_corrections: Vec<u32>,
}

impl<'a> Predictions<'a> {
    pub(crate) fn new(forecast: NaiveForecast, jobs: &'a [JobIn]) -> Predictions<'a> {
        Predictions {
            forecast,
            jobs,
            history: NaiveHistory::default(),
            made: vec![Vec::new(); jobs.len()],
            corrections: vec![0; jobs.len()],
            outlived: vec![0; jobs.len()],
            late_corrections: vec![0; jobs.len()],
        }
    }

    /// Returns whether an outlived prediction grows.
    pub(crate) fn is_corrected(&self) -> bool {
        self.forecast.correction.is_some()
    }

    pub(crate) fn current_prediction(&self, j: usize) -> i64 {
        self.made[j][self.made[j].len() - 1].1
    }

    /// All of them, each with the time from which it held.
    pub(crate) fn prediction_history(&self, j: usize) -> &[(i64, i64)] {
        &self.made[j]
    }

    /// A job arrives. Returns whether its prediction comes from the user's history.
    pub(crate) fn note_arrival(&mut self, j: usize, now: i64) -> bool {
        let (prediction, from_history) = self.history.predict_run(self.forecast.predictor, self.jobs, j);
        self.made[j].push((now, self.forecast.factor * prediction));
        from_history
    }

    /// A job has terminated: other predictions of the user are made again. None falls behind the
    /// time that a job has run already. Returns the jobs whose predictions have changed.
    pub(crate) fn note_end(&mut self, index: usize, now: i64, presence: impl Fn(usize) -> NaiveHere) -> Vec<usize> {
        self.history.insert(self.forecast.predictor, self.jobs, index, now);
        let propagation = match self.forecast.predictor {
            NaiveLearnerPredictor::Recent(recent) => recent.propagation,
            _ => NaivePropagation::No,
        };
        let mut changed_jobs = Vec::new();
        if propagation == NaivePropagation::No {
            return changed_jobs;
        }
        for j in (0..self.jobs.len()).filter(|&j| self.jobs[j].user == self.jobs[index].user) {
            let least = match presence(j) {
                NaiveHere::Waiting => 0,
                NaiveHere::Running(since) if propagation == NaivePropagation::Running && self.corrections[j] == 0 => {
                    now - since
                }
                NaiveHere::Running(_) | NaiveHere::No => continue,
            };
            let foreseen = self.history.predict_run(self.forecast.predictor, self.jobs, j).0;
            let prediction = least.max(self.forecast.factor * foreseen);
            if prediction != self.current_prediction(j) {
                self.made[j].push((now, prediction));
                changed_jobs.push(j);
            }
        }
        changed_jobs
    }

    /// Rule 8: a job has outlived its prediction. Up to the limit, then one minute, then a quarter
    /// of an hour, doubling.
    pub(crate) fn correct_prediction(&mut self, j: usize, now: i64) {
        let Some(growth) = self.forecast.correction else { return };
        let limit = self.forecast.factor * self.jobs[j].estimate;
        let prediction = self.current_prediction(j);
        if self.corrections[j] == 0 {
            self.outlived[j] = prediction;
        }
        let step = |i: u32| if i == 1 { 60 } else { 900 * (1 << (i - 2)) };
        self.corrections[j] += 1;
        let i = self.corrections[j];
        if prediction >= limit {
            self.late_corrections[j] += 1;
        }
        let longer = match growth {
            NaiveGrowth::Doubling => prediction + prediction.max(1),
            _ if prediction >= limit => prediction + step(self.late_corrections[j]),
            NaiveGrowth::AtOnce => limit,
            NaiveGrowth::Gradual => limit.min(prediction + step(i)),
            NaiveGrowth::Exponential => limit.min(prediction + (prediction / 5).max(60)),
            NaiveGrowth::Steps => {
                let minutes = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_000, 6_000].get(i as usize - 1);
                minutes.map_or(limit, |m| limit.min(self.outlived[j] + 60 * m))
            }
        };
        self.made[j].push((now, longer));
    }
}
