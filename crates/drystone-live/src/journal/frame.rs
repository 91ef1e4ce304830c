//! Records on disk: a length, a checksum, the record.

use super::{JournalError, JournalRecord, LAYOUT};
use std::path::Path;

/// Begins every segment; layout and version follow.
const MAGIC: &[u8; 8] = b"DRYLIVE\n";
/// No record is larger.
const MOST: usize = 1 << 30;

/// Returns the bytes before the first record.
pub(super) fn file_head() -> Vec<u8> {
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
    let layout_number = u16::from_le_bytes(*layout);
    let Some(version) = rest.split_first().and_then(|(&length, rest)| rest.get(..usize::from(length))) else {
        return Ok(None);
    };
    if layout_number != LAYOUT {
        let version = String::from_utf8_lossy(version).into_owned();
        return Err(JournalError::OtherLayout { path: path.to_path_buf(), found: layout_number, version });
    }
    Ok(Some(MAGIC.len() + 3 + version.len()))
}

pub(super) fn frame_record(record: &JournalRecord) -> Result<Vec<u8>, JournalError> {
    let body = postcard::to_stdvec(record)?;
    let mut bytes = Vec::with_capacity(body.len() + 8);
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
    Ok(bytes)
}

/// The record that begins these bytes and how long it is with its frame; `None` where it is torn,
/// or nothing follows.
///
/// # Errors
/// It is whole, and not a record of this version.
pub(super) fn next(bytes: &[u8], path: &Path) -> Result<Option<(JournalRecord, usize)>, JournalError> {
    let Some(body) = whole_payload(bytes) else { return Ok(None) };
    let record = postcard::from_bytes(body).map_err(|_| JournalError::OtherRecord(path.to_path_buf()))?;
    Ok(Some((record, body.len() + 8)))
}

/// Returns the payload of the frame at the head of these bytes, if it is whole.
fn whole_payload(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    // Zeros, which a crash can leave at the end of a file, have a sound checksum and hold nothing.
    let body = rest.get(..length).filter(|_| (1..=MOST).contains(&length))?;
    (crc32fast::hash(body) == u32::from_le_bytes(*sum)).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        [&(body.len() as u32).to_le_bytes()[..], &crc32fast::hash(body).to_le_bytes()[..], body].concat()
    }

    /// A record torn by a crash is skipped; one that another build wrote is refused, because a part
    /// of a history would look like the whole.
    #[test]
    fn torn_is_not_foreign() {
        let path = Path::new("x.journal");
        let sound = frame_record(&JournalRecord::Note { at: 7, text: "hello".into() }).expect("framed");
        assert!(
            matches!(next(&sound, path), Ok(Some((JournalRecord::Note { at: 7, .. }, length))) if length == sound.len())
        );
        for torn in [&sound[..sound.len() - 1], &sound[..5], &[0; 64], &[]] {
            assert!(matches!(next(torn, path), Ok(None)), "{torn:?}");
        }
        let error = next(&frame(&[200, 1, 2]), path).expect_err("no record");
        assert!(error.to_string().contains("another build"), "{error}");
    }
}
