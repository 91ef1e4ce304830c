//! Predictors and corrections at their borders, by hand.

use drystone::model::{Job, JobId, Span, Time};
use drystone::parts::predict::{Correction, Expired, Prediction, forecast};

fn job(estimate: i64) -> Job {
    Job { user: 3, ..Job::new(Time(0), 1, Span(estimate)) }
}

/// What is predicted to a job of this estimate after jobs of (estimate, run time).
fn predicted(predictor: &str, history: &[(i64, i64)], estimate: i64) -> Prediction {
    let mut p = forecast(predictor).unwrap_or_else(|e| panic!("{e}")).predictor;
    for (at, &(estimate, run)) in history.iter().enumerate() {
        p.learn(JobId(at as u32), &job(estimate), Span(run), Time(at as i64));
    }
    p.predict(JobId(history.len() as u32), &job(estimate), None)
}

/// What history foretells may be as long as the estimate, not longer: then the estimate is taken, and nothing was learned.
#[test]
fn predictions_above_the_estimate() {
    let history = [(200, 100), (200, 100)];
    for (predictor, estimate, expected) in [
        ("recent(2)", 101, Prediction::learned(Span(100))),
        ("recent(2)", 100, Prediction::learned(Span(100))),
        ("recent(2)", 99, Prediction::given(Span(99))),
        ("recent(2,above=clip)", 99, Prediction::learned(Span(99))),
        ("recent(2,above=clip)", 100, Prediction::learned(Span(100))),
        ("recent(2,above=keep)", 99, Prediction::learned(Span(100))),
    ] {
        assert_eq!(predicted(predictor, &history, estimate), expected, "{predictor}, {estimate}");
    }
}

/// Two jobs of 100 and 40 of an estimated 200: half and a fifth of it, 0.35 on average.
#[test]
fn fallbacks_by_hand() {
    let history = [(200, 100), (200, 40)];
    assert_eq!(predicted("recent(3,fallback=relative)", &history, 1_000), Prediction::given(Span(350)));
    assert_eq!(predicted("recent(3,fallback=estimate)", &history, 1_000), Prediction::given(Span(1_000)));
    assert_eq!(predicted("recent(3,fallback=relative)", &[], 1_000), Prediction::given(Span(1_000)));
    assert_eq!(predicted("recent(2,fallback=relative)", &history, 1_000), Prediction::learned(Span(70)));
    // Who asked for no time at all and took none was right.
    assert_eq!(predicted("recent(3,fallback=relative)", &[(0, 0)], 1_000), Prediction::given(Span(1_000)));
}

/// Who takes no choices gets none, however sensible they look.
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
        assert_eq!(forecast(text).is_ok(), good, "{text}");
    }
}

#[test]
fn windows_of_quantiles() {
    for (text, good) in [
        ("quantile(0.5,size=2,least=2)", true),
        ("quantile(0.5,size=2,least=3)", false),
        ("quantile(0.5,size=3,least=2)", true),
    ] {
        assert_eq!(forecast(text).is_ok(), good, "{text}");
    }
}

/// A correction always gives more time, also where the prediction changed for another reason and lies beyond the step.
#[test]
fn steps_always_go_up() {
    let correct = |prediction, first, limit, corrections| {
        let expired =
            Expired { prediction: Span(prediction), first: Span(first), limit: Span(limit), corrections, late: 0 };
        Correction::Steps.correct(&expired).0
    };
    // The first prediction plus a minute, then plus five, up to the estimate.
    assert_eq!([correct(100, 100, 2_000, 0), correct(160, 100, 2_000, 1), correct(160, 100, 300, 1)], [160, 400, 300]);
    assert_eq!(
        [correct(1_000, 100, 2_000, 0), correct(159, 100, 2_000, 0), correct(160, 100, 2_000, 0)],
        [1_001, 160, 161]
    );
}
