//! Recorded jobs as the schedulers see them.

use super::golden::Golden;
use super::recorded::GoldenShare;
use drystone_core::model::SharedSort;
use drystone_slurm::conf::{PreemptMode, Sharing};
use drystone_slurm::model::{
    AdvanceReservation, Alloc, AllocMore, ModelCluster, ModelMachine, NONE, NodeSet, Pending, Resources, parse_gres,
    parse_licences,
};
use drystone_slurm::site::Multifactor;
use std::collections::BTreeMap;

/// Makes what the schedulers see of a recording.
pub(super) struct Makes<'a> {
    golden: &'a Golden,
    /// Processors of the largest node.
    widest: u32,
    /// Of each job in each partition the number of its demand, and the processors that it needs.
    demands: Vec<Vec<(u32, u32)>>,
    /// Resources of nodes, with the demands of all jobs.
    pub(super) resources: Resources,
    /// Seconds before a job that was requeued may start again.
    pub(super) requeue_delay: i64,
    /// Weights of priorities; `None` for first come, first served.
    pub(super) multifactor: Option<Multifactor>,
}

/// Delay that `slurmctld` adds to the present when it requeues a job, in seconds: the life of a
/// credential and a second.
const REQUEUE_DELAY: i64 = 121;

impl<'a> Makes<'a> {
    pub(super) fn new(golden: &'a Golden) -> Makes<'a> {
        let widest = golden.conf.nodes.iter().map(|node| node.cpus).max().unwrap_or(1);
        let mut machine = ModelMachine::from_conf(&golden.conf);
        let mut demands = Vec::with_capacity(golden.jobs.len());
        for job in &golden.jobs {
            let mut of_parts = Vec::with_capacity(golden.conf.partitions.len());
            for part in &golden.conf.partitions {
                let (demand, cpus) = super::recorded_demands::find_demand(golden, job, &machine, part);
                let cores = machine.cpus.clone();
                let number = if job.tasks.is_some() { machine.resources.intern_demand(demand, &cores) } else { 0 };
                of_parts.push((number, cpus));
            }
            demands.push(of_parts);
        }
        let multifactor = Multifactor::from_conf(&golden.conf);
        Makes { golden, widest, demands, resources: machine.resources, requeue_delay: REQUEUE_DELAY, multifactor }
    }

    /// The cluster of the recording, without jobs.
    pub(super) fn make_cluster(&self) -> ModelCluster {
        let mut cluster = ModelCluster::from_conf(&self.golden.conf, &self.golden.accounts);
        cluster.machine.resources.clone_from(&self.resources);
        cluster.preempting.suspends = cluster.preempting.mode == PreemptMode::Suspend;
        cluster
    }

    /// Returns whether a limit in seconds is above that of a partition, so that the job waits for
    /// ever.
    pub(super) fn exceeds_partition(&self, id: u32, part: u16, limit: i64) -> bool {
        let most = self.golden.conf.partitions[usize::from(part)].max_minutes;
        self.golden.jobs[id as usize].tasks.is_some() && most.is_some_and(|most| limit > most * 60)
    }

    /// The partitions of these names; the first one for a name that there is not.
    pub(super) fn find_partitions(&self, names: &[String]) -> Vec<u16> {
        let find = |name: &String| self.golden.conf.partitions.iter().position(|part| part.name == *name);
        let mut parts: Vec<u16> = names.iter().map(|name| find(name).unwrap_or(0) as u16).collect();
        if parts.is_empty() {
            parts.push(0);
        }
        parts
    }

    /// The job as it waits in each of its partitions, or in `parts`. The priority is that of the
    /// partition of this term, else that of the first one.
    pub(super) fn pending_entries(
        &self,
        id: u32,
        (priority, term): (i64, Option<i64>),
        parts: Option<&Vec<u16>>,
        machine: &ModelMachine,
    ) -> Vec<Pending> {
        let submitted_parts = self.find_partitions(&self.golden.jobs[id as usize].partitions);
        let parts = parts.unwrap_or(&submitted_parts);
        let several = parts.len() > 1;
        let base = term.unwrap_or(self.part_term(parts[0], machine));
        let entry = |&part: &u16| Pending {
            several,
            priority: if several { priority + self.part_term(part, machine) - base } else { priority },
            ..self.pending_in(id, part, priority, machine)
        };
        parts.iter().map(entry).collect()
    }

    fn part_term(&self, part: u16, machine: &ModelMachine) -> i64 {
        let Some(rules) = &self.multifactor else { return 0 };
        let factor = |part: u16| f64::from(machine.parts[usize::from(part)].job_factor);
        let largest = machine.parts.iter().map(|part| part.job_factor).max().unwrap_or(1).max(1);
        (rules.partition * factor(part) / f64::from(largest)).round() as i64
    }

    /// Returns whether backfill lets go of its locks after each job, as in recordings that are to
    /// have long passes.
    pub(super) fn yields_locks(&self) -> bool {
        self.golden.conf.sched.bf_yield_interval == 1
    }

    /// Returns whether the recording has all the factors of priorities. Those that do not have what
    /// was subtracted for being nice in the priorities alone.
    pub(super) fn has_factors(&self) -> bool {
        self.golden.jobs.iter().all(|job| job.one.is_some())
    }

    pub(super) fn find_nodes(&self, names: &[String]) -> NodeSet {
        let index = names.iter().filter_map(|name| self.golden.conf.find_node(name)).map(|index| index as usize);
        NodeSet::from_members(self.golden.conf.nodes.len(), index)
    }

    /// The job as it was submitted: by nodes where nodes have one processor, else by processors,
    /// and on one node if it asks for that; recordings that do not say so asked for one node
    /// wherever the job fits on it.
    pub(super) fn pending_job(&self, id: u32, priority: i64, machine: &ModelMachine) -> Pending {
        let part = self.find_partitions(&self.golden.jobs[id as usize].partitions)[0];
        self.pending_in(id, part, priority, machine)
    }

    fn pending_in(&self, id: u32, part: u16, priority: i64, machine: &ModelMachine) -> Pending {
        let (job, conf) = (&self.golden.jobs[id as usize], &self.golden.conf);
        let conf_part = &conf.partitions[usize::from(part)];
        let is_one_node = job.one.unwrap_or(job.n <= self.widest);
        let named_count = super::recorded_demands::named_nodes(job).len() as u32;
        let (min_nodes, max_nodes) = match (self.widest, job.nodes) {
            (1, _) if job.tasks.is_none() => (job.n, job.n),
            (_, Some(nodes)) => (nodes, job.max_nodes.unwrap_or(nodes)),
            _ if is_one_node => (1, 1),
            _ => (1, u32::MAX),
        };
        let (min_nodes, max_nodes) = (min_nodes.max(named_count), max_nodes.max(named_count));
        // sbatch asks for no more nodes than tasks.
        let tasks = job.tasks.map_or(0, |(tasks, _)| tasks);
        let min_nodes = if tasks == 0 { min_nodes } else { min_nodes.min(tasks) };
        let (demand, cpus) = self.demands[id as usize][usize::from(part)];
        let limit = conf_part.max_minutes.map_or(job.limit, |max| max.min(job.limit));
        let accounts = &self.golden.accounts;
        let assoc = accounts.find_in(&job.account, &job.user, &job.partition);
        let default = assoc.and_then(|assoc| accounts.assocs[assoc].default_qos);
        let qos = accounts.find_qos(&job.qos).or(default);
        let index = |index: Option<usize>| index.map_or(NONE, |index| index as u32);
        let mut pending = Pending {
            part,
            user: number_from_name(&job.user),
            account: number_from_name(&job.account),
            min_nodes,
            max_nodes,
            whole: job.exclusive || machine.parts[usize::from(part)].whole,
            exclusive: job.exclusive || conf_part.sharing == Sharing::Exclusive,
            priority,
            submit: job.submit + self.golden.base,
            accrue: self.accrues_from(job) + self.golden.base,
            assoc: index(assoc),
            qos: index(qos),
            nice: job.nice,
            array: job.task.map_or(NONE, |(array, _)| self.first_of(array)),
            throttle: job.throttle,
            demand,
            ..Pending::new(id, cpus, limit * 60)
        };
        pending.bind_nodes(machine);
        pending
    }

    /// Returns the time since which a job's age counts: since it is eligible.
    fn accrues_from(&self, job: &super::GoldenJob) -> i64 {
        if self.golden.conf.priority.has_flag("ACCRUE_ALWAYS") {
            return job.submit;
        }
        job.eligible.filter(|_| job.restarts == 0).map_or(job.submit, |eligible| eligible.max(job.submit))
    }

    fn recorded_allocation(&self, shares: &[GoldenShare], machine: &ModelMachine) -> Option<Alloc> {
        let mut of: Vec<(usize, &GoldenShare)> = Vec::new();
        for share in shares {
            of.push((self.golden.conf.find_node(&share.node)? as usize, share));
        }
        of.sort_shared_by_key(|&(node, _)| node);
        let mut more = AllocMore::default();
        if !machine.resources.memory.is_empty() {
            more.memory = of.iter().map(|(_, share)| share.memory).collect();
        }
        more.cores = of.iter().map(|(_, share)| share.cores).collect();
        for (node, share) in &of {
            for (name, kind, count) in parse_gres(&share.gres) {
                let mut remaining = count;
                let kinds = machine.resources.kinds_of(&name, &kind);
                for at in (0..machine.resources.kinds.len()).filter(|at| kinds >> at & 1 == 1) {
                    let node_count = remaining.min(machine.resources.gres[at][*node]);
                    if node_count > 0 {
                        more.gres.push((at as u16, *node as u32, node_count));
                        remaining -= node_count;
                    }
                }
            }
        }
        Some(Alloc {
            nodes: NodeSet::from_members(machine.node_count(), of.iter().map(|&(node, _)| node)),
            cpus: of.iter().map(|(_, share)| share.cpus).collect(),
            more: (!machine.resources.is_plain()).then(|| Box::new(more)),
        })
    }

    /// A reservation as `scontrol create reservation` makes it; `None` where it does not say when
    /// it begins or ends.
    pub(super) fn parse_reservation(&self, name: &str, words: &BTreeMap<String, &str>) -> Option<AdvanceReservation> {
        let word = |key: &str| words.get(key).copied().unwrap_or_default();
        let begin = parse_instant(word("starttime"))?;
        let minutes = |text: &str| drystone_slurm::conf::parse_seconds(text).ok().flatten();
        let end = parse_instant(word("endtime")).or_else(|| Some(begin + minutes(word("duration"))?))?;
        let flags = word("flags").to_ascii_uppercase();
        let has = |flag: &str| flags.split(',').any(|own| own == flag);
        let conf = &self.golden.conf;
        let is_whole_machine = word("nodes").eq_ignore_ascii_case("all");
        let part = conf.partitions.iter().position(|part| part.name == word("partitionname"));
        let nodes = if is_whole_machine {
            NodeSet::full(conf.nodes.len())
        } else if let (true, Some(part)) = (word("nodes").is_empty(), part) {
            NodeSet::from_members(conf.nodes.len(), conf.partitions[part].nodes.iter().map(|&node| node as usize))
        } else {
            self.find_nodes(&drystone_slurm::conf::expand_hostlist(word("nodes")).unwrap_or_default())
        };
        let place = |own: &str| self.resources.licences.iter().position(|(name, _)| name == own);
        let reserved_licences = parse_licences(word("licenses"));
        Some(AdvanceReservation {
            name: name.to_string(),
            begin,
            end,
            nodes,
            all: is_whole_machine,
            maint: has("MAINT"),
            overlap: has("OVERLAP"),
            part: part.filter(|_| has("PART_NODES")).map_or(NONE, |part| part as u32),
            licences: reserved_licences.iter().filter_map(|(own, count)| Some((place(own)? as u16, *count))).collect(),
        })
    }

    fn first_of(&self, array: u32) -> u32 {
        let is = |job: &super::GoldenJob| job.task.is_some_and(|(of, _)| of == array);
        self.golden.jobs.iter().position(is).unwrap_or(0) as u32
    }

    /// The processors that the job has on each of its nodes: the log names nodes alone.
    /// Where the recording says what the job has, that counts.
    pub(super) fn share_out(
        &self,
        cluster: &ModelCluster,
        job: &Pending,
        nodes: NodeSet,
        shares: Option<&[GoldenShare]>,
    ) -> Alloc {
        let machine = &cluster.machine;
        let recorded_alloc = shares.and_then(|shares| self.recorded_allocation(shares, machine));
        if let Some(alloc) = recorded_alloc.filter(|alloc| alloc.nodes == nodes) {
            return alloc;
        }
        if job.whole || self.widest == 1 {
            return Alloc { nodes, ..Alloc::default() };
        }
        if let Some(alloc) = cluster.idle.place_job(job, &nodes, machine).filter(|alloc| alloc.nodes == nodes) {
            return alloc;
        }
        let (mut remaining_cpus, mut behind) = (job.cpus, nodes.count_nodes() as u32);
        let mut cpus = Vec::new();
        for node in nodes.iter() {
            behind -= 1;
            let node_cpus =
                cluster.idle.idle_on(node).min(remaining_cpus.saturating_sub(behind).max(1)).min(machine.cpus[node]);
            remaining_cpus = remaining_cpus.saturating_sub(node_cpus);
            cpus.push(node_cpus);
        }
        Alloc { nodes, cpus, more: None }
    }
}

/// `2026-11-26T17:14:51` in seconds from the Unix epoch, as the recorder's clock had it: UTC.
fn parse_instant(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let part =
        |text: &str, separator: char| text.split(separator).map(|n| n.parse().ok()).collect::<Option<Vec<i64>>>();
    let (date, time) = (part(date, '-')?, part(time, ':')?);
    let &[year, month, day] = date.as_slice() else { return None };
    // Days of a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = time.iter().zip([3600, 60, 1]).map(|(n, unit)| n * unit).sum::<i64>();
    Some(days * 86_400 + seconds)
}

/// A number for a name: users and accounts are only told apart.
fn number_from_name(name: &str) -> i32 {
    name.bytes().fold(7_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}
