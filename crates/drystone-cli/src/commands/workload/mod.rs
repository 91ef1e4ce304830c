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
pub(super) fn run_workload(args: WorkloadArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    match args.command {
        WorkloadCommand::Info(args) => info::run_info(&args),
        WorkloadCommand::Clean(args) => clean::run_clean(&args),
        WorkloadCommand::Scale(args) => rewrite::run_scale(&args),
        WorkloadCommand::Slice(args) => rewrite::run_slice(&args),
        WorkloadCommand::Convert(args) => rewrite::run_convert(&args),
        WorkloadCommand::Generate(args) => generate::run_generate(&args),
        WorkloadCommand::Outages(args) => outages::run_outages(&args),
        WorkloadCommand::Reshape(args) => reshape::run_reshape(&args),
    }
}
