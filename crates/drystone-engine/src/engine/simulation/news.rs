//! Events besides arrivals and ends: jobs that are here already, are held back or withdrawn,
//! processors that go.

use super::{Simulation, SimulationError};
use crate::engine::observer::Observer;
use crate::engine::session::{NewsError, Session};
use crate::engine::source::{EventSource, Incoming, Stroke};
use crate::model::{Adopted, EndedJob, How, Job, JobId, OutageHit, ProcSet, Procs, Span, Time, Truth};
use crate::policy::{Action, CapacityLoss, Phase};

/// Event of a source, detached from it.
pub(super) enum SourceEvent {
    Withdraw(JobId),
    Adopt(Job, Truth, Adopted),
    SubmitHeld(Job, Truth),
    Hold(JobId),
    Release(JobId),
    Limited(JobId),
    Capacity { losses: Vec<CapacityLoss>, strokes: Vec<Stroke>, foreseen: bool },
    Look,
    Nothing,
}

impl From<Incoming<'_>> for SourceEvent {
    fn from(incoming: Incoming<'_>) -> SourceEvent {
        match incoming {
            Incoming::Withdraw(id) => SourceEvent::Withdraw(id),
            Incoming::Adopt(job, truth, adoption) => SourceEvent::Adopt(job.clone(), truth.clone(), adoption.clone()),
            Incoming::SubmitHeld(job, truth) => SourceEvent::SubmitHeld(job.clone(), truth.clone()),
            Incoming::Hold(id) => SourceEvent::Hold(id),
            Incoming::Release(id) => SourceEvent::Release(id),
            Incoming::Limited(id) => SourceEvent::Limited(id),
            Incoming::Capacity(turn) => SourceEvent::Capacity {
                losses: turn.losses.to_vec(),
                strokes: turn.strokes.to_vec(),
                foreseen: turn.foreseen,
            },
            Incoming::Look => SourceEvent::Look,
            // Arrivals and cancellations are taken in the loop.
            Incoming::Submit(..) | Incoming::Cancel(_) | Incoming::Nothing => SourceEvent::Nothing,
        }
    }
}

impl<S: EventSource> Simulation<S> {
    /// Before the first instant: what is here already.
    #[inline]
    pub(super) fn open_simulation(&mut self, observer: &mut impl Observer) -> Result<(), SimulationError> {
        match self.source.first_instant() {
            None => Ok(()),
            Some(first) => self.open_at(first, observer),
        }
    }

    #[cold]
    fn open_at(&mut self, first: Time, observer: &mut impl Observer) -> Result<(), SimulationError> {
        self.session.check_hears()?;
        self.session.expect_news();
        if !self.session.names_processors() {
            self.session.count_losses();
        }
        self.s.now = first;
        while let Some(incoming) = self.source.next_opening() {
            let news = incoming.into();
            self.take_news(first, news, observer);
        }
        if let Some(impossible) = self.impossible.take() {
            return Err(impossible);
        }
        self.s.next_arrival = self.next_incoming();
        Ok(())
    }

    pub(super) fn tell_gone(&mut self, now: Time, id: JobId) {
        if self.source.note_departure(now, id) && self.impossible.is_none() {
            self.s.next_arrival = self.next_incoming();
        }
    }

    /// Tells a source that follows starts of those that the session has just carried out.
    #[inline]
    pub(super) fn tell_starts(&mut self, now: Time) {
        if S::NEWS && self.source.follows_starts() {
            self.tell_each_start(now);
        }
    }

    #[cold]
    fn tell_each_start(&mut self, now: Time) {
        let mut has_started = false;
        for action in self.session.actions().list() {
            if let Action::Start { job, .. } | Action::StartWith { job, .. } = *action {
                self.source.note_start(now, job);
                has_started = true;
            }
        }
        if has_started && self.impossible.is_none() {
            self.s.next_arrival = self.next_incoming();
        }
    }

