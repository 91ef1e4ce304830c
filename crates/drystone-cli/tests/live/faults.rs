//! Daemons and controllers that are killed, stopped and run out of disk.

use super::site::{Site, Tests, full, until, user, within};
use drystone_live::cluster::ClusterOrder;
use drystone_live::daemon::POINTS;
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![
        ("kill_at_each_write_1", || kill_at(&POINTS[..4])),
        ("kill_at_each_write_2", || kill_at(&POINTS[4..8])),
        ("kill_at_each_write_3", || kill_at(&POINTS[8..])),
        ("kill_while_suspending", kill_while_suspending),
        ("kills_at_random_moments", kills_at_random_moments),
        ("two_daemons", two_daemons),
        ("disk_full", disk_full),
        ("controller_killed_after_each_step", controller_killed),
        ("controller_killed_between_suspend_and_start", controller_killed_while_suspending),
        ("controller_stopped_for_a_minute", controller_stopped),
    ]
}

/// Killed at a write, the daemon comes back and goes on: no job is lost, none is started twice, and
/// the books are right.
fn kill_at(points: &[&str]) {
    let Some(site) = Site::start(2, 4, "easy") else { return };
    let mut submit_count = 0;
    for point in points {
        // Snapshots and segments come after a thousand records: these points are reached by many
        // looks, not here.
        let rare = ["snapshot", "saved", "segment"].contains(point);
        let nth = if ["facts", "decided", "outcomes"].contains(point) { 4 } else { 2 };
        let fault = format!("{point}:{nth}:kill");
        let mut daemon = site.drive_with(&[], Some(&fault));
        for k in 0..8 {
            site.submit(1 + k % 8, 1 + k % 3, 5);
            submit_count += 1;
            if k % 3 == 2 {
                std::thread::sleep(Duration::from_millis(300));
            }
        }
        if rare {
            daemon.kill();
        } else {
            assert_eq!(daemon.end(), -1, "killed at {point}");
        }
        drop(daemon);
        let daemon = site.drive();
        site.drain(Duration::from_secs(60));
        until("the books agree", || site.published()["health"]["differences"] == 0);
        drop(daemon);
        site.each_started_once(submit_count);
    }
    site.replays();
    assert!(site.states().values().all(|state| state == "CD"), "{:?}", site.states());
}

/// Kills between a suspension and the start in its place.
fn kill_while_suspending() {
    for fault in ["outcomes:3:kill", "orders:2:kill", "intents:3:kill"] {
        let Some(site) = Site::start(1, 8, "ss(every=2,sf=1.1,width=none)") else { return };
        let mut daemon = site.drive_with(&[], Some(fault));
        let long = site.submit(8, 25, 60);
        site.await_state(long, &["R", "S"]);
        let short = site.submit(4, 2, 1);
        until("the daemon is killed, or the short job runs", || {
            daemon.has_ended() || ["R", "CG", "CD"].contains(&site.state(short).as_str())
        });
        daemon.kill();
        let _daemon = site.drive();
        site.drain(Duration::from_secs(90));
        site.each_started_once(2);
        assert!(site.states().values().all(|state| state == "CD"), "{:?}", site.states());
    }
}

/// 500 jobs, and a daemon that is killed at 200 random moments; fewer of both where time is short.
fn kills_at_random_moments() {
    let (jobs, most) = if full() { (500, 200) } else { (120, 40) };
    let Some(site) = Site::start(4, 16, "easy") else { return };
    let mut seed = 7u64;
    let mut random = move |most: u64| {
        // splitmix64
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % most
    };
    let mut daemon = site.drive();
    let (mut submit_count, mut kills) = (0, 0);
    let began = Instant::now();
    let mut next_kill = began + Duration::from_millis(500);
    while submit_count < jobs || kills < most {
        if submit_count < jobs {
            site.submit(1 + random(24) as u32, 1 + random(3) as u32, 2 + random(9) as u32);
            submit_count += 1;
        }
        if Instant::now() >= next_kill && kills < most {
            daemon.kill();
            kills += 1;
            daemon = site.begin("drive", &[], None);
            next_kill = Instant::now() + Duration::from_millis(250 + random(900));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    site.drain(Duration::from_secs(180));
    until("the books agree", || site.published()["health"]["differences"] == 0);
    drop(daemon);
    site.each_started_once(jobs);
    println!("{jobs} jobs, {kills} kills in {:.0} s: none lost, none started twice", began.elapsed().as_secs_f64());
    site.replays();
}

fn two_daemons() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let _first = site.drive();
    let first = site.instance().expect("it beats");
    let second = site.command(&["live", "drive", "--policy", "easy", "--listen", "none"]).output().expect("runs");
    let stderr = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("another daemon works here") && stderr.contains(&first), "{stderr}");
    assert_eq!(site.instance(), Some(first), "the first beats on");
}

