//! From a simulated schedule to an instance, and from starts to a schedule.

use crate::capacity::CapacitySteps;
use crate::instance::{Impossible, Instance};
use crate::measure::{DelayMeasure, DelayWeight, HeadroomTask};
use crate::schedule::TaskSchedule;
use drystone::engine::{Levels, Observer};
use drystone::metrics::{JobRow, JobSelection};
use drystone::model::{Adopted, Circumstances, EndedJob, JobId, JobOutcome, OutageHit, Outages, Span, Time, Workload};
use drystone::policy::StartReason;
use std::collections::BTreeSet;
use std::fmt;

/// Times beyond this many seconds are none of a workload.
const FAR: i64 = 1 << 41;

/// Reason why no floor is common to all schedules of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refused {
    /// Submit times depend on the schedule.
    Feedback,
    /// The set of jobs that run, and their run times, depend on the schedule.
    Withdrawn(i64),
    /// A job is suspended at the first instant.
    Suspended(i64),
    /// The set of jobs that count depends on the schedule.
    Trim(JobSelection),
    /// A job did not run as long as it would have.
    Cut(i64),
    NoneCounts,
    Impossible(Impossible),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Feedback => f.write_str(
                "jobs arrive when others have ended, so that each schedule has submit times of its own and no floor is common \
                 to them: leave out --feedback",
            ),
            Refused::Withdrawn(job) => write!(
                f,
                "job {job} is withdrawn at a fixed time, so that it depends on the schedule how long it runs and no floor is \
                 common to them: leave such jobs out, for a site with drystone import --withdraw drop"
            ),
            Refused::Suspended(job) => write!(
                f,
                "job {job} is suspended at the first instant, and the floor is one of jobs that run once: begin at another time"
            ),
            Refused::Trim(selection) => write!(
                f,
                "the set of counted jobs depends on the schedule with --trim {selection}, so no floor is common to \
                 all schedules: use all, \
                 completed, submitted(FROM,UNTIL) or window(WARM_UP,COOL_DOWN)"
            ),
            Refused::Cut(job) => write!(
                f,
                "job {job} was ended before its time, so that run times depend on the schedule and no floor is common to them: \
                 use --overrun run-on or exact, and outages that requeue or drain"
            ),
            Refused::NoneCounts => f.write_str("no job counts, so there is nothing to bracket"),
            Refused::Impossible(problem) => problem.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

/// The jobs of a workload as an instance, by a schedule that was simulated.
#[derive(Clone, Debug)]
pub struct HeadroomCase {
    /// The jobs, the machine, what delays cost.
    pub instance: Instance,
    pub measure: DelayMeasure,
    /// Number of jobs that count.
    pub counted: u64,
    /// Divisor of sums: jobs, or their area.
    divisor: f64,
    /// The first submit, processors and run time of each job.
    jobs: Vec<(JobId, Time, u32, Span)>,
}

impl HeadroomCase {
    /// The instance of these rows, in order of arrival: submit times, sizes and run times are as
    /// they were simulated. Jobs that do not count cost nothing. Those that ran at the first
    /// instant hold their processors until they end; drained processors are gone once no job can
    /// run on there.
    ///
    /// # Errors
    /// Jobs or measures that depend on the schedule.
    pub fn from_rows(
        workload: &Workload,
        rows: &[JobRow],
        (outages, feedback): (&Outages, bool),
        (measure, selection): (DelayMeasure, JobSelection),
    ) -> Result<HeadroomCase, Refused> {
        let no_circumstances = Circumstances::default();
        let circumstances = workload.circumstances().unwrap_or(&no_circumstances);
        check_supported(workload, rows, circumstances, feedback, selection)?;
        let bound: BTreeSet<JobId> = circumstances
            .after
            .iter()
            .flat_map(|(&job, after)| after.jobs.iter().copied().chain([job]))
            .chain(circumstances.throttles.iter().flat_map(|throttle| throttle.jobs.iter().copied()))
            .chain(circumstances.limits.jobs())
            .collect();
        // The floor counts processors alone. A schedule that is moved about would have to count the
        // rest as well.
        let beyond = workload.resources().is_some_and(|table| table.has_resources() || table.node_fill().is_some());
        let longest = rows.iter().map(|row| row.ran.0).max().unwrap_or(0);
        let mut reductions: Vec<(i64, i64, u32)> = outages
            .list()
            .iter()
            .map(|outage| {
                let drain_time = if outage.hit == OutageHit::Drain { longest } else { 0 };
                (outage.begin.0 + drain_time, outage.end_time().0.min(FAR), outage.procs())
            })
            .collect();
        let begin = circumstances.begin.map_or(-FAR, |begin| begin.0);
        let mut tasks = Vec::with_capacity(rows.len());
        for row in rows {
            let (submit, run) = (row.submit.0, row.ran.0);
            let ran_then = matches!(circumstances.here.get(&row.id), Some(Adopted::Running { .. }));
            let task = if ran_then {
                reductions.push((-FAR, row.end.0, row.procs));
                let settled_delay = (row.wait().0 - measure.grace_period(run)).max(0);
                HeadroomTask {
                    release: row.start.0,
                    run: 0,
                    grace: 0,
                    settled: settled_delay,
                    fixed: true,
                    ..measure.make_task(submit, row.procs, run)
                }
            } else {
                let eligible = circumstances.eligible.get(&row.id).map_or(submit, |time| time.0);
                let release = submit.max(eligible).max(begin);
                let task = measure.task_from(submit, release, row.procs, run);
                HeadroomTask { fixed: beyond || bound.contains(&row.id) || !row.counted, ..task }
            };
            tasks.push(if row.counted { task } else { HeadroomTask { weight: DelayWeight::NONE, ..task } });
        }
        let counted_rows = || rows.iter().filter(|row| row.counted);
        let jobs = counted_rows().count() as u64;
        let divisor = match measure {
            DelayMeasure::Wait | DelayMeasure::BoundedSlowdown => jobs as f64,
            DelayMeasure::AreaWait => counted_rows().map(|row| f64::from(row.procs) * row.ran.as_f64()).sum(),
        };
        if divisor == 0.0 {
            return Err(Refused::NoneCounts);
        }
        let capacity = CapacitySteps::with_reductions(workload.machine().procs, &reductions);
        let instance = Instance::new(capacity, tasks).map_err(Refused::Impossible)?;
        Ok(HeadroomCase { instance, measure, counted: jobs, divisor, jobs: rows.iter().map(job_identity).collect() })
    }

