//! Changed workloads: what theory says of them, and schedules worked out by hand.

use drystone::experiment::Experiment;
use drystone::metrics::{JobRow, MetricsConfig};
use drystone::model::{
    Job, LogStatus, Machine, Outage, Outages, ProcSet, Provenance, Span, Time, Truth, Which, Workload,
};
use drystone::policy::PolicySpec;
use drystone_whatif::{Applied, PartitionPremises, PoolPremises, Premises, apply_changes};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Jobs as submit, run time, processors, limit, user.
fn premises(procs: u32, jobs: &[(i64, i64, u32, i64, i32)]) -> Premises {
    let facts =
        jobs.iter().map(|&(submit, _, procs, limit, user)| Job::new(Time(submit), procs, Span(limit)).with_user(user));
    let truth = jobs.iter().zip(1..).map(|(&(_, run, ..), number)| Truth {
        run: Span(run),
        number,
        status: LogStatus::Completed,
    });
    let workload = Workload::new(Machine::new(procs), facts.collect(), truth.collect(), Provenance::default());
    let pool = PoolPremises {
        name: "log".to_string(),
        procs,
        scale: 1,
        per_node: 1.0,
        partitions: vec![PartitionPremises { name: String::new(), number: -1, own: -1 }],
        outages: Vec::new(),
        conf: None,
        layout: None,
        names: None,
    };
    Premises {
        workload: workload.expect("possible"),
        pools: vec![pool],
        users: BTreeMap::new(),
        accounts: BTreeMap::new(),
        qos: BTreeMap::new(),
        limits: None,
        rules: None,
        is_slurm: false,
    }
}

pub(crate) fn after(premises: &Premises, changes: &str) -> Applied {
    let clock = |text: &str| Ok(Time(text.trim_start_matches('@').parse().expect("a second")));
    let list = changes.parse().unwrap_or_else(|error| panic!("{error}"));
    apply_changes(premises, &list, &clock, 1).unwrap_or_else(|error| panic!("{error}"))
}

/// The problem of changes that cannot be made.
pub(crate) fn refused(premises: &Premises, changes: &str) -> String {
    let clock = |text: &str| Ok(Time(text.trim_start_matches('@').parse().expect("a second")));
    let list = changes.parse().unwrap_or_else(|error| panic!("{error}"));
    apply_changes(premises, &list, &clock, 1).expect_err(changes).problem
}

fn rows(state: &Applied, policy: &str) -> Vec<JobRow> {
    let spec: PolicySpec = policy.parse().expect("a policy");
    let pool = &state.premises.pools[0];
    let outages = Outages::new(Machine::new(pool.procs), pool.outages.clone()).expect("possible");
    let measurements = Experiment::new(&spec, &state.premises.workload)
        .with_outages(Some(&outages))
        .feeding_back(state.feeds_back)
        .with_metrics(MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() })
        .run(&mut ());
    measurements.expect("simulated").expect("to its end").report.jobs.expect("rows")
}

fn starts(state: &Applied, policy: &str) -> Vec<(i64, i64)> {
    rows(state, policy).iter().map(|row| (row.submit.0, row.start.0)).collect()
}

/// Two processors. The first job of 250 s on both is split at 100 s into 100 + 100 + 50; the second
/// job, of one processor and 10 s, comes at 20 s and gets in between at 100 s. The second piece is
/// submitted at 100 s, behind it, and starts at 110 s; the third at 210 s.
#[test]
fn pieces_follow_each_other_by_hand() {
    let before = premises(2, &[(0, 250, 2, 300, 1), (20, 10, 1, 60, 2)]);
    let split = after(&before, "limit-max 100s split");
    assert_eq!(split.split, 1);
    assert_eq!(split.origin, [Some(0), Some(0), Some(0), Some(1)]);
    let facts: Vec<(i64, i64)> = split
        .premises
        .workload
        .jobs()
        .iter()
        .zip(split.premises.workload.truth())
        .map(|(j, t)| (j.estimate.0, t.run.0))
        .collect();
    assert_eq!(facts, [(100, 100), (100, 100), (100, 50), (60, 10)]);
    assert_eq!(starts(&split, "fcfs"), [(0, 0), (100, 110), (210, 210), (20, 100)]);
    assert_eq!(starts(&after(&before, "none"), "fcfs"), [(0, 0), (20, 250)]);
}

/// With a restart of 20 s the second piece does 80 s of work in 100 s, and the third the rest of
/// 70 s in 90 s.
#[test]
fn restarts_cost_time_by_hand() {
    let split = after(&premises(2, &[(0, 250, 2, 300, 1)]), "limit-max 100s split 20s");
    let runs: Vec<i64> = split.premises.workload.truth().iter().map(|truth| truth.run.0).collect();
    assert_eq!(runs, [100, 100, 90]);
}

