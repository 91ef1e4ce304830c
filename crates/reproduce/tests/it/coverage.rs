//! Coverage of intervals, on a small scale: the whole table is that of the generator `coverage`.

use drystone::generate::WorkloadModel;
use drystone::inference::{MeanDifference, PeriodSum, positive_mean_interval};
use drystone_reproduce::coverage::{CoverageStudy, measure_coverage};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the fewest of `n` intervals that may hold if each holds with this probability: fewer do
/// so in one of 1,000 rows at most, by the binomial distribution.
fn fewest(n: usize, probability: f64) -> usize {
    // By logarithms: that none of 1,500 holds is less likely than the least number above 0.
    let mut term = n as f64 * (1.0 - probability).ln();
    let mut below = 0.0;
    for k in 0..=n {
        below += term.exp();
        if below > 0.001 {
            return k;
        }
        term += ((n - k) as f64 / (k + 1) as f64 * probability / (1.0 - probability)).ln();
    }
    n
}

/// By hand: of 2 intervals that hold with probability 0.9 none holds in 0.01 of all cases. Of 30
/// with 0.93, at most 22 hold in 0.0008 and at most 23 in 0.0040 of all cases.
#[test]
fn fewest_are_those_of_the_binomial_distribution() {
    assert_eq!((fewest(2, 0.9), fewest(30, 0.93), fewest(0, 0.93)), (0, 23, 0));
}

/// Forty logs of another machine and other arrivals than those that the number of blocks was chosen
/// on.
#[test]
fn intervals_hold_on_small_logs() {
    let study = CoverageStudy {
        procs: 64,
        model: WorkloadModel::Typed,
        loads: vec![0.7],
        weeks: vec![6, 10],
        logs: 40,
        seed: 77_000,
        planners: false,
    };
    let coverage = measure_coverage(&study).expect("simulated");
    assert_eq!(coverage.len(), 2 * 2 * study.list_comparisons().len());
    for cell in &coverage {
        assert!(cell.intervals >= 36 && cell.holding >= fewest(cell.intervals, 0.93), "{cell:?}");
        // Not by being endless.
        assert!(cell.wider < 5.0, "{cell:?}");
        if study.list_comparisons()[cell.comparison].null {
            assert!(cell.logs - cell.decided >= fewest(cell.logs, 0.93), "{cell:?}");
        }
    }
    // The same study gives the same numbers.
    let few = CoverageStudy { logs: 3, ..study };
    assert_eq!(measure_coverage(&few).ok(), measure_coverage(&few).ok());
}

/// Standard normal numbers, by the sum of twelve uniform ones.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.next_u32() as f64 / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

/// Weeks that are no simulation: logarithms follow an autoregression, so that a busy week is
/// followed by another, and means are heavy-tailed. Of 1,500 series the interval holds the true
/// mean, and the true ratio of two that have most of their noise in common, as often as intervals
/// that hold with probability 0.93.
#[test]
fn intervals_hold_on_series_that_depend_on_their_past() {
    let mut rng = ChaCha8Rng::seed_from_u64(4_711);
    for (weeks, dependence, spread) in [(30, 0.0, 0.5), (30, 0.4, 0.5), (60, 0.6, 0.5), (12, 0.3, 0.3), (100, 0.7, 0.7)]
    {
        let (mut means, mut ratios, mut intervals) = (0, 0, 0);
        for _ in 0..1_500 {
            let mut state = normal(&mut rng);
            let mut series = |noise: f64| -> (PeriodSum, PeriodSum) {
                state = dependence * state + (1.0 - dependence * dependence).sqrt() * normal(&mut rng);
                let (common, own) = (spread * state, noise * normal(&mut rng));
                let sum = |x: f64| PeriodSum { sum: 100.0 * x.exp(), count: 100.0 };
                (sum(common), sum(common + own - noise * noise / 2.0 + 0.8_f64.ln()))
            };
            let pairs: Vec<(PeriodSum, PeriodSum)> = (0..weeks).map(|_| series(0.3)).collect();
            let (old, new): (Vec<PeriodSum>, Vec<PeriodSum>) = pairs.into_iter().unzip();
            // The mean of exp(spread · z) is exp(spread² / 2); the ratio of the means is 0.8.
            let truth = (spread * spread / 2.0).exp();
            let holds = |(low, high): (f64, f64), truth: f64| low <= truth && truth <= high;
            means += usize::from(positive_mean_interval(&old, 0.95).is_some_and(|interval| holds(interval, truth)));
            if let Some(interval) = MeanDifference::compare_sums(old, new).change_interval(0.95) {
                intervals += 1;
                ratios += usize::from(holds(interval, -0.2));
            }
        }
        let (mean, ratio) = (means as f64 / 1_500.0, ratios as f64 / intervals as f64);
        println!(
            "{weeks} weeks, dependence {dependence}, spread {spread}: mean {mean:.3}, ratio {ratio:.3} of {intervals}"
        );
        assert!(ratios >= fewest(intervals, 0.93), "{weeks} weeks, dependence {dependence}: {ratio}");
        assert!(means >= fewest(1_500, 0.93), "{weeks} weeks, dependence {dependence}: {mean}");
    }
}
