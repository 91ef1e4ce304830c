//! Demands of the jobs of a site beyond processors, as the one description that every policy
//! knows.

use crate::fleet::{Fleet, PartitionUnion, plain_name};
use crate::jobs::{JobMarks, SiteJobFate};
use crate::rows::Symbol;
use crate::site::Site;
use crate::site_job::{JobSymbols, SiteJob};
use drystone::model::{
    Demand, DemandId, DeviceDemand, DevicePer, Job, NodeFill, NodeMemory, NodeShape, Resource, ResourceError,
    ResourceId, ResourceTable, ResourceTableBuilder, ResourceUnit, SharedSort, Span, Time,
};
use drystone::parts::NodeFloor;
use drystone_slurm::conf::expand_hostlist;
use drystone_slurm::model::IdleNodes;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A part of a demand that a machine cannot meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Misfit {
    Licence,
    Uneven,
    Named,
    Feature,
    Type,
    Memory,
    Devices,
    Nodes,
    Wide,
    All,
    Capped,
    Unplaced,
}

impl Misfit {
    /// In the order in which they are tried.
    const EACH: [Misfit; 6] =
        [Misfit::Named, Misfit::Feature, Misfit::Type, Misfit::Memory, Misfit::Devices, Misfit::Nodes];

    /// Takes it from the shape of a job of `procs` processors; the largest node has `most`
    /// kilobytes.
    fn relax_shape(self, shape: &mut NodeShape, procs: u32, most: u64) {
        match self {
            Misfit::Uneven => {
                let nodes = shape.nodes.0;
                if nodes > 1 && procs.is_multiple_of(nodes) {
                    shape.least_cores = shape.least_cores.max(procs / nodes);
                }
            }
            Misfit::Named => {
                shape.only.clear();
                shape.excluded.clear();
            }
            Misfit::Feature => shape.features.clear(),
            Misfit::Type => shape.devices.iter_mut().for_each(|device| device.kind.clear()),
            Misfit::Memory => {
                shape.memory = match shape.memory {
                    NodeMemory::PerNode(kb) => NodeMemory::PerNode(kb.min(most)),
                    NodeMemory::PerCore(_) | NodeMemory::PerDevice(_) => NodeMemory::Whole,
                    other => other,
                };
            }
            Misfit::Devices => shape.devices.clear(),
            Misfit::Nodes => shape.nodes = (0, 0),
            Misfit::Licence | Misfit::Wide | Misfit::All | Misfit::Capped | Misfit::Unplaced => {}
        }
    }

    /// Returns the assumption in its place.
    fn assumed_text(self) -> &'static str {
        match self {
            Misfit::Licence => "`Licenses=` of slurm.conf has not so many: the licence is not counted",
            Misfit::Uneven => "Slurm's choice of nodes finds none for them: they get equal parts of their nodes",
            Misfit::Named => "the partition lacks these nodes or has no room on them: any of its nodes serve",
            Misfit::Feature => "no node of the partition has these features: they are not asked for",
            Misfit::Type => "no node of the partition has so many of this type: devices of any type serve",
            Misfit::Memory => "no node of the partition has so much memory: they get all of a node",
            Misfit::Devices => "the partition has not so many devices: they are not asked for",
            Misfit::Nodes => "the nodes of the partition are too few or too small: the job gets as many as it needs",
            Misfit::Wide => {
                "the partition is smaller: another partition of the same nodes takes them, by their processors alone"
            }
            Misfit::All => "they fit nowhere in the partition: only their processors count",
            Misfit::Capped => "MaxCPUsPerNode leaves no partition with so many: the cap does not hold for them",
            Misfit::Unplaced => {
                "policies that place jobs in equal parts find no nodes for them: their parts are anywhere"
            }
        }
    }
}

/// A part of a demand that cannot be met, the partition, and the demand in words.
type UnmetDemand = (Misfit, String, String);