#[test]
fn limits_are_changed_by_their_rules() {
    let limits = |changes: &str, jobs: &[(i64, i64, u32, i64, i32)]| -> Vec<i64> {
        after(&premises(4, jobs), changes).premises.workload.jobs().iter().map(|job| job.estimate.0).collect()
    };
    let three = [(0, 10, 1, 100, 1), (1, 80, 1, 100, 1), (2, 200, 1, 100, 1)];
    // The second would be killed at 50 s and the third outlives its limit anyway: both keep it.
    assert_eq!(limits("limits x0.5", &three), [50, 100, 100]);
    assert_eq!(limits("limits exact", &three), [10, 80, 200]);
    // Ten jobs of a user that use 10, 20, … 100 % of their limits of 1,000 s, then one when all
    // have ended: the ninth of ten is 90 %, and 900 s are whole minutes. Another user's has no
    // past.
    let mut past: Vec<(i64, i64, u32, i64, i32)> = (1..=10).map(|k| (k, 100 * k, 1, 1_000, 1)).collect();
    past.extend([(5_000, 10, 1, 1_000, 1), (5_000, 10, 1, 1_000, 2)]);
    assert_eq!(limits("limits p90 of user", &past)[10..], [900, 1_000]);
    // At 1,005 s the jobs that ran for up to 900 s have ended: nine, and half of them is 50 %.
    past[10].0 = 1_005;
    assert_eq!(limits("limits p50 of user", &past)[10], 540);
}

#[test]
fn people_and_long_jobs_are_left_out_and_counted() {
    let before = premises(4, &[(0, 3_600, 2, 7_200, 1), (1, 3_600, 1, 3_600, 2), (2, 10, 4, 60, 1)]);
    let removal = after(&before, "remove user:1");
    assert_eq!((removal.origin.as_slice(), removal.left.jobs), ([Some(1)].as_slice(), 2));
    assert!((removal.left.node_hours - (2.0 + 40.0 / 3_600.0)).abs() < 1e-9);
    let refusal = after(&before, "limit-max 1h refuse");
    assert_eq!((refusal.origin.as_slice(), refusal.left.jobs), ([Some(1), Some(2)].as_slice(), 1));
    // On a machine of three processors the job of four has no place.
    let smaller = after(&before, "procs -1");
    assert_eq!((smaller.origin.as_slice(), smaller.left.jobs), ([Some(0), Some(1)].as_slice(), 1));
}

/// A maintenance that is announced: a job of 100 s that would run into it waits for its end.
#[test]
fn no_job_runs_into_a_maintenance() {
    let jobs = [(0, 10, 1, 100, 1), (10_000, 10, 1, 100, 1), (20_000, 10, 1, 100, 1)];
    let closure = after(&premises(2, &jobs), "maintenance @10050/1h");
    assert_eq!(starts(&closure, "easy"), [(0, 0), (10_000, 13_650), (20_000, 20_000)]);
}

/// Nodes a1, a2 and b1 of two processors each, under the names of a `slurm.conf`.
fn on_nodes(jobs: &[(i64, i64, u32, i64, i32)]) -> Premises {
    let mut before = premises(6, jobs);
    let conf = "ClusterName=c\nNodeName=a[1-2] CPUs=2\nNodeName=b1 CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n";
    (before.pools[0].conf, before.pools[0].per_node) = (Some(conf.to_string()), 2.0);
    before
}

/// A rack of two of three nodes is closed: the processors 0 to 3 are out, so that a job of 2
/// processors that would run into it starts, and one of 3 waits for the end.
#[test]
fn nodes_by_name_are_closed() {
    let jobs = [(0, 10, 1, 100, 1), (10_000, 10, 3, 100, 1), (10_000, 10, 2, 100, 2), (20_000, 10, 1, 100, 1)];
    let closure = after(&on_nodes(&jobs), "maintenance @10050/1h of a[1-2]");
    let first_four = Which::Named(ProcSet::from_range(0..4));
    assert_eq!(closure.premises.pools[0].outages[0].which, first_four, "{:?}", closure.notes);
    assert_eq!(starts(&closure, "easy")[1..3], [(10_000, 13_650), (10_000, 10_000)]);
    // A node that is none.
    let list = "maintenance @10050/1h of a[2-3]".parse().expect("a change");
    let error = apply_changes(&on_nodes(&jobs), &list, &|_| Ok(Time(10_050)), 1).expect_err("no node");
    assert!(error.problem.contains("no node `a3`"), "{error}");
    let list = "maintenance @10050/1h of x[2-3]".parse().expect("a change");
    let error = apply_changes(&premises(2, &jobs[..1]), &list, &|_| Ok(Time(10_050)), 1).expect_err("no names");
    assert!(error.problem.contains("slurm.conf"), "{error}");
}

