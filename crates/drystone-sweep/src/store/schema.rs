//! Layout of a store, and recognition of its files.

use super::Store;
use crate::error::SweepError;
use crate::{DesignLevel, SweepChunk, SweepMetric, SweepPlan, VERSION};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "DRYS": marks an SQLite file as a store.
const APPLICATION: i64 = 0x4452_5953;
const LAYOUT: i64 = 4;
/// Time a writer waits for readers and a reader for writers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names and values in the head of a store.
#[derive(Clone, Debug)]
pub(super) struct StoreHead {
    pub(super) meta: Vec<(&'static str, String)>,
    /// Columns of `result` for parameters, with their types.
    pub(super) parameters: Vec<(String, String)>,
    pub(super) metrics: Vec<MetricColumn>,
    pub(super) workloads: Vec<WorkloadRow>,
}

/// Name in the head of the programs that policies call.
pub(super) const PROGRAMS: &str = "programs";

/// Kinds of the columns of metrics: of the catalogue, and of the program that made the store.
pub(super) const METRIC: &str = "metric";
const OWN_METRIC: &str = "own metric";

#[derive(Clone, PartialEq, Debug)]
pub(super) struct MetricColumn {
    pub(super) name: String,
    pub(super) kind: String,
    /// The type of its values; of a program's own metric its identity.
    pub(super) of: String,
}

impl MetricColumn {
    pub(super) fn new(metric: &SweepMetric) -> MetricColumn {
        let (kind, of) = match metric {
            SweepMetric::Known(_) => (METRIC, "REAL"),
            SweepMetric::Own(own) => (OWN_METRIC, own.identity.as_str()),
        };
        MetricColumn { name: metric.id(), kind: kind.to_string(), of: of.to_string() }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct WorkloadRow {
    pub(super) label: String,
    pub(super) name: String,
    /// The log that it comes from: a file, or a generator with its seed.
    pub(super) log: String,
    /// Divisor of the submit times; 1 where they were not scaled.
    pub(super) load: f64,
    pub(super) month: Option<String>,
    pub(super) slice: Option<String>,
    pub(super) change: Option<String>,
    pub(super) seed: Option<i64>,
    pub(super) hash: String,
    pub(super) jobs: i64,
    pub(super) procs: i64,
    pub(super) trim: String,
    pub(super) cleaning: String,
    /// Other input that determines results: hashes of platform, priorities, outages.
    pub(super) given: String,
}

impl StoreHead {
    pub(super) fn from_plan(plan: &SweepPlan, chunk: Option<SweepChunk>) -> StoreHead {
        let places: Vec<usize> = plan.simulation_places(chunk).collect();
        let configurations: usize = places.iter().map(|&p| plan.simulations[p].configurations.len()).sum();
        let meta = vec![
            ("study", plan.name.clone()),
            ("file", plan.file.clone()),
            ("text", plan.text.clone()),
            ("plan", plan.hash.clone()),
            ("chunk", chunk.map_or(String::new(), |c| c.to_string())),
            ("simulations", places.len().to_string()),
            ("configurations", configurations.to_string()),
            ("all_simulations", plan.simulations.len().to_string()),
            ("all_configurations", plan.configurations.len().to_string()),
            ("jobs", plan.count_jobs(&places).to_string()),
            ("all_jobs", plan.count_jobs(&plan.simulation_places(None).collect::<Vec<_>>()).to_string()),
            ("drystone", VERSION.to_string()),
            (PROGRAMS, serde_json::json!(plan.programs).to_string()),
        ];
        let parameters =
            plan.parameters.iter().enumerate().map(|(at, name)| (name.clone(), column_type(plan, at))).collect();
        let workloads = plan
            .cases
            .iter()
            .map(|case| WorkloadRow {
                label: case.label(),
                name: case.name.clone(),
                log: case.log.clone(),
                load: case.load_factor(),
                month: case.month.clone(),
                slice: case.slice.clone(),
                change: case.change.clone(),
                seed: case.seed.map(|s| s as i64),
                hash: case.hash.clone(),
                jobs: case.workload.len() as i64,
                procs: i64::from(case.workload.machine().procs),
                trim: case.trim.to_string(),
                cleaning: case.cleaning_text(),
                given: case.given.settings.clone(),
            })
            .collect();
        StoreHead { meta, parameters, metrics: plan.metrics.iter().map(MetricColumn::new).collect(), workloads }
    }
}

fn column_type(plan: &SweepPlan, at: usize) -> String {
    let (mut whole, mut number) = (true, true);
    for configuration in &plan.configurations {
        match configuration.point[at] {
            None | Some(DesignLevel::Int(_)) => {}
            Some(DesignLevel::Real(_)) => whole = false,
            Some(DesignLevel::Text(_) | DesignLevel::Bool(_)) => (whole, number) = (false, false),
        }
    }
    let name = if whole {
        "INTEGER"
    } else if number {
        "REAL"
    } else {
        "TEXT"
    };
    name.to_string()
}

/// First bytes of an SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Refuses what is no database: before there is a lock beside it, and before an open waits for a
/// pipe.
pub(super) fn refuse_strangers(path: &Path) -> Result<(), SweepError> {
    let mut begin = Vec::with_capacity(MAGIC.len());
    // A directory, or a named pipe, whose opening would wait for a writer.
    if path.exists() && !path.is_file() {
        return Err(SweepError::store_error(path.display(), "is no sweep store: not a file"));
    }
    let Ok(file) = File::open(path) else { return Ok(()) };
    match file.take(MAGIC.len() as u64).read_to_end(&mut begin) {
        // What cannot be read is SQLite's to tell.
        Ok(_) if !begin.is_empty() && begin != MAGIC => Err(SweepError::stranger_error(path.display())),
        _ => Ok(()),
    }
}

/// The file beside a store whose lock the writer holds.
pub(super) fn lock_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".lock");
    name.into()
}

/// Locks a store against other writers; the system unlocks when the process ends, however it ends.
pub(super) fn lock_store(path: &Path) -> Result<File, SweepError> {
    let name = lock_file(path);
    let fail = |e: std::io::Error| {
        let problem = match e.kind() {
            std::io::ErrorKind::NotFound => "cannot be made: its directory does not exist; make it first".to_string(),
            _ => format!("cannot be locked: {e}"),
        };
        SweepError::store_error(path.display(), problem)
    };
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(&name).map_err(fail)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &name) => return Ok(file),
            // Removed with its store between opening and locking: the lock of another file counts.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SweepError::Locked { store: path.display().to_string() }),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
}

