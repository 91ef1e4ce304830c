//! Room on the machine, now and over time, as one thing that policies decide with: processors,
//! further resources, nodes.
//!
//! A policy asks for the need of a job ([`View::job_need`]) and looks for it in what is free now
//! ([`OpenRoom`]) or will be ([`PlanRoom`]). Both answer with a seat: the nodes for the job, or
//! nothing where processors are counted only. It never asks which kind of machine it has.

pub(crate) mod node_mirror;
pub(crate) mod node_outlook;
pub(crate) mod pass_pools;
pub(crate) mod planned;
pub(crate) mod pool_plan;
pub(crate) mod search_nodes;
pub(crate) mod shadow_room;
pub(crate) mod start_room;

use crate::model::{DemandId, JobId, ProcSet, Procs, ResourceId, Span, Time};
use crate::parts::{
    FitStairs, NodeFloor, NodeLevels, NodeProfile, NodeSeat, PoolProfile, Profile, ProfileMark, ResourceAmounts,
    RunningJob,
};
use drystone_engine::policy::free_resources::{covers_totals, deduct_totals, release_totals};
use drystone_engine::policy::{Actions, Outlook, StartReason, View};
pub(crate) use drystone_engine::policy::{JobNeed, SeatWish};
use node_outlook::core_losses;
use planned::{Believed, Bounds, PlannedJob, in_order_of_starts};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Room at one time. Below 0 where more is taken than there is.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct OpenRoom {
    procs: i64,
    /// By resource; empty without any.
    amounts: Vec<i64>,
    /// Amounts of each node, where jobs are placed on such.
    nodes: Option<NodeLevels>,
}

impl OpenRoom {
    /// Room that no job has now, and that is up.
    pub(crate) fn of_now(view: &View<'_>) -> OpenRoom {
        OpenRoom {
            procs: view.free_processors().into(),
            amounts: view.resources().map_or_else(Vec::new, |resources| resources.levels().to_vec()),
            nodes: view.nodes().map(|nodes| nodes.up_levels(view.outlook()).0),
        }
    }

    /// Returns this room in all, whichever nodes it is on.
    pub(crate) fn in_all(self) -> OpenRoom {
        OpenRoom { nodes: None, ..self }
    }

    pub(crate) fn of_counts(procs: Procs, amounts: &[i64]) -> OpenRoom {
        OpenRoom { procs: procs.into(), amounts: amounts.to_vec(), nodes: None }
    }

    #[inline]
    fn covers_need(&self, need: JobNeed<'_>) -> bool {
        i64::from(need.procs) <= self.procs && covers_totals(&self.amounts, need.amounts)
    }

    /// Finds a seat for a need; `None` where it does not fit.
    #[inline]
    pub(crate) fn find_seat(&self, need: JobNeed<'_>) -> Option<NodeSeat> {
        if !self.covers_need(need) {
            return None;
        }
        let (Some(levels), Some(wish)) = (&self.nodes, need.on) else { return Some(NodeSeat::default()) };
        match wish.seat {
            None => wish.floor.find_seat(wish.need, levels),
            Some(seat) => levels.is_seat_free(wish.need, seat, wish.floor).then(|| seat.clone()),
        }
    }

    #[inline]
    pub(crate) fn has_room(&self, need: JobNeed<'_>) -> bool {
        self.find_seat(need).is_some()
    }

    /// Finds a seat for a need in what is free here and there; `None` where it does not fit in
    /// both.
    pub(crate) fn find_beside(&self, room: &OpenRoom, need: JobNeed<'_>) -> Option<NodeSeat> {
        if !self.covers_need(need) || !room.covers_need(need) {
            return None;
        }
        match (&self.nodes, &room.nodes) {
            (Some(own_levels), Some(room_levels)) => {
                OpenRoom { nodes: Some(own_levels.lesser_of(room_levels)), ..self.clone() }.find_seat(need)
            }
            _ => Some(NodeSeat::default()),
        }
    }

