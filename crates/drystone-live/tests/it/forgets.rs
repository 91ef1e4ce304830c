//! A controller that is killed forgets its last seconds: releases, starts, requeues.

use crate::world::World;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest, SeededFaults};
use drystone_live::cluster::{
    ClusterOrder, ClusterSnapshot, Ending, JobKey, JobName, JobSlot, JobState, NodeShare, NodeState, OrderOutcome,
    PendingReason, UnmodelledRequest,
};
use drystone_live::core::{Core, CoreInput};
use drystone_live::tracker::{DaemonMode, HookMessage, Stamp, WakePosition};

/// One node of four processors, on which no job starts in these milliseconds from the beginning.
fn world(idle: Vec<(i64, i64)>) -> World {
    let cluster = FakeCluster::new(1, 4);
    let begin_time = cluster.current_time();
    let idle = idle.into_iter().map(|(from, until)| (begin_time + from, begin_time + until)).collect();
    World::new(cluster.with_faults(SeededFaults { idle, ..SeededFaults::default() }), "easy", DaemonMode::Drive)
}

fn run_until_done(world: &mut World) {
    for _ in 0..400 {
        world.turn(500);
        if world.cluster.is_done() {
            return;
        }
    }
    panic!("jobs wait for ever: {:?}", world.cluster.true_snapshot().jobs);
}

fn starts(world: &World, job: u64) -> Vec<i64> {
    let starts = &world.cluster.event_record().starts;
    starts.iter().filter(|(key, _)| key.id == job).map(|(_, at)| *at).collect()
}

/// A release that was seen and is forgotten looks like a hold by its user, of which no hook told:
/// the job is released again.
#[test]
fn a_release_that_is_forgotten_is_no_hold_of_the_user() {
    let mut world = world(vec![(0, 7_000)]);
    let job = world.cluster.submit(FakeRequest::new(4, 5, 10));
    // The controller saves its state every five seconds.
    world.cluster.pass_time(5_100);
    world.turn(100);
    world.turn(300);
    assert!(!world.cluster.is_held(job), "it was released, and that was seen");
    world.cluster.kill_controller();
    assert!(world.cluster.is_held(job), "it is forgotten");
    run_until_done(&mut world);
    assert_eq!(world.cluster.job_state(job), Some(JobState::Ended(Ending::Completed)));
}

/// A start that is forgotten is not repeated at once: the job may run still where it was.
#[test]
fn a_start_that_is_forgotten_is_repeated_later() {
    let mut world = world(Vec::new());
    let job = world.cluster.submit(FakeRequest::new(4, 60, 90));
    let second_job = world.cluster.submit(FakeRequest::new(4, 5, 10));
    world.cluster.pass_time(5_100);
    world.turn(100);
    world.turn(700);
    assert_eq!(starts(&world, job).len(), 1);
    world.turn(500);
    world.cluster.kill_controller();
    let kill_time = world.cluster.current_time();
    assert!(world.cluster.is_held(job));
    run_until_done(&mut world);
    assert!(starts(&world, job)[1] - kill_time >= 15_000, "{:?} {kill_time}", starts(&world, job));
    assert!(starts(&world, second_job)[0] < starts(&world, job)[1], "others go on");
    assert_eq!(world.cluster.job_state(job), Some(JobState::Ended(Ending::Completed)));
}

/// Its owner takes back the hold with which a job was submitted. A requeue that the controller
/// forgets brings the job back under its earlier name, and the hold stays taken back.
#[test]
fn a_requeue_that_is_forgotten_brings_no_hold_back() {
    let mut world = world(Vec::new());
    let request = FakeRequest { user_hold: true, ..FakeRequest::new(4, 60, 90) };
    let job = world.cluster.submit(request);
    world.turn(500);
    world.cluster.pass_time(4_600);
    world.told.push(HookMessage::Release(JobName { id: job, task: None }));
    world.turn(100);
    world.turn(700);
    assert_eq!(world.cluster.job_state(job), Some(JobState::Running));
    let submit = world.cluster.true_snapshot().jobs[0].submit;
    world.cluster.by_hand(&ClusterOrder::Requeue(JobKey { id: job, task: None, submit }));
    world.turn(300);
    assert_ne!(world.cluster.true_snapshot().jobs[0].submit, submit, "requeued");
    world.cluster.kill_controller();
    assert_eq!(world.cluster.true_snapshot().jobs[0].submit, submit, "forgotten");
    run_until_done(&mut world);
    assert_eq!(world.cluster.job_state(job), Some(JobState::Ended(Ending::Completed)));
}

