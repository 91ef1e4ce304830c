//! Jobs on nodes: the product against the naive definitions, start by start and node by node.

use drystone::engine::{Segments, Simulation, WorkloadReplay};
use drystone::model::{
    Demand, DeviceDemand, DevicePer, Job, LogStatus, Machine, NodeClass, NodeFill, NodeMemory, NodeShape, Provenance,
    Resource, ResourceTableBuilder, ResourceUnit, Span, Time, Truth, Workload, WorkloadError,
};
use drystone::policy::PolicySpec;
use drystone_reference::JobOut;
use drystone_reference::nodes::{NaiveNode, NaiveShare, Stay, find_overfull};
use drystone_reference::placed::{self, NaiveFloor, NaivePlacedJob, PlacedFill, PlacedRule, PlacedSeat};
use proptest::prelude::*;

/// Demand of a job as it says it, and its pieces by definition.
#[derive(Clone, Debug)]
pub(super) struct PlacedAsks {
    pub(super) procs: u32,
    pub(super) shape: NodeShape,
    pub(super) pieces: Vec<Vec<i64>>,
    pub(super) apart: bool,
    pub(super) alone: bool,
}

/// Cores, gigabytes, GPUs of each node: three classes.
pub(super) fn floor() -> NaiveFloor {
    vec![vec![4, 8, 0], vec![4, 8, 0], vec![8, 16, 2], vec![2, 4, 0]]
}

/// More nodes of a class than a word has bits.
pub(super) fn many_nodes() -> NaiveFloor {
    let class = |count, node: Vec<i64>| std::iter::repeat_n(node, count);
    class(66, vec![4, 8, 0]).chain(class(3, vec![8, 16, 2])).chain(class(5, vec![2, 4, 0])).collect()
}

const GB: u64 = 1 << 20;

pub(super) fn anywhere(procs: u32, memory: u64) -> PlacedAsks {
    let shape = NodeShape { memory: NodeMemory::PerCore(memory * GB), ..NodeShape::default() };
    PlacedAsks { procs, shape, pieces: vec![vec![1, memory as i64, 0]; procs as usize], apart: false, alone: false }
}

/// A share on each of so many nodes, of unequal size where the processors do not divide.
pub(super) fn shares(nodes: u32, procs: u32, memory: u64, gpus: u32, alone: bool) -> PlacedAsks {
    let devices = if gpus > 0 { vec![gpu(gpus, DevicePer::Node)] } else { Vec::new() };
    let memory_of_node = if memory > 0 { NodeMemory::PerNode(memory * GB) } else { NodeMemory::None };
    let shape =
        NodeShape { nodes: (nodes, nodes), memory: memory_of_node, devices, exclusive: alone, ..NodeShape::default() };
    let share = |at: u32| {
        let cores = procs / nodes + u32::from(at < procs % nodes);
        vec![i64::from(cores), memory as i64, i64::from(gpus)]
    };
    PlacedAsks { procs, shape, pieces: (0..nodes).map(share).collect(), apart: true, alone }
}

/// GPUs for the whole job, each with as many processors.
fn by_gpu(gpus: u32, cores: u32, memory: u64) -> PlacedAsks {
    let shape = NodeShape {
        memory: NodeMemory::PerCore(memory * GB),
        devices: vec![gpu(gpus, DevicePer::Job)],
        ..NodeShape::default()
    };
    let piece = vec![i64::from(cores), (memory * u64::from(cores)) as i64, 1];
    PlacedAsks { procs: gpus * cores, shape, pieces: vec![piece; gpus as usize], apart: false, alone: false }
}

fn gpu(count: u32, per: DevicePer) -> DeviceDemand {
    DeviceDemand { name: "gpu".into(), kind: String::new(), count, per, cores_each: 0 }
}

fn asks() -> impl Strategy<Value = PlacedAsks> {
    let plain = (1u32..=18, 0u64..=3).prop_map(|(procs, memory)| anywhere(procs, memory));
    let small = (1u32..=3, 0u64..=2).prop_map(|(procs, memory)| anywhere(procs, memory));
    let on_nodes = (1u32..=3, 0u32..6, 0u64..=6, any::<bool>())
        .prop_map(|(nodes, more, memory, alone)| shares(nodes, nodes + more, memory, 0, alone));
    let with_gpus =
        (1u32..=8, 0u64..=8, 1u32..=2).prop_map(|(procs, memory, gpus)| shares(1, procs, memory, gpus, false));
    let gpus = (1u32..=2, 1u32..=4, 0u64..=2).prop_map(|(gpus, cores, memory)| by_gpu(gpus, cores, memory));
    prop_oneof![2 => plain, 3 => small, 3 => on_nodes, 2 => with_gpus, 2 => gpus]
}