    pub(crate) fn take_need(&mut self, need: JobNeed<'_>) {
        self.procs -= i64::from(need.procs);
        deduct_totals(&mut self.amounts, need.amounts);
        self.change_seat(need, -1);
    }

    /// Gives a need back, of its seat.
    pub(crate) fn return_need(&mut self, need: JobNeed<'_>) {
        self.procs += i64::from(need.procs);
        release_totals(&mut self.amounts, need.amounts);
        self.change_seat(need, 1);
    }

    /// Gives cores of a node back that were out.
    pub(crate) fn give_cores(&mut self, node: u32, cores: i64) {
        self.procs += cores;
        if let Some(levels) = &mut self.nodes {
            levels.add_cores(node as usize, cores);
        }
    }

    /// Adds an amount to what is free of a resource; below 0 takes it away.
    pub(crate) fn alter_resource(&mut self, resource: ResourceId, change: i64) {
        if let Some(amount) = self.amounts.get_mut(resource.index()) {
            *amount += change;
        }
    }

    fn change_seat(&mut self, need: JobNeed<'_>, sign: i64) {
        if let (Some(levels), Some(SeatWish { need, floor, seat: Some(seat), .. })) = (&mut self.nodes, need.on) {
            levels.change_seat(need, seat, floor, sign);
        }
    }

    /// Returns whether no more is taken than there is.
    pub(crate) fn is_sound(&self) -> bool {
        self.procs >= 0
            && self.amounts.iter().all(|&amount| amount >= 0)
            && self.nodes.as_ref().is_none_or(|levels| levels.amounts().iter().all(|&amount| amount >= 0))
    }

    /// Returns whether a job that gives this back makes up for some of what is lacking.
    pub(crate) fn gains_by(&self, need: JobNeed<'_>) -> bool {
        let on_nodes = |levels: &NodeLevels, seat: &NodeSeat| {
            seat.on.iter().any(|&(node, _)| levels.node_amounts(node as usize).iter().any(|&amount| amount < 0))
        };
        match (&self.nodes, need.on.and_then(|wish| wish.seat)) {
            (Some(levels), Some(seat)) if on_nodes(levels, seat) => true,
            (Some(_), _) => need.amounts.iter().any(|&(id, _)| self.amounts[id.index()] < 0),
            (None, _) => !self.is_sound(),
        }
    }
}

/// Room that there is in the end, if no job comes any more: whether a job is ever to start.
pub(crate) struct LastingRoom {
    /// Processors that do not go for good.
    most: Procs,
    /// Room over time, where jobs are placed on nodes: one may fit before processors go for good.
    plan: Option<PlanRoom>,
}

impl LastingRoom {
    /// Room beside these running jobs.
    pub(crate) fn beside_running(running: &Believed, outlook: &Outlook, view: &View<'_>) -> LastingRoom {
        let plan = view.nodes().map(|_| {
            let mut plan = PlanRoom::new_empty();
            plan.fill_running(running, &[], view);
            plan
        });
        LastingRoom { most: outlook.in_the_end(view.machine().procs), plan }
    }

    pub(crate) fn can_meet(&self, need: JobNeed<'_>, span: Span, now: Time) -> bool {
        match &self.plan {
            Some(plan) => plan.earliest_start(need, span, now).is_some(),
            None => need.procs <= self.most,
        }
    }
}

/// Returns whether room comes back by ends of running jobs alone, on whichever processors: then a
/// walk over these ends finds what a plan would.
#[inline]
pub(crate) fn hangs_on_ends(view: &View<'_>) -> bool {
    view.outlook().is_none() && view.nodes().is_none()
}

/// Returns the nodes with what is free and up on each; `None` where jobs are not placed on such.
pub(crate) fn open_nodes(view: &View<'_>) -> Option<(Arc<NodeFloor>, NodeLevels)> {
    view.nodes().map(|nodes| (Arc::clone(nodes.shared_floor()), nodes.up_levels(view.outlook()).0))
}

