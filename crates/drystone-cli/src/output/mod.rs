//! Everything that is written: documents for people, data for programs, files that appear whole or not at all.

pub(crate) mod beside;
pub(crate) mod columns;
pub(crate) mod document;
pub(crate) mod excess;
pub(crate) mod file;
pub(crate) mod flat;
pub(crate) mod jobs;
mod layout;
pub(crate) mod message;
pub(crate) mod plots;
pub(crate) mod records;
pub(crate) mod report;
pub(crate) mod stdout;
pub(crate) mod visible;

pub(crate) use drystone_report::number;

use crate::exit::Failure;
use document::Document;
use drystone_report::Results;
use serde::Serialize;
use std::path::Path;

/// A result in every form it can be printed in.
pub(crate) trait Printable: Serialize {
    /// For people.
    fn document(&self) -> Document;

    /// As rows: names of columns, then values.
    fn rows(&self) -> flat::Rows;

    /// What it has that rows have no place for.
    fn beyond_rows(&self) -> Option<&'static str> {
        None
    }
}

/// How a result is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Table,
    Json,
    Csv,
    Markdown,
    /// A page with plots: for files, not for the standard output.
    Html,
}

impl From<crate::args::ReportFormat> for Form {
    fn from(format: crate::args::ReportFormat) -> Form {
        use crate::args::ReportFormat as F;
        match format {
            F::Table => Form::Table,
            F::Json => Form::Json,
            F::Csv => Form::Csv,
            F::Markdown => Form::Markdown,
        }
    }
}

impl Form {
    /// What a file's ending asks for.
    fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => Ok(Form::Json),
            Some("csv") => Ok(Form::Csv),
            Some("md") => Ok(Form::Markdown),
            Some("txt") => Ok(Form::Table),
            Some("html" | "htm") => Ok(Form::Html),
            _ => Err(Failure::usage(format_args!(
                "{}: the ending says how to write the report; expected .html, .json, .csv, .md or .txt",
                path.display()
            ))),
        }
    }
}

/// The bytes of a result, as they are written to files and pipes.
pub(crate) fn render(result: &impl Printable, form: Form) -> Result<Vec<u8>, Failure> {
    match form {
        Form::Table => Ok(result.document().plain().into_bytes()),
        Form::Markdown => Ok(result.document().markdown().into_bytes()),
        Form::Json => json(result),
        Form::Csv => {
            if let Some(left_out) = result.beyond_rows() {
                let others = "--format table, markdown or json have them";
                message::note(&format!("CSV has a row per policy and none for {left_out}: {others}"));
            }
            result.rows().csv()
        }
        Form::Html => Ok(drystone_report::page(&results(result)?).into_bytes()),
    }
}

/// A result as what pages and plots are made of.
pub(crate) fn results(result: &impl Serialize) -> Result<Results, Failure> {
    let data = serde_json::to_value(result).map_err(Failure::usage)?;
    Results::of(data).map_err(Failure::usage)
}

/// Pretty JSON with a line end.
pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(Failure::usage)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Prints a result on the standard output.
pub(crate) fn print(result: &impl Printable, form: Form) -> Result<(), Failure> {
    match form {
        Form::Table => print_document(&result.document()),
        _ => stdout::write(&render(result, form)?),
    }
}

/// Prints a document on the standard output, styled and fitted where that is a terminal.
pub(crate) fn print_document(document: &Document) -> Result<(), Failure> {
    stdout::write(document.for_stdout().as_bytes())
}

/// A report to be written to a file, opened before the work begins.
pub(crate) struct ReportFile {
    form: Form,
    out: file::Output,
}

impl ReportFile {
    /// Opens a file to write as its ending says.
    pub(crate) fn open(path: &Path) -> Result<ReportFile, Failure> {
        Ok(ReportFile { form: Form::of(path)?, out: file::Output::create(path)? })
    }

    /// Opens a file for results of which there is no page.
    pub(crate) fn open_plain(path: &Path) -> Result<ReportFile, Failure> {
        if Form::of(path)? == Form::Html {
            return Err(Failure::usage(format_args!(
                "{}: only `compare` and `run` make pages; expected .json, .csv, .md or .txt",
                path.display()
            )));
        }
        ReportFile::open(path)
    }

    /// Whether it is to be a page.
    pub(crate) fn is_page(&self) -> bool {
        self.form == Form::Html
    }

    /// What is to be written where the result lacks parts: nothing in the place of an older file, which may be whole. Says so.
    pub(crate) fn unless_lost(self, lacks_parts: bool) -> Option<ReportFile> {
        let lost = lacks_parts && self.out.replaces();
        if lost {
            message::warning(&format!("{} is left as it was: what is new lacks parts", self.out.name()));
        }
        (!lost).then_some(self)
    }

    /// Writes the result; the file still needs its name.
    pub(crate) fn write(self, result: &impl Printable) -> Result<file::Complete, Failure> {
        self.out.write_whole(&render(result, self.form)?)
    }
}
