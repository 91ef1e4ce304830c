//! `drystone live report`.

use super::home;
use crate::args::LiveReportArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{count, duration, percent, plural};
use crate::output::{self, Printable, message};
use drystone::policy::PolicySpec;
use drystone_live::journal::{self, JournalRecord};
use drystone_live::report::{ComparedMeans, LiveReport, ReportError, WaitPair, report as make};
use drystone_live::state::Home;
use serde::Serialize;
use std::path::Path;

pub(super) fn report(args: &LiveReportArgs) -> CommandOutcome {
    let home = home(&args.home);
    let journals = home.journals();
    let each = args.set.is_none() && journals.len() > 1 && args.format.for_people();
    let chosen = if each { journals } else { vec![(None, super::one_journal(&home, args.set.as_deref())?)] };
    let baseline = match &args.baseline {
        Some(baseline) => baseline.clone(),
        None => own_scheduler(&args.home.state),
    };
    let mut reports = Vec::new();
    for (set, folder) in chosen {
        let policy = match &args.policy {
            Some(policy) => policy.clone(),
            None => last_policy(&folder)?,
        };
        let mut report = match make(&folder, &policy, &baseline) {
            // One set that is too young does not keep the others back.
            Err(error @ ReportError::TooFew(_)) if each => {
                message::warning(&format!("{}: {error}", set.unwrap_or_default()));
                continue;
            }
            other => other.map_err(CommandFailure::usage)?,
        };
        if let Some(set) = set {
            report.cluster = format!("{}, partition {set}", report.cluster);
        }
        reports.push(report);
    }
    match &reports[..] {
        [report] => output::print(report, args.format)?,
        _ => output::print(&Each(reports), args.format)?,
    }
    Ok(DONE)
}

/// The site's own scheduler, by the configuration that the daemon noted; plain backfilling where
/// that is gone or cannot be simulated.
fn own_scheduler(state: &Path) -> PolicySpec {
    let plain = || "easy".parse().unwrap_or_else(|e| unreachable!("easy is a policy: {e}"));
    let Some(conf) = Home::noted_conf(state) else {
        message::note(
            "the cluster's slurm.conf is not known here, so that the baseline is easy; --baseline slurm:FILE names it",
        );
        return plain();
    };
    match format!("slurm:{}", conf.display()).parse() {
        Ok(policy) => policy,
        Err(error) => {
            message::warning(&format!("{} cannot be simulated, so that the baseline is easy: {error}", conf.display()));
            plain()
        }
    }
}

/// The policy of the last segment.
fn last_policy(folder: &Path) -> Result<PolicySpec, CommandFailure> {
    let segments = journal::segments(folder)?;
    for segment in segments.iter().rev() {
        if let Some(JournalRecord::Begin(begin)) = journal::entries(&segment.path)?.0.first() {
            return Ok(begin.policy.parse()?);
        }
    }
    Err(CommandFailure::usage(format_args!("{}: there is no journal here", folder.display())))
}

fn spread(value: f64, interval: Option<(f64, f64)>, shown: impl Fn(f64) -> String) -> String {
    let told = interval.map_or(String::new(), |(low, high)| format!(" ({} to {})", shown(low), shown(high)));
    format!("{}{told}", shown(value))
}

fn change(compared: &ComparedMeans) -> String {
    let signed = |value: f64| format!("{:+.1} %", value * 100.0);
    match compared.change {
        (Some(value), Some((low, high))) => {
            let unclear = if low <= 0.0 && high >= 0.0 { ", unclear" } else { "" };
            format!("{} ({} to {}{unclear})", signed(value), signed(low), signed(high))
        }
        (Some(value), None) => format!("{} (too few jobs for an interval)", signed(value)),
        (None, _) => "no ratio".to_string(),
    }
}

fn waits(heading: &str, rows: &[WaitPair], document: &mut Document) {
    if rows.is_empty() {
        return;
    }
    document.heading(heading);
    let mut table = DocumentTable::new(["job", "processors", "on the cluster", "baseline", "policy", "change"]);
    for row in rows {
        let time = |seconds: i64| duration(seconds as f64);
        let change = row.policy - row.baseline;
        let sign = if change < 0 { "−" } else { "+" };
        table.row(vec![
            row.job.to_string().into(),
            row.procs.to_string().into(),
            time(row.cluster).into(),
            time(row.baseline).into(),
            time(row.policy).into(),
            format!("{sign}{}", time(change.abs())).into(),
        ]);
    }
    document.table(table);
}

