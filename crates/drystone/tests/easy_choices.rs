//! The choices of the EASY family, by hand: which of them go together, and what they change.

mod common;

use common::{starts, workload};
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
