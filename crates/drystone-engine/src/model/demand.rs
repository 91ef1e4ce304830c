//! Resources beyond processors: what a machine has of them, and what jobs ask for.
//!
//! One description serves two kinds of scheduler. Policies that count take [`Demand::totals`]: so
//! many of each resource for as long as a job runs. A model that places jobs node by node takes
//! [`Demand::shape`] and [`ResourceTable::node_classes`].
//!
//! Demands are interned: a job holds a [`DemandId`], and most jobs of a log share a few demands.

use super::{ResourceId, SharedSort, SupplyError, SupplyField, SupplyStep, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The number of a demand in a [`ResourceTable`]. 0 asks for processors only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DemandId(pub u32);

impl DemandId {
    /// The demand of a job that asks for processors only.
    pub const NONE: DemandId = DemandId(0);
}

/// Amounts of resources, ascending by resource.
pub type ResourceAmounts = [(ResourceId, u64)];

/// The unit in which amounts of a resource are counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub enum ResourceUnit {
    /// Pieces: GPUs, licences, processors of a partition.
    #[default]
    Count,
    /// Kilobytes of 1,024 bytes.
    Kilobytes,
}

impl ResourceUnit {
    /// Shows an amount with its unit: `3`, `1.5 GB`.
    #[must_use]
    pub fn format_amount(self, amount: u64) -> String {
        match self {
            ResourceUnit::Count => amount.to_string(),
            ResourceUnit::Kilobytes => {
                let steps = [("TB", 1_u64 << 30), ("GB", 1 << 20), ("MB", 1 << 10)];
                // Whole where possible, for an amount is to be recognised.
                let (unit, size) = steps.into_iter().find(|&(_, size)| amount >= size).unwrap_or(("kB", 1));
                if amount.is_multiple_of(size) {
                    format!("{} {unit}", amount / size)
                } else {
                    format!("{:.2} {unit}", amount as f64 / size as f64)
                }
            }
        }
    }
}

/// A resource that jobs share: the machine has so much of it, and a job holds what it asked for as
/// long as it runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resource {
    /// Its name: `mem`, `gpu` (of any type), `gpu:a100`, `license:matlab`, `partition:long`.
    pub name: String,
    /// Its unit.
    pub unit: ResourceUnit,
    /// Total of the machine, in that unit: the most that there ever is
    /// ([`ResourceTable::supply_steps`]). At most [`AMOUNT_LIMIT`].
    pub total: u64,
    /// True if a suspended job keeps it, as it keeps its memory.
    pub stays: bool,
}

impl Resource {
    /// A resource of which the machine has `total`. Kilobytes stay with a suspended job, pieces do
    /// not.
    #[must_use]
    pub fn new(name: impl Into<String>, unit: ResourceUnit, total: u64) -> Resource {
        Resource { name: name.into(), unit, total, stays: unit == ResourceUnit::Kilobytes }
    }
}

/// Amounts beyond this are refused, so that no sum in the simulator can overflow: 64 PB in
/// kilobytes.
pub const AMOUNT_LIMIT: u64 = 1 << 46;

/// Memory that a job asks of its nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum NodeMemory {
    /// None, or nothing is known of it.
    #[default]
    None,
    /// This many kilobytes of each node.
    PerNode(u64),
    /// This many kilobytes for each of its cores.
    PerCore(u64),
    /// This many kilobytes for each of its devices.
    PerDevice(u64),
    /// All that a node has.
    Whole,
}

/// Base of a number of devices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum DevicePer {
    /// On each node.
    #[default]
    Node,
    /// For the whole job.
    Job,
    /// For each task.
    Task,
}

/// Devices of nodes that a job asks for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct DeviceDemand {
    /// Their name, such as `gpu`.
    pub name: String,
    /// Their type, such as `a100`; empty for any.
    pub kind: String,
    /// Number of processes.
    pub count: u32,
    /// Unit that it is counted for.
    pub per: DevicePer,
    /// Cores for each device; 0 for none in particular.
    pub cores_each: u32,
}

