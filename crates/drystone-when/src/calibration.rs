//! Calibration on line: past answers, held against what came of them, correct the next one.

use crate::draws::{DrawPurpose, Draws};
use crate::sample::StartSample;
use crate::settings::ForecasterSettings;
use crate::survival::{SeenValue, SurvivalCurve};
use drystone_core::model::{JobId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Record of past answers: levels at which starts fell, in the order of the questions.
///
/// A job that still waits, and one that was withdrawn, say that the level is at least what they
/// have reached: without them answers would be optimistic just when load rises. Answers to a burst
/// of jobs of one user are right or wrong together: many of them count as a few.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AnswerCalibration {
    answers: VecDeque<Answered>,
    /// Questions so far.
    asked: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Answered {
    job: JobId,
    at: Time,
    user: i32,
    /// Number of the burst of jobs of one user that it belongs to.
    burst: u64,
    fate: AnswerFate,
}

/// A burst goes on until no answer was given to its user for so long.
const BURST: Span = Span(60);
/// A burst counts as at most so many answers.
const MOST_OF_BURST: f64 = 20.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum AnswerFate {
    Waits(StartSample),
    Known(SeenValue),
}

/// A correction as of one instant.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LevelCorrection {
    curve: SurvivalCurve,
    /// Past answers that it comes from.
    pub answers: usize,
    /// Number of these that are not known yet, or never will be.
    pub censored: usize,
}

impl AnswerCalibration {
    /// An answer was given at `now` for a job of this user.
    pub fn asked(&mut self, job: JobId, user: i32, now: Time, sample: &StartSample, settings: &ForecasterSettings) {
        self.asked += 1;
        let before = self.answers.iter().rev().find(|answer| answer.user == user);
        let burst = before.filter(|answer| now - answer.at <= BURST).map_or(self.asked, |answer| answer.burst);
        self.answers.push_back(Answered { job, at: now, user, burst, fate: AnswerFate::Waits(sample.clone()) });
        while self.answers.len() > settings.window {
            self.answers.pop_front();
        }
    }

    /// A job has started. Nothing where no answer waits for that. An answer given at this very
    /// instant had no question left, and is forgotten.
    pub fn started(&mut self, job: JobId, now: Time, settings: &ForecasterSettings) {
        let draws = Draws::new(settings.seed, 0x6c65_7665);
        self.answers
            .retain(|answer| answer.job != job || answer.at < now || !matches!(answer.fate, AnswerFate::Waits(_)));
        for answer in self.answers.iter_mut().filter(|answer| answer.job == job) {
            if let AnswerFate::Waits(sample) = &answer.fate {
                let tie = draws.uniform(DrawPurpose::Tie, u64::from(job.0) ^ (answer.at.0 as u64) << 32);
                let value = sample.level((now - answer.at).0 as f64, tie);
                answer.fate = AnswerFate::Known(SeenValue { value, known: true });
            }
        }
    }

    /// A job was withdrawn: its start is later than now, if it ever would have been.
    pub fn withdrawn(&mut self, job: JobId, now: Time) {
        for answer in self.answers.iter_mut().filter(|answer| answer.job == job) {
            if let AnswerFate::Waits(sample) = &answer.fate {
                let value = sample.level((now - answer.at).0 as f64, 0.5);
                answer.fate = AnswerFate::Known(SeenValue { value, known: false });
            }
        }
    }

    /// The correction as of now.
    #[must_use]
    pub fn correction(&self, now: Time, settings: &ForecasterSettings) -> LevelCorrection {
        let mut bursts: BTreeMap<u64, f64> = BTreeMap::new();
        for answer in &self.answers {
            *bursts.entry(answer.burst).or_default() += 1.0;
        }
        let mut seen: Vec<(SeenValue, f64)> = Vec::with_capacity(self.answers.len() + settings.pseudo);
        for answer in &self.answers {
            let weight = bursts.get(&answer.burst).map_or(1.0, |size| (MOST_OF_BURST / size).min(1.0));
            let one = match &answer.fate {
                AnswerFate::Known(seen) => *seen,
                AnswerFate::Waits(sample) => {
                    SeenValue { value: sample.level((now - answer.at).0 as f64, 0.5), known: false }
                }
            };
            seen.push((one, weight));
        }
        let censored = seen.iter().filter(|seen| !seen.0.known).count();
        let pseudo = settings.pseudo as f64;
        seen.extend((0..settings.pseudo).map(|k| (SeenValue { value: (k as f64 + 0.5) / pseudo, known: true }, 1.0)));
        LevelCorrection { curve: SurvivalCurve::weighted(&mut seen), answers: self.answers.len(), censored }
    }

