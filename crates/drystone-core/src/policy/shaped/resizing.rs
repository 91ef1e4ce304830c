//! Malleable jobs that give processors to the head of the queue, and grow into what is left.

use super::scene::{PassScene, job_sizes};
use super::settings::{ShareRule, ShrinkLadder};
use super::steps::RoomSteps;
use crate::model::{JobId, JobShape, Procs, SharedSort, Time};
use crate::policy::{Actions, HeldSpan, View};
use std::cmp::Reverse;

/// A size of a rung.
#[derive(Clone, Copy)]
enum Rung {
    Min,
    Pref,
}

impl Rung {
    fn size_of(self, shape: &JobShape) -> Procs {
        match self {
            Rung::Min => shape.sizes.min(),
            Rung::Pref => shape.preferred,
        }
    }
}

const RUNGS: &[(Rung, Rung)] = &[(Rung::Pref, Rung::Pref), (Rung::Min, Rung::Pref), (Rung::Min, Rung::Min)];

impl ShrinkLadder {
    /// Of the head, and of those that give.
    fn rungs(self) -> &'static [(Rung, Rung)] {
        match self {
            ShrinkLadder::Min => &RUNGS[2..],
            ShrinkLadder::Pref => RUNGS,
            ShrinkLadder::Keep => &RUNGS[..2],
        }
    }
}

/// Consequence of an attempt to shrink jobs for the head.
pub(super) enum Shrunk {
    /// It starts with this size.
    Starts(Procs),
    /// Others shrink later; this size is reserved for it.
    Waits(Procs),
    /// Nothing helps.
    Not,
}

/// A job that may give processors.
struct Giver {
    at: usize,
    floor: Procs,
    keep: Procs,
    size: Procs,
    left: Procs,
}

/// Compares the places of two jobs between their smallest and largest sizes.
fn compare_fullness(a: (&JobShape, Procs), b: (&JobShape, Procs)) -> std::cmp::Ordering {
    let part = |(shape, size): (&JobShape, Procs)| {
        let (min, max) = (shape.sizes.min(), shape.sizes.max());
        (u64::from(size - min), u64::from((max - min).max(1)))
    };
    let ((over, under), (above, below)) = (part(a), part(b));
    (over * below).cmp(&(above * under))
}

