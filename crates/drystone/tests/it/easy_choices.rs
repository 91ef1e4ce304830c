//! The choices of the EASY family, by hand: which of them go together, and what they change.

use crate::common::{owned, spec, starts, workload};
use drystone::engine::{Simulation, WorkloadReplay};
use drystone::metrics::PromiseAudit;
use drystone::policy::PolicySpec;

#[test]
fn choices_that_contradict_each_other_are_refused() {
    for (text, part) in [
        ("easy(reserve=2,extra=first)", "several reservations (`reserve`) go with"),
        ("easy(reserve=2,overdue=stale)", "several reservations (`reserve`) go with"),
        ("easy(reserve=2)", ""),
        ("easy(reserve=1,extra=first)", ""),
        ("easy(reserve=0,extra=first)", ""),
        ("easy(reserve=0,overdue=stale)", ""),
        ("easy(overdue=free)", "needs `pass=pyss`"),
        ("easy(overdue=free,pass=event)", "needs `pass=pyss`"),
        ("easy(overdue=free,pass=pyss)", ""),
        ("easy(overdue=now,pass=instant,predict=recent(2),correct=none)", ""),
        ("easy(overdue=free,pass=pyss,predict=recent(2),correct=none)", "need a `correct` other than none"),
        ("easy(overdue=free,pass=pyss,predict=recent(2),correct=estimate)", ""),
        ("easy(overdue=free,pass=pyss,predict=estimate,correct=none)", ""),
        ("easy(guard=estimate,extra=first)", ""),
        ("easy(guard=prediction,backfill=lxf)", ""),
        ("easy(guard=prediction,reserve=2)", ""),
    ] {
        match text.parse::<PolicySpec>() {
            Ok(_) => assert_eq!(part, "", "{text} is taken"),
            Err(error) => assert!(!part.is_empty() && error.to_string().contains(part), "{text}: {error}"),
        }
    }
}

/// Greedy backfilling tries its queue in order: on one processor the shortest that waits is next.
#[test]
fn greedy_has_an_order() {
    let w = workload(1, &[(0, 1, 10, 10), (1, 1, 30, 30), (2, 1, 20, 20), (3, 1, 5, 5)]);
    assert_eq!(starts(&w, "greedy"), [0, 10, 40, 60]);
    assert_eq!(starts(&w, "greedy(order=sjf)"), [0, 35, 15, 10]);
    // 4 processors, 2 of them busy until 10: the widest job that fits.
    let w = workload(4, &[(0, 2, 10, 10), (0, 2, 9, 9), (1, 1, 5, 5), (2, 2, 5, 5), (3, 3, 5, 5)]);
    assert_eq!(starts(&w, "greedy"), [0, 0, 9, 10, 15]);
    assert_eq!(starts(&w, "greedy(order=widest)"), [0, 0, 10, 9, 14]);
}

/// Extra processors, counted by hand. Of 10 processors job 0 has 6 until 10, and job 1 needs 7: it
/// is due at 10, with 3 extra. Job 2 is backfilled on 2 and ends at 10 as well. Job 3 is long and
/// needs 2. All ends by 10 counted, 3 are extra still; but the walk that stops at the first
/// sufficient end stops at job 0, whose processors leave 1.
#[test]
fn extra_processors_after_a_backfill() {
    let w = workload(10, &[(0, 6, 10, 10), (1, 7, 10, 10), (2, 2, 8, 8), (3, 2, 100, 100)]);
    assert_eq!(starts(&w, "easy"), [0, 10, 2, 3]);
    assert_eq!(starts(&w, "easy(extra=first)"), [0, 10, 2, 10]);
}

/// A correction that leads to nothing by itself leads to something after another job's has. Of 11
/// processors job 2 (K) has 2 until 2000, job 3 (B) 2, job 4 (Y) 3 until 2830, job 5 (A) 1; 3 are
/// free, and job 6 (H) needs 8. A and B are predicted to run for 10 s as their users' jobs did,
/// then 70, 970, 2770 s.
///
/// At 1003 the walk for H stops at K: shadow time 2000, nothing extra, and jobs 7 and 8 (C, D) have
/// to wait. A's corrections at 1010 and 1070, to 1070 and 1970, move nothing before 2000. But at
/// 1030 B is put off to 2830. The walk stops at B now, nothing is extra, and C starts: 1030 + 1800
/// = 2830. So from the next pass on it takes Y to free what H lacks, which leaves 1 extra: D starts
/// at the next correction, A's of 1070. H waits for B's true end.
#[test]
fn a_correction_after_a_pass_that_another_led_to() {
    let (short, long) = (10, 10_000);
    let w = workload(
        11,
        &[
            (0, 1, short, short),
            (0, 1, short, short),
            (0, 2, 2000, 2000),
            (60, 2, long, 5000),
            (61, 3, 2769, 2769),
            (1000, 1, long, 5000),
            (1001, 8, 100, 100),
            (1002, 2, 1800, 1800),
            (1003, 1, 9000, 9000),
        ],
    );
    let w = owned(&w, &[1, 2, 3, 2, 4, 1, 5, 6, 7]);
    for pass in ["instant", "event"] {
        let policy = format!("easy(extra=first,predict=recent(1),correct=gradual,pass={pass})");
        assert_eq!(starts(&w, &policy), [0, 0, 0, 60, 61, 1000, 5060, 1030, 1070], "{policy}");
    }
}

