//! Measures the speed of the model and its results: `speed LOG [POLICY]`.

use drystone::engine::{Simulation, WorkloadReplay};
use drystone::log::clean::CleaningOptions;
use drystone::policy::PolicySpec;
use drystone_slurm::policy::register_policy;
use std::error::Error;
use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "it measures speed")]
pub(crate) fn main(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    register_policy()?;
    let mut args = args.into_iter();
    let log = args.next().ok_or("speed LOG [POLICY]")?;
    let spec: PolicySpec = args.next().as_deref().unwrap_or("slurm").parse()?;
    let workload = drystone::log::load_log(log, &CleaningOptions::default())?.workload;
    let begin = Instant::now();
    let mut simulation = Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
    simulation.run(&mut ())?;
    let took = begin.elapsed().as_secs_f64();
    println!("{spec}: {} jobs in {took:.2} s, {:.0} jobs/s", workload.len(), workload.len() as f64 / took);
    Ok(())
}
