//! Drystone's multiple queues against the naive definition, job by job, on random workloads.

use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{EndedJob, Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::jobs_of;
use drystone_reference::multiqueue::{
    Broken, NaiveDelay, NaiveMultiQueue, NaiveMultiQueueOrder, NaiveMultiQueueOverdue, run, run_estimated,
};
use proptest::prelude::*;

const PROCS: u32 = 12;

fn made(raw: &[(i64, u32, i64)]) -> Workload {
    estimated(raw.iter().map(|&(gap, procs, run)| (gap, procs, run, run)))
}

/// Jobs as gap, processors, estimate and run time.
fn estimated(raw: impl IntoIterator<Item = (i64, u32, i64, i64)>) -> Workload {
    let mut submit = 0;
    let mut jobs = Vec::new();
    let mut truth = Vec::new();
    for (number, (gap, procs, estimate, run)) in raw.into_iter().enumerate() {
        submit += gap;
        jobs.push(Job::new(Time(submit), procs, Span(estimate)));
        truth.push(Truth { run: Span(run), number: number as i64, status: LogStatus::Completed });
    }
    Workload::new(Machine::new(PROCS), jobs, truth, Provenance::default()).expect("sound")
}

/// Starts, and the first reservation that was announced to each job.
#[derive(Default)]
struct Seen(Vec<(i64, Option<i64>)>);

impl Observer for Seen {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let at = job_end.id.index();
        self.0.resize(self.0.len().max(at + 1), (i64::MIN, None));
        self.0[at] = (job_end.outcome.start.0, job_end.outcome.first_reservation.map(|t| t.0));
    }
}

fn seen(policy: &str, workload: &Workload) -> Vec<(i64, Option<i64>)> {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut observer = Seen::default();
    let mut simulation = Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(&mut observer).expect(policy);
    observer.0
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
        let plain = NaiveMultiQueue::default();
        let adaptive = NaiveDelay { first: 2500.0, adapts: true, batch: 100, hidden: false };
        // Where the delay changes often, what is hidden may appear before a pivot that is younger.
        let often = NaiveDelay { batch: 3, ..adaptive };
        for (text, policy) in [
            ("multiqueue", plain),
            ("multiqueue(promise=eager)", NaiveMultiQueue { eager: true, ..plain }),
            ("multiqueue(delay=2500)", NaiveMultiQueue { delay: Some(adaptive), ..plain }),
            ("multiqueue(delay=2500,promise=eager)", NaiveMultiQueue { delay: Some(adaptive), eager: true, ..plain }),
            ("multiqueue(delay=2500,hold=yes)", NaiveMultiQueue { delay: Some(NaiveDelay { hidden: true, ..adaptive }), ..plain }),
            ("multiqueue(delay=2500,batch=3)", NaiveMultiQueue { delay: Some(often), ..plain }),
            ("multiqueue(delay=2500,batch=3,hold=yes)", NaiveMultiQueue { delay: Some(NaiveDelay { hidden: true, ..often }), ..plain }),
            ("multiqueue(promise=arrival)", NaiveMultiQueue { broken: Some(Broken::ByArrival), ..plain }),
            ("multiqueue(own=fig4)", NaiveMultiQueue { broken: Some(Broken::ByOwners), ..plain }),
            ("multiqueue(own=fig4,promise=eager)", NaiveMultiQueue { broken: Some(Broken::ByOwners), eager: true, ..plain }),
            ("multiqueue(own=split)", NaiveMultiQueue { broken: Some(Broken::BySharing), ..plain }),
            ("multiqueue(order=sjf)", NaiveMultiQueue { order: Some(NaiveMultiQueueOrder::Shortest), ..plain }),
            ("multiqueue(order=widest)", NaiveMultiQueue { order: Some(NaiveMultiQueueOrder::Widest), ..plain }),
            ("multiqueue(order=\"r*n\")", NaiveMultiQueue { order: Some(NaiveMultiQueueOrder::SmallestArea), ..plain }),
            ("multiqueue(order=sjf,delay=2500)", NaiveMultiQueue { order: Some(NaiveMultiQueueOrder::Shortest), delay: Some(adaptive), ..plain }),
            ("multiqueue(delay=2500,adapt=fixed)", NaiveMultiQueue { delay: Some(NaiveDelay { adapts: false, ..adaptive }), ..plain }),
        ] {
            let naive = run(policy, &jobs, i64::from(PROCS));
            let results = seen(text, &workload);
            let starts = |s: &[(i64, Option<i64>)]| s.iter().map(|s| s.0).collect::<Vec<_>>();
            prop_assert_eq!(starts(&results), naive.schedule.iter().map(|o| o.start).collect::<Vec<_>>(), "{}", text);
            // The first promise is what is announced, except to jobs that start upon arrival.
            if policy.delay.is_none_or(|d| !d.hidden) {
                for (id, (result, promise)) in results.iter().zip(&naive.promised).enumerate() {
                    prop_assert_eq!(result.1, promise.filter(|&at| at > jobs[id].submit), "{}, job {}", text, id);
                }
            }
        }
    }
}

