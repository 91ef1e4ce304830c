//! Jobs of deep queues that need not be looked at: those that do not fit on idle nodes, and those
//! that ask for no less than one that could not start.

use crate::model::{ModelCluster, Pending};
use std::collections::BTreeMap;

/// Idle nodes and processors of partitions, counted when they are asked for.
#[derive(Default)]
pub(super) struct PartRooms {
    /// By partition, and whether only nodes without a job count.
    known: BTreeMap<(u16, bool), (u64, u64)>,
}

impl PartRooms {
    /// Returns whether a job certainly does not fit: too few nodes or processors.
    pub(super) fn lacks_room(&mut self, cluster: &ModelCluster, job: &Pending) -> bool {
        let count = || cluster.idle.count_usable(job.whole, &cluster.machine.parts[usize::from(job.part)].nodes);
        let (nodes, cpus) = *self.known.entry((job.part, job.whole)).or_insert_with(count);
        nodes < u64::from(job.min_nodes) || cpus < u64::from(job.cpus)
    }
}

/// Demands of jobs that cannot start in the rest of a pass.
#[derive(Default)]
pub(super) struct FutileAsks {
    /// Partition, whether for whole nodes, nodes, processors, limit: none of them asks for no less
    /// than another.
    asks: Vec<(u16, bool, u32, u32, i64)>,
}

impl FutileAsks {
    fn ask_key(job: &Pending) -> (u16, bool, u32, u32, i64) {
        (job.part, job.whole, job.min_nodes, job.cpus, job.limit)
    }

    fn is_no_less(more: (u16, bool, u32, u32, i64), less: (u16, bool, u32, u32, i64)) -> bool {
        more.0 == less.0 && more.1 >= less.1 && more.2 >= less.2 && more.3 >= less.3 && more.4 >= less.4
    }

    /// Returns whether a job asks for no less than one that cannot start.
    pub(super) fn covers_job(&self, job: &Pending) -> bool {
        self.asks.iter().any(|&less| FutileAsks::is_no_less(FutileAsks::ask_key(job), less))
    }

    /// A job cannot start.
    pub(super) fn add_job(&mut self, job: &Pending) {
        let own = FutileAsks::ask_key(job);
        self.asks.retain(|&ask| !FutileAsks::is_no_less(ask, own));
        self.asks.push(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_more_for_longer_is_covered() {
        let mut futile = FutileAsks::default();
        futile.add_job(&Pending::new(0, 4, 600));
        let covers = |futile: &FutileAsks, cpus, limit| futile.covers_job(&Pending::new(1, cpus, limit));
        assert!(covers(&futile, 4, 600) && covers(&futile, 9, 700));
        assert!(!covers(&futile, 3, 600) && !covers(&futile, 4, 599));
        futile.add_job(&Pending::new(0, 2, 600));
        assert_eq!(futile.asks.len(), 1, "the first asked for more");
        assert!(covers(&futile, 2, 600) && !futile.covers_job(&Pending { part: 1, ..Pending::new(1, 9, 900) }));
    }
}
