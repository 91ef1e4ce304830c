//! Line ends within quoted values, as spreadsheets and data frames write names with them: they
//! become blanks, so that a row is a line.

use super::TextLayout;
use super::header::{FirstLine, RowHeader};
use std::io::{self, Read};

/// Bytes asked for at once.
const CHUNK: usize = 1 << 18;
/// A quoted value that does not end within so many bytes is none: its quote stands for itself.
const LONGEST: usize = 1 << 16;

/// An input whose quoted values have no line ends. The lines behind such a value keep their
/// numbers: as many empty lines follow its row.
pub(super) struct Unfolded<R> {
    input: R,
    /// Delimiter of columns, once known; `None` within where values are not quoted.
    delimiter: Option<Option<u8>>,
    layout: TextLayout,
    chunk: Vec<u8>,
    /// Bytes read and not yet looked at.
    raw: Vec<u8>,
    /// Bytes ready, and how many of them were given.
    ready: Vec<u8>,
    given: usize,
    /// The last byte that was looked at.
    before: u8,
    /// Line ends taken out of the present row.
    owed: usize,
    over: bool,
}

impl<R: Read> Unfolded<R> {
    pub(super) fn new(input: R, layout: &TextLayout) -> Unfolded<R> {
        Unfolded {
            input,
            delimiter: None,
            layout: layout.clone(),
            chunk: Vec::new(),
            raw: Vec::new(),
            ready: Vec::new(),
            given: 0,
            before: b'\n',
            owed: 0,
            over: false,
        }
    }

    fn fill_raw(&mut self) -> io::Result<()> {
        self.chunk.resize(CHUNK, 0);
        let byte_count = loop {
            match self.input.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.raw.extend_from_slice(&self.chunk[..byte_count]);
        self.over = byte_count == 0;
        Ok(())
    }

    /// Returns the delimiter if values are quoted, from the first line that is no message; `None`
    /// while that is not there.
    fn find_delimiter(&self) -> Option<Option<u8>> {
        let text = self.raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.raw);
        let mut lines = text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end);
        // What stands behind the last line end is not a whole line yet.
        let whole = if self.over { usize::MAX } else { memchr::memchr_iter(b'\n', text).count() };
        let first = lines
            .by_ref()
            .take(whole)
            .find(|line| !line.is_empty() && !crate::text::is_message(line) && !crate::text::is_remark(line));
        let Some(first) = first else { return self.over.then_some(None) };
        let given_delimiter = self.layout.delimiter.as_deref();
        let header = match (RowHeader::of_line(first, given_delimiter), &self.layout.columns) {
            (FirstLine::Header(_) | FirstLine::Row, Some(columns)) => {
                RowHeader::from_layout(columns, first, given_delimiter).ok().map(|h| h.0)
            }
            (FirstLine::Header(header), None) => Some(header),
            _ => None,
        };
        Some(header.filter(|header| header.quoted).and_then(|header| header.delimiter.first().copied()))
    }

    /// Moves what is certain from `raw` to `ready`.
    fn unfold_lines(&mut self, delimiter: u8) {
        let mut at = 0;
        while at < self.raw.len() {
            let rest = &self.raw[at..];
            let mark_offset = match self.owed {
                0 => memchr::memchr(b'"', rest),
                _ => memchr::memchr2(b'"', b'\n', rest),
            };
            let Some(offset) = mark_offset else {
                self.pass_through(at, self.raw.len());
                at = self.raw.len();
                break;
            };
            self.pass_through(at, at + offset);
            at += offset;
            if self.raw[at] == b'\n' {
                let lines = 1 + std::mem::take(&mut self.owed);
                self.ready.extend(std::iter::repeat_n(b'\n', lines));
                (self.before, at) = (b'\n', at + 1);
                continue;
            }
            if self.before != delimiter && self.before != b'\n' {
                self.pass_through(at, at + 1);
                at += 1;
                continue;
            }
            match closed_length(&self.raw[at + 1..], self.over) {
                Some(length) => {
                    let value = &self.raw[at..at + length + 2];
                    self.owed += memchr::memchr_iter(b'\n', value).count();
                    self.ready.extend(value.iter().map(|&b| if matches!(b, b'\n' | b'\r') { b' ' } else { b }));
                    (self.before, at) = (b'"', at + length + 2);
                }
                // A quote without the other one stands for itself.
                None if self.over || self.raw.len() - at > LONGEST => {
                    self.pass_through(at, at + 1);
                    at += 1;
                }
                None => break,
            }
        }
        self.raw.drain(..at);
    }

    fn pass_through(&mut self, from: usize, to: usize) {
        self.ready.extend_from_slice(&self.raw[from..to]);
        if let Some(&last) = self.raw[from..to].last() {
            self.before = last;
        }
    }
}

