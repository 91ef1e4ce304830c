//! The dual function: each task at its cheapest start, for floats and for whole numbers alike.

use crate::capacity::CapacitySteps;
use crate::grid::Prices;
use crate::instance::Instance;
use crate::measure::HeadroomTask;
use std::ops::{Add, Mul, Sub};

/// A number that costs are counted in.
pub(crate) trait Money:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Send + Sync
{
    const ZERO: Self;

    /// A whole number of seconds or processors.
    fn from_whole(value: i64) -> Self;

    /// Seconds of delay at this weight that cost at most `self`, rounded up.
    fn affordable_delay(self, weight: Self) -> i64;
}

impl Money for f64 {
    const ZERO: f64 = 0.0;

    #[inline]
    fn from_whole(value: i64) -> f64 {
        value as f64
    }

    #[inline]
    fn affordable_delay(self, weight: f64) -> i64 {
        // Saturates.
        (self / weight) as i64 + 1
    }
}

impl Money for i128 {
    const ZERO: i128 = 0;

    #[inline]
    fn from_whole(value: i64) -> i128 {
        i128::from(value)
    }

    #[inline]
    fn affordable_delay(self, weight: i128) -> i64 {
        i64::try_from(self / weight).unwrap_or(i64::MAX / 4)
    }
}

pub(crate) struct PriceSums<M> {
    begin: i64,
    delta: i64,
    /// One more than there are cells: behind the last there is none.
    price: Vec<M>,
    /// ∫ of the prices up to the beginning of each cell.
    sum: Vec<M>,
}

impl PriceSums<f64> {
    pub(crate) fn from_prices(prices: &Prices) -> PriceSums<f64> {
        PriceSums::new(prices.begin, prices.delta, prices.cells.clone())
    }
}

impl<M: Money> PriceSums<M> {
    pub(crate) fn new(begin: i64, delta: i64, mut price: Vec<M>) -> PriceSums<M> {
        let mut sum = Vec::with_capacity(price.len() + 1);
        let mut total = M::ZERO;
        for &value in &price {
            sum.push(total);
            total = total + value * M::from_whole(delta);
        }
        sum.push(total);
        price.push(M::ZERO);
        PriceSums { begin, delta, price, sum }
    }

    /// ∫ of the prices up to this second.
    #[inline]
    fn sum_until(&self, time: i64) -> M {
        if time <= self.begin {
            return M::ZERO;
        }
        let past = time - self.begin;
        let cell = usize::try_from(past / self.delta).unwrap_or(usize::MAX).min(self.sum.len() - 1);
        self.sum[cell] + self.price[cell] * M::from_whole(past - self.delta * cell as i64)
    }

    /// The earliest cheapest start of a task with what it costs there, delay that is settled aside.
    ///
    /// Between the release, the end of its grace and the borders that its start or its end may
    /// meet, the bracket is linear, so one of these is cheapest. No start is worth a look whose
    /// delay alone costs more than the best so far.
    #[inline]
    pub(crate) fn cheapest_start(&self, task: &HeadroomTask, weight: M) -> (i64, M) {
        let (release, run, delta) = (task.release, task.run, self.delta);
        let procs = M::from_whole(i64::from(task.procs));
        let free_until = release + task.grace;
        let mut at = release;
        let mut best = procs * (self.sum_until(release + run) - self.sum_until(release));
        if best <= M::ZERO {
            return (at, M::ZERO);
        }
        let mut cut = free_until.saturating_add(best.affordable_delay(weight));
        if task.grace > 0 {
            let value = procs * (self.sum_until(free_until + run) - self.sum_until(free_until));
            if value < best {
                (best, at) = (value, free_until);
                cut = free_until.saturating_add(best.affordable_delay(weight));
            }
        }
        let last = self.sum.len() - 1;
        let whole = usize::try_from(run / delta).unwrap_or(usize::MAX / 2).min(usize::MAX / 2);
        let rest = run % delta;
        let mut offer = |start: i64, paid: M, cut: &mut i64| {
            let value = weight * M::from_whole((start - free_until).max(0)) + procs * paid;
            if value < best || (value == best && start < at) {
                (best, at) = (value, start);
                *cut = free_until.saturating_add(best.affordable_delay(weight));
            }
        };
        // Starts at borders, up to the first second without a price.
        let mut cell = usize::try_from((release - self.begin) / delta + 1).unwrap_or(usize::MAX);
        let part = M::from_whole(rest);
        while cell <= last {
            let start = self.begin + delta * cell as i64;
            if start > cut {
                break;
            }
            let end = (cell + whole).min(last);
            offer(start, self.sum[end] + self.price[end] * part - self.sum[cell], &mut cut);
            cell += 1;
        }
        if rest == 0 {
            return (at, best);
        }
        // Starts from which the end is at a border.
        let mut end = usize::try_from((release + run - self.begin) / delta + 1).unwrap_or(usize::MAX);
        let part = M::from_whole(delta - rest);
        while end <= last {
            let start = self.begin + delta * end as i64 - run;
            if start > cut {
                break;
            }
            let cell = end - whole - 1;
            offer(start, self.sum[end] - self.sum[cell] - self.price[cell] * part, &mut cut);
            end += 1;
        }
        (at, best)
    }

