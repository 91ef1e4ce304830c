//! Words of users and operators on holds, as the hook tells of them.

use crate::world::World;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest};
use drystone_live::cluster::{ClusterOrder, ClusterSnapshot, JobKey, JobName, JobState, PendingReason};
use drystone_live::core::CoreInput;
use drystone_live::tracker::{DaemonMode, Flying, HoldReason, HookMessage, Stamp, WakePosition};

fn world() -> World {
    World::new(FakeCluster::new(1, 4), "easy", DaemonMode::Drive)
}

fn name(id: u64) -> JobName {
    JobName { id, task: None }
}

fn why(world: &World, id: u64) -> Option<HoldReason> {
    world.core.tracker().jobs().find(|job| job.key.id == id).and_then(|job| job.why)
}

fn is_over(world: &World, id: u64) -> bool {
    matches!(world.cluster.job_state(id), Some(JobState::Ended(_)))
}

/// An operator's `uhold` of a waiting job shows in the hook's word alone. Its owner takes it back.
#[test]
fn an_operators_hold_of_a_waiting_job_stays_until_it_is_taken_back() {
    let mut world = world();
    let (first, held_job) =
        (world.cluster.submit(FakeRequest::new(4, 5, 10)), world.cluster.submit(FakeRequest::new(4, 5, 10)));
    world.turn(500);
    world.told.push(HookMessage::Keep(name(held_job)));
    for _ in 0..60 {
        world.turn(500);
    }
    assert!(is_over(&world, first) && world.cluster.is_held(held_job));
    assert_eq!(why(&world, held_job), Some(HoldReason::User));
    world.restart();
    for _ in 0..10 {
        world.turn(500);
    }
    assert!(world.cluster.is_held(held_job));
    world.told.push(HookMessage::Release(name(held_job)));
    for _ in 0..30 {
        world.turn(500);
    }
    assert!(is_over(&world, held_job));
}

/// A hold that the daemon has ordered itself is reported as well, and is none of an operator's.
#[test]
fn the_daemons_own_holds_are_no_operators() {
    let mut world = world();
    world.cluster.set_hook(false);
    // It waits when the daemon comes, which holds it.
    let running = world.cluster.submit(FakeRequest::new(4, 8, 10));
    world.cluster.pass_time(1_000);
    let late_job = world.cluster.submit(FakeRequest::new(4, 5, 10));
    world.turn(100);
    let is_taken =
        |world: &World| world.core.tracker().jobs().any(|job| job.key.id == late_job && job.is_flying(Flying::Taking));
    assert!(is_taken(&world) && world.cluster.is_held(late_job));
    world.told.push(HookMessage::Rehold(name(late_job)));
    for _ in 0..60 {
        world.turn(500);
    }
    assert!(is_over(&world, running) && is_over(&world, late_job), "{:?}", world.cluster.true_snapshot().jobs);
}

/// Its owner held a job before the daemon came. The hook keeps the release from the cluster, where
/// the job is held by its user still.
#[test]
fn a_hold_from_before_the_daemon_is_taken_back_by_its_owner() {
    for restarts in [false, true] {
        let mut world = world();
        world.cluster.set_hook(false);
        let early = world.cluster.submit(FakeRequest { user_hold: true, ..FakeRequest::new(4, 5, 10) });
        world.cluster.set_hook(true);
        for _ in 0..5 {
            world.turn(500);
        }
        assert_eq!(why(&world, early), Some(HoldReason::User));
        world.told.push(HookMessage::Release(name(early)));
        if restarts {
            world.turn(500);
            world.restart();
        }
        for _ in 0..30 {
            world.turn(500);
        }
        assert!(is_over(&world, early), "{restarts}");
    }
}

/// An administrator's hold, with the reason that Slurm gives it, is not taken back by the owner;
/// the same reason without a word of the hook is our own hold, which Slurm has forgotten.
#[test]
fn an_administrators_hold_is_known_by_the_hook() {
    for is_operators in [true, false] {
        let mut world = world();
        let job = world.cluster.submit(FakeRequest::new(4, 5, 10));
        let mut snapshot = world.cluster.true_snapshot();
        // No room at first.
        snapshot.nodes[0].busy = 4;
        let key = JobKey { id: job, task: None, submit: snapshot.jobs[0].submit };
        let mut look = |seconds: i64, snapshot: &ClusterSnapshot, messages: Vec<HookMessage>| {
            let time = snapshot.time + seconds;
            let snapshot = ClusterSnapshot { time, ..snapshot.clone() };
            let stamp = Stamp { now: time, steady: seconds.unsigned_abs() * 1_000 };
            let delta = world.core.tracker().mirror().diff_snapshot(&snapshot);
            let position = WakePosition::default();
            let input = CoreInput::Facts { stamp, delta, told: messages, heard: position };
            let orders = world.core.take_input(&input).expect("sound").orders;
            orders.into_iter().filter(|order| !matches!(order, ClusterOrder::Pin { .. })).collect::<Vec<_>>()
        };
        look(0, &snapshot, Vec::new());
        snapshot.jobs[0].reason = PendingReason::AdminHold;
        let messages = if is_operators { vec![HookMessage::Keep(name(job))] } else { Vec::new() };
        look(1, &snapshot, messages);
        look(2, &snapshot, vec![HookMessage::Release(name(job))]);
        snapshot.nodes[0].busy = 0;
        let orders = [look(70, &snapshot, Vec::new()), look(140, &snapshot, Vec::new())].concat();
        let expected = if is_operators { vec![] } else { vec![ClusterOrder::Release(key)] };
        assert_eq!(orders.into_iter().take(1).collect::<Vec<_>>(), expected, "{is_operators}");
    }
}
