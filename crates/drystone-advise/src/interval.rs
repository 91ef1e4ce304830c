//! Intervals from weeks drawn with replacement, and phases with them.

use crate::figure::Figure;
use crate::study::Sums;
use drystone_evolve::Draw;

/// How often weeks are drawn.
const RESAMPLES: usize = 2_000;

/// 95 % percentile intervals of what `measures` makes of the figures before and after: in each draw
/// as many periods as there are are drawn with replacement, the same for both, and of each side as
/// many phases as there are. `None` with fewer than two periods.
pub(crate) fn intervals(
    (old, new): (&[&Sums], &[&Sums]),
    figures: &[Figure],
    periods: &[usize],
    seed: u64,
    measures: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) -> Option<Vec<(f64, f64)>> {
    if periods.len() < 2 || old.is_empty() || new.is_empty() {
        return None;
    }
    let mut draw = Draw::new(seed, 0xB007);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let (mut drawn, mut one) = (Vec::with_capacity(periods.len()), Vec::new());
    let mut values = |sums: &[&Sums], drawn: &[usize], draw: &mut Draw| {
        let mut mean = vec![0.0; figures.len()];
        for _ in sums {
            draw.pick(sums).values(figures, drawn, &mut one);
            mean.iter_mut().zip(&one).for_each(|(mean, value)| *mean += value / sums.len() as f64);
        }
        mean
    };
    for _ in 0..RESAMPLES {
        drawn.clear();
        drawn.extend(periods.iter().map(|_| *draw.pick(periods)));
        let before = values(old, &drawn, &mut draw);
        let after = values(new, &drawn, &mut draw);
        let changes = measures(&before, &after);
        found.resize(changes.len(), Vec::new());
        found.iter_mut().zip(changes).for_each(|(all, change)| all.push(change));
    }
    let tail = RESAMPLES / 40;
    let interval = |mut all: Vec<f64>| {
        all.sort_unstable_by(f64::total_cmp);
        (all[tail], all[RESAMPLES - 1 - tail])
    };
    Some(found.into_iter().map(interval).collect())
}
