//! Sensitivity of a verdict to the treatment of jobs that outlive their estimates.

use super::bench::CompareInputs;
use super::candidates;
use super::choices::{self, RoleChoices};
use super::replay::JobReplay;
use super::simulate::mean_waiting_jobs;
use super::treatment::{Treatment, count_overrunning};
use crate::exit::CommandFailure;
use crate::input::{WorkloadInput, WorkloadParts};
use crate::output::number::{format_change, format_count, format_percent};
use drystone::metrics::{Comparison, Measure, Metric, MetricVerdict, Report, compare_reports};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_report::PolicyResult;
use serde::Serialize;

const JUDGED: [Measure; 2] = [Measure::Wait, Measure::BoundedSlowdown];
/// Metrics by which a policy is chosen, besides the longest wait.
const WEIGHED: [Metric; 3] =
    [Metric::Mean(Measure::Wait), Metric::Mean(Measure::BoundedSlowdown), Metric::Max(Measure::Wait)];
/// Most changes that one sentence names.
const NAMED: usize = 3;

/// Comparisons under the other treatments of jobs that outlive their estimates.
#[derive(Serialize, Debug)]
pub(super) struct Readings {
    #[serde(skip)]
    pub(super) treatment: Treatment,
    /// Jobs that outlive their estimates.
    pub(super) jobs: u64,
    /// Their share of all jobs.
    pub(super) share: f64,
    pub(super) others: Vec<TreatmentReading>,
    /// Policies that were not tried, because that takes long or time was up.
    pub(super) untried: Vec<String>,
}

#[derive(Serialize, Debug)]
pub(super) struct TreatmentReading {
    /// As `--overrun` has it.
    pub(super) overrun: &'static str,
    #[serde(skip)]
    treatment: Treatment,
    /// Recommended policy, among those tried.
    pub(super) recommended: Option<String>,
    /// Measures by which another policy is clearly the best.
    pub(super) leads: Vec<Lead>,
    pub(super) changed: Vec<ChangedVerdict>,
    /// Policies that are clearly better by a mean here, and by none of these means there.
    pub(super) lost: Vec<String>,
}

/// Another policy is clearly the best by a mean.
#[derive(Serialize, Debug)]
pub(super) struct Lead {
    pub(super) measure: &'static str,
    /// The best here, and its change of the mean.
    pub(super) here: (String, f64),
    /// The best with this treatment.
    pub(super) there: (String, f64),
}

impl Lead {
    fn render_text(&self) -> String {
        let part = |(name, relative): &(String, f64)| format!("{name} ({})", format_change(*relative));
        format!("the best by mean {} is {}, not {}", self.measure, part(&self.there), part(&self.here))
    }
}

/// A policy that another treatment judges otherwise.
#[derive(Serialize, Debug)]
pub(super) struct ChangedVerdict {
    pub(super) policy: String,
    pub(super) measure: &'static str,
    /// The verdict here, and its change of the mean.
    pub(super) here: (MetricVerdict, Option<f64>),
    /// The verdict with this treatment.
    pub(super) there: (MetricVerdict, Option<f64>),
}

impl ChangedVerdict {
    /// Returns whether better becomes worse, or worse better.
    pub(super) fn is_reversed(&self) -> bool {
        matches!(
            (self.here.0, self.there.0),
            (MetricVerdict::Better, MetricVerdict::Worse) | (MetricVerdict::Worse, MetricVerdict::Better)
        )
    }

    fn render_text(&self) -> String {
        let part = |(verdict, relative): (MetricVerdict, Option<f64>)| {
            let word = match verdict {
                MetricVerdict::Better => "better",
                MetricVerdict::Worse => "worse",
                MetricVerdict::Same => "the same",
                MetricVerdict::Alike => "no different by more than 2%",
                MetricVerdict::InsideReplayError => "inside the replay's error",
                _ => "unclear",
            };
            relative.map_or_else(|| word.to_string(), |relative| format!("{word} ({})", format_change(relative)))
        };
        format!("{} is {} by mean {}, not {}", self.policy, part(self.there), self.measure, part(self.here))
    }
}

