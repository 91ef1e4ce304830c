//! The daemon with its files, on a made-up cluster with a clock of its own.

use super::daemon_site::{Site, TestDaemon, drive};
use drystone_live::cluster::fake::{FakeCluster, SeededFaults};
use drystone_live::cluster::{ClusterOrder, HookMark, JobState, NodeState};
use drystone_live::daemon::DaemonEnd;
use drystone_live::hand_back::HandBackOptions;
use drystone_live::journal::{self, JournalRecord};
use drystone_live::state::Beat;
use drystone_live::tracker::{DaemonMode, TrackedPlace};

#[test]
fn a_run_replays_to_the_same() {
    for policy in ["easy", "easy++", "ss(every=5)", "conservative", "easy by count"] {
        let mut site = drive(policy);
        let mut daemon = site.begin();
        for k in 0..40 {
            site.submit(1 + k % 8, 3 + i64::from(k % 7), 20);
            assert_eq!(site.work(&mut daemon, 2), None);
        }
        site.finish(&mut daemon);
        assert_eq!(daemon.stats().differences, 0, "{policy}");
        drop(daemon);
        let replay = journal::replay_journal(&site.home().journal_folder()).expect("replays");
        assert_eq!(replay.mismatch, None, "{policy}");
        assert!(replay.orders >= 40, "{policy}: {replay:?}");
        let (workload, waits) = journal::read_workload(&site.home().journal_folder()).expect("a workload");
        assert_eq!((workload.len(), waits.len()), (40, 40), "{policy}");
        let runs: i64 = workload.truth().iter().map(|truth| truth.run.0).sum();
        let expected: i64 = (0..40).map(|k| 3 + k % 7).sum();
        assert!((runs - expected).abs() <= 40, "{policy}: {runs} {expected}");
        assert!(site.starts().values().all(|&times| times == 1));
    }
}

/// Killed again and again, between any two looks; each time it comes back and goes on.
#[test]
fn kills_lose_nothing() {
    for policy in ["easy", "ss(every=5)", "easy++"] {
        let mut site = drive(policy);
        let mut daemon = site.begin();
        for k in 0..120u32 {
            if k % 2 == 0 {
                site.submit(1 + k % 8, 2 + i64::from(k % 5), 15);
            }
            site.work(&mut daemon, 1 + k % 3);
            if k % 4 == 3 {
                drop(daemon);
                site.cluster.borrow_mut().pass_time(i64::from(k) * 37 % 4_000);
                daemon = site.begin();
            }
        }
        site.finish(&mut daemon);
        site.work(&mut daemon, 2);
        assert_eq!(daemon.stats().differences, 0, "{policy}");
        drop(daemon);
        assert!(site.starts().values().all(|&times| times == 1), "{policy}: {:?}", site.starts());
        assert_eq!(site.starts().len(), 60);
        assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None, "{policy}");
    }
}

/// Every job that waits has a likely start on the page, and learns from what has run.
#[test]
fn every_waiting_job_has_a_likely_start() {
    for policy in ["easy", "conservative", "easy++"] {
        let mut site = drive(policy);
        let mut daemon = site.begin();
        // Ten jobs of the whole machine run for 20 s of 60 each.
        for _ in 0..10 {
            site.submit(8, 20, 60);
        }
        site.work(&mut daemon, 200);
        let text = std::fs::read_to_string(site.home().status_path()).expect("written");
        let status: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(status["not_foretold"].is_null(), "{policy}: {}", status["not_foretold"]);
        let waiting = status["waiting"].as_array().expect("a list");
        assert!(waiting.len() >= 4, "{policy}: {text}");
        let at = status["at"].as_i64().expect("a time");
        let likely: Vec<i64> = waiting
            .iter()
            .map(|job| job["foretold"]["p50"].as_i64().unwrap_or_else(|| panic!("{policy}: {job}")) - at)
            .collect();
        assert!(likely.is_sorted(), "{policy}: {likely:?}");
        // They run for 20 s: far less than their limits after what has been seen.
        let last = likely[likely.len() - 1];
        assert!(last < 45 * likely.len() as i64 && last > 10, "{policy}: {likely:?}");
    }
}

