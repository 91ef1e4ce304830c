//! A state as a site sees it, and the past as its accounting tells it: answers are rehearsed on
//! what really happened, so that they are calibrated by real starts before the first is given.

use crate::forecaster::{Forecaster, StartAnswer};
use crate::general::FutureError;
use crate::general::Wanted;
use crate::pool::PastStatistics;
use drystone_core::engine::{Adopted, NewsError, Scheduler, Session};
use drystone_core::model::{Job, JobId, Machine, ProcSet, ResourceTable, SharedSort, Span, Time};
use drystone_core::policy::{Action, CapacityLoss};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A job as the site has recorded it; times are the session's.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// The job as submitted, with its submit time.
    pub job: Job,
    /// Earliest time at which it could start.
    pub eligible: Time,
    /// Start time.
    pub start: Option<Time>,
    /// Time at which it ended, or was withdrawn.
    pub end: Option<Time>,
    /// Its place in the present queue, the smallest first; equal ones are in the order of their
    /// submission. The queues of the past are in that order throughout.
    pub rank: i64,
    /// The processors that it runs on, where that matters and is known.
    pub on: Option<ProcSet>,
    /// True if it is held back for now, however its earliest time lies: see
    /// [`Forecaster::set_gates`].
    pub held: bool,
}

impl Observed {
    fn runs_at(&self, time: Time) -> bool {
        self.start.is_some_and(|start| start <= time) && self.end.is_none_or(|end| end > time)
    }

    fn waits_at(&self, time: Time) -> bool {
        (self.held || self.eligible <= time)
            && self.start.is_none_or(|start| start > time)
            && self.end.is_none_or(|end| end > time)
    }
}

/// A machine of a site, with what jobs ask for beside its processors where they say so.
#[derive(Clone, Debug)]
pub struct RehearsalMachine {
    /// Its processors.
    pub machine: Machine,
    /// Resources and demands, by the numbers that jobs have.
    pub resources: Option<Arc<ResourceTable>>,
}

impl From<Machine> for RehearsalMachine {
    fn from(machine: Machine) -> RehearsalMachine {
        RehearsalMachine { machine, resources: None }
    }
}

/// A session in the state of one instant.
pub struct Adoption {
    /// Behind its first decision.
    pub session: Session,
    /// Index of each of its jobs among the jobs.
    pub jobs: Vec<usize>,
    /// Jobs that hold more processors than the machine has, together: those that came last are left
    /// out.
    pub left_out: usize,
    /// Starts that the policy has announced in this state with a promise: the planned one, and the
    /// latest.
    pub promised: Vec<(JobId, Time, Time)>,
}

impl Adoption {
    /// The start that the policy plans for a job, and the latest one that it promises.
    #[must_use]
    pub fn find_promise(&self, id: JobId) -> Option<(Time, Time)> {
        self.promised.iter().find(|promise| promise.0 == id).map(|&(_, start, latest)| (start, latest))
    }

    /// The session's number of a job.
    #[must_use]
    pub fn id(&self, job: usize) -> Option<JobId> {
        self.jobs.iter().position(|&entry| entry == job).map(|at| JobId(at as u32))
    }
}

/// The session in which these jobs are at `now`: those that run run, those that wait wait in the
/// order of their ranks, `losses` are known of processors that are out or will be, and the policy
/// has made its pass.
///
/// # Errors
/// A policy that cannot take the present jobs, or the missing processors.
pub fn adopt_jobs(
    scheduler: Scheduler,
    machine: impl Into<RehearsalMachine>,
    jobs: &[Observed],
    losses: &[CapacityLoss],
    now: Time,
) -> Result<Adoption, FutureError> {
    let is_here = |&at: &usize| jobs[at].runs_at(now) || jobs[at].waits_at(now);
    let mut present_jobs: Vec<usize> = (0..jobs.len()).filter(is_here).collect();
    present_jobs.sort_shared_by_key(|&at| (!jobs[at].runs_at(now), jobs[at].rank, jobs[at].job.submit, at));
    adopt_these(scheduler, &machine.into(), jobs, present_jobs, losses, now)
}

