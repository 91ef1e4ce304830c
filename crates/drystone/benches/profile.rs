//! The availability profile alone: the earliest fit, a reservation with its undoing, and a plan
//! made from nothing, over profiles of tens to thousands of steps.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use drystone::model::{Procs, Span, Time};
use drystone::parts::Profile;
use std::hint::black_box;

const MACHINE: Procs = 1_024;

/// Sizes, lengths and times that look random and are always the same.
fn numbers() -> impl FnMut(i64) -> i64 {
    let mut state = 1u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % below
    }
}

/// A plan of this many jobs, each at its earliest fit.
fn plan(profile: &mut Profile, jobs: usize) {
    let mut number = numbers();
    for _ in 0..jobs {
        let (procs, span) = (1 + number(256) as Procs, Span(60 + number(36_000)));
        if let Some(start) = profile.earliest_start(procs, span, Time::ZERO) {
            profile.reserve_procs(start, start + span, procs);
        }
    }
}

fn profiles(c: &mut Criterion) {
    let mut group = c.benchmark_group("profile");
    for jobs in [30, 300, 3_000] {
        let mut profile = Profile::new(Time::ZERO, MACHINE);
        plan(&mut profile, jobs);
        let mut number = numbers();
        let questions: Vec<(Procs, Span)> =
            (0..64).map(|_| (1 + number(256) as Procs, Span(60 + number(36_000)))).collect();
        group.throughput(Throughput::Elements(questions.len() as u64));
        group.bench_with_input(BenchmarkId::new("earliest", profile.len()), &questions, |b, questions| {
            b.iter(|| {
                questions.iter().filter_map(|&(procs, span)| profile.earliest_start(procs, span, Time::ZERO)).count()
            });
        });
        group.bench_with_input(BenchmarkId::new("reserve and roll back", profile.len()), &questions, |b, questions| {
            b.iter(|| {
                for &(procs, span) in questions {
                    let mark = profile.set_mark();
                    if let Some(start) = profile.earliest_start(procs, span, Time::ZERO) {
                        profile.reserve_procs(start, start + span, procs);
                    }
                    profile.roll_back_to(mark);
                }
            });
        });
        group.throughput(Throughput::Elements(jobs as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("plan from nothing", jobs), |b| {
            let mut profile = Profile::new(Time::ZERO, MACHINE);
            b.iter(|| {
                profile.reset_to(Time::ZERO, MACHINE);
                plan(&mut profile, jobs);
                black_box(profile.len())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, profiles);
criterion_main!(benches);
