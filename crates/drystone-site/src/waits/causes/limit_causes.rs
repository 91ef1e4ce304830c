//! Limits that held jobs back, found from the recorded jobs where no reasons are recorded.

use super::room::{FreeStep, SizeSpans, fitting, steps};
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
    let mut held = vec![None; waits.len()];
    let places: Vec<u32> = (0..u32::try_from(site.len()).unwrap_or(u32::MAX)).collect();
    let limits = site.limits(&places);
    if limits.is_empty() {
        return held;
    }
    let mut changes: Vec<Vec<(i64, i64, i64)>> = vec![Vec::new(); limits.limits().len()];
    for &place in &places {
        let job = site.bare_job(place as usize);
        let Some(start) = job.start.filter(|_| job.kind.started()) else { continue };
        let end = job.end.unwrap_or(site.manifest.window.until);
        for claim in limits.claims(JobId(place)).iter().filter(|_| end > start) {
            let amount = i64::try_from(claim.amount).unwrap_or(i64::MAX / 4);
            changes[claim.limit as usize].extend([(start, -amount, 0), (end, amount, 0)]);
        }
    }
    // Waits by limit and amount: equal ones share their sums.
    let mut asked: BTreeMap<(u32, u64), SizeSpans> = BTreeMap::new();
    for (at, &(place, begin, end)) in waits.iter().enumerate() {
        for claim in limits.claims(JobId(place as u32)).iter().filter(|claim| claim.binds) {
            asked.entry((claim.limit, claim.amount)).or_default().push((at, begin, end));
        }
    }
    let mut known: BTreeMap<u32, Vec<FreeStep>> = BTreeMap::new();
    for ((limit, amount), spans) in asked {
        let rule = &limits.limits()[limit as usize];
        let most = i64::try_from(rule.most).unwrap_or(i64::MAX / 4);
        let left = known.entry(limit).or_insert_with(|| steps(std::mem::take(&mut changes[limit as usize]), (most, 0)));
        let amount = i64::try_from(amount).unwrap_or(i64::MAX / 4);
        for (at, seconds) in fitting(left, |step| step.units < amount, &spans) {
            let seconds = seconds as f64;
            let longer = held[at].as_ref().is_none_or(|held: &HeldBack| seconds > held.seconds);
            if seconds > 0.0 && longer {
                held[at] = Some(HeldBack { reason: rule.reason.clone(), seconds });
            }
        }
    }
    held
}