pub(super) type Row = (i64, i64, i64, PlacedAsks);

/// Jobs that can run here: arrival, estimate, run time, and what they ask for.
pub(super) fn rows(overruns: bool) -> impl Strategy<Value = Vec<Row>> {
    rows_on(floor(), asks(), overruns)
}

/// Jobs of all sizes for many nodes.
pub(super) fn many_rows(overruns: bool) -> impl Strategy<Value = Vec<Row>> {
    let plain = (1u32..=250, 0u64..=2).prop_map(|(procs, memory)| anywhere(procs, memory));
    let on_nodes = (1u32..=70, 0u32..100, 0u64..=6, any::<bool>())
        .prop_map(|(nodes, more, memory, alone)| shares(nodes, nodes + more, memory, 0, alone));
    rows_on(many_nodes(), prop_oneof![1 => asks(), 2 => plain, 2 => on_nodes], overruns)
}

fn rows_on(
    floor: NaiveFloor,
    asks: impl Strategy<Value = PlacedAsks>,
    overruns: bool,
) -> impl Strategy<Value = Vec<Row>> {
    let time = prop_oneof![2 => 1i64..20, 1 => 1i64..200, 1 => Just(10i64)];
    let row = (prop_oneof![Just(0i64), 0i64..20], time.clone(), time, asks);
    prop::collection::vec(row, 1..50).prop_map(move |rows| {
        let mut now = 0;
        let each = |(gap, estimate, run, asks): (i64, i64, i64, PlacedAsks)| {
            now += gap;
            (now, estimate, if overruns { run } else { run.min(estimate) }, asks)
        };
        let possible = |row: &Row| placed::place_job(&by_definition(row), &floor, &floor, PlacedFill::Pack).is_some();
        rows.into_iter().map(each).filter(possible).collect()
    })
}

pub(super) fn by_definition((submit, estimate, run, asks): &Row) -> NaivePlacedJob {
    let PlacedAsks { pieces, apart, alone, .. } = asks.clone();
    NaivePlacedJob { submit: *submit, estimate: *estimate, run: *run, pieces, apart, alone }
}

pub(super) fn workload(rows: &[Row], floor: &NaiveFloor, fill: Option<NodeFill>) -> Result<Workload, WorkloadError> {
    let mut table = ResourceTableBuilder::new();
    let sum = |at: usize| floor.iter().map(|node| node[at] as u64).sum::<u64>();
    table.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, sum(1) * GB)).expect("new");
    table.add_resource(Resource::new("gpu", ResourceUnit::Count, sum(2))).expect("new");
    for (at, node) in floor.iter().enumerate() {
        table.add_class(NodeClass {
            nodes: vec![format!("n{at}")],
            cores: node[0] as u32,
            memory_kb: node[1] as u64 * GB,
            devices: if node[2] > 0 { vec![("gpu".into(), String::new(), node[2] as u32)] } else { Vec::new() },
            ..NodeClass::default()
        });
    }
    fill.into_iter().for_each(|fill| table.set_fill(fill));
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (at, (submit, estimate, run, asks)) in rows.iter().enumerate() {
        let mut job = Job::new(Time(*submit), asks.procs, Span(*estimate));
        let total = |at: usize| asks.pieces.iter().map(|piece| piece[at] as u64).sum::<u64>();
        let totals = Demand::from_totals([
            (drystone::model::ResourceId(0), total(1) * GB),
            (drystone::model::ResourceId(1), total(2)),
        ]);
        job.demand =
            table.intern_demand(Demand { shape: Some(asks.shape.clone()), ..totals }).expect("known resources");
        jobs.push(job);
        truth.push(Truth { run: Span(*run), number: at as i64 + 1, status: LogStatus::Completed });
    }
    let machine = Machine::new(sum(0) as u32);
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, Provenance::default())
}

/// The schedule, with the cores of each job by node.
fn simulate(workload: &Workload, policy: &str, floor: &NaiveFloor) -> (Vec<JobOut>, Vec<Vec<(usize, i64)>>) {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut segments = Segments::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut segments)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    last_segments(&segments, workload.len(), floor)
}

