//! A made-up cluster and a core that drives it.

use drystone::model::{JobId, Time};
use drystone::policy::{Phase, PolicySpec};
use drystone_live::cluster::fake::FakeCluster;
use drystone_live::cluster::{Cluster, Key, Outcome, Snapshot, State};
use drystone_live::core::{Core, Input, Output};
use drystone_live::tracker::{Layout, Mode, Place, Settings, Stamp, Told};
use std::collections::{BTreeMap, BTreeSet};

/// What is looked at, what is decided, and what came of it.
pub(crate) struct World {
    pub(crate) cluster: FakeCluster,
    pub(crate) core: Core,
    pub(crate) policy: PolicySpec,
    pub(crate) settings: Settings,
    /// Everything that went in, and what came out.
    pub(crate) journal: Vec<(Input, Output)>,
    pub(crate) steady: u64,
    /// Whether the last look was answered.
    pub(crate) answers: bool,
    /// What the hook said since the last look.
    pub(crate) told: Vec<Told>,
}

pub(crate) fn settings(policy: &PolicySpec, mode: Mode) -> Settings {
    let needs = policy.scheduler().policy.needs();
    let partitions = vec!["main".to_string()];
    Settings { mode, partitions, adopt_old: true, names: needs.name, suspends: needs.suspend }
}

impl World {
    pub(crate) fn new(cluster: FakeCluster, policy: &str, mode: Mode) -> World {
        let policy: PolicySpec = policy.parse().expect("a policy");
        let settings = settings(&policy, mode);
        let layout = Layout::new(&cluster.truth().nodes);
        let core = Core::new(settings.clone(), layout, &policy);
        World { cluster, core, policy, settings, journal: Vec::new(), steady: 0, answers: false, told: Vec::new() }
    }

    pub(crate) fn now(&self) -> i64 {
        self.cluster.now() / 1_000
    }

    fn take(&mut self, input: Input) -> Output {
        let output = self.core.take(&input).unwrap_or_else(|e| panic!("{}: {e}", self.policy.canonical()));
        self.journal.push((input, output.clone()));
        output
    }

    /// Time passes, then one look with whatever it leads to. Answers what came out, or nothing where the cluster is silent.
    pub(crate) fn turn(&mut self, milliseconds: i64) -> Option<Output> {
        let until = self.cluster.now() + milliseconds;
        while self.answers
            && let Some(due) = self.core.tick_due(Time(until / 1_000))
        {
            self.cluster.pass((due.0 * 1_000 - self.cluster.now()).max(0));
            let output = self.take(Input::Tick(Stamp { now: due.0, steady: self.steady }));
            self.act(&output);
        }
        self.cluster.pass(until - self.cluster.now());
        let want = self.core.tracker().wants();
        let seen = self.cluster.observe(&want);
        self.answers = seen.is_ok();
        let seen = seen.ok()?;
        self.steady += milliseconds as u64;
        let delta = self.core.tracker().mirror().diff(&seen);
        let stamp = Stamp { now: self.now(), steady: self.steady };
        let told = std::mem::take(&mut self.told);
        let output = self.take(Input::Facts { stamp, delta, told });
        self.act(&output);
        Some(output)
    }

    fn act(&mut self, output: &Output) {
        if !output.orders.is_empty() {
            let outcomes: Vec<Outcome> = self.cluster.act(&output.orders, &mut || true);
            self.take(Input::Outcomes(outcomes));
        }
    }

    /// The daemon is killed and comes back with what it journaled, or with what it saved.
    pub(crate) fn restart(&mut self) {
        let mut core = Core::new(self.settings.clone(), self.core.tracker().layout().clone(), &self.policy);
        for (input, output) in &self.journal {
            assert_eq!(core.take(input).expect("sound"), *output, "a replay gives the same");
        }
        let saved = core.save().expect("saves");
        core = Core::new(self.settings.clone(), self.core.tracker().layout().clone(), &self.policy);
        core.load(&saved).expect("loads");
        assert_eq!(core.save().expect("saves"), saved);
        self.core = core;
        let stamp = Stamp { now: self.now(), steady: self.steady };
        self.take(Input::Restarted(stamp));
    }

    /// Where the books differ from the cluster, jobs in flight left out.
    pub(crate) fn differences(&self) -> Vec<String> {
        differences(&self.core, &self.cluster.truth())
    }
}

/// Where a core's books differ from what a cluster shows.
pub(crate) fn differences(core: &Core, truth: &Snapshot) -> Vec<String> {
    let (tracker, view) = (core.tracker(), core.session().view());
    let mut wrong = Vec::new();
    let phase = |id: JobId| if id < view.oldest() { Phase::Done } else { view.phase(id) };
    let mut listed: BTreeSet<Key> = BTreeSet::new();
    let mut flying = false;
    for fact in &truth.jobs {
        for key in fact.keys() {
            listed.insert(key);
            let Some(job) = tracker.job(key) else {
                if !matches!(fact.state, State::Ended(_)) {
                    wrong.push(format!("{key} is not known"));
                }
                continue;
            };
            flying |= job.flight.is_some();
            let (Some(id), None) = (job.id, job.flight) else { continue };
            let right = match (fact.state, job.place) {
                (State::Running, Place::Running) => phase(id) == Phase::Running,
                (State::Pending, Place::Waiting) => phase(id) == Phase::Waiting,
                (State::Pending, Place::Held) => phase(id) == Phase::Held,
                (State::Suspended, Place::Suspended | Place::Interrupted) => phase(id) == Phase::Suspended,
                (State::Ended(_), Place::Done) => phase(id) == Phase::Done,
                _ => false,
            };
            if !right {
                wrong.push(format!("{key}: {:?} there, {:?} and {:?} here", fact.state, job.place, phase(id)));
            }
        }
    }
    for job in tracker.jobs().filter(|job| !listed.contains(&job.key)) {
        wrong.push(format!("{} is not there any more", job.key));
    }
    let busy: u32 = truth.nodes.iter().map(|node| node.busy).sum();
    let all: u32 = truth.nodes.iter().map(|node| node.procs).sum();
    let mut used: BTreeMap<&str, u32> = BTreeMap::new();
    for fact in truth.jobs.iter().filter(|fact| fact.state == State::Running) {
        for place in &fact.places {
            *used.entry(&place.node).or_default() += place.procs.unwrap_or(0);
        }
    }
    // Where somebody else lets more run than there is room for, what is free depends on how that is counted.
    flying |= truth.nodes.iter().any(|node| used.get(node.name.as_str()).is_some_and(|&used| used > node.procs));
    let up = truth.nodes.iter().all(|node| node.state == drystone_live::cluster::NodeState::Up);
    if !flying && up && core.session().free() != all - busy {
        wrong.push(format!("{} processors are free here, {} there", core.session().free(), all - busy));
    }
    wrong
}
