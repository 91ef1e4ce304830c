//! Goal-oriented scheduling by search (Chiang & Vasupongayya 2008).
//!
//! At every decision the policy searches the permutations of the waiting jobs for the schedule that
//! the administrator's objective likes best and starts the jobs that this schedule starts now.
//! Nothing else is committed: the next decision searches again. A permutation is a schedule: its
//! jobs are placed in order, each at the earliest time at which its processors are free for its
//! whole predicted run time.
//!
//! The rules are numbered as in the specification of this study.

mod baseline;
mod horizon;
mod local;
mod measures;
mod objective;
mod parallel;
mod rules;
mod search;
mod settings;
mod steps;
mod table;
mod task;
mod usage;
mod walker;
mod weights;

pub use crate::room::search_nodes::GoalNodes;
pub use measures::{GoalMeasure, SpecialJobs};
pub use objective::{Differences, GoalObjective, ObjectiveModel, Version};
pub use search::{FoundSchedule, GoalSearch};
pub use settings::{Branching, GoalSettings, PathReuse, PlanRunTime, Prune, Traversal};
pub use task::{GoalCandidate, GoalOwner, GoalTask, ResourceShares};
pub use walker::TreeEffort;

use super::{Action, Actions, Gauge, Param, Phase, Policy, PolicyEvent, PolicyKind, StartReason, Takes, Variant, View};
use crate::model::{JobId, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, Rater};
use crate::parts::{NodeSeat, Order};
use crate::room::planned::{Believed, Notice, OVERDUE, PlannedJob};
use crate::room::{LastingRoom, OpenRoom, SeatNamer};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Duration;
use usage::{UsageRecord, WindowUsage};

/// Goal-oriented scheduling.
#[derive(Serialize, Deserialize)]
pub struct GoalPolicy {
    settings: GoalSettings,
    running: Believed,
    /// Waiting jobs in the order of their arrival.
    queue: Vec<JobId>,
    /// Waiting jobs that are not looked at, by arrival: all came after those of the queue.
    beyond: VecDeque<JobId>,
    /// The jobs of the last best path that did not start, in its order. Kept where it is reused.
    last: Vec<JobId>,
    /// Kept where the objective looks back.
    usage: WindowUsage,
    /// Order of branches, where that is not the heuristic of the search.
    rater: Option<Rater>,
    /// Kept where its formula asks for it.
    shares: Option<Shares>,
    #[serde(skip)]
    search: GoalSearch,
    #[serde(skip)]
    task: GoalTask,
}

impl GoalPolicy {
    /// A policy with an empty queue.
    #[must_use]
    pub fn new(settings: GoalSettings) -> GoalPolicy {
        let rater = settings.order.clone().map(Rater::new);
        GoalPolicy {
            shares: rater.as_ref().and_then(Rater::initial_shares),
            rater,
            settings,
            running: Believed::new(Notice::Immediate),
            queue: Vec::new(),
            beyond: VecDeque::new(),
            last: Vec::new(),
            usage: WindowUsage::default(),
            search: GoalSearch::default(),
            task: GoalTask::default(),
        }
    }

