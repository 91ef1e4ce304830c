//! The text files of the project.

use std::path::{Path, PathBuf};

/// A text file, by its path from the root of the project.
pub(crate) struct SourceFile {
    pub path: String,
    pub text: String,
}

/// Folders that hold no text of ours: builds, inputs of the fuzzer, the history.
const FOREIGN: [&str; 6] = ["target", ".git", "corpus", "node_modules", "__pycache__", ".venv"];

/// Endings of the files to check.
const ENDINGS: [&str; 14] =
    ["rs", "md", "py", "pyi", "toml", "sh", "lua", "yml", "yaml", "ipynb", "cff", "snap", "css", "service"];

/// Files of other authors, shipped unchanged.
const UNCHANGED: [&str; 1] = ["echarts"];

/// Returns every text file of the project, in the order of their paths.
pub(crate) fn all() -> Vec<SourceFile> {
    let texts = paths().into_iter().filter(|path| {
        let path = root().join(path);
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file() && (ENDINGS.contains(&ending.as_str()) || ending.is_empty() && is_script(&path))
    });
    texts.map(|path| SourceFile { text: text(&path), path }).collect()
}

/// Returns every file and folder of the project but those of others, sorted, from its root.
pub(crate) fn paths() -> Vec<String> {
    let mut paths = Vec::new();
    walk(&root(), &root(), &mut paths);
    paths.sort();
    paths
}

/// Returns the text of a file, by its path from the root of the project.
pub(crate) fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn walk(root: &Path, folder: &Path, paths: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry of a folder").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let foreign = FOREIGN.contains(&name.as_str()) || path.join(".git").exists() && folder != root;
        if path.is_symlink() || UNCHANGED.iter().any(|foreign| name.contains(foreign)) || path.is_dir() && foreign {
            continue;
        }
        paths.push(path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned());
        if path.is_dir() {
            walk(root, &path, paths);
        }
    }
}

/// Returns whether a file without ending is a script.
fn is_script(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!"))
}
