//! Searches of a backfill pass that leave out what cannot succeed.

use super::backfill::BackfillPass;
use super::bounds::{LateDemand, StartProof};
use super::{ModelCluster, NodeSet, PassInputs, Pending};
use crate::conf::SchedParams;

impl BackfillPass {
    /// Returns whether the pass has shown that no place for the job can be found, and that it
    /// counts among those tested.
    pub(super) fn is_excluded(&mut self, cluster: &ModelCluster, job: &Pending, now: i64) -> bool {
        let ask = LateDemand::new(job, cluster.fewest_nodes(job), now);
        if job.demand != 0 || !self.bounds.excludes(&ask) {
            return false;
        }
        let number = usize::from(job.part);
        let until = self.table.free_until((number, &cluster.machine.parts[number].nodes), job.min_nodes);
        if until <= now.saturating_add(job.limit) {
            return false;
        }
        self.tried += 1;
        self.holds_until = self.holds_until.min(until.saturating_sub(job.limit));
        self.hold_until_in_window(cluster, now);
        true
    }

    /// A job that finds no place within the window may be thought to start at the end of a running
    /// job, once that lies within.
    fn hold_until_in_window(&mut self, cluster: &ModelCluster, now: i64) {
        let order = cluster.order();
        let behind = order.partition_point(|&(end, ..)| end <= self.window_end);
        if let Some(&(end, ..)) = order.get(behind) {
            self.holds_until = self.holds_until.min(now + end - self.window_end);
        }
    }

    /// No place was found for the job: notes what no other job can have either.
    pub(super) fn show_never(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        now: i64,
        proof: &StartProof,
        free: &mut NodeSet,
    ) {
        let PassInputs { cluster, scratch, .. } = desk;
        let number = usize::from(job.part);
        let part = &cluster.machine.parts[number].nodes;
        free.assign(part);
        if let Some(known) = cluster.machine.resources.demand(job.demand) {
            free.intersect(&known.suitable);
        }
        let room = |free: &NodeSet, later| scratch.most_on(cluster, free, later);
        let enough = u64::from(job.cpus);
        let most = self.table.most_room((number, part), free, (now, job.limit), proof, enough, room);
        if most < enough {
            self.bounds.add_never(job, most);
        }
    }

    /// The first try of a job whose search leaves out what cannot succeed: up to when another pass
    /// would find the same.
    pub(super) fn hold_first_try(
        &mut self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        (now, later): (i64, i64),
        (counts, fails): (bool, bool),
    ) {
        if later == 0 || !fails || job.demand != 0 {
            self.hold_until_reached(cluster, params, now, job.limit);
        } else if counts {
            // It may no longer be counted among those tested at this try.
            let number = usize::from(job.part);
            let until = self.table.free_until((number, &cluster.machine.parts[number].nodes), job.min_nodes);
            self.holds_until = self.holds_until.min(until.saturating_sub(job.limit));
        }
    }
}
