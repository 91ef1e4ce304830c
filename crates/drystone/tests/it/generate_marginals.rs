//! Do generated jobs follow the distributions of the models? Tests of Kolmogorov–Smirnov and χ² at
//! fixed seeds, each at the significance 0.001, against distribution functions that are not the
//! generator's own (statrs).

use drystone::generate::{Params, WorkloadLength, WorkloadModel, generate_workload};
use drystone::model::{Span, Workload};
use statrs::distribution::{ChiSquared, ContinuousCDF, Gamma};

const SIGNIFICANCE: f64 = 0.001;
/// K such that D > K / √n has this probability, from the limiting distribution: √(−ln(α/2) / 2).
const KOLMOGOROV: f64 = 1.9495;

fn gamma_cdf((shape, scale): (f64, f64), x: f64) -> f64 {
    Gamma::new(shape, 1.0 / scale).expect("parameters of the model").cdf(x)
}

/// Asserts that values are uniform in [0, 1].
fn assert_uniform(label: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let d = values.iter().enumerate().map(|(i, &v)| (v - i as f64 / n).max((i + 1) as f64 / n - v)).fold(0.0, f64::max);
    let critical = KOLMOGOROV / n.sqrt();
    assert!(d < critical, "{label}: D = {d:.5}, critical {critical:.5}");
}

/// Asserts that counts follow probabilities; cells that expect fewer than 10 are put together.
fn assert_chi_square(label: &str, cells: &[(f64, f64)]) {
    let (mut statistic, mut class_count) = (0.0, 0);
    let mut small = (0.0, 0.0);
    for &(count, expected) in cells {
        if expected < 10.0 {
            small = (small.0 + count, small.1 + expected);
        } else {
            statistic += (count - expected).powi(2) / expected;
            class_count += 1;
        }
    }
    if small.1 > 0.0 {
        statistic += (small.0 - small.1).powi(2) / small.1;
        class_count += 1;
    }
    let freedom = f64::from(class_count - 1);
    let critical = ChiSquared::new(freedom).expect("at least two cells").inverse_cdf(1.0 - SIGNIFICANCE);
    assert!(
        statistic < critical,
        "{label}: χ² = {statistic:.1}, critical {critical:.1} at {freedom} degrees of freedom"
    );
}

/// One row of the model's table of sizes: serial, power of two, low, medium, high, weight of the
/// first stage.
struct Sizes(f64, f64, f64, f64, f64, f64);

impl Sizes {
    /// Distribution function of the logarithm of a parallel size.
    fn cdf(&self, u: f64) -> f64 {
        let &Sizes(_, _, low, medium, high, first) = self;
        let part = |from: f64, to: f64| ((u - from) / (to - from)).clamp(0.0, 1.0);
        first * part(low, medium) + (1.0 - first) * part(medium, high)
    }

    /// Probability of a size on a machine of `procs` processors.
    fn probability(&self, size: u32, procs: u32) -> f64 {
        let &Sizes(serial, power_of_two, ..) = self;
        let s = f64::from(size);
        let upper = if size == procs { f64::INFINITY } else { (s + 0.5).log2() };
        let rest = (1.0 - serial - power_of_two) * (self.cdf(upper) - self.cdf((s - 0.5).log2()));
        let whole = size.is_power_of_two().then(|| {
            let k = s.log2();
            let upper = if 2 * size > procs { f64::INFINITY } else { k + 0.5 };
            power_of_two * (self.cdf(upper) - self.cdf(k - 0.5))
        });
        let single = if size == 1 { serial } else { 0.0 };
        single + whole.unwrap_or(0.0) + rest
    }
}

