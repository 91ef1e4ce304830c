//! Pools side by side that share limits and licences: schedules computed by hand, and random sites.

use drystone::engine::{Observer, Schedule};
use drystone::experiment::{Experiment, PoolDivision, PoolShare};
use drystone::model::{
    Circumstances, Demand, DemandId, EndedJob, Job, JobId, JobLimit, LimitClaim, LogStatus, Machine, Provenance,
    Resource, ResourceId, ResourceTableBuilder, ResourceUnit, Span, SupplyStep, Time, Truth, Workload,
};
use drystone::policy::{PolicySpec, StartReason, policy_kinds};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A user may run one job on the whole site. Job 0 runs in the first pool until 10; job 1, of the
/// second, may start then, and job 3, of the first, when that has ended. Job 2 is another user's.
#[test]
fn an_end_in_one_pool_admits_a_job_of_another() {
    let rows = [(0, 1, 10), (0, 2, 7), (3, 2, 5), (4, 1, 2)];
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, (submit, partition, run)) in (1..).zip(rows) {
        let mut job = Job::new(Time(submit), 2, Span(20));
        job.partition = partition;
        jobs.push(job);
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    let mut circumstances = Circumstances::default();
    let (reason, of) = ("QOSMaxJobsPerUserLimit".to_string(), "the QOS normal for the user ada".to_string());
    let limit = circumstances.limits.add_limit(JobLimit { reason, of, family: "the QOS normal".to_string(), most: 1 });
    let set = circumstances.limits.intern_claims(vec![LimitClaim { limit, amount: 1, binds: true }]);
    [0, 1, 3].into_iter().for_each(|job| circumstances.limits.bind_job(JobId(job), set));
    let whole = Workload::new(Machine::new(8), jobs, truth, Provenance::default()).expect("possible");
    let whole = whole.with_circumstances(circumstances).expect("possible");
    let division = pools(2);
    for policy in ["fcfs", "easy", "easy(pass=event)", "conservative", "slack"] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let mut schedule = Schedule::default();
        Experiment::new(&spec, &whole).with_division(Some(&division)).run(&mut schedule).expect("simulated");
        let right = [(0, 10), (10, 17), (3, 8), (17, 19)].map(|(start, end)| Some((Time(start), Time(end))));
        assert_eq!(schedule.spans, right, "{policy}");
    }
}

/// Two pools of four processors and four licences; the jobs, of one processor each, by submit time,
/// pool, run time and licences.
fn licensed(rows: &[(i64, i32, i64, u32)], supply: &[SupplyStep]) -> Workload {
    let mut builder = ResourceTableBuilder::new();
    let cad = builder.add_resource(Resource::new("license:cad", ResourceUnit::Count, 4)).expect("new");
    for amount in 0..=4 {
        builder.intern_demand(Demand::from_totals([(cad, amount)])).expect("known");
    }
    let table = builder.finish().with_supply(supply).expect("sound");
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, &(submit, partition, run, licences)) in (1..).zip(rows) {
        let mut job = Job::new(Time(submit), 1, Span(20));
        (job.partition, job.demand) = (partition, DemandId(licences));
        jobs.push(job);
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    let (machine, table) = (Machine::new(8), Some(Arc::new(table)));
    Workload::with_resources(machine, table, jobs, truth, Provenance::default()).expect("possible")
}

fn pools(count: i32) -> PoolDivision {
    let pool = |partition: i32| PoolShare {
        name: partition.to_string(),
        procs: 4,
        scale: 1,
        partitions: vec![(partition, 1)],
        outages: Vec::new(),
        classes: None,
        texts: Vec::new(),
    };
    PoolDivision::new((1..=count).map(pool).collect())
}

fn assert_spans(whole: &Workload, right: &[(i64, i64)]) {
    for policy in ["fcfs", "easy", "easy(pass=event)", "easy(reserve=3)", "conservative", "slack", "multiqueue"] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let mut schedule = Schedule::default();
        Experiment::new(&spec, whole).with_division(Some(&pools(2))).run(&mut schedule).expect("simulated");
        let right: Vec<_> = right.iter().map(|&(start, end)| Some((Time(start), Time(end)))).collect();
        assert_eq!(schedule.spans, right, "{policy}");
    }
}

/// Job 0 has three of four licences. Job 1, of the other pool, asks for two and waits for its end;
/// job 2 takes the last one from 3 to 8, and job 3, of the first pool, has it after that.
#[test]
fn licences_are_there_once_for_all_pools() {
    let whole = licensed(&[(0, 1, 10, 3), (0, 2, 7, 2), (3, 2, 5, 1), (5, 1, 4, 1)], &[]);
    assert_spans(&whole, &[(0, 10), (10, 17), (3, 8), (8, 12)]);
}

/// All licences come back in the first pool, where a job waits for them since 2: the one of the
/// second pool has waited since 1 and comes first.
#[test]
fn licences_that_come_back_go_to_the_job_that_came_first() {
    let whole = licensed(&[(0, 1, 10, 4), (1, 2, 5, 4), (2, 1, 5, 4)], &[]);
    assert_spans(&whole, &[(0, 10), (10, 15), (15, 20)]);
}

