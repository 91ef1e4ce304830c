//! Results of commands in every format they are printed and written in: one file per format.

mod csv;
mod html;
mod json;
mod latex;
mod markdown;
mod table;

use super::document::Document;
use super::file::{Complete, OutputFile};
use super::flat::FlatRows;
use super::format::{Format, OutputTarget, WrittenKind, by_ending};
use super::message;
use crate::exit::CommandFailure;
use drystone_report::Results;
use serde::Serialize;
use std::path::Path;

/// Results of commands.
pub(crate) struct Reports;

impl WrittenKind for Reports {
    type Of<'a> = dyn Printable + 'a;

    const HOW: &'static str = "how to write the report";

    /// In the order in which help lists them.
    fn formats() -> &'static [&'static dyn Format<Reports>] {
        &[
            &table::TableReport,
            &json::JsonReport,
            &csv::CsvReport,
            &markdown::Markdown,
            &latex::Latex,
            &html::HtmlReport,
        ]
    }
}

/// A result in every form it can be printed in.
pub(crate) trait Printable: ToJson {
    fn render_document(&self) -> Document;

    /// The form that is printed by default, within the columns of a short form; `None` where the
    /// whole was asked for, which is as broad in a pipe as it needs.
    fn render_overview(&self) -> Option<Document> {
        Some(self.render_document())
    }

    /// As rows: names of columns, then values.
    fn render_rows(&self) -> FlatRows;

    /// Names the parts of the result that have no place in rows.
    fn beyond_rows(&self) -> Option<&'static str> {
        None
    }

    /// As what pages and plots show, where there is such a page.
    fn plot_results(&self) -> Result<Results, CommandFailure> {
        Err(CommandFailure::usage_error("there is no page of this result"))
    }

    /// As a page with plots.
    fn render_page(&self) -> Result<String, CommandFailure> {
        Ok(drystone_report::render_page(&self.plot_results()?))
    }
}

/// Serialisation by serde, for types that are known only when the program runs.
pub(crate) trait ToJson {
    /// Pretty JSON with a line end.
    fn render_json(&self) -> Result<Vec<u8>, CommandFailure>;
}

impl<T: Serialize> ToJson for T {
    fn render_json(&self) -> Result<Vec<u8>, CommandFailure> {
        super::render_json(self)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ReportFormat(&'static dyn Format<Reports>);

impl std::fmt::Debug for ReportFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.format_option().map_or("file", |(name, _)| name))
    }
}

impl ReportFormat {
    /// The words for formats, with what help says of them.
    pub(crate) fn format_options() -> impl Iterator<Item = (&'static str, &'static str)> {
        Reports::formats().iter().filter_map(|format| format.format_option())
    }

    pub(crate) fn find_by_name(word: &str) -> Option<ReportFormat> {
        let has_name =
            |format: &&&'static dyn Format<Reports>| format.format_option().is_some_and(|(name, _)| name == word);
        Reports::formats().iter().find(has_name).map(|&format| ReportFormat(format))
    }

    /// Returns whether people read it unchanged on the terminal.
    pub(crate) fn for_people(self) -> bool {
        self.0.format_traits().for_people
    }
}

/// Columns of a short form, on every terminal and in pipes.
pub(crate) const COLUMNS: usize = 80;

/// A result as text without colours, in its short form where it has one.
pub(crate) fn render_text(result: &dyn Printable) -> String {
    result
        .render_overview()
        .map_or_else(|| result.render_document().render_plain(), |short| short.render_within(COLUMNS))
}

/// Prints a result on the standard output.
pub(crate) fn print_result(result: &dyn Printable, format: ReportFormat) -> Result<(), CommandFailure> {
    OutputTarget { format: format.0, out: OutputFile::create(Path::new("-"))? }.write_contents(result)?.publish()
}

/// A report to be written to a file, opened before the work begins.
pub(crate) struct ReportFile(OutputTarget<Reports>);

impl ReportFile {
    /// Opens a file to write as its ending says.
    pub(crate) fn create_file(path: &Path) -> Result<ReportFile, CommandFailure> {
        Ok(ReportFile(OutputTarget::open(path)?))
    }

    /// Opens a file for results of which there is no page.
    pub(crate) fn open_plain(path: &Path) -> Result<ReportFile, CommandFailure> {
        if by_ending::<Reports>(path)?.format_traits().has_plots {
            return Err(CommandFailure::usage_error(format_args!(
                "{}: of these results there is no page; expected .json, .csv, .md or .txt",
                path.display()
            )));
        }
        ReportFile::create_file(path)
    }

    /// Returns whether it is to have plots.
    pub(crate) fn is_page(&self) -> bool {
        self.0.format.format_traits().has_plots
    }

    /// Returns the file to write, or none where the result lacks parts and would replace an older
    /// file, which may be whole. Says so.
    pub(crate) fn unless_lost(self, lacks_parts: bool) -> Option<ReportFile> {
        let would_lose = lacks_parts && self.0.out.replaces_file();
        if would_lose {
            message::print_warning(&format!("{} is unchanged: the new result lacks parts", self.0.out.name()));
        }
        (!would_lose).then_some(self)
    }

    /// Writes the result; the file still needs its name.
    pub(crate) fn write_result(self, result: &dyn Printable) -> Result<Complete, CommandFailure> {
        self.0.write_contents(result)
    }
}
