//! Every policy in the registry on the same synthetic workload: jobs per second, parsing excluded.
//! `cargo bench -p drystone --bench policies`

#![allow(missing_docs)] // What criterion's macros make.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate::default_workload;
use drystone::policy::{PolicySpec, policy_names};
use std::hint::black_box;

fn policies(criterion: &mut Criterion) {
    let workload = default_workload().expect("the embedded workload");
    let mut group = criterion.benchmark_group("policies");
    group.throughput(Throughput::Elements(workload.len() as u64)).sample_size(10);
    for name in policy_names() {
        let policy: PolicySpec = name.parse().expect("registered");
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                let mut simulation =
                    Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload));
                simulation.run(&mut ()).expect("a sound policy");
                black_box(simulation.current_time())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, policies);
criterion_main!(benches);
