//! Results of each candidate: sums per period of each simulation.

use crate::figure::{GoalFigure, SHOWN_WIDTHS, Thresholds};
use crate::goal::{AdviceGoal, GoalGuard};
use crate::options::{KnobChange, LivePolicy, SiteKnobs};
use drystone::model::{Job, Span};
use drystone::policy::goal::GoalMeasure;
use drystone_whatif::Periods;
use std::collections::{BTreeMap, BTreeSet};

/// One figure summed over the jobs of a period.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct FigureSum {
    /// Of values.
    pub(crate) sum: f64,
    /// Of weights: the number of jobs, for most figures.
    pub(crate) weight: f64,
    pub(crate) max: f64,
}

impl FigureSum {
    /// One job more; the largest is of the values, whatever they weigh.
    pub(crate) fn push(&mut self, value: f64, weight: f64) {
        self.sum += value;
        self.weight += weight;
        self.max = self.max.max(value);
    }
}

/// Result of one simulation: every figure, period by period.
#[derive(Clone, PartialEq, Debug)]
pub struct PeriodFigures {
    figures: usize,
    /// By period, then by figure.
    cells: Vec<FigureSum>,
    pub(crate) jobs: Vec<u64>,
}

impl PeriodFigures {
    pub(crate) fn with_size(periods: usize, figures: usize) -> PeriodFigures {
        PeriodFigures { figures, cells: vec![FigureSum::default(); periods * figures], jobs: vec![0; periods] }
    }

    /// Sums of jobs that are given one by one: values by period, then by figure, each of weight 1.
    pub fn of_values(periods: &[Vec<Vec<f64>>]) -> PeriodFigures {
        let figures = periods.first().map_or(0, Vec::len);
        let mut sums = PeriodFigures::with_size(periods.len(), figures);
        for (period, of_period) in periods.iter().enumerate() {
            for (figure, values) in of_period.iter().enumerate() {
                values.iter().for_each(|&value| sums.of_mut(period, figure).push(value, 1.0));
            }
            sums.jobs[period] = of_period.first().map_or(0, Vec::len) as u64;
        }
        sums
    }

    /// Sums of jobs with their waits and the times that they ran, period by period.
    pub fn of_jobs<'a>(
        figures: &[GoalFigure],
        thresholds: Thresholds,
        periods: &Periods,
        jobs: impl Iterator<Item = (&'a Job, Span, Span)>,
    ) -> PeriodFigures {
        let mut sums = PeriodFigures::with_size(periods.period_count(), figures.len());
        for (job, wait, ran) in jobs {
            let Some(period) = periods.find_period(job.submit) else { continue };
            for (at, figure) in figures.iter().enumerate() {
                if let Some((value, weight)) = figure.of_job(job, (wait, ran), thresholds) {
                    sums.of_mut(period, at).push(value, weight);
                }
            }
            sums.jobs[period] += 1;
        }
        sums
    }

    /// Takes these periods from another simulation.
    pub(crate) fn replace_periods(&mut self, source: &PeriodFigures, periods: &[usize]) {
        for &period in periods {
            let cells = period * self.figures..(period + 1) * self.figures;
            self.cells[cells.clone()].copy_from_slice(&source.cells[cells]);
            self.jobs[period] = source.jobs[period];
        }
    }

    pub(crate) fn of_mut(&mut self, period: usize, figure: usize) -> &mut FigureSum {
        &mut self.cells[period * self.figures + figure]
    }

    /// The figures over these periods, where a period may be there several times.
    pub(crate) fn collect_values(&self, figures: &[GoalFigure], periods: &[usize], out: &mut Vec<f64>) {
        out.clear();
        for (at, figure) in figures.iter().enumerate() {
            let mut total = FigureSum::default();
            for &period in periods {
                let cell = self.cells[period * self.figures + at];
                total.sum += cell.sum;
                total.weight += cell.weight;
                total.max = total.max.max(cell.max);
            }
            out.push(match total.weight > 0.0 {
                false => 0.0,
                true if figure.is_maximum() => total.max,
                true => total.sum / total.weight,
            });
        }
    }
}

pub trait CandidateSimulator {
    type Error;

    /// Simulates these policies over the whole period; `None` for those that were cancelled. A
    /// second line of a text is a change of the site (`drystone_whatif::ChangeList`) that is
    /// made to it before.
    /// `stage` is the purpose, for messages.
    ///
    /// # Errors
    /// A policy that cannot be simulated.
    fn simulate(&mut self, policies: &[String], stage: &str) -> Result<Vec<Option<PeriodFigures>>, Self::Error>;

    /// Something is known already.
    fn report_progress(&mut self, text: &str);
}

/// A mean excess that differs by less than this part of the mean wait is no change.
const LEAST_EXCESS: f64 = 0.005;