/// Starts jobs on their seats: names processors of the nodes, where jobs are placed on such.
#[derive(Default)]
pub(crate) struct SeatNamer {
    /// Processors that the starts of this pass leave, in words of 64; empty before the first.
    idle: Vec<u64>,
}

impl SeatNamer {
    /// Starts a job until `end`, as far as possible on processors that stay until then.
    pub(crate) fn start_job(
        &mut self,
        (id, why): (JobId, StartReason),
        end: Time,
        seat: &NodeSeat,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let Some(nodes) = view.nodes() else { return actions.start_job(id, why) };
        if self.idle.is_empty() {
            self.idle = nodes.up_levels(view.outlook()).1;
        }
        let windows = view.outlook().map_or(&[][..], Outlook::windows);
        let go = ProcSet::union_of(windows.iter().filter(|window| window.from < end).map(|window| &window.on));
        actions.start_on(id, why, seat.name_processors(nodes.floor(), &mut self.idle, &go));
    }
}

/// Free processors over time, and free amounts of further resources where the machine has some; or
/// free amounts of every node.
///
/// Without further resources it is the [`Profile`] of its processors, at the cost of one question.
/// With them every search repeats the maximum over resources until it is stable. On nodes it keeps
/// the seat of each job that is planned in it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct PlanRoom {
    /// Unused on nodes.
    procs: Profile,
    pools: Option<Box<PoolProfile>>,
    nodes: Option<Box<NodeRoom>>,
    /// Times at which the amount of a further resource changes.
    supply: Vec<Time>,
    /// Reservations of further resources since the oldest mark, latest last.
    #[serde(skip)]
    trail: Vec<TakenReservation>,
    #[serde(skip)]
    marks: u32,
}

/// Free amounts of nodes over time, and the seats of planned jobs.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
struct NodeRoom {
    profile: NodeProfile,
    seats: BTreeMap<JobId, NodeSeat>,
}

/// A reservation that a rollback takes back.
#[derive(Clone, PartialEq, Debug)]
struct TakenReservation {
    from: Time,
    to: Time,
    amounts: Box<ResourceAmounts>,
}

/// A state of a [`PlanRoom`] to go back to.
#[must_use = "a mark that is never rolled back keeps the trail growing"]
pub(crate) struct RoomMark {
    procs: ProfileMark,
    trail: usize,
    /// Nodes and pools as they were.
    nodes: Option<(Box<NodeRoom>, Option<Box<PoolProfile>>)>,
}

/// Lower bounds of starts by kind of job, while a plan fills up.
type KindBounds = BTreeMap<(DemandId, Procs), Bounds>;

impl PlanRoom {
    /// These processors and no further resources.
    pub(crate) fn from_profile(procs: Profile) -> PlanRoom {
        PlanRoom { procs, pools: None, nodes: None, supply: Vec::new(), trail: Vec::new(), marks: 0 }
    }

    pub(crate) fn new_empty() -> PlanRoom {
        PlanRoom::from_profile(Profile::new(Time::MIN, 0))
    }

