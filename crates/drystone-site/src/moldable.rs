//! Sizes of the jobs of a site that asked for a range of nodes: moldable jobs.

use crate::ranges::NodeRanges;
use crate::site::Site;
use crate::workload::job_number;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Largest difference between the ends of a range; jobs with wider ranges are left out.
const MOST_SIZES: u32 = 10_000;

/// Sizes of moldable jobs as a table for `--shapes`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoldableTable {
    /// Text of the table, with its header.
    pub table: String,
    pub jobs: usize,
    /// Number of jobs left out because their ranges are wider than 10,000 nodes.
    pub left_out: usize,
}

impl Site {
    /// Returns the sizes of jobs that asked for a range of nodes. They are moldable, with one
    /// estimate for all sizes.
    #[must_use]
    pub fn moldable_jobs(&self, ranges: &NodeRanges) -> MoldableTable {
        let mut table = "job,kind,sizes,pref,declared\n".to_string();
        let (mut written_jobs, mut wide) = (BTreeSet::new(), BTreeSet::new());
        for job in self.jobs() {
            let Some((least, most)) = job.id.and_then(|id| ranges.range_of(id)) else { continue };
            let nodes = job.nodes.filter(|nodes| *nodes > 0).unwrap_or(1);
            if most - least > MOST_SIZES {
                wide.insert(job_number(&job));
                continue;
            }
            if job.units == 0 || !written_jobs.insert(job_number(&job)) {
                continue;
            }
            let units_per_node = job.units.div_ceil(nodes);
            let mut sizes: BTreeSet<u32> =
                (least..=most).filter_map(|nodes| nodes.checked_mul(units_per_node)).collect();
            sizes.insert(job.units);
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            let _ = writeln!(table, "{},moldable,{},{},none", job_number(&job), sizes.join(" "), job.units);
        }
        MoldableTable { table, jobs: written_jobs.len(), left_out: wide.len() }
    }
}
