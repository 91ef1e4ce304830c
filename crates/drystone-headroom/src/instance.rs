//! Jobs and a machine, with what delays cost.

use crate::capacity::CapacitySteps;
use crate::measure::HeadroomTask;
use std::fmt;

/// Times and run times beyond this many seconds are refused, so that no sum can overflow.
const LIMIT: i64 = 1 << 40;

/// Jobs, the machine over time, and what delays cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Instance {
    pub(crate) capacity: CapacitySteps,
    pub(crate) tasks: Vec<HeadroomTask>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impossible {
    /// Place of the task.
    pub task: usize,
    pub problem: String,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {} {}", self.task, self.problem)
    }
}

impl std::error::Error for Impossible {}

impl Instance {
    /// These tasks on this machine, in any order.
    ///
    /// # Errors
    /// A task without processors, with a negative run time, a time beyond ±2⁴⁰ s, a weight without
    /// denominator; one wider than the machine ever is.
    pub fn new(capacity: CapacitySteps, tasks: Vec<HeadroomTask>) -> Result<Instance, Impossible> {
        for (task, of) in tasks.iter().enumerate() {
            let problem = if of.procs == 0 {
                "has no processor".to_string()
            } else if of.run < 0 || of.grace < 0 || of.settled < 0 {
                "has a negative time".to_string()
            } else if of.weight.under == 0 {
                "has a weight without denominator".to_string()
            } else if [of.release, of.run, of.grace, of.settled].iter().any(|time| time.abs() > LIMIT) {
                format!("has a time beyond ±{LIMIT} s")
            } else if !of.fixed && i64::from(of.procs) > capacity.max_procs() {
                format!("takes {} processors, and there are never more than {}", of.procs, capacity.max_procs())
            } else {
                continue;
            };
            return Err(Impossible { task, problem });
        }
        Ok(Instance { capacity, tasks })
    }

    pub fn tasks(&self) -> &[HeadroomTask] {
        &self.tasks
    }

    pub fn capacity(&self) -> &CapacitySteps {
        &self.capacity
    }

    /// The first release; 0 without tasks.
    pub(crate) fn first_release(&self) -> i64 {
        self.tasks.iter().map(|task| task.release).min().unwrap_or(0)
    }
}
