//! Changes made to premises, one after another.

use super::change::{ChangeList, SiteChange};
use super::change_values::Longer;
use super::premises::{ApplyError, Premises};
use super::state::{Applied, LeftOutJobs};
use super::{capacity, jobs, memory, node_times, settings, shared_limits, supply};
use drystone::model::Time;

/// Makes the premises after a scenario. `clock` turns a local time into a time of the workload;
/// `seed` is for what is drawn.
///
/// # Errors
/// A change that cannot be made: a name that is none, nodes that are not there, a policy that knows
/// nothing of it.
pub fn apply_changes(
    premises: &Premises,
    scenario: &ChangeList,
    clock: &dyn Fn(&str) -> Result<Time, String>,
    seed: u64,
) -> Result<Applied, ApplyError> {
    let mut applied_state = Applied {
        origin: (0..premises.workload.len() as u32).map(Some).collect(),
        premises: premises.clone(),
        feeds_back: false,
        split: 0,
        added: 0,
        left: LeftOutJobs::default(),
        refused: 0,
        notes: Vec::new(),
        table: premises.workload.resources().cloned(),
        known: None,
    };
    for change in &scenario.0 {
        applied_state.apply_change(change, clock, seed)?;
    }
    if !scenario.0.is_empty() {
        applied_state.renew_limits(scenario)?;
        let settings = &mut applied_state.premises.workload.provenance.settings;
        settings.push(drystone::model::Setting { name: "what-if".to_string(), value: scenario.to_string() });
    }
    Ok(applied_state)
}

impl Applied {
    /// Lets the jobs share the limits that they have after the changes.
    fn renew_limits(&mut self, scenario: &ChangeList) -> Result<(), ApplyError> {
        let Some(rules) = self.premises.rules.clone() else { return Ok(()) };
        let workload = &self.premises.workload;
        let mut circumstances = workload.circumstances().cloned().unwrap_or_default();
        circumstances.limits = rules.job_limits(&self.premises, &self.origin);
        let new_workload = workload.clone().with_circumstances(circumstances);
        let wrong = |problem: String| ApplyError { change: scenario.to_string(), problem };
        self.premises.workload = new_workload.map_err(|error| wrong(error.to_string()))?;
        Ok(())
    }

    fn apply_change(
        &mut self,
        change: &SiteChange,
        clock: &dyn Fn(&str) -> Result<Time, String>,
        seed: u64,
    ) -> Result<(), ApplyError> {
        match change {
            SiteChange::Nodes { of, amount, from } => {
                let before: Vec<_> = self.premises.pools.iter().map(|pool| pool.procs).collect();
                capacity::change_nodes(self, change, of.as_deref(), *amount)?;
                from.iter()
                    .try_for_each(|from| node_times::delay_added_processors(self, change, (&before, from), clock))
            }
            SiteChange::Delivery(nodes) => node_times::delay_delivery(self, change, nodes, clock),
            SiteChange::Drain(nodes) => node_times::drain_nodes(self, change, nodes, clock),
            SiteChange::Procs(amount) => capacity::change_processors(self, change, *amount),
            SiteChange::Memory { of, amount } => memory::change_node_memory(self, change, of.as_deref(), *amount),
            SiteChange::LimitMax { of, most, longer: Longer::Refused } => {
                jobs::refuse_longer(self, change, of.as_deref(), *most)
            }
            SiteChange::LimitMax { of, most, longer: Longer::Split(overhead) } => {
                jobs::split_jobs(self, change, of.as_deref(), *most, *overhead)
            }
            SiteChange::Limits(rule) => jobs::change_limits(self, change, *rule),
            SiteChange::Load(factor, arrivals) => jobs::change_load(self, change, *factor, *arrivals, seed),
            SiteChange::Border(border) => jobs::move_border(self, change, border),
            SiteChange::ShortQueue(most) => capacity::short_queue(self, change, *most),
            SiteChange::Qos { name, limits } => shared_limits::limit_qos(self, change, name, limits),
            SiteChange::Account { name, limits } => shared_limits::limit_account(self, change, name, limits),
            SiteChange::Set(assignments) => settings::change_settings(self, change, assignments),
            SiteChange::Maintenance(closure) => capacity::close_nodes(self, change, closure, clock),
            SiteChange::Reservation(closure) => capacity::close_nodes(self, change, closure, clock),
            SiteChange::Supply(amount) => supply::set_supply(self, change, amount, clock),
            SiteChange::Remove(people) => jobs::remove(self, change, people),
            SiteChange::Sharing { whole } => capacity::set_sharing(self, change, *whole),
        }
    }
}
