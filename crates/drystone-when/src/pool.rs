//! Forecasts from the past alone beside the futures, and their mixture: each counts by how well it
//! has done.

use crate::past::{FEATURES, POINTS, Questions};
use crate::sample::StartSample;
use crate::score::{LEVELS, quantile_level};
use drystone_core::engine::Session;
use drystone_core::model::{Job, JobId, Procs, SharedSort, Span, Time};
use drystone_core::parts::Profile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Forecasters whose answers are mixed: the futures first.
pub(crate) const EXPERTS: usize = 4;
pub(crate) const EXPERT_NAMES: [&str; EXPERTS] = ["futures", "plan-errors", "last-two-errors", "neighbours"];
/// Weights without any past.
const PRIOR: [f64; EXPERTS] = [0.85, 0.05, 0.05, 0.05];
/// Speed of learning: a forecaster whose mean CRPS is above the best one's by a share of s has
/// exp(−0.02 s) of its weight left after each answer.
const SPEED: f64 = 0.02;
/// Differences of a few seconds are none, in minutes.
const FINEST: f64 = 0.1;
/// Less weight than this is none.
const LEAST: f64 = 0.01;

/// The statistic that hedges while none has done better than the others.
const FIRST_HEDGE: usize = 2;

/// Weights of the forecasters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct PoolWeights {
    /// Shares that fall with the losses of each, 1 in all.
    learned: [f64; EXPERTS],
    /// Least weight of the best statistic of the past.
    least: f64,
}

impl PoolWeights {
    /// The statistic of the past with the largest weight, of those that these answers are of.
    fn best_statistic(&self, answers: impl Fn(usize) -> bool) -> Option<usize> {
        let larger = |best: Option<usize>, at: usize| match best {
            Some(best) if self.learned[best] >= self.learned[at] => Some(best),
            _ => Some(at),
        };
        [FIRST_HEDGE, 1, 3].into_iter().filter(|&at| answers(at)).fold(None, larger)
    }

    fn missing_weight(&self, statistic: usize) -> f64 {
        (self.least - self.learned[statistic]).max(0.0)
    }

    /// The weights of the forecasters, the hedge counted to its statistic.
    pub(crate) fn forecaster_weights(&self) -> [f64; EXPERTS] {
        let mut weights = self.learned;
        if let Some(best) = self.best_statistic(|_| true) {
            let hedge = self.missing_weight(best);
            weights.iter_mut().for_each(|weight| *weight *= 1.0 - hedge);
            weights[best] += hedge;
        }
        weights
    }

    /// Returns whether anything but the futures counts.
    pub(crate) fn counts_others(&self) -> bool {
        self.forecaster_weights()[1..].iter().any(|&weight| weight >= LEAST)
    }
}

/// The answers of all forecasters to one question, as quantiles.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExpertAnswers {
    quantiles: [Option<Vec<f32>>; EXPERTS],
}

impl ExpertAnswers {
    pub(crate) fn from_sample(sample: &StartSample, lists: [Option<&Vec<f64>>; EXPERTS - 1]) -> ExpertAnswers {
        let [a, b, c] = lists.map(|answer| answer.map(|list| list.iter().map(|&value| value as f32).collect()));
        ExpertAnswers {
            quantiles: [Some((0..LEVELS).map(|k| sample.quantile(quantile_level(k)) as f32).collect()), a, b, c],
        }
    }

    /// CRPS of each, in minutes, once the start took so many seconds. One that had no answer has
    /// the loss of the futures.
    pub(crate) fn compute_losses(&self, took: f64) -> [f32; EXPERTS] {
        let crps = |quantiles: &Vec<f32>| {
            let loss = |(k, &quantile): (usize, &f32)| {
                let late = took - f64::from(quantile);
                if late >= 0.0 { quantile_level(k) * late } else { (quantile_level(k) - 1.0) * late }
            };
            (quantiles.iter().enumerate().map(loss).sum::<f64>() * 2.0 / LEVELS as f64 / 60.0) as f32
        };
        let own = self.quantiles[0].as_ref().map_or(0.0, crps);
        self.quantiles.each_ref().map(|quantiles| quantiles.as_ref().map_or(own, crps))
    }

    /// The level of a start in the futures alone; within ties at the place that `tie` gives.
    pub(crate) fn start_level(&self, took: f64, tie: f64) -> f64 {
        let Some(quantiles) = &self.quantiles[0] else { return tie };
        let below = quantiles.partition_point(|&quantile| f64::from(quantile) < took) as f64;
        let upto = quantiles.partition_point(|&quantile| f64::from(quantile) <= took) as f64;
        (below + (upto - below) * tie) / quantiles.len().max(1) as f64
    }

