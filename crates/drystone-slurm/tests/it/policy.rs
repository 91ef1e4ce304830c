//! `slurm(...)` among the policies.

use crate::shared::shared;
use drystone_core::engine::{Observer, Schedule, Simulation, WorkloadReplay};
use drystone_core::model::{
    Demand, Job, JobId, LogStatus, Machine, NodeShape, Provenance, Resource, ResourceTableBuilder, ResourceUnit, Span,
    SupplyStep, Time, Truth, Workload,
};
use drystone_core::policy::{PolicySpec, StartReason};
use drystone_slurm::policy::{SLURM, register_policy};

fn spec(text: &str) -> Result<PolicySpec, String> {
    // Another test may have been first.
    let _ = register_policy();
    text.parse::<PolicySpec>().map_err(|error| error.to_string())
}

/// Start of each job.
struct Starts(Vec<(u32, i64)>);

impl Observer for Starts {
    fn note_start(&mut self, now: Time, id: JobId, _why: StartReason) {
        self.0.push((id.0, now.0));
    }
}

/// Jobs as submit time, processors, limit and run time, in seconds.
fn workload(procs: u32, rows: &[(i64, u32, i64, i64)]) -> Workload {
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, &(submit, procs, limit, run)) in (1..).zip(rows) {
        jobs.push(Job::new(Time(submit), procs, Span(limit)));
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    Workload::new(Machine::new(procs), jobs, truth, Provenance::default()).expect("a workload")
}

#[test]
fn a_file_or_parameters_make_it() {
    assert!(spec("slurm").is_ok() && spec("slurm(bf_interval=60,bf_continue=yes,predict=recent(2))").is_ok());
    let error = spec("slurm:/no/such/slurm.conf").expect_err("no file");
    assert!(error.contains("/no/such/slurm.conf: cannot be read"), "{error}");
    let error = spec("slurm(bf_resolution=0)").expect_err("out of range");
    assert!(error.ends_with("bf_resolution takes 1 to 3600 (s)"), "{error}");
    let error = spec("slurm(bf_interval=-1,sched_interval=-1)").expect_err("no scheduler");
    assert!(error.contains("neither scheduler runs"), "{error}");
    for wrong in ["nonsense", "2026-13-30T08:15", "2026-02-29T08:15", "-5", "none"] {
        let error = spec(&format!("slurm(begins={wrong})")).expect_err(wrong);
        let expected = format!(
            "`begins={wrong}` is not possible; begins takes auto|a date such as 2026-11-30 or 2026-11-30T08:15"
        );
        assert!(error.contains(&expected), "{error}");
    }
    assert!(spec("slurm(begins=2024-02-29)").is_ok() && spec("slurm(begins=auto)").is_ok());
    let Some(dir) = shared("golden/slurm") else { return };
    let conf = dir.join("res60.conf");
    assert!(spec(&format!("slurm:{}", conf.display())).is_ok());
    assert!(spec(&format!("slurm({},phase=3)", conf.display())).is_ok());
}

#[test]
fn every_parameter_of_the_policy_is_one_of_slurm() {
    use drystone_slurm::conf::Knob;
    let own = [
        "conf", "cpus", "whole", "pack", "epilog", "phase", "test-us", "accounts", "names", "qos", "arrays", "kill",
        "begins",
    ];
    let settings = |name: &str| name.starts_with("priority") || name == "maxtime";
    for param in SLURM.params.iter().filter(|param| !own.contains(&param.name) && !settings(param.name)) {
        assert!(Knob::find_knob(param.name).is_some(), "{}", param.name);
    }
}

/// One job waits for both processors, a short one goes before it, a long one does not. Backfill
/// plans the wide job at the limit of the running one, 600 s, so what ends before that may start.
#[test]
fn a_short_job_is_backfilled_and_a_long_one_is_not() {
    let rows = [(0, 1, 600, 500), (1, 2, 600, 10), (2, 1, 900, 10), (3, 1, 120, 10)];
    let workload = workload(2, &rows);
    let mut starts = Starts(Vec::new());
    let policy = spec("slurm").expect("a policy");
    Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload))
        .run(&mut starts)
        .expect("a run");
    starts.0.sort_unstable();
    let [(_, first), (_, wide), (_, long), (_, short)] = starts.0.try_into().expect("four jobs");
    assert!(first < 60 && short < 120, "{first} {short}");
    assert!((first + 500..first + 560).contains(&wide), "{wide}");
    assert!(long > wide, "{long}");
}

