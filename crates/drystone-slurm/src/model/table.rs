//! The table of plans of one backfill pass: which nodes are free of plans, and when.

use super::NodeSet;
use super::bounds::StartProof;
use serde::{Deserialize, Serialize};

/// From `begin` up to `end`, in seconds, no plan has the nodes of the set `set`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PlanRecord {
    pub(super) begin: i64,
    pub(super) end: i64,
    set: u32,
}

/// Records in the order of time, without gaps. Running jobs are not in it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlanTable {
    pub(super) records: Vec<PlanRecord>,
    /// The sets, one after the other.
    words: Vec<u64>,
    /// Words of a set.
    width: usize,
    /// Sets that no record has any more.
    free: Vec<u32>,
    /// Records made so far: those that were merged still take up room in Slurm's table.
    made: usize,
    /// True if a plan begins with the table.
    front: bool,
    /// Kinds of licences, of which each set has so many behind its nodes.
    licences: usize,
    /// Number of partitions.
    parts: usize,
    /// For each set and partition what is known of it: see [`PartFact`].
    facts: Vec<PartFact>,
    /// Beginnings of plans, each with the nodes that have their first one then, ascending.
    pub(super) first_plans: Vec<(i64, NodeSet)>,
    /// Nodes without any plan.
    pub(super) untouched: NodeSet,
    /// Of a partition and a number of nodes: time before which so many are free from the beginning.
    pub(super) free_until: Vec<(usize, u32, i64)>,
}

/// Facts about the nodes of a partition in a record, worked out when they are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct PartFact {
    /// Number of its nodes without a plan, and one; 0: not known.
    free: u32,
    /// Returns whether one of its nodes has a plan in the record before, and none in this one.
    gains: Option<bool>,
}

/// Licences by kind, and how many.
pub(crate) type Licences<'a> = &'a [(u16, u32)];

impl PlanTable {
    /// A table without plans.
    #[cfg(test)]
    fn new(begin: i64, end: i64, nodes: &NodeSet) -> PlanTable {
        let mut table = PlanTable::default();
        table.reset(begin, end, nodes, &[], 1);
        table
    }

    /// Becomes a table without plans, in its own memory.
    pub(crate) fn reset(&mut self, begin: i64, end: i64, nodes: &NodeSet, licences: &[u64], parts: usize) {
        self.records.clear();
        self.free.clear();
        self.words.clear();
        self.words.extend_from_slice(nodes.words());
        self.words.extend_from_slice(licences);
        self.licences = licences.len();
        self.width = nodes.words().len() + licences.len();
        self.records.push(PlanRecord { begin, end, set: 0 });
        self.made = 1;
        self.front = false;
        self.parts = parts;
        self.facts.clear();
        self.facts.resize(parts, PartFact::default());
        self.first_plans.clear();
        self.untouched.assign(nodes);
        self.free_until.clear();
    }

    pub(crate) fn begin(&self) -> i64 {
        self.records[0].begin
    }

    pub(crate) fn end(&self) -> i64 {
        self.records[self.records.len() - 1].end
    }

    /// Records that Slurm counts against `bf_node_space_size`.
    pub(crate) fn made(&self) -> usize {
        self.made
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.records.len()
    }

    #[inline]
    pub(super) fn set(&self, index: usize) -> &[u64] {
        let at = self.records[index].set as usize * self.width;
        &self.words[at..at + self.width]
    }

