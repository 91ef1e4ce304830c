//! A made-up cluster with a clock of its own, and the daemons that come and go on it.

use super::world::policy_of;
use drystone_live::LiveError;
use drystone_live::board::PublishedBoard;
use drystone_live::clock::DaemonClock;
use drystone_live::cluster::fake::{FakeCluster, FakeRequest};
use drystone_live::cluster::{
    Capabilities, Cluster, ClusterError, ClusterOrder, ClusterSnapshot, DrivenSet, JobKey, JobName, OrderOutcome, Want,
};
use drystone_live::daemon::{Daemon, DaemonConfig, DaemonEnd, PointFaults};
use drystone_live::hand_back::{HandBackOptions, HandBackSummary, hand_back};
use drystone_live::state::Home;
use drystone_live::tracker::DaemonMode;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A cluster and its clock, shared by a test and the daemons that come and go.
#[derive(Clone)]
pub(crate) struct Shared(Rc<RefCell<FakeCluster>>);

impl Cluster for Shared {
    fn observe(&mut self, want: &Want) -> Result<ClusterSnapshot, ClusterError> {
        self.0.borrow_mut().observe(want)
    }

    fn execute_orders(&mut self, orders: &[ClusterOrder], may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome> {
        self.0.borrow_mut().execute_orders(orders, may)
    }

    fn remove_marks(&mut self, jobs: &[JobName]) {
        self.0.borrow_mut().remove_marks(jobs);
    }

    fn capabilities(&self) -> Capabilities {
        self.0.borrow().capabilities()
    }

    fn take_call_cost(&mut self) -> Duration {
        self.0.borrow_mut().take_call_cost()
    }

    fn name(&self) -> String {
        self.0.borrow().name()
    }
}

/// The cluster's own clock; the daemon's may be set wrong.
#[derive(Clone)]
pub(crate) struct TestClock {
    cluster: Rc<RefCell<FakeCluster>>,
    wrong: Rc<RefCell<i64>>,
    last: Cell<i64>,
}

impl TestClock {
    /// The cluster's time, which stands still while the cluster carries out orders.
    fn now(&self) -> i64 {
        if let Ok(cluster) = self.cluster.try_borrow() {
            self.last.set(cluster.current_time());
        }
        self.last.get()
    }
}

impl DaemonClock for TestClock {
    fn wall_seconds(&self) -> i64 {
        self.now() / 1_000 + *self.wrong.borrow()
    }

    fn steady_time(&self) -> Duration {
        Duration::from_millis(self.now().unsigned_abs())
    }

    fn sleep(&mut self, time: Duration) {
        self.cluster.borrow_mut().pass_time(i64::try_from(time.as_millis().max(1)).expect("short"));
    }
}

/// A site: cluster, clock, folder.
pub(crate) struct Site {
    pub(crate) cluster: Rc<RefCell<FakeCluster>>,
    pub(crate) wrong: Rc<RefCell<i64>>,
    folder: TempDir,
    pub(crate) policy: &'static str,
    pub(crate) mode: DaemonMode,
    pub(crate) sets: Vec<DrivenSet>,
    pub(crate) board: Arc<PublishedBoard>,
    daemons: u32,
}

pub(crate) type TestDaemon = Daemon<Shared, TestClock>;

impl Site {
    pub(crate) fn new(cluster: FakeCluster, policy: &'static str, mode: DaemonMode) -> Site {
        let folder = tempfile::tempdir().expect("a folder");
        let (cluster, wrong) = (Rc::new(RefCell::new(cluster)), Rc::new(RefCell::new(0)));
        let sets = vec![DrivenSet::single_set(vec!["main".into()])];
        Site { cluster, wrong, folder, policy, mode, sets, board: Arc::default(), daemons: 0 }
    }

    /// Lets daemons only look, and the cluster schedule by itself.
    pub(crate) fn shadow(&mut self) {
        self.mode = DaemonMode::Shadow;
        self.cluster.borrow_mut().set_hook(false);
    }

    pub(crate) fn home(&self) -> Home {
        Home::new(self.folder.path().join("state"), self.folder.path().join("run"))
    }

    pub(crate) fn try_begin(&mut self) -> Result<TestDaemon, LiveError> {
        self.daemons += 1;
        let (policy, by_count) = policy_of(self.policy);
        let config = DaemonConfig {
            home: self.home(),
            mode: self.mode,
            policy,
            sets: self.sets.clone(),
            adopt_old: true,
            by_count,
            comments: false,
            cluster: "made-up".into(),
            instance: format!("daemon {}", self.daemons),
            waker: None,
        };
        let clock = TestClock { cluster: self.cluster.clone(), wrong: self.wrong.clone(), last: Cell::default() };
        Daemon::begin_daemon(config, Shared(self.cluster.clone()), clock, PointFaults::default(), self.board.clone())
    }

    pub(crate) fn begin(&mut self) -> TestDaemon {
        self.try_begin().expect("begins")
    }

    pub(crate) fn submit(&self, procs: u32, run: i64, limit: i64) -> u64 {
        self.cluster.borrow_mut().submit(FakeRequest::new(procs, run, limit))
    }

    /// Lets a daemon work for this many looks.
    pub(crate) fn work(&self, daemon: &mut TestDaemon, looks: u32) -> Option<DaemonEnd> {
        for _ in 0..looks {
            self.cluster.borrow_mut().pass_time(300);
            if let Some(end) = daemon.run_turn().expect("works") {
                return Some(end);
            }
        }
        None
    }

    pub(crate) fn finish(&self, daemon: &mut TestDaemon) {
        for _ in 0..4_000 {
            if self.cluster.borrow().is_done() {
                return;
            }
            assert_eq!(self.work(daemon, 1), None);
        }
        panic!("jobs wait for ever: {:?}", self.cluster.borrow().true_snapshot().jobs);
    }

    pub(crate) fn hand_back(&self, options: &HandBackOptions) -> HandBackSummary {
        let mut clock = TestClock { cluster: self.cluster.clone(), wrong: self.wrong.clone(), last: Cell::default() };
        hand_back(&mut Shared(self.cluster.clone()), &self.home(), options, &mut |time| clock.sleep(time))
            .expect("gives back")
    }

    pub(crate) fn starts(&self) -> BTreeMap<JobKey, usize> {
        let mut starts = BTreeMap::new();
        for (key, _) in &self.cluster.borrow().event_record().starts {
            *starts.entry(*key).or_insert(0) += 1;
        }
        starts
    }
}

/// Site of two nodes with four processors, driven.
pub(crate) fn drive(policy: &'static str) -> Site {
    Site::new(FakeCluster::new(2, 4), policy, DaemonMode::Drive)
}
