//! The tree against a sorted map.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Entry {
    key: u32,
    size: u32,
}

/// In the order of the keys, with ties in the first number.
fn place(key: u32) -> Packed {
    pack_key(i64::from(key / 8), JobId(key % 8))
}

impl TreeItem for Entry {
    type Summary = Option<u32>;
    fn packed_key(&self) -> Packed {
        place(self.key)
    }
    fn join_summary(&self, s: &mut Option<u32>) -> bool {
        let before = s.replace(s.map_or(self.size, |m| m.min(self.size)));
        *s != before
    }
    fn merge_summary(s: &mut Option<u32>, c: &Option<u32>) {
        *s = s.iter().chain(c).copied().min();
    }
    fn leave_summary(&self, s: &mut Option<u32>, rest: &[Entry]) -> bool {
        let before = std::mem::replace(s, rest.iter().map(|e| e.size).min());
        *s != before
    }
    fn part_summary(&self, s: &mut Option<u32>, children: &[Option<u32>]) -> bool {
        let before = std::mem::replace(s, children.iter().flatten().copied().min());
        *s != before
    }
}

struct AtMost(u32);
impl Probe<Entry> for AtMost {
    fn can_enter(&mut self, s: &Option<u32>) -> bool {
        s.is_some_and(|m| m <= self.0)
    }
    fn is_match(&mut self, e: &Entry) -> bool {
        e.size <= self.0
    }
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u32, u32),
    Append(u32),
    Remove(usize),
    RemoveFirst,
    Take(usize, u32),
    ReplaceFirst(u32, u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (0u32..100_000, 0u32..1000).prop_map(|(k, s)| Op::Insert(k, s)),
        3 => (0u32..1000).prop_map(Op::Append),
        2 => any::<usize>().prop_map(Op::Remove),
        1 => Just(Op::RemoveFirst),
        2 => (any::<usize>(), 0u32..1000).prop_map(|(after, limit)| Op::Take(after, limit)),
        1 => (0u32..100_000, 0u32..1000).prop_map(|(k, s)| Op::ReplaceFirst(k, s)),
    ];
    prop::collection::vec(op, 0..if cfg!(miri) { 150 } else { 3000 })
}

proptest! {
    // Miri takes minutes for each, and more for long ones.
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 40 }))]

    /// The tree behaves as a sorted map, and its pruned search finds what a full scan finds.
    #[test]
    fn agrees_with_a_sorted_map(ops in ops(), limits in prop::collection::vec((0u32..1000, any::<u32>()), 8)) {
        let mut tree = Tree::<Entry>::default();
        let mut map = BTreeMap::new();
        let mut next = 1_000_000;
        for (n, op) in ops.into_iter().enumerate() {
            match op {
                Op::Insert(key, size) => {
                    if let std::collections::btree_map::Entry::Vacant(place) = map.entry(key) {
                        place.insert(size);
                        tree.insert(Entry { key, size });
                    }
                },
                Op::Append(size) => {
                    next += 1;
                    map.insert(next, size);
                    tree.insert(Entry { key: next, size });
                }
                Op::Remove(i) => if !map.is_empty() {
                    let key = *map.keys().nth(i % map.len()).expect("in range");
                    prop_assert_eq!(tree.remove(&place(key)).map(|e| e.size), map.remove(&key));
                },
                Op::ReplaceFirst(key, size) => if !map.is_empty() && !map.contains_key(&key) {
                    map.pop_first();
                    map.insert(key, size);
                    tree.replace_first(Entry { key, size });
                },
                Op::RemoveFirst => {
                    prop_assert_eq!(tree.take_first().map(|first| (first.key, first.size)), map.pop_first());
                }
                Op::Take(i, limit) => {
                    let after = (i % 3 > 0 && !map.is_empty()).then(|| *map.keys().nth(i % map.len()).expect("in range"));
                    let next = map.iter().find(|(key, size)| after.is_none_or(|after| **key > after) && **size <= limit);
                    let next = next.map(|(&key, &size)| (key, size));
                    let hit = tree.take_after(after.map(place), &mut AtMost(limit));
                    prop_assert_eq!(hit.map(|entry| (entry.key, entry.size)), next);
                    if let Some((key, _)) = next {
                        map.remove(&key);
                    }
                }
            }
            prop_assert_eq!(tree.len(), map.len());
            if let Some(second) = tree.second_in_leaf() {
                prop_assert_eq!(map.keys().nth(1), Some(&second.key));
            }
            if n % 97 == 0 {
                for &(_, key) in &limits {
                    let least = map.range(..key % 1_001_000).map(|(_, &size)| size).min();
                    prop_assert_eq!(tree.summary_before(&place(key % 1_001_000)), least);
                }
                for &(limit, after) in &limits {
                    let after = (after % 3 > 0).then_some(after % 1_001_000);
                    let hit_key = tree.find_after(after.map(place), &mut AtMost(limit)).map(|e| e.key);
                    let expected = map.iter().find(|&(&k, &s)| s <= limit && after.is_none_or(|a| k > a));
                    prop_assert_eq!(hit_key, expected.map(|(&k, _)| k));
                }
            }
        }
        prop_assert!(tree.iter().map(|e| (e.key, e.size)).eq(map.iter().map(|(&k, &s)| (k, s))));
        prop_assert_eq!(tree.remove(&place(u32::MAX)), None);
    }
}

