//! Charts, predictors alone and brackets: what commands do beyond runs and comparisons.

use super::{CommandFailure, WithNotes, WorkloadInput, build_command, collect_notes, one_machine, one_size};
use crate::args::Command;
use crate::commands::gantt::draw_schedule;
use crate::commands::headroom::find_answer;
use crate::commands::predict::judge_predictors;
use crate::output::{Printable, ReportFile, file};
use drystone_report::Gantt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Output of a command, in every form in which it is printed and written.
pub struct LibraryOutput(pub(super) Box<dyn Printable + Send + Sync>);

impl LibraryOutput {
    /// As the command prints it.
    pub fn render_text(&self) -> String {
        self.0.render_document().render_plain()
    }

    /// As JSON.
    ///
    /// # Errors
    /// A result that is no JSON.
    pub fn render_json(&self) -> Result<String, CommandFailure> {
        Ok(String::from_utf8_lossy(&self.0.render_json()?).into_owned())
    }

    /// As rows: names of columns and a value each, empty where there is none.
    pub fn render_rows(&self) -> Vec<Vec<(String, String)>> {
        self.0.render_rows().into_rows()
    }

    /// As a page with plots.
    ///
    /// # Errors
    /// There is no page of it.
    pub fn render_page(&self) -> Result<String, CommandFailure> {
        self.0.render_page()
    }

    /// Writes it, as the ending says: .json, .csv, .md or .txt, and .html where there is a page.
    ///
    /// # Errors
    /// An ending that says nothing, a place that cannot be written.
    pub fn write_file(&self, path: &Path) -> Result<(), CommandFailure> {
        file::publish_all(vec![ReportFile::create_file(path)?.write_result(&*self.0)?])
    }
}

/// A schedule as a chart; `None` on cancellation. `options` are those of `drystone gantt`.
///
/// # Errors
/// Options that are wrong; a policy that does not fit or breaks its contract; a site with several
/// pools.
pub fn draw_gantt(
    input: &WorkloadInput,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<Gantt>>, CommandFailure> {
    let Command::Gantt(args) = build_command("gantt", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a chart"));
    };
    one_machine(input, "a chart")?;
    let outcome = collect_notes(|| draw_schedule(&args, input, Some(stop)))?;
    Ok(outcome.what.map(|chart| WithNotes { what: chart, messages: outcome.messages }))
}

/// The bracket of a log: the floor of all schedules, and the best schedule found; writes the files
/// that the options name. `None` if cancelled. `options` are those of `drystone headroom`.
///
/// # Errors
/// Options that are wrong; policies under which jobs differ; a site with several pools; a place
/// that cannot be written.
pub fn bracket_headroom(
    input: &WorkloadInput,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<WithNotes<LibraryOutput>>, CommandFailure> {
    let Command::Headroom(args) = build_command("headroom", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a bracket"));
    };
    one_machine(input, "a bracket")?;
    one_size(Some(input), "a bracket")?;
    let outcome = collect_notes(|| {
        let answer = find_answer(&args, input, stop)?.filter(|_| !stop.load(Ordering::Relaxed));
        answer.iter().try_for_each(|answer| answer.write_files(&args, input))?;
        Ok(answer)
    })?;
    Ok(outcome
        .what
        .map(|answer| WithNotes { what: LibraryOutput(Box::new(answer.result)), messages: outcome.messages }))
}

/// Predictors alone on a log; `options` are those of `drystone predict`.
///
/// # Errors
/// Options that are wrong.
pub fn test_predictors(input: &WorkloadInput, options: &[String]) -> Result<WithNotes<LibraryOutput>, CommandFailure> {
    let Command::Predict(args) = build_command("predict", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of a judgement of predictors"));
    };
    collect_notes(|| Ok(LibraryOutput(Box::new(judge_predictors(&args, input)?))))
}
