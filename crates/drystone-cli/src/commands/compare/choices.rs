//! Policies that a site can choose, and those of them that are shown separately.

use crate::output::number::{format_change, format_duration, format_percent};
use drystone::metrics::{ComparedPolicy, Comparison, Measure, Metric, MetricChange, MetricVerdict, find_payers};
use drystone_report::PolicyResult;

/// Factor of the baseline's longest wait from which a wait counts as many times longer.
const MANY_TIMES: f64 = 3.0;
/// Longest waits of the baseline below this many seconds are short, and a multiple of them says
/// little.
const SHORT: f64 = 3_600.0;

/// Share of the work from which a class that waits clearly longer is most of what the machine does.
const MOST_OF_THE_WORK: f64 = 0.5;

/// Mean waits that differ by fewer seconds are no difference that a user notices.
const NOTICEABLE: f64 = 30.0;

/// Returns whether the mean wait differs from the baseline's by more than a few seconds.
pub(super) fn is_noticeable(policy: &ComparedPolicy) -> bool {
    let wait = find_change(&policy.changes, Metric::Mean(Measure::Wait));
    let mean_values = wait.and_then(|c| c.baseline.zip(c.value));
    mean_values.is_none_or(|(old, new)| (new - old).abs() >= NOTICEABLE)
}

/// The means that decide.
pub(super) const MEANS: [Measure; 2] = [Measure::Wait, Measure::BoundedSlowdown];

/// The policies of a comparison, sorted by their role for a decision maker.
pub(super) struct RoleChoices<'a> {
    /// Policies that may lead a list.
    pub(super) sound: Vec<&'a ComparedPolicy>,
    /// Policies that a machine can run at a price that a mean hides, with that price.
    pub(super) apart: Vec<(&'a ComparedPolicy, String)>,
}

impl<'a> RoleChoices<'a> {
    /// Policies that know run times are no choices. Nor are those that suspend jobs, unless they
    /// were `asked` for by name.
    pub(super) fn from_comparison(
        comparison: &'a Comparison,
        results: &[PolicyResult],
        has_preemptive: bool,
    ) -> RoleChoices<'a> {
        let choice = |name: &str| {
            let policy_result = results.iter().find(|r| r.policy.text == name);
            policy_result.is_some_and(|r| !r.policy.clairvoyant && (has_preemptive || !r.policy.preemptive))
        };
        let mut choices = RoleChoices { sound: Vec::new(), apart: Vec::new() };
        for policy in comparison.policies.iter().filter(|p| choice(&p.name)) {
            let starves = find_starvation(&comparison.baseline, &policy.name, results).map(|s| s.format_price());
            let price = starves.or_else(|| hidden_price(policy));
            match price.or_else(|| most_of_the_work(comparison, results, &policy.name)) {
                Some(price) => choices.apart.push((policy, price)),
                None => choices.sound.push(policy),
            }
        }
        choices
    }

    pub(super) fn has_policy(&self, name: &str) -> bool {
        self.sound.iter().chain(self.apart.iter().map(|(policy, _)| policy)).any(|policy| policy.name == name)
    }

    /// Returns whether a policy is shown separately.
    pub(super) fn is_apart(&self, name: &str) -> bool {
        self.apart.iter().any(|(policy, _)| policy.name == name)
    }

    /// The best sound choice that is clearly better by both means; where none is, that is clearly
    /// better by one and no higher by the other. The best has the lowest mean bounded slowdown,
    /// where one is better by that, else the lowest mean wait. Not one that `turns` refuses.
    pub(super) fn recommended_policy(&self, turns: impl Fn(&str) -> bool) -> Option<&'a ComparedPolicy> {
        let sound = |policy: &&&ComparedPolicy| is_noticeable(policy) && !turns(&policy.name);
        let of = |policy: &ComparedPolicy, measure| find_change(&policy.changes, Metric::Mean(measure)).cloned();
        let mean_changes = |policy: &ComparedPolicy| MEANS.map(|measure| of(policy, measure));
        let better =
            |change: &Option<MetricChange>| change.as_ref().is_some_and(|c| c.verdict == MetricVerdict::Better);
        let by_both = |policy: &&&ComparedPolicy| mean_changes(policy).iter().all(better);
        let by_one = |policy: &&&ComparedPolicy| {
            let lower =
                |change: &Option<MetricChange>| change.as_ref().is_none_or(|c| c.relative.is_some_and(|r| r <= 0.0));
            mean_changes(policy).iter().any(better) && mean_changes(policy).iter().all(lower)
        };
        let best = |measure, suits: &dyn Fn(&&&ComparedPolicy) -> bool| {
            find_lowest(self.sound.iter().filter(|policy| sound(policy) && suits(policy)), measure)
                .map(|(policy, _)| policy)
        };
        best(Measure::BoundedSlowdown, &by_both)
            .or_else(|| best(Measure::BoundedSlowdown, &by_one))
            .or_else(|| best(Measure::Wait, &by_one))
    }

    /// Returns the policy that a verdict names as clearly better by a mean, and its change.
    pub(super) fn clearly_best(&self, measure: Measure) -> Option<(&'a str, f64)> {
        find_lowest(self.sound.iter(), measure).map(|(policy, relative)| (policy.name.as_str(), relative))
    }

    /// Describes the gain and the cost of the policies shown separately, where they gain anything.
    pub(super) fn format_sentence(&self, name_limit: usize) -> Option<String> {
        let gain = |policy: &ComparedPolicy| {
            [Measure::Wait, Measure::BoundedSlowdown].into_iter().find_map(|measure| {
                let change_of = find_change(&policy.changes, Metric::Mean(measure))?;
                let relative = change_of.relative.filter(|_| change_of.verdict == MetricVerdict::Better)?;
                Some(format!("mean {} {}", measure.name(), format_change(relative)))
            })
        };
        let gains: Vec<String> = self
            .apart
            .iter()
            .filter_map(|(policy, price)| Some(format!("{} ({}, but {price})", policy.name, gain(policy)?)))
            .collect();
        if gains.is_empty() {
            return None;
        }
        let more = match gains.len().saturating_sub(name_limit) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let gains: Vec<String> = gains.into_iter().take(name_limit).collect();
        Some(format!("Not recommended despite a lower mean: {}{more}.", gains.join(", ")))
    }
}

