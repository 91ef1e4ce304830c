//! The table of plans of one backfill pass: which nodes are free of plans, and when.

use super::NodeSet;
use super::bounds::StartProof;
use super::class_idle::ClassIdle;
use super::first_plans::FirstPlans;
use super::node_classes::{NodeClasses, copy_members, set_members, widen_sets};
use super::sliding_and::SlidingAnd;
use serde::{Deserialize, Serialize};

/// From `begin` up to `end`, in seconds, no plan has the nodes of the set `set`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PlanRecord {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) set: u32,
}

/// Records in the order of time, without gaps. Running jobs are not in it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlanTable {
    pub(super) records: Vec<PlanRecord>,
    /// Nodes by class: those of a class have the same plans.
    pub(super) classes: NodeClasses,
    /// The nodes of the table.
    nodes: NodeSet,
    /// The sets of classes, one after the other.
    pub(super) words: Vec<u64>,
    /// Words of a set.
    pub(super) width: usize,
    /// Free licences of each set, by kind.
    free_licences: Vec<u64>,
    /// Sets that no record has any more.
    free: Vec<u32>,
    /// Records made so far: those that were merged still take up room in Slurm's table.
    made: usize,
    /// True if a plan begins with the table.
    front: bool,
    /// Kinds of licences.
    licences: usize,
    /// Number of partitions.
    parts: usize,
    /// For each set and partition what is known of it: see [`PartFact`].
    facts: Vec<PartFact>,
    /// First plans of the nodes.
    pub(super) first_plans: FirstPlans,
    /// Idle processors of the classes.
    #[serde(skip)]
    pub(super) idle: ClassIdle,
    /// Memory that searches use again.
    #[serde(skip)]
    pub(super) window: SlidingAnd,
    #[serde(skip)]
    pub(super) spare: Vec<u64>,
    /// Classes of the nodes that were compared with the table last.
    #[serde(skip)]
    fitting: Vec<u64>,
    /// Classes that have all nodes of the place that was chosen last; empty: any may have some.
    #[serde(skip)]
    pub(super) eligible: Vec<u64>,
    /// Number of nodes of the last plan in each partition.
    #[serde(skip)]
    plan_sizes: Vec<u32>,
}

/// Facts about the nodes of a partition in a record, worked out when they are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct PartFact {
    /// Number of its nodes without a plan, and one; 0: not known.
    free: u32,
    /// True if some of its nodes have a plan in the record before, and none in this one.
    gains: Option<bool>,
    /// A time, and the processors of these nodes that are idle by it; [`i64::MIN`]: not known.
    pub(super) idle: (i64, u64),
}

/// Nothing is known.
const UNKNOWN: PartFact = PartFact { free: 0, gains: None, idle: (i64::MIN, 0) };

impl PartFact {
    /// Returns what is left to be known once so many nodes have a plan that had none. Each of them
    /// has one processor, and is idle from `idle_from` on.
    fn without_planned(self, size: u32, idle_from: i64) -> PartFact {
        if idle_from == i64::MAX {
            return UNKNOWN;
        }
        let (moment, count) = self.idle;
        let idle = if moment < idle_from { UNKNOWN.idle } else { (moment, count.saturating_sub(u64::from(size))) };
        let free = if self.free == 0 { 0 } else { self.free - size };
        PartFact { free, gains: self.gains, idle }
    }
}

/// Licences by kind, and how many.
pub(crate) type Licences<'a> = &'a [(u16, u32)];

