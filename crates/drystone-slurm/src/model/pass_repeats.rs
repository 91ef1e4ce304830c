//! Backfill passes that repeat verdicts of the one before.

use super::backfill::BackfillPass;
use super::past_looks::{PastLook, asks_alike};
use super::{ModelCluster, NONE, PassInputs, PassVerdict, Pending};
use crate::conf::SchedParams;

impl BackfillPass {
    /// Lets the pass repeat verdicts of the one before where these must be the same: no job has
    /// started or ended since, and jobs ask for nothing but processors. The pass takes no time.
    pub fn repeat_verdicts(&mut self, cluster: &ModelCluster, params: &SchedParams) {
        let past = &mut self.past;
        // A job that is past its limit is thought to end any moment.
        let is_quiet = cluster.first_end().is_none_or(|first| self.began < first);
        past.is_on = is_quiet
            && is_plain_site(cluster, params)
            && cluster.completing.is_empty()
            && cluster.short_jobs().is_empty();
        past.done = 0;
        if !past.is_on || past.state != cluster.change_count() || past.up != *cluster.nodes_in_service() {
            past.looks.clear();
            past.state = cluster.change_count();
            past.up.copy_from(cluster.nodes_in_service());
        }
    }

    /// Returns the verdict of the pass before on the next job, if it must be the same again, and
    /// plans the job as that pass did.
    pub(super) fn repeat_look(&mut self, desk: &PassInputs<'_>, job: &Pending, now: i64) -> Option<PassVerdict> {
        let past = self.past.looks.get(self.past.done).filter(|_| self.past.is_on)?;
        if now >= past.holds_until || !asks_alike(&past.job, job) || !is_plain_job(desk.cluster, job) {
            return None;
        }
        let (is_unplanned, try_count, holds_until, late) = (past.unplanned, past.tried, past.holds_until, past.late);
        let verdict = past.verdict.clone();
        if self.is_unplanned(job, now, desk.params) != is_unplanned {
            return None;
        }
        self.past.done += 1;
        self.tried += try_count;
        self.holds_until = self.holds_until.min(holds_until);
        late.into_iter().for_each(|late| self.bounds.add_demand(late));
        if let PassVerdict::Planned { start, alloc, .. } = &verdict {
            return Some(self.plan_start(desk.params, job, (*start, job.limit), alloc.clone(), (&[], false)));
        }
        Some(verdict)
    }

    /// Notes the verdict on a job: whether it was to have no plan, how many jobs the look added to
    /// those tested, and the time before which the verdict is the same.
    pub(super) fn note_look(
        &mut self,
        cluster: &ModelCluster,
        job: &Pending,
        (unplanned, tried, holds_until): (bool, i64, i64),
        verdict: &PassVerdict,
    ) {
        let late = self.past.late.take();
        if !self.past.is_on {
            return;
        }
        if self.loose || !is_plain_job(cluster, job) {
            return self.past.stop_repeats();
        }
        let is_cut = matches!(verdict, PassVerdict::Planned { end, .. } if *end >= self.table.end_time());
        let (job, verdict) = (job.clone(), verdict.clone());
        self.past.note_verdict(PastLook { job, unplanned, verdict, tried, holds_until, late, is_cut });
    }
}

/// Returns whether nothing but the number of tested jobs ends a pass or makes it skip a job.
pub(crate) fn is_plain_site(cluster: &ModelCluster, params: &SchedParams) -> bool {
    let skips = [params.bf_max_job_user_part, params.bf_max_job_part, params.bf_max_job_assoc, params.bf_max_job_user];
    cluster.idle.is_single()
        && !cluster.idle.has_shared()
        && cluster.ledger.is_none()
        && cluster.reservations.is_empty()
        && !cluster.preempting.is_on()
        && skips == [0; 4]
        && params.bf_licenses == 0
        && params.bf_running_job_reserve == 0
        && params.assoc_limit_stop == 0
}

/// Returns whether a job is tested whenever the pass reaches it.
pub(crate) fn is_plain_job(cluster: &ModelCluster, job: &Pending) -> bool {
    job.demand == 0
        && job.array == NONE
        && !job.several
        && !job.is_beyond_partition()
        && cluster.machine.parts[usize::from(job.part)].up
}
