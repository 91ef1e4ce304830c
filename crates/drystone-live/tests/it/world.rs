//! A made-up cluster and a core that drives it.

use drystone::model::Time;
use drystone::policy::PolicySpec;
use drystone_live::audit::differences_from;
use drystone_live::cluster::fake::FakeCluster;
use drystone_live::cluster::{Cluster, OrderOutcome};
use drystone_live::core::{Core, CoreInput, CoreOutput};
use drystone_live::tracker::{DaemonMode, HookMessage, NodeLayout, Stamp, TrackerSettings, WakePosition};

/// Observations, decisions and outcomes.
pub(crate) struct World {
    pub(crate) cluster: FakeCluster,
    pub(crate) core: Core,
    pub(crate) policy: PolicySpec,
    pub(crate) settings: TrackerSettings,
    /// Everything that went in, and what came out.
    pub(crate) journal: Vec<(CoreInput, CoreOutput)>,
    pub(crate) steady: u64,
    /// True if the last look was answered.
    pub(crate) answers: bool,
    /// Messages of the hook since the last look.
    pub(crate) told: Vec<HookMessage>,
}

/// A policy and whether it has to count processors: `easy`, `easy by count`.
pub(crate) fn policy_of(text: &str) -> (PolicySpec, bool) {
    let (policy, by_count) = text.strip_suffix(" by count").map_or((text, false), |policy| (policy, true));
    (policy.parse().expect("a policy"), by_count)
}

fn settings(policy: &PolicySpec, by_count: bool, mode: DaemonMode) -> TrackerSettings {
    let partitions = vec!["main".to_string()];
    TrackerSettings::for_mode(mode, partitions, true, policy).by_count(by_count)
}

impl World {
    pub(crate) fn new(cluster: FakeCluster, policy: &str, mode: DaemonMode) -> World {
        let (policy, by_count) = policy_of(policy);
        let settings = settings(&policy, by_count, mode);
        let truth = cluster.true_snapshot();
        let layout = NodeLayout::new(&truth.nodes).with_licences(&truth.licences);
        let core = Core::new(settings.clone(), layout, &policy);
        World { cluster, core, policy, settings, journal: Vec::new(), steady: 0, answers: false, told: Vec::new() }
    }

    pub(crate) fn now(&self) -> i64 {
        self.cluster.current_time() / 1_000
    }

    fn take(&mut self, input: CoreInput) -> CoreOutput {
        let output = self.core.take_input(&input).unwrap_or_else(|e| panic!("{}: {e}", self.policy.canonical_text()));
        self.journal.push((input, output.clone()));
        output
    }

    /// Time passes, then one look with whatever it leads to. Returns what came out, or nothing
    /// where the cluster is silent.
    pub(crate) fn turn(&mut self, milliseconds: i64) -> Option<CoreOutput> {
        let until = self.cluster.current_time() + milliseconds;
        while self.answers
            && let Some(due) = self.core.tick_due(Time(until / 1_000))
        {
            self.cluster.pass_time((due.0 * 1_000 - self.cluster.current_time()).max(0));
            let output = self.take(CoreInput::Tick(Stamp { now: due.0, steady: self.steady }));
            self.act(&output);
        }
        self.cluster.pass_time(until - self.cluster.current_time());
        let want = self.core.tracker().wanted_details();
        let result = self.cluster.observe(&want);
        self.answers = result.is_ok();
        let snapshot = result.ok()?;
        self.steady += milliseconds as u64;
        let delta = self.core.tracker().mirror().diff_snapshot(&snapshot);
        let stamp = Stamp { now: self.now(), steady: self.steady };
        let messages = std::mem::take(&mut self.told);
        let output = self.take(CoreInput::Facts { stamp, delta, told: messages, heard: WakePosition::default() });
        self.act(&output);
        Some(output)
    }

    fn act(&mut self, output: &CoreOutput) {
        if !output.orders.is_empty() {
            let outcomes: Vec<OrderOutcome> = self.cluster.execute_orders(&output.orders, &mut || true);
            self.take(CoreInput::Outcomes(outcomes));
        }
    }

    /// The daemon is killed and comes back with what it journaled, or with what it saved.
    pub(crate) fn restart(&mut self) {
        let mut core = Core::new(self.settings.clone(), self.core.tracker().layout().clone(), &self.policy);
        for (input, output) in &self.journal {
            assert_eq!(core.take_input(input).expect("sound"), *output, "a replay gives the same");
        }
        let snapshot = core.save().expect("saves");
        core = Core::new(self.settings.clone(), self.core.tracker().layout().clone(), &self.policy);
        core.load(&snapshot).expect("loads");
        assert_eq!(core.save().expect("saves"), snapshot);
        self.core = core;
        let stamp = Stamp { now: self.now(), steady: self.steady };
        self.take(CoreInput::Restarted(stamp));
    }

    /// Lists the differences between the books and the cluster, jobs in flight left out.
    pub(crate) fn differences(&self) -> Vec<String> {
        let truth = self.cluster.true_snapshot();
        differences_from(&self.core, truth.jobs.iter(), truth.nodes.iter())
    }
}
