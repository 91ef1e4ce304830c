//! A copy of a store for others to read, which appears whole or not at all.

use super::{Store, schema};
use crate::error::SweepError;
use rusqlite::{Connection, OpenFlags};
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::path::Path;

impl Store {
    /// Puts a copy of the store in its present state under this name, in the place of an older one.
    /// The copy is written beside it, flushed to the disk and renamed, so that a reader on any node
    /// of a cluster sees the old file or the new one. Nothing is locked and SQLite does not touch
    /// the target, so it may be on a network file system.
    ///
    /// # Errors
    /// The copy cannot be written; the older one stays.
    ///
    /// Cost: reads and writes the whole store.
    pub fn publish_copy(&self, target: &Path) -> Result<(), SweepError> {
        // Between transactions the file alone is the store: there is no journal. No other process
        // writes, for it is locked.
        let copy = || -> io::Result<()> {
            let mut from = File::open(&self.path)?;
            let folder = target.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
            let prefix = format!(".{name}.");
            let mut builder = tempfile::Builder::new();
            builder.prefix(&prefix).suffix(".part");
            if let Some(permissions) = readable_permissions() {
                builder.permissions(permissions);
            }
            let mut file = builder.tempfile_in(folder).map_err(|e| io::Error::from(e.kind()))?;
            io::copy(&mut from, file.as_file_mut())?;
            file.as_file().sync_all()?;
            file.persist(target).map_err(|e| e.error)?;
            // The name is also durable once the folder is; not every system can say so.
            if let Ok(folder) = File::open(folder) {
                let _ = folder.sync_all();
            }
            Ok(())
        };
        copy().map_err(|e| {
            SweepError::store_error(target.display(), format!("{} cannot be published there: {e}", self.path.display()))
        })
    }

    /// Opens a store that was published. No lock is taken and no journal looked for: such a file
    /// never changes.
    pub(super) fn open_published(path: &Path) -> Result<Store, SweepError> {
        schema::refuse_strangers(path)?;
        let fail = |e| SweepError::database_error(path.display(), e);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let Some(text) = path.to_str() else {
            return Err(SweepError::store_error(path.display(), "has a name that is no UTF-8; rename its folder"));
        };
        let db = Connection::open_with_flags(file_uri(text), flags).map_err(fail)?;
        let store = Store { path: path.to_path_buf(), db, _lock: None, grown: None };
        store.check_version()?;
        Ok(store)
    }
}

/// A path as SQLite's URI of a file that does not change.
fn file_uri(path: &str) -> String {
    let mut uri = "file:".to_string();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            // Writing to a String cannot fail.
            other => drop(write!(uri, "%{other:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Returns 666 masked by the user's umask, in place of a temporary file's 600, so that a group can
/// gather the results of one member.
#[cfg(unix)]
fn readable_permissions() -> Option<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(std::fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn readable() -> Option<std::fs::Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_says_anything_to_sqlite() {
        assert_eq!(file_uri("/a b/ü?#%.db"), "file:/a%20b/%C3%BC%3F%23%25.db?immutable=1");
    }
}
