//! A schedule as Batsim writes it: `jobs.csv`, which evalys reads.

use super::{Schedules, WrittenSchedule};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use drystone::log::batsim::{place_jobs, write_jobs};

pub(super) struct BatsimSchedule;

impl Format<Schedules> for BatsimSchedule {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".batsim.csv"]
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { needs_meta_beside: true, ..FormatTraits::default() }
    }

    fn write_to(&self, schedule: &WrittenSchedule<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let workload = &schedule.input.workload;
        // The policy counts; evalys draws processors.
        let placements = place_jobs(schedule.rows, workload.machine().procs);
        let write_outcome = write_jobs(out, &workload.provenance.name, schedule.rows, workload.truth(), &placements);
        write_outcome.map_err(|e| CommandFailure::write_error(out.name(), &e))
    }
}
