//! How much a verdict hangs on what becomes of jobs that outlive their estimates.

use super::candidates;
use super::choices::Choices;
use super::replay::Replay;
use super::simulate::{Bench, waiting};
use crate::exit::Failure;
use crate::output::number::{change, count, percent, plural};
use drystone::log::clean::{Audit, Rule};
use drystone::log::transform::{Overrunning, overrunning};
use drystone::metrics::{Comparison, Measure, Metric, Report, Verdict, compare};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_report::PolicyResult;
use serde::Serialize;

/// By which means policies are judged.
const JUDGED: [Measure; 2] = [Measure::Wait, Measure::BoundedSlowdown];
/// Most changes that one sentence names.
const NAMED: usize = 3;

/// The same comparison where jobs that outlive their estimates are treated otherwise.
#[derive(Serialize, Debug)]
pub(super) struct Readings {
    /// Jobs that outlive their estimates.
    pub(super) jobs: u64,
    /// Their share of all jobs.
    pub(super) share: f64,
    /// What each other treatment gives.
    pub(super) others: Vec<Reading>,
    /// Policies that were not tried, because that takes long or time was up.
    pub(super) untried: Vec<String>,
}

/// One other treatment.
#[derive(Serialize, Debug)]
pub(super) struct Reading {
    /// As `--overrun` has it.
    pub(super) overrun: &'static str,
    /// What is judged otherwise.
    pub(super) changed: Vec<Changed>,
}

/// A policy that another treatment judges otherwise.
#[derive(Serialize, Debug)]
pub(super) struct Changed {
    pub(super) policy: String,
    pub(super) measure: &'static str,
    /// The verdict where the jobs run on, and its change of the mean.
    pub(super) here: (Verdict, Option<f64>),
    /// The verdict with this treatment.
    pub(super) there: (Verdict, Option<f64>),
}

impl Changed {
    /// Whether better becomes worse, or worse better.
    pub(super) fn turns(&self) -> bool {
        matches!((self.here.0, self.there.0), (Verdict::Better, Verdict::Worse) | (Verdict::Worse, Verdict::Better))
    }

    fn text(&self) -> String {
        let part = |(verdict, relative): (Verdict, Option<f64>)| {
            let word = match verdict {
                Verdict::Better => "better",
                Verdict::Worse => "worse",
                Verdict::Same => "the same",
                Verdict::InsideReplayError => "inside the replay's error",
                _ => "unclear",
            };
            relative.map_or_else(|| word.to_string(), |relative| format!("{word} ({})", change(relative)))
        };
        format!("{} by mean {} is {}, not {}", self.policy, self.measure, part(self.there), part(self.here))
    }
}

/// Simulates the choices again with other treatments, where jobs outlive their estimates and run on. `None` where none does.
pub(super) fn readings(
    bench: &Bench<'_>,
    whole: &Workload,
    parts: &[Workload],
    specs: &[PolicySpec],
    comparison: &Comparison,
    results: &[PolicyResult],
    replay: Option<&Replay>,
) -> Result<Option<Readings>, Failure> {
    let outlive = whole.jobs().iter().zip(whole.truth()).filter(|(job, truth)| truth.run > job.estimate).count();
    if outlive == 0 || comparison.policies.is_empty() {
        return Ok(None);
    }
    let choices = Choices::of(comparison, results, bench.asked());
    let wanted = |spec: &&PolicySpec| spec.text() == comparison.baseline || choices.weighs(spec.text());
    let baseline = results.iter().find(|r| r.policy.text == comparison.baseline);
    let waiting = baseline.map_or(0.0, |r| waiting(whole, &r.report));
    let quick = |spec: &&PolicySpec| !candidates::takes_long(spec, whole.len(), waiting);
    let tried: Vec<PolicySpec> = specs.iter().filter(wanted).filter(quick).cloned().collect();
    let untried = |spec: &&PolicySpec| !tried.iter().any(|other| other.text() == spec.text());
    let mut found = Readings {
        jobs: outlive as u64,
        share: outlive as f64 / whole.len() as f64,
        others: Vec::new(),
        untried: specs.iter().filter(wanted).filter(untried).map(|spec| spec.text().to_string()).collect(),
    };
    if tried.len() < 2 || !tried.iter().any(|spec| spec.text() == comparison.baseline) {
        return Ok(Some(found));
    }
    for (name, how) in [("kill", Overrunning::Kill), ("raise", Overrunning::Raise)] {
        match reading(bench, whole, parts, &tried, (comparison, replay), how)? {
            Some(changed) => found.others.push(Reading { overrun: name, changed }),
            None => {
                found.untried = tried.iter().map(|spec| spec.text().to_string()).collect();
                found.others.clear();
                break;
            }
        }
    }
    Ok(Some(found))
}

