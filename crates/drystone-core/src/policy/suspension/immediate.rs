//! IS: rule S12.

use super::amounts::{LackedAmounts, PassLevels};
use super::news::{AnnouncedWindows, have_common_processor};
use super::parts::MachineParts;
use super::pool::RangePool;
use super::processors::Processors;
use super::ratio::{DecimalRatio, Ratio};
use super::seats::{CandidatePool, PassNodes};
use super::settings::Service;
use super::task::SuspensionTask;
use crate::model::{JobId, ProcSet, Procs, Span, Time};
use crate::policy::{Abilities, Action, Actions, Policy, PolicyEvent, StartReason, View};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Immediate service (Chiang & Vernon 2001): a job that arrives starts at once, in place of those
/// that have had their time slice and have the lowest instantaneous expansion factor (wait + run so
/// far) / run so far.
///
/// With s suspended and r running jobs, an end or a suspension costs O(s) and a pass O(s), and O(r
/// log r) per arrival: one comparison each; a suspended job is looked at only when the one job has
/// gone that was found in its way, or may be suspended.
#[derive(Serialize, Deserialize)]
pub struct Immediate {
    settings: Service,
    machine: Procs,
    processors: Option<Processors>,
    /// Never started, by arrival.
    fresh: Vec<SuspensionTask>,
    /// Suspended jobs.
    parked: Vec<SuspensionTask>,
    /// Known facts of each of them, kept beside them: every event looks through it.
    asking: Vec<ExamineTime>,
    running: Vec<SuspensionTask>,
    /// Their numbers, and where they are, in the same order: looked through for each suspended job.
    ids: Vec<JobId>,
    places: Vec<MachineParts>,
    wake: Option<Time>,
    #[serde(skip)]
    ahead: AnnouncedWindows,
    /// Resources beyond processors, in a pass.
    #[serde(skip)]
    amounts: PassLevels,
}

/// Time at which a suspended job needs to be examined.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ExamineTime {
    /// It cannot suspend the one in its way before. [`TOUCHED`]: that one has gone since it was
    /// looked at.
    ready: Time,
    /// A job that runs on its processors: while it does, no other that goes lets the suspended one
    /// go on. [`NO_JOB`]: none does.
    blocker: JobId,
}

/// Place of a job that never ran.
struct FreshSeat {
    /// The running jobs that have to go, by their places.
    victims: Vec<usize>,
    /// Its processors, where it has them on nodes.
    on: Option<ProcSet>,
}

/// Horizon beyond which obstacles are not looked for.
const FAR: Span = Span(30 * Span::MINUTE.0);
const TOUCHED: Time = Time::MIN;
const NO_JOB: JobId = JobId(u32::MAX);

impl ExamineTime {
    fn is_due(self, tick: bool, now: Time) -> bool {
        self.ready == TOUCHED || tick && self.ready <= now
    }
}

impl Immediate {
    /// A policy with these choices.
    #[must_use]
    pub fn new(settings: Service) -> Immediate {
        Immediate {
            settings,
            machine: 0,
            processors: None,
            fresh: Vec::new(),
            parked: Vec::new(),
            asking: Vec::new(),
            running: Vec::new(),
            ids: Vec::new(),
            places: Vec::new(),
            wake: None,
            ahead: AnnouncedWindows::default(),
            amounts: PassLevels::default(),
        }
    }

    fn is_tick(&self, now: Time) -> bool {
        now.0.rem_euclid(self.settings.every.0) == 0
    }

    /// Behind `now`.
    fn first_tick(&self, now: Time) -> Time {
        Time((now.0.div_euclid(self.settings.every.0) + 1) * self.settings.every.0)
    }

    fn note_end(&mut self, id: JobId, view: &View<'_>) {
        let Some(at) = self.running_position(id) else { return };
        let task = self.remove_running(at);
        if self.is_shared() && self.running.iter().any(|rival| rival.has_common_processor(&task)) {
            // Another scheduler had started two jobs on the same processors.
            self.look_anew(view);
        } else if let Some(processors) = &mut self.processors {
            processors.release_set(&task.set);
            if processors.are_shared(&task.set) {
                processors.share_anew(self.running.iter().map(|t| &t.set));
            }
        }
        self.touch_waiters(&task);
    }

