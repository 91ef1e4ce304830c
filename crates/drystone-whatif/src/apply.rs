//! Changes made to premises, one after another.

use super::change::{ChangeList, Longer, SiteChange};
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
pub fn apply(
    premises: &Premises,
    scenario: &ChangeList,
    clock: &dyn Fn(&str) -> Result<Time, String>,
    seed: u64,
) -> Result<Applied, ApplyError> {
    let mut applied = Applied {
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
        applied.make(change, clock, seed)?;
    }
    if !scenario.0.is_empty() {
        applied.renew_limits(scenario)?;
        let settings = &mut applied.premises.workload.provenance.settings;
        settings.push(drystone::model::Setting { name: "what-if".to_string(), value: scenario.to_string() });
    }
    Ok(applied)
}

impl Applied {
    /// Lets the jobs share the limits that they have after the changes.
    fn renew_limits(&mut self, scenario: &ChangeList) -> Result<(), ApplyError> {
        let Some(rules) = self.premises.rules.clone() else { return Ok(()) };
        let workload = &self.premises.workload;
        let mut known = workload.circumstances().cloned().unwrap_or_default();
        known.limits = rules.limits(&self.premises, &self.origin);
        let renewed = workload.clone().with(known);
        let wrong = |problem: String| ApplyError { change: scenario.to_string(), problem };
        self.premises.workload = renewed.map_err(|error| wrong(error.to_string()))?;
        Ok(())
    }

    fn make(
        &mut self,
        change: &SiteChange,
        clock: &dyn Fn(&str) -> Result<Time, String>,
        seed: u64,
    ) -> Result<(), ApplyError> {
        match change {
            SiteChange::Nodes { of, amount, from } => {
                let before: Vec<_> = self.premises.pools.iter().map(|pool| pool.procs).collect();
                capacity::nodes(self, change, of.as_deref(), *amount)?;
                from.iter().try_for_each(|from| node_times::later(self, change, (&before, from), clock))
            }
            SiteChange::Delivery(nodes) => node_times::delivery(self, change, nodes, clock),
            SiteChange::Drain(nodes) => node_times::drain(self, change, nodes, clock),
            SiteChange::Procs(amount) => capacity::procs(self, change, *amount),
            SiteChange::Memory { of, amount } => memory::nodes(self, change, of.as_deref(), *amount),
            SiteChange::LimitMax { of, most, longer: Longer::Refused } => {
                jobs::refuse(self, change, of.as_deref(), *most)
            }
            SiteChange::LimitMax { of, most, longer: Longer::Split(overhead) } => {
                jobs::split(self, change, of.as_deref(), *most, *overhead)
            }
            SiteChange::Limits(rule) => jobs::limits(self, change, *rule),
            SiteChange::Load(factor, arrivals) => jobs::load(self, change, *factor, *arrivals, seed),
            SiteChange::Border(border) => jobs::border(self, change, border),
            SiteChange::ShortQueue(most) => capacity::short_queue(self, change, *most),
            SiteChange::Qos { name, limits } => shared_limits::qos(self, change, name, limits),
            SiteChange::Account { name, limits } => shared_limits::account(self, change, name, limits),
            SiteChange::Set(all) => settings::set(self, change, all),
            SiteChange::Maintenance(closure) => capacity::closure(self, change, closure, clock),
            SiteChange::Reservation(closure) => capacity::closure(self, change, closure, clock),
            SiteChange::Supply(amount) => supply::supply(self, change, amount, clock),
            SiteChange::Remove(people) => jobs::remove(self, change, people),
            SiteChange::Sharing { whole } => capacity::sharing(self, change, *whole),
        }
    }
}
