//! Choice of a size for a job that is to start.

use super::scene::{PassScene, job_sizes};
use super::settings::ShapeRule;
use super::steps::RoomSteps;
use crate::model::{JobId, PaceNumber, Procs, SizeSet, Time};

/// The sizes that a rule lets a job have, and how to choose among them.
pub(super) enum SizeWish {
    One(Procs),
    /// The largest that fits, up to this.
    Largest(SizeSet, Procs),
    /// The one that is predicted to end first.
    First(SizeSet),
}

impl SizeWish {
    /// The sizes of a job by a rule, where none was chosen for it before.
    pub(super) fn by_rule(rule: ShapeRule, choice: Option<Procs>, id: JobId, scene: &PassScene<'_>) -> SizeWish {
        let Some(shape) = job_sizes(scene.view, id) else { return SizeWish::One(scene.view.job(id).procs) };
        if let Some(size) = choice {
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

pub(super) type SizeAtPace = (Procs, PaceNumber);

impl SizeWish {
    fn allowed_sizes(&self) -> impl Iterator<Item = Procs> + '_ {
        let (single_size, sizes, most) = match self {
            SizeWish::One(size) => (Some(*size), None, Procs::MAX),
            SizeWish::Largest(sizes, most) => (None, Some(sizes), *most),
            SizeWish::First(sizes) => (None, Some(sizes), Procs::MAX),
        };
        let listed_sizes = sizes.into_iter().flat_map(SizeSet::iter).take_while(move |size| *size <= most);
        single_size.into_iter().chain(listed_sizes)
    }
}

impl PassScene<'_> {
    /// Returns the size with which a job can start now at its full pace; `None` if none fits.
    pub(super) fn size_now(&self, id: JobId, wish: &SizeWish, room: &RoomSteps) -> Option<Procs> {
        self.size_at_pace(id, wish, 0, room)
    }

    /// Returns the size with which a job can start now at a pace; `None` if none fits.
    fn size_at_pace(&self, id: JobId, wish: &SizeWish, pace: PaceNumber, room: &RoomSteps) -> Option<Procs> {
        let (free, watts) = (Procs::try_from(room.free_now().0).ok()?, self.view.watts_at(id, pace));
        let until = |size| self.now + self.view.prediction_at_pace(id, size, pace);
        match wish {
            SizeWish::One(size) => {
                let fits = *size <= free && room.fits_span(self.span_at(id, self.now, (*size, pace)), watts);
                fits.then_some(*size)
            }
            SizeWish::Largest(sizes, most) => room.largest_size(self.now, sizes, (*most).min(free), watts, until),
            SizeWish::First(sizes) => {
                let size = room.largest_size(self.now, sizes, sizes.max().min(free), watts, until)?;
                Some(self.smallest_as_fast(id, sizes, (size, pace)))
            }
        }
    }

    /// The smallest size at which a job runs no longer at the same pace.
    fn smallest_as_fast(&self, id: JobId, sizes: &SizeSet, (size, pace): SizeAtPace) -> Procs {
        let run_time = |size| self.view.prediction_at_pace(id, size, pace);
        let run = run_time(size);
        let (mut low, mut high) = (sizes.min(), size);
        while low < high {
            let middle = low + (high - low) / 2;
            match sizes.at_least(middle) {
                Some(size) if run_time(size) > run => low = size + 1,
                Some(_) | None => high = middle,
            }
        }
        sizes.at_least(low).unwrap_or(size)
    }

    /// Returns the start and size with the earliest predicted end at the full pace, the smaller
    /// size of equals.
    pub(super) fn best_start(&self, id: JobId, sizes: &SizeSet, room: &RoomSteps) -> Option<(Time, Procs)> {
        self.best_at_pace(id, sizes, 0, room)
    }

    fn best_at_pace(&self, id: JobId, sizes: &SizeSet, pace: PaceNumber, room: &RoomSteps) -> Option<(Time, Procs)> {
        let watts = self.view.watts_at(id, pace);
        let mut best: Option<(Time, Time, Procs)> = None;
        for size in sizes.iter() {
            let run = self.view.prediction_at_pace(id, size, pace);
            if let Some(start) = room.earliest_start(size, watts, run)
                && best.is_none_or(|(end, ..)| start + run < end)
            {
                best = Some((start + run, start, size));
            }
        }
        best.map(|(_, start, size)| (start, size))
    }

    /// Returns the planned start, size and pace of the job that heads the queue: at the fastest
    /// pace at which a plan can hold it; `None` if none can.
    pub(super) fn choose_plan(&self, id: JobId, rule: ShapeRule, wish: &SizeWish) -> Option<(Time, SizeAtPace)> {
        let waits = matches!(wish, SizeWish::First(_)) && rule == ShapeRule::Start;
        self.plan_shape(id, wish, waits, &self.room)
    }

    /// Returns the paces below the full one at which a job may start.
    fn slower_paces(&self, id: JobId) -> impl Iterator<Item = PaceNumber> + '_ {
        let shape = self.view.job_shape(id).filter(|_| self.any_pace);
        shape.into_iter().flat_map(|shape| shape.slower_paces())
    }

