//! Cost of slack-based backfilling: a year of a real log, and one arrival at queues of up to 2,000
//! waiting jobs.
//!
//! The log is no part of the project: `DRYSTONE_SHARED` names the folder with `traces/`; without it
//! the year is left out.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use drystone::engine::{Session, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::model::{Job, Machine, Span, Time, Workload};
use drystone::policy::PolicySpec;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::iter;
use std::path::PathBuf;

const SLACK: &str = "slack(sf=3,order=ast,awt=2401,notice=immediate)";

fn kth() -> Option<Workload> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("DRYSTONE_SHARED").map_or_else(default, PathBuf::from);
    let options = CleaningOptions { procs: Some(128), ..CleaningStudy::Talby1999.options() };
    drystone::log::load_log(root.join("traces/KTH-SP2-1996-2.1-cln.swf.gz"), &options).ok().map(|log| log.workload)
}

fn spec(text: &str) -> PolicySpec {
    text.parse().expect("a good policy")
}

fn year(c: &mut Criterion) {
    let Some(kth) = kth() else {
        eprintln!("SKIPPED: the KTH log is missing (set DRYSTONE_SHARED)");
        return;
    };
    let mut group = c.benchmark_group("kth-year-128");
    group.sample_size(20);
    for policy in
        ["conservative", SLACK, "slack(awt=2401,order=dc)", "slack(awt=2401,remove=priced)", "slack@talby1999"]
    {
        let spec = spec(policy);
        group.bench_function(policy, |b| {
            b.iter(|| {
                Simulation::new(kth.machine(), spec.build_scheduler(), WorkloadReplay::new(black_box(&kth)))
                    .run(&mut ())
            });
        });
    }
    group.finish();
}

/// Jobs with sizes and declared times over several orders of magnitude.
fn jobs(count: usize) -> Vec<Job> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let job = |_| {
        let estimate = Span(f64::exp(rng.random_range(4.0..11.0)) as i64);
        Job::new(Time::ZERO, 1 << rng.random_range(0..7_u32), estimate)
    };
    (0..count).map(job).collect()
}

fn insert(c: &mut Criterion) {
    let mut group = c.benchmark_group("insert");
    group.sample_size(10);
    for policy in [SLACK, "slack(awt=20000)", "slack(awt=2401,order=aat)", "slack(awt=2401,order=dc)", "conservative"] {
        let spec = spec(policy);
        for waiting in [10, 100, 500, 1_000, 2_000] {
            let new = || Session::new(Machine::new(128), spec.build_scheduler());
            let mut session = new();
            // One job holds the whole machine for weeks; all others wait.
            let now = Time::ZERO;
            for job in iter::once(Job::new(now, 128, Span(1_000_000))).chain(jobs(waiting)) {
                session.note_arrival(now, &job, None).expect("possible");
                session.decide(now).expect("a sound policy");
            }
            let bytes = session.save().expect("saved");
            let next = Job::new(now, 4, Span(1_800));
            group.bench_function(BenchmarkId::new(policy, waiting), |b| {
                b.iter_batched_ref(
                    || {
                        let mut session = new();
                        session.load(&bytes).expect("loaded");
                        session
                    },
                    |session| {
                        session.note_arrival(now, &next, None).expect("possible");
                        session.decide(now).expect("a sound policy").list().len()
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, year, insert);
criterion_main!(benches);
