//! The contract of policies: events in, actions out, and the view of what the scheduler knows.

mod contract;
mod free_nodes;
#[doc(hidden)]
pub mod free_resources;
mod job_need;
#[doc(hidden)]
pub mod outlook;
mod outside;
mod priorities;
mod shapes;
mod view;
mod view_sizes;

pub use crate::snapshot::{Snapshot, SnapshotError};
pub use crate::text::{
    Args, NamedCall, Param, ParamCondition, ParamLevel, ParamNeeds, RegisterError, SpecError, Takes, ValueForm,
};
pub use contract::{
    Abilities, Action, Actions, Gauge, Moved, PassRule, Placement, Policy, PolicyEvent, Requirement, StartReason,
};
pub use free_nodes::FreeNodes;
pub(crate) use free_resources::Portion;
pub use free_resources::{BeyondProcessors, FreeResources};
pub use job_need::{JobNeed, SeatWish};
pub(crate) use outlook::Drain;
pub use outlook::{CapacityLoss, KnownSupply, Outlook, SupplyChange};
pub use outside::Outside;
pub use priorities::{Importance, PRIORITIES, Priorities, PriorityError, Quota};
pub use shapes::{HeldSpan, ShapeWorld};
pub(crate) use shapes::{SizeBase, SizeState};
pub(crate) use view::{JobEntry, KnownEntry};
pub use view::{Phase, PolicyWorld, Stopwatch, View};
