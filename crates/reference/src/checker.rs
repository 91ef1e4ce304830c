//! Is this a schedule at all, and does it keep its promises? Asked without knowing how it was made.

use crate::{JobIn, JobOut};
use std::collections::BTreeMap;
use std::fmt;

/// A job running without interruption during `[start, end)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NaiveSegment {
    /// Index of the job in order of arrival.
    pub job: usize,
    /// Time of the start or resumption.
    pub start: i64,
    /// Time of the suspension or end.
    pub end: i64,
    /// Processors that it runs on, where the schedule names them.
    pub processors: Option<Vec<u32>>,
}

/// One thing that is wrong with a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NaiveViolation {
    /// More processors in use than the machine has, from this time on.
    OverCapacity {
        /// Start time.
        at: i64,
        /// Processors in use then.
        used: i64,
    },
    /// More of a resource in use than the machine has, from this time on.
    OverResource {
        /// Index of the resource.
        resource: usize,
        /// Start time.
        at: i64,
        /// Amount in use then.
        used: i64,
    },
    /// Two jobs on one processor.
    SharedProcessor {
        processor: u32,
        /// The job there first.
        first: usize,
        /// The job that starts before the first has gone.
        second: usize,
    },
    /// A segment's processors are too few, too many, not of the machine, or named twice.
    WrongProcessors { job: usize },
    /// A job runs before it arrives.
    TooEarly { job: usize, start: i64 },
    /// A job never runs.
    NeverStarted { job: usize },
    /// A job's run time received is not its run time due: ended too early, too late, or more than
    /// once.
    WrongRunTime { job: usize, received: i64, due: i64 },
    /// Two segments of a job overlap.
    Overlap { job: usize },
    /// A segment ends before it starts.
    Backwards { job: usize },
    /// A segment of a job that does not exist.
    UnknownJob {
        /// The index.
        job: usize,
    },
    /// A job resumes on other processors than it was suspended on (a schedule that does not
    /// migrate).
    Migrated { job: usize },
    /// A job starts after the time it was promised.
    BrokenPromise {
        job: usize,
        start: i64,
        /// The promise.
        promised: i64,
    },
}

impl NaiveViolation {
    /// Returns a sentence about it, with the number that `number` gives to a job's index.
    pub fn describe_violation(&self, number: &dyn Fn(usize) -> usize) -> String {
        let job = |index: &usize| format!("job {}", number(*index));
        match self {
            NaiveViolation::OverCapacity { at, used } => {
                format!("{used} processors are in use at {at}, more than the machine has")
            }
            NaiveViolation::OverResource { resource, at, used } => {
                format!("{used} of resource {resource} are in use at {at}, more than the machine has")
            }
            NaiveViolation::SharedProcessor { processor, first, second } => {
                format!("{} starts on processor {processor}, which {} still has", job(second), job(first))
            }
            NaiveViolation::WrongProcessors { job: index } => {
                format!("{} has other processors than it needs, or some that the machine lacks", job(index))
            }
            NaiveViolation::TooEarly { job: index, start } => {
                format!("{} starts at {start}, before it arrives", job(index))
            }
            NaiveViolation::NeverStarted { job: index } => format!("{} never starts", job(index)),
            NaiveViolation::WrongRunTime { job: index, received, due } => {
                format!("{} runs {received} s and is due {due} s", job(index))
            }
            NaiveViolation::Overlap { job: index } => format!("{} runs twice at one time", job(index)),
            NaiveViolation::Backwards { job: index } => format!("{} ends before it starts", job(index)),
            NaiveViolation::UnknownJob { job: index } => format!("{} runs and does not exist", job(index)),
            NaiveViolation::Migrated { job: index } => {
                format!("{} resumes on other processors than it was suspended on", job(index))
            }
            NaiveViolation::BrokenPromise { job: index, start, promised } => {
                format!("{} was promised {promised} and started at {start}", job(index))
            }
        }
    }
}

/// Jobs have the numbers of their places, from 1.
impl fmt::Display for NaiveViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe_violation(&|index| index + 1))
    }
}

/// The segments of a schedule without suspensions.
pub fn list_segments(schedule: &[JobOut]) -> Vec<NaiveSegment> {
    let segment = |(job, out): (usize, &JobOut)| NaiveSegment { job, start: out.start, end: out.end, processors: None };
    schedule.iter().enumerate().map(segment).collect()
}

