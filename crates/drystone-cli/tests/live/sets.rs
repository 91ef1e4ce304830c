//! Several sets of nodes under one daemon: partitions that share no node are scheduled by
//! themselves.

use super::site::{Site, Tests, until};
use drystone_testbed::ClusterOptions;
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![("two_sets_of_nodes_under_one_daemon", two_sets)]
}

const BOTH: [&str; 4] = ["--partition", "main", "--partition", "side"];

/// Two streams of jobs, one for each partition, while the daemon is killed and comes back. What
/// waits in one partition holds nothing back in the other.
fn two_sets() {
    let partition = |name: &str, nodes: &str| format!("PartitionName={name} Nodes={nodes} MaxTime=60 State=UP");
    let partitions =
        vec![partition("main", "n[1-2]") + " Default=YES", partition("side", "n[3-4]"), partition("across", "n[2-3]")];
    let options = ClusterOptions { nodes: 4, cpus: 4, partitions, ..ClusterOptions::default() };
    let Some(site) = Site::of(options, "easy", &["main", "side"]) else { return };
    let check = |partitions: &[&str]| {
        let args = [&["live", "drive", "--check", "--policy", "easy"], partitions].concat();
        let output = site.command(&args).output().expect("runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).replace('\n', " "))
    };
    let (is_allowed, output) = check(&BOTH);
    assert!(
        is_allowed && output.contains("partition main: 2 nodes") && output.contains("partition side: 2 nodes"),
        "{output}"
    );
    let (is_allowed, output) = check(&["--partition", "main", "--partition", "across"]);
    assert!(!is_allowed && output.contains("main and across have some nodes in common"), "{output}");

    let mut daemon = site.drive_with(&BOTH, None);
    let side = |procs, seconds, more: &[&str]| site.submit_with(procs, seconds, 5, &[&["-p", "side"], more].concat());
    // The whole of the first set, and jobs behind it that would need it whole as well.
    let long = site.submit(8, 45, 2);
    site.await_state(long, &["R"]);
    let behind: Vec<u64> = (0..3).map(|_| site.submit(8, 1, 2)).collect();
    let mover = site.submit(2, 1, 2);
    let waits = side(1, 1, &[&format!("--dependency=afterany:{long}")]);
    let since = Instant::now();
    let mut jobs = 6;
    let mut slowest = Duration::ZERO;
    while since.elapsed() < Duration::from_secs(20) {
        let submit_time = Instant::now();
        let job = side(8, 1, &[]);
        site.await_state(job, &["R", "CG", "CD"]);
        slowest = slowest.max(submit_time.elapsed());
        jobs += 1;
        if jobs == 9 {
            daemon.kill();
            std::thread::sleep(Duration::from_secs(1));
            daemon = site.drive_with(&BOTH, None);
        }
    }
    println!("{} jobs of the second set; the slowest started after {:.1} s", jobs - 6, slowest.as_secs_f64());
    assert!(behind.iter().all(|&job| site.state(job) == "held"), "{}", site.told());
    assert_eq!(site.state(waits), "held");
    let status = site.published();
    let names: Vec<&str> =
        status["sets"].as_array().into_iter().flatten().filter_map(|set| set["name"].as_str()).collect();
    assert_eq!(names, ["main", "side"], "{status}");
    assert_eq!(
        (status["sets"][0]["machine"]["procs"].as_u64(), status["machine"]["procs"].as_u64()),
        (Some(8), Some(16))
    );
    let output = site.run(&["live", "status"]);
    assert!(output.contains("main: ") && output.contains("side: "), "{output}");
    // A waiting job goes to the other set.
    site.tell("scontrol", &["update", &format!("JobId={mover}"), "Partition=side"]);
    site.await_state(mover, &["R", "CG", "CD"]);
    // The next daemon has what this one saved or journaled.
    daemon.kill();
    daemon = site.drive_with(&BOTH, None);
    site.drain(Duration::from_secs(120));
    site.settled();
    site.each_started_once(jobs);
    assert!(site.states().values().all(|state| state == "CD"), "{:?}", site.states());
    site.replays();
    let output = site.run(&["live", "journal", "replay"]);
    assert_eq!(output.matches("bit for bit").count(), 2, "{output}");
    assert!(!site.log().contains("taught"), "both sets continue where they were: {}", site.log());

    // Everything of both is given back at once.
    let waiting = [site.submit(8, 300, 30), site.submit(8, 1, 2), side(8, 300, &[]), side(8, 1, &[])];
    until("two run and two wait", || {
        waiting.map(|job| site.state(job)) == ["R".to_string(), "held".into(), "R".into(), "held".into()]
    });
    daemon.signal("-TERM");
    daemon.end();
    assert_eq!(site.state(waiting[3]), "PD", "{}", site.told());
    assert_eq!(site.state(waiting[1]), "PD", "{}", site.told());
}
