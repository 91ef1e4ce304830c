//! Place of decisions: finds the open question at a pass, applies an answer, fills the gaps.
//! Environments and learned policies share it, so that an agent does in a comparison what it did in
//! training.

use crate::features::{MACHINE, Scale};
use crate::options::{Act, EnvOptions, Fill, Rows};
use crate::queue::{DeskJob, QueueRows};
use drystone::model::{JobId, Procs, SharedSort, Span, Time};
use drystone::parts::formula::{Moment, WaitingFacts};
use drystone::parts::{BackfillFit, ExtraRule, Order, RunningJob, Shadow};
use drystone::policy::{Action, Actions, StartReason, View};

/// A job that is next, and blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct BlockedJob {
    job: JobId,
    procs: Procs,
    /// Planned start, where it need not be computed again.
    shadow: Option<Shadow>,
}

/// Position up to which the queue was searched without a fit, and the processors free then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Looked {
    jobs: usize,
    free: Procs,
    shadow: Shadow,
}

/// Shadow of a blocked job, and the state of the machine for which it holds.
#[derive(Clone, Copy, Debug)]
struct ForeseenStart {
    job: JobId,
    /// Number of running jobs.
    running: usize,
    free: Procs,
    /// Earliest predicted end of a running job: no prediction is corrected before.
    until: Time,
    shadow: Shadow,
}

#[derive(Clone, Debug)]
pub(crate) struct AgentDesk {
    act: Act,
    fill: Fill,
    rows_rule: Rows,
    window: usize,
    base: Order,
    patience: Span,
    most_rejections: u32,
    /// True if the start of a blocked job is announced.
    announces: bool,
    pub(crate) queue: QueueRows,
    /// Places in the queue of the jobs that have a row.
    pub(crate) rows: Vec<u32>,
    blocked: Option<BlockedJob>,
    looked: Option<Looked>,
    foreseen: Option<ForeseenStart>,
    /// Free processors, less what this pass has started.
    pub(crate) free: Procs,
    started: Vec<RunningJob>,
    /// The agent waits until something happens.
    waits: bool,
    /// The job that was put off at this pass.
    put_off: Option<JobId>,
    /// Number of times each waiting job was put off.
    rejected: Vec<(u32, u32)>,
    /// Time to ask again about a job that was put off.
    wake: Option<Time>,
    /// Room to sort in.
    order: Vec<(i64, u32)>,
}

/// Effect of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeskAnswer {
    Taken,
    /// It named no row, or a job that does not fit: nothing was done.
    Impossible,
}

impl AgentDesk {
    pub(crate) fn new(options: &EnvOptions, announces: bool) -> AgentDesk {
        AgentDesk {
            act: options.act,
            fill: options.fill,
            rows_rule: options.rows,
            window: options.window as usize,
            base: options.base.clone(),
            patience: Span(i64::from(options.patience)),
            most_rejections: options.rejections,
            announces,
            queue: QueueRows::default(),
            rows: Vec::new(),
            blocked: None,
            looked: None,
            foreseen: None,
            free: 0,
            started: Vec::new(),
            waits: false,
            put_off: None,
            rejected: Vec::new(),
            wake: None,
            order: Vec::new(),
        }
    }

    /// Takes processors for a job that starts without a question.
    pub(crate) fn take_processors(&mut self, procs: Procs) {
        self.free -= procs;
        self.foreseen = None;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.rejected.clear();
        (self.blocked, self.looked, self.foreseen, self.wake) = (None, None, None, None);
    }

    pub(crate) fn begin_pass(&mut self, view: &View<'_>) {
        self.free = view.free_processors();
        self.started.clear();
        (self.waits, self.put_off, self.wake) = (false, None, None);
    }

    /// Returns the latest time of the next pass.
    pub(crate) fn wake_time(&self) -> Option<Time> {
        self.wake
    }

    /// A job has left the queue otherwise.
    pub(crate) fn remove(&mut self, id: JobId) {
        if let Some(at) = self.queue.find_position(id) {
            self.queue.remove(at);
            self.looked = None;
        }
        self.forget_rejections(id);
        if self.blocked.is_some_and(|head| head.job == id) {
            self.blocked = None;
        }
    }