/// Simulated policies and their results.
#[derive(Clone, Copy)]
pub(super) struct SimulatedPolicies<'a> {
    pub(super) input: &'a WorkloadInput,
    pub(super) specs: &'a [PolicySpec],
    pub(super) comparison: &'a Comparison,
    pub(super) results: &'a [PolicyResult],
    pub(super) replay: Option<&'a JobReplay>,
}

/// Simulates the choices again with other treatments of jobs that outlive their estimates. `None`
/// where no job does.
pub(super) fn simulate_readings(
    bench: &CompareInputs<'_>,
    runs: SimulatedPolicies<'_>,
) -> Result<Option<Readings>, CommandFailure> {
    let SimulatedPolicies { input, specs, comparison, results, replay } = runs;
    let workload = &input.workload;
    let options = bench.args.common.log.cleaning_options();
    // Run times of jobs of several sizes follow the treatment at every size, when they are read.
    if workload.shapes().is_some() {
        return Ok(None);
    }
    let Some(treatment) = Treatment::from_overrun(options.overrun) else { return Ok(None) };
    let logged_workload =
        treatment.restore_workload(workload, input.records.as_deref().unwrap_or_default(), &options)?;
    let jobs = count_overrunning(&logged_workload);
    if jobs == 0 || comparison.policies.is_empty() {
        return Ok(None);
    }
    let choices = RoleChoices::from_comparison(comparison, results, bench.has_named_policies());
    let is_wanted = |spec: &&PolicySpec| spec.text() == comparison.baseline || choices.has_policy(spec.text());
    let baseline = results.iter().find(|r| r.policy.text == comparison.baseline);
    let mean_queue = baseline.map_or(0.0, |r| mean_waiting_jobs(workload, &r.report));
    let quick = |spec: &&PolicySpec| !candidates::takes_long(spec, workload.len(), mean_queue);
    let tried_specs: Vec<PolicySpec> = specs.iter().filter(is_wanted).filter(quick).cloned().collect();
    let is_untried = |spec: &&PolicySpec| !tried_specs.iter().any(|candidate| candidate.text() == spec.text());
    let mut readings = Readings {
        treatment,
        jobs,
        share: jobs as f64 / workload.len() as f64,
        others: Vec::new(),
        untried: specs.iter().filter(is_wanted).filter(is_untried).map(|spec| spec.text().to_string()).collect(),
    };
    if tried_specs.len() < 2 || !tried_specs.iter().any(|spec| spec.text() == comparison.baseline) {
        return Ok(Some(readings));
    }
    for alternative in treatment.other_treatments() {
        let treated_workload = alternative.treat_workload(&logged_workload)?;
        // A policy may have no answer to jobs that run on: then there is nothing to compare there.
        if tried_specs.iter().any(|spec| spec.build_scheduler().check_fit(&treated_workload).is_err()) {
            continue;
        }
        let Some(other_comparison) = compare_on(bench, &treated_workload, &tried_specs, (comparison, replay))? else {
            readings.untried = tried_specs.iter().map(|spec| spec.text().to_string()).collect();
            readings.others.clear();
            break;
        };
        let choices_there = RoleChoices::from_comparison(&other_comparison, results, bench.has_named_policies());
        readings.others.push(TreatmentReading {
            overrun: alternative.name(),
            treatment: alternative,
            recommended: choices_there.recommended_policy(|_| false).map(|policy| policy.name.clone()),
            leads: find_leads(&choices, &choices_there),
            changed: changed_verdicts(comparison, &other_comparison),
            lost: lost_policies(comparison, &other_comparison),
        });
    }
    Ok(Some(readings))
}

