//! A comparison as it is printed by default: a recommendation, its price and one table, in thirty
//! lines of eighty columns.

use super::choices::{RoleChoices, find, keeps_the_gain};
use super::result::CompareResult;
use super::{verdict, words};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{NONE, TimeUnit, count, duration, exact_percent, fixed, percent, plural, whole_change};
use drystone::inference::says_nothing;
use drystone::metrics::{LEAST_WEEKS, Measure, Metric, MetricChange, MetricVerdict, Payer, payers};
use drystone_report::PolicyResult;
use drystone_report::meta::WORLD;

/// Lines of the whole overview, as long as nothing beyond it was asked for.
const LINES: usize = 30;
/// Columns of the overview, wherever it is printed.
pub(super) const COLUMNS: usize = 80;
/// Fewest policies in the table, however long the words above it are.
const LEAST_ROWS: usize = 3;
/// Relative growth of the longest wait up to which a policy counts as safe.
const SAFE: f64 = 0.1;
/// Relative change above which a ratio is easier to read: 57 times.
const MANY: f64 = 9.0;

/// The comparison in thirty lines; sections that were asked for by an option follow.
pub(super) fn overview(result: &CompareResult) -> Document {
    let all = result.results.len();
    let sizes = (LEAST_ROWS.min(all)..=all).rev();
    let cautions = cautions(result);
    let with = |rows: usize, told: usize| document(result, rows, &cautions[..told], cautions.len() - told);
    let fits = |document: &Document| document.lines(Some(COLUMNS)) <= LINES;
    let told = (1..=cautions.len()).rev().chain([0]);
    // Rows make room for the first caution, later cautions make room for rows.
    let mut document = sizes
        .flat_map(|rows| told.clone().map(move |told| (rows, told)))
        .map(|(rows, told)| with(rows, told))
        .find(fits)
        .unwrap_or_else(|| with(LEAST_ROWS.min(all), 0));
    let mut more = document.clone();
    super::document::use_of_resources(result, &mut more);
    if fits(&more) {
        document = more;
    }
    super::document::asked_for(result, &mut document);
    document
}

fn document(result: &CompareResult, rows: usize, cautions: &[String], untold: usize) -> Document {
    let mut document = Document::default();
    document.heading(heading(result));
    let mut facts: Vec<(String, String)> = Vec::new();
    facts.extend(result.workload.setting(WORLD).map(|world| ("World".to_string(), world.to_string())));
    facts.extend(result.held_back().map(|held| ("Waiting".to_string(), held)));
    facts.extend(decision(result));
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
    document.facts(facts);
    let shown = order(result, rows);
    document.table(table(result, &shown));
    document.text(footer(result, shown.len()));
    document
}

/// The workload in a line.
fn heading(result: &CompareResult) -> String {
    let meta = &result.workload;
    let span = meta.span();
    let days = span.as_f64() / 86_400.0;
    let span = if days < 10.0 { duration(span.as_f64()) } else { format!("{} days", fixed(days, 0)) };
    format!(
        "{}: {}, {}, {span}, load {}",
        meta.name,
        plural(meta.jobs, "job"),
        plural(u64::from(meta.procs), "processor"),
        percent(meta.load, 0)
    )
}

/// The lines Recommended, Price and Safer.
fn decision(result: &CompareResult) -> Vec<(String, String)> {
    let fact = |name: &str, text: String| (name.to_string(), text);
    let found = result.summary.recommended.as_deref().and_then(|name| Some((name, result.one(name)?)));
    let Some((name, one)) = found else {
        return vec![fact("Recommended", nothing_recommended(result))];
    };
    let doubt = if result.summary.doubts.is_empty() { "" } else { ", in doubt" };
    let mut facts = vec![fact("Recommended", format!("{name}{doubt}: {}", gain(result, name)))];
    facts.push(fact("To run it", words::how_in_short(&one.policy).to_string()));
    let price = price(result, one);
    if price.is_empty() {
        let kept = "no class of jobs waits clearly longer, and no more announced starts are missed";
        facts.push(fact("Price", format!("none found: {kept}")));
        return facts;
    }
    facts.push(fact("Price", price.join("; ")));
    let safer = match safer(result, name) {
        Some(one) => format!("{}: {}; {}", one.policy.text, gain(result, &one.policy.text), safety(result, one)),
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
        let weeks = plural(result.comparison.weeks as u64, "week");
        return format!("nothing yet: intervals need {LEAST_WEEKS} weeks of jobs, and this log has {weeks}");
    }
    format!("keep {}. {}", result.baseline, result.summary.headline)
}

