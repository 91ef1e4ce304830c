//! Remarks on the backfill of a `slurm.conf` against the jobs that a site records, without any
//! simulation.

use crate::sdiag::PassCost;
use drystone::statistics::nearest_rank_quantile;
use drystone_slurm::conf::SlurmConf;
use serde::Serialize;
use std::collections::BTreeSet;

/// A job as it was recorded. Times are seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordedJob {
    pub submit: i64,
    /// Time at which it started or left the queue.
    pub start: i64,
    /// End; the start where it never ran.
    pub end: i64,
    pub limit: i64,
    pub procs: u32,
    /// The last reason for which it waited, in Slurm's words.
    pub reason: String,
}

/// A configuration beside what a site recorded.
#[derive(Clone, Copy, Debug)]
pub struct HealthCase<'a> {
    pub conf: &'a SlurmConf,
    /// The jobs, in any order.
    pub jobs: &'a [RecordedJob],
    /// Processors of the machine.
    pub procs: u32,
    /// Seconds of all waiting as they were recorded, where jobs leave out what they waited for
    /// others; `None` for the sum over the jobs.
    pub waited: Option<f64>,
    /// Duration of a test of backfill.
    pub cost: &'a PassCost,
    /// Mean duration of a backfill cycle in microseconds, where `sdiag` says it.
    pub cycle_micros: Option<u64>,
    /// QOS that jobs have.
    pub qos: usize,
}

/// A number behind a remark.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Evidence {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
}

/// A check of a configuration with its result.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HealthRemark {
    pub setting: &'static str,
    /// True if a change is suggested.
    pub change: bool,
    /// The finding in words.
    pub text: String,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// A word of `slurm.conf` to set, where there is one.
    pub set: Option<String>,
}

/// Fewer jobs than this share are no reason to change a setting.
const FEW: f64 = 0.001;
/// A queue is common that is reached so large a share of the time.
const COMMON: f64 = 0.05;
const DAY: i64 = 1_440;

fn build_evidence(name: &'static str, value: f64, unit: &'static str) -> Evidence {
    Evidence { name, value, unit }
}

/// Looks at every setting. Each finding has its numbers; a setting that is fine is said to be.
///
/// Cost: O(n log n) for n jobs.
pub fn check_health(case: &HealthCase<'_>) -> Vec<HealthRemark> {
    let over_time = OverTime::from_case(case);
    let mut remarks = Vec::new();
    if !case.conf.backfill {
        remarks.push(HealthRemark {
            setting: "SchedulerType",
            change: true,
            text: "sched/builtin starts jobs in their order alone: no job is backfilled".to_string(),
            evidence: Vec::new(),
            set: Some("SchedulerType=sched/backfill".to_string()),
        });
        remarks.push(check_held_jobs(case, &over_time));
        remarks.extend(check_weights(case));
        return remarks;
    }
    remarks.push(check_window(case));
    remarks.push(check_depth(case, &over_time));
    remarks.push(goes_on(case, &over_time));
    remarks.push(check_interval(case, &over_time));
    remarks.push(check_resolution(case));
    remarks.push(check_held_jobs(case, &over_time));
    remarks.extend(check_weights(case));
    remarks
}

/// The window against the longest limit that is used.
fn check_window(case: &HealthCase<'_>) -> HealthRemark {
    let window = case.conf.sched.bf_window;
    let beyond = |job: &&RecordedJob| job.limit > window * 60;
    let jobs = case.jobs.len().max(1) as f64;
    let work = |job: &RecordedJob| (job.end - job.start).max(0) as f64 * f64::from(job.procs);
    let (count, lost_work) =
        case.jobs.iter().filter(beyond).fold((0.0, 0.0), |sums, job| (sums.0 + 1.0, sums.1 + work(job)));
    let total_work: f64 = case.jobs.iter().map(work).sum();
    let longest = case.jobs.iter().map(|job| job.limit).max().unwrap_or(0);
    // Limits that hardly any job asks for are no reason for a window.
    let mut limits: Vec<i64> = case.jobs.iter().map(|job| job.limit).collect();
    limits.sort_unstable();
    let limit_in_use = nearest_rank_quantile(&limits, 1.0 - FEW).unwrap_or(0);
    let wanted_window = ((limit_in_use + 59) / 60 + DAY - 1) / DAY * DAY;
    let change = limit_in_use > window * 60;
    HealthRemark {
        setting: "bf_window",
        change,
        text: match change {
            true => format!(
                "plans reach {} ahead, but limits of up to {} are in use: jobs behind those can be delayed again and again",
                format_minutes(window),
                format_minutes((limit_in_use + 59) / 60)
            ),
            false => format!("plans reach {} ahead, as far as the limits that are in use", format_minutes(window)),
        },
        evidence: vec![
            build_evidence("jobs with longer limits", count / jobs, "share of jobs"),
            build_evidence(
                "their work",
                if total_work > 0.0 { lost_work / total_work } else { 0.0 },
                "share of processor-hours",
            ),
            build_evidence("longest limit in use", limit_in_use as f64 / 3_600.0, "hours, of 99.9% of the jobs"),
            build_evidence("longest limit of any job", longest as f64 / 3_600.0, "hours"),
        ],
        set: change.then(|| format!("bf_window={wanted_window}")),
    }
}

