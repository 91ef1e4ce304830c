//! A comparison as it is printed by default: a recommendation, its price and one table, in thirty
//! lines of eighty columns.

use super::choices::{RoleChoices, find_change, keeps_the_gain};
use super::result::CompareResult;
use super::{verdict, words};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{
    NONE, TimeUnit, exact_percent, format_count, format_duration, format_fixed, format_percent, format_plural,
    whole_change,
};
use drystone::inference::says_nothing;
use drystone::metrics::{LEAST_WEEKS, Measure, Metric, MetricChange, MetricVerdict, Payer, find_payers};
use drystone_report::PolicyResult;
use drystone_report::meta::WORLD;

/// Lines of the whole overview, as long as nothing beyond it was asked for.
const LINES: usize = 30;
pub(super) const COLUMNS: usize = 80;
/// Fewest policies in the table, however long the words above it are.
const LEAST_ROWS: usize = 3;
/// Relative growth of the longest wait up to which a policy counts as safe.
const SAFE: f64 = 0.1;
/// Relative change above which a ratio is easier to read: 57 times.
const MANY: f64 = 9.0;

/// The comparison in thirty lines; sections that were asked for by an option follow.
pub(super) fn render_overview(result: &CompareResult) -> Document {
    let result_count = result.results.len();
    let sizes = (LEAST_ROWS.min(result_count)..=result_count).rev();
    let cautions = list_cautions(result);
    let with = |rows: usize, caution_count: usize| {
        render_document(result, rows, &cautions[..caution_count], cautions.len() - caution_count)
    };
    let fits = |document: &Document| document.count_lines(Some(COLUMNS)) <= LINES;
    let caution_counts = (1..=cautions.len()).rev().chain([0]);
    // Rows make room for the first caution, later cautions make room for rows.
    let mut document = sizes
        .flat_map(|rows| caution_counts.clone().map(move |caution_count| (rows, caution_count)))
        .map(|(rows, caution_count)| with(rows, caution_count))
        .find(fits)
        .unwrap_or_else(|| with(LEAST_ROWS.min(result_count), 0));
    let mut more = document.clone();
    super::document::use_of_resources(result, &mut more);
    if fits(&more) {
        document = more;
    }
    super::document::asked_for(result, &mut document);
    document
}

fn render_document(result: &CompareResult, rows: usize, cautions: &[String], untold: usize) -> Document {
    let mut document = Document::default();
    document.add_heading(workload_heading(result));
    let mut facts: Vec<(String, String)> = Vec::new();
    facts.extend(result.workload.find_setting(WORLD).map(|world| ("World".to_string(), world.to_string())));
    facts.extend(result.held_back().map(|sentence| ("Waiting".to_string(), sentence)));
    facts.extend(decision_lines(result));
    let caution =
        |(at, text): (usize, &String)| (if at == 0 { "Caution".to_string() } else { String::new() }, text.clone());
    facts.extend(cautions.iter().enumerate().map(caution));
    if untold > 0 {
        let name = if cautions.is_empty() { "Caution" } else { "" };
        let more = match untold {
            1 => "one more caution: --details".to_string(),
            n => format!("{n} more cautions: --details"),
        };
        facts.push((name.to_string(), more));
    }
    document.add_facts(facts);
    let shown_policies = order_policies(result, rows);
    document.add_table(policy_table(result, &shown_policies));
    document.add_text(format_footer(result, shown_policies.len()));
    document
}

fn workload_heading(result: &CompareResult) -> String {
    let meta = &result.workload;
    let span = meta.load_span();
    let days = span.as_f64() / 86_400.0;
    let span = if days < 10.0 { format_duration(span.as_f64()) } else { format!("{} days", format_fixed(days, 0)) };
    format!(
        "{}: {}, {}, {span}, load {}",
        meta.name,
        format_plural(meta.jobs, "job"),
        format_plural(u64::from(meta.procs), "processor"),
        format_percent(meta.load, 0)
    )
}

