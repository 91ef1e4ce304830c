//! The one line that the author of a policy calls, on a policy that is no part of the library.

use drystone::model::JobId;
use drystone::policy::{Actions, Param, Policy, PolicyEvent, PolicyKind, StartReason, Takes, View, register_policy};
use drystone_testkit::{CaseChange, FamilyTrial, Guarantee, assert_sound};
use serde::{Deserialize, Serialize};

/// Of the first few waiting jobs, every one that fits starts. With a fault, no more than `most`
/// jobs are ever started.
#[derive(Serialize, Deserialize)]
struct Shallow {
    depth: usize,
    most: usize,
    started: usize,
    queue: Vec<JobId>,
}

impl Policy for Shallow {
    fn name(&self) -> &str {
        "t-shallow"
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
        let mut at = 0;
        while at < self.queue.len().min(self.depth) && self.started < self.most {
            let id = self.queue[at];
            let procs = view.job(id).procs;
            if procs > free {
                at += 1;
                continue;
            }
            free -= procs;
            self.started += 1;
            actions.start_job(id, StartReason::Backfilled);
            self.queue.remove(at);
        }
    }
}

const DEPTH: Param = Param::new("depth", "50", &[Takes::Whole { from: 1, to: 9_999 }], "number of jobs considered");

#[test]
fn a_policy_of_another_crate_is_tried_in_one_line() {
    static SHALLOW: PolicyKind = PolicyKind::new("t-shallow", "the first jobs that fit start", &|args| {
        Ok(Box::new(Shallow { depth: args.get("depth")?, most: usize::MAX, started: 0, queue: Vec::new() }))
    })
    .with_params(&[DEPTH]);
    register_policy(&SHALLOW).expect("a new name");
    assert_sound("t-shallow", &[Guarantee::Uninterrupted]);
    let follows = [CaseChange::Shift, CaseChange::Append, CaseChange::Double];
    let trial = FamilyTrial::for_family("t-shallow")
        .with_changes(&follows)
        .skip_values(|name, _| name == "predict")
        .with_cases(1);
    assert!(trial.run().is_ok());
    // In order of arrival only where it looks at one job.
    let in_order = FamilyTrial::for_family("t-shallow").with_cases(20).with_guarantees(|_| vec![Guarantee::InOrder]);
    assert!(in_order.run().expect_err("overtakes").problem.contains("in the order of their arrival"));
}

#[test]
fn a_policy_that_loses_jobs_is_shown_on_a_few() {
    static LOSES: PolicyKind = PolicyKind::new("t-loses", "two jobs start", &|args| {
        Ok(Box::new(Shallow { depth: args.get("depth")?, most: 2, started: 0, queue: Vec::new() }))
    })
    .with_params(&[DEPTH]);
    register_policy(&LOSES).expect("a new name");
    let failure = FamilyTrial::for_family("t-loses").run().expect_err("loses jobs");
    assert!(failure.problem.contains("for ever"), "{}", failure.render_report());
    assert_eq!(failure.case.rows.len(), 3, "{}", failure.render_report());
}
