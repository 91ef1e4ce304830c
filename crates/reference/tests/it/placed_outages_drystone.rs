//! Jobs on nodes that go and come back, and several reservations on nodes: the product against the
//! naive definition, start by start and node by node.

use super::placed_drystone::{
    ON_NODES, Row, SUSPENDING, as_defined, assert_no_node_is_overfull, fills, floor, is_seat, last_segments, one_node,
    policy_of, rows, shares, workload,
};
use drystone::engine::{Happenings, Segment, SegmentEnd, Segments, Simulation, WorkloadReplay};
use drystone::model::{
    Job, LogStatus, Machine, NodeFill, Outage, OutageHit, Outages, ProcSet, Provenance, Span, Time, Truth, Which,
    Workload,
};
use drystone_reference::JobOut;
use drystone_reference::outages::NaiveHit;
use drystone_reference::placed::{self, NaiveFloor, NaiveNodeOutage, PlacedRule};
use proptest::prelude::*;

/// An outage by node, beginning, length, notice, what is expected, what becomes of jobs.
type Lost = (usize, i64, i64, i64, u8, u8);

fn lost() -> impl Strategy<Value = Vec<Lost>> {
    let notice = prop_oneof![1 => Just(0i64), 1 => 1i64..100];
    prop::collection::vec((0usize..4, 0i64..300, 1i64..150, notice, 0u8..4, 0u8..3), 0..6)
}

/// The processors of a node.
fn processors(floor: &NaiveFloor, node: usize) -> ProcSet {
    let first: i64 = floor[..node].iter().map(|node| node[0]).sum();
    ProcSet::from_range(first as u32..(first + floor[node][0]) as u32)
}

fn machine(floor: &NaiveFloor) -> Machine {
    Machine::new(floor.iter().map(|node| node[0] as u32).sum())
}

/// As many outages as go together, with what the definition makes of each.
fn possible(losses: &[Lost], floor: &NaiveFloor) -> (Outages, Vec<NaiveNodeOutage>) {
    let mut list: Vec<Outage> = Vec::new();
    for &(node, begin, length, notice, expect, hit) in losses {
        let end = begin + length;
        let expected = match expect {
            0 => None,
            1 => Some(end),
            2 => Some(begin + 1 + length / 2),
            _ => Some(begin + 2 * length),
        };
        let next = Outage {
            which: Which::Named(processors(floor, node)),
            begin: Time(begin),
            end: Some(Time(end)),
            announced: (notice > 0).then_some(Time(begin - notice)),
            expected: expected.map(Time),
            hit: OutageHit::ALL[usize::from(hit)],
            may_cut: false,
        };
        if Outages::new(machine(floor), list.iter().cloned().chain([next.clone()]).collect()).is_ok() {
            list.push(next);
        }
    }
    let outages = Outages::new(machine(floor), list).expect("tried");
    let naive = outages.list().iter().enumerate().map(|(at, outage)| NaiveNodeOutage {
        node: (0..floor.len())
            .find(|&node| processors(floor, node) == *outages.processors_of(at))
            .expect("a whole node"),
        known: outage.known_time().0,
        begin: outage.begin.0,
        end: outage.end.map_or(i64::MAX, |end| end.0),
        expected: outage.expected.map(|end| end.0),
        hit: match outage.hit {
            OutageHit::Drain => NaiveHit::Drain,
            OutageHit::Requeue => NaiveHit::Requeue,
            OutageHit::Lose => NaiveHit::Lose,
        },
    });
    let naive = naive.collect();
    (outages, naive)
}

/// Policies that place jobs where nodes go out; the others are refused there.
fn among_outages() -> impl Iterator<Item = &'static str> {
    ON_NODES.iter().copied().filter(|policy| policy_of(policy).build_scheduler().policy.places_among_outages())
}

fn among(workload: &Workload, policy: &str, outages: &Outages) -> Segments {
    let mut segments = Segments::default();
    Simulation::new(workload.machine(), policy_of(policy).build_scheduler(), Happenings::new(workload, outages, false))
        .run(&mut segments)
        .unwrap_or_else(|e| panic!("{policy}: {e}\n{outages:?}"));
    segments
}

