//! Free processors over time, made for the search: two flat arrays, one place taken or given back
//! in a few moves.
//!
//! A job starts where a step begins (every earliest start is the present or the beginning of a
//! step), so that placing it adds one step at most, where it ends. Steps at the front in which no
//! job of the queue fits any more are skipped. On nodes a [`PlanRoom`] takes the place of all that.

use crate::model::{Procs, ResourceId, Span, Time};
use crate::parts::ResourceAmounts;
use crate::policy::free_resources::covers_totals;
use crate::room::{JobNeed, PlanRoom};

/// Free processors from now on; times relative to the present.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeSteps {
    /// Beginning of each step; the last one never ends.
    time: Vec<i64>,
    free: Vec<Procs>,
    /// Free amounts of the further resources of each step, one step after the other.
    levels: Vec<i64>,
    /// Number of further resources; 0 on most machines, 1 on nodes.
    width: usize,
    /// Room on nodes, in place of all steps, and the present.
    room: Option<(Box<PlanRoom>, Time)>,
    /// The first step in which the narrowest waiting job fits. None before it does.
    front: usize,
}

/// Position of a placed job: the data needed to take it back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlacedSpot {
    /// Its start, in seconds from now.
    pub(super) start: i64,
    /// Its first step and the one behind its last.
    from: u32,
    to: u32,
    /// The front before.
    front: u32,
    /// True if the step at `to` is there only because it ends there.
    split: bool,
}

/// Start of a job that has no place, in seconds from now.
const NEVER: i64 = u32::MAX as i64;

impl FreeSteps {
    /// Becomes the room that running jobs leave on nodes.
    pub(super) fn fill_seated(&mut self, room: &PlanRoom, now: Time) {
        self.begin_with(0);
        self.width = 1;
        self.room = Some((Box::new(room.clone()), now));
        self.front = 0;
    }

    /// One step without an end, of processors alone.
    fn begin_with(&mut self, free: Procs) {
        self.time.clear();
        self.free.clear();
        self.levels.clear();
        self.width = 0;
        self.room = None;
        self.time.push(0);
        self.free.push(free);
    }

    /// Fills the steps where there are further resources, of which `levels` are free now: seconds
    /// from now, change of the number of processors, and amounts that come back, in order of time.
    pub(super) fn fill_pooled<'a>(
        &mut self,
        free: Procs,
        levels: &[i64],
        changes: impl Iterator<Item = (i64, i64, &'a ResourceAmounts)>,
    ) {
        self.begin_with(free);
        self.width = levels.len();
        self.levels.extend_from_slice(levels);
        let (mut sum, mut last) = (i64::from(free), 0);
        for (at, procs, amounts) in changes {
            sum += procs;
            let free = Procs::try_from(sum.max(0)).unwrap_or(Procs::MAX);
            if at > last {
                self.time.push(at);
                self.free.push(free);
                self.levels.extend_from_within(self.levels.len() - self.width..);
                last = at;
            } else if let Some(step) = self.free.last_mut() {
                *step = free;
            }
            let row = self.levels.len() - self.width;
            amounts.iter().for_each(|&(id, amount)| self.levels[row + id.index()] += amount as i64);
        }
        self.front = 0;
    }

    /// Applies changes in the amounts of further resources: seconds from now, resource and change,
    /// in order of time. From `NEVER` on everything is free, so that every job has a place.
    pub(super) fn fill_supply(&mut self, changes: impl Iterator<Item = (i64, ResourceId, i64)>) {
        let mut has_changes = false;
        for (at, resource, change) in changes {
            has_changes = true;
            for step in self.split_step(at)..self.time.len() {
                self.levels[step * self.width + resource.index()] += change;
            }
        }
        if has_changes {
            let from = self.split_step(NEVER) * self.width;
            self.levels[from..].fill(i64::MAX / 4);
        }
    }

    /// Makes a step begin at a time behind the first one. Returns its index.
    fn split_step(&mut self, at: i64) -> usize {
        let step = self.time.partition_point(|&begin| begin < at);
        if self.time.get(step) != Some(&at) {
            self.time.insert(step, at);
            self.free.insert(step, self.free[step - 1]);
            self.repeat_level(step - 1);
        }
        step
    }

    /// `free` processors now, and more as running jobs end: seconds from now and processors, in
    /// order of time.
    pub(super) fn fill_steps(&mut self, free: Procs, ends: impl Iterator<Item = (i64, Procs)>) {
        self.begin_with(free);
        let (mut sum, mut last) = (free, 0);
        for (end, procs) in ends {
            sum += procs;
            if end > last {
                self.time.push(end);
                self.free.push(sum);
                last = end;
            } else if let Some(free) = self.free.last_mut() {
                *free = sum;
            }
        }
        self.front = 0;
    }

