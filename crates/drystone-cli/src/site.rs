//! Imported sites: which folder and pool a path names, and what a site says beyond its jobs.

use crate::exit::{CommandFailure, FINDING};
use crate::meta::FileMeta;
use crate::output::file::OutputFile;
use crate::output::message;
use crate::output::number::{format_count, format_plural};
use crate::progress::{CountedReader, WorkProgress};
use drystone::experiment::PoolDivision;
use drystone::log::source::LogFile;
use drystone::log::swf::SwfRecord;
use drystone::log::{LogError, file_title as log_title};
use drystone::metrics::JobSelection;
use drystone::model::{Outages, Span};
use drystone::policy::PolicySpec;
pub(crate) use drystone_site::is_site;
use drystone_site::{Site, SiteJobFate};
use drystone_slurm::conf::{ConfRemark, SlurmConf, Topic};
use drystone_slurm::policy::SLURM;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Data of a site beyond its jobs.
#[derive(Clone, Debug)]
pub(crate) struct SiteInput {
    pub(crate) site: Arc<Site>,
    pub(crate) folder: PathBuf,
    /// The pools that are simulated.
    pub(crate) pools: Vec<u16>,
    /// Capacity that the single pool lacks over time.
    pub(crate) outages: Outages,
    /// Division of the jobs among several pools.
    pub(crate) division: Option<PoolDivision>,
    pub(crate) selection: JobSelection,
    /// For each job its place in the site.
    pub(crate) places: Vec<u32>,
    /// True if jobs share limits of QOS, accounts and users.
    pub(crate) limited: bool,
    /// True if only the jobs of the site are used.
    pub(crate) plain: bool,
}

/// The folder of a site and the name of a pool: `site/`, `site/#gpu`, `site/site.json`.
pub(crate) fn split_site_path(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if is_site(path) {
        return Some((path.to_path_buf(), None));
    }
    let text = path.to_str()?;
    if let Some(folder) = text.strip_suffix("site.json")
        && path.is_file()
    {
        let folder = PathBuf::from(if folder.is_empty() { "." } else { folder });
        return is_site(&folder).then_some((folder, None));
    }
    let (folder, pool) = text.rsplit_once('#')?;
    let folder = PathBuf::from(folder);
    is_site(&folder).then(|| (folder, Some(pool.to_string())))
}

/// Opens a site, and finds the pool that is named.
pub(crate) fn open_site(path: &Path) -> Result<(Site, Option<u16>), CommandFailure> {
    let (folder, name) = split_site_path(path).unwrap_or_else(|| (path.to_path_buf(), None));
    let site = drystone_site::open_folder(&folder)?;
    let pool = name.map(|name| find_pool(&site, &folder, &name).map_err(CommandFailure::usage_error)).transpose()?;
    Ok((site, pool))
}

fn find_pool(site: &Site, folder: &Path, name: &str) -> Result<u16, String> {
    site.find_pool(name).ok_or_else(|| {
        let pools: Vec<&str> = site.manifest.pools.iter().map(|pool| pool.name.as_str()).collect();
        format!("{}: no pool is called `{name}`; the pools are {}", folder.display(), pools.join(", "))
    })
}

/// The path of the pool that a job ran in, where a path names a site as a whole and the job is not
/// in its largest pool; else the path itself.
pub(crate) fn path_of_job(path: &Path, job: &str) -> PathBuf {
    let own = || path.to_path_buf();
    let Some((folder, None)) = split_site_path(path) else { return own() };
    let Ok(site) = drystone_site::open_folder(&folder) else { return own() };
    let pool = (0..site.len())
        .map(|at| site.job_at(at))
        .find(|job_entry| job_entry.display_name() == job)
        .map(|job_entry| job_entry.pool);
    match pool.and_then(|pool| (pool != busiest_pool(&site)).then(|| site.manifest.pools.get(usize::from(pool)))?) {
        Some(pool) => PathBuf::from(format!("{}#{}", folder.display(), pool.name)),
        None => own(),
    }
}

/// A site as a log, for everything that reads one: the pool that is named, else the largest.
pub(crate) fn as_log(path: &Path) -> Option<Result<LogFile, LogError>> {
    let (folder, name) = split_site_path(path)?;
    let wrong =
        |problem: String| LogError::Open { file: path.display().to_string(), source: io::Error::other(problem) };
    let open_log = || {
        let site = drystone_site::open_folder(&folder).map_err(|error| wrong(error.to_string()))?;
        let pool = match &name {
            Some(name) => find_pool(&site, &folder, name).map_err(wrong)?,
            None => largest_pool(&site, path),
        };
        Ok(LogFile { bytes: Box::new(site.into_log(pool)), name: path.display().to_string().into() })
    };
    Some(open_log())
}

