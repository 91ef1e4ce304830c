//! Orders of waiting jobs.

use crate::formula::{Expr, Known};
use std::cmp::Ordering;

/// An order of waiting jobs. Ties go to the job that arrived first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Order {
    /// Order of arrival.
    Fcfs,
    /// Shortest prediction first.
    Shortest,
    /// Longest prediction first.
    Longest,
    /// Smallest prediction × processors first.
    SmallestArea,
    /// Largest prediction × processors first.
    LargestArea,
    /// Fewest processors first.
    Narrowest,
    /// Most processors first.
    Widest,
    /// Largest expansion factor (wait + prediction) / prediction first, as of now, compared
    /// exactly. A prediction of 0 counts as 1 second.
    LargestExpansion,
    /// Smallest value of a formula first, as of the beginning of the pass.
    Formula(&'static Expr),
}

impl Order {
    /// All of them but formulas.
    pub const ALL: [Order; 8] = [
        Order::Fcfs,
        Order::Shortest,
        Order::Longest,
        Order::SmallestArea,
        Order::LargestArea,
        Order::Narrowest,
        Order::Widest,
        Order::LargestExpansion,
    ];

    /// Compares two waiting jobs; the lesser comes first.
    pub(super) fn compare(self, a: &Waiting, b: &Waiting) -> Ordering {
        let by_attribute = match self {
            Order::Fcfs => Ordering::Equal,
            Order::Shortest => a.prediction.cmp(&b.prediction),
            Order::Longest => b.prediction.cmp(&a.prediction),
            Order::SmallestArea => a.area().cmp(&b.area()),
            Order::LargestArea => b.area().cmp(&a.area()),
            Order::Narrowest => a.procs.cmp(&b.procs),
            Order::Widest => b.procs.cmp(&a.procs),
            Order::LargestExpansion => {
                // (wa + pa) / pa > (wb + pb) / pb, without dividing.
                let (pa, pb) = (i128::from(a.prediction.max(1)), i128::from(b.prediction.max(1)));
                let (xa, xb) = ((i128::from(a.wait) + pa) * pb, (i128::from(b.wait) + pb) * pa);
                xb.cmp(&xa)
            }
            Order::Formula(formula) => {
                let (a, b) = (formula.rank(&a.known), formula.rank(&b.known));
                // NaN is behind everything else.
                a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()))
            }
        };
        by_attribute.then(a.index.cmp(&b.index))
    }
}

/// Facts that an order considers.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) index: usize,
    pub(super) procs: i64,
    pub(super) prediction: i64,
    pub(super) wait: i64,
    /// Further facts available to formulas.
    pub(super) known: Known,
}

impl Waiting {
    fn area(&self) -> i128 {
        i128::from(self.prediction) * i128::from(self.procs)
    }
}
