//! Ruin and recreate: some jobs near one that waits are taken out and put back in another order.

mod lanes;
mod place;
mod timeline;

use crate::instance::Instance;
use crate::schedule::{Infeasible, TaskSchedule};
use place::FreeRoom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};
use timeline::FreeTimeline;

/// Limit of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeLimit {
    /// So many trials, each of some orders for the same tasks: the same result wherever it runs.
    Trials(u64),
    /// So much time: the result depends on the speed of the machine, and on its threads.
    Time(Duration),
}

/// Settings of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HeadroomSearch {
    pub limit: TimeLimit,
    pub seed: u64,
    /// At first a schedule may become worse by about this times the typical cost of a task that
    /// waits, the squared mean of square roots: a few that wait for very long do not count for
    /// more than all others together. It falls linearly to 0.
    pub heat: f64,
    /// Tasks that are taken out at most; few are as often as many.
    pub most: u32,
    /// Threads at most where time is the limit, each for a part of the log; 0 for as many as the
    /// machine has.
    pub threads: usize,
}

impl Default for HeadroomSearch {
    fn default() -> HeadroomSearch {
        HeadroomSearch { limit: TimeLimit::Time(Duration::from_secs(60)), seed: 1, heat: 2.0, most: 100, threads: 0 }
    }
}

/// Progress of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Searching {
    /// Share of the limit that is used.
    pub done: f64,
    /// Cost of the best schedule that was kept so far.
    pub best: f64,
    /// Cost of the schedule at hand.
    pub cost: f64,
}

#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct BestFound {
    /// The best schedule, never worse than the one it began with.
    pub schedule: TaskSchedule,
    pub cost: f64,
    pub trials: u64,
    /// Time spent. Differs from run to run.
    pub took: Duration,
    pub stopped: bool,
}

/// Trials between two looks at the clock.
const STRIDE: u64 = 64;
/// Shares of the limit after which the schedule is kept, if it is the best.
const KEEPS: f64 = 50.0;

/// Improves a schedule. `told` hears how far it is some fifty times and answers whether to go on;
/// it is asked more often.
///
/// # Errors
/// A schedule that is infeasible.
#[expect(clippy::disallowed_methods, reason = "the duration of the search, if limited")]
pub fn search_schedule(
    instance: &Instance,
    begin: &TaskSchedule,
    settings: &HeadroomSearch,
    on_progress: &dyn Fn(Searching) -> bool,
) -> Result<BestFound, Infeasible> {
    begin.check_starts(instance)?;
    let since = Instant::now();
    let release_schedule = TaskSchedule { starts: release_starts(instance, begin) };
    let first = instance.schedule_cost(begin);
    if release_schedule.check_starts(instance).is_ok()
        && instance.schedule_cost(&release_schedule) <= first
        && room_for_instants(instance, &release_schedule)
    {
        let cost = instance.schedule_cost(&release_schedule);
        return Ok(BestFound { schedule: release_schedule, cost, trials: 0, took: since.elapsed(), stopped: false });
    }
    let mut at_work = SearchAtWork::new(instance, begin, settings);
    if let TimeLimit::Time(limit) = settings.limit {
        let lanes = lanes::count_lanes(settings.threads, at_work.waiting.list.len());
        if lanes > 1 {
            let rest = limit.saturating_sub(since.elapsed());
            let lane_result = lanes::search_beside((instance, begin), settings, (lanes, rest), on_progress);
            let (schedule, cost) = settle_starts(instance, begin, lane_result.starts)?;
            return Ok(BestFound {
                schedule,
                cost,
                trials: lane_result.trials,
                took: since.elapsed(),
                stopped: lane_result.stopped,
            });
        }
    }
    let mut best = (first, None);
    let (mut trials, mut kept_share, mut is_stopped) = (0, 0.0, false);
    while !at_work.waiting.list.is_empty() {
        let progress = match settings.limit {
            TimeLimit::Trials(most) => trials as f64 / most.max(1) as f64,
            TimeLimit::Time(time) => since.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
        };
        if progress >= 1.0 {
            break;
        }
        if (progress * KEEPS).floor() > kept_share {
            kept_share = (progress * KEEPS).floor();
            if at_work.cost < best.0 {
                best = (at_work.cost, Some(at_work.starts.clone()));
            }
        }
        if !on_progress(Searching { done: progress, best: best.0, cost: at_work.cost }) {
            is_stopped = true;
            break;
        }
        let heat = at_work.heat * (1.0 - progress);
        let stride = match settings.limit {
            TimeLimit::Trials(most) => STRIDE.min(most - trials),
            TimeLimit::Time(_) => STRIDE,
        };
        for _ in 0..stride {
            at_work.run_trial(heat);
        }
        trials += stride;
    }
    let starts = best.1.filter(|_| best.0 < at_work.cost).unwrap_or(at_work.starts);
    let (schedule, cost) = settle_starts(instance, begin, starts)?;
    Ok(BestFound { schedule, cost, trials, took: since.elapsed(), stopped: is_stopped })
}