    /// Returns whether processors are all that is counted.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.pools.is_none() && self.nodes.is_none()
    }

    /// The processors, where they are all that is counted.
    pub(crate) fn procs_profile(&self) -> &Profile {
        &self.procs
    }

    /// Becomes what the running jobs leave, as they are believed to end; `guests` count as gone.
    /// The seats of planned jobs stay known.
    pub(crate) fn fill_running(&mut self, running: &Believed, guests: &[RunningJob], view: &View<'_>) {
        if view.nodes().is_none() {
            let free = view.free_processors() + guests.iter().map(|guest| guest.procs).sum::<Procs>();
            running.fill_profile(&mut self.procs, view, free);
        }
        if view.resources().is_some() {
            let ends: Vec<(Time, JobId)> = running.iter().map(|job| (job.end, job.id)).collect();
            self.fill_further(&ends, guests, view);
        }
    }

    /// [`PlanRoom::fill_running`] for ends in ascending order of time.
    pub(crate) fn fill_ends(&mut self, ends: &[RunningJob], view: &View<'_>) {
        if view.nodes().is_none() {
            let listed_end = |id| ends.iter().find(|job| job.id == id).map(|job| job.end);
            let end_of = |id| listed_end(id).unwrap_or_else(|| view.predicted_end(id));
            view.fill_believing(
                &mut self.procs,
                view.free_processors(),
                ends.iter().map(|job| (job.end, job.procs)),
                end_of,
            );
        }
        if view.resources().is_some() {
            let ends: Vec<(Time, JobId)> = ends.iter().map(|job| (job.end, job.id)).collect();
            self.fill_further(&ends, &[], view);
        }
    }

    /// Fills pools and nodes.
    fn fill_further(&mut self, ends: &[(Time, JobId)], guests: &[RunningJob], view: &View<'_>) {
        let ends = || ends.iter().copied();
        let pools = self.pools.get_or_insert_default();
        pool_plan::fill_profile(pools, view, ends());
        self.supply.clear();
        self.supply.extend(view.outlook().into_iter().flat_map(Outlook::supply_changes).map(|step| step.at));
        self.supply.dedup();
        for guest in guests.iter().filter(|guest| guest.procs > 0) {
            pools.release_amounts(view.current_time(), Time::MAX, view.demanded_amounts(guest.id));
        }
        let Some(nodes) = view.nodes() else { return };
        let profile = &mut self.nodes.get_or_insert_default().profile;
        let held_seats = ends().filter_map(|(end, id)| nodes.held_by(id).map(|(need, seat)| (end, need, seat)));
        profile.reset_to(view.current_time(), &nodes.up_levels(view.outlook()).0, held_seats, nodes.floor());
        // What guests have on nodes that are to go is gone as soon as they are.
        let ends_now = guests.iter().map(|guest| (view.current_time(), guest.id));
        for loss in core_losses(ends().chain(ends_now), nodes, view) {
            profile.lose_cores(loss.node, loss.cores, (loss.from, loss.until));
        }
        for guest in guests.iter().filter(|guest| guest.procs > 0) {
            if let Some((need, seat)) = nodes.held_by(guest.id) {
                profile.change_seat(need, seat, (view.current_time(), Time::MAX), nodes.floor(), 1);
            }
        }
    }

    /// Becomes a copy of another; keeps its own memory.
    pub(crate) fn copy_from(&mut self, source: &PlanRoom) {
        self.procs.copy_from(&source.procs);
        self.supply.clone_from(&source.supply);
        match (&mut self.pools, &source.pools) {
            (Some(own), Some(pools)) => own.copy_from(pools),
            (own, pools) => own.clone_from(pools),
        }
        match (&mut self.nodes, &source.nodes) {
            (Some(own), Some(nodes)) => {
                own.profile.copy_from(&nodes.profile);
                own.seats.clone_from(&nodes.seats);
            }
            (own, nodes) => own.clone_from(nodes),
        }
    }

    /// Returns the times at which free amounts may change, in ascending order. The present and the
    /// starts and ends of all jobs are among them.
    pub(crate) fn change_times(&self) -> Cow<'_, [Time]> {
        let times = match &self.nodes {
            // Every job needs processors.
            None => self.procs.step_times(),
            Some(nodes) => nodes.profile.change_times(),
        };
        if self.supply.is_empty() {
            return Cow::Borrowed(times);
        }
        let mut instants = [times, &self.supply].concat();
        instants.sort_unstable();
        instants.dedup();
        Cow::Owned(instants)
    }

    /// Returns the earliest time from `from` on at which the need is free for so long.
    #[inline(always)]
    pub(crate) fn earliest_start(&self, need: JobNeed<'_>, span: Span, from: Time) -> Option<Time> {
        match &self.pools {
            None => self.procs.earliest_start(need.procs, span, from),
            Some(_) => self.find_place(need, span, (from, Time::MAX)).map(|place| place.0),
        }
    }

    /// Finds the earliest time from `from` on at which the need is free for so long, and its seat
    /// then; `None` if that is later than `latest`.
    #[inline]
    pub(crate) fn find_place(
        &self,
        need: JobNeed<'_>,
        span: Span,
        (from, latest): (Time, Time),
    ) -> Option<(Time, NodeSeat)> {
        let at = match (&self.pools, &self.nodes) {
            (None, _) => self.procs.earliest_start(need.procs, span, from)?,
            (Some(pools), None) => pool_plan::earliest_start(&self.procs, pools, need.procs, need.amounts, span, from)?,
            (Some(pools), Some(nodes)) => return nodes.find_place(pools, need, span, (from, latest)),
        };
        (at <= latest).then(|| (at, NodeSeat::default()))
    }

    /// Returns whether the need is free from `from` on for so long.
    #[inline(always)]
    pub(crate) fn fits_during(&self, from: Time, span: Span, need: JobNeed<'_>) -> bool {
        match (&self.pools, &self.nodes) {
            (None, _) => self.procs.fits_during(from, span, need.procs),
            (Some(pools), None) => {
                self.procs.fits_during(from, span, need.procs) && pools.fits_during(from, span, need.amounts)
            }
            (Some(pools), Some(nodes)) => nodes.fits_during(pools, from, span, need),
        }
    }

    /// Computes a condition that a job fulfils which starts now beside everything planned, on no
    /// more than `free` processors: of counts, by which a queue can be searched.
    pub(crate) fn climb_stairs(&self, stairs: &mut FitStairs, now: Time, free: Procs) {
        match self.nodes {
            None => stairs.fill_beside(&self.procs, now, free),
            Some(_) => {
                stairs.free = free;
                stairs.steps.clear();
            }
        }
    }

    /// Finds a seat for a need that starts now, where it is free for so long. `left` is what is
    /// really free: in a plan, jobs that should have ended hold nothing any more.
    pub(crate) fn find_now(&self, need: JobNeed<'_>, span: Span, now: Time, room: &OpenRoom) -> Option<NodeSeat> {
        if !room.covers_need(need) {
            return None;
        }
        let (Some(pools), Some(nodes), Some(wish)) = (&self.pools, &self.nodes, need.on) else {
            return self.fits_during(now, span, need).then(NodeSeat::default);
        };
        match &room.nodes {
            Some(levels) => {
                let least = || nodes.profile.least_free(now, span).lesser_of(levels);
                pools.fits_during(now, span, need.amounts).then(|| wish.floor.find_seat(wish.need, &least()))?
            }
            None => nodes.find_place(pools, need, span, (now, now)).map(|place| place.1),
        }
    }

    /// Takes a need from `from` until `to`, on the seat that it wishes, or on one that is free
    /// then.
    #[inline(always)]
    pub(crate) fn reserve_need(&mut self, from: Time, to: Time, need: JobNeed<'_>) {
        if self.nodes.is_none() {
            self.procs.reserve_procs(from, to, need.procs);
        }
        if self.pools.is_some() {
            self.reserve_further(from, to, need);
        }
    }

    #[inline(never)]
    fn reserve_further(&mut self, from: Time, to: Time, need: JobNeed<'_>) {
        let Some(pools) = &mut self.pools else { return };
        if let Some(nodes) = &mut self.nodes {
            nodes.reserve_need(pools, from, to, need);
        }
        if !need.amounts.is_empty() {
            pools.reserve_amounts(from, to, need.amounts);
            if self.marks > 0 && self.nodes.is_none() {
                self.trail.push(TakenReservation { from, to, amounts: need.amounts.into() });
            }
        }
    }

    /// Takes a need at its earliest place from `from` on, and returns that place.
    #[inline(always)]
    pub(crate) fn place_need(&mut self, need: JobNeed<'_>, span: Span, from: Time) -> Option<Time> {
        if self.pools.is_none() {
            return self.procs.place_job(need.procs, span, from);
        }
        self.place_until(need, span, (from, Time::MAX))
    }

    /// Takes a need at its earliest place, unless that is later than `latest`.
    fn place_until(&mut self, need: JobNeed<'_>, span: Span, between: (Time, Time)) -> Option<Time> {
        let (start, seat) = self.find_place(need, span, between)?;
        self.reserve_need(start, start.saturating_add(span), need.on_seat(Some(&seat)));
        Some(start)
    }

    /// Gives a need back that was planned from `from` until `to`.
    pub(crate) fn release_need(&mut self, from: Time, to: Time, need: JobNeed<'_>) {
        if let Some(pools) = &mut self.pools {
            pools.release_amounts(from, to, need.amounts);
        }
        match (&mut self.nodes, need.on) {
            (None, _) => self.procs.release_procs(from, to, need.procs),
            (Some(nodes), Some(wish)) => {
                if let Some(seat) = nodes.seats.remove(&wish.id) {
                    nodes.profile.change_seat(wish.need, &seat, (from, to), wish.floor, 1);
                }
            }
            (Some(_), None) => {}
        }
    }

    /// Gives back, on nodes, what was taken last.
    pub(crate) fn give_back(&mut self, from: Time, to: Time, need: JobNeed<'_>) {
        if let (Some(pools), Some(nodes), Some(wish)) = (&mut self.pools, &mut self.nodes, need.on)
            && let Some(seat) = nodes.seats.remove(&wish.id)
        {
            pools.give_back(from, to, need.amounts);
            nodes.profile.give_back(wish.need, &seat, (from, to), wish.floor);
        }
    }

    #[inline]
    pub(crate) fn seat_of(&self, id: JobId) -> Option<&NodeSeat> {
        self.nodes.as_ref()?.seats.get(&id)
    }

    /// A planned job leaves the plan. Returns its seat; an empty one where it has none.
    pub(crate) fn remove_job(&mut self, id: JobId) -> NodeSeat {
        self.nodes.as_mut().and_then(|nodes| nodes.seats.remove(&id)).unwrap_or_default()
    }

    /// The seats of all planned jobs, which are known here no more.
    pub(crate) fn take_seats(&mut self) -> BTreeMap<JobId, NodeSeat> {
        self.nodes.as_mut().map(|nodes| std::mem::take(&mut nodes.seats)).unwrap_or_default()
    }

    pub(crate) fn planned_seats(&self) -> Option<&BTreeMap<JobId, NodeSeat>> {
        self.nodes.as_ref().map(|nodes| &nodes.seats)
    }

    pub(crate) fn set_seats(&mut self, seats: BTreeMap<JobId, NodeSeat>) {
        if let Some(nodes) = &mut self.nodes {
            nodes.seats = seats;
        }
    }

    /// Number of nodes; 0 where none are known.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.as_ref().map_or(0, |nodes| nodes.profile.node_count())
    }

    /// Free processors in all at its beginning, where jobs are placed on nodes.
    pub(crate) fn cores_at_first(&self) -> i64 {
        self.nodes.as_ref().map_or(0, |nodes| nodes.profile.cores_at_first())
    }

    /// Forgets what lies before the present.
    pub(crate) fn advance_to(&mut self, now: Time) {
        self.procs.advance_to(now);
        self.supply.retain(|&at| at > now);
        if let Some(pools) = &mut self.pools {
            pools.advance_to(now);
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.profile.advance_to(now);
        }
    }

    /// Marks the state to go back to.
    pub(crate) fn set_mark(&mut self) -> RoomMark {
        self.marks += 1;
        let nodes = self.nodes.as_ref().map(|nodes| (nodes.clone(), self.pools.clone()));
        RoomMark { procs: self.procs.set_mark(), trail: self.trail.len(), nodes }
    }

    /// Goes back to a mark: the youngest that has not been rolled back.
    pub(crate) fn roll_back_to(&mut self, mark: RoomMark) {
        self.procs.roll_back_to(mark.procs);
        self.marks -= 1;
        if let Some((nodes, pools)) = mark.nodes {
            (self.nodes, self.pools) = (Some(nodes), pools);
        } else if let Some(pools) = &mut self.pools {
            // Steps that a reservation began remain; beside equal ones they change no answer.
            for claim in self.trail.drain(mark.trail..).rev() {
                pools.release_amounts(claim.from, claim.to, &claim.amounts);
            }
        }
    }

    /// Puts all waiting jobs of a plan back, in its order, each at its earliest place that is no
    /// earlier than `ready` says: as [`compress_plan`](planned::compress_plan), over everything.
    ///
    /// On nodes a job might come later than it was planned because another is on other nodes than
    /// before. Then all keep their nodes and move up one after the other, the others in place: no
    /// job moves back.
    pub(crate) fn compress_plan<P: AsRef<PlannedJob> + AsMut<PlannedJob>>(
        &mut self,
        plan: &mut [P],
        ready: impl Fn(JobId) -> Time,
        view: &View<'_>,
        mut on_move: impl FnMut(&mut P, Time),
    ) {
        if self.is_plain() {
            return planned::compress_plan(plan, &mut self.procs, view.current_time(), on_move);
        }
        let old: Vec<PlannedJob> = plan.iter().map(|job| *job.as_ref()).collect();
        let mut new = old.clone();
        if self.nodes.is_none() {
            for job in &mut new {
                job.start = self.place_need(job.job_need(view), job.span, ready(job.id)).unwrap_or(Time::MAX);
            }
        } else {
            self.compress_seated(&mut new, &ready, view);
        }
        for ((job, new), old) in plan.iter_mut().zip(&new).zip(&old) {
            if new.start != old.start {
                job.as_mut().start = new.start;
                on_move(job, old.start);
            }
        }
        in_order_of_starts(plan);
    }

    fn compress_seated(&mut self, plan: &mut Vec<PlannedJob>, ready: &dyn Fn(JobId) -> Time, view: &View<'_>) {
        let (old, seats) = (plan.clone(), self.take_seats());
        let bare = (self.nodes.clone(), self.pools.clone());
        if self.place_all(plan, true, ready, view) {
            return;
        }
        plan.clone_from(&old);
        (self.nodes, self.pools) = bare.clone();
        if self.move_up(&old, &seats, plan, ready, view) {
            return;
        }
        plan.clone_from(&old);
        (self.nodes, self.pools) = bare;
        self.place_all(plan, false, ready, view);
    }

    /// Plans jobs one after the other, each at its earliest place, where no other is planned. A job
    /// starts no earlier than one before it that asks for no more for no longer. With `no_later`
    /// it ends at the first job that would start later than it was planned; returns whether there
    /// is none.
    fn place_all(
        &mut self,
        plan: &mut [PlannedJob],
        no_later: bool,
        ready: &dyn Fn(JobId) -> Time,
        view: &View<'_>,
    ) -> bool {
        let mut kinds = KindBounds::new();
        for job in plan {
            let need = job.job_need(view);
            // More processors of the same demand may lie on nodes in another way.
            let grows = need.on.is_none_or(|wish| wish.need.is_monotone());
            let kind = (view.job(job.id).demand, if grows { 0 } else { job.procs });
            let from = ready(job.id);
            let bound = kinds.entry(kind).or_default().earliest_bound(job.procs, job.span, from);
            let latest = if no_later { job.start.max(view.current_time()) } else { Time::MAX };
            let start = self.place_until(need, job.span, (bound, latest));
            let is_later = start.is_none() && latest < Time::MAX || start.is_some_and(|at| no_later && at > job.start);
            if is_later {
                return false;
            }
            job.start = start.unwrap_or(Time::MAX);
            // A job that is not ready yet says nothing of others.
            if job.start < Time::MAX && from <= view.current_time() {
                kinds.entry(kind).or_default().learn_start(job.procs, job.span, bound, job.start);
            }
        }
        true
    }

    /// Jobs move up one after the other, the others in place. `false` where they cannot all stay
    /// where they were to begin with, or the time of one has passed while another was overdue: what
    /// is left of its place is shorter than the job.
    fn move_up(
        &mut self,
        old: &[PlannedJob],
        seats: &BTreeMap<JobId, NodeSeat>,
        plan: &mut [PlannedJob],
        ready: &dyn Fn(JobId) -> Time,
        view: &View<'_>,
    ) -> bool {
        for job in old.iter().filter(|job| job.start < Time::MAX) {
            let need = job.job_need(view).on_seat(seats.get(&job.id));
            let is_past = job.start < view.current_time();
            if is_past || !seats.contains_key(&job.id) || !self.fits_during(job.start, job.span, need) {
                return false;
            }
            self.reserve_need(job.start, job.planned_end(), need);
        }
        for (job, old) in plan.iter_mut().zip(old) {
            let need = job.job_need(view);
            if old.start < Time::MAX {
                self.release_need(old.start, old.planned_end(), need);
            }
            // Its own place is free; but where it has a smaller share on a node, that node need not
            // have room for a larger one.
            let from = ready(job.id);
            let start = self
                .place_until(need, job.span, (from, old.start))
                .or_else(|| self.place_until(need, job.span, (from, Time::MAX)));
            job.start = start.unwrap_or(Time::MAX);
        }
        true
    }
}