/// Takes in a look, and says that the orders were carried out. Returns these.
pub(crate) fn look(core: &mut Core, seconds: i64, snapshot: &ClusterSnapshot) -> Vec<ClusterOrder> {
    look_and_hear(core, seconds, snapshot, Vec::new())
}

/// Takes in a look with messages of the hook, and says that the orders were carried out. Returns
/// these.
fn look_and_hear(
    core: &mut Core,
    seconds: i64,
    snapshot: &ClusterSnapshot,
    messages: Vec<HookMessage>,
) -> Vec<ClusterOrder> {
    let now = snapshot.time + seconds;
    let snapshot = ClusterSnapshot { time: now, ..snapshot.clone() };
    let stamp = Stamp { now, steady: seconds.unsigned_abs() * 1_000 };
    let delta = core.tracker().mirror().diff_snapshot(&snapshot);
    let orders = core
        .take_input(&CoreInput::Facts { stamp, delta, told: messages, heard: WakePosition::default() })
        .expect("sound")
        .orders;
    core.take_input(&CoreInput::Outcomes(vec![OrderOutcome::Done; orders.len()])).expect("sound");
    orders
}

/// An array of two tasks on a machine for one: the first was released and has started since.
/// Returns the world, the facts of the next look and the second task.
fn one_task_of_two_has_started() -> (World, ClusterSnapshot, JobKey) {
    let mut world = world(Vec::new());
    world.cluster.submit(FakeRequest::new(4, 600, 900));
    let mut snapshot = world.cluster.true_snapshot();
    let mut second_task = snapshot.jobs[0].clone();
    (snapshot.jobs[0].slot, second_task.slot, second_task.number) = (JobSlot::Task(1), JobSlot::Task(2), 2);
    snapshot.jobs.push(second_task);
    let key = |task| JobKey { id: snapshot.jobs[0].id, task: Some(task), submit: snapshot.jobs[0].submit };
    let (first, second) = (key(1), key(2));
    assert_eq!(look(&mut world.core, 0, &snapshot), [ClusterOrder::Release(first)]);
    let node = snapshot.nodes[0].name.clone();
    let share = drystone_live::cluster::NodeShare { node, procs: Some(4) };
    (snapshot.jobs[0].state, snapshot.jobs[0].held, snapshot.jobs[0].start) =
        (JobState::Running, false, Some(snapshot.time));
    (snapshot.jobs[0].places, snapshot.nodes[0].busy) = (vec![share], 4);
    (world, snapshot, second)
}

/// Slurm 22.05 restores a held task with the reason of a released one, and calls it held by an
/// administrator when it next considers it, however late that is.
#[test]
fn a_hold_without_its_reason_is_no_administrators() {
    let (mut world, mut snapshot, second) = one_task_of_two_has_started();
    let core = &mut world.core;
    assert_eq!(look(core, 1, &snapshot), []);
    snapshot.jobs[1].reason = PendingReason::Room;
    assert_eq!(look(core, 40, &snapshot), []);
    snapshot.jobs[1].reason = PendingReason::AdminHold;
    for seconds in [41, 80] {
        assert_eq!(look(core, seconds, &snapshot), []);
    }
    (snapshot.jobs[0].state, snapshot.jobs[0].end) = (JobState::Ended(Ending::Completed), Some(snapshot.time + 100));
    snapshot.nodes[0].busy = 0;
    assert_eq!(look(core, 100, &snapshot), [ClusterOrder::Release(second)]);
}

/// A task that is released, waits for a moment and starts between two looks turns the holds of the
/// other tasks into an administrator's: they are ours all the same.
#[test]
fn a_start_between_two_looks_makes_no_hold_an_administrators() {
    let (mut world, mut snapshot, second) = one_task_of_two_has_started();
    let core = &mut world.core;
    snapshot.jobs[1].reason = PendingReason::AdminHold;
    for seconds in [2, 60] {
        assert_eq!(look(core, seconds, &snapshot), []);
    }
    (snapshot.jobs[0].state, snapshot.jobs[0].end) = (JobState::Ended(Ending::Completed), Some(snapshot.time + 100));
    snapshot.nodes[0].busy = 0;
    assert_eq!(look(core, 100, &snapshot), [ClusterOrder::Release(second)]);
}

