//! Sizes of the jobs of a site that asked for a range of nodes: moldable jobs.

use crate::ranges::NodeRanges;
use crate::site::Site;
use crate::workload::number;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Sizes of a job; longer lists are of no use.
const MOST_SIZES: u32 = 10_000;

impl Site {
    /// Writes the sizes of its jobs as a table for `--shapes`: moldable, with an estimate that is
    /// the same at every size. Returns also the number of jobs.
    #[must_use]
    pub fn moldable_jobs(&self, ranges: &NodeRanges) -> (String, usize) {
        let mut table = "job,kind,sizes,pref,declared\n".to_string();
        let mut written = BTreeSet::new();
        for job in self.jobs() {
            let Some((least, most)) = job.id.and_then(|id| ranges.range(id)) else { continue };
            let nodes = job.nodes.filter(|nodes| *nodes > 0).unwrap_or(1);
            if job.units == 0 || most - least > MOST_SIZES || !written.insert(number(&job)) {
                continue;
            }
            let each = job.units.div_ceil(nodes);
            let mut sizes: BTreeSet<u32> = (least..=most).filter_map(|nodes| nodes.checked_mul(each)).collect();
            sizes.insert(job.units);
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            let _ = writeln!(table, "{},moldable,{},{},none", number(&job), sizes.join(" "), job.units);
        }
        let jobs = written.len();
        (table, jobs)
    }
}
