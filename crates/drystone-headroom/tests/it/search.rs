//! The result of a search is feasible and never worse than its starting point.

use crate::oracle::{Random, instance, optimum};
use drystone_headroom::{
    CapacitySteps, DelayMeasure, HeadroomSearch, HeadroomTask, Infeasible, Instance, TaskSchedule, TimeLimit,
    search_schedule,
};

fn trials(most: u64) -> HeadroomSearch {
    HeadroomSearch { limit: TimeLimit::Trials(most), ..HeadroomSearch::default() }
}

#[test]
fn small_instances_are_solved() {
    let (mut hits, mut of) = (0, 0);
    for seed in 0..300 {
        let mut random = Random::new(20_000 + seed);
        let instance = instance(&mut random, seed % 3 == 0);
        let begin = TaskSchedule::in_order(&instance);
        assert_eq!(begin.check_starts(&instance), Ok(()), "{instance:?}");
        let solution = search_schedule(&instance, &begin, &trials(2_000), &|_| true).expect("feasible");
        assert_eq!(solution.schedule.check_starts(&instance), Ok(()));
        assert!(solution.cost <= instance.schedule_cost(&begin));
        let (best, _) = optimum(&instance);
        assert!(
            solution.cost >= best * (1.0 - 1e-9) - 1e-9,
            "{} below the optimum {best}: {instance:?}",
            solution.cost
        );
        // The optimum starts jobs that run for no time where no processor is free.
        if instance.tasks().iter().all(|task| task.run > 0) {
            of += 1;
            hits += i32::from(solution.cost <= best * (1.0 + 1e-9) + 1e-9);
        }
    }
    assert!(of > 50 && 10 * hits >= 9 * of, "{hits} of {of}");
}

#[test]
fn where_all_can_start_at_once_they_do() {
    let tasks: Vec<HeadroomTask> =
        (0..50).map(|at| DelayMeasure::Wait.make_task(10 * at, 1 + (at % 4) as u32, at % 7)).collect();
    let instance = Instance::new(CapacitySteps::from_constant(100), tasks).expect("possible");
    let late = TaskSchedule { starts: instance.tasks().iter().map(|task| task.release + 500).collect() };
    let solution = search_schedule(&instance, &late, &trials(1), &|_| true).expect("feasible");
    assert_eq!(solution.cost, 0.0);
}

#[test]
fn the_same_trials_give_the_same_schedule_and_more_are_no_worse_than_the_beginning() {
    let mut random = Random::new(5);
    let tasks: Vec<HeadroomTask> = (0..600)
        .map(|at| {
            let task = DelayMeasure::Wait.make_task(at * 60, 1 + random.below(16) as u32, random.below(3_000));
            HeadroomTask { fixed: random.below(20) == 0, ..task }
        })
        .collect();
    let instance = Instance::new(CapacitySteps::with_reductions(24, &[(5_000, 9_000, 8)]), tasks).expect("possible");
    let begin = TaskSchedule::in_order(&instance);
    let of = |seed, most| {
        let settings = HeadroomSearch { seed, ..trials(most) };
        search_schedule(&instance, &begin, &settings, &|_| true).expect("feasible")
    };
    let (first, again, rival) = (of(1, 3_000), of(1, 3_000), of(2, 3_000));
    assert_eq!((&first.schedule, first.cost), (&again.schedule, again.cost));
    assert_ne!(first.schedule, rival.schedule);
    assert!(first.cost < 0.8 * instance.schedule_cost(&begin), "{} of {}", first.cost, instance.schedule_cost(&begin));
    for (at, task) in instance.tasks().iter().enumerate().filter(|(_, task)| task.fixed) {
        assert_eq!(first.schedule.starts[at], begin.starts[at], "{task:?}");
    }
    // Stopped at once it gives back the beginning.
    let settings = trials(3_000);
    let early_solution = search_schedule(&instance, &begin, &settings, &|_| false).expect("feasible");
    assert!(early_solution.stopped && early_solution.cost == instance.schedule_cost(&begin));
}

/// Searches in several parts of the time at once never meet: what they find together is feasible,
/// and tasks that stay have stayed. How much they find depends on the machine, and nothing is asked
/// of it.
#[test]
fn parts_that_are_searched_at_once_fit_together() {
    let mut random = Random::new(6);
    let tasks: Vec<HeadroomTask> = (0..6_000)
        .map(|at| {
            let task = DelayMeasure::Wait.make_task(at * 60, 1 + random.below(16) as u32, random.below(4_000));
            HeadroomTask { fixed: random.below(20) == 0, ..task }
        })
        .collect();
    let instance = Instance::new(CapacitySteps::with_reductions(24, &[(5_000, 9_000, 8)]), tasks).expect("possible");
    let begin = TaskSchedule::in_order(&instance);
    for threads in [2, 3, 7] {
        let limit = TimeLimit::Time(std::time::Duration::from_millis(900));
        let settings = HeadroomSearch { limit, threads, ..HeadroomSearch::default() };
        let best = search_schedule(&instance, &begin, &settings, &|_| true).expect("feasible");
        assert_eq!(best.schedule.check_starts(&instance), Ok(()));
        assert!(best.cost <= instance.schedule_cost(&begin));
        for (at, task) in instance.tasks().iter().enumerate().filter(|(_, task)| task.fixed) {
            assert_eq!(best.schedule.starts[at], begin.starts[at], "{task:?}");
        }
        let early_solution = search_schedule(&instance, &begin, &settings, &|_| false).expect("feasible");
        assert!(early_solution.stopped && early_solution.cost == instance.schedule_cost(&begin));
    }
}

#[test]
fn what_is_infeasible_is_said() {
    let tasks = vec![DelayMeasure::Wait.make_task(0, 3, 10); 2];
    let instance = Instance::new(CapacitySteps::from_constant(4), tasks).expect("possible");
    let schedule = TaskSchedule { starts: vec![0, 9] };
    assert_eq!(schedule.check_starts(&instance), Err(Infeasible::TooMany { time: 9, used: 6, there: 4 }));
    assert!(search_schedule(&instance, &schedule, &trials(1), &|_| true).is_err());
    let early = TaskSchedule { starts: vec![-1, 10] };
    assert_eq!(early.check_starts(&instance), Err(Infeasible::TooEarly { task: 0 }));
}
