//! Workloads in parts, for programs that save them and make them again.

use super::WorkloadInput;
use drystone::log::clean::Audit;
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::model::Workload;

impl WorkloadInput {
    /// Makes an input of its parts; `records` are the original ones, in the order of the jobs.
    pub fn of_parts(
        workload: Workload,
        audit: Audit,
        header: SwfHeader,
        records: Option<Vec<SwfRecord>>,
    ) -> WorkloadInput {
        WorkloadInput { workload, audit, header, records, site: None, counted: None, windows: Vec::new(), series: None }
    }

    pub fn is_site(&self) -> bool {
        self.site.is_some()
    }
}
