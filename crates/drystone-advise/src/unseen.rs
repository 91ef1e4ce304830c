//! Test of a choice where it was not made: each block of periods is judged by what is chosen on the
//! others, so that it counts as one test however many candidates there were.

use crate::goal::relative_change;
use crate::interval::{CONFIDENCE, all_but, all_gone, estimate_measures};
use crate::search::choose_best;
use crate::study::{AdviceCandidate, AdviceStudy, PeriodFigures, mean_values};
use drystone::inference::{Estimate, NoEstimate, WeekSigns, blocks_of, correct_family};
use serde::Serialize;
use std::cmp::Ordering;

/// A relative change by which the length of a log is judged.
const TELLING: f64 = 0.1;

/// Worth of choices on blocks of periods that they were not made on.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct UnseenTest {
    /// Change of the goal; `None` where nothing is chosen, or there are too few periods.
    pub change: Option<f64>,
    /// Its 95 % interval over blocks of periods and clock phases; `None` where one block decides it
    /// alone.
    pub interval: Option<(f64, f64)>,
    /// Probability of a change as large where there is none.
    pub p: Option<f64>,
    /// Periods in which the goal is worse, better and as good.
    pub signs: WeekSigns,
    /// True if it is better by more than chance.
    pub decided: bool,
    /// Further periods like these that would tell a change of the goal by 10 % from none.
    pub more_periods: Option<usize>,
}

/// Tests what is chosen among these candidates.
pub(crate) fn test_unseen(study: &AdviceStudy<'_>, candidates: &[AdviceCandidate], periods: &[usize]) -> UnseenTest {
    let old = study.candidate_sums(&AdviceStudy::baseline_candidate());
    let Some(composite) = compose_periods(study, candidates, periods) else { return UnseenTest::default() };
    let new: Vec<&PeriodFigures> = composite.iter().collect();
    let (Some(before), Some(after)) =
        (mean_values(&old, &study.figures, periods), mean_values(&new, &study.figures, periods))
    else {
        return UnseenTest::default();
    };
    let estimates = change_estimates(study, (&old, &new), periods);
    let goal = estimates.first().and_then(|goal| goal.ok());
    let mut signs = WeekSigns::default();
    for &period in periods {
        let single_period = [period];
        let before_and_after_means =
            mean_values(&old, &study.figures, &single_period).zip(mean_values(&new, &study.figures, &single_period));
        match before_and_after_means.map_or(Ordering::Equal, |(old, new)| study.goal_change(&old, &new).total_cmp(&0.0))
        {
            Ordering::Less => signs.shorter += 1,
            Ordering::Greater => signs.longer += 1,
            Ordering::Equal => signs.equal += 1,
        }
    }
    let change = study.goal_change(&before, &after);
    let by_goal = goal.is_some_and(|goal| goal.logarithm < 0.0 && goal.p_value() < 1.0 - CONFIDENCE);
    let by_signs = change < 0.0 && signs.decided_direction() == Some(Ordering::Less);
    UnseenTest {
        change: Some(change),
        interval: goal.map(|goal| goal.change_interval(CONFIDENCE)),
        p: goal.map(|goal| goal.p_value()),
        signs,
        decided: by_goal || by_signs || by_figures(study, &estimates, (&before, &after)),
        more_periods: goal.and_then(|goal| goal.more_weeks(TELLING, CONFIDENCE)),
    }
}

/// Estimates the change of the goal, then those of the figures.
pub(crate) fn change_estimates(
    study: &AdviceStudy<'_>,
    (old, new): (&[&PeriodFigures], &[&PeriodFigures]),
    periods: &[usize],
) -> Vec<Result<Estimate, NoEstimate>> {
    let measures = |old: &[f64], new: &[f64]| {
        let goal = study.goal_change(old, new);
        std::iter::once(goal).chain(old.iter().zip(new).map(|(&old, &new)| relative_change(old, new))).collect()
    };
    let mut changes = estimate_measures((old, new), &study.figures, periods, measures);
    let after = mean_values(new, &study.figures, periods).unwrap_or_default();
    for (at, value) in after.iter().enumerate() {
        if let Some(estimate) = changes.get_mut(at + 1).filter(|change| *value == 0.0 && change.is_err()) {
            *estimate = all_gone(old, &study.figures, at, periods);
        }
    }
    // The largest of many is no mean: leaving weeks out says nothing of its certainty.
    for (at, _) in study.figures.iter().enumerate().filter(|(_, figure)| figure.is_maximum()) {
        changes.get_mut(at + 1).into_iter().for_each(|estimate| *estimate = Err(NoEstimate::NoRatio));
    }
    changes
}

/// Returns whether the goal is better by its figures: none that counts is worse, and at least one
/// is better by more than chance, counting all that count. A goal in which a figure falls to
/// nothing has no interval, though its figures may have.
fn by_figures(
    study: &AdviceStudy<'_>,
    estimates: &[Result<Estimate, NoEstimate>],
    (before, after): (&[f64], &[f64]),
) -> bool {
    let counting = study.goal.counting_figures(before, after, study.least_excess(before));
    let not_worse = |&at: &usize| relative_change(before[at], after[at]) <= 0.0;
    let known_estimates: Vec<Estimate> = counting.iter().filter_map(|&at| estimates.get(at + 1)?.ok()).collect();
    let corrected_values = correct_family(&known_estimates.iter().map(Estimate::p_value).collect::<Vec<f64>>());
    let better = known_estimates
        .iter()
        .zip(corrected_values)
        .any(|(estimate, p)| estimate.logarithm < 0.0 && p < 1.0 - CONFIDENCE);
    counting.iter().all(not_worse) && better
}

/// The figures of each block of periods under what is chosen on all others, phase by phase; `None`
/// where there is nothing to choose from, or nothing is chosen at all.
fn compose_periods(
    study: &AdviceStudy<'_>,
    candidates: &[AdviceCandidate],
    periods: &[usize],
) -> Option<Vec<PeriodFigures>> {
    let blocks = blocks_of(periods.len());
    let choices: Vec<Option<AdviceCandidate>> = blocks
        .iter()
        .map(|block| choose_best(study, candidates.to_vec(), &all_but(periods, block)).map(|choice| choice.candidate))
        .collect();
    let baseline = AdviceStudy::baseline_candidate();
    let phases = choices.iter().flatten().map(|candidate| study.candidate_sums(candidate).len()).max()?;
    let of_phase = |phase: usize| -> Option<PeriodFigures> {
        let of = |candidate: &AdviceCandidate| {
            let sums = study.candidate_sums(candidate);
            sums.get(phase % sums.len().max(1)).map(|sums| (*sums).clone())
        };
        let mut sums = of(&baseline)?;
        for (block, choice) in blocks.iter().zip(&choices) {
            let Some(choice) = choice else { continue };
            sums.replace_periods(&of(choice)?, &periods[block.clone()]);
        }
        Some(sums)
    };
    (0..phases).map(of_phase).collect()
}
