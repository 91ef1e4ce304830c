//! `drystone live report`.

use super::find_home;
use crate::args::LiveReportArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{format_count, format_duration, format_percent, format_plural};
use crate::output::{self, Printable, message};
use drystone::policy::PolicySpec;
use drystone_live::journal::{self, JournalRecord};
use drystone_live::report::{ComparedMeans, LiveReport, ReportError, WaitPair, report_journal as make};
use drystone_live::state::Home;
use serde::Serialize;
use std::path::Path;

pub(super) fn run_report(args: &LiveReportArgs) -> CommandOutcome {
    let home = find_home(&args.home);
    let journals = home.list_journals();
    let is_per_set = args.set.is_none() && journals.len() > 1 && args.format.for_people();
    let chosen_journals =
        if is_per_set { journals } else { vec![(None, super::one_journal(&home, args.set.as_deref())?)] };
    let baseline = match &args.baseline {
        Some(baseline) => baseline.clone(),
        None => own_scheduler(&args.home.state),
    };
    let mut reports = Vec::new();
    for (set, folder) in chosen_journals {
        let policy = match &args.policy {
            Some(policy) => policy.clone(),
            None => last_policy(&folder)?,
        };
        let mut report = match make(&folder, &policy, &baseline) {
            // One set that is too young does not keep the others back.
            Err(error @ ReportError::TooFew(_)) if is_per_set => {
                message::print_warning(&format!("{}: {error}", set.unwrap_or_default()));
                continue;
            }
            other => other.map_err(CommandFailure::usage_error)?,
        };
        if let Some(set) = set {
            report.cluster = format!("{}, partition {set}", report.cluster);
        }
        reports.push(report);
    }
    match &reports[..] {
        [report] => output::print_result(report, args.format)?,
        _ => output::print_result(&Each(reports), args.format)?,
    }
    Ok(DONE)
}

/// The site's own scheduler, by the configuration that the daemon noted; plain backfilling where
/// that is gone or cannot be simulated.
fn own_scheduler(state: &Path) -> PolicySpec {
    let plain = || "easy".parse().unwrap_or_else(|e| unreachable!("easy is a policy: {e}"));
    let Some(conf) = Home::noted_conf(state) else {
        message::print_note(
            "the cluster's slurm.conf is not known here, so that the baseline is easy; --baseline slurm:FILE names it",
        );
        return plain();
    };
    match format!("slurm:{}", conf.display()).parse() {
        Ok(policy) => policy,
        Err(error) => {
            message::print_warning(&format!(
                "{} cannot be simulated, so that the baseline is easy: {error}",
                conf.display()
            ));
            plain()
        }
    }
}

fn last_policy(folder: &Path) -> Result<PolicySpec, CommandFailure> {
    let segments = journal::list_segments(folder)?;
    for segment in segments.iter().rev() {
        if let Some(JournalRecord::Begin(begin)) = journal::read_entries(&segment.path)?.0.first() {
            return Ok(begin.policy.parse()?);
        }
    }
    Err(CommandFailure::usage_error(format_args!("{}: there is no journal here", folder.display())))
}

fn format_spread(value: f64, interval: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    let interval_text = interval.map_or(String::new(), |(low, high)| format!(" ({} to {})", show(low), show(high)));
    format!("{}{interval_text}", show(value))
}

fn format_change(means: &ComparedMeans) -> String {
    let format_signed = |value: f64| format!("{:+.1} %", value * 100.0);
    match means.change {
        (Some(value), Some((low, high))) => {
            let unclear = if low <= 0.0 && high >= 0.0 { ", unclear" } else { "" };
            format!("{} ({} to {}{unclear})", format_signed(value), format_signed(low), format_signed(high))
        }
        (Some(value), None) => format!("{} (too few jobs for an interval)", format_signed(value)),
        (None, _) => "no ratio".to_string(),
    }
}

fn append_waits(heading: &str, rows: &[WaitPair], document: &mut Document) {
    if rows.is_empty() {
        return;
    }
    document.add_heading(heading);
    let mut table = DocumentTable::new(["job", "processors", "on the cluster", "baseline", "policy", "change"]);
    for row in rows {
        let time = |seconds: i64| format_duration(seconds as f64);
        let change = row.policy - row.baseline;
        let sign = if change < 0 { "−" } else { "+" };
        table.add_row(vec![
            row.job.to_string().into(),
            row.procs.to_string().into(),
            time(row.cluster).into(),
            time(row.baseline).into(),
            time(row.policy).into(),
            format!("{sign}{}", time(change.abs())).into(),
        ]);
    }
    document.add_table(table);
}

