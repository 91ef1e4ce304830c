//! Calibration on line: past answers, held against what came of them, correct the next one.

use crate::draws::{DrawPurpose, Draws};
use crate::pool::{self, EXPERT_NAMES, EXPERTS, ExpertAnswers, PoolWeights};
use crate::sample::StartSample;
use crate::settings::ForecasterSettings;
use crate::survival::{SeenValue, SurvivalCurve, values_of_one};
use drystone_core::model::{JobId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Record of past answers: levels at which starts fell, in the order of the questions.
///
/// A job that still waits, and one that was withdrawn, say that the level is at least what they
/// have reached: without them answers would be optimistic just when load rises. Answers to a burst
/// of jobs of one user are right or wrong together: as lessons on the forecasters of the pool many
/// of them count as two. Levels count in full, since the jobs of bursts are most of those that ask.
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
    record: ExpertRecord,
}

/// Answers of all forecasters of the pool, and what they were worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum ExpertRecord {
    Waits(ExpertAnswers),
    /// The losses, and the level of the start in the futures alone.
    Known([f32; EXPERTS], f64),
    /// It will never be known.
    Lost,
}

/// A burst goes on until no answer was given to its user for so long.
const BURST: Span = Span(60);
/// A burst counts as at most so many answers.
const MOST_OF_BURST: f64 = 2.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum AnswerFate {
    Waits(StartSample),
    Known(SeenValue),
}

/// A correction as of one instant.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LevelCorrection {
    curve: Arc<SurvivalCurve>,
    weights: PoolWeights,
    /// Past answers that it comes from.
    pub answers: usize,
    /// Number of these that are not known yet, or never will be.
    pub censored: usize,
}

impl AnswerCalibration {
    /// An answer was given at `now` for a job of this user: the mixture, made of what all said.
    pub(crate) fn note_question(
        &mut self,
        (job, user): (JobId, i32),
        now: Time,
        (mixed, said): (&StartSample, ExpertAnswers),
        settings: &ForecasterSettings,
    ) {
        self.asked += 1;
        // Jobs without a user are not of one user.
        let before = self.answers.iter().rev().find(|answer| answer.user == user && user >= 0);
        let burst = before.filter(|answer| now - answer.at <= BURST).map_or(self.asked, |answer| answer.burst);
        let (fate, record) = (AnswerFate::Waits(mixed.clone()), ExpertRecord::Waits(said));
        self.answers.push_back(Answered { job, at: now, user, burst, fate, record });
        while self.answers.len() > settings.window {
            self.answers.pop_front();
        }
    }

    /// A job has started. Nothing where no answer waits for that. An answer given at this very
    /// instant had no question left, and is forgotten.
    pub fn note_start(&mut self, job: JobId, now: Time, settings: &ForecasterSettings) {
        let draws = Draws::new(settings.seed, 0x6c65_7665);
        self.answers
            .retain(|answer| answer.job != job || answer.at < now || !matches!(answer.fate, AnswerFate::Waits(_)));
        for answer in self.answers.iter_mut().filter(|answer| answer.job == job) {
            if let AnswerFate::Waits(sample) = &answer.fate {
                let tie = draws.draw_uniform(DrawPurpose::Tie, u64::from(job.0) ^ (answer.at.0 as u64) << 32);
                let took = (now - answer.at).0 as f64;
                let value = sample.level_at(took, tie);
                answer.fate = AnswerFate::Known(SeenValue { value, known: true });
                if let ExpertRecord::Waits(answers) = &answer.record {
                    answer.record = ExpertRecord::Known(answers.compute_losses(took), answers.start_level(took, tie));
                }
            }
        }
    }

    /// A job was withdrawn: its start is later than now, if it ever would have been.
    pub fn note_withdrawal(&mut self, job: JobId, now: Time) {
        for answer in self.answers.iter_mut().filter(|answer| answer.job == job) {
            if let AnswerFate::Waits(sample) = &answer.fate {
                let value = sample.level_at((now - answer.at).0 as f64, 0.5);
                answer.fate = AnswerFate::Known(SeenValue { value, known: false });
                answer.record = ExpertRecord::Lost;
            }
        }
    }

