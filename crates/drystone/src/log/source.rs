//! Source of a log: a file or the standard input, compressed or not.

use super::peek::peek_start;
use super::{LogError, batsim};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The path that means the standard input.
pub const STDIN: &str = "-";

/// An opened log: its bytes, decompressed, and its name for messages.
pub struct LogFile {
    /// The bytes.
    pub bytes: Box<dyn Read>,
    /// The path, or `standard input`.
    pub name: Arc<str>,
}

/// Behind compressed data stands something else.
#[cfg(feature = "gzip")]
#[derive(Debug, thiserror::Error)]
#[error("behind the compressed data stands something else")]
pub(super) struct Trailing;

/// Opens what is no file and reads as a log all the same: `None` for a path that it does not know.
pub type LogOpener = fn(&Path) -> Option<Result<LogFile, LogError>>;

static OPENER: OnceLock<LogOpener> = OnceLock::new();

/// Lets every reader of logs accept another kind of source, such as the folder of a site. Only the
/// first call in a program has an effect.
pub fn register_opener(opener: LogOpener) {
    let _ = OPENER.set(opener);
}

/// Opens a log; `-` is the standard input. What its first bytes show to be gzip, zstd, xz or
/// bzip2 is decompressed, whatever its name.
///
/// # Errors
/// It cannot be opened or read, or is compressed with something else, or with what this build
/// leaves out.
pub fn open_log(path: &Path) -> Result<LogFile, LogError> {
    if path.as_os_str() == STDIN {
        return decompress_log(Box::new(io::stdin()), "standard input".into());
    }
    if let Some(log_result) = OPENER.get().and_then(|opener| opener(path)) {
        return log_result;
    }
    let file = File::open(path).map_err(|source| LogError::Open { file: path.display().to_string(), source })?;
    decompress_log(Box::new(file), path.display().to_string().into())
}

/// Looks at the first bytes of `input` and decompresses what they show to be gzip, zstd, xz or
/// bzip2.
///
/// # Errors
/// It cannot be read, or is compressed with something else, or with what this build leaves out; or
/// it is a table that was written for other programs.
pub fn decompress_log(input: Box<dyn Read>, name: Arc<str>) -> Result<LogFile, LogError> {
    let (start, source) = unpack_with_start(input, name)?;
    match start.as_slice() {
        [b'P', b'A', b'R', b'1', ..] => Err(LogError::Table { file: source.name, format: "Parquet" }),
        b"number" => Err(LogError::Table { file: source.name, format: "CSV" }),
        // Schedules of our own and of Batsim begin alike.
        b"job_id" => {
            let (start, bytes) = peek_start(source.bytes);
            match batsim::is_jobs(&start) {
                true => Ok(LogFile { bytes, ..source }),
                false => Err(LogError::Table { file: source.name, format: "CSV" }),
            }
        }
        _ => Ok(source),
    }
}

/// As [`decompress_log`], whatever the data is: not only logs come compressed.
///
/// # Errors
/// It cannot be read, or is compressed with something else, or with what this build leaves out.
pub fn unpack_data(input: Box<dyn Read>, name: Arc<str>) -> Result<LogFile, LogError> {
    unpack_with_start(input, name).map(|(_, source)| source)
}

/// The source, and its first bytes as they are stored.
fn unpack_with_start(mut input: Box<dyn Read>, name: Arc<str>) -> Result<(Vec<u8>, LogFile), LogError> {
    let mut magic = [0; 6];
    let mut byte_count = 0;
    while byte_count < magic.len() {
        match input.read(&mut magic[byte_count..]) {
            Ok(0) => break,
            Ok(more) => byte_count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(LogError::Read { file: name, line: 0, source });
            }
        }
    }
    let start = magic[..byte_count].to_vec();
    let whole: Box<dyn Read> = Box::new(io::Cursor::new(start.clone()).chain(input));
    let unknown = |format| {
        Err(LogError::Compression {
            file: name.clone(),
            format,
            why: "cannot be read here; decompress it first, or use gzip, zstd, xz or bzip2",
        })
    };
    let bytes = match start.as_slice() {
        [0x1f, 0x8b, ..] => open_gzip(whole, &name)?,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => open_zstd(whole, &name)?,
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => open_bzip2(whole, &name)?,
        [0xfd, b'7', b'z', b'X', b'Z', 0] => open_xz(whole, &name)?,
        [b'P', b'K', 3, 4, ..] => return unknown("zip"),
        _ => whole,
    };
    Ok((start, LogFile { bytes, name }))
}

