//! Conservative backfilling: every job is promised a start when it arrives, and the promise is held.
//!
//! Rules 4–8 of the specification after Talby & Feitelson 1999, section 2: a new job is planned at the earliest place that
//! disturbs no other; when a job ends early, all waiting jobs are taken out of the plan and put back in the order of their
//! planned starts, each at its earliest place (compression). No job's start moves back by that. Replanning in any other
//! order would break promises.
//!
//! A plan counts whole seconds: a job that is predicted to run for no time has its processors for the second of its start, and
//! whoever would fit a gap but for that second does not.
//!
//! The same is done where a prediction changes or a running job outlives the end that the plan has it at: that plan may be
//! impossible. Then starts can move back, too, and a promise may be broken.

use super::planned::{Believed, Notice, Planned, compress};
use super::{Actions, Event, Kind, Param, Phase, Policy, Takes, Variant, View, Why};
use crate::model::{JobId, Span, Time};
use crate::parts::Profile;
use serde::{Deserialize, Serialize};

/// Conservative backfilling.
///
/// With w waiting jobs and s steps in the plan, an arrival costs O(s + w) and an early end O(w·s).
#[derive(Serialize, Deserialize)]
pub struct Conservative {
    /// Free processors with running jobs and all plans taken away.
    profile: Profile,
    running: Believed,
    /// Waiting jobs by planned start, then arrival.
    plan: Vec<Planned>,
    /// Jobs that have arrived since the last decision.
    fresh: Vec<JobId>,
    /// Something has changed that the plan does not show yet.
    stale: bool,
}

impl Conservative {
    /// A policy with an empty plan.
    #[must_use]
    pub fn new(notice: Notice) -> Conservative {
        Conservative {
            profile: Profile::new(Time::MIN, 0),
            running: Believed::new(notice),
            plan: Vec::new(),
            fresh: Vec::new(),
            stale: true,
        }
    }

    /// Takes all waiting jobs out and puts them back in the order of their planned starts.
    fn replan(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.running.fill(&mut self.profile, view, view.free());
        compress(&mut self.plan, &mut self.profile, view.now(), |job, _| announce(job, actions));
        self.stale = false;
    }
}

impl Policy for Conservative {
    fn name(&self) -> &str {
        "conservative"
    }

    fn observe(&mut self, event: Event, view: &View<'_>) {
        match event {
            Event::Arrived(id) => self.fresh.push(id),
            Event::Ended { job, predicted_end } => self.running.ended(job, predicted_end, view.now()),
            Event::Repredicted { job, old } => {
                self.stale = true;
                if view.phase(job) == Phase::Running {
                    self.running.repredicted(job, old, view);
                } else if let Some(waiting) = self.plan.iter_mut().find(|p| p.id == job) {
                    waiting.span = view.prediction(job).max(Span(1));
                }
            }
            Event::Released(id) => self.fresh.push(id),
            Event::Stopped { job, predicted_end } => {
                self.running.stopped(job, predicted_end);
                self.stale = true;
            }
            Event::Runs(id) => {
                self.running.runs(id, view);
                self.stale = true;
            }
            Event::Capacity => {
                self.running.woken();
                self.stale = true;
            }
            Event::Cancelled(id) | Event::Held(id) => {
                self.plan.retain(|p| p.id != id);
                self.fresh.retain(|&fresh| fresh != id);
                self.stale = true;
            }
            Event::Woken => self.running.woken(),
            Event::Parked(_) => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let due = self.plan.first().is_some_and(|p| p.start <= now);
        if !self.running.looks_up(now, due || !self.fresh.is_empty()) {
            return;
        }
        // On a live cluster a start may come late: what was planned behind it has to wait as long.
        self.stale |= self.plan.first().is_some_and(|p| p.start < now);
        self.stale |= self.running.notice_ends();
        self.stale |= self.running.extend_overdue(view);
        if self.stale {
            self.replan(view, actions);
        } else {
            self.profile.advance(now);
        }
        for id in self.fresh.drain(..) {
            let mut job = Planned::new(id, view);
            job.place(&mut self.profile, now);
            if job.start > now {
                // A start at once needs no promise.
                announce(&job, actions);
            }
            let place = self.plan.partition_point(|p| p.key() < job.key());
            self.plan.insert(place, job);
        }
        let due = self.plan.partition_point(|p| p.start <= now);
        for job in self.plan.drain(..due) {
            actions.start(job.id, Why::Planned);
            self.running.start(&job, view);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.running.wake(self.plan.first().map(|p| p.start), false)
    }

    fn hears(&self) -> bool {
        true
    }
}

/// Says where a job is planned. One that has no place in the plan, because too many processors are out and nobody knows for
/// how long, is promised nothing.
fn announce(job: &Planned, actions: &mut Actions) {
    if job.start < Time::MAX {
        actions.reserve(job.id, job.start);
    }
}

/// Conservative backfilling.
pub(crate) static CONSERVATIVE: Kind = Kind {
    name: "conservative",
    summary: "every job is promised a start when it arrives, and the promise is held",
    source: "Feitelson & Weil 1998; rules after Talby & Feitelson 1999, section 2",
    params: &[Param::new(
        "notice",
        "immediate",
        &[Takes::Words(&["immediate", "late"])],
        "early ends are noticed at once, or at the next arrival, planned start or predicted end",
    )
    .study()],
    needs: &[],
    unnamed: None,
    variants: &[Variant {
        name: "talby1999",
        sets: "notice=late",
        meaning: "the simulator behind Talby & Feitelson 1999, table 1",
    }],
    build: &|args| Ok(Box::new(Conservative::new(args.choose("notice", Notice::NAMES)?))),
};