/// The lines Recommended, Price and Safer.
fn decision_lines(result: &CompareResult) -> Vec<(String, String)> {
    let fact = |name: &str, text: String| (name.to_string(), text);
    let recommendation = result.summary.recommended.as_deref().and_then(|name| Some((name, result.find_policy(name)?)));
    let Some((name, policy_result)) = recommendation else {
        return vec![fact("Recommended", nothing_recommended(result))];
    };
    let doubt = if result.summary.doubts.is_empty() { "" } else { ", in doubt" };
    let mut facts = vec![fact("Recommended", format!("{name}{doubt}: {}", describe_gain(result, name)))];
    facts.push(fact("To run it", words::how_in_short(&policy_result.policy).to_string()));
    let price = describe_price(result, policy_result);
    if price.is_empty() {
        let no_price_text = "no class of jobs waits clearly longer, and no more announced starts are missed";
        facts.push(fact("Price", format!("none found: {no_price_text}")));
        return facts;
    }
    facts.push(fact("Price", price.join("; ")));
    let safer = match find_safer(result, name) {
        Some(policy_result) => format!(
            "{}: {}; {}",
            policy_result.policy.text,
            describe_gain(result, &policy_result.policy.text),
            describe_safety(result, policy_result)
        ),
        None => format!("{} itself: every better policy has such a price", result.baseline),
    };
    facts.push(fact("Safer", safer));
    facts
}

/// Returns the reason why no policy is recommended.
fn nothing_recommended(result: &CompareResult) -> String {
    if result.comparison.policies.is_empty() {
        return result.summary.headline.clone();
    }
    if result.comparison.weeks < LEAST_WEEKS {
        let weeks = format_plural(result.comparison.weeks as u64, "week");
        return format!("nothing yet: intervals need {LEAST_WEEKS} weeks of jobs, and this log has {weeks}");
    }
    format!("keep {}. {}", result.baseline, result.summary.headline)
}

fn describe_gain(result: &CompareResult, name: &str) -> String {
    let changes = result.policy_changes(name).unwrap_or_default();
    let confidence = exact_percent(result.comparison.options.confidence);
    let describe_mean = |measure: Measure| {
        let change = find_change(changes, Metric::Mean(measure)).filter(|c| c.verdict == MetricVerdict::Better)?;
        let relative = change.relative?;
        let less = match measure {
            Measure::Wait => "less waiting",
            _ => "less bounded slowdown",
        };
        let interval = change.interval.map(|(low, high)| match says_nothing((low, high)) {
            true => {
                let signs = change.evidence.signs.and_then(|signs| signs.describe("week"));
                format!(" ({}; nothing can be said of the size)", signs.unwrap_or_default())
            }
            false => format!(
                " ({confidence} interval {} to {}%)",
                format_fixed(-high * 100.0, 0),
                format_fixed(-low * 100.0, 0)
            ),
        });
        Some(format!(
            "{} {less} than {}{}",
            format_percent(Some(-relative), 0),
            result.baseline,
            interval.unwrap_or_default()
        ))
    };
    match (describe_mean(Measure::Wait), describe_mean(Measure::BoundedSlowdown)) {
        (Some(wait), Some(_)) => wait,
        (Some(wait), None) => format!("{wait}; bounded slowdown unclear"),
        (None, Some(slowdown)) => format!("{slowdown}; mean wait unclear"),
        (None, None) => String::new(),
    }
}

/// The costs of a policy that the mean wait hides.
fn describe_price(result: &CompareResult, policy_result: &PolicyResult) -> Vec<String> {
    let mut price = Vec::new();
    if let Some((value, base)) = longest_waits(result, policy_result)
        && value > base * (1.0 + SAFE)
    {
        price.push(format!("longest wait {} instead of {}", format_duration(value), format_duration(base)));
    }
    let paying = paying_classes(result, policy_result);
    if let Some(first) = paying.first() {
        let more = match paying.len() - 1 {
            0 => String::new(),
            1 => " and one more class".to_string(),
            n => format!(" and {n} more classes"),
        };
        price.push(format!("{}{more}", verdict::describe_payer(first)));
    }
    if missed_share(policy_result) > missed_by_baseline(result) + 0.01 {
        price.push(format!("{} missed", describe_starts(policy_result)));
    }
    price
}

