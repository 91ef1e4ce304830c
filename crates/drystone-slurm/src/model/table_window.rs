//! Nodes that are free over windows that slide along a plan table: shown without a search.

use super::bounds::StartProof;
use super::class_ranks::{ClassRanks, RankedStart};
use super::idle_steps::IdleSteps;
use super::sliding_and::SlidingAnd;
use super::table::PlanTable;
use super::{Alloc, ModelCluster, NodeSet, Pending};
use std::ops::Range;

impl PlanTable {
    /// Returns whether no record begins from one time to another, both included.
    pub(super) fn begins_none(&self, from: i64, until: i64) -> bool {
        let next = self.records.partition_point(|record| record.begin < from);
        self.records.get(next).is_none_or(|record| record.begin > until)
    }

    /// Returns the last try, from `from` on, that a search comes to by trying one place after the
    /// other, before the first one behind which there is none or one at or after `earliest`.
    pub(super) fn skip_tries(&mut self, number: usize, from: i64, limit: i64, earliest: i64) -> i64 {
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
            if self.gains_nodes(index, number) {
                (at, from) = (index, begin);
            }
        }
        from
    }

    /// Returns the idle processors, by a time, of the nodes of a partition that have no plan in a
    /// record.
    fn idle_in(&mut self, index: usize, number: usize, time: i64, idle: &mut RunningEnds<'_>) -> u64 {
        let (moment, count) = self.part_fact(index, number).idle;
        if moment == time {
            return count;
        }
        let step = self.idle.step_at(idle.cluster, idle.steps, time);
        let at = self.records[index].set as usize * self.width;
        let set = self.words[at..at + self.width].iter().copied();
        let set = set_in_part(set, self.classes.part_classes(number));
        let count = self.idle.count_idle(set, step, idle.steps, &self.classes);
        self.part_fact(index, number).idle = (time, count);
        count
    }

    /// Brings what is known of idle processors up to date. Where ranks describe that, classes are
    /// parted so that each is of one job.
    fn renew_idle(&mut self, idle: &mut RunningEnds<'_>) {
        if self.idle.is_of(idle.cluster) {
            return;
        }
        if ClassRanks::can_describe(idle.cluster) {
            let busy_nodes = idle.cluster.running_jobs().map(|running| &running.alloc.nodes);
            self.tell_all_apart(std::iter::once(idle.cluster.idle.usable_nodes(false)).chain(busy_nodes));
        }
        self.idle.renew_counts(idle.cluster, idle.steps, &self.classes);
        self.forget_idle();
    }

    /// Returns the next try that may succeed, from `from` on, as a search comes to it by trying one
    /// place after the other; `None` where there is none. Its nodes are those that
    /// [`PlanTable::spread_try`] sets.
    pub(super) fn likely_try(
        &mut self,
        search: &mut PlaceSearch,
        from: i64,
        proof: &mut StartProof,
        mut idle: RunningEnds<'_>,
    ) -> Option<LikelyTry> {
        self.renew_idle(&mut idle);
        let mut window = std::mem::take(&mut self.window);
        // Tries of one search only move forward in time.
        if !std::mem::replace(&mut search.slides, true) {
            window.clear();
        }
        let likely = self.walk_tries(search, from, proof, &mut idle, &mut window);
        self.window = window;
        likely
    }

    /// Sets `free` to the nodes of the last try in a partition whose nodes are known.
    pub(super) fn spread_try(&self, number: usize, free: &mut NodeSet) {
        self.classes.spread_into(set_in_part(self.window.free_classes(), self.classes.part_classes(number)), free);
    }

    /// Returns the place of a job on the nodes of the last try that are idle after so many ends.
    /// There are enough.
    pub(super) fn place_ranked(&mut self, job: &Pending, ends: usize, room: &mut NodeSet) -> Alloc {
        let try_set = set_in_part(self.window.free_classes(), self.classes.part_classes(usize::from(job.part)));
        self.eligible.clear();
        self.eligible.extend(self.idle.ranks.idle_of(try_set, ends));
        self.classes.spread_into(self.eligible.iter().copied(), room);
        room.place_in_runs(job.cpus.max(job.min_nodes) as usize)
    }

    fn walk_tries(
        &mut self,
        search: &mut PlaceSearch,
        mut from: i64,
        proof: &mut StartProof,
        idle: &mut RunningEnds<'_>,
        window: &mut SlidingAnd,
    ) -> Option<LikelyTry> {
        let PlaceSearch { number, limit, cpus, .. } = *search;
        let (mut at, mut stop) = self.record_span(from, limit);
        if at == self.records.len() {
            return Some(LikelyTry { from, later: 0, known: false, start: None });
        }
        let mut has_skipped = false;
        let single = idle.cluster.idle.is_single();
        // Ends of running jobs up to the time of a try, which only moves on.
        let mut step = None;
        // Ranks tell the start as well.
        let uses_ranks = self.idle.is_ranked() && search.is_exact;
        loop {
            let opens = std::mem::take(&mut search.opens);
            if search.counted && !opens && !std::mem::replace(&mut has_skipped, true) {
                from = self.skip_tries(number, from, limit, search.earliest);
                (at, stop) = self.record_span(from, limit);
            }
            let until = from.saturating_add(limit);
            while self.records.get(stop).is_some_and(|record| record.begin <= until) {
                stop += 1;
            }
            // The search looks one record beyond the first that it does not want.
            let most = (stop + 1).min(self.records.len() - 1);
            let next = (at + 1..=most).find(|&index| self.gains_nodes(index, number));
            let later = next.map_or(0, |next| self.records[next].begin);
            if let Some(next) = next.filter(|_| search.counted && !opens)
                && let Some(short) = self.last_short(number, (at, stop.max(at + 1)), cpus, idle)
            {
                let sure = self.records[short].begin < proof.bound_end(from, limit);
                at = self.gain_behind(number, short, (next, stop), limit);
                let later = self.records[at].begin;
                proof.note_failure(from, later, sure);
                from = later;
                continue;
            }
            window.slide_to(|index| self.free_classes(index), at, stop.max(at + 1));
            let free = set_in_part(window.free_classes(), self.classes.part_classes(number));
            let time = next.map_or(i64::MAX, |_| later);
            let step = *step.insert(self.idle.next_step(idle.cluster, idle.steps, time, step));
            let (counts, room) = if uses_ranks {
                let (total_count, room) = self.idle.ranks.tally_set(free, step);
                (total_count >= u64::from(search.nodes_needed()), room)
            } else {
                let room = self.idle.count_idle(free, step, idle.steps, &self.classes);
                // Where nodes have one processor, room for so many processors is as many nodes.
                let count =
                    || self.classes.count_nodes(set_in_part(window.free_classes(), self.classes.part_classes(number)));
                ((single && room >= u64::from(search.nodes_needed())) || count() >= search.nodes_needed(), room)
            };
            let fails = !counts || room < cpus;
            if opens {
                search.first_try = Some((later, counts, fails));
            }
            if counts && !search.counted {
                search.counted = true;
                if search.is_hopeless {
                    return None;
                }
            }
            let mut start = None;
            if !fails && uses_ranks {
                let need = cpus.max(u64::from(search.fewest.0));
                start = self.idle.ranks.soonest_start(idle.cluster, need, search.now, time.max(search.now));
                if start.is_none_or(|start| later > 0 && start.at > later) {
                    // Perhaps earlier once a plan is over.
                    (from, at) = (later, next?);
                    continue;
                }
            }
            if !fails {
                return Some(LikelyTry { from, later, known: search.is_exact, start });
            }
            let next = next?;
            if !counts && !opens {
                // A record with too few nodes makes all tries futile that reach into it.
                let next_from = self.next_try(number, from, limit, search.nodes_needed(), proof)?;
                if next_from > from {
                    from = next_from;
                    (at, stop) = self.record_span(from, limit);
                    continue;
                }
            }
            let sure = proof.goes_on(from) && self.begins_none(proof.bound_end(from, limit), until);
            proof.note_failure(from, later, sure);
            (from, at) = (later, next);
        }
    }

    /// Returns the last of some records that has too few nodes of a partition that are free and, by
    /// the time at which the next try there would begin, idle.
    fn last_short(
        &mut self,
        number: usize,
        (at, stop): (usize, usize),
        cpus: u64,
        idle: &mut RunningEnds<'_>,
    ) -> Option<usize> {
        let behind = (stop..self.records.len()).find(|&index| self.gains_nodes(index, number));
        let mut later = behind.map_or(i64::MAX, |index| self.records[index].begin);
        for index in (at..stop).rev() {
            if self.idle_in(index, number, later, idle) < cpus {
                return Some(index);
            }
            if index > at && self.gains_nodes(index, number) {
                later = self.records[index].begin;
            }
        }
        None
    }

    /// Returns the record at which a search goes on whose tries up to the record `short` fail: the
    /// next one with a gain behind that, as far as the last of these tries comes to it, else the
    /// last of them.
    ///
    /// `next` is the record of the second try, and `stop` the first one behind the first try.
    fn gain_behind(&mut self, number: usize, short: usize, (next, mut stop): (usize, usize), limit: i64) -> usize {
        let Some(last) = (next..=short).rev().find(|&index| self.gains_nodes(index, number)) else { return next };
        let until = self.records[last].begin.saturating_add(limit);
        while self.records.get(stop).is_some_and(|record| record.begin <= until) {
            stop += 1;
        }
        let most = (stop + 1).min(self.records.len() - 1);
        (last + 1..=most).find(|&index| self.gains_nodes(index, number)).unwrap_or(last)
    }

    /// Returns the classes of a partition that have no plan in some records, in spare memory.
    fn free_in_all(&mut self, number: usize, records: Range<usize>) -> Vec<u64> {
        let mut free = std::mem::take(&mut self.spare);
        free.clear();
        free.extend_from_slice(self.classes.part_classes(number));
        for index in records {
            free.iter_mut().zip(self.free_classes(index)).for_each(|(free, own)| *free &= own);
        }
        free
    }

    /// Returns whether so many processors are idle now, on nodes of a partition without a plan up
    /// to `until`; `None` without ranks.
    pub(super) fn has_idle(
        &mut self,
        number: usize,
        (now, until): (i64, i64),
        cpus: u64,
        cluster: &ModelCluster,
    ) -> Option<bool> {
        if !self.idle.is_ranked() || !self.idle.is_of(cluster) {
            return None;
        }
        let first = self.records.partition_point(|record| record.end <= now);
        let behind = self.records.partition_point(|record| record.begin <= until);
        let spare = self.free_in_all(number, first..behind);
        let idle = self.idle.ranks.count_idle(spare.iter().copied(), 0);
        self.spare = spare;
        Some(idle >= cpus)
    }

    /// Returns whether a plan of so many processors, on nodes of a partition that are idle by
    /// `time`, certainly meets plans made before it between `start` and `end`.
    pub(super) fn lacks_room(
        &mut self,
        number: usize,
        (start, end): (i64, i64),
        time: i64,
        cpus: u64,
        mut idle: RunningEnds<'_>,
    ) -> bool {
        self.renew_idle(&mut idle);
        let first = self.records.partition_point(|record| record.end <= start);
        let behind = self.records.partition_point(|record| record.begin < end);
        if first >= behind {
            return false;
        }
        if time <= self.records[first].end && self.last_short(number, (first, behind), cpus, &mut idle).is_some() {
            return true;
        }
        let spare = self.free_in_all(number, first..behind);
        let step = self.idle.step_at(idle.cluster, idle.steps, time);
        let room = self.idle.count_idle(spare.iter().copied(), step, idle.steps, &self.classes);
        self.spare = spare;
        room < cpus
    }

    /// Returns the most processors that a job with this limit could have from `from` on, on nodes
    /// of a partition; or the first number that is `enough`.
    pub(super) fn most_room(
        &mut self,
        number: usize,
        (from, limit): (i64, i64),
        proof: &StartProof,
        enough: u64,
        mut idle: RunningEnds<'_>,
    ) -> u64 {
        self.renew_idle(&mut idle);
        let mut window = std::mem::take(&mut self.window);
        window.clear();
        let mut at = self.records.partition_point(|record| record.end <= from);
        let (mut begin, mut most) = (from, 0);
        while at < self.records.len() {
            let next = (at + 1..self.records.len()).find(|&index| self.gains_nodes(index, number));
            let later = next.map_or(i64::MAX, |next| self.records[next].begin);
            // The nodes of the window are among those of its first record.
            if self.idle_in(at, number, later, &mut idle) > most {
                let until = proof.bound_end(begin, limit);
                let stop = self.records.partition_point(|record| record.begin < until).max(at + 1);
                window.slide_to(|index| self.free_classes(index), at, stop);
                let step = self.idle.step_at(idle.cluster, idle.steps, later);
                let free = set_in_part(window.free_classes(), self.classes.part_classes(number));
                most = most.max(self.idle.count_idle(free, step, idle.steps, &self.classes));
            }
            let Some(next) = next.filter(|_| most < enough) else { break };
            (at, begin) = (next, later);
        }
        self.window = window;
        most
    }
}

