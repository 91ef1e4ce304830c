//! A schedule as Batsim writes it: `jobs.csv`, which evalys reads.

use super::{Schedules, WrittenSchedule};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use drystone::log::batsim::{place, write_jobs};

pub(super) struct BatsimSchedule;

impl Format<Schedules> for BatsimSchedule {
    fn endings(&self) -> &'static [&'static str] {
        &[".batsim.csv"]
    }

    fn traits(&self) -> FormatTraits {
        FormatTraits { needs_meta_beside: true, ..FormatTraits::default() }
    }

    fn write(&self, schedule: &WrittenSchedule<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let workload = &schedule.input.workload;
        // The policy counts; evalys draws processors.
        let placed = place(schedule.rows, workload.machine().procs);
        let written = write_jobs(out, &workload.provenance.name, schedule.rows, workload.truth(), &placed);
        written.map_err(|e| CommandFailure::write(out.name(), &e))
    }
}
