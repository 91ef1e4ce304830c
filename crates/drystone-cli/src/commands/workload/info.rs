//! `drystone workload info`: what is in a log.

use super::figures::log_figures;
use super::over_time;
use crate::args::{InfoArgs, InfoFormat};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::meta::{VERSION, WorkloadMeta};
use crate::output::document::{Document, DocumentTable};
use crate::output::number::{NONE, fixed_or, format_count, format_duration, format_percent, format_plural};
use crate::output::{self, file, plots, report, stdout};
use drystone::log::describe::{HistogramClass, UsedByStatus, WorkloadDescription, describe_workload};
use drystone::log::transient::{Transient, describe_transient};
use drystone::metrics::Summary;
use drystone::model::LogStatus;
use serde::Serialize;

#[derive(Serialize)]
struct Info {
    schema: &'static str,
    drystone: &'static str,
    workload: WorkloadMeta,
    description: WorkloadDescription,
    /// Number of records according to the header, if that is more than were read.
    #[serde(skip)]
    stated: Option<u64>,
    /// Change over time, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    transient: Option<Transient>,
}

pub(super) fn run_info(args: &InfoArgs) -> CommandOutcome {
    let log = args.source.require_path("workload info")?;
    crate::site::one_pool(log)?;
    file::check_distinct(&[Some(log)], &[("--audit", args.cleaning.audit.as_deref())])?;
    let input = WorkloadInput::read_workload(Some(log), &args.cleaning, 1, false)?;
    let description = describe_workload(&input.workload);
    let over_time =
        (args.transient || args.plots.is_some()).then(|| describe_transient(&input.workload, args.batch as usize));
    let info = Info {
        schema: "drystone/workload-info/1",
        drystone: VERSION,
        workload: match crate::site::recorded_window(log) {
            Some(window) => input.workload_meta().with_window(window),
            None => input.workload_meta(),
        },
        stated: stated_records(&input),
        description,
        transient: over_time.clone().filter(|_| args.transient),
    };
    if let (Some(directory), Some(over_time)) = (&args.plots, &over_time) {
        let about = serde_json::to_value(&info.workload).map_err(CommandFailure::usage_error)?;
        plots::write_figures(directory, &log_figures(&input.workload, &info.description, over_time), &about)?;
    }
    match args.format {
        InfoFormat::Table if args.details => output::print_document(&info.render_document())?,
        InfoFormat::Table => output::print_overview(&info.render_overview())?,
        InfoFormat::Markdown => stdout::write_bytes(info.render_document().render_markdown().as_bytes())?,
        InfoFormat::Json => stdout::write_bytes(&output::render_json(&info)?)?,
    }
    Ok(DONE)
}

impl Info {
    /// The log in thirty lines.
    fn render_overview(&self) -> Document {
        let d = &self.description;
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        let shown_facts = ["cleaning", "time zone", "users and groups", "status", "sizes", "records"];
        document.add_facts(
            self.info_facts().into_iter().filter(|(name, _)| shown_facts.contains(&name.as_str())).collect(),
        );
        document.add_table(summary_table(d));
        report::say_if_inexact(&mut document, summary_parts(d).iter().map(|part| part.1));
        if let Some(transient) = &self.transient {
            over_time::append_over_time(&mut document, transient);
        }
        document.add_text("More: --details (settings, distributions, arrivals by hour, day and week, users)");
        document
    }

