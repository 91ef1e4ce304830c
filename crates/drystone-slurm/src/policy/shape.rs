//! The machine behind the policy: from a configuration or from a few numbers, as large as the
//! log's.

use super::people::LogNames;
use crate::accounts::Accounts;
use crate::conf::{SelectUnit, SlurmConf};
use crate::model::{IdleNodes, ModelCluster, ModelMachine, NodeSet, Pending, Preempting, Resources, UseLedger};
use drystone_core::model::{Job, ResourceTable, Span};
use serde::{Deserialize, Serialize};

/// Conversion of the machine once its size is known, and of jobs' requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RequestShape {
    /// From a configuration, else of equal nodes.
    pub(super) machine: Option<ModelMachine>,
    /// Resources of its nodes beside processors. They count where a workload says what jobs ask
    /// for.
    resources: Resources,
    /// The names of its nodes.
    names: Vec<String>,
    /// Processors of each equal node.
    pub(super) cpus: u32,
    /// True if jobs get whole nodes.
    pub(super) whole: bool,
    /// True if a job that fits on one node asks for one.
    pub(super) pack: bool,
    /// True if equal jobs of the same second are tasks of an array.
    pub(super) arrays: bool,
    /// Longest limit in seconds.
    pub(super) longest: i64,
    /// Limits on what runs.
    pub(super) ledger: Option<UseLedger>,
    /// Rules of preemption.
    pub(super) preempting: Preempting,
}

impl RequestShape {
    /// Equal nodes.
    pub(super) fn with_equal_nodes(cpus: u32, whole: bool, pack: bool) -> RequestShape {
        RequestShape {
            machine: None,
            resources: Resources::default(),
            names: Vec::new(),
            cpus,
            whole,
            pack,
            arrays: false,
            longest: i64::MAX,
            ledger: None,
            preempting: Preempting::default(),
        }
    }

    pub(super) fn from_conf(conf: &SlurmConf, accounts: &Accounts, pack: bool) -> RequestShape {
        let whole = conf.select == SelectUnit::Linear;
        let mut cluster = ModelCluster::from_conf(conf, accounts);
        // A log does not say what its jobs ask for beside processors, and a site does.
        let resources = std::mem::take(&mut cluster.machine.resources);
        // The state is that of the day on which the file was written. Jobs that come to the
        // partition come when it takes jobs.
        cluster.machine.parts.iter_mut().for_each(|part| part.up = true);
        let names = conf.nodes.iter().map(|node| node.name.clone()).collect();
        let mut ledger = cluster.ledger;
        if let Some(ledger) = &mut ledger {
            ledger.lenient = true;
        }
        RequestShape {
            machine: Some(cluster.machine),
            resources,
            names,
            ledger,
            preempting: cluster.preempting,
            ..RequestShape::with_equal_nodes(1, whole, pack)
        }
    }

    /// Returns whether jobs may replace others.
    pub(super) fn can_preempt(&self) -> bool {
        self.preempting.is_on()
    }

    /// The cluster of a workload with `procs` processors, without jobs, and the number of each of
    /// the workload's demands among those of the cluster.
    pub(super) fn build_cluster(&self, procs: u32, table: Option<&ResourceTable>) -> (ModelCluster, Vec<u32>) {
        let mut machine = self.build_machine(procs, table);
        let shapes = table.is_some_and(|table| table.demands().iter().any(|demand| demand.shape.is_some()));
        let mut demands = Vec::new();
        if let (Some(table), true) = (table, shapes) {
            let nodes = machine.node_count();
            if self.machine.is_some() {
                let same = nodes == self.names.len();
                machine.resources = if same { self.resources.clone() } else { self.resources.resized_to(nodes) };
            }
            for demand in table.demands() {
                let demand_in_model =
                    demand.shape.as_ref().map(|shape| machine.resources.demand_of(shape, &self.names));
                demands.push(
                    demand_in_model.map_or(0, |model_demand| machine.resources.add_demand(model_demand, &machine.cpus)),
                );
            }
        } else if self.machine.is_some() && !(self.resources.weights.is_empty() && self.resources.caps.is_empty()) {
            let Resources { weights, caps, .. } = self.resources.resized_to(machine.node_count());
            machine.resources = Resources { weights, caps, ..Resources::default() };
        }
        let mut cluster = ModelCluster::new(machine);
        cluster.ledger.clone_from(&self.ledger);
        cluster.preempting.clone_from(&self.preempting);
        (cluster, demands)
    }

    /// The machine of a log with `procs` processors. One that the configuration has too large loses
    /// its last nodes; one too small gains nodes in its default partition, so that every job of the
    /// log has its place. Without a configuration it has the nodes that the workload describes.
    fn build_machine(&self, procs: u32, table: Option<&ResourceTable>) -> ModelMachine {
        let described_machine =
            table.and_then(ModelMachine::of_classes).filter(|machine| machine.total_cpus() == u64::from(procs));
        match (&self.machine, described_machine) {
            (Some(machine), _) => fit_machine(machine, procs),
            (None, Some(machine)) => machine,
            (None, None) => uniform_machine(procs, self.cpus, self.whole),
        }
    }