    /// Fills the steps where processors also go: seconds from now and change of their number, in
    /// order of time.
    pub(super) fn fill_changing(&mut self, free: Procs, changes: Vec<(i64, i64)>) {
        self.begin_with(free);
        let (mut sum, mut last) = (i64::from(free), 0);
        for (at, procs) in changes {
            sum += procs;
            let free = Procs::try_from(sum.max(0)).unwrap_or(Procs::MAX);
            if at > last {
                self.time.push(at);
                self.free.push(free);
                last = at;
            } else if let Some(step) = self.free.last_mut() {
                *step = free;
            }
        }
        self.front = 0;
    }

    /// Skips steps with fewer than `narrowest` free processors at the front.
    #[inline]
    pub(super) fn skip_narrow(&mut self, narrowest: Procs) {
        // In the last step the widest job fits.
        while self.front + 1 < self.free.len() && self.free[self.front] < narrowest {
            self.front += 1;
        }
    }

    /// Returns whether no job fits now: the step of now was skipped.
    pub(super) fn is_full_now(&self) -> bool {
        self.front > 0 || self.room.as_ref().is_some_and(|(room, _)| room.cores_at_first() <= 0)
    }

    /// Number of steps, or of nodes.
    pub(super) fn len(&self) -> usize {
        self.time.len() + self.room.as_ref().map_or(0, |(room, _)| room.node_count())
    }

    /// Becomes a copy of another; keeps its own memory.
    #[inline]
    pub(super) fn copy_from(&mut self, source: &FreeSteps) {
        self.time.clone_from(&source.time);
        self.free.clone_from(&source.free);
        if source.width > 0 || self.width > 0 {
            self.copy_levels(source);
        }
        self.front = source.front;
    }

    #[inline(never)]
    fn copy_levels(&mut self, source: &FreeSteps) {
        self.width = source.width;
        self.levels.clone_from(&source.levels);
        match (&mut self.room, &source.room) {
            (Some(own), Some(other)) => {
                own.0.copy_from(&other.0);
                own.1 = other.1;
            }
            (own, other) => own.clone_from(other),
        }
    }

    /// The earliest start of a job, and the steps that it touches: the first, and the first that
    /// begins at its end or later.
    #[inline(always)]
    fn find_start(&self, procs: Procs, span: i64) -> (usize, usize) {
        let (time, free) = (&self.time[..], &self.free[..]);
        let steps = time.len().min(free.len());
        let mut from = self.front;
        loop {
            while from + 1 < steps && free[from] < procs {
                from += 1;
            }
            let end = time[from].saturating_add(span);
            let mut to = from + 1;
            while to < steps && time[to] < end && free[to] >= procs {
                to += 1;
            }
            if to >= steps || time[to] >= end {
                return (from, to);
            }
            from = to + 1;
        }
    }

    /// As [`FreeSteps::find_start`], over every resource. In the last step every job fits.
    #[inline(never)]
    fn find_pooled(&self, need: JobNeed<'_>, span: i64) -> (usize, usize) {
        let steps = self.time.len();
        let fits = |step: usize| {
            let row = &self.levels[step * self.width..][..self.width];
            self.free[step] >= need.procs && covers_totals(row, need.amounts)
        };
        let mut from = self.front;
        loop {
            while from + 1 < steps && !fits(from) {
                from += 1;
            }
            let end = self.time[from].saturating_add(span);
            let mut to = from + 1;
            while to < steps && self.time[to] < end && fits(to) {
                to += 1;
            }
            if to >= steps || self.time[to] >= end {
                return (from, to);
            }
            from = (to + 1).min(steps - 1);
        }
    }

    /// Adds amounts to some steps, or takes them out.
    #[inline(never)]
    fn change_levels(&mut self, from: usize, to: usize, amounts: &ResourceAmounts, sign: i64) {
        for step in from..to {
            for &(id, amount) in amounts {
                self.levels[step * self.width + id.index()] += sign * amount as i64;
            }
        }
    }

    /// The earliest start of a job that asks for no more than the machine has.
    pub(super) fn earliest_start(&self, need: JobNeed<'_>, span: i64) -> i64 {
        if let Some((room, now)) = &self.room {
            return room.earliest_start(need, Span(span), *now).map_or(NEVER, |start| (start - *now).0);
        }
        let step_range = if self.width == 0 { self.find_start(need.procs, span) } else { self.find_pooled(need, span) };
        self.time[step_range.0]
    }

    /// Places a job at its earliest start. O(steps), with further resources O(steps · resources).
    #[inline(always)]
    pub(super) fn place_job(&mut self, need: JobNeed<'_>, span: i64, narrowest: Procs) -> PlacedSpot {
        if self.width == 0 {
            return self.place_procs(need.procs, span, narrowest);
        }
        self.place_further(need, span, narrowest)
    }

