//! A search among the first of many waiting jobs; the others follow the heuristic.

use super::search::{Found, Search};
use super::settings::Settings;
use super::steps::Steps;
use super::task::Task;
use crate::policy::Stopwatch;

impl Search {
    /// Searches the first `most` waiting jobs in the order of branches, then puts the others in that order behind the best path,
    /// as long as one may start now.
    pub(super) fn run_within(
        &mut self,
        most: usize,
        task: &Task,
        settings: &Settings,
        watch: Option<&dyn Stopwatch>,
    ) -> Found {
        self.table.order(task, settings.branching);
        let ranked = self.table.places.clone();
        let (near, beyond) = ranked.split_at(most);
        // In the order of arrival, as tasks are.
        let mut near: Vec<u32> = near.to_vec();
        near.sort_unstable();
        let here = |place: &u32| near.binary_search(place).ok().map(|at| at as u32);
        let first = Task {
            waiting: near.iter().map(|&place| task.waiting[place as usize]).collect(),
            last: task.last.iter().filter_map(here).collect(),
            ranked: task.ranked.iter().filter_map(here).collect(),
            running: task.running.clone(),
            changes: task.changes.clone(),
            usage: task.usage.clone(),
            ..*task
        };
        let found = self.run_all(&first, settings, watch);
        let mut starts = vec![i64::MAX; task.waiting.len()];
        for (&place, &start) in near.iter().zip(&found.starts) {
            starts[place as usize] = start;
        }
        let path: Vec<u32> = found.path.iter().map(|&at| near[at as usize]).collect();
        // Where time was up, those that were searched are not all placed.
        if path.len() == most {
            follow(task, &path, beyond, &mut starts);
        }
        Found { path: path.into_iter().chain(beyond.iter().copied()).collect(), starts, ..found }
    }
}

/// Starts of the jobs beyond the horizon, each at its earliest, behind those on the path: as many as may start now.
fn follow(task: &Task, path: &[u32], beyond: &[u32], starts: &mut [i64]) {
    let narrowest = beyond.iter().map(|&place| task.waiting[place as usize].procs).min().unwrap_or(0);
    let mut steps = Steps::default();
    if task.changes.is_empty() {
        steps.fill(task.free, task.ends());
    } else {
        steps.fill_changing(task.free, task.all_changes());
    }
    for &place in path {
        let job = &task.waiting[place as usize];
        // Those of the path may be narrower.
        steps.place(job.procs, job.span.max(1), 0);
    }
    for &place in beyond {
        steps.skip(narrowest);
        if steps.is_full_now() {
            return;
        }
        let job = &task.waiting[place as usize];
        starts[place as usize] = steps.place(job.procs, job.span.max(1), 0).start;
    }
}
