//! Parts that policies are composed of: orders, queues, the running set, the availability profile.

mod chunked;
pub mod formula;
mod line;
mod order;
mod pool_profile;
pub mod predict;
pub(crate) mod ranking;

pub(crate) use chunked::{Chunked, StepSpot};
pub use drystone_engine::model::ResourceAmounts;
pub use drystone_engine::parts::{
    BackfillFit, ExtraRule, FitStairs, JobNodeNeed, NodeFloor, NodeLevels, NodeProfile, NodeSeat, Profile, ProfileMark,
    QueuePlace, RunningJob, RunningSet, Shadow, WaitQueue, WaitingJob, more_expanded,
};
pub(crate) use drystone_engine::parts::{NeedWithSeat, NodeIndex, by_user};
pub use line::JobLine;
pub use order::Order;
pub use pool_profile::PoolProfile;
