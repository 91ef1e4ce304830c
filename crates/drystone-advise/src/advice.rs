//! The advice: what to change, what that is worth on periods that were not used to find it, and how
//! sure that is.

use crate::conf::{ConfEdit, conf_edits, find_contradictions};
use crate::figure::GoalFigure;
use crate::goal::relative_change;
use crate::interval::CONFIDENCE;
use crate::options::KnobChange;
use crate::search::{AdviceSettings, Chosen, best_known, choose_single, known_settings, search_settings};
use crate::study::{AdviceCandidate, AdviceStudy, CandidateSimulator};
use crate::unseen::{UnseenTest, change_estimates, test_unseen};
use drystone::inference::{Estimate, NoEstimate};
use drystone::metrics::MetricUnit;
use drystone::policy::goal::GoalMeasure;
use drystone::statistics::arithmetic_mean;
use drystone_whatif::draw_halves;
use serde::Serialize;

/// Least share of the judgements in which a recommendation must be better.
const SURE: f64 = 0.75;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    /// Clock phases in which candidates were simulated.
    pub phases: u32,
    pub simulations: usize,
    /// Periods that were chosen on and judged on.
    pub periods: usize,
    /// Difference of the site's own goal between clock phases: nothing smaller is called a gain.
    pub spread: f64,
    /// Other settings of Slurm.
    pub settings: AdvisedWay,
    /// Another policy, run live.
    pub live: AdvisedWay,
    /// Limits of partitions and QOS.
    pub limits: AdvisedWay,
    /// Everything that was tried, best first, over all periods.
    pub tried: Vec<Tried>,
    /// Names of what was tried that nothing else beats in both the goal and the longest wait, best
    /// goal first: the trade-off as a curve.
    pub front: Vec<String>,
}

/// Advice in one way, or the reason for none.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AdvisedWay {
    pub reason: AdviceReason,
    /// Best candidate on all periods; `None` if nothing is better than the present state.
    pub best: Option<Tried>,
    /// The lines of `slurm.conf` to change for it.
    pub edits: Vec<ConfEdit>,
    /// Remarks on the configuration that the change brings about: settings that do not go together.
    pub contradictions: Vec<String>,
    /// Figures now and with the change, over all periods, which include those on which it was
    /// found.
    pub figures: Vec<Figured>,
    /// Its change of the goal over all periods, which include those that it was chosen on: 95 %
    /// interval over blocks of periods and clock phases.
    pub interval: Option<(f64, f64)>,
    /// Worth of choices on blocks of periods that they were not made on: what decides.
    pub unseen: UnseenTest,
    /// Of so many periods it is better in so many.
    pub better_periods: (usize, usize),
    /// Value on other periods of choices made on some.
    pub judged: HalfJudgement,
}

impl AdvisedWay {
    pub fn is_recommended(&self) -> bool {
        self.reason == AdviceReason::Recommended
    }
}

/// Reason for or against a recommendation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceReason {
    /// It is better where it was not chosen, by more than chance.
    Recommended,
    /// Nothing that keeps the guards is better than what there is by more than its clocks.
    NothingBetter,
    /// Choices made on some periods were too often not better on the others.
    NotHeld,
    /// It was better on the others, but by less than clock phases make.
    WithinSpread,
    /// It was better on the others, but that may be chance.
    Unclear,
    /// There are too few weeks to choose by some and judge by others.
    TooFewPeriods,
    /// It was stopped before the clock phases were known.
    Unfinished,
    /// The change is no larger than what the simulation is off against what the site recorded.
    InsideReplayError,
    /// No user would notice the change.
    Unnoticed,
}

/// Result on one half of the periods of choices made on the other half.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct HalfJudgement {
    /// Judgements: twice the number of divisions.
    pub of: usize,
    /// Number of judgements in which the choice was better than the present state, on periods that
    /// it was not made on, and kept the guards there.
    pub better: usize,
    /// Number of judgements without a choice.
    pub left: usize,
    /// Number of judgements, among those with a choice, in which the guards were kept on the other
    /// periods.
    pub kept: usize,
    /// Number of judgements in which the choice was worth at least half of its promise.
    pub half: usize,
    /// Mean of what the choices promised on their own periods.
    pub promised: Option<f64>,
    /// Mean of what they were worth on the others; where nothing was chosen, 0.
    pub got: Option<f64>,
    /// The 5th and the 95th percentile of that.
    pub between: Option<(f64, f64)>,
    /// Promised and achieved change of each choice.
    pub pairs: Vec<(f64, f64)>,
    /// Choices with their frequency, most frequent first.
    pub chosen: Vec<(String, usize)>,
}

