//! Further resources whose amounts change over time.
//!
//! Running jobs keep what they hold when the amount of a resource falls. A job that asks for more
//! than there is, and than is announced to come, is held back until that changes: it is in no
//! policy's queue.

use super::{NewsError, Session, SessionState};
use crate::model::{JobId, Time};
use crate::policy::{KnownSupply, Outlook, Phase, PolicyEvent, SupplyChange};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Knowledge of the supply of further resources.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct SupplyBook {
    /// Supply as announced last.
    known: Vec<KnownSupply>,
    /// Time of the next change; `None` for never.
    due: Option<Time>,
    /// Largest amount of each resource, now or as announced.
    most: Vec<u64>,
    /// Announced changes, in ascending order of time.
    ahead: Vec<SupplyChange>,
    /// Jobs that are held back because they ask for more than `most`.
    short: BTreeSet<JobId>,
}

impl Session {
    /// Sets the amounts of further resources, now and in future. Returns whether anything has
    /// changed.
    ///
    /// `known` replaces all that was set before. A resource without an entry that begins by now has
    /// its total. Announced changes happen at their times.
    ///
    /// # Errors
    /// A policy that does not [hear](crate::policy::Policy::can_hear_news) of it; a resource that
    /// the machine does not have, or more of one than its total. The session is then unchanged.
    pub fn set_supply(&mut self, now: Time, announcements: &[KnownSupply]) -> Result<bool, NewsError> {
        self.check_hears()?;
        let table = self.s.world.resources.as_ref().map(|resources| resources.table());
        for supply in announcements {
            let Some(resource) = table.and_then(|table| table.find_resource(supply.resource)) else {
                let resources = table.map_or(0, |table| table.resources().len());
                let problem = format!("resource {} is none of the {resources} of the machine", supply.resource.0);
                return Err(NewsError::Supply(problem));
            };
            if supply.amount > resource.total {
                let [amount, total] = [supply.amount, resource.total].map(|amount| resource.unit.format_amount(amount));
                let problem = format!("{amount} of `{}` is more than its total, {total}", resource.name);
                return Err(NewsError::Supply(problem));
            }
        }
        let now = self.begin_news(now);
        let book = self.s.supply.as_deref();
        let is_unchanged = book.map_or(announcements.is_empty(), |book| {
            book.known == announcements && book.due.is_none_or(|due| due > now)
        });
        if is_unchanged {
            return Ok(false);
        }
        if self.names_processors() && self.s.world.running.iter().any(|job| !self.s.world.named.contains_key(&job.id)) {
            self.name_all();
        }
        let mut announcements = announcements.to_vec();
        announcements.sort_unstable();
        self.s.supply.get_or_insert_default().known = announcements;
        self.change_supply(now);
        Ok(true)
    }

    /// Returns the last announcement of how much there is of further resources.
    #[must_use]
    pub fn known_supply(&self) -> &[KnownSupply] {
        self.s.supply.as_ref().map_or(&[], |book| &book.known)
    }

    /// Returns the jobs that are held back because they ask for more of a resource than there is,
    /// and than is announced to come.
    pub fn short_jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.s.supply.iter().flat_map(|book| book.short.iter().copied())
    }

    /// Returns the time of the next announced change of supply; [`Time::MAX`] for never.
    pub(super) fn supply_due(&self) -> Time {
        self.s.supply.as_ref().and_then(|book| book.due).unwrap_or(Time::MAX)
    }

    /// Carries out announced changes that are due. Returns whether there were any.
    pub(super) fn look_at_supply(&mut self, now: Time) -> bool {
        let due = self.supply_due() <= now;
        if due {
            self.change_supply(now);
        }
        due
    }

    fn change_supply(&mut self, now: Time) {
        self.s.read_supply(now);
        self.s.show_supply();
        self.notify_policy(PolicyEvent::Capacity);
        let world = &self.s.world;
        let short_waiting_jobs: Vec<JobId> = self.s.view().waiting_jobs().filter(|&id| self.s.is_short(id)).collect();
        let short = self.s.supply.iter().flat_map(|book| &book.short).copied();
        let enough: Vec<JobId> = short.filter(|&id| world.jobs.get(id).is_some() && !self.s.is_short(id)).collect();
        short_waiting_jobs.into_iter().for_each(|id| self.hold_if_short(id));
        for id in enough {
            self.forget_short(id);
            self.join_queue(id);
        }
    }

    /// Holds a waiting job back where it asks for more than there is, and than is announced.
    #[inline]
    pub(super) fn hold_if_short(&mut self, id: JobId) {
        if self.s.supply.is_some() {
            self.sift_anew(id);
        }
    }

    #[cold]
    fn sift_anew(&mut self, id: JobId) {
        if self.s.world.job_entry(id).phase == Phase::Waiting && self.s.is_short(id) {
            self.put_back(id);
            if let Some(book) = &mut self.s.supply {
                book.short.insert(id);
            }
            self.sifted.iter_mut().for_each(|list| list.push((id, true)));
        }
    }

    /// Ends a job's wait for supply, whatever becomes of it. Returns whether it waited for that.
    #[inline]
    pub(super) fn forget_short(&mut self, id: JobId) -> bool {
        let was_short = self.s.supply.as_mut().is_some_and(|book| book.short.remove(&id));
        if was_short {
            self.sifted.iter_mut().for_each(|list| list.push((id, false)));
        }
        was_short
    }

    /// Begins to list the jobs that are held back for lack of supply or released from that.
    pub(in crate::engine) fn list_sifted(&mut self) {
        self.sifted = Some(Vec::new());
    }

    /// Returns the jobs that were held back for lack of supply (true) or released from that (false)
    /// since the last call.
    pub(in crate::engine) fn take_sifted(&mut self) -> Vec<(JobId, bool)> {
        self.sifted.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl SessionState {
    /// Returns whether a job asks for more than there is, and than is announced to come.
    fn is_short(&self, id: JobId) -> bool {
        let (Some(book), Some(resources)) = (&self.supply, &self.world.resources) else { return false };
        let asks = resources.table().demand_totals(self.world.jobs[id].job.demand);
        asks.iter().any(|&(resource, amount)| book.most.get(resource.index()).is_some_and(|&most| amount > most))
    }

    /// Works out the amounts of now and the announced changes.
    fn read_supply(&mut self, now: Time) {
        let (Some(book), Some(resources)) = (&mut self.supply, &mut self.world.resources) else { return };
        let totals: Vec<u64> = resources.table().resources().iter().map(|resource| resource.total).collect();
        let (begun_steps, ahead) = book.known.split_at(book.known.partition_point(|supply| supply.from <= now));
        let mut supply = totals;
        for step in begun_steps {
            supply[step.resource.index()] = step.amount;
        }
        let (mut most, mut next_supply) = (supply.clone(), supply.clone());
        book.ahead.clear();
        for &KnownSupply { from, resource, amount } in ahead {
            let before = std::mem::replace(&mut next_supply[resource.index()], amount);
            most[resource.index()] = most[resource.index()].max(amount);
            if amount != before {
                book.ahead.push(SupplyChange { at: from, resource, change: amount as i64 - before as i64 });
            }
        }
        book.due = ahead.first().map(|supply| supply.from);
        book.most = most;
        resources.set_supply(supply);
    }

    /// Puts the announced changes of supply into what policies know of the future.
    pub(super) fn show_supply(&mut self) {
        if let Some(book) = &self.supply {
            let outlook: &mut Outlook = self.world.outlook.get_or_insert_default();
            outlook.supply.clone_from(&book.ahead);
        }
    }
}
