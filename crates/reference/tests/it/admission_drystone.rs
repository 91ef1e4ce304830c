//! Limits that jobs share, on random workloads under every kind of policy: no job runs beyond a
//! limit, none is lost, and under a policy that starts all that fits none waits for less than the
//! machine or a limit.

use drystone::engine::{Happenings, Observer, Simulation};
use drystone::experiment::{Experiment, PoolDivision, PoolShare};
use drystone::model::{
    Circumstances, EndedJob, Job, JobId, JobLimit, LimitClaim, LogStatus, Machine, Outages, Provenance, Span, Time,
    Truth, Workload,
};
use drystone::policy::{PolicySpec, StartReason};
use drystone_reference::admission::{NaiveLimited, find_idle_room, part_of};
use proptest::prelude::*;

const PROCS: u32 = 12;
const POLICIES: [&str; 10] = [
    "fcfs",
    "greedy",
    "easy",
    "easy(backfill=sjf,predict=recent(2))",
    "conservative",
    "slack",
    "multiqueue",
    "ss",
    "is",
    "goal(nodes=30)",
];

/// Submit, processors, estimate, run time; and for each limit whether the job shares it, by its
/// processors or as a job.
type Row = ((i64, u32, i64, i64), Vec<(bool, bool)>);

fn rows() -> impl Strategy<Value = (Vec<u32>, Vec<Row>)> {
    let limits = prop::collection::vec(1..=PROCS, 1..4);
    limits.prop_flat_map(|limits| {
        let shares = prop::collection::vec((prop::bool::weighted(0.6), any::<bool>()), limits.len());
        let row = ((0i64..60, 1..=PROCS / 2, 1i64..40, 1i64..40), shares);
        (Just(limits), prop::collection::vec(row, 1..24))
    })
}

#[derive(Default)]
struct Watch {
    arrived: Vec<i64>,
    held: Vec<bool>,
    starts: Vec<Option<i64>>,
    runs: Vec<(usize, i64, i64)>,
    since: Vec<i64>,
    gone: Vec<Option<i64>>,
}

impl Watch {
    fn new(jobs: usize) -> Watch {
        Watch {
            arrived: vec![0; jobs],
            held: vec![false; jobs],
            starts: vec![None; jobs],
            runs: Vec::new(),
            since: vec![0; jobs],
            gone: vec![None; jobs],
        }
    }
}

impl Observer for Watch {
    fn note_arrival(&mut self, now: Time, id: JobId) {
        self.arrived[id.index()] = now.0;
    }
    fn note_hold(&mut self, _: Time, id: JobId) {
        self.held[id.index()] = true;
    }
    fn note_limit(&mut self, _: Time, id: JobId, limit: &JobLimit) {
        assert!(self.held[id.index()] && limit.reason.starts_with("limit"));
    }
    fn note_release(&mut self, _: Time, id: JobId) {
        assert!(std::mem::take(&mut self.held[id.index()]), "a job is released that is not held");
    }
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        assert!(!self.held[id.index()], "a held job starts");
        self.since[id.index()] = now.0;
        self.starts[id.index()].get_or_insert(now.0);
    }
    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.runs.push((id.index(), self.since[id.index()], now.0));
    }
    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.since[id.index()] = now.0;
    }
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let at = job_end.id.index();
        self.runs.push((at, self.since[at], job_end.outcome.end.0));
        self.gone[at] = Some(job_end.outcome.end.0);
    }
}

/// The workload, and the parts of each job by definition.
fn limited((limits, rows): &(Vec<u32>, Vec<Row>)) -> (Workload, Vec<Vec<(usize, i64)>>) {
    let mut rows = rows.clone();
    rows.sort_by_key(|((submit, ..), _)| *submit);
    let mut circumstances = Circumstances::default();
    for (at, &most) in limits.iter().enumerate() {
        let (reason, of, family) = (format!("limit{at}"), String::new(), String::new());
        circumstances.limits.add_limit(JobLimit { reason, of, family, most: u64::from(most) });
    }
    let (mut jobs, mut truth, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, ((submit, procs, estimate, run), shares)) in rows.into_iter().enumerate() {
        jobs.push(Job::new(Time(submit), procs, Span(estimate)));
        truth.push(Truth { run: Span(run), number: number as i64 + 1, status: LogStatus::Completed });
        let mut own = Vec::new();
        for (limit, ((shares, is_count), &most)) in shares.into_iter().zip(limits).enumerate() {
            let amount = if is_count { 1 } else { procs };
            if shares && amount <= most {
                own.push((limit, i64::from(amount)));
            }
        }
        if !own.is_empty() {
            let claim = |&(limit, amount): &(usize, i64)| LimitClaim {
                limit: limit as u32,
                amount: amount as u64,
                binds: true,
            };
            let set = circumstances.limits.intern_claims(own.iter().map(claim).collect());
            circumstances.limits.bind_job(JobId(number as u32), set);
        }
        parts.push(own);
    }
    let workload = Workload::new(Machine::new(PROCS), jobs, truth, Provenance::default()).expect("possible");
    (workload.with_circumstances(circumstances).expect("no job asks for more than a limit has"), parts)
}

