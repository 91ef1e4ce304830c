//! Changes of a workload whose effect on the schedule is known: which policy must follow which, and
//! why others need not.
//!
//! The table is [`follows`]; docs/trust.md shows it. A policy that must follow a change is checked
//! under it; where it need not, the table says why.

use crate::subject;
use crate::{cases, formulas, seed, side_by_side};
use drystone::parts::Order;
use drystone::parts::formula::{Expr, Variable};
use drystone::policy::{PolicySpec, built_in};
use drystone_testkit::{
    CHANGES, CaseChange, PolicyCase, Random, Subject, attempt_with, check_change as holds, parameter_value,
};

/// Default answer for a new family.
const NOT_SAID: &str = "not said";

/// Returns whether a policy must follow a change; the error is the reason why it need not.
pub(crate) fn follows(spec: &PolicySpec, change: CaseChange) -> Result<(), &'static str> {
    let is = |name: &str, value: &str| parameter_value(spec, name) == value;
    let predictor = parameter_value(spec, "predict");
    let learns = !Subject::from_spec(spec).plans_with_estimates();
    // `auto` corrects those that learn.
    let has_corrections = !(is("correct", "none") || is("correct", "auto") && !learns);
    let kind = spec.kind().name;
    let plain = formulas::all_orders(spec, |_, order| !matches!(order, Order::Formula(_)));
    let never_asks = |says: &dyn Fn(&Expr) -> bool| formulas::all_orders(spec, |_, order| !formulas::asks(order, says));
    match change {
        // Those that tick do so at multiples of `every` on the clock: shifts are multiples of all
        // that are tried.
        CaseChange::Shift => Ok(()),
        CaseChange::Scale => match kind {
            _ if learns => Err("averages are rounded to whole seconds"),
            _ if has_corrections => Err("corrections are minutes and hours"),
            _ if is("order", "lxf") || is("backfill", "lxf") => {
                Err("an expansion factor takes every job for a second long")
            }
            _ if !plain => Err("a formula may count seconds"),
            "fcfs" | "greedy" | "easy" if !is("starve", "none") => Err("patience is seconds"),
            "fcfs" | "greedy" | "committed" => Ok(()),
            // A job predicted to run for no time is planned for a second.
            "easy" if is("reserve", "0") || is("reserve", "1") => Ok(()),
            "easy" | "conservative" => {
                Err("a second is the least that is planned, and an overdue job gets at least a minute")
            }
            "goal" => Err("slowdowns are bounded, and thresholds are hours"),
            "multiqueue" => Err("borders and delays are seconds"),
            "slack" => Err("the average wait is seconds, and an overdue job gets at least a minute"),
            "ss" | "tss" | "is" => Err("the clock ticks in seconds"),
            _ => Err(NOT_SAID),
        },
        CaseChange::Rename => match kind {
            "slack" | "multiqueue" if !is("priorities", "equal") => Err("priorities may name users"),
            _ if !never_asks(&|e| *e == Expr::Variable(Variable::User)) => Err("a formula may name users"),
            "goal" if parameter_value(spec, "objective").contains("special") => Err("it may name users"),
            _ => Ok(()),
        },
        CaseChange::Split => match kind {
            _ if learns => Err("predictions come from what was before, or are drawn by a job's number"),
            _ if !never_asks(&|e| {
                matches!(e, Expr::Variable(Variable::Submit | Variable::Waited) | Expr::Usage(_))
            }) =>
            {
                Err("a formula may count from the first submit, and usage is what was before")
            }
            "fcfs" | "easy" | "greedy" | "committed" | "conservative" | "is" => Ok(()),
            "ss" if !is("sf", "auto") => Ok(()),
            "ss" | "tss" => Err("what is usual is learned from what was before"),
            "goal" if parameter_value(spec, "objective").contains("fair") => Err("shares are those of what was before"),
            "goal" => Ok(()),
            "multiqueue"
                if is("own", "shared") && is("delay", "none") && !is("bounds", "auto") && is("priorities", "equal") =>
            {
                Ok(())
            }
            "multiqueue" => Err(
                "partitions, borders and the delay follow what was before; every N-th job counts from the first one",
            ),
            "slack" if !is("awt", "auto") && !is("awt", "length") && is("priorities", "equal") => Ok(()),
            "slack" => {
                Err("the average wait is that of the jobs before; quotas and every N-th job count from the first one")
            }
            _ => Err(NOT_SAID),
        },
        CaseChange::Append => Ok(()),
        CaseChange::Double => match kind {
            _ if predictor.contains("learn") => Err("widths are among what is learned from"),
            _ if !plain => Err("a formula may count processors"),
            "fcfs" | "easy" | "greedy" | "committed" | "conservative" => Ok(()),
            "goal" => Err("thresholds of areas are in processors, and slowdowns weighed by them are rounded"),
            "multiqueue" if is("own", "shared") && is("widths", "none") => Ok(()),
            "multiqueue" => Err("partitions are whole processors, and widths are numbers of them"),
            "slack" if is("au", "1") || is("au", "0") => Ok(()),
            "slack" => Err("powers of processors are rounded"),
            "is" => Ok(()),
            "ss" if is("place", "contiguous") => Err("pieces are found among whole processors"),
            "ss" => Ok(()),
            "tss" => Err("categories are numbers of processors"),
            _ => Err(NOT_SAID),
        },
        _ => Err(NOT_SAID),
    }
}

/// Every text of the registry that must follow a change does so.
#[test]
fn policies_follow_the_changes_that_they_must() {
    let seed = seed();
    let specs = subject::fixed();
    let failures = side_by_side(&specs, |at, spec| {
        let changes = CHANGES.iter().enumerate().filter(|(_, change)| follows(spec, **change).is_ok());
        let trials = changes.filter_map(|(place, &change)| {
            let subject = subject::of(spec);
            let mut random = Random::new(seed.wrapping_add(at as u64 * 7_000_003 + place as u64));
            let hold = |subject: &Subject, case: &PolicyCase| holds(change, subject, case);
            (0..cases().div_ceil(2))
                .find_map(|_| attempt_with(&subject, random.draw_bits(), &hold).err())
                .map(|failure| *failure)
        });
        trials.collect()
    });
    let counts = CHANGES.map(|change| specs.iter().filter(|spec| follows(spec, change).is_ok()).count());
    println!("followed: {counts:?} policies under {CHANGES:?}, seed {seed}");
    assert!(failures.is_empty(), "again with PROPTEST_RNG_SEED={seed}\n{failures}");
}

/// Each family must follow some change, and the table has an answer for every family and change.
#[test]
fn the_table_is_whole() {
    for kind in built_in() {
        let spec: PolicySpec = kind.name.parse().expect(kind.name);
        let answers: Vec<_> = CHANGES.iter().map(|&change| follows(&spec, change)).collect();
        assert!(answers.iter().filter(|a| a.is_ok()).count() >= 3, "{}: {answers:?}", kind.name);
        assert!(
            !answers.contains(&Err(NOT_SAID)),
            "{0}: {answers:?}; say in `follows` (crates/drystone-testkit/tests/it/metamorphic.rs) which changes of a workload {0} must follow, \
             and why not the others",
            kind.name
        );
    }
}
