//! `slurm(...)`: the model as a policy like every other.
//!
//! The contract counts processors; nodes live in here. What the model starts never needs more
//! processors than are free, so the engine need not know where.

mod heard;
mod kind;
mod people;
mod places;
mod priority;
mod shape;

pub use heard::{Reason, Said, listen};
pub use kind::{SLURM, register};

use crate::model::{Cluster, Idle, NONE, NodeSet, Pass, Pending, Watch};
use crate::site::{Deed, Priorities, Rules, Site};
use drystone_core::model::{JobId, ProcSet, Time};
use drystone_core::policy::{Abilities, Action, Actions, Event, Phase, Policy, View, Why};
use people::People;
use places::Places;
use serde::{Deserialize, Serialize};
use shape::Shape;

/// Slurm's two schedulers.
#[derive(Serialize, Deserialize)]
pub struct Slurm {
    shape: Shape,
    rules: Rules,
    /// Whose jobs they are.
    people: People,
    /// Priorities, before the first event.
    priorities: Option<Priorities>,
    /// Whether it says on which processors jobs start.
    places: bool,
    /// From the first event on: only then the machine's size is known.
    live: Option<Live>,
    #[serde(skip)]
    deeds: Vec<Deed>,
}

/// The site at work.
#[derive(Serialize, Deserialize)]
struct Live {
    site: Site,
    /// The machine without jobs.
    empty: Idle,
    places: Places,
    /// The array that the last job may be a task of.
    array: shape::Arrays,
}

impl Slurm {
    fn new(shape: Shape, rules: Rules, people: People, priorities: Option<Priorities>, places: bool) -> Slurm {
        Slurm { shape, rules, people, priorities, places, live: None, deeds: Vec::new() }
    }

    /// What runs where, from the first event on.
    #[must_use]
    pub fn cluster(&self) -> Option<&Cluster> {
        self.live.as_ref().map(|live| live.site.cluster())
    }

    fn live(&mut self, view: &View<'_>) -> &mut Live {
        let Slurm { shape, rules, priorities, live, .. } = self;
        live.get_or_insert_with(|| {
            let cluster = shape.cluster(view.machine().procs);
            let (empty, places) = (Idle::new(&cluster.machine), Places::new(&cluster.machine));
            let site = Site::new(cluster, rules.clone(), priorities.take());
            Live { site, empty, places, array: shape::Arrays::default() }
        })
    }

    /// The job as Slurm sees it.
    fn pending(&mut self, id: JobId, view: &View<'_>) -> Pending {
        let (job, limit) = (view.job(id), view.prediction(id));
        self.live(view);
        let Slurm { shape, people, live: Some(live), .. } = self else { unreachable!("it was just made") };
        let (assoc, qos) =
            people.of(job, |account, user| live.site.priorities().map(|priorities| priorities.assoc(account, user)));
        let machine = &live.site.cluster().machine;
        let mut pending = shape.pending(id.0, job, limit, machine, &live.empty, people.names());
        (pending.assoc, pending.qos) = (assoc, qos);
        pending
    }

    fn observe_with(&mut self, event: Event, view: &View<'_>) {
        let now = view.now().0;
        match event {
            Event::Arrived(id) => {
                let mut pending = self.pending(id, view);
                let array = self.shape.arrays;
                let live = self.live(view);
                pending.array = if array { live.array.of(&pending, view.job(id)) } else { NONE };
                live.site.submit(now, pending);
            }
            Event::Released(id) => {
                let pending = self.pending(id, view);
                self.live(view).site.release(now, Pending { submit: now, ..pending });
            }
            Event::Runs(id) => {
                let pending = self.pending(id, view);
                let since = now - view.ran(id).0;
                let on = view.processors(id).cloned();
                let live = self.live(view);
                live.site.adopt(now, pending, since);
                if let Some(on) = on {
                    live.places.adopt(id.0, on);
                }
            }
            _ => self.observe_known(event, view),
        }
    }

    /// What is about jobs that it knows.
    fn observe_known(&mut self, event: Event, view: &View<'_>) {
        let now = view.now().0;
        let Some(live) = &mut self.live else { return };
        match event {
            Event::Ended { job, .. } => {
                live.places.free(job.0);
                live.site.end(now, job.0);
            }
            Event::Stopped { job, .. } => {
                live.places.free(job.0);
                live.site.stop(now, job.0);
            }
            Event::Cancelled(job) => live.site.cancel(now, job.0),
            Event::Held(job) => live.site.hold(now, job.0),
            Event::Repredicted { job, .. } if view.phase(job) == Phase::Running => {
                live.site.reschedule(job.0, view.predicted_end(job).0);
            }
            Event::Repredicted { job, .. } => {
                let machine = &live.site.cluster().machine;
                let (job_of, limit) = (view.job(job), view.prediction(job));
                let names = self.people.names();
                let limit = self.shape.pending(job.0, job_of, limit, machine, &live.empty, names).limit;
                live.site.relimit(job.0, limit);
            }
            Event::Capacity => {
                let none = ProcSet::new();
                let out = view.outlook().map_or(&none, |outlook| outlook.offline());
                let nodes: NodeSet = live.places.nodes(out);
                live.places.set_out(out);
                live.site.set_out(now, nodes);
            }
            _ => {}
        }
    }

    /// Makes the passes of this instant, and tells `watch` of them.
    fn decide_with(&mut self, view: &View<'_>, actions: &mut Actions, watch: &mut impl Watch) {
        let (named, Some(live)) = (self.places, &mut self.live) else { return };
        live.site.advance(view.now().0, &mut self.deeds, watch);
        for deed in self.deeds.drain(..) {
            match deed {
                Deed::Start { id, by } => {
                    let why = if by == Pass::Main { Why::Head } else { Why::Backfilled };
                    if named && let Some(running) = live.site.cluster().get(id) {
                        let procs = view.job(JobId(id)).procs;
                        let set = live.places.take(id, &running.alloc, &live.site.cluster().machine, procs);
                        actions.start_on(JobId(id), why, set);
                    } else {
                        actions.start(JobId(id), why);
                    }
                }
                Deed::Requeue(id) => {
                    live.places.free(id);
                    live.site.told(id);
                    actions.push(Action::Requeue(JobId(id)));
                }
                Deed::Kill(id) => {
                    live.places.free(id);
                    actions.push(Action::Kill(JobId(id)));
                }
            }
        }
    }
}

impl Policy for Slurm {
    fn name(&self) -> &str {
        "slurm"
    }

    fn layout(&self) -> u32 {
        2
    }

    fn observe(&mut self, event: Event, view: &View<'_>) {
        if let Event::Arrived(id) | Event::Released(id) = event {
            heard::waits(id.0);
        }
        self.observe_with(event, view);
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        match heard::wanted() {
            Some(job) => self.decide_with(view, actions, &mut heard::Ear::new(job, self.rules.test_micros == 0)),
            None => self.decide_with(view, actions, &mut ()),
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.live.as_ref().and_then(|live| live.site.next_wake()).map(Time)
    }

    fn hears(&self) -> bool {
        self.places
    }

    fn needs(&self) -> Abilities {
        let preempts = self.shape.preempts();
        Abilities { name: self.places, kill: self.rules.kills || preempts, requeue: preempts, ..Abilities::default() }
    }
}
