//! Knowledge of a workload's jobs beyond each by itself: jobs that are here already, that may not
//! start yet, that wait for others, and the ways in which they ended.

use super::{Job, JobId, JobLimits, Machine, ProcSet, Procs, Span, TIME_LIMIT, Time, Truth, WorkloadShapes};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// State of a job at its first announcement to a scheduler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Adopted {
    /// It waits, as any job that arrives; it may have been submitted long ago.
    Waiting,
    /// It waits, but is held back.
    Held,
    /// It runs.
    Running {
        /// Start time.
        since: Time,
        /// Processors, if known.
        on: Option<ProcSet>,
    },
    /// It is suspended, and the policy is to resume it. Only for policies that
    /// [suspend](crate::policy::Abilities) themselves; where another does, adopt the job as a
    /// running one and tell
    /// [`Session::note_interruption`](crate::engine::Session::note_interruption).
    Suspended {
        /// Run time so far.
        ran: Span,
        /// Processors on which it was, and has to resume, if known.
        on: Option<ProcSet>,
    },
}

crate::word_enum! {
    /// Way in which a job has ended.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
    pub enum How {
        /// It completed, or failed by itself.
        #[default]
        Completed = "completed",
        /// It was ended because it had run as long as it was allowed to.
        AtLimit = "at-limit",
        /// Its user or an operator ended it.
        Cancelled = "cancelled",
        /// The machine failed under it.
        MachineFailed = "machine-failed",
        /// It never ran in earnest.
        NotStarted = "not-started",
    }
}

impl How {
    /// Returns whether the time that it ran is a run time, from which predictors may learn.
    #[must_use]
    pub fn is_run_time(self) -> bool {
        matches!(self, How::Completed | How::AtLimit)
    }
}

/// Dependency of a job on others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DependsOn {
    /// All of them have to end first, however they end.
    pub jobs: Vec<JobId>,
    /// Then so much time has to pass: while its user thinks.
    pub think: Span,
    /// Effect of their ends.
    pub then: DependencyEffect,
}

/// Effect on a job when those that it depends on have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DependencyEffect {
    /// It may start. It arrived at its submit time, and was held back.
    Starts,
    /// It arrives: its user submits it upon their results. Only where a simulation feeds back ends
    /// into arrivals; where it replays fixed submit times the job arrives at its own.
    Arrives,
}

/// A limit of how many of some jobs may wait to start or run at a time: the others are held back.
/// The tasks of an array.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Throttle {
    /// Jobs of the throttle.
    pub jobs: Vec<JobId>,
    /// Largest number of them that may run at a time, at least 1.
    pub most: u32,
}

/// A job that leaves before it has ended by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Withdrawal {
    /// Time of the withdrawal.
    pub at: Time,
    /// Job concerned.
    pub job: JobId,
    /// True if it leaves only if it has not started by then; otherwise it runs to its end.
    pub only_waiting: bool,
}

/// Knowledge of a workload's jobs beyond each by itself. Whatever is not mentioned is as it always
/// was: a job arrives at its submit time, may start at once, depends on none, and its run time is
/// one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Circumstances {
    /// The first instant, where the workload is a window cut out of a longer one. Jobs submitted
    /// before are here then: they wait, unless `here` says otherwise.
    pub begin: Option<Time>,
    /// State of the jobs present at the first instant.
    pub here: BTreeMap<JobId, Adopted>,
    /// Before these times jobs may not start. A job that has one is not held any longer, even if it
    /// is [held](Adopted::Held) at the first instant.
    pub eligible: BTreeMap<JobId, Time>,
    /// Dependencies of jobs on others.
    pub after: BTreeMap<JobId, DependsOn>,
    /// Limits of how many of some jobs may be here at a time. No job is in two.
    pub throttles: Vec<Throttle>,
    /// Limits of what jobs have together, and what each takes of them.
    #[serde(default)]
    pub limits: JobLimits,
    /// Jobs that leave before they have ended by themselves, in order of time.
    pub withdrawn: Vec<Withdrawal>,
    /// Way in which jobs end, where that is not [`How::Completed`].
    pub ends: BTreeMap<JobId, How>,
    /// Jobs that no measure counts: how long they would have run is not known, and stands there as
    /// a guess.
    #[serde(default)]
    pub uncounted: BTreeSet<JobId>,
}

/// Circumstances that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("job {number} {problem}")]
pub struct CircumstanceError {
    /// Job concerned.
    pub job: JobId,
    /// The log's number of it.
    pub number: i64,
    /// Description of the failure.
    pub problem: String,
}