    /// A sum over all jobs as the measure has it: its mean. Bounded slowdowns are at least 1.
    pub fn mean_measure(&self, sum: f64) -> f64 {
        let least = if self.measure == DelayMeasure::BoundedSlowdown { 1.0 } else { 0.0 };
        least + sum / self.divisor
    }

    /// Returns the divisor of [`HeadroomCase::mean_measure`].
    pub fn divisor(&self) -> f64 {
        self.divisor
    }

    /// The mean of the measure under a schedule of the same jobs, whether or not jobs were
    /// suspended.
    pub fn judge_schedule(&self, rows: &[JobRow]) -> f64 {
        let sum = rows.iter().filter(|row| row.counted).map(|row| {
            let (run, wait) = (row.ran.0, row.wait().0);
            self.measure.delay_weight(row.procs, run).as_f64() * (wait - self.measure.grace_period(run)).max(0) as f64
        });
        self.mean_measure(sum.sum())
    }

    /// Returns the number of jobs of a schedule that differ from those of this case: by submit,
    /// size and run time. The floor says nothing of it unless this is 0.
    pub fn count_differing(&self, rows: &[JobRow]) -> usize {
        let mismatches = self.jobs.iter().zip(rows).filter(|(job, row)| **job != job_identity(row)).count();
        mismatches + self.jobs.len().abs_diff(rows.len())
    }

    /// The bytes that stand for the jobs in fingerprints: id, submit, processors, run time.
    pub fn job_bytes(&self) -> impl Iterator<Item = [u8; 32]> {
        self.jobs.iter().map(|&(id, submit, procs, run)| {
            let mut bytes = [0; 32];
            let values = [i64::from(id.0), submit.0, i64::from(procs), run.0];
            bytes.chunks_exact_mut(8).zip(values).for_each(|(at, value)| at.copy_from_slice(&value.to_le_bytes()));
            bytes
        })
    }

    /// The starts of a simulated schedule; `None` where it is none that runs every job once within
    /// this capacity.
    pub fn extract_starts(&self, rows: &[JobRow]) -> Option<TaskSchedule> {
        let schedule = TaskSchedule { starts: rows.iter().map(|row| row.start.0).collect() };
        let whole = rows.iter().all(|row| row.suspensions == 0);
        (whole && self.count_differing(rows) == 0 && schedule.check_starts(&self.instance).is_ok()).then_some(schedule)
    }

    /// A schedule to begin with where none was simulated that can be: in order of release. `None`
    /// where that cannot be, either.
    pub fn plain_schedule(&self, rows: &[JobRow]) -> Option<TaskSchedule> {
        let schedule = TaskSchedule::in_order(&self.instance);
        let stays = |(task, (start, row)): (&HeadroomTask, (&i64, &JobRow))| !task.fixed || *start == row.start.0;
        let task_rows = self.instance.tasks().iter().zip(schedule.starts.iter().zip(rows));
        (task_rows.into_iter().all(stays) && schedule.check_starts(&self.instance).is_ok()).then_some(schedule)
    }

    /// These starts as rows of a schedule that knows all run times.
    pub fn schedule_rows(&self, rows: &[JobRow], schedule: &TaskSchedule) -> Vec<JobRow> {
        let new_rows = rows.iter().zip(&schedule.starts).zip(self.instance.tasks()).map(|((row, &start), task)| {
            // One that ran at the first instant takes nothing of the machine that is left, and ran
            // on.
            let ran_on = task.run == 0 && row.ran.0 > 0;
            JobRow {
                start: Time(start),
                end: if ran_on { row.end } else { Time(start + row.ran.0) },
                suspensions: 0,
                suspended: Span::ZERO,
                overhead: Span::ZERO,
                first_reservation: None,
                promised: None,
                first_prediction: row.ran,
                corrections: 0,
                accuracy: Some(1.0),
                requeues: 0,
                ..row.clone()
            }
        });
        new_rows.collect()
    }
}

