//! The first rows of a text, whatever the size of the blocks that it is read in.

use crate::text::{is_message, is_remark};
use std::io::{self, Cursor, Read};

/// Bytes that the first rows of a table are looked for in.
const HEAD: u64 = 1 << 20;

pub(super) struct TextHead {
    bytes: Vec<u8>,
}

impl TextHead {
    /// Reads the beginning. Returns it, and the text from its first byte on; an error that comes
    /// within the beginning comes again behind it.
    pub(super) fn read_head<R: Read>(mut input: R) -> (TextHead, impl Read) {
        let mut bytes = Vec::new();
        let trouble = input.by_ref().take(HEAD).read_to_end(&mut bytes).err();
        let head = TextHead { bytes: bytes.clone() };
        (head, Cursor::new(bytes).chain(TroubledInput { trouble, input }))
    }

    /// Returns its whole lines but messages of `sacct` and remarks.
    pub(super) fn whole_rows(&self) -> Vec<&[u8]> {
        let mut lines: Vec<&[u8]> = self.bytes.split(|byte| *byte == b'\n').collect();
        if self.bytes.len() as u64 >= HEAD {
            lines.pop();
        }
        lines.into_iter().map(<[u8]>::trim_ascii_end).filter(|line| !is_message(line) && !is_remark(line)).collect()
    }
}

/// Rest of the text, behind the beginning.
struct TroubledInput<R> {
    trouble: Option<io::Error>,
    input: R,
}

impl<R: Read> Read for TroubledInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => self.input.read(buffer),
        }
    }
}