    /// The correction as of now.
    #[must_use]
    pub fn compute_correction(&self, now: Time, settings: &ForecasterSettings) -> LevelCorrection {
        let mut bursts: BTreeMap<u64, f64> = BTreeMap::new();
        for answer in &self.answers {
            *bursts.entry(answer.burst).or_default() += 1.0;
        }
        let weight = |answer: &Answered| bursts.get(&answer.burst).map_or(1.0, |size| (MOST_OF_BURST / size).min(1.0));
        let level = |answer: &Answered| match &answer.fate {
            AnswerFate::Known(value) => *value,
            AnswerFate::Waits(sample) => {
                SeenValue { value: sample.level_at((now - answer.at).0 as f64, 0.5), known: false }
            }
        };
        let mut values: Vec<SeenValue> = Vec::with_capacity(self.answers.len() + settings.pseudo);
        values.extend(self.answers.iter().map(level));
        let known_values = || values.iter().filter(|entry| entry.known);
        let censored_count = values.len() - known_values().count();
        // Neighbours share their surprises: answers of one hour are wrong together.
        let of_one = values_of_one(&known_values().map(|entry| entry.value).collect::<Vec<_>>());
        let pseudo = settings.pseudo as f64;
        let worth = known_values().count() as f64 / of_one + pseudo;
        values.extend((0..settings.pseudo).map(|k| SeenValue { value: (k as f64 + 0.5) / pseudo, known: true }));
        let losses = self.answers.iter().filter_map(|answer| match answer.record {
            ExpertRecord::Known(losses, _) => Some((losses, weight(answer))),
            _ => None,
        });
        let weights = pool::learn_weights(losses, settings.hedge);
        LevelCorrection {
            curve: Arc::new(SurvivalCurve::from_values(&mut values).predictive_curve(worth)),
            weights,
            answers: self.answers.len(),
            censored: censored_count,
        }
    }

    /// Returns the share of the known starts that fell into the central interval of this
    /// probability in the futures alone, before anything was mixed or corrected.
    #[must_use]
    pub fn raw_coverage(&self, central: f64) -> Option<f64> {
        let (low, high) = ((1.0 - central) / 2.0, (1.0 + central) / 2.0);
        let known_levels = self.answers.iter().filter_map(|answer| match answer.record {
            ExpertRecord::Known(_, level) => Some(level),
            _ => None,
        });
        let (mut level_count, mut inside) = (0u32, 0u32);
        for value in known_levels {
            level_count += 1;
            inside += u32::from((low..=high).contains(&value));
        }
        (level_count > 0).then(|| f64::from(inside) / f64::from(level_count))
    }

    /// Questions so far.
    #[must_use]
    pub fn question_count(&self) -> u64 {
        self.asked
    }
}

impl LevelCorrection {
    /// The forecasters whose answers are mixed, each with its weight.
    pub fn forecaster_weights(&self) -> impl Iterator<Item = (&'static str, f64)> {
        EXPERT_NAMES.into_iter().zip(self.weights.forecaster_weights())
    }

    pub(crate) fn weights(&self) -> &PoolWeights {
        &self.weights
    }

    /// Takes the levels of another correction, and keeps its own mixture.
    pub(crate) fn take_levels(&mut self, source: &LevelCorrection) {
        (self.curve, self.answers, self.censored) = (Arc::clone(&source.curve), source.answers, source.censored);
    }

