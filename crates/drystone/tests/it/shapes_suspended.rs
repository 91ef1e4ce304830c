//! Jobs that are suspended where power falls, and processors that are given back late, on cases
//! computed by hand.

use drystone::engine::{Segment, Segments, Simulation, WorkloadReplay};
use drystone::experiment::Experiment;
use drystone::log::clean::Overrun;
use drystone::log::power::{CapTable, give_power};
use drystone::log::shapes::{give_rules, give_shapes, read_shapes};
use drystone::metrics::SizeReport;
use drystone::model::{
    Adopted, Circumstances, Job, JobId, LogStatus, Machine, Outage, Outages, PowerCap, Provenance, Span, Time, Truth,
    Which, Workload,
};
use drystone::policy::PolicySpec;

/// Jobs of submit, processors and run time, which is the estimate.
fn workload(procs: u32, rows: &[(i64, u32, i64)]) -> Workload {
    let jobs = rows.iter().map(|&(submit, procs, run)| Job::new(Time(submit), procs, Span(run))).collect();
    let truth = (1..).zip(rows).map(|(number, row)| Truth { run: Span(row.2), number, status: LogStatus::Completed });
    Workload::new(Machine::new(procs), jobs, truth.collect(), Provenance::default()).expect("sound")
}

fn shaped(workload: Workload, table: &str) -> Workload {
    let table = read_shapes("t", table).unwrap_or_else(|error| panic!("{error}"));
    give_shapes(workload, &table, Overrun::RunOn).unwrap_or_else(|error| panic!("{error}")).0
}

/// Caps that are not announced.
fn capped(workload: Workload, caps: &[(i64, u64)]) -> Workload {
    let cap = |&(from, watts): &(i64, u64)| PowerCap { from: Time(from), watts, announced: Time(from) };
    let caps = caps.iter().map(cap).collect();
    give_power(workload, &CapTable::from_caps("c", caps), 0).unwrap_or_else(|error| panic!("{error}"))
}

fn rows_of(list: &[Segment]) -> Vec<[i64; 4]> {
    let row = |segment: &Segment| [segment.number, segment.start.0, segment.end.0, i64::from(segment.procs)];
    let mut rows: Vec<[i64; 4]> = list.iter().map(row).collect();
    rows.sort_unstable();
    rows
}

fn simulate(workload: &Workload, policy: &str, outages: Option<&Outages>) -> Segments {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut segments = Segments::default();
    let ran = Experiment::new(&spec, workload).with_outages(outages).run(&mut segments);
    ran.unwrap_or_else(|error| panic!("{policy}: {error}")).expect("nothing stops it");
    segments
}

/// Number, start, end and processors of each segment, by job and time. The simulation is saved and
/// restored after every instant as well, and comes out the same.
fn rows(workload: &Workload, policy: &str) -> Vec<[i64; 4]> {
    let rows = rows_of(&simulate(workload, policy, None).list);
    let spec: PolicySpec = policy.parse().expect("a policy");
    let mut segments = Segments::default();
    let begin = || Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload));
    let mut simulation = begin();
    while simulation.step(&mut segments).unwrap_or_else(|error| panic!("{policy}: {error}")) {
        let bytes = simulation.save().expect("saved");
        simulation = begin();
        simulation.load(&bytes).unwrap_or_else(|error| panic!("{policy}: {error}"));
    }
    assert_eq!(rows_of(&segments.list), rows, "{policy}, restored after every instant");
    rows
}

const SUSPEND: &str = "easy(drop=suspend)";

