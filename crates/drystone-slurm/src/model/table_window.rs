//! Nodes that are free over windows that slide along a plan table: shown without a search.

use super::NodeSet;
use super::bounds::StartProof;
use super::table::PlanTable;

impl PlanTable {
    /// Returns whether no record begins from one time to another, both included.
    pub(super) fn begins_none(&self, from: i64, until: i64) -> bool {
        let next = self.records.partition_point(|record| record.begin < from);
        self.records.get(next).is_none_or(|record| record.begin > until)
    }

    /// Returns the last try, from `from` on, that a search comes to by trying one place after the
    /// other, before the first one behind which there is none or one at or after `earliest`.
    pub(super) fn skip_tries(
        &mut self,
        (number, part): (usize, &NodeSet),
        from: i64,
        limit: i64,
        earliest: i64,
    ) -> i64 {
        let mut at = self.records.partition_point(|record| record.end <= from);
        let mut from = from;
        for index in at + 1..self.records.len() {
            let begin = self.records[index].begin;
            if begin >= earliest {
                break;
            }
            // The search looks one record beyond the first that it does not want.
            if index > at + 1 && self.records[index - 2].begin > from.saturating_add(limit) {
                break;
            }
            if self.gains_nodes(index, number, part) {
                (at, from) = (index, begin);
            }
        }
        from
    }

    /// Returns the time before which `count` nodes of a partition have no plan, from the beginning
    /// of the table on.
    pub(super) fn free_until(&mut self, (number, part): (usize, &NodeSet), count: u32) -> i64 {
        let untouched = self.untouched.common(part);
        if untouched >= count as usize {
            return i64::MAX;
        }
        let known = self.free_until.iter().find(|&&(of, nodes, _)| (of, nodes) == (number, count));
        if let Some(&(.., until)) = known {
            return until;
        }
        let mut left = untouched;
        let enough = |(_, nodes): &&(i64, NodeSet)| {
            left += nodes.common(part);
            left >= count as usize
        };
        let until = self.first_plans.iter().rev().find(enough).map_or(i64::MIN, |&(begin, _)| begin);
        self.free_until.push((number, count, until));
        until
    }

    /// Nodes get a plan that begins at `begin`.
    pub(super) fn note_first_plans(&mut self, begin: i64, nodes: &NodeSet) {
        self.free_until.clear();
        self.untouched.subtract(nodes);
        let at = self.first_plans.partition_point(|&(first, _)| first < begin);
        let mut fresh = nodes.clone();
        self.first_plans[..at].iter().for_each(|(_, planned)| fresh.subtract(planned));
        match self.first_plans.get_mut(at).filter(|(first, _)| *first == begin) {
            Some((_, planned)) => planned.unite(&fresh),
            None => self.first_plans.insert(at, (begin, fresh)),
        }
        self.first_plans[at + 1..].iter_mut().for_each(|(_, planned)| planned.subtract(nodes));
    }

    /// Returns the most room, as `room` measures it, that a job with this limit could have from
    /// `from` on, on nodes of `mask`; or the first that is `enough`. `room` gets the nodes that are
    /// free for so long from some time on, and the time up to which no other nodes are.
    pub(super) fn most_room(
        &mut self,
        (number, part): (usize, &NodeSet),
        mask: &NodeSet,
        (from, limit): (i64, i64),
        proof: &StartProof,
        enough: u64,
        mut room: impl FnMut(&NodeSet, i64) -> u64,
    ) -> u64 {
        let (mut window, mut free) = (SlidingAnd::default(), mask.clone());
        let mut at = self.records.partition_point(|record| record.end <= from);
        let (mut begin, mut most) = (from, 0);
        while at < self.records.len() {
            let until = proof.bound(begin, limit);
            let stop = self.records.partition_point(|record| record.begin < until).max(at + 1);
            window.slide(self, at, stop);
            free.assign(mask);
            window.narrow(&mut free);
            let next = (at + 1..self.records.len()).find(|&index| self.gains_nodes(index, number, part));
            let later = next.map_or(i64::MAX, |next| self.records[next].begin);
            most = most.max(room(&free, later));
            let Some(next) = next.filter(|_| most < enough) else { break };
            (at, begin) = (next, later);
        }
        most
    }
}

