//! Arrivals in their circumstances: jobs that are here already, that may not start yet, that depend
//! on others, on a machine that loses processors.

mod capacity;
mod desk;

use super::admission::Admission;
use super::source::{EventSource, Incoming};
use crate::model::{
    Adopted, Circumstances, DependencyEffect, DependsOn, How, Job, JobId, JobLimit, Outages, ResourceTable, Time,
    Truth, Withdrawal, Workload,
};
use crate::snapshot::SnapshotError;
use capacity::Timetable;
pub use desk::{AdmissionDesk, SiteAdmission};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The jobs of a workload in its [`Circumstances`], on a machine with outages.
///
/// Events of one instant come in this order: processors that come back, announcements, processors
/// that go; jobs that may start from now on; arrivals; withdrawals.
///
/// With feedback, a job that depends on others ([`DependencyEffect::Arrives`]) arrives when the
/// last of them has ended and its user has thought; its numbers in the simulation, and with them
/// ties, follow the order in which jobs arrive there ([`EventSource::observed_id`] tells which is
/// which). Without, it arrives at its submit time.
#[derive(Clone, Debug)]
pub struct Happenings<'a> {
    workload: &'a Workload,
    known: Circumstances,
    feedback: bool,
    /// True if every job may start as soon as it arrives, at its own time: there are no events but
    /// outages and withdrawals.
    plain: bool,
    timetable: Timetable<'a>,
    /// Admission by limits that jobs of other machines share; else it is in the state.
    desk: Option<AdmissionDesk>,
    /// True if a limit is on the time that running jobs have left.
    wears: bool,
    /// For each job those that depend on it.
    dependents: BTreeMap<JobId, Vec<JobId>>,
    throttle: BTreeMap<JobId, usize>,
    first: Time,
    /// Time at which nothing happens at the latest.
    horizon: Time,
    /// The job that was sent last, where it arrives at another time than its own.
    moved: Option<Job>,
    s: HappeningsState,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct HappeningsState {
    /// True if the jobs present at the first instant have been announced.
    opened: bool,
    next_job: usize,
    /// Events due at other times than submits.
    agenda: BTreeSet<(Time, Due, JobId)>,
    /// Jobs that may start at once, in the order given.
    at_once: VecDeque<JobId>,
    /// Jobs that wait for others: how many of these have not ended, and when the last of the others
    /// did.
    waits: BTreeMap<JobId, (u32, Time)>,
    /// Reasons why arrived jobs are held back.
    held: BTreeMap<JobId, u8>,
    /// For each throttle how many of its jobs wait or run, and those that it holds back.
    slots: Vec<(u32, VecDeque<JobId>)>,
    /// Admission by the limits that jobs share.
    admission: Admission,
    /// True if a job may be admitted in the place of one that has gone.
    freed: bool,
    /// Time at which a job may be admitted because others have less time left.
    room: Option<Time>,
    /// Number of jobs that have arrived and not gone.
    here: u64,
    /// The job at each place and the place of each job, where jobs arrive in another order.
    order: Vec<JobId>,
    numbers: Vec<u32>,
    /// The time of what was sent or told last.
    now: Time,
    sent: u64,
    timetable: capacity::OutageState,
}

/// Kind of a due event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
enum Due {
    /// A job may start.
    Release,
    /// A job arrives upon the end of others.
    Arrival,
    Look,
    /// A job leaves, if it waits.
    Withdrawal,
    /// A job leaves, also if it runs.
    Cancellation,
}

/// Reasons to hold a job back.
const USER: u8 = 1;
const TIME: u8 = 2;
const OTHERS: u8 = 4;
const THROTTLE: u8 = 8;
const LIMIT: u8 = 16;

