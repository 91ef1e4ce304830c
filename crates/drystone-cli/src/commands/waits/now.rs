//! `drystone waits --now`: the jobs that wait at the end of a site's records.

use crate::output::Printable;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{NONE, count, duration};
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

/// The jobs of one user.
#[derive(Default)]
struct UserSum {
    jobs: u64,
    cpus: u64,
    longest: Option<i64>,
    reasons: BTreeMap<String, u64>,
}

impl UserSum {
    fn add(&mut self, job: &PendingJob) {
        self.jobs += job.tasks;
        self.cpus += u64::from(job.cpus.unwrap_or(0)) * job.tasks;
        self.longest = self.longest.max(job.waited);
        *self.reasons.entry(job.reason.clone()).or_default() += job.tasks;
    }

    /// The reasons by number of jobs, the first of equals by name.
    fn reasons(&self) -> String {
        let mut all: Vec<(&String, &u64)> = self.reasons.iter().filter(|(reason, _)| !reason.is_empty()).collect();
        all.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let shown: Vec<String> = all.iter().take(2).map(|(reason, jobs)| format!("{reason} {jobs}")).collect();
        if shown.is_empty() { NONE.to_string() } else { shown.join(", ") }
    }
}

impl ShownPending {
    fn shown(&self) -> usize {
        self.top.unwrap_or(if self.whole { DETAILED } else { SHORT })
    }

    fn moment(&self, moment: Option<i64>) -> String {
        let zone = Zone::named(&self.pending.time_zone).unwrap_or_else(|_| Zone::utc());
        moment.map_or(NONE.to_string(), |moment| clock::minute(zone.civil(moment)))
    }

    /// Users, those with most jobs first.
    fn users(&self) -> DocumentTable {
        let mut users: BTreeMap<&str, UserSum> = BTreeMap::new();
        self.pending.jobs.iter().for_each(|job| users.entry(&job.user).or_default().add(job));
        let mut users: Vec<(&str, UserSum)> = users.into_iter().collect();
        users.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.jobs));
        let mut table = DocumentTable::new(["user", "jobs", "processors", "longest", "last reasons"]).texts(&[0, 4]);
        for (user, sum) in users.iter().take(self.shown()) {
            table.row(vec![
                or_none(user).into(),
                TableValue::count(sum.jobs),
                TableValue::count(sum.cpus),
                sum.longest.map_or(NONE.to_string(), |waited| duration(waited as f64)).into(),
                sum.reasons().into(),
            ]);
        }
        if let more @ 1.. = users.len().saturating_sub(self.shown()) {
            table.row(vec![format!("and {} more", count(more as u64)).into()]);
        }
        table
    }

    /// The jobs that have waited longest.
    fn jobs(&self) -> DocumentTable {
        let mut table = DocumentTable::new(["job", "user", "partition", "CPUs", "since", "waited", "last reason"])
            .texts(&[0, 1, 2, 4, 6]);
        for job in self.pending.jobs.iter().take(self.shown()) {
            table.row(vec![
                job.job.clone().into(),
                or_none(&job.user).into(),
                or_none(&job.partition).into(),
                job.cpus.map_or(NONE.to_string(), |cpus| count(u64::from(cpus))).into(),
                self.moment(job.since).into(),
                job.waited.map_or(NONE.to_string(), |waited| duration(waited as f64)).into(),
                or_none(&job.reason).into(),
            ]);
        }
        if let more @ 1.. = self.pending.jobs.len().saturating_sub(self.shown()) {
            table.row(vec![format!("and {} more", count(more as u64)).into()]);
        }
        table
    }
}

fn or_none(text: &str) -> String {
    if text.is_empty() { NONE.to_string() } else { text.to_string() }
}

impl Printable for ShownPending {
    fn document(&self) -> Document {
        let mut document = Document::default();
        let PendingJobs { site, time_zone, now, jobs, running, .. } = &self.pending;
        let jobs = match jobs.iter().map(|job| job.tasks).sum::<u64>() {
            1 => "1 job waits".to_string(),
            many => format!("{} jobs wait", count(many)),
        };
        let moment = if *now > 0 { self.moment(Some(*now)) } else { NONE.to_string() };
        match running {
            Some(others) if *now > 0 => {
                document.heading(format!("{jobs} in {site}, {moment}; {} run or end", count(*others)));
            }
            Some(others) => document.heading(format!("{jobs} in {site}; {} run or end", count(*others))),
            None => document.heading(format!("{jobs} at {site} at the end of its records, {moment} ({time_zone})")),
        };
        if self.pending.jobs.is_empty() {
            if running.is_none() {
                document.text("Import an accounting with pending jobs (sacct without --state) to see them.");
            }
            return document;
        }
        document.table(self.users());
        document.table(self.jobs());
        self.notes.iter().for_each(|note| document.text(note.clone()));
        if !self.whole && running.is_none() {
            document.text("More: --details   --top N   drystone explain SITE --job JOB");
        }
        document
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for job in &self.pending.jobs {
            let mut row = FlatRow::default();
            row.text("site", &self.pending.site);
            row.text("job", &job.job);
            row.text("tasks", job.tasks);
            row.text("user", &job.user);
            row.text("account", &job.account);
            row.text("partition", &job.partition);
            row.text("qos", &job.qos);
            row.number("cpus", job.cpus.map(f64::from));
            row.number("gpus", job.gpus.map(f64::from));
            row.text("limit_s", job.limit);
            row.text("since", job.since.map_or(String::new(), |since| since.to_string()));
            row.number("waited_s", job.waited.map(|waited| waited as f64));
            row.text("reason", &job.reason);
            rows.push(row);
        }
        rows
    }
}