#[derive(Debug, Default)]
pub(crate) struct AskedDemands {
    /// The table; `None` where jobs ask for processors only.
    pub(crate) table: Option<Arc<ResourceTable>>,
    /// The demand of each job.
    pub(crate) demands: Vec<DemandId>,
    /// Sentences about what contradicts the description of the machine.
    pub(crate) told: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct DemandKey {
    pool: u16,
    partition: Symbol,
    asks: Symbol,
    constraints: Symbol,
    units: u32,
    amounts: [Option<u32>; 4],
    memory_kb: Option<u64>,
    exclusive: bool,
    never: bool,
    joined: bool,
}

impl DemandKey {
    fn from_job(job: &SiteJob<'_>, symbols: JobSymbols) -> DemandKey {
        DemandKey {
            pool: job.pool,
            partition: symbols.partition,
            asks: symbols.asks,
            constraints: symbols.constraints,
            units: job.units,
            amounts: [job.cpus, job.nodes, job.asked_nodes, job.gpus],
            memory_kb: job.memory_kb,
            exclusive: job.marks.has_mark(JobMarks::EXCLUSIVE),
            never: job.kind == SiteJobFate::Withdrawn,
            joined: job.marks.has_mark(JobMarks::HET),
        }
    }
}

struct EqualDemand {
    demand: DemandId,
    misfits: Vec<UnmetDemand>,
    jobs: u64,
    /// The first of them, by name and by place.
    example: String,
    first: usize,
}

#[derive(Default)]
struct PoolResources {
    memory: Option<ResourceId>,
    /// Devices by `gpu` and `gpu:a100`, licences by `license:sim`, partitions by `partition:gpu`.
    named: BTreeMap<String, ResourceId>,
}

/// Makes the table.
struct Maker<'a> {
    fleets: BTreeMap<u16, Fleet>,
    idle: BTreeMap<u16, IdleNodes>,
    /// Several partitions of which jobs ask for any.
    unions: BTreeMap<u16, Vec<PartitionUnion>>,
    pools: BTreeMap<u16, PoolResources>,
    builder: ResourceTableBuilder,
    misfits: BTreeMap<UnmetDemand, (u64, String)>,
    site: &'a Site,
}

impl Site {
    /// Returns the demands of the jobs at these places, of these pools.
    ///
    /// # Errors
    /// More resources or demands than can be numbered.
    pub(crate) fn find_demands(&self, pools: &[u16], places: &[u32]) -> Result<AskedDemands, ResourceError> {
        let mut maker = Maker {
            fleets: pools.iter().filter_map(|&pool| Some((pool, Fleet::for_pool(self, pool)?))).collect(),
            idle: BTreeMap::new(),
            unions: BTreeMap::new(),
            pools: BTreeMap::new(),
            builder: ResourceTableBuilder::new(),
            misfits: BTreeMap::new(),
            site: self,
        };
        if maker.fleets.is_empty() {
            return Ok(AskedDemands { demands: vec![DemandId::NONE; places.len()], ..AskedDemands::default() });
        }
        let unions = maker.fleets.iter().map(|(&pool, fleet)| (pool, self.partition_unions(fleet, pool)));
        maker.unions = unions.collect();
        maker.name_resources(pools.len() > 1)?;
        // Several pools are several machines, whose nodes stand one behind the other.
        let placed_pools = pools.iter().filter_map(|&pool| Some((pool, maker.name_nodes(pool, self.fill?)?)));
        let floors: BTreeMap<u16, NodeFloor> = placed_pools.collect();
        let mut known_demands: HashMap<DemandKey, EqualDemand> = HashMap::new();
        let mut demands = Vec::with_capacity(places.len());
        for &place in places {
            let at = place as usize;
            let known_demand = match known_demands.entry(DemandKey::from_job(&self.bare_job(at), self.symbols_at(at))) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let job = self.job_at(at);
                    let (mut demand, mut misfits) = maker.job_demand(&job)?;
                    if let Some(floor) = floors.get(&job.pool) {
                        demand = maker.placeable_demand(&job, demand, floor, &mut misfits)?;
                    }
                    let example = if misfits.is_empty() { String::new() } else { job.display_name() };
                    entry.insert(EqualDemand { demand, misfits, jobs: 0, example, first: demands.len() })
                }
            };
            known_demand.jobs += 1;
            demands.push(known_demand.demand);
        }
        maker.count_unmet(known_demands.into_values());
        let assumptions = maker.list_assumptions();
        let some = !floors.is_empty() || demands.iter().any(|&demand| demand != DemandId::NONE);
        Ok(AskedDemands { table: some.then(|| maker.builder.finish()), demands, told: assumptions })
    }
}

