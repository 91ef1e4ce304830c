//! Values that policy texts accept, at the borders of every range that their parameters name.

use drystone::policy::{PolicySpec, Priorities};

#[test]
fn values_at_their_borders() {
    let classes = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join("/");
    let means = |mean: &str| format!("tss(means={})", vec![mean; 16].join("/"));
    let cases: Vec<(String, bool)> = [
        // Queues: ascending borders above 0, no more than 64 queues in all.
        ("multiqueue(bounds=1/2)", true),
        ("multiqueue(bounds=2/2)", false),
        ("multiqueue(bounds=2/1)", false),
        ("multiqueue(bounds=0/1)", false),
        ("multiqueue(bounds=none)", true),
        ("multiqueue(widths=4/8)", true),
        ("multiqueue(widths=4/4)", false),
        ("multiqueue(batch=1)", true),
        ("multiqueue(batch=0)", false),
        ("multiqueue(delay=0)", true),
        ("multiqueue(delay=-1)", false),
        ("multiqueue(delay=1000000000000)", true),
        ("multiqueue(delay=1000000000001)", false),
        ("multiqueue(delay=1,read=now)", true),
        ("multiqueue(delay=1,hold=yes)", true),
        ("multiqueue(delay=1,read=now,hold=yes)", false),
        ("multiqueue(bounds=auto,queues=1)", true),
        ("multiqueue(bounds=auto,queues=8)", true),
        ("multiqueue(bounds=auto,queues=0)", false),
        ("multiqueue(bounds=auto,queues=9)", false),
        ("multiqueue(bounds=auto,history=10)", true),
        ("multiqueue(bounds=auto,history=9)", false),
        // Suspension: seconds from one to a century, decimals up to a million with six digits.
        ("ss(every=1)", true),
        ("ss(every=0)", false),
        ("ss(every=3162240000)", true),
        ("ss(every=3162240001)", false),
        ("ss(sf=1)", true),
        ("ss(sf=0.999999)", false),
        ("ss(sf=1.000001)", true),
        ("ss(sf=1.0000001)", false),
        ("ss(sf=1000000)", true),
        ("ss(sf=1000000.000000)", true),
        ("ss(sf=1000000.000001)", false),
        ("ss(sf=01000000.000000)", false),
        ("ss(sf=.5)", false),
        ("ss(sf=1e3)", false),
        ("ss(width=1)", true),
        ("ss(width=0)", false),
        ("ss(cap=1)", true),
        ("ss(cap=0)", false),
        ("tss(limit=0.1)", true),
        ("tss(limit=0)", false),
        ("tss(limit=-1)", false),
        ("tss(limit=inf)", false),
        ("tss(limit=nan)", false),
        ("tss(means=1/2/3)", false),
        // Slack factors.
        ("slack(sf=0)", true),
        ("slack(sf=-0.5)", false),
        ("slack(sf=inf)", false),
        ("slack(sf=nan)", false),
        // Objectives: up to eight measures, none of them twice; lengths of time from 0 on, windows
        // longer.
        ("goal(objective=lexical(maxw>avgw>avgx>areaw>unused>tw>late(1)>late(2)))", true),
        ("goal(objective=lexical(maxw>avgw>avgx>areaw>unused>tw>late(1)>late(2)>late(3)))", false),
        ("goal(objective=lexical(avgw>avgw))", false),
        ("goal(objective=lexical(fair(1)>avgw))", true),
        ("goal(objective=lexical(fair(0)>avgw))", false),
        ("goal(objective=lexical(fair(1)>fair(2)))", false),
        ("goal(objective=lexical(late(0)>avgw))", true),
        ("goal(objective=lexical(avgw@tsafrir2007>maxw))", false),
    ]
    .into_iter()
    .map(|(text, good)| (text.to_string(), good))
    .chain([
        // With four queues by run time, fifteen borders of widths make 64 of them.
        (format!("multiqueue(widths={})", classes(15)), true),
        (format!("multiqueue(widths={})", classes(16)), false),
        (format!("multiqueue(bounds={})", classes(63)), true),
        (format!("multiqueue(bounds={})", classes(64)), false),
        (format!("multiqueue(bounds=auto,widths={})", classes(7)), true),
        (format!("multiqueue(bounds=auto,widths={})", classes(8)), false),
        (means("0"), true),
        (means("1.5"), true),
        (means("-1"), false),
        (means("nan"), false),
        (means("inf"), false),
    ])
    .collect();
    for (text, good) in cases {
        let result = text.parse::<PolicySpec>();
        assert_eq!(result.is_ok(), good, "{text}: {:?}", result.err().map(|e| e.to_string()));
    }
}

