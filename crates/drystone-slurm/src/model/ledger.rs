//! Use of associations and QOS, and checks of their limits.
//!
//! Rules after Slurm's: limits of the partition's QOS come first, then those of the job's own QOS
//! where the first has none, then those of the association and all above it where neither has one.

use super::{Alloc, GpuDemand, JobDemand, MemoryDemand, ModelMachine, NONE, Pending};
use crate::accounts::{AccountLimits, Accounts, Qos, Tres, TresAmounts, TresResource};
use crate::conf::{BilledAmounts, BillingWeights};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// In use by running jobs, and how many jobs wait or run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Used {
    cpus: u64,
    mem: u64,
    gpus: u64,
    billing: u64,
    /// Jobs on each node: a node that is used already is not counted again.
    nodes: BTreeMap<u32, u32>,
    jobs: u32,
    submitted: u32,
}

impl Used {
    fn add_amounts(&mut self, more: TresAmounts, nodes: impl Iterator<Item = u32>) {
        self.cpus += more.cpu;
        self.mem += more.mem;
        self.gpus += more.gpu;
        self.billing += more.billing;
        self.jobs += 1;
        nodes.for_each(|node| *self.nodes.entry(node).or_default() += 1);
    }

    fn subtract_amounts(&mut self, less: TresAmounts, nodes: impl Iterator<Item = u32>) {
        self.cpus = self.cpus.saturating_sub(less.cpu);
        self.mem = self.mem.saturating_sub(less.mem);
        self.gpus = self.gpus.saturating_sub(less.gpu);
        self.billing = self.billing.saturating_sub(less.billing);
        self.jobs -= self.jobs.min(1);
        for node in nodes {
            if let Some(jobs) = self.nodes.get_mut(&node) {
                *jobs -= 1;
                if *jobs == 0 {
                    self.nodes.remove(&node);
                }
            }
        }
    }

    /// In use as a limit counts it.
    fn tres_in_use(&self) -> TresAmounts {
        let node = self.nodes.len() as u64;
        TresAmounts { cpu: self.cpus, node, mem: self.mem, gpu: self.gpus, billing: self.billing }
    }
}

/// The accounts with what they use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UseLedger {
    accounts: Accounts,
    /// Limits on single jobs and users as each association inherits them.
    inherited: Vec<AccountLimits>,
    of_assoc: Vec<Used>,
    of_qos: Vec<Used>,
    of_user: BTreeMap<(u32, i32), Used>,
    /// By QOS and account: see [`UseLedger::account_of`].
    of_account: BTreeMap<(u32, i64), Used>,
    /// True if a job that breaks a limit by itself may run all the same: otherwise it would wait
    /// for ever.
    pub lenient: bool,
    /// True if nodes are limited anywhere, so that they have to be counted.
    counts_nodes: bool,
}

/// Use that a job would add.
#[derive(Clone, Copy)]
struct WantedUse<'a> {
    all: TresAmounts,
    /// GPUs that it would add on the nodes on which these are fewest.
    fewest_gpus: u64,
    /// Nodes, where they are known.
    nodes: Option<&'a super::NodeSet>,
}

impl WantedUse<'_> {
    /// Returns its addition to the use: nodes that are used already do not count.
    fn added_to(&self, usage: &Used) -> TresAmounts {
        let shared_nodes =
            self.nodes.map_or(0, |nodes| nodes.iter().filter(|&n| usage.nodes.contains_key(&(n as u32))).count());
        TresAmounts { node: self.all.node.saturating_sub(shared_nodes as u64), ..self.all }
    }
}

