//! Goal-oriented scheduling by search (Chiang & Vasupongayya 2008).
//!
//! At every decision the policy searches the permutations of the waiting jobs for the schedule that the administrator's
//! objective likes best and starts the jobs that this schedule starts now. Nothing else is committed: the next decision
//! searches anew. A permutation is a schedule: its jobs are placed in order, each at the earliest time at which its
//! processors are free for its whole predicted run time.
//!
//! The rules are numbered as in the specification of this study.

mod baseline;
mod measures;
mod objective;
mod parallel;
mod search;
mod settings;
mod steps;
mod task;
mod walker;

pub use measures::Measure;
pub use objective::{Differences, Model, Objective, Version};
pub use search::{Found, Search};
pub use settings::{Branching, Prune, Settings, Traversal};
pub use task::{Candidate, Task};
pub use walker::Effort;

use super::planned::{Believed, Notice, Planned};
use super::{Action, Actions, Event, Gauge, Kind, Param, Phase, Policy, View, Why};
use crate::model::{JobId, Time};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Goal-oriented scheduling.
#[derive(Serialize, Deserialize)]
pub struct Goal {
    settings: Settings,
    running: Believed,
    /// Waiting jobs in the order of their arrival.
    queue: Vec<JobId>,
    #[serde(skip)]
    search: Search,
    #[serde(skip)]
    task: Task,
}

impl Goal {
    /// A policy with an empty queue.
    #[must_use]
    pub fn new(settings: Settings) -> Goal {
        Goal {
            settings,
            running: Believed::new(Notice::Immediate),
            queue: Vec::new(),
            search: Search::default(),
            task: Task::default(),
        }
    }

    fn describe(&mut self, view: &View<'_>) {
        let task = &mut self.task;
        (task.now, task.free) = (view.now(), view.free());
        task.running.clear();
        task.running.extend(self.running.iter().map(|job| (job.end, job.procs)));
        task.waiting.clear();
        task.waiting.extend(self.queue.iter().map(|&id| {
            let job = view.job(id);
            Candidate { submit: job.submit, procs: job.procs, span: view.prediction(id).0 }
        }));
    }
}

impl Policy for Goal {
    fn observe(&mut self, event: Event, view: &View<'_>) {
        match event {
            Event::Arrived(id) => self.queue.push(id),
            Event::Ended { job, predicted_end } => self.running.ended(job, predicted_end, view.now()),
            Event::Repredicted { job, old } if view.phase(job) == Phase::Running => {
                self.running.repredicted(job, old, view);
            }
            Event::Cancelled(id) => self.queue.retain(|&waiting| waiting != id),
            Event::Repredicted { .. } | Event::Woken => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.running.notice_ends();
        self.running.extend_overdue(view);
        // Whatever the best schedule is, it starts nobody now who does not fit the free processors.
        if !self.queue.iter().any(|&id| view.job(id).procs <= view.free()) {
            return;
        }
        self.describe(view);
        let found = self.search.run(&self.task, &self.settings, view.stopwatch());
        let (effort, exhausted) = (found.effort, i64::from(found.exhausted));
        let mut note = |gauge, value| actions.push(Action::Note { gauge, value });
        note(Gauge::Nodes, effort.nodes as i64);
        note(Gauge::Paths, effort.paths as i64);
        note(Gauge::Improvements, effort.improvements as i64);
        note(Gauge::Exhausted, exhausted);
        let mut starts = found.starts.iter();
        let Goal { queue, running, .. } = self;
        queue.retain(|&id| {
            let now = starts.next() == Some(&0);
            if now {
                actions.start(id, Why::Planned);
                running.start(&Planned { start: view.now(), ..Planned::new(id, view) }, view);
            }
            !now
        });
    }

    fn time_limit(&self) -> Option<Duration> {
        self.settings.budget
    }

    fn next_wake(&self) -> Option<Time> {
        // What is planned for later starts when somebody ends.
        None
    }
}

/// Goal-oriented scheduling.
pub(crate) static GOAL: Kind = Kind {
    name: "goal",
    summary: "at every decision a search for the schedule that serves the objective best",
    source: "Chiang & Vasupongayya 2008",
    params: &[
        Param {
            name: "objective",
            default: "tradeoff(Tw:avgX)",
            values: "tradeoff(M:M...)|lexical(M>M...), M: maxW|Tw|Tw(50h)|avgW|avgX|areaW|unused|late(24h)",
            meaning: "what is minimised, may stand alone as in `goal(lexical(Tw>avgX))`: relative changes added up, or the \
                      first measure that differs; longest wait, wait beyond that of the oldest job or beyond a threshold, \
                      average wait, slowdown and wait weighted by processors, unused processor-seconds, late starts",
        },
        Param {
            name: "version",
            default: "a",
            values: "a|b|c",
            meaning: "what a trade-off is relative to: the best schedule so far, the smaller of both, or what backfilling \
                      would achieve",
        },
        Param {
            name: "diff",
            default: "relaxed",
            values: "relaxed|strict",
            meaning: "where measures disagree, differences below 1 % do not count, or every difference counts",
        },
        Param {
            name: "search",
            default: "auto",
            values: "auto|dds-lxf|dds-fcfs|lds-lxf|lds-fcfs",
            meaning: "depth-bounded or limited discrepancy search, branching by slowdown or arrival; auto: dds-fcfs for \
                      lexical(maxW>...), else dds-lxf",
        },
        Param {
            name: "nodes",
            default: "auto",
            values: "auto|all|a number",
            meaning: "most nodes placed per decision; the heuristic path is always completed; auto: 4000, all with budget",
        },
        Param {
            name: "budget",
            default: "none",
            values: "none|50ms|2s",
            meaning: "most time per decision, for live use: results then depend on the speed of the machine",
        },
        Param {
            name: "prune",
            default: "earliest",
            values: "never|placed|earliest",
            meaning: "subtrees that cannot be better are given up: never, by the jobs placed, or also by the earliest \
                      possible starts of the others",
        },
        Param {
            name: "threads",
            default: "1",
            values: "a number from 1 to 1024",
            meaning: "threads that search; results do not depend on it",
        },
    ],
    unnamed: Some("objective"),
    variants: &[],
    build: |args| Ok(Box::new(Goal::new(Settings::build(args)?))),
};
