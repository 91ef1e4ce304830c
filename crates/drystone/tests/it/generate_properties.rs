//! Properties of every generated workload, whatever the parameters.

use drystone::generate::{
    GenerateError, Habits, Params, WorkloadLength, WorkloadModel, deep_queue_params, default_params, default_workload,
    generate_workload,
};
use drystone::model::{Span, Time, UNKNOWN, Workload};
use proptest::prelude::*;

fn any_params() -> impl Strategy<Value = Params> {
    let procs = prop_oneof![1_u32..=3, 1_u32..=2_000, 1_u32..=10_000_000];
    let load = proptest::option::of(0.01_f64..3.0);
    let model = prop_oneof![Just(WorkloadModel::Typeless), Just(WorkloadModel::Typed)];
    (procs, 1_u32..600, load, any::<u64>(), model, 1_i64..=60).prop_map(|(procs, jobs, load, seed, model, hours)| {
        Params { load, seed, model, max_estimate: Span(hours * 3_600), ..Params::new(procs, jobs) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_workload_is_sound(params in any_params()) {
        let WorkloadLength::Jobs(wanted) = params.length else { unreachable!("strategy") };
        let workload = match generate_workload(&params) {
            Ok(workload) => workload,
            Err(GenerateError::UnreachableLoad { span, .. }) => {
                // Only where the jobs would all arrive within a second.
                prop_assert!(span < 1.0);
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert_eq!(workload.len(), wanted as usize);
        prop_assert!(workload.jobs().is_sorted_by_key(|j| j.submit));
        for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
            prop_assert!(job.submit.0 >= 0);
            prop_assert!((1..=params.procs).contains(&job.procs));
            prop_assert!(truth.run >= Span(1));
            prop_assert!(truth.run <= job.estimate);
            prop_assert!(job.estimate <= params.max_estimate);
            prop_assert!(job.user >= 1 && job.group >= 1 && job.executable >= 1);
            let queues: &[i32] = if params.model == WorkloadModel::Typed { &[0, 1] } else { &[UNKNOWN] };
            prop_assert!(queues.contains(&job.queue));
        }
        prop_assert!(workload.truth().iter().map(|t| t.number).eq(1..=i64::from(wanted)));
        if let (Some(load), Some((first, last))) = (params.load, workload.submit_range())
            && workload.len() > 1
        {
            // The span that the load takes, to the rounding of two submits to whole seconds.
            let work: f64 = workload.jobs().iter().zip(workload.truth())
                .map(|(j, t)| f64::from(j.procs) * t.run.as_f64()).sum();
            let span = work / (load * f64::from(params.procs));
            prop_assert!(((last - first).as_f64() - span).abs() <= 1.0 + 1e-9 * span);
        }
    }

    #[test]
    fn users_only_permute_jobs_among_arrivals(params in any_params(), users in 1_u32..50, scatter in 0.0_f64..3.0) {
        let habits = Habits { users: Some(users), scatter, odd_jobs: 0.5, care: 1, ..Habits::default() };
        let rival_params = Params { habits, ..params.clone() };
        if let (Ok(first_workload), Ok(second_workload)) = (generate_workload(&params), generate_workload(&rival_params)) {
            prop_assert_eq!(shapes(&first_workload), shapes(&second_workload));
            let arrivals = |w: &Workload| w.jobs().iter().map(|j| (j.submit, j.queue)).collect::<Vec<_>>();
            prop_assert_eq!(arrivals(&first_workload), arrivals(&second_workload));
        }
    }

    #[test]
    fn parameters_survive_serialisation(params in any_params()) {
        let bytes = postcard::to_stdvec(&params).expect("serialises");
        prop_assert_eq!(postcard::from_bytes::<Params>(&bytes).expect("reads back"), params);
    }
}

/// Sizes and run times in an order of their own.
fn shapes(workload: &Workload) -> Vec<(u32, Span)> {
    let pairs = workload.jobs().iter().zip(workload.truth());
    let mut shapes: Vec<_> = pairs.map(|(j, t)| (j.procs, t.run)).collect();
    shapes.sort_unstable();
    shapes
}

#[test]
fn the_same_seed_gives_the_same_workload_and_another_another() {
    for model in [WorkloadModel::Typeless, WorkloadModel::Typed] {
        let params = Params { model, load: Some(0.8), seed: 42, ..Params::new(512, 5_000) };
        let first_workload = generate_workload(&params).expect("valid");
        assert_eq!(first_workload, generate_workload(&params).expect("valid"));
        let second_workload = generate_workload(&Params { seed: 43, ..params.clone() }).expect("valid");
        assert_ne!(first_workload.jobs(), second_workload.jobs());
        // Another load moves arrivals; without types, everything else stays in its order.
        let busier = generate_workload(&Params { load: Some(1.0), ..params }).expect("valid");
        if model == WorkloadModel::Typeless {
            assert_eq!(first_workload.truth(), busier.truth());
            let strip_submits = |w: &Workload| {
                let mut jobs = w.jobs().to_vec();
                jobs.iter_mut().for_each(|job| job.submit = Time::ZERO);
                jobs
            };
            assert_eq!(strip_submits(&first_workload), strip_submits(&busier));
        } else {
            assert_eq!(shapes(&first_workload), shapes(&busier));
        }
    }
}

/// FNV-1a over everything that a simulation can see.
fn digest(workload: &Workload) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (j, t) in workload.jobs().iter().zip(workload.truth()) {
        let ids = [j.user, j.group, j.executable, j.queue].map(i64::from);
        let times = [j.submit.0, j.estimate.0, t.run.0, i64::from(j.procs)];
        for byte in times.iter().chain(&ids).flat_map(|v| v.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Pinned not because these numbers are right (other tests see to that) but because they must be
/// the same on every platform, in debug and release, and must not change unnoticed: results in the
/// field refer to these workloads by seed.
#[test]
fn workloads_are_the_same_everywhere() {
    let params = Params { model: WorkloadModel::Typed, seed: 3, load: Some(0.7), ..Params::new(1_000, 3_000) };
    let digests = [digest(&default_workload().expect("valid")), digest(&generate_workload(&params).expect("valid"))];
    assert_eq!(digests, [0x71eb_db6b_f042_82d4, 0xe8d9_0db7_59c7_5741], "{digests:#x?}");
}

#[test]
fn what_makes_no_workload_is_refused() {
    let error_of = |params: Params| generate_workload(&params).expect_err("refused").to_string();
    let base = Params::new(128, 100);
    let with_load = |load| error_of(Params { load: Some(load), ..base.clone() });
    assert_eq!(error_of(Params::new(0, 100)), "a machine needs at least one processor");
    assert_eq!(error_of(Params::new(128, 0)), "a workload needs at least one job");
    assert_eq!(with_load(0.0), "the load must be a finite number above 0, not 0");
    assert_eq!(with_load(-0.5), "the load must be a finite number above 0, not -0.5");
    assert_eq!(with_load(f64::NAN), "the load must be a finite number above 0, not NaN");
    assert_eq!(with_load(f64::INFINITY), "the load must be a finite number above 0, not inf");
    assert!(with_load(1e-12).starts_with("a load of 0.000000000001 would spread 100 jobs over"));
    assert!(with_load(1e12).starts_with("a load of 1000000000000 would spread 100 jobs over"));
    let span = |s| error_of(Params { length: WorkloadLength::Span(Span(s)), ..base.clone() });
    assert_eq!(span(0), "a workload needs a span above 0 s, not 0 s");
    assert_eq!(span(-5), "a workload needs a span above 0 s, not -5 s");
    let largest = |s| error_of(Params { max_estimate: Span(s), ..base.clone() });
    for s in [0, 3_599, i64::MAX] {
        assert_eq!(
            largest(s),
            format!("the largest estimate must be from one hour (3600 s) to 366 days (31622400 s), not {s} s")
        );
    }
    let habits = |habits| error_of(Params { habits, ..base.clone() });
    let usual = Habits::default;
    assert_eq!(habits(Habits { users: Some(0), ..usual() }), "users must be at least 1, not 0");
    assert_eq!(habits(Habits { odd_jobs: 1.5, ..usual() }), "odd_jobs must be from 0 to 1, not 1.5");
    assert_eq!(habits(Habits { scatter: f64::NAN, ..usual() }), "scatter must be from 0 to 20, not NaN");
    assert_eq!(habits(Habits { session_tail: 0.0, ..usual() }), "session_tail must be above 0, not 0");
}

#[test]
fn provenance_says_how_to_generate_it_again() {
    let workload = default_workload().expect("valid");
    let params = default_params();
    let setting = |name: &str| {
        let entry = workload.provenance.settings.iter().find(|s| s.name == name);
        entry.map(|s| s.value.clone()).unwrap_or_default()
    };
    assert_eq!(workload.provenance.name, "lublin-typeless-256-seed1");
    assert_eq!(setting("procs"), params.procs.to_string());
    assert_eq!(setting("jobs"), "10000");
    assert_eq!(setting("load"), "0.85");
    assert_eq!(setting("seed"), "1");
    assert_eq!(setting("care"), params.habits.care.to_string());
}

#[test]
fn presets_are_what_they_say() {
    let workload = default_workload().expect("valid");
    assert_eq!((workload.len(), workload.machine().procs), (10_000, 256));
    assert!((workload.offered_load().expect("load") - 0.85).abs() < 1e-6);
    let deep = generate_workload(&deep_queue_params()).expect("valid");
    assert!((deep.offered_load().expect("load") - 1.05).abs() < 1e-6);
    let days = deep.submit_range().map(|(first, last)| (last - first).0 / 86_400);
    assert!((700..=760).contains(&days.expect("jobs")), "{days:?} days");
    assert!(deep.len() > 300_000);
}
