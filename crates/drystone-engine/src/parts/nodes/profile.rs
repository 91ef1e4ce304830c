//! Free amounts of every node over time.

use super::placing::NodeOffer;
use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Free amounts of every node as a step function; the last step lasts for ever.
///
/// Each node has steps of its own, so that a job changes its nodes alone. A search looks at every
/// node once for each time that it tries, and at the steps of a node while the job would run; most
/// times at which too few nodes have room are never tried.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NodeProfile {
    /// Amounts of a node.
    width: usize,
    /// Steps that each node has space for: a search walks over all nodes, so they lie side by side.
    space: usize,
    /// Number of steps of each node; at least one.
    lens: Vec<u32>,
    /// Beginning of each step, ascending by node.
    times: Vec<Time>,
    /// The amounts of each step.
    rows: Vec<i64>,
    /// Free cores of all nodes: too few of them rule out most times.
    cores: CoreTimeline,
}

/// Free cores of all nodes over time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct CoreTimeline {
    /// Beginning of each step, ascending; at least one.
    times: Vec<Time>,
    free: Vec<i64>,
}

/// Steps of one node.
#[derive(Clone, Copy)]
struct NodeSteps<'a> {
    times: &'a [Time],
    rows: &'a [i64],
}

/// Room on a node from some time on.
#[derive(Clone, Copy)]
struct NextRoom {
    node: u32,
    /// The first time at which a piece fits.
    at: Time,
    /// Pieces that fit then.
    room: u32,
    /// The last start up to which no fewer fit, as far as was looked.
    until: Time,
    /// Fewest free cores of the node while the job would run from `at` on.
    cores: i64,
}

/// A search for the first time at which a job fits.
struct RoomSearch<'a> {
    profile: &'a NodeProfile,
    need: &'a JobNodeNeed,
    span: Span,
    floor: &'a NodeFloor,
    /// No later start is asked for.
    latest: Time,
    /// The most pieces that a node ever holds, by class.
    most: Vec<u64>,
}

/// The step that a time lies in; the first where it lies before all.
fn step_at(times: &[Time], time: Time) -> usize {
    // Searches begin at the present, and few steps lie before the time.
    match times.get(1) {
        Some(&second) if second <= time => times.partition_point(|&begin| begin <= time) - 1,
        _ => 0,
    }
}

impl NodeSteps<'_> {
    fn step_amounts(&self, step: usize, width: usize) -> &[i64] {
        &self.rows[step * width..(step + 1) * width]
    }

    /// Steps from a time on until another; at least one.
    fn steps_during(&self, from: Time, to: Time) -> std::ops::Range<usize> {
        let first = step_at(self.times, from);
        first..self.times.partition_point(|&begin| begin < to).max(first + 1)
    }
}

impl CoreTimeline {
    /// More cores are free from a time until another; fewer, below 0.
    fn change_cores(&mut self, (from, to): (Time, Time), more: i64) {
        let (first, last) = (self.split_step(from), self.split_step(to));
        self.free[first..last].iter_mut().for_each(|free| *free += more);
    }

    fn split_step(&mut self, time: Time) -> usize {
        let step = self.times.partition_point(|&begin| begin < time);
        if time < Time::MAX && self.times.get(step) != Some(&time) {
            self.times.insert(step, time);
            self.free.insert(step, self.free[step - 1]);
        }
        step
    }

    /// Forgets the step that begins at this time, if it is as the one before.
    fn join_step(&mut self, time: Time) {
        let step = self.times.partition_point(|&begin| begin < time);
        if step > 0 && self.times.get(step) == Some(&time) && self.free[step] == self.free[step - 1] {
            self.times.remove(step);
            self.free.remove(step);
        }
    }
}

