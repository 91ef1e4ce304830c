//! Use of the machine and the queue.

use super::disruptions::Down;
use crate::model::{EndedJob, JobId, Procs, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The use of the machine by all simulated jobs, counted or not.
///
/// Parts of a workload that are simulated separately each have the machine to themselves: capacity
/// is then added up over the parts, and makespan and period of each lie between its own submits and
/// ends.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MachineUse {
    /// Processors of the machine.
    pub procs: Procs,
    /// First submit; where the simulation began with jobs that were here already, its first
    /// instant.
    pub first_submit: Time,
    /// Last end; the first submit without jobs.
    pub last_end: Time,
    /// Last end − first submit.
    pub makespan: Span,
    /// Processor-seconds of work done: Σ processors × run time received.
    pub work: f64,
    /// Work / processor-seconds of the makespan that were up: processors × makespan without
    /// outages; `None` where that is 0.
    pub utilisation: Option<f64>,
    /// Beginning of the period of the selection. Without trimming the first submit; with Tsafrir's
    /// rule the last skipped termination; with a window its beginning, but not before the first
    /// submit.
    pub period_from: Time,
    /// End of that period: the last submit, or the end of the window if that comes first.
    pub period_until: Time,
    /// Share of processor-seconds used of those that were up in that period; `None` where it is
    /// empty. Where suspension costs time, the run time of a job counts as spread evenly over the
    /// times in which it had its processors.
    pub period_utilisation: Option<f64>,
    /// Jobs ended per hour of the makespan; `None` where that is 0.
    pub throughput_per_hour: Option<f64>,
    /// Processor-seconds of the makespan that were out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub down: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl MachineUse {
    /// The time that the utilisation is of: the makespan, or those of all parts that were simulated
    /// apart.
    #[must_use]
    pub fn busy_time(&self) -> Span {
        match self.utilisation {
            // Parts that were simulated apart have several makespans; the outages of one part are
            // of one makespan.
            Some(share) if share > 0.0 && self.down == 0.0 => {
                Span((self.work / (f64::from(self.procs) * share)).round() as i64)
            }
            _ => self.makespan,
        }
    }
}

/// Work of a job whose size varies, or is another than the preferred.
#[derive(Clone, Copy, Debug)]
struct VariedWork {
    /// Size up to a time, and that time.
    first: (Procs, Time),
    /// Time for which the job was suspended before its first change of size.
    paused: Span,
    /// Processor-seconds from then until its present size.
    later: u128,
    procs: Procs,
    since: Time,
    is_suspended: bool,
}

impl VariedWork {
    fn new(first: (Procs, Time)) -> VariedWork {
        let (procs, since) = first;
        VariedWork { first, paused: Span::ZERO, later: 0, procs, since, is_suspended: false }
    }

    /// Returns the processor-seconds from the end of the first size until `now`.
    fn work_until(&self, now: Time) -> u128 {
        let seconds = if self.is_suspended { Span::ZERO } else { now - self.since };
        self.later + u128::from(self.procs) * u128::from(seconds.0.max(0) as u64)
    }

    /// Processor-seconds of a job that has ended so.
    fn job_work(&self, outcome: &crate::model::JobOutcome) -> u128 {
        let seconds = |from: Time, until: Time| u128::from((until - from).0.max(0) as u64);
        // What it had run before the simulation began is no work of it.
        let begin = outcome.start + outcome.found.unwrap_or(Span::ZERO);
        let first = seconds(begin + self.paused, self.first.1);
        u128::from(self.first.0) * first + self.work_until(outcome.end)
    }
}

/// Adds up [`MachineUse`].
#[derive(Clone, Debug)]
pub(super) struct MachineMeter {
    procs: Procs,
    first_submit: Time,
    last_end: Time,
    jobs: u64,
    work: u128,
    period_work: f64,
    /// First and last submit of the part at work, where parts are simulated apart.
    part: Option<(Time, Time)>,
    /// The makespans of the parts before it.
    makespans: Span,
    /// The periods of the selection in the parts before it.
    counted: Span,
    /// Beginning of the first part's period.
    period_from: Option<Time>,
    /// The last end of the part at work.
    part_end: Time,
    /// Times at which present jobs were suspended and resumed, in turn.
    interruptions: BTreeMap<JobId, Vec<Time>>,
    /// Sizes of present jobs that have another than the preferred.
    sizes: BTreeMap<JobId, VariedWork>,
    /// Processors that were out.
    down: Down,
    /// Processors out in the parts before the current one: over their makespans, and over the
    /// periods of the selection.
    down_before: (f64, f64),
}

