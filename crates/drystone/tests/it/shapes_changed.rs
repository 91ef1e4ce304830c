//! Jobs of several sizes in workloads that are changed, simulated in parts, explained, and under
//! slack-based backfilling.

use drystone::engine::explain::{StoryStage, explain_job};
use drystone::engine::{Segment, Segments};
use drystone::experiment::Experiment;
use drystone::generate::reshape::Reshape;
use drystone::generate::{Params, generate_workload};
use drystone::log::clean::Overrun;
use drystone::log::power::{CapTable, give_power};
use drystone::log::series::PowerSeries;
use drystone::log::shapes::{give_shapes, read_shapes};
use drystone::log::transform::{LoadFactor, cut_piece, cut_pieces, scale_load, shift_workload};
use drystone::metrics::MetricsConfig;
use drystone::model::{
    Job, JobId, JobKind, LogStatus, Machine, PowerCap, Provenance, Setting, Span, Time, Truth, Workload,
};
use drystone::policy::PolicySpec;

/// Jobs of submit, processors and run time, which is the estimate.
fn workload(procs: u32, rows: &[(i64, u32, i64)]) -> Workload {
    let jobs = rows.iter().map(|&(submit, procs, run)| Job::new(Time(submit), procs, Span(run))).collect();
    let truth = (1..).zip(rows).map(|(number, row)| Truth { run: Span(row.2), number, status: LogStatus::Completed });
    Workload::new(Machine::new(procs), jobs, truth.collect(), Provenance::default()).expect("sound")
}

fn shaped(workload: Workload, table: &str) -> Workload {
    let table = read_shapes("t", table).expect("a table");
    give_shapes(workload, &table, Overrun::RunOn).expect("shapes").0
}

/// Case 07 of the definitions: job 1 may have 2 to 8 processors and gives four to job 2.
fn case_07() -> Workload {
    shaped(workload(8, &[(0, 8, 100), (40, 4, 50)]), "job,kind,min,max,watts\n1,malleable,2,8,100\n")
}

fn setting() -> Setting {
    Setting { name: "part".to_string(), value: "some".to_string() }
}

fn policy(text: &str) -> PolicySpec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn segments(workload: &Workload, text: &str) -> Vec<Segment> {
    let (policy, mut segments) = (policy(text), Segments::default());
    let ran = Experiment::new(&policy, workload).run(&mut segments);
    ran.unwrap_or_else(|error| panic!("{text}: {error}")).expect("nothing stops it");
    let mut list = segments.list;
    list.sort_by_key(|segment| (segment.job, segment.start));
    list
}

#[test]
fn jobs_keep_their_sizes_and_the_machine_its_power_when_times_move() {
    let caps = vec![PowerCap { from: Time(30), watts: 700, announced: Time(20) }];
    let whole = shaped(
        workload(8, &[(10, 8, 100), (50, 4, 50), (60, 2, 10)]),
        "job,kind,min,max,watts\n1,malleable,2,8,100\n3,moldable,1,2,5\n",
    );
    let whole = give_power(whole, &CapTable::from_caps("caps", caps), 0).expect("power");
    let kinds = |workload: &Workload| -> Vec<Option<JobKind>> {
        let shapes = workload.shapes().expect("shapes");
        (0..workload.len()).map(|place| shapes.shape_at(place).map(|(shape, _)| shape.kind)).collect()
    };
    let expected = [Some(JobKind::Malleable), None, Some(JobKind::Moldable)];
    let shifted_workload = shift_workload(whole.clone()).expect("shifted");
    assert_eq!(kinds(&shifted_workload), expected);
    let cap = shifted_workload.shapes().and_then(|shapes| shapes.power.clone()).expect("power").caps[0];
    assert_eq!((cap.from, cap.announced), (Time(20), Time(10)));
    // Another load has other arrivals, and the same power.
    let dense_workload = scale_load(whole.clone(), "2".parse::<LoadFactor>().expect("a factor")).expect("scaled");
    assert_eq!(kinds(&dense_workload), expected);
    assert_eq!(dense_workload.shapes().and_then(|shapes| shapes.power.clone()).expect("power").caps[0].from, Time(30));
    assert_eq!(kinds(&cut_piece(&whole, 1..3, setting()).expect("a piece")), expected[1..]);
    let some = cut_pieces(&whole, &[0..1, 2..3], setting()).expect("pieces");
    assert_eq!(kinds(&some), [expected[0], expected[2]]);
}

#[test]
fn parts_that_are_simulated_apart_add_up() {
    let two = shaped(
        workload(8, &[(0, 8, 100), (40, 4, 50), (1_000, 8, 100), (1_040, 4, 50)]),
        "job,kind,min,max,watts\n1,malleable,2,8,100\n3,malleable,2,8,100\n",
    );
    let parts = [0..2, 2..4].map(|places| cut_piece(&two, places, setting()).expect("a part"));
    let policy = policy("easy(resize=both)");
    let series = PowerSeries::parse_table("s", "time,carbon\n0,360\n").expect("a series");
    let ran = Experiment::new(&policy, &two).in_parts(&parts).with_power_series(Some(&series)).run(&mut ());
    let sizes = ran.expect("simulated").expect("to its end").report.sizes.expect("sizes");
    // Twice case 07: 8 until 40, 4 until 90, 8 until 125; 80,000 J at 360 g are 8 g.
    assert_eq!((sizes.held, sizes.grows, sizes.shrinks), (2_000, 2, 2));
    assert!((sizes.utilisation - 1.0).abs() < 1e-12 && (sizes.slowdown_ref - 1.125).abs() < 1e-12);
    assert_eq!(sizes.mean_waits(true), Some((0.0, 50.0)));
    assert_eq!(sizes.mean_waits(false), Some((0.0, 125.0)));
    let power = sizes.power.expect("watts");
    assert_eq!((power.energy, power.peak), (160_000, 800));
    assert!((power.mean - 640.0).abs() < 1e-9 && (power.carbon.expect("known") - 16.0).abs() < 1e-9);
    assert!(sizes.timeline.is_none());
    // Nothing is measured where nothing asks for it, nor where no job has several sizes.
    let light = MetricsConfig { sizes: false, ..MetricsConfig::default() };
    let ran = Experiment::new(&policy, &two).with_metrics(light).run(&mut ()).expect("simulated").expect("to its end");
    assert!(ran.report.sizes.is_none());
    let plain = workload(8, &[(0, 8, 100)]);
    let ran = Experiment::new(&policy, &plain).run(&mut ()).expect("simulated").expect("to its end");
    assert!(ran.report.sizes.is_none());
}

