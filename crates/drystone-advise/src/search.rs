//! Choosing on some periods: single changes, ranked, and those that help combined.

use crate::study::{AdviceCandidate, AdviceStudy, CandidateSimulator};

/// Settings of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdviceSettings {
    /// Divisions into halves; each half is chosen on once and judged on once.
    pub splits: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Most knobs that are turned together.
    pub knobs: usize,
    /// True if periods are weeks. Days follow each other too closely to decide anything.
    pub weekly: bool,
}

impl Default for AdviceSettings {
    fn default() -> AdviceSettings {
        AdviceSettings { splits: 20, seed: 1, knobs: 3, weekly: true }
    }
}

/// A knob is turned in addition only where that is worth so much.
const WORTH: f64 = 0.002;

/// Number of further single changes, if none of the finalists holds in every clock phase, that are
/// tried in all of them, at most twice: the first phase alone flatters some settings, and the other
/// values of their knobs have not been tried.
const MORE: usize = 2;
const ROUNDS: usize = 2;

/// Choice on some periods, with its promise there.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Chosen {
    pub(crate) candidate: AdviceCandidate,
    pub(crate) promised: f64,
}

/// A search on the periods of one direction.
struct Climb<'a> {
    periods: &'a [usize],
    /// Every single change that helps, with what it is worth, best first.
    helping: Vec<(usize, f64)>,
    /// The best change of each knob that helps, best first.
    ranked: Vec<usize>,
    /// Changes made so far.
    turned: Vec<usize>,
    change: f64,
}

