//! The table of outages and holds: what the machine did to jobs, and what of their waits no policy
//! chose.

use crate::number::{count, duration, fixed, percent};
use crate::results::PolicyResult;
use crate::table::{Cell, Table};

/// A row for each policy, where a machine lost processors or jobs were held back.
pub(crate) fn table(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> Cell, out: &mut String) {
    let mut table = Table::new(
        "disruptions",
        "Outages and holds: the machine's doing",
        [
            "policy",
            "capacity up",
            "jobs hit",
            "requeued",
            "lost",
            "processor-hours lost",
            "promises excused",
            "held back",
            "mean wait since eligible",
            "running when it began",
            "never eligible",
        ],
    );
    for policy in policies {
        let Some(d) = &policy.report.disruptions else { continue };
        table.row(vec![
            name(policy),
            Cell::number(d.capacity_up, |v| percent(Some(v), 2)),
            Cell::count(d.hits),
            Cell::count(d.requeued),
            Cell::count(d.lost),
            Cell::number(Some(d.work_lost / 3_600.0), |v| fixed(v, 1)),
            Cell::number(Some(policy.promises.excused as f64), |v| count(v as u64)),
            Cell::count(d.held),
            Cell::number(d.eligible_wait.mean, duration),
            Cell::count(d.found),
            Cell::count(d.left),
        ]);
    }
    if !table.is_empty() {
        table.html(out);
    }
}