/// Start and end of each job's last attempt, with its cores by node.
pub(super) fn last_segments(
    segments: &Segments,
    jobs: usize,
    floor: &NaiveFloor,
) -> (Vec<JobOut>, Vec<Vec<(usize, i64)>>) {
    let mut out = vec![JobOut { start: -1, end: -1 }; jobs];
    let mut cores = vec![Vec::new(); jobs];
    let first: Vec<i64> = (0..floor.len()).map(|at| floor[..at].iter().map(|node| node[0]).sum()).collect();
    for segment in &segments.list {
        let at = segment.job.index();
        if segment.start.0 < out[at].start {
            continue;
        }
        cores[at].clear();
        out[at] = JobOut { start: segment.start.0, end: segment.end.0 };
        let set = segment.on.as_ref().expect("its processors have names");
        for (node, begin) in first.iter().enumerate() {
            let own = *begin as u32..(*begin + floor[node][0]) as u32;
            let count = own.filter(|&processor| set.contains(processor)).count() as i64;
            if count > 0 {
                cores[at].push((node, count));
            }
        }
    }
    (out, cores)
}

/// Checks every node's every resource at every instant.
pub(super) fn assert_no_node_is_overfull(
    rows: &[Row],
    out: &[JobOut],
    cores: &[Vec<(usize, i64)>],
    floor: &NaiveFloor,
) {
    let node = |node: &Vec<i64>| NaiveNode {
        cpus: node[0] as u32,
        memory: Some(node[1] as u64),
        devices: vec![(String::new(), node[2] as u32)],
    };
    let nodes: Vec<NaiveNode> = floor.iter().map(node).collect();
    let stay = |at: usize| {
        let asks = &rows[at].3;
        let largest = &asks.pieces[0];
        let share = |&(node, cores): &(usize, i64)| {
            let pieces = if asks.apart { 1 } else { cores / largest[0] };
            let (memory, gpus) = ((pieces * largest[1]) as u64, (pieces * largest[2]) as u32);
            NaiveShare { node, cpus: cores as u32, memory, devices: Some((None, gpus)) }
        };
        let shares = cores[at].iter().map(share).collect();
        Stay { job: at as u64, from: out[at].start, until: out[at].end, alone: asks.alone, shares }
    };
    let stays: Vec<Stay> = (0..rows.len()).map(stay).collect();
    assert_eq!(find_overfull(&nodes, &stays), None);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(cores[at].iter().map(|on| on.1).sum::<i64>(), i64::from(row.3.procs), "job {at}");
    }
}

/// Jobs by definition, and the definition's way to choose nodes: where nodes are given out whole,
/// each job is alone, on nodes that are chosen tightly.
pub(super) fn as_defined(rows: &[Row], fill: NodeFill) -> (Vec<NaivePlacedJob>, PlacedFill) {
    let whole = fill == NodeFill::Whole;
    let job = |row: &Row| {
        let job = by_definition(row);
        NaivePlacedJob { alone: job.alone || whole, ..job }
    };
    let by = if fill == NodeFill::Spread { PlacedFill::Spread } else { PlacedFill::Pack };
    (rows.iter().map(job).collect(), by)
}

/// Returns whether a job has these cores by node by definition: all of its nodes where it is alone.
pub(super) fn is_seat(cores: &[(usize, i64)], seat: &PlacedSeat, job: &NaivePlacedJob) -> bool {
    let same = |(own, by): (&(usize, i64), &(usize, Vec<i64>))| own.0 == by.0 && (job.alone || own.1 == by.1[0]);
    cores.len() == seat.len() && cores.iter().zip(seat).all(same)
}

fn assert_same(policy: &str, rule: PlacedRule, rows: &[Row], floor: NaiveFloor, fill: NodeFill) {
    let workload = workload(rows, &floor, Some(fill)).expect("every job fits on the nodes");
    let (own, cores) = simulate(&workload, policy, &floor);
    let mut node_rows = rows.to_vec();
    node_rows.iter_mut().for_each(|row| row.3.alone |= fill == NodeFill::Whole);
    assert_no_node_is_overfull(&node_rows, &own, &cores, &floor);
    let (jobs, fill) = as_defined(rows, fill);
    let (naive, seats) = placed::run(rule, &jobs, &floor, fill);
    let differs = |&i: &usize| own[i] != naive[i] || !is_seat(&cores[i], &seats[i], &jobs[i]);
    if let Some(i) = (0..rows.len()).filter(differs).min_by_key(|&i| own[i].start.min(naive[i].start)) {
        panic!(
            "{policy}: job {i}: ours {:?} on {:?}, by definition {:?} on {:?}\n{jobs:?}",
            own[i], cores[i], naive[i], seats[i]
        );
    }
}

