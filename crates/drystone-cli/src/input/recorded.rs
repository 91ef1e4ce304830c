//! Records of a log beyond the jobs: dependencies, and jobs present when a window begins.

use super::{WorkloadInput, limits};
use crate::args::{CutArgs, RealArgs};
use crate::exit::CommandFailure;
use crate::output::message;
use crate::output::number::{count, plural};
use crate::real::read;
use drystone::log::recorded::{Dependencies, RecordedState};
use drystone::log::{circumstances, transform};
use drystone::model::{Adopted, Circumstances, Setting, Span, Time, Workload};
use std::ops::Range;
use std::path::Path;

/// A workload with what is known of its jobs beyond the log.
pub(super) fn attach(
    input: WorkloadInput,
    log: Option<&Path>,
    args: &RealArgs,
) -> Result<WorkloadInput, CommandFailure> {
    let mut input = input;
    if let Some(file) = &args.circumstances {
        let (name, text) = read(file)?;
        let found = circumstances::read(text.as_bytes(), &name, &input.workload).map_err(CommandFailure::because)?;
        if found.unknown > 0 {
            let rows = plural(found.unknown, "job");
            message::warning(&format!(
                "{name}: names {rows} that the workload does not have; cleaning may have dropped them"
            ));
        }
        // The table is of single jobs: limits that they share are the site's.
        let limits = input.workload.circumstances().map(|known| known.limits.clone()).unwrap_or_default();
        let known = Circumstances { limits, ..found.circumstances };
        input.workload = input.workload.with(known).map_err(CommandFailure::usage)?;
    }
    if args.feedback {
        input.workload = feed_back(input.workload, input.records.as_deref(), log)?;
    }
    Ok(input)
}

/// Jobs depend on others as the log says.
fn feed_back(
    workload: Workload,
    records: Option<&[drystone::log::swf::SwfRecord]>,
    log: Option<&Path>,
) -> Result<Workload, CommandFailure> {
    let name = log.map_or_else(|| workload.provenance.name.clone(), |path| path.display().to_string());
    let found = Dependencies::of(&workload, records.unwrap_or(&[]), &name)?;
    let known = workload.circumstances().cloned().unwrap_or_default();
    let already = known.feeds_back();
    if found.after.is_empty() && !already {
        return Err(CommandFailure::usage(format_args!(
            "{name}: --feedback needs jobs that depend on others, and no record names another job of the log in field 17 (preceding job)"
        )));
    }
    if found.unknown > 0 {
        message::warning(&format!(
            "{} depend on jobs that the workload does not have: they arrive when they were submitted",
            plural(found.unknown, "job")
        ));
    }
    if found.guessed > 0 {
        message::warning(&format!(
            "{} have no think time (field 18): the time in the log between the one's end and the other's submit is \
             used",
            plural(found.guessed, "job")
        ));
    }
    let mut workload = workload;
    workload.provenance.settings.push(Setting { name: "feedback".to_string(), value: "true".to_string() });
    let after = found.after.into_iter().chain(known.after).collect();
    workload.with(Circumstances { after, ..known }).map_err(CommandFailure::usage)
}

/// The window of a log that begins with the jobs that are here. `places` are the jobs that the cut
/// leaves.
pub(super) fn warm(
    input: WorkloadInput,
    after: Span,
    places: Range<usize>,
    cut: &CutArgs,
) -> Result<WorkloadInput, CommandFailure> {
    let Some(first) = input.workload.jobs().get(places.start).map(|job| job.submit) else { return Ok(input) };
    let from = match &cut.slice {
        Some(text) => limits("--slice", text)?.0.unwrap_or(first),
        None => first,
    };
    let begin = from.saturating_add(after);
    let whole = input.workload.submits().unwrap_or_default();
    if places.end == 0 || input.workload.jobs()[places.end - 1].submit < begin {
        return Err(CommandFailure::usage(format_args!(
            "--warm-start {after}: it would begin at {begin} s, and the last job is submitted at {} s",
            input.workload.jobs()[places.end.max(1) - 1].submit
        )));
    }
    let WorkloadInput { workload, audit, header, records, site, .. } = input;
    let kept = records.as_deref().unwrap_or(&[]);
    let recorded = RecordedState::of(&workload, kept);
    let (unknown, before) = recorded.unknown_before(begin);
    if before > 0 && unknown == before {
        return Err(CommandFailure::usage(format_args!(
            "--warm-start needs to know when jobs started, and the log records no wait (field 3) of the {} submitted before {begin} s",
            plural(before as u64, "job")
        )));
    }
    if unknown > 0 {
        message::warning(&format!(
            "of {} the log records no wait (field 3): they count as started when they were submitted",
            plural(unknown as u64, "job")
        ));
    }
    let short = transform::piece(&workload, 0..places.end, setting(after)).map_err(CommandFailure::usage)?;
    let mut stay = Vec::new();
    let window = transform::window(&short, begin, |job| {
        let here = recorded.at(job, begin);
        if here.is_some() {
            stay.push(job.index());
        }
        here
    })
    .map_err(CommandFailure::usage)?;
    say_what_is_here(&window, begin, whole.0);
    let records = records.map(|records| {
        let arrived = short.jobs().partition_point(|job| job.submit < begin);
        stay.iter().copied().chain(arrived..places.end).map(|at| records[at]).collect()
    });
    Ok(WorkloadInput {
        workload: window,
        audit,
        header,
        records,
        site,
        counted: None,
        windows: Vec::new(),
        series: None,
    })
}

fn setting(after: Span) -> Setting {
    Setting { name: "warm-start".to_string(), value: after.0.to_string() }
}

fn say_what_is_here(window: &Workload, begin: Time, first: Time) {
    let known = window.circumstances();
    let runs = |adopted: &&Adopted| matches!(adopted, Adopted::Running { .. });
    let running = known.map_or(0, |known| known.here.values().filter(runs).count());
    let before = window.jobs().partition_point(|job| job.submit < begin);
    message::note(&format!(
        "begins {} after the log's first submit, with {} running and {} waiting",
        crate::output::number::duration((begin - first).as_f64()),
        plural(running as u64, "job"),
        count((before - running) as u64)
    ));
}
