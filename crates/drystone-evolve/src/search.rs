//! The search: generations of formulas, and beside them as many drawn at random.

use crate::ground::{ChoiceGround, GroundError};
use crate::score::{CandidateScore, ScoredCandidate, pareto_front};
use crate::simplify::{simplify_expr, with_rounded_numbers};
use crate::simulate::Stopped;
use crate::vary::{cross_formulas, mutate_formula, random_expr, tune_number};
use drystone::draw::RandomDraw;
use drystone::model::SharedSort;
use drystone::parts::formula::{Expr, Formula, NAMED};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvolveSettings {
    /// Candidates of a generation.
    pub population: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Most parts of a formula.
    pub largest: usize,
    /// Orders that the first generation has besides formulas at random.
    pub start: Vec<String>,
}

impl Default for EvolveSettings {
    fn default() -> EvolveSettings {
        let start = ["spf", "sqf", "saf", "f1", "f2", "f3", "f4", "wfp3", "unicef", "-x"];
        EvolveSettings { population: 40, seed: 1, largest: 24, start: start.map(String::from).to_vec() }
    }
}

const DEEPEST: usize = 9;
/// Of this many candidates the best is taken as a parent.
const TOURNAMENT: usize = 4;
/// Most formulas kept for the front of size against quality.
const KEPT: usize = 200;

/// Everything that a search knows: saved after each generation, it can go on from it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvolveState {
    /// Identity of the search: log, objective, bound, policy, settings. A state of another search
    /// is refused.
    pub of: String,
    pub generation: u64,
    /// Candidates simulated, those at random not among them.
    pub evaluations: u64,
    /// The living candidates, best first.
    pub population: Vec<ScoredCandidate>,
    /// The best of each size.
    pub front: Vec<ScoredCandidate>,
    /// Formulas at random that were simulated.
    pub random_evaluations: u64,
    /// The best of each size among them.
    pub random_front: Vec<ScoredCandidate>,
}

/// Reason why a search cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    #[error(transparent)]
    Ground(#[from] GroundError),
    #[error("the saved search is {0}; remove it, or search on with the log and the options that it was begun with")]
    Foreign(String),
    #[error("start with `{order}`: {problem}")]
    Start {
        order: String,
        /// Description of the mistake.
        problem: String,
    },
}

pub struct EvolveSearch<'a> {
    ground: &'a ChoiceGround,
    settings: EvolveSettings,
    threads: usize,
    /// Scores of what was simulated already; the same formula is not simulated twice.
    known: BTreeMap<String, CandidateScore>,
    state: EvolveState,
}

impl<'a> EvolveSearch<'a> {
    pub fn new(ground: &'a ChoiceGround, settings: EvolveSettings, threads: usize, of: String) -> EvolveSearch<'a> {
        let state = EvolveState {
            of,
            generation: 0,
            evaluations: 0,
            population: Vec::new(),
            front: Vec::new(),
            random_evaluations: 0,
            random_front: Vec::new(),
        };
        EvolveSearch { ground, settings, threads, known: BTreeMap::new(), state }
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// A text that is no state, or one of another search.
    pub fn resume_from(mut self, text: &str) -> Result<EvolveSearch<'a>, SearchError> {
        let state: EvolveState =
            serde_json::from_str(text).map_err(|e| SearchError::Foreign(format!("unreadable ({e})")))?;
        if state.of != self.state.of {
            return Err(SearchError::Foreign(format!("of another search: {}", state.of)));
        }
        let candidates = state.population.iter().chain(&state.front).chain(&state.random_front);
        self.known = candidates.map(|candidate| (candidate.formula.clone(), candidate.score)).collect();
        self.state = state;
        Ok(self)
    }

    pub fn state(&self) -> &EvolveState {
        &self.state
    }

    pub fn serialize_state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }

    /// Breeds one more generation, and adds as many random formulas. Changes nothing on
    /// cancellation.
    ///
    /// # Errors
    /// A simulation that failed; an order to begin with that is none.
    pub fn breed_generation(&mut self, stop: &AtomicBool) -> Result<Result<(), Stopped>, SearchError> {
        let mut draw = RandomDraw::new(self.settings.seed, 2 * self.state.generation);
        let candidates =
            if self.state.generation == 0 { self.first_generation(&mut draw)? } else { self.breed_children(&mut draw) };
        let mut draw = RandomDraw::new(self.settings.seed, 2 * self.state.generation + 1);
        let count = candidates.len();
        let by_chance: Vec<Expr> = (0..count).map(|_| random_formula(&mut draw)).collect();
        let Some(offspring) = self.evaluate_candidates(candidates, stop)? else { return Ok(Err(Stopped)) };
        let Some(random) = self.evaluate_candidates(by_chance, stop)? else { return Ok(Err(Stopped)) };
        let state = &mut self.state;
        state.generation += 1;
        state.evaluations += offspring.len() as u64;
        state.random_evaluations += random.len() as u64;
        state.front = best_front(&state.front, &offspring);
        state.random_front = best_front(&state.random_front, &random);
        state.population = select_survivors(&state.population, offspring, self.settings.population);
        Ok(Ok(()))
    }

    /// Makes the formulas of the front simpler where they lose nothing by it: parts that change
    /// nothing, digits. The named orders that the search did not begin with are tried as well, so
    /// that no named order is better on these weeks than the best of the front.
    ///
    /// # Errors
    /// As [`EvolveSearch::breed_generation`].
    pub fn polish_front(&mut self, stop: &AtomicBool) -> Result<Result<(), Stopped>, SearchError> {
        // The priority of a live site orders no log.
        let named_formulas =
            NAMED.iter().filter(|order| order.name != "site").filter_map(|order| parse_formula(order.name));
        let mut simpler: Vec<Expr> = named_formulas.collect();
        for candidate in &self.state.front {
            let Ok(formula) = candidate.formula.parse::<Formula>() else { continue };
            let simple = simplify_expr(&simplify_expr(formula.expr()));
            simpler.extend([3, 2, 1].map(|digits| with_rounded_numbers(&simple, digits)));
            simpler.push(simple);
        }
        let Some(results) = self.evaluate_candidates(simpler, stop)? else { return Ok(Err(Stopped)) };
        self.state.front = best_front(&self.state.front, &results);
        Ok(Ok(()))
    }

    fn first_generation(&self, draw: &mut RandomDraw) -> Result<Vec<Expr>, SearchError> {
        let mut formulas = Vec::new();
        for order in &self.settings.start {
            let formula = order.parse::<Formula>();
            let problem = |e: drystone::parts::formula::FormulaError| SearchError::Start {
                order: order.clone(),
                problem: e.to_string(),
            };
            formulas.push(formula.map_err(problem)?.expr().clone());
        }
        while formulas.len() < self.settings.population {
            formulas.push(random_formula(draw));
        }
        Ok(formulas)
    }

    /// The next one: crossed, mutated, tuned, and a few new.
    fn breed_children(&self, draw: &mut RandomDraw) -> Vec<Expr> {
        let parents: Vec<Expr> =
            self.state.population.iter().filter_map(|candidate| parse_formula(&candidate.formula)).collect();
        let mut known_formulas: BTreeSet<String> =
            self.state.population.iter().map(|candidate| candidate.formula.clone()).collect();
        let mut children = Vec::new();
        // Of what is bred much is known already: the number of tries is bounded.
        for _ in 0..20 * self.settings.population {
            if children.len() == self.settings.population {
                break;
            }
            let parent = &parents[run_tournament(draw, parents.len())];
            let (mate_index, best) = (run_tournament(draw, parents.len()), draw.draw_below(parents.len().min(3)));
            let child = match draw.draw_below(100) {
                0..40 => cross_formulas(draw, parent, &parents[mate_index]),
                40..65 => mutate_formula(draw, parent),
                // Also varies the weights of the best few: a local search beside the breeding.
                65..80 => tune_number(draw, parent),
                80..95 => tune_number(draw, &parents[best]),
                _ => random_expr(draw, 4),
            };
            if child.count_parts() <= self.settings.largest
                && child.nesting_depth() <= DEEPEST
                && known_formulas.insert(child.to_string())
            {
                children.push(child);
            }
        }
        children
    }

