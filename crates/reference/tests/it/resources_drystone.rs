//! Several resources: the product against the naive definitions, start by start.

use drystone::engine::{Happenings, Schedule, Simulation, WorkloadReplay};
use drystone::model::{
    Demand, Job, LogStatus, Machine, Outage, Outages, Provenance, Resource, ResourceId, ResourceTableBuilder,
    ResourceUnit, Span, Time, Truth, Which, Workload,
};
use drystone::policy::PolicySpec;
use drystone_reference::vectors::{self, VectorJob, VectorRule};
use drystone_reference::{JobOut, checker, committed, easy, jobs_of};
use proptest::prelude::*;

/// Processors, memory, GPUs.
pub(crate) const MACHINE: [i64; 3] = [8, 20, 3];

pub(crate) fn jobs(overruns: bool) -> impl Strategy<Value = Vec<VectorJob>> {
    let procs = prop_oneof![3 => 1i64..=2, 2 => 1i64..=8];
    let memory = prop_oneof![2 => Just(0i64), 3 => 1i64..=6, 1 => 1i64..=20];
    let gpus = prop_oneof![3 => Just(0i64), 2 => 1i64..=3];
    let time = prop_oneof![2 => 1i64..20, 1 => 1i64..200, 1 => Just(10i64)];
    let job = (prop_oneof![Just(0i64), 0i64..20], procs, memory, gpus, time.clone(), time);
    prop::collection::vec(job, 1..60).prop_map(move |jobs| {
        let mut now = 0;
        let each = |(gap, procs, memory, gpus, estimate, run): (i64, i64, i64, i64, i64, i64)| {
            now += gap;
            let run = if overruns { run } else { run.min(estimate) };
            VectorJob { submit: now, estimate, run, asks: vec![procs, memory, gpus] }
        };
        jobs.into_iter().map(each).collect()
    })
}

/// The jobs as a workload of the product, with all but the first resource in its table.
pub(crate) fn workload(jobs: &[VectorJob], machine: &[i64]) -> Workload {
    let mut table = ResourceTableBuilder::new();
    for (at, &total) in machine.iter().enumerate().skip(1) {
        table.add_resource(Resource::new(format!("r{at}"), ResourceUnit::Count, total as u64)).expect("new");
    }
    let (mut list, mut truth) = (Vec::new(), Vec::new());
    for (at, job) in jobs.iter().enumerate() {
        let mut own = Job::new(Time(job.submit), job.asks[0] as u32, Span(job.estimate));
        let totals = job.asks[1..].iter().enumerate().map(|(at, &amount)| (ResourceId(at as u16), amount as u64));
        own.demand = table.intern_demand(Demand::from_totals(totals)).expect("known resources");
        list.push(own);
        truth.push(Truth { run: Span(job.run), number: at as i64 + 1, status: LogStatus::Completed });
    }
    let machine = Machine::new(machine[0] as u32);
    Workload::with_resources(machine, Some(table.finish()), list, truth, Provenance::default()).expect("possible")
}

pub(crate) fn simulate(workload: &Workload, policy: &str) -> Vec<JobOut> {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut schedule)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    let out = |s: &Option<(Time, Time)>| s.map(|(start, end)| JobOut { start: start.0, end: end.0 });
    schedule.spans.iter().map(|s| out(s).expect("every job ends")).collect()
}

