//! Many environments at once.

use crate::env::{Env, EpisodeResult, ObservationBuffers, Stepped};
use crate::episode::EpisodeWorkload;
use crate::error::EnvError;
use crate::features::{MACHINE, Scale};
use crate::options::{Autoreset, EnvOptions};
use drystone::model::Workload;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// Environments that are stepped together, on a pool of threads that lives as long as they do.
pub struct VecEnv {
    envs: Vec<Env>,
    options: Arc<EnvOptions>,
    pool: ThreadPool,
    threads: usize,
}

/// Arrays that environments write: one after the other in each.
#[derive(Debug)]
pub struct EnvArrays<'a> {
    /// Rows of jobs: environments × rows × features.
    pub jobs: &'a mut [f32],
    /// Numbers of the machines: environments × [`MACHINE`].
    pub machine: &'a mut [f32],
    /// Mask of the possible actions: environments × actions.
    pub mask: &'a mut [bool],
    /// Rewards of the last step.
    pub reward: &'a mut [f32],
    /// True where the last step ended the episode.
    pub terminated: &'a mut [bool],
    /// True where the last step cut the episode short.
    pub truncated: &'a mut [bool],
    /// The last rows of episodes that ended, where another one begins in the same step; else empty.
    pub final_jobs: &'a mut [f32],
    /// Likewise the numbers of the machine.
    pub final_machine: &'a mut [f32],
    /// Results of the episodes that ended.
    pub finished: &'a mut [Option<EpisodeResult>],
}

/// Arrays of the right length.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "as the fields of `Parts`")]
pub struct Buffers {
    pub jobs: Vec<f32>,
    pub machine: Vec<f32>,
    pub mask: Vec<bool>,
    pub reward: Vec<f32>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
    pub final_jobs: Vec<f32>,
    pub final_machine: Vec<f32>,
    pub finished: Vec<Option<EpisodeResult>>,
}

impl Buffers {
    /// To be written.
    pub fn borrow_arrays(&mut self) -> EnvArrays<'_> {
        EnvArrays {
            jobs: &mut self.jobs,
            machine: &mut self.machine,
            mask: &mut self.mask,
            reward: &mut self.reward,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            final_jobs: &mut self.final_jobs,
            final_machine: &mut self.final_machine,
            finished: &mut self.finished,
        }
    }
}

struct EnvPart<'a> {
    env: &'a mut Env,
    jobs: &'a mut [f32],
    machine: &'a mut [f32],
    mask: &'a mut [bool],
    reward: &'a mut f32,
    terminated: &'a mut bool,
    truncated: &'a mut bool,
    last: Option<(&'a mut [f32], &'a mut [f32])>,
    finished: &'a mut Option<EpisodeResult>,
}

