//! The path of a newcomer, as docs/start/live.md shows it, in a folder with nothing in it.

use super::site::{PROGRAM, Tests, until, within};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![("five_commands_of_the_tutorial", tutorial)]
}

/// A shell, ended in order when it is dropped.
struct Shell(Child);

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

fn tutorial() {
    if drystone_testbed::find_program("slurmctld").is_none() {
        assert!(std::env::var_os("DRYSTONE_SLURM_REQUIRED").is_none(), "there is no Slurm");
        eprintln!("SKIPPED: there is no Slurm");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start/live.md");
    let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or(rest));
    let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
    let [install, playground, export, shadow, report] = commands[..] else { panic!("five commands: {commands:?}") };
    assert!(install.starts_with("sudo apt-get install"), "{install}");
    let folder = tempfile::tempdir().expect("a folder");
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        let own = Path::new(PROGRAM).parent().expect("a folder").display().to_string();
        let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
        command.args(["-ec", line]).current_dir(folder.path()).env("PATH", path).stdin(Stdio::null());
        for name in ["SLURM_CONF", "DRYSTONE_STATE", "DRYSTONE_RUN"] {
            command.env_remove(name);
        }
        command
    };
    let begin = |line: String| Shell(shell(&line).stdout(Stdio::null()).spawn().expect("begins"));
    let _cluster = begin(format!("exec {playground}"));
    until("the cluster is up", || folder.path().join("play/slurm.conf").exists());
    // Another page may be open on this machine.
    let _shadow = begin(format!("{export}; exec {shadow} --listen none --log quiet"));
    within(Duration::from_secs(200), "there is a report", || {
        std::thread::sleep(Duration::from_secs(1));
        let output = shell(&format!("{export}; {report}")).output().expect("runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        output.status.success() && stdout.contains("change of the mean wait") && stdout.contains("predict=recent(2)")
    });
}