/// With all nodes drained no future has a start, and no time is shown that only the horizon of the
/// futures made.
#[test]
fn no_start_is_likely_where_all_nodes_are_out() {
    for policy in ["easy", "conservative"] {
        let mut site = drive(policy);
        for at in 0..2 {
            site.cluster.borrow_mut().set_node(at, NodeState::Out, false);
        }
        let mut daemon = site.begin();
        site.submit(2, 20, 60);
        site.work(&mut daemon, 100);
        let text = std::fs::read_to_string(site.home().status_path()).expect("written");
        let status: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let row = &status["waiting"][0]["foretold"];
        assert!(row.is_object(), "{policy}: {text}");
        assert!(["p05", "p50", "p90"].iter().all(|level| row[level].is_null()), "{policy}: {row}");
    }
}

#[test]
fn the_second_daemon_names_the_first() {
    let mut site = drive("easy");
    let _first = site.begin();
    let error = site.try_begin().err().expect("refused").to_string();
    assert!(error.contains("daemon 1 (Drive)"), "{error}");
}

/// A controller that has just begun has heard of no node: none is shown as free, until it has.
#[test]
fn nodes_that_are_not_heard_of_are_not_free() {
    let mut site = drive("easy");
    let set = |site: &Site, state| (0..2).for_each(|at| site.cluster.borrow_mut().set_node(at, state, false));
    set(&site, NodeState::Unknown);
    let mut daemon = site.begin();
    let machine = |site: &Site| {
        let text = std::fs::read_to_string(site.home().status_path()).expect("written");
        let status: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        ["free", "offline"].map(|name| status["machine"][name].as_u64().expect("a number"))
    };
    site.work(&mut daemon, 3);
    assert_eq!(machine(&site), [0, 8]);
    set(&site, NodeState::Up);
    site.work(&mut daemon, 40);
    assert_eq!(machine(&site), [8, 0]);
}

/// A node that comes to a driven partition is named, once.
#[test]
fn a_new_node_is_named() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.work(&mut daemon, 3);
    site.cluster.borrow_mut().add_node("n9", 4);
    let job = site.submit(8, 5, 10);
    site.work(&mut daemon, 40);
    assert!(matches!(site.cluster.borrow().job_state(job), Some(JobState::Ended(_))));
    let notes = daemon.stats().notes.iter().filter(|note| note.text.contains("n9 is new")).count();
    assert_eq!(notes, 1);
}

/// Suspended jobs resume before waiting ones take their place.
/// The hook holds from the first heartbeat on: a job that comes before the first look of a daemon
/// that drives again is no user's hold.
#[test]
fn jobs_between_heartbeat_and_first_look_are_the_daemons() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(4, 5, 10);
    site.work(&mut daemon, 3);
    drop(daemon);
    site.hand_back(&HandBackOptions::default());
    site.cluster.borrow_mut().pass_time(2_000);
    let mut daemon = site.begin();
    let early = site.submit(4, 5, 10);
    site.finish(&mut daemon);
    assert_eq!(
        site.cluster.borrow().job_state(early),
        Some(JobState::Ended(drystone_live::cluster::Ending::Completed))
    );
}

/// A busy cluster is taken over: what runs is adopted, what was pending is held, and its keys are
/// on disk before.
#[test]
fn a_busy_cluster_is_taken_over() {
    let mut site = drive("easy");
    site.cluster.borrow_mut().set_hook(false);
    for k in 0..8 {
        site.submit(4, 20 + k, 60);
    }
    site.cluster.borrow_mut().pass_time(2_000);
    let running =
        site.cluster.borrow().true_snapshot().jobs.iter().filter(|job| job.state == JobState::Running).count();
    assert_eq!(running, 2);
    let mut daemon = site.begin();
    site.work(&mut daemon, 1);
    let ledger = drystone_live::state::ActionLedger::read_ledger(&site.home().ledger_path()).expect("read");
    assert_eq!(ledger.held.len(), 6);
    site.work(&mut daemon, 2);
    assert_eq!((daemon.first_core().session().running_count(), daemon.first_core().session().waiting_count()), (2, 6));
    // Killed, its journal lost: the ledger still says whose these holds are.
    drop(daemon);
    std::fs::remove_dir_all(site.home().journal_folder()).expect("removed");
    let mut daemon = site.begin();
    site.work(&mut daemon, 2);
    assert_eq!((daemon.first_core().session().running_count(), daemon.first_core().session().waiting_count()), (2, 6));
    site.finish(&mut daemon);
}