/// Describes the gain of a policy over the baseline.
fn gain(result: &CompareResult, name: &str) -> String {
    let changes = result.changes(name).unwrap_or_default();
    let confidence = exact_percent(result.comparison.options.confidence);
    let one = |measure: Measure| {
        let change = find(changes, Metric::Mean(measure)).filter(|c| c.verdict == MetricVerdict::Better)?;
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
            false => format!(" ({confidence} interval {} to {}%)", fixed(-high * 100.0, 0), fixed(-low * 100.0, 0)),
        });
        Some(format!("{} {less} than {}{}", percent(Some(-relative), 0), result.baseline, interval.unwrap_or_default()))
    };
    match (one(Measure::Wait), one(Measure::BoundedSlowdown)) {
        (Some(wait), Some(_)) => wait,
        (Some(wait), None) => format!("{wait}; bounded slowdown unclear"),
        (None, Some(slowdown)) => format!("{slowdown}; mean wait unclear"),
        (None, None) => String::new(),
    }
}

/// The costs of a policy that the mean wait hides.
fn price(result: &CompareResult, one: &PolicyResult) -> Vec<String> {
    let mut price = Vec::new();
    if let Some((value, base)) = longest(result, one)
        && value > base * (1.0 + SAFE)
    {
        price.push(format!("longest wait {} instead of {}", duration(value), duration(base)));
    }
    let paying = paying(result, one);
    if let Some(first) = paying.first() {
        let more = match paying.len() - 1 {
            0 => String::new(),
            1 => " and one more class".to_string(),
            n => format!(" and {n} more classes"),
        };
        price.push(format!("{}{more}", verdict::pays(first)));
    }
    if missed(one) > missed_by_baseline(result) + 0.01 {
        price.push(format!("{} missed", starts(one)));
    }
    price
}

/// Classes of jobs whose mean wait is clearly longer; their longest waits are no longer than the
/// longest of all, which is a price of its own.
fn paying(result: &CompareResult, one: &PolicyResult) -> Vec<Payer> {
    let Some(base) = result.one(&result.baseline) else { return Vec::new() };
    let all = payers(&base.report, &one.report, result.comparison.options.confidence);
    all.into_iter().filter(|payer| payer.by_mean).collect()
}

/// The longest wait and the missed starts of a policy that has neither price.
fn safety(result: &CompareResult, one: &PolicyResult) -> String {
    let longest =
        longest(result, one).map_or_else(String::new, |(value, _)| format!("longest wait {}", duration(value)));
    match one.promises.promised {
        0 => longest,
        _ => format!("{longest}, {} missed", starts(one)),
    }
}

fn starts(one: &PolicyResult) -> String {
    format!("{} of {} announced starts", count(one.promises.broken), count(one.promises.promised))
}

/// The policy with the shortest mean wait among those without a price that are clearly better by
/// the mean for which the recommended one is.
fn safer<'a>(result: &'a CompareResult, recommended: &str) -> Option<&'a PolicyResult> {
    let sound = result.summary.choices.as_deref().unwrap_or_default();
    let changes = |policy: &str| result.changes(policy).unwrap_or_default();
    let better = |one: &&PolicyResult| keeps_the_gain(changes(&one.policy.text), changes(recommended));
    let turns = |name: &str| result.readings.as_ref().is_some_and(|readings| readings.turns(name));
    result
        .results
        .iter()
        .filter(|one| one.policy.text != recommended && sound.contains(&one.policy.text))
        .filter(|one| price(result, one).is_empty() && !turns(&one.policy.text))
        .filter(better)
        .min_by(|a, b| wait(a).total_cmp(&wait(b)))
}

/// The longest wait of a policy and of the baseline, in seconds.
fn longest(result: &CompareResult, one: &PolicyResult) -> Option<(f64, f64)> {
    one.report.measures.wait.max.zip(result.one(&result.baseline)?.report.measures.wait.max)
}

/// The share of announced starts that were missed.
fn missed(one: &PolicyResult) -> f64 {
    one.promises.broken as f64 / one.promises.promised.max(1) as f64
}

fn missed_by_baseline(result: &CompareResult) -> f64 {
    result.one(&result.baseline).map_or(0.0, missed)
}

fn wait(one: &PolicyResult) -> f64 {
    one.report.measures.wait.mean.unwrap_or(f64::INFINITY)
}

/// Reasons for doubt, the weightiest first.
fn cautions(result: &CompareResult) -> Vec<String> {
    let mut cautions: Vec<String> = passed_over(result).into_iter().collect();
    cautions.extend(result.summary.open.iter().cloned());
    let pays = |name: &String| verdict::who_pays(&result.comparison, &result.results, name, verdict::WHOLE);
    // The price names one class.
    let recommended = result.summary.recommended.as_ref();
    if recommended.and_then(|name| result.one(name)).is_some_and(|one| paying(result, one).len() != 1) {
        cautions.extend(recommended.and_then(pays));
    }
    if passed_over(result).is_none() {
        let choices = RoleChoices::of(&result.comparison, &result.results, result.asked);
        cautions.extend(choices.sentence(1));
    }
    let reference: Vec<&str> =
        result.results.iter().filter(|one| is_reference(result, one)).map(|one| one.policy.text.as_str()).collect();
    if !reference.is_empty() {
        let named = reference.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = match reference.len().saturating_sub(3) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        cautions.push(format!("For reference only, since they know run times or suspend jobs: {named}{more}."));
    }
    cautions
}