    #[inline(never)]
    fn place_further(&mut self, need: JobNeed<'_>, span: i64, narrowest: Procs) -> PlacedSpot {
        let Some((room, now)) = &mut self.room else { return self.place_pooled(need, span, narrowest) };
        let start = room.place_need(need, Span(span), *now).map_or(NEVER, |start| (start - *now).0);
        PlacedSpot { start, ..PlacedSpot::default() }
    }

    fn place_pooled(&mut self, need: JobNeed<'_>, span: i64, narrowest: Procs) -> PlacedSpot {
        let (from, to) = self.find_pooled(need, span);
        let spot = self.occupy_steps((from, to), need.procs, span, narrowest);
        if spot.split {
            self.repeat_level(to - 1);
        }
        self.change_levels(from, to, need.amounts, -1);
        spot
    }

    #[inline]
    fn place_procs(&mut self, procs: Procs, span: i64, narrowest: Procs) -> PlacedSpot {
        let step_range = self.find_start(procs, span);
        self.occupy_steps(step_range, procs, span, narrowest)
    }

    /// Takes the processors of a job out of the steps that it touches.
    #[inline(always)]
    fn occupy_steps(&mut self, (from, to): (usize, usize), procs: Procs, span: i64, narrowest: Procs) -> PlacedSpot {
        let start = self.time[from];
        let end = start.saturating_add(span);
        let split = self.time.get(to) != Some(&end);
        if split {
            self.time.insert(to, end);
            self.free.insert(to, self.free[to - 1]);
        }
        for free in &mut self.free[from..to] {
            *free -= procs;
        }
        let front = self.front;
        self.skip_narrow(narrowest);
        PlacedSpot { start, from: from as u32, to: to as u32, front: front as u32, split }
    }

    #[inline(never)]
    fn repeat_level(&mut self, step: usize) {
        let (width, old) = (self.width, self.levels.len());
        self.levels.resize(old + width, 0);
        self.levels.copy_within(step * width..old, (step + 1) * width);
    }

    /// Takes back the job that was placed last, for so many seconds. O(steps).
    #[inline]
    pub(super) fn take_back(&mut self, spot: &PlacedSpot, need: JobNeed<'_>, span: i64) {
        if self.width > 0 && self.room.is_some() {
            return self.take_back_seated(spot, need, span);
        }
        let (from, to) = (spot.from as usize, spot.to as usize);
        for free in &mut self.free[from..to] {
            *free += need.procs;
        }
        if self.width > 0 {
            self.change_levels(from, to, need.amounts, 1);
        }
        if spot.split {
            self.time.remove(to);
            self.free.remove(to);
            if self.width > 0 {
                self.levels.drain(to * self.width..(to + 1) * self.width);
            }
        }
        self.front = spot.front as usize;
    }

    #[inline(never)]
    fn take_back_seated(&mut self, spot: &PlacedSpot, need: JobNeed<'_>, span: i64) {
        if let Some((room, now)) = &mut self.room {
            let start = now.saturating_add(Span(spot.start));
            room.give_back(start, start.saturating_add(Span(span)), need);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Profile;
    use proptest::prelude::*;

    proptest! {
        /// Starts equal those in the profile that the other policies use, and taking back restores
        /// every step.
        #[test]
        fn agrees_with_the_profile(
            ends in prop::collection::vec((0i64..50, 1u32..4), 0..6),
            jobs in prop::collection::vec((1u32..9, 1i64..40), 1..30),
        ) {
            let mut ends = ends;
            ends.sort_unstable();
            let procs_in_use: u32 = ends.iter().map(|e| e.1).sum();
            let free = 8 + 18 - procs_in_use;
            let narrowest = jobs.iter().map(|j| j.0).min().expect("some");
            let mut steps = FreeSteps::default();
            steps.fill_steps(free, ends.iter().copied());
            steps.skip_narrow(narrowest);
            let mut profile = Profile::new(Time::ZERO, free);
            profile.reset_to_running(Time::ZERO, free, ends.iter().map(|&(end, procs)| (Time(end), procs)));
            let mut placements = Vec::new();
            for &(procs, span) in &jobs {
                let start = profile.earliest_start(procs, Span(span), Time::ZERO).expect("fits");
                prop_assert_eq!(steps.earliest_start(JobNeed::of_procs(procs), span), start.0);
                let before = steps.clone();
                let spot = steps.place_job(JobNeed::of_procs(procs), span, narrowest);
                prop_assert_eq!(spot.start, start.0);
                profile.reserve_procs(start, start + Span(span), procs);
                placements.push((before, spot, procs));
            }
            for (before, spot, procs) in placements.iter().rev() {
                steps.take_back(spot, JobNeed::of_procs(*procs), 0);
                prop_assert_eq!(&steps.time, &before.time);
                prop_assert_eq!(&steps.free, &before.free);
                prop_assert_eq!(steps.front, before.front);
            }
        }
    }
}
