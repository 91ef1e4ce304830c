//! The document. Times are seconds since 1970 by the machine's clock.

use super::BoardSource;
use crate::cluster::{Ending, JobState, NodeState};
use crate::daemon::budget::Budget;
use crate::daemon::desk::LiveDesk;
use crate::daemon::stats::{PersonNote, Stats};
use crate::tracker::{AnnouncedStart, DaemonMode, Tracked, TrackedPlace};
use drystone::model::{JobId, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows of each table at most.
const ROWS: usize = 300;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LiveDocument {
    /// The name of this form.
    pub schema: &'static str,
    /// The version that writes it.
    pub drystone: &'static str,
    pub cluster: String,
    pub mode: DaemonMode,
    pub policy: String,
    /// True if the policy places jobs on nodes, false if it counts processors.
    pub on_nodes: bool,
    /// The daemon's name of itself.
    pub instance: String,
    /// Time of writing.
    pub at: i64,
    pub health: Health,
    /// Each set of nodes, where there are several: what follows is of all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SetState>,
    pub machine: MachineSummary,
    /// Jobs by where they are.
    pub jobs: BTreeMap<&'static str, u64>,
    /// Pending jobs that are the cluster's to start, by why.
    pub left_out: BTreeMap<String, usize>,
    /// Reason why no starts are foretold, if there is one.
    pub not_foretold: Option<String>,
    /// Jobs that wait, in the order of their arrival.
    pub waiting: Vec<WaitingRow>,
    /// Jobs that run, in the order of their starts.
    pub running: Vec<RunningRow>,
    /// Jobs that are over, the last one first.
    pub finished: Vec<FinishedRow>,
}

/// State of one of several sets of nodes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SetState {
    /// Its name: its partitions.
    pub name: String,
    /// True if released jobs do not start although there is room.
    pub stalled: bool,
    /// Number of differences between the books and the last look.
    pub differences: u64,
    /// Jobs in flight: ordered and not seen yet.
    pub in_flight: u64,
    pub machine: MachineSummary,
    /// Jobs by where they are.
    pub jobs: BTreeMap<&'static str, u64>,
    /// Pending jobs that are the cluster's to start, by why.
    pub left_out: BTreeMap<String, usize>,
    /// Reason why no starts are foretold, if there is one.
    pub not_foretold: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Health {
    /// True if the cluster does not answer.
    pub silent: bool,
    /// True if released jobs do not start although there is room.
    pub stalled: bool,
    /// Number of differences between the books and the last look.
    pub differences: u64,
    /// Average processor time of a look, in milliseconds.
    pub look_ms: f64,
    /// Time from look to look, in milliseconds.
    pub period_ms: f64,
    /// Share of a core that looks take.
    pub core_share: f64,
    /// Processor time of all looks so far, in seconds.
    pub processor_s: f64,
    /// Jobs in flight: ordered and not seen yet.
    pub in_flight: u64,
    pub counters: Stats,
    /// Notes for people, the last one first.
    pub notes: Vec<PersonNote>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MachineSummary {
    pub procs: u32,
    pub free: u32,
    /// Those that are out.
    pub offline: u32,
    pub nodes: usize,
    /// Nodes that are up.
    pub up: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WaitingRow {
    /// Set of nodes, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The cluster's name of it.
    pub job: String,
    pub user: String,
    pub procs: u32,
    /// Its time limit in seconds.
    pub limit: i64,
    /// Predicted run time, in seconds.
    pub predicted: Option<i64>,
    pub submit: i64,
    /// Reason why it is held back, if it is.
    pub held: Option<&'static str>,
    /// Start by sampled futures, once there is an answer.
    pub foretold: Option<ForetoldRow>,
    /// Planned start, if the policy plans one.
    pub planned: Option<i64>,
    /// Start that was promised, if any.
    pub promised: Option<i64>,
    /// Start that the policy wanted, in shadow mode.
    pub wanted: Option<i64>,
}

/// Start of a waiting job by sampled futures, corrected by past answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ForetoldRow {
    /// One start in twenty is earlier; nothing where that is not within 14 days.
    pub p05: Option<i64>,
    /// One in two is earlier; nothing where that is not within 14 days.
    pub p50: Option<i64>,
    /// Nine in ten are earlier; nothing where that is not within 14 days.
    pub p90: Option<i64>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunningRow {
    /// Set of nodes, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The cluster's name of it.
    pub job: String,
    pub user: String,
    pub procs: u32,
    /// Start time.
    pub since: Option<i64>,
    /// Predicted end.
    pub ends: Option<i64>,
    /// State: running, suspended, or in transition.
    pub state: &'static str,
    /// The start that was promised first.
    pub promised: Option<i64>,
    /// Start that the policy wanted, in shadow mode.
    pub wanted: Option<i64>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FinishedRow {
    /// Set of nodes, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The cluster's name of it.
    pub job: String,
    pub user: String,
    pub procs: u32,
    pub submit: i64,
    /// Start time; `None` if it was withdrawn.
    pub started: Option<i64>,
    /// Time at which its end was seen.
    pub ended: Option<i64>,
    pub ending: Option<Ending>,
    /// The start that was promised first, and when that was promised.
    pub promised: Option<(i64, i64)>,
    /// Start that the policy wanted.
    pub wanted: Option<i64>,
}

/// One set of nodes as a source of rows.
struct SetSource<'a> {
    desk: &'a LiveDesk,
    /// Its session's time.
    now: Time,
    /// The machine's clock.
    wall: i64,
    /// Its name, where there are several.
    name: Option<String>,
}

impl LiveDocument {
    pub(super) fn from_source(source: &BoardSource<'_>) -> LiveDocument {
        let BoardSource { sets, stats, config, wall, budget } = source;
        let several = sets.len() > 1;
        let set_sources: Vec<SetSource<'_>> = sets
            .iter()
            .map(|&(desk, now)| SetSource { desk, now, wall: *wall, name: several.then(|| desk.driven_set().name()) })
            .collect();
        let states: Vec<SetState> = set_sources.iter().map(set_state).collect();
        let mut jobs = BTreeMap::new();
        let mut left_out = BTreeMap::new();
        let mut machine = MachineSummary { procs: 0, free: 0, offline: 0, nodes: 0, up: 0 };
        for state in &states {
            state.jobs.iter().for_each(|(&place, count)| *jobs.entry(place).or_insert(0) += count);
            state.left_out.iter().for_each(|(reason, count)| *left_out.entry(reason.clone()).or_insert(0) += count);
            machine.add_summary(&state.machine);
        }
        let in_flight = states.iter().map(|state| state.in_flight).sum();
        LiveDocument {
            schema: "drystone/live/1",
            drystone: env!("CARGO_PKG_VERSION"),
            cluster: config.cluster.clone(),
            mode: config.mode,
            policy: config.policy.canonical_text(),
            on_nodes: sets.first().is_some_and(|(desk, _)| desk.core().tracker().settings().on_nodes),
            instance: config.instance.clone(),
            at: *wall,
            health: assess_health(budget, in_flight, stats),
            machine,
            jobs,
            left_out,
            not_foretold: states.iter().find_map(|state| state.not_foretold.clone()),
            waiting: merge_rows(&set_sources, waiting_rows, |row| (row.held.is_some(), row.submit)),
            running: merge_rows(&set_sources, running_rows, |row| (row.since.is_none(), row.since.unwrap_or(0))),
            finished: merge_rows(&set_sources, finished_rows, |row| (false, -row.ended.unwrap_or(0))),
            sets: if several { states } else { Vec::new() },
        }
    }
}

impl MachineSummary {
    fn add_summary(&mut self, summary: &MachineSummary) {
        self.procs += summary.procs;
        self.free += summary.free;
        self.offline += summary.offline;
        self.nodes += summary.nodes;
        self.up += summary.up;
    }
}

/// Rows of all sets; those of one set stay in their order.
fn merge_rows<R>(
    sources: &[SetSource<'_>],
    rows: impl Fn(&SetSource<'_>) -> Vec<R>,
    order: impl Fn(&R) -> (bool, i64),
) -> Vec<R> {
    let mut all_rows: Vec<R> = sources.iter().flat_map(rows).collect();
    if sources.len() > 1 {
        all_rows.sort_by_key(order);
        all_rows.truncate(ROWS);
    }
    all_rows
}

fn set_state(of: &SetSource<'_>) -> SetState {
    let (core, tracker) = (of.desk.core(), of.desk.core().tracker());
    let mut jobs = BTreeMap::new();
    let mut in_flight = 0;
    for job in tracker.jobs() {
        in_flight += u64::from(job.flight.is_some());
        *jobs.entry(place_name(job)).or_insert(0) += 1;
    }
    let nodes = || tracker.mirror().nodes();
    let (mut free, mut offline) = (core.session().free_processors(), core.session().offline_processors());
    if tracker.is_blind() {
        // The controller has just begun: a node that it has not heard of is not free.
        let up = || nodes().filter(|node| node.state == NodeState::Up);
        offline = tracker.layout().procs().saturating_sub(up().map(|node| node.procs).sum());
        free = free.min(up().map(|node| node.procs.saturating_sub(node.busy)).sum());
    }
    SetState {
        name: of.desk.driven_set().name(),
        stalled: of.desk.is_stalled(),
        differences: of.desk.difference_count(),
        in_flight,
        machine: MachineSummary {
            procs: tracker.layout().procs(),
            free,
            offline,
            nodes: tracker.layout().len(),
            up: nodes().filter(|node| node.state == NodeState::Up).count(),
        },
        jobs,
        left_out: of.desk.left_out(),
        not_foretold: of.desk.forecasts().problem().map(str::to_string),
    }
}

fn place_name(job: &Tracked) -> &'static str {
    match job.place {
        TrackedPlace::Absent => "foreign",
        TrackedPlace::Waiting => "waiting",
        TrackedPlace::Held => "held",
        TrackedPlace::Running => "running",
        TrackedPlace::Suspended => "suspended",
        TrackedPlace::Interrupted => "suspended by others",
        TrackedPlace::Done => "done",
    }
}

fn assess_health(budget: &Budget, in_flight: u64, stats: &Stats) -> Health {
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1_000.0;
    let mut counters = stats.clone();
    let notes = std::mem::take(&mut counters.notes);
    Health {
        silent: stats.silent,
        stalled: stats.stalled,
        differences: stats.differences,
        look_ms: ms(budget.mean_cost()),
        period_ms: ms(budget.look_period()),
        core_share: budget.mean_cost().as_secs_f64() / budget.look_period().as_secs_f64(),
        processor_s: budget.total_cost().as_secs_f64(),
        in_flight,
        counters,
        notes: notes.into_iter().rev().collect(),
    }
}

/// The session's time as the machine's clock has it.
fn wall_time(of: &SetSource<'_>, time: Time) -> i64 {
    time.0.saturating_sub(of.now.0).saturating_add(of.wall)
}

fn announced_start(of: &SetSource<'_>, promise: Option<AnnouncedStart>) -> Option<i64> {
    promise.map(|promise| wall_time(of, promise.start))
}

fn foretell_start(of: &SetSource<'_>, id: JobId) -> Option<ForetoldRow> {
    let start = of.desk.forecasts().job_forecast(id)?;
    let moment = |time: Option<Time>| time.map(|time| wall_time(of, time));
    Some(ForetoldRow { p05: moment(start.early), p50: moment(start.likely), p90: moment(start.late) })
}

fn waiting_rows(of: &SetSource<'_>) -> Vec<WaitingRow> {
    let (tracker, view) = (of.desk.core().tracker(), of.desk.core().session().view());
    let mut jobs: Vec<&Tracked> =
        tracker.jobs().filter(|t| matches!(t.place, TrackedPlace::Waiting | TrackedPlace::Held)).collect();
    jobs.sort_by_key(|job| (job.why.is_some(), job.id));
    let row = |t: &&Tracked| {
        let job = t.job.as_ref()?;
        Some(WaitingRow {
            set: of.name.clone(),
            job: t.key.name(),
            user: tracker.users().name_of(job.user).to_string(),
            procs: job.procs,
            limit: job.estimate.0,
            predicted: t.id.filter(|&id| id >= view.oldest_job()).map(|id| view.prediction(id).0),
            submit: wall_time(of, job.submit),
            held: t.why.map(super::super::tracker::HoldReason::reason_text),
            foretold: t.id.and_then(|id| foretell_start(of, id)),
            planned: announced_start(of, t.story.planned),
            promised: t.story.promised.filter(|promise| promise.latest < Time::MAX).map(|p| wall_time(of, p.latest)),
            wanted: t.story.wanted.map(|time| wall_time(of, time)),
        })
    };
    jobs.iter().take(ROWS).filter_map(row).collect()
}

fn running_rows(of: &SetSource<'_>) -> Vec<RunningRow> {
    let (tracker, view) = (of.desk.core().tracker(), of.desk.core().session().view());
    let live =
        |t: &&Tracked| matches!(t.place, TrackedPlace::Running | TrackedPlace::Suspended | TrackedPlace::Interrupted);
    let mut jobs: Vec<&Tracked> = tracker.jobs().filter(live).collect();
    jobs.sort_by_key(|job| (job.story.started, job.id));
    let row = |t: &&Tracked| {
        let job = t.job.as_ref()?;
        let job_state = tracker.mirror().job_fact(t.key).map(|fact| fact.state);
        let state = match (t.flight, t.place, job_state) {
            (Some(_), _, _) => "on its way",
            (None, TrackedPlace::Running, Some(JobState::Running)) => "runs",
            (None, TrackedPlace::Running, _) => "starts",
            (None, TrackedPlace::Suspended, _) => "suspended by the policy",
            _ => "suspended by others",
        };
        Some(RunningRow {
            set: of.name.clone(),
            job: t.key.name(),
            user: tracker.users().name_of(job.user).to_string(),
            procs: job.procs,
            since: t.story.started.or(t.story.decided).map(|time| wall_time(of, time)),
            ends: t
                .id
                .filter(|&id| t.place == TrackedPlace::Running && id >= view.oldest_job())
                .map(|id| wall_time(of, view.predicted_end(id))),
            state,
            promised: announced_start(of, t.story.promised),
            wanted: t.story.wanted.map(|time| wall_time(of, time)),
        })
    };
    jobs.iter().take(ROWS).filter_map(row).collect()
}

fn finished_rows(of: &SetSource<'_>) -> Vec<FinishedRow> {
    let tracker = of.desk.core().tracker();
    let recent: Vec<&crate::tracker::FinishedJob> = tracker.recent_jobs().collect();
    let row = |job: &&crate::tracker::FinishedJob| FinishedRow {
        set: of.name.clone(),
        job: job.key.name(),
        user: tracker.users().name_of(job.user).to_string(),
        procs: job.procs,
        submit: wall_time(of, job.submit),
        started: job.story.started.map(|time| wall_time(of, time)),
        ended: job.story.ended.map(|(time, _)| wall_time(of, time)),
        ending: job.story.ended.map(|(_, ending)| ending),
        promised: job.story.promised.map(|promise| (wall_time(of, promise.start), wall_time(of, promise.at))),
        wanted: job.story.wanted.map(|time| wall_time(of, time)),
    };
    recent.iter().rev().take(ROWS).map(row).collect()
}