/// Returns whether a path still leads to an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (file.metadata().map(identity), std::fs::metadata(path).map(identity)) {
        (Ok(open), Ok(path_identity)) => open == path_identity,
        (_, Err(e)) => e.kind() != std::io::ErrorKind::NotFound,
        (Err(_), _) => true,
    }
}

/// Returns whether a path still leads to an open file: nothing else is known to remove one here.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

pub(super) fn connect_database(path: &Path, write: bool) -> Result<Connection, SweepError> {
    let fail = |e| SweepError::database_error(path.display(), e);
    // Also to look, for the journal of a writer that was killed may have to be rolled back.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = if write {
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_CREATE).map_err(fail)?
    } else {
        Connection::open_with_flags(path, flags)
            .or_else(|_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY))
            .map_err(fail)?
    };
    db.busy_timeout(PATIENCE).map_err(fail)?;
    if write {
        // SQLite's defaults, said outright because all safety rests on them.
        db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).map_err(fail)?;
        db.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
    } else {
        db.pragma_update(None, "query_only", true).map_err(fail)?;
    }
    Ok(db)
}

/// Returns the first difference between two study files, in words; empty if they are equal and
/// something else differs.
fn first_difference(before: &str, now: &str) -> String {
    let (mut before, mut now) = (before.lines(), now.lines());
    let say = |line: Option<&str>| line.map_or("nothing".to_string(), |line| format!("`{}`", line.trim()));
    for number in 1.. {
        match (before.next(), now.next()) {
            (None, None) => break,
            (then, new_line) if then == new_line => {}
            (then, new_line) => {
                return format!("; the files differ from line {number}: {} then, {} now", say(then), say(new_line));
            }
        }
    }
    String::new()
}

