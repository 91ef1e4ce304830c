//! Jobs of several sizes that are here at the first instant, on cases computed by hand.

use drystone::engine::{Scheduler, Segments, Unfit};
use drystone::experiment::Experiment;
use drystone::log::clean::Overrun;
use drystone::log::shapes::{give_rules, give_shapes, read_shapes};
use drystone::metrics::Report;
use drystone::model::{
    Adopted, Circumstances, Demand, Job, JobId, LogStatus, Machine, ProcSet, Provenance, Resource,
    ResourceTableBuilder, ResourceUnit, Span, Time, Truth, Workload,
};
use drystone::policy::PolicySpec;

/// Jobs of submit, processors, run time and estimate; those of `here` run since these times when
/// the simulation begins.
fn workload(procs: u32, rows: &[(i64, u32, i64, i64)], begin: i64, run_list: &[(u32, i64)]) -> Workload {
    let jobs = rows.iter().map(|&(submit, procs, _, estimate)| Job::new(Time(submit), procs, Span(estimate))).collect();
    let truth = (1..).zip(rows).map(|(number, row)| Truth { run: Span(row.2), number, status: LogStatus::Completed });
    let workload =
        Workload::new(Machine::new(procs), jobs, truth.collect(), Provenance::default()).expect("possible jobs");
    let adoptions =
        run_list.iter().map(|&(job, since)| (JobId(job), Adopted::Running { since: Time(since), on: None }));
    let circumstances =
        Circumstances { begin: Some(Time(begin)), here: adoptions.collect(), ..Circumstances::default() };
    workload.with_circumstances(circumstances).expect("possible circumstances")
}

fn shaped(workload: Workload, table: &str, overrun: Overrun) -> Workload {
    let table = read_shapes("t", table).unwrap_or_else(|error| panic!("{error}"));
    give_shapes(workload, &table, overrun).unwrap_or_else(|error| panic!("{error}")).0
}

fn simulate(workload: &Workload, policy: &str) -> (Vec<[i64; 4]>, Report) {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut segments = Segments::default();
    let result = Experiment::new(&spec, workload).run(&mut segments);
    let result = result.unwrap_or_else(|error| panic!("{policy}: {error}")).expect("nothing stops it");
    let row = |segment: &drystone::engine::Segment| {
        [segment.number, segment.start.0, segment.end.0, i64::from(segment.procs)]
    };
    let mut rows: Vec<[i64; 4]> = segments.list.iter().map(row).collect();
    rows.sort_unstable();
    (rows, result.report)
}

/// Start, end and processors of each segment, by job and time.
fn rows(workload: &Workload, policy: &str) -> Vec<[i64; 4]> {
    simulate(workload, policy).0
}

#[test]
fn a_job_that_runs_already_has_the_size_of_the_log() {
    // It prefers eight processors, and runs on four: 50 s are left, and beside it is room.
    let jobs = workload(8, &[(0, 4, 100, 100), (60, 4, 10, 10)], 50, &[(0, 0)]);
    let table = "job,kind,min,pref,max\n1,malleable,2,8,8\n";
    let stays = [[1, 0, 100, 4], [2, 60, 70, 4]];
    let case = shaped(jobs.clone(), table, Overrun::RunOn);
    for policy in ["easy", "conservative", "slack", "fcfs", "multiqueue", "ss"] {
        let (rows, report) = simulate(&case, policy);
        assert_eq!(rows, stays, "{policy}");
        // From 50 on 50 s of four processors and 10 of four are work.
        assert_eq!(report.machine.work, 240.0, "{policy}");
    }
    // It grows when the queue is empty: 50 s at 4 are 25 s at 8.
    assert_eq!(rows(&case, "easy(resize=grow)"), [[1, 0, 50, 4], [1, 50, 75, 8], [2, 75, 85, 4]]);
    // So it is on processors that have names.
    let mut circumstances = jobs.circumstances().cloned().expect("circumstances");
    circumstances.here.insert(JobId(0), Adopted::Running { since: Time(0), on: Some(ProcSet::from_range(2..6)) });
    let begun_workload = jobs.clone().with_circumstances(circumstances.clone()).expect("four processors");
    let node_case = shaped(begun_workload, table, Overrun::RunOn);
    assert_eq!(rows(&node_case, "easy"), stays);
    // Circumstances may also come last.
    assert_eq!(rows(&case.with_circumstances(circumstances).expect("four processors"), "easy"), stays);
    // Though it is none of its sizes, it is the one that it has.
    let table = "job,kind,sizes,pref\n1,malleable,2 8,8\n";
    assert_eq!(rows(&shaped(jobs, table, Overrun::RunOn), "easy"), stays);
}

