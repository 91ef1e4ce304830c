//! The folder in which a task works, on the disk of its node.

use crate::error::SweepError;
use std::fs::{File, TryLockError};
use std::path::Path;
use tempfile::TempDir;

/// A folder of an attempt. It goes when this is dropped; that of a task that was killed goes with
/// the next attempt on the node.
pub(super) struct ScratchFolder {
    folder: TempDir,
    /// Held while the attempt lives.
    _lock: File,
}

/// File whose lock shows that an attempt is alive.
const LOCK: &str = "alive";

impl ScratchFolder {
    /// Makes a folder below `place` for an attempt of the task that is called `name`.
    pub(super) fn create_folder(place: &Path, name: &str) -> Result<ScratchFolder, SweepError> {
        let prefix = format!("drystone-{name}-");
        remove_abandoned(place, &prefix);
        let make = || -> std::io::Result<ScratchFolder> {
            let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(place)?;
            let lock = File::create_new(folder.path().join(LOCK))?;
            // A disk without locks: then nothing of it is ever removed by others.
            let _ = lock.try_lock();
            Ok(ScratchFolder { folder, _lock: lock })
        };
        make().map_err(|e| {
            // The error of a temporary file names a path that the user does not know.
            let reason = std::io::Error::from(e.kind());
            SweepError::store_error(
                place.display(),
                format!(
                    "no task can work there: {reason}; name another folder with --scratch, of which nothing was lost"
                ),
            )
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder where it is, because there is something in it that is nowhere else.
    pub(super) fn keep_folder(self) {
        let _ = self.folder.keep();
    }
}

/// Removes folders of earlier attempts that were killed.
fn remove_abandoned(place: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let is_own = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        if is_own && let Ok(lock) = File::open(entry.path().join(LOCK)) {
            match lock.try_lock() {
                Ok(()) => drop(std::fs::remove_dir_all(entry.path())),
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_killed_attempt_left_is_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let dead_folder = place.path().join("drystone-a-1-xyz");
        std::fs::create_dir(&dead_folder).expect("made");
        std::fs::write(dead_folder.join(LOCK), "").expect("written");
        let sibling = place.path().join("drystone-a-10-xyz");
        std::fs::create_dir(&sibling).expect("made");
        std::fs::write(sibling.join(LOCK), "").expect("written");
        let alive = ScratchFolder::create_folder(place.path(), "a-1").expect("made");
        assert!(!dead_folder.exists() && sibling.exists() && alive.path().exists());
        let twin = ScratchFolder::create_folder(place.path(), "a-1").expect("made");
        assert!(alive.path().exists(), "an attempt at work keeps its folder");
        let path = twin.path().to_path_buf();
        drop(twin);
        assert!(!path.exists());
        let missing =
            ScratchFolder::create_folder(&place.path().join("missing"), "a-1").map(drop).expect_err("no such folder");
        assert!(missing.to_string().contains("--scratch"), "{missing}");
    }
}