/// Makes the tables of a store, with what it says of itself.
pub(super) fn lay_out(transaction: &Transaction<'_>, head: &StoreHead) -> rusqlite::Result<()> {
    let columns: Vec<String> = head
        .parameters
        .iter()
        .map(|(name, kind)| format!("{} {kind}", quote_name(name)))
        .chain(head.metrics.iter().map(|metric| format!("{} REAL", quote_name(&metric.name))))
        .collect();
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION};
         PRAGMA user_version = {LAYOUT};
         CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
         CREATE TABLE columns (place INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL);
         CREATE TABLE workload (
             label TEXT PRIMARY KEY, name TEXT NOT NULL, log TEXT NOT NULL, load REAL NOT NULL, month TEXT, slice TEXT, change TEXT, seed INTEGER,
             hash TEXT NOT NULL, jobs INTEGER NOT NULL, procs INTEGER NOT NULL,
             trim TEXT NOT NULL, cleaning TEXT NOT NULL, given TEXT NOT NULL);
         CREATE TABLE session (
             id INTEGER PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL,
             simulations INTEGER NOT NULL, jobs INTEGER NOT NULL, workers TEXT NOT NULL,
             drystone TEXT NOT NULL);
         CREATE TABLE week (
             simulation INTEGER NOT NULL, metric TEXT NOT NULL, sums BLOB NOT NULL,
             PRIMARY KEY (simulation, metric)) WITHOUT ROWID;
         CREATE TABLE again (simulation INTEGER PRIMARY KEY);
         CREATE TABLE result (
             configuration INTEGER PRIMARY KEY, simulation INTEGER NOT NULL, study TEXT NOT NULL,
             workload TEXT NOT NULL, workload_hash TEXT NOT NULL, load REAL NOT NULL, month TEXT, slice TEXT, change TEXT, seed INTEGER,
             trim TEXT NOT NULL, name TEXT NOT NULL, policy TEXT NOT NULL, simulated TEXT NOT NULL,
             parameters TEXT NOT NULL, drystone TEXT NOT NULL, {}, error TEXT);",
        columns.join(", ")
    ))?;
    for (name, value) in &head.meta {
        transaction.execute("INSERT INTO meta VALUES (?, ?)", params![name, value])?;
    }
    let parameters = head.parameters.iter().map(|(name, kind)| (name, "parameter", kind.as_str()));
    let metrics = head.metrics.iter().map(|metric| (&metric.name, metric.kind.as_str(), metric.of.as_str()));
    for (at, (name, kind, of)) in parameters.chain(metrics).enumerate() {
        transaction.execute("INSERT INTO columns VALUES (?, ?, ?, ?)", params![at as i64, name, kind, of])?;
    }
    for w in &head.workloads {
        transaction.execute(
            "INSERT INTO workload VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                w.label, w.name, w.log, w.load, w.month, w.slice, w.change, w.seed, w.hash, w.jobs, w.procs, w.trim,
                w.cleaning, w.given
            ],
        )?;
    }
    Ok(())
}