    pub(crate) fn of_machine(&self, areas: &[i64]) -> M {
        self.price.iter().zip(areas).fold(M::ZERO, |sum, (&price, &area)| sum + price * M::from_whole(area))
    }
}

/// Usage is counted in such parts of a processor-second, as whole numbers: sums do not depend on
/// their order.
pub(crate) const PARTS: i64 = 64;

/// Processor-seconds in use per cell, in [`PARTS`].
pub(crate) struct CellUsage {
    begin: i64,
    delta: i64,
    /// Partial use of a cell.
    single: Vec<i64>,
    /// From this cell on so many processors more.
    change: Vec<i64>,
}

impl CellUsage {
    pub(crate) fn new(prices: &Prices) -> CellUsage {
        let cells = prices.cells.len();
        CellUsage { begin: prices.begin, delta: prices.delta, single: vec![0; cells + 1], change: vec![0; cells + 1] }
    }

    #[inline]
    pub(crate) fn add_task(&mut self, task: &HeadroomTask, start: i64) {
        let (from, until) = (start - self.begin, start + task.run - self.begin);
        let (procs, delta, last) = (i64::from(task.procs), self.delta, self.single.len() - 1);
        let cell = |time: i64| usize::try_from(time / delta).unwrap_or(usize::MAX).min(last);
        let (first, end) = (cell(from), cell(until));
        if first == last {
            return;
        }
        let into = |at: usize, time: i64| time - delta * at as i64;
        if first == end {
            self.add_parts(first, procs.wrapping_mul((until - from) * PARTS));
            return;
        }
        // Where this overflows, steps go astray; no price makes a floor wrong.
        self.add_parts(first, procs.wrapping_mul((delta - into(first, from)) * PARTS));
        if end < last {
            self.add_parts(end, procs.wrapping_mul(into(end, until) * PARTS));
        }
        self.change[first + 1] += procs;
        self.change[end] -= procs;
    }

    /// Nothing in use.
    pub(crate) fn clear(&mut self) {
        self.single.fill(0);
        self.change.fill(0);
    }

    pub(crate) fn add_parts(&mut self, cell: usize, parts: i64) {
        self.single[cell] = self.single[cell].wrapping_add(parts);
    }

    /// The sum of both.
    pub(crate) fn merge(&mut self, other: &CellUsage) {
        self.single.iter_mut().zip(&other.single).for_each(|(a, b)| *a = a.wrapping_add(*b));
        self.change.iter_mut().zip(&other.change).for_each(|(a, b)| *a += b);
    }

    /// Parts of processor-seconds in each cell.
    pub(crate) fn levels(&self) -> Vec<i64> {
        let mut procs = 0;
        let levels = self.single.iter().zip(&self.change).map(|(&single, &change)| {
            procs += change;
            single.wrapping_add(procs.wrapping_mul(self.delta * PARTS))
        });
        levels.take(self.single.len() - 1).collect()
    }
}

/// The value of the dual function for all tasks with this capacity, by floats.
pub(crate) fn dual_value(instance: &Instance, prices: &Prices) -> f64 {
    let sums = PriceSums::from_prices(prices);
    let mut total = 0.0;
    for task in instance.tasks.iter().filter(|task| task.weight.over > 0) {
        let weight = task.weight.as_f64();
        total += weight * task.settled as f64 + sums.cheapest_start(task, weight).1;
    }
    total - sums.of_machine(&capacity_areas(&instance.capacity, prices))
}

/// Processor-seconds of the machine in each cell.
pub(crate) fn capacity_areas(capacity: &CapacitySteps, prices: &Prices) -> Vec<i64> {
    capacity.cell_areas(prices.begin, prices.delta, prices.cells.len())
}