/// A short name stands for more in the variant of a study that had more choices of its own, and in
/// that one only.
#[test]
fn short_names_in_variants() {
    for (short, long) in [
        (
            "easy++@gaussier2015",
            "easy@gaussier2015(backfill=sjf,predict=recent(2,recency=termination,above=clip),correct=steps,arrive=always)",
        ),
        ("easy+@gaussier2015", "easy@gaussier2015(predict=recent(2,recency=termination,above=clip),correct=steps)"),
        ("perfect++@gaussier2015", "easy@gaussier2015(backfill=sjf,predict=perfect,arrive=always)"),
        ("easy++@tsafrir2007", "easy@tsafrir2007(backfill=sjf,predict=recent(2))"),
        ("perfect++@tsafrir2007", "easy@tsafrir2007(backfill=sjf,predict=perfect)"),
    ] {
        let canonical = |text: &str| text.parse::<PolicySpec>().unwrap_or_else(|e| panic!("{e}")).canonical_text();
        assert_eq!(canonical(short), canonical(long), "{short}");
    }
}

/// Repeating a study means its variant of a policy, where it has one, unless the text names
/// another.
#[test]
fn policies_of_a_study_are_those_it_had() {
    for (text, study, meant) in [
        ("easy", "tsafrir2007", "easy@tsafrir2007"),
        ("easy(order=sjf)", "tsafrir2007", "easy@tsafrir2007(order=sjf)"),
        ("easy@gaussier2015", "tsafrir2007", "easy@gaussier2015"),
        ("slack", "talby1999", "slack@talby1999"),
        ("slack", "tsafrir2007", "slack"),
        ("slack@talby1999", "tsafrir2007", "slack@talby1999"),
        ("fcfs", "tsafrir2007", "fcfs"),
    ] {
        let result = text.parse::<PolicySpec>().and_then(|spec| spec.in_study(study));
        assert_eq!(result.map(|spec| spec.to_string()), Ok(meant.to_string()), "{text} in {study}");
    }
}

#[test]
fn texts_of_priorities_name_owners() {
    use drystone::model::{Job, JobId, Span, Time};
    let mut job = Job::new(Time(0), 1, Span(1));
    (job.user, job.group, job.queue) = (2, 3, 4);
    for (text, is_match) in [
        ("user(2)", true),
        ("user(3)", false),
        ("group(3)", true),
        ("group(4)", false),
        ("queue(4)", true),
        ("queue(2)", false),
    ] {
        let importance = Priorities::from_text(text).expect(text).job_importance(JobId(0), &job);
        assert_eq!((importance.user, importance.political), if is_match { (1.0, 1.0) } else { (0.0, 0.0) }, "{text}");
    }
}

#[test]
fn far_off_names_are_guessed_at_by_nobody() {
    let error = "zzzzzzzz".parse::<PolicySpec>().expect_err("no policy").to_string();
    assert!(!error.contains("Did you mean") && !error.contains("did you mean"), "{error}");
    let error = "esy".parse::<PolicySpec>().expect_err("no policy").to_string();
    assert!(error.contains("easy"), "{error}");
}