impl Site {
    /// Sentences about jobs that run when the window begins and whose records contradict each
    /// other. `asked` are the demands of all jobs of the site.
    pub(crate) fn describe_crowded(&self, demands: &AskedDemands) -> Vec<String> {
        let from = self.manifest.window.from;
        let (mut moved_jobs, mut crowded_jobs) = (0, 0);
        for pool in 0..u16::try_from(self.manifest.pools.len()).unwrap_or(u16::MAX) {
            let runs = |job: &SiteJob<'_>| {
                job.pool == pool
                    && job.kind.has_start()
                    && Site::is_simulated(job)
                    && job.start.is_some_and(|start| start < from)
            };
            let Some(mut fleet) = Fleet::for_pool(self, pool) else { continue };
            let shape =
                |at: usize| demands.table.as_ref().and_then(|table| table.node_shape(*demands.demands.get(at)?));
            let mut pool_jobs: Vec<(SiteJob<'_>, u32, Option<NodeShape>)> = (0..self.len())
                .filter(|&at| runs(&self.bare_job(at)))
                .map(|at| {
                    let job = self.job_at(at);
                    let procs = job.units;
                    (job, procs, shape(at).cloned())
                })
                .collect();
            pool_jobs.sort_shared_by_key(|(job, ..)| (job.start, job.number));
            let seats = fleet.seat_jobs(&pool_jobs);
            moved_jobs += seats.moved;
            crowded_jobs += seats.crowded;
        }
        let mut sentences = Vec::new();
        if moved_jobs > 0 {
            let (jobs, pronoun) =
                if moved_jobs == 1 { ("job that runs", "it is") } else { ("jobs that run", "they are") };
            let verb = if moved_jobs == 1 { "is" } else { "are" };
            sentences.push(format!(
                "{moved_jobs} {jobs} at the beginning of the window {verb} recorded on nodes that the machine lacks, or on processors, memory or \
                 devices that others have: {pronoun} on other nodes of the partition"
            ));
        }
        if crowded_jobs > 0 {
            let (jobs, auxiliary) =
                if crowded_jobs == 1 { ("job that runs", "has") } else { ("jobs that run", "have") };
            sentences.push(format!(
                "{crowded_jobs} {jobs} at the beginning of the window {auxiliary} no room beside the others: only processors count, \
                 and where these are not free, it is a job that waits"
            ));
        }
        sentences
    }
}

