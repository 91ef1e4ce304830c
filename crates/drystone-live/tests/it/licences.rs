//! Licences whose number changes, and that others hold: two nodes of four processors.

use super::daemon_site::{Site, TestDaemon};
use super::world::World;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest};
use drystone_live::cluster::{ClusterOrder, JobState};
use drystone_live::journal;
use drystone_live::tracker::DaemonMode;

/// With `total` licences, of which others have `others`.
fn cluster(total: u64, foreign_count: u64) -> FakeCluster {
    let mut cluster = FakeCluster::new(2, 4);
    cluster.set_licence("cad", total, foreign_count);
    cluster
}

/// A job of one processor with so many licences.
fn request(licences: u32, run: i64, limit: i64) -> FakeRequest {
    FakeRequest { licences: vec![("cad".to_string(), licences)], ..FakeRequest::new(1, run, limit) }
}

fn releases(cluster: &FakeCluster, number: u64) -> usize {
    let of_job = |order: &&ClusterOrder| matches!(order, ClusterOrder::Release(key) if key.id == number);
    cluster.event_record().orders.iter().filter(of_job).count()
}

fn state(site: &Site, number: u64) -> JobState {
    site.cluster.borrow().job_state(number).expect("listed")
}

fn stop(daemon: TestDaemon, site: &Site) {
    assert_eq!(daemon.stats().differences, 0);
    drop(daemon);
    assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
}

/// Of 3 licences the first job has 2 for 60 s. The second needs 2 and waits; the third needs 1 and
/// ends by its limit before the second is to start, so it starts at once; the fourth needs 2 and
/// waits behind the second. None is released in vain.
#[test]
fn jobs_with_licences_are_the_policys() {
    for policy in ["easy", "conservative", "easy by count"] {
        let mut site = Site::new(cluster(3, 0), policy, DaemonMode::Drive);
        let mut daemon = site.begin();
        let jobs = [(2, 60, 60), (2, 20, 60), (1, 20, 30), (2, 20, 60)].map(|(licences, run, limit)| {
            let number = site.cluster.borrow_mut().submit(request(licences, run, limit));
            site.work(&mut daemon, 8);
            number
        });
        let (runs, waits) = (JobState::Running, JobState::Pending);
        assert_eq!(jobs.map(|number| state(&site, number)), [runs, waits, runs, waits], "{policy}");
        site.finish(&mut daemon);
        for number in jobs {
            assert_eq!(releases(&site.cluster.borrow(), number), 1, "{policy}: job {number}");
        }
        stop(daemon, &site);
    }
}

/// Others take and give licences, and their number changes, beyond what it was at first too: a job
/// is released when there are enough of them, not before and not in vain. A job without licences
/// never waits.
#[test]
fn licences_of_others_and_another_number_are_news() {
    for policy in ["easy", "conservative", "slack", "multiqueue(bounds=none)"] {
        let mut site = Site::new(cluster(3, 2), policy, DaemonMode::Drive);
        let mut daemon = site.begin();
        let submit = |licences| site.cluster.borrow_mut().submit(request(licences, 30, 60));
        let set = |total, foreign_count| site.cluster.borrow_mut().set_licence("cad", total, foreign_count);
        let pair = submit(2);
        let plain = site.submit(1, 5, 10);
        site.work(&mut daemon, 10);
        assert_eq!(
            [pair, plain].map(|number| state(&site, number)),
            [JobState::Pending, JobState::Running],
            "{policy}"
        );
        set(3, 1);
        site.work(&mut daemon, 10);
        assert_eq!(state(&site, pair), JobState::Running, "{policy}: others have given one back");
        // Others have one of two, though the job that runs holds two: nothing is free.
        set(2, 1);
        let single = submit(1);
        site.work(&mut daemon, 10);
        assert_eq!(state(&site, single), JobState::Pending, "{policy}");
        // 6 in all, 1 of others, 2 of the first: 3 are free.
        set(6, 1);
        let many = submit(5);
        site.work(&mut daemon, 10);
        assert_eq!(
            [single, many].map(|number| state(&site, number)),
            [JobState::Running, JobState::Pending],
            "{policy}"
        );
        site.finish(&mut daemon);
        for number in [pair, single, many] {
            assert_eq!(releases(&site.cluster.borrow(), number), 1, "{policy}: job {number}");
        }
        stop(daemon, &site);
    }
}

/// A licence that the cluster does not know when the daemon begins: there are two of it from some
/// time on, of which others have one. The first job takes the other for 40 s, the second waits for
/// it, and a daemon that is killed meanwhile goes on. Neither is released in vain.
#[test]
fn a_licence_that_comes_to_be_is_counted() {
    for policy in ["easy", "conservative", "slack", "multiqueue(bounds=none)", "easy by count"] {
        for known_at_first in [true, false] {
            let at_first = if known_at_first { cluster(3, 0) } else { FakeCluster::new(2, 4) };
            let mut site = Site::new(at_first, policy, DaemonMode::Drive);
            let mut daemon = site.begin();
            let waits = site.submit(8, 5, 10);
            site.work(&mut daemon, 10);
            site.cluster.borrow_mut().set_licence("flow", 2, 1);
            let jobs = [40, 5].map(|run| {
                let asked = FakeRequest { licences: vec![("flow".into(), 1)], ..FakeRequest::new(1, run, 60) };
                let number = site.cluster.borrow_mut().submit(asked);
                site.work(&mut daemon, 10);
                number
            });
            assert_ne!(state(&site, waits), JobState::Pending, "{policy}");
            let states = jobs.map(|number| state(&site, number));
            assert_eq!(states, [JobState::Running, JobState::Pending], "{policy}, {known_at_first}");
            assert!(site.cluster.borrow().is_held(jobs[1]), "{policy}: it is the policy's to start");
            drop(daemon);
            daemon = site.begin();
            site.finish(&mut daemon);
            for number in jobs {
                assert_eq!(releases(&site.cluster.borrow(), number), 1, "{policy}: job {number}");
            }
            stop(daemon, &site);
        }
    }
}

/// Looks give the same orders again, over restarts too; a licence that is not counted, and any
/// under a policy that counts processors only, is the cluster's.
#[test]
fn a_replay_has_the_licences_of_each_look() {
    let mut world = World::new(cluster(3, 1), "easy", DaemonMode::Drive);
    for round in 0..30_u64 {
        world.cluster.set_licence("cad", 2 + round % 4, round % 3);
        world.cluster.submit(request(1 + (round % 3) as u32, 5 + round as i64 % 7, 20));
        world.turn(1_000);
        if round % 10 == 5 {
            world.restart();
        }
    }
    world.cluster.set_licence("cad", 5, 0);
    for _ in 0..300 {
        world.turn(1_000);
    }
    assert!(world.cluster.is_done(), "{:?}", world.cluster.true_snapshot().jobs);
    world.restart();
    for (policy, name) in [("easy", "flow"), ("ss(migration=no)", "cad")] {
        let mut world = World::new(cluster(3, 0), policy, DaemonMode::Drive);
        let licence_request = FakeRequest { licences: vec![(name.into(), 1)], ..FakeRequest::new(1, 5, 9) };
        let number = world.cluster.submit(licence_request);
        world.turn(1_000);
        world.turn(1_000);
        world.turn(1_000);
        assert!(!world.cluster.is_held(number), "{policy}: it is left to the cluster");
    }
}
