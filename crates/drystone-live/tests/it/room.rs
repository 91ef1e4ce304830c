//! Room on nodes, for jobs that a policy starts by the number of free processors.

use super::daemon_site::Site;
use super::world::{World, policy_of};
use drystone::policy::Action;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest, SeededFaults};
use drystone_live::cluster::{ClusterOrder, JobKey, JobState};
use drystone_live::journal::{self, JournalRecord};
use drystone_live::tracker::{DaemonMode, TrackerSettings};
use std::collections::BTreeMap;

/// Decided starts of a job.
fn decided(site: &Site, job: u64) -> usize {
    let records = journal::read_journal(&site.home().journal_folder())
        .expect("a journal")
        .into_iter()
        .flat_map(|(_, entries)| entries);
    let outputs =
        records.filter_map(|record| if let JournalRecord::Out(output) = record { Some(output) } else { None });
    let starts =
        outputs.flat_map(|output| output.decided).filter(|decision| matches!(decision.action, Action::Start { .. }));
    starts.filter(|decision| decision.key.is_some_and(|key| key.id == job)).count()
}

/// One job needs two processors of one node, which has them once another ends; one needs five,
/// which no node has. The policy, which counts processors only, would decide for both at every
/// look.
#[test]
fn a_job_that_fits_no_node_is_decided_rarely() {
    let mut site = Site::new(FakeCluster::new(2, 4), "easy by count", DaemonMode::Drive);
    let mut daemon = site.begin();
    let together = |procs, run| {
        site.cluster.borrow_mut().submit(FakeRequest { together: procs, ..FakeRequest::new(procs, run, 2 * run) })
    };
    for procs in [3, 3] {
        together(procs, 300);
    }
    site.work(&mut daemon, 10);
    let (later, never) = (together(2, 5), together(5, 5));
    let start = site.cluster.borrow().current_time();
    while site.cluster.borrow().current_time() < start + 200_000 {
        site.submit(1, 1, 5);
        site.work(&mut daemon, 8);
    }
    // At first, and after pauses of a minute and more.
    let tries = [later, never].map(|job| decided(&site, job));
    assert!(tries[0] <= 5 && tries[1] <= 4, "{tries:?}");
    assert_eq!(site.cluster.borrow().job_state(later), Some(JobState::Pending));
    let until = start + 310_000;
    while site.cluster.borrow().current_time() < until {
        site.work(&mut daemon, 1);
    }
    assert!(
        matches!(site.cluster.borrow().job_state(later), Some(JobState::Running | JobState::Ended(_))),
        "it had room"
    );
    assert_eq!(site.cluster.borrow().job_state(never), Some(JobState::Pending));
    assert!(decided(&site, never) <= 4, "{}", decided(&site, never));
    let notes: Vec<_> = daemon.stats().notes.iter().filter(|note| note.text.contains("cannot start")).collect();
    assert!(notes.len() == 1 && notes[0].text.contains(&format!("job {never} ")), "{notes:?}");
}

/// A job that no node can hold is tried again after a pause. In the queue of the policy it would be
/// the head, and five processors would be reserved for it until the other job's limit: none of four
/// beside them could start that takes longer.
#[test]
fn a_job_that_fits_no_node_is_not_reserved_for() {
    for policy in ["easy by count", "conservative by count"] {
        let mut site = Site::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
        let mut daemon = site.begin();
        let never = site.cluster.borrow_mut().submit(FakeRequest { together: 5, ..FakeRequest::new(5, 5, 60) });
        site.work(&mut daemon, 10);
        site.submit(4, 400, 800);
        let now = || site.cluster.borrow().current_time();
        let begin = now();
        // Its first pause is over.
        while now() < begin + 70_000 {
            site.work(&mut daemon, 1);
        }
        let long = site.submit(4, 5, 2_000);
        site.work(&mut daemon, 30);
        let state = site.cluster.borrow().job_state(long);
        assert!(matches!(state, Some(JobState::Running | JobState::Ended(_))), "{policy}: {state:?}");
        assert_eq!(site.cluster.borrow().job_state(never), Some(JobState::Pending));
    }
}