/// Shape of a job's nodes. What it does not name is 0 or empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct NodeShape {
    /// The fewest and the most nodes; 0 for no bound.
    pub nodes: (u32, u32),
    /// Its tasks; 0 for one per core.
    pub tasks: u32,
    /// Cores of each task; 0 for one.
    pub cores_per_task: u32,
    /// Cores that each of its nodes has at least.
    pub least_cores: u32,
    /// Its memory.
    pub memory: NodeMemory,
    /// Its devices.
    pub devices: Vec<DeviceDemand>,
    /// Features that its nodes have, as Slurm writes them: `a&b`, `a|b`, `[a|b]`.
    pub features: String,
    /// True if no other job is on its nodes.
    pub exclusive: bool,
    /// Licences with how many of each.
    pub licences: Vec<(String, u32)>,
    /// Nodes that it must have, by name.
    pub only: Vec<String>,
    /// Nodes that it must not have, by name.
    pub excluded: Vec<String>,
    /// Partitions of which any will do, by name, where it asks for several.
    pub partitions: Vec<String>,
}

/// Demand of a job beyond its processors.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Demand {
    /// Amounts of resources in all, ascending by resource, each above 0.
    pub totals: Vec<(ResourceId, u64)>,
    /// Shape of its nodes, for programs that place jobs.
    pub shape: Option<NodeShape>,
}

impl Demand {
    /// A demand for these amounts.
    #[inline]
    #[must_use]
    pub fn from_totals(totals: impl IntoIterator<Item = (ResourceId, u64)>) -> Demand {
        Demand { totals: totals.into_iter().collect(), shape: None }.into_tidied()
    }

    /// Ascending by resource, each once and above 0.
    fn into_tidied(mut self) -> Demand {
        let mut sums: BTreeMap<ResourceId, u64> = BTreeMap::new();
        for (resource, amount) in self.totals {
            let sum = sums.entry(resource).or_default();
            *sum = sum.saturating_add(amount);
        }
        self.totals = sums.into_iter().filter(|&(_, amount)| amount > 0).collect();
        self
    }

    /// Returns the amount of one resource that it asks for.
    #[inline]
    #[must_use]
    pub fn amount_of(&self, resource: ResourceId) -> u64 {
        self.totals.iter().find(|(id, _)| *id == resource).map_or(0, |&(_, amount)| amount)
    }
}

/// Nodes that are alike.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NodeClass {
    /// Their names.
    pub nodes: Vec<String>,
    /// Cores of each.
    pub cores: u32,
    /// Kilobytes of memory of each; 0 where it is not given out.
    pub memory_kb: u64,
    /// Devices of each: name, type (empty without one), number.
    pub devices: Vec<(String, String, u32)>,
    /// Features of each.
    pub features: Vec<String>,
    /// Nodes of a lower weight are given out first.
    pub weight: u64,
}

crate::word_enum! {
    /// Choice of nodes for a job.
    ///
    /// A job is in pieces, and each piece is on one node. Nodes of a lower weight come first, and
    /// of those that are alike in all else the one of the lower number.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
    pub enum NodeFill {
        /// As few nodes as possible: the node with the fewest free cores of those that hold all
        /// that is left of the job; where none does, the one that holds most of it.
        #[default]
        Pack = "pack",
        /// Piece by piece, one on each node in turn, those with the most free cores first.
        Spread = "spread",
        /// Whole nodes: a job has its nodes to itself, chosen as by `Pack`.
        Whole = "whole",
    }
}

/// A resource or a demand that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// Two resources of one name.
    #[error("the resource `{0}` is named twice; give each resource once")]
    Twice(String),
    /// A name that is empty or cannot be separated from its surroundings.
    #[error("`{0}` is no name of a resource; expected letters, digits, `:`, `_`, `-`, `.`, such as `gpu:a100`")]
    BadName(String),
    /// More of a resource than can be counted.
    #[error("{amount} of `{name}` is more than the {AMOUNT_LIMIT} that can be counted")]
    TooMuch {
        /// Name of the resource.
        name: String,
        /// Amount.
        amount: u64,
    },
    /// A demand for a resource that the table does not have.
    #[error("a demand names resource {0}, but the machine has only {1} resources")]
    Unknown(u16, usize),
    /// More resources or demands than can be numbered.
    #[error("more resources or demands than can be numbered")]
    TooMany,
}