impl UseLedger {
    /// Accounts without jobs.
    pub fn new(accounts: Accounts) -> UseLedger {
        let mut inherited_limits: Vec<AccountLimits> = Vec::with_capacity(accounts.assocs.len());
        for assoc in &accounts.assocs {
            let own = &assoc.limits;
            let limits = match assoc.parent.map(|parent| &inherited_limits[parent]) {
                None => own.clone(),
                Some(above) => AccountLimits {
                    max_tres: own.max_tres.or_else(&above.max_tres),
                    max_jobs: own.max_jobs.or(above.max_jobs),
                    max_submit: own.max_submit.or(above.max_submit),
                    max_wall: own.max_wall.or(above.max_wall),
                    ..own.clone()
                },
            };
            inherited_limits.push(limits);
        }
        let nodes = |tres: &Tres| tres.node.is_some();
        let counts_nodes = accounts.assocs.iter().any(|a| nodes(&a.limits.grp_tres))
            || accounts
                .qos
                .iter()
                .any(|q| nodes(&q.limits.grp_tres) || nodes(&q.max_tres_user) || nodes(&q.max_tres_account));
        let (assocs, qos) = (accounts.assocs.len(), accounts.qos.len());
        UseLedger {
            accounts,
            inherited: inherited_limits,
            of_assoc: vec![Used::default(); assocs],
            of_qos: vec![Used::default(); qos],
            of_user: BTreeMap::new(),
            of_account: BTreeMap::new(),
            lenient: false,
            counts_nodes,
        }
    }

    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// The partition's QOS and the job's own one: first the one whose limits come first.
    fn qos_of(&self, job: &Pending, machine: &ModelMachine) -> [Option<u32>; 2] {
        let some = |qos: u32| ((qos as usize) < self.of_qos.len()).then_some(qos);
        let of_part = some(machine.parts[usize::from(job.part)].qos);
        let own = some(job.qos).filter(|_| some(job.qos) != of_part);
        let over = own.is_some_and(|own| self.accounts.qos[own as usize].over_partition);
        if over { [own, of_part] } else { [of_part, own] }
    }

