//! Orders by formula in the product against their naive definition, start by start and value by
//! value.

use crate::drawn::workloads;
use drystone::engine::{Schedule, Simulation, WorkloadReplay};
use drystone::model::Workload;
use drystone::parts::formula::{Formula, Moment, NAMED, WaitingFacts};
use drystone::policy::PolicySpec;
use drystone_reference::easy::{self, Easy, NaiveEasyOrder, NaivePass, Reservations};
use drystone_reference::formula::{NaiveExpr, NaiveKnown, published_rank};
use drystone_reference::jobs_of;
use proptest::prelude::*;

fn formulas() -> impl Strategy<Value = NaiveExpr> {
    const NAMES: [&str; 11] = ["r", "e", "n", "a", "w", "s", "x", "user", "load", "waiting", "machine"];
    let leaf = prop_oneof![
        2 => (0u32..40).prop_map(|n| NaiveExpr::Number(f64::from(n) / 4.0)),
        6 => prop::sample::select(&NAMES[..]).prop_map(NaiveExpr::Name),
        1 => (1u32..90).prop_map(NaiveExpr::Usage),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = prop::sample::select(&['+', '-', '*', '/', '^'][..]);
        let unary = prop::sample::select(&["log2", "log10", "ln", "sqrt", "exp", "abs"][..]);
        let pick = prop::sample::select(&["min", "max"][..]);
        let compare = prop::sample::select(&["<", "<=", ">", ">=", "==", "!="][..]);
        prop_oneof![
            5 => (two, inner.clone(), inner.clone()).prop_map(|(c, a, b)| NaiveExpr::Two(c, Box::new(a), Box::new(b))),
            1 => inner.clone().prop_map(|a| NaiveExpr::Minus(Box::new(a))),
            2 => (unary, inner.clone()).prop_map(|(name, a)| NaiveExpr::One(name, Box::new(a))),
            1 => (pick, inner.clone(), inner.clone()).prop_map(|(name, a, b)| NaiveExpr::Pick(name, Box::new(a), Box::new(b))),
            1 => (compare, inner.clone(), inner.clone(), inner.clone(), inner)
                .prop_map(|(sign, a, b, c, d)| NaiveExpr::If(sign, Box::new([a, b, c, d]))),
        ]
    })
}

fn starts(workload: &Workload, policy: &str) -> Vec<i64> {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut schedule)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    schedule.spans.iter().map(|span| span.expect("every job ends").0.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Any formula as the order of the queue, of backfilling, or of both, with every number of
    /// reservations and with the guard against starvation.
    #[test]
    fn any_formula_orders_as_defined(
        w in workloads(true, 1), queue in formulas(), backfill in formulas(),
        (which, reserve, per_event) in (0usize..3, 0usize..5, any::<bool>()), starve in prop::option::of(0i64..60),
    ) {
        let (queue, backfill): (&'static NaiveExpr, &'static NaiveExpr) = (Box::leak(Box::new(queue)), Box::leak(Box::new(backfill)));
        let (queue_order, backfill_order) = match which {
            0 => (NaiveEasyOrder::Formula(queue), NaiveEasyOrder::Formula(queue)),
            1 => (NaiveEasyOrder::Formula(queue), NaiveEasyOrder::Formula(backfill)),
            _ => (NaiveEasyOrder::Formula(queue), NaiveEasyOrder::Fcfs),
        };
        let words = |order: NaiveEasyOrder| if let NaiveEasyOrder::Formula(formula) = order { formula.to_string() } else { "fcfs".into() };
        let (pass_name, pass) = if per_event { ("event", NaivePass::PerEvent) } else { ("instant", NaivePass::PerInstant) };
        let starve_words = starve.map_or("none".to_string(), |seconds| format!("{seconds}s"));
        let (policy, reservations) = if reserve == 4 {
            (format!("fcfs(order={},starve={starve_words},pass={pass_name})", words(queue_order)), Reservations::NoOvertaking)
        } else {
            let (order, backfill) = (words(queue_order), words(backfill_order));
            let text = format!(
                "easy(order={order},backfill={backfill},starve={starve_words},reserve={reserve},pass={pass_name},overdue=now)"
            );
            (text, Reservations::First(reserve))
        };
        let definition = Easy { queue: queue_order, backfill: backfill_order, starve, reservations, pass, ..Easy::default() };
        let jobs = jobs_of(&w);
        let naive: Vec<i64> = easy::run(&definition, &jobs, 16).schedule().iter().map(|job| job.start).collect();
        let own = starts(&w, &policy);
        let first = (0..jobs.len()).filter(|&i| own[i] != naive[i]).min_by_key(|&i| own[i].min(naive[i]));
        if let Some(i) = first {
            panic!("{policy}: job {i}: ours {}, by definition {}\n{jobs:?}", own[i], naive[i]);
        }
    }

    /// Named orders are what the papers print.
    #[test]
    fn named_orders_are_those_of_the_papers(
        (run, estimate, procs, submit, more) in (0u32..200_000, 0u32..200_000, 1u32..5000, 0u32..90_000_000, 0u32..900_000),
    ) {
        let (run, estimate, procs) = (f64::from(run), f64::from(estimate), f64::from(procs));
        let (submit, wait) = (f64::from(submit), f64::from(more));
        let facts = WaitingFacts { run, estimate, procs, submit, ..WaitingFacts::default() };
        let moment = Moment { now: submit + wait, ..Moment::default() };
        for order in NAMED {
            let formula: Formula = order.name.parse().expect("a name");
            let naive_facts = NaiveKnown { run, estimate, procs, submit, wait, ..NaiveKnown::default() };
            let (own_value, published_value) = (formula.compute_value(&facts, &moment), published_rank(order.name, &naive_facts));
            prop_assert!((own_value - published_value).abs() <= 1e-12 * published_value.abs(), "{}: {own_value}, {published_value}", order.name);
        }
    }
}
