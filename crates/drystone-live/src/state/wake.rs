//! The file into which the hook and the script of ends write: it wakes the daemon, and tells of
//! users' holds.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

/// Size from which it is started again, in bytes.
const LARGE: u64 = 1 << 20;
/// Upper bound of one read, in bytes.
const MOST: u64 = 1 << 22;

/// The wake file, as far as it was read.
#[derive(Debug)]
pub struct Wake {
    path: PathBuf,
    offset: u64,
    inode: u64,
    /// A line whose end has not come yet.
    rest: String,
    /// Another writer of the file.
    writer: Option<u32>,
}

impl Wake {
    /// Reads a wake file from this byte on; makes one where there is none. It belongs to `writer`,
    /// the user of the controller's hook, where that can be arranged: only root can give files
    /// away.
    ///
    /// # Errors
    /// It cannot be made or read.
    pub fn open(path: PathBuf, offset: u64, writer: Option<u32>) -> io::Result<Wake> {
        if !path.exists() {
            let file = File::options().create(true).append(true).open(&path)?;
            file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
            if nix::unistd::geteuid().is_root() {
                std::os::unix::fs::chown(&path, writer, None)?;
            }
        }
        let found = std::fs::metadata(&path)?;
        let offset = if offset <= found.len() { offset } else { 0 };
        Ok(Wake { path, offset, inode: found.ino(), rest: String::new(), writer })
    }

    /// Returns whether there are unread lines.
    pub fn is_new(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|found| found.len() != self.offset || found.ino() != self.inode)
    }

    /// Returns the unread lines.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self) -> io::Result<Vec<String>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Wake::open(self.path.clone(), 0, self.writer)?;
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let found = file.metadata()?;
        if found.ino() != self.inode || found.len() < self.offset {
            (self.offset, self.inode) = (0, found.ino());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        self.offset += file.take(MOST).read_to_end(&mut bytes)? as u64;
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        let whole = self.rest.rfind('\n').map_or(0, |end| end + 1);
        let lines: Vec<String> = self.rest[..whole].lines().map(str::to_string).collect();
        self.rest.drain(..whole);
        if self.offset > LARGE && self.rest.is_empty() {
            self.begin_anew()?;
        }
        Ok(lines)
    }

    /// Returns the position up to which it was read.
    pub fn offset(&self) -> u64 {
        self.offset - self.rest.len() as u64
    }

    /// Puts a large file aside. The hook opens it by its name each time, so that nothing is lost
    /// but what is being written at this very moment; a look comes soon all the same.
    fn begin_anew(&mut self) -> io::Result<()> {
        let me = nix::unistd::geteuid();
        if !me.is_root() && self.writer.is_some_and(|writer| writer != me.as_raw()) {
            // A new one could not be written by the hook.
            return Ok(());
        }
        let old = self.path.with_extension("old");
        std::fs::rename(&self.path, &old)?;
        let at = self.offset;
        *self = Wake::open(self.path.clone(), 0, self.writer)?;
        let mut late = File::open(&old)?;
        late.seek(SeekFrom::Start(at))?;
        let mut text = String::new();
        late.read_to_string(&mut text)?;
        self.rest = text;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_read_once_and_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wake");
        let mut wake = Wake::open(path.clone(), 0, None).expect("made");
        let add = |text: &str| {
            File::options()
                .append(true)
                .create(true)
                .open(&path)
                .expect("open")
                .write_all(text.as_bytes())
                .expect("written");
        };
        assert!(!wake.is_new());
        add("submit\nhold 2");
        assert!(wake.is_new());
        assert_eq!(wake.read().expect("read"), ["submit"]);
        add("1\n");
        assert_eq!(wake.read().expect("read"), ["hold 21"]);
        assert_eq!(wake.read().expect("read"), [] as [String; 0]);
        // A daemon that comes back reads on where the last one was.
        add("release 21\n");
        assert_eq!(
            Wake::open(path.clone(), wake.offset(), None).expect("opened").read().expect("read"),
            ["release 21"]
        );
        add(&"submit\n".repeat(200_000));
        assert_eq!(wake.read().expect("read").len(), 200_001);
        assert!(std::fs::metadata(&path).expect("there").len() == 0 && !wake.is_new());
        add("hold 5\n");
        assert_eq!(wake.read().expect("read"), ["hold 5"]);
    }
}
