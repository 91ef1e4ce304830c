//! A schedule as a log: the original records with the simulated waits, run times and sizes.

use super::{Schedules, WrittenSchedule};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use crate::output::logs::{Logs, Swf, WrittenLog};
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::model::{How, LogStatus};

impl Format<Schedules> for Swf {
    fn file_endings(&self) -> &'static [&'static str] {
        self.file_endings()
    }

    fn format_traits(&self) -> FormatTraits {
        self.format_traits()
    }

    fn write_to(&self, schedule: &WrittenSchedule<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (header, records) = build_log(schedule)?;
        Format::<Logs>::write_to(self, &WrittenLog { header: &header, records: &records }, out)
    }
}

fn build_log(schedule: &WrittenSchedule<'_>) -> Result<(SwfHeader, Vec<SwfRecord>), CommandFailure> {
    let WrittenSchedule { rows, input, .. } = schedule;
    let workload = &input.workload;
    let mut header = input.header.clone();
    header.set_field("MaxProcs", &workload.machine().procs.to_string());
    header.set_field("MaxJobs", &rows.len().to_string());
    header.set_field("MaxRecords", &rows.len().to_string());
    if let Some(start) = workload.provenance.unix_start {
        header.set_field("UnixStartTime", &start.to_string());
    }
    header.retire_times(&workload.provenance.settings);
    header.push("Note", "simulated by drystone; waits, run times and sizes are simulated");
    header.push("Note", &format!("drystone {}", schedule.render_inputs()?));
    let originals = input.records.as_deref().unwrap_or(&[]);
    let records = rows.iter().map(|row| {
        let (job, truth) = (workload.job(row.id), &workload.truth()[row.id.index()]);
        let original = originals.get(row.id.index()).copied().unwrap_or_else(|| SwfRecord::from_job(job, truth));
        let mut record = original.with_schedule(job, row.wait(), row.ran);
        if row.ended == How::MachineFailed {
            record.status = LogStatus::Failed.to_swf();
        }
        record
    });
    Ok((header, records.collect()))
}
