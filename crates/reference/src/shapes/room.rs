//! Free processors and watts over time, from a list of what is held.

use super::NaiveShapeWorld;

/// Processors and watts held from one time to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NaiveSpan {
    pub(crate) from: i64,
    pub(crate) until: i64,
    pub(crate) procs: i64,
    pub(crate) watts: i64,
}

fn has_room(world: &NaiveShapeWorld<'_>, spans: &[NaiveSpan], time: i64, procs: i64, watts: i64) -> bool {
    let held_spans = || spans.iter().filter(|span| span.from <= time && time < span.until);
    let free = world.procs - held_spans().map(|span| span.procs).sum::<i64>();
    free >= procs && world.cap_at(time) - held_spans().map(|span| span.watts).sum::<i64>() >= watts
}

fn change_times(world: &NaiveShapeWorld<'_>, spans: &[NaiveSpan], from: i64) -> Vec<i64> {
    let mut times: Vec<i64> = spans.iter().flat_map(|span| [span.from, span.until]).collect();
    times.extend(world.rules.caps.iter().map(|cap| cap.0));
    times.retain(|&time| time > from);
    times.push(from);
    times.sort_unstable();
    times.dedup();
    times
}

pub(crate) fn fits_beside(world: &NaiveShapeWorld<'_>, spans: &[NaiveSpan], job: NaiveSpan) -> bool {
    let times = change_times(world, spans, job.from);
    let during = times.into_iter().filter(|&time| time == job.from || time < job.until);
    during.into_iter().all(|time| has_room(world, spans, time, job.procs, job.watts))
}

/// Returns the first time from one on at which a job fits for so long.
pub(crate) fn earliest_start(
    world: &NaiveShapeWorld<'_>,
    spans: &[NaiveSpan],
    from: i64,
    run: i64,
    procs: i64,
    watts: i64,
) -> Option<i64> {
    let times = change_times(world, spans, from);
    times.into_iter().find(|&from| fits_beside(world, spans, NaiveSpan { from, until: from + run, procs, watts }))
}
