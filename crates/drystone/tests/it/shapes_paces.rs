//! Jobs that run more slowly to draw less power, on cases computed by hand.

use drystone::engine::{Schedule, Scheduler, SegmentEnd, Segments, Simulation, WorkloadReplay};
use drystone::experiment::Experiment;
use drystone::log::clean::Overrun;
use drystone::log::power::{CapTable, give_power, read_caps};
use drystone::log::shapes::{give_rules, give_shapes, read_shapes};
use drystone::metrics::SizeReport;
use drystone::model::{Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::parts::predict::Forecast;
use drystone::policy::{Action, Actions, PassRule, Policy, PolicyEvent, PolicySpec, StartReason, View};
use serde::{Deserialize, Serialize};

/// Jobs of submit, processors and run time on eight processors, with a table of shapes and caps.
fn workload(rows: &[(i64, u32, i64)], table: &str, caps: &str) -> Workload {
    let jobs = rows.iter().map(|&(submit, procs, run)| Job::new(Time(submit), procs, Span(run))).collect();
    let truth = (1..).zip(rows).map(|(number, row)| Truth { run: Span(row.2), number, status: LogStatus::Completed });
    let workload = Workload::new(Machine::new(8), jobs, truth.collect(), Provenance::default()).expect("possible jobs");
    let table = read_shapes("shapes", table).unwrap_or_else(|error| panic!("{error}"));
    let workload = give_shapes(workload, &table, Overrun::RunOn).unwrap_or_else(|error| panic!("{error}")).0;
    let caps: CapTable = read_caps("caps", caps).unwrap_or_else(|error| panic!("{error}"));
    give_power(workload, &caps, 0).unwrap_or_else(|error| panic!("{error}"))
}

fn simulate(workload: &Workload, policy: &str) -> Segments {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut segments = Segments::default();
    let result = Experiment::new(&spec, workload).run(&mut segments);
    result.unwrap_or_else(|error| panic!("{policy}: {error}")).expect("nothing stops it");
    segments.list.sort_by_key(|segment| (segment.job, segment.start));
    // Saved and restored after every instant it comes out the same.
    let mut replay = Segments::default();
    let begin = || Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload));
    let mut simulation = begin();
    while simulation.step(&mut replay).unwrap_or_else(|error| panic!("{policy}: {error}")) {
        let bytes = simulation.save().expect("saved");
        simulation = begin();
        simulation.load(&bytes).unwrap_or_else(|error| panic!("{policy}: {error}"));
    }
    replay.list.sort_by_key(|segment| (segment.job, segment.start));
    assert_eq!(replay.list, segments.list, "{policy}, restored after every instant");
    segments
}

/// Job, start, end, processors, and watts of each processor, of each segment. `full` are the watts
/// of the full paces.
fn rows(workload: &Workload, policy: &str) -> Vec<[i64; 5]> {
    let watts =
        |job: usize| workload.shapes().and_then(|shapes| shapes.shape_at(job)).map_or(0, |(shape, _)| shape.watts);
    let row = |segment: &drystone::engine::Segment| {
        let watts = segment.pace.map_or_else(|| watts(segment.job.index()), |pace| pace.watts);
        [segment.number, segment.start.0, segment.end.0, i64::from(segment.procs), watts as i64]
    };
    simulate(workload, policy).list.iter().map(row).collect()
}

const PAIR: &str = "job,watts,paces\n1,200,\n2,,1:200 0.5:50\n";

/// Beside job 1 there are 200 W of 1,000: job 2 takes 800 W, or 200 W for twice the time.
fn beside(run: i64) -> Workload {
    workload(&[(0, 4, run), (0, 4, 50)], PAIR, "time,cap\n0,1000\n")
}

#[test]
fn a_job_starts_slowly_where_it_then_ends_earlier() {
    // The wait would end at 100, and the run at 150; the slow run ends at 100.
    assert_eq!(rows(&beside(100), "easy"), [[1, 0, 100, 4, 200], [2, 0, 100, 4, 50]]);
    // The wait ends at 20, and the run at 70.
    assert_eq!(rows(&beside(20), "easy"), [[1, 0, 20, 4, 200], [2, 20, 70, 4, 200]]);
    // Both ends are at 100: the full pace is taken.
    assert_eq!(rows(&beside(50), "easy"), [[1, 0, 50, 4, 200], [2, 50, 100, 4, 200]]);
    // Other policies make no use of paces.
    for policy in ["easy(pace=full)", "fcfs", "greedy", "conservative"] {
        assert_eq!(rows(&beside(100), policy), [[1, 0, 100, 4, 200], [2, 100, 150, 4, 200]], "{policy}");
    }
    for policy in ["easy(backfill=sjf)", "easy(reserve=0)", "easy-keep"] {
        assert_eq!(rows(&beside(100), policy)[1], [2, 0, 100, 4, 50], "{policy}");
    }
}