/// The schedule with these starts, tasks of no run time put in their places, and its cost; that of
/// the beginning where it is not worse.
fn settle_starts(
    instance: &Instance,
    begin: &TaskSchedule,
    mut starts: Vec<i64>,
) -> Result<(TaskSchedule, f64), Infeasible> {
    settle_instants(instance, &mut starts);
    let schedule = TaskSchedule { starts };
    schedule.check_starts(instance)?;
    // Costs are summed up in another order here.
    let (cost, first) = (instance.schedule_cost(&schedule), instance.schedule_cost(begin));
    Ok(if cost < first { (schedule, cost) } else { (begin.clone(), first) })
}

/// All tasks at their releases, but for those that stay.
fn release_starts(instance: &Instance, begin: &TaskSchedule) -> Vec<i64> {
    let task_starts = instance.tasks.iter().zip(&begin.starts);
    task_starts.map(|(task, &start)| if task.fixed { start } else { task.release }).collect()
}

/// Returns whether tasks of zero run time find their processors free at their starts.
fn room_for_instants(instance: &Instance, schedule: &TaskSchedule) -> bool {
    let mut starts = schedule.starts.clone();
    settle_instants(instance, &mut starts);
    starts == schedule.starts
}

/// Tasks that run for no time take nothing, yet a machine starts them only where their processors
/// are free: the earliest such second, once all others have their places.
fn settle_instants(instance: &Instance, starts: &mut [i64]) {
    let instants = |at: &usize| instance.tasks[*at].run == 0 && !instance.tasks[*at].fixed;
    if !(0..starts.len()).any(|at| instants(&at)) {
        return;
    }
    let timeline = FreeTimeline::new(instance, starts);
    for at in (0..starts.len()).filter(instants) {
        let task = &instance.tasks[at];
        // Where it was, it could start.
        starts[at] = timeline.first_room(task.release, i64::from(task.procs)).unwrap_or(starts[at]);
    }
}

/// Tasks that wait and may be moved, any of them in no time.
struct MovableTasks {
    list: Vec<u32>,
    /// Place of each task in the list.
    place: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl MovableTasks {
    fn set_waiting(&mut self, task: u32, waits: bool) {
        let place = self.place[task as usize];
        if waits == (place != NOWHERE) {
            return;
        }
        if waits {
            self.place[task as usize] = self.list.len() as u32;
            self.list.push(task);
        } else {
            self.list.swap_remove(place as usize);
            self.place[task as usize] = NOWHERE;
            if let Some(&last_task) = self.list.get(place as usize) {
                self.place[last_task as usize] = place;
            }
        }
    }
}

struct SearchAtWork<'a> {
    instance: &'a Instance,
    weights: Vec<f64>,
    starts: Vec<i64>,
    cost: f64,
    heat: f64,
    most: u32,
    waiting: MovableTasks,
    timeline: FreeTimeline,
    random: ChaCha8Rng,
    /// Free processors without the tasks that are out, and with those that are back.
    ruined: FreeRoom,
    room: FreeRoom,
    /// Place of each removed task if it came back alone, and its cost.
    alone: Vec<(i64, f64)>,
    out: Vec<u32>,
    order: Vec<(f64, u32)>,
    placed: Vec<(u32, i64)>,
    /// Part of the time in which tasks are moved.
    span: (i64, i64),
    /// Tasks that were moved in this round, some of them several times.
    moved: Vec<u32>,
    /// Cost at the beginning of the round.
    round_cost: f64,
}

/// All of the time, with room for sums.
const EVER: (i64, i64) = (i64::MIN / 4, i64::MAX / 4);

