//! Episodes: which they are, what they begin on, what they are worth.

use crate::agents::{Arbitrary, log};
use drystone::engine::{Schedule, Simulation, WorkloadReplay};
use drystone_env::{Act, Autoreset, EnvArrays, EnvError, EnvOptions, Fill, Observation, RowFeature, Rows, VecEnv};
use std::sync::Arc;

/// Everything that some steps of arbitrary actions show, as text.
fn played(envs: usize, threads: usize, options: &EnvOptions, steps: usize, watch: usize) -> Vec<String> {
    let workloads = [log(64, 1_200, 0.95, 8)];
    let mut vec_env = VecEnv::new(&workloads, envs, options, threads).expect("options");
    let mut observations = vec_env.make_buffers();
    let width = options.action_count();
    vec_env.reset(Some(3), None, &mut observations.borrow_arrays()).expect("arrays");
    let mut choices: Vec<Arbitrary> = (0..envs as u64).map(Arbitrary).collect();
    let mut lines = Vec::new();
    for _ in 0..steps {
        let actions: Vec<i64> = choices
            .iter_mut()
            .zip(observations.mask.chunks(width))
            .map(|(choice, mask)| if mask.contains(&true) { choice.of(mask) as i64 } else { 0 })
            .collect();
        vec_env.step(&actions, &mut observations.borrow_arrays()).expect("a step");
        let rows = options.window as usize * options.observation.row_width();
        lines.push(format!(
            "{:?} {:?} {} {:?}",
            &observations.jobs[watch * rows..(watch + 1) * rows],
            &observations.machine[watch * 7..(watch + 1) * 7],
            observations.reward[watch],
            observations.finished[watch]
        ));
    }
    lines
}

#[test]
fn trajectories_depend_on_neither_threads_nor_number() {
    for act in [Act::Pick, Act::StartOrWait, Act::Accept] {
        let fill = if act == Act::StartOrWait { Fill::Nothing } else { Fill::Easy };
        let options = EnvOptions {
            act,
            fill,
            jobs: 40,
            window: 16,
            warm: Some("easy".parse().expect("easy")),
            dense: true,
            ..EnvOptions::default()
        };
        let alone = played(3, 1, &options, 300, 2);
        assert!(alone.iter().any(|step| step.contains("Some")), "episodes end");
        assert_eq!(alone, played(3, 3, &options, 300, 2), "{act}");
        assert_eq!(alone, played(9, 2, &options, 300, 2), "{act}");
    }
}

/// Rewards along the way add up to the one at the end.
#[test]
fn dense_rewards_sum_to_the_sparse_one() {
    let sum = |dense: bool| -> Vec<f64> {
        let options = EnvOptions { jobs: 30, window: 8, dense, rows: Rows::Shortest, ..EnvOptions::default() };
        let workloads = [log(64, 800, 1.0, 9)];
        let mut envs = VecEnv::new(&workloads, 2, &options, 1).expect("options");
        let mut observations = envs.make_buffers();
        envs.reset(Some(5), None, &mut observations.borrow_arrays()).expect("arrays");
        let (mut sums, mut episodes) = (vec![0.0], 0);
        while episodes < 4 {
            envs.step(&[0, 0], &mut observations.borrow_arrays()).expect("a step");
            *sums.last_mut().expect("one") += f64::from(observations.reward[0]);
            if observations.terminated[0] {
                let result = observations.finished[0].clone().expect("over");
                let last = *sums.last().expect("one");
                assert!((result.reward - last).abs() < 1e-3 * last.abs(), "{result:?} {last}");
                sums.push(0.0);
                episodes += 1;
            }
        }
        sums
    };
    for (sparse, dense) in sum(false).iter().zip(sum(true)) {
        assert!((sparse - dense).abs() <= 1e-3 * sparse.abs(), "{sparse} {dense}");
    }
}