impl Maker<'_> {
    fn name_resources(&mut self, several: bool) -> Result<(), ResourceError> {
        for (&pool, fleet) in &self.fleets {
            let prefix = match several {
                true => format!("{}.{}/", pool + 1, plain_name(&self.site.manifest.pools[usize::from(pool)].name)),
                false => String::new(),
            };
            let mut own = PoolResources::default();
            let resources = &fleet.machine.resources;
            if !resources.memory.is_empty() {
                let total = resources.memory.iter().map(|mb| mb.saturating_mul(1024)).sum();
                own.memory = Some(self.builder.add_resource(Resource::new(
                    format!("{prefix}mem"),
                    ResourceUnit::Kilobytes,
                    total,
                ))?);
            }
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for (kind, gres) in resources.kinds.iter().zip(&resources.gres) {
                let total_gres: u64 = gres.iter().map(|&count| u64::from(count)).sum();
                *counts.entry(kind.name.clone()).or_default() += total_gres;
                if !kind.kind.is_empty() {
                    *counts.entry(format!("{}:{}", kind.name, kind.kind)).or_default() += total_gres;
                }
            }
            counts.extend(resources.licences.iter().map(|(name, n)| (format!("license:{name}"), u64::from(*n))));
            for part in &fleet.machine.parts {
                let procs = fleet.procs_of(fleet.find_partition(&part.name));
                if procs < u64::from(fleet.procs()) && procs > 0 {
                    counts.insert(format!("partition:{}", part.name), procs);
                }
            }
            let unions = self.unions.get(&pool).into_iter().flatten();
            counts.extend(unions.map(|union| (format!("partition:{}", union.name), union.procs)));
            for (name, total) in counts {
                let pretty: String = name.split(':').map(plain_name).collect::<Vec<_>>().join(":");
                // A licence belongs to the whole site: it is there once, whatever pool a job is in.
                let of_site = name.starts_with("license:");
                let pretty = if of_site { pretty } else { format!("{prefix}{pretty}") };
                let own_resource = self.builder.table().find_id(&pretty);
                let site_resource =
                    own_resource.filter(|id| of_site && !own.named.values().any(|resource| resource == id));
                let id = match site_resource {
                    Some(id) => id,
                    None => self.builder.add_resource(Resource::new(pretty, ResourceUnit::Count, total))?,
                };
                own.named.insert(name, id);
            }
            self.pools.insert(pool, own);
            self.idle.insert(pool, IdleNodes::new(&fleet.machine));
        }
        Ok(())
    }

    /// Names the nodes of a pool, those that are alike together, and says how jobs are placed.
    fn name_nodes(&mut self, pool: u16, fill: NodeFill) -> Option<NodeFloor> {
        let classes = self.fleets.get(&pool)?.node_classes(self.unions.get(&pool).map_or(&[], Vec::as_slice));
        let before = self.builder.table().node_classes().len();
        classes.into_iter().for_each(|class| self.builder.add_class(class));
        self.builder.set_fill(fill);
        let table = self.builder.table();
        NodeFloor::from_table(&table.of_classes(before..table.node_classes().len()))
    }

    /// Returns a demand that fits on the nodes of policies that place jobs: the job's own, else
    /// that of its processors alone.
    fn placeable_demand(
        &mut self,
        job: &SiteJob<'_>,
        demand: DemandId,
        floor: &NodeFloor,
        misfits: &mut Vec<UnmetDemand>,
    ) -> Result<DemandId, ResourceError> {
        let fits = |demand: DemandId, table: &ResourceTable| {
            let mut bare = Job::new(Time(0), job.units, Span(1));
            bare.demand = demand;
            floor.find_problem(&bare, table).is_none()
        };
        if job.units == 0 || fits(demand, self.builder.table()) {
            return Ok(demand);
        }
        let totals = self.builder.table().demand_totals(demand).to_vec();
        let alone = self.builder.intern_demand(Demand::from_totals(totals))?;
        let request_text = format!("{} processors and what goes with them on nodes", job.units);
        misfits.push((Misfit::Unplaced, job.partition.to_string(), request_text));
        Ok(if fits(alone, self.builder.table()) { alone } else { DemandId::NONE })
    }

    /// The demand of a job, with what of it does not fit the machine.
    fn job_demand(&mut self, job: &SiteJob<'_>) -> Result<(DemandId, Vec<UnmetDemand>), ResourceError> {
        let Some(fleet) = self.fleets.get_mut(&job.pool) else { return Ok((DemandId::NONE, Vec::new())) };
        let mut part = fleet.find_partition(&job.partition);
        let counts_memory = !fleet.machine.resources.memory.is_empty();
        let mut shape = record_shape(job, counts_memory);
        let parts = fleet.take_partitions(&mut shape, &job.partition);
        let mut misfits: Vec<Misfit> = Vec::new();
        let licences = &fleet.machine.resources.licences;
        let has = |(name, count): &(String, u32)| licences.iter().any(|(own, n)| own == name && n >= count);
        let asked_shape = shape.clone();
        if shape.licences.iter().any(|licence| !has(licence)) {
            shape.licences.retain(has);
            misfits.push(Misfit::Licence);
        }
        if parts.iter().all(|&part| lacks_named_nodes(fleet, part, &shape)) {
            Misfit::Named.relax_shape(&mut shape, 0, 0);
            misfits.push(Misfit::Named);
        }
        let procs = job.units;
        let wide = u64::from(procs) > fleet.procs_of(part);
        let machine_memory = fleet.machine.parts[usize::from(part)].nodes.iter();
        let most = machine_memory.filter_map(|node| fleet.machine.resources.memory.get(node)).max().copied();
        let most = most.unwrap_or(0).saturating_mul(1024);
        let idle = &self.idle[&job.pool];
        let caps = !fleet.machine.resources.caps.is_empty();
        let is_capped = caps && roomy_partition(fleet, idle, part, procs).is_none();
        let mut fits = |shape: &NodeShape| {
            let number = fleet.demand_number(shape);
            let has_place = parts.iter().any(|&part| {
                let pending = fleet.pending_job(part, procs, Some(shape), number);
                let nodes = &fleet.machine.parts[usize::from(part)].nodes;
                idle.place_job(&pending, nodes, &fleet.machine).is_some()
            });
            fleet.machine.resources.forget_demand(number);
            has_place
        };
        let never = job.kind == SiteJobFate::Withdrawn;
        if !never && !fits(&shape) {
            let relaxed_shape = |each: &[Misfit]| {
                let mut other_shape = shape.clone();
                each.iter().for_each(|misfit| misfit.relax_shape(&mut other_shape, procs, most));
                other_shape
            };
            // Equal parts take nothing from the job: they come first, and help alone or not at all.
            let mut single = std::iter::once(Misfit::Uneven).chain(Misfit::EACH);
            let alone = single.find(|&misfit| fits(&relaxed_shape(&[misfit])));
            let together = match alone {
                Some(_) => None,
                None => (2..=Misfit::EACH.len()).find(|&n| fits(&relaxed_shape(&Misfit::EACH[..n]))),
            };
            match alone {
                Some(misfit) => {
                    shape = relaxed_shape(&[misfit]);
                    misfits.push(misfit);
                }
                None => match together {
                    Some(n) => {
                        let changes = |misfit: &&Misfit| relaxed_shape(&[**misfit]) != shape;
                        misfits.extend(Misfit::EACH[..n].iter().filter(changes));
                        shape = relaxed_shape(&Misfit::EACH[..n]);
                    }
                    None => {
                        misfits.push(match (is_capped, wide) {
                            (true, _) => Misfit::Capped,
                            (false, true) => Misfit::Wide,
                            (false, false) => Misfit::All,
                        });
                        shape = NodeShape::default();
                    }
                },
            }
        }
        // Slurm gives one node to a job that has room there, unless its record shows otherwise.
        let counts_alone = misfits.iter().any(|misfit| matches!(misfit, Misfit::Capped | Misfit::Wide | Misfit::All));
        if !counts_alone && may_be_on_one_node(job, &shape) {
            let on_one_node = NodeShape { nodes: (1, 1), ..shape.clone() };
            if fits(&on_one_node) {
                shape = on_one_node;
            }
        }
        // A job that never started may have asked for what it could not get: it waits for that, and
        // counts in no pool.
        let impossible = never && !fits(&shape);
        if !never && shape == NodeShape::default() {
            part = roomy_partition(fleet, idle, part, procs).unwrap_or(part);
        }
        let totals = if impossible { Vec::new() } else { self.resource_totals(job, &shape, part) };
        let nonempty_shape = (shape != NodeShape::default()).then_some(shape);
        let id = self.builder.intern_demand(Demand { shape: nonempty_shape, ..Demand::from_totals(totals) })?;
        let name_misfit =
            |misfit: Misfit| (misfit, job.partition.to_string(), describe_misfit(misfit, &asked_shape, procs));
        Ok((id, misfits.into_iter().map(name_misfit).collect()))
    }

    fn resource_totals(&self, job: &SiteJob<'_>, shape: &NodeShape, part: u16) -> Vec<(ResourceId, u64)> {
        let (Some(own), Some(fleet)) = (self.pools.get(&job.pool), self.fleets.get(&job.pool)) else {
            return Vec::new();
        };
        let nodes = u64::from(job.nodes.or(job.asked_nodes).unwrap_or(1).max(1)).max(u64::from(shape.nodes.0));
        let mut totals = Vec::new();
        if let Some(memory) = own.memory {
            let kb = match shape.memory {
                NodeMemory::PerNode(kb) if shape.nodes.1 == 1 || shape.nodes.0 == 0 => kb,
                NodeMemory::PerNode(kb) => kb * u64::from(shape.nodes.0),
                NodeMemory::PerCore(kb) => kb * u64::from(job.units),
                NodeMemory::Whole => {
                    let part_nodes = fleet.machine.parts[usize::from(part)].nodes.iter();
                    let least = part_nodes.filter_map(|node| fleet.machine.resources.memory.get(node)).min();
                    least.copied().unwrap_or(0) * 1024 * nodes
                }
                NodeMemory::PerDevice(_) | NodeMemory::None => 0,
            };
            totals.push((memory, kb));
        }
        for device in &shape.devices {
            let count = u64::from(device.count) * if device.per == DevicePer::Node { nodes } else { 1 };
            let typed_name = format!("{}:{}", device.name, device.kind);
            let names = [device.name.as_str(), typed_name.as_str()];
            totals.extend(names.iter().filter_map(|name| Some((*own.named.get(*name)?, count))));
        }
        for (name, count) in &shape.licences {
            totals.extend(own.named.get(&format!("license:{name}")).map(|&id| (id, u64::from(*count))));
        }
        let union = (!shape.partitions.is_empty()).then(|| fleet.union_of(&shape.partitions));
        let name = union.map_or_else(|| fleet.machine.parts[usize::from(part)].name.clone(), |union| union.name);
        let partition = own.named.get(&format!("partition:{name}"));
        totals.extend(partition.map(|&id| (id, u64::from(job.units))));
        // Demands of each node add up to more than the machine has where a job is recorded on
        // more nodes than there are.
        let resources = self.builder.table().resources();
        totals.iter_mut().for_each(|(id, amount)| *amount = (*amount).min(resources[id.0 as usize].total));
        totals
    }

    /// Counts the jobs by the parts of their demands that cannot be met.
    fn count_unmet(&mut self, demands: impl Iterator<Item = EqualDemand>) {
        let mut unmet_demands: Vec<EqualDemand> = demands.filter(|demand| !demand.misfits.is_empty()).collect();
        unmet_demands.sort_shared_by_key(|demand| demand.first);
        for EqualDemand { misfits, jobs, example, .. } in unmet_demands {
            for misfit in misfits {
                self.misfits.entry(misfit).or_insert_with(|| (0, example.clone())).0 += jobs;
            }
        }
    }

    /// Returns the assumptions, a sentence for each kind of demand that the machine cannot meet.
    fn list_assumptions(&self) -> Vec<String> {
        let describe_assumption = |((misfit, partition, request), (jobs, example)): (&UnmetDemand, &(u64, String))| {
            let plural = if *jobs == 1 { "job asks" } else { "jobs ask" };
            format!(
                "{jobs} {plural} in the partition {partition} for {request}, such as {example}: {}",
                misfit.assumed_text()
            )
        };
        self.misfits.iter().map(describe_assumption).collect()
    }
}

