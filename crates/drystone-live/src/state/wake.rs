//! The file into which the hook and the script of ends write: it wakes the daemon, and tells of
//! users' holds.

use crate::tracker::WakePosition;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

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
    /// Bytes of a line whose end has not come yet.
    rest: Vec<u8>,
    /// Another writer of the file.
    writer: Option<u32>,
}

impl Wake {
    /// Reads a wake file from this position on, or from its beginning if the position is one of
    /// another file; makes one where there is none. It belongs to `writer`, the user of the
    /// controller's hook, where that can be arranged: only root can give files away.
    ///
    /// # Errors
    /// It cannot be made or read.
    pub fn open(path: PathBuf, from: WakePosition, writer: Option<u32>) -> io::Result<Wake> {
        if !path.exists() {
            let file = File::options().create(true).append(true).open(&path)?;
            file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
            if nix::unistd::geteuid().is_root() {
                std::os::unix::fs::chown(&path, writer, None)?;
            }
        }
        let metadata = std::fs::metadata(&path)?;
        let is_there = from.file == metadata.ino() && from.offset <= metadata.len();
        let offset = if is_there { from.offset } else { 0 };
        Ok(Wake { path, offset, inode: metadata.ino(), rest: Vec::new(), writer })
    }

    /// Returns whether there are unread lines.
    pub fn is_new(&self) -> bool {
        std::fs::metadata(&self.path)
            .is_ok_and(|metadata| metadata.len() != self.offset || metadata.ino() != self.inode)
    }

    /// Returns whether all unread lines tell of ends, by the script of ends: they begin with the
    /// number of a job.
    pub fn tells_of_ends(&self) -> bool {
        let unread = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.offset))?;
            let mut bytes = Vec::new();
            file.take(LARGE).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        unread().is_ok_and(|bytes| bytes.split_inclusive(|&byte| byte == b'\n').all(|line| line[0].is_ascii_digit()))
    }

    /// Returns the unread lines, each with the position behind it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_lines(&mut self) -> io::Result<Vec<(WakePosition, String)>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Wake::open(self.path.clone(), WakePosition::default(), self.writer)?;
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if metadata.ino() != self.inode || metadata.len() < self.offset {
            (self.offset, self.inode) = (0, metadata.ino());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let before = self.position().offset;
        self.offset += file.take(MOST).read_to_end(&mut self.rest)? as u64;
        let position = WakePosition { file: self.inode, offset: before };
        let whole = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines = position.behind_lines(&self.rest[..whole]);
        self.rest.drain(..whole);
        if self.offset > LARGE && self.rest.is_empty() {
            self.begin_anew()?;
        }
        Ok(lines)
    }

    /// Returns the position up to which it was read. What was left of a file that was put aside
    /// lies before the beginning of the new one.
    pub fn position(&self) -> WakePosition {
        WakePosition { file: self.inode, offset: self.offset.saturating_sub(self.rest.len() as u64) }
    }

    /// Returns the lines behind a position in the file that was put aside and in the present one,
    /// each with the position behind it; all of both if the position is in neither. What cannot be
    /// read is left out.
    pub fn lines_since(path: &Path, from: WakePosition) -> Vec<(WakePosition, String)> {
        let mut lines = Vec::new();
        for path in [path.with_extension("old"), path.to_path_buf()] {
            let (Ok(metadata), Ok(bytes)) = (std::fs::metadata(&path), std::fs::read(&path)) else { continue };
            let mut position = WakePosition { file: metadata.ino(), offset: 0 };
            let mut unread = &bytes[..];
            if let Some(rest) = (metadata.ino() == from.file).then(|| bytes.get(from.offset as usize..)).flatten() {
                // Files before this one were read to their end.
                lines.clear();
                (unread, position) = (rest, from);
            }
            lines.extend(position.behind_lines(unread));
        }
        lines
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
        *self = Wake::open(self.path.clone(), WakePosition::default(), self.writer)?;
        let mut late = File::open(&old)?;
        late.seek(SeekFrom::Start(at))?;
        late.read_to_end(&mut self.rest)?;
        Ok(())
    }
}

impl WakePosition {
    /// Returns the lines that begin here, each with the position behind it.
    fn behind_lines(mut self, bytes: &[u8]) -> Vec<(WakePosition, String)> {
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(|line| {
            self.offset += line.len() as u64;
            (self, String::from_utf8_lossy(line).trim_end().to_string())
        });
        lines.collect()
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
        let read_lines = |wake: &mut Wake| -> Vec<String> {
            wake.read_lines().expect("read").into_iter().map(|(_, line)| line).collect()
        };
        let mut wake = Wake::open(path.clone(), WakePosition::default(), None).expect("made");
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
        assert_eq!(read_lines(&mut wake), ["submit"]);
        add("1\n");
        assert_eq!(read_lines(&mut wake), ["hold 21"]);
        assert_eq!(read_lines(&mut wake), [] as [String; 0]);
        // Ends differ from what the hook says, which comes before it is done.
        add("17 COMPLETED\n18 FAILED\n");
        assert!(wake.is_new() && wake.tells_of_ends());
        add("submit\n");
        assert!(!wake.tells_of_ends());
        assert_eq!(read_lines(&mut wake).len(), 3);
        // A daemon that comes back reads on where the last one was.
        add("release 21\n");
        let since = wake.position();
        assert_eq!(read_lines(&mut Wake::open(path.clone(), since, None).expect("opened")), ["release 21"]);
        let position = WakePosition { file: since.file + 1, ..since };
        assert_eq!(read_lines(&mut Wake::open(path.clone(), position, None).expect("opened")).len(), 6);
        add(&"submit\n".repeat(200_000));
        assert_eq!(read_lines(&mut wake).len(), 200_001);
        assert!(std::fs::metadata(&path).expect("there").len() == 0 && !wake.is_new());
        add("hold 5\n");
        assert_eq!(read_lines(&mut wake), ["hold 5"]);
        // A hand-back reads both files from where the daemon was.
        let lines = |from: WakePosition| Wake::lines_since(&path, from).into_iter().map(|(_, line)| line);
        assert_eq!(lines(wake.position()).count(), 0);
        assert_eq!(lines(WakePosition { offset: 0, ..wake.position() }).collect::<Vec<_>>(), ["hold 5"]);
        assert_eq!(lines(since).next().as_deref(), Some("release 21"));
        assert_eq!(lines(since).count(), 200_002);
        assert_eq!(lines(WakePosition::default()).count(), 200_007);
    }

    #[test]
    fn bytes_that_are_no_text_count_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wake");
        std::fs::write(&path, b"hold \xff\xfe\nhold 5\nho").expect("written");
        let mut wake = Wake::open(path.clone(), WakePosition::default(), None).expect("opened");
        let lines = wake.read_lines().expect("read");
        assert_eq!(lines.iter().map(|(behind, _)| behind.offset).collect::<Vec<_>>(), [8, 15]);
        assert_eq!((lines[1].1.as_str(), wake.position().offset), ("hold 5", 15));
    }
}