/// A controller that has just begun knows few nodes and starts nothing on the others. Jobs that
/// were released meanwhile are tried again when nodes are back, not after a pause that grows to a
/// minute.
#[test]
fn jobs_are_tried_again_when_nodes_are_back() {
    let mut world = World::new(FakeCluster::new(2, 4), "easy", DaemonMode::Drive);
    world.cluster.submit(FakeRequest::new(2, 60, 90));
    let mut snapshot = world.cluster.true_snapshot();
    let key = JobKey { id: snapshot.jobs[0].id, task: None, submit: snapshot.jobs[0].submit };
    let core = &mut world.core;
    // Nodes that the policy chooses are of no interest here.
    let mut look = |seconds, snapshot: &ClusterSnapshot| {
        let is_bind = |order: &ClusterOrder| matches!(order, ClusterOrder::Pin { .. } | ClusterOrder::Unpin(_));
        look(core, seconds, snapshot).into_iter().filter(|order| !is_bind(order)).collect::<Vec<_>>()
    };
    assert_eq!(look(0, &snapshot), [ClusterOrder::Release(key)]);
    (snapshot.jobs[0].held, snapshot.jobs[0].reason) = (false, PendingReason::NodesOut);
    snapshot.nodes[0].state = NodeState::Unknown;
    assert_eq!(look(1, &snapshot), [ClusterOrder::Hold(key)]);
    (snapshot.jobs[0].held, snapshot.jobs[0].reason) = (true, PendingReason::UserHold);
    for seconds in [2, 3] {
        assert_eq!(look(seconds, &snapshot), []);
    }
    snapshot.nodes[0].state = NodeState::Up;
    assert_eq!(look(4, &snapshot), [ClusterOrder::Release(key)]);
}

/// Ways in which a cluster shows a job that it cannot start, look by look after each release: held
/// or not, and the reason. Slurm 22.05 takes the priority of one that no nodes can hold.
const VERDICTS: [&[(bool, PendingReason)]; 6] = [
    &[(true, PendingReason::Unsatisfiable)],
    &[(false, PendingReason::None), (true, PendingReason::Unsatisfiable)],
    &[(false, PendingReason::Unsatisfiable), (true, PendingReason::UserHold)],
    &[(false, PendingReason::Unsatisfiable), (true, PendingReason::Unsatisfiable)],
    // A script of the site holds it each time.
    &[(false, PendingReason::None), (true, PendingReason::UserHold)],
    &[(true, PendingReason::UserHold)],
];

/// However a cluster says that a job cannot start, it is tried again after pauses that grow, and
/// another that needs all of the machine starts at once.
#[test]
fn a_job_that_never_starts_is_tried_rarely_and_takes_no_room() {
    for policy in ["easy", "easy by count", "conservative", "conservative by count", "fcfs", "slack"] {
        for verdict in VERDICTS {
            let mut world = World::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
            let never = world.cluster.submit(FakeRequest::new(8, 60, 90));
            world.cluster.submit(FakeRequest { user: "berta".into(), ..FakeRequest::new(8, 600, 900) });
            let mut snapshot = world.cluster.true_snapshot();
            let (mut tries, mut rival_start, mut step) = (Vec::new(), None, verdict.len());
            for seconds in 0..3_600 {
                if let Some(&(is_held, reason)) = verdict.get(step) {
                    (snapshot.jobs[0].held, snapshot.jobs[0].reason) = (is_held, reason);
                    step += 1;
                }
                for order in look(&mut world.core, seconds, &snapshot) {
                    match order {
                        ClusterOrder::Release(key) if key.id == never => {
                            tries.push(seconds);
                            step = 0;
                        }
                        ClusterOrder::Release(_) => {
                            rival_start.get_or_insert(seconds);
                        }
                        _ => {}
                    }
                }
                if let (Some(_), JobState::Pending) = (rival_start, snapshot.jobs[1].state) {
                    snapshot.jobs[1].held = false;
                    (snapshot.jobs[1].state, snapshot.jobs[1].start) =
                        (JobState::Running, Some(snapshot.time + seconds));
                    let share = |node: &str| NodeShare { node: node.into(), procs: Some(4) };
                    snapshot.jobs[1].places = vec![share("n1"), share("n2")];
                    snapshot.nodes.iter_mut().for_each(|node| node.busy = 4);
                }
            }
            let about = format!("{policy} {verdict:?}: tried at {tries:?}, the other job started at {rival_start:?}");
            // Pauses of 60 s that double would allow six tries in an hour, those of 15 s eight.
            assert!(tries.len() <= 10 && rival_start.is_some_and(|at| at <= 20), "{about}");
        }
    }
}

