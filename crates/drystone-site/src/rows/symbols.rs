//! Texts and tuples that occur again and again, as numbers.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::{BuildHasher, Hash};

/// The number of a text; 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Symbol(pub(crate) u32);

/// Texts by number, in the order in which they came.
pub(crate) struct Symbols {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The text asked for last in each slot: columns repeat theirs from row to row.
    last: [u32; SLOTS],
}

/// Slots of texts that are asked for in turn.
pub(crate) const SLOTS: usize = 13;

impl Default for Symbols {
    fn default() -> Symbols {
        let mut symbols = Symbols {
            bytes: Vec::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            last: [0; SLOTS],
        };
        symbols.intern(b"");
        symbols
    }
}

impl Symbols {
    /// Drops all but the empty text; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.table.clear();
        self.last = [0; SLOTS];
        self.intern(b"");
    }

    #[inline]
    pub(crate) fn intern(&mut self, text: &[u8]) -> Symbol {
        self.intern_in(0, text)
    }

    /// The number of a text, as [`Symbols::intern`]: quick where the same slot was asked for the
    /// same text before.
    #[inline]
    pub(crate) fn intern_in(&mut self, slot: usize, text: &[u8]) -> Symbol {
        // The empty text is the first.
        if text.is_empty() && !self.ends.is_empty() {
            return Symbol(0);
        }
        let last = self.last[slot];
        if !self.ends.is_empty() && self.bytes_of(Symbol(last)) == text {
            return Symbol(last);
        }
        let at = self.look_up(text);
        self.last[slot] = at.0;
        at
    }

    fn look_up(&mut self, text: &[u8]) -> Symbol {
        let hash = self.hasher.hash_one(text);
        let (bytes, ends) = (&self.bytes, &self.ends);
        let entry = self.table.find(hash, |&at| text_span(bytes, ends, at) == text);
        let at = match entry {
            Some(&at) => at,
            None => {
                let at = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
                self.bytes.extend_from_slice(text);
                self.ends.push(self.bytes.len() as u64);
                let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
                self.table.insert_unique(hash, at, |&at| hasher.hash_one(text_span(bytes, ends, at)));
                at
            }
        };
        Symbol(at)
    }

    pub(crate) fn find_symbol(&self, text: &[u8]) -> Option<Symbol> {
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |&at| text_span(&self.bytes, &self.ends, at) == text).map(|&at| Symbol(at))
    }

    #[inline]
    pub(crate) fn bytes_of(&self, symbol: Symbol) -> &[u8] {
        text_span(&self.bytes, &self.ends, symbol.0)
    }

    /// Returns the text of a number.
    ///
    /// Bytes that are not UTF-8 are read as Latin-1, so that unlike names stay unlike.
    pub(crate) fn text_of(&self, symbol: Symbol) -> std::borrow::Cow<'_, str> {
        let bytes = self.bytes_of(symbol);
        match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
        }
    }

    /// Texts that are no UTF-8: how many, and the first.
    pub(crate) fn count_foreign(&self) -> (usize, Option<Symbol>) {
        let mut foreign = self.all_symbols().filter(|symbol| std::str::from_utf8(self.bytes_of(*symbol)).is_err());
        let first = foreign.next();
        (usize::from(first.is_some()) + foreign.count(), first)
    }

    /// Returns the number of texts, the empty one among them.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn all_symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.ends.len() as u32).map(Symbol)
    }
}

#[inline]
fn text_span<'a>(bytes: &'a [u8], ends: &[u64], at: u32) -> &'a [u8] {
    let at = at as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] as usize };
    &bytes[start..ends[at] as usize]
}

/// Cache of texts that are parsed again and again.
pub(crate) struct Cache<T> {
    texts: Symbols,
    values: Vec<T>,
}

/// Texts that a cache holds at most.
const MOST: usize = 1 << 16;

impl<T> Default for Cache<T> {
    fn default() -> Cache<T> {
        Cache { texts: Symbols::default(), values: Vec::new() }
    }
}

impl<T: Copy> Cache<T> {
    /// Returns the result of `read` on a text, now or cached.
    #[inline]
    pub(crate) fn get(&mut self, slot: usize, text: &[u8], read: impl FnOnce(&[u8]) -> T) -> T {
        if text.is_empty() {
            return read(text);
        }
        let Symbol(at) = self.texts.intern_in(slot, text);
        // The empty text has no value.
        let at = at as usize - 1;
        if let Some(&value) = self.values.get(at) {
            return value;
        }
        let value = read(text);
        self.values.push(value);
        if self.values.len() >= MOST {
            *self = Cache::default();
        }
        value
    }
}

/// Tuples by number, in the order in which they came.
pub(crate) struct Interner<T> {
    items: Vec<T>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    last: u32,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner { items: Vec::new(), table: HashTable::new(), hasher: DefaultHashBuilder::default(), last: 0 }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// Drops all; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.table.clear();
        self.last = 0;
    }

    /// The number of a tuple.
    #[inline]
    pub(crate) fn intern(&mut self, item: T) -> u32 {
        if self.items.get(self.last as usize) == Some(&item) {
            return self.last;
        }
        let hash = self.hasher.hash_one(item);
        let entry = self.table.find(hash, |&at| self.items[at as usize] == item);
        let at = match entry {
            Some(&at) => at,
            None => {
                let at = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
                self.items.push(item);
                let (items, hasher) = (&self.items, &self.hasher);
                self.table.insert_unique(hash, at, |&at| hasher.hash_one(items[at as usize]));
                at
            }
        };
        self.last = at;
        at
    }

    /// The tuple of a number.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> &T {
        &self.items[at as usize]
    }

    /// All of them, to be changed: none can be found again by what it is.
    pub(crate) fn items_mut(&mut self) -> &mut [T] {
        self.table.clear();
        &mut self.items
    }

    /// All of them, in order.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cache_reads_each_text_once() {
        let mut cache = Cache::default();
        let mut read = 0;
        for text in [&b"a"[..], b"bb", b"a", b"a", b"bb", b"ccc"] {
            let length = cache.get(1, text, |text| {
                read += 1;
                text.len()
            });
            assert_eq!(length, text.len());
        }
        assert_eq!((read, cache.get(1, b"", <[u8]>::len)), (3, 0));
        for number in 0..MOST as u32 * 2 {
            assert_eq!(cache.get(0, &number.to_le_bytes(), |text| usize::from(text[0])), usize::from(number as u8));
        }
    }

    proptest! {
        #[test]
        fn equal_texts_have_equal_numbers(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..300)) {
            let mut symbols = Symbols::default();
            let numbers: Vec<Symbol> = texts.iter().map(|t| symbols.intern(t)).collect();
            for (a, x) in texts.iter().zip(&numbers) {
                prop_assert_eq!(symbols.bytes_of(*x), a.as_slice());
                prop_assert_eq!(symbols.find_symbol(a), Some(*x));
                prop_assert_eq!(symbols.intern_in(3, a), *x);
                prop_assert_eq!(a.is_empty(), *x == Symbol(0));
                for (b, y) in texts.iter().zip(&numbers) {
                    prop_assert_eq!(a == b, x == y);
                }
            }
        }
    }
}
