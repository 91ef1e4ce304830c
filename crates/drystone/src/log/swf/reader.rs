//! Reads a log record by record.

use super::header::SwfHeader;
use super::parse::{self, Malformed};
use super::quick;
use super::record::{FIELDS, SwfRecord};
#[cfg(feature = "gzip")]
use crate::log::source::Trailing;
use crate::log::{Foreign, LogError};
use std::io::{self, Read};
use std::sync::Arc;

/// Size of the buffer, and with it the longest line: a log is read with few system calls and stays
/// in the cache.
const BUFFER: usize = 256 * 1024;

/// Malformed lines kept for people; all of them are counted.
const MALFORMED_KEPT: usize = 100_000;

/// A streaming reader of Standard Workload Format. It buffers for itself: give it the bare file.
///
/// One byte loop, no allocation per field or record. Lines end with LF or CR LF, the last one may
/// end with the file; fields are separated by spaces or tabs; blank lines are skipped; comments are
/// kept wherever they stand, see [`SwfHeader`].
///
/// ```
/// use drystone::log::swf::SwfReader;
/// let log = "; MaxProcs: 128\n1 0 10 3600 64 -1 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1\n";
/// let mut reader = SwfReader::new(log.as_bytes(), "small.swf")?;
/// assert_eq!(reader.header().max_procs(), Some(128));
/// let record = reader.read_record()?.expect("one record");
/// assert_eq!((record.requested, record.run.round()), (64, 3600));
/// assert_eq!(reader.read_record()?, None);
/// # Ok::<(), drystone::log::LogError>(())
/// ```
pub struct SwfReader<R> {
    input: R,
    name: Arc<str>,
    buffer: Vec<u8>,
    /// The next byte to read.
    start: usize,
    /// Behind the last line end in the buffer.
    whole: usize,
    /// Behind the last byte in the buffer.
    filled: usize,
    ended: bool,
    /// Lines read.
    line: u64,
    /// Records read.
    records: u64,
    header: SwfHeader,
    lenient: bool,
    careful: bool,
    malformed: Vec<Malformed>,
    malformed_count: u64,
    /// Names of the fields, where a first line says them.
    names: Vec<String>,
    /// Lines with fields behind the eighteenth, the most of these, and lines with words in fields
    /// that can be without a number.
    beyond: (u64, u64, u64),
    /// Numbers of the names that stand where the format has numbers, and lines with such names.
    known: parse::SwfNames,
    named: u64,
}

/// `1 record has`, `2 records have`.
fn count_with_verb(records: u64) -> String {
    if records == 1 { "1 record has".to_string() } else { format!("{records} records have") }
}

impl<R: Read> SwfReader<R> {
    /// Starts to read: takes in the header, up to the first line that is not a comment. `name`
    /// stands in messages.
    ///
    /// # Errors
    /// Reading failed, or the first line is too long to be text.
    pub fn new(input: R, name: impl Into<Arc<str>>) -> Result<SwfReader<R>, LogError> {
        let mut reader = SwfReader {
            input,
            name: name.into(),
            // One byte more for the line end that the last line may lack.
            buffer: vec![0; BUFFER + 1],
            start: 0,
            whole: 0,
            filled: 0,
            ended: false,
            line: 0,
            records: 0,
            header: SwfHeader::new(),
            lenient: false,
            careful: false,
            malformed: Vec::new(),
            malformed_count: 0,
            names: Vec::new(),
            beyond: (0, 0, 0),
            known: parse::SwfNames::default(),
            named: 0,
        };
        while (reader.start < reader.whole || reader.refill_buffer()?) && reader.take_comment() {}
        Ok(reader)
    }

    /// Skips and counts malformed lines instead of failing.
    #[must_use]
    pub fn with_leniency(mut self, lenient: bool) -> SwfReader<R> {
        self.lenient = lenient;
        self
    }

    /// Reads every line by the careful way that otherwise is left to unusual lines. The result is
    /// the same; this is for comparisons.
    #[must_use]
    pub fn with_care(mut self, careful: bool) -> SwfReader<R> {
        self.careful = careful;
        self
    }

    /// The comments read so far: before the first [`SwfReader::read_record`] the whole header,
    /// later also comments further down.
    #[must_use]
    pub fn header(&self) -> &SwfHeader {
        &self.header
    }

    /// The name that stands in messages.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the number of lines read, comments and blank lines included.
    #[must_use]
    pub fn line_count(&self) -> u64 {
        self.line
    }

