//! Jobs that wait at the end of the records.

use crate::jobs::{JobMarks, SiteJobFate};
use crate::site::Site;
use drystone::model::SharedSort;
use serde::{Deserialize, Serialize};

/// The version of the format of the result.
pub const PENDING_SCHEMA: &str = "drystone/pending/1";

/// A job that waits. Times are seconds since 1970.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingJob {
    /// The job, as Slurm writes it.
    pub job: String,
    /// Tasks of its array for which it stands; 1 for a job by itself.
    pub tasks: u64,
    pub user: String,
    pub account: String,
    pub partition: String,
    pub qos: String,
    /// Processors that it asks for.
    pub cpus: Option<u32>,
    pub gpus: Option<u32>,
    /// Its limit in seconds.
    pub limit: u32,
    /// Beginning of its wait; `None` where it is not known.
    pub since: Option<i64>,
    /// Seconds that it has waited by the end of the records.
    pub waited: Option<i64>,
    /// Last reason that was recorded; empty where there is none.
    pub reason: String,
}

/// The jobs that wait at the end of the records of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingJobs {
    /// The format's version.
    pub schema: String,
    /// Name of the site and, where one is asked for, of the pool.
    pub site: String,
    pub time_zone: String,
    /// The end of the records; of an output of squeue its moment, 0 where that is not known.
    pub now: i64,
    /// Jobs of an output of squeue that do not wait; `None` for a site.
    pub running: Option<u64>,
    /// Those that have waited longest first.
    pub jobs: Vec<PendingJob>,
}

/// Returns the jobs that wait at the end of the records, of one pool if it is named.
///
/// Cost: O(n log n) for n jobs.
pub fn pending_jobs(site: &Site, pool: Option<u16>) -> PendingJobs {
    let now = site.manifest.window.until;
    let is_waiting = |job: &crate::site_job::SiteJob<'_>| {
        job.kind == SiteJobFate::Waiting && pool.is_none_or(|pool| job.pool == pool)
    };
    let pending_job = |job: crate::site_job::SiteJob<'_>| {
        let since = (!job.marks.has_mark(JobMarks::NO_SUBMIT)).then(|| super::wait_begin(&job));
        let reason = if job.reason.as_ref() == "None" { String::new() } else { job.reason.to_string() };
        PendingJob {
            job: job.display_name(),
            tasks: 1,
            user: job.user.to_string(),
            account: job.account.to_string(),
            partition: job.partition.to_string(),
            qos: job.qos.to_string(),
            cpus: job.cpus.or(job.asked_cpus),
            gpus: job.gpus,
            limit: job.limit,
            since,
            waited: since.map(|since| (now - since).max(0)),
            reason,
        }
    };
    let mut jobs: Vec<PendingJob> = site.jobs().filter(is_waiting).map(pending_job).collect();
    jobs.sort_shared_by(|a, b| b.waited.cmp(&a.waited));
    PendingJobs {
        schema: PENDING_SCHEMA.to_string(),
        site: super::waits_title(site, pool),
        time_zone: site.manifest.time_zone.clone(),
        now,
        running: None,
        jobs,
    }
}
