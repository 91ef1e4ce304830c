//! Files that appear whole or not at all.

use crate::exit::{Failure, INTERRUPTED};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use tempfile::NamedTempFile;

/// Temporary files that exist now: removed when the user interrupts.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether the work in hand stops by itself, in order, when [`INTERRUPTED_ONCE`] is set.
static ORDERLY: AtomicBool = AtomicBool::new(false);
/// Whether the user has interrupted work that stops in order.
static INTERRUPTED_ONCE: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C only sets what this returns; the second one ends the program as before.
pub(crate) fn stop_in_order() -> &'static AtomicBool {
    ORDERLY.store(true, Ordering::SeqCst);
    &INTERRUPTED_ONCE
}

/// From now on Ctrl-C removes temporary files before the program exits with code 130.
pub(crate) fn clean_up_on_interrupt() {
    // Where no handler can be set, interrupting works as the system has it.
    let _ = ctrlc::set_handler(|| {
        if ORDERLY.load(Ordering::SeqCst) && !INTERRUPTED_ONCE.swap(true, Ordering::SeqCst) {
            return;
        }
        // Held to the end, so that no file is renamed or made meanwhile.
        let files = temporary();
        for file in files.iter() {
            let _ = fs::remove_file(file);
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Where the bytes go until they are complete.
enum Place {
    /// Beside the target.
    Temporary { file: NamedTempFile, target: PathBuf },
    /// Into what is no regular file and must not be replaced: `/dev/null`, a named pipe.
    Direct(File),
    /// To the standard output.
    Stdout(io::Stdout),
}

/// A buffered file that takes its name only when it is [finished](Output::finish). Dropped before, it leaves nothing.
pub(crate) struct Output {
    name: String,
    place: BufWriter<Place>,
}

impl Output {
    /// Begins to write; `-` is the standard output.
    pub(crate) fn create(path: &Path) -> Result<Output, Failure> {
        let name = if path == Path::new("-") { "standard output".to_string() } else { path.display().to_string() };
        let place = Output::place(path).map_err(|e| Failure::write(&name, &e))?;
        Ok(Output { name, place: BufWriter::with_capacity(1 << 16, place) })
    }

    fn place(path: &Path) -> io::Result<Place> {
        if path == Path::new("-") {
            return Ok(Place::Stdout(io::stdout()));
        }
        // A link is followed: what it points to is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(|m| !m.is_file()) {
            return Ok(Place::Direct(OpenOptions::new().write(true).open(&target)?));
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{name}.");
        builder.prefix(&prefix).suffix(".part");
        let permissions = old.map(|m| m.permissions()).or_else(usual_permissions);
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        // Looked at first, because errors about temporary files name a path that helps nobody.
        fs::metadata(parent)?;
        let mut files = temporary();
        let file = builder.tempfile_in(parent).map_err(|e| io::Error::from(e.kind()))?;
        files.push(file.path().to_path_buf());
        drop(files);
        Ok(Place::Temporary { file, target })
    }

    /// The file's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes everything at once and finishes.
    pub(crate) fn write_whole(mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.write_all(bytes).map_err(|e| Failure::write(&self.name, &e))?;
        self.finish()
    }

    /// Writes out everything and gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Output { name, place } = self;
        let finish = || -> io::Result<()> {
            match place.into_inner().map_err(io::IntoInnerError::into_error)? {
                Place::Stdout(mut out) => out.flush(),
                Place::Direct(mut file) => file.flush(),
                Place::Temporary { file, target } => {
                    file.as_file().sync_all()?;
                    let path = file.path().to_path_buf();
                    let mut files = temporary();
                    file.persist(&target).map_err(|e| e.error)?;
                    files.retain(|f| *f != path);
                    drop(files);
                    // The name is safe, too, once the directory is; not every system can say so.
                    if let Some(Ok(directory)) = target.parent().map(File::open) {
                        let _ = directory.sync_all();
                    }
                    Ok(())
                }
            }
        };
        finish().map_err(|e| Failure::write(&name, &e))
    }
}

/// What the user's umask makes of 666, instead of a temporary file's 600.
#[cfg(unix)]
fn usual_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<fs::Permissions> {
    None
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Place::Temporary { file, .. } => file.write(bytes),
            Place::Direct(file) => file.write(bytes),
            Place::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Place::Temporary { file, .. } => file.flush(),
            Place::Direct(file) => file.flush(),
            Place::Stdout(out) => out.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.place.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.place.flush()
    }
}

/// Writes a whole file at once.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    Output::create(path)?.write_whole(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("readable");
        entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn files_appear_whole_or_not_at_all() {
        let dir = tempfile::tempdir().expect("directory");
        let path = dir.path().join("out.txt");
        let mut out = Output::create(&path).expect("created");
        out.write_all(b"half").expect("written");
        assert!(!path.exists());
        drop(out);
        assert_eq!(names(dir.path()), Vec::<String>::new());
        write(&path, b"whole").expect("written");
        assert_eq!(names(dir.path()), ["out.txt"]);
        assert_eq!(fs::read(&path).expect("read"), b"whole");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_modes_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().expect("directory");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        write(&file, b"old").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("mode set");
        symlink(&file, &link).expect("linked");
        write(&link, b"new").expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("read"), b"new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        // What is no regular file is written to, not replaced.
        write(Path::new("/dev/null"), b"x").expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }
}
