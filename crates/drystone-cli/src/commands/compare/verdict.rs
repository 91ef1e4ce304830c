//! Verdict of a comparison, in a few sentences.
//!
//! Only policies that a site can choose are weighed: those that know run times are bounds, and
//! those that suspend jobs take a machine that can.

use super::choices::{RoleChoices, find_change, find_starvation, is_noticeable};
use crate::output::number::{
    format_bound, format_change, format_count, format_duration, format_percent, format_plural,
};
use drystone::inference::says_nothing;
use drystone::log::transform::LoadFactor;
use drystone::metrics::{ComparedPolicy, Comparison, Measure, Metric, MetricChange, MetricVerdict, Payer, find_payers};
use drystone_report::PolicyResult;

/// Relative increase of a longest wait from which it is worth a warning.
const MUCH: f64 = 0.5;

#[derive(Clone, Copy)]
pub(super) struct VerdictLength {
    /// Number of policies named in one sentence.
    named: usize,
    intervals: bool,
}

pub(super) const WHOLE: VerdictLength = VerdictLength { named: 3, intervals: true };
/// Words that name every policy.
pub(super) const EVERY: VerdictLength = VerdictLength { named: usize::MAX, intervals: true };

/// The word for a verdict in files.
pub(super) fn verdict_word(verdict: MetricVerdict) -> &'static str {
    match verdict {
        MetricVerdict::Better => "better",
        MetricVerdict::Worse => "worse",
        MetricVerdict::Same => "same",
        MetricVerdict::Alike => "alike",
        MetricVerdict::Unclear => "unclear",
        MetricVerdict::InsideReplayError => "inside_replay_error",
        MetricVerdict::NotAMean => "not_a_mean",
        MetricVerdict::TooFewWeeks => "too_few_weeks",
        MetricVerdict::NoRatio => "no_ratio",
    }
}

/// Sentences for decision makers.
pub(super) fn verdict_sentences(
    comparison: &Comparison,
    results: &[PolicyResult],
    has_preemptive: bool,
    words: VerdictLength,
) -> Vec<String> {
    let choices = RoleChoices::from_comparison(comparison, results, has_preemptive);
    let mut sentences = Vec::new();
    for measure in [Measure::Wait, Measure::BoundedSlowdown] {
        sentences.extend(describe_best(&comparison.baseline, &choices.sound, measure, words));
    }
    sentences.extend(choices.format_sentence(words.named));
    let starving = results.iter().filter(|r| !r.policy.clairvoyant && r.policy.text != comparison.baseline);
    sentences.extend(starving.filter_map(|r| {
        let starves = find_starvation(&comparison.baseline, &r.policy.text, results)?;
        Some(starves.format_sentence(&r.policy.text, &comparison.baseline))
    }));
    sentences.extend(longest_waits(&comparison.baseline, &choices.sound, words));
    let weighed_results: Vec<&PolicyResult> =
        results.iter().filter(|r| r.policy.text == comparison.baseline || choices.has_policy(&r.policy.text)).collect();
    sentences.extend(broken_promises(&weighed_results, words));
    sentences
}

/// Describes the cost of suspension, wherever a policy suspends.
pub(super) fn describe_suspension(results: &[PolicyResult], free: bool, has_preemptive: bool) -> Option<String> {
    let names: Vec<&str> = results.iter().filter(|r| r.policy.preemptive).map(|r| r.policy.text.as_str()).collect();
    let (suspend, subject) = match names[..] {
        [] => return None,
        [_] => ("suspends", "it is"),
        _ => ("suspend", "they are"),
    };
    let cost = match free {
        true => "at no cost here; on a machine it has one (--platform FILE)",
        false => "at the cost that --platform states",
    };
    let place = match has_preemptive {
        true => format!("considered because {subject} asked for by name"),
        false => "considered only if asked for by name (--policy)".to_string(),
    };
    Some(format!("{} {suspend} running jobs, {cost}; {place}.", names.join(", ")))
}

/// Returns the classes of jobs that pay for a policy.
pub(super) fn who_pays(
    comparison: &Comparison,
    results: &[PolicyResult],
    policy: &str,
    words: VerdictLength,
) -> Option<String> {
    let of = |name: &str| results.iter().find(|r| r.policy.text == name).map(|r| &r.report);
    let classes = find_payers(of(&comparison.baseline)?, of(policy)?, comparison.options.confidence);
    let class_texts: Vec<String> = classes.iter().take(words.named).map(describe_payer).collect();
    (!class_texts.is_empty()).then(|| {
        format!("Longer waits under {policy}: {}{}.", class_texts.join("; "), format_more(classes.len(), words))
    })
}

