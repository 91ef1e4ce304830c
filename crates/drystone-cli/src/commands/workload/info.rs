//! `drystone workload info`: what is in a log.

use super::figures::figures;
use super::over_time;
use crate::args::{InfoArgs, InfoFormat};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::meta::{VERSION, WorkloadMeta};
use crate::output::document::{Document, DocumentTable};
use crate::output::number::{NONE, count, duration, fixed_or, percent, plural};
use crate::output::{self, file, plots, report, stdout};
use drystone::log::describe::{HistogramClass, UsedByStatus, WorkloadDescription, describe};
use drystone::log::transient::{Transient, transient};
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

pub(super) fn info(args: &InfoArgs) -> CommandOutcome {
    let log = args.source.required("workload info")?;
    crate::site::one_pool(log)?;
    file::distinct(&[Some(log)], &[("--audit", args.cleaning.audit.as_deref())])?;
    let input = WorkloadInput::read(Some(log), &args.cleaning, 1, false)?;
    let description = describe(&input.workload);
    let over_time = (args.transient || args.plots.is_some()).then(|| transient(&input.workload, args.batch as usize));
    let info = Info {
        schema: "drystone/workload-info/1",
        drystone: VERSION,
        workload: match crate::site::window(log) {
            Some(window) => input.meta().within(window),
            None => input.meta(),
        },
        stated: stated(&input),
        description,
        transient: over_time.clone().filter(|_| args.transient),
    };
    if let (Some(directory), Some(over_time)) = (&args.plots, &over_time) {
        let about = serde_json::to_value(&info.workload).map_err(CommandFailure::usage)?;
        plots::write_figures(directory, &figures(&input.workload, &info.description, over_time), &about)?;
    }
    match args.format {
        InfoFormat::Table if args.details => output::print_document(&info.document())?,
        InfoFormat::Table => output::print_overview(&info.overview())?,
        InfoFormat::Markdown => stdout::write(info.document().markdown().as_bytes())?,
        InfoFormat::Json => stdout::write(&output::json(&info)?)?,
    }
    Ok(DONE)
}

impl Info {
    /// The log in thirty lines.
    fn overview(&self) -> Document {
        let d = &self.description;
        let mut document = Document::default();
        document.heading(self.workload.line());
        let shown = ["cleaning", "time zone", "users and groups", "status", "sizes", "records"];
        document.facts(self.facts().into_iter().filter(|(name, _)| shown.contains(&name.as_str())).collect());
        document.table(summaries(d));
        report::say_if_inexact(&mut document, parts(d).iter().map(|part| part.1));
        if let Some(transient) = &self.transient {
            over_time::add(&mut document, transient);
        }
        document.text("More: --details (settings, distributions, arrivals by hour, day and week, users)");
        document
    }

    fn document(&self) -> Document {
        let d = &self.description;
        let mut document = Document::default();
        document.heading(self.workload.line());
        document.facts(self.facts());
        document.heading("Summaries");
        document.table(summaries(d));
        report::say_if_inexact(&mut document, parts(d).iter().map(|part| part.1));
        document.heading("Sizes, in processors");
        document.table(histogram("processors", &d.sizes.histogram, &|n| n.to_string()));
        document.heading("Run times");
        document.table(histogram("run time", &d.run_times.histogram, &|s| duration(s as f64)));
        document.heading("Estimates");
        document.table(histogram("estimate", &d.estimates.histogram, &|s| duration(s as f64)));
        document.heading(format!("The most frequent of {} estimates", count(d.estimates.distinct)));
        document.table(modes(d));
        document.heading("Part of the estimate that jobs run");
        document.table(used(d));
        if d.estimates.by_status.len() > 1 {
            document.heading("Part of the estimate that jobs run, by status");
            document.table(used_by_status(d));
        }
        let day = d.arrivals.zone.as_deref().unwrap_or("counted from the log's time zero");
        document.heading(format!("Arrivals by hour of the day, {day}"));
        document.table(bars("hour", (0..24).map(|h| format!("{h:02}")), &d.arrivals.hours));
        document.heading("Arrivals by day of the week");
        let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        let name = |at: usize| if d.arrivals.calendar { days[at].to_string() } else { format!("day {}", at + 1) };
        document.table(bars("day", (0..7).map(name), &d.arrivals.weekdays));
        add_weeks(&mut document, &d.arrivals.weeks);
        document.heading("Users with the most jobs");
        document.table(users(d));
        if let Some(transient) = &self.transient {
            over_time::add(&mut document, transient);
        }
        document
    }

