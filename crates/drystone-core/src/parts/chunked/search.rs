//! Questions to a profile in chunks.

use super::{Chunked, StepChunk, StepSpot};
use crate::model::{Span, Time};

/// Steps that are looked at together.
const BLOCK: usize = 16;
/// As many steps are looked at before others are searched.
const NEAR: usize = 6;

impl Chunked {
    /// The step that holds at `time`; the first one if that is before.
    #[inline]
    pub(crate) fn find_step(&self, time: Time) -> StepSpot {
        let chunk = self.heads.partition_point(|head| head.first <= time).saturating_sub(1);
        StepSpot { chunk, step: self.chunks[chunk].step_at(time) }
    }

    /// The step that holds at `time`, which is not before `from` begins. O(steps between).
    #[inline]
    pub(crate) fn walk_to(&self, from: StepSpot, time: Time) -> StepSpot {
        let mut at = from;
        while self.heads.get(at.chunk + 1).is_some_and(|next| next.first <= time) {
            at = StepSpot { chunk: at.chunk + 1, step: 0 };
        }
        let chunk = &self.chunks[at.chunk];
        while at.step + 1 < chunk.len && chunk.time[at.step + 1] <= time {
            at.step += 1;
        }
        at
    }

    /// The step that holds at `time`, which is not before `from` begins and probably soon after.
    #[inline]
    pub(super) fn step_nearby(&self, from: StepSpot, time: Time) -> StepSpot {
        let chunk = &self.chunks[from.chunk];
        let behind = &chunk.time[from.step + 1..chunk.len];
        match behind.iter().take(NEAR).position(|&begins| begins > time) {
            Some(steps) => StepSpot { step: from.step + steps, ..from },
            None => self.find_step(time),
        }
    }

    #[inline]
    pub(crate) fn free_in(&self, at: StepSpot) -> i32 {
        self.chunks[at.chunk].free[at.step].wrapping_add(self.heads[at.chunk].free)
    }

    /// The least that is free during `[from, to)`; an empty time counts as an instant.
    pub(crate) fn least_free(&self, from: Time, to: Time) -> i32 {
        let StepSpot { mut chunk, mut step } = self.find_step(from);
        let mut least = self.free_in(StepSpot { chunk, step });
        step += 1;
        while let Some(head) = self.heads.get(chunk) {
            if step == 0 && head.first >= to {
                break;
            }
            if step == 0 && self.heads.get(chunk + 1).is_some_and(|next| next.first <= to) {
                least = least.min(head.least);
            } else {
                let steps = &self.chunks[chunk];
                let inside = (step..steps.len).take_while(|&k| steps.time[k] < to);
                least = inside.fold(least, |least, k| least.min(steps.free[k].wrapping_add(head.free)));
            }
            (chunk, step) = (chunk + 1, 0);
        }
        least
    }

    /// The earliest `s ≥ not_before` such that `procs` processors are free during all of
    /// `[s, s + span)`; a span of at least 1 s. `None` if this many are never free again.
    pub(crate) fn earliest_start(&self, procs: i32, span: Span, not_before: Time) -> Option<Time> {
        let mut at = self.find_step(not_before);
        let mut start = not_before.max(self.heads[0].first);
        if self.free_in(at) < procs {
            at = self.next_with(procs, at)?;
            start = self.chunks[at.chunk].time[at.step];
        }
        loop {
            match self.next_without(procs, at, start.saturating_add(span)) {
                None => return Some(start),
                Some(obstacle) => at = self.next_with(procs, obstacle)?,
            }
            start = self.chunks[at.chunk].time[at.step];
        }
    }

    /// The first step behind `at` in which this many processors are free.
    fn next_with(&self, procs: i32, at: StepSpot) -> Option<StepSpot> {
        let StepSpot { mut chunk, mut step } = at;
        step += 1;
        while let Some(head) = self.heads.get(chunk) {
            if head.most >= procs {
                let steps = &self.chunks[chunk];
                if let Some(k) = (step..steps.len).find(|&k| steps.free[k].wrapping_add(head.free) >= procs) {
                    return Some(StepSpot { chunk, step: k });
                }
            }
            (chunk, step) = (chunk + 1, 0);
        }
        None
    }

