//! A workload: jobs in order of arrival, the truth about each, the machine, and where all of it
//! came from.

use super::{
    CircumstanceError, Circumstances, DemandId, Job, JobId, Machine, Procs, ResourceTable, Span, Time, Truth,
    WorkloadShapes,
};
use crate::parts::NodeFloor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A named setting that helped to determine a workload or a result, as text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Setting {
    /// Name of the setting, e.g. `overrun`.
    pub name: String,
    /// Value of the setting, e.g. `kill`.
    pub value: String,
}

/// Origin of a workload, recorded in every output.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// A name for people: the log's file name without its endings, or the generator and its seed.
    pub name: String,
    /// Everything that shaped it, in the order applied: size field, overrun, load factor, slice, …
    pub settings: Vec<Setting>,
    /// Unix time of `Time::ZERO`, where the log's header gives `UnixStartTime`.
    pub unix_start: Option<i64>,
    /// Offset of local time from UTC in seconds, where the header gives `TimeZone`.
    pub utc_offset: Option<i32>,
    /// IANA name of the time zone, where the header gives `TimeZoneString`.
    pub time_zone: Option<String>,
    /// Changes of the log's own times, in the order applied.
    #[serde(skip)]
    pub moves: Vec<TimeMove>,
}

/// A change of all times of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeMove {
    /// Earlier by so much.
    Earlier(Span),
    /// Divided by `digits / 10^decimals`, rounded down.
    Divided {
        /// The digits of the factor, without its point.
        digits: u64,
        /// Number of those behind the point.
        decimals: u32,
    },
}

impl TimeMove {
    /// Returns where a time comes to lie.
    #[must_use]
    pub fn apply(self, time: Time) -> Time {
        match self {
            TimeMove::Earlier(by) => Time(time.0.saturating_sub(by.0)),
            TimeMove::Divided { digits, decimals } => {
                let scaled_time = i128::from(time.0) * 10i128.pow(decimals);
                let quotient = scaled_time.div_euclid(i128::from(digits.max(1)));
                Time(i64::try_from(quotient).unwrap_or(if quotient < 0 { i64::MIN + 1 } else { i64::MAX }))
            }
        }
    }
}

/// Jobs in order of arrival on a machine. `jobs[i]` and `truth[i]` belong together; `i` is the
/// [`JobId`].
///
/// ```
/// use drystone_engine::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
///
/// let jobs = vec![Job::new(Time(100), 3, Span(80)), Job::new(Time(0), 4, Span(50))];
/// let truth = [(60, 1), (50, 2)].map(|(run, number)| Truth { run: Span(run), number, status: LogStatus::Completed });
/// let workload = Workload::new(Machine::new(4), jobs, truth.to_vec(), Provenance::default())?;
///
/// // Jobs are in order of arrival, each with its truth.
/// assert_eq!((workload.jobs()[0].submit, workload.truth()[0].number), (Time(0), 2));
/// // 3 · 60 + 4 · 50 processor-seconds of the 400 between the submits.
/// assert_eq!(workload.offered_load(), Some(0.95));
/// # Ok::<(), drystone_engine::model::WorkloadError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    machine: Machine,
    jobs: Vec<Job>,
    truth: Vec<Truth>,
    /// Resources of the machine beyond processors; most have none that are counted.
    resources: Option<Arc<ResourceTable>>,
    /// Knowledge beyond the jobs; most workloads have none.
    circumstances: Option<Box<Circumstances>>,
    /// Sizes of jobs that may have several, and power; most workloads have none.
    shapes: Option<Arc<WorkloadShapes>>,
    /// Origin of the workload.
    pub provenance: Provenance,
}

