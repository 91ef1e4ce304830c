//! Environments for schedulers that learn: simulations that stop where an agent decides, many at a
//! time.
//!
//! An agent sees waiting jobs as rows of numbers and chooses one ([`Act`]). What happens between
//! two choices, filling gaps around a job that is blocked among it ([`Fill`]), is the simulator's.
//! [`VecEnv`] steps many environments at once on a pool of threads; [`LearnedPolicy`] is an agent
//! as a policy, for comparisons with all others on whole logs.
//!
//! - True run times decide what the machine does and what an episode is worth. No observation holds
//!   one, unless [`RowFeature::Run`] is asked for by name; [`EnvOptions::is_clairvoyant`] says so.
//! - Episodes are windows of a log. Which one environment i plays in episode k depends on the seed,
//!   i and k alone: the same trajectories come out for any number of threads and of environments.
//! - An episode may start on the machine as a policy would have left it ([`EnvOptions::warm`]).
//!
//! ```
//! use drystone::generate::{Params, generate_workload};
//! use drystone_env::{EnvOptions, VecEnv};
//! use std::sync::Arc;
//!
//! let log = Arc::new(generate_workload(&Params { load: Some(0.9), seed: 1, ..Params::new(64, 1_000) })?);
//! let mut envs = VecEnv::new(&[log], 8, &EnvOptions { jobs: 50, ..EnvOptions::default() }, 1)?;
//! let mut buffers = envs.make_buffers();
//! envs.reset(Some(7), None, &mut buffers.borrow_arrays())?;
//! // The first row is the job that has waited longest: FCFS with filling, which is EASY.
//! while !buffers.terminated[0] {
//!     envs.step(&[0; 8], &mut buffers.borrow_arrays())?;
//! }
//! assert!(buffers.reward[0] <= -1.0, "no slowdown is below 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod desk;
mod env;
mod episode;
mod error;
mod features;
mod learned;
mod options;
mod queue;
mod vec;

pub use env::EpisodeResult;
pub use error::EnvError;
pub use features::{FeaturePreset, MACHINE, Observation, ObservationShape, RowFeature};
pub use learned::{Agent, LearnedPolicy};
pub use options::{Act, Autoreset, EnvOptions, Fill, Reward, Rows};
pub use vec::{Buffers, EnvArrays, VecEnv};