/// For each of these lists of periods the settings that serve the goal best there and keep the
/// guards; `None` where nothing is better than the site as it is by more than its clocks. All
/// searches go on side by side, so that what several of them ask is simulated once.
///
/// # Errors
/// The error of the bench.
pub(crate) fn search_settings<B: CandidateSimulator>(
    study: &mut AdviceStudy<'_>,
    bench: &mut B,
    directions: &[&[usize]],
    knobs: usize,
) -> Result<Vec<Option<Chosen>>, B::Error> {
    let mut climbs: Vec<Climb<'_>> = directions.iter().map(|periods| Climb::new(study, periods)).collect();
    for step in 1..knobs.max(1) {
        let next = |climb: &Climb<'_>| climb.ranked.get(step).map(|&change| with_change(&climb.turned, change));
        let next_candidates: Vec<AdviceCandidate> = climbs.iter().filter_map(next).collect();
        study.learn_results(bench, &next_candidates, 1, "combining changes")?;
        for climb in &mut climbs {
            let Some(candidate) = next(climb) else { continue };
            let Some((change, true)) = study.judge_candidate(&candidate, climb.periods) else { continue };
            if change < climb.change - WORTH
                && let AdviceCandidate::Slurm(turned) = candidate
            {
                (climb.turned, climb.change) = (turned, change);
            }
        }
    }
    let finalists: Vec<Vec<AdviceCandidate>> = climbs.iter().map(Climb::finalists).collect();
    let mut candidates: Vec<AdviceCandidate> = finalists.iter().flatten().cloned().collect();
    candidates.sort();
    candidates.dedup();
    let phases = study.phases;
    study.learn_results(bench, &candidates, phases, "clock phases")?;
    let best_finalist =
        |(climb, finalists): (&Climb<'_>, &Vec<AdviceCandidate>)| choose_best(study, finalists.clone(), climb.periods);
    let mut choices: Vec<Option<Chosen>> = climbs.iter().zip(&finalists).map(best_finalist).collect();
    for round in 0..ROUNDS {
        let further =
            |((climb, finalists), choice): ((&Climb<'_>, &Vec<AdviceCandidate>), &Option<Chosen>)| match choice {
                Some(_) => Vec::new(),
                None => climb.further_candidates(study, finalists).skip(round * MORE).take(MORE).collect(),
            };
        let further: Vec<Vec<AdviceCandidate>> = climbs.iter().zip(&finalists).zip(&choices).map(further).collect();
        let mut candidates: Vec<AdviceCandidate> = further.iter().flatten().cloned().collect();
        candidates.sort();
        candidates.dedup();
        study.learn_results(bench, &candidates, phases, "more clock phases")?;
        for ((climb, further), choice) in climbs.iter().zip(further).zip(&mut choices) {
            if choice.is_none() {
                *choice = choose_best(study, further, climb.periods);
            }
        }
    }
    Ok(choices)
}

/// The best of all settings that were simulated in every phase, whichever search asked for them.
pub(crate) fn best_known(study: &AdviceStudy<'_>, periods: &[usize]) -> Option<Chosen> {
    choose_best(study, known_settings(study), periods)
}

/// All settings that were simulated in every phase, the simplest first.
pub(crate) fn known_settings(study: &AdviceStudy<'_>) -> Vec<AdviceCandidate> {
    let is_known = |candidate: &AdviceCandidate| study.candidate_sums(candidate).len() == study.phases as usize;
    let has_changes =
        |candidate: &AdviceCandidate| matches!(candidate, AdviceCandidate::Slurm(changes) if !changes.is_empty());
    let mut candidates: Vec<AdviceCandidate> =
        study.tried_candidates().into_iter().filter(has_changes).filter(is_known).collect();
    candidates.sort_by_key(|candidate| if let AdviceCandidate::Slurm(changes) = candidate { changes.len() } else { 0 });
    candidates
}

/// As [`search_settings`], among candidates that are not combined: policies to run live, limits.
pub(crate) fn choose_single(
    study: &AdviceStudy<'_>,
    candidates: &[AdviceCandidate],
    directions: &[&[usize]],
) -> Vec<Option<Chosen>> {
    directions.iter().map(|periods| choose_best(study, candidates.to_vec(), periods)).collect()
}

/// The candidate that serves the goal best and keeps the guards, if it is better than the site as
/// it is by more than its clocks.
pub(crate) fn choose_best(
    study: &AdviceStudy<'_>,
    candidates: Vec<AdviceCandidate>,
    periods: &[usize],
) -> Option<Chosen> {
    let spread = study.phase_spread(periods);
    let judgements = candidates.into_iter().filter_map(|candidate| {
        let (promised_change, keeps) = study.judge_candidate(&candidate, periods)?;
        (keeps && promised_change < -spread).then_some(Chosen { candidate, promised: promised_change })
    });
    // Of equals the first, which is the simpler; each limit that is opened besides has to pay.
    let price = |choice: &Chosen| choice.promised + WORTH * opened_besides(study, &choice.candidate) as f64;
    judgements.min_by(|a, b| price(a).total_cmp(&price(b)))
}

/// Number of limits that a candidate opens beyond one for each of its changes.
fn opened_besides(study: &AdviceStudy<'_>, candidate: &AdviceCandidate) -> usize {
    match candidate {
        AdviceCandidate::Slurm(changes) => changes.iter().map(|&at| study.changes[at].opened_besides()).sum(),
        AdviceCandidate::Live(_) | AdviceCandidate::Limit(_) => 0,
    }
}

fn with_change(indices: &[usize], change: usize) -> AdviceCandidate {
    let mut changes = indices.to_vec();
    changes.push(change);
    changes.sort_unstable();
    AdviceCandidate::Slurm(changes)
}

impl<'a> Climb<'a> {
    fn new(study: &AdviceStudy<'_>, periods: &'a [usize]) -> Climb<'a> {
        let judgements = (0..study.changes.len()).filter_map(|at| {
            let (change, keeps) = study.judge_candidate(&AdviceCandidate::Slurm(vec![at]), periods)?;
            (keeps && change < -WORTH).then_some((at, change))
        });
        let mut judgements: Vec<(usize, f64)> = judgements.collect();
        let price = |&(at, change): &(usize, f64)| change + WORTH * study.changes[at].opened_besides() as f64;
        judgements.sort_by(|a, b| price(a).total_cmp(&price(b)).then(a.0.cmp(&b.0)));
        let mut ranking: Vec<usize> = Vec::new();
        for &(at, _) in &judgements {
            let same = |&place: &usize| is_conflict(study, place, at);
            if !ranking.iter().any(same) {
                ranking.push(at);
            }
        }
        let change = judgements.first().map_or(0.0, |first| first.1);
        let turned_changes = ranking.first().copied().into_iter().collect();
        Climb { periods, helping: judgements, ranked: ranking, turned: turned_changes, change }
    }

    /// Single changes that are worth more than clock phases make and are not among the finalists,
    /// best first.
    fn further_candidates<'b>(
        &'b self,
        study: &AdviceStudy<'_>,
        finalists: &'b [AdviceCandidate],
    ) -> impl Iterator<Item = AdviceCandidate> + 'b {
        let spread = study.phase_spread(self.periods);
        let worth = self.helping.iter().filter(move |&&(_, change)| change < -spread);
        let candidates = worth.map(|&(at, _)| AdviceCandidate::Slurm(vec![at]));
        candidates.filter(|candidate| !finalists.contains(candidate))
    }

    /// The simplest first: the two best single changes, and what is turned in the end.
    fn finalists(&self) -> Vec<AdviceCandidate> {
        let mut candidates: Vec<AdviceCandidate> =
            self.ranked.iter().take(2).map(|&at| AdviceCandidate::Slurm(vec![at])).collect();
        let combination = AdviceCandidate::Slurm(self.turned.clone());
        if !self.turned.is_empty() && !candidates.contains(&combination) {
            candidates.push(combination);
        }
        candidates
    }
}

/// Returns whether two changes set the same parameter.
fn is_conflict(study: &AdviceStudy<'_>, first: usize, second: usize) -> bool {
    let (one_change, other_change) = (&study.changes[first], &study.changes[second]);
    one_change.knob == other_change.knob
        || one_change.set.iter().any(|(key, _)| other_change.set.iter().any(|(second_key, _)| second_key == key))
}
