//! Adding to a store what tasks on a cluster have published.

use super::merge::MergeIntake;
use super::{Merged, Store};
use crate::error::SweepError;
use std::path::{Path, PathBuf};

/// Adds what tasks have published to the store at a path, which is made where there is none. It may
/// be done again at any time, also while tasks publish.
///
/// # Errors
/// As [`Store::gather_results`]; or the store is in use, or there is none and nothing is published.
pub fn gather_published(into: &Path, paths: &[PathBuf], watch: &mut dyn FnMut()) -> Result<Merged, SweepError> {
    if paths.is_empty() {
        // Says what is wrong where it is none.
        Store::open_to_read(into)?;
    }
    Store::open_locked(into)?.gather_results(paths, watch)
}

impl Store {
    /// Returns whether a file is an SQLite database, as stores are and study files are not.
    pub fn is_at(path: &Path) -> bool {
        let mut begin = [0; 6];
        let read_result =
            std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut begin));
        path.is_file() && read_result.is_ok() && &begin == b"SQLite"
    }

    /// Adds the results of published stores to this one, which is open to write; all or nothing.
    /// What is there already counts once, so it may be done again at any time, also while tasks
    /// publish. `watch` is called after each store.
    ///
    /// # Errors
    /// A published store is of another plan or version or is damaged, or two results differ; this
    /// store stays as it was.
    ///
    /// Cost: reads every published store, one at a time.
    pub fn gather_results(&mut self, paths: &[PathBuf], watch: &mut dyn FnMut()) -> Result<Merged, SweepError> {
        let Some(first) = paths.first() else {
            let status = self.status()?;
            let missing = status.configurations.saturating_sub(status.recorded);
            return Ok(Merged { missing, ..Merged::default() });
        };
        let mut intake = MergeIntake::begin_merge(self, &Store::open_published(first)?)?;
        for path in paths {
            intake.add_store(&Store::open_published(path)?)?;
            watch();
        }
        intake.commit()
    }

    /// The numbers of the simulations that a published store has, those that failed left out.
    ///
    /// # Errors
    /// It cannot be read, or is of another version or plan.
    pub(crate) fn published_simulations(path: &Path, plan: &str) -> Result<Vec<i64>, SweepError> {
        let store = Store::open_published(path)?;
        if store.meta_value("plan")? != plan {
            return Err(
                store.store_error("holds another study or other logs than the tasks it lies beside; move it away")
            );
        }
        store.recorded_simulations()
    }

    /// Returns the number of results.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn count_results(&self) -> Result<u64, SweepError> {
        let count = self.db.query_row("SELECT count(*) FROM result", [], |row| row.get::<_, i64>(0));
        count.map(|n| n as u64).map_err(|e| self.database_error(e))
    }

    /// The numbers of the simulations that are recorded, those that failed left out.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn recorded_simulations(&self) -> Result<Vec<i64>, SweepError> {
        let select_ids = || -> rusqlite::Result<Vec<i64>> {
            let sql = "SELECT DISTINCT simulation FROM result WHERE error IS NULL \
                       AND simulation NOT IN (SELECT simulation FROM again) ORDER BY simulation";
            self.db.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        select_ids().map_err(|e| self.database_error(e))
    }
}
