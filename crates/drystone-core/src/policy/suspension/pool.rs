//! A set of processors that changes all the time.

use crate::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A set of processors, as disjoint ranges in ascending order like [`ProcSet`], changed in place:
/// what it costs follows the number of ranges, however large the machine.
///
/// With k ranges, a change by one range costs O(log k) and a move of the later ranges, membership
/// O(log k).
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct RangePool {
    /// Disjoint, ascending, never touching, never empty.
    ranges: Vec<Range<Procs>>,
    len: Procs,
}

impl RangePool {
    /// Number of processors in it. O(1).
    #[inline]
    pub(super) fn len(&self) -> Procs {
        self.len
    }

    /// Its ranges: disjoint, ascending.
    pub(super) fn ranges(&self) -> &[Range<Procs>] {
        &self.ranges
    }

    pub(super) fn copy_from(&mut self, source: &RangePool) {
        self.ranges.clone_from(&source.ranges);
        self.len = source.len;
    }

    pub(super) fn insert(&mut self, set: &ProcSet) {
        set.ranges().iter().for_each(|range| self.insert_range(range));
    }

    pub(super) fn remove(&mut self, set: &ProcSet) {
        set.ranges().iter().for_each(|range| self.remove_range(range));
    }

    fn insert_range(&mut self, range: &Range<Procs>) {
        // Those that touch it become one with it.
        let first = self.ranges.partition_point(|r| r.end < range.start);
        let Some(neighbour) = self.ranges.get(first).filter(|r| r.start <= range.end) else {
            self.ranges.insert(first, range.clone());
            self.len += range.end - range.start;
            return;
        };
        let mut whole = neighbour.start.min(range.start)..range.end;
        let mut last = first;
        while let Some(r) = self.ranges.get(last).filter(|r| r.start <= range.end) {
            self.len -= r.end - r.start;
            whole.end = whole.end.max(r.end);
            last += 1;
        }
        self.len += whole.end - whole.start;
        self.ranges[first] = whole;
        self.ranges.drain(first + 1..last);
    }

    fn remove_range(&mut self, range: &Range<Procs>) {
        let first = self.ranges.partition_point(|r| r.end <= range.start);
        let Some(begin) = self.ranges.get(first).filter(|r| r.start < range.end).cloned() else { return };
        if begin.start < range.start && begin.end > range.end {
            self.len -= range.end - range.start;
            self.ranges[first].end = range.start;
            self.ranges.insert(first + 1, range.end..begin.end);
            return;
        }
        let (mut from, mut to) = (first, first);
        while let Some(r) = self.ranges.get_mut(to).filter(|r| r.start < range.end) {
            self.len -= r.end.min(range.end) - r.start.max(range.start);
            if r.start < range.start {
                r.end = range.start;
                from = to + 1;
            } else if r.end > range.end {
                r.start = range.end;
                break;
            }
            to += 1;
        }
        self.ranges.drain(from..to);
    }

    /// Inserts what is in `set` but not in `except`.
    pub(super) fn insert_except(&mut self, set: &ProcSet, except: &RangePool) {
        for range in set.ranges() {
            let mut from = range.start;
            let first = except.ranges.partition_point(|r| r.end <= range.start);
            for r in except.ranges[first..].iter().take_while(|r| r.start < range.end) {
                if from < r.start {
                    self.insert_range(&(from..r.start));
                }
                from = r.end;
            }
            if from < range.end {
                self.insert_range(&(from..range.end));
            }
        }
    }

    /// Leaves what is not in `other`. O(ranges of both).
    pub(super) fn remove_all(&mut self, removal: &RangePool) {
        let mut remaining_ranges = Vec::with_capacity(self.ranges.len() + removal.ranges.len());
        let mut at = 0;
        for range in &self.ranges {
            let mut from = range.start;
            while removal.ranges.get(at).is_some_and(|r| r.end <= from) {
                at += 1;
            }
            let mut next = at;
            while let Some(r) = removal.ranges.get(next).filter(|r| r.start < range.end) {
                if from < r.start {
                    remaining_ranges.push(from..r.start);
                }
                from = r.end;
                next += 1;
            }
            if from < range.end {
                remaining_ranges.push(from..range.end);
            }
        }
        self.len = remaining_ranges.iter().map(|r| r.end - r.start).sum();
        self.ranges = remaining_ranges;
    }

    #[inline]
    pub(super) fn contains_set(&self, set: &ProcSet) -> bool {
        set.ranges().iter().all(|range| {
            let at = self.ranges.partition_point(|r| r.end < range.end);
            self.ranges.get(at).is_some_and(|r| r.start <= range.start)
        })
    }

    /// The `count` lowest of them; fewer if there are not as many.
    pub(super) fn lowest_processors(&self, count: Procs) -> ProcSet {
        let mut missing_count = count;
        let mut ranges = Vec::new();
        for range in &self.ranges {
            if missing_count == 0 {
                break;
            }
            let take = missing_count.min(range.end - range.start);
            ranges.push(range.start..range.start + take);
            missing_count -= take;
        }
        ProcSet::from_ascending(ranges)
    }

    /// The shortest run of at least `count` consecutive ones, the lowest of equal ones, cut to
    /// length.
    pub(super) fn best_run(&self, count: Procs) -> Option<ProcSet> {
        let fitting = self.ranges.iter().filter(|run| run.end - run.start >= count);
        let best = fitting.min_by_key(|run| run.end - run.start)?;
        Some(ProcSet::from_range(best.start..best.start + count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn pools_are_sets(
            a in prop::collection::btree_set(0u32..200, 0..150),
            b in prop::collection::btree_set(0u32..200, 0..150),
            n in 0u32..150,
        ) {
            let set = |s: &BTreeSet<u32>| s.iter().copied().collect::<ProcSet>();
            let pool = |s: &BTreeSet<u32>| { let mut pool = RangePool::default(); pool.insert(&set(s)); pool };
            let lowest_of = |pool: &RangePool| pool.lowest_processors(pool.len());
            prop_assert_eq!(pool(&a).len() as usize, a.len());
            let mut pool_union = pool(&a);
            pool_union.insert(&set(&b));
            prop_assert_eq!(&pool_union, &pool(&(&a | &b)));
            prop_assert_eq!(lowest_of(&pool_union), set(&(&a | &b)));
            prop_assert_eq!(pool_union.len() as usize, (&a | &b).len());
            let mut less = pool(&a);
            less.remove(&set(&b));
            prop_assert_eq!(lowest_of(&less), set(&(&a - &b)));
            prop_assert_eq!(less.len() as usize, (&a - &b).len());
            prop_assert_eq!(&less, &pool(&(&a - &b)));
            let mut same = pool(&a);
            same.remove_all(&pool(&b));
            prop_assert_eq!(&same, &less);
            pool_union = RangePool::default();
            pool_union.insert_except(&set(&a), &pool(&b));
            prop_assert_eq!(&pool_union, &less);
            prop_assert_eq!(pool(&a).contains_set(&set(&b)), b.is_subset(&a));
            prop_assert_eq!(pool(&a).lowest_processors(n), set(&a).lowest_procs(n));
            if n > 0 {
                let runs = set(&a);
                let best = runs.ranges().iter().filter(|r| r.end - r.start >= n).min_by_key(|r| r.end - r.start);
                prop_assert_eq!(pool(&a).best_run(n), best.map(|r| ProcSet::from_range(r.start..r.start + n)));
            }
        }
    }
}
