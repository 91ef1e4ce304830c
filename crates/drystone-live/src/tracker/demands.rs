//! Memory, devices and nodes, described as the simulator describes them: one table of the machine,
//! and a number for each demand that was seen.

use super::{NodeAmounts, NodeLayout, Tracked, Tracker, TrackerSettings};
use crate::cluster::{JobFact, JobKey, JobState};
use drystone::model::{
    AMOUNT_LIMIT, Demand, DemandId, DeviceDemand, DevicePer, NodeClass, NodeFill, NodeMemory, NodeShape, Resource,
    ResourceId, ResourceTable, ResourceTableBuilder, ResourceUnit, SupplyStep, Time,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Begins the names of licences among the resources.
const LICENCE: &str = "license:";
/// Kilobytes of a megabyte.
const KB: u64 = 1_024;

/// The table, and what is known of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Demands {
    table: ResourceTable,
    known: BTreeMap<Demand, DemandId>,
    /// Demands behind those of the table, of which the session does not know yet.
    new: Vec<Demand>,
    /// True if there is more of a resource in all than the session knows.
    has_grown: bool,
}

impl Demands {
    /// The resources of a machine, and its nodes, where its policy counts them.
    pub(super) fn new(layout: &NodeLayout, settings: &TrackerSettings) -> Demands {
        let mut builder = ResourceTableBuilder::new();
        if settings.counts {
            let memory =
                layout.total_memory().map(|mb| Resource::new("mem", ResourceUnit::Kilobytes, mb.saturating_mul(KB)));
            let devices =
                layout.total_devices().into_iter().map(|(name, count)| Resource::new(name, ResourceUnit::Count, count));
            let licences = layout.licences().iter();
            let licences =
                licences.map(|(name, &total)| Resource::new(format!("{LICENCE}{name}"), ResourceUnit::Count, total));
            for resource in memory.into_iter().chain(devices).chain(licences) {
                // A name that is none is not counted, and its jobs are left to the cluster.
                let _ = builder.add_resource(resource);
            }
        }
        if settings.on_nodes {
            builder.set_fill(NodeFill::Pack);
            node_classes(layout, settings.counts).into_iter().for_each(|class| builder.add_class(class));
        }
        // The empty demand is number 0.
        let _ = builder.intern_demand(Demand::default());
        Demands { table: builder.table().clone(), known: BTreeMap::new(), new: Vec::new(), has_grown: false }
    }

    fn demand_number(&mut self, demand: Demand) -> DemandId {
        if let Some(&id) = self.known.get(&demand) {
            return id;
        }
        // An amount beyond all bounds is no demand of a real job.
        if demand.totals.iter().any(|&(_, amount)| amount > AMOUNT_LIMIT) {
            return DemandId::NONE;
        }
        let id = DemandId((self.table.demands().len() + self.new.len()) as u32);
        self.new.push(demand.clone());
        self.known.insert(demand, id);
        id
    }

    /// Takes the new demands into the table, all of a look at once: each time costs a copy of the
    /// table. Returns whether there were any.
    fn grow_table(&mut self) -> bool {
        if self.new.is_empty() && !std::mem::take(&mut self.has_grown) {
            return false;
        }
        self.has_grown = false;
        let mut builder = ResourceTableBuilder::from(&self.table);
        for demand in self.new.drain(..) {
            let number = builder.intern_demand(demand.clone());
            debug_assert_eq!(number.ok(), self.known.get(&demand).copied());
        }
        self.table = builder.table().clone();
        true
    }

    /// Returns the number of a licence among the resources; `None` where it is not counted.
    pub(super) fn licence_number(&self, name: &str) -> Option<ResourceId> {
        self.table.find_id(&format!("{LICENCE}{name}"))
    }

    /// Returns the counted licences: number, name, and how many there are in all.
    pub(super) fn counted_licences(&self) -> impl Iterator<Item = (ResourceId, &str, u64)> {
        (0..)
            .map(ResourceId)
            .zip(self.table.resources())
            .filter_map(|(id, resource)| resource.name.strip_prefix(LICENCE).map(|name| (id, name, resource.total)))
    }

