//! Sorts that share one instance of the standard library's sort.
//!
//! `[T]::sort_by` is compiled again for each closure, with some three thousand lines before
//! optimisation. Lists that are short or seldom sorted have no need of that.

use std::cmp::Ordering;

/// Longest list that is sorted by insertion, without an allocation.
const SHORT: usize = 16;

/// Stable sorts for lists that are short or seldom sorted.
///
/// Up to 16 elements are moved by insertion; longer lists are sorted through a list of their
/// positions, in O(n log n) comparisons behind a pointer and O(n) exchanges.
pub trait SharedSort<T> {
    /// Sorts as `sort_by` does.
    fn sort_shared_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts as `sort_by_key` does.
    fn sort_shared_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.sort_shared_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts as `sort` does.
    fn sort_shared(&mut self)
    where
        T: Ord,
    {
        self.sort_shared_by(T::cmp);
    }
}

impl<T> SharedSort<T> for [T] {
    fn sort_shared_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.len() <= SHORT {
            for end in 1..self.len() {
                let mut at = end;
                while at > 0 && compare(&self[at - 1], &self[at]).is_gt() {
                    self.swap(at - 1, at);
                    at -= 1;
                }
            }
            return;
        }
        let mut target_positions = sorted_positions(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        for begin in 0..target_positions.len() {
            // A circle of exchanges: the place `at` takes what lies at `from`.
            let mut at = begin;
            loop {
                let from = std::mem::replace(&mut target_positions[at], at);
                if from == begin {
                    break;
                }
                self.swap(at, from);
                at = from;
            }
        }
    }
}

/// Positions `0..len` in the order of `compare`; equal ones stay as they are.
fn sorted_positions(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..len).collect();
    positions.sort_by(|&a, &b| compare(a, b));
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(mut values in prop::collection::vec((0..12_u8, any::<u16>()), 0..80)) {
            let mut right = values.clone();
            right.sort_by_key(|value| value.0);
            values.sort_shared_by_key(|value| value.0);
            prop_assert_eq!(&values, &right);
            right.sort();
            values.sort_shared();
            prop_assert_eq!(&values, &right);
            right.sort_by_key(|value| std::cmp::Reverse(value.1));
            values.sort_shared_by(|a, b| b.1.cmp(&a.1));
            prop_assert_eq!(&values, &right);
        }
    }
}