/// The pool with the most work.
pub(crate) fn busiest_pool(site: &Site) -> u16 {
    let pools = &site.manifest.pools;
    let best = (0..pools.len()).max_by_key(|&at| (pools[at].core_seconds, pools[at].jobs, usize::MAX - at));
    u16::try_from(best.unwrap_or(0)).unwrap_or(0)
}

/// The pool with the most work. Says that there are others.
pub(crate) fn largest_pool(site: &Site, path: &Path) -> u16 {
    let pools = &site.manifest.pools;
    let best = busiest_pool(site);
    let other_count = pools.iter().filter(|pool| pool.jobs > 0).count().saturating_sub(1);
    if other_count > 0 {
        let name = &pools[usize::from(best)].name;
        message::print_note(&format!(
            "{}: this is the pool {name}, of {} with jobs; {}#POOL names another",
            path.display(),
            other_count + 1,
            path.display()
        ));
    }
    best
}

/// Checks that a path names one pool where its site has jobs in several.
///
/// # Errors
/// It names none of them: what would be read is a part of the site.
pub(crate) fn one_pool(path: &Path) -> Result<(), CommandFailure> {
    if !matches!(split_site_path(path), Some((_, None))) {
        return Ok(());
    }
    let (site, _) = open_site(path)?;
    let pools: Vec<_> = site.manifest.pools.iter().filter(|pool| pool.jobs > 0).collect();
    if site.manifest.swf.is_some() || pools.len() < 2 {
        return Ok(());
    }
    let best = &site.manifest.pools[usize::from(busiest_pool(&site))];
    let names: Vec<&str> = pools.iter().map(|pool| pool.name.as_str()).collect();
    let path = path.display();
    Err(CommandFailure::Message {
        code: FINDING,
        text: format!(
            "{path}: {} of {} jobs: pool {name}; {path}#{name} reads it, and {path}#POOL another of {}",
            format_count(best.jobs),
            format_count(site.manifest.jobs),
            names.join(", "),
            name = best.name,
        ),
    })
}

/// The policy of a site's own Slurm; `None` for a path that is no site, and a site without a
/// `slurm.conf` that describes its nodes.
pub(crate) fn own_policy(path: Option<&Path>) -> Result<Option<PolicySpec>, CommandFailure> {
    let Some((folder, _)) = path.and_then(split_site_path) else { return Ok(None) };
    let conf = folder.join("slurm.conf");
    if !conf.is_file() || !folder.join("pool-1.slurm.conf").is_file() {
        return Ok(None);
    }
    let plain: PolicySpec = SLURM.name.parse()?;
    Ok(Some(drystone_site::with_conf(&plain, &conf)?))
}

/// Returns a policy as it is meant on a path: on a site, Slurm's own changes settings of the
/// site's `slurm.conf` unless it names another one.
pub(crate) fn meant_policy(path: &Path, spec: &PolicySpec) -> Result<PolicySpec, CommandFailure> {
    match (own_policy(Some(path))?, split_site_path(path)) {
        (Some(_), Some((folder, _))) => Ok(drystone_site::with_conf(spec, &folder.join("slurm.conf"))?),
        _ => Ok(spec.clone()),
    }
}

/// Returns a policy as a study means it on the log or site of a path: of a site, as the pool has it
/// that is read as a log.
#[cfg(feature = "sweep")]
pub(crate) fn localised_policy(path: &Path, spec: &PolicySpec) -> Result<PolicySpec, String> {
    let failure_text = |failure: CommandFailure| failure.message().to_string();
    if spec.kind().name != SLURM.name || split_site_path(path).is_none() {
        return Ok(spec.clone());
    }
    let meant = meant_policy(path, spec).map_err(failure_text)?;
    let (site, pool) = open_site(path).map_err(failure_text)?;
    site.pool_policy(pool.unwrap_or_else(|| busiest_pool(&site)), &meant).map_err(|error| error.problem)
}

/// As many threads as there are processors.
pub(crate) fn thread_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(crate) fn site_places(records: &[SwfRecord]) -> Vec<u32> {
    records.iter().map(|record| u32::try_from(record.line.saturating_sub(1)).unwrap_or(u32::MAX)).collect()
}

impl SiteInput {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the length of the window in which the jobs were recorded. Where they arrive at other
    /// times than they did, it says nothing of them.
    pub(crate) fn recorded_window(&self) -> Option<Span> {
        let window = &self.site.manifest.window;
        (!self.plain).then(|| Span(window.until - window.from))
    }

