//! Lines of a file as bytes, at the speed of a search for their ends.

use std::io::{self, Read};

/// Bytes asked for at once.
const CHUNK: usize = 1 << 20;
/// Longer lines come in pieces.
const LONGEST: usize = 1 << 26;

pub(crate) struct InputLine<'a> {
    /// Without its end.
    pub(crate) bytes: &'a [u8],
    /// Its number, from 1.
    pub(crate) number: u32,
    /// True if it had an end: the last line of a truncated file has none.
    pub(crate) whole: bool,
}

pub(crate) struct InputLines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u32,
    over: bool,
    /// Reason why the input ended before its end.
    broken: Option<io::Error>,
}

impl<R: Read> InputLines<R> {
    pub(crate) fn new(input: R) -> InputLines<R> {
        InputLines { input, buffer: vec![0; CHUNK], start: 0, end: 0, number: 0, over: false, broken: None }
    }

    /// The next line; `None` after the last. Where reading fails, what was read comes first.
    ///
    /// # Errors
    /// Reading failed, and all that came before was taken.
    pub(crate) fn next(&mut self) -> io::Result<Option<InputLine<'_>>> {
        let mut searched_len = 0;
        let (length, ending_len) = loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched_len..]) {
                break (searched_len + at, 1);
            }
            searched_len = unread.len();
            if self.over || searched_len >= LONGEST {
                break (searched_len, 0);
            }
            self.fill_buffer();
        };
        if length + ending_len == 0 {
            return self.broken.take().map_or(Ok(None), Err);
        }
        self.number = self.number.saturating_add(1);
        let from = self.start;
        self.start += length + ending_len;
        let bytes = &self.buffer[from..from + length];
        let bytes = if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        let bytes = without_padding(bytes.strip_suffix(b"\r").unwrap_or(bytes));
        Ok(Some(InputLine { bytes, number: self.number, whole: ending_len == 1 }))
    }

    fn fill_buffer(&mut self) {
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

/// A line without the zero bytes around it that a crash of a machine leaves in a file: what was
/// written later follows them.
fn without_padding(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(b"\0") {
        bytes = rest;
    }
    while let Some(rest) = bytes.strip_suffix(b"\0") {
        bytes = rest;
    }
    bytes
}

/// A part of an input that ends with a line.
#[derive(Default)]
pub(crate) struct LineBlock {
    bytes: Vec<u8>,
    first: u32,
}

impl LineBlock {
    pub(crate) fn split_lines(&self) -> impl Iterator<Item = InputLine<'_>> {
        let mut from = 0;
        let mut number = self.first;
        std::iter::from_fn(move || {
            let rest = &self.bytes[from..];
            if rest.is_empty() {
                return None;
            }
            let end = memchr::memchr(b'\n', rest);
            let bytes = &rest[..end.unwrap_or(rest.len())];
            from += bytes.len() + 1;
            from = from.min(self.bytes.len());
            let bytes = if number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
            let bytes = without_padding(bytes.strip_suffix(b"\r").unwrap_or(bytes));
            let line = InputLine { bytes, number, whole: end.is_some() };
            number = number.saturating_add(1);
            Some(line)
        })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its memory, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}

pub(crate) struct Blocks<R> {
    input: R,
    /// Bytes that a block has at least, unless it is the last.
    size: usize,
    /// The beginning of a line that the last block did not end.
    rest: Vec<u8>,
    number: u32,
    over: bool,
    broken: Option<io::Error>,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(input: R, size: usize) -> Blocks<R> {
        Blocks { input, size: size.max(1), rest: Vec::new(), number: 1, over: false, broken: None }
    }

    /// The next block, in the memory of `buffer`; `None` after the last. Where reading fails, what
    /// was read comes first.
    ///
    /// # Errors
    /// Reading failed, and all that came before was taken.
    pub(crate) fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<LineBlock>> {
        buffer.clear();
        buffer.append(&mut self.rest);
        let mut searched_len = 0;
        let end = loop {
            if buffer.len() >= self.size
                && let Some(at) = memchr::memrchr(b'\n', &buffer[searched_len..])
            {
                break searched_len + at + 1;
            }
            // Longer lines come in pieces.
            if self.over || buffer.len() >= LONGEST.max(self.size) {
                break buffer.len();
            }
            searched_len = if buffer.len() >= self.size { buffer.len() } else { 0 };
            self.fill_buffer(&mut buffer);
        };
        if buffer.is_empty() {
            return self.broken.take().map_or(Ok(None), Err);
        }
        self.rest.extend_from_slice(&buffer[end..]);
        buffer.truncate(end);
        let first = self.number;
        let ends = memchr::memchr_iter(b'\n', &buffer).count();
        let whole = buffer.ends_with(b"\n");
        self.number = first.saturating_add(u32::try_from(ends + usize::from(!whole)).unwrap_or(u32::MAX));
        Ok(Some(LineBlock { bytes: buffer, first }))
    }

    fn fill_buffer(&mut self, buffer: &mut Vec<u8>) {
        let chunk_len = self.size.saturating_sub(buffer.len()).clamp(CHUNK.min(self.size), CHUNK);
        let from = buffer.len();
        buffer.resize(from + chunk_len, 0);
        let more = match self.input.read(&mut buffer[from..]) {
            Ok(0) => {
                self.over = true;
                0
            }
            Ok(more) => more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => {
                (self.over, self.broken) = (true, Some(error));
                0
            }
        };
        buffer.truncate(from + more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_same_lines_whatever_their_size() {
        let text = b"\xef\xbb\xbfone\r\n\ntwo, longer\n\n\nthree\nand four";
        let lines_of = |size: usize| {
            let mut blocks = Blocks::new(Slow(text), size);
            let mut list = Vec::new();
            while let Some(block) = blocks.next(vec![1, 2, 3]).expect("reads") {
                list.extend(block.split_lines().map(|line| (line.bytes.to_vec(), line.number, line.whole)));
            }
            list
        };
        let mut lines = InputLines::new(&text[..]);
        let mut expected = Vec::new();
        while let Some(line) = lines.next().expect("reads") {
            expected.push((line.bytes.to_vec(), line.number, line.whole));
        }
        assert_eq!(expected.len(), 7);
        for size in 1..50 {
            assert_eq!(lines_of(size), expected, "{size}");
        }
    }

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
        let mut lines = InputLines::new(Slow(b"\xef\xbb\xbfone\r\n\ntwo, longer\nthree"));
        let mut list = Vec::new();
        while let Some(line) = lines.next().expect("reads") {
            list.push((String::from_utf8_lossy(line.bytes).into_owned(), line.number, line.whole));
        }
        let expected = [("one", 1, true), ("", 2, true), ("two, longer", 3, true), ("three", 4, false)];
        assert_eq!(list, expected.map(|(text, number, whole)| (text.to_string(), number, whole)));
    }
}
