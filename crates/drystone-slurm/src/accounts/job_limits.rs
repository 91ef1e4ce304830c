//! Limits of associations and QOS as limits that jobs share, for every policy.
//!
//! The rules are those of the model's own ledger: a limit of the partition's QOS comes first, then
//! that of the job's QOS where the first sets none of its kind, then those of the association and
//! of all accounts above it where no QOS sets one. A limit that a job breaks by itself does not
//! hold it back, since it ran all the same; what it has counts.

use super::{AccountLimits, Accounts, Tres};
use crate::conf::SlurmConf;
use drystone_core::model::{JobId, JobLimit, JobLimits, LimitClaim};
use std::collections::BTreeMap;

/// Thousandths of a node: jobs that share one have a part of it.
pub const NODE_PARTS: u64 = 1_000;

/// A job as limits see it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LimitedJob {
    pub user: String,
    pub account: String,
    pub partition: String,
    /// Its QOS; empty for the default of its association.
    pub qos: String,
    pub cpus: u64,
    /// Thousandths of nodes.
    pub node_parts: u64,
    /// Megabytes of memory.
    pub memory: u64,
    pub gpus: u64,
    pub billing: u64,
    /// Amounts of devices with a type, other devices and licences, by the names of their resources.
    pub named: Vec<(String, u64)>,
    /// Seconds that it may run.
    pub seconds: u64,
}

/// Largest amount that a job takes of a limit.
const MOST_TAKEN: u64 = 1 << 50;

/// Scope in which the jobs that count for a limit are added up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum LimitScope {
    Qos(usize),
    QosUser(usize, String),
    QosAccount(usize, String),
    /// An association and all below it.
    Assoc(usize),
    /// An association by itself.
    Own(usize),
}

/// Counted amount.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum LimitAmount {
    Cpu,
    Mem,
    Node,
    Gpu,
    Billing,
    Jobs,
    Submitted,
    /// Resources times the time that jobs have left.
    RunCpu,
    RunMem,
    RunNode,
    RunGpu,
    RunBilling,
    /// A resource with a name of its own, by its place among the names.
    Named(usize),
}

impl LimitAmount {
    const TRES: [LimitAmount; 5] =
        [LimitAmount::Cpu, LimitAmount::Mem, LimitAmount::Node, LimitAmount::Gpu, LimitAmount::Billing];

    /// Amounts that are multiplied by the time left, with the resource of each.
    const RUN: [(LimitAmount, LimitAmount); 5] = [
        (LimitAmount::RunCpu, LimitAmount::Cpu),
        (LimitAmount::RunMem, LimitAmount::Mem),
        (LimitAmount::RunNode, LimitAmount::Node),
        (LimitAmount::RunGpu, LimitAmount::Gpu),
        (LimitAmount::RunBilling, LimitAmount::Billing),
    ];

    /// Returns the resource of which it is the time left.
    fn timed_resource(self) -> Option<LimitAmount> {
        LimitAmount::RUN.iter().find(|(run, _)| *run == self).map(|(_, of)| *of)
    }

    /// Returns whether the model's own ledger leaves such limits out.
    fn is_beyond_ledger(self) -> bool {
        self.timed_resource().is_some() || matches!(self, LimitAmount::Named(_))
    }

    fn of_job(self, job: &LimitedJob, names: &[String]) -> u64 {
        if let Some(of) = self.timed_resource() {
            return of.of_job(job, names).saturating_mul(job.seconds).min(MOST_TAKEN);
        }
        match self {
            LimitAmount::Named(name) => {
                let own = job.named.iter().filter(|(own, _)| names.get(name) == Some(own));
                own.map(|(_, amount)| *amount).sum()
            }
            LimitAmount::RunCpu
            | LimitAmount::RunMem
            | LimitAmount::RunNode
            | LimitAmount::RunGpu
            | LimitAmount::RunBilling => 0,
            LimitAmount::Cpu => job.cpus,
            LimitAmount::Mem => job.memory,
            LimitAmount::Node => job.node_parts,
            LimitAmount::Gpu => job.gpus,
            LimitAmount::Billing => job.billing,
            LimitAmount::Jobs | LimitAmount::Submitted => 1,
        }
    }

