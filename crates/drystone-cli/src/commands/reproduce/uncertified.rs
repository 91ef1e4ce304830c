//! `drystone reproduce slurm` in a build without the feature `certify`: an error where it is asked
//! for by name.

use super::StudyResult;
use crate::exit::CommandFailure;
use crate::output::format::missing_feature_error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// True if this build compares the model with recordings.
pub(super) const IN_THIS_BUILD: bool = false;
/// Name on the command line.
pub(super) const NAME: &str = "slurm";
pub(super) const SOURCE: &str = "";
pub(super) const TABLES: [(&str, &str); 0] = [];

/// Recordings, of which this build knows none.
pub(super) enum Recordings {}

/// Fails with the feature that is missing.
pub(super) fn check_build() -> Result<(), CommandFailure> {
    Err(missing_feature_error("reproduce slurm", "certify"))
}

/// Finds no recordings.
pub(super) fn find_recordings(_: &[PathBuf]) -> Option<Recordings> {
    None
}

/// Is never called: there are no recordings.
pub(super) fn certify_model(
    recordings: &Recordings,
    _: &[String],
    _: usize,
    _: &(dyn Fn(u64) + Sync),
    _: &AtomicBool,
) -> Result<(StudyResult, usize), CommandFailure> {
    match *recordings {}
}