fn check_sizes(label: &str, sizes: &[u32], procs: u32, law: &Sizes) {
    let n = sizes.len() as f64;
    let mut counts = vec![0.0; procs as usize + 1];
    for &size in sizes {
        counts[size as usize] += 1.0;
    }
    let cells: Vec<(f64, f64)> = (1..=procs).map(|s| (counts[s as usize], n * law.probability(s, procs))).collect();
    let total: f64 = cells.iter().map(|c| c.1).sum();
    assert!((total / n - 1.0).abs() < 1e-9, "{label}: the test's own probabilities add up to {}", total / n);
    assert_chi_square(label, &cells);
}

fn sizes_of(workload: &Workload, queue: i32) -> Vec<u32> {
    let jobs = workload.jobs().iter().filter(|j| j.queue == queue);
    jobs.map(|j| j.procs).collect()
}

#[test]
fn typeless_sizes_follow_the_model() {
    for (procs, high) in [(128, 7.0), (256, 8.0), (100, 100_f64.log2())] {
        let law = Sizes(0.244, 0.576, 0.8, high - 2.5, high, 0.86);
        for seed in 1..=3 {
            let params = Params { seed, ..Params::new(procs, 40_000) };
            let workload = generate_workload(&params).expect("valid");
            check_sizes(&format!("{procs} processors, seed {seed}"), &sizes_of(&workload, -1), procs, &law);
        }
    }
}

#[test]
fn serial_and_power_of_two_shares_are_those_of_the_table() {
    let workload = generate_workload(&Params { seed: 4, ..Params::new(128, 50_000) }).expect("valid");
    let n = workload.len() as f64;
    let share = |keep: fn(u32) -> bool| workload.jobs().iter().filter(|j| keep(j.procs)).count() as f64 / n;
    // Serial by the table; of the 0.18 that are not rounded, some are powers of two by chance.
    let law = Sizes(0.244, 0.576, 0.8, 4.5, 7.0, 0.86);
    let powers: f64 = (0..=7).map(|k| law.probability(1 << k, 128)).sum();
    for (what, share, expected) in
        [("serial", share(|p| p == 1), 0.244), ("power of two", share(u32::is_power_of_two), powers)]
    {
        // 3.29 standard errors: 0.001 two-sided.
        let bound = 3.29 * (expected * (1.0 - expected) / n).sqrt();
        assert!((share - expected).abs() < bound, "{what}: {share}, expected {expected} ± {bound}");
    }
    assert!(powers > 0.82);
}

#[test]
fn sizes_with_types_follow_the_model() {
    let params = Params { model: WorkloadModel::Typed, seed: 5, ..Params::new(128, 60_000) };
    let workload = generate_workload(&params).expect("valid");
    let batch = Sizes(0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875);
    check_sizes("batch", &sizes_of(&workload, 1), 128, &batch);
    let interactive = Sizes(0.1541, 0.625, 1.0, 3.0, 5.5, 0.705);
    check_sizes("interactive", &sizes_of(&workload, 0), 128, &interactive);
}

/// First gamma, second gamma, slope and base of the weight of the first.
struct Runs((f64, f64), (f64, f64), f64, f64);

/// Each run time through its distribution function given its size: uniform if run times and their
/// dependence on sizes are those of the model. Whole seconds are spread over the second by a
/// sequence of low discrepancy.
fn run_ranks(workload: &Workload, queue: i32, law: &Runs, longest: f64) -> Vec<f64> {
    let &Runs(first, second, slope, base) = law;
    let limit = 12_f64.min((longest + 1.0).ln());
    workload
        .jobs()
        .iter()
        .zip(workload.truth())
        .filter(|(j, _)| j.queue == queue)
        .enumerate()
        .map(|(i, (job, truth))| {
            let weight = (slope * f64::from(job.procs) + base).clamp(0.0, 1.0);
            let cdf = |x: f64| weight * gamma_cdf(first, x) + (1.0 - weight) * gamma_cdf(second, x);
            let run = truth.run.as_f64();
            let (low, high) = (cdf(run.ln()), cdf((run + 1.0).ln().min(limit)));
            let within = (i as f64 * 0.618_033_988_749_895).fract();
            (low + within * (high - low)) / cdf(limit)
        })
        .collect()
}

