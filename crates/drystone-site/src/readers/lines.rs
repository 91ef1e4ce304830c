//! Lines of a file as bytes, at the speed of a search for their ends.

use std::io::{self, Read};

/// Bytes asked for at once.
const CHUNK: usize = 1 << 20;
/// Longer lines come in pieces.
const LONGEST: usize = 1 << 26;

/// One line.
pub(crate) struct Line<'a> {
    /// Without its end.
    pub(crate) bytes: &'a [u8],
    /// Its number, from 1.
    pub(crate) number: u32,
    /// Whether it had an end: the last line of a file that was cut has none.
    pub(crate) whole: bool,
}

/// The lines of an input.
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u32,
    over: bool,
    /// Why the input ended before its end.
    broken: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, buffer: vec![0; CHUNK], start: 0, end: 0, number: 0, over: false, broken: None }
    }

    /// The next line; `None` after the last. Where reading fails, what was read comes first.
    ///
    /// # Errors
    /// Reading failed, and all that came before was taken.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let (length, ending) = loop {
            let known = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &known[searched..]) {
                break (searched + at, 1);
            }
            searched = known.len();
            if self.over || searched >= LONGEST {
                break (searched, 0);
            }
            self.fill();
        };
        if length + ending == 0 {
            return self.broken.take().map_or(Ok(None), Err);
        }
        self.number = self.number.saturating_add(1);
        let from = self.start;
        self.start += length + ending;
        let bytes = &self.buffer[from..from + length];
        let bytes = if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(Line { bytes, number: self.number, whole: ending == 1 }))
    }

    fn fill(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.over = true,
            Ok(more) => self.end += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => (self.over, self.broken) = (true, Some(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives few bytes at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let more = self.0.len().min(3).min(buffer.len());
            buffer[..more].copy_from_slice(&self.0[..more]);
            self.0 = &self.0[more..];
            Ok(more)
        }
    }

    #[test]
    fn lines_have_ends_of_two_kinds_or_none() {
        let mut lines = Lines::new(Slow(b"\xef\xbb\xbfone\r\n\ntwo, longer\nthree"));
        let mut all = Vec::new();
        while let Some(line) = lines.next().expect("reads") {
            all.push((String::from_utf8_lossy(line.bytes).into_owned(), line.number, line.whole));
        }
        let expected = [("one", 1, true), ("", 2, true), ("two, longer", 3, true), ("three", 4, false)];
        assert_eq!(all, expected.map(|(text, number, whole)| (text.to_string(), number, whole)));
    }
}
