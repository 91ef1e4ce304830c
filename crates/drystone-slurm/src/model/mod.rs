//! The model: a machine of nodes, the main scheduler, backfill.
//!
//! Rules after Slurm 22.05 as it was read and as it runs; what holds them to a real one is in the page on the model.

mod backfill;
mod cluster;
mod machine;
mod main_pass;
mod node_set;
mod place;
mod table;
mod verdict;

pub use backfill::{Backfill, Scratch, backfill_pass};
pub use cluster::Cluster;
pub use machine::{Alloc, Machine, Part, Pending, Running};
pub use main_pass::main_pass;
pub use node_set::NodeSet;
pub use place::Idle;
pub use verdict::{Pass, Verdict, Watch};