/// Classes of jobs whose mean wait is clearly longer; their longest waits are no longer than the
/// longest of all, which is a price of its own.
fn paying_classes(result: &CompareResult, policy_result: &PolicyResult) -> Vec<Payer> {
    let Some(base) = result.find_policy(&result.baseline) else { return Vec::new() };
    let classes = find_payers(&base.report, &policy_result.report, result.comparison.options.confidence);
    classes.into_iter().filter(|payer| payer.by_mean).collect()
}

/// The longest wait and the missed starts of a policy that has neither price.
fn describe_safety(result: &CompareResult, policy_result: &PolicyResult) -> String {
    let longest = longest_waits(result, policy_result)
        .map_or_else(String::new, |(value, _)| format!("longest wait {}", format_duration(value)));
    match policy_result.promises.promised {
        0 => longest,
        _ => format!("{longest}, {} missed", describe_starts(policy_result)),
    }
}

fn describe_starts(policy_result: &PolicyResult) -> String {
    format!(
        "{} of {} announced starts",
        format_count(policy_result.promises.broken),
        format_count(policy_result.promises.promised)
    )
}

/// The policy with the shortest mean wait among those without a price that are clearly better by
/// the mean for which the recommended one is.
fn find_safer<'a>(result: &'a CompareResult, reference: &str) -> Option<&'a PolicyResult> {
    let sound = result.summary.choices.as_deref().unwrap_or_default();
    let changes = |policy: &str| result.policy_changes(policy).unwrap_or_default();
    let better =
        |policy_result: &&PolicyResult| keeps_the_gain(changes(&policy_result.policy.text), changes(reference));
    let turns = |name: &str| result.readings.as_ref().is_some_and(|readings| readings.has_reversal(name));
    result
        .results
        .iter()
        .filter(|policy_result| policy_result.policy.text != reference && sound.contains(&policy_result.policy.text))
        .filter(|policy_result| describe_price(result, policy_result).is_empty() && !turns(&policy_result.policy.text))
        .filter(better)
        .min_by(|a, b| policy_mean_wait(a).total_cmp(&policy_mean_wait(b)))
}

/// The longest wait of a policy and of the baseline, in seconds.
fn longest_waits(result: &CompareResult, policy_result: &PolicyResult) -> Option<(f64, f64)> {
    policy_result.report.measures.wait.max.zip(result.find_policy(&result.baseline)?.report.measures.wait.max)
}

fn missed_share(policy_result: &PolicyResult) -> f64 {
    policy_result.promises.broken as f64 / policy_result.promises.promised.max(1) as f64
}

fn missed_by_baseline(result: &CompareResult) -> f64 {
    result.find_policy(&result.baseline).map_or(0.0, missed_share)
}

fn policy_mean_wait(policy_result: &PolicyResult) -> f64 {
    policy_result.report.measures.wait.mean.unwrap_or(f64::INFINITY)
}

/// Reasons for doubt, the weightiest first.
fn list_cautions(result: &CompareResult) -> Vec<String> {
    let mut cautions: Vec<String> = passed_over(result).into_iter().collect();
    cautions.extend(result.summary.open.iter().cloned());
    let pays = |name: &String| verdict::who_pays(&result.comparison, &result.results, name, verdict::WHOLE);
    // The price names one class.
    let recommendation = result.summary.recommended.as_ref();
    if recommendation
        .and_then(|name| result.find_policy(name))
        .is_some_and(|policy_result| paying_classes(result, policy_result).len() != 1)
    {
        cautions.extend(recommendation.and_then(pays));
    }
    if passed_over(result).is_none() {
        let choices = RoleChoices::from_comparison(&result.comparison, &result.results, result.asked);
        cautions.extend(choices.format_sentence(1));
    }
    let reference: Vec<&str> = result
        .results
        .iter()
        .filter(|policy_result| is_reference(result, policy_result))
        .map(|policy_result| policy_result.policy.text.as_str())
        .collect();
    if !reference.is_empty() {
        let names = reference.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = match reference.len().saturating_sub(3) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        cautions.push(format!("For reference only, since they know run times or suspend jobs: {names}{more}."));
    }
    cautions
}

