//! Whole simulations, parsing excluded: jobs per second of the general engine under EASY, beside a
//! naive hand-written loop on the same jobs in the same run.
//!
//! Two kinds of workload: real logs, where few jobs wait (below `DRYSTONE_SHARED`, default
//! `../shared`; a synthetic workload stands in where they are missing), and a generated one whose
//! queue holds thousands of jobs most of the time. Both loops must give the same schedule; that is
//! asserted before anything is timed. `cargo bench -p drystone --bench engine`

#![allow(missing_docs)] // What criterion's macros make.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use drystone::engine::{Schedule, Simulation, WorkloadReplay};
use drystone::generate;
use drystone::log::clean::CleaningStudy;
use drystone::model::{Procs, Time, Workload};
use drystone::policy::PolicySpec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

/// EASY as one writes it in an afternoon: the queue in a vector that is scanned from the front at
/// each event, running jobs in a sorted vector. Start and end of every job.
fn naive_easy(workload: &Workload) -> Vec<(Time, Time)> {
    let (jobs, truth) = (workload.jobs(), workload.truth());
    let mut spans = vec![(Time::ZERO, Time::ZERO); jobs.len()];
    let mut free: Procs = workload.machine().procs;
    let mut ends: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    let mut running: Vec<(Time, usize)> = Vec::new();
    let mut queue: Vec<usize> = Vec::new();
    let mut next = 0;
    loop {
        let arrival = jobs.get(next).map(|j| j.submit);
        let Some(now) = arrival.into_iter().chain(ends.peek().map(|e| e.0.0)).min() else { return spans };
        while let Some(&Reverse((end, id))) = ends.peek().filter(|e| e.0.0 == now) {
            ends.pop();
            free += jobs[id].procs;
            running.retain(|r| r.1 != id);
            spans[id].1 = end;
        }
        while jobs.get(next).is_some_and(|j| j.submit == now) {
            queue.push(next);
            next += 1;
        }
        let mut start = |id: usize, free: &mut Procs, running: &mut Vec<(Time, usize)>| {
            let end = now + jobs[id].estimate;
            *free -= jobs[id].procs;
            running.insert(running.partition_point(|r| *r < (end, id)), (end, id));
            ends.push(Reverse((now + truth[id].run, id)));
            spans[id].0 = now;
        };
        let fitting = |free: &mut Procs, id: usize| jobs[id].procs <= *free;
        let mut heads = 0;
        while heads < queue.len() && fitting(&mut free, queue[heads]) {
            start(queue[heads], &mut free, &mut running);
            heads += 1;
        }
        queue.drain(..heads);
        let Some(&head) = queue.first() else { continue };
        let (mut sum, mut shadow, mut at) = (free, now, 0);
        while at < running.len() && (sum < jobs[head].procs || running[at].0 <= shadow) {
            shadow = shadow.max(running[at].0);
            sum += jobs[running[at].1].procs;
            at += 1;
        }
        let mut extra = sum - jobs[head].procs;
        let mut at = 1;
        while at < queue.len() {
            let job = &jobs[queue[at]];
            let in_time = now + job.estimate <= shadow;
            if job.procs <= free && (in_time || job.procs <= extra) {
                if !in_time {
                    extra -= job.procs;
                }
                start(queue.remove(at), &mut free, &mut running);
            } else {
                at += 1;
            }
        }
    }
}

fn simulate(workload: &Workload, policy: &PolicySpec) {
    let mut simulation = Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(&mut ()).expect("a sound policy");
    black_box(simulation.current_time());
}

/// A log of the archive, or a synthetic workload of the same machine.
fn log(name: &str, jobs: u32, procs: Procs) -> Workload {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let file = root.join(format!("traces/{name}.swf.gz"));
    if file.exists() {
        return drystone::log::load_log(file, &CleaningStudy::Tsafrir2007.options()).expect("a good log").workload;
    }
    eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED); a synthetic workload stands in", file.display());
    let params = generate::Params { load: Some(0.7), ..generate::Params::new(procs, jobs) };
    generate::generate_workload(&params).expect("sound parameters")
}

fn engine(criterion: &mut Criterion) {
    let deep = generate::generate_workload(&generate::deep_queue_params()).expect("sound parameters");
    let workloads = [
        ("KTH", log("KTH-SP2-1996-2.1-cln", 28_475, 100)),
        ("BLUE", log("SDSC-BLUE-2000-4.1-cln", 223_669, 1152)),
        ("deep", deep),
    ];
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    for (name, workload) in &workloads {
        let easy: PolicySpec = "easy".parse().expect("known");
        let mut schedule = Schedule::default();
        Simulation::new(workload.machine(), easy.build_scheduler(), WorkloadReplay::new(workload))
            .run(&mut schedule)
            .expect("runs");
        assert!(schedule.spans.iter().copied().eq(naive_easy(workload).into_iter().map(Some)), "{name}: two schedules");
        group.throughput(Throughput::Elements(workload.len() as u64));
        group.bench_with_input(BenchmarkId::new("naive", name), workload, |b, w| b.iter(|| black_box(naive_easy(w))));
        for policy in ["easy", "easy++"] {
            let spec: PolicySpec = policy.parse().expect("known");
            group.bench_with_input(BenchmarkId::new(policy, name), workload, |b, w| b.iter(|| simulate(w, &spec)));
        }
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