impl<'a> Happenings<'a> {
    /// The jobs of a workload in its circumstances, if it has any, on a machine with these outages.
    #[must_use]
    pub fn new(workload: &'a Workload, outages: &'a Outages, feedback: bool) -> Happenings<'a> {
        let mut circumstances = workload.circumstances().cloned().unwrap_or_default();
        // A job that runs when all begins waits for no other any more.
        let Circumstances { after, here, .. } = &mut circumstances;
        after.retain(|job, _| {
            !here
                .get(job)
                .is_some_and(|adoption| matches!(adoption, Adopted::Running { .. } | Adopted::Suspended { .. }))
        });
        let first = workload.submit_range().map(|submits| submits.0);
        let first = circumstances
            .begin
            .into_iter()
            .chain(first.filter(|_| circumstances.begin.is_none()))
            .next()
            .unwrap_or(Time::MAX);
        let mut dependents: BTreeMap<JobId, Vec<JobId>> = BTreeMap::new();
        let mut waits = BTreeMap::new();
        let counts = |after: &DependsOn| after.then == DependencyEffect::Starts || feedback;
        for (&job, after) in circumstances.after.iter().filter(|(_, after)| counts(after)) {
            let prerequisites: BTreeSet<JobId> = after.jobs.iter().copied().collect();
            waits.insert(job, (prerequisites.len() as u32, Time::MIN));
            prerequisites.into_iter().for_each(|prerequisite| dependents.entry(prerequisite).or_default().push(job));
        }
        let mut throttle = BTreeMap::new();
        for (at, limit) in circumstances.throttles.iter().enumerate() {
            throttle.extend(limit.jobs.iter().map(|&job| (job, at)));
        }
        let plain = !feedback
            && waits.is_empty()
            && throttle.is_empty()
            && circumstances.eligible.is_empty()
            && circumstances.here.is_empty()
            && circumstances.limits.is_empty();
        let slots = circumstances.throttles.iter().map(|_| (0, VecDeque::new())).collect();
        let timetable = Timetable::new(outages);
        let s = HappeningsState {
            opened: false,
            next_job: 0,
            agenda: BTreeSet::new(),
            at_once: VecDeque::new(),
            waits,
            held: BTreeMap::new(),
            slots,
            admission: Admission::default(),
            freed: false,
            room: None,
            here: 0,
            order: Vec::new(),
            numbers: if feedback { vec![u32::MAX; workload.len()] } else { Vec::new() },
            now: Time::MIN,
            sent: 0,
            timetable: capacity::OutageState::default(),
        };
        let desk = None;
        let wears = circumstances.limits.has_wear();
        let mut happenings = Happenings {
            workload,
            known: circumstances,
            feedback,
            plain,
            timetable,
            desk,
            wears,
            dependents,
            throttle,
            first,
            horizon: Time::MAX,
            moved: None,
            s,
        };
        happenings.take_those_here();
        happenings.plan_withdrawals();
        happenings.skip_dependents();
        happenings
    }

    /// Jobs that have not arrived yet, or are held back: where a simulation has ended, for ever.
    #[must_use]
    pub fn jobs_left(&self) -> u64 {
        let arrival_count = if self.feedback { self.s.order.len() } else { self.s.next_job };
        (self.workload.len() - arrival_count) as u64 + self.s.here
    }

    fn plan_withdrawals(&mut self) {
        for &Withdrawal { at, job, only_waiting } in &self.known.withdrawn {
            if !self.arrives_late(job) {
                let due = if only_waiting { Due::Withdrawal } else { Due::Cancellation };
                self.s.agenda.insert((at.max(self.first), due, job));
            }
        }
    }

    /// Returns whether a job arrives at the end of others.
    fn arrives_late(&self, job: JobId) -> bool {
        self.feedback && self.known.after.get(&job).is_some_and(|after| after.then == DependencyEffect::Arrives)
    }

    /// The next job that arrives at its own time is the next one.
    fn skip_dependents(&mut self) {
        if self.feedback {
            while self.s.next_job < self.workload.len() && self.arrives_late(JobId(self.s.next_job as u32)) {
                self.s.next_job += 1;
            }
        }
    }

    /// The number in the simulation of a job that has arrived there.
    fn simulated_id(&self, job: JobId) -> JobId {
        if self.feedback { JobId(self.s.numbers[job.index()]) } else { job }
    }

    /// A job arrives; answers why it is held back.
    fn receive_job(&mut self, job: JobId, now: Time, from_user: bool) -> u8 {
        self.enter_job(job);
        if self.plain {
            return 0;
        }
        self.advance_limits(now);
        let eligible = self.known.eligible.get(&job).copied();
        let mut reasons = 0;
        if let Some(time) = eligible.filter(|&time| time > now) {
            reasons |= TIME;
            self.s.agenda.insert((time, Due::Release, job));
        }
        if !self.arrives_late(job)
            && let Some(&(left, last)) = self.s.waits.get(&job)
        {
            let ready = last.saturating_add(self.known.after[&job].think);
            if left > 0 {
                reasons |= OTHERS;
            } else if ready > now {
                reasons |= OTHERS;
                self.s.agenda.insert((ready, Due::Release, job));
            }
        }
        if from_user && eligible.is_none() && !self.s.waits.contains_key(&job) {
            reasons |= USER;
        }
        if reasons == 0 { self.take_slot(job) } else { reasons }
    }

    /// A job that nothing else holds back takes what it shares with others: a place that its
    /// throttle leaves, and its part of limits. Returns why it is held back.
    fn take_slot(&mut self, job: JobId) -> u8 {
        if self.takes_place(job) { self.ask_limits(job) } else { THROTTLE }
    }

    fn enter_job(&mut self, job: JobId) {
        if self.feedback {
            self.s.numbers[job.index()] = self.s.order.len() as u32;
            self.s.order.push(job);
        }
        self.s.here += 1;
    }

    /// A job takes one of the places that its throttle leaves, if it has one. Returns whether it
    /// has what it needs; else it stands behind the others.
    fn takes_place(&mut self, job: JobId) -> bool {
        let Some(&at) = self.throttle.get(&job) else { return true };
        let (used_places, behind) = &mut self.s.slots[at];
        if *used_places < self.known.throttles[at].most {
            *used_places += 1;
            return true;
        }
        behind.push_back(job);
        false
    }

    /// A reason to hold a job back is gone.
    fn clear(&mut self, job: JobId, reason: u8) {
        let Some(reasons) = self.s.held.get_mut(&job) else { return };
        *reasons &= !reason;
        if *reasons != 0 {
            return;
        }
        let new_reasons = self.take_slot(job);
        if new_reasons == 0 {
            self.s.held.remove(&job);
            self.s.at_once.push_back(self.simulated_id(job));
        } else {
            self.s.held.insert(job, new_reasons);
        }
    }

    /// Returns the reasons to hold a job back that are over by now.
    fn reasons_over(&self, job: JobId, now: Time) -> u8 {
        let time = self.known.eligible.get(&job).is_some_and(|&time| time <= now);
        let is_wait_over = self
            .s
            .waits
            .get(&job)
            .is_some_and(|&(count, last)| count == 0 && last.saturating_add(self.known.after[&job].think) <= now);
        (u8::from(time) * TIME) | (u8::from(is_wait_over) * OTHERS)
    }

    /// A job has gone, however it has: another may take its place, and those that wait for it may
    /// have waited for it last.
    fn remove_job(&mut self, job: JobId, now: Time) {
        self.s.now = now;
        self.s.here -= 1;
        if self.plain {
            return;
        }
        self.advance_limits(now);
        let hold_reason = self.s.held.remove(&job);
        if let Some(&at) = self.throttle.get(&job) {
            let (used_places, behind) = &mut self.s.slots[at];
            match hold_reason {
                // A job that waits for a limit has its place.
                None | Some(LIMIT) => *used_places = used_places.saturating_sub(1),
                Some(_) => behind.retain(|&follower| follower != job),
            }
            if hold_reason.is_none_or(|reasons| reasons == LIMIT)
                && *used_places < self.known.throttles[at].most
                && let Some(next) = behind.pop_front()
            {
                *used_places += 1;
                let new_reasons = self.ask_limits(next);
                if new_reasons == 0 {
                    self.s.held.remove(&next);
                    self.s.at_once.push_back(self.simulated_id(next));
                } else {
                    self.s.held.insert(next, new_reasons);
                }
            }
        }
        if hold_reason.is_none_or(|reasons| reasons == LIMIT) {
            self.leave_limits(job);
        }
        for dependent in self.dependents.get(&job).cloned().unwrap_or_default() {
            let Some((count, last)) = self.s.waits.get_mut(&dependent) else { continue };
            *count -= 1;
            *last = now;
            if *count > 0 {
                continue;
            }
            let after = now.saturating_add(self.known.after[&dependent].think);
            if self.arrives_late(dependent) {
                self.s.agenda.insert((after, Due::Arrival, dependent));
            } else if self.s.held.contains_key(&dependent) {
                self.s.agenda.insert((after, Due::Release, dependent));
            }
        }
    }

    /// Returns whether nothing happens to jobs any more: those that are left are held back for
    /// ever.
    fn is_over(&self) -> bool {
        self.s.opened
            && self.s.next_job >= self.workload.len()
            && self.s.here == self.s.held.len() as u64
            && self.s.agenda.iter().all(|due| due.1 > Due::Arrival && !self.s.held.contains_key(&due.2))
    }

    fn next_submit(&self) -> Option<Time> {
        Some(self.workload.jobs().get(self.s.next_job)?.submit)
    }

    /// Sends a job that arrives at its own time.
    fn submit_next(&mut self) -> Incoming<'_> {
        let at = self.s.next_job;
        let (job, truth) = (&self.workload.jobs()[at], &self.workload.truth()[at]);
        self.s.next_job += 1;
        self.skip_dependents();
        let id = JobId(at as u32);
        let reasons = self.receive_job(id, job.submit, false);
        if self.hold_job(id, reasons) { Incoming::SubmitHeld(job, truth) } else { Incoming::Submit(job, truth) }
    }

    /// Sends a job that arrives upon the end of others.
    fn submit_late(&mut self, id: JobId, now: Time) -> Incoming<'_> {
        let (job, truth) = (self.workload.job(id), &self.workload.truth()[id.index()]);
        let late = now - job.submit;
        for &Withdrawal { at, job, only_waiting } in self.known.withdrawn.iter().filter(|w| w.job == id) {
            let due = if only_waiting { Due::Withdrawal } else { Due::Cancellation };
            self.s.agenda.insert(((at + late).max(now), due, job));
        }
        let reasons = self.receive_job(id, now, false);
        let is_held = self.hold_job(id, reasons);
        let mut moved_job = job.clone();
        moved_job.submit = now;
        let stored_job = self.moved.insert(moved_job);
        if is_held { Incoming::SubmitHeld(stored_job, truth) } else { Incoming::Submit(stored_job, truth) }
    }

    /// Notes why a job is held back, if it is.
    fn hold_job(&mut self, id: JobId, reasons: u8) -> bool {
        if reasons != 0 {
            self.s.held.insert(id, reasons);
        }
        reasons != 0
    }
}