/// No order goes out whose intent cannot be written: everything is given back.
fn disk_full() {
    for point in ["ledger", "intents", "facts"] {
        let Some(site) = Site::start(1, 4, "easy") else { return };
        let mut daemon = site.drive_with(&[], Some(&format!("{point}:{}:full", if point == "facts" { 5 } else { 2 })));
        let jobs: Vec<u64> = (0..5).map(|_| site.submit(4, 2, 1)).collect();
        assert_eq!(daemon.end(), 1, "{point}: {}", site.log_tail());
        let hold_count = || site.states().values().filter(|state| *state == "held").count();
        assert_eq!(hold_count(), 0, "{point}: given back; {}", site.log_tail());
        let late = site.submit(1, 1, 1);
        assert_ne!(site.state(late), "held", "the hook lets it pass");
        site.drain(Duration::from_secs(60));
        site.each_started_once(jobs.len() + 1);
    }
}

/// The controller is killed after a submission, a release, a start: at the second look the books
/// are what it shows.
fn controller_killed() {
    let Some(mut site) = Site::start(2, 4, "easy") else { return };
    let daemon = site.drive();
    for round in 0..3 {
        let jobs: Vec<u64> = (0..6).map(|k| site.submit(1 + k % 8, 4, 5)).collect();
        match round {
            0 => {}
            1 => until("something was released", || site.states().values().any(|state| state == "R" || state == "PD")),
            _ => until("something runs", || site.states().values().any(|state| state == "R")),
        }
        site.cluster.kill_controller();
        site.cluster.start_controller();
        until("the controller answers", || {
            site.cluster.slurm_command("squeue").output().is_ok_and(|output| output.status.success())
        });
        until("the books agree", || {
            let status = site.published();
            status["health"]["silent"] == false && status["health"]["differences"] == 0
        });
        assert!(!jobs.is_empty());
        // What Slurm itself has lost sight of it shows as running for ever.
        std::thread::sleep(Duration::from_secs(8));
        site.tell("scancel", &["-u", &user()]);
        site.drain(Duration::from_secs(60));
    }
    until("the books agree", || {
        site.published()["health"]["differences"] == 0 && site.published()["jobs"]["running"].is_null()
    });
    assert!(!site.log().contains("broke its contract"), "{}", site.log_tail());
    drop(daemon);
    site.replays();
}

fn controller_killed_while_suspending() {
    let Some(mut site) = Site::start(1, 8, "ss(every=2,sf=1.1,width=none)") else { return };
    let _daemon = site.drive();
    let long = site.submit(8, 20, 60);
    site.await_state(long, &["R"]);
    let short = site.submit(4, 3, 1);
    site.await_state(long, &["S"]);
    site.cluster.kill_controller();
    site.cluster.start_controller();
    until("the controller answers", || {
        site.cluster.slurm_command("squeue").output().is_ok_and(|output| output.status.success())
    });
    within(Duration::from_secs(120), "both jobs are over", || {
        [long, short].iter().all(|job| ["CD", "F", "NF", ""].contains(&site.state(*job).as_str()))
    });
    assert!(!site.log().contains("broke its contract"), "{}", site.log_tail());
}

/// For a minute the controller does not answer: nothing is ordered, nothing times out, the
/// heartbeat goes stale; then it goes on.
fn controller_stopped() {
    let Some(site) = Site::start(2, 4, "easy") else { return };
    let daemon = site.drive();
    for k in 0..6 {
        site.submit(4 + k % 5, 3, 5);
    }
    until("something runs", || site.states().values().any(|state| state == "R"));
    site.cluster.pause_controller(true);
    std::thread::sleep(Duration::from_secs(12));
    let orders = site.orders().len();
    std::thread::sleep(Duration::from_secs(48));
    assert_eq!(site.orders().len(), orders, "nothing is ordered");
    assert!(site.silence() >= Some(45), "{:?}", site.silence());
    site.cluster.pause_controller(false);
    site.drain(Duration::from_secs(120));
    until("the heart beats", || site.silence() < Some(5));
    assert!(site.orders().iter().all(|order| !matches!(order, ClusterOrder::Hold(_))), "nothing timed out");
    drop(daemon);
    site.each_started_once(6);
}