#[test]
fn a_slow_job_returns_to_its_full_pace() {
    // At 60 there is power: of 100 s at half speed 40 are left, 20 at full speed.
    let workload = beside(60);
    assert_eq!(rows(&workload, "easy"), [[1, 0, 60, 4, 200], [2, 0, 60, 4, 50], [2, 60, 80, 4, 200]]);
    let segments = simulate(&workload, "easy");
    assert_eq!(segments.list[1].then, SegmentEnd::Paced);
    let mut csv = Vec::new();
    segments.write_csv(&mut csv).expect("written");
    let text = String::from_utf8(csv).expect("text");
    assert_eq!(
        text,
        "job_id,start,end,procs,processors,then,pace\n1,0,60,4,,ended,1\n2,0,60,4,,paced,0.5\n2,60,80,4,,ended,1\n"
    );
    let report = SizeReport::from_segments(&workload, &segments, None).expect("measured");
    // 800 W for 60 s; 200 W for 60 s and 800 W for 20 s; 60 of 140 s of running time are slow.
    assert_eq!(report.power.expect("watts").energy, 48_000 + 12_000 + 16_000);
    assert_eq!(report.slowed, Some(60.0 / 140.0));
    assert_eq!(report.jobs[&2].energy, 28_000);
    assert_eq!(report.jobs[&2].paces.expect("paces").render_cells(), "0.5,1,60");
    assert_eq!(report.jobs[&1].paces.expect("paces").render_cells(), "1,1,0");
}

#[test]
fn a_slow_run_is_backfilled_around_the_reservation() {
    // Job 2 waits for all processors until 100. Job 3 has 600 W: 800 are too much, 500 are not.
    let table = "job,watts,paces\n1,100,\n2,100,\n3,,1:400 0.8:250\n";
    let backfill = workload(&[(0, 4, 100), (1, 8, 10), (2, 2, 40)], table, "time,cap\n0,1000\n");
    assert_eq!(rows(&backfill, "easy"), [[1, 0, 100, 4, 100], [2, 100, 110, 8, 100], [3, 2, 52, 2, 250]]);
    // 90 s are 112.5 at this pace: too long before 100.
    let waits = workload(&[(0, 4, 100), (1, 8, 10), (2, 2, 90)], table, "time,cap\n0,1000\n");
    assert_eq!(rows(&waits, "easy"), [[1, 0, 100, 4, 100], [2, 100, 110, 8, 100], [3, 110, 200, 2, 400]]);
}

#[test]
fn jobs_slow_down_where_a_cap_falls() {
    // 600 W have to go at 20. Job 1 can save 560, job 2 120; the first goes to its slowest pace,
    // the second to the first one that saves the other 40. 80 s of job 1 are 160 at half speed; 80
    // of the 100 s of job 2 are 90 of its 112. At 110 job 1 has 70 s left at half speed, 35 at full
    // speed.
    let table = "job,paces\n1,1:200 0.8:150 0.5:60\n2,1:200 0.9:190 0.8:170\n";
    let falls = |policy| {
        rows(&workload(&[(0, 4, 100), (0, 4, 100)], table, "time,cap,announced\n0,1600,0\n20,1000,20\n"), policy)
    };
    let expected =
        [[1, 0, 20, 4, 200], [1, 20, 110, 4, 60], [1, 110, 145, 4, 200], [2, 0, 20, 4, 200], [2, 20, 110, 4, 190]];
    assert_eq!(falls("easy(drop=pace)"), expected);
    assert_eq!(falls("easy(drop=pace,pace=full)"), expected);
    assert_eq!(falls("easy"), [[1, 0, 100, 4, 200], [2, 0, 100, 4, 200]]);
    // No job goes further down than it must: 100 W are saved at 0.8.
    let little =
        workload(&[(0, 4, 100)], "job,paces\n1,1:200 0.8:150 0.5:60\n", "time,cap,announced\n0,800,0\n20,700,20\n");
    assert_eq!(rows(&little, "easy(drop=pace)"), [[1, 0, 20, 4, 200], [1, 20, 120, 4, 150]]);
}

