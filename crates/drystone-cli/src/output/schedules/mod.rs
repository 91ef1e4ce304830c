//! Schedules, job by job: one file per format.

mod batsim;
mod csv;
mod parquet;
mod swf;

use super::file::{Complete, OutputFile};
use super::format::{Format, OutputTarget, WrittenKind, by_ending};
use super::logs::{LogPacking, Swf};
use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use crate::meta::Determined;
use drystone::metrics::{JobRow, SizedJob};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A schedule: a row per job in order of arrival.
pub(crate) struct WrittenSchedule<'a> {
    pub(crate) rows: &'a [JobRow],
    pub(crate) input: &'a WorkloadInput,
    pub(crate) determined: &'a Determined<'a>,
    /// Sizes of the jobs over their lives, by the log's numbers, where they may have several.
    pub(crate) sizes: Option<&'a BTreeMap<i64, SizedJob>>,
}

impl WrittenSchedule<'_> {
    /// Returns the inputs of the schedule, on one line.
    fn render_inputs(&self) -> Result<String, CommandFailure> {
        serde_json::to_string(self.determined).map_err(CommandFailure::usage_error)
    }
}

pub(crate) struct Schedules;

impl WrittenKind for Schedules {
    type Of<'a> = WrittenSchedule<'a>;

    const HOW: &'static str = "how to write it";

    fn formats() -> &'static [&'static dyn Format<Schedules>] {
        &[
            &Swf(LogPacking::None),
            &Swf(LogPacking::Gzip),
            &Swf(LogPacking::Zstd),
            &batsim::BatsimSchedule,
            &csv::CsvSchedule,
            &parquet::ParquetSchedule,
        ]
    }
}

/// A schedule to be written, opened before the work begins.
pub(crate) struct ScheduleFile {
    target: OutputTarget<Schedules>,
    /// File for the inputs of the schedule, where the schedule itself has no place for them.
    beside: Option<OutputFile>,
}

/// Returns the file for a schedule's inputs, if the schedule has no place for them itself.
pub(crate) fn meta_path_beside(path: &Path) -> Option<PathBuf> {
    let needs_meta = by_ending::<Schedules>(path).is_ok_and(|format| format.format_traits().needs_meta_beside);
    super::csv_metadata::meta_path_beside(path).filter(|_| needs_meta)
}

impl ScheduleFile {
    /// Opens a file to write as its ending says.
    pub(crate) fn create_file(path: &Path) -> Result<ScheduleFile, CommandFailure> {
        let target = OutputTarget::open(path)?;
        Ok(ScheduleFile { target, beside: meta_path_beside(path).as_deref().map(OutputFile::create).transpose()? })
    }

    pub(crate) fn needs_records(&self) -> bool {
        self.target.format.format_traits().has_records
    }

    /// Writes a schedule. What determined it stands in the header of a log, in the metadata of
    /// Parquet, and beside CSV in `FILE.meta.json`. The files still need their names.
    pub(crate) fn write_schedule(self, schedule: &WrittenSchedule<'_>) -> Result<Vec<Complete>, CommandFailure> {
        let outputs = self.target.write_contents(schedule)?;
        let beside =
            self.beside.map(|beside| beside.write_whole(&super::render_json(schedule.determined)?)).transpose()?;
        Ok([outputs].into_iter().chain(beside).collect())
    }
}
