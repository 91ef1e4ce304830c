//! Files of a daemon: its journal, and plain files for hand-back, the hook and people.

mod heartbeat;
mod ledger;
mod lock;
mod wake;

pub use heartbeat::{Beat, Heartbeat};
pub use ledger::{ActionLedger, LedgerLine, LedgerStanding};
pub use lock::{Lock, LockError};
pub use wake::Wake;

use crate::cluster::DrivenSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Folder of what several sets of nodes have each.
const SETS: &str = "sets";

/// The folder of a set: its partitions, whatever characters their names have.
fn set_folder(name: &str) -> String {
    let safe = |c: char| match c {
        ',' => '+',
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') => c,
        _ => '_',
    };
    name.chars().map(safe).collect()
}

/// Paths of a daemon's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Home {
    state: PathBuf,
    run: PathBuf,
}

impl Home {
    /// Journal, ledger and lock go to `state`; heartbeat and wake file, which the hook knows, to
    /// `run`.
    pub fn new(state: impl Into<PathBuf>, run: impl Into<PathBuf>) -> Home {
        Home { state: state.into(), run: run.into() }
    }

    /// Returns the paths of one of several sets of nodes, whose journal and saved state have a
    /// folder of their own; those of the only set are here.
    pub fn of_set(&self, sets: &[DrivenSet], at: usize) -> Home {
        if sets.len() < 2 {
            return self.clone();
        }
        Home { state: self.state.join(SETS).join(set_folder(&sets[at].name())), run: self.run.clone() }
    }

    /// Notes the names of several sets of nodes, for commands that receive the state folder only;
    /// takes the note away where there is one set.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_sets(&self, sets: &[DrivenSet]) -> io::Result<()> {
        let path = self.state.join("node-sets");
        if sets.len() < 2 {
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let lines: String = sets.iter().map(|set| format!("{}\n", set.name())).collect();
        write_whole(&path, lines.as_bytes(), true)
    }

    /// Notes the driven partitions, for a hand-back.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_partitions(&self, sets: &[DrivenSet]) -> io::Result<()> {
        let names = sets.iter().flat_map(|set| &set.partitions);
        let lines: String = names.map(|name| format!("{name}\n")).collect();
        write_whole(&self.state.join("partitions"), lines.as_bytes(), true)
    }

    /// Returns the driven partitions of the last daemon; empty where it noted none.
    pub fn read_partitions(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.state.join("partitions")).unwrap_or_default();
        text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
    }

    /// Returns the journals of the last daemon, one for each set of nodes, with the set's name
    /// where there are several.
    pub fn list_journals(&self) -> Vec<(Option<String>, PathBuf)> {
        let text = std::fs::read_to_string(self.state.join("node-sets")).unwrap_or_default();
        let of = |name: &str| (Some(name.to_string()), self.state.join(SETS).join(set_folder(name)).join("journal"));
        let sets: Vec<(Option<String>, PathBuf)> = text.lines().filter(|line| !line.is_empty()).map(of).collect();
        if sets.is_empty() { vec![(None, self.journal_folder())] } else { sets }
    }

    /// Makes the folders where they are missing, and closes what shows jobs to others.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn make_folders(&self) -> io::Result<()> {
        std::fs::create_dir_all(self.journal_folder())?;
        // Segments and lines of an earlier version could be read by all.
        close_to_others(&self.journal_folder());
        close_to_others(&self.ledger_path());
        std::fs::create_dir_all(&self.run)
    }

    /// The folder of what has to stay.
    pub fn state_folder(&self) -> &Path {
        &self.state
    }

    /// The folder of what the hook knows.
    pub fn run_folder(&self) -> &Path {
        &self.run
    }

    pub fn journal_folder(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// The last saved state.
    pub fn snapshot_path(&self) -> PathBuf {
        self.state.join("snapshot")
    }

    /// Returns the file that hand-back reads.
    pub fn ledger_path(&self) -> PathBuf {
        self.state.join("ledger")
    }

    pub fn lock_path(&self) -> PathBuf {
        self.state.join("lock")
    }

    /// Returns the lock of the heartbeat.
    pub fn run_lock(&self) -> PathBuf {
        self.run.join("lock")
    }

    /// Notes the path of the heartbeat, for commands that receive the state folder only.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_run(&self) -> io::Result<()> {
        let run = std::path::absolute(&self.run)?;
        write_whole(&self.state.join("run-folder"), run.as_os_str().as_encoded_bytes(), true)
    }

    /// Returns the heartbeat folder that a daemon of this state folder has noted, if any.
    pub fn noted_run(state: &Path) -> Option<PathBuf> {
        let text = std::fs::read_to_string(state.join("run-folder")).ok()?;
        (!text.is_empty()).then(|| PathBuf::from(text))
    }

    /// Notes the path of the cluster's own configuration, for reports.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_conf(&self, conf: &Path) -> io::Result<()> {
        write_whole(&self.state.join("cluster-conf"), conf.as_os_str().as_encoded_bytes(), true)
    }

    /// Returns the cluster's own configuration that a daemon of this state folder has noted, if it
    /// is still there.
    pub fn noted_conf(state: &Path) -> Option<PathBuf> {
        let text = std::fs::read_to_string(state.join("cluster-conf")).ok()?;
        Some(PathBuf::from(text)).filter(|path| path.is_file())
    }

    /// Returns the file that `status` reads.
    pub fn status_path(&self) -> PathBuf {
        self.state.join("status.json")
    }

    pub fn heartbeat_path(&self) -> PathBuf {
        self.run.join("heartbeat")
    }

    /// Returns the mark of a hand-back that a timer made because nothing beat.
    pub fn timers_mark(&self) -> PathBuf {
        self.run.join("given-back-by-timer")
    }

    /// Returns the file in which the hook reports events.
    pub fn wake_path(&self) -> PathBuf {
        self.run.join("wake")
    }
}

/// Permissions of files that show jobs: for the daemon's user and group.
pub(crate) const PRIVATE: u32 = 0o640;
/// Permissions of what the hook reads as another user.
const SHARED: u32 = 0o644;

/// Takes the rights of others from a file or folder. What belongs to another user stays as it is.
fn close_to_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(metadata) = std::fs::metadata(path) {
        let mode = std::fs::Permissions::from_mode(metadata.permissions().mode() & !0o007);
        let _ = std::fs::set_permissions(path, mode);
    }
}

/// Writes a file whole or not at all, readable by the daemon's user and group.
///
/// # Errors
/// It cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    write_with(PRIVATE, path, bytes, durable)
}

/// Writes a file whole or not at all, readable by all.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_shared(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    write_with(SHARED, path, bytes, durable)
}

fn write_with(mode: u32, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    if nix::unistd::geteuid().is_root() {
        // What root gives back stays the daemon's: its files are those of its folder's owner.
        let owner = std::fs::metadata(folder)?;
        std::os::unix::fs::fchown(file.as_file(), Some(owner.uid()), Some(owner.gid()))?;
    }
    if durable {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    if durable {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}
