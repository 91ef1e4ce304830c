//! Orders by regression, after Carastan-Santos & de Camargo 2017 ("Obtaining dynamic scheduling
//! policies with simulation and machine learning", SC 2017).
//!
//! 1. A *tuple* is a machine at work on jobs S and a queue of jobs Q, taken from a generated
//!    workload.
//! 2. A *trial* runs the queue in a random order; its result is the mean bounded slowdown of Q.
//! 3. The *score* of a job is the sum of the results of the trials in which it was first, divided
//!    by the sum of all: the smaller, the better it is to start that job first. A job that makes no
//!    difference scores 1 / |Q|.
//! 4. Functions of run time, processors and submit time, made of a few basic functions and two
//!    operators, are *fitted* to the scores, large jobs weighing more. The best ones are the
//!    orders.
//!
//! Choices where the paper is silent: a trial starts jobs strictly in its order, each when it has
//! arrived and fits; submit times are counted from the tuple's first job; errors are squared and
//! weigh run time × processors.

mod fit;
mod trial;

pub use fit::{Base, FittedFunction, FunctionForm, Join, fit_all, fit_form};
pub use trial::{QueueSample, QueueTrial};

use drystone::draw::RandomDraw;
use drystone::generate::{GenerateError, Params, generate_workload};
use drystone::model::{Procs, Workload};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// Effort of the regression.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RegressionSettings {
    /// Processors of the machine.
    pub procs: Procs,
    pub tuples: usize,
    /// Jobs that the machine works on when the queue begins.
    pub running: usize,
    /// Jobs of the queue.
    pub queue: usize,
    /// Trials per tuple.
    pub trials: usize,
    /// Seed of the workload and of the trials.
    pub seed: u64,
}

impl Default for RegressionSettings {
    /// The paper's, but for the trials: 256,000 per tuple there.
    fn default() -> RegressionSettings {
        RegressionSettings { procs: 256, tuples: 40, running: 16, queue: 32, trials: 8_192, seed: 1 }
    }
}

/// Returns the scores of the jobs of all tuples; `None` on cancellation. `told` is called after
/// every tuple.
///
/// # Errors
/// Settings that make no workload.
pub fn score_tuples(
    settings: &RegressionSettings,
    stop: &AtomicBool,
    on_tuple: &mut dyn FnMut(),
) -> Result<Option<Vec<QueueSample>>, GenerateError> {
    let per_tuple = settings.running + settings.queue;
    let jobs = u32::try_from(per_tuple.saturating_mul(settings.tuples)).unwrap_or(u32::MAX);
    let workload = generate_workload(&Params { seed: settings.seed, ..Params::new(settings.procs, jobs) })?;
    let mut samples = Vec::new();
    for number in 0..settings.tuples {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut draw = RandomDraw::new(settings.seed, number as u64);
        samples.extend(of_tuple(&workload, number * per_tuple, settings, &mut draw));
        on_tuple();
    }
    Ok(Some(samples))
}

/// The scores of the queue of one tuple.
fn of_tuple(
    workload: &Workload,
    first: usize,
    settings: &RegressionSettings,
    draw: &mut RandomDraw,
) -> Vec<QueueSample> {
    let trial = QueueTrial::new(workload, first, settings.running, settings.queue);
    let mut order: Vec<usize> = (0..trial.len()).collect();
    let (mut sums, mut total) = (vec![0.0; order.len()], 0.0);
    for _ in 0..settings.trials {
        draw.shuffle(&mut order);
        let result = trial.simulate_order(&order);
        sums[order[0]] += result;
        total += result;
    }
    trial.scored_samples(sums.into_iter().map(|sum| sum / total))
}
