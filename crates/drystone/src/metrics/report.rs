//! Results of a collector, ready to print or to write to a file.

use super::category::Scheme;
use super::classes::JobClass;
use super::disruptions::Disruptions;
use super::excess::ExcessiveWait;
use super::fairness::Fairness;
use super::machine::{MachineUse, QueueUse};
use super::measures::{Defined, MEASURES, Measure, Measures};
use super::predictability::Predictability;
use super::resources::ResourceUse;
use super::row::JobRow;
use super::selection::{JobSelection, Trimmed};
use super::sizes::SizeReport;
use crate::model::{EndedJob, How, JobId, SharedSort};
use serde::{Deserialize, Serialize};

/// Everything measured in one simulation. Job metrics are over the jobs that the selection keeps;
/// the use of the machine and the queue are over all jobs.
///
/// ```
/// use drystone::experiment::Experiment;
/// use drystone::generate::{Params, generate_workload};
/// use drystone::policy::PolicySpec;
///
/// let workload = generate_workload(&Params { seed: 1, load: Some(0.9), ..Params::new(32, 300) })?;
/// let policy: PolicySpec = "easy".parse()?;
/// let report = Experiment::new(&policy, &workload).run(&mut ())?.expect("nothing stops it").report;
///
/// let wait = &report.measures.wait;
/// assert_eq!(wait.count, 300);
/// assert!(wait.median <= wait.p90 && wait.p90 <= wait.max);
/// assert!(report.machine.utilisation.is_some_and(|share| share > 0.0 && share <= 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Selection of the jobs that count.
    pub selection: JobSelection,
    /// Number of these jobs, and of those dropped.
    pub trimmed: Trimmed,
    /// Wait, response and slowdowns over the jobs that count.
    pub measures: Measures,
    /// The worst job by each measure; the first handled among equals. Empty without jobs.
    pub worst: Vec<WorstCase>,
    /// Utilisation, makespan, throughput.
    pub machine: MachineUse,
    /// Use of resources beyond processors; empty where none are counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceUse>,
    /// Sizes of jobs and power; `None` where every job has one size and power is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeReport>,
    /// Queue length and loss of capacity; `None` where the collector saw no instants.
    pub queue: Option<QueueUse>,
    /// Suspensions.
    pub suspensions: Suspensions,
    /// Jobs that were ended before their time.
    #[serde(default, skip_serializing_if = "Kills::is_none")]
    pub kills: Kills,
    /// Effects of outages and circumstances; `None` where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disruptions: Option<Disruptions>,
    /// Predictions and reservations; `None` where not asked for.
    pub predictability: Option<Predictability>,
    /// Waits beyond each threshold asked for.
    pub excessive: Vec<ExcessiveWait>,
    /// Spread of slowdowns; `None` unless requested.
    pub fairness: Option<Fairness>,
    /// The measures by category, for each scheme asked for.
    pub categories: Vec<Categorised>,
    /// Sums per week of submit, ascending: what comparisons draw from. Empty where not asked for.
    pub weeks: Vec<MeasuredWeek>,
    /// Sums per part, where parts of the workload were simulated apart, numbered from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<MeasuredWeek>,
    /// Classes of run time and width; empty where not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<JobClass>,
    /// One row per simulated job, in order of arrival, counted or not; `None` where not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<JobRow>>,
    /// Rows of jobs that outages ended for good, in order of arrival: no measure counts them. Empty
    /// where rows were not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<JobRow>,
}

impl Report {
    /// Returns the report without its rows of jobs.
    #[must_use]
    pub fn without_jobs(mut self) -> Report {
        (self.jobs, self.lost) = (None, Vec::new());
        self.sizes.iter_mut().for_each(|sizes| sizes.jobs.clear());
        self
    }

    /// Takes out a row for every job that has ended, lost ones among them, in order of arrival;
    /// `None` where rows were not asked for.
    pub fn take_schedule(&mut self) -> Option<Vec<JobRow>> {
        let mut rows = self.jobs.take()?;
        let lost_rows = std::mem::take(&mut self.lost);
        if !lost_rows.is_empty() {
            rows.extend(lost_rows);
            rows.sort_shared_by_key(|row| row.id);
        }
        Some(rows)
    }
}

/// The job with the largest value of a measure.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorstCase {
    /// Measure summarised.
    pub measure: Measure,
    /// Its value.
    pub value: f64,
    /// The job's position in the order of arrival.
    pub id: JobId,
    /// The log's number of the job.
    pub number: i64,
}

/// Number of suspensions.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Suspensions {
    /// All suspensions of all jobs that count.
    pub total: u64,
    /// Jobs suspended at least once.
    pub jobs: u64,
    /// Suspensions per job that counts; `None` without jobs.
    pub mean: Option<f64>,
    /// Most suspensions of one job.
    pub max: u32,
}

/// Jobs that count and were ended before their time: at their limit, by the policy, or by people.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Kills {
    /// Jobs that were ended because they had run as long as they were allowed to.
    pub at_limit: u64,
    /// Jobs that the policy, their user or an operator ended.
    pub cancelled: u64,
    /// Processor-seconds that all of them had run: work thrown away.
    pub work: f64,
}

impl Kills {
    /// True if there are none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.at_limit + self.cancelled == 0
    }

    pub(super) fn take_job(&mut self, job_end: &EndedJob<'_>) {
        let kill_counter = match job_end.outcome.how {
            How::AtLimit => &mut self.at_limit,
            How::Cancelled => &mut self.cancelled,
            How::Completed | How::MachineFailed | How::NotStarted => return,
        };
        *kill_counter += 1;
        self.work += job_end.outcome.ran.as_f64() * f64::from(job_end.job.procs);
    }
}

/// The jobs of a report sorted by one scheme.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Categorised {
    /// The scheme.
    pub scheme: Scheme,
    /// Categories that have a job, in ascending order of their keys.
    pub categories: Vec<Category>,
}

impl Categorised {
    /// The category with this key, if it has a job. O(log categories).
    #[must_use]
    pub fn get(&self, key: i64) -> Option<&Category> {
        let at = self.categories.binary_search_by_key(&key, |category| category.key).ok()?;
        self.categories.get(at)
    }
}

/// One category.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Category {
    /// Its key: class number, user, group, queue, month or week number.
    pub key: i64,
    /// Name for people.
    pub name: String,
    /// The measures of its jobs.
    pub measures: Measures,
}

/// Sums of the measures of the jobs that count and were submitted in one week.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MeasuredWeek {
    /// Number of the week, counted from the first submit of the workload in the log's own times;
    /// the first is 0. Of up to ten weeks, a last one of under half a week belongs to the one
    /// before.
    pub week: i64,
    /// Jobs.
    pub jobs: u64,
    /// Jobs that have a slowdown: those that ran for more than 0 s.
    pub slowdown_jobs: u64,
    /// Sums per measure, in the order of [`Measure::ALL`].
    pub sums: [f64; MEASURES],
}

impl MeasuredWeek {
    /// Sum of a measure over the jobs of the week, and the number of jobs that have it.
    #[must_use]
    pub fn sum(&self, measure: Measure) -> (f64, u64) {
        let jobs = match measure.defined_jobs() {
            Defined::Always => self.jobs,
            Defined::WhereItRan => self.slowdown_jobs,
        };
        (self.sums[measure as usize], jobs)
    }
}
