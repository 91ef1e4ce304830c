//! The map of the code, ARCHITECTURE.md and docs/rooms.md, held against the tree.

use crate::files;
use std::collections::{BTreeMap, HashSet};

const MAP: &str = "ARCHITECTURE.md";
const ROOMS: &str = "docs/rooms.md";

/// Crates whose modules are in the map itself.
const IN_MAP: [&str; 2] = ["drystone-engine", "drystone-core"];

/// Endings of names that are files of the project, wherever they are named.
const FILES: [&str; 5] = [".rs", ".js", ".py", ".pyi", ".md"];

/// The project as the map is compared with it.
pub(crate) struct Tree {
    /// Every file and folder, from the root of the project.
    paths: Vec<String>,
    /// Every word in the sources of all crates.
    words: HashSet<String>,
    /// The modules that the `lib.rs` of each crate declares, by the crate's folder.
    modules: BTreeMap<String, Vec<String>>,
}

impl Tree {
    /// Reads the project.
    pub(crate) fn read() -> Tree {
        let paths = files::paths();
        let sources = paths.iter().filter(|path| {
            path.starts_with("crates/")
                && (path.contains("/src/") || path.contains("/assets/"))
                && (path.ends_with(".rs") || path.ends_with(".js"))
                || path.starts_with("python/") && path.ends_with(".py")
        });
        let mut words = HashSet::new();
        for path in sources.filter(|path| !path.contains("echarts")) {
            let text = files::text(path);
            words.extend(text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
        }
        let crates = paths.iter().filter_map(|path| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"));
        let modules = crates.map(|name| {
            let path = format!("crates/{name}/src/lib.rs");
            (name.to_owned(), if paths.contains(&path) { declared(&files::text(&path)) } else { Vec::new() })
        });
        let modules = modules.collect();
        Tree { paths, words, modules }
    }

    /// Returns whether a path ends in the parts of this one: `log/swf.rs`, `fuzz/`, `args/NAME.rs`.
    fn has_path(&self, name: &str) -> bool {
        let suffix: Vec<&str> = name.trim_end_matches('/').split('/').collect();
        self.paths.iter().any(|path| {
            let parts: Vec<&str> = path.split('/').collect();
            parts.len() >= suffix.len()
                && parts[parts.len() - suffix.len()..].iter().zip(&suffix).all(|(a, b)| fits(a, b))
        })
    }
}

/// Returns the modules that a source declares.
fn declared(text: &str) -> Vec<String> {
    let pairs = text.lines().filter_map(|line| line.strip_suffix(';')?.rsplit_once("mod "));
    pairs.filter(|(before, _)| before.is_empty() || before.starts_with("pub")).map(|(_, name)| name.into()).collect()
}

/// Returns whether one part of a path is the part that the map names: `NAME` and `*` are any text.
fn fits(part: &str, name: &str) -> bool {
    let pattern = name.replace("NAME", "*");
    match pattern.split_once('*') {
        Some((before, after)) => {
            part.len() >= before.len() + after.len() && part.starts_with(before) && part.ends_with(after)
        }
        None => part == pattern,
    }
}

/// Returns what is between backticks in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Returns the names that braces stand for: `a/{b,c}` is `a/b` and `a/c`.
fn spread(name: &str) -> Vec<String> {
    let parts = name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        Some((before, (inside, after))) => inside.split(',').map(|item| format!("{before}{item}{after}")).collect(),
        None => vec![name.into()],
    }
}

/// Returns the part of the map on a crate: its section, or its rows in a section of several.
fn section(map: &str, rooms: &str, name: &str) -> String {
    if IN_MAP.contains(&name) {
        return map.into();
    }
    let title = |text: &&str| quoted(text.lines().next().unwrap_or_default()).any(|word| word == name);
    if let Some(own) = rooms.split("\n## ").skip(1).find(title) {
        return own.into();
    }
    let row = format!("| `{name}`:");
    rooms.lines().filter(|line| line.starts_with(&row)).collect()
}

/// Returns names of the documents that the tree lacks, and crates and modules that they lack.
pub(crate) fn differences(tree: &Tree, map: &str, rooms: &str) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, modules) in &tree.modules {
        if !quoted(map).any(|quote| quote == format!("crates/{name}")) {
            differences.push(format!("{MAP}: the table of crates misses crates/{name}"));
        }
        let section = section(map, rooms, name);
        let named: HashSet<&str> =
            quoted(&section).flat_map(|quote| quote.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
        differences.extend(modules.iter().filter(|module| !named.contains(module.as_str())).map(|module| {
            format!(
                "{}: the module `{module}` of `{name}` is missing",
                if IN_MAP.contains(&name.as_str()) { MAP } else { ROOMS }
            )
        }));
    }
    for (document, text) in [(MAP, map), (ROOMS, rooms)] {
        for (number, line) in (1..).zip(text.lines()) {
            differences.extend(
                quoted(line)
                    .filter(|quote| !exists(tree, quote))
                    .map(|quote| format!("{document}:{number}: nothing in the project is called `{quote}`")),
            );
        }
    }
    differences
}

