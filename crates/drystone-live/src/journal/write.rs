//! Writing a journal.

use super::{Begin, JournalError, JournalRecord, frame, read};
use crate::state::PRIVATE;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// From this size on a segment ends at the next snapshot.
const LARGE: u64 = 64 << 20;

#[derive(Debug)]
pub struct SegmentWriter {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    length: u64,
    records: u64,
}

impl SegmentWriter {
    /// Begins a new segment behind the others.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin_segment(folder: &Path, begin: Begin) -> Result<SegmentWriter, JournalError> {
        let number = read::list_segments(folder)?.last().map_or(0, |segment| segment.number) + 1;
        let path = folder.join(read::segment_name(number));
        let file = File::options()
            .create_new(true)
            .append(true)
            .mode(PRIVATE)
            .open(&path)
            .map_err(JournalError::io_error(&path))?;
        let mut writer = SegmentWriter { folder: folder.to_path_buf(), path, file, length: 0, records: 0 };
        writer.put_bytes(&frame::file_head())?;
        writer.write_record(&JournalRecord::Begin(Box::new(begin)))?;
        writer.sync()?;
        Ok(writer)
    }

    fn put_bytes(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.file.write_all(bytes).map_err(JournalError::io_error(&self.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Adds a record.
    ///
    /// # Errors
    /// It cannot be written: nothing may be ordered any more.
    pub fn write_record(&mut self, record: &JournalRecord) -> Result<(), JournalError> {
        let bytes = frame::frame_record(record)?;
        self.put_bytes(&bytes)?;
        self.records += 1;
        Ok(())
    }

    /// Sees to it that all of it is on disk.
    ///
    /// # Errors
    /// It is not: nothing may be ordered any more.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(JournalError::io_error(&self.path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes written.
    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns whether the next segment is due.
    pub fn is_large(&self) -> bool {
        self.length > LARGE
    }
}
