//! `drystone workload reshape`: sizes made up for the jobs of a log.

use crate::args::ReshapeArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::output::file::OutputFile;
use crate::output::message;
use crate::output::number::{format_count, format_plural};

pub(super) fn run_reshape(args: &ReshapeArgs) -> CommandOutcome {
    let workload = WorkloadInput::read_workload(Some(&args.log), &args.cleaning, args.seed, false)?.workload;
    let table = args.build_reshape().render_table(&workload).map_err(CommandFailure::usage_error)?;
    let drawn_count = table.lines().filter(|line| line.split(',').nth(1) == Some(args.kind.name())).count();
    OutputFile::create(&args.out)?.write_whole(table.as_bytes())?.publish()?;
    let job_text = format_plural(workload.len() as u64, "job");
    let are = if drawn_count == 1 { "is" } else { "are" };
    message::print_note(&format!("{} of {job_text} {are} {}", format_count(drawn_count as u64), args.kind.name()));
    Ok(DONE)
}
