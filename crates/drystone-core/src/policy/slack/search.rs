//! The search for the cheapest way to fit a new job into a plan (rules 11, 12 and 16).
//!
//! A candidate puts the newcomer at the start of a slot and puts back, one by one, the waiting jobs
//! planned at or after it. What follows is the obvious loop over candidates with three savings that
//! cannot change its answer:
//!
//! - The profile of the running jobs and of those planned before the slot grows from candidate to
//!   candidate.
//! - In a *compact* plan every waiting job is planned as early as the running jobs and those before
//!   it allow. Then a job can only move up into room that another has left, so that the search for
//!   its new place begins there; no job moves up before a job has been delayed; and in the order of
//!   planned starts no job moves at all until the newcomer collides with another. A candidate
//!   without a collision costs at least as much as the one where no job moves.
//! - A candidate is given up as soon as its price, with all that moving up could still gain,
//!   exceeds the best.
//!
//! On nodes what the second one says of a compact plan is the rule, not a saving: jobs keep their
//! nodes and times until one finds its own nodes taken, and from then on each has its earliest
//! place on any.

use super::price::{PromisedJob, Stake};
use super::settings::{ReturnOrder, SlackSettings};
use crate::model::{JobId, Span, Time};
use crate::parts::NodeSeat;
use crate::room::planned::{Bounds, PlannedJob};
use crate::room::{JobNeed, PlanRoom};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Job to be fitted in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer<'a> {
    pub(super) need: JobNeed<'a>,
    pub(super) span: Span,
    /// The priority that others' costs refer to.
    pub(super) priority: f64,
}

/// A plan into which a newcomer is to be fitted.
#[derive(Clone, Copy)]
pub(super) struct FitTask<'a> {
    pub(super) settings: &'a SlackSettings,
    pub(super) now: Time,
    /// Free resources with running and waiting jobs taken away; its steps are the slots.
    pub(super) full: &'a PlanRoom,
    /// In the order of planned starts, then arrival.
    pub(super) plan: &'a [PromisedJob],
    /// Needs of the jobs of the plan, where the machine has more than processors; else empty.
    pub(super) needs: &'a [JobNeed<'a>],
    /// True if each waiting job is planned as early as the running jobs and those before it allow.
    pub(super) compact: bool,
    pub(super) new: Newcomer<'a>,
    pub(super) only_now: bool,
    /// Order of displaced jobs by a formula: the places in the plan in its order.
    pub(super) ranked: &'a [usize],
}

impl<'a> FitTask<'a> {
    #[inline(always)]
    fn job_need(&self, job: &PlannedJob, at: usize) -> JobNeed<'a> {
        if self.needs.is_empty() { JobNeed::of_procs(job.procs) } else { self.needs[at] }
    }

    /// Needs of a job in its own place: on nodes, of its own seat.
    #[inline(always)]
    fn need_in_place(&self, job: &PlannedJob, at: usize) -> JobNeed<'a> {
        let need = self.job_need(job, at);
        if need.on.is_some() { need.on_seat(self.full.seat_of(job.id)) } else { need }
    }

    /// Returns whether processors are all that counts: then no job starts before another of the
    /// same place that needs no fewer of them for no less time ([`Bounds`]).
    #[inline]
    fn is_bounded(&self) -> bool {
        self.full.is_plain()
    }

    /// Returns whether jobs are placed on nodes: then a job that is put back may be on others than
    /// before, and leave room where it was at a time that it keeps.
    #[inline]
    fn is_seated(&self) -> bool {
        self.full.planned_seats().is_some()
    }
}

/// A way to fit the newcomer in; the jobs to be moved are in [`SlackSearch::moves`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct FitChoice {
    pub(super) start: Time,
    pub(super) price: f64,
    pub(super) compact: bool,
}

/// A waiting job that is to be moved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Move {
    /// Its place in the plan.
    pub(super) at: usize,
    pub(super) to: Time,
    /// Price of the plan.
    pub(super) price: f64,
}

