//! The program `drystone` with one more policy.

use drystone::model::JobId;
use drystone::policy::{Actions, Param, Policy, PolicyEvent, PolicyKind, StartReason, Takes, View, register_policy};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// Starts the newest of the first waiting jobs that fit: a beginning, not a good policy.
#[derive(Serialize, Deserialize)]
struct MyPolicy {
    /// Number of waiting jobs to consider.
    depth: usize,
    /// Waiting jobs, in the order of arrival.
    queue: Vec<JobId>,
}

impl Policy for MyPolicy {
    fn name(&self) -> &str {
        "my-policy"
    }

    fn observe(&mut self, event: PolicyEvent, _view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) => self.queue.push(id),
            PolicyEvent::Cancelled(id) => self.queue.retain(|&waiting| waiting != id),
            _ => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free_processors();
        let mut waiting: Vec<JobId> = self.queue.iter().take(self.depth).copied().collect();
        while let Some(id) = waiting.pop() {
            let procs = view.job(id).procs;
            if procs <= free {
                free -= procs;
                actions.start_job(id, StartReason::Backfilled);
                self.queue.retain(|&other| other != id);
            }
        }
    }
}

static MY_POLICY: PolicyKind =
    PolicyKind::new("my-policy", "the newest of the first waiting jobs that fit starts", &|args| {
        Ok(Box::new(MyPolicy { depth: args.get("depth")?, queue: Vec::new() }))
    })
    .with_source("an example")
    .with_params(&[Param::new("depth", "50", &[Takes::COUNT], "number of waiting jobs considered")]);

fn main() -> ExitCode {
    register_policy(&MY_POLICY).expect("no policy has this name");
    drystone_cli::main()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_testkit::{Guarantee, assert_sound};

    #[test]
    fn my_policy_is_sound() {
        register_policy(&MY_POLICY).expect("no policy has this name");
        assert_sound("my-policy", &[Guarantee::Uninterrupted]);
    }
}
