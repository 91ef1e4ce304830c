//! Simulates one policy, on a log or on a generated workload, and prints what a site would ask
//! first.
//!
//! ```text
//! cargo run --release -p drystone --example simulate -- 'easy(backfill=sjf)' LOG.swf.gz
//! ```

use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate;
use drystone::log;
use drystone::log::clean::CleaningOptions;
use drystone::metrics::{Collector, MetricsConfig, Scope};
use drystone::policy::PolicySpec;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let policy: PolicySpec = arguments.next().as_deref().unwrap_or("easy").parse()?;
    let workload = match arguments.next() {
        Some(path) => log::load_log(path, &CleaningOptions::default())?.workload,
        None => generate::default_workload()?,
    };

    let mut collector = Collector::new(Scope::from_workload(&workload), MetricsConfig::default());
    Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload))
        .run(&mut collector)?;
    let report = collector.finish();

    let (wait, slowdown) = (&report.measures.wait, &report.measures.bounded_slowdown);
    println!("{policy}: {} jobs on {} processors", workload.len(), workload.machine().procs);
    println!("mean wait              {:>10.0} s", wait.mean.unwrap_or(0.0));
    println!("longest wait           {:>10.0} s", wait.max.unwrap_or(0.0));
    println!("mean bounded slowdown  {:>10.1}", slowdown.mean.unwrap_or(0.0));
    println!("utilisation            {:>10.1} %", 100.0 * report.machine.period_utilisation.unwrap_or(0.0));
    Ok(())
}
