//! Description of a workload for people: number of jobs and users, sizes, run times, accuracy of
//! estimates, arrivals.

use crate::metrics::{Calendar, Distribution, Summary};
use crate::model::{Job, LogStatus, Procs, SharedSort, Span, Time, Truth, UNKNOWN, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of modal estimates and users listed.
const LISTED: usize = 10;
/// Upper borders of the classes of run times and estimates, inclusive, in seconds.
const TIMES: [i64; 12] = [0, 10, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400];

/// A workload described.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorkloadDescription {
    /// Processors of the machine.
    pub procs: Procs,
    /// Number of jobs.
    pub jobs: u64,
    /// First submit.
    pub first_submit: Time,
    /// Last submit.
    pub last_submit: Time,
    /// Last − first submit.
    pub span: Span,
    /// Offered load: see [`Workload::offered_load`].
    pub load: Option<f64>,
    /// Processor-seconds of all jobs.
    pub work: f64,
    /// Number of different users, known ones only; likewise the next four.
    pub users: u64,
    /// Groups.
    pub groups: u64,
    /// Executables.
    pub executables: u64,
    /// Queues.
    pub queues: u64,
    /// Partitions.
    pub partitions: u64,
    /// Ways in which jobs ended.
    pub status: Statuses,
    /// Sizes.
    pub sizes: JobSizes,
    /// Run times.
    pub run_times: JobTimes,
    /// Estimates.
    pub estimates: Estimates,
    /// Arrivals.
    pub arrivals: ArrivalTimes,
    /// The users with the most jobs, most first, the smaller number among equals.
    pub top_users: Vec<UserShare>,
}

/// Number of jobs by the way in which they ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)] // The names are those of `Status`, which says what each means.
pub struct Statuses {
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub partial: u64,
    pub unknown: u64,
}

/// A class of a histogram: values above `above` up to and including `up_to`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HistogramClass {
    /// Lower border, exclusive; `None` for no border.
    pub above: Option<i64>,
    /// Upper border, inclusive; `None` for no border.
    pub up_to: Option<i64>,
    /// Number of jobs.
    pub jobs: u64,
    /// Their share of all jobs.
    pub share: f64,
    /// Their share of all work; `None` without work.
    pub work_share: Option<f64>,
}

/// Processors per job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobSizes {
    /// Summary.
    pub summary: Summary,
    /// Share of jobs on one processor.
    pub serial_share: f64,
    /// Share of jobs whose size is a power of two, 1 included.
    pub power_of_two_share: f64,
    /// By powers of two.
    pub histogram: Vec<HistogramClass>,
}

/// Times in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobTimes {
    /// Summary.
    pub summary: Summary,
    /// By classes from a second to a day.
    pub histogram: Vec<HistogramClass>,
}

/// Estimates and how good they are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimates {
    /// Summary, in seconds.
    pub summary: Summary,
    /// By classes from a second to a day.
    pub histogram: Vec<HistogramClass>,
    /// Number of different values.
    pub distinct: u64,
    /// The most frequent values, most frequent first, the smaller among equals.
    pub modes: Vec<FrequentEstimate>,
    /// Accuracy: the smaller of run time and estimate over the larger.
    pub accuracy: Summary,
    /// Share of run time in the estimate, in tenths: up to 0.1, up to 0.2, … up to 1; jobs that
    /// outlive it are not here.
    pub used: [u64; 10],
    /// Jobs that ran exactly as long as estimated; the last tenth includes them.
    pub exact: u64,
    /// Jobs that outlived their estimate.
    pub outlived: u64,
    /// Shares of run time in the estimate by status, for each status that a job has.
    pub by_status: Vec<UsedByStatus>,
}