/// A name as SQL wants it.
pub(super) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Store {
    /// Returns whether the file is still empty.
    pub(crate) fn is_new(&self) -> Result<bool, SweepError> {
        let tables: i64 = self
            .db
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(|e| self.database_error(e))?;
        Ok(tables == 0)
    }

    /// Lays out a new store, in one transaction.
    pub(super) fn create_tables(&self, head: &StoreHead) -> Result<(), SweepError> {
        let make = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            lay_out(&transaction, head)?;
            transaction.commit()
        };
        make().map_err(|e| self.database_error(e))
    }

    /// Returns the head's value under this name.
    pub(super) fn meta_value(&self, name: &str) -> Result<String, SweepError> {
        let value: Option<String> = self
            .db
            .query_row("SELECT value FROM meta WHERE name = ?", [name], |row| row.get(0))
            .optional()
            .map_err(|e| self.database_error(e))?;
        value.ok_or_else(|| self.store_error(format!("is damaged: its table meta lacks `{name}`")))
    }

    /// Checks that this version knows the layout of the store.
    pub(super) fn check_schema(&self) -> Result<(), SweepError> {
        let pragma = |name: &str| -> Result<i64, SweepError> {
            self.db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).map_err(|e| self.database_error(e))
        };
        if pragma("application_id")? != APPLICATION {
            return Err(self.store_error("is no sweep store: an SQLite database of something else"));
        }
        let layout = pragma("user_version")?;
        if layout != LAYOUT {
            let by = self.meta_value("drystone").unwrap_or_else(|_| "another version".to_string());
            return Err(self.store_error(format!(
                "has layout {layout}, made by drystone {by}; drystone {VERSION} knows layout {LAYOUT} only: use that \
                 version, or another store"
            )));
        }
        Ok(())
    }

    /// Checks that this version may add to the store.
    pub(super) fn check_version(&self) -> Result<(), SweepError> {
        self.check_schema()?;
        let made_by = self.meta_value("drystone")?;
        if made_by != VERSION {
            return Err(self.store_error(format!(
                "holds results of drystone {made_by}, and this is {VERSION}: results of different versions do not mix. \
                 Continue with that version, or begin another store with --store"
            )));
        }
        Ok(())
    }

    /// Checks that it holds this chunk, or the whole study where that is wanted.
    pub(super) fn check_chunk(&self, chunk: Option<SweepChunk>) -> Result<(), SweepError> {
        let wanted_chunk = chunk.map_or(String::new(), |c| c.to_string());
        let has = self.meta_value("chunk")?;
        if has == wanted_chunk {
            return Ok(());
        }
        let say = |c: &str| if c.is_empty() { "the whole study".to_string() } else { format!("chunk {c}") };
        Err(self.store_error(format!("holds {}, not {}; use another store", say(&has), say(&wanted_chunk))))
    }

    /// The programs that policies call, by name; none in a store that was made without.
    pub(super) fn programs(&self) -> Result<BTreeMap<String, String>, SweepError> {
        let find = "SELECT value FROM meta WHERE name = ?";
        let text: Option<String> =
            self.db.query_row(find, [PROGRAMS], |row| row.get(0)).optional().map_err(|e| self.database_error(e))?;
        let Some(text) = text else { return Ok(BTreeMap::new()) };
        serde_json::from_str(&text).map_err(|_| self.store_error("is damaged: meta `programs` is no mapping"))
    }

    /// Refuses a plan whose programs do something else than those of the same names here.
    pub(super) fn check_programs(&self, plan: &SweepPlan) -> Result<(), SweepError> {
        let recorded_programs = self.programs()?;
        let results = "SELECT EXISTS (SELECT 1 FROM result WHERE error IS NULL AND (instr(simulated, ?1) OR instr(simulated, ?2)))";
        for (name, then) in &recorded_programs {
            let Some(now) = plan.programs.get(name).filter(|now| *now != then) else { continue };
            // As in `python(object=mine)`, or `python(object=mine,overdue=now)`.
            let calls = [')', ','].map(|end| format!("(object={name}{end}"));
            let has_results: bool =
                self.db.query_row(results, calls, |row| row.get(0)).map_err(|e| self.database_error(e))?;
            if has_results {
                return Err(self.store_error(format!(
                    "the program `{name}` was another one when its results were recorded: its code or its attributes have changed ({then} \
                     then, {now} now); give the new one another name, or begin another store"
                )));
            }
        }
        Ok(())
    }

    /// Keeps the identities of a plan's programs beside those that are recorded.
    pub(super) fn keep_programs(&self, plan: &SweepPlan) -> Result<(), SweepError> {
        let recorded_programs = self.programs()?;
        let merged_programs: BTreeMap<&String, &String> = recorded_programs.iter().chain(&plan.programs).collect();
        if merged_programs.len() == recorded_programs.len()
            && merged_programs.iter().all(|(name, identity)| recorded_programs.get(*name) == Some(*identity))
        {
            return Ok(());
        }
        let write = "INSERT OR REPLACE INTO meta VALUES (?, ?)";
        let text = serde_json::json!(merged_programs).to_string();
        self.db.execute(write, params![PROGRAMS, text]).map(drop).map_err(|e| self.database_error(e))
    }

    /// Refuses a plan whose workloads have other jobs than those of the same names here.
    pub(super) fn check_logs(&self, plan: &SweepPlan) -> Result<(), SweepError> {
        for row in self.workloads()? {
            if let Some(case) = plan.cases.iter().find(|case| case.label() == row.label)
                && case.hash != row.hash
            {
                return Err(self.store_error(format!(
                    "workload {} has changed since the store was made ({} jobs, {} then; {} jobs, {} now): bring back \
                     the old log, or begin another store with --store",
                    row.label,
                    row.jobs,
                    row.hash,
                    case.workload.len(),
                    case.hash
                )));
            }
        }
        Ok(())
    }

    /// The error of a plan that has no place for what is here: why, and where the study files
    /// differ.
    pub(super) fn other_study(&self, plan: &SweepPlan, reason: &str) -> Result<SweepError, SweepError> {
        Ok(self.store_error(format!(
            "holds another study, `{}` from {} ({} configurations; this one has {}{}): {reason}; begin another store with --store, \
             or move this one away",
            self.meta_value("study")?,
            self.meta_value("file")?,
            self.meta_value("all_configurations")?,
            plan.configurations.len(),
            first_difference(&self.meta_value("text")?, &plan.text)
        )))
    }
}
