//! Further resources whose amounts change over time, as the scheduler learns of it.

use super::{Simulation, SimulationError, SimulationPosition, SupplyLack};
use crate::engine::observer::Observer;
use crate::engine::session::Session;
use crate::engine::source::EventSource;
use crate::model::{JobId, ResourceId, ResourceTable, SupplyStep, Time};
use crate::policy::{KnownSupply, Phase};
use std::sync::Arc;

/// Everything that happens to the supply of further resources, in order of time.
pub(super) struct SupplyTimetable {
    steps: Vec<SupplyStep>,
    /// Times at which the scheduler learns of something, or something changes.
    times: Vec<Time>,
    /// Amounts that jobs on other machines of the site hold, as the scheduler knows them.
    elsewhere: Vec<(ResourceId, u64)>,
    /// Time at which the scheduler learns of new ones.
    news: Option<Time>,
}

impl SupplyTimetable {
    /// Returns the timetable of a machine; `None` where nothing ever changes.
    pub(super) fn from_table(table: &ResourceTable) -> Option<Box<SupplyTimetable>> {
        SupplyTimetable::of_steps(table.supply_steps().to_vec())
    }

    /// Returns the timetable of what a session knows; `None` where it knows of no supply.
    pub(super) fn known_to(session: &Session) -> Option<Box<SupplyTimetable>> {
        let announced_time = Some(Time::MIN);
        let announcements = session.known_supply().iter();
        let step = |&KnownSupply { from, resource, amount }: &KnownSupply| SupplyStep {
            resource,
            from,
            amount,
            announced: announced_time,
        };
        SupplyTimetable::of_steps(announcements.map(step).collect())
    }

    fn of_steps(steps: Vec<SupplyStep>) -> Option<Box<SupplyTimetable>> {
        let mut times: Vec<Time> = steps.iter().flat_map(|step| [step.known_time(), step.from]).collect();
        times.sort_unstable();
        times.dedup();
        let (elsewhere, news) = (Vec::new(), None);
        (!steps.is_empty()).then(|| Box::new(SupplyTimetable { steps, times, elsewhere, news }))
    }

    /// Returns how many of the times have come by now.
    pub(super) fn begun_count(&self, now: Time) -> usize {
        self.times.partition_point(|&time| time <= now)
    }

    /// Returns whether all that happens at a time was known before.
    fn is_foreseen(&self, now: Time) -> bool {
        self.steps.iter().all(|step| if step.from == now { step.known_time() < now } else { step.known_time() != now })
    }

    /// Returns the steps that are known at a time: those that were announced or have happened. Jobs
    /// on other machines leave less of a resource, for a time that no scheduler knows.
    fn known_steps(&self, now: Time, table: &ResourceTable) -> Vec<KnownSupply> {
        let announcements = self.steps.iter().filter(|step| step.known_time() <= now);
        let mut known_steps: Vec<KnownSupply> = announcements
            .map(|step| KnownSupply { from: step.from, resource: step.resource, amount: step.amount })
            .collect();
        for &(resource, usage) in &self.elsewhere {
            if !known_steps.iter().any(|step| step.resource == resource && step.from == Time::MIN) {
                let amount = table.find_resource(resource).map_or(0, |own| own.total);
                known_steps.push(KnownSupply { from: Time::MIN, resource, amount });
            }
            let own = known_steps.iter_mut().filter(|step| step.resource == resource);
            own.for_each(|step| step.amount = step.amount.saturating_sub(usage));
        }
        known_steps
    }
}

impl<S: EventSource> Simulation<S> {
    /// Takes over the changes of the machine's supply. Is called before the first event.
    pub(super) fn expect_supply(&mut self, table: &ResourceTable) {
        self.supply = SupplyTimetable::from_table(table);
        if self.supply.is_some() {
            self.hear_of_supply();
        }
    }

