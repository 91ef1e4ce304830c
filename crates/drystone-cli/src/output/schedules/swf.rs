//! A schedule as a log: the original records with the simulated waits, run times and sizes.

use super::{Schedules, WrittenSchedule};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use crate::output::logs::{Logs, Swf, WrittenLog};
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::model::{How, LogStatus};

impl Format<Schedules> for Swf {
    fn endings(&self) -> &'static [&'static str] {
        self.ending()
    }

    fn traits(&self) -> FormatTraits {
        self.does()
    }

    fn write(&self, schedule: &WrittenSchedule<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (header, records) = log(schedule)?;
        Format::<Logs>::write(self, &WrittenLog { header: &header, records: &records }, out)
    }
}

fn log(schedule: &WrittenSchedule<'_>) -> Result<(SwfHeader, Vec<SwfRecord>), CommandFailure> {
    let WrittenSchedule { rows, input, .. } = schedule;
    let workload = &input.workload;
    let mut header = input.header.clone();
    header.set("MaxProcs", &workload.machine().procs.to_string());
    header.set("MaxJobs", &rows.len().to_string());
    header.set("MaxRecords", &rows.len().to_string());
    if let Some(start) = workload.provenance.unix_start {
        header.set("UnixStartTime", &start.to_string());
    }
    header.retire_times(&workload.provenance.settings);
    header.push("Note", "simulated by drystone; waits, run times and sizes are simulated");
    header.push("Note", &format!("drystone {}", schedule.determined()?));
    let originals = input.records.as_deref().unwrap_or(&[]);
    let records = rows.iter().map(|row| {
        let (job, truth) = (workload.job(row.id), &workload.truth()[row.id.index()]);
        let original = originals.get(row.id.index()).copied().unwrap_or_else(|| SwfRecord::of(job, truth));
        let mut record = original.scheduled(job, row.wait(), row.ran);
        if row.ended == How::MachineFailed {
            record.status = LogStatus::Failed.to_swf();
        }
        record
    });
    Ok((header, records.collect()))
}