/// Slurm looks at limits twice a minute and learns of an end within a second of it. Run times end
/// on every second of two such looks, so some jobs have ended, unknown to Slurm, when it looks:
/// those are not killed. The others that are too long are, at the next look, and jobs that wait
/// start in their place only when the machine has freed their processors.
#[test]
fn jobs_past_their_limits_are_killed_unless_they_have_ended() {
    let rows: Vec<_> = (0..90).map(|over| (over / 13, 1, 120, 100 + over)).collect();
    for (procs, phase) in (0..8).flat_map(|phase| [(90, phase), (20, phase)]) {
        let workload = workload(procs, &rows);
        let mut schedule = Schedule::default();
        let policy = spec(&format!("slurm(kill=yes,phase={phase})")).expect("a policy");
        let run = Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload))
            .run(&mut schedule);
        assert!(run.is_ok(), "{procs} processors, phase {phase}: {run:?}");
        let mut kill_count = 0;
        for (span, (.., run)) in schedule.spans.iter().zip(&rows) {
            let (start, end) = span.expect("it ran");
            let ran = (end - start).0;
            assert!(
                ran == *run || (120..=151).contains(&ran),
                "{procs} processors, phase {phase}: {run} s, ran {ran} s"
            );
            assert!(ran <= *run && ran <= 151, "{procs} processors, phase {phase}: {run} s, ran {ran} s");
            kill_count += usize::from(ran < *run);
        }
        assert!(kill_count > 0, "{procs} processors, phase {phase}");
    }
}

/// Starts under a configuration with 4 licences of `sim` and one node of 8 processors, where the
/// machine has `total` of them and these changes. Jobs of one processor: submit time, limit, run
/// time, licences.
fn starts_with_licences(
    parameters: &str,
    total: u64,
    changes: &[(i64, u64)],
    rows: &[(i64, i64, i64, u32)],
) -> Vec<i64> {
    let dir = tempfile::tempdir().expect("a folder");
    let conf = dir.path().join("slurm.conf");
    let text = "ClusterName=hand\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nLicenses=sim:4\n\
                NodeName=n1 CPUs=8\nPartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n";
    std::fs::write(&conf, format!("{text}SchedulerParameters=\"{parameters}\"\n")).expect("written");
    let mut table = ResourceTableBuilder::new();
    let sim = table.add_resource(Resource::new("license:sim", ResourceUnit::Count, total)).expect("new");
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, &(submit, limit, run, licences)) in (1..).zip(rows) {
        let mut job = Job::new(Time(submit), 1, Span(limit));
        let licence = (licences > 0).then(|| ("sim".to_string(), licences));
        let shape = NodeShape { licences: licence.into_iter().collect(), ..NodeShape::default() };
        let totals = vec![(sim, u64::from(licences))];
        job.demand = table.intern_demand(Demand { totals, shape: Some(shape) }).expect("known");
        jobs.push(job);
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    let step =
        |&(from, amount): &(i64, u64)| SupplyStep { resource: sim, from: Time(from), amount, announced: Some(Time(0)) };
    let changes: Vec<SupplyStep> = changes.iter().map(step).collect();
    let table = table.finish().with_supply(&changes).expect("possible");
    let workload = Workload::with_resources(Machine::new(8), Some(table.into()), jobs, truth, Provenance::default());
    let workload = workload.expect("a workload");
    let policy = spec(&format!("slurm(conf=\"{}\")", conf.display())).expect("a policy");
    let mut starts = Starts(Vec::new());
    let ran =
        Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload)).run(&mut starts);
    ran.expect("a run");
    starts.0.sort_unstable();
    starts.0.into_iter().map(|start| start.1).collect()
}

/// Passes of the main scheduler come up to a minute after an end or a change.
#[track_caller]
fn assert_soon(starts: &[i64], expected: &[i64]) {
    assert_eq!(starts.len(), expected.len());
    let is_soon = starts.iter().zip(expected).all(|(start, &at)| (at..at + 61).contains(start));
    assert!(is_soon, "{starts:?}, expected {expected:?}");
}