/// A job needs all of one node, and small jobs come for ever. Processors enough are free by their
/// number, so that the policy reserves nothing; the nodes of the first are kept instead: the small
/// ones go beside it.
#[test]
fn a_job_that_needs_a_whole_node_is_not_overtaken_for_ever() {
    for policy in ["easy by count", "conservative by count"] {
        let mut site = Site::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
        let mut daemon = site.begin();
        let first = site.submit(4, 600, 900);
        site.work(&mut daemon, 10);
        site.submit(1, 600, 900);
        site.work(&mut daemon, 10);
        let number = JobKey { id: first, task: None, submit: 0 };
        site.cluster.borrow_mut().by_hand(&ClusterOrder::Cancel(number));
        let now = || site.cluster.borrow().current_time();
        let begin = now();
        let (mut small, mut whole, mut start) = (Vec::new(), None, None);
        while now() < begin + 200_000 {
            if (now() - begin) / 10_000 >= small.len() as i64 {
                small.push(site.submit(1, 20, 60));
            }
            if whole.is_none() && now() > begin + 30_000 {
                whole =
                    Some(site.cluster.borrow_mut().submit(FakeRequest { together: 4, ..FakeRequest::new(4, 5, 60) }));
            }
            let state = whole.and_then(|job| site.cluster.borrow().job_state(job));
            if state == Some(JobState::Running) {
                start.get_or_insert(now());
            }
            site.work(&mut daemon, 1);
        }
        let wait = (start.expect("it starts") - begin - 30_000) / 1_000;
        assert!(wait <= 25, "{policy}: it starts {wait} s late");
        let waits: usize =
            small.iter().filter(|&&job| site.cluster.borrow().job_state(job) == Some(JobState::Pending)).count();
        assert!(small.len() >= 19 && waits <= 1, "{policy}: {waits} of {} others wait", small.len());
        site.finish(&mut daemon);
        assert!(site.starts().values().all(|&times| times == 1));
    }
}

/// Wait of a job for a whole node that comes after 30 s among small ones, where the controller
/// starts nothing in these milliseconds, in seconds.
fn wait_of_a_whole_job(idle: Vec<(i64, i64)>) -> i64 {
    let cluster = FakeCluster::new(2, 4);
    let begin_time = cluster.current_time() + 10_000;
    let idle = idle.into_iter().map(|(from, until)| (begin_time + from, begin_time + until)).collect();
    let cluster = cluster.with_faults(SeededFaults { idle, ..SeededFaults::default() });
    let mut site = Site::new(cluster, "easy by count", DaemonMode::Drive);
    let mut daemon = site.begin();
    site.submit(1, 600, 900);
    let now = || site.cluster.borrow().current_time();
    while now() < begin_time {
        site.work(&mut daemon, 1);
    }
    let (mut small, mut whole) = (0, None);
    while now() < begin_time + 200_000 {
        if (now() - begin_time) / 5_000 >= small {
            site.submit(1, 20, 60);
            small += 1;
        }
        if whole.is_none() && now() > begin_time + 30_000 {
            whole = Some(site.cluster.borrow_mut().submit(FakeRequest { together: 4, ..FakeRequest::new(4, 5, 60) }));
        }
        if whole.and_then(|job| site.cluster.borrow().job_state(job)) == Some(JobState::Running) {
            return (now() - begin_time - 30_000) / 1_000;
        }
        site.work(&mut daemon, 1);
    }
    panic!("it never starts");
}

/// The controller starts nothing for five seconds, at any moment. Where it is the turn of a job for
/// a whole node then, it is released in vain, held again, and tried again after a pause of ten
/// seconds. Its nodes stay kept, so that it waits for nothing else.
#[test]
fn a_job_released_in_vain_keeps_its_nodes() {
    let plain = wait_of_a_whole_job(Vec::new());
    let waits = (30_000..60_000).step_by(1_000).map(|from| wait_of_a_whole_job(vec![(from, from + 5_000)]));
    let latest = waits.max().unwrap_or(0);
    assert!(latest > plain + 5, "it was released in vain: {latest} s, {plain} s");
    assert!(latest <= plain + 5 + 10, "{latest} s, {plain} s where nothing is in the way");
}

/// The cluster shows its jobs a moment before its nodes. A job that starts in between is pending
/// and has its processors: they are not taken twice, so that another that fits starts at once.
#[test]
fn a_job_that_starts_during_a_look_takes_its_room_once() {
    let trouble = SeededFaults { between: 500, ..SeededFaults::default() };
    let mut site = Site::new(FakeCluster::new(2, 4).with_faults(trouble), "easy by count", DaemonMode::Drive);
    let mut daemon = site.begin();
    let mut jobs = Vec::new();
    for _ in 0..10 {
        // The first is released at the first look and starts during the second, which sees both.
        jobs.push(site.submit(1, 20, 60));
        site.work(&mut daemon, 1);
        jobs.push(site.submit(7, 20, 60));
        site.work(&mut daemon, 1);
        site.finish(&mut daemon);
    }
    let tries: Vec<usize> = jobs.iter().map(|&job| decided(&site, job)).collect();
    assert!(tries.iter().all(|&tries| tries == 1), "{tries:?}");
}

