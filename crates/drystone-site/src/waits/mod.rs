//! Recorded waits of a site, before any simulation: by user, length, time and reason.
//!
//! A wait counts from the moment at which a job was eligible, else from its submission, to its
//! start. Jobs of which the submission is unknown have none.

mod causes;
mod classes;
mod efficiency;
mod pending;
mod week;

pub(crate) use causes::limit_seconds;
pub use causes::{WaitCause, WaitCauseKind};
pub use classes::GroupProperty;
pub use efficiency::{
    EFFICIENCY_SCHEMA, EfficiencyFigures, EfficiencyGroup, SiteEfficiency, UsedAmount, measure_efficiency,
};
pub use pending::{PENDING_SCHEMA, PendingJob, PendingJobs, pending_jobs};
pub use week::HoursOfWeek;

use crate::clock::{self, Zone};
use crate::jobs::{JobMarks, SiteJobFate};
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::SharedSort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format of the result.
pub const WAITS_SCHEMA: &str = "drystone/waits/1";

/// Number of the longest waits named.
const NAMED: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct WaitsOptions {
    /// Properties by which jobs are divided.
    pub by: Vec<GroupProperty>,
    /// Only jobs that began to wait at this moment or later, in seconds since 1970.
    pub since: Option<i64>,
    /// Only jobs that began to wait before this moment.
    pub until: Option<i64>,
    /// Only this pool.
    pub pool: Option<u16>,
}

/// Figures of the waits of some jobs. Spans are in seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WaitFigures {
    /// Jobs that started and whose wait is known.
    pub jobs: u64,
    pub mean: Option<f64>,
    /// Wait that half of the jobs do not exceed.
    pub median: Option<f64>,
    /// Wait that 95 of 100 jobs do not exceed.
    pub p95: Option<f64>,
    pub longest: Option<f64>,
    /// Processors times hours of these jobs.
    pub core_hours: f64,
    /// Share that waited for more than an hour.
    pub over_hour: Option<f64>,
    /// Share that waited for more than a day.
    pub over_day: Option<f64>,
    /// Waits and run times of all, divided by the run times of all.
    pub expansion: Option<f64>,
}

/// Figures of the jobs that have something in common.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WaitGroup {
    /// Common value.
    pub name: String,
    pub figures: WaitFigures,
}

/// All groups by one property.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WaitDivision {
    pub by: GroupProperty,
    /// Its values, in their own order, else those with most core-hours first.
    pub groups: Vec<WaitGroup>,
}

/// A calendar month in the zone of the site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Month {
    /// `2026-01`.
    pub name: String,
    /// Waits of the jobs that began to wait in it.
    pub figures: WaitFigures,
    /// Change of the median against the month before, in seconds.
    pub median_change: Option<f64>,
    /// Change of the mean, in seconds.
    pub mean_change: Option<f64>,
}

/// One of the longest waits. Times are seconds since 1970.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LongWait {
    /// The job, as Slurm writes it.
    pub job: String,
    pub user: String,
    pub account: String,
    pub partition: String,
    pub cpus: Option<u32>,
    pub nodes: Option<u32>,
    /// Beginning of its wait.
    pub eligible: i64,
    pub start: i64,
    /// Seconds that it waited.
    pub wait: i64,
    /// The last reason that was recorded; empty where there is none.
    pub reason: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteWaits {
    /// The format's version.
    pub schema: String,
    /// Name of the site and, where one is asked for, of the pool.
    pub site: String,
    /// The zone of hours, days and months.
    pub time_zone: String,
    /// Jobs that began to wait from here on, in seconds since 1970.
    pub from: i64,
    /// Jobs that began to wait before.
    pub until: i64,
    pub jobs: u64,
    /// Those that never started.
    pub never_started: u64,
    /// Those that waited when the records end.
    pub still_waiting: u64,
    /// Those that started, and of which the submission is unknown.
    pub unknown: u64,
    pub all: WaitFigures,
    /// Seconds that all of these jobs waited.
    pub seconds: f64,
    /// Causes of these seconds, the largest first.
    pub causes: Vec<WaitCause>,
    /// True if the accounting has a reason of any job; without one, causes are inferred.
    pub has_reasons: bool,
    /// Jobs whose wait began before or after the time in question; they are in no figure.
    pub outside: OutsideWaits,
    /// Waits by properties.
    pub divisions: Vec<WaitDivision>,
    /// Queue and use by the hour of the week.
    pub week: HoursOfWeek,
    pub longest: Vec<LongWait>,
    pub months: Vec<Month>,
    /// Questions left open, with reasons.
    pub notes: Vec<String>,
}

/// Waits that a choice of time leaves out.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct OutsideWaits {
    /// Jobs that started.
    pub jobs: u64,
    /// Mean wait of all jobs, these among them.
    pub mean: Option<f64>,
    /// Median of all jobs, these among them.
    pub median: Option<f64>,
}

/// A job as far as its wait matters.
#[derive(Clone, Copy)]
struct WaitedJob {
    wait: f64,
    run: f64,
    core_hours: f64,
}