    /// A job has left the policy's hands, running or suspended.
    fn note_stop(&mut self, id: JobId, view: &View<'_>) {
        if let Some(at) = self.running_position(id) {
            self.remove_running(at);
        } else {
            self.note_withdrawal(id);
        }
        self.look_anew(view);
    }

    /// Another scheduler has put a job where it is.
    fn note_foreign_job(&mut self, id: JobId, runs: bool, view: &View<'_>) {
        let task = SuspensionTask::from_foreign(id, view);
        if runs {
            self.add_running(task);
        } else {
            self.asking.push(ExamineTime { ready: TOUCHED, blocker: NO_JOB });
            self.parked.push(task);
        }
        self.look_anew(view);
    }

    /// Recomputes the free processors and their owners; every suspended job is examined again.
    fn look_anew(&mut self, view: &View<'_>) {
        self.machine = view.machine().procs;
        let out = view.outlook().map(|outlook| outlook.offline_processors().clone()).unwrap_or_default();
        let (running_sets, owners) = (self.running.iter().map(|t| &t.set), self.parked.iter().map(|t| &t.set));
        self.processors = Some(Processors::from_sets(self.machine, running_sets, owners, out));
        self.asking.iter_mut().for_each(|asking| asking.ready = TOUCHED);
    }

    /// Returns whether another scheduler has started several jobs on one processor.
    fn is_shared(&self) -> bool {
        self.processors.as_ref().is_some_and(Processors::any_shared)
    }

    fn running_position(&self, id: JobId) -> Option<usize> {
        self.ids.iter().position(|&running| running == id)
    }

    fn add_running(&mut self, task: SuspensionTask) {
        self.ids.push(task.id);
        self.places.push(task.parts);
        self.running.push(task);
    }

    fn remove_running(&mut self, at: usize) -> SuspensionTask {
        self.ids.swap_remove(at);
        self.places.swap_remove(at);
        self.running.swap_remove(at)
    }

    /// The running jobs that are on the processors of another, by their places.
    #[inline]
    fn on_processors_of<'a>(&'a self, task: &'a SuspensionTask) -> impl Iterator<Item = usize> + 'a {
        let near = self.places.iter().enumerate().filter(|(_, parts)| parts.has_common_part(&task.parts));
        near.map(|(at, _)| at).filter(|&at| task.meets_indeed(&self.running[at]))
    }

    /// Returns whether these processors are of no use to a job that resumes now: some are out, or
    /// go before its end.
    fn is_lost_on(&self, set: &ProcSet, barred_procs: &ProcSet) -> bool {
        have_common_processor(set, barred_procs) || self.processors.as_ref().is_some_and(|p| p.are_no_gain(set))
    }

    fn note_withdrawal(&mut self, id: JobId) {
        if let Some(at) = self.fresh.iter().position(|t| t.id == id) {
            self.fresh.remove(at);
        } else if let Some(at) = self.parked.iter().position(|t| t.id == id) {
            let task = self.unpark_task(at);
            let co_owners = self.parked.iter().filter(|t| t.has_common_processor(&task));
            if let Some(processors) = &mut self.processors {
                processors.disown_set(&task.set, co_owners.map(|t| &t.set));
            }
        }
    }

    /// A job has left its processors.
    fn touch_waiters(&mut self, leaver: &SuspensionTask) {
        // It may have been the one with what others gave back.
        let passes = self.amounts.frees_needed_amounts(leaver);
        for (asking, task) in self.asking.iter_mut().zip(&self.parked) {
            if asking.blocker == leaver.id || asking.blocker == NO_JOB && task.has_common_processor(leaver) || passes {
                asking.ready = TOUCHED;
            }
        }
    }

    fn unpark_task(&mut self, at: usize) -> SuspensionTask {
        self.asking.swap_remove(at);
        self.parked.swap_remove(at)
    }

