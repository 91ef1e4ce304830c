//! Something about each job, by id, that forgets jobs of the past.

use super::JobId;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// An array over consecutive job ids whose front is forgotten once no job of it is alive, so that a
/// simulation or a live scheduler holds at most about four times as many entries as it has jobs
/// between its oldest live one and its newest, not as many as it ever saw.
///
/// Access and push are O(1); forgetting is amortised O(1) per job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobWindow<T> {
    base: u32,
    items: Vec<T>,
}

impl<T> Default for JobWindow<T> {
    fn default() -> Self {
        JobWindow { base: 0, items: Vec::new() }
    }
}

impl<T> JobWindow<T> {
    /// The id that the next push gets.
    pub(crate) fn next_id(&self) -> JobId {
        JobId(self.base + self.items.len() as u32)
    }

    /// Makes room for this many more jobs at once.
    pub(crate) fn reserve(&mut self, jobs: usize) {
        self.items.reserve(jobs);
    }

    /// Adds what is known of the next job. O(1) amortised.
    #[inline]
    pub fn push(&mut self, item: T) -> JobId {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// Returns what is known of a job; `None` of one that is forgotten. O(1).
    #[inline]
    #[must_use]
    pub fn get(&self, id: JobId) -> Option<&T> {
        self.items.get(id.0.wrapping_sub(self.base) as usize)
    }

    /// Returns what is known of a job, to change it. O(1).
    #[inline]
    pub fn get_mut(&mut self, id: JobId) -> Option<&mut T> {
        self.items.get_mut(id.0.wrapping_sub(self.base) as usize)
    }

    /// Returns a window of the same jobs with another value for each.
    #[must_use]
    pub fn map<U>(&self, mut mapping: impl FnMut(JobId, &T) -> U) -> JobWindow<U> {
        let ids = (self.base..).map(JobId);
        JobWindow { base: self.base, items: ids.zip(&self.items).map(|(id, item)| mapping(id, item)).collect() }
    }

    /// Says that no job before `oldest` will be asked for again.
    #[inline]
    pub fn forget_before(&mut self, oldest: JobId) {
        let dead = (oldest.0 - self.base) as usize;
        // Only when it frees at least three quarters: for three that are forgotten at most one is
        // moved.
        if dead >= 64 && dead * 4 >= self.items.len() * 3 {
            self.items.drain(..dead);
            self.base = oldest.0;
        }
    }
}

impl<T> Index<JobId> for JobWindow<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: JobId) -> &T {
        &self.items[id.0.wrapping_sub(self.base) as usize]
    }
}

impl<T> IndexMut<JobId> for JobWindow<T> {
    #[inline]
    fn index_mut(&mut self, id: JobId) -> &mut T {
        &mut self.items[id.0.wrapping_sub(self.base) as usize]
    }
}
