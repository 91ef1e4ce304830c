//! Finding and starting Slurm's programs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Folders of daemons on most systems, often missing from a user's `PATH`.
const SYSTEM: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/slurm/sbin"];

/// Finds a program on `PATH`, else in the folders of daemons.
pub fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Starts a daemon in the foreground, as a child. It works in the cluster's log folder, by which it
/// is known.
pub(crate) fn start_daemon(program: &str, args: &[&str], root: &Path) -> std::io::Result<Child> {
    let path = find_program(program).unwrap_or_else(|| PathBuf::from(program));
    let output = File::options().create(true).append(true).open(root.join("log").join(format!("{program}.out")))?;
    Command::new(path)
        .args(args)
        .env("SLURM_CONF", root.join("etc/slurm.conf"))
        .env("TZ", "UTC")
        .current_dir(root.join("log"))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
}

/// Starts what stops the cluster when its standard input ends.
pub(crate) fn start_guard(root: &Path) -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", include_str!("stop.sh"), "stop.sh"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Processes whose working directory is below a folder.
pub(crate) fn working_below(folder: &Path) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let below = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(below).collect()
}

/// The command line of a process, its words separated by blanks; empty where it is gone.
pub(crate) fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

pub(crate) fn child_pids(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Returns a command's standard output, trimmed.
pub fn command_output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
