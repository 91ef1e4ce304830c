//! The version that outputs record: in release builds with the commit, `0.1.0+c2df398`, and
//! `-modified` where files differ from it. Other builds leave the commit out, so that a commit
//! compiles nothing again. `DRYSTONE_COMMIT` names it where there is no repository.

use std::path::Path;
use std::process::Command;

fn main() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DRYSTONE_COMMIT");
    let released = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let given = std::env::var("DRYSTONE_COMMIT").ok().filter(|commit| is_name(commit));
    let commit = given.or_else(|| released.then(commit).flatten());
    let build = commit.map_or(version.clone(), |commit| format!("{version}+{commit}"));
    println!("cargo::rustc-env=DRYSTONE_VERSION={build}");
}

/// Returns whether it may stand behind the plus sign of a version.
fn is_name(commit: &str) -> bool {
    !commit.is_empty() && commit.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// The commit of the repository that this file is in.
fn commit() -> Option<String> {
    let root = Path::new("../..");
    // What is checked out, and the sources.
    for path in [".git/HEAD", ".git/index", "crates", "Cargo.lock"] {
        if root.join(path).exists() {
            println!("cargo::rerun-if-changed={}", root.join(path).display());
        }
    }
    let git = |args: &[&str]| {
        let done =
            Command::new("git").args(args).current_dir(root).output().ok().filter(|done| done.status.success())?;
        Some(String::from_utf8_lossy(&done.stdout).trim().to_string())
    };
    let commit = git(&["rev-parse", "--short=10", "HEAD"]).filter(|commit| is_name(commit))?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.lock"]);
    let clean = changed.is_some_and(|changed| changed.is_empty());
    Some(if clean { commit } else { format!("{commit}-modified") })
}
