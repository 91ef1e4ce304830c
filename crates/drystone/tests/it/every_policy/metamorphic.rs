//! Changes of a workload whose effect on the schedule is known: which policy must follow which, and why others need not.
//!
//! The table is [`follows`]; docs/trust.md shows it. A policy that must follow a change is checked under it; where it need not,
//! the table says why.

use super::case::{Case, Random, Row};
use super::check::simulate;
use super::shrink;
use super::subject::{self, Subject, value};
use super::{cases, formulas, seed};
use drystone::engine::Scheduler;
use drystone::parts::Order;
use drystone::parts::formula::{Expr, Variable};
use drystone::policy::{PolicySpec, kinds};

/// A change of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// All times are later by the same.
    Shift,
    /// All times and lengths are so many times as long.
    Scale,
    /// Users have other numbers, each one its own.
    Rename,
    /// The log is cut where nobody is there, and the pieces are simulated apart.
    Split,
    /// Another job arrives when all others have ended.
    Append,
    /// The machine and every job are twice as wide.
    Double,
}

const CHANGES: [Change; 6] =
    [Change::Shift, Change::Scale, Change::Rename, Change::Split, Change::Append, Change::Double];

/// What stands for a new family.
const NOT_SAID: &str = "not said";

/// Whether a policy must follow a change, or why it need not.
pub(crate) fn follows(spec: &PolicySpec, change: Change) -> Result<(), &'static str> {
    let is = |name: &str, wanted: &str| value(spec, name) == wanted;
    let predictor = value(spec, "predict");
    let learns = ["recent", "quantile", "learn"].iter().any(|word| predictor.contains(word));
    // `auto` corrects those that learn.
    let corrected = !(is("correct", "none") || is("correct", "auto") && !learns);
    let kind = spec.kind().name;
    let plain = formulas::all_orders(spec, |_, order| !matches!(order, Order::Formula(_)));
    let never_asks = |says: &dyn Fn(&Expr) -> bool| formulas::all_orders(spec, |_, order| !formulas::asks(order, says));
    match change {
        // Those that tick do so at multiples of `every` on the clock: shifts are multiples of all that are tried.
        Change::Shift => Ok(()),
        Change::Scale => match kind {
            _ if learns => Err("averages are rounded to whole seconds"),
            _ if corrected => Err("corrections are minutes and hours"),
            _ if is("order", "lxf") || is("backfill", "lxf") => {
                Err("an expansion factor takes every job for a second long")
            }
            _ if !plain => Err("a formula may count seconds"),
            "fcfs" | "greedy" | "easy" if !is("starve", "none") => Err("patience is seconds"),
            "fcfs" | "greedy" => Ok(()),
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
        Change::Rename => match kind {
            "slack" if !is("priorities", "equal") => Err("priorities may name users"),
            _ if !never_asks(&|e| *e == Expr::Variable(Variable::User)) => Err("a formula may name users"),
            "goal" if value(spec, "objective").contains("special") => Err("it may name users"),
            _ => Ok(()),
        },
        Change::Split => match kind {
            _ if learns => Err("predictions come from what was before"),
            _ if !never_asks(&|e| {
                matches!(e, Expr::Variable(Variable::Submit | Variable::Waited) | Expr::Usage(_))
            }) =>
            {
                Err("a formula may count from the first submit, and usage is what was before")
            }
            "fcfs" | "easy" | "greedy" | "conservative" | "is" => Ok(()),
            "ss" if !is("sf", "auto") => Ok(()),
            "ss" | "tss" => Err("what is usual is learned from what was before"),
            "goal" if value(spec, "objective").contains("fair") => Err("shares are those of what was before"),
            "goal" => Ok(()),
            "multiqueue" if is("own", "shared") && is("delay", "none") && !is("bounds", "auto") => Ok(()),
            "multiqueue" => Err("partitions, borders and the delay follow what was before"),
            "slack" if !is("awt", "auto") && is("priorities", "equal") => Ok(()),
            "slack" => {
                Err("the average wait is that of the jobs before; quotas and every N-th job count from the first one")
            }
            _ => Err(NOT_SAID),
        },
        Change::Append => Ok(()),
        Change::Double => match kind {
            _ if predictor.contains("learn") => Err("widths are among what is learned from"),
            _ if !plain => Err("a formula may count processors"),
            "fcfs" | "easy" | "greedy" | "conservative" => Ok(()),
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
    }
}

/// Every `every` that is tried divides seven of it.
const DAY: i64 = 86_400;

/// Starts, suspensions and ends by job, as far as both schedules can be compared.
fn schedule(make: &dyn Fn() -> Scheduler, case: &Case) -> Result<Vec<(usize, i64, i64)>, String> {
    let workload = case.workload();
    let seen = simulate(make(), case, &workload)?;
    let mut all: Vec<_> = seen.segments.iter().map(|s| (s.job, s.start, s.end)).collect();
    all.sort_unstable();
    Ok(all)
}

fn changed(case: &Case, change: impl Fn(&mut Row)) -> Case {
    let mut other = case.clone();
    other.rows.iter_mut().for_each(change);
    other
}

fn holds(change: Change, subject: &Subject, case: &Case) -> Result<(), String> {
    let make = &subject.make;
    if make().fits(&case.workload()).is_err() {
        return Ok(());
    }
    let before = schedule(make, case)?;
    let same = |expected: Vec<(usize, i64, i64)>, other: &Case| {
        let after = schedule(make, other)?;
        let different = expected.iter().zip(&after).find(|(a, b)| a != b);
        if different.is_some() || expected.len() != after.len() {
            return Err(format!("{change:?}: expected, found: {different:?}"));
        }
        Ok(())
    };
    match change {
        Change::Shift => {
            let by = 7_000 * DAY;
            let expected = before.iter().map(|&(job, start, end)| (job, start + by, end + by)).collect();
            same(expected, &changed(case, |r| r.submit += by))
        }
        Change::Scale => {
            // An estimate of nothing stays one, and the least is a second: shorter ones are left out.
            let by = 7;
            let case = changed(case, |r| r.submit *= by);
            let longer = |r: &mut Row| (r.run, r.estimate) = (r.run * by, r.estimate * by);
            let cancel = case.cancel.iter().map(|&(job, after)| (job, after * by)).collect();
            let other = Case { cancel, ..changed(&case, longer) };
            same(before.iter().map(|&(job, start, end)| (job, start * by, end * by)).collect(), &other)
        }
        Change::Rename => same(before, &changed(case, |r| r.user = [97, 5, 3, 1_000_000, 12][r.user as usize % 5])),
        Change::Append => {
            let last = before.iter().map(|s| s.2).max().unwrap_or(0).max(case.rows.last().map_or(0, |r| r.submit));
            let after = case.cancellations().last().map_or(last, |c| c.0.0.max(last)) + 100;
            let mut other = case.clone();
            other.rows.push(Row { submit: after, procs: case.procs, estimate: 50, run: 40, user: 1 });
            let workload = other.workload();
            let seen = simulate(make(), &other, &workload)?;
            let new = case.rows.len();
            let mut found: Vec<_> =
                seen.segments.iter().filter(|s| s.job < new).map(|s| (s.job, s.start, s.end)).collect();
            found.sort_unstable();
            if found == before { Ok(()) } else { Err("Append: what was before it has changed".to_string()) }
        }
        Change::Split => {
            // The same jobs a second time, long after; where the first are not over by then, nothing is compared.
            let by = 7_000 * DAY;
            let first = case.rows.first().map_or(0, |r| r.submit);
            let over = before.iter().map(|s| s.2).chain(case.cancellations().iter().map(|c| c.0.0)).max().unwrap_or(0);
            if over >= first + by {
                return Ok(());
            }
            let n = case.rows.len();
            let later = changed(case, |r| r.submit += by);
            let mut other = case.clone();
            other.rows.extend(&later.rows);
            other.cancel.extend(later.cancel.iter().map(|&(job, after)| (job + n, after)));
            let mut expected = before.clone();
            expected.extend(schedule(make, &later)?.iter().map(|&(job, start, end)| (job + n, start, end)));
            same(expected, &other)
        }
        Change::Double => {
            let mut other = changed(case, |r| r.procs *= 2);
            other.procs *= 2;
            same(before, &other)
        }
    }
}

/// Every text of the registry that must follow a change does so.
#[test]
fn policies_follow_the_changes_that_they_must() {
    let seed = seed();
    let mut failures = Vec::new();
    let mut checked = [0; CHANGES.len()];
    for (at, spec) in subject::fixed().iter().enumerate() {
        for (place, &change) in CHANGES.iter().enumerate() {
            if follows(spec, change).is_err() {
                continue;
            }
            checked[place] += 1;
            let subject = Subject::of(spec);
            let mut random = Random::new(seed.wrapping_add(at as u64 * 7_000_003 + place as u64));
            let hold = |subject: &Subject, case: &Case| holds(change, subject, case);
            let mut tries = (0..cases().div_ceil(2)).map(|_| shrink::attempt_with(&subject, random.next(), &hold));
            let tried = tries.find_map(Result::err);
            failures.extend(tried.map(|f| if failures.len() < super::SHOWN { f.report() } else { f.line() }));
        }
    }
    println!("followed: {checked:?} policies under {CHANGES:?}, seed {seed}");
    assert!(failures.is_empty(), "again with PROPTEST_RNG_SEED={seed}\n{}", failures.concat());
}

/// Each family must follow some change, and the table has an answer for every family and change.
#[test]
fn the_table_is_whole() {
    for kind in kinds() {
        let spec: PolicySpec = kind.name.parse().expect(kind.name);
        let answers: Vec<_> = CHANGES.iter().map(|&change| follows(&spec, change)).collect();
        assert!(answers.iter().filter(|a| a.is_ok()).count() >= 3, "{}: {answers:?}", kind.name);
        assert!(
            !answers.contains(&Err(NOT_SAID)),
            "{0}: {answers:?}; say in `follows` (tests/it/every_policy/metamorphic.rs) which changes of a workload {0} must follow, \
             and why not the others",
            kind.name
        );
    }
}