fn assert_same(policy: &str, rule: VectorRule, jobs: &[VectorJob]) {
    let own = simulate(&workload(jobs, &MACHINE), policy);
    let naive = vectors::run(rule, jobs, &MACHINE);
    let asks: Vec<Vec<i64>> = jobs.iter().map(|job| job.asks.clone()).collect();
    assert_eq!(checker::check_resources(&MACHINE, &asks, &checker::list_segments(&own)), Ok(()), "{policy}");
    let different = (0..jobs.len()).filter(|&i| own[i] != naive[i]);
    if let Some(i) = different.min_by_key(|&i| own[i].start.min(naive[i].start)) {
        panic!("{policy}: job {i}: ours {:?}, by definition {:?}\n{jobs:?}", own[i], naive[i]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// EASY with several resources: orders, readings of extra amounts and overdue jobs, 0 to 4
    /// reservations.
    #[test]
    fn easy_with_several_resources(
        jobs in jobs(true), shortest in any::<(bool, bool)>(), reservations in 0usize..5,
        first in any::<bool>(), stale in any::<bool>(),
    ) {
        let is_single = reservations == 1;
        let (first, stale) = (first && is_single, stale && is_single);
        let name = |shortest: bool| if shortest { "sjf" } else { "fcfs" };
        let policy = format!(
            "easy(order={},backfill={},reserve={reservations},extra={},overdue={})",
            name(shortest.0), name(shortest.1), if first { "first" } else { "all" }, if stale { "stale" } else { "now" },
        );
        assert_same(&policy, VectorRule::Easy { shortest, reservations, first, stale }, &jobs);
    }

    /// Conservative backfilling with several resources.
    #[test]
    fn conservative_with_several_resources(jobs in jobs(false)) {
        assert_same("conservative", VectorRule::Conservative, &jobs);
    }

    /// EASY with books of its own plans as EASY does where its plan is that of the estimates.
    #[test]
    fn plans_by_estimates_are_the_same(jobs in jobs(true)) {
        let w = workload(&jobs, &MACHINE);
        prop_assert_eq!(simulate(&w, "easy(plan=estimate)"), simulate(&w, "easy"));
    }

    /// A resource in the place of processors: where each job has one processor and there are enough
    /// of them, GPUs make the schedule that processors make, by every choice of the family.
    #[test]
    fn a_resource_in_the_place_of_processors(
        w in crate::drawn::workloads(true, 1), order in 0usize..3, backfill in 0usize..3, reserve in 0usize..4,
        first in any::<bool>(), stale in any::<bool>(),
    ) {
        use easy::{Easy, NaiveExtra, NaiveEasyOrder, NaiveEasyOverdue, Reservations};
        const ORDERS: [(&str, NaiveEasyOrder); 3] = [("fcfs", NaiveEasyOrder::Fcfs), ("sjf", NaiveEasyOrder::Shortest), ("lxf", NaiveEasyOrder::LargestExpansion)];
        let naive = jobs_of(&w);
        let place = |job: &drystone_reference::JobIn| VectorJob {
            submit: job.submit, estimate: job.estimate, run: job.run, asks: vec![1, job.procs],
        };
        let vectors: Vec<VectorJob> = naive.iter().map(place).collect();
        let is_single = reserve == 1;
        let (extra_name, extra) = if first && is_single { ("first", NaiveExtra::FirstSufficient) } else { ("all", NaiveExtra::All) };
        let (overdue_name, overdue) = if stale && is_single { ("stale", NaiveEasyOverdue::Stale) } else { ("now", NaiveEasyOverdue::EndsNow) };
        let policy = format!(
            "easy(order={},backfill={},reserve={reserve},extra={extra_name},overdue={overdue_name})",
            ORDERS[order].0, ORDERS[backfill].0
        );
        let definition = Easy {
            extra, overdue, queue: ORDERS[order].1, backfill: ORDERS[backfill].1,
            reservations: Reservations::First(reserve), ..Easy::default()
        };
        let naive_spans = easy::run(&definition, &naive, 16).schedule();
        let own_spans = simulate(&workload(&vectors, &[1_000, 16]), &policy);
        prop_assert_eq!(own_spans, naive_spans, "{}", policy);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Without slack no job is moved for another: slack-based backfilling is conservative
    /// backfilling, whose definition over several resources is the naive one.
    #[test]
    fn slack_without_slack_is_conservative(jobs in jobs(false)) {
        assert_same("slack(sf=0,horizon=all)", VectorRule::Conservative, &jobs);
    }

    /// A queue whose head is chosen once, with several resources.
    #[test]
    fn committed_with_several_resources(jobs in jobs(true), shortest in any::<bool>(), overtake in any::<bool>()) {
        let (order, rank): (&str, committed::Rank<'_>) = match shortest {
            true => ("sjf", &|job, _| job.estimate as f64),
            false => ("fcfs", &|_, _| 0.0),
        };
        let policy = format!("committed(order={order},backfill={})", if overtake { "fcfs" } else { "none" });
        let w = workload(&jobs, &MACHINE);
        let asks: Vec<Vec<i64>> = jobs.iter().map(|job| job.asks.clone()).collect();
        let naive = committed::run_counting(rank, overtake, &jobs_of(&w), &asks, &MACHINE);
        prop_assert_eq!(simulate(&w, &policy), naive, "{}", policy);
    }

    /// One queue with one promise is EASY, where jobs run no longer than predicted.
    #[test]
    fn one_queue_is_easy(jobs in jobs(false)) {
        let easy = VectorRule::Easy { shortest: (false, false), reservations: 1, first: false, stale: false };
        assert_same("multiqueue(bounds=none)", easy, &jobs);
    }

    /// The heuristic path of a search, which is all of it where it may place no further node.
    #[test]
    fn goal_by_its_heuristic(jobs in jobs(false), slowdown in any::<bool>()) {
        let search = if slowdown { "dds-lxf" } else { "dds-fcfs" };
        let policy = format!("goal(nodes=0,search={search},depth=all)");
        assert_same(&policy, VectorRule::Heuristic { slowdown }, &jobs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A resource that binds in the place of processors, of which there are more than enough: every
    /// family makes the schedule that processors make.
    #[test]
    fn a_resource_binds_as_processors_do(w in crate::drawn::workloads(true, 1)) {
        let place = |job: &drystone_reference::JobIn| VectorJob {
            submit: job.submit, estimate: job.estimate, run: job.run, asks: vec![job.procs, job.procs],
        };
        let vectors: Vec<VectorJob> = jobs_of(&w).iter().map(place).collect();
        let bound = workload(&vectors, &[100_000, 16]);
        for policy in IN_PLACE {
            prop_assert_eq!(simulate(&bound, policy), simulate(&w, policy), "{}", policy);
        }
    }
}

/// Policies of every family that do not ask for the size of the machine.
pub(crate) const IN_PLACE: &[&str] = &[
    "easy",
    "conservative",
    "conservative(horizon=3)",
    "slack",
    "slack(sf=1,awt=50)",
    "slack(sf=10,awt=20,order=exhaustive(4))",
    "slack(awt=50,order=aat,remove=priced)",
    "slack(awt=50,order=du)",
    "slack(awt=50,tick=overrun)",
    "slack(awt=50,tick=extend)",
    "goal(nodes=300)",
    "goal(nodes=200,horizon=3)",
    "goal(lexical(maxW>avgX),nodes=200,prune=beside)",
    "goal(nodes=200,version=c,local=50,reuse=seed)",
    "multiqueue",
    "multiqueue(bounds=10/50,promise=eager)",
    "multiqueue(bounds=10/50,order=sjf)",
    "multiqueue(bounds=10/50,widths=4)",
    "multiqueue(bounds=10/50,delay=20)",
    "multiqueue(bounds=10/50,delay=20,hold=yes)",
    "multiqueue(bounds=auto,history=10)",
    "committed",
    "committed(order=sjf,backfill=fcfs)",
];

/// Processors that are out for a while, some of them announced; jobs on them run on.
fn outages() -> impl Strategy<Value = Vec<Outage>> {
    let outage = (0i64..200, 1i64..60, 1u32..=3, prop::option::of(0i64..60));
    prop::collection::vec(outage, 1..3).prop_map(|list| {
        let each = |(begin, length, procs, ahead): (i64, i64, u32, Option<i64>)| {
            let end = Some(Time(begin + length));
            let notice = ahead.map(|ahead| Time(begin - ahead));
            Outage { announced: notice, expected: end, ..Outage::new_drain(Which::Count(procs), Time(begin), end) }
        };
        list.into_iter().map(each).collect()
    })
}

/// The schedule on a machine that loses processors.
pub(crate) fn simulate_losing(workload: &Workload, outages: &Outages, policy: &str) -> Vec<JobOut> {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), Happenings::new(workload, outages, false))
        .run(&mut schedule)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    let out = |s: &Option<(Time, Time)>| s.map(|(start, end)| JobOut { start: start.0, end: end.0 });
    schedule.spans.iter().map(|s| out(s).expect("every job ends")).collect()
}

const COUNTING: [&str; 10] = [
    "fcfs",
    "greedy",
    "easy",
    "easy(reserve=3)",
    "easy(plan=estimate)",
    "easy(order=lxf,backfill=sjf)",
    "conservative",
    "slack(awt=50)",
    "goal(nodes=100)",
    "multiqueue(bounds=10/50)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Around outages no resource is overdrawn at any instant, and where memory is in proportion to
    /// processors the schedule is that of processors alone.
    #[test]
    fn outages_leave_the_other_resources(jobs in jobs(true), list in outages(), policy in 0usize..10) {
        let policy = COUNTING[policy];
        let Ok(outages) = Outages::new(Machine::new(MACHINE[0] as u32), list) else { return Ok(()) };
        let own = simulate_losing(&workload(&jobs, &MACHINE), &outages, policy);
        let asks: Vec<Vec<i64>> = jobs.iter().map(|job| job.asks.clone()).collect();
        prop_assert_eq!(checker::check_resources(&MACHINE, &asks, &checker::list_segments(&own)), Ok(()), "{}", policy);
        let alone: Vec<VectorJob> =
            jobs.iter().map(|job| VectorJob { asks: vec![job.asks[0]], ..job.clone() }).collect();
        let large_jobs: Vec<VectorJob> = alone
            .iter()
            .map(|job| VectorJob { asks: vec![job.asks[0], 1_000 * job.asks[0]], ..job.clone() })
            .collect();
        let without = simulate_losing(&plain(&alone), &outages, policy);
        let with = simulate_losing(&workload(&large_jobs, &[MACHINE[0], 1_000 * MACHINE[0]]), &outages, policy);
        prop_assert_eq!(with, without, "{}", policy);
    }
}

/// The jobs without any resource but processors.
fn plain(jobs: &[VectorJob]) -> Workload {
    let (machine, jobs, truth, provenance) = workload(jobs, &MACHINE[..1]).into_parts();
    Workload::new(machine, jobs, truth, provenance).expect("possible")
}

/// A job by hand: submit, run time (also its estimate), and what it asks for.
fn by_hand(rows: &[(i64, i64, [i64; 3])]) -> Vec<VectorJob> {
    let job =
        |&(submit, run, asks): &(i64, i64, [i64; 3])| VectorJob { submit, estimate: run, run, asks: asks.to_vec() };
    rows.iter().map(job).collect()
}

fn starts(rows: &[(i64, i64, [i64; 3])], machine: &[i64; 3], policy: &str) -> Vec<i64> {
    simulate(&workload(&by_hand(rows), machine), policy).iter().map(|job| job.start).collect()
}

/// On 8 processors with 16 GB, job 0 holds 12 GB until 100 and job 1 holds 2 GB until 40. Job 2
/// asks for 8 GB: with what is free (2) and what job 1 gives back (4) that is too little, so memory
/// makes its reservation at 100, while 3 processors idle. At 100 there are 16 − 8 = 8 GB and, job 2
/// on one of the processors, 7 processors over. Job 3 (2 GB, until 203) outlasts that and is within
/// both, so it starts at once; job 4 (1 GB) finds no memory until job 1 has ended.
#[test]
fn memory_makes_the_reservation() {
    let rows = [(0, 100, [3, 12, 0]), (0, 40, [2, 2, 0]), (1, 50, [1, 8, 0]), (3, 200, [1, 2, 0]), (4, 10, [1, 1, 0])];
    let machine = [8, 16, 0];
    assert_eq!(starts(&rows, &machine, "easy"), [0, 0, 100, 3, 40]);
    assert_eq!(starts(&rows, &machine, "conservative"), [0, 0, 100, 3, 40]);
    // Nothing overtakes.
    assert_eq!(starts(&rows, &machine, "fcfs"), [0, 0, 100, 100, 100]);
}

/// Both GPUs are busy until 50. The head waits for one of them while 6 of 8 processors idle; jobs
/// without GPUs pass, also one that runs beyond 50, for the head needs 2 of the 8 processors only.
/// A second job with a GPU would take the head's: it waits until the head has ended at 80.
#[test]
fn the_head_waits_for_gpus_and_jobs_without_pass() {
    let rows = [(0, 50, [2, 0, 2]), (1, 30, [2, 0, 2]), (2, 500, [4, 0, 0]), (3, 10, [2, 0, 1]), (4, 20, [2, 0, 0])];
    let machine = [8, 0, 2];
    assert_eq!(starts(&rows, &machine, "easy"), [0, 50, 2, 80, 4]);
    assert_eq!(starts(&rows, &machine, "conservative"), [0, 50, 2, 80, 4]);
}

/// Two partitions of 4 processors, as pools, share a licence. Job 1 of partition b waits for the
/// licence that job 0 of partition a holds until 30, though all of b is free; job 2 of b needs none
/// and runs beside.
#[test]
fn a_licence_is_shared_across_partitions() {
    let job = |submit: i64, run: i64, asks: [i64; 4]| VectorJob { submit, estimate: run, run, asks: asks.to_vec() };
    // Processors, partition a, partition b, licence.
    let rows = [job(0, 30, [2, 2, 0, 1]), job(1, 10, [4, 0, 4, 1]), job(2, 20, [3, 0, 3, 0]), job(3, 60, [2, 0, 2, 0])];
    let w = workload(&rows, &[8, 4, 4, 1]);
    let starts: Vec<i64> = simulate(&w, "easy").iter().map(|job| job.start).collect();
    // Job 2 ends at 22, in time for job 1 at 30; job 3 would hold half of b until 63.
    assert_eq!(starts, [0, 30, 2, 40]);
    let greedy: Vec<i64> = simulate(&w, "greedy").iter().map(|job| job.start).collect();
    // Without a reservation job 3 takes what job 2 has given back.
    assert_eq!(greedy, [0, 82, 2, 22]);
}

/// 4 processors, 2 GPUs and 100 units of memory. A job holds all processors until 100; two jobs
/// with 3 processors and 100 s wait from 1 on, one after the other can start. The second asks for a
/// GPU and 10 of memory, the first for 80 of memory. By arrival, by average wait and by processors
/// they are equal, so the first goes first. By GPUs the second counts alone, and by memory the
/// first counts more. By dominant share the first has .8 and the second .75.
///
/// With two GPUs in place of one the second has all of them, and is first by dominant share.
#[test]
fn goals_weigh_waits_by_resources() {
    let starts = |objective: &str, gpus: u64| -> Vec<i64> {
        let mut table = ResourceTableBuilder::new();
        table.add_resource(Resource::new("gpu", ResourceUnit::Count, 2)).expect("new");
        table.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, 100)).expect("new");
        let rows = [(0, 4, [0, 0]), (1, 3, [0, 80]), (1, 3, [gpus, 10])];
        let (mut jobs, mut truth) = (Vec::new(), Vec::new());
        for (number, (submit, procs, asks)) in (1..).zip(rows) {
            let mut job = Job::new(Time(submit), procs, Span(100));
            let totals = asks.iter().enumerate().map(|(at, &amount)| (ResourceId(at as u16), amount));
            job.demand = table.intern_demand(Demand::from_totals(totals)).expect("known resources");
            jobs.push(job);
            truth.push(Truth { run: Span(100), number, status: LogStatus::Completed });
        }
        let workload =
            Workload::with_resources(Machine::new(4), Some(table.finish()), jobs, truth, Provenance::default());
        let policy = format!("goal(lexical({objective}),search=dds-fcfs,nodes=all,diff=strict)");
        simulate(&workload.expect("possible"), &policy).iter().map(|job| job.start).collect()
    };
    let (first, second) = (vec![0, 100, 200], vec![0, 200, 100]);
    for objective in ["avgW", "areaW", "areaW(mem)", "areaW(share)"] {
        assert_eq!(starts(objective, 1), first, "{objective}");
    }
    assert_eq!(starts("areaW(gpus)", 1), second);
    assert_eq!(starts("areaW(mem)", 2), first);
    assert_eq!(starts("areaW(share)", 2), second);
}

/// 4 processors, 8 GB, one GPU. Job 0 runs for 1,000 s, job 1 for 60 s; both come at 0. From 60 on
/// job 1 has waited as long as it runs, an expansion factor of 2 against 1, and may suspend job 0.
///
/// Job 0 on all processors with 6 GB: job 1 with 1 GB runs from 60 to 120 in its place, and job 0
/// ends 60 s later. Job 1 with 4 GB waits for job 0, for that would keep its memory. The GPU of
/// job 0 goes to job 1 at 60, also where processors are free for both; job 2 beside them has no GPU
/// to give and runs on.
#[test]
fn suspended_jobs_keep_their_memory_and_give_back_gpus() {
    let ends = |rows: &[(u32, u64, u64, i64)], policy: &str| -> Vec<(i64, i64)> {
        let mut table = ResourceTableBuilder::new();
        table.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, 8)).expect("new");
        table.add_resource(Resource::new("gpu", ResourceUnit::Count, 1)).expect("new");
        let (mut jobs, mut truth) = (Vec::new(), Vec::new());
        for (number, &(procs, memory, gpus, run)) in (1..).zip(rows) {
            let mut job = Job::new(Time(0), procs, Span(run));
            job.demand = table
                .intern_demand(Demand::from_totals([(ResourceId(0), memory), (ResourceId(1), gpus)]))
                .expect("known resources");
            jobs.push(job);
            truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
        }
        let workload =
            Workload::with_resources(Machine::new(4), Some(table.finish()), jobs, truth, Provenance::default());
        simulate(&workload.expect("possible"), policy).iter().map(|job| (job.start, job.end)).collect()
    };
    for policy in ["ss", "tss", "ss(migration=yes)"] {
        assert_eq!(ends(&[(4, 6, 0, 1_000), (2, 1, 0, 60)], policy), [(0, 1_060), (60, 120)], "{policy}");
        assert_eq!(ends(&[(4, 6, 0, 1_000), (2, 4, 0, 60)], policy), [(0, 1_000), (1_000, 1_060)], "{policy}");
        assert_eq!(ends(&[(4, 6, 1, 1_000), (2, 1, 1, 60)], policy), [(0, 1_060), (60, 120)], "{policy}");
        let beside = [(1, 1, 1, 1_000), (1, 1, 1, 60), (1, 1, 0, 1_000)];
        assert_eq!(ends(&beside, policy), [(0, 1_060), (60, 120), (0, 1_000)], "{policy}");
    }
    // Under immediate service a job keeps what it has for ten minutes.
    let beside = [(1, 1, 1, 1_000), (1, 1, 1, 60), (1, 1, 0, 1_000)];
    assert_eq!(ends(&beside, "is"), [(0, 1_060), (600, 660), (0, 1_000)]);
    assert_eq!(ends(&[(4, 6, 1, 1_000), (2, 4, 0, 60)], "is"), [(0, 1_000), (1_000, 1_060)]);
}
