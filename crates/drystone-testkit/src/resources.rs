//! Cases with resources beyond processors.

use crate::case::{PolicyCase, Random};
use drystone::model::{
    Demand, Job, Machine, Procs, Provenance, Resource, ResourceId, ResourceTableBuilder, ResourceUnit, Truth, Workload,
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
pub(crate) fn harmless(case: &PolicyCase) -> Workload {
    let plenty = case.rows.len() as u64;
    let memory = u64::from(case.procs) * 1_000;
    let resources = [
        Resource::new("idle", ResourceUnit::Count, 3),
        Resource::new("plenty", ResourceUnit::Count, plenty),
        Resource { stays: false, ..Resource::new("mem", ResourceUnit::Kilobytes, memory) },
    ];
    let asks = |_: usize, procs: Procs| vec![0, 1, u64::from(procs) * 1_000];
    with(case, &resources, asks)
}

/// The case with few of each resource, and jobs that ask for some of them.
pub(crate) fn scarce(case: &PolicyCase) -> Scarce {
    let mut random = Random::new(case.rows.len() as u64 * 7_919 + case.stop as u64);
    let totals = [random.range(1, 4), random.range(4, 40), random.range(1, 2)];
    let often = random.pick(&[20, 50, 90]);
    let mut asks: Vec<Vec<i64>> = Vec::new();
    for _ in &case.rows {
        let amount = |total: &i64| if random.chance(often) { random.range(1, *total) } else { 0 };
        asks.push(totals.iter().map(amount).collect());
    }
    let resources = [
        Resource::new("gpu", ResourceUnit::Count, totals[0] as u64),
        Resource::new("mem", ResourceUnit::Kilobytes, totals[1] as u64),
        Resource::new("license:solver", ResourceUnit::Count, totals[2] as u64),
    ];
    let of = |at: usize, _: Procs| asks[at].iter().map(|&amount| amount as u64).collect();
    Scarce { workload: with(case, &resources, of), totals: totals.to_vec(), asks }
}

fn with(case: &PolicyCase, resources: &[Resource], asks: impl Fn(usize, Procs) -> Vec<u64>) -> Workload {
    let mut table = ResourceTableBuilder::new();
    for resource in resources {
        table.resource(resource.clone()).expect("each name is there once");
    }
    let (machine, mut jobs, truth, provenance): (Machine, Vec<Job>, Vec<Truth>, Provenance) =
        case.workload().into_parts();
    for (at, job) in jobs.iter_mut().enumerate() {
        let amounts = asks(at, job.procs).into_iter().enumerate();
        let totals = amounts.map(|(at, amount)| (ResourceId(at as u16), amount));
        job.demand = table.intern(Demand::of(totals)).expect("known resources");
    }
    Workload::with_resources(machine, Some(table.finish()), jobs, truth, provenance).expect("no job asks for too much")
}
