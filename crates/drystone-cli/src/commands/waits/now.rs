//! `drystone waits --now`: the jobs that wait at the end of a site's records.

use crate::output::Printable;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{NONE, format_count, format_duration};
use drystone_site::clock::{self, Zone};
use drystone_site::waits::{PendingJob, PendingJobs};
use serde::Serialize;
use std::collections::BTreeMap;

/// Users and jobs that are shown.
const SHORT: usize = 8;
const DETAILED: usize = 50;

/// Jobs that wait, and how many of them are shown.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct ShownPending {
    pub(super) pending: PendingJobs,
    /// Facts that the source lacks.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) top: Option<usize>,
    #[serde(skip)]
    pub(super) whole: bool,
}

#[derive(Default)]
struct UserSum {
    jobs: u64,
    cpus: u64,
    longest: Option<i64>,
    reasons: BTreeMap<String, u64>,
}

impl UserSum {
    fn add_job(&mut self, job: &PendingJob) {
        self.jobs += job.tasks;
        self.cpus += u64::from(job.cpus.unwrap_or(0)) * job.tasks;
        self.longest = self.longest.max(job.waited);
        *self.reasons.entry(job.reason.clone()).or_default() += job.tasks;
    }

    /// The reasons by number of jobs, the first of equals by name.
    fn format_reasons(&self) -> String {
        let mut reason_counts: Vec<(&String, &u64)> =
            self.reasons.iter().filter(|(reason, _)| !reason.is_empty()).collect();
        reason_counts.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let shown_reasons: Vec<String> =
            reason_counts.iter().take(2).map(|(reason, jobs)| format!("{reason} {jobs}")).collect();
        if shown_reasons.is_empty() { NONE.to_string() } else { shown_reasons.join(", ") }
    }
}

impl ShownPending {
    fn shown_count(&self) -> usize {
        self.top.unwrap_or(if self.whole { DETAILED } else { SHORT })
    }

    fn format_moment(&self, moment: Option<i64>) -> String {
        let zone = Zone::from_name(&self.pending.time_zone).unwrap_or_else(|_| Zone::utc_zone());
        moment.map_or(NONE.to_string(), |moment| clock::format_minute(zone.civil_time(moment)))
    }

    /// Users, those with most jobs first.
    fn user_table(&self) -> DocumentTable {
        let mut users: BTreeMap<&str, UserSum> = BTreeMap::new();
        self.pending.jobs.iter().for_each(|job| users.entry(&job.user).or_default().add_job(job));
        let mut users: Vec<(&str, UserSum)> = users.into_iter().collect();
        users.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.jobs));
        let mut table =
            DocumentTable::new(["user", "jobs", "processors", "longest", "last reasons"]).with_text_columns(&[0, 4]);
        for (user, sum) in users.iter().take(self.shown_count()) {
            table.add_row(vec![
                or_none(user).into(),
                TableValue::from_count(sum.jobs),
                TableValue::from_count(sum.cpus),
                sum.longest.map_or(NONE.to_string(), |wait| format_duration(wait as f64)).into(),
                sum.format_reasons().into(),
            ]);
        }
        if let more @ 1.. = users.len().saturating_sub(self.shown_count()) {
            table.add_row(vec![format!("and {} more", format_count(more as u64)).into()]);
        }
        table
    }

    /// The jobs that have waited longest.
    fn job_table(&self) -> DocumentTable {
        let mut table = DocumentTable::new(["job", "user", "partition", "CPUs", "since", "waited", "last reason"])
            .with_text_columns(&[0, 1, 2, 4, 6]);
        for job in self.pending.jobs.iter().take(self.shown_count()) {
            table.add_row(vec![
                job.job.clone().into(),
                or_none(&job.user).into(),
                or_none(&job.partition).into(),
                job.cpus.map_or(NONE.to_string(), |cpus| format_count(u64::from(cpus))).into(),
                self.format_moment(job.since).into(),
                job.waited.map_or(NONE.to_string(), |wait| format_duration(wait as f64)).into(),
                or_none(&job.reason).into(),
            ]);
        }
        if let more @ 1.. = self.pending.jobs.len().saturating_sub(self.shown_count()) {
            table.add_row(vec![format!("and {} more", format_count(more as u64)).into()]);
        }
        table
    }
}

fn or_none(text: &str) -> String {
    if text.is_empty() { NONE.to_string() } else { text.to_string() }
}

impl Printable for ShownPending {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        let PendingJobs { site, time_zone, now, jobs, running, .. } = &self.pending;
        let jobs = match jobs.iter().map(|job| job.tasks).sum::<u64>() {
            1 => "1 job waits".to_string(),
            many => format!("{} jobs wait", format_count(many)),
        };
        let moment = if *now > 0 { self.format_moment(Some(*now)) } else { NONE.to_string() };
        match running {
            Some(other_jobs) if *now > 0 => {
                document.add_heading(format!("{jobs} in {site}, {moment}; {} run or end", format_count(*other_jobs)));
            }
            Some(other_jobs) => {
                document.add_heading(format!("{jobs} in {site}; {} run or end", format_count(*other_jobs)))
            }
            None => document.add_heading(format!("{jobs} at {site} at the end of its records, {moment} ({time_zone})")),
        };
        if self.pending.jobs.is_empty() {
            if running.is_none() {
                document.add_text("Import an accounting with pending jobs (sacct without --state) to see them.");
            }
            return document;
        }
        document.add_table(self.user_table());
        document.add_table(self.job_table());
        self.notes.iter().for_each(|note| document.add_text(note.clone()));
        if !self.whole && running.is_none() {
            document.add_text("More: --details   --top N   drystone explain SITE --job JOB");
        }
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for job in &self.pending.jobs {
            let mut row = FlatRow::default();
            row.add_text("site", &self.pending.site);
            row.add_text("job", &job.job);
            row.add_text("tasks", job.tasks);
            row.add_text("user", &job.user);
            row.add_text("account", &job.account);
            row.add_text("partition", &job.partition);
            row.add_text("qos", &job.qos);
            row.add_number("cpus", job.cpus.map(f64::from));
            row.add_number("gpus", job.gpus.map(f64::from));
            row.add_text("limit_s", job.limit);
            row.add_text("since", job.since.map_or(String::new(), |since| since.to_string()));
            row.add_number("waited_s", job.waited.map(|wait| wait as f64));
            row.add_text("reason", &job.reason);
            rows.push(row);
        }
        rows
    }
}
