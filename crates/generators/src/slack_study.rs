//! Makes the tables of `docs/slack.md`, in Markdown, from logs of the Parallel Workloads Archive:
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- slack_study tables KTH-SP2-1996-2.swf.gz
//! cargo run --release -p drystone-generators --features all -- slack_study tick KTH-SP2-1996-2.1-cln.swf.gz CTC-SP2-1996-3.1-cln.swf.gz ...
//! ```

use crate::GeneratorResult;
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy, Overrun};
use drystone::log::{file_title, load_log, transform};
use drystone::metrics::PromiseAudit;
use drystone::model::{EndedJob, Workload};
use drystone::policy::PolicySpec;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let outcome = match args.split_first() {
        Some((command, [log])) if command == "tables" => print_tables(Path::new(log)),
        Some((command, logs)) if command == "tick" && !logs.is_empty() => print_ticks(logs),
        _ => Err("usage: slack_study tables KTH-SP2-1996-2.swf.gz | slack_study tick LOG...".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Sums over the jobs of one simulation or several.
#[derive(Clone, Default)]
struct Sums {
    /// Wait in seconds and jobs: the group that counts as important, and all others.
    wait: [(f64, u32); 2],
    killed: u32,
    /// Processor-hours thrown away with killed jobs.
    lost: f64,
    /// Jobs that outlived their estimate and ended by themselves.
    saved: u32,
    slowdown: f64,
    jobs: u32,
}

/// Sums up a simulation of a workload; important are the jobs `k` (from 1) with `k mod 5 = 1`.
struct SlackSumming<'a> {
    workload: &'a Workload,
    sums: Sums,
}

impl Observer for SlackSumming<'_> {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let s = &mut self.sums;
        let group = &mut s.wait[usize::from(!job_end.id.index().is_multiple_of(5))];
        group.0 += job_end.wait_time().as_f64();
        group.1 += 1;
        if job_end.outcome.ran < self.workload.truth()[job_end.id.index()].run {
            s.killed += 1;
            s.lost += f64::from(job_end.job.procs) * job_end.outcome.ran.as_f64() / 3600.0;
        } else {
            s.saved += u32::from(job_end.outcome.ran > job_end.job.estimate);
        }
        let run = job_end.outcome.ran.as_f64();
        s.slowdown += ((job_end.wait_time().as_f64() + run) / run.max(10.0)).max(1.0);
        s.jobs += 1;
    }
}

impl Sums {
    fn add_month(&mut self, workload: &Workload, policy: &str) -> GeneratorResult<u64> {
        let spec: PolicySpec = policy.parse()?;
        let mut observer = (SlackSumming { workload, sums: self.clone() }, PromiseAudit::default());
        Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
            .run(&mut observer)?;
        *self = observer.0.sums;
        Ok(observer.1.kept_promises().broken)
    }

    fn from_months(months: &[(String, Workload)], policy: &str) -> GeneratorResult<Sums> {
        let mut sums = Sums::default();
        for (_, month) in months {
            sums.add_month(month, policy)?;
        }
        Ok(sums)
    }

    fn mean_wait(&self) -> f64 {
        (self.wait[0].0 + self.wait[1].0) / f64::from(self.wait[0].1 + self.wait[1].1)
    }

    fn high_mean(&self) -> f64 {
        self.wait[0].0 / f64::from(self.wait[0].1)
    }

    fn low_mean(&self) -> f64 {
        self.wait[1].0 / f64::from(self.wait[1].1)
    }
}

/// Values printed in the paper. The 1882.3 for November's low-priority jobs is its misprint.
const TABLE_1: [(f64, f64); 13] = [
    (440.6, 440.6),
    (3062.7, 2504.3),
    (4887.0, 3774.6),
    (2157.2, 1904.2),
    (3302.3, 2531.9),
    (2624.3, 2373.9),
    (2644.8, 2196.9),
    (2220.3, 1905.2),
    (2093.6, 1779.2),
    (1443.2, 1282.0),
    (399.9, 354.1),
    (1941.5, 1670.8),
    (2401.44, 2004.46),
];
const TABLE_2: [[f64; 3]; 13] = [
    [440.6, 0.0, 550.8],
    [2783.7, 2295.6, 2906.0],
    [4797.7, 4460.2, 1882.3],
    [2026.0, 1814.8, 2078.8],
    [2777.4, 2603.8, 2820.8],
    [2728.7, 2369.2, 2818.7],
    [2220.9, 1687.2, 2354.6],
    [2056.2, 1797.4, 2120.9],
    [1889.3, 1491.9, 1988.7],
    [1374.7, 1323.3, 1387.6],
    [372.6, 320.2, 385.8],
    [1847.1, 1817.5, 1854.5],
    [2226.17, 1955.28, 2294.0],
];
const TABLE_3: [(&str, [f64; 4]); 5] = [
    ("ast", [2004.5, 2226.2, 1955.3, 2294.0]),
    ("aat", [2088.5, 2223.3, 1952.6, 2291.1]),
    ("dc", [2179.9, 2250.1, 1988.1, 2315.7]),
    ("du", [2206.0, 2279.8, 2048.9, 2337.6]),
    ("dp", [2120.0, 2228.5, 1962.3, 2295.1]),
];

