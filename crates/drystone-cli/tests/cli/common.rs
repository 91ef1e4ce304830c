//! Runs the program in a folder of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A folder with files, where the program runs.
pub(crate) struct Folder(TempDir);

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The code is -1 where a signal ended it.
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// The standard output of a success.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// The standard error of a failure with this code; the standard output must be empty.
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }

    /// The standard output of a success as JSON.
    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("valid JSON")
    }
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with one log.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    /// A folder with `made.swf`: 10,000 generated jobs on 256 processors at a load of 0.85.
    pub(crate) fn with_made() -> Folder {
        let folder = Folder::new();
        let args = ["workload", "generate", "--jobs", "10000", "--load", "0.85", "--quiet", "--out", "made.swf"];
        folder.run(&args).ok();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect(name)
    }

    /// The names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names_in(".")
    }

    /// The names of all files in a folder of it, sorted.
    pub(crate) fn names_in(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program, about to run here, with nothing of the environment that changes what it prints.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drystone"));
        command.current_dir(self.0.path()).args(args).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("runs"))
    }

    /// Runs the program with something on its standard input.
    pub(crate) fn pipe(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("runs");
        child.stdin.take().expect("piped").write_all(input).expect("written");
        Ran::of(child.wait_with_output().expect("ends"))
    }
}

/// Waits until this holds while a program is at work. Returns whether it holds; if not, the program
/// has ended.
pub(crate) fn holds_while_at_work(child: &mut Child, mut holds: impl FnMut() -> bool) -> bool {
    while !holds() {
        if child.try_wait().expect("asked").is_some() {
            return holds();
        }
        sleep(Duration::from_millis(5));
    }
    true
}

/// Sends a signal to a program.
#[cfg(unix)]
pub(crate) fn send(child: &Child, signal: &str) {
    let status =
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

/// Waits until a program catches SIGINT: before, the signal ends it whatever it does. Linux shows
/// this; elsewhere a while has to do.
#[cfg(unix)]
pub(crate) fn wait_for_handlers(child: &mut Child) {
    const SIGINT: u64 = 1 << 1;
    let status = format!("/proc/{}/status", child.id());
    if !Path::new(&status).exists() {
        return sleep(Duration::from_secs(5));
    }
    let catches = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        mask.is_some_and(|mask| mask & SIGINT != 0)
    };
    holds_while_at_work(child, catches);
}

/// Mounts a tiny file system, where that is allowed; unmounts it when dropped.
pub(crate) struct Tiny<'a>(&'a Path);

impl<'a> Tiny<'a> {
    pub(crate) fn mount(at: &'a Path, size: &str) -> Option<Tiny<'a>> {
        std::fs::create_dir(at).expect("made");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(at).output();
        mounted.is_ok_and(|m| m.status.success()).then_some(Tiny(at))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// A job as a line of a log: number, submit, run time, processors, estimate.
pub(crate) fn line(number: i64, submit: i64, run: i64, procs: i64, estimate: i64) -> String {
    format!("{number} {submit} -1 {run} {procs} -1 -1 {procs} {estimate} -1 1 5 1 -1 0 -1 -1 -1\n")
}

/// Four jobs on four processors, whose schedules are worked out by hand in the tests.
pub(crate) fn four() -> String {
    let jobs = [line(1, 0, 100, 3, 100), line(2, 10, 50, 4, 50), line(3, 20, 30, 1, 60), line(4, 30, 100, 1, 100)];
    format!("; MaxProcs: 4\n; UnixStartTime: 0\n{}", jobs.concat())
}

/// A file shared beside the checkout, or `None` with a loud line.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let file = root.join(path);
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(file)
}

/// Returns whether a text has these words one after another, wherever its lines end.
pub(crate) fn says(text: &str, words: &str) -> bool {
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    in_one_line(text).contains(&in_one_line(words))
}
