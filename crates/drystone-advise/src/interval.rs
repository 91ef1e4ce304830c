//! Certainty of a change: periods left out one by one, and phases with them.

use crate::figure::GoalFigure;
use crate::study::PeriodFigures;
use drystone::metrics::interval::{Sureness, jackknife};

/// 95 % intervals of the results of `measures` on the figures before and after, relative changes,
/// in the order of `periods`; `None` for undetermined ones. Both sides are means over their phases,
/// which add to the doubt.
pub(crate) fn intervals(
    (old, new): (&[&PeriodFigures], &[&PeriodFigures]),
    figures: &[GoalFigure],
    periods: &[usize],
    measures: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) -> Vec<Option<(f64, f64)>> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let mut one = Vec::new();
    let mut mean = |sums: &[&PeriodFigures], kept: &[usize], left: Option<usize>| {
        let mut mean = vec![0.0; figures.len()];
        let used: Vec<&&PeriodFigures> =
            sums.iter().enumerate().filter(|(at, _)| Some(*at) != left).map(|(_, s)| s).collect();
        for sums in &used {
            sums.values(figures, kept, &mut one);
            mean.iter_mut().zip(&one).for_each(|(mean, value)| *mean += value / used.len() as f64);
        }
        mean
    };
    let logarithms =
        |before: &[f64], after: &[f64]| -> Vec<f64> { measures(before, after).into_iter().map(f64::ln_1p).collect() };
    let (before, after) = (mean(old, periods, None), mean(new, periods, None));
    let whole = logarithms(&before, &after);
    let mut extra = vec![0.0; whole.len()];
    let mut add = |others: Vec<Vec<f64>>| {
        let phases = others.len() as f64;
        for (at, extra) in extra.iter_mut().enumerate() {
            let mean = others.iter().map(|other| other[at]).sum::<f64>() / phases;
            let spread: f64 = others.iter().map(|other| (other[at] - mean).powi(2)).sum();
            *extra += (phases - 1.0) / phases * spread;
        }
    };
    if old.len() > 1 {
        add((0..old.len()).map(|phase| logarithms(&mean(old, periods, Some(phase)), &after)).collect());
    }
    if new.len() > 1 {
        add((0..new.len()).map(|phase| logarithms(&before, &mean(new, periods, Some(phase)))).collect());
    }
    let found = jackknife(periods.len(), 0.95, &extra, |left| match left {
        None => whole.clone(),
        Some(left) => {
            let kept: Vec<usize> =
                periods.iter().enumerate().filter(|(at, _)| *at != left).map(|(_, &period)| period).collect();
            logarithms(&mean(old, &kept, None), &mean(new, &kept, None))
        }
    });
    found.into_iter().map(Sureness::interval).collect()
}
