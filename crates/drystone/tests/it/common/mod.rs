//! Shared parts of several tests: finding logs and independent schedules, simulating, comparing.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use drystone::engine::{Observer, Schedule, Segments, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::model::{EndedJob, Job, JobOutcome, LogStatus, Machine, Procs, Provenance, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use std::io::Read;
use std::path::PathBuf;

pub const KTH: &str = "KTH-SP2-1996-2.1-cln";
pub const KTH_RAW: &str = "KTH-SP2-1996-2";
pub const CTC: &str = "CTC-SP2-1996-3.1-cln";
pub const SP2: &str = "SDSC-SP2-1998-4.2-cln";
pub const BLUE: &str = "SDSC-BLUE-2000-4.1-cln";

/// A file beside the checkout, which is no part of the project; `None`, and a loud line, where it
/// is missing.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let file = root.join(path);
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(file)
}

/// A log of the archive as a study cleans it.
pub fn log(name: &str, study: CleaningStudy, procs: Option<Procs>) -> Option<Workload> {
    let options = CleaningOptions { procs, ..study.options() };
    let file = shared(&format!("traces/{name}.swf.gz"))?;
    Some(drystone::log::load_log(file, &options).expect("a good log").workload)
}

/// Rows of an independent schedule: job number, submit, start, end.
pub fn golden(name: &str) -> Option<Vec<[i64; 4]>> {
    golden_columns(name)
}

/// The fifth column of an independent schedule: how often each job was suspended.
pub fn golden_suspensions(name: &str) -> Option<Vec<i64>> {
    Some(golden_columns::<5>(name)?.into_iter().map(|row| row[4]).collect())
}

fn golden_columns<const N: usize>(name: &str) -> Option<Vec<[i64; N]>> {
    let file = shared(&format!("golden/{name}.csv.gz"))?;
    let mut text = String::new();
    let bytes = std::fs::File::open(file).expect("readable");
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("gzip");
    let row = |line: &str| {
        let mut fields = line.split(',').map(|f| f.parse().expect("a number"));
        std::array::from_fn(|_| fields.next().expect("as many fields"))
    };
    Some(text.lines().skip(1).map(row).collect())
}

/// Outcomes in order of arrival.
#[derive(Default)]
pub struct Outcomes(pub Vec<Option<JobOutcome>>);

impl Observer for Outcomes {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let at = job_end.id.index();
        self.0.resize(self.0.len().max(at + 1), None);
        self.0[at] = Some(job_end.outcome.clone());
    }
}

pub fn spec(text: &str) -> PolicySpec {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

pub fn simulate(workload: &Workload, policy: &str) -> Schedule {
    let mut schedule = Schedule::default();
    let mut simulation =
        Simulation::new(workload.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(&mut schedule).unwrap_or_else(|e| panic!("{policy}: {e}"));
    schedule
}

/// Every job starts and ends exactly as in the independent schedule.
pub fn assert_equals_golden(workload: &Workload, policy: &str, name: &str) {
    let Some(rows) = golden(name) else { return };
    assert_eq!(workload.len(), rows.len(), "{name}: number of jobs");
    assert_rows(workload, policy, name, &rows);
}

pub fn assert_rows(workload: &Workload, policy: &str, name: &str, rows: &[[i64; 4]]) {
    let schedule = simulate(workload, policy);
    let mut wrong = 0;
    for (i, row) in rows.iter().enumerate() {
        let (start, end) = schedule.spans[i].expect("every job ends");
        let own_row = [workload.truth()[i].number, workload.jobs()[i].submit.0, start.0, end.0];
        if own_row != *row {
            wrong += 1;
            if wrong <= 3 {
                eprintln!("{policy} against {name}: ours {own_row:?}, theirs {row:?}");
            }
        }
    }
    assert_eq!(wrong, 0, "{policy}: jobs of {} that differ from {name}", rows.len());
}

/// A workload from (submit, processors, estimate, run).
pub fn workload(procs: Procs, jobs: &[(i64, Procs, i64, i64)]) -> Workload {
    let truth = jobs.iter().enumerate().map(|(i, j)| Truth {
        run: Span(j.3),
        number: i as i64 + 1,
        status: LogStatus::Completed,
    });
    let list = jobs.iter().map(|&(submit, procs, estimate, _)| Job::new(Time(submit), procs, Span(estimate)));
    Workload::new(Machine::new(procs), list.collect(), truth.collect(), Provenance::default()).expect("sound")
}

/// Returns the workload with each job changed, given its place in the order of arrival.
pub fn with_jobs(workload: Workload, mut change: impl FnMut(usize, &mut Job)) -> Workload {
    let (machine, mut jobs, truth, provenance) = workload.into_parts();
    jobs.iter_mut().enumerate().for_each(|(at, job)| change(at, job));
    Workload::new(machine, jobs, truth, provenance).expect("sound")
}

/// Returns the jobs with these users.
pub fn owned(plain: &Workload, users: &[i32]) -> Workload {
    with_jobs(plain.clone(), |at, job| job.user = users[at])
}

/// Starts of all jobs under a policy, in order of arrival.
pub fn starts(workload: &Workload, policy: &str) -> Vec<i64> {
    simulate(workload, policy).spans.iter().map(|s| s.expect("every job ends").0.0).collect()
}

/// Per job its parts: start, end, processors, as far as they have names.
pub fn parts(workload: &Workload, policy: &str) -> Vec<Vec<(i64, i64, String)>> {
    let mut segments = Segments::default();
    let mut simulation =
        Simulation::new(workload.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(&mut segments).unwrap_or_else(|e| panic!("{policy}: {e}"));
    let mut parts = vec![Vec::new(); workload.len()];
    for s in &segments.list {
        let on = s.on.as_ref().map_or(String::new(), ToString::to_string);
        parts[s.job.index()].push((s.start.0, s.end.0, on));
    }
    parts
}
