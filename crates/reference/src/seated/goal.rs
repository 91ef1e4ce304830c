//! Goal-oriented scheduling by exhaustive search.

use super::{SeatedWorld, procs};
use crate::placed::{NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule};
use crate::search::{NaiveGoal, NaiveProblem, NaiveSearchWaiting, iterations};

/// Runs the policy; at every decision it looks at the first `depth` waiting jobs.
pub fn run(
    goal: &NaiveGoal,
    depth: usize,
    jobs: &[NaivePlacedJob],
    floor: &NaiveFloor,
    fill: PlacedFill,
) -> PlacedSchedule {
    let mut world = SeatedWorld::new(jobs, floor, fill);
    while world.advance(std::iter::empty()).is_some() {
        let waiting: Vec<usize> = world.waiting.iter().copied().take(depth).collect();
        let described = |&j: &usize| {
            let job = &jobs[j];
            NaiveSearchWaiting { submit: job.submit, procs: procs(job), span: job.estimate, run: job.estimate, user: 0 }
        };
        let problem = NaiveProblem {
            now: world.now,
            procs: floor.iter().map(|node| node[0]).sum(),
            running: world.running.iter().map(|&j| (world.predicted_end(j), procs(&jobs[j]))).collect(),
            waiting: waiting.iter().map(described).collect(),
            ..NaiveProblem::default()
        };
        let ranked = problem.order(goal.branching, world.now);
        let mut best: Option<(Vec<NaivePlacedTaken>, Vec<i64>)> = None;
        for path in iterations(waiting.len(), goal.traversal).concat() {
            let mut taken = world.taken();
            let mut places: Vec<Option<NaivePlacedTaken>> = vec![None; waiting.len()];
            for at in path.into_iter().map(|rank| ranked[rank]) {
                let place = world.earliest(waiting[at], world.now, &taken);
                taken.push(place.clone());
                places[at] = Some(place);
            }
            let places: Vec<NaivePlacedTaken> = places.into_iter().flatten().collect();
            let starts: Vec<i64> = places.iter().map(|place| place.from).collect();
            let values: Vec<i64> = goal.measures.iter().map(|&measure| problem.value(measure, &starts)).collect();
            if best.as_ref().is_none_or(|best| problem.is_better(goal, &[], &values, &best.1)) {
                best = Some((places, values));
            }
        }
        for (&j, place) in waiting.iter().zip(best.map(|best| best.0).unwrap_or_default()) {
            if place.from == world.now {
                world.start(j, place.seat);
            }
        }
    }
    world.finish()
}
