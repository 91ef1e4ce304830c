//! Reading a journal.

use super::{JournalError, JournalRecord, frame};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskSegment {
    /// Its number, from 1.
    pub number: u32,
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
}

pub(super) fn segment_name(number: u32) -> String {
    format!("{number:06}.journal")
}

/// The segments of a journal, in order; none where there is no such folder.
///
/// # Errors
/// The folder cannot be read.
pub fn list_segments(folder: &Path) -> Result<Vec<DiskSegment>, JournalError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io_error(folder)(error)),
    };
    let mut segments = Vec::new();
    for entry in entries {
        let entry = entry.map_err(JournalError::io_error(folder))?;
        let number = entry.file_name().to_str().and_then(|n| n.strip_suffix(".journal")).and_then(|n| n.parse().ok());
        if let Some(number) = number {
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            segments.push(DiskSegment { number, path: entry.path(), bytes });
        }
    }
    segments.sort_by_key(|segment| segment.number);
    Ok(segments)
}

/// The whole records of a segment, and where the last one ends. What was torn by a crash is not
/// among them.
///
/// # Errors
/// It cannot be read, is no journal of this layout, or a whole record is of another version.
pub fn read_entries(path: &Path) -> Result<(Vec<JournalRecord>, u64), JournalError> {
    entries_from(path, 0)
}

/// Reads the entries from this byte on, where a record begins.
pub(crate) fn entries_from(path: &Path, from: u64) -> Result<(Vec<JournalRecord>, u64), JournalError> {
    let bytes = std::fs::read(path).map_err(JournalError::io_error(path))?;
    let Some(head) = frame::skip_head(&bytes, path)? else { return Ok((Vec::new(), 0)) };
    let mut at = head.max(usize::try_from(from).unwrap_or(usize::MAX)).min(bytes.len());
    let mut records = Vec::new();
    while let Some((record, length)) = frame::next(&bytes[at..], path)? {
        records.push(record);
        at += length;
    }
    Ok((records, at as u64))
}

/// Every record of a journal, segment by segment.
///
/// # Errors
/// As [`read_entries`]; there is none.
pub fn read_journal(folder: &Path) -> Result<Vec<(DiskSegment, Vec<JournalRecord>)>, JournalError> {
    let segments = list_segments(folder)?;
    if segments.is_empty() {
        return Err(JournalError::Empty(folder.to_path_buf()));
    }
    segments
        .into_iter()
        .map(|segment| {
            let (records, _) = read_entries(&segment.path)?;
            Ok((segment, records))
        })
        .collect()
}