    /// Counts some of the resources together with other machines of the site, each of which is
    /// simulated by itself: see [`Simulation::set_held_elsewhere`]. Call it before the first event.
    #[must_use]
    pub fn sharing_resources(mut self) -> Simulation<S> {
        if self.supply.is_none() {
            let (steps, times) = (Vec::new(), Vec::new());
            self.supply = Some(Box::new(SupplyTimetable { steps, times, elsewhere: Vec::new(), news: None }));
            self.hear_of_supply();
        }
        self
    }

    /// Sets the amounts above 0 that jobs on other machines of the site hold by now, ascending by
    /// resource.
    ///
    /// At a pass the scheduler learns of them at once. Between two instants it learns of a smaller
    /// amount in an event of this time; a larger one can wait until it decides again.
    pub fn set_held_elsewhere(&mut self, now: Time, amounts: &[(ResourceId, u64)], observer: &mut impl Observer) {
        let Some(supply) = self.supply.as_mut().filter(|supply| supply.elsewhere != amounts) else { return };
        if self.s.at != SimulationPosition::Rest {
            supply.elsewhere = amounts.to_vec();
            self.take_supply(now, observer);
            self.tell_sifted(now, observer);
            if !self.session.wants_pass() {
                // All that waited are held back now.
                self.s.at = SimulationPosition::Acted;
            }
            return;
        }
        let amount_now = |resource| amounts.iter().find(|(own, _)| *own == resource).map_or(0, |own| own.1);
        if supply.elsewhere.iter().any(|&(resource, before)| amount_now(resource) < before) {
            supply.elsewhere = amounts.to_vec();
            supply.news = Some(now);
            self.look_ahead();
        }
    }

    /// Returns how much of a resource running jobs hold.
    #[must_use]
    pub fn held_amount(&self, resource: ResourceId) -> u64 {
        let view = self.session.view();
        let Some(resources) = view.resources() else { return 0 };
        let level = resources.levels().get(resource.index()).copied().unwrap_or(0);
        u64::try_from(i128::from(resources.present_amount(resource)) - i128::from(level)).unwrap_or(0)
    }

    fn hear_of_supply(&mut self) {
        match self.session.check_hears() {
            Ok(()) => {
                self.session.expect_news();
                self.session.list_sifted();
            }
            Err(deaf) if self.impossible.is_none() => {
                // The first step finds itself in the past, and says why.
                self.impossible = Some(deaf.into());
                self.s.now = Time::MAX;
            }
            Err(_) => {}
        }
    }

    /// Returns the time of the next event from outside; [`Time::MAX`] for never.
    #[inline]
    pub(super) fn next_incoming(&self) -> Time {
        let next_arrival = self.source.peek_time().unwrap_or(Time::MAX);
        match &self.supply {
            None => next_arrival,
            Some(supply) => self.next_with_supply(next_arrival, supply),
        }
    }

    #[cold]
    fn next_with_supply(&self, coming: Time, supply: &SupplyTimetable) -> Time {
        // Before the first job arrives a change matters to none.
        if self.session.next_id() == JobId::default() {
            return coming;
        }
        let change = supply.times.get(self.s.supply_at).copied();
        change.into_iter().chain(supply.news).map(|next| next.max(self.s.now)).fold(coming, Time::min)
    }

    /// Returns whether the next event from outside is a change of supply, or news of one.
    #[inline]
    pub(super) fn supply_is_due(&self, now: Time) -> bool {
        match &self.supply {
            None => false,
            Some(supply) => {
                let change = supply.times.get(self.s.supply_at);
                change.into_iter().chain(&supply.news).any(|&next| next <= now)
            }
        }
    }

    /// Takes the next event where supply changes over time: a change of supply, or the source's.
    #[cold]
    pub(super) fn receive_beside_supply(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        let decide =
            if self.supply_is_due(now) { self.take_supply(now, observer) } else { self.take_event(now, observer) };
        self.tell_sifted(now, observer);
        self.s.next_arrival = match &self.impossible {
            None => self.next_incoming(),
            // The next step finds itself in the past, and says why.
            Some(_) => Time::MIN,
        };
        decide
    }

