//! Sets of named processors.

use super::Procs;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A set of processors, as disjoint ranges in ascending order: compact however large the machine.
///
/// Its text form is canonical: `0-3,7` for the processors 0, 1, 2, 3 and 7, and the empty text for
/// no processor. With r ranges, set operations cost O(r) and membership O(log r).
///
/// ```
/// use drystone_engine::model::ProcSet;
///
/// let procs: ProcSet = "0-3,7".parse()?;
/// assert_eq!(procs.len(), 5);
/// assert!(procs.contains(7) && !procs.contains(4));
/// assert_eq!(procs.to_string(), "0-3,7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub struct ProcSet {
    /// Disjoint, ascending, never touching, never empty.
    ranges: Vec<Range<Procs>>,
}

impl ProcSet {
    /// No processor.
    #[inline]
    #[must_use]
    pub fn new() -> ProcSet {
        ProcSet::default()
    }

    /// The processors of one range.
    #[inline]
    #[must_use]
    pub fn from_range(range: Range<Procs>) -> ProcSet {
        ProcSet { ranges: if range.is_empty() { Vec::new() } else { vec![range] } }
    }

    /// From disjoint ranges in ascending order that neither touch nor are empty.
    pub fn from_ascending(ranges: Vec<Range<Procs>>) -> ProcSet {
        debug_assert!(ranges.is_sorted_by(|a, b| a.end < b.start) && ranges.iter().all(|r| r.start < r.end));
        ProcSet { ranges }
    }

    /// Number of processors. O(r).
    #[inline]
    #[must_use]
    pub fn len(&self) -> Procs {
        self.ranges.iter().map(|r| r.end - r.start).sum()
    }

    /// Returns whether it holds no processor.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, ascending.
    #[inline]
    #[must_use]
    pub fn ranges(&self) -> &[Range<Procs>] {
        &self.ranges
    }

    /// Returns whether it holds this processor.
    #[must_use]
    pub fn contains(&self, proc: Procs) -> bool {
        let at = self.ranges.partition_point(|r| r.end <= proc);
        self.ranges.get(at).is_some_and(|r| r.start <= proc)
    }

    /// The `count` lowest processors, or all if there are fewer.
    #[must_use]
    pub fn lowest_procs(&self, count: Procs) -> ProcSet {
        let mut missing_count = count;
        let mut ranges = Vec::new();
        for r in &self.ranges {
            if missing_count == 0 {
                break;
            }
            let take = missing_count.min(r.end - r.start);
            ranges.push(r.start..r.start + take);
            missing_count -= take;
        }
        ProcSet { ranges }
    }

    /// The `count` highest processors, or all if there are fewer.
    #[must_use]
    pub fn highest_procs(&self, count: Procs) -> ProcSet {
        let rest = self.len().saturating_sub(count);
        self.difference(&self.lowest_procs(rest))
    }

    /// All processors of these sets. O(n log n) for n ranges in all.
    #[must_use]
    pub fn union_of<'a>(sets: impl IntoIterator<Item = &'a ProcSet>) -> ProcSet {
        ProcSet::of_ranges(sets.into_iter().flat_map(|set| set.ranges.iter().cloned()).collect())
    }

    fn of_ranges(mut list: Vec<Range<Procs>>) -> ProcSet {
        list.sort_unstable_by_key(|range| range.start);
        let mut ranges: Vec<Range<Procs>> = Vec::with_capacity(list.len());
        for range in list {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        ProcSet { ranges }
    }

    /// Returns whether no processor is in both.
    #[must_use]
    pub fn is_disjoint(&self, set: &ProcSet) -> bool {
        let (mut i, mut j) = (0, 0);
        while i < self.ranges.len() && j < set.ranges.len() {
            let (a, b) = (&self.ranges[i], &set.ranges[j]);
            if a.start < b.end && b.start < a.end {
                return false;
            }
            if a.end <= b.end {
                i += 1;
            } else {
                j += 1;
            }
        }
        true
    }

    /// Returns whether every processor of this set is in `other`.
    #[must_use]
    pub fn is_subset(&self, set: &ProcSet) -> bool {
        self.ranges.iter().all(|a| {
            let at = set.ranges.partition_point(|b| b.end < a.end);
            set.ranges.get(at).is_some_and(|b| b.start <= a.start)
        })
    }

    /// The processors in either.
    #[must_use]
    pub fn union(&self, set: &ProcSet) -> ProcSet {
        self.combine_sets(set, |a, b| a || b)
    }

    /// The processors in both.
    #[must_use]
    pub fn intersection(&self, set: &ProcSet) -> ProcSet {
        self.combine_sets(set, |a, b| a && b)
    }

    /// The processors in this set but not in `other`.
    #[must_use]
    pub fn difference(&self, set: &ProcSet) -> ProcSet {
        self.combine_sets(set, |a, b| a && !b)
    }

    /// Sweeps over the borders of both sets and keeps where `keep` holds.
    fn combine_sets(&self, set: &ProcSet, keep: impl Fn(bool, bool) -> bool) -> ProcSet {
        let mut ranges: Vec<Range<Procs>> = Vec::with_capacity(self.ranges.len() + set.ranges.len());
        let (mut i, mut j) = (0, 0);
        let mut from = 0;
        // Each set's borders in order: even numbers open a range, odd ones close it.
        let border = |ranges: &[Range<Procs>], k: usize| {
            ranges.get(k / 2).map(|r| if k.is_multiple_of(2) { r.start } else { r.end })
        };
        loop {
            let (a, b) = (border(&self.ranges, i), border(&set.ranges, j));
            let Some(next) = a.into_iter().chain(b).min() else {
                break;
            };
            if keep(i % 2 == 1, j % 2 == 1) && from < next {
                match ranges.last_mut() {
                    Some(last) if last.end == from => last.end = next,
                    _ => ranges.push(from..next),
                }
            }
            i += usize::from(a == Some(next));
            j += usize::from(b == Some(next));
            from = next;
        }
        ProcSet { ranges }
    }
}