/// Everything that is wrong with a schedule on a machine of this many processors: the invariants
/// that hold whatever the policy. A job's run time due is [`JobIn::run`].
///
/// # Errors
/// All violations found; each job and each processor is reported at most once per kind.
pub fn check_schedule(machine: i64, jobs: &[JobIn], segments: &[NaiveSegment]) -> Result<(), Vec<NaiveViolation>> {
    let mut wrong: Vec<NaiveViolation> = Vec::new();
    let mut of_job: Vec<Vec<&NaiveSegment>> = vec![Vec::new(); jobs.len()];
    for segment in segments {
        match of_job.get_mut(segment.job) {
            Some(list) => list.push(segment),
            None => wrong.push(NaiveViolation::UnknownJob { job: segment.job }),
        }
    }
    for (job, list) in of_job.iter_mut().enumerate() {
        list.sort_by_key(|s| (s.start, s.end));
        check_job(machine, job, &jobs[job], list, &mut wrong);
    }
    let known_segments = || segments.iter().filter(|s| s.job < jobs.len());
    let over = find_overdraws(machine, known_segments(), |s| jobs[s.job].procs);
    wrong.extend(over.into_iter().map(|(at, amount)| NaiveViolation::OverCapacity { at, used: amount }));
    check_processors(known_segments(), &mut wrong);
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn check_job(machine: i64, job: usize, due: &JobIn, list: &[&NaiveSegment], wrong: &mut Vec<NaiveViolation>) {
    let Some(first) = list.first() else {
        wrong.push(NaiveViolation::NeverStarted { job });
        return;
    };
    if first.start < due.submit {
        let start = first.start;
        wrong.push(NaiveViolation::TooEarly { job, start });
    }
    if list.iter().any(|s| s.end < s.start) {
        wrong.push(NaiveViolation::Backwards { job });
    }
    if list.windows(2).any(|pair| pair[0].end > pair[1].start) {
        wrong.push(NaiveViolation::Overlap { job });
    }
    let run_sum: i64 = list.iter().map(|s| s.end - s.start).sum();
    // A job of no run time has exactly one, empty segment: a second one would be a second end.
    if run_sum != due.run || (due.run == 0 && list.len() > 1) {
        let due = due.run;
        wrong.push(NaiveViolation::WrongRunTime { job, received: run_sum, due });
    }
    let proper = |set: &Vec<u32>| {
        let mut distinct = set.clone();
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len() == set.len() && set.len() as i64 == due.procs && set.iter().all(|&p| i64::from(p) < machine)
    };
    if !list.iter().filter_map(|s| s.processors.as_ref()).all(proper) {
        wrong.push(NaiveViolation::WrongProcessors { job });
    }
}

/// Instants at which more comes into use than there is, with what is in use, by a sweep over all
/// starts and ends; at equal times ends come first.
fn find_overdraws<'a>(
    has: i64,
    segments: impl Iterator<Item = &'a NaiveSegment>,
    ask: impl Fn(&NaiveSegment) -> i64,
) -> Vec<(i64, i64)> {
    let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
    for s in segments.filter(|s| s.start < s.end) {
        *changes.entry(s.start).or_default() += ask(s);
        *changes.entry(s.end).or_default() -= ask(s);
    }
    let mut over = Vec::new();
    let mut usage = 0;
    for (at, change) in changes {
        let was_within = usage <= has;
        usage += change;
        if usage > has && was_within {
            over.push((at, usage));
        }
    }
    over
}

fn check_processors<'a>(segments: impl Iterator<Item = &'a NaiveSegment>, wrong: &mut Vec<NaiveViolation>) {
    let mut on: BTreeMap<u32, Vec<&NaiveSegment>> = BTreeMap::new();
    for segment in segments.filter(|s| s.start < s.end) {
        for &processor in segment.processors.iter().flatten() {
            on.entry(processor).or_default().push(segment);
        }
    }
    for (processor, mut list) in on {
        list.sort_by_key(|s| s.start);
        // A job that overlaps itself is complained about elsewhere.
        let is_shared = |pair: &&[&NaiveSegment]| pair[0].end > pair[1].start && pair[0].job != pair[1].job;
        if let Some(pair) = list.windows(2).find(is_shared) {
            let (first, second) = (pair[0].job, pair[1].job);
            wrong.push(NaiveViolation::SharedProcessor { processor, first, second });
        }
    }
}

/// Checks every resource at every instant: `asks` has what each job holds of each resource while it
/// runs, `machine` how much there is.
///
/// # Errors
/// One violation per resource that is overdrawn, with the first time.
pub fn check_resources(
    machine: &[i64],
    asks: &[Vec<i64>],
    segments: &[NaiveSegment],
) -> Result<(), Vec<NaiveViolation>> {
    let mut wrong = Vec::new();
    for (resource, &has) in machine.iter().enumerate() {
        let over = find_overdraws(has, segments.iter(), |s| asks[s.job][resource]);
        wrong.extend(over.first().map(|&(at, amount)| NaiveViolation::OverResource { resource, at, used: amount }));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Jobs that resume elsewhere than they were suspended; segments without processors are not looked
/// at.
///
/// # Errors
/// One violation per such job.
pub fn check_local_resumption(segments: &[NaiveSegment]) -> Result<(), Vec<NaiveViolation>> {
    let mut sets: BTreeMap<usize, Vec<Vec<u32>>> = BTreeMap::new();
    for segment in segments {
        if let Some(mut set) = segment.processors.clone() {
            set.sort_unstable();
            sets.entry(segment.job).or_default().push(set);
        }
    }
    let moved_jobs = sets.iter().filter(|(_, sets)| sets.iter().any(|set| *set != sets[0]));
    let wrong: Vec<NaiveViolation> = moved_jobs.map(|(&job, _)| NaiveViolation::Migrated { job }).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Starts after promised times. For conservative backfilling the promise is the start planned at
/// submission; for EASY with safe predictions (run time ≤ prediction) and an unchanging head, the
/// first reservation of the head. `None` promises nothing.
///
/// # Errors
/// One violation per job that starts late.
pub fn check_promises(schedule: &[JobOut], promises: &[Option<i64>]) -> Result<(), Vec<NaiveViolation>> {
    let pairs = schedule.iter().zip(promises).enumerate();
    let late = pairs.filter_map(|(job, (out, promise))| {
        let (start, promised_start) = (out.start, (*promise)?);
        (start > promised_start).then_some(NaiveViolation::BrokenPromise { job, start, promised: promised_start })
    });
    let wrong: Vec<NaiveViolation> = late.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
