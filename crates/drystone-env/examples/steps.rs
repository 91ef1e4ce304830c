//! Speed of many environments, in steps a second, without Python:
//! `steps [ENVIRONMENTS] [STEPS] [THREADS]`. The agent picks at random among the jobs that it sees.
//! The sum of rewards is the same for any number of threads.

use drystone::generate::{Params, generate_workload};
use drystone_env::{EnvOptions, VecEnv};
use std::sync::Arc;
use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the program measures time")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default| words.next().map_or(Ok(default), |word| word.parse::<usize>());
    let (number, steps, threads) = (number(256)?, number(1_000)?, number(1)?);
    let log = Arc::new(generate_workload(&Params { load: Some(1.0), seed: 1, ..Params::new(256, 20_000) })?);
    let mut envs = VecEnv::new(&[log], number, &EnvOptions::default(), threads)?;
    let mut observations = envs.make_buffers();
    envs.reset(Some(1), None, &mut observations.borrow_arrays())?;
    let (mut random, mut rewards, mut seconds) = (1_u64, 0.0, 0.0);
    let mut actions = vec![0_i64; number];
    for _ in 0..steps {
        for (action, mask) in actions.iter_mut().zip(observations.mask.chunks_exact(envs.options().action_count())) {
            // Possible rows come first.
            let possible = mask.partition_point(|can| *can).max(1) as u64;
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *action = ((random >> 33) % possible) as i64;
        }
        let since = Instant::now();
        envs.step(&actions, &mut observations.borrow_arrays())?;
        seconds += since.elapsed().as_secs_f64();
        rewards += observations.reward.iter().map(|&reward| f64::from(reward)).sum::<f64>();
    }
    println!("{:.0} steps a second; rewards {rewards}", (number * steps) as f64 / seconds);
    Ok(())
}
