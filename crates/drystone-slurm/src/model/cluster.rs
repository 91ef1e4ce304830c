//! What runs where.

use super::{Alloc, Idle, Machine, NodeSet, Pending, Running};
use serde::{Deserialize, Serialize};

/// The machine with its running jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    /// Nodes and partitions.
    pub machine: Machine,
    /// Idle processors.
    pub idle: Idle,
    /// Running jobs by the end of their limits, then number.
    running: Vec<Running>,
    /// Nodes that are not yet done with a job that has ended.
    pub completing: NodeSet,
    /// Seconds that a job past its limit is thought to need to die.
    pub kill_wait: i64,
    /// Widens the search for a start by so many seconds each time; 0: doubles it.
    pub window_linear: i64,
}

/// Seconds of the first group of ends that [`Cluster::will_run`] takes together.
const FIRST_WINDOW: i64 = 30;

impl Cluster {
    /// A machine without jobs.
    #[must_use]
    pub fn new(machine: Machine) -> Cluster {
        let (idle, completing) = (Idle::new(&machine), NodeSet::empty(machine.nodes()));
        Cluster { machine, idle, running: Vec::new(), completing, kill_wait: 30, window_linear: 0 }
    }

    /// The running jobs by the end of their limits.
    #[must_use]
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// A job starts.
    pub fn start(&mut self, id: u32, end: i64, alloc: Alloc) {
        self.idle.take(&alloc);
        let at = self.running.partition_point(|r| (r.end, r.id) < (end, id));
        self.running.insert(at, Running { id, end, alloc });
    }

    /// A job ends. Answers what it had, or `None` if it does not run.
    pub fn end(&mut self, id: u32) -> Option<Alloc> {
        let at = self.running.iter().position(|r| r.id == id)?;
        let gone = self.running.remove(at);
        self.idle.give(&gone.alloc, &self.machine);
        Some(gone.alloc)
    }

    /// The end of a running job's limit has changed.
    pub fn reschedule(&mut self, id: u32, end: i64) {
        if let Some(at) = self.running.iter().position(|r| r.id == id) {
            let mut job = self.running.remove(at);
            job.end = end;
            let at = self.running.partition_point(|r| (r.end, r.id) < (end, id));
            self.running.insert(at, job);
        }
    }

    /// When running jobs are thought to end, in order, with their places in [`Cluster::running`]. One that is past its limit is
    /// about to be killed.
    pub(crate) fn ends(&self, now: i64, into: &mut Vec<(i64, u32)>) {
        into.clear();
        let thought = |end: i64| if end <= now { (end + self.kill_wait).max(now + 1) } else { end };
        into.extend(self.running.iter().zip(0..).map(|(r, index)| (thought(r.end), index)));
        if self.running.first().is_some_and(|first| first.end <= now) {
            into.sort_unstable();
        }
    }

    /// When a job could start on the allowed nodes if nothing else was planned, and where. Late by design: ends within a window
    /// that doubles are taken together, and the last of them counts. `ends` are [`Cluster::ends`], `scratch` is room.
    pub(crate) fn will_run(
        &self,
        job: &Pending,
        allowed: &NodeSet,
        now: i64,
        ends: &[(i64, u32)],
        scratch: &mut Idle,
    ) -> Option<(i64, Alloc)> {
        if let Some(alloc) = self.idle.place(job, allowed) {
            return Some((now, alloc));
        }
        scratch.assign(&self.idle);
        let (mut window, mut mark) = (FIRST_WINDOW, 0);
        let mut next = 0;
        while next < ends.len() {
            let last = self.release_group(allowed, ends, &mut next, &mut mark, window, scratch)?;
            window = self.widen(window);
            while ends.get(next).is_some_and(|&(end, _)| end > mark + window) {
                window = self.widen(window);
            }
            if let Some(alloc) = scratch.place(job, allowed) {
                return Some((if last <= now { now + 1 } else { last }, alloc));
            }
        }
        None
    }

    fn widen(&self, window: i64) -> i64 {
        if self.window_linear > 0 { window + self.window_linear } else { window.saturating_mul(2) }
    }

    /// Releases the next jobs whose ends are taken together. Answers the last end; `None` if no job was left that touches the
    /// allowed nodes.
    fn release_group(
        &self,
        allowed: &NodeSet,
        ends: &[(i64, u32)],
        next: &mut usize,
        mark: &mut i64,
        window: i64,
        scratch: &mut Idle,
    ) -> Option<i64> {
        let mut last = None;
        while let Some(&(end, index)) = ends.get(*next) {
            *next += 1;
            let job = &self.running[index as usize];
            if !job.alloc.nodes.meets(allowed) {
                continue;
            }
            if *mark == 0 {
                *mark = end + FIRST_WINDOW - end % FIRST_WINDOW;
            }
            scratch.give(&job.alloc, &self.machine);
            last = Some(end);
            if ends.get(*next).is_some_and(|&(end, _)| end > *mark + window) {
                break;
            }
        }
        last
    }
}