/// The partition that takes a job by its processors alone: its own where these fit, else the
/// default one, else the first, as the policy chooses.
fn roomy_partition(fleet: &Fleet, idle: &IdleNodes, part: u16, procs: u32) -> Option<u16> {
    let parts = &fleet.machine.parts;
    let fits = |part: &u16| {
        let nodes = &parts[usize::from(*part)].nodes;
        idle.place_job(&fleet.pending_job(*part, procs, None, 0), nodes, &fleet.machine).is_some()
    };
    let all_parts = 0..u16::try_from(parts.len()).unwrap_or(u16::MAX);
    [part, fleet.machine.default_part].into_iter().chain(all_parts).find(fits)
}

/// Returns whether a job is on one node where it fits: of one that has its nodes to itself the
/// record has to say that it is one.
fn may_be_on_one_node(job: &SiteJob<'_>, shape: &NodeShape) -> bool {
    let is_one = job.asked_nodes == Some(1) || job.nodes == Some(1);
    shape.nodes == (0, 0) && !job.marks.has_mark(JobMarks::HET) && (is_one || !shape.exclusive)
}

/// Returns whether a job names nodes that its partition lacks, or fewer nodes than it takes: the
/// others are not known.
fn lacks_named_nodes(fleet: &Fleet, part: u16, shape: &NodeShape) -> bool {
    let few = shape.nodes.1 != u32::MAX && (shape.only.len() as u32) < shape.nodes.0;
    !shape.only.is_empty() && (few || shape.only.iter().any(|name| !fleet.has_node(part, name)))
}

