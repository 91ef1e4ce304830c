//! `drystone workload reshape`: sizes made up for the jobs of a log.

use crate::args::ReshapeArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::output::file::OutputFile;
use crate::output::message;
use crate::output::number::count;
use drystone::generate::reshape::{Reshape, ReshapeRule};
use drystone::model::JobKind;

pub(super) fn reshape(args: &ReshapeArgs) -> CommandOutcome {
    let workload = WorkloadInput::read(Some(&args.log), &args.cleaning, args.seed, false)?.workload;
    let by_efficiency = matches!(args.rule, ReshapeRule::Efficiency(_)) && args.kind == JobKind::Malleable;
    let reshape = Reshape {
        kind: args.kind,
        share: f64::from(args.share) / 100.0,
        rule: args.rule.clone(),
        speedup: args.speedup.clone(),
        every: args.every.unwrap_or(if by_efficiency { 60 } else { 0 }),
        costs: (args.grow_cost, args.shrink_cost),
        watts: args.watts,
        seed: args.seed,
    };
    let table = reshape.table(&workload).map_err(CommandFailure::usage)?;
    let drawn = table.lines().filter(|line| line.split(',').nth(1) == Some(args.kind.name())).count();
    OutputFile::create(&args.out)?.write_whole(table.as_bytes())?.publish()?;
    let all = count(workload.len() as u64);
    message::note(&format!("{} of {all} jobs are {}", count(drawn as u64), args.kind.name()));
    Ok(DONE)
}
