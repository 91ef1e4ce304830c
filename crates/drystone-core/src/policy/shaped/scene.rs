//! The machine within a pass: running jobs as they are after what the pass has done so far.

use super::steps::RoomSteps;
use crate::model::{JobId, JobKind, JobShape, Procs, SizeSet, Span, Time};
use crate::policy::{Actions, HeldSpan, StartReason, View};
use std::collections::BTreeMap;

/// A running job within a pass.
#[derive(Clone, Debug)]
pub(super) struct SizedRunner {
    pub(super) id: JobId,
    pub(super) size: Procs,
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
    /// Predicted end.
    pub(super) fn end(&self) -> Time {
        self.spans.1.map_or(self.spans.0.until, |span| span.until)
    }

    pub(super) fn each(&self) -> impl Iterator<Item = HeldSpan> + use<> {
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
}

/// The sizes of a job that may have several.
pub(super) fn sized<'a>(view: &View<'a>, id: JobId) -> Option<&'a JobShape> {
    view.shape(id).filter(|shape| shape.kind != JobKind::Rigid)
}

/// The set of sizes of a job with one.
pub(super) fn single(size: Procs) -> SizeSet {
    SizeSet::Range(size, size)
}

impl<'a> PassScene<'a> {
    /// The machine as the view shows it.
    pub(super) fn of(view: &'a View<'a>) -> PassScene<'a> {
        let now = view.now();
        let mut runners: Vec<SizedRunner> = view
            .running()
            .iter()
            .map(|job| {
                let malleable = view.shape(job.id).is_some_and(|shape| shape.kind.is_malleable());
                SizedRunner {
                    id: job.id,
                    size: job.procs,
                    watts: view.watts(job.id),
                    spans: view.held_spans(job.id),
                    movable: malleable && view.began(job.id) < now && view.pending(job.id).is_none(),
                    touched: view.sized_at(job.id) >= now,
                    gives: view.gives_back(job.id),
                }
            })
            .collect();
        let room = RoomSteps::of(view, runners.iter().flat_map(|one| one.each().map(|span| (span, one.watts))));
        runners.sort_unstable_by_key(|one| (view.began(one.id), one.id));
        PassScene { view, now, runners, room, caps: BTreeMap::new(), cut: Vec::new() }
    }

    /// The largest size that a job may have.
    pub(super) fn cap(&self, id: JobId) -> Procs {
        self.caps.get(&id).copied().unwrap_or(Procs::MAX)
    }

    /// The sizes that any job may have.
    pub(super) fn all_sizes(&self, id: JobId) -> SizeSet {
        sized(self.view, id).map_or_else(|| single(self.view.job(id).procs), |shape| self.sizes_within(id, shape))
    }

    /// The sizes of a shape, without those beyond the largest that the job may have.
    pub(super) fn sizes_within(&self, id: JobId, shape: &JobShape) -> SizeSet {
        let mut sizes = shape.sizes.clone();
        if let Some(cap) = self.caps.get(&id) {
            sizes.cut(*cap);
        }
        sizes
    }

    /// Span of a job that starts then.
    pub(super) fn span(&self, id: JobId, from: Time, size: Procs) -> HeldSpan {
        HeldSpan { from, until: from + self.run(id, size), procs: size }
    }

    /// Predicted run time of a waiting job.
    pub(super) fn run(&self, id: JobId, size: Procs) -> Span {
        self.view.prediction_at(id, size)
    }

    /// Returns whether a waiting job can start now with this size.
    pub(super) fn fits_now(&self, id: JobId, size: Procs) -> bool {
        self.room.fits(self.span(id, self.now, size), self.view.watts(id))
    }

    /// Starts a waiting job.
    pub(super) fn start(&mut self, id: JobId, size: Procs, why: StartReason, actions: &mut Actions) {
        match size == self.view.size(id) {
            true => actions.start(id, why),
            false => actions.start_with(id, size, why),
        }
        let mut span = self.span(id, self.now, size);
        span.until = span.until.max(self.now + Span(1));
        let watts = self.view.watts(id);
        self.room.change(span, watts, -1);
        self.runners.push(SizedRunner {
            id,
            size,
            watts,
            spans: (span, None),
            movable: false,
            touched: true,
            gives: false,
        });
    }

    /// Takes what a running job holds out of a room, or puts it back.
    pub(super) fn lift(one: &SizedRunner, room: &mut RoomSteps, sign: i64) {
        one.each().for_each(|span| room.change(span, one.watts, sign));
    }

    /// Changes the size of a running job, at once or at its next point.
    pub(super) fn resize(&mut self, at: usize, to: Procs, at_once: bool, actions: &mut Actions) {
        let id = self.runners[at].id;
        match at_once {
            true => actions.push(crate::policy::Action::Resize { job: id, procs: to, at_once }),
            false => actions.resize(id, to),
        }
        Self::lift(&self.runners[at], &mut self.room, 1);
        let end = self.runners[at].end();
        let point = if at_once { self.now } else { self.view.next_point(id) };
        let release = self.view.release(id, point, to);
        let until = self.view.end_at_size(id, point, to);
        let one = &mut self.runners[at];
        let next = HeldSpan { from: release, until, procs: to };
        if release <= self.now {
            (one.size, one.touched) = (to, true);
            one.spans = (HeldSpan { until: until.max(self.now + Span(1)), ..next }, None);
        } else {
            (one.movable, one.gives) = (false, point <= self.now);
            one.spans = (HeldSpan { from: self.now, until: release, procs: one.size.max(to) }, Some(next));
        }
        Self::lift(&self.runners[at], &mut self.room, -1);
        let excess = HeldSpan { from: release, until: end, procs: self.drained(id).saturating_sub(to) };
        self.room.change(excess, 0, -1);
    }

    /// Processors of a running job that are out: it does not give them back.
    pub(super) fn drained(&self, id: JobId) -> Procs {
        let drains = self.view.outlook().map_or(&[][..], |outlook| &outlook.drains);
        drains.iter().filter(|drain| drain.job == id).map(|drain| drain.procs).sum()
    }

    /// Returns the watts that jobs still draw and are about to give back, since they have begun to
    /// shrink.
    pub(super) fn going_watts(&self) -> i64 {
        let gives = self.runners.iter().filter(|one| one.gives);
        let less = |one: &SizedRunner| {
            let next_size = one.spans.1.map_or(one.size, |next_size| next_size.procs);
            i64::from(one.size.saturating_sub(next_size)) * one.watts
        };
        gives.map(less).sum()
    }

    /// Processors that pending shrinks will free.
    pub(super) fn coming(&self) -> i64 {
        let less = |one: &SizedRunner| one.spans.1.map_or(0, |then| i64::from(one.size) - i64::from(then.procs));
        self.runners.iter().map(|one| less(one).max(0)).sum()
    }
}
