//! The choices of the EASY family, by hand: which of them go together, and what they change.

mod common;

use common::{owned, starts, workload};
use drystone::policy::PolicySpec;

#[test]
fn choices_that_contradict_each_other_are_refused() {
    for (text, part) in [
        ("easy(reserve=2,extra=first)", "with several reservations"),
        ("easy(reserve=2,overdue=stale)", "with several reservations"),
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
    // 4 processors, 2 of them busy until 10: whoever is widest and fits.
    let w = workload(4, &[(0, 2, 10, 10), (0, 2, 9, 9), (1, 1, 5, 5), (2, 2, 5, 5), (3, 3, 5, 5)]);
    assert_eq!(starts(&w, "greedy"), [0, 0, 9, 10, 15]);
    assert_eq!(starts(&w, "greedy(order=widest)"), [0, 0, 10, 9, 14]);
}

/// How extra processors are counted, by hand. Of 10 processors job 0 has 6 until 10, and job 1 needs 7: it is due at 10, with
/// 3 extra. Job 2 is backfilled on 2 and ends at 10 as well. Job 3 is long and needs 2. All ends by 10 counted, 3 are extra
/// still; but the walk that stops at the first sufficient end stops at job 0, whose processors leave 1.
#[test]
fn extra_processors_after_a_backfill() {
    let w = workload(10, &[(0, 6, 10, 10), (1, 7, 10, 10), (2, 2, 8, 8), (3, 2, 100, 100)]);
    assert_eq!(starts(&w, "easy"), [0, 10, 2, 3]);
    assert_eq!(starts(&w, "easy(extra=first)"), [0, 10, 2, 10]);
}

/// A correction that leads to nothing by itself leads to something after another job's has. Of 11 processors job 2 (K) has 2
/// until 2000, job 3 (B) 2, job 4 (Y) 3 until 2830, job 5 (A) 1; 3 are free, and job 6 (H) needs 8. A and B are predicted to
/// run for 10 s as their users' jobs did, then 70, 970, 2770 s.
///
/// At 1003 the walk for H stops at K: shadow time 2000, nothing extra, and jobs 7 and 8 (C, D) have to wait. A's corrections at
/// 1010 and 1070, to 1070 and 1970, move nothing before 2000. But at 1030 B is put off to 2830. The walk stops at B now, nothing is
/// extra, and C starts: 1030 + 1800 = 2830. So from the next pass on it takes Y to free what H lacks, which leaves 1 extra: D
/// starts at the next correction, A's of 1070. H waits for B's true end.
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