/// Processors that are given back before the shadow time matter to the jobs that they suffice for,
/// and to no others. Of 10 processors job 0 has 4 until 100, when job 1, which needs 10, is due.
/// Job 2 has 2 until 12 and job 3 has 3 until 20: 1 is left. Jobs 4 and 5 need 3 and 4, job 6 needs
/// 2 for too long, and job 7, the last, 2 for 5 s. The end of job 2 makes 3 free: 4 starts, then 7
/// has to wait for the end of 3.
#[test]
fn what_is_given_back_starts_any_job_it_suffices_for() {
    let jobs = [
        (0, 4, 100, 100),
        (1, 10, 100, 100),
        (2, 2, 10, 10),
        (3, 3, 17, 17),
        (4, 3, 20, 20),
        (5, 4, 60, 60),
        (6, 2, 200, 200),
        (7, 2, 5, 5),
    ];
    let w = workload(10, &jobs);
    for policy in ["easy", "easy(pass=event)", "easy(guard=estimate)", "easy(extra=first)", "easy(overdue=stale)"] {
        assert_eq!(starts(&w, policy), [0, 100, 2, 3, 12, 32, 200, 20], "{policy}");
    }
    // By prediction: 7 before 4 before 5. The end of job 2 lets 7 in, whose end at 17 lets 4 in.
    assert_eq!(starts(&w, "easy(backfill=sjf)"), [0, 100, 2, 3, 17, 37, 200, 12]);
}

/// With `arrive=fits` job 3 was not looked at when it came. It is in the queue all the same when
/// job 2 gives back what it needs.
#[test]
fn whom_nobody_looked_at_is_looked_at_later() {
    let w = workload(4, &[(0, 2, 100, 100), (1, 4, 100, 100), (2, 1, 10, 10), (3, 2, 20, 20)]);
    assert_eq!(starts(&w, "easy(arrive=fits)"), [0, 100, 2, 12]);
}

/// With `arrive=fits` an arrival that does not fit leads to no pass, but the end of the same second
/// does: job 2 starts at 100.
#[test]
fn an_end_beside_an_arrival_that_does_not_fit() {
    let w = workload(10, &[(0, 5, 100, 100), (0, 5, 200, 200), (1, 5, 10, 10), (100, 6, 10, 10)]);
    assert_eq!(starts(&w, "easy(arrive=fits)"), [0, 0, 100, 200]);
}

/// The queue is in the order of predictions. Job 1 (50 s) waits for job 0, and job 2 may run beside
/// until 1002. Job 3 (10 s) does not fit and leads to no pass, but it comes before job 1: when job
/// 4 arrives, the reservation is that of job 3, for all processors at 1002, and job 4 has to wait
/// for its turn.
#[test]
fn who_does_not_fit_may_still_come_first() {
    let jobs = [(0, 8, 100, 100), (1, 5, 50, 50), (2, 1, 1000, 1000), (3, 10, 10, 10), (4, 1, 5000, 5000)];
    let starts = starts(&workload(10, &jobs), "easy(order=sjf,backfill=sjf,arrive=fits)");
    assert_eq!(starts, [0, 100, 2, 1002, 1012]);
}

/// Ends before the prediction is made again, and a correction that is due in the same second, come
/// before the pass. When job 0 ends at 10, job 1 of the same user is also predicted to run for 10
/// s, which are over: it is corrected to its estimate, and ends at 200. So job 3, which needs 5 and
/// has 3, is due at 200 with 1 extra: job 4 (100 s) is done by then and starts, and job 5 takes the
/// extra one when job 4 has gone.
#[test]
fn what_an_end_makes_due_comes_before_the_pass() {
    let jobs =
        [(0, 3, 100, 10), (0, 3, 200, 150), (0, 4, 1000, 1000), (1, 5, 50, 50), (2, 3, 100, 100), (3, 1, 1000, 1000)];
    let w = owned(&workload(10, &jobs), &[1, 1, 2, 3, 4, 5]);
    assert_eq!(starts(&w, "easy(predict=recent(1,propagate=running))"), [0, 0, 0, 150, 10, 110]);
}

