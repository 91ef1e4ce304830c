//! Arrays whose tasks cannot start: other jobs go on, and no task is released again and again.

use super::site::{Site, Tests, until, within};
use drystone_live::cluster::ClusterOrder;
use drystone_testbed::ClusterOptions;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("an_array_bound_to_a_busy_node_blocks_no_other_job", bound_to_a_busy_node),
        ("an_array_without_memory_blocks_no_other_job", without_memory),
        ("an_array_over_its_partitions_limit_blocks_no_other_job", over_the_limit),
        ("jobs_over_a_limit_start_when_it_is_raised", raised),
        ("tasks_of_a_released_array_are_seen_one_by_one", one_by_one),
        ("arrays_that_are_split_at_once_are_not_their_owners_holds", split_at_once),
    ]
}

/// Returns the number of releases ordered.
fn releases(site: &Site) -> usize {
    site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(_))).count()
}

/// Each task is tried now and then, with growing pauses: at most this many releases, whatever
/// passes.
fn few_releases(site: &Site, tasks: usize) {
    let count = releases(site);
    assert!(count <= tasks * 4 + 8, "{count} releases of {tasks} tasks");
}

fn bound_to_a_busy_node() {
    let Some(site) = Site::start(2, 8, "easy") else { return };
    let _daemon = site.drive();
    let blocker = site.submit_with(8, 120, 5, &["-w", "n1"]);
    site.await_state(blocker, &["R"]);
    site.submit_with(8, 1, 1, &["--array=1-8", "-w", "n1"]);
    let small = site.submit(1, 1, 1);
    within(Duration::from_secs(40), "the small job starts", || ["R", "CG", "CD"].contains(&site.state(small).as_str()));
    few_releases(&site, 8);
    site.tell("scancel", &[&blocker.to_string()]);
    site.drain(Duration::from_secs(120));
}

fn without_memory() {
    let lines = vec!["SelectType=select/cons_tres".into(), "SelectTypeParameters=CR_Core_Memory".into()];
    let Some(site) = Site::with(ClusterOptions { nodes: 2, cpus: 8, lines, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let _daemon = site.drive();
    // More memory than any node has free beside another: one at a time on each node.
    site.submit_with(1, 60, 5, &["--array=1-30", "--mem=60000"]);
    until("two tasks run", || site.states().values().filter(|state| *state == "R").count() >= 2);
    let small: Vec<u64> = (0..5).map(|_| site.submit_with(1, 1, 1, &["--mem=10"])).collect();
    within(Duration::from_secs(45), "small jobs start", || {
        small.iter().all(|&job| ["R", "CG", "CD"].contains(&site.state(job).as_str()))
    });
    few_releases(&site, 30);
}

fn over_the_limit() {
    let partitions = vec!["PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP".into()];
    let Some(site) = Site::with(ClusterOptions { nodes: 1, cpus: 8, partitions, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let _daemon = site.drive();
    site.submit_with(8, 1, 120, &["--array=1-10"]);
    let alone = site.submit(8, 1, 120);
    let small = site.submit(1, 1, 1);
    within(Duration::from_secs(20), "the small job starts", || ["R", "CG", "CD"].contains(&site.state(small).as_str()));
    few_releases(&site, 11);
    until("the reason is published", || site.published().to_string().contains("its partition"));
    assert_eq!(site.state(alone), "held");
}

/// Jobs over the limit of their partition wait beside the policy's queue: others start at once, for
/// the whole machine as well. Once the limit is raised they start after their pause.
fn raised() {
    let partitions = vec!["PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP".to_string()];
    let Some(site) = Site::with(ClusterOptions { nodes: 2, cpus: 4, partitions, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let _daemon = site.drive();
    let over = [site.submit(8, 2, 90), site.submit_with(1, 2, 90, &["--array=1-3"])];
    let begins = |job: u64| ["R", "CG", "CD"].contains(&site.state(job).as_str());
    let since = std::time::Instant::now();
    while since.elapsed() < Duration::from_secs(75) {
        let wide = site.submit(8, 1, 1);
        within(Duration::from_secs(15), "a job for the whole machine starts", || begins(wide));
    }
    assert_eq!(site.state(over[0]), "held", "{}", site.told());
    site.tell("scontrol", &["update", "PartitionName=main", "MaxTime=120"]);
    // Two pauses of a minute and two were over or began.
    within(Duration::from_secs(180), "all start", || {
        let over: Vec<String> = over.iter().map(u64::to_string).collect();
        let is_over = |name: &String| over.iter().any(|job| name == job || name.starts_with(&format!("{job}_")));
        site.states()
            .iter()
            .filter(|(name, _)| is_over(name))
            .all(|(_, state)| ["R", "CG", "CD"].contains(&state.as_str()))
    });
    site.settled();
    site.replays();
}

/// Slurm splits an array whose tasks wait for those of another at its next cycle, also between the
/// two listings of a look: it must not look as if its owner held it.
fn split_at_once() {
    let Some(site) = Site::start(2, 8, "easy") else { return };
    let _daemon = site.drive();
    let first = site.submit_with(1, 25, 1, &["--array=1-3"]);
    let after = format!("aftercorr:{first}");
    for _ in 0..30 {
        site.submit_with(1, 1, 1, &["--array=1-3", "-d", &after]);
        std::thread::sleep(Duration::from_millis(250));
    }
    until("the tasks are known", || site.published()["jobs"]["held"].as_u64() >= Some(80));
    site.drain(Duration::from_secs(150));
    let ledger = std::fs::read_to_string(site.home().ledger_path()).expect("a ledger");
    assert!(!ledger.lines().any(|line| line.contains("user")), "no owner held a job: {ledger}");
    site.each_started_once(93);
    site.settled();
}

/// A task that was released and waits is in flight; others of its array are held still.
fn one_by_one() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let _daemon = site.drive();
    site.submit_with(2, 2, 1, &["--array=1-6"]);
    site.drain(Duration::from_secs(60));
    site.settled();
    assert_eq!(releases(&site), 6, "each task is released once");
    site.each_started_once(6);
}
