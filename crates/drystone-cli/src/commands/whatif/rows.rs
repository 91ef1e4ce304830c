//! The result as rows: for each alternative all jobs, then every class.

use super::result::{NodeAlternative, WhatIfResult};
use crate::output::flat::{FlatRow, FlatRows};
use drystone_whatif::PairedChange;

pub(super) fn rows(result: &WhatIfResult) -> FlatRows {
    let mut rows = FlatRows::default();
    for alternative in &result.alternatives {
        rows.push(row(result, alternative, ("all", "", 1.0), &alternative.wait));
        for class in &alternative.classes {
            rows.push(row(result, alternative, (&class.by, &class.class, class.work), &class.change));
        }
    }
    rows
}

fn row(
    result: &WhatIfResult,
    of: &NodeAlternative,
    (by, class, work): (&str, &str, f64),
    change: &PairedChange,
) -> FlatRow {
    let mut row = FlatRow::default();
    row.text("drystone", result.drystone);
    row.text("workload", &result.workload.name);
    row.text("workload_hash", &result.workload.hash);
    row.text("settings", result.workload.settings.text());
    row.text("policy", &result.policy);
    row.text("seed", result.seed);
    row.text("change", &of.change);
    row.text("by", by);
    row.text("class", class);
    row.number("share_of_work", Some(work));
    row.text("jobs", change.jobs);
    row.number("wait_before", Some(change.before));
    row.number("wait_after", Some(change.after));
    row.number("difference", Some(change.difference));
    row.number("difference_low", change.interval.map(|i| i.0));
    row.number("difference_high", change.interval.map(|i| i.1));
    row.number("job_hours", Some(change.job_hours));
    row.number("node_hours", Some(change.node_hours));
    row
}
