//! Free processors over future time where plans are deep: changed in place, with what has been
//! gained since it was settled.

mod search;
#[cfg(test)]
mod tests;

use super::Profile;
use crate::model::{Procs, Span, Time};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Most steps of a chunk.
const MOST: usize = 64;
/// A chunk that is full is divided into halves.
const HALF: usize = MOST / 2;
/// Chunks that together have no more than this many steps become one.
const FEW: usize = MOST / 2 + MOST / 4;

/// Free processors over time, as a step function from a first instant to the end of time, like
/// [`Profile`]: chunks of steps, so that a change moves no later steps, with a summary of each, so
/// that a search passes over whole chunks.
///
/// F(t) is what is free. G(t) is what was free when the profile was last settled: where F > G, room
/// has been *gained*. Between changes F may fall below 0; a plan is possible where it does not.
///
/// For s steps in c chunks, of which k lie in the range concerned:
///
/// | operation | cost |
/// |---|---|
/// | [`Chunked::add_during`] | O(log c + chunk + k), no later step is moved |
/// | [`Chunked::earliest_start`] | O(log c + chunks passed over + steps of chunks that may hold the answer) |
/// | [`Chunked::settle_all`] | O(c + steps of changed chunks) |
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Profile", try_from = "Profile")]
pub(crate) struct Chunked {
    heads: Vec<ChunkHead>,
    #[expect(clippy::vec_box, reason = "a chunk that comes between others would move a kilobyte for each behind it")]
    chunks: Vec<Box<StepChunk>>,
    /// Nothing is gained from here on.
    gained_until: Time,
}

#[derive(Clone, Debug)]
struct StepChunk {
    len: usize,
    /// Beginning of each step.
    time: [Time; MOST],
    /// F, without what the head adds to it. Either part alone may wrap around; their sum does not.
    free: [i32; MOST],
    /// G.
    was: [i32; MOST],
}

/// Summary of a chunk.
#[derive(Clone, Copy, Debug)]
struct ChunkHead {
    /// Beginning of its first step.
    first: Time,
    /// To be added to F of each step.
    free: i32,
    /// No F is less than `least`, none larger than `most`.
    least: i32,
    most: i32,
    /// Least G.
    was_least: i32,
    /// Over the steps with F > G: no F is larger than `gain_to`, no G less than `gain_from`. Where
    /// there is no such step, `gain_to` is below `gain_from`.
    gain_from: i32,
    gain_to: i32,
    /// Changed since the profile was settled.
    touched: bool,
    /// True if the bound on F may be too high: changed since all steps were examined.
    loose: bool,
}

/// Position of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct StepSpot {
    chunk: usize,
    step: usize,
}

impl StepChunk {
    fn new_empty() -> Box<StepChunk> {
        Box::new(StepChunk { len: 0, time: [Time::MAX; MOST], free: [0; MOST], was: [0; MOST] })
    }

    fn push(&mut self, time: Time, free: i32, was: i32) {
        (self.time[self.len], self.free[self.len], self.was[self.len]) = (time, free, was);
        self.len += 1;
    }

    /// The step that holds at `time`; the first one if that is before.
    #[inline]
    fn step_at(&self, time: Time) -> usize {
        self.time[..self.len].partition_point(|&t| t <= time).saturating_sub(1)
    }

    /// Makes room for a step behind `at` that is the same but begins at `time`.
    fn split_step(&mut self, at: usize, time: Time) {
        self.time.copy_within(at + 1..self.len, at + 2);
        self.free.copy_within(at..self.len, at + 1);
        self.was.copy_within(at..self.len, at + 1);
        self.time[at + 1] = time;
        self.len += 1;
    }

    /// Takes the steps from `at` on away.
    fn split_off(&mut self, at: usize) -> Box<StepChunk> {
        let mut behind = StepChunk::new_empty();
        for k in at..self.len {
            behind.push(self.time[k], self.free[k], self.was[k]);
        }
        self.len = at;
        behind
    }

