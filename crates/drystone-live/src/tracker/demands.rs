//! Memory and devices, counted as the simulator counts them: one table of the machine's resources,
//! and a number for each demand that was seen.

use super::{NodeLayout, Tracker};
use crate::cluster::JobFact;
use drystone::model::{Demand, DemandId, Resource, ResourceId, ResourceTable, ResourceTableBuilder, ResourceUnit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Kilobytes of a megabyte.
const KB: u64 = 1_024;

/// The table, and what is known of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Demands {
    table: ResourceTable,
    /// Numbers of demands, by their amounts.
    known: BTreeMap<Vec<(u16, u64)>, DemandId>,
    /// True if the session does not know of the last demands yet.
    grown: bool,
}

impl Demands {
    /// The resources of a machine, where its policy counts them.
    pub(super) fn new(layout: &NodeLayout, counts: bool) -> Demands {
        if !counts {
            return Demands::default();
        }
        let mut builder = ResourceTableBuilder::new();
        let memory = layout.memory().map(|mb| Resource::new("mem", ResourceUnit::Kilobytes, mb.saturating_mul(KB)));
        let devices =
            layout.devices().iter().map(|(name, count)| Resource::new(name.clone(), ResourceUnit::Count, *count));
        for resource in memory.into_iter().chain(devices) {
            // A name that is none is not counted, and its jobs are left to the cluster.
            let _ = builder.resource(resource);
        }
        // The empty demand is number 0.
        let _ = builder.intern(Demand::default());
        Demands { table: builder.table().clone(), known: BTreeMap::new(), grown: false }
    }

    fn number(&mut self, totals: Vec<(ResourceId, u64)>) -> DemandId {
        let amounts: Vec<(u16, u64)> = totals.iter().map(|&(id, amount)| (id.0, amount)).collect();
        if let Some(&id) = self.known.get(&amounts) {
            return id;
        }
        let mut builder = ResourceTableBuilder::from(&self.table);
        // An amount beyond all bounds is no demand of a real job.
        let id = builder.intern(Demand::of(totals)).unwrap_or(DemandId::NONE);
        self.table = builder.table().clone();
        self.known.insert(amounts, id);
        self.grown = true;
        id
    }
}

impl Tracker {
    /// Returns whether the devices that a job asks for are counted: then the policy starts it.
    pub(super) fn counts_devices(&self, fact: &JobFact) -> bool {
        let counted = |(name, _): &(String, u32)| self.demands.table.find(name).is_some();
        !fact.devices.is_empty() && fact.devices.iter().all(counted)
    }

    /// Returns the demand of a job beyond processors.
    pub(super) fn demand_of(&mut self, fact: &JobFact) -> DemandId {
        if !self.demands.table.counts() {
            return DemandId::NONE;
        }
        let find = |name: &str| self.demands.table.find(name);
        let memory = find("mem").zip(fact.memory.map(|mb| mb.saturating_mul(KB)));
        let devices = fact.devices.iter().filter_map(|(name, count)| Some((find(name)?, u64::from(*count))));
        let totals: Vec<(ResourceId, u64)> = memory.into_iter().chain(devices).filter(|&(_, n)| n > 0).collect();
        if totals.is_empty() { DemandId::NONE } else { self.demands.number(totals) }
    }

    /// The table of resources, if any is counted.
    pub(crate) fn resources(&self) -> Option<Arc<ResourceTable>> {
        self.demands.table.counts().then(|| Arc::new(self.demands.table.clone()))
    }

    /// The table, where demands have come into it since this was asked last.
    pub(crate) fn grown_resources(&mut self) -> Option<Arc<ResourceTable>> {
        if std::mem::take(&mut self.demands.grown) { self.resources() } else { None }
    }
}