impl NodeProfile {
    /// Makes it that of running jobs: `free` now, more as each of `ends`, in ascending order of
    /// time, leaves its seat. Ends that are past count as now.
    pub fn reset_to<'a>(
        &mut self,
        now: Time,
        free: &NodeLevels,
        ends: impl Iterator<Item = (Time, &'a JobNodeNeed, &'a NodeSeat)>,
        floor: &NodeFloor,
    ) {
        self.width = floor.width();
        self.space = self.space.max(4);
        self.lens.clear();
        self.lens.resize(floor.len(), 1);
        self.times.resize(floor.len() * self.space, now);
        self.rows.resize(floor.len() * self.space * self.width, 0);
        for node in 0..floor.len() {
            let first = node * self.space;
            self.times[first] = now;
            self.rows[first * self.width..(first + 1) * self.width].copy_from_slice(free.node_amounts(node));
        }
        self.cores = CoreTimeline { times: vec![now], free: vec![i64::from(free.procs())] };
        for (end, need, seat) in ends.filter(|(end, ..)| *end < Time::MAX) {
            let end = end.max(now);
            let mut more = 0;
            for &(node, cores) in &seat.on {
                let empty = floor.empty_row(node as usize);
                let last = self.split_step(node as usize, end);
                let row = self.row_mut(node as usize, last);
                let before = row[0].max(0);
                need.each_amount(empty, cores, |column, amount| row[column] += amount);
                more += row[0].max(0) - before;
            }
            self.cores.change_cores((end, Time::MAX), more);
        }
    }

    #[inline]
    fn node_steps(&self, node: usize) -> NodeSteps<'_> {
        let (first, len) = (node * self.space, self.lens[node] as usize);
        NodeSteps {
            times: &self.times[first..first + len],
            rows: &self.rows[first * self.width..(first + len) * self.width],
        }
    }

    #[inline]
    fn row_mut(&mut self, node: usize, step: usize) -> &mut [i64] {
        let at = (node * self.space + step) * self.width;
        &mut self.rows[at..at + self.width]
    }

    /// Makes a step of a node begin at this time, which is not before the first one, and answers
    /// which. The end of all times begins none.
    fn split_step(&mut self, node: usize, time: Time) -> usize {
        let steps = self.node_steps(node).times;
        let (step, len) = (steps.partition_point(|&begin| begin < time), steps.len());
        if time == Time::MAX || steps.get(step) == Some(&time) {
            return step;
        }
        if len == self.space {
            self.widen_space();
        }
        self.lens[node] += 1;
        let (first, at) = (node * self.space, node * self.space + step);
        self.times.copy_within(at..first + len, at + 1);
        self.times[at] = time;
        // The step before it is copied with those behind it.
        self.rows.copy_within((at - 1) * self.width..(first + len) * self.width, at * self.width);
        step
    }

    /// Gives each node space for twice as many steps.
    fn widen_space(&mut self) {
        let (old, width) = (self.space, self.width);
        self.space *= 2;
        let (mut times, mut rows) = (Vec::new(), Vec::new());
        for node in 0..self.lens.len() {
            let own = node * old..(node + 1) * old;
            times.extend_from_slice(&self.times[own.clone()]);
            times.resize((node + 1) * self.space, Time::MAX);
            rows.extend_from_slice(&self.rows[own.start * width..own.end * width]);
            rows.resize((node + 1) * self.space * width, 0);
        }
        (self.times, self.rows) = (times, rows);
    }

    /// The earliest time from `from` until `latest` at which a job fits for so long, an instant at
    /// least, and its nodes then; `None` for never.
    #[must_use]
    pub fn earliest_seat(
        &self,
        need: &JobNodeNeed,
        span: Span,
        (from, latest): (Time, Time),
        floor: &NodeFloor,
    ) -> Option<(Time, NodeSeat)> {
        let from = from.max(*self.cores.times.first()?);
        let most = |empty: &Vec<i64>| u64::from(need.room_in(empty, empty).min(need.pieces()));
        let most = floor.empty.iter().map(most).collect();
        RoomSearch { profile: self, need, span: span.max(Span(1)), floor, latest, most }.run(from)
    }

    /// Returns whether a seat is free from `from` until `to` for a job that had it, as
    /// [`NodeLevels::is_seat_free`](super::NodeLevels::is_seat_free) says.
    #[must_use]
    pub fn is_seat_free(
        &self,
        need: &JobNodeNeed,
        seat: &NodeSeat,
        (from, to): (Time, Time),
        floor: &NodeFloor,
    ) -> bool {
        let mut taken_amounts = vec![0; floor.width()];
        seat.on.iter().all(|&(node, cores)| {
            let node = node as usize;
            taken_amounts.fill(0);
            need.each_amount(floor.empty_row(node), cores, |column, amount| taken_amounts[column] += amount);
            let steps = self.node_steps(node);
            let has = |step| {
                steps
                    .step_amounts(step, taken_amounts.len())
                    .iter()
                    .zip(&taken_amounts)
                    .all(|(free, claim)| free >= claim)
            };
            steps.steps_during(from, to).all(has)
        })
    }

    /// Takes a seat from `from` until `to` (`sign` −1), or gives it back (+1).
    pub fn change_seat(
        &mut self,
        need: &JobNodeNeed,
        seat: &NodeSeat,
        (from, to): (Time, Time),
        floor: &NodeFloor,
        sign: i64,
    ) {
        let from = from.max(self.cores.times[0]);
        if to <= from {
            return;
        }
        let mut total_cores = 0;
        for &(node, cores) in &seat.on {
            let (node, empty) = (node as usize, floor.empty_row(node as usize));
            let (first, last) = (self.split_step(node, from), self.split_step(node, to));
            for step in first..last {
                let row = self.row_mut(node, step);
                need.each_amount(empty, cores, |column, amount| row[column] += sign * amount);
            }
            total_cores += need.cores_taken(empty, cores);
        }
        self.cores.change_cores((from, to), sign * total_cores);
    }

    /// Gives a seat back that was taken last, and forgets the steps that say nothing then.
    pub fn give_back(&mut self, need: &JobNodeNeed, seat: &NodeSeat, (from, to): (Time, Time), floor: &NodeFloor) {
        self.change_seat(need, seat, (from, to), floor, 1);
        for &(node, _) in &seat.on {
            self.join_step(node as usize, to);
            self.join_step(node as usize, from);
        }
        self.cores.join_step(to);
        self.cores.join_step(from);
    }

    /// Forgets the step of a node that begins at this time, if it is as the one before.
    fn join_step(&mut self, node: usize, time: Time) {
        let (len, width) = (self.lens[node] as usize, self.width);
        let steps = self.node_steps(node);
        let step = steps.times.partition_point(|&begin| begin < time);
        if step == 0
            || steps.times.get(step) != Some(&time)
            || steps.step_amounts(step, width) != steps.step_amounts(step - 1, width)
        {
            return;
        }
        let (at, end) = (node * self.space + step, node * self.space + len);
        self.times.copy_within(at + 1..end, at);
        self.rows.copy_within((at + 1) * width..end * width, at * width);
        self.lens[node] -= 1;
    }

    /// Becomes a copy of another, in its own memory.
    pub fn copy_from(&mut self, source: &NodeProfile) {
        (self.width, self.space) = (source.width, source.space);
        self.lens.clone_from(&source.lens);
        self.times.clone_from(&source.times);
        self.rows.clone_from(&source.rows);
        self.cores.times.clone_from(&source.cores.times);
        self.cores.free.clone_from(&source.cores.free);
    }

    /// The times at which the free cores change, ascending; a change may be none.
    pub fn change_times(&self) -> &[Time] {
        &self.cores.times
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.lens.len()
    }

    /// Free cores in all at its beginning.
    pub fn cores_at_first(&self) -> i64 {
        self.cores.free.first().copied().unwrap_or(0)
    }

    /// Cores of a node are out from a time until another; below 0 for cores that are there after
    /// all.
    pub fn lose_cores(&mut self, node: u32, cores: i64, (from, to): (Time, Time)) {
        let from = from.max(self.cores.times[0]);
        if to <= from {
            return;
        }
        let node = node as usize;
        let (first, last) = (self.split_step(node, from), self.split_step(node, to));
        for step in first..last {
            let own = &mut self.row_mut(node, step)[0];
            let before = (*own).max(0);
            *own -= cores;
            let more = (*own).max(0) - before;
            let times = self.node_steps(node).times;
            let during = (times[step], times.get(step + 1).copied().unwrap_or(Time::MAX));
            self.cores.change_cores(during, more);
        }
    }

    /// The least that is free on each node from a time on for so long, an instant at least.
    /// O(steps).
    pub fn least_free(&self, from: Time, span: Span) -> NodeLevels {
        let to = from.saturating_add(span.max(Span(1)));
        let mut least = Vec::with_capacity(self.lens.len() * self.width);
        for node in 0..self.lens.len() {
            let steps = self.node_steps(node);
            let during = steps.steps_during(from, to);
            let first = least.len();
            least.extend_from_slice(steps.step_amounts(during.start, self.width));
            for step in during.skip(1) {
                least[first..]
                    .iter_mut()
                    .zip(steps.step_amounts(step, self.width))
                    .for_each(|(own, row)| *own = (*own).min(*row));
            }
        }
        NodeLevels::of_rows(self.width, least)
    }

    /// Forgets what lies before the present.
    pub fn advance_to(&mut self, now: Time) {
        for node in 0..self.lens.len() {
            let times = self.node_steps(node).times;
            let (step, len, first) = (step_at(times, now), times.len(), node * self.space);
            if step > 0 {
                self.times.copy_within(first + step..first + len, first);
                self.rows.copy_within((first + step) * self.width..(first + len) * self.width, first * self.width);
                self.lens[node] -= step as u32;
            }
            self.times[first] = self.times[first].max(now);
        }
        let step = step_at(&self.cores.times, now);
        self.cores.times.drain(..step);
        self.cores.free.drain(..step);
        if let Some(first) = self.cores.times.first_mut() {
            *first = now.max(*first);
        }
    }
}