/// 4 licences of a configuration, of which there are 2 from 1,000 s to 5,000 s, as the machine
/// announces from the beginning. Slurm hears of that as of a change of `Licenses=` when it happens:
/// the second job, with 3 licences and a limit of an hour, starts when the first ends at 600 s, and
/// keeps them. The third, with 2, comes at 1,200 s and finds none free before the second has ended
/// at 1,800 s; the fourth, with 3, waits for 5,000 s, and the fifth, with none, for nothing.
#[test]
fn licences_change_as_the_machine_says() {
    let rows = [(0, 600, 600, 2), (10, 3_600, 1_200, 3), (1_200, 600, 600, 2), (1_300, 600, 600, 3)];
    let rows = [&rows[..], &[(1_400, 600, 600, 0)]].concat();
    let starts = starts_with_licences("", 4, &[(1_000, 2), (5_000, 4)], &rows);
    assert_soon(&starts, &[0, 600, 1_800, 5_000, 1_400]);
}

/// The machine has another number of licences than the configuration from the beginning. With 6,
/// jobs that hold 3 each run beside each other, and a third follows. With 2, a job that holds 2
/// keeps one that asks for 1 and came second from 10 s until 600 s, although the configuration has
/// two more.
///
/// With plans for licences (`bf_licenses`) and 2 of them, that second job is planned for 600 s, by
/// the limit of the first, and has until 900 s. The third asks for 2 and is planned behind it. The
/// fourth asks for 1, which is free beside the plan of the second job. With a limit of 60 s it ends
/// before the third is to start, and starts at 600 s; with a limit of 600 s, it starts when the
/// third has ended at 960 s. By the configuration's 4 licences, all would be planned for now, and
/// their starts be taken back.
#[test]
fn licences_that_the_configuration_counts_otherwise_are_those_of_the_machine() {
    let thirds = [(0, 600, 600, 3), (10, 600, 600, 3), (20, 600, 600, 3)];
    for parameters in ["", "bf_licenses"] {
        assert_soon(&starts_with_licences(parameters, 6, &[], &thirds), &[0, 10, 600]);
        let pair = [(0, 600, 600, 2), (10, 600, 600, 1)];
        assert_soon(&starts_with_licences(parameters, 2, &[], &pair), &[0, 600]);
    }
    for (limit, fourth) in [(60, 600), (600, 960)] {
        let rows = [(0, 600, 600, 2), (10, 300, 300, 1), (20, 60, 60, 2), (30, limit, 60, 1)];
        let starts = starts_with_licences("bf_licenses,bf_interval=10", 2, &[], &rows);
        assert_soon(&starts, &[0, 600, 900, fourth]);
    }
}

/// A resource that the workload counts on the machine as a whole and the passes know nothing of: 2
/// of them on 4 processors. Job 1 holds one until 1,000 s. Job 2 needs both: it waits for them, and
/// its processor is free for job 3, which needs 3 and comes at 30 s, in each case. Jobs 4 and 5
/// come together at 2,000 s with both each: one starts, the other after it. With 4 of them, of
/// which there are 2 until 3,000 s without an announcement, job 2 starts at 1,000 s as well.
#[test]
fn a_job_without_a_counted_resource_holds_no_processor() {
    let workload = |total: u64, steps: &[(i64, u64)]| {
        let mut table = ResourceTableBuilder::new();
        let gpu = table.add_resource(Resource::new("gpu", ResourceUnit::Count, total)).expect("new");
        let (mut jobs, mut truth) = (Vec::new(), Vec::new());
        let rows = [(0, 1_000, 1, 1), (10, 500, 1, 2), (30, 300, 3, 0), (2_000, 100, 1, 2), (2_000, 100, 1, 2)];
        for (number, (submit, limit, procs, gpus)) in (1..).zip(rows) {
            let mut job = Job::new(Time(submit), procs, Span(limit));
            let totals = if gpus > 0 { vec![(gpu, gpus)] } else { Vec::new() };
            job.demand = table.intern_demand(Demand { totals, shape: None }).expect("known");
            jobs.push(job);
            truth.push(Truth { run: Span(limit), number, status: LogStatus::Completed });
        }
        let steps: Vec<SupplyStep> = (steps.iter())
            .map(|&(from, amount)| SupplyStep { resource: gpu, from: Time(from), amount, announced: None })
            .collect();
        let table = table.finish().with_supply(&steps).expect("possible");
        Workload::with_resources(Machine::new(4), Some(table.into()), jobs, truth, Provenance::default())
            .expect("a workload")
    };
    for (total, steps) in [(2, &[][..]), (4, &[(5, 2), (3_000, 4)])] {
        let workload = workload(total, steps);
        let policy = spec("slurm").expect("a policy");
        let mut starts = Starts(Vec::new());
        let mut simulation =
            Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload));
        simulation.run(&mut starts).expect("a run");
        starts.0.sort_unstable();
        let starts: Vec<i64> = starts.0.into_iter().map(|start| start.1).collect();
        let soon = |at: i64| at..at + 61;
        for (start, at) in starts[..4].iter().zip([0, 1_000, 30, 2_000]) {
            assert!(soon(at).contains(start), "{total}: {starts:?}");
        }
        assert!((2_100..2_161).contains(&starts[4]), "{total}: {starts:?}");
    }
}