/// Share of run time in the estimate, of the jobs of one status.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct UsedByStatus {
    /// The status.
    pub status: LogStatus,
    /// Jobs that have it.
    pub jobs: u64,
    /// Share of run time in the estimate, in tenths, as in [`Estimates::used`].
    pub used: [u64; 10],
    /// Jobs that ran exactly as long as estimated.
    pub exact: u64,
    /// Jobs that outlived their estimate.
    pub outlived: u64,
}

impl UsedByStatus {
    fn new(status: LogStatus) -> UsedByStatus {
        UsedByStatus { status, jobs: 0, used: [0; 10], exact: 0, outlived: 0 }
    }

    fn count_job(&mut self, estimate: Span, run: Span) {
        self.jobs += 1;
        self.exact += u64::from(run == estimate);
        if run > estimate {
            self.outlived += 1;
        } else {
            // Up to a tenth, two tenths, …: exactly, in whole numbers. 0 of 0 seconds is all of it.
            let tenth = if estimate == Span::ZERO { 10 } else { (run.0 * 10 + estimate.0 - 1) / estimate.0 };
            self.used[(tenth.clamp(1, 10) - 1) as usize] += 1;
        }
    }
}

/// A frequent estimate.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct FrequentEstimate {
    /// In seconds.
    pub estimate: Span,
    /// Number of jobs.
    pub jobs: u64,
    /// Their share of all jobs.
    pub share: f64,
}

/// Arrival times of jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArrivalTimes {
    /// Time between one submit and the next, in seconds.
    pub gaps: Summary,
    /// True if hours and days are those of the log's calendar; otherwise they are counted from its
    /// time zero.
    pub calendar: bool,
    /// Time zone, if so: see [`Calendar::zone_name`].
    pub zone: Option<String>,
    /// Jobs per hour of the day, from midnight.
    pub hours: [u64; 24],
    /// Jobs per day of the week, from Monday; without a calendar from the first day of the log.
    pub weekdays: [u64; 7],
    /// Jobs per week, counted from the first submit.
    pub weeks: Vec<u64>,
}

/// A user's part.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct UserShare {
    /// The user, or −1 for all jobs whose user is unknown.
    pub user: i32,
    /// Number of jobs.
    pub jobs: u64,
    /// Their share of all jobs.
    pub share: f64,
    /// Their share of all work; `None` without work.
    pub work_share: Option<f64>,
}

/// Counts jobs and their work by class.
struct WorkHistogram<'a> {
    borders: &'a [i64],
    counts: Vec<(u64, f64)>,
}

impl<'a> WorkHistogram<'a> {
    /// Borders are inclusive, ascending.
    fn new(borders: &'a [i64]) -> WorkHistogram<'a> {
        WorkHistogram { borders, counts: vec![(0, 0.0); borders.len() + 1] }
    }

    fn add_value(&mut self, value: i64, work: f64) {
        let (jobs, sum) = &mut self.counts[self.borders.partition_point(|&border| border < value)];
        *jobs += 1;
        *sum += work;
    }

    /// The classes from the first to the last that has a job.
    fn finish(self, total: Total) -> Vec<HistogramClass> {
        let some = |(jobs, _): &(u64, f64)| *jobs > 0;
        let first = self.counts.iter().position(some).unwrap_or(0);
        let last = self.counts.iter().rposition(some).unwrap_or(0);
        let class = |at: usize| HistogramClass {
            above: at.checked_sub(1).map(|below| self.borders[below]),
            up_to: self.borders.get(at).copied(),
            jobs: self.counts[at].0,
            share: total.job_share(self.counts[at].0),
            work_share: total.work_share(self.counts[at].1),
        };
        (first..=last).map(class).collect()
    }
}

/// Everything, for shares.
#[derive(Clone, Copy)]
struct Total {
    jobs: u64,
    work: f64,
}

impl Total {
    fn job_share(self, jobs: u64) -> f64 {
        if self.jobs == 0 { 0.0 } else { jobs as f64 / self.jobs as f64 }
    }

