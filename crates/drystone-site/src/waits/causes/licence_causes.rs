//! Licences that jobs lacked while enough processors were free, found from the recorded jobs where
//! no reasons are recorded.

use super::room::{FreeOverTime, SizeSpans, free_steps, sum_fitting};
use crate::job_demands::licences_of;
use crate::site::Site;
use drystone_slurm::conf::SlurmConf;
use drystone_slurm::model::parse_licences;
use std::collections::BTreeMap;

/// A licence that a job lacked.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LackedLicence {
    pub(super) name: String,
    /// Seconds of the wait in which too few were free, and enough processors and GPUs were.
    pub(super) seconds: f64,
}

/// Returns for each wait the licence of which too few were free the longest while the job would
/// have fitted, by what ran as recorded. The licences are those of the configuration, once for all
/// pools.
pub(super) fn lacked_licences(
    site: &Site,
    free: &FreeOverTime,
    waits: &[(usize, i64, i64)],
) -> Vec<Option<LackedLicence>> {
    let mut licence_waits = vec![None; waits.len()];
    let totals: BTreeMap<String, i64> = site
        .slurm_conf()
        .and_then(|text| SlurmConf::parse(text, "slurm.conf").ok())
        .map(|conf| parse_licences(conf.setting_value("Licenses").unwrap_or_default()))
        .into_iter()
        .flatten()
        .map(|(name, count)| (name, i64::from(count)))
        .collect();
    if totals.is_empty() {
        return licence_waits;
    }
    let demands = |at: usize| -> Vec<(String, i64)> {
        let job = site.job_at(at);
        let asks = licences_of(&job.asks).filter(|(name, _)| totals.contains_key(*name));
        asks.map(|(name, count)| (name.to_string(), i64::from(count))).collect()
    };
    let mut changes: BTreeMap<String, Vec<(i64, i64, i64)>> = BTreeMap::new();
    for at in 0..site.len() {
        let job = site.bare_job(at);
        let Some(start) = job.start.filter(|_| job.kind.has_start()) else { continue };
        let end = job.end.unwrap_or(site.manifest.window.until);
        for (name, count) in demands(at).into_iter().filter(|_| end > start) {
            changes.entry(name).or_default().extend([(start, -count, 0), (end, count, 0)]);
        }
    }
    // Waits by licence and number, and by the room that they ask for: equal ones share their sums.
    let mut groups: BTreeMap<(String, i64, u16, u32, u32), SizeSpans> = BTreeMap::new();
    for (place, &(at, begin, end)) in waits.iter().enumerate() {
        let (pool, units, gpus) = FreeOverTime::size_of(site, at);
        for (name, count) in demands(at) {
            groups.entry((name, count, pool, units, gpus)).or_default().push((place, begin, end));
        }
    }
    for ((name, count, pool, units, gpus), spans) in groups {
        let own = changes.get(&name).cloned().unwrap_or_default();
        let free_licences = free_steps(own, (totals.get(&name).copied().unwrap_or(0), 0));
        let joint_steps = free.join_steps(&free_licences, (pool, units, gpus));
        for (place, seconds) in sum_fitting(&joint_steps, |step| step.gpus > 0 && step.units < count, &spans) {
            let seconds = seconds as f64;
            let longer = licence_waits[place].as_ref().is_none_or(|rival: &LackedLicence| seconds > rival.seconds);
            if seconds > 0.0 && longer {
                licence_waits[place] = Some(LackedLicence { name: name.clone(), seconds });
            }
        }
    }
    licence_waits
}
