//! `drystone workload` and its commands: one file per command.

mod clean;
mod elastic;
mod figures;
mod generate;
mod info;
mod outages;
mod over_time;
mod reshape;
mod rewrite;

pub(crate) use clean::write_jobs;

use crate::args::{WorkloadArgs, WorkloadCommand};
use crate::exit::CommandOutcome;
use crate::output::message;

/// Does what the command line says.
pub(super) fn workload(args: WorkloadArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    match args.command {
        WorkloadCommand::Info(args) => info::info(&args),
        WorkloadCommand::Clean(args) => clean::clean(&args),
        WorkloadCommand::Scale(args) => rewrite::scale(&args),
        WorkloadCommand::Slice(args) => rewrite::slice(&args),
        WorkloadCommand::Convert(args) => rewrite::convert(&args),
        WorkloadCommand::Generate(args) => generate::generate(&args),
        WorkloadCommand::Outages(args) => outages::outages(&args),
        WorkloadCommand::Reshape(args) => reshape::reshape(&args),
    }
}
