//! Slack-based backfilling by hand: jobs that outlive what was declared or predicted, and which
//! orders are priced.

use crate::common::{owned, simulate, spec, starts, workload};
use drystone::engine::Session;
use drystone::experiment::Experiment;
use drystone::metrics::{Kills, MetricsConfig};
use drystone::model::{How, Job, Machine, Span, Time, Workload};
use drystone::policy::Action;

/// Start and end of every job.
fn spans(w: &Workload, policy: &str) -> Vec<(i64, i64)> {
    simulate(w, policy).spans.iter().map(|s| s.map(|(start, end)| (start.0, end.0)).expect("every job ends")).collect()
}

/// A has declared 100 s and runs for 150. Ten seconds more at 100, and so on, delay no job where
/// none waits but B, which has room beside it; nor where W waits for L, which runs for 1,000 s,
/// even though W bears no delay at all.
#[test]
fn who_disturbs_nobody_gets_more_time() {
    let beside = workload(2, &[(0, 1, 100, 150), (100, 1, 50, 50)]);
    assert_eq!(spans(&beside, "slack(tick=extend)"), [(0, 150), (100, 150)]);
    let behind = workload(3, &[(0, 1, 100, 150), (0, 1, 1_000, 1_000), (10, 3, 50, 50)]);
    assert_eq!(spans(&behind, "slack(tick=extend,sf=0)"), [(0, 150), (0, 1_000), (1_000, 1_050)]);
}

/// A has declared 100 s and runs for 150; W waits for the whole machine of 6 processors and is
/// planned for 100. The priority of A is 1/3, that of W, which waits for half of two average waits,
/// 1/2, and its slack sf/2 x 90 s. A tenth more for A, 10 s, costs 6 x 10 x 3/2 = 90, times what W
/// has had of its slack to what it has left; killing A costs 100 per processor.
#[test]
fn more_time_is_priced_against_killing() {
    for (procs, slack_factor, end) in [
        // Slack 135, 125, 115: 90 and 97.2 are cheaper than 100, 105.7 is not.
        (1, "3", 120),
        // Up to 90 x 135 / 95 = 127.9 at 140: cheaper than 200. Then it ends.
        (2, "3", 150),
        // Slack 22.5, 12.5, 2.5: less than the ten seconds from 120 on.
        (2, "0.5", 120),
        // Slack 4.5: no ten seconds.
        (2, "0.1", 100),
    ] {
        let w = workload(6, &[(0, procs, 100, 150), (10, 6, 50, 50)]);
        for correct in ["none", "estimate"] {
            let policy =
                format!("slack(tick=extend,awt=90,sf={slack_factor},priorities=all(up=1,pp=0),correct={correct})");
            assert_eq!(spans(&w, &policy), [(0, end), (end, end + 50)], "{procs} processors, {policy}");
        }
    }
}

/// A job that runs beyond its declared 100 or 110 s is killed when another needs its processors,
/// the one that should have ended first going first, and no sooner nor more of them than are
/// needed.
#[test]
fn guests_go_one_after_the_other() {
    let (a, b) = ((0, 1, 100, 300), (0, 1, 110, 300));
    for (jobs, expected) in [
        (vec![a, b], vec![(0, 300), (0, 300)]),
        // There is another processor.
        (vec![a, (120, 1, 20, 20)], vec![(0, 300), (120, 140)]),
        // There is none: A leaves, and B stays.
        (vec![a, b, (150, 1, 20, 20)], vec![(0, 150), (0, 300), (150, 170)]),
        (vec![b, a, (150, 1, 20, 20)], vec![(0, 300), (0, 150), (150, 170)]),
        (vec![a, b, (150, 2, 20, 20)], vec![(0, 150), (0, 150), (150, 170)]),
    ] {
        assert_eq!(spans(&workload(2, &jobs), "slack(tick=overrun)"), expected, "{jobs:?}");
    }
}

/// A has declared 100 s and runs for 1,000; W comes at 30, needs the whole machine and bears no
/// delay. Corrections at 100 and later give A no more than it had declared: it is killed then.
/// Where no job waits, only `kill` does that.
#[test]
fn a_correction_gives_no_more_than_was_declared() {
    let disturbing = workload(2, &[(0, 1, 100, 1_000), (30, 2, 20, 20)]);
    let alone = workload(2, &[(0, 1, 100, 1_000)]);
    for correct in ["none", "estimate", "gradual", "steps", "exponential", "doubling"] {
        for (tick, end) in [("kill", 100), ("overrun", 1_000), ("extend", 1_000), ("run", 1_000)] {
            let policy = format!("slack(tick={tick},correct={correct})");
            assert_eq!(spans(&alone, &policy), [(0, end)], "{policy}");
        }
        for rest in ["tick=kill", "tick=kill,notice=late", "tick=overrun", "tick=overrun,notice=late", "tick=extend"] {
            let policy = format!("slack(sf=0,{rest},correct={correct})");
            assert_eq!(spans(&disturbing, &policy), [(0, 100), (100, 120)], "{policy}");
        }
    }
}

