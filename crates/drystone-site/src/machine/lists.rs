//! Lists of nodes as sets of numbers.

use super::SiteNode;
use crate::rows::{Symbol, Symbols};
use drystone_slurm::conf::expand_hostlist;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

/// The nodes of each list, by the list's number.
#[derive(Default)]
pub(crate) struct NodeSets {
    ranges: Vec<Range<u32>>,
    /// End of each list's ranges.
    ends: Vec<u32>,
    /// Lists that are none.
    pub(crate) unreadable: u64,
    /// Nodes from this number on are in no description.
    pub(crate) described: u32,
}

impl NodeSets {
    /// Expands all lists. Nodes that are not among `nodes` are added behind them, in natural order,
    /// with nothing but their names.
    pub(crate) fn new(lists: &Symbols, nodes: &mut Vec<SiteNode>) -> NodeSets {
        let mut sets = NodeSets { described: nodes.len() as u32, ..NodeSets::default() };
        let mut name_symbols = Symbols::default();
        // By the number of a name: the number of the node, if it has one yet.
        let mut numbers: Vec<Option<u32>> = vec![None];
        for (node, number) in nodes.iter().zip(0..) {
            let at = name_symbols.intern(node.name.as_bytes()).0 as usize;
            numbers.resize(numbers.len().max(at + 1), None);
            numbers[at] = Some(number);
        }
        let mut unknown: BTreeSet<Natural> = BTreeSet::new();
        for list in lists.all_symbols() {
            each_name(lists, list, |name| {
                let at = name_symbols.intern(name.as_bytes()).0 as usize;
                if at == numbers.len() {
                    numbers.push(None);
                    unknown.insert(Natural(name.to_string()));
                }
            });
        }
        // A node without a name is also one, where a list has it.
        for Natural(name) in unknown {
            numbers[name_symbols.intern(name.as_bytes()).0 as usize] = Some(nodes.len() as u32);
            nodes.push(SiteNode { name, threads_per_core: 1, ..SiteNode::default() });
        }
        let mut node_numbers: Vec<u32> = Vec::new();
        for list in lists.all_symbols() {
            node_numbers.clear();
            let readable = each_name(lists, list, |name| {
                node_numbers.extend(numbers[name_symbols.intern(name.as_bytes()).0 as usize]);
            });
            sets.unreadable += u64::from(!readable);
            node_numbers.sort_unstable();
            node_numbers.dedup();
            sets.push(&node_numbers);
        }
        sets
    }

    fn push(&mut self, numbers: &[u32]) {
        let mut from = 0;
        for at in 1..=numbers.len() {
            if at == numbers.len() || numbers[at] != numbers[at - 1] + 1 {
                self.ranges.push(numbers[from]..numbers[at - 1] + 1);
                from = at;
            }
        }
        self.ends.push(self.ranges.len() as u32);
    }

    /// Adds the list behind all others that has the nodes of these.
    pub(crate) fn join_lists(&mut self, lists: &[Symbol]) {
        let mut numbers: Vec<u32> = lists.iter().flat_map(|&list| self.list_nodes(list)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        self.push(&numbers);
    }

    /// The ranges of a list, ascending.
    pub(crate) fn list_ranges(&self, list: Symbol) -> &[Range<u32>] {
        let at = list.0 as usize;
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.ranges[from as usize..self.ends[at] as usize]
    }

    /// The nodes of a list, ascending.
    pub(crate) fn list_nodes(&self, list: Symbol) -> impl Iterator<Item = u32> + '_ {
        self.list_ranges(list).iter().cloned().flatten()
    }

    pub(crate) fn len(&self, list: Symbol) -> u32 {
        self.list_ranges(list).iter().map(|r| r.end - r.start).sum()
    }
}

/// The names of a list; `false` where it cannot be read. What is no list of Slurm's is taken as
/// names parted by commas.
fn each_name(lists: &Symbols, list: Symbol, mut on_name: impl FnMut(&str)) -> bool {
    let text = lists.text_of(list);
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    // One name, as most lists are.
    if !text.is_empty() && text.as_bytes().iter().all(plain) {
        on_name(&text);
        return true;
    }
    match expand_hostlist(&text) {
        Ok(names) => names.iter().for_each(|name| on_name(name)),
        Err(_) if !text.contains(['[', ']']) => text.split(',').for_each(on_name),
        Err(_) => return false,
    }
    true
}

/// Names in the order in which people count: `n2` before `n10`.
#[derive(PartialEq, Eq)]
pub(crate) struct Natural(pub(crate) String);

impl Ord for Natural {
    fn cmp(&self, other: &Natural) -> Ordering {
        let (mut a, mut b) = (self.0.as_bytes(), other.0.as_bytes());
        loop {
            let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
            match (a.first(), b.first()) {
                (None, None) => return self.0.cmp(&other.0),
                (None, _) => return Ordering::Less,
                (_, None) => return Ordering::Greater,
                (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                    let (n, m) = (digits(a), digits(b));
                    let trim = |text: &[u8]| text.iter().take_while(|&&b| b == b'0').count();
                    let (p, q) = (&a[trim(&a[..n])..n], &b[trim(&b[..m])..m]);
                    match p.len().cmp(&q.len()).then_with(|| p.cmp(q)) {
                        Ordering::Equal => (a, b) = (&a[n..], &b[m..]),
                        unlike => return unlike,
                    }
                }
                (Some(x), Some(y)) if x != y => return x.cmp(y),
                _ => (a, b) = (&a[1..], &b[1..]),
            }
        }
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Natural) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_become_ranges() {
        let mut lists = Symbols::default();
        let a = lists.intern(b"n[08-10],n12");
        let b = lists.intern(b"x-[01-02],y[3-4]");
        let c = lists.intern(b"n[1");
        let mut nodes = vec![SiteNode { name: "n09".into(), ..SiteNode::default() }];
        let sets = NodeSets::new(&lists, &mut nodes);
        let names: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["n09", "n08", "n10", "n12", "x-01", "x-02", "y3", "y4"]);
        assert!(matches!(sets.list_ranges(a), [std::ops::Range { start: 0, end: 4 }]));
        assert_eq!((sets.len(b), sets.list_nodes(b).collect::<Vec<_>>()), (4, vec![4, 5, 6, 7]));
        assert!(sets.unreadable == 1 && sets.len(c) == 0 && sets.len(Symbol(0)) == 0);
        assert_eq!(sets.described, 1);
    }

    #[test]
    fn names_are_in_natural_order() {
        let mut names: Vec<Natural> = ["n10", "n2", "n02", "m1", "n", "n2x"].map(|n| Natural(n.to_string())).into();
        names.sort();
        assert_eq!(names.iter().map(|n| n.0.as_str()).collect::<Vec<_>>(), ["m1", "n", "n02", "n2", "n2x", "n10"]);
    }
}
