//! Licences that jobs of other pools hold, where some pools of a site are simulated without them.

use crate::job_demands::{licence_resource, licences_of};
use crate::site::Site;
use drystone::model::{ResourceId, ResourceTable, SupplyStep, Time};
use std::collections::BTreeMap;

impl Site {
    /// Returns the table with what jobs of other pools leave of each licence, as they ran by the
    /// records; `None` where they hold none. No change is announced.
    pub(crate) fn leave_licences(&self, table: &ResourceTable, pools: &[u16]) -> Option<ResourceTable> {
        let has_licences = table.resources().iter().any(|resource| resource.name.starts_with("license:"));
        if !has_licences || pools.len() >= self.manifest.pools.len() {
            return None;
        }
        let mut changes: BTreeMap<(ResourceId, Time), i64> = BTreeMap::new();
        for at in 0..self.len() {
            let job = self.bare_job(at);
            let end = job.end.unwrap_or(self.manifest.window.until);
            let Some(start) = job.start.filter(|&start| job.kind.has_start() && start < end) else { continue };
            if pools.contains(&job.pool) {
                continue;
            }
            for (name, count) in licences_of(&self.job_at(at).asks) {
                if let Some(id) = table.find_id(&licence_resource(name)) {
                    *changes.entry((id, self.time_of(start))).or_default() -= i64::from(count);
                    *changes.entry((id, self.time_of(end))).or_default() += i64::from(count);
                }
            }
        }
        let mut free_counts: BTreeMap<ResourceId, i64> = BTreeMap::new();
        let steps: Vec<SupplyStep> = (changes.into_iter().filter(|&(_, change)| change != 0))
            .map(|((resource, from), change)| {
                let total = || table.find_resource(resource).map_or(0, |resource| resource.total as i64);
                let free_count = free_counts.entry(resource).or_insert_with(total);
                *free_count += change;
                SupplyStep { resource, from, amount: (*free_count).max(0) as u64, announced: None }
            })
            .collect();
        if steps.is_empty() { None } else { table.with_supply(&steps).ok() }
    }
}