impl VecEnv {
    /// This many environments; the i-th plays the workloads in turn. On `threads` threads.
    ///
    /// # Errors
    /// Options that contradict each other, a part of a log in which no episode fits.
    pub fn new(
        workloads: &[Arc<Workload>],
        number: usize,
        options: &EnvOptions,
        threads: usize,
    ) -> Result<VecEnv, EnvError> {
        options.check_options()?;
        if workloads.is_empty() || number == 0 {
            return Err(EnvError::Option("at least one workload and one environment are needed".to_string()));
        }
        if let Some(shaped) = workloads.iter().find(|workload| workload.shapes().is_some()) {
            return Err(EnvError::Option(format!(
                "{}: its jobs have several sizes, or its power is counted, and environments know one size per job; take the log \
                 without shapes",
                shaped.provenance.name
            )));
        }
        let options = Arc::new(options.clone());
        let grounds = workloads.iter().map(|workload| {
            Ok((EpisodeWorkload::new(workload, &options)?, Arc::new(Scale::new(workload, &options.observation))))
        });
        let grounds: Vec<(EpisodeWorkload, Arc<Scale>)> = grounds.collect::<Result<_, EnvError>>()?;
        let envs = (0..number).map(|at| {
            let (ground, scale) = &grounds[at % grounds.len()];
            Env::new(at as u64, ground.clone(), Arc::clone(scale), &options)
        });
        let envs = envs.collect::<Result<_, _>>()?;
        let threads = threads.clamp(1, number);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| EnvError::Option(format!("threads: {e}")))?;
        Ok(VecEnv { envs, options, pool, threads })
    }

    /// Number of environments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.envs.len()
    }

    /// Returns false: there is always at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.envs.is_empty()
    }

    /// Returns the options of the environments.
    #[must_use]
    pub fn options(&self) -> &EnvOptions {
        &self.options
    }

    /// Arrays for them.
    #[must_use]
    pub fn make_buffers(&self) -> Buffers {
        let number = self.len();
        let jobs = number * self.options.window as usize * self.options.observation.row_width();
        let last = if self.options.autoreset == Autoreset::SameStep { jobs } else { 0 };
        Buffers {
            jobs: vec![0.0; jobs],
            machine: vec![0.0; number * MACHINE],
            mask: vec![false; number * self.options.action_count()],
            reward: vec![0.0; number],
            terminated: vec![false; number],
            truncated: vec![false; number],
            final_jobs: vec![0.0; last],
            final_machine: vec![0.0; if last > 0 { number * MACHINE } else { 0 }],
            finished: vec![None; number],
        }
    }

    /// Begins a new episode everywhere, or where `mask` says so. With a seed episodes are counted
    /// from 0 again.
    ///
    /// # Errors
    /// Arrays of another length.
    pub fn reset(
        &mut self,
        seed: Option<u64>,
        mask: Option<&[bool]>,
        parts: &mut EnvArrays<'_>,
    ) -> Result<(), EnvError> {
        if let Some(mask) = mask {
            check_length("reset_mask", mask.len(), self.len())?;
        }
        self.for_each_env(parts, |at, part| {
            if mask.is_some_and(|mask| !mask[at]) {
                return Ok(());
            }
            if let Some(seed) = seed {
                part.env.set_seed(seed);
            }
            part.env.write_all();
            (*part.reward, *part.terminated, *part.truncated, *part.finished) = (0.0, false, false, None);
            part.env.reset(&mut ObservationBuffers { jobs: part.jobs, machine: part.machine, mask: part.mask })
        })
    }

    /// Takes an action in each. An action that is impossible now does nothing and is counted.
    ///
    /// # Errors
    /// Actions that are none, arrays of another length, environments that were never reset.
    pub fn step(&mut self, actions: &[i64], parts: &mut EnvArrays<'_>) -> Result<(), EnvError> {
        check_length("actions", actions.len(), self.len())?;
        let (last, autoreset) = (self.options.action_count() - 1, self.options.autoreset);
        let wrong = actions.iter().position(|&action| usize::try_from(action).map_or(true, |action| action > last));
        if let Some(env) = wrong {
            return Err(EnvError::Action { env, action: actions[env], last });
        }
        self.for_each_env(parts, |at, part| {
            let EnvPart { env, jobs, machine, mask, reward, terminated, truncated, last: last_arrays, finished } = part;
            if env.is_new() {
                return Err(EnvError::NotReset(at));
            }
            **finished = None;
            let mut observation = ObservationBuffers { jobs, machine, mask };
            if env.is_over() {
                (**reward, **terminated, **truncated) = (0.0, false, false);
                return match autoreset {
                    Autoreset::NextStep => env.reset(&mut observation),
                    // It stays as it is until it is reset.
                    _ => {
                        **terminated = true;
                        env.write_observation(&mut observation)
                    }
                };
            }
            let outcome: Stepped = env.step(actions[at] as usize, &mut observation)?;
            (**reward, **terminated, **truncated) = (outcome.reward, outcome.terminated, outcome.truncated);
            if outcome.terminated || outcome.truncated {
                **finished = Some(env.episode_result());
                if autoreset == Autoreset::SameStep {
                    if let Some((jobs, machine)) = last_arrays {
                        jobs.copy_from_slice(observation.jobs);
                        machine.copy_from_slice(observation.machine);
                    }
                    return env.reset(&mut observation);
                }
            }
            Ok(())
        })
    }

    /// All rows are to be written with the next step: the arrays are new.
    pub fn write_all(&mut self) {
        self.envs.iter_mut().for_each(Env::write_all);
    }

    /// Does something with each environment and its part of the arrays, on all threads.
    fn for_each_env(
        &mut self,
        parts: &mut EnvArrays<'_>,
        work: impl Fn(usize, &mut EnvPart<'_>) -> Result<(), EnvError> + Sync,
    ) -> Result<(), EnvError> {
        let number = self.len();
        let (rows, actions) =
            (self.options.window as usize * self.options.observation.row_width(), self.options.action_count());
        check_length("jobs", parts.jobs.len(), number * rows)?;
        check_length("machine", parts.machine.len(), number * MACHINE)?;
        check_length("mask", parts.mask.len(), number * actions)?;
        for (name, length) in [
            ("reward", parts.reward.len()),
            ("terminated", parts.terminated.len()),
            ("truncated", parts.truncated.len()),
            ("finished", parts.finished.len()),
        ] {
            check_length(name, length, number)?;
        }
        let same = !parts.final_jobs.is_empty();
        if same {
            check_length("final_jobs", parts.final_jobs.len(), number * rows)?;
            check_length("final_machine", parts.final_machine.len(), number * MACHINE)?;
        }
        let sizes = ArraySizes { rows, actions, last: if same { rows } else { 0 } };
        let whole_arrays = parts.reborrow();
        if self.threads == 1 {
            return visit_envs(&mut self.envs, whole_arrays, sizes, 0, &work);
        }
        // A few parts per thread: episodes end at different times, and a reset takes longer than a
        // step.
        let part = number.div_ceil(4 * self.threads).max(1);
        let (mut tasks, mut rest) = (Vec::with_capacity(4 * self.threads), whole_arrays);
        for (chunk, envs) in self.envs.chunks_mut(part).enumerate() {
            let (arrays, remaining_arrays) = rest.split_at(envs.len(), sizes);
            tasks.push((chunk * part, envs, arrays));
            rest = remaining_arrays;
        }
        self.pool.install(|| {
            tasks.into_par_iter().try_for_each(|(first, envs, arrays)| visit_envs(envs, arrays, sizes, first, &work))
        })
    }
}

