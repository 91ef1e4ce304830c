//! Jobs that others must not keep waiting: behind a job that is left to Slurm, behind an array that
//! no limit lets start.

use super::site::{Site, Tests, user, within};
use super::users::{as_user_submits, ordinary};
use drystone_live::cluster::ClusterOrder;
use drystone_testbed::ClusterOptions;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("one_job_left_to_slurm_stops_no_other", left_to_slurm),
        ("an_array_over_a_time_limit_keeps_no_newcomer_waiting", over_a_time_limit),
        ("an_array_over_a_qos_limit_keeps_no_newcomer_waiting", over_a_qos_limit),
    ]
}

const RUNS: [&str; 3] = ["R", "CG", "CD"];
/// The longest that a look may be away from the next, in milliseconds: the orders of one look must
/// not stretch it to the longest that there is, which is 15 s.
const PERIOD: f64 = 10_000.0;

/// `sched/builtin` starts nothing behind a job that waits for room, and no heterogeneous job.
fn left_to_slurm() {
    let plain = ClusterOptions { nodes: 1, cpus: 4, scheduler: "builtin".into(), ..ClusterOptions::default() };
    let Some(site) = Site::with(plain, "easy") else { return };
    let output = site.command(&["live", "drive", "--policy", "easy", "--check"]).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && stderr.contains("in slurm.conf: SchedulerType=sched/backfill"),
        "{stderr}"
    );
    let options = ClusterOptions { nodes: 4, cpus: 8, node_words: "Feature=fast".into(), ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let mut daemon = site.drive();
    let first = site.submit_with(8, 120, 10, &["-w", "n1"]);
    site.await_state(first, &["R"]);
    let wide = site.submit_with(4, 1, 1, &["-N4", "-C", "[fast*4]"]);
    within(Duration::from_secs(30), "it is left to Slurm", || site.state(wide) == "PD");
    let small: Vec<u64> = (0..5).map(|_| site.submit(1, 1, 1)).collect();
    let answer = site.cluster.command_output(
        "sbatch",
        &["--parsable", "-o", "/dev/null", "-n2", "-t1", ":", "-n1", "-t1", "--wrap", "true"],
    );
    let several: u64 = answer.trim().parse().expect("a number");
    within(Duration::from_secs(60), &format!("small jobs run: {}", site.told()), || {
        small.iter().all(|&job| RUNS.contains(&site.state(job).as_str()))
    });
    within(Duration::from_secs(60), "the components run", || {
        let of = format!("{several}+");
        let states = site.states();
        let mut components = states.iter().filter(|(name, _)| name.starts_with(&of)).peekable();
        components.peek().is_some() && components.all(|(_, state)| RUNS.contains(&state.as_str()))
    });
    assert_eq!(site.state(wide), "PD");
    assert!(!daemon.has_ended());
}

/// One job a second of another user beside the array. Each starts, and looks stay close together.
fn newcomers_start(site: &Site) {
    let jobs: Vec<u64> = (0..10)
        .map_while(|_| {
            std::thread::sleep(Duration::from_secs(1));
            let period = site.published()["health"]["period_ms"].as_f64().unwrap_or(0.0);
            assert!(period <= PERIOD, "a look every {period} ms: {}", site.told());
            as_user_submits(site, &["-n", "1", "-t", "1"], 1)
        })
        .collect();
    within(Duration::from_secs(60), &format!("newcomers run: {}", site.told()), || {
        let states = site.states();
        jobs.iter().all(|job| RUNS.contains(&states[&job.to_string()].as_str()))
    });
    let listing =
        site.cluster.command_output("squeue", &["-h", "-a", "-t", "all", "-u", &ordinary(), "-o", "%A %V %S"]);
    println!("newcomers, with their times of submission and start:\n{listing}");
}

fn releases_of(site: &Site, array: u64) -> usize {
    site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(key) if key.id == array)).count()
}

fn over_a_time_limit() {
    let partitions = vec!["PartitionName=main Nodes=n[1-4] Default=YES MaxTime=60 State=UP".to_string()];
    let options = ClusterOptions { nodes: 4, cpus: 8, partitions, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let _daemon = site.drive();
    let array = site.submit_with(1, 5, 120, &["--array=1-200"]);
    newcomers_start(&site);
    // As many as there are processors at first, then one at a time.
    let releases = releases_of(&site, array);
    assert!(releases <= 32 + 4, "{releases} releases");
    site.tell("scancel", &[&array.to_string()]);
    site.drain(Duration::from_secs(60));
    site.settled();
    site.replays();
}

fn over_a_qos_limit() {
    let own = format!("add user {} account=a", user());
    let other_user = format!("add user {} account=a", ordinary());
    let class = format!("modify user {} set qos+=two", user());
    let accounts = ["add account a", "add qos two", "modify qos two set MaxJobsPerUser=2", &own, &other_user, &class];
    let lines = vec!["AccountingStorageEnforce=limits,qos".to_string()];
    let accounts = Some(accounts.map(String::from).to_vec());
    let options = ClusterOptions { nodes: 4, cpus: 8, lines, accounts, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let _daemon = site.drive();
    let array = site.submit_with(1, 6, 1, &["--array=1-120", "--qos=two"]);
    newcomers_start(&site);
    within(Duration::from_secs(120), "tasks have their turn", || {
        let tasks = format!("{array}_");
        site.states().iter().filter(|(name, state)| name.starts_with(&tasks) && *state == "CD").count() >= 6
    });
    // As many as there are processors at first, then as many as jobs of the user end.
    let end_count = site.states().values().filter(|state| *state == "CD").count();
    let releases = releases_of(&site, array);
    assert!(releases <= 32 + 2 * end_count + 8, "{releases} releases, {end_count} ends");
    site.tell("scancel", &[&array.to_string()]);
    site.drain(Duration::from_secs(60));
    site.settled();
    site.replays();
}