    /// Takes what is no arrival. Returns whether a decision is due.
    #[cold]
    pub(super) fn take_news(&mut self, now: Time, news: SourceEvent, observer: &mut impl Observer) -> bool {
        let news_result = match news {
            SourceEvent::Nothing => Ok(false),
            SourceEvent::Look => Ok(true),
            SourceEvent::Withdraw(id) => {
                let phase = self.session.known_entry(id).map(|entry| entry.phase);
                let waits = matches!(phase, Some(Phase::Waiting | Phase::Held)) && self.session.withdraw_job(now, id);
                if waits {
                    self.report_withdrawal(now, id, observer);
                }
                Ok(waits)
            }
            SourceEvent::Adopt(job, truth, adoption) => self.adopt_job(now, &job, truth, &adoption, observer),
            SourceEvent::SubmitHeld(job, truth) => self.submit_held(now, &job, truth, observer),
            SourceEvent::Hold(id) => self.session.hold_job(now, id).inspect(|&is_held| {
                if is_held {
                    observer.note_hold(now, self.source.observed_id(id));
                }
            }),
            SourceEvent::Release(id) => self.session.release_job(now, id).inspect(|&is_released| {
                if is_released {
                    observer.note_release(now, self.source.observed_id(id));
                }
            }),
            SourceEvent::Limited(id) => {
                self.tell_limit(now, id, observer);
                Ok(self.source.is_claimed(id))
            }
            SourceEvent::Capacity { losses, strokes, foreseen } => {
                self.strike_processors(now, &losses, &strokes, foreseen, observer)
            }
        };
        news_result.unwrap_or_else(|error| {
            self.impossible = Some(error.into());
            false
        })
    }

    fn adopt_job(
        &mut self,
        now: Time,
        job: &Job,
        truth: Truth,
        adoption: &Adopted,
        observer: &mut impl Observer,
    ) -> Result<bool, NewsError> {
        let oracle = self.session.is_clairvoyant().then(|| self.s.whole_run(job, &truth));
        if self.s.shapes.is_some() {
            self.meet_next_shape();
        }
        let id = self.session.adopt_job(now, &self.s.known_job(job), oracle, adoption)?;
        self.s.truth.push(truth);
        if self.s.shapes.is_some() {
            self.s.adopt_sized(&mut self.session, id);
        }
        self.s.begin_attempt(&self.session, id);
        if let Some(end) = self.s.end_of(&self.session, id) {
            self.s.push_end(end, id);
        }
        let place = self.source.observed_id(id);
        observer.note_arrival(now, place);
        observer.note_adoption(now, place, adoption);
        if self.s.shapes.is_some() && self.session.job_entry(id).procs != job.procs {
            observer.note_size(now, place, self.session.job_entry(id).procs);
        }
        self.tell_limit(now, id, observer);
        Ok(true)
    }

    /// Tells of the limit for which a held job waits, if it does.
    pub(super) fn tell_limit(&self, now: Time, id: JobId, observer: &mut impl Observer) {
        if let Some(limit) = self.source.limit_of(id) {
            observer.note_limit(now, self.source.observed_id(id), &limit);
        }
    }

    /// A job arrives that may not start yet.
    fn submit_held(
        &mut self,
        now: Time,
        job: &Job,
        truth: Truth,
        observer: &mut impl Observer,
    ) -> Result<bool, NewsError> {
        let oracle = self.session.is_clairvoyant().then(|| self.s.whole_run(job, &truth));
        if self.s.shapes.is_some() {
            self.meet_next_shape();
        }
        let id = self.session.adopt_job(now, &self.s.known_job(job), oracle, &Adopted::Held)?;
        self.s.truth.push(truth);
        let place = self.source.observed_id(id);
        observer.note_arrival(now, place);
        observer.note_hold(now, place);
        self.tell_limit(now, id, observer);
        // It may start although the claim of a job that waits holds it back.
        Ok(self.source.is_claimed(id))
    }

