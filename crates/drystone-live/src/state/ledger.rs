//! Facts that a hand-back needs where no journal can be read: plain lines, on disk before the
//! orders that they concern.

use super::{PRIVATE, write_whole};
use crate::cluster::{JobKey, JobName};
use crate::tracker::{HoldWords, WakePosition};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LedgerLine {
    /// We hold this job, which bears no mark.
    Held(JobKey),
    /// The hook held this job, or all tasks of this array: its mark is a comment, which may be
    /// overwritten.
    Marked(JobKey),
    /// The hook held this job, or all tasks of this array, and its mark was overwritten.
    Overwritten(JobName),
    /// We suspend it.
    Suspended(JobKey),
    /// We bind it to nodes.
    Pinned(JobKey),
    UserHold(JobName),
    /// A user takes that back.
    UserRelease(JobName),
    OperatorHold(JobName),
    /// An operator has let it go: no hold of a user or an operator counts any more.
    OperatorRelease(JobName),
    /// Everything was given back.
    GivenBack,
    /// The wake file was read up to here.
    Heard(WakePosition),
}

impl LedgerLine {
    fn format_line(&self) -> String {
        match self {
            LedgerLine::Held(key) => format!("held {key}\n"),
            LedgerLine::Marked(key) => format!("marked {key}\n"),
            LedgerLine::Overwritten(name) => format!("overwritten {name}\n"),
            LedgerLine::Suspended(key) => format!("suspended {key}\n"),
            LedgerLine::Pinned(key) => format!("pinned {key}\n"),
            LedgerLine::UserHold(name) => format!("user-hold {name}\n"),
            LedgerLine::UserRelease(name) => format!("user-release {name}\n"),
            LedgerLine::OperatorHold(name) => format!("operator-hold {name}\n"),
            LedgerLine::OperatorRelease(name) => format!("operator-release {name}\n"),
            LedgerLine::GivenBack => "given-back\n".to_string(),
            LedgerLine::Heard(WakePosition { file, offset }) => format!("heard {file} {offset}\n"),
        }
    }

    fn parse(line: &str) -> Option<LedgerLine> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "given-back" => Some(LedgerLine::GivenBack),
            "held" => JobKey::parse(rest).map(LedgerLine::Held),
            "overwritten" => JobName::parse(rest).map(LedgerLine::Overwritten),
            "marked" => JobKey::parse(rest).map(LedgerLine::Marked),
            "suspended" => JobKey::parse(rest).map(LedgerLine::Suspended),
            "pinned" => JobKey::parse(rest).map(LedgerLine::Pinned),
            "user-hold" => JobName::parse(rest).map(LedgerLine::UserHold),
            "user-release" => JobName::parse(rest).map(LedgerLine::UserRelease),
            "operator-hold" => JobName::parse(rest).map(LedgerLine::OperatorHold),
            "operator-release" => JobName::parse(rest).map(LedgerLine::OperatorRelease),
            "heard" => {
                let (file, offset) = rest.split_once(' ')?;
                Some(LedgerLine::Heard(WakePosition { file: file.parse().ok()?, offset: offset.parse().ok()? }))
            }
            _ => None,
        }
    }
}

/// Sum of all lines.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LedgerStanding {
    pub held: BTreeSet<JobKey>,
    /// Jobs that the hook held; an array by its own number.
    pub marked: BTreeSet<JobKey>,
    /// Jobs and arrays that the hook held, and whose marks were overwritten.
    pub overwritten: BTreeSet<JobName>,
    pub suspended: BTreeSet<JobKey>,
    /// Jobs that we bound to nodes.
    pub pinned: BTreeSet<JobKey>,
    /// Holds that users may take back, by the name that the hook gave; the last line counts.
    pub users: HoldWords,
    pub operators: HoldWords,
    /// Position up to which their lines in the wake file were read.
    pub heard: WakePosition,
    /// True if everything was given back after that.
    pub given_back: bool,
    /// Lines that are not understood, by number.
    pub garbled: Vec<usize>,
}

impl LedgerStanding {
    pub fn note_entry(&mut self, entry: LedgerLine) {
        match entry {
            LedgerLine::Held(key) => drop(self.held.insert(key)),
            LedgerLine::Marked(key) => drop(self.marked.insert(key)),
            LedgerLine::Overwritten(name) => drop(self.overwritten.insert(name)),
            LedgerLine::Suspended(key) => drop(self.suspended.insert(key)),
            LedgerLine::Pinned(key) => drop(self.pinned.insert(key)),
            LedgerLine::UserHold(name) => self.users.note_hold(name, true),
            LedgerLine::UserRelease(name) => self.users.note_hold(name, false),
            LedgerLine::OperatorHold(name) => self.note_operator(name, true),
            LedgerLine::OperatorRelease(name) => self.note_operator(name, false),
            LedgerLine::Heard(position) => self.heard = position,
            LedgerLine::GivenBack => {
                self.held.clear();
                self.marked.clear();
                self.overwritten.clear();
                self.suspended.clear();
                self.pinned.clear();
                self.given_back = true;
            }
        }
    }

