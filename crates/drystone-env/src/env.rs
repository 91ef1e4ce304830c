//! One environment.

use crate::desk::{AgentDesk, DeskAnswer};
use crate::episode::{EpisodeStream, EpisodeWorkload};
use crate::error::EnvError;
use crate::features::Scale;
use crate::options::{EnvOptions, Reward};
use drystone::engine::{Observer, Scheduler, Simulation};
use drystone::metrics::Measure;
use drystone::model::{JobId, Span, Time};
use drystone::parts::predict::Propagation;
use drystone::policy::{Action, Actions, Outside, PolicySpec, StartReason};
use std::sync::Arc;

/// This many steps per job make an episode that gets nowhere: it is cut short.
const PATIENCE: u64 = 16;
/// Steps per job before an episode is cut short where jobs are put off, because each may be asked
/// about often.
const OFTEN: u64 = 256;

/// Result of an episode.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EpisodeResult {
    /// The first job of the episode, by its place in the log.
    pub first: u32,
    /// Steps that it took.
    pub steps: u64,
    /// Actions that were impossible and did nothing.
    pub impossible: u64,
    /// The sum of its rewards.
    pub reward: f64,
    /// The mean of each measure over its jobs, in the order of [`Measure::ALL`].
    pub means: Vec<f64>,
    /// The share of the machine that its jobs use from the first submit to the last end.
    pub utilisation: f64,
}

#[derive(Debug, Default)]
struct ArrivalObserver(Vec<JobId>);

impl Observer for ArrivalObserver {
    const ENDS: bool = false;
    const NOTES: bool = false;

    #[inline]
    fn note_arrival(&mut self, _now: Time, id: JobId) {
        self.0.push(id);
    }
}

/// Jobs that have started so far, and their sums.
#[derive(Debug, Default)]
struct EpisodeScore {
    /// Wait and run time of each job: its measures are added up when the episode is over.
    jobs: Vec<(Span, Span)>,
    /// Sum of the measure that is rewarded.
    sum: f64,
    work: f64,
    last_end: i64,
}

impl EpisodeScore {
    fn clear(&mut self) {
        // The memory stays.
        self.jobs.clear();
        (self.sum, self.work, self.last_end) = (0.0, 0.0, 0);
    }

    fn count_started(&self) -> u32 {
        self.jobs.len() as u32
    }

    /// Returns the sum of a measure over the jobs, in the order of their starts.
    fn sum_up(&self, measure: Measure) -> f64 {
        self.jobs.iter().fold(0.0, |sum, &(wait, run)| sum + replace_undefined(measure.value_of(wait, run)))
    }
}

/// Returns a value, or 0 for an undefined one: reports also leave such values out of the mean.
fn replace_undefined(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

/// State of an environment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EnvState {
    /// It was never reset.
    New,
    Asks,
    Over,
}

pub(crate) struct Env {
    number: u64,
    ground: EpisodeWorkload,
    scale: Arc<Scale>,
    options: Arc<EnvOptions>,
    spec: PolicySpec,
    desk: AgentDesk,
    simulation: Option<Simulation<EpisodeStream>>,
    arrivals: ArrivalObserver,
    actions: Actions,
    stream: EpisodeStream,
    score: EpisodeScore,
    state: EnvState,
    seed: u64,
    episode: u64,
    steps: u64,
    impossible: u64,
    total: f64,
    /// True if the current pass has already begun.
    begun: bool,
    first: u32,
    /// Rows that were written the last time.
    written: usize,
}

pub(crate) struct ObservationBuffers<'a> {
    pub(crate) jobs: &'a mut [f32],
    pub(crate) machine: &'a mut [f32],
    pub(crate) mask: &'a mut [bool],
}

/// Result of a step.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Stepped {
    pub(crate) reward: f32,
    pub(crate) terminated: bool,
    pub(crate) truncated: bool,
}

impl Env {
    pub(crate) fn new(
        number: u64,
        ground: EpisodeWorkload,
        scale: Arc<Scale>,
        options: &Arc<EnvOptions>,
    ) -> Result<Env, EnvError> {
        let spec: PolicySpec = format!("easy(predict={})", options.predict).parse()?;
        if spec.build_scheduler().forecast.predictor.propagation() != Propagation::None {
            let problem = format!("predict: `{}` changes predictions of jobs that wait; propagate=no", options.predict);
            return Err(EnvError::Option(problem));
        }
        let stream = ground.open_stream(ground.draw_start(0, number, 0), options.jobs);
        Ok(Env {
            number,
            ground,
            scale,
            options: Arc::clone(options),
            spec,
            desk: AgentDesk::new(options, false),
            simulation: None,
            arrivals: ArrivalObserver::default(),
            actions: Actions::default(),
            stream,
            score: EpisodeScore::default(),
            state: EnvState::New,
            seed: 0,
            episode: 0,
            steps: 0,
            impossible: 0,
            total: 0.0,
            begun: false,
            first: 0,
            // New memory has no rows yet: all of them are to be written.
            written: usize::MAX,
        })
    }