/// What is said where jobs that outlive their estimates are killed there, or their estimates are raised: the log has their run times
/// no more, so that nothing else can be tried.
pub(super) fn treated(audit: &Audit, jobs: usize) -> Option<String> {
    let (rule, what) = [
        (Rule::Killed, "are killed there"),
        (Rule::RaisedEstimate, "have their estimates raised to their run times, which no scheduler can know"),
    ]
    .into_iter()
    .find(|(rule, _)| audit.count(*rule) > 0)?;
    let outlive = audit.count(rule);
    Some(format!(
        "{} ({}) outlive their estimates in the log; here they {what}. How much hangs on it is said with --overrun run-on.",
        plural(outlive, "job"),
        percent(Some(outlive as f64 / jobs.max(1) as f64), 1)
    ))
}

/// What one treatment changes; `None` where it was not simulated to the end.
fn reading(
    bench: &Bench<'_>,
    whole: &Workload,
    parts: &[Workload],
    specs: &[PolicySpec],
    (comparison, replay): (&Comparison, Option<&Replay>),
    how: Overrunning,
) -> Result<Option<Vec<Changed>>, Failure> {
    let treated = |workload: &Workload| overrunning(workload.clone(), how).map_err(Failure::usage);
    let whole = treated(whole)?;
    let parts = match parts {
        [_] => vec![whole.clone()],
        _ => parts.iter().map(treated).collect::<Result<_, _>>()?,
    };
    let bench = Bench { detailed: false, ..*bench };
    let simulated: Option<Vec<_>> = bench.simulate_all(&whole, &parts, specs, &[], None)?.into_iter().collect();
    let Some(simulated) = simulated else { return Ok(None) };
    let reports: Vec<(&str, &Report)> =
        specs.iter().map(PolicySpec::text).zip(simulated.iter().map(|s| &s.measured.report)).collect();
    let mut other = compare(&reports, &comparison.baseline, &JUDGED.map(Metric::Mean), comparison.options)?;
    replay.into_iter().for_each(|replay| replay.restrain(&mut other));
    Ok(Some(changed(comparison, &other)))
}

/// Which verdicts differ.
fn changed(here: &Comparison, there: &Comparison) -> Vec<Changed> {
    let mut all = Vec::new();
    for policy in &there.policies {
        let Some(ours) = here.policies.iter().find(|p| p.name == policy.name) else { continue };
        for measure in JUDGED {
            let find = |changes: &[drystone::metrics::Change]| {
                let change = changes.iter().find(|c| c.metric == Metric::Mean(measure))?;
                Some((change.verdict, change.relative))
            };
            let (Some(here), Some(there)) = (find(&ours.changes), find(&policy.changes)) else { continue };
            let clear = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
            if here.0 != there.0 && (clear(here.0) || clear(there.0)) {
                all.push(Changed { policy: policy.name.clone(), measure: measure.name(), here, there });
            }
        }
    }
    // Those that turn round first.
    all.sort_by_key(|changed| !changed.turns());
    all
}

