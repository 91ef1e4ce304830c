//! Scores of answers: how far, how wide, how often right.

use crate::draws::{DrawPurpose, Draws};
use serde::{Deserialize, Serialize};

/// Quantiles of an answer, at the levels (k − ½)/100.
pub const LEVELS: usize = 100;

/// The level of the k-th quantile, from 0.
#[must_use]
pub fn quantile_level(k: usize) -> f64 {
    (k as f64 + 0.5) / LEVELS as f64
}

/// The time at a level, linear between these quantiles.
#[must_use]
pub fn at_level(quantiles: &[f64], level: f64) -> f64 {
    let place = (level * LEVELS as f64 - 0.5).clamp(0.0, (LEVELS - 1) as f64);
    let below = place.floor() as usize;
    let above = (below + 1).min(LEVELS - 1);
    quantiles[below] + (quantiles[above] - quantiles[below]) * (place - below as f64)
}

/// Levels whose pinball losses are reported.
pub const PINBALL: [f64; 4] = [0.1, 0.5, 0.9, 0.95];

/// One answer held against what came of it; times in minutes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ScoreMark {
    /// Continuous ranked probability score.
    pub crps: f32,
    /// CRPS of the logarithm of the time plus a minute.
    pub log_crps: f32,
    /// Losses at [`PINBALL`].
    pub pinball: [f32; 4],
    /// Number of quantiles below the start.
    pub below: u8,
    /// Number of quantiles equal to it: where all futures agree, the start lies within ties.
    pub equal: u8,
    /// True for each central interval, of 50 and 90 %, that contains it.
    pub inside: [bool; 2],
    /// True if it started by the 95 % quantile.
    pub by_95: bool,
    /// Widths of these intervals.
    pub width: [f32; 2],
    /// Absolute error of the median.
    pub error: f32,
    /// True if the job started later than the median.
    pub later: bool,
}

impl ScoreMark {
    /// Marks quantiles, in seconds, against the time that the start took.
    #[must_use]
    pub fn from_quantiles(quantiles: &[f64], took: f64) -> ScoreMark {
        let loss = |quantile: f64, level: f64, took: f64| {
            if took >= quantile { level * (took - quantile) } else { (1.0 - level) * (quantile - took) }
        };
        let log = |time: f64| libm::log(time.max(0.0) + 60.0);
        let (log_took, n) = (log(took), LEVELS as f64);
        let mut mark = ScoreMark::default();
        let (mut crps, mut log_crps) = (0.0, 0.0);
        for (k, &quantile) in quantiles.iter().enumerate() {
            crps += loss(quantile, quantile_level(k), took);
            log_crps += loss(log(quantile), quantile_level(k), log_took);
            mark.below += u8::from(quantile < took);
            mark.equal += u8::from(quantile == took);
        }
        (mark.crps, mark.log_crps) = ((2.0 * crps / n / 60.0) as f32, (2.0 * log_crps / n) as f32);
        for (to, level) in mark.pinball.iter_mut().zip(PINBALL) {
            *to = (loss(at_level(quantiles, level), level, took) / 60.0) as f32;
        }
        for (i, (low, high)) in [(0.25, 0.75), (0.05, 0.95)].into_iter().enumerate() {
            let (low, high) = (at_level(quantiles, low), at_level(quantiles, high));
            mark.inside[i] = (low..=high).contains(&took);
            mark.width[i] = ((high - low) / 60.0) as f32;
        }
        mark.by_95 = took <= at_level(quantiles, 0.95);
        let median = at_level(quantiles, 0.5);
        mark.error = ((took - median).abs() / 60.0) as f32;
        mark.later = took > median;
        mark
    }
}

