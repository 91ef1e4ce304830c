//! The table of outages and holds: what the machine did to jobs, and what of their waits no policy
//! chose.

use crate::number::{count, duration, fixed, percent};
use crate::results::PolicyResult;
use crate::table::{HtmlCell, HtmlTable};

/// A row for each policy, where a machine lost processors or jobs were held back.
pub(crate) fn table(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> HtmlCell, out: &mut String) {
    let mut table = HtmlTable::new(
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
            HtmlCell::number(d.capacity_up, |v| percent(Some(v), 2)),
            HtmlCell::count(d.hits),
            HtmlCell::count(d.requeued),
            HtmlCell::count(d.lost),
            HtmlCell::number(Some(d.work_lost / 3_600.0), |v| fixed(v, 1)),
            HtmlCell::number(Some(policy.promises.excused as f64), |v| count(v as u64)),
            HtmlCell::count(d.held),
            HtmlCell::number(d.eligible_wait.mean, duration),
            HtmlCell::count(d.found),
            HtmlCell::count(d.left),
        ]);
    }
    if !table.is_empty() {
        table.html(out);
    }
}
