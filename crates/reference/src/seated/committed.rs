//! A head that is chosen once.

use super::SeatedWorld;
use crate::placed::{
    NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule, PlacedSeat, free_at, place,
};

/// Runs the policy; `shortest` says for the choice of heads, and for the others, whether the
/// shortest comes first or the first to arrive.
pub fn run(shortest: (bool, bool), jobs: &[NaivePlacedJob], floor: &NaiveFloor, fill: PlacedFill) -> PlacedSchedule {
    let mut world = SeatedWorld::new(jobs, floor, fill);
    let mut head: Option<(usize, i64)> = None;
    loop {
        let ends = world.running.iter().map(|&j| world.out[j].end).min();
        let arrival = jobs.get(world.arrived).map(|job| job.submit);
        match (arrival, ends) {
            (None, None) => return world.finish(),
            (Some(arrival), end) if end.is_none_or(|end| arrival <= end) => {
                world.now = arrival;
                world.waiting.push(world.arrived);
                world.arrived += 1;
            }
            (_, end) => {
                world.now = end.expect("a job runs");
                let first = world.running.iter().position(|&j| world.out[j].end == world.now);
                world.running.remove(first.expect("a job ends"));
            }
        }
        look(&mut world, &mut head, shortest);
    }
}

/// Returns the nodes for a job now.
fn fits(world: &SeatedWorld<'_>, j: usize) -> Option<PlacedSeat> {
    let held = |taken: NaivePlacedTaken| NaivePlacedTaken { to: i64::MAX, ..taken };
    let taken: Vec<NaivePlacedTaken> = world.taken().into_iter().map(held).collect();
    place(&world.jobs[j], world.floor, &free_at(world.floor, &taken, &[], world.now), world.fill)
}

fn sorted(world: &SeatedWorld<'_>, shortest: bool) -> Vec<usize> {
    let mut list = world.waiting.clone();
    list.sort_by_key(|&j| (if shortest { world.jobs[j].estimate } else { 0 }, j));
    list
}

fn look(world: &mut SeatedWorld<'_>, head: &mut Option<(usize, i64)>, shortest: (bool, bool)) {
    loop {
        if head.is_none() {
            let Some(&first) = sorted(world, shortest.0).first() else { return };
            // The first end by which it could be placed.
            let until = match fits(world, first) {
                Some(_) => world.now,
                None => {
                    let taken = world.taken();
                    let mut ends: Vec<i64> = taken.iter().map(|taken| taken.to).collect();
                    ends.sort_unstable();
                    let could = |end: &i64| {
                        place(&world.jobs[first], world.floor, &free_at(world.floor, &taken, &[], *end), world.fill)
                            .is_some()
                    };
                    ends.into_iter().find(could).expect("it fits when all have ended")
                }
            };
            *head = Some((first, until));
        }
        let Some((first, until)) = *head else { return };
        if let Some(seat) = fits(world, first) {
            world.start(first, seat);
            *head = None;
            continue;
        }
        for j in sorted(world, shortest.1) {
            if j != first
                && world.now + world.jobs[j].estimate < until
                && let Some(seat) = fits(world, j)
            {
                world.start(j, seat);
            }
        }
        return;
    }
}