    fn work_share(self, work: f64) -> Option<f64> {
        (self.work > 0.0).then(|| work / self.work)
    }
}

fn job_work(job: &Job, truth: &Truth) -> f64 {
    f64::from(job.procs) * truth.run.as_f64()
}

/// Describes a workload.
///
/// Cost: O(n log n).
#[must_use]
pub fn describe_workload(workload: &Workload) -> WorkloadDescription {
    let pairs = || workload.jobs().iter().zip(workload.truth());
    let total = Total { jobs: workload.len() as u64, work: pairs().map(|(j, t)| job_work(j, t)).sum() };
    let (first_submit, last_submit) = workload.submit_range().unwrap_or_default();
    let distinct = |attribute: fn(&Job) -> i32| {
        let mut numbers: Vec<i32> = workload.jobs().iter().map(attribute).filter(|&a| a != UNKNOWN).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    };
    WorkloadDescription {
        procs: workload.machine().procs,
        jobs: total.jobs,
        first_submit,
        last_submit,
        span: last_submit - first_submit,
        load: workload.offered_load(),
        work: total.work,
        users: distinct(|j| j.user),
        groups: distinct(|j| j.group),
        executables: distinct(|j| j.executable),
        queues: distinct(|j| j.queue),
        partitions: distinct(|j| j.partition),
        status: count_statuses(workload.truth()),
        sizes: describe_sizes(workload, total),
        run_times: run_times(workload, total),
        estimates: describe_estimates(workload, total),
        arrivals: describe_arrivals(workload),
        top_users: top_users(workload, total),
    }
}

fn count_statuses(truths: &[Truth]) -> Statuses {
    let mut statuses = Statuses::default();
    for truth in truths {
        *match truth.status {
            LogStatus::Completed => &mut statuses.completed,
            LogStatus::Failed => &mut statuses.failed,
            LogStatus::Cancelled => &mut statuses.cancelled,
            LogStatus::Partial => &mut statuses.partial,
            LogStatus::Unknown => &mut statuses.unknown,
        } += 1;
    }
    statuses
}

fn describe_sizes(workload: &Workload, total: Total) -> JobSizes {
    let borders: Vec<i64> = (0..32).map(|power| 1 << power).collect();
    let mut histogram = WorkHistogram::new(&borders);
    let mut summary = Distribution::new(true);
    let (mut serial, mut powers) = (0, 0);
    for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
        histogram.add_value(i64::from(job.procs), job_work(job, truth));
        summary.push(f64::from(job.procs));
        serial += u64::from(job.procs == 1);
        powers += u64::from(job.procs.is_power_of_two());
    }
    JobSizes {
        summary: summary.finish(),
        serial_share: total.job_share(serial),
        power_of_two_share: total.job_share(powers),
        histogram: histogram.finish(total),
    }
}

fn run_times(workload: &Workload, total: Total) -> JobTimes {
    let mut histogram = WorkHistogram::new(&TIMES);
    let mut summary = Distribution::new(true);
    for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
        histogram.add_value(truth.run.0, job_work(job, truth));
        summary.push(truth.run.as_f64());
    }
    JobTimes { summary: summary.finish(), histogram: histogram.finish(total) }
}

