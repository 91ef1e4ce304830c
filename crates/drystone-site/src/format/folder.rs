//! Writing and reading a site's folder.

use super::loaded::LoadedJobs;
use super::{parquet, render_report, slurm, tables};
use crate::error::SiteError;
use crate::export::Numbering;
use crate::manifest::{Manifest, SCHEMA};
use crate::site::{Site, SiteJobs};
use crate::watch::count_threads;
use ::parquet::errors::ParquetError;
use drystone::policy::{NamedCall, PolicySpec, SpecError};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "site.json";
const JOBS: &str = "jobs.parquet";
const NODES: &str = "nodes.csv";
const CAPACITY: &str = "capacity.csv";
const NODES_OUT: &str = "nodes-out.csv";
const REPORT: &str = "report.txt";
const CONF: &str = "slurm.conf";
const NAMES: &str = "names.csv";
const ACCOUNTS: &str = "accounts.txt";

fn pool_file(pool: u16, name: &str) -> String {
    format!("pool-{}.{name}", pool + 1)
}

pub fn is_site(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Writes a site into a folder that it makes. The folder appears whole or not at all: it is written
/// beside its place and then renamed. A site that is there already is replaced; any other folder
/// with something in it is left alone.
///
/// # Errors
/// The folder is there and no site; it cannot be written.
pub fn write_folder(site: &Site, folder: &Path, on_rows: &dyn Fn(u64)) -> Result<(), SiteError> {
    check_place(folder)?;
    // A link to a site stays: what it leads to is replaced.
    let resolved_path = fs::canonicalize(folder);
    let folder = resolved_path.as_deref().unwrap_or(folder);
    let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = folder.file_name().map_or("site".to_string(), |name| name.to_string_lossy().into_owned());
    let part = parent.join(format!(".{name}.{}.part", std::process::id()));
    let wrong = |path: &Path, source| SiteError::Write { file: path.display().to_string(), source };
    fs::create_dir_all(&part).map_err(|source| wrong(folder, source))?;
    let write_result = fill_folder(site, &part, on_rows).and_then(|()| {
        // What was there goes only when all else is done.
        let old = parent.join(format!(".{name}.{}.old", std::process::id()));
        if folder.exists() {
            fs::rename(folder, &old).map_err(|source| wrong(folder, source))?;
        }
        if let Err(source) = fs::rename(&part, folder) {
            if old.exists() {
                let _ = fs::rename(&old, folder);
            }
            return Err(wrong(folder, source));
        }
        if old.exists() {
            fs::remove_dir_all(&old).map_err(|source| wrong(&old, source))?;
        }
        Ok(())
    });
    if write_result.is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    write_result
}

/// Checks that a site may be written there.
fn check_place(folder: &Path) -> Result<(), SiteError> {
    let refuse =
        |problem: &str| Err(SiteError::NoSite { folder: folder.display().to_string(), problem: problem.to_string() });
    // Also a device, a pipe and a link that leads nowhere.
    if fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        return refuse("this is no folder; give one to be made: --out site/");
    }
    // The folder is replaced as a whole: a shell in it would be left in the old one.
    if let (Ok(place), Ok(current_folder)) = (folder.canonicalize(), std::env::current_dir())
        && current_folder.starts_with(&place)
    {
        return refuse("this is the folder that you are in, or one above it; give one to be made: --out site/");
    }
    let is_occupied = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_occupied && !is_site(folder) {
        return refuse(
            "the folder is there and holds something else; give one that is not there yet, or an imported site to replace",
        );
    }
    Ok(())
}

fn fill_folder(site: &Site, folder: &Path, on_rows: &dyn Fn(u64)) -> Result<(), SiteError> {
    let wrong = |path: &Path, source| SiteError::Write { file: path.display().to_string(), source };
    let put_file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| wrong(&path, source))
    };
    let jobs = folder.join(JOBS);
    let out = File::create(&jobs).map_err(|source| wrong(&jobs, source))?;
    let out = parquet::write_jobs(site, BufWriter::with_capacity(1 << 20, out), count_threads(), on_rows)
        .map_err(|e| wrong(&jobs, io_error(e)))?;
    let write_result = out
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .and_then(|mut file| file.flush().and_then(|()| file.sync_all()));
    write_result.map_err(|source| wrong(&jobs, source))?;
    put_file(NODES, &tables::nodes_text(&site.nodes))?;
    put_file(CAPACITY, &tables::capacity_text(&site.losses, &site.manifest))?;
    if !site.node_losses.is_empty() {
        put_file(NODES_OUT, &tables::node_losses_text(&site.node_losses, &site.manifest))?;
    }
    put_file(REPORT, &render_report(&site.manifest))?;
    if let Some(accounts) = &site.accounts {
        put_file(ACCOUNTS, accounts)?;
    }
    if let Some(conf) = &site.slurm_conf {
        put_file(CONF, conf)?;
        let numbering = Numbering::from_site(site);
        put_file(NAMES, &numbering.names_of_site())?;
        for pool in 0..u16::try_from(site.manifest.pools.len()).unwrap_or(u16::MAX) {
            if let Some(conf) = slurm::of_pool(site, pool) {
                put_file(&pool_file(pool, CONF), &conf)?;
                put_file(&pool_file(pool, NAMES), &numbering.name_lines(pool))?;
            }
        }
    }
    let json = serde_json::to_string_pretty(&site.manifest)
        .map_err(|error| wrong(&folder.join(MANIFEST), io::Error::other(error)))?;
    put_file(MANIFEST, &(json + "\n"))
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        error => io::Error::other(error),
    }
}

