//! Ends of running jobs, the next one first.

use crate::model::{JobId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// End of a job: time, rank among ends of the same time, and job, in this order, as one number that
/// compares fast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct QueuedEnd(i128);

impl QueuedEnd {
    #[inline]
    pub(super) fn new(time: Time, rank: u32, job: JobId) -> QueuedEnd {
        QueuedEnd(i128::from(time.0) << 64 | i128::from(rank) << 32 | i128::from(job.0))
    }

    #[inline]
    pub(super) fn time(self) -> Time {
        Time((self.0 >> 64) as i64)
    }

    #[inline]
    pub(super) fn job(self) -> JobId {
        JobId(self.0 as u32)
    }

    /// As `self < other`; the times alone say so, as a rule.
    #[inline]
    fn comes_before(self, end: QueuedEnd) -> bool {
        self.time() < end.time() || (self.time() == end.time() && self < end)
    }

    /// Returns whether the job was cut short: it then ends before others, in whose favour a pass
    /// could suspend it.
    pub(super) fn is_cut(self) -> bool {
        (self.0 >> 32) as u32 == 0
    }
}

/// This many ends are kept in order.
const NEAR: usize = 64;

/// A queue of ends. The next ones are an array in order, where adding one moves those before it and
/// taking one moves none; on most machines these are all. What lies behind them is a heap.
///
/// Cost for n ends: [`EndQueue::push`] moves up to 64 and, as [`EndQueue::pop`], takes O(log n),
/// amortised; [`EndQueue::peek_end`] O(1).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<QueuedEnd>", into = "Vec<QueuedEnd>")]
pub(super) struct EndQueue {
    /// The last is the next. Empty only if `far` is also empty.
    near: Vec<QueuedEnd>,
    /// None of them comes before one of the near.
    far: BinaryHeap<Reverse<QueuedEnd>>,
    /// Time of the next end, cached because it is read far more often than it changes.
    next: Time,
}

impl Default for EndQueue {
    fn default() -> EndQueue {
        EndQueue { near: Vec::new(), far: BinaryHeap::new(), next: Time::MAX }
    }
}

impl EndQueue {
    /// Returns the time of the next end; [`Time::MAX`] for never.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    #[inline]
    pub(super) fn peek_end(&self) -> Option<QueuedEnd> {
        self.near.last().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    #[inline]
    pub(super) fn push(&mut self, end: QueuedEnd) {
        self.next = self.next.min(end.time());
        if self.near.len() >= NEAR || !self.far.is_empty() {
            return self.push_behind(end);
        }
        self.near.push(end);
        sink_end(&mut self.near, end);
    }

    #[inline(never)]
    fn push_behind(&mut self, end: QueuedEnd) {
        if self.near.len() >= NEAR {
            self.make_room();
        }
        if self.near.first().is_none_or(|last| end > *last) {
            return self.far.push(Reverse(end));
        }
        self.near.push(end);
        sink_end(&mut self.near, end);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<QueuedEnd> {
        let next = self.near.pop()?;
        if self.near.is_empty() && !self.far.is_empty() {
            self.refill_near();
        }
        self.next = self.peek_end().map_or(Time::MAX, QueuedEnd::time);
        Some(next)
    }

    /// Half of the near become far: as many were added since the last time.
    fn make_room(&mut self) {
        self.far.extend(self.near.drain(..NEAR / 2).map(Reverse));
    }

    #[cold]
    fn refill_near(&mut self) {
        while self.near.len() < NEAR / 2
            && let Some(Reverse(end)) = self.far.pop()
        {
            self.near.push(end);
        }
        self.near.reverse();
    }
}

/// Moves the last of these, `end`, to its place; the others are in order. How many come before it
/// cannot be foretold: each is moved as soon as it is known to, for the array to be moved at once
/// would have to wait until a search has found out.
#[inline]
fn sink_end(mut near: &mut [QueuedEnd], end: QueuedEnd) {
    while let Some((gap, rest)) = near.split_last_mut() {
        match rest.last() {
            Some(before) if before.comes_before(end) => *gap = *before,
            _ => {
                *gap = end;
                return;
            }
        }
        near = rest;
    }
}

// Which of them are near is no part of the state: equal queues are saved as equal lists.
impl From<Vec<QueuedEnd>> for EndQueue {
    fn from(list: Vec<QueuedEnd>) -> EndQueue {
        let mut ends = EndQueue::default();
        list.into_iter().for_each(|end| ends.push(end));
        ends
    }
}

impl From<EndQueue> for Vec<QueuedEnd> {
    fn from(ends: EndQueue) -> Vec<QueuedEnd> {
        let mut list: Vec<QueuedEnd> =
            ends.near.into_iter().chain(ends.far.into_iter().map(|Reverse(end)| end)).collect();
        list.sort_unstable();
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_end_is_read_as_it_was_written() {
        for (time, rank, job) in
            [(Time::MIN, 0, JobId(u32::MAX)), (Time(-1), 1, JobId(0)), (Time(7), u32::MAX, JobId(9))]
        {
            let end = QueuedEnd::new(time, rank, job);
            assert_eq!((end.time(), end.job(), end.is_cut()), (time, job, rank == 0));
        }
        let ends = [(-5, 9, 9), (-5, 10, 0), (0, 0, 3), (0, 0, 4), (1, 0, 0)];
        assert!(ends.map(|(time, rank, job)| QueuedEnd::new(Time(time), rank, JobId(job))).is_sorted());
    }

    proptest! {
        /// Whatever is added and taken in whatever order, the next end is the least of those left:
        /// as in a plain list.
        #[test]
        fn the_least_comes_first(steps in prop::collection::vec((0i64..500, 0u8..5), 0..1500), grow in 1u8..5) {
            let (mut ends, mut list) = (EndQueue::default(), Vec::new());
            for (i, (time, kind)) in steps.into_iter().enumerate() {
                if kind < grow {
                    let end = QueuedEnd::new(Time(time), 0, JobId(i as u32));
                    ends.push(end);
                    list.push(end);
                    list.sort();
                } else {
                    let next = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(ends.pop(), next);
                }
                prop_assert_eq!(ends.peek_end(), list.first().copied());
            }
            let snapshot = Vec::from(ends);
            prop_assert_eq!(&snapshot, &list);
            let mut ends = EndQueue::from(snapshot);
            for next in list {
                prop_assert_eq!(ends.pop(), Some(next));
            }
            prop_assert_eq!(ends.pop(), None);
        }
    }
}