impl Readings {
    /// What is assumed of jobs that outlive their estimates.
    pub(super) fn assumed(&self) -> String {
        format!(
            "{} of the jobs ({}) outlive their estimates: they run on, and the scheduler puts off their ends as it learns of it",
            percent(Some(self.share), 1),
            count(self.jobs)
        )
    }

    /// Whether some treatment turns a verdict on this policy round.
    pub(super) fn turns(&self, policy: &str) -> bool {
        self.others.iter().flat_map(|other| &other.changed).any(|changed| changed.policy == policy && changed.turns())
    }

    /// How much hangs on it, in sentences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let (share, jobs) = (percent(Some(self.share), 1), plural(self.jobs, "job"));
        let mut text = format!("{jobs} ({share}) outlive their estimates and run on.");
        let others: Vec<String> = self.others.iter().map(Reading::sentence).collect();
        if !self.others.is_empty() && self.others.iter().all(|other| other.changed.is_empty()) {
            text.push_str(
                " Killed at their estimates, or with estimates raised to their run times, the same policies are better and \
                 worse.",
            );
        } else {
            others.iter().for_each(|sentence| {
                text.push(' ');
                text.push_str(sentence);
            });
        }
        if !self.untried.is_empty() {
            let untried = self.untried.join(", ");
            text.push_str(&format!(
                " Whether another treatment of them changes the verdict was not tried for {untried}."
            ));
        }
        vec![text]
    }
}

impl Reading {
    fn sentence(&self) -> String {
        let when = match self.overrun {
            "kill" => "Killed at their estimates",
            _ => "With estimates raised to their run times",
        };
        if self.changed.is_empty() {
            return format!("{when}: the same verdicts.");
        }
        let named: Vec<String> = self.changed.iter().take(NAMED).map(Changed::text).collect();
        let more = match self.changed.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => "; and one more verdict changes".to_string(),
            n => format!("; and {n} more verdicts change"),
        };
        format!("{when}: {}{more}.", named.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::metrics::{Change, Compared, Options};

    fn comparison(policies: &[(&str, Verdict, f64)]) -> Comparison {
        let change = |verdict, relative| Change {
            metric: Metric::Mean(Measure::Wait),
            baseline: Some(1.0),
            value: Some(1.0 + relative),
            relative: Some(relative),
            interval: None,
            verdict,
        };
        let policies = policies
            .iter()
            .map(|&(name, verdict, relative)| Compared {
                name: name.to_string(),
                changes: vec![change(verdict, relative)],
            })
            .collect();
        Comparison { baseline: "easy".to_string(), weeks: 9, options: Options::default(), policies }
    }

    #[test]
    fn what_turns_round_comes_first_and_what_stays_is_not_said() {
        use Verdict::{Better, Same, Unclear, Worse};
        let here = comparison(&[("a", Better, -0.2), ("b", Better, -0.1), ("c", Unclear, 0.0), ("d", Same, 0.0)]);
        let there = comparison(&[("a", Unclear, -0.1), ("b", Worse, 0.3), ("c", Same, 0.0), ("d", Same, 0.0)]);
        let found = changed(&here, &there);
        let names: Vec<(&str, bool)> = found.iter().map(|c| (c.policy.as_str(), c.turns())).collect();
        assert_eq!(names, [("b", true), ("a", false)]);
        let reading = |changed| Reading { overrun: "kill", changed };
        let readings =
            Readings { jobs: 12, share: 0.5, others: vec![reading(changed(&here, &there))], untried: Vec::new() };
        assert!(readings.turns("b") && !readings.turns("a"));
        let text = readings.sentences().concat();
        assert!(text.contains("12 jobs (50.0%) outlive their estimates and run on. Killed at their estimates: b by mean wait is worse (+30.0%), not better (-10.0%); a by"), "{text}");
        let agreed = Readings { others: vec![reading(changed(&here, &here))], ..readings };
        assert!(agreed.sentences().concat().contains("the same policies are better and worse"));
    }
}
