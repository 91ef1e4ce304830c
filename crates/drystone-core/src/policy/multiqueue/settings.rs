//! The choices of the multiple-queue policy.

use crate::model::{Procs, Span};
use crate::parts::Order;
use serde::{Deserialize, Serialize};

/// Meaning of the ownership of processors for a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Own {
    /// Nothing: a job that delays no promise may start (spec M1–M4).
    #[default]
    Shared,
    /// Figure 4 of the paper to the letter: on idle processors of its own partition a job need only
    /// respect the promise of its own queue.
    Figure4,
    /// As figure 4, and what is borrowed from other partitions must be idle or extra there, one by
    /// one.
    Split,
}

/// Order in which pivots are promised their starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Promising {
    /// In the order in which jobs became pivots, each when the pass reaches it (spec M3).
    #[default]
    Pivot,
    /// As above, but a pivot that starts hands over at once to the next of its queue.
    Eager,
    /// In the order of arrival: an older job of another queue may displace a promise.
    Arrival,
}

/// Way in which the delay of the longest jobs follows the slowdown of the shortest.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Control {
    /// Not at all: every delay is the first.
    Fixed,
    /// The paper's rule (spec M6): D grows by δ·D1 where a batch's mean slowdown of short jobs
    /// differs by δ, more than the tolerance, from the batch before.
    Paper {
        /// Changes up to this are ignored; 0.25 in the paper.
        tolerance: f64,
        /// True if the first batch counts as a change of its own slowdown (the paper), false if as
        /// none.
        first_change: bool,
    },
    /// Ours: D follows the level of the slowdown, not its changes, and is bounded. With g the
    /// geometric mean of the short jobs' slowdowns, averaged over batches, D = D1 · min(ceiling,
    /// log2 g); no job waits longer than `share` of its predicted run time.
    Bounded {
        /// Largest D, as a multiple of D1.
        ceiling: f64,
        /// Largest delay of a job, as a share of its predicted run time.
        share: f64,
    },
}

/// The delay of jobs of the longest class.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassDelay {
    /// D1, in seconds: the first delay and the unit of its changes.
    pub first: f64,
    /// Way in which it changes.
    pub control: Control,
    /// Completed jobs per batch; 100 in the paper.
    pub batch: u32,
    /// True if a batch counts completed short jobs only; the paper counts all.
    pub short_only: bool,
    /// True if a delayed job cannot even become a pivot before its delay is over.
    pub hold: bool,
    /// True if the D of the present counts for all waiting jobs, not that of each one's arrival.
    pub current: bool,
    /// True if the end of a delay is an event.
    pub wake: bool,
}

impl ClassDelay {
    /// The paper's adaptive delay.
    #[must_use]
    pub fn from_paper(first: f64) -> ClassDelay {
        ClassDelay {
            first,
            control: Control::Paper { tolerance: 0.25, first_change: true },
            batch: 100,
            short_only: false,
            hold: false,
            current: false,
            wake: true,
        }
    }
}

/// Sorting of jobs into queues by run time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum QueueBorders {
    /// These upper borders, inclusive; one queue more than borders.
    Fixed(Vec<Span>),
    /// Borders that give the queues equal shares of the jobs among the last `history` arrivals,
    /// renewed after as many.
    Auto {
        /// Number of queues; `None`: as few as leave no queue with a coefficient of variation above
        /// 1, at most eight.
        queues: Option<u32>,
        /// Arrivals looked back on.
        history: u32,
    },
}

/// All choices of the policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueueSettings {
    /// Queues by predicted run time.
    pub borders: QueueBorders,
    /// Upper borders of the width of jobs, inclusive: each class of run times has a queue per class
    /// of widths.
    pub widths: Vec<Procs>,
    /// Meaning of the ownership of processors.
    pub own: Own,
    /// The order of promises.
    pub promise: Promising,
    /// The delay of the longest jobs, if any.
    pub delay: Option<ClassDelay>,
    /// The order of each queue; `None`: that of arrival. Counts with [`Own::Shared`] and
    /// [`Promising::Pivot`].
    pub order: Option<Order>,
    /// Beside an order: a job that has waited longer comes first, of several the first to arrive.
    pub starve: Option<Span>,
}

impl Default for QueueSettings {
    fn default() -> Self {
        QueueSettings {
            borders: QueueBorders::Fixed(vec![Span(100), Span(1_000), Span(10_000)]),
            widths: Vec::new(),
            own: Own::Shared,
            promise: Promising::Pivot,
            delay: None,
            order: None,
            starve: None,
        }
    }
}

impl QueueSettings {
    /// Returns whether promises may be broken or displaced, so that every pass has to place them
    /// again.
    #[must_use]
    pub(super) fn is_literal(&self) -> bool {
        self.own != Own::Shared || self.promise == Promising::Arrival
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.order.is_some() && self.own == Own::Shared && self.promise == Promising::Pivot
    }

    pub(super) fn has_hold(&self) -> bool {
        self.delay.is_some_and(|d| d.hold)
    }
}
