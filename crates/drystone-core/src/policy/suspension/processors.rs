//! Processors with identity: which are free, and which of them suspended jobs own.

use super::news::meets;
use crate::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A set of processors of one machine, a bit each. The few sets that belong to the whole machine are kept so; the sets of jobs
/// are ranges ([`ProcSet`]), compact however large the machine.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: Procs,
}

impl Bits {
    /// The empty set on a machine of so many processors.
    pub(super) fn none(procs: Procs) -> Bits {
        Bits { words: vec![0; procs.div_ceil(64) as usize], len: 0 }
    }

    /// Whether it is a set of processors of a machine of so many.
    pub(super) fn is_for(&self, procs: Procs) -> bool {
        self.words.len() == procs.div_ceil(64) as usize
    }

    /// Number of processors in it. O(1).
    #[inline]
    pub(super) fn len(&self) -> Procs {
        self.len
    }

    pub(super) fn copy_from(&mut self, other: &Bits) {
        self.words.clone_from(&other.words);
        self.len = other.len;
    }

    /// The words that a range touches, each with the mask of its bits.
    #[inline]
    fn masks(range: &Range<Procs>) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, last) = (range.start / 64, (range.end - 1) / 64);
        let (start, end) = (range.start % 64, (range.end - 1) % 64);
        (first..=last).map(move |word| {
            let from = if word == first { start } else { 0 };
            let to = if word == last { end } else { 63 };
            (word as usize, (u64::MAX >> (63 - (to - from))) << from)
        })
    }

    pub(super) fn insert(&mut self, set: &ProcSet) {
        for (word, mask) in set.ranges().iter().flat_map(Bits::masks) {
            self.len += (mask & !self.words[word]).count_ones();
            self.words[word] |= mask;
        }
    }

    pub(super) fn remove(&mut self, set: &ProcSet) {
        for (word, mask) in set.ranges().iter().flat_map(Bits::masks) {
            self.len -= (mask & self.words[word]).count_ones();
            self.words[word] &= !mask;
        }
    }

    /// Inserts what is in `set` but not in `except`.
    pub(super) fn insert_except(&mut self, set: &ProcSet, except: &Bits) {
        for (word, mask) in set.ranges().iter().flat_map(Bits::masks) {
            let mask = mask & !except.words[word];
            self.len += (mask & !self.words[word]).count_ones();
            self.words[word] |= mask;
        }
    }

    pub(super) fn remove_all(&mut self, other: &Bits) {
        for (word, &mask) in self.words.iter_mut().zip(&other.words) {
            self.len -= (*word & mask).count_ones();
            *word &= !mask;
        }
    }

    /// Whether every processor of the set is in it.
    #[inline]
    pub(super) fn contains(&self, set: &ProcSet) -> bool {
        set.ranges().iter().flat_map(Bits::masks).all(|(word, mask)| self.words[word] & mask == mask)
    }

    /// Maximal runs of consecutive processors, ascending.
    fn runs(&self) -> impl Iterator<Item = Range<Procs>> {
        // The end of the last word of the largest machine is no number of processors.
        let end = self.words.len() as u64 * 64;
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next(at, end, false);
            if start >= end {
                return None;
            }
            at = self.next(start, end, true);
            Some(start as Procs..at as Procs)
        })
    }

    /// The first processor from `at` that is in the set, or, inverted, is not; `end` for none.
    fn next(&self, at: u64, end: u64, inverted: bool) -> u64 {
        let mut at = at;
        while at < end {
            let word = self.words[(at / 64) as usize];
            let word = (if inverted { !word } else { word }) >> (at % 64);
            if word != 0 {
                return at + u64::from(word.trailing_zeros());
            }
            at = (at / 64 + 1) * 64;
        }
        end
    }

    /// The `count` lowest of them; fewer if there are not as many.
    pub(super) fn lowest(&self, count: Procs) -> ProcSet {
        let mut left = count;
        let mut ranges = Vec::new();
        for run in self.runs() {
            if left == 0 {
                break;
            }
            let take = left.min(run.end - run.start);
            ranges.push(run.start..run.start + take);
            left -= take;
        }
        ProcSet::ascending(ranges)
    }

    /// The shortest run of at least `count` consecutive ones, the lowest of equal ones, cut to length.
    pub(super) fn best_run(&self, count: Procs) -> Option<ProcSet> {
        let fitting = self.runs().filter(|run| run.end - run.start >= count);
        let best = fitting.min_by_key(|run| run.end - run.start)?;
        Some(ProcSet::range(best.start..best.start + count))
    }
}

/// Free processors, and who owns them. A suspended job owns the processors on which it must go on.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Processors {
    /// F: nobody runs on them.
    free: Bits,
    /// O: suspended jobs own them.
    owned: Bits,
    /// F \ O.
    open: Bits,
    /// Those that are out: never free, though a job may still run on some of them.
    out: ProcSet,
    /// Those that several running jobs share, because somebody else started them so.
    shared: ProcSet,
}

impl Processors {
    pub(super) fn new(procs: Procs) -> Processors {
        let mut free = Bits::none(procs);
        free.insert(&ProcSet::range(0..procs));
        Processors { open: free.clone(), owned: Bits::none(procs), free, out: ProcSet::new(), shared: ProcSet::new() }
    }