    /// Marks the knowledge of the queue as out of date.
    pub(crate) fn look_again(&mut self) {
        self.looked = None;
    }

    fn forget_rejections(&mut self, id: JobId) {
        self.rejected.retain(|&(job, _)| job != id.0);
    }

    /// Returns whether the agent is asked now. If not, all that there is to do at this pass has
    /// been done.
    pub(crate) fn is_agent_asked(&mut self, view: &View<'_>, actions: &mut Actions) -> bool {
        if let Some(head) = self.blocked {
            if head.procs > self.free {
                self.fill_around(head, view, actions);
                return false;
            }
            self.blocked = None;
            self.looked = None;
            if let Some(at) = self.queue.find_position(head.job) {
                self.start_job(at, StartReason::Head, view, actions);
            }
        }
        match self.act {
            Act::Pick => !self.queue.is_empty(),
            Act::StartOrWait => !self.waits && self.queue.jobs.iter().any(|job| job.procs <= self.free),
            Act::Accept => self.propose_job(view, actions),
        }
    }

    /// The order's first job, put into the first row; starts what is no question.
    fn propose_job(&mut self, view: &View<'_>, actions: &mut Actions) -> bool {
        loop {
            let Some(at) = self.find_first(view) else { return false };
            let DeskJob { id, procs, .. } = self.queue.jobs[at];
            let id = JobId(id);
            if procs > self.free {
                let blocked_job = BlockedJob { job: id, procs, shadow: None };
                self.fill_around(blocked_job, view, actions);
                return false;
            }
            if self.put_off == Some(id) {
                return false;
            }
            let often = self.rejected.iter().find(|(job, _)| *job == id.0).map_or(0, |(_, often)| *often);
            if often < self.most_rejections {
                self.choose_rows();
                self.rows.retain(|&row| row as usize != at);
                self.rows.insert(0, at as u32);
                self.rows.truncate(self.window);
                return true;
            }
            self.start_job(at, StartReason::Head, view, actions);
        }
    }

    /// The place of the first job in the base order.
    fn find_first(&self, view: &View<'_>) -> Option<usize> {
        let places = 0..self.queue.len();
        if self.base == Order::Fcfs {
            return places.into_iter().next();
        }
        let machine = f64::from(view.machine().procs);
        let now = (view.current_time() - view.first_submit()).as_f64();
        let load = (machine - f64::from(self.free)) / machine;
        let moment = Moment { now, load, waiting: self.queue.len() as f64, shares: None };
        let key = |&at: &usize| {
            let DeskJob { submit, prediction, id, procs, .. } = self.queue.jobs[at];
            let (id, prediction) = (JobId(id), Span(prediction));
            let facts = || {
                let job = view.job(id);
                WaitingFacts {
                    run: prediction.as_f64(),
                    estimate: job.estimate.as_f64(),
                    procs: f64::from(procs),
                    submit: (job.submit - view.first_submit()).as_f64(),
                    user: job.user,
                    group: job.group,
                    queue: job.queue,
                    machine,
                    ..WaitingFacts::default()
                }
            };
            match &self.base {
                Order::Lxf => {
                    let wait_seconds = (view.current_time().0 - submit) as f64;
                    // The largest expansion first; in units that keep the order of close ones.
                    (-(wait_seconds / prediction.as_f64().max(1.0)) * 1e6) as i64
                }
                Order::Formula(formula) => formula.key_at_moment(&facts(), &moment),
                order => order.queue_key(procs, prediction, id, facts),
            }
        };
        places.min_by_key(|at| (key(at), *at))
    }

