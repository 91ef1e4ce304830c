//! Queues by predicted run time.

use super::SeatedWorld;
use crate::placed::{NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule};

/// Runs the policy with these longest predictions of all queues but the last.
pub fn run(bounds: &[i64], jobs: &[NaivePlacedJob], floor: &NaiveFloor, fill: PlacedFill) -> PlacedSchedule {
    let class = |j: usize| bounds.iter().filter(|&&bound| jobs[j].estimate > bound).count();
    let mut world = SeatedWorld::new(jobs, floor, fill);
    let mut promises: Vec<Option<NaivePlacedTaken>> = vec![None; jobs.len()];
    loop {
        let planned_starts: Vec<i64> = promises.iter().flatten().map(|place| place.from).collect();
        let Some(instant) = world.advance_time(planned_starts.into_iter()) else { return world.finish() };
        if instant.early {
            let mut list: Vec<usize> = (0..jobs.len()).filter(|&j| promises[j].is_some()).collect();
            list.sort_by_key(|&j| (promises[j].as_ref().map(|place| place.from), j));
            world.plan_again(&list, &mut promises);
        }
        let mut has_pivot = vec![false; bounds.len() + 1];
        for j in world.waiting.clone() {
            let beside: Vec<NaivePlacedTaken> =
                world.taken_seats().into_iter().chain(promises.iter().flatten().cloned()).collect();
            let promised_start = promises[j].as_ref().map(|place| place.from);
            if promised_start.is_some_and(|at| at <= world.now) {
                let place = promises[j].take().expect("it is promised");
                world.start_job(j, place.seat);
            } else if promised_start.is_some() {
                has_pivot[class(j)] = true;
            } else if let Some(place) = world.place_at(j, world.now, &beside) {
                world.start_job(j, place.seat);
            } else if !std::mem::replace(&mut has_pivot[class(j)], true) {
                promises[j] = Some(world.earliest_place(j, world.now, &beside));
            }
        }
    }
}
