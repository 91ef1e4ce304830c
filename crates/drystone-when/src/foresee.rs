//! Quality of answers on a log: each method is asked about every waiting job as it arrives, and its
//! answer is compared with the actual start.

use crate::again::{RepeatedExaminer, RepeatedScores};
use crate::forecaster::{Forecaster, RunTimes};
use crate::general::FutureError;
use crate::method::AnswerMethod;
use crate::past::SimilarWaits;
use crate::regression::{Clues, Regression};
use crate::score::{
    ForecastScore, ForecastSkill, LEVELS, ScoreMark, at_level, compute_skill, mean_interval, quantile_level,
    without_worst_block,
};
use crate::settings::ForecasterSettings;
use drystone_core::engine::{
    EventSource, Happenings, Observer, Scheduler, Session, Simulation, SimulationError, WorkloadReplay,
};
use drystone_core::model::{EndedJob, How, Job, JobId, Outages, Span, Time, Workload};
use drystone_core::policy::{Phase, PolicySpec, StartReason};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options of the questions.
#[derive(Clone, Debug)]
pub struct ForeseeOptions<'a> {
    /// The forecaster's numbers.
    pub settings: ForecasterSettings,
    /// The ways to answer that are scored beside the calibrated one.
    pub methods: Vec<AnswerMethod>,
    /// One in so many of the jobs that wait is asked about.
    pub every: u32,
    /// Interval at which jobs that still wait are asked about again.
    pub again: Option<Span>,
    /// This share of the questions, the first ones, trains only.
    pub training: f64,
    /// Capacity that the machine lacks over time.
    pub outages: Option<&'a Outages>,
    /// Threads for the futures of policies that are simulated themselves.
    pub threads: usize,
    /// Stops soon after this is set.
    pub stop: Option<&'a AtomicBool>,
}

impl ForeseeOptions<'_> {
    /// One question in so many jobs that wait, so that a log of so many jobs has at most about
    /// 30,000 questions: scores are then as good as exact, and large logs are scored in minutes.
    #[must_use]
    pub fn every_of(jobs: usize) -> u32 {
        u32::try_from(jobs.div_ceil(MOST_QUESTIONS).max(1)).unwrap_or(u32::MAX)
    }
}

/// Questions at most, unless more are asked for.
const MOST_QUESTIONS: usize = 30_000;

impl Default for ForeseeOptions<'_> {
    fn default() -> Self {
        let (settings, methods) = (ForecasterSettings::default(), AnswerMethod::ALL.to_vec());
        ForeseeOptions {
            settings,
            methods,
            every: 1,
            again: None,
            training: 0.2,
            outages: None,
            threads: 1,
            stop: None,
        }
    }
}

drystone_core::word_enum! {
    /// The state in which a question was asked.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum QuestionState {
        /// The job heads the queue.
        Head = "head of the queue",
        /// It waits behind ten others or more of its user and limit.
        Batch = "in a batch of 10 or more",
        /// It was to start within 10 minutes, as likely as not.
        Soon = "median below 10 min",
        /// Within two hours.
        Hours = "median below 2 h",
        /// Within a day.
        Later = "median below a day",
        /// In a day or more.
        Days = "median of a day or more",
    }
}

/// Jobs of one user and limit that make a batch of the next one.
const BATCH: usize = 10;

/// One method's scores.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MethodScore {
    /// Method scored.
    pub method: AnswerMethod,
    /// Over all questions.
    pub all: ForecastScore,
    /// By state.
    pub by_state: Vec<(QuestionState, ForecastScore)>,
    /// Of the calibrated answer over this method, on the questions that both answer.
    pub skill: Option<ForecastSkill>,
    /// 95 % interval of its CRPS, by a bootstrap over blocks of 50 questions.
    pub interval: Option<[f64; 2]>,
    /// CRPS of the calibrated answer and of this method, without the 50 questions in a row on which
    /// the calibrated answer has lost most.
    pub without_worst: Option<[f64; 2]>,
}