fn job_identity(row: &JobRow) -> (JobId, Time, u32, Span) {
    (row.id, row.submit, row.procs, row.ran)
}

fn check_supported(
    workload: &Workload,
    rows: &[JobRow],
    circumstances: &Circumstances,
    feedback: bool,
    selection: JobSelection,
) -> Result<(), Refused> {
    let number = |job: JobId| workload.truth()[job.index()].number;
    if feedback {
        return Err(Refused::Feedback);
    }
    if selection == JobSelection::Tsafrir {
        return Err(Refused::Trim(selection));
    }
    if let Some(withdrawal) = circumstances.withdrawn.first() {
        return Err(Refused::Withdrawn(number(withdrawal.job)));
    }
    let suspended_job = circumstances.here.iter().find(|(_, adoption)| matches!(adoption, Adopted::Suspended { .. }));
    if let Some((&job, _)) = suspended_job {
        return Err(Refused::Suspended(number(job)));
    }
    // A record that says "the machine failed" has that run time under every schedule.
    let cut = |row: &&JobRow| row.ran != workload.truth()[row.id.index()].run;
    match rows.iter().find(cut) {
        Some(row) => Err(Refused::Cut(row.number)),
        None => Ok(()),
    }
}

/// Events of an instant, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Ends,
    Arrives,
    Starts,
    /// It runs for no time.
    StartsAndEnds,
}

/// Tells an observer what a simulation with these rows would have told: arrivals, starts, ends and
/// levels.
pub fn replay_rows(workload: &Workload, rows: &[JobRow], outages: &Outages, observer: &mut impl Observer) {
    let mut events: Vec<(Time, Happens, usize)> = Vec::with_capacity(3 * rows.len());
    for (at, row) in rows.iter().enumerate() {
        events.push((row.submit, Happens::Arrives, at));
        if row.end > row.start {
            events.push((row.start, Happens::Starts, at));
            events.push((row.end, Happens::Ends, at));
        } else {
            events.push((row.start, Happens::StartsAndEnds, at));
        }
    }
    events.sort_unstable();
    let procs = i64::from(workload.machine().procs);
    let out = outages.list().iter().map(|outage| (outage.begin.0, outage.end_time().0.min(FAR), outage.procs()));
    let capacity = CapacitySteps::with_reductions(workload.machine().procs, &out.collect::<Vec<_>>());
    let (mut used_procs, mut running_jobs, mut waiting_jobs, mut waiting_procs) = (0_i64, 0_u32, 0_u32, 0_u64);
    let mut at = 0;
    while at < events.len() {
        let now = events[at].0;
        while let Some(&(_, happens, which)) = events.get(at).filter(|event| event.0 == now) {
            let row = &rows[which];
            let ends = |observer: &mut dyn FnMut(&EndedJob<'_>)| observer(&ended_job(workload, row, &job_outcome(row)));
            match happens {
                Happens::Arrives => {
                    (waiting_jobs, waiting_procs) = (waiting_jobs + 1, waiting_procs + u64::from(row.procs));
                    observer.note_arrival(now, row.id);
                }
                Happens::Starts | Happens::StartsAndEnds => {
                    waiting_jobs = waiting_jobs.saturating_sub(1);
                    waiting_procs = waiting_procs.saturating_sub(u64::from(row.procs));
                    observer.note_start(now, row.id, StartReason::Planned);
                    if happens == Happens::Starts {
                        (used_procs, running_jobs) = (used_procs + i64::from(row.procs), running_jobs + 1);
                    } else {
                        ends(&mut |ended| observer.note_end(ended));
                    }
                }
                Happens::Ends => {
                    (used_procs, running_jobs) = (used_procs - i64::from(row.procs), running_jobs.saturating_sub(1));
                    ends(&mut |ended| observer.note_end(ended));
                }
            }
            at += 1;
        }
        let available_procs = capacity.procs_at(now.0).clamp(0, procs);
        let free = u32::try_from((available_procs - used_procs).max(0)).unwrap_or(0);
        let mut levels = Levels::new(free, running_jobs).with_waiting(waiting_jobs, waiting_procs);
        levels.down = u32::try_from(procs - available_procs).unwrap_or(0);
        observer.note_settlement(now, levels);
    }
}

fn job_outcome(row: &JobRow) -> JobOutcome {
    JobOutcome {
        start: row.start,
        end: row.end,
        ran: row.ran,
        first_prediction: row.first_prediction,
        held: row.held,
        how: row.ended,
        ..JobOutcome::default()
    }
}

fn ended_job<'a>(workload: &'a Workload, row: &JobRow, outcome: &'a JobOutcome) -> EndedJob<'a> {
    EndedJob { id: row.id, job: workload.job(row.id), truth: &workload.truth()[row.id.index()], outcome }
}
