//! Records of a log beyond the jobs: dependencies, and jobs present when a window begins.

use super::{WorkloadInput, parse_time_range};
use crate::args::{CutArgs, RealArgs};
use crate::exit::CommandFailure;
use crate::output::message;
use crate::output::number::{format_count, format_plural};
use crate::real::read_text;
use drystone::log::recorded::{Dependencies, RecordedState};
use drystone::log::{circumstances, transform};
use drystone::model::{Adopted, Circumstances, Setting, Span, Time, Workload};
use std::ops::Range;
use std::path::Path;

/// A workload with what is known of its jobs beyond the log.
pub(super) fn attach_circumstances(
    input: WorkloadInput,
    log: Option<&Path>,
    args: &RealArgs,
) -> Result<WorkloadInput, CommandFailure> {
    let mut input = input;
    if let Some(file) = &args.circumstances {
        let (name, text) = read_text(file)?;
        let file_circumstances = circumstances::read_circumstances(text.as_bytes(), &name, &input.workload)
            .map_err(CommandFailure::caused_by)?;
        if file_circumstances.unknown > 0 {
            let rows = format_plural(file_circumstances.unknown, "job");
            message::print_warning(&format!(
                "{name}: names {rows} that the workload does not have; cleaning may have dropped them"
            ));
        }
        // The table is of single jobs: limits that they share are the site's.
        let limits =
            input.workload.circumstances().map(|circumstances| circumstances.limits.clone()).unwrap_or_default();
        let all_circumstances = Circumstances { limits, ..file_circumstances.circumstances };
        input.workload = input.workload.with_circumstances(all_circumstances).map_err(CommandFailure::usage_error)?;
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
    let dependencies = Dependencies::from_records(&workload, records.unwrap_or(&[]), &name)?;
    let known_circumstances = workload.circumstances().cloned().unwrap_or_default();
    let already = known_circumstances.feeds_back();
    if dependencies.after.is_empty() && !already {
        return Err(CommandFailure::usage_error(format_args!(
            "{name}: --feedback needs jobs that depend on others, and no record names another job of the log in field 17 (preceding job)"
        )));
    }
    if dependencies.unknown > 0 {
        message::print_warning(&format!(
            "{} depend on jobs that the workload does not have: they arrive when they were submitted",
            format_plural(dependencies.unknown, "job")
        ));
    }
    if dependencies.guessed > 0 {
        message::print_warning(&format!(
            "{} have no think time (field 18): the time in the log between the one's end and the other's submit is \
             used",
            format_plural(dependencies.guessed, "job")
        ));
    }
    let mut workload = workload;
    workload.provenance.settings.push(Setting { name: "feedback".to_string(), value: "true".to_string() });
    let after = dependencies.after.into_iter().chain(known_circumstances.after).collect();
    workload.with_circumstances(Circumstances { after, ..known_circumstances }).map_err(CommandFailure::usage_error)
}

/// The window of a log that begins with the jobs that are here. `places` are the jobs that the cut
/// leaves.
pub(super) fn warm_window(
    input: WorkloadInput,
    after: Span,
    places: Range<usize>,
    cut: &CutArgs,
) -> Result<WorkloadInput, CommandFailure> {
    let Some(first) = input.workload.jobs().get(places.start).map(|job| job.submit) else { return Ok(input) };
    let from = match &cut.slice {
        Some(text) => parse_time_range("--slice", text)?.0.unwrap_or(first),
        None => first,
    };
    let begin = from.saturating_add(after);
    let whole = input.workload.submit_range().unwrap_or_default();
    if places.end == 0 || input.workload.jobs()[places.end - 1].submit < begin {
        return Err(CommandFailure::usage_error(format_args!(
            "--warm-start {after}: it would begin at {begin} s, and the last job is submitted at {} s",
            input.workload.jobs()[places.end.max(1) - 1].submit
        )));
    }
    let WorkloadInput { workload, audit, header, records, site, .. } = input;
    let kept_records = records.as_deref().unwrap_or(&[]);
    let recorded_state = RecordedState::from_records(&workload, kept_records);
    let (unknown, before) = recorded_state.unknown_before(begin);
    if before > 0 && unknown == before {
        return Err(CommandFailure::usage_error(format_args!(
            "--warm-start needs to know when jobs started, and the log records no wait (field 3) of the {} submitted before {begin} s",
            format_plural(before as u64, "job")
        )));
    }
    if unknown > 0 {
        message::print_warning(&format!(
            "of {} the log records no wait (field 3): they count as started when they were submitted",
            format_plural(unknown as u64, "job")
        ));
    }
    let short =
        transform::cut_piece(&workload, 0..places.end, warm_setting(after)).map_err(CommandFailure::usage_error)?;
    let mut stay = Vec::new();
    let window = transform::cut_window(&short, begin, |job| {
        let state_at_begin = recorded_state.state_at(job, begin);
        if state_at_begin.is_some() {
            stay.push(job.index());
        }
        state_at_begin
    })
    .map_err(CommandFailure::usage_error)?;
    say_what_is_here(&window, begin, whole.0);
    let records = records.map(|records| {
        let arrival_count = short.jobs().partition_point(|job| job.submit < begin);
        stay.iter().copied().chain(arrival_count..places.end).map(|at| records[at]).collect()
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

fn warm_setting(after: Span) -> Setting {
    Setting { name: "warm-start".to_string(), value: after.0.to_string() }
}

fn say_what_is_here(window: &Workload, begin: Time, first: Time) {
    let known_circumstances = window.circumstances();
    let runs = |adoption: &&Adopted| matches!(adoption, Adopted::Running { .. });
    let running_count = known_circumstances.map_or(0, |circumstances| circumstances.here.values().filter(runs).count());
    let before = window.jobs().partition_point(|job| job.submit < begin);
    message::print_note(&format!(
        "begins {} after the log's first submit, with {} running and {} waiting",
        crate::output::number::format_duration((begin - first).as_f64()),
        format_plural(running_count as u64, "job"),
        format_count((before - running_count) as u64)
    ));
}
