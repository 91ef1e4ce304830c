//! Preemption against none on a log: the figures of `docs/suspension.md`.
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- suspension_study LOG.swf.gz PROCS [--first N] [--estimates] \
//!     [--platform FILE.toml] [--loads 1.0,1.1,...] [--tables] [--seconds] POLICY...
//! ```
//!
//! The log is read as Kettimuthu et al. 2005 read it (`--estimates`: with the users' estimates).
//! For each policy, and for each load factor: mean bounded slowdown, mean turnaround, utilisation,
//! suspensions, work lost to overhead; the machine counts as saturated where a tenth more load
//! makes it less than 2 % busier. `--tables` adds mean and worst slowdowns of the 16 categories,
//! for well and badly estimated jobs apart with `--estimates`; `--seconds` the least CPU-bound time
//! of 3 runs.
#![allow(clippy::disallowed_methods, reason = "it measures speed")]

use drystone::engine::{Observer, Platform, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy, Overrun};
use drystone::log::transform::{LoadFactor, scale_load};
use drystone::metrics::measures::bounded_slowdown_kettimuthu;
use drystone::model::{EndedJob, Time, Workload};
use drystone::policy::PolicySpec;
use std::error::Error;
use std::time::Instant;

/// Sum, number and largest of a stream.
#[derive(Clone, Copy, Default)]
struct Cell {
    sum: f64,
    count: u32,
    worst: f64,
}

impl Cell {
    fn add_value(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
        self.worst = self.worst.max(value);
    }

    fn mean(self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

#[derive(Default)]
struct SuspensionTables {
    slowdown: Cell,
    turnaround: Cell,
    /// All, well estimated, badly estimated; 4 classes of run time by 4 of processors.
    categories: [[Cell; 16]; 3],
    four: [Cell; 4],
    work: f64,
    overhead: f64,
    suspensions: u64,
    last_end: i64,
}

impl Observer for SuspensionTables {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let EndedJob { job, outcome, .. } = *job_end;
        let class = |value: i64, borders: &[i64]| borders.iter().filter(|&&b| value > b).count();
        let slowdown = bounded_slowdown_kettimuthu(job_end.wait_time(), outcome.ran);
        let procs = i64::from(job.procs);
        let at = 4 * class(outcome.ran.0, &[600, 3_600, 28_800]) + class(procs, &[1, 8, 32]);
        let badly = usize::from(job.estimate.0 > 2 * outcome.ran.0);
        self.slowdown.add_value(slowdown);
        self.turnaround.add_value(job_end.response_time().as_f64());
        self.categories[0][at].add_value(slowdown);
        self.categories[1 + badly][at].add_value(slowdown);
        self.four[2 * class(outcome.ran.0, &[3_600]) + class(procs, &[8])].add_value(slowdown);
        self.work += outcome.ran.as_f64() * f64::from(job.procs);
        self.overhead += outcome.overhead.as_f64() * f64::from(job.procs);
        self.suspensions += u64::from(outcome.suspensions);
        self.last_end = self.last_end.max(outcome.end.0);
    }
}

fn run_policy(workload: &Workload, spec: &PolicySpec, platform: &Platform) -> Result<SuspensionTables, Box<dyn Error>> {
    let mut tables = SuspensionTables::default();
    let simulation = Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload));
    simulation.with_platform(platform).run(&mut tables)?;
    Ok(tables)
}

fn print_table(name: &str, cells: &[Cell; 16]) {
    if cells.iter().all(|c| c.count == 0) {
        return;
    }
    for (label, value) in [("mean", Cell::mean as fn(Cell) -> f64), ("worst", |c| c.worst)] {
        println!("  {name}, {label}:");
        for row in cells.chunks(4) {
            let row: Vec<String> = row.iter().map(|&c| format!("{:8.2}", value(c))).collect();
            println!("    {}", row.join(" "));
        }
    }
}

pub(crate) fn main(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    let mut args = args.into_iter();
    let log = args.next().ok_or("a log is missing")?;
    let procs = args.next().ok_or("the number of processors is missing")?.parse()?;
    let mut options = CleaningOptions { procs: Some(procs), ..CleaningStudy::Kettimuthu2005.options() };
    let (mut platform, mut loads, mut policies) = (Platform::default(), vec!["1".to_string()], Vec::new());
    let (mut tables, mut seconds) = (false, false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--first" => options.take = Some(args.next().ok_or("--first needs a number")?.parse()?),
            "--estimates" => options.overrun = Overrun::Raise,
            "--platform" => {
                let file = args.next().ok_or("--platform needs a file")?;
                platform = Platform::from_toml(&std::fs::read_to_string(file)?)?;
            }
            "--loads" => {
                loads = args.next().ok_or("--loads needs factors")?.split(',').map(String::from).collect();
            }
            "--tables" => tables = true,
            "--seconds" => seconds = true,
            policy => policies.push(policy.parse::<PolicySpec>()?),
        }
    }
    let workload = drystone::log::load_log(&log, &options)?.workload;
    println!("{} jobs of {log} on {procs} processors", workload.len());
    println!("policy | load | slowdown | turnaround | utilisation | SN SW LN LW | suspensions | overhead % of work");
    for spec in &policies {
        let mut last: Option<(f64, f64)> = None;
        for load in &loads {
            let factor: LoadFactor = load.parse()?;
            let scaled_workload = scale_load(workload.clone(), factor)?;
            let (first, _) = scaled_workload.submit_range().unwrap_or((Time::ZERO, Time::ZERO));
            let t = run_policy(&scaled_workload, spec, &platform)?;
            let utilisation = t.work / (f64::from(procs) * (t.last_end - first.0) as f64);
            let four: Vec<String> = t.four.iter().map(|c| format!("{:.2}", c.mean())).collect();
            // A tenth more load on a machine that is not saturated makes it a tenth busier.
            let gain = last.map(|(load, busy)| (utilisation / busy).ln() / (factor.as_f64() / load).ln());
            let is_saturated = gain.is_some_and(|gain| gain < 0.2);
            println!(
                "{spec} | {load} | {:.3} | {:.0} | {utilisation:.4}{} | {} | {} | {:.2}",
                t.slowdown.mean(),
                t.turnaround.mean(),
                if is_saturated { " saturated" } else { "" },
                four.join(" "),
                t.suspensions,
                100.0 * t.overhead / t.work,
            );
            last = Some((factor.as_f64(), utilisation));
            if tables {
                for (name, cells) in ["all jobs", "well estimated", "badly estimated"].iter().zip(&t.categories) {
                    print_table(name, cells);
                }
            }
        }
        if seconds {
            let mut best = f64::MAX;
            for _ in 0..3 {
                let since = Instant::now();
                Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload))
                    .run(&mut ())?;
                best = best.min(since.elapsed().as_secs_f64());
            }
            println!("{spec}: {best:.3} s");
        }
    }
    Ok(())
}
