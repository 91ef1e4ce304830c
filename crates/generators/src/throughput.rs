//! Measures the steps a second of environments under a random agent: `cargo run --release -p
//! drystone-generators --features all -- throughput ENVS THREADS SECONDS [PROCS] [JOBS] [LOAD]`.

use drystone::generate::{Params, generate_workload};
use drystone_env::{EnvOptions, VecEnv};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "it measures time")]
pub(crate) fn main(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    let texts = args;
    let number = |at: usize, default: f64| texts.get(at).map_or(Ok(default), |text| text.parse::<f64>());
    let (envs, threads, seconds) = (number(0, 1024.0)? as usize, number(1, 2.0)? as usize, number(2, 5.0)?);
    let (procs, jobs, load) = (number(3, 256.0)? as u32, number(4, 10_000.0)? as u32, number(5, 1.0)?);
    // A load of 0 leaves arrivals as the model draws them.
    let load = (load > 0.0).then_some(load);
    let log = Arc::new(generate_workload(&Params { load, seed: 1, ..Params::new(procs, jobs) })?);
    let options = EnvOptions::default();
    let width = options.action_count();
    let mut environments = VecEnv::new(&[log], envs, &options, threads)?;
    let mut buffers = environments.make_buffers();
    environments.reset(Some(1), None, &mut buffers.borrow_arrays())?;
    let mut random = 1_u64;
    let mut actions = vec![0; envs];
    let (began, mut steps, mut waiting_sum, mut reward, mut finished_count) =
        (Instant::now(), 0_u64, 0_u64, 0.0, 0_u64);
    while began.elapsed() < Duration::from_secs_f64(seconds) {
        for _ in 0..50 {
            for (action, mask) in actions.iter_mut().zip(buffers.mask.chunks_exact(width)) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let rows = mask.iter().take_while(|can| **can).count() as u64;
                waiting_sum += rows;
                *action = if rows > 0 { ((random >> 33) % rows) as i64 } else { 0 };
            }
            environments.step(&actions, &mut buffers.borrow_arrays())?;
            steps += envs as u64;
            for episode in buffers.finished.iter().flatten() {
                reward += episode.reward;
                finished_count += 1;
            }
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{:.0} steps/s ({envs} environments, {threads} threads); {:.1} rows on average, {finished_count} episodes, mean reward {:.1}",
        steps as f64 / took,
        waiting_sum as f64 / steps as f64,
        reward / finished_count.max(1) as f64
    );
    Ok(())
}