/// Resources of a machine beyond processors, and every demand of its jobs.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResourceTable {
    resources: Vec<Resource>,
    classes: Vec<NodeClass>,
    /// Choice of nodes where policies place jobs on them.
    fill: Option<NodeFill>,
    /// The first one is empty.
    demands: Vec<Demand>,
    /// Changes in the amounts of resources, in order of time.
    supply: Vec<SupplyStep>,
}

impl fmt::Debug for ResourceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.resources.iter().map(|resource| resource.name.as_str()).collect();
        write!(f, "ResourceTable({names:?}, {} demands, {} classes)", self.demands.len(), self.classes.len())
    }
}

impl ResourceTable {
    /// The resources that are counted.
    #[inline]
    #[must_use]
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns whether some resource is counted. Shapes of nodes alone concern only policies that
    /// place jobs.
    #[inline]
    #[must_use]
    pub fn has_resources(&self) -> bool {
        !self.resources.is_empty()
    }

    /// One resource; `None` where there is no such.
    #[inline]
    #[must_use]
    pub fn find_resource(&self, id: ResourceId) -> Option<&Resource> {
        self.resources.get(id.index())
    }

    /// The resource of a name.
    #[must_use]
    pub fn find_id(&self, name: &str) -> Option<ResourceId> {
        self.resources.iter().position(|resource| resource.name == name).map(|at| ResourceId(at as u16))
    }

    /// Returns the changes in the amounts of resources, in order of time. Before its first change a
    /// resource has its total.
    #[inline]
    #[must_use]
    pub fn supply_steps(&self) -> &[SupplyStep] {
        &self.supply
    }

    /// Returns how much there is of a resource at a time.
    #[must_use]
    pub fn supply_at(&self, id: ResourceId, time: Time) -> u64 {
        let mut past_steps = self.supply.iter().filter(|step| step.resource == id && step.from <= time);
        past_steps
            .next_back()
            .map_or_else(|| self.find_resource(id).map_or(0, |resource| resource.total), |step| step.amount)
    }

