//! Returns from the past alone: waits of similar jobs, similar states, and errors of earlier
//! answers.

use crate::score::{LEVELS, quantile_level};
use crate::survival::{SeenValue, SurvivalCurve};
use drystone_core::model::{Job, JobId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Numbers of a state: queued work ahead, position, free share, size, limit.
pub(crate) const FEATURES: usize = 5;

/// Points answered by plans.
pub(crate) const POINTS: usize = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PastQuestion {
    job: JobId,
    at: Time,
    features: [f64; FEATURES],
    /// Points in ln(seconds + 60); not a number where there was none.
    points: [f64; POINTS],
    fate: PastFate,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum PastFate {
    Waits,
    Started(i64),
    Withdrawn(i64),
}

/// Questions of the past with what came of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Questions {
    list: VecDeque<PastQuestion>,
}

const KEPT: usize = 2000;
const NEAREST_ERRORS: usize = 200;
const NEAREST_STATES: usize = 60;
/// Without so many there is no answer.
const FEWEST: usize = 20;

impl Questions {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn note_question(
        &mut self,
        job: JobId,
        at: Time,
        features: [f64; FEATURES],
        points: [Option<i64>; POINTS],
    ) {
        let points = points.map(|point| point.map_or(f64::NAN, |point| log_seconds(point as f64)));
        self.list.push_back(PastQuestion { job, at, features, points, fate: PastFate::Waits });
        if self.list.len() > KEPT {
            self.list.pop_front();
        }
    }

    pub(crate) fn note_settlement(&mut self, job: JobId, now: Time, has_start: bool) {
        let open = |question: &PastQuestion| question.job == job && matches!(question.fate, PastFate::Waits);
        let Some(place) = self.list.iter().rposition(open) else { return };
        let question = &mut self.list[place];
        let took = (now - question.at).0;
        if has_start && took == 0 {
            self.list.remove(place);
            return;
        }
        question.fate = if has_start { PastFate::Started(took) } else { PastFate::Withdrawn(took) };
    }

    /// A point answer as a distribution: its errors when it was about as long.
    pub(crate) fn conformal_distribution(&self, which: usize, point: i64, now: Time) -> Option<Vec<f64>> {
        let log_point = log_seconds(point as f64);
        let questions = self.list.iter().filter(|question| !question.points[which].is_nan());
        let mut near: Vec<(f64, &PastQuestion)> =
            questions.map(|question| ((question.points[which] - log_point).abs(), question)).collect();
        keep_nearest(&mut near, NEAREST_ERRORS)?;
        let mut values: Vec<SeenValue> = near
            .iter()
            .map(|(_, question)| {
                let (took, is_known) = question.elapsed_wait(now);
                SeenValue { value: log_seconds(took as f64) - question.points[which], known: is_known }
            })
            .collect();
        let curve = SurvivalCurve::from_values(&mut values);
        Some(
            (0..LEVELS)
                .map(|k| (libm::exp(log_point + curve.quantile(quantile_level(k)).unwrap_or(0.0)) - 60.0).max(0.0))
                .collect(),
        )
    }

    /// Returns the outcomes of the most similar states.
    pub(crate) fn neighbour_outcomes(&self, features: &[f64; FEATURES], now: Time) -> Option<Vec<f64>> {
        let scale = self.feature_scales();
        let mut near: Vec<(f64, &PastQuestion)> = self
            .list
            .iter()
            .map(|question| {
                let apart = |i: usize| (question.features[i] - features[i]) * scale[i];
                ((0..FEATURES).map(|i| apart(i) * apart(i)).sum(), question)
            })
            .collect();
        keep_nearest(&mut near, NEAREST_STATES)?;
        let mut values: Vec<SeenValue> = near
            .iter()
            .map(|(_, question)| {
                let (took, is_known) = question.elapsed_wait(now);
                SeenValue { value: took as f64, known: is_known }
            })
            .collect();
        let curve = SurvivalCurve::from_values(&mut values);
        curve.quantile(0.5)?;
        Some((0..LEVELS).map(|k| curve.quantile(quantile_level(k)).unwrap_or(0.0)).collect())
    }

    /// 1 over the standard deviation of each feature.
    fn feature_scales(&self) -> [f64; FEATURES] {
        let n = self.list.len().max(1) as f64;
        std::array::from_fn(|i| {
            let mean = self.list.iter().map(|question| question.features[i]).sum::<f64>() / n;
            let square = self.list.iter().map(|question| (question.features[i] - mean).powi(2)).sum::<f64>() / n;
            if square > 1e-12 { 1.0 / libm::sqrt(square) } else { 0.0 }
        })
    }
}

impl PastQuestion {
    fn elapsed_wait(&self, now: Time) -> (i64, bool) {
        match self.fate {
            PastFate::Started(took) => (took, true),
            PastFate::Withdrawn(took) => (took, false),
            PastFate::Waits => ((now - self.at).0, false),
        }
    }
}

fn log_seconds(seconds: f64) -> f64 {
    libm::log(seconds.max(0.0) + 60.0)
}

/// Leaves the nearest so many, in the order of the questions; `None` where there are too few.
fn keep_nearest(list: &mut Vec<(f64, &PastQuestion)>, most: usize) -> Option<()> {
    if list.len() < FEWEST {
        return None;
    }
    if list.len() > most {
        list.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.job.cmp(&b.1.job)));
        list.truncate(most);
    }
    Some(())
}