/// The comparison of some policies on another workload; `None` where it was not simulated to the
/// end.
fn compare_on(
    bench: &CompareInputs<'_>,
    workload: &Workload,
    specs: &[PolicySpec],
    (comparison, replay): (&Comparison, Option<&JobReplay>),
) -> Result<Option<Comparison>, CommandFailure> {
    let parts = WorkloadParts::of_jobs(workload, bench.args.common.each_month, &bench.input.windows)?;
    let bench = CompareInputs { detailed: false, ..*bench };
    let policies: Option<Vec<_>> =
        bench.simulate_all(workload, parts.as_slice(), specs, &[], None)?.into_iter().collect();
    let Some(runs) = policies else { return Ok(None) };
    let reports: Vec<(&str, &Report)> =
        specs.iter().map(PolicySpec::text).zip(runs.iter().map(|s| &s.measured.report)).collect();
    let mut other_comparison = compare_reports(&reports, &comparison.baseline, &WEIGHED, comparison.options)?;
    replay.into_iter().for_each(|replay| replay.restrain_claims(&mut other_comparison));
    Ok(Some(other_comparison))
}

/// Returns the measures by which another policy is clearly the best.
fn find_leads(own_choices: &RoleChoices<'_>, other_choices: &RoleChoices<'_>) -> Vec<Lead> {
    let of = |measure: Measure| {
        let (own_best, other_best) = (own_choices.clearly_best(measure)?, other_choices.clearly_best(measure)?);
        let text = |(name, relative): (&str, f64)| (name.to_string(), relative);
        let is_other = own_best.0 != other_best.0;
        is_other.then(|| Lead { measure: measure.name(), here: text(own_best), there: text(other_best) })
    };
    JUDGED.into_iter().filter_map(of).collect()
}

/// Returns the policies that are clearly better by a mean here, and by none of these means there.
fn lost_policies(own_comparison: &Comparison, other_comparison: &Comparison) -> Vec<String> {
    let better = |comparison: &Comparison, policy: &str, measure| {
        let counterpart = comparison.policies.iter().find(|p| p.name == policy);
        let change = counterpart.and_then(|policy| choices::find_change(&policy.changes, Metric::Mean(measure)));
        change.is_some_and(|change| change.verdict == MetricVerdict::Better)
    };
    let loses = |policy: &str| {
        let mut gains = JUDGED.into_iter().filter(|&measure| better(own_comparison, policy, measure)).peekable();
        gains.peek().is_some() && gains.all(|measure| !better(other_comparison, policy, measure))
    };
    let names = other_comparison.policies.iter().map(|policy| policy.name.as_str());
    names.filter(|name| loses(name)).map(String::from).collect()
}

fn changed_verdicts(own_comparison: &Comparison, other_comparison: &Comparison) -> Vec<ChangedVerdict> {
    let mut verdicts = Vec::new();
    for policy in &other_comparison.policies {
        let Some(own_policy) = own_comparison.policies.iter().find(|p| p.name == policy.name) else { continue };
        for measure in JUDGED {
            let find = |changes: &[drystone::metrics::MetricChange]| {
                let change = choices::find_change(changes, Metric::Mean(measure))?;
                Some((change.verdict, change.relative))
            };
            let (Some(own_change), Some(other_change)) = (find(&own_policy.changes), find(&policy.changes)) else {
                continue;
            };
            let clear = |verdict| matches!(verdict, MetricVerdict::Better | MetricVerdict::Worse);
            if own_change.0 != other_change.0 && (clear(own_change.0) || clear(other_change.0)) {
                verdicts.push(ChangedVerdict {
                    policy: policy.name.clone(),
                    measure: measure.name(),
                    here: own_change,
                    there: other_change,
                });
            }
        }
    }
    // Those that turn round first.
    verdicts.sort_by_key(|verdict| !verdict.is_reversed());
    verdicts
}

