//! Holds of users, whatever else happens: of single tasks, over a hand-back, over a restart; and a
//! hand-back that finds what the hook reads.

use super::site::{Site, Tests, until};
use super::users::{as_user, as_user_submits};
use drystone_live::state::Beat;
use drystone_testbed::ClusterOptions;
use std::process::Output;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("a_hold_of_one_task", one_task),
        ("a_users_hold_outlives_hand_back_and_restart", outlives),
        ("requeued_and_held_by_its_owner", requeued_and_held),
        ("a_launch_that_failed_waits_for_its_owner", launch_failed),
        ("hand_back_finds_the_heartbeat_of_the_hook", finds_the_heartbeat),
        ("two_states_and_one_run_folder", two_states),
        ("hand_back_leaves_arrays_whole", arrays_stay_whole),
        ("hand_back_keeps_the_order_of_submission", order_stays),
    ]
}

fn well(output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
}

fn one_task() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let _daemon = site.drive();
    let running = site.submit(2, 8, 5);
    site.await_state(running, &["R"]);
    let Some(array) = as_user_submits(&site, &["-n", "2", "-t", "1", "--array=1-5"], 1) else { return };
    until("its tasks wait", || site.published()["jobs"]["waiting"] == 5);
    well(&as_user(&site, "scontrol", &["hold", &format!("{array}_4")]).expect("root"));
    until("one of them is held", || site.published()["jobs"]["held"] == 1);
    let over = || site.states().iter().filter(|(_, state)| *state == "CD").count();
    until("the others are over", || over() == 5);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(site.states()[&format!("{array}_4")], "held");
    well(&as_user(&site, "scontrol", &["release", &format!("{array}_4")]).expect("root"));
    site.drain(Duration::from_secs(60));
    site.each_started_once(6);
}

fn outlives() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let mut daemon = site.drive();
    let running = site.submit(2, 20, 5);
    site.await_state(running, &["R"]);
    let request = ["-n", "2", "-t", "1"];
    let Some(early) = as_user_submits(&site, &request, 1) else { return };
    let later = as_user_submits(&site, &request, 1).expect("root");
    until("they wait", || site.published()["jobs"]["waiting"] == 2);
    well(&as_user(&site, "scontrol", &["hold", &early.to_string()]).expect("root"));
    until("the hold counts", || site.published()["jobs"]["held"] == 1);
    daemon.signal("-TERM");
    assert_eq!(daemon.end(), 143, "{}", site.log_tail());
    assert_eq!(site.state(early), "held", "a hand-back leaves it");
    // While nothing drives, its owner holds another that bears our mark.
    well(&as_user(&site, "scontrol", &["hold", &later.to_string()]).expect("root"));
    let _daemon = site.drive();
    until("both are held", || site.published()["jobs"]["held"] == 2);
    site.tell("scancel", &[&running.to_string()]);
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!((site.state(early), site.state(later)), ("held".into(), "held".into()));
    for job in [early, later] {
        well(&as_user(&site, "scontrol", &["release", &job.to_string()]).expect("root"));
    }
    site.drain(Duration::from_secs(60));
    site.each_started_once(3);
}

fn requeued_and_held() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let _daemon = site.drive();
    let Some(job) = as_user_submits(&site, &["-n", "2", "-t", "5", "--requeue"], 6) else { return };
    site.await_state(job, &["R"]);
    well(&as_user(&site, "scontrol", &["requeuehold", &job.to_string()]).expect("root"));
    until("it is held", || site.state(job) == "held");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(site.state(job), "held");
    well(&as_user(&site, "scontrol", &["release", &job.to_string()]).expect("root"));
    // Slurm lets what was requeued begin two minutes later.
    until("no hold keeps it back", || site.published().to_string().contains("may begin later only"));
    site.tell("scontrol", &["update", &format!("JobId={job}"), "StartTime=now"]);
    site.drain(Duration::from_secs(60));
    assert_eq!(site.state(job), "CD");
}