    /// Returns the table with these changes of supply in place of its own.
    ///
    /// The total of each resource becomes the largest amount that there ever is. Before its first
    /// change a resource has the amount of a step at [`Time::MIN`], or else what it had at first.
    ///
    /// # Errors
    /// A resource that is not in the table, more than [`AMOUNT_LIMIT`], an announcement that comes
    /// after its change, two changes of a resource at one time.
    pub fn with_supply(&self, steps: &[SupplyStep]) -> Result<ResourceTable, SupplyError> {
        let mut places: BTreeMap<(ResourceId, Time), usize> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let wrong = |field, problem: String| Err(SupplyError { index, field, problem });
            let Some(resource) = self.find_resource(step.resource) else {
                let problem =
                    format!("is of resource {}, but the machine has {} of them", step.resource.0, self.resources.len());
                return wrong(SupplyField::Resource, problem);
            };
            if step.amount > AMOUNT_LIMIT {
                let problem = format!("{} is more than the {AMOUNT_LIMIT} that can be counted", step.amount);
                return wrong(SupplyField::Amount, problem);
            }
            if let Some((field, problem)) = step.find_problem() {
                return wrong(field, problem);
            }
            if places.insert((step.resource, step.from), index).is_some() {
                let problem = format!("`{}` changes twice at {}; leave one of the two out", resource.name, step.from);
                return wrong(SupplyField::From, problem);
            }
        }
        let mut table = self.clone();
        table.supply.clear();
        for (at, resource) in table.resources.iter_mut().enumerate() {
            let id = ResourceId(at as u16);
            let own = || steps.iter().filter(move |step| step.resource == id);
            let always = own().find(|step| step.from == Time::MIN);
            let before = always.map_or_else(|| self.supply_at(id, Time::MIN), |step| step.amount);
            resource.total = own().map(|step| step.amount).fold(before, u64::max);
            if always.is_none() && resource.total > before {
                table.supply.push(SupplyStep { resource: id, from: Time::MIN, amount: before, announced: None });
            }
        }
        let is_first_total =
            |step: &SupplyStep| step.from == Time::MIN && table.resources[step.resource.index()].total == step.amount;
        table.supply.extend(steps.iter().filter(|step| !is_first_total(step)));
        table.supply.sort_shared_by_key(|step| (step.from, step.resource));
        Ok(table)
    }

    /// Returns the table with its changes of supply, and their announcements, at other times, which
    /// must keep their order. Of changes that come to one time, the last one holds.
    #[must_use]
    pub fn with_times(&self, times: impl Fn(Time) -> Time) -> ResourceTable {
        let new_time = |time: Time| if time == Time::MIN { time } else { times(time) };
        let mut table = self.clone();
        let mut supply: Vec<SupplyStep> = Vec::with_capacity(table.supply.len());
        for step in table.supply.drain(..) {
            let step = SupplyStep { from: new_time(step.from), announced: step.announced.map(new_time), ..step };
            supply.retain(|entry| (entry.resource, entry.from) != (step.resource, step.from));
            supply.push(step);
        }
        supply.sort_shared_by_key(|step| (step.from, step.resource));
        table.supply = supply;
        table
    }

    /// Nodes by class; empty where nothing is known of nodes.
    #[inline]
    #[must_use]
    pub fn node_classes(&self) -> &[NodeClass] {
        &self.classes
    }

    /// Returns the table of a part of the machine: with these of the classes alone. Panics if they
    /// are not all there.
    #[must_use]
    pub fn of_classes(&self, classes: Range<usize>) -> ResourceTable {
        ResourceTable { classes: self.classes[classes].to_vec(), ..self.clone() }
    }

    /// Returns how jobs are placed on the nodes; `None` where only amounts in all are counted.
    #[inline]
    #[must_use]
    pub fn node_fill(&self) -> Option<NodeFill> {
        self.fill
    }

    /// Every demand, by its number.
    #[inline]
    #[must_use]
    pub fn demands(&self) -> &[Demand] {
        &self.demands
    }

    /// One demand; `None` where there is no such.
    #[inline]
    #[must_use]
    pub fn find_demand(&self, id: DemandId) -> Option<&Demand> {
        self.demands.get(id.0 as usize)
    }

    /// Returns the amount of each resource in a demand, ascending by resource; nothing for an
    /// unknown demand.
    #[inline]
    #[must_use]
    pub fn demand_totals(&self, id: DemandId) -> &[(ResourceId, u64)] {
        self.demands.get(id.0 as usize).map_or(&[], |demand| &demand.totals)
    }

    /// Returns the shape of a demand's nodes.
    #[inline]
    #[must_use]
    pub fn node_shape(&self, id: DemandId) -> Option<&NodeShape> {
        self.find_demand(id)?.shape.as_ref()
    }

    /// Returns the reason why no job of this demand can ever run here; `None` if one can.
    #[must_use]
    pub fn demand_problem(&self, id: DemandId) -> Option<String> {
        let Some(demand) = self.find_demand(id) else {
            return Some(format!("asks for demand {} of a machine that knows {}", id.0, self.demands.len()));
        };
        demand.totals.iter().find_map(|&(id, amount)| {
            let resource = self.find_resource(id)?;
            let show = |amount| resource.unit.format_amount(amount);
            (amount > resource.total).then(|| {
                format!("asks for {} of `{}`; the machine has {}", show(amount), resource.name, show(resource.total))
            })
        })
    }
}

/// Puts a [`ResourceTable`] together.
#[derive(Clone, Default, Debug)]
pub struct ResourceTableBuilder {
    table: ResourceTable,
    index: BTreeMap<Demand, DemandId>,
}

