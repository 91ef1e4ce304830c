//! The data against the machine, without any policy: recorded starts, replayed as they happened.

use super::case::{PoolCase, RecordedTimes};
use super::errors::Starts;
use crate::capacity::Cause;
use crate::jobs::SiteJobFate;
use crate::site::Site;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of the check that the records fit on the machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AsHappened {
    /// Share of the time in which jobs held more than there was: the machine or the sizes are
    /// wrong.
    pub over_capacity: f64,
    /// Most units held beyond what there was.
    pub most_over: u64,
    /// Share of the time of nodes in which jobs had more processors of a node than it has, of nodes
    /// whose jobs name them.
    pub nodes_twice: Option<f64>,
    /// Share of the pool's time in use, of what was up.
    pub utilisation: f64,
    /// Units times seconds that were idle while a job waited that fitted into them, in percent of
    /// all.
    pub idle_while_queued: f64,
    /// That of the replay: a policy also leaves processors idle, for jobs that it plans.
    #[serde(default)]
    pub idle_in_replay: f64,
}

impl AsHappened {
    /// Percent by which the records are idle while a job that fits waits, beyond the replay.
    pub fn idle_beyond_replay(&self) -> f64 {
        (self.idle_while_queued - self.idle_in_replay).max(0.0)
    }
}

/// Something that changes what is held, what there is, or what waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HeldChange {
    /// Units more or less that there are.
    Capacity(i64),
    /// Units less held.
    End(i64),
    /// Units more held.
    Start(i64),
    /// A job of so many units waits.
    Arrive(u32),
    /// It no longer does.
    Leave(u32),
}

/// Replays the recorded starts, and those of a replay for comparison.
pub(super) fn as_happened(site: &Site, case: &PoolCase, starts: &Starts) -> AsHappened {
    let recorded_sums = held_sums(site, case, |_, job| job.start);
    let again = held_sums(site, case, |at, job| match starts.wait.get(at).copied().flatten() {
        Some(wait) if job.simulated => Some(job.arrive.saturating_add(wait)),
        _ => job.start,
    });
    AsHappened {
        nodes_twice: nodes_twice(site, case.pool),
        idle_in_replay: again.finish_sums().idle_while_queued,
        ..recorded_sums.finish_sums()
    }
}

/// Sums over the window, with the starts that `start` gives.
fn held_sums(site: &Site, case: &PoolCase, start: impl Fn(usize, &RecordedTimes) -> Option<i64>) -> HeldSums {
    let window = &site.manifest.window;
    let mut changes: Vec<(i64, HeldChange)> = Vec::new();
    for (at, job) in case.jobs.iter().enumerate() {
        let units = i64::from(job.units);
        let start = start(at, job);
        if let Some(start) = start {
            let end = start.saturating_add(job.holds);
            if end > start {
                changes.push((start, HeldChange::Start(units)));
                changes.push((end, HeldChange::End(-units)));
            }
        }
        let leaves = start.or(job.end).unwrap_or(i64::MAX);
        if leaves > job.arrive {
            changes.push((job.arrive, HeldChange::Arrive(job.units)));
            changes.push((leaves, HeldChange::Leave(job.units)));
        }
    }
    // What reservations keep from others, jobs within them use.
    let is_lost = |cause: Cause| !matches!(cause, Cause::Reservation | Cause::ReservedJob);
    for loss in site.losses.iter().filter(|loss| loss.pool == case.pool && is_lost(loss.cause)) {
        changes.push((loss.begin, HeldChange::Capacity(-i64::from(loss.units))));
        changes.push((loss.end.unwrap_or(i64::MAX), HeldChange::Capacity(i64::from(loss.units))));
    }
    changes.sort_unstable();
    let mut sums = HeldSums { capacity: i64::from(case.units), ..HeldSums::default() };
    let mut last = window.from;
    for (at, change) in changes {
        let now = at.clamp(window.from, window.until);
        sums.pass_time((now - last).max(0));
        last = last.max(now);
        sums.take_change(change);
    }
    sums.pass_time((window.until - last).max(0));
    sums
}

#[derive(Default)]
struct HeldSums {
    capacity: i64,
    held: i64,
    /// Sizes of jobs that wait, with how many have each.
    waiting: BTreeMap<u32, u64>,
    time: f64,
    over: f64,
    most_over: i64,
    used: f64,
    up: f64,
    idle: f64,
}