pub(super) fn describe_payer(payer: &Payer) -> String {
    let (by, (old, new)) = match payer.by_mean {
        true => ("on average", payer.mean),
        false => ("at longest", payer.longest),
    };
    let (old, new) = (format_duration(old), format_duration(new));
    let work = format_percent(Some(payer.work), 0);
    format!("jobs of {} ({work} of the work) wait {new} {by} instead of {old}", payer.class)
}

/// Policies that were not tried unasked, or not to the end.
pub(super) fn not_tried(too_long: &[String]) -> Option<String> {
    let first = too_long.first()?;
    let names = too_long.join(", ");
    Some(format!("Skipped because it is slow on long queues: {names}. Add --policy {first} to include it."))
}

/// Describes the missing parts after an interrupt or the end of the time: policies, and load
/// factors.
pub(super) fn left_out(policies: &[String], loads: &[LoadFactor], time_is_up: bool) -> String {
    let reason = if time_is_up { "time is up" } else { "interrupted" };
    let loads: Vec<String> = loads.iter().map(|factor| format!("load factor {factor}")).collect();
    let missing: Vec<&str> = policies.iter().chain(&loads).map(String::as_str).collect();
    match missing[..] {
        [] => format!("{reason} when all was simulated"),
        _ if policies.is_empty() => format!("{reason}: left out {}", missing.join(", ")),
        _ => format!("{reason}: left out {}. One of these policies might be better.", missing.join(", ")),
    }
}

fn find_lowest<'a>(
    changes: impl Iterator<Item = &'a (&'a str, &'a MetricChange, f64)>,
) -> Option<(&'a str, &'a MetricChange)> {
    changes.min_by(|a, b| a.2.total_cmp(&b.2)).map(|(name, change, _)| (*name, *change))
}

/// Names the best policy by the mean of a measure, and states whether that is more than noise.
fn describe_best(base: &str, choices: &[&ComparedPolicy], measure: Measure, words: VerdictLength) -> Option<String> {
    let changes: Vec<(&str, &MetricChange, f64)> = choices
        .iter()
        .filter_map(|p| {
            let change = find_change(&p.changes, Metric::Mean(measure))?;
            Some((p.name.as_str(), change, change.relative?))
        })
        .collect();
    let is_noticed = |policy: &str| choices.iter().any(|p| p.name == policy && is_noticeable(p));
    let better = || changes.iter().filter(|(_, c, _)| c.verdict == MetricVerdict::Better);
    let clear = || better().filter(|(policy, _, _)| is_noticed(policy));
    let name = measure.name();
    // A ratio to zero is undefined, and no value is lower.
    let baseline = choices.iter().find_map(|p| find_change(&p.changes, Metric::Mean(measure))?.baseline);
    if baseline == Some(0.0) {
        return Some(format!("By mean {name}, no policy is better than {base}."));
    }
    if let Some((policy, change)) = find_lowest(clear()) {
        let other_note = match clear().count() - 1 {
            0 => String::new(),
            1 => ", and another policy".to_string(),
            n => format!(", and {n} other policies"),
        };
        let text = with_interval(change, words);
        let price = describe_price(choices, policy, words);
        return Some(format!("Clearly better than {base} by mean {name}: {policy}, {text}{other_note}.{price}"));
    }
    if better().next().is_some() {
        return Some(format!(
            "By mean {name}, no policy is better than {base} by more than a user notices: mean waits differ by a few seconds."
        ));
    }
    let (policy, change) = find_lowest(changes.iter())?;
    let lower = change.relative.is_some_and(|r| r < 0.0);
    let text = with_interval(change, words);
    Some(match change.verdict {
        MetricVerdict::Unclear if lower => format!(
            "By mean {name}, no policy is clearly better than {base}: {policy} is lowest ({text}), which is not decided{}.",
            more_weeks(change)
        ),
        MetricVerdict::Alike if lower => format!(
            "By mean {name}, no policy is better than {base} by a difference worth the name: {policy} is lowest ({text})."
        ),
        MetricVerdict::InsideReplayError if lower => format!(
            "By mean {name}, no policy is better than {base} by more than the replay is off: {policy} is lowest ({text}), which is inside \
             the replay's error."
        ),
        MetricVerdict::TooFewWeeks if lower => format!(
            "By mean {name}, {policy} is lowest ({text} against {base}), but the workload is too short to tell that from \
             noise."
        ),
        _ => format!("By mean {name}, no policy is better than {base}."),
    })
}