/// Minutes, in the unit that people use.
fn format_minutes(minutes: i64) -> String {
    match minutes {
        m if m >= 2 * DAY && m % DAY == 0 => format!("{} days", m / DAY),
        m if m >= 120 && m % 60 == 0 => format!("{} h", m / 60),
        m => format!("{m} min"),
    }
}

/// The number of jobs that a pass tests against the queue that is common.
fn check_depth(case: &HealthCase<'_>, over_time: &OverTime) -> HealthRemark {
    let depth = case.conf.sched.bf_max_job_test;
    let share = over_time.share_above(depth);
    let common = over_time.queue_quantile(1.0 - COMMON);
    let change = share > COMMON;
    HealthRemark {
        setting: "bf_max_job_test",
        change,
        text: match change {
            true => format!(
                "a pass tests {depth} jobs, but more wait {:.0}% of the time: the last ones are not tested then",
                share * 100.0
            ),
            false => format!("a pass tests {depth} jobs; more wait {:.1}% of the time", share * 100.0),
        },
        evidence: vec![
            build_evidence("time with more jobs waiting", share, "share of the time"),
            build_evidence("queue that is reached 5 % of the time", common as f64, "jobs"),
            build_evidence("longest queue", over_time.queue_quantile(1.0) as f64, "jobs"),
        ],
        set: change.then(|| format!("bf_max_job_test={}", rounded_up(common))),
    }
}

/// Two digits, rounded up.
fn rounded_up(count: i64) -> i64 {
    let mut step = 1;
    while count / step >= 100 {
        step *= 10;
    }
    (count + step - 1) / step * step
}

/// Returns the remark on passes that continue after they let go of the locks.
fn goes_on(case: &HealthCase<'_>, over_time: &OverTime) -> HealthRemark {
    let sched = &case.conf.sched;
    let tested_jobs = over_time.queue_quantile(1.0 - COMMON).min(sched.bf_max_job_test);
    let micros = tested_jobs.saturating_mul(i64::from(case.cost.micros)).max(case.cycle_micros.unwrap_or(0) as i64);
    let on = sched.bf_continue != 0;
    let change = !on && micros > sched.bf_yield_interval;
    HealthRemark {
        setting: "bf_continue",
        change,
        text: match (on, change) {
            (true, _) => "a pass continues where it was after it has released the locks".to_string(),
            (_, true) => format!(
                "a pass over the usual queue takes {:.1} s, releases the locks after {:.1} s, and ends there where jobs have changed \
                 meanwhile: the last jobs are seldom tested",
                micros as f64 / 1e6,
                sched.bf_yield_interval as f64 / 1e6
            ),
            (_, false) => "it is not set; passes end before they would release the locks".to_string(),
        },
        evidence: vec![
            build_evidence("pass over the common queue", micros as f64 / 1e6, "seconds"),
            build_evidence("locks are kept for", sched.bf_yield_interval as f64 / 1e6, "seconds"),
        ],
        set: change.then(|| "bf_continue".to_string()),
    }
}

/// The time between passes against the time that they take.
fn check_interval(case: &HealthCase<'_>, over_time: &OverTime) -> HealthRemark {
    let sched = &case.conf.sched;
    let tested_jobs = over_time.queue_quantile(1.0 - COMMON).min(sched.bf_max_job_test);
    let micros =
        case.cycle_micros.map_or(tested_jobs.saturating_mul(i64::from(case.cost.micros)), |cycle| cycle as i64);
    let seconds = micros as f64 / 1e6;
    let most = if sched.bf_max_time > 0 { sched.bf_max_time } else { sched.bf_interval };
    let change = seconds > most as f64;
    HealthRemark {
        setting: "bf_interval",
        change,
        text: match change {
            true => {
                format!("a pass takes {seconds:.1} s and is cut off after {most} s: the jobs behind are not tested")
            }
            false => format!("a pass takes {seconds:.1} s; it may take {most} s"),
        },
        evidence: vec![
            build_evidence("duration of a pass", seconds, "seconds"),
            build_evidence("it may take", most as f64, "seconds"),
        ],
        set: change.then(|| format!("bf_max_time={}", (seconds * 1.5).ceil())),
    }
}