fn check(policy: &str, world: &(Vec<u32>, Vec<Row>)) {
    let (workload, parts) = limited(world);
    let spec: PolicySpec = policy.parse().expect(policy);
    let outages = Outages::default();
    let mut watch = Watch::new(workload.len());
    Simulation::new(workload.machine(), spec.build_scheduler(), Happenings::new(&workload, &outages, false))
        .run(&mut watch)
        .unwrap_or_else(|e| panic!("{policy}: {e}: {world:?}"));
    judge(policy, world, &workload, &parts, &watch);
}

/// Two pools side by side, which share every limit: jobs of odd numbers are of the second.
fn check_pools(policy: &str, world: &(Vec<u32>, Vec<Row>)) {
    let (whole, parts) = limited(world);
    let circumstances = whole.circumstances().cloned().unwrap_or_default();
    let (_, mut jobs, truth, provenance) = whole.into_parts();
    jobs.iter_mut().zip(0..).for_each(|(job, at)| job.partition = 1 + at % 2);
    let whole = Workload::new(Machine::new(2 * PROCS), jobs, truth, provenance).expect("possible");
    let whole = whole.with_circumstances(circumstances).expect("possible");
    let pool = |partition: i32| PoolShare {
        name: format!("pool{partition}"),
        procs: PROCS,
        scale: 1,
        partitions: vec![(partition, 1)],
        outages: Vec::new(),
        classes: None,
        texts: Vec::new(),
    };
    let division = PoolDivision::new(vec![pool(1), pool(2)]);
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut watch = Watch::new(whole.len());
    let measurements = Experiment::new(&spec, &whole).with_division(Some(&division)).run(&mut watch);
    measurements.unwrap_or_else(|e| panic!("{policy}: {e}: {world:?}"));
    judge(policy, world, &whole, &parts, &watch);
}

fn judge(policy: &str, world: &(Vec<u32>, Vec<Row>), workload: &Workload, parts: &[Vec<(usize, i64)>], watch: &Watch) {
    let jobs: Vec<NaiveLimited> = (0..workload.len())
        .map(|at| NaiveLimited {
            arrives: watch.arrived[at],
            procs: i64::from(workload.jobs()[at].procs),
            parts: parts[at].clone(),
            starts: watch.starts[at],
            gone: watch.gone[at],
        })
        .collect();
    assert!(jobs.iter().all(|job| job.gone.is_some()), "{policy}: a job is lost: {world:?}");
    let limits: Vec<i64> = world.0.iter().map(|&most| i64::from(most)).collect();
    // Pools are simulated one after the other within an instant.
    if policy == "greedy" && workload.machine().procs == PROCS {
        assert_eq!(find_idle_room(i64::from(PROCS), &limits, &jobs), None, "{world:?}");
    }
    for (limit, &most) in limits.iter().enumerate() {
        for &(_, at, _) in &watch.runs {
            let running = watch.runs.iter().filter(|(_, from, until)| *from <= at && at < *until);
            let usage: i64 = running.map(|&(job, ..)| part_of(&jobs[job], limit)).sum();
            assert!(usage <= most, "{policy}: at {at} jobs have {usage} of limit {limit}, {most}: {world:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn limits_are_kept_and_leave_no_room_idle(world in rows(), policy in prop::sample::select(&POLICIES[..])) {
        check(policy, &world);
    }

    #[test]
    fn pools_share_limits(world in rows(), policy in prop::sample::select(&POLICIES[..])) {
        check_pools(policy, &world);
    }
}
