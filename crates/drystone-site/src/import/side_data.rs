//! Data read besides the jobs.

use crate::capacity::{NodeEvent, SiteReservation};
use crate::machine::SiteMachine;
use std::path::PathBuf;

#[derive(Default)]
pub(crate) struct BesideData {
    pub(crate) machine: SiteMachine,
    pub(crate) described: bool,
    /// The files that describe it.
    pub(crate) described_by: Vec<PathBuf>,
    pub(crate) events: Vec<NodeEvent>,
    pub(crate) reservations: Vec<SiteReservation>,
    /// Rows of events and reservations that could not be used.
    pub(crate) unused: u64,
    pub(crate) warnings: Vec<String>,
    /// `slurm.conf`, as one file.
    pub(crate) slurm_conf: Option<String>,
    /// Associations and QOS, as they were given.
    pub(crate) accounts: Option<String>,
}
