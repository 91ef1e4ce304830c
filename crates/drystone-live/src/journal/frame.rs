//! Records on disk: a length, a checksum, the record.

use super::{JournalError, LAYOUT, Record};
use std::path::Path;

/// Begins every segment; layout and version follow.
const MAGIC: &[u8; 8] = b"DRYLIVE\n";
/// No record is larger.
const MOST: usize = 1 << 30;

/// What stands before the first record.
pub(super) fn head() -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(LAYOUT.to_le_bytes());
    bytes.push(version.len() as u8);
    bytes.extend(version);
    bytes
}

/// The length of the head of these bytes; `None` where it is torn.
pub(super) fn skip_head(bytes: &[u8], path: &Path) -> Result<Option<usize>, JournalError> {
    let magic = bytes.len().min(MAGIC.len());
    if bytes[..magic] != MAGIC[..magic] {
        return Err(JournalError::NoJournal(path.to_path_buf()));
    }
    let Some((layout, rest)) = bytes.get(MAGIC.len()..).and_then(|rest| rest.split_first_chunk::<2>()) else {
        return Ok(None);
    };
    let found = u16::from_le_bytes(*layout);
    let Some(version) = rest.split_first().and_then(|(&length, rest)| rest.get(..usize::from(length))) else {
        return Ok(None);
    };
    if found != LAYOUT {
        let version = String::from_utf8_lossy(version).into_owned();
        return Err(JournalError::OtherLayout { path: path.to_path_buf(), found, version });
    }
    Ok(Some(MAGIC.len() + 3 + version.len()))
}

/// A record in its frame.
pub(super) fn framed(record: &Record) -> Result<Vec<u8>, JournalError> {
    let body = postcard::to_stdvec(record)?;
    let mut bytes = Vec::with_capacity(body.len() + 8);
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
    Ok(bytes)
}

/// The record that begins these bytes and how long it is with its frame; `None` where it is torn, or nothing follows.
pub(super) fn next(bytes: &[u8]) -> Option<(Record, usize)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let body = rest.get(..length).filter(|_| length <= MOST)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    Some((postcard::from_bytes(body).ok()?, length + 8))
}
