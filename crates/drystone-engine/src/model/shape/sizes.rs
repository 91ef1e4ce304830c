//! Sets of sizes that a job may have.

use crate::model::Procs;
use serde::{Deserialize, Serialize};

/// The sizes of a job, ascending; at least one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SizeSet {
    /// Every size from the first to the second.
    Range(Procs, Procs),
    /// These sizes.
    List(Vec<Procs>),
}

impl SizeSet {
    /// The smallest size.
    #[inline]
    #[must_use]
    pub fn min(&self) -> Procs {
        match self {
            SizeSet::Range(min, _) => *min,
            SizeSet::List(list) => list.first().copied().unwrap_or(1),
        }
    }

    /// The largest size.
    #[inline]
    #[must_use]
    pub fn max(&self) -> Procs {
        match self {
            SizeSet::Range(_, max) => *max,
            SizeSet::List(list) => list.last().copied().unwrap_or(1),
        }
    }

    /// Returns whether it has this size.
    #[must_use]
    pub fn contains(&self, size: Procs) -> bool {
        self.at_most(size) == Some(size)
    }

    /// Returns the largest size that is no larger than this.
    #[must_use]
    pub fn at_most(&self, size: Procs) -> Option<Procs> {
        match self {
            SizeSet::Range(min, max) => (*min <= size).then(|| size.min(*max)),
            SizeSet::List(list) => list[..list.partition_point(|member| *member <= size)].last().copied(),
        }
    }

    /// Returns the smallest size that is no smaller than this.
    #[must_use]
    pub fn at_least(&self, size: Procs) -> Option<Procs> {
        match self {
            SizeSet::Range(min, max) => (size <= *max).then(|| size.max(*min)),
            SizeSet::List(list) => list.get(list.partition_point(|member| *member < size)).copied(),
        }
    }

    /// All sizes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Procs> + '_ {
        let (range, list) = match self {
            SizeSet::Range(min, max) => (Some(*min..=*max), None),
            SizeSet::List(list) => (None, Some(list.iter().copied())),
        };
        range.into_iter().flatten().chain(list.into_iter().flatten())
    }

    /// Number of sizes.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            SizeSet::Range(min, max) => (max - min + 1) as usize,
            SizeSet::List(list) => list.len(),
        }
    }

    /// Leaves out sizes beyond this one. Returns whether there were any; `None` if none is left.
    pub fn cut_above(&mut self, most: Procs) -> Option<bool> {
        if self.min() > most {
            return None;
        }
        let cuts = self.max() > most;
        match self {
            SizeSet::Range(_, max) => *max = (*max).min(most),
            SizeSet::List(list) => list.retain(|size| *size <= most),
        }
        Some(cuts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_size_are_found() {
        let (range, list) = (SizeSet::Range(2, 5), SizeSet::List(vec![1, 4, 16]));
        assert_eq!([1, 3, 9].map(|size| range.at_most(size)), [None, Some(3), Some(5)]);
        assert_eq!([1, 3, 9].map(|size| range.at_least(size)), [Some(2), Some(3), None]);
        assert_eq!([0, 5, 99].map(|size| list.at_most(size)), [None, Some(4), Some(16)]);
        assert_eq!([0, 5, 99].map(|size| list.at_least(size)), [Some(1), Some(16), None]);
        assert_eq!((range.iter().collect::<Vec<_>>(), range.count()), (vec![2, 3, 4, 5], 4));
        let mut list = list;
        assert_eq!((list.cut_above(16), list.cut_above(8), list.cut_above(0)), (Some(false), Some(true), None));
        assert_eq!(list, SizeSet::List(vec![1, 4]));
    }
}
