//! Choice of a size for a job that is to start.

use super::scene::{PassScene, sized};
use super::settings::ShapeRule;
use super::steps::RoomSteps;
use crate::model::{JobId, Procs, SizeSet, Time};

/// The sizes that a rule lets a job have, and how to choose among them.
pub(super) enum SizeWish {
    /// This one.
    One(Procs),
    /// The largest that fits, up to this.
    Largest(SizeSet, Procs),
    /// The one that is predicted to end first.
    First(SizeSet),
}

impl SizeWish {
    /// The sizes of a job by a rule, where none was chosen for it before.
    pub(super) fn of(rule: ShapeRule, chosen: Option<Procs>, id: JobId, scene: &PassScene<'_>) -> SizeWish {
        let Some(shape) = sized(scene.view, id) else { return SizeWish::One(scene.view.job(id).procs) };
        if let Some(size) = chosen {
            return SizeWish::One(size);
        }
        let sizes = scene.sizes_within(id, shape);
        match rule {
            ShapeRule::Preferred | ShapeRule::Submit => {
                SizeWish::One(sizes.at_most(shape.preferred).unwrap_or(sizes.min()))
            }
            ShapeRule::Min => SizeWish::One(sizes.min()),
            ShapeRule::UpTo => SizeWish::Largest(sizes, shape.preferred),
            ShapeRule::Most => {
                let most = sizes.max();
                SizeWish::Largest(sizes, most)
            }
            ShapeRule::Start | ShapeRule::StartNow if sizes.count() == 1 => SizeWish::One(sizes.min()),
            ShapeRule::Start | ShapeRule::StartNow => SizeWish::First(sizes),
        }
    }
}

impl PassScene<'_> {
    /// Returns the size with which a job can start now; `None` if none fits.
    pub(super) fn size_now(&self, id: JobId, wish: &SizeWish, room: &RoomSteps) -> Option<Procs> {
        let (free, watts) = (Procs::try_from(room.now().0).ok()?, self.view.watts(id));
        let until = |size| self.now + self.run(id, size);
        match wish {
            SizeWish::One(size) => {
                let fits = *size <= free && room.fits(self.span(id, self.now, *size), watts);
                fits.then_some(*size)
            }
            SizeWish::Largest(sizes, most) => room.largest(self.now, sizes, (*most).min(free), watts, until),
            SizeWish::First(sizes) => {
                let size = room.largest(self.now, sizes, sizes.max().min(free), watts, until)?;
                Some(self.smallest_as_fast(id, sizes, size))
            }
        }
    }

    /// The smallest size at which a job runs no longer.
    fn smallest_as_fast(&self, id: JobId, sizes: &SizeSet, size: Procs) -> Procs {
        let run = self.run(id, size);
        let (mut low, mut high) = (sizes.min(), size);
        while low < high {
            let middle = low + (high - low) / 2;
            match sizes.at_least(middle) {
                Some(size) if self.run(id, size) > run => low = size + 1,
                Some(_) | None => high = middle,
            }
        }
        sizes.at_least(low).unwrap_or(size)
    }

    /// Returns the start and size with the earliest predicted end, the smaller size of equals.
    pub(super) fn best(&self, id: JobId, sizes: &SizeSet, room: &RoomSteps) -> Option<(Time, Procs)> {
        let watts = self.view.watts(id);
        let mut best: Option<(Time, Time, Procs)> = None;
        for size in sizes.iter() {
            let run = self.run(id, size);
            if let Some(start) = room.earliest(size, watts, run)
                && best.is_none_or(|(end, ..)| start + run < end)
            {
                best = Some((start + run, start, size));
            }
        }
        best.map(|(_, start, size)| (start, size))
    }

    /// Returns the start and the size of the job that heads the queue; `None` if no plan can hold
    /// it.
    pub(super) fn choose(&self, id: JobId, rule: ShapeRule, wish: &SizeWish) -> Option<(Time, Procs)> {
        let waits = matches!(wish, SizeWish::First(_)) && rule == ShapeRule::Start;
        if !waits && let Some(size) = self.size_now(id, wish, &self.room) {
            return Some((self.now, size));
        }
        let size = match wish {
            SizeWish::First(sizes) => return self.best(id, sizes, &self.room),
            SizeWish::One(size) => *size,
            SizeWish::Largest(sizes, _) => sizes.min(),
        };
        let start = self.room.earliest(size, self.view.watts(id), self.run(id, size))?;
        Some((start, size))
    }
}
