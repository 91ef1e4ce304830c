//! Rules of machines and policies about sizes and power, on cases computed by hand.

use drystone::engine::{Scheduler, Segments};
use drystone::experiment::Experiment;
use drystone::log::clean::Overrun;
use drystone::log::power::{CapTable, give_power, give_terms};
use drystone::log::series::PowerSeries;
use drystone::log::shapes::{give_rules, give_shapes, read_shapes};
use drystone::metrics::SizeReport;
use drystone::model::{
    Job, LogStatus, Machine, Outage, Outages, PowerCap, Provenance, ResizeRules, Span, Time, Truth, Which, Workload,
};
use drystone::policy::PolicySpec;

/// Jobs of submit, processors, run time and estimate.
fn workload(procs: u32, rows: &[(i64, u32, i64, i64)]) -> Workload {
    let jobs = rows.iter().map(|&(submit, procs, _, estimate)| Job::new(Time(submit), procs, Span(estimate))).collect();
    let truth = (1..).zip(rows).map(|(number, row)| Truth { run: Span(row.2), number, status: LogStatus::Completed });
    Workload::new(Machine::new(procs), jobs, truth.collect(), Provenance::default()).expect("sound")
}

fn shaped(workload: Workload, table: &str, overrun: Overrun) -> Workload {
    let table = read_shapes("t", table).unwrap_or_else(|error| panic!("{error}"));
    give_shapes(workload, &table, overrun).unwrap_or_else(|error| panic!("{error}")).0
}

fn simulate(workload: &Workload, policy: &str) -> Segments {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut segments = Segments::default();
    let ran = Experiment::new(&spec, workload).run(&mut segments);
    ran.unwrap_or_else(|error| panic!("{policy}: {error}")).expect("nothing stops it");
    segments
}