/// Quality of the answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Foreseen {
    /// Jobs that arrived.
    pub jobs: u64,
    /// Jobs that waited and were asked about.
    pub asked: u64,
    /// Questions that train only.
    pub trained: u64,
    /// Questions whose job was withdrawn or never started: they have no score.
    pub unsettled: u64,
    /// Mean and median wait from the question on, in minutes, over the questions that are scored.
    pub wait: [f64; 2],
    /// One score for each method.
    pub methods: Vec<MethodScore>,
    /// The baseline with the least CRPS.
    pub best_baseline: Option<AnswerMethod>,
    /// Futures in which a job had no start within the horizon, as a share of all.
    pub beyond: f64,
    /// Announced starts that were promised, where the policy promises.
    pub promises: AnnouncedPromises,
    /// Starts before the plan of time limits said, as a share of the questions with such a plan.
    pub before_plan: Option<f64>,
    /// Questions that were asked again while jobs waited.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub again: Option<RepeatedScores>,
}

/// Starts that the policy itself announced to jobs that waited.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AnnouncedPromises {
    /// Jobs that were given a latest start and have started.
    pub made: u64,
    /// Of these, those that started by then.
    pub kept: u64,
    /// Mean time between what was promised first and the start, in minutes: positive where jobs
    /// started earlier.
    pub earlier: f64,
}

/// Reason why a log could not be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeseeError {
    /// The policy cannot be simulated forward.
    #[error(transparent)]
    Future(#[from] FutureError),
    /// The policy broke its contract on the log itself.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The policy cannot take the news of the workload.
    #[error(transparent)]
    News(#[from] drystone_core::engine::NewsError),
}

/// Event of one step of the simulation.
#[derive(Clone, Copy, Debug)]
enum StepEvent {
    Arrived(JobId),
    Started(JobId),
    Ended(JobId, Span, bool),
    Withdrawn(JobId),
}

#[derive(Default)]
struct StepEar {
    now: Time,
    heard: Vec<StepEvent>,
    promised: BTreeMap<JobId, Time>,
    promises: AnnouncedPromises,
    earlier: f64,
}

impl Observer for StepEar {
    const NOTES: bool = false;

    fn note_arrival(&mut self, now: Time, id: JobId) {
        self.now = now;
        self.heard.push(StepEvent::Arrived(id));
    }

    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.now = now;
        self.heard.push(StepEvent::Started(id));
        if let Some(latest) = self.promised.remove(&id) {
            self.promises.made += 1;
            self.promises.kept += u64::from(now <= latest);
            self.earlier += (latest - now).as_f64() / 60.0;
        }
    }

    fn note_reservation(&mut self, _: Time, id: JobId, _: Time, latest: Time) {
        if latest < Time::MAX {
            self.promised.entry(id).or_insert(latest);
        }
    }

    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.now = now;
        self.promised.remove(&id);
        self.heard.push(StepEvent::Withdrawn(id));
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.now = job_end.outcome.end;
        self.heard.push(StepEvent::Ended(job_end.id, job_end.outcome.ran, job_end.outcome.how == How::Completed));
    }
}

/// A question that has no outcome yet, or has one.
struct AskedQuestion {
    at: Time,
    state: QuestionState,
    answers: Vec<Option<Vec<f64>>>,
    /// For the regression, where that is wanted.
    clues: Option<Box<Clues>>,
    /// Once it has started: minutes, and the marks of the answers.
    outcome: Option<(f32, Vec<Option<ScoreMark>>)>,
    plan: Option<i64>,
    started_before_plan: bool,
}

/// Scores the answers that each job of a log would have received at its arrival. `progress`
/// receives the number of jobs that have arrived, at intervals.
///
/// # Errors
/// A policy that knows true run times, breaks its contract, or cannot take the news of the
/// workload.
pub fn score_answers(
    workload: &Workload,
    policy: &PolicySpec,
    scheduler: impl Fn() -> Scheduler + Send + Sync + Clone + 'static,
    options: &ForeseeOptions<'_>,
    progress: &dyn Fn(u64),
) -> Result<Option<Foreseen>, ForeseeError> {
    let forecaster =
        Forecaster::with_schedulers(policy, options.settings.clone(), scheduler.clone())?.on_threads(options.threads);
    let real = options.outages.is_some_and(|outages| !outages.is_empty()) || workload.circumstances().is_some();
    let mut examiner = Examiner::new(workload, forecaster, options, progress);
    let scheduler = scheduler();
    let is_finished = if real {
        scheduler.check_hears()?;
        let no_outages = Outages::default();
        let outages = options.outages.unwrap_or(&no_outages);
        scheduler.check_outages(workload, outages)?;
        let source = Happenings::new(workload, outages, false);
        examiner.run(Simulation::new(workload.machine(), scheduler, source))?
    } else {
        examiner.run(Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(workload)))?
    };
    Ok(is_finished.then(|| examiner.finish()))
}