/// Reason why jobs do not form a workload.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The machine has no processor.
    #[error("a machine needs at least one processor")]
    NoProcessors,
    /// More jobs than can be numbered.
    #[error("{0} jobs are more than the {max} that one workload can hold", max = u32::MAX)]
    TooManyJobs(usize),
    /// Jobs and truths differ in number.
    #[error("{jobs} jobs but {truths} run times")]
    Unpaired {
        /// Number of jobs.
        jobs: usize,
        /// Number of truths.
        truths: usize,
    },
    /// A job is impossible on this machine, or has a negative time.
    #[error("job {number}: {problem}")]
    BadJob {
        /// The log's number of the job.
        number: i64,
        /// Description of the mistake.
        problem: String,
    },
    /// The nodes have other processors than the machine.
    #[error(
        "the nodes have {nodes} processors in all, and the machine has {procs}; describe all of its nodes, and no others"
    )]
    OtherNodes {
        /// Processors of the machine.
        procs: Procs,
        /// Processors of the nodes.
        nodes: Procs,
    },
    /// Circumstances that these jobs cannot have.
    #[error(transparent)]
    Circumstances(#[from] CircumstanceError),
}

impl Workload {
    /// Puts jobs in order of arrival (stably by submit) and checks them against the machine.
    ///
    /// # Errors
    /// A machine without processors; a job without processors, wider than the machine, with a
    /// negative estimate or run time, or with a time beyond ±2⁴⁰ s; unequal numbers of jobs and
    /// truths; more than `u32::MAX` jobs.
    ///
    /// A job that asks for more than processors: such jobs come with a table
    /// ([`Workload::with_resources`]).
    ///
    /// Cost: O(n log n), O(n) when already in order.
    pub fn new(
        machine: Machine,
        jobs: Vec<Job>,
        truth: Vec<Truth>,
        provenance: Provenance,
    ) -> Result<Workload, WorkloadError> {
        Workload::with_resources(machine, None, jobs, truth, provenance)
    }

    /// Makes a workload on a machine with resources beyond processors, if a table is given.
    ///
    /// # Errors
    /// As [`Workload::new`]; a job that asks for more of a resource than the machine has, or for a
    /// demand that the table does not have.
    ///
    /// Cost: as [`Workload::new`].
    pub fn with_resources(
        machine: Machine,
        resources: Option<Arc<ResourceTable>>,
        jobs: Vec<Job>,
        truth: Vec<Truth>,
        provenance: Provenance,
    ) -> Result<Workload, WorkloadError> {
        if machine.procs == 0 {
            return Err(WorkloadError::NoProcessors);
        }
        if jobs.len() != truth.len() {
            return Err(WorkloadError::Unpaired { jobs: jobs.len(), truths: truth.len() });
        }
        if u32::try_from(jobs.len()).is_err() {
            return Err(WorkloadError::TooManyJobs(jobs.len()));
        }
        let beyond = |job: &Job| match &resources {
            None => job.unserved_problem(),
            Some(table) => table.demand_problem(job.demand),
        };
        for (job, truth) in jobs.iter().zip(&truth) {
            if let Some(problem) = job.machine_problem(machine).or_else(|| truth.run_problem()).or_else(|| beyond(job))
            {
                return Err(WorkloadError::BadJob { number: truth.number, problem });
            }
        }
        if let Some(table) = &resources {
            check_nodes(machine, table, &jobs, &truth)?;
        }
        let (jobs, truth) = in_arrival_order(jobs, truth);
        Ok(Workload { machine, jobs, truth, resources, circumstances: None, shapes: None, provenance })
    }

    /// Sets the circumstances of the jobs, instead of those that they had.
    ///
    /// # Errors
    /// Jobs that are none of these; times before a job's submit; jobs that are here before they
    /// were submitted or after they have ended, or two on one processor; jobs that wait for each
    /// other in a circle.
    ///
    /// Cost: O(c log c) for c circumstances.
    pub fn with_circumstances(mut self, circumstances: Circumstances) -> Result<Workload, WorkloadError> {
        circumstances.check_sized(self.machine, &self.jobs, &self.truth, self.shapes.as_deref())?;
        self.circumstances = (!circumstances.is_empty()).then(|| Box::new(circumstances));
        Ok(self)
    }

    /// Returns the circumstances of the jobs; `None` where there are none.
    #[must_use]
    pub fn circumstances(&self) -> Option<&Circumstances> {
        self.circumstances.as_deref()
    }

