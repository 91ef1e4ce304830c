//! The result as rows: for each alternative all jobs, then every class.

use super::result::{NodeAlternative, WhatIfResult};
use crate::output::flat::{FlatRow, FlatRows};
use drystone_whatif::PairedChange;

pub(super) fn render_rows(result: &WhatIfResult) -> FlatRows {
    let mut rows = FlatRows::default();
    for alternative in &result.alternatives {
        rows.push(class_row(result, alternative, ("all", "", 1.0), &alternative.wait));
        for class in &alternative.classes {
            rows.push(class_row(result, alternative, (&class.by, &class.class, class.work), &class.change));
        }
    }
    rows
}

fn class_row(
    result: &WhatIfResult,
    of: &NodeAlternative,
    (by, class, work): (&str, &str, f64),
    change: &PairedChange,
) -> FlatRow {
    let mut row = FlatRow::default();
    row.add_text("drystone", result.drystone);
    row.add_text("workload", &result.workload.name);
    row.add_text("workload_hash", &result.workload.hash);
    row.add_text("settings", result.workload.settings.format_pairs());
    row.add_text("policy", &result.policy);
    row.add_text("seed", result.seed);
    row.add_text("change", &of.change);
    row.add_text("by", by);
    row.add_text("class", class);
    row.add_number("share_of_work", Some(work));
    row.add_text("jobs", change.jobs);
    row.add_number("wait_before", Some(change.before));
    row.add_number("wait_after", Some(change.after));
    row.add_number("difference", Some(change.difference));
    row.add_number("difference_low", change.interval.map(|i| i.0));
    row.add_number("difference_high", change.interval.map(|i| i.1));
    row.add_number("job_hours", Some(change.job_hours));
    row.add_number("node_hours", Some(change.node_hours));
    row
}