    fn render_document(&self) -> Document {
        let d = &self.description;
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        document.add_facts(self.info_facts());
        document.add_heading("Summaries");
        document.add_table(summary_table(d));
        report::say_if_inexact(&mut document, summary_parts(d).iter().map(|part| part.1));
        document.add_heading("Sizes, in processors");
        document.add_table(histogram_table("processors", &d.sizes.histogram, &|n| n.to_string()));
        document.add_heading("Run times");
        document.add_table(histogram_table("run time", &d.run_times.histogram, &|s| format_duration(s as f64)));
        document.add_heading("Estimates");
        document.add_table(histogram_table("estimate", &d.estimates.histogram, &|s| format_duration(s as f64)));
        document.add_heading(format!("The most frequent of {} estimates", format_count(d.estimates.distinct)));
        document.add_table(mode_table(d));
        document.add_heading("Part of the estimate that jobs run");
        document.add_table(usage_table(d));
        if d.estimates.by_status.len() > 1 {
            document.add_heading("Part of the estimate that jobs run, by status");
            document.add_table(used_by_status(d));
        }
        let day = d.arrivals.zone.as_deref().unwrap_or("counted from the log's time zero");
        document.add_heading(format!("Arrivals by hour of the day, {day}"));
        document.add_table(bar_table("hour", (0..24).map(|h| format!("{h:02}")), &d.arrivals.hours));
        document.add_heading("Arrivals by day of the week");
        let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        let name = |at: usize| if d.arrivals.calendar { days[at].to_string() } else { format!("day {}", at + 1) };
        document.add_table(bar_table("day", (0..7).map(name), &d.arrivals.weekdays));
        add_weeks(&mut document, &d.arrivals.weeks);
        document.add_heading("Users with the most jobs");
        document.add_table(user_table(d));
        if let Some(transient) = &self.transient {
            over_time::append_over_time(&mut document, transient);
        }
        document
    }

    fn info_facts(&self) -> Vec<(String, String)> {
        let d = &self.description;
        let s = d.status;
        let cleaning = &self.workload.cleaning;
        let rules: Vec<String> =
            cleaning.rules.0.iter().map(|(rule, n)| format!("{rule} {}", format_count(*n))).collect();
        let rules = if rules.is_empty() { "nothing to report".to_string() } else { rules.join(", ") };
        let mut facts = [
            ("drystone", VERSION.to_string()),
            ("workload hash", self.workload.hash.clone()),
            ("settings", self.workload.settings.format_pairs()),
            (
                "cleaning",
                format!(
                    "{}, {}; {rules}",
                    format_plural(cleaning.records, "record"),
                    format_plural(cleaning.jobs, "job")
                ),
            ),
            ("submits", format!("{} to {} s", d.first_submit, d.last_submit)),
            ("time zone", self.workload.time_zone.clone().unwrap_or_else(|| NONE.to_string())),
            (
                "users and groups",
                named_or_not(&[
                    (d.users, "user"),
                    (d.groups, "group"),
                    (d.executables, "executable"),
                    (d.queues, "queue"),
                    (d.partitions, "partition"),
                ]),
            ),
            (
                "status",
                format!(
                    "{} completed, {} failed, {} cancelled, {} partial, {} unknown",
                    format_count(s.completed),
                    format_count(s.failed),
                    format_count(s.cancelled),
                    format_count(s.partial),
                    format_count(s.unknown)
                ),
            ),
            (
                "sizes",
                format!(
                    "{} of jobs on one processor, {} on a power of two",
                    format_percent(Some(d.sizes.serial_share), 1),
                    format_percent(Some(d.sizes.power_of_two_share), 1)
                ),
            ),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .to_vec();
        if let Some(header_count) = self.stated {
            let (record_text, stated_text) = (format_count(cleaning.records), format_count(header_count));
            let header_note =
                format!("{record_text}, but {stated_text} by the header: the log was cleaned since, or is cut off");
            facts.push(("records".to_string(), header_note));
        }
        facts
    }
}

/// Returns the number of records according to the header, if that is more than there are. No reason
/// to warn: cleaned logs of the archive, and others, keep the number of a version before.
fn stated_records(input: &WorkloadInput) -> Option<u64> {
    let header_count = input.header.max_records().or(input.header.max_jobs())?;
    u64::try_from(header_count).ok().filter(|&count| count > input.audit.records)
}

/// Returns the summarised quantities, with decimals.
fn summary_parts(d: &WorkloadDescription) -> [(&'static str, &Summary, usize); 5] {
    [
        ("processors", &d.sizes.summary, 1),
        ("run time, s", &d.run_times.summary, 0),
        ("estimate, s", &d.estimates.summary, 0),
        ("accuracy of estimates", &d.estimates.accuracy, 2),
        ("time between submits, s", &d.arrivals.gaps, 0),
    ]
}

fn summary_table(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["", "mean", "median", "deviation", "p90", "p95", "p99", "max"]);
    for (name, summary, decimals) in summary_parts(d) {
        let Summary { mean, median, deviation, p90, p95, p99, max, .. } = *summary;
        let mut row = vec![name.into()];
        row.extend([mean, median, deviation, p90, p95, p99, max].map(|v| fixed_or(v, decimals).into()));
        table.add_row(row);
    }
    table
}

/// A bar of up to 40 characters.
fn format_bar(jobs: u64, most: u64) -> String {
    let length = if most == 0 { 0 } else { (jobs as f64 / most as f64 * 40.0).round() as usize };
    "█".repeat(length)
}

fn histogram_table(head: &str, classes: &[HistogramClass], show: &dyn Fn(i64) -> String) -> DocumentTable {
    let mut table = DocumentTable::new([head, "jobs", "share", "work", ""]).with_text_columns(&[0, 4]);
    let most = classes.iter().map(|c| c.jobs).max().unwrap_or(0);
    for class in classes {
        let name = match (class.above, class.up_to) {
            (Some(above), Some(up_to)) if above + 1 == up_to => show(up_to),
            (_, Some(up_to)) => format!("up to {}", show(up_to)),
            (Some(above), None) => format!("above {}", show(above)),
            (None, None) => "all".to_string(),
        };
        table.add_row(vec![
            name.into(),
            format_count(class.jobs).into(),
            format_percent(Some(class.share), 1).into(),
            format_percent(class.work_share, 1).into(),
            format_bar(class.jobs, most).into(),
        ]);
    }
    table
}

fn mode_table(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["estimate", "seconds", "jobs", "share"]);
    for mode in &d.estimates.modes {
        table.add_row(vec![
            format_duration(mode.estimate.as_f64()).into(),
            format_count(mode.estimate.0.unsigned_abs()).into(),
            format_count(mode.jobs).into(),
            format_percent(Some(mode.share), 1).into(),
        ]);
    }
    table
}

