//! `drystone sweep`: studies of many simulations.

mod answer;
mod export;
mod pareto;
mod rank;
mod status;
mod timed;
mod work;

use crate::args::{SweepArgs, SweepCommand};
use crate::exit::Outcome;

/// Does what the command line says.
pub(super) fn sweep(args: SweepArgs) -> Outcome {
    match args.command {
        None => {
            timed::tell_of_file(args.study.as_deref());
            work::sweep(&args)
        }
        Some(SweepCommand::Status(args)) => status::status(&args),
        Some(SweepCommand::Resume(args)) => {
            timed::tell_of_store(&args.store);
            work::resume(&args)
        }
        Some(SweepCommand::Export(args)) => export::export(&args),
        Some(SweepCommand::Query(args)) => answer::query(&args),
        Some(SweepCommand::Rank(args)) => rank::rank(&args),
        Some(SweepCommand::Pareto(args)) => pareto::pareto(&args),
        Some(SweepCommand::Chunk(args)) => {
            timed::tell_of_chunk(&args.study, &args.work);
            work::chunk(&args)
        }
        Some(SweepCommand::Merge(args)) => work::merge(&args),
    }
}
