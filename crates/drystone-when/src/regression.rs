//! The answer of futures, moved by everything else that is known: a regression of each quantile,
//! learned online.

use crate::draws::{DrawPurpose, Draws};
use crate::past::FEATURES;
use crate::sample::StartSample;
use crate::score::{LEVELS, quantile_level};
use std::collections::VecDeque;

/// Levels that have a regression of their own.
const KNOTS: [f64; 23] = [
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.95, 0.975, 0.99,
];
/// Other answers: plan, limits, last two, futures without arrivals, neighbours.
const POINTS: usize = 5;
/// One, mean and spread of the sample, other answers, expected work, numbers of the state.
const CLUES: usize = 3 + POINTS + 1 + FEATURES;
/// Outcomes that are kept, and how many of them are learned from again with each new one.
const KEPT: usize = 3000;
const REPLAYS: u64 = 5;
/// First step of each coefficient, in units of the logarithm of a time.
const STEP: f64 = 0.03;

/// Facts at the time of a question.
#[derive(Clone, Debug)]
pub(crate) struct Clues {
    x: [f64; CLUES],
    /// The sample's quantiles, in ln(seconds + 60).
    quantiles: Vec<f64>,
}

impl Clues {
    /// The sample of futures, medians of other answers in seconds, numbers of the state, and the
    /// processor-seconds that are expected before the job.
    pub(crate) fn from_sample(
        sample: &StartSample,
        points: [Option<f64>; POINTS],
        features: &[f64; FEATURES],
        work: f64,
    ) -> Clues {
        let quantiles: Vec<f64> = (0..LEVELS).map(|k| log_seconds(sample.quantile(quantile_level(k)))).collect();
        let n = quantiles.len() as f64;
        let mean = quantiles.iter().sum::<f64>() / n;
        let deviation = libm::sqrt(quantiles.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n);
        let mut x = [0.0; CLUES];
        // About 1 each: the first steps are equally long.
        (x[0], x[1], x[2]) = (1.0, (mean - 8.0) / 2.0, deviation);
        for (to, point) in x[3..].iter_mut().zip(points) {
            *to = point.map_or(0.0, |seconds| log_seconds(seconds) - mean);
        }
        let rest = &mut x[3 + POINTS..];
        rest[0] = log_seconds(work) / 10.0;
        rest[1..].iter_mut().zip(features).for_each(|(to, feature)| *to = feature / 5.0);
        Clues { x, quantiles }
    }

    /// The quantile of the sample at a knot, in logarithms.
    fn quantile_at(&self, level: f64) -> f64 {
        crate::score::at_level(&self.quantiles, level)
    }
}

/// One regression for each knot.
#[derive(Clone, Debug)]
pub(crate) struct Regression {
    coefficients: [[f64; CLUES]; KNOTS.len()],
    /// Sums of squared gradients: steps shrink with them (Adagrad; Duchi, Hazan & Singer 2011).
    squares: [[f64; CLUES]; KNOTS.len()],
    past: VecDeque<(Clues, f64)>,
    learned: u64,
    draws: Draws,
}

impl Regression {
    pub(crate) fn new(seed: u64) -> Regression {
        Regression {
            coefficients: [[0.0; CLUES]; KNOTS.len()],
            squares: [[0.0; CLUES]; KNOTS.len()],
            past: VecDeque::new(),
            learned: 0,
            draws: Draws::new(seed, 0x7265_6772),
        }
    }

    /// Learns from an outcome: the start took so many seconds.
    pub(crate) fn learn_outcome(&mut self, clues: Clues, took: f64) {
        self.descend_step(&clues, log_seconds(took));
        self.past.push_back((clues, log_seconds(took)));
        if self.past.len() > KEPT {
            self.past.pop_front();
        }
        let draws = self.draws.for_sample(self.learned as u32);
        self.learned += 1;
        for replay in 0..REPLAYS {
            let place = (draws.draw_uniform(DrawPurpose::Own, replay) * self.past.len() as f64) as usize;
            let Some((clues, took)) = self.past.get(place).cloned() else { return };
            self.descend_step(&clues, took);
        }
    }

    /// A step down the pinball losses of one outcome.
    fn descend_step(&mut self, clues: &Clues, took: f64) {
        for (knot, &level) in KNOTS.iter().enumerate() {
            let (of, squares) = (&mut self.coefficients[knot], &mut self.squares[knot]);
            let prediction = clues.quantile_at(level) + dot_product(of, &clues.x);
            let slope = if took < prediction { 1.0 - level } else { -level };
            for ((of, square), x) in of.iter_mut().zip(squares).zip(clues.x) {
                let gradient = slope * x;
                *square += gradient * gradient;
                if *square > 0.0 {
                    *of -= STEP * gradient / libm::sqrt(*square);
                }
            }
        }
    }

    /// Quantiles in seconds.
    pub(crate) fn answer_quantiles(&self, clues: &Clues) -> Vec<f64> {
        let moves: Vec<f64> = self.coefficients.iter().map(|of| dot_product(of, &clues.x)).collect();
        let moved_quantile = |k: usize| {
            let target_level = quantile_level(k);
            let after = KNOTS.partition_point(|&knot| knot < target_level);
            let by = match (after.checked_sub(1), KNOTS.get(after)) {
                (Some(before), Some(&next)) => {
                    let way = (target_level - KNOTS[before]) / (next - KNOTS[before]);
                    moves[before] + (moves[after] - moves[before]) * way
                }
                (None, _) => moves[0],
                (_, None) => moves[KNOTS.len() - 1],
            };
            (libm::exp(clues.quantiles[k] + by) - 60.0).max(0.0)
        };
        let mut quantiles: Vec<f64> = (0..LEVELS).map(moved_quantile).collect();
        quantiles.sort_unstable_by(f64::total_cmp);
        quantiles
    }
}

fn log_seconds(seconds: f64) -> f64 {
    libm::log(seconds.max(0.0) + 60.0)
}

fn dot_product(a: &[f64; CLUES], b: &[f64; CLUES]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::at_level;

    fn clues(around: i64) -> Clues {
        let sample = StartSample::new((1..=100).map(|i| Some(around * (50 + i) / 100)), i64::MAX);
        Clues::from_sample(&sample, [Some(around as f64), None, None, None, None], &[1.0; FEATURES], 1e5)
    }

    #[test]
    fn without_a_past_the_sample_stays_as_it_is() {
        let (regression, clues) = (Regression::new(1), clues(10_000));
        for (k, &quantile) in regression.answer_quantiles(&clues).iter().enumerate() {
            assert!((log_seconds(quantile) - clues.quantiles[k]).abs() < 1e-9, "{k}");
        }
    }

    /// Starts that always take twice as long as the middle of the sample: the answer moves there.
    #[test]
    fn what_is_always_late_is_learned() {
        let mut regression = Regression::new(1);
        for at in 0..3_000 {
            let around = 2_000 + at * 7 % 50_000;
            regression.learn_outcome(clues(around), 2.0 * around as f64);
        }
        let answer = regression.answer_quantiles(&clues(20_000));
        let median = at_level(&answer, 0.5);
        assert!((36_000.0..44_000.0).contains(&median), "{median}");
        assert!(answer.is_sorted());
        let (low, high) = (at_level(&answer, 0.05), at_level(&answer, 0.95));
        assert!(high / low < 2.0, "{low} {high}: the sample's own range is threefold");
    }
}
