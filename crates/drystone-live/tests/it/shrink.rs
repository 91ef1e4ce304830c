//! Running jobs that give nodes, as their users allow: four nodes of four processors.

use super::daemon_site::{Site, TestDaemon};
use drystone_live::cluster::fake::{FakeCluster, FakeRequest, SeededFaults};
use drystone_live::cluster::{ClusterOrder, JobState, NodeState};
use drystone_live::journal;
use drystone_live::tracker::DaemonMode;

const POLICY: &str = "easy(resize=shrink)";

fn cluster() -> FakeCluster {
    FakeCluster::new(4, 4).with_shrinking()
}

fn site(mode: DaemonMode) -> Site {
    let mut site = Site::new(cluster(), POLICY, mode);
    if mode == DaemonMode::Shadow {
        site.shadow();
    }
    site
}

/// Submits a job that may go on with `least` nodes.
fn submit(site: &Site, procs: u32, run: i64, least: Option<u32>) -> u64 {
    let mut request = FakeRequest::new(procs, run, 1_000);
    request.least_nodes = least;
    site.cluster.borrow_mut().submit(request)
}

fn shrinks(site: &Site) -> Vec<(u64, u32)> {
    let cluster = site.cluster.borrow();
    let shrink = |order: &ClusterOrder| match order {
        ClusterOrder::Shrink { key, nodes } => Some((key.id, *nodes)),
        _ => None,
    };
    cluster.event_record().orders.iter().filter_map(shrink).collect()
}

fn procs_of(site: &Site, number: u64) -> u32 {
    site.cluster.borrow().true_snapshot().jobs.iter().find(|fact| fact.id == number).expect("listed").procs
}

fn notes(daemon: &TestDaemon, word: &str) -> Vec<String> {
    daemon.stats().notes.iter().map(|note| note.text.clone()).filter(|text| text.contains(word)).collect()
}

/// The first job has 16 processors until 1,000 s; the second waits for 8 of them.
#[test]
fn a_shadow_says_once_what_could_give_nodes_and_what_that_gains() {
    let mut site = site(DaemonMode::Shadow);
    let mut daemon = site.begin();
    let wide = submit(&site, 16, 900, Some(2));
    site.work(&mut daemon, 4);
    let waits = submit(&site, 8, 50, None);
    site.work(&mut daemon, 30);
    let cluster = site.cluster.borrow();
    assert_eq!((cluster.job_state(wide), cluster.job_state(waits)), (Some(JobState::Running), Some(JobState::Pending)));
    drop(cluster);
    assert_eq!(site.cluster.borrow().event_record().orders, [], "a shadow touches nothing");
    let notes = notes(&daemon, "could give");
    let expected = "job 1 could give 2 of its 4 nodes: job 2 would start now; otherwise in 17 min at the latest, as running jobs end";
    assert_eq!(notes, [expected]);
    assert_eq!(daemon.stats().differences, 0);
    drop(daemon);
    assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
}

/// The job goes down to three nodes where one node is enough, and not below what its user allows.
#[test]
fn as_many_nodes_are_taken_as_the_head_needs() {
    for (need, remainder) in [(3, Some(3)), (4, Some(3)), (5, Some(2)), (8, Some(2)), (9, None)] {
        let mut site = site(DaemonMode::Drive);
        let mut daemon = site.begin();
        let wide = submit(&site, 16, 900, Some(2));
        site.work(&mut daemon, 12);
        let waits = submit(&site, need, 50, None);
        site.work(&mut daemon, 20);
        let expected: Vec<(u64, u32)> = remainder.into_iter().map(|nodes| (wide, nodes)).collect();
        assert_eq!(shrinks(&site), expected, "{need} processors");
        let state = if remainder.is_some() { JobState::Running } else { JobState::Pending };
        assert_eq!(site.cluster.borrow().job_state(waits), Some(state), "{need} processors");
        assert_eq!(procs_of(&site, wide), remainder.map_or(16, |nodes| nodes * 4));
        assert_eq!(notes(&daemon, "gives").len(), expected.len());
        assert_eq!(daemon.stats().differences, 0);
    }
}