/// Lengths of the parts of one environment in the arrays.
#[derive(Clone, Copy)]
struct ArraySizes {
    rows: usize,
    actions: usize,
    /// Length of the rows that are kept when an episode is over; 0 where none are kept.
    last: usize,
}

impl<'a> EnvArrays<'a> {
    fn reborrow(&mut self) -> EnvArrays<'_> {
        EnvArrays {
            jobs: self.jobs,
            machine: self.machine,
            mask: self.mask,
            reward: self.reward,
            terminated: self.terminated,
            truncated: self.truncated,
            final_jobs: self.final_jobs,
            final_machine: self.final_machine,
            finished: self.finished,
        }
    }

    /// Returns the arrays of the first environments, and those of the others.
    fn split_at(self, envs: usize, sizes: ArraySizes) -> (EnvArrays<'a>, EnvArrays<'a>) {
        let last_machine = if sizes.last > 0 { MACHINE } else { 0 };
        let (jobs, other_jobs) = self.jobs.split_at_mut(envs * sizes.rows);
        let (machine, other_machine) = self.machine.split_at_mut(envs * MACHINE);
        let (mask, other_mask) = self.mask.split_at_mut(envs * sizes.actions);
        let (reward, other_reward) = self.reward.split_at_mut(envs);
        let (own_terminated, other_terminated) = self.terminated.split_at_mut(envs);
        let (own_truncated, other_truncated) = self.truncated.split_at_mut(envs);
        let (final_jobs, other_final_jobs) = self.final_jobs.split_at_mut(envs * sizes.last);
        let (final_machine, other_final_machine) = self.final_machine.split_at_mut(envs * last_machine);
        let (own_finished, other_finished) = self.finished.split_at_mut(envs);
        let first = EnvArrays {
            jobs,
            machine,
            mask,
            reward,
            terminated: own_terminated,
            truncated: own_truncated,
            final_jobs,
            final_machine,
            finished: own_finished,
        };
        let remainder = EnvArrays {
            jobs: other_jobs,
            machine: other_machine,
            mask: other_mask,
            reward: other_reward,
            terminated: other_terminated,
            truncated: other_truncated,
            final_jobs: other_final_jobs,
            final_machine: other_final_machine,
            finished: other_finished,
        };
        (first, remainder)
    }
}

/// Calls `work` for each environment, with its number and its part of the arrays. The first
/// environment has the number `first`.
fn visit_envs(
    envs: &mut [Env],
    arrays: EnvArrays<'_>,
    sizes: ArraySizes,
    first: usize,
    work: &impl Fn(usize, &mut EnvPart<'_>) -> Result<(), EnvError>,
) -> Result<(), EnvError> {
    let mut last_jobs = arrays.final_jobs.chunks_exact_mut(sizes.rows);
    let mut last_machine = arrays.final_machine.chunks_exact_mut(MACHINE);
    let env_parts = envs
        .iter_mut()
        .zip(arrays.jobs.chunks_exact_mut(sizes.rows))
        .zip(arrays.machine.chunks_exact_mut(MACHINE))
        .zip(arrays.mask.chunks_exact_mut(sizes.actions))
        .zip(arrays.reward.iter_mut().zip(arrays.terminated.iter_mut()))
        .zip(arrays.truncated.iter_mut().zip(arrays.finished.iter_mut()));
    for (at, (((((env, jobs), machine), mask), (reward, is_terminated)), (is_truncated, result))) in
        env_parts.enumerate()
    {
        let last = last_jobs.next().zip(last_machine.next());
        work(
            first + at,
            &mut EnvPart {
                env,
                jobs,
                machine,
                mask,
                reward,
                terminated: is_terminated,
                truncated: is_truncated,
                last,
                finished: result,
            },
        )?;
    }
    Ok(())
}

fn check_length(name: &'static str, length: usize, expected: usize) -> Result<(), EnvError> {
    if length == expected { Ok(()) } else { Err(EnvError::Length { what: name, found: length, expected }) }
}