/// Start, end and processors of each segment, by job and time.
fn rows(workload: &Workload, policy: &str) -> Vec<[i64; 4]> {
    let list = simulate(workload, policy).list;
    let row = |segment: &drystone::engine::Segment| {
        [segment.number, segment.start.0, segment.end.0, i64::from(segment.procs)]
    };
    let mut rows: Vec<[i64; 4]> = list.iter().map(row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn a_limit_that_stays_kills_a_job_that_shrinks() {
    // Case 07, where job 1 ends at 125 with its limit moving along.
    let case = |estimate, overrun| {
        shaped(workload(8, &[(0, 8, 100, estimate), (40, 4, 50, 50)]), "job,kind,min,max\n1,malleable,2,8\n", overrun)
    };
    let wall: ResizeRules = "limit=wall".parse().expect("a rule");
    let with = |estimate, overrun, policy| rows(&give_rules(case(estimate, overrun), wall), policy);
    let policy = "easy(resize=both)";
    let moves = [[1, 0, 40, 8], [1, 40, 90, 4], [1, 90, 125, 8], [2, 40, 90, 4]];
    assert_eq!(rows(&case(130, Overrun::Kill), policy), moves);
    // 120 s are left at 40; the limit of 130 s ends it before these are over. At 90 the known end
    // is the limit with 8 processors as with 4, so that it does not grow.
    assert_eq!(with(130, Overrun::Kill, policy), [[1, 0, 40, 8], [1, 40, 130, 4], [2, 40, 90, 4]]);
    // A limit of 300 s is far enough.
    assert_eq!(with(300, Overrun::Kill, "easy(resize=shrink)"), [[1, 0, 40, 8], [1, 40, 160, 4], [2, 40, 90, 4]]);
    // Where no job is killed, the rule changes nothing.
    assert_eq!(with(130, Overrun::RunOn, policy), moves);
    // Without a change the limit is that of the start: 100 of 130 s.
    assert_eq!(with(130, Overrun::Kill, "easy")[0], [1, 0, 100, 8]);
}

#[test]
fn a_job_that_shrinks_and_grows_keeps_the_work_that_its_limit_hides() {
    // With 4 of 8 processors from 10 on job 1 has 180 s left, more than its limit of 150 s allows.
    // It asks for all processors at half of its work: 10 s and 80 s at 4 are 50 s at 8. From 90 on
    // 50 s are left.
    let jobs = workload(8, &[(0, 8, 100, 150)]);
    let table = "job,kind,min,max,asks\n1,evolving,2,8,0.1=4 0.5=8\n";
    let wall = give_rules(shaped(jobs, table, Overrun::Kill), "limit=wall".parse().expect("a rule"));
    assert_eq!(rows(&wall, "easy"), [[1, 0, 10, 8], [1, 10, 90, 4], [1, 90, 140, 8]]);
}

#[test]
fn an_outage_kills_where_jobs_do_not_survive() {
    let table = "job,kind,min,max\n1,malleable,1,4\n";
    let jobs = || shaped(workload(4, &[(0, 4, 100, 100)]), table, Overrun::RunOn);
    let outage = Outage::new_failure(Which::Count(2), Time(50), Some(Time(80)));
    let outages = Outages::new(Machine::new(4), vec![outage]).expect("good outages");
    let run = |workload: &Workload| {
        let spec: PolicySpec = "easy".parse().expect("a policy");
        let mut segments = Segments::default();
        let ran = Experiment::new(&spec, workload).with_outages(Some(&outages)).run(&mut segments);
        ran.unwrap_or_else(|error| panic!("{error}")).expect("nothing stops it");
        segments
            .list
            .iter()
            .map(|segment| [segment.start.0, segment.end.0, i64::from(segment.procs)])
            .collect::<Vec<_>>()
    };
    // It goes on with two processors: 50 s at 4 are 100 s.
    assert_eq!(run(&jobs()), [[0, 50, 4], [50, 150, 2]]);
    let rules = "survive=no".parse().expect("a rule");
    assert_eq!(run(&give_rules(jobs(), rules)), [[0, 50, 4], [80, 180, 4]]);
}

#[test]
fn jobs_wait_for_low_carbon() {
    let series = PowerSeries::parse_table("s", "time,carbon\n0,300\n50,100\n500,200\n").expect("a series");
    let jobs = workload(4, &[(0, 2, 100, 100), (60, 2, 600, 600)]);
    let with = |policy: &str| rows(&give_terms(jobs.clone(), &series), policy);
    // Job 1: 50 s of 300 and 50 of 100 are 200 in the mean, from 50 on it is 100. Job 2: 440 s of
    // 100 and 160 of 200 are better than anything from 500 on.
    assert_eq!(with("easy(hold=carbon)"), [[1, 50, 150, 2], [2, 60, 660, 2]]);
    // A step beyond the longest wait is none to wait for.
    assert_eq!(with("easy(hold=carbon,most=40s)"), [[1, 0, 100, 2], [2, 60, 660, 2]]);
    assert_eq!(with("easy"), [[1, 0, 100, 2], [2, 60, 660, 2]]);
    // Without what it waits for the policy is refused, and the message says what to do.
    for (workload, policy) in [(jobs.clone(), "easy(hold=carbon)"), (give_terms(jobs, &series), "easy(hold=price)")] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let scheduler: Scheduler = spec.build_scheduler();
        let problem = scheduler.check_fit(&workload).expect_err("nothing to wait for").to_string();
        assert!(problem.contains("--series"), "{problem}");
    }
}

#[test]
fn jobs_grow_at_low_carbon() {
    // Job 1 may grow from 10 on, when job 2 makes a pass. The day from 10 on is below 300 g from
    // 50 on, nearly all of it; the day from 50 on never is below 100.
    let series = PowerSeries::parse_table("s", "time,carbon\n0,300\n50,100\n").expect("a series");
    let table = "job,kind,min,max\n1,malleable,2,8\n";
    let jobs = shaped(workload(8, &[(0, 4, 100, 100), (10, 1, 1, 1), (60, 1, 1, 1)]), table, Overrun::RunOn);
    let with = |policy: &str| rows(&give_terms(jobs.clone(), &series), policy);
    let policy = |q: &str| format!("easy(resize=grow,hold=carbon,most=0s,q={q})");
    // At 10 seven are free behind job 2, whose last second is that pass: 90 s at 4 are 52 at 7.
    assert_eq!(with(&policy("1"))[0..2], [[1, 0, 10, 4], [1, 10, 11, 7]]);
    // At 50 no other event happens, and all eight are free: 50 s at 4 are 25 at 8.
    assert_eq!(with(&policy("0.5"))[0..2], [[1, 0, 50, 4], [1, 50, 75, 8]]);
}

#[test]
fn no_job_gets_more_than_its_fair_share() {
    let table = "job,kind,min,max\n1,moldable,1,8\n2,moldable,1,8\n";
    let jobs = shaped(workload(8, &[(0, 4, 100, 100), (0, 4, 100, 100)]), table, Overrun::RunOn);
    assert_eq!(rows(&jobs, "easy(shape=most)"), [[1, 0, 50, 8], [2, 50, 100, 8]]);
    assert_eq!(rows(&jobs, "easy(shape=most,cap=fair)"), [[1, 0, 100, 4], [2, 0, 100, 4]]);
    assert_eq!(rows(&jobs, "conservative(shape=submit,cap=fair)"), [[1, 0, 100, 4], [2, 0, 100, 4]]);
    // Weights 20 and 40: a third of eight processors is two, two thirds are five.
    let jobs = shaped(workload(8, &[(0, 4, 100, 100), (0, 4, 400, 400)]), table, Overrun::RunOn);
    assert_eq!(rows(&jobs, "easy(shape=most,cap=fair)"), [[1, 0, 200, 2], [2, 0, 320, 5]]);
}

#[test]
fn conservative_lets_jobs_grow_before_the_next_plan() {
    // 90 s at 4 are 45 s at 8, before the planned start at 100, which the early end brings forward.
    let jobs = shaped(
        workload(8, &[(0, 4, 100, 100), (10, 8, 50, 50)]),
        "job,kind,min,max\n1,malleable,2,8\n",
        Overrun::RunOn,
    );
    assert_eq!(rows(&jobs, "conservative"), [[1, 0, 100, 4], [2, 100, 150, 8]]);
    assert_eq!(rows(&jobs, "conservative(resize=grow)"), [[1, 0, 10, 4], [1, 10, 55, 8], [2, 55, 105, 8]]);
    // A job planned beside it leaves no room to grow.
    let jobs = shaped(
        workload(8, &[(0, 4, 100, 100), (10, 4, 30, 30), (10, 4, 70, 70)]),
        "job,kind,min,max\n1,malleable,2,8\n",
        Overrun::RunOn,
    );
    assert_eq!(rows(&jobs, "conservative(resize=grow)"), [[1, 0, 100, 4], [2, 10, 40, 4], [3, 40, 110, 4]]);
    // In the plan the other rules take sizes as they do in easy.
    let jobs = shaped(workload(4, &[(0, 4, 100, 100)]), "job,kind,min,max\n1,moldable,1,4\n", Overrun::RunOn);
    assert_eq!(rows(&jobs, "conservative(shape=min)"), [[1, 0, 400, 1]]);
}

#[test]
fn above_the_cap_no_job_starts() {
    // From 10 to 60 job 1 draws 100 W more than there are; job 2 draws nothing, and waits as well.
    let caps = [(0, 400), (10, 300), (60, 400)];
    let cap = |(from, watts)| PowerCap { from: Time(from), watts, announced: Time(from) };
    let jobs = shaped(workload(8, &[(0, 4, 100, 100), (20, 2, 5, 5)]), "job,watts\n1,100\n", Overrun::RunOn);
    let jobs = give_power(jobs, &CapTable::from_caps("c", caps.map(cap).to_vec()), 0).expect("power");
    assert_eq!(rows(&jobs, "easy"), [[1, 0, 100, 4], [2, 60, 65, 2]]);
}

#[test]
fn requests_and_lost_work_are_measured() {
    // Case 19a: job 1 asks for four processors at 50, and gets them when job 2 ends at 80.
    let jobs = workload(6, &[(0, 2, 100, 100), (0, 4, 80, 80)]);
    let jobs = shaped(jobs, "job,kind,min,max,asks\n1,evolving,2,4,0.5=4\n", Overrun::RunOn);
    let segments = simulate(&jobs, "easy");
    let report = SizeReport::from_segments(&jobs, &segments, None).expect("measured");
    let asks = report.asks.expect("it asks");
    assert_eq!((asks.number, asks.granted, asks.wait, report.work_lost), (1, 1.0, 30.0, 0));
    // A declared speedup that is the true one may be called so.
    let table = read_shapes("t", "job,kind,min,max,declared\n1,moldable,1,2,true\n").expect("a table");
    assert_eq!(table.rows[&1].declared, None);
}

#[test]
fn a_job_that_waits_again_asks_as_it_did_before() {
    // It asks after half of its work, at 60 of the first attempt. From 20 to 90 too few processors
    // are there; it waits, and asks at 150.
    let table = "job,kind,min,max,asks\n1,evolving,3,4,0.5=3\n";
    let jobs = shaped(workload(4, &[(0, 4, 120, 120)]), table, Overrun::RunOn);
    let run = |outage: Outage| {
        let outages = Outages::new(Machine::new(4), vec![outage]).expect("good outages");
        let spec: PolicySpec = "easy".parse().expect("a policy");
        let mut segments = Segments::default();
        let ran = Experiment::new(&spec, &jobs).with_outages(Some(&outages)).run(&mut segments);
        ran.unwrap_or_else(|error| panic!("{error}")).expect("nothing stops it");
        segments
            .list
            .iter()
            .map(|segment| [segment.start.0, segment.end.0, i64::from(segment.procs)])
            .collect::<Vec<_>>()
    };
    let outage = Outage::new_failure(Which::Count(2), Time(20), Some(Time(90)));
    // 60 s at 4 are 80 s at 3.
    assert_eq!(run(outage), [[0, 20, 4], [90, 150, 4], [150, 230, 3]]);
    // One that is lost asks for nothing any more.
    let loss = Outage {
        hit: drystone::model::OutageHit::Lose,
        ..Outage::new_failure(Which::Count(2), Time(20), Some(Time(90)))
    };
    assert_eq!(run(loss), [[0, 20, 4]]);
}

#[test]
fn processors_that_are_out_draw_nothing() {
    // Two of four processors are out until 50; each that is up draws 10 W.
    let jobs =
        || give_power(workload(4, &[(0, 2, 100, 100)]), &CapTable::from_caps("none", Vec::new()), 10).expect("power");
    let outage = Outage::new_failure(Which::Count(2), Time(0), Some(Time(50)));
    let outages = Outages::new(Machine::new(4), vec![outage]).expect("good outages");
    let spec: PolicySpec = "easy".parse().expect("a policy");
    let energy = |outages: Option<&Outages>| {
        let result = Experiment::new(&spec, &jobs()).with_outages(outages).run(&mut ()).expect("simulated");
        let power = result.expect("nothing stops it").report.sizes.and_then(|sizes| sizes.power);
        let power = power.expect("power is counted");
        (power.energy, power.peak)
    };
    assert_eq!(energy(None), (4_000, 40));
    assert_eq!(energy(Some(&outages)), (20 * 50 + 40 * 50, 40));
}

#[test]
fn plans_know_what_processors_draw_that_come_back() {
    // Of 100 W two processors that are up leave 80, and four leave 60. The job draws 70 W for
    // 100 s. Two are known to come back at 50, so that it has to wait for the higher cap at 200.
    let caps = [(0, 100), (200, 200)].map(|(from, watts)| PowerCap { from: Time(from), watts, announced: Time::MIN });
    let jobs = shaped(workload(4, &[(0, 2, 100, 100)]), "job,watts\n1,35\n", Overrun::RunOn);
    let jobs = give_power(jobs, &CapTable::from_caps("c", caps.to_vec()), 10).expect("power");
    let run = |outage: Outage| {
        let outages = Outages::new(Machine::new(4), vec![outage]).expect("good outages");
        let spec: PolicySpec = "easy".parse().expect("a policy");
        let mut segments = Segments::default();
        let ran = Experiment::new(&spec, &jobs).with_outages(Some(&outages)).run(&mut segments);
        ran.unwrap_or_else(|error| panic!("{error}")).expect("nothing stops it");
        segments.list[0].start.0
    };
    let outage = |end| Outage::new_failure(Which::Count(2), Time(0), Some(Time(end)));
    assert_eq!(run(outage(50).with_expected_end(Time(50))), 200);
    // They come back behind its end, or it is not known when.
    assert_eq!((run(outage(150).with_expected_end(Time(150))), run(outage(50))), (0, 0));
}