/// Names the part of a demand that does not fit.
fn describe_misfit(misfit: Misfit, shape: &NodeShape, procs: u32) -> String {
    let memory = |kb: u64| ResourceUnit::Kilobytes.format_amount(kb);
    let devices = || {
        let device_text = |device: &DeviceDemand| {
            let kind = if device.kind.is_empty() { String::new() } else { format!(":{}", device.kind) };
            let per = if device.per == DevicePer::Node { " on each node" } else { "" };
            format!("{}{kind}:{}{per}", device.name, device.count)
        };
        shape.devices.iter().map(device_text).collect::<Vec<_>>().join(", ")
    };
    match misfit {
        Misfit::Licence => {
            let names: Vec<String> = shape.licences.iter().map(|(name, n)| format!("{name}:{n}")).collect();
            format!("the licences {}", names.join(", "))
        }
        Misfit::Named => {
            let names = |word: &str, names: &[String]| match names {
                [] => None,
                [name] => Some(format!("{word} {name}")),
                [first, rest @ ..] => Some(format!("{word} {first} and {} more", rest.len())),
            };
            let parts = [names("the node", &shape.only), names("nodes without", &shape.excluded)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
        }
        Misfit::Feature => format!("the features `{}`", shape.features),
        Misfit::Type | Misfit::Devices => devices(),
        Misfit::Memory => match shape.memory {
            NodeMemory::PerNode(kb) => format!("{} of each node", memory(kb)),
            NodeMemory::PerCore(kb) => format!("{} for each processor", memory(kb)),
            _ => "all memory of a node".to_string(),
        },
        Misfit::Uneven | Misfit::Nodes => format!("{procs} processors on {} nodes", shape.nodes.0),
        Misfit::Wide | Misfit::Capped => format!("{procs} processors"),
        Misfit::All | Misfit::Unplaced => "their recorded demands".to_string(),
    }
}

impl SiteJob<'_> {
    pub fn node_shape(&self) -> NodeShape {
        record_shape(self, true)
    }
}