fn usage_table(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["run time over estimate", "jobs", "share", ""]).with_text_columns(&[0, 3]);
    let e = &d.estimates;
    let most = e.used.iter().copied().chain([e.outlived]).max().unwrap_or(0);
    let share = |jobs: u64| format_percent((d.jobs > 0).then(|| jobs as f64 / d.jobs as f64), 1);
    let tenths = e.used.iter().enumerate().map(|(at, &jobs)| (format!("up to {}%", (at + 1) * 10), jobs));
    for (name, jobs) in tenths.chain([("above 100%".to_string(), e.outlived)]) {
        table.add_row(vec![name.into(), format_count(jobs).into(), share(jobs).into(), format_bar(jobs, most).into()]);
    }
    table.add_row(vec!["exactly 100%".into(), format_count(e.exact).into(), share(e.exact).into(), "".into()]);
    table
}

/// Shares of the jobs of each status, down the parts of their estimates.
fn used_by_status(d: &WorkloadDescription) -> DocumentTable {
    let statuses = &d.estimates.by_status;
    let name = |status: LogStatus| match status {
        LogStatus::Completed => "completed",
        LogStatus::Failed => "failed",
        LogStatus::Cancelled => "cancelled",
        LogStatus::Partial => "partial",
        LogStatus::Unknown => "unknown",
    };
    let mut table = DocumentTable::new(
        std::iter::once("run time over estimate").chain(statuses.iter().map(|class| name(class.status))),
    );
    let mut row = |of: String, jobs: &dyn Fn(&UsedByStatus) -> u64| {
        let share = |class: &UsedByStatus| format_percent(Some(jobs(class) as f64 / class.jobs as f64), 1).into();
        table.add_row(std::iter::once(of.into()).chain(statuses.iter().map(share)).collect());
    };
    for tenth in 0..10 {
        row(format!("up to {}%", (tenth + 1) * 10), &|one| one.used[tenth]);
    }
    row("above 100%".to_string(), &|one| one.outlived);
    row("exactly 100%".to_string(), &|one| one.exact);
    table.add_row(
        std::iter::once("jobs".into()).chain(statuses.iter().map(|class| format_count(class.jobs).into())).collect(),
    );
    table
}