    /// Returns whether we held a job, or a task of an array, of this name.
    pub(crate) fn holds_any(&self, name: JobName) -> bool {
        self.held.iter().any(|key| key.id == name.id && (name.task.is_none() || key.task == name.task))
    }

    fn note_operator(&mut self, name: JobName, holds: bool) {
        self.users.note_hold(name, holds);
        self.operators.note_hold(name, holds);
    }

    /// Returns whether a job is held for the daemon, by the daemon or by the hook.
    pub(crate) fn is_ours(&self, key: JobKey) -> bool {
        let is_overwritten = |task| self.overwritten.contains(&JobName { id: key.id, task });
        let is_hooked = self.marked.contains(&JobKey { task: None, ..key });
        self.held.contains(&key) || is_hooked || is_overwritten(None) || is_overwritten(key.task)
    }

    fn format_lines(&self) -> String {
        let held_lines = self.held.iter().map(|&key| LedgerLine::Held(key));
        let marked_lines = self.marked.iter().map(|&key| LedgerLine::Marked(key));
        let suspended_lines = self.suspended.iter().map(|&key| LedgerLine::Suspended(key));
        let pinned_lines = self.pinned.iter().map(|&key| LedgerLine::Pinned(key));
        let operators = self
            .operators
            .iter()
            .map(|(n, holds)| if holds { LedgerLine::OperatorHold(n) } else { LedgerLine::OperatorRelease(n) });
        let users = self
            .users
            .iter()
            .map(|(n, holds)| if holds { LedgerLine::UserHold(n) } else { LedgerLine::UserRelease(n) });
        // What users have said since counts, so that theirs come last.
        let users = operators.chain(users);
        let back = self.given_back.then_some(LedgerLine::GivenBack);
        let heard_line = (self.heard != WakePosition::default()).then_some(LedgerLine::Heard(self.heard));
        let overwritten = self.overwritten.iter().map(|&name| LedgerLine::Overwritten(name));
        let hold_lines = held_lines.chain(marked_lines).chain(overwritten);
        users
            .chain(heard_line)
            .chain(back)
            .chain(hold_lines)
            .chain(suspended_lines)
            .chain(pinned_lines)
            .map(|entry| entry.format_line())
            .collect()
    }
}

#[derive(Debug)]
pub struct ActionLedger {
    path: PathBuf,
    standing: LedgerStanding,
    lines: usize,
}

