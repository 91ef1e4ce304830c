//! The default output of a search: what was found, its gain where it was not chosen, and how to
//! use it.

use super::evolved::{Evolved, log_heading};
use super::{BESIDE, RANDOM};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{format_change, format_fixed, format_hours, format_minutes};
use drystone::inference::{DifferenceVerdict, says_nothing};
use drystone_evolve::{OnLog, PolicyVerdict};

/// The name under which the best formula is judged.
const EVOLVED: &str = "evolved";

/// The document, of thirty lines and eighty columns where one log is judged.
pub(super) fn render_overview(result: &Evolved) -> Document {
    let mut document = Document::default();
    document.add_heading(result.workload.format_line());
    let mut facts = Vec::new();
    if let Some(formula) = result.front.last() {
        facts.push(("Found".to_string(), formula.formula.clone()));
    }
    for log in &result.logs {
        if let Some(best) = log.verdicts.iter().find(|verdict| verdict.name == EVOLVED) {
            facts.push(("Gain".to_string(), describe_gain(result, log, best)));
        }
    }
    for log in &result.logs {
        if let Some(caution) = find_caution(result, log) {
            facts.push(("Caution".to_string(), caution));
        }
    }
    let policy = result.policy.replace('?', "FORMULA");
    facts.push(("Use".to_string(), format!("drystone compare LOG -p easy -p '{policy}'")));
    document.add_facts(facts);
    for log in &result.logs {
        document.add_heading(log_heading(log));
        document.add_table(order_table(log));
    }
    document.add_text("More: --details (settings, formulas by size, weeks seen), --format json|csv");
    document
}

/// The change of the objective on weeks that the search has not seen.
fn describe_gain(result: &Evolved, log: &OnLog, best: &PolicyVerdict) -> String {
    let against = log.verdicts.first().map_or("fcfs", |first| first.name.as_str());
    let signs = best.signs.and_then(|signs| signs.describe("week")).map_or(String::new(), |signs| format!("; {signs}"));
    let interval = match best.interval {
        None => "too few weeks for an interval".to_string(),
        Some(interval) if says_nothing(interval) => "nothing can be said of the size".to_string(),
        Some((low, high)) => format!("95% interval {} to {}", format_change(low), format_change(high)),
    };
    format!(
        "{} by {}: {} against {against} ({interval}{signs})",
        log.log,
        result.objective,
        format_change(best.unseen_change)
    )
}

/// A warning where the gain is not clear, another order is better, a guard does not hold or the
/// longest wait grows: on weeks that the search has not seen.
fn find_caution(result: &Evolved, log: &OnLog) -> Option<String> {
    let (first, best) = (log.verdicts.first()?, log.verdicts.iter().find(|verdict| verdict.name == EVOLVED)?);
    let mut cautions = Vec::new();
    if best.verdict != Some(DifferenceVerdict::Shorter) {
        cautions.push("the weeks do not show that it is better".to_string());
    }
    cautions.extend(better_orders(log, best));
    cautions.extend(broken_guard(result, log, best));
    if result.guard.is_none() && best.unseen_longest_wait > 2.0 * first.unseen_longest_wait {
        let hours = |seconds: f64| format_hours(Some(seconds));
        cautions.push(format!(
            "the longest wait is {} h instead of {} h; --guard 'wait_max<=1.5*easy' bounds it on the weeks that formulas \
             are chosen by",
            hours(best.unseen_longest_wait),
            hours(first.unseen_longest_wait)
        ));
    }
    let on_log = if result.logs.len() > 1 { format!("{}: ", log.log) } else { String::new() };
    (!cautions.is_empty()).then(|| format!("{on_log}{}", cautions.join("; ")))
}

/// The published orders, and the best at random, that are better than what was found.
fn better_orders(log: &OnLog, best: &PolicyVerdict) -> Option<String> {
    let is_reference = |verdict: &&PolicyVerdict| BESIDE.contains(&verdict.name.as_str()) || verdict.name == RANDOM;
    let mut better: Vec<&PolicyVerdict> =
        log.verdicts.iter().filter(is_reference).filter(|verdict| verdict.unseen < best.unseen).collect();
    better.sort_by(|a, b| a.unseen.total_cmp(&b.unseen));
    let names: Vec<String> =
        better.iter().map(|verdict| format!("{} ({})", verdict.name, format_change(verdict.unseen_change))).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let remark = format!("better there than what was found ({})", format_change(best.unseen_change));
    (!names.is_empty()).then(|| format!("{} {are} {remark}", names.join(", ")))
}

/// A guard that is broken on weeks that were not seen.
fn broken_guard(result: &Evolved, log: &OnLog, best: &PolicyVerdict) -> Option<String> {
    let (guard, bound, value) = (result.guard.as_ref()?, log.unseen_bound?, best.unseen_guarded?);
    if value <= bound {
        return None;
    }
    let has_held = result.front.last().is_some_and(|formula| formula.score.excess == 0.0);
    let guard_note = if has_held {
        "it held on the weeks that formulas were chosen by"
    } else {
        "no formula kept it on its own weeks"
    };
    Some(format!(
        "the guard {guard} is broken: {} instead of at most {}; {guard_note}",
        format_fixed(value, 1),
        format_fixed(bound, 1)
    ))
}

/// The orders on the weeks that were not seen.
fn order_table(log: &OnLog) -> DocumentTable {
    let columns = ["order", "value", "change", "95% interval", "mean wait, min", "longest wait, h"];
    let mut table = DocumentTable::new(columns).with_text_columns(&[0]);
    // The smaller formulas of the front are among the details.
    let smaller = |verdict: &&PolicyVerdict| verdict.name.starts_with(EVOLVED) && verdict.name != EVOLVED;
    for verdict in log.verdicts.iter().filter(|verdict| !smaller(verdict)) {
        let interval = verdict.interval.map(|(low, high)| format!("{} to {}", format_change(low), format_change(high)));
        let name = if verdict.name == EVOLVED {
            TableValue::toned_text(verdict.name.clone(), Tone::Strong)
        } else {
            verdict.name.as_str().into()
        };
        table.add_row(vec![
            name,
            format_fixed(verdict.unseen, 2).into(),
            format_change(verdict.unseen_change).into(),
            interval.unwrap_or_else(|| "-".to_string()).into(),
            format_minutes(Some(verdict.unseen_wait)).into(),
            format_hours(Some(verdict.unseen_longest_wait)).into(),
        ]);
    }
    table
}
