//! The commands that tutorials show, run as a reader would run them.

use crate::common::Folder;
use std::path::{Path, PathBuf};

/// The pages whose commands run from the first to the last in one folder.
const TUTORIALS: [&str; 3] = ["administrator", "researcher", "author"];

/// Commands that need what a test has not: published logs, a Rust toolchain.
const NOT_HERE: [&str; 2] = ["drystone reproduce ", "cargo "];

fn page(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/start/{name}.md"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (path, text)
}

/// The fenced blocks of a page: language and lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => open = Some((language, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// Runs a line by a shell in which `drystone` is the program under test.
fn run(folder: &Folder, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_drystone")).parent().expect("a directory").to_owned();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    std::process::Command::new("sh")
        .args(["-ec", line])
        .current_dir(folder.path(""))
        .env("PATH", path)
        .output()
        .expect("a shell")
}

#[test]
fn every_command_of_a_tutorial_runs() {
    for name in TUTORIALS {
        let (path, text) = page(name);
        let folder = Folder::new();
        let mut ran = 0;
        for (language, lines) in blocks(&text) {
            if let Some(file) = lines.first().and_then(|l| l.strip_prefix("# ")).filter(|_| language == "toml") {
                folder.write(file, lines.join("\n"));
            }
            if language != "sh" {
                continue;
            }
            for line in lines.iter().filter(|l| !NOT_HERE.iter().any(|n| l.starts_with(n))) {
                let output = run(&folder, line);
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: `{line}`\n{said}", path.display());
                ran += 1;
            }
        }
        assert!(ran >= 2, "{}: {ran} commands ran", path.display());
    }
}