    /// The best statistic of the past as far as it is earlier than the futures, with its weight.
    /// Run times end early without notice, but never after the limit.
    fn find_hedge(&self, weights: &PoolWeights) -> Option<(Vec<f32>, f64)> {
        let best = weights.best_statistic(|at| self.quantiles[at].is_some())?;
        let (futures, statistic) = (self.quantiles[0].as_ref()?, self.quantiles[best].as_ref()?);
        let weight = weights.missing_weight(best);
        let earlier = || futures.iter().zip(statistic).map(|(a, b)| a.min(*b)).collect();
        (weight > 0.0).then(|| (earlier(), weight))
    }

    /// The mixture; the futures' own sample where nothing else counts.
    pub(crate) fn mix_sample(&self, sample: &StartSample, weights: &PoolWeights) -> StartSample {
        let mut own = weights.learned;
        for (weight, quantiles) in own.iter_mut().zip(&self.quantiles) {
            if quantiles.is_none() || *weight < LEAST {
                *weight = 0.0;
            }
        }
        let hedge = self.find_hedge(weights);
        let hedge_weight = hedge.as_ref().map_or(0.0, |hedge| hedge.1);
        own.iter_mut().for_each(|weight| *weight *= 1.0 - hedge_weight);
        let total_weight: f64 = own.iter().sum::<f64>() + hedge_weight;
        if sample.values().is_empty() || total_weight <= own[0] {
            return sample.clone();
        }
        let futures = sample.values().iter().map(|&value| (value as f64, own[0] / sample.values().len() as f64));
        let mut points: Vec<(f64, f64)> = futures.collect();
        let statistics = self.quantiles.iter().map(Option::as_ref).zip(own).skip(1);
        let hedge = hedge.as_ref().map(|(quantiles, weight)| (Some(quantiles), *weight));
        for (quantiles, weight) in statistics.chain(hedge) {
            let new_points = quantiles.into_iter().flatten().map(|&value| (f64::from(value), weight / LEVELS as f64));
            points.extend(new_points.filter(|point| point.1 > 0.0));
        }
        points.sort_shared_by(|a, b| a.0.total_cmp(&b.0));
        // Each point stands for the middle of its weight.
        let mut sum = 0.0;
        for point in &mut points {
            let weight = point.1 / total_weight;
            point.1 = sum + weight / 2.0;
            sum += weight;
        }
        sample.with_values((1..=LEVELS).map(|i| {
            let target_level = i as f64 / (LEVELS + 1) as f64;
            let after = points.partition_point(|point| point.1 < target_level).min(points.len() - 1);
            let (to, from) = (points[after], points[after.saturating_sub(1)]);
            let way = if to.1 > from.1 { ((target_level - from.1) / (to.1 - from.1)).clamp(0.0, 1.0) } else { 1.0 };
            (from.0 + (to.0 - from.0) * way).round() as i64
        }))
    }
}

/// Weights from past losses of all forecasters, each answer with its own weight: the exponentially
/// weighted average forecaster (Vovk 1990), by losses relative to the least. The best statistic of
/// the past has the weight `least` at least.
pub(crate) fn learn_weights(losses: impl Iterator<Item = ([f32; EXPERTS], f64)>, least: f64) -> PoolWeights {
    let (mut sums, mut answers) = ([0.0; EXPERTS], 0.0);
    for (losses, weight) in losses {
        answers += weight;
        sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += weight * f64::from(loss));
    }
    let lowest = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let worse = |sum: f64| if answers > 0.0 { (sum - lowest) / (lowest + FINEST * answers) } else { 0.0 };
    let mut raw_weights = PRIOR;
    raw_weights.iter_mut().zip(sums).for_each(|(weight, sum)| *weight *= libm::exp(-SPEED * answers * worse(sum)));
    let weight_sum: f64 = raw_weights.iter().sum();
    PoolWeights { learned: raw_weights.map(|weight| weight / weight_sum), least }
}

/// Statistics of one question: points and distributions from the past alone.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PastStatistics {
    pub(crate) features: [f64; FEATURES],
    /// The start in a plan of limits.
    pub(crate) plan: Option<i64>,
    /// The start if jobs ran as long as their users' last two.
    pub(crate) last: Option<i64>,
    pub(crate) plan_errors: Option<Vec<f64>>,
    pub(crate) last_errors: Option<Vec<f64>>,
    pub(crate) near: Option<Vec<f64>>,
}

