//! Combined sets of the records of a window that slides along a plan table.

/// The nodes that are free in all records of a window whose ends only move on: two stacks, so that
/// each record is looked at twice.
#[derive(Clone, Debug, Default)]
pub(super) struct SlidingAnd {
    first: usize,
    middle: usize,
    stop: usize,
    /// First record that `front` has.
    origin: usize,
    /// Nodes free from each record before the middle to the middle.
    front: Vec<u64>,
    /// Nodes free from the middle on.
    back: Vec<u64>,
    width: usize,
}

impl SlidingAnd {
    /// Starts again, at any record.
    pub(super) fn clear(&mut self) {
        (self.first, self.middle, self.stop) = (0, 0, 0);
    }

    /// Moves on to the records from `first` to before `stop`.
    ///
    /// `set` returns the set of a record.
    pub(super) fn slide_to<'a>(&mut self, set: impl Fn(usize) -> &'a [u64], first: usize, stop: usize) {
        if first >= self.middle {
            self.width = set(first).len();
            let records = stop - first;
            self.front.clear();
            self.front.resize(records * self.width, u64::MAX);
            for index in (first..stop).rev() {
                let at = (index - first) * self.width;
                let (own, behind) = self.front[at..].split_at_mut(self.width);
                let words = own.iter_mut().zip(set(index));
                if index + 1 == stop {
                    words.for_each(|(own, set)| *own = *set);
                } else {
                    words.zip(behind.iter()).for_each(|((own, set), behind)| *own = set & behind);
                }
            }
            self.back.clear();
            self.back.resize(self.width, u64::MAX);
            (self.middle, self.stop) = (stop, stop);
            (self.first, self.origin) = (first, first);
            return;
        }
        for index in self.stop..stop {
            self.back.iter_mut().zip(set(index)).for_each(|(back, own)| *back &= own);
        }
        self.stop = self.stop.max(stop);
        self.first = first;
    }

    /// Classes that are free in the whole window.
    pub(super) fn free_classes(&self) -> impl Iterator<Item = u64> {
        let at = (self.first - self.origin) * self.width;
        self.front[at..at + self.width].iter().zip(&self.back).map(|(front, back)| front & back)
    }
}
