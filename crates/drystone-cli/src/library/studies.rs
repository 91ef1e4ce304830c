//! Advice, recorded waits, evolved orders and published tables, for programs.

#[cfg(any(feature = "evolve", feature = "sites"))]
use super::WorkloadInput;
use super::{CommandFailure, LibraryOutput, WithNotes, build_command, collect_notes};
use crate::args::Command;
#[cfg(feature = "sites")]
use crate::args::SourceArgs;
#[cfg(feature = "sites")]
use std::path::Path;
#[cfg(feature = "evolve")]
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Advice for a site or a log; `None` on cancellation. `log` is in memory, or else `place` is a
/// folder or a file. `options` are those of `drystone advise`; a check needs a place.
///
/// # Errors
/// Options that are wrong, a configuration that cannot be read.
#[cfg(feature = "sites")]
pub fn advise_changes(
    log: Option<&WorkloadInput>,
    place: Option<&Path>,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    use crate::commands::advise::{check::conf_remarks, find_advice};
    let Command::Advise(mut args) = build_command("advise", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of advice"));
    };
    super::one_size(log, "advice")?;
    if let Some(place) = place {
        args.source = SourceArgs::from_path(place);
    }
    let outcome = collect_notes(|| {
        if args.check {
            let place = place.ok_or_else(|| CommandFailure::usage_error("a check needs the path of a site or log"))?;
            return conf_remarks(&args, place, stop).map(|remarks| Some(LibraryOutput(Box::new(remarks))));
        }
        Ok(find_advice(&args, log, stop)?.map(|advice| LibraryOutput(Box::new(advice))))
    })?;
    Ok(outcome.what.map(|output| WithNotes { what: output, messages: outcome.messages }))
}

/// Waits that the accounting of a site recorded; `options` are those of `drystone waits`.
///
/// # Errors
/// A folder that is no site, options that are wrong.
#[cfg(feature = "sites")]
pub fn read_waits(site: &Path, options: &[String]) -> Result<WithNotes<LibraryOutput>, CommandFailure> {
    let Command::Waits(mut args) = build_command("waits", &["."], options)? else {
        return Err(CommandFailure::usage_error("no options of waits"));
    };
    args.site = site.to_path_buf();
    collect_notes(|| Ok(LibraryOutput(Box::new(crate::commands::waits::find_waits(&args)?))))
}

/// A search for orders of waiting jobs on a log; `None` on cancellation. `also` are logs on which
/// results are judged. `options` are those of `drystone evolve`.
///
/// # Errors
/// Options that are wrong, a log that is too short to be divided.
#[cfg(feature = "evolve")]
pub fn evolve_orders(
    log: &WorkloadInput,
    also: &[PathBuf],
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Evolve(mut args) = build_command("evolve", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a search"));
    };
    super::one_size(Some(log), "a search for orders")?;
    args.also = also.to_vec();
    let outcome = collect_notes(|| crate::commands::evolve::search_and_judge(&args, log, stop))?;
    let (search_result, is_interrupted) = outcome.what;
    let output = (!is_interrupted).then(|| LibraryOutput(Box::new(search_result)));
    Ok(output.map(|result| WithNotes { what: result, messages: outcome.messages }))
}

/// Tables of papers beside ours; `None` on cancellation. `options` are those of `drystone
/// reproduce`, the names of studies among them.
///
/// # Errors
/// Options that are wrong, logs that are not there.
#[cfg(feature = "reproduce")]
pub fn reproduce_papers(
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Reproduce(args) = build_command("reproduce", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a reproduction"));
    };
    let outcome = collect_notes(|| crate::commands::reproduce::reproduce_tables(&args, stop))?;
    Ok(outcome.what.map(|coverage| WithNotes { what: LibraryOutput(Box::new(coverage)), messages: outcome.messages }))
}
