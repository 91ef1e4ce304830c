//! The vocabulary shared by everything: time, jobs, machines, workloads.
//!
//! Two worlds are kept apart by type. [`Job`] is what a scheduler may know of a job; [`Truth`] is
//! what only the simulated (or real) machine knows: how long the job will actually run. Nothing
//! that a policy can reach holds a `Truth`.

mod circumstances;
mod demand;
mod job;
mod limits;
mod machine;
mod outage;
mod outcome;
mod procset;
mod resource_id;
mod shape;
mod sorting;
mod supply;
mod time;
mod window;
mod workload;

pub use circumstances::{
    Adopted, CircumstanceError, Circumstances, DependencyEffect, DependsOn, How, Throttle, Withdrawal,
};
pub use demand::{
    AMOUNT_LIMIT, Demand, DemandId, DeviceDemand, DevicePer, NodeClass, NodeFill, NodeMemory, NodeShape, Resource,
    ResourceAmounts, ResourceError, ResourceTable, ResourceTableBuilder, ResourceUnit,
};
pub use job::{Job, JobId, LogStatus, Truth, UNKNOWN};
pub use limits::{JobLimit, JobLimits, LimitClaim};
pub use machine::{Machine, Procs};
pub use outage::{Outage, OutageError, OutageField, OutageHit, Outages, Which};
pub use outcome::{EndedJob, JobOutcome};
pub use procset::{ProcSet, ProcSetError};
pub use resource_id::ResourceId;
pub(crate) use shape::multiply_span;
pub use shape::{
    Decimal, JobKind, JobPace, JobShape, PaceNumber, PowerCap, PowerSupply, PowerTerm, PowerTerms, ResizeRules,
    SPEEDUPS, ShapeTruth, SizeSet, Speedup, UNLIMITED, WorkloadShapes,
};
pub use sorting::SharedSort;
pub use supply::{SupplyError, SupplyField, SupplyStep};
pub use time::FURTHEST;
pub use time::{Span, TIME_LIMIT, Time};
pub use window::JobWindow;
pub use workload::{Provenance, Setting, TimeMove, Workload, WorkloadError};