/// Adopts these jobs in this order; those that run come first.
fn adopt_these(
    scheduler: Scheduler,
    site: &RehearsalMachine,
    jobs: &[Observed],
    places: Vec<usize>,
    losses: &[CapacityLoss],
    now: Time,
) -> Result<Adoption, FutureError> {
    let machine = site.machine;
    let mut session = Session::new(machine, scheduler);
    if let Some(table) = &site.resources {
        session.set_resources(Arc::clone(table));
    }
    if !losses.is_empty() {
        session.set_losses(now, losses)?;
    }
    // An empty machine also counts.
    session.expire_due(now);
    let (mut busy_procs, mut adopted_jobs, mut left_out) = (0u64, Vec::new(), 0);
    for at in places {
        let entry = &jobs[at];
        let runs = entry.runs_at(now);
        let procs = u64::from(entry.job.procs);
        if (runs && busy_procs + procs > u64::from(machine.procs)) || procs > u64::from(machine.procs) {
            left_out += 1;
            continue;
        }
        let adopted_state = match entry.start.filter(|_| runs) {
            Some(since) => {
                busy_procs += procs;
                Adopted::Running { since, on: entry.on.clone() }
            }
            None if entry.held => Adopted::Held,
            None => Adopted::Waiting,
        };
        session.adopt_job(now, &entry.job, None, &adopted_state)?;
        adopted_jobs.push(at);
    }
    let decision = session.decide(now).map_err(drystone_core::engine::SimulationError::from)?;
    let promises = decision.list().iter().filter_map(|action| match action {
        Action::Reserve { job, start, latest } if *latest < Time::MAX => Some((*job, *start, *latest)),
        _ => None,
    });
    let promises = promises.collect();
    Ok(Adoption { session, jobs: adopted_jobs, left_out, promised: promises })
}

/// Questions about the past that are rehearsed.
#[derive(Clone, PartialEq, Debug)]
pub struct RehearsalQuestions {
    /// Largest number of jobs asked about: the last ones that waited.
    pub most: usize,
    /// Number of the last of these that are asked about in any case. The others take half of the
    /// work of a rehearsal at most: where that is spent too early, questions are left out.
    pub least: usize,
    /// Longest wait about which nothing is asked: the scheduler may take that long to look at a
    /// job.
    pub patience: Span,
    /// Times at which all jobs that ran or waited are in the record. At other times the machine
    /// looks emptier than it was, and nothing can be learned from an answer.
    pub known: RangeInclusive<Time>,
}

/// Quality of answers in the past.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rehearsal {
    /// Returns whose job has started.
    pub answers: u64,
    /// Number of these starts that fell into the central 50 and 90 % of the answer.
    pub inside: [u64; 2],
    /// Jobs that started, to which the policy would have promised a latest start.
    pub promised: u64,
    /// Number of these that started by then.
    pub kept: u64,
}

impl Rehearsal {
    /// Returns whether a promised start bounds an answer: nearly all such promises were kept, or
    /// too few are known to say otherwise.
    #[must_use]
    pub fn keeps_promises(&self) -> bool {
        self.promised < 20 || self.kept * 100 >= self.promised * 95
    }
}

/// Futures of a rehearsed answer at least: only the level of the start is kept.
const FEWEST_REHEARSED: u32 = 5;

/// Answer to a question about the past.
struct RehearsedAnswer {
    job: usize,
    asked: Time,
    /// Quantiles at 5, 25, 75 and 95 %, in seconds.
    bounds: [f64; 4],
    /// The latest start that the policy would have promised.
    promised: Option<Time>,
}

