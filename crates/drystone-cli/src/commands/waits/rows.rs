//! A row for all jobs, for each group and for each month.

use crate::output::flat::{FlatRow, FlatRows};
use drystone_site::waits::{SiteWaits, WaitFigures};

pub(super) fn rows(waits: &SiteWaits) -> FlatRows {
    let mut rows = FlatRows::default();
    rows.push(row(waits, "all", "all", &waits.all));
    for division in &waits.divisions {
        for group in &division.groups {
            rows.push(row(waits, division.by.name(), &group.name, &group.figures));
        }
    }
    for month in &waits.months {
        rows.push(row(waits, "month", &month.name, &month.figures));
    }
    rows
}

fn row(waits: &SiteWaits, by: &str, group: &str, figures: &WaitFigures) -> FlatRow {
    let mut row = FlatRow::default();
    row.text("site", &waits.site);
    row.text("by", by);
    row.text("group", group);
    row.text("jobs", figures.jobs);
    row.number("mean_wait_s", figures.mean);
    row.number("median_wait_s", figures.median);
    row.number("p95_wait_s", figures.p95);
    row.number("longest_wait_s", figures.longest);
    row.number("share_over_hour", figures.over_hour);
    row.number("share_over_day", figures.over_day);
    row.number("core_hours", Some(figures.core_hours));
    row.number("expansion", figures.expansion);
    row
}