    fn stop_running(&mut self, at: usize, now: Time, actions: &mut Actions) {
        let mut task = self.remove_running(at);
        task.stop_run(now);
        self.amounts.give_back(&task);
        actions.push(Action::Suspend(task.id));
        if let Some(processors) = &mut self.processors {
            processors.hold_set(&task.set);
            if processors.are_shared(&task.set) {
                processors.share_anew(self.running.iter().map(|t| &t.set));
            }
        }
        self.touch_waiters(&task);
        self.asking.push(ExamineTime { ready: TOUCHED, blocker: NO_JOB });
        self.parked.push(task);
    }

    /// (1): starts a job that never ran, if it can.
    fn serve_fresh(&mut self, at: usize, first_in_line: bool, now: Time, actions: &mut Actions) -> bool {
        if self.ahead.rules_out(&self.fresh[at], false, self.machine, now) {
            return false;
        }
        let barred_procs = self.ahead.barred_processors(&self.fresh[at], now);
        if !barred_procs.is_empty() {
            // Its processors are found as if those were not there that go before its end.
            let without = self.processors.as_ref().map(|processors| processors.without_barred(&barred_procs));
            let all_processors = std::mem::replace(&mut self.processors, without);
            let fresh_seat = self.find_place(at, &barred_procs, now);
            self.processors = all_processors;
            return self.serve_found(at, first_in_line, fresh_seat, &barred_procs, now, actions);
        }
        let fresh_seat = self.find_place(at, &barred_procs, now);
        self.serve_found(at, first_in_line, fresh_seat, &barred_procs, now, actions)
    }

    /// The running jobs that have to go so that one starts that never ran; none if enough are free.
    /// `None` where it cannot.
    fn find_place(&self, at: usize, barred_procs: &ProcSet, now: Time) -> Option<FreshSeat> {
        let processors = self.processors.as_ref()?;
        if let Some(nodes) = &self.amounts.nodes {
            return self.find_seat(at, barred_procs, nodes, now);
        }
        self.find_victims(at, barred_procs, processors, now).map(|victims| FreshSeat { victims, on: None })
    }

    fn find_victims(
        &self,
        at: usize,
        barred_procs: &ProcSet,
        processors: &Processors,
        now: Time,
    ) -> Option<Vec<usize>> {
        let need = self.fresh[at].procs;
        let mut missing = self.amounts.missing_amounts(&self.fresh[at])?;
        if processors.open_pool().len() >= need && missing.is_none() {
            return Some(Vec::new());
        }
        let had_its_slice = |t: &SuspensionTask| self.gives_place(t, barred_procs, now);
        let sum = |jobs: &mut dyn Iterator<Item = &SuspensionTask>| jobs.map(|t| u64::from(t.procs)).sum::<u64>();
        let available = u64::from(processors.free_pool().len());
        if available + sum(&mut self.running.iter().filter(|t| had_its_slice(t))) < u64::from(need) {
            return None;
        }
        let mut victims = self.possible_victims(barred_procs, now);
        // Those that give back nothing of what still lacks are spared.
        let mut total = available;
        victims.retain(|&j| {
            let is_wanted = total < u64::from(need) || self.amounts.can_help(&missing, &self.running[j]);
            if is_wanted {
                total += u64::from(self.running[j].procs);
                self.amounts.relieve_missing(&mut missing, &self.running[j]);
            }
            is_wanted
        });
        missing.is_none().then_some(victims)
    }

    /// Returns whether a job that never ran may have the place of this one.
    fn gives_place(&self, running: &SuspensionTask, barred_procs: &ProcSet, now: Time) -> bool {
        running.executed_time(now) >= self.settings.slice && !self.is_lost_on(&running.set, barred_procs)
    }

    /// The running jobs that give place, in their order.
    fn possible_victims(&self, barred_procs: &ProcSet, now: Time) -> Vec<usize> {
        let gives_place = |&j: &usize| self.gives_place(&self.running[j], barred_procs, now);
        let mut victims: Vec<usize> = (0..self.running.len()).filter(gives_place).collect();
        victims.sort_unstable_by(|&a, &b| {
            let (a, b) = (&self.running[a], &self.running[b]);
            let by_factor = instantaneous_factor(a, now).compare_with(instantaneous_factor(b, now));
            by_factor.then(a.since.cmp(&b.since)).then(a.id.cmp(&b.id))
        });
        victims
    }

