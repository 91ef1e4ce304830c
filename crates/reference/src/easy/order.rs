//! Orders of waiting jobs.

use crate::formula::{NaiveExpr, NaiveKnown};
use std::cmp::Ordering;

/// An order of waiting jobs. Ties go to the job that arrived first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NaiveEasyOrder {
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
    Formula(&'static NaiveExpr),
}

impl NaiveEasyOrder {
    /// All of them but formulas.
    pub const ALL: [NaiveEasyOrder; 8] = [
        NaiveEasyOrder::Fcfs,
        NaiveEasyOrder::Shortest,
        NaiveEasyOrder::Longest,
        NaiveEasyOrder::SmallestArea,
        NaiveEasyOrder::LargestArea,
        NaiveEasyOrder::Narrowest,
        NaiveEasyOrder::Widest,
        NaiveEasyOrder::LargestExpansion,
    ];

    /// Compares two waiting jobs; the lesser comes first.
    pub(super) fn compare_jobs(self, a: &NaiveEasyWaiting, b: &NaiveEasyWaiting) -> Ordering {
        let by_attribute = match self {
            NaiveEasyOrder::Fcfs => Ordering::Equal,
            NaiveEasyOrder::Shortest => a.prediction.cmp(&b.prediction),
            NaiveEasyOrder::Longest => b.prediction.cmp(&a.prediction),
            NaiveEasyOrder::SmallestArea => a.job_area().cmp(&b.job_area()),
            NaiveEasyOrder::LargestArea => b.job_area().cmp(&a.job_area()),
            NaiveEasyOrder::Narrowest => a.procs.cmp(&b.procs),
            NaiveEasyOrder::Widest => b.procs.cmp(&a.procs),
            NaiveEasyOrder::LargestExpansion => {
                // (wa + pa) / pa > (wb + pb) / pb, without dividing.
                let (pa, pb) = (i128::from(a.prediction.max(1)), i128::from(b.prediction.max(1)));
                let (xa, xb) = ((i128::from(a.wait) + pa) * pb, (i128::from(b.wait) + pb) * pa);
                xb.cmp(&xa)
            }
            NaiveEasyOrder::Formula(formula) => {
                let (a, b) = (formula.job_rank(&a.known), formula.job_rank(&b.known));
                // NaN is behind everything else.
                a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()))
            }
        };
        by_attribute.then(a.index.cmp(&b.index))
    }
}

/// Facts that an order considers.
#[derive(Clone, Debug)]
pub(super) struct NaiveEasyWaiting {
    pub(super) index: usize,
    pub(super) procs: i64,
    pub(super) prediction: i64,
    pub(super) wait: i64,
    /// Further facts available to formulas.
    pub(super) known: NaiveKnown,
}

impl NaiveEasyWaiting {
    fn job_area(&self) -> i128 {
        i128::from(self.prediction) * i128::from(self.procs)
    }
}