/// Names the mean by which a policy that is better by another is clearly worse: a sentence of its
/// own.
fn describe_price(choices: &[&ComparedPolicy], policy: &str, words: VerdictLength) -> String {
    let Some(choice) = choices.iter().find(|p| p.name == policy) else { return String::new() };
    let worse = [Measure::Wait, Measure::BoundedSlowdown].into_iter().find_map(|measure| {
        let change =
            find_change(&choice.changes, Metric::Mean(measure)).filter(|c| c.verdict == MetricVerdict::Worse)?;
        Some(format!(
            " The price of {policy}: mean {} {}, clearly worse.",
            measure.name(),
            with_interval(change, words)
        ))
    });
    worse.unwrap_or_default()
}

fn with_interval(c: &MetricChange, words: VerdictLength) -> String {
    let relative = c.relative.map(format_change).unwrap_or_default();
    match c.interval.filter(|_| words.intervals) {
        Some(interval) if says_nothing(interval) => {
            let signs = c.evidence.signs.and_then(|signs| signs.describe("week"));
            let signs = signs.map_or(String::new(), |signs| format!("{signs}; "));
            format!("{relative}, {signs}nothing can be said of the size")
        }
        Some((low, high)) => format!("{relative} ({} to {})", format_bound(low), format_bound(high)),
        None => relative,
    }
}

/// Describes the further weeks that would tell a difference of 10 %, where these do not.
pub(super) fn more_weeks(c: &MetricChange) -> String {
    match c.evidence.more_weeks {
        Some(more) if more > 0 => {
            format!("; about {} like these would tell a difference of 10%", format_plural(more as u64, "more week"))
        }
        _ => String::new(),
    }
}

/// Policies that look better by a mean but let some job wait much longer: the price that a mean
/// does not show.
fn longest_waits(base: &str, choices: &[&ComparedPolicy], words: VerdictLength) -> Option<String> {
    let mut long: Vec<(f64, &MetricChange, &str)> = Vec::new();
    for policy in choices {
        let better = |measure| {
            find_change(&policy.changes, Metric::Mean(measure)).is_some_and(|c| c.verdict == MetricVerdict::Better)
        };
        if (better(Measure::Wait) || better(Measure::BoundedSlowdown))
            && let Some(change) = find_change(&policy.changes, Metric::Max(Measure::Wait))
            && let Some(relative) = change.relative.filter(|&r| r > MUCH)
        {
            long.push((relative, change, &policy.name));
        }
    }
    long.sort_by(|a, b| b.0.total_cmp(&a.0));
    let baseline = long.first()?.1.baseline?;
    let text = |(relative, change, name): &(f64, &MetricChange, &str)| {
        format!("{name} {} ({:.1} times)", format_duration(change.value.unwrap_or(0.0)), 1.0 + relative)
    };
    let policy_texts: Vec<String> = long.iter().take(words.named).map(text).collect();
    let more = format_more(long.len(), words);
    Some(format!(
        "Longest waits grow, from {} under {base}: {}{more}.",
        format_duration(baseline),
        policy_texts.join(", ")
    ))
}

/// Policies that announced starts and did not keep them, worst first.
fn broken_promises(results: &[&PolicyResult], words: VerdictLength) -> Option<String> {
    let share = |r: &&PolicyResult| r.promises.broken as f64 / r.promises.promised.max(1) as f64;
    let mut promise_breakers: Vec<&PolicyResult> =
        results.iter().copied().filter(|r| r.promises.broken > 0 && !r.policy.clairvoyant).collect();
    promise_breakers.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let text = |r: &&PolicyResult| {
        format!("{} {} of {}", r.policy.text, format_count(r.promises.broken), format_count(r.promises.promised))
    };
    let policy_texts: Vec<String> = promise_breakers.iter().take(words.named).map(text).collect();
    let more = format_more(promise_breakers.len(), words);
    (!policy_texts.is_empty()).then(|| format!("Announced starts that were missed: {}{more}.", policy_texts.join(", ")))
}

fn format_more(count: usize, words: VerdictLength) -> String {
    match count.saturating_sub(words.named) {
        0 => String::new(),
        1 => " and one more".to_string(),
        n => format!(" and {n} more"),
    }
}
