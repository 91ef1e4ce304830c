//! Causes of recorded waits: the last reason of each job, and the room that there was meanwhile.

mod licence_causes;
mod limit;
mod limit_causes;
mod room;

use crate::job_demands::licences_of;
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::SharedSort;
use licence_causes::lacked_licences;
use limit::{HeldLimit, KnownLimits};
use room::FreeOverTime;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A kind of cause.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitCauseKind {
    QosLimit,
    /// A limit of an account or user.
    AssocLimit,
    /// A limit of a partition, or one that is down.
    Partition,
    /// Fewer processors or GPUs were free than the job asks for.
    NoRoom,
    /// Enough were free by count: the order, memory, features, or scattered nodes.
    RoomByCount,
    Dependency,
    /// Held by its user or an administrator.
    Hold,
    /// It was not to begin earlier.
    BeginTime,
    /// Its array runs few tasks at once.
    ArrayLimit,
    Licences,
    /// The nodes that it needs were down, drained or reserved.
    NodesOut,
    /// Another reason of Slurm.
    Other,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WaitCause {
    pub kind: WaitCauseKind,
    /// Holder of the limit: a QOS, an account or a partition; the licence; else empty.
    pub of: String,
    /// User whose limit it is, of an association of the account in `of`; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of_user: String,
    /// The limit as `sacctmgr` writes it, `MaxTRESPU=cpu=8`; empty where it is not known.
    pub limit: String,
    /// Slurm's word for it; empty where room is the cause.
    pub reason: String,
    pub jobs: u64,
    /// Seconds that these jobs waited for it, in all.
    pub seconds: f64,
    /// Share of all waiting.
    pub share: f64,
    /// Seconds of that in which enough processors and GPUs for the job were free.
    pub free_seconds: f64,
    pub mean: f64,
    pub median: f64,
    pub p95: f64,
    /// User with the most of it; empty where none is known.
    pub user: String,
    /// Part of this cause that is the user's.
    pub user_share: f64,
    /// Pool with the most of it.
    pub pool: u16,
    /// Job that waited longest for it.
    pub job: String,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CauseKey {
    kind: WaitCauseKind,
    held: HeldLimit,
    reason: String,
}

#[derive(Default)]
struct CauseSum {
    waits: Vec<f64>,
    free: f64,
    users: BTreeMap<String, f64>,
    pools: BTreeMap<u16, f64>,
    /// Longest wait, and the place of its job.
    longest: (f64, usize),
}

impl CauseSum {
    fn add_wait(&mut self, (at, job): (usize, &SiteJob<'_>), seconds: f64, free: f64) {
        self.waits.push(seconds);
        self.free += free;
        *self.users.entry(job.user.to_string()).or_default() += seconds;
        *self.pools.entry(job.pool).or_default() += seconds;
        if self.waits.len() == 1 || seconds > self.longest.0 {
            self.longest = (seconds, at);
        }
    }

    fn finish_cause(mut self, site: &Site, key: CauseKey, total: f64) -> WaitCause {
        self.waits.sort_unstable_by(f64::total_cmp);
        let count = self.waits.len();
        let seconds: f64 = self.waits.iter().sum();
        let quantile = |share: f64| self.waits[((share * count as f64).ceil() as usize).max(1) - 1];
        // The first of equals, so that the order of users decides.
        let mut user = (String::new(), 0.0);
        for (name, own) in self.users {
            if own > user.1 {
                user = (name, own);
            }
        }
        let pool = self.pools.into_iter().fold((0, -1.0), |most, own| if own.1 > most.1 { own } else { most }).0;
        let CauseKey { kind, held: HeldLimit { of, user: of_user, limit }, reason } = key;
        WaitCause {
            kind,
            of,
            of_user,
            limit,
            reason,
            jobs: count as u64,
            seconds,
            share: seconds / total,
            free_seconds: self.free,
            mean: seconds / count as f64,
            median: quantile(0.5),
            p95: quantile(0.95),
            user_share: user.1 / seconds,
            user: user.0,
            pool,
            job: site.job_at(self.longest.1).display_name(),
        }
    }
}

fn asked_licences(job: &SiteJob<'_>) -> String {
    licences_of(&job.asks).map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// Slurm's word of a reason: `(ReqNodeNotAvail, UnavailableNodes:n1)` is `ReqNodeNotAvail`.
fn word_of(reason: &str) -> &str {
    reason.trim_start_matches('(').split([',', ' ', ')', ':']).next().unwrap_or_default()
}

/// The kind of a reason; `None` for one of the machine: no room, or the order of the queue.
fn kind_of(word: &str) -> Option<WaitCauseKind> {
    let begins = |words: &[&str]| words.iter().any(|own| word.starts_with(own));
    match word {
        "" | "None" | "Priority" | "Resources" | "Cleaning" => None,
        _ if begins(&["QOS"]) => Some(WaitCauseKind::QosLimit),
        _ if begins(&["Assoc", "MaxJobs", "MaxSubmit", "JobArrayTaskAssoc"]) => Some(WaitCauseKind::AssocLimit),
        _ if begins(&["Partition"]) => Some(WaitCauseKind::Partition),
        _ if begins(&["Dependency"]) => Some(WaitCauseKind::Dependency),
        _ if begins(&["JobHeld"]) => Some(WaitCauseKind::Hold),
        _ if begins(&["BeginTime"]) => Some(WaitCauseKind::BeginTime),
        _ if begins(&["JobArrayTaskLimit"]) => Some(WaitCauseKind::ArrayLimit),
        _ if begins(&["Licenses"]) => Some(WaitCauseKind::Licences),
        _ if begins(&["ReqNodeNotAvail", "NodeDown", "Reservation", "Nodes_required", "FrontEndDown"]) => {
            Some(WaitCauseKind::NodesOut)
        }
        _ => Some(WaitCauseKind::Other),
    }
}

/// Returns the causes of the waits of these jobs, each with its place, the beginning and the end of
/// its wait; the largest first. A job whose last reason is none of the machine's waited for that
/// reason all the time; the wait of another one divides into time without room and time with it.
///
/// Without any recorded reason, the time in which a limit was used up by what ran counts as a
/// wait for the limit, and that in which a licence was as one for the licence.
///
/// Cost: O(n log n) for n jobs of few sizes.
pub(super) fn wait_causes(site: &Site, jobs: &[(usize, i64, i64)], has_reasons: bool) -> Vec<WaitCause> {
    let real_waits: Vec<(usize, i64, i64)> = jobs.iter().copied().filter(|(_, begin, end)| end > begin).collect();
    let total_wait: f64 = real_waits.iter().map(|(_, begin, end)| (end - begin) as f64).sum();
    let room = FreeOverTime::for_site(site);
    let free = room.free_for(site, &real_waits);
    let limit_holds =
        if has_reasons { vec![None; real_waits.len()] } else { limit_causes::held_back(site, &real_waits) };
    let lacked_licence =
        if has_reasons { vec![None; real_waits.len()] } else { lacked_licences(site, &room, &real_waits) };
    let limits = KnownLimits::for_site(site);
    let mut sums: BTreeMap<CauseKey, CauseSum> = BTreeMap::new();
    for (((&(at, begin, end), free), limit_hold), licence_lack) in
        real_waits.iter().zip(free).zip(limit_holds).zip(lacked_licence)
    {
        let job = site.job_at(at);
        let wait = (end - begin) as f64;
        let word = word_of(&job.reason);
        let bare = |kind| CauseKey { kind, held: HeldLimit::default(), reason: String::new() };
        match kind_of(word) {
            Some(kind) => {
                let held_limit = match kind {
                    WaitCauseKind::Licences => HeldLimit { of: asked_licences(&job), ..HeldLimit::default() },
                    _ => limits.find_limit(kind, word, &job),
                };
                let key = CauseKey { kind, held: held_limit, reason: word.to_string() };
                sums.entry(key).or_default().add_wait((at, &job), wait, free);
            }
            None => {
                let mut rest = wait;
                if let Some(hold) = limit_hold {
                    let kind = kind_of(&hold.reason).unwrap_or(WaitCauseKind::Other);
                    let held_limit = limits.find_limit(kind, &hold.reason, &job);
                    let key = CauseKey { kind, held: held_limit, reason: hold.reason };
                    sums.entry(key).or_default().add_wait((at, &job), hold.seconds, hold.seconds.min(free));
                    rest -= hold.seconds;
                }
                let crowded_seconds = (wait - free).min(rest);
                let mut by_count = rest - crowded_seconds;
                if let Some(lack) = licence_lack.filter(|_| by_count > 0.0) {
                    let seconds = lack.seconds.min(by_count);
                    let reason = "Licenses".to_string();
                    let key = CauseKey {
                        kind: WaitCauseKind::Licences,
                        held: HeldLimit { of: lack.name, ..HeldLimit::default() },
                        reason,
                    };
                    sums.entry(key).or_default().add_wait((at, &job), seconds, seconds);
                    by_count -= seconds;
                }
                let parts =
                    [(WaitCauseKind::NoRoom, crowded_seconds, 0.0), (WaitCauseKind::RoomByCount, by_count, by_count)];
                for (kind, seconds, free) in parts.into_iter().filter(|(_, seconds, _)| *seconds > 0.0) {
                    sums.entry(bare(kind)).or_default().add_wait((at, &job), seconds, free);
                }
            }
        }
    }
    let mut causes: Vec<WaitCause> =
        sums.into_iter().map(|(key, sum)| sum.finish_cause(site, key, total_wait)).collect();
    causes.sort_shared_by(|a, b| b.seconds.total_cmp(&a.seconds));
    causes
}

/// Returns for each wait, of a job of the site from one time to another, the seconds in which a
/// limit of its had no room for it beside what ran as recorded.
pub(crate) fn limit_seconds(site: &Site, waits: &[(usize, i64, i64)]) -> Vec<f64> {
    limit_causes::held_back(site, waits).into_iter().map(|hold| hold.map_or(0.0, |hold| hold.seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_kinds() {
        for (reason, kind) in [
            ("", None),
            ("None", None),
            ("(Priority)", None),
            ("Resources", None),
            ("QOSMaxCpuPerUserLimit", Some(WaitCauseKind::QosLimit)),
            ("(QOSGrpNodeLimit)", Some(WaitCauseKind::QosLimit)),
            ("AssocGrpCpuLimit", Some(WaitCauseKind::AssocLimit)),
            ("MaxJobsPerAccount", Some(WaitCauseKind::AssocLimit)),
            ("PartitionTimeLimit", Some(WaitCauseKind::Partition)),
            ("DependencyNeverSatisfied", Some(WaitCauseKind::Dependency)),
            ("JobHeldUser", Some(WaitCauseKind::Hold)),
            ("BeginTime", Some(WaitCauseKind::BeginTime)),
            ("JobArrayTaskLimit", Some(WaitCauseKind::ArrayLimit)),
            ("Licenses", Some(WaitCauseKind::Licences)),
            ("ReqNodeNotAvail, UnavailableNodes:n1", Some(WaitCauseKind::NodesOut)),
            ("(Nodes required for job are DOWN)", Some(WaitCauseKind::Other)),
            ("BurstBufferResources", Some(WaitCauseKind::Other)),
        ] {
            assert_eq!(kind_of(word_of(reason)), kind, "{reason}");
        }
    }
}
