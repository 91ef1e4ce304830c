//! The sheet that a committee reads first: what is recommended, at what price, under which
//! assumptions.

use super::choices::{MEANS, RoleChoices, find_change};
use super::readings::Readings;
use super::{verdict, words};
use crate::meta::{ExperimentMeta, WorkloadMeta};
use crate::output::number::{
    format_bound, format_change, format_count, format_duration, format_percent, format_plural,
};
use drystone::inference::says_nothing;
use drystone::metrics::{ComparedPolicy, Comparison, Measure, Metric, MetricChange, MetricVerdict};
use drystone_report::PolicyResult;
use drystone_report::{ComparisonSummary, Does};

/// A gain that may be smaller than this is hardly any.
const HARDLY: f64 = 0.02;

pub(super) struct SheetParts<'a> {
    pub(super) workload: &'a WorkloadMeta,
    pub(super) experiment: &'a ExperimentMeta,
    pub(super) comparison: &'a Comparison,
    pub(super) results: &'a [PolicyResult],
    pub(super) readings: Option<&'a Readings>,
    /// Sentence that this log cannot distinguish policies, if so.
    pub(super) nothing: Option<&'a str>,
    /// Other questions that the comparison leaves open.
    pub(super) open: Vec<String>,
    pub(super) asked: bool,
    /// Assumptions about the machine, if it is a site's.
    pub(super) machine: Option<String>,
}

