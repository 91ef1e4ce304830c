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
pub(super) fn run_sweep(args: SweepArgs) -> CommandOutcome {
    match args.command {
        None => work::run_sweep(&args),
        Some(SweepCommand::Status(args)) => status::run_status(&args),
        Some(SweepCommand::Resume(args)) => work::run_resume(&args),
        Some(SweepCommand::Export(args)) => export::run_export(&args),
        Some(SweepCommand::Query(args)) => answer::run_query(&args),
        Some(SweepCommand::Rank(args)) => rank::run_rank(&args),
        Some(SweepCommand::Table(args)) => table::run_table(&args),
        Some(SweepCommand::Pareto(args)) => pareto::run_pareto(&args),
        Some(SweepCommand::Chunk(args)) => work::run_chunk(&args),
        Some(SweepCommand::Merge(args)) => work::run_merge(&args),
        Some(SweepCommand::Slurm(args)) => submit::run_slurm(&args),
        Some(SweepCommand::Recipe(args)) => submit::run_recipe(&args),
        Some(SweepCommand::Gather(args)) => gather::run_gather(&args),
        Some(SweepCommand::Headroom(args)) => headroom::run_headroom(&args),
        Some(SweepCommand::Cancel(args)) => gather::run_cancel(&args),
        Some(SweepCommand::Task(args)) => task::run_task(&args),
    }
}