    /// Processors go, come back or are announced to go: first those jobs end that run on them.
    fn strike_processors(
        &mut self,
        now: Time,
        losses: &[CapacityLoss],
        strokes: &[Stroke],
        foreseen: bool,
        observer: &mut impl Observer,
    ) -> Result<bool, NewsError> {
        let has_changed = if self.session.counts_losses() {
            let mut layout = LinearLayout::from_session(&self.session);
            let mut drains = Vec::new();
            for stroke in strokes {
                match (stroke.hit, stroke.foreseen) {
                    (OutageHit::Drain, true) => {
                        drains.push((stroke.on.clone(), layout.drain_last(&self.session, stroke.on.len())));
                    }
                    (OutageHit::Drain, false) => drains.push((stroke.on.clone(), layout.drain_jobs(&stroke.on))),
                    (hit, foreseen) => {
                        let procs = stroke.on.len();
                        let hit_jobs =
                            if foreseen { layout.clear(&self.session, procs) } else { layout.strike_jobs(&stroke.on) };
                        for (id, loss) in hit_jobs {
                            if self.s.shapes.is_some() && self.shrink_to_survive(now, id, loss, observer) {
                                layout.keep_job(id, self.session.undrained_of(id));
                            } else {
                                self.hit_job(now, id, hit, observer)?;
                            }
                        }
                    }
                }
            }
            self.session.set_counted_losses(now, losses, &drains)?
        } else {
            for stroke in strokes {
                for id in self.session.on_processors(&stroke.on, stroke.hit != OutageHit::Drain, stroke.for_good) {
                    let hit = if stroke.hit == OutageHit::Drain { OutageHit::Requeue } else { stroke.hit };
                    self.hit_job(now, id, hit, observer)?;
                }
            }
            let has_new_losses = self.session.set_losses(now, losses)?;
            self.session.look_at_capacity(now) || has_new_losses
        };
        observer.note_capacity(now, foreseen);
        if self.s.shapes.is_some() && has_changed {
            self.session.want_pass();
        }
        Ok(has_changed)
    }

    /// The machine fails under a job.
    fn hit_job(&mut self, now: Time, id: JobId, hit: OutageHit, observer: &mut impl Observer) -> Result<(), NewsError> {
        self.s.stale = true;
        if self.s.shapes.is_some() {
            self.s.end_sized(&mut self.session, id);
        }
        let place = self.source.observed_id(id);
        if hit == OutageHit::Requeue {
            let entry = self.session.job_entry(id);
            let ran = if entry.phase == Phase::Running { entry.ran + (now - entry.segment) } else { entry.ran };
            let procs = entry.procs;
            if self.session.note_requeue(now, id)? {
                let lost_attempt = self.s.end_attempt(&self.session, id, ran);
                observer.note_requeue(now, place, procs, ran - lost_attempt.saved_time());
                if lost_attempt.spent > Span::ZERO {
                    observer.note_checkpoint(now, place, procs, lost_attempt.spent);
                }
            }
            self.s.overhead.remove(&id);
            return Ok(());
        }
        self.s.overhead.remove(&id);
        if !self.session.note_end(now, id, How::MachineFailed, None) {
            self.session.withdraw_job(now, id);
        }
        let mut outcome = self.session.outcome_with(id, Span::ZERO);
        outcome.how = How::MachineFailed;
        let kept_work = self.s.kept_of(id);
        outcome.ran += kept_work.work;
        outcome.overhead += kept_work.spent;
        outcome.lost -= kept_work.saved_time();
        outcome.earlier = kept_work.saved_time();
        self.s.kept.remove(&id);
        let (job, truth) = (self.session.job(id), &self.s.truth[id]);
        observer.note_loss(&EndedJob { id: place, job, truth, outcome: &outcome });
        self.s.gone |= id == self.session.oldest_job();
        self.tell_gone(now, id);
        Ok(())
    }

    /// Returns the error if the jobs that wait for ever are wider than the machine that is up.
    pub(super) fn too_few(&self) -> Option<SimulationError> {
        let view = self.session.view();
        let procs = view.machine().procs;
        let up = procs - self.session.offline_processors();
        let first = view.waiting_jobs().chain(view.suspended_jobs()).find(|&id| view.job_size(id) > up)?;
        let (submit, needs, number) = (view.job(first).submit, view.job_size(first), self.s.truth[first].number);
        let waiting_count = self.session.waiting_count() + self.session.suspended_count();
        Some(SimulationError::TooFew {
            waiting: waiting_count,
            up,
            procs,
            first: self.source.observed_id(first),
            number,
            submit,
            needs,
        })
    }
}

/// Places of jobs on a machine whose processors have no names: one beside the other in the order of
/// their numbers, and idle processors behind them. An outage takes neighbours, from a place that
/// lies as far on as its own processors do.
struct LinearLayout {
    jobs: Vec<(JobId, Procs)>,
    idle: Procs,
    machine: Procs,
}

