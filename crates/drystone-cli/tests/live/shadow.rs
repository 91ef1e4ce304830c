//! Beside Slurm's own backfill: not one call that changes anything, and a report.

use super::site::{Site, Tests, until};
use drystone_testbed::ClusterOptions;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![("shadow_beside_backfill", beside_backfill)]
}

const JOBS: u32 = 300;

fn beside_backfill() {
    let lines = vec!["SlurmctldDebug=verbose".to_string()];
    let options =
        ClusterOptions { nodes: 4, cpus: 8, scheduler: "backfill".into(), lines, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy++") else { return };
    let daemon = site.shadow();
    for k in 0..JOBS {
        let (procs, seconds) = (1 + (k * 7) % 12, 1 + (k * 5) % 2);
        site.submit(procs, seconds, 1 + (k * 3) % 4);
        if k == 150 {
            // A restart in the middle changes nothing.
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    site.drain(Duration::from_secs(300));
    until("all is seen", || site.published()["jobs"]["running"].as_u64().unwrap_or(0) == 0);
    until("the books agree", || site.published()["health"]["differences"] == 0);
    drop(daemon);
    assert_eq!(site.orders(), [], "no order");
    let log = std::fs::read_to_string(site.cluster.root().join("log/slurmctld.log")).expect("a log");
    for word in [
        "_slurm_rpc_update_job",
        "REQUEST_UPDATE_JOB",
        "_slurm_rpc_suspend",
        "_slurm_rpc_requeue",
        "_slurm_rpc_kill_job",
        "REQUEST_KILL_JOB",
        "REQUEST_SUSPEND",
    ] {
        let calls: Vec<&str> = log.lines().filter(|line| line.contains(word)).collect();
        assert!(calls.is_empty(), "{word}: {calls:?}");
    }
    assert!(log.contains("_slurm_rpc_submit_batch_job"), "the log tells of calls that change something");
    site.replays();
    let report: serde_json::Value =
        serde_json::from_str(&site.run(&["live", "report", "--baseline", "easy", "--format", "json"])).expect("JSON");
    assert_eq!(report["jobs"], JOBS);
    let wait = |policy: &str| report["wait"][policy][0].as_f64().expect("a mean");
    let interval = &report["wait"]["policy"][1];
    assert!(interval[0].as_f64() <= Some(wait("policy")) && interval[1].as_f64() >= Some(wait("policy")), "{report}");
    assert!(report["predictions"]["learned"].as_u64() > Some(100), "{report}");
    let job_count: u64 = report["moved"].as_array().expect("counts").iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(job_count, u64::from(JOBS));
    // The same as a log that the simulator reads.
    site.run(&["live", "journal", "export", "--out", "site.swf"]);
    let log = std::fs::read_to_string(site.path("site.swf")).expect("written");
    assert_eq!(log.lines().filter(|line| !line.starts_with(';')).count(), JOBS as usize);
    let compared =
        site.run(&["compare", "--workload", "site.swf", "-p", "easy", "-p", "fcfs", "--format", "json", "--quiet"]);
    assert!(compared.contains("\"schema\": \"drystone/compare/1\""));
    // Another policy on the same recording.
    let state = site.home().state_folder().display().to_string();
    let output =
        site.command(&["live", "shadow", "--policy", "conservative", "--from", &state]).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