/// An observation without run times is the same when they are others: the first question of an
/// episode is the same.
#[test]
fn observations_do_not_change_with_the_future() {
    let workload = log(64, 900, 1.1, 10);
    let (machine, jobs, mut truth, provenance) = (*workload).clone().into_parts();
    for (at, truth) in truth.iter_mut().enumerate() {
        truth.run = drystone::model::Span((truth.run.0 * 7 + at as i64) % 5_000);
    }
    let second_log = Arc::new(drystone::model::Workload::new(machine, jobs, truth, provenance).expect("jobs"));
    let first = |workload: &Arc<drystone::model::Workload>, observation: &Observation| {
        let options = EnvOptions { jobs: 30, window: 8, observation: observation.clone(), ..EnvOptions::default() };
        let mut envs = VecEnv::new(std::slice::from_ref(workload), 1, &options, 1).expect("options");
        let mut observations = envs.make_buffers();
        envs.reset(Some(5), None, &mut observations.borrow_arrays()).expect("arrays");
        observations.jobs.clone()
    };
    let all =
        ["present", "wait", "prediction", "estimate", "procs", "fits", "area", "user", "clipped_wait", "clipped_procs"];
    let features: Vec<RowFeature> = all.iter().map(|word| word.parse().expect(word)).collect();
    let honest = Observation::from_features(&features).expect("features");
    assert_eq!(first(&workload, &honest), first(&second_log, &honest));
    let oracle = Observation::from_features(&[RowFeature::Present, RowFeature::Run]).expect("features");
    assert_ne!(first(&workload, &oracle), first(&second_log, &oracle));
    assert!(EnvOptions { observation: oracle, ..EnvOptions::default() }.is_clairvoyant());
    assert!(!EnvOptions { observation: honest, ..EnvOptions::default() }.is_clairvoyant());
}

/// A warm episode finds the machine as the policy left it: as many processors are busy as in a
/// simulation of the whole log.
#[test]
fn warm_episodes_begin_where_the_policy_left_the_machine() {
    let workload = log(64, 1_000, 0.95, 11);
    let warm: drystone::policy::PolicySpec = "easy".parse().expect("easy");
    let mut schedule = Schedule::default();
    let simulation =
        Simulation::new(workload.machine(), warm.build_scheduler(), WorkloadReplay::new(&workload)).run(&mut schedule);
    simulation.expect("easy is sound");
    let options = EnvOptions {
        act: Act::StartOrWait,
        fill: Fill::Nothing,
        jobs: 20,
        window: 64,
        warm: Some(warm),
        autoreset: Autoreset::Disabled,
        ..EnvOptions::default()
    };
    let mut envs = VecEnv::new(std::slice::from_ref(&workload), 64, &options, 1).expect("options");
    let mut observations = envs.make_buffers();
    envs.reset(Some(12), None, &mut observations.borrow_arrays()).expect("arrays");
    let before = (observations.machine.clone(), observations.jobs.clone());
    // Plays each to its end to learn which jobs it had.
    let mut firsts = vec![None; 64];
    while firsts.iter().any(Option::is_none) {
        let pick = |mask: &[bool]| mask.iter().position(|can| *can).unwrap_or(0) as i64;
        let actions: Vec<i64> = observations.mask.chunks(65).map(pick).collect();
        envs.step(&actions, &mut observations.borrow_arrays()).expect("a step");
        for (first, result) in firsts.iter_mut().zip(&observations.finished) {
            *first = first.or(result.as_ref().map(|episode| episode.first as usize));
        }
    }
    let mut busy_somewhere = 0;
    for (env, first) in firsts.into_iter().enumerate() {
        let first = first.expect("an episode");
        let now = workload.jobs()[first].submit;
        // Jobs that end or start at this very second are the episode's affair.
        let running = (0..first).filter(|&at| schedule.spans[at].is_some_and(|(start, end)| start < now && end > now));
        let busy: u32 = running.map(|at| workload.jobs()[at].procs).sum();
        let free = (before.0[env * 7] * 64.0).round() as u32;
        // The first question comes when a job fits: at once, or later where the machine is full.
        if free == 64 - busy {
            busy_somewhere += u32::from(busy > 0);
        }
    }
    assert!(busy_somewhere >= 32, "{busy_somewhere} of 64 episodes begin on a busy machine");
}

#[test]
fn splits_keep_episodes_apart() {
    let workload = log(64, 1_000, 0.95, 13);
    for (from, to) in [(0, 400), (400, 1_000)] {
        let options =
            EnvOptions { jobs: 50, window: 8, split: std::iter::once(from..to).collect(), ..EnvOptions::default() };
        let mut envs = VecEnv::new(std::slice::from_ref(&workload), 16, &options, 1).expect("options");
        let mut observations = envs.make_buffers();
        envs.reset(Some(1), None, &mut observations.borrow_arrays()).expect("arrays");
        let mut episodes = 0;
        while episodes < 100 {
            envs.step(&[0; 16], &mut observations.borrow_arrays()).expect("a step");
            for result in observations.finished.iter().flatten() {
                assert!((from..=to - 50).contains(&result.first), "{result:?}");
                episodes += 1;
            }
        }
    }
    let options = EnvOptions { jobs: 50, split: vec![0..20, 900..1_000], ..EnvOptions::default() };
    assert!(VecEnv::new(std::slice::from_ref(&workload), 1, &options, 1).is_ok());
    let options = EnvOptions { jobs: 50, split: vec![0..20, 960..2_000], ..EnvOptions::default() };
    let refusal = VecEnv::new(&[workload], 1, &options, 1).err().expect("too short").to_string();
    assert!(refusal.contains("its longest range has 40 jobs"), "{refusal}");
}