    /// Works all of it out anew on a machine of so many: from those that running jobs are on, those that suspended jobs own, and
    /// those that are out.
    pub(super) fn anew<'a>(
        procs: Procs,
        running: impl Iterator<Item = &'a ProcSet>,
        owners: impl Iterator<Item = &'a ProcSet>,
        out: ProcSet,
    ) -> Processors {
        let mut all = Processors::new(procs);
        let mut busy = ProcSet::new();
        for set in running {
            all.occupy(set);
            all.shared = all.shared.union(&busy.intersection(set));
            busy = busy.union(set);
        }
        owners.for_each(|set| all.owned.insert(set));
        all.out = out;
        all.forget_lost();
        all.open.copy_from(&all.free);
        all.open.remove_all(&all.owned);
        all
    }

    /// Whether nobody gains by a job leaving these: some are out, or others are on them, too.
    #[inline]
    pub(super) fn are_no_gain(&self, set: &ProcSet) -> bool {
        meets(set, &self.out) || meets(set, &self.shared)
    }

    /// Whether others are on some of these, too.
    #[inline]
    pub(super) fn are_shared(&self, set: &ProcSet) -> bool {
        meets(set, &self.shared)
    }

    /// Jobs have left processors that they shared: those that still run are on theirs, and share what they share.
    #[cold]
    pub(super) fn share_anew<'a>(&mut self, running: impl Iterator<Item = &'a ProcSet>) {
        let mut busy = ProcSet::new();
        self.shared = ProcSet::new();
        for set in running {
            self.occupy(set);
            self.shared = self.shared.union(&busy.intersection(set));
            busy = busy.union(set);
        }
    }

    /// The same without these.
    pub(super) fn without(&self, barred: &ProcSet) -> Processors {
        let mut all = self.clone();
        all.occupy(barred);
        all
    }

    /// What is out is not free.
    #[inline]
    fn forget_lost(&mut self) {
        if !self.out.is_empty() {
            self.free.remove(&self.out);
            self.open.remove(&self.out);
        }
    }

    #[inline]
    pub(super) fn free(&self) -> &Bits {
        &self.free
    }

    #[inline]
    pub(super) fn open(&self) -> &Bits {
        &self.open
    }

    pub(super) fn occupy(&mut self, set: &ProcSet) {
        self.free.remove(set);
        self.open.remove(set);
    }

    /// A running job becomes a suspended one: its processors are free, but owned.
    pub(super) fn hold(&mut self, set: &ProcSet) {
        self.free.insert(set);
        self.owned.insert(set);
        self.forget_lost();
    }

    /// A suspended job that owned these goes on on them. `others` are the sets of the other suspended jobs, at least those
    /// that meet its own.
    pub(super) fn reoccupy<'a>(&mut self, set: &ProcSet, others: impl Iterator<Item = &'a ProcSet>) {
        self.occupy(set);
        self.owned_by(set, others);
    }

    /// Who owned these does so no more; `others` own what they owned. As soon as all are owned again the rest is not asked for.
    fn owned_by<'a>(&mut self, set: &ProcSet, others: impl Iterator<Item = &'a ProcSet>) {
        let all = self.owned.len();
        self.owned.remove(set);
        for other in others {
            self.owned.insert(other);
            if self.owned.len() == all {
                break;
            }
        }
    }

    /// A running job ends, or is suspended and owns nothing.
    pub(super) fn release(&mut self, set: &ProcSet) {
        self.free.insert(set);
        self.open.insert_except(set, &self.owned);
        self.forget_lost();
    }

    /// A suspended job was withdrawn. `others` are as for [`Processors::reoccupy`].
    pub(super) fn disown<'a>(&mut self, set: &ProcSet, others: impl Iterator<Item = &'a ProcSet>) {
        self.owned_by(set, others);
        self.open.copy_from(&self.free);
        self.open.remove_all(&self.owned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Bits agree with sets of numbers.
        #[test]
        fn bits_are_a_set(
            a in prop::collection::btree_set(0u32..200, 0..150),
            b in prop::collection::btree_set(0u32..200, 0..150),
            n in 0u32..150,
        ) {
            let set = |s: &BTreeSet<u32>| s.iter().copied().collect::<ProcSet>();
            let bits = |s: &BTreeSet<u32>| { let mut bits = Bits::none(200); bits.insert(&set(s)); bits };
            let all = |bits: &Bits| bits.lowest(bits.len());
            prop_assert_eq!(bits(&a).len() as usize, a.len());
            let mut both = bits(&a);
            both.insert(&set(&b));
            prop_assert_eq!(all(&both), set(&(&a | &b)));
            let mut less = bits(&a);
            less.remove(&set(&b));
            prop_assert_eq!(all(&less), set(&(&a - &b)));
            prop_assert_eq!(less.len() as usize, (&a - &b).len());
            let mut same = bits(&a);
            same.remove_all(&bits(&b));
            prop_assert_eq!(&same, &less);
            both = Bits::none(200);
            both.insert_except(&set(&a), &bits(&b));
            prop_assert_eq!(&both, &less);
            prop_assert_eq!(bits(&a).contains(&set(&b)), b.is_subset(&a));
            prop_assert_eq!(bits(&a).lowest(n), set(&a).lowest(n));
            if n > 0 {
                let runs = set(&a);
                let best = runs.ranges().iter().filter(|r| r.end - r.start >= n).min_by_key(|r| r.end - r.start);
                prop_assert_eq!(bits(&a).best_run(n), best.map(|r| ProcSet::range(r.start..r.start + n)));
            }
        }
    }
}
