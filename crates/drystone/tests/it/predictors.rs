//! Predictors and corrections at their borders, by hand.

use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{EndedJob, Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::parts::predict::{Correction, Expired, Prediction, parse_forecast};
use drystone::policy::PolicySpec;

fn job(estimate: i64) -> Job {
    Job::new(Time(0), 1, Span(estimate)).with_user(3)
}

/// Returns the prediction for a job of this estimate after jobs of (estimate, run time).
fn predicted(predictor: &str, history: &[(i64, i64)], estimate: i64) -> Prediction {
    let mut p = parse_forecast(predictor).unwrap_or_else(|e| panic!("{e}")).predictor;
    for (at, &(estimate, run)) in history.iter().enumerate() {
        p.learn_from_end(JobId(at as u32), &job(estimate), Span(run), Time(at as i64));
    }
    p.predict(JobId(history.len() as u32), &job(estimate), None)
}

/// A prediction from history may be as long as the estimate, not longer: then the estimate is
/// taken, and nothing was learned.
#[test]
fn predictions_above_the_estimate() {
    let history = [(200, 100), (200, 100)];
    for (predictor, estimate, expected) in [
        ("recent(2)", 101, Prediction::from_learned(Span(100))),
        ("recent(2)", 100, Prediction::from_learned(Span(100))),
        ("recent(2)", 99, Prediction::from_given(Span(99))),
        ("recent(2,above=clip)", 99, Prediction::from_learned(Span(99))),
        ("recent(2,above=clip)", 100, Prediction::from_learned(Span(100))),
        ("recent(2,above=keep)", 99, Prediction::from_learned(Span(100))),
    ] {
        assert_eq!(predicted(predictor, &history, estimate), expected, "{predictor}, {estimate}");
    }
}

/// Two jobs of 100 and 40 of an estimated 200: half and a fifth of it, 0.35 on average.
#[test]
fn fallbacks_by_hand() {
    let history = [(200, 100), (200, 40)];
    assert_eq!(predicted("recent(3,fallback=relative)", &history, 1_000), Prediction::from_given(Span(350)));
    assert_eq!(predicted("recent(3,fallback=estimate)", &history, 1_000), Prediction::from_given(Span(1_000)));
    assert_eq!(predicted("recent(3,fallback=relative)", &[], 1_000), Prediction::from_given(Span(1_000)));
    assert_eq!(predicted("recent(2,fallback=relative)", &history, 1_000), Prediction::from_learned(Span(70)));
    // An estimate of no time at all was right for a job that took none.
    assert_eq!(predicted("recent(3,fallback=relative)", &[(0, 0)], 1_000), Prediction::from_given(Span(1_000)));
}

/// A predictor without choices gets none, however sensible they look.
#[test]
fn some_predictors_take_nothing() {
    for (text, good) in [
        ("estimate", true),
        ("estimate(7)", false),
        ("estimate@tsafrir2007", false),
        ("perfect", true),
        ("perfect(7)", false),
        ("perfect@tsafrir2007", false),
    ] {
        assert_eq!(parse_forecast(text).is_ok(), good, "{text}");
    }
}

#[test]
fn windows_of_quantiles() {
    for (text, good) in [
        ("quantile(0.5,size=2,least=2)", true),
        ("quantile(0.5,size=2,least=3)", false),
        ("quantile(0.5,size=3,least=2)", true),
    ] {
        assert_eq!(parse_forecast(text).is_ok(), good, "{text}");
    }
}

/// From the prediction that the first correction finds, which may be another than that at arrival.
#[test]
fn steps_count_from_what_was_outlived() {
    let correct = |prediction, limit, corrections| {
        let expiry = Expired { prediction: Span(prediction), limit: Span(limit), corrections, late: 0 };
        Correction::Steps.correct_prediction(&expiry).0
    };
    // 100 s plus a minute, then plus five, up to the estimate.
    assert_eq!([correct(100, 2_000, 0), correct(160, 2_000, 1), correct(160, 300, 1)], [160, 400, 300]);
    // After the last of eleven, the estimate.
    assert_eq!([correct(180_100, 500_000, 10), correct(360_100, 500_000, 11)], [360_100, 500_000]);
}

/// Job 2 is predicted to run for 10 s, as job 1 did, and outlives 70, 310, 910, 1,810 and 3,610 s.
/// Job 3 is predicted again, to run for 6,000 s like job 2, before it starts: 1, 5 and 15 minutes
/// more than that are enough for 6,500 s.
#[test]
fn steps_count_from_a_prediction_that_was_made_anew() {
    let jobs = [(0, 10), (15, 6_000), (20, 6_500)];
    let job = |&(submit, _): &(i64, i64)| Job::new(Time(submit), 1, Span(20_000)).with_user(1);
    let truth = |(at, &(_, run)): (usize, &(i64, i64))| Truth {
        run: Span(run),
        number: at as i64 + 1,
        status: LogStatus::Completed,
    };
    let workload = Workload::new(
        Machine::new(1),
        jobs.iter().map(job).collect(),
        jobs.iter().enumerate().map(truth).collect(),
        Provenance::default(),
    )
    .expect("valid");
    let spec: PolicySpec = "easy(predict=recent(1,propagate=waiting),correct=steps)".parse().expect("known");
    let mut corrections = Corrections::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload))
        .run(&mut corrections)
        .expect("runs");
    assert_eq!(corrections.0, [0, 6, 3]);
}

#[derive(Default)]
struct Corrections(Vec<u32>);

impl Observer for Corrections {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.0.push(job_end.outcome.corrections);
    }
}
