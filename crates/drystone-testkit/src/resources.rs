//! Cases with resources beyond processors.

use crate::case::{PolicyCase, Random};
use drystone::model::{
    Demand, Job, Machine, NodeClass, NodeFill, NodeMemory, NodeShape, Procs, Provenance, Resource, ResourceId,
    ResourceTableBuilder, ResourceUnit, Truth, Workload, WorkloadError,
};

/// A case whose jobs compete for resources.
pub(crate) struct Scarce {
    pub(crate) workload: Workload,
    /// Amount of each resource.
    pub(crate) totals: Vec<i64>,
    /// Demand of each job for each resource.
    pub(crate) asks: Vec<Vec<i64>>,
}

/// The case with resources that bind no job: one that no job asks for, one of which there is
/// plenty, and memory in the measure of processors.
pub(crate) fn with_harmless_resources(case: &PolicyCase) -> Workload {
    let plenty = case.rows.len() as u64;
    let memory = u64::from(case.procs) * 1_000;
    let resources = [
        Resource::new("idle", ResourceUnit::Count, 3),
        Resource::new("plenty", ResourceUnit::Count, plenty),
        Resource { stays: false, ..Resource::new("mem", ResourceUnit::Kilobytes, memory) },
    ];
    let asks = |_: usize, procs: Procs| vec![0, 1, u64::from(procs) * 1_000];
    with_resources(case, &resources, asks)
}

/// The case on nodes of four cores and one with what is left, with memory for each core; `None`
/// where some job does not fit. A job of an odd number asks for one node, as long as that has so
/// many cores; the others are anywhere.
pub(crate) fn place_on_nodes(case: &PolicyCase, fill: NodeFill) -> Option<Workload> {
    let whole = NodeClass { cores: 4, memory_kb: 12, ..NodeClass::default() };
    let nodes = |cores: u32, names: Vec<String>| NodeClass { nodes: names, cores, ..whole.clone() };
    let classes = [
        nodes(4, (0..case.procs / 4).map(|node| format!("n{node}")).collect()),
        nodes(case.procs % 4, vec!["rest".to_string()]),
    ];
    let shape = |at: usize, procs: Procs| {
        let is_single_node = at % 2 == 1 && procs <= 4 && case.procs >= 4;
        let memory =
            if is_single_node { NodeMemory::PerNode(at as u64 % 13) } else { NodeMemory::PerCore(at as u64 % 4) };
        NodeShape { nodes: if is_single_node { (1, 1) } else { (0, 0) }, memory, ..NodeShape::default() }
    };
    on_nodes(case, classes.into_iter().filter(|class| class.cores > 0 && !class.nodes.is_empty()), fill, shape).ok()
}

/// The case on one node as large as the machine.
pub(crate) fn one_node(case: &PolicyCase, fill: NodeFill) -> Workload {
    let node = NodeClass { nodes: vec!["all".to_string()], cores: case.procs, ..NodeClass::default() };
    on_nodes(case, [node], fill, |_, _| NodeShape::default()).expect("every job fits on the machine")
}

fn on_nodes(
    case: &PolicyCase,
    classes: impl IntoIterator<Item = NodeClass>,
    fill: NodeFill,
    shape: impl Fn(usize, Procs) -> NodeShape,
) -> Result<Workload, WorkloadError> {
    let mut table = ResourceTableBuilder::new();
    classes.into_iter().for_each(|class| table.add_class(class));
    table.set_fill(fill);
    let (machine, mut jobs, truth, provenance) = case.to_workload().into_parts();
    for (at, job) in jobs.iter_mut().enumerate() {
        let shape = Some(shape(at, job.procs)).filter(|shape| *shape != NodeShape::default());
        job.demand = table.intern_demand(Demand { shape, ..Demand::default() }).expect("no resources");
    }
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, provenance)
}

/// The case with few of each resource, and jobs that ask for some of them.
pub(crate) fn with_scarce_resources(case: &PolicyCase) -> Scarce {
    let mut random = Random::new(case.rows.len() as u64 * 7_919 + case.stop as u64);
    let totals = [random.draw_range(1, 4), random.draw_range(4, 40), random.draw_range(1, 2)];
    let often = random.pick_one(&[20, 50, 90]);
    let mut asks: Vec<Vec<i64>> = Vec::new();
    for _ in &case.rows {
        let amount = |total: &i64| if random.draw_chance(often) { random.draw_range(1, *total) } else { 0 };
        asks.push(totals.iter().map(amount).collect());
    }
    let resources = [
        Resource::new("gpu", ResourceUnit::Count, totals[0] as u64),
        Resource::new("mem", ResourceUnit::Kilobytes, totals[1] as u64),
        Resource::new("license:solver", ResourceUnit::Count, totals[2] as u64),
    ];
    let of = |at: usize, _: Procs| asks[at].iter().map(|&amount| amount as u64).collect();
    Scarce { workload: with_resources(case, &resources, of), totals: totals.to_vec(), asks }
}

fn with_resources(case: &PolicyCase, resources: &[Resource], asks: impl Fn(usize, Procs) -> Vec<u64>) -> Workload {
    let mut table = ResourceTableBuilder::new();
    for resource in resources {
        table.add_resource(resource.clone()).expect("each name is there once");
    }
    let (machine, mut jobs, truth, provenance): (Machine, Vec<Job>, Vec<Truth>, Provenance) =
        case.to_workload().into_parts();
    for (at, job) in jobs.iter_mut().enumerate() {
        let amounts = asks(at, job.procs).into_iter().enumerate();
        let totals = amounts.map(|(at, amount)| (ResourceId(at as u16), amount));
        job.demand = table.intern_demand(Demand::from_totals(totals)).expect("known resources");
    }
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, provenance).expect("no job asks for too much")
}