/// From 5 s on nothing starts on node b1: the job that runs there since 0 ends at 100; after that
/// a job of six processors never starts, and those of four do.
#[test]
fn nodes_that_drain_take_no_more_jobs() {
    let jobs = [(0, 100, 6, 100, 1), (50, 10, 4, 100, 2), (60, 10, 2, 100, 3), (1_000, 10, 1, 100, 1)];
    let drain = after(&on_nodes(&jobs), "drain b1 from @5");
    let outage = &drain.premises.pools[0].outages[0];
    assert_eq!((&outage.which, outage.end), (&Which::Named(ProcSet::from_range(4..6)), None));
    assert_eq!(starts(&drain, "easy"), [(0, 0), (50, 100), (60, 110), (1_000, 1_000)]);
}

/// Two nodes more from 500 s on: a job of ten processors waits for them, and one of six does not.
#[test]
fn nodes_are_delivered() {
    let jobs = [(0, 10, 6, 100, 1), (20, 10, 1, 100, 2), (900, 10, 6, 100, 3), (1_000, 10, 1, 100, 1)];
    let later = after(&on_nodes(&jobs), "nodes +2 from @500");
    let pool = &later.premises.pools[0];
    assert_eq!((pool.procs, &pool.outages[0].which), (10, &Which::Named(ProcSet::from_range(6..10))));
    assert_eq!(pool.outages[0].end, Some(Time(500)));
    assert_eq!(starts(&later, "easy"), [(0, 0), (20, 20), (900, 900), (1_000, 1_000)]);
    // Node b1 is there from 500 s on: a job of six waits for it.
    let part = after(&on_nodes(&jobs), "nodes b1 from @500");
    assert_eq!(starts(&part, "easy")[..2], [(0, 500), (20, 20)]);
    let list = "nodes -1 from @500".parse().expect("a change");
    let error = apply_changes(&on_nodes(&jobs), &list, &|_| Ok(Time(500)), 1).expect_err("nothing is delivered");
    assert!(error.problem.contains("drain"), "{error}");
}

/// Load by compression moves outages with the jobs that they met: at twice the load the job of
/// 10,000 s comes at 5,000 s, and the outage of 10,050 to 13,650 s is one of 5,025 to 6,825 s.
#[test]
fn outages_move_with_the_load() {
    let jobs = [(0, 10, 1, 100, 1), (10_000, 10, 1, 100, 1), (20_000, 10, 1, 100, 1)];
    let mut before = premises(2, &jobs);
    before.pools[0].outages = vec![
        Outage::new_window(Which::Count(2), Time(0), Time(10_050), Time(13_650)),
        Outage::new_failure(Which::Count(1), Time(15_000), Some(Time(15_001))),
    ];
    let faster = after(&before, "load 2");
    assert_eq!(starts(&faster, "easy"), [(0, 0), (5_000, 6_825), (10_000, 10_000)]);
    // A second that is halved is none.
    assert_eq!(faster.premises.pools[0].outages.len(), 1);
    assert!(faster.notes[0].contains("outages with them"), "{:?}", faster.notes);
}

/// Jobs of a QOS are left out by its name.
#[test]
fn a_qos_is_left_out() {
    let mut before = premises(4, &[(0, 10, 1, 100, 1), (1, 10, 1, 100, 2), (2, 10, 1, 100, 1)]);
    let workload = &before.workload;
    let mut jobs = workload.jobs().to_vec();
    jobs.iter_mut().zip([1, 2, 1]).for_each(|(job, queue)| job.queue = queue);
    let again = Workload::new(workload.machine(), jobs, workload.truth().to_vec(), Provenance::default());
    before.workload = again.expect("possible");
    before.qos = BTreeMap::from([("normal".to_string(), 1), ("debug".to_string(), 2)]);
    let removal = after(&before, "remove qos:debug");
    assert_eq!((removal.origin.as_slice(), removal.left.jobs), ([Some(0), Some(2)].as_slice(), 1));
    let clock = |_: &str| Ok(Time(0));
    let error = apply_changes(&before, &"remove qos:gold".parse().expect("a change"), &clock, 1).expect_err("none");
    assert!(error.to_string().contains("no QOS is called `gold`; there are debug, normal"), "{error}");
}