impl PassScene<'_> {
    /// Shrinks jobs so that the head can start now, or at their next points. `reserved` is the
    /// start that the head has without that.
    pub(super) fn shrink_for(
        &mut self,
        head: JobId,
        (ladder, share): (ShrinkLadder, ShareRule),
        shadow_of: impl Fn(&PassScene<'_>) -> Option<Time>,
        actions: &mut Actions,
    ) -> Shrunk {
        let pending_procs = self.pending_procs();
        for &(want, keep) in ladder.rungs() {
            let size = match job_sizes(self.view, head) {
                Some(shape) => {
                    let want = if shape.kind.is_malleable() { want.size_of(shape) } else { shape.preferred };
                    shape.sizes.at_most(self.size_cap(head)).map_or(want, |most| want.min(most))
                }
                _ => self.view.job(head).procs,
            };
            let need = i64::from(size) - self.room.free_now().0 - pending_procs;
            if need + pending_procs <= 0 && self.fits_now(head, size) {
                return Shrunk::Starts(size);
            }
            if need <= 0 {
                continue;
            }
            let Some(givers) = self.find_givers(need, keep, share) else { continue };
            let release = |giver: &Giver| {
                let id = self.runners[giver.at].id;
                self.view.release_time(id, self.view.next_point(id), giver.left)
            };
            let last = givers.iter().map(release).fold(self.now, Time::max);
            if !self.room_after(&givers).fits_span(self.held_span(head, last, size), self.view.job_watts(head)) {
                continue;
            }
            let now = last == self.now;
            if !now && shadow_of(self).is_some_and(|start| start <= last) {
                continue;
            }
            let mut givers = givers;
            givers.sort_shared_by_key(|giver| self.runners[giver.at].id);
            givers.iter().for_each(|giver| self.resize_job(giver.at, giver.left, false, actions));
            return if now { Shrunk::Starts(size) } else { Shrunk::Waits(size) };
        }
        Shrunk::Not
    }

    /// Jobs that give so many processors in all, with the sizes that are left to them; `None` if
    /// that is too much.
    fn find_givers(&self, mut need: i64, keep: Rung, share: ShareRule) -> Option<Vec<Giver>> {
        let mut pool = Vec::new();
        for (at, runner) in self.runners.iter().enumerate().filter(|(_, runner)| runner.movable) {
            let Some(shape) = job_sizes(self.view, runner.id) else { continue };
            let keep = keep.size_of(shape);
            if runner.size > keep
                && let Some(floor) = shape.sizes.at_least(keep.max(self.drained_procs(runner.id)))
                && runner.size > floor
            {
                pool.push(Giver { at, floor, keep, size: runner.size, left: runner.size });
            }
        }
        while need > 0 {
            let id = |giver: &Giver| self.runners[giver.at].id;
            let able = pool.iter_mut().filter(|giver| giver.left > giver.floor);
            let giver = match share {
                ShareRule::Surplus => able.min_by_key(|giver| (Reverse(giver.size - giver.keep), id(giver))),
                ShareRule::Fpsma => able.max_by_key(|giver| (self.view.last_start(id(giver)), id(giver))),
                ShareRule::Equal => able.min_by(|a, b| {
                    let of = |giver: &Giver| self.view.job_shape(id(giver));
                    let order = match (of(a), of(b)) {
                        (Some(first_shape), Some(other)) => compare_fullness((other, b.left), (first_shape, a.left)),
                        _ => std::cmp::Ordering::Equal,
                    };
                    order.then_with(|| id(a).cmp(&id(b)))
                }),
            }?;
            let shape = self.view.job_shape(self.runners[giver.at].id)?;
            let least = match share {
                ShareRule::Equal => shape.sizes.at_most(giver.left - 1)?,
                ShareRule::Surplus | ShareRule::Fpsma => {
                    let enough = Procs::try_from(i64::from(giver.left) - need).unwrap_or(0);
                    shape.sizes.at_most(enough).filter(|size| *size >= giver.floor).unwrap_or(giver.floor)
                }
            };
            need -= i64::from(giver.left - least);
            giver.left = least;
        }
        pool.retain(|giver| giver.left < giver.size);
        Some(pool)
    }

    /// The room if these jobs had given.
    fn room_after(&self, givers: &[Giver]) -> RoomSteps {
        let mut room = self.room.clone();
        for giver in givers {
            let runner = &self.runners[giver.at];
            Self::change_room(runner, &mut room, 1);
            let until = self.view.end_at_shape(runner.id, self.view.next_point(runner.id), (giver.left, runner.pace));
            room.change_span(HeldSpan { from: self.now, until, procs: giver.left }, runner.watts, -1);
        }
        room
    }

    /// Lets jobs grow into the room that is left beside the reservation.
    pub(super) fn grow_jobs(&mut self, reservation: Option<(HeldSpan, i64)>, share: ShareRule, actions: &mut Actions) {
        let mut able: Vec<usize> =
            (0..self.runners.len()).filter(|&at| self.runners[at].movable && !self.runners[at].touched).collect();
        if able.is_empty() || self.room.free_now().0 <= 0 {
            return;
        }
        able.sort_shared_by_key(|&at| self.runners[at].id);
        let mut growth =
            Growth { room: self.room.clone(), sizes: able.iter().map(|&at| (at, self.runners[at].size)).collect() };
        if let Some((span, watts)) = reservation {
            growth.room.change_span(span, watts, -1);
        }
        match share {
            ShareRule::Equal => growth.step_by_step(self),
            ShareRule::Surplus => {
                let below = |view: &View<'_>, id, size: Procs| {
                    view.job_shape(id).map_or(0, |shape| i64::from(size) - i64::from(shape.preferred))
                };
                growth.run_round(
                    self,
                    |scene, at, size| below(scene.view, scene.runners[at].id, size),
                    |shape| shape.preferred,
                );
                growth.run_round(
                    self,
                    |scene, at, size| below(scene.view, scene.runners[at].id, size),
                    |shape| shape.sizes.max(),
                );
            }
            ShareRule::Fpsma => {
                for _ in 0..2 {
                    growth.run_round(
                        self,
                        |scene, at, _| scene.view.last_start(scene.runners[at].id).0,
                        |shape| shape.sizes.max(),
                    );
                }
            }
        }
        for (at, size) in growth.sizes {
            if size > self.runners[at].size {
                self.resize_job(at, size, false, actions);
            }
        }
    }
}