    /// Returns the capacity that the machine lacks, and the site's files beyond its jobs.
    pub(crate) fn read_outages(&self) -> Result<(Outages, Option<FileMeta>, Option<FileMeta>), CommandFailure> {
        if self.plain {
            return Ok((Outages::default(), None, None));
        }
        let meta = |name: &str| -> Result<FileMeta, CommandFailure> {
            let file = self.folder.join(name);
            let text = std::fs::read_to_string(&file).map_err(|error| {
                CommandFailure::usage_error(format_args!("{}: cannot be read: {error}", file.display()))
            })?;
            Ok(FileMeta::from_text(file.display().to_string(), &text))
        };
        let lacks = (self.pools.iter()).any(|&pool| self.site.losses.iter().any(|loss| loss.pool == pool));
        let outages = lacks.then(|| meta("capacity.csv")).transpose()?;
        Ok((self.outages.clone(), outages, Some(meta("site.json")?)))
    }

    pub(crate) fn lacks_capacity(&self) -> bool {
        !self.plain && !self.outages.is_empty()
    }

    /// Returns the division of the jobs among several pools.
    pub(crate) fn pool_division(&self) -> Option<&PoolDivision> {
        self.division.as_ref()
    }

    /// Lets policies of the site's `slurm.conf` be, in each pool, of that of the pool.
    pub(crate) fn localise_policies<'a>(&mut self, specs: impl IntoIterator<Item = &'a PolicySpec>) {
        let meant = |spec: &'a PolicySpec| meant_policy(&self.folder, spec).unwrap_or_else(|_| spec.clone());
        let specs: Vec<PolicySpec> = specs.into_iter().map(meant).collect();
        let texts = |pool: u16| specs.iter().flat_map(|spec| self.site.policy_texts(pool, spec)).collect();
        let pool_texts: Vec<Vec<(String, String)>> = self.pools.iter().map(|&pool| texts(pool)).collect();
        if let Some(division) = &mut self.division {
            pool_texts.into_iter().enumerate().for_each(|(at, texts)| division.replace_texts(at, texts));
        }
    }

    /// A policy as it is simulated: of several pools each has its own.
    pub(crate) fn simulated_policy(&self, spec: &PolicySpec) -> Result<PolicySpec, CommandFailure> {
        let spec = meant_policy(&self.folder, spec)?;
        match self.pools[..] {
            [pool] => self
                .site
                .pool_policy(pool, &spec)
                .map_err(|error| CommandFailure::usage_error(format_args!("policy {spec}: {error}"))),
            _ => Ok(spec),
        }
    }

    pub(crate) fn slurm_conf(&self) -> Option<PathBuf> {
        let conf = self.folder.join("slurm.conf");
        conf.is_file().then_some(conf)
    }

    /// The recorded wait of a job that ran, in seconds.
    pub(crate) fn recorded_wait(&self, at: usize) -> Option<i64> {
        let job = self.site.job_at(*self.places.get(at)? as usize);
        job.wait().filter(|_| job.kind == SiteJobFate::Ran)
    }

    /// Describes the assumptions about the machine, for people.
    pub(crate) fn describe_assumptions(&self) -> String {
        let pools = &self.site.manifest.pools;
        let on_nodes = self.site.is_on_nodes();
        let describe_pool = |&pool: &u16| {
            let summary = &pools[usize::from(pool)];
            if on_nodes {
                let nodes = format_plural(u64::from(summary.nodes), "node");
                return format!(
                    "{} with {} on {nodes}",
                    summary.name,
                    format_plural(u64::from(summary.units), "processor")
                );
            }
            format!(
                "{} with {}",
                summary.name,
                format_plural(u64::from(summary.units), &format!("equal {}", summary.unit.name()))
            )
        };
        let pool_descriptions: Vec<String> = self.pools.iter().take(4).map(describe_pool).collect();
        let more = if self.pools.len() > 4 {
            format!(" and {} more", format_count(self.pools.len() as u64 - 4))
        } else {
            String::new()
        };
        let side = if self.pools.len() > 1 { "Pools that share no node, side by side" } else { "One pool" };
        let outage_text = if self.plain { "nothing is ever out" } else { "capacity that was out is out" };
        let size_text = match on_nodes {
            true => {
                "Jobs are on nodes, with memory, devices, features and licences, unless --on-nodes or --resources says otherwise."
            }
            false => "A job's size is its dominant share; no places of nodes.",
        };
        let limits = if self.limited {
            "Limits of QOS, accounts and users hold for every policy."
        } else {
            "No limits of QOS, accounts and users hold."
        };
        format!("{side}: {}{more}; {outage_text}. {size_text} {limits}", pool_descriptions.join(", "))
    }
}

/// A site as a log, counted as it is read.
pub(crate) fn open_counted_log(path: &Path) -> Option<Result<LogFile, LogError>> {
    let log_source = as_log(path)?;
    Some(log_source.map(|source| {
        let progress = WorkProgress::new("reading", "bytes", None);
        LogFile { bytes: Box::new(CountedReader { input: source.bytes, progress }), name: source.name }
    }))
}