    fn of_tres(self, tres: &Tres) -> Option<u64> {
        match self {
            LimitAmount::Cpu => tres.cpu,
            LimitAmount::Mem => tres.mem,
            LimitAmount::Node => tres.node.map(|nodes| nodes.saturating_mul(NODE_PARTS)),
            LimitAmount::Gpu => tres.gpu,
            LimitAmount::Billing => tres.billing,
            _ => None,
        }
    }

    /// Returns the most of it times seconds that limits in minutes allow.
    fn of_minutes(self, tres: &Tres) -> Option<u64> {
        Some(self.timed_resource()?.of_tres(tres)?.saturating_mul(60))
    }

    /// Slurm's word for a job that waits for such a limit.
    fn reason_word(self, scope: &LimitScope, names: &[String]) -> &'static str {
        if let LimitAmount::Named(name) = self {
            let licence = names.get(name).is_some_and(|name| name.starts_with("license/"));
            return match (scope, licence) {
                (LimitScope::Qos(_), true) => "QOSGrpLicense",
                (LimitScope::QosUser(..), true) => "QOSMaxLicensePerUser",
                (LimitScope::QosAccount(..), true) => "QOSMaxLicensePerAccount",
                (_, true) => "AssocGrpLicense",
                (_, false) => LimitAmount::Gpu.reason_word(scope, names),
            };
        }
        let group = matches!(scope, LimitScope::Qos(_));
        let qos_or_assoc = |qos: &'static str, assoc: &'static str| if group { qos } else { assoc };
        let word = match self {
            LimitAmount::RunCpu => qos_or_assoc("QOSGrpCPURunMinutesLimit", "AssocGrpCPURunMinutesLimit"),
            LimitAmount::RunMem => qos_or_assoc("QOSGrpMemoryRunMinutes", "AssocGrpMemRunMinutes"),
            LimitAmount::RunNode => qos_or_assoc("QOSGrpNodeRunMinutes", "AssocGrpNodeRunMinutes"),
            LimitAmount::RunGpu => qos_or_assoc("QOSGrpGRESRunMinutes", "AssocGrpGRESRunMinutes"),
            LimitAmount::RunBilling => qos_or_assoc("QOSGrpBillingRunMinutes", "AssocGrpBillingRunMinutes"),
            _ => "",
        };
        if !word.is_empty() {
            return word;
        }
        let words = match scope {
            LimitScope::Qos(_) => [
                "QOSGrpCpuLimit",
                "QOSGrpMemLimit",
                "QOSGrpNodeLimit",
                "QOSGrpGRES",
                "QOSGrpBilling",
                "QOSGrpJobsLimit",
                "QOSGrpSubmitJobsLimit",
            ],
            LimitScope::QosUser(..) => [
                "QOSMaxCpuPerUserLimit",
                "QOSMaxMemoryPerUser",
                "QOSMaxNodePerUserLimit",
                "QOSMaxGRESPerUser",
                "QOSMaxBillingPerUser",
                "QOSMaxJobsPerUserLimit",
                "QOSMaxSubmitJobPerUserLimit",
            ],
            LimitScope::QosAccount(..) => [
                "QOSMaxCpuPerAccountLimit",
                "QOSMaxMemoryPerAccount",
                "QOSMaxNodePerAccountLimit",
                "QOSMaxGRESPerAccount",
                "QOSMaxBillingPerAccount",
                "QOSMaxJobsPerAccountLimit",
                "QOSMaxSubmitJobPerAccountLimit",
            ],
            LimitScope::Assoc(_) => [
                "AssocGrpCpuLimit",
                "AssocGrpMemLimit",
                "AssocGrpNodeLimit",
                "AssocGrpGRES",
                "AssocGrpBilling",
                "AssocGrpJobsLimit",
                "AssocGrpSubmitJobsLimit",
            ],
            LimitScope::Own(_) => ["", "", "", "", "", "AssocMaxJobsLimit", "AssocMaxSubmitJobLimit"],
        };
        let place = match self {
            LimitAmount::Jobs => 5,
            LimitAmount::Submitted => 6,
            other => LimitAmount::TRES.iter().position(|own| *own == other).unwrap_or(0),
        };
        words[place]
    }
}

