//! A search among the first of many waiting jobs; the others follow the heuristic.

use super::search::{FoundSchedule, GoalSearch};
use super::settings::GoalSettings;
use super::steps::FreeSteps;
use super::task::GoalTask;
use crate::policy::Stopwatch;

impl GoalSearch {
    /// Searches the first `most` waiting jobs in the order of branches, then puts the others in
    /// that order behind the best path, as long as one may start now.
    pub(super) fn run_within(
        &mut self,
        most: usize,
        task: &GoalTask,
        settings: &GoalSettings,
        watch: Option<&dyn Stopwatch>,
    ) -> FoundSchedule {
        self.table.rank_jobs(task, settings.branching);
        let rank_places = self.table.places.clone();
        let (near, beyond) = rank_places.split_at(most);
        // In the order of arrival, as tasks are.
        let mut near: Vec<u32> = near.to_vec();
        near.sort_unstable();
        let near_index = |place: &u32| near.binary_search(place).ok().map(|at| at as u32);
        let first = GoalTask {
            waiting: near.iter().map(|&place| task.waiting[place as usize]).collect(),
            last: task.last.iter().filter_map(near_index).collect(),
            ranked: task.ranked.iter().filter_map(near_index).collect(),
            running: task.running.clone(),
            changes: task.changes.clone(),
            levels: task.levels.clone(),
            supply: task.supply.clone(),
            held: task.held.clone(),
            asks: match task.levels.is_empty() {
                true => Vec::new(),
                false => near.iter().map(|&place| task.job_need(place as usize).amounts.to_vec()).collect(),
            },
            nodes: task.nodes.as_ref().map(|nodes| Box::new(nodes.with_some(&near))),
            shares: near.iter().filter_map(|&place| task.shares.get(place as usize).copied()).collect(),
            usage: task.usage.clone(),
            ..*task
        };
        let near_schedule = self.run_all(&first, settings, watch);
        let mut starts = vec![i64::MAX; task.waiting.len()];
        for (&place, &start) in near.iter().zip(&near_schedule.starts) {
            starts[place as usize] = start;
        }
        let path: Vec<u32> = near_schedule.path.iter().map(|&at| near[at as usize]).collect();
        // Where time was up, those that were searched are not all placed.
        if path.len() == most {
            place_beyond(task, &path, beyond, &mut starts);
        }
        FoundSchedule { path: path.into_iter().chain(beyond.iter().copied()).collect(), starts, ..near_schedule }
    }
}

/// Starts of the jobs beyond the horizon, each at its earliest, behind those on the path: as many
/// as may start now.
fn place_beyond(task: &GoalTask, path: &[u32], beyond: &[u32], starts: &mut [i64]) {
    let narrowest = beyond.iter().map(|&place| task.waiting[place as usize].procs).min().unwrap_or(0);
    let mut steps = FreeSteps::default();
    task.fill_steps(&mut steps);
    for &place in path {
        let job = &task.waiting[place as usize];
        // Those of the path may be narrower.
        steps.place_job(task.job_need(place as usize), job.span.max(1), 0);
    }
    for &place in beyond {
        steps.skip_narrow(narrowest);
        if steps.is_full_now() {
            return;
        }
        let job = &task.waiting[place as usize];
        starts[place as usize] = steps.place_job(task.job_need(place as usize), job.span.max(1), 0).start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::policy::goal::{Branching, GoalCandidate};
    use proptest::prelude::*;

    fn tasks() -> impl Strategy<Value = GoalTask> {
        let job = (0i64..500, 1u32..=8, 1i64..100);
        (prop::collection::vec((1i64..80, 1u32..4), 0..3), prop::collection::vec(job, 1..12)).prop_map(
            |(ends, jobs)| {
                let mut running: Vec<(Time, u32)> = ends.into_iter().map(|(end, procs)| (Time(end), procs)).collect();
                running.sort_unstable();
                let procs_in_use: u32 = running.iter().map(|run| run.1).sum();
                let mut waiting: Vec<GoalCandidate> = jobs
                    .into_iter()
                    .map(|(age, procs, span)| GoalCandidate {
                        submit: Time(-age),
                        procs,
                        span,
                        run: span,
                        ..GoalCandidate::default()
                    })
                    .collect();
                waiting.sort_by_key(|job| job.submit);
                GoalTask { free: 8 - procs_in_use.min(8), running, waiting, ..GoalTask::default() }
            },
        )
    }

    proptest! {
        /// If only the heuristic path is followed, the horizon changes nothing: the same jobs start
        /// now. And a horizon that reaches all jobs is none.
        #[test]
        fn beyond_the_horizon_jobs_follow_the_heuristic(task in tasks(), most in 1u32..12, fcfs in any::<bool>()) {
            prop_assume!(task.waiting.iter().all(|job| job.procs <= task.procs()));
            let branching = if fcfs { Branching::Fcfs } else { Branching::Lxf };
            let heuristic = GoalSettings { nodes: Some(0), branching, ..GoalSettings::default() };
            let within = GoalSettings { horizon: Some(most), ..heuristic.clone() };
            let (whole, some) = (GoalSearch::default().run(&task, &heuristic, None), GoalSearch::default().run(&task, &within, None));
            prop_assert_eq!(&whole.path, &some.path);
            for (place, (&start, &partial_start)) in whole.starts.iter().zip(&some.starts).enumerate() {
                prop_assert!(start == partial_start || partial_start == i64::MAX && start > 0, "job {}: {} and {}", place, start, partial_start);
            }
            let settings = GoalSettings { nodes: Some(200), branching, ..GoalSettings::default() };
            let far = GoalSettings { horizon: Some(task.waiting.len() as u32), ..settings.clone() };
            prop_assert_eq!(GoalSearch::default().run(&task, &settings, None), GoalSearch::default().run(&task, &far, None));
        }
    }

    /// One processor until 10, one free; jobs of two processors first. With a horizon of two jobs
    /// the third, which the heuristic puts behind them, starts now only because it fits beside what
    /// the first two leave.
    #[test]
    fn one_that_fits_starts_from_beyond() {
        let job = |submit, procs, span| GoalCandidate {
            submit: Time(submit),
            procs,
            span,
            run: span,
            ..GoalCandidate::default()
        };
        let waiting = vec![job(-9, 2, 50), job(-8, 2, 50), job(-7, 1, 10), job(-6, 1, 11)];
        let task = GoalTask { free: 1, running: vec![(Time(10), 1)], waiting, ..GoalTask::default() };
        let settings = GoalSettings { horizon: Some(2), branching: Branching::Fcfs, ..GoalSettings::default() };
        let schedule = GoalSearch::default().run(&task, &settings, None);
        assert_eq!(schedule.starts[2], 0);
        assert_eq!(schedule.starts[3], i64::MAX, "nothing is free any more");
    }
}
