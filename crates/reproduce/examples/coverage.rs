//! Measures the coverage of the intervals of `compare` as a table in Markdown, from independent
//! generated logs of 128 processors. The true change is that of the means over all logs of a row.
//!
//! ```text
//! cargo run --release -p drystone-reproduce --example coverage          # about ten minutes
//! cargo run --release -p drystone-reproduce --example coverage -- 20    # 20 logs in each row
//! ```

use drystone::experiment::Experiment;
use drystone::generate::{Params, generate};
use drystone::metrics::interval::{PeriodSum, change_interval};
use drystone::metrics::{Config, Measure, Report};
use drystone::policy::PolicySpec;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Load, jobs and logs of each row.
const ROWS: [(f64, u32, usize); 4] = [(0.6, 20_000, 200), (0.7, 20_000, 200), (0.7, 5_000, 300), (0.9, 20_000, 150)];
const POLICIES: [&str; 3] = ["easy", "easy-sjbf", "easy++"];
const MEASURES: [Measure; 2] = [Measure::Wait, Measure::BoundedSlowdown];
const CONFIDENCE: f64 = 0.95;

/// Sums of each week, by policy and measure.
type Log = Vec<Vec<Vec<PeriodSum>>>;

fn main() -> ExitCode {
    match std::env::args().nth(1).map(|given| given.parse()).transpose() {
        Ok(logs) => match table(logs) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        },
        Err(_) => {
            eprintln!("usage: coverage [LOGS]; LOGS is the number of logs in each row");
            ExitCode::from(2)
        }
    }
}

fn table(given: Option<usize>) -> Result<()> {
    println!(
        "| load, jobs, logs | weeks | sjbf wait | sjbf bounded slowdown | easy++ wait | easy++ bounded slowdown |\n\
         |---|---|---|---|---|---|"
    );
    for (row, (load, jobs, logs)) in ROWS.into_iter().enumerate() {
        let logs = given.unwrap_or(logs);
        let all = simulate(row, load, jobs, logs)?;
        let mut weeks: Vec<usize> = all.iter().map(|log| log[0][0].len()).collect();
        weeks.sort_unstable();
        let cells: Vec<String> = (1..POLICIES.len())
            .flat_map(|p| (0..MEASURES.len()).map(move |m| (p, m)))
            .map(|at| cell(&all, at))
            .collect();
        println!("| {load}, {jobs}, {logs} | {} | {} |", weeks[weeks.len() / 2], cells.join(" | "));
    }
    Ok(())
}

/// Share of intervals that hold the truth, their median width, and how many logs have none.
fn cell(logs: &[Log], (policy, measure): (usize, usize)) -> String {
    let mean = |of: usize| {
        let sums = logs.iter().flat_map(|log| &log[of][measure]);
        let (sum, count) = sums.fold((0.0, 0.0), |all, week| (all.0 + week.sum, all.1 + week.count));
        sum / count
    };
    let truth = mean(policy) / mean(0) - 1.0;
    let found: Vec<(f64, f64)> = logs
        .iter()
        .filter_map(|log| change_interval(&log[0][measure], &log[policy][measure], CONFIDENCE).interval())
        .collect();
    let holding = found.iter().filter(|(low, high)| *low <= truth && truth <= *high).count();
    let mut widths: Vec<f64> = found.iter().map(|(low, high)| high - low).collect();
    widths.sort_unstable_by(f64::total_cmp);
    let width = widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN);
    let short = match logs.len() - found.len() {
        0 => String::new(),
        short => format!(", {short} too short"),
    };
    format!(
        "{:.3} (truth {:+.0} %, width {:.0} points{short})",
        holding as f64 / found.len() as f64,
        truth * 100.0,
        width * 100.0
    )
}

/// Simulates the logs of a row, on as many threads as there are processors.
fn simulate(row: usize, load: f64, jobs: u32, logs: usize) -> Result<Vec<Log>> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= logs {
                        return;
                    }
                    let log = one(load, jobs, (1_000 * row + at + 1) as u64);
                    done.lock().unwrap_or_else(|e| e.into_inner()).push((at, log));
                }
            });
        }
    });
    let mut all = done.into_inner().unwrap_or_else(|e| e.into_inner());
    all.sort_by_key(|one| one.0);
    all.into_iter().map(|(_, log)| log).collect()
}

fn one(load: f64, jobs: u32, seed: u64) -> Result<Log> {
    let params = Params { load: Some(load), seed, ..Params::new(128, jobs) };
    let workload = generate(&params)?;
    let mut reports: Vec<Report> = Vec::new();
    for policy in POLICIES {
        let spec: PolicySpec = policy.parse()?;
        let measured = Experiment::new(&spec, &workload).measuring(Config::light()).run(&mut ())?;
        reports.push(measured.ok_or("stopped")?.report);
    }
    let last = reports.iter().flat_map(|report| &report.weeks).map(|week| week.week).max().unwrap_or(0);
    let sums = |report: &Report, measure: Measure| -> Vec<PeriodSum> {
        let mut sums = vec![PeriodSum::default(); usize::try_from(last).unwrap_or(0) + 1];
        for week in &report.weeks {
            let (sum, count) = week.sum(measure);
            sums[usize::try_from(week.week).unwrap_or(0)] = PeriodSum { sum, count: count as f64 };
        }
        sums
    };
    Ok(reports.iter().map(|report| MEASURES.map(|measure| sums(report, measure)).to_vec()).collect())
}