/// Returns whether a quotation exists: as a path, or as names in the source. Commands, options and
/// files of others are left out.
fn exists(tree: &Tree, quote: &str) -> bool {
    let foreign = quote.contains(|c: char| c.is_whitespace() || "<>()-=".contains(c) && !quote.contains('/'));
    if foreign || quote.ends_with(".conf") {
        return true;
    }
    if quote.contains('/') || FILES.iter().any(|ending| quote.ends_with(ending)) {
        return spread(quote).iter().all(|name| tree.has_path(name) || tree.has_path(&format!("{name}.rs")));
    }
    let names = quote.split("::").all(|name| {
        name.is_empty() || tree.words.contains(name) || tree.has_path(name) || tree.has_path(&format!("{name}.rs"))
    });
    names || !quote.contains(char::is_alphabetic)
}

#[test]
fn the_map_is_that_of_the_tree() {
    let tree = Tree::read();
    assert!(tree.modules.len() > 15, "the tree is not where the test looks for it");
    let lines = differences(&tree, &files::text(MAP), &files::text(ROOMS));
    assert!(lines.is_empty(), "{} places where the map of the code is wrong:\n{}", lines.len(), lines.join("\n"));
}

/// The comparison finds a crate, a module, a path and a name that are missing on either side.
#[test]
fn a_wrong_map_is_found() {
    let tree = Tree {
        paths: [
            "crates/a",
            "crates/a/Cargo.toml",
            "crates/a/src/lib.rs",
            "crates/a/src/b.rs",
            "crates/a/src/c",
            "fuzz",
        ]
        .map(String::from)
        .to_vec(),
        words: HashSet::from(["Job".to_owned(), "a".to_owned()]),
        modules: BTreeMap::from([("a".to_owned(), declared("pub mod b;\n#[cfg(unix)]\nmod c;\n// No mod d;\n"))]),
    };
    let lines = differences(&tree, "", "\n## `a`\n`b`");
    assert_eq!(
        lines,
        ["ARCHITECTURE.md: the table of crates misses crates/a", "docs/rooms.md: the module `c` of `a` is missing"]
    );
    let cases: [(&str, &[&str]); 8] = [
        ("`crates/a`: `b`, `src/b.rs`, `c/`, `Job`, `a/src/{b.rs,c}`, `src/NAME.rs`, `fuzz/`", &[]),
        ("`crates/a`, `crates/d`", &["ARCHITECTURE.md:1: nothing in the project is called `crates/d`"]),
        ("`crates/a`\n`src/d.rs`", &["ARCHITECTURE.md:2: nothing in the project is called `src/d.rs`"]),
        ("`crates/a`, `d.rs`", &["ARCHITECTURE.md:1: nothing in the project is called `d.rs`"]),
        ("`crates/a`, `Work`", &["ARCHITECTURE.md:1: nothing in the project is called `Work`"]),
        ("`crates/a`, `Job::work`", &["ARCHITECTURE.md:1: nothing in the project is called `Job::work`"]),
        ("`crates/a`, `src/{b.rs,d}`", &["ARCHITECTURE.md:1: nothing in the project is called `src/{b.rs,d}`"]),
        ("`crates/a`, `slurm.conf`, `waits --by`, `--details`, `_ =>`", &[]),
    ];
    for (map, endings) in cases {
        let lines = differences(&tree, map, "| `a`: `b`, `c` |");
        let same = lines.len() == endings.len() && lines.iter().zip(endings).all(|(a, b)| a.ends_with(b));
        assert!(same, "{map}: {lines:?}");
    }
}