/// Job 1 draws 400 W, job 2 200 W. From 30 to 90 there are 450 W: the last to have started is
/// suspended with 80 s left, and goes on at 90.
#[test]
fn the_last_to_have_started_is_suspended() {
    let table = "job,watts\n1,100\n2,50\n";
    let caps = [(0, 600), (30, 450), (90, 600)];
    let jobs = capped(shaped(workload(8, &[(0, 4, 100), (10, 4, 100), (40, 2, 20)]), table), &caps);
    let expected = [[1, 0, 100, 4], [2, 10, 30, 4], [2, 90, 170, 4], [3, 40, 60, 2]];
    assert_eq!(rows(&jobs, SUSPEND), expected);
    let report = SizeReport::from_segments(&jobs, &simulate(&jobs, SUSPEND, None), None).expect("measured");
    let power = report.power.expect("watts");
    // 400 W for 100 s, 200 W for 20 and 80 s.
    assert_eq!((power.energy, power.peak, power.above_cap, report.work_lost), (60_000, 600, 0, 0));
    assert_eq!((report.held, report.shrinks, report.reconfiguring), (840, 0, 0));
    // With another treatment the cap is exceeded, or the 20 s are lost.
    assert_eq!(rows(&jobs, "easy")[1], [2, 10, 110, 4]);
    assert_eq!(rows(&jobs, "easy(drop=requeue)")[1..3], [[2, 10, 30, 4], [2, 90, 190, 4]]);
}

/// While job 2 is suspended its processors are others' to use. It heads the queue: what is planned
/// for it is its 80 s from 100 on, when job 1 ends. Job 3 fits around that, on all processors that
/// are free but one, so that job 2 has too few at 90. Job 4 fits there, but not in power before 90.
#[test]
fn a_suspended_job_heads_the_queue_and_holds_no_processors() {
    let table = "job,watts\n1,100\n2,50\n3,10\n4,60\n";
    let caps = [(0, 600), (30, 450), (90, 600)];
    let jobs = workload(8, &[(0, 4, 100), (10, 4, 100), (50, 3, 100), (50, 1, 100)]);
    let jobs = capped(shaped(jobs, table), &caps);
    let expected = [[1, 0, 100, 4], [2, 10, 30, 4], [2, 100, 180, 4], [3, 50, 150, 3], [4, 90, 190, 1]];
    assert_eq!(rows(&jobs, SUSPEND), expected);
}

/// To get from 370 W to 225 W job 3 is suspended, and then job 2. Without job 2 there is room for
/// job 3 again, so that it runs on.
#[test]
fn no_job_is_suspended_for_which_there_is_room() {
    let table = "job,watts\n1,100\n2,75\n3,10\n";
    let jobs = shaped(workload(8, &[(0, 2, 100), (1, 2, 100), (2, 2, 100)]), table);
    let jobs = capped(jobs, &[(0, 400), (10, 225)]);
    assert_eq!(rows(&jobs, SUSPEND), [[1, 0, 100, 2], [2, 1, 10, 2], [2, 100, 191, 2], [3, 2, 102, 2]]);
}

/// At 40 job 1 gives four processors to job 2: 60 s at 8 are 120 s at 4, and 10 s of cost. Four of
/// these are over when it is suspended at 44; from 80 on it stands still for 6 s more.
#[test]
fn a_suspended_job_keeps_what_is_left_of_a_cost() {
    let table = "job,kind,min,max,shrink_cost,watts\n1,malleable,4,8,10,50\n";
    let jobs = shaped(workload(8, &[(0, 8, 100), (40, 4, 20)]), table);
    let jobs = capped(jobs, &[(0, 400), (44, 100), (80, 400)]);
    let expected = [[1, 0, 40, 8], [1, 40, 44, 4], [1, 80, 206, 4], [2, 40, 60, 4]];
    assert_eq!(rows(&jobs, "easy(resize=shrink,drop=suspend)"), expected);
}