/// The jobs, of those that waited in the order of arrival, whose answers are rehearsed: the last so
/// many. Where most of these wait to this day, their starts teach nothing: then half of the
/// questions are about the last jobs whose outcome is known, and half, evenly, about those that
/// came since and still wait.
fn choose_rehearsed(jobs: &[Observed], waiters: &[usize], questions: usize, now: Time) -> Vec<usize> {
    let waits = |at: &usize| jobs[*at].waits_at(now);
    let last = &waiters[waiters.len() - questions.min(waiters.len())..];
    let most = questions / 2;
    if last.iter().filter(|at| waits(at)).count() <= most {
        return last.to_vec();
    }
    let mut settled_jobs: Vec<usize> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for at in waiters.iter().rev() {
        if waits(at) {
            open.push(*at);
        } else {
            settled_jobs.push(*at);
        }
        if settled_jobs.len() >= questions - most {
            break;
        }
    }
    let step = open.len().div_ceil(most.max(1)).max(1);
    settled_jobs.extend(open.into_iter().step_by(step).take(most));
    settled_jobs
}

/// Events, in the order of their delivery at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RehearsalEvent {
    End,
    Start,
    Arrive,
}

impl Forecaster {
    /// Learns from recorded jobs what happened until `now`: run times, arrivals, and what answers
    /// to these questions would have been worth. `progress` is called after each of them.
    ///
    /// # Errors
    /// A policy that cannot take the present jobs, or cannot be simulated forward.
    pub fn rehearse_answers(
        &mut self,
        machine: impl Into<RehearsalMachine>,
        jobs: &[Observed],
        now: Time,
        questions: &RehearsalQuestions,
        progress: &dyn Fn(),
    ) -> Result<Rehearsal, FutureError> {
        let site = machine.into();
        let mut events: Vec<(Time, RehearsalEvent, usize)> = Vec::with_capacity(3 * jobs.len());
        for (at, record) in jobs.iter().enumerate() {
            events.push((record.eligible.max(record.job.submit), RehearsalEvent::Arrive, at));
            events.extend(record.start.map(|start| (start, RehearsalEvent::Start, at)));
            events.extend(record.end.map(|end| (end, RehearsalEvent::End, at)));
        }
        events.retain(|event| event.0 <= now);
        events.sort_unstable();
        let has_waited = |record: &Observed| {
            let arrival = record.eligible.max(record.job.submit);
            record.start.unwrap_or(now) - arrival > questions.patience && questions.known.contains(&arrival)
        };
        let arrivals = events.iter().filter(|event| event.1 == RehearsalEvent::Arrive).map(|event| event.2);
        let candidates: Vec<usize> = arrivals.filter(|&at| has_waited(&jobs[at])).collect();
        let last: BTreeSet<usize> = choose_rehearsed(jobs, &candidates, questions.least, now).into_iter().collect();
        let most = choose_rehearsed(jobs, &candidates, questions.most, now);
        let chosen_jobs: BTreeSet<usize> = most.into_iter().chain(last.iter().copied()).collect();
        let (rehearsal_work, before) = (self.settings().rehearsal_work, self.spent_work());
        let (earlier_count, mut asked_count) = (chosen_jobs.difference(&last).count() as u64, 0_u64);
        let mut last_count = last.len() as u64;
        let mut present_jobs = Vec::<usize>::new();
        let (mut rehearsal, mut open) = (Rehearsal::default(), Vec::<RehearsedAnswer>::new());
        for (time, event, at) in events {
            let (entry, id) = (&jobs[at], JobId(at as u32));
            match event {
                RehearsalEvent::Arrive => {
                    // A job that had to wait for others counts from the time on at which it
                    // competes.
                    let mut job = entry.job.clone();
                    job.submit = time;
                    self.note_arrival(at as u64, &job);
                    if entry.start.is_none_or(|start| start > time) && entry.end.is_none_or(|end| end > time)
                        || entry.runs_at(time)
                    {
                        present_jobs.push(at);
                    }
                    if !has_waited(entry) || !entry.waits_at(time) {
                        continue;
                    }
                    if !chosen_jobs.contains(&at) {
                        continue;
                    }
                    // In a deep queue even a few futures take far more than the budget.
                    if (self.spent_work() - before) / 2 >= rehearsal_work {
                        progress();
                        continue;
                    }
                    let spent_work = self.spent_work() - before;
                    let work = rehearsal_work.saturating_sub(spent_work);
                    let share = if rehearsal_work == u64::MAX {
                        work
                    } else if last.contains(&at) {
                        last_count = last_count.saturating_sub(1);
                        work / (last_count + 1)
                    } else {
                        let due = u128::from(rehearsal_work / 2) * u128::from(asked_count);
                        asked_count += 1;
                        if u128::from(spent_work) * u128::from(earlier_count) > due {
                            progress();
                            continue;
                        }
                        rehearsal_work / 2 / earlier_count
                    };
                    let answer_parts = self.answer_then(&site, (jobs, &present_jobs), (at, time), share)?;
                    progress();
                    let (answer, statistics, promise) = answer_parts;
                    let bounds = [0.05, 0.25, 0.75, 0.95].map(|level| answer.quantile(level));
                    open.push(RehearsedAnswer { job: at, asked: time, bounds, promised: promise });
                    self.note_answer((id, entry.job.user), &answer, &statistics);
                }
                RehearsalEvent::Start => {
                    self.note_job_start(id, time);
                    if let Some(place) = open.iter().position(|open| open.job == at) {
                        let RehearsedAnswer { asked, bounds: [low, quarter, most, high], promised, .. } =
                            open.swap_remove(place);
                        rehearsal.promised += u64::from(promised.is_some());
                        rehearsal.kept += u64::from(promised.is_some_and(|latest| time <= latest));
                        let took = (time - asked).as_f64();
                        rehearsal.answers += 1;
                        rehearsal.inside[0] += u64::from((quarter..=most).contains(&took));
                        rehearsal.inside[1] += u64::from((low..=high).contains(&took));
                    }
                }
                RehearsalEvent::End => {
                    present_jobs.retain(|&index| index != at);
                    match entry.start {
                        Some(start) => self.note_end(at as u64, &entry.job, time - start),
                        None => {
                            self.note_withdrawal(at as u64);
                            self.note_no_start(id, time);
                        }
                    }
                }
            }
        }
        self.close_the_past(jobs.len() as u64);
        Ok(rehearsal)
    }

