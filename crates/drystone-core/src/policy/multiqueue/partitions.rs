//! Division of the processors among the queues.

use crate::model::Procs;
use serde::{Deserialize, Serialize};

/// The partitions of the machine: how many processors each queue owns and how many of them are
/// idle. They always sum to the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Partitions {
    size: Vec<Procs>,
    idle: Vec<Procs>,
}

impl Partitions {
    /// The machine in equal parts, the remainder to the first queues; `most` partitions in all, of
    /// which the first `queues` own something.
    pub(super) fn new(machine: Procs, queues: usize, most: usize) -> Partitions {
        let parts = queues.max(1) as Procs;
        let size = (0..most.max(1) as Procs).map(|i| match i < parts {
            true => machine / parts + Procs::from(i < machine % parts),
            false => 0,
        });
        let size: Vec<Procs> = size.collect();
        Partitions { idle: size.clone(), size }
    }

    pub(super) fn queue_size(&self, queue: usize) -> Procs {
        self.size[queue]
    }

    pub(super) fn idle_procs(&self, queue: usize) -> Procs {
        self.idle[queue]
    }

    pub(super) fn sizes(&self) -> &[Procs] {
        &self.size
    }

    /// A job of the queue starts: missing processors move over from idle ones of other queues, in
    /// the order of the queues, and stay. What another scheduler starts may need more than are
    /// idle.
    pub(super) fn start_job(&mut self, queue: usize, procs: Procs) {
        let mut missing = procs.saturating_sub(self.idle[queue]);
        for donor in 0..self.size.len() {
            if missing == 0 {
                break;
            }
            if donor != queue {
                let moved_procs = missing.min(self.idle[donor]);
                self.idle[donor] -= moved_procs;
                self.size[donor] -= moved_procs;
                self.idle[queue] += moved_procs;
                self.size[queue] += moved_procs;
                missing -= moved_procs;
            }
        }
        self.idle[queue] -= procs.min(self.idle[queue]);
    }

    pub(super) fn end_job(&mut self, queue: usize, procs: Procs) {
        self.idle[queue] = (self.idle[queue] + procs).min(self.size[queue]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_remainder_goes_to_the_first() {
        assert_eq!(Partitions::new(10, 4, 5).sizes(), [3, 3, 2, 2, 0]);
        let mut p = Partitions::new(10, 4, 4);
        p.start_job(2, 6);
        assert_eq!((p.sizes(), &p.idle[..]), (&[0, 2, 6, 2][..], &[0, 2, 0, 2][..]));
        p.end_job(2, 6);
        p.start_job(0, 10);
        assert_eq!(p.sizes(), [10, 0, 0, 0]);
    }

    proptest! {
        /// Whatever starts and ends, no partition is negative, all sum to the machine, and idle
        /// ones are those not running.
        #[test]
        fn partitions_sum_to_the_machine(
            machine in 1u32..200, queues in 1usize..9,
            ops in prop::collection::vec((any::<bool>(), 0usize..9, 1u32..200), 1..200),
        ) {
            let mut p = Partitions::new(machine, queues, queues);
            let mut running: Vec<(usize, Procs)> = Vec::new();
            for (start, queue, procs) in ops {
                let free = p.idle.iter().sum::<Procs>();
                if start && procs <= free {
                    p.start_job(queue % queues, procs);
                    running.push((queue % queues, procs));
                } else if !running.is_empty() {
                    let (queue, procs) = running.swap_remove(queue % running.len());
                    p.end_job(queue, procs);
                }
                prop_assert_eq!(p.sizes().iter().sum::<Procs>(), machine);
                for q in 0..queues {
                    let busy: Procs = running.iter().filter(|r| r.0 == q).map(|r| r.1).sum();
                    prop_assert_eq!(p.idle_procs(q) + busy, p.queue_size(q));
                }
            }
        }
    }
}
