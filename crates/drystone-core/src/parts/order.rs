//! Order in which waiting jobs are considered.

use super::WaitingJob;
use super::formula::{Formula, Motion, ORDER_SAMPLES, ORDER_SHAPE, WaitingFacts};
use crate::model::{JobId, Procs, Span, Time};
use crate::text::{Takes, ValueForm};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An order of waiting jobs, for reservations or for backfilling. Ties are broken by arrival.
///
/// ```
/// use drystone_core::parts::Order;
///
/// assert_eq!("sjf".parse(), Ok(Order::Sjf));
/// let order: Order = "log10(r)*n + 870*log10(s)".parse()?;
/// assert!(!order.is_dynamic() && order.heeds_predictions());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Order {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Shortest predicted run time first.
    Sjf,
    /// Longest predicted run time first.
    Ljf,
    /// Smallest area (processors × predicted run time) first.
    Smallest,
    /// Largest area first.
    Largest,
    /// Fewest processors first.
    Narrowest,
    /// Most processors first.
    Widest,
    /// Largest expansion factor, (wait + prediction) / prediction, first; recomputed at every
    /// decision.
    Lxf,
    /// Smallest value of a formula first.
    Formula(Formula),
}

impl Order {
    /// Values of a parameter that is an order.
    pub const TAKES: Takes = Takes::Form(&ValueForm {
        name: "order",
        shape: ORDER_SHAPE,
        samples: ORDER_SAMPLES,
        check: |text| text.parse::<Order>().is_ok(),
    });

    /// All orders but formulas, in the order in which they are documented.
    pub const ALL: [Order; 8] = [
        Order::Fcfs,
        Order::Sjf,
        Order::Ljf,
        Order::Smallest,
        Order::Largest,
        Order::Narrowest,
        Order::Widest,
        Order::Lxf,
    ];

    /// The name used in policy texts.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Order::Fcfs => "fcfs",
            Order::Sjf => "sjf",
            Order::Ljf => "ljf",
            Order::Smallest => "smallest",
            Order::Largest => "largest",
            Order::Narrowest => "narrowest",
            Order::Widest => "widest",
            Order::Lxf => "lxf",
            Order::Formula(formula) => formula.text(),
        }
    }

    /// Returns whether places in the queue change as time passes; then [`Order::queue_key`] is only
    /// the place by arrival.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        *self == Order::Lxf || self.moving_formula().is_some()
    }

    /// The formula whose values overtake each other as time passes, if it is such an order.
    #[must_use]
    pub fn moving_formula(&self) -> Option<&Formula> {
        match self {
            Order::Formula(formula) if formula.motion() != Motion::Still => Some(formula),
            _ => None,
        }
    }

    /// Returns whether a job's place depends on its prediction.
    #[must_use]
    pub fn heeds_predictions(&self) -> bool {
        match self {
            Order::Fcfs | Order::Narrowest | Order::Widest => false,
            Order::Formula(formula) => formula.heeds_predictions(),
            _ => true,
        }
    }

    /// The place of a job in a queue of this order. Only formulas ask for `facts`.
    #[inline]
    #[must_use]
    pub fn queue_key(&self, procs: Procs, prediction: Span, id: JobId, facts: impl FnOnce() -> WaitingFacts) -> i64 {
        match self {
            Order::Fcfs | Order::Lxf => i64::from(id.0),
            Order::Sjf => prediction.0,
            Order::Ljf => -prediction.0,
            Order::Smallest => prediction.0.saturating_mul(i64::from(procs)),
            Order::Largest => -prediction.0.saturating_mul(i64::from(procs)),
            Order::Narrowest => i64::from(procs),
            Order::Widest => -i64::from(procs),
            Order::Formula(formula) if formula.motion() == Motion::Still => formula.static_key(&facts()),
            Order::Formula(_) => i64::from(id.0),
        }
    }

    /// A job as a queue of this order holds it.
    #[inline]
    #[must_use]
    pub fn waiting_job(
        &self,
        id: JobId,
        submit: Time,
        procs: Procs,
        prediction: Span,
        facts: impl FnOnce() -> WaitingFacts,
    ) -> WaitingJob {
        WaitingJob { key: self.queue_key(procs, prediction, id, facts), prediction, submit, id, procs }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Order {
    type Err = String;

    /// Reads the name of an order, or a formula.
    fn from_str(text: &str) -> Result<Order, String> {
        if let Some(order) = Order::ALL.into_iter().find(|o| o.name() == text) {
            return Ok(order);
        }
        match text.parse::<Formula>() {
            Ok(formula) => Ok(Order::Formula(formula)),
            Err(error) => Err(error.to_string()),
        }
    }
}
