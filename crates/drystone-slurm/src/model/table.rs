//! The table of plans of one backfill pass: which nodes are free of plans, and when.

use super::NodeSet;
use serde::{Deserialize, Serialize};

/// From `begin` up to `end`, in seconds, no plan has these nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) nodes: NodeSet,
}

/// Records in the order of time, without gaps. Running jobs are not in it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Table {
    records: Vec<Record>,
}

impl Table {
    /// A table without plans.
    pub(crate) fn new(begin: i64, end: i64, nodes: NodeSet) -> Table {
        Table { records: vec![Record { begin, end, nodes }] }
    }

    pub(crate) fn begin(&self) -> i64 {
        self.records[0].begin
    }

    pub(crate) fn end(&self) -> i64 {
        self.records[self.records.len() - 1].end
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Leaves in `free`, the nodes of a partition at first, those without a plan from `from` to `until`. Answers the earliest
    /// later time at which there may be other nodes, 0 for none: the next record is looked at, and no further.
    pub(crate) fn search(&self, free: &mut NodeSet, part: &NodeSet, from: i64, until: i64) -> i64 {
        let mut later = 0;
        let start = self.records.partition_point(|record| record.end <= from);
        for (index, record) in self.records.iter().enumerate().skip(start) {
            if later == 0
                && let Some(next) = self.records.get(index + 1)
                && !free.covers(&record.nodes, part, &next.nodes)
            {
                later = record.end;
            }
            // A plan that begins exactly at the end is in the way, too.
            if record.begin > until {
                break;
            }
            free.intersect(&record.nodes);
        }
        later
    }

    /// When the first record begins that lies behind `until`.
    pub(crate) fn next_begin(&self, until: i64) -> Option<i64> {
        self.records.get(self.records.partition_point(|record| record.begin <= until)).map(|record| record.begin)
    }

    /// Whether between `start` and `end` some record lacks one of the nodes.
    pub(crate) fn overlaps(&self, start: i64, end: i64, nodes: &NodeSet) -> bool {
        let first = self.records.partition_point(|record| record.end <= start);
        let within = self.records[first..].iter().take_while(|record| record.begin < end);
        within.into_iter().any(|record| !nodes.is_subset(&record.nodes))
    }

    /// Plans nodes from `start` to `end`, then merges at most one pair of equal neighbours. The single merge is Slurm's: what is
    /// left unmerged can hide a place from [`Table::search`].
    pub(crate) fn add(&mut self, start: i64, end: i64, nodes: &NodeSet) {
        let Some(first) = self.cut(start) else { return };
        let last = self.cut(end).unwrap_or(self.records.len());
        for record in &mut self.records[first..last] {
            record.nodes.subtract(nodes);
        }
        let from = first.saturating_sub(1);
        let to = (last + 1).min(self.records.len());
        let equal = |pair: &[Record]| pair[0].nodes == pair[1].nodes;
        if let Some(at) = self.records[from..to].windows(2).position(equal) {
            let gone = self.records.remove(from + at + 1);
            self.records[from + at].end = gone.end;
        }
    }

    /// Sees to it that a record begins at `at`, and answers which; `None` behind the end.
    fn cut(&mut self, at: i64) -> Option<usize> {
        let index = self.records.partition_point(|record| record.end <= at);
        let record = self.records.get_mut(index)?;
        if record.begin >= at {
            return Some(index);
        }
        let second = Record { begin: at, ..record.clone() };
        record.end = at;
        self.records.insert(index + 1, second);
        Some(index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(nodes: &[usize]) -> NodeSet {
        NodeSet::of(4, nodes.iter().copied())
    }

    #[test]
    fn a_plan_cuts_and_the_search_looks_one_record_ahead() {
        let mut table = Table::new(0, 1000, NodeSet::full(4));
        table.add(100, 200, &set(&[0, 1, 2]));
        let part = NodeSet::full(4);
        let mut free = part.clone();
        // Up to 99 nothing is in the way; what begins exactly at the end is. The end of the plan is told in both cases: the
        // record behind the last one that is wanted is compared with its successor, too.
        assert_eq!(table.search(&mut free, &part, 0, 99), 200);
        assert_eq!(free, part);
        let mut free = part.clone();
        assert_eq!(table.search(&mut free, &part, 0, 100), 200);
        assert_eq!(free, set(&[3]));
    }

    #[test]
    fn only_one_pair_is_merged() {
        let mut table = Table::new(0, 1000, NodeSet::full(4));
        table.add(100, 200, &set(&[0]));
        table.add(300, 400, &set(&[0]));
        assert_eq!(table.len(), 5);
        table.add(200, 300, &set(&[0]));
        // 100–200, 200–300 and 300–400 have become equal; two of them are merged.
        assert_eq!(table.len(), 4);
    }
}
