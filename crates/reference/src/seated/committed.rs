//! A head that is chosen once.

use super::SeatedWorld;
use crate::placed::{
    NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule, PlacedSeat, free_at, place_job,
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
        run_pass(&mut world, &mut head, shortest);
    }
}

/// Returns the nodes for a job now.
fn find_seat(world: &SeatedWorld<'_>, j: usize) -> Option<PlacedSeat> {
    let hold_seat = |booking: NaivePlacedTaken| NaivePlacedTaken { to: i64::MAX, ..booking };
    let taken_seats: Vec<NaivePlacedTaken> = world.taken_seats().into_iter().map(hold_seat).collect();
    place_job(&world.jobs[j], world.floor, &free_at(world.floor, &taken_seats, &[], world.now), world.fill)
}

fn sort_waiting(world: &SeatedWorld<'_>, shortest: bool) -> Vec<usize> {
    let mut list = world.waiting.clone();
    list.sort_by_key(|&j| (if shortest { world.jobs[j].estimate } else { 0 }, j));
    list
}

fn run_pass(world: &mut SeatedWorld<'_>, head: &mut Option<(usize, i64)>, shortest: (bool, bool)) {
    loop {
        if head.is_none() {
            let Some(&first) = sort_waiting(world, shortest.0).first() else { return };
            // The first end by which it could be placed.
            let until = match find_seat(world, first) {
                Some(_) => world.now,
                None => {
                    let taken_seats = world.taken_seats();
                    let mut ends: Vec<i64> = taken_seats.iter().map(|booking| booking.to).collect();
                    ends.sort_unstable();
                    let could = |end: &i64| {
                        place_job(
                            &world.jobs[first],
                            world.floor,
                            &free_at(world.floor, &taken_seats, &[], *end),
                            world.fill,
                        )
                        .is_some()
                    };
                    ends.into_iter().find(could).expect("it fits when all have ended")
                }
            };
            *head = Some((first, until));
        }
        let Some((first, until)) = *head else { return };
        if let Some(seat) = find_seat(world, first) {
            world.start_job(first, seat);
            *head = None;
            continue;
        }
        for j in sort_waiting(world, shortest.1) {
            if j != first
                && world.now + world.jobs[j].estimate < until
                && let Some(seat) = find_seat(world, j)
            {
                world.start_job(j, seat);
            }
        }
        return;
    }
}
