//! The weeks on which candidates are chosen.

use crate::objective::{MeasureTally, ObjectiveGuard};
use crate::score::CandidateScore;
use crate::simulate::{Stopped, Template, tally_jobs};
use drystone::engine::SimulationError;
use drystone::log::transform::{cut_piece, find_submitted};
use drystone::metrics::Measure;
use drystone::metrics::MeasureObjective;
use drystone::model::{Setting, Span, Time, Workload};
use drystone::policy::PolicySpec;
use std::sync::atomic::AtomicBool;

/// Weeks of a log, counted from its first submit, in turn to choose by and to judge by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogWeeks {
    /// Length of a part in weeks: this many to choose by, as many to judge by, and so on.
    pub weeks: u32,
    /// Number of parts on which candidates are simulated, spread over the log.
    pub count: u32,
}

impl Default for LogWeeks {
    fn default() -> LogWeeks {
        LogWeeks { weeks: 2, count: 6 }
    }
}

/// Lead of a part's simulation before the part; jobs of that time do not count.
const WARM_UP: Span = Span(2 * 86_400);

impl LogWeeks {
    /// The part of a submit time, counted from 0; parts of even numbers are to choose by.
    pub fn part_index(&self, origin: Time, submit: Time) -> i64 {
        (submit - origin).0.div_euclid(i64::from(self.weeks) * Span::WEEK.0)
    }

    fn part_begin(&self, origin: Time, part: i64) -> Time {
        origin + Span(part * i64::from(self.weeks) * Span::WEEK.0)
    }

    /// The parts on which candidates are simulated: of those of even numbers that have jobs, so
    /// many, spread evenly.
    pub fn chosen_parts(&self, workload: &Workload) -> Vec<i64> {
        let Some((origin, last)) = workload.submit_range() else { return Vec::new() };
        let has_jobs = |part: i64| {
            let (from, until) = (self.part_begin(origin, part), self.part_begin(origin, part + 1));
            !find_submitted(workload, Some(from), Some(until)).is_empty()
        };
        let even: Vec<i64> = (0..=self.part_index(origin, last)).step_by(2).filter(|&part| has_jobs(part)).collect();
        let count = (self.count as usize).min(even.len());
        (0..count).map(|at| even[at * even.len() / count]).collect()
    }
}

/// A log has too few weeks to choose by some and to judge by others.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroundError {
    #[error(
        "the log spans {weeks} week{}; to choose on some and judge on others takes two parts of {part} week{} at least", if *.weeks == 1 { "" } else { "s" }, if *.part == 1 { "" } else { "s" }
    )]
    TooShort {
        /// Weeks of submits.
        weeks: i64,
        /// Weeks of a part.
        part: u32,
    },
    #[error("policy {policy}: {problem}")]
    Simulation { policy: String, problem: String },
}

impl GroundError {
    pub(crate) fn from_simulation(policy: &PolicySpec, error: &SimulationError) -> GroundError {
        GroundError::Simulation { policy: policy.to_string(), problem: error.to_string() }
    }
}

/// Basis on which candidates are chosen: parts of one or several logs, an objective, a bound.
pub struct ChoiceGround {
    logs: Vec<LogGround>,
    objective: MeasureObjective,
    template: Template,
}

/// The chosen parts of one log.
struct LogGround {
    /// Each with the begin of what counts.
    pieces: Vec<(Workload, Time)>,
    bound: Option<(MeasureObjective, f64)>,
    /// Value of the objective under [`REFERENCE`], by which values on this log are divided where
    /// there are several logs.
    reference: f64,
}

/// Order whose value makes several logs count alike.
const REFERENCE: &str = "fcfs";

impl ChoiceGround {
    /// The chosen parts of a workload.
    ///
    /// # Errors
    /// A log of less than two parts; a guard whose policy fails.
    pub fn new(
        workload: &Workload,
        parts: LogWeeks,
        objective: MeasureObjective,
        guard: Option<&ObjectiveGuard>,
        template: Template,
    ) -> Result<ChoiceGround, GroundError> {
        ChoiceGround { logs: Vec::new(), objective, template }.with_log(workload, parts, guard)
    }