impl EventSource for Happenings<'_> {
    const NEWS: bool = true;

    fn resources(&self) -> Option<Arc<ResourceTable>> {
        self.workload.resources().cloned()
    }

    fn shapes(&self) -> Option<Arc<crate::model::WorkloadShapes>> {
        self.workload.shapes().cloned()
    }

    fn peek_time(&self) -> Option<Time> {
        if !self.s.opened {
            return (self.first < Time::MAX).then_some(self.first);
        }
        if !self.s.at_once.is_empty() || self.s.freed {
            return Some(self.s.now);
        }
        if self.is_over() {
            return (self.horizon < Time::MAX).then_some(self.horizon);
        }
        let agenda = self.s.agenda.first().map_or(Time::MAX, |due| due.0);
        let submit = self.next_submit().unwrap_or(Time::MAX);
        let capacity = self.timetable.next(&self.s.timetable).unwrap_or(Time::MAX);
        let room = if self.wears { self.next_room().unwrap_or(Time::MAX) } else { Time::MAX };
        let next = agenda.min(submit).min(capacity).min(room).min(self.horizon);
        (next < Time::MAX).then_some(next)
    }

    fn next(&mut self) -> Option<Incoming<'_>> {
        let now = self.peek_time()?;
        self.s.now = now;
        self.s.sent += 1;
        if self.timetable.next(&self.s.timetable) == Some(now) {
            return Some(Incoming::Capacity(self.timetable.turn_at(&mut self.s.timetable, now)));
        }
        self.advance_limits(now);
        let admits = self.admit_waiting();
        if let Some(id) = self.s.at_once.pop_front() {
            return Some(Incoming::Release(id));
        }
        if admits {
            return Some(Incoming::Nothing);
        }
        let submits = self.next_submit() == Some(now);
        match self.s.agenda.first().copied().filter(|due| due.0 == now) {
            Some((_, Due::Release, job)) => {
                self.s.agenda.pop_first();
                self.clear(job, self.reasons_over(job, now));
                // Its throttle or a limit may hold it back still.
                let waits = if self.waits_for_limit(job) {
                    Incoming::Limited(self.simulated_id(job))
                } else {
                    Incoming::Nothing
                };
                Some(self.s.at_once.pop_front().map_or(waits, Incoming::Release))
            }
            Some((_, Due::Arrival, job)) if !submits || job.index() < self.s.next_job => {
                self.s.agenda.pop_first();
                Some(self.submit_late(job, now))
            }
            _ if submits => Some(self.submit_next()),
            Some((_, due, job)) => {
                self.s.agenda.pop_first();
                Some(match due {
                    Due::Look => Incoming::Look,
                    Due::Withdrawal => Incoming::Withdraw(self.simulated_id(job)),
                    _ => Incoming::Cancel(self.simulated_id(job)),
                })
            }
            None if now == self.horizon => {
                self.horizon = Time::MAX;
                Some(Incoming::Nothing)
            }
            None => None,
        }
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn position(&self) -> u64 {
        self.s.sent
    }

    /// Its place is more than a number: [`EventSource::restore_memory`] goes there.
    fn seek(&mut self, _position: u64) {}

    fn save_memory(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(postcard::to_stdvec(&self.s)?)
    }

    fn restore_memory(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        self.s = postcard::from_bytes(memory)?;
        self.moved = None;
        Ok(())
    }

    fn first_instant(&self) -> Option<Time> {
        (!self.s.opened && self.first < Time::MAX).then_some(self.first)
    }

    fn comes_first(&self) -> bool {
        self.timetable.comes_back(&self.s.timetable) && self.timetable.next(&self.s.timetable) == self.peek_time()
    }

    fn next_opening(&mut self) -> Option<Incoming<'_>> {
        if self.s.opened {
            return None;
        }
        let first = self.first;
        if self.timetable.next(&self.s.timetable).is_some_and(|time| time < first) {
            return Some(Incoming::Capacity(self.timetable.opening_turn(&mut self.s.timetable, first)));
        }
        let id = JobId(self.s.next_job as u32);
        let known_adoption = self.known.here.get(&id).cloned();
        let job = self.workload.jobs().get(id.index()).filter(|job| job.submit < first || known_adoption.is_some());
        let (Some(job), Some(truth), Some(_)) = (job, self.workload.truth().get(id.index()), self.known.begin) else {
            self.s.opened = true;
            if self.known.begin.is_some() {
                self.s.agenda.insert((first, Due::Look, JobId::default()));
            }
            return None;
        };
        self.s.next_job += 1;
        self.skip_dependents();
        let adoption = match known_adoption {
            None | Some(Adopted::Waiting) => match self.receive_job(id, first, false) {
                0 => &Adopted::Waiting,
                reasons => {
                    self.s.held.insert(id, reasons);
                    &Adopted::Held
                }
            },
            Some(Adopted::Held) => {
                let reasons = self.receive_job(id, first, true);
                if reasons == 0 {
                    &Adopted::Waiting
                } else {
                    self.s.held.insert(id, reasons);
                    &Adopted::Held
                }
            }
            Some(_) => {
                self.enter_started(id);
                &self.known.here[&id]
            }
        };
        Some(Incoming::Adopt(job, truth, adoption))
    }

    fn note_departure(&mut self, now: Time, id: JobId) -> bool {
        let job = self.observed_id(id);
        self.remove_job(job, now);
        // Where no job waits for others, all that may be is that nothing more happens.
        !self.plain || self.s.next_job >= self.workload.len()
    }

    fn follows_starts(&self) -> bool {
        self.desk.is_some() || !self.known.limits.is_empty()
    }

    fn note_start(&mut self, now: Time, id: JobId) {
        self.start_wearing(self.observed_id(id), now);
    }

    fn has_claims(&self) -> bool {
        self.ask_admission(|admission, _, _| admission.has_claims())
    }

    fn claimed_jobs(&self) -> Vec<JobId> {
        let jobs = self.ask_admission(|admission, limits, numbers| {
            numbers.own_jobs(&admission.claimed_jobs(limits, |job| numbers.is_own(job)))
        });
        jobs.into_iter().map(|job| self.simulated_id(job)).collect()
    }

    fn is_claimed(&self, id: JobId) -> bool {
        let job = self.observed_id(id);
        self.ask_admission(|admission, limits, numbers| {
            admission.is_claimed(limits, numbers.site_number(job), |job| numbers.is_own(job))
        })
    }

    fn begin_trials(&mut self, now: Time, ids: &[JobId]) {
        let jobs: Vec<JobId> = ids.iter().map(|&id| self.observed_id(id)).collect();
        jobs.iter().for_each(|job| _ = self.s.held.remove(job));
        self.change_admission(now, |admission, _, numbers| {
            let jobs: Vec<JobId> = jobs.iter().map(|&job| numbers.site_number(job)).collect();
            admission.begin_trials(&jobs);
        });
    }

    fn has_trials(&self) -> bool {
        self.ask_admission(|admission, _, numbers| admission.has_trials(|job| numbers.is_own(job)))
    }

    fn expire_trials(&mut self, now: Time) -> Vec<JobId> {
        let jobs = self.change_admission(now, |admission, limits, numbers| {
            numbers.own_jobs(&admission.expire_trials(limits, |job| numbers.is_own(job)))
        });
        self.hold_for_limits(jobs)
    }

    fn end_trials(&mut self, now: Time) -> Vec<JobId> {
        let jobs = self.change_admission(now, |admission, _, numbers| {
            numbers.own_jobs(&admission.end_trials(|job| numbers.is_own(job)))
        });
        self.hold_for_limits(jobs)
    }

    fn excess_of_starts(&self, starts: &[JobId]) -> Vec<JobId> {
        let jobs = self.ask_admission(|admission, limits, numbers| {
            let starts: Vec<JobId> = starts.iter().map(|&id| numbers.site_number(self.observed_id(id))).collect();
            numbers.own_jobs(&admission.excess_of_starts(limits, &starts, |job| numbers.is_own(job)))
        });
        jobs.into_iter().map(|job| self.simulated_id(job)).collect()
    }

    fn withdraw_admission(&mut self, now: Time, id: JobId) -> bool {
        let job = self.observed_id(id);
        let is_withdrawn = self.change_admission(now, |admission, limits, numbers| {
            admission.withdraw_admission(limits, numbers.site_number(job))
        });
        if is_withdrawn {
            self.hold_for_limits(vec![job]);
        }
        is_withdrawn
    }

    fn withdraw_excess(&mut self, now: Time) -> Vec<JobId> {
        let jobs = self.change_admission(now, |admission, limits, numbers| {
            numbers.own_jobs(&admission.withdraw_excess(limits, |job| numbers.is_own(job)))
        });
        self.hold_for_limits(jobs)
    }

    fn end_kind(&self, id: JobId) -> How {
        self.known.ends.get(&self.observed_id(id)).copied().unwrap_or(How::Completed)
    }

    fn limit_of(&self, id: JobId) -> Option<JobLimit> {
        self.limit_of_held(self.observed_id(id))
    }

    fn drop_limits(&mut self) {
        // No policy of one machine can keep limits that several share.
        if self.desk.is_some() {
            return;
        }
        self.known.limits = self.known.limits.kept_for_all();
        self.wears &= !self.known.limits.is_empty();
        self.take_those_here();
    }

    fn catch_up(&mut self, now: Time) {
        self.collect_admitted(now);
    }

    fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    fn observed_id(&self, id: JobId) -> JobId {
        if self.feedback { self.s.order.get(id.index()).copied().unwrap_or(id) } else { id }
    }
}

impl Happenings<'_> {
    /// A job is here at the first instant, and has started before.
    fn enter_started(&mut self, job: JobId) {
        self.enter_job(job);
        if let Some(&at) = self.throttle.get(&job) {
            self.s.slots[at].0 += 1;
        }
    }

    /// The truth about a job of the simulation.
    #[must_use]
    pub fn truth(&self, id: JobId) -> Option<&Truth> {
        self.workload.truth().get(self.observed_id(id).index())
    }
}
