//! Waits for a further resource alone: enough processors are free, and too little of it.

use drystone::engine::Levels;
use drystone::model::{JobId, ResourceId, ResourceTable, Time, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Counts the time that jobs wait for licences, and for resources whose amount changes. Other
/// resources, such as memory, are not counted.
pub(super) struct ResourceWaits<'a> {
    workload: &'a Workload,
    table: &'a ResourceTable,
    counted: BTreeSet<ResourceId>,
    /// Amounts that running jobs hold.
    held: BTreeMap<ResourceId, u64>,
    waiting: BTreeSet<JobId>,
    running: BTreeSet<JobId>,
    /// Resources for which jobs wait since the last instant, and how many jobs do.
    lacking: Vec<(ResourceId, u32)>,
    since: Time,
    seconds: BTreeMap<ResourceId, f64>,
}

impl<'a> ResourceWaits<'a> {
    /// `None` where no job asks for such a resource.
    pub(super) fn for_workload(workload: &'a Workload) -> Option<ResourceWaits<'a>> {
        let table = workload.resources()?;
        let changes = table.supply_steps().iter().map(|step| step.resource);
        let mut counted_ids: BTreeSet<ResourceId> = changes.collect();
        let resource_pairs = (0..).map(ResourceId).zip(table.resources());
        counted_ids.extend(resource_pairs.filter(|(_, resource)| resource.name.contains("license:")).map(|(id, _)| id));
        let mut demands = workload.jobs().iter().flat_map(|job| table.demand_totals(job.demand));
        demands.any(|(id, _)| counted_ids.contains(id)).then(|| ResourceWaits {
            workload,
            table,
            counted: counted_ids,
            held: BTreeMap::new(),
            waiting: BTreeSet::new(),
            running: BTreeSet::new(),
            lacking: Vec::new(),
            since: Time::ZERO,
            seconds: BTreeMap::new(),
        })
    }

    fn counted_amounts(&self, id: JobId) -> impl Iterator<Item = (ResourceId, u64)> {
        let asks = self.table.demand_totals(self.workload.job(id).demand).iter().copied();
        asks.filter(|(resource, _)| self.counted.contains(resource))
    }

    pub(super) fn note_wait(&mut self, id: JobId) {
        if self.counted_amounts(id).next().is_some() {
            self.waiting.insert(id);
        }
    }

    pub(super) fn note_leave(&mut self, id: JobId) {
        self.waiting.remove(&id);
    }

    pub(super) fn note_start(&mut self, id: JobId) {
        self.waiting.remove(&id);
        let asks: Vec<(ResourceId, u64)> = self.counted_amounts(id).collect();
        if !asks.is_empty() && self.running.insert(id) {
            asks.into_iter().for_each(|(resource, amount)| *self.held.entry(resource).or_default() += amount);
        }
    }

    pub(super) fn note_stop(&mut self, id: JobId) {
        self.waiting.remove(&id);
        if self.running.remove(&id) {
            let asks: Vec<(ResourceId, u64)> = self.counted_amounts(id).collect();
            for (resource, amount) in asks {
                if let Some(amount_in_use) = self.held.get_mut(&resource) {
                    *amount_in_use -= amount;
                }
            }
        }
    }

    /// Takes the levels that hold until the next instant.
    pub(super) fn settle_levels(&mut self, now: Time, levels: Levels) {
        let span = (now - self.since).as_f64();
        for (resource, jobs) in self.lacking.drain(..) {
            *self.seconds.entry(resource).or_default() += span * f64::from(jobs);
        }
        self.since = now;
        if self.waiting.is_empty() {
            return;
        }
        let free: BTreeMap<ResourceId, u64> = (self.counted.iter())
            .map(|&id| (id, self.table.supply_at(id, now).saturating_sub(self.held.get(&id).copied().unwrap_or(0))))
            .collect();
        let mut lacking: BTreeMap<ResourceId, u32> = BTreeMap::new();
        for &id in self.waiting.iter().filter(|&&id| self.workload.job(id).procs <= levels.free) {
            let lack = self
                .counted_amounts(id)
                .find(|(resource, amount)| free.get(resource).is_some_and(|free| free < amount));
            lack.into_iter().for_each(|(resource, _)| *lacking.entry(resource).or_default() += 1);
        }
        self.lacking.extend(lacking);
    }

    /// Returns the seconds of all jobs by the resource that they waited for.
    pub(super) fn finish(self) -> BTreeMap<String, f64> {
        let name = |id| self.table.find_resource(id).map_or_else(String::new, |resource| resource.name.clone());
        self.seconds.iter().map(|(&id, &seconds)| (name(id), seconds)).collect()
    }
}