/// The lowest of those that are clearly better by a mean.
fn find_lowest<'a: 'b, 'b>(
    policies: impl Iterator<Item = &'b &'a ComparedPolicy>,
    measure: Measure,
) -> Option<(&'a ComparedPolicy, f64)> {
    let better = policies.filter_map(|policy| {
        let change = find_change(&policy.changes, Metric::Mean(measure))?;
        Some((*policy, change.relative.filter(|_| change.verdict == MetricVerdict::Better)?))
    });
    better.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns whether a policy is clearly better by the mean for which another one is recommended, and
/// no higher by the other mean. The first of [`MEANS`] by which it is clearly better recommends it.
pub(super) fn keeps_the_gain(own: &[MetricChange], reference: &[MetricChange]) -> bool {
    let is_better = |changes: &[MetricChange], measure| {
        find_change(changes, Metric::Mean(measure)).is_some_and(|change| change.verdict == MetricVerdict::Better)
    };
    let is_higher = |measure| {
        find_change(own, Metric::Mean(measure))
            .and_then(|change| change.relative)
            .is_some_and(|relative| relative > 0.0)
    };
    let gain = MEANS.into_iter().find(|&measure| is_better(reference, measure));
    gain.is_some_and(|measure| is_better(own, measure)) && !MEANS.into_iter().any(is_higher)
}

pub(super) fn find_change(changes: &[MetricChange], metric: Metric) -> Option<&MetricChange> {
    changes.iter().find(|c| c.metric == metric)
}

/// Effect of a policy that starves jobs.
pub(super) struct StarvationEffect {
    /// The longest wait, in seconds.
    longest: f64,
    /// The makespan under the baseline, in seconds.
    span: f64,
    /// Utilisation under the baseline and under the policy.
    utilisation: [Option<f64>; 2],
}

impl StarvationEffect {
    fn format_price(&self) -> String {
        format!("starves: longest wait {} on {} of jobs", format_duration(self.longest), format_duration(self.span))
    }

    pub(super) fn format_sentence(&self, policy: &str, base: &str) -> String {
        let [old, new] = self.utilisation.map(|share| format_percent(share, 1));
        format!(
            "{policy} starves jobs: the longest wait is {}, and all jobs are done in {} under {base}; it uses {new} of the machine until \
             its last job ends, {base} {old}. It is no choice for this load.",
            format_duration(self.longest),
            format_duration(self.span)
        )
    }
}

/// A wait that starves a job is no shorter, in seconds: a day.
const LONG: f64 = 86_400.0;

/// Returns what a policy does that starves: it lets some job wait for a day at least, for more than
/// half of the time in which all jobs are done under the baseline, and three times as long as the
/// baseline does.
pub(super) fn find_starvation(base: &str, policy: &str, results: &[PolicyResult]) -> Option<StarvationEffect> {
    let of = |name: &str| results.iter().find(|r| r.policy.text == name).map(|r| &r.report);
    let (old, new) = (of(base)?, of(policy)?);
    let (before, longest) = (old.measures.wait.max?, new.measures.wait.max?);
    let span = old.machine.makespan.as_f64();
    (longest >= LONG && longest > span / 2.0 && longest >= MANY_TIMES * before).then_some(StarvationEffect {
        longest,
        span,
        utilisation: [old.machine.utilisation, new.machine.utilisation],
    })
}

/// Returns the price of a policy under which a class of jobs waits clearly longer that holds most
/// of the work: its mean is lower because of many small jobs.
fn most_of_the_work(comparison: &Comparison, results: &[PolicyResult], policy: &str) -> Option<String> {
    let of = |name: &str| results.iter().find(|r| r.policy.text == name).map(|r| &r.report);
    let paying_classes = find_payers(of(&comparison.baseline)?, of(policy)?, comparison.options.confidence);
    let payer = paying_classes.into_iter().find(|payer| payer.by_mean && payer.work > MOST_OF_THE_WORK)?;
    let (old, new) = (format_duration(payer.mean.0), format_duration(payer.mean.1));
    Some(format!(
        "jobs of {}, {} of the work, wait {new} instead of {old}",
        payer.class,
        format_percent(Some(payer.work), 0)
    ))
}

/// Returns the reason why a policy does not lead a list: its mean wait is clearly worse, or its
/// longest wait many times the baseline's.
fn hidden_price(policy: &ComparedPolicy) -> Option<String> {
    let wait = find_change(&policy.changes, Metric::Mean(Measure::Wait));
    let longest = find_change(&policy.changes, Metric::Max(Measure::Wait));
    let mut prices = Vec::new();
    if let Some(worse) = wait.filter(|c| c.verdict == MetricVerdict::Worse)
        && let Some(relative) = worse.relative
    {
        prices.push(format!("mean wait {}", format_change(relative)));
    }
    if let Some(longest) = longest
        && longest.baseline.is_some_and(|wait| wait >= SHORT)
        && let (Some(value), Some(relative)) = (longest.value, longest.relative)
        && relative > MANY_TIMES - 1.0
    {
        prices.push(format!("longest wait {}, {:.0} times the baseline's", format_duration(value), 1.0 + relative));
    }
    (!prices.is_empty()).then(|| prices.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::metrics::ChangeEvidence;

    /// A policy by its changes of mean wait and mean bounded slowdown, of an hour and of 10.
    fn policy(name: &str, wait: (f64, MetricVerdict), slowdown: (f64, MetricVerdict)) -> ComparedPolicy {
        let change = |measure, baseline: f64, (relative, verdict): (f64, MetricVerdict)| MetricChange {
            metric: Metric::Mean(measure),
            baseline: Some(baseline),
            value: Some(baseline * (1.0 + relative)),
            relative: Some(relative),
            interval: None,
            verdict,
            evidence: ChangeEvidence::default(),
        };
        let changes = vec![change(Measure::Wait, 3_600.0, wait), change(Measure::BoundedSlowdown, 10.0, slowdown)];
        ComparedPolicy { name: name.to_string(), changes }
    }

    fn recommended(policies: &[&ComparedPolicy]) -> Option<String> {
        let choices = RoleChoices { sound: policies.to_vec(), apart: Vec::new() };
        choices.recommended_policy(|_| false).map(|policy| policy.name.clone())
    }

    /// A policy that is better by both means goes before one that is better by one, however much;
    /// one that is better by one and higher by the other, though unclear, is not recommended.
    #[test]
    fn what_is_better_by_both_means_goes_first() {
        use MetricVerdict::{Better, Unclear, Worse};
        let twofold = policy("both", (-0.1, Better), (-0.2, Better));
        let slowdown = policy("slowdown", (-0.05, Unclear), (-0.5, Better));
        let wait = policy("wait", (-0.3, Better), (-0.05, Unclear));
        let higher = policy("higher", (0.02, Unclear), (-0.6, Better));
        let worse = policy("worse", (0.2, Worse), (-0.7, Better));
        assert_eq!(recommended(&[&slowdown, &wait, &twofold, &higher, &worse]).as_deref(), Some("both"));
        assert_eq!(recommended(&[&wait, &slowdown, &higher]).as_deref(), Some("slowdown"));
        assert_eq!(recommended(&[&wait, &higher]).as_deref(), Some("wait"));
        assert_eq!(recommended(&[&higher, &worse]), None);
    }

    /// A safer policy keeps the gain of the recommended one: less bounded slowdown is no substitute
    /// for less waiting, and what is higher by a mean, clearly or not, is not safer.
    #[test]
    fn what_is_safer_keeps_the_gain() {
        use MetricVerdict::{Better, Unclear, Worse};
        let choice = policy("chosen", (-0.2, Better), (-0.3, Better));
        let less = policy("less", (-0.1, Better), (-0.2, Better));
        let unclear = policy("unclear", (-0.15, Unclear), (-0.25, Better));
        assert!(keeps_the_gain(&less.changes, &choice.changes));
        assert!(!keeps_the_gain(&unclear.changes, &choice.changes));
        let waits = policy("waits", (-0.1, Better), (-0.05, Unclear));
        assert!(keeps_the_gain(&waits.changes, &choice.changes));
        // Of a policy that is recommended for less bounded slowdown, that is the gain.
        assert!(keeps_the_gain(&less.changes, &unclear.changes));
        assert!(!keeps_the_gain(&waits.changes, &unclear.changes));
        for (wait, slowdown) in
            [((0.1, Worse), (-0.2, Better)), ((0.01, Unclear), (-0.2, Better)), ((-0.1, Better), (0.1, Unclear))]
        {
            assert!(!keeps_the_gain(&policy("higher", wait, slowdown).changes, &unclear.changes));
        }
    }
}
