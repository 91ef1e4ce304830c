//! Imports within a crate: no files import each other in a circle, but for a file and the files of
//! its own modules.

use crate::files::SourceFile;
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module in its crate; empty for the crate itself.
type ModulePath = Vec<String>;

/// A file of a crate: its imports, and the names that others import from it.
#[derive(Default)]
struct ModuleFile {
    imports: Vec<ModulePath>,
    exports: BTreeMap<String, ModulePath>,
}

/// Returns the circles of every crate, each as its files in order.
pub(crate) fn circles(files: &[SourceFile]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<ModulePath, ModuleFile>> = BTreeMap::new();
    for file in files {
        let Some((name, inside)) = file.path.split_once("/src/") else { continue };
        let Some(stem) = inside.strip_suffix(".rs").filter(|_| name.starts_with("crates/")) else { continue };
        let mut path: ModulePath = stem.split('/').map(str::to_string).collect();
        path.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
        crates.entry(name).or_default().insert(path, read(&file.text));
    }
    let of_crate = |(name, modules): (&str, BTreeMap<ModulePath, ModuleFile>)| {
        let edges: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
            modules.keys().map(|from| (from, edges(&modules, from))).collect();
        let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
            edges.keys().map(|&from| (from, reach(&edges, from))).collect();
        let on_a_circle = edges.keys().copied().filter(|from| reached[from].contains(*from));
        let circles: BTreeSet<Vec<&ModulePath>> = on_a_circle
            .map(|from| reached[from].iter().copied().filter(|module| reached[module].contains(from)).collect())
            .collect();
        let line = |circle: Vec<&ModulePath>| circle.iter().map(|path| path.join("::")).collect::<Vec<_>>().join(", ");
        circles.into_iter().map(|circle| format!("{name}: {}", line(circle))).collect::<Vec<_>>()
    };
    crates.into_iter().flat_map(of_crate).collect()
}

/// Reads the imports of a file. Tests, which stand at its end, may import anything.
fn read(text: &str) -> ModuleFile {
    let mut file = ModuleFile::default();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let flat = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    for (at, _) in flat.match_indices("use ") {
        let before = flat[..at].trim_end();
        let public = before.ends_with("pub") || before.ends_with(')') && before.contains("pub(");
        if !(before.is_empty() || public || before.ends_with([';', '}', '{', ']'])) {
            continue;
        }
        let Some(end) = flat[at..].find(';') else { continue };
        for path in expand(&flat[at + 4..at + end]) {
            if let Some(name) = path.last().filter(|_| public) {
                file.exports.insert(name.clone(), path.clone());
            }
            file.imports.push(path);
        }
    }
    file
}

/// Returns the paths of an import: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(text: &str) -> Vec<ModulePath> {
    let parts = |text: &str| -> ModulePath {
        let name = text.split(" as ").next().unwrap_or_default();
        name.split("::").map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
    };
    let Some((before, inside)) = text.split_once('{') else { return vec![parts(text)] };
    let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
    let (mut depth, mut from, mut paths) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let rest = expand(&inside[from..at]).into_iter().filter(|rest| !rest.is_empty());
                paths.extend(rest.map(|rest| [parts(before), rest].concat()));
                from = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Returns the files that a file imports from, without those above and below it.
fn edges<'a>(modules: &'a BTreeMap<ModulePath, ModuleFile>, from: &ModulePath) -> BTreeSet<&'a ModulePath> {
    let to = modules[from].imports.iter().filter_map(|path| resolve(modules, from, path, 0));
    to.filter(|to| !to.starts_with(from) && !from.starts_with(to)).collect()
}

/// Returns the file that an import names, through what others export again.
fn resolve<'a>(
    modules: &'a BTreeMap<ModulePath, ModuleFile>,
    from: &ModulePath,
    path: &[String],
    depth: u32,
) -> Option<&'a ModulePath> {
    let mut at = from.clone();
    let mut rest = path.iter().peekable();
    match rest.peek().map(|part| part.as_str())? {
        "crate" => {
            at.clear();
            rest.next();
        }
        "self" => drop(rest.next()),
        "super" => {
            while rest.next_if(|part| *part == "super").is_some() {
                at.pop()?;
            }
        }
        first => {
            let own = [&at[..], &[first.to_string()]].concat();
            if !modules.contains_key(&own) && !modules[from].exports.contains_key(first) {
                return None;
            }
        }
    }
    while let Some(part) = rest.peek() {
        let below = [&at[..], std::slice::from_ref(*part)].concat();
        if !modules.contains_key(&below) {
            break;
        }
        at = below;
        rest.next();
    }
    let (module, file) = modules.get_key_value(&at)?;
    let again = rest.peek().and_then(|name| file.exports.get(*name)).filter(|again| *again != path && depth < 8);
    again.and_then(|again| resolve(modules, module, again, depth + 1)).or(Some(module))
}

/// Returns the files that one imports from, directly or not.
fn reach<'a>(
    edges: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
    from: &ModulePath,
) -> BTreeSet<&'a ModulePath> {
    let mut targets = BTreeSet::new();
    let mut open: Vec<&ModulePath> = edges[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if targets.insert(next) {
            open.extend(&edges[next]);
        }
    }
    targets
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let lines = circles(&crate::files::all());
    assert!(lines.is_empty(), "imports go one way; these go in circles:\n{}", lines.join("\n"));
}

#[test]
fn a_circle_is_found() {
    let file = |path: &str, text: &str| SourceFile { path: path.to_string(), text: text.to_string() };
    let files = [
        file("crates/a/src/lib.rs", "mod b;\nmod c;\npub use c::{Deep, d::Other};\n"),
        // A child and its parent may.
        file("crates/a/src/c.rs", "pub mod d;\nuse d::Other;\npub struct Deep;\n"),
        file(
            "crates/a/src/c/d.rs",
            "use super::Deep;\nuse crate::b::{\n    Shape, // the circle\n    Size,\n};\npub struct Other;\n",
        ),
        file(
            "crates/a/src/b.rs",
            "use crate::Other as Another;\n#[cfg(test)]\nmod tests {\n    use crate::c::Deep;\n}\n",
        ),
        file("crates/b/src/lib.rs", "mod x;\nmod y;\n"),
        file("crates/b/src/x.rs", "use super::y::Y;\n"),
        file("crates/b/src/y.rs", "pub struct Y;\n#[cfg(test)]\nmod tests {\n    use crate::x;\n}\n"),
    ];
    assert_eq!(circles(&files), ["crates/a: b, c::d"]);
}
