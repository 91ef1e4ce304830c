//! Resources beyond processors: free counts of each. A world without them has none of this on its
//! path but the question for them.

use super::{PolicyViolation, Session};
use crate::model::{Job, JobId, ProcSet, ResourceTable};
use crate::policy::{FreeResources, PassRule, PolicyEvent, Portion};
use std::sync::Arc;

impl Session {
    /// Gives the machine resources beyond processors. Call it before the first event.
    ///
    /// A job holds what its demand asks for ([`Demand::totals`](crate::model::Demand::totals)) as
    /// long as it runs; suspended, it keeps what stays
    /// ([`Resource::stays`](crate::model::Resource)).
    pub fn set_resources(&mut self, table: Arc<ResourceTable>) {
        let mut resources = FreeResources::new(table);
        if self.scheduler.places_on_nodes() && !self.scheduler.policy.models_nodes() {
            resources = resources.on_nodes();
        }
        self.s.world.resources = Some(Box::new(resources));
    }

    /// Gives the machine a table with further demands, or with further resources behind those of
    /// [`Session::set_resources`]: these stay, and each demand keeps its number. Returns whether
    /// the table was taken. The total of a resource may be larger than before: how much there is of
    /// it then is for [`Session::set_supply`] to say. All of a new resource is free.
    pub fn extend_demands(&mut self, table: Arc<ResourceTable>) -> bool {
        let Some(resources) = &mut self.s.world.resources else {
            // No job that is here asks for any.
            self.set_resources(table);
            self.notify_policy(PolicyEvent::Capacity);
            return true;
        };
        let count = table.resources().len();
        let has_more = count > resources.levels().len();
        let is_taken = resources.extend_table(table);
        if is_taken && has_more {
            self.notify_policy(PolicyEvent::Capacity);
        }
        is_taken
    }

    /// Returns the reason why a job is impossible on this machine; `None` if it is possible.
    #[inline]
    pub(crate) fn problem_of(&self, job: &Job) -> Option<String> {
        job.machine_problem(self.s.world.machine).or_else(|| match &self.s.world.resources {
            None => job.unserved_problem(),
            Some(resources) => (resources.table().demand_problem(job.demand))
                .or_else(|| resources.nodes()?.find_problem(job, resources.table())),
        })
    }

    /// The instant is over: where starts may use what is given back later in it, it has been given
    /// back by now.
    #[inline]
    pub(super) fn settle_resources(&self) -> Result<(), PolicyViolation> {
        match &self.s.world.resources {
            Some(resources) if self.scheduler.pass == PassRule::Pyss => {
                let over = resources.table().resources().iter().zip(resources.levels()).find(|(_, level)| **level < 0);
                over.map_or(Ok(()), |(resource, level)| {
                    let more = resource.unit.format_amount(level.unsigned_abs());
                    let problem = format!("{more} of `{}` more are in use than there are", resource.name);
                    Err(PolicyViolation { at: self.s.world.now, job: None, problem })
                })
            }
            _ => Ok(()),
        }
    }

    #[inline]
    pub(super) fn take_resources(&mut self, id: JobId, portion: Portion) {
        if self.s.world.resources.is_some() {
            self.change_resources(id, portion, -1);
        }
    }

    #[inline]
    pub(super) fn give_resources(&mut self, id: JobId, portion: Portion) {
        if self.s.world.resources.is_some() {
            self.change_resources(id, portion, 1);
        }
    }

    #[inline(never)]
    fn change_resources(&mut self, id: JobId, portion: Portion, sign: i64) {
        let demand = self.s.world.jobs[id].job.demand;
        if let Some(resources) = &mut self.s.world.resources {
            resources.change_demand(demand, portion, sign);
            if sign > 0
                && let Some((nodes, _)) = resources.nodes_mut()
            {
                if portion == Portion::Passing { nodes.park_job(id) } else { nodes.leave_seat(id) }
            }
        }
    }

    /// A job is here: policies may ask for its need.
    #[inline]
    pub(super) fn meet_need(&mut self, id: JobId) {
        if self.s.world.resources.is_some() {
            self.s.world.meet_need(id);
        }
    }

    #[inline]
    pub(super) fn is_on_nodes(&self) -> bool {
        self.s.world.resources.as_ref().is_some_and(|resources| resources.nodes().is_some())
    }

    /// A job takes these processors and what it asks for beside them on their nodes; `anyway` where
    /// it runs there already. Returns the reason why it cannot.
    pub(super) fn take_nodes(&mut self, id: JobId, set: &ProcSet, anyway: bool) -> Option<String> {
        let job = &self.s.world.jobs[id].job;
        let (nodes, table) = self.s.world.resources.as_mut()?.nodes_mut()?;
        nodes.take_seat(job, id, set, table, anyway)
    }

    /// A job that is suspended has been on these processors, and keeps its memory on their nodes.
    pub(super) fn park_on_nodes(&mut self, id: JobId, set: &ProcSet) {
        if self.is_on_nodes() {
            self.take_nodes(id, set, true);
            if let Some((nodes, _)) = self.s.world.resources.as_mut().and_then(|resources| resources.nodes_mut()) {
                nodes.park_job(id);
            }
        }
    }

    /// Returns the reason why a job cannot take a portion of its demand.
    pub(super) fn lacks_resources(&self, id: JobId, portion: Portion) -> Option<String> {
        let (resource, needs, free) =
            self.s.world.resources.as_ref()?.first_lack(self.s.world.jobs[id].job.demand, portion)?;
        let show = |amount: i64| resource.unit.format_amount(amount.max(0) as u64);
        Some(format!("with {} of `{}`: {} are free", show(needs as i64), resource.name, show(free)))
    }
}