/// The shadow gives no order, whatever happens; it says what it would have done.
#[test]
fn a_shadow_touches_nothing() {
    let mut site = Site::new(FakeCluster::new(2, 4), "easy", DaemonMode::Shadow);
    site.cluster.borrow_mut().set_hook(false);
    let mut daemon = site.begin();
    for k in 0..60u32 {
        site.submit(1 + k % 8, 3 + i64::from(k % 9), 20);
        site.work(&mut daemon, 2);
        if k == 30 {
            drop(daemon);
            daemon = site.begin();
        }
    }
    site.finish(&mut daemon);
    assert!(daemon.stats().starts > 0);
    assert_eq!(site.cluster.borrow().event_record().orders, [] as [ClusterOrder; 0]);
    assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Missing);
    let proposals = daemon.first_core().tracker().recent_jobs().filter(|job| job.story.wanted.is_some()).count();
    assert!(proposals > 10, "{proposals}");
    drop(daemon);
    assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
}

/// While the controller does not answer nothing is decided and the heartbeat goes stale; then it
/// goes on by itself.
#[test]
fn a_silent_controller_stops_everything_but_the_daemon() {
    let start = FakeCluster::new(2, 4).current_time();
    let trouble = SeededFaults { silent: vec![(start + 5_000, start + 65_000)], ..SeededFaults::default() };
    let mut site = Site::new(FakeCluster::new(2, 4).with_faults(trouble), "easy", DaemonMode::Drive);
    let mut daemon = site.begin();
    for _ in 0..10 {
        site.submit(4, 5, 9);
    }
    site.work(&mut daemon, 16);
    let orders = site.cluster.borrow().event_record().orders.len();
    let beat = Beat::read_beat(&site.home().heartbeat_path());
    while site.cluster.borrow().current_time() < start + 64_000 {
        site.work(&mut daemon, 1);
    }
    assert_eq!(
        (site.cluster.borrow().event_record().orders.len(), Beat::read_beat(&site.home().heartbeat_path())),
        (orders, beat)
    );
    site.finish(&mut daemon);
    assert!(site.starts().values().all(|&times| times == 1));
}

/// A controller that starts nothing while processors are idle: an alarm after a minute, everything
/// given back after three.
#[test]
fn no_job_waits_for_no_reason() {
    let start = FakeCluster::new(2, 4).current_time();
    let trouble = SeededFaults { idle: vec![(start + 5_000, start + 900_000)], ..SeededFaults::default() };
    let mut site = Site::new(FakeCluster::new(2, 4).with_faults(trouble), "easy", DaemonMode::Drive);
    let mut daemon = site.begin();
    site.submit(4, 2, 9);
    site.work(&mut daemon, 20);
    for procs in [1, 2, 4, 1] {
        site.submit(procs, 5, 9);
    }
    let mut alarm = None;
    let end = loop {
        let end = site.work(&mut daemon, 1);
        let duration = site.cluster.borrow().current_time() - start;
        if daemon.stats().stalled {
            alarm.get_or_insert(duration);
        }
        assert!(duration < 400_000, "it goes on");
        if end.is_some() {
            break end;
        }
    };
    assert!(matches!(&end, Some(DaemonEnd::GaveBack(why)) if why.contains("have not started")), "{end:?}");
    let (alarm_time, duration) = (alarm.expect("an alarm first"), site.cluster.borrow().current_time() - start);
    assert!((60_000..120_000).contains(&alarm_time) && duration > alarm_time + 60_000, "{alarm_time} {duration}");
    assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off);
    assert!(site.cluster.borrow().true_snapshot().jobs.iter().all(|job| !job.held), "all are let go");
}

