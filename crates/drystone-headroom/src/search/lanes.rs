//! Several searches side by side, each in a part of the time of its own: a trial changes a few
//! days, so that most of them do not meet.

use super::{HeadroomSearch, KEEPS, MovableTasks, NOWHERE, STRIDE, SearchAtWork, Searching, is_movable};
use crate::instance::Instance;
use crate::schedule::TaskSchedule;
use rand::RngExt;
use std::time::{Duration, Instant};

/// Least number of waiting tasks for a search of its own.
const FEWEST_WAITING: usize = 500;
/// Largest number of searches: with more, their parts become too short.
const MOST_LANES: usize = 16;
/// Shortest time after which the parts are divided again.
const SHORTEST_ROUND: Duration = Duration::from_millis(200);
/// Number of divisions of a long search.
const ROUNDS: f64 = 120.0;

/// Result of searches side by side.
pub(super) struct BesideFound {
    pub(super) starts: Vec<i64>,
    pub(super) trials: u64,
    pub(super) stopped: bool,
}

/// Returns the number of searches for so many waiting tasks on so many threads; 0 threads are all
/// that the machine has.
pub(super) fn count_lanes(threads: usize, waiting: usize) -> usize {
    let threads = if threads > 0 { threads } else { std::thread::available_parallelism().map_or(1, Into::into) };
    threads.min(MOST_LANES).min(waiting / FEWEST_WAITING).max(1)
}

impl SearchAtWork<'_> {
    /// Goes on within a part of the time: only tasks that run wholly in it are moved, and stay in
    /// it.
    fn focus_span(&mut self, span: (i64, i64)) {
        self.span = span;
        self.moved.clear();
        let mut waiting_tasks = MovableTasks { list: Vec::new(), place: std::mem::take(&mut self.waiting.place) };
        waiting_tasks.place.fill(NOWHERE);
        for (at, (task, &start)) in self.instance.tasks.iter().zip(&self.starts).enumerate() {
            let inside = start >= span.0 && start + task.run <= span.1;
            if inside && self.is_waiting(at) {
                waiting_tasks.set_waiting(at as u32, true);
            }
        }
        self.waiting = waiting_tasks;
    }

    fn is_waiting(&self, at: usize) -> bool {
        let task = &self.instance.tasks[at];
        is_movable(self.instance, at) && self.weights[at] > 0.0 && self.starts[at] > task.release + task.grace
    }

    /// Takes over where another search has put a task.
    fn follow_move(&mut self, task: u32, start: i64) {
        let old = std::mem::replace(&mut self.starts[task as usize], start);
        if old != start {
            self.timeline.shift_task(task, &self.instance.tasks[task as usize], old, start);
        }
    }

    /// Tries until the time is over; answers how often.
    fn run_trials(&mut self, since: Instant, limit: Duration, until: Duration) -> u64 {
        let mut trials = 0;
        while !self.waiting.list.is_empty() {
            let elapsed_time = since.elapsed();
            if elapsed_time >= until {
                break;
            }
            let heat = self.heat * (1.0 - elapsed_time.as_secs_f64() / limit.as_secs_f64().max(1e-9)).max(0.0);
            for _ in 0..STRIDE {
                self.run_trial(heat);
            }
            trials += STRIDE;
        }
        trials
    }
}

/// Searches in so many parts of the time at once, which are divided again and again.
#[expect(clippy::disallowed_methods, reason = "the duration of the search")]
pub(super) fn search_beside(
    (instance, begin): (&Instance, &TaskSchedule),
    settings: &HeadroomSearch,
    (lanes, limit): (usize, Duration),
    on_progress: &dyn Fn(Searching) -> bool,
) -> BesideFound {
    let since = Instant::now();
    let lane_search = |lane: usize| HeadroomSearch { seed: settings.seed.wrapping_add(lane as u64), ..*settings };
    let mut searches: Vec<SearchAtWork<'_>> =
        (0..lanes).map(|lane| SearchAtWork::new(instance, begin, &lane_search(lane))).collect();
    let mut best = (searches[0].cost, begin.starts.clone());
    let round = SHORTEST_ROUND.max(limit.div_f64(ROUNDS));
    let (mut trials, mut kept_share, mut is_stopped) = (0, 0.0, false);
    loop {
        let share = since.elapsed().as_secs_f64() / limit.as_secs_f64().max(1e-9);
        let is_over = share >= 1.0;
        if is_over || (share * KEEPS).floor() > kept_share {
            kept_share = (share * KEEPS).floor();
            if searches[0].cost < best.0 {
                best = (searches[0].cost, searches[0].starts.clone());
            }
        }
        if is_over {
            break;
        }
        if !on_progress(Searching { done: share, best: best.0, cost: searches[0].cost }) {
            is_stopped = true;
            if searches[0].cost < best.0 {
                best = (searches[0].cost, searches[0].starts.clone());
            }
            break;
        }
        let Some(spans) = divide_time(&mut searches[0], lanes) else { break };
        let until = (since.elapsed() + round).min(limit);
        for (search, &span) in searches.iter_mut().zip(&spans) {
            search.focus_span(span);
        }
        trials += std::thread::scope(|scope| {
            let workers: Vec<_> =
                searches.iter_mut().map(|search| scope.spawn(move || search.run_trials(since, limit, until))).collect();
            // A search that panics ends all of them.
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .sum::<u64>()
        });
        share_moves(&mut searches);
    }
    BesideFound { starts: best.1, trials, stopped: is_stopped }
}

/// Borders between the parts, such that about as many tasks wait in each; elsewhere each time.
/// `None` where none waits.
fn divide_time(search: &mut SearchAtWork<'_>, lanes: usize) -> Option<Vec<(i64, i64)>> {
    let starts = &search.starts;
    let mut waiting_starts: Vec<i64> =
        (0..starts.len()).filter(|&at| search.is_waiting(at)).map(|at| starts[at]).collect();
    waiting_starts.sort_unstable();
    let last = waiting_starts.len().checked_sub(1)?;
    let mut borders = vec![super::EVER.0];
    for lane in 1..lanes {
        let shift = 0.7 * (search.random.random_range(0.0..1.0_f64) - 0.5);
        let at = ((lane as f64 + shift) / lanes as f64 * last as f64) as usize;
        borders.push(waiting_starts[at.min(last)]);
    }
    borders.push(super::EVER.1);
    Some(borders.windows(2).map(|pair| (pair[0], pair[1])).collect())
}

/// Lets each search know what the others have moved.
fn share_moves(searches: &mut [SearchAtWork<'_>]) {
    let moves: Vec<Vec<(u32, i64)>> = searches
        .iter_mut()
        .map(|search| {
            search.moved.sort_unstable();
            search.moved.dedup();
            search.moved.iter().map(|&task| (task, search.starts[task as usize])).collect()
        })
        .collect();
    // All began the round at the same cost.
    let gain: f64 = searches.iter().map(|search| search.cost - search.round_cost).sum();
    for (at, search) in searches.iter_mut().enumerate() {
        for list in moves.iter().enumerate().filter(|&(lane, _)| lane != at).map(|(_, list)| list) {
            list.iter().for_each(|&(task, start)| search.follow_move(task, start));
        }
        search.cost = search.round_cost + gain;
        search.round_cost = search.cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_waiting_tasks_are_one_search() {
        assert_eq!(count_lanes(4, 499), 1);
        assert_eq!(count_lanes(4, 1_200), 2);
        assert_eq!(count_lanes(4, 100_000), 4);
        assert_eq!(count_lanes(99, 100_000), 16);
    }
}