impl ActionLedger {
    /// Opens a ledger, or begins one. A last line that was cut is dropped.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn open(path: PathBuf) -> io::Result<ActionLedger> {
        let standing = ActionLedger::read_ledger(&path)?;
        let mut ledger = ActionLedger { path, standing, lines: 0 };
        ledger.rewrite_file()?;
        Ok(ledger)
    }

    /// Reads a ledger; empty where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_ledger(path: &std::path::Path) -> io::Result<LedgerStanding> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut standing = LedgerStanding::default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for (at, line) in whole.lines().enumerate() {
            match LedgerLine::parse(line) {
                Some(entry) => standing.note_entry(entry),
                None => standing.garbled.push(at + 1),
            }
        }
        Ok(standing)
    }

    /// Returns the sum of all lines.
    pub fn standing(&self) -> &LedgerStanding {
        &self.standing
    }

    /// Adds lines, and sees to it that they are on disk.
    ///
    /// # Errors
    /// They cannot be written: what they are about must not be ordered.
    pub fn add_entries(&mut self, entries: &[LedgerLine]) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let text: String = entries.iter().map(LedgerLine::format_line).collect();
        let mut file = File::options().append(true).create(true).mode(PRIVATE).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        entries.iter().for_each(|&entry| self.standing.note_entry(entry));
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
        self.rewrite_file()
    }

    /// Reduces a ledger to what remains after a hand-back: the holds of users.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn give_back(path: &std::path::Path, standing: &LedgerStanding) -> io::Result<()> {
        let operators = standing.operators.iter().filter(|(_, holds)| *holds);
        let operators = operators.map(|(name, _)| LedgerLine::OperatorHold(name));
        let users = standing.users.iter().filter(|(name, holds)| *holds || standing.operators.knows_job(name.id));
        let users = users.map(|(n, holds)| if holds { LedgerLine::UserHold(n) } else { LedgerLine::UserRelease(n) });
        let last = [LedgerLine::Heard(standing.heard), LedgerLine::GivenBack];
        let text: String = operators.chain(users).chain(last).map(|entry| entry.format_line()).collect();
        write_whole(path, text.as_bytes(), true)
    }

    /// Forgets jobs that are gone, once there is much to forget. `live`: whether a job is still
    /// there; `numbered`: whether any with this number is.
    ///
    /// # Errors
    /// It cannot be written; the old one stays.
    pub fn forget_jobs(&mut self, live: impl Fn(&JobKey) -> bool, has_number: impl Fn(u64) -> bool) -> io::Result<()> {
        let size =
            |s: &LedgerStanding| s.held.len() + s.marked.len() + s.suspended.len() + s.pinned.len() + s.users.len();
        if self.lines < 1_000 && size(&self.standing) < 1_000 {
            return Ok(());
        }
        self.standing.held.retain(&live);
        self.standing.marked.retain(|key| has_number(key.id));
        self.standing.overwritten.retain(|name| has_number(name.id));
        self.standing.suspended.retain(&live);
        self.standing.pinned.retain(&live);
        self.standing.users.retain(|name| has_number(name.id));
        self.standing.operators.retain(|name| has_number(name.id));
        self.rewrite_file()
    }

    fn rewrite_file(&mut self) -> io::Result<()> {
        write_whole(&self.path, self.standing.format_lines().as_bytes(), true)?;
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
        let key = JobKey { id: 21, task: Some(3), submit: 1_795_571_603 };
        let name = |id| JobName { id, task: None };
        let task = JobName { id: 5, task: Some(2) };
        let mut ledger = ActionLedger::open(path.clone()).expect("begun");
        ledger
            .add_entries(&[
                LedgerLine::Held(key),
                LedgerLine::UserHold(name(4)),
                LedgerLine::UserRelease(name(4)),
                LedgerLine::UserHold(task),
            ])
            .expect("written");
        let standing = ActionLedger::read_ledger(&path).expect("read");
        let words: Vec<(JobName, bool)> = standing.users.iter().collect();
        assert_eq!((&standing.held, words), (&[key].into(), vec![(name(4), false), (task, true)]));
        assert_eq!(standing, *ledger.standing());
        let mut text = std::fs::read_to_string(&path).expect("read");
        text.push_str("suspended 2");
        std::fs::write(&path, &text).expect("written");
        let mut ledger = ActionLedger::open(path.clone()).expect("opened");
        ledger.add_entries(&[LedgerLine::Suspended(key)]).expect("written");
        assert_eq!(ActionLedger::read_ledger(&path).expect("read").suspended, [key].into());
    }

    #[test]
    fn users_holds_outlive_a_hand_back_and_garbled_lines_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let key = JobKey { id: 21, task: None, submit: 7 };
        std::fs::write(&path, b"held 21@7\nuser-hold 4\n\xff\xfe held\nuser-hold 5_2\nuser-release 4\n")
            .expect("written");
        let standing = ActionLedger::read_ledger(&path).expect("read");
        assert_eq!((&standing.held, &standing.garbled), (&[key].into(), &vec![3]));
        ActionLedger::give_back(&path, &standing).expect("written");
        let standing = ActionLedger::read_ledger(&path).expect("read");
        assert!(standing.given_back && standing.held.is_empty());
        assert_eq!(standing.users.iter().collect::<Vec<_>>(), [(JobName { id: 5, task: Some(2) }, true)]);
        let mut ledger = ActionLedger::open(path.clone()).expect("opened");
        ledger.begin_again().expect("written");
        ledger.add_entries(&[LedgerLine::Held(key)]).expect("written");
        let again = ActionLedger::read_ledger(&path).expect("read");
        assert!(!again.given_back && again.held.contains(&key) && again.users.len() == 1);
    }

    /// An administrator's hold stays, whatever its owner says, until an operator lets the job go.
    #[test]
    fn operators_holds_outlive_a_hand_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let (held_name, free_name) = (JobName { id: 4, task: None }, JobName { id: 5, task: Some(2) });
        let mut ledger = ActionLedger::open(path.clone()).expect("begun");
        let lines = [
            LedgerLine::OperatorHold(held_name),
            LedgerLine::UserRelease(held_name),
            LedgerLine::OperatorHold(free_name),
        ];
        ledger.add_entries(&lines).expect("written");
        ledger.add_entries(&[LedgerLine::OperatorRelease(free_name)]).expect("written");
        let check = |standing: &LedgerStanding| {
            let key = |name: JobName| JobKey { id: name.id, task: name.task, submit: 7 };
            let words = |name| (standing.users.last_word(key(name)), standing.operators.is_held(key(name)));
            assert_eq!(words(held_name), (Some(false), true));
            assert!(!standing.users.is_held(key(free_name)) && !standing.operators.is_held(key(free_name)));
        };
        check(&ActionLedger::read_ledger(&path).expect("read"));
        // Opening writes what is known once more.
        drop(ActionLedger::open(path.clone()).expect("opened"));
        let standing = ActionLedger::read_ledger(&path).expect("read");
        check(&standing);
        ActionLedger::give_back(&path, &standing).expect("written");
        check(&ActionLedger::read_ledger(&path).expect("read"));
    }
}