    /// Restarts the sequence of episodes with this seed.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        (self.seed, self.episode) = (seed, 0);
    }

    /// All rows are to be written, whatever stands there.
    pub(crate) fn write_all(&mut self) {
        self.written = usize::MAX;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state == EnvState::Over
    }

    pub(crate) fn is_new(&self) -> bool {
        self.state == EnvState::New
    }

    /// Begins the next episode.
    pub(crate) fn reset(&mut self, buffers: &mut ObservationBuffers<'_>) -> Result<(), EnvError> {
        loop {
            self.begin_episode();
            if self.go_on()? {
                break;
            }
            // Every job started without a question: a sum over nothing teaches nothing, so the next
            // one is played.
        }
        self.write_observation(buffers)
    }

    fn begin_episode(&mut self) {
        self.first = self.ground.draw_start(self.seed, self.number, self.episode);
        self.episode += 1;
        self.stream = self.ground.open_stream(self.first, self.options.jobs);
        let scheduler = Scheduler { policy: Box::new(Outside), ..self.spec.build_scheduler() };
        let machine = self.ground.workload.machine();
        let room = (self.stream.prior_jobs() + self.options.jobs) as usize;
        let simulation = Simulation::new(machine, scheduler, self.stream.clone()).without_accuracy();
        self.simulation = Some(simulation.with_room(room));
        self.desk.clear();
        self.arrivals.0.clear();
        // An episode that is left in the middle of a pass leaves what it had decided there.
        self.actions.clear();
        self.score.clear();
        (self.steps, self.impossible, self.total) = (0, 0, 0.0);
        (self.begun, self.state) = (false, EnvState::Asks);
    }

    /// Goes on to the next question. `false` where the episode is over.
    fn go_on(&mut self) -> Result<bool, EnvError> {
        if self.begun && self.is_agent_asked(true)? {
            return Ok(true);
        }
        while self.state == EnvState::Asks {
            if self.next_pass()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether there is a question at this pass; if not, carries out the decisions. `own`
    /// is true if the agent decides at all.
    fn is_agent_asked(&mut self, own: bool) -> Result<bool, EnvError> {
        let Some(simulation) = &self.simulation else { return Ok(false) };
        if own && self.desk.is_agent_asked(&simulation.session().view(), &mut self.actions) && !self.is_decided() {
            self.desk.prepare_rows();
            return Ok(true);
        }
        self.carry_out()?;
        if self.score.count_started() == self.options.jobs {
            self.state = EnvState::Over;
        }
        Ok(false)
    }

    /// Returns whether all jobs of the episode have started, or are about to.
    fn is_decided(&self) -> bool {
        let before = self.stream.prior_jobs();
        let own = |action: &&Action| matches!(action, Action::Start { job, .. } if job.0 >= before);
        self.score.count_started() + self.actions.list().iter().filter(own).count() as u32 == self.options.jobs
    }

    /// Goes on to the next pass. Returns whether there is a question.
    fn next_pass(&mut self) -> Result<bool, EnvError> {
        let Some(simulation) = &mut self.simulation else { return Ok(false) };
        self.begun = false;
        if !simulation.next_pass(&mut self.arrivals)? {
            // All jobs have started and ended.
            self.state = EnvState::Over;
            return Ok(false);
        }
        let view = simulation.session().view();
        self.desk.begin_pass(&view);
        let (before, running_count) = (self.stream.prior_jobs(), self.stream.running_jobs());
        for id in self.arrivals.0.drain(..) {
            if running_count > 0 && self.stream.starts_on_arrival(id.0) {
                self.actions.start_job(id, StartReason::Head);
                self.desk.take_processors(view.job(id).procs);
                continue;
            }
            let run = self.scale.sees_runs().then(|| self.stream.job_truth(id.0).run);
            let (job, prediction) = (view.job(id), view.prediction(id));
            self.desk.queue.add_job(id, job, prediction, self.scale.fixed_features(job, prediction, run));
        }
        self.begun = true;
        // The agent decides from the first job of the episode on.
        let own = before == 0 || view.current_time() >= self.ground.workload.jobs()[self.first as usize].submit;
        self.is_agent_asked(own)
    }

    /// Carries out what was decided at this pass.
    fn carry_out(&mut self) -> Result<(), EnvError> {
        let Some(simulation) = &mut self.simulation else { return Ok(()) };
        if let Some(wake) = self.desk.wake_time() {
            simulation.wake_at(wake);
        }
        if self.actions.list().is_empty() {
            return Ok(());
        }
        simulation.apply_actions(&self.actions, &mut self.arrivals)?;
        let now = simulation.current_time();
        let before = self.stream.prior_jobs();
        for action in self.actions.list() {
            let Action::Start { job, .. } = *action else { continue };
            if job.0 < before {
                continue;
            }
            let place = (self.first + job.0 - before) as usize;
            let (submit, procs) = {
                let job = &self.ground.workload.jobs()[place];
                (job.submit, job.procs)
            };
            let run = self.ground.workload.truth()[place].run;
            let wait = now - submit;
            if let Reward::Mean(measure) = self.options.reward {
                self.score.sum += replace_undefined(measure.value_of(wait, run));
            }
            self.score.jobs.push((wait, run));
            self.score.work += f64::from(procs) * run.as_f64();
            self.score.last_end = self.score.last_end.max((now + run).0);
        }
        self.actions.clear();
        Ok(())
    }

    pub(crate) fn step(&mut self, action: usize, buffers: &mut ObservationBuffers<'_>) -> Result<Stepped, EnvError> {
        let before = self.earned_value();
        self.steps += 1;
        let Some(simulation) = &self.simulation else { return Err(EnvError::NotReset(self.number as usize)) };
        let answer = self.desk.apply_answer(action, &simulation.session().view(), &mut self.actions);
        if answer == DeskAnswer::Impossible {
            self.impossible += 1;
        } else {
            self.go_on()?;
        }
        let most = PATIENCE.max(if self.options.act == crate::Act::Accept { OFTEN } else { 0 });
        let is_truncated = self.state == EnvState::Asks && self.steps >= most * u64::from(self.options.jobs);
        let is_terminated = self.state == EnvState::Over;
        if is_truncated {
            self.state = EnvState::Over;
        }
        let reward = match (self.options.reward, self.options.dense) {
            (Reward::Mean(_), true) => self.earned_value() - before,
            (_, _) if is_terminated => self.earned_value(),
            _ => 0.0,
        };
        self.total += reward;
        self.write_observation(buffers)?;
        Ok(Stepped { reward: reward as f32, terminated: is_terminated, truncated: is_truncated })
    }

    /// Returns the value of the jobs that have started so far.
    fn earned_value(&self) -> f64 {
        match self.options.reward {
            Reward::Mean(_) => -self.score.sum / f64::from(self.options.jobs),
            Reward::Utilisation => self.compute_utilisation(),
        }
    }

    fn compute_utilisation(&self) -> f64 {
        let first = self.ground.workload.jobs()[self.first as usize].submit;
        let span = Span(self.score.last_end - first.0).as_f64().max(1.0);
        self.score.work / (span * f64::from(self.ground.workload.machine().procs))
    }

    /// Writes what there is to see.
    pub(crate) fn write_observation(&mut self, buffers: &mut ObservationBuffers<'_>) -> Result<(), EnvError> {
        let Some(simulation) = &self.simulation else { return Err(EnvError::NotReset(self.number as usize)) };
        let view = simulation.session().view();
        if self.state == EnvState::Over {
            self.desk.rows.clear();
        }
        let row_count = self.desk.write_observation(&self.scale, &view, self.written, buffers.jobs, buffers.machine);
        self.desk.write_mask(&view, buffers.mask);
        if self.state == EnvState::Over {
            buffers.mask.fill(false);
        }
        self.written = row_count;
        Ok(())
    }

    pub(crate) fn episode_result(&self) -> EpisodeResult {
        let jobs = f64::from(self.options.jobs);
        EpisodeResult {
            first: self.first,
            steps: self.steps,
            impossible: self.impossible,
            reward: self.total,
            means: Measure::ALL.iter().map(|&measure| self.score.sum_up(measure) / jobs).collect(),
            utilisation: self.compute_utilisation(),
        }
    }
}
