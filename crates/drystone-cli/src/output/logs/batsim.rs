//! A workload of Batsim.

use super::{Log, Logs};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, Traits};
use crate::progress::Progress;
use drystone::log::batsim::write_workload;

/// The JSON of jobs and profiles that Batsim reads.
pub(super) struct Batsim;

impl Format<Logs> for Batsim {
    fn endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn traits(&self) -> Traits {
        Traits { needs_meta_beside: true, ..Traits::default() }
    }

    fn write(&self, log: &Log<'_>, out: &mut Output) -> Result<(), Failure> {
        let progress = Progress::writing(log.records.len(), out);
        let procs = log.header.max_procs().or_else(|| log.header.max_nodes()).and_then(|n| u32::try_from(n).ok());
        let widest = log.records.iter().map(|record| record.requested.max(record.allocated)).max().unwrap_or(1);
        let procs = procs.unwrap_or_else(|| u32::try_from(widest).unwrap_or(1));
        let note = format!("written by drystone {}", crate::meta::VERSION);
        let written = write_workload(out, procs, &note, progress.over(log.records));
        written.map_err(|e| Failure::write(out.name(), &e))
    }
}