/// One figure now and then.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figured {
    /// Its name in goals and guards.
    pub figure: String,
    pub name: String,
    #[serde(skip)]
    pub unit: Option<MetricUnit>,
    /// Now.
    pub before: f64,
    /// With the change.
    pub after: f64,
    /// Relative.
    pub change: f64,
    /// Its 95 % interval over blocks of periods and clock phases.
    pub interval: Option<(f64, f64)>,
    /// Reason for no interval; `None` as well for a longest wait, which is one job's.
    pub no_interval: Option<NoEstimate>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tried {
    pub name: String,
    /// The policy that was simulated, in its first phase.
    pub policy: String,
    /// True if it needs a live scheduler.
    pub live: bool,
    /// Change of the goal over all periods.
    pub change: f64,
    /// True if the guards are kept over all periods.
    pub keeps: bool,
    /// Phases that it was simulated in.
    pub phases: usize,
    /// The figures, in the order of those of the study.
    pub values: Vec<f64>,
}

/// Tries everything, chooses, judges, and gives advice. `None` if cancelled before the present
/// state was known.
///
/// # Errors
/// The error of the bench.
pub fn give_advice<B: CandidateSimulator>(
    study: &mut AdviceStudy<'_>,
    bench: &mut B,
    plan: AdviceSettings,
) -> Result<Option<Advice>, B::Error> {
    let baseline = [AdviceStudy::baseline_candidate()];
    let phases = study.phases;
    study.learn_results(bench, &baseline, 1, "the site as it is")?;
    if study.candidate_sums(&AdviceStudy::baseline_candidate()).is_empty() {
        return Ok(None);
    }
    let periods = &study.filled_periods()[..];
    let live: Vec<AdviceCandidate> = (0..study.live.len()).map(AdviceCandidate::Live).collect();
    let (first, rest) = in_two(study);
    // Live policies come first: they cost little.
    study.learn_results(bench, &live, 1, "live policies")?;
    first_look(study, periods, "first look").iter().for_each(|text| bench.report_progress(text));
    study.learn_results(bench, &first, 1, "a first look")?;
    first_look(study, periods, "first look")
        .iter()
        .filter(|_| !first.is_empty())
        .for_each(|text| bench.report_progress(text));
    study.learn_results(bench, &rest, 1, "single changes")?;
    study.learn_results(bench, &baseline, phases, "clock phases of the site as it is")?;
    first_look(study, periods, "every single change").iter().for_each(|text| bench.report_progress(text));
    let divisions = draw_halves(periods, plan.splits, plan.seed);
    let mut directions: Vec<&[usize]> = divisions.iter().flatten().map(Vec::as_slice).collect();
    directions.push(periods);
    let mut choices = search_settings(study, bench, &directions, plan.knobs)?;
    // What is chosen on all periods is judged by the choices on halves, so it may come from any of
    // their searches.
    let own = choices.pop().flatten();
    let best = best_known(study, periods).or(own);
    let judging = Judging { divisions: &divisions, periods, weekly: plan.weekly };
    let settings = answer_way(study, (best, &choices), &known_settings(study), &judging);
    let candidates: Vec<AdviceCandidate> = (0..study.live.len()).map(AdviceCandidate::Live).collect();
    let mut choices = choose_single(study, &candidates, &directions);
    let best = choices.pop().flatten();
    let live = answer_way(study, (best, &choices), &candidates, &judging);
    let candidates: Vec<AdviceCandidate> = (0..study.limits.len()).map(AdviceCandidate::Limit).collect();
    study.learn_results(bench, &candidates, phases, "limits of partitions and QOS")?;
    let mut choices = choose_single(study, &candidates, &directions);
    let best = choices.pop().flatten();
    let limits = answer_way(study, (best, &choices), &candidates, &judging);
    let trials = list_tried(study, periods);
    let longest = study.figures.iter().position(|figure| *figure == GoalFigure::Goal(GoalMeasure::MaxWait));
    Ok(Some(Advice {
        phases,
        simulations: study.count_simulations(),
        periods: periods.len(),
        spread: study.phase_spread(periods),
        settings,
        live,
        limits,
        front: trade_off_front(&trials, longest),
        tried: trials,
    }))
}

/// Every single change: one of each knob, then the rest.
fn in_two(study: &AdviceStudy<'_>) -> (Vec<AdviceCandidate>, Vec<AdviceCandidate>) {
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    let mut knobs: Vec<&str> = Vec::new();
    // The largest value of a knob tells most of it.
    for (at, change) in study.changes.iter().enumerate().rev() {
        if knobs.contains(&change.knob) {
            rest.push(AdviceCandidate::Slurm(vec![at]));
        } else {
            knobs.push(change.knob);
            first.push(AdviceCandidate::Slurm(vec![at]));
        }
    }
    (first, rest)
}