/// Nodes that removals have thinned out are filled again.
#[test]
fn a_tree_that_is_too_high_is_built_anew() {
    let mut tree = Tree::<Entry>::default();
    (0..64 * 64 * 8).for_each(|key| tree.insert(Entry { key, size: 5_000 - key % 5_000 }));
    for key in (0..64 * 64 * 8).filter(|key| key % 32 > 0) {
        tree.remove(&place(key));
    }
    let (items, height) = (tree.iter().copied().collect::<Vec<_>>(), tree.height);
    tree.rebuild_full();
    assert!(tree.iter().copied().eq(items.iter().copied()) && tree.len() == items.len());
    assert!(tree.height < height, "{} levels of {height}", tree.height);
    let least = items.iter().find(|entry| entry.size <= 100).map(|entry| entry.key);
    assert_eq!(tree.find_after(None, &mut AtMost(100)).map(|entry| entry.key), least);
}

/// An array becomes leaves when it is full, and leaves an array when they hold half as much, by
/// whatever way items leave.
#[test]
fn waves_of_items_agree_with_a_sorted_map() {
    let (mut tree, mut map) = (Tree::<Entry>::default(), BTreeMap::new());
    let mut number = 0u32;
    for (most, least) in [(700, 40), (193, 96), (193, 97), (5_000, 0), (400, 90)] {
        while map.len() < most {
            number += 1;
            let (key, size) = (number.wrapping_mul(2_654_435_761) >> 8, number % 1_000);
            if map.insert(key, size).is_none() {
                tree.insert(Entry { key, size });
            } else {
                tree.replace_item(&place(key), Entry { key, size });
            }
        }
        assert!(tree.flat_items().is_none());
        while map.len() > least {
            number += 1;
            let key = *map.keys().nth(number as usize * 31 % map.len()).expect("in range");
            match number % 4 {
                0 => _ = tree.take_first().map(|first| assert_eq!(map.remove(&first.key), Some(first.size))),
                1 => _ = tree.remove(&place(key)).map(|item| assert_eq!(map.remove(&item.key), Some(item.size))),
                2 => {
                    let entry = tree.take_after(Some(place(key)), &mut AtMost(300));
                    let next_key = map.range(key + 1..).find(|(_, size)| **size <= 300).map(|(key, _)| *key);
                    assert_eq!(entry.map(|item| item.key), next_key);
                    next_key.map(|key| map.remove(&key));
                }
                _ => {
                    let former_entry = tree.replace_item(&place(key), Entry { key: u32::MAX, size: 0 });
                    assert_eq!(former_entry.map(|item| item.size), map.remove(&key));
                    assert_eq!(tree.remove(&place(u32::MAX)), Some(Entry { key: u32::MAX, size: 0 }));
                }
            }
            assert_eq!(tree.len(), map.len());
            assert!(tree.flat_items().is_some() || map.len() > FLAT / 2, "{} items", map.len());
            if number.is_multiple_of(16) {
                assert!(tree.iter().map(|e| (e.key, e.size)).eq(map.iter().map(|(&key, &size)| (key, size))));
                assert_eq!(tree.summary_before(&place(key)), map.range(..key).map(|(_, &size)| size).min());
            }
        }
        assert_eq!(tree.flat_items().is_some(), least <= FLAT / 2);
    }
}