    /// The job as Slurm would see it.
    pub(super) fn pending_job(&self, id: u32, job: &Job, limit: Span, ground: &JobBackground<'_>) -> Pending {
        let JobBackground { machine, empty, names, .. } = ground;
        let mut pending = Pending {
            user: job.user,
            account: job.group,
            submit: job.submit.0,
            accrue: job.submit.0,
            ..Pending::new(id, job.procs, whole_minutes(limit) * 60)
        };
        let shape = ground.table.and_then(|table| table.node_shape(job.demand));
        pending.demand = ground.demands.get(job.demand.0 as usize).copied().unwrap_or(0);
        for part in part_candidates(job, machine, names) {
            pending.ask_place(part, machine, self.whole, self.pack);
            pending.limit = pending.limit.min(self.longest);
            if let Some(shape) = shape {
                pending.take_shape(shape, machine);
            }
            self.bind_to_part(&mut pending, machine, empty);
            if shape.is_some() {
                // A site's job is of the partition that it names, whether that has room or not.
                if ground.is_of(job, part) {
                    break;
                }
            }
            if empty.place_job(&pending, &machine.parts[usize::from(part)].nodes, machine).is_some() {
                return pending;
            }
        }
        if shape.is_none() {
            self.lift_cap(&mut pending, job, ground);
        }
        pending
    }

    /// The job as it waits in each of the partitions that it asks for, as far as they have room for
    /// it and allow its limit: as `own` in its own. Slurm starts it in none that do not.
    pub(super) fn part_entries(
        &self,
        own: Pending,
        job: &Job,
        limit: Span,
        ground: &JobBackground<'_>,
    ) -> Vec<Pending> {
        let JobBackground { machine, empty, .. } = ground;
        let shape = ground.table.and_then(|table| table.node_shape(job.demand));
        let Some(shape) = shape.filter(|shape| shape.partitions.len() > 1) else { return vec![own] };
        let asked_limit = whole_minutes(limit) * 60;
        let home = &machine.parts[usize::from(own.part)];
        let fits_own = asked_limit <= home.max_limit
            && !own.is_beyond_partition()
            && empty.place_job(&own, &home.nodes, machine).is_some();
        let is_asked = shape.partitions.contains(&home.name);
        let mut entries = Vec::new();
        for name in &shape.partitions {
            let Some(part) = machine.parts.iter().position(|part| part.name == *name) else { continue };
            let part = part as u16;
            if entries.iter().any(|entry: &Pending| entry.part == part) {
                continue;
            }
            if part == own.part {
                entries.extend(fits_own.then(|| own.clone()));
                continue;
            }
            let mut entry = Pending { limit: asked_limit, cpus: job.procs, uncapped: false, ..own.clone() };
            (entry.own_nodes, entry.node_cap) = (0, u32::MAX);
            entry.ask_place(part, machine, self.whole, self.pack);
            let is_within_limit = entry.limit == asked_limit;
            entry.limit = entry.limit.min(self.longest);
            entry.take_shape(shape, machine);
            bind_to_range(&mut entry, machine);
            let nodes = &machine.parts[usize::from(part)].nodes;
            if is_within_limit && !entry.is_beyond_partition() && empty.place_job(&entry, nodes, machine).is_some() {
                entries.push(entry);
            }
        }
        // Where none has room, the job waits in its own.
        if !entries.iter().any(|entry| entry.part == own.part) && (entries.is_empty() || !is_asked) {
            entries.insert(0, own);
        }
        let several = entries.len() > 1;
        entries.iter_mut().for_each(|entry| entry.several = several);
        entries
    }

    /// A job that fits nowhere under the caps of partitions on a node's processors is of another
    /// day's configuration: the cap does not hold for it where it fits without.
    fn lift_cap(&self, pending: &mut Pending, job: &Job, ground: &JobBackground<'_>) {
        let JobBackground { machine, empty, names, .. } = ground;
        if machine.resources.caps.is_empty() {
            return;
        }
        for part in part_candidates(job, machine, names) {
            let mut elsewhere = Pending { uncapped: true, ..pending.clone() };
            elsewhere.ask_place(part, machine, self.whole, self.pack);
            self.bind_to_part(&mut elsewhere, machine, empty);
            if empty.place_job(&elsewhere, &machine.parts[usize::from(part)].nodes, machine).is_some() {
                *pending = elsewhere;
                return;
            }
        }
    }
}

impl RequestShape {
    /// The partition's fewest and most nodes hold where the job fits within them. A job that ran
    /// all the same was of another day's configuration, or of a QOS that may: it is let be.
    fn bind_to_part(&self, pending: &mut Pending, machine: &ModelMachine, empty: &IdleNodes) {
        let part = &machine.parts[usize::from(pending.part)];
        if part.node_range == (0, u32::MAX) || machine.cpus.iter().all(|&cpus| cpus == 1) {
            return;
        }
        let mut bound = pending.clone();
        bind_to_range(&mut bound, machine);
        if !bound.is_beyond_partition() && empty.place_job(&bound, &part.nodes, machine).is_some() {
            *pending = bound;
        }
    }
}