    /// The association and all above it.
    fn assoc_chain(&self, assoc: u32) -> impl Iterator<Item = usize> + '_ {
        let first = (assoc != NONE).then_some(assoc as usize).filter(|&assoc| assoc < self.accounts.assocs.len());
        std::iter::successors(first, |&assoc| self.accounts.assocs[assoc].parent)
    }

    /// The account of a job: that of its association, as an index; below 0 for the account that a
    /// job without an association names.
    fn account_of(&self, job: &Pending) -> i64 {
        match self.accounts.assocs.get(job.assoc as usize) {
            Some(assoc) if !assoc.user.is_empty() => assoc.parent.map_or(-1, |parent| parent as i64),
            Some(_) => i64::from(job.assoc),
            None => i64::MIN + i64::from(job.account),
        }
    }

    /// Returns whether no more than `jobs` may run.
    fn is_full(&self, most: u32, jobs: u32) -> bool {
        jobs >= most && !(self.lenient && most == 0)
    }

    /// Returns Slurm's reason that keeps the job from running whatever resources it gets.
    pub fn reason_before_alloc(&self, job: &Pending, machine: &ModelMachine) -> Option<&'static str> {
        let (mut grp_jobs, mut per_account, mut per_user, mut wall) = (false, false, false, false);
        for qos in self.qos_of(job, machine).into_iter().flatten() {
            let limits = &self.accounts.qos[qos as usize];
            if let Some(most) = limits.limits.grp_jobs.filter(|_| !std::mem::replace(&mut grp_jobs, true))
                && self.is_full(most, self.of_qos[qos as usize].jobs)
            {
                return Some("QOSGrpJobsLimit");
            }
            if let Some(most) = limits.max_jobs_account
                && !std::mem::replace(&mut per_account, true)
                && self.is_full(most, self.of_account.get(&(qos, self.account_of(job))).map_or(0, |usage| usage.jobs))
            {
                return Some("QOSMaxJobsPerAccountLimit");
            }
            if let Some(most) = limits.max_jobs_user
                && !std::mem::replace(&mut per_user, true)
                && self.is_full(most, self.of_user.get(&(qos, job.user)).map_or(0, |usage| usage.jobs))
            {
                return Some("QOSMaxJobsPerUserLimit");
            }
            if let Some(most) = limits.limits.max_wall
                && !std::mem::replace(&mut wall, true)
                && !self.lenient
                && job.limit > most * 60
            {
                return Some("QOSMaxWallDurationPerJobLimit");
            }
            grp_jobs |= limits.limits.grp_jobs.is_some();
        }
        self.before_by_assoc(job, grp_jobs, per_account || per_user, wall)
    }

    fn before_by_assoc(&self, job: &Pending, grp_jobs: bool, per: bool, wall: bool) -> Option<&'static str> {
        for (above, assoc) in self.assoc_chain(job.assoc).enumerate() {
            let usage = &self.of_assoc[assoc];
            if self.accounts.assocs[assoc]
                .limits
                .grp_jobs
                .is_some_and(|most| !grp_jobs && self.is_full(most, usage.jobs))
            {
                return Some("AssocGrpJobsLimit");
            }
            if above > 0 {
                continue;
            }
            let limits = &self.inherited[assoc];
            if limits.max_jobs.is_some_and(|most| !per && self.is_full(most, usage.jobs)) {
                return Some("AssocMaxJobsLimit");
            }
            if limits.max_wall.is_some_and(|most| !wall && !self.lenient && job.limit > most * 60) {
                return Some("AssocMaxWallDurationPerJobLimit");
            }
        }
        None
    }

    /// Returns Slurm's reason that keeps the job from running on these nodes, or on any where none
    /// are named.
    /// `gpus` is the number that Slurm counts on these nodes, where that is not what the job gets.
    pub fn reason_after_alloc(
        &self,
        job: &Pending,
        alloc: Option<&Alloc>,
        gpus: Option<u64>,
        machine: &ModelMachine,
    ) -> Option<&'static str> {
        let wanted_use = match alloc {
            Some(alloc) => {
                let mut amounts = allocated_amounts(job.part, alloc, machine);
                let fewest_gpus = amounts.gpu;
                amounts.gpu = gpus.unwrap_or(amounts.gpu);
                WantedUse { all: amounts, fewest_gpus, nodes: self.counts_nodes.then_some(&alloc.nodes) }
            }
            None => {
                let amounts = asked_amounts(job, u64::from(job.min_nodes), machine);
                WantedUse { all: amounts, fewest_gpus: amounts.gpu, nodes: None }
            }
        };
        self.exceeded_limit(job, wanted_use, machine)
    }

    /// As [`UseLedger::reason_after_alloc`], for a start that is only planned: the request counts,
    /// and all processors of whole nodes.
    pub fn after_plan(&self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) -> Option<&'static str> {
        let nodes = self.counts_nodes.then_some(&alloc.nodes);
        let mut amounts = asked_amounts(job, alloc.nodes.count_nodes() as u64, machine);
        if job.whole {
            amounts = TresAmounts { gpu: amounts.gpu, ..allocated_amounts(job.part, alloc, machine) };
        }
        self.exceeded_limit(job, WantedUse { all: amounts, fewest_gpus: amounts.gpu, nodes }, machine)
    }

    fn exceeded_limit(&self, job: &Pending, request: WantedUse<'_>, machine: &ModelMachine) -> Option<&'static str> {
        // What a QOS limits is not limited again by what comes after it.
        let (mut grp, mut per_job) = (Tres::default(), Tres::default());
        let (mut account, mut user) = (Tres::default(), Tres::default());
        let no_use = Used::default();
        for qos in self.qos_of(job, machine).into_iter().flatten() {
            let Qos { limits, max_tres_user, max_tres_account, .. } = &self.accounts.qos[qos as usize];
            let of_user = self.of_user.get(&(qos, job.user)).unwrap_or(&no_use);
            let of_account = self.of_account.get(&(qos, self.account_of(job))).unwrap_or(&no_use);
            if let Some(of) = self.broken_resource(&limits.grp_tres, &mut grp, &self.of_qos[qos as usize], request) {
                return Some(resource_reason(of, QOS_GRP));
            }
            if let Some(of) = self.broken_resource(&limits.max_tres, &mut per_job, &no_use, request) {
                return Some(resource_reason(of, QOS_JOB));
            }
            if let Some(of) = self.broken_resource(max_tres_account, &mut account, of_account, request) {
                return Some(resource_reason(of, QOS_ACCOUNT));
            }
            if let Some(of) = self.broken_resource(max_tres_user, &mut user, of_user, request) {
                return Some(resource_reason(of, QOS_USER));
            }
        }
        for (above, assoc) in self.assoc_chain(job.assoc).enumerate() {
            let mut seen_limits = grp;
            let limit = &self.accounts.assocs[assoc].limits.grp_tres;
            if let Some(of) = self.broken_resource(limit, &mut seen_limits, &self.of_assoc[assoc], request) {
                return Some(resource_reason(of, ASSOC_GRP));
            }
            let mut seen_per_job = per_job;
            if above == 0
                && let Some(of) =
                    self.broken_resource(&self.inherited[assoc].max_tres, &mut seen_per_job, &no_use, request)
            {
                return Some(resource_reason(of, ASSOC_JOB));
            }
        }
        None
    }

    /// The resource of which a limit that was not set before is broken. It then counts as set.
    fn broken_resource(
        &self,
        limit: &Tres,
        set: &mut Tres,
        usage: &Used,
        request: WantedUse<'_>,
    ) -> Option<TresResource> {
        let mut open = limit.without_those_of(set);
        *set = set.or_else(limit);
        if self.lenient {
            open = open.bearing_load(TresAmounts { gpu: request.fewest_gpus, ..request.all });
        }
        open.exceeded_resource(usage.tres_in_use(), request.added_to(usage))
    }

    /// Returns Slurm's reason that keeps one more job from being submitted.
    pub fn submission_reason(&self, job: &Pending, machine: &ModelMachine) -> Option<&'static str> {
        let full = |most: Option<u32>, count: u32| most.is_some_and(|most| most > 0 && count >= most);
        for qos in self.qos_of(job, machine).into_iter().flatten() {
            let limits = &self.accounts.qos[qos as usize];
            let user = self.of_user.get(&(qos, job.user)).map_or(0, |usage| usage.submitted);
            let account = self.of_account.get(&(qos, self.account_of(job))).map_or(0, |usage| usage.submitted);
            if full(limits.limits.grp_submit, self.of_qos[qos as usize].submitted) {
                return Some("QOSGrpSubmitJobsLimit");
            }
            if full(limits.max_submit_account, account) {
                return Some("QOSMaxSubmitJobPerAccountLimit");
            }
            if full(limits.max_submit_user, user) {
                return Some("QOSMaxSubmitJobPerUserLimit");
            }
        }
        for (above, assoc) in self.assoc_chain(job.assoc).enumerate() {
            let submitted_jobs = self.of_assoc[assoc].submitted;
            if full(self.accounts.assocs[assoc].limits.grp_submit, submitted_jobs) {
                return Some("AssocGrpSubmitJobsLimit");
            }
            if above == 0 && full(self.inherited[assoc].max_submit, submitted_jobs) {
                return Some("AssocMaxSubmitJobLimit");
            }
        }
        None
    }

    /// Does something to each count that the job belongs to.
    fn visit_counts(&mut self, job: &Pending, machine: &ModelMachine, mut act: impl FnMut(&mut Used)) {
        let account = self.account_of(job);
        for qos in self.qos_of(job, machine).into_iter().flatten() {
            act(&mut self.of_qos[qos as usize]);
            act(self.of_user.entry((qos, job.user)).or_default());
            act(self.of_account.entry((qos, account)).or_default());
        }
        let chain: Vec<usize> = self.assoc_chain(job.assoc).collect();
        chain.into_iter().for_each(|assoc| act(&mut self.of_assoc[assoc]));
    }

    /// A job is submitted.
    pub fn submit(&mut self, job: &Pending, machine: &ModelMachine) {
        self.visit_counts(job, machine, |usage| usage.submitted += 1);
    }

    /// A job has left for good, before or after its start.
    pub fn note_departure(&mut self, job: &Pending, machine: &ModelMachine) {
        self.visit_counts(job, machine, |usage| usage.submitted -= usage.submitted.min(1));
    }

    /// A job begins to run.
    pub(super) fn begin_job(&mut self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) {
        let (had, count) = (allocated_amounts(job.part, alloc, machine), self.counts_nodes);
        self.visit_counts(job, machine, |usage| {
            usage.add_amounts(had, alloc.nodes.iter().filter(|_| count).map(|n| n as u32))
        });
    }

    /// A job runs no more.
    pub(super) fn end_job(&mut self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) {
        let (had, count) = (allocated_amounts(job.part, alloc, machine), self.counts_nodes);
        self.visit_counts(job, machine, |usage| {
            usage.subtract_amounts(had, alloc.nodes.iter().filter(|_| count).map(|n| n as u32))
        });
    }
}