impl MachineMeter {
    pub(super) fn new(procs: Procs, first_submit: Time) -> MachineMeter {
        MachineMeter {
            procs,
            first_submit,
            last_end: first_submit,
            jobs: 0,
            work: 0,
            period_work: 0.0,
            part: None,
            makespans: Span::ZERO,
            counted: Span::ZERO,
            period_from: None,
            part_end: first_submit,
            interruptions: BTreeMap::new(),
            sizes: BTreeMap::new(),
            down: Down::default(),
            down_before: (0.0, 0.0),
        }
    }

    #[inline]
    pub(super) fn note_down(&mut self, now: Time, down: Procs) {
        self.down.note_down(now, down);
    }

    /// A job was requeued: what it ran does not count.
    pub(super) fn forget_job(&mut self, id: JobId) {
        self.interruptions.remove(&id);
        self.sizes.remove(&id);
    }

    pub(super) fn note_size(&mut self, now: Time, id: JobId, procs: Procs) {
        self.sizes.insert(id, VariedWork::new((procs, now)));
    }

    /// A running job has the second size instead of the first.
    pub(super) fn note_resize(&mut self, now: Time, id: JobId, (from, to): (Procs, Procs)) {
        let interruptions = self.interruptions.get(&id);
        let work = self.sizes.entry(id).or_insert_with(|| {
            let pauses = interruptions.into_iter().flat_map(|times| times.chunks_exact(2));
            let pause_time = pauses.map(|pause| pause[1] - pause[0]).fold(Span::ZERO, |sum, pause| sum + pause);
            VariedWork { paused: pause_time, ..VariedWork::new((from, now)) }
        });
        work.later = work.work_until(now);
        (work.procs, work.since) = (to, now);
    }

    /// A job is suspended, or resumes.
    pub(super) fn note_interruption(&mut self, now: Time, id: JobId, is_suspended: bool) {
        self.interruptions.entry(id).or_default().push(now);
        if let Some(work) = self.sizes.get_mut(&id) {
            work.later = work.work_until(now);
            (work.since, work.is_suspended) = (now, is_suspended);
        }
    }

    /// A part of the workload follows that is simulated apart, with its first and last submit;
    /// `period` is that of the selection in the part before it.
    pub(super) fn begin_part(&mut self, submits: (Time, Time), period: (Time, Time)) {
        if let Some(before) = self.part {
            self.makespans += self.part_end - before.0;
            let counted_span = span_overlap(before, period);
            self.counted += span_length(counted_span);
            self.period_from.get_or_insert(period.0);
            self.down_before.0 += self.down.sum_between(before.0, self.part_end);
            self.down_before.1 += self.down.sum_between(counted_span.0, counted_span.1);
            self.down = Down::default();
        }
        self.part = Some(submits);
        self.part_end = submits.0;
    }

    /// Counts a job that ended; `period` is the period of the selection as known by now.
    #[inline]
    pub(super) fn take_job(&mut self, job_end: &EndedJob<'_>, period: (Time, Time)) {
        let (outcome, procs) = (job_end.outcome, job_end.job.procs);
        self.jobs += 1;
        self.last_end = self.last_end.max(outcome.end);
        self.part_end = self.part_end.max(outcome.end);
        let period = self.part.map_or(period, |part| span_overlap(part, period));
        // What it had run before the simulation began is no work of it.
        let ran = outcome.ran - outcome.found.unwrap_or(Span::ZERO);
        let mut procs = f64::from(procs);
        if self.sizes.is_empty() {
            self.work += u128::from(job_end.job.procs) * u128::from(ran.0.max(0) as u64);
        } else {
            let work = self.sizes.remove(&job_end.id);
            let work = work
                .map_or(u128::from(job_end.job.procs) * u128::from(ran.0.max(0) as u64), |work| work.job_work(outcome));
            self.work += work;
            procs = if ran > Span::ZERO { work as f64 / ran.as_f64() } else { procs };
        }
        let (mut inside, mut whole) = (Span::ZERO, Span::ZERO);
        let mut had = |from: Time, until: Time| {
            whole += until - from;
            // A period may have no end, or end before it begins: nothing is subtracted from such
            // times.
            let (begin, end) = (from.max(period.0), until.min(period.1));
            if end > begin {
                inside += end - begin;
            }
        };
        let mut from = outcome.start;
        if outcome.suspensions > 0
            && let Some(interruptions) = self.interruptions.remove(&job_end.id)
        {
            for turn in interruptions.chunks(2) {
                had(from, turn[0]);
                // After its last suspension it resumed, or had nothing until it ended.
                from = turn.get(1).copied().unwrap_or(outcome.end);
            }
        }
        had(from, outcome.end);
        if inside > Span::ZERO {
            let share = if outcome.ran == whole {
                inside.as_f64()
            } else {
                inside.as_f64() * (outcome.ran.as_f64() / whole.as_f64())
            };
            self.period_work += procs * share;
        }
    }

