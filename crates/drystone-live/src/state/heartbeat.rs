//! The heartbeat: a dead man's switch for the hook, and a fence against a daemon that was asleep.
//!
//! The file holds the second at which it was written and the daemon that wrote it. 0 means that
//! everything was given back. Beside it lies the fence, which a hand-back changes. A daemon stops
//! if it finds another fence than at its start, another's heartbeat, 0 or none. It looks before
//! every command that it sends, and both before and after it writes its heartbeat, so that a
//! hand-back wins at whatever point the daemon was stopped.

use super::write_shared;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Beat {
    /// A daemon drove at this second.
    At {
        /// Time, in seconds since 1970.
        second: i64,
        /// Identity of the daemon.
        instance: String,
    },
    /// Everything was given back.
    Off,
    Missing,
    /// It makes no sense.
    Garbled,
}

impl Beat {
    pub fn read_beat(path: &Path) -> Beat {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Beat::Missing,
            Err(_) => return Beat::Garbled,
        };
        let (second, instance) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        match second.parse() {
            Ok(0) => Beat::Off,
            Ok(second) => Beat::At { second, instance: instance.to_string() },
            Err(_) => Beat::Garbled,
        }
    }
}

/// A daemon's own heartbeat.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    path: PathBuf,
    fence: PathBuf,
    began: Option<Vec<u8>>,
    instance: String,
}

impl Heartbeat {
    /// The heartbeat of this instance: takes the place of whatever was there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin_beating(path: PathBuf, instance: String, second: i64) -> io::Result<Heartbeat> {
        let fence = fence_path(&path);
        let began = std::fs::read(&fence).ok();
        let beat = Heartbeat { path, fence, began, instance };
        beat.write_beat(second)?;
        Ok(beat)
    }

    fn write_beat(&self, second: i64) -> io::Result<()> {
        write_shared(&self.path, format!("{second} {}\n", self.instance).as_bytes(), false)
    }

    /// Returns whether this daemon still drives, according to the files.
    pub fn is_mine(&self) -> bool {
        self.is_unfenced()
            && matches!(Beat::read_beat(&self.path), Beat::At { instance, .. } if instance == self.instance)
    }

    fn is_unfenced(&self) -> bool {
        std::fs::read(&self.fence).ok() == self.began
    }

    /// Beats. Returns `false` if another has taken over or given back: no more orders are allowed.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn beat(&self, second: i64) -> io::Result<bool> {
        if !self.is_mine() {
            return Ok(false);
        }
        self.write_beat(second)?;
        if self.is_unfenced() {
            return Ok(true);
        }
        // It was given back while this was written.
        write_shared(&self.path, b"0\n", false)?;
        Ok(false)
    }

    /// Switches the hook off and fences what drives.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn give_back(path: &Path, token: &str) -> io::Result<()> {
        write_shared(&fence_path(path), token.as_bytes(), true)?;
        write_shared(path, b"0\n", true)
    }
}

fn fence_path(path: &Path) -> PathBuf {
    path.with_file_name("fence")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_back_wins_whenever_the_daemon_sleeps() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("heartbeat");
        assert_eq!(Beat::read_beat(&path), Beat::Missing);
        let heartbeat = Heartbeat::begin_beating(path.clone(), "a".into(), 7).expect("written");
        assert!(heartbeat.beat(8).expect("written"));
        assert_eq!(Beat::read_beat(&path), Beat::At { second: 8, instance: "a".into() });
        Heartbeat::give_back(&path, "token").expect("written");
        assert!(!heartbeat.is_mine() && !heartbeat.beat(9).expect("looked"));
        assert_eq!(Beat::read_beat(&path), Beat::Off);
        // Asleep between its look and its writing.
        heartbeat.write_beat(10).expect("written");
        assert!(!heartbeat.is_mine());
        let next = Heartbeat::begin_beating(path.clone(), "b".into(), 11).expect("written");
        assert!(next.is_mine() && !heartbeat.is_mine());
        std::fs::write(&path, "x").expect("written");
        assert_eq!((Beat::read_beat(&path), next.is_mine()), (Beat::Garbled, false));
    }

    #[test]
    fn a_hand_back_while_it_writes_is_seen_after_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("heartbeat");
        let heartbeat = Heartbeat::begin_beating(path.clone(), "a".into(), 7).expect("written");
        // The fence falls, and its zero is overwritten by the daemon that was asleep.
        write_shared(&fence_path(&path), b"token", false).expect("written");
        assert!(!heartbeat.beat(8).expect("looked"));
    }
}
