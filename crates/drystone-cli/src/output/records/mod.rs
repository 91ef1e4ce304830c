//! Logs: Standard Workload Format, compressed or not, and its records as CSV and Parquet.

mod csv;
pub(crate) mod parquet;

use super::file::{Complete, Output};
use crate::exit::Failure;
use crate::progress::Progress;
use drystone::log::swf::{Header, Record, Writer};
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;

/// How a log is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// How a log is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Swf(Packing),
    Csv,
    Parquet,
}

impl Form {
    /// What a file's ending asks for; the standard output gets plain Standard Workload Format.
    pub(crate) fn of(path: &Path) -> Result<Form, Failure> {
        if path == Path::new("-") {
            return Ok(Form::Swf(Packing::None));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let forms = [
            (".swf", Form::Swf(Packing::None)),
            (".swf.gz", Form::Swf(Packing::Gzip)),
            (".swf.zst", Form::Swf(Packing::Zstd)),
            (".csv", Form::Csv),
            (".parquet", Form::Parquet),
        ];
        let found = forms.into_iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, form)| form).ok_or_else(|| {
            Failure::usage(format_args!(
                "{}: the ending says how to write it; expected .swf, .swf.gz, .swf.zst, .csv or .parquet",
                path.display()
            ))
        })
    }
}

/// A file to be written, opened before the work begins: what cannot be written is said at once.
pub(crate) struct Target {
    pub(crate) form: Form,
    pub(crate) out: Output,
}

impl Target {
    /// Opens a file to write as its ending says.
    pub(crate) fn open(path: &Path) -> Result<Target, Failure> {
        Ok(Target { form: Form::of(path)?, out: Output::create(path)? })
    }

    /// Writes a log. CSV and Parquet have no place for comments; Parquet has the header fields as metadata.
    pub(crate) fn write(
        self,
        header: &Header,
        records: impl IntoIterator<Item = Record, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Failure> {
        let mut out = self.out;
        let complete = match self.form {
            Form::Swf(packing) => write_swf(out, packing, header, records),
            Form::Csv => {
                let records = records.into_iter();
                let progress = Progress::writing(records.len(), &out);
                csv::lines(&mut out, progress.over(records)).map_err(|e| Failure::write(out.name(), &e))?;
                out.complete()
            }
            Form::Parquet => parquet::write_records(out, header, records),
        };
        complete?.publish()
    }
}

/// Writes a log in Standard Workload Format; the file still needs its name.
pub(crate) fn write_swf(
    mut out: Output,
    packing: Packing,
    header: &Header,
    records: impl IntoIterator<Item = Record>,
) -> Result<Complete, Failure> {
    let records: Vec<Record> = records.into_iter().collect();
    let progress = Progress::writing(records.len(), &out);
    let records = || progress.over(&records);
    let written = match packing {
        Packing::None => log(&mut out, header, records()),
        Packing::Gzip => {
            let mut packed = GzEncoder::new(&mut out, flate2::Compression::default());
            log(&mut packed, header, records()).and_then(|()| packed.finish().map(drop))
        }
        Packing::Zstd => zstd::Encoder::new(&mut out, 0).and_then(|mut packed| {
            // Without it damage could be read back as other numbers.
            packed.include_checksum(true)?;
            log(&mut packed, header, records())?;
            packed.finish().map(drop)
        }),
    };
    written.map_err(|e| Failure::write(out.name(), &e))?;
    out.complete()
}

fn log<'r>(out: impl Write, header: &Header, records: impl Iterator<Item = &'r Record>) -> io::Result<()> {
    let mut writer = Writer::new(io::BufWriter::new(out));
    writer.log(header, records)?;
    writer.flush()
}