    pub(super) fn finish(self, period: (Time, Time)) -> MachineUse {
        let makespan = self.last_end - self.first_submit;
        let (whole, inside) = match self.part {
            None => ((self.first_submit, self.last_end), period),
            Some(last) => ((last.0, self.part_end), span_overlap(last, period)),
        };
        let (busy, counted_time) = (self.makespans + span_length(whole), self.counted + span_length(inside));
        let down = self.down_before.0 + self.down.sum_between(whole.0, whole.1);
        let period_down = self.down_before.1 + self.down.sum_between(inside.0, inside.1);
        let work = self.work as f64;
        let share = |work: f64, span: Span, down: f64| {
            let capacity = f64::from(self.procs) * span.as_f64() - down;
            (capacity > 0.0).then(|| work / capacity)
        };
        MachineUse {
            procs: self.procs,
            first_submit: self.first_submit,
            last_end: self.last_end,
            makespan,
            work,
            utilisation: share(work, busy, down),
            period_from: self.period_from.unwrap_or(period.0),
            period_until: period.1,
            period_utilisation: share(self.period_work, counted_time, period_down),
            throughput_per_hour: (busy > Span::ZERO).then(|| self.jobs as f64 * Span::HOUR.as_f64() / busy.as_f64()),
            down,
        }
    }
}

/// Returns the length of a span of time; nothing where its end comes before its beginning.
fn span_length((from, until): (Time, Time)) -> Span {
    Span(until.0.saturating_sub(from.0).max(0))
}

/// Returns the intersection of two spans of time; empty where its end comes before its beginning.
fn span_overlap(a: (Time, Time), b: (Time, Time)) -> (Time, Time) {
    (a.0.max(b.0), a.1.min(b.1))
}

/// The queue and the free processors over time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct QueueUse {
    /// From the first to the last instant.
    pub whole: QueueStats,
    /// From the first instant to the last submit, without the time in which the machine runs empty.
    pub arriving: QueueStats,
}

/// Time-weighted averages over a span; `None` where it is 0. Backlog and loss of capacity are also
/// `None` where the collector does not know the processors that waiting jobs ask for.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct QueueStats {
    /// The span, in seconds.
    pub span: Span,
    /// Mean number of waiting jobs: those that are here and do not run, suspended ones among them.
    pub mean_waiting_jobs: Option<f64>,
    /// Most jobs that waited at once after all decisions of an instant.
    pub max_waiting_jobs: u64,
    /// Mean backlog: processors that waiting jobs ask for.
    pub mean_waiting_procs: Option<f64>,
    /// Largest backlog.
    pub max_waiting_procs: Option<u64>,
    /// Mean share of the processors that were up which were in use; time in which suspended jobs
    /// are saved or restored included.
    pub mean_used: Option<f64>,
    /// Loss of capacity: share of processor-seconds that were free although jobs waited that could
    /// have filled them, Σ min(free, processors that waiting jobs ask for) · Δt / (processors that
    /// were up × span) (Zhang, Franke, Moreira & Sivasubramaniam 2001). Suspended jobs count as
    /// waiting, even where they can resume on their own processors only.
    pub loss_of_capacity: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Integrals {
    seconds: i64,
    jobs: u128,
    waiting: u128,
    free: u128,
    down: u128,
    lost: u128,
    max_jobs: u64,
    max_waiting: u64,
}

