//! Parts that policies are composed of: orders, queues, the running set, the availability profile.

pub(crate) mod by_user;
mod chunked;
pub mod formula;
mod line;
mod nodes;
mod order;
mod pool_profile;
pub mod predict;
mod profile;
mod running;
mod tree;
mod wait_queue;

pub(crate) use chunked::{Chunked, StepSpot};
pub use line::JobLine;
pub use nodes::{JobNodeNeed, NodeFloor, NodeLevels, NodeProfile, NodeSeat};
pub(crate) use nodes::{NeedWithSeat, NodeIndex, NodeNeedBook};
pub use order::Order;
pub use pool_profile::{PoolProfile, ResourceAmounts};
pub use profile::{Profile, ProfileMark};
pub use running::{ExtraRule, RunningJob, RunningSet, Shadow};
pub use wait_queue::{BackfillFit, FitStairs, QueuePlace, WaitQueue, WaitingJob, more_expanded};
