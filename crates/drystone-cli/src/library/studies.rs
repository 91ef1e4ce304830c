//! Advice, recorded waits, evolved orders and published tables, for programs.

#[cfg(any(feature = "evolve", feature = "sites"))]
use super::WorkloadInput;
use super::{CommandFailure, LibraryOutput, WithNotes, command, overheard};
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
pub fn advise(
    log: Option<&WorkloadInput>,
    place: Option<&Path>,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    use crate::commands::advise::{check::checked, found};
    let Command::Advise(mut args) = command("advise", &[], options)? else {
        return Err(CommandFailure::usage("no options of advice"));
    };
    super::one_size(log, "advice")?;
    if let Some(place) = place {
        args.source = SourceArgs::of(place);
    }
    let told = overheard(|| {
        if args.check {
            let place = place.ok_or_else(|| CommandFailure::usage("a check needs the path of a site or log"))?;
            return checked(&args, place, stop).map(|found| Some(LibraryOutput(Box::new(found))));
        }
        Ok(found(&args, log, stop)?.map(|found| LibraryOutput(Box::new(found))))
    })?;
    Ok(told.what.map(|what| WithNotes { what, messages: told.messages }))
}

/// Waits that the accounting of a site recorded; `options` are those of `drystone waits`.
///
/// # Errors
/// A folder that is no site, options that are wrong.
#[cfg(feature = "sites")]
pub fn waits(site: &Path, options: &[String]) -> Result<WithNotes<LibraryOutput>, CommandFailure> {
    let Command::Waits(mut args) = command("waits", &["."], options)? else {
        return Err(CommandFailure::usage("no options of waits"));
    };
    args.site = site.to_path_buf();
    overheard(|| Ok(LibraryOutput(Box::new(crate::commands::waits::asked(&args)?))))
}

/// A search for orders of waiting jobs on a log; `None` on cancellation. `also` are logs on which
/// results are judged. `options` are those of `drystone evolve`.
///
/// # Errors
/// Options that are wrong, a log that is too short to be divided.
#[cfg(feature = "evolve")]
pub fn evolve(
    log: &WorkloadInput,
    also: &[PathBuf],
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Evolve(mut args) = command("evolve", &[], options)? else {
        return Err(CommandFailure::usage("no options of a search"));
    };
    super::one_size(Some(log), "a search for orders")?;
    args.also = also.to_vec();
    let told = overheard(|| crate::commands::evolve::found(&args, log, stop))?;
    let (found, interrupted) = told.what;
    let what = (!interrupted).then(|| LibraryOutput(Box::new(found)));
    Ok(what.map(|what| WithNotes { what, messages: told.messages }))
}

/// Tables of papers beside ours; `None` on cancellation. `options` are those of `drystone
/// reproduce`, the names of studies among them.
///
/// # Errors
/// Options that are wrong, logs that are not there.
#[cfg(feature = "reproduce")]
pub fn reproduce(options: &[String], stop: &AtomicBool) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Reproduce(args) = command("reproduce", &[], options)? else {
        return Err(CommandFailure::usage("no options of a reproduction"));
    };
    let told = overheard(|| crate::commands::reproduce::reproduced(&args, stop))?;
    Ok(told.what.map(|found| WithNotes { what: LibraryOutput(Box::new(found)), messages: told.messages }))
}
