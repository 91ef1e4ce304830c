//! Logs, golden schedules and runs for the tests of slack-based backfilling.
//!
//! Logs and schedules are no part of the project; tests that need them say so loudly where they are
//! missing.
#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part")]

use drystone::engine::{Observer, Schedule, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy, Overrun};
use drystone::log::{self, source};
use drystone::metrics::Calendar;
use drystone::model::{Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::{PolicySpec, Priorities};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

/// A file shared beside the checkout, or `None` with a loud line.
pub fn shared(path: &str) -> Option<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = std::env::var_os("DRYSTONE_SHARED").map_or_else(default, PathBuf::from).join(path);
    if file.exists() {
        return Some(file);
    }
    eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
    None
}

/// The text of such a file, unpacked.
pub fn text(path: &str) -> Option<String> {
    let mut text = String::new();
    let mut source = source::open_log(&shared(path)?).expect("opens");
    source.bytes.read_to_string(&mut text).expect("readable text");
    Some(text)
}

/// A log on a machine of this many processors as the study took it (rules 1 and 2).
pub fn log_of(name: &str, procs: Option<u32>, overrun: Overrun) -> Option<Workload> {
    let path = shared(&format!("traces/{name}.swf.gz"))?;
    let options = CleaningOptions { procs, overrun, ..CleaningStudy::Talby1999.options() };
    Some(log::load_log(path, &options).expect("a good log").workload)
}

/// The KTH log, cleaned, jobs killed at their estimate.
pub fn kth(procs: u32) -> Option<Workload> {
    log_of("KTH-SP2-1996-2.1-cln", Some(procs), Overrun::Kill)
}

/// A workload of some jobs of another.
pub fn of_jobs(workload: &Workload, jobs: Vec<(Job, Truth)>) -> Workload {
    let (jobs, truth) = jobs.into_iter().unzip();
    Workload::new(workload.machine(), jobs, truth, workload.provenance.clone()).expect("good jobs")
}

/// The calendar months of a log by submit time, apart.
pub fn months(workload: &Workload) -> Vec<Workload> {
    let calendar = Calendar::new(workload.jobs()[0].submit, &workload.provenance);
    let pairs: Vec<_> = workload.jobs().iter().cloned().zip(workload.truth().iter().cloned()).collect();
    let months = pairs.chunk_by(|a, b| calendar.month_number(a.0.submit) == calendar.month_number(b.0.submit));
    months.map(|month| of_jobs(workload, month.to_vec())).collect()
}

/// The very jobs behind the paper's tables, month by month, on 128 processors; `killed` at their
/// estimate or running on.
pub fn paper_months(overrun: Overrun) -> Option<Vec<(String, Workload)>> {
    let text = text("golden/slack/paper.input.csv.gz")?;
    let mut rows: Vec<(String, Job, Truth)> = Vec::new();
    for line in text.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let number = |i: usize| f[i].parse::<i64>().expect("an integer");
        let job = Job::new(Time(number(2)), number(3) as u32, Span(number(4)));
        let limit = if overrun == Overrun::Kill { job.estimate } else { Span::MAX };
        let run = Span(number(5)).max(Span::ZERO).min(limit);
        rows.push((f[1].to_owned(), job, Truth { run, number: number(0), status: LogStatus::Unknown }));
    }
    let machine = Machine::new(128);
    let months = rows.chunk_by(|a, b| a.0 == b.0);
    let workload = |month: &[(String, Job, Truth)]| {
        let (jobs, truth) = month.iter().map(|(_, job, truth)| (job.clone(), truth.clone())).unzip();
        Workload::new(machine, jobs, truth, Provenance::default()).expect("good jobs")
    };
    Some(months.map(|month| (month[0].0.clone(), workload(month))).collect())
}

/// Runs a policy on a workload under an observer.
pub fn watch(policy: &str, workload: &Workload, withdrawals: &[(Time, JobId)], observer: &mut impl Observer) {
    run_with(policy, None, workload, withdrawals, observer);
}

/// Runs with priorities.
pub fn run_with(
    policy: &str,
    priorities: Option<Priorities>,
    workload: &Workload,
    withdrawals: &[(Time, JobId)],
    observer: &mut impl Observer,
) {
    let spec: PolicySpec = policy.parse().expect("a good policy");
    let mut scheduler = spec.build_scheduler();
    if let Some(priorities) = priorities {
        scheduler.policy.set_priorities(priorities).expect("a policy with priorities");
    }
    let source = WorkloadReplay::with_cancellations(workload, withdrawals);
    let mut simulation = Simulation::new(workload.machine(), scheduler, source);
    simulation.run(observer).unwrap_or_else(|error| panic!("{policy}: {error}"));
}

/// Start and end of every job, in order of arrival.
pub fn schedule(policy: &str, workload: &Workload) -> Vec<(i64, i64)> {
    let mut schedule = Schedule::default();
    watch(policy, workload, &[], &mut schedule);
    schedule.spans.iter().map(|span| span.map(|(start, end)| (start.0, end.0)).expect("every job ends")).collect()
}

/// By job number: start and end.
pub fn by_number(policy: &str, workload: &Workload) -> BTreeMap<i64, (i64, i64)> {
    workload.truth().iter().map(|truth| truth.number).zip(schedule(policy, workload)).collect()
}

/// A golden schedule by job number: start and end.
pub fn golden(name: &str) -> Option<BTreeMap<i64, (i64, i64)>> {
    let text = text(&format!("golden/slack/{name}.csv.gz"))?;
    let row = |line: &str| {
        let f: Vec<i64> = line.split(',').map(|f| f.parse().expect("an integer")).collect();
        (f[0], (f[2], f[3]))
    };
    Some(text.lines().skip(1).map(row).collect())
}

/// Mean wait in seconds over the jobs of several runs that `counts` by their place (from 0).
pub fn mean_wait(runs: &[(&Workload, Vec<(i64, i64)>)], counts: impl Fn(usize) -> bool) -> f64 {
    let (mut sum, mut n) = (0, 0);
    for (workload, schedule) in runs {
        for (_, (job, span)) in workload.jobs().iter().zip(schedule).enumerate().filter(|(at, _)| counts(*at)) {
            sum += span.0 - job.submit.0;
            n += 1;
        }
    }
    sum as f64 / f64::from(n)
}