/// The memory of searches, reused from one to the next.
///
/// A search among w waiting jobs with s slots prices up to s candidates of up to w jobs, each put
/// back at a cost of O(s).
pub(super) struct SlackSearch {
    /// The running jobs; the search adds those planned before the slot.
    pub(super) base: PlanRoom,
    trial: PlanRoom,
    stakes: Vec<Stake>,
    /// No candidate puts a job before this, by its place in the plan: where it would start if only
    /// the running jobs were there, and those planned before some slot that was passed.
    floors: Vec<Time>,
    /// This many jobs were planned before that slot.
    floors_of: usize,
    /// The most that can be gained by moving up each job, by its place in the plan; 0 or negative.
    gains: Vec<f64>,
    /// Gains of all jobs from a place on.
    gains_from: Vec<f64>,
    /// Places in the plan in the order in which displaced jobs are put back, unless that is the
    /// order of the plan.
    order: Vec<usize>,
    trial_moves: Vec<Move>,
    moves: Vec<Move>,
    /// Seats of all jobs with these moves, on nodes; `None` where each job keeps its own.
    seats: Option<BTreeMap<JobId, NodeSeat>>,
}

impl Default for SlackSearch {
    fn default() -> SlackSearch {
        SlackSearch {
            base: PlanRoom::new_empty(),
            trial: PlanRoom::new_empty(),
            stakes: Vec::new(),
            floors: Vec::new(),
            floors_of: 0,
            gains: Vec::new(),
            gains_from: Vec::new(),
            order: Vec::new(),
            trial_moves: Vec::new(),
            moves: Vec::new(),
            seats: None,
        }
    }
}

/// Sums of prices are compared with a margin for rounding where a candidate is given up early.
const MARGIN: f64 = 1e-9;

/// Floors are raised when this many jobs, and one in so many, have been passed since.
const REFRESH: usize = 8;

/// A candidate being priced.
#[derive(Clone, Copy)]
struct PricedCandidate {
    start: Time,
    /// The first displaced job.
    fixed: usize,
    /// Price of the newcomer's own wait.
    own: f64,
    best: f64,
    scale: f64,
}

impl PricedCandidate {
    /// Returns whether a sum that cannot get lower than this is beaten already.
    fn is_beaten(&self, bound: f64) -> bool {
        bound > self.best + self.scale
    }
}

impl SlackSearch {
    /// The jobs that the last search found best to move, in the order in which they were put back.
    pub(super) fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Makes it as if no search had been made.
    pub(super) fn forget_moves(&mut self) {
        self.moves.clear();
        self.seats = None;
    }

    /// Returns whether any job is elsewhere, at another time or on other nodes.
    pub(super) fn has_rearranged(&self) -> bool {
        !self.moves.is_empty() || self.seats.is_some()
    }

    /// The seats of all jobs that the last search found best, where not all keep their own.
    pub(super) fn take_seats(&mut self) -> Option<BTreeMap<JobId, NodeSeat>> {
        self.seats.take()
    }

    /// The cheapest choice, `first` included; of equally cheap ones that which moves fewest jobs,
    /// then the earliest. [`SlackSearch::base`] must hold the running jobs.
    pub(super) fn find_cheapest(&mut self, task: &FitTask<'_>, first: FitChoice) -> FitChoice {
        self.forget_moves();
        let mut best = first;
        if !self.prepare_search(task) {
            return best;
        }
        let FitTask { new, plan, .. } = *task;
        let orderly = task.compact && task.settings.order == ReturnOrder::Start;
        let mut fixed_count = 0;
        for &start in task.full.change_times().iter() {
            while fixed_count < plan.len() && plan[fixed_count].planned.start < start {
                let job = &plan[fixed_count].planned;
                self.base.reserve_need(job.start, job.planned_end(), task.need_in_place(job, fixed_count));
                fixed_count += 1;
            }
            if fixed_count - self.floors_of >= REFRESH.max(plan.len() / REFRESH) {
                self.raise_floors(task, fixed_count);
            }
            if fixed_count == plan.len() && !task.only_now {
                // No job is displaced from here on: no better than the earliest such place.
                break;
            }
            let own = task.settings.weights.of_waiting(new.need.procs, start - task.now);
            let scale = MARGIN * (own.abs() + self.gains_from[fixed_count].abs() + best.price.abs());
            let candidate = PricedCandidate { start, fixed: fixed_count, own, best: best.price, scale };
            if candidate.is_beaten(own + self.gains_from[fixed_count]) {
                // Later slots cost more and have less to gain.
                break;
            }
            let collides = || task.only_now || !orderly || !task.full.fits_during(start, new.span, new.need);
            if self.base.fits_during(start, new.span, new.need) && collides() {
                self.try_candidate(task, candidate, &mut best);
            }
            if task.only_now {
                break;
            }
        }
        best
    }