#[cfg(feature = "gzip")]
fn open_gzip(input: Box<dyn Read>, _: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Ok(Box::new(GzipMembers(Some(flate2::bufread::GzDecoder::new(io::BufReader::new(input))))))
}

/// Several members in a row, which are one file, as for gzip itself. Trailing data that is no
/// member is reported as such; flate2's own reader of several members takes it for a truncated one.
#[cfg(feature = "gzip")]
struct GzipMembers(Option<flate2::bufread::GzDecoder<io::BufReader<Box<dyn Read>>>>);

#[cfg(feature = "gzip")]
impl Read for GzipMembers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::BufRead;
        while let Some(member) = &mut self.0 {
            let more = member.read(buffer)?;
            if more > 0 || buffer.is_empty() {
                return Ok(more);
            }
            // Its end was read and found true.
            let Some(mut rest) = self.0.take().map(flate2::bufread::GzDecoder::into_inner) else { break };
            match rest.fill_buf()? {
                [] => {}
                [0x1f] | [0x1f, 0x8b, ..] => self.0 = Some(flate2::bufread::GzDecoder::new(rest)),
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, Trailing)),
            }
        }
        Ok(0)
    }
}

#[cfg(not(feature = "gzip"))]
fn open_gzip(_: Box<dyn Read>, name: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Err(LogError::Compression {
        file: name.clone(),
        format: "gzip",
        why: "this build leaves out; build with the feature `gzip`, or decompress it first",
    })
}

#[cfg(feature = "zstd")]
fn open_zstd(input: Box<dyn Read>, name: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    match zstd::Decoder::new(input) {
        Ok(decoder) => Ok(Box::new(Unpacked(decoder))),
        Err(source) => Err(LogError::Read { file: name.clone(), line: 0, source }),
    }
}

/// Reports data errors, which zstd returns as other errors, as damage, distinct from errors of the
/// system.
#[cfg(feature = "zstd")]
struct Unpacked<R>(R);

#[cfg(feature = "zstd")]
impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Other if error.raw_os_error().is_none() => io::Error::new(io::ErrorKind::InvalidData, error),
            _ => error,
        })
    }
}

#[cfg(feature = "xz")]
fn open_xz(input: Box<dyn Read>, _: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Ok(Box::new(Damaged(lzma_rust2::XzReader::new(input, true))))
}

#[cfg(not(feature = "xz"))]
fn open_xz(_: Box<dyn Read>, name: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Err(LogError::Compression {
        file: name.clone(),
        format: "xz",
        why: "this build leaves out; build with the feature `xz`, or decompress it first",
    })
}

#[cfg(feature = "bzip2")]
fn open_bzip2(input: Box<dyn Read>, _: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Ok(Box::new(Damaged(bzip2::read::MultiBzDecoder::new(input))))
}

#[cfg(not(feature = "bzip2"))]
fn open_bzip2(_: Box<dyn Read>, name: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Err(LogError::Compression {
        file: name.clone(),
        format: "bzip2",
        why: "this build leaves out; build with the feature `bzip2`, or decompress it first",
    })
}

/// Reports any complaint of a decompressor about its data as damage, distinct from errors of the
/// system.
#[cfg(any(feature = "bzip2", feature = "xz"))]
struct Damaged<R>(R);

#[cfg(any(feature = "bzip2", feature = "xz"))]
impl<R: Read> Read for Damaged<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::Interrupted => error,
            _ if error.raw_os_error().is_some() => error,
            _ => io::Error::new(io::ErrorKind::InvalidData, error),
        })
    }
}

#[cfg(not(feature = "zstd"))]
fn open_zstd(_: Box<dyn Read>, name: &Arc<str>) -> Result<Box<dyn Read>, LogError> {
    Err(LogError::Compression {
        file: name.clone(),
        format: "zstd",
        why: "this build leaves out; build with the feature `zstd`, or decompress it first",
    })
}
