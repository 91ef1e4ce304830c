//! Ascent: prices that prove more and more.

use crate::certificate::{Certificate, Relaxation};
use crate::evaluate::{CellUsage, PARTS, PriceSums, capacity_areas};
use crate::first;
use crate::grid::Prices;
use crate::instance::Instance;
use crate::measure::HeadroomTask;
use crate::preemptive;
use crate::schedule::TaskSchedule;

/// Settings of the search for prices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ascent {
    /// Freedom of jobs for which the floor is to hold.
    pub relaxation: Relaxation,
    /// Seconds of a cell and steps at most, one grid after the other; each divides the one before.
    pub grids: Vec<(i64, u32)>,
    /// Threads. The result does not depend on it.
    pub threads: usize,
}

impl Default for Ascent {
    fn default() -> Ascent {
        Ascent { relaxation: Relaxation::Windows, grids: vec![(3600, 800), (900, 600), (300, 400)], threads: 1 }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct AscentStep {
    /// Seconds of a cell.
    pub delta: i64,
    /// Steps on this grid so far.
    pub steps: u32,
    /// The best sum so far.
    pub value: f64,
}

#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Ascended {
    pub prices: Prices,
    /// The sum that they prove, up to errors of floats: [`Ascended::certify_floor`] has none.
    pub value: f64,
    /// Steps on each grid that was reached, with its seconds of a cell.
    pub steps: Vec<(i64, u32)>,
    pub stopped: bool,
    relaxation: Relaxation,
}

impl Ascended {
    /// The floor in whole numbers.
    pub fn certify_floor(&self, instance: &Instance) -> Certificate {
        Certificate::from_prices(instance, &self.prices, self.relaxation)
    }
}

/// Tasks that are evaluated together: their sum is one term of the whole, so that it does not
/// depend on the threads.
const CHUNK: usize = 2048;
/// The step size goes back to the best after so many steps without a gain.
const PATIENCE: u32 = 25;
/// A grid is left when so many steps gain less than [`ENOUGH`].
const STRETCH: u32 = 50;
const ENOUGH: f64 = 1e-3;
/// On all grids but the first steps are this much smaller.
const FINER: f64 = 0.6;
/// Prices near by that lift a price from 0: so many seconds to either side.
const NEAR: i64 = 7200;
/// First prices are tried times these.
const FACTORS: [f64; 10] = [0.002, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.3];

/// Improves the dual function by subgradients with momentum, relative to the prices: on coarse
/// grids first. `schedule` gives the first prices; any will do, and a good one saves steps. `told`
/// is called at each step and returns whether to continue.
///
/// Cost: about steps × jobs × cells that a job may wait.
pub fn ascend_prices(
    instance: &Instance,
    schedule: &TaskSchedule,
    ascent: &Ascent,
    on_step: &dyn Fn(AscentStep) -> bool,
) -> Ascended {
    let coarse = ascent.grids.first().map_or(3600, |grid| grid.0);
    let first = first::first_prices(instance, schedule, coarse);
    let mut evaluator = Evaluator::new(instance, &first, ascent);
    let trials = FACTORS.map(|factor| {
        let prices = first.scale_by(factor);
        (evaluator.evaluate_prices(&prices), prices)
    });
    let zero = (instance_settled(instance), first.scale_by(0.0));
    let (value, prices) = trials.into_iter().fold(zero, |best, trial| if trial.0 > best.0 { trial } else { best });
    let mut outcome = Ascended { prices, value, steps: Vec::new(), stopped: false, relaxation: ascent.relaxation };
    if first.cells.iter().all(|&price| price == 0.0) {
        // No job waits: no floor is above 0.
        return outcome;
    }
    if outcome.prices.cells.iter().all(|&price| price == 0.0) {
        outcome.prices = first.scale_by(FACTORS[0]);
        outcome.value = evaluator.evaluate_prices(&outcome.prices);
    }
    let floor = per_second(instance);
    for &(delta, steps) in &ascent.grids {
        let prices = outcome.prices.refine_grid(delta);
        if prices.delta != outcome.prices.delta || outcome.steps.is_empty() {
            evaluator = Evaluator::new(instance, &prices, ascent);
            outcome.prices = prices;
            let step_count = climb_grid(&mut evaluator, &mut outcome, (steps, floor), on_step);
            outcome.steps.push((outcome.prices.delta, step_count));
        }
        if outcome.stopped {
            break;
        }
    }
    let zero = instance_settled(instance);
    if outcome.value < zero {
        outcome = Ascended { prices: outcome.prices.scale_by(0.0), value: zero, ..outcome };
    }
    outcome
}

/// Returns the cost of delay that is already past: the value without prices.
fn instance_settled(instance: &Instance) -> f64 {
    instance.tasks.iter().map(|task| task.weight.as_f64() * task.settled as f64).sum()
}

/// A price that work of average urgency would pay.
fn per_second(instance: &Instance) -> f64 {
    let counted_tasks = || instance.tasks.iter().filter(|task| task.weight.over > 0);
    let worth: f64 = counted_tasks().map(|task| task.weight.as_f64() * task.run as f64).sum();
    let area: f64 = counted_tasks().map(|task| f64::from(task.procs) * task.run as f64).sum();
    if area > 0.0 { worth / area } else { 0.0 }
}

/// Steps on one grid; answers how many.
fn climb_grid(
    evaluator: &mut Evaluator<'_>,
    result: &mut Ascended,
    (steps, per_second): (u32, f64),
    on_step: &dyn Fn(AscentStep) -> bool,
) -> u32 {
    let mut prices = result.prices.clone();
    let mut momentum = vec![0.0; prices.cells.len()];
    let (mut scale, mut without, mut before) = (1.0, 0, result.value);
    let mut fresh = true;
    // On a finer grid the prices are near their best already: smaller steps.
    if !result.steps.is_empty() {
        scale = FINER;
    }
    for step in 0..steps {
        let value = evaluator.evaluate_prices(&prices);
        if value > result.value || fresh {
            result.value = value;
            result.prices.cells.clone_from(&prices.cells);
            (without, fresh) = (0, false);
        } else {
            without += 1;
        }
        if !on_step(AscentStep { delta: prices.delta, steps: step + 1, value: result.value }) {
            result.stopped = true;
            return step + 1;
        }
        if step > STRETCH && step % STRETCH == 0 {
            if result.value - before < ENOUGH * result.value.abs() {
                return step + 1;
            }
            before = result.value;
        }
        if without >= PATIENCE {
            prices.cells.clone_from(&result.prices.cells);
            momentum.fill(0.0);
            scale *= 0.6;
            without = 0;
            evaluator.evaluate_prices(&prices);
        }
        let eta = scale * 0.6 / (1.0 + f64::from(step) / 300.0);
        evaluator.step_prices(&mut prices, &mut momentum, (eta, per_second));
    }
    steps
}

/// Evaluates the dual function, with all that is kept between two evaluations.
struct Evaluator<'a> {
    tasks: Vec<&'a HeadroomTask>,
    settled: f64,
    relaxation: Relaxation,
    areas: Vec<i64>,
    /// Of each thread; the first has the sum.
    usage: Vec<CellUsage>,
    /// The value of each chunk.
    parts: Vec<f64>,
    /// Thresholds of the last evaluation.
    thresholds: Vec<f64>,
}