impl PastStatistics {
    pub(crate) fn from_questions(
        questions: &Questions,
        features: [f64; FEATURES],
        points: [Option<i64>; POINTS],
        now: Time,
    ) -> PastStatistics {
        let errors = |which: usize| points[which].and_then(|point| questions.conformal_distribution(which, point, now));
        PastStatistics {
            features,
            plan: points[0],
            last: points[1],
            plan_errors: errors(0),
            last_errors: errors(1),
            near: questions.neighbour_outcomes(&features, now),
        }
    }

    pub(crate) fn expert_answers(&self, sample: &StartSample) -> ExpertAnswers {
        ExpertAnswers::from_sample(sample, [self.plan_errors.as_ref(), self.last_errors.as_ref(), self.near.as_ref()])
    }
}

/// The starts of these jobs in a plan that gives each waiting job, in the order of the queue, the
/// first place that is free for all of its limit.
pub(crate) fn planned_starts(session: &Session, jobs: &[JobId], profile: &mut Profile) -> Vec<Option<i64>> {
    let view = session.view();
    let now = view.current_time();
    let mut ends: Vec<(Time, Procs)> = view
        .running_jobs()
        .iter()
        .map(|run| {
            let end = view.segment_start(run.id) + view.job(run.id).estimate;
            (end.max(now + Span(1)), run.procs)
        })
        .collect();
    ends.sort_unstable();
    profile.reset_to_running(now, session.free_processors(), ends.into_iter());
    let mut open: BTreeMap<JobId, Option<i64>> = jobs.iter().map(|&job| (job, None)).collect();
    let mut open_count = open.len();
    for waiting in view.waiting_jobs() {
        if open_count == 0 {
            break;
        }
        let job = view.job(waiting);
        let start = profile.place_job(job.procs, job.estimate.max(Span(1)), now);
        if let Some(entry) = open.get_mut(&waiting) {
            *entry = start.map(|start| (start - now).0);
            open_count -= 1;
        }
    }
    jobs.iter().map(|job| open.get(job).copied().flatten()).collect()
}

