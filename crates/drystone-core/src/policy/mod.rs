//! Scheduling policies: the contract, the registry, and one file per policy.

mod backfill;
mod conservative;
mod contract;
pub mod goal;
mod kind;
mod kinds;
mod multiqueue;
mod outlook;
mod outside;
mod planned;
mod ranking;
mod registry;
pub mod slack;
mod spec;
pub mod suspension;
mod view;

pub use crate::snapshot::{Snapshot, SnapshotError};
pub use crate::text::{Args, Call, Condition, Form, Level, Needs, Param, RegisterError, SpecError, Takes};
pub use backfill::{Arrive, Backfill, Choices, Guard, Overdue};
pub use conservative::Conservative;
pub use contract::{Abilities, Action, Actions, Event, Gauge, Moved, Pass, Placement, Policy, Requirement, Why};
pub use goal::Goal;
pub use kind::{Alias, Build, Kind, Variant};
pub use kinds::{ALIASES, COMMON};
pub use multiqueue::{Borders, Control, Delay, MultiQueue, Own, Promising, QueueSettings};
pub(crate) use outlook::Drain;
pub use outlook::{Loss, Outlook};
pub use outside::Outside;
pub use planned::{Horizon, Notice};
pub use registry::{built_in, kind, kinds, names, register, register_anew};
pub use slack::{Priorities, PriorityError, Slack};
pub use spec::PolicySpec;
pub(crate) use view::{Entry, Known};
pub use view::{Phase, Stopwatch, View, World};
