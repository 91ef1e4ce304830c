//! Demands of nodes as every policy knows them, in the words of this model.

use super::resources::{GpuDemand, JobDemand, MemoryDemand};
use super::{ModelMachine, NodeSet, Pending, Resources};
use drystone_core::model::{DeviceDemand, DevicePer, NodeMemory, NodeShape, ResourceTable};

/// Index of a licence that the cluster does not have: never free.
const NO_LICENCE: u16 = u16::MAX;

impl Resources {
    /// Returns the demand of a job of this shape beside processors and nodes. `names` are those of
    /// the nodes. A type of device and a licence that no node or cluster has are never free.
    pub fn demand_of(&self, shape: &NodeShape, names: &[String]) -> JobDemand {
        let numbers = |name_list: &[String]| -> Vec<u32> {
            name_list.iter().filter_map(|name| names.iter().position(|own| own == name)).map(|at| at as u32).collect()
        };
        let licence = |(name, count): &(String, u32)| {
            let at = self.licences.iter().position(|(own, _)| own == name);
            (at.map_or(NO_LICENCE, |at| at as u16), *count)
        };
        let mut demand = JobDemand {
            tasks: shape.tasks,
            cpus_per_task: shape.cores_per_task,
            least_cpus: shape.least_cores,
            memory: if self.memory.is_empty() { MemoryDemand::None } else { memory_demand(&shape.memory) },
            features: shape.features.clone(),
            licences: shape.licences.iter().map(licence).collect(),
            named: (numbers(&shape.only), numbers(&shape.excluded)),
            ..JobDemand::default()
        };
        for device in shape.devices.iter().filter(|device| device.count > 0) {
            self.add_device(&mut demand, device, shape.nodes.0.max(1));
        }
        demand
    }

    fn add_device(&self, demand: &mut JobDemand, device: &DeviceDemand, nodes: u32) {
        let kinds = self.kinds_of(&device.name, &device.kind);
        if device.name.eq_ignore_ascii_case("gpu") && demand.gpus.is_none() {
            let mut gpus = GpuDemand { kinds, cpus_each: device.cores_each, ..GpuDemand::default() };
            match device.per {
                DevicePer::Node => gpus.per_node = device.count,
                DevicePer::Job => gpus.per_job = device.count,
                DevicePer::Task => gpus.per_task = device.count,
            }
            demand.gpus = Some(gpus);
            return;
        }
        let count_per_node = match device.per {
            DevicePer::Job => device.count.div_ceil(nodes),
            DevicePer::Node | DevicePer::Task => device.count,
        };
        demand.gres.push((kinds, count_per_node));
    }
}

fn memory_demand(request: &NodeMemory) -> MemoryDemand {
    let megabytes = |kb: u64| kb.div_ceil(1024);
    match *request {
        NodeMemory::PerNode(kb) => MemoryDemand::PerNode(megabytes(kb)),
        NodeMemory::PerCore(kb) => MemoryDemand::PerCpu(megabytes(kb)),
        NodeMemory::PerDevice(kb) => MemoryDemand::PerGpu(megabytes(kb)),
        NodeMemory::Whole => MemoryDemand::WholeNode,
        NodeMemory::None => MemoryDemand::None,
    }
}

impl Pending {
    /// Asks for a place in a partition, of which only processors are known: whole nodes where the
    /// partition or the machine (`linear`) gives these, and one node where one has them all
    /// (`pack`). The limit of the partition holds.
    pub fn ask_place(&mut self, part: u16, machine: &ModelMachine, linear: bool, pack: bool) {
        let p = &machine.parts[usize::from(part)];
        let widest = p.nodes.iter().map(|node| machine.cpus[node]).max().unwrap_or(1).max(1);
        self.part = part;
        self.whole = linear || p.whole;
        self.exclusive = p.exclusive;
        self.limit = self.limit.min(p.max_limit);
        (self.min_nodes, self.max_nodes) = match widest {
            1 => (self.cpus, self.cpus),
            widest if self.whole => (self.cpus.div_ceil(widest), u32::MAX),
            widest if pack && self.cpus <= widest => (1, 1),
            _ => (1, u32::MAX),
        };
    }

    /// Takes over what a shape says of its nodes, on a partition whose widest node has `widest`
    /// processors.
    pub fn take_shape(&mut self, shape: &NodeShape, machine: &ModelMachine) {
        let widest = machine.parts[usize::from(self.part)].nodes.iter().map(|node| machine.cpus[node]).max();
        let widest = widest.unwrap_or(1).max(1);
        if shape.exclusive && !self.whole {
            (self.whole, self.exclusive) = (true, true);
            (self.min_nodes, self.max_nodes) = (self.cpus.div_ceil(widest).max(1), u32::MAX);
        }
        let (least, most) = shape.nodes;
        // A job of one node ran on larger ones, under another configuration: it is let be.
        if (least, most) == (1, 1) && self.cpus > widest {
            return;
        }
        if least > 0 {
            self.min_nodes = least;
            self.max_nodes = self.max_nodes.max(least);
        }
        if most > 0 {
            self.max_nodes = most.max(self.min_nodes);
        }
    }
}

impl ModelMachine {
    /// The nodes that a workload describes, in one partition; `None` where it describes none, or
    /// more kinds of devices than the model knows.
    pub fn of_classes(table: &ResourceTable) -> Option<ModelMachine> {
        let classes = table.node_classes();
        let count: usize = classes.iter().map(|class| class.nodes.len()).sum();
        if count == 0 {
            return None;
        }
        let mut machine = ModelMachine { cpus: Vec::with_capacity(count), ..ModelMachine::with_equal_nodes(count, 1) };
        let resources = &mut machine.resources;
        let counts_memory = classes.iter().any(|class| class.memory_kb > 0);
        for class in classes {
            for _ in &class.nodes {
                let node = machine.cpus.len();
                machine.cpus.push(class.cores.max(1));
                if counts_memory {
                    resources.memory.push(class.memory_kb / 1024);
                }
                resources.weights.push(u32::try_from(class.weight).unwrap_or(u32::MAX));
                for (name, kind, devices) in &class.devices {
                    let at = resources.find_kind(name, kind, count)?;
                    resources.gres[at][node] += devices;
                }
                for feature in &class.features {
                    match resources.features.iter_mut().find(|(name, _)| name == feature) {
                        Some((_, set)) => set.insert(node),
                        None => resources.features.push((feature.clone(), NodeSet::from_members(count, [node]))),
                    }
                }
            }
        }
        if resources.weights.windows(2).all(|pair| pair[0] == pair[1]) {
            resources.weights.clear();
        }
        Some(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four nodes of four processors: a job of one node is on one, whole or not; one of more
    /// processors than a node has may be on several.
    #[test]
    fn a_job_of_one_node_is_on_one_where_it_fits() {
        let machine = ModelMachine::with_equal_nodes(4, 4);
        for (cpus, exclusive, bounds) in [(4, false, (1, 1)), (4, true, (1, 1)), (16, false, (1, u32::MAX))] {
            let mut job = Pending::new(1, cpus, 60);
            job.ask_place(0, &machine, false, true);
            job.take_shape(&NodeShape { nodes: (1, 1), exclusive, ..NodeShape::default() }, &machine);
            assert_eq!((job.min_nodes, job.max_nodes), bounds, "{cpus} {exclusive}");
        }
    }
}
