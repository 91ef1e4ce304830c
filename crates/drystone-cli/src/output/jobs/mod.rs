//! Schedules, job by job: CSV, Parquet or a log.

mod csv;
mod parquet;
mod swf;

use super::file::{Complete, Output};
use super::records;
use crate::exit::Failure;
use crate::input::Input;
use crate::meta::Determined;
use drystone::metrics::JobRow;
use std::path::{Path, PathBuf};

/// A schedule to be written, opened before the work begins.
pub(crate) struct Target {
    target: records::Target,
    /// For what determined the schedule, where the file itself has no place for it.
    beside: Option<Output>,
}

/// Where what determined a schedule stands, if that has no place for it itself.
pub(crate) fn beside(path: &Path) -> Option<PathBuf> {
    super::beside::beside(path).filter(|_| records::Form::of(path).is_ok_and(|form| form == records::Form::Csv))
}

impl Target {
    /// Opens a file to write as its ending says.
    pub(crate) fn open(path: &Path) -> Result<Target, Failure> {
        let target = records::Target::open(path)?;
        Ok(Target { target, beside: beside(path).as_deref().map(Output::create).transpose()? })
    }

    /// Whether the original records are needed.
    pub(crate) fn needs_records(&self) -> bool {
        matches!(self.target.form, records::Form::Swf(_))
    }

    /// Writes a schedule: a row per job in order of arrival. What determined it stands in the header of a log, in the
    /// metadata of Parquet, and beside CSV in `FILE.meta.json`. The files still need their names.
    pub(crate) fn write(
        self,
        rows: &[JobRow],
        input: &Input,
        determined: &Determined<'_>,
    ) -> Result<Vec<Complete>, Failure> {
        let out = self.target.out;
        let schedule = match self.target.form {
            records::Form::Csv => csv::write(out, rows)?,
            records::Form::Parquet => parquet::write(out, rows, &compact(determined)?)?,
            records::Form::Swf(packing) => swf::write(out, packing, rows, input, &compact(determined)?)?,
        };
        let beside = self.beside.map(|beside| beside.write_whole(&super::json(determined)?)).transpose()?;
        Ok([schedule].into_iter().chain(beside).collect())
    }
}

/// What determined the schedule, on one line.
fn compact(determined: &Determined<'_>) -> Result<String, Failure> {
    serde_json::to_string(determined).map_err(Failure::usage)
}
