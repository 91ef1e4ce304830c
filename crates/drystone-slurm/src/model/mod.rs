//! The model: a machine of nodes, the main scheduler, backfill.
//!
//! Rules after Slurm 22.05 as it was read and as it runs; what holds them to a real one is in the
//! page on the model.

mod backfill;
mod cluster;
mod configured;
mod fit;
mod furnished;
mod ledger;
mod machine;
mod main_pass;
mod node_set;
mod overlaid;
mod place;
mod preempting;
mod reservation;
mod resources;
mod shaped;
mod stored_bytes;
mod table;
mod verdict;
mod will_run;

pub use backfill::{Backfill, Desk, Outcome, backfill_pass};
pub use cluster::Cluster;
pub use furnished::{gres, licences};
pub use ledger::Ledger;
pub use machine::{Alloc, Machine, NONE, Part, Pending, Running};
pub use main_pass::{MainDeeds, main_pass};
pub use node_set::NodeSet;
pub use place::Idle;
pub use preempting::{Preempting, QosPreempt, Victim};
pub use reservation::Reservation;
pub use resources::{AllocMore, GpuDemand, GresKind, JobDemand, Kinds, KnownDemand, MemoryDemand, Resources};
pub use stored_bytes::StoredBytes;
pub use verdict::{Pass, Verdict, Watch};
pub use will_run::Scratch;
