//! Facts that a hand-back needs where no journal can be read: plain lines, on disk before the
//! orders that they concern.

use super::write_whole;
use crate::cluster::{JobName, Key};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// One line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// We hold this job, which bears no mark.
    Held(Key),
    /// We suspend it.
    Suspended(Key),
    /// We bind it to nodes.
    Pinned(Key),
    /// A user holds this job.
    UserHold(JobName),
    /// A user takes that back.
    UserRelease(JobName),
    /// Everything was given back.
    GivenBack,
}

impl Entry {
    fn line(&self) -> String {
        match self {
            Entry::Held(key) => format!("held {key}\n"),
            Entry::Suspended(key) => format!("suspended {key}\n"),
            Entry::Pinned(key) => format!("pinned {key}\n"),
            Entry::UserHold(name) => format!("user-hold {name}\n"),
            Entry::UserRelease(name) => format!("user-release {name}\n"),
            Entry::GivenBack => "given-back\n".to_string(),
        }
    }

    fn parse(line: &str) -> Option<Entry> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "given-back" => Some(Entry::GivenBack),
            "held" => Key::parse(rest).map(Entry::Held),
            "suspended" => Key::parse(rest).map(Entry::Suspended),
            "pinned" => Key::parse(rest).map(Entry::Pinned),
            "user-hold" => JobName::parse(rest).map(Entry::UserHold),
            "user-release" => JobName::parse(rest).map(Entry::UserRelease),
            _ => None,
        }
    }
}

/// Sum of all lines.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Standing {
    /// Jobs that we held.
    pub held: BTreeSet<Key>,
    /// Jobs that we suspended.
    pub suspended: BTreeSet<Key>,
    /// Jobs that we bound to nodes.
    pub pinned: BTreeSet<Key>,
    /// Holds by users, by the name that the hook gave; the last line counts.
    pub users: BTreeMap<JobName, bool>,
    /// True if everything was given back after that.
    pub given_back: bool,
    /// Lines that are not understood, by number.
    pub garbled: Vec<usize>,
}

impl Standing {
    /// Takes a line in.
    pub fn note(&mut self, entry: Entry) {
        match entry {
            Entry::Held(key) => drop(self.held.insert(key)),
            Entry::Suspended(key) => drop(self.suspended.insert(key)),
            Entry::Pinned(key) => drop(self.pinned.insert(key)),
            Entry::UserHold(name) => drop(self.users.insert(name, true)),
            Entry::UserRelease(name) => drop(self.users.insert(name, false)),
            Entry::GivenBack => {
                self.held.clear();
                self.suspended.clear();
                self.pinned.clear();
                self.given_back = true;
            }
        }
    }

    fn lines(&self) -> String {
        let held = self.held.iter().map(|&key| Entry::Held(key));
        let suspended = self.suspended.iter().map(|&key| Entry::Suspended(key));
        let pinned = self.pinned.iter().map(|&key| Entry::Pinned(key));
        let users =
            self.users.iter().map(|(&n, &holds)| if holds { Entry::UserHold(n) } else { Entry::UserRelease(n) });
        let back = self.given_back.then_some(Entry::GivenBack);
        users.chain(back).chain(held).chain(suspended).chain(pinned).map(|entry| entry.line()).collect()
    }
}

/// The ledger, to add to.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    standing: Standing,
    lines: usize,
}

