//! Readers of what a daemon shows: its user, its group, and no other user, where the site hides
//! jobs.

use super::site::{PROGRAM, Running, Site, Tests, until};
use drystone_testbed::ClusterOptions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) fn tests() -> Tests {
    vec![
        ("jobs_are_read_by_the_daemons_group_alone", by_the_group),
        ("a_page_for_all_is_warned_of_where_jobs_are_private", warned),
    ]
}

const NOBODY: u32 = 65_534;
/// A group that every Linux has, which is not that of root nor that of the user above.
const GROUP: u32 = 12;

fn private(kinds: &str) -> Option<Site> {
    let lines = vec![format!("PrivateData={kinds}")];
    Site::with(ClusterOptions { nodes: 1, cpus: 4, lines, ..ClusterOptions::default() }, "easy")
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).permissions().mode() & 0o777
}

/// Files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A command as an ordinary user of a group; `None` where this is not root.
fn as_member(group: u32, program: &str, args: &[&str]) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(args).uid(NOBODY).gid(group).current_dir("/").stdin(Stdio::null());
    let output = command.output().ok();
    if output.is_none() {
        eprintln!("SKIPPED: only root can act as another user");
    }
    output
}

/// Files, socket and page, also of a state that an earlier version left open.
fn by_the_group() {
    let Some(site) = private("jobs") else { return };
    // Others may enter the folders: the files themselves keep them out.
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("opened");
    open(&site.path(""));
    std::fs::create_dir_all(site.home().journal_folder()).expect("made");
    let old = site.home().journal_folder().join("old");
    std::fs::write(&old, "jobs").expect("written");
    std::fs::write(site.home().ledger_path(), "").expect("written");
    let socket = site.path("run/page.socket");
    let listen = format!("unix:{}", socket.display());
    let begin = || {
        let mut command = site.command(&["live", "drive", "--policy", "easy", "--listen", &listen]);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("begins");
        until("the page is there", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
        Running(daemon)
    };
    let daemon = begin();
    site.submit(4, 60, 5);
    let waiting = site.submit(4, 60, 5);
    until("a job waits", || site.published()["jobs"]["waiting"] == 1);
    // A restart and a hand-back by root leave them as they are.
    drop(daemon);
    let _daemon = begin();
    until("the job is known again", || site.published()["jobs"]["waiting"] == 1);
    let (home, run) = (site.home(), site.home().run_folder().to_path_buf());
    for path in [home.status_path(), home.ledger_path()] {
        assert_eq!(mode(&path), 0o640, "{}", path.display());
    }
    assert_eq!(mode(&socket), 0o660);
    let of_hook = [home.heartbeat_path(), home.wake_path()];
    for path in &of_hook {
        assert_eq!(mode(path), 0o644, "slurmctld reads {}", path.display());
    }
    let can_read = |path: &Path| {
        let output = as_member(NOBODY, "head", &["-c", "1", &path.display().to_string()])?;
        Some(output.status.success())
    };
    let paths: Vec<PathBuf> = files(home.state_folder()).into_iter().chain(files(&run)).collect();
    assert!(paths.contains(&old) && paths.contains(&home.status_path()), "{paths:?}");
    for path in paths.iter().filter(|path| **path != socket) {
        let Some(can_read) = can_read(path) else { return };
        // Names of partitions, users and processes are no secrets; jobs are.
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("root reads it")).into_owned();
        let shows_jobs = text.contains(&format!("\"{waiting}\"")) || path.starts_with(home.journal_folder());
        assert!(!(can_read && shows_jobs), "{} is read by all", path.display());
    }
    assert_eq!(can_read(&home.status_path()), Some(false));
    // The group of the socket reads the page, others do not.
    std::os::unix::fs::chown(&socket, None, Some(GROUP)).expect("root");
    open(&run);
    let status =
        |group| as_member(group, PROGRAM, &["live", "status", "--state", &home.state_folder().display().to_string()]);
    let Some(output) = status(NOBODY) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("this user may not read it"), "{stderr}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains(&waiting.to_string()));
    assert_eq!((connects(&socket, NOBODY), connects(&socket, GROUP)), (false, true));
    let mut page = String::new();
    // The page that was just opened answers 503 before its first look.
    until("the page has looked", || {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).expect("root");
        stream.write_all(b"GET /live.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sent");
        page.clear();
        stream.read_to_string(&mut page).expect("text");
        !page.starts_with("HTTP/1.1 503")
    });
    assert!(page.contains(&format!("\"{waiting}\"")), "{page}");
}

/// Returns whether a user of this group may connect to a socket.
fn connects(socket: &Path, group: u32) -> bool {
    // The shell asks the kernel as the user it is: writing is the right to connect.
    let test = format!("test -w '{}'", socket.display());
    as_member(group, "sh", &["-c", &test]).is_some_and(|output| output.status.success())
}

/// `--check` warns of a port where jobs are private, and of nothing else.
fn warned() {
    let listens = [("9797", true), ("0", true), ("unix:page.socket", false), ("none", false)];
    for (private_data, hides) in [("jobs,usage", true), ("nodes", false)] {
        let Some(site) = private(private_data) else { return };
        for (listen, is_for_all) in listens {
            let args = ["live", "drive", "--policy", "easy", "--check", "--listen", listen];
            let output = site.command(&args).output().expect("runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{private_data} {listen}: {stderr}");
            let words = format!("PrivateData={private_data} hides jobs of others");
            let warns = stderr.contains(&words) && stderr.contains("--listen none");
            assert_eq!(warns, hides && is_for_all, "{private_data} {listen}: {stderr}");
        }
    }
}