/// The nodes that are free in all records of a window whose ends only move on: two stacks, so that
/// each record is looked at twice.
#[derive(Default)]
struct SlidingAnd {
    first: usize,
    middle: usize,
    stop: usize,
    /// Nodes free from each record before the middle to the middle.
    front: Vec<u64>,
    /// Nodes free from the middle on.
    back: Vec<u64>,
    width: usize,
}

impl SlidingAnd {
    /// Moves on to the records from `first` to before `stop`.
    fn slide(&mut self, table: &PlanTable, first: usize, stop: usize) {
        if first >= self.middle {
            self.width = table.set(first).len();
            let records = stop - first;
            self.front.clear();
            self.front.resize(records * self.width, u64::MAX);
            for index in (first..stop).rev() {
                let at = (index - first) * self.width;
                let (own, behind) = self.front[at..].split_at_mut(self.width);
                let words = own.iter_mut().zip(table.set(index));
                if index + 1 == stop {
                    words.for_each(|(own, set)| *own = *set);
                } else {
                    words.zip(behind.iter()).for_each(|((own, set), behind)| *own = set & behind);
                }
            }
            self.back.clear();
            self.back.resize(self.width, u64::MAX);
            (self.middle, self.stop) = (stop, stop);
            self.first = first;
            return;
        }
        for index in self.stop..stop {
            self.back.iter_mut().zip(table.set(index)).for_each(|(back, set)| *back &= set);
        }
        self.stop = self.stop.max(stop);
        self.front.drain(..(first - self.first) * self.width);
        self.first = first;
    }

    /// Leaves in `free` what is free in the whole window.
    fn narrow(&self, free: &mut NodeSet) {
        let words = free.words_mut().iter_mut().zip(&self.front[..self.width]).zip(&self.back);
        words.for_each(|((free, front), back)| *free &= front & back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below a bound, always the same.
    fn draws() -> impl FnMut(u64) -> u64 {
        let mut seed = 7_u64;
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        }
    }

    fn drawn_table(draw: &mut impl FnMut(u64) -> u64, plans: u64) -> PlanTable {
        let mut table = PlanTable::default();
        table.reset(0, 1000, &NodeSet::full(9), &[], 1);
        for _ in 0..plans {
            let (start, length) = (draw(950) as i64, draw(200) as i64 + 1);
            let nodes: Vec<usize> = (0..9).filter(|_| draw(3) == 0).collect();
            table.add(start, start + length, &NodeSet::of(9, nodes), &[]);
        }
        table
    }

    #[test]
    fn room_is_that_of_every_second() {
        let (mut draw, part) = (draws(), NodeSet::full(9));
        for case in 0..200 {
            let mut table = drawn_table(&mut draw, case % 20);
            let (from, limit) = (draw(900) as i64, draw(300) as i64 + 1);
            let proof = StartProof::new(1, from);
            let most =
                table.most_room((0, &part), &part, (from, limit), &proof, u64::MAX, |free, _| free.count() as u64);
            let at = |second: i64| {
                let mut free = part.clone();
                table.narrow(&mut free, second, second + limit - 1);
                free.count() as u64
            };
            assert_eq!(Some(most), (from..1000).map(at).max(), "{table:?} {from} {limit}");
        }
    }

    #[test]
    fn nodes_are_free_until_their_first_plan() {
        let (mut draw, part) = (draws(), NodeSet::of(9, [0, 2, 3, 7, 8]));
        for case in 0..200 {
            let mut table = drawn_table(&mut draw, case % 20);
            let count = draw(6) as u32;
            let until = table.free_until((0, &part), count);
            let free = |time: i64| {
                let mut free = part.clone();
                table.narrow(&mut free, 0, time);
                free.count() >= count as usize
            };
            // A plan that begins at the time is in the way.
            let first = (0..1000).find(|&time| !free(time));
            assert_eq!(first.unwrap_or(i64::MAX), until, "{count}");
        }
    }

    #[test]
    fn tries_are_skipped_as_the_search_would() {
        let (mut draw, part) = (draws(), NodeSet::of(9, [0, 2, 3, 7]));
        for case in 0..400 {
            let mut table = drawn_table(&mut draw, case % 20);
            let (start, limit, earliest) = (draw(900) as i64, draw(300) as i64, draw(1100) as i64);
            let mut from = start;
            loop {
                let later = table.search(&mut part.clone(), &part, from, from + limit, 0);
                if later == 0 || later >= earliest {
                    break;
                }
                from = later;
            }
            assert_eq!(table.skip_tries((0, &part), start, limit, earliest), from);
        }
    }
}
