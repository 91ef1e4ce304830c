//! Progress and cancellation of an import.

use crate::error::SiteError;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Copy)]
pub struct ImportObserver<'a> {
    /// Set when it is to stop.
    pub stop: Option<&'a AtomicBool>,
    /// Told what is being done once the files are read; how far reading is, tells what opens them.
    pub phase: &'a (dyn Fn(&str) + Sync),
}

impl Default for ImportObserver<'_> {
    fn default() -> Self {
        ImportObserver { stop: None, phase: &|_| {} }
    }
}

impl ImportObserver<'_> {
    /// # Errors
    /// It is to stop.
    pub(crate) fn check_stop(&self) -> Result<(), SiteError> {
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(SiteError::Stopped),
            _ => Ok(()),
        }
    }
}

/// More threads than this are of no use, and each takes memory for what it has at hand.
const MOST_THREADS: usize = 8;

/// As many threads as there are processors.
pub(crate) fn count_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}
