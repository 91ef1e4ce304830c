//! Searches of a backfill pass that leave out what cannot succeed.

use super::access::apply_reservations;
use super::backfill::BackfillPass;
use super::bounds::{LateDemand, StartProof};
use super::place_try::{PlaceTry, SearchKind};
use super::{ModelCluster, NodeSet, PassInputs, Pending};
use crate::conf::SchedParams;

impl BackfillPass {
    /// Returns whether the pass has shown that no place for the job can be found.
    pub(super) fn is_excluded(&mut self, cluster: &ModelCluster, job: &Pending, now: i64) -> bool {
        let ask = LateDemand::new(job, cluster.fewest_nodes(job), now);
        if job.demand != 0 || !self.bounds.excludes_demand(&ask) {
            return false;
        }
        self.hold_until_in_window(cluster, now);
        true
    }

    /// Returns whether a job without a place counts among those tested at the first try, and counts
    /// it then.
    pub(super) fn counts_at_once(&mut self, job: &Pending, now: i64) -> bool {
        let until = self.table.first_plans.free_until(usize::from(job.part), job.min_nodes);
        if until <= now.saturating_add(job.limit) {
            return false;
        }
        self.tried += 1;
        self.holds_until = self.holds_until.min(until.saturating_sub(job.limit));
        true
    }

    /// Tries a job's next place. Returns `None` where reservations leave none.
    pub(super) fn try_place(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        (from, clock, limit): (&mut i64, i64, i64),
        (kind, first): (SearchKind, bool),
        (free, left): (&mut NodeSet, Option<&NodeSet>),
    ) -> Option<PlaceTry> {
        let PassInputs { cluster, params, scratch, .. } = desk;
        let number = usize::from(job.part);
        let part = left.unwrap_or(&cluster.machine.parts[number].nodes);
        let need = if kind.skips && !first { cluster.fewest_nodes(job) } else { job.min_nodes };
        free.copy_from(part);
        let overlap = apply_reservations(cluster, params, job, from, limit, free)?;
        let until = (*from).max(clock).saturating_add(limit);
        let is_narrowed = left.is_some() || !cluster.reservations.is_empty();
        let mut later = self.table.search_nodes(free, (number, part), is_narrowed, (*from, until));
        if let Some(end) = overlap.filter(|&end| end < self.window_end && (later == 0 || end < later)) {
            later = end;
        }
        let licences = if params.bf_licenses != 0 { cluster.licences_of(job) } else { &[] };
        let short = self.table.licences_until(licences, *from, until);
        later = short.unwrap_or(later);
        let next = (later > 0 && !kind.unplanned).then_some(later);
        if let Some(demand) = cluster.machine.resources.known_demand(job.demand) {
            free.intersect(&demand.suitable);
        }
        let node_names = cluster.named_nodes(job);
        let counts = short.is_none()
            && (free.count_nodes() as u64) >= u64::from(need)
            && node_names.iter().all(|&node| free.contains(node as usize));
        let time = next.unwrap_or(i64::MAX);
        let fails = !counts || (kind.skips && scratch.most_on(cluster, free, time) < u64::from(job.cpus));
        Some(PlaceTry { next, counts, fails })
    }

    /// A job that finds no place within the window may be thought to start at the end of a running
    /// job, once that lies within.
    fn hold_until_in_window(&mut self, cluster: &ModelCluster, now: i64) {
        let order = cluster.end_order();
        let behind = order.partition_point(|&(end, ..)| end <= self.window_end);
        if let Some(&(end, ..)) = order.get(behind) {
            self.holds_until = self.holds_until.min(now + end - self.window_end);
        }
    }

    /// No place was found for the job: notes what no other job can have either.
    pub(super) fn show_never(&mut self, desk: &mut PassInputs<'_>, job: &Pending, now: i64, proof: &StartProof) {
        if job.demand != 0 {
            return;
        }
        let (number, enough) = (usize::from(job.part), u64::from(job.cpus));
        let ends = desk.scratch.running_ends(desk.cluster);
        let most = self.table.most_room(number, (now, job.limit), proof, enough, ends);
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
            let until = self.table.first_plans.free_until(usize::from(job.part), job.min_nodes);
            self.holds_until = self.holds_until.min(until.saturating_sub(job.limit));
        }
    }
}
