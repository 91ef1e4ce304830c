//! The floor in whole numbers.

use crate::evaluate::{PriceSums, capacity_areas, dual_value};
use crate::grid::Prices;
use crate::instance::Instance;
use crate::measure::HeadroomTask;
use crate::preemptive;

/// Bits of the greatest price.
const BITS: u32 = 40;
/// More bits behind the point than these leave too few before it.
const MOST: u32 = 62;
/// Bits of the greatest weight, so that no sum over delays and jobs overflows.
const WEIGHT: u32 = 64;

/// Prices in whole numbers with the floor that they prove.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// Prices, weights and the floor are counted in 2^−q.
    pub q: u32,
    /// Beginning of the first cell, in seconds.
    pub begin: i64,
    /// Seconds of a cell.
    pub delta: i64,
    /// Price of a processor-second in each cell.
    pub prices: Vec<u64>,
    /// The floor of the sum over all jobs, in 2^−q; never negative.
    pub floor: i128,
    /// Freedom of jobs for which it holds.
    pub relaxation: Relaxation,
}

impl Certificate {
    /// Rounds prices and weights to whole numbers and evaluates the floor that they prove.
    ///
    /// Weights are rounded down, prices may be rounded at will: the floor is valid for any.
    pub fn from_prices(instance: &Instance, prices: &Prices, relaxation: Relaxation) -> Certificate {
        let most = prices.cells.iter().copied().fold(0.0, f64::max);
        let mut q = BITS;
        if most > 0.0 {
            while q > 0 && most * f64::from(q).exp2() >= f64::from(BITS).exp2() {
                q -= 1;
            }
            while q < MOST && most * f64::from(q + 1).exp2() < f64::from(BITS).exp2() {
                q += 1;
            }
        }
        let weight = instance.tasks.iter().map(|task| task.weight.as_f64()).fold(0.0, f64::max);
        while q > 0 && weight * f64::from(q).exp2() >= f64::from(WEIGHT).exp2() {
            q -= 1;
        }
        let scale = f64::from(q).exp2();
        let whole: Vec<u64> = prices.cells.iter().map(|&price| (price.max(0.0) * scale) as u64).collect();
        let mut certificate =
            Certificate { q, begin: prices.begin, delta: prices.delta, prices: whole, floor: 0, relaxation };
        certificate.floor = certificate.prove_bound(instance).max(0);
        certificate
    }

    /// Returns the bound that these prices prove, in 2^−q; may be negative if they are bad.
    fn prove_bound(&self, instance: &Instance) -> i128 {
        let price: Vec<i128> = self.prices.iter().map(|&price| i128::from(price)).collect();
        let scale = f64::from(self.q).exp2();
        let cells = self.prices.iter().map(|&price| price as f64 / scale).collect();
        let grid = Prices { begin: self.begin, delta: self.delta, cells };
        let areas = capacity_areas(&instance.capacity, &grid);
        let mut total = 0;
        let sums = PriceSums::new(self.begin, self.delta, price);
        // One that costs nothing may wait until prices are 0.
        for task in &instance.tasks {
            let weight = task.weight.scaled_weight(self.q);
            if weight == 0 {
                continue;
            }
            total += weight * i128::from(task.settled);
            total += match self.relaxation {
                Relaxation::Windows => sums.cheapest_start(task, weight).1,
                Relaxation::Seconds => task_bound(task, weight, self, &grid),
            };
        }
        total - sums.of_machine(&areas)
    }

    /// The floor of the sum over all jobs, not above what is proven.
    pub fn floor_value(&self) -> f64 {
        self.floor_per(1.0)
    }

    /// The floor divided by a number of jobs or another total, not above what is proven.
    pub fn floor_per(&self, total: f64) -> f64 {
        // Two roundings of half a unit in the last place, and one of the division.
        let value = self.floor as f64 / f64::from(self.q).exp2() / total;
        (value * (1.0 - 4.0 * f64::EPSILON)).max(0.0)
    }
}

/// The value of the dual function for these prices by floats: what whole numbers are compared with.
pub fn float_value(instance: &Instance, prices: &Prices) -> f64 {
    dual_value(instance, prices)
}

/// Freedom of jobs in the floor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Relaxation {
    /// It runs once, without a break. Schedules that suspend jobs may beat this floor.
    #[default]
    Windows,
    /// It may take any seconds, at any rate up to its width: the floor also holds where jobs are
    /// suspended.
    Seconds,
}

/// The bound for a task in units of 2^−q, by whole numbers: `weight` is in these units.
///
/// Everything counts twice the run time, so that no fraction is left: the cost of a second at `t`
/// is w (t − r) + n p λ there, and where the threshold is met within a cell the part is rounded
/// up. `prices` are those of the certificate as floats, and only suggest a threshold.
fn task_bound(task: &HeadroomTask, weight: i128, certificate: &Certificate, prices: &Prices) -> i128 {
    // 0 is a bound as well, where numbers are beyond all machines.
    checked_bound(task, weight, certificate, prices).unwrap_or(0).max(0)
}

fn checked_bound(task: &HeadroomTask, weight: i128, certificate: &Certificate, prices: &Prices) -> Option<i128> {
    let run = i128::from(task.run);
    if run == 0 {
        return Some(0);
    }
    let scale = f64::from(certificate.q).exp2();
    let (_, theta) = preemptive::find_task_bound(task, weight as f64 / scale, prices, 0.0, None);
    let theta = (theta * task.run as f64 * scale) as i128;
    let procs = i128::from(task.procs);
    let mut savings: i128 = 0;
    let mut cell = usize::try_from((task.release - certificate.begin) / certificate.delta).unwrap_or(usize::MAX);
    let mut now: i128 = 0;
    while theta > weight.checked_mul(now)? {
        let price = certificate.prices.get(cell).map(|&price| i128::from(price));
        let payment = procs.checked_mul(run)?.checked_mul(price.unwrap_or(0))?;
        let above = theta.checked_sub(weight.checked_mul(now)?)?.checked_sub(payment)?;
        let end = i128::from(certificate.begin + certificate.delta * (cell as i64 + 1) - task.release);
        let is_reached = match price {
            Some(_) => above < weight.checked_mul(end - now)?,
            None => true,
        };
        if above > 0 && is_reached {
            // above² / weight, rounded up.
            savings = savings.checked_add(match above.checked_mul(above) {
                Some(square) => square / weight + 1,
                None => (above / weight + 1).checked_mul(above)?,
            })?;
        } else if above > 0 {
            let length = end - now;
            let whole = above.checked_mul(2 * length)?;
            savings = savings.checked_add(whole.checked_sub(weight.checked_mul(length)?.checked_mul(length)?)?)?;
        }
        if price.is_none() {
            break;
        }
        (now, cell) = (end, cell + 1);
    }
    let gain = theta.checked_mul(2 * run)?.checked_sub(savings)?;
    let half = weight.checked_mul(run)?.checked_mul(run)?;
    let grace = weight.checked_mul(2 * run)?.checked_mul(i128::from(task.grace))?;
    Some(gain.checked_sub(half)?.checked_sub(grace)?.div_euclid(2 * run))
}
