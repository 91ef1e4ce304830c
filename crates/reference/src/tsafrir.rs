//! The 18 policies of Tsafrir, Etsion & Feitelson (2007) with the semantics that reproduce their
//! tables.

use crate::easy::{
    Easy, NaiveEasyOrder, NaiveEasyOverdue, NaiveExtra, NaiveGrowth, NaiveLearnerPredictor, NaivePass, NaiveRecent,
    NaiveWindow, Reservations,
};

/// A named policy of the paper: what predicts, whether predictions are corrected, and the orders.
pub const NAMES: [&str; 18] = [
    "EASY",
    "EASY_PCOR",
    "EASY+",
    "EASY_SJBF",
    "EASY++",
    "PERFECT",
    "PERFECT++",
    "X2",
    "X2+",
    "X2++",
    "X2perf",
    "X2++perf",
    "SJF",
    "SJF+",
    "SJFperf",
    "EASY+imm",
    "EASY++imm",
    "EASY-nocorr",
];

/// The two ways out of delays of section 4: plan by estimates in the order of (immediate)
/// predictions, or plan by predictions and announce what estimates would give.
pub fn solutions() -> Option<[Easy; 2]> {
    let (ordered, booked) = (policy("EASY++imm")?, policy("EASY++")?);
    Some([Easy { plan_by_estimates: true, ..ordered }, Easy { announce_by_estimates: true, ..booked }])
}

/// The policy of this name, one of [`NAMES`].
pub fn policy(name: &str) -> Option<Easy> {
    use NaiveEasyOrder::{Fcfs, Shortest};
    use NaiveLearnerPredictor::{Actual, Estimate};
    let all = NaiveLearnerPredictor::Recent(NaiveRecent::default());
    let immediate =
        NaiveLearnerPredictor::Recent(NaiveRecent { window: NaiveWindow::Immediate, ..NaiveRecent::default() });
    // (prediction, correction, backfill order, queue order, doubled)
    let (predictor, corrected, backfill, queue, doubled) = match name {
        "EASY" => (Estimate, false, Fcfs, Fcfs, false),
        "EASY_PCOR" => (Estimate, true, Fcfs, Fcfs, false),
        "EASY+" => (all, true, Fcfs, Fcfs, false),
        "EASY-nocorr" => (all, false, Fcfs, Fcfs, false),
        "EASY+imm" => (immediate, true, Fcfs, Fcfs, false),
        "EASY_SJBF" => (Estimate, false, Shortest, Fcfs, false),
        "EASY++" => (all, true, Shortest, Fcfs, false),
        "EASY++imm" => (immediate, true, Shortest, Fcfs, false),
        "PERFECT" => (Actual, false, Fcfs, Fcfs, false),
        "PERFECT++" => (Actual, false, Shortest, Fcfs, false),
        "X2" => (Estimate, false, Fcfs, Fcfs, true),
        "X2+" => (all, true, Fcfs, Fcfs, true),
        "X2++" => (all, true, Shortest, Fcfs, true),
        "X2perf" => (Actual, false, Fcfs, Fcfs, true),
        "X2++perf" => (Actual, false, Shortest, Fcfs, true),
        "SJF" => (Estimate, false, Shortest, Shortest, false),
        "SJF+" => (all, true, Shortest, Shortest, false),
        "SJFperf" => (Actual, false, Shortest, Shortest, false),
        _ => return None,
    };
    Some(Easy {
        pass: NaivePass::PerEvent,
        extra: NaiveExtra::FirstSufficient,
        overdue: NaiveEasyOverdue::Stale,
        queue,
        backfill,
        reservations: Reservations::First(1),
        predictor,
        doubled,
        corrected,
        growth: NaiveGrowth::AtOnce,
        guarded: false,
        plan_by_estimates: false,
        announce_by_estimates: false,
        starve: None,
    })
}