/// The reasons that Slurm shows, by resource: processors, nodes, memory, GPUs, billing.
type Reasons = [&'static str; 5];

const QOS_GRP: Reasons = ["QOSGrpCpuLimit", "QOSGrpNodeLimit", "QOSGrpMemLimit", "QOSGrpGRES", "QOSGrpBilling"];
const QOS_JOB: Reasons =
    ["QOSMaxCpuPerJobLimit", "QOSMaxNodePerJobLimit", "QOSMaxMemoryPerJob", "QOSMaxGRESPerJob", "QOSMaxBillingPerJob"];
const QOS_ACCOUNT: Reasons = [
    "QOSMaxCpuPerAccountLimit",
    "QOSMaxNodePerAccountLimit",
    "QOSMaxMemoryPerAccount",
    "QOSMaxGRESPerAccount",
    "QOSMaxBillingPerAccount",
];
const QOS_USER: Reasons = [
    "QOSMaxCpuPerUserLimit",
    "QOSMaxNodePerUserLimit",
    "QOSMaxMemoryPerUser",
    "QOSMaxGRESPerUser",
    "QOSMaxBillingPerUser",
];
const ASSOC_GRP: Reasons =
    ["AssocGrpCpuLimit", "AssocGrpNodeLimit", "AssocGrpMemLimit", "AssocGrpGRES", "AssocGrpBilling"];
const ASSOC_JOB: Reasons = [
    "AssocMaxCpuPerJobLimit",
    "AssocMaxNodePerJobLimit",
    "AssocMaxMemPerJob",
    "AssocMaxGRESPerJob",
    "AssocMaxBillingPerJob",
];

fn resource_reason(of: TresResource, reasons: Reasons) -> &'static str {
    match of {
        TresResource::Cpu => reasons[0],
        TresResource::Node => reasons[1],
        TresResource::Mem => reasons[2],
        TresResource::Gpu => reasons[3],
        TresResource::Billing => reasons[4],
    }
}

