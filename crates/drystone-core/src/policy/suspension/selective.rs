//! SS and TSS: rules S3 to S9.

mod placed;
mod seating;
mod ticks;
mod victims;

use super::amounts::PassLevels;
use super::means::ForceLimits;
use super::news::{AnnouncedWindows, have_common_processor};
use super::pool::RangePool;
use super::processors::Processors;
use super::ratio::DecimalRatio;
use super::settings::{FreshPlace, SuspensionFactor, SuspensionSettings};
use super::task::{SuspensionTask, believed_length};
use super::tuner::Tuner;
use crate::model::{JobId, ProcSet, Procs, Time};
use crate::policy::{Abilities, Action, Actions, Policy, PolicyEvent, StartReason, View};
use serde::{Deserialize, Serialize};

/// Selective suspension: an idle job may suspend running ones if its expansion factor is SF times
/// theirs.
///
/// With q idle and r running jobs, a pass after a completion costs O(q), and O(q log q) if a job
/// starts; after nothing but arrivals it looks at the newcomers only; the preemption routine costs
/// O(q·(log q + r)). It runs only when an expansion factor may have crossed what it needs: a tick
/// at which nothing can change is slept through.
#[derive(Serialize, Deserialize)]
pub struct SelectivePolicy {
    settings: SuspensionSettings,
    factor: DecimalRatio,
    tuner: Option<Tuner>,
    limits: ForceLimits,
    machine: Procs,
    processors: Option<Processors>,
    /// Waiting and suspended jobs. Those that arrived since the last pass are the last `newcomers`.
    idle: Vec<SuspensionTask>,
    newcomers: usize,
    /// Ascending by priority, start of segment, arrival.
    running: Vec<SuspensionTask>,
    /// Jobs suspended in this pass; empty between passes.
    stopped: Vec<SuspensionTask>,
    /// True if more than arrivals happened since the last pass, so that any job may start.
    changed: bool,
    wake: Option<Time>,
    #[serde(skip)]
    pool: RangePool,
    #[serde(skip)]
    victims: Vec<usize>,
    #[serde(skip)]
    ahead: AnnouncedWindows,
    /// Resources beyond processors, in a pass.
    #[serde(skip)]
    amounts: PassLevels,
    /// Processors that the job which is looked at must not be on: they go before it ends.
    #[serde(skip)]
    barred: ProcSet,
    /// Processors found on nodes for the job which is looked at, once its victims have gone.
    #[serde(skip)]
    picked: Option<ProcSet>,
}

impl SelectivePolicy {
    /// A policy with these choices.
    #[must_use]
    pub fn new(settings: SuspensionSettings) -> SelectivePolicy {
        let (factor, tuner) = match settings.factor {
            SuspensionFactor::Fixed(factor) => (factor, None),
            SuspensionFactor::Auto { target } => (DecimalRatio::from_whole(2), Some(Tuner::new(target))),
        };
        SelectivePolicy {
            limits: ForceLimits::new(settings.limit.clone(), settings.limit_on, settings.limit_of, settings.only),
            settings,
            factor,
            tuner,
            machine: 0,
            processors: None,
            idle: Vec::new(),
            newcomers: 0,
            running: Vec::new(),
            stopped: Vec::new(),
            changed: false,
            wake: None,
            pool: RangePool::default(),
            victims: Vec::new(),
            ahead: AnnouncedWindows::default(),
            amounts: PassLevels::default(),
            barred: ProcSet::new(),
            picked: None,
        }
    }

    /// Returns whether a job must resume where it was.
    #[inline]
    fn is_pinned(&self, task: &SuspensionTask) -> bool {
        task.has_run() && !self.settings.migrate
    }

    /// Returns whether a running job is not to be suspended, whatever job asks.
    #[inline]
    fn is_sheltered(&self, task: &SuspensionTask) -> bool {
        self.settings.cap.is_some_and(|cap| task.suspensions >= cap)
            || self.limits.is_sheltered(task)
            || self.is_lost_on(&task.set)
    }

    /// Returns whether no job gains by others leaving these processors: some are out, or go too
    /// soon, or are shared.
    #[inline]
    fn is_lost_on(&self, set: &ProcSet) -> bool {
        have_common_processor(set, &self.barred) || self.processors.as_ref().is_some_and(|p| p.are_no_gain(set))
    }

