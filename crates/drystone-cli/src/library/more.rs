//! Charts, predictors alone and brackets: what commands do beyond runs and comparisons.

use super::{CommandFailure, WithNotes, WorkloadInput, command, one_machine, one_size, overheard};
use crate::args::Command;
use crate::commands::gantt::drawn;
use crate::commands::headroom::answer;
use crate::commands::predict::judged;
use crate::output::{Printable, ReportFile, file};
use drystone_report::Gantt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Output of a command, in every form in which it is printed and written.
pub struct LibraryOutput(pub(super) Box<dyn Printable + Send + Sync>);

impl LibraryOutput {
    /// As the command prints it.
    pub fn text(&self) -> String {
        self.0.document().plain()
    }

    /// As JSON.
    ///
    /// # Errors
    /// A result that is no JSON.
    pub fn json(&self) -> Result<String, CommandFailure> {
        Ok(String::from_utf8_lossy(&self.0.json()?).into_owned())
    }

    /// As rows: names of columns and a value each, empty where there is none.
    pub fn rows(&self) -> Vec<Vec<(String, String)>> {
        self.0.rows().into_rows()
    }

    /// As a page with plots.
    ///
    /// # Errors
    /// There is no page of it.
    pub fn page(&self) -> Result<String, CommandFailure> {
        self.0.page()
    }

    /// Writes it, as the ending says: .json, .csv, .md or .txt, and .html where there is a page.
    ///
    /// # Errors
    /// An ending that says nothing, a place that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CommandFailure> {
        file::publish(vec![ReportFile::open(path)?.write(&*self.0)?])
    }
}

/// A schedule as a chart; `None` on cancellation. `options` are those of `drystone gantt`.
///
/// # Errors
/// Options that are wrong; a policy that does not fit or breaks its contract; a site with several
/// pools.
pub fn gantt(
    input: &WorkloadInput,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<Gantt>>, CommandFailure> {
    let Command::Gantt(args) = command("gantt", &[], options)? else {
        return Err(CommandFailure::usage("no options of a chart"));
    };
    one_machine(input, "a chart")?;
    let told = overheard(|| drawn(&args, input, Some(stop)))?;
    Ok(told.what.map(|what| WithNotes { what, messages: told.messages }))
}

/// The bracket of a log: the floor of all schedules, and the best schedule found; writes the files
/// that the options name. `None` if cancelled. `options` are those of `drystone headroom`.
///
/// # Errors
/// Options that are wrong; policies under which jobs differ; a site with several pools; a place
/// that cannot be written.
pub fn headroom(
    input: &WorkloadInput,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Headroom(args) = command("headroom", &[], options)? else {
        return Err(CommandFailure::usage("no options of a bracket"));
    };
    one_machine(input, "a bracket")?;
    one_size(Some(input), "a bracket")?;
    let told = overheard(|| {
        let answer = answer(&args, input, stop)?.filter(|_| !stop.load(Ordering::Relaxed));
        answer.iter().try_for_each(|answer| answer.write(&args, input))?;
        Ok(answer)
    })?;
    Ok(told.what.map(|answer| WithNotes { what: LibraryOutput(Box::new(answer.result)), messages: told.messages }))
}

/// Predictors alone on a log; `options` are those of `drystone predict`.
///
/// # Errors
/// Options that are wrong.
pub fn predict(input: &WorkloadInput, options: &[String]) -> Result<WithNotes<LibraryOutput>, CommandFailure> {
    let Command::Predict(args) = command("predict", &[], options)? else {
        return Err(CommandFailure::usage("no options of a judgement of predictors"));
    };
    overheard(|| Ok(LibraryOutput(Box::new(judged(&args, input)?))))
}
