//! Conditions that only the cluster can judge: tries, and the pauses between them.

use crate::forgets::look;
use crate::world::World;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest};
use drystone_live::cluster::{
    ClusterOrder, ClusterSnapshot, DependencyCondition, Ending, JobDependencies, JobKey, JobState, PendingReason,
    StartCondition,
};
use drystone_live::core::Core;
use drystone_live::tracker::DaemonMode;

/// A job runs, and another of its user must be alone. Returns the world, the facts and the second.
fn one_runs_and_one_must_be_alone() -> (World, ClusterSnapshot, JobKey) {
    let mut world = World::new(FakeCluster::new(1, 4), "easy", DaemonMode::Drive);
    world.cluster.submit(FakeRequest::new(1, 600, 900));
    world.cluster.submit(FakeRequest::new(1, 600, 900));
    let mut snapshot = world.cluster.true_snapshot();
    let key = |job: usize| JobKey { id: snapshot.jobs[job].id, task: None, submit: snapshot.jobs[job].submit };
    let (first, alone) = (key(0), key(1));
    snapshot.jobs[1].depends = JobDependencies::On(vec![StartCondition::new(0, None, DependencyCondition::Alone)]);
    assert_eq!(
        look(&mut world.core, 0, &snapshot),
        [ClusterOrder::Release(first), ClusterOrder::Release(alone)],
        "only the cluster knows whether it is alone"
    );
    let node = snapshot.nodes[0].name.clone();
    let share = drystone_live::cluster::NodeShare { node, procs: Some(1) };
    (snapshot.jobs[0].state, snapshot.jobs[0].held, snapshot.jobs[0].start) =
        (JobState::Running, false, Some(snapshot.time));
    (snapshot.jobs[0].places, snapshot.nodes[0].busy) = (vec![share], 1);
    (world, snapshot, alone)
}

/// Returns the seconds of looks at which a job is released, where the cluster finds it dependent
/// each time.
fn tries(core: &mut Core, snapshot: &mut ClusterSnapshot, job: JobKey, seconds: std::ops::Range<i64>) -> Vec<i64> {
    let mut tries = Vec::new();
    for second in seconds {
        for order in look(core, second, snapshot) {
            if order == ClusterOrder::Release(job) {
                tries.push(second);
                (snapshot.jobs[1].held, snapshot.jobs[1].reason) = (false, PendingReason::Dependency);
            } else if order == ClusterOrder::Hold(job) {
                snapshot.jobs[1].held = true;
            }
        }
    }
    tries
}

fn end_first(snapshot: &mut ClusterSnapshot) {
    snapshot.jobs[0].state = JobState::Ended(Ending::Completed);
    (snapshot.jobs[0].places, snapshot.nodes[0].busy) = (Vec::new(), 0);
}

/// Pauses grow to a minute, and the end of a job of the same user cuts one short.
#[test]
fn an_end_is_followed_by_a_try() {
    let (mut world, mut snapshot, alone) = one_runs_and_one_must_be_alone();
    (snapshot.jobs[1].held, snapshot.jobs[1].reason) = (false, PendingReason::Dependency);
    let before = tries(&mut world.core, &mut snapshot, alone, 1..400);
    let pauses: Vec<i64> = before.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.is_sorted() && pauses.last().is_some_and(|pause| (60..=64).contains(pause)), "{before:?}");
    end_first(&mut snapshot);
    assert_eq!(tries(&mut world.core, &mut snapshot, alone, 400..401), [400]);
}

/// An attempt that was under way at the end, judged before it, is repeated at once.
#[test]
fn an_end_during_a_try_is_followed_by_another() {
    for moment in 0..3 {
        let (mut world, mut snapshot, alone) = one_runs_and_one_must_be_alone();
        (snapshot.jobs[1].held, snapshot.jobs[1].reason) = (false, PendingReason::Dependency);
        let before = tries(&mut world.core, &mut snapshot, alone, 1..200);
        let last = *before.last().expect("it is tried");
        // Again up to the last try, and so many looks more.
        let (mut world, mut snapshot, alone) = one_runs_and_one_must_be_alone();
        (snapshot.jobs[1].held, snapshot.jobs[1].reason) = (false, PendingReason::Dependency);
        tries(&mut world.core, &mut snapshot, alone, 1..last + moment + 1);
        end_first(&mut snapshot);
        let after = tries(&mut world.core, &mut snapshot, alone, last + moment + 1..last + 10);
        assert!(after.first().is_some_and(|second| *second <= last + moment + 5), "{moment}: {last}, then {after:?}");
    }
}

/// A job that the cluster stopped at a limit before another of its user ended is tried at once,
/// whichever is seen first: the end, the word of the limit, or that the job is held again.
#[test]
fn an_end_around_the_word_of_a_limit_is_followed_by_another_try() {
    for (end, word) in [(2, 2), (2, 3), (2, 6), (3, 2), (4, 2), (9, 2)] {
        let (mut world, mut snapshot, second) = one_runs_and_one_must_be_alone();
        snapshot.jobs[1].depends = JobDependencies::No;
        (snapshot.jobs[1].held, snapshot.jobs[1].reason) = (false, PendingReason::None);
        let mut tries = Vec::new();
        for moment in 1..20 {
            if moment == end {
                end_first(&mut snapshot);
            }
            if moment == word {
                snapshot.jobs[1].reason = PendingReason::Limit;
            }
            for order in look(&mut world.core, moment, &snapshot) {
                match order {
                    // What a look shows of it comes a look later.
                    ClusterOrder::Hold(key) if key == second => snapshot.jobs[1].held = moment > 2,
                    ClusterOrder::Release(key) if key == second => tries.push(moment),
                    order => panic!("{order:?}"),
                }
            }
            if moment == word + 1 {
                snapshot.jobs[1].held = true;
            }
        }
        let after = tries.first().map_or(i64::MAX, |moment| moment - end.max(word));
        assert!((0..=4).contains(&after), "end at {end}, word at {word}: tries at {tries:?}");
    }
}
