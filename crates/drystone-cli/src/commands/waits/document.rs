//! The result for people.

use super::causes::{self, CauseStep};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, format_count, format_duration, format_fixed, format_percent};
use drystone_site::clock::Zone;
use drystone_site::waits::{GroupProperty, HoursOfWeek, Month, SiteWaits, WaitFigures};

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Months that are shown beside each other.
const MONTHS: usize = 6;
/// Hours of a row of the week's table.
const PART: usize = 4;

pub(super) fn render_document((waits, steps): (&SiteWaits, &[CauseStep]), top: usize) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("Recorded waits of {}", waits.site));
    append_causes(&mut document, waits, true);
    if !steps.is_empty() {
        document.add_text(causes::steps_text(steps));
    }
    document.add_facts(wait_facts(waits));
    waits.notes.iter().for_each(|note| document.add_text(note.clone()));
    if waits.all.jobs > 0 {
        let mut table = figures_table("all");
        figures_row(&mut table, "all jobs", &waits.all);
        document.add_table(table);
    }
    for division in waits.divisions.iter().filter(|division| !division.groups.is_empty()) {
        document.add_heading(format!("By {}", division.by.name()));
        let mut table = figures_table(division.by.name());
        // Hours and sizes have an order: what is left out of them would be missed.
        let shown_count = if matches!(division.by, GroupProperty::Gpu | GroupProperty::Size | GroupProperty::Hour) {
            usize::MAX
        } else {
            top
        };
        division.groups.iter().take(shown_count).for_each(|group| figures_row(&mut table, &group.name, &group.figures));
        document.add_table(table);
        if division.groups.len() > shown_count {
            document.add_text(format!(
                "The {top} of {} with most core-hours; --top N shows more, --format csv all.",
                format_count(division.groups.len() as u64)
            ));
        }
    }
    append_week(&mut document, &waits.week);
    if waits.months.len() > 1 {
        document.add_heading("Month by month");
        document.add_table(month_table(&waits.months));
    }
    if !waits.longest.is_empty() {
        document.add_heading("The longest waits");
        document.add_table(longest_table(waits));
    }
    document
}

/// The main figures in eighty columns: of all jobs, of the groups with most core-hours, and the
/// longest waits.
pub(super) fn render_overview((waits, steps): (&SiteWaits, &[CauseStep]), top: usize) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("Recorded waits of {}", waits.site));
    append_causes(&mut document, waits, false);
    document.add_facts(wait_facts(waits));
    waits.notes.iter().for_each(|note| document.add_text(note.clone()));
    let heads =
        |head: &str| DocumentTable::new([head, "jobs", "mean", "median", "95%", "longest", "> 1 h", "core-hours"]);
    let row = |table: &mut DocumentTable, name: &str, figures: &WaitFigures| {
        let span = |value: Option<f64>| TableValue::from(value.map_or(NONE.to_string(), format_duration));
        table.add_row(vec![
            name.into(),
            format_count(figures.jobs).into(),
            span(figures.mean),
            span(figures.median),
            span(figures.p95),
            span(figures.longest),
            format_percent(figures.over_hour, 1).into(),
            format_count(figures.core_hours.round() as u64).into(),
        ]);
    };
    if waits.all.jobs > 0 {
        let mut table = heads("");
        row(&mut table, "all jobs", &waits.all);
        document.add_table(table);
    }
    for division in waits.divisions.iter().filter(|division| !division.groups.is_empty()) {
        let is_ordered = matches!(division.by, GroupProperty::Gpu | GroupProperty::Size | GroupProperty::Hour);
        let shown_count = if is_ordered { usize::MAX } else { top };
        let mut table = heads(division.by.name());
        division.groups.iter().take(shown_count).for_each(|group| row(&mut table, &group.name, &group.figures));
        if let more @ 1.. = division.groups.len().saturating_sub(shown_count) {
            table.add_row(vec![format!("and {} more", format_count(more as u64)).into()]);
        }
        document.add_table(table);
    }
    if let Some(long) = waits.longest.first() {
        let user = if long.user.is_empty() { String::new() } else { format!(" of {}", long.user) };
        document.add_text(format!(
            "The longest wait: job {}{user}, {} until {}.",
            long.job,
            format_duration(long.wait as f64),
            format_local_time(waits, long.start)
        ));
    }
    if waits.months.len() > 1 {
        document.add_table(last_months(&waits.months));
    }
    if !steps.is_empty() {
        document.add_text(causes::steps_text(steps));
    }
    document.add_text("More: --details (the week, longest waits)   --by LIST   --now   --report FILE");
    document
}

