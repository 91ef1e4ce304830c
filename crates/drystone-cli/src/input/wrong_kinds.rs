//! Files and folders of the wrong kind: names what was given and the command that takes it.

use crate::exit::CommandFailure;
use crate::site::is_site;
use drystone::log::{Foreign, source};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes that show the kind of a file.
const HEAD: u64 = 8_192;
/// Files of a folder that are looked at.
const LOOKED_AT: usize = 200;

/// The kinds of input that commands take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InputKind {
    /// A log in Standard Workload Format.
    Log,
    /// Something else, which its reader judges.
    Unknown,
    /// The folder of an imported site.
    Site,
    /// Accounting that `drystone import` reads.
    Accounting,
    /// Results in JSON.
    Results,
    Store,
    Study,
    /// A page or another document.
    Page,
    /// A folder without any of these.
    Folder,
    /// A folder with logs.
    Logs,
}

impl InputKind {
    /// Recognises the contents of a path; `None` if it cannot be read, or is a stream that can be
    /// read only once.
    pub(crate) fn from_path(path: &Path) -> Option<InputKind> {
        if path.is_dir() {
            return Some(if is_site(path) { InputKind::Site } else { in_folder(path) });
        }
        // The folder of a site may be named by its manifest, and followed by a pool.
        if crate::site::split_site_path(path).is_some() {
            return Some(InputKind::Site);
        }
        path.is_file().then(|| read_head(path)).flatten().map(|head| of_head(&head))
    }

    /// The refusal of a path that is not of the kind that a command takes, if the path is of
    /// another kind that some command takes.
    pub(crate) fn refuse_path(path: &Path, kinds: &[InputKind]) -> Result<(), CommandFailure> {
        let Some(kind) = InputKind::from_path(path) else { return Ok(()) };
        // The reader of logs says of accounting what it is, line and column.
        let is_importable = kind == InputKind::Accounting && path.is_file() && kinds.first() == Some(&InputKind::Log);
        if kinds.contains(&kind) || kind == InputKind::Unknown || is_importable {
            return Ok(());
        }
        let name = path.display();
        let (kind_text, taker) = match kind {
            InputKind::Log if kinds.first() == Some(&InputKind::Site) => {
                ("a job log", format!("`drystone import {name} --out site/` makes a site of it"))
            }
            InputKind::Log | InputKind::Unknown => ("a job log", format!("`drystone compare {name}` takes it")),
            InputKind::Site => ("an imported site", format!("`drystone compare {name}` takes it")),
            InputKind::Accounting if path.is_dir() => {
                ("a folder of accounting", format!("`drystone import {name} --out site/` makes a workload of it"))
            }
            InputKind::Accounting => {
                ("accounting of a batch system", format!("`drystone import {name} --out site/` makes a workload of it"))
            }
            InputKind::Results => {
                ("results in JSON", format!("`drystone report {name} --out results.html` makes a page of them"))
            }
            InputKind::Store => ("the store of a sweep", format!("`drystone sweep rank {name}` takes it")),
            InputKind::Study => ("the file of a study", format!("`drystone sweep {name}` takes it")),
            InputKind::Page => ("a page in HTML", "a browser shows it".to_string()),
            InputKind::Folder => (
                "a folder with neither a site nor logs",
                "name a file, or make a site with `drystone import`".to_string(),
            ),
            InputKind::Logs => ("a folder of logs", "name one of the logs in it".to_string()),
        };
        let wanted_text = match kinds.first() {
            Some(InputKind::Site) => "the folder of an imported site",
            Some(InputKind::Results) => "results in JSON",
            Some(InputKind::Study) => "the file of a study",
            Some(InputKind::Store) => "the store of a sweep",
            _ => "a log or a site",
        };
        Err(CommandFailure::usage_error(format_args!("{name}: this is {kind_text}, expected {wanted_text}; {taker}")))
    }
}

/// The first bytes of a file, decompressed.
fn read_head(path: &Path) -> Option<Vec<u8>> {
    let source = source::unpack_data(Box::new(File::open(path).ok()?), "".into()).ok()?;
    let mut head = Vec::new();
    // What was read before an error shows the kind as well.
    let _ = source.bytes.take(HEAD).read_to_end(&mut head);
    Some(head)
}

fn of_head(head: &[u8]) -> InputKind {
    if head.starts_with(b"SQLite format 3") {
        return InputKind::Store;
    }
    let text = String::from_utf8_lossy(head);
    let start = text.trim_start().to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        return InputKind::Page;
    }
    if text.contains("\"drystone/compare/") || text.contains("\"drystone/run/") {
        return InputKind::Results;
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    if lines().any(|line| ["[[workload]]", "[[policy]]"].contains(&line)) {
        return InputKind::Study;
    }
    let first = lines().find(|line| !line.starts_with(';')).unwrap_or_default();
    // JSON without the fields of sacct may be a workload of Batsim, which reads as a log.
    let sacct = text.contains("\"job_id\"") || text.contains("\"submission\"");
    match Foreign::from_first_line(first.as_bytes()) {
        Some(Foreign::Json) if !sacct => InputKind::Unknown,
        Some(foreign) if foreign.can_be_imported() => InputKind::Accounting,
        None if is_record(first) => InputKind::Log,
        _ => InputKind::Unknown,
    }
}

/// Returns whether a line has the numbers of a record in Standard Workload Format.
fn is_record(line: &str) -> bool {
    let mut fields = line.split_whitespace();
    fields.clone().count() == 18 && fields.all(|field| field.parse::<f64>().is_ok())
}

/// Recognises the files of a folder: the first kind that some command takes as a whole.
fn in_folder(path: &Path) -> InputKind {
    let Ok(entries) = std::fs::read_dir(path) else { return InputKind::Folder };
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    files.sort();
    let is_log = |path: &std::path::PathBuf| {
        let name = path.to_string_lossy().to_lowercase();
        [".swf", ".swf.gz", ".swf.zst"].iter().any(|ending| name.ends_with(ending))
    };
    let logs = files.iter().any(is_log);
    let accounting = |path: &std::path::PathBuf| {
        read_head(path).is_some_and(|head| !head.is_empty() && of_head(&head) == InputKind::Accounting)
    };
    match () {
        () if files.iter().take(LOOKED_AT).filter(|path| !is_log(path)).any(accounting) => InputKind::Accounting,
        () if logs => InputKind::Logs,
        () => InputKind::Folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known_by_its_head() {
        for (head, expected) in [
            ("; MaxProcs: 4\n1 0 10 3600 64 -1 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1\n", InputKind::Log),
            ("JobID|User|State\n17|a|COMPLETED\n", InputKind::Accounting),
            ("03/01/2016 00:00:08;E;123.pbs;user=a group=b\n", InputKind::Accounting),
            ("{\n  \"schema\": \"drystone/compare/1\",\n", InputKind::Results),
            ("# A study.\nmetrics = [\"wait_mean\"]\n[[workload]]\nfile = \"a.swf\"\n", InputKind::Study),
            ("<!DOCTYPE html><html>", InputKind::Page),
            ("SQLite format 3\0", InputKind::Store),
            ("{\"nb_res\": 4, \"jobs\": [{\"id\": 1}]}", InputKind::Unknown),
            ("{\"meta\": {}, \"jobs\": [{\"job_id\": 1, \"time\": {\"submission\": 5}}]}", InputKind::Accounting),
            ("ClusterName=c\n", InputKind::Unknown),
            ("hello\n", InputKind::Unknown),
        ] {
            assert_eq!(of_head(head.as_bytes()), expected, "{head}");
        }
    }
}
