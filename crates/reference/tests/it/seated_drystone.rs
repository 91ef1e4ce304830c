//! Policies beyond EASY and conservative backfilling on nodes: the product against the naive
//! definitions, start by start and node by node, and small sites by hand.

use super::placed_drystone::{
    ON_NODES, Row, SUSPENDING, as_defined, assert_no_node_is_overfull, fills, floor, is_seat, last_segments, one_node,
    policy_of, rows, shares, workload,
};
use drystone::engine::{Segments, Simulation, WorkloadReplay};
use drystone::model::{
    Demand, Job, LogStatus, Machine, NodeClass, NodeFill, Provenance, Resource, ResourceId, ResourceTableBuilder,
    ResourceUnit, Span, Time, Truth, Workload,
};
use drystone_reference::JobOut;
use drystone_reference::placed::{NaiveFloor, NaivePlacedJob, PlacedFill, PlacedSchedule};
use drystone_reference::search::{
    NaiveBranching, NaiveGoal, NaiveMeasure, NaiveReuse, NaiveSearchModel, NaiveTraversal,
};
use drystone_reference::seated::{committed, goal, multiqueue, selective, slack};
use drystone_reference::talby::Heuristic;
use proptest::prelude::*;

/// Segments of a run under a policy.
fn segments_of(policy: &str, rows: &[Row], floor: &NaiveFloor, fill: Option<NodeFill>) -> Segments {
    let workload = workload(rows, floor, fill).expect("every job fits on the nodes");
    let mut segments = Segments::default();
    Simulation::new(workload.machine(), policy_of(policy).build_scheduler(), WorkloadReplay::new(&workload))
        .run(&mut segments)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    segments
}

/// First start and last end of each job.
fn spans(segments: &Segments, jobs: usize) -> Vec<JobOut> {
    let mut out = vec![JobOut { start: i64::MAX, end: -1 }; jobs];
    for segment in &segments.list {
        let own = &mut out[segment.job.index()];
        *own = JobOut { start: own.start.min(segment.start.0), end: own.end.max(segment.end.0) };
    }
    out
}

type Definition<'a> = &'a dyn Fn(&[NaivePlacedJob], &NaiveFloor, PlacedFill) -> PlacedSchedule;

fn assert_same(policy: &str, definition: Definition<'_>, rows: &[Row], fill: NodeFill) {
    let floor = floor();
    let segments = segments_of(policy, rows, &floor, Some(fill));
    let (own, (last, cores)) = (spans(&segments, rows.len()), last_segments(&segments, rows.len(), &floor));
    let (jobs, by) = as_defined(rows, fill);
    if segments.list.len() == rows.len() {
        let mut node_rows = rows.to_vec();
        node_rows.iter_mut().for_each(|row| row.3.alone |= fill == NodeFill::Whole);
        assert_no_node_is_overfull(&node_rows, &last, &cores, &floor);
    }
    let (naive, seats) = definition(&jobs, &floor, by);
    let differs = |&i: &usize| own[i] != naive[i] || !is_seat(&cores[i], &seats[i], &jobs[i]);
    if let Some(i) = (0..rows.len()).filter(differs).min_by_key(|&i| own[i].start.min(naive[i].start)) {
        panic!(
            "{policy}, {fill:?}: job {i}: ours {:?} on {:?}, by definition {:?} on {:?}\n{jobs:?}",
            own[i], cores[i], naive[i], seats[i]
        );
    }
}

/// Few jobs: the definitions try everything.
fn few(most: usize) -> impl Strategy<Value = Vec<Row>> {
    rows(false).prop_map(move |mut rows| {
        rows.truncate(most);
        rows
    })
}

