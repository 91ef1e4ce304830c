//! A row for all jobs, for each group and for each month.

use crate::output::flat::{FlatRow, FlatRows};
use drystone_site::waits::{SiteWaits, WaitFigures};

pub(super) fn render_rows(waits: &SiteWaits) -> FlatRows {
    let mut rows = FlatRows::default();
    rows.push(group_row(waits, "all", "all", &waits.all));
    for division in &waits.divisions {
        for group in &division.groups {
            rows.push(group_row(waits, division.by.name(), &group.name, &group.figures));
        }
    }
    for month in &waits.months {
        rows.push(group_row(waits, "month", &month.name, &month.figures));
    }
    rows
}

fn group_row(waits: &SiteWaits, by: &str, group: &str, figures: &WaitFigures) -> FlatRow {
    let mut row = FlatRow::default();
    row.add_text("site", &waits.site);
    row.add_text("by", by);
    row.add_text("group", group);
    row.add_text("jobs", figures.jobs);
    row.add_number("mean_wait_s", figures.mean);
    row.add_number("median_wait_s", figures.median);
    row.add_number("p95_wait_s", figures.p95);
    row.add_number("longest_wait_s", figures.longest);
    row.add_number("share_over_hour", figures.over_hour);
    row.add_number("share_over_day", figures.over_day);
    row.add_number("core_hours", Some(figures.core_hours));
    row.add_number("expansion", figures.expansion);
    row
}
