//! `drystone workload reshape`: sizes made up for the jobs of a log.

use crate::args::ReshapeArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::output::file::OutputFile;
use crate::output::message;
use crate::output::number::{count, plural};

pub(super) fn reshape(args: &ReshapeArgs) -> CommandOutcome {
    let workload = WorkloadInput::read(Some(&args.log), &args.cleaning, args.seed, false)?.workload;
    let table = args.reshape().table(&workload).map_err(CommandFailure::usage)?;
    let drawn = table.lines().filter(|line| line.split(',').nth(1) == Some(args.kind.name())).count();
    OutputFile::create(&args.out)?.write_whole(table.as_bytes())?.publish()?;
    let all = plural(workload.len() as u64, "job");
    let are = if drawn == 1 { "is" } else { "are" };
    message::note(&format!("{} of {all} {are} {}", count(drawn as u64), args.kind.name()));
    Ok(DONE)
}