/// Waits of similar jobs since the last change, in the manner of QBETS: a class by size and limit;
/// where waits exceed the 95 % quantile again and again, what was before is forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimilarWaits {
    classes: HashMap<(u32, i32), WaitClass>,
}

#[derive(Clone, Debug, Default)]
struct WaitClass {
    waits: VecDeque<i64>,
    exceeded: u32,
}

/// Waits kept of a class, and after a change.
const KEPT_WAITS: usize = 1000;
const KEPT_AFTER_CHANGE: usize = 59;
/// So many in a row above the 95 % quantile are a change.
const CHANGE: u32 = 3;

impl SimilarWaits {
    fn class_key(job: &Job) -> (u32, i32) {
        (job.procs.max(1).ilog2() / 2, libm::round(libm::log2(job.estimate.0.max(60) as f64 / 60.0) / 2.0) as i32)
    }

    pub(crate) fn learn_wait(&mut self, job: &Job, took: i64) {
        let class = self.classes.entry(SimilarWaits::class_key(job)).or_default();
        let bound = sorted_quantile(&class.sorted_waits(), 0.95);
        class.exceeded = if bound.is_some_and(|bound| took as f64 > bound) { class.exceeded + 1 } else { 0 };
        class.waits.push_back(took);
        let most = if class.exceeded >= CHANGE {
            class.exceeded = 0;
            KEPT_AFTER_CHANGE
        } else {
            KEPT_WAITS
        };
        while class.waits.len() > most {
            class.waits.pop_front();
        }
    }

    pub(crate) fn answer_quantiles(&self, job: &Job) -> Option<Vec<f64>> {
        let sorted_waits =
            self.classes.get(&SimilarWaits::class_key(job)).filter(|class| class.waits.len() >= FEWEST)?.sorted_waits();
        (0..LEVELS).map(|k| sorted_quantile(&sorted_waits, quantile_level(k))).collect()
    }
}

impl WaitClass {
    fn sorted_waits(&self) -> Vec<i64> {
        let mut waits: Vec<i64> = self.waits.iter().copied().collect();
        waits.sort_unstable();
        waits
    }
}

fn sorted_quantile(waits: &[i64], level: f64) -> Option<f64> {
    let place = (level * waits.len() as f64) as usize;
    waits.get(place.min(waits.len().saturating_sub(1))).map(|&wait| wait as f64)
}