/// A made-up controller that sets a job aside, through a restart: the machine is never idle while
/// another job waits, and the job starts when it can.
#[test]
fn a_job_that_is_set_aside_freezes_nothing() {
    for policy in ["easy", "easy by count", "conservative", "greedy"] {
        let mut world = World::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
        let never = world.cluster.submit(FakeRequest { never: true, ..FakeRequest::new(8, 60, 90) });
        let jobs: Vec<u64> = (0..10)
            .map(|k| world.cluster.submit(FakeRequest { user: "berta".into(), ..FakeRequest::new(1 + k % 8, 20, 30) }))
            .collect();
        let mut turns = 0;
        while !jobs.iter().all(|&job| matches!(world.cluster.job_state(job), Some(JobState::Ended(_)))) {
            world.turn(1_000);
            turns += 1;
            assert!(turns < 300, "{policy}: {:?}", world.cluster.true_snapshot().jobs);
            if turns == 30 {
                world.restart();
            }
        }
        let is_try =
            |order: &&ClusterOrder| **order == ClusterOrder::Release(order.job_key()) && order.job_key().id == never;
        let tries = world.cluster.event_record().orders.iter().filter(is_try).count();
        assert!((1..=4).contains(&tries), "{policy}: {tries} in {turns} s");
    }
}

/// A job over the limit of its partition is tried again after pauses that grow, beside the policy:
/// one for the whole machine starts while that goes on, and nothing is reserved. Once the cluster
/// only lacks room for it, it waits for the policy again.
#[test]
fn an_impossible_job_is_tried_beside_the_policy() {
    for policy in ["easy", "easy by count", "conservative"] {
        let mut world = World::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive);
        world.cluster.submit(FakeRequest::new(2, 60, 90));
        let mut snapshot = world.cluster.true_snapshot();
        let key = |at: usize, snapshot: &ClusterSnapshot| JobKey {
            id: snapshot.jobs[at].id,
            task: None,
            submit: snapshot.jobs[at].submit,
        };
        let impossible = key(0, &snapshot);
        let core = &mut world.core;
        let mut look = |seconds, snapshot: &ClusterSnapshot| {
            let is_bind = |order: &ClusterOrder| matches!(order, ClusterOrder::Pin { .. } | ClusterOrder::Unpin(_));
            look(core, seconds, snapshot).into_iter().filter(|order| !is_bind(order)).collect::<Vec<_>>()
        };
        let shows = |snapshot: &mut ClusterSnapshot, is_held, reason| {
            (snapshot.jobs[0].held, snapshot.jobs[0].reason) = (is_held, reason);
        };
        assert_eq!(look(0, &snapshot), [ClusterOrder::Release(impossible)], "{policy}");
        shows(&mut snapshot, false, PendingReason::PartitionClosed);
        assert_eq!(look(1, &snapshot), [ClusterOrder::Hold(impossible)], "{policy}");
        shows(&mut snapshot, true, PendingReason::UserHold);
        for seconds in [2, 30, 60] {
            assert_eq!(look(seconds, &snapshot), [], "{policy}");
        }
        assert_eq!(look(62, &snapshot), [ClusterOrder::Release(impossible)], "{policy}: tried after a minute");
        shows(&mut snapshot, false, PendingReason::None);
        world.cluster.submit(FakeRequest::new(8, 600, 900));
        snapshot.jobs.push(world.cluster.true_snapshot().jobs.remove(1));
        let wide = key(1, &snapshot);
        assert_eq!(look(63, &snapshot), [ClusterOrder::Release(wide)], "{policy}: it takes no room");
        shows(&mut snapshot, false, PendingReason::PartitionClosed);
        (snapshot.jobs[1].held, snapshot.jobs[1].state, snapshot.jobs[1].start) =
            (false, JobState::Running, Some(snapshot.time + 64));
        let share = |node: &str| NodeShare { node: node.into(), procs: Some(4) };
        snapshot.jobs[1].places = vec![share("n1"), share("n2")];
        snapshot.nodes.iter_mut().for_each(|node| node.busy = 4);
        assert_eq!(look(65, &snapshot), [ClusterOrder::Hold(impossible)], "{policy}");
        shows(&mut snapshot, true, PendingReason::UserHold);
        for seconds in [66, 130, 180] {
            assert_eq!(look(seconds, &snapshot), [], "{policy}: the pause is longer");
        }
        assert_eq!(look(186, &snapshot), [ClusterOrder::Release(impossible)], "{policy}: without room as well");
        // The partition's limit was raised.
        shows(&mut snapshot, false, PendingReason::Room);
        assert_eq!(look(187, &snapshot), [ClusterOrder::Hold(impossible)], "{policy}");
        shows(&mut snapshot, true, PendingReason::UserHold);
        assert_eq!(look(188, &snapshot), [], "{policy}: it waits for its turn");
        (snapshot.jobs[1].state, snapshot.jobs[1].end) =
            (JobState::Ended(Ending::Completed), Some(snapshot.time + 200));
        snapshot.nodes.iter_mut().for_each(|node| node.busy = 0);
        assert_eq!(look(201, &snapshot), [ClusterOrder::Release(impossible)], "{policy}: in its turn");
    }
}

