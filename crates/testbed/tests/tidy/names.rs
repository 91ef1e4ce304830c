//! Names of types: one name for one thing, in the whole workspace.

use crate::files::SourceFile;
use std::collections::BTreeMap;

/// Names that several types share, with where each is. The tests of a crate may name types as they
/// like, and so may what stands in for a part that is not built (`NAME_absent.rs`).
pub(crate) fn collisions(files: &[SourceFile]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_of_a_crate(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            // Tests stand at the end of a file.
            if line == "#[cfg(test)]" {
                break;
            }
            if let Some(name) = declared(line) {
                places.entry(name).or_default().push(format!("{}:{}", file.path, at + 1));
            }
        }
    }
    let duplicates = places.into_iter().filter(|(_, places)| places.len() > 1);
    duplicates.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect()
}

pub(crate) fn is_of_a_crate(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates")
        && parts.nth(1) == Some("src")
        && path.ends_with(".rs")
        && !path.ends_with("_absent.rs")
        && !path.ends_with("/tests.rs")
}

/// The name of the type that a line declares. An associated type or one within a function belongs
/// to what it is in.
fn declared(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "union ", "type "];
    let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

#[test]
fn a_name_is_the_name_of_one_type() {
    let lines = collisions(&crate::files::all());
    assert!(lines.is_empty(), "a type is named by noun and role; these share a name:\n{}", lines.join("\n"));
}

#[test]
fn a_second_type_of_a_name_is_found() {
    let file = |path: &str, text: &str| SourceFile { path: path.to_string(), text: text.to_string() };
    let files = [
        file("crates/a/src/lib.rs", "pub struct JobTable;\nstruct Other<T>(T);\n    type JobTable = u8;\n"),
        file("crates/b/src/x.rs", "pub(crate) enum JobTable {}\n#[cfg(test)]\nmod tests {}\nstruct Other;\n"),
        file("crates/b/src/x_absent.rs", "pub(crate) struct Other;\n"),
        file("crates/b/tests/it/main.rs", "struct Other;\n"),
    ];
    assert_eq!(collisions(&files), ["JobTable: crates/a/src/lib.rs:1, crates/b/src/x.rs:1"]);
}