/// Returns the amounts of an allocation.
fn allocated_amounts(part: u16, alloc: &Alloc, machine: &ModelMachine) -> TresAmounts {
    let kinds = &machine.resources.kinds;
    let (mut mem, mut gpu) = (0, 0);
    if let Some(more) = &alloc.more {
        mem = more.memory.iter().sum();
        let gpus = more.gres.iter().filter(|&&(kind, ..)| kinds[usize::from(kind)].name == "gpu");
        gpu = gpus.map(|&(.., count)| u64::from(count)).sum();
    }
    // Slurm keeps a whole number.
    let billing = machine.bill_per_second(part, alloc) as u64;
    TresAmounts { cpu: alloc.total_cpus(machine), node: alloc.nodes.count_nodes() as u64, mem, gpu, billing }
}

/// The least that a job asks for, on so many nodes.
fn asked_amounts(job: &Pending, nodes: u64, machine: &ModelMachine) -> TresAmounts {
    // Slurm has tried a job of whole nodes before, and knows how many processors it would have.
    let cpu = u64::from(if job.whole { machine.whole_cpus(job) } else { job.cpus });
    let mut amounts = TresAmounts { cpu, node: nodes, ..TresAmounts::default() };
    if let Some(demand_entry) = machine.resources.known_demand(job.demand) {
        (amounts.gpu, amounts.mem) = gpus_and_memory(&demand_entry.demand, cpu, nodes);
    }
    let weights = machine.parts[usize::from(job.part)].billing.as_ref();
    amounts.billing = weights.map_or(cpu, |weights| billed_for(job, nodes, machine, weights) as u64);
    amounts
}

/// Returns the GPUs and the megabytes that a demand is for, on so many processors and nodes.
fn gpus_and_memory(demand: &JobDemand, cpus: u64, nodes: u64) -> (u64, u64) {
    let of = |gpus: &GpuDemand| (u64::from(gpus.per_node) * nodes).max(u64::from(gpus.in_all(demand.tasks.max(1))));
    let gpus = demand.gpus.as_ref().map_or(0, of);
    let memory = match demand.memory {
        MemoryDemand::PerNode(mb) => mb * nodes,
        MemoryDemand::PerCpu(mb) => mb * cpus,
        MemoryDemand::PerGpu(mb) => mb * gpus,
        MemoryDemand::None | MemoryDemand::WholeNode => 0,
    };
    (gpus, memory)
}