    /// Finds a place on nodes: as many have to go, in their order, as it takes until nodes have
    /// room, and of these only those that are there or give back what is lacking in all.
    fn find_seat(&self, at: usize, barred_procs: &ProcSet, nodes: &PassNodes, now: Time) -> Option<FreshSeat> {
        let (task, processors) = (&self.fresh[at], self.processors.as_ref()?);
        let lacking = self.amounts.missing_amounts(task)?;
        let pick = |victims: &[usize]| {
            let leaving = || victims.iter().map(|&victim| &self.running[victim]);
            let mut missing = lacking.clone();
            leaving().for_each(|victim| self.amounts.relieve_missing(&mut missing, victim));
            if !missing.is_none() {
                return None;
            }
            let pool = |from: &RangePool| {
                let mut candidate_set = from.clone();
                leaving().for_each(|victim| candidate_set.insert(&victim.set));
                candidate_set.remove(barred_procs);
                candidate_set
            };
            let open = CandidatePool { all: pool(processors.open_pool()), behind: ProcSet::new() };
            nodes.pick_processors(task, &open, leaving()).or_else(|| {
                let any_pool = CandidatePool { all: pool(processors.free_pool()), behind: ProcSet::new() };
                nodes.pick_processors(task, &any_pool, leaving())
            })
        };
        if let Some(set) = pick(&[]) {
            return Some(FreshSeat { victims: Vec::new(), on: Some(set) });
        }
        let helps =
            |&j: &usize| nodes.may_meet(task, &self.running[j]) || self.amounts.can_help(&lacking, &self.running[j]);
        let mut victims = self.possible_victims(barred_procs, now);
        victims.retain(helps);
        pick(&victims)?;
        let (mut too_few, mut enough) = (0, victims.len());
        while enough - too_few > 1 {
            let half = too_few + (enough - too_few) / 2;
            if pick(&victims[..half]).is_some() { enough = half } else { too_few = half }
        }
        victims.truncate(enough);
        let set = pick(&victims)?;
        let mut lacks = lacking;
        victims.retain(|&j| {
            let goes = self.amounts.can_help(&lacks, &self.running[j]) || nodes.share_a_node(&set, &self.running[j]);
            if goes {
                self.amounts.relieve_missing(&mut lacks, &self.running[j]);
            }
            goes
        });
        Some(FreshSeat { victims, on: Some(set) })
    }

    fn serve_found(
        &mut self,
        at: usize,
        first_in_line: bool,
        seat: Option<FreshSeat>,
        barred_procs: &ProcSet,
        now: Time,
        actions: &mut Actions,
    ) -> bool {
        let (Some(FreshSeat { mut victims, on }), Some(processors)) = (seat, &self.processors) else { return false };
        let need = self.fresh[at].procs;
        let mut pool = RangePool::default();
        pool.copy_from(processors.open_pool());
        pool.remove(barred_procs);
        let set = if victims.is_empty() && on.is_none() && pool.len() >= need {
            pool.lowest_processors(need)
        } else {
            victims.iter().for_each(|&j| pool.insert(&self.running[j].set));
            // From the highest position down, so that the others stay where they are.
            victims.sort_unstable();
            victims.reverse();
            victims.iter().for_each(|&j| self.stop_running(j, now, actions));
            if let Some(set) = on {
                set
            } else if pool.len() >= need {
                pool.lowest_processors(need)
            } else {
                let mut free = RangePool::default();
                if let Some(processors) = &self.processors {
                    free.copy_from(processors.free_pool());
                }
                free.remove(barred_procs);
                free.lowest_processors(need)
            }
        };
        let mut task = self.fresh.remove(at);
        self.amounts.take_amounts(&task);
        self.amounts.seat_task(&mut task, &set);
        let reason = match (victims.is_empty(), first_in_line) {
            (false, _) => StartReason::Preempting,
            (true, true) => StartReason::Head,
            (true, false) => StartReason::Backfilled,
        };
        actions.start_on(task.id, reason, set.clone());
        if let Some(processors) = &mut self.processors {
            processors.occupy_set(&set);
        }
        task.run_on(set, now, self.machine);
        self.add_running(task);
        true
    }

