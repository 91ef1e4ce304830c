//! Policies that plan or search among every job, where many wait.
//!
//! `conservative` runs against a variant that rebuilds its plans at every early end, which the
//! policy itself does where few jobs wait, and on a small burst against the naive definition in
//! `drystone-reference`. All must give the same schedule, job by job; that is asserted. Processor
//! time of the whole simulation, best of as many runs in turn as fit into some seconds. `cargo
//! bench -p drystone --bench deep -- WORDS` takes the rows whose names hold one of the words; `--
//! slow` adds those that take minutes.

mod clock;

use clock::processor_time;
use drystone::engine::{Schedule, Scheduler, Simulation, WorkloadReplay};
use drystone::generate::{Params, generate_workload};
use drystone::log::clean::CleaningStudy;
use drystone::model::{Job, LogStatus, Machine, Procs, Provenance, Span, Time, Truth, Workload};
use drystone::policy::{Conservative, Notice, PolicySpec};
use drystone_reference::{jobs_of, talby};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::time::Duration;

/// This many jobs in one second: 1 to 256 of 1,024 processors, estimates from a minute to a day, of
/// which any part is needed.
fn burst(jobs: usize) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut job_list, mut truth) = (Vec::new(), Vec::new());
    for number in 1..=jobs {
        let estimate = f64::exp(rng.random_range(60f64.ln()..86_400f64.ln())) as i64;
        let run = Span(rng.random_range(0..=estimate));
        job_list.push(Job::new(Time(0), rng.random_range(1..=256u32), Span(estimate)));
        truth.push(Truth { run, number: number as i64, status: LogStatus::Unknown });
    }
    Workload::new(Machine::new(1_024), job_list, truth, Provenance::default()).expect("sound")
}

/// As a log of such a machine, at a load at which as many wait.
fn like(procs: Procs, jobs: u32, load: f64) -> Workload {
    generate_workload(&Params { load: Some(load), ..Params::new(procs, jobs) }).expect("sound parameters")
}

/// A log of the archive.
fn log(name: &str, procs: Procs) -> Option<Workload> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let options = drystone::log::clean::CleaningOptions { procs: Some(procs), ..CleaningStudy::Tsafrir2007.options() };
    let file = root.join(format!("traces/{name}.swf.gz"));
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(drystone::log::load_log(file, &options).expect("a good log").workload)
}

type Build = fn() -> Scheduler;

fn simulate(workload: &Workload, build: Build) -> (Duration, Schedule) {
    let mut schedule = Schedule::default();
    let before = processor_time();
    Simulation::new(workload.machine(), build(), WorkloadReplay::new(workload))
        .run(&mut schedule)
        .expect("a sound policy");
    (processor_time() - before, schedule)
}

fn conservative(deep_from: usize) -> Scheduler {
    Scheduler::new(Box::new(Conservative::deep_from(Notice::Immediate, deep_from)))
}

fn row(name: &str, workload: &Workload, fast: Build, obvious: Option<Build>) {
    let (mut best, mut beside) = (Duration::MAX, Duration::MAX);
    let (mut total_time, mut runs) = (Duration::ZERO, 0);
    while runs == 0 || total_time < Duration::from_secs(4) && runs < 20 {
        let (time, schedule) = simulate(workload, fast);
        best = best.min(time);
        total_time += time;
        if let Some(obvious) = obvious {
            let (time, rival_schedule) = simulate(workload, obvious);
            assert!(schedule.spans == rival_schedule.spans, "{name}: two schedules");
            beside = beside.min(time);
            total_time += time;
        }
        runs += 1;
    }
    let jobs = workload.len();
    let (best, beside) = (best.as_secs_f64(), beside.as_secs_f64());
    match obvious {
        Some(_) => {
            println!("{name:32} {jobs:8} jobs {best:9.3} s, obvious {beside:9.3} s: {:6.2} times", beside / best)
        }
        None => println!("{name:32} {jobs:8} jobs {best:9.3} s"),
    }
}