    /// Leaves in `free`, the nodes of a partition at first, those without a plan from `from` to
    /// `until`. Returns the earliest later time at which there may be other nodes, 0 for none: the
    /// search looks at the next record, and no further. Once fewer than `need` nodes are left and
    /// that time is known, the search ends.
    pub(crate) fn search(&self, free: &mut NodeSet, part: &NodeSet, from: i64, until: i64, need: u32) -> i64 {
        let mut later = 0;
        let start = self.records.partition_point(|record| record.end <= from);
        for index in start..self.records.len() {
            if later == 0 && index + 1 < self.records.len() {
                let (this, next) = (self.set(index), self.set(index + 1));
                let words = free.words().iter().zip(this).zip(part.words().iter().zip(next));
                let mut words = words.into_iter();
                // The next record has a node of the partition that is not free here.
                if words.any(|((free, this), (part, next))| part & next & !(free & this) != 0) {
                    later = self.records[index].end;
                }
            }
            // A plan that begins exactly at the end is also in the way.
            if self.records[index].begin > until {
                break;
            }
            free.words_mut().iter_mut().zip(self.set(index)).for_each(|(free, this)| *free &= this);
            // Counting costs more than narrowing: it is done seldom.
            if need > 0 && later != 0 && (index - start).is_power_of_two() && free.count() < need as usize {
                break;
            }
        }
        later
    }

    /// Returns the first time, from `from` on, at which a search for `need` nodes of a partition
    /// could find them, as it goes on from one possible place to the next; `None` where it ends
    /// before. A record with fewer nodes than that makes every try futile that reaches into it, and
    /// the tries of a search begin where a record has a node that the one before lacks.
    pub(crate) fn next_try(
        &mut self,
        (number, part): (usize, &NodeSet),
        mut from: i64,
        limit: i64,
        need: u32,
        proof: &mut StartProof,
    ) -> Option<i64> {
        loop {
            let (start, stop) = self.reach(from, limit);
            let Some(short) = (start..stop).rev().find(|&index| self.count_free(index, number, part) < need) else {
                return Some(from);
            };
            let sure = self.records[short].begin < proof.bound(from, limit);
            let last = (start + 1..=short).rev().find(|&index| self.gains_nodes(index, number, part));
            let (_, stop) = self.reach(last.map_or(from, |index| self.records[index].begin), limit);
            // The search looks one record beyond the first that it does not want.
            let most = (stop + 1).min(self.records.len() - 1);
            let next = (short + 1..=most).find(|&index| self.gains_nodes(index, number, part))?;
            let later = self.records[next].begin;
            proof.failed(from, later, sure);
            from = later;
        }
    }

    /// The records that a job meets which begins at `from`, and the first behind them.
    fn reach(&self, from: i64, limit: i64) -> (usize, usize) {
        let until = from.saturating_add(limit);
        let start = self.records.partition_point(|record| record.end <= from);
        (start, start.max(self.records.partition_point(|record| record.begin <= until)))
    }

    /// Number of nodes of a partition that have no plan in a record.
    fn count_free(&mut self, index: usize, number: usize, part: &NodeSet) -> u32 {
        let at = self.records[index].set as usize * self.parts + number;
        if self.facts[at].free == 0 {
            let words = self.set(index).iter().zip(part.words());
            self.facts[at].free = 1 + words.map(|(set, part)| (set & part).count_ones()).sum::<u32>();
        }
        self.facts[at].free - 1
    }

    /// Returns whether a record has a node of a partition that the one before lacks.
    pub(super) fn gains_nodes(&mut self, index: usize, number: usize, part: &NodeSet) -> bool {
        let at = self.records[index].set as usize * self.parts + number;
        if let Some(gains) = self.facts[at].gains {
            return gains;
        }
        let words = self.set(index - 1).iter().zip(self.set(index)).zip(part.words());
        let gains = words.into_iter().any(|((before, set), part)| part & set & !before != 0);
        self.facts[at].gains = Some(gains);
        gains
    }

    /// As [`PlanTable::search`], only the nodes.
    pub(crate) fn narrow(&self, free: &mut NodeSet, from: i64, until: i64) {
        let start = self.records.partition_point(|record| record.end <= from);
        let stop = self.records.partition_point(|record| record.begin <= until);
        for index in start..stop {
            free.words_mut().iter_mut().zip(self.set(index)).for_each(|(free, this)| *free &= this);
        }
    }