/// Paper, ours, deviation: three cells of a row.
fn comparison_cells(paper: f64, own_mean: f64) -> String {
    let deviation =
        if paper == own_mean { "0.0".into() } else { format!("{:+.1}", 100.0 * (own_mean - paper) / paper) };
    format!(" {paper:.1} | {own_mean:.1} | {deviation} % |")
}

fn print_tables(log: &Path) -> GeneratorResult<()> {
    let loaded_log = load_log(log, &CleaningOptions { records: true, ..CleaningStudy::Talby1999.options() })?;
    let records = loaded_log.records.unwrap_or_default();
    let months = transform::talby1999_months(&loaded_log.header, &records, &file_title(log))?;
    if months.len() != 12 {
        return Err(format!("{} months: this is not the KTH log", months.len()).into());
    }
    let fifth = "slack@talby1999(priorities=every(5,first=1))";
    println!("| month | cons. paper | ours | dev. | slack paper | ours | dev. | improvement paper | ours |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut rows = String::from(
        "| month | all paper | ours | dev. | high paper | ours | dev. | low paper | ours | dev. |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for at in 0..=months.len() {
        let (name, part) =
            if at < months.len() { (months[at].0.as_str(), &months[at..=at]) } else { ("**year**", &months[..]) };
        let (cons, prio) = (
            Sums::from_months(part, "conservative@talby1999")?.mean_wait(),
            Sums::from_months(part, "slack@talby1999")?.mean_wait(),
        );
        let (paper_cons, paper_prio) = TABLE_1[at];
        let improvement = |from: f64, to: f64| 100.0 * (from - to) / from;
        println!(
            "| {name} |{}{} {:.1} % | {:.1} % |",
            comparison_cells(paper_cons, cons),
            comparison_cells(paper_prio, prio),
            improvement(paper_cons, paper_prio),
            improvement(cons, prio)
        );
        let sums = Sums::from_months(part, fifth)?;
        let [overall, high, low] = TABLE_2[at];
        rows += &format!(
            "| {name} |{}{}{}\n",
            comparison_cells(overall, sums.mean_wait()),
            comparison_cells(high, sums.high_mean()),
            comparison_cells(low, sums.low_mean())
        );
    }
    println!("\n{rows}");
    println!(
        "| order | equal paper | ours | dev. | unequal paper | ours | dev. | high paper | ours | dev. | low paper | ours | dev. |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (order, [equal, overall, high, low]) in TABLE_3 {
        let equal_mean = Sums::from_months(&months, &format!("slack@talby1999(order={order})"))?.mean_wait();
        let sums = Sums::from_months(&months, &format!("slack@talby1999(order={order},priorities=every(5,first=1))"))?;
        let cells = [
            comparison_cells(equal, equal_mean),
            comparison_cells(overall, sums.mean_wait()),
            comparison_cells(high, sums.high_mean()),
            comparison_cells(low, sums.low_mean()),
        ];
        println!("| {order} |{}", cells.concat());
    }
    let conservative = Sums::from_months(&months, "conservative@talby1999")?.mean_wait();
    println!("\n| SF | average wait (s) | against conservative {conservative:.1} |\n|---|---|---|");
    for sf in ["0", "0.1", "0.25", "0.5", "1", "1.5", "2", "2.5", "3", "4", "5", "6", "7", "8", "9", "12", "20"] {
        let wait = Sums::from_months(&months, &format!("slack@talby1999(sf={sf})"))?.mean_wait();
        println!("| {sf} | {wait:.1} | {:+.2} % |", 100.0 * (wait - conservative) / conservative);
    }
    println!("\n| policy | average wait (s) |\n|---|---|");
    for policy in [
        "slack@talby1999",
        "slack@talby1999(awt=auto)",
        "slack@talby1999(order=exhaustive(6))",
        "slack@talby1999(notice=immediate)",
        "slack@talby1999(notice=immediate,awt=auto)",
        "slack@talby1999(remove=priced)",
        "easy",
        "conservative",
    ] {
        println!("| `{policy}` | {:.1} |", Sums::from_months(&months, policy)?.mean_wait());
    }
    Ok(())
}

fn print_ticks(logs: &[String]) -> GeneratorResult<()> {
    println!(
        "| log | jobs beyond their estimate | `tick` | killed | processor-hours thrown away | ran to their end | mean wait (s) | \
         bounded slowdown | broken promises |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for log in logs {
        let options = CleaningOptions { overrun: Overrun::RunOn, ..CleaningOptions::default() };
        let workload = load_log(Path::new(log), &options)?.workload;
        let beyond =
            workload.jobs().iter().zip(workload.truth()).filter(|(job, truth)| truth.run > job.estimate).count();
        for tick in ["kill", "overrun", "extend", "run"] {
            let mut sums = Sums::default();
            let broken_count = sums.add_month(&workload, &format!("slack(tick={tick})"))?;
            println!(
                "| {} | {beyond} | {tick} | {} | {:.0} | {} | {:.0} | {:.1} | {broken_count} |",
                file_title(Path::new(log)),
                sums.killed,
                sums.lost,
                sums.saved,
                sums.mean_wait(),
                sums.slowdown / f64::from(sums.jobs),
            );
        }
    }
    Ok(())
}
