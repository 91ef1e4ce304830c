//! Whatever goes wrong, no job is lost, held for ever or started twice, and the books are right at
//! the second look.

use crate::world::World;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest, SeededFaults};
use drystone_live::cluster::{ClusterOrder, Ending, JobKey, JobName, JobState, NodeState, PendingReason};
use drystone_live::tracker::{DaemonMode, HookMessage};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const POLICIES: [&str; 18] = [
    "fcfs",
    "easy",
    "easy(order=sjf,backfill=sjf)",
    "easy++",
    "easy(reserve=3)",
    "conservative",
    "slack",
    "multiqueue",
    "ss(every=5)",
    "tss(every=5)",
    "is(every=5,slice=10)",
    "goal(nodes=30)",
    "fcfs by count",
    "easy by count",
    "easy(reserve=3) by count",
    "conservative by count",
    "easy(resize=shrink)",
    "easy++(resize=shrink,share=equal)",
];

/// Something that happens to the cluster.
#[derive(Clone, Copy, Debug)]
enum Step {
    Look(i64),
    Submit(u32, i64, i64, bool),
    /// A job that no nodes can hold.
    SubmitNever(u32),
    Cancel(usize),
    UserHold(usize),
    UserRelease(usize),
    Suspend(usize),
    Resume(usize),
    Requeue(usize),
    OperatorRelease(usize),
    Drain(usize),
    Down(usize),
    Up(usize),
    Restart,
    KillController,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::*;
    let job = 0usize..12;
    let step = prop_oneof![
        10 => (200i64..3_000).prop_map(Look),
        8 => (1u32..=8, 1i64..40, 0i64..30, prop::bool::weighted(0.05)).prop_map(|(p, r, l, h)| Submit(p, r, r + l - 5, h)),
        1 => (1u32..=8).prop_map(SubmitNever),
        1 => job.clone().prop_map(Cancel),
        1 => job.clone().prop_map(UserHold),
        1 => job.clone().prop_map(UserRelease),
        1 => job.clone().prop_map(Suspend),
        1 => job.clone().prop_map(Resume),
        1 => job.clone().prop_map(Requeue),
        1 => job.prop_map(OperatorRelease),
        1 => (0usize..2).prop_map(Drain),
        1 => (0usize..2).prop_map(Down),
        1 => (0usize..2).prop_map(Up),
        1 => Just(Restart),
        1 => Just(KillController),
    ];
    prop::collection::vec(step, 5..90)
}

struct Chaos {
    world: World,
    /// Users' holds that are in force, by number and submit time.
    kept: BTreeMap<u64, i64>,
    /// Jobs suspended by another than the daemon.
    suspended: BTreeSet<u64>,
    /// Jobs that no nodes can hold.
    never: BTreeSet<u64>,
    kills: u32,
}

impl Chaos {
    fn new(policy: &str, faults: SeededFaults) -> Chaos {
        let cluster = FakeCluster::new(2, 4).with_shrinking().with_faults(faults);
        let world = World::new(cluster, policy, DaemonMode::Drive);
        Chaos { world, kept: BTreeMap::new(), suspended: BTreeSet::new(), never: BTreeSet::new(), kills: 0 }
    }

    fn one_of(&self, which: usize, state: JobState) -> Option<JobKey> {
        let truth = self.world.cluster.true_snapshot();
        let there: Vec<JobKey> =
            truth.jobs.iter().filter(|job| job.state == state).flat_map(|job| job.job_keys()).collect();
        (!there.is_empty()).then(|| there[which % there.len()])
    }

    fn by_hand(&mut self, key: Option<JobKey>, order: fn(JobKey) -> ClusterOrder) {
        if let Some(key) = key {
            self.world.cluster.by_hand(&order(key));
        }
    }

