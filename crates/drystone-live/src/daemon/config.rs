//! Configuration of a daemon.

use crate::cluster::DrivenSet;
use crate::state::Home;
use crate::tracker::DaemonMode;
use drystone::policy::PolicySpec;

#[derive(Clone, Debug)]
pub struct DaemonConfig {
    /// Paths of its files.
    pub home: Home,
    pub mode: DaemonMode,
    pub policy: PolicySpec,
    /// Partitions that are driven, by the nodes that they have.
    pub sets: Vec<DrivenSet>,
    /// True if pending jobs without a hold are taken over.
    pub adopt_old: bool,
    /// True if the policy counts processors, though it could place jobs on nodes.
    pub by_count: bool,
    pub cluster: String,
    /// This daemon's name of itself: no other ever had it.
    pub instance: String,
    /// True if planned starts are written into jobs' comments.
    pub comments: bool,
    /// The user that writes the wake file.
    pub waker: Option<u32>,
}