/// Returns the texts of a policy for a pool where they differ from those for the whole site: the
/// site's own `slurm.conf` is the pool's own, and `names.csv` its names.
fn policy_texts(folder: &Path, pool: u16, policy: &str) -> Vec<(String, String)> {
    let Ok(folder_path) = folder.canonicalize() else { return Vec::new() };
    let Ok(call) = NamedCall::parse(policy) else { return Vec::new() };
    let own = call.args.iter().filter_map(|(_, word)| {
        let path = Path::new(word);
        let name = path.file_name()?.to_str().filter(|name| [CONF, NAMES].contains(name))?;
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = parent.join(pool_file(pool, name));
        (parent.canonicalize().ok()? == folder_path && file.is_file())
            .then(|| (word.clone(), file.display().to_string()))
    });
    own.collect()
}

impl Site {
    /// Texts in the text of a policy that are others for one pool: `slurm.conf` in the folder of
    /// the site becomes that of the pool.
    pub fn policy_texts(&self, pool: u16, policy: &PolicySpec) -> Vec<(String, String)> {
        self.folder.as_deref().map(|folder| policy_texts(folder, pool, policy.text())).unwrap_or_default()
    }

    /// A policy as one pool has it.
    ///
    /// # Errors
    /// The pool's own files are none that the policy takes.
    pub fn pool_policy(&self, pool: u16, policy: &PolicySpec) -> Result<PolicySpec, SpecError> {
        let texts = self.policy_texts(pool, policy);
        if texts.is_empty() {
            return Ok(policy.clone());
        }
        texts.iter().fold(policy.text().to_string(), |text, (from, to)| text.replace(from.as_str(), to)).parse()
    }
}

/// Reads a site's folder.
///
/// # Errors
/// It is none, of another version, or damaged.
pub fn open_folder(folder: &Path) -> Result<Site, SiteError> {
    let refuse = |problem: String| SiteError::NoSite { folder: folder.display().to_string(), problem };
    let damage_error =
        |name: &str, problem: String| SiteError::Damaged { file: folder.join(name).display().to_string(), problem };
    let read_file = |name: &str| -> Result<String, SiteError> {
        let path: PathBuf = folder.join(name);
        fs::read_to_string(&path).map_err(|source| SiteError::Unreadable { file: path.display().to_string(), source })
    };
    if folder.is_file() {
        return Err(refuse(format!(
            "it is a file, and a site is a folder; `drystone import {} --out site/` makes one of it",
            folder.display()
        )));
    }
    if !folder.exists() {
        return Err(refuse(
            "there is no such folder; `drystone import FILE --out site/` makes one of accounting".to_string(),
        ));
    }
    if !is_site(folder) {
        return Err(refuse(format!(
            "there is no {MANIFEST} in it; `drystone import JOBS --out {}` makes one",
            folder.display()
        )));
    }
    let text = read_file(MANIFEST)?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| damage_error(MANIFEST, format!("no JSON: {e}")))?;
    let schema = value["schema"].as_str().unwrap_or("none").to_string();
    if schema != SCHEMA {
        return Err(refuse(format!(
            "its format is `{schema}`, and this program reads `{SCHEMA}`; import the accounting again"
        )));
    }
    let manifest: Manifest = serde_json::from_value(value).map_err(|e| damage_error(MANIFEST, e.to_string()))?;
    let pools: Vec<String> = manifest.pools.iter().map(|pool| pool.name.clone()).collect();
    let jobs = folder.join(JOBS);
    let file =
        File::open(&jobs).map_err(|source| SiteError::Unreadable { file: jobs.display().to_string(), source })?;
    let mut loaded_jobs = LoadedJobs::default();
    let mut problem = None;
    parquet::read_groups(file, |cells, rows| {
        if problem.is_none() {
            problem = loaded_jobs.take_group(cells, rows, &pools).err();
        }
    })
    .map_err(|error| damage_error(JOBS, error.to_string()))?;
    if let Some(problem) = problem {
        return Err(damage_error(JOBS, problem));
    }
    if loaded_jobs.len() as u64 != manifest.jobs {
        return Err(damage_error(JOBS, format!("{} jobs, and {MANIFEST} says {}", loaded_jobs.len(), manifest.jobs)));
    }
    let nodes = tables::parse_nodes(&read_file(NODES)?).map_err(|problem| damage_error(NODES, problem))?;
    let losses =
        tables::parse_capacity(&read_file(CAPACITY)?, &manifest).map_err(|problem| damage_error(CAPACITY, problem))?;
    let node_losses = match folder.join(NODES_OUT).is_file() {
        true => tables::node_losses(&read_file(NODES_OUT)?, &manifest)
            .map_err(|problem| damage_error(NODES_OUT, problem))?,
        false => Vec::new(),
    };
    let maybe = |name: &str| if folder.join(name).is_file() { read_file(name).map(Some) } else { Ok(None) };
    let (slurm_conf, accounts) = (maybe(CONF)?, maybe(ACCOUNTS)?);
    Ok(Site {
        manifest,
        nodes,
        losses,
        node_losses,
        jobs: SiteJobs::Loaded(Box::new(loaded_jobs)),
        slurm_conf,
        accounts,
        folder: Some(folder.to_path_buf()),
        keeps_limits: true,
        on_nodes: false,
        fill: None,
    })
}
