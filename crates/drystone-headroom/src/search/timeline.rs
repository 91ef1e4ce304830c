//! Free processors over time, cut into hours: a part of it is found and changed in little time.

use super::place::FreeRoom;
use crate::instance::Instance;
use crate::measure::HeadroomTask;

/// Seconds of a piece.
const HOUR: i64 = 3600;
/// More pieces than this are not worth their memory: pieces become longer.
const MOST: i64 = 1 << 21;
/// A task that began more pieces ago is left where it is: a few that run for weeks would make every
/// look long.
const BACK: usize = 16;
/// Not a task: the machine itself changes.
const MACHINE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct FreeChange {
    time: i64,
    free: i64,
    task: u32,
}

pub(super) struct FreeTimeline {
    begin: i64,
    piece: i64,
    /// Free processors just before each piece.
    before: Vec<i64>,
    /// Changes within each piece, in order of time.
    changes: Vec<Vec<FreeChange>>,
    /// Tasks that start within each piece, with their ends.
    starts: Vec<Vec<(i64, u32)>>,
    /// Number of pieces back at which a task that still runs may have begun.
    back: usize,
}

impl FreeTimeline {
    pub(super) fn new(instance: &Instance, starts: &[i64]) -> FreeTimeline {
        let task_starts = || instance.tasks().iter().zip(starts);
        let begin = instance.first_release().min(starts.iter().copied().min().unwrap_or(0));
        let end = task_starts().map(|(task, &start)| start + task.run).max().unwrap_or(0).max(begin);
        let piece = HOUR.max((end - begin) / MOST + 1);
        let pieces = usize::try_from((end - begin) / piece).unwrap_or(0) + 1;
        let longest = instance.tasks().iter().map(|task| task.run).max().unwrap_or(0);
        let mut timeline = FreeTimeline {
            begin,
            piece,
            before: vec![instance.capacity().procs_at(begin - 1); pieces],
            changes: vec![Vec::new(); pieces],
            starts: vec![Vec::new(); pieces],
            back: usize::try_from(longest / piece).unwrap_or(0).min(BACK) + 1,
        };
        let mut level = instance.capacity().procs_at(begin - 1);
        for &(time, next) in instance.capacity().steps().iter().filter(|(time, _)| (begin..=end).contains(time)) {
            timeline.insert(FreeChange { time, free: next - level, task: MACHINE });
            level = next;
        }
        for (at, (task, &start)) in task_starts().enumerate() {
            timeline.add_task(at as u32, task, start);
        }
        timeline
    }

    fn piece_index(&self, time: i64) -> usize {
        usize::try_from((time - self.begin).max(0) / self.piece).unwrap_or(0).min(self.before.len() - 1)
    }

    fn insert(&mut self, change: FreeChange) {
        let at = self.piece_index(change.time);
        let list = &mut self.changes[at];
        let behind = list.partition_point(|entry| entry.time <= change.time);
        list.insert(behind, change);
        // Changes of tasks come in pairs; only the pieces between are touched then.
        if change.task == MACHINE {
            self.before[at + 1..].iter_mut().for_each(|level| *level += change.free);
        }
    }

    fn remove(&mut self, time: i64, task: u32) {
        let at = self.piece_index(time);
        let list = &mut self.changes[at];
        if let Some(position) = list.iter().position(|change| change.time == time && change.task == task) {
            list.remove(position);
        }
    }

    fn add_task(&mut self, id: u32, task: &HeadroomTask, start: i64) {
        if task.run == 0 {
            return;
        }
        let (end, procs) = (start + task.run, i64::from(task.procs));
        self.insert(FreeChange { time: start, free: -procs, task: id });
        self.insert(FreeChange { time: end, free: procs, task: id });
        let (from, until) = (self.piece_index(start), self.piece_index(end));
        self.before[from + 1..=until].iter_mut().for_each(|level| *level -= procs);
        self.starts[from].push((end, id));
    }

    /// A task starts at another time.
    pub(super) fn shift_task(&mut self, id: u32, task: &HeadroomTask, old: i64, new: i64) {
        let (end, procs) = (old + task.run, i64::from(task.procs));
        self.remove(old, id);
        self.remove(end, id);
        let (from, until) = (self.piece_index(old), self.piece_index(end));
        self.before[from + 1..=until].iter_mut().for_each(|level| *level += procs);
        self.starts[from].retain(|&(_, member)| member != id);
        self.add_task(id, task, new);
    }

    /// Calls `each` with tasks that start in the pieces up to that of `until` and end after `from`.
    pub(super) fn visit_running(&self, from: i64, until: i64, mut each: impl FnMut(u32)) {
        let first = self.piece_index(from).saturating_sub(self.back);
        for list in &self.starts[first..=self.piece_index(until)] {
            list.iter().filter(|(end, _)| *end > from).for_each(|&(_, task)| each(task));
        }
    }

    /// Extracts the free processors between two times.
    pub(super) fn cut_out(&self, from: i64, until: i64, room: &mut FreeRoom) {
        let first = self.piece_index(from);
        let mut level = self.before[first];
        room.clear(from, until, level);
        for list in &self.changes[first..=self.piece_index(until)] {
            for change in list {
                if change.time >= until {
                    break;
                }
                level += change.free;
                room.push_level(change.time, level);
            }
        }
    }

    /// The first second from `from` on at which so many processors are free.
    pub(super) fn first_room(&self, from: i64, procs: i64) -> Option<i64> {
        let first = self.piece_index(from);
        let mut level = self.before[first];
        let mut since = from;
        for list in &self.changes[first..] {
            for change in list {
                if change.time > since && level >= procs {
                    return Some(since);
                }
                level += change.free;
                since = since.max(change.time);
            }
        }
        (level >= procs).then_some(since)
    }
}