impl From<&ResourceTable> for ResourceTableBuilder {
    fn from(table: &ResourceTable) -> ResourceTableBuilder {
        let numbered_demands = table.demands.iter().zip(0..);
        let index = numbered_demands.map(|(demand, number)| (demand.clone(), DemandId(number))).collect();
        ResourceTableBuilder { table: table.clone(), index }
    }
}

impl ResourceTableBuilder {
    /// A table without resources.
    #[must_use]
    pub fn new() -> ResourceTableBuilder {
        ResourceTableBuilder::default()
    }

    /// Adds a resource.
    ///
    /// # Errors
    /// A name that is taken or is none, an amount beyond [`AMOUNT_LIMIT`], more than 65,536 of
    /// them.
    pub fn add_resource(&mut self, resource: Resource) -> Result<ResourceId, ResourceError> {
        let fits = |c: char| c.is_alphanumeric() || ":_-.+/".contains(c);
        if resource.name.is_empty() || !resource.name.chars().all(fits) {
            return Err(ResourceError::BadName(resource.name));
        }
        if self.table.find_id(&resource.name).is_some() {
            return Err(ResourceError::Twice(resource.name));
        }
        if resource.total > AMOUNT_LIMIT {
            return Err(ResourceError::TooMuch { name: resource.name, amount: resource.total });
        }
        let id = u16::try_from(self.table.resources.len()).map_err(|_| ResourceError::TooMany)?;
        self.table.resources.push(resource);
        Ok(ResourceId(id))
    }

    /// Adds nodes that are alike.
    #[inline]
    pub fn add_class(&mut self, class: NodeClass) {
        self.table.classes.push(class);
    }

    /// Places jobs on the nodes of the classes. Without it only amounts in all are counted.
    #[inline]
    pub fn set_fill(&mut self, fill: NodeFill) {
        self.table.fill = Some(fill);
    }

    /// The number of a demand, which is a new one where no equal one is known. Amounts of one
    /// resource are added up. A demand beyond the machine is taken:
    /// [`ResourceTable::demand_problem`] tells of it, where the job has a name.
    ///
    /// # Errors
    /// A resource that is not in the table, an amount beyond [`AMOUNT_LIMIT`], more than 2³² − 1
    /// demands.
    pub fn intern_demand(&mut self, demand: Demand) -> Result<DemandId, ResourceError> {
        let demand = demand.into_tidied();
        for &(id, amount) in &demand.totals {
            let Some(resource) = self.table.find_resource(id) else {
                return Err(ResourceError::Unknown(id.0, self.table.resources.len()));
            };
            if amount > AMOUNT_LIMIT {
                return Err(ResourceError::TooMuch { name: resource.name.clone(), amount });
            }
        }
        self.add_empty_demand();
        if let Some(&demand_id) = self.index.get(&demand) {
            return Ok(demand_id);
        }
        let id = u32::try_from(self.table.demands.len()).map(DemandId).map_err(|_| ResourceError::TooMany)?;
        self.table.demands.push(demand.clone());
        self.index.insert(demand, id);
        Ok(id)
    }

    /// The first demand is that of jobs that ask for nothing.
    fn add_empty_demand(&mut self) {
        if self.table.demands.is_empty() {
            self.table.demands.push(Demand::default());
            self.index.insert(Demand::default(), DemandId::NONE);
        }
    }

    /// The table so far.
    #[inline]
    #[must_use]
    pub fn table(&self) -> &ResourceTable {
        &self.table
    }

    /// The table.
    #[must_use]
    pub fn finish(mut self) -> Arc<ResourceTable> {
        self.add_empty_demand();
        Arc::new(self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (ResourceTableBuilder, ResourceId, ResourceId) {
        let mut builder = ResourceTableBuilder::new();
        let gpu = builder.add_resource(Resource::new("gpu", ResourceUnit::Count, 4)).expect("new");
        let mem = builder.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, 8 << 20)).expect("new");
        (builder, gpu, mem)
    }

