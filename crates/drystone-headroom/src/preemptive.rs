//! The floor that also holds where jobs are suspended: a job takes the cheapest seconds.
//!
//! A job may work at any rate up to its width at any time from its release on. Its mean time of
//! work takes the place of its start, which is half its run time earlier. For every threshold the
//! bound below is valid; bisection looks for the best.

use crate::evaluate::{CellUsage, PARTS};
use crate::grid::Prices;
use crate::measure::HeadroomTask;

/// Largest number of improvements of the threshold: any is valid.
const ROUNDS: u32 = 12;

/// The seconds of a cell below a threshold.
struct CellPiece {
    seconds: f64,
    /// ∫ of what they are cheaper than the threshold.
    saved: f64,
    /// True if the threshold is met within the cell.
    crossing: bool,
}

/// Seconds below `theta` in a piece of `length` seconds whose cost rises from `from` by `slope`.
#[inline]
fn measure_piece(theta: f64, from: f64, slope: f64, length: f64) -> CellPiece {
    let above = theta - from;
    if above <= 0.0 {
        return CellPiece { seconds: 0.0, saved: 0.0, crossing: false };
    }
    let seconds = above / slope;
    if seconds < length {
        return CellPiece { seconds, saved: above * seconds / 2.0, crossing: true };
    }
    CellPiece { seconds: length, saved: above * length - slope * length * length / 2.0, crossing: false }
}

/// Computes the payment of a task at this threshold: calls `each` with every cell in which it
/// works, and returns the seconds, their saving, and the number of pieces that cross the threshold.
#[inline]
fn walk_cells(
    task: &HeadroomTask,
    weight: f64,
    prices: &Prices,
    theta: f64,
    mut each: impl FnMut(usize, f64),
) -> (f64, f64, u32) {
    let slope = weight / task.run as f64;
    let procs = f64::from(task.procs);
    let (mut seconds, mut savings, mut crossing) = (0.0, 0.0, 0);
    let mut cell = usize::try_from((task.release - prices.begin) / prices.delta).unwrap_or(usize::MAX);
    let mut now = 0.0;
    while theta > slope * now {
        let Some(&price) = prices.cells.get(cell) else {
            let last = measure_piece(theta, slope * now, slope, f64::INFINITY);
            return (seconds + last.seconds, savings + last.saved, crossing + 1);
        };
        let end = (prices.begin + prices.delta * (cell as i64 + 1) - task.release) as f64;
        let cell_piece = measure_piece(theta, slope * now + procs * price, slope, end - now);
        if cell_piece.seconds > 0.0 {
            seconds += cell_piece.seconds;
            savings += cell_piece.saved;
            crossing += u32::from(cell_piece.crossing);
            each(cell, cell_piece.seconds);
        }
        (now, cell) = (end, cell + 1);
    }
    (seconds, savings, crossing)
}

/// The bound for a task and the threshold that gives it; `theta` is where to look first.
pub(crate) fn find_task_bound(
    task: &HeadroomTask,
    weight: f64,
    prices: &Prices,
    theta: f64,
    usage: Option<&mut CellUsage>,
) -> (f64, f64) {
    let run = task.run as f64;
    if task.run == 0 {
        return (0.0, 0.0);
    }
    let constant = weight * (run / 2.0 + task.grace as f64);
    // Without prices the first seconds are the cheapest: up to the weight.
    let (mut low, mut high) = (weight, f64::INFINITY);
    if theta <= weight {
        // At the most that its first seconds cost it works for its run time at least.
        let first = usize::try_from((task.release - prices.begin) / prices.delta).unwrap_or(usize::MAX);
        let last = usize::try_from((task.release + task.run - prices.begin) / prices.delta).unwrap_or(usize::MAX);
        let near = prices.cells.iter().take(last.saturating_add(1)).skip(first);
        high = (weight + f64::from(task.procs) * near.copied().fold(0.0, f64::max)) * (1.0 + 1e-9);
    }
    let mut theta = if theta > weight { theta } else { high };
    let mut best = (0.0, theta);
    for _ in 0..ROUNDS {
        let (seconds, savings, crossing) = walk_cells(task, weight, prices, theta, |_, _| {});
        let bound = theta * run - savings - constant;
        if bound > best.0 {
            best = (bound, theta);
        }
        let missing = run - seconds;
        if missing.abs() <= 1e-3 * run {
            break;
        }
        if missing > 0.0 {
            low = theta
        } else {
            high = theta
        }
        let newton = theta + missing * (weight / run) / f64::from(crossing.max(1));
        theta = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            f64::midpoint(low, high)
        } else {
            2.0 * low
        };
    }
    if let Some(usage) = usage
        && best.0 > 0.0
    {
        let parts = f64::from(task.procs) * PARTS as f64;
        walk_cells(task, weight, prices, best.1, |cell, seconds| usage.add_parts(cell, (parts * seconds) as i64));
    }
    best
}