/// The shortest and the longest window before an anchor, in seconds.
const WINDOW: (f64, f64) = (600.0, 118_800.0);
/// No task comes back earlier than this before the first that was taken out, in seconds.
const EARLIER: i64 = 86_400;
/// Nor later than this behind the last end of those that were taken out.
const LATER: i64 = 3_600;
/// Tasks that are taken out at least, where there are so many.
const FEWEST: f64 = 4.0;
/// Orders that are tried at most with the same tasks out.
const ORDERS: usize = 24;

impl<'a> SearchAtWork<'a> {
    fn new(instance: &'a Instance, begin: &TaskSchedule, settings: &HeadroomSearch) -> SearchAtWork<'a> {
        let weights: Vec<f64> = instance.tasks.iter().map(|task| task.weight.as_f64()).collect();
        let mut waiting_tasks = MovableTasks { list: Vec::new(), place: vec![NOWHERE; begin.starts.len()] };
        let mut of_waiting = 0.0;
        for (at, (task, &start)) in instance.tasks.iter().zip(&begin.starts).enumerate() {
            if is_movable(instance, at) && weights[at] > 0.0 && start > task.release + task.grace {
                waiting_tasks.set_waiting(at as u32, true);
                of_waiting += task.delay_cost(start).sqrt();
            }
        }
        let typical = of_waiting / waiting_tasks.list.len().max(1) as f64;
        let heat = settings.heat * typical * typical;
        SearchAtWork {
            instance,
            weights,
            starts: begin.starts.clone(),
            cost: instance.schedule_cost(begin),
            heat,
            most: settings.most.max(FEWEST as u32),
            waiting: waiting_tasks,
            timeline: FreeTimeline::new(instance, &begin.starts),
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            ruined: FreeRoom::default(),
            room: FreeRoom::default(),
            alone: Vec::new(),
            out: Vec::new(),
            order: Vec::new(),
            placed: Vec::new(),
            span: EVER,
            moved: Vec::new(),
            round_cost: instance.schedule_cost(begin),
        }
    }

    #[inline]
    fn cost_of(&self, task: u32, start: i64) -> f64 {
        let of = &self.instance.tasks[task as usize];
        self.weights[task as usize] * of.counted_delay(start) as f64
    }

    fn random_below(&mut self, most: usize) -> usize {
        self.random.random_range(0..most as u32) as usize
    }

    fn random_unit(&mut self) -> f64 {
        // Never 0.
        (f64::from(self.random.next_u32()) + 0.5) / 4_294_967_296.0
    }

    /// Takes some tasks out, and puts them back in some orders until the result is good enough to
    /// keep. Most of the time goes into taking them out: several orders cost little more than one.
    fn run_trial(&mut self, heat: f64) {
        if self.waiting.list.is_empty() {
            return;
        }
        let drawn_index = self.random_below(self.waiting.list.len());
        let anchor = self.waiting.list[drawn_index];
        let window = self.random_between(WINDOW.0, WINDOW.1) as i64;
        let until = self.starts[anchor as usize];
        self.take_out(anchor, until - window, until);
        let before: f64 = self.out.iter().map(|&task| self.cost_of(task, self.starts[task as usize])).sum();
        let Some(least) = self.ruin_tasks() else { return };
        for _ in 0..ORDERS {
            let cost_limit = before - heat * libm::log(self.random_unit());
            if let Some(after) = self.put_back(anchor, least, cost_limit) {
                self.keep_moves();
                self.cost += after - before;
                return;
            }
        }
    }

    /// A number between two others, each factor as likely.
    fn random_between(&mut self, low: f64, high: f64) -> f64 {
        let (low, high) = (libm::log(low), libm::log(high));
        libm::exp(low + (high - low) * self.random_unit())
    }

    /// Chooses what is taken out.
    fn take_out(&mut self, anchor: u32, from: i64, until: i64) {
        let SearchAtWork { out, timeline, instance, starts, span, .. } = self;
        out.clear();
        timeline.visit_running(from, until, |task| {
            let (of, start) = (&instance.tasks[task as usize], starts[task as usize]);
            let inside = start >= span.0 && start + of.run <= span.1;
            if task != anchor && !of.fixed && inside {
                out.push(task);
            }
        });
        // Some of many, the anchor always: few more often than many.
        let most = self.random_between(FEWEST, f64::from(self.most)) as usize;
        let most = (most - 1).min(self.out.len());
        for at in 0..most {
            let swap_place = at + self.random_below(self.out.len() - at);
            self.out.swap(at, swap_place);
        }
        self.out.truncate(most);
        self.out.push(anchor);
    }

    /// Computes the free processors without them, and the place of each if it came back alone;
    /// returns the sum of the costs.
    fn ruin_tasks(&mut self) -> Option<f64> {
        let span = |task: &u32| {
            let start = self.starts[*task as usize];
            (start, start + self.instance.tasks[*task as usize].run)
        };
        let first = self.out.iter().map(|task| span(task).0).min()?;
        let last = self.out.iter().map(|task| span(task).1).max()?;
        let release = self.out.iter().map(|&task| self.instance.tasks[task as usize].release).min()?;
        let from = (first - EARLIER).max(release.min(first)).max(self.span.0);
        self.timeline.cut_out(from, (last + LATER).min(self.span.1), &mut self.ruined);
        for &task in &self.out {
            let of = &self.instance.tasks[task as usize];
            let start = self.starts[task as usize];
            self.ruined.change_free(start, start + of.run, i64::from(of.procs));
        }
        self.alone.clear();
        let mut sum = 0.0;
        for at in 0..self.out.len() {
            let task = self.out[at];
            let of = &self.instance.tasks[task as usize];
            let start = self.ruined.first_start(of.release.max(from), i64::from(of.procs), of.run)?;
            let cost = self.cost_of(task, start);
            sum += cost;
            self.alone.push((start, cost));
        }
        Some(sum)
    }

    /// Puts them back in some order, one by one at their earliest places; the cost, unless it is
    /// above what is allowed or all are back where they were. None goes to a better place than it
    /// would alone, so that `least`, the sum of these costs, bounds it from the beginning.
    fn put_back(&mut self, anchor: u32, least: f64, limit: f64) -> Option<f64> {
        if least > limit {
            return None;
        }
        self.room.clone_from(&self.ruined);
        self.arrange_tasks(anchor);
        let (mut bound, mut cost) = (least, 0.0);
        self.placed.clear();
        for at in 0..self.order.len() {
            let out = self.order[at].1 as usize;
            let (task, (earliest, alone)) = (self.out[out], self.alone[out]);
            let of = &self.instance.tasks[task as usize];
            let start = self.room.place_task(earliest, i64::from(of.procs), of.run)?;
            let own = self.cost_of(task, start);
            (bound, cost) = (bound + own - alone, cost + own);
            if bound > limit {
                return None;
            }
            self.placed.push((task, start));
        }
        let moves = self.placed.iter().any(|&(task, start)| self.starts[task as usize] != start);
        moves.then_some(cost)
    }

    /// The order in which they come back, by their places among those that are out.
    fn arrange_tasks(&mut self, anchor: u32) {
        let kind = self.random_below(4);
        let noise = if self.random_below(2) == 0 { 0.0 } else { 0.5 };
        let anchor_first = self.random_below(2) == 0;
        self.order.clear();
        let first = self.out.iter().map(|&task| self.starts[task as usize]).min().unwrap_or(0);
        for at in 0..self.out.len() {
            let task = self.out[at];
            let of = self.instance.tasks[task as usize];
            let weight = self.weights[task as usize].max(1e-12);
            let key = match kind {
                0 => (self.starts[task as usize] - first) as f64,
                1 => f64::from(of.procs) * of.run as f64 / weight,
                2 => of.run as f64 / weight,
                _ => self.random_unit(),
            };
            let key = if noise > 0.0 { key * (1.0 + noise * (2.0 * self.random_unit() - 1.0)) } else { key };
            self.order.push((if anchor_first && task == anchor { -1.0 } else { key }, at as u32));
        }
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }

    /// Moves what was placed elsewhere.
    fn keep_moves(&mut self) {
        for at in 0..self.placed.len() {
            let (task, start) = self.placed[at];
            let old = self.starts[task as usize];
            if start != old {
                let of = &self.instance.tasks[task as usize];
                self.timeline.shift_task(task, of, old, start);
                self.starts[task as usize] = start;
                if self.span != EVER {
                    self.moved.push(task);
                }
                let waits = self.weights[task as usize] > 0.0 && start > of.release + of.grace;
                self.waiting.set_waiting(task, waits);
            }
        }
    }
}

fn is_movable(instance: &Instance, at: usize) -> bool {
    let task = &instance.tasks[at];
    !task.fixed && task.run > 0
}
