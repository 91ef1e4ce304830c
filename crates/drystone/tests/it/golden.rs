//! Per-job equality with schedules computed by independent implementations.
//!
//! The schedules and the log are no part of the project; where they are missing, these tests say so
//! and pass.

use crate::common::{KTH, assert_equals_golden, log};
use drystone::log::clean::CleaningStudy;

/// The 18 policies of Tsafrir, Etsion & Feitelson 2007.
#[test]
fn the_easy_family_of_tsafrir_2007() {
    let Some(kth) = log(KTH, CleaningStudy::Tsafrir2007, None) else { return };
    for (policy, name) in [
        ("easy", "EASY"),
        ("easy-pcor", "EASY_PCOR"),
        ("easy-sjbf", "EASY_SJBF"),
        ("easy+", "EASY+"),
        ("easy++", "EASY++"),
        ("easy+ predict=recent(2,window=immediate)", "EASY+imm"),
        ("easy++ predict=recent(2,window=immediate)", "EASY++imm"),
        ("easy+ correct=none", "EASY-nocorr"),
        ("perfect", "PERFECT"),
        ("perfect++", "PERFECT++"),
        ("x2", "X2"),
        ("x2+", "X2+"),
        ("x2++", "X2++"),
        ("x2-perfect", "X2perf"),
        ("x2++-perfect", "X2++perf"),
        ("sjf", "SJF"),
        ("sjf+", "SJF+"),
        ("sjf-perfect", "SJFperf"),
    ] {
        let policy = match policy.split_once(' ') {
            Some((policy, args)) => format!("{policy}@tsafrir2007({args})"),
            None => format!("{policy}@tsafrir2007"),
        };
        assert_equals_golden(&kth, &policy, &format!("easy/{KTH}.{name}"));
    }
}

/// Conservative backfilling and EASY over the whole year, with early ends noticed at once.
#[test]
fn conservative_and_easy_of_talby_1999() {
    for procs in [100, 128] {
        let Some(kth) = log(KTH, CleaningStudy::Talby1999, Some(procs)) else { return };
        let conservative = "conservative@talby1999(notice=immediate)";
        assert_equals_golden(&kth, conservative, &format!("slack/event.cons.p{procs}.year"));
        assert_equals_golden(&kth, "easy@talby1999(notice=immediate)", &format!("slack/event.easy.p{procs}.year"));
    }
}

/// The baselines of the papers on preemption and on multiple queues.
#[test]
fn the_baselines_of_kettimuthu_2005_and_lawson_2002() {
    let Some(kth) = log(KTH, CleaningStudy::Kettimuthu2005, Some(100)) else { return };
    assert_equals_golden(&kth, "easy@kettimuthu2005", "preempt/kth-ns");
    let Some(kth) = log(KTH, CleaningStudy::Lawson2002, Some(100)) else { return };
    assert_equals_golden(&kth, "easy@lawson2002", "multiqueue/kth-single");
}