    #[test]
    fn equal_demands_have_one_number_and_none_is_0() {
        let (mut builder, gpu, mem) = table();
        assert_eq!(builder.intern_demand(Demand::default()), Ok(DemandId::NONE));
        let plain_id = builder.intern_demand(Demand::from_totals([(mem, 5), (gpu, 1)])).expect("known resources");
        assert_eq!(builder.intern_demand(Demand::from_totals([(gpu, 1), (mem, 2), (mem, 3)])), Ok(plain_id));
        assert_eq!(builder.intern_demand(Demand::from_totals([(gpu, 0)])), Ok(DemandId::NONE));
        let shaped = Demand { totals: vec![], shape: Some(NodeShape { exclusive: true, ..NodeShape::default() }) };
        let shaped_id = builder.intern_demand(shaped).expect("no resources");
        assert_ne!(shaped_id, DemandId::NONE);
        let mut again = ResourceTableBuilder::from(builder.table());
        assert_eq!(again.intern_demand(Demand::from_totals([(gpu, 1), (mem, 5)])), Ok(plain_id));
        let table = builder.finish();
        assert_eq!(table.demand_totals(plain_id), [(gpu, 1), (mem, 5)]);
        assert!(
            table.demand_totals(shaped_id).is_empty()
                && table.node_shape(shaped_id).is_some_and(|shape| shape.exclusive)
        );
        assert_eq!(
            table.find_demand(plain_id).map(|demand| (demand.amount_of(gpu), demand.amount_of(mem))),
            Some((1, 5))
        );
    }

    #[test]
    fn demands_beyond_the_machine_are_told_in_its_unit() {
        let (mut builder, gpu, mem) = table();
        let gpus = builder.intern_demand(Demand::from_totals([(gpu, 5)])).expect("known resources");
        let memory = builder.intern_demand(Demand::from_totals([(mem, 9 << 20)])).expect("known resources");
        let most = builder.intern_demand(Demand::from_totals([(gpu, 4), (mem, 8 << 20)])).expect("known resources");
        let table = builder.finish();
        assert_eq!(table.demand_problem(gpus).as_deref(), Some("asks for 5 of `gpu`; the machine has 4"));
        assert_eq!(table.demand_problem(memory).as_deref(), Some("asks for 9 GB of `mem`; the machine has 8 GB"));
        assert_eq!(table.demand_problem(most), None);
        assert!(table.demand_problem(DemandId(9)).is_some_and(|problem| problem.contains("demand 9")));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (mut builder, gpu, _) = table();
        let twice = builder.add_resource(Resource::new("gpu", ResourceUnit::Count, 1));
        assert_eq!(twice, Err(ResourceError::Twice("gpu".into())));
        let nameless = builder.add_resource(Resource::new("a b", ResourceUnit::Count, 1));
        assert_eq!(nameless, Err(ResourceError::BadName("a b".into())));
        let vast = builder.add_resource(Resource::new("vast", ResourceUnit::Count, AMOUNT_LIMIT + 1));
        assert_eq!(vast, Err(ResourceError::TooMuch { name: "vast".into(), amount: AMOUNT_LIMIT + 1 }));
        assert_eq!(builder.intern_demand(Demand::from_totals([(ResourceId(7), 1)])), Err(ResourceError::Unknown(7, 2)));
        let greedy = builder.intern_demand(Demand::from_totals([(gpu, u64::MAX), (gpu, 1)]));
        assert_eq!(greedy, Err(ResourceError::TooMuch { name: "gpu".into(), amount: u64::MAX }));
    }

    #[test]
    fn amounts_are_shown_with_their_unit() {
        let kb = |amount| ResourceUnit::Kilobytes.format_amount(amount);
        assert_eq!([kb(512), kb(1 << 10), kb(3 << 19), kb(1 << 31)], ["512 kB", "1 MB", "1.50 GB", "2 TB"]);
        assert_eq!(ResourceUnit::Count.format_amount(7), "7");
    }
}