#[test]
fn a_suspended_job_goes_on_with_the_size_of_the_log() {
    let jobs = workload(8, &[(0, 4, 100, 100)], 50, &[]);
    let mut circumstances = jobs.circumstances().cloned().expect("circumstances");
    circumstances.here.insert(JobId(0), Adopted::Suspended { ran: Span(30), on: None });
    let jobs = jobs.with_circumstances(circumstances).expect("it has run for 30 s");
    let case = shaped(jobs, "job,kind,min,pref,max\n1,malleable,2,8,8\n", Overrun::RunOn);
    assert_eq!(rows(&case, "ss"), [[1, 50, 120, 4]]);
}

#[test]
fn limits_that_stay_count_from_the_start_before_the_first_instant() {
    // Case 07 from 20 on. The limit of 130 s kills the job that shrank at 40.
    let jobs = workload(8, &[(0, 8, 100, 130), (40, 4, 50, 50)], 20, &[(0, 0)]);
    let case = shaped(jobs, "job,kind,min,max\n1,malleable,2,8\n", Overrun::Kill);
    let policy = "easy(resize=both)";
    assert_eq!(rows(&case, policy), [[1, 0, 40, 8], [1, 40, 90, 4], [1, 90, 125, 8], [2, 40, 90, 4]]);
    let wall = give_rules(case, "limit=wall".parse().expect("a rule"));
    assert_eq!(rows(&wall, policy), [[1, 0, 40, 8], [1, 40, 130, 4], [2, 40, 90, 4]]);
}

#[test]
fn of_the_requests_before_the_first_instant_the_last_stands() {
    // At 10 it asked for two processors, at 20 for three. From 50 on it has three: 50 s at 4 are
    // 67 s at 3. It asks for four at 108 of 134 s, 41 s later, when 26 s are left, or 20 at 4.
    let jobs = workload(4, &[(0, 4, 100, 100)], 50, &[(0, 0)]);
    let table = "job,kind,min,max,asks\n1,evolving,2,4,0.1=2 0.2=3 0.8=4\n";
    let case = shaped(jobs, table, Overrun::RunOn);
    assert_eq!(rows(&case, "easy"), [[1, 0, 50, 4], [1, 50, 91, 3], [1, 91, 111, 4]]);
    assert_eq!(rows(&case, "multiqueue"), [[1, 0, 100, 4]]);
}

#[test]
fn fair_shares_are_those_of_the_sizes_of_the_log() {
    // Both weigh √(100 · 4), though the second, which is no faster on more, prefers eight.
    let jobs = workload(8, &[(0, 4, 100, 100), (0, 4, 100, 100)], 0, &[]);
    let table = "job,kind,min,pref,max,speedup\n1,moldable,1,4,8,linear\n2,moldable,1,8,8,none\n";
    let case = shaped(jobs, table, Overrun::RunOn);
    for policy in ["easy(shape=most,cap=fair)", "conservative(shape=most,cap=fair)"] {
        assert_eq!(rows(&case, policy), [[1, 0, 100, 4], [2, 0, 100, 4]], "{policy}");
    }
}

#[test]
fn sizes_beside_memory_are_refused() {
    let jobs = workload(8, &[(0, 4, 100, 100)], 0, &[]);
    let (machine, mut list, truth, provenance) = jobs.into_parts();
    let mut table = ResourceTableBuilder::new();
    let memory = table.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, 64)).expect("a resource");
    list[0].demand = table.intern_demand(Demand::from_totals([(memory, 4)])).expect("a demand");
    let jobs = Workload::with_resources(machine, Some(table.finish()), list, truth, provenance).expect("possible");
    let case = shaped(jobs, "job,kind,min,max\n1,moldable,1,8\n", Overrun::RunOn);
    let spec: PolicySpec = "easy(shape=most)".parse().expect("a policy");
    let scheduler: Scheduler = spec.build_scheduler();
    assert_eq!(scheduler.check_fit(&case), Err(Unfit::Mixed));
    let problem = Experiment::new(&spec, &case).run(&mut ()).expect_err("sizes and memory").to_string();
    assert!(problem.contains("--resources none") && problem.contains("several sizes"), "{problem}");
}
