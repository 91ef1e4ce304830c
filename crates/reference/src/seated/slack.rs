//! Slack-based backfilling.

use super::{SeatedWorld, count_procs};
use crate::placed::{NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule};
use crate::talby::{Exponents, Heuristic, NaiveTalbyWaiting, move_cost};

/// Choices.
#[derive(Clone, Copy, Debug)]
pub struct SeatedSlack {
    /// SF.
    pub slack_factor: f64,
    /// AWT.
    pub average_wait: f64,
    /// Order in which displaced jobs are put back.
    pub heuristic: Heuristic,
}

struct SeatedPlan {
    waiting: Vec<NaiveTalbyWaiting>,
    places: Vec<Option<NaivePlacedTaken>>,
    /// Every job is planned as early as those before it allow.
    compact: bool,
}

struct Rearrangement {
    price: f64,
    start: i64,
    moves: usize,
    /// Places of the newcomer and of the jobs that are put back.
    places: Vec<(usize, NaivePlacedTaken)>,
    compact: bool,
}

pub fn run(settings: &SeatedSlack, jobs: &[NaivePlacedJob], floor: &NaiveFloor, fill: PlacedFill) -> PlacedSchedule {
    let mut world = SeatedWorld::new(jobs, floor, fill);
    let mut plan = SeatedPlan { waiting: Vec::new(), places: vec![None; jobs.len()], compact: true };
    loop {
        let planned_starts: Vec<i64> = plan.waiting.iter().filter_map(|w| w.start).collect();
        let Some(instant) = world.advance_time(planned_starts.into_iter()) else { return world.finish() };
        if instant.early {
            plan.compress_plan(&world);
        }
        for j in instant.fresh {
            plan.insert(settings, &world, j);
        }
        let due: Vec<usize> = plan.in_order().iter().filter(|w| w.start == Some(world.now)).map(|w| w.job).collect();
        for j in due {
            plan.waiting.retain(|w| w.job != j);
            let place = plan.places[j].take().expect("it is planned");
            world.start_job(j, place.seat);
        }
    }
}

impl SeatedPlan {
    /// By planned start, then arrival.
    fn in_order(&self) -> Vec<NaiveTalbyWaiting> {
        let mut list = self.waiting.clone();
        list.sort_by_key(|w| (w.start, w.job));
        list
    }

    fn compress_plan(&mut self, world: &SeatedWorld<'_>) {
        let list: Vec<usize> = self.in_order().iter().map(|w| w.job).collect();
        world.plan_again(&list, &mut self.places);
        for w in &mut self.waiting {
            let start = self.places[w.job].as_ref().map(|place| place.from);
            let delay = start.unwrap_or(0) - w.start.unwrap_or(0);
            w.start = start;
            if delay > 0 {
                w.slack = (w.slack - delay as f64).max(0.0);
            }
        }
        self.compact = true;
    }

    /// Places of running jobs, and of these.
    fn places_beside(&self, world: &SeatedWorld<'_>, waiting: &[NaiveTalbyWaiting]) -> Vec<NaivePlacedTaken> {
        world.taken_seats().into_iter().chain(waiting.iter().filter_map(|w| self.places[w.job].clone())).collect()
    }

    fn insert(&mut self, settings: &SeatedSlack, world: &SeatedWorld<'_>, j: usize) {
        let weigh = |scheduler: f64| (0.0 + 0.0 + scheduler) / 3.0;
        let first = world.earliest_place(j, world.now, &self.places_beside(world, &self.waiting));
        let wait = first.from - world.now;
        let mut best = Rearrangement {
            price: Exponents::default().of_waiting(count_procs(&world.jobs[j]), wait),
            start: first.from,
            moves: 0,
            places: vec![(j, first)],
            compact: self.compact || self.waiting.is_empty(),
        };
        if !self.compact || self.waiting.iter().any(|w| w.slack >= 1.0) {
            for slot in self.find_slots(world) {
                if let Some(rival) = self.rearrange_plan(settings, world, j, weigh(0.5), slot) {
                    let fewer = rival.moves < best.moves;
                    if rival.price < best.price || (rival.price == best.price && fewer) {
                        best = rival;
                    }
                }
            }
        }
        for (job, place) in best.places {
            for w in self.waiting.iter_mut().filter(|w| w.job == job) {
                w.slack -= (place.from - w.start.unwrap_or(place.from)) as f64;
                w.start = Some(place.from);
            }
            self.places[job] = Some(place);
        }
        self.compact = best.compact;
        let wait = (best.start - world.now) as f64;
        let priority = weigh((wait / (2.0 * settings.average_wait)).min(1.0));
        let slack = ((1.0 - priority) * settings.slack_factor) * settings.average_wait;
        self.waiting.push(NaiveTalbyWaiting { job: j, start: Some(best.start), priority, slack, first_slack: slack });
    }

