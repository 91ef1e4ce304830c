//! Workloads and schedules of Batsim: what its documentation says of them, and nothing lost on the
//! way there and back.

use drystone::experiment::Experiment;
use drystone::generate::{Params, generate_workload};
use drystone::log::batsim::{place_jobs, write_jobs, write_workload};
use drystone::log::clean::CleaningOptions;
use drystone::log::source::decompress_log;
use drystone::log::swf::SwfRecord;
use drystone::log::{LoadedLog, LogError, load_from};
use drystone::metrics::{JobRow, MetricsConfig};
use drystone::model::{JobId, Procs, Workload};
use drystone::policy::PolicySpec;
use proptest::prelude::*;
use std::io::Cursor;

fn read(text: &str, procs: Option<Procs>) -> Result<LoadedLog, LogError> {
    let source = decompress_log(Box::new(Cursor::new(text.to_string().into_bytes())), "log".into())?;
    load_from(source, "log", &CleaningOptions { procs, ..CleaningOptions::default() })
}

/// As in the documentation of Batsim, with a sequence.
const WORKLOAD: &str = r#"{
  "description": "two versions of one format", "nb_res": 4,
  "jobs": [
    {"id": "w0!7", "subtime": 10.5, "walltime": 100, "res": 4, "profile": "short", "user": 3},
    {"id": 1, "subtime": 0, "res": 1, "profile": "twice"},
    {"id": "name", "subtime": 20, "walltime": -1, "res": 2, "profile": "fails"}
  ],
  "profiles": {
    "short": {"type": "delay", "delay": 20.25},
    "long": {"type": "DelayProfile", "delay": 30},
    "twice": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["short", "long"]},
    "fails": {"type": "delay", "delay": 5, "ret": 1}
  }
}"#;

#[test]
fn a_workload_is_read_as_a_log() {
    let LoadedLog { workload, records, .. } = read(WORKLOAD, None).expect("a workload");
    assert_eq!(workload.machine().procs, 4);
    assert!(records.is_none());
    let jobs: Vec<(i64, u32, i64, i64, i32)> = workload
        .jobs()
        .iter()
        .zip(workload.truth())
        .map(|(job, truth)| (job.submit.0, job.procs, truth.number, truth.run.0, job.user))
        .collect();
    // In the order of submits; 10.5 s and 20.25 s are rounded as fractions in logs are; twice
    // (20.25 + 30) s.
    assert_eq!(jobs, [(0, 1, 1, 101, -1), (11, 4, 7, 20, 3), (20, 2, 3, 5, -1)]);
    let estimates: Vec<i64> = workload.jobs().iter().map(|job| job.estimate.0).collect();
    // Without a wall time the run time stands for it, as in logs without estimates.
    assert_eq!(estimates, [101, 100, 5]);
}

#[test]
fn what_cannot_be_is_refused_with_the_place() {
    for (find, replacement, part) in [
        ("\"res\": 4", "\"res\": 0", "log: job \"w0!7\": `res` is `0`; expected a number above 0"),
        ("\"subtime\": 0", "\"subtime\": \"soon\"", "job 1: `subtime` is `\"soon\"`; expected seconds"),
        ("\"profile\": \"short\"", "\"profile\": \"shrot\"", "there is no profile `shrot`"),
        ("\"seq\": [\"short\"", "\"seq\": [\"twice\"", "holds itself"),
        ("\"delay\": 20.25", "\"delay\": -1", "has no `delay` of seconds from 0 on, but `-1`"),
        ("\"type\": \"DelayProfile\"", "\"type\": \"ParallelTaskProfile\"", "lasts as long as a platform makes of it"),
        ("\"nb_res\": 4", "\"nb_res\": 0", "`nb_res` is `0`"),
        ("\"jobs\"", "\"jods\"", "has `jobs`, a list"),
        ("\"res\": 2,", "\"res\": 2,,", "log:6: no JSON"),
    ] {
        let text = WORKLOAD.replacen(find, replacement, 1);
        assert_ne!(text, WORKLOAD, "{find}");
        let error = read(&text, None).expect_err(replacement).to_string();
        assert!(error.contains(part), "{error}");
    }
    // Accounting as JSON is no workload of Batsim.
    let error = read("{\"jobs\": [{\"account\": \"a\"}]}", None).expect_err("accounting").to_string();
    assert!(error.contains("sacct --json"), "{error}");
    // Our own schedules begin as jobs.csv does.
    let error = read("job_id,submit,start,end\n1,0,0,1\n", None).expect_err("a table").to_string();
    assert!(error.contains("a table (CSV)"), "{error}");
}

/// The columns of Batsim's documentation.
const JOBS: &str = "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,\
    execution_time,finish_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata\n\
    w0!2,w0,0.5,2,100,1,10,20.5,30.5,30,1.46,0-1,-1,\"\"\nw0!3,w0,1,1,50,0,1,50,51,50,1,\"3\",-1,\"a, b\"\n";