/// The naive definition, on a burst that it can bear.
fn naive(jobs: usize) {
    let workload = burst(jobs);
    let (fast, schedule) = simulate(&workload, || conservative(0));
    let before = processor_time();
    let theirs =
        talby::run(talby::NaiveTalbyScheduler::Conservative, talby::NaiveNotice::Immediate, &jobs_of(&workload), 1_024);
    let time = processor_time() - before;
    let starts = schedule.spans.iter().map(|span| span.map(|(start, _)| start.0));
    assert!(starts.eq(theirs.schedule.iter().map(|out| Some(out.start))), "two schedules");
    let (fast, time) = (fast.as_secs_f64(), time.as_secs_f64());
    println!("conservative, naive, burst of {jobs}  {fast:9.3} s, naive {time:9.3} s: {:6.2} times", time / fast);
}

/// Rows of one policy by its text.
fn text(name: &str, policy: &str, workload: &Workload) {
    let spec: PolicySpec = policy.parse().expect("known");
    let before = processor_time();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut ())
        .expect("a sound policy");
    let time = (processor_time() - before).as_secs_f64();
    let jobs = workload.len();
    println!("{:44} {jobs:8} jobs {time:9.3} s: {:9.0} jobs/s", format!("{policy}, {name}"), jobs as f64 / time);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let slow = words.iter().any(|word| word == "slow");
    let filters: Vec<&String> = words.iter().filter(|word| *word != "slow").collect();
    let has_row = |name: &str| filters.is_empty() || filters.iter().any(|word| name.contains(word.as_str()));
    if has_row("conservative, naive") {
        naive(300);
    }
    conservative_rows(&has_row, slow);
    other_rows(&has_row, slow);
}

fn conservative_rows(has_row: &dyn Fn(&str) -> bool, slow: bool) {
    let new: Build = || Scheduler::new(Box::new(Conservative::new(Notice::Immediate)));
    let old: Build = || conservative(usize::MAX);
    for jobs in [1_000, 2_000, 5_000, 10_000] {
        let name = format!("conservative, burst of {jobs}");
        if has_row(&name) && (slow || jobs < 10_000) {
            row(&name, &burst(jobs), new, (slow || jobs < 5_000).then_some(old));
        }
    }
    let logs = [("KTH-SP2-1996-2.1-cln", 100), ("SDSC-BLUE-2000-4.1-cln", 1_152), ("CTC-SP2-1996-3.1-cln", 338)];
    for (log_name, procs) in logs {
        let name = format!("conservative, {}", &log_name[..8]);
        if has_row(&name)
            && let Some(workload) = log(log_name, procs)
        {
            row(&name, &workload, new, Some(old));
        }
    }
    // The loads are those at which about as many jobs wait as in the logs: 65 and 600.
    for (what, procs, jobs, load, deep) in
        [("HPC2N", 240, 202_871, 0.74, false), ("CEA Curie", 80_640, 312_807, 0.89, true)]
    {
        let name = format!("conservative, like {what}");
        if has_row(&name) && (slow || !deep) {
            row(&name, &like(procs, jobs, load), new, Some(old));
        }
    }
}

fn other_rows(has_row: &dyn Fn(&str) -> bool, slow: bool) {
    if has_row("slack, burst") {
        [500, 1_000].iter().for_each(|&jobs| text(&format!("burst of {jobs}"), "slack", &burst(jobs)));
    }
    if has_row("slack, like HPC2N") && slow {
        text("like HPC2N", "slack", &like(240, 202_871, 0.74));
    }
    for policy in ["is", "ss", "tss"] {
        if has_row(&format!("{policy}, CTC"))
            && let Some(workload) = log("CTC-SP2-1996-3.1-cln", 338)
        {
            text("CTC-SP2", policy, &workload);
        }
        // The same jobs on machines of other sizes: each needs this many times as many processors.
        for times in [1, 100, 10_000] {
            let name = format!("{} processors", 1_000 * times);
            if has_row(&format!("{policy}, {name}")) {
                text(&name, policy, &widened(times));
            }
        }
    }
    for horizon in ["all", "100", "30"] {
        let policy = format!("goal(horizon={horizon})");
        if has_row(&policy) {
            text("burst of 300", &policy, &burst(300));
            text("default", &policy, &drystone::generate::default_workload().expect("the embedded workload"));
        }
    }
}

/// 10,000 jobs for 1,000 processors, with machine and jobs this many times as wide.
fn widened(times: Procs) -> Workload {
    let (_, mut jobs, truth, provenance) = like(1_000, 10_000, 0.85).into_parts();
    jobs.iter_mut().for_each(|job| job.procs *= times);
    Workload::new(Machine::new(1_000 * times), jobs, truth, provenance).expect("sound")
}
