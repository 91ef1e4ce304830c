//! An agent as a policy: what it learned, on whole logs, compared with all others.

use crate::desk::{AgentDesk, DeskAnswer};
use crate::error::EnvError;
use crate::features::{MACHINE, ObservationShape, Scale};
use crate::options::{Act, EnvOptions};
use drystone::model::{Time, Workload};
use drystone::policy::{Actions, Policy, PolicyEvent, Snapshot, SnapshotError, View};
use std::sync::Arc;

/// Chooses an action from what is seen.
pub trait Agent: Send + Sync {
    /// A number of an action that the mask allows; `None` where it has failed: then nothing more is
    /// decided.
    fn choose_action(&mut self, observation: ObservationShape<'_>) -> Option<usize>;
}

/// An agent that decides as it does in an environment of these options.
pub struct LearnedPolicy {
    name: String,
    options: Arc<EnvOptions>,
    scale: Arc<Scale>,
    desk: AgentDesk,
    agent: Box<dyn Agent>,
    jobs: Vec<f32>,
    machine: Vec<f32>,
    mask: Vec<bool>,
    written: usize,
    wake: Option<Time>,
}

impl LearnedPolicy {
    /// An agent that was trained in environments of these options on this workload, which says how
    /// numbers are scaled.
    ///
    /// # Errors
    /// Options that contradict each other; an observation of true run times, which no policy has.
    pub fn new(
        name: impl Into<String>,
        trained_on: &Workload,
        options: &EnvOptions,
        agent: Box<dyn Agent>,
    ) -> Result<LearnedPolicy, EnvError> {
        options.check_options()?;
        let scale = Scale::new(trained_on, &options.observation);
        if scale.sees_runs() {
            let problem = "obs: the agent sees true run times (`run`), which no policy can know".to_string();
            return Err(EnvError::Option(problem));
        }
        let rows = options.window as usize * options.observation.row_width();
        Ok(LearnedPolicy {
            name: name.into(),
            options: Arc::new(options.clone()),
            scale: Arc::new(scale),
            desk: AgentDesk::new(options, true),
            agent,
            jobs: vec![0.0; rows],
            machine: vec![0.0; MACHINE],
            mask: vec![false; options.action_count()],
            written: usize::MAX,
            wake: None,
        })
    }
}

impl Policy for LearnedPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) | PolicyEvent::Released(id) => {
                let (job, prediction) = (view.job(id), view.prediction(id));
                self.desk.queue.add_job(id, job, prediction, self.scale.fixed_features(job, prediction, None));
            }
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) | PolicyEvent::Runs(id) => self.desk.remove(id),
            PolicyEvent::Repredicted { job, .. } => {
                let prediction = view.prediction(job);
                let row = self.scale.fixed_features(view.job(job), prediction, None);
                self.desk.queue.update_prediction(job, prediction, row);
                self.desk.look_again();
            }
            _ => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.desk.begin_pass(view);
        while self.desk.is_agent_asked(view, actions) {
            self.desk.prepare_rows();
            self.written =
                self.desk.write_observation(&self.scale, view, self.written, &mut self.jobs, &mut self.machine);
            self.desk.write_mask(view, &mut self.mask);
            let observation = ObservationShape { jobs: &self.jobs, machine: &self.machine, mask: &self.mask };
            let Some(action) = self.agent.choose_action(observation) else { break };
            if self.desk.apply_answer(action, view, actions) == DeskAnswer::Impossible {
                // Where an environment would ask again, for ever perhaps, the first possible action
                // is taken.
                let first = self.mask.iter().position(|can| *can);
                if first.is_none_or(|first| self.desk.apply_answer(first, view, actions) == DeskAnswer::Impossible) {
                    break;
                }
            }
        }
        self.wake = self.desk.wake_time();
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn has_wake_ups(&self) -> bool {
        self.options.act == Act::Accept
    }
}

impl Snapshot for LearnedPolicy {
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        Err(SnapshotError::Refused(format!("{}: an agent that decides here cannot be saved", self.name)))
    }

    fn load(&mut self, _: &[u8]) -> Result<(), SnapshotError> {
        Err(SnapshotError::Refused(format!("{}: an agent that decides here cannot be restored", self.name)))
    }
}
