//! Limits behind Slurm's reasons.

use super::WaitCauseKind;
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone_slurm::accounts::{AccountLimits, Accounts, Qos, Tres};
use std::collections::BTreeMap;

pub(super) struct KnownLimits {
    accounts: Option<Accounts>,
    /// QOS of partitions.
    partitions: BTreeMap<String, String>,
}

/// A limit, and its holder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct HeldLimit {
    /// A QOS, an account or a partition.
    pub(super) of: String,
    /// The user of an association with a limit of its own.
    pub(super) user: String,
    /// As `sacctmgr` writes it; empty where it is not known.
    pub(super) limit: String,
}

impl HeldLimit {
    fn new(of: impl Into<String>, limit: impl Into<String>) -> HeldLimit {
        HeldLimit { of: of.into(), user: String::new(), limit: limit.into() }
    }
}

/// Jobs that a limit counts together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LimitReach {
    Group,
    User,
    Account,
    Job,
}

/// Quantity that a limit bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LimitedAmount {
    Cpu,
    Memory,
    Node,
    Gres,
    Billing,
    Jobs,
    Submits,
    Wall,
}

/// The limit that a reason names: `QOSMaxCpuPerUserLimit` is one of processors of a user. `None`
/// for one that no field of `sacctmgr show qos` is known for.
fn limit_of(word: &str) -> Option<(LimitReach, LimitedAmount)> {
    let rest = word.strip_prefix("QOS").or_else(|| word.strip_prefix("Assoc"))?;
    // Minutes are used up over time: no bound of what runs at once.
    if rest.contains("Minutes") || rest.contains("RunTime") || rest.starts_with("Min") {
        return None;
    }
    let reach = match rest {
        _ if rest.starts_with("Grp") => LimitReach::Group,
        _ if rest.contains("PerUser") || rest.contains("PU") => LimitReach::User,
        _ if rest.contains("PerAccount") || rest.contains("PA") => LimitReach::Account,
        _ => LimitReach::Job,
    };
    let amounts = [
        ("Cpu", LimitedAmount::Cpu),
        ("Mem", LimitedAmount::Memory),
        ("Node", LimitedAmount::Node),
        ("GRES", LimitedAmount::Gres),
        ("Billing", LimitedAmount::Billing),
        ("Submit", LimitedAmount::Submits),
        ("Jobs", LimitedAmount::Jobs),
        ("Wall", LimitedAmount::Wall),
    ];
    amounts.into_iter().find(|(name, _)| rest.contains(name)).map(|(_, amount)| (reach, amount))
}

/// The limit of a resource as `sacctmgr` writes it.
fn tres_text(field: &str, tres: &Tres, amount: LimitedAmount) -> Option<String> {
    let (name, value) = match amount {
        LimitedAmount::Cpu => ("cpu", tres.cpu.map(|n| n.to_string())),
        LimitedAmount::Memory => ("mem", tres.mem.map(|megabytes| format!("{megabytes}M"))),
        LimitedAmount::Node => ("node", tres.node.map(|n| n.to_string())),
        LimitedAmount::Gres => ("gres/gpu", tres.gpu.map(|n| n.to_string())),
        LimitedAmount::Billing => ("billing", tres.billing.map(|n| n.to_string())),
        LimitedAmount::Jobs | LimitedAmount::Submits | LimitedAmount::Wall => return None,
    };
    Some(format!("{field}={name}={}", value?))
}

/// The limit of devices with a type as `sacctmgr` writes it, where there is only one.
fn named_text(field: &str, limits: &[(String, u64)], amount: LimitedAmount) -> Option<String> {
    let mut devices = limits.iter().filter(|(name, _)| name.starts_with("gres/"));
    let (name, most) = devices.next().filter(|_| amount == LimitedAmount::Gres)?;
    devices.next().is_none().then(|| format!("{field}={name}={most}"))
}

/// A limit of a group or a job, which QOS and associations share.
fn shared_text(limits: &AccountLimits, reach: LimitReach, amount: LimitedAmount) -> Option<String> {
    let plain = |field: &str, value: Option<u32>| value.map(|value| format!("{field}={value}"));
    match (reach, amount) {
        (LimitReach::Group, LimitedAmount::Jobs) => plain("GrpJobs", limits.grp_jobs),
        (LimitReach::Group, LimitedAmount::Submits) => plain("GrpSubmit", limits.grp_submit),
        (LimitReach::Group, _) => {
            tres_text("GrpTRES", &limits.grp_tres, amount).or_else(|| named_text("GrpTRES", &limits.grp_named, amount))
        }
        (_, LimitedAmount::Jobs) => plain("MaxJobs", limits.max_jobs),
        (_, LimitedAmount::Submits) => plain("MaxSubmit", limits.max_submit),
        _ => tres_text("MaxTRES", &limits.max_tres, amount),
    }
}

