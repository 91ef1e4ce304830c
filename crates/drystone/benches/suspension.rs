//! Preemption beside EASY: what a simulated job costs, on an ordinary workload and where many wait,
//! with a minute tick.
//!
//! With `DRYSTONE_SHARED` set, also on the logs of the Parallel Workloads Archive found there.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate::{Params, WorkloadLength, deep_queue_params, default_params, generate_workload};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::model::{Span, Workload};
use drystone::policy::PolicySpec;
use std::hint::black_box;

fn workloads() -> Vec<(&'static str, Workload)> {
    let ordinary = Params { length: WorkloadLength::Jobs(20_000), ..default_params() };
    let deep = Params { length: WorkloadLength::Span(Span(30 * Span::DAY.0)), ..deep_queue_params() };
    let mut list = Vec::new();
    for (name, params) in [("ordinary", ordinary), ("deep", deep)] {
        list.extend(generate_workload(&params).ok().map(|workload| (name, workload)));
    }
    let Some(root) = std::env::var_os("DRYSTONE_SHARED").map(std::path::PathBuf::from) else { return list };
    for (name, log, procs) in [("SDSC SP2", "SDSC-SP2-1998-4.2-cln", 128), ("KTH", "KTH-SP2-1996-2.1-cln", 100)] {
        let options = CleaningOptions { procs: Some(procs), ..CleaningStudy::Kettimuthu2005.options() };
        let log_result = drystone::log::load_log(root.join(format!("traces/{log}.swf.gz")), &options);
        list.extend(log_result.ok().map(|source| (name, source.workload)));
    }
    list
}

fn policies(c: &mut Criterion) {
    for (name, workload) in workloads() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(workload.len() as u64)).sample_size(10);
        for text in ["easy", "ss", "ss(sf=1.5)", "ss(every=1)", "ss(place=priosf)", "tss", "is"] {
            let Ok(spec) = text.parse::<PolicySpec>() else { continue };
            group.bench_function(text, |b| {
                b.iter(|| {
                    let mut simulation =
                        Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
                    black_box(simulation.run(&mut ())).is_ok()
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, policies);
criterion_main!(benches);