/// Marks, summed up. Times in minutes, shares from 0 to 1.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ForecastScore {
    /// Questions with an answer and an outcome.
    pub questions: u64,
    /// Questions without an answer.
    pub unanswered: u64,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// CRPS of logarithms.
    pub log_crps: f64,
    /// Mean losses at the levels 0.1, 0.5, 0.9 and 0.95.
    pub pinball: [f64; 4],
    /// Shares of the starts within the central intervals of 50 and 90 %.
    pub coverage: [f64; 2],
    /// Share of the starts by the 95 % quantile.
    pub by_95: f64,
    /// Median widths of the central intervals of 50 and 90 %.
    pub width: [f64; 2],
    /// Mean and median absolute error of the median.
    pub error: [f64; 2],
    /// Share of the jobs that started later than the median said.
    pub later: f64,
    /// Mean difference between the share of starts by a quantile and its level.
    pub calibration_error: f64,
    /// Shares of the starts that fell between the quantiles at 0, 10, … 100 %: 0.1 each where
    /// answers are calibrated.
    pub pit: [f64; 10],
}

impl ForecastScore {
    /// The sum of these marks.
    #[must_use]
    pub fn from_marks(marks: &[ScoreMark], misses: u64) -> ForecastScore {
        let n = marks.len() as f64;
        let mut score = ForecastScore { questions: marks.len() as u64, unanswered: misses, ..ForecastScore::default() };
        if marks.is_empty() {
            return score;
        }
        let mean = |of: &dyn Fn(&ScoreMark) -> f64| marks.iter().map(of).sum::<f64>() / n;
        score.crps = mean(&|mark| mark.crps.into());
        score.log_crps = mean(&|mark| mark.log_crps.into());
        for i in 0..PINBALL.len() {
            score.pinball[i] = mean(&|mark| mark.pinball[i].into());
        }
        for i in 0..2 {
            score.coverage[i] = mean(&|mark| f64::from(u8::from(mark.inside[i])));
            score.width[i] = median_value(marks.iter().map(|mark| mark.width[i]).collect());
        }
        score.by_95 = mean(&|mark| f64::from(u8::from(mark.by_95)));
        score.error = [mean(&|mark| mark.error.into()), median_value(marks.iter().map(|mark| mark.error).collect())];
        score.later = mean(&|mark| f64::from(u8::from(mark.later)));
        score.calibration_error = calibration_error(marks);
        for mark in marks {
            // With so many of the quantiles below it, a start lies between (below − ½) % and
            // (below + ½) %; with some equal to it, anywhere among these.
            let (below, equal) = (f64::from(mark.below), f64::from(mark.equal));
            let (from, to) = if mark.equal > 0 { (below, below + equal) } else { (below - 0.5, below + 0.5) };
            let (from, to) = (from.max(0.0), to.min(100.0));
            for bin in 0..10u8 {
                let (low, high) = (f64::from(bin) * 10.0, f64::from(bin) * 10.0 + 10.0);
                let part = (to.min(high) - from.max(low)).max(0.0);
                score.pit[usize::from(bin)] += part / (to - from) / n;
            }
        }
        score
    }
}

/// The mean difference between the share of the starts by each quantile and its level. Within equal
/// quantiles a start counts by share: where all futures agree and are right, no level is missed
/// (the non-randomised probability integral transform; Czado, Gneiting & Held 2009).
fn calibration_error(marks: &[ScoreMark]) -> f64 {
    let (mut whole, mut parts) = ([0u64; LEVELS + 1], [0.0; LEVELS]);
    for mark in marks {
        let (below, equal) = (usize::from(mark.below), usize::from(mark.equal));
        whole[below + equal] += 1;
        for (at, part) in parts[below..below + equal].iter_mut().enumerate() {
            *part += (at as f64 + 0.5) / equal as f64;
        }
    }
    let (mut by, mut error) = (0, 0.0);
    for (k, part) in parts.iter().enumerate() {
        by += whole[k];
        error += ((by as f64 + part) / marks.len() as f64 - quantile_level(k)).abs() / LEVELS as f64;
    }
    error
}

fn median_value(mut values: Vec<f32>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let n = values.len();
    values.sort_unstable_by(f32::total_cmp);
    f64::from(if n % 2 == 1 { values[n / 2] } else { f32::midpoint(values[n / 2 - 1], values[n / 2]) })
}

/// Gain of answers over others on the same questions: 1 − CRPS/CRPS, with an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ForecastSkill {
    /// On all questions.
    pub skill: f64,
    /// 2.5 % of the resampled values are lower.
    pub low: f64,
    /// 2.5 % of them are higher.
    pub high: f64,
}

