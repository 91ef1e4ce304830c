//! Standard Workload Format, plain or compressed.

use super::{Log, Logs};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, Traits};
use crate::progress::Progress;
use drystone::log::swf::{Record, Writer};
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Compression of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// Standard Workload Format.
pub(crate) struct Swf(pub(crate) Packing);

impl Swf {
    /// The ending of such a file.
    pub(crate) fn ending(&self) -> &'static [&'static str] {
        match self.0 {
            Packing::None => &[".swf"],
            Packing::Gzip => &[".swf.gz"],
            Packing::Zstd => &[".swf.zst"],
        }
    }

    /// The header has a place for what determined the log, and records stay what they were.
    pub(crate) fn does(&self) -> Traits {
        Traits { has_records: true, for_stdout: self.0 == Packing::None, ..Traits::default() }
    }
}

impl Format<Logs> for Swf {
    fn endings(&self) -> &'static [&'static str] {
        self.ending()
    }

    fn traits(&self) -> Traits {
        self.does()
    }

    fn write(&self, log: &Log<'_>, out: &mut Output) -> Result<(), Failure> {
        let progress = Progress::writing(log.records.len(), out);
        let records = || progress.over(log.records);
        let written = match self.0 {
            Packing::None => lines(&mut *out, log, records()),
            Packing::Gzip => {
                let mut packed = GzEncoder::new(&mut *out, flate2::Compression::default());
                lines(&mut packed, log, records()).and_then(|()| packed.finish().map(drop))
            }
            Packing::Zstd => zstd::Encoder::new(&mut *out, 0).and_then(|mut packed| {
                // Without it damage could be read back as other numbers.
                packed.include_checksum(true)?;
                lines(&mut packed, log, records())?;
                packed.finish().map(drop)
            }),
        };
        written.map_err(|e| Failure::write(out.name(), &e))
    }
}

fn lines<'r>(out: impl Write, log: &Log<'_>, records: impl Iterator<Item = &'r Record>) -> io::Result<()> {
    let mut writer = Writer::new(io::BufWriter::new(out));
    writer.log(log.header, records)?;
    writer.flush()
}
