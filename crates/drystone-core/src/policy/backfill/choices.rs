//! Choices in which the members of the EASY family differ.

use crate::model::Span;
use crate::parts::ranking;
use crate::parts::{ExtraRule, Order, QueuePlace, WaitingJob};
use crate::policy::View;
use serde::{Deserialize, Serialize};

/// Meaning for the shadow time of a running job that has outlived its prediction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum OverdueRule {
    /// It counts as ending now.
    #[default]
    Now,
    /// Its predicted end stays where it was, so a shadow time may lie in the past and then only the
    /// extra processors are left for backfilling (Tsafrir et al. 2007).
    Stale,
    /// Its processors count as free already (Gaussier et al. 2015). Only with
    /// [`PassRule::Pyss`](crate::policy::PassRule::Pyss), where such a job is one that ends later
    /// in the same second.
    Free,
}

/// Consequence of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Arrive {
    /// A pass.
    #[default]
    Always,
    /// A pass only if the newcomer fits the free processors (Gaussier et al. 2015, plain EASY).
    Fits,
}

/// Criterion for a job that would overtake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum OvertakeGuard {
    /// By its predicted end.
    #[default]
    Prediction,
    /// By its estimated end as well: it cannot run into the reservation by outliving its prediction
    /// (Tsafrir et al. 2007, section 4). Reservations are computed, and jobs are ordered, by
    /// predictions all the same.
    Estimate,
}

/// The choices of the EASY family.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BackfillChoices {
    /// Order of the queue; its first job gets a reservation.
    pub order: Order,
    /// Order in which the others are tried; `None` for no backfilling at all.
    pub backfill: Option<Order>,
    /// Number of jobs that get a reservation at each pass: 0 for greedy backfilling, 1 for EASY.
    pub reservations: u32,
    /// Count of the extra processors.
    pub extra: ExtraRule,
    /// Meaning of an overdue job.
    pub overdue: OverdueRule,
    /// Consequence of an arrival.
    pub arrive: Arrive,
    /// Criterion for a job that would overtake.
    pub guard: OvertakeGuard,
    /// A job that has waited longer heads the queue; of several the first to arrive.
    pub starve: Option<Span>,
}

impl Default for BackfillChoices {
    fn default() -> Self {
        BackfillChoices {
            order: Order::Fcfs,
            backfill: Some(Order::Fcfs),
            reservations: 1,
            extra: ExtraRule::default(),
            overdue: OverdueRule::default(),
            arrive: Arrive::default(),
            guard: OvertakeGuard::default(),
            starve: None,
        }
    }
}

impl BackfillChoices {
    /// Returns whether the policy knows sizes and power: with at most one reservation, and none of
    /// the choices of published studies.
    pub(super) fn know_sizes(&self) -> bool {
        self.reservations <= 1
            && self.extra == ExtraRule::All
            && self.overdue == OverdueRule::Now
            && self.arrive == Arrive::Always
            && self.guard == OvertakeGuard::Prediction
    }

    /// Returns a job's place in the queue of reservations, given as either queue holds it.
    #[inline]
    pub(super) fn queue_place(&self, job: &WaitingJob, view: &View<'_>) -> QueuePlace {
        let facts = || ranking::waiting_facts(job.id, job.prediction, view);
        QueuePlace { key: self.order.queue_key(job.procs, job.prediction, job.id, facts), id: job.id }
    }

    /// Returns whether the next pass would find the reservation as this one leaves it behind when
    /// it backfills this job. Ends before the shadow time are counted, and those behind it are not,
    /// wherever the walk over them stops. Where it stops at the first sufficient end, a job that
    /// ends at the shadow time itself may have become that end; and where estimates guard, one that
    /// had to use extra processors may count as ending in time.
    #[inline]
    pub(super) fn keeps_reservation(&self, job: &WaitingJob, window: Span) -> bool {
        self.guard == OvertakeGuard::Prediction && (self.extra == ExtraRule::All || job.prediction != window)
    }
}