/// Names the policy with the shortest mean wait of all, where that is clearly better, shorter than
/// that of the recommended policy, and not recommended for its price.
fn passed_over(result: &CompareResult) -> Option<String> {
    let recommended_wait = policy_mean_wait(result.find_policy(result.summary.recommended.as_deref()?)?);
    let choices = RoleChoices::from_comparison(&result.comparison, &result.results, result.asked);
    let waits = |name: &str| result.find_policy(name).map_or(f64::INFINITY, policy_mean_wait);
    let clear = choices.apart.iter().filter_map(|(policy, price)| {
        let change =
            find_change(&policy.changes, Metric::Mean(Measure::Wait)).filter(|c| c.verdict == MetricVerdict::Better)?;
        Some((policy.name.as_str(), change.relative?, price)).filter(|(name, ..)| waits(name) < recommended_wait)
    });
    let (name, relative, price) = clear.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!("Not recommended despite {} less waiting: {name} ({price}).", format_percent(Some(-relative), 0)))
}

/// Returns whether a policy serves as a reference only: it knows run times, or suspends jobs
/// without being asked to.
fn is_reference(result: &CompareResult, policy_result: &PolicyResult) -> bool {
    policy_result.policy.text != result.baseline
        && (policy_result.policy.clairvoyant || policy_result.policy.preemptive && !result.asked)
}

/// The policies of the table: the recommended one, the others by mean wait, policies for reference
/// last; the baseline is always among them.
fn order_policies(result: &CompareResult, rows: usize) -> Vec<&PolicyResult> {
    let recommended_name = result.summary.recommended.as_deref();
    let rank = |policy_result: &PolicyResult| match policy_result.policy.text.as_str() {
        text if Some(text) == recommended_name => 0,
        _ if is_reference(result, policy_result) => 2,
        _ => 1,
    };
    let mut order: Vec<&PolicyResult> = result.results.iter().collect();
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(policy_mean_wait(a).total_cmp(&policy_mean_wait(b))));
    let base = order.iter().position(|policy_result| policy_result.policy.text == result.baseline);
    if let Some(at) = base.filter(|&at| at >= rows && rows > 0) {
        order.swap(rows - 1, at);
    }
    order.truncate(rows);
    order
}

fn policy_table(result: &CompareResult, policy_results: &[&PolicyResult]) -> DocumentTable {
    let intervals = result
        .results
        .iter()
        .any(|policy_result| mean_wait(result, policy_result).is_some_and(|c| c.interval.is_some()));
    let base = result.find_policy(&result.baseline);
    let unit = |of: fn(&PolicyResult) -> Option<f64>| TimeUnit::for_seconds(base.and_then(of).unwrap_or(0.0));
    let mean: fn(&PolicyResult) -> Option<f64> = |policy_result| policy_result.report.measures.wait.mean;
    let p95: fn(&PolicyResult) -> Option<f64> = |policy_result| policy_result.report.measures.wait.p95;
    let max: fn(&PolicyResult) -> Option<f64> = |policy_result| policy_result.report.measures.wait.max;
    let units = [unit(mean), unit(p95), unit(max)];
    let against = if intervals {
        format!("against {} (interval)", result.baseline)
    } else {
        format!("against {}", result.baseline)
    };
    let heads = [
        "policy".to_string(),
        format!("mean wait, {}", units[0].name()),
        against,
        String::new(),
        format!("95% within, {}", units[1].name()),
        format!("longest, {}", units[2].name()),
    ];
    let mut table = DocumentTable::new(heads).with_text_columns(&[0, 2, 3]).with_beside_columns(&[3]);
    let decimals = usize::from(result.results.iter().any(|policy_result| is_fine(mean_wait(result, policy_result))));
    for policy_result in policy_results {
        let is_base = policy_result.policy.text == result.baseline;
        let is_best = result.summary.recommended.as_deref() == Some(policy_result.policy.text.as_str());
        let name =
            if is_base { format!("{} (baseline)", policy_result.policy.text) } else { policy_result.table_label() };
        let (text, word, tone) = mean_wait(result, policy_result).map_or_else(
            || (if is_base { String::new() } else { NONE.to_string() }, "", Tone::Faint),
            |change| format_change(change, decimals),
        );
        // Where the log is too short for any interval, the first line says so.
        let word = if intervals { word } else { "" };
        let time = |unit: TimeUnit, of: fn(&PolicyResult) -> Option<f64>| {
            TableValue::from(unit.format_seconds(of(policy_result)))
        };
        table.add_row(vec![
            TableValue::toned_text(name, if is_best { Tone::Strong } else { Tone::Plain }),
            time(units[0], mean),
            TableValue::toned_text(text, tone),
            TableValue::toned_text(word, tone),
            time(units[1], p95),
            time(units[2], max),
        ]);
    }
    table
}