    /// Returns whether an idle job cannot run now, whatever runs, because of announced windows.
    #[inline]
    fn is_ruled_out(&self, at: usize, now: Time) -> bool {
        let task = &self.idle[at];
        self.ahead.rules_out(task, self.is_pinned(task), self.machine, now)
    }

    /// Asks something about an idle job as if the processors were not there that go before its end.
    /// Where these are too many, the answer is that it cannot run.
    fn ask_without_barred<T: Default>(
        &mut self,
        at: usize,
        now: Time,
        ask: impl FnOnce(&mut SelectivePolicy) -> T,
    ) -> T {
        if self.is_ruled_out(at, now) {
            return T::default();
        }
        let barred_procs = self.ahead.barred_processors(&self.idle[at], now);
        if barred_procs.is_empty() {
            return ask(self);
        }
        let without = self.processors.as_ref().map(|processors| processors.without_barred(&barred_procs));
        let all_processors = std::mem::replace(&mut self.processors, without);
        self.barred = barred_procs;
        let answer = ask(self);
        self.barred = ProcSet::new();
        self.processors = all_processors;
        answer
    }

    fn note_end(&mut self, id: JobId, view: &View<'_>) {
        let Some(at) = self.running.iter().position(|t| t.id == id) else { return };
        let task = self.running.remove(at);
        self.limits.learn_completion(&task, view.current_time());
        if let Some(factor) = self.tuner.as_mut().and_then(Tuner::note_completion) {
            self.factor = factor;
        }
        if self.running.iter().any(|rival| rival.has_common_processor(&task)) {
            // Another scheduler had started two jobs on the same processors.
            self.look_anew(view);
        } else if let Some(processors) = &mut self.processors {
            processors.release_set(&task.set);
            if processors.are_shared(&task.set) {
                processors.share_anew(self.running.iter().map(|t| &t.set));
            }
        }
        self.changed = true;
    }

    /// A job has left the policy's hands, running or suspended.
    fn note_stop(&mut self, id: JobId, view: &View<'_>) {
        if let Some(at) = self.running.iter().position(|t| t.id == id) {
            self.running.remove(at);
        } else {
            self.note_withdrawal(id);
        }
        self.look_anew(view);
    }

    /// Another scheduler has put a job where it is.
    fn note_foreign_job(&mut self, id: JobId, runs: bool, view: &View<'_>) {
        let task = SuspensionTask::from_foreign(id, view);
        if runs {
            self.insert_running(task);
        } else {
            self.idle.push(task);
            self.newcomers += 1;
        }
        self.look_anew(view);
    }

    /// Recomputes the free processors and their owners.
    fn look_anew(&mut self, view: &View<'_>) {
        self.machine = view.machine().procs;
        let out = view.outlook().map(|outlook| outlook.offline_processors().clone()).unwrap_or_default();
        let owners = self.idle.iter().filter(|t| self.is_pinned(t)).map(|t| &t.set);
        self.processors = Some(Processors::from_sets(self.machine, self.running.iter().map(|t| &t.set), owners, out));
        self.changed = true;
    }

    fn note_withdrawal(&mut self, id: JobId) {
        let Some(at) = self.idle.iter().position(|t| t.id == id) else { return };
        self.newcomers -= usize::from(at + self.newcomers >= self.idle.len());
        let task = self.idle.remove(at);
        if self.is_pinned(&task)
            && let Some(processors) = &mut self.processors
        {
            processors
                .disown_set(&task.set, self.idle.iter().filter(|t| t.has_common_processor(&task)).map(|t| &t.set));
        }
        self.changed = true;
    }

    fn note_prediction(&mut self, id: JobId, view: &View<'_>) {
        let length = believed_length(view.prediction(id));
        if let Some(task) = self.idle.iter_mut().find(|t| t.id == id) {
            task.length = length;
        } else if let Some(at) = self.running.iter().position(|t| t.id == id) {
            let task = self.running.remove(at);
            self.insert_running(SuspensionTask { length, ..task });
        }
        self.changed = true;
    }

    fn insert_running(&mut self, task: SuspensionTask) {
        let at = self.running.partition_point(|rival| rival.gives_way_before(&task).is_lt());
        self.running.insert(at, task);
    }

    /// Returns whether as many processors are free as an idle job needs, whichever they are, and
    /// everything else that it takes.
    #[inline]
    fn is_room_for(&self, at: usize) -> bool {
        self.processors.as_ref().is_some_and(|p| self.idle[at].procs <= p.free_pool().len())
            && self.amounts.can_serve(&self.idle[at])
    }