    pub(crate) fn choose_rows(&mut self) {
        let (jobs, window) = (self.queue.len(), self.window);
        let AgentDesk { rows, order, queue, .. } = self;
        rows.clear();
        if jobs <= window {
            rows.extend(0..jobs as u32);
            return;
        }
        match self.rows_rule {
            Rows::Head => rows.extend(0..window as u32),
            Rows::HeadAndTail => {
                let head = window.div_ceil(2);
                rows.extend(0..head as u32);
                rows.extend((jobs - (window - head)) as u32..jobs as u32);
            }
            Rows::Shortest => {
                order.clear();
                order.extend(queue.jobs.iter().map(|job| job.prediction).zip(0..));
                order.select_nth_unstable(window - 1);
                rows.extend(order[..window].iter().map(|&(_, at)| at));
                rows.sort_unstable();
            }
            Rows::ShortestAndSmallest => {
                let mut is_chosen = vec![false; jobs];
                order.clear();
                order.extend(queue.jobs.iter().map(|job| job.prediction).zip(0..));
                order.sort_unstable();
                let mut narrow: Vec<(Procs, u32)> = queue.jobs.iter().map(|job| job.procs).zip(0..).collect();
                narrow.sort_unstable();
                for (&(_, short), &(_, small)) in order.iter().zip(&narrow) {
                    for at in [short, small] {
                        if rows.len() < window && !std::mem::replace(&mut is_chosen[at as usize], true) {
                            rows.push(at);
                        }
                    }
                }
            }
        }
    }

    /// Brings the rows up to date for a question. Where jobs are proposed they are already.
    pub(crate) fn prepare_rows(&mut self) {
        if self.act != Act::Accept {
            self.choose_rows();
        }
    }

    /// Writes which actions are possible.
    pub(crate) fn write_mask(&self, view: &View<'_>, mask: &mut [bool]) {
        match self.act {
            Act::Pick => {
                let (jobs, empty) = mask.split_at_mut(self.rows.len());
                jobs.fill(true);
                empty.fill(false);
            }
            Act::StartOrWait => {
                let (wait, rows) = mask.split_last_mut().map_or((None, &mut [][..]), |(last, rest)| (Some(last), rest));
                rows.fill(false);
                for (can, &at) in rows.iter_mut().zip(&self.rows) {
                    *can = self.queue.jobs[at as usize].procs <= self.free;
                }
                if let Some(wait) = wait {
                    *wait = self.can_wait(view);
                }
            }
            Act::Accept => mask.fill(true),
        }
    }

    /// Returns whether anything will happen without the agent; otherwise jobs would wait for ever.
    fn can_wait(&self, view: &View<'_>) -> bool {
        !view.running_jobs().is_empty() || !self.started.is_empty()
    }

    /// Writes what there is to see; `before` rows were written there the last time. Returns how
    /// many are now.
    pub(crate) fn write_observation(
        &self,
        scale: &Scale,
        view: &View<'_>,
        before: usize,
        jobs: &mut [f32],
        machine: &mut [f32],
    ) -> usize {
        scale.write_rows(&self.queue, &self.rows, view.current_time(), self.free, before, jobs);
        debug_assert_eq!(machine.len(), MACHINE);
        scale.write_machine(
            self.queue.len(),
            self.window,
            view.current_time(),
            self.free,
            view.running_jobs(),
            machine,
        );
        self.rows.len()
    }

    pub(crate) fn apply_answer(&mut self, action: usize, view: &View<'_>, actions: &mut Actions) -> DeskAnswer {
        match self.act {
            Act::Pick => {
                let Some(&at) = self.rows.get(action) else { return DeskAnswer::Impossible };
                let DeskJob { id, procs, .. } = self.queue.jobs[at as usize];
                if procs <= self.free {
                    self.start_job(at as usize, StartReason::Head, view, actions);
                } else {
                    self.blocked = Some(BlockedJob { job: JobId(id), procs, shadow: None });
                    self.looked = None;
                }
            }
            Act::StartOrWait if action == self.window => {
                if !self.can_wait(view) {
                    return DeskAnswer::Impossible;
                }
                self.waits = true;
            }
            Act::StartOrWait => match self.rows.get(action) {
                Some(&at) if self.queue.jobs[at as usize].procs <= self.free => {
                    self.start_job(at as usize, StartReason::Backfilled, view, actions);
                }
                _ => return DeskAnswer::Impossible,
            },
            Act::Accept => {
                let Some(&at) = self.rows.first().filter(|_| action < 2) else { return DeskAnswer::Impossible };
                if action == 1 {
                    self.start_job(at as usize, StartReason::Head, view, actions);
                } else {
                    self.reject_job(JobId(self.queue.jobs[at as usize].id), view.current_time());
                }
            }
        }
        DeskAnswer::Taken
    }

