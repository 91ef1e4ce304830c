//! Prices of processor-seconds, the same within each cell of a grid.

use crate::instance::Instance;

/// More cells than this are not worth their memory: cells become longer.
const MOST_CELLS: i64 = 1 << 22;

/// A price of a processor-second for each cell of a grid; 0 outside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Prices {
    /// Beginning of the first cell, in seconds.
    pub begin: i64,
    /// Seconds of a cell.
    pub delta: i64,
    /// Price in each cell, never negative.
    pub cells: Vec<f64>,
}

impl Prices {
    /// No price anywhere, on a grid from the first release to this end.
    pub fn zero(instance: &Instance, end: i64, delta: i64) -> Prices {
        let begin = instance.first_release();
        let span = (end - begin).max(1);
        let delta = delta.max(1).max(span / MOST_CELLS + 1).min(span.max(delta.max(1)));
        Prices { begin, delta, cells: vec![0.0; usize::try_from((span + delta - 1) / delta).unwrap_or(1)] }
    }

    /// Returns the prices on a finer grid, one whose cells divide those of this.
    pub fn refine_grid(&self, delta: i64) -> Prices {
        if delta >= self.delta
            || self.delta % delta != 0
            || (self.cells.len() as i64) * (self.delta / delta) > MOST_CELLS
        {
            return self.clone();
        }
        let times = (self.delta / delta) as usize;
        let cells = self.cells.iter().flat_map(|&price| std::iter::repeat_n(price, times)).collect();
        Prices { begin: self.begin, delta, cells }
    }

    pub fn scale_by(&self, factor: f64) -> Prices {
        Prices { cells: self.cells.iter().map(|price| price * factor).collect(), ..*self }
    }
}