    fn facts(&self) -> Vec<(String, String)> {
        let d = &self.description;
        let s = d.status;
        let cleaning = &self.workload.cleaning;
        let rules: Vec<String> = cleaning.rules.0.iter().map(|(rule, n)| format!("{rule} {}", count(*n))).collect();
        let rules = if rules.is_empty() { "nothing to report".to_string() } else { rules.join(", ") };
        let mut facts = [
            ("drystone", VERSION.to_string()),
            ("workload hash", self.workload.hash.clone()),
            ("settings", self.workload.settings.text()),
            ("cleaning", format!("{}, {}; {rules}", plural(cleaning.records, "record"), plural(cleaning.jobs, "job"))),
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
                    count(s.completed),
                    count(s.failed),
                    count(s.cancelled),
                    count(s.partial),
                    count(s.unknown)
                ),
            ),
            (
                "sizes",
                format!(
                    "{} of jobs on one processor, {} on a power of two",
                    percent(Some(d.sizes.serial_share), 1),
                    percent(Some(d.sizes.power_of_two_share), 1)
                ),
            ),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .to_vec();
        if let Some(stated) = self.stated {
            let (read, stated) = (count(cleaning.records), count(stated));
            let told = format!("{read}, but {stated} by the header: the log was cleaned since, or is cut off");
            facts.push(("records".to_string(), told));
        }
        facts
    }
}

/// Returns the number of records according to the header, if that is more than there are. No reason
/// to warn: cleaned logs of the archive, and others, keep the number of a version before.
fn stated(input: &WorkloadInput) -> Option<u64> {
    let stated = input.header.max_records().or(input.header.max_jobs())?;
    u64::try_from(stated).ok().filter(|&stated| stated > input.audit.records)
}

/// Returns the summarised quantities, with decimals.
fn parts(d: &WorkloadDescription) -> [(&'static str, &Summary, usize); 5] {
    [
        ("processors", &d.sizes.summary, 1),
        ("run time, s", &d.run_times.summary, 0),
        ("estimate, s", &d.estimates.summary, 0),
        ("accuracy of estimates", &d.estimates.accuracy, 2),
        ("time between submits, s", &d.arrivals.gaps, 0),
    ]
}

fn summaries(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["", "mean", "median", "deviation", "p90", "p95", "p99", "max"]);
    for (name, summary, decimals) in parts(d) {
        let Summary { mean, median, deviation, p90, p95, p99, max, .. } = *summary;
        let mut row = vec![name.into()];
        row.extend([mean, median, deviation, p90, p95, p99, max].map(|v| fixed_or(v, decimals).into()));
        table.row(row);
    }
    table
}

/// A bar of up to 40 characters.
fn bar(jobs: u64, most: u64) -> String {
    let length = if most == 0 { 0 } else { (jobs as f64 / most as f64 * 40.0).round() as usize };
    "█".repeat(length)
}

fn histogram(what: &str, classes: &[HistogramClass], show: &dyn Fn(i64) -> String) -> DocumentTable {
    let mut table = DocumentTable::new([what, "jobs", "share", "work", ""]).texts(&[0, 4]);
    let most = classes.iter().map(|c| c.jobs).max().unwrap_or(0);
    for class in classes {
        let name = match (class.above, class.up_to) {
            (Some(above), Some(up_to)) if above + 1 == up_to => show(up_to),
            (_, Some(up_to)) => format!("up to {}", show(up_to)),
            (Some(above), None) => format!("above {}", show(above)),
            (None, None) => "all".to_string(),
        };
        table.row(vec![
            name.into(),
            count(class.jobs).into(),
            percent(Some(class.share), 1).into(),
            percent(class.work_share, 1).into(),
            bar(class.jobs, most).into(),
        ]);
    }
    table
}

fn modes(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["estimate", "seconds", "jobs", "share"]);
    for mode in &d.estimates.modes {
        table.row(vec![
            duration(mode.estimate.as_f64()).into(),
            count(mode.estimate.0.unsigned_abs()).into(),
            count(mode.jobs).into(),
            percent(Some(mode.share), 1).into(),
        ]);
    }
    table
}

fn used(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["run time over estimate", "jobs", "share", ""]).texts(&[0, 3]);
    let e = &d.estimates;
    let most = e.used.iter().copied().chain([e.outlived]).max().unwrap_or(0);
    let share = |jobs: u64| percent((d.jobs > 0).then(|| jobs as f64 / d.jobs as f64), 1);
    let tenths = e.used.iter().enumerate().map(|(at, &jobs)| (format!("up to {}%", (at + 1) * 10), jobs));
    for (name, jobs) in tenths.chain([("above 100%".to_string(), e.outlived)]) {
        table.row(vec![name.into(), count(jobs).into(), share(jobs).into(), bar(jobs, most).into()]);
    }
    table.row(vec!["exactly 100%".into(), count(e.exact).into(), share(e.exact).into(), "".into()]);
    table
}