/// Job 0 is overdue since 10 and counts as ending now: job 1, which needs the whole machine, is
/// planned for now and cannot start. The processor that is free is job 1's in the plan, and job 2
/// may not have it, though it would be done in no time.
#[test]
fn what_is_planned_for_now_is_taken() {
    let w = workload(4, &[(0, 3, 10, 100), (20, 4, 50, 50), (21, 1, 5, 5)]);
    for choice in ["reserve=2", "reserve=2,backfill=sjf", "reserve=3,backfill=lxf"] {
        let policy = format!("easy({choice},overdue=now)");
        assert_eq!(starts(&w, &policy), [0, 100, 150], "{policy}");
    }
}

/// The fate of an overdue job, by hand. Of 4 processors job 0 has 3 until 100, though it was to end
/// at 10; job 1 needs all of them, and job 2 one for 30 s. Counted as ending now, job 0 leaves job
/// 2 no time. Put off by 1, 15, 30 and 60 minutes it is predicted to end at 70 when job 2 comes at
/// 20, which is done by 50. Where it keeps its end, nothing can end in time.
#[test]
fn an_overdue_job_is_put_off_or_ends_now() {
    let w = workload(4, &[(0, 3, 10, 100), (20, 4, 50, 50), (20, 1, 30, 30)]);
    assert_eq!(starts(&w, "easy"), [0, 100, 20]);
    assert_eq!(starts(&w, "easy-pcor"), [0, 100, 20]);
    for text in ["easy(overdue=now)", "easy(overdue=stale)", "easy(correct=none)", "easy@lawson2002"] {
        assert_eq!(starts(&w, text), [0, 100, 150], "{text}");
    }
}

/// One rule for every family, by hand. Of 4 processors job 0 has 3 until 1,000, though it was to
/// end at 10: put off to 70, 970 and 2,770. Job 1 needs the whole machine at 500 and is planned at
/// 970; job 2 needs one processor for 480 s, until 980, and delays it. At 970 job 1 is planned at
/// 2,770, and job 2 starts. The older rule finds at 500 that job 0 is late by 490 s, and expects it
/// to end at 990: job 2 starts at once.
#[test]
fn every_family_puts_overdue_jobs_off_alike() {
    let w = workload(4, &[(0, 3, 10, 1_000), (500, 4, 50, 50), (500, 1, 480, 480)]);
    for text in ["easy", "conservative", "conservative(horizon=all)", "slack(sf=0)", "multiqueue"] {
        assert_eq!(starts(&w, text), [0, 1_450, 970], "{text}");
    }
    for text in ["conservative(overdue=again)", "slack(sf=0,overdue=again)"] {
        assert_eq!(starts(&w, text), [0, 1_000, 500], "{text}");
    }
}

/// Predictions of waiting jobs change while the queue, or the queue of candidates, is in their
/// order. Job 1 ends at 50: job 5 of its user, until then predicted to run for 5 s, is predicted to
/// run for 50 and starts. Job 4 needs the whole machine.
#[test]
fn who_waits_is_predicted_anew() {
    let jobs = [(0, 1, 100, 5), (0, 1, 100, 50), (0, 1, 300, 300), (6, 1, 200, 200), (7, 3, 100, 100), (8, 1, 100, 60)];
    let w = owned(&workload(3, &jobs), &[1, 1, 4, 2, 3, 1]);
    for choices in ["reserve=2,backfill=sjf", "order=sjf,backfill=fcfs", "order=narrowest,backfill=sjf"] {
        let policy = format!("easy({choices},predict=recent(1,propagate=waiting))");
        assert_eq!(starts(&w, &policy), [0, 0, 0, 6, 300, 50], "{policy}");
    }
}

/// A running job's prediction gets shorter: job 0 ends at 50 and its user's job 1 is predicted to
/// run for 50 s, until 90. So job 2, which needs 8 of 10, is due at 90 and not at 1040, and job 3
/// may not run beside until 550.
#[test]
fn who_runs_is_predicted_anew() {
    let jobs = [(0, 2, 60, 50), (40, 6, 1000, 50), (41, 8, 10, 10), (42, 3, 500, 500)];
    let w = owned(&workload(10, &jobs), &[1, 1, 2, 3]);
    assert_eq!(starts(&w, "easy(predict=recent(1,propagate=running))"), [0, 40, 90, 100]);
}

