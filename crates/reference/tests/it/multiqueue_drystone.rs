//! Drystone's multiple queues against the naive definition, job by job, on random workloads.

use drystone::engine::{Observer, Replay, Simulation};
use drystone::model::{Ended, Job, Machine, Provenance, Span, Status, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::jobs_of;
use drystone_reference::multiqueue::{Broken, Delay, MultiQueue, Order, run};
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
    Workload::new(Machine::new(PROCS), jobs, truth, Provenance::default()).expect("sound")
}

/// Starts, and the first reservation that was announced to each job.
#[derive(Default)]
struct Seen(Vec<(i64, Option<i64>)>);

impl Observer for Seen {
    fn ended(&mut self, ended: &Ended<'_>) {
        let at = ended.id.index();
        self.0.resize(self.0.len().max(at + 1), (i64::MIN, None));
        self.0[at] = (ended.outcome.start.0, ended.outcome.first_reservation.map(|t| t.0));
    }
}

fn seen(policy: &str, workload: &Workload) -> Vec<(i64, Option<i64>)> {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut seen = Seen::default();
    let mut simulation = Simulation::new(workload.machine(), spec.scheduler(), Replay::new(workload));
    simulation.run(&mut seen).expect(policy);
    seen.0
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
        let adaptive = Delay { first: 2500.0, adapts: true, batch: 100, hidden: false };
        // Where the delay changes often, what is hidden may appear before a pivot that is younger.
        let often = Delay { batch: 3, ..adaptive };
        for (ours, policy) in [
            ("multiqueue", none),
            ("multiqueue(promise=eager)", MultiQueue { eager: true, ..none }),
            ("multiqueue(delay=2500)", MultiQueue { delay: Some(adaptive), ..none }),
            ("multiqueue(delay=2500,promise=eager)", MultiQueue { delay: Some(adaptive), eager: true, ..none }),
            ("multiqueue(delay=2500,hold=yes)", MultiQueue { delay: Some(Delay { hidden: true, ..adaptive }), ..none }),
            ("multiqueue(delay=2500,batch=3)", MultiQueue { delay: Some(often), ..none }),
            ("multiqueue(delay=2500,batch=3,hold=yes)", MultiQueue { delay: Some(Delay { hidden: true, ..often }), ..none }),
            ("multiqueue(promise=arrival)", MultiQueue { broken: Some(Broken::ByArrival), ..none }),
            ("multiqueue(own=fig4)", MultiQueue { broken: Some(Broken::ByOwners), ..none }),
            ("multiqueue(own=fig4,promise=eager)", MultiQueue { broken: Some(Broken::ByOwners), eager: true, ..none }),
            ("multiqueue(own=split)", MultiQueue { broken: Some(Broken::BySharing), ..none }),
            ("multiqueue(order=sjf)", MultiQueue { order: Some(Order::Shortest), ..none }),
            ("multiqueue(order=widest)", MultiQueue { order: Some(Order::Widest), ..none }),
            ("multiqueue(order=\"r*n\")", MultiQueue { order: Some(Order::SmallestArea), ..none }),
            ("multiqueue(order=sjf,delay=2500)", MultiQueue { order: Some(Order::Shortest), delay: Some(adaptive), ..none }),
            ("multiqueue(delay=2500,adapt=fixed)", MultiQueue { delay: Some(Delay { adapts: false, ..adaptive }), ..none }),
        ] {
            let naive = run(policy, &jobs, i64::from(PROCS));
            let found = seen(ours, &workload);
            let starts = |s: &[(i64, Option<i64>)]| s.iter().map(|s| s.0).collect::<Vec<_>>();
            prop_assert_eq!(starts(&found), naive.schedule.iter().map(|o| o.start).collect::<Vec<_>>(), "{}", ours);
            // The first promise is what is announced, except to jobs that start upon arrival.
            if policy.delay.is_none_or(|d| !d.hidden) {
                for (id, (found, promised)) in found.iter().zip(&naive.promised).enumerate() {
                    prop_assert_eq!(found.1, promised.filter(|&at| at > jobs[id].submit), "{}, job {}", ours, id);
                }
            }
        }
    }
}