fn assert_same_easy((first, behind): (bool, bool), kind: usize, rows: &[Row], floor: NaiveFloor, fill: NodeFill) {
    let (backfills, reserves) = (kind > 0, kind > 1);
    let name = |shortest: bool| if shortest { "sjf" } else { "fcfs" };
    let (policy, shortest) = match kind {
        0 => ("fcfs".to_string(), (false, false)),
        _ => (
            format!("easy(order={},backfill={},reserve={},overdue=now)", name(first), name(behind), u8::from(reserves)),
            (first, behind),
        ),
    };
    assert_same(&policy, PlacedRule::Easy { shortest, backfills, reserves }, rows, floor, fill);
}

pub(super) fn fills() -> impl Strategy<Value = NodeFill> {
    prop_oneof![Just(NodeFill::Pack), Just(NodeFill::Spread), Just(NodeFill::Whole)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// FCFS, greedy and EASY on many nodes.
    #[test]
    fn easy_on_many_nodes(
        rows in many_rows(true), shortest in any::<(bool, bool)>(), kind in 0usize..4, fill in fills(),
    ) {
        assert_same_easy(shortest, kind, &rows, many_nodes(), fill);
    }

    /// Conservative backfilling on many nodes.
    #[test]
    fn conservative_on_many_nodes(rows in many_rows(false), fill in fills()) {
        assert_same("conservative(horizon=all)", PlacedRule::Conservative, &rows, many_nodes(), fill);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// FCFS, greedy and EASY on nodes of three classes.
    #[test]
    fn easy_on_nodes(
        rows in rows(true), shortest in any::<(bool, bool)>(), kind in 0usize..4, fill in fills(),
    ) {
        assert_same_easy(shortest, kind, &rows, floor(), fill);
    }

    /// Conservative backfilling on nodes of three classes.
    #[test]
    fn conservative_on_nodes(rows in rows(false), fill in fills()) {
        assert_same("conservative(horizon=all)", PlacedRule::Conservative, &rows, floor(), fill);
    }

    /// A job is possible on the nodes where it is by definition.
    #[test]
    fn what_fits_is_what_fits_by_definition(asks in asks()) {
        let row = (0, 10, 10, asks);
        let fits = placed::place_job(&by_definition(&row), &floor(), &floor(), PlacedFill::Pack).is_some();
        // Devices whose shares of the processors fit on no node are spread over nodes in another
        // way.
        let result = workload(std::slice::from_ref(&row), &floor(), Some(NodeFill::Pack));
        prop_assert!(result.is_ok() == fits || (result.is_ok() && !row.3.apart), "{:?}", result.err());
    }

    /// One node as large as the machine: the schedules of counts, for every family.
    #[test]
    fn one_node_is_as_counts(rows in one_node(), fill in prop_oneof![Just(NodeFill::Pack), Just(NodeFill::Spread)]) {
        let floor = vec![vec![18, 36, 2]];
        let count_workload = workload(&rows, &floor, None).expect("possible");
        let node_workload = workload(&rows, &floor, Some(fill)).expect("possible");
        for policy in ON_NODES {
            let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
            let mut schedule = drystone::engine::Schedule::default();
            Simulation::new(count_workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&count_workload))
                .run(&mut schedule)
                .unwrap_or_else(|e| panic!("{policy}: {e}"));
            let count = |span: &Option<(Time, Time)>| span.map(|(start, end)| JobOut { start: start.0, end: end.0 });
            let counts: Vec<JobOut> = schedule.spans.iter().filter_map(count).collect();
            prop_assert_eq!(&simulate(&node_workload, policy, &floor).0, &counts, "{}", policy);
        }
    }

    /// Every family on nodes: no node is overfull at any instant, and a second run is the same.
    #[test]
    fn no_node_is_overfull(
        rows in rows(true), fill in fills(),
    ) {
        let floor = floor();
        let mut rows = rows;
        if fill == NodeFill::Whole {
            rows.iter_mut().for_each(|row| row.3.alone = true);
        }
        let Ok(workload) = workload(&rows, &floor, Some(fill)) else { return Ok(()) };
        for policy in ON_NODES {
            let (out, cores) = simulate(&workload, policy, &floor);
            assert_no_node_is_overfull(&rows, &out, &cores, &floor);
            prop_assert_eq!((out, cores), simulate(&workload, policy, &floor), "{}", policy);
        }
    }
}

/// Jobs for one node that is the machine.
pub(super) fn one_node() -> impl Strategy<Value = Vec<Row>> {
    rows(true).prop_map(|rows| {
        let alone = |(submit, estimate, run, asks): Row| {
            let PlacedAsks { procs, pieces, .. } = asks;
            let memory = pieces.iter().map(|piece| piece[1] as u64).sum::<u64>();
            let gpus = pieces.iter().map(|piece| piece[2] as u32).sum::<u32>();
            (submit, estimate, run, shares(1, procs, memory.min(36), gpus.min(2), false))
        };
        rows.into_iter().map(alone).collect()
    })
}

/// Policies of every kind that places jobs on nodes.
pub(super) const ON_NODES: &[&str] = &[
    "fcfs",
    "greedy",
    "easy",
    "easy(order=sjf)",
    "easy(order=lxf,backfill=sjf)",
    "easy(extra=first,overdue=stale)",
    "easy(order=saf,starve=20)",
    "easy(reserve=2)",
    "easy(order=sjf,reserve=3)",
    "easy(order=lxf,backfill=saf,reserve=2)",
    "easy++",
    "easy++(reserve=4)",
    "conservative",
    "conservative(horizon=3)",
    "committed",
    "committed(order=sjf,backfill=saf)",
    "slack",
    "slack(order=dc,horizon=all)",
    "slack(order=exhaustive(4),sf=1)",
    "slack(remove=priced,tick=overrun)",
    "slack(tick=overrun)",
    "slack(remove=priced)",
    "slack(tick=extend)",
    "slack(tick=kill,horizon=3)",
    "multiqueue",
    "multiqueue(order=sjf)",
    // Few nodes of the search: sound schedules need no good ones.
    "goal(nodes=100)",
    "goal(lexical(maxW>avgX),nodes=60,local=20)",
    "goal(tradeoff(Tw:avgX),version=c,horizon=4,nodes=60)",
    "easy(plan=estimate,predict=recent(2))",
    "easy(announce=estimate,predict=recent(2),order=sjf)",
];

/// Policies that suspend jobs.
pub(super) const SUSPENDING: &[&str] = &[
    "ss",
    "ss(sf=1,every=5)",
    "ss(sf=1,every=5,width=none,rule=skip,place=avoid)",
    "ss(sf=1.5,every=7,rule=exit,place=priosf)",
    "ss(sf=1,every=5,migration=yes)",
    "tss(every=10)",
    "is(slice=10,every=5)",
    "is(slice=5,every=5,resume=free)",
];

/// By hand: two nodes of 4 cores. Jobs 0 and 1 leave 2 cores on each node. Job 2 wants 4 cores on
/// one node: 4 are free, but on two nodes. Counts start it at once; nodes at 50, when job 1 has
/// ended. Job 3, with one core on each of two nodes, ends by then and passes; job 4 is as job 3 but
/// longer: on node 1 it would be in the way of job 2, and node 0 alone does not do.
#[test]
fn fragments_are_seen() {
    let rows: Vec<Row> = [
        (0, 100, 100, shares(1, 2, 0, 0, false)),
        (0, 50, 50, shares(1, 3, 0, 0, false)),
        (1, 30, 30, shares(1, 4, 0, 0, false)),
        (2, 20, 20, shares(2, 2, 0, 0, false)),
        (30, 40, 40, shares(2, 2, 0, 0, false)),
    ]
    .into();
    let floor = vec![vec![4, 0, 0], vec![4, 0, 0]];
    let starts = |fill, policy| -> Vec<i64> {
        let workload = workload(&rows, &floor, fill).expect("possible");
        let spec: PolicySpec = policy_of(policy);
        let mut schedule = drystone::engine::Schedule::default();
        Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload))
            .run(&mut schedule)
            .expect("sound");
        schedule.spans.iter().map(|span| span.expect("every job ends").0.0).collect()
    };
    // Packed, job 1 finds 2 cores left on node 0: too few, so it is on node 1 with one core over.
    assert_eq!(starts(Some(NodeFill::Pack), "easy"), [0, 0, 50, 2, 80]);
    assert_eq!(starts(Some(NodeFill::Pack), "conservative"), [0, 0, 50, 2, 80]);
    assert_eq!(starts(Some(NodeFill::Pack), "fcfs"), [0, 0, 50, 80, 80]);
    // Counts see 3 free cores, and 6 from 50 on: job 4 finds a place beside job 2 then.
    assert_eq!(starts(None, "easy"), [0, 0, 50, 2, 30]);
}

pub(super) fn policy_of(text: &str) -> PolicySpec {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}