#[test]
fn run_times_follow_the_model_given_the_size() {
    let law = Runs((4.2, 0.94), (312.0, 0.03), -0.0054, 0.78);
    for hours in [18, 48] {
        for procs in [128, 1_000] {
            let max_estimate = Span(hours * 3_600);
            let params = Params { seed: 6, max_estimate, ..Params::new(procs, 30_000) };
            let workload = generate_workload(&params).expect("valid");
            let ranks = run_ranks(&workload, -1, &law, max_estimate.as_f64());
            assert_uniform(&format!("{hours} h, {procs} processors"), ranks);
        }
    }
}

#[test]
fn run_times_with_types_follow_the_model() {
    let params =
        Params { model: WorkloadModel::Typed, seed: 7, max_estimate: Span(48 * 3_600), ..Params::new(128, 60_000) };
    let workload = generate_workload(&params).expect("valid");
    let batch = Runs((6.57, 0.823), (639.1, 0.0156), -0.003, 0.6986);
    let interactive = Runs((3.8351, 0.6605), (7.073, 0.6856), -0.0118, 0.9156);
    assert_uniform("batch", run_ranks(&workload, 1, &batch, 172_800.0));
    assert_uniform("interactive", run_ranks(&workload, 0, &interactive, 172_800.0));
}

/// The weights of the 48 half-hours from midnight, mean 1.
fn cycle(gamma: (f64, f64)) -> [f64; 48] {
    let mut weights = [0.0; 48];
    for i in 22..70_usize {
        weights[i % 48] = gamma_cdf(gamma, i as f64 + 0.5) - gamma_cdf(gamma, i as f64 - 0.5);
    }
    let mean = weights.iter().sum::<f64>() / 48.0;
    weights.map(|w| w / mean)
}

#[test]
fn gaps_follow_the_model_when_the_cycle_is_taken_out() {
    for (model, queue, gap, day) in [
        (WorkloadModel::Typeless, -1, (10.2303 * 1.0225, 0.4871), (8.1737, 3.9631)),
        (WorkloadModel::Typed, 1, (6.0415 * 1.0519, 0.8531), (6.1271, 5.2740)),
        (WorkloadModel::Typed, 0, (6.5510 * 0.9797, 0.6621), (8.9186, 3.6680)),
    ] {
        let weights = cycle(day);
        // Points spent up to a second of the log: the weights summed up half-hour by half-hour.
        let points = |t: i64| {
            let rest = t % 86_400;
            let whole: f64 = weights[..(rest / 1_800) as usize].iter().sum();
            (t - rest) as f64 + 1_800.0 * whole + (rest % 1_800) as f64 * weights[(rest / 1_800) as usize]
        };
        let workload = generate_workload(&Params { model, seed: 8, ..Params::new(128, 4_000) }).expect("valid");
        let times = workload.jobs().iter().filter(|j| j.queue == queue);
        let cycle_points: Vec<f64> = times.map(|j| points(j.submit.0)).collect();
        let ranks = cycle_points
            .windows(2)
            // Submits are whole seconds: half a second more on average is what the shortest gaps
            // have lost.
            .map(|pair| gamma_cdf(gap, (pair[1] - pair[0]).max(0.5).ln()) / gamma_cdf(gap, 13.0))
            .collect();
        assert_uniform(&format!("gaps of {model:?}, queue {queue}"), ranks);
    }
}

