//! Changed workloads: more or less load, a piece of a log, months apart. Each change is recorded in
//! the provenance.

mod factor;
mod overrun;
mod slice;
mod talby;
mod talby_clock;
mod window;
mod windows;

pub use factor::LoadFactor;
pub use overrun::{Overrunning, treat_overruns};
pub use slice::{build_calendar, calendar_months, cut_piece, find_submitted};
pub use talby::talby1999_months;
pub(in crate::log) use talby_clock::TalbyClock;
pub use window::{cut_pieces, cut_window};
pub use windows::{LogWindow, WindowError, WindowLength, WindowPlacement, WindowRule, WindowRuleText};

use crate::model::{Outage, Setting, Span, Time, TimeMove, Workload, WorkloadError};
use std::sync::Arc;

/// Scales the load: divides every submit time by `factor`, rounding down.
///
/// # Errors
/// A factor so small that times grow beyond ±2⁴⁰ s.
pub fn scale_load(workload: Workload, factor: LoadFactor) -> Result<Workload, WorkloadError> {
    let mut scaled_workload = at_times(workload, |time| factor.divide_time(time))?;
    scaled_workload.provenance.moves.push(factor.as_move());
    scaled_workload.provenance.settings.push(Setting { name: "load".to_string(), value: factor.to_string() });
    Ok(scaled_workload)
}

/// Divides the times of outages as [`scale_load`] divides submit times: the machine lacks the same
/// share of the time. Each meets the jobs that it met, and those that did not meet each other still
/// do not. One that then has no length is left out.
pub fn scale_outages(outages: &mut Vec<Outage>, factor: LoadFactor) {
    for outage in outages.iter_mut() {
        outage.begin = factor.divide_time(outage.begin);
        for time in [&mut outage.end, &mut outage.announced, &mut outage.expected] {
            *time = time.map(|time| factor.divide_time(time));
        }
        let soonest = outage.begin.saturating_add(Span(1));
        outage.expected = outage.expected.map(|expected| expected.max(soonest));
    }
    outages.retain(|outage| outage.end.is_none_or(|end| end > outage.begin));
}

/// Returns the jobs at other times: submits, changes of resources, and all other known times.
fn at_times(workload: Workload, times: impl Fn(Time) -> Time) -> Result<Workload, WorkloadError> {
    let circumstances = workload.circumstances().cloned();
    let resources = workload.resources().map(|table| match table.supply_steps() {
        [] => Arc::clone(table),
        _ => Arc::new(table.with_times(&times)),
    });
    let shapes = workload.shapes().cloned();
    let (machine, mut jobs, truth, provenance) = workload.into_parts();
    // Times keep their order, and jobs their places.
    for job in &mut jobs {
        job.submit = times(job.submit);
    }
    let workload = Workload::with_resources(machine, resources, jobs, truth, provenance)?.with_shapes(shapes);
    match circumstances {
        None => Ok(workload),
        Some(circumstances) => workload.with_circumstances(circumstances.move_times(times)),
    }
}

/// Shifts all times so that the first submit is 0, and says so in the provenance.
///
/// # Errors
/// Times beyond ±2⁴⁰ s after the shift.
pub fn shift_workload(workload: Workload) -> Result<Workload, WorkloadError> {
    let mut shifted_workload = shifted_to_zero(workload)?;
    shifted_workload.provenance.settings.push(Setting { name: "shift".to_string(), value: "true".to_string() });
    Ok(shifted_workload)
}

/// Shifts all times so that the first submit is 0. The provenance's `unix_start` moves along.
/// Records no setting.
///
/// # Errors
/// Times beyond ±2⁴⁰ s after the shift.
pub(crate) fn shifted_to_zero(workload: Workload) -> Result<Workload, WorkloadError> {
    let by: Span = workload.jobs().first().map_or(Span::ZERO, |job| job.submit - Time::ZERO);
    let shifted_workload = at_times(workload, |time| time - by)?;
    let shapes = shifted_workload.shapes().map(|shapes| std::sync::Arc::new(shapes.shifted_earlier(by)));
    let mut shifted_workload = shifted_workload.with_shapes(shapes);
    let provenance = &mut shifted_workload.provenance;
    provenance.moves.push(TimeMove::Earlier(by));
    provenance.unix_start = provenance.unix_start.map(|start| start.saturating_add(by.0));
    Ok(shifted_workload)
}