impl Integrals {
    fn finish(&self, procs: Procs, backlog_known: bool) -> QueueStats {
        let seconds = self.seconds as f64;
        let mean = |integral: u128| (self.seconds > 0).then(|| integral as f64 / seconds);
        // Of what was up; without outages that is the machine.
        let up = |integral: u128| match self.down {
            0 => Some(mean(integral)? / f64::from(procs)),
            down => {
                let up = f64::from(procs) * seconds - down as f64;
                (up > 0.0).then(|| integral as f64 / up)
            }
        };
        QueueStats {
            span: Span(self.seconds),
            mean_waiting_jobs: mean(self.jobs),
            max_waiting_jobs: self.max_jobs,
            mean_waiting_procs: mean(self.waiting).filter(|_| backlog_known),
            max_waiting_procs: backlog_known.then_some(self.max_waiting),
            mean_used: up(self.free).map(|free| 1.0 - free),
            loss_of_capacity: up(self.lost).filter(|_| backlog_known),
        }
    }
}

/// Integrates the state of the queue from instant to instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueMeter {
    procs: Procs,
    last_submit: Time,
    /// Time at which the state below came about; `None` before the first instant.
    since: Option<Time>,
    free: Procs,
    down: Procs,
    jobs: u64,
    waiting: u64,
    /// True if every instant reported the backlog.
    backlog_known: bool,
    whole: Integrals,
    /// The integrals up to the last submit, once it has passed.
    arriving: Option<Integrals>,
}

impl QueueMeter {
    pub(super) fn new(procs: Procs, last_submit: Time) -> QueueMeter {
        QueueMeter {
            procs,
            last_submit,
            since: None,
            free: 0,
            down: 0,
            jobs: 0,
            waiting: 0,
            backlog_known: true,
            whole: Integrals::default(),
            arriving: None,
        }
    }

    /// The state after the decisions of an instant. Instants come in order of time.
    #[inline]
    pub(super) fn note_instant(&mut self, now: Time, free: Procs, jobs: u64, waiting: Option<u64>) {
        if let Some(since) = self.since {
            if now > since {
                self.note_most();
            }
            if now > self.last_submit && self.arriving.is_none() {
                // The last submit was an instant itself, so that nothing changed since it.
                let edge = self.last_submit.max(since);
                self.pass_time(edge - since);
                self.arriving = Some(self.whole);
                self.pass_time(now - edge);
            } else {
                self.pass_time(now - since);
            }
        }
        self.backlog_known &= waiting.is_some();
        let waiting_count = waiting.unwrap_or(0);
        self.since = Some(now);
        (self.free, self.jobs, self.waiting) = (free, jobs, waiting_count);
    }

    /// This many processors are out from the instant taken last on.
    #[inline]
    pub(super) fn note_down(&mut self, down: Procs) {
        self.down = down;
    }

    /// The present state is that after all decisions of its instant: a job without run time makes
    /// several.
    fn note_most(&mut self) {
        self.whole.max_jobs = self.whole.max_jobs.max(self.jobs);
        self.whole.max_waiting = self.whole.max_waiting.max(self.waiting);
    }

    /// Lets time pass in the present state.
    fn pass_time(&mut self, span: Span) {
        // Products of 64-bit numbers, so that no 128-bit multiplication is needed.
        let seconds = span.0.max(0) as u64;
        let over = |level: u64| u128::from(level) * u128::from(seconds);
        let sums = &mut self.whole;
        sums.seconds += seconds as i64;
        sums.jobs += over(self.jobs);
        sums.waiting += over(self.waiting);
        sums.free += over(u64::from(self.free));
        if self.down > 0 {
            sums.down += over(u64::from(self.down));
        }
        sums.lost += over(u64::from(self.free).min(self.waiting));
    }

    pub(super) fn finish(mut self) -> Option<QueueUse> {
        self.since?;
        self.note_most();
        Some(QueueUse {
            whole: self.whole.finish(self.procs, self.backlog_known),
            arriving: self.arriving.unwrap_or(self.whole).finish(self.procs, self.backlog_known),
        })
    }
}