/// Job 2 is predicted to run for 10 s, as the two before it did, but its user has declared 200. So
/// it is believed to end at 110, then a minute later, at 230, which is as long again as it is
/// overdue, and then at 300 and not at 350: there it is killed.
#[test]
fn a_short_prediction_is_outlived_up_to_what_was_declared() {
    let plain = workload(1, &[(0, 1, 200, 10), (10, 1, 200, 10), (100, 1, 200, 500), (105, 1, 50, 50)]);
    let w = owned(&plain, &[1, 1, 1, 2]);
    for tick in ["kill", "overrun", "extend"] {
        let policy = format!("slack(sf=0,tick={tick},predict=recent(2),correct=none)");
        assert_eq!(spans(&w, &policy)[2..], [(100, 300), (300, 350)], "{tick}");
    }
}

/// A has declared 100 s and runs for 150 on two processors, B runs for what it has declared, C for
/// longer. Those that the policy ends are named, and their work is counted: 2 x 100 and 1 x 50.
#[test]
fn kills_are_named_and_counted() {
    let w = workload(4, &[(0, 2, 100, 150), (0, 1, 100, 100), (0, 1, 50, 60)]);
    let of = |policy: &str| {
        let policy = policy.parse().expect("a policy");
        let experiment = Experiment::new(&policy, &w)
            .with_metrics(MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() });
        let report = experiment.run(&mut ()).expect("sound").expect("not cancelled").report;
        (report.jobs.expect("rows").iter().map(|row| row.ended).collect::<Vec<_>>(), report.kills)
    };
    let (kill_ends, kills) = of("slack(tick=kill)");
    assert_eq!(kill_ends, [How::AtLimit, How::Completed, How::AtLimit]);
    assert_eq!(kills, Kills { at_limit: 2, cancelled: 0, work: 250.0 });
    let (run_ends, kills) = of("slack(tick=run)");
    assert_eq!(run_ends, [How::Completed; 3]);
    assert!(kills.is_none());
}

/// A job that is to be killed holds its processors until the machine says that it has ended. Until
/// then nothing is decided, and nothing wakes the policy for what is due meanwhile: not at 110 for
/// the next one.
#[test]
fn kills_are_waited_for() {
    let mut s = Session::new(Machine::new(2), spec("slack(tick=kill,overdue=again)").build_scheduler());
    let arrive = |s: &mut Session, now, estimate| {
        s.note_arrival(Time(now), &Job::new(Time(now), 1, Span(estimate)), None).expect("possible")
    };
    let decide = |s: &mut Session, now| s.decide(Time(now)).expect("a sound policy").list().to_vec();
    let (a, b) = (arrive(&mut s, 0, 100), arrive(&mut s, 0, 110));
    assert_eq!((decide(&mut s, 0).len(), s.next_due_time()), (2, Some(Time(100))));
    assert!(s.expire_due(Time(100)));
    assert_eq!((decide(&mut s, 100), s.next_due_time()), (vec![Action::Kill(a)], Some(Time(110))));
    assert!(s.expire_due(Time(110)));
    assert_eq!((decide(&mut s, 110), s.next_due_time()), (vec![], None));
    s.end_job(Time(112), a);
    assert_eq!(decide(&mut s, 112), [Action::Kill(b)]);
}

/// On one processor R runs until 10, and each job that comes is planned behind the others: F of 1 s
/// for 10, D of 6 s for 11, E of 4 s for 17. They wait for more than two average waits of 1 s, so
/// their priority is 1/3, twice that of a newcomer: a second of their delay costs 2 of its own. (E
/// would save 6 s before D, for 8.)
fn serial(origin: i64, order: &str) -> Vec<i64> {
    let jobs = [(0, 1, 10, 10), (1, 1, 1, 1), (2, 1, 6, 6), (3, 1, 4, 4), (4, 1, 1, 1)];
    let jobs = jobs.map(|(submit, procs, estimate, run)| (origin + submit, procs, estimate, run));
    let starts = starts(&workload(1, &jobs), &format!("slack(awt=1,sf=30,order={order})"));
    starts.into_iter().map(|start| start - origin).collect()
}

/// J of 1 s is the newcomer, at 4. It can start at 21, behind all; at 17, which delays E by 1 s,
/// for 17 + 2; at 11 for 11 + 4, or, with E before D, for 11 + 2 x 5 - 2 x 5; at 10 for 10 + 6, or,
/// with E before D, for 10 + 2 + 10 - 10. So it starts at 11, and E goes before D if the orders of
/// two jobs are priced.
#[test]
fn as_many_orders_are_priced_as_was_asked_for() {
    for (order, d, e) in
        [("ast", 12, 18), ("exhaustive(1)", 12, 18), ("exhaustive(2)", 16, 12), ("exhaustive(3)", 16, 12)]
    {
        assert_eq!(serial(0, order), [0, 10, d, e, 11], "{order}");
    }
}

/// Times before the origin are times like any other: E also moves up there.
#[test]
fn jobs_move_up_before_time_zero() {
    assert_eq!(serial(-1_000, "exhaustive(2)"), serial(0, "exhaustive(2)"));
}

/// Without a number all orders of up to six jobs are priced; and no other order takes a number.
#[test]
fn orders_that_are_priced() {
    assert_eq!(serial(0, "exhaustive"), serial(0, "exhaustive(6)"));
    assert_eq!(serial(0, "exhaustive"), [0, 10, 16, 12, 11]);
    for text in ["slack(order=ast(3))", "slack(order=exhaustive(9))"] {
        assert!(text.parse::<drystone::policy::PolicySpec>().is_err(), "{text}");
    }
}