/// Status file and saved state cannot be written: a note says so, and jobs go on.
#[test]
fn files_that_no_job_needs_may_be_missing() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    let files = [site.home().status_path(), site.home().snapshot_path()];
    for file in &files {
        let _ = std::fs::remove_file(file);
        std::fs::create_dir(file).expect("a folder in its place");
    }
    // More than the ten minutes after which the state is saved.
    for _ in 0..25 {
        site.submit(3, 20, 60);
        assert_eq!(site.work(&mut daemon, 100), None);
    }
    let notes_with = |daemon: &TestDaemon, text: &str| {
        daemon
            .stats()
            .notes
            .iter()
            .filter(|note| note.text.contains(text))
            .map(|note| note.text.clone())
            .collect::<Vec<_>>()
    };
    let notes = notes_with(&daemon, "cannot be written");
    assert!(
        notes.len() == 2
            && files.iter().all(|file| notes.iter().any(|note| note.contains(file.to_str().expect("text")))),
        "{notes:?}"
    );
    site.finish(&mut daemon);
    assert_eq!(site.starts().len(), 25);
    for file in &files {
        std::fs::remove_dir(file).expect("it is empty");
    }
    assert_eq!(site.work(&mut daemon, 2_100), None);
    assert!(files.iter().all(|file| file.is_file()), "both are written again");
    assert_eq!(notes_with(&daemon, "is written again").len(), 2);
}

/// The machine's clock is set by an hour, forth and back: the session's time does not go back, and
/// nothing times out.
#[test]
fn a_clock_that_jumps_changes_nothing() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    let mut last = 0;
    for k in 0..60u32 {
        site.submit(1 + k % 8, 3, 20);
        *site.wrong.borrow_mut() = [0, 3_600, -3_600][(k as usize / 20) % 3];
        site.work(&mut daemon, 2);
        let now = daemon.first_core().session().view().current_time().0;
        assert!(now >= last && now < last.max(1_700_000_000) + 60);
        last = now;
    }
    site.finish(&mut daemon);
    let holds = site
        .cluster
        .borrow()
        .event_record()
        .orders
        .iter()
        .filter(|order| matches!(order, ClusterOrder::Hold(_)))
        .count();
    assert_eq!(holds, 0);
}

/// A node is drained under a job in flight that has to run there: it is held again, capacity falls,
/// and it starts once there is room.
#[test]
fn a_drained_node_sends_its_jobs_back() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 10, 20);
    site.work(&mut daemon, 1);
    site.cluster.borrow_mut().set_node(1, NodeState::Out, false);
    site.work(&mut daemon, 45);
    assert_eq!(
        (daemon.first_core().session().offline_processors(), daemon.first_core().session().running_count()),
        (4, 0)
    );
    assert!(site.cluster.borrow().is_held(1));
    let small = site.submit(4, 5, 9);
    site.work(&mut daemon, 6);
    assert_eq!(site.cluster.borrow().job_state(small), Some(JobState::Running), "others start meanwhile");
    site.cluster.borrow_mut().set_node(1, NodeState::Up, false);
    site.finish(&mut daemon);
    assert!(site.starts().values().all(|&times| times == 1));
}

/// Intents are on disk before anything is ordered, and outcomes follow them.
#[test]
fn intents_come_before_orders() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    for k in 0..10 {
        site.submit(1 + k % 4, 3, 9);
    }
    site.finish(&mut daemon);
    let orders = site.cluster.borrow().event_record().orders.clone();
    drop(daemon);
    let mut intents = Vec::new();
    let mut open = 0;
    for (_, records) in journal::read_journal(&site.home().journal_folder()).expect("read") {
        for record in records {
            match record {
                JournalRecord::Out(output) => {
                    assert_eq!(open, 0, "no intent before the last one's outcomes");
                    open = output.orders.len();
                    intents.extend(output.orders);
                }
                JournalRecord::In(drystone_live::core::CoreInput::Outcomes(outcomes)) => {
                    assert_eq!(outcomes.len(), open);
                    open = 0;
                }
                _ => {}
            }
        }
    }
    assert_eq!(intents, orders);
}