/// No node of four processors has room for six that have to be together: a job that needs them
/// takes no nodes in vain. The next one, which they help, has them.
#[test]
fn no_node_is_taken_for_a_job_that_it_does_not_help() {
    for mode in [DaemonMode::Shadow, DaemonMode::Drive] {
        let mut site = site(mode);
        let mut daemon = site.begin();
        let wide = submit(&site, 16, 900, Some(2));
        site.work(&mut daemon, 12);
        let together = FakeRequest { together: 6, ..FakeRequest::new(6, 50, 1_000) };
        site.cluster.borrow_mut().submit(together);
        site.work(&mut daemon, 20);
        assert_eq!((shrinks(&site), notes(&daemon, "of its 4 nodes")), (vec![], vec![]));
        if mode == DaemonMode::Drive {
            let job = submit(&site, 8, 50, None);
            site.work(&mut daemon, 30);
            let state = site.cluster.borrow().job_state(job);
            assert_eq!((shrinks(&site), state), (vec![(wide, 2)], Some(JobState::Running)));
        }
        assert_eq!(daemon.stats().differences, 0);
        drop(daemon);
        assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
    }
}

/// Jobs whose users allow nothing keep their nodes, and so do jobs that cannot shrink further.
#[test]
fn no_node_is_taken_from_a_job_that_does_not_allow_it() {
    for least in [None, Some(4), Some(7), Some(0)] {
        let mut site = site(DaemonMode::Drive);
        let mut daemon = site.begin();
        submit(&site, 16, 60, least);
        site.work(&mut daemon, 12);
        submit(&site, 4, 50, None);
        site.work(&mut daemon, 20);
        assert_eq!(shrinks(&site), [], "{least:?}");
    }
}

/// A job also gives nodes where the head came before a look showed that the job runs.
#[test]
fn jobs_that_come_together() {
    let mut site = site(DaemonMode::Drive);
    let mut daemon = site.begin();
    let wide = submit(&site, 16, 900, Some(2));
    let waits = submit(&site, 8, 50, None);
    site.work(&mut daemon, 30);
    assert_eq!((shrinks(&site), site.cluster.borrow().job_state(waits)), (vec![(wide, 2)], Some(JobState::Running)));
}

/// A policy that takes nodes does not drive unless the site permits it.
#[test]
fn a_site_has_to_allow_it() {
    let mut site = Site::new(FakeCluster::new(4, 4), POLICY, DaemonMode::Drive);
    let problem = site.try_begin().err().expect("refused").to_string();
    assert!(problem.contains("takes nodes from running jobs") && problem.contains("`--shrink`"), "{problem}");
}

/// Orders are refused, lost or not answered: every job still starts once and ends, and no node has
/// two jobs on the same processors.
#[test]
fn orders_that_fail_lose_nothing() {
    for seed in 0..6 {
        let faults = SeededFaults { lost: 60, unsaid: 60, refused: 60, seed, ..SeededFaults::default() };
        let mut site = Site::new(cluster().with_faults(faults), POLICY, DaemonMode::Drive);
        let mut daemon = site.begin();
        for k in 0..50u32 {
            submit(&site, 1 + (k * 7) % 16, 3 + i64::from(k % 20), (k % 3 > 0).then_some(1 + k % 2));
            site.work(&mut daemon, 3);
            if k % 9 == 8 {
                drop(daemon);
                site.cluster.borrow_mut().pass_time(i64::from(k) * 37 % 3_000);
                daemon = site.begin();
            }
            // Nodes come and go, so that it matters where jobs are.
            match k {
                20 => site.cluster.borrow_mut().set_node(3, NodeState::Out, false),
                35 => site.cluster.borrow_mut().set_node(3, NodeState::Up, false),
                _ => {}
            }
        }
        site.finish(&mut daemon);
        site.work(&mut daemon, 2);
        assert!(!shrinks(&site).is_empty(), "seed {seed}");
        assert_eq!((site.starts().len(), site.cluster.borrow().event_record().oversubscribed), (50, 0), "seed {seed}");
        assert!(site.starts().values().all(|&times| times == 1), "seed {seed}");
        assert_eq!(daemon.stats().differences, 0, "seed {seed}");
        drop(daemon);
        assert_eq!(
            journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch,
            None,
            "seed {seed}"
        );
    }
}

