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
pub fn list_solutions() -> Option<[Easy; 2]> {
    let (ordered_policy, booked_policy) = (find_policy("EASY++imm")?, find_policy("EASY++")?);
    Some([Easy { plan_by_estimates: true, ..ordered_policy }, Easy { announce_by_estimates: true, ..booked_policy }])
}

/// The policy of this name, one of [`NAMES`].
pub fn find_policy(name: &str) -> Option<Easy> {
    use NaiveEasyOrder::{Fcfs, Shortest};
    use NaiveLearnerPredictor::{Actual, Estimate};
    let recent_all = NaiveLearnerPredictor::Recent(NaiveRecent::default());
    let immediate =
        NaiveLearnerPredictor::Recent(NaiveRecent { window: NaiveWindow::Immediate, ..NaiveRecent::default() });
    // (prediction, correction, backfill order, queue order, doubled)
    let (predictor, is_corrected, backfill, queue, is_doubled) = match name {
        "EASY" => (Estimate, false, Fcfs, Fcfs, false),
        "EASY_PCOR" => (Estimate, true, Fcfs, Fcfs, false),
        "EASY+" => (recent_all, true, Fcfs, Fcfs, false),
        "EASY-nocorr" => (recent_all, false, Fcfs, Fcfs, false),
        "EASY+imm" => (immediate, true, Fcfs, Fcfs, false),
        "EASY_SJBF" => (Estimate, false, Shortest, Fcfs, false),
        "EASY++" => (recent_all, true, Shortest, Fcfs, false),
        "EASY++imm" => (immediate, true, Shortest, Fcfs, false),
        "PERFECT" => (Actual, false, Fcfs, Fcfs, false),
        "PERFECT++" => (Actual, false, Shortest, Fcfs, false),
        "X2" => (Estimate, false, Fcfs, Fcfs, true),
        "X2+" => (recent_all, true, Fcfs, Fcfs, true),
        "X2++" => (recent_all, true, Shortest, Fcfs, true),
        "X2perf" => (Actual, false, Fcfs, Fcfs, true),
        "X2++perf" => (Actual, false, Shortest, Fcfs, true),
        "SJF" => (Estimate, false, Shortest, Shortest, false),
        "SJF+" => (recent_all, true, Shortest, Shortest, false),
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
        doubled: is_doubled,
        corrected: is_corrected,
        growth: NaiveGrowth::AtOnce,
        guarded: false,
        plan_by_estimates: false,
        announce_by_estimates: false,
        starve: None,
    })
}