#[test]
fn what_cannot_be_is_told() {
    let before = premises(4, &[(0, 10, 1, 100, 1)]);
    let clock = |_: &str| Ok(Time(0));
    for (changes, part) in [
        ("nodes gpu:+8", "no partition or pool is called `gpu`"),
        ("nodes -4", "at least one has to stay"),
        ("procs -9", "at least one has to stay"),
        ("remove user:ada", "no user is called `ada`"),
        ("short-queue 1h", "Slurm's own scheduler does"),
        ("qos normal: MaxJobsPU=1", "Slurm's own scheduler does"),
        ("border small: nodes<=1", "no partition is called `small`"),
        ("sharing whole", "for itself already"),
        ("remove user:1", "no job is left"),
        ("reservation @0/1h 9", "has 4 nodes"),
        ("memory +1G", "Slurm's own scheduler does"),
    ] {
        let error = apply_changes(&before, &changes.parse().expect("a change"), &clock, 1).expect_err(changes);
        assert!(error.to_string().contains(part), "{changes}: {error}");
    }
}

fn jobs() -> impl Strategy<Value = Vec<(i64, i64, u32, i64, i32)>> {
    let job = (0_i64..3_000, 0_i64..900, 1_u32..=8, 1_i64..900, 0_i32..4);
    prop::collection::vec(job, 1..60)
}

proptest! {
    /// Under first come, first served no job starts later on a larger machine: all before it have
    /// started and ended no later, so that no more is in use at any time.
    #[test]
    fn more_processors_delay_no_job_under_fcfs(jobs in jobs(), more in 1_u32..20) {
        let before = premises(8, &jobs);
        let larger = after(&before, &format!("nodes +{more}"));
        prop_assert_eq!(larger.premises.workload.machine().procs, 8 + more);
        let (old, new) = (starts(&after(&before, "none"), "fcfs"), starts(&larger, "fcfs"));
        for (old, new) in old.iter().zip(&new) {
            prop_assert!(new.1 <= old.1, "{:?} {:?}", old, new);
        }
    }

    /// Splitting moves work, and neither makes nor loses any: processors times seconds of each job
    /// are those of its pieces, and no piece asks for or takes more than the longest limit.
    #[test]
    fn splitting_keeps_the_work_of_every_job(jobs in jobs(), most in 1_i64..600) {
        let before = premises(8, &jobs);
        let split = after(&before, &format!("limit-max {most}s split"));
        let mut work = vec![0_i64; before.workload.len()];
        let triples = split.premises.workload.jobs().iter().zip(split.premises.workload.truth()).zip(&split.origin);
        for ((job, truth), origin) in triples {
            let origin = origin.expect("no job is added") as usize;
            work[origin] += i64::from(job.procs) * truth.run.0;
            prop_assert!(job.estimate.0 <= most);
            let was = before.workload.jobs()[origin].estimate.0;
            prop_assert!(truth.run.0 <= most || was <= most, "only jobs within the limit outlive it");
        }
        let expected: Vec<i64> = before.workload.jobs().iter().zip(before.workload.truth()).map(|(j, t)| i64::from(j.procs) * t.run.0).collect();
        prop_assert_eq!(work, expected);
        // Every piece is simulated to its end, one after the other.
        let rows = rows(&split, "easy");
        prop_assert_eq!(rows.len(), split.origin.len());
        for pair in rows.windows(2) {
            let (first_origin, second_origin) = (split.origin[pair[0].id.index()], split.origin[pair[1].id.index()]);
            prop_assert!(first_origin != second_origin || pair[1].submit == pair[0].end, "{:?}", pair);
        }
    }

    /// A change that changes nothing leaves every start as it is.
    #[test]
    fn no_change_is_none(jobs in jobs()) {
        let before = premises(8, &jobs);
        let text = "nodes +0; procs 8; load 1; load 1 resampled; limits x1; limit-max 10d split; limit-max 10d refuse";
        for policy in ["fcfs", "easy"] {
            prop_assert_eq!(starts(&after(&before, text), policy), starts(&after(&before, "none"), policy));
        }
    }

    /// Resampled arrivals keep every job where it is, and add whole days of users.
    #[test]
    fn resampling_adds_to_what_there_is(jobs in jobs()) {
        let before = premises(8, &jobs);
        let more = after(&before, "load 2 resampled");
        let origins: Vec<u32> = more.origin.iter().flatten().copied().collect();
        prop_assert_eq!(origins.len(), before.workload.len());
        prop_assert_eq!(more.added as usize, before.workload.len());
        let clock = |_: &str| Ok(Time(0));
        match apply_changes(&before, &"load 0.5 resampled".parse().expect("a change"), &clock, 1) {
            Ok(fewer) => prop_assert_eq!(fewer.left.jobs as usize + fewer.origin.len(), before.workload.len()),
            Err(error) => prop_assert!(error.to_string().contains("no job is left")),
        }
    }
}