    /// Computes what is the same for all candidates. `false` if no candidate can be better than
    /// moving no job.
    fn prepare_search(&mut self, task: &FitTask<'_>) -> bool {
        let FitTask { plan, settings, new, now, .. } = *task;
        self.stakes.clear();
        self.stakes.extend(plan.iter().map(|job| job.compute_stake(new.priority, &settings.weights)));
        if task.compact && !task.only_now && !self.stakes.iter().any(|s| s.can_bear(Span(1))) {
            return false;
        }
        self.floors.clear();
        self.floors.resize(plan.len(), now);
        self.gains.clear();
        self.gains.resize(plan.len(), 0.0);
        self.gains_from.clear();
        self.gains_from.resize(plan.len() + 1, 0.0);
        self.raise_floors(task, 0);
        self.order.clear();
        self.order.extend(0..plan.len());
        let stakes = &self.stakes;
        let id = |at: usize| plan[at].planned.id;
        let area = |at: usize| i128::from(plan[at].planned.span.0) * i128::from(plan[at].planned.procs);
        let before: &dyn Fn(usize, usize) -> Ordering = match &settings.order {
            ReturnOrder::Start | ReturnOrder::Exhaustive(_) => return true,
            ReturnOrder::Formula(_) => {
                self.order.copy_from_slice(task.ranked);
                return true;
            }
            ReturnOrder::Arrival => &|_, _| Ordering::Equal,
            ReturnOrder::Utilisation => &|a, b| area(b).cmp(&area(a)),
            ReturnOrder::Cost => &|a, b| stakes[b].of_a_second().total_cmp(&stakes[a].of_a_second()),
            ReturnOrder::Priority => &|a, b| plan[b].priority.total_cmp(&plan[a].priority),
        };
        self.order.sort_unstable_by(|&a, &b| before(a, b).then_with(|| id(a).cmp(&id(b))));
        true
    }

    /// Looks for where each job could start at the earliest with the running jobs and the first
    /// `fixed` of the plan, and what it could gain by that. Both can only get less from slot to
    /// slot.
    fn raise_floors(&mut self, task: &FitTask<'_>, fixed_count: usize) {
        self.floors_of = fixed_count;
        let mut bounds: Bounds = Bounds::default();
        for (at, job) in task.plan.iter().enumerate().skip(fixed_count) {
            let PlannedJob { start, procs, span, .. } = job.planned;
            let bound = bounds.earliest_bound(procs, span, self.floors[at]);
            let floor =
                self.base.earliest_start(task.job_need(&job.planned, at), span, bound).unwrap_or(start).min(start);
            if task.is_bounded() {
                bounds.learn_start(procs, span, bound, floor);
            }
            self.floors[at] = floor;
            self.gains[at] = self.stakes[at].move_cost(floor - start).min(0.0);
        }
        for at in (fixed_count..task.plan.len()).rev() {
            self.gains_from[at] = self.gains_from[at + 1] + self.gains[at];
        }
    }

    fn try_candidate(&mut self, task: &FitTask<'_>, candidate: PricedCandidate, best: &mut FitChoice) {
        self.trial.copy_from(&self.base);
        let Newcomer { need, span, .. } = task.new;
        self.trial.reserve_need(candidate.start, candidate.start.saturating_add(span), need);
        self.trial_moves.clear();
        match &task.settings.order {
            ReturnOrder::Exhaustive(most) if task.plan.len() - candidate.fixed <= usize::from(*most) => {
                self.permute_displaced(task, candidate, 0, candidate.own, best);
            }
            ReturnOrder::Start | ReturnOrder::Exhaustive(_) if task.compact => {
                if let Some(price) = self.put_back_in_plan_order(task, candidate) {
                    self.consider_candidate(task, candidate, price, best);
                }
            }
            _ => {
                if let Some(price) = self.put_back_in_given_order(task, candidate) {
                    self.consider_candidate(task, candidate, price, best);
                }
            }
        }
    }