impl HeldSums {
    fn pass_time(&mut self, seconds: i64) {
        if seconds == 0 {
            return;
        }
        let seconds = seconds as f64;
        let free = self.capacity - self.held;
        self.time += seconds;
        self.used += seconds * self.held as f64;
        self.up += seconds * self.capacity.max(0) as f64;
        if free < 0 {
            self.over += seconds;
            self.most_over = self.most_over.max(-free);
        }
        if self.waiting.keys().next().is_some_and(|&smallest| i64::from(smallest) <= free) {
            self.idle += seconds * free as f64;
        }
    }

    fn take_change(&mut self, change: HeldChange) {
        match change {
            HeldChange::Capacity(by) => self.capacity += by,
            HeldChange::Start(by) | HeldChange::End(by) => self.held += by,
            HeldChange::Arrive(units) => *self.waiting.entry(units).or_default() += 1,
            HeldChange::Leave(units) => {
                if let Some(count) = self.waiting.get_mut(&units) {
                    *count -= 1;
                    if *count == 0 {
                        self.waiting.remove(&units);
                    }
                }
            }
        }
    }

    fn finish_sums(&self) -> AsHappened {
        let share = |part: f64, total: f64| if total > 0.0 { part / total } else { 0.0 };
        AsHappened {
            over_capacity: share(self.over, self.time),
            most_over: self.most_over.unsigned_abs(),
            nodes_twice: None,
            utilisation: share(self.used, self.up),
            idle_while_queued: share(self.idle, self.up) * 100.0,
            idle_in_replay: 0.0,
        }
    }
}

/// Share of the time of nodes that are booked beyond their processors; `None` where no job names
/// its nodes or no node is described.
fn nodes_twice(site: &Site, pool: u16) -> Option<f64> {
    let name = site.manifest.pools[usize::from(pool)].name.as_str();
    let cpus: BTreeMap<&str, u32> = site
        .nodes
        .iter()
        .filter(|node| node.described && node.pool.as_deref() == Some(name))
        .map(|node| (node.name.as_str(), node.cpus))
        .collect();
    if cpus.is_empty() {
        return None;
    }
    let mut moves: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for job in site.jobs().filter(|job| job.pool == pool && job.kind == SiteJobFate::Ran && !job.node_list.is_empty()) {
        let (Some(start), Some(end), Some(count)) = (job.start, job.end, job.cpus) else { continue };
        let names = lists
            .entry(job.node_list.to_string())
            .or_insert_with_key(|list| drystone_slurm::conf::expand_hostlist(list).unwrap_or_default());
        // Of processors that do not divide evenly, no node is sure to have the larger part.
        let share = i64::from(count) / names.len().max(1) as i64;
        for name in names.iter() {
            if let Some((&key, _)) = cpus.get_key_value(name.as_str()) {
                moves.entry(key).or_default().extend([(start, share), (end, -share)]);
            }
        }
    }
    if moves.is_empty() {
        return None;
    }
    let window = &site.manifest.window;
    let total_seconds = (window.until - window.from).max(1) as f64 * cpus.len() as f64;
    let over: f64 = moves.iter().map(|(name, moves)| over_time(moves, i64::from(cpus[name]))).sum();
    Some(over / total_seconds)
}

/// Seconds in which a node is booked beyond what it has.
fn over_time(moves: &[(i64, i64)], has: i64) -> f64 {
    let mut moves = moves.to_vec();
    moves.sort_unstable();
    let (mut held_units, mut last, mut over) = (0, 0, 0.0);
    for (at, by) in moves {
        if held_units > has {
            over += (at - last) as f64;
        }
        held_units += by;
        last = at;
    }
    over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_booked_twice_is_found() {
        assert_eq!(over_time(&[(0, 4), (10, -4), (5, 4), (20, -4)], 4), 5.0);
        assert_eq!(over_time(&[(0, 4), (10, -4), (10, 4), (20, -4)], 4), 0.0);
    }

    #[test]
    fn what_fits_and_waits_is_seen() {
        let mut sums = HeldSums { capacity: 10, ..HeldSums::default() };
        sums.take_change(HeldChange::Start(6));
        sums.take_change(HeldChange::Arrive(5));
        sums.pass_time(10);
        sums.take_change(HeldChange::Arrive(4));
        sums.pass_time(10);
        sums.take_change(HeldChange::Start(5));
        sums.pass_time(10);
        let result = sums.finish_sums();
        assert_eq!((result.over_capacity, result.most_over), (1.0 / 3.0, 1));
        assert_eq!(result.idle_while_queued, 4.0 * 10.0 / 300.0 * 100.0);
    }
}
