//! Further resources over time: what is free of each beside running and planned jobs.

use crate::model::{ResourceAmounts, ResourceId, Span, Time};
use serde::{Deserialize, Serialize};

/// Free amounts of several resources as one step function: [`Profile`](super::Profile) for all that
/// is not a processor. A level may be below 0 where another scheduler has started more than there
/// is.
///
/// The last step lasts for ever. Cost: O(steps · resources asked for) for everything but
/// [`PoolProfile::reset_to`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PoolProfile {
    /// Resources of each step.
    width: usize,
    /// Beginning of each step, ascending; at least one.
    times: Vec<Time>,
    /// The levels of each step, one after the other.
    levels: Vec<i64>,
}

impl PoolProfile {
    /// Makes it that of running jobs: `free` now, more as each of `ends`, in ascending order of
    /// time, gives back what it holds. Ends that are past count as now.
    pub fn reset_to<'a>(&mut self, now: Time, free: &[i64], ends: impl Iterator<Item = (Time, &'a ResourceAmounts)>) {
        self.width = free.len();
        self.times.clear();
        self.levels.clear();
        self.times.push(now);
        self.levels.extend_from_slice(free);
        for (end, amounts) in ends {
            if amounts.is_empty() {
                continue;
            }
            let last = self.times.len() - 1;
            if end > self.times[last] {
                self.times.push(end);
                self.levels.extend_from_within(last * self.width..);
            }
            let row = self.levels.len() - self.width;
            for &(id, amount) in amounts {
                self.levels[row + id.index()] += amount as i64;
            }
        }
    }

    /// Becomes a copy of another; keeps its own memory.
    pub fn copy_from(&mut self, source: &PoolProfile) {
        self.width = source.width;
        self.times.clone_from(&source.times);
        self.levels.clone_from(&source.levels);
    }

    fn step_levels(&self, step: usize) -> &[i64] {
        &self.levels[step * self.width..(step + 1) * self.width]
    }

    /// The step that `time` lies in; the first where it lies before all.
    fn step_at(&self, time: Time) -> usize {
        self.times.partition_point(|&begin| begin <= time).saturating_sub(1)
    }

    fn has_amounts(&self, step: usize, amounts: &ResourceAmounts) -> bool {
        let row = self.step_levels(step);
        amounts.iter().all(|&(id, amount)| row[id.index()] >= amount as i64)
    }

    /// Returns whether this much is free from `from` on for this span, an instant at least.
    #[must_use]
    pub fn fits_during(&self, from: Time, span: Span, amounts: &ResourceAmounts) -> bool {
        let end = from.saturating_add(span.max(Span(1)));
        amounts.is_empty()
            || (self.step_at(from)..self.times.len())
                .take_while(|&step| step == 0 || self.times[step] < end)
                .all(|step| self.has_amounts(step, amounts))
    }

    /// The earliest time from `from` on at which so much is free for so long, an instant at least;
    /// `None` for never.
    #[must_use]
    pub fn earliest_start(&self, amounts: &ResourceAmounts, span: Span, from: Time) -> Option<Time> {
        if amounts.is_empty() {
            return Some(from);
        }
        let span = span.max(Span(1));
        let mut start = from;
        let mut step = self.step_at(from);
        while step < self.times.len() {
            if step > 0 && self.times[step] >= start.saturating_add(span) {
                return Some(start);
            }
            step += 1;
            if !self.has_amounts(step - 1, amounts) {
                // It begins behind this step at the earliest.
                start = *self.times.get(step)?;
            }
        }
        Some(start)
    }

    /// Takes amounts from `from` until `to`.
    pub fn reserve_amounts(&mut self, from: Time, to: Time, amounts: &ResourceAmounts) {
        self.change_amounts(from, to, amounts, -1);
    }

    /// Gives them back.
    pub fn release_amounts(&mut self, from: Time, to: Time, amounts: &ResourceAmounts) {
        self.change_amounts(from, to, amounts, 1);
    }

    /// Gives amounts back that were taken last, and forgets the steps that say nothing then.
    pub fn give_back(&mut self, from: Time, to: Time, amounts: &ResourceAmounts) {
        self.change_amounts(from, to, amounts, 1);
        for time in [to, from] {
            let step = self.times.partition_point(|&begin| begin < time);
            if step > 0 && self.times.get(step) == Some(&time) && self.step_levels(step) == self.step_levels(step - 1) {
                self.times.remove(step);
                self.levels.drain(step * self.width..(step + 1) * self.width);
            }
        }
    }

    /// Adds an amount to what is free of a resource from a time on; below 0 takes it away.
    pub fn alter_resource(&mut self, from: Time, resource: ResourceId, change: i64) {
        let sign = change.signum();
        self.change_amounts(from, Time::MAX, &[(resource, change.unsigned_abs())], sign);
    }

    fn change_amounts(&mut self, from: Time, to: Time, amounts: &ResourceAmounts, sign: i64) {
        let from = from.max(self.times[0]);
        if amounts.is_empty() || to <= from {
            return;
        }
        let (first, last) = (self.split_step(from), self.split_step(to));
        for step in first..last {
            for &(id, amount) in amounts {
                self.levels[step * self.width + id.index()] += sign * amount as i64;
            }
        }
    }

    /// Makes a step begin at this time, which is not before the first one, and answers which. The
    /// end of all times begins none.
    fn split_step(&mut self, time: Time) -> usize {
        let step = self.times.partition_point(|&begin| begin < time);
        if time < Time::MAX && self.times.get(step) != Some(&time) {
            self.times.insert(step, time);
            let at = (step - 1) * self.width;
            let row: Vec<i64> = self.levels[at..at + self.width].to_vec();
            self.levels.splice(step * self.width..step * self.width, row);
        }
        step
    }

    /// Forgets what lies before the present.
    pub fn advance_to(&mut self, now: Time) {
        let step = self.step_at(now);
        self.times.drain(..step);
        self.levels.drain(..step * self.width);
        self.times[0] = self.times[0].max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HORIZON: i64 = 400;
    const POOLS: usize = 3;

    /// Every second by itself.
    type Seconds = Vec<[i64; POOLS]>;

    fn fits(seconds: &Seconds, from: i64, span: i64, amounts: &ResourceAmounts) -> bool {
        let until = (from + span.max(1)).min(HORIZON);
        (from..until).all(|t| amounts.iter().all(|&(id, n)| seconds[t as usize][id.index()] >= n as i64))
    }

    fn change(seconds: &mut Seconds, from: i64, to: i64, amounts: &ResourceAmounts, sign: i64) {
        for t in from..to.min(HORIZON) {
            amounts.iter().for_each(|&(id, n)| seconds[t as usize][id.index()] += sign * n as i64);
        }
    }

    proptest! {
        /// Any mix of running jobs, reservations, releases and passing time agrees with an array of
        /// seconds.
        #[test]
        fn agrees_with_an_array_of_seconds(
            ends in prop::collection::vec((0i64..60, prop::collection::vec(0u64..4, POOLS)), 0..8),
            ops in prop::collection::vec((0u8..7, 0i64..100, 0i64..30, prop::collection::vec(0u64..6, POOLS)), 1..60),
        ) {
            let amounts = |list: &[u64]| -> Vec<(ResourceId, u64)> {
                let amounts_by_id = list.iter().enumerate().map(|(at, &n)| (ResourceId(at as u16), n));
                amounts_by_id.filter(|&(_, n)| n > 0).collect()
            };
            let mut ends: Vec<_> = ends.iter().map(|(end, list)| (Time(*end), amounts(list))).collect();
            ends.sort_by_key(|end| end.0);
            let mut profile = PoolProfile::default();
            profile.reset_to(Time(20), &[5, 4, 3], ends.iter().map(|(end, list)| (*end, &list[..])));
            let mut seconds: Seconds = vec![[5, 4, 3]; HORIZON as usize];
            for (end, list) in &ends {
                change(&mut seconds, end.0.max(20), HORIZON, list, 1);
            }
            let (mut now, mut reservations) = (20, Vec::new());
            for (op, at, span, list) in ops {
                let (at, list) = (at.max(now), amounts(&list));
                match op {
                    0..=2 => {
                        let expected = (at..HORIZON).find(|&t| fits(&seconds, t, span, &list)).map(Time);
                        prop_assert_eq!(profile.earliest_start(&list, Span(span), Time(at)), expected);
                        if let Some(start) = expected {
                            let end = start.0 + span;
                            profile.reserve_amounts(start, Time(end), &list);
                            change(&mut seconds, start.0, end, &list, -1);
                            reservations.push((start.0, end, list));
                        }
                    }
                    3 => if let Some((from, to, list)) = reservations.pop() {
                        profile.release_amounts(Time(from), Time(to), &list);
                        change(&mut seconds, from.max(now), to, &list, 1);
                    },
                    4 => prop_assert_eq!(profile.fits_during(Time(at), Span(span), &list), fits(&seconds, at, span, &list)),
                    5 => for &(id, n) in &list {
                        let change = if span % 2 == 0 { n as i64 } else { -(n as i64) };
                        profile.alter_resource(Time(at), id, change);
                        seconds[at as usize..].iter_mut().for_each(|levels| levels[id.index()] += change);
                    },
                    _ => {
                        now = at.min(now + 7);
                        profile.advance_to(Time(now));
                    }
                }
            }
        }
    }
}