    /// Scores of candidates, in their order; those that are no formulas or too large are left out.
    /// `None` on cancellation.
    fn evaluate_candidates(
        &mut self,
        candidates: Vec<Expr>,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<ScoredCandidate>>, SearchError> {
        let mut formulas: Vec<Formula> = candidates.iter().filter_map(|expr| Formula::new(expr).ok()).collect();
        formulas.retain(|formula| formula.expr().count_parts() <= 4 * self.settings.largest);
        let mut todo: Vec<&str> = formulas.iter().map(Formula::text).collect();
        todo.sort_unstable();
        todo.dedup();
        todo.retain(|text| !self.known.contains_key(*text));
        let Some(scores) = score_in_parallel(self.ground, &todo, self.threads, stop)? else { return Ok(None) };
        let todo: Vec<String> = todo.into_iter().map(String::from).collect();
        self.known.extend(todo.into_iter().zip(scores));
        let scored_candidates = formulas.iter().filter_map(|formula| {
            let (text, size) = (formula.text().to_string(), formula.expr().count_parts());
            let score = *self.known.get(&text)?;
            Some(ScoredCandidate { formula: text, size, score })
        });
        Ok(Some(scored_candidates.collect()))
    }
}

fn random_formula(draw: &mut RandomDraw) -> Expr {
    let depth = 2 + draw.draw_below(4);
    random_expr(draw, depth)
}

fn parse_formula(text: &str) -> Option<Expr> {
    text.parse::<Formula>().ok().map(|formula| formula.expr().clone())
}

/// The best of a few places in a list that is sorted best first.
fn run_tournament(draw: &mut RandomDraw, among: usize) -> usize {
    (0..TOURNAMENT).map(|_| draw.draw_below(among)).min().unwrap_or(0)
}

fn best_front(old: &[ScoredCandidate], new: &[ScoredCandidate]) -> Vec<ScoredCandidate> {
    let mut candidates = pareto_front(old.iter().chain(new).cloned().collect());
    candidates.truncate(KEPT);
    candidates
}

/// The best of old and new. Of those that are equally good, which mostly make the same schedules,
/// the smallest alone.
fn select_survivors(old: &[ScoredCandidate], new: Vec<ScoredCandidate>, count: usize) -> Vec<ScoredCandidate> {
    let mut candidates: Vec<ScoredCandidate> = old.iter().cloned().chain(new).collect();
    candidates.sort_shared_by(|a, b| {
        let by_score = a.score.compare(&b.score);
        by_score.then(a.size.cmp(&b.size)).then_with(|| a.formula.cmp(&b.formula))
    });
    candidates.dedup_by(|later, predecessor| later.score.compare(&predecessor.score) == Ordering::Equal);
    // Of neighbours that hardly differ the smaller goes first.
    for at in 1..candidates.len() {
        if candidates[at].score.is_near(&candidates[at - 1].score) && candidates[at].size < candidates[at - 1].size {
            candidates.swap(at, at - 1);
        }
    }
    candidates.truncate(count);
    candidates
}

fn score_in_parallel(
    ground: &ChoiceGround,
    formulas: &[&str],
    threads: usize,
    stop: &AtomicBool,
) -> Result<Option<Vec<CandidateScore>>, SearchError> {
    let next = AtomicUsize::new(0);
    let score_slots = Mutex::new(Vec::with_capacity(formulas.len()));
    let work = || {
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(formula) = formulas.get(at) else { return };
            let score = ground.score_formula(formula, stop);
            let is_stopped = matches!(score, Ok(Err(Stopped)) | Err(_));
            score_slots.lock().unwrap_or_else(PoisonError::into_inner).push((at, score));
            if is_stopped {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(formulas.len()) {
            // If a thread cannot be started, one fewer works; this thread takes part as well.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut indexed_scores = score_slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    indexed_scores.sort_shared_by_key(|&(at, _)| at);
    let mut scores = Vec::with_capacity(formulas.len());
    for (_, score) in indexed_scores {
        match score? {
            Ok(score) => scores.push(score),
            Err(Stopped) => return Ok(None),
        }
    }
    Ok((scores.len() == formulas.len()).then_some(scores))
}