/// At 40 job 1 is asked for four processors, which it would give at its next point, 60. It is
/// suspended at 50 and gives all eight. It resumes with eight, and has forgotten the request.
#[test]
fn a_suspension_drops_a_pending_change() {
    let table = "job,kind,min,max,every,watts\n1,malleable,4,8,30,50\n";
    let jobs = shaped(workload(8, &[(0, 8, 100), (40, 4, 20)]), table);
    let jobs = capped(jobs, &[(0, 400), (50, 300), (80, 400)]);
    let policy = "easy(resize=shrink,drop=suspend)";
    assert_eq!(rows(&jobs, policy), [[1, 0, 50, 8], [1, 80, 130, 8], [2, 50, 70, 4]]);
}

/// It asks for four processors after 50 s of its work: 40 s before the suspension and 10 after.
#[test]
fn a_suspended_job_asks_for_nothing() {
    let table = "job,kind,min,max,asks,watts\n1,evolving,2,4,0.5=4,10\n";
    let jobs = capped(shaped(workload(4, &[(0, 2, 100)]), table), &[(0, 1000), (40, 10), (60, 1000)]);
    assert_eq!(rows(&jobs, SUSPEND), [[1, 0, 40, 2], [1, 60, 70, 2], [1, 70, 95, 4]]);
}

/// The limit of 130 s counts the time in which the job runs.
#[test]
fn a_limit_that_stays_is_later_by_the_suspension() {
    let jobs = vec![Job::new(Time(0), 8, Span(130))];
    let truth = vec![Truth { run: Span(100), number: 1, status: LogStatus::Completed }];
    let jobs = Workload::new(Machine::new(8), jobs, truth, Provenance::default()).expect("sound");
    let table = read_shapes("t", "job,kind,min,max,watts\n1,malleable,2,8,1\n").expect("a table");
    let jobs = give_shapes(jobs, &table, Overrun::Kill).expect("shapes").0;
    let wall = give_rules(jobs, "limit=wall".parse().expect("a rule"));
    let once = capped(wall.clone(), &[(0, 8), (20, 1), (70, 8)]);
    assert_eq!(rows(&once, SUSPEND), [[1, 0, 20, 8], [1, 70, 150, 8]]);
    // From 70 on there is power for four processors. With four 160 s are left, with fewer more: it
    // is killed at 180 with any, and takes the fewest.
    let twice = capped(wall, &[(0, 8), (20, 1), (70, 4)]);
    assert_eq!(rows(&twice, "easy(drop=suspend,migration=yes)"), [[1, 0, 20, 8], [1, 70, 180, 2]]);
}

/// Job 2 (400 s of work of one processor, 50 W each) is suspended at 20 with 80 s left. From 50 on
/// there is power for two processors: 160 s and the cost of 5 s end at 215, those of four that it
/// could have at 200 at 280. Job 1 ends too early for that where it runs for 120 s.
#[test]
fn a_suspended_job_resumes_with_the_size_that_ends_first() {
    let table = "job,kind,min,max,shrink_cost,watts\n1,,,,,100\n2,malleable,1,4,5,50\n";
    let case = |run, caps: &[(i64, u64)]| capped(shaped(workload(8, &[(0, 4, run), (0, 4, 100)]), table), caps);
    let caps = [(0, 600), (20, 400), (50, 500)];
    let yes = "easy(drop=suspend,migration=yes)";
    assert_eq!(rows(&case(200, &caps), yes), [[1, 0, 200, 4], [2, 0, 20, 4], [2, 50, 215, 2]]);
    assert_eq!(rows(&case(200, &caps), SUSPEND), [[1, 0, 200, 4], [2, 0, 20, 4], [2, 200, 280, 4]]);
    assert_eq!(rows(&case(120, &caps), yes), [[1, 0, 120, 4], [2, 0, 20, 4], [2, 120, 200, 4]]);
    let report =
        SizeReport::from_segments(&case(200, &caps), &simulate(&case(200, &caps), yes, None), None).expect("measured");
    assert_eq!((report.shrinks, report.reconfiguring), (1, 5));
    // 4 · 200, 4 · 20 and 2 · 165 processor-seconds, by both measures.
    let spec: PolicySpec = yes.parse().expect("a policy");
    let ran = Experiment::new(&spec, &case(200, &caps)).run(&mut ()).expect("simulated").expect("to its end");
    assert_eq!((report.held, ran.report.machine.work), (1_210, 1_210.0));
    // With power for two processors at once it runs on with these.
    let expected = [[1, 0, 200, 4], [2, 0, 20, 4], [2, 20, 185, 2]];
    assert_eq!(rows(&case(200, &[(0, 600), (20, 500)]), yes), expected);
}

