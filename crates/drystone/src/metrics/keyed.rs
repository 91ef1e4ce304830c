//! Values found by a number: a user, a class, a week.

use crate::model::SharedSort;
use std::collections::BTreeMap;

/// Keys from 0 up to this one are found by index: nearly all of them.
const DENSE: usize = 1 << 12;

/// Values by key, made on first use.
#[derive(Clone, Debug)]
pub(super) struct Keyed<T> {
    values: Vec<(i64, T)>,
    /// Place of a small key's value plus 1; 0 for none. Grown on demand.
    dense: Vec<u32>,
    sparse: BTreeMap<i64, u32>,
}

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Keyed { values: Vec::new(), dense: Vec::new(), sparse: BTreeMap::new() }
    }
}

impl<T> Keyed<T> {
    /// The value of a key. Cost: O(1) for keys between 0 and 4,095, else O(log n).
    #[inline]
    pub(super) fn value_at(&mut self, key: i64, fresh: impl FnOnce() -> T) -> &mut T {
        let dense_place = usize::try_from(key).ok().and_then(|k| self.dense.get(k).copied()).unwrap_or(0);
        let place = if dense_place > 0 { dense_place } else { self.find_place(key, fresh) };
        &mut self.values[place as usize - 1].1
    }

    /// Place plus 1 of a key that is not among the dense ones yet.
    #[inline(never)]
    fn find_place(&mut self, key: i64, fresh: impl FnOnce() -> T) -> u32 {
        let slot = match usize::try_from(key) {
            Ok(k) if k < DENSE => {
                if k >= self.dense.len() {
                    self.dense.resize(k + 1, 0);
                }
                &mut self.dense[k]
            }
            _ => self.sparse.entry(key).or_insert(0),
        };
        if *slot == 0 {
            self.values.push((key, fresh()));
            // No more keys than jobs, and those are numbered by 32 bits.
            *slot = self.values.len() as u32;
        }
        *slot
    }

    /// Keys and values in ascending order of the keys.
    pub(super) fn into_sorted(mut self) -> impl Iterator<Item = (i64, T)> {
        self.values.sort_shared_by_key(|v| v.0);
        self.values.into_iter()
    }
}