impl Readings {
    /// Describes the assumption about jobs that outlive their estimates.
    pub(super) fn describe_assumption(&self) -> String {
        match self.treatment {
            Treatment::RunOn => format!(
                "{} of the jobs ({}) run past their time limit: they run on, and the scheduler postpones their ends when the limit has passed.",
                format_percent(Some(self.share), 1),
                format_count(self.jobs)
            ),
            other => other.describe_assumption(self.jobs, self.share),
        }
    }

    pub(super) fn has_reversal(&self, policy: &str) -> bool {
        self.others
            .iter()
            .flat_map(|reading| &reading.changed)
            .any(|verdict| verdict.policy == policy && verdict.is_reversed())
    }

    /// Returns the treatments under which a policy is no longer clearly better by any mean by which
    /// it is better here.
    pub(super) fn losing_treatments(&self, policy: &str) -> Vec<&'static str> {
        let loses = |reading: &&TreatmentReading| reading.lost.iter().any(|name| name == policy);
        self.others.iter().filter(loses).map(|reading| reading.treatment.where_used()).collect()
    }

    /// Returns the recommendations under other treatments, where they differ from this policy.
    pub(super) fn recommended_instead(&self, policy: &str) -> Vec<String> {
        let describe_other = |reading: &TreatmentReading| {
            let other_choice = reading.recommended.as_deref().unwrap_or("none of them");
            (other_choice != policy)
                .then(|| format!("{}, it is {other_choice}.", reading.treatment.sentence_beginning()))
        };
        self.others.iter().filter_map(describe_other).collect()
    }

    /// Describes the sensitivity in sentences.
    pub(super) fn format_sentences(&self) -> Vec<String> {
        let mut text = self.treatment.describe_assumption(self.jobs, self.share);
        if !self.others.is_empty() && self.others.iter().all(TreatmentReading::has_same_verdict) {
            let when: Vec<String> =
                self.others.iter().map(|reading| lower_first(reading.treatment.sentence_beginning())).collect();
            let conditions = when.join(", or ");
            text.push_str(&format!(" {}, no verdict changes.", upper_first(&conditions)));
        } else {
            for reading in &self.others {
                text.push(' ');
                text.push_str(&reading.format_sentence());
            }
        }
        if !self.untried.is_empty() {
            let untried_names = self.untried.join(", ");
            text.push_str(&format!(" Another treatment of them was not tried for {untried_names}."));
        }
        vec![text]
    }
}

impl TreatmentReading {
    /// Returns whether it changes no word of the verdict.
    fn has_same_verdict(&self) -> bool {
        self.changed.is_empty() && self.leads.is_empty()
    }

    fn format_sentence(&self) -> String {
        let condition = self.treatment.sentence_beginning();
        if self.has_same_verdict() {
            return format!("{condition}, no verdict changes.");
        }
        let mut lead_texts: Vec<String> = self.leads.iter().map(Lead::render_text).collect();
        lead_texts.extend(self.changed.iter().take(NAMED).map(ChangedVerdict::render_text));
        let more = match self.changed.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => "; and one more verdict changes".to_string(),
            n => format!("; and {n} more verdicts change"),
        };
        format!("{condition}, {}{more}.", lead_texts.join("; "))
    }
}

fn lower_first(text: &str) -> String {
    with_first(text, |c| c.to_ascii_lowercase())
}

fn upper_first(text: &str) -> String {
    with_first(text, |c| c.to_ascii_uppercase())
}