    /// Times at which what is free may change.
    fn find_slots(&self, world: &SeatedWorld<'_>) -> Vec<i64> {
        let places = self.places_beside(world, &self.waiting);
        let mut slots: Vec<i64> = places.iter().flat_map(|t| [t.from, t.to]).filter(|&at| at >= world.now).collect();
        slots.push(world.now);
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn rearrange_plan(
        &self,
        settings: &SeatedSlack,
        world: &SeatedWorld<'_>,
        j: usize,
        priority: f64,
        slot: i64,
    ) -> Option<Rearrangement> {
        let (fixed_jobs, displaced_jobs): (Vec<_>, Vec<_>) =
            self.in_order().into_iter().partition(|w| w.start < Some(slot));
        if displaced_jobs.is_empty() {
            return None;
        }
        let keeps = self.compact && settings.heuristic == Heuristic::StartTime;
        if keeps && world.place_at(j, slot, &self.places_beside(world, &self.waiting)).is_some() {
            return None;
        }
        let base = self.places_beside(world, &fixed_jobs);
        let own = world.place_at(j, slot, &base)?;
        let mut taken_seats = base.clone();
        taken_seats.push(own.clone());
        let mut price = Exponents::default().of_waiting(count_procs(&world.jobs[j]), slot - world.now);
        let (mut places, mut moves, mut stay) = (vec![(j, own)], 0, true);
        for w in self.put_back_order(settings, world, priority, displaced_jobs) {
            let old = self.places[w.job].clone().expect("it is planned");
            let new = if keeps && stay && world.is_free(&old, &taken_seats) {
                old.clone()
            } else {
                let from = if keeps && stay { old.from } else { world.now };
                stay = false;
                world.earliest_place(w.job, from, &taken_seats)
            };
            let delay = new.from - old.from;
            if delay != 0 {
                price += move_cost(&w, count_procs(&world.jobs[w.job]), delay, priority, &Exponents::default())?;
                moves += 1;
            }
            taken_seats.push(new.clone());
            places.push((w.job, new));
        }
        let first = world.earliest_place(j, world.now, &base).from == slot;
        let compact = first && (self.compact || fixed_jobs.is_empty());
        Some(Rearrangement { price, start: slot, moves, places, compact })
    }

    fn put_back_order(
        &self,
        settings: &SeatedSlack,
        world: &SeatedWorld<'_>,
        newcomer: f64,
        mut movers: Vec<NaiveTalbyWaiting>,
    ) -> Vec<NaiveTalbyWaiting> {
        let area = |w: &NaiveTalbyWaiting| world.jobs[w.job].estimate * count_procs(&world.jobs[w.job]);
        let second = |w: &NaiveTalbyWaiting| {
            move_cost(w, count_procs(&world.jobs[w.job]), 1, newcomer, &Exponents::default()).unwrap_or(f64::INFINITY)
        };
        if settings.heuristic != Heuristic::StartTime {
            movers.sort_by_key(|w| w.job);
        }
        match settings.heuristic {
            Heuristic::StartTime | Heuristic::Arrival => {}
            Heuristic::Area => movers.sort_by_key(|w| std::cmp::Reverse(area(w))),
            Heuristic::Cost => movers.sort_by(|a, b| second(b).total_cmp(&second(a))),
            Heuristic::Priority => movers.sort_by(|a, b| b.priority.total_cmp(&a.priority)),
        }
        movers
    }
}
