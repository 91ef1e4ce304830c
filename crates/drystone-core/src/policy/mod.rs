//! Scheduling policies: the contract, the registry, and one file per policy.

mod backfill;
mod conservative;
mod contract;
pub mod goal;
mod multiqueue;
mod planned;
mod registry;
pub mod slack;
pub mod suspension;
mod text;
mod view;

pub use backfill::{Arrive, Backfill, Choices, Guard, Overdue};
pub use conservative::Conservative;
pub use contract::{
    Action, Actions, Event, Gauge, Moved, Pass, Placement, Policy, Requirement, Snapshot, SnapshotError, Why,
};
pub use goal::Goal;
pub use multiqueue::{Borders, Control, Delay, MultiQueue, Own, Promising, QueueSettings};
pub use planned::Notice;
pub use registry::{ALIASES, Alias, Args, COMMON, KINDS, Kind, Needs, Param, PolicySpec, Variant, names};
pub use slack::{Priorities, PriorityError, Slack};
pub use text::{Call, SpecError};
pub(crate) use view::{Entry, Known, World};
pub use view::{Phase, Stopwatch, View};
