//! In which order waiting jobs are considered.

use super::Waiting;
use crate::model::{JobId, Procs, Span, Time};
use crate::text::{Form, Takes};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An order of waiting jobs, for reservations or for backfilling. Ties are broken by arrival.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
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
    /// Largest expansion factor, (wait + prediction) / prediction, first; recomputed at every decision.
    Lxf,
}

impl Order {
    /// What a parameter takes that is an order.
    pub const TAKES: Takes = Takes::Form(&Form {
        name: "order",
        shape: "fcfs|sjf|ljf|smallest|largest|narrowest|widest|lxf",
        samples: &["fcfs", "sjf", "ljf", "smallest", "largest", "narrowest", "widest", "lxf"],
        check: |text| text.parse::<Order>().is_ok(),
    });

    /// All orders, in the order in which they are documented.
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
    pub fn name(self) -> &'static str {
        match self {
            Order::Fcfs => "fcfs",
            Order::Sjf => "sjf",
            Order::Ljf => "ljf",
            Order::Smallest => "smallest",
            Order::Largest => "largest",
            Order::Narrowest => "narrowest",
            Order::Widest => "widest",
            Order::Lxf => "lxf",
        }
    }

    /// Whether places in the queue change as time passes; then [`Order::key`] is only the place by arrival.
    #[must_use]
    pub fn is_dynamic(self) -> bool {
        self == Order::Lxf
    }

    /// Whether a job's place depends on how long it is predicted to run.
    #[must_use]
    pub fn heeds_predictions(self) -> bool {
        !matches!(self, Order::Fcfs | Order::Narrowest | Order::Widest)
    }

    /// The place of a job in a queue of this order.
    #[must_use]
    pub fn key(self, procs: Procs, prediction: Span, id: JobId) -> i64 {
        match self {
            Order::Fcfs | Order::Lxf => i64::from(id.0),
            Order::Sjf => prediction.0,
            Order::Ljf => -prediction.0,
            Order::Smallest => prediction.0.saturating_mul(i64::from(procs)),
            Order::Largest => -prediction.0.saturating_mul(i64::from(procs)),
            Order::Narrowest => i64::from(procs),
            Order::Widest => -i64::from(procs),
        }
    }

    /// A job as a queue of this order holds it.
    #[must_use]
    pub fn waiting(self, id: JobId, submit: Time, procs: Procs, prediction: Span) -> Waiting {
        Waiting { key: self.key(procs, prediction, id), prediction, submit, id, procs }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        Order::ALL.into_iter().find(|o| o.name() == text).ok_or_else(|| {
            let names: Vec<_> = Order::ALL.iter().map(|o| o.name()).collect();
            format!("`{text}` is no order; expected one of {}", names.join(", "))
        })
    }
}