impl Ledger {
    /// Opens a ledger, or begins one. A last line that was cut is dropped.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn open(path: PathBuf) -> io::Result<Ledger> {
        let standing = Ledger::read(&path)?;
        let mut ledger = Ledger { path, standing, lines: 0 };
        ledger.rewrite()?;
        Ok(ledger)
    }

    /// Reads a ledger; empty where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &std::path::Path) -> io::Result<Standing> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut standing = Standing::default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for (at, line) in whole.lines().enumerate() {
            match Entry::parse(line) {
                Some(entry) => standing.note(entry),
                None => standing.garbled.push(at + 1),
            }
        }
        Ok(standing)
    }

    /// Returns the sum of all lines.
    #[must_use]
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Adds lines, and sees to it that they are on disk.
    ///
    /// # Errors
    /// They cannot be written: what they are about must not be ordered.
    pub fn add(&mut self, entries: &[Entry]) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let text: String = entries.iter().map(Entry::line).collect();
        let mut file = File::options().append(true).create(true).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        entries.iter().for_each(|&entry| self.standing.note(entry));
        self.lines += entries.len();
        Ok(())
    }

    /// The daemon knows that everything was given back; the next line is its own.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin_again(&mut self) -> io::Result<()> {
        if !self.standing.given_back && self.standing.garbled.is_empty() {
            return Ok(());
        }
        self.standing.given_back = false;
        self.standing.garbled.clear();
        self.rewrite()
    }

    /// Reduces a ledger to what remains after a hand-back: the holds of users.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn give_back(path: &std::path::Path, standing: &Standing) -> io::Result<()> {
        let users = standing.users.iter().filter(|&(_, &holds)| holds).map(|(&name, _)| Entry::UserHold(name));
        let text: String = users.chain([Entry::GivenBack]).map(|entry| entry.line()).collect();
        write_whole(path, text.as_bytes(), true)
    }

    /// Forgets jobs that are gone, once there is much to forget. `live`: whether a job is still
    /// there; `numbered`: whether any with this number is.
    ///
    /// # Errors
    /// It cannot be written; the old one stays.
    pub fn forget(&mut self, live: impl Fn(&Key) -> bool, numbered: impl Fn(u64) -> bool) -> io::Result<()> {
        let size = |s: &Standing| s.held.len() + s.suspended.len() + s.pinned.len() + s.users.len();
        if self.lines < 1_000 && size(&self.standing) < 1_000 {
            return Ok(());
        }
        self.standing.held.retain(&live);
        self.standing.suspended.retain(&live);
        self.standing.pinned.retain(&live);
        self.standing.users.retain(|name, _| numbered(name.id));
        self.rewrite()
    }

    fn rewrite(&mut self) -> io::Result<()> {
        write_whole(&self.path, self.standing.lines().as_bytes(), true)?;
        self.lines = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_was_cut_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let key = Key { id: 21, task: Some(3), submit: 1_795_571_603 };
        let name = |id| JobName { id, task: None };
        let task = JobName { id: 5, task: Some(2) };
        let mut ledger = Ledger::open(path.clone()).expect("begun");
        ledger
            .add(&[Entry::Held(key), Entry::UserHold(name(4)), Entry::UserRelease(name(4)), Entry::UserHold(task)])
            .expect("written");
        let standing = Ledger::read(&path).expect("read");
        assert_eq!((&standing.held, &standing.users), (&[key].into(), &[(name(4), false), (task, true)].into()));
        assert_eq!(standing, *ledger.standing());
        let mut text = std::fs::read_to_string(&path).expect("read");
        text.push_str("suspended 2");
        std::fs::write(&path, &text).expect("written");
        let mut ledger = Ledger::open(path.clone()).expect("opened");
        ledger.add(&[Entry::Suspended(key)]).expect("written");
        assert_eq!(Ledger::read(&path).expect("read").suspended, [key].into());
    }

    #[test]
    fn users_holds_outlive_a_hand_back_and_garbled_lines_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let key = Key { id: 21, task: None, submit: 7 };
        std::fs::write(&path, b"held 21@7\nuser-hold 4\n\xff\xfe held\nuser-hold 5_2\nuser-release 4\n")
            .expect("written");
        let standing = Ledger::read(&path).expect("read");
        assert_eq!((&standing.held, &standing.garbled), (&[key].into(), &vec![3]));
        Ledger::give_back(&path, &standing).expect("written");
        let kept = Ledger::read(&path).expect("read");
        assert!(kept.given_back && kept.held.is_empty());
        assert_eq!(kept.users, [(JobName { id: 5, task: Some(2) }, true)].into());
        let mut ledger = Ledger::open(path.clone()).expect("opened");
        ledger.begin_again().expect("written");
        ledger.add(&[Entry::Held(key)]).expect("written");
        let again = Ledger::read(&path).expect("read");
        assert!(!again.given_back && again.held.contains(&key) && again.users.len() == 1);
    }
}
