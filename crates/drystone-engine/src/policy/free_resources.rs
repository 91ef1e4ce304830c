//! Free resources of a machine beyond processors, as policies see them.

use super::FreeNodes;
use crate::model::{DemandId, Resource, ResourceId, ResourceTable};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The machine's further resources, and how much of each no job holds.
///
/// Amounts are sums over the machine; where jobs are placed on nodes, [`FreeResources::nodes`] has
/// them node by node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FreeResources {
    #[serde(serialize_with = "write_table", deserialize_with = "read_table")]
    table: Arc<ResourceTable>,
    /// By resource. Below 0 where jobs hold more than there is: another scheduler has started them,
    /// or there is less than there was.
    levels: Vec<i64>,
    /// Present amount of each, free or held; empty while that is the total of each.
    supply: Vec<u64>,
    nodes: Option<Box<FreeNodes>>,
}

fn write_table<S: Serializer>(table: &Arc<ResourceTable>, to: S) -> Result<S::Ok, S::Error> {
    table.as_ref().serialize(to)
}

fn read_table<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<ResourceTable>, D::Error> {
    ResourceTable::deserialize(from).map(Arc::new)
}

/// Demand of a job beyond processors, as available to a formula.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BeyondProcessors {
    /// GPUs of any type.
    pub gpus: f64,
    /// Memory in gigabytes.
    pub memory: f64,
    /// The largest part of any resource of the machine but processors.
    pub share: f64,
}

/// Part of a demand that is taken or given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Portion {
    /// All of it: a job starts or ends.
    Whole,
    /// The part that a suspended job gives back.
    Passing,
    /// The part that a suspended job keeps.
    Staying,
}

impl FreeResources {
    /// All of these resources are free.
    pub(crate) fn new(table: Arc<ResourceTable>) -> FreeResources {
        let levels = table.resources().iter().map(|resource| resource.total as i64).collect();
        FreeResources { table, levels, supply: Vec::new(), nodes: None }
    }

    /// Places jobs on nodes, where the table says so.
    pub(crate) fn on_nodes(mut self) -> FreeResources {
        self.nodes = FreeNodes::new(&self.table).map(Box::new);
        self
    }

    /// Returns the nodes; `None` where only amounts in all are counted.
    #[inline]
    #[must_use]
    pub fn nodes(&self) -> Option<&FreeNodes> {
        self.nodes.as_deref()
    }

    #[inline]
    pub(crate) fn nodes_mut(&mut self) -> Option<(&mut FreeNodes, &ResourceTable)> {
        self.nodes.as_deref_mut().map(|nodes| (nodes, &*self.table))
    }

    /// Takes a table of the same resources, of which there may be more in all, and of others behind
    /// them, with the same demands and more behind them. Returns whether it is one. The present
    /// amounts stay; all of a new resource is free.
    pub(crate) fn extend_table(&mut self, table: Arc<ResourceTable>) -> bool {
        let (new, own) = (table.resources(), self.table.resources());
        let is_like = |(new, own): (&Resource, &Resource)| {
            (&new.name, new.unit) == (&own.name, own.unit) && new.total >= own.total
        };
        let has_all = new.len() >= own.len() && new.iter().zip(own).all(is_like);
        let same = has_all && table.demands().starts_with(self.table.demands());
        if same {
            let (own_part, new_part) = new.split_at(own.len());
            if self.supply.is_empty() && own_part != own {
                self.supply = own.iter().map(|resource| resource.total).collect();
            }
            if !self.supply.is_empty() {
                self.supply.extend(new_part.iter().map(|resource| resource.total));
            }
            self.levels.extend(new_part.iter().map(|resource| resource.total as i64));
            self.table = table;
        }
        same
    }

    /// The resources and demands.
    #[inline]
    #[must_use]
    pub fn table(&self) -> &Arc<ResourceTable> {
        &self.table
    }

    /// Returns the free amount of a resource, in its unit; 0 for an unknown resource.
    #[inline]
    #[must_use]
    pub fn free_amount(&self, id: ResourceId) -> u64 {
        self.levels.get(id.index()).map_or(0, |&level| level.max(0) as u64)
    }

    /// Returns the free amount of each resource; below 0 where jobs hold more than there is.
    #[inline]
    #[must_use]
    pub fn levels(&self) -> &[i64] {
        &self.levels
    }

    /// Returns the present amount of a resource, free or held by jobs; 0 for an unknown resource.
    #[inline]
    #[must_use]
    pub fn present_amount(&self, id: ResourceId) -> u64 {
        let total = || self.table.find_resource(id).map_or(0, |resource| resource.total);
        self.supply.get(id.index()).copied().unwrap_or_else(total)
    }

    /// Sets the amount of each resource from now on. Jobs keep what they hold.
    pub(crate) fn set_supply(&mut self, supply: Vec<u64>) {
        for (at, (level, &amount)) in self.levels.iter_mut().zip(&supply).enumerate() {
            let total = || self.table.find_resource(ResourceId(at as u16)).map_or(0, |resource| resource.total);
            let before = self.supply.get(at).copied().unwrap_or_else(total);
            *level += amount as i64 - before as i64;
        }
        self.supply = supply;
    }

