//! Run times learned online (Gaussier, Glesser, Reis & Trystram 2015): normalised adaptive gradient
//! descent on a linear model of a job's features and of all products of two of them. Written out
//! from the definition, feature by feature.

use crate::JobIn;

/// The loss and the pace of learning.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NaiveLearned {
    /// True if predictions that are too short cost the square of the error, not its size.
    pub under_squared: bool,
    /// True if predictions that are too long cost the square of the error.
    pub over_squared: bool,
    /// Cost of a prediction that is too long in relation to one that is too short.
    pub bias: f64,
    /// Weight of a job.
    pub matters: Matters,
    pub rate: f64,
    /// Factor of the L2 regularisation.
    pub l2: f64,
}

/// Weight of a job of p processors and r seconds (both at least 1), at least 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matters {
    /// 1.
    Even,
    /// 1 + ln(p·r).
    Area,
    /// 11 − ln(p·r).
    Small,
    /// 5 + ln(r/p).
    Long,
    /// 5 + ln(p/r).
    Wide,
}

/// The history so far, and the model fitted to it.
#[derive(Default)]
pub(super) struct NaiveLearnerModel {
    /// Jobs that have arrived, and the features each had then.
    arrived: Vec<(usize, Vec<f64>)>,
    terminated: Vec<(usize, i64)>,
    terms: Vec<NaiveTerm>,
    /// Sum over examples and terms of (x / largest x so far)².
    norm: f64,
}

/// Coefficient of a feature or of a product of two.
#[derive(Clone, Default)]
struct NaiveTerm {
    weight: f64,
    /// The largest size seen.
    largest: f64,
    /// Sum of squared gradients.
    gradients: f64,
}

impl NaiveLearnerModel {
    /// The prediction for an arriving job, and whether it is learned.
    pub(super) fn predict_run(&mut self, jobs: &[JobIn], index: usize) -> (i64, bool) {
        let features = self.job_features(jobs, index);
        let terms = with_products(&features);
        self.arrived.push((index, features));
        if self.terminated.is_empty() {
            return (jobs[index].estimate, false);
        }
        let value = self.model_value(&terms).abs() as i64;
        (value.max(1).min(jobs[index].estimate), true)
    }

    /// Job `index` has terminated.
    pub(super) fn learn_run(&mut self, settings: &NaiveLearned, jobs: &[JobIn], index: usize, now: i64) {
        self.terminated.push((index, now));
        let Some((_, features)) = self.arrived.iter().find(|(i, _)| *i == index) else { return };
        let x = with_products(features);
        self.terms.resize(x.len(), NaiveTerm::default());
        for (term, x) in self.terms.iter_mut().zip(&x) {
            if x.abs() > term.largest {
                term.weight *= term.largest / x.abs();
                term.largest = x.abs();
            }
            if term.largest > 0.0 {
                self.norm += (x / term.largest) * (x / term.largest);
            }
        }
        let run = jobs[index].run as f64;
        let error = self.model_value(&x) - run;
        let mut slope = if error < 0.0 {
            if settings.under_squared { 2.0 * error } else { -1.0 }
        } else if error > 0.0 {
            settings.bias * if settings.over_squared { 2.0 * error } else { 1.0 }
        } else {
            0.0
        };
        slope *= settings.matters.job_weight(jobs[index].procs as f64, run);
        let pace = settings.rate * (self.terminated.len() as f64 / self.norm).sqrt();
        for (term, x) in self.terms.iter_mut().zip(&x) {
            let gradient = slope * x + settings.l2 * term.weight;
            term.gradients += gradient * gradient;
            if term.gradients > 0.0 {
                term.weight -= pace * gradient / (term.largest * term.gradients.sqrt());
            }
        }
    }

    fn model_value(&self, x: &[f64]) -> f64 {
        let mut sum = -0.0;
        for (term, x) in self.terms.iter().zip(x) {
            sum += term.weight * x;
        }
        sum
    }

    fn job_features(&self, jobs: &[JobIn], index: usize) -> Vec<f64> {
        let job = &jobs[index];
        let past: Vec<(usize, i64)> = self.terminated.iter().filter(|t| jobs[t.0].user == job.user).copied().collect();
        let n = past.len();
        // The run time of the k-th last job to terminate; the estimate where there is none, and at
        // most that.
        let last = |k: usize| {
            let run = n.checked_sub(k).map_or(job.estimate, |at| jobs[past[at].0].run);
            run.min(job.estimate) as f64
        };
        let mean_of_last = |k: usize| {
            let k = k.min(n).max(1);
            let sum: f64 = (1..=k).map(last).sum();
            sum / k as f64
        };
        let mean = |of: fn(&JobIn) -> i64| {
            let sum: f64 = past.iter().map(|t| of(&jobs[t.0]) as f64).sum();
            if n == 0 { 0.0 } else { sum / n as f64 }
        };
        let is_gone = |i: usize| self.terminated.iter().any(|t| t.0 == i);
        let present_jobs: Vec<&JobIn> = self
            .arrived
            .iter()
            .filter(|(i, _)| !is_gone(*i) && jobs[*i].user == job.user)
            .map(|(i, _)| &jobs[*i])
            .collect();
        let angle = |period: i64| std::f64::consts::TAU * job.submit.rem_euclid(period) as f64 / period as f64;
        let procs = job.procs as f64;
        vec![
            1.0,
            last(1),
            last(2),
            last(3),
            job.estimate as f64,
            mean_of_last(2),
            mean_of_last(3),
            mean(|j| j.run),
            past.last().map_or(0.0, |t| (job.submit - t.1) as f64),
            procs,
            if n == 0 { 0.0 } else { procs / mean(|j| j.procs) },
            present_jobs.len() as f64,
            present_jobs.iter().map(|j| j.procs).sum::<i64>() as f64,
            libm::cos(angle(86_400)),
            libm::sin(angle(86_400)),
            libm::cos(angle(604_800)),
            libm::sin(angle(604_800)),
        ]
    }
}

/// Returns the features, and behind them the products of every two but the constant, squares
/// included.
fn with_products(features: &[f64]) -> Vec<f64> {
    let mut terms = features.to_vec();
    for i in 1..features.len() {
        for j in i..features.len() {
            terms.push(features[i] * features[j]);
        }
    }
    terms
}

impl Matters {
    fn job_weight(self, procs: f64, run: f64) -> f64 {
        let (p, r) = (procs.max(1.0), run.max(1.0));
        let weight = match self {
            Matters::Even => 1.0,
            Matters::Area => 1.0 + libm::log(p * r),
            Matters::Small => 11.0 - libm::log(p * r),
            Matters::Long => 5.0 + libm::log(r / p),
            Matters::Wide => 5.0 + libm::log(p / r),
        };
        weight.max(0.0)
    }
}