    /// Returns the answer that would have been given for a job then, within so much work.
    fn answer_then(
        &mut self,
        site: &RehearsalMachine,
        (jobs, here): (&[Observed], &[usize]),
        (job, time): (usize, Time),
        work: u64,
    ) -> Result<(StartAnswer, PastStatistics, Option<Time>), FutureError> {
        // Ranks are of the present: of two jobs that waited then, one may have started since, and
        // has none.
        let mut present_queue = here.to_vec();
        present_queue.sort_shared_by_key(|&at| (!jobs[at].runs_at(time), jobs[at].job.submit, at));
        let adoption = adopt_these(self.fresh_scheduler(), site, jobs, present_queue, &[], time)?;
        let session = &adoption.session;
        let id = adoption.id(job);
        match id.filter(|&id| session.view().waiting_jobs().any(|waiter| waiter == id)) {
            Some(id) => {
                let samples = self.settings().rehearsed;
                let budget = (work, samples.min(FEWEST_REHEARSED));
                let futures = Wanted { budget, ..Wanted::with_draws(job as u64, samples) };
                let times = self.simulate(session, &[id], &futures)?;
                let sample = self.sample_of(times.iter().map(|starts| starts[0]), self.delay_scale());
                let (answer, statistics) = self.answer_beside(session, id, sample)?;
                Ok((answer, statistics, adoption.find_promise(id).map(|promise| promise.1)))
            }
            // The policy would start it at once.
            None => {
                let sample = self.sample_of([Some(1)], self.delay_scale());
                let (answer, statistics) = self.answer_at_once(session, id.unwrap_or_default(), sample);
                Ok((answer, statistics, None))
            }
        }
    }
}

impl From<NewsError> for FutureError {
    fn from(error: NewsError) -> FutureError {
        FutureError::Simulation(error.into())
    }
}