    fn reject_job(&mut self, id: JobId, now: Time) {
        match self.rejected.iter_mut().find(|(job, _)| *job == id.0) {
            Some((_, often)) => *often += 1,
            None => self.rejected.push((id.0, 1)),
        }
        self.put_off = Some(id);
        self.wake = Some(now + self.patience);
    }

    fn start_job(&mut self, at: usize, reason: StartReason, view: &View<'_>, actions: &mut Actions) {
        let DeskJob { id, procs, prediction, .. } = self.queue.remove(at);
        let id = JobId(id);
        (self.looked, self.foreseen) = (None, None);
        self.free -= procs;
        self.started.push(RunningJob { end: view.current_time() + Span(prediction), id, procs });
        if !self.rejected.is_empty() {
            self.forget_rejections(id);
        }
        actions.start_job(id, reason);
    }

    /// Returns the shadow of a blocked job. In an environment the shadow stays the same until a job
    /// starts, ends or outlives its prediction; a real machine also changes in other ways.
    fn find_shadow(&mut self, head: BlockedJob, view: &View<'_>) -> Option<Shadow> {
        let (job, free) = (head.job, self.free);
        let running_count = view.running_jobs().len() + self.started.len();
        if let Some(before) = self.foreseen
            && (before.job, before.running, before.free) == (job, running_count, free)
            && view.current_time() < before.until
        {
            return Some(before.shadow);
        }
        self.started.sort_shared_by_key(|job| (job.end, job.id));
        let missing = head.procs - free;
        let shadow = view.running_jobs().shadow_with(&self.started, missing, ExtraRule::All, Time::MIN)?;
        if !self.announces {
            let ends = [self.started.first().copied(), view.running_jobs().first_ending()];
            let until = ends.iter().flatten().map(|job| job.end).min().unwrap_or(Time::MIN);
            self.foreseen = Some(ForeseenStart { job, running: running_count, free, until, shadow });
        }
        Some(shadow)
    }

    /// Starts what does not delay a blocked job.
    fn fill_around(&mut self, head: BlockedJob, view: &View<'_>, actions: &mut Actions) {
        if self.fill == Fill::Nothing && !self.announces {
            return;
        }
        let shadow = match head.shadow {
            Some(shadow) => shadow,
            None => {
                let Some(shadow) = self.find_shadow(head, view) else { return };
                // RLScheduler asks once, when the job becomes the next.
                if self.fill == Fill::Short && self.blocked == Some(head) {
                    self.blocked = Some(BlockedJob { shadow: Some(shadow), ..head });
                }
                if self.announces {
                    let (job, latest) = (head.job, Time::MAX);
                    actions.push(Action::Reserve { job, start: shadow.time, latest });
                }
                shadow
            }
        };
        if self.fill == Fill::Nothing {
            return;
        }
        let mut fit = BackfillFit { free: self.free, window: shadow.time - view.current_time(), extra: shadow.extra };
        if self.fill == Fill::Short {
            // Over before that time, however few processors it needs.
            (fit.window, fit.extra) = (fit.window - Span(1), 0);
        }
        let same = Looked { jobs: 0, free: self.free, shadow };
        // What did not fit before does not fit now: only the window has shrunk since.
        let mut at = match self.looked {
            Some(look) if Looked { jobs: 0, ..look } == same => look.jobs.min(self.queue.len()),
            _ => 0,
        };
        while let Some(next) = self.next_fit(at, fit) {
            at = next;
            let DeskJob { id, procs, prediction, .. } = self.queue.jobs[at];
            if JobId(id) == head.job {
                at += 1;
                continue;
            }
            fit.free -= procs;
            if Span(prediction) > fit.window {
                fit.extra -= procs;
            }
            self.start_job(at, StartReason::Backfilled, view, actions);
        }
        let extra = if self.fill == Fill::Short { shadow.extra } else { fit.extra };
        self.looked = Some(Looked { jobs: self.queue.len(), free: self.free, shadow: Shadow { extra, ..shadow } });
    }

    /// The first job from a place on that may start.
    fn next_fit(&self, from: usize, fit: BackfillFit) -> Option<usize> {
        if fit.free == 0 {
            return None;
        }
        let fits = |job: &DeskJob| fit.can_start(job.procs, Span(job.prediction));
        self.queue.jobs.get(from..)?.iter().position(fits).map(|at| from + at)
    }
}