/// Sizes that jobs are to grow to, and the room that is left then.
struct Growth {
    room: RoomSteps,
    /// By number of the job.
    sizes: Vec<(usize, Procs)>,
}

impl Growth {
    /// Takes the future span of a running job out of the room, or puts it back.
    fn change_room(&mut self, scene: &PassScene<'_>, (at, size): (usize, Procs), sign: i64) {
        let runner = &scene.runners[at];
        if size == runner.size {
            return PassScene::change_room(runner, &mut self.room, sign);
        }
        let until = end_of(scene, runner.id, size);
        self.room.change_span(HeldSpan { from: scene.now, until, procs: size }, runner.watts, sign);
    }

    /// Gives a job the largest size up to this one that fits and ends it earlier than before.
    /// Returns whether it grows.
    fn enlarge_job(&mut self, scene: &PassScene<'_>, place: usize, most: Procs) -> bool {
        let (at, size) = self.sizes[place];
        let runner = &scene.runners[at];
        let Some(shape) = scene.view.job_shape(runner.id).filter(|_| most > size) else { return false };
        self.change_room(scene, (at, size), 1);
        let fits = Procs::try_from(self.room.free_now().0).unwrap_or(0).min(most).min(scene.size_cap(runner.id));
        let until = |size| end_of(scene, runner.id, size);
        let larger = self.room.largest_size(scene.now, &shape.sizes, fits, runner.watts, until);
        let larger = larger.filter(|&to| to > size && until(to) < runner.predicted_end());
        self.sizes[place].1 = larger.unwrap_or(size);
        self.change_room(scene, self.sizes[place], -1);
        larger.is_some()
    }

    /// Each job once, in an order as of now.
    fn run_round(
        &mut self,
        scene: &PassScene<'_>,
        key: impl Fn(&PassScene<'_>, usize, Procs) -> i64,
        most: impl Fn(&JobShape) -> Procs,
    ) {
        let mut places: Vec<usize> = (0..self.sizes.len()).collect();
        places.sort_by_key(|&place| key(scene, self.sizes[place].0, self.sizes[place].1));
        for place in places {
            if let Some(shape) = scene.view.job_shape(scene.runners[self.sizes[place].0].id) {
                self.enlarge_job(scene, place, most(shape));
            }
        }
    }

    /// One step of the emptiest job at a time.
    fn step_by_step(&mut self, scene: &PassScene<'_>) {
        let mut open: Vec<usize> = (0..self.sizes.len()).collect();
        loop {
            let shape = |place: usize| scene.view.job_shape(scene.runners[self.sizes[place].0].id);
            open.retain(|&place| shape(place).is_some_and(|shape| self.sizes[place].1 < shape.sizes.max()));
            let emptiest = open.iter().copied().min_by(|&a, &b| match (shape(a), shape(b)) {
                (Some(first_shape), Some(other)) => {
                    compare_fullness((first_shape, self.sizes[a].1), (other, self.sizes[b].1)).then_with(|| a.cmp(&b))
                }
                _ => a.cmp(&b),
            });
            let Some(place) = emptiest else { return };
            let next = shape(place).and_then(|shape| shape.sizes.at_least(self.sizes[place].1 + 1));
            if !next.is_some_and(|next| self.enlarge_job(scene, place, next)) {
                open.retain(|&member| member != place);
            }
        }
    }
}

/// Predicted end of a running job that changes its size at its next point.
fn end_of(scene: &PassScene<'_>, id: JobId, size: Procs) -> Time {
    scene.view.end_at_size(id, scene.view.next_point(id), size)
}