    /// Returns the beginning of the first record that lies behind `until`.
    pub(crate) fn next_begin(&self, until: i64) -> Option<i64> {
        self.records.get(self.records.partition_point(|record| record.begin <= until)).map(|record| record.begin)
    }

    /// Returns whether between `start` and `end` some record lacks one of the nodes.
    pub(crate) fn overlaps(&self, start: i64, end: i64, nodes: &NodeSet, licences: Licences<'_>) -> bool {
        let first = self.records.partition_point(|record| record.end <= start);
        let behind = self.records.partition_point(|record| record.begin < end);
        (first..behind).any(|index| {
            nodes.words().iter().zip(self.set(index)).any(|(node, free)| node & !free != 0)
                || self.is_short(index, licences)
        })
    }

    /// Returns whether a record lacks licences.
    fn is_short(&self, index: usize, licences: Licences<'_>) -> bool {
        if self.licences == 0 || licences.is_empty() {
            return false;
        }
        let free = &self.set(index)[self.width - self.licences..];
        licences.iter().any(|&(kind, count)| free.get(usize::from(kind)).is_none_or(|&free| free < u64::from(count)))
    }

    /// The end of the first record from `from` to `until` that lacks licences.
    pub(crate) fn licences_until(&self, licences: Licences<'_>, from: i64, until: i64) -> Option<i64> {
        if self.licences == 0 || licences.is_empty() {
            return None;
        }
        let start = self.records.partition_point(|record| record.end <= from);
        let stop = self.records.partition_point(|record| record.begin <= until);
        (start..stop).find(|&index| self.is_short(index, licences)).map(|index| self.records[index].end)
    }

    /// Plans nodes from `start` to `end`, then merges at most one pair of equal neighbours. The
    /// single merge is Slurm's: what is left unmerged can hide a place from [`PlanTable::search`].
    pub(crate) fn add(&mut self, start: i64, end: i64, nodes: &NodeSet, licences: Licences<'_>) {
        if start == self.begin() && !std::mem::replace(&mut self.front, true) {
            // Slurm then keeps a record of no length before all others.
            self.made += 1;
        }
        let Some(first) = self.cut(start) else { return };
        let begin = self.records[first].begin;
        self.note_first_plans(begin, nodes);
        let last = self.cut(end).unwrap_or(self.records.len());
        if let Some(behind) = self.records.get(last) {
            let at = behind.set as usize * self.parts;
            self.facts[at..at + self.parts].iter_mut().for_each(|fact| fact.gains = None);
        }
        for index in first..last {
            let at = self.records[index].set as usize;
            self.facts[at * self.parts..(at + 1) * self.parts].fill(PartFact::default());
            let at = at * self.width;
            let set = &mut self.words[at..at + self.width];
            set.iter_mut().zip(nodes.words()).for_each(|(set, node)| *set &= !node);
            if self.licences > 0 {
                let free = &mut set[self.width - self.licences..];
                for &(kind, count) in licences {
                    if let Some(free) = free.get_mut(usize::from(kind)) {
                        *free = free.saturating_sub(u64::from(count));
                    }
                }
            }
        }
        // Slurm looks from the record before the one that it has cut.
        let from = first.saturating_sub(2);
        let to = (last + 1).min(self.records.len());
        let pair = (from + 1..to).find(|&index| self.set(index - 1) == self.set(index));
        if let Some(index) = pair {
            let gone = self.records.remove(index);
            self.records[index - 1].end = gone.end;
            self.free.push(gone.set);
        }
    }