    fn describe_task(&mut self, view: &View<'_>) {
        let task = &mut self.task;
        (task.now, task.free) = (view.current_time(), view.free_processors());
        task.running.clear();
        task.running.extend(self.running.iter().map(|job| (job.end, job.procs)));
        task.levels.clear();
        task.held.clear();
        task.asks.clear();
        task.supply.clear();
        if let Some(resources) = view.resources() {
            task.levels.extend_from_slice(resources.levels());
            task.held.extend(self.running.iter().map(|job| view.demanded_amounts(job.id).to_vec()));
            task.asks.extend(self.queue.iter().map(|&id| view.demanded_amounts(id).to_vec()));
        }
        task.nodes = GoalNodes::beside_running(&self.running, &self.queue, view);
        task.changes.clear();
        let running_jobs = &self.running;
        let believed_end = |id| running_jobs.end_of(id, view).max(view.current_time() + Span(1));
        if let Some(outlook) = view.outlook() {
            outlook.capacity_changes(view.current_time(), believed_end, &mut task.changes);
            task.supply.extend_from_slice(outlook.supply_changes());
        }
        task.waiting.clear();
        task.waiting.extend(self.queue.iter().map(|&id| {
            let job = view.job(id);
            let owner = GoalOwner { user: job.user, group: job.group, queue: job.queue };
            let (span, run) = (self.settings.plan.placed_span(id, view).0, view.prediction(id).0);
            GoalCandidate { submit: job.submit, procs: job.procs, span, run, owner }
        }));
        task.shares.clear();
        if self.settings.objective.weighs_shares() {
            task.shares.extend(self.queue.iter().map(|&id| {
                let procs = ResourceShares::scale_share(view.job(id).procs.into(), view.machine().procs.into());
                let processor_shares = ResourceShares { dominant: procs, ..ResourceShares::default() };
                view.resources().map_or(processor_shares, |resources| {
                    let [gpus, memory, dominant] =
                        resources.demand_shares(view.job(id).demand).map(|(a, of)| ResourceShares::scale_share(a, of));
                    ResourceShares { gpus, memory, dominant: dominant.max(procs) }
                })
            }));
        }
        if let Some(window) = self.settings.objective.fair_window() {
            self.usage.by_user(&self.running, view, window, &mut task.usage);
        }
        // The queue is in the order of arrival, and so are the numbers.
        let place = |id: &JobId| self.queue.binary_search(id).ok().map(|place| place as u32);
        task.last.clear();
        task.last.extend(self.last.iter().filter_map(place));
        task.ranked.clear();
        if let Some(rater) = &self.rater {
            let ranked_positions = rater.rank_jobs(&self.queue, self.shares.as_mut(), view);
            task.ranked.extend(ranked_positions.into_iter().map(|place| place as u32));
        }
    }
}

impl PlanRunTime {
    /// Returns the time for which a job that has not started is placed; at least 1 s.
    fn placed_span(self, id: JobId, view: &View<'_>) -> Span {
        let prediction = view.prediction(id).max(Span(1));
        match self {
            PlanRunTime::Prediction => prediction,
            PlanRunTime::Estimate => view.job(id).estimate.max(prediction),
        }
    }
}

impl Policy for GoalPolicy {
    fn name(&self) -> &str {
        "goal"
    }

    fn set_threads(&mut self, threads: u32) {
        self.settings.threads = threads.clamp(1, settings::MOST_THREADS);
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) => self.beyond.push_back(id),
            PolicyEvent::Ended { job, predicted_end } => {
                self.running.note_end(job, predicted_end, view.current_time());
                if let Some(shares) = &mut self.shares {
                    ranking::account_usage(shares, job, view);
                }
                if let Some(window) = self.settings.objective.fair_window() {
                    let (user, procs) = (view.job(job).user, i64::from(view.job(job).procs));
                    self.usage.note_end(
                        UsageRecord { user, procs, from: view.segment_start(job), to: view.current_time() },
                        window,
                    );
                }
            }
            PolicyEvent::Repredicted { job, old } if view.phase(job) == Phase::Running => match self.settings.plan {
                PlanRunTime::Prediction => {
                    self.running.note_prediction(job, old, view);
                }
                PlanRunTime::Estimate => self.running.note_prolonged_end(job, old, view),
            },
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => {
                self.queue.retain(|&waiting| waiting != id);
                if let Ok(at) = self.beyond.binary_search(&id) {
                    self.beyond.remove(at);
                }
            }
            PolicyEvent::Released(id) if self.beyond.front().is_some_and(|&first| first < id) => {
                self.beyond.insert(self.beyond.partition_point(|&waiting| waiting < id), id);
            }
            PolicyEvent::Released(id) => self.queue.insert(self.queue.partition_point(|&waiting| waiting < id), id),
            PolicyEvent::Stopped { job, predicted_end } => self.running.note_stop(job, predicted_end),
            PolicyEvent::Runs(id) => self.running.note_foreign_start(id, view),
            PolicyEvent::Repredicted { .. }
            | PolicyEvent::Woken
            | PolicyEvent::Parked(_)
            | PolicyEvent::Capacity
            | PolicyEvent::Resized { .. }
            | PolicyEvent::Asks { .. } => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.running.notice_ends(|_| {});
        self.running.extend_overdue(view, |_, _| {});
        let aside = self.set_aside(view);
        self.search_and_start(view, actions);
        if !aside.is_empty() {
            self.queue.extend(aside);
            self.queue.sort_unstable();
        }
    }

    fn time_limit(&self) -> Option<Duration> {
        self.settings.budget
    }

    fn next_wake(&self) -> Option<Time> {
        // What is planned for later starts when a job ends.
        None
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        true
    }

    fn places_on_nodes(&self) -> bool {
        true
    }
}