#[test]
fn arrivals_follow_the_daily_cycle_whatever_the_load() {
    let weights = cycle((8.1737, 3.9631));
    for load in [None, Some(0.4), Some(1.7)] {
        let params = Params { load, seed: 9, ..Params::new(128, 60_000) };
        let workload = generate_workload(&params).expect("valid");
        let (_, last) = workload.submit_range().expect("jobs");
        let days = (last.0 / 86_400) as usize;
        let mut counts = vec![[0.0; 24]; days];
        for job in workload.jobs() {
            let day = (job.submit.0 / 86_400) as usize;
            if day < days {
                counts[day][(job.submit.0 % 86_400 / 3_600) as usize] += 1.0;
            }
        }
        let n = days as f64;
        let per_day = counts.iter().flatten().sum::<f64>() / n;
        // Gaps are far from exponential, and counts from Poisson: their variance is estimated from
        // the days.
        let statistic: f64 = (0..24)
            .map(|hour| {
                let expected = per_day * (weights[2 * hour] + weights[2 * hour + 1]) / 48.0;
                let mean = counts.iter().map(|c| c[hour]).sum::<f64>() / n;
                let variance = counts.iter().map(|c| (c[hour] - mean).powi(2)).sum::<f64>() / (n - 1.0);
                (mean - expected).powi(2) / (variance / n)
            })
            .sum();
        let critical = ChiSquared::new(23.0).expect("valid").inverse_cdf(1.0 - SIGNIFICANCE);
        assert!(statistic < critical, "load {load:?}: {statistic:.1}, critical {critical:.1}");
    }
}

#[test]
fn estimates_are_as_popular_as_the_model_says() {
    // Numbers of distinct estimates from the table of the paper; at 250 jobs between 200 → 20 and
    // 1,000 → 35.
    for (jobs, distinct) in [(20, 10), (200, 20), (250, 21), (1_000, 35), (10_000, 90), (70_000, 340)] {
        let params = Params { seed: 10, ..Params::new(128, jobs) };
        let workload = generate_workload(&params).expect("valid");
        let mut counts = std::collections::BTreeMap::new();
        for job in workload.jobs() {
            *counts.entry(job.estimate.0).or_insert(0_u32) += 1;
        }
        let mut popularity: Vec<(u32, i64)> = counts.into_iter().map(|(v, c)| (c, v)).collect();
        popularity.sort_unstable_by(|a, b| b.cmp(a));
        let count = popularity.len();
        assert!(
            count.abs_diff(distinct) <= 1 + distinct / 50,
            "{jobs} jobs: {count} distinct estimates, expected {distinct}"
        );
        if jobs < 10_000 {
            continue;
        }
        let share = |rank: usize| 100.0 * f64::from(popularity[rank - 1].0) / f64::from(jobs);
        for rank in 2..=20 {
            let expected = 14.0491 * (-0.177531 * rank as f64).exp() + 0.462513;
            assert!(
                (share(rank) - expected).abs() < 0.1,
                "{jobs} jobs, rank {rank}: {} %, expected {expected}",
                share(rank)
            );
        }
        let head: f64 = (1..=20).map(share).sum();
        assert!((head - 89.0).abs() < 0.1, "{jobs} jobs: the first 20 take {head} %");
        assert_eq!(popularity[0].1, 18 * 3_600, "the largest is the most popular");
        let head: Vec<i64> = popularity[..20].iter().map(|r| r.1 / 60).collect();
        for minutes in [5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1_080] {
            assert!(head.contains(&minutes), "{minutes} min is not among the first 20");
        }
    }
}

#[test]
fn a_span_is_filled_with_the_target_load() {
    let span = Span(100 * 86_400);
    for load in [None, Some(0.5), Some(1.2)] {
        let params = Params { length: WorkloadLength::Span(span), load, seed: 11, ..Params::new(64, 1) };
        let workload = generate_workload(&params).expect("valid");
        let (first, last) = workload.submit_range().expect("jobs");
        let fraction = (last - first).as_f64() / span.as_f64();
        // With a load the last job may overshoot by its own work; without, the last gap is open.
        assert!((0.97..=1.03).contains(&fraction), "load {load:?}: {fraction} of the span");
        if let Some(load) = load {
            assert!((workload.offered_load().expect("load") / load - 1.0).abs() < 1e-6);
        }
    }
}
