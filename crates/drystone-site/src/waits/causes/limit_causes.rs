//! Limits that held jobs back, found from the recorded jobs where no reasons are recorded.

use super::room::{FreeStep, SizeSpans, free_steps, sum_fitting};
use crate::site::Site;
use drystone::model::JobId;
use std::collections::BTreeMap;

/// A limit that left no room for a job.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct HeldBack {
    /// Slurm's word for it.
    pub(super) reason: String,
    /// Seconds of the wait in which the limit was used up.
    pub(super) seconds: f64,
}

/// Returns for each wait the limit that was used up the longest meanwhile, by what ran as recorded.
pub(super) fn held_back(site: &Site, waits: &[(usize, i64, i64)]) -> Vec<Option<HeldBack>> {
    let mut held_waits = vec![None; waits.len()];
    let places: Vec<u32> = (0..u32::try_from(site.len()).unwrap_or(u32::MAX)).collect();
    let limits = site.limits_at(&places);
    if limits.is_empty() {
        return held_waits;
    }
    let mut changes: Vec<Vec<(i64, i64, i64)>> = vec![Vec::new(); limits.limits().len()];
    for &place in &places {
        let job = site.bare_job(place as usize);
        let Some(start) = job.start.filter(|_| job.kind.has_start()) else { continue };
        let end = job.end.unwrap_or(site.manifest.window.until);
        for claim in limits.job_claims(JobId(place)).iter().filter(|_| end > start) {
            let amount = i64::try_from(claim.amount).unwrap_or(i64::MAX / 4);
            changes[claim.limit as usize].extend([(start, -amount, 0), (end, amount, 0)]);
        }
    }
    // Waits by limit and amount: equal ones share their sums.
    let mut spans_by_claim: BTreeMap<(u32, u64), SizeSpans> = BTreeMap::new();
    for (at, &(place, begin, end)) in waits.iter().enumerate() {
        for claim in limits.job_claims(JobId(place as u32)).iter().filter(|claim| claim.binds) {
            spans_by_claim.entry((claim.limit, claim.amount)).or_default().push((at, begin, end));
        }
    }
    let mut steps_by_limit: BTreeMap<u32, Vec<FreeStep>> = BTreeMap::new();
    for ((limit, amount), spans) in spans_by_claim {
        let rule = &limits.limits()[limit as usize];
        let most = i64::try_from(rule.most).unwrap_or(i64::MAX / 4);
        let limit_steps = steps_by_limit
            .entry(limit)
            .or_insert_with(|| free_steps(std::mem::take(&mut changes[limit as usize]), (most, 0)));
        let amount = i64::try_from(amount).unwrap_or(i64::MAX / 4);
        for (at, seconds) in sum_fitting(limit_steps, |step| step.units < amount, &spans) {
            let seconds = seconds as f64;
            let longer = held_waits[at].as_ref().is_none_or(|rival: &HeldBack| seconds > rival.seconds);
            if seconds > 0.0 && longer {
                held_waits[at] = Some(HeldBack { reason: rule.reason.clone(), seconds });
            }
        }
    }
    held_waits
}
