//! Numbers that are no JSON: `NaN` and `Infinity`, as Python and Slurm write them.

use std::io::{self, Read};

/// Bytes that are asked for at once.
const CHUNK: usize = 1 << 18;
/// The words, and texts as long as they are: an empty value and blanks, so that places in error
/// messages stay.
const WORDS: [(&[u8], &[u8]); 3] = [(b"NaN", b"\"\" "), (b"Infinity", b"\"\"      "), (b"-Infinity", b"\"\"       ")];
const LONGEST: usize = 9;

/// JSON in which these numbers are missing values.
pub(super) struct WithoutConstants<R> {
    input: R,
    /// Bytes that were read, changed up to `changed`, and given up to `given`.
    bytes: Vec<u8>,
    changed: usize,
    given: usize,
    in_text: bool,
    /// True behind a backslash.
    escaped: bool,
    /// True if there is no more.
    over: bool,
}

impl<R: Read> WithoutConstants<R> {
    pub(super) fn new(input: R) -> WithoutConstants<R> {
        WithoutConstants { input, bytes: Vec::new(), changed: 0, given: 0, in_text: false, escaped: false, over: false }
    }

    /// Reads a chunk behind what is left of the last one.
    fn fill_buffer(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.given);
        (self.changed, self.given) = (self.changed - self.given, 0);
        let from = self.bytes.len();
        self.bytes.resize(from + CHUNK, 0);
        let more = self.input.read(&mut self.bytes[from..]);
        self.bytes.truncate(from + *more.as_ref().unwrap_or(&0));
        self.over = more? == 0;
        self.replace_constants();
        Ok(())
    }

    /// Replaces the words of what was read; a word may be cut off at its end.
    fn replace_constants(&mut self) {
        let mut at = self.changed;
        while at < self.bytes.len() {
            match self.bytes[at] {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                b'N' | b'I' | b'-' if !self.in_text => {
                    let rest = &mut self.bytes[at..];
                    if rest.len() < LONGEST && !self.over {
                        break;
                    }
                    if let Some((word, blank)) = WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
                        rest[..word.len()].copy_from_slice(blank);
                        at += word.len();
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.changed = at;
    }
}

impl<R: Read> Read for WithoutConstants<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.changed && !self.over {
            self.fill_buffer()?;
        }
        let more = (self.changed - self.given).min(buffer.len());
        buffer[..more].copy_from_slice(&self.bytes[self.given..self.given + more]);
        self.given += more;
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let more = self.0.len().min(self.1).min(buffer.len());
            buffer[..more].copy_from_slice(&self.0[..more]);
            self.0 = &self.0[more..];
            Ok(more)
        }
    }

    #[test]
    fn words_outside_of_texts_are_missing_values() {
        let text = r#"{"a":NaN,"NaN":-Infinity,"b\"NaN":"-Infinity \\","c":[Infinity,-1,NaN],"N":-12}"#;
        let right = r#"{"a":"" ,"NaN":""       ,"b\"NaN":"-Infinity \\","c":[""      ,-1,"" ],"N":-12}"#;
        for size in 1..30 {
            let mut output = String::new();
            WithoutConstants::new(Slow(text.as_bytes(), size)).read_to_string(&mut output).expect("reads");
            assert_eq!(output, right, "{size}");
        }
        let mut output = String::new();
        WithoutConstants::new(&b"[NaN"[..]).read_to_string(&mut output).expect("reads");
        assert_eq!(output, "[\"\" ");
    }
}
