//! Sets of processors: one bit each, for machines of up to 512.

/// A set of processor numbers below [`Set::LIMIT`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Set([u64; 8]);

impl Set {
    pub(super) const LIMIT: i64 = 512;

    /// Processors 0 to n − 1.
    pub(super) fn first_processors(n: i64) -> Set {
        let mut set = Set::default();
        for p in 0..n as usize {
            set.0[p / 64] |= 1 << (p % 64);
        }
        set
    }

    fn combine_words(self, set: Set, word: impl Fn(u64, u64) -> u64) -> Set {
        Set(std::array::from_fn(|i| word(self.0[i], set.0[i])))
    }

    pub(super) fn union_with(self, set: Set) -> Set {
        self.combine_words(set, |a, b| a | b)
    }

    pub(super) fn difference_with(self, set: Set) -> Set {
        self.combine_words(set, |a, b| a & !b)
    }

    pub(super) fn has_common(self, set: Set) -> bool {
        self.combine_words(set, |a, b| a & b) != Set::default()
    }

    pub(super) fn len(self) -> i64 {
        self.0.iter().map(|word| i64::from(word.count_ones())).sum()
    }

    /// The processors in ascending order.
    pub(super) fn list_numbers(self) -> Vec<u32> {
        (0..Set::LIMIT as u32).filter(|&p| self.0[p as usize / 64] >> (p % 64) & 1 == 1).collect()
    }

    /// The `n` lowest processors, if there are as many.
    pub(super) fn lowest_processors(self, n: i64) -> Option<Set> {
        if self.len() < n {
            return None;
        }
        let mut set = self;
        let mut surplus = self.len() - n;
        for word in set.0.iter_mut().rev() {
            while surplus > 0 && *word != 0 {
                *word &= !(1 << (63 - word.leading_zeros())); // the highest one goes
                surplus -= 1;
            }
        }
        Some(set)
    }
}