impl GoalPolicy {
    /// Takes those out of the queue that no schedule can hold: too many processors are out, and it
    /// is not known for how long. Others come into sight in their place.
    fn set_aside(&mut self, view: &View<'_>) -> Vec<JobId> {
        let Some(outlook) = view.outlook() else {
            self.show_more(|_| false);
            return Vec::new();
        };
        let (room, plan) = (LastingRoom::beside_running(&self.running, outlook, view), self.settings.plan);
        let is_lost = |id: JobId| !room.can_meet(view.job_need(id), plan.placed_span(id, view), view.current_time());
        let mut aside: Vec<JobId> = self.queue.extract_if(.., |id| is_lost(*id)).collect();
        aside.extend(self.show_more(is_lost));
        aside
    }

    /// Takes jobs from beyond until the queue is as long as it may be. Returns those that are lost.
    fn show_more(&mut self, is_lost: impl Fn(JobId) -> bool) -> Vec<JobId> {
        let depth = self.settings.depth.map_or(usize::MAX, |depth| depth as usize);
        let mut aside = Vec::new();
        while self.queue.len() < depth
            && let Some(next) = self.beyond.pop_front()
        {
            if is_lost(next) { &mut aside } else { &mut self.queue }.push(next);
        }
        aside
    }

    fn search_and_start(&mut self, view: &View<'_>, actions: &mut Actions) {
        // Whatever the best schedule is, it starts no job now for which too little is free.
        let free = OpenRoom::of_now(view);
        if !self.queue.iter().any(|&id| free.has_room(view.job_need(id))) {
            return;
        }
        self.describe_task(view);
        let schedule = self.search.run(&self.task, &self.settings, view.stopwatch());
        let (effort, exhausted_count) = (schedule.effort, i64::from(schedule.exhausted));
        let mut note = |gauge, value| actions.push(Action::Note { gauge, value });
        note(Gauge::Nodes, effort.nodes as i64);
        note(Gauge::Paths, effort.paths as i64);
        note(Gauge::Improvements, effort.improvements as i64);
        note(Gauge::Exhausted, exhausted_count);
        let mut starts = schedule.starts.iter();
        let seats = self.task.find_seats(&schedule);
        let (mut namer, anywhere) = (SeatNamer::default(), NodeSeat::default());
        let GoalPolicy { settings, queue, running, last, .. } = self;
        if settings.reuse != PathReuse::No {
            let waits = schedule.path.iter().filter(|&&place| schedule.starts[place as usize] > 0);
            last.clear();
            last.extend(waits.map(|&place| queue[place as usize]));
        }
        queue.retain(|&id| {
            let now = starts.next() == Some(&0);
            if now {
                let span = settings.plan.placed_span(id, view);
                let (end, seat) = (view.current_time().saturating_add(span), seats.get(&id).unwrap_or(&anywhere));
                namer.start_job((id, StartReason::Planned), end, seat, view, actions);
                running.start_job(&PlannedJob { start: view.current_time(), span, ..PlannedJob::new(id, view) }, view);
            }
            !now
        });
    }
}