/// A user takes nodes from a job, which gives more later. Once requeued, it waits with the size
/// that its user asked for.
#[test]
fn a_job_that_was_shrunk_by_its_user_and_one_that_waits_again() {
    let mut site = site(DaemonMode::Drive);
    let mut daemon = site.begin();
    let wide = submit(&site, 16, 60, Some(1));
    site.work(&mut daemon, 12);
    let key = site.cluster.borrow().true_snapshot().jobs[0].job_keys()[0];
    site.cluster.borrow_mut().by_hand(&ClusterOrder::Shrink { key, nodes: 3 });
    site.work(&mut daemon, 8);
    assert_eq!(daemon.stats().differences, 0);
    let rival = submit(&site, 8, 20, None);
    site.work(&mut daemon, 20);
    assert_eq!((shrinks(&site), procs_of(&site, rival)), (vec![(wide, 2)], 8));
    assert_eq!(daemon.stats().differences, 0);
    site.cluster.borrow_mut().by_hand(&ClusterOrder::Requeue(key));
    site.work(&mut daemon, 20);
    assert_eq!(daemon.stats().differences, 0);
    site.finish(&mut daemon);
    drop(daemon);
    assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
}

/// A job that has given nodes and is requeued needs what the cluster says that it does, not what it
/// had once: it runs beside the job that has its nodes.
#[test]
fn a_job_that_gave_nodes_and_is_requeued_waits_with_its_present_size() {
    let mut site = site(DaemonMode::Drive);
    let mut daemon = site.begin();
    let wide = submit(&site, 16, 100, Some(2));
    site.work(&mut daemon, 12);
    let rival = submit(&site, 8, 400, None);
    site.work(&mut daemon, 20);
    assert_eq!((shrinks(&site), procs_of(&site, wide)), (vec![(wide, 2)], 8));
    let key = site.cluster.borrow().true_snapshot().jobs[0].job_keys()[0];
    site.cluster.borrow_mut().by_hand(&ClusterOrder::Requeue(key));
    site.work(&mut daemon, 30);
    let states = [wide, rival].map(|number| site.cluster.borrow().job_state(number));
    assert_eq!(states, [Some(JobState::Running); 2]);
    assert_eq!(daemon.stats().differences, 0);
    site.finish(&mut daemon);
    drop(daemon);
    assert_eq!(journal::replay_journal(&site.home().journal_folder()).expect("replays").mismatch, None);
}

/// A job that does not give its nodes receives three orders, and the head waits.
#[test]
fn a_job_that_keeps_its_nodes_is_left_alone() {
    let mut site = site(DaemonMode::Drive);
    let mut daemon = site.begin();
    let wide = submit(&site, 16, 100, Some(2));
    site.work(&mut daemon, 12);
    site.cluster.borrow_mut().refuse_shrinking();
    let waits = submit(&site, 8, 5, None);
    site.work(&mut daemon, 60);
    assert_eq!((procs_of(&site, wide), site.cluster.borrow().job_state(waits)), (16, Some(JobState::Pending)));
    assert_eq!(notes(&daemon, "was refused").len(), 3, "{:?}", daemon.stats().notes);
    assert_eq!(daemon.stats().differences, 0);
    site.finish(&mut daemon);
}
