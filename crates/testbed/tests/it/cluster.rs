//! A cluster that works, and that leaves nothing behind.

use drystone_testbed::{ClusterOptions, PrivateSlurm};
use std::time::Duration;

/// Waits until this holds.
fn until(label: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it takes too long: {label}");
}

#[test]
fn a_cluster_runs_jobs_and_leaves_nothing_behind() {
    let options = ClusterOptions { lines: vec!["KillWait=1".to_string()], ..ClusterOptions::default() };
    let Some(mut cluster) = PrivateSlurm::start_cluster(&options) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let marker = folder.path().join("done");
    let short = format!("echo $SLURMD_NODENAME > {}", marker.display());
    let _ = cluster.command_output("sbatch", &["-o", "/dev/null", "-w", "n2", "--wrap", &short]);
    until("the short job ends", || std::fs::read_to_string(&marker).is_ok_and(|text| text == "n2\n"));
    // A job that would outlive every test, and a node that dies below it.
    let pid = folder.path().join("pid");
    let long = format!("echo $$ > {}; exec sleep 86400", pid.display());
    let _ = cluster.command_output("sbatch", &["-o", "/dev/null", "-w", "n1", "--wrap", &long]);
    let alive = || {
        let pid = std::fs::read_to_string(&pid).unwrap_or_default();
        !pid.is_empty() && std::path::Path::new("/proc").join(pid.trim()).join("cwd").read_link().is_ok()
    };
    until("the long job starts", alive);
    cluster.kill_node("n1");
    assert!(alive(), "a job outlives its node's daemon");
    cluster.kill_steps("n1");
    until("the long job is killed", || !alive());
    cluster.kill_controller();
    cluster.start_controller();
    until("the controller is back", || cluster.slurm_command("squeue").output().is_ok_and(|o| o.status.success()));
    let _ = cluster.command_output("sbatch", &["-o", "/dev/null", "-w", "n2", "--wrap", &long]);
    std::fs::remove_file(&pid).expect("removed");
    until("another long job starts", alive);
    let root = cluster.root().to_path_buf();
    drop(cluster);
    assert!(!alive(), "no job is left");
    assert!(!root.exists(), "no file is left");
}