/// The grid of plans against the limits.
fn check_resolution(case: &HealthCase<'_>) -> HealthRemark {
    let grid = case.conf.sched.bf_resolution;
    let below = case.jobs.iter().filter(|job| job.limit > 0 && job.limit < 2 * grid).count() as f64;
    let share = below / case.jobs.len().max(1) as f64;
    let change = grid > 60 && share > COMMON;
    HealthRemark {
        setting: "bf_resolution",
        change,
        text: match change {
            true => format!(
                "plans have steps of {grid} s, and {:.0}% of the jobs ask for less than two of them: gaps for these jobs are missed",
                share * 100.0
            ),
            false => {
                format!("plans have steps of {grid} s; {:.1}% of the jobs ask for less than two", share * 100.0)
            }
        },
        evidence: vec![build_evidence("jobs with limits below two steps", share, "share of jobs")],
        set: change.then(|| "bf_resolution=60".to_string()),
    }
}

/// Returns whether a reason is a limit of a user, an account or a QOS.
fn is_limit(reason: &str) -> bool {
    let reason = reason.trim_start_matches('(');
    (reason.starts_with("QOS") || reason.starts_with("Assoc")) && !reason.contains("NotAllowed")
}

/// Jobs that limits hold back while processors are idle.
fn check_held_jobs(case: &HealthCase<'_>, over_time: &OverTime) -> HealthRemark {
    let reason_count = case.jobs.iter().filter(|job| !job.reason.is_empty()).count();
    let held_jobs: Vec<&RecordedJob> =
        case.jobs.iter().filter(|job| is_limit(&job.reason) && job.start > job.submit).collect();
    let held_wait: f64 = held_jobs.iter().map(|job| (job.start - job.submit) as f64).sum();
    let idle: f64 = held_jobs.iter().map(|job| over_time.idle_for(job)).sum();
    let sum = || case.jobs.iter().map(|job| (job.start - job.submit).max(0) as f64).sum();
    let total_wait: f64 = case.waited.unwrap_or_else(sum);
    let share = if total_wait > 0.0 { idle / total_wait } else { 0.0 };
    let change = share > COMMON;
    HealthRemark {
        setting: "limits of QOS and accounts",
        change,
        text: match (reason_count, change) {
            (0, _) => "no reasons for waiting are recorded, so the cost of limits is unknown".to_string(),
            (_, true) => {
                format!("limits hold jobs back while enough processors are idle: {:.0}% of all waiting", share * 100.0)
            }
            (_, false) => format!(
                "limits that hold jobs back while enough processors are idle cause {:.1}% of all waiting",
                share * 100.0
            ),
        },
        evidence: vec![
            build_evidence("jobs with a recorded reason", reason_count as f64, "jobs"),
            build_evidence("jobs whose last reason was a limit", held_jobs.len() as f64, "jobs"),
            build_evidence("they waited", held_wait / 3_600.0, "hours"),
            build_evidence("of that while enough was idle", idle / 3_600.0, "hours"),
        ],
        set: None,
    }
}