/// At 30 there is power for job 2 and not for job 1. Killed, sent back or suspended, it makes room
/// at that instant: the processors of one that is killed are free when it has ended.
#[test]
fn a_job_that_is_killed_makes_room_for_others() {
    let table = "job,watts\n1,100\n2,50\n";
    let jobs = capped(shaped(workload(4, &[(0, 4, 100), (10, 2, 20)]), table), &[(0, 400), (30, 200), (60, 400)]);
    assert_eq!(rows(&jobs, "easy(drop=kill)"), [[1, 0, 30, 4], [2, 30, 50, 2]]);
    assert_eq!(rows(&jobs, "easy(drop=requeue)"), [[1, 0, 30, 4], [1, 60, 160, 4], [2, 30, 50, 2]]);
    assert_eq!(rows(&jobs, SUSPEND), [[1, 0, 30, 4], [1, 60, 130, 4], [2, 30, 50, 2]]);
}

/// Nothing is suspended where no power is counted: the schedule is that of the plain policy.
#[test]
fn without_power_nothing_is_suspended() {
    let jobs = workload(8, &[(0, 4, 100), (10, 8, 50), (20, 4, 60), (21, 2, 300)]);
    assert_eq!(rows(&jobs, SUSPEND), rows(&jobs, "easy"));
}

/// A job that no cap leaves room for again waits for ever.
#[test]
fn a_job_that_never_resumes_is_an_error() {
    let jobs = capped(shaped(workload(4, &[(0, 4, 100)]), "job,watts\n1,10\n"), &[(0, 40), (20, 30)]);
    let spec: PolicySpec = SUSPEND.parse().expect("a policy");
    let error = Experiment::new(&spec, &jobs).run(&mut ()).expect_err("it waits for ever").to_string();
    assert_eq!(
        error,
        "the last cap on power leaves 30 W for jobs: job 1, submitted at 0 s, draws 40 W and waits for ever (1 waiting in \
         all); raise the last cap, or leave out such jobs"
    );
}

/// Case 07 with a cost of 10 s. The processors that job 1 gives at 40 are free at 50: it holds
/// eight until then. 60 s at 8 are 120 s at 4.
#[test]
fn processors_are_given_back_after_the_cost() {
    let case = |every: i64, rule: &str| {
        let table = format!("job,kind,min,max,every,shrink_cost\n1,malleable,2,8,{every},10\n");
        give_rules(shaped(workload(8, &[(0, 8, 100), (40, 4, 50)]), &table), rule.parse().expect("a rule"))
    };
    let shrink = "easy(resize=shrink)";
    assert_eq!(rows(&case(0, "release=now"), shrink), [[1, 0, 40, 8], [1, 40, 170, 4], [2, 40, 90, 4]]);
    assert_eq!(rows(&case(0, "release=after"), shrink), [[1, 0, 50, 8], [1, 50, 170, 4], [2, 50, 100, 4]]);
    // The change begins at the point 60, with 40 s left.
    assert_eq!(rows(&case(30, "release=after"), shrink), [[1, 0, 70, 8], [1, 70, 150, 4], [2, 70, 120, 4]]);
    let report =
        SizeReport::from_segments(&case(0, "release=after"), &simulate(&case(0, "release=after"), shrink, None), None);
    let report = report.expect("measured");
    assert_eq!((report.shrinks, report.reconfiguring, report.held), (1, 10, 8 * 50 + 4 * 120 + 4 * 50));
}

