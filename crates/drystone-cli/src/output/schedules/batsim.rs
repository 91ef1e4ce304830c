//! A schedule as Batsim writes it: `jobs.csv`, which evalys reads.

use super::{Schedule, Schedules};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, Traits};
use drystone::log::batsim::{place, write_jobs};

pub(super) struct Batsim;

impl Format<Schedules> for Batsim {
    fn endings(&self) -> &'static [&'static str] {
        &[".batsim.csv"]
    }

    fn traits(&self) -> Traits {
        Traits { needs_meta_beside: true, ..Traits::default() }
    }

    fn write(&self, schedule: &Schedule<'_>, out: &mut Output) -> Result<(), Failure> {
        let workload = &schedule.input.workload;
        // The policy counts; evalys draws processors.
        let placed = place(schedule.rows, workload.machine().procs);
        let written = write_jobs(out, &workload.provenance.name, schedule.rows, workload.truth(), &placed);
        written.map_err(|e| Failure::write(out.name(), &e))
    }
}