#[test]
fn jobs_shrink_where_slower_paces_save_too_little() {
    // Half speed leaves 480 W of 300; three processors less leave 300. 80 of 100 s at 8 processors
    // are 80 of 100 parts of the 320 s that 5 processors take at half speed.
    let table = "job,kind,min,max,paces\n1,malleable,2,8,1:100 0.5:60\n";
    let falls = workload(&[(0, 8, 100)], table, "time,cap,announced\n0,800,0\n20,300,20\n");
    assert_eq!(rows(&falls, "easy(drop=pace)"), [[1, 0, 20, 8, 100], [1, 20, 276, 5, 60]]);
    assert_eq!(simulate(&falls, "easy(drop=pace)").list[0].then, SegmentEnd::Resized);
}

#[test]
fn sizes_and_paces_are_chosen_together() {
    // 400 W are left beside job 1: 2 processors at the full pace end at 200, 4 at 0.6 at 167, since
    // 100 s at 4 are 166.7 at 0.6.
    let table = "job,kind,min,max,watts,paces\n1,rigid,,,100,\n2,moldable,1,4,,1:200 0.6:100\n";
    let case = workload(&[(0, 4, 1000), (0, 4, 100)], table, "time,cap\n0,800\n");
    assert_eq!(rows(&case, "easy(shape=start-now)")[1], [2, 0, 167, 4, 100]);
    assert_eq!(rows(&case, "easy(shape=start-now,pace=full)")[1], [2, 0, 200, 2, 200]);
}

#[test]
fn a_job_that_no_cap_lets_run_at_full_pace_is_planned_at_a_slower_one() {
    // 1,600 W are above the cap at any time; at 0.5 the job takes 800 W when job 1 is over.
    let table = "job,watts,paces\n1,100,\n2,,1:200 0.8:150 0.5:100\n";
    let slow = workload(&[(0, 4, 30), (0, 8, 10)], table, "time,cap\n0,900\n");
    assert_eq!(rows(&slow, "easy"), [[1, 0, 30, 4, 100], [2, 30, 50, 8, 100]]);
    let spec: PolicySpec = "easy(pace=full)".parse().expect("a policy");
    let error = Experiment::new(&spec, &slow).run(&mut ()).expect_err("it waits for ever").to_string();
    assert!(error.contains("1600 W"), "{error}");
}

#[test]
fn limits_go_with_the_pace() {
    // It is killed after 50 s at full pace; at half speed after 100.
    let jobs = vec![Job::new(Time(0), 4, Span(100)), Job::new(Time(0), 4, Span(50))];
    let truth = |number, run| Truth { run: Span(run), number, status: LogStatus::Completed };
    let pair_workload = Workload::new(Machine::new(8), jobs, vec![truth(1, 100), truth(2, 80)], Provenance::default());
    let table = read_shapes("shapes", PAIR).expect("a table");
    let kill_shapes = give_shapes(pair_workload.expect("possible"), &table, Overrun::Kill).expect("shapes").0;
    let kill_case = give_power(kill_shapes, &read_caps("caps", "time,cap\n0,1000\n").expect("caps"), 0).expect("power");
    assert_eq!(rows(&kill_case, "easy")[1], [2, 0, 100, 4, 50]);
    // A job that slows down at 20 has 160 s left, and a limit that stays at 100.
    let jobs = vec![Job::new(Time(0), 4, Span(100))];
    let single_workload = Workload::new(Machine::new(8), jobs, vec![truth(1, 100)], Provenance::default());
    let table = read_shapes("shapes", "job,paces\n1,1:200 0.5:60\n").expect("a table");
    let slow = give_shapes(single_workload.expect("possible"), &table, Overrun::Kill).expect("shapes").0;
    let caps = read_caps("caps", "time,cap,announced\n0,800,0\n20,400,20\n").expect("caps");
    let slow = give_power(slow, &caps, 0).expect("power");
    assert_eq!(rows(&slow, "easy(drop=pace)"), [[1, 0, 20, 4, 200], [1, 20, 180, 4, 60]]);
    let slow = give_rules(slow, "limit=wall".parse().expect("a rule"));
    assert_eq!(rows(&slow, "easy(drop=pace)"), [[1, 0, 20, 4, 200], [1, 20, 100, 4, 60]]);
}