impl SheetParts<'_> {
    pub(super) fn build_summary(&self) -> ComparisonSummary {
        let choices = RoleChoices::from_comparison(self.comparison, self.results, self.asked);
        let recommendation = self.recommended_policy(&choices);
        let result = recommendation.and_then(|policy| self.results.iter().find(|r| r.policy.text == policy.name));
        let does = |r: &PolicyResult| Does {
            policy: r.policy.text.clone(),
            sentence: words::describe_policy(&r.policy),
            how: words::describe_availability(&r.policy).to_string(),
        };
        ComparisonSummary {
            recommended: recommendation.map(|policy| policy.name.clone()),
            headline: self.format_headline(&choices, recommendation),
            doubts: recommendation.map(|policy| self.list_doubts(policy)).unwrap_or_default(),
            price: recommendation.map(|policy| self.describe_price(policy, result)).unwrap_or_default(),
            to_run_it: result.map(|r| words::to_run_it(&r.policy)),
            assumed: self.list_assumptions(),
            open: self.open.clone(),
            does: self.results.iter().map(does).collect(),
            choices: Some(choices.sound.iter().map(|policy| policy.name.clone()).collect()),
        }
    }

    /// Returns the recommended policy where there is something to decide: a choice that no
    /// treatment of overruns reverses.
    fn recommended_policy<'a>(&self, choices: &RoleChoices<'a>) -> Option<&'a ComparedPolicy> {
        let turns = |policy: &str| self.readings.is_some_and(|readings| readings.has_reversal(policy));
        choices.recommended_policy(turns).filter(|_| self.nothing.is_none())
    }

    fn format_headline(&self, choices: &RoleChoices<'_>, recommendation: Option<&ComparedPolicy>) -> String {
        let base = &self.comparison.baseline;
        if let Some(nothing) = self.nothing {
            return nothing.to_string();
        }
        if let Some(policy) = recommendation {
            let gains: Vec<String> = [Measure::Wait, Measure::BoundedSlowdown]
                .into_iter()
                .filter_map(|measure| {
                    let change = find_change(&policy.changes, Metric::Mean(measure))?;
                    let unclear = if change.verdict == MetricVerdict::Better { "" } else { ", unclear" };
                    Some(format!("mean {} {}{unclear}", measure.name(), with_interval(change)?))
                })
                .collect();
            let doubts = self.list_doubts(policy);
            let mut headline = format!(
                "Of the policies that were tried, {} is recommended{}: {}, against {base}.",
                policy.name,
                if doubts.is_empty() { "" } else { ", in doubt" },
                gains.join("; ")
            );
            if !doubts.is_empty() {
                headline.push_str(&format!(" In doubt: {}.", doubts.join(", and ")));
            }
            let instead = self.readings.map(|readings| readings.recommended_instead(&policy.name)).unwrap_or_default();
            if !instead.is_empty() {
                headline
                    .push_str(&format!(" It depends on the jobs that run past their limits. {}", instead.join(" ")));
            }
            return headline;
        }
        if self.comparison.policies.is_empty() {
            return "One policy alone: there is nothing to compare it with.".to_string();
        }
        let short = choices.sound.iter().flat_map(|p| &p.changes).any(|c| c.verdict == MetricVerdict::TooFewWeeks);
        if short {
            return "The log is too short to tell an improvement from noise: no policy is recommended.".to_string();
        }
        if let Some(policy) = choices.recommended_policy(|_| false) {
            return format!(
                "{} is clearly better than {base} here, but clearly worse if jobs that run past their limits are treated \
                 differently: no policy is recommended.",
                policy.name
            );
        }
        format!("None of the policies that were tried is clearly better than {base} without being worse elsewhere.")
    }

    fn list_doubts(&self, policy: &ComparedPolicy) -> Vec<String> {
        let clear: Vec<&MetricChange> = MEANS
            .into_iter()
            .filter_map(|measure| find_change(&policy.changes, Metric::Mean(measure)))
            .filter(|change| change.verdict == MetricVerdict::Better)
            .collect();
        let mut doubts = Vec::new();
        let least = clear.iter().filter_map(|change| Some(-change.interval?.1)).fold(f64::NAN, f64::max);
        if least < 0.0 {
            doubts.push("every week goes its way, and nothing can be said of the size".to_string());
        } else if least < HARDLY {
            doubts.push(format!("the gain may be as small as {}", format_percent(Some(least), 1)));
        }
        let lost_treatments =
            self.readings.map(|readings| readings.losing_treatments(&policy.name)).unwrap_or_default();
        doubts.extend(lost_treatments.into_iter().map(|condition| format!("it is not clear {condition}")));
        doubts
    }

    fn describe_price(&self, policy: &ComparedPolicy, result: Option<&PolicyResult>) -> Vec<String> {
        let mut price = Vec::new();
        price.extend(verdict::who_pays(self.comparison, self.results, &policy.name, verdict::EVERY));
        if let Some(longest) = find_change(&policy.changes, Metric::Max(Measure::Wait))
            && let (Some(value), Some(base)) = (longest.value, longest.baseline)
        {
            let word = if value > base { "longer" } else { "not longer" };
            price.push(format!(
                "The longest wait is {} instead of {}: {word} than under {}.",
                format_duration(value),
                format_duration(base),
                self.comparison.baseline
            ));
        }
        if let Some(broken) = result.map(|r| r.promises).filter(|promises| promises.broken > 0) {
            price.push(format!(
                "{} of {} that it announced {} not kept.",
                format_count(broken.broken),
                format_plural(broken.promised, "start"),
                if broken.broken == 1 { "was" } else { "were" }
            ));
        }
        price
    }

    fn list_assumptions(&self) -> Vec<String> {
        let set = |name: &str| {
            let pairs = &self.workload.settings.0;
            pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
        };
        let ExperimentMeta { outages, failures, checkpoints, feedback, .. } = &self.experiment;
        let mut assumptions = vec![self.machine.clone().unwrap_or_else(|| {
            let lacks = if outages.is_some() || failures.is_some() { "partitions" } else { "partitions, outages" };
            let procs = format_plural(u64::from(self.workload.procs), "equal processor");
            format!("One pool of {procs}: no nodes, memory, {lacks} or limits of users.")
        })];
        if let Some(failures) = failures {
            assumptions.push(format!("Nodes fail at random, alike under every policy: {failures}."));
        }
        if let Some(checkpoints) = checkpoints {
            assumptions.push(format!(
                "Jobs write checkpoints and go on from the last: {checkpoints}. Limits have room for the writes; a wait counts \
                 whatever is not the job's own work, writes and lost work as well."
            ));
        }
        if let Some(outages) = outages {
            assumptions.push(format!("Processors are out as {} says, whatever the policy does.", outages.file));
        }
        assumptions.push(
            if *feedback {
                "Jobs that depend on others arrive when these have ended and their user has thought; the others as in the log."
            } else {
                "Jobs arrive as in the log, whatever the policy does."
            }
            .to_string(),
        );
        assumptions.push(match (self.readings, set("overrun")) {
            (Some(readings), _) => readings.describe_assumption(),
            (None, Some("exact")) => "Every estimate is the run time.".to_string(),
            _ => "No job runs past its time limit.".to_string(),
        });
        let guessed_rule = self.workload.cleaning.rules.0.iter().find(|(rule, _)| *rule == "guessed-estimate");
        if let Some((_, guess_count)) = guessed_rule.filter(|(_, guess_count)| *guess_count > 0) {
            let share = *guess_count as f64 / self.workload.jobs.max(1) as f64;
            assumptions.push(format!(
                "{} of the jobs ({}) have no estimate; their run time is used instead (--missing-estimate changes that).",
                format_percent(Some(share), 1),
                format_count(*guess_count)
            ));
        }
        if self.results.iter().any(|r| r.policy.preemptive) && self.experiment.platform.is_none() {
            assumptions.push("Suspending and resuming a job is free (--platform sets a cost).".to_string());
        }
        assumptions
    }
}

fn with_interval(change_of: &MetricChange) -> Option<String> {
    let relative = format_change(change_of.relative?);
    Some(match change_of.interval {
        Some(interval) if says_nothing(interval) => format!("{relative}, nothing can be said of the size"),
        Some((low, high)) => format!("{relative} ({} to {})", format_bound(low), format_bound(high)),
        None => relative,
    })
}
