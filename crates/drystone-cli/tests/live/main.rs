//! `drystone live`, its page and sweeps on a real Slurm: see `drystone-testbed`. Without one every
//! test says that it skips, and passes; with `DRYSTONE_SLURM_REQUIRED=1` it fails. With
//! `DRYSTONE_LIVE_FULL=1` runs have the length of the figures in docs/live.md. Tests wait more than
//! they work, so that twelve run at once, each with a cluster of its own. Those of `LONG` run with
//! `--ignored` or `--include-ignored`. `.ci/run` runs all of them in a process of its own, beside
//! all other tests, and sets `DRYSTONE_LIVE_BESIDE` so that they do not run a second time.
#![allow(clippy::disallowed_methods, reason = "tests wait for processes")]

// What tests of the program and of pages share with those here, which use a part of it.
#[cfg(unix)]
#[path = "../cli/cluster/at_work.rs"]
mod at_work;
#[allow(dead_code)]
#[cfg(unix)]
#[path = "../cli/browser/chromium.rs"]
mod chromium;
#[allow(dead_code)]
#[cfg(unix)]
#[path = "../cli/common.rs"]
mod common;

#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod arrays;
#[cfg(unix)]
mod back;
#[cfg(unix)]
mod closed;
#[cfg(unix)]
mod crowds;
#[cfg(unix)]
mod depends;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod fidelity;
#[cfg(unix)]
mod holds;
#[cfg(unix)]
mod lag;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod messages;
#[cfg(unix)]
mod model;
#[cfg(unix)]
mod newcomers;
#[cfg(unix)]
mod nodes;
#[cfg(unix)]
mod orphans;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod readers;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod sets;
#[cfg(unix)]
mod shadow;
#[cfg(unix)]
mod shrink;
#[cfg(unix)]
mod site;
#[cfg(unix)]
mod soak;
#[cfg(unix)]
mod sweeps;
#[cfg(unix)]
mod tutorial;
#[cfg(unix)]
mod users;
#[cfg(unix)]
mod when;

#[cfg(not(unix))]
fn main() {}

/// Tests that take two minutes or more, most of it waits that Slurm prescribes, or all of a core.
#[cfg(unix)]
const LONG: [&str; 14] = [
    "jobs_over_a_limit_start_when_it_is_raised",
    "hand_back_releases_tasks_that_a_limit_stopped",
    "no_job_is_left_behind_at_any_end",
    "answers_hold_on_a_busy_cluster",
    "the_sites_own_priorities_order_jobs",
    "shadow_beside_backfill",
    "daemon_gone_for_good",
    "a_dependency_on_a_job_that_left_the_records",
    "thousands_come_and_are_cancelled",
    "thousands_come_under_conservative",
    "an_array_of_fifty_thousand_under_easy",
    "an_array_of_fifty_thousand_under_conservative",
    "thousands_come_under_a_policy_that_counts",
    "an_array_of_fifty_thousand_under_a_policy_that_counts",
];

#[cfg(unix)]
fn main() {
    use libtest_mimic::{Arguments, Trial, run};
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(12);
    let make_trial = |name: &str, test: fn()| {
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        trial.with_ignored_flag(!site::full() && LONG.contains(&name))
    };
    // The longest first, which wait most: the others fit beside them.
    let suites = [
        shadow::tests(),
        soak::tests(),
        depends::tests(),
        limits::tests(),
        lag::tests(),
        answers::tests(),
        orphans::tests(),
        newcomers::tests(),
        closed::tests(),
        back::tests(),
        arrays::tests(),
        page::tests(),
        readers::tests(),
        sweeps::tests(),
        tutorial::tests(),
        nodes::tests(),
        sets::tests(),
        shrink::tests(),
        faults::tests(),
        model::tests(),
        record::tests(),
        crowds::tests(),
        users::tests(),
        holds::tests(),
        messages::tests(),
        fidelity::tests(),
        when::tests(),
    ];
    let trials = suites.into_iter().flatten().map(|(name, test)| make_trial(name, test)).collect();
    run(&arguments, trials).exit();
}