    /// Rule S7 around announced windows.
    fn start_beside(&mut self, at: usize, now: Time) -> Option<ProcSet> {
        if !self.is_room_for(at) {
            return None;
        }
        self.ask_without_barred(at, now, |policy| policy.plain_start(at, now))
    }

    /// Returns whether [`SelectivePolicy::plain_start`] finds a start.
    fn can_start(&mut self, at: usize, now: Time) -> bool {
        let (task, need) = (&self.idle[at], self.idle[at].procs);
        let Some(processors) = &self.processors else { return false };
        need <= processors.free_pool().len() && self.amounts.can_serve(task) && self.has_seat(at, now)
    }

    /// Rule S6: how many processors a fresh job has without victims.
    fn available_procs(&mut self, at: usize, preempting: bool, now: Time) -> Procs {
        let Some(processors) = &self.processors else { return 0 };
        match self.settings.place {
            FreshPlace::Never if preempting => processors.free_pool().len(),
            FreshPlace::Strict | FreshPlace::Never => processors.open_pool().len(),
            FreshPlace::Avoid | FreshPlace::Lowest | FreshPlace::Contiguous => processors.free_pool().len(),
            FreshPlace::PrioritySf | FreshPlace::Priority => {
                self.fill_pool(at, 0, now);
                self.pool.len()
            }
        }
    }

    /// The free processors that a fresh job prefers or is confined to, with those of the last
    /// `victims` that were stopped.
    fn fill_pool(&mut self, at: usize, victims: usize, now: Time) {
        let Some(processors) = &self.processors else { return };
        let factor = match self.settings.place {
            FreshPlace::PrioritySf => self.factor,
            FreshPlace::Priority => DecimalRatio::from_whole(1),
            _ => {
                self.pool.copy_from(processors.open_pool());
                let own = self.stopped.len() - victims;
                self.stopped[own..].iter().for_each(|victim| self.pool.insert(&victim.set));
                return;
            }
        };
        let mine = self.idle[at].idle_priority(now);
        self.pool.copy_from(processors.free_pool());
        let (earlier_stopped, own) = self.stopped.split_at(self.stopped.len() - victims);
        for owner in self.idle.iter().filter(|t| t.has_run()).chain(earlier_stopped) {
            if !mine.is_at_least(factor, owner.idle_priority(now)) {
                self.pool.remove(&owner.set);
            }
        }
        own.iter().for_each(|victim| self.pool.insert(&victim.set));
    }

    /// The processors that a fresh job gets in a plain start, or where the last `victims` of the
    /// stopped jobs are its own.
    fn choose_processors(&mut self, at: usize, victims: Option<usize>, now: Time) -> Option<ProcSet> {
        let need = self.idle[at].procs;
        let place = match self.settings.place {
            FreshPlace::Never if victims.is_none() => FreshPlace::Strict,
            place => place,
        };
        let victims = victims.unwrap_or(0);
        let processors = self.processors.as_ref()?;
        if processors.free_pool().len() < need {
            return None;
        }
        match place {
            FreshPlace::Strict if victims == 0 => {
                return (processors.open_pool().len() >= need).then(|| processors.open_pool().lowest_processors(need));
            }
            FreshPlace::Lowest => return Some(processors.free_pool().lowest_processors(need)),
            FreshPlace::Contiguous => {
                return Some(
                    processors
                        .free_pool()
                        .best_run(need)
                        .unwrap_or_else(|| processors.free_pool().lowest_processors(need)),
                );
            }
            _ => self.fill_pool(at, victims, now),
        }
        if self.pool.len() >= need {
            return Some(self.pool.lowest_processors(need));
        }
        if !matches!(place, FreshPlace::Avoid | FreshPlace::Never) {
            return None;
        }
        let preferred_set = self.pool.lowest_processors(need);
        let mut other_free = self.processors.as_ref()?.free_pool().clone();
        other_free.remove_all(&self.pool);
        Some(preferred_set.union(&other_free.lowest_processors(need - preferred_set.len())))
    }