    fn forget_steps(&mut self, count: usize) {
        self.time.copy_within(count..self.len, 0);
        self.free.copy_within(count..self.len, 0);
        self.was.copy_within(count..self.len, 0);
        self.len -= count;
    }

    /// Takes over what the head has added to each step, and joins equal neighbours; nothing is
    /// gained any more.
    fn settle_steps(&mut self, by: i32) {
        self.free[..self.len].iter_mut().for_each(|free| *free = free.wrapping_add(by));
        let mut last_kept = 0;
        for at in 1..self.len {
            if self.free[at] != self.free[last_kept] {
                last_kept += 1;
                self.time[last_kept] = self.time[at];
                self.free[last_kept] = self.free[at];
            }
        }
        self.len = last_kept + 1;
        self.was[..self.len].copy_from_slice(&self.free[..self.len]);
    }
}

impl ChunkHead {
    /// Looks at all steps of the chunk.
    fn sum_up(&mut self, chunk: &StepChunk) {
        self.first = chunk.time[0];
        let (mut least, mut most, mut was_least) = (i32::MAX, i32::MIN, i32::MAX);
        let (mut gain_from, mut gain_to) = (i32::MAX, i32::MIN);
        for (&free, &was) in chunk.free[..chunk.len].iter().zip(&chunk.was[..chunk.len]) {
            let free = free.wrapping_add(self.free);
            least = least.min(free);
            most = most.max(free);
            was_least = was_least.min(was);
            gain_from = gain_from.min(if free > was { was } else { i32::MAX });
            gain_to = gain_to.max(if free > was { free } else { i32::MIN });
        }
        (self.least, self.most, self.was_least) = (least, most, was_least);
        (self.gain_from, self.gain_to) = (gain_from, gain_to);
        self.loose = false;
    }

    /// Some steps of the chunk have more, or fewer, than they had. What is said of the others stays
    /// true.
    #[inline]
    fn widen_bounds(&mut self, chunk: &StepChunk, steps: Range<usize>) {
        for (&free, &was) in chunk.free[steps.clone()].iter().zip(&chunk.was[steps]) {
            let free = free.wrapping_add(self.free);
            self.least = self.least.min(free);
            self.most = self.most.max(free);
            if free > was {
                self.gain_from = self.gain_from.min(was);
                self.gain_to = self.gain_to.max(free);
            }
        }
        (self.touched, self.loose) = (true, true);
    }

    /// All steps of the chunk have `by` more.
    fn add_to_all(&mut self, by: i32) {
        (self.touched, self.loose) = (true, true);
        self.free = self.free.wrapping_add(by);
        self.least += by;
        self.most += by;
        if by > 0 {
            // Steps may have come to be gained that were not: they are all counted.
            self.gain_to = self.most;
            self.gain_from = self.gain_from.min(self.was_least);
        } else if self.gain_to > i32::MIN {
            self.gain_to += by;
            if self.gain_to <= self.gain_from {
                (self.gain_from, self.gain_to) = (i32::MAX, i32::MIN);
            }
        }
    }
}

impl Chunked {
    pub(crate) fn can_count(machine: Procs) -> bool {
        // What is free and what is planned beyond it, each no more than the machine.
        machine <= i32::MAX as Procs / 4
    }

    /// The steps of a profile, settled. O(s).
    pub(crate) fn from_profile(profile: &Profile) -> Chunked {
        let mut profile_in_chunks = Chunked { heads: Vec::new(), chunks: Vec::new(), gained_until: Time::MIN };
        let mut chunk = StepChunk::new_empty();
        for (time, free) in profile.steps() {
            let free = i32::try_from(free).unwrap_or(i32::MAX / 4);
            if chunk.len > 0 && chunk.free[chunk.len - 1] == free {
                continue;
            }
            if chunk.len == FEW {
                profile_in_chunks.append_chunk(std::mem::replace(&mut chunk, StepChunk::new_empty()));
            }
            chunk.push(time, free, free);
        }
        profile_in_chunks.append_chunk(chunk);
        profile_in_chunks
    }