#[test]
fn a_suspended_job_keeps_its_pace() {
    // At 40 there are 850 W: job 2 waits with 60 s left at half speed, and goes on when job 1 is
    // over.
    let caps = "time,cap,announced\n0,1000,0\n40,850,40\n";
    let suspends = workload(&[(0, 4, 100), (0, 4, 50)], PAIR, caps);
    let expected = [[1, 0, 100, 4, 200], [2, 0, 40, 4, 50], [2, 100, 160, 4, 50]];
    assert_eq!(rows(&suspends, "easy(drop=suspend)"), expected);
}

/// Actions of a policy under test, at its decisions.
#[derive(Serialize, Deserialize)]
struct PaceScript(Vec<Vec<Action>>);

impl Policy for PaceScript {
    fn name(&self) -> &str {
        "script"
    }

    fn observe(&mut self, _: PolicyEvent, _: &View<'_>) {}

    fn decide(&mut self, _: &View<'_>, actions: &mut Actions) {
        if !self.0.is_empty() {
            self.0.remove(0).into_iter().for_each(|action| actions.push(action));
        }
    }
}

#[test]
fn impossible_changes_of_pace_are_refused() {
    // Job 2 arrives at 5. Job 1 may shrink at 50.
    let table = "job,kind,min,max,every,paces\n1,malleable,2,4,50,1:200 0.5:50\n2,rigid,,,,\n";
    let pair = workload(&[(0, 4, 100), (5, 1, 10)], table, "time,cap,announced\n0,1000,0\n3,300,3\n");
    let start = |pace| Action::StartWith {
        job: JobId(0),
        procs: 4,
        pace,
        why: StartReason::Planned,
        on: drystone::policy::Placement::Any,
    };
    let change = |pace| Action::SetPace { job: JobId(0), pace };
    let shrink = Action::Resize { job: JobId(0), procs: 2, at_once: false };
    for (script, part) in [
        (vec![vec![start(2)]], "cannot start at pace 2: it has no such pace"),
        (vec![vec![change(1)]], "cannot change its pace: it is Waiting"),
        (vec![vec![start(1), change(0)]], "cannot change to pace 0: it starts at this instant"),
        (vec![vec![start(1)], vec![change(2)]], "cannot run at pace 2: it has no such pace"),
        (vec![vec![start(1)], vec![change(0)]], "cannot change to pace 0: that takes 600 W more, and 100 W are left"),
        (vec![vec![start(1)], vec![shrink, change(0)]], "cannot change to pace 0: a change of its size is pending"),
    ] {
        let scheduler =
            Scheduler { policy: Box::new(PaceScript(script)), forecast: Forecast::default(), pass: PassRule::Instant };
        let mut simulation = Simulation::new(pair.machine(), scheduler, WorkloadReplay::new(&pair));
        let error = simulation.run(&mut Schedule::default()).expect_err(part).to_string();
        assert!(error.contains(part), "{error} does not say {part}");
    }
}

#[test]
fn a_wrong_pace_says_what_is_expected() {
    for (cell, part) in [
        ("1:300 0:100", "the speed 0 is no share"),
        ("1.2:300", "the speed 1.2 is no share"),
        ("0.9:300", "the first pace has speed 0.9; expected the full pace"),
        ("1:300 0.8", "expected SPEED:WATTS"),
        ("1:300 fast:100", "expected SPEED:WATTS"),
        ("1:300 0.8:-1", "no whole number of watts"),
        ("1:300 0.8:210 0.8:200", "two paces have speed 0.8"),
        ("1:300 0.5:210 0.8:200", "from the fastest to the slowest"),
        ("1:300 0.8:300", "a slower pace must draw less"),
    ] {
        let error = read_shapes("t.csv", &format!("job,paces\n7,{cell}\n")).expect_err(cell).to_string();
        assert!(error.starts_with("t.csv, line 2: paces: ") && error.contains(part), "{cell}: {error}");
    }
    let job = Workload::new(
        Machine::new(8),
        vec![Job::new(Time(0), 4, Span(10))],
        vec![Truth { run: Span(10), number: 1, status: LogStatus::Completed }],
        Provenance::default(),
    );
    let table = read_shapes("t.csv", "job,watts,paces\n1,250,1:300 0.8:210\n").expect("a table");
    let error = give_shapes(job.expect("a workload"), &table, Overrun::RunOn).expect_err("two draws").to_string();
    assert!(error.contains("watts is 250, and the first of its paces draws 300 W"), "{error}");
}