/// The running jobs, whose ends leave processors idle.
pub(super) struct RunningEnds<'a> {
    pub(super) cluster: &'a ModelCluster,
    pub(super) steps: &'a mut IdleSteps,
}

/// A job's search for a place.
pub(super) struct PlaceSearch {
    /// Its partition.
    pub(super) number: usize,
    pub(super) limit: i64,
    pub(super) cpus: u64,
    /// The present.
    pub(super) now: i64,
    /// Fewest nodes with which it counts among the jobs tested, and with which it could start.
    pub(super) fewest: (u32, u32),
    /// Time before which it has no place.
    pub(super) earliest: i64,
    /// True if the first try is the next one, which is not left out.
    pub(super) opens: bool,
    /// The first try: the next one after it, whether it counts, whether it fails.
    pub(super) first_try: Option<(i64, bool, bool)>,
    /// True if it counts among the jobs tested.
    pub(super) counted: bool,
    /// True if there certainly is no place.
    pub(super) is_hopeless: bool,
    /// True if nothing but processors and nodes is asked for.
    pub(super) is_exact: bool,
    /// True if the window of the table is that of this search's last try.
    pub(super) slides: bool,
}

impl PlaceSearch {
    fn nodes_needed(&self) -> u32 {
        if self.counted { self.fewest.1 } else { self.fewest.0 }
    }
}