fn describe_estimates(workload: &Workload, total: Total) -> Estimates {
    let mut histogram = WorkHistogram::new(&TIMES);
    let (mut summary, mut accuracy) = (Distribution::new(true), Distribution::new(true));
    let mut values: BTreeMap<Span, u64> = BTreeMap::new();
    let mut by_status = STATUSES.map(UsedByStatus::new);
    for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
        let (estimate, run) = (job.estimate, truth.run);
        histogram.add_value(estimate.0, job_work(job, truth));
        summary.push(estimate.as_f64());
        accuracy.push(crate::metrics::measures::prediction_accuracy(estimate, run));
        *values.entry(estimate).or_default() += 1;
        if let Some(of_status) = by_status.iter_mut().find(|group| group.status == truth.status) {
            of_status.count_job(estimate, run);
        }
    }
    let sum = |of: &dyn Fn(&UsedByStatus) -> u64| by_status.iter().map(of).sum::<u64>();
    let used_tenths = std::array::from_fn(|tenth| sum(&|group| group.used[tenth]));
    let (exact, outlived_count) = (sum(&|group| group.exact), sum(&|group| group.outlived));
    let distinct = values.len() as u64;
    let mut modes: Vec<(Span, u64)> = values.into_iter().collect();
    modes.sort_shared_by_key(|&(estimate, jobs)| (std::cmp::Reverse(jobs), estimate));
    modes.truncate(LISTED);
    Estimates {
        summary: summary.finish(),
        histogram: histogram.finish(total),
        distinct,
        modes: modes
            .into_iter()
            .map(|(estimate, jobs)| FrequentEstimate { estimate, jobs, share: total.job_share(jobs) })
            .collect(),
        accuracy: accuracy.finish(),
        used: used_tenths,
        exact,
        outlived: outlived_count,
        by_status: by_status.into_iter().filter(|group| group.jobs > 0).collect(),
    }
}

const STATUSES: [LogStatus; 5] =
    [LogStatus::Completed, LogStatus::Failed, LogStatus::Cancelled, LogStatus::Partial, LogStatus::Unknown];

fn describe_arrivals(workload: &Workload) -> ArrivalTimes {
    let first = workload.submit_range().unwrap_or_default().0;
    let calendar = Calendar::new(first, &workload.provenance);
    let mut arrivals = ArrivalTimes {
        gaps: Summary::default(),
        calendar: workload.provenance.unix_start.is_some(),
        zone: workload.provenance.unix_start.map(|_| calendar.zone_name()),
        hours: [0; 24],
        weekdays: [0; 7],
        weeks: Vec::new(),
    };
    let mut gaps = Distribution::new(true);
    let mut before = None;
    for job in workload.jobs() {
        if let Some(before) = before.replace(job.submit) {
            gaps.push((job.submit - before).as_f64());
        }
        let (weekday, hour) = calendar.weekday_and_hour(job.submit);
        arrivals.hours[hour] += 1;
        arrivals.weekdays[weekday] += 1;
        let week = usize::try_from(calendar.week_number(job.submit)).unwrap_or(0);
        // A log that leaps by centuries has weeks without number: they are not listed one by one.
        if week < 100_000 {
            if arrivals.weeks.len() <= week {
                arrivals.weeks.resize(week + 1, 0);
            }
            arrivals.weeks[week] += 1;
        }
    }
    arrivals.gaps = gaps.finish();
    arrivals
}