/// Returns the best of each kind so far; `None` before anything is tried.
fn first_look(study: &AdviceStudy<'_>, periods: &[usize], period_name: &str) -> Option<String> {
    let candidates = study.tried_candidates();
    let is_live = |candidate: &&AdviceCandidate| matches!(candidate, AdviceCandidate::Live(_));
    let tried_live = candidates.iter().any(|candidate| is_live(&candidate));
    let tried_settings =
        candidates.iter().any(|candidate| !is_live(&candidate) && *candidate != AdviceStudy::baseline_candidate());
    let best = |live: bool| {
        let judgements = candidates.iter().filter(|candidate| is_live(candidate) == live).filter_map(|candidate| {
            let (change, keeps) = study.judge_candidate(candidate, periods)?;
            keeps.then_some((candidate, change))
        });
        let best = judgements.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, change)| *change < 0.0);
        best.map_or("nothing better".to_string(), |(candidate, change)| {
            format!("{} ({:+.1} %)", study.candidate_name(candidate), change * 100.0)
        })
    };
    let mut parts = Vec::new();
    if tried_settings {
        parts.push(format!("of settings {}", best(false)));
    }
    if tried_live {
        parts.push(format!("of live policies {}", best(true)));
    }
    (!parts.is_empty()).then(|| format!("{period_name} at {}, not judged yet: {}", study.goal, parts.join("; ")))
}

/// Periods to judge by.
struct Judging<'a> {
    divisions: &'a [[Vec<usize>; 2]],
    periods: &'a [usize],
    weekly: bool,
}

impl Judging<'_> {
    fn has_too_few(&self) -> bool {
        self.divisions.is_empty() || !self.weekly
    }
}

fn answer_way(
    study: &AdviceStudy<'_>,
    (best, chosen): (Option<Chosen>, &[Option<Chosen>]),
    candidates: &[AdviceCandidate],
    judging: &Judging<'_>,
) -> AdvisedWay {
    let &Judging { divisions, periods, .. } = judging;
    let half_judgement = judge_halves(study, chosen, divisions);
    let mut answer = AdvisedWay {
        reason: if divisions.is_empty() { AdviceReason::TooFewPeriods } else { AdviceReason::NothingBetter },
        best: None,
        edits: Vec::new(),
        contradictions: Vec::new(),
        figures: Vec::new(),
        interval: None,
        unseen: UnseenTest::default(),
        better_periods: (0, periods.len()),
        judged: half_judgement,
    };
    let Some(Chosen { candidate, promised }) = best else { return answer };
    let (old, new) = (study.candidate_sums(&AdviceStudy::baseline_candidate()), study.candidate_sums(&candidate));
    let estimates = change_estimates(study, (&old, &new), periods);
    answer.interval = estimates.first().and_then(|goal| Some(goal.ok()?.change_interval(CONFIDENCE)));
    answer.unseen = test_unseen(study, candidates, periods);
    let (before, after) = study.before_and_after(&candidate, periods).unwrap_or_default();
    answer.figures = figure_changes(study, &before, &after, &estimates);
    let better = |period: &&usize| {
        study.judge_candidate(&candidate, std::slice::from_ref(*period)).is_some_and(|(c, _)| c < 0.0)
    };
    answer.better_periods.0 = periods.iter().filter(better).count();
    answer.reason = match old.len() < study.phases as usize {
        true => AdviceReason::Unfinished,
        false => find_reason(&answer, study.phase_spread(periods), judging.has_too_few()),
    };
    if let AdviceCandidate::Slurm(changes) = &candidate {
        let changes: Vec<&KnobChange> = changes.iter().map(|&at| &study.changes[at]).collect();
        let conf = study.site.conf.as_ref().map(|(_, conf)| conf);
        answer.edits = conf_edits(conf, &changes);
        answer.contradictions = find_contradictions(conf, study.site.longest, &changes);
    }
    answer.best = Some(tried_candidate(study, &candidate, (promised, true), after));
    answer
}

fn figure_changes(
    study: &AdviceStudy<'_>,
    before: &[f64],
    after: &[f64],
    estimates: &[Result<Estimate, NoEstimate>],
) -> Vec<Figured> {
    let mut figures: Vec<Figured> = Vec::new();
    for (at, figure) in study.figures.iter().enumerate() {
        if study.figures[..at].contains(figure) {
            continue;
        }
        let estimate = estimates.get(at + 1).copied().unwrap_or(Err(NoEstimate::TooFew));
        figures.push(Figured {
            figure: figure.to_string(),
            name: figure.name(),
            unit: Some(figure.unit()),
            before: before[at],
            after: after[at],
            change: relative_change(before[at], after[at]),
            interval: estimate.ok().map(|estimate| estimate.change_interval(CONFIDENCE)),
            no_interval: estimate.err().filter(|_| !figure.is_maximum()),
        });
    }
    figures
}

