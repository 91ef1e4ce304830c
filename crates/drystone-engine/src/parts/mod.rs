//! Structures that sessions and policies share: the running set, the queue of waiting jobs, free
//! processors and nodes over time, and the contract of predictors.

#[doc(hidden)]
pub mod by_user;
mod nodes;
pub mod predict;
mod profile;
mod running;
mod tree;
mod wait_queue;

pub use nodes::{JobNodeNeed, NeedWithSeat, NodeFloor, NodeIndex, NodeLevels, NodeProfile, NodeSeat};
pub use profile::{Profile, ProfileMark};
pub use running::{ExtraRule, RunningJob, RunningSet, Shadow};
pub use wait_queue::{BackfillFit, FitStairs, QueuePlace, WaitQueue, WaitingJob, more_expanded};