    fn take(&mut self, step: Step) {
        let (pending, running, suspended) = (JobState::Pending, JobState::Running, JobState::Suspended);
        match step {
            Step::Look(after) => drop(self.world.turn(after)),
            Step::Submit(procs, run, limit, user_hold) => {
                let mut request = FakeRequest::new(procs, run, limit.max(1));
                request.least_nodes = Some(1);
                request.user_hold = user_hold;
                request.user = format!("user{}", procs % 3);
                let number = self.world.cluster.submit(request);
                if user_hold {
                    self.kept.insert(number, self.world.now());
                }
            }
            Step::SubmitNever(procs) => {
                let user = format!("user{}", procs % 3);
                let request = FakeRequest { never: true, user, ..FakeRequest::new(procs, 20, 45) };
                self.never.insert(self.world.cluster.submit(request));
            }
            Step::Cancel(which) => {
                let key = self.one_of(which, pending).or(self.one_of(which, running));
                self.by_hand(key, ClusterOrder::Cancel);
            }
            Step::UserHold(which) => {
                if let Some(key) = self.one_of(which, pending) {
                    self.world.cluster.by_hand(&ClusterOrder::Hold(key));
                    self.world.told.push(HookMessage::Hold(JobName { id: key.id, task: key.task }));
                    self.kept.insert(key.id, key.submit);
                }
            }
            Step::UserRelease(which) => {
                if let Some(key) = self.one_of(which, pending) {
                    self.world.told.push(HookMessage::Release(JobName { id: key.id, task: key.task }));
                    self.kept.remove(&key.id);
                }
            }
            Step::Suspend(which) => {
                let key = self.one_of(which, running);
                self.suspended.extend(key.map(|key| key.id));
                self.by_hand(key, ClusterOrder::Suspend);
            }
            Step::Resume(which) => self.by_hand(self.one_of(which, suspended), ClusterOrder::Resume),
            Step::Requeue(which) => self.by_hand(self.one_of(which, running), ClusterOrder::Requeue),
            Step::OperatorRelease(which) => self.by_hand(self.one_of(which, pending), ClusterOrder::Release),
            Step::Drain(at) => self.world.cluster.set_node(at, NodeState::Out, false),
            Step::Down(at) => self.world.cluster.set_node(at, NodeState::Out, true),
            Step::Up(at) => self.world.cluster.set_node(at, NodeState::Up, false),
            Step::Restart => self.world.restart(),
            Step::KillController => {
                self.kills += 1;
                self.world.cluster.kill_controller();
            }
        }
    }

    /// All is well again: what suspended or held a job lets it go.
    fn finish(&mut self) {
        for at in 0..2 {
            self.world.cluster.set_node(at, NodeState::Up, false);
        }
        for look in 0..3_000 {
            self.world.turn(1_000);
            let truth = self.world.cluster.true_snapshot();
            for job in &truth.jobs {
                let key = job.job_keys()[0];
                let tracked_job = self.world.core.tracker().find_job(key);
                if job.state == JobState::Pending && tracked_job.is_some_and(|job| job.user_hold) {
                    self.world.told.push(HookMessage::Release(JobName { id: key.id, task: key.task }));
                }
                // Suspended and requeued between two looks, it comes back as if an administrator
                // held it: only an administrator may let it go.
                let is_theirs = self.suspended.contains(&key.id) && job.reason == PendingReason::AdminHold;
                if job.state == JobState::Pending && is_theirs && look > 30 {
                    self.world.cluster.by_hand(&ClusterOrder::Release(key));
                }
                if job.state == JobState::Pending && self.never.contains(&key.id) && look > 300 {
                    self.world.cluster.by_hand(&ClusterOrder::Cancel(key));
                }
                let is_ours = tracked_job.is_some_and(|job| job.stopped || job.flight.is_some());
                if job.state == JobState::Suspended && look > 30 && !is_ours {
                    self.world.cluster.by_hand(&ClusterOrder::Resume(key));
                }
            }
            if self.world.cluster.is_done() {
                return;
            }
        }
        let live = |job: &&drystone_live::cluster::JobFact| !matches!(job.state, JobState::Ended(_));
        let truth = self.world.cluster.true_snapshot();
        let find_tracked =
            |job: &drystone_live::cluster::JobFact| self.world.core.tracker().find_job(job.job_keys()[0]);
        let stuck_jobs: Vec<String> = truth
            .jobs
            .iter()
            .filter(live)
            .map(|job| {
                format!(
                    "{} {:?} {:?} {:?}",
                    job.id,
                    job.state,
                    job.reason,
                    find_tracked(job).map(|k| (k.place, k.why, k.user_hold))
                )
            })
            .collect();
        let session = self.world.core.session();
        let (wrong, free) = (self.world.differences(), session.free_processors());
        let last: Vec<_> =
            self.world.journal.iter().rev().map(|(_, out)| out).filter(|out| !out.is_empty()).take(2).collect();
        panic!(
            "{}: for ever: {stuck_jobs:?}; {free} free, {wrong:?}, last {last:?}",
            self.world.policy.canonical_text()
        );
    }