    /// Returns whether all resources of a demand are free.
    #[inline]
    #[must_use]
    pub fn has_free(&self, demand: DemandId) -> bool {
        covers_totals(&self.levels, self.table.demand_totals(demand))
    }

    /// Returns the facts of a demand available to a formula.
    pub fn demand_facts(&self, demand: DemandId) -> BeyondProcessors {
        let mut facts = BeyondProcessors::default();
        for &(id, amount) in self.table.demand_totals(demand) {
            let Some(resource) = self.table.find_resource(id) else { continue };
            let amount = amount as f64;
            facts.share = facts.share.max(amount / (resource.total.max(1)) as f64);
            if self.counts_gpus(resource) {
                facts.gpus += amount;
            } else if is_memory(resource) {
                facts.memory = amount / f64::from(1 << 20);
            }
        }
        facts
    }

    /// Returns whether a resource is GPUs of any type, or of one type where not all types are
    /// counted together.
    fn counts_gpus(&self, resource: &Resource) -> bool {
        let (pool, name) = split_names(resource);
        let every =
            || if pool.is_empty() { self.table.find_id("gpu") } else { self.table.find_id(&format!("{pool}/gpu")) };
        name == "gpu" || name.starts_with("gpu:") && every().is_none()
    }

    /// Amounts of a demand beside what the machine has: of GPUs, of memory, and of the resource of
    /// which it is the largest share.
    pub fn demand_shares(&self, demand: DemandId) -> [(u64, u64); 3] {
        let total = |counts: &dyn Fn(&Resource) -> bool| {
            self.table
                .resources()
                .iter()
                .filter(|resource| counts(resource))
                .map(|resource| resource.total)
                .sum::<u64>()
        };
        let (gpus, memory) = (total(&|resource| self.counts_gpus(resource)), total(&is_memory));
        let mut shares = [(0, gpus), (0, memory), (0, 1)];
        for &(id, amount) in self.table.demand_totals(demand) {
            let Some(resource) = self.table.find_resource(id) else { continue };
            if self.counts_gpus(resource) {
                shares[0].0 += amount;
            } else if is_memory(resource) {
                shares[1].0 += amount;
            }
            let (most, of) = shares[2];
            if u128::from(amount) * u128::from(of) > u128::from(most) * u128::from(resource.total) {
                shares[2] = (amount, resource.total);
            }
        }
        shares
    }

    /// The first resource of which too little is free for this portion of a demand, with what is
    /// asked and what is free.
    pub(crate) fn first_lack(&self, demand: DemandId, portion: Portion) -> Option<(&Resource, u64, i64)> {
        self.demand_parts(demand, portion).find_map(|(id, amount)| {
            let (resource, level) = (self.table.find_resource(id)?, self.levels[id.index()]);
            (amount as i64 > level).then_some((resource, amount, level))
        })
    }

    fn demand_parts(&self, demand: DemandId, portion: Portion) -> impl Iterator<Item = (ResourceId, u64)> + '_ {
        let counts = move |&&(id, _): &&(ResourceId, u64)| {
            let stays = || self.table.find_resource(id).is_some_and(|resource| resource.stays);
            match portion {
                Portion::Whole => true,
                Portion::Passing => !stays(),
                Portion::Staying => stays(),
            }
        };
        self.table.demand_totals(demand).iter().filter(counts).copied()
    }

    /// A job takes this portion of what it asks for (`sign` −1), or gives it back (+1).
    pub(crate) fn change_demand(&mut self, demand: DemandId, portion: Portion, sign: i64) {
        let FreeResources { table, levels, .. } = self;
        for &(id, amount) in table.demand_totals(demand) {
            let stays = table.find_resource(id).is_some_and(|resource| resource.stays);
            let counts = match portion {
                Portion::Whole => true,
                Portion::Passing => !stays,
                Portion::Staying => stays,
            };
            if counts {
                levels[id.index()] += sign * amount as i64;
            }
        }
    }
}

/// A resource's name as that of a pool, if it is one's, and what is behind: `gpu`, `gpu:a100`,
/// `2.pool/gpu`.
fn split_names(resource: &Resource) -> (&str, &str) {
    resource.name.rsplit_once('/').unwrap_or(("", &resource.name))
}

fn is_memory(resource: &Resource) -> bool {
    split_names(resource).1 == "mem"
}

/// Returns whether this much is left of each resource.
#[inline]
pub fn covers_totals(levels: &[i64], totals: &[(ResourceId, u64)]) -> bool {
    totals.iter().all(|&(id, amount)| levels[id.index()] >= amount as i64)
}

/// Takes a demand out of what is left.
#[inline]
pub fn deduct_totals(levels: &mut [i64], totals: &[(ResourceId, u64)]) {
    for &(id, amount) in totals {
        levels[id.index()] -= amount as i64;
    }
}

/// Gives a demand back to what is left.
#[inline]
pub fn release_totals(levels: &mut [i64], totals: &[(ResourceId, u64)]) {
    for &(id, amount) in totals {
        levels[id.index()] += amount as i64;
    }
}