/// A try of a search that may succeed.
#[derive(Clone, Copy, Debug)]
pub(super) struct LikelyTry {
    pub(super) from: i64,
    /// The next try; 0 for none.
    pub(super) later: i64,
    /// True if its nodes are known, and suffice.
    pub(super) known: bool,
    /// The start, where ranks tell it: in time for this try.
    pub(super) start: Option<RankedStart>,
}

/// The classes of a set that belong to a partition.
fn set_in_part<'a>(set: impl Iterator<Item = u64> + 'a, part: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    set.zip(part).map(|(set, part)| set & part)
}

#[cfg(test)]
mod tests {
    use super::super::ModelMachine;
    use super::super::table::PlanRecord;
    use super::super::will_run::{Reach, WillRunScratch, will_run};
    use super::*;

    /// Numbers below a bound, always the same.
    fn draws() -> impl FnMut(u64) -> u64 {
        let mut seed = 7_u64;
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        }
    }

    fn few_nodes() -> NodeSet {
        NodeSet::from_members(9, [0, 2, 3, 7])
    }

    fn drawn_table(draw: &mut impl FnMut(u64) -> u64, plans: u64) -> PlanTable {
        let mut table = PlanTable::default();
        table.reset_table((0, 1000), &NodeSet::full(9), &[], [NodeSet::full(9), few_nodes()].iter());
        for _ in 0..plans {
            let (start, length) = (draw(950) as i64, draw(200) as i64 + 1);
            let nodes: Vec<usize> = (0..9).filter(|_| draw(3) == 0).collect();
            table.add_plan(start, start + length, &NodeSet::from_members(9, nodes), &[]);
        }
        table
    }

    /// Six of nine nodes run jobs that end one after the other.
    fn busy_cluster() -> ModelCluster {
        let mut cluster = ModelCluster::new(ModelMachine::with_equal_nodes(9, 1));
        for node in 0..6_u32 {
            let alloc = Alloc { nodes: NodeSet::from_members(9, [node as usize]), ..Alloc::default() };
            cluster.start_job(&Pending::new(node, 1, 90 * i64::from(node + 1)), 0, alloc);
        }
        cluster
    }

    /// Idle processors of a set of nodes by a time.
    fn idle_by(free: &NodeSet, time: i64) -> u64 {
        free.iter().filter(|&node| node >= 6 || 90 * (node as i64 + 1) <= time).count() as u64
    }

    #[test]
    fn room_is_that_of_every_second() {
        let (mut draw, part, cluster) = (draws(), NodeSet::full(9), busy_cluster());
        for case in 0..200 {
            let (mut table, mut steps) = (drawn_table(&mut draw, case % 20), IdleSteps::default());
            let (from, limit) = (draw(900) as i64, draw(300) as i64 + 1);
            let proof = StartProof::new(1, from);
            let ends = RunningEnds { cluster: &cluster, steps: &mut steps };
            let most = table.most_room(0, (from, limit), &proof, u64::MAX, ends);
            // The next time at which there are other nodes is that by which jobs may have ended.
            let at = |second: i64| {
                let mut free = part.clone();
                table.narrow_nodes(&mut free, second, second + limit - 1);
                let gains = |(before, record): &(PlanRecord, PlanRecord)| {
                    let at = |second| {
                        let mut free = part.clone();
                        table.narrow_nodes(&mut free, second, second);
                        free
                    };
                    record.begin > second && !at(record.begin).is_subset(&at(before.begin))
                };
                let pairs = table.records.windows(2).map(|pair| (pair[0], pair[1]));
                let later = pairs.into_iter().find(gains).map_or(i64::MAX, |(_, record)| record.begin);
                idle_by(&free, later)
            };
            assert_eq!(Some(most), (from..1000).map(at).max(), "{table:?} {from} {limit}");
        }
    }

    #[test]
    fn likely_tries_are_those_at_which_a_search_finds_a_start() {
        let (mut draw, part, cluster) = (draws(), few_nodes(), busy_cluster());
        for case in 0..400 {
            let (mut table, mut steps) = (drawn_table(&mut draw, case % 20), IdleSteps::default());
            let (start, limit, need) = (draw(900) as i64, draw(300) as i64, draw(4) as u32 + 1);
            let (mut from, mut has_room) = (start, false);
            let (job, mut scratch) = (Pending::new(99, need, limit), WillRunScratch::default());
            let expected = loop {
                let mut free = part.clone();
                let later = table.search_nodes(&mut free, (1, &part), false, (from, from + limit));
                has_room |= free.count_nodes() as u32 >= need;
                let reach = if later == 0 { Reach::All } else { Reach::Until(later) };
                // One running job after the other is let end.
                let soonest = will_run(&cluster, &job, &free, 0, reach, &mut scratch).map(|soonest| soonest.at);
                if let Some(at) = soonest.filter(|&at| later == 0 || at <= later) {
                    break Some((from, later, free, at));
                }
                if later == 0 {
                    break None;
                }
                from = later;
            };
            let mut search = PlaceSearch {
                number: 1,
                limit,
                cpus: u64::from(need),
                now: 0,
                fewest: (need, need),
                earliest: i64::MIN,
                opens: true,
                first_try: None,
                counted: false,
                is_hopeless: false,
                is_exact: true,
                slides: false,
            };
            let ends = RunningEnds { cluster: &cluster, steps: &mut steps };
            let (proof, mut free) = (&mut StartProof::new(1, start), NodeSet::empty(9));
            let likely = table.likely_try(&mut search, start, proof, ends).map(|likely| {
                table.spread_try(1, &mut free);
                (likely.from, likely.later, free, likely.start.expect("ranked").at)
            });
            assert_eq!((likely, search.counted), (expected.clone(), has_room), "{table:?} {start} {limit} {need}");
            assert!(expected.is_none_or(|(from, ..)| proof.from <= from), "{proof:?}");
        }
    }

    #[test]
    fn nodes_are_free_until_their_first_plan() {
        let (mut draw, part) = (draws(), few_nodes());
        for case in 0..200 {
            let table = drawn_table(&mut draw, case % 20);
            let count = draw(5) as u32;
            let until = table.first_plans.free_until(1, count);
            let free = |time: i64| {
                let mut free = part.clone();
                table.narrow_nodes(&mut free, 0, time);
                free.count_nodes() >= count as usize
            };
            // A plan that begins at the time is in the way.
            let first = (0..1000).find(|&time| !free(time));
            assert_eq!(first.unwrap_or(i64::MAX), until, "{count}");
        }
    }

    #[test]
    fn tries_are_skipped_as_the_search_would() {
        let (mut draw, part) = (draws(), few_nodes());
        for case in 0..400 {
            let mut table = drawn_table(&mut draw, case % 20);
            let (start, limit, earliest) = (draw(900) as i64, draw(300) as i64, draw(1100) as i64);
            let mut from = start;
            loop {
                let later = table.search_nodes(&mut part.clone(), (1, &part), false, (from, from + limit));
                if later == 0 || later >= earliest {
                    break;
                }
                from = later;
            }
            assert_eq!(table.skip_tries(1, start, limit, earliest), from);
        }
    }
}
