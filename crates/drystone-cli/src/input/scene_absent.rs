//! Scenes in a build without the feature `sites`: no path is a site.

use super::Input;
use crate::args::{CutArgs, LogArgs, RealArgs};
use crate::exit::Failure;
use std::path::Path;

/// Ways to take a site.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)]
pub(super) struct Take {
    pub(super) all: bool,
    pub(super) plain: bool,
}

/// Returns `None`: the path is no site.
pub(super) fn input(_path: &Path, _of: (&LogArgs, &CutArgs, &RealArgs), _take: Take) -> Result<Option<Input>, Failure> {
    Ok(None)
}
