//! Random inputs: workloads, and predictors with the product's names for them.
#![allow(dead_code, reason = "every test file uses its own part")]

use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone_reference::predict::{
    Matters, NaiveAbove, NaiveForecast, NaiveGrowth, NaiveLearned, NaiveLearnerPredictor, NaiveMetric,
    NaivePropagation, NaiveRecent, NaiveWindow,
};
use proptest::prelude::*;

/// Random workloads on a machine of 16: crowds at one instant, full width, no run time, runs beyond
/// estimates if asked for, sometimes a queue of hundreds, so that every level of the product's
/// search trees is used.
pub(crate) fn workloads(overruns: bool, shortest: i64) -> impl Strategy<Value = Workload> {
    let size = prop_oneof![3 => 1u32..=4, 2 => 1u32..=16, 1 => Just(16u32)];
    let time = prop_oneof![2 => 0i64..30, 1 => 0i64..300, 1 => Just(20i64)];
    let job = (prop_oneof![Just(0i64), 0i64..40], size, time.clone(), time, 0i32..4);
    let jobs = prop_oneof![3 => prop::collection::vec(job.clone(), 1..40), 1 => prop::collection::vec(job, 100..400)];
    jobs.prop_map(move |jobs| {
        let (mut list, mut truth, mut now) = (Vec::new(), Vec::new(), 0);
        for (i, (gap, procs, estimate, run, user)) in jobs.into_iter().enumerate() {
            now += gap;
            let estimate = estimate.max(shortest);
            let run = if overruns { run } else { run.min(estimate) };
            list.push(Job::new(Time(now), procs, Span(estimate)).with_user(user));
            truth.push(Truth { run: Span(run.max(shortest)), number: i as i64 + 1, status: LogStatus::Unknown });
        }
        Workload::new(Machine::new(16), list, truth, Provenance::default()).expect("sound")
    })
}

/// Returns the workload with few different estimates and two users, so that windows of similar jobs
/// fill.
pub(crate) fn with_few_estimates(w: Workload) -> Workload {
    let (machine, mut jobs, truth, provenance) = w.into_parts();
    for job in &mut jobs {
        job.estimate = Span(20 + job.estimate.0 % 3 * 40);
        job.user %= 2;
    }
    Workload::new(machine, jobs, truth, provenance).expect("sound")
}

/// Every parameter of section 7.
pub(crate) fn recent() -> impl Strategy<Value = NaiveRecent> {
    let window = prop::sample::select(vec![NaiveWindow::All, NaiveWindow::Immediate, NaiveWindow::Extended]);
    let metric = prop::sample::select(vec![
        NaiveMetric::Average,
        NaiveMetric::Median,
        NaiveMetric::Minimum,
        NaiveMetric::Maximum,
    ]);
    let above = prop::sample::select(vec![NaiveAbove::Discard, NaiveAbove::Clip, NaiveAbove::Keep]);
    let propagation =
        prop::sample::select(vec![NaivePropagation::No, NaivePropagation::Waiting, NaivePropagation::Running]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (prop_oneof![1usize..=4, 1usize..=30], window, metric, above, propagation, flags).prop_map(
        |(size, window, metric, above, propagation, (full, relative, by_termination))| NaiveRecent {
            size,
            window,
            full,
            metric,
            relative,
            by_termination,
            above,
            propagation,
        },
    )
}

/// Returns the predictor in the product's syntax.
pub(crate) fn words(r: &NaiveRecent) -> String {
    let window = match r.window {
        NaiveWindow::All => "all",
        NaiveWindow::Immediate => "immediate",
        NaiveWindow::Extended => "extended",
    };
    let metric = match r.metric {
        NaiveMetric::Average => "average",
        NaiveMetric::Median => "median",
        NaiveMetric::Minimum => "min",
        NaiveMetric::Maximum => "max",
    };
    let above = match r.above {
        NaiveAbove::Discard => "discard",
        NaiveAbove::Clip => "clip",
        NaiveAbove::Keep => "keep",
    };
    let propagate = match r.propagation {
        NaivePropagation::No => "no",
        NaivePropagation::Waiting => "waiting",
        NaivePropagation::Running => "running",
    };
    format!(
        "recent({},window={window},full={},metric={metric},fallback={},recency={},above={above},propagate={propagate})",
        r.size,
        if r.full { "yes" } else { "no" },
        if r.relative { "relative" } else { "estimate" },
        if r.by_termination { "termination" } else { "submission" },
    )
}

/// A loss of the learned model, and the same in words.
pub(crate) fn learned() -> impl Strategy<Value = (String, NaiveLearned)> {
    let matters = prop::sample::select(vec![
        ("even", Matters::Even),
        ("area", Matters::Area),
        ("small", Matters::Small),
        ("long", Matters::Long),
        ("wide", Matters::Wide),
    ]);
    let pace = prop::sample::select(vec![("5000", "4000000000"), ("100", "0"), ("3", "1000")]);
    (any::<bool>(), any::<bool>(), prop::sample::select(vec!["1", "0.01", "7"]), matters, pace).prop_map(
        |(under_squared, over_squared, bias, (name, matters), (rate, l2))| {
            let branch = |is_square| if is_square { "squared" } else { "linear" };
            let (under, over) = (branch(under_squared), branch(over_squared));
            let number = |text: &str| text.parse().expect("a number");
            let words = format!("learn(under={under},over={over},bias={bias},weight={name},rate={rate},l2={l2})");
            let (bias, rate, l2) = (number(bias), number(rate), number(l2));
            (words, NaiveLearned { under_squared, over_squared, bias, matters, rate, l2 })
        },
    )
}

/// A predictor with a factor and a correction, and what the product calls them: values of `predict`
/// and `correct`.
pub(crate) fn forecasts() -> impl Strategy<Value = (String, &'static str, NaiveForecast)> {
    let quantile = |percent, size, least| {
        (
            format!("quantile(0.{percent},size={size},least={least})"),
            NaiveLearnerPredictor::Quantile { percent, size, least },
        )
    };
    let predictors = prop_oneof![
        1 => Just(("estimate".to_string(), NaiveLearnerPredictor::Estimate)),
        1 => Just(("perfect".to_string(), NaiveLearnerPredictor::Actual)),
        1 => Just(("recent(2)".to_string(), NaiveLearnerPredictor::Recent(NaiveRecent::default()))),
        5 => recent().prop_map(|r| (words(&r), NaiveLearnerPredictor::Recent(r))),
        1 => prop::sample::select(vec![quantile(25, 20, 2), quantile(50, 4, 1), quantile(75, 7, 3)]),
        1 => learned().prop_map(|(words, settings)| (words, NaiveLearnerPredictor::Learned(settings))),
    ];
    let corrections = prop::sample::select(vec![
        ("none", None),
        ("estimate", Some(NaiveGrowth::AtOnce)),
        ("gradual", Some(NaiveGrowth::Gradual)),
        ("exponential", Some(NaiveGrowth::Exponential)),
        ("steps", Some(NaiveGrowth::Steps)),
        ("doubling", Some(NaiveGrowth::Doubling)),
    ]);
    let factors = prop_oneof![3 => Just(1i64), 1 => Just(2i64), 1 => Just(3i64)];
    (predictors, corrections, factors).prop_map(|((words, predictor), (correct, correction), factor)| {
        let words = match factor {
            1 => words,
            2 => format!("double({words})"),
            _ => format!("times({factor},{words})"),
        };
        (words, correct, NaiveForecast { predictor, factor, correction })
    })
}
