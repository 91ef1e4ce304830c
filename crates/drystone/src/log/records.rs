//! The records of a log in any format that is read, as they stand.

use super::source::LogFile;
use super::swf::{SwfHeader, SwfReader, SwfRecord};
use super::{LogError, batsim};

/// A log as it stands: nothing is cleaned away.
#[derive(Clone, Debug)]
pub struct Records {
    /// Its comments and header fields.
    pub header: SwfHeader,
    /// Its records, in order.
    pub records: Vec<SwfRecord>,
    /// Malformed lines that were skipped.
    pub skipped: u64,
}

/// Reads the records of a log: Standard Workload Format, a workload of Batsim or its `jobs.csv`.
///
/// # Errors
/// The source cannot be read, is damaged or no log, or has a malformed line and is not read
/// leniently.
pub fn read_records(source: LogFile, lenient: bool) -> Result<Records, LogError> {
    let LogFile { bytes, name } = source;
    let bytes = match batsim::read_batsim(bytes, &name)? {
        batsim::ReadLog::Else(bytes) => bytes,
        batsim::ReadLog::Log(batsim::BatsimSource { header, records }) => {
            return Ok(Records { header, records, skipped: 0 });
        }
    };
    let mut reader = SwfReader::new(bytes, name)?.with_leniency(lenient);
    let mut records = Vec::new();
    while let Some(record) = reader.read_record()? {
        records.push(record);
    }
    if records.is_empty() {
        return Err(LogError::Empty { file: reader.name().clone(), lines: reader.line_count() });
    }
    let (skip_count, _) = reader.malformed_lines();
    let (header, _) = reader.into_header();
    Ok(Records { header, records, skipped: skip_count })
}