/// Both jobs draw 200 W. At 40 there are 300 W: job 1 gives two of its four processors, and draws
/// what it drew until that is done. Job 2 has to give none.
#[test]
fn a_job_draws_power_until_it_has_given_processors_back() {
    let table = "job,kind,min,max,shrink_cost,watts\n1,malleable,1,4,10,50\n2,malleable,1,4,10,50\n";
    let jobs = shaped(workload(8, &[(0, 4, 100), (0, 4, 100)]), table);
    let jobs = capped(give_rules(jobs, "release=after".parse().expect("a rule")), &[(0, 400), (40, 300)]);
    let shrink = "easy(drop=shrink)";
    assert_eq!(rows(&jobs, shrink), [[1, 0, 50, 4], [1, 50, 170, 2], [2, 0, 100, 4]]);
    let report = SizeReport::from_segments(&jobs, &simulate(&jobs, shrink, None), None).expect("measured");
    let power = report.power.expect("watts");
    assert_eq!((power.above_cap, power.joules_above_cap), (10, 1_000));
}

/// At 50 it asks for two processors, is granted them, and has four until 60; 50 s at 4 are 100 s.
#[test]
fn a_request_for_fewer_processors_frees_them_after_the_cost() {
    let table = "job,kind,min,max,asks,shrink_cost\n1,evolving,2,4,0.5=2,10\n";
    let jobs = give_rules(shaped(workload(4, &[(0, 4, 100)]), table), "release=after".parse().expect("a rule"));
    assert_eq!(rows(&jobs, "easy"), [[1, 0, 60, 4], [1, 60, 160, 2]]);
}

/// At 45, while job 1 is about to give four of its processors, two of them fail. It has six at
/// once, and gives four for job 2 ten seconds later: 5 s are left of the first cost, 10 s of the
/// new one. With T(8) = 100, T(6) = 134 and T(2) = 400 the 60 s at 8 are 81 s at 6 and 242 s at 2.
#[test]
fn an_outage_takes_processors_from_a_job_that_is_about_to_give_some() {
    let table = "job,kind,min,max,shrink_cost\n1,malleable,2,8,10\n";
    let jobs = shaped(workload(8, &[(0, 8, 100), (40, 4, 50)]), table);
    let jobs = give_rules(jobs, "release=after".parse().expect("a rule"));
    let outage = Outage::new_failure(Which::Count(2), Time(45), Some(Time(1_000)));
    let outages = Outages::new(Machine::new(8), vec![outage]).expect("good outages");
    let rows = rows_of(&simulate(&jobs, "easy(resize=shrink)", Some(&outages)).list);
    assert_eq!(rows, [[1, 0, 45, 8], [1, 45, 55, 6], [1, 55, 302, 2], [2, 55, 105, 4]]);
}

/// A job that is suspended when the simulation begins, after 30 s, waits for power until 80. Where
/// no power is counted the policy suspends nothing, and takes no suspended job.
#[test]
fn a_job_that_is_suspended_at_the_beginning_resumes_when_there_is_power() {
    let jobs = workload(8, &[(0, 4, 100)]);
    let adoptions = [(JobId(0), Adopted::Suspended { ran: Span(30), on: None })].into_iter().collect();
    let circumstances = Circumstances { begin: Some(Time(50)), here: adoptions, ..Circumstances::default() };
    let jobs = jobs.with_circumstances(circumstances).expect("it has run for 30 s");
    let power_jobs = capped(shaped(jobs.clone(), "job,watts\n1,10\n"), &[(0, 30), (80, 40)]);
    assert_eq!(rows_of(&simulate(&power_jobs, SUSPEND, None).list), [[1, 80, 150, 4]]);
    let spec: PolicySpec = SUSPEND.parse().expect("a policy");
    let error = Experiment::new(&spec, &jobs).run(&mut ()).expect_err("it suspends nothing").to_string();
    assert!(error.contains("never resumes a suspended job"), "{error}");
}

