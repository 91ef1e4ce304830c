//! Files that lie beside the checkout and are no part of it.

use std::path::PathBuf;

/// A file or folder of the shared material, or `None` with a loud word where it is missing.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DRYSTONE_SHARED").map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let found = root.join(path);
    if !found.exists() {
        eprintln!("SKIPPED: {} is not there; set DRYSTONE_SHARED", found.display());
        return None;
    }
    Some(found)
}
