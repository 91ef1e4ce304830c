//! Sweeps whose results depend on the machine.

use crate::args::WorkArgs;
use crate::output::message;
use drystone_sweep::{Store, Study};
use std::path::Path;

/// Tells of a study file whose policies have a time limit. Whoever cannot read the file is told so by those that need it.
pub(super) fn tell_of_file(file: Option<&Path>) {
    // What is no file, such as a pipe, can be read once only, and not here.
    if let Some(file) = file.filter(|file| file.is_file())
        && let Ok(study) = Study::read(file)
    {
        tell(&study);
    }
}

/// The same of a store's study.
pub(super) fn tell_of_store(store: &Path) {
    if let Ok((study, _)) = Store::look(store).and_then(|store| store.study()) {
        tell(&study);
    }
}

/// The same of a chunk. Chunks that other processes simulate quietly were told of by the process that began them.
pub(super) fn tell_of_chunk(file: &Path, work: &WorkArgs) {
    if !work.quiet {
        tell_of_file(Some(file));
    }
}

fn tell(study: &Study) {
    if let Some(policy) = study.timed() {
        message::insist(&format!(
            "`{policy}` has a time limit: its results depend on the speed of the machine, and on what else it does, and will be others \
             another time; a limit of nodes instead of `budget` has the same results everywhere"
        ));
    }
}
