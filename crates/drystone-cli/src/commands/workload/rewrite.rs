//! `drystone workload scale|slice|convert`: logs rewritten record by record, none cleaned away.

use super::elastic;
use crate::args::{ConvertArgs, RewriteArgs, ScaleArgs, SliceArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input;
use crate::output::file;
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::{message, number};
use crate::site;
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::log::{self, Records, transform};
use drystone::model::{Provenance, Time};

/// A log as it stands.
struct Raw {
    header: SwfHeader,
    records: Vec<SwfRecord>,
    target: OutputTarget<Logs>,
}

fn read_raw(args: &RewriteArgs) -> Result<Raw, CommandFailure> {
    file::check_distinct(&[Some(&args.log)], &[("--out", Some(&args.out))])?;
    let target = OutputTarget::<Logs>::open(&args.out)?;
    let source = input::open_log(&args.log)?;
    let Records { header, records, skipped } = log::read_records(source, args.lenient)?;
    if skipped > 0 {
        let were = if skipped == 1 { "was" } else { "were" };
        message::print_warning(&format!("{} {were} skipped", number::format_plural(skipped, "malformed line")));
    }
    Ok(Raw { header, records, target })
}

/// The records of each job: parts of an execution follow their whole, as cleaning has it, and go
/// where it goes.
fn group_jobs(records: &mut [SwfRecord]) -> Vec<&mut [SwfRecord]> {
    let is_part =
        |before: &SwfRecord, record: &SwfRecord| matches!(record.status, 2..=4) && before.number == record.number;
    records.chunk_by_mut(is_part).collect()
}

/// Keeps only jobs whose first record this holds of.
fn keep_jobs(records: &mut Vec<SwfRecord>, of: impl Fn(&SwfRecord) -> bool) {
    *records = group_jobs(records).into_iter().filter(|job| of(&job[0])).flat_map(|job| job.to_vec()).collect();
}

impl Raw {
    fn write_log(mut self, note: Option<String>) -> CommandOutcome {
        if let Some(note) = note {
            self.header.set_field("MaxJobs", &group_jobs(&mut self.records).len().to_string());
            self.header.set_field("MaxRecords", &self.records.len().to_string());
            self.header.push("Note", &format!("drystone {}: {note}", crate::meta::VERSION));
        }
        self.target.write_contents(&WrittenLog { header: &self.header, records: &self.records })?.publish()?;
        Ok(DONE)
    }

    fn provenance(&self) -> Provenance {
        Provenance {
            name: "this log".to_string(),
            unix_start: self.header.unix_start(),
            utc_offset: self.header.utc_offset().and_then(|s| i32::try_from(s).ok()),
            time_zone: self.header.time_zone(),
            ..Provenance::default()
        }
    }
}

pub(super) fn run_scale(args: &ScaleArgs) -> CommandOutcome {
    let mut raw = read_raw(&args.rewrite)?;
    // Submits that become equal keep the order that they had.
    let mut records = group_jobs(&mut raw.records);
    records.sort_by_key(|job| job[0].submit.round());
    raw.records = records.into_iter().flat_map(|job| job.to_vec()).collect();
    for record in &mut raw.records {
        record.submit = args.load.divide_time(Time(record.submit.round())).0.into();
    }
    raw.header.retire_field("EndTime", "before");
    raw.header.retire_calendar();
    raw.write_log(Some(format!("submit times divided by {}", args.load)))
}

pub(super) fn run_slice(args: &SliceArgs) -> CommandOutcome {
    let mut raw = read_raw(&args.rewrite)?;
    let mut notes = Vec::new();
    if let Some(month) = &args.month {
        let calendar = transform::build_calendar(&raw.provenance())?;
        keep_jobs(&mut raw.records, |r| calendar.month_name(calendar.month_number(Time(r.submit.round()))) == *month);
        notes.push(format!("month {month}"));
    }
    if let Some(from) = args.from {
        keep_jobs(&mut raw.records, |r| r.submit.round() >= from);
        notes.push(format!("submits from {from} on"));
    }
    if let Some(until) = args.until {
        keep_jobs(&mut raw.records, |r| r.submit.round() < until);
        notes.push(format!("submits before {until}"));
    }
    if let Some(first) = args.first {
        raw.records.truncate(usize::try_from(first).unwrap_or(usize::MAX));
        notes.push(format!("the first {first} records"));
    }
    let Some(first) = group_jobs(&mut raw.records).iter().map(|job| job[0].submit.round()).min() else {
        return Err(CommandFailure::usage_error(format_args!("no record is left: {}", notes.join(", "))));
    };
    if args.shift {
        for record in &mut raw.records {
            record.submit = (record.submit.round() - first).into();
        }
        if let Some(start) = raw.header.unix_start() {
            raw.header.set_field("UnixStartTime", &start.saturating_add(first).to_string());
        }
        raw.header.retire_field("StartTime", "of the whole log");
        notes.push(format!("times shifted by {first} s"));
    }
    raw.header.retire_field("EndTime", "of the whole log");
    raw.write_log(Some(format!("slice: {}", notes.join(", "))))
}

pub(super) fn run_convert(args: &ConvertArgs) -> CommandOutcome {
    if args.shapes.is_some() {
        return elastic::convert_elastic(args);
    }
    site::one_pool(&args.rewrite.log)?;
    let outcome = read_raw(&args.rewrite)?.write_log(None)?;
    site::write_tables_beside(&args.rewrite.log, &args.rewrite.out)?;
    Ok(outcome)
}