pub(crate) static GOAL: PolicyKind = PolicyKind {
    name: "goal",
    summary: "at every decision a search for the schedule that serves the objective best",
    source: "Chiang & Vasupongayya 2008",
    params: &[
        Param::new("objective", "tradeoff(Tw:avgX)", &[GoalObjective::TAKES], "objective to minimise, may stand alone as in `goal(lexical(Tw>avgX))`: relative changes added up, or the \
                      first measure that differs; longest wait, wait beyond that of the oldest job or beyond a threshold, \
                      average wait, slowdown and wait weighted by processors, unused processor-seconds, late starts, \
                      waits weighted by how little their users had recently, waits of a user, group or queue"),
        Param::new("version", "a", &[Takes::Words(&["a", "b", "c"])], "reference of a trade-off: the best schedule so far, the smaller of both, or that of backfilling").for_studies(),
        Param::new("diff", "relaxed", &[Takes::Words(&["relaxed", "strict"])], "differences that count if measures disagree: those of 1 % and more, or all").for_studies(),
        Param::new(
            "order",
            "auto",
            &[Takes::Words(&["auto"]), Order::TAKES],
            "the order in which branches are tried, in place of slowdown or arrival; auto: as `search` says",
        )
        .for_experts(),
        Param::new("search", "auto", &[Takes::Words(&["auto", "dds-lxf", "dds-fcfs", "lds-lxf", "lds-fcfs"])], "depth-bounded or limited discrepancy search, branching by slowdown or arrival; auto: dds-fcfs for \
                      lexical(maxW>...), else dds-lxf").for_experts(),
        Param::new("nodes", "auto", &[Takes::Words(&["auto", "all"]), Takes::Whole { from: 0, to: u64::MAX }], "most nodes placed per decision; the heuristic path is always completed; auto: 4000, all with budget"),
        Param::new("budget", "none", &[Takes::Words(&["none"]), settings::DURATION], "most time per decision, for live use: results then depend on the speed of the machine"),
        Param::new("prune", "earliest", &[Takes::Words(&["never", "placed", "earliest", "beside"])], "subtrees that cannot be better are given up: never, by the jobs placed, or also by the earliest \
                      possible starts of the others, beside the running jobs or at branchings also beside the placed ones").for_experts(),
        Param::new("reuse", "no", &[Takes::Words(&["no", "branch", "seed"])], "the best path of the decision before, newcomers last: forgotten, the order of branches, or tried after \
                      the heuristic path").for_experts(),
        Param::new("local", "0", &[Takes::Whole { from: 0, to: 100 }], "percent of the nodes that are kept for a local search from the best path of the tree").for_experts(),
        Param::new("horizon", "all", &[Takes::Words(&["all"]), Takes::COUNT], "number of waiting jobs that are searched, the first in the order of branches; the others follow in that order behind \
                      the best schedule of these"),
        Param::new(
            "depth",
            "100",
            &[Takes::Words(&["all"]), Takes::COUNT],
            "number of waiting jobs considered, the first by arrival; all: every job, which takes long on long queues",
        ),
        OVERDUE,
        Param::new("plan", "prediction", &[Takes::Words(&["prediction", "estimate"])], "run time for which jobs are placed; slowdowns always count the predicted one").for_experts(),
    ],
    needs: &[],
    unnamed: Some("objective"),
    variants: &[Variant {
        name: "chiang2008",
        sets: "overdue=again,depth=all",
        meaning: "Chiang & Vasupongayya 2008, whose jobs end by their estimates: exact per decision against an independent search",
    }],
    build: &|args| {
        // What becomes of predictions is the forecast's affair; a mistake in the word is found
        // here.
        args.get::<String>("overdue")?;
        Ok(Box::new(GoalPolicy::new(GoalSettings::from_args(args)?)))
    },
};