impl PlanTable {
    /// Becomes a table without plans, in its own memory.
    pub(crate) fn reset_table<'a>(
        &mut self,
        (begin, end): (i64, i64),
        nodes: &NodeSet,
        licences: &[u64],
        parts: impl Iterator<Item = &'a NodeSet> + Clone,
    ) {
        self.parts = parts.clone().count();
        self.classes.reset_classes(nodes, parts);
        self.nodes.copy_from(nodes);
        self.width = self.classes.width();
        self.records.clear();
        self.free.clear();
        self.words.clear();
        self.words.resize(self.width, 0);
        (0..self.classes.class_count()).for_each(|class| self.words[class / 64] |= 1 << (class % 64));
        self.free_licences.clear();
        self.free_licences.extend_from_slice(licences);
        self.licences = licences.len();
        self.records.push(PlanRecord { begin, end, set: 0 });
        self.made = 1;
        self.front = false;
        self.facts.clear();
        self.facts.resize(self.parts, UNKNOWN);
        self.first_plans.reset_plans(&self.classes, self.parts);
        self.idle.clear();
    }

    pub(crate) fn begin_time(&self) -> i64 {
        self.records[0].begin
    }

    pub(crate) fn end_time(&self) -> i64 {
        self.records[self.records.len() - 1].end
    }

    /// Records that Slurm counts against `bf_node_space_size`.
    pub(crate) fn record_count(&self) -> usize {
        self.made
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.records.len()
    }

    /// The classes of nodes that have no plan in a record.
    #[inline]
    pub(super) fn free_classes(&self, index: usize) -> &[u64] {
        let at = self.records[index].set as usize * self.width;
        &self.words[at..at + self.width]
    }

    /// Leaves in `free`, the nodes of a partition at first, those without a plan from `from` to
    /// `until`. Returns the earliest later time at which there may be other nodes, 0 for none: the
    /// search looks at the next record, and no further. `narrowed`: the partition, or `free`, lacks
    /// some of its nodes.
    pub(crate) fn search_nodes(
        &self,
        free: &mut NodeSet,
        (number, part): (usize, &NodeSet),
        is_narrow: bool,
        (from, until): (i64, i64),
    ) -> i64 {
        let start = self.records.partition_point(|record| record.end <= from);
        if start == self.records.len() {
            return 0;
        }
        let (whole, missing) = if is_narrow {
            let mut missing = part.clone();
            missing.subtract(free);
            (self.classes.classes_meeting(part), self.classes.classes_meeting(&missing))
        } else {
            (self.classes.part_classes(number).to_vec(), vec![0; self.width])
        };
        let (mut later, mut remaining) = (0, vec![u64::MAX; self.width]);
        for index in start..self.records.len() {
            if later == 0 && index + 1 < self.records.len() {
                let (current_set, next) = (self.free_classes(index), self.free_classes(index + 1));
                // The next record has a node of the partition that is not free here.
                let gains = (0..self.width)
                    .any(|at| next[at] & (missing[at] | (whole[at] & !(remaining[at] & current_set[at]))) != 0);
                if gains {
                    later = self.records[index].end;
                }
            }
            // A plan that begins exactly at the end is also in the way.
            if self.records[index].begin > until {
                break;
            }
            remaining.iter_mut().zip(self.free_classes(index)).for_each(|(word, free_word)| *word &= free_word);
        }
        self.keep_only(free, &remaining);
        later
    }

    /// Keeps the nodes of some classes in `free`.
    fn keep_only(&self, free: &mut NodeSet, class_words: &[u64]) {
        let mut nodes = NodeSet::empty(free.capacity());
        let all_classes = self.set_of_all();
        self.classes
            .spread_into(class_words.iter().zip(all_classes).map(|(word, full_word)| word & full_word), &mut nodes);
        free.intersect(&nodes);
    }

    /// All classes.
    fn set_of_all(&self) -> impl Iterator<Item = u64> {
        let count = self.classes.class_count();
        (0..self.width).map(move |at| match count.saturating_sub(at * 64) {
            0 => 0,
            rest if rest < 64 => (1 << rest) - 1,
            _ => u64::MAX,
        })
    }

    /// Returns the first time, from `from` on, at which a search for `need` nodes of a partition
    /// could find them, as it goes on from one possible place to the next; `None` where it ends
    /// before. A record with fewer nodes than that makes every try futile that reaches into it, and
    /// the tries of a search begin where a record has a node that the one before lacks.
    pub(crate) fn next_try(
        &mut self,
        number: usize,
        mut from: i64,
        limit: i64,
        need: u32,
        proof: &mut StartProof,
    ) -> Option<i64> {
        loop {
            let (start, stop) = self.record_span(from, limit);
            let Some(short) = (start..stop).rev().find(|&index| self.count_free(index, number) < need) else {
                return Some(from);
            };
            let sure = self.records[short].begin < proof.bound_end(from, limit);
            let last = (start + 1..=short).rev().find(|&index| self.gains_nodes(index, number));
            let (_, stop) = self.record_span(last.map_or(from, |index| self.records[index].begin), limit);
            // The search looks one record beyond the first that it does not want.
            let most = (stop + 1).min(self.records.len() - 1);
            let next = (short + 1..=most).find(|&index| self.gains_nodes(index, number))?;
            let later = self.records[next].begin;
            proof.note_failure(from, later, sure);
            from = later;
        }
    }

    /// The records that a job meets which begins at `from`, and the first behind them.
    pub(super) fn record_span(&self, from: i64, limit: i64) -> (usize, usize) {
        let until = from.saturating_add(limit);
        let start = self.records.partition_point(|record| record.end <= from);
        (start, start.max(self.records.partition_point(|record| record.begin <= until)))
    }

    /// Number of nodes of a partition that have no plan in a record.
    fn count_free(&mut self, index: usize, number: usize) -> u32 {
        let at = self.records[index].set as usize * self.parts + number;
        if self.facts[at].free == 0 {
            let words =
                self.free_classes(index).iter().zip(self.classes.part_classes(number)).map(|(set, part)| set & part);
            self.facts[at].free = 1 + self.classes.count_nodes(words);
        }
        self.facts[at].free - 1
    }

    /// Facts about a partition in a record.
    pub(super) fn part_fact(&mut self, index: usize, number: usize) -> &mut PartFact {
        &mut self.facts[self.records[index].set as usize * self.parts + number]
    }

    /// Forgets the idle processors of all records.
    pub(super) fn forget_idle(&mut self) {
        self.facts.iter_mut().for_each(|fact| fact.idle = UNKNOWN.idle);
    }

    /// Returns whether a record has a node of a partition that the one before lacks.
    #[inline]
    pub(super) fn gains_nodes(&mut self, index: usize, number: usize) -> bool {
        if let Some(gains) = self.part_fact(index, number).gains {
            return gains;
        }
        let mut words =
            self.free_classes(index - 1).iter().zip(self.free_classes(index)).zip(self.classes.part_classes(number));
        let gains = words.any(|((before, set), part)| part & set & !before != 0);
        self.part_fact(index, number).gains = Some(gains);
        gains
    }

    /// As [`PlanTable::search_nodes`], only the nodes.
    pub(crate) fn narrow_nodes(&self, free: &mut NodeSet, from: i64, until: i64) {
        let start = self.records.partition_point(|record| record.end <= from);
        let stop = self.records.partition_point(|record| record.begin <= until);
        if start < stop {
            let mut remaining = vec![u64::MAX; self.width];
            for index in start..stop {
                remaining.iter_mut().zip(self.free_classes(index)).for_each(|(word, free_word)| *word &= free_word);
            }
            self.keep_only(free, &remaining);
        }
    }

    /// Returns the beginning of the first record that lies behind `until`.
    pub(crate) fn next_begin(&self, until: i64) -> Option<i64> {
        self.records.get(self.records.partition_point(|record| record.begin <= until)).map(|record| record.begin)
    }

    /// Returns whether between `start` and `end` some record lacks one of the nodes. If none does,
    /// [`PlanTable::add_fitting`] plans them.
    pub(crate) fn has_overlap(&mut self, start: i64, end: i64, nodes: &NodeSet, licences: Licences<'_>) -> bool {
        if !nodes.is_subset(&self.nodes) {
            return true;
        }
        let mut eligible = std::mem::take(&mut self.eligible);
        self.fitting = match eligible.is_empty() {
            true => self.tell_apart(nodes),
            false => self.tell_among(set_members(eligible.iter().copied()), nodes),
        };
        eligible.clear();
        self.eligible = eligible;
        let first = self.records.partition_point(|record| record.end <= start);
        let behind = self.records.partition_point(|record| record.begin < end);
        (first..behind).any(|index| {
            let mut words = self.fitting.iter().zip(self.free_classes(index));
            words.any(|(need_word, free)| need_word & !free != 0) || self.is_short(index, licences)
        })
    }

    /// Returns whether a record lacks licences.
    fn is_short(&self, index: usize, licences: Licences<'_>) -> bool {
        if self.licences == 0 || licences.is_empty() {
            return false;
        }
        let at = self.records[index].set as usize * self.licences;
        let free = &self.free_licences[at..at + self.licences];
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
    /// single merge is Slurm's: what is left unmerged can hide a place from
    /// [`PlanTable::search_nodes`].
    pub(crate) fn add_plan(&mut self, start: i64, end: i64, nodes: &NodeSet, licences: Licences<'_>) {
        self.fitting = self.tell_apart(nodes);
        self.add_fitting(start, end, licences, i64::MAX);
    }

    /// Plans the nodes of which [`PlanTable::has_overlap`] has last shown that they are free.
    ///
    /// `idle_from`: the time from which they are known to be idle as well; [`i64::MAX`]: it is not.
    pub(crate) fn add_fitting(&mut self, start: i64, end: i64, licences: Licences<'_>, idle_from: i64) {
        let mut plan_classes = std::mem::take(&mut self.fitting);
        plan_classes.resize(self.width, 0);
        if start == self.begin_time() && !std::mem::replace(&mut self.front, true) {
            // Slurm then keeps a record of no length before all others.
            self.made += 1;
        }
        let Some(first) = self.cut_at(start) else { return };
        self.first_plans.add_plan(self.records[first].begin, &plan_classes, &self.classes);
        let last = self.cut_at(end).unwrap_or(self.records.len());
        self.plan_sizes.clear();
        for number in 0..self.parts {
            let planned = plan_classes.iter().zip(self.classes.part_classes(number)).map(|(own, part)| own & part);
            self.plan_sizes.push(self.classes.count_nodes(planned));
        }
        // Within the plan the nodes that a record gains stay the same.
        for edge in [first, last].into_iter().filter_map(|index| self.records.get(index)) {
            let at = edge.set as usize * self.parts;
            self.facts[at..at + self.parts].iter_mut().for_each(|fact| fact.gains = None);
        }
        for index in first..last {
            let at = self.records[index].set as usize;
            for (fact, &size) in self.facts[at * self.parts..].iter_mut().zip(&self.plan_sizes) {
                *fact = fact.without_planned(size, idle_from);
            }
            let set = &mut self.words[at * self.width..(at + 1) * self.width];
            set.iter_mut().zip(&plan_classes).for_each(|(set, plan_word)| *set &= !plan_word);
            let free = &mut self.free_licences[at * self.licences..(at + 1) * self.licences];
            for &(kind, count) in licences {
                if let Some(free) = free.get_mut(usize::from(kind)) {
                    *free = free.saturating_sub(u64::from(count));
                }
            }
        }
        // Slurm looks from the record before the one that it has cut.
        let from = first.saturating_sub(2);
        let to = (last + 1).min(self.records.len());
        let pair = (from + 1..to).find(|&index| self.are_equal(index - 1, index));
        if let Some(index) = pair {
            let merged_record = self.records.remove(index);
            self.records[index - 1].end = merged_record.end;
            self.free.push(merged_record.set);
        }
    }

    /// Returns whether two records have the same nodes and licences.
    fn are_equal(&self, first: usize, second: usize) -> bool {
        let free = |index: usize| {
            let at = self.records[index].set as usize * self.licences;
            &self.free_licences[at..at + self.licences]
        };
        self.free_classes(first) == self.free_classes(second) && free(first) == free(second)
    }

    /// Parts classes so that these nodes make up whole classes, and returns the set of those.
    pub(super) fn tell_apart(&mut self, nodes: &NodeSet) -> Vec<u64> {
        self.tell_among(0..self.classes.class_count(), nodes)
    }

    /// Parts classes by sets of nodes that have none in common.
    pub(super) fn tell_all_apart<'a>(&mut self, sets: impl Iterator<Item = &'a NodeSet>) {
        // What is parted for one set has no node of another.
        let count = self.classes.class_count();
        sets.for_each(|nodes| drop(self.tell_among(0..count, nodes)));
    }

    /// As [`PlanTable::tell_apart`], where all of the nodes are in some of the classes.
    fn tell_among(&mut self, classes: impl Iterator<Item = usize>, nodes: &NodeSet) -> Vec<u64> {
        let (split_classes, planned_classes) = self.classes.part_among(classes, nodes);
        let width = self.classes.width();
        if width > self.width {
            self.words = widen_sets(&self.words, self.width, width);
            self.width = width;
            self.idle.clear();
        }
        if !split_classes.is_empty() {
            copy_members(&mut self.words, self.width, &split_classes);
            self.first_plans.copy_parted(&split_classes);
            self.idle.forget_parted(&split_classes, &self.classes);
        }
        planned_classes
    }

    /// Returns whether every node has one processor, and is idle or held by one job.
    pub(super) fn is_ranked(&self) -> bool {
        self.idle.is_ranked()
    }

    /// Sees to it that a record begins at `at`, and answers which; `None` behind the end.
    fn cut_at(&mut self, at: i64) -> Option<usize> {
        let index = self.records.partition_point(|record| record.end <= at);
        let record = *self.records.get(index)?;
        if record.begin >= at {
            return Some(index);
        }
        let sets = self.words.len() / self.width;
        let set = self.free.pop().unwrap_or(sets as u32);
        // Both parts of the record are the same at first.
        copy_set(&mut self.words, self.width, record.set, set);
        copy_set(&mut self.free_licences, self.licences, record.set, set);
        copy_set(&mut self.facts, self.parts, record.set, set);
        let facts = set as usize * self.parts;
        self.facts[facts..facts + self.parts].iter_mut().for_each(|fact| fact.gains = Some(false));
        self.records[index].end = at;
        self.records.insert(index + 1, PlanRecord { begin: at, end: record.end, set });
        self.made += 1;
        Some(index + 1)
    }
}