/// Reports on several sets of nodes, as tables one below the other.
#[derive(Serialize)]
struct Each(Vec<LiveReport>);

impl Printable for Each {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        self.0.iter().for_each(|report| append_report(report, &mut document));
        document
    }

    /// Scripts search these lines.
    fn render_overview(&self) -> Option<Document> {
        None
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        self.0.iter().for_each(|report| add_rows(report, &mut rows));
        rows
    }
}

fn append_report(report: &LiveReport, document: &mut Document) {
    let wait = |value| format_duration(value);
    let plain = |value: f64| format!("{value:.2}");
    let fact = |name: &str, value: String| (name.to_string(), value);
    document.add_heading(format!("{}: the same jobs under {}", report.cluster, report.policy));
    let (earlier, later, same) = report.moved;
    let mut facts = vec![
        fact(
            "jobs",
            format!(
                "{} that ran and are over, in {}",
                format_count(report.jobs as u64),
                format_duration(report.span as f64)
            ),
        ),
        fact("offered load", report.load.map_or_else(|| "none".into(), |load| format!("{load:.2}"))),
        fact("mean wait on the cluster", format_duration(report.cluster_wait)),
        fact(
            "mean wait, baseline",
            format!(
                "{} under {}",
                format_spread(report.wait.baseline.0, report.wait.baseline.1, wait),
                report.baseline
            ),
        ),
        fact("mean wait, policy", format_spread(report.wait.policy.0, report.wait.policy.1, wait)),
        fact("change of the mean wait", format_change(&report.wait)),
        fact(
            "mean bounded slowdown, baseline",
            format_spread(report.slowdown.baseline.0, report.slowdown.baseline.1, plain),
        ),
        fact("mean bounded slowdown, policy", format_spread(report.slowdown.policy.0, report.slowdown.policy.1, plain)),
        fact("change of the slowdown", format_change(&report.slowdown)),
        fact("starts that move", format!("{earlier} earlier, {later} later, {same} the same within a minute")),
    ];
    if let Some(predictions) = &report.predictions {
        facts.push(fact(
            "predictions of run times",
            format!(
                "{} learned; median {:.2} of the run time; off by {} on average (time limits: {}); {} too short",
                predictions.learned,
                predictions.median_ratio,
                format_duration(predictions.mean_error.0),
                format_duration(predictions.mean_error.1),
                format_percent(Some(predictions.too_short), 1)
            ),
        ));
    }
    if let Some(starts) = &report.announced {
        facts.push(fact(
            "announced starts",
            format!(
                "{}; off by {} on average; {} no later than announced",
                format_plural(starts.jobs as u64, "job"),
                format_duration(starts.mean_error),
                format_percent(Some(starts.in_time), 1)
            ),
        ));
    }
    document.add_facts(facts);
    let placement_note = if report.on_nodes { ", the policy on the nodes of the last daemon" } else { "" };
    document.add_text(format!(
            "Both schedulers are simulated on the jobs that the journal saw{placement_note}. Intervals: 95 %, from {} blocks of 50 jobs that follow \
             each other. If the baseline's mean wait differs much from the cluster's own, do not trust the comparison.",
            report.blocks
        ));
    append_waits("Jobs that would have gained most", &report.gains, document);
    append_waits("Jobs that would have lost most", &report.losses, document);
}

/// Adds one row for each measure.
fn add_rows(report: &LiveReport, rows: &mut FlatRows) {
    for (name, means) in [("wait", &report.wait), ("bounded slowdown", &report.slowdown)] {
        let mut row = FlatRow::default();
        row.add_text("measure", name);
        row.add_text("policy", &report.policy);
        row.add_text("baseline", &report.baseline);
        row.add_number("baseline_mean", Some(means.baseline.0));
        row.add_number("policy_mean", Some(means.policy.0));
        row.add_number("change", means.change.0);
        row.add_number("low", means.change.1.map(|interval| interval.0));
        row.add_number("high", means.change.1.map(|interval| interval.1));
        rows.push(row);
    }
}

impl Printable for LiveReport {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        append_report(self, &mut document);
        document
    }

    /// Scripts search these lines.
    fn render_overview(&self) -> Option<Document> {
        None
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        add_rows(self, &mut rows);
        rows
    }
}
