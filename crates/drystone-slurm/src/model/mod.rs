//! The model: a machine of nodes, the main scheduler, backfill.
//!
//! Rules after Slurm 22.05 as it was read and as it runs; what holds them to a real one is in the
//! page on the model.

mod access;
mod backfill;
mod bounds;
mod class_idle;
mod class_ranks;
mod cluster;
mod configured;
mod end_groups;
mod first_plans;
mod fit;
mod furnished;
mod held_words;
mod idle;
mod idle_steps;
mod ledger;
mod linear;
mod machine;
mod main_pass;
mod naive;
mod narrowed;
mod node_classes;
mod node_set;
mod overlaid;
mod pass_bars;
mod pass_plans;
mod pass_repeats;
mod past_looks;
mod place;
mod place_try;
mod preempting;
mod reservation;
mod resources;
mod shaped;
mod sliding_and;
mod stored_bytes;
mod table;
mod table_window;
mod twins;
mod verdict;
mod victims;
mod will_run;

pub use backfill::{BackfillPass, JobVerdict, PassInputs, backfill_pass};
pub use cluster::ModelCluster;
pub use furnished::{parse_gres, parse_licences};
pub use idle::IdleNodes;
pub use ledger::UseLedger;
pub use machine::{Alloc, ModelMachine, ModelPartition, NONE, Pending, RunningModelJob};
pub use main_pass::{MainDeeds, main_pass};
#[cfg(test)]
pub(crate) use naive::run_naively;
pub(crate) use naive::takes_shortcuts;
pub use node_set::NodeSet;
pub(crate) use pass_repeats::{is_plain_job, is_plain_site};
pub use preempting::{Preempting, QosPreempt, Victim};
pub use reservation::AdvanceReservation;
pub use resources::{AllocMore, GpuDemand, GresKind, JobDemand, Kinds, KnownDemand, MemoryDemand, NodeCap, Resources};
pub use stored_bytes::StoredBytes;
pub use verdict::{PassKind, PassVerdict, VerdictObserver};
pub use will_run::WillRunScratch;