/// Returns whether others of a job's user and limit wait before it: so many that it is of a batch.
fn is_in_batch(session: &Session, id: JobId) -> bool {
    let view = session.view();
    let own = view.job(id);
    let alike = |job: &JobId| view.job(*job).user == own.user && view.job(*job).estimate == own.estimate;
    let before = view.waiting_jobs().take_while(|&job| job != id).filter(alike);
    own.user >= 0 && before.take(BATCH).count() == BATCH
}

/// Asks and marks.
struct Examiner<'a> {
    workload: &'a Workload,
    options: &'a ForeseeOptions<'a>,
    progress: &'a dyn Fn(u64),
    forecaster: Forecaster,
    waits: SimilarWaits,
    regression: Regression,
    asked: Vec<AskedQuestion>,
    places: BTreeMap<JobId, usize>,
    waited: u64,
    beyond: f64,
    ear: StepEar,
    again: Option<RepeatedExaminer>,
}

impl<'a> Examiner<'a> {
    fn new(
        workload: &'a Workload,
        forecaster: Forecaster,
        options: &'a ForeseeOptions<'a>,
        progress: &'a dyn Fn(u64),
    ) -> Examiner<'a> {
        Examiner {
            workload,
            options,
            progress,
            forecaster,
            waits: SimilarWaits::default(),
            regression: Regression::new(options.settings.seed),
            asked: Vec::new(),
            places: BTreeMap::new(),
            waited: 0,
            beyond: 0.0,
            ear: StepEar::default(),
            again: options.again.map(|every| RepeatedExaminer::new(every, options.every)),
        }
    }

    /// Returns `false` on cancellation.
    fn run<S: EventSource>(&mut self, simulation: Simulation<S>) -> Result<bool, ForeseeError> {
        let mut simulation = simulation.without_accuracy();
        let (mut arrival_count, mut reported_count) = (0u64, 0u64);
        let mut fresh = Vec::new();
        while simulation.step(&mut self.ear)? {
            if self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(false);
            }
            let events = std::mem::take(&mut self.ear.heard);
            for &event in &events {
                self.note_event(event, &mut fresh);
            }
            self.ear.heard = events;
            self.ear.heard.clear();
            arrival_count += fresh.len() as u64;
            if arrival_count >= reported_count + 64 {
                (self.progress)(arrival_count - reported_count);
                reported_count = arrival_count;
            }
            for id in fresh.drain(..) {
                if simulation.session().view().is_known(id) && simulation.session().view().phase(id) == Phase::Waiting {
                    self.waited += 1;
                    if self.waited.is_multiple_of(u64::from(self.options.every.max(1))) {
                        self.ask_methods(simulation.session(), id)?;
                    }
                }
            }
            if let Some(again) = &mut self.again {
                again.ask_if_due(simulation.session(), &mut self.forecaster)?;
            }
        }
        (self.progress)(arrival_count - reported_count);
        Ok(true)
    }

    fn job(&self, id: JobId) -> &'a Job {
        &self.workload.jobs()[id.index()]
    }

    fn note_event(&mut self, event: StepEvent, fresh: &mut Vec<JobId>) {
        let now = self.ear.now;
        match event {
            StepEvent::Arrived(id) => {
                self.forecaster.note_job_arrival(id, self.job(id));
                fresh.push(id);
            }
            StepEvent::Started(id) => {
                self.forecaster.note_job_start(id, now);
                self.settle_question(id, now);
                if let Some(again) = &mut self.again {
                    again.note_start(id, now);
                }
            }
            StepEvent::Ended(id, ran, whole) => {
                if whole {
                    self.forecaster.note_job_end(id, self.job(id), ran);
                }
            }
            StepEvent::Withdrawn(id) => {
                self.forecaster.note_job_withdrawal(id, now);
                if let Some(again) = &mut self.again {
                    again.note_withdrawal(id);
                }
            }
        }
    }

    fn settle_question(&mut self, id: JobId, now: Time) {
        let Some(place) = self.places.remove(&id) else { return };
        let question = &mut self.asked[place];
        let took = (now - question.at).0;
        if took == 0 {
            // A later pass of the very instant of the question: no question was left.
            question.answers.clear();
            return;
        }
        if let Some(clues) = question.clues.take() {
            self.regression.learn_outcome(*clues, took as f64);
        }
        let marks =
            question.answers.drain(..).map(|answer| Some(ScoreMark::from_quantiles(&answer?, took as f64))).collect();
        question.outcome = Some(((took as f64 / 60.0) as f32, marks));
        question.started_before_plan = question.plan.is_some_and(|plan| took < plan);
        self.waits.learn_wait(self.job(id), took);
    }

    fn wants_any(&self, methods: &[AnswerMethod]) -> bool {
        methods.iter().any(|method| self.options.methods.contains(method))
    }

    fn ask_methods(&mut self, session: &Session, id: JobId) -> Result<(), ForeseeError> {
        let now = session.view().current_time();
        let (answer, beside) = self.forecaster.ask_beside(session, id)?;
        self.beyond += answer.sample.share_beyond();
        let quantiles = |of: &dyn Fn(f64) -> f64| -> Vec<f64> { (0..LEVELS).map(|k| of(quantile_level(k))).collect() };
        let calibrated_quantiles = quantiles(&|level| answer.quantile(level));
        let regression = self.wants_any(&[AnswerMethod::Regression]);
        let limits = if self.wants_any(&[AnswerMethod::Limits, AnswerMethod::Regression]) {
            self.forecaster.point_starts(session, &[id], RunTimes::Limits)?[0]
        } else {
            None
        };
        let closed_sample = if self.wants_any(&[AnswerMethod::Closed, AnswerMethod::Regression]) {
            Some(self.forecaster.sample_futures(session, &[id], u64::from(id.0), false)?.swap_remove(0))
        } else {
            None
        };
        let clues = regression.then(|| {
            let near = beside.near.as_ref().map(|quantiles| at_level(quantiles, 0.5));
            let expected_work = self.forecaster.queued_work(session, id);
            let points = [beside.plan, limits, beside.last].map(|point| point.map(|point| point as f64));
            let closed_median = closed_sample.as_ref().map(|sample| sample.quantile(0.5));
            let points = [points[0], points[1], points[2], closed_median, near];
            Box::new(Clues::from_sample(&answer.sample, points, &beside.features, expected_work))
        });
        let mut answers = Vec::with_capacity(self.options.methods.len());
        for &method in &self.options.methods {
            let point = |point: Option<i64>| point.map(|point| vec![point as f64; LEVELS]);
            answers.push(match method {
                AnswerMethod::Plan => point(beside.plan),
                AnswerMethod::Limits => point(limits),
                AnswerMethod::LastTwo => point(beside.last),
                AnswerMethod::PlanErrors => beside.plan_errors.clone(),
                AnswerMethod::LastTwoErrors => beside.last_errors.clone(),
                AnswerMethod::Waits => self.waits.answer_quantiles(self.job(id)),
                AnswerMethod::Neighbours => beside.near.clone(),
                AnswerMethod::Closed => closed_sample.as_ref().map(|sample| quantiles(&|level| sample.quantile(level))),
                AnswerMethod::Raw => Some(quantiles(&|level| answer.sample.quantile(level))),
                AnswerMethod::Regression => clues.as_ref().map(|clues| self.regression.answer_quantiles(clues)),
                AnswerMethod::Calibrated => Some(calibrated_quantiles.clone()),
            });
        }
        let median = at_level(&calibrated_quantiles, 0.5);
        let first = session.view().waiting_jobs().next() == Some(id);
        let state = match median {
            _ if first => QuestionState::Head,
            _ if is_in_batch(session, id) => QuestionState::Batch,
            median if median < 600.0 => QuestionState::Soon,
            median if median < 7200.0 => QuestionState::Hours,
            median if median < 86_400.0 => QuestionState::Later,
            _ => QuestionState::Days,
        };
        self.places.insert(id, self.asked.len());
        self.asked.push(AskedQuestion {
            at: now,
            state,
            answers,
            clues,
            outcome: None,
            plan: beside.plan,
            started_before_plan: false,
        });
        Ok(())
    }

    fn finish(self) -> Foreseen {
        let settled_questions =
            self.asked.iter().filter(|question| !(question.outcome.is_none() && question.answers.is_empty()));
        let questions: Vec<&AskedQuestion> = settled_questions.collect();
        let training = (questions.len() as f64 * self.options.training) as usize;
        let judged_questions = &questions[training..];
        let known_questions: Vec<&AskedQuestion> =
            judged_questions.iter().copied().filter(|question| question.outcome.is_some()).collect();
        let mut waits: Vec<f32> =
            known_questions.iter().filter_map(|question| Some(question.outcome.as_ref()?.0)).collect();
        waits.sort_unstable_by(f32::total_cmp);
        let mean = waits.iter().map(|&wait| f64::from(wait)).sum::<f64>() / waits.len().max(1) as f64;
        let median = waits.get(waits.len() / 2).map_or(0.0, |&wait| f64::from(wait));
        let methods = &self.options.methods;
        let marks = |at: usize, state: Option<QuestionState>| -> (Vec<ScoreMark>, u64) {
            let of_state = known_questions.iter().filter(|question| state.is_none_or(|state| question.state == state));
            let marks: Vec<Option<ScoreMark>> =
                of_state.filter_map(|question| question.outcome.as_ref().map(|outcome| outcome.1[at])).collect();
            let unanswered_count = marks.iter().filter(|mark| mark.is_none()).count() as u64;
            (marks.into_iter().flatten().collect(), unanswered_count)
        };
        let our_place = methods.iter().position(|&method| method == AnswerMethod::Calibrated);
        // CRPS of the calibrated answer and of this method, where both answer.
        let crps_pairs = |at: usize| -> (Vec<f32>, Vec<f32>) {
            let pair = |question: &&AskedQuestion| {
                let marks = &question.outcome.as_ref()?.1;
                Some((marks[our_place?]?.crps, marks[at]?.crps))
            };
            known_questions.iter().filter_map(pair).unzip()
        };
        let seed = self.options.settings.seed;
        let scores: Vec<MethodScore> = methods
            .iter()
            .enumerate()
            .map(|(at, &method)| {
                let score = |state| {
                    let (marks, unanswered_count) = marks(at, state);
                    ForecastScore::from_marks(&marks, unanswered_count)
                };
                let by_state = QuestionState::ALL.map(|state| (state, score(Some(state)))).to_vec();
                let (a, b) = crps_pairs(at);
                let skill = (!a.is_empty() && our_place != Some(at)).then(|| compute_skill(&a, &b, seed));
                let own: Vec<f32> = marks(at, None).0.iter().map(|mark| mark.crps).collect();
                let (interval, without_worst) = (mean_interval(&own, seed), without_worst_block(&a, &b));
                MethodScore { method, all: score(None), by_state, skill, interval, without_worst }
            })
            .collect();
        let baselines = scores.iter().filter(|score| !score.method.is_own() && score.all.questions > 0);
        let best = baselines.min_by(|a, b| a.all.crps.total_cmp(&b.all.crps)).map(|score| score.method);
        let planned_count = known_questions.iter().filter(|question| question.plan.is_some()).count();
        let early = known_questions.iter().filter(|question| question.started_before_plan).count();
        let mut promises = self.ear.promises;
        promises.earlier = if promises.made > 0 { self.ear.earlier / promises.made as f64 } else { 0.0 };
        Foreseen {
            jobs: self.workload.len() as u64,
            asked: questions.len() as u64,
            trained: training as u64,
            unsettled: (judged_questions.len() - known_questions.len()) as u64,
            wait: [mean, median],
            methods: scores,
            best_baseline: best,
            beyond: self.beyond / self.asked.len().max(1) as f64,
            promises,
            before_plan: (planned_count > 0).then(|| early as f64 / planned_count as f64),
            again: self.again.map(|again| again.finish(self.options.training)),
        }
    }
}