    /// (2): resumes suspended jobs, in descending order of their instantaneous expansion
    /// factors.
    fn resume_parked(&mut self, now: Time, actions: &mut Actions) {
        let tick = self.is_tick(now);
        // Jobs suspended by those that resume are not looked at again.
        let mut late: Vec<JobId> = Vec::new();
        let mut last: Option<LinePlace> = None;
        let mut line = self.resume_line(tick, now, last, &late);
        while let Some(place) = line.pop() {
            // Few have moved since the line was made.
            let is_unmoved = self.parked.get(place.at).is_some_and(|t| t.id == place.id);
            let at = if is_unmoved { Some(place.at) } else { self.parked.iter().position(|t| t.id == place.id) };
            let Some(at) = at else { continue };
            if !self.may_go_on(&self.parked[at], tick, now) {
                continue;
            }
            let mut task = self.unpark_task(at);
            let before = late.len();
            loop {
                let first = self.on_processors_of(&task).next();
                let Some(j) = first else { break };
                late.push(self.running[j].id);
                self.stop_running(j, now, actions);
            }
            actions.push(Action::Resume(task.id));
            self.amounts.take_amounts(&task);
            let set = task.set.clone();
            self.amounts.seat_task(&mut task, &set);
            let co_owners = self.parked.iter().filter(|t| t.has_common_processor(&task));
            if let Some(processors) = &mut self.processors {
                processors.reoccupy_set(&task.set, co_owners.map(|t| &t.set));
            }
            task.since = now;
            self.add_running(task);
            last = Some(place);
            if late.len() > before {
                // They may have left processors that others, later in line, were waiting for.
                line = self.resume_line(tick, now, last, &late);
            }
        }
        self.look_ahead(now);
    }

    /// The suspended jobs that have reason to ask whether they may resume, the next one at the end:
    /// those behind `last`, if any, and without `except`.
    fn resume_line(&self, tick: bool, now: Time, last: Option<LinePlace>, except: &[JobId]) -> Vec<LinePlace> {
        let asking = self.asking.iter().enumerate().filter(|(_, asking)| asking.is_due(tick, now));
        let places = asking.map(|(at, _)| {
            let task = &self.parked[at];
            LinePlace { factor: waiting_factor(task, now), id: task.id, at }
        });
        let behind = |place: &LinePlace| {
            last.is_none_or(|last| place.compare_position(&last).is_gt()) && !except.contains(&place.id)
        };
        let mut line: Vec<LinePlace> = places.filter(behind).collect();
        line.sort_unstable_by(|a, b| b.compare_position(a));
        line
    }

    /// Returns whether a suspended job's processors are free or may be taken from the jobs that run
    /// on them.
    fn may_go_on(&self, task: &SuspensionTask, tick: bool, now: Time) -> bool {
        let Some(processors) = &self.processors else { return false };
        if self.is_lost_on(&task.set, &self.ahead.barred_processors(task, now)) {
            return false;
        }
        let Some(mut missing) = self.amounts.missing_amounts(task) else { return false };
        if task.procs <= processors.free_pool().len() && processors.free_pool().contains_set(&task.set) {
            return missing.is_none() && self.has_room(task, &[]);
        }
        let gives_way = tick
            && self.settings.resume.is_some_and(|factor| {
                let mut on_them = self.on_processors_of(task);
                on_them.all(|at| self.gives_way(&self.running[at], task, factor, now))
            });
        if gives_way && !missing.is_none() {
            self.on_processors_of(task).for_each(|at| self.amounts.relieve_missing(&mut missing, &self.running[at]));
        }
        gives_way && missing.is_none() && self.has_room(task, &self.on_processors_of(task).collect::<Vec<_>>())
    }

    /// Returns whether the nodes of a suspended job have all that it gave back, when these jobs are
    /// suspended.
    fn has_room(&self, task: &SuspensionTask, victims: &[usize]) -> bool {
        let leaving = victims.iter().map(|&victim| &self.running[victim]);
        self.amounts.nodes.as_ref().is_none_or(|nodes| nodes.can_resume(task, leaving))
    }