/// Slurm holds a job whose launch failed. Users see why, and its owner may release it, as without a
/// daemon.
fn launch_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bad, prolog) = (folder.path().join("bad"), folder.path().join("prolog.sh"));
    std::fs::write(&prolog, format!("#!/bin/sh\n[ ! -e {} ]\n", bad.display())).expect("written");
    let status = std::process::Command::new("chmod").arg("755").args([folder.path(), &prolog]).status();
    assert!(status.expect("chmod runs").success());
    let lines = vec![format!("Prolog={}", prolog.display())];
    let Some(site) = Site::with(ClusterOptions { nodes: 1, cpus: 2, lines, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let _daemon = site.drive();
    std::fs::write(&bad, "").expect("written");
    let Some(job) = as_user_submits(&site, &["-n", "2", "-t", "5"], 3) else { return };
    let reason =
        || site.cluster.command_output("squeue", &["-h", "-o", "%r", "-j", &job.to_string()]).trim().to_string();
    until("its launch fails", || reason() == "launch failed requeued held");
    std::fs::remove_file(&bad).expect("removed");
    site.tell("scontrol", &["update", "NodeName=n1", "State=RESUME"]);
    until("the reason is published", || site.published().to_string().contains("could not be launched"));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(reason(), "launch failed requeued held", "no release yet");
    well(&as_user(&site, "scontrol", &["release", &job.to_string()]).expect("root"));
    // Slurm lets what was requeued begin two minutes later.
    until("its owner's release counts", || site.published().to_string().contains("may begin later only"));
    site.tell("scontrol", &["update", &format!("JobId={job}"), "StartTime=now"]);
    site.drain(Duration::from_secs(60));
    assert_eq!(site.state(job), "CD");
}

fn finds_the_heartbeat() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let mut daemon = site.drive();
    let running = site.submit(2, 15, 5);
    site.await_state(running, &["R"]);
    let waiting = site.submit(2, 1, 1);
    until("it waits", || site.published()["jobs"]["waiting"] == 1);
    // As an administrator types it: without the run folder, and with a state folder of another.
    for state in [site.home().state_folder().to_path_buf(), site.path("elsewhere")] {
        let mut command = site.command(&["live", "hand-back"]);
        let output = command.env_remove("DRYSTONE_RUN").env("DRYSTONE_STATE", &state).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off);
    }
    assert_eq!(daemon.end(), 1, "{}", site.log_tail());
    assert_ne!(site.state(waiting), "held");
    // One that would leave a heart beating is no success.
    let _daemon = site.drive();
    let other_folder = site.path("other-run");
    std::fs::create_dir_all(&other_folder).expect("made");
    let mut command = site.command(&["live", "hand-back"]);
    let output = command.env("DRYSTONE_RUN", &other_folder).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("still drives"), "{stderr}");
}

fn two_states() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let mut daemon = site.drive();
    let other_folder = site.path("second");
    let mut command = site.command(&["live", "drive", "--policy", "easy", "--listen", "none"]);
    let output = command.env("DRYSTONE_STATE", &other_folder).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("another daemon"), "{:?} {stderr}", output.status);
    let job = site.submit(1, 1, 1);
    site.await_state(job, &["R", "CG", "CD"]);
    assert!(!daemon.has_ended(), "the first goes on");
}

/// Released by their tasks, arrays would fall into a record for each.
fn arrays_stay_whole() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let mut daemon = site.drive();
    let running = site.submit(2, 30, 5);
    site.await_state(running, &["R"]);
    site.submit_with(2, 1, 1, &["--array=1-500"]);
    until("its tasks wait", || site.published()["jobs"]["waiting"] == 500);
    daemon.signal("-TERM");
    daemon.end();
    let listing = site.cluster.command_output("squeue", &["-h", "-a", "--array-unique", "-t", "pending", "-o", "%A"]);
    assert_eq!(listing.lines().count(), 1, "{listing}");
    assert_eq!(site.states().values().filter(|state| *state == "held").count(), 0);
}

/// With `priority/basic` each job that is released comes behind those before it. An administrator's
/// own comment hides no job, and the hook's marks are taken off.
fn order_stays() {
    for stop in ["-TERM", "-KILL"] {
        let Some(site) = Site::start(1, 2, "easy") else { return };
        let early = site.submit_with(2, 1, 1, &["--hold"]);
        let mut daemon = site.drive();
        let running = site.submit(2, 30, 5);
        site.await_state(running, &["R"]);
        let waiting: Vec<u64> = (0..6).map(|_| site.submit(2, 1, 1)).collect();
        let array = site.submit_with(2, 1, 1, &["--array=1-3"]);
        until("they wait", || site.published()["jobs"]["waiting"] == 9);
        let comment = |job: u64, text: &str| {
            site.tell("scontrol", &["update", &format!("JobId={job}"), &format!("AdminComment={text}")]);
        };
        comment(waiting[3], "ticket 17");
        // One that the daemon has hardly seen.
        let last = site.submit(2, 1, 1);
        comment(last, "ticket 18");
        until("it waits as well", || site.published()["jobs"]["waiting"] == 10);
        daemon.signal(stop);
        daemon.end();
        if stop == "-KILL" {
            let output = site.run(&["live", "hand-back"]);
            assert!(output.contains(&format!("1 job stays held by its user: {early}")), "{output}");
        }
        let listing = site.cluster.command_output("squeue", &["-h", "-t", "pending", "--sort=-p,i", "-o", "%A %Q"]);
        let numbers: Vec<u64> = listing
            .lines()
            .filter_map(|line| line.strip_suffix(" 0").is_none().then(|| line.split(' ').next()?.parse().ok())?)
            .collect();
        let expected: Vec<u64> = waiting.iter().copied().chain([array, last]).collect();
        assert_eq!(numbers, expected, "{stop}: {listing}");
        let show = |job: u64| site.cluster.command_output("scontrol", &["show", "job", &job.to_string()]);
        for job in [running, waiting[0], array] {
            assert!(!show(job).contains("drystone:"), "{stop}: {}", show(job));
        }
        assert!(show(waiting[3]).contains("AdminComment=ticket 17"), "{}", show(waiting[3]));
        assert_eq!(site.state(early), "held");
    }
}
