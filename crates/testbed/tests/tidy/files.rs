//! The text files of the project.

use std::path::{Path, PathBuf};

/// A text file, by its path from the root of the project.
pub(crate) struct SourceFile {
    pub path: String,
    pub text: String,
}

/// Folders that hold no text of ours: builds, inputs of the fuzzer, the history.
const FOREIGN: [&str; 7] = ["target", ".git", "corpus", "node_modules", "__pycache__", ".venv", "site"];

/// Endings of the files to check.
const ENDINGS: [&str; 14] =
    ["rs", "md", "py", "pyi", "toml", "sh", "lua", "yml", "yaml", "ipynb", "cff", "snap", "css", "service"];

/// Files of other authors, shipped unchanged.
const UNCHANGED: [&str; 1] = ["echarts"];

/// Returns every text file of the project, in the order of their paths.
pub(crate) fn all() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    walk(&root, &root, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<SourceFile>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of a folder").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || UNCHANGED.iter().any(|foreign| name.contains(foreign)) {
            continue;
        }
        if path.is_dir() {
            let submodule = path.join(".git").exists() && folder != root;
            if !FOREIGN.contains(&name.as_str()) && !submodule {
                walk(root, &path, found);
            }
            continue;
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let script = ending.is_empty() && is_script(&path);
        if !script && !ENDINGS.contains(&ending.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let path = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        found.push(SourceFile { path, text });
    }
}

/// Returns whether a file without ending is a script.
fn is_script(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!"))
}