    fn describe(&self) -> String {
        let view = self.world.core.session().view();
        let line = |job: &drystone_live::cluster::JobFact| {
            let tracked_job = self.world.core.tracker().find_job(job.job_keys()[0]);
            let on = tracked_job.and_then(|job| job.id).and_then(|id| view.job_processors(id)).map(ToString::to_string);
            let places: Vec<String> = job.places.iter().map(|p| format!("{}:{:?}", p.node, p.procs)).collect();
            format!(
                "\n{} {:?} {} {places:?} | {:?} {on:?}",
                job.id,
                job.state,
                job.procs,
                tracked_job.map(|k| (k.place, k.flight))
            )
        };
        self.world
            .cluster
            .true_snapshot()
            .jobs
            .iter()
            .filter(|job| !matches!(job.state, JobState::Ended(_)))
            .map(line)
            .collect()
    }

    /// No start happened twice but those that the controller itself forgot.
    fn no_start_twice(&self) {
        if self.kills > 0 {
            return;
        }
        let mut starts: Vec<JobKey> = self.world.cluster.event_record().starts.iter().map(|(key, _)| *key).collect();
        let count = starts.len();
        starts.sort_unstable();
        starts.dedup();
        assert_eq!(starts.len(), count, "{}", self.world.policy.canonical_text());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_held_or_started_twice(steps in steps(), seed in 0u64..1_000, bad in prop::bool::ANY) {
        for policy in POLICIES {
            let faults = if bad {
                SeededFaults { lost: 60, unsaid: 60, refused: 40, silent: vec![(1_700_000_020_000, 1_700_000_040_000)], idle: Vec::new(), between: (seed % 3) as i64 * 300, seed }
            } else {
                SeededFaults::default()
            };
            let mut chaos = Chaos::new(policy, faults);
            for &step in &steps {
                chaos.take(step);
            }
            chaos.finish();
            chaos.no_start_twice();
        }
    }

    /// Without anything happening meanwhile, the second look at the latest makes the books equal.
    #[test]
    fn books_are_equal_at_the_second_look(steps in steps()) {
        for policy in POLICIES {
            let mut chaos = Chaos::new(policy, SeededFaults::default());
            for &step in &steps {
                chaos.take(step);
                chaos.world.turn(0);
                chaos.world.turn(0);
                let wrong = chaos.world.differences();
                prop_assert!(wrong.is_empty(), "{policy} after {step:?}: {wrong:?} {}", chaos.describe());
            }
        }
    }
}

/// Jobs of one processor on an idle machine all run, to their ends, and are known to have.
#[test]
fn a_quiet_day() {
    for policy in POLICIES {
        let mut chaos = Chaos::new(policy, SeededFaults::default());
        for k in 0..20 {
            chaos.take(Step::Submit(1 + k % 8, 5, 10, false));
            chaos.take(Step::Look(700));
        }
        chaos.finish();
        chaos.no_start_twice();
        let is_complete = |job: &drystone_live::cluster::JobFact| job.state == JobState::Ended(Ending::Completed);
        assert_eq!(
            chaos.world.cluster.true_snapshot().jobs.iter().filter(|job| is_complete(job)).count(),
            20,
            "{policy}"
        );
        assert_eq!(chaos.world.cluster.event_record().oversubscribed, 0, "{policy}");
        chaos.world.restart();
    }
}
