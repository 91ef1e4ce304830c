//! Failures of the environment: no disk, no memory, no reader, a signal at any moment, files that
//! change while they are read. Nothing may be half, nothing old may be lost, nothing may panic, and
//! what failed is said.

mod changing;
mod disk;
mod memory;
mod pipes;
mod stopped;

use crate::common::{Folder, Ran, four};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A folder with everything that commands read: a log of 300 jobs, results, a study with its store,
/// a study of tables.
fn furnished() -> Folder {
    let folder = Folder::with("four.swf", four());
    folder.run(&["workload", "generate", "--jobs", "300", "--procs", "32", "--out", "log.swf"]).ok();
    folder.run(&["workload", "generate", "--jobs", "3000", "--procs", "64", "--out", "long.swf"]).ok();
    folder.write("study.toml", STUDY);
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    folder.write("tables.toml", TABLES);
    folder.write("jobs.psv", accounting());
    folder.run(&["import", "jobs.psv", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    let compare = ["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--details", "--quiet"];
    folder.run(&[&compare[..], &["--report", "results.json"]].concat()).ok();
    folder
}

/// A dozen jobs as `sacct --parsable2` prints them.
fn accounting() -> String {
    let head = "JobIDRaw|JobID|User|Account|Partition|Submit|Eligible|Start|End|State|ExitCode|TimelimitRaw|ElapsedRaw|NCPUS|NNodes\n";
    let row = |i: u32| {
        let at = |hour: u32, second: u32| format!("2024-01-01T{hour:02}:{:02}:{second:02}", i * 3);
        let times = [at(0, 0), at(0, 0), at(0, 30), at(1, 30)].join("|");
        format!("{0}|{0}|u{1}|a|p|{times}|COMPLETED|0:0|120|3600|4|1\n", i + 1, i % 3)
    };
    (0..12).map(row).fold(head.to_string(), |text, row| text + &row)
}

const STUDY: &str = "[[workload]]\nfile = \"four.swf\"\n[[policy]]\npolicy = \"easy(order={order},predict=recent({size}))\"\n\
    [policy.parameters]\norder = [\"fcfs\", \"sjf\"]\nsize = [1, 2, 3]\n";

const TABLES: &str = "name = \"mine\"\nsource = \"by hand\"\n[[log]]\nid = \"four\"\nfile = \"four.swf\"\n\
    page = \"https://example.org/four\"\n[[table]]\nid = \"1\"\ntitle = \"Four jobs\"\nreason = \"exact\"\n\
    [[table.column]]\nname = \"wait, min\"\nmeasure = \"wait-mean-min\"\n[[table.row]]\nlabel = \"by hand\"\n\
    log = \"four\"\npolicy = \"easy\"\npublished = [\"0.875\"]\ntolerance = [0]\n";

/// Every file below the folder, by path, with what is in it.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    fn add(files: &mut BTreeMap<String, Vec<u8>>, root: &Path, at: &Path) {
        for entry in std::fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                add(files, root, &path);
            } else {
                let name = path.strip_prefix(root).expect("below it").display().to_string();
                files.insert(name, std::fs::read(&path).expect("readable"));
            }
        }
    }
    let mut contents = BTreeMap::new();
    let root = folder.path("");
    add(&mut contents, &root, &root);
    contents
}

/// The program under a limit of the shell: `-f` is the largest file in blocks of 512 bytes, `-v`
/// the memory in kilobytes. A file that would grow too large is an error when written, as on a full
/// disk, and no signal.
#[cfg(unix)]
fn limited(folder: &Folder, limit: &str, args: &[&str]) -> Command {
    let plain = folder.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' XFSZ; ulimit -c 0; ulimit {limit}; exec \"$0\" \"$@\"")]);
    command.arg(plain.get_program()).args(plain.get_args());
    command.current_dir(folder.path("")).stdin(std::process::Stdio::null());
    command
}

/// Runs a command to its end; the code is -1 where a signal ended it.
fn ended(mut command: Command) -> Ran {
    Ran::of(command.output().expect("runs"))
}

/// The names of files that were being written when the program was killed.
fn leftovers(folder: &Folder) -> Vec<String> {
    files(folder).into_keys().filter(|name| name.ends_with(".part")).collect()
}