/// Returns the beginning of a job's wait: throttled tasks of arrays arrive later in a simulation,
/// and waited here.
fn wait_begin(job: &SiteJob<'_>) -> i64 {
    job.eligible.unwrap_or(job.submit).max(job.submit)
}

/// The waits that a site recorded.
///
/// Cost: O(n log n) for n jobs.
pub fn measure_waits(site: &Site, question: &WaitsOptions) -> SiteWaits {
    let manifest = &site.manifest;
    let zone = Zone::from_name(&manifest.time_zone).unwrap_or_else(|_| Zone::utc_zone());
    let from = question.since.unwrap_or(manifest.window.from);
    let until = question.until.unwrap_or(manifest.window.until.saturating_add(1));
    let mut waits = SiteWaits {
        schema: WAITS_SCHEMA.to_string(),
        site: waits_title(site, question.pool),
        time_zone: zone.name().to_string(),
        from,
        until,
        jobs: 0,
        never_started: 0,
        still_waiting: 0,
        unknown: 0,
        all: WaitFigures::default(),
        seconds: 0.0,
        causes: Vec::new(),
        has_reasons: false,
        outside: OutsideWaits::default(),
        divisions: Vec::new(),
        week: week::measure_week(site, question.pool, &zone, (from, until.min(manifest.window.until))),
        longest: Vec::new(),
        months: Vec::new(),
        notes: Vec::new(),
    };
    let mut waited_jobs: Vec<WaitedJob> = Vec::new();
    let mut divisions: Vec<classes::GatheredGroups> =
        question.by.iter().map(|&by| classes::GatheredGroups::new(by)).collect();
    let mut months: BTreeMap<String, Vec<WaitedJob>> = BTreeMap::new();
    let mut spans: Vec<(usize, i64, i64)> = Vec::new();
    let mut outside: Vec<WaitedJob> = Vec::new();
    for (at, job) in site.jobs().enumerate().filter(|(_, job)| question.pool.is_none_or(|pool| job.pool == pool)) {
        let begins = wait_begin(&job);
        waits.has_reasons |= has_reason(&job);
        if begins < from || begins >= until {
            let start = job.start.filter(|_| job.kind.has_start() && !job.marks.has_mark(JobMarks::NO_SUBMIT));
            outside.extend(start.map(|start| WaitedJob::from_job(&job, start - begins, manifest.window.until)));
            continue;
        }
        waits.jobs += 1;
        match job.kind {
            SiteJobFate::Withdrawn => waits.never_started += 1,
            SiteJobFate::Waiting => waits.still_waiting += 1,
            SiteJobFate::Ran | SiteJobFate::Running => {}
        }
        let Some(start) = job.start.filter(|_| job.kind.has_start()) else { continue };
        if job.marks.has_mark(JobMarks::NO_SUBMIT) {
            waits.unknown += 1;
            continue;
        }
        let waited_job = WaitedJob::from_job(&job, start - begins, manifest.window.until);
        waited_jobs.push(waited_job);
        divisions.iter_mut().for_each(|division| division.add_job(&job, &zone, waited_job));
        months.entry(clock::format_moment(zone.civil_time(begins))[..7].to_string()).or_default().push(waited_job);
        spans.push((at, begins, start));
    }
    waits.all = WaitFigures::from_jobs(&mut waited_jobs);
    waits.seconds = waited_jobs.iter().map(|job| job.wait).sum();
    waits.causes = causes::wait_causes(site, &spans, waits.has_reasons);
    waits.outside = OutsideWaits::from_outside(outside, waited_jobs);
    waits.divisions = divisions.into_iter().map(classes::GatheredGroups::finish_division).collect();
    waits.months = in_months(months);
    let mut longest: Vec<(i64, usize)> = spans.iter().map(|&(at, begin, start)| (start - begin, at)).collect();
    longest.sort_shared_by_key(|&(wait, at)| (std::cmp::Reverse(wait), at));
    waits.longest = longest.iter().take(NAMED).map(|&(wait, at)| LongWait::from_job(&site.job_at(at), wait)).collect();
    waits.notes = list_notes(&waits);
    waits
}

/// The recorded wait of one job with its causes, the largest first. Times are seconds since 1970.
#[derive(Clone, PartialEq, Debug)]
pub struct JobWaitCauses {
    pub since: i64,
    /// Its start, or the end of the records where it waits still.
    pub until: i64,
    pub causes: Vec<WaitCause>,
    /// True if the accounting has reasons; else causes are inferred.
    pub has_reasons: bool,
}

/// Returns what a job waited for; `None` where it did not wait, or its submission is unknown.
///
/// Cost: O(n log n) for n jobs of the site.
pub fn job_causes(site: &Site, at: usize) -> Option<JobWaitCauses> {
    let job = site.job_at(at);
    let until = match job.kind {
        SiteJobFate::Waiting => site.manifest.window.until,
        SiteJobFate::Withdrawn => job.end?,
        SiteJobFate::Ran | SiteJobFate::Running => job.start?,
    };
    let since = wait_begin(&job);
    if job.marks.has_mark(JobMarks::NO_SUBMIT) || until <= since {
        return None;
    }
    let has_reasons = site.jobs().any(|job| has_reason(&job));
    let causes = causes::wait_causes(site, &[(at, since, until)], has_reasons);
    Some(JobWaitCauses { since, until, causes, has_reasons })
}