#[test]
fn a_schedule_is_read_as_a_log() {
    let LoadedLog { workload, header, .. } = read(JOBS, None).expect("jobs.csv");
    assert_eq!(header.max_procs(), Some(4), "resources 0 to 3 were used");
    assert_eq!(workload.truth().iter().map(|t| (t.number, t.run.0)).collect::<Vec<_>>(), [(2, 21), (3, 50)]);
    assert_eq!(read(JOBS, Some(16)).expect("jobs.csv").workload.machine().procs, 16);
    let error = read(&JOBS.replace(",2,100", ",-2,100"), None).expect_err("negative").to_string();
    assert!(error.starts_with("log:2: `requested_number_of_resources` is -2"), "{error}");
    let error = read(&JOBS.replace("execution_time", "time"), None).expect_err("no column").to_string();
    assert!(error.starts_with("log:1: there is no column `execution_time`"), "{error}");
}

fn records(workload: &Workload) -> Vec<SwfRecord> {
    workload.jobs().iter().zip(workload.truth()).map(|(job, truth)| SwfRecord::from_job(job, truth)).collect()
}

#[test]
fn a_workload_comes_back_as_it_was() {
    let workload = generate_workload(&Params { seed: 5, ..Params::new(64, 500) }).expect("a workload");
    let mut text = Vec::new();
    write_workload(&mut text, 64, "a \"test\"", records(&workload).iter()).expect("memory");
    let again = read(&String::from_utf8(text).expect("text"), None).expect("a workload").workload;
    assert_eq!(again.machine(), workload.machine());
    let facts = |workload: &Workload| -> Vec<_> {
        let pairs = workload.jobs().iter().zip(workload.truth());
        pairs.map(|(j, t)| (j.submit, j.procs, j.estimate, j.user, j.queue, t.run, t.number)).collect()
    };
    assert_eq!(facts(&again), facts(&workload));
    let lacking = SwfRecord { run: (-1).into(), ..records(&workload)[0] };
    let error = write_workload(&mut Vec::new(), 64, "", [lacking].iter()).expect_err("no run time").to_string();
    assert!(error.contains("has no run time"), "{error}");
}

#[test]
fn a_schedule_comes_back_as_it_was() {
    let workload = generate_workload(&Params { seed: 6, load: Some(1.0), ..Params::new(64, 400) }).expect("a workload");
    let policy: PolicySpec = "easy".parse().expect("easy");
    let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::default() };
    let measurements =
        Experiment::new(&policy, &workload).with_metrics(config).run(&mut ()).expect("sound").expect("whole");
    let rows = measurements.report.jobs.expect("rows were asked for");
    let mut text = Vec::new();
    write_jobs(&mut text, "w", &rows, workload.truth(), &place_jobs(&rows, 64)).expect("memory");
    let text = String::from_utf8(text).expect("text");
    let source = decompress_log(Box::new(Cursor::new(text.into_bytes())), "log".into()).expect("plain");
    let again = drystone::log::read_records(source, false).expect("jobs.csv");
    let facts: Vec<_> =
        again.records.iter().map(|r| (r.number, r.submit.round(), r.wait.round(), r.run.round())).collect();
    let mut expected: Vec<_> = rows.iter().map(|r| (r.number, r.submit.0, r.wait().0, r.ran.0)).collect();
    let mut actual = facts;
    actual.sort_unstable();
    expected.sort_unstable();
    assert_eq!(actual, expected);
}

proptest! {
    /// No processor has two jobs at once, and every job has as many as it needs.
    #[test]
    fn places_are_disjoint(jobs in prop::collection::vec((0i64..200, 0i64..60, 1u32..20), 1..60)) {
        let mut rows: Vec<JobRow> = Vec::new();
        let (machine, mut running): (u32, Vec<(i64, u32)>) = (24, Vec::new());
        // First come, first served by hand: a start is when enough are free.
        let mut now = 0;
        let mut jobs = jobs;
        jobs.sort_unstable();
        for (at, &(submit, run, procs)) in jobs.iter().enumerate() {
            now = now.max(submit);
            loop {
                running.retain(|&(end, _)| end > now);
                if running.iter().map(|r| r.1).sum::<u32>() + procs <= machine {
                    break;
                }
                now = running.iter().map(|r| r.0).min().expect("a job runs");
            }
            running.push((now + run, procs));
            let workload = generate_workload(&Params::new(24, 1)).expect("one job");
            let policy: PolicySpec = "fcfs".parse().expect("fcfs");
            let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::default() };
            let measurements = Experiment::new(&policy, &workload).with_metrics(config).run(&mut ()).expect("sound").expect("whole");
            let row = measurements.report.jobs.expect("rows").remove(0);
            rows.push(JobRow {
                id: JobId(at as u32),
                start: drystone::model::Time(now),
                end: drystone::model::Time(now + run),
                procs,
                ..row
            });
        }
        let places = place_jobs(&rows, machine);
        for (a, row) in rows.iter().enumerate() {
            let set = places[a].as_ref().expect("there is room");
            prop_assert_eq!(set.len(), row.procs);
            for (b, second) in rows.iter().enumerate().skip(a + 1) {
                let together = row.start < second.end && second.start < row.end;
                if together {
                    prop_assert!(set.is_disjoint(places[b].as_ref().expect("there is room")));
                }
            }
        }
    }
}