/// Two licences from 5 to 20. Unannounced: jobs 0 and 1 keep the four that they have. Job 2 needs
/// one, and has it when job 1 has ended, for then two are there and none is in use; job 3 needs
/// three, which are there from 20 on.
#[test]
fn supply_over_time_is_that_of_all_pools() {
    let step =
        |from, amount, notice| SupplyStep { resource: ResourceId(0), from: Time(from), amount, announced: notice };
    let rows = [(0, 1, 10, 2), (1, 2, 10, 2), (6, 1, 4, 1), (6, 2, 5, 3)];
    let whole = licensed(&rows, &[step(5, 2, None), step(20, 4, None)]);
    assert_spans(&whole, &[(0, 10), (1, 11), (11, 15), (20, 25)]);
    // Announced: beside job 0 none is left for job 1 from 5 on, so that it starts at 10, and job 2
    // when there are four again.
    let known_since = Some(Time(0));
    let whole = licensed(&rows, &[step(5, 2, known_since), step(20, 4, known_since)]);
    assert_spans(&whole, &[(0, 10), (10, 20), (20, 24), (20, 25)]);
}

/// Amounts in use of each resource, held against those that there are wherever a job starts.
struct SupplyWatch<'a> {
    whole: &'a Workload,
    held: Vec<u64>,
    done: usize,
}

impl SupplyWatch<'_> {
    fn change(&mut self, now: Time, id: JobId, starts: bool) {
        let table = self.whole.resources().expect("some");
        for &(resource, amount) in table.demand_totals(self.whole.job(id).demand) {
            let held_amount = &mut self.held[resource.index()];
            *held_amount = if starts { *held_amount + amount } else { *held_amount - amount };
            let supply = table.supply_at(resource, now);
            assert!(
                !starts || *held_amount <= supply,
                "{held_amount} of {supply} of {resource:?} at {now}, where job {id} starts"
            );
        }
    }
}

impl Observer for SupplyWatch<'_> {
    fn note_start(&mut self, now: Time, id: JobId, _why: StartReason) {
        self.change(now, id, true);
    }
    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.change(now, id, true);
    }
    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.change(now, id, false);
    }
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.done += 1;
        self.change(job_end.outcome.end, job_end.id, false);
    }
}

/// A site of pools that share licences and bandwidth, whose amounts change, with or without an
/// announcement, and are whole again at the end.
fn random_site() -> impl Strategy<Value = (i32, Workload)> {
    let rows = prop::collection::vec((0..60_i64, 1..=4_i32, 1..=30_i64, 1..=4_u32, 0..=3_u64, 0..=5_u64), 1..40);
    let steps = prop::collection::vec((0..2_u16, 1..90_i64, 0..=5_u64, any::<bool>()), 0..6);
    (2..=4_i32, rows, steps).prop_map(|(pools, mut rows, steps)| {
        rows.sort_by_key(|row| row.0);
        let mut builder = ResourceTableBuilder::new();
        let cad = builder.add_resource(Resource::new("license:cad", ResourceUnit::Count, 3)).expect("new");
        let net = builder.add_resource(Resource::new("bandwidth", ResourceUnit::Count, 5)).expect("new");
        let (mut jobs, mut truth) = (Vec::new(), Vec::new());
        for (number, &(submit, partition, run, procs, licences, width)) in (1..).zip(&rows) {
            let mut job = Job::new(Time(submit), procs, Span(run + submit % 7));
            job.partition = (partition - 1) % pools + 1;
            job.demand = builder.intern_demand(Demand::from_totals([(cad, licences), (net, width)])).expect("known");
            jobs.push(job);
            truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
        }
        let mut supply: BTreeMap<(u16, i64), SupplyStep> = BTreeMap::new();
        for (resource, from, amount, has_notice) in steps.into_iter().chain([(0, 100, 3, false), (1, 100, 5, false)]) {
            let (amount, notice) = (amount.min(if resource == 0 { 3 } else { 5 }), has_notice.then_some(Time(0)));
            let step = SupplyStep { resource: ResourceId(resource), from: Time(from), amount, announced: notice };
            supply.insert((resource, from), step);
        }
        let supply: Vec<SupplyStep> = supply.into_values().collect();
        let table = builder.finish().with_supply(&supply).expect("sound");
        let machine = Machine::new(u32::try_from(pools).expect("few") * 4);
        let whole = Workload::with_resources(machine, Some(Arc::new(table)), jobs, truth, Provenance::default());
        (pools, whole.expect("possible"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the policy, no job starts or resumes beyond what there is on the whole site, and
    /// all of them end.
    #[test]
    fn no_instant_exceeds_the_supply_of_the_site((pools, whole) in random_site()) {
        let division = self::pools(pools);
        let policies = policy_kinds().into_iter().map(|kind| kind.name.to_string());
        let variants = ["easy(pass=event)", "easy(reserve=2)", "easy++", "conservative(pass=event)"];
        for policy in policies.chain(variants.map(str::to_string)) {
            let spec: PolicySpec = policy.parse().expect("a policy");
            let mut watch = SupplyWatch { whole: &whole, held: vec![0; 2], done: 0 };
            Experiment::new(&spec, &whole).with_division(Some(&division)).run(&mut watch).expect("simulated");
            prop_assert_eq!(watch.done, whole.len(), "{}", policy);
        }
    }
}
