//! Policies that plan every job, where many wait: as they are, beside the same without what makes them fast there, in one run.
//!
//! Both must give the same schedule, job by job; that is asserted. Processor time of the whole simulation, best of as many
//! runs in turn as fit into some seconds. `cargo bench -p drystone --bench deep -- WORDS` takes the rows whose names hold one of
//! the words; `-- slow` adds those whose obvious side takes minutes.

mod clock;

use clock::processor_time;
use drystone::engine::{Replay, Schedule, Scheduler, Simulation};
use drystone::generate::{Params, generate};
use drystone::log::clean::Study;
use drystone::model::{Job, Machine, Procs, Provenance, Span, Status, Time, Truth, Workload};
use drystone::policy::{Conservative, Notice};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::time::Duration;

/// So many jobs in one second: 1 to 256 of 1,024 processors, estimates from a minute to a day, of which any part is needed.
fn burst(jobs: usize) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut all, mut truth) = (Vec::new(), Vec::new());
    for number in 1..=jobs {
        let estimate = f64::exp(rng.random_range(60f64.ln()..86_400f64.ln())) as i64;
        let run = Span(rng.random_range(0..=estimate));
        all.push(Job::new(Time(0), rng.random_range(1..=256u32), Span(estimate)));
        truth.push(Truth { run, number: number as i64, status: Status::Unknown });
    }
    Workload::new(Machine::new(1_024), all, truth, Provenance::default()).expect("sound")
}

/// As a log of such a machine, at a load at which as many wait.
fn like(procs: Procs, jobs: u32, load: f64) -> Workload {
    generate(&Params { load: Some(load), ..Params::new(procs, jobs) }).expect("sound parameters")
}

/// A log of the archive.
fn log(name: &str, procs: Procs) -> Option<Workload> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let options = drystone::log::clean::Options { procs: Some(procs), ..Study::Tsafrir2007.options() };
    let file = root.join(format!("traces/{name}.swf.gz"));
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(drystone::log::load(file, &options).expect("a good log").workload)
}

type Build = fn() -> Scheduler;

fn simulate(workload: &Workload, build: Build) -> (Duration, Schedule) {
    let mut schedule = Schedule::default();
    let before = processor_time();
    Simulation::new(workload.machine(), build(), Replay::new(workload)).run(&mut schedule).expect("a sound policy");
    (processor_time() - before, schedule)
}

fn conservative(deep_from: usize) -> Scheduler {
    Scheduler::new(Box::new(Conservative::deep_from(Notice::Immediate, deep_from)))
}

fn row(name: &str, workload: &Workload, fast: Build, obvious: Option<Build>) {
    let (mut best, mut beside) = (Duration::MAX, Duration::MAX);
    let (mut spent, mut runs) = (Duration::ZERO, 0);
    while runs == 0 || spent < Duration::from_secs(4) && runs < 20 {
        let (time, schedule) = simulate(workload, fast);
        best = best.min(time);
        spent += time;
        if let Some(obvious) = obvious {
            let (time, theirs) = simulate(workload, obvious);
            assert!(schedule.spans == theirs.spans, "{name}: two schedules");
            beside = beside.min(time);
            spent += time;
        }
        runs += 1;
    }
    let jobs = workload.len();
    let (best, beside) = (best.as_secs_f64(), beside.as_secs_f64());
    match obvious {
        Some(_) => println!("{name:32} {jobs:8} jobs {best:9.3} s, obvious {beside:9.3} s: {:6.2} times", beside / best),
        None => println!("{name:32} {jobs:8} jobs {best:9.3} s"),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let slow = words.iter().any(|word| word == "slow");
    let named: Vec<&String> = words.iter().filter(|word| *word != "slow").collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|word| name.contains(word.as_str()));
    let new: Build = || Scheduler::new(Box::new(Conservative::new(Notice::Immediate)));
    let old: Build = || conservative(usize::MAX);
    for jobs in [1_000, 2_000, 5_000, 10_000] {
        let name = format!("conservative, burst of {jobs}");
        if wanted(&name) {
            row(&name, &burst(jobs), new, (slow || jobs < 5_000).then_some(old));
        }
    }
    for (name, procs) in [("KTH-SP2-1996-2.1-cln", 100), ("SDSC-BLUE-2000-4.1-cln", 1_152), ("CTC-SP2-1996-3.1-cln", 338)] {
        let name_of_row = format!("conservative, {}", &name[..8]);
        if wanted(&name_of_row)
            && let Some(workload) = log(name, procs)
        {
            row(&name_of_row, &workload, new, Some(old));
        }
    }
    for (like_what, procs, jobs, load, deep) in
        [("HPC2N", 240, 202_871, 0.9, false), ("CEA Curie", 80_640, 312_807, 0.9, true)]
    {
        let name = format!("conservative, like {like_what}");
        if wanted(&name) {
            row(&name, &like(procs, jobs, load), new, (slow || !deep).then_some(old));
        }
    }
}