impl RoomSearch<'_> {
    fn run(&self, from: Time) -> Option<(Time, NodeSeat)> {
        let wanted_pieces = u64::from(self.need.pieces());
        let mut from = self.with_cores(from).filter(|&from| from <= self.latest)?;
        let mut nexts: Vec<NextRoom> = Vec::with_capacity(self.floor.len());
        let mut limit = self.latest;
        for node in (0..self.floor.len()).filter(|&node| self.need.may_be_on(node, self.floor)) {
            let next = self.next(node as u32, from, limit);
            if wanted_pieces == 1 {
                // No node that has room later counts.
                limit = next.map_or(limit, |next| next.at.min(limit));
            }
            nexts.extend(next);
        }
        // Not before so many nodes have room that they could hold all pieces without other jobs.
        loop {
            let bound = self.with_cores(self.lower_bound(&nexts, from, wanted_pieces)?.max(from))?;
            if bound <= from {
                break;
            }
            if bound > self.latest {
                return None;
            }
            from = bound;
            self.catch_up(&mut nexts, from, |next| next.at < from);
        }
        if self.pieces_at(&nexts, from) < wanted_pieces {
            from = self.find_room_time(&mut nexts, from, wanted_pieces)?;
        }
        if self.need.depends_on_sizes() {
            return self.find_by_sizes(from);
        }
        Some((from, self.seat_at(&nexts, from)))
    }

    /// The first time from `from` on at which enough nodes have room that are large enough
    /// together: room begins where a step of some node does.
    fn find_by_sizes(&self, from: Time) -> Option<(Time, NodeSeat)> {
        let nodes: Vec<usize> = (0..self.floor.len()).filter(|&node| self.need.may_be_on(node, self.floor)).collect();
        let steps = nodes.iter().flat_map(|&node| self.profile.node_steps(node).times).copied();
        let mut times: Vec<Time> = steps.filter(|&time| time > from && time <= self.latest).chain([from]).collect();
        times.sort_unstable();
        times.dedup();
        times.into_iter().find_map(|at| {
            let nexts: Vec<NextRoom> = nodes.iter().filter_map(|&node| self.next(node as u32, at, at)).collect();
            let is_enough = self.need.is_met_by(nexts.iter().map(|next| next.cores).collect());
            is_enough.then(|| (at, self.seat_at(&nexts, at)))
        })
    }

    /// The first time from `from` on at which enough cores are free in all.
    fn with_cores(&self, from: Time) -> Option<Time> {
        let cores = &self.profile.cores;
        let (wanted_cores, first) = (i64::from(self.need.procs()), step_at(&cores.times, from));
        let mut at = from;
        for step in first..cores.times.len() {
            if step > first && cores.times[step] >= at.saturating_add(self.span) {
                break;
            }
            if cores.free[step] < wanted_cores {
                at = *cores.times.get(step + 1)?;
            }
        }
        Some(at)
    }

    /// Room on a node from a time on: the first time at which it has some, no later than `limit`.
    #[inline]
    fn next(&self, node: u32, from: Time, limit: Time) -> Option<NextRoom> {
        let steps = self.profile.node_steps(node as usize);
        // Few jobs ask for more than cores and memory for each of them.
        match self.need.least_of_piece() {
            Some(least) => self
                .next_where(node, steps, from, limit, |row| row[0] >= least.0 && (least.1 == 0 || row[1] >= least.1)),
            None => {
                let empty = self.floor.empty_row(node as usize);
                self.next_where(node, steps, from, limit, |row| self.need.has_room_in(row, empty))
            }
        }
    }

    #[inline(always)]
    fn next_where(
        &self,
        node: u32,
        steps: NodeSteps<'_>,
        from: Time,
        limit: Time,
        has_room: impl Fn(&[i64]) -> bool,
    ) -> Option<NextRoom> {
        let (width, first) = (self.profile.width, step_at(steps.times, from));
        let (mut begin, mut at, mut end) = (first, from, steps.times.len());
        let mut until = at.saturating_add(self.span);
        let mut cores = i64::MAX;
        let rows = steps.times[first..].iter().zip(steps.rows[first * width..].chunks_exact(width));
        for ((&time, row), step) in rows.zip(first..) {
            if step > begin && time >= until {
                end = step;
                break;
            }
            cores = cores.min(row[0]);
            if !has_room(row) {
                // It begins behind this step at the earliest.
                at = *steps.times.get(step + 1).filter(|&&begin| begin <= limit)?;
                (begin, until, cores) = (step + 1, at.saturating_add(self.span), i64::MAX);
            }
        }
        let pieces = self.need.pieces();
        let room = match self.need.is_apart() || pieces == 1 {
            true => 1,
            false if self.need.is_by_cores() => self.need.pieces_in_cores(cores).min(pieces),
            false => {
                let empty = self.floor.empty_row(node as usize);
                (begin..end)
                    .map(|step| self.need.room_in(steps.step_amounts(step, width), empty))
                    .fold(pieces, u32::min)
            }
        };
        let until = steps.times.get(end).map_or(Time::MAX, |&next| next - self.span);
        Some(NextRoom { node, at, room, until, cores })
    }

    /// Looks again, from a time on, at the nodes of which this is to be known.
    fn catch_up(&self, nexts: &mut Vec<NextRoom>, from: Time, is_stale: impl Fn(&NextRoom) -> bool) {
        nexts.retain_mut(|next| {
            if !is_stale(next) {
                return true;
            }
            match self.next(next.node, from, Time::MAX) {
                Some(later) => *next = later,
                None => return false,
            }
            true
        });
    }

    #[inline]
    fn most_pieces(&self, node: u32) -> u64 {
        self.most[usize::from(self.floor.class_of[node as usize])]
    }

    /// The first time at which nodes have room that could hold so many pieces without other jobs.
    fn lower_bound(&self, nexts: &[NextRoom], from: Time, count: u64) -> Option<Time> {
        if count == 1 {
            return nexts.iter().map(|next| next.at).min();
        }
        if !self.need.is_apart() {
            let possible_pieces =
                nexts.iter().filter(|next| next.at <= from).map(|next| self.most_pieces(next.node)).sum::<u64>();
            if possible_pieces >= count {
                return Some(from);
            }
        }
        let mut times: Vec<(Time, u64)> = nexts.iter().map(|next| (next.at, self.most_pieces(next.node))).collect();
        if self.need.is_apart() {
            let last = count as usize - 1;
            return (last < times.len()).then(|| times.select_nth_unstable(last).1.0);
        }
        times.sort_unstable();
        let mut possible_pieces = 0;
        times.iter().find_map(|&(at, most)| {
            possible_pieces += most;
            (possible_pieces >= count).then_some(at)
        })
    }

    fn pieces_at(&self, nexts: &[NextRoom], at: Time) -> u64 {
        nexts.iter().filter(|next| next.at <= at).map(|next| u64::from(next.room)).sum()
    }

    /// The first time from `from` on at which all pieces have room. Goes from change to change, and
    /// looks at the nodes that change then.
    fn find_room_time(&self, nexts: &mut [NextRoom], from: Time, count: u64) -> Option<Time> {
        let mut from = from;
        // Changes by which a node may have more room than before.
        let mut changes: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
        let mut counted_pieces = vec![0; nexts.len()];
        let mut piece_sum = 0;
        let mut look = |at: usize, next: &NextRoom, from: Time, changes: &mut BinaryHeap<Reverse<(Time, usize)>>| {
            let own = if next.at <= from { u64::from(next.room) } else { 0 };
            piece_sum = piece_sum + own - std::mem::replace(&mut counted_pieces[at], own);
            let times = self.profile.node_steps(next.node as usize).times;
            let change = match next.at > from {
                true => Some(next.at).filter(|&at| at < Time::MAX),
                false if own == self.most_pieces(next.node) => None,
                false => times.get(step_at(times, from) + 1).copied(),
            };
            changes.extend(change.map(|time| Reverse((time, at))));
            piece_sum
        };
        let mut piece_count = 0;
        for (at, next) in nexts.iter().enumerate() {
            piece_count = look(at, next, from, &mut changes);
        }
        let never = |node: u32| NextRoom { node, at: Time::MAX, room: 0, until: Time::MAX, cores: 0 };
        let again = |node: u32, from: Time| self.next(node, from, Time::MAX).unwrap_or(never(node));
        while piece_count < count {
            let Reverse((time, _)) = *changes.peek()?;
            from = self.with_cores(time)?;
            if from > self.latest {
                return None;
            }
            while let Some(&Reverse((time, at))) = changes.peek()
                && time <= from
            {
                changes.pop();
                nexts[at] = again(nexts[at].node, from);
                piece_count = look(at, &nexts[at], from, &mut changes);
            }
            if piece_count >= count {
                // Some had room at an earlier start only.
                for (at, next) in nexts.iter_mut().enumerate() {
                    if next.at < from && next.until < from {
                        *next = again(next.node, from);
                        piece_count = look(at, next, from, &mut changes);
                    }
                }
            }
        }
        Some(from)
    }

    fn seat_at(&self, nexts: &[NextRoom], at: Time) -> NodeSeat {
        let to = at.saturating_add(self.span);
        let offer = |next: &NextRoom| {
            let cores = if next.at == at {
                next.cores
            } else {
                let (steps, width) = (self.profile.node_steps(next.node as usize), self.profile.width);
                steps.steps_during(at, to).map(|step| steps.rows[step * width]).min().unwrap_or(0)
            };
            NodeOffer { node: next.node, weight: self.floor.node_weight(next.node as usize), room: next.room, cores }
        };
        let offers = nexts.iter().filter(|next| next.at <= at && next.room > 0).map(offer).collect();
        self.floor.choose_nodes(self.need, offers)
    }
}