    /// Rule 12.
    fn consider_candidate(&mut self, task: &FitTask<'_>, candidate: PricedCandidate, price: f64, best: &mut FitChoice) {
        let fewer = self.trial_moves.len() < self.moves.len();
        if price < best.price || (price == best.price && fewer) {
            let Newcomer { need, span, .. } = task.new;
            let earliest = need.procs == 0 || self.base.earliest_start(need, span, task.now) == Some(candidate.start);
            let compact = earliest && (task.compact || candidate.fixed == 0);
            *best = FitChoice { start: candidate.start, price, compact };
            self.moves.clone_from(&self.trial_moves);
            self.seats = self.trial.planned_seats().cloned();
        }
    }

    /// The price of putting the displaced jobs of a compact plan back in the order of their starts;
    /// `None` if a promise would be broken or the price is beaten already.
    fn put_back_in_plan_order(&mut self, task: &FitTask<'_>, candidate: PricedCandidate) -> Option<f64> {
        let FitTask { plan, now, new, .. } = *task;
        let (new_start, until) = (candidate.start, candidate.start.saturating_add(new.span));
        let mut price = candidate.own;
        let mut remaining_gain = self.gains_from[candidate.fixed];
        // Where the first delayed job has left room.
        let mut room: Option<Time> = None;
        // Every job is put at the earliest place there is, with the jobs before it in theirs.
        let mut bounds: Bounds = Bounds::default();
        for (at, PromisedJob { planned: job, .. }) in plan.iter().enumerate().skip(candidate.fixed) {
            remaining_gain -= self.gains[at];
            let bound = bounds.earliest_bound(job.procs, job.span, self.floors[at]);
            let stays = room.is_none() && {
                let (from, to) = (job.start.max(new_start), job.planned_end().min(until));
                from >= to || self.trial.fits_during(from, to - from, task.need_in_place(job, at))
            };
            let start = if stays {
                self.trial.reserve_need(job.start, job.planned_end(), task.need_in_place(job, at));
                job.start
            } else {
                let reach_of =
                    |room| if task.is_seated() { now } else { earliest_reach(room, job.span, now).min(job.start) };
                let from = room.map_or(job.start, reach_of);
                self.trial.place_need(task.job_need(job, at), job.span, from.max(bound))?
            };
            if task.is_bounded() {
                bounds.learn_start(job.procs, job.span, bound, start);
            }
            if start != job.start {
                price = self.price_after_move(at, job.start, start, price)?;
                if candidate.is_beaten(price + remaining_gain) {
                    return None;
                }
            }
            if start != job.start || task.is_seated() && !stays {
                room = room.or(Some(job.start));
            }
        }
        Some(price)
    }

    /// Puts jobs back in any other order, or for a plan that is not compact.
    fn put_back_in_given_order(&mut self, task: &FitTask<'_>, candidate: PricedCandidate) -> Option<f64> {
        let mut price = candidate.own;
        let mut remaining_gain = self.gains_from[candidate.fixed];
        let mut bounds: Bounds = Bounds::default();
        for k in 0..self.order.len() {
            let at = self.order[k];
            if at < candidate.fixed {
                continue;
            }
            remaining_gain -= self.gains[at];
            let PlannedJob { procs, span, .. } = task.plan[at].planned;
            let bound = bounds.earliest_bound(procs, span, self.floors[at]);
            let (old, start) = self.put_back(task, candidate, at, bound)?;
            if task.is_bounded() {
                bounds.learn_start(procs, span, bound, start);
            }
            if start != old {
                price = self.price_after_move(at, old, start, price)?;
                if candidate.is_beaten(price + remaining_gain) {
                    return None;
                }
            }
        }
        Some(price)
    }

    /// Prices all orders of the displaced jobs, that of their starts first. `used` has a bit for
    /// each job put back.
    fn permute_displaced(
        &mut self,
        task: &FitTask<'_>,
        candidate: PricedCandidate,
        mask: u32,
        price: f64,
        best: &mut FitChoice,
    ) {
        let displaced_count = task.plan.len() - candidate.fixed;
        if mask.count_ones() as usize == displaced_count {
            self.consider_candidate(task, candidate, price, best);
            return;
        }
        for k in (0..displaced_count).filter(|k| mask & (1 << k) == 0) {
            let at = candidate.fixed + k;
            let mark = self.trial.set_mark();
            let moves = self.trial_moves.len();
            if let Some((old, start)) = self.put_back(task, candidate, at, self.floors[at]) {
                let sum = if start == old { Some(price) } else { self.price_after_move(at, old, start, price) };
                if let Some(sum) = sum {
                    let rest = (0..displaced_count).filter(|r| (mask | 1 << k) & (1 << r) == 0);
                    let remaining_gain: f64 = rest.map(|r| self.gains[candidate.fixed + r]).sum();
                    let candidate = PricedCandidate { best: best.price, ..candidate };
                    if !candidate.is_beaten(sum + remaining_gain) {
                        self.permute_displaced(task, candidate, mask | 1 << k, sum, best);
                    }
                }
            }
            self.trial_moves.truncate(moves);
            self.trial.roll_back_to(mark);
        }
    }