/// Numbers that tell the states of these jobs apart: queued work ahead, position, free share, size,
/// limit.
pub(crate) fn state_features(session: &Session, jobs: &[JobId]) -> Vec<[f64; FEATURES]> {
    let view = session.view();
    let machine = f64::from(view.machine().procs);
    let free = f64::from(session.free_processors()) / machine;
    let own = |job: JobId| {
        let known_job = view.is_known(job).then(|| view.job(job));
        let log = |of: &dyn Fn(&Job) -> f64| known_job.map_or(0.0, |job| libm::log(of(job).max(1.0)));
        [0.0, 0.0, free, log(&|job| f64::from(job.procs)), log(&|job| job.estimate.as_f64())]
    };
    let mut features_by_job: BTreeMap<JobId, [f64; FEATURES]> = jobs.iter().map(|&job| (job, own(job))).collect();
    let (mut work, mut before) = (0.0, 0.0);
    for waiting in view.waiting_jobs() {
        let job = view.job(waiting);
        if let Some(features) = features_by_job.get_mut(&waiting) {
            (features[0], features[1]) = (libm::log1p(work / machine / 60.0), libm::log1p(before));
        }
        work += f64::from(job.procs) * job.estimate.as_f64();
        before += 1.0;
    }
    jobs.iter().map(|job| features_by_job.get(job).copied().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(middle: i64) -> StartSample {
        StartSample::new((1..=100).map(|i| Some(middle * (50 + i) / 100)), i64::MAX)
    }

    fn list(middle: f64) -> Vec<f64> {
        (0..LEVELS).map(|k| middle * (0.5 + quantile_level(k))).collect()
    }

    #[test]
    fn without_a_past_the_futures_count_for_most() {
        let PoolWeights { learned, .. } = learn_weights(std::iter::empty(), 0.0);
        assert!((learned[0] - 0.85).abs() < 1e-12 && (learned[3] - 0.05).abs() < 1e-12, "{learned:?}");
    }

    /// With no past, prior and hedge of last-two-errors are the least weight; where a statistic has
    /// earned as much, nothing is added.
    #[test]
    fn the_best_statistic_has_a_least_weight() {
        let default_weights = learn_weights(std::iter::empty(), 0.25);
        let best = default_weights.best_statistic(|_| true).expect("some");
        assert_eq!(EXPERT_NAMES[best], "last-two-errors");
        assert!(
            (default_weights.learned[best] + default_weights.missing_weight(best) - 0.25).abs() < 1e-12,
            "{default_weights:?}"
        );
        // The others keep four fifths: 0.85, 0.05, 0.05 of the prior, and 0.05 of its own.
        for (weight, expected) in default_weights.forecaster_weights().into_iter().zip([0.68, 0.04, 0.24, 0.04]) {
            assert!((weight - expected).abs() < 1e-12, "{:?}", default_weights.forecaster_weights());
        }
        assert!(
            default_weights.counts_others()
                && !PoolWeights { learned: [1.0, 0.0, 0.0, 0.0], least: 0.0 }.counts_others()
        );
        let weights = learn_weights((0..200).map(|_| ([50.0, 50.0, 50.0, 20.0], 1.0)), 0.25);
        assert_eq!(weights.best_statistic(|_| true), Some(3));
        assert!(weights.missing_weight(3).abs() < 1e-12, "{weights:?}");
        // One without an answer cannot hedge.
        assert_eq!(default_weights.best_statistic(|at| at == 3), Some(3));
        assert_eq!(default_weights.best_statistic(|_| false), None);
    }

    /// The futures say 600 to 1,500, the other 50 to 150 or 50,000 to 150,000: what is earlier
    /// takes a quarter of the mixture, what is later nothing.
    #[test]
    fn the_hedge_counts_as_far_as_it_is_earlier() {
        let sample = around(1_000);
        let weights = PoolWeights { learned: [1.0, 0.0, 0.0, 0.0], least: 0.25 };
        let (early, late) = (list(100.0), list(100_000.0));
        let answers = ExpertAnswers::from_sample(&sample, [None, Some(&early), None]);
        let below = answers.mix_sample(&sample, &weights).values().iter().filter(|&&value| value <= 150).count();
        assert!((24..=26).contains(&below), "{below}");
        let answers = ExpertAnswers::from_sample(&sample, [None, Some(&late), None]);
        let mixture = answers.mix_sample(&sample, &weights);
        for (mix_value, alone) in mixture.values().iter().zip(sample.values()) {
            assert!((mix_value - alone).abs() <= 10, "{mix_value} {alone}");
        }
        // Quantile by quantile: the half that is earlier counts, the other half does not.
        let step_levels: Vec<f64> = (0..LEVELS).map(|k| if k < LEVELS / 2 { 100.0 } else { 50_000.0 }).collect();
        let answers = ExpertAnswers::from_sample(&sample, [None, Some(&step_levels), None]);
        let values = answers.mix_sample(&sample, &weights);
        let below = values.values().iter().filter(|&&value| value <= 100).count();
        assert!((12..=13).contains(&below) && values.values().last() <= Some(&1_510), "{below}");
    }

    /// By hand: 100 answers with losses of 10 and 20.1: worse by the least and 0.1 min, so
    /// that exp(−0.02 · 100) of the prior weight is left.
    #[test]
    fn weights_fall_with_what_a_forecaster_has_lost() {
        let PoolWeights { learned, .. } = learn_weights((0..100).map(|_| ([10.0, 20.1, 10.0, 1e6], 1.0)), 0.0);
        assert!((learned[1] / learned[2] - (-2.0f64).exp()).abs() < 1e-6, "{learned:?}");
        assert!((learned[0] / learned[2] - 17.0).abs() < 1e-9 && learned[3] < 1e-9, "{learned:?}");
        // Where the futures are far off, another takes over.
        let weights = learn_weights((0..200).map(|_| ([50.0, 20.0, 50.0, 50.0], 1.0)), 0.0);
        assert!(weights.learned[1] > 0.9, "{weights:?}");
    }

    #[test]
    fn a_mixture_lies_between_and_has_the_share_of_each() {
        let sample = around(1_000);
        let far = list(100_000.0);
        let answers = ExpertAnswers::from_sample(&sample, [Some(&far), None, None]);
        let weights = |shares| PoolWeights { learned: shares, least: 0.0 };
        // Nothing else counts: the very sample.
        assert_eq!(answers.mix_sample(&sample, &weights([0.995, 0.005, 0.0, 0.0])), sample);
        // What has no answer has no weight.
        assert_eq!(answers.mix_sample(&sample, &weights([0.5, 0.0, 0.0, 0.5])), sample);
        let mixture = answers.mix_sample(&sample, &weights([0.75, 0.25, 0.0, 0.0]));
        let near = mixture.values().iter().filter(|&&value| value <= 1_500).count();
        assert!((74..=76).contains(&near), "{near}");
        assert!(mixture.values().is_sorted() && mixture.values().last() > Some(&140_000));
    }

    #[test]
    fn losses_are_crps_in_minutes() {
        let sample = StartSample::new([Some(600); 100], i64::MAX);
        let answers = ExpertAnswers::from_sample(&sample, [Some(&vec![0.0; LEVELS]), None, None]);
        let losses = answers.compute_losses(1_200.0);
        assert!((losses[1] - 20.0).abs() < 1e-3 && losses[2] == losses[0], "{losses:?}");
        assert!((losses[0] - 10.0).abs() < 0.2, "{losses:?}");
    }
}
