//! A forecaster that learns by looking at a session now and then, as beside a live cluster.

use crate::forecaster::{Forecaster, StartAnswer};
use crate::general::FutureError;
use drystone_core::engine::Session;
use drystone_core::model::{Job, JobId, Span, Time};
use drystone_core::policy::Phase;
use std::collections::BTreeMap;

/// Waiting jobs of which a plan is made, at most: it takes time with the square of them.
const MOST_PLANNED: u32 = 1_000;

/// Time between two rounds of answers about jobs that still wait, which are compared with their
/// starts.
const ROUND: Span = Span::HOUR;

/// A job at the last look.
#[derive(Clone, Debug)]
struct FollowedJob {
    job: Job,
    /// Time that it had run, and whether it was running; `None` while it waits.
    ran: Option<(Span, bool)>,
    /// True if an answer for it is held against its start.
    asked: bool,
}

/// A forecaster beside a session that others drive. It compares what is here with what was here at
/// the last look: jobs that came, started, ended or were withdrawn in between.
pub struct Follower {
    forecaster: Forecaster,
    known: BTreeMap<JobId, FollowedJob>,
    /// Jobs below are over or known.
    next: JobId,
    looked: Time,
    /// Time of the next round.
    round: Time,
}

impl Follower {
    /// One that has seen nothing yet.
    #[must_use]
    pub fn new(forecaster: Forecaster) -> Follower {
        Follower { forecaster, known: BTreeMap::new(), next: JobId(0), looked: Time::MIN, round: Time::MIN }
    }

    /// The forecaster that learns.
    #[must_use]
    pub fn forecaster(&self) -> &Forecaster {
        &self.forecaster
    }

    /// Learns what has happened since the last look; returns whether anything has.
    pub fn follow_session(&mut self, session: &Session) -> bool {
        let view = session.view();
        let now = view.current_time();
        let since = if self.looked == Time::MIN { Span::ZERO } else { now - self.looked };
        let mut has_changed = false;
        let mut over = Vec::new();
        for (&id, entry) in &mut self.known {
            let phase = if view.is_known(id) { view.phase(id) } else { Phase::Done };
            let runs = matches!(phase, Phase::Running | Phase::Suspended);
            match (entry.ran, runs) {
                (None, true) => {
                    self.forecaster.note_job_start(id, view.segment_start(id));
                    has_changed = true;
                }
                // Back in the queue: what it ran is lost.
                (Some(_), false) if phase != Phase::Done => has_changed = true,
                _ => {}
            }
            if phase == Phase::Done {
                match entry.ran {
                    Some((ran, running)) => {
                        let ran = if running { Span(ran.0 + since.0) } else { ran };
                        self.forecaster.note_job_end(id, &entry.job, ran);
                    }
                    // It ran and ended between two looks, or it was withdrawn.
                    None => self.forecaster.note_job_withdrawal(id, now),
                }
                over.push(id);
                has_changed = true;
            } else {
                entry.ran = runs.then(|| (view.run_time_so_far(id), phase == Phase::Running));
            }
        }
        for id in over {
            self.known.remove(&id);
        }
        for id in (self.next.0.max(view.oldest_job().0)..session.next_id().0).map(JobId) {
            if !view.is_known(id) || view.phase(id) == Phase::Done {
                continue;
            }
            let (job, phase) = (view.job(id).clone(), view.phase(id));
            let runs = matches!(phase, Phase::Running | Phase::Suspended);
            self.forecaster.note_job_arrival(id, &job);
            let ran = runs.then(|| (view.run_time_so_far(id), phase == Phase::Running));
            self.known.insert(id, FollowedJob { job, ran, asked: false });
            has_changed = true;
        }
        self.next = session.next_id();
        self.looked = now;
        has_changed
    }

    /// Returns the answers for these waiting jobs, from the same futures. The first answer for each
    /// is compared with its start, and so is one answer an hour while the job still waits.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn answer_jobs(&mut self, session: &Session, jobs: &[JobId]) -> Result<Vec<StartAnswer>, FutureError> {
        Ok(self.answer_until(session, jobs, &|| false)?.unwrap_or_default())
    }

    /// As [`Follower::answer_jobs`], from fewer futures once `stop` says so; `None` where they are
    /// too few.
    ///
    /// # Errors
    /// As [`Forecaster::ask_job`].
    pub fn answer_until(
        &mut self,
        session: &Session,
        jobs: &[JobId],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<StartAnswer>>, FutureError> {
        let Some(answers) = self.forecaster.look_until(session, jobs, stop)? else { return Ok(None) };
        let is_fresh = |answer: &StartAnswer| self.known.get(&answer.job).is_none_or(|entry| !entry.asked);
        let (fresh, repeated_answers): (Vec<StartAnswer>, Vec<StartAnswer>) = answers.into_iter().partition(is_fresh);
        let now = session.view().current_time();
        let corrected_answers = self.forecaster.correct_answers(&repeated_answers, now);
        if now >= self.round && !repeated_answers.is_empty() {
            self.round = now + ROUND;
            for answer in &repeated_answers {
                self.forecaster.note_repeated(session.view().job(answer.job).user, answer);
            }
        }
        if !fresh.is_empty() {
            let ids: Vec<JobId> = fresh.iter().map(|answer| answer.job).collect();
            // Points are simulated only where there is time for them.
            let statistics = match stop() || session.waiting_count() > MOST_PLANNED {
                true => self.forecaster.bare_statistics(session, &ids),
                false => self.forecaster.past_statistics(session, &ids)?,
            };
            for (answer, statistics) in fresh.iter().zip(&statistics) {
                if let Some(entry) = self.known.get_mut(&answer.job) {
                    entry.asked = true;
                    self.forecaster.note_answer((answer.job, entry.job.user), answer, statistics);
                }
            }
        }
        let mut answers: BTreeMap<JobId, StartAnswer> =
            fresh.into_iter().chain(corrected_answers).map(|answer| (answer.job, answer)).collect();
        Ok(Some(jobs.iter().filter_map(|job| answers.remove(job)).collect()))
    }
}
