//! Giving back: the daemon dead, hung, told to stop; by itself after silence.

use super::site::{Site, Tests, until, within};
use drystone_live::state::Beat;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("daemon_gone_for_good", gone_for_good),
        ("daemon_hung", hung),
        ("daemon_told_to_stop", told_to_stop),
        ("hand_back_of_suspended_jobs", suspended),
        ("heartbeat_unreadable", unreadable),
        ("hook_broken_while_the_controller_runs", hook_broken),
    ]
}

/// Within 180 s everything that is held runs, new jobs pass after 60 s, and users' own holds stay.
fn gone_for_good() {
    let Some(site) = Site::start(1, 4, "ss(every=2,sf=1.1,width=none)") else { return };
    let mut daemon = site.drive();
    let own = site.submit_with(1, 1, 1, &["--hold"]);
    let long = site.submit(4, 40, 60);
    site.await_state(long, &["R"]);
    let short = site.submit(2, 30, 1);
    site.await_state(long, &["S"]);
    site.await_state(short, &["R"]);
    let waiting: Vec<u64> = (0..4).map(|_| site.submit(4, 1, 30)).collect();
    until("they are seen", || site.published()["jobs"]["waiting"].as_u64() >= Some(4));
    daemon.kill();
    let late = site.submit(4, 1, 1);
    assert_eq!(site.state(late), "held", "the heart has just beaten");
    std::thread::sleep(Duration::from_secs(62));
    let later = site.submit(4, 1, 1);
    assert_ne!(site.state(later), "held", "new jobs pass");
    // As a timer does, each minute; more often here.
    within(Duration::from_secs(118), "everything was let go", || {
        site.run(&["live", "hand-back", "--if-silent", "120"]);
        let held =
            site.states().into_iter().filter(|(name, state)| *name != own.to_string() && state == "held").count();
        std::thread::sleep(Duration::from_secs(2));
        held == 0
    });
    assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off);
    within(Duration::from_secs(120), "all of them run to their ends", || {
        waiting.iter().chain([&long, &short, &late, &later]).all(|job| site.state(*job) == "CD")
    });
    assert_eq!(site.state(own), "held", "a user's own hold stays");
    site.each_started_once(8);
}

/// A daemon that hangs in a batch of orders finds the fence when it wakes, and orders nothing.
fn hung() {
    for fault in ["fence:2:stop", "pins:2:stop", "intents:2:stop", "beat:6:stop"] {
        let Some(site) = Site::start(1, 4, "easy") else { return };
        let mut daemon = site.drive_with(&[], Some(fault));
        let jobs: Vec<u64> = (0..4).map(|_| site.submit(4, 3, 1)).collect();
        let stopped =
            |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") T "));
        until(&format!("{fault}: it hangs"), || stopped(daemon.0.id()));
        site.run(&["live", "hand-back"]);
        let hold_count = || site.states().values().filter(|state| *state == "held").count();
        assert_eq!(hold_count(), 0, "{fault}");
        let orders = site.orders().len();
        daemon.signal("-CONT");
        assert_eq!(daemon.end(), 1, "{fault}: {}", site.log_tail());
        assert_eq!(site.orders().len(), orders, "{fault}: it orders nothing");
        assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off, "{fault}");
        site.drain(Duration::from_secs(60));
        site.each_started_once(jobs.len());
    }
}

fn told_to_stop() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let mut daemon = site.drive();
    for _ in 0..5 {
        site.submit(4, 2, 1);
    }
    until("they wait", || site.published()["jobs"]["waiting"].as_u64() >= Some(3));
    daemon.signal("-TERM");
    assert_eq!(daemon.end(), 143, "{}", site.log_tail());
    assert_eq!(site.states().values().filter(|state| *state == "held").count(), 0);
    assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off);
    // Left alone if requested: the next one continues.
    let mut daemon = site.drive_with(&["--on-stop", "leave"], None);
    let waiting = site.submit(4, 2, 1);
    let more = site.submit(4, 2, 1);
    daemon.signal("-INT");
    assert_eq!(daemon.end(), 130);
    assert!([waiting, more].iter().any(|job| site.state(*job) == "held"), "{:?}", site.states());
    let _daemon = site.drive();
    site.drain(Duration::from_secs(60));
    site.each_started_once(7);
}

/// Suspended jobs resume, or are requeued, before others take their place.
fn suspended() {
    for requeue in [false, true] {
        let Some(site) = Site::start(1, 4, "ss(every=2,sf=1.1,width=none)") else { return };
        let mut daemon = site.drive();
        let long = site.submit(4, 15, 60);
        site.await_state(long, &["R"]);
        let short = site.submit(2, 25, 1);
        site.await_state(long, &["S"]);
        site.await_state(short, &["R"]);
        let waiting = site.submit(4, 1, 30);
        daemon.kill();
        let more: &[&str] = if requeue { &["--requeue"] } else { &[] };
        let output = site.run(&[&["live", "hand-back", "--patience", "4s"], more].concat());
        assert!(
            output.contains(if requeue { "1 suspended job requeued" } else { "1 suspended job resumes beside others" }),
            "{output}"
        );
        let since = std::time::Instant::now();
        while ![long, short, waiting].iter().all(|job| site.state(*job) == "CD") {
            assert!(since.elapsed() < Duration::from_secs(100), "{requeue}: {}", site.told());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Any doubt lets the job pass.
fn unreadable() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    for text in ["", "x\n", "12 a\n", "0\n", "-5 b\n"] {
        std::fs::write(site.home().heartbeat_path(), text).expect("written");
        let job = site.submit(1, 1, 1);
        assert_ne!(site.state(job), "held", "{text:?}");
    }
    std::fs::remove_file(site.home().heartbeat_path()).expect("removed");
    let job = site.submit(1, 1, 1);
    assert_ne!(site.state(job), "held");
    site.drain(Duration::from_secs(60));
}

/// slurmctld keeps the script that it has while the file is gone or makes no sense.
fn hook_broken() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let _daemon = site.drive();
    let hook = site.cluster.conf_path().with_file_name("job_submit.lua");
    site.submit(4, 25, 5);
    for text in [Some("this is no Lua"), None] {
        match text {
            Some(text) => std::fs::write(&hook, text).expect("written"),
            None => std::fs::remove_file(&hook).expect("removed"),
        }
        let job = site.submit(4, 1, 5);
        assert_eq!(site.state(job), "held", "{text:?}");
    }
    site.drain(Duration::from_secs(90));
    site.each_started_once(3);
}
