//! The vocabulary shared by everything: time, jobs, machines, workloads.
//!
//! Two worlds are kept apart by type. [`Job`] is what a scheduler may know of a job; [`Truth`] is
//! what only the simulated (or real) machine knows: how long the job will actually run. Nothing
//! that a policy can reach holds a `Truth`.

mod circumstances;
mod demand;
mod job;
mod outage;
mod outcome;
mod procset;
mod time;
mod window;
mod workload;

pub use circumstances::{
    Adopted, CircumstanceError, Circumstances, DependencyEffect, DependsOn, How, Throttle, Withdrawal,
};
pub use demand::{
    AMOUNT_LIMIT, Demand, DemandId, DeviceDemand, DevicePer, NodeClass, NodeFill, NodeMemory, NodeShape, Resource,
    ResourceError, ResourceId, ResourceTable, ResourceTableBuilder, ResourceUnit,
};
pub use job::{Job, JobId, LogStatus, Procs, Truth, UNKNOWN};
pub use outage::{Outage, OutageError, OutageField, OutageHit, Outages, Which};
pub use outcome::{EndedJob, JobOutcome};
pub use procset::{ProcSet, ProcSetError};
pub use time::{Span, Time};
pub(crate) use window::JobWindow;
pub(crate) use workload::FURTHEST;
pub use workload::{Machine, Provenance, Setting, TIME_LIMIT, Workload, WorkloadError};
