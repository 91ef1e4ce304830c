//! `drystone workload outages`: outages made up for a machine or a log.

use crate::args::{HitArg, LogArgs, OutagesArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::output::file::OutputFile;
use crate::output::message;
use crate::output::number::{format_percent, format_plural};
use drystone::generate::{Maintenance, OutageParams, draw_outages as draw};
use drystone::log::outages;
use drystone::model::{Machine, OutageHit, Span, Time};

pub(super) fn run_outages(args: &OutagesArgs) -> CommandOutcome {
    let (machine, from, until) = outage_period(args)?;
    let params = OutageParams {
        node: args.node,
        unavailable: args.unavailable,
        repair: args.repair,
        shape: args.shape,
        hit: match args.hit {
            HitArg::Requeue => OutageHit::Requeue,
            HitArg::Lose => OutageHit::Lose,
            HitArg::Drain => OutageHit::Drain,
        },
        maintenance: (args.maintenance > Span::ZERO).then_some(Maintenance {
            length: args.maintenance,
            every: args.every,
            notice: args.notice,
        }),
        ..OutageParams::new(machine, from, until, args.seed)
    };
    let drawn_outages = draw(&params).map_err(CommandFailure::usage_error)?;
    let mut table = Vec::new();
    outages::write_outages(drawn_outages.list(), &mut table).map_err(CommandFailure::usage_error)?;
    OutputFile::create(&args.out)?.write_whole(&table)?.publish()?;
    let share = drawn_outages.out_between(from, until) / (f64::from(machine.procs) * (until - from).as_f64().max(1.0));
    message::print_note(&format!(
        "{}, {} of the machine",
        format_plural(drawn_outages.len() as u64, "outage"),
        format_percent(Some(share), 2)
    ));
    Ok(DONE)
}

/// The machine and the time: those of a log, or as they were given.
fn outage_period(args: &OutagesArgs) -> Result<(Machine, Time, Time), CommandFailure> {
    let end = |from: Time| args.days.map(|days| from + Span(i64::from(days) * Span::DAY.0));
    match (&args.log, args.procs) {
        (Some(log), procs) => {
            let cleaning = LogArgs { procs, ..LogArgs::default() };
            let workload = WorkloadInput::read_workload(Some(log), &cleaning, 1, false)?.workload;
            let (first, last) = workload.submit_range().unwrap_or_default();
            Ok((workload.machine(), first, end(first).unwrap_or(last)))
        }
        (None, Some(procs)) => {
            Ok((Machine::new(procs), Time::ZERO, end(Time::ZERO).unwrap_or(Time(365 * Span::DAY.0))))
        }
        (None, None) => Err(CommandFailure::usage_error("give a log, whose machine and time are taken, or --procs N")),
    }
}
