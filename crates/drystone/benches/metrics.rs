//! Cost of measuring per job: the light and the full configuration, and the end of each.
//!
//! The jobs are made up and few enough to stay in the cache: waits and run times over six orders of
//! magnitude, ends nearly in order of submit.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use drystone::metrics::{Collector, IntervalOptions, Metric, MetricsConfig, Report, Scope, compare_reports};
use drystone::model::{EndedJob, Job, JobId, JobOutcome, LogStatus, Machine, Provenance, Span, Time, Truth};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

const JOBS: usize = 20_000;
const PROCS: u32 = 1_024;

struct Jobs(Vec<(Job, Truth, JobOutcome)>);

impl Jobs {
    fn new() -> Jobs {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut submit = 0;
        let jobs = (0..JOBS).map(|i| {
            submit += rng.random_range(0..600_i64);
            let run = Span(f64::exp(rng.random_range(0.0..12.0)) as i64);
            let wait = Span(f64::exp(rng.random_range(0.0..12.0)) as i64 - 1);
            let mut job = Job::new(Time(submit), 1 << rng.random_range(0..8_u32), Span(run.0 * 2));
            job.user = rng.random_range(0..400);
            let start = job.submit + wait;
            let outcome = JobOutcome {
                start,
                end: start + run,
                ran: run,
                first_reservation: (i % 8 == 0).then_some(start + Span(60)),
                first_prediction: job.estimate,
                accuracy: Some(0.5),
                ..JobOutcome::default()
            };
            let truth = Truth { run, number: i as i64, status: LogStatus::Completed };
            (job, truth, outcome)
        });
        Jobs(jobs.collect())
    }

    fn collector(&self, config: &MetricsConfig) -> Collector {
        let last = self.0[JOBS - 1].0.submit;
        let provenance = Provenance { unix_start: Some(800_000_000), ..Provenance::default() };
        let machine = Machine::new(PROCS);
        let scope = Scope::new(machine, JOBS as u64, (Time(0), last), &provenance);
        Collector::new(scope, config.clone())
    }

    fn fill(&self, collector: &mut Collector) {
        for (i, (job, truth, outcome)) in self.0.iter().enumerate() {
            collector.note_end(&EndedJob { id: JobId(i as u32), job, truth, outcome });
        }
    }

    fn report(&self, config: &MetricsConfig) -> Report {
        let mut collector = self.collector(config);
        self.fill(&mut collector);
        collector.finish()
    }
}

fn collecting(c: &mut Criterion) {
    let jobs = Jobs::new();
    let mut group = c.benchmark_group("metrics");
    group.throughput(Throughput::Elements(JOBS as u64));
    let rows = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
    for (name, config) in [
        ("light", MetricsConfig::light_config()),
        ("default", MetricsConfig::default()),
        ("full", MetricsConfig::full_config()),
        ("light and rows", rows),
    ] {
        group.bench_function(name, |b| b.iter(|| black_box(jobs.report(&config))));
        group.bench_function(format!("{name}, without the end"), |b| {
            b.iter_batched_ref(|| jobs.collector(&config), |collector| jobs.fill(collector), BatchSize::LargeInput);
        });
    }
    group.bench_function("instants", |b| {
        b.iter(|| {
            let mut collector = jobs.collector(&MetricsConfig::light_config());
            for i in 0..JOBS as u64 {
                collector.note_instant(Time(i as i64), i as u32 % PROCS, i % 97, i % 3_001);
            }
            black_box(collector.finish())
        });
    });
    group.finish();
}

fn comparing(c: &mut Criterion) {
    let report = Jobs::new().report(&MetricsConfig::light_config());
    let reports = [("a", &report), ("b", &report)];
    c.bench_function("compare, one policy, all metrics", |b| {
        b.iter(|| black_box(compare_reports(&reports, "a", &Metric::compared_metrics(), IntervalOptions::default())));
    });
}

criterion_group!(benches, collecting, comparing);
criterion_main!(benches);
