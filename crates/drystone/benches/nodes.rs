//! Jobs that are placed on nodes, and jobs that ask for resources in all.
//!
//! Generated logs at about the load of KTH SP2, on 1,000 nodes of 8 processors and 16 GB: one of
//! jobs for such a machine, one of jobs for 128 processors, as those of KTH. Half of the jobs ask
//! for 0.5 to 4 GB for each processor. Processor time of the whole
//! simulation, best of as many runs as fit into some seconds. `cargo bench -p drystone --bench
//! nodes -- WORDS` takes the rows whose names hold one of the words; with DRYSTONE_SHARED the log
//! of KTH SP2 itself runs with three counted resources.

mod clock;

use clock::processor_time;
use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate::{Params, generate_workload};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::model::{
    Demand, Machine, NodeClass, NodeFill, NodeMemory, NodeShape, Resource, ResourceTableBuilder, ResourceUnit, Workload,
};
use drystone::policy::PolicySpec;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::time::Duration;

const MB: u64 = 1 << 10;
const GB: u64 = 1 << 20;

/// A log of such a machine.
fn like(procs: u32, jobs: u32, load: f64) -> Workload {
    generate_workload(&Params { load: Some(load), ..Params::new(procs, jobs) }).expect("sound parameters")
}

/// A log of jobs for a machine of 128 processors, as many of them as this one can take.
fn small(procs: u32, jobs: u32) -> Workload {
    let (_, jobs, truth, provenance) = like(128, jobs, 0.72 * f64::from(procs) / 128.0).into_parts();
    Workload::new(Machine::new(procs), jobs, truth, provenance).expect("sound")
}

/// These jobs with memory, on nodes of so many processors and 2 GB for each.
fn on_nodes(workload: &Workload, cores: u32, fill: NodeFill, memory: bool) -> Workload {
    let (machine, mut jobs, truth, provenance) = workload.clone().into_parts();
    let nodes = machine.procs / cores;
    let each = u64::from(cores) * 2 * GB;
    let mut table = ResourceTableBuilder::new();
    let resource = Resource::new("mem", ResourceUnit::Kilobytes, u64::from(nodes) * each);
    let mem = table.add_resource(resource).expect("new");
    let names = (0..nodes).map(|node| format!("n{node}")).collect();
    table.add_class(NodeClass { nodes: names, cores, memory_kb: each, ..NodeClass::default() });
    table.set_fill(fill);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for job in jobs.iter_mut().filter(|_| memory) {
        if rng.random_range(0..2) == 0 {
            continue;
        }
        // As much as fits the machine without other jobs.
        let most = 2 * GB * u64::from(machine.procs) / u64::from(job.procs);
        let kb = ((512 * MB) << rng.random_range(0..4)).min(1 << most.ilog2());
        let shape = NodeShape { memory: NodeMemory::PerCore(kb), ..NodeShape::default() };
        let demand = Demand { shape: Some(shape), ..Demand::from_totals([(mem, kb * u64::from(job.procs))]) };
        job.demand = table.intern_demand(demand).expect("known resources");
    }
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, provenance).expect("every job fits")
}

/// These jobs with memory, GPUs and licences, counted: 256 MB to 2 GB per processor of 1 GB, for
/// a fifth of the jobs up to 4 of 25 GPUs, for a tenth up to 3 of 8 licences.
fn counted(workload: &Workload) -> Workload {
    let (machine, mut jobs, truth, provenance) = workload.clone().into_parts();
    let total_memory = u64::from(machine.procs) * GB;
    let mut table = ResourceTableBuilder::new();
    let mut resource = |name, unit, total| table.add_resource(Resource::new(name, unit, total)).expect("new");
    let mem = resource("mem", ResourceUnit::Kilobytes, total_memory);
    let gpu = resource("gpu", ResourceUnit::Count, 25);
    let licence = resource("license:solver", ResourceUnit::Count, 8);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for job in &mut jobs {
        let kb = (rng.random_range(1..=8u64) * 256 * MB * u64::from(job.procs)).min(total_memory);
        let mut totals = vec![(mem, kb)];
        if rng.random_range(0..5) == 0 {
            totals.push((gpu, rng.random_range(1..=4)));
        }
        if rng.random_range(0..10) == 0 {
            totals.push((licence, rng.random_range(1..=3)));
        }
        job.demand = table.intern_demand(Demand::from_totals(totals)).expect("known resources");
    }
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, provenance).expect("every job fits")
}

/// The log of KTH SP2.
fn kth() -> Option<Workload> {
    let root = PathBuf::from(std::env::var_os("DRYSTONE_SHARED")?);
    let options = CleaningOptions { procs: Some(100), ..CleaningStudy::Tsafrir2007.options() };
    Some(
        drystone::log::load_log(root.join("traces/KTH-SP2-1996-2.1-cln.swf.gz"), &options)
            .expect("a good log")
            .workload,
    )
}

fn simulate(name: &str, policy: &str, workload: &Workload) {
    let spec: PolicySpec = policy.parse().expect("known");
    let (mut best, mut total_time, mut runs) = (Duration::MAX, Duration::ZERO, 0);
    while runs == 0 || total_time < Duration::from_secs(3) && runs < 20 {
        let before = processor_time();
        Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
            .run(&mut ())
            .expect("a sound policy");
        let time = processor_time() - before;
        best = best.min(time);
        total_time += time;
        runs += 1;
    }
    let (jobs, best) = (workload.len(), best.as_secs_f64());
    let mean = workload.jobs().iter().map(|job| f64::from(job.procs)).sum::<f64>() / jobs as f64;
    let name = format!("{policy}, {name}");
    println!("{name:56} {jobs:8} jobs of {mean:5.0} {best:9.4} s: {:9.0} jobs/s", jobs as f64 / best);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let has_row = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    for (policy, jobs) in [("easy", 30_000), ("easy++", 30_000), ("conservative", 5_000)] {
        for (label, cores, fill, memory) in [
            ("processors, packed", 8, NodeFill::Pack, false),
            ("packed", 8, NodeFill::Pack, true),
            ("spread", 8, NodeFill::Spread, true),
            ("whole", 8, NodeFill::Whole, true),
        ] {
            let name = format!("1,000 nodes, {label}");
            if has_row(&format!("{policy}, {name}")) {
                simulate(&name, policy, &on_nodes(&like(1_000 * cores, jobs, 0.72), cores, fill, memory));
            }
            let name = format!("1,000 nodes, {label}, small jobs");
            if has_row(&format!("{policy}, {name}")) {
                simulate(&name, policy, &on_nodes(&small(1_000 * cores, jobs), cores, fill, memory));
            }
        }
    }
    let name = "78 nodes, packed, small jobs";
    if has_row(&format!("conservative, {name}")) {
        simulate(name, "conservative(horizon=all)", &on_nodes(&small(78 * 64, 13_000), 64, NodeFill::Pack, true));
    }
    for policy in ["easy", "easy++", "conservative"] {
        if has_row(&format!("{policy}, counted")) {
            simulate("counted, generated", policy, &counted(&like(128, 30_000, 0.72)));
            kth().iter().for_each(|log| simulate("counted, KTH", policy, &counted(log)));
            kth().iter().for_each(|log| simulate("processors, KTH", policy, log));
        }
    }
}