/// Makes the limits of jobs from accounts.
pub struct JobLimitMaker<'a> {
    accounts: &'a Accounts,
    /// Limits on jobs of single associations as each inherits them: running, submitted.
    inherited: Vec<[Option<u32>; 2]>,
    /// The QOS of partitions that have one.
    of_partition: BTreeMap<String, usize>,
    /// Association and QOS by account, user, partition and QOS.
    known: BTreeMap<[String; 4], (Option<usize>, Option<usize>)>,
    places: BTreeMap<(LimitScope, LimitAmount), u32>,
    /// Names of resources that have some.
    names: Vec<String>,
    /// By claims, and by the seconds of a job where limits are on the time left.
    sets: BTreeMap<(Vec<LimitClaim>, u64), u32>,
    limits: JobLimits,
}

impl<'a> JobLimitMaker<'a> {
    /// Of accounts and the QOS of a configuration's partitions, whether it enforces limits or not.
    pub fn new(accounts: &'a Accounts, conf: Option<&SlurmConf>) -> JobLimitMaker<'a> {
        let mut inherited_limits: Vec<[Option<u32>; 2]> = Vec::with_capacity(accounts.assocs.len());
        for assoc in &accounts.assocs {
            let above = assoc.parent.and_then(|parent| inherited_limits.get(parent).copied()).unwrap_or_default();
            let AccountLimits { max_jobs, max_submit, .. } = assoc.limits;
            inherited_limits.push([max_jobs.or(above[0]), max_submit.or(above[1])]);
        }
        let parts = conf.iter().flat_map(|conf| &conf.partitions);
        let of_partition = parts.filter_map(|part| Some((part.name.clone(), accounts.find_qos(part.qos.as_deref()?)?)));
        JobLimitMaker {
            accounts,
            inherited: inherited_limits,
            of_partition: of_partition.collect(),
            known: BTreeMap::new(),
            places: BTreeMap::new(),
            names: Vec::new(),
            sets: BTreeMap::new(),
            limits: JobLimits::default(),
        }
    }

    /// Adds a job.
    pub fn add_job(&mut self, id: JobId, job: &LimitedJob) {
        let claims = self.job_claims(job);
        if claims.is_empty() {
            return;
        }
        let wears = claims.iter().any(|claim| self.limits.wears_off(claim.limit));
        let key = (claims, if wears { job.seconds } else { 0 });
        let set = match self.sets.get(&key) {
            Some(&set) => set,
            None => {
                let set = self.limits.intern_claims(key.0.clone());
                if wears {
                    self.limits.set_span(set, i64::try_from(job.seconds).unwrap_or(i64::MAX));
                }
                self.sets.insert(key, set);
                set
            }
        };
        self.limits.bind_job(id, set);
    }

    /// Returns the limits of the jobs that were added.
    pub fn finish_limits(self) -> JobLimits {
        self.limits
    }

    /// The association and the QOS of a job.
    fn find_standing(&mut self, job: &LimitedJob) -> (Option<usize>, Option<usize>) {
        let key = [&job.account, &job.user, &job.partition, &job.qos].map(String::clone);
        if let Some(&pair) = self.known.get(&key) {
            return pair;
        }
        let accounts = self.accounts;
        let assoc = accounts.find_in(&job.account, &job.user, &job.partition);
        let default = assoc.and_then(|assoc| accounts.assocs[assoc].default_qos);
        let named_qos = if job.qos.is_empty() { None } else { accounts.find_qos(&job.qos) };
        let standing = (assoc, named_qos.or(default).or_else(|| accounts.find_qos("normal")));
        self.known.insert(key, standing);
        standing
    }

    fn job_claims(&mut self, job: &LimitedJob) -> Vec<LimitClaim> {
        let accounts = self.accounts;
        let (assoc, own) = self.find_standing(job);
        let of_part = self.of_partition.get(&job.partition).copied();
        let own = own.filter(|own| Some(*own) != of_part);
        let over = own.is_some_and(|own| accounts.qos[own].over_partition);
        let order = if over { [own, of_part] } else { [of_part, own] };
        let mut claims = ClaimList::default();
        for qos in order.into_iter().flatten() {
            self.claim_qos(job, qos, &mut claims);
        }
        // A limit of users or accounts on their jobs stands in the place of the association's.
        let count_amounts: [LimitAmount; 2] = [LimitAmount::Jobs, LimitAmount::Submitted];
        let is_overridden = count_amounts
            .map(|amount| claims.has_limit(ClaimKind::User, amount) || claims.has_limit(ClaimKind::Account, amount));
        let chain = std::iter::successors(assoc, |&assoc| accounts.assocs[assoc].parent);
        for (above, assoc) in chain.enumerate() {
            let limits = &accounts.assocs[assoc].limits;
            let scope = LimitScope::Assoc(assoc);
            for amount in LimitAmount::TRES {
                let binds = !claims.has_limit(ClaimKind::Group, amount);
                self.claim_limit(job, (&scope, amount), amount.of_tres(&limits.grp_tres), binds, &mut claims);
            }
            for (amount, _) in LimitAmount::RUN {
                let binds = !claims.has_limit(ClaimKind::Group, amount);
                self.claim_limit(job, (&scope, amount), amount.of_minutes(&limits.grp_run_mins), binds, &mut claims);
            }
            for (name, most) in &limits.grp_named {
                let amount = self.number_resource(name);
                let binds = !claims.has_limit(ClaimKind::Group, amount);
                self.claim_limit(job, (&scope, amount), Some(*most), binds, &mut claims);
            }
            for (amount, most) in count_amounts.into_iter().zip([limits.grp_jobs, limits.grp_submit]) {
                let binds = !claims.has_limit(ClaimKind::Group, amount);
                self.claim_limit(job, (&scope, amount), most.map(u64::from), binds, &mut claims);
            }
            if above == 0 {
                let own = self.inherited[assoc];
                for ((amount, most), set) in count_amounts.into_iter().zip(own).zip(is_overridden) {
                    self.claim_limit(job, (&LimitScope::Own(assoc), amount), most.map(u64::from), !set, &mut claims);
                }
            }
        }
        claims.list.sort_unstable();
        claims.list
    }

    /// Claims what a QOS limits.
    fn claim_qos(&mut self, job: &LimitedJob, qos: usize, claims: &mut ClaimList) {
        let of = &self.accounts.qos[qos];
        let kinds = [
            (ClaimKind::Group, LimitScope::Qos(qos), &of.limits.grp_tres, [of.limits.grp_jobs, of.limits.grp_submit]),
            (
                ClaimKind::Account,
                LimitScope::QosAccount(qos, job.account.clone()),
                &of.max_tres_account,
                [of.max_jobs_account, of.max_submit_account],
            ),
            (
                ClaimKind::User,
                LimitScope::QosUser(qos, job.user.clone()),
                &of.max_tres_user,
                [of.max_jobs_user, of.max_submit_user],
            ),
        ];
        let named_limits = [&of.limits.grp_named, &of.max_named_account, &of.max_named_user];
        for ((kind, scope, tres, [jobs, submits]), name_limits) in kinds.into_iter().zip(named_limits) {
            let tres = LimitAmount::TRES.into_iter().map(|amount| (amount, amount.of_tres(tres)));
            let counts = [(LimitAmount::Jobs, jobs), (LimitAmount::Submitted, submits)];
            let counts = counts.into_iter().map(|(amount, most)| (amount, most.map(u64::from)));
            let mut amount_limits: Vec<(LimitAmount, Option<u64>)> = tres.chain(counts).collect();
            amount_limits.extend(name_limits.iter().map(|(name, most)| (self.number_resource(name), Some(*most))));
            if kind == ClaimKind::Group {
                let minutes = &of.limits.grp_run_mins;
                amount_limits
                    .extend(LimitAmount::RUN.into_iter().map(|(amount, _)| (amount, amount.of_minutes(minutes))));
            }
            for (amount, most) in amount_limits {
                let binds = !claims.has_limit(kind, amount);
                self.claim_limit(job, (&scope, amount), most, binds, claims);
                if most.is_some() {
                    claims.set.push((kind, amount));
                }
            }
        }
    }

    /// Claims a job's part of a limit, if there is one.
    fn claim_limit(
        &mut self,
        job: &LimitedJob,
        (scope, what): (&LimitScope, LimitAmount),
        most: Option<u64>,
        binds: bool,
        claims: &mut ClaimList,
    ) {
        let (Some(most), amount) = (most, what.of_job(job, &self.names)) else { return };
        if amount == 0 {
            return;
        }
        let key = (scope.clone(), what);
        let limit = match self.places.get(&key) {
            Some(&limit) => limit,
            None => {
                let (of, family) = self.limit_holder(scope, what);
                let reason = what.reason_word(scope, &self.names).to_string();
                let limit = self.limits.add_limit(JobLimit { reason, of, family, most });
                if what.timed_resource().is_some() {
                    self.limits.wear_off(limit);
                }
                if what.is_beyond_ledger() {
                    self.limits.keep_for_all(limit);
                }
                self.places.insert(key, limit);
                limit
            }
        };
        // A job that is too large by itself ran all the same: it only counts.
        claims.list.push(LimitClaim { limit, amount, binds: binds && amount <= most });
    }

    /// Returns the resource of a name, which it numbers where it is new.
    fn number_resource(&mut self, name: &str) -> LimitAmount {
        let place = self.names.iter().position(|own| own == name).unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        });
        LimitAmount::Named(place)
    }

    /// Returns the holder of a limit, and what all limits of its kind are called.
    fn limit_holder(&self, scope: &LimitScope, what: LimitAmount) -> (String, String) {
        let qos = |qos: usize| format!("the QOS {}", self.accounts.qos[qos].name);
        let assoc = |assoc: usize| {
            let assoc = &self.accounts.assocs[assoc];
            match assoc.user.as_str() {
                "" => format!("the account {}", assoc.account),
                user => format!("the user {user} in the account {}", assoc.account),
            }
        };
        match scope {
            LimitScope::Qos(at) => (qos(*at), qos(*at)),
            LimitScope::QosUser(at, user) => (format!("{} for the user {user}", qos(*at)), qos(*at)),
            LimitScope::QosAccount(at, account) => (format!("{} for the account {account}", qos(*at)), qos(*at)),
            LimitScope::Assoc(at) => (assoc(*at), assoc(*at)),
            LimitScope::Own(at) => {
                // Of several associations that inherit one limit, the verdict is one.
                let is_own = |at: &usize| match (what, &self.accounts.assocs[*at].limits) {
                    (LimitAmount::Submitted, limits) => limits.max_submit.is_some(),
                    (_, limits) => limits.max_jobs.is_some(),
                };
                let chain = std::iter::successors(Some(*at), |&at| self.accounts.assocs[at].parent);
                let holder = chain.into_iter().find(is_own).unwrap_or(*at);
                let family = match self.accounts.assocs[holder].user.as_str() {
                    "" => format!("associations of the account {}", self.accounts.assocs[holder].account),
                    _ => assoc(holder),
                };
                (assoc(*at), family)
            }
        }
    }
}

/// Kind of a limit: the first QOS that sets one of a kind decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClaimKind {
    Group,
    Account,
    User,
}

/// Claims of one job, and what QOS have set.
#[derive(Default)]
struct ClaimList {
    list: Vec<LimitClaim>,
    set: Vec<(ClaimKind, LimitAmount)>,
}

impl ClaimList {
    fn has_limit(&self, kind: ClaimKind, amount: LimitAmount) -> bool {
        self.set.contains(&(kind, amount))
    }
}