/// Names the policy with the shortest mean wait of all, where that is clearly better, shorter than
/// that of the recommended policy, and not recommended for its price.
fn passed_over(result: &CompareResult) -> Option<String> {
    let recommended = wait(result.one(result.summary.recommended.as_deref()?)?);
    let choices = RoleChoices::of(&result.comparison, &result.results, result.asked);
    let waits = |name: &str| result.one(name).map_or(f64::INFINITY, wait);
    let clear = choices.apart.iter().filter_map(|(policy, price)| {
        let change =
            find(&policy.changes, Metric::Mean(Measure::Wait)).filter(|c| c.verdict == MetricVerdict::Better)?;
        Some((policy.name.as_str(), change.relative?, price)).filter(|(name, ..)| waits(name) < recommended)
    });
    let (name, relative, price) = clear.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!("Not recommended despite {} less waiting: {name} ({price}).", percent(Some(-relative), 0)))
}

/// Returns whether a policy serves as a reference only: it knows run times, or suspends jobs
/// without being asked to.
fn is_reference(result: &CompareResult, one: &PolicyResult) -> bool {
    one.policy.text != result.baseline && (one.policy.clairvoyant || one.policy.preemptive && !result.asked)
}

/// The policies of the table: the recommended one, the others by mean wait, policies for reference
/// last; the baseline is always among them.
fn order(result: &CompareResult, rows: usize) -> Vec<&PolicyResult> {
    let recommended = result.summary.recommended.as_deref();
    let rank = |one: &PolicyResult| match one.policy.text.as_str() {
        text if Some(text) == recommended => 0,
        _ if is_reference(result, one) => 2,
        _ => 1,
    };
    let mut order: Vec<&PolicyResult> = result.results.iter().collect();
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(wait(a).total_cmp(&wait(b))));
    let base = order.iter().position(|one| one.policy.text == result.baseline);
    if let Some(at) = base.filter(|&at| at >= rows && rows > 0) {
        order.swap(rows - 1, at);
    }
    order.truncate(rows);
    order
}

fn table(result: &CompareResult, shown: &[&PolicyResult]) -> DocumentTable {
    let intervals = result.results.iter().any(|one| mean_wait(result, one).is_some_and(|c| c.interval.is_some()));
    let base = result.one(&result.baseline);
    let unit = |of: fn(&PolicyResult) -> Option<f64>| TimeUnit::of(base.and_then(of).unwrap_or(0.0));
    let mean: fn(&PolicyResult) -> Option<f64> = |one| one.report.measures.wait.mean;
    let p95: fn(&PolicyResult) -> Option<f64> = |one| one.report.measures.wait.p95;
    let max: fn(&PolicyResult) -> Option<f64> = |one| one.report.measures.wait.max;
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
    let mut table = DocumentTable::new(heads).texts(&[0, 2, 3]).beside(&[3]);
    let decimals = usize::from(result.results.iter().any(|one| is_fine(mean_wait(result, one))));
    for one in shown {
        let is_base = one.policy.text == result.baseline;
        let is_best = result.summary.recommended.as_deref() == Some(one.policy.text.as_str());
        let name = if is_base { format!("{} (baseline)", one.policy.text) } else { one.name() };
        let (text, word, tone) = mean_wait(result, one).map_or_else(
            || (if is_base { String::new() } else { NONE.to_string() }, "", Tone::Faint),
            |change| told(change, decimals),
        );
        // Where the log is too short for any interval, the first line says so.
        let word = if intervals { word } else { "" };
        let time = |unit: TimeUnit, of: fn(&PolicyResult) -> Option<f64>| TableValue::from(unit.text(of(one)));
        table.row(vec![
            TableValue::toned(name, if is_best { Tone::Strong } else { Tone::Plain }),
            time(units[0], mean),
            TableValue::toned(text, tone),
            TableValue::toned(word, tone),
            time(units[1], p95),
            time(units[2], max),
        ]);
    }
    table
}

fn mean_wait<'a>(result: &'a CompareResult, one: &PolicyResult) -> Option<&'a MetricChange> {
    find(result.changes(&one.policy.text)?, Metric::Mean(Measure::Wait))
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
fn told(change: &MetricChange, decimals: usize) -> (String, &'static str, Tone) {
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
        return (format!("{} times", fixed(1.0 + relative, 0)), word, tone);
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
fn footer(result: &CompareResult, shown: usize) -> String {
    let mut lines = Vec::new();
    match result.results.len() - shown {
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