fn top_users(workload: &Workload, total: Total) -> Vec<UserShare> {
    let mut users: BTreeMap<i32, (u64, f64)> = BTreeMap::new();
    for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
        let (jobs, sum) = users.entry(job.user).or_default();
        *jobs += 1;
        *sum += job_work(job, truth);
    }
    let mut users: Vec<(i32, (u64, f64))> = users.into_iter().collect();
    users.sort_shared_by_key(|&(user, (jobs, _))| (std::cmp::Reverse(jobs), user));
    users.truncate(LISTED);
    let share = |(user, (jobs, work))| UserShare {
        user,
        jobs,
        share: total.job_share(jobs),
        work_share: total.work_share(work),
    };
    users.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Machine, Provenance};

    /// Submit, processors, estimate, run, user.
    fn workload(jobs: &[(i64, Procs, i64, i64, i32)], unix_start: Option<i64>) -> Workload {
        let job = |&(submit, procs, estimate, _, user): &(i64, Procs, i64, i64, i32)| {
            Job::new(Time(submit), procs, Span(estimate)).with_user(user)
        };
        let truth = |(number, j): (i64, &(i64, Procs, i64, i64, i32))| Truth {
            run: Span(j.3),
            number,
            status: LogStatus::Completed,
        };
        let truths = (1..).zip(jobs).map(truth).collect();
        let provenance = Provenance { unix_start, utc_offset: Some(3_600), ..Provenance::default() };
        Workload::new(Machine::new(8), jobs.iter().map(job).collect(), truths, provenance).expect("valid")
    }

    #[test]
    fn small_workload_by_hand() {
        // Unix time 0 was a Thursday, 00:00 UTC: 01:00 local time here.
        let w = workload(
            &[(0, 1, 100, 100, 7), (10, 3, 100, 10, 7), (3_600, 4, 60, 61, -1), (700_000, 8, 1_000, 101, 9)],
            Some(0),
        );
        let d = describe_workload(&w);
        assert_eq!((d.jobs, d.users, d.span), (4, 2, Span(700_000)));
        assert_eq!(d.work, 100.0 + 30.0 + 244.0 + 808.0);
        assert_eq!((d.sizes.serial_share, d.sizes.power_of_two_share), (0.25, 0.75));
        let sizes: Vec<_> = d.sizes.histogram.iter().map(|c| (c.above, c.up_to, c.jobs)).collect();
        assert_eq!(sizes, [(None, Some(1), 1), (Some(1), Some(2), 0), (Some(2), Some(4), 2), (Some(4), Some(8), 1)]);
        // 100 of 100, 10 of 100, 61 of 60, 101 of 1000.
        let e = &d.estimates;
        assert_eq!(e.used, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((e.exact, e.outlived, e.distinct), (1, 1, 3));
        assert_eq!((e.modes[0].estimate, e.modes[0].jobs), (Span(100), 2));
        assert_eq!(e.modes[1].estimate, Span(60), "the smaller among equals");
        let a = &d.arrivals;
        assert_eq!((a.hours[1], a.hours[2]), (2, 1));
        // 700,000 s later it is Friday of the next week, 03:26 local time.
        assert_eq!((a.hours[3], a.weekdays[3], a.weekdays[4]), (1, 3, 1));
        assert_eq!(a.weeks, [3, 1]);
        assert_eq!(a.gaps.max, Some(696_400.0));
        assert_eq!(d.top_users[0].user, 7);
        assert_eq!(d.top_users[0].work_share, Some(130.0 / 1_182.0));
    }

    #[test]
    fn a_workload_without_jobs_work_or_calendar() {
        let empty = describe_workload(&workload(&[], None));
        assert_eq!((empty.jobs, empty.load, empty.sizes.summary.mean), (0, None, None));
        let idle = describe_workload(&workload(&[(0, 1, 0, 0, 1)], None));
        assert_eq!(idle.estimates.used[9], 1);
        assert_eq!(idle.sizes.histogram[0].work_share, None);
        assert_eq!((idle.arrivals.calendar, idle.arrivals.zone), (false, None));
    }

    /// By name, else by the distance from UTC, else UTC.
    #[test]
    fn whose_hours_they_are() {
        let zone = |name: Option<&str>, utc_offset| {
            let mut workload = workload(&[(0, 1, 0, 0, 1)], Some(0));
            (workload.provenance.time_zone, workload.provenance.utc_offset) = (name.map(str::to_string), utc_offset);
            let arrivals = describe_workload(&workload).arrivals;
            (arrivals.zone.unwrap_or_default(), arrivals.hours.iter().position(|&jobs| jobs > 0))
        };
        assert_eq!(zone(Some("Europe/Berlin"), Some(-3600)), ("Europe/Berlin".to_string(), Some(1)));
        assert_eq!(zone(Some("Mars/Olympus"), Some(5400)), ("UTC+01:30".to_string(), Some(1)));
        assert_eq!(zone(None, Some(-7200)), ("UTC-02:00".to_string(), Some(22)));
        assert_eq!(zone(Some("Mars/Olympus"), None), ("UTC".to_string(), Some(0)));
    }
}
