//! Scenes in a build without the feature `sites`: no path is a site.

use super::WorkloadInput;
use crate::args::{CutArgs, LogArgs, RealArgs};
use crate::exit::CommandFailure;
use std::path::Path;

/// Ways to take a site.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)]
pub(super) struct SceneTake {
    pub(super) all: bool,
    pub(super) plain: bool,
    /// Counts of processors unless nodes are asked for: a change of the machine changes counts and
    /// Slurm's own nodes, not the table that other policies place jobs by.
    pub(super) counted: bool,
}

/// Returns `None`: the path is no site.
pub(super) fn read_site(
    _path: &Path,
    _of: (&LogArgs, &CutArgs, &RealArgs),
    _take: SceneTake,
) -> Result<Option<WorkloadInput>, CommandFailure> {
    Ok(None)
}