    /// Returns whether a running job may be suspended so that a suspended one resumes. Once it may,
    /// it may as long as it runs.
    fn gives_way(&self, running: &SuspensionTask, waiter: &SuspensionTask, factor: DecimalRatio, now: Time) -> bool {
        let (mine, running_factor) = (waiting_factor(waiter, now), instantaneous_factor(running, now));
        now - running.since >= self.settings.slice
            && running.executed_time(now) >= self.settings.slice
            && mine.compare_with(running_factor).is_gt()
            && mine.is_at_least(factor, running_factor)
    }

    /// Computes the earliest time at which each suspended job must be examined again.
    fn look_ahead(&mut self, now: Time) {
        for at in 0..self.parked.len() {
            if self.asking[at].ready <= now {
                self.asking[at] = self.examine_time(&self.parked[at], now);
            }
        }
    }

    /// Returns the job that is longest in the way of a suspended job, and the tick behind `now`
    /// before which that one does not give way. There may be more passes at a tick, so a job that
    /// gives way already is not the one that matters.
    fn examine_time(&self, task: &SuspensionTask, now: Time) -> ExamineTime {
        let mut asking = ExamineTime { ready: self.first_tick(now), blocker: NO_JOB };
        let tick = self.is_tick(now);
        let mut firm = false;
        for rival in self.on_processors_of(task).map(|at| &self.running[at]) {
            let Some(factor) = self.settings.resume else { return ExamineTime { ready: Time::MAX, blocker: rival.id } };
            // No other job matters that gives way by then.
            let ready = if self.gives_way(rival, task, factor, asking.ready) {
                asking.ready
            } else {
                self.gives_way_at(rival, task, factor, asking.ready)
            };
            let stays = !tick || ready > asking.ready || !self.gives_way(rival, task, factor, now);
            if ready > asking.ready || asking.blocker == NO_JOB || stays && !firm {
                asking = ExamineTime { ready, blocker: rival.id };
                firm = stays;
                if asking.ready - now >= FAR {
                    // Whatever other job is there longer, this one need not be asked for before.
                    break;
                }
            }
        }
        if asking.blocker == NO_JOB && !(self.amounts.can_serve(task) && self.has_room(task, &[])) {
            // Only a job that gives back what it lacks lets it go on.
            asking.ready = Time::MAX;
        }
        asking
    }

    /// A tick behind `first`, at which it does not, before which a running job does not give way to
    /// a suspended one.
    fn gives_way_at(&self, blocker: &SuspensionTask, task: &SuspensionTask, factor: DecimalRatio, first: Time) -> Time {
        let every = self.settings.every.0;
        let slice = blocker.since + self.settings.slice;
        if slice > first {
            return Time((slice.0 - 1).div_euclid(every) * every + every);
        }
        // Of ever more distant ticks the last at which it does not give way, and then the next: the
        // rest is found out then.
        let (mut no, mut next) = (0, 1);
        while next < 1 << 30 && !self.gives_way(blocker, task, factor, Time(first.0 + next * every)) {
            (no, next) = (next, next * 2);
        }
        Time(first.0 + (no + 1) * every)
    }

    /// Returns the time at which enough running jobs will have had their slice for a job that never
    /// ran; [`Time::MAX`] for never. `by_slice` is when each has had its slice, and how many
    /// processors all have by then that are free or have.
    fn serve_time(&self, task: &SuspensionTask, by_slice: &[(Time, u64)], now: Time) -> Time {
        let relief_time = match self.amounts.missing_amounts(task) {
            None => return Time::MAX,
            Some(missing) if missing.is_none() => now,
            Some(missing) => self.find_relief_time(missing, now),
        };
        let free = u64::from(self.processors.as_ref().map_or(0, |p| p.free_pool().len()));
        if free >= u64::from(task.procs) {
            return relief_time;
        }
        let enough = by_slice.partition_point(|&(_, sum)| sum < u64::from(task.procs));
        by_slice.get(enough).map_or(Time::MAX, |&(time, _)| time.max(relief_time))
    }