/// Starts and first promises of the product are those of the definition.
fn agrees(
    policy: &str,
    definition: NaiveMultiQueue,
    overdue: NaiveMultiQueueOverdue,
    workload: &Workload,
) -> Result<(), TestCaseError> {
    let jobs = jobs_of(workload);
    let naive = run_estimated(definition, overdue, &jobs, i64::from(PROCS));
    let results = seen(policy, workload);
    for (id, (&(start, promised), (naive_out, naive_promise))) in
        results.iter().zip(naive.schedule.iter().zip(&naive.promised)).enumerate()
    {
        prop_assert_eq!(start, naive_out.start, "{}, start of job {}", policy, id);
        let expected = naive_promise.filter(|&at| at > jobs[id].submit);
        prop_assert_eq!(promised, expected, "{}, promise of job {}", policy, id);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Estimates that are right, too long, or too short by up to fifty times.
    #[test]
    fn overdue_jobs_agree_with_the_naive_definition(
        raw in prop::collection::vec(
            (
                prop_oneof![Just(0i64), 0i64..=300, 0i64..=4_000],
                prop_oneof![3 => 1u32..=4, 1 => 1u32..=PROCS],
                prop_oneof![1i64..=100, 101i64..=1_000, 1_001i64..=10_000, 10_001i64..=30_000],
                prop_oneof![2 => Just(1.0), 3 => 0.0..1.0f64, 3 => 1.0..4.0f64, 1 => 4.0..50.0f64],
            ),
            1..150,
        ),
    ) {
        let jobs = raw.iter().map(|&(gap, procs, estimate, share)| {
            (gap, procs, estimate, ((estimate as f64 * share) as i64).max(1))
        });
        let workload = estimated(jobs);
        let plain = NaiveMultiQueue::default();
        let adaptive = NaiveDelay { first: 2500.0, adapts: true, batch: 100, hidden: false };
        for (parameters, definition) in [
            ("", plain),
            ("promise=eager,", NaiveMultiQueue { eager: true, ..plain }),
            ("delay=2500,", NaiveMultiQueue { delay: Some(adaptive), ..plain }),
            ("delay=2500,batch=3,", NaiveMultiQueue { delay: Some(NaiveDelay { batch: 3, ..adaptive }), ..plain }),
            ("order=sjf,", NaiveMultiQueue { order: Some(NaiveMultiQueueOrder::Shortest), ..plain }),
            ("order=widest,", NaiveMultiQueue { order: Some(NaiveMultiQueueOrder::Widest), ..plain }),
        ] {
            for (word, overdue) in [("extended", NaiveMultiQueueOverdue::Extended), ("now", NaiveMultiQueueOverdue::NextSecond)] {
                agrees(&format!("multiqueue({parameters}overdue={word})"), definition, overdue, &workload)?;
            }
            // By default it is extended.
            let bare = match parameters.trim_end_matches(',') {
                "" => "multiqueue".to_string(),
                options => format!("multiqueue({options})"),
            };
            agrees(&bare, definition, NaiveMultiQueueOverdue::Extended, &workload)?;
        }
    }
}

/// By hand, on 12 processors: job 0 has 8 of them until 1,000 though it was to end at 100. Job 1 is
/// promised the whole machine at 100. Job 2 needs 4 processors for 50 s at 110: put off by a
/// minute, job 0 is to end at 160, so that job 2 delays nothing; ending in the next second, it
/// leaves no room, and job 2 waits for job 1, from 1,000 to 1,200.
#[test]
fn the_two_rules_of_overdue_jobs_by_hand() {
    let workload = estimated([(0, 8, 100, 1_000), (10, 12, 200, 200), (100, 4, 50, 50)]);
    for (policy, overdue, expected) in [
        ("multiqueue", NaiveMultiQueueOverdue::Extended, [0, 1_000, 110]),
        ("multiqueue(overdue=now)", NaiveMultiQueueOverdue::NextSecond, [0, 1_000, 1_200]),
    ] {
        let starts: Vec<i64> = seen(policy, &workload).iter().map(|job| job.0).collect();
        assert_eq!(starts, expected, "{policy}");
        let naive = run_estimated(NaiveMultiQueue::default(), overdue, &jobs_of(&workload), i64::from(PROCS));
        assert_eq!(naive.schedule.iter().map(|out| out.start).collect::<Vec<_>>(), expected, "{policy}");
    }
}