/// Returns the bill of the least that a job asks for, on so many nodes.
fn billed_for(job: &Pending, nodes: u64, machine: &ModelMachine, weights: &BillingWeights) -> f64 {
    let kinds = &machine.resources.kinds;
    let (mut devices, mut memory) = (Vec::new(), 0);
    // A type counts where the job asks for one.
    let device_type = |serving: u64| match serving.count_ones() {
        1 => kinds[serving.trailing_zeros() as usize].kind.as_str(),
        _ => "",
    };
    if let Some(demand_entry) = machine.resources.known_demand(job.demand) {
        let demand = &demand_entry.demand;
        let gpus;
        (gpus, memory) = gpus_and_memory(demand, u64::from(job.cpus), nodes);
        if let Some(gpu_demand) = &demand.gpus {
            devices.push(("gpu", device_type(gpu_demand.kinds), gpus as f64));
        }
        for &(serving, count) in demand.gres.iter().filter(|(serving, _)| *serving != 0) {
            let name = kinds[serving.trailing_zeros() as usize].name.as_str();
            devices.push((name, device_type(serving), f64::from(count) * nodes as f64));
        }
    }
    let amounts =
        BilledAmounts { cpus: f64::from(job.cpus), nodes: nodes as f64, memory: memory as f64, devices: &devices };
    weights.compute_bill(&amounts, machine.bills)
}

impl ModelMachine {
    /// Returns what a job of a partition is billed for its allocation in a second.
    pub fn bill_per_second(&self, part: u16, alloc: &Alloc) -> f64 {
        let cpus = alloc.total_cpus(self) as f64;
        let Some(weights) = &self.parts[usize::from(part)].billing else { return cpus };
        let kinds = &self.resources.kinds;
        let more = alloc.more.as_deref();
        let memory = more.map_or(0, |more| more.memory.iter().sum::<u64>()) as f64;
        let of = |&(kind, _, count): &(u16, u32, u32)| {
            let kind = &kinds[usize::from(kind)];
            (kind.name.as_str(), kind.kind.as_str(), f64::from(count))
        };
        let devices: Vec<(&str, &str, f64)> = more.map_or(&[][..], |more| &more.gres).iter().map(of).collect();
        let nodes = alloc.nodes.count_nodes() as f64;
        weights.compute_bill(&BilledAmounts { cpus, nodes, memory, devices: &devices }, self.bills)
    }

    /// Returns the amount of a resource, such as `mem` or `gres/gpu`, that a job asks for.
    pub(crate) fn asked_of(&self, job: &Pending, name: &str) -> f64 {
        let weights = BillingWeights { list: vec![(name.to_string(), 1.0)] };
        billed_for(job, u64::from(job.min_nodes), self, &weights)
    }

    /// Returns the amount of a resource that the nodes of a partition have.
    pub(crate) fn amount_of(&self, part: u16, name: &str) -> f64 {
        let (nodes, resources) = (&self.parts[usize::from(part)].nodes, &self.resources);
        match name {
            "cpu" => nodes.iter().map(|node| f64::from(self.cpus[node])).sum(),
            "node" => nodes.count_nodes() as f64,
            "mem" => nodes.iter().map(|node| resources.memory.get(node).copied().unwrap_or(0) as f64).sum(),
            name => {
                let (name, kind) = name.trim_start_matches("gres/").split_once(':').unwrap_or((name, ""));
                let kinds = resources.kinds_of(name.trim_start_matches("gres/"), kind);
                let of = |(_, gres): (usize, &Vec<u32>)| nodes.iter().map(|node| f64::from(gres[node])).sum::<f64>();
                resources.gres.iter().enumerate().filter(|&(kind, _)| kinds >> kind & 1 == 1).map(of).sum()
            }
        }
    }

    /// Returns what a job is billed in a second for what it asks for, on so many nodes.
    pub fn billed_as_asked(&self, job: &Pending, nodes: u64) -> u64 {
        asked_amounts(job, nodes, self).billing
    }
}