/// Neighbouring questions depend on each other: so many are drawn as one.
const BLOCK: usize = 50;
const RESAMPLES: u32 = 1000;

/// The 95 % interval of the mean of these losses, in the order of the questions, by a bootstrap
/// over blocks; `None` where there are too few.
pub(crate) fn mean_interval(losses: &[f32], seed: u64) -> Option<[f64; 2]> {
    let blocks: Vec<(f64, f64)> = losses
        .chunks(BLOCK)
        .map(|block| (block.iter().map(|&loss| f64::from(loss)).sum(), block.len() as f64))
        .collect();
    if blocks.len() < 2 {
        return None;
    }
    let draws = Draws::new(seed, 0x006d_6561_6e00);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|resample| {
            let draws = draws.for_sample(resample);
            let place = |i: usize| (draws.draw_uniform(DrawPurpose::Own, i as u64) * blocks.len() as f64) as usize;
            let drawn_blocks = (0..blocks.len()).map(|i| blocks[place(i)]);
            let (sum, n) = drawn_blocks.fold((0.0, 0.0), |(sum, n), block| (sum + block.0, n + block.1));
            sum / n
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[(share * f64::from(RESAMPLES)) as usize];
    Some([at(0.025), at(0.975)])
}

/// Mean losses of both without the block on which `ours` has lost most; `None` where nothing else
/// is left.
pub(crate) fn without_worst_block(own_losses: &[f32], rival_losses: &[f32]) -> Option<[f64; 2]> {
    let sum = |block: &[f32]| block.iter().map(|&loss| f64::from(loss)).sum::<f64>();
    let worst = (0..own_losses.len().div_ceil(BLOCK)).max_by(|&a, &b| {
        let of = |block: usize| sum(&own_losses[block * BLOCK..own_losses.len().min((block + 1) * BLOCK)]);
        of(a).total_cmp(&of(b)).then(b.cmp(&a))
    })?;
    let range = worst * BLOCK..own_losses.len().min((worst + 1) * BLOCK);
    let remaining_count = own_losses.len() - range.len();
    let rest = |list: &[f32]| (sum(&list[..range.start]) + sum(&list[range.end..])) / remaining_count as f64;
    (remaining_count > 0).then(|| [rest(own_losses), rest(rival_losses)])
}

/// The skill of `ours` over `theirs`, both in the order of the questions, by a paired bootstrap
/// over blocks of 50 questions.
#[must_use]
pub fn compute_skill(own_losses: &[f32], rival_losses: &[f32], seed: u64) -> ForecastSkill {
    let sums = |list: &[f32]| -> Vec<f64> {
        list.chunks(BLOCK).map(|block| block.iter().map(|&crps| f64::from(crps)).sum()).collect()
    };
    let (a, b) = (sums(own_losses), sums(rival_losses));
    let of = |a: f64, b: f64| if b > 0.0 { 1.0 - a / b } else { 0.0 };
    let whole = of(a.iter().sum(), b.iter().sum());
    let draws = Draws::new(seed, 0x0073_6b69_6c6c);
    let mut skills: Vec<f64> = (0..RESAMPLES)
        .map(|resample| {
            let draws = draws.for_sample(resample);
            let (mut x, mut y) = (0.0, 0.0);
            for i in 0..a.len() {
                let place = (draws.draw_uniform(DrawPurpose::Own, i as u64) * a.len() as f64) as usize;
                x += a[place];
                y += b[place];
            }
            of(x, y)
        })
        .collect();
    skills.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| skills[((share * skills.len() as f64) as usize).min(skills.len() - 1)];
    ForecastSkill { skill: whole, low: at(0.025), high: at(0.975) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_scored_by_its_error() {
        let mark = ScoreMark::from_quantiles(&[600.0; LEVELS], 1200.0);
        assert!((mark.crps - 10.0).abs() < 1e-4 && (mark.error - 10.0).abs() < 1e-4, "{mark:?}");
        assert_eq!((mark.inside, mark.by_95, mark.below), ([false; 2], false, 100));
        assert!((mark.pinball[2] - 9.0).abs() < 1e-4);
        assert!((mark.log_crps - (1260f64 / 660.0).ln() as f32).abs() < 1e-5);
        let early = ScoreMark::from_quantiles(&[600.0; LEVELS], 300.0);
        assert!((early.crps - 5.0).abs() < 1e-4 && !early.later);
    }

    #[test]
    fn a_uniform_answer_has_the_score_of_the_formula() {
        // CRPS of a uniform distribution on [0, 1] at y is y² − y + 1/3.
        let quantiles: Vec<f64> = (0..LEVELS).map(|k| quantile_level(k) * 6000.0).collect();
        for y in [0.1, 0.5, 0.9] {
            let mark = ScoreMark::from_quantiles(&quantiles, y * 6000.0);
            let exact = 100.0 * (y * y - y + 1.0 / 3.0);
            assert!((f64::from(mark.crps) - exact).abs() < 0.01, "{y}: {} {exact}", mark.crps);
        }
    }

    #[test]
    fn calibrated_answers_have_no_calibration_error() {
        let quantiles: Vec<f64> = (0..LEVELS).map(|k| quantile_level(k) * 6000.0).collect();
        let marks: Vec<ScoreMark> =
            (0..1000).map(|i| ScoreMark::from_quantiles(&quantiles, (f64::from(i) + 0.5) * 6.0)).collect();
        let score = ForecastScore::from_marks(&marks, 0);
        assert!(score.calibration_error < 1e-3, "{}", score.calibration_error);
        assert!(score.pit.iter().all(|share| (share - 0.1).abs() < 2e-3), "{:?}", score.pit);
        assert!((score.coverage[0] - 0.5).abs() < 2e-3 && (score.coverage[1] - 0.9).abs() < 2e-3);
    }

    /// All futures agree, and are right: an answer without any doubt, and without any error.
    #[test]
    fn starts_within_ties_count_by_share() {
        let marks = vec![ScoreMark::from_quantiles(&[600.0; LEVELS], 600.0); 50];
        assert_eq!((marks[0].below, marks[0].equal), (0, 100));
        let score = ForecastScore::from_marks(&marks, 0);
        assert!(score.calibration_error < 1e-9 && score.coverage == [1.0; 2], "{score:?}");
        assert!(score.pit.iter().all(|share| (share - 0.1).abs() < 1e-9), "{:?}", score.pit);
        // All too early: half of the levels are missed on average.
        let late = vec![ScoreMark::from_quantiles(&[600.0; LEVELS], 700.0); 50];
        assert!((ForecastScore::from_marks(&late, 0).calibration_error - 0.5).abs() < 1e-9);
    }

    #[test]
    fn skill_is_paired() {
        let rival_losses: Vec<f32> = (0..1000).map(|i| 1.0 + (i % 97) as f32).collect();
        let own_losses: Vec<f32> = rival_losses.iter().map(|crps| crps * 0.75).collect();
        let skill = compute_skill(&own_losses, &rival_losses, 1);
        // Each block is better by exactly a quarter.
        assert!([skill.skill, skill.low, skill.high].iter().all(|s| (s - 0.25).abs() < 1e-5), "{skill:?}");
    }

    /// By hand: 150 questions in three blocks, of losses 1, 9 and 2; the others lose 4 on all.
    #[test]
    fn the_worst_block_is_left_out() {
        let own_losses: Vec<f32> = (0..150).map(|i| [1.0, 9.0, 2.0][i / 50]).collect();
        assert_eq!(without_worst_block(&own_losses, &[4.0; 150]), Some([1.5, 4.0]));
        assert_eq!(without_worst_block(&own_losses[..50], &[4.0; 50]), None);
        assert_eq!(without_worst_block(&[], &[]), None);
        // Two blocks, the last of one question.
        assert_eq!(without_worst_block(&own_losses[..51], &[4.0; 51]), Some([9.0, 4.0]));
        let interval = mean_interval(&own_losses, 1).expect("three blocks");
        assert!((1.0..4.0).contains(&interval[0]) && (4.0..=9.0).contains(&interval[1]), "{interval:?}");
        assert_eq!((mean_interval(&[3.0; 100], 1), mean_interval(&[3.0; 50], 1)), (Some([3.0, 3.0]), None));
    }
}