    /// Counts a licence that has come to be, behind the other resources. A name that is none is not
    /// counted.
    pub(super) fn add_licence(&mut self, name: &str, total: u64) {
        let mut builder = ResourceTableBuilder::from(&self.table);
        if builder.add_resource(Resource::new(format!("{LICENCE}{name}"), ResourceUnit::Count, total)).is_ok() {
            (self.table, self.has_grown) = (builder.table().clone(), true);
        }
    }

    pub(super) fn raise_total(&mut self, id: ResourceId, total: u64) {
        let is_more = self.table.find_resource(id).is_some_and(|resource| resource.total < total);
        let step = SupplyStep { resource: id, from: Time::MIN, amount: total, announced: None };
        if let (true, Ok(table)) = (is_more, self.table.with_supply(&[step])) {
            (self.table, self.has_grown) = (table, true);
        }
    }
}

/// Nodes that follow each other and are alike: processors keep their numbers.
fn node_classes(layout: &NodeLayout, counts: bool) -> Vec<NodeClass> {
    let mut classes: Vec<NodeClass> = Vec::new();
    for ((name, range), amounts) in layout.nodes().zip(layout.node_amounts()) {
        let (features, weight) = (amounts.features.clone(), amounts.weight);
        let mut class = NodeClass { cores: range.end - range.start, features, weight, ..NodeClass::default() };
        if counts {
            class.memory_kb = amounts.memory.unwrap_or(0).saturating_mul(KB);
            class.devices = list_devices(&amounts.devices);
        }
        match classes.last_mut().filter(|last| is_like(last, &class)) {
            Some(last) => last.nodes.push(name.to_string()),
            None => classes.push(NodeClass { nodes: vec![name.to_string()], ..class }),
        }
    }
    classes
}

fn is_like(first: &NodeClass, second: &NodeClass) -> bool {
    let of = |class: &NodeClass| NodeClass { nodes: Vec::new(), ..class.clone() };
    of(first) == of(second)
}

/// Devices by name and type. Those with a type are among those of the name alone.
fn list_devices(of: &BTreeMap<String, u32>) -> Vec<(String, String, u32)> {
    let mut device_entries = Vec::new();
    for (name, &count) in of {
        let (name, kind) = split_device(name);
        let typed_count: u32 = match kind {
            "" => of
                .iter()
                .filter(|(device, _)| matches!(split_device(device), (own, kind) if own == name && !kind.is_empty()))
                .map(|(_, count)| count)
                .sum(),
            _ => 0,
        };
        if count > typed_count {
            device_entries.push((name.to_string(), kind.to_string(), count - typed_count));
        }
    }
    device_entries
}

/// Name and type of a device, as `gpu:a100`.
fn split_device(device: &str) -> (&str, &str) {
    device.split_once(':').unwrap_or((device, ""))
}

/// Names of a list of hosts; none where it is no such list.
pub(super) fn parse_hosts(list: &str) -> Vec<String> {
    if list.is_empty() { Vec::new() } else { drystone_slurm::conf::expand_hostlist(list).unwrap_or_default() }
}

impl Tracker {
    /// Returns whether the devices that a job asks for are counted: then the policy starts it.
    pub(super) fn counts_devices(&self, fact: &JobFact) -> bool {
        let is_counted = |(name, _): &(String, u32)| self.demands.table.find_id(name).is_some();
        !fact.devices.is_empty() && fact.devices.iter().all(is_counted)
    }

    pub(super) fn demand_of(&mut self, t: &Tracked, fact: &JobFact) -> DemandId {
        let find = |name: &str| self.demands.table.find_id(name);
        let memory = find("mem").zip(fact.memory.map(|mb| mb.saturating_mul(KB)));
        let devices = fact.devices.iter().filter_map(|(name, count)| Some((find(name)?, u64::from(*count))));
        let licences = fact.licences.iter();
        let licences =
            licences.filter_map(|(name, count)| Some((self.demands.licence_number(name)?, u64::from(*count))));
        let totals = memory.into_iter().chain(devices).chain(licences);
        let totals: Vec<(ResourceId, u64)> = totals.filter(|&(_, n)| n > 0).collect();
        let shape = self.settings.on_nodes.then(|| self.shape_of(t, fact));
        if totals.is_empty() && shape.is_none() {
            return DemandId::NONE;
        }
        self.demands.demand_number(Demand { shape, ..Demand::from_totals(totals) })
    }

