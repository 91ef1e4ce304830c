//! Use of resources beyond processors.

use crate::model::{EndedJob, Resource, ResourceTable, ResourceUnit, SharedSort, Span, Time};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The use of one resource by all simulated jobs, counted or not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResourceUse {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: ResourceUnit,
    /// Amount on the machine, in that unit; where it changes over time, the largest.
    pub total: u64,
    /// Average amount from the first submit to the last end, in that unit, where it changes then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
    /// Jobs that ask for some of it.
    pub jobs: u64,
    /// Σ amount × run time received / (total × makespan); `None` where that is 0. Where the
    /// amount changes over time, the total is its average from the first submit to the last end.
    pub utilisation: Option<f64>,
}

/// Utilisation of GPUs of any type; `None` where none are counted. Types count where no resource
/// counts them all.
pub(super) fn gpus_in_use(uses: &[ResourceUse]) -> Option<f64> {
    combined_utilisation(uses, |pool, name| {
        let every = || uses.iter().any(|entry| split_pool(&entry.name) == (pool, "gpu"));
        name == "gpu" || name.starts_with("gpu:") && !every()
    })
}

/// Utilisation of memory; `None` where it is not counted.
pub(super) fn memory_in_use(uses: &[ResourceUse]) -> Option<f64> {
    combined_utilisation(uses, |_, name| name == "mem")
}

/// The utilisation of some resources taken together, by the pool and the name of each.
fn combined_utilisation(uses: &[ResourceUse], counts: impl Fn(&str, &str) -> bool) -> Option<f64> {
    let chosen_uses = uses.iter().filter(|entry| {
        let (pool, name) = split_pool(&entry.name);
        counts(pool, name)
    });
    let used_and_total =
        chosen_uses.filter_map(|entry| Some((entry.utilisation? * entry.total as f64, entry.total as f64)));
    let (used_sum, total) = used_and_total.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (total > 0.0).then(|| used_sum / total)
}

/// `2.pool/gpu:a100` is `gpu:a100` of the pool `2.pool`.
fn split_pool(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

/// Adds up [`ResourceUse`].
#[derive(Clone, Debug)]
pub(super) struct ResourceMeter {
    table: Arc<ResourceTable>,
    /// Jobs and amount-seconds by resource.
    sums: Vec<(u64, u128)>,
    /// The first submit and the last end, where supply changes over time.
    period: Option<(Time, Time)>,
}

impl ResourceMeter {
    pub(super) fn new(table: &Arc<ResourceTable>) -> ResourceMeter {
        ResourceMeter { table: Arc::clone(table), sums: vec![(0, 0); table.resources().len()], period: None }
    }

    pub(super) fn table(&self) -> &ResourceTable {
        &self.table
    }

    pub(super) fn take_job(&mut self, job_end: &EndedJob<'_>) {
        let ran = job_end.outcome.ran.0.max(0).unsigned_abs();
        if !self.table.supply_steps().is_empty() {
            let (first, last) = self.period.get_or_insert((job_end.job.submit, job_end.outcome.end));
            (*first, *last) = ((*first).min(job_end.job.submit), (*last).max(job_end.outcome.end));
        }
        for &(id, amount) in self.table.demand_totals(job_end.job.demand) {
            let (jobs, sum) = &mut self.sums[id.index()];
            *jobs += 1;
            *sum += u128::from(amount) * u128::from(ran);
        }
    }

    fn mean_supply(&self, resource: &Resource) -> f64 {
        let period = self.period.zip(self.table.find_id(&resource.name)).filter(|((first, last), _)| last > first);
        let Some(((first, last), id)) = period else { return resource.total as f64 };
        let inside = |time: &Time| first < *time && *time < last;
        let changes = self.table.supply_steps().iter().filter(|step| step.resource == id).map(|step| step.from);
        let mut times: Vec<Time> = changes.filter(inside).chain([first, last]).collect();
        times.sort_shared();
        let spans =
            times.windows(2).map(|pair| self.table.supply_at(id, pair[0]) as f64 * (pair[1] - pair[0]).as_f64());
        spans.sum::<f64>() / (last - first).as_f64()
    }

    pub(super) fn finish(&self, time: Span) -> Vec<ResourceUse> {
        let resources = self.table.resources().iter().zip(&self.sums);
        let of = |(resource, &(jobs, sum)): (&Resource, &(u64, u128))| {
            let mean = self.mean_supply(resource);
            let capacity = mean * time.as_f64();
            let utilisation = (capacity > 0.0).then(|| sum as f64 / capacity);
            let average = (mean < resource.total as f64).then_some(mean);
            ResourceUse {
                name: resource.name.clone(),
                unit: resource.unit,
                total: resource.total,
                average,
                jobs,
                utilisation,
            }
        };
        resources.map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, total: u64, utilisation: f64) -> ResourceUse {
        let (name, unit, utilisation) = (name.into(), ResourceUnit::Count, Some(utilisation));
        ResourceUse { name, unit, total, average: None, jobs: 1, utilisation }
    }

    /// Of 4 GPUs of one type half are used and of 12 of another a quarter: 5 of 16.
    #[test]
    fn types_of_gpus_are_taken_together() {
        let types = [used("gpu:a100", 4, 0.5), used("gpu:v100", 12, 0.25), used("license:gpu", 9, 1.0)];
        assert_eq!(gpus_in_use(&types), Some(5.0 / 16.0));
        // Where all are counted, a type is a part of them.
        assert_eq!(gpus_in_use(&[used("gpu", 16, 0.75), used("gpu:a100", 4, 0.5)]), Some(0.75));
        assert_eq!(gpus_in_use(&[used("1.big/gpu", 2, 1.0), used("2.old/gpu:k80", 2, 0.5)]), Some(0.75));
        assert_eq!((gpus_in_use(&[]), memory_in_use(&types)), (None, None));
        assert_eq!(memory_in_use(&[used("1.big/mem", 3, 1.0), used("mem", 1, 0.0)]), Some(0.75));
    }
}