    /// Returns the machine's resources beyond processors, with the demands of the jobs; `None`
    /// where only processors are counted.
    #[must_use]
    pub fn resources(&self) -> Option<&Arc<ResourceTable>> {
        self.resources.as_ref()
    }

    /// Returns the workload with another table of resources: its own one with other changes of
    /// supply ([`ResourceTable::with_supply`]).
    #[must_use]
    pub fn with_supply_of(self, table: ResourceTable) -> Workload {
        Workload { resources: Some(Arc::new(table)), ..self }
    }

    /// Returns the shapes of the jobs; `None` where every job has one size and power is unlimited.
    #[must_use]
    pub fn shapes(&self) -> Option<&Arc<WorkloadShapes>> {
        self.shapes.as_ref()
    }

    /// Sets the shapes of the jobs, instead of those that they had.
    #[must_use]
    pub fn with_shapes(self, shapes: Option<Arc<WorkloadShapes>>) -> Workload {
        Workload { shapes, ..self }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Jobs in order of arrival.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The truth about each job, in the same order.
    #[must_use]
    pub fn truth(&self) -> &[Truth] {
        &self.truth
    }

    /// Number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns whether there is no job at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// One job.
    #[must_use]
    pub fn job(&self, id: JobId) -> &Job {
        &self.jobs[id.index()]
    }

    /// The first and the last submit; `None` without jobs.
    #[must_use]
    pub fn submit_range(&self) -> Option<(Time, Time)> {
        Some((self.jobs.first()?.submit, self.jobs.last()?.submit))
    }

    /// Offered load: processor-seconds of work per processor-second between the first and the last
    /// submit. `None` without jobs or where all arrive at once.
    #[must_use]
    pub fn offered_load(&self) -> Option<f64> {
        let (first, last) = self.submit_range()?;
        let span = (last - first).as_f64();
        let work: f64 = self.jobs.iter().zip(&self.truth).map(|(j, t)| f64::from(j.procs) * t.run.as_f64()).sum();
        (span > 0.0).then(|| work / (span * f64::from(self.machine.procs)))
    }

    /// Takes the workload apart, to build a changed one with [`Workload::new`], or with
    /// [`Workload::with_resources`] where it has [resources](Workload::resources). These, and what
    /// it [has beyond](Workload::circumstances), and its [shapes](Workload::shapes), are not among
    /// the parts.
    #[must_use]
    pub fn into_parts(self) -> (Machine, Vec<Job>, Vec<Truth>, Provenance) {
        (self.machine, self.jobs, self.truth, self.provenance)
    }
}

/// Checks that the nodes are the machine, and that each job fits on them when no other runs.
fn check_nodes(machine: Machine, table: &ResourceTable, jobs: &[Job], truth: &[Truth]) -> Result<(), WorkloadError> {
    let Some(floor) = NodeFloor::from_table(table) else { return Ok(()) };
    if floor.procs() != machine.procs {
        return Err(WorkloadError::OtherNodes { procs: machine.procs, nodes: floor.procs() });
    }
    let mut checked_needs: BTreeSet<(DemandId, Procs)> = BTreeSet::new();
    for (job, truth) in jobs.iter().zip(truth) {
        if checked_needs.insert((job.demand, job.procs))
            && let Some(problem) = floor.find_problem(job, table)
        {
            return Err(WorkloadError::BadJob { number: truth.number, problem });
        }
    }
    Ok(())
}

fn in_arrival_order(jobs: Vec<Job>, truth: Vec<Truth>) -> (Vec<Job>, Vec<Truth>) {
    if jobs.is_sorted_by_key(|j| j.submit) {
        return (jobs, truth);
    }
    let mut order: Vec<u32> = (0..jobs.len() as u32).collect();
    order.sort_by_key(|&i| jobs[i as usize].submit);
    (
        order.iter().map(|&i| jobs[i as usize].clone()).collect(),
        order.iter().map(|&i| truth[i as usize].clone()).collect(),
    )
}