/// A job for a whole node comes after another that has three of four processors on each node:
/// four are free, but not on one. A policy that counts would start it; one on nodes reserves a node
/// for it, and starts beside it what ends in time or leaves it alone.
#[test]
fn a_policy_on_nodes_reserves_nodes() {
    for policy in ["easy", "conservative"] {
        let mut site = Site::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
        let mut daemon = site.begin();
        let together = |procs, run, limit| {
            site.cluster.borrow_mut().submit(FakeRequest { together: procs, ..FakeRequest::new(procs, run, limit) })
        };
        let state = |job: u64| site.cluster.borrow().job_state(job);
        let (short, long) = (together(3, 100, 100), together(3, 600, 600));
        site.work(&mut daemon, 10);
        assert_eq!([state(short), state(long)], [Some(JobState::Running); 2], "{policy}");
        let whole = together(4, 10, 60);
        site.work(&mut daemon, 5);
        // The first is in the way on the node of the short one, and so is the second.
        let (late, beside) = (together(1, 200, 700), together(1, 200, 500));
        site.work(&mut daemon, 10);
        let counts = [whole, late, beside].map(|job| decided(&site, job));
        assert_eq!(counts[0], 0, "{policy}: it is never decided without room");
        let running = [late, beside].map(state).into_iter().filter(|state| *state == Some(JobState::Running)).count();
        assert_eq!(running, 1, "{policy}: one fits beside the long one, and the other waits");
        site.finish(&mut daemon);
        let start = |job: u64| {
            let cluster = site.cluster.borrow();
            let start = cluster.event_record().starts.iter().find(|(key, _)| key.id == job).map(|(_, at)| *at);
            start.expect("it started")
        };
        let wait = (start(whole) - start(short)) / 1_000;
        assert!((100..=110).contains(&wait), "{policy}: {wait} s");
        assert!(site.starts().values().all(|&times| times == 1), "{policy}");
    }
}

#[test]
fn policies_that_choose_nodes_do_unless_they_are_to_count() {
    let on_nodes = |text: &str| {
        let (policy, by_count) = policy_of(text);
        TrackerSettings::for_mode(DaemonMode::Drive, vec!["main".into()], true, &policy).by_count(by_count).on_nodes
    };
    for policy in ["fcfs", "greedy", "easy", "easy++", "easy(reserve=3)", "conservative", "slack", "multiqueue", "goal"]
    {
        assert!(on_nodes(policy) && !on_nodes(&format!("{policy} by count")), "{policy}");
    }
    // Those that suspend choose processors; a study's variant starts jobs on processors of others.
    for policy in ["ss", "tss", "is", "multiqueue(promise=arrival)"] {
        assert!(!on_nodes(policy), "{policy}");
    }
}

/// Maintenance of all nodes is announced: a job that would run into it waits until it is over, and
/// is not released before; one that ends in time starts at once. While it lasts nothing starts, and
/// its end brings all back.
#[test]
fn jobs_keep_clear_of_reservations() {
    for policy in ["easy", "conservative", "fcfs", "easy by count"] {
        let mut world = World::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
        let begin = world.now();
        let window = (begin + 100, begin + 160);
        (0..2).for_each(|at| world.cluster.reserve_node(at, window.0, window.1));
        let short = world.cluster.submit(FakeRequest::new(8, 20, 60));
        let long = world.cluster.submit(FakeRequest::new(8, 20, 90));
        for _ in 0..240 {
            world.turn(1_000);
        }
        let starts: BTreeMap<u64, i64> =
            world.cluster.event_record().starts.iter().map(|(key, at)| (key.id, at / 1_000 - begin)).collect();
        let releases = world.cluster.event_record().orders.iter();
        let releases = releases.filter(|order| matches!(order, ClusterOrder::Release(key) if key.id == long)).count();
        assert!(starts[&short] <= 3 && (160..=170).contains(&starts[&long]), "{policy}: {starts:?}");
        assert_eq!(releases, 1, "{policy}");
        assert_eq!(world.core.session().offline_processors(), 0, "{policy}");
        world.restart();
    }
}