    /// The first step behind `at` in which fewer are free, if it begins before `end`.
    #[inline]
    fn next_without(&self, procs: i32, at: StepSpot, end: Time) -> Option<StepSpot> {
        let StepSpot { mut chunk, mut step } = at;
        step += 1;
        while let Some(head) = self.heads.get(chunk) {
            if step == 0 && head.first >= end {
                return None;
            }
            if head.least < procs {
                let steps = &self.chunks[chunk];
                for k in step..steps.len {
                    if steps.time[k] >= end {
                        return None;
                    }
                    if steps.free[k].wrapping_add(head.free) < procs {
                        return Some(StepSpot { chunk, step: k });
                    }
                }
            }
            (chunk, step) = (chunk + 1, 0);
        }
        None
    }

    /// Returns the earliest time, not before `floor`, from which on `procs` processors are free
    /// until the end of the step `at`. This many are free in that step.
    pub(crate) fn run_begins(&self, procs: i32, at: StepSpot, floor: Time) -> Time {
        let StepSpot { mut chunk, mut step } = at;
        loop {
            let (steps, chunk_offset) = (&self.chunks[chunk], self.heads[chunk].free);
            while step > 0 && steps.time[step] > floor && steps.free[step - 1].wrapping_add(chunk_offset) >= procs {
                step -= 1;
            }
            if step > 0 || chunk == 0 || steps.time[0] <= floor {
                return steps.time[step].max(floor);
            }
            while chunk > 1 && self.heads[chunk - 1].least >= procs && self.heads[chunk - 1].first > floor {
                chunk -= 1;
            }
            let begins = self.heads[chunk].first;
            chunk -= 1;
            step = self.chunks[chunk].len - 1;
            if self.free_in(StepSpot { chunk, step }) < procs {
                return begins;
            }
        }
    }

    /// The earliest `r ≥ from` such that `procs` processors are free during all of `[r, r + span)`,
    /// `r + span ≤ until`, and at some time in it as many were not free before. `None` if there is
    /// none.
    pub(crate) fn earliest_gained_start(&mut self, procs: i32, span: Span, from: Time, until: Time) -> Option<Time> {
        let mut at = self.find_step(from);
        while let Some(head) = self.heads.get(at.chunk) {
            if head.first >= until {
                return None;
            }
            if !(head.gain_from < procs && procs <= head.gain_to) {
                at = StepSpot { chunk: at.chunk + 1, step: 0 };
                continue;
            }
            let steps = &self.chunks[at.chunk];
            let news = steps.find_gained_step(at.step, procs, head.free);
            let Some(step) = news else {
                if head.loose {
                    let head = &mut self.heads[at.chunk];
                    head.sum_up(steps);
                }
                at = StepSpot { chunk: at.chunk + 1, step: 0 };
                continue;
            };
            let begins = self.run_begins(procs, StepSpot { step, ..at }, from);
            let end = begins.saturating_add(span);
            if end > until {
                return None;
            }
            match self.next_without(procs, StepSpot { step, ..at }, end) {
                None => return Some(begins),
                Some(obstacle) => at = obstacle,
            }
        }
        None
    }

    /// The least that was free and the most that is free where something is gained, over the steps
    /// up to `at`, roughly: a job that needs no more than the first or more than the second finds
    /// nothing new there.
    pub(crate) fn gain_range(&self, from: usize, at: StepSpot) -> (i32, i32) {
        let heads = &self.heads[from.min(at.chunk)..=at.chunk];
        heads
            .iter()
            .fold((i32::MAX, i32::MIN), |(least, most), head| (least.min(head.gain_from), most.max(head.gain_to)))
    }
}

impl StepChunk {
    /// The first step from `from` on with no fewer than `procs` free, if each has `more`, where
    /// fewer were.
    #[inline]
    fn find_gained_step(&self, from: usize, procs: i32, more: i32) -> Option<usize> {
        let is_new = |k: usize| self.was[k] < procs && self.free[k].wrapping_add(more) >= procs;
        let mut at = from;
        // Several at once, without a branch for each.
        while at + BLOCK <= self.len {
            let (was, free) = (&self.was[at..at + BLOCK], &self.free[at..at + BLOCK]);
            let has_gain = was
                .iter()
                .zip(free)
                .fold(false, |any, (&was, &free)| any | ((was < procs) & (free.wrapping_add(more) >= procs)));
            if has_gain {
                return (at..at + BLOCK).find(|&k| is_new(k));
            }
            at += BLOCK;
        }
        (at..self.len).find(|&k| is_new(k))
    }
}

impl StepSpot {
    pub(crate) fn chunk_index(self) -> usize {
        self.chunk
    }
}
