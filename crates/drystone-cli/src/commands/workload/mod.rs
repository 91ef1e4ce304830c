//! `drystone workload` and its commands: one file per command.

mod clean;
mod generate;
mod info;
mod over_time;
mod rewrite;

use crate::args::WorkloadCommand;
use crate::exit::Outcome;

/// Does what the command line says.
pub(super) fn workload(command: WorkloadCommand) -> Outcome {
    match command {
        WorkloadCommand::Info(args) => info::info(&args),
        WorkloadCommand::Clean(args) => clean::clean(&args),
        WorkloadCommand::Scale(args) => rewrite::scale(&args),
        WorkloadCommand::Slice(args) => rewrite::slice(&args),
        WorkloadCommand::Convert(args) => rewrite::convert(&args),
        WorkloadCommand::Generate(args) => generate::generate(&args),
    }
}
