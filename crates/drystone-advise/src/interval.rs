//! Certainty of a change: blocks of periods left out one by one, and phases with them.

use crate::figure::GoalFigure;
use crate::study::PeriodFigures;
use drystone::inference::{Estimate, EstimateBasis, LEAST_UNITS, NoEstimate, blocks_of, jackknife_estimates};
use std::ops::Range;

/// Probability that an interval holds the true change.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Estimates of the results of `measures` on the figures before and after, relative changes, over
/// `periods` in the order of time. Both sides are means over their phases, which add to the doubt.
pub(crate) fn estimate_measures(
    (old, new): (&[&PeriodFigures], &[&PeriodFigures]),
    figures: &[GoalFigure],
    periods: &[usize],
    measures: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) -> Vec<Result<Estimate, NoEstimate>> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let mut buffer = Vec::new();
    let mut mean = |sums: &[&PeriodFigures], subset: &[usize], omission: Option<usize>| {
        let mut mean = vec![0.0; figures.len()];
        let kept_sums: Vec<&&PeriodFigures> =
            sums.iter().enumerate().filter(|(at, _)| Some(*at) != omission).map(|(_, s)| s).collect();
        for sums in &kept_sums {
            sums.collect_values(figures, subset, &mut buffer);
            mean.iter_mut().zip(&buffer).for_each(|(mean, value)| *mean += value / kept_sums.len() as f64);
        }
        mean
    };
    let logarithms =
        |before: &[f64], after: &[f64]| -> Vec<f64> { measures(before, after).into_iter().map(f64::ln_1p).collect() };
    let (before, after) = (mean(old, periods, None), mean(new, periods, None));
    let whole = logarithms(&before, &after);
    let mut phases: Vec<Vec<(f64, f64)>> = vec![Vec::new(); whole.len()];
    let mut add = |replicates: Vec<Vec<f64>>| {
        let count = replicates.len() as f64;
        for (at, phases) in phases.iter_mut().enumerate() {
            let mean = replicates.iter().map(|replicate| replicate[at]).sum::<f64>() / count;
            let spread: f64 = replicates.iter().map(|replicate| (replicate[at] - mean).powi(2)).sum();
            phases.push(((count - 1.0) / count * spread, count - 1.0));
        }
    };
    if old.len() > 1 {
        add((0..old.len()).map(|phase| logarithms(&mean(old, periods, Some(phase)), &after)).collect());
    }
    if new.len() > 1 {
        add((0..new.len()).map(|phase| logarithms(&before, &mean(new, periods, Some(phase)))).collect());
    }
    jackknife_estimates(periods.len(), &phases, |omission| match omission {
        None => whole.clone(),
        Some(period) => {
            let kept_periods = all_but(periods, period);
            logarithms(&mean(old, &kept_periods, None), &mean(new, &kept_periods, None))
        }
    })
}

pub(crate) fn all_but(periods: &[usize], block: &Range<usize>) -> Vec<usize> {
    [&periods[..block.start], &periods[block.end..]].concat()
}

/// A figure of which nothing is left: −100 % exactly, where at least four blocks had some.
pub(crate) fn all_gone(
    old: &[&PeriodFigures],
    figures: &[GoalFigure],
    at: usize,
    periods: &[usize],
) -> Result<Estimate, NoEstimate> {
    let blocks = blocks_of(periods.len());
    let mut buffer = Vec::new();
    let mut has_some = |block: &&Range<usize>| {
        old.iter().any(|sums| {
            sums.collect_values(figures, &periods[(*block).clone()], &mut buffer);
            buffer[at] > 0.0
        })
    };
    if blocks.iter().filter(|block| has_some(block)).count() < LEAST_UNITS {
        return Err(NoEstimate::OneBlock);
    }
    let basis = EstimateBasis::Blocks { blocks: blocks.len(), units: periods.len() };
    Ok(Estimate { logarithm: f64::NEG_INFINITY, error: 0.0, freedom: 1.0, basis })
}