    fn start_task(&mut self, at: usize, set: ProcSet, reason: StartReason, now: Time, actions: &mut Actions) {
        let mut task = self.idle.remove(at);
        let is_pinned = self.is_pinned(&task);
        self.amounts.take_amounts(&task);
        self.amounts.seat_task(&mut task, &set);
        if let Some(processors) = &mut self.processors {
            if is_pinned {
                let co_owners = self.idle.iter().chain(&self.stopped).filter(|t| t.has_common_processor(&task));
                processors.reoccupy_set(&set, co_owners.map(|t| &t.set));
            } else {
                processors.occupy_set(&set);
            }
        }
        if !task.has_run() {
            actions.start_on(task.id, reason, set.clone());
        } else if is_pinned {
            actions.push(Action::Resume(task.id));
        } else {
            actions.resume_on(task.id, set.clone());
        }
        task.run_on(set, now, self.machine);
        self.insert_running(task);
    }

    fn suspend_running(&mut self, at: usize, now: Time, actions: &mut Actions) {
        let mut task = self.running.remove(at);
        task.stop_run(now);
        self.amounts.give_back(&task);
        actions.push(Action::Suspend(task.id));
        if let Some(tuner) = &mut self.tuner {
            tuner.note_suspension();
        }
        if let Some(processors) = &mut self.processors {
            if self.settings.migrate {
                processors.release_set(&task.set);
            } else {
                processors.hold_set(&task.set);
            }
            if processors.are_shared(&task.set) {
                processors.share_anew(self.running.iter().map(|t| &t.set));
            }
        }
        self.stopped.push(task);
    }

    /// Rule S7, DISPATCH: every job that may start without suspending another, in order of
    /// priority.
    fn dispatch_jobs(&mut self, now: Time, actions: &mut Actions) -> bool {
        let mut at = 0;
        if self.changed || self.settings.place.changes_with_time() {
            let can_start = (0..self.idle.len())
                .any(|i| self.is_room_for(i) && self.ask_without_barred(i, now, |policy| policy.can_start(i, now)));
            if !can_start {
                return false;
            }
            self.sort_idle(now);
        } else {
            // A job that was there already is blocked by the same processors as before.
            at = self.idle.len() - self.newcomers;
        }
        let before = self.idle.len();
        while at < self.idle.len() {
            match self.start_beside(at, now) {
                Some(set) => self.start_task(
                    at,
                    set,
                    if at == 0 { StartReason::Head } else { StartReason::Backfilled },
                    now,
                    actions,
                ),
                None => at += 1,
            }
        }
        self.idle.len() < before
    }
}

impl Policy for SelectivePolicy {
    fn name(&self) -> &str {
        "selective-suspension"
    }

    fn layout(&self) -> u32 {
        3
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) => {
                self.machine = view.machine().procs;
                self.processors.get_or_insert_with(|| Processors::new(self.machine));
                self.idle.push(SuspensionTask::from_arrival(id, view));
                self.newcomers += 1;
            }
            PolicyEvent::Ended { job, .. } => self.note_end(job, view),
            PolicyEvent::Repredicted { job, .. } => self.note_prediction(job, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => self.note_withdrawal(id),
            PolicyEvent::Released(id) => {
                self.idle.push(SuspensionTask::from_arrival(id, view));
                self.newcomers += 1;
            }
            PolicyEvent::Stopped { job, .. } => self.note_stop(job, view),
            PolicyEvent::Runs(id) => self.note_foreign_job(id, true, view),
            PolicyEvent::Parked(id) => self.note_foreign_job(id, false, view),
            PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
            PolicyEvent::Capacity => self.look_anew(view),
            PolicyEvent::Woken => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        self.ahead.observe_windows(view);
        self.amounts.observe_levels(view);
        let tick = now.0.rem_euclid(self.settings.every.0) == 0;
        if tick {
            self.preempt_jobs(now, actions);
        } else if self.settings.starts_at_ticks {
            self.wake = self.next_tick_for(0, now, None);
            return;
        } else {
            let only_arrivals = !self.changed && !self.settings.place.changes_with_time();
            let has_started = self.dispatch_jobs(now, actions);
            self.changed = false;
            if only_arrivals && !has_started {
                let from = self.idle.len() - self.newcomers;
                self.newcomers = 0;
                self.wake = self.next_tick_for(from, now, self.wake);
                return;
            }
        }
        self.newcomers = 0;
        self.wake = self.next_tick_for(0, now, None);
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
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

    fn needed_abilities(&self) -> Abilities {
        Abilities { suspend: true, migrate: self.settings.migrate, name: true, ..Abilities::default() }
    }
}