/// Job 2 draws 150 W and is planned for 100, when job 1 ends. From 20 to 300 there are no watts, or
/// too few: when the fall begins the rise is not known, and the plan has no place for the job.
#[test]
fn a_planned_job_without_power_waits_until_there_is_some() {
    for watts in [0, 100] {
        let jobs = shaped(workload(8, &[(0, 8, 100), (10, 3, 30)]), "job,watts\n2,50\n");
        let jobs = capped(jobs, &[(0, 600), (20, watts), (300, 600)]);
        for policy in [
            "easy",
            "conservative",
            "conservative(shape=upto)",
            "conservative(shape=most)",
            "conservative(shape=submit)",
            "conservative(resize=grow)",
            "conservative(shape=start,resize=grow)",
        ] {
            assert_eq!(rows(&jobs, policy), [[1, 0, 100, 8], [2, 300, 330, 3]], "{watts} W, {policy}");
        }
    }
}

fn outages(outage: Outage) -> Outages {
    Outages::new(Machine::new(8), vec![outage]).expect("good outages")
}

/// From 20 to 40 every processor is out, those on which job 1 runs on as well: it has none to give
/// to job 2, which arrives at 25. From 40 on it gives three, and has 7 · 20 left for 35 s on four.
#[test]
fn a_job_does_not_give_processors_that_are_out() {
    let table = "job,kind,min,max\n1,malleable,1,8\n";
    let jobs = shaped(workload(8, &[(0, 7, 60), (25, 4, 10)]), table);
    let expected = [[1, 0, 40, 7], [1, 40, 75, 4], [2, 40, 50, 4]];
    let out = outages(Outage::new_window(Which::Count(8), Time(10), Time(20), Time(40)));
    assert_eq!(rows_of(&simulate(&jobs, "easy(resize=shrink)", Some(&out)).list), expected);
}

/// Six of eight processors are out from 20 to 90: the idle one, and five of the seven that job 1
/// has. At half of its work it asks for two, and has 7 · 30 left for 105 s. It gives two that are
/// up and three that are out, so that there is room for job 2, and for job 3 when that ends.
#[test]
fn a_job_that_gives_processors_that_are_out_leaves_room_on_the_others_only() {
    let table = "job,kind,min,max,asks\n1,evolving,1,8,0.5=2\n";
    let jobs = shaped(workload(8, &[(0, 7, 60), (35, 2, 10), (36, 1, 10)]), table);
    let expected = [[1, 0, 30, 7], [1, 30, 135, 2], [2, 35, 45, 2], [3, 45, 55, 1]];
    let out = outages(Outage::new_window(Which::Count(6), Time(10), Time(20), Time(90)));
    assert_eq!(rows_of(&simulate(&jobs, "easy", Some(&out)).list), expected);
}

/// At 10, when job 2 ends, job 1 is to grow to six processors at its next point, 30. From 20 on two
/// idle ones are out. Job 3 comes at 22, when job 1 holds the two that it is to grow by.
#[test]
fn a_job_that_is_to_grow_keeps_what_it_holds_for_that_when_processors_go() {
    let table = "job,kind,min,max,every\n1,malleable,4,6,30\n";
    let jobs = shaped(workload(8, &[(0, 4, 100), (0, 4, 10), (22, 2, 10)]), table);
    // 4 · 70 are left at 30, for 47 s on six.
    let expected = [[1, 0, 30, 4], [1, 30, 77, 6], [2, 0, 10, 4], [3, 77, 87, 2]];
    let out = outages(Outage::new_window(Which::Count(2), Time(5), Time(20), Time(200)));
    assert_eq!(rows_of(&simulate(&jobs, "easy(resize=grow)", Some(&out)).list), expected);
}
