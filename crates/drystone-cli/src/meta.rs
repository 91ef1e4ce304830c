//! Inputs of a result, recorded in every output.

pub(crate) use drystone_report::meta::{ExperimentMeta, FileMeta, PolicyMeta, StudyMeta, WorkloadMeta};

use serde::Serialize;

/// The version of this program; in release builds with the commit: `0.1.0+c2df398c11`.
pub(crate) const VERSION: &str = env!("DRYSTONE_VERSION");

/// Everything that determined a schedule, as it stands in or beside files of it.
#[derive(Serialize, Debug)]
pub(crate) struct Determined<'a> {
    pub(crate) schema: &'static str,
    pub(crate) drystone: &'static str,
    pub(crate) workload: &'a WorkloadMeta,
    pub(crate) policy: &'a PolicyMeta,
    pub(crate) experiment: &'a ExperimentMeta,
}