/// Background against which jobs are seen.
pub(super) struct JobBackground<'a> {
    /// The machine with all of its nodes.
    pub(super) machine: &'a ModelMachine,
    /// Idle nodes without jobs.
    pub(super) empty: &'a IdleNodes,
    /// Names behind the log's numbers.
    pub(super) names: &'a LogNames,
    /// Demands of jobs beside processors.
    pub(super) table: Option<&'a ResourceTable>,
    /// The numbers of these demands on the machine.
    pub(super) demands: &'a [u32],
}

impl JobBackground<'_> {
    /// Returns whether a job names this partition.
    fn is_of(&self, job: &Job, part: u16) -> bool {
        self.names.knows_kind("partition")
            && self.machine.parts[usize::from(part)].name == self.names.name_of("partition", job.partition)
    }
}

/// Holds a job to its partition's fewest and most nodes. One that asks for processors alone may
/// have as many nodes as the partition wants.
fn bind_to_range(pending: &mut Pending, machine: &ModelMachine) {
    pending.bind_nodes(machine);
    if machine.cpus.iter().any(|&cpus| cpus > 1) {
        let (least, _) = machine.parts[usize::from(pending.part)].node_range;
        pending.max_nodes = pending.max_nodes.max(least);
        pending.cpus = pending.cpus.max(pending.min_nodes);
    }
}

/// Returns a limit in minutes, as Slurm counts them.
fn whole_minutes(limit: Span) -> i64 {
    (limit.0.max(1) + 59) / 60
}

/// The partitions to try: the one that the log names, by name or number, the default, then all
/// others.
fn part_candidates(job: &Job, machine: &ModelMachine, names: &LogNames) -> impl Iterator<Item = u16> {
    let count = machine.parts.len() as u16;
    let mut named_part = None;
    if count > 1 {
        let name = names.name_of("partition", job.partition);
        let of_name = machine.parts.iter().position(|part| part.name == name).map(|index| index as u16);
        let numbers = [job.partition, job.queue].into_iter().filter(|_| !names.knows_kind("partition"));
        let mut numbers = numbers.filter_map(|number| u16::try_from(number - 1).ok());
        named_part = of_name.or_else(|| numbers.find(|&number| number < count));
    }
    named_part.into_iter().chain([machine.default_part]).chain(0..count)
}

fn uniform_machine(procs: u32, cpus: u32, whole: bool) -> ModelMachine {
    let nodes = procs.div_ceil(cpus.max(1)) as usize;
    let mut machine = ModelMachine::with_equal_nodes(nodes, cpus);
    if let Some(last) = machine.cpus.last_mut() {
        *last -= nodes as u32 * cpus - procs;
    }
    (machine.parts[0].whole, machine.parts[0].exclusive) = (whole, whole);
    machine
}

fn fit_machine(machine: &ModelMachine, procs: u32) -> ModelMachine {
    let (mut remaining, mut cpus) = (procs, Vec::new());
    for &node_cpus in &machine.cpus {
        if remaining > 0 {
            cpus.push(node_cpus.min(remaining));
            remaining -= node_cpus.min(remaining);
        }
    }
    let described_count = cpus.len();
    let widest = machine.cpus.iter().copied().max().unwrap_or(1).max(1);
    while remaining > 0 {
        cpus.push(widest.min(remaining));
        remaining -= widest.min(remaining);
    }
    let mut resized_machine = ModelMachine { cpus, ..machine.clone() };
    let nodes = resized_machine.node_count();
    for (index, part) in resized_machine.parts.iter_mut().enumerate() {
        let kept_nodes = part.nodes.iter().filter(|&node| node < described_count).collect::<Vec<_>>();
        part.nodes = NodeSet::from_members(nodes, kept_nodes);
        if index == usize::from(machine.default_part) {
            (described_count..nodes).for_each(|node| part.nodes.insert(node));
        }
    }
    resized_machine
}

/// Finds arrays in a log, where their tasks are single jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ArrayFinder {
    last: Option<(Job, u32)>,
}

impl ArrayFinder {
    /// The array of a job by its first task: jobs of one user, submitted in the same second, that
    /// are equal in all that the log knows are tasks of one. A job alone is an array of its own.
    pub(super) fn array_of(&mut self, id: u32, job: &Job) -> u32 {
        match &self.last {
            Some((same, first)) if same == job => *first,
            _ => {
                self.last = Some((job.clone(), id));
                id
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_as_large_as_the_logs() {
        let half = uniform_machine(20, 8, true);
        assert_eq!(half.cpus, [8, 8, 4]);
        let small = fit_machine(&ModelMachine::with_equal_nodes(4, 8), 20);
        assert_eq!((small.cpus.as_slice(), small.parts[0].nodes.count_nodes()), ([8, 8, 4].as_slice(), 3));
        let large = fit_machine(&ModelMachine::with_equal_nodes(2, 8), 20);
        assert_eq!((large.cpus.as_slice(), large.parts[0].nodes.count_nodes()), ([8, 8, 4].as_slice(), 3));
    }
}
