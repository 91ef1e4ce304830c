//! The largest sizes of jobs where none may have more than its fair share of the machine.

use super::scene::job_sizes;
use crate::model::{JobId, Procs};
use crate::policy::{PolicyEvent, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Weights of waiting and running jobs: the square root of their predicted work.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct FairWeights {
    of: BTreeMap<JobId, f64>,
}

impl FairWeights {
    pub(super) fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) | PolicyEvent::Released(id) | PolicyEvent::Runs(id) => {
                let reference = view.job_shape(id).map_or(view.job(id).procs, |shape| shape.reference);
                let seconds = view.prediction_at(id, reference).as_f64();
                self.of.insert(id, (seconds * f64::from(reference)).sqrt());
            }
            PolicyEvent::Cancelled(id)
            | PolicyEvent::Held(id)
            | PolicyEvent::Ended { job: id, .. }
            | PolicyEvent::Stopped { job: id, .. } => {
                self.of.remove(&id);
            }
            _ => {}
        }
    }

    /// The largest size of each job that may have several: its share of the machine, and no less
    /// than its smallest.
    pub(super) fn size_caps(&self, view: &View<'_>) -> BTreeMap<JobId, Procs> {
        let sum: f64 = self.of.values().sum();
        let procs = f64::from(view.machine().procs);
        let cap = |(&id, weight): (&JobId, &f64)| {
            let min = job_sizes(view, id)?.sizes.min();
            let share = if sum > 0.0 { (procs * weight / sum).floor() as Procs } else { Procs::MAX };
            Some((id, share.max(min)))
        };
        self.of.iter().filter_map(cap).collect()
    }
}
