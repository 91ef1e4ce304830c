//! Several sets of nodes under one daemon, on a made-up cluster.

use super::daemon_site::Site;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest};
use drystone_live::cluster::{ClusterOrder, DrivenSet, JobState};
use drystone_live::daemon::DaemonEnd;
use drystone_live::hand_back::HandBackOptions;
use drystone_live::journal;
use drystone_live::tracker::DaemonMode;

fn set(partition: &str, nodes: &[&str]) -> DrivenSet {
    DrivenSet { partitions: vec![partition.to_string()], nodes: nodes.iter().map(ToString::to_string).collect() }
}

fn site(policy: &'static str) -> Site {
    let cluster = FakeCluster::new(4, 4).with_partition("main", 0..2).with_partition("side", 2..4);
    let mut site = Site::new(cluster, policy, DaemonMode::Drive);
    site.sets = vec![set("main", &["n1", "n2"]), set("side", &["n3", "n4"])];
    site
}

fn submit(site: &Site, partition: &str, procs: u32, run: i64) -> u64 {
    let request = FakeRequest { partition: partition.into(), ..FakeRequest::new(procs, run, 2 * run) };
    site.cluster.borrow_mut().submit(request)
}

fn state(site: &Site, job: u64) -> Option<JobState> {
    site.cluster.borrow().job_state(job)
}

/// One licence, and a job of each set that asks for it, both seen at one look first: one starts,
/// and the other is not released before that one has ended.
#[test]
fn sets_that_decide_on_one_look_share_the_licences() {
    for policy in ["easy", "conservative", "multiqueue(bounds=none)"] {
        let mut site = site(policy);
        site.cluster.borrow_mut().set_licence("cad", 1, 0);
        let mut daemon = site.begin();
        let jobs = ["main", "side"].map(|partition| {
            let licences = vec![("cad".to_string(), 1)];
            let request = FakeRequest { licences, partition: partition.into(), ..FakeRequest::new(1, 20, 60) };
            site.cluster.borrow_mut().submit(request)
        });
        site.work(&mut daemon, 10);
        let states = jobs.map(|job| state(&site, job));
        assert_eq!(states, [Some(JobState::Running), Some(JobState::Pending)], "{policy}");
        site.finish(&mut daemon);
        for job in jobs {
            let cluster = site.cluster.borrow();
            let is_release = |order: &&ClusterOrder| matches!(order, ClusterOrder::Release(key) if key.id == job);
            let release_count = cluster.event_record().orders.iter().filter(is_release).count();
            assert_eq!(release_count, 1, "{policy}: job {job}");
        }
    }
}

/// Each set has a stream of jobs; the daemon is killed again and again. Nothing is lost or started
/// twice, and both journals replay.
#[test]
fn each_set_is_driven_by_itself_through_kills() {
    for policy in ["easy", "ss(every=5)", "conservative"] {
        let mut site = site(policy);
        let mut daemon = site.begin();
        // The first set is full for long, and its queue waits.
        submit(&site, "main", 8, 60);
        submit(&site, "main", 8, 5);
        assert_eq!(site.work(&mut daemon, 10), None);
        for round in 0..12 {
            let job = submit(&site, "side", 8 - round % 3, 1);
            assert_eq!(site.work(&mut daemon, 12), None);
            assert_ne!(state(&site, job), Some(JobState::Pending), "{policy}: the other set holds nothing back");
            submit(&site, "main", 1 + round % 4, 2);
            if round % 3 == 2 {
                drop(daemon);
                daemon = site.begin();
            }
        }
        site.finish(&mut daemon);
        assert_eq!(site.work(&mut daemon, 10), None);
        assert!(daemon.desks().iter().all(|desk| desk.difference_count() == 0), "{policy}");
        let document = site.board.watch_document().borrow().clone();
        for line in ["drystone_live_set_processors{set=\"side\"} 8", "drystone_live_set_stalled{set=\"main\"} 0"] {
            assert!(document.metrics.lines().any(|own| own == line), "{line}: {}", document.metrics);
        }
        assert!(document.metrics.contains("\ndrystone_live_processors 16\n"), "the sum is there as well");
        assert!(document.json.contains("\"sets\":[{\"name\":\"main\""), "{}", document.json);
        drop(daemon);
        // A policy that suspends starts jobs once as well.
        assert!(site.starts().values().all(|&times| times == 1), "{policy}: {:?}", site.starts());
        assert_eq!(site.starts().len(), 26, "{policy}");
        let journals = site.home().list_journals();
        assert_eq!(journals.iter().filter_map(|(name, _)| name.as_deref()).collect::<Vec<_>>(), ["main", "side"]);
        for (_, folder) in journals {
            let replay = journal::replay_journal(&folder).expect("replays");
            assert!(replay.mismatch.is_none() && replay.segments == 5, "{policy}: {replay:?}");
        }
    }
}