/// Returns the length of the window in which a site's jobs were recorded; `None` for a path that is
/// no site, and for one that was made of a log.
pub(crate) fn recorded_window(path: &Path) -> Option<Span> {
    let (folder, _) = split_site_path(path)?;
    let site = drystone_site::open_folder(&folder).ok().filter(|site| site.manifest.swf.is_none())?;
    Some(Span(site.manifest.window.until - site.manifest.window.from))
}

/// Tells once for each `slurm.conf` that policies name what is worth knowing about it.
pub(crate) fn tell_remarks<'a>(specs: impl IntoIterator<Item = &'a PolicySpec>) {
    for spec in specs.into_iter().filter(|spec| spec.kind().name == SLURM.name) {
        let parameters = spec.parameters();
        let conf = parameters.iter().find(|(name, value)| *name == "conf" && value != "none");
        if let Some((_, path)) = conf {
            let has_begin_date = parameters.iter().any(|(name, value)| *name == "begins" && value != "auto");
            remarks_of(Path::new(path), has_begin_date);
        }
    }
}

/// Begin of the remark on use that is forgotten on days of the calendar.
const RESET_REMARK: &str = "PriorityUsageResetPeriod=";

/// Tells once what is worth knowing about a `slurm.conf`; of one that an import has written, only
/// that the import told it. One that does not read is an error elsewhere. Where the policy is
/// `dated`, use is forgotten on the days of the calendar, and no remark on them is printed.
pub(crate) fn remarks_of(path: &Path, is_dated: bool) {
    let Ok(mut conf) = SlurmConf::read_file(path) else { return };
    conf.remarks.retain(|remark| !(is_dated && remark.text.starts_with(RESET_REMARK)));
    if let Some(parent) = path.parent().filter(|parent| !conf.remarks.is_empty() && split_site_path(parent).is_some()) {
        if is_new(format!("site {}", parent.display())) {
            let count = format_plural(conf.remarks.len() as u64, "remark");
            message::print_note(&format!("{}: {count}, as at its import", parent.join("slurm.conf").display()));
        }
        return;
    }
    tell_each(&conf.remarks);
}

/// Tells what is worth knowing about a `slurm.conf` that is imported as `known`, which has what
/// the cluster says of settings that the file leaves open.
pub(crate) fn remarks_at_import(path: &Path, import_text: &str) {
    let Ok(conf) = SlurmConf::read_file(path) else { return };
    let assumed_remarks = SlurmConf::parse(import_text, path).map_or_else(|_| Vec::new(), |conf| conf.remarks);
    let holds = |own: &ConfRemark| {
        own.topic != Topic::Assumed
            || assumed_remarks.iter().any(|remark| remark.topic == own.topic && remark.text == own.text)
    };
    tell_each(conf.remarks.iter().filter(|own| holds(own)));
}

fn tell_each<'a>(remarks: impl IntoIterator<Item = &'a ConfRemark>) {
    for remark in remarks {
        // A copy of the file has nothing new to say.
        if is_new(format!("{}: {}", remark.topic, remark.text)) {
            message::print_warning(&remark.to_string());
        }
    }
}

/// Returns whether this is the first remark of its kind.
fn is_new(text: String) -> bool {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    TOLD.lock().is_ok_and(|mut texts| texts.insert(text))
}

/// Registers Slurm's own schedulers as policies.
pub(crate) fn register_policies() -> Result<(), String> {
    drystone_slurm::policy::register_policy().map_err(|error| error.to_string())
}

/// Refuses no folder: this build reads sites.
pub(crate) fn refuse_folder(_path: &Path) -> Result<(), CommandFailure> {
    Ok(())
}

/// Writes what a log cannot hold of a site into tables beside the log.
pub(crate) fn write_tables_beside(log: &Path, out: &Path) -> Result<(), CommandFailure> {
    if out.as_os_str() == "-" || split_site_path(log).is_none() {
        return Ok(());
    }
    let (site, pool) = open_site(log)?;
    if site.manifest.swf.is_some() {
        return Ok(());
    }
    let beside =
        site.beside_tables(pool.unwrap_or_else(|| busiest_pool(&site))).map_err(CommandFailure::usage_error)?;
    let stem = log_title(out);
    let tables = [("outages", beside.outages), ("circumstances", beside.circumstances)];
    let mut options = Vec::new();
    for (name, table) in tables {
        let Some(table) = table else { continue };
        let path = out.with_file_name(format!("{stem}.{name}.csv"));
        let mut file = OutputFile::create(&path)?;
        file.write_all(&table).map_err(|error| CommandFailure::write_error(file.name(), &error))?;
        file.finish()?;
        options.push(format!("--{name} {}", path.display()));
    }
    if !options.is_empty() {
        message::print_note(&format!("facts beyond the log's format are beside it: {}", options.join(" ")));
    }
    Ok(())
}