/// Something that a site could do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum AdviceCandidate {
    /// Other settings of its Slurm: single changes by their place among the options, ascending.
    /// Without any it is what the site has.
    Slurm(Vec<usize>),
    /// A policy that a live scheduler runs beside it, by its place.
    Live(usize),
    /// A change of partitions or QOS under the site's own settings, by its place.
    Limit(usize),
}

/// Question, candidates and results.
pub struct AdviceStudy<'a> {
    pub site: &'a SiteKnobs,
    pub goal: &'a AdviceGoal,
    /// Guards against getting much worse.
    pub guards: &'a [GoalGuard],
    /// The figures of the goal, then those of the guards, then mean and longest wait, where they
    /// are not among them.
    pub figures: Vec<GoalFigure>,
    pub changes: Vec<KnobChange>,
    pub live: Vec<LivePolicy>,
    /// Changes of partitions and QOS, as texts.
    pub limits: Vec<String>,
    /// Clock phases that a candidate of Slurm is simulated in.
    pub phases: u32,
    known: BTreeMap<String, PeriodFigures>,
    asked: BTreeSet<AdviceCandidate>,
}

impl<'a> AdviceStudy<'a> {
    /// A study of these options, of which nothing is known yet.
    pub fn new(
        site: &'a SiteKnobs,
        (goal, guards): (&'a AdviceGoal, &'a [GoalGuard]),
        (changes, live): (Vec<KnobChange>, Vec<LivePolicy>),
        phases: u32,
    ) -> AdviceStudy<'a> {
        let mut figures: Vec<GoalFigure> =
            goal.figures().iter().copied().chain(guards.iter().map(|guard| guard.figure)).collect();
        let shown_figures = [GoalMeasure::Wait, GoalMeasure::MaxWait].map(GoalFigure::Goal);
        let missing = shown_figures.into_iter().filter(|figure| !figures.contains(figure)).collect::<Vec<_>>();
        figures.extend(missing);
        let classes = SHOWN_WIDTHS.map(|(above, most)| GoalFigure::Widths { above, most, longest: false });
        let missing = classes.into_iter().filter(|figure| !figures.contains(figure)).collect::<Vec<_>>();
        figures.extend(missing);
        AdviceStudy {
            site,
            goal,
            guards,
            figures,
            changes,
            live,
            limits: Vec::new(),
            phases: phases.max(1),
            known: BTreeMap::new(),
            asked: BTreeSet::new(),
        }
    }

    /// The site as it is.
    pub fn baseline_candidate() -> AdviceCandidate {
        AdviceCandidate::Slurm(Vec::new())
    }

    pub fn candidate_name(&self, candidate: &AdviceCandidate) -> String {
        match candidate {
            AdviceCandidate::Slurm(changes) if changes.is_empty() => "as it is".to_string(),
            AdviceCandidate::Slurm(changes) => {
                let names: Vec<String> = changes.iter().map(|&at| self.changes[at].name()).collect();
                names.join(", ")
            }
            AdviceCandidate::Live(at) => self.live[*at].policy.clone(),
            AdviceCandidate::Limit(at) => self.limits[*at].clone(),
        }
    }

    pub fn candidate_policy(&self, candidate: &AdviceCandidate, phase: u32) -> String {
        match candidate {
            AdviceCandidate::Slurm(changes) => {
                let changes: Vec<&KnobChange> = changes.iter().map(|&at| &self.changes[at]).collect();
                self.site.policy_text(&changes, phase)
            }
            AdviceCandidate::Live(at) => self.live[*at].policy.clone(),
            AdviceCandidate::Limit(at) => format!("{}\n{}", self.site.policy_text(&[], phase), self.limits[*at]),
        }
    }

    /// Adds the result of a policy that was simulated before.
    pub fn add_result(&mut self, policy: String, sums: PeriodFigures) {
        self.known.insert(policy, sums);
    }

    /// Simulates what is not known yet of these, in the first so many phases; a policy that has no
    /// clock of Slurm in one.
    ///
    /// # Errors
    /// The error of the bench.
    pub fn learn_results<B: CandidateSimulator>(
        &mut self,
        bench: &mut B,
        candidates: &[AdviceCandidate],
        phases: u32,
        stage: &str,
    ) -> Result<(), B::Error> {
        let mut todo: Vec<String> = Vec::new();
        self.asked.extend(candidates.iter().cloned());
        for candidate in candidates {
            let phases = if matches!(candidate, AdviceCandidate::Live(_)) { 1 } else { phases };
            for policy in (0..phases).map(|phase| self.candidate_policy(candidate, phase)) {
                if !self.known.contains_key(&policy) && !todo.contains(&policy) {
                    todo.push(policy);
                }
            }
        }
        if todo.is_empty() {
            return Ok(());
        }
        let results = bench.simulate(&todo, stage)?;
        self.known.extend(todo.into_iter().zip(results).filter_map(|(policy, sums)| Some((policy, sums?))));
        Ok(())
    }

    /// Returns the results of a candidate, phase by phase.
    pub fn candidate_sums(&self, candidate: &AdviceCandidate) -> Vec<&PeriodFigures> {
        let phases = if matches!(candidate, AdviceCandidate::Live(_)) { 1 } else { self.phases };
        (0..phases).filter_map(|phase| self.known.get(&self.candidate_policy(candidate, phase))).collect()
    }

    pub(crate) fn tried_candidates(&self) -> Vec<AdviceCandidate> {
        self.asked.iter().cloned().collect()
    }

    /// The periods in which jobs were submitted that count; none as long as the site as it is was
    /// not simulated.
    pub fn filled_periods(&self) -> Vec<usize> {
        let sums = self.candidate_sums(&AdviceStudy::baseline_candidate());
        let jobs = sums.first().map(|sums| sums.jobs.as_slice()).unwrap_or_default();
        (0..jobs.len()).filter(|&period| jobs[period] > 0).collect()
    }

    pub fn count_simulations(&self) -> usize {
        self.known.len()
    }

    /// The figures of a candidate over these periods, means over the phases that are known; `None`
    /// where none is.
    pub fn candidate_values(&self, candidate: &AdviceCandidate, periods: &[usize]) -> Option<Vec<f64>> {
        mean_values(&self.candidate_sums(candidate), &self.figures, periods)
    }

    /// Returns the change of a candidate against the present state, and true if it keeps the
    /// guards. Both are taken in the phases that are known of the candidate: a setting that changes
    /// nothing then makes no difference.
    pub fn judge_candidate(&self, candidate: &AdviceCandidate, periods: &[usize]) -> Option<(f64, bool)> {
        let (old, new) = self.before_and_after(candidate, periods)?;
        Some((self.goal_change(&old, &new), self.keeps_guards(&old, &new)))
    }

    pub(crate) fn goal_change(&self, old: &[f64], new: &[f64]) -> f64 {
        self.goal.change_beyond(old, new, self.least_excess(old))
    }

    /// The smallest difference of a mean excess that counts.
    pub(crate) fn least_excess(&self, old: &[f64]) -> f64 {
        let wait = self.figures.iter().position(|figure| *figure == GoalFigure::Goal(GoalMeasure::Wait));
        wait.and_then(|at| old.get(at)).map_or(0.0, |wait| LEAST_EXCESS * wait)
    }

    /// The figures of the site as it is, and those of a candidate.
    pub fn before_and_after(&self, candidate: &AdviceCandidate, periods: &[usize]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (old, new) = (self.candidate_sums(&AdviceStudy::baseline_candidate()), self.candidate_sums(candidate));
        let known_phases =
            if matches!(candidate, AdviceCandidate::Live(_)) { old.len() } else { new.len().min(old.len()) };
        let old = mean_values(&old[..known_phases], &self.figures, periods)?;
        Some((old, mean_values(&new, &self.figures, periods)?))
    }

    pub fn keeps_guards(&self, old: &[f64], new: &[f64]) -> bool {
        let from = self.goal.figures().len();
        self.guards
            .iter()
            .zip(old[from..].iter().zip(&new[from..]))
            .all(|(guard, (&old, &new))| guard.is_kept(old, new))
    }

    /// Returns the spread of the present state over the phases of its clocks: the largest change of
    /// the goal of one phase against the mean of all.
    pub fn phase_spread(&self, periods: &[usize]) -> f64 {
        let sums = self.candidate_sums(&AdviceStudy::baseline_candidate());
        let Some(mean) = mean_values(&sums, &self.figures, periods) else { return 0.0 };
        let mut buffer = Vec::new();
        let changes = sums.iter().map(|sums| {
            sums.collect_values(&self.figures, periods, &mut buffer);
            self.goal_change(&mean, &buffer).abs()
        });
        changes.fold(0.0, f64::max)
    }
}

/// Means over phases.
pub(crate) fn mean_values(sums: &[&PeriodFigures], figures: &[GoalFigure], periods: &[usize]) -> Option<Vec<f64>> {
    let mut mean = vec![0.0; figures.len()];
    let mut buffer = Vec::new();
    for sums in sums {
        sums.collect_values(figures, periods, &mut buffer);
        mean.iter_mut().zip(&buffer).for_each(|(mean, value)| *mean += value);
    }
    let count = sums.len() as f64;
    (!sums.is_empty()).then(|| mean.into_iter().map(|sum| sum / count).collect())
}