/// A torn tail, in any place, costs what was torn and nothing else.
#[test]
fn torn_journals_are_read_to_their_last_whole_record() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    for k in 0..6 {
        site.submit(1 + k % 4, 3, 9);
        site.work(&mut daemon, 1);
    }
    drop(daemon);
    let path = journal::list_segments(&site.home().journal_folder()).expect("read")[0].path.clone();
    let bytes = std::fs::read(&path).expect("read");
    let (entries, end) = journal::read_entries(&path).expect("read");
    assert_eq!(end, bytes.len() as u64);
    for cut in (0..bytes.len()).step_by(7) {
        std::fs::write(&path, &bytes[..cut]).expect("written");
        let (some, _) = journal::read_entries(&path).expect("read");
        assert!(some.len() < entries.len() && entries.starts_with(&some), "{cut}");
    }
    for at in (40..bytes.len()).step_by(13) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x55;
        std::fs::write(&path, &wrong).expect("written");
        let (some, _) = journal::read_entries(&path).expect("read");
        assert!(entries.starts_with(&some), "{at}");
    }
    // The daemon goes on from what is left.
    std::fs::write(&path, &bytes[..bytes.len() - 5]).expect("written");
    let mut daemon = site.begin();
    site.finish(&mut daemon);
    assert!(site.starts().values().all(|&times| times == 1));
}

/// Under another policy, or after the mode has changed, predictors know what the journal teaches.
#[test]
fn another_policy_learns_from_the_journal() {
    let mut site = Site::new(FakeCluster::new(2, 4), "easy", DaemonMode::Shadow);
    site.cluster.borrow_mut().set_hook(false);
    let mut daemon = site.begin();
    for _ in 0..6 {
        site.submit(1, 4, 100);
    }
    site.finish(&mut daemon);
    site.work(&mut daemon, 2);
    drop(daemon);
    (site.policy, site.mode) = ("easy++", DaemonMode::Drive);
    site.cluster.borrow_mut().set_hook(true);
    let mut daemon = site.begin();
    assert!(
        daemon.stats().notes.iter().any(|note| note.text.contains("teach predictors: 6")),
        "{:?}",
        daemon.stats().notes
    );
    site.submit(8, 50, 100);
    site.submit(1, 4, 100);
    site.work(&mut daemon, 3);
    let job = daemon.first_core().tracker().jobs().find(|job| job.place == TrackedPlace::Waiting).expect("waits");
    let prediction = daemon.first_core().session().view().prediction(job.id.expect("known"));
    assert!((3..=6).contains(&prediction.0), "{prediction}");
    drop(daemon);
    assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
}

/// A journal of another layout is refused, with what to do.
#[test]
fn another_layout_is_refused() {
    let mut site = drive("easy");
    drop(site.begin());
    let path = journal::list_segments(&site.home().journal_folder()).expect("read")[0].path.clone();
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[8] = 1;
    std::fs::write(&path, bytes).expect("written");
    let error = site.try_begin().err().expect("refused").to_string();
    assert!(error.contains("in layout 1;") && error.contains("hand back with it"), "{error}");
}

/// A saved state that cannot be read costs no job: the journal has all of it.
#[test]
fn a_damaged_snapshot_is_passed_over() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    for k in 0..1_200u32 {
        if k % 4 == 0 {
            site.submit(1 + k % 8, 2, 9);
        }
        site.work(&mut daemon, 1);
    }
    drop(daemon);
    let snapshot = site.home().snapshot_path();
    let mut bytes = std::fs::read(&snapshot).expect("saved after a thousand records");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&snapshot, bytes).expect("written");
    let mut daemon = site.begin();
    site.work(&mut daemon, 2);
    assert_eq!(daemon.stats().differences, 0);
    site.finish(&mut daemon);
    assert!(site.starts().values().all(|&times| times == 1));
    assert!(site.cluster.borrow().true_snapshot().jobs.iter().all(|job| job.mark == HookMark::Held));
}

/// Jobs start with the size that their users asked for, and none can grow.
#[test]
fn policies_that_choose_sizes_are_refused_in_both_modes() {
    for policy in ["easy-keep", "easy(shape=most)", "easy(resize=grow)", "conservative(cap=fair)", "slack(shape=min)"] {
        for shadows in [false, true] {
            let mut site = drive(policy);
            if shadows {
                site.shadow();
            }
            let problem = site.try_begin().err().expect("refused").to_string();
            assert!(
                problem.contains("lets them grow") && problem.contains("but `resize=shrink`"),
                "{policy}: {problem}"
            );
        }
    }
    drive("easy(shape=preferred,resize=none)").begin();
}