fn assert_same(policy: &str, rule: PlacedRule, rows: &[Row], losses: &[Lost], fill: NodeFill) {
    let floor = floor();
    let workload = workload(rows, &floor, Some(fill)).expect("every job fits on the nodes");
    let (outages, naive) = possible(losses, &floor);
    let (own, cores) = last_segments(&among(&workload, policy, &outages), rows.len(), &floor);
    let (jobs, fill) = as_defined(rows, fill);
    let (naive_spans, seats) = placed::run_among(rule, &jobs, &floor, fill, &naive);
    let differs = |&i: &usize| own[i] != naive_spans[i] || !is_seat(&cores[i], &seats[i], &jobs[i]);
    if let Some(i) = (0..rows.len()).filter(differs).min_by_key(|&i| own[i].start.min(naive_spans[i].start)) {
        let job_lines: String = jobs.iter().map(|job| format!("\n{job:?}")).collect();
        let shown_outages: String = naive.iter().map(|outage| format!("\n{outage:?}")).collect();
        panic!(
            "{policy}: job {i}: ours {:?} on {:?}, by definition {:?} on {:?}{job_lines}{shown_outages}",
            own[i], cores[i], naive_spans[i], seats[i]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_easy_family(
        rows in rows(true), lost in lost(), shortest in any::<(bool, bool)>(), kind in 0usize..5, fill in fills(),
    ) {
        let name = |shortest: bool| if shortest { "sjf" } else { "fcfs" };
        let (policy, shortest) = match kind {
            0 => ("fcfs".to_string(), (false, false)),
            _ => {
                let (first, behind) = (name(shortest.0), name(shortest.1));
                (format!("easy(order={first},backfill={behind},reserve={},overdue=now)", kind - 1), shortest)
            }
        };
        let rule = PlacedRule::Planned { shortest, backfills: kind > 0, reservations: kind.saturating_sub(1) };
        assert_same(&policy, rule, &rows, &lost, fill);
    }

    #[test]
    fn conservative(rows in rows(false), lost in lost(), fill in fills()) {
        assert_same("conservative(horizon=all)", PlacedRule::Conservative, &rows, &lost, fill);
    }
}

/// Checks that no job holds more of a node than it has or begins on a node that is out, and what
/// becomes of jobs whose node goes.
fn assert_sound(policy: &str, rows: &[Row], segments: &Segments, outages: &Outages, floor: &NaiveFloor) {
    let mut attempts: Vec<Row> = Vec::new();
    let mut spans = Segments::default();
    for (at, segment) in segments.list.iter().enumerate() {
        attempts.push(rows[segment.job.index()].clone());
        spans.list.push(Segment { job: drystone::model::JobId(at as u32), ..segment.clone() });
    }
    let (out, cores) = last_segments(&spans, attempts.len(), floor);
    assert_no_node_is_overfull(&attempts, &out, &cores, floor);
    for segment in &segments.list {
        let on = segment.on.as_ref().expect("its processors have names");
        for (at, outage) in
            outages.list().iter().enumerate().filter(|(at, _)| !on.is_disjoint(outages.processors_of(*at)))
        {
            let end = outage.end.expect("each ends");
            let begins_there = outage.begin <= segment.start && segment.start < end;
            assert!(!begins_there, "{policy}: {segment:?} begins while {:?} is out", outages.processors_of(at));
            let meets = segment.start < outage.begin && outage.begin < segment.end;
            assert!(!meets || outage.hit == OutageHit::Drain, "{policy}: {segment:?} outlives {outage:?}");
            if segment.end == outage.begin && segment.then != SegmentEnd::Ended {
                let peers = outages.list().iter().filter(|entry| entry.begin == outage.begin);
                let hits: Vec<OutageHit> = peers.map(|entry| entry.hit).collect();
                let hit = if segment.then == SegmentEnd::Lost { OutageHit::Lose } else { OutageHit::Requeue };
                assert!(hits.contains(&hit), "{policy}: {segment:?}");
            }
        }
        if matches!(segment.then, SegmentEnd::Lost | SegmentEnd::Requeued) {
            let is_hit = |(at, outage): (usize, &Outage)| {
                outage.begin == segment.end
                    && outage.hit != OutageHit::Drain
                    && !on.is_disjoint(outages.processors_of(at))
            };
            assert!(outages.list().iter().enumerate().any(is_hit), "{policy}: {segment:?} is hit by nothing");
        }
    }
    let ends = |job: usize| {
        let own = segments.list.iter().filter(|segment| segment.job.index() == job);
        own.filter(|segment| matches!(segment.then, SegmentEnd::Ended | SegmentEnd::Lost)).count()
    };
    (0..rows.len()).for_each(|job| assert_eq!(ends(job), 1, "{policy}: job {job} ends once"));
}

fn for_nodes(rows: &mut [Row], fill: NodeFill) {
    if fill == NodeFill::Whole {
        rows.iter_mut().for_each(|row| row.3.alone = true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Every family, with jobs that outlive their predictions and nodes that come back earlier or
    /// later than expected; and a second run, saved and restored every few instants.
    #[test]
    fn every_family_is_sound_among_outages(
        rows in rows(true), lost in lost(), fill in fills(), every in 1usize..40,
    ) {
        let (floor, mut rows) = (floor(), rows);
        for_nodes(&mut rows, fill);
        let Ok(workload) = workload(&rows, &floor, Some(fill)) else { return Ok(()) };
        let (outages, _) = possible(&lost, &floor);
        for policy in among_outages() {
            let segments = among(&workload, policy, &outages);
            assert_sound(policy, &rows, &segments, &outages, &floor);
            prop_assert_eq!(&resumed(&workload, policy, &outages, every), &segments, "{}", policy);
        }
    }

    /// Policies that suspend jobs, among nodes that go and come back: every job runs, and a second
    /// run, saved and restored every few instants, is the same.
    #[test]
    fn suspended_jobs_go_on_among_outages(
        rows in rows(true), lost in lost(), fill in fills(), every in 1usize..40,
    ) {
        let (floor, mut rows) = (floor(), rows);
        for_nodes(&mut rows, fill);
        let Ok(workload) = workload(&rows, &floor, Some(fill)) else { return Ok(()) };
        let (outages, _) = possible(&lost, &floor);
        let never = outages.list().iter().any(|outage| outage.end.is_none());
        for policy in SUSPENDING {
            let segments = among(&workload, policy, &outages);
            let ran = |job: usize| segments.list.iter().any(|segment| segment.job.index() == job);
            prop_assert!(never || (0..rows.len()).all(ran), "{}", policy);
            prop_assert_eq!(&resumed(&workload, policy, &outages, every), &segments, "{}", policy);
        }
    }

    /// Nodes that go when all jobs have ended change nothing, announced or not.
    #[test]
    fn outages_behind_the_last_job_change_nothing(
        rows in rows(true), lost in lost(), fill in fills(), known in any::<bool>(),
    ) {
        let (floor, mut rows) = (floor(), rows);
        for_nodes(&mut rows, fill);
        let Ok(workload) = workload(&rows, &floor, Some(fill)) else { return Ok(()) };
        // Whatever a policy does, some job runs at every instant until then.
        let last = rows.iter().map(|row| row.0 + row.1.max(row.2)).sum::<i64>();
        let behind = |&(node, begin, length, notice, expect, hit): &Lost| {
            let begin = 10 * last + 10_000 + begin;
            (node, begin, length, if known { begin } else { notice }, expect, hit)
        };
        let (outages, _) = possible(&lost.iter().map(behind).collect::<Vec<_>>(), &floor);
        for policy in among_outages() {
            let mut plain = Segments::default();
            Simulation::new(workload.machine(), policy_of(policy).build_scheduler(), WorkloadReplay::new(&workload))
                .run(&mut plain)
                .unwrap_or_else(|e| panic!("{policy}: {e}"));
            prop_assert_eq!(&among(&workload, policy, &outages), &plain, "{}", policy);
        }
    }

    /// One node as large as the machine, parts of which are out when the first job comes: the
    /// schedules of counts.
    #[test]
    fn one_node_with_parts_that_come_back_is_as_counts(
        rows in one_node(), lost in prop::collection::vec((0u32..18, 1u32..8, 1i64..250, 0u8..4), 0..4),
        fill in prop_oneof![Just(NodeFill::Pack), Just(NodeFill::Spread)],
    ) {
        let floor = vec![vec![18, 36, 2]];
        let early: Vec<Row> = rows.into_iter().map(|(submit, run, estimate, asks)| (submit + 5, run, estimate, asks)).collect();
        let mut list: Vec<Outage> = Vec::new();
        for (first, count, end, expect) in lost {
            let expected = [None, Some(end), Some(1 + end / 2), Some(2 * end)][usize::from(expect)];
            let next = Outage {
                which: Which::Named(ProcSet::from_range(first..(first + count).min(18))),
                begin: Time(0),
                end: Some(Time(end + 5)),
                announced: None,
                expected: expected.map(|end| Time(end + 5)),
                hit: OutageHit::Drain,
                may_cut: false,
            };
            if Outages::new(machine(&floor), list.iter().cloned().chain([next.clone()]).collect()).is_ok() {
                list.push(next);
            }
        }
        let outages = Outages::new(machine(&floor), list).expect("tried");
        let count_workload = workload(&early, &floor, None).expect("possible");
        let node_workload = workload(&early, &floor, Some(fill)).expect("possible");
        for policy in among_outages() {
            let starts = |workload: &Workload| -> Vec<JobOut> {
                last_segments_of_counts(&among(workload, policy, &outages), early.len())
            };
            prop_assert_eq!(starts(&node_workload), starts(&count_workload), "{}", policy);
        }
    }

    /// Nodes of one processor: without reservations, the schedules of processors alone, whichever
    /// nodes are out when the first job comes.
    #[test]
    fn nodes_of_one_processor_are_processors(
        rows in rows(true), out in prop::collection::btree_map(0u32..18, 6i64..250, 0..10), late in any::<bool>(),
    ) {
        let (mut jobs, mut truth) = (Vec::new(), Vec::new());
        for (number, (submit, estimate, run, asks)) in (1..).zip(&rows) {
            jobs.push(Job::new(Time(submit + 5), asks.procs.min(18), Span(*estimate)));
            truth.push(Truth { run: Span(*run), number, status: LogStatus::Completed });
        }
        let machine = Machine::new(18);
        let count_workload = Workload::new(machine, jobs.clone(), truth.clone(), Provenance::default()).expect("sound");
        let mut table = drystone::model::ResourceTableBuilder::new();
        let nodes = (0..18).map(|at| format!("n{at}")).collect();
        table.add_class(drystone::model::NodeClass { nodes, cores: 1, ..Default::default() });
        table.set_fill(NodeFill::Pack);
        let node_result = Workload::with_resources(machine, Some(table.finish()), jobs, truth, Provenance::default());
        let outage = |(node, end): (u32, i64)| Outage {
            which: Which::Named(ProcSet::from_range(node..node + 1)),
            begin: Time(0),
            end: Some(Time(end)),
            announced: None,
            expected: Some(Time(if late { end / 2 + 6 } else { end })),
            hit: OutageHit::Drain,
            may_cut: false,
        };
        let outages = Outages::new(machine, out.into_iter().map(outage).collect()).expect("sound");
        let node_workload = node_result.expect("sound");
        for policy in ["fcfs", "greedy", "greedy(order=sjf)"] {
            let starts = |workload: &Workload| last_segments_of_counts(&among(workload, policy, &outages), rows.len());
            prop_assert_eq!(starts(&node_workload), starts(&count_workload), "{}", policy);
        }
    }
}

/// Start and end of each job's last attempt.
fn last_segments_of_counts(segments: &Segments, jobs: usize) -> Vec<JobOut> {
    let mut out = vec![JobOut { start: -1, end: -1 }; jobs];
    for segment in segments.list.iter().filter(|segment| segment.then == SegmentEnd::Ended) {
        out[segment.job.index()] = JobOut { start: segment.start.0, end: segment.end.0 };
    }
    out
}

/// A run that is saved and continued by another simulation every few instants.
fn resumed(workload: &Workload, policy: &str, outages: &Outages, every: usize) -> Segments {
    let new = || {
        let source = Happenings::new(workload, outages, false);
        Simulation::new(workload.machine(), policy_of(policy).build_scheduler(), source)
    };
    let (mut simulation, mut segments) = (new(), Segments::default());
    let mut at = 0;
    while simulation.step(&mut segments).unwrap_or_else(|e| panic!("{policy}: {e}")) {
        at += 1;
        if at % every == 0 {
            let bytes = simulation.save().expect("saves");
            simulation = new();
            simulation.load(&bytes).expect("loads");
        }
    }
    segments
}

/// By hand: two nodes of 4 cores; node 0 goes from 100 until 200, as announced. Each of the first
/// four jobs fills a node. Job 0 would run until 151, so it is on node 1, and job 1 on node 0 until
/// 52. Job 2 runs for 120 s: it must wait for node 1. Job 3 is on node 0 from 52 until 92. Job 4
/// has 2 cores for 60 s: at 92 it would still run when node 0 goes, and node 1 is full until 271,
/// so it waits for node 0 to come back.
#[test]
fn no_job_begins_on_a_node_that_goes_before_it_ends() {
    let row = |submit, run, cores| (submit, run, run, shares(1, cores, 0, 0, false));
    let rows: Vec<Row> = vec![row(1, 150, 4), row(2, 50, 4), row(3, 120, 4), row(4, 40, 4), row(5, 60, 2)];
    let floor = two_nodes();
    let workload = workload(&rows, &floor, Some(NodeFill::Pack)).expect("possible");
    let outages = Outages::new(machine(&floor), vec![node_out(0, (100, Some(200)), Some(0), OutageHit::Requeue)]);
    for policy in ["easy", "easy(reserve=2)", "easy++", "conservative"] {
        let segments = among(&workload, policy, outages.as_ref().expect("sound"));
        assert_eq!(starts(&segments, rows.len()), [1, 2, 151, 52, 200], "{policy}");
    }
}

/// By hand: 8 nodes of a core, of which the last 2 go from 100 until 150, as announced. The jobs
/// are those of the test on processors. Job 4 starts at 61, on the last 2 nodes: by then both jobs
/// that run should have ended, and job 2 is planned on their nodes.
#[test]
fn a_job_starts_on_a_node_as_others_become_overdue() {
    let row = |(submit, estimate, run, nodes)| (submit, estimate, run, shares(nodes, nodes, 0, 0, false));
    let jobs = [(0, 10, 200, 5), (0, 60, 200, 1), (1, 10, 10, 6), (2, 120, 120, 8), (3, 20, 20, 2), (61, 10, 10, 3)];
    let rows: Vec<Row> = jobs.map(row).to_vec();
    let floor = vec![vec![1, 1, 0]; 8];
    let workload = workload(&rows, &floor, Some(NodeFill::Pack)).expect("possible");
    let out = Outage {
        which: Which::Named(ProcSet::from_range(6..8)),
        ..node_out(0, (100, Some(150)), Some(0), OutageHit::Drain)
    };
    let outages = Outages::new(machine(&floor), vec![out]).expect("sound");
    let segments = among(&workload, "easy(overdue=now)", &outages);
    assert_eq!(starts(&segments, rows.len()), [0, 0, 200, 210, 61, 330]);
}

/// By hand: node 0 fails at 50 under job 0, is expected back at 80, and comes back then. Job 0
/// waits again and heads the queue. Job 1 is on node 1 until 100, so job 0 has its reservation of
/// node 0, at 80, until 180. Jobs 2 and 3 have 2 cores each of node 1, from 100 until 130.
#[test]
fn a_node_that_is_expected_back_has_reservations() {
    let row = |submit, run, cores| (submit, run, run, shares(1, cores, 0, 0, false));
    let rows: Vec<Row> = vec![row(0, 100, 4), row(0, 100, 4), row(9, 30, 2), row(10, 30, 2)];
    let floor = two_nodes();
    let workload = workload(&rows, &floor, Some(NodeFill::Pack)).expect("possible");
    let outages = Outages::new(machine(&floor), vec![node_out(0, (50, Some(80)), None, OutageHit::Requeue)]);
    for policy in ["fcfs", "easy", "easy(reserve=2)"] {
        let segments = among(&workload, policy, outages.as_ref().expect("sound"));
        assert_eq!(starts(&segments, rows.len()), [80, 0, 100, 100], "{policy}");
    }
    // Under conservative backfilling, jobs 2 and 3 were promised 100 before node 0 failed. They are
    // planned again first, both on node 0 from 80 until 110; job 0 has node 1 at 100.
    let segments = among(&workload, "conservative", outages.as_ref().expect("sound"));
    assert_eq!(starts(&segments, rows.len()), [100, 0, 80, 80]);
    // Drained, job 0 keeps its node until 100; the node is back by then.
    let drain = Outages::new(machine(&floor), vec![node_out(0, (50, Some(80)), None, OutageHit::Drain)]);
    for policy in ["fcfs", "easy", "conservative"] {
        let segments = among(&workload, policy, drain.as_ref().expect("sound"));
        assert_eq!(starts(&segments, rows.len()), [0, 0, 100, 100], "{policy}");
    }
}

/// By hand: node 0 is out from 10 until 500, and its return is not known. Job 0 was on it and
/// starts again on node 1, until 50. Job 1 wants both nodes: it has no place, and is in no job's
/// way. Job 2 has node 1 from 50 until 1,050.
#[test]
fn a_job_that_fits_on_no_node_that_comes_back_is_in_no_jobs_way() {
    let row = |submit, run, nodes| (submit, run, run, shares(nodes, 4 * nodes, 0, 0, false));
    let rows: Vec<Row> = vec![row(0, 40, 1), row(20, 50, 2), row(30, 1_000, 1)];
    let floor = two_nodes();
    let workload = workload(&rows, &floor, Some(NodeFill::Pack)).expect("possible");
    let unknown = Outage { expected: None, ..node_out(0, (10, Some(500)), None, OutageHit::Requeue) };
    let outages = Outages::new(machine(&floor), vec![unknown]).expect("sound");
    for policy in ["fcfs", "easy", "easy(reserve=2)", "conservative"] {
        assert_eq!(starts(&among(&workload, policy, &outages), rows.len()), [10, 1_050, 50], "{policy}");
    }
}

fn two_nodes() -> NaiveFloor {
    vec![vec![4, 0, 0], vec![4, 0, 0]]
}

fn node_out(node: u32, (begin, end): (i64, Option<i64>), notice: Option<i64>, hit: OutageHit) -> Outage {
    Outage {
        which: Which::Named(ProcSet::from_range(4 * node..4 * node + 4)),
        begin: Time(begin),
        end: end.map(Time),
        announced: notice.map(Time),
        expected: end.map(Time),
        hit,
        may_cut: false,
    }
}

fn starts(segments: &Segments, jobs: usize) -> Vec<i64> {
    last_segments_of_counts(segments, jobs).iter().map(|out| out.start).collect()
}

/// Nodes of 4, 4 and 8 processors; the fourth has gone. Job 0 has one processor of node 1 and two
/// of node 2; node 0 goes at 100 and is expected back at 138. Job 1 has run from 99 to 100, for
/// less than its limit. Job 2 comes at 125 and asks for three, two and two processors of three
/// nodes: it is planned for 138, with three on node 2, which has most to give then. Job 3 takes the
/// other three there at once, for 44 s. So at 137 job 4, which needs two processors for 32 s, has
/// one on node 1 and none on node 2 beside the plan, which nothing has changed since, and has to
/// wait. At 138 node 0 is not back, and job 2 has no place any more: job 4 starts.
#[test]
fn a_plan_stays_where_nothing_changed() {
    use super::placed_drystone::anywhere;
    let rows: Vec<Row> = vec![
        (86, 83, 74, anywhere(3, 0)),
        (99, 10, 1, anywhere(1, 0)),
        (125, 1, 1, shares(3, 7, 0, 0, false)),
        (125, 44, 35, shares(1, 3, 0, 1, false)),
        (137, 32, 1, anywhere(2, 0)),
    ];
    let losses: Vec<Lost> = vec![(3, 0, 138, 0, 0, 0), (0, 100, 74, 14, 2, 0)];
    let (floor, policy) = (floor(), "conservative(horizon=all)");
    let workload = workload(&rows, &floor, Some(NodeFill::Spread)).expect("every job fits on the nodes");
    let run = among(&workload, policy, &possible(&losses, &floor).0);
    let (own, _) = last_segments(&run, rows.len(), &floor);
    assert_eq!(own.iter().map(|job| job.start).collect::<Vec<_>>(), [86, 99, 174, 125, 138]);
    assert_same(policy, PlacedRule::Conservative, &rows, &losses, NodeFill::Spread);
}