fn mean_wait<'a>(result: &'a CompareResult, policy_result: &PolicyResult) -> Option<&'a MetricChange> {
    find_change(result.policy_changes(&policy_result.policy.text)?, Metric::Mean(Measure::Wait))
}

/// Returns whether a clear change would read as no change at all if it were rounded to whole per
/// cents.
fn is_fine(change: Option<&MetricChange>) -> bool {
    let zero = |value: f64| (value * 100.0).round() == 0.0;
    change.is_some_and(|c| {
        let clear = matches!(c.verdict, MetricVerdict::Better | MetricVerdict::Worse);
        clear && c.relative.is_some_and(zero)
    })
}

/// A change, its verdict, and how it is coloured.
fn format_change(change: &MetricChange, decimals: usize) -> (String, &'static str, Tone) {
    let (word, tone) = match change.verdict {
        MetricVerdict::Better => ("better", Tone::Good),
        MetricVerdict::Worse => ("worse", Tone::Bad),
        MetricVerdict::Same => ("same", Tone::Faint),
        MetricVerdict::Alike => ("alike", Tone::Faint),
        MetricVerdict::Unclear => ("unclear", Tone::Faint),
        MetricVerdict::InsideReplayError => ("within error", Tone::Faint),
        MetricVerdict::TooFewWeeks => ("uncertain", Tone::Faint),
        _ => ("", Tone::Faint),
    };
    let Some(relative) = change.relative else { return (NONE.to_string(), word, tone) };
    if relative > MANY {
        return (format!("{} times", format_fixed(1.0 + relative, 0)), word, tone);
    }
    let text = match change.interval {
        Some(interval) if says_nothing(interval) => format!("{}% (size unknown)", whole_change(relative, decimals)),
        Some((low, high)) => format!(
            "{}% ({} to {})",
            whole_change(relative, decimals),
            whole_change(low, decimals),
            whole_change(high, decimals)
        ),
        None => format!("{}%", whole_change(relative, decimals)),
    };
    (text, word, tone)
}

/// Names the units of the intervals, and the number of comparisons that the words count.
fn judged_by(result: &CompareResult) -> Option<String> {
    let comparison = &result.comparison;
    let family = match comparison.policies.len() {
        0 => return None,
        1 => String::new(),
        many => format!("; words count all {many} comparisons"),
    };
    let confidence = exact_percent(comparison.options.confidence);
    Some(format!("Intervals: {confidence}, from {}{family}", comparison.basis?.describe("week")))
}

/// Returns the pointers to more output.
fn format_footer(result: &CompareResult, row_count: usize) -> String {
    let mut lines = Vec::new();
    match result.results.len() - row_count {
        0 => {}
        1 => lines.push("One more policy: --details".to_string()),
        more => lines.push(format!("{more} more policies: --details")),
    }
    lines.extend(judged_by(result));
    if result.baseline == "easy" {
        lines.push("easy = standard backfilling. What each policy does: drystone policies".to_string());
    }
    if result.example {
        lines.push("This is the built-in example. Your own log: drystone compare LOG.swf.gz".to_string());
    }
    lines.push("More: --details (slowdown, promises)   --report out.html (page with plots)".to_string());
    lines.join("\n")
}
