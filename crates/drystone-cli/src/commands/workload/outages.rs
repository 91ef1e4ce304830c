//! `drystone workload outages`: outages made up for a machine or a log.

use crate::args::{HitArg, LogArgs, OutagesArgs};
use crate::exit::{DONE, Failure, Outcome};
use crate::input::Input;
use crate::output::file::Output;
use crate::output::message;
use crate::output::number::{percent, plural};
use drystone::generate::{Maintenance, OutageParams, outages as draw};
use drystone::log::outages;
use drystone::model::{Hit, Machine, Span, Time};

pub(super) fn outages(args: &OutagesArgs) -> Outcome {
    let (machine, from, until) = period(args)?;
    let params = OutageParams {
        node: args.node,
        unavailable: args.unavailable,
        repair: args.repair,
        hit: match args.hit {
            HitArg::Requeue => Hit::Requeue,
            HitArg::Lose => Hit::Lose,
            HitArg::Drain => Hit::Drain,
        },
        maintenance: (args.maintenance > Span::ZERO).then_some(Maintenance {
            length: args.maintenance,
            every: args.every,
            notice: args.notice,
        }),
        ..OutageParams::new(machine, from, until, args.seed)
    };
    let drawn = draw(&params).map_err(Failure::usage)?;
    let mut table = Vec::new();
    outages::write(drawn.list(), &mut table).map_err(Failure::usage)?;
    Output::create(&args.out)?.write_whole(&table)?.publish()?;
    let share = drawn.out_between(from, until) / (f64::from(machine.procs) * (until - from).as_f64().max(1.0));
    message::note(&format!("{}, {} of the machine", plural(drawn.len() as u64, "outage"), percent(Some(share), 2)));
    Ok(DONE)
}

/// The machine and the time: those of a log, or as they were given.
fn period(args: &OutagesArgs) -> Result<(Machine, Time, Time), Failure> {
    let end = |from: Time| args.days.map(|days| from + Span(i64::from(days) * Span::DAY.0));
    match (&args.log, args.procs) {
        (Some(log), procs) => {
            let cleaning = LogArgs { procs, ..LogArgs::default() };
            let workload = Input::read(Some(log), &cleaning, 1, false)?.workload;
            let (first, last) = workload.submits().unwrap_or_default();
            Ok((workload.machine(), first, end(first).unwrap_or(last)))
        }
        (None, Some(procs)) => {
            Ok((Machine::new(procs), Time::ZERO, end(Time::ZERO).unwrap_or(Time(365 * Span::DAY.0))))
        }
        (None, None) => Err(Failure::usage("give a log, whose machine and time are taken, or --procs N")),
    }
}
