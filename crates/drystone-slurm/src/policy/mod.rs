//! `slurm(...)`: the model as a policy like every other.
//!
//! The contract counts processors; nodes live in here. What the model starts never needs more processors than are free, so the
//! engine need not know where.

mod kind;
mod shape;

pub use kind::{SLURM, register};

use crate::model::{Cluster, Idle, Pass};
use crate::site::{Rules, Site, Start};
use drystone_core::model::{JobId, Time};
use drystone_core::policy::{Actions, Event, Phase, Policy, View, Why};
use serde::{Deserialize, Serialize};
use shape::Shape;

/// Slurm's two schedulers.
#[derive(Serialize, Deserialize)]
pub struct Slurm {
    shape: Shape,
    rules: Rules,
    /// From the first event on: only then the machine's size is known.
    site: Option<(Site, Idle)>,
    #[serde(skip)]
    starts: Vec<Start>,
}

impl Slurm {
    fn new(shape: Shape, rules: Rules) -> Slurm {
        Slurm { shape, rules, site: None, starts: Vec::new() }
    }

    /// What runs where, from the first event on.
    #[must_use]
    pub fn cluster(&self) -> Option<&Cluster> {
        self.site.as_ref().map(|(site, _)| site.cluster())
    }

    fn arrived(&mut self, id: JobId, view: &View<'_>) {
        let (shape, rules) = (&self.shape, &self.rules);
        let (site, empty) = self.site.get_or_insert_with(|| {
            let machine = shape.machine(view.machine().procs);
            let empty = Idle::new(&machine);
            (Site::new(machine, rules.clone()), empty)
        });
        let pending = shape.pending(id.0, view.job(id), view.prediction(id), &site.cluster().machine, empty);
        site.submit(view.now().0, pending);
    }
}

impl Policy for Slurm {
    fn name(&self) -> &str {
        "slurm"
    }

    fn observe(&mut self, event: Event, view: &View<'_>) {
        let now = view.now().0;
        if let Event::Arrived(id) = event {
            return self.arrived(id, view);
        }
        let Some((site, empty)) = &mut self.site else { return };
        match event {
            Event::Ended { job, .. } => site.end(now, job.0),
            Event::Cancelled(job) => site.cancel(now, job.0),
            Event::Repredicted { job, .. } if view.phase(job) == Phase::Running => {
                site.reschedule(job.0, view.predicted_end(job).0);
            }
            Event::Repredicted { job, .. } => {
                let machine = &site.cluster().machine;
                let limit = self.shape.pending(job.0, view.job(job), view.prediction(job), machine, empty).limit;
                site.relimit(job.0, limit);
            }
            // It does not hear of news: no job is held, and no processor fails.
            _ => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let Some((site, _)) = &mut self.site else { return };
        site.advance(view.now().0, &mut self.starts, &mut ());
        for start in self.starts.drain(..) {
            let why = if start.by == Pass::Main { Why::Head } else { Why::Backfilled };
            actions.start(JobId(start.id), why);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.site.as_ref().and_then(|(site, _)| site.next_wake()).map(Time)
    }
}