/// Returns the demand that a record shows of its nodes.
///
/// Accounting has totals. Memory and devices of a job that asked for a number of nodes are shares
/// of these; of one that was spread over several without asking for it they belong to its
/// processors and to the whole job.
pub(crate) fn record_shape(job: &SiteJob<'_>, counts_memory: bool) -> NodeShape {
    if job.marks.has_mark(JobMarks::HET) {
        return NodeShape::default();
    }
    let known_number = |n: Option<u32>| n.filter(|&n| n > 0);
    let (asked_nodes, held_nodes) = (known_number(job.asked_nodes), known_number(job.nodes));
    let has_started = job.kind.has_start();
    let nodes = match (asked_nodes, held_nodes.filter(|_| has_started)) {
        (Some(count), _) if count > 1 => (count, count),
        (Some(_), Some(count)) if count > 1 => (1, u32::MAX),
        (None, Some(count)) if count > 1 => (count, count),
        _ => (0, 0),
    };
    let is_spread = nodes.1 == u32::MAX;
    let count =
        u64::from(if nodes.0 > 1 { nodes.0 } else { held_nodes.filter(|_| has_started && is_spread).unwrap_or(1) });
    let mut shape = NodeShape { nodes, exclusive: job.marks.has_mark(JobMarks::EXCLUSIVE), ..NodeShape::default() };
    shape.features = job.constraints.replace(' ', "");
    if shape.features == "(null)" {
        shape.features.clear();
    }
    shape.licences = licences_of(&job.asks).map(|(name, count)| (name.to_string(), count)).collect();
    let mut memory = None;
    let mut devices: BTreeMap<(String, String, bool), u32> = BTreeMap::new();
    for word in job.asks.split_ascii_whitespace() {
        let Some((name, value)) = word.rsplit_once('=') else { continue };
        if name == "on" {
            shape.only = read_node_names(value);
        } else if name == "without" {
            shape.excluded = read_node_names(value);
        } else if name == "partitions" {
            shape.partitions = value.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect();
        } else if let Some(name) = name.strip_prefix("gres/") {
            let (name, kind) = name.split_once(':').unwrap_or((name, ""));
            let (value, is_per_node) = value.strip_suffix('n').map_or((value, false), |value| (value, true));
            let Some(n) = devices_of(value).filter(|&n| n > 0) else { continue };
            *devices.entry((name.to_string(), kind.to_string(), is_per_node)).or_default() += n;
        } else if name == "mem" {
            let kb = |text: &str| text.parse::<u64>().ok();
            memory = match (value.strip_suffix('n').and_then(kb), value.strip_suffix('c').and_then(kb)) {
                (Some(kb), _) => Some(NodeMemory::PerNode(kb)),
                (_, Some(kb)) => Some(NodeMemory::PerCore(kb)),
                _ => Some(NodeMemory::Whole),
            };
        }
    }
    if counts_memory {
        shape.memory = memory.or(of_total(job, count, is_spread)).unwrap_or_default();
    }
    if devices.is_empty() && !shape.exclusive {
        devices.extend(known_number(job.gpus).map(|n| (("gpu".to_string(), String::new(), false), n)));
    }
    shape.devices = of_devices(devices, count as u32, is_spread);
    shape
}

