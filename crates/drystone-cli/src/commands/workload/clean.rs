//! `drystone workload clean`: the jobs that a simulation would see, as a log.

use crate::args::CleanArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::{file, message};
use drystone::log::clean::SizeField;
use drystone::log::swf::SwfRecord;
use drystone::model::{Job, Truth};
use std::path::Path;

pub(super) fn run_clean(args: &CleanArgs) -> CommandOutcome {
    let audit = args.cleaning.audit.as_deref();
    file::check_distinct(&[Some(&args.log)], &[("--audit", audit), ("--out", Some(&args.out))])?;
    let target = OutputTarget::<Logs>::open(&args.out)?;
    let input = WorkloadInput::read_workload(Some(&args.log), &args.cleaning, 0, true)?;
    message::print_note(&input.audit.to_string());
    write_log(&input, args.cleaning.cleaning_options().size, target)?;
    Ok(DONE)
}

/// Writes the jobs of a workload as a log that reads as the same workload, by its ending.
pub(crate) fn write_jobs(input: &WorkloadInput, path: &Path) -> Result<(), CommandFailure> {
    // What is read back with the usual options must have the same sizes, whichever field they came
    // from.
    write_log(input, SizeField::Larger, OutputTarget::<Logs>::open(path)?)
}

fn write_log(input: &WorkloadInput, size: SizeField, target: OutputTarget<Logs>) -> Result<(), CommandFailure> {
    let mut header = input.header.clone();
    header.set_field("MaxProcs", &input.workload.machine().procs.to_string());
    header.set_field("MaxJobs", &input.workload.len().to_string());
    header.set_field("MaxRecords", &input.workload.len().to_string());
    if let Some(start) = input.workload.provenance.unix_start {
        header.set_field("UnixStartTime", &start.to_string());
    }
    header.retire_times(&input.workload.provenance.settings);
    header.push("Note", &format!("cleaned by drystone {}", crate::meta::VERSION));
    for setting in &input.workload.provenance.settings {
        header.push("Note", &format!("cleaned with {}={}", setting.name, setting.value));
    }
    for (rule, count) in input.audit.rule_counts() {
        header.push("Note", &format!("cleaning: {count} records {} ({rule}): {}", rule.effect(), rule.meaning()));
    }
    let jobs = input.workload.jobs().iter().zip(input.workload.truth());
    let originals = input.records.as_deref().unwrap_or(&[]);
    let records: Vec<SwfRecord> = jobs.zip(originals).map(|((j, t), r)| clean_record(r, j, t, size)).collect();
    target.write_contents(&WrittenLog { header: &header, records: &records })?.publish()
}

/// The record with the values that the simulation uses. Read again with the same options it gives
/// the same job.
fn clean_record(record: &SwfRecord, job: &Job, truth: &Truth, size: SizeField) -> SwfRecord {
    let procs = i64::from(job.procs);
    let allocated_procs = match size {
        SizeField::Requested | SizeField::RequestedOnly => record.allocated,
        _ => procs,
    };
    SwfRecord {
        submit: job.submit.0.into(),
        run: truth.run.0.into(),
        requested_time: job.estimate.0.into(),
        requested: procs,
        allocated: allocated_procs,
        ..*record
    }
}