/// Returns the length of a value up to its closing quote, behind the opening one; `None` if that is
/// not there, or too far away. A quote at the end of what was read may be the first of two.
fn closed_length(text: &[u8], over: bool) -> Option<usize> {
    let text = &text[..text.len().min(LONGEST)];
    let mut at = 0;
    loop {
        let quote = at + memchr::memchr(b'"', &text[at..])?;
        match text.get(quote + 1) {
            Some(b'"') => at = quote + 2,
            None if !over => return None,
            _ => return Some(quote),
        }
    }
}

impl<R: Read> Read for Unfolded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.given < self.ready.len() {
                let more = buffer.len().min(self.ready.len() - self.given);
                buffer[..more].copy_from_slice(&self.ready[self.given..self.given + more]);
                self.given += more;
                return Ok(more);
            }
            self.ready.clear();
            self.given = 0;
            if self.over && self.raw.is_empty() {
                return Ok(0);
            }
            match self.delimiter {
                None => {
                    self.delimiter = self.find_delimiter();
                    if self.delimiter.is_none() {
                        self.fill_raw()?;
                    }
                }
                Some(None) if self.raw.is_empty() => return self.input.read(buffer),
                Some(None) => std::mem::swap(&mut self.ready, &mut self.raw),
                Some(Some(delimiter)) => {
                    self.unfold_lines(delimiter);
                    if self.ready.is_empty() && !self.over {
                        self.fill_raw()?;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let more = self.0.len().min(self.1).min(buffer.len());
            buffer[..more].copy_from_slice(&self.0[..more]);
            self.0 = &self.0[more..];
            Ok(more)
        }
    }

    fn unfolded(text: &str) -> String {
        let read = |step: usize| {
            let mut out = String::new();
            Unfolded::new(Slow(text.as_bytes(), step), &TextLayout::default()).read_to_string(&mut out).expect("reads");
            out
        };
        let whole = read(usize::MAX);
        let steps = if text.len() > 1_000 { 5_000..5_002 } else { 1..8 };
        assert!(steps.into_iter().all(|step| read(step) == whole), "{text}");
        whole
    }

    #[test]
    fn line_ends_in_quotes_become_blanks_and_lines_keep_their_numbers() {
        let head = "JobID,User,JobName,Submit,Start,End,State\n";
        for (text, expected) in [
            ("1,a,\"x\ny\",5\n2,b,z,6\n", "1,a,\"x y\",5\n\n2,b,z,6\n"),
            ("1,a,\"x\r\n\"\"y\n\",5\r\n2\n", "1,a,\"x  \"\"y \",5\r\n\n\n2\n"),
            // No quoted value: a quote in the middle, and one without another.
            ("1,a,x\"y\n2,b,\"\n", "1,a,x\"y\n2,b,\"\n"),
            ("\"1\",\"a\"\n", "\"1\",\"a\"\n"),
            ("1,a,\"x\ny\"", "1,a,\"x y\""),
        ] {
            assert_eq!(unfolded(&format!("{head}{text}")), format!("{head}{expected}"));
        }
        // Values of `sacct -P` are not quoted.
        let text = "JobID|User|Submit|Start|End|State\n1|\"a\n2|b\"\n";
        assert_eq!(unfolded(text), text);
        assert_eq!(unfolded(""), "");
        // A quote that does not close before long stands for itself.
        let long = format!("{head}1,a,\"x\n{}", "2,b,c,6\n".repeat(10_000));
        assert_eq!(unfolded(&long), long);
        assert_eq!(unfolded(&format!("{long}3,\"\n")), format!("{long}3,\"\n"));
    }
}
