//! Dividing what is to be simulated into tasks, and refusing what no cluster should be asked for.

use super::balance::{balance_work, compute_duration};
use super::cost::Costs;
use crate::SweepStudy;
use crate::error::SweepError;
use std::time::Duration;

/// Task sizes requested by the user.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TaskShape {
    pub tasks: u32,
    /// Processors of each, one thread on each.
    pub cpus: u32,
    /// The time limit of each, if there is one.
    pub limit: Option<Duration>,
    /// Tasks that are predicted to be shorter are refused.
    pub least: Duration,
    /// Time a task needs before its first simulation, to read the study and its logs.
    pub start: Duration,
    /// True if part of the study has been simulated before; the number of tasks is then chosen
    /// automatically.
    pub again: bool,
}

/// Assignment of simulations to tasks.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskDivision {
    /// Places in the plan of the simulations of each task, the longest first.
    pub tasks: Vec<Vec<usize>>,
    /// Predicted seconds of each task.
    pub seconds: Vec<f64>,
    /// Processors of each.
    pub cpus: u32,
}

impl TaskDivision {
    /// Returns the processor time that the tasks will occupy together, in hours.
    pub fn core_hours(&self) -> f64 {
        self.seconds.iter().sum::<f64>() * f64::from(self.cpus) / 3600.0
    }

    /// The predicted seconds of the longest task.
    pub fn longest_task(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }

    /// The predicted seconds of the shortest task.
    pub fn shortest_task(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Refuses a study whose results depend on the speed of a machine, of which a cluster has many.
///
/// # Errors
/// A policy of the study has a time limit.
pub fn refuse_timed(study: &SweepStudy) -> Result<(), SweepError> {
    let Some(policy) = study.timed_policy() else { return Ok(()) };
    Err(SweepError::refusal_error(format!(
        "`{policy}` has a time limit, so that its results depend on the speed of the node it runs on: limit it by nodes instead of \
         `budget`, or give --not-reproducible"
    )))
}

/// Divides the simulations at `todo`, whose predicted costs are given, into tasks that end
/// together.
///
/// # Errors
/// The tasks would be shorter than [`TaskShape::least`].
pub fn divide_tasks(todo: &[usize], costs: &Costs, shape: &TaskShape) -> Result<TaskDivision, SweepError> {
    let wanted_tasks = (shape.tasks as usize).clamp(1, todo.len().max(1));
    let most = most_tasks(costs, shape).clamp(1, wanted_tasks);
    // What is left of a study may be little: the same command must not fail for that.
    let division = make_division(todo, costs, shape, if shape.again { most } else { wanted_tasks });
    let least = shape.least.as_secs_f64();
    if shape.again || division.shortest_task() >= least {
        return Ok(division);
    }
    let advice = if most > 1 {
        format!("take --tasks {most}, or simulate on this machine: `drystone sweep STUDY.toml`")
    } else {
        "simulate on this machine: `drystone sweep STUDY.toml`".to_string()
    };
    Err(SweepError::refusal_error(format!(
        "{wanted_tasks} tasks would take {:.0} s each, less than {least:.0} s: starting them would cost the cluster more than they do; \
         {advice} (--min-task sets the limit)",
        division.longest_task()
    )))
}

/// Returns the number of tasks with which each takes the least time it must.
fn most_tasks(costs: &Costs, shape: &TaskShape) -> usize {
    let simulating = (shape.least.saturating_sub(shape.start)).as_secs_f64() * f64::from(shape.cpus.max(1));
    if simulating <= 0.0 { usize::MAX } else { (costs.total_seconds() / simulating) as usize }
}

fn make_division(todo: &[usize], costs: &Costs, shape: &TaskShape, tasks: usize) -> TaskDivision {
    let shares = balance_work(&costs.seconds, tasks);
    let start = shape.start.as_secs_f64();
    let seconds = |share: &Vec<usize>| {
        start + compute_duration(share.iter().map(|&piece| costs.seconds[piece]), shape.cpus as usize)
    };
    TaskDivision {
        seconds: shares.iter().map(seconds).collect(),
        tasks: shares.iter().map(|share| share.iter().map(|&piece| todo[piece]).collect()).collect(),
        cpus: shape.cpus,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(tasks: u32, cpus: u32, least: u64) -> TaskShape {
        let second = Duration::from_secs(1);
        TaskShape { tasks, cpus, limit: None, least: second * least as u32, start: second, again: false }
    }

    #[test]
    fn tasks_below_the_least_time_are_refused_with_a_number_that_is_not() {
        // 40 simulations of 30 s: 1,200 s.
        let costs = Costs { seconds: vec![30.0; 40], tried: 1 };
        let todo: Vec<usize> = (100..140).collect();
        let fine = divide_tasks(&todo, &costs, &shape(20, 1, 60)).expect("61 s each");
        assert_eq!((fine.tasks.len(), fine.longest_task()), (20, 61.0));
        assert!((fine.core_hours() - 20.0 * 61.0 / 3600.0).abs() < 1e-9);
        let error = divide_tasks(&todo, &costs, &shape(40, 1, 60)).expect_err("31 s each").to_string();
        assert!(error.contains("40 tasks would take 31 s each") && error.contains("--tasks 20"), "{error}");
        // Two processors halve it.
        let error = divide_tasks(&todo, &costs, &shape(20, 2, 60)).expect_err("31 s each").to_string();
        assert!(error.contains("--tasks 10"), "{error}");
        assert!(divide_tasks(&todo, &costs, &shape(10, 2, 60)).is_ok());
        // What is left of a sweep is never refused, but shared by fewer.
        let again = TaskShape { again: true, ..shape(40, 1, 60) };
        assert_eq!(divide_tasks(&todo, &costs, &again).expect("fewer").tasks.len(), 20);
        assert_eq!(
            divide_tasks(&todo[..1], &Costs { seconds: vec![1.0], tried: 1 }, &again).expect("one").tasks,
            [[100]]
        );
    }

    #[test]
    fn there_are_no_more_tasks_than_simulations() {
        let costs = Costs { seconds: vec![100.0; 3], tried: 1 };
        assert_eq!(divide_tasks(&[0, 1, 2], &costs, &shape(8, 1, 60)).expect("three").tasks.len(), 3);
    }
}