    /// Returns the number of records read.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.records
    }

    /// Returns the number of malformed lines skipped, and the first 100,000 of them.
    #[must_use]
    pub fn malformed_lines(&self) -> (u64, &[Malformed]) {
        (self.malformed_count, &self.malformed)
    }

    /// Returns the data of lines beyond the eighteen fields, for people: named once, and left out.
    /// `None` where there is nothing.
    #[must_use]
    pub fn describe_extra_data(&self) -> Option<String> {
        let (lines, most, words) = self.beyond;
        let mut phrases = Vec::new();
        if lines > 0 {
            let extra_names = self.names.get(FIELDS..).filter(|names| !names.is_empty());
            let names_text = extra_names.map_or(String::new(), |names| format!(" ({})", names.join(", ")));
            let columns = if most == 1 { "1 column".to_string() } else { format!("up to {most} columns") };
            phrases.push(format!(
                "{} {columns} beyond the 18 of the format{names_text}, which are left out",
                count_with_verb(lines)
            ));
        }
        if words > 0 {
            phrases.push(format!(
                "{} words in fields of numbers that can be without, which are taken as unknown",
                count_with_verb(words)
            ));
        }
        if self.named > 0 {
            phrases.push(format!(
                "{} names of users, groups, executables, queues or partitions where the format has numbers; each name \
                 got a number from 1,000,000,001 on, in order of appearance",
                count_with_verb(self.named)
            ));
        }
        (!phrases.is_empty()).then(|| phrases.join("; "))
    }

    /// Gives up the reader for its header and what is known of malformed lines.
    #[must_use]
    pub fn into_header(self) -> (SwfHeader, Vec<Malformed>) {
        (self.header, self.malformed)
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// Reading failed, or the line is malformed (unless lenient). After an error of a line, reading
    /// continues with the next.
    #[inline]
    pub fn read_record(&mut self) -> Result<Option<SwfRecord>, LogError> {
        loop {
            if self.start == self.whole && !self.refill_buffer()? {
                return Ok(None);
            }
            if !self.careful
                && let Some((record, used)) = quick::read_record(&self.buffer[self.start..self.whole], self.line + 1)
            {
                self.start += used;
                self.line += 1;
                self.records += 1;
                return Ok(Some(record));
            }
            if let Some(record) = self.read_unusual()? {
                return Ok(Some(record));
            }
        }
    }

    /// Reads a line by the careful way; `None` where it holds no record.
    #[cold]
    fn read_unusual(&mut self) -> Result<Option<SwfRecord>, LogError> {
        if self.take_comment() {
            return Ok(None);
        }
        let (text, byte_count) = self.next_line();
        if self.records == 0
            && self.names.is_empty()
            && self.malformed_count == 0
            && let Some(names) = parse::read_names(text)
        {
            self.names = names;
            self.start += byte_count;
            self.line += 1;
            return Ok(None);
        }
        let mut known_names = std::mem::take(&mut self.known);
        let (text, byte_count) = self.next_line();
        let parse_result = parse::parse_carefully(text, self.line + 1, &mut known_names);
        // Only the first line tells: further down a line is a record with a mistake.
        let foreign = if parse_result.is_err() && self.records == 0 { Foreign::from_first_line(text) } else { None };
        self.start += byte_count;
        self.line += 1;
        self.known = known_names;
        match parse_result {
            Ok((record, beyond)) => {
                self.records += 1;
                self.beyond.0 += u64::from(beyond.fields > 0);
                self.beyond.1 = self.beyond.1.max(beyond.fields);
                self.beyond.2 += u64::from(beyond.words > 0);
                self.named += u64::from(beyond.names > 0);
                Ok(Some(record))
            }
            Err(defect) if self.lenient => {
                self.malformed_count += 1;
                if self.malformed.len() < MALFORMED_KEPT {
                    self.malformed.push(defect);
                }
                Ok(None)
            }
            Err(_) if foreign.is_some() && self.malformed_count == 0 => {
                let foreign = foreign.unwrap_or(Foreign::Binary);
                Err(LogError::Foreign { file: self.name.clone(), line: self.line, foreign })
            }
            Err(defect) => Err(LogError::Malformed { file: self.name.clone(), malformed: defect }),
        }
    }

    /// Takes in the next line if it is a comment or blank.
    fn take_comment(&mut self) -> bool {
        let (text, byte_count) = self.next_line();
        match text.get(parse::skip_blanks(text, 0)) {
            None => {}
            Some(b';') => {
                let text = text.to_vec();
                self.header.push_line(text, self.records);
            }
            Some(_) => return false,
        }
        self.start += byte_count;
        self.line += 1;
        true
    }

    /// The next line without its end, and its length with it. There is one: `start < whole`.
    fn next_line(&self) -> (&[u8], usize) {
        let rest = &self.buffer[self.start..self.whole];
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        // All carriage returns before the line feed, or a comment would lose one each time it is
        // rewritten.
        let returns = rest[..end].iter().rev().take_while(|b| **b == b'\r').count();
        (&rest[..end - returns], rest.len().min(end + 1))
    }

    /// Gets at least one more whole line into the buffer; `false` at the end of the input.
    #[cold]
    fn refill_buffer(&mut self) -> Result<bool, LogError> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        self.whole = 0;
        loop {
            if self.filled == BUFFER {
                return Err(LogError::LongLine { file: self.name.clone(), line: self.line + 1, limit: BUFFER });
            }
            let more = match self.input.read(&mut self.buffer[self.filled..BUFFER]) {
                Ok(more) => more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.read_error(error)),
            };
            let new = self.filled..self.filled + more;
            self.filled = new.end;
            if self.line == 0 && self.start == 0 && self.filled >= 3 {
                // A byte order mark, which some editors put before UTF-8, is no part of the text.
                if self.buffer.starts_with(b"\xef\xbb\xbf") {
                    self.start = 3;
                }
            }
            if more == 0 {
                self.ended = true;
                if self.start == self.filled {
                    self.whole = self.start;
                    return Ok(false);
                }
                self.buffer[self.filled] = b'\n';
                self.filled += 1;
                self.whole = self.filled;
                return Ok(true);
            }
            if let Some(last) = self.buffer[new.clone()].iter().rposition(|b| *b == b'\n') {
                self.whole = new.start + last + 1;
                return Ok(true);
            }
        }
    }

    fn read_error(&mut self, source: io::Error) -> LogError {
        self.ended = true;
        let (file, line) = (self.name.clone(), self.line);
        match source.kind() {
            io::ErrorKind::UnexpectedEof => LogError::Truncated { file, line },
            #[cfg(feature = "gzip")]
            _ if source.get_ref().is_some_and(|cause| cause.is::<Trailing>()) => LogError::Trailing { file, line },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => LogError::Damaged { file, line, source },
            _ => LogError::Read { file, line, source },
        }
    }
}

impl<R: Read> Iterator for SwfReader<R> {
    type Item = Result<SwfRecord, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_record().transpose()
    }
}