/// Weights that cannot change any order.
fn check_weights(case: &HealthCase<'_>) -> Vec<HealthRemark> {
    let own = &case.conf.priority;
    let has_weights =
        [own.age, own.fair_share, own.size, own.partition, own.qos, own.assoc].iter().any(|weight| *weight > 0.0);
    let remark = |setting, text: &str, name, value| HealthRemark {
        setting,
        change: true,
        text: text.to_string(),
        evidence: vec![build_evidence(name, value, "")],
        set: None,
    };
    let mut remarks = Vec::new();
    if has_weights && !own.multifactor {
        remarks.push(remark(
            "PriorityType",
            "weights are set, but priority/basic ignores them",
            "weights that count",
            0.0,
        ));
        return remarks;
    }
    let factors: BTreeSet<u32> = case.conf.partitions.iter().map(|partition| partition.job_factor).collect();
    if own.partition > 0.0 && factors.len() < 2 {
        let text = "it has no effect: every partition has the same PriorityJobFactor";
        remarks.push(remark("PriorityWeightPartition", text, "distinct factors", factors.len() as f64));
    }
    if own.qos > 0.0 && case.qos < 2 {
        let text = "it has no effect: all jobs are of one QOS";
        remarks.push(remark("PriorityWeightQOS", text, "QOS in use", case.qos as f64));
    }
    if own.fair_share > 0.0 && !case.conf.has_database() {
        let text = "it has no effect: without a database (AccountingStorageType) there are no shares";
        remarks.push(remark("PriorityWeightFairshare", text, "databases", 0.0));
    }
    if own.age > 0.0 && own.max_age > 0 {
        let within = case.jobs.iter().map(|job| job.start - job.submit).max().unwrap_or(0);
        let most = own.age * within as f64 / own.max_age as f64;
        if own.multifactor && most < 1.0 {
            let text = "it has no effect: no job waits long enough to gain a point of priority";
            remarks.push(remark("PriorityWeightAge", text, "points of the longest wait", most));
        }
    }
    remarks
}

/// Queue and idle processors over time.
struct OverTime {
    /// Beginnings of intervals with jobs waiting and processors idle from then on.
    steps: Vec<(i64, i64, i64)>,
    /// Queue lengths with the time that each lasts, ascending by length.
    lengths: Vec<(i64, i64)>,
    all: i64,
}

impl OverTime {
    fn from_case(case: &HealthCase<'_>) -> OverTime {
        let mut events: Vec<(i64, i64, i64)> = Vec::with_capacity(3 * case.jobs.len());
        for job in case.jobs {
            events.push((job.submit, 1, 0));
            events.push((job.start.max(job.submit), -1, if job.end > job.start { i64::from(job.procs) } else { 0 }));
            if job.end > job.start {
                events.push((job.end, 0, -i64::from(job.procs)));
            }
        }
        events.sort_unstable();
        let (mut waiting_jobs, mut busy) = (0, 0);
        let mut steps: Vec<(i64, i64, i64)> = Vec::new();
        for (at, queue_change, use_change) in events {
            waiting_jobs += queue_change;
            busy += use_change;
            let step = (at, waiting_jobs, (i64::from(case.procs) - busy).max(0));
            match steps.last_mut() {
                Some(last) if last.0 == at => *last = step,
                _ => steps.push(step),
            }
        }
        let mut lengths: Vec<(i64, i64)> = steps.windows(2).map(|pair| (pair[0].1, pair[1].0 - pair[0].0)).collect();
        lengths.sort_unstable();
        let total_time = lengths.iter().map(|(_, time)| time).sum();
        OverTime { steps, lengths, all: total_time }
    }

    /// The share of the time at which more jobs wait.
    fn share_above(&self, length: i64) -> f64 {
        let above: i64 = self.lengths.iter().filter(|(own, _)| *own > length).map(|(_, time)| time).sum();
        above as f64 / self.all.max(1) as f64
    }

    /// The queue that is not exceeded for this share of the time.
    fn queue_quantile(&self, share: f64) -> i64 {
        let wanted_time = share * self.all as f64;
        let mut passed_time = 0.0;
        for (length, time) in &self.lengths {
            passed_time += *time as f64;
            if passed_time >= wanted_time {
                return *length;
            }
        }
        self.lengths.last().map_or(0, |(length, _)| *length)
    }

