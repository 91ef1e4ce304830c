//! Changes of limits that are worth a try at a site.

use super::change::{ChangeList, SiteChange};
use super::change_values::Longer;
use super::premises::Premises;
use drystone::model::Span;
use drystone::statistics::nearest_rank_quantile;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Longest limits that sites have.
const LIMITS: [i64; 7] = [4, 8, 12, 24, 48, 96, 168];
/// Partitions and QOS that are looked at, those with most work first.
const MOST: usize = 3;
/// Longer limits that fewer jobs ask for are not in use.
const FEW: f64 = 0.001;

/// The limits to try: in the partitions with most work a longest limit below that in use, with
/// longer jobs split; for each QOS a bound on the processors of a user; and the present limits of
/// QOS and accounts, doubled and halved. They depend on the site and its jobs, never on what
/// simulations say.
pub fn limit_candidates(premises: &Premises) -> Vec<ChangeList> {
    let mut candidates = partition_candidates(premises);
    if premises.is_slurm {
        candidates.extend(qos_candidates(premises));
        candidates.extend(account_candidates(premises));
    }
    candidates.into_iter().map(|change| ChangeList(vec![change])).collect()
}

fn partition_candidates(premises: &Premises) -> Vec<SiteChange> {
    let mut by_number: BTreeMap<i32, (f64, Vec<i64>)> = BTreeMap::new();
    for (job, truth) in premises.workload.jobs().iter().zip(premises.workload.truth()) {
        let (work, limits) = by_number.entry(job.partition).or_default();
        *work += f64::from(job.procs) * truth.run.as_f64();
        limits.push(job.estimate.0);
    }
    let mut named_partitions: Vec<(Option<String>, f64, Vec<i64>)> = Vec::new();
    for partition in premises.pools.iter().flat_map(|pool| &pool.partitions) {
        if let Some((work, limits)) = by_number.remove(&partition.number) {
            named_partitions.push((Some(partition.name.clone()).filter(|name| !name.is_empty()), work, limits));
        }
    }
    named_partitions.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut candidates = Vec::new();
    for (of, _, mut limits) in named_partitions.into_iter().take(MOST) {
        limits.sort_unstable();
        let in_use = nearest_rank_quantile(&limits, 1.0 - FEW).unwrap_or(0);
        let below = LIMITS.iter().map(|hours| hours * 3_600).rev().filter(|&most| most < in_use);
        candidates.extend(below.take(2).map(|most| SiteChange::LimitMax {
            of: of.clone(),
            most: Span(most),
            longer: Longer::Split(Span::ZERO),
        }));
    }
    candidates
}

fn qos_candidates(premises: &Premises) -> Vec<SiteChange> {
    let procs = premises.pools.iter().map(|pool| pool.procs).max().unwrap_or(0);
    let qos_change = |name: &str, key: &str, value: String| SiteChange::Qos {
        name: name.to_string(),
        limits: vec![(key.to_string(), value)],
    };
    let mut candidates = Vec::new();
    let mut names: Vec<String> = match &premises.limits {
        Some(accounts) => accounts.qos.iter().map(|qos| qos.name.clone()).collect(),
        None => premises.qos.keys().cloned().collect(),
    };
    names.sort_by_key(|name| Reverse(name == "normal"));
    for name in names.iter().take(MOST) {
        let known_qos = premises.limits.as_ref().and_then(|limits| Some(&limits.qos[limits.find_qos(name)?]));
        let double_and_half = |value: u64| [value.saturating_mul(2), (value / 2).max(1)];
        let cpus = known_qos.and_then(|qos| qos.max_tres_user.cpu);
        let bounds = match cpus {
            Some(now) => double_and_half(now),
            None => [u64::from(procs / 2).max(1), u64::from(procs / 4).max(1)],
        };
        candidates.extend(bounds.map(|cpu| qos_change(name, "MaxTRESPU", format!("cpu={cpu}"))));
        let Some(qos) = known_qos else { continue };
        let counts = [("MaxJobsPU", qos.max_jobs_user), ("MaxJobsPA", qos.max_jobs_account)];
        for (key, now) in counts.into_iter().filter_map(|(key, now)| Some((key, now?))) {
            candidates.extend(double_and_half(now.into()).map(|jobs| qos_change(name, key, jobs.to_string())));
        }
        if let Some(now) = qos.limits.grp_tres.cpu {
            candidates.extend(double_and_half(now).map(|cpu| qos_change(name, "GrpTRES", format!("cpu={cpu}"))));
        }
    }
    candidates
}

/// Limits of the first accounts that have any, twice and half as high.
fn account_candidates(premises: &Premises) -> Vec<SiteChange> {
    let limited_assocs = premises.limits.iter().flat_map(|accounts| &accounts.assocs).filter(|assoc| {
        let own = &assoc.limits;
        assoc.user.is_empty() && (own.grp_tres.cpu.is_some() || own.grp_tres.gpu.is_some() || own.grp_jobs.is_some())
    });
    let bounds = limited_assocs.take(MOST).flat_map(|assoc| {
        let own = &assoc.limits;
        let amounts = [
            ("GrpTRES", "cpu=", own.grp_tres.cpu),
            ("GrpTRES", "gres/gpu=", own.grp_tres.gpu),
            ("GrpJobs", "", own.grp_jobs.map(u64::from)),
        ];
        let bounds = amounts.into_iter().filter_map(|(key, of, now)| Some((key, of, now?)));
        bounds.flat_map(move |(key, of, now)| {
            [now.saturating_mul(2), (now / 2).max(1)].map(|value| SiteChange::Account {
                name: assoc.account.clone(),
                limits: vec![(key.to_string(), format!("{of}{value}"))],
            })
        })
    });
    bounds.collect()
}
