//! Agents that do what a policy of the library does must come to its schedule, job by job: as a
//! policy, and step by step in an environment.

use crate::agents::{First, Least, log};
use drystone::engine::{Schedule, Scheduler, Simulation, WorkloadReplay};
use drystone::metrics::Measure;
use drystone::model::Workload;
use drystone::parts::Order;
use drystone::policy::PolicySpec;
use drystone_env::{Act, Agent, EnvOptions, Fill, LearnedPolicy, Observation, RowFeature, VecEnv};
use std::sync::Arc;

fn native(workload: &Workload, policy: &str) -> Schedule {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut schedule = Schedule::default();
    let simulated =
        Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload)).run(&mut schedule);
    simulated.expect(policy);
    schedule
}

fn learned(workload: &Workload, options: &EnvOptions, agent: Box<dyn Agent>) -> Schedule {
    let forecast = "easy".parse::<PolicySpec>().expect("easy").build_scheduler().forecast;
    let policy = LearnedPolicy::new("agent", workload, options, agent).expect("options");
    let scheduler = Scheduler { forecast, ..Scheduler::new(Box::new(policy)) };
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(workload)).run(&mut schedule).expect("sound");
    schedule
}

fn shortest() -> (Observation, Box<dyn Agent>) {
    let observation = Observation::from_features(&[RowFeature::Prediction, RowFeature::Procs]).expect("features");
    (observation, Box::new(Least { feature: 0, width: 2 }))
}

#[test]
fn an_agent_that_always_picks_the_oldest_job_is_easy() {
    for (load, seed) in [(0.7, 1), (0.95, 2), (1.3, 3)] {
        let workload = log(64, 1_500, load, seed);
        let easy = native(&workload, "easy");
        assert_eq!(learned(&workload, &EnvOptions::default(), Box::new(First)), easy, "load {load}");
        let nothing = EnvOptions { fill: Fill::Nothing, ..EnvOptions::default() };
        assert_eq!(learned(&workload, &nothing, Box::new(First)), native(&workload, "fcfs"), "load {load}");
    }
}

#[test]
fn an_order_that_accepts_everything_is_easy_in_that_order() {
    for (order, policy) in [("sjf", "easy(order=sjf)"), ("fcfs", "easy"), ("saf", "easy(order=saf)")] {
        let workload = log(64, 1_000, 0.9, 4);
        let base: Order = order.parse().expect(order);
        let options = EnvOptions { act: Act::Accept, base, ..EnvOptions::default() };
        // Accepts: the last of the two actions.
        struct Accepts;
        impl Agent for Accepts {
            fn choose_action(&mut self, _: drystone_env::ObservationShape<'_>) -> Option<usize> {
                Some(1)
            }
        }
        // In our environment the jobs behind are filled in by arrival, as `backfill=fcfs`.
        let native = native(&workload, &policy.replace(')', ",backfill=fcfs)"));
        assert_eq!(learned(&workload, &options, Box::new(Accepts)), native, "{order}");
    }
}

#[test]
fn an_agent_that_starts_what_fits_is_greedy() {
    let workload = log(64, 1_000, 0.9, 5);
    let options = EnvOptions { act: Act::StartOrWait, fill: Fill::Nothing, window: 4096, ..EnvOptions::default() };
    assert_eq!(learned(&workload, &options, Box::new(First)), native(&workload, "greedy"));
}

/// An environment of the whole log, stepped by an agent, gives the measures of the agent as a
/// policy.
#[test]
fn an_episode_of_a_whole_log_is_worth_what_a_simulation_says() {
    let workload = log(64, 600, 0.9, 6);
    let (observation, mut agent) = shortest();
    let options = EnvOptions { jobs: 600, window: 600, observation, ..EnvOptions::default() };
    let mut envs = VecEnv::new(&[Arc::clone(&workload)], 1, &options, 1).expect("options");
    let mut observations = envs.make_buffers();
    envs.reset(Some(1), None, &mut observations.borrow_arrays()).expect("arrays");
    while !observations.terminated[0] {
        let shape = drystone_env::ObservationShape {
            jobs: &observations.jobs,
            machine: &observations.machine,
            mask: &observations.mask,
        };
        let action = agent.choose_action(shape).expect("a row");
        envs.step(&[action as i64], &mut observations.borrow_arrays()).expect("a step");
    }
    let result = observations.finished[0].clone().expect("the episode is over");
    let (_, agent) = shortest();
    let schedule = learned(&workload, &options, agent);
    let mut sums = [0.0; Measure::ALL.len()];
    for ((job, truth), span) in workload.jobs().iter().zip(workload.truth()).zip(&schedule.spans) {
        let (start, _) = span.expect("every job ended");
        for (sum, measure) in sums.iter_mut().zip(Measure::ALL) {
            let value = measure.value_of(start - job.submit, truth.run);
            *sum += if value.is_nan() { 0.0 } else { value };
        }
    }
    for (at, measure) in Measure::ALL.into_iter().enumerate() {
        let expected = sums[at] / 600.0;
        assert!((result.means[at] - expected).abs() <= 1e-9 * expected.abs(), "{measure}: {result:?}");
    }
    assert!((f64::from(observations.reward[0]) + result.means[3]).abs() < 1e-3 * result.means[3]);
}