impl Circumstances {
    /// Returns whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Circumstances::default()
    }

    /// Returns whether a job arrives at the end of others.
    #[must_use]
    pub fn feeds_back(&self) -> bool {
        self.after.values().any(|after| after.then == DependencyEffect::Arrives)
    }

    /// Checks it against the jobs of a workload, as
    /// [`Workload::with_circumstances`](super::Workload::with_circumstances) does.
    ///
    /// # Errors
    /// As there.
    pub fn check_jobs(&self, machine: Machine, jobs: &[Job], truth: &[Truth]) -> Result<(), CircumstanceError> {
        self.check_sized(machine, jobs, truth, None)
    }

    /// Checks it against jobs that may have several sizes: those that have started before have the
    /// size that the log gives them.
    pub(super) fn check_sized(
        &self,
        machine: Machine,
        jobs: &[Job],
        truth: &[Truth],
        shapes: Option<&WorkloadShapes>,
    ) -> Result<(), CircumstanceError> {
        let named_jobs =
            self.here.keys().chain(self.eligible.keys()).chain(self.after.keys()).chain(self.ends.keys()).copied();
        let prerequisites = self.after.values().flat_map(|after| after.jobs.iter().copied());
        let throttled_jobs = self.throttles.iter().flat_map(|throttle| throttle.jobs.iter().copied());
        let withdrawn = self.withdrawn.iter().map(|withdrawal| withdrawal.job);
        let uncounted_jobs = self.uncounted.iter().copied().chain(self.limits.jobs());
        for job in named_jobs.chain(prerequisites).chain(throttled_jobs).chain(withdrawn).chain(uncounted_jobs) {
            if job.index() >= jobs.len() {
                let problem = format!("is none of the {} jobs", jobs.len());
                return Err(CircumstanceError { job, number: i64::from(job.0) + 1, problem });
            }
        }
        let wrong = |job: JobId, problem: String| {
            let number = truth[job.index()].number;
            Err(CircumstanceError { job, number, problem })
        };
        if let Some((job, problem)) =
            self.wrong_time(jobs).or_else(|| self.wrong_throttle()).or_else(|| self.limits.find_wrong_claims())
        {
            return wrong(job, problem);
        }
        let mut busy = ProcSet::new();
        for (&job, adoption) in &self.here {
            let (facts, run) = (&jobs[job.index()], truth[job.index()].run);
            let recorded_shape = shapes.and_then(|shapes| shapes.recorded_at(job.index()));
            let (procs, run) = recorded_shape.unwrap_or((facts.procs, run));
            if let Some(problem) = self.wrong_here(machine, (facts.submit, procs, run), adoption, &mut busy) {
                return wrong(job, problem);
            }
        }
        if let Some(circle) = self.find_circle() {
            let number = |job: JobId| truth[job.index()].number.to_string();
            let numbers: Vec<String> = circle.iter().map(|&job| number(job)).collect();
            let problem = match numbers.as_slice() {
                [_] => "waits for itself".to_string(),
                chain => format!("waits for itself: {} depend on each other in a circle", chain.join(", ")),
            };
            return wrong(circle[0], problem);
        }
        Ok(())
    }

    fn wrong_time(&self, jobs: &[Job]) -> Option<(JobId, String)> {
        let far = |time: Time| time.0.unsigned_abs() > TIME_LIMIT.unsigned_abs();
        let submit = |job: JobId| jobs[job.index()].submit;
        for (&job, &time) in &self.eligible {
            if far(time) || time < submit(job) {
                return Some((job, format!("may start from {time} on, but is submitted at {}", submit(job))));
            }
        }
        for (&job, after) in &self.after {
            if after.think < Span::ZERO || after.think.0 > TIME_LIMIT {
                return Some((job, format!("has a think time of {}; expected 0 s or more", after.think)));
            }
        }
        let mut last = Time::MIN;
        for withdrawal in &self.withdrawn {
            let Withdrawal { at, job, .. } = *withdrawal;
            if far(at) || at < submit(job) {
                return Some((job, format!("is withdrawn at {at}, but submitted at {}", submit(job))));
            }
            if at < last {
                return Some((
                    job,
                    format!("is withdrawn at {at}, listed behind one at {last}: expected them in order of time"),
                ));
            }
            last = at;
        }
        None
    }

    fn wrong_throttle(&self) -> Option<(JobId, String)> {
        let mut throttle_of_job = BTreeMap::new();
        for (at, throttle) in self.throttles.iter().enumerate() {
            for &job in &throttle.jobs {
                if throttle.most == 0 {
                    return Some((job, "is one of those of which 0 may run at a time; expected 1 or more".into()));
                }
                if throttle_of_job.insert(job, at).is_some() {
                    return Some((job, "is throttled twice".into()));
                }
            }
        }
        None
    }

    fn wrong_here(
        &self,
        machine: Machine,
        (submit, procs, run): (Time, Procs, Span),
        adoption: &Adopted,
        busy: &mut ProcSet,
    ) -> Option<String> {
        let Some(begin) = self.begin else {
            return Some("is here at the first instant, but nothing says when that is".into());
        };
        if submit > begin {
            return Some(format!("is here at {begin}, but submitted at {}", submit));
        }
        let set = match adoption {
            Adopted::Waiting | Adopted::Held => return None,
            Adopted::Running { since, on } => {
                if *since > begin || since.0 < -TIME_LIMIT {
                    return Some(format!("runs at {begin}, but since {since}"));
                }
                if *since + run < begin {
                    return Some(format!("runs at {begin}, but ended at {} already", *since + run));
                }
                on.as_ref()
            }
            Adopted::Suspended { ran, on } => {
                if *ran < Span::ZERO || *ran > run {
                    return Some(format!("is suspended after {ran} of the {run} that it runs"));
                }
                // Others may run where it was.
                return on.as_ref().and_then(|set| wrong_set(set, procs, machine.procs));
            }
        };
        let set = set?;
        if !set.is_disjoint(busy) {
            return Some(format!("runs on processors {}, on which another runs", set.intersection(busy)));
        }
        *busy = busy.union(set);
        wrong_set(set, procs, machine.procs)
    }

    /// Jobs that wait for each other in a circle.
    fn find_circle(&self) -> Option<Vec<JobId>> {
        // 1: on the path at work, 2: leads into no circle.
        let mut visit_states: BTreeMap<JobId, u8> = BTreeMap::new();
        for &first in self.after.keys() {
            let mut path: Vec<(JobId, usize)> = vec![(first, 0)];
            if visit_states.contains_key(&first) {
                continue;
            }
            visit_states.insert(first, 1);
            while let Some(top) = path.last_mut() {
                let (job, at) = *top;
                let next = self.after.get(&job).and_then(|after| after.jobs.get(at)).copied();
                top.1 += 1;
                let Some(next) = next else {
                    visit_states.insert(job, 2);
                    path.pop();
                    continue;
                };
                match visit_states.get(&next) {
                    Some(1) => {
                        let from = path.iter().position(|&(job, _)| job == next).unwrap_or(0);
                        return Some(path[from..].iter().map(|&(job, _)| job).collect());
                    }
                    Some(_) => {}
                    None => {
                        visit_states.insert(next, 1);
                        path.push((next, 0));
                    }
                }
            }
        }
        None
    }

    /// Returns the circumstances of a workload with some of the jobs only: `place` returns the new
    /// number of each. Jobs no longer depend on others that are not.
    #[must_use]
    pub fn restrict_to(&self, place: impl Fn(JobId) -> Option<JobId>) -> Circumstances {
        let jobs = |list: &[JobId]| -> Vec<JobId> { list.iter().filter_map(|&job| place(job)).collect() };
        Circumstances {
            begin: self.begin,
            here: keep_placed(&self.here, &place),
            eligible: keep_placed(&self.eligible, &place),
            after: keep_placed(&self.after, &place)
                .into_iter()
                .map(|(job, after)| (job, DependsOn { jobs: jobs(&after.jobs), ..after }))
                .filter(|(_, after)| !after.jobs.is_empty())
                .collect(),
            throttles: (self.throttles.iter())
                .map(|throttle| Throttle { jobs: jobs(&throttle.jobs), most: throttle.most })
                .filter(|throttle| !throttle.jobs.is_empty())
                .collect(),
            limits: self.limits.restrict_to(&place),
            withdrawn: (self.withdrawn.iter())
                .filter_map(|&withdrawal| Some(Withdrawal { job: place(withdrawal.job)?, ..withdrawal }))
                .collect(),
            ends: keep_placed(&self.ends, &place),
            uncounted: self.uncounted.iter().filter_map(|&job| place(job)).collect(),
        }
    }

    /// Returns the circumstances of a workload with only the jobs from one place up to another.
    #[must_use]
    pub fn slice_jobs(&self, from: usize, until: usize) -> Circumstances {
        let piece = self.restrict_to(|job| (from..until).contains(&job.index()).then(|| JobId(job.0 - from as u32)));
        // A job that was here at the first instant is not among the jobs that come later.
        let begin = piece.begin.filter(|_| from == 0);
        Circumstances { begin, ..piece }
    }

    /// Returns the circumstances at other times. How long jobs run, think and have run by the first
    /// instant stays.
    #[must_use]
    pub fn move_times(mut self, times: impl Fn(Time) -> Time) -> Circumstances {
        let begin = self.begin;
        self.begin = begin.map(&times);
        for adoption in self.here.values_mut() {
            if let (Adopted::Running { since, .. }, Some(old), Some(new)) = (adoption, begin, self.begin) {
                *since = new - (old - *since);
            }
        }
        self.eligible.values_mut().for_each(|time| *time = times(*time));
        self.withdrawn.iter_mut().for_each(|withdrawal| withdrawal.at = times(withdrawal.at));
        self
    }
}

fn keep_placed<T: Clone>(of: &BTreeMap<JobId, T>, place: impl Fn(JobId) -> Option<JobId>) -> BTreeMap<JobId, T> {
    of.iter().filter_map(|(&job, value)| Some((place(job)?, value.clone()))).collect()
}

fn wrong_set(set: &ProcSet, procs: u32, machine: u32) -> Option<String> {
    if set.len() != procs {
        return Some(format!("needs {procs} processors, but is on {}: {set}", set.len()));
    }
    let beyond = set.ranges().last().is_some_and(|range| range.end > machine);
    beyond.then(|| format!("is on processors {set}, beyond the machine's last, {}", machine - 1))
}
