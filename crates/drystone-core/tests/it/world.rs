//! A small machine, a few jobs, and all events of a simulation.

use drystone_core::engine::{Happenings, Observer, Schedule, Simulation, SimulationError};
use drystone_core::model::{
    Adopted, Circumstances, EndedJob, Job, JobId, LogStatus, Machine, Outage, Outages, ProcSet, Provenance, Span, Time,
    Truth, Which, Workload,
};
use drystone_core::policy::{PolicySpec, StartReason};

/// Jobs by submit, processors, estimate, run time.
pub(crate) fn workload(procs: u32, rows: &[(i64, u32, i64, i64)]) -> Workload {
    let job = |&(submit, procs, estimate, _): &(i64, u32, i64, i64)| Job::new(Time(submit), procs, Span(estimate));
    let truth = |(at, row): (usize, &(i64, u32, i64, i64))| Truth {
        run: Span(row.3),
        number: at as i64 + 1,
        status: LogStatus::Completed,
    };
    let (jobs, truth) = (rows.iter().map(job).collect(), rows.iter().enumerate().map(truth).collect());
    Workload::new(Machine::new(procs), jobs, truth, Provenance::default()).expect("possible")
}

pub(crate) fn count(procs: u32, begin: i64, end: i64) -> Outage {
    Outage::new_failure(Which::Count(procs), Time(begin), Some(Time(end)))
}

pub(crate) fn named(procs: std::ops::Range<u32>, begin: i64, end: i64) -> Outage {
    Outage::new_failure(Which::Named(ProcSet::from_range(procs)), Time(begin), Some(Time(end)))
}

pub(crate) fn outages(workload: &Workload, list: Vec<Outage>) -> Outages {
    Outages::new(workload.machine(), list).expect("possible")
}

/// All events of jobs, in words.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) schedule: Schedule,
    pub(crate) words: Vec<String>,
}

impl Observer for Told {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.words.push(format!("{now} start {}", id.0));
    }
    fn note_adoption(&mut self, now: Time, id: JobId, adoption: &Adopted) {
        self.words.push(format!("{now} adopt {} {adoption:?}", id.0));
    }
    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.words.push(format!("{now} suspend {}", id.0));
    }
    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.words.push(format!("{now} resume {}", id.0));
    }
    fn note_hold(&mut self, now: Time, id: JobId) {
        self.words.push(format!("{now} hold {}", id.0));
    }
    fn note_release(&mut self, now: Time, id: JobId) {
        self.words.push(format!("{now} release {}", id.0));
    }
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, _: Time) {
        self.words.push(format!("{now} reserve {} {start}", id.0));
    }
    fn note_requeue(&mut self, now: Time, id: JobId, _: u32, ran: Span) {
        self.words.push(format!("{now} requeue {} after {ran}", id.0));
    }
    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.words.push(format!("{} lose {} after {}", job.outcome.end, job.id.0, job.outcome.ran));
    }
    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.words.push(format!("{now} cancel {}", id.0));
    }
    fn note_capacity(&mut self, now: Time, foreseen: bool) {
        self.words.push(format!("{now} capacity {foreseen}"));
    }
    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.words.push(format!("{} end {}", job.outcome.end, job.id.0));
        self.schedule.note_end(job);
    }
}

/// A simulation of these jobs in their circumstances.
pub(crate) fn simulate(
    policy: &str,
    workload: &Workload,
    outages: &Outages,
    feedback: bool,
) -> Result<Told, SimulationError> {
    let policy: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{policy}: {e}"));
    let source = Happenings::new(workload, outages, feedback);
    let mut record = Told::default();
    Simulation::new(workload.machine(), policy.build_scheduler(), source).run(&mut record)?;
    Ok(record)
}

/// Start and end of each job that ended.
pub(crate) fn spans(policy: &str, workload: &Workload, list: Vec<Outage>) -> Vec<Option<(i64, i64)>> {
    let record =
        simulate(policy, workload, &outages(workload, list), false).unwrap_or_else(|e| panic!("{policy}: {e}"));
    record.schedule.spans.iter().map(|span| span.map(|(start, end)| (start.0, end.0))).collect()
}

pub(crate) fn with(workload: Workload, set: impl FnOnce(&mut Circumstances)) -> Workload {
    let mut circumstances = Circumstances::default();
    set(&mut circumstances);
    workload.with_circumstances(circumstances).expect("possible")
}
