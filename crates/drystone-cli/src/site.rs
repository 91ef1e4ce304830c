//! Imported sites as workloads.

use crate::exit::Failure;
use drystone_site::{Site, is_site};
use std::path::{Path, PathBuf};

/// The folder of a site and the name of a pool: `site/`, `site/#gpu`, `site/site.json`.
pub(crate) fn folder(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if is_site(path) {
        return Some((path.to_path_buf(), None));
    }
    let text = path.to_str()?;
    if let Some(folder) = text.strip_suffix("site.json")
        && path.is_file()
    {
        let folder = if folder.is_empty() { "." } else { folder };
        return Some((PathBuf::from(folder), None));
    }
    let (folder, pool) = text.rsplit_once('#')?;
    let folder = PathBuf::from(folder);
    is_site(&folder).then(|| (folder, Some(pool.to_string())))
}

/// Opens a site, and finds the pool that is named.
pub(crate) fn open(path: &Path) -> Result<(Site, Option<u16>), Failure> {
    let (folder, name) = folder(path).unwrap_or_else(|| (path.to_path_buf(), None));
    let site = drystone_site::open(&folder)?;
    let Some(name) = name else { return Ok((site, None)) };
    match site.pool(&name) {
        Some(pool) => Ok((site, Some(pool))),
        None => {
            let pools: Vec<&str> = site.manifest.pools.iter().map(|pool| pool.name.as_str()).collect();
            Err(Failure::usage(format_args!("{}: no pool is called `{name}`; the pools are {}", folder.display(), pools.join(", "))))
        }
    }
}

/// As many threads as there are processors.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