fn has_reason(job: &SiteJob<'_>) -> bool {
    !matches!(job.reason.as_ref(), "" | "None")
}

fn waits_title(site: &Site, pool: Option<u16>) -> String {
    let cluster = if site.manifest.cluster.is_empty() { "site" } else { &site.manifest.cluster };
    match pool {
        Some(pool) => format!("{cluster}, pool {}", site.manifest.pools[usize::from(pool)].name),
        None => cluster.to_string(),
    }
}

impl OutsideWaits {
    fn from_outside(outside: Vec<WaitedJob>, mut entries: Vec<WaitedJob>) -> OutsideWaits {
        if outside.is_empty() {
            return OutsideWaits::default();
        }
        let jobs = outside.len() as u64;
        entries.extend(outside);
        let WaitFigures { mean, median, .. } = WaitFigures::from_jobs(&mut entries);
        OutsideWaits { jobs, mean, median }
    }
}

impl WaitedJob {
    fn from_job(job: &SiteJob<'_>, wait: i64, now: i64) -> WaitedJob {
        let ran = match (job.run, job.start) {
            (Some(run), _) => i64::from(run),
            (None, Some(start)) => now - start,
            (None, None) => 0,
        };
        let run = ran.max(0) as f64;
        WaitedJob { wait: wait.max(0) as f64, run, core_hours: f64::from(job.cpus.unwrap_or(0)) * run / 3_600.0 }
    }
}

impl WaitFigures {
    /// Of the waits of these jobs, which it puts in order. A quantile is the least wait that so
    /// large a part of the jobs does not exceed.
    fn from_jobs(jobs: &mut [WaitedJob]) -> WaitFigures {
        jobs.sort_unstable_by(|a, b| a.wait.total_cmp(&b.wait));
        let count = jobs.len();
        let quantile = |share: f64| jobs.get(((share * count as f64).ceil() as usize).max(1) - 1).map(|job| job.wait);
        let longer = |than: f64| {
            (count > 0).then(|| (count - jobs.partition_point(|job| job.wait <= than)) as f64 / count as f64)
        };
        let (wait, run): (f64, f64) = (jobs.iter().map(|j| j.wait).sum(), jobs.iter().map(|j| j.run).sum());
        WaitFigures {
            jobs: count as u64,
            mean: (count > 0).then(|| wait / count as f64),
            median: quantile(0.5),
            p95: quantile(0.95),
            longest: jobs.last().map(|job| job.wait),
            core_hours: jobs.iter().map(|job| job.core_hours).sum(),
            over_hour: longer(3_600.0),
            over_day: longer(86_400.0),
            expansion: (run > 0.0).then(|| (wait + run) / run),
        }
    }
}

impl LongWait {
    fn from_job(job: &SiteJob<'_>, wait: i64) -> LongWait {
        LongWait {
            job: job.display_name(),
            user: job.user.to_string(),
            account: job.account.to_string(),
            partition: job.partition.to_string(),
            cpus: job.cpus,
            nodes: job.nodes,
            eligible: wait_begin(job),
            start: job.start.unwrap_or(0),
            wait,
            reason: if matches!(job.reason.as_ref(), "None" | "") { String::new() } else { job.reason.to_string() },
        }
    }
}

fn in_months(months: BTreeMap<String, Vec<WaitedJob>>) -> Vec<Month> {
    let mut monthly_waits: Vec<Month> = Vec::with_capacity(months.len());
    for (name, mut jobs) in months {
        let figures = WaitFigures::from_jobs(&mut jobs);
        let change = |now: Option<f64>, before: Option<f64>| Some(now? - before?);
        let before = monthly_waits.last().map(|month| month.figures.clone()).unwrap_or_default();
        let median_change = change(figures.median, before.median);
        let mean_change = change(figures.mean, before.mean);
        monthly_waits.push(Month { name, figures, median_change, mean_change });
    }
    monthly_waits
}

/// Lists the questions left open.
fn list_notes(waits: &SiteWaits) -> Vec<String> {
    let mut notes = Vec::new();
    if waits.unknown > 0 && waits.all.jobs == 0 {
        notes.push(
            "The accounting has no times of submission: nothing can be said of waits. Import it with the column Submit."
                .to_string(),
        );
    } else if waits.unknown > 0 {
        notes.push(match waits.unknown {
            1 => "The submission of 1 job is unknown: it is in no figure of waits.".to_string(),
            many => format!("The submission of {many} jobs is unknown: they are in no figure of waits."),
        });
    }
    if waits.still_waiting > 0 {
        let (jobs, waits) = match waits.still_waiting {
            1 => ("1 job still waits".to_string(), "its wait is"),
            many => (format!("{many} jobs still wait"), "their waits are"),
        };
        notes.push(format!("{jobs} at the end of the records; {waits} longer than any figure here says, and in none."));
    }
    notes
}
