//! Standard Workload Format, plain or compressed.

use super::{Logs, WrittenLog};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use crate::progress::WorkProgress;
use drystone::log::swf::{SwfRecord, SwfWriter};
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Compression of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogPacking {
    None,
    Gzip,
    Zstd,
}

/// Standard Workload Format.
pub(crate) struct Swf(pub(crate) LogPacking);

impl Swf {
    pub(crate) fn file_endings(&self) -> &'static [&'static str] {
        match self.0 {
            LogPacking::None => &[".swf"],
            LogPacking::Gzip => &[".swf.gz"],
            LogPacking::Zstd => &[".swf.zst"],
        }
    }

    /// The header has a place for what determined the log, and records stay what they were.
    pub(crate) fn format_traits(&self) -> FormatTraits {
        FormatTraits { has_records: true, for_stdout: self.0 == LogPacking::None, ..FormatTraits::default() }
    }
}

impl Format<Logs> for Swf {
    fn file_endings(&self) -> &'static [&'static str] {
        self.file_endings()
    }

    fn format_traits(&self) -> FormatTraits {
        self.format_traits()
    }

    fn write_to(&self, log: &WrittenLog<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let progress = WorkProgress::for_writing(log.records.len(), out);
        let records = || progress.count_items(log.records);
        let write_result = match self.0 {
            LogPacking::None => write_log_lines(&mut *out, log, records()),
            LogPacking::Gzip => {
                let mut encoder = GzEncoder::new(&mut *out, flate2::Compression::default());
                write_log_lines(&mut encoder, log, records()).and_then(|()| encoder.finish().map(drop))
            }
            LogPacking::Zstd => zstd::Encoder::new(&mut *out, 0).and_then(|mut encoder| {
                // Without it damage could be read back as other numbers.
                encoder.include_checksum(true)?;
                write_log_lines(&mut encoder, log, records())?;
                encoder.finish().map(drop)
            }),
        };
        write_result.map_err(|e| CommandFailure::write_error(out.name(), &e))
    }
}

fn write_log_lines<'r>(
    out: impl Write,
    log: &WrittenLog<'_>,
    records: impl Iterator<Item = &'r SwfRecord>,
) -> io::Result<()> {
    let mut writer = SwfWriter::new(io::BufWriter::new(out));
    writer.write_log(log.header, records)?;
    writer.flush()
}
