//! The floor in whole numbers.

use crate::ascent::Relaxation;
use crate::evaluate::{PriceSums, areas, value};
use crate::grid::Prices;
use crate::instance::Instance;
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
    #[must_use]
    pub fn of(instance: &Instance, prices: &Prices, relaxation: Relaxation) -> Certificate {
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
        certificate.floor = certificate.proven(instance).max(0);
        certificate
    }

    /// Returns the bound that these prices prove, in 2^−q; may be negative if they are bad.
    fn proven(&self, instance: &Instance) -> i128 {
        let price: Vec<i128> = self.prices.iter().map(|&price| i128::from(price)).collect();
        let scale = f64::from(self.q).exp2();
        let cells = self.prices.iter().map(|&price| price as f64 / scale).collect();
        let grid = Prices { begin: self.begin, delta: self.delta, cells };
        let areas = areas(&instance.capacity, &grid);
        let mut total = 0;
        let sums = PriceSums::new(self.begin, self.delta, price);
        // One that costs nothing may wait until prices are 0.
        for task in &instance.tasks {
            let weight = task.weight.scaled(self.q);
            if weight == 0 {
                continue;
            }
            total += weight * i128::from(task.settled);
            total += match self.relaxation {
                Relaxation::Windows => sums.cheapest(task, weight).1,
                Relaxation::Seconds => preemptive::whole(task, weight, self, &grid),
            };
        }
        total - sums.of_machine(&areas)
    }

    /// The floor of the sum over all jobs, not above what is proven.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.per(1.0)
    }

    /// The floor divided by a number of jobs or another total, not above what is proven.
    #[must_use]
    pub fn per(&self, total: f64) -> f64 {
        // Two roundings of half a unit in the last place, and one of the division.
        let value = self.floor as f64 / f64::from(self.q).exp2() / total;
        (value * (1.0 - 4.0 * f64::EPSILON)).max(0.0)
    }
}

/// The value of the dual function for these prices by floats: what whole numbers are compared with.
#[must_use]
pub fn float_value(instance: &Instance, prices: &Prices) -> f64 {
    value(instance, prices)
}
