//! A schedule as a log: the original records with the simulated waits, run times and sizes.

use crate::exit::Failure;
use crate::input::Input;
use crate::output::file::{Complete, Output};
use crate::output::records::{self, Packing};
use drystone::log::swf::Record;
use drystone::metrics::JobRow;

pub(super) fn write(
    out: Output,
    packing: Packing,
    rows: &[JobRow],
    input: &Input,
    determined: &str,
) -> Result<Complete, Failure> {
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
    header.push("Note", &format!("drystone {determined}"));
    let originals = input.records.as_deref().unwrap_or(&[]);
    let records = rows.iter().zip(workload.jobs().iter().zip(workload.truth())).map(|(row, (job, truth))| {
        let original = originals.get(row.id.index()).copied().unwrap_or_else(|| Record::of(job, truth));
        original.scheduled(job, row.wait(), row.ran)
    });
    records::write_swf(out, packing, &header, records)
}