    /// Returns the time at which the running jobs that have had their slice give back all that is
    /// missing; [`Time::MAX`] for never. O(r log r).
    fn find_relief_time(&self, mut missing: LackedAmounts, now: Time) -> Time {
        let mut helping: Vec<&SuspensionTask> =
            self.running.iter().filter(|t| self.amounts.can_help(&missing, t)).collect();
        helping.sort_unstable_by_key(|t| self.had_its_slice(t));
        for task in helping {
            self.amounts.relieve_missing(&mut missing, task);
            if missing.is_none() {
                return self.had_its_slice(task).max(now);
            }
        }
        Time::MAX
    }

    /// Returns the time from which on a running job has had its slice.
    fn had_its_slice(&self, task: &SuspensionTask) -> Time {
        task.since + (self.settings.slice - task.ran).max(Span::ZERO)
    }

    fn next_tick(&self, now: Time) -> Option<Time> {
        let first = self.first_tick(now);
        let mut best = self.asking.iter().map(|p| p.ready).min().unwrap_or(Time::MAX);
        if !self.fresh.is_empty() && best > first {
            let slice = |t: &SuspensionTask| (self.had_its_slice(t), u64::from(t.procs));
            let mut by_slice: Vec<_> = self.running.iter().map(slice).collect();
            by_slice.sort_unstable();
            let mut sum = u64::from(self.processors.as_ref().map_or(0, |p| p.free_pool().len()));
            for (_, procs) in &mut by_slice {
                sum += *procs;
                *procs = sum;
            }
            let possible = self.fresh.iter().filter(|t| !self.ahead.rules_out(t, false, self.machine, now));
            let soonest = possible.map(|t| self.serve_time(t, &by_slice, now)).min();
            best = best.min(soonest.unwrap_or(Time::MAX));
        }
        let every = self.settings.every.0;
        (best < Time::MAX).then(|| Time((best.max(first).0 - 1).div_euclid(every) * every + every))
    }
}

/// (w + g) / g of a running job.
fn instantaneous_factor(task: &SuspensionTask, now: Time) -> Ratio {
    Ratio { over: (now - task.submit).0, under: task.executed_time(now).0 }
}

/// (w + g) / g of a suspended job.
fn waiting_factor(task: &SuspensionTask, now: Time) -> Ratio {
    Ratio { over: (now - task.submit).0, under: task.ran.0 }
}

/// A suspended job's place in line.
#[derive(Clone, Copy)]
struct LinePlace {
    factor: Ratio,
    id: JobId,
    /// Position among the suspended jobs when the line was made.
    at: usize,
}

impl LinePlace {
    /// Greater: behind the other.
    fn compare_position(&self, rival: &LinePlace) -> Ordering {
        rival.factor.compare_with(self.factor).then(self.id.cmp(&rival.id))
    }
}

impl Policy for Immediate {
    fn name(&self) -> &str {
        "immediate-service"
    }

    fn layout(&self) -> u32 {
        2
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        if !self.amounts.are_counted() {
            // After a saved state was read.
            self.amounts.observe_levels(view);
        }
        match event {
            PolicyEvent::Arrived(id) => {
                self.machine = view.machine().procs;
                self.processors.get_or_insert_with(|| Processors::new(self.machine));
                self.fresh.push(SuspensionTask::from_arrival(id, view));
            }
            PolicyEvent::Ended { job, .. } => self.note_end(job, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => self.note_withdrawal(id),
            PolicyEvent::Released(id) => self
                .fresh
                .insert(self.fresh.partition_point(|task| task.id < id), SuspensionTask::from_arrival(id, view)),
            PolicyEvent::Stopped { job, .. } => self.note_stop(job, view),
            PolicyEvent::Runs(id) => self.note_foreign_job(id, true, view),
            PolicyEvent::Parked(id) => self.note_foreign_job(id, false, view),
            PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
            PolicyEvent::Capacity => self.look_anew(view),
            PolicyEvent::Repredicted { .. } | PolicyEvent::Woken => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        self.ahead.observe_windows(view);
        self.amounts.observe_levels(view);
        let mut at = 0;
        while at < self.fresh.len() {
            at += usize::from(!self.serve_fresh(at, at == 0, now, actions));
        }
        self.resume_parked(now, actions);
        self.wake = self.next_tick(now);
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
        Abilities { suspend: true, name: true, ..Abilities::default() }
    }
}