    /// Returns the demand of a job of a journal, as its user submitted it.
    pub(crate) fn demand_asked(&mut self, fact: &JobFact) -> DemandId {
        let key = JobKey { id: fact.id, task: None, submit: fact.submit };
        let t = Tracked { user_nodes: !fact.request.named.is_empty(), ..Tracked::new(key) };
        self.demand_of(&t, fact)
    }

    /// Returns what a job asks of its nodes: as many as the cluster says, with a share of the job
    /// on each; one where it is narrow or its devices fit on one; otherwise pieces wherever there
    /// is room.
    fn shape_of(&self, t: &Tracked, fact: &JobFact) -> NodeShape {
        let nodes = self.compute_need(t, fact, t.narrow).least_nodes();
        // A job of others may run here with devices that none of our nodes has.
        let is_known = |(name, _): &&(String, u32)| self.demands.table.find_id(name).is_some();
        let counted_devices: BTreeMap<String, u32> = fact.devices.iter().filter(is_known).cloned().collect();
        let on_one = |at: &NodeAmounts| {
            counted_devices.iter().all(|(name, count)| at.devices.get(name).is_some_and(|total| total >= count))
        };
        let together = t.narrow || (!counted_devices.is_empty() && self.layout.node_amounts().iter().any(on_one));
        let node_count = if nodes > 1 || together { nodes } else { 0 };
        let kb = fact.memory.unwrap_or(0).saturating_mul(KB);
        // Rounded down: what is asked for in all is never more than asked for.
        let memory = match node_count {
            _ if kb == 0 || !self.settings.counts => NodeMemory::None,
            0 => NodeMemory::PerCore(kb / u64::from(fact.procs.max(1))),
            each => NodeMemory::PerNode(kb / u64::from(each)),
        };
        let device = |(name, kind, count): (String, String, u32)| {
            let (count, per) =
                if node_count > 0 { (count.div_ceil(node_count), DevicePer::Node) } else { (count, DevicePer::Job) };
            DeviceDemand { name, kind, count, per, cores_each: 0 }
        };
        let devices = list_devices(&counted_devices).into_iter().map(device).collect();
        let shape = NodeShape { nodes: (node_count, node_count), memory, devices, ..NodeShape::default() };
        // One that runs has what it was given.
        if fact.state != JobState::Pending {
            return NodeShape { cores_per_task: fact.together, ..shape };
        }
        let exclusive = fact.request.exclusive;
        NodeShape {
            nodes: if exclusive { (nodes, nodes) } else { shape.nodes },
            cores_per_task: fact.together,
            only: self.named_nodes(t, fact),
            excluded: parse_hosts(&fact.request.excluded),
            features: if self.knows_features(fact) { fact.request.features.clone() } else { String::new() },
            exclusive,
            ..shape
        }
    }

    /// Returns the nodes that a job's user named, where the policy can choose among them: at least
    /// as many as it needs, all of them ours.
    pub(super) fn named_nodes(&self, t: &Tracked, fact: &JobFact) -> Vec<String> {
        if !self.settings.on_nodes || !t.user_nodes {
            return Vec::new();
        }
        let requested_hosts = parse_hosts(&fact.request.named);
        let are_ours = requested_hosts.iter().all(|name| self.layout.node_range(name).is_some());
        if requested_hosts.len() >= fact.nodes.max(1) as usize && are_ours { requested_hosts } else { Vec::new() }
    }