/// Shares of the jobs of each status, down the parts of their estimates.
fn used_by_status(d: &WorkloadDescription) -> DocumentTable {
    let all = &d.estimates.by_status;
    let name = |status: LogStatus| match status {
        LogStatus::Completed => "completed",
        LogStatus::Failed => "failed",
        LogStatus::Cancelled => "cancelled",
        LogStatus::Partial => "partial",
        LogStatus::Unknown => "unknown",
    };
    let mut table =
        DocumentTable::new(std::iter::once("run time over estimate").chain(all.iter().map(|one| name(one.status))));
    let mut row = |of: String, jobs: &dyn Fn(&UsedByStatus) -> u64| {
        let share = |one: &UsedByStatus| percent(Some(jobs(one) as f64 / one.jobs as f64), 1).into();
        table.row(std::iter::once(of.into()).chain(all.iter().map(share)).collect());
    };
    for tenth in 0..10 {
        row(format!("up to {}%", (tenth + 1) * 10), &|one| one.used[tenth]);
    }
    row("above 100%".to_string(), &|one| one.outlived);
    row("exactly 100%".to_string(), &|one| one.exact);
    table.row(std::iter::once("jobs".into()).chain(all.iter().map(|one| count(one.jobs).into())).collect());
    table
}

fn bars(what: &str, names: impl Iterator<Item = String>, jobs: &[u64]) -> DocumentTable {
    let mut table = DocumentTable::new([what, "jobs", ""]).texts(&[0, 2]);
    let most = jobs.iter().copied().max().unwrap_or(0);
    for (name, &jobs) in names.zip(jobs) {
        table.row(vec![name.into(), count(jobs).into(), bar(jobs, most).into()]);
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
    document.heading(format!("Arrivals by {by}"));
    document.table(bars("week", (0..weeks.len()).step_by(together).map(name), &jobs));
}

fn users(d: &WorkloadDescription) -> DocumentTable {
    let mut table = DocumentTable::new(["user", "jobs", "share", "work"]);
    for user in &d.top_users {
        let name = if user.user == -1 { "unknown".to_string() } else { user.user.to_string() };
        table.row(vec![
            name.into(),
            count(user.jobs).into(),
            percent(Some(user.share), 1).into(),
            percent(user.work_share, 1).into(),
        ]);
    }
    table
}

/// Counts of kinds of names, and the kinds that no record names.
fn named_or_not(kinds: &[(u64, &str)]) -> String {
    let counted: Vec<String> = kinds.iter().filter(|kind| kind.0 > 0).map(|&(n, name)| plural(n, name)).collect();
    let missing: Vec<String> = kinds.iter().filter(|kind| kind.0 == 0).map(|kind| format!("{}s", kind.1)).collect();
    match (counted.is_empty(), missing.is_empty()) {
        (_, true) => counted.join(", "),
        (true, false) => format!("not recorded: {}", missing.join(", ")),
        (false, false) => format!("{}; not recorded: {}", counted.join(", "), missing.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_log_is_so_long_that_its_weeks_fill_screens() {
        let told = |weeks: &[u64]| {
            let mut document = Document::default();
            add_weeks(&mut document, weeks);
            document.plain()
        };
        // A heading, a blank line, the names of columns.
        assert_eq!(told(&[1; 60]).lines().count(), 3 + 60);
        let years = told(&[1; 62]);
        assert!(years.starts_with("Arrivals by 4 weeks\n"), "{years}");
        let rows: Vec<Vec<&str>> =
            years.lines().skip(3).map(|line| line.split_whitespace().take(4).collect()).collect();
        assert_eq!(
            (rows.len(), &rows[0][..], &rows[15][..3]),
            (16, &["1", "to", "4", "4"][..], &["61", "to", "62"][..])
        );
        assert_eq!(told(&[1; 61]).lines().last().and_then(|line| line.split_whitespace().next()), Some("61"));
        for weeks in [240, 241, 1_000, 99_999] {
            let lines = told(&vec![1; weeks]).lines().count();
            assert!((3 + 30..=3 + 60).contains(&lines), "{weeks}: {lines}");
        }
        assert!(told(&[1; 241]).starts_with("Arrivals by 8 weeks"));
    }
}
