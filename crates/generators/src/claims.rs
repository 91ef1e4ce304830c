//! Makes tables as in `docs/slurm.md`, in Markdown: what Slurm's documentation says of
//! parameters, in numbers.
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- claims LOG.swf.gz...
//! ```
//!
//! Each setting is simulated with three phases of Slurm's clocks. Only a change beyond the spread
//! of the phases means anything.

use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::log::clean::CleaningOptions;
use drystone::log::{file_title, load_log};
use drystone::model::{JobId, Time, Workload};
use drystone::policy::{PolicySpec, StartReason};
use drystone_slurm::policy::register_policy;
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Phases of the clocks.
const PHASES: u64 = 3;

/// Claims, and the settings that show them: the others are compared with the first.
const CLAIMS: [(&str, &[&str]); 5] = [
    (
        "`bf_max_job_user` keeps one user from using up a pass",
        &["", "bf_max_job_user=1", "bf_max_job_user=5", "bf_max_job_user=20"],
    ),
    (
        "`bf_window` below the longest limit leaves long jobs unprotected",
        &["bf_window=10080", "", "bf_window=240", "bf_window=60", "bf_window=10"],
    ),
    (
        "a small `bf_max_job_test` backfills less",
        &["", "bf_max_job_test=100", "bf_max_job_test=20", "bf_max_job_test=5", "bf_interval=-1"],
    ),
    (
        "without `bf_continue` a pass ends when it has let go of the locks, and deep jobs are not reached (50 ms for each job)",
        &["test-us=50000,bf_continue=yes", "test-us=50000", "test-us=50000,bf_max_time=600,bf_continue=yes", ""],
    ),
    ("a count of processors backfills better than nodes do", &["", "cpus=8", "cpus=8,whole=yes", "easy"]),
];

/// Waits of a simulation, in seconds.
#[derive(Clone, Copy, Default)]
struct Waits {
    mean: f64,
    longest: i64,
    /// Mean bounded slowdown, with a threshold of 10 s.
    slowdown: f64,
    /// Mean wait of the jobs that ask for an eighth of the machine or more.
    wide: f64,
}

struct ClaimedStarts<'a> {
    workload: &'a Workload,
    waits: Vec<i64>,
}

impl Observer for ClaimedStarts<'_> {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.waits[id.index()] = (now - self.workload.job(id).submit).0;
    }
}

impl ClaimedStarts<'_> {
    fn sum_up(&self) -> Waits {
        let (machine, truth) = (self.workload.machine().procs, self.workload.truth());
        let count = self.waits.len().max(1) as f64;
        let mut waits = Waits { longest: self.waits.iter().copied().max().unwrap_or(0), ..Waits::default() };
        let (mut wide, mut many) = (0.0, 0.0_f64);
        for ((job, &wait), truth) in self.workload.jobs().iter().zip(&self.waits).zip(truth) {
            let run = truth.run.0 as f64;
            waits.mean += wait as f64 / count;
            waits.slowdown += ((wait as f64 + run) / run.max(10.0)).max(1.0) / count;
            if u64::from(job.procs) * 8 >= u64::from(machine) {
                wide += wait as f64;
                many += 1.0;
            }
        }
        waits.wide = wide / many.max(1.0);
        waits
    }
}

fn simulate_policy(policy: &str, workload: &Workload) -> Result<Waits, String> {
    let spec: PolicySpec = policy.parse().map_err(|error: drystone::policy::SpecError| error.to_string())?;
    let mut starts = ClaimedStarts { workload, waits: vec![0; workload.len()] };
    let mut simulation = Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(&mut starts).map_err(|error| format!("{policy}: {error}"))?;
    Ok(starts.sum_up())
}

fn list_policies(setting: &str) -> Vec<String> {
    match setting {
        "easy" => vec!["easy".to_string()],
        _ => (0..PHASES).map(|phase| format!("slurm(phase={phase},{setting})").replace(",)", ")")).collect(),
    }
}

/// Simulates all of these policies on two threads or what there are.
fn simulate_all(policies: &[String], workload: &Workload) -> Result<Vec<Waits>, String> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(vec![None; policies.len()]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < policies.len()) {
                    let waits = simulate_policy(&policies[at], workload);
                    if let Ok(mut slots) = results.lock() {
                        slots[at] = Some(waits);
                    }
                }
            });
        }
    });
    let results = results.into_inner().map_err(|_| "a thread has failed")?;
    results.into_iter().map(|waits| waits.unwrap_or_else(|| Err("not simulated".to_string()))).collect()
}

pub(crate) fn main(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    register_policy()?;
    let logs = args;
    let mut workloads = Vec::new();
    for log in &logs {
        workloads.push((file_title(Path::new(log)), load_log(log, &CleaningOptions::default())?.workload));
    }
    for (claim, settings) in CLAIMS {
        println!("## Claim: {claim}\n");
        println!("| log | setting | mean wait, s | over the phases | change | slowdown | wide jobs, s | longest, h |");
        println!("|---|---|--:|---|--:|--:|--:|--:|");
        for (name, workload) in &workloads {
            let mut first = None;
            for setting in settings {
                let waits = simulate_all(&list_policies(setting), workload)?;
                let mean = |of: fn(&Waits) -> f64| waits.iter().map(of).sum::<f64>() / waits.len() as f64;
                let wait = mean(|w| w.mean);
                let least = waits.iter().map(|w| w.mean).fold(f64::INFINITY, f64::min);
                let most = waits.iter().map(|w| w.mean).fold(0.0, f64::max);
                let base = *first.get_or_insert(wait);
                println!(
                    "| {name} | {} | {wait:.0} | {least:.0} to {most:.0} | {:+.1} % | {:.1} | {:.0} | {:.1} |",
                    if setting.is_empty() { "defaults".to_string() } else { format!("`{setting}`") },
                    100.0 * (wait - base) / base.max(1.0),
                    mean(|w| w.slowdown),
                    mean(|w| w.wide),
                    mean(|w| w.longest as f64) / 3600.0,
                );
            }
        }
        println!();
    }
    Ok(())
}
