//! Starts of all tasks.

use crate::instance::Instance;
use drystone::model::SharedSort;
use std::fmt;

/// A start for each task, in the order of the tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskSchedule {
    /// Starts in seconds.
    pub starts: Vec<i64>,
}

/// Reason why starts are no schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Infeasible {
    /// Another number of starts than of tasks.
    Unpaired,
    /// A task starts before its release.
    TooEarly {
        /// Place of the task.
        task: usize,
    },
    /// More processors are in use than there are.
    TooMany {
        /// Second concerned.
        time: i64,
        /// So many in use.
        used: i64,
        there: i64,
    },
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Infeasible::Unpaired => f.write_str("another number of starts than of jobs"),
            Infeasible::TooEarly { task } => write!(f, "job {task} starts before it may"),
            Infeasible::TooMany { time, used, there } => {
                write!(f, "{used} processors are in use at {time}, and there are {there}")
            }
        }
    }
}

impl std::error::Error for Infeasible {}

impl Instance {
    /// Returns the cost of a schedule: the sum over all tasks of weight × delay.
    ///
    /// # Panics
    /// A schedule of another number of tasks.
    pub fn schedule_cost(&self, schedule: &TaskSchedule) -> f64 {
        assert_eq!(schedule.starts.len(), self.tasks.len());
        self.tasks.iter().zip(&schedule.starts).map(|(task, &start)| task.delay_cost(start)).sum()
    }
}

impl TaskSchedule {
    /// Checks that the tasks can run at these starts, by one sweep over all starts, ends and
    /// changes of the machine.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_starts(&self, instance: &Instance) -> Result<(), Infeasible> {
        if self.starts.len() != instance.tasks.len() {
            return Err(Infeasible::Unpaired);
        }
        let mut changes: Vec<(i64, i64)> = Vec::with_capacity(2 * self.starts.len());
        for (at, (task, &start)) in instance.tasks.iter().zip(&self.starts).enumerate() {
            if start < task.release {
                return Err(Infeasible::TooEarly { task: at });
            }
            if task.run > 0 {
                changes.push((start, i64::from(task.procs)));
                changes.push((start + task.run, -i64::from(task.procs)));
            }
        }
        changes.extend(instance.capacity.steps().iter().map(|&(time, _)| (time, 0)));
        changes.sort_unstable();
        let mut used_procs = 0;
        let mut at = 0;
        while at < changes.len() {
            let time = changes[at].0;
            while let Some(&(_, change)) = changes.get(at).filter(|change| change.0 == time) {
                used_procs += change;
                at += 1;
            }
            let available_procs = instance.capacity.procs_at(time);
            if used_procs > available_procs {
                return Err(Infeasible::TooMany { time, used: used_procs, there: available_procs });
            }
        }
        Ok(())
    }

    /// All tasks in order of release, each at its earliest place behind the start of the one
    /// before: a schedule to begin with, and no good one.
    pub fn in_order(instance: &Instance) -> TaskSchedule {
        let mut order: Vec<usize> = (0..instance.tasks.len()).collect();
        order.sort_shared_by_key(|&at| (instance.tasks[at].release, at));
        // Changes of what is free from a second on, those in the past summed up.
        let mut free = std::collections::BTreeMap::new();
        let mut level = instance.capacity.before;
        for &(time, next) in instance.capacity.steps() {
            *free.entry(time).or_insert(0) += next - level;
            level = next;
        }
        let mut now = i64::MIN;
        let mut level = instance.capacity.before;
        let mut starts = vec![0; instance.tasks.len()];
        for at in order {
            let task = &instance.tasks[at];
            let procs = i64::from(task.procs);
            now = now.max(task.release);
            // What has changed up to now counts from now on.
            while let Some(entry) = free.first_entry().filter(|entry| *entry.key() <= now) {
                level += entry.remove();
            }
            let (mut start, mut available_procs) = (now, level);
            let mut fits = available_procs >= procs;
            for (&time, &change) in &free {
                if fits && time >= start + task.run.max(1) {
                    break;
                }
                available_procs += change;
                if available_procs < procs {
                    fits = false;
                } else if !fits {
                    (start, fits) = (time, true);
                }
            }
            starts[at] = start;
            now = start;
            while let Some(entry) = free.first_entry().filter(|entry| *entry.key() <= now) {
                level += entry.remove();
            }
            if task.run > 0 {
                level -= procs;
                *free.entry(start + task.run).or_insert(0) += procs;
            }
        }
        TaskSchedule { starts }
    }

    /// The last end; `None` without tasks.
    pub(crate) fn last_end(&self, instance: &Instance) -> Option<i64> {
        instance.tasks.iter().zip(&self.starts).map(|(task, &start)| start + task.run).max()
    }
}