impl fmt::Display for ProcSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, r) in self.ranges.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match r.end - r.start {
                1 => write!(f, "{comma}{}", r.start)?,
                _ => write!(f, "{comma}{}-{}", r.start, r.end - 1)?,
            }
        }
        Ok(())
    }
}

/// A text that names no set of processors.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` names no processors: expected numbers and ranges in ascending order such as 0-3,7")]
pub struct ProcSetError {
    /// The text.
    pub text: String,
}

impl FromStr for ProcSet {
    type Err = ProcSetError;

    /// Reads the canonical form; a semicolon, a plus or a space may stand for the comma. Ranges
    /// must be ascending, so that no processor is named twice.
    fn from_str(text: &str) -> Result<ProcSet, ProcSetError> {
        let wrong = || ProcSetError { text: text.to_string() };
        let mut ranges: Vec<Range<Procs>> = Vec::new();
        for part in text.split([',', ';', '+', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<Procs>().ok().filter(|&n| n < Procs::MAX).ok_or_else(wrong);
            let (first, last) = (number(first)?, number(last)?);
            match ranges.last_mut() {
                _ if first > last => return Err(wrong()),
                Some(before) if before.end > first => return Err(wrong()),
                Some(before) if before.end == first => before.end = last + 1,
                _ => ranges.push(first..last + 1),
            }
        }
        Ok(ProcSet { ranges })
    }
}

impl FromIterator<Procs> for ProcSet {
    fn from_iter<I: IntoIterator<Item = Procs>>(procs: I) -> ProcSet {
        let mut sorted_procs: Vec<Procs> = procs.into_iter().collect();
        sorted_procs.sort_unstable();
        let mut ranges: Vec<Range<Procs>> = Vec::new();
        for p in sorted_procs {
            match ranges.last_mut() {
                Some(last) if last.end == p => last.end = p + 1,
                Some(last) if last.end > p => {}
                _ => ranges.push(p..p + 1),
            }
        }
        ProcSet { ranges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn members(s: &ProcSet) -> BTreeSet<Procs> {
        s.ranges().iter().cloned().flatten().collect()
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(
            a in prop::collection::btree_set(0u32..60, 0..40),
            b in prop::collection::btree_set(0u32..60, 0..40),
            n in 0u32..50,
        ) {
            let (x, y): (ProcSet, ProcSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(members(&x), a.clone());
            prop_assert_eq!(x.len() as usize, a.len());
            for (set, expected) in [
                (x.union(&y), &a | &b), (x.intersection(&y), &a & &b), (x.difference(&y), &a - &b),
                (x.lowest_procs(n), a.iter().copied().take(n as usize).collect()),
                (x.highest_procs(n), a.iter().rev().copied().take(n as usize).collect()),
                (ProcSet::union_of([&x, &y]), &a | &b),
            ] {
                prop_assert_eq!(members(&set), expected.clone());
                prop_assert_eq!(set, expected.into_iter().collect::<ProcSet>(), "canonical");
            }
            prop_assert_eq!(x.is_disjoint(&y), a.is_disjoint(&b));
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            prop_assert_eq!(x.contains(n), a.contains(&n));
        }
    }

    #[test]
    fn text_names_ranges() {
        let s: ProcSet = [7, 0, 1, 2, 3].into_iter().collect();
        assert_eq!(s.to_string(), "0-3,7");
        assert_eq!(ProcSet::new().to_string(), "");
    }

    #[test]
    fn text_is_read_back() {
        for text in ["", "5", "0-3,7", "0-3,7,9-4294967293"] {
            assert_eq!(text.parse::<ProcSet>().map(|set| set.to_string()), Ok(text.to_string()));
        }
        assert_eq!("0-1; 2+4 6".parse::<ProcSet>().map(|set| set.to_string()), Ok("0-2,4,6".to_string()));
        for text in ["-", "3-", "-3", "a", "3-1", "1,1", "4,2", "0-3,3", "4294967295", "1.5"] {
            assert!(text.parse::<ProcSet>().is_err(), "{text}");
        }
    }
}
