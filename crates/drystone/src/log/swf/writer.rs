//! Writes a log record by record.

use super::decimal::SwfDecimal;
use super::header::SwfHeader;
use super::record::{FIELDS, SwfRecord};
use std::io::{self, Write};

/// Column widths as the Parallel Workloads Archive writes them; wider numbers push their
/// neighbours.
const WIDTHS: [usize; FIELDS] = [5, 8, 6, 6, 4, 6, 5, 4, 6, 5, 2, 3, 3, 3, 2, 2, 2, 2];

/// A streaming writer of Standard Workload Format, in the archive's columns. Give it a buffered
/// output.
///
/// Comments keep their places: call [`SwfWriter::write_comments`] before each record with the
/// header as far as it is known.
///
/// ```
/// use drystone::log::swf::{SwfReader, SwfWriter};
/// let log = "; Version: 2.2\n1 0 10 3600 64 -1 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1\n; the end\n";
/// let mut reader = SwfReader::new(log.as_bytes(), "small.swf")?;
/// let mut writer = SwfWriter::new(Vec::new());
/// while let Some(record) = reader.read_record()? {
///     writer.write_comments(reader.header())?;
///     writer.write_record(&record)?;
/// }
/// writer.write_comments(reader.header())?;
/// let text = String::from_utf8(writer.into_inner())?;
/// assert!(text.starts_with("; Version: 2.2\n    1        0     10   3600   64"));
/// assert!(text.ends_with("; the end\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SwfWriter<W> {
    out: W,
    /// Comments written so far.
    comments: usize,
    /// The line being put together, kept for its memory.
    line: Vec<u8>,
}

impl<W: Write> SwfWriter<W> {
    /// Starts to write.
    pub fn new(out: W) -> SwfWriter<W> {
        SwfWriter { out, comments: 0, line: Vec::with_capacity(128) }
    }

    /// Writes the comments of `header` that have not been written yet, verbatim.
    ///
    /// # Errors
    /// Writing failed.
    pub fn write_comments(&mut self, header: &SwfHeader) -> io::Result<()> {
        for comment in header.comments().iter().skip(self.comments) {
            self.out.write_all(&comment.text)?;
            self.out.write_all(b"\n")?;
            self.comments += 1;
        }
        Ok(())
    }

    /// Writes one record.
    ///
    /// # Errors
    /// Writing failed.
    pub fn write_record(&mut self, record: &SwfRecord) -> io::Result<()> {
        self.line.clear();
        for (value, width) in record.values().into_iter().zip(WIDTHS) {
            push(&mut self.line, value, width);
            self.line.push(b' ');
        }
        self.line.pop();
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    /// Writes a whole log, every comment in its place.
    ///
    /// # Errors
    /// Writing failed.
    pub fn write_log<'r>(
        &mut self,
        header: &SwfHeader,
        records: impl IntoIterator<Item = &'r SwfRecord>,
    ) -> io::Result<()> {
        for (count, record) in (0u64..).zip(records) {
            while let Some(comment) = header.comments().get(self.comments)
                && comment.after <= count
            {
                self.out.write_all(&comment.text)?;
                self.out.write_all(b"\n")?;
                self.comments += 1;
            }
            self.write_record(record)?;
        }
        self.write_comments(header)
    }

    /// Writes out what the output has buffered.
    ///
    /// # Errors
    /// Writing failed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Gives back the output.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Appends a number, right-aligned in `width` columns: as [`SwfDecimal`]'s `Display` does, only
/// faster.
fn push(line: &mut Vec<u8>, value: SwfDecimal, width: usize) {
    // Twenty digits of 64 bits, a point, a sign, and a zero before the point.
    let mut text = [b' '; 24];
    let mut at = text.len();
    let mut put_byte = |byte: u8| {
        at -= 1;
        text[at] = byte;
    };
    let mut rest = value.digits().unsigned_abs();
    let mut digit_count = 0;
    loop {
        put_byte(b'0' + (rest % 10) as u8);
        rest /= 10;
        digit_count += 1;
        if digit_count == value.decimals() {
            put_byte(b'.');
        } else if rest == 0 && digit_count > value.decimals() {
            break;
        }
    }
    if value.digits() < 0 {
        put_byte(b'-');
    }
    let start = at.min(text.len().saturating_sub(width));
    line.extend_from_slice(&text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_as_display_does() {
        for digits in [0, 7, -7, 10, 99, -100, 1_234_567, i64::MAX, i64::MIN] {
            for decimals in 0..=9 {
                for width in [0, 2, 5, 8] {
                    let value = SwfDecimal::new(digits, decimals).expect("few decimals");
                    let mut line = Vec::new();
                    push(&mut line, value, width);
                    let line = String::from_utf8(line).expect("text");
                    assert_eq!(line, format!("{value:>width$}"), "{digits} {decimals}");
                }
            }
        }
    }
}