fn heuristics() -> impl Strategy<Value = (&'static str, Heuristic)> {
    prop_oneof![
        4 => Just(("ast", Heuristic::StartTime)),
        1 => Just(("aat", Heuristic::Arrival)),
        1 => Just(("du", Heuristic::Area)),
        1 => Just(("dc", Heuristic::Cost)),
        1 => Just(("dp", Heuristic::Priority)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A head that stays.
    #[test]
    fn committed_on_nodes(rows in rows(false), shortest in any::<(bool, bool)>(), fill in fills()) {
        let name = |shortest: bool| if shortest { "sjf" } else { "fcfs" };
        let policy = format!("committed(order={},backfill={})", name(shortest.0), name(shortest.1));
        assert_same(&policy, &|jobs, floor, fill| committed::run(shortest, jobs, floor, fill), &rows, fill);
    }

    /// Slack-based backfilling.
    #[test]
    fn slack_on_nodes(
        rows in few(16), (order, heuristic) in heuristics(), factor in 0u32..4, wait in prop_oneof![Just(20.0), Just(200.0)],
        fill in fills(),
    ) {
        let settings = slack::SeatedSlack { slack_factor: f64::from(factor), average_wait: wait, heuristic };
        let policy = format!("slack(sf={factor},awt={wait},order={order},horizon=all)");
        assert_same(&policy, &|jobs, floor, fill| slack::run(&settings, jobs, floor, fill), &rows, fill);
    }

    /// Multiple queues.
    #[test]
    fn multiqueue_on_nodes(rows in rows(false), fill in fills()) {
        let policy = "multiqueue(bounds=8/30)";
        assert_same(policy, &|jobs, floor, fill| multiqueue::run(&[8, 30], jobs, floor, fill), &rows, fill);
    }

    /// Goal-oriented scheduling.
    #[test]
    fn goal_on_nodes(rows in few(20), fill in fills()) {
        let settings = NaiveGoal {
            model: NaiveSearchModel::Lexical,
            measures: vec![NaiveMeasure::MaxWait, NaiveMeasure::Slowdown],
            relaxed: true,
            traversal: NaiveTraversal::Dds,
            branching: NaiveBranching::Fcfs,
            reuse: NaiveReuse::No,
            by_estimate: false,
        };
        let policy = "goal(lexical(maxW>avgX),depth=4,nodes=all)";
        assert_same(policy, &|jobs, floor, fill| goal::run(&settings, 4, jobs, floor, fill), &rows, fill);
    }

    /// Selective suspension.
    #[test]
    fn selective_suspension_on_nodes(rows in rows(false), factor in 1i64..4, fill in fills()) {
        let policy = format!("ss(sf={factor})");
        assert_same(&policy, &|jobs, floor, fill| selective::run(factor, jobs, floor, fill), &rows, fill);
    }
}

/// Checks every node's every resource at every instant of a run in which jobs are suspended: a
/// segment has all that its job asks for, the time between two of its segments its memory.
fn assert_sound_suspensions(rows: &[Row], segments: &Segments, floor: &NaiveFloor) {
    let mut edges: Vec<(i64, bool, usize, Vec<i64>)> = Vec::new();
    let mut add = |from: i64, to: i64, node: usize, amounts: Vec<i64>| {
        edges.push((to, false, node, amounts.clone()));
        edges.push((from, true, node, amounts));
    };
    for (job, (_, _, run, asks)) in rows.iter().enumerate() {
        let mut own: Vec<_> = segments.list.iter().filter(|segment| segment.job.index() == job).collect();
        own.sort_by_key(|segment| segment.start);
        assert_eq!(own.iter().map(|segment| (segment.end - segment.start).0).sum::<i64>(), *run, "run of job {job}");
        for (at, segment) in own.iter().enumerate() {
            let set = segment.on.as_ref().expect("its processors have names");
            assert_eq!(set.len(), asks.procs, "job {job}");
            let mut first = 0;
            for (node, row) in floor.iter().enumerate() {
                let cores = (first..first + row[0]).filter(|&p| set.contains(p as u32)).count() as i64;
                first += row[0];
                if cores == 0 {
                    continue;
                }
                let largest = &asks.pieces[0];
                let pieces = if asks.apart { 1 } else { cores / largest[0] };
                let amounts = match asks.alone {
                    true => row.clone(),
                    false => vec![cores, pieces * largest[1], pieces * largest[2]],
                };
                add(segment.start.0, segment.end.0, node, amounts.clone());
                if let Some(next) = own.get(at + 1) {
                    add(segment.end.0, next.start.0, node, vec![0, amounts[1], 0]);
                }
            }
        }
    }
    edges.sort_by_key(|edge| (edge.0, edge.1));
    let mut free = floor.clone();
    for (time, takes, node, amounts) in edges {
        let sign = if takes { -1 } else { 1 };
        free[node].iter_mut().zip(amounts).for_each(|(free, amount)| *free += sign * amount);
        assert!(free[node].iter().all(|&free| free >= 0), "node {node} is overfull at {time}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every way to suspend jobs: no node is overfull, memory stays, every job runs to its end.
    #[test]
    fn no_node_is_overfull_where_jobs_are_suspended(rows in rows(false), fill in fills()) {
        let floor = floor();
        let mut rows = rows;
        if fill == NodeFill::Whole {
            rows.iter_mut().for_each(|row| row.3.alone = true);
        }
        for policy in SUSPENDING {
            assert_sound_suspensions(&rows, &segments_of(policy, &rows, &floor, Some(fill)), &floor);
        }
    }

    /// One node as large as the machine: the schedules of counts, where jobs ask for cores and
    /// memory.
    #[test]
    fn suspension_on_one_node_is_as_counts(rows in one_node(), fill in prop_oneof![Just(NodeFill::Pack), Just(NodeFill::Spread)]) {
        let floor = vec![vec![18, 36, 2]];
        let plain = |row: Row| (row.0, row.1, row.2.min(row.1), shares(1, row.3.procs, row.3.pieces[0][1] as u64, 0, false));
        let rows: Vec<Row> = rows.into_iter().map(plain).collect();
        for policy in SUSPENDING {
            let counts = segments_of(policy, &rows, &floor, None);
            let node_segments = segments_of(policy, &rows, &floor, Some(fill));
            prop_assert_eq!(&spans(&node_segments, rows.len()), &spans(&counts, rows.len()), "{}", policy);
        }
    }
}

/// A site of partitions that overlap, with three licences: each job may be on some of the nodes
/// only, and some jobs need licences. Rows come with the partition and the licences of each.
fn partitioned(rows: &[(Row, u8, u64)], floor: &NaiveFloor, fill: NodeFill) -> Option<Workload> {
    let mut table = ResourceTableBuilder::new();
    table.add_resource(Resource::new("license:x", ResourceUnit::Count, 3)).expect("new");
    for (at, node) in floor.iter().enumerate() {
        table.add_class(NodeClass {
            nodes: vec![format!("n{at}")],
            cores: node[0] as u32,
            memory_kb: (node[1] as u64) << 20,
            devices: if node[2] > 0 { vec![("gpu".into(), String::new(), node[2] as u32)] } else { Vec::new() },
            ..NodeClass::default()
        });
    }
    table.set_fill(fill);
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for ((submit, estimate, run, asks), partition, licences) in rows {
        let mut job = Job::new(Time(*submit), asks.procs, Span(*estimate));
        let mut shape = asks.shape.clone();
        shape.only = match partition {
            0 => Vec::new(),
            1 => vec!["n0".into(), "n1".into(), "n2".into()],
            _ => vec!["n2".into(), "n3".into()],
        };
        let totals = Demand::from_totals([(ResourceId(0), *licences)]);
        job.demand = table.intern_demand(Demand { shape: Some(shape), ..totals }).expect("known resources");
        jobs.push(job);
        truth.push(Truth { run: Span(*run), number: jobs.len() as i64, status: LogStatus::Completed });
    }
    let machine = Machine::new(floor.iter().map(|node| node[0] as u32).sum());
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, Provenance::default()).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every policy on a site of overlapping partitions and licences: every job runs to its end, on
    /// nodes of its partition, and no more licences are out than there are.
    #[test]
    fn every_policy_keeps_to_partitions_and_licences(
        rows in few(24), kinds in prop::collection::vec((0u8..3, 0u64..3), 24), fill in fills(),
    ) {
        let floor = floor();
        let rows: Vec<(Row, u8, u64)> =
            rows.into_iter().zip(kinds).map(|(row, (partition, licences))| (row, partition, licences)).collect();
        // A job that fits on no node of its partition is none of the site.
        let rows: Vec<(Row, u8, u64)> =
            rows.into_iter().filter(|row| partitioned(std::slice::from_ref(row), &floor, fill).is_some()).collect();
        let Some(workload) = partitioned(&rows, &floor, fill) else { return Ok(()) };
        for policy in ON_NODES.iter().chain(SUSPENDING) {
            let mut segments = Segments::default();
            Simulation::new(workload.machine(), policy_of(policy).build_scheduler(), WorkloadReplay::new(&workload))
                .run(&mut segments)
                .unwrap_or_else(|e| panic!("{policy}: {e}"));
            let mut had = vec![0; rows.len()];
            let mut licences: Vec<(i64, i64)> = Vec::new();
            for segment in &segments.list {
                let (row, partition, count) = &rows[segment.job.index()];
                had[segment.job.index()] += (segment.end - segment.start).0;
                licences.extend([(segment.end.0, -(*count as i64)), (segment.start.0, *count as i64)]);
                let nodes = match partition { 0 => 0..18, 1 => 0..16, _ => 8..18 };
                let set = segment.on.as_ref().expect("its processors have names");
                prop_assert!(set.ranges().iter().all(|r| nodes.start <= r.start && r.end <= nodes.end), "{}", policy);
                prop_assert_eq!(set.len(), row.3.procs);
            }
            licences.sort_unstable();
            let mut out = 0;
            for (_, change) in licences {
                out += change;
                prop_assert!(out <= 3, "{}: {} licences are out", policy, out);
            }
            let runs: Vec<i64> = rows.iter().map(|row| row.0.2).collect();
            prop_assert_eq!(had, runs, "{}", policy);
        }
    }
}

/// Starts and ends under a policy on these nodes.
fn by_hand(policy: &str, rows: &[Row], floor: &NaiveFloor) -> Vec<(i64, i64)> {
    let segments = segments_of(policy, rows, floor, Some(NodeFill::Pack));
    spans(&segments, rows.len()).into_iter().map(|out| (out.start, out.end)).collect()
}

const ALL: [&str; 9] =
    ["easy", "easy++", "conservative", "committed", "slack", "multiqueue", "goal", "ss", "goal(lexical(maxW>avgX))"];

/// By hand: two nodes of 4 cores and 8 GB. Job 0 has one core and all memory of the first until
/// 100, job 1 the whole second until 50. Job 2 wants 2 cores with 1 GB: in all 3 cores and 7 GB are
/// free, but the cores are where no memory is; it starts when job 1 ends. Job 3 wants 2 cores
/// without memory and starts at once.
#[test]
fn a_hole_without_memory_is_no_room() {
    let rows: Vec<Row> = [
        (0, 100, 100, shares(1, 1, 8, 0, false)),
        (0, 50, 50, shares(1, 4, 1, 0, false)),
        (1, 30, 30, shares(1, 2, 1, 0, false)),
        (2, 20, 20, shares(1, 2, 0, 0, false)),
    ]
    .into();
    let floor = vec![vec![4, 8, 0], vec![4, 8, 0]];
    for policy in ALL.into_iter().chain(["tss", "is"]) {
        assert_eq!(by_hand(policy, &rows, &floor), [(0, 100), (0, 50), (50, 80), (2, 22)], "{policy}");
    }
    // Counts see 3 cores and 7 GB.
    let count_spans = spans(&segments_of("easy", &rows, &floor, None), rows.len());
    assert_eq!(count_spans[2].start, 1);
}

/// By hand: the second of two nodes of 4 cores has 2 GPUs, and job 1 has its cores until 201. Job 2
/// wants 2 cores with a GPU: it starts when job 1 has ended, though job 0 leaves 4 cores at 200.
/// Under selective suspension it has waited for more than its length at the first full minute: of
/// the two, equally wide jobs job 1 gives way, not job 0, which runs where no GPU is. Job 1 resumes
/// at 70 with 141 s left.
#[test]
fn a_gpu_on_the_wrong_node_is_no_room() {
    let rows: Vec<Row> = [
        (0, 200, 200, shares(1, 4, 0, 0, false)),
        (1, 200, 200, shares(1, 4, 0, 0, false)),
        (2, 10, 10, shares(1, 2, 0, 1, false)),
    ]
    .into();
    let floor = vec![vec![4, 0, 0], vec![4, 0, 2]];
    for policy in ALL.into_iter().filter(|&policy| policy != "ss") {
        assert_eq!(by_hand(policy, &rows, &floor), [(0, 200), (1, 201), (201, 211)], "{policy}");
    }
    for policy in ["ss", "tss"] {
        assert_eq!(by_hand(policy, &rows, &floor), [(0, 200), (1, 211), (60, 70)], "{policy}");
    }
    // Immediate service takes it from job 1 as well, once that has had its slice.
    let long: Vec<Row> =
        rows.into_iter().map(|(submit, estimate, _, asks)| (submit, estimate * 10, estimate * 10, asks)).collect();
    let (starts, floor) = (by_hand("is", &long, &floor), floor);
    assert_eq!(starts[2].0, 660, "at the first full minute behind 601");
    assert_eq!((starts[0], floor.len()), ((0, 2_000), 2));
}

/// By hand: a partition is the first of two nodes of 4 cores, which job 0 has until 100. Job 1
/// wants one core of the partition and waits for it, though the second node is idle; job 2 has
/// that.
#[test]
fn a_core_outside_the_partition_is_no_room() {
    let mut rows: Vec<Row> = [
        (0, 100, 100, shares(1, 4, 0, 0, false)),
        (1, 10, 10, shares(1, 1, 0, 0, false)),
        (2, 50, 50, shares(1, 4, 0, 0, false)),
    ]
    .into();
    rows[1].3.shape.only = vec!["n0".into()];
    let floor = vec![vec![4, 0, 0], vec![4, 0, 0]];
    for policy in ALL.into_iter().chain(["tss", "is"]) {
        assert_eq!(by_hand(policy, &rows, &floor), [(0, 100), (100, 110), (2, 52)], "{policy}");
    }
    assert_eq!(spans(&segments_of("easy", &rows, &floor, None), 3)[1].start, 1, "counts do not know partitions");
}

/// By hand: a suspended job keeps its memory. The only node has 4 cores and 8 GB; job 0 has all
/// cores and 6 GB. Job 1 wants 2 cores and 2 GB and suspends it at 60; job 2 wants 1 core and 3 GB,
/// which job 0 keeps: it waits until job 0 has ended.
#[test]
fn memory_of_a_suspended_job_stays_on_its_node() {
    let rows: Vec<Row> = [
        (0, 200, 200, shares(1, 4, 6, 0, false)),
        (1, 10, 10, shares(1, 2, 2, 0, false)),
        (2, 10, 10, shares(1, 2, 3, 0, false)),
    ]
    .into();
    let floor = vec![vec![4, 8, 0], vec![1, 0, 0]];
    assert_eq!(by_hand("ss", &rows, &floor), [(0, 210), (60, 70), (210, 220)]);
}