    /// Chooses on parts of this log as well. The value of a candidate is then the mean over the
    /// logs of its value as a multiple of that of first come, first served, so that all count
    /// alike; a guard holds on each.
    ///
    /// # Errors
    /// As [`ChoiceGround::new`].
    pub fn with_log(
        mut self,
        workload: &Workload,
        parts: LogWeeks,
        guard: Option<&ObjectiveGuard>,
    ) -> Result<ChoiceGround, GroundError> {
        let (origin, last) = workload.submit_range().unwrap_or_default();
        if parts.part_index(origin, last) < 1 {
            let weeks = (last - origin).0 / Span::WEEK.0;
            return Err(GroundError::TooShort { weeks, part: parts.weeks });
        }
        let pieces = parts.chosen_parts(workload).into_iter().filter_map(|part| {
            let (begin, end) = (parts.part_begin(origin, part), parts.part_begin(origin, part + 1));
            let places = find_submitted(workload, Some(Time(begin.0 - WARM_UP.0)), Some(end));
            let setting = Setting { name: "part".to_string(), value: part.to_string() };
            // A piece of a sound workload is one.
            Some((cut_piece(workload, places, setting).ok()?, begin))
        });
        let mut ground = LogGround { pieces: pieces.collect(), bound: None, reference: 1.0 };
        let never = AtomicBool::new(false);
        if let Some(guard) = guard {
            let least = match &guard.policy {
                None => guard.factor,
                Some(policy) => {
                    let tally = ground.tally_measures(policy, &[guard.of.measure], &never)?;
                    guard.factor * tally.map_or(f64::INFINITY, |tally| tally[0].mean_or_maximum(guard.of.maximum))
                }
            };
            ground.bound = Some((guard.of, least));
        }
        self.logs.push(ground);
        // One log alone is judged by its values as they are.
        if self.logs.len() > 1 {
            let first = self.formula_policy(REFERENCE)?;
            let new = if self.logs.len() == 2 { 0 } else { self.logs.len() - 1 };
            for log in &mut self.logs[new..] {
                if let Some(tally) = log.tally_measures(&first, &[self.objective.measure], &never)? {
                    log.reference = tally[0].mean_or_maximum(self.objective.maximum);
                }
            }
        }
        Ok(self)
    }

    fn formula_policy(&self, formula: &str) -> Result<PolicySpec, GroundError> {
        let policy = self.template.with_formula(formula);
        policy.map_err(|e| GroundError::Simulation { policy: formula.to_string(), problem: e.problem })
    }

    /// Number of jobs that one candidate is simulated on.
    pub fn jobs(&self) -> usize {
        self.logs.iter().flat_map(|log| &log.pieces).map(|piece| piece.0.len()).sum()
    }

    /// The bound in numbers, on the first log.
    pub fn bound(&self) -> Option<f64> {
        self.logs.first()?.bound.map(|bound| bound.1)
    }

    /// Returns the score of a formula.
    ///
    /// # Errors
    /// [`Stopped`] on cancellation; a simulation that failed.
    pub fn score_formula(
        &self,
        formula: &str,
        stop: &AtomicBool,
    ) -> Result<Result<CandidateScore, Stopped>, GroundError> {
        let policy = self.formula_policy(formula)?;
        let mut total_score = CandidateScore { quality: 0.0, excess: 0.0 };
        for log in &self.logs {
            let Some(score) = log.score_policy(&policy, self.objective, stop)? else { return Ok(Err(Stopped)) };
            // A value of 0 under first come, first served is no measure of others.
            let is_undivided = self.logs.len() == 1 || log.reference <= 0.0;
            total_score.quality +=
                if is_undivided { score.quality } else { score.quality / log.reference } / self.logs.len() as f64;
            total_score.excess = total_score.excess.max(score.excess);
        }
        Ok(Ok(total_score))
    }
}

impl LogGround {
    fn tally_measures(
        &self,
        policy: &PolicySpec,
        measures: &[Measure],
        stop: &AtomicBool,
    ) -> Result<Option<Vec<MeasureTally>>, GroundError> {
        let mut sum = vec![MeasureTally::default(); measures.len()];
        for (workload, begin) in &self.pieces {
            let counts = |submit: Time| (submit >= *begin).then_some(0);
            let of_piece = tally_jobs(workload, policy, measures, stop, counts);
            let Some(of_piece) = of_piece.map_err(|error| GroundError::from_simulation(policy, &error))? else {
                return Ok(None);
            };
            for tally in of_piece {
                sum.iter_mut().zip(&tally).for_each(|(sum, tally)| sum.add_tally(tally));
            }
        }
        Ok(Some(sum))
    }

    /// Returns the score of a policy on the parts of this log; `None` on cancellation.
    fn score_policy(
        &self,
        policy: &PolicySpec,
        objective: MeasureObjective,
        stop: &AtomicBool,
    ) -> Result<Option<CandidateScore>, GroundError> {
        let mut measures = vec![objective.measure];
        measures.extend(self.bound.map(|(of, _)| of.measure));
        let Some(tallies) = self.tally_measures(policy, &measures, stop)? else { return Ok(None) };
        let quality = tallies[0].mean_or_maximum(objective.maximum);
        let excess =
            self.bound.map_or(0.0, |(of, bound)| (tallies[1].mean_or_maximum(of.maximum) / bound - 1.0).max(0.0));
        Ok(Some(CandidateScore { quality, excess }))
    }
}
