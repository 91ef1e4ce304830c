//! Scheduling policies: the contract, the registry, and one file per policy.

mod backfill;
mod committed;
mod conservative;
pub mod goal;
mod kind;
mod kinds;
mod multiqueue;
mod register;
mod registry;
mod shaped;
pub mod slack;
mod spec;
pub mod suspension;

pub use crate::room::planned::{Horizon, Notice};
pub use crate::room::start_room::StartRoom;
pub use backfill::{Arrive, Backfill, BackfillChoices, OverdueRule, OvertakeGuard};
pub use conservative::Conservative;
pub use drystone_engine::policy::{
    Abilities, Action, Actions, Args, CapacityLoss, FreeNodes, FreeResources, Gauge, HeldSpan, KnownSupply, Moved,
    NamedCall, Outlook, Outside, PRIORITIES, Param, ParamCondition, ParamLevel, ParamNeeds, PassRule, Phase, Placement,
    Policy, PolicyEvent, PolicyWorld, Priorities, PriorityError, RegisterError, Requirement, ShapeWorld, Snapshot,
    SnapshotError, SpecError, StartReason, Stopwatch, SupplyChange, Takes, ValueForm, View,
};
use drystone_engine::policy::{free_resources, outlook};
pub use goal::GoalPolicy;
pub use kind::{Alias, Build, PolicyKind, Variant};
pub use kinds::{ALIASES, COMMON};
pub use multiqueue::{ClassDelay, Control, MultiQueue, Own, Promising, QueueBorders, QueueSettings};
pub use register::{register_anew, register_policy};
pub use registry::{built_in, find_kind, policy_kinds, policy_names};
pub use shaped::{DropRule, ResizeRule, ShapeRule, ShareRule, ShrinkLadder, SizeChoices, TermHold};
pub use slack::Slack;
pub use spec::PolicySpec;
