//! Imports, fidelity and starts foreseen, for programs.

use super::{CommandFailure, LibraryOutput, WithNotes, WorkloadInput, build_command, collect_notes, one_size};
use crate::args::{Command, SourceArgs};
use crate::commands::fidelity::measure_fidelity;
use crate::commands::foresee::compute_scores;
use crate::commands::import::import_accounting;
use crate::commands::whatif::find_result as changed;
use crate::commands::when::find_answers;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Scores answers to "when will my job start?" on a log; `None` on cancellation. `options` are
/// those of `drystone foresee`.
///
/// # Errors
/// Options that are wrong, a policy that knows true run times.
pub fn score_forecasts(
    input: &WorkloadInput,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Foresee(args) = build_command("foresee", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a score of answers"));
    };
    one_size(Some(input), "a score of answers")?;
    let outcome = collect_notes(|| compute_scores(&args, input, stop))?;
    Ok(outcome.what.map(|scores| WithNotes { what: LibraryOutput(Box::new(scores)), messages: outcome.messages }))
}

/// Simulates a site or a log before and after changes; `None` on cancellation. `log` is in memory,
/// or else `place` is a folder or a file. `options` are those of `drystone whatif`.
///
/// # Errors
/// Options that are wrong, a change that cannot be made.
pub fn simulate_changes(
    log: Option<&WorkloadInput>,
    place: Option<&Path>,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Whatif(mut args) = build_command("whatif", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a what-if"));
    };
    one_size(log, "a what-if")?;
    if let Some(place) = place {
        args.source = SourceArgs::from_path(place);
    }
    let outcome = collect_notes(|| changed(&args, log, stop))?;
    Ok(outcome.what.map(|result| WithNotes { what: LibraryOutput(Box::new(result)), messages: outcome.messages }))
}

/// Forecasts the starts of a cluster's waiting jobs, as text and as JSON; `options` are those of
/// `drystone when`.
///
/// # Errors
/// A folder that holds no state, a job that does not wait, options that are wrong.
pub fn forecast_starts(state: &Path, options: &[String]) -> Result<WithNotes<(String, String)>, CommandFailure> {
    let Command::When(mut args) = build_command("when", &["--state", "."], options)? else {
        return Err(CommandFailure::usage_error("no options of an answer"));
    };
    args.state = Some(state.to_path_buf());
    collect_notes(|| find_answers(&args).map(|(text, json)| (text, String::from_utf8_lossy(&json).into_owned())))
}

/// Compares a simulation of a site with its records; `None` on cancellation. `options` are those of
/// `drystone fidelity`.
///
/// # Errors
/// A folder that is no site, options that are wrong, nothing to compare.
pub fn check_fidelity(
    site: &Path,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Fidelity(mut args) = build_command("fidelity", &["."], options)? else {
        return Err(CommandFailure::usage_error("no options of fidelity"));
    };
    args.site = site.to_path_buf();
    let outcome = collect_notes(|| measure_fidelity(&args, stop))?;
    Ok(outcome.what.map(|fidelity| WithNotes { what: LibraryOutput(Box::new(fidelity)), messages: outcome.messages }))
}

/// Makes a site of accounting, in a folder; returns the account of it, as text and as JSON, or
/// `None` on cancellation. `options` are those of `drystone import`.
///
/// # Errors
/// Files that are no accounting, options that are wrong, a folder that is there and no site.
pub fn import_files(
    files: &[PathBuf],
    out: &Path,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<(String, String)>>, CommandFailure> {
    let Command::Import(mut args) = build_command("import", &["--out=.", "."], options)? else {
        return Err(CommandFailure::usage_error("no options of an import"));
    };
    args.files = files.to_vec();
    let outcome = collect_notes(|| import_accounting(&args, out, stop))?;
    let Some(manifest) = outcome.what else { return Ok(None) };
    let json = String::from_utf8_lossy(&crate::output::render_json(&manifest)?).into_owned();
    Ok(Some(WithNotes { what: (drystone_site::render_report(&manifest), json), messages: outcome.messages }))
}