impl NodeRoom {
    fn find_place(
        &self,
        pools: &PoolProfile,
        need: JobNeed<'_>,
        span: Span,
        (from, latest): (Time, Time),
    ) -> Option<(Time, NodeSeat)> {
        let Some(wish) = need.on else { return Some((from, NodeSeat::default())) };
        let mut from = from.max(self.profile.change_times().first().copied().unwrap_or(from));
        loop {
            let start = pools.earliest_start(need.amounts, span, from)?;
            let (at, seat) = self.profile.earliest_seat(wish.need, span, (start, latest), wish.floor)?;
            if at == start {
                return Some((at, seat));
            }
            from = at;
        }
    }

    fn fits_during(&self, pools: &PoolProfile, from: Time, span: Span, need: JobNeed<'_>) -> bool {
        let Some(wish) = need.on else { return true };
        match wish.seat {
            None => self.find_place(pools, need, span, (from, from)).is_some(),
            Some(seat) => {
                pools.fits_during(from, span, need.amounts)
                    && self.profile.is_seat_free(wish.need, seat, (from, from.saturating_add(span)), wish.floor)
            }
        }
    }

    fn reserve_need(&mut self, pools: &PoolProfile, from: Time, to: Time, need: JobNeed<'_>) {
        let Some(wish) = need.on else { return };
        let seat = match wish.seat {
            Some(seat) => Some(seat.clone()),
            None => self.find_place(pools, need, to - from, (from, from)).map(|place| place.1),
        };
        debug_assert!(seat.is_some(), "{} has no seat at {from}", wish.id);
        if let Some(seat) = seat {
            self.profile.change_seat(wish.need, &seat, (from, to), wish.floor, -1);
            self.seats.insert(wish.id, seat);
        }
    }
}

impl PlannedJob {
    #[inline]
    pub(crate) fn job_need<'a>(&self, view: &View<'a>) -> JobNeed<'a> {
        JobNeed { procs: self.procs, ..view.job_need(self.id) }
    }
}