/// Reports on several sets of nodes, as tables one below the other.
#[derive(Serialize)]
struct Each(Vec<LiveReport>);

impl Printable for Each {
    fn document(&self) -> Document {
        let mut document = Document::default();
        self.0.iter().for_each(|report| tell(report, &mut document));
        document
    }

    /// Scripts search these lines.
    fn overview(&self) -> Option<Document> {
        None
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        self.0.iter().for_each(|report| add_rows(report, &mut rows));
        rows
    }
}

/// Adds a report to a document.
fn tell(report: &LiveReport, document: &mut Document) {
    let wait = |value| duration(value);
    let plain = |value: f64| format!("{value:.2}");
    let fact = |name: &str, value: String| (name.to_string(), value);
    document.heading(format!("{}: the same jobs under {}", report.cluster, report.policy));
    let (earlier, later, same) = report.moved;
    let mut facts = vec![
        fact(
            "jobs",
            format!("{} that ran and are over, in {}", count(report.jobs as u64), duration(report.span as f64)),
        ),
        fact("offered load", report.load.map_or_else(|| "none".into(), |load| format!("{load:.2}"))),
        fact("mean wait on the cluster", duration(report.cluster_wait)),
        fact(
            "mean wait, baseline",
            format!("{} under {}", spread(report.wait.baseline.0, report.wait.baseline.1, wait), report.baseline),
        ),
        fact("mean wait, policy", spread(report.wait.policy.0, report.wait.policy.1, wait)),
        fact("change of the mean wait", change(&report.wait)),
        fact("mean bounded slowdown, baseline", spread(report.slowdown.baseline.0, report.slowdown.baseline.1, plain)),
        fact("mean bounded slowdown, policy", spread(report.slowdown.policy.0, report.slowdown.policy.1, plain)),
        fact("change of the slowdown", change(&report.slowdown)),
        fact("starts that move", format!("{earlier} earlier, {later} later, {same} the same within a minute")),
    ];
    if let Some(predicted) = &report.predictions {
        facts.push(fact(
            "predictions of run times",
            format!(
                "{} learned; median {:.2} of the run time; off by {} on average (time limits: {}); {} too short",
                predicted.learned,
                predicted.median_ratio,
                duration(predicted.mean_error.0),
                duration(predicted.mean_error.1),
                percent(Some(predicted.too_short), 1)
            ),
        ));
    }
    if let Some(announced) = &report.announced {
        facts.push(fact(
            "announced starts",
            format!(
                "{}; off by {} on average; {} no later than announced",
                plural(announced.jobs as u64, "job"),
                duration(announced.mean_error),
                percent(Some(announced.in_time), 1)
            ),
        ));
    }
    document.facts(facts);
    let placed = if report.on_nodes { ", the policy on the nodes of the last daemon" } else { "" };
    document.text(format!(
            "Both schedulers are simulated on the jobs that the journal saw{placed}. Intervals: 95 %, from {} blocks of 50 jobs that follow \
             each other. If the baseline's mean wait differs much from the cluster's own, do not trust the comparison.",
            report.blocks
        ));
    waits("Jobs that would have gained most", &report.gains, document);
    waits("Jobs that would have lost most", &report.losses, document);
}

/// Adds one row for each measure.
fn add_rows(report: &LiveReport, rows: &mut FlatRows) {
    for (name, compared) in [("wait", &report.wait), ("bounded slowdown", &report.slowdown)] {
        let mut row = FlatRow::default();
        row.text("measure", name);
        row.text("policy", &report.policy);
        row.text("baseline", &report.baseline);
        row.number("baseline_mean", Some(compared.baseline.0));
        row.number("policy_mean", Some(compared.policy.0));
        row.number("change", compared.change.0);
        row.number("low", compared.change.1.map(|interval| interval.0));
        row.number("high", compared.change.1.map(|interval| interval.1));
        rows.push(row);
    }
}

impl Printable for LiveReport {
    fn document(&self) -> Document {
        let mut document = Document::default();
        tell(self, &mut document);
        document
    }

    /// Scripts search these lines.
    fn overview(&self) -> Option<Document> {
        None
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        add_rows(self, &mut rows);
        rows
    }
}
