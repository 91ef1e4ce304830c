//! Multiple queues against one on a log: the figures of `docs/multiqueue.md`.
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- multiqueue_study LOG.swf.gz PROCS [--estimates] [--trace PREFIX] POLICY...
//! ```
//!
//! The log is read as the paper reads it (`--estimates`: with the users' estimates). For each
//! policy: the slowdown ratio R relative to EASY, overall and per class of run times, in how many
//! batches of 1,000 submissions it is better and worse, mean slowdowns, jobs that start after their
//! promise, the delay at its largest and at the end, and the time of the simulation beside that of
//! EASY (the least of `REPEAT` runs each, taken in turn). `--trace` writes PREFIX-N-notes.csv
//! (partitions, delay and borders over time), PREFIX-N-ratio.csv (R per batch) and
//! PREFIX-N-weeks.csv (wait and slowdown per class and week) for the N-th policy.

use drystone::engine::{Notes, Observer, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::metrics::{
    BATCH, Collector, JobRow, MetricsConfig, PromiseAudit, Scope, slowdown_ratios, weekly_classes,
};
use drystone::model::{EndedJob, Workload};
use drystone::policy::{Gauge, PolicySpec};
use std::error::Error;
use std::fmt::Write;
use std::time::{Duration, Instant};

const REPEAT: u32 = 5;
const BASELINE: &str = "easy";

struct Rows(Collector);

impl Observer for Rows {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.0.note_end(job_end);
    }
}

struct Done {
    rows: Vec<JobRow>,
    late: u64,
    notes: Notes,
}

fn run_policy(workload: &Workload, spec: &PolicySpec) -> Result<Done, Box<dyn Error>> {
    let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
    let rows = Rows(Collector::new(Scope::from_workload(workload), config));
    let mut observer = (rows, (PromiseAudit::default(), Notes::default()));
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload)).run(&mut observer)?;
    let (rows, (audit, notes)) = observer;
    Ok(Done { rows: rows.0.finish().jobs.unwrap_or_default(), late: audit.kept_promises().broken, notes })
}

#[expect(clippy::disallowed_methods, reason = "it measures speed")]
fn measure_time(workload: &Workload, spec: &PolicySpec) -> Result<Duration, Box<dyn Error>> {
    let since = Instant::now();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload)).run(&mut ())?;
    Ok(since.elapsed())
}

fn format_number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |v| format!("{v:.3}"))
}

fn class_slowdown(rows: &[JobRow], class: Option<usize>) -> f64 {
    let class_of = |row: &JobRow| [100, 1_000, 10_000].iter().filter(|&&b| row.ran.0 > b).count();
    let of = |row: &&JobRow| row.ran.0 > 0 && class.is_none_or(|c| class_of(row) == c);
    let n = rows.iter().filter(of).count();
    rows.iter().filter(of).map(|r| 1.0 + r.wait().as_f64() / r.ran.as_f64()).sum::<f64>() / n as f64
}

pub(crate) fn main(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    let mut args = args.into_iter();
    let log = args.next().ok_or("a log is missing")?;
    let procs = args.next().ok_or("the number of processors is missing")?.parse()?;
    let mut study = CleaningStudy::Lawson2002.options();
    let (mut trace, mut policies) = (None, Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--estimates" => study = CleaningOptions { overrun: CleaningOptions::default().overrun, ..study },
            "--trace" => trace = Some(args.next().ok_or("--trace needs a prefix")?),
            policy => policies.push(policy.parse::<PolicySpec>()?),
        }
    }
    let workload = drystone::log::load_log(&log, &CleaningOptions { procs: Some(procs), ..study })?.workload;
    let baseline: PolicySpec = BASELINE.parse()?;
    let single = run_policy(&workload, &baseline)?;
    println!("{} jobs of {log} on {procs} processors", workload.len());
    println!(
        "{BASELINE}: slowdown {:.2}, class 4 {:.3}",
        class_slowdown(&single.rows, None),
        class_slowdown(&single.rows, Some(3))
    );
    for (n, policy) in policies.iter().enumerate() {
        let outcome = run_policy(&workload, policy)?;
        let r = slowdown_ratios(&single.rows, &outcome.rows, BATCH)?;
        let count = |sign: fn(f64) -> bool| r.batches.iter().flatten().filter(|&&b| sign(b)).count();
        let delays = || outcome.notes.list.iter().filter(|n| n.gauge == Gauge::Delay).map(|n| n.value);
        let (mut our_time, mut their_time) = (Duration::MAX, Duration::MAX);
        for _ in 0..REPEAT {
            their_time = their_time.min(measure_time(&workload, &baseline)?);
            our_time = our_time.min(measure_time(&workload, policy)?);
        }
        println!(
            "{policy}: R {} [{}] better {} worse {} | slowdown {:.2}, class 4 {:.3} | late {} | D max {} end {} | {:.1} ms, {:.2} of {BASELINE}",
            format_number(r.overall),
            r.classes.map(format_number).join(" "),
            count(|b| b > 0.0),
            count(|b| b < 0.0),
            class_slowdown(&outcome.rows, None),
            class_slowdown(&outcome.rows, Some(3)),
            outcome.late,
            delays().max().map_or("-".into(), |d| d.to_string()),
            delays().next_back().map_or("-".into(), |d| d.to_string()),
            our_time.as_secs_f64() * 1e3,
            our_time.as_secs_f64() / their_time.as_secs_f64(),
        );
        if let Some(prefix) = &trace {
            outcome.notes.write_csv(std::fs::File::create(format!("{prefix}-{n}-notes.csv"))?)?;
            let mut text = "batch,since,ratio\n".to_string();
            for (i, ratio) in r.batches.iter().enumerate() {
                writeln!(text, "{i},{},{}", outcome.rows[i * BATCH].submit.0, ratio.unwrap_or(0.0))?;
            }
            std::fs::write(format!("{prefix}-{n}-ratio.csv"), text)?;
            let mut text = "week,class,jobs,wait,slowdown\n".to_string();
            for w in weekly_classes(&outcome.rows) {
                writeln!(
                    text,
                    "{},{},{},{},{}",
                    w.week,
                    w.class + 1,
                    w.jobs,
                    format_number(w.wait),
                    format_number(w.slowdown)
                )?;
            }
            std::fs::write(format!("{prefix}-{n}-weeks.csv"), text)?;
        }
    }
    Ok(())
}
