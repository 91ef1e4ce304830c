//! Scheduling policies: the contract, the registry, and one file per policy.

mod backfill;
mod committed;
mod conservative;
mod contract;
mod free_nodes;
mod free_resources;
pub mod goal;
mod kind;
mod kinds;
mod multiqueue;
mod node_mirror;
mod node_outlook;
mod outlook;
mod outside;
mod planned;
mod pool_plan;
mod ranking;
mod register;
mod registry;
mod room;
pub mod slack;
mod spec;
pub mod suspension;
mod view;

pub use crate::snapshot::{Snapshot, SnapshotError};
pub use crate::text::{
    Args, NamedCall, Param, ParamCondition, ParamLevel, ParamNeeds, RegisterError, SpecError, Takes, ValueForm,
};
pub use backfill::{Arrive, Backfill, BackfillChoices, OverdueRule, OvertakeGuard};
pub use conservative::Conservative;
pub use contract::{
    Abilities, Action, Actions, Gauge, Moved, PassRule, Placement, Policy, PolicyEvent, Requirement, StartReason,
};
pub use free_nodes::FreeNodes;
pub use free_resources::FreeResources;
pub(crate) use free_resources::Portion;
pub use goal::GoalPolicy;
pub use kind::{Alias, Build, PolicyKind, Variant};
pub use kinds::{ALIASES, COMMON};
pub use multiqueue::{ClassDelay, Control, MultiQueue, Own, Promising, QueueBorders, QueueSettings};
pub(crate) use outlook::Drain;
pub use outlook::{CapacityLoss, Outlook};
pub use outside::Outside;
pub use planned::{Horizon, Notice};
pub use register::{register, register_anew};
pub use registry::{built_in, kind, kinds, names};
pub use slack::{Priorities, PriorityError, Slack};
pub use spec::PolicySpec;
pub(crate) use view::{JobEntry, KnownEntry};
pub use view::{Phase, PolicyWorld, Stopwatch, View};