fn append_causes(document: &mut Document, waits: &SiteWaits, whole: bool) {
    if let Some(headline) = causes::format_headline(waits) {
        document.add_text(headline);
        document.add_table(causes::causes_table(waits, whole));
    }
}

/// The last months beside each other.
fn last_months(months: &[Month]) -> DocumentTable {
    let months = &months[months.len().saturating_sub(MONTHS)..];
    let names = months.iter().map(|month| month.name.clone());
    let mut table = DocumentTable::new(std::iter::once("month".to_string()).chain(names));
    type Figure = fn(&WaitFigures) -> Option<f64>;
    let rows: [(&str, Figure); 3] = [("mean", |f| f.mean), ("median", |f| f.median), ("95%", |f| f.p95)];
    for (name, figure) in rows {
        let values = months.iter().map(|month| TableValue::from_number(figure(&month.figures), format_duration));
        table.add_row(std::iter::once(TableValue::from(name)).chain(values).collect());
    }
    table
}

fn wait_facts(waits: &SiteWaits) -> Vec<(String, String)> {
    let week = &waits.week;
    let outside = &waits.outside;
    let at_least = if week.inferred { "at least " } else { "" };
    let mut facts = vec![
        (
            "jobs".to_string(),
            format!(
                "{} began to wait between {} and {} ({}); {} started, {} never did, {} still wait",
                format_count(waits.jobs),
                format_local_time(waits, waits.from),
                format_local_time(waits, waits.until),
                waits.time_zone,
                format_count(waits.all.jobs + waits.unknown),
                format_count(waits.never_started),
                format_count(waits.still_waiting)
            ),
        ),
        ("a wait".to_string(), "from eligibility, else submission, to start; nothing is simulated".to_string()),
    ];
    if outside.jobs > 0 {
        let span = |value: Option<f64>| value.map_or(NONE.to_string(), format_duration);
        let s = if outside.jobs == 1 { "" } else { "s" };
        facts.push((
            "left out".to_string(),
            format!(
                "{} job{s} that began to wait earlier or later; with them the mean is {}, the median {}",
                format_count(outside.jobs),
                span(outside.mean),
                span(outside.median)
            ),
        ));
    }
    if let Some(share) = week.mean_use {
        facts.push((
            "use".to_string(),
            format!(
                "{} of {at_least}{} processors that were up",
                format_percent(Some(share), 1),
                format_count(week.processors as u64)
            ),
        ));
    }
    if let Some(queue) = week.mean_queue {
        facts.push(("queue".to_string(), format!("{} jobs wait on average", format_fixed(queue, 1))));
    }
    facts
}

pub(super) fn format_local_time(waits: &SiteWaits, moment: i64) -> String {
    let zone = Zone::from_name(&waits.time_zone).unwrap_or_else(|_| Zone::utc_zone());
    drystone_site::clock::format_minute(zone.civil_time(moment))
}

fn figures_table(head: &str) -> DocumentTable {
    DocumentTable::new([
        head,
        "jobs",
        "mean",
        "median",
        "95%",
        "longest",
        "> 1 h",
        "> 1 day",
        "core-hours",
        "expansion",
    ])
}

fn figures_row(table: &mut DocumentTable, name: &str, figures: &WaitFigures) {
    let span = |value: Option<f64>| TableValue::from(value.map_or(NONE.to_string(), format_duration));
    table.add_row(vec![
        name.into(),
        format_count(figures.jobs).into(),
        span(figures.mean),
        span(figures.median),
        span(figures.p95),
        span(figures.longest),
        format_percent(figures.over_hour, 1).into(),
        format_percent(figures.over_day, 1).into(),
        format_count(figures.core_hours.round() as u64).into(),
        figures.expansion.map_or(NONE.to_string(), |value| format_fixed(value, 2)).into(),
    ]);
}

