//! Stores: what came of simulations, in an SQLite file that survives a kill at any instant.
//!
//! Every commit is one transaction with a rollback journal and `synchronous=FULL`: after a kill the
//! next process that opens the file finds the last commit. One process at a time writes; a lock on
//! a file beside the store, which the system gives back when the process ends however it ends, sees
//! to that. Anyone may read meanwhile.
//!
//! | table | a row is |
//! |---|---|
//! | `result` | a configuration that was simulated: everything that determined it, a column per parameter, a column per metric |
//! | `workload` | a workload of the study: its fingerprint, how it was cleaned and transformed |
//! | `week` | a simulation and a metric that is a mean over jobs: its sums per week, which intervals need |
//! | `again` | a simulation that is made again, because the study has got another metric |
//! | `meta` | a name and a value: the study file's text, the plan's fingerprint, versions |
//! | `session` | a run of the program on this store |
//! | `headroom` | a workload's bracket, where `sweep headroom` was asked for it; merged stores have none |

mod bracket;
mod gather;
mod grow;
mod merge;
mod publish;
mod query;
mod read;
mod schema;
mod weeks;
mod write;

pub use bracket::BracketRow;
pub use gather::gather_published;
pub use grow::StoreGrowth;
pub use merge::{Merged, merge_stores};
pub use query::{QueryAnswer, QueryCell, query_store};
pub(crate) use read::CaseOrigin;
pub use read::{StoreRow, SweepStatus};

use crate::error::SweepError;
use crate::{PlanOutcome, SweepChunk, SweepPlan};
use rusqlite::Connection;
use schema::MetricColumn;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A store, opened to write or to look.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    db: Connection,
    /// Held while the store is open to write. Dropped after the connection: fields drop in order.
    _lock: Option<File>,
    grown: Option<StoreGrowth>,
}

impl Store {
    /// Opens the store of a plan, or of a chunk of it, to write; makes it where there is none. The
    /// store of a smaller study grows: see [`StoreGrowth`].
    ///
    /// # Errors
    /// Another process writes; the file is no store, or one of another study, chunk or version, or
    /// has results that the plan leaves out; the disk is full. The file stays as it was.
    pub fn open(path: impl AsRef<Path>, plan: &SweepPlan, chunk: Option<SweepChunk>) -> Result<Store, SweepError> {
        Store::open_locked(path.as_ref())?.prepared_for(plan, chunk)
    }

    /// Makes a store that is locked ready for a plan, or for a chunk of it: see [`Store::open`].
    pub(crate) fn prepared_for(mut self, plan: &SweepPlan, chunk: Option<SweepChunk>) -> Result<Store, SweepError> {
        if self.is_new()? {
            self.create_tables(&schema::StoreHead::from_plan(plan, chunk))?;
        } else {
            self.check_version()?;
            self.check_chunk(chunk)?;
            self.check_programs(plan)?;
            let columns: Vec<MetricColumn> = plan.metrics.iter().map(MetricColumn::new).collect();
            let grows = self.meta_value("plan")? != plan.hash || self.metric_columns()? != columns;
            if grows {
                self.check_logs(plan)?;
            }
            self.check_results()?;
            if grows {
                self.grown = Some(self.grow_for(plan)?);
            }
            self.keep_programs(plan)?;
        }
        Ok(self)
    }

    /// Growth of the store when it was opened, where it was of a smaller study.
    pub fn growth_at_open(&self) -> Option<StoreGrowth> {
        self.grown
    }

    /// Opens a store to look at it; another process may be writing.
    ///
    /// # Errors
    /// The file is missing or no store of this version's kind.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Store, SweepError> {
        let path = path.as_ref();
        schema::refuse_strangers(path)?;
        if !path.is_file() {
            return Err(SweepError::store_error(
                path.display(),
                "there is no such store; `drystone sweep STUDY` makes one",
            ));
        }
        Store::look_if_begun(path)?.ok_or_else(|| {
            SweepError::store_error(path.display(), "is empty: the sweep that began it was stopped before it wrote")
        })
    }

    /// Opens a store to look at it; `None` where the process that began it has not written yet.
    ///
    /// # Errors
    /// The file is no store of this version's kind.
    pub(crate) fn look_if_begun(path: &Path) -> Result<Option<Store>, SweepError> {
        let store =
            Store { path: path.to_path_buf(), db: schema::connect_database(path, false)?, _lock: None, grown: None };
        if store.is_new()? {
            return Ok(None);
        }
        store.check_schema()?;
        Ok(Some(store))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The outcomes of a plan's simulations, none where nothing was written yet; `None` if the
    /// store is of another plan.
    pub(crate) fn of_plan(&self, plan: &SweepPlan) -> Result<Option<Vec<PlanOutcome>>, SweepError> {
        if self.is_new()? {
            return Ok(Some(Vec::new()));
        }
        self.check_version()?;
        if self.meta_value("plan")? != plan.hash {
            return Ok(None);
        }
        self.check_results()?;
        self.outcomes(plan).map(Some)
    }

    /// Removes the store, which is locked, and the files beside it.
    pub(crate) fn discard_files(self) {
        let Store { path, db, _lock, .. } = self;
        // Closed first, but still locked.
        drop(db);
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_file(schema::lock_file(&path));
    }

    /// Opens a store that a sweep has made, to add what is known of its workloads beside the
    /// results.
    ///
    /// # Errors
    /// Another process writes; the file is missing or no store of this version.
    pub fn open_again(path: impl AsRef<Path>) -> Result<Store, SweepError> {
        let path = path.as_ref();
        Store::open_to_read(path)?;
        let store = Store::open_locked(path)?;
        store.check_version()?;
        Ok(store)
    }

    pub(crate) fn open_locked(path: &Path) -> Result<Store, SweepError> {
        schema::refuse_strangers(path)?;
        let lock = schema::lock_store(path)?;
        Ok(Store {
            path: path.to_path_buf(),
            db: schema::connect_database(path, true)?,
            _lock: Some(lock),
            grown: None,
        })
    }

    fn database_error(&self, source: rusqlite::Error) -> SweepError {
        SweepError::database_error(self.path.display(), source)
    }

    fn store_error(&self, problem: impl Into<String>) -> SweepError {
        SweepError::store_error(self.path.display(), problem)
    }
}