fn qos_text(qos: &Qos, reach: LimitReach, amount: LimitedAmount) -> Option<String> {
    let plain = |field: &str, value: Option<u32>| value.map(|value| format!("{field}={value}"));
    match (reach, amount) {
        (LimitReach::User, LimitedAmount::Jobs) => plain("MaxJobsPU", qos.max_jobs_user),
        (LimitReach::User, LimitedAmount::Submits) => plain("MaxSubmitPU", qos.max_submit_user),
        (LimitReach::User, _) => tres_text("MaxTRESPU", &qos.max_tres_user, amount)
            .or_else(|| named_text("MaxTRESPU", &qos.max_named_user, amount)),
        (LimitReach::Account, LimitedAmount::Jobs) => plain("MaxJobsPA", qos.max_jobs_account),
        (LimitReach::Account, LimitedAmount::Submits) => plain("MaxSubmitPA", qos.max_submit_account),
        (LimitReach::Account, _) => tres_text("MaxTRESPA", &qos.max_tres_account, amount)
            .or_else(|| named_text("MaxTRESPA", &qos.max_named_account, amount)),
        _ => shared_text(&qos.limits, reach, amount),
    }
}

impl KnownLimits {
    pub(super) fn for_site(site: &Site) -> KnownLimits {
        let parts = site.parse_conf().into_iter().flat_map(|conf| conf.partitions);
        KnownLimits {
            accounts: site.accounts(),
            partitions: parts.filter_map(|part| Some((part.name, part.qos?))).collect(),
        }
    }

    /// Returns the limit that a reason names for a job.
    pub(super) fn find_limit(&self, kind: WaitCauseKind, word: &str, job: &SiteJob<'_>) -> HeldLimit {
        match kind {
            WaitCauseKind::QosLimit => self.of_qos(word, job),
            WaitCauseKind::AssocLimit => self.of_assoc(word, job),
            WaitCauseKind::Partition => HeldLimit::new(job.partition.as_ref(), ""),
            _ => Default::default(),
        }
    }

    /// Limits of the partition's QOS come before those of the job's, unless a flag says otherwise.
    fn of_qos(&self, word: &str, job: &SiteJob<'_>) -> HeldLimit {
        let own = job.qos.to_string();
        let (Some(accounts), Some((reach, amount))) = (&self.accounts, limit_of(word)) else {
            return HeldLimit::new(own, "");
        };
        let find_qos = |name: &str| accounts.find_qos(name).and_then(|at| accounts.qos.get(at));
        let over = find_qos(&own).is_some_and(|qos| qos.over_partition);
        let partition = self.partitions.get(job.partition.as_ref());
        let mut order: Vec<&str> = partition.map(String::as_str).into_iter().chain([own.as_str()]).collect();
        if over {
            order.reverse();
        }
        let limit = |name: &str| Some(HeldLimit::new(name, qos_text(find_qos(name)?, reach, amount)?));
        order.into_iter().find_map(limit).unwrap_or_else(|| HeldLimit::new(own, ""))
    }

    fn of_assoc(&self, word: &str, job: &SiteJob<'_>) -> HeldLimit {
        let account = job.account.to_string();
        let (Some(accounts), Some((reach, amount))) = (&self.accounts, limit_of(word)) else {
            return HeldLimit::new(account, "");
        };
        let mut next = accounts.find_assoc(&account, &job.user).or_else(|| accounts.find_assoc(&account, ""));
        while let Some(assoc) = next.and_then(|at| accounts.assocs.get(at)) {
            if let Some(text) = shared_text(&assoc.limits, reach, amount) {
                return HeldLimit { of: assoc.account.clone(), user: assoc.user.clone(), limit: text };
            }
            next = assoc.parent;
        }
        HeldLimit::new(account, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_limits() {
        use LimitReach::{Account, Group, Job, User};
        for (word, limit) in [
            ("QOSMaxCpuPerUserLimit", Some((User, LimitedAmount::Cpu))),
            ("QOSMaxMemoryPerUser", Some((User, LimitedAmount::Memory))),
            ("QOSMaxGRESPerAccount", Some((Account, LimitedAmount::Gres))),
            ("QOSMaxJobsPerUserLimit", Some((User, LimitedAmount::Jobs))),
            ("QOSMaxSubmitJobPerUserLimit", Some((User, LimitedAmount::Submits))),
            ("QOSGrpCpuLimit", Some((Group, LimitedAmount::Cpu))),
            ("QOSGrpSubmitJobsLimit", Some((Group, LimitedAmount::Submits))),
            ("QOSMaxCpuPerJobLimit", Some((Job, LimitedAmount::Cpu))),
            ("QOSMaxWallDurationPerJobLimit", Some((Job, LimitedAmount::Wall))),
            ("AssocGrpMemLimit", Some((Group, LimitedAmount::Memory))),
            ("AssocMaxJobsLimit", Some((Job, LimitedAmount::Jobs))),
            ("QOSGrpCpuMinutesLimit", None),
            ("AssocGrpCPURunMinutesLimit", None),
            ("QOSUsageThreshold", None),
            ("MaxJobsPerAccount", None),
        ] {
            assert_eq!(limit_of(word), limit, "{word}");
        }
    }
}
