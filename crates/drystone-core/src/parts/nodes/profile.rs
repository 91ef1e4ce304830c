//! Free amounts of every node over time.

use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};

/// Free amounts of every node as a step function; the last step lasts for ever.
///
/// A search costs O(steps² · nodes) at worst, for a job that is planned for long.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NodeProfile {
    /// Beginning of each step, ascending.
    steps: Vec<(Time, NodeLevels)>,
}

impl NodeProfile {
    /// Makes it that of running jobs: `free` now, more as each of `ends`, in ascending order of
    /// time, leaves its seat. Ends that are past count as now.
    pub fn reset<'a>(
        &mut self,
        now: Time,
        free: &NodeLevels,
        ends: impl Iterator<Item = (Time, &'a JobNodeNeed, &'a NodeSeat)>,
        floor: &NodeFloor,
    ) {
        self.steps.clear();
        let (mut at, mut levels) = (now, free.clone());
        for (end, need, seat) in ends {
            if end > at {
                self.steps.push((at, levels.clone()));
                at = end;
            }
            levels.change(need, seat, floor, 1);
        }
        self.steps.push((at, levels));
    }

    /// The earliest time from `from` on at which a job fits for so long, an instant at least, and
    /// its nodes then; `None` for never.
    #[must_use]
    pub fn earliest(&self, need: &JobNodeNeed, span: Span, from: Time, floor: &NodeFloor) -> Option<(Time, NodeSeat)> {
        let span = span.max(Span(1));
        let first = self.steps.partition_point(|step| step.0 <= from).saturating_sub(1);
        let mut least = NodeLevels::default();
        let mut next = first;
        'starts: while next < self.steps.len() {
            let at = next;
            next += 1;
            let start = self.steps[at].0.max(from);
            // A step with too few cores in all rules out every start whose time it lies in.
            let end = start.saturating_add(span);
            let during = self.steps[at + 1..].partition_point(|step| step.0 < end);
            let lacks = |step: &(Time, NodeLevels)| step.1.procs() < need.procs();
            if let Some(last) = self.steps[at..=at + during].iter().rposition(lacks) {
                next = at + last + 1;
                continue;
            }
            least.copy_from(&self.steps[at].1);
            let mut suffices = fits(need, floor, &least);
            for (begin, levels) in &self.steps[at + 1..] {
                if !suffices {
                    continue 'starts;
                }
                if *begin >= start.saturating_add(span) {
                    break;
                }
                least.lower_to(levels);
                suffices = fits(need, floor, &least);
            }
            if let Some(seat) = floor.place(need, &least) {
                return Some((start, seat));
            }
        }
        None
    }

    /// Returns whether a seat is free from `from` on for so long.
    #[must_use]
    pub fn admits(&self, need: &JobNodeNeed, seat: &NodeSeat, (from, to): (Time, Time), floor: &NodeFloor) -> bool {
        let first = self.steps.partition_point(|step| step.0 <= from).saturating_sub(1);
        let during = self.steps[first..].iter().enumerate().take_while(|(at, step)| *at == 0 || step.0 < to);
        let mut least = NodeLevels::default();
        for (at, (_, levels)) in during {
            if at == 0 {
                least.copy_from(levels);
            } else {
                least.lower_to(levels);
            }
        }
        least.admits(need, seat, floor)
    }

    /// Takes a seat from `from` until `to` (`sign` −1), or gives it back (+1).
    pub fn change(
        &mut self,
        need: &JobNodeNeed,
        seat: &NodeSeat,
        (from, to): (Time, Time),
        floor: &NodeFloor,
        sign: i64,
    ) {
        let from = from.max(self.steps[0].0);
        if to <= from {
            return;
        }
        let (first, last) = (self.split(from), self.split(to));
        self.steps[first..last].iter_mut().for_each(|(_, levels)| levels.change(need, seat, floor, sign));
    }

    /// Makes a step begin at this time, which is not before the first one, and answers which. The
    /// end of all times begins none.
    fn split(&mut self, time: Time) -> usize {
        let step = self.steps.partition_point(|(begin, _)| *begin < time);
        if time < Time::MAX && self.steps.get(step).is_none_or(|(begin, _)| *begin != time) {
            let levels = self.steps[step - 1].1.clone();
            self.steps.insert(step, (time, levels));
        }
        step
    }

    /// Forgets what lies before the present.
    pub fn advance(&mut self, now: Time) {
        let step = self.steps.partition_point(|step| step.0 <= now).saturating_sub(1);
        self.steps.drain(..step);
        if let Some(first) = self.steps.first_mut() {
            first.0 = first.0.max(now);
        }
    }
}

/// Returns whether a job fits, without choosing nodes.
fn fits(need: &JobNodeNeed, floor: &NodeFloor, free: &NodeLevels) -> bool {
    let (mut held, wanted) = (0, u64::from(need.pieces));
    for node in 0..floor.len() {
        held += u64::from(need.room(floor, free.row(node), node));
        if held >= wanted {
            return true;
        }
    }
    false
}
