//! The machine within a pass: running jobs as they are after what the pass has done so far.

use super::steps::RoomSteps;
use crate::model::{JobId, JobKind, JobShape, PaceNumber, Procs, SizeSet, Span, Time};
use crate::policy::{Actions, HeldSpan, StartReason, View};
use std::collections::BTreeMap;

/// A running job within a pass.
#[derive(Clone, Debug)]
pub(super) struct SizedRunner {
    pub(super) id: JobId,
    pub(super) size: Procs,
    pub(super) pace: PaceNumber,
    pub(super) watts: i64,
    /// Spans that it is predicted to hold; the second where its size is to change.
    pub(super) spans: (HeldSpan, Option<HeldSpan>),
    /// True if the scheduler may change its size at this pass.
    pub(super) movable: bool,
    /// True if it has started or changed its size at this instant.
    pub(super) touched: bool,
    /// True if the job has begun to shrink and gives processors back later.
    pub(super) gives: bool,
}

impl SizedRunner {
    pub(super) fn predicted_end(&self) -> Time {
        self.spans.1.map_or(self.spans.0.until, |span| span.until)
    }

    pub(super) fn held_spans(&self) -> impl Iterator<Item = HeldSpan> + use<> {
        std::iter::once(self.spans.0).chain(self.spans.1)
    }
}

/// Running jobs and free room within a pass.
pub(super) struct PassScene<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) now: Time,
    /// In the order of their starts.
    pub(super) runners: Vec<SizedRunner>,
    pub(super) room: RoomSteps,
    /// Largest sizes of jobs, where these are limited.
    pub(super) caps: BTreeMap<JobId, Procs>,
    /// Running jobs for which the cap leaves no power.
    pub(super) cut: Vec<SizedRunner>,
    /// True if jobs may start at slower paces than the full one.
    pub(super) any_pace: bool,
}

pub(super) fn job_sizes<'a>(view: &View<'a>, id: JobId) -> Option<&'a JobShape> {
    view.job_shape(id).filter(|shape| shape.kind != JobKind::Rigid)
}

pub(super) fn single_size_set(size: Procs) -> SizeSet {
    SizeSet::Range(size, size)
}

