//! Sensitivity of a verdict to the treatment of jobs that outlive their estimates.

use super::bench::CompareInputs;
use super::candidates;
use super::choices::{self, RoleChoices};
use super::replay::JobReplay;
use super::simulate::waiting;
use super::treatment::{Treatment, outlive};
use crate::exit::CommandFailure;
use crate::input::{WorkloadInput, WorkloadParts};
use crate::output::number::{change, count, percent};
use drystone::metrics::{Comparison, Measure, Metric, MetricVerdict, Report, compare};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_report::PolicyResult;
use serde::Serialize;

/// Means by which policies are judged.
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
    /// Results of each other treatment.
    pub(super) others: Vec<TreatmentReading>,
    /// Policies that were not tried, because that takes long or time was up.
    pub(super) untried: Vec<String>,
}

/// One other treatment.
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
    /// Verdicts that differ.
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
    fn text(&self) -> String {
        let part = |(name, relative): &(String, f64)| format!("{name} ({})", change(*relative));
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
    pub(super) fn turns(&self) -> bool {
        matches!(
            (self.here.0, self.there.0),
            (MetricVerdict::Better, MetricVerdict::Worse) | (MetricVerdict::Worse, MetricVerdict::Better)
        )
    }

    fn text(&self) -> String {
        let part = |(verdict, relative): (MetricVerdict, Option<f64>)| {
            let word = match verdict {
                MetricVerdict::Better => "better",
                MetricVerdict::Worse => "worse",
                MetricVerdict::Same => "the same",
                MetricVerdict::Alike => "no different by more than 2%",
                MetricVerdict::InsideReplayError => "inside the replay's error",
                _ => "unclear",
            };
            relative.map_or_else(|| word.to_string(), |relative| format!("{word} ({})", change(relative)))
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
pub(super) fn readings(
    bench: &CompareInputs<'_>,
    simulated: SimulatedPolicies<'_>,
) -> Result<Option<Readings>, CommandFailure> {
    let SimulatedPolicies { input, specs, comparison, results, replay } = simulated;
    let workload = &input.workload;
    let options = bench.args.common.log.options();
    // Run times of jobs of several sizes follow the treatment at every size, when they are read.
    if workload.shapes().is_some() {
        return Ok(None);
    }
    let Some(treatment) = Treatment::asked(options.overrun) else { return Ok(None) };
    let logged = treatment.undone(workload, input.records.as_deref().unwrap_or_default(), &options)?;
    let jobs = outlive(&logged);
    if jobs == 0 || comparison.policies.is_empty() {
        return Ok(None);
    }
    let choices = RoleChoices::of(comparison, results, bench.asked());
    let wanted = |spec: &&PolicySpec| spec.text() == comparison.baseline || choices.weighs(spec.text());
    let baseline = results.iter().find(|r| r.policy.text == comparison.baseline);
    let waiting = baseline.map_or(0.0, |r| waiting(workload, &r.report));
    let quick = |spec: &&PolicySpec| !candidates::takes_long(spec, workload.len(), waiting);
    let tried: Vec<PolicySpec> = specs.iter().filter(wanted).filter(quick).cloned().collect();
    let untried = |spec: &&PolicySpec| !tried.iter().any(|other| other.text() == spec.text());
    let mut found = Readings {
        treatment,
        jobs,
        share: jobs as f64 / workload.len() as f64,
        others: Vec::new(),
        untried: specs.iter().filter(wanted).filter(untried).map(|spec| spec.text().to_string()).collect(),
    };
    if tried.len() < 2 || !tried.iter().any(|spec| spec.text() == comparison.baseline) {
        return Ok(Some(found));
    }
    for other in treatment.others() {
        let treated = other.of(&logged)?;
        // A policy may have no answer to jobs that run on: then there is nothing to compare there.
        if tried.iter().any(|spec| spec.scheduler().fits(&treated).is_err()) {
            continue;
        }
        let Some(there) = compared(bench, &treated, &tried, (comparison, replay))? else {
            found.untried = tried.iter().map(|spec| spec.text().to_string()).collect();
            found.others.clear();
            break;
        };
        let choices_there = RoleChoices::of(&there, results, bench.asked());
        found.others.push(TreatmentReading {
            overrun: other.name(),
            treatment: other,
            recommended: choices_there.recommended(|_| false).map(|policy| policy.name.clone()),
            leads: leads(&choices, &choices_there),
            changed: changed(comparison, &there),
            lost: lost(comparison, &there),
        });
    }
    Ok(Some(found))
}

/// The comparison of some policies on another workload; `None` where it was not simulated to the
/// end.
fn compared(
    bench: &CompareInputs<'_>,
    workload: &Workload,
    specs: &[PolicySpec],
    (comparison, replay): (&Comparison, Option<&JobReplay>),
) -> Result<Option<Comparison>, CommandFailure> {
    let parts = WorkloadParts::of_jobs(workload, bench.args.common.each_month, &bench.input.windows)?;
    let bench = CompareInputs { detailed: false, ..*bench };
    let simulated: Option<Vec<_>> =
        bench.simulate_all(workload, parts.as_slice(), specs, &[], None)?.into_iter().collect();
    let Some(simulated) = simulated else { return Ok(None) };
    let reports: Vec<(&str, &Report)> =
        specs.iter().map(PolicySpec::text).zip(simulated.iter().map(|s| &s.measured.report)).collect();
    let mut other = compare(&reports, &comparison.baseline, &WEIGHED, comparison.options)?;
    replay.into_iter().for_each(|replay| replay.restrain(&mut other));
    Ok(Some(other))
}

/// Returns the measures by which another policy is clearly the best.
fn leads(here: &RoleChoices<'_>, there: &RoleChoices<'_>) -> Vec<Lead> {
    let of = |measure: Measure| {
        let (here, there) = (here.clearly_best(measure)?, there.clearly_best(measure)?);
        let text = |(name, relative): (&str, f64)| (name.to_string(), relative);
        let other = here.0 != there.0;
        other.then(|| Lead { measure: measure.name(), here: text(here), there: text(there) })
    };
    JUDGED.into_iter().filter_map(of).collect()
}

/// Returns the policies that are clearly better by a mean here, and by none of these means there.
fn lost(here: &Comparison, there: &Comparison) -> Vec<String> {
    let better = |comparison: &Comparison, policy: &str, measure| {
        let found = comparison.policies.iter().find(|p| p.name == policy);
        let change = found.and_then(|policy| choices::find(&policy.changes, Metric::Mean(measure)));
        change.is_some_and(|change| change.verdict == MetricVerdict::Better)
    };
    let loses = |policy: &str| {
        let mut gains = JUDGED.into_iter().filter(|&measure| better(here, policy, measure)).peekable();
        gains.peek().is_some() && gains.all(|measure| !better(there, policy, measure))
    };
    let names = there.policies.iter().map(|policy| policy.name.as_str());
    names.filter(|name| loses(name)).map(String::from).collect()
}

/// Returns the verdicts that differ.
fn changed(here: &Comparison, there: &Comparison) -> Vec<ChangedVerdict> {
    let mut all = Vec::new();
    for policy in &there.policies {
        let Some(ours) = here.policies.iter().find(|p| p.name == policy.name) else { continue };
        for measure in JUDGED {
            let find = |changes: &[drystone::metrics::MetricChange]| {
                let change = choices::find(changes, Metric::Mean(measure))?;
                Some((change.verdict, change.relative))
            };
            let (Some(here), Some(there)) = (find(&ours.changes), find(&policy.changes)) else { continue };
            let clear = |verdict| matches!(verdict, MetricVerdict::Better | MetricVerdict::Worse);
            if here.0 != there.0 && (clear(here.0) || clear(there.0)) {
                all.push(ChangedVerdict { policy: policy.name.clone(), measure: measure.name(), here, there });
            }
        }
    }
    // Those that turn round first.
    all.sort_by_key(|changed| !changed.turns());
    all
}

impl Readings {
    /// Describes the assumption about jobs that outlive their estimates.
    pub(super) fn assumed(&self) -> String {
        match self.treatment {
            Treatment::RunOn => format!(
                "{} of the jobs ({}) run past their time limit: they run on, and the scheduler postpones their ends when the limit has passed.",
                percent(Some(self.share), 1),
                count(self.jobs)
            ),
            other => other.assumed(self.jobs, self.share),
        }
    }

    /// Returns whether some treatment reverses a verdict on this policy.
    pub(super) fn turns(&self, policy: &str) -> bool {
        self.others.iter().flat_map(|other| &other.changed).any(|changed| changed.policy == policy && changed.turns())
    }

    /// Returns the treatments under which a policy is no longer clearly better by any mean by which
    /// it is better here.
    pub(super) fn loses(&self, policy: &str) -> Vec<&'static str> {
        let loses = |reading: &&TreatmentReading| reading.lost.iter().any(|name| name == policy);
        self.others.iter().filter(loses).map(|reading| reading.treatment.where_used()).collect()
    }

    /// Returns the recommendations under other treatments, where they differ from this policy.
    pub(super) fn recommended_instead(&self, here: &str) -> Vec<String> {
        let other = |reading: &TreatmentReading| {
            let there = reading.recommended.as_deref().unwrap_or("none of them");
            (there != here).then(|| format!("{}, it is {there}.", reading.treatment.when()))
        };
        self.others.iter().filter_map(other).collect()
    }

    /// Describes the sensitivity in sentences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut text = self.treatment.assumed(self.jobs, self.share);
        if !self.others.is_empty() && self.others.iter().all(TreatmentReading::agrees) {
            let when: Vec<String> = self.others.iter().map(|other| lower_first(other.treatment.when())).collect();
            let when = when.join(", or ");
            text.push_str(&format!(" {}, no verdict changes.", upper_first(&when)));
        } else {
            for reading in &self.others {
                text.push(' ');
                text.push_str(&reading.sentence());
            }
        }
        if !self.untried.is_empty() {
            let untried = self.untried.join(", ");
            text.push_str(&format!(" Another treatment of them was not tried for {untried}."));
        }
        vec![text]
    }
}

impl TreatmentReading {
    /// Returns whether it changes no word of the verdict.
    fn agrees(&self) -> bool {
        self.changed.is_empty() && self.leads.is_empty()
    }

    fn sentence(&self) -> String {
        let when = self.treatment.when();
        if self.agrees() {
            return format!("{when}, no verdict changes.");
        }
        let mut named: Vec<String> = self.leads.iter().map(Lead::text).collect();
        named.extend(self.changed.iter().take(NAMED).map(ChangedVerdict::text));
        let more = match self.changed.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => "; and one more verdict changes".to_string(),
            n => format!("; and {n} more verdicts change"),
        };
        format!("{when}, {}{more}.", named.join("; "))
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

    fn reading(here: &Comparison, there: &Comparison) -> TreatmentReading {
        let choices = |comparison| RoleChoices { sound: Comparison::policies(comparison), apart: Vec::new() };
        TreatmentReading {
            overrun: "kill",
            treatment: Treatment::Kill,
            recommended: choices(there).recommended(|_| false).map(|policy| policy.name.clone()),
            leads: leads(&choices(here), &choices(there)),
            changed: changed(here, there),
            lost: lost(here, there),
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

    fn readings(others: Vec<TreatmentReading>) -> Readings {
        Readings { treatment: Treatment::RunOn, jobs: 12, share: 0.5, others, untried: Vec::new() }
    }

    #[test]
    fn what_turns_round_comes_first_and_what_stays_is_not_said() {
        use MetricVerdict::{Better, Same, Unclear, Worse};
        let here = comparison(&[("a", Better, -0.2), ("b", Better, -0.1), ("c", Unclear, 0.0), ("d", Same, 0.0)]);
        let there = comparison(&[("a", Unclear, -0.1), ("b", Worse, 0.3), ("c", Same, 0.0), ("d", Same, 0.0)]);
        let found = changed(&here, &there);
        let names: Vec<(&str, bool)> = found.iter().map(|c| (c.policy.as_str(), c.turns())).collect();
        assert_eq!(names, [("b", true), ("a", false)]);
        let told = readings(vec![reading(&here, &there)]);
        assert!(told.turns("b") && !told.turns("a"));
        assert_eq!(told.loses("a"), ["where jobs that run past their limits are killed"]);
        assert!(told.loses("c").is_empty() && told.loses("d").is_empty());
        let text = told.sentences().concat();
        assert!(text.contains("12 jobs (50.0%) ran past their time limit. If they are killed at the limit, b is worse (+30.0%) by mean wait, not better (-10.0%); a is"), "{text}");
        assert_eq!(told.recommended_instead("a"), ["If they are killed at the limit, it is none of them."]);
        let agreed = readings(vec![reading(&here, &here)]);
        assert!(agreed.sentences().concat().contains("If they are killed at the limit, no verdict changes."));
        assert!(agreed.recommended_instead("a").is_empty());
    }

    /// No verdict on a policy changes, but which is the best does: so do the words that name it.
    #[test]
    fn another_winner_is_said() {
        use MetricVerdict::Better;
        let here = comparison(&[("a", Better, -0.2), ("b", Better, -0.1)]);
        let there = comparison(&[("a", Better, -0.2), ("b", Better, -0.4)]);
        let told = readings(vec![reading(&here, &there)]);
        let text = told.sentences().concat();
        assert!(
            text.ends_with("If they are killed at the limit, the best by mean wait is b (-40.0%), not a (-20.0%)."),
            "{text}"
        );
        assert_eq!(told.recommended_instead("a"), ["If they are killed at the limit, it is b."]);
    }
}