#[test]
fn a_series_that_begins_late_is_an_error() {
    let series = PowerSeries::parse_table("s.csv", "# prices\ntime,price\n50,3\n").expect("a series");
    let policy = policy("easy");
    let error = Experiment::new(&policy, &case_07())
        .with_power_series(Some(&series))
        .run(&mut ())
        .expect_err("late")
        .to_string();
    assert_eq!(
        error,
        "s.csv, line 3: the series begins at 50, and the first job is submitted at 0; add a line for 0 or earlier"
    );
}

#[test]
fn a_story_tells_the_sizes_of_a_job() {
    let workload = case_07();
    let spec = policy("easy(resize=both)");
    let stage = StoryStage::default();
    let story = explain_job(&workload, JobId(0), || spec.build_scheduler(), &stage, &[], &mut ()).expect("a story");
    let text = story.to_string();
    for part in [
        "40  shrinks from 8 to 4 processors, of a preferred 8",
        "90  grows from 4 to 8 processors, its preferred size",
        "125  ends after running for 125 s",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let json = serde_json::to_value(&story).expect("JSON");
    let resize = json["story"].as_array().expect("events").iter().find(|event| event["event"] == "resized");
    assert_eq!(resize.map(|event| (event["from"].as_u64(), event["to"].as_u64())), Some((Some(8), Some(4))));
}

/// Job 1 holds all four processors until 100. Job 2 (100 s on two, 200 s on one, 50 s on four) ends
/// first on four: at 150, against 200 and 300.
#[test]
fn slack_takes_the_size_that_ends_first() {
    let two = || workload(4, &[(0, 4, 100), (1, 2, 100)]);
    let table = "job,kind,min,max\n2,moldable,1,4\n";
    let rows = |text: &str| -> Vec<(i64, i64, u32)> {
        let list = segments(&shaped(two(), table), text);
        list.iter().map(|segment| (segment.start.0, segment.end.0, segment.procs)).collect()
    };
    assert_eq!(rows("slack"), [(0, 100, 4), (100, 200, 2)]);
    assert_eq!(rows("slack(shape=submit)"), [(0, 100, 4), (100, 150, 4)]);
    assert_eq!(rows("slack(shape=min)"), [(0, 100, 4), (100, 300, 1)]);
}

/// Beside a job on six of eight processors one that takes 100 s on four has two at once: it ends at
/// 210 on these, at 150 on eight.
#[test]
fn slack_takes_as_many_processors_as_are_free() {
    let jobs = shaped(workload(8, &[(0, 6, 100), (10, 4, 100)]), "job,kind,min,max\n2,moldable,1,8\n");
    let row = |text: &str| {
        let list = segments(&jobs, text);
        list.iter()
            .find(|segment| segment.number == 2)
            .map(|segment| (segment.start.0, segment.end.0, segment.procs))
            .expect("job 2")
    };
    for (shape, expected) in [
        ("preferred", (100, 200, 4)),
        ("submit", (100, 150, 8)),
        ("start-now", (10, 210, 2)),
        ("most", (10, 210, 2)),
        ("upto", (10, 210, 2)),
        ("min", (10, 410, 1)),
    ] {
        assert_eq!(row(&format!("slack(shape={shape})")), expected, "{shape}");
    }
    // Where nothing is free it is planned with its smallest size, or if it may wait with the best.
    let jobs = shaped(workload(8, &[(0, 8, 100), (10, 4, 100)]), "job,kind,min,max\n2,moldable,2,8\n");
    let size =
        |text: &str| segments(&jobs, text).iter().map(|segment| (segment.start.0, segment.procs)).max().expect("job 2");
    assert_eq!((size("slack(shape=most)"), size("slack(shape=start-now)")), ((100, 2), (100, 8)));
}

/// Without slack it is conservative backfilling, in sizes as in starts.
#[test]
fn slack_without_slack_is_conservative_backfilling_with_sizes() {
    for seed in 1..=12 {
        let params = Params { seed, load: Some(1.1), max_estimate: Span(14_400), ..Params::new(32, 150) };
        let log = generate_workload(&params).expect("generated");
        let kind = JobKind::Moldable;
        let reshape = Reshape { kind, share: 0.7, seed, ..Reshape::default() };
        let log = reshape.apply(log, Overrun::RunOn).expect("shapes").0;
        for shape in ["submit", "start-now", "most", "upto", "min"] {
            let slack = segments(&log, &format!("slack(sf=0,horizon=all,shape={shape})"));
            let conservative = segments(&log, &format!("conservative(horizon=all,shape={shape})"));
            let differs = slack.iter().zip(&conservative).find(|(own, rival)| own != rival);
            assert!(slack.len() == conservative.len() && differs.is_none(), "seed {seed}, {shape}: {differs:?}");
        }
    }
}
