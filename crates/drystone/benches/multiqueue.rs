//! Multiple queues beside EASY: what a simulated job costs, on an ordinary workload and where
//! thousands wait.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate::{Params, deep_queue_params, default_params, generate_workload};
use drystone::model::Span;
use drystone::policy::PolicySpec;
use std::hint::black_box;

fn policies(c: &mut Criterion) {
    let ordinary = Params { length: drystone::generate::WorkloadLength::Jobs(20_000), ..default_params() };
    let deep =
        Params { length: drystone::generate::WorkloadLength::Span(Span(90 * Span::DAY.0)), ..deep_queue_params() };
    for (name, params) in [("ordinary", ordinary), ("deep", deep)] {
        let Ok(workload) = generate_workload(&params) else { continue };
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(workload.len() as u64)).sample_size(10);
        for text in [
            "easy",
            "multiqueue",
            "multiqueue(predict=perfect)",
            "multiqueue(delay=2500)",
            "multiqueue(bounds=auto,queues=auto)",
            "multiqueue",
            "multiqueue(own=fig4)",
        ] {
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