    /// The time at a level, corrected.
    #[must_use]
    pub fn quantile(&self, sample: &StartSample, level: f64) -> f64 {
        sample.quantile(self.curve.unit_quantile(level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(calibration: &mut AnswerCalibration, job: u32, user: i32, at: i64, sample: &StartSample) {
        let answers = ExpertAnswers::from_sample(sample, [None; EXPERTS - 1]);
        calibration.note_question(
            (JobId(job), user),
            Time(at),
            (sample, answers),
            &ForecasterSettings { pseudo: 0, ..ForecasterSettings::default() },
        );
    }

    #[test]
    fn without_a_past_answers_stay_as_they_are() {
        let settings = ForecasterSettings::default();
        let sample = StartSample::new((1..=99).map(|i| Some(i * 100)), i64::MAX);
        let correction = AnswerCalibration::default().compute_correction(Time(0), &settings);
        for level in [0.05, 0.25, 0.5, 0.9] {
            let (raw, result) = (sample.quantile(level), correction.quantile(&sample, level));
            assert!((raw - result).abs() <= 260.0, "{level}: {raw} {result}");
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
            asked(&mut calibration, i, i as i32, at.0, &sample);
            calibration.note_start(JobId(i), Time(at.0 + 5000 + i64::from(i) * 50), &settings);
        }
        let correction = calibration.compute_correction(Time(10_000_000), &settings);
        assert_eq!((correction.answers, correction.censored), (100, 0));
        let median = correction.quantile(&sample, 0.5);
        assert!((median - 7475.0).abs() < 60.0, "{median}");
        assert_eq!(calibration.raw_coverage(0.5), Some(0.51));
    }

    /// 500 jobs of one user, all asked about at once and all far later than said, move the levels
    /// as 500 answers do, and the weights of the pool as two: they are one lesson.
    #[test]
    fn a_burst_counts_in_full_and_teaches_once() {
        let settings = ForecasterSettings::default();
        let sample = StartSample::new((1..=99).map(|i| Some(i * 100)), i64::MAX);
        let early = vec![100.0; crate::score::LEVELS];
        let correction = |jobs: u32, users: Option<u32>| {
            let mut calibration = AnswerCalibration::default();
            for i in 0..jobs {
                let answers = ExpertAnswers::from_sample(&sample, [None, Some(&early), None]);
                let user = users.map_or(-1, |users| (i % users) as i32);
                calibration.note_question((JobId(i), user), Time(0), (&sample, answers), &settings);
                calibration.note_start(JobId(i), Time(9_850), &settings);
            }
            calibration.compute_correction(Time(10_000), &settings)
        };
        let median = |correction: &LevelCorrection| correction.quantile(&sample, 0.5);
        let weight = |correction: &LevelCorrection| correction.weights().forecaster_weights()[2];
        let [burst, two, many] = [(500, 1), (2, 1), (500, 500)].map(|(jobs, users)| correction(jobs, Some(users)));
        assert!((median(&burst) - median(&many)).abs() < 1e-9, "{} {}", median(&burst), median(&many));
        assert!(median(&burst) > median(&two) + 1_000.0 && median(&two) > 5_000.0, "{}", median(&two));
        assert!((weight(&burst) - weight(&two)).abs() < 1e-9, "{} {}", weight(&burst), weight(&two));
        assert!(weight(&burst) > 1.5 * weight(&many), "{} {}", weight(&burst), weight(&many));
        // Users that are not known are not one.
        assert!((weight(&correction(500, None)) - weight(&many)).abs() < 1e-9);
    }

    /// Starts are late or early by tens, as if each hour had its own load. Of the next start nine
    /// in ten lie within the central 90 % of the corrected answer, though only twenty hours are
    /// known: of 20 values that are independent the next lies between the least and the most with
    /// 19/21.
    #[test]
    fn a_few_hours_of_answers_are_no_thousand_answers() {
        let settings = ForecasterSettings { pseudo: 0, ..ForecasterSettings::default() };
        let sample = StartSample::new((1..=999).map(|i| Some(i * 10)), i64::MAX);
        let mut inside = 0;
        for round in 0..400 {
            let draws = Draws::new(3, round);
            let took = |hour: u64| 1 + (draws.draw_uniform(DrawPurpose::Own, hour) * 9_990.0) as i64;
            let mut calibration = AnswerCalibration::default();
            for i in 0..200u32 {
                let at = i64::from(i) * 20_000;
                asked(&mut calibration, i, i as i32, at, &sample);
                calibration.note_start(JobId(i), Time(at + took(u64::from(i / 10))), &settings);
            }
            let correction = calibration.compute_correction(Time(10_000_000), &settings);
            let [low, high] = [0.05, 0.95].map(|level| correction.quantile(&sample, level));
            inside += u32::from((low..=high).contains(&(took(77) as f64)));
        }
        assert!((352..=372).contains(&inside), "{inside} of 400");
    }

    #[test]
    fn a_start_at_the_instant_of_the_question_is_no_answer() {
        let (settings, sample) = (ForecasterSettings::default(), StartSample::new([Some(5)], 100));
        let mut calibration = AnswerCalibration::default();
        asked(&mut calibration, 1, 1, 7, &sample);
        calibration.note_start(JobId(1), Time(7), &settings);
        assert_eq!(calibration.compute_correction(Time(9), &settings).answers, 0);
        asked(&mut calibration, 2, 1, 7, &sample);
        calibration.note_withdrawal(JobId(2), Time(8));
        let correction = calibration.compute_correction(Time(9), &settings);
        assert_eq!((correction.answers, correction.censored), (1, 1));
    }
}