/// A job by hand: submission, processors and nodes, run time, number of its own partition, names of
/// those that it asks for. Its limit is 20 min.
type PartitionRow<'a> = (i64, u32, i64, i32, &'a [&'a str]);

/// Returns the starts of such jobs on four nodes of one processor, of which `long` has two and
/// `short` the others; `brief` has all, for 10 min. With them come the partitions in which passes
/// looked at the job of this number.
fn starts_in_partitions(rows: &[PartitionRow<'_>], job: u32) -> (Vec<i64>, Vec<String>) {
    let dir = tempfile::tempdir().expect("a folder");
    let conf = dir.path().join("slurm.conf");
    let text = "ClusterName=hand\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-4] CPUs=1\n\
                PartitionName=long Nodes=n[1-2] Default=YES MaxTime=INFINITE\n\
                PartitionName=short Nodes=n[3-4] MaxTime=INFINITE\nPartitionName=brief Nodes=n[1-4] MaxTime=10\n";
    std::fs::write(&conf, text).expect("written");
    let mut table = ResourceTableBuilder::new();
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, &(submit, procs, run, own, partitions)) in (1..).zip(rows) {
        let mut job = Job::new(Time(submit), procs, Span(1_200));
        job.partition = own;
        let partitions = partitions.iter().map(ToString::to_string).collect();
        let shape = NodeShape { nodes: (procs, procs), partitions, ..NodeShape::default() };
        job.demand = table.intern_demand(Demand { totals: Vec::new(), shape: Some(shape) }).expect("known");
        jobs.push(job);
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    let table = table.finish();
    let workload = Workload::with_resources(Machine::new(4), Some(table), jobs, truth, Provenance::default());
    let workload = workload.expect("a workload");
    let policy = spec(&format!("slurm(conf=\"{}\")", conf.display())).expect("a policy");
    let mut starts = Starts(Vec::new());
    let mut run = || {
        Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload)).run(&mut starts)
    };
    let (ran, remarks) = drystone_slurm::policy::listen_to_job(job, &mut run);
    ran.expect("a run");
    starts.0.sort_unstable();
    let mut partitions: Vec<String> = remarks.into_iter().filter_map(|remark| remark.partition).collect();
    partitions.sort();
    partitions.dedup();
    (starts.0.into_iter().map(|start| start.1).collect(), partitions)
}

/// Job 1 has one node of `long` for 1,000 s. Job 2 wants two nodes of either and has those of
/// `short`. Job 3 is like it: its limit is above that of `brief`, which it names as well. It waits
/// for `short`, where two nodes are free at 600 s.
#[test]
fn a_job_that_names_partitions_may_have_the_nodes_of_any() {
    let rows: [PartitionRow<'_>; 3] =
        [(0, 1, 1_000, 1, &[]), (10, 2, 590, 1, &["long", "short"]), (20, 2, 300, 1, &["brief", "long", "short"])];
    let (starts, partitions) = starts_in_partitions(&rows, 2);
    for (start, from) in starts.iter().zip([0, 10, 600]) {
        assert!((from..from + 61).contains(start), "{starts:?}");
    }
    assert_eq!(partitions, ["long", "short"], "it waits in these");
}

/// Three nodes are idle. The own partition of job 2, the first that it names, does not allow its
/// limit, so it waits for two nodes of `long` until 1,000 s.
#[test]
fn a_job_does_not_wait_in_its_own_partition_where_that_does_not_allow_it() {
    let rows: [PartitionRow<'_>; 2] = [(0, 1, 1_000, 1, &[]), (10, 2, 300, 3, &["brief", "long"])];
    let (starts, partitions) = starts_in_partitions(&rows, 1);
    assert!(starts[0] < 61 && (1_000..1_061).contains(&starts[1]), "{starts:?}");
    // Passes name the partition only of a job that waits in several.
    assert!(partitions.is_empty(), "{partitions:?}");
}
