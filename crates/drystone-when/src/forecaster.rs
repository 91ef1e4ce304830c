//! Returns: when waiting jobs will start, as distributions.

use crate::calibration::{AnswerCalibration, LevelCorrection};
use crate::days::{DayPlan, Days, FutureArrivals, PastArrival};
use crate::draws::Draws;
use crate::easy::{EasyMachine, EasyRules, Present};
use crate::gates::StartGates;
use crate::general::{FutureError, GeneralQuestion, Origin, Wanted};
use crate::past::Questions;
use crate::pool::{self, EXPERTS, ExpertAnswers, PastStatistics};
use crate::runs::{RunTime, Runs, Tables};
use crate::sample::{MOST_DELAY_SCALE, StartSample};
use crate::settings::ForecasterSettings;
use crate::world::{Assume, DrawnFates, PresentJobs, job_kin};
use drystone_core::engine::{Scheduler, Session};
use drystone_core::model::{Job, JobId, Span, Time};
use drystone_core::parts::Profile;
use drystone_core::policy::{Phase, PolicySpec};
use drystone_core::snapshot::{Snapshot, SnapshotError};
use drystone_core::statistics::upper_median;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Foretells starts of waiting jobs under one policy on one machine, and learns from what happens.
///
/// Tell it of every job as it comes and goes, in the order in which that happens, and ask it when
/// the session stands behind a decision. It uses nothing that lies in the future of the session.
///
/// ```
/// use drystone_core::engine::Session;
/// use drystone_core::model::{Job, Machine, Span, Time};
/// use drystone_core::policy::PolicySpec;
/// use drystone_when::{Forecaster, ForecasterSettings};
///
/// let policy: PolicySpec = "easy".parse()?;
/// let mut session = Session::new(Machine::new(4), policy.build_scheduler());
/// let mut forecaster = Forecaster::new(&policy, ForecasterSettings::default())?;
/// for (procs, estimate) in [(3, 3600), (4, 600)] {
///     let job = Job::new(Time(0), procs, Span(estimate)).with_user(7);
///     let id = session.note_arrival(Time(0), &job, None)?;
///     forecaster.note_job_arrival(id, &job);
/// }
/// session.decide(Time(0))?;
/// // The first job runs; the second waits for it, an hour at most.
/// let answer = forecaster.ask_job(&session, drystone_core::model::JobId(1))?;
/// assert!(answer.quantile(0.1) > 0.0 && answer.quantile(0.5) < 3600.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Forecaster {
    settings: ForecasterSettings,
    rules: Option<EasyRules>,
    fresh: Box<dyn Fn() -> Scheduler + Send + Sync>,
    memory: ForecasterMemory,
    /// Threads for the futures of a policy that is simulated itself.
    threads: usize,
    gates: Option<StartGates>,
    /// Room that is used again.
    tables: Tables,
    profile: Profile,
    machine: EasyMachine,
    spare: Option<Session>,
    /// Work of all futures so far that a policy itself has made.
    spent: u64,
}

/// Starts of jobs that have not ended, as are kept before the older half is dropped.
const MOST_BEGUN: usize = 200_000;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ForecasterMemory {
    runs: Runs,
    days: Days,
    /// Starts of jobs that run, by name.
    begun: BTreeMap<u64, Time>,
    calibration: AnswerCalibration,
    /// Past answers about jobs that had waited for some time. Long waits are asked about often, and
    /// levels at arrival say little about these.
    repeated: AnswerCalibration,
    questions: Questions,
    /// Jobs that are known from elsewhere.
    offset: u64,
}

/// Run times assumed where none are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunTimes {
    /// The users' limits.
    Limits,
    /// The average of the last two jobs of the user.
    LastTwo,
}

/// Start of one job: a distribution of the time from now on, in seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct StartAnswer {
    /// Job concerned.
    pub job: JobId,
    /// Time of the question.
    pub asked: Time,
    /// The sample of futures.
    pub sample: StartSample,
    /// That sample, mixed with forecasts from the past alone where these have done well.
    pub mixed: StartSample,
    /// Correction from past answers.
    pub correction: LevelCorrection,
    /// Time before which it cannot start.
    pub not_before: Span,
    /// Time by which the policy has promised to start it.
    pub not_after: Option<Span>,
}

