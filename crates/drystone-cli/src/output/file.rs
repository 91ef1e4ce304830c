//! Files that appear whole or not at all.

use crate::exit::CommandFailure;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use tempfile::NamedTempFile;

/// Temporary files that exist now: removed on cancellation.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Folders that were made for files that are not there yet.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Ends the program with this exit code, without a temporary file left.
pub(crate) fn clean_up_and_exit(code: i32) -> ! {
    // Held to the end, so that no file is renamed or made meanwhile.
    let files = temporary_files();
    for file in files.iter() {
        let _ = fs::remove_file(file);
    }
    remove_empty(&made_folders());
    std::process::exit(code)
}

fn made_folders() -> MutexGuard<'static, Vec<PathBuf>> {
    MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Removes folders as far as nothing is in them, the innermost first.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

/// A folder for files to come, with those around it. What was made for it and stays empty goes
/// again with this.
pub(crate) struct Folder {
    made: Vec<PathBuf>,
}

impl Folder {
    /// Makes the folder where there is none.
    pub(crate) fn create(path: &Path) -> io::Result<Folder> {
        let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        missing.reverse();
        made_folders().extend(missing.iter().cloned());
        let folder = Folder { made: missing };
        fs::create_dir_all(path)?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove_empty(&self.made);
        made_folders().retain(|folder| !self.made.contains(folder));
    }
}

/// Destination of the bytes until they are complete.
enum OutputPlace {
    /// Beside the target.
    Temporary {
        file: NamedTempFile,
        target: PathBuf,
    },
    /// Into what is no regular file and must not be replaced: `/dev/null`, a named pipe.
    Direct(File),
    Stdout(io::Stdout),
}

/// A buffered file that takes its name only when it is [finished](OutputFile::finish). Dropped
/// before, it leaves nothing.
pub(crate) struct OutputFile {
    name: String,
    place: BufWriter<OutputPlace>,
}

impl OutputFile {
    /// Begins to write; `-` is the standard output.
    pub(crate) fn create(path: &Path) -> Result<OutputFile, CommandFailure> {
        let name = if path == Path::new("-") { "standard output".to_string() } else { path.display().to_string() };
        let place = OutputFile::output_place(path).map_err(|e| CommandFailure::write_error(&name, &e))?;
        Ok(OutputFile { name, place: BufWriter::with_capacity(1 << 16, place) })
    }

    fn output_place(path: &Path) -> io::Result<OutputPlace> {
        if path == Path::new("-") {
            return Ok(OutputPlace::Stdout(io::stdout()));
        }
        // A link is followed: what it points to is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(|m| !m.is_file()) {
            return Ok(OutputPlace::Direct(OpenOptions::new().write(true).open(&target)?));
        }
        // A name may be given to another file even where the file that has it must not be written
        // to.
        if old.as_ref().is_some_and(|m| m.permissions().readonly()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is write-protected"));
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
        // Looked at first, because errors about temporary files name a path that the user does not
        // know.
        fs::metadata(parent)?;
        let mut files = temporary_files();
        let file = builder.tempfile_in(parent).map_err(|e| io::Error::from(e.kind()))?;
        files.push(file.path().to_path_buf());
        drop(files);
        Ok(OutputPlace::Temporary { file, target })
    }

    /// The file's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn replaces_file(&self) -> bool {
        matches!(self.place.get_ref(), OutputPlace::Temporary { target, .. } if target.exists())
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place.get_ref(), OutputPlace::Stdout(_))
    }

    /// Returns whether a person reads it as it is written.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.place.get_ref(), OutputPlace::Stdout(out) if out.is_terminal())
    }

    /// Writes everything at once; the file still needs its name.
    pub(crate) fn write_whole(mut self, bytes: &[u8]) -> Result<Complete, CommandFailure> {
        self.write_all(bytes).map_err(|e| CommandFailure::write_error(&self.name, &e))?;
        self.complete_writing()
    }

    /// Writes out everything, down to the disk; the file still needs its name.
    pub(crate) fn complete_writing(self) -> Result<Complete, CommandFailure> {
        let OutputFile { name, place } = self;
        let complete = || -> io::Result<OutputPlace> {
            let mut place = place.into_inner().map_err(io::IntoInnerError::into_error)?;
            match &mut place {
                OutputPlace::Stdout(out) => out.flush()?,
                OutputPlace::Direct(file) => file.flush()?,
                OutputPlace::Temporary { file, .. } => file.as_file().sync_all()?,
            }
            Ok(place)
        };
        let place = complete().map_err(|e| CommandFailure::write_error(&name, &e))?;
        Ok(Complete { name, place })
    }

    /// Writes out everything and gives the file its name.
    pub(crate) fn finish(self) -> Result<(), CommandFailure> {
        self.complete_writing()?.publish()
    }
}

