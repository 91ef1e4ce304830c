//! Suspension of jobs when power has fallen, and their resumption.

use super::ShapedEasy;
use super::scene::{PassScene, SizedRunner, single_size_set};
use super::steps::RoomSteps;
use crate::model::{JobId, Procs, SharedSort, Span, Time};
use crate::policy::{Action, Actions, HeldSpan, Placement};

/// A suspended job, or a running one that is suspended unless there is room for it.
enum ResumableJob {
    Parked(JobId),
    /// A running job for which the cap leaves no power.
    Cut(SizedRunner),
}

impl ResumableJob {
    fn id(&self) -> JobId {
        match self {
            ResumableJob::Parked(id) => *id,
            ResumableJob::Cut(runner) => runner.id,
        }
    }
}

/// Actions of a pass for suspended jobs. All jobs that give come before those that take.
#[derive(Default)]
struct PausedActions {
    suspends: Vec<Action>,
    shrinks: Vec<Action>,
    takes: Vec<Action>,
}

impl ShapedEasy {
    /// Resumes suspended jobs for which there is room, and suspends the jobs above the cap for
    /// which there is none. Both kinds are treated together, in the order of their first starts.
    /// Returns what the first job that has to wait would hold.
    pub(super) fn resume_parked(
        &mut self,
        scene: &mut PassScene<'_>,
        actions: &mut Actions,
    ) -> Option<(HeldSpan, i64)> {
        if self.parked.is_empty() && scene.cut.is_empty() {
            return None;
        }
        let parked_jobs = std::mem::take(&mut self.parked).into_iter().map(ResumableJob::Parked);
        let mut paused_jobs: Vec<ResumableJob> =
            parked_jobs.chain(std::mem::take(&mut scene.cut).into_iter().map(ResumableJob::Cut)).collect();
        paused_jobs.sort_shared_by_key(|paused_job| (scene.view.last_start(paused_job.id()), paused_job.id()));
        let (mut reservation, mut resumptions) = (None, PausedActions::default());
        for paused_job in paused_jobs {
            let (id, watts) = (paused_job.id(), scene.view.job_watts(paused_job.id()));
            if let ResumableJob::Cut(runner) = &paused_job
                && runner.held_spans().all(|span| scene.room.fits_span(span, watts))
            {
                PassScene::change_room(runner, &mut scene.room, -1);
                scene.runners.push(runner.clone());
                continue;
            }
            let best = self.best_resumption(id, scene, &scene.room);
            if let Some((start, size, rest)) = best.filter(|best| best.0 == scene.now) {
                let span = HeldSpan { from: start, until: start + rest, procs: size };
                scene.room.change_span(span, watts, -1);
                resumptions.go_on(&paused_job, size, scene);
                let movable = matches!(&paused_job, ResumableJob::Cut(one) if one.size != size);
                scene.runners.push(SizedRunner {
                    id,
                    size,
                    pace: scene.view.job_pace(id),
                    watts,
                    spans: (span, None),
                    movable,
                    touched: true,
                    gives: false,
                });
                continue;
            }
            if let ResumableJob::Cut(_) = paused_job {
                resumptions.suspends.push(Action::Suspend(id));
            }
            self.parked.push(id);
            if let (None, Some((start, size, rest))) = (reservation, best) {
                let span = HeldSpan { from: start, until: start + rest, procs: size };
                scene.room.change_span(span, watts, -1);
                reservation = Some((span, watts));
            }
        }
        if let Some((span, watts)) = reservation {
            scene.room.change_span(span, watts, 1);
        }
        scene.runners.sort_shared_by_key(|runner| (scene.view.last_start(runner.id), runner.id));
        [resumptions.suspends, resumptions.shrinks, resumptions.takes]
            .concat()
            .into_iter()
            .for_each(|action| actions.push(action));
        reservation
    }

    /// Returns the start and the size with which a job is predicted to end first, and the time that
    /// it then takes. The job keeps its own size where no other ends earlier or none is allowed.
    pub(super) fn best_resumption(
        &self,
        id: JobId,
        scene: &PassScene<'_>,
        room: &RoomSteps,
    ) -> Option<(Time, Procs, Span)> {
        let (view, now, own) = (scene.view, scene.now, scene.view.job_size(id));
        let shape = view.job_shape(id).filter(|shape| shape.kind.is_malleable() && self.choices.migrates);
        let sizes = match shape {
            Some(shape) if view.last_start(id) < now => scene.sizes_within(id, shape),
            _ => single_size_set(own),
        };
        let plan = |size: Procs| {
            let rest = match view.is_running(id) {
                // The job would draw as much as before until it has shrunk.
                true if view.release_time(id, now, size) > now => return None,
                true => view.end_at_size(id, now, size) - now,
                false => view.rest_at_size(id, size),
            };
            let rest = rest.max(Span(1));
            Some((room.earliest_start(size, view.job_watts(id), rest)?, size, rest))
        };
        let other_plans = sizes.iter().filter(|&size| size != own).filter_map(plan);
        plan(own).into_iter().chain(other_plans).min_by_key(|(start, size, rest)| (*start + *rest, *size != own, *size))
    }
}

impl PausedActions {
    /// Adds the action that lets a job run with this size from now on.
    fn go_on(&mut self, paused_job: &ResumableJob, procs: Procs, scene: &PassScene<'_>) {
        let (job, own) = (paused_job.id(), scene.view.job_size(paused_job.id()));
        match paused_job {
            // A change to the present size withdraws one that is pending.
            ResumableJob::Cut(_) if procs == own => self.shrinks.push(Action::Resize { job, procs, at_once: false }),
            ResumableJob::Cut(_) if procs < own => self.shrinks.push(Action::Resize { job, procs, at_once: true }),
            ResumableJob::Cut(_) => self.takes.push(Action::Resize { job, procs, at_once: true }),
            ResumableJob::Parked(_) if procs == own => self.takes.push(Action::ResumeOn { job, on: Placement::Any }),
            ResumableJob::Parked(_) => self.takes.push(Action::ResumeWith { job, procs }),
        }
    }
}
