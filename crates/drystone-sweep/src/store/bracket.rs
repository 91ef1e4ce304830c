//! Brackets of the best possible value on a workload, beside the results.

use super::Store;
use crate::error::SweepError;
use rusqlite::params;
use serde::Serialize;

/// A workload's bracket: what no schedule can beat, and the best schedule found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BracketRow {
    /// The workload with its transformations.
    pub workload: String,
    /// Fingerprint of its jobs.
    pub hash: String,
    /// The metric, in its own unit.
    pub metric: String,
    /// Proven: no schedule that runs each job once and without a break is below.
    pub floor: f64,
    /// Value of the best schedule found, which knows run times.
    pub found: f64,
    /// The policy whose schedule the search began with.
    pub begun_from: String,
    pub trials: u64,
    pub seed: u64,
}

impl Store {
    /// Records brackets, in the place of older ones of the same workload and metric: all of them or
    /// none.
    ///
    /// # Errors
    /// The disk is full.
    pub fn record_brackets(&mut self, brackets: &[BracketRow]) -> Result<(), SweepError> {
        let write = |db: &mut rusqlite::Connection| -> rusqlite::Result<()> {
            let transaction = db.transaction()?;
            transaction.execute_batch(
                "CREATE TABLE IF NOT EXISTS headroom (
                     workload TEXT NOT NULL, workload_hash TEXT NOT NULL, metric TEXT NOT NULL, floor REAL NOT NULL,
                     found REAL NOT NULL, begun_from TEXT NOT NULL, trials INTEGER NOT NULL, seed INTEGER NOT NULL,
                     PRIMARY KEY (workload, metric))",
            )?;
            for row in brackets {
                transaction.execute(
                    "INSERT OR REPLACE INTO headroom VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    params![
                        row.workload,
                        row.hash,
                        row.metric,
                        row.floor,
                        row.found,
                        row.begun_from,
                        row.trials as i64,
                        row.seed as i64
                    ],
                )?;
            }
            transaction.commit()
        };
        let result = write(&mut self.db);
        result.map_err(|e| self.database_error(e))
    }
}