    /// Returns the share of the known starts that fell into the central interval of this
    /// probability, as the answers were before any correction.
    #[must_use]
    pub fn raw_coverage(&self, central: f64) -> Option<f64> {
        let (low, high) = ((1.0 - central) / 2.0, (1.0 + central) / 2.0);
        let known = self.answers.iter().filter_map(|answer| match &answer.fate {
            AnswerFate::Known(seen) if seen.known => Some(seen.value),
            _ => None,
        });
        let (mut all, mut inside) = (0u32, 0u32);
        for value in known {
            all += 1;
            inside += u32::from((low..=high).contains(&value));
        }
        (all > 0).then(|| f64::from(inside) / f64::from(all))
    }

    /// Questions so far.
    #[must_use]
    pub fn questions(&self) -> u64 {
        self.asked
    }
}

impl LevelCorrection {
    /// The time at a level, corrected.
    #[must_use]
    pub fn quantile(&self, sample: &StartSample, level: f64) -> f64 {
        sample.quantile(self.curve.unit_quantile(level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_past_answers_stay_as_they_are() {
        let settings = ForecasterSettings::default();
        let sample = StartSample::new((1..=99).map(|i| Some(i * 100)), i64::MAX);
        let correction = AnswerCalibration::default().correction(Time(0), &settings);
        for level in [0.05, 0.25, 0.5, 0.9] {
            let (raw, corrected) = (sample.quantile(level), correction.quantile(&sample, level));
            assert!((raw - corrected).abs() <= 260.0, "{level}: {raw} {corrected}");
        }
    }

    #[test]
    fn answers_that_were_too_early_move_the_next_ones() {
        let settings = ForecasterSettings { pseudo: 0, ..ForecasterSettings::default() };
        let sample = StartSample::new((1..=99).map(|i| Some(i * 100)), i64::MAX);
        let mut calibration = AnswerCalibration::default();
        // Every start fell at 0.5 or above.
        for i in 0..100u32 {
            let at = Time(i64::from(i) * 100_000);
            calibration.asked(JobId(i), i as i32, at, &sample, &settings);
            calibration.started(JobId(i), Time(at.0 + 5000 + i64::from(i) * 50), &settings);
        }
        let correction = calibration.correction(Time(10_000_000), &settings);
        assert_eq!((correction.answers, correction.censored), (100, 0));
        let median = correction.quantile(&sample, 0.5);
        assert!((median - 7475.0).abs() < 60.0, "{median}");
        assert_eq!(calibration.raw_coverage(0.5), Some(0.51));
    }

    /// 500 jobs of one user, all asked about at once and all far later than said, are one surprise
    /// and not 500: they weigh as twenty do.
    #[test]
    fn a_burst_is_one_surprise() {
        let settings = ForecasterSettings::default();
        let sample = StartSample::new((1..=99).map(|i| Some(i * 100)), i64::MAX);
        let late = |jobs: u32, users: u32| {
            let mut calibration = AnswerCalibration::default();
            for i in 0..jobs {
                calibration.asked(JobId(i), (i % users) as i32, Time(0), &sample, &settings);
                calibration.started(JobId(i), Time(9_850), &settings);
            }
            calibration.correction(Time(10_000), &settings).quantile(&sample, 0.5)
        };
        assert!((late(500, 1) - late(20, 1)).abs() < 1.0, "{} {}", late(500, 1), late(20, 1));
        assert!(late(500, 500) > late(500, 1) && late(500, 1) > 5_000.0);
    }

    #[test]
    fn a_start_at_the_instant_of_the_question_is_no_answer() {
        let (settings, sample) = (ForecasterSettings::default(), StartSample::new([Some(5)], 100));
        let mut calibration = AnswerCalibration::default();
        calibration.asked(JobId(1), 1, Time(7), &sample, &settings);
        calibration.started(JobId(1), Time(7), &settings);
        assert_eq!(calibration.correction(Time(9), &settings).answers, 0);
        calibration.asked(JobId(2), 1, Time(7), &sample, &settings);
        calibration.withdrawn(JobId(2), Time(8));
        let correction = calibration.correction(Time(9), &settings);
        assert_eq!((correction.answers, correction.censored), (1, 1));
    }
}
