//! Slurm's model where many jobs wait.
//!
//! Bursts on 4,096 one-core nodes with Slurm's defaults, a workload like HPC2N's on nodes of 16
//! processors, and logs. Each row has the processor time of one simulation and a checksum of all
//! starts, so that two versions are known to have made the same schedule. `cargo bench -p
//! drystone-slurm --bench deep -- WORDS` takes the rows whose names hold one of the words;
//! `-- slow` adds those that take minutes.

#[path = "../../drystone/benches/clock/mod.rs"]
mod clock;

use clock::processor_time;
use drystone::generate::{Params, generate_workload};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::model::{Job, LogStatus, Machine, Procs, Provenance, Span, Time, Truth, Workload};
use drystone_core::engine::{Schedule, Simulation, WorkloadReplay};
use drystone_core::policy::PolicySpec;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;

/// Jobs submitted in one second: 1 to 256 of 4,096 processors, with estimates from a minute to a
/// day and run times from 0 to the estimate.
fn burst(jobs: usize) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut list, mut truth) = (Vec::new(), Vec::new());
    for number in 1..=jobs {
        let estimate = f64::exp(rng.random_range(60f64.ln()..86_400f64.ln())) as i64;
        let run = Span(rng.random_range(0..=estimate));
        list.push(Job::new(Time(0), rng.random_range(1..=256u32), Span(estimate)));
        truth.push(Truth { run, number: number as i64, status: LogStatus::Unknown });
    }
    Workload::new(Machine::new(4_096), list, truth, Provenance::default()).expect("sound")
}

/// Jobs of a generated workload, all submitted in one second.
fn sudden(jobs: u32) -> Workload {
    let (machine, mut all, truth, provenance) =
        generate_workload(&Params::new(4_096, jobs)).expect("sound parameters").into_parts();
    all.iter_mut().for_each(|job| job.submit = Time(0));
    Workload::new(machine, all, truth, provenance).expect("sound")
}

/// A log of the archive.
fn log(name: &str, procs: Procs) -> Option<Workload> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let options = CleaningOptions { procs: Some(procs), ..CleaningStudy::Tsafrir2007.options() };
    let file = root.join(format!("traces/{name}.swf.gz"));
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(drystone::log::load_log(file, &options).expect("a good log").workload)
}

/// FNV-1a of the starts.
fn checksum(schedule: &Schedule) -> u64 {
    let starts = schedule.spans.iter().flat_map(|span| span.map_or(-1, |(start, _)| start.0).to_le_bytes());
    starts.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn row(name: &str, policy: &str, workload: &Workload) {
    let spec: PolicySpec = policy.parse().expect("known");
    let mut schedule = Schedule::default();
    let before = processor_time();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut schedule)
        .expect("a sound policy");
    let time = (processor_time() - before).as_secs_f64();
    println!("{name:28} {:8} jobs {time:9.2} s, starts {:016x}", workload.len(), checksum(&schedule));
}

fn main() {
    drystone_slurm::policy::register_policy().expect("the only registration");
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let slow = words.iter().any(|word| word == "slow");
    let names: Vec<&String> = words.iter().filter(|word| *word != "slow").collect();
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|word| name.contains(word.as_str()));
    for (jobs, minutes) in [(600, false), (1_200, false), (2_500, false), (10_000, true), (50_000, true)] {
        let name = format!("burst of {jobs}");
        if is_chosen(&name) && (slow || !minutes) {
            row(&name, "slurm", &burst(jobs));
        }
        let name = format!("sudden {jobs}");
        if is_chosen(&name) && (slow || !minutes) {
            row(&name, "slurm", &sudden(jobs as u32));
        }
    }
    if is_chosen("like HPC2N, cpus=16") && slow {
        let workload =
            generate_workload(&Params { load: Some(0.74), ..Params::new(240, 202_871) }).expect("sound parameters");
        row("like HPC2N, cpus=16", "slurm(cpus=16)", &workload);
    }
    for (name, procs) in [("KTH-SP2-1996-2.1-cln", 100), ("SDSC-SP2-1998-4.2-cln", 128), ("CTC-SP2-1996-3.1-cln", 338)]
    {
        if is_chosen(name)
            && let Some(workload) = log(name, procs)
        {
            row(&name[..8], "slurm", &workload);
        }
    }
}
