//! Drystone's multiple queues against the naive definition, job by job, on random workloads.

use drystone::engine::{Replay, Schedule, Simulation};
use drystone::model::{Job, Machine, Provenance, Span, Status, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::jobs_of;
use drystone_reference::multiqueue::{Broken, Delay, MultiQueue, run};
use proptest::prelude::*;

const PROCS: u32 = 12;

fn made(raw: &[(i64, u32, i64)]) -> Workload {
    let mut submit = 0;
    let mut jobs = Vec::new();
    let mut truth = Vec::new();
    for (number, &(gap, procs, run)) in raw.iter().enumerate() {
        submit += gap;
        jobs.push(Job::new(Time(submit), procs, Span(run)));
        truth.push(Truth { run: Span(run), number: number as i64, status: Status::Completed });
    }
    Workload::new(Machine { procs: PROCS }, jobs, truth, Provenance::default()).expect("sound")
}

fn starts(policy: &str, workload: &Workload) -> Vec<i64> {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut schedule = Schedule::default();
    let mut simulation = Simulation::new(workload.machine(), spec.scheduler(), Replay::new(workload));
    simulation.run(&mut schedule).expect(policy);
    schedule.spans.iter().map(|s| s.expect("every job ends").0.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_naive_definition(
        raw in prop::collection::vec(
            (
                prop_oneof![Just(0i64), 0i64..=300, 0i64..=4_000],
                prop_oneof![3 => 1u32..=4, 1 => 1u32..=PROCS],
                prop_oneof![1i64..=100, 101i64..=1_000, 1_001i64..=10_000, 10_001i64..=30_000],
            ),
            1..250,
        ),
    ) {
        let workload = made(&raw);
        let jobs = jobs_of(&workload);
        let none = MultiQueue::default();
        let adaptive = Delay { first: 2500.0, adapts: true, hidden: false };
        for (ours, policy) in [
            ("multiqueue", none),
            ("multiqueue(promise=eager)", MultiQueue { eager: true, ..none }),
            ("multiqueue(delay=2500)", MultiQueue { delay: Some(adaptive), ..none }),
            ("multiqueue(delay=2500,promise=eager)", MultiQueue { delay: Some(adaptive), eager: true, ..none }),
            ("multiqueue(delay=2500,hold=yes)", MultiQueue { delay: Some(Delay { hidden: true, ..adaptive }), ..none }),
            ("multiqueue(promise=arrival)", MultiQueue { broken: Some(Broken::ByArrival), ..none }),
            ("multiqueue(own=fig4)", MultiQueue { broken: Some(Broken::ByOwners), ..none }),
            ("multiqueue(own=fig4,promise=eager)", MultiQueue { broken: Some(Broken::ByOwners), eager: true, ..none }),
            ("multiqueue(own=split)", MultiQueue { broken: Some(Broken::BySharing), ..none }),
            ("multiqueue(delay=2500,adapt=fixed)", MultiQueue { delay: Some(Delay { adapts: false, ..adaptive }), ..none }),
        ] {
            let naive: Vec<i64> = run(policy, &jobs, i64::from(PROCS)).schedule.iter().map(|o| o.start).collect();
            prop_assert_eq!(starts(ours, &workload), naive, "{}", ours);
        }
    }
}