/// A shadow beside two sets touches nothing, and its recordings go over under another policy.
#[test]
fn a_shadow_sees_each_set() {
    let mut site = site("easy");
    site.shadow();
    let mut daemon = site.begin();
    for partition in ["main", "side", "main", "side"] {
        submit(&site, partition, 5, 4);
        assert_eq!(site.work(&mut daemon, 10), None);
    }
    site.finish(&mut daemon);
    assert_eq!(site.work(&mut daemon, 10), None);
    assert!(site.cluster.borrow().event_record().orders.is_empty());
    assert_eq!(daemon.stats().starts, 4, "a start of each job was proposed");
    drop(daemon);
    let policy = "conservative".parse().expect("a policy");
    for (_, folder) in site.home().list_journals() {
        assert_eq!(journal::shadow_journal(&folder, &policy, false).expect("goes over").earlier, 2);
    }
}

/// A state folder of a daemon with one set is read by one with two, and back: what it held is
/// known, predictors learn from its journal, and a hand-back finds everything.
#[test]
fn another_division_takes_over_what_is_held() {
    let mut site = site("easy++");
    let sets = site.sets.clone();
    site.sets = vec![sets[0].clone()];
    let mut daemon = site.begin();
    let ran: Vec<u64> = (0..4).map(|_| submit(&site, "main", 4, 3)).collect();
    assert_eq!(site.work(&mut daemon, 60), None);
    site.cluster.borrow_mut().set_hook(false);
    // Held by the daemon itself: only its ledger knows.
    let old = [submit(&site, "main", 8, 200), submit(&site, "main", 8, 5)];
    assert_eq!(site.work(&mut daemon, 20), None);
    assert!(ran.iter().all(|&job| matches!(state(&site, job), Some(JobState::Ended(_)))));
    assert!(site.cluster.borrow().is_held(old[1]));
    drop(daemon);
    site.sets = sets.clone();
    let mut daemon = site.begin();
    let notes: Vec<String> = daemon.stats().notes.iter().map(|note| note.text.clone()).collect();
    assert!(notes.len() == 2 && notes.iter().all(|note| note.contains("teach predictors: 4")), "{notes:?}");
    assert_eq!(site.work(&mut daemon, 10), None);
    let key = daemon.desks()[0].core().tracker().jobs().find(|job| job.key.id == old[1]).map(|job| job.taken);
    assert_eq!(key, Some(true));
    assert!(daemon.desks()[1].core().tracker().jobs().all(|job| !job.taken), "no other set has it");
    // Back to one set, then given back: the second set's jobs are among what is let go.
    site.cluster.borrow_mut().set_hook(true);
    submit(&site, "side", 8, 100);
    let last = submit(&site, "side", 8, 5);
    assert_eq!(site.work(&mut daemon, 10), None);
    assert!(site.cluster.borrow().is_held(last));
    let summary = site.hand_back(&HandBackOptions::default());
    assert_eq!((summary.released, summary.left.len()), (2, 0), "{summary:?}");
    assert_eq!(site.work(&mut daemon, 1), Some(DaemonEnd::Fenced));
    assert!(!site.cluster.borrow().is_held(last) && !site.cluster.borrow().is_held(old[1]));
}