fn append_week(document: &mut Document, week: &HoursOfWeek) {
    if week.queue.is_empty() && week.use_of_machine.is_empty() {
        return;
    }
    document.add_heading("By the hour of the week");
    let hours = (0..24 / PART).map(|part| format!("{:02}-{:02}", part * PART, (part + 1) * PART));
    let header = ["day".to_string(), "of".to_string()].into_iter().chain(hours);
    let mut table = DocumentTable::new(header).with_text_columns(&[0, 1]);
    let mean = |values: &[Option<f64>]| {
        let known_count = values.iter().flatten().count();
        (known_count > 0).then(|| values.iter().flatten().sum::<f64>() / known_count as f64)
    };
    for (day, name) in DAYS.iter().enumerate() {
        let part = |values: &[Option<f64>], show: fn(f64) -> String| -> Vec<TableValue> {
            values[day * 24..(day + 1) * 24]
                .chunks(PART)
                .map(|hours| mean(hours).map_or(NONE.to_string(), show).into())
                .collect()
        };
        if !week.queue.is_empty() {
            let mut row: Vec<TableValue> = vec![(*name).into(), "jobs waiting".into()];
            row.extend(part(&week.queue, |value| format_fixed(value, 1)));
            table.add_row(row);
        }
        if !week.use_of_machine.is_empty() {
            let mut row: Vec<TableValue> = vec![(*name).into(), "in use".into()];
            row.extend(part(&week.use_of_machine, |value| format_percent(Some(value), 0)));
            table.add_row(row);
        }
    }
    document.add_table(table);
}

fn month_table(months: &[Month]) -> DocumentTable {
    let mut table = DocumentTable::new([
        "month",
        "jobs",
        "mean",
        "change",
        "median",
        "change",
        "95%",
        "> 1 h",
        "core-hours",
        "expansion",
    ])
    .with_beside_columns(&[3, 5]);
    let span = |value: Option<f64>| TableValue::from(value.map_or(NONE.to_string(), format_duration));
    let change = |value: Option<f64>| {
        let format_signed = |v: f64| format!("{}{}", if v < 0.0 { "\u{2212}" } else { "+" }, format_duration(v.abs()));
        TableValue::from(value.map_or(NONE.to_string(), format_signed))
    };
    for Month { name, figures, median_change, mean_change } in months {
        table.add_row(vec![
            name.clone().into(),
            format_count(figures.jobs).into(),
            span(figures.mean),
            change(*mean_change),
            span(figures.median),
            change(*median_change),
            span(figures.p95),
            format_percent(figures.over_hour, 1).into(),
            format_count(figures.core_hours.round() as u64).into(),
            figures.expansion.map_or(NONE.to_string(), |value| format_fixed(value, 2)).into(),
        ]);
    }
    table
}

fn longest_table(waits: &SiteWaits) -> DocumentTable {
    let mut table = DocumentTable::new([
        "job",
        "user",
        "account",
        "partition",
        "CPUs",
        "eligible",
        "started",
        "wait",
        "last reason",
    ])
    .with_text_columns(&[0, 1, 2, 3, 5, 6, 8]);
    let or_none = |text: &str| if text.is_empty() { NONE.to_string() } else { text.to_string() };
    for long in &waits.longest {
        table.add_row(vec![
            long.job.clone().into(),
            or_none(&long.user).into(),
            or_none(&long.account).into(),
            or_none(&long.partition).into(),
            long.cpus.map_or(NONE.to_string(), |cpus| format_count(u64::from(cpus))).into(),
            format_local_time(waits, long.eligible).into(),
            format_local_time(waits, long.start).into(),
            format_duration(long.wait as f64).into(),
            or_none(&long.reason).into(),
        ]);
    }
    table
}
