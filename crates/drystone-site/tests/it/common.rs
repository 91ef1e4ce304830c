//! Files, imports and what is known of jobs, for tests.

use drystone_site::{ImportObserver, ImportOptions, Site, SiteError, import_files};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file of the shared samples; says so where there are none.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = std::env::var_os("DRYSTONE_SHARED").map_or_else(default, PathBuf::from).join("accounting").join(path);
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(file)
}

/// A folder of files that goes away.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(TempDir::new().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and answers where it is.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder");
        }
        fs::write(&path, text).expect("written");
        path
    }
}

/// Opens a file as it is.
pub(crate) fn open(path: &Path) -> std::io::Result<Box<dyn Read>> {
    Ok(Box::new(File::open(path)?))
}

/// Times without a zone are UTC.
pub(crate) fn utc() -> ImportOptions {
    ImportOptions { time_zone: Some("UTC".to_string()), ..ImportOptions::default() }
}

/// Open XDMoD's columns, in UTC.
pub(crate) fn xdmod() -> ImportOptions {
    ImportOptions { columns: Some("xdmod".to_string()), ..utc() }
}

pub(crate) fn try_import(files: &[PathBuf], options: &ImportOptions) -> Result<Site, SiteError> {
    import_files(files, options, &|path| open(path), ImportObserver::default())
}

/// Imports files that can be.
pub(crate) fn imported(files: &[PathBuf], options: &ImportOptions) -> Site {
    try_import(files, options).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn of_text(text: impl AsRef<[u8]>, options: &ImportOptions) -> Site {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", text);
    imported(&[file], options)
}

/// Returns the error of importing a text.
pub(crate) fn error_of(text: impl AsRef<[u8]>, options: &ImportOptions) -> String {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", text);
    match try_import(&[file], options) {
        Ok(site) => panic!("{} jobs were imported", site.len()),
        Err(error) => error.to_string(),
    }
}

/// Rows and jobs of a rule.
pub(crate) fn rule(site: &Site, name: &str) -> (u64, u64) {
    site.manifest.rules.iter().find(|rule| rule.name == name).map_or((0, 0), |rule| (rule.rows, rule.jobs))
}

/// Everything that a workload is made of, of each job: name, times, limit, size, user, partition,
/// what became of it.
pub(crate) type Facts =
    (String, i64, i64, Option<i64>, Option<i64>, Option<u32>, u32, u32, String, String, &'static str);

/// These facts of every job, in order.
pub(crate) fn facts(site: &Site) -> Vec<Facts> {
    let fact_of = |job: drystone_site::SiteJob<'_>| {
        (
            job.display_name(),
            job.submit,
            job.arrive,
            job.start,
            job.end,
            job.run,
            job.limit,
            job.units,
            job.user.to_string(),
            job.partition.to_string(),
            job.kind.name(),
        )
    };
    site.jobs().map(fact_of).collect()
}

/// A site as it is after it was written and read.
pub(crate) fn through_folder(site: &Site) -> (Folder, Site) {
    let folder = Folder::new();
    let path = folder.path("site");
    drystone_site::write_folder(site, &path, &|_| {}).expect("written");
    let site_copy = drystone_site::open_folder(&path).expect("read");
    (folder, site_copy)
}