/// Refuses files that would be written twice, or over what is read. `written` are options with
/// their files.
pub(crate) fn check_distinct(read: &[Option<&Path>], outputs: &[(&str, Option<&Path>)]) -> Result<(), CommandFailure> {
    let mut seen_files: Vec<(PathBuf, String)> = Vec::new();
    for path in read.iter().flatten().filter(|path| **path != Path::new("-")) {
        seen_files.extend(file_identity(path).map(|file| (file, "this command reads that file".to_string())));
    }
    for (option, path) in outputs.iter().filter_map(|&(option, path)| Some((option, path?))) {
        let Some(file) = file_identity(path) else { continue };
        if let Some((_, reason)) = seen_files.iter().find(|(seen_file, _)| *seen_file == file) {
            let path = path.display();
            return Err(CommandFailure::usage_error(format_args!("{option} {path}: {reason}; give another name")));
        }
        seen_files.push((file, format!("{option} also writes that file")));
    }
    Ok(())
}

/// Returns the identity of a path's file; `None` for files with many writers: `/dev/null`, a named
/// pipe.
pub(crate) fn file_identity(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") {
        return Some(path.to_path_buf());
    }
    match fs::metadata(path) {
        Ok(old) if !old.is_file() => None,
        Ok(_) => fs::canonicalize(path).ok(),
        Err(_) => {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
        }
    }
}

/// A file that is complete and on the disk, under a temporary name. Dropped before it is published,
/// it leaves nothing.
///
/// A command that writes several files completes all of them before it publishes the first: a disk
/// that is full leaves none of them new.
pub(crate) struct Complete {
    name: String,
    place: OutputPlace,
}

impl Complete {
    /// Gives the file its name, in the place of what had it.
    pub(crate) fn publish(self) -> Result<(), CommandFailure> {
        let Complete { name, place } = self;
        let OutputPlace::Temporary { file, target } = place else { return Ok(()) };
        let path = file.path().to_path_buf();
        let mut files = temporary_files();
        file.persist(&target).map_err(|e| CommandFailure::write_error(&name, &e.error))?;
        files.retain(|f| *f != path);
        drop(files);
        // The name is also durable once the directory is; not every system can make it so.
        if let Some(Ok(directory)) = target.parent().map(File::open) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

/// Gives files that are all complete their names.
pub(crate) fn publish_all(files: impl IntoIterator<Item = Complete>) -> Result<(), CommandFailure> {
    files.into_iter().try_for_each(Complete::publish)
}

/// Returns 666 masked by the user's umask, in place of a temporary file's 600.
#[cfg(unix)]
fn usual_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<fs::Permissions> {
    None
}

impl Write for OutputPlace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // Not through the temporary file itself, whose errors name a path that the user does
            // not know.
            OutputPlace::Temporary { file, .. } => file.as_file_mut().write(bytes),
            OutputPlace::Direct(file) => file.write(bytes),
            OutputPlace::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputPlace::Temporary { file, .. } => file.as_file_mut().flush(),
            OutputPlace::Direct(file) => file.flush(),
            OutputPlace::Stdout(out) => out.flush(),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.place.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.place.flush()
    }
}

/// Writes a whole file at once; it still needs its name.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<Complete, CommandFailure> {
    OutputFile::create(path)?.write_whole(bytes)
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
        let mut out = OutputFile::create(&path).expect("created");
        out.write_all(b"half").expect("written");
        assert!(!path.exists());
        drop(out);
        assert_eq!(names(dir.path()), Vec::<String>::new());
        let whole = write_bytes(&path, b"whole").expect("written");
        assert!(!path.exists());
        whole.publish().expect("published");
        assert_eq!(names(dir.path()), ["out.txt"]);
        assert_eq!(fs::read(&path).expect("read"), b"whole");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_write_protected_is_not_replaced() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().expect("directory");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, b"old").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("mode set");
        symlink(&file, &link).expect("linked");
        for path in [&file, &link] {
            let Err(CommandFailure::Message { text, .. }) = OutputFile::create(path).map(drop) else {
                panic!("it is refused")
            };
            assert!(text.ends_with("cannot be written: it is write-protected"), "{text}");
        }
        assert_eq!(fs::read(&file).expect("read"), b"old");
        assert_eq!(names(dir.path()).len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_modes_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().expect("directory");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        let write = |path: &Path, bytes: &[u8]| write_bytes(path, bytes).and_then(Complete::publish);
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