impl<'a> PassScene<'a> {
    /// The machine as the view shows it.
    pub(super) fn from_view(view: &'a View<'a>) -> PassScene<'a> {
        let now = view.current_time();
        let mut runners: Vec<SizedRunner> = view
            .running_jobs()
            .iter()
            .map(|job| {
                let malleable = view.job_shape(job.id).is_some_and(|shape| shape.kind.is_malleable());
                SizedRunner {
                    id: job.id,
                    size: job.procs,
                    pace: view.job_pace(job.id),
                    watts: view.job_watts(job.id),
                    spans: view.held_spans(job.id),
                    movable: malleable && view.last_start(job.id) < now && view.pending_size(job.id).is_none(),
                    touched: view.sized_at(job.id) >= now,
                    gives: view.gives_back(job.id),
                }
            })
            .collect();
        let room = RoomSteps::from_spans(
            view,
            runners.iter().flat_map(|runner| runner.held_spans().map(|span| (span, runner.watts))),
        );
        runners.sort_unstable_by_key(|runner| (view.last_start(runner.id), runner.id));
        PassScene { view, now, runners, room, caps: BTreeMap::new(), cut: Vec::new(), any_pace: false }
    }

    pub(super) fn size_cap(&self, id: JobId) -> Procs {
        self.caps.get(&id).copied().unwrap_or(Procs::MAX)
    }

    /// The sizes that any job may have.
    pub(super) fn all_sizes(&self, id: JobId) -> SizeSet {
        job_sizes(self.view, id)
            .map_or_else(|| single_size_set(self.view.job(id).procs), |shape| self.sizes_within(id, shape))
    }

    /// The sizes of a shape, without those beyond the largest that the job may have.
    pub(super) fn sizes_within(&self, id: JobId, shape: &JobShape) -> SizeSet {
        let mut sizes = shape.sizes.clone();
        if let Some(cap) = self.caps.get(&id) {
            sizes.cut_above(*cap);
        }
        sizes
    }

    /// Span of a job that starts then at its full pace.
    pub(super) fn held_span(&self, id: JobId, from: Time, size: Procs) -> HeldSpan {
        self.span_at(id, from, (size, 0))
    }

    pub(super) fn span_at(&self, id: JobId, from: Time, (size, pace): (Procs, PaceNumber)) -> HeldSpan {
        HeldSpan { from, until: from + self.view.prediction_at_pace(id, size, pace), procs: size }
    }

    /// Predicted run time of a waiting job at its full pace.
    pub(super) fn predicted_run(&self, id: JobId, size: Procs) -> Span {
        self.view.prediction_at(id, size)
    }

    pub(super) fn fits_now(&self, id: JobId, size: Procs) -> bool {
        self.room.fits_span(self.held_span(id, self.now, size), self.view.job_watts(id))
    }

    /// Starts a waiting job at its full pace.
    pub(super) fn start_job(&mut self, id: JobId, size: Procs, reason: StartReason, actions: &mut Actions) {
        self.start_at(id, (size, 0), reason, actions);
    }

    pub(super) fn start_at(
        &mut self,
        id: JobId,
        (size, pace): (Procs, PaceNumber),
        reason: StartReason,
        actions: &mut Actions,
    ) {
        match (size, pace) == (self.view.job_size(id), 0) {
            true => actions.start_job(id, reason),
            false => actions.start_at(id, (size, pace), reason),
        }
        let mut span = self.span_at(id, self.now, (size, pace));
        span.until = span.until.max(self.now + Span(1));
        let watts = self.view.watts_at(id, pace);
        self.room.change_span(span, watts, -1);
        self.runners.push(SizedRunner {
            id,
            size,
            pace,
            watts,
            spans: (span, None),
            movable: false,
            touched: true,
            gives: false,
        });
    }

    /// Takes what a running job holds out of a room, or puts it back.
    pub(super) fn change_room(runner: &SizedRunner, room: &mut RoomSteps, sign: i64) {
        runner.held_spans().for_each(|span| room.change_span(span, runner.watts, sign));
    }

    /// Changes the size of a running job, at once or at its next point.
    pub(super) fn resize_job(&mut self, at: usize, to: Procs, at_once: bool, actions: &mut Actions) {
        let id = self.runners[at].id;
        match at_once {
            true => actions.push(crate::policy::Action::Resize { job: id, procs: to, at_once }),
            false => actions.resize_job(id, to),
        }
        Self::change_room(&self.runners[at], &mut self.room, 1);
        let end = self.runners[at].predicted_end();
        let point = if at_once { self.now } else { self.view.next_point(id) };
        let release = self.view.release_time(id, point, to);
        let until = self.view.end_at_shape(id, point, (to, self.runners[at].pace));
        let runner = &mut self.runners[at];
        let next = HeldSpan { from: release, until, procs: to };
        if release <= self.now {
            (runner.size, runner.touched) = (to, true);
            runner.spans = (HeldSpan { until: until.max(self.now + Span(1)), ..next }, None);
        } else {
            (runner.movable, runner.gives) = (false, point <= self.now);
            runner.spans = (HeldSpan { from: self.now, until: release, procs: runner.size.max(to) }, Some(next));
        }
        Self::change_room(&self.runners[at], &mut self.room, -1);
        let excess = HeldSpan { from: release, until: end, procs: self.drained_procs(id).saturating_sub(to) };
        self.room.change_span(excess, 0, -1);
    }

    pub(super) fn set_pace(&mut self, at: usize, pace: PaceNumber, actions: &mut Actions) {
        let runner = &mut self.runners[at];
        actions.push(crate::policy::Action::SetPace { job: runner.id, pace });
        Self::change_room(runner, &mut self.room, 1);
        let (before, until) =
            (runner.predicted_end(), self.view.end_at_shape(runner.id, self.now, (runner.size, pace)));
        let until = until.max(self.now + Span(1));
        (runner.pace, runner.watts, runner.touched) = (pace, self.view.watts_at(runner.id, pace), true);
        runner.spans = (HeldSpan { from: self.now, until, procs: runner.size }, None);
        Self::change_room(runner, &mut self.room, -1);
        // Processors that are out leave with the job, at its new end.
        let (id, sign) = (runner.id, if until > before { 1 } else { -1 });
        let shift = HeldSpan { from: before.min(until), until: before.max(until), procs: self.drained_procs(id) };
        self.room.change_span(shift, 0, sign);
    }

    /// Returns jobs to faster paces, where they then end earlier and fit around all others and the
    /// reservation: in the order of their starts, each at the fastest pace that fits.
    pub(super) fn raise_paces(&mut self, reservation: Option<(HeldSpan, i64)>, actions: &mut Actions) {
        for at in 0..self.runners.len() {
            let runner = &self.runners[at];
            if runner.pace == 0 || runner.touched || runner.spans.1.is_some() {
                continue;
            }
            let mut room = self.room.clone();
            Self::change_room(runner, &mut room, 1);
            if let Some((span, watts)) = reservation {
                room.change_span(span, watts, -1);
            }
            let fits = |pace: &PaceNumber| {
                let until = self.view.end_at_shape(runner.id, self.now, (runner.size, *pace));
                let span = HeldSpan { from: self.now, until, procs: runner.size };
                until < runner.predicted_end() && room.fits_span(span, self.view.watts_at(runner.id, *pace))
            };
            if let Some(pace) = (0..runner.pace).find(fits) {
                self.set_pace(at, pace, actions);
            }
        }
    }

    /// Processors of a running job that are out: it does not give them back.
    pub(super) fn drained_procs(&self, id: JobId) -> Procs {
        let drains = self.view.outlook().map_or(&[][..], |outlook| &outlook.drains);
        drains.iter().filter(|drain| drain.job == id).map(|drain| drain.procs).sum()
    }

    /// Returns the watts that jobs still draw and are about to give back, since they have begun to
    /// shrink.
    pub(super) fn going_watts(&self) -> i64 {
        let gives = self.runners.iter().filter(|runner| runner.gives);
        let less = |runner: &SizedRunner| {
            let next_size = runner.spans.1.map_or(runner.size, |next_size| next_size.procs);
            i64::from(runner.size.saturating_sub(next_size)) * runner.watts
        };
        gives.map(less).sum()
    }

    /// Processors that pending shrinks will free.
    pub(super) fn pending_procs(&self) -> i64 {
        let less =
            |runner: &SizedRunner| runner.spans.1.map_or(0, |then| i64::from(runner.size) - i64::from(then.procs));
        self.runners.iter().map(|runner| less(runner).max(0)).sum()
    }
}