    /// Tells the scheduler the amounts from now on and the announced changes. Returns whether a
    /// decision is due.
    fn take_supply(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        let Some(supply) = &mut self.supply else { return false };
        supply.news = None;
        let before = std::mem::replace(&mut self.s.supply_at, supply.begun_count(now));
        let Some(table) = self.session.view().resources().map(|resources| Arc::clone(resources.table())) else {
            return false;
        };
        let known_steps = supply.known_steps(now, &table);
        // No scheduler foresees that jobs on other machines start or end.
        let foreseen = before < self.s.supply_at && supply.is_foreseen(now);
        let has_changed = self.session.set_supply(now, &known_steps).unwrap_or_else(|error| {
            self.impossible = Some(error.into());
            false
        });
        observer.note_capacity(now, foreseen);
        has_changed
    }

    /// Returns whether nothing comes any more and no job is left for which a change of supply could
    /// matter.
    #[inline]
    pub(super) fn is_over(&self, end: Time) -> bool {
        self.supply.is_some()
            && end == Time::MAX
            && self.source.peek_time().is_none()
            && self.is_idle()
            && self.session.short_jobs().next().is_none()
    }

    /// Tells the observer of jobs that were held back for lack of supply or released from that.
    fn tell_sifted(&mut self, now: Time, observer: &mut impl Observer) {
        for (id, is_short) in self.session.take_sifted() {
            let place = self.source.observed_id(id);
            match self.session.known_entry(id).map(|entry| entry.phase) {
                Some(Phase::Held) if is_short => {
                    observer.note_hold(now, place);
                    if let Some((resource, asks, stock)) = self.lack_of(id) {
                        observer.note_shortage(now, place, resource, (&asks, &stock));
                    }
                }
                Some(Phase::Waiting) if !is_short => observer.note_release(now, place),
                _ => {}
            }
        }
    }

    /// Returns the first resource of which a job asks for more than there is now: its name, the
    /// amount asked for and the amount that there is.
    fn lack_of(&self, id: JobId) -> Option<(&str, String, String)> {
        let view = self.session.view();
        let resources = view.resources()?;
        let mut asks = view.demanded_amounts(id).iter();
        let &(resource, amount) = asks.find(|&&(resource, amount)| amount > resources.present_amount(resource))?;
        let description = resources.table().find_resource(resource)?;
        let holds_elsewhere =
            |supply: &SupplyTimetable| supply.elsewhere.iter().any(|own| own.0 == resource && own.1 > 0);
        let beside = self.supply.as_deref().is_some_and(holds_elsewhere);
        let present_text = description.unit.format_amount(resources.present_amount(resource));
        let qualified_text =
            if beside { format!("{present_text} beside what jobs of other pools hold") } else { present_text };
        Some((&description.name, description.unit.format_amount(amount), qualified_text))
    }

    /// Returns the error if there is too little of a further resource for jobs that wait for ever.
    pub(super) fn too_short(&self) -> Option<SimulationError> {
        let view = self.session.view();
        self.supply.as_ref()?;
        let jobs: Vec<JobId> =
            self.session.short_jobs().chain(view.waiting_jobs()).chain(view.suspended_jobs()).collect();
        let first = jobs.iter().copied().filter(|&id| self.lack_of(id).is_some()).min()?;
        let (resource, needs, amount_left) = self.lack_of(first)?;
        Some(SimulationError::TooLittleSupply {
            jobs: jobs.len(),
            lack: Box::new(SupplyLack { resource: resource.to_string(), left: amount_left, needs }),
            first: self.source.observed_id(first),
            number: self.s.truth[first].number,
            submit: view.job(first).submit,
        })
    }
}