/// Returns the name of a licence among the resources.
pub(crate) fn licence_resource(name: &str) -> String {
    format!("license:{}", plain_name(name))
}

/// Returns the licences that a job asks for, with how many of each.
pub(crate) fn licences_of(asks: &str) -> impl Iterator<Item = (&str, u32)> {
    asks.split_ascii_whitespace().filter_map(|word| {
        let (name, value) = word.strip_prefix("license/")?.rsplit_once('=')?;
        Some((name, value.parse().ok().filter(|&count| count > 0)?))
    })
}

/// Returns the names in a list of nodes, each once. A list that cannot be read stands for itself,
/// as a name that no node has.
fn read_node_names(list: &str) -> Vec<String> {
    let mut names = expand_hostlist(list).unwrap_or_else(|_| vec![list.to_string()]);
    names.sort_shared();
    names.dedup();
    names
}

/// A count with a unit of thousands, as Slurm prints it.
fn devices_of(text: &str) -> Option<u32> {
    match text.strip_suffix(['K', 'k']) {
        Some(thousands) => thousands.parse::<u32>().ok()?.checked_mul(1_000),
        None => text.parse().ok(),
    }
}

/// The memory of which a record says the total alone.
fn of_total(job: &SiteJob<'_>, nodes: u64, spread: bool) -> Option<NodeMemory> {
    let total = job.memory_kb.filter(|&kb| kb > 0)?;
    Some(match total {
        u64::MAX => NodeMemory::Whole,
        // Whole megabytes, as Slurm counts: of a share that is none, a little less.
        kb if spread => NodeMemory::PerCore(kb / u64::from(job.units.max(1)) / 1024 * 1024),
        kb => NodeMemory::PerNode(kb.div_ceil(nodes.max(1))),
    })
}

/// Devices by name, those with a type before a total of all types.
fn of_devices(counts: BTreeMap<(String, String, bool), u32>, nodes: u32, spread: bool) -> Vec<DeviceDemand> {
    let typed_names: Vec<String> =
        counts.keys().filter(|(_, kind, _)| !kind.is_empty()).map(|key| key.0.clone()).collect();
    let mut devices = Vec::new();
    for ((name, kind, each), count) in counts {
        if kind.is_empty() && typed_names.contains(&name) {
            continue;
        }
        let (count, per) = match (each, count % nodes.max(1)) {
            (true, _) => (count, DevicePer::Node),
            (false, 0) if !spread => (count / nodes.max(1), DevicePer::Node),
            _ => (count, DevicePer::Job),
        };
        devices.push(DeviceDemand { name, kind, count, per, cores_each: 0 });
    }
    devices
}