fn bar_table(head: &str, names: impl Iterator<Item = String>, jobs: &[u64]) -> DocumentTable {
    let mut table = DocumentTable::new([head, "jobs", ""]).with_text_columns(&[0, 2]);
    let most = jobs.iter().copied().max().unwrap_or(0);
    for (name, &jobs) in names.zip(jobs) {
        table.add_row(vec![name.into(), format_count(jobs).into(), format_bar(jobs, most).into()]);
    }
    table
}

/// Most rows of weeks that are read rather than scrolled past.
const MOST_WEEKS: usize = 60;

/// Arrivals week by week, or by this many times four weeks that there are not more than
/// [`MOST_WEEKS`] rows.
fn add_weeks(document: &mut Document, weeks: &[u64]) {
    let together = if weeks.len() <= MOST_WEEKS { 1 } else { 4 * weeks.len().div_ceil(4 * MOST_WEEKS) };
    let name = |first: usize| match (first + together).min(weeks.len()) {
        last if last == first + 1 => last.to_string(),
        last => format!("{} to {last}", first + 1),
    };
    let jobs: Vec<u64> = weeks.chunks(together).map(|weeks| weeks.iter().sum()).collect();
    let by = if together == 1 { "week".to_string() } else { format!("{together} weeks") };
    document.add_heading(format!("Arrivals by {by}"));
    document.add_table(bar_table("week", (0..weeks.len()).step_by(together).map(name), &jobs));
}

fn user_table(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["user", "jobs", "share", "work"]);
    for user in &d.top_users {
        let name = if user.user == -1 { "unknown".to_string() } else { user.user.to_string() };
        table.add_row(vec![
            name.into(),
            format_count(user.jobs).into(),
            format_percent(Some(user.share), 1).into(),
            format_percent(user.work_share, 1).into(),
        ]);
    }
    table
}

/// Counts of kinds of names, and the kinds that no record names.
fn named_or_not(kinds: &[(u64, &str)]) -> String {
    let count_texts: Vec<String> =
        kinds.iter().filter(|kind| kind.0 > 0).map(|&(n, name)| format_plural(n, name)).collect();
    let missing: Vec<String> = kinds.iter().filter(|kind| kind.0 == 0).map(|kind| format!("{}s", kind.1)).collect();
    match (count_texts.is_empty(), missing.is_empty()) {
        (_, true) => count_texts.join(", "),
        (true, false) => format!("not recorded: {}", missing.join(", ")),
        (false, false) => format!("{}; not recorded: {}", count_texts.join(", "), missing.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_log_is_so_long_that_its_weeks_fill_screens() {
        let render = |weeks: &[u64]| {
            let mut document = Document::default();
            add_weeks(&mut document, weeks);
            document.render_plain()
        };
        // A heading, a blank line, the names of columns.
        assert_eq!(render(&[1; 60]).lines().count(), 3 + 60);
        let years = render(&[1; 62]);
        assert!(years.starts_with("Arrivals by 4 weeks\n"), "{years}");
        let rows: Vec<Vec<&str>> =
            years.lines().skip(3).map(|line| line.split_whitespace().take(4).collect()).collect();
        assert_eq!(
            (rows.len(), &rows[0][..], &rows[15][..3]),
            (16, &["1", "to", "4", "4"][..], &["61", "to", "62"][..])
        );
        assert_eq!(render(&[1; 61]).lines().last().and_then(|line| line.split_whitespace().next()), Some("61"));
        for weeks in [240, 241, 1_000, 99_999] {
            let lines = render(&vec![1; weeks]).lines().count();
            assert!((3 + 30..=3 + 60).contains(&lines), "{weeks}: {lines}");
        }
        assert!(render(&[1; 241]).starts_with("Arrivals by 8 weeks"));
    }
}