    fn append_chunk(&mut self, chunk: Box<StepChunk>) {
        self.heads.push(ChunkHead::from_chunk(&chunk));
        self.chunks.push(chunk);
    }

    /// The steps: from when, and how many processors are free until the next.
    pub(crate) fn settled_steps(&self) -> impl Iterator<Item = (Time, i32)> + '_ {
        self.heads.iter().zip(&self.chunks).flat_map(|(head, chunk)| {
            (0..chunk.len).map(move |k| (chunk.time[k], chunk.free[k].wrapping_add(head.free)))
        })
    }

    /// Nothing is gained from here on.
    pub(crate) fn gained_until(&self) -> Time {
        self.gained_until
    }

    /// Forgets everything before `now`. O(what is forgotten + a chunk).
    pub(crate) fn advance_to(&mut self, now: Time) {
        let over = self.heads.partition_point(|head| head.first <= now).saturating_sub(1);
        self.heads.drain(..over);
        self.chunks.drain(..over);
        let (head, chunk) = (&mut self.heads[0], &mut self.chunks[0]);
        let at = chunk.step_at(now);
        if at > 0 {
            chunk.forget_steps(at);
        }
        chunk.time[0] = chunk.time[0].max(now);
        head.first = chunk.time[0];
        if at > 0 {
            head.sum_up(chunk);
        }
    }

    /// There are `by` more processors free during `[from, to)`, or, below 0, fewer. Nothing happens
    /// if that is empty, or before the profile begins.
    pub(crate) fn add_during(&mut self, from: Time, to: Time, by: i32) {
        let from = from.max(self.heads[0].first);
        if from >= to || by == 0 {
            return;
        }
        if by > 0 {
            self.gained_until = self.gained_until.max(to);
        }
        let first = self.insert_border(from);
        if to == Time::MAX {
            let end = StepSpot { chunk: self.heads.len(), step: 0 };
            return self.add_between(first, end, by);
        }
        self.add_from(first, from, to, by);
    }

    /// Adds processors from a known border on. Returns the border at the end.
    fn add_from(&mut self, first: StepSpot, from: Time, to: Time, by: i32) -> StepSpot {
        let chunks = self.heads.len();
        let near = self.step_nearby(first, to);
        let end = self.border_in(near, to);
        // The border at the end may have divided the chunk of the first.
        let first =
            if self.heads.len() > chunks && end.chunk <= first.chunk + 1 { self.find_step(from) } else { first };
        self.add_between(first, end, by);
        end
    }

    /// A job of this many processors that was to have them during `[old, old + span)` has them from
    /// `start` on, which is earlier.
    pub(crate) fn move_up(&mut self, procs: i32, old: Time, span: Span, start: Time) {
        let (end, old_end) = (start.saturating_add(span), old.saturating_add(span));
        if old_end == Time::MAX {
            self.add_during(start, end.min(old), -procs);
            return self.add_during(end.max(old), old_end, procs);
        }
        self.gained_until = self.gained_until.max(old_end);
        let first = self.insert_border(start);
        let border = self.add_from(first, start, end.min(old), -procs);
        let from = end.max(old);
        let near = self.step_nearby(border, from);
        let first = self.border_in(near, from);
        self.add_from(first, from, old_end, procs);
    }

    fn add_between(&mut self, first: StepSpot, end: StepSpot, by: i32) {
        let mut at = first;
        while at.chunk < end.chunk {
            if at.step == 0 {
                self.heads[at.chunk].add_to_all(by);
            } else {
                self.add_in(at.chunk, at.step..self.chunks[at.chunk].len, by);
            }
            at = StepSpot { chunk: at.chunk + 1, step: 0 };
        }
        if at.step < end.step {
            self.add_in(end.chunk, at.step..end.step, by);
        }
    }

    fn add_in(&mut self, chunk: usize, steps: Range<usize>, by: i32) {
        let (head, chunk) = (&mut self.heads[chunk], &mut self.chunks[chunk]);
        chunk.free[steps.clone()].iter_mut().for_each(|free| *free = free.wrapping_add(by));
        head.widen_bounds(chunk, steps);
    }

    /// The step that begins at `time`, inserted if there is none.
    fn insert_border(&mut self, time: Time) -> StepSpot {
        self.border_in(self.find_step(time), time)
    }

    /// Finds or makes a border in the step that holds at `time`.
    fn border_in(&mut self, step: StepSpot, time: Time) -> StepSpot {
        let mut at = step;
        if self.chunks[at.chunk].time[at.step] == time {
            return at;
        }
        if self.chunks[at.chunk].len == MOST {
            let behind = self.chunks[at.chunk].split_off(HALF);
            let mut head = self.heads[at.chunk];
            head.sum_up(&behind);
            self.heads[at.chunk].sum_up(&self.chunks[at.chunk]);
            self.heads.insert(at.chunk + 1, head);
            self.chunks.insert(at.chunk + 1, behind);
            if at.step >= HALF {
                at = StepSpot { chunk: at.chunk + 1, step: at.step - HALF };
            }
        }
        self.chunks[at.chunk].split_step(at.step, time);
        StepSpot { step: at.step + 1, ..at }
    }

    /// Makes the present state the base: nothing is gained. Joins equal neighbours where something
    /// has changed.
    pub(crate) fn settle_all(&mut self) {
        self.gained_until = Time::MIN;
        let mut kept_count = 0;
        for at in 0..self.heads.len() {
            if self.heads[at].touched {
                let head = &mut self.heads[at];
                self.chunks[at].settle_steps(head.free);
                (head.free, head.touched) = (0, false);
                head.sum_up(&self.chunks[at]);
            }
            if kept_count > 0 && self.chunks[kept_count - 1].len + self.chunks[at].len <= FEW {
                self.unite_chunks(kept_count - 1, at);
            } else {
                self.heads.swap(kept_count, at);
                self.chunks.swap(kept_count, at);
                kept_count += 1;
            }
        }
        self.heads.truncate(kept_count);
        self.chunks.truncate(kept_count);
    }

    /// Moves the steps of a chunk behind those of an earlier one. Both are settled.
    fn unite_chunks(&mut self, into: usize, from: usize) {
        let (before, behind) = self.chunks.split_at_mut(from);
        let (into_chunk, from_chunk) = (&mut before[into], &behind[0]);
        let by = self.heads[from].free.wrapping_sub(self.heads[into].free);
        for k in 0..from_chunk.len {
            into_chunk.push(from_chunk.time[k], from_chunk.free[k].wrapping_add(by), from_chunk.was[k]);
        }
        self.heads[into].sum_up(into_chunk);
    }
}

impl ChunkHead {
    fn from_chunk(chunk: &StepChunk) -> ChunkHead {
        let mut head = ChunkHead {
            first: chunk.time[0],
            free: 0,
            least: 0,
            most: 0,
            was_least: 0,
            gain_from: i32::MAX,
            gain_to: i32::MIN,
            touched: false,
            loose: false,
        };
        head.sum_up(chunk);
        head
    }
}

impl From<Chunked> for Profile {
    /// Without steps that are as the one before, as [`Chunked::from_profile`] takes them: what is
    /// loaded saves the same.
    fn from(profile: Chunked) -> Profile {
        let mut steps: Vec<(Time, Procs)> =
            profile.settled_steps().map(|(time, free)| (time, free.max(0) as Procs)).collect();
        steps.dedup_by_key(|step| step.1);
        Profile::from_steps(steps.into_iter())
    }
}

impl TryFrom<Profile> for Chunked {
    type Error = &'static str;

    fn try_from(profile: Profile) -> Result<Chunked, &'static str> {
        if profile.steps().any(|(_, free)| !Chunked::can_count(free)) {
            return Err("no profile of free processors: too many");
        }
        Ok(Chunked::from_profile(&profile))
    }
}