/// Copies a set of `width` items to another one, which may be the next behind the last.
fn copy_set<T: Copy>(items: &mut Vec<T>, width: usize, from: u32, to: u32) {
    let (from, to) = (from as usize * width, to as usize * width);
    if to < items.len() {
        items.copy_within(from..from + width, to);
    } else {
        items.extend_from_within(from..from + width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table without plans.
    fn table_of(begin: i64, end: i64, nodes: &NodeSet) -> PlanTable {
        let mut table = PlanTable::default();
        table.reset_table((begin, end), nodes, &[], std::iter::once(nodes));
        table
    }

    fn set(nodes: &[usize]) -> NodeSet {
        NodeSet::from_members(4, nodes.iter().copied())
    }

    #[test]
    fn a_plan_cuts_and_the_search_looks_one_record_ahead() {
        let mut table = table_of(0, 1000, &NodeSet::full(4));
        table.add_plan(100, 200, &set(&[0, 1, 2]), &[]);
        let part = NodeSet::full(4);
        let mut free = part.clone();
        // Up to 99 nothing is in the way; a plan that begins exactly at the end is. The end of the
        // plan is returned in both cases: the record behind the last one that is wanted is also
        // compared with its successor.
        assert_eq!(table.search_nodes(&mut free, (0, &part), false, (0, 99)), 200);
        assert_eq!(free, part);
        let mut free = part.clone();
        assert_eq!(table.search_nodes(&mut free, (0, &part), false, (0, 100)), 200);
        assert_eq!(free, set(&[3]));
    }

    #[test]
    fn only_one_pair_is_merged() {
        let mut table = table_of(0, 1000, &NodeSet::full(4));
        table.add_plan(100, 200, &set(&[0]), &[]);
        table.add_plan(300, 400, &set(&[0]), &[]);
        assert_eq!((table.len(), table.record_count()), (5, 5));
        table.add_plan(200, 300, &set(&[0]), &[]);
        // 100–200, 200–300 and 300–400 have become equal; two of them are merged.
        assert_eq!(table.len(), 4);
    }

    /// The search tried place after place: the first whose records all have enough nodes.
    fn next_try_one_by_one(table: &PlanTable, part: &NodeSet, mut from: i64, limit: i64, need: u32) -> Option<i64> {
        loop {
            let (start, stop) = table.record_span(from, limit);
            let free = |index: usize| {
                let (mut free, second) = (part.clone(), table.records[index].begin);
                table.narrow_nodes(&mut free, second, second);
                free.count_nodes() as u32
            };
            if (start..stop).all(|index| free(index) >= need) {
                return Some(from);
            }
            let later = table.search_nodes(&mut part.clone(), (0, part), true, (from, from + limit));
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
        let parts = [NodeSet::full(9), NodeSet::from_members(9, [0, 2, 3, 7])];
        let mut comparisons = 0;
        for _ in 0..40 {
            let mut table = PlanTable::default();
            table.reset_table((0, 1000), &NodeSet::full(9), &[], parts.iter());
            for _ in 0..25 {
                let (start, length) = (draw(950) as i64, draw(200) as i64 + 1);
                let nodes: Vec<usize> = (0..9).filter(|_| draw(3) == 0).collect();
                table.add_plan(start, start + length, &NodeSet::from_members(9, nodes), &[]);
                for (number, part) in parts.iter().enumerate() {
                    let (from, limit, need) = (draw(1100) as i64, draw(300) as i64, draw(10) as u32);
                    let expected = next_try_one_by_one(&table, part, from, limit, need);
                    let proof = &mut StartProof::empty_proof();
                    assert_eq!(table.next_try(number, from, limit, need, proof), expected);
                    comparisons += usize::from(expected != Some(from));
                }
            }
        }
        assert!(comparisons > 500, "{comparisons}");
    }
}