#[test]
fn modes_of_reset() {
    let workload = log(64, 500, 0.9, 14);
    let play = |autoreset: Autoreset| {
        let options = EnvOptions { jobs: 5, window: 4, autoreset, ..EnvOptions::default() };
        let mut envs = VecEnv::new(std::slice::from_ref(&workload), 1, &options, 1).expect("options");
        let mut observations = envs.make_buffers();
        envs.reset(Some(1), None, &mut observations.borrow_arrays()).expect("arrays");
        while !observations.terminated[0] {
            envs.step(&[0], &mut observations.borrow_arrays()).expect("a step");
        }
        (envs, observations)
    };
    let (mut envs, mut end_buffers) = play(Autoreset::NextStep);
    assert!(!end_buffers.mask.contains(&true), "nothing can be done at the end");
    envs.step(&[3], &mut end_buffers.borrow_arrays()).expect("the action is not taken");
    assert!(
        !end_buffers.terminated[0]
            && end_buffers.reward[0] == 0.0
            && end_buffers.mask[0]
            && end_buffers.finished[0].is_none()
    );

    let (_, next_buffers) = play(Autoreset::SameStep);
    assert!(next_buffers.mask[0] && next_buffers.finished[0].is_some() && next_buffers.reward[0] < 0.0);
    assert!(next_buffers.final_jobs.iter().all(|&value| value == 0.0), "no job is left");
    assert!(next_buffers.jobs[0] == 1.0, "the next episode has a job");

    let (mut envs, mut last_buffers) = play(Autoreset::Disabled);
    envs.step(&[0], &mut last_buffers.borrow_arrays()).expect("nothing happens");
    assert!(last_buffers.terminated[0] && last_buffers.reward[0] == 0.0);
    envs.reset(None, Some(&[true]), &mut last_buffers.borrow_arrays()).expect("arrays");
    assert!(!last_buffers.terminated[0] && last_buffers.mask[0]);
}

#[test]
fn what_is_wrong_is_said() {
    let workload = [log(64, 100, 0.9, 15)];
    let options = EnvOptions { jobs: 10, window: 4, ..EnvOptions::default() };
    let mut envs = VecEnv::new(&workload, 2, &options, 1).expect("options");
    let mut observations = envs.make_buffers();
    let error = |result: Result<(), EnvError>| result.expect_err("refused").to_string();
    assert_eq!(
        error(envs.step(&[0, 0], &mut observations.borrow_arrays())),
        "environment 0 was never reset: call reset before step"
    );
    envs.reset(Some(1), None, &mut observations.borrow_arrays()).expect("arrays");
    assert_eq!(error(envs.step(&[0], &mut observations.borrow_arrays())), "actions: 1 values, expected 2");
    assert_eq!(
        error(envs.step(&[0, 4], &mut observations.borrow_arrays())),
        "environment 1: 4 is no action; expected 0 to 3"
    );
    assert_eq!(
        error(envs.step(&[-1, 0], &mut observations.borrow_arrays())),
        "environment 0: -1 is no action; expected 0 to 3"
    );
    let mut short = Vec::new();
    let parts = EnvArrays { jobs: &mut short, ..observations.borrow_arrays() };
    let mut parts = parts;
    assert_eq!(error(envs.step(&[0, 0], &mut parts)), "jobs: 0 values, expected 48");
    // An impossible action does nothing and is counted.
    let before = observations.jobs.clone();
    let row = observations.mask[..4].iter().position(|can| !can).expect("few jobs wait") as i64;
    envs.step(&[row, 0], &mut observations.borrow_arrays()).expect("a step");
    assert_eq!(before[..24], observations.jobs[..24]);
    for (options, part) in [
        (EnvOptions { jobs: 0, ..EnvOptions::default() }, "at least 1 job"),
        (EnvOptions { window: 0, ..EnvOptions::default() }, "0 rows"),
        (EnvOptions { act: Act::StartOrWait, ..EnvOptions::default() }, "fill"),
        (EnvOptions { jobs: 101, ..EnvOptions::default() }, "longest range has 100 jobs"),
        (EnvOptions { predict: "nonsense".to_string(), jobs: 9, ..EnvOptions::default() }, "nonsense"),
        (
            EnvOptions { predict: "recent(2,propagate=waiting)".to_string(), jobs: 9, ..EnvOptions::default() },
            "propagate=no",
        ),
    ] {
        let refusal = VecEnv::new(&workload, 1, &options, 1).err().expect(part).to_string();
        assert!(refusal.contains(part), "{refusal}");
    }
}
