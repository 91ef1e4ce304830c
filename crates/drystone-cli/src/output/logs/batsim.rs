//! A workload of Batsim.

use super::{Logs, WrittenLog};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use crate::progress::WorkProgress;
use drystone::log::batsim::write_workload;

/// The JSON of jobs and profiles that Batsim reads.
pub(super) struct BatsimLog;

impl Format<Logs> for BatsimLog {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { needs_meta_beside: true, ..FormatTraits::default() }
    }

    fn write_to(&self, log: &WrittenLog<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let progress = WorkProgress::for_writing(log.records.len(), out);
        let procs = log.header.max_procs().or_else(|| log.header.max_nodes()).and_then(|n| u32::try_from(n).ok());
        let widest = log.records.iter().map(|record| record.requested.max(record.allocated)).max().unwrap_or(1);
        let procs = procs.unwrap_or_else(|| u32::try_from(widest).unwrap_or(1));
        let note = format!("written by drystone {}", crate::meta::VERSION);
        let write_result = write_workload(out, procs, &note, progress.count_items(log.records));
        write_result.map_err(|e| CommandFailure::write_error(out.name(), &e))
    }
}
