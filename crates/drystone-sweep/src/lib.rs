//! Sweeps: many simulations from one study file, in a store that survives interruptions.
//!
//! A [`SweepStudy`] says in TOML which workloads, policies, parameters and metrics. Its
//! [`SweepPlan`] is every configuration of it and the simulations they need: configurations that
//! cannot differ share one. An [`Executor`] carries simulations out, on threads or in other
//! processes; a [`Store`] keeps what came of them, in transactions, in an SQLite file that other
//! tools read. [`analysis`] ranks configurations over several test cases, as Tsafrir et al. 2007
//! do, and finds Pareto fronts.
//!
//! ```no_run
//! use drystone_sweep::{SweepPlan, Store, SweepStudy, Threads, carry_out};
//! use std::sync::atomic::AtomicBool;
//! let study = SweepStudy::read_file("study.toml".as_ref())?;
//! let plan = SweepPlan::from_study(&study, None)?;
//! let mut store = Store::open(study.store_path(), &plan, None)?;
//! carry_out(&plan, &mut store, &Threads(2), &AtomicBool::new(false), &mut |_| {})?;
//! # Ok::<(), drystone_sweep::SweepError>(())
//! ```
//!
//! [`cluster`] has sweeps as arrays of tasks that a batch system runs.
//!
//! The results do not depend on threads, on the order in which simulations end, or on how often a
//! sweep was interrupted.

use drystone::policy::PolicySpec;
use std::path::Path;
use std::sync::OnceLock;

pub mod analysis;
mod calibrate;
mod carry_out;
mod case;
mod chunk;
pub mod cluster;
mod design;
mod error;
mod execute;
mod furnish;
mod hash;
mod metric;
mod plan;
mod processes;
mod real;
mod shaped;
mod simulate;
mod simulation_inputs;
mod store;
mod study;
mod trial;
mod vigil;

pub use calibrate::{CostCalibration, calibrate_costs};
pub use carry_out::{WorkSummary, carry_out, carry_out_except};
pub use case::SweepCase;
pub use chunk::{ChunkError, SweepChunk};
pub use design::DesignLevel;
pub use drystone::fingerprint::compute_fingerprint;
pub use error::{Cancelled, SweepError};
pub use execute::{Executor, PlanOutcome, Threads};
pub use metric::{JobMeasurer, MeasuredSchedule, OwnMetric, SweepMetric, WeekSums};
pub use plan::{Configuration, PlannedSimulation, SweepPlan};
pub use processes::{Processes, open_chunk, take_up};
pub use simulate::{SimulationValues, simulate_place};
pub use simulation_inputs::{ExcessThreshold, GivenFiles};
pub use store::{
    BracketRow, Merged, QueryAnswer, QueryCell, Store, StoreGrowth, StoreRow, SweepStatus, gather_published,
    merge_stores, query_store,
};
pub use study::SweepStudy;
pub use vigil::{LongRun, Vigil};

pub use drystone::metrics::Metric;

/// The version of this program. Results of different versions do not mix.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

static BUILD: OnceLock<String> = OnceLock::new();

/// Names the build of the program that simulates, such as `0.1.0+c2df398`: recorded with every
/// result. The first name counts.
pub fn set_build(name: &str) {
    BUILD.get_or_init(|| name.to_string());
}

/// Returns a policy as it is meant on the log of a path: a folder may be a site that has a Slurm of
/// its own.
pub type PolicyLocaliser = fn(&Path, &PolicySpec) -> Result<PolicySpec, String>;

static LOCALISER: OnceLock<PolicyLocaliser> = OnceLock::new();

/// Lets policies mean on a log what they mean elsewhere on the same path. Only the first call in a
/// program has an effect.
pub fn set_localiser(localiser: PolicyLocaliser) {
    let _ = LOCALISER.set(localiser);
}

/// A policy as it is meant on the log of a path.
pub(crate) fn localise_policy(path: &Path, policy: &PolicySpec) -> Result<PolicySpec, String> {
    LOCALISER.get().map_or_else(|| Ok(policy.clone()), |localiser| localiser(path, policy))
}

/// The build of the program that simulates: its version, and the commit where the program knows it.
pub fn program_build() -> &'static str {
    BUILD.get().map_or(VERSION, String::as_str)
}
