//! Goal-oriented scheduling by exhaustive search.

use super::{SeatedWorld, count_procs};
use crate::placed::{NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule};
use crate::search::{NaiveGoal, NaiveProblem, NaiveSearchWaiting, list_iterations};

/// Runs the policy; at every decision it looks at the first `depth` waiting jobs.
pub fn run(
    goal: &NaiveGoal,
    depth: usize,
    jobs: &[NaivePlacedJob],
    floor: &NaiveFloor,
    fill: PlacedFill,
) -> PlacedSchedule {
    let mut world = SeatedWorld::new(jobs, floor, fill);
    while world.advance_time(std::iter::empty()).is_some() {
        let waiting_jobs: Vec<usize> = world.waiting.iter().copied().take(depth).collect();
        let describe_job = |&j: &usize| {
            let job = &jobs[j];
            NaiveSearchWaiting {
                submit: job.submit,
                procs: count_procs(job),
                span: job.estimate,
                run: job.estimate,
                user: 0,
            }
        };
        let problem = NaiveProblem {
            now: world.now,
            procs: floor.iter().map(|node| node[0]).sum(),
            running: world.running.iter().map(|&j| (world.predicted_end(j), count_procs(&jobs[j]))).collect(),
            waiting: waiting_jobs.iter().map(describe_job).collect(),
            ..NaiveProblem::default()
        };
        let ranked_jobs = problem.heuristic_order(goal.branching, world.now);
        let mut best: Option<(Vec<NaivePlacedTaken>, Vec<i64>)> = None;
        for path in list_iterations(waiting_jobs.len(), goal.traversal).concat() {
            let mut taken_seats = world.taken_seats();
            let mut places: Vec<Option<NaivePlacedTaken>> = vec![None; waiting_jobs.len()];
            for at in path.into_iter().map(|rank| ranked_jobs[rank]) {
                let place = world.earliest_place(waiting_jobs[at], world.now, &taken_seats);
                taken_seats.push(place.clone());
                places[at] = Some(place);
            }
            let places: Vec<NaivePlacedTaken> = places.into_iter().flatten().collect();
            let starts: Vec<i64> = places.iter().map(|place| place.from).collect();
            let values: Vec<i64> =
                goal.measures.iter().map(|&measure| problem.measure_value(measure, &starts)).collect();
            if best.as_ref().is_none_or(|best| problem.is_better(goal, &[], &values, &best.1)) {
                best = Some((places, values));
            }
        }
        for (&j, place) in waiting_jobs.iter().zip(best.map(|best| best.0).unwrap_or_default()) {
            if place.from == world.now {
                world.start_job(j, place.seat);
            }
        }
    }
    world.finish()
}