fn find_reason(answer: &AdvisedWay, spread: f64, few: bool) -> AdviceReason {
    let judgement = &answer.judged;
    if few {
        return AdviceReason::TooFewPeriods;
    }
    if (judgement.better as f64) < SURE * judgement.of as f64 {
        return AdviceReason::NotHeld;
    }
    if judgement.got.is_none_or(|gain| gain >= -spread) {
        return AdviceReason::WithinSpread;
    }
    if answer.unseen.decided { AdviceReason::Recommended } else { AdviceReason::Unclear }
}

/// Judges each choice on the half that it was not made on.
fn judge_halves(study: &AdviceStudy<'_>, choices: &[Option<Chosen>], divisions: &[[Vec<usize>; 2]]) -> HalfJudgement {
    let mut judgement = HalfJudgement::default();
    let reversed_halves = divisions.iter().flat_map(|[first_half, second_half]| [second_half, first_half]);
    let (mut promised_changes, mut actual_changes) = (Vec::new(), Vec::new());
    let mut names: Vec<(String, usize)> = Vec::new();
    for (choice, opposite_half) in choices.iter().zip(reversed_halves) {
        judgement.of += 1;
        let name = choice.as_ref().map_or("as it is".to_string(), |choice| study.candidate_name(&choice.candidate));
        match names.iter_mut().find(|(entry_name, _)| *entry_name == name) {
            Some((_, times)) => *times += 1,
            None => names.push((name, 1)),
        }
        let judge = choice
            .as_ref()
            .and_then(|choice| Some((choice.promised, study.judge_candidate(&choice.candidate, opposite_half)?)));
        let Some((promise, (worth, keeps))) = judge else {
            judgement.left += 1;
            actual_changes.push(0.0);
            continue;
        };
        judgement.better += usize::from(worth < 0.0 && keeps);
        judgement.kept += usize::from(keeps);
        judgement.half += usize::from(worth <= promise / 2.0);
        promised_changes.push(promise);
        actual_changes.push(worth);
        judgement.pairs.push((promise, worth));
    }
    let mean = |changes: &[f64]| arithmetic_mean(changes.iter().copied());
    (judgement.promised, judgement.got) = (mean(&promised_changes), mean(&actual_changes));
    actual_changes.sort_unstable_by(f64::total_cmp);
    judgement.between =
        actual_changes.len().checked_sub(1).map(|last| (actual_changes[last / 20], actual_changes[last - last / 20]));
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    judgement.chosen = names;
    judgement
}

fn tried_candidate(
    study: &AdviceStudy<'_>,
    candidate: &AdviceCandidate,
    (change, keeps): (f64, bool),
    values: Vec<f64>,
) -> Tried {
    Tried {
        name: study.candidate_name(candidate),
        policy: study.candidate_policy(candidate, 0),
        live: matches!(candidate, AdviceCandidate::Live(_)),
        change,
        keeps,
        phases: study.candidate_sums(candidate).len(),
        values,
    }
}

/// Goes from the best goal to the longest wait: each is better in the longest wait than all before
/// it. `tried` is in the order of the goal.
fn trade_off_front(trials: &[Tried], longest: Option<usize>) -> Vec<String> {
    let Some(at) = longest else { return Vec::new() };
    let mut best = f64::INFINITY;
    let mut front = Vec::new();
    for trial in trials {
        let value = trial.values.get(at).copied().unwrap_or(f64::INFINITY);
        if value < best {
            best = value;
            front.push(trial.name.clone());
        }
    }
    front
}

/// Everything of which something is known.
fn list_tried(study: &AdviceStudy<'_>, periods: &[usize]) -> Vec<Tried> {
    let mut trials: Vec<Tried> = study
        .tried_candidates()
        .into_iter()
        .filter_map(|candidate| {
            let judgement = study.judge_candidate(&candidate, periods)?;
            Some(tried_candidate(study, &candidate, judgement, study.candidate_values(&candidate, periods)?))
        })
        .collect();
    trials.sort_by(|a, b| a.change.total_cmp(&b.change).then_with(|| a.name.cmp(&b.name)));
    trials
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second is beaten by the first in both, and the fourth by the third.
    #[test]
    fn the_front_has_what_nothing_beats() {
        let trial = |name: &str, change, longest| Tried {
            name: name.to_string(),
            policy: String::new(),
            live: false,
            change,
            keeps: true,
            phases: 1,
            values: vec![0.0, longest],
        };
        let trials = [
            trial("a", -0.3, 90.0),
            trial("b", -0.2, 95.0),
            trial("c", -0.1, 50.0),
            trial("d", 0.0, 50.0),
            trial("e", 0.1, 20.0),
        ];
        assert_eq!(trade_off_front(&trials, Some(1)), ["a", "c", "e"]);
        assert_eq!(trade_off_front(&trials, None), Vec::<String>::new());
    }
}