    fn plan_shape(&self, id: JobId, wish: &SizeWish, waits: bool, room: &RoomSteps) -> Option<(Time, SizeAtPace)> {
        let at_pace = |pace| {
            let (start, size) = self.plan_at_pace(id, wish, (waits, pace), room)?;
            Some((start, (size, pace)))
        };
        std::iter::once(0).chain(self.slower_paces(id)).find_map(at_pace)
    }

    fn plan_at_pace(
        &self,
        id: JobId,
        wish: &SizeWish,
        (waits, pace): (bool, PaceNumber),
        room: &RoomSteps,
    ) -> Option<(Time, Procs)> {
        if !waits && let Some(size) = self.size_at_pace(id, wish, pace, room) {
            return Some((self.now, size));
        }
        let size = match wish {
            SizeWish::First(sizes) => return self.best_at_pace(id, sizes, pace, room),
            SizeWish::One(size) => *size,
            SizeWish::Largest(sizes, _) => sizes.min(),
        };
        let run = self.view.prediction_at_pace(id, size, pace);
        Some((room.earliest_start(size, self.view.watts_at(id, pace), run)?, size))
    }

    /// Returns the size and pace with which a job starts now: those of its plan, if that begins
    /// now, or slower ones that fit and are predicted to end before the plan does. Of several the
    /// earliest end counts, then the faster pace, then the smaller size.
    pub(super) fn shape_now(
        &self,
        id: JobId,
        wish: &SizeWish,
        plan: Option<(Time, SizeAtPace)>,
        room: &RoomSteps,
    ) -> Option<SizeAtPace> {
        let planned_end = plan.map_or(Time::MAX, |(start, shape)| self.span_at(id, start, shape).until);
        let mut best: Option<(Time, SizeAtPace)> = None;
        for pace in self.slower_paces(id) {
            let watts = self.view.watts_at(id, pace);
            for size in wish.allowed_sizes().take_while(|size| i64::from(*size) <= room.free_now().0) {
                let span = self.span_at(id, self.now, (size, pace));
                let earlier = span.until < best.map_or(planned_end, |(end, _)| end);
                if earlier && room.fits_span(span, watts) {
                    best = Some((span.until, (size, pace)));
                }
            }
        }
        let planned_shape = plan.filter(|(start, _)| *start == self.now).map(|(_, shape)| shape);
        best.map(|(_, shape)| shape).or(planned_shape)
    }

    /// Returns the size and pace with which a job behind the head starts now, in the room beside
    /// the reservation.
    pub(super) fn shape_beside(&self, id: JobId, wish: &SizeWish) -> Option<SizeAtPace> {
        let full = self.size_now(id, wish, &self.room).map(|size| (self.now, (size, 0)));
        if self.slower_paces(id).next().is_none() {
            return full.map(|(_, shape)| shape);
        }
        let plan = full.or_else(|| self.plan_shape(id, wish, false, &self.room));
        self.shape_now(id, wish, plan, &self.room)
    }
}
