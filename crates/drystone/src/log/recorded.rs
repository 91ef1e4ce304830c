//! Recorded facts of a log's machine: starts of jobs, and dependencies.

use super::LogError;
use super::swf::SwfRecord;
use crate::model::{Adopted, Circumstances, DependencyEffect, DependsOn, JobId, Span, Time, Workload};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// State of jobs at a time, as the log records it: the start follows from field 3, the wait. A job
/// of unknown wait counts as started at its submit.
///
/// ```
/// use drystone::log::{clean::CleaningOptions, load_from, recorded, source, transform};
/// use drystone::model::{JobId, Time};
///
/// // Job 1 runs from 10 to 110, job 2 waits from 20 to 110; job 3 comes later.
/// let log = "; MaxProcs: 4\n1 0 10 100 4 -1 -1 4 200\n2 20 90 50 4 -1 -1 4 60\n3 70 -1 9 1 -1 -1 1 9\n";
/// # let log = log.replace(" 200\n", " 200 -1 1 1 1 1 1 1 -1 -1\n").replace(" 60\n", " 60 -1 1 1 1 1 1 1 -1 -1\n")
/// #     .replace(" 9\n", " 9 -1 1 1 1 1 1 1 -1 -1\n");
/// # let source = source::decompress_log(Box::new(std::io::Cursor::new(log.into_bytes())), "log.swf".into())?;
/// let loaded = load_from(source, "log", &CleaningOptions { records: true, ..CleaningOptions::default() })?;
/// let records = loaded.records.expect("asked for");
/// let state = recorded::RecordedState::from_records(&loaded.workload, &records);
/// let window = transform::cut_window(&loaded.workload, Time(60), |job| state.state_at(job, Time(60)))?;
/// let beginning = window.circumstances().expect("a busy beginning");
/// assert_eq!((window.len(), beginning.here.len(), beginning.begin), (3, 1, Some(Time(60))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordedState<'a> {
    workload: &'a Workload,
    starts: Vec<Option<Time>>,
}

impl<'a> RecordedState<'a> {
    /// Of the jobs of a workload and their records, which are in the same order. The times of the
    /// workload must be those of the log.
    #[must_use]
    pub fn from_records(workload: &'a Workload, records: &[SwfRecord]) -> RecordedState<'a> {
        let start = |(job, record): (&crate::model::Job, &SwfRecord)| {
            let wait = record.wait.round();
            (wait >= 0).then(|| job.submit + Span(wait))
        };
        RecordedState { workload, starts: workload.jobs().iter().zip(records).map(start).collect() }
    }

    /// Returns the start of a job; `None` where the log does not record it.
    #[must_use]
    pub fn job_start(&self, job: JobId) -> Option<Time> {
        self.starts.get(job.index()).copied().flatten()
    }

    /// Returns the number of jobs submitted before a time without a recorded start, and the number
    /// of all jobs submitted before it.
    #[must_use]
    pub fn unknown_before(&self, time: Time) -> (usize, usize) {
        let before = self.workload.jobs().partition_point(|job| job.submit < time);
        (self.starts[..before].iter().filter(|start| start.is_none()).count(), before)
    }

    /// Returns the state of a job at a time; `None` if it had gone.
    #[must_use]
    pub fn state_at(&self, job: JobId, time: Time) -> Option<Adopted> {
        let start = self.job_start(job).unwrap_or(self.workload.job(job).submit);
        let end = start + self.workload.truth()[job.index()].run;
        match (start < time, end < time) {
            (false, _) => Some(Adopted::Waiting),
            (true, false) => Some(Adopted::Running { since: start, on: None }),
            (true, true) => None,
        }
    }
}

/// Recorded dependencies between jobs (fields 17 and 18), with counts.
#[derive(Clone, Debug)]
pub struct Dependencies {
    /// Dependency of each dependent job: the job of field 17 has to end, its user thinks for the
    /// time of field 18, and it arrives. Where the log has no think time, it is what passed between
    /// the recorded end of the one and the submit of the other.
    pub after: BTreeMap<JobId, DependsOn>,
    /// Records whose field 17 names a job that the workload does not have: they arrive when they
    /// did.
    pub unknown: u64,
    /// Records without a think time.
    pub guessed: u64,
}

impl Dependencies {
    /// Of the jobs of a workload and their records, which are in the same order. `file` stands in
    /// errors.
    ///
    /// # Errors
    /// Jobs that depend on each other in a circle, with the line of one of them.
    pub fn from_records(workload: &Workload, records: &[SwfRecord], file: &str) -> Result<Dependencies, LogError> {
        let mut numbers: HashMap<i64, JobId> = HashMap::new();
        for (at, record) in records.iter().enumerate() {
            numbers.entry(record.number).or_insert(JobId(at as u32));
        }
        let recorded_state = RecordedState::from_records(workload, records);
        let mut dependencies = Dependencies { after: BTreeMap::new(), unknown: 0, guessed: 0 };
        for (at, record) in records.iter().enumerate().filter(|(_, record)| record.preceding > 0) {
            let (job, Some(&before)) = (JobId(at as u32), numbers.get(&record.preceding)) else {
                dependencies.unknown += 1;
                continue;
            };
            let think = match record.think_time.round() {
                think @ 0.. => Span(think),
                _ => {
                    dependencies.guessed += 1;
                    let start = recorded_state.job_start(before).unwrap_or(workload.job(before).submit);
                    let end = start + workload.truth()[before.index()].run;
                    (workload.job(job).submit - end).max(Span::ZERO)
                }
            };
            dependencies.after.insert(job, DependsOn { jobs: vec![before], think, then: DependencyEffect::Arrives });
        }
        let circumstances = Circumstances { after: dependencies.after.clone(), ..Circumstances::default() };
        match circumstances.check_jobs(workload.machine(), workload.jobs(), workload.truth()) {
            Ok(()) => Ok(dependencies),
            Err(source) => {
                let line = records.get(source.job.index()).map_or(0, |record| record.line);
                Err(LogError::Circumstance { file: Arc::from(file), line, source })
            }
        }
    }
}