    /// Returns whether the policy knows which nodes have the features that a job asks for: all of
    /// some or any of some, each one of some node, without a number of nodes, and not the same one
    /// on several nodes.
    pub(super) fn knows_features(&self, fact: &JobFact) -> bool {
        let text = &fact.request.features;
        let (has_any, has_all) = (text.contains('|'), text.contains(['&', ',']));
        let same = text.contains('[') && fact.nodes > 1;
        if !self.settings.on_nodes || text.is_empty() || text.contains('*') || (has_any && has_all) || same {
            return false;
        }
        let is_known =
            |name: &str| self.layout.node_amounts().iter().any(|at| at.features.iter().any(|own| own == name));
        text.split(['&', '|', ',', '(', ')', '[', ']']).map(str::trim).filter(|name| !name.is_empty()).all(is_known)
    }

    /// The table of resources and nodes, if any is counted.
    pub(crate) fn resource_table(&self) -> Option<Arc<ResourceTable>> {
        let table = &self.demands.table;
        (table.has_resources() || table.node_fill().is_some()).then(|| Arc::new(table.clone()))
    }

    /// The table, where demands have come into it since this was asked last.
    pub(crate) fn grown_resources(&mut self) -> Option<Arc<ResourceTable>> {
        if self.demands.grow_table() { self.resource_table() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::fake::{FakeCluster, FakeRequest};
    use crate::cluster::{NodeDevices, NodeFact, NodeRequest, NodeState};
    use crate::tracker::DaemonMode;
    use drystone::policy::PolicySpec;

    /// Two nodes of 8 processors and 16 GB, and one of 32 processors and 64 GB with four GPUs of a
    /// type and two of none.
    fn tracker() -> Tracker {
        let gpus =
            [("gpu", 6), ("gpu:a100", 4)].map(|(name, total)| NodeDevices { name: name.into(), all: total, busy: 0 });
        let node = |name: &str, procs, memory, devices: &[NodeDevices]| NodeFact {
            name: name.into(),
            state: NodeState::Up,
            procs,
            busy: 0,
            memory: Some(memory),
            whole_memory: Some(memory),
            devices: devices.to_vec(),
            features: if devices.is_empty() { vec!["ib".into()] } else { vec!["ib".into(), "big".into()] },
            weight: 1,
            windows: Vec::new(),
        };
        let nodes = [node("n1", 8, 16_000, &[]), node("n2", 8, 16_000, &[]), node("g1", 32, 64_000, &gpus)];
        let policy: PolicySpec = "easy".parse().expect("a policy");
        let settings = TrackerSettings::for_mode(DaemonMode::Drive, vec!["main".into()], true, &policy);
        Tracker::new(settings, NodeLayout::new(&nodes))
    }

    fn fact(procs: u32, nodes: u32, memory: u64, devices: &[(&str, u32)]) -> JobFact {
        let mut cluster = FakeCluster::new(3, 8);
        cluster.submit(FakeRequest::new(procs, 10, 20));
        let devices = devices.iter().map(|&(name, count)| (name.to_string(), count)).collect();
        JobFact { nodes, memory: Some(memory), devices, ..cluster.true_snapshot().jobs.remove(0) }
    }

    #[test]
    fn nodes_that_are_alike_are_a_class_and_typed_devices_count_once() {
        let tracker = tracker();
        let table = tracker.resource_table().expect("a table");
        let classes: Vec<_> = table.node_classes().iter().map(|class| (class.nodes.join(","), class.cores)).collect();
        assert_eq!(classes, [("n1,n2".to_string(), 8), ("g1".to_string(), 32)]);
        assert_eq!((table.node_classes()[0].memory_kb, table.node_classes()[1].memory_kb), (16_000 * KB, 64_000 * KB));
        let gpus = [("gpu".to_string(), String::new(), 2), ("gpu".to_string(), "a100".to_string(), 4)];
        assert_eq!(table.node_classes()[1].devices, gpus);
    }

    #[test]
    fn a_job_asks_for_nodes_as_the_cluster_says() {
        let mut tracker = tracker();
        let job = |narrow| Tracked { narrow, ..Tracked::new(JobKey { id: 1, task: None, submit: 0 }) };
        let mut shape = |fact: &JobFact, narrow| {
            let id = tracker.demand_of(&job(narrow), fact);
            tracker.grown_resources().and_then(|table| table.node_shape(id).cloned()).expect("a shape")
        };
        // Anywhere, a third of its memory with each processor: 1,000 MB are no multiple of three.
        let anywhere = shape(&fact(3, 1, 1_000, &[]), false);
        assert_eq!((anywhere.nodes, anywhere.memory), ((0, 0), NodeMemory::PerCore(1_000 * KB / 3)));
        let narrow = shape(&fact(3, 1, 1_000, &[]), true);
        assert_eq!((narrow.nodes, narrow.memory), ((1, 1), NodeMemory::PerNode(1_000 * KB)));
        let two = shape(&fact(16, 2, 4_000, &[]), false);
        assert_eq!((two.nodes, two.memory), ((2, 2), NodeMemory::PerNode(2_000 * KB)));
        // Its GPUs are on one node: so is the job.
        // The cluster lists those with a type under both names.
        let gpus = shape(&fact(4, 1, 0, &[("gpu", 2), ("gpu:a100", 2)]), false);
        let device = DeviceDemand { name: "gpu".into(), kind: "a100".into(), count: 2, ..DeviceDemand::default() };
        assert_eq!((gpus.nodes, gpus.devices), ((1, 1), vec![device]));
        let each = shape(&fact(4, 2, 0, &[("gpu", 4)]), false);
        let device = DeviceDemand { name: "gpu".into(), count: 2, ..DeviceDemand::default() };
        assert_eq!((each.nodes, each.devices), ((2, 2), vec![device]), "two on each of two nodes");
        let foreign = shape(&fact(2, 1, 0, &[("gpu:v100", 2)]), false);
        assert!(foreign.devices.is_empty(), "of none of our nodes");
        // Equal demands have one number.
        let ids = [0, 1].map(|_| tracker.demand_of(&job(false), &fact(16, 2, 4_000, &[])));
        assert_eq!(ids[0], ids[1]);
    }

    /// Nodes that its user named count, nodes that we named do not.
    #[test]
    fn a_job_asks_for_nodes_by_what_they_are() {
        let mut tracker = tracker();
        let mut shape = |user_nodes: bool, procs, nodes, request: &NodeRequest| {
            let t = Tracked { user_nodes, ..Tracked::new(JobKey { id: 1, task: None, submit: 0 }) };
            let fact = JobFact { request: request.clone(), ..fact(procs, nodes, 0, &[]) };
            let is_known = tracker.knows_features(&fact);
            let id = tracker.demand_of(&t, &fact);
            let shape = tracker.grown_resources().and_then(|table| table.node_shape(id).cloned());
            (is_known, shape.unwrap_or_default())
        };
        let of = |names: &str, exclusions: &str, features: &str, exclusive| NodeRequest {
            named: names.into(),
            excluded: exclusions.into(),
            features: features.into(),
            exclusive,
        };
        let demand = shape(true, 4, 2, &of("n[1-2]", "", "", false)).1;
        assert_eq!((demand.nodes, demand.only), ((2, 2), vec!["n1".to_string(), "n2".to_string()]));
        assert!(shape(false, 5, 2, &of("n[1-2]", "", "", false)).1.only.is_empty(), "we bound it");
        assert!(shape(true, 4, 3, &of("n[1-2]", "", "", false)).1.only.is_empty(), "and one that Slurm chooses");
        assert!(shape(true, 4, 1, &of("x1", "", "", false)).1.only.is_empty(), "none of ours");
        assert_eq!(shape(false, 4, 1, &of("", "n[1-2],g1", "", false)).1.excluded, ["n1", "n2", "g1"]);
        let whole = shape(false, 8, 1, &of("", "", "", true)).1;
        assert_eq!((whole.nodes, whole.exclusive), ((1, 1), true));
        for (text, is_known) in [
            ("big", true),
            ("ib&big", true),
            ("[ib|big]", true),
            ("(ib&big)|ib", false),
            ("big*1", false),
            ("gpu", false),
        ] {
            let (is, shape) = shape(false, 6, 1, &of("", "", text, false));
            assert_eq!((is, shape.features.as_str()), (is_known, if is_known { text } else { "" }), "{text}");
        }
        assert!(!shape(false, 6, 2, &of("", "", "[ib|big]", false)).0, "one of them on both nodes");
    }
}