fn with_first(text: &str, change: impl Fn(char) -> char) -> String {
    let mut chars = text.chars();
    chars.next().map(change).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::metrics::{ChangeEvidence, ComparedPolicy, IntervalOptions, MetricChange};

    fn comparison(policies: &[(&str, MetricVerdict, f64)]) -> Comparison {
        let change = |verdict, relative| MetricChange {
            metric: Metric::Mean(Measure::Wait),
            // Seconds: a change of a few of them recommends nothing.
            baseline: Some(1_000.0),
            value: Some(1_000.0 * (1.0 + relative)),
            relative: Some(relative),
            interval: None,
            verdict,
            evidence: ChangeEvidence::default(),
        };
        let policies = policies
            .iter()
            .map(|&(name, verdict, relative)| ComparedPolicy {
                name: name.to_string(),
                changes: vec![change(verdict, relative)],
            })
            .collect();
        Comparison {
            baseline: "easy".to_string(),
            weeks: 9,
            basis: None,
            options: IntervalOptions::default(),
            policies,
        }
    }

    fn reading(own_comparison: &Comparison, other_comparison: &Comparison) -> TreatmentReading {
        let choices = |comparison| RoleChoices { sound: Comparison::policies(comparison), apart: Vec::new() };
        TreatmentReading {
            overrun: "kill",
            treatment: Treatment::Kill,
            recommended: choices(other_comparison).recommended_policy(|_| false).map(|policy| policy.name.clone()),
            leads: find_leads(&choices(own_comparison), &choices(other_comparison)),
            changed: changed_verdicts(own_comparison, other_comparison),
            lost: lost_policies(own_comparison, other_comparison),
        }
    }

    trait Policies {
        fn policies(&self) -> Vec<&ComparedPolicy>;
    }

    impl Policies for Comparison {
        fn policies(&self) -> Vec<&ComparedPolicy> {
            self.policies.iter().collect()
        }
    }

    fn readings(treatment_readings: Vec<TreatmentReading>) -> Readings {
        Readings { treatment: Treatment::RunOn, jobs: 12, share: 0.5, others: treatment_readings, untried: Vec::new() }
    }

    #[test]
    fn what_turns_round_comes_first_and_what_stays_is_not_said() {
        use MetricVerdict::{Better, Same, Unclear, Worse};
        let own_comparison =
            comparison(&[("a", Better, -0.2), ("b", Better, -0.1), ("c", Unclear, 0.0), ("d", Same, 0.0)]);
        let other_comparison =
            comparison(&[("a", Unclear, -0.1), ("b", Worse, 0.3), ("c", Same, 0.0), ("d", Same, 0.0)]);
        let verdict_changes = changed_verdicts(&own_comparison, &other_comparison);
        let names: Vec<(&str, bool)> = verdict_changes.iter().map(|c| (c.policy.as_str(), c.is_reversed())).collect();
        assert_eq!(names, [("b", true), ("a", false)]);
        let reversal = readings(vec![reading(&own_comparison, &other_comparison)]);
        assert!(reversal.has_reversal("b") && !reversal.has_reversal("a"));
        assert_eq!(reversal.losing_treatments("a"), ["where jobs that run past their limits are killed"]);
        assert!(reversal.losing_treatments("c").is_empty() && reversal.losing_treatments("d").is_empty());
        let text = reversal.format_sentences().concat();
        assert!(text.contains("12 jobs (50.0%) ran past their time limit. If they are killed at the limit, b is worse (+30.0%) by mean wait, not better (-10.0%); a is"), "{text}");
        assert_eq!(reversal.recommended_instead("a"), ["If they are killed at the limit, it is none of them."]);
        let agreement = readings(vec![reading(&own_comparison, &own_comparison)]);
        assert!(agreement.format_sentences().concat().contains("If they are killed at the limit, no verdict changes."));
        assert!(agreement.recommended_instead("a").is_empty());
    }

    /// No verdict on a policy changes, but which is the best does: so do the words that name it.
    #[test]
    fn another_winner_is_said() {
        use MetricVerdict::Better;
        let own_comparison = comparison(&[("a", Better, -0.2), ("b", Better, -0.1)]);
        let other_comparison = comparison(&[("a", Better, -0.2), ("b", Better, -0.4)]);
        let result = readings(vec![reading(&own_comparison, &other_comparison)]);
        let text = result.format_sentences().concat();
        assert!(
            text.ends_with("If they are killed at the limit, the best by mean wait is b (-40.0%), not a (-20.0%)."),
            "{text}"
        );
        assert_eq!(result.recommended_instead("a"), ["If they are killed at the limit, it is b."]);
    }
}
