//! Use of resources beyond processors.

use crate::model::{EndedJob, ResourceTable, ResourceUnit, Span};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The use of one resource by all simulated jobs, counted or not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResourceUse {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: ResourceUnit,
    /// Amount on the machine, in that unit.
    pub total: u64,
    /// Jobs that ask for some of it.
    pub jobs: u64,
    /// Σ amount × run time received / (total × makespan); `None` where that is 0.
    pub utilisation: Option<f64>,
}

/// Adds up [`ResourceUse`].
#[derive(Clone, Debug)]
pub(super) struct ResourceMeter {
    table: Arc<ResourceTable>,
    /// Jobs and amount-seconds by resource.
    sums: Vec<(u64, u128)>,
}

impl ResourceMeter {
    pub(super) fn new(table: &Arc<ResourceTable>) -> ResourceMeter {
        ResourceMeter { table: Arc::clone(table), sums: vec![(0, 0); table.resources().len()] }
    }

    pub(super) fn take(&mut self, ended: &EndedJob<'_>) {
        let ran = ended.outcome.ran.0.max(0).unsigned_abs();
        for &(id, amount) in self.table.totals(ended.job.demand) {
            let (jobs, sum) = &mut self.sums[id.index()];
            *jobs += 1;
            *sum += u128::from(amount) * u128::from(ran);
        }
    }

    /// The use over so much time.
    pub(super) fn finish(self, time: Span) -> Vec<ResourceUse> {
        let resources = self.table.resources().iter().zip(&self.sums);
        let of = |(resource, &(jobs, sum)): (&crate::model::Resource, &(u64, u128))| {
            let capacity = resource.total as f64 * time.as_f64();
            let utilisation = (capacity > 0.0).then(|| sum as f64 / capacity);
            ResourceUse { name: resource.name.clone(), unit: resource.unit, total: resource.total, jobs, utilisation }
        };
        resources.map(of).collect()
    }
}