    /// Puts one displaced job at its earliest place, which is not before `bound`: its old and its
    /// new start.
    fn put_back(
        &mut self,
        task: &FitTask<'_>,
        candidate: PricedCandidate,
        at: usize,
        bound: Time,
    ) -> Option<(Time, Time)> {
        let job = &task.plan[at].planned;
        let from = if task.compact && !task.is_seated() {
            // All room is left by displaced jobs, of which this is the first.
            earliest_reach(task.plan[candidate.fixed].planned.start, job.span, task.now).min(job.start)
        } else {
            task.now
        };
        Some((job.start, self.trial.place_need(task.job_need(job, at), job.span, from.max(bound))?))
    }

    /// The price after one more move; `None` if the job does not bear it.
    fn price_after_move(&mut self, at: usize, old: Time, new: Time, price: f64) -> Option<f64> {
        let by = new - old;
        if !self.stakes[at].can_bear(by) {
            return None;
        }
        let cost = self.stakes[at].move_cost(by);
        self.trial_moves.push(Move { at, to: new, price: cost });
        Some(price + cost)
    }
}

/// The earliest start from which a job of this span reaches into room that begins at `room`.
fn earliest_reach(room: Time, span: Span, now: Time) -> Time {
    (room - span + Span(1)).max(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, Procs};
    use crate::parts::Profile;
    use crate::room::planned::{PlannedJob, compress_plan};
    use proptest::prelude::*;

    const PROCS: Procs = 6;

    /// A running job (processors, until), a plan compressed around it, and a newcomer.
    #[derive(Clone, Debug)]
    struct CompressedCase {
        running: (Procs, i64),
        plan: Vec<PromisedJob>,
        new: Newcomer<'static>,
    }

    fn cases() -> impl Strategy<Value = CompressedCase> {
        let job = (1..=PROCS, 1i64..20, 0.01f64..1.0, 0i64..60);
        let newcomer = (1..=PROCS, 1i64..20, 0.1f64..1.0);
        ((1..=PROCS, 0i64..20), prop::collection::vec(job, 0..6), newcomer).prop_map(|(running, jobs, new)| {
            let waiting = |(id, (procs, span, priority, slack)): (u32, (Procs, i64, f64, i64))| PromisedJob {
                planned: PlannedJob { start: Time(0), id: JobId(id), procs, span: Span(span) },
                priority,
                slack: slack as f64,
                first_slack: 60.0,
            };
            let mut plan: Vec<PromisedJob> = (0..).zip(jobs).map(waiting).collect();
            compress_plan(&mut plan, &mut machine(running), Time(0), |_, _| {});
            CompressedCase {
                running,
                plan,
                new: Newcomer { need: JobNeed::of_procs(new.0), span: Span(new.1), priority: new.2 },
            }
        })
    }

    fn machine((procs, until): (Procs, i64)) -> Profile {
        let mut profile = Profile::new(Time(0), PROCS);
        profile.reserve_procs(Time(0), Time(until), procs);
        profile
    }

    impl CompressedCase {
        fn full(&self) -> Profile {
            let mut full = machine(self.running);
            self.plan
                .iter()
                .for_each(|w| full.reserve_procs(w.planned.start, w.planned.planned_end(), w.planned.procs));
            full
        }

        fn first(&self, settings: &SlackSettings) -> FitChoice {
            let Newcomer { need: JobNeed { procs, .. }, span, .. } = self.new;
            let start = self.full().earliest_start(procs, span, Time(0)).expect("fits");
            FitChoice { start, price: settings.weights.of_waiting(procs, start - Time(0)), compact: true }
        }

        fn search(&self, order: ReturnOrder, compact: bool) -> (FitChoice, Vec<Move>) {
            let settings = SlackSettings { order, ..SlackSettings::default() };
            let (full, plan, new) = (PlanRoom::from_profile(self.full()), self.plan.as_slice(), self.new);
            let task = FitTask {
                settings: &settings,
                now: Time(0),
                full: &full,
                plan,
                needs: &[],
                compact,
                new,
                only_now: false,
                ranked: &[],
            };
            let mut search =
                SlackSearch { base: PlanRoom::from_profile(machine(self.running)), ..SlackSearch::default() };
            let choice = search.find_cheapest(&task, self.first(&settings));
            (choice, search.moves().to_vec())
        }

        /// Price and number of moves of the best over all slots and all orders of the displaced
        /// jobs.
        fn cheapest_of_all_orders(&self) -> (f64, usize) {
            let settings = SlackSettings::default();
            let mut best = (self.first(&settings).price, 0);
            for (start, _) in self.full().steps() {
                let (fixed, displaced): (Vec<&PromisedJob>, Vec<&PromisedJob>) =
                    self.plan.iter().partition(|w| w.planned.start < start);
                let mut base = machine(self.running);
                fixed
                    .iter()
                    .for_each(|w| base.reserve_procs(w.planned.start, w.planned.planned_end(), w.planned.procs));
                if base.least_free(start, self.new.span) < self.new.need.procs {
                    continue;
                }
                base.reserve_procs(start, start + self.new.span, self.new.need.procs);
                let own = settings.weights.of_waiting(self.new.need.procs, start - Time(0));
                for order in orders(&displaced) {
                    let (mut profile, mut price, mut move_count) = (base.clone(), own, 0);
                    for job in order {
                        let PlannedJob { start: old, procs, span, .. } = job.planned;
                        let to = profile.earliest_start(procs, span, Time(0)).expect("fits");
                        profile.reserve_procs(to, to + span, procs);
                        let stake = job.compute_stake(self.new.priority, &settings.weights);
                        if to != old {
                            price += if stake.can_bear(to - old) { stake.move_cost(to - old) } else { f64::INFINITY };
                            move_count += 1;
                        }
                    }
                    if price < best.0 || (price == best.0 && move_count < best.1) {
                        best = (price, move_count);
                    }
                }
            }
            best
        }
    }

    fn orders<'a>(jobs: &[&'a PromisedJob]) -> Vec<Vec<&'a PromisedJob>> {
        if jobs.is_empty() {
            return vec![Vec::new()];
        }
        let mut permutations = Vec::new();
        for at in 0..jobs.len() {
            let mut rest = jobs.to_vec();
            let first = rest.remove(at);
            permutations.extend(orders(&rest).into_iter().map(|mut order| {
                order.insert(0, first);
                order
            }));
        }
        permutations
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The savings that a compact plan allows change nothing, in any order.
        #[test]
        fn savings_change_nothing(case in cases()) {
            for order in [ReturnOrder::Start, ReturnOrder::Arrival, ReturnOrder::Utilisation, ReturnOrder::Cost, ReturnOrder::Priority, ReturnOrder::Exhaustive(3)] {
                let (quick, moves) = case.search(order.clone(), true);
                let (careful, all_moves) = case.search(order.clone(), false);
                prop_assert_eq!((quick.start, quick.price, moves), (careful.start, careful.price, all_moves), "{:?}", order);
            }
        }

        /// The yardstick is the cheapest of all orders, and no order is cheaper.
        #[test]
        fn exhaustive_is_the_cheapest_of_all_orders(case in cases()) {
            let (best, moves) = case.search(ReturnOrder::Exhaustive(8), true);
            // Another order of addition may round differently.
            let (price, move_count) = case.cheapest_of_all_orders();
            let close = best.price == price || (best.price - price).abs() <= 1e-9 * (1.0 + price.abs());
            prop_assert!(close, "{} is not {price}", best.price);
            if best.price == price {
                prop_assert_eq!(moves.len(), move_count);
            }
            for order in [ReturnOrder::Start, ReturnOrder::Arrival, ReturnOrder::Utilisation, ReturnOrder::Cost, ReturnOrder::Priority] {
                prop_assert!(case.search(order.clone(), true).0.price >= best.price - 1e-9 * (1.0 + best.price.abs()), "{order:?}");
            }
        }
    }
}
