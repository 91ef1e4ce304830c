//! Starts and plans that a backfill pass makes once it has a place for a job.

use super::backfill::{BackfillPass, Over, Start, floor_time};
use super::table::Licences;
use super::{Alloc, ModelCluster, NONE, NodeSet, PassVerdict, Pending};
use crate::conf::SchedParams;

impl BackfillPass {
    /// Plans the job at its start, or tells why not. Returns `None` where plans made before are in
    /// its way.
    pub(super) fn settle_plan(
        &mut self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        (now, start, limit): (i64, i64, i64),
        alloc: Alloc,
        licences: Licences<'_>,
    ) -> Option<PassVerdict> {
        let begin = floor_time(start, params.bf_resolution);
        let end = floor_time(start.saturating_add(limit), params.bf_resolution);
        if start > self.window_end {
            self.holds_until = self.holds_until.min(now + start - self.window_end);
            return Some(PassVerdict::BeyondWindow { start, end, alloc });
        }
        let is_future = start > now;
        if is_future && self.table.has_overlap(begin, end, &alloc.nodes, licences) {
            return None;
        }
        if let Some(reason) = self.limit_of_plan(cluster, params, job, &alloc) {
            return Some(PassVerdict::Limit(reason));
        }
        if cluster.no_reserve(job) {
            return Some(PassVerdict::Unplanned { start: Some(start) });
        }
        Some(self.plan_start(params, job, (start, limit), alloc, (licences, is_future)))
    }

    fn limit_of_plan(
        &self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        alloc: &Alloc,
    ) -> Option<&'static str> {
        let ledger = cluster.ledger.as_ref().filter(|_| params.assoc_limit_stop == 0)?;
        ledger.after_plan(job, alloc, &cluster.machine)
    }

    /// Tries to start the job on any of the free nodes.
    pub(super) fn start_now(
        &mut self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        free: &NodeSet,
        now: i64,
        later: Option<i64>,
    ) -> Start {
        let machine = &cluster.machine;
        let limit_reason = |alloc: Option<&Alloc>| {
            let ledger = cluster.ledger.as_ref()?;
            let gpus = cluster.gpus_counted(job, alloc);
            ledger.reason_before_alloc(job, machine).or_else(|| ledger.reason_after_alloc(job, alloc, gpus, machine))
        };
        cluster.reset_bytes(job);
        let alloc = cluster.idle.place_job(job, free, machine).or_else(|| cluster.place_over(job, free, now));
        let reason = limit_reason(alloc.as_ref());
        if params.assoc_limit_stop != 0 {
            self.limited = Some(reason.is_some());
        }
        if let Some(reason) = reason {
            if params.assoc_limit_stop == 0 {
                return Start::Limited(reason);
            }
            // The time of that is not known: Slurm guesses, and guesses again in the next pass.
            self.holds_until = self.holds_until.min(now + 1);
            let at = later.unwrap_or(now + 500);
            if reason.starts_with("QOSGrp") {
                let qos = if job.qos == NONE { machine.parts[usize::from(job.part)].qos } else { job.qos };
                let until = self.blocked.entry(qos).or_insert(at);
                *until = (*until).max(at);
            }
            return Start::Blocked(at);
        }
        match alloc {
            Some(alloc) => Start::Runs(alloc),
            None if cluster.has_preempted(job.id, now) => Start::Preempts(Vec::new()),
            None => match cluster.preempting.find_victims(cluster, job, free, now) {
                Some((victims, _)) => Start::Preempts(victims),
                None => Start::Preempts(Vec::new()),
            },
        }
    }

    /// Plans a job. `compared`: its nodes were just compared with the table, and are free.
    pub(super) fn plan_start(
        &mut self,
        params: &SchedParams,
        job: &Pending,
        (start, limit): (i64, i64),
        alloc: Alloc,
        (licences, compared): (Licences<'_>, bool),
    ) -> PassVerdict {
        let begin = floor_time(start, params.bf_resolution);
        let end = floor_time(start.saturating_add(limit), params.bf_resolution);
        self.holds_until = self.holds_until.min(start);
        // What reaches over the table's end is cut there. Once the window reaches further, there is
        // more of it.
        for edge in [begin, end].into_iter().filter(|&edge| edge >= self.table.end_time()) {
            self.holds_until = self.holds_until.min(edge - params.bf_window * 60 + 1);
        }
        if job.several {
            self.planned.insert(job.id);
        }
        let plans = self.plans_of_part.entry(job.part).or_default();
        *plans += 1;
        if job.array != NONE {
            let same = self.array_plans.0 == job.array;
            self.array_plans = (job.array, if same { self.array_plans.1 + 1 } else { 1 });
        }
        if self.table.record_count() >= params.record_limit() {
            self.over = Some(Over::TableFull);
        } else {
            let begin = begin.max(self.table.begin_time());
            let until = end.max(begin + params.bf_resolution);
            if compared {
                let is_exact = until == end && self.table.is_ranked();
                self.table.add_fitting(begin, until, licences, if is_exact { start } else { i64::MAX });
            } else {
                self.table.add_plan(begin, until, &alloc.nodes, licences);
            }
            self.twins.clear();
            self.changed = true;
        }
        PassVerdict::Planned { start, end, alloc }
    }
}