impl StartAnswer {
    /// The time that the job starts within, with this probability.
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        let quantile = self.correction.quantile(&self.mixed, level);
        let latest = self.not_after.map_or(f64::INFINITY, |latest| latest.as_f64());
        quantile.min(latest).max(self.not_before.as_f64())
    }

    /// The probability that the job starts within so many seconds.
    #[must_use]
    pub fn probability_within(&self, seconds: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        // Quantiles ascend: thirty halvings tell more than a sample knows.
        for _ in 0..30 {
            let middle = f64::midpoint(low, high);
            if self.quantile(middle) <= seconds { low = middle } else { high = middle }
        }
        low
    }
}

/// Least number of answers by which others are corrected: about jobs that had waited for some time
/// and have started.
const FEWEST_REPEATED: usize = 50;

/// Futures of an answer whose sampling is stopped, at least: with fewer its quantiles are noise.
pub(crate) const FEWEST: usize = 20;

impl Forecaster {
    /// A forecaster that has learned nothing, for this policy.
    ///
    /// # Errors
    /// A policy that knows true run times.
    pub fn new(policy: &PolicySpec, settings: ForecasterSettings) -> Result<Forecaster, FutureError> {
        let spec = policy.clone();
        Forecaster::with_schedulers(policy, settings, move || spec.build_scheduler())
    }

    /// Makes a forecaster whose fresh schedulers need more than the policy's text, such as
    /// priorities.
    ///
    /// # Errors
    /// As [`Forecaster::new`].
    pub fn with_schedulers(
        policy: &PolicySpec,
        settings: ForecasterSettings,
        fresh: impl Fn() -> Scheduler + Send + Sync + 'static,
    ) -> Result<Forecaster, FutureError> {
        if fresh().forecast.predictor.is_clairvoyant() {
            return Err(FutureError::Clairvoyant);
        }
        Ok(Forecaster {
            settings,
            rules: EasyRules::from_spec(policy),
            fresh: Box::new(fresh),
            memory: ForecasterMemory::default(),
            threads: 1,
            gates: None,
            tables: Tables::default(),
            profile: Profile::new(Time::ZERO, 0),
            machine: EasyMachine::default(),
            spare: None,
            spent: 0,
        })
    }

    /// Disables the fast futures of plain policies: for tests, which compare the two.
    #[must_use]
    pub fn without_shortcut(self) -> Forecaster {
        Forecaster { rules: None, ..self }
    }