impl<'a> Evaluator<'a> {
    fn new(instance: &'a Instance, prices: &Prices, ascent: &Ascent) -> Evaluator<'a> {
        let tasks: Vec<&HeadroomTask> =
            instance.tasks.iter().filter(|task| task.weight.over > 0 && task.run > 0).collect();
        let chunks = tasks.len().div_ceil(CHUNK).max(1);
        let threads = ascent.threads.clamp(1, chunks);
        Evaluator {
            settled: instance_settled(instance),
            relaxation: ascent.relaxation,
            areas: capacity_areas(&instance.capacity, prices),
            usage: (0..threads).map(|_| CellUsage::new(prices)).collect(),
            parts: vec![0.0; chunks],
            thresholds: if ascent.relaxation == Relaxation::Seconds { vec![0.0; tasks.len()] } else { Vec::new() },
            tasks,
        }
    }

    /// The value of these prices; what is used then is kept.
    fn evaluate_prices(&mut self, prices: &Prices) -> f64 {
        let sums = PriceSums::from_prices(prices);
        self.usage.iter_mut().for_each(CellUsage::clear);
        let threads = self.usage.len();
        let parts_per_thread = self.parts.len().div_ceil(threads);
        let relaxation = self.relaxation;
        let work = |tasks: &[&HeadroomTask], thresholds: &mut [f64], usage: &mut CellUsage| {
            let mut total = 0.0;
            for (at, task) in tasks.iter().enumerate() {
                let weight = task.weight.as_f64();
                total += match relaxation {
                    Relaxation::Windows => {
                        let (start, value) = sums.cheapest_start(task, weight);
                        usage.add_task(task, start);
                        value
                    }
                    Relaxation::Seconds => {
                        let (value, theta) =
                            preemptive::find_task_bound(task, weight, prices, thresholds[at], Some(usage));
                        thresholds[at] = theta;
                        value
                    }
                };
            }
            total
        };
        type Share<'a> = (((&'a [&'a HeadroomTask], &'a mut [f64]), &'a mut [f64]), &'a mut CellUsage);
        let share = |(((tasks, parts), thresholds), usage): Share<'_>| {
            let mut remaining_thresholds = thresholds;
            for (chunk, part) in tasks.chunks(CHUNK).zip(parts) {
                let (own, later_thresholds) =
                    std::mem::take(&mut remaining_thresholds).split_at_mut(match relaxation {
                        Relaxation::Seconds => chunk.len(),
                        Relaxation::Windows => 0,
                    });
                remaining_thresholds = later_thresholds;
                *part = work(chunk, own, usage);
            }
        };
        let mut thresholds: Vec<&mut [f64]> = Vec::new();
        let mut remaining_thresholds = self.thresholds.as_mut_slice();
        for tasks in self.tasks.chunks(parts_per_thread * CHUNK) {
            let own = if remaining_thresholds.is_empty() { 0 } else { tasks.len() };
            let (own_thresholds, later_thresholds) = std::mem::take(&mut remaining_thresholds).split_at_mut(own);
            thresholds.push(own_thresholds);
            remaining_thresholds = later_thresholds;
        }
        let shares = self.tasks.chunks(parts_per_thread * CHUNK).zip(self.parts.chunks_mut(parts_per_thread));
        let mut shares = shares.zip(thresholds).zip(&mut self.usage);
        let mine = shares.next();
        std::thread::scope(|scope| {
            for portion in shares {
                scope.spawn(|| share(portion));
            }
            mine.into_iter().for_each(share);
        });
        let (first, other_usage) = self.usage.split_at_mut(1);
        other_usage.iter().for_each(|usage| first[0].merge(usage));
        let total: f64 = self.parts.iter().sum();
        self.settled + total - sums.of_machine(&self.areas)
    }

    /// Moves the prices along the momentum of how far each cell is over-used.
    fn step_prices(&self, prices: &mut Prices, momentum: &mut [f64], (eta, per_second): (f64, f64)) {
        let cells = prices.cells.len();
        let levels = self.usage[0].levels();
        let total: f64 = prices.cells.iter().sum();
        let unit = (total / cells as f64).max(per_second);
        let near = usize::try_from(NEAR / prices.delta).unwrap_or(0).max(1);
        let mut sums = Vec::with_capacity(cells + 1);
        let mut sum = 0.0;
        sums.push(sum);
        for &price in &prices.cells {
            sum += price;
            sums.push(sum);
        }
        for (cell, price) in prices.cells.iter_mut().enumerate() {
            let (used_area, available_area) = (levels[cell] as f64 / PARTS as f64, self.areas[cell] as f64);
            let over = if available_area > 0.0 {
                (used_area / available_area - 1.0).min(3.0)
            } else if used_area > 0.0 {
                3.0
            } else {
                -1.0
            };
            momentum[cell] = 0.95 * momentum[cell] + 0.05 * over;
            let (from, until) = (cell.saturating_sub(near), (cell + near + 1).min(cells));
            let around = (sums[until] - sums[from]).max(0.0) / (until - from) as f64;
            *price = (*price + eta * (*price + 0.05 * around + 0.001 * unit) * momentum[cell]).max(0.0);
        }
    }
}
