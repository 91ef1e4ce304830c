//! Properties of priority files and platform files, for any text.

use drystone::engine::Platform;
use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::Priorities;

/// Checks every property of both readers on this text.
pub(crate) fn hold(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Platform::from_toml(text) {
        Err(error) => assert!(!error.to_string().is_empty(), "an error says nothing"),
        Ok(platform) => assert_eq!(Platform::from_toml(text), Ok(platform)),
    }
    match Priorities::from_toml(text) {
        Err(error) => assert!(!error.to_string().is_empty(), "an error says nothing"),
        Ok(priorities) => {
            let workload = workload();
            let is_valid = priorities.check_workload(&workload).is_ok();
            let user_priorities = priorities.for_workload(&workload);
            assert_eq!(user_priorities.is_ok(), is_valid, "the check says another thing than what it checks");
            if let Ok(user_priorities) = user_priorities {
                for (at, job) in workload.jobs().iter().enumerate() {
                    let importance = user_priorities.job_importance(drystone::model::JobId(at as u32), job);
                    let (user, political) = (importance.user, importance.political);
                    assert!((0.0..=1.0).contains(&user), "a user's priority of {user}");
                    // Below all: only where they delay no other job.
                    assert!((0.0..=1.0).contains(&political) || political == f64::NEG_INFINITY, "{political}");
                }
            }
        }
    }
}

/// Twelve jobs of three users, two groups and two queues, numbered from 1.
fn workload() -> Workload {
    let job = |i: i64| {
        let (user, group, queue) = ((i % 3) as i32 + 1, (i % 2) as i32 + 1, (i / 6) as i32 + 1);
        let mut job = Job::new(Time(i), 1, Span(60)).with_user(user);
        (job.group, job.queue) = (group, queue);
        job
    };
    let truth = |i: i64| Truth { run: Span(30), number: i + 1, status: LogStatus::Completed };
    let (jobs, truth) = ((0..12).map(job).collect(), (0..12).map(truth).collect());
    match Workload::new(Machine::new(4), jobs, truth, Provenance::default()) {
        Ok(workload) => workload,
        Err(error) => panic!("{error}"),
    }
}
