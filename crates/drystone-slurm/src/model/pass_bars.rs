//! Jobs for which a backfill pass looks for no start, or keeps nothing.

use super::backfill::BackfillPass;
use super::main_pass::BEYOND_PARTITION;
use super::{ModelCluster, NONE, PassVerdict, Pending};
use crate::conf::SchedParams;
use std::collections::BTreeMap;

impl BackfillPass {
    /// Returns the reason why the pass does not even look for a start.
    pub(super) fn find_bar(
        &mut self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        now: i64,
    ) -> Option<PassVerdict> {
        if job.is_beyond_partition() {
            return Some(PassVerdict::Limit(BEYOND_PARTITION));
        }
        if self.array_is_done(job, params) {
            return Some(PassVerdict::Array);
        }
        let stop = params.assoc_limit_stop != 0;
        let before = cluster.ledger.as_ref().and_then(|ledger| ledger.reason_before_alloc(job, &cluster.machine));
        if let Some(reason) = before.filter(|_| !stop) {
            return Some(PassVerdict::Limit(reason));
        }
        if job.array != NONE {
            if self.refused == Some((job.array, job.part)) {
                return Some(PassVerdict::Array);
            }
            self.refused = Some((job.array, job.part));
            if cluster.is_throttled(job) {
                return Some(PassVerdict::Array);
            }
        }
        if let Some(limit) = self.count_job(job, params) {
            return Some(PassVerdict::Skipped(limit));
        }
        if !cluster.machine.parts[usize::from(job.part)].up {
            return Some(PassVerdict::NoRoom);
        }
        if params.bf_licenses == 0 && !cluster.has_licences(job, now) {
            self.loose = true;
            return Some(PassVerdict::Licences);
        }
        None
    }

    /// Returns whether the job's array has as many plans as an array may have. Where it waits in
    /// several partitions, it has one more in each after the first once it has as many as tasks.
    fn array_is_done(&mut self, job: &Pending, params: &SchedParams) -> bool {
        if job.array == NONE {
            return false;
        }
        let plans = if self.array_plans.0 == job.array { self.array_plans.1 } else { 0 };
        if job.several {
            let of = self.array_looks.iter().position(|&(array, part, _)| (array, part) == (job.array, job.part));
            let tasks =
                self.array_looks.iter().find(|&&(array, ..)| array == job.array).map(|&(_, part, tasks)| (part, tasks));
            match of {
                Some(at) => self.array_looks[at].2 += 1,
                None => self.array_looks.push((job.array, job.part, 1)),
            }
            if of.is_some() && tasks.is_some_and(|(first, tasks)| first != job.part && plans >= tasks) {
                return true;
            }
        }
        plans >= params.bf_max_job_array_resv.max(1)
    }

    /// Counts the job with those of its user, partition and account. Returns the limit that skips
    /// it.
    fn count_job(&mut self, job: &Pending, params: &SchedParams) -> Option<&'static str> {
        let most =
            [params.bf_max_job_user_part, params.bf_max_job_part, params.bf_max_job_assoc, params.bf_max_job_user];
        if most == [0; 4] {
            return None;
        }
        let account = if job.assoc == NONE { u64::from(job.account as u32) << 32 } else { u64::from(job.assoc) };
        let counts = [
            self.of_user_part.get(&(job.user, job.part)),
            self.of_part.get(&job.part),
            self.of_account.get(&account),
            self.of_user.get(&job.user),
        ];
        let names = ["bf_max_job_user_part", "bf_max_job_part", "bf_max_job_assoc", "bf_max_job_user"];
        let full = |k: &usize| most[*k] > 0 && counts[*k].is_some_and(|&count| count >= most[*k]);
        if let Some(k) = (0..4).find(full) {
            return Some(names[k]);
        }
        // Only what has a limit is worth counting.
        if most[0] > 0 {
            count_one_more(&mut self.of_user_part, (job.user, job.part));
        }
        if most[1] > 0 {
            count_one_more(&mut self.of_part, job.part);
        }
        if most[2] > 0 {
            count_one_more(&mut self.of_account, account);
        }
        if most[3] > 0 {
            count_one_more(&mut self.of_user, job.user);
        }
        None
    }

    /// Returns whether nothing is to be kept for the job.
    pub(super) fn is_unplanned(&mut self, job: &Pending, now: i64, params: &SchedParams) -> bool {
        let young = params.bf_min_age_reserve > 0 && now - job.submit < params.bf_min_age_reserve;
        if young {
            self.holds_until = self.holds_until.min(job.submit + params.bf_min_age_reserve);
        }
        let plans = *self.plans_of_part.get(&job.part).unwrap_or(&0);
        young
            || job.priority < params.bf_min_prio_reserve
            || (job.several && params.bf_one_resv_per_job != 0 && self.planned.contains(&job.id))
            || (params.bf_job_part_count_reserve > 0 && plans >= params.bf_job_part_count_reserve)
    }
}

/// Counts one more.
fn count_one_more<K: Ord>(counts: &mut BTreeMap<K, i64>, key: K) {
    *counts.entry(key).or_insert(0) += 1;
}
