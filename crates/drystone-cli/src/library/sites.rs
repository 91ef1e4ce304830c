//! Imports, fidelity and starts foreseen, for programs.

use super::{CommandFailure, LibraryOutput, WithNotes, WorkloadInput, command, one_size, overheard};
use crate::args::{Command, SourceArgs};
use crate::commands::fidelity::held;
use crate::commands::foresee::scores;
use crate::commands::import::imported;
use crate::commands::whatif::found as changed;
use crate::commands::when::answers;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Scores answers to "when will my job start?" on a log; `None` on cancellation. `options` are
/// those of `drystone foresee`.
///
/// # Errors
/// Options that are wrong, a policy that knows true run times.
pub fn foresee(
    input: &WorkloadInput,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Foresee(args) = command("foresee", &[], options)? else {
        return Err(CommandFailure::usage("no options of a score of answers"));
    };
    one_size(Some(input), "a score of answers")?;
    let told = overheard(|| scores(&args, input, stop))?;
    Ok(told.what.map(|found| WithNotes { what: LibraryOutput(Box::new(found)), messages: told.messages }))
}

/// Simulates a site or a log before and after changes; `None` on cancellation. `log` is in memory,
/// or else `place` is a folder or a file. `options` are those of `drystone whatif`.
///
/// # Errors
/// Options that are wrong, a change that cannot be made.
pub fn whatif(
    log: Option<&WorkloadInput>,
    place: Option<&Path>,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Whatif(mut args) = command("whatif", &[], options)? else {
        return Err(CommandFailure::usage("no options of a what-if"));
    };
    one_size(log, "a what-if")?;
    if let Some(place) = place {
        args.source = SourceArgs::of(place);
    }
    let told = overheard(|| changed(&args, log, stop))?;
    Ok(told.what.map(|found| WithNotes { what: LibraryOutput(Box::new(found)), messages: told.messages }))
}

/// Forecasts the starts of a cluster's waiting jobs, as text and as JSON; `options` are those of
/// `drystone when`.
///
/// # Errors
/// A folder that holds no state, a job that does not wait, options that are wrong.
pub fn when(state: &Path, options: &[String]) -> Result<WithNotes<(String, String)>, CommandFailure> {
    let Command::When(mut args) = command("when", &["--state", "."], options)? else {
        return Err(CommandFailure::usage("no options of an answer"));
    };
    args.state = Some(state.to_path_buf());
    overheard(|| answers(&args).map(|(text, json)| (text, String::from_utf8_lossy(&json).into_owned())))
}

/// Compares a simulation of a site with its records; `None` on cancellation. `options` are those of
/// `drystone fidelity`.
///
/// # Errors
/// A folder that is no site, options that are wrong, nothing to compare.
pub fn fidelity(
    site: &Path,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Fidelity(mut args) = command("fidelity", &["."], options)? else {
        return Err(CommandFailure::usage("no options of fidelity"));
    };
    args.site = site.to_path_buf();
    let told = overheard(|| held(&args, stop))?;
    Ok(told.what.map(|found| WithNotes { what: LibraryOutput(Box::new(found)), messages: told.messages }))
}

/// Makes a site of accounting, in a folder; returns the account of it, as text and as JSON, or
/// `None` on cancellation. `options` are those of `drystone import`.
///
/// # Errors
/// Files that are no accounting, options that are wrong, a folder that is there and no site.
pub fn import(
    files: &[PathBuf],
    out: &Path,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<(String, String)>>, CommandFailure> {
    let Command::Import(mut args) = command("import", &["--out=.", "."], options)? else {
        return Err(CommandFailure::usage("no options of an import"));
    };
    args.files = files.to_vec();
    let told = overheard(|| imported(&args, out, stop))?;
    let Some(manifest) = told.what else { return Ok(None) };
    let json = String::from_utf8_lossy(&crate::output::json(&manifest)?).into_owned();
    Ok(Some(WithNotes { what: (drystone_site::report(&manifest), json), messages: told.messages }))
}
