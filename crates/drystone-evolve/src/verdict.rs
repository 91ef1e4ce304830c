//! Value of a formula where it was not chosen: on other weeks of its log, and on other logs.

use crate::ground::{GroundError, LogWeeks};
use crate::objective::{MeasureTally, ObjectiveGuard};
use crate::simulate::{Stopped, tally_jobs};
use drystone::inference::{DifferenceVerdict, MeanDifference, PeriodSum, WeekSigns};
use drystone::metrics::Measure;
use drystone::metrics::MeasureObjective;
use drystone::model::{Span, Time, Workload};
use drystone::policy::PolicySpec;
use serde::Serialize;
use std::sync::atomic::AtomicBool;

#[derive(Clone, Debug)]
pub struct JudgedPolicy {
    /// Name of the log.
    pub name: String,
    pub policy: PolicySpec,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OnLog {
    pub log: String,
    /// Weeks of submits on which candidates were simulated; 0 on other logs.
    pub seen_weeks: usize,
    /// Weeks of submits on which none was.
    pub unseen_weeks: usize,
    /// The guard in numbers on the weeks of `unseen_weeks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen_bound: Option<f64>,
    /// One per policy.
    pub verdicts: Vec<PolicyVerdict>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PolicyVerdict {
    pub name: String,
    /// The policy's text.
    pub policy: String,
    /// The objective over the weeks on which candidates were simulated; `None` where there are
    /// none.
    pub seen: Option<f64>,
    /// The objective over the other weeks.
    pub unseen: f64,
    /// Change against the first policy on the weeks seen: −0.1 is a tenth less.
    pub seen_change: Option<f64>,
    /// Change against the first policy on the other weeks.
    pub unseen_change: f64,
    /// Its 95 % interval from blocks of unseen weeks; `None` for maxima, and where there are too
    /// few weeks.
    pub interval: Option<(f64, f64)>,
    /// Verdict on that change; `None` for maxima. A formula was chosen on other weeks, so it counts
    /// as one test.
    pub verdict: Option<DifferenceVerdict>,
    /// Unseen weeks by the sign of their difference.
    pub signs: Option<WeekSigns>,
    /// Mean wait over the other weeks, in seconds.
    pub unseen_wait: f64,
    /// Longest wait over the other weeks, in seconds.
    pub unseen_longest_wait: f64,
    /// The guarded measure over the other weeks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen_guarded: Option<f64>,
}

/// Judges policies on a whole log, week by week of submits; changes are against the first. `parts`
/// says which weeks were seen.
///
/// # Errors
/// A simulation that failed; [`Stopped`] on cancellation.
pub fn judge_policies(
    workload: &Workload,
    parts: Option<LogWeeks>,
    (objective, guard): (MeasureObjective, Option<&ObjectiveGuard>),
    policies: &[JudgedPolicy],
    stop: &AtomicBool,
) -> Result<Result<OnLog, Stopped>, GroundError> {
    let origin = workload.submit_range().unwrap_or_default().0;
    let week = |submit: Time| usize::try_from((submit - origin).0.div_euclid(Span::WEEK.0)).ok();
    let chosen_parts: Vec<i64> = parts.map(|parts| parts.chosen_parts(workload)).unwrap_or_default();
    let is_seen = |week: usize| {
        let begin = origin + Span(week as i64 * Span::WEEK.0);
        parts.is_some_and(|parts| chosen_parts.contains(&parts.part_index(origin, begin)))
    };
    let mut policy_tallies = Vec::new();
    let guarding = guard.and_then(|guard| guard.policy.as_ref());
    for policy in policies.iter().map(|candidate| &candidate.policy).chain(guarding) {
        let mut measures = vec![objective.measure, Measure::Wait];
        measures.extend(guard.map(|guard| guard.of.measure));
        let weeks = tally_jobs(workload, policy, &measures, stop, week);
        match weeks.map_err(|error| GroundError::from_simulation(policy, &error))? {
            Some(weeks) => policy_tallies.push(weeks),
            None => return Ok(Err(Stopped)),
        }
    }
    let weeks: Vec<usize> =
        (0..policy_tallies.first().map_or(0, Vec::len)).filter(|&w| policy_tallies[0][w][0].count > 0).collect();
    let (seen_indices, unseen): (Vec<usize>, Vec<usize>) = weeks.into_iter().partition(|&week| is_seen(week));
    let of = |weeks: &[usize], tallies: &[Vec<MeasureTally>], measure: usize, maximum: bool| {
        let mut sum = MeasureTally::default();
        weeks.iter().filter_map(|&week| tallies.get(week)).for_each(|week| sum.add_tally(&week[measure]));
        sum.mean_or_maximum(maximum)
    };
    let unseen_bound = guard.map(|guard| match &guard.policy {
        Some(_) => guard.factor * of(&unseen, &policy_tallies[policies.len()], 2, guard.of.maximum),
        None => guard.factor,
    });
    let verdicts = policies.iter().zip(&policy_tallies).map(|(candidate, own)| {
        let change = |weeks: &[usize]| {
            of(weeks, own, 0, objective.maximum) / of(weeks, &policy_tallies[0], 0, objective.maximum) - 1.0
        };
        let difference = (!objective.maximum).then(|| mean_difference(&unseen, &policy_tallies[0], own));
        PolicyVerdict {
            name: candidate.name.clone(),
            policy: candidate.policy.to_string(),
            seen: (!seen_indices.is_empty()).then(|| of(&seen_indices, own, 0, objective.maximum)),
            unseen: of(&unseen, own, 0, objective.maximum),
            seen_change: (!seen_indices.is_empty()).then(|| change(&seen_indices)),
            unseen_change: change(&unseen),
            interval: difference.and_then(|estimate| estimate.change_interval(CONFIDENCE)),
            verdict: difference.map(|estimate| estimate.judge_difference(estimate.p_value(), CONFIDENCE, 1)),
            signs: difference.map(|estimate| estimate.signs),
            unseen_wait: of(&unseen, own, 1, false),
            unseen_longest_wait: of(&unseen, own, 1, true),
            unseen_guarded: guard.map(|guard| of(&unseen, own, 2, guard.of.maximum)),
        }
    });
    let log = workload.provenance.name.clone();
    let (seen_weeks, unseen_weeks) = (seen_indices.len(), unseen.len());
    Ok(Ok(OnLog { log, seen_weeks, unseen_weeks, unseen_bound, verdicts: verdicts.collect() }))
}

/// Probability that an interval holds the true change.
const CONFIDENCE: f64 = 0.95;

fn mean_difference(weeks: &[usize], old: &[Vec<MeasureTally>], new: &[Vec<MeasureTally>]) -> MeanDifference {
    let sums = |tallies: &[Vec<MeasureTally>]| -> Vec<PeriodSum> {
        let of = |&week: &usize| tallies.get(week).map_or(MeasureTally::default(), |week| week[0]);
        weeks.iter().map(of).map(|tally| PeriodSum { sum: tally.sum, count: tally.count as f64 }).collect()
    };
    MeanDifference::compare_sums(sums(old), sums(new))
}