/// Job 3 needs 7 more. The walk that stops at the first sufficient end counts job 2 (3 until 30)
/// and stops at job 1 (7 until 40): 3 are extra. But at 30 job 2 is corrected to end at 40 as well,
/// behind job 1: nothing is extra now, and job 4 has to wait.
///
/// In the other workload job 4 needs 6 more: 2 of job 1 at 30 and 4 of job 2 at 40. At 30 job 1 is
/// corrected to end at 41. So job 3, which ends at 40 as well, is counted before it, 1 is extra at
/// 41, and job 5 starts.
#[test]
fn a_correction_to_the_shadow_time_itself() {
    let jobs = [(0, 1, 100, 10), (20, 7, 20, 20), (20, 3, 20, 20), (21, 8, 100, 100), (31, 1, 1000, 1000)];
    let w = owned(&workload(11, &jobs), &[1, 2, 1, 3, 4]);
    let policy = "easy(extra=first,predict=recent(1),correct=estimate)";
    assert_eq!(starts(&w, policy), [0, 20, 20, 40, 40]);
    let jobs =
        [(0, 1, 100, 10), (20, 2, 21, 21), (20, 4, 20, 20), (20, 1, 20, 20), (21, 9, 100, 100), (22, 1, 1000, 1000)];
    let w = owned(&workload(10, &jobs), &[1, 1, 2, 3, 4, 5]);
    assert_eq!(starts(&w, policy), [0, 20, 20, 20, 41, 30]);
}

/// As [`extra_processors_after_a_backfill`], where the candidates are tried by expansion factor:
/// job 2 ends at 20, the shadow time, and is counted no more.
#[test]
fn extra_processors_after_a_backfill_by_expansion() {
    let w = workload(10, &[(0, 6, 20, 20), (1, 8, 100, 100), (1, 2, 19, 19), (3, 2, 1000, 1000)]);
    assert_eq!(starts(&w, "easy(backfill=lxf,extra=first)"), [0, 20, 1, 20]);
}

/// Predictions from history are corrected to the estimate unless something else is asked for, even
/// before the origin of time. Job 1 is predicted to run for 10 s. At 30 it is corrected to 100 s:
/// job 2 is due at 120, and job 3 starts beside job 1.
#[test]
fn learned_predictions_are_corrected_to_the_estimate() {
    for origin in [0, -1000] {
        let jobs = [(0, 1, 100, 10), (20, 3, 100, 50), (21, 4, 10, 10), (22, 1, 50, 50)];
        let jobs = jobs.map(|(submit, procs, estimate, run)| (origin + submit, procs, estimate, run));
        let w = owned(&workload(4, &jobs), &[1, 1, 2, 3]);
        assert_eq!(starts(&w, "easy(predict=recent(1))"), [0, 20, 80, 30].map(|start| origin + start));
    }
}

/// An end and a correction in one second. Job 3 ends at 1010, when job 4 is corrected (the last run
/// time of its user 1 was 10 s). A job that starts then on the processors of job 3 may leave fewer
/// extra ones: corrections up to then must not be skipped.
#[test]
fn a_correction_beside_an_end() {
    let jobs = [
        (0, 1, 10, 10),
        (0, 1, 500, 500),
        (20, 4, 1980, 1980),
        (20, 2, 1480, 990),
        (1000, 1, 10_000, 1500),
        (1001, 6, 100, 100),
        (1002, 1, 5000, 600),
        (1003, 1, 5000, 100),
    ];
    let w = owned(&workload(7, &jobs), &[1, 2, 3, 4, 1, 5, 2, 6]);
    let policy = "easy(guard=estimate,predict=recent(1),correct=gradual)";
    assert_eq!(starts(&w, policy), [0, 0, 20, 20, 1000, 2000, 1010, 1070]);
}

/// A policy without reservations promises nothing.
#[test]
fn nothing_is_promised_without_a_reservation() {
    let w = workload(1, &[(0, 1, 10, 10), (1, 1, 10, 10)]);
    for (policy, promises) in [("greedy", 0), ("fcfs", 0), ("easy(reserve=0)", 0), ("easy", 1)] {
        let (scheduler, mut audit) = (spec(policy).build_scheduler(), PromiseAudit::default());
        Simulation::new(w.machine(), scheduler, WorkloadReplay::new(&w)).run(&mut audit).expect("runs");
        assert_eq!(audit.kept_promises().promised, promises, "{policy}");
    }
}