/// A job that is left to the cluster is released and held by an operator between two looks: the
/// release is not repeated. A job that is not held is released again.
#[test]
fn a_hold_right_after_a_job_was_let_go_stays() {
    for is_held in [true, false] {
        let mut world = world(Vec::new());
        let job = world.cluster.submit(FakeRequest::new(4, 60, 90));
        let mut snapshot = world.cluster.true_snapshot();
        snapshot.jobs[0].asks = [UnmodelledRequest::Licences].into();
        let core = &mut world.core;
        let key = JobKey { id: job, task: None, submit: snapshot.jobs[0].submit };
        assert_eq!(look(core, 0, &snapshot), [ClusterOrder::Release(key)]);
        snapshot.jobs[0].reason = PendingReason::UserHold;
        let messages = if is_held { vec![HookMessage::Hold(JobName { id: job, task: None })] } else { Vec::new() };
        assert_eq!(look_and_hear(core, 1, &snapshot, messages), []);
        let orders: Vec<ClusterOrder> = (2..40).flat_map(|second| look(core, second, &snapshot)).collect();
        assert_eq!(orders.is_empty(), is_held, "{orders:?}");
    }
}

/// A job that is left to the cluster was let go and is held by an operator later. The hook's word
/// of this comes one look after the hold itself: the job stays held. A job without an operator's
/// hold, such as one that was requeued, is released at the next look.
#[test]
fn a_hold_whose_word_comes_a_look_later_stays() {
    for is_held in [true, false] {
        let mut world = world(Vec::new());
        let job = world.cluster.submit(FakeRequest::new(4, 60, 90));
        let mut snapshot = world.cluster.true_snapshot();
        snapshot.jobs[0].asks = [UnmodelledRequest::Licences].into();
        let core = &mut world.core;
        let key = JobKey { id: job, task: None, submit: snapshot.jobs[0].submit };
        assert_eq!(look(core, 0, &snapshot), [ClusterOrder::Release(key)]);
        (snapshot.jobs[0].held, snapshot.jobs[0].reason) = (false, PendingReason::Room);
        assert_eq!(look(core, 1, &snapshot), []);
        (snapshot.jobs[0].held, snapshot.jobs[0].reason) = (true, PendingReason::UserHold);
        assert_eq!(look(core, 2, &snapshot), [], "its word may be on its way");
        let words = if is_held { vec![HookMessage::Rehold(JobName { id: job, task: None })] } else { Vec::new() };
        let next = look_and_hear(core, 3, &snapshot, words);
        let orders: Vec<ClusterOrder> = (4..40).flat_map(|second| look(core, second, &snapshot)).collect();
        match is_held {
            true => assert_eq!((next, orders), (Vec::new(), Vec::new())),
            false => assert_eq!(next, [ClusterOrder::Release(key)], "{orders:?}"),
        }
    }
}
