//! `drystone sweep`: studies of many simulations.

mod answer;
mod export;
mod figures;
mod gather;
mod headroom;
mod pareto;
mod rank;
mod shown;
mod status;
mod submit;
mod swarms;
mod table;
mod task;
mod tasks;
mod work;

use crate::args::{SweepArgs, SweepCommand};
use crate::exit::CommandOutcome;

/// Does what the command line says.
pub(super) fn sweep(args: SweepArgs) -> CommandOutcome {
    match args.command {
        None => work::sweep(&args),
        Some(SweepCommand::Status(args)) => status::status(&args),
        Some(SweepCommand::Resume(args)) => work::resume(&args),
        Some(SweepCommand::Export(args)) => export::export(&args),
        Some(SweepCommand::Query(args)) => answer::query(&args),
        Some(SweepCommand::Rank(args)) => rank::rank(&args),
        Some(SweepCommand::Table(args)) => table::table(&args),
        Some(SweepCommand::Pareto(args)) => pareto::pareto(&args),
        Some(SweepCommand::Chunk(args)) => work::chunk(&args),
        Some(SweepCommand::Merge(args)) => work::merge(&args),
        Some(SweepCommand::Slurm(args)) => submit::slurm(&args),
        Some(SweepCommand::Recipe(args)) => submit::recipe(&args),
        Some(SweepCommand::Gather(args)) => gather::gather(&args),
        Some(SweepCommand::Headroom(args)) => headroom::headroom(&args),
        Some(SweepCommand::Cancel(args)) => gather::cancel(&args),
        Some(SweepCommand::Task(args)) => task::task(&args),
    }
}