    /// Seconds of a job's wait at which as many processors are idle as it asks for.
    fn idle_for(&self, job: &RecordedJob) -> f64 {
        let from = self.steps.partition_point(|step| step.0 <= job.submit).saturating_sub(1);
        let mut idle = 0;
        for pair in self.steps[from..].windows(2).take_while(|pair| pair[0].0 < job.start) {
            if pair[0].2 >= i64::from(job.procs) {
                idle += (pair[1].0.min(job.start) - pair[0].0.max(job.submit)).max(0);
            }
        }
        idle as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(text: &str) -> SlurmConf {
        let text = format!("{text}\nNodeName=n[1-4] CPUs=4\nPartitionName=a Nodes=ALL Default=YES\n");
        SlurmConf::parse(&text, "slurm.conf").expect("valid")
    }

    fn job(submit: i64, start: i64, end: i64, limit: i64, procs: u32, reason: &str) -> RecordedJob {
        RecordedJob { submit, start, end, limit, procs, reason: reason.to_string() }
    }

    fn remarks(text: &str, jobs: &[RecordedJob]) -> Vec<HealthRemark> {
        let (conf, cost) = (conf(text), PassCost::from_micros(1_000));
        check_health(&HealthCase {
            conf: &conf,
            jobs,
            procs: 16,
            waited: None,
            cost: &cost,
            cycle_micros: None,
            qos: 1,
        })
    }

    fn of<'a>(remarks: &'a [HealthRemark], setting: &str) -> &'a HealthRemark {
        remarks.iter().find(|remark| remark.setting == setting).expect(setting)
    }

    /// One of ten jobs asks for three days, with Slurm's window of one.
    #[test]
    fn a_window_below_the_limits_in_use() {
        let mut jobs: Vec<RecordedJob> = (0..9).map(|k| job(k, k, k + 100, 3_600, 1, "")).collect();
        jobs.push(job(9, 9, 909, 3 * 86_400, 1, ""));
        let site_remarks = remarks("", &jobs);
        let remark = of(&site_remarks, "bf_window");
        assert!(remark.change && remark.set.as_deref() == Some("bf_window=4320"), "{remark:?}");
        // One job of ten, and 900 of 1,800 processor-seconds.
        assert_eq!((remark.evidence[0].value, remark.evidence[1].value, remark.evidence[2].value), (0.1, 0.5, 72.0));
        assert!(!of(&remarks("SchedulerParameters=bf_window=4320", &jobs), "bf_window").change);
    }

    /// Three jobs wait from 0 to 100, one more from 50 to 100, none from 100 to 200 but the last
    /// end.
    #[test]
    fn a_queue_beyond_the_depth() {
        let jobs = [
            job(0, 100, 200, 60, 1, ""),
            job(0, 100, 200, 60, 1, ""),
            job(0, 100, 200, 60, 1, ""),
            job(50, 100, 200, 60, 1, ""),
        ];
        let site_remarks = remarks("SchedulerParameters=bf_max_job_test=3", &jobs);
        let remark = of(&site_remarks, "bf_max_job_test");
        // Four wait for 50 of 200 seconds.
        assert_eq!((remark.change, remark.evidence[0].value, remark.evidence[2].value), (true, 0.25, 4.0));
        assert_eq!(remark.set.as_deref(), Some("bf_max_job_test=4"));
        // Four tests of a millisecond are no reason for bf_continue, and of a second they are.
        assert!(!of(&site_remarks, "bf_continue").change);
        let (conf, cost) = (conf(""), PassCost::from_micros(1_000_000));
        let slow = check_health(&HealthCase {
            conf: &conf,
            jobs: &jobs,
            procs: 16,
            waited: None,
            cost: &cost,
            cycle_micros: None,
            qos: 1,
        });
        assert!(of(&slow, "bf_continue").change, "four seconds against two");
    }

    /// A job of 4 processors waits 100 s for a limit of its QOS; 12 of 16 are in use for the first
    /// 60 s and 14 for the rest.
    #[test]
    fn limits_hold_jobs_while_nodes_idle() {
        let jobs = [
            job(0, 0, 200, 300, 12, ""),
            job(60, 60, 200, 300, 2, "Resources"),
            job(0, 100, 150, 300, 4, "QOSMaxCpuPerUserLimit"),
        ];
        let site_remarks = remarks("", &jobs);
        let remark = of(&site_remarks, "limits of QOS and accounts");
        let hours: Vec<f64> = remark.evidence.iter().map(|evidence| evidence.value).collect();
        assert_eq!((hours[1], hours[2] * 3_600.0, hours[3] * 3_600.0), (1.0, 100.0, 60.0));
        assert!(remark.change, "60 of 100 s of all waiting");
    }

    #[test]
    fn weights_without_effect_are_named() {
        let jobs = [job(0, 0, 10, 60, 1, "")];
        let text = "PriorityType=priority/multifactor\nPriorityWeightPartition=1000\nPriorityWeightFairshare=10\nPriorityWeightQOS=5\nPriorityWeightAge=9";
        let settings: Vec<&str> = remarks(text, &jobs).iter().filter(|r| r.change).map(|r| r.setting).collect();
        assert_eq!(
            settings,
            ["PriorityWeightPartition", "PriorityWeightQOS", "PriorityWeightFairshare", "PriorityWeightAge"]
        );
        let named: Vec<&str> =
            remarks("PriorityWeightAge=9", &jobs).iter().filter(|r| r.change).map(|r| r.setting).collect();
        assert_eq!(named, ["PriorityType"]);
        assert!(of(&remarks("SchedulerType=sched/builtin", &jobs), "SchedulerType").change);
    }
}