impl LinearLayout {
    fn from_session(session: &Session) -> LinearLayout {
        LinearLayout {
            jobs: session.undrained_procs(),
            idle: session.free_processors(),
            machine: session.view().machine().procs,
        }
    }

    /// Returns the jobs that an outage hits, with the number of processors taken of each; it takes
    /// idle ones at once.
    fn block_processors(&mut self, on: &ProcSet) -> Vec<(JobId, Procs)> {
        let total_procs: u64 = u64::from(self.idle) + self.jobs.iter().map(|job| u64::from(job.1)).sum::<u64>();
        let count = u64::from(on.len()).min(total_procs);
        let first = on.ranges().first().map_or(0, |range| u64::from(range.start));
        let from = first * total_procs / u64::from(self.machine.max(1));
        let (wrapped_end, until) = ((from + count).saturating_sub(total_procs), (from + count).min(total_procs));
        let inside = |begin: u64, end: u64| {
            let overlap = |a: u64, b: u64| end.min(b).saturating_sub(begin.max(a));
            overlap(from, until) + overlap(0, wrapped_end)
        };
        let (mut at, mut taken_procs) = (0, Vec::new());
        for &(id, procs) in &self.jobs {
            let end = at + u64::from(procs);
            let hit = inside(at, end) as Procs;
            if hit > 0 {
                taken_procs.push((id, hit));
            }
            at = end;
        }
        self.idle -= inside(at, total_procs) as Procs;
        taken_procs
    }

    /// An outage drains these jobs, of this many processors each.
    fn drain_jobs(&mut self, on: &ProcSet) -> Vec<(JobId, Procs)> {
        let taken_procs = self.block_processors(on);
        for &(id, procs) in &taken_procs {
            if let Some(job) = self.jobs.iter_mut().find(|job| job.0 == id) {
                job.1 -= procs;
            }
        }
        taken_procs
    }

    /// Idle processors go first; where they are too few, those of jobs that should have ended first
    /// are drained.
    fn drain_last(&mut self, session: &Session, procs: Procs) -> Vec<(JobId, Procs)> {
        let mut missing = procs - procs.min(self.idle);
        self.idle -= procs.min(self.idle);
        let mut taken_procs = Vec::new();
        for running in session.view().running_jobs().iter() {
            let Some(job) = self.jobs.iter_mut().find(|job| job.0 == running.id) else { continue };
            let drained_procs = missing.min(job.1);
            if drained_procs > 0 {
                job.1 -= drained_procs;
                missing -= drained_procs;
                taken_procs.push((running.id, drained_procs));
            }
        }
        taken_procs
    }

    /// A job that was hit goes on with so many processors.
    fn keep_job(&mut self, id: JobId, procs: Procs) {
        self.idle = self.idle.saturating_sub(procs);
        let at = self.jobs.partition_point(|job| job.0 < id);
        self.jobs.insert(at, (id, procs));
    }

    /// An outage hits these jobs, of this many processors each, which leave their others idle.
    fn strike_jobs(&mut self, on: &ProcSet) -> Vec<(JobId, Procs)> {
        let taken_procs = self.block_processors(on);
        for &(id, procs) in &taken_procs {
            self.remove(id);
            self.idle -= procs;
        }
        taken_procs
    }

    /// Idle processors go first; where they are too few, the jobs are hit that should have ended
    /// first.
    fn clear(&mut self, session: &Session, procs: Procs) -> Vec<(JobId, Procs)> {
        let mut hit = Vec::new();
        for job in session.view().running_jobs().iter() {
            if self.idle >= procs {
                break;
            }
            // One whose processors all go anyway when it ends has none to give.
            let has_any = self.jobs.iter().any(|place| place.0 == job.id && place.1 > 0);
            let lost_procs = (procs - self.idle).min(job.procs);
            if has_any && self.remove(job.id) {
                hit.push((job.id, lost_procs));
            }
        }
        self.idle -= procs.min(self.idle);
        hit
    }

    /// A job leaves its processors idle.
    fn remove(&mut self, id: JobId) -> bool {
        let Some(at) = self.jobs.iter().position(|job| job.0 == id) else { return false };
        self.idle += self.jobs.remove(at).1;
        true
    }
}
