//! A header and a row per configuration.

use super::{Export, Exports, format_cell};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};

pub(super) struct CsvExport;

impl Format<Exports> for CsvExport {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { for_stdout: true, ..FormatTraits::default() }
    }

    fn write_to(&self, export: &Export<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let mut write = || -> std::io::Result<()> {
            let mut csv = csv::Writer::from_writer(&mut *out);
            csv.write_record(&export.answer.columns).map_err(plain_error)?;
            for row in &export.answer.rows {
                csv.write_record(row.iter().map(format_cell)).map_err(plain_error)?;
            }
            csv.flush()
        };
        write().map_err(|e| CommandFailure::write_error(out.name(), &e))
    }
}

/// The error of the file itself, where it is one: a closed pipe is no failure.
fn plain_error(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