    /// Uses so many threads where futures take long: those of policies that are simulated
    /// themselves. Answers are the same on any number.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Forecaster {
        Forecaster { threads: threads.max(1), ..self }
    }

    /// Sets the conditions of the jobs that are held back in the sessions that it is asked about
    /// from now on; without any, such jobs never start.
    pub fn set_gates(&mut self, gates: StartGates) {
        self.gates = Some(gates).filter(|gates| !gates.is_empty());
    }

    /// Its numbers.
    #[must_use]
    pub fn settings(&self) -> &ForecasterSettings {
        &self.settings
    }

    /// Returns the work of all futures so far that the policy itself has made.
    pub(crate) fn spent_work(&self) -> u64 {
        self.spent
    }

    pub(crate) fn fresh_scheduler(&self) -> Scheduler {
        (self.fresh)()
    }

    /// A job of the past, by a name of its own.
    pub(crate) fn note_arrival(&mut self, name: u64, job: &Job) {
        self.memory.runs.note_arrival(job_kin(job), job.submit.0);
        self.memory.days.note_arrival(name, job, &self.settings);
    }

    pub(crate) fn note_end(&mut self, name: u64, job: &Job, ran: Span) {
        self.memory.days.note_end(name, ran.0);
        self.learn_run(name, job, ran);
    }

    /// A job has ended; where its start is unknown, its submission stands for it.
    fn learn_run(&mut self, name: u64, job: &Job, ran: Span) {
        let start = self.memory.begun.remove(&name).unwrap_or(job.submit);
        self.memory.runs.learn_run(job_kin(job), start.0, ran.0, &self.settings);
    }

    pub(crate) fn note_withdrawal(&mut self, name: u64) {
        self.memory.days.note_withdrawal(name);
    }

    /// An answer was given for a job of this user, under this name in the record.
    pub(crate) fn note_answer(&mut self, (job, user): (JobId, i32), answer: &StartAnswer, statistics: &PastStatistics) {
        let ForecasterMemory { calibration, questions, .. } = &mut self.memory;
        let expert_answers = statistics.expert_answers(&answer.sample);
        calibration.note_question((job, user), answer.asked, (&answer.mixed, expert_answers), &self.settings);
        questions.note_question(job, answer.asked, statistics.features, [statistics.plan, statistics.last]);
    }

    /// An answer was given about a job of this user that had waited for some time.
    pub(crate) fn note_repeated(&mut self, user: i32, answer: &StartAnswer) {
        let experts = ExpertAnswers::from_sample(&answer.sample, [None; EXPERTS - 1]);
        let sample_and_experts = (&answer.mixed, experts);
        self.memory.repeated.note_question((answer.job, user), answer.asked, sample_and_experts, &self.settings);
    }

    /// Returns answers about jobs that have waited for some time, corrected by earlier answers
    /// about such jobs. They stay as they are until enough of these jobs have started.
    pub(crate) fn correct_answers(&self, answers: &[StartAnswer], now: Time) -> Vec<StartAnswer> {
        let correction = self.memory.repeated.compute_correction(now, &self.settings);
        let mut corrected_answers = answers.to_vec();
        if correction.answers - correction.censored >= FEWEST_REPEATED {
            corrected_answers.iter_mut().for_each(|answer| answer.correction.take_levels(&correction));
        }
        corrected_answers
    }

    pub(crate) fn past_statistics(
        &mut self,
        session: &Session,
        jobs: &[JobId],
    ) -> Result<Vec<PastStatistics>, FutureError> {
        let now = session.view().current_time();
        let plans = pool::planned_starts(session, jobs, &mut self.profile);
        let last = self.point_starts(session, jobs, RunTimes::LastTwo)?;
        let features = pool::state_features(session, jobs);
        let questions = &self.memory.questions;
        let of = |((features, plan), last)| PastStatistics::from_questions(questions, features, [plan, last], now);
        Ok(features.into_iter().zip(plans).zip(last).map(of).collect())
    }

    /// Statistics of the past without points, which take a simulation.
    pub(crate) fn bare_statistics(&self, session: &Session, jobs: &[JobId]) -> Vec<PastStatistics> {
        let now = session.view().current_time();
        let of = |features| PastStatistics::from_questions(&self.memory.questions, features, [None; 2], now);
        pool::state_features(session, jobs).into_iter().map(of).collect()
    }

    /// The answer from a sample and from what the past alone says.
    fn build_answer(
        (job, asked): (JobId, Time),
        sample: StartSample,
        statistics: Option<&PastStatistics>,
        correction: LevelCorrection,
    ) -> StartAnswer {
        let counted_statistics = statistics.filter(|_| correction.weights().counts_others());
        let mixture = counted_statistics.map_or_else(
            || sample.clone(),
            |experts| experts.expert_answers(&sample).mix_sample(&sample, correction.weights()),
        );
        StartAnswer { job, asked, sample, mixed: mixture, correction, not_before: Span::ZERO, not_after: None }
    }

    /// Names of the session's jobs begin behind those of the past.
    pub(crate) fn close_the_past(&mut self, names: u64) {
        self.memory.offset += names;
    }

    fn job_name(&self, id: JobId) -> u64 {
        self.memory.offset + u64::from(id.0)
    }

    /// A job has arrived.
    pub fn note_job_arrival(&mut self, id: JobId, job: &Job) {
        self.note_arrival(self.job_name(id), job);
    }

    /// A job has started.
    pub fn note_job_start(&mut self, id: JobId, now: Time) {
        // Ends that are never told of, those of killed jobs, are forgotten in the end.
        if self.memory.begun.len() >= MOST_BEGUN {
            let middle = median_time(self.memory.begun.values().copied().collect());
            self.memory.begun.retain(|_, &mut start| start > middle);
        }
        self.memory.begun.insert(self.job_name(id), now);
        self.memory.calibration.note_start(id, now, &self.settings);
        self.memory.repeated.note_start(id, now, &self.settings);
        self.memory.questions.note_settlement(id, now, true);
    }

    /// A job has ended after it ran so long.
    pub fn note_job_end(&mut self, id: JobId, job: &Job, ran: Span) {
        self.memory.days.note_end(self.job_name(id), ran.0);
        self.learn_run(self.job_name(id), job, ran);
    }

    /// A waiting job was withdrawn.
    pub fn note_job_withdrawal(&mut self, id: JobId, now: Time) {
        self.memory.days.note_withdrawal(self.job_name(id));
        self.note_no_start(id, now);
    }

    /// An answer's job was withdrawn.
    pub(crate) fn note_no_start(&mut self, id: JobId, now: Time) {
        self.memory.calibration.note_withdrawal(id, now);
        self.memory.repeated.note_withdrawal(id, now);
        self.memory.questions.note_settlement(id, now, false);
    }

    /// All that it has learned, in a compact binary form: equal states give equal bytes.
    ///
    /// # Errors
    /// Serialisation fails.
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        self.memory.save()
    }

    /// Goes on from what was saved, for the same policy and settings.
    ///
    /// # Errors
    /// Bytes that are no such state. What it knows is then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.tables = Tables::default();
        self.memory.load(bytes)
    }

    /// Returns the record of past answers.
    #[must_use]
    pub fn calibration(&self) -> &AnswerCalibration {
        &self.memory.calibration
    }

    /// Returns the answer for one job, and learns later from its outcome.
    ///
    /// # Errors
    /// A job that does not wait; a policy that cannot be simulated forward.
    pub fn ask_job(&mut self, session: &Session, job: JobId) -> Result<StartAnswer, FutureError> {
        Ok(self.ask_beside(session, job)?.0)
    }

    /// As [`Forecaster::ask_job`], with forecasts from the past alone.
    pub(crate) fn ask_beside(
        &mut self,
        session: &Session,
        job: JobId,
    ) -> Result<(StartAnswer, PastStatistics), FutureError> {
        let sample = self.sample_futures(session, &[job], u64::from(job.0), true)?.swap_remove(0);
        let answer = self.answer_beside(session, job, sample)?;
        self.note_answer((job, session.view().job(job).user), &answer.0, &answer.1);
        Ok(answer)
    }

    /// The answer from a sample of futures, with what the past alone says.
    pub(crate) fn answer_beside(
        &mut self,
        session: &Session,
        job: JobId,
        sample: StartSample,
    ) -> Result<(StartAnswer, PastStatistics), FutureError> {
        let now = session.view().current_time();
        let statistics = self.past_statistics(session, &[job])?.swap_remove(0);
        let correction = self.memory.calibration.compute_correction(now, &self.settings);
        Ok((Forecaster::build_answer((job, now), sample, Some(&statistics), correction), statistics))
    }

    /// The answer for a job that the policy would have started by now.
    pub(crate) fn answer_at_once(
        &mut self,
        session: &Session,
        job: JobId,
        sample: StartSample,
    ) -> (StartAnswer, PastStatistics) {
        let now = session.view().current_time();
        let features = pool::state_features(session, &[job])[0];
        let statistics = PastStatistics::from_questions(&self.memory.questions, features, [Some(1); 2], now);
        let correction = self.memory.calibration.compute_correction(now, &self.settings);
        (Forecaster::build_answer((job, now), sample, Some(&statistics), correction), statistics)
    }

    /// Returns the answers for all of these jobs, from the same futures, and learns nothing from
    /// it. In the session of another state the draws for a job of the same number are the same: two
    /// variants of a job see the same futures.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn preview_answers(&mut self, session: &Session, jobs: &[JobId]) -> Result<Vec<StartAnswer>, FutureError> {
        let times = self.start_times(session, jobs, 0, true)?;
        self.answers_of(session, jobs, &times)
    }

    /// Returns the answers that these start times make, one list for each future, for jobs that
    /// wait in this session.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn answers_of(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        times: &[Vec<Option<i64>>],
    ) -> Result<Vec<StartAnswer>, FutureError> {
        let now = session.view().current_time();
        let correction = self.memory.calibration.compute_correction(now, &self.settings);
        let counts_others = correction.weights().counts_others() && !self.memory.questions.is_empty();
        let statistics = if counts_others { self.past_statistics(session, jobs)? } else { Vec::new() };
        let delay_scale = self.delay_scale();
        let view = session.view();
        let answer = |(at, &job): (usize, &JobId)| {
            let sample = self.sample_of(times.iter().map(|starts| starts[at]), delay_scale);
            // Statistics of the past know nothing of what has to happen first.
            let waits = view.is_known(job) && view.phase(job) == Phase::Waiting;
            let statistics = statistics.get(at).filter(|_| waits);
            let not_before = self.gates.as_ref().and_then(|gates| gates.eligible.get(&job)).map(|&time| time - now);
            let answer = Forecaster::build_answer((job, now), sample, statistics, correction.clone());
            StartAnswer { not_before: not_before.unwrap_or_default().max(Span::ZERO), ..answer }
        };
        Ok(jobs.iter().enumerate().map(answer).collect())
    }

    /// As [`Forecaster::preview_answers`]; once `stop` says so after a future, the others are left
    /// out. `None` where fewer than twenty of them, and not all, were sampled.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn look_until(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<StartAnswer>>, FutureError> {
        let samples = self.settings.samples;
        let times = self.simulate(session, jobs, &Wanted { stop, ..Wanted::with_draws(0, samples) })?;
        if times.len() < FEWEST.min(samples as usize) {
            return Ok(None);
        }
        Ok(Some(self.answers_of(session, jobs, &times)?))
    }

    /// The sample of futures alone: for each of these jobs, which wait.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn sample_futures(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        question: u64,
        arrivals: bool,
    ) -> Result<Vec<StartSample>, FutureError> {
        let times = self.start_times(session, jobs, question, arrivals)?;
        let delay_scale = self.delay_scale();
        let of = |at: usize| self.sample_of(times.iter().map(|starts| starts[at]), delay_scale);
        Ok((0..jobs.len()).map(of).collect())
    }

    /// Start times in each future, in seconds from now, for each of these jobs.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn start_times(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        question: u64,
        arrivals: bool,
    ) -> Result<Vec<Vec<Option<i64>>>, FutureError> {
        self.times_watched(session, jobs, question, arrivals, &|| {})
    }

    /// As [`Forecaster::start_times`]; `progress` is called after each future of a policy that is
    /// simulated itself, by the thread that simulated it.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn times_watched(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        question: u64,
        arrivals: bool,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<Option<i64>>>, FutureError> {
        let (samples, work) = (self.settings.samples, self.settings.look_work);
        let budget = (work, samples.min(FEWEST as u32));
        self.simulate(session, jobs, &Wanted { arrivals, progress, budget, ..Wanted::with_draws(question, samples) })
    }

    /// Start times in each future, in seconds from now, of a job that is submitted `after` from now
    /// only. It runs as long in each future as the session's next job would if it came now:
    /// differences to that are no noise.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`]; there is no job that does not wait.
    pub fn times_of_later(
        &mut self,
        session: &Session,
        job: &Job,
        after: Span,
        question: u64,
    ) -> Result<Vec<Option<i64>>, FutureError> {
        let time = session.view().current_time() + after.max(Span(1));
        let name = self.job_name(session.next_id());
        let later = PastArrival { name, job: job.clone(), run: None, withdrawn: false };
        let samples = self.settings.samples;
        let request = Wanted { later: Some((time, later)), ..Wanted::with_draws(question, samples) };
        let rows = self.simulate(session, &[], &request)?;
        Ok(rows.into_iter().map(|starts| starts.first().copied().flatten()).collect())
    }

    /// The answer that these start times make for a job that is not in the session: the futures
    /// alone, corrected by past answers.
    #[must_use]
    pub fn answer_of(&self, job: JobId, now: Time, times: &[Option<i64>]) -> StartAnswer {
        let sample = self.sample_of(times.iter().copied(), self.delay_scale());
        Forecaster::build_answer(
            (job, now),
            sample,
            None,
            self.memory.calibration.compute_correction(now, &self.settings),
        )
    }

    /// Returns the scale in seconds of delays for reasons that no future has: the time that jobs
    /// take here on average, ten minutes at most.
    pub(crate) fn delay_scale(&self) -> u32 {
        let average = self.memory.runs.average_run().and_then(|seconds| u32::try_from(seconds).ok());
        average.map_or(MOST_DELAY_SCALE, |seconds| seconds.min(MOST_DELAY_SCALE))
    }

    /// Returns the distribution of these times from the question to the start.
    pub(crate) fn sample_of(&self, times: impl IntoIterator<Item = Option<i64>>, delay_scale: u32) -> StartSample {
        StartSample::new(times, self.settings.horizon.0).with_delay_scale(delay_scale)
    }

    /// The one future in which every job runs as long as its limit, or as the average of its user's
    /// last two: starts in seconds from now.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn point_starts(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        plan: RunTimes,
    ) -> Result<Vec<Option<i64>>, FutureError> {
        let assume = match plan {
            RunTimes::Limits => Assume::Limits,
            RunTimes::LastTwo => Assume::LastTwo,
        };
        Ok(self
            .simulate(session, jobs, &Wanted { assume, arrivals: false, ..Wanted::with_draws(0, 1) })?
            .swap_remove(0))
    }

    /// The distribution of the run time of a job that would ask for this: the probability that it
    /// runs for longer than `limit`.
    pub fn runs_beyond(&mut self, job: &Job, limit: Span) -> f64 {
        let mut time = RunTime::default();
        self.memory.runs.fill_distribution(job_kin(job), -1, &[], &self.settings, &mut self.tables, &mut time);
        time.probability_beyond(limit.0)
    }

    /// Processor-seconds that the jobs which wait before this one are expected to take, by the
    /// averages of their users' last two.
    pub(crate) fn queued_work(&self, session: &Session, before: JobId) -> f64 {
        let view = session.view();
        let ahead = view.waiting_jobs().take_while(|&id| id < before).map(|id| job_kin(view.job(id)));
        ahead.map(|kin| f64::from(kin.procs) * self.memory.runs.last_two(kin, -1) as f64).sum()
    }

    /// The longest of the last jobs of a user, of at most so many, and how many there were.
    #[must_use]
    pub fn longest_of(&self, user: i32, last: usize) -> Option<(Span, usize)> {
        self.memory.runs.longest_of(user, last).map(|(run, jobs)| (Span(run), jobs))
    }

    pub(crate) fn simulate(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        request: &Wanted<'_>,
    ) -> Result<Vec<Vec<Option<i64>>>, FutureError> {
        let world = PresentJobs::from_session(session, self.memory.offset);
        let mut targets: Vec<JobId> = jobs.to_vec();
        targets.sort_unstable();
        targets.dedup();
        let waits = |id: JobId| world.find_job(id).filter(|&at| world.here[at].ran < 0);
        let places: Option<Vec<usize>> = targets.iter().map(|&id| waits(id)).collect();
        let Some(places) = places else {
            let not = targets.iter().find(|&&id| waits(id).is_none());
            return Err(FutureError::NotWaiting(not.copied().unwrap_or_default()));
        };
        let ForecasterMemory { runs, days, .. } = &self.memory;
        let settings = &self.settings;
        let samples = request.samples;
        let plan =
            if request.arrivals { days.plan_days(world.now, settings) } else { DayPlan::without_arrivals(world.now) };
        let draws = Draws::new(settings.seed, request.question);
        let until = Time(world.now.0 + settings.horizon.0);
        let of_each = targets.len() + usize::from(request.later.is_some());
        let ahead = |draws| {
            let arrivals = || FutureArrivals::new(days, &plan, draws, settings);
            match &request.later {
                Some((time, job)) => Some(arrivals().with_job(*time, job)),
                None => (!plan.is_empty()).then(arrivals),
            }
        };
        let mut futures = match self.rules.filter(|_| !world.special) {
            Some(rules) => {
                let present = Present::from_world(&world);
                let mut fates = DrawnFates::new(&world, (runs, &mut self.tables), settings, request.assume);
                let mut starts = vec![None; of_each];
                let mut run_sample = |sample| {
                    let draws = draws.for_sample(sample);
                    let ahead = ahead(draws);
                    self.machine.run_future(&present, rules, &mut fates, draws, ahead, &places, until.0, &mut starts);
                    starts.clone()
                };
                let mut futures = Vec::with_capacity(samples as usize);
                for sample in 0..samples {
                    futures.push(run_sample(sample));
                    if (request.stop)() {
                        break;
                    }
                }
                futures
            }
            None => {
                let origin = Origin::from_session(session, self.gates.as_ref())?;
                let question = GeneralQuestion {
                    origin: &origin,
                    world: &world,
                    runs,
                    settings,
                    draws,
                    targets: &targets,
                    until,
                    of_each,
                    wanted: request,
                    fresh: &*self.fresh,
                    ahead: &ahead,
                };
                let mut room = (self.spare.take(), std::mem::take(&mut self.tables));
                let answer = question.answer_question(self.threads as u32, &mut room);
                (self.spare, self.tables) = room;
                let (futures, work) = answer?;
                self.spent = self.spent.saturating_add(work);
                futures
            }
        };
        // In the order of the question.
        if targets != jobs {
            let order: Vec<usize> = jobs.iter().filter_map(|id| targets.binary_search(id).ok()).collect();
            futures.iter_mut().for_each(|starts| *starts = order.iter().map(|&at| starts[at]).collect());
        }
        Ok(futures)
    }
}

fn median_time(mut times: Vec<Time>) -> Time {
    upper_median(&mut times).unwrap_or(Time::MIN)
}
