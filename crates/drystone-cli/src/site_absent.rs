//! Sites in a build without the feature `sites`: no path names one.

use crate::exit::CommandFailure;
use crate::meta::FileMeta;
use crate::output::format::missing_feature_error;
use drystone::experiment::PoolDivision;
use drystone::log::LogError;
use drystone::log::source::LogFile;
use drystone::log::swf::SwfRecord;
use drystone::metrics::JobSelection;
use drystone::model::Outages;
use drystone::policy::PolicySpec;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Data of an input that is a site: no value exists.
#[derive(Clone, Debug)]
pub(crate) struct SiteInput {
    pub(crate) selection: JobSelection,
    pub(crate) places: Vec<u32>,
    pub(crate) plain: bool,
    never: Infallible,
}

/// Returns `None`: no path names a site with a Slurm of its own.
#[expect(clippy::unnecessary_wraps, reason = "as it is where sites are in the build")]
pub(crate) fn own_policy(_path: Option<&Path>) -> Result<Option<PolicySpec>, CommandFailure> {
    Ok(None)
}

/// Returns the policy as it is: no path names a site.
#[cfg(feature = "sweep")]
#[expect(clippy::unnecessary_wraps, reason = "as it is where sites are in the build")]
pub(crate) fn localised_policy(_path: &Path, spec: &PolicySpec) -> Result<PolicySpec, String> {
    Ok(spec.clone())
}

/// Returns `false`: a folder is never taken for a site.
pub(crate) fn is_site(_path: &Path) -> bool {
    false
}

/// Returns `None`: no path names a site.
pub(crate) fn split_site_path(_path: &Path) -> Option<(PathBuf, Option<String>)> {
    None
}

/// Checks nothing: no path names a site.
#[expect(clippy::unnecessary_wraps, reason = "as it is where sites are in the build")]
pub(crate) fn one_pool(_path: &Path) -> Result<(), CommandFailure> {
    Ok(())
}

/// Returns `None`: no path names a site.
pub(crate) fn as_log(_path: &Path) -> Option<Result<LogFile, LogError>> {
    None
}

/// Returns the path: no path names a site.
pub(crate) fn path_of_job(path: &Path, _job: &str) -> std::path::PathBuf {
    path.to_path_buf()
}

/// Returns `None`: no path names a site.
pub(crate) fn recorded_window(_path: &Path) -> Option<drystone::model::Span> {
    None
}

/// Returns `None`: no path names a site.
pub(crate) fn open_counted_log(_path: &Path) -> Option<Result<LogFile, LogError>> {
    None
}

pub(crate) fn site_places(_records: &[SwfRecord]) -> Vec<u32> {
    Vec::new()
}

/// Prints no remarks: policies of a `slurm.conf` are not in this build.
pub(crate) fn tell_remarks<'a>(_specs: impl IntoIterator<Item = &'a PolicySpec>) {}

/// Does nothing: policies of other crates are not in this build.
pub(crate) fn register_policies() -> Result<(), String> {
    Ok(())
}

/// Refuses the folder of a site, which this build cannot read.
pub(crate) fn refuse_folder(path: &Path) -> Result<(), CommandFailure> {
    match path.join("site.json").is_file() {
        true => Err(missing_feature_error(&path.display().to_string(), "sites")),
        false => Ok(()),
    }
}

/// Does nothing: no log is a site.
pub(crate) fn write_tables_beside(_log: &Path, _out: &Path) -> Result<(), CommandFailure> {
    Ok(())
}

impl SiteInput {
    pub(crate) fn prove_absent(&self) -> Infallible {
        match self.never {}
    }

    pub(crate) fn read_outages(&self) -> Result<(Outages, Option<FileMeta>, Option<FileMeta>), CommandFailure> {
        match self.never {}
    }

    pub(crate) fn recorded_window(&self) -> Option<drystone::model::Span> {
        match self.never {}
    }

    pub(crate) fn folder(&self) -> &Path {
        match self.never {}
    }

    pub(crate) fn lacks_capacity(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn pool_division(&self) -> Option<&PoolDivision> {
        match self.never {}
    }

    pub(crate) fn localise_policies<'a>(&mut self, _specs: impl IntoIterator<Item = &'a PolicySpec>) {
        match self.never {}
    }

    pub(crate) fn simulated_policy(&self, _spec: &PolicySpec) -> Result<PolicySpec, CommandFailure> {
        match self.never {}
    }

    pub(crate) fn recorded_wait(&self, _at: usize) -> Option<i64> {
        match self.never {}
    }

    pub(crate) fn describe_assumptions(&self) -> String {
        match self.never {}
    }
}
