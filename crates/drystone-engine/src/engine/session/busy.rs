//! Processors in use, as bits.

use crate::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};

/// Processors of running jobs. A change costs O(ranges of the job), and a step for each 64 of its
/// processors.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct BusyProcessors {
    words: Vec<u64>,
}

impl BusyProcessors {
    pub(super) fn from_set(set: &ProcSet) -> BusyProcessors {
        let mut busy = BusyProcessors::default();
        busy.add_set(set);
        busy
    }

    pub(super) fn add_set(&mut self, set: &ProcSet) {
        let end = set.ranges().last().map_or(0, |range| range.end as usize);
        if self.words.len() < end.div_ceil(64) {
            self.words.resize(end.div_ceil(64), 0);
        }
        each_word(set, |at, bits| self.words[at] |= bits);
    }

    /// The processors of a job are in use no more.
    pub(super) fn remove(&mut self, set: &ProcSet) {
        each_word(set, |at, bits| {
            if let Some(word) = self.words.get_mut(at) {
                *word &= !bits;
            }
        });
    }

    /// Returns whether none of these processors is in use.
    pub(super) fn is_disjoint(&self, set: &ProcSet) -> bool {
        let mut disjoint = true;
        each_word(set, |at, bits| disjoint &= self.words.get(at).is_none_or(|word| word & bits == 0));
        disjoint
    }

    /// The processors as a set. O(machine).
    pub(super) fn to_set(&self) -> ProcSet {
        let mut ranges: Vec<std::ops::Range<Procs>> = Vec::new();
        for (word, at) in self.words.iter().zip(0..) {
            let mut bits = *word;
            while bits != 0 {
                let from = bits.trailing_zeros();
                let length = (bits >> from).trailing_ones();
                let (begin, end) = (at * 64 + from, at * 64 + from + length);
                match ranges.last_mut() {
                    Some(last) if last.end == begin => last.end = end,
                    _ => ranges.push(begin..end),
                }
                bits &= u64::MAX.checked_shl(from + length).unwrap_or(0);
            }
        }
        ProcSet::from_ascending(ranges)
    }
}

/// Passes on the words that a set lies in, with its bits in each.
fn each_word(set: &ProcSet, mut pass: impl FnMut(usize, u64)) {
    for range in set.ranges() {
        let (mut at, end) = (range.start as usize, range.end as usize);
        while at < end {
            let length = (64 - at % 64).min(end - at);
            pass(at / 64, (u64::MAX >> (64 - length)) << (at % 64));
            at += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set() -> impl Strategy<Value = ProcSet> {
        prop::collection::btree_set(0u32..200, 0..80).prop_map(|procs| {
            procs.into_iter().fold(ProcSet::new(), |set, proc| set.union(&ProcSet::from_range(proc..proc + 1)))
        })
    }

    proptest! {
        /// Bits say what sets say.
        #[test]
        fn bits_are_sets(changes in prop::collection::vec((any::<bool>(), set()), 0..12), asked in set()) {
            let (mut bits, mut whole) = (BusyProcessors::default(), ProcSet::new());
            for (adds, set) in &changes {
                if *adds {
                    bits.add_set(set);
                    whole = whole.union(set);
                } else {
                    bits.remove(set);
                    whole = whole.difference(set);
                }
                prop_assert_eq!(&bits.to_set(), &whole);
                prop_assert_eq!(bits.is_disjoint(&asked), asked.is_disjoint(&whole));
            }
        }
    }
}
