//! Files that lie beside the checkout and are no part of it.

use std::path::PathBuf;

/// A file or folder of the shared material, or `None` with a loud word where it is missing.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DRYSTONE_SHARED").map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let full_path = root.join(path);
    if !full_path.exists() {
        eprintln!("SKIPPED: {} is not there; set DRYSTONE_SHARED", full_path.display());
        return None;
    }
    Some(full_path)
}