    /// Sees to it that a record begins at `at`, and answers which; `None` behind the end.
    fn cut(&mut self, at: i64) -> Option<usize> {
        let index = self.records.partition_point(|record| record.end <= at);
        let record = *self.records.get(index)?;
        if record.begin >= at {
            return Some(index);
        }
        let set = match self.free.pop() {
            Some(set) => {
                let (from, to) = (record.set as usize * self.width, set as usize * self.width);
                self.words.copy_within(from..from + self.width, to);
                set
            }
            None => {
                let from = record.set as usize * self.width;
                self.words.extend_from_within(from..from + self.width);
                (self.words.len() / self.width.max(1)) as u32 - 1
            }
        };
        // Both parts of the record are the same at first.
        let (from, to) = (record.set as usize * self.parts, set as usize * self.parts);
        self.facts.resize(self.facts.len().max(to + self.parts), PartFact::default());
        self.facts.copy_within(from..from + self.parts, to);
        self.facts[to..to + self.parts].iter_mut().for_each(|fact| fact.gains = Some(false));
        self.records[index].end = at;
        self.records.insert(index + 1, PlanRecord { begin: at, end: record.end, set });
        self.made += 1;
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
        let mut table = PlanTable::new(0, 1000, &NodeSet::full(4));
        table.add(100, 200, &set(&[0, 1, 2]), &[]);
        let part = NodeSet::full(4);
        let mut free = part.clone();
        // Up to 99 nothing is in the way; a plan that begins exactly at the end is. The end of the
        // plan is returned in both cases: the record behind the last one that is wanted is also
        // compared with its successor.
        assert_eq!(table.search(&mut free, &part, 0, 99, 0), 200);
        assert_eq!(free, part);
        let mut free = part.clone();
        assert_eq!(table.search(&mut free, &part, 0, 100, 0), 200);
        assert_eq!(free, set(&[3]));
    }

    #[test]
    fn only_one_pair_is_merged() {
        let mut table = PlanTable::new(0, 1000, &NodeSet::full(4));
        table.add(100, 200, &set(&[0]), &[]);
        table.add(300, 400, &set(&[0]), &[]);
        assert_eq!((table.len(), table.made()), (5, 5));
        table.add(200, 300, &set(&[0]), &[]);
        // 100–200, 200–300 and 300–400 have become equal; two of them are merged.
        assert_eq!(table.len(), 4);
    }

    /// The search tried place after place: the first whose records all have enough nodes.
    fn next_try_one_by_one(table: &PlanTable, part: &NodeSet, mut from: i64, limit: i64, need: u32) -> Option<i64> {
        loop {
            let (start, stop) = table.reach(from, limit);
            let free = |index: usize| table.set(index).iter().zip(part.words()).map(|(a, b)| (a & b).count_ones());
            if (start..stop).all(|index| free(index).sum::<u32>() >= need) {
                return Some(from);
            }
            let later = table.search(&mut part.clone(), part, from, from + limit, 0);
            if later == 0 {
                return None;
            }
            from = later;
        }
    }

    #[test]
    fn futile_tries_are_left_out_and_no_others() {
        let mut seed = 1_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let parts = [NodeSet::full(9), NodeSet::of(9, [0, 2, 3, 7])];
        let mut compared = 0;
        for _ in 0..40 {
            let mut table = PlanTable::default();
            table.reset(0, 1000, &NodeSet::full(9), &[], parts.len());
            for _ in 0..25 {
                let (start, length) = (draw(950) as i64, draw(200) as i64 + 1);
                let nodes: Vec<usize> = (0..9).filter(|_| draw(3) == 0).collect();
                table.add(start, start + length, &NodeSet::of(9, nodes), &[]);
                for (number, part) in parts.iter().enumerate() {
                    let (from, limit, need) = (draw(1100) as i64, draw(300) as i64, draw(10) as u32);
                    let expected = next_try_one_by_one(&table, part, from, limit, need);
                    let proof = &mut StartProof::none();
                    assert_eq!(table.next_try((number, part), from, limit, need, proof), expected);
                    compared += usize::from(expected != Some(from));
                }
            }
        }
        assert!(compared > 500, "{compared}");
    }
}
