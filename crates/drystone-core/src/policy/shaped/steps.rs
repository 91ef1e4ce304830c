//! Free processors and free power over time, as a list of steps.

use crate::model::{Procs, SizeSet, Span, Time, UNLIMITED};
use crate::policy::{HeldSpan, View};

/// Free processors and watts from now on; each step holds until the next.
#[derive(Clone, Debug, Default)]
pub(super) struct RoomSteps {
    times: Vec<Time>,
    procs: Vec<i64>,
    watts: Vec<i64>,
}

impl RoomSteps {
    /// The room that the running jobs leave, where processors and power come and go as far as is
    /// known. `spans` are those of the running jobs.
    pub(super) fn from_spans(view: &View<'_>, spans: impl Iterator<Item = (HeldSpan, i64)>) -> RoomSteps {
        let now = view.current_time();
        let mut deltas: Vec<(Time, i64, i64)> = Vec::new();
        let mut level = (i64::from(view.free_processors()), UNLIMITED);
        let power = view.shapes().and_then(|shapes| shapes.power());
        if let Some(power) = power {
            let up = view.up_processors();
            let mut previous_watts = power.for_jobs(now, now, up);
            level.1 = previous_watts - view.power_draw();
            for turn in power.cap_changes(now) {
                let next_watts = power.for_jobs(turn, now, up);
                deltas.push((turn, 0, next_watts - previous_watts));
                previous_watts = next_watts;
            }
        }
        for (HeldSpan { from, until, procs }, watts) in spans {
            let held_procs = i64::from(procs);
            if from > now {
                deltas.push((from, -held_procs, -held_procs * watts));
            }
            deltas.push((until, held_procs, held_procs * watts));
        }
        if let Some(outlook) = view.outlook() {
            let mut changes = Vec::new();
            outlook.capacity_changes(now, |id| view.predicted_end(id).max(now + Span(1)), &mut changes);
            // Processors that come back draw power though no job holds them.
            let idle = power.map_or(0, |power| power.idle.min(UNLIMITED.unsigned_abs()) as i64);
            deltas.extend(changes.into_iter().map(|(time, procs)| (time, procs, procs.saturating_mul(-idle))));
        }
        deltas.sort_unstable();
        let mut steps = RoomSteps { times: vec![now], procs: vec![level.0], watts: vec![level.1] };
        for (time, procs, watts) in deltas {
            level = (level.0 + procs, level.1.saturating_add(watts));
            let last = steps.times.len() - 1;
            if time > steps.times[last] {
                steps.times.push(time);
                steps.procs.push(level.0);
                steps.watts.push(level.1);
            } else {
                (steps.procs[last], steps.watts[last]) = level;
            }
        }
        steps
    }

    pub(super) fn free_now(&self) -> (i64, i64) {
        (self.procs[0], self.watts[0])
    }

    /// Returns the step at a time, and makes it begin there.
    fn split_step(&mut self, time: Time) -> usize {
        let at = self.times.partition_point(|&step| step < time);
        if self.times.get(at) == Some(&time) {
            return at;
        }
        self.times.insert(at, time);
        self.procs.insert(at, self.procs[at.saturating_sub(1)]);
        self.watts.insert(at, self.watts[at.saturating_sub(1)]);
        at
    }

    /// Takes what a job holds (`sign` −1), or gives it back (1).
    pub(super) fn change_span(&mut self, span: HeldSpan, watts: i64, sign: i64) {
        let from = span.from.max(self.times[0]);
        if span.until <= from {
            return;
        }
        let (begin, end) = (self.split_step(from), self.split_step(span.until));
        let held_procs = sign * i64::from(span.procs);
        for at in begin..end {
            self.procs[at] += held_procs;
            self.watts[at] += held_procs * watts;
        }
    }

    /// The least of what is free from one time to another; at the first in any case.
    fn lowest_free(&self, from: Time, until: Time) -> (i64, i64) {
        let first = self.times.partition_point(|&step| step <= from).saturating_sub(1);
        let end = self.times.partition_point(|&step| step < until).max(first + 1);
        let steps = first..end;
        let lowest = |levels: &[i64]| levels[steps.clone()].iter().copied().min().unwrap_or(0);
        (lowest(&self.procs), lowest(&self.watts))
    }

    /// Returns whether a job of this draw per processor fits from one time to another.
    pub(super) fn fits_span(&self, span: HeldSpan, watts: i64) -> bool {
        let (procs, free) = self.lowest_free(span.from, span.until);
        let held_procs = i64::from(span.procs);
        // Above the cap no job starts, not even one that draws nothing.
        procs >= held_procs && free >= held_procs * watts
    }

    /// Returns the largest size that fits from a time until the end that each size has; larger
    /// sizes must not end later.
    pub(super) fn largest_size(
        &self,
        from: Time,
        sizes: &SizeSet,
        most: Procs,
        watts: i64,
        until: impl Fn(Procs) -> Time,
    ) -> Option<Procs> {
        let mut size = sizes.at_most(most)?;
        loop {
            // No larger size fits; smaller ones need theirs for as long or longer, so that no more
            // than this is free for any of them.
            let (procs, free) = self.lowest_free(from, until(size));
            let bound = match watts {
                _ if free < 0 => 0,
                0 => procs,
                _ => procs.min(free.div_euclid(watts)),
            };
            if bound >= i64::from(size) {
                return Some(size);
            }
            size = sizes.at_most(Procs::try_from(bound).ok()?)?;
        }
    }

    /// Returns the first time at which so many processors, of this draw each, are free for so long;
    /// `None` for never.
    pub(super) fn earliest_start(&self, procs: Procs, watts: i64, length: crate::model::Span) -> Option<Time> {
        let held_procs = i64::from(procs);
        let fits = |at: usize| self.procs[at] >= held_procs && self.watts[at] >= held_procs * watts;
        let mut first = 0;
        'starts: while first < self.times.len() {
            let end = self.times[first] + length;
            let mut at = first;
            while at < self.times.len() && (at == first || self.times[at] < end) {
                if !fits(at) {
                    first = at + 1;
                    continue 'starts;
                }
                at += 1;
            }
            return Some(self.times[first]);
        }
        None
    }
}
