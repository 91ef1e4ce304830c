//! First bytes of a source, examined before it is read.

use std::io::{self, Read};

/// Bytes that are examined before the first read.
const PEEKED: usize = 4096;

/// The first bytes of a source, and all of it. A problem met on the way is met again where the
/// reading comes to it.
pub(super) fn peek_start(mut bytes: Box<dyn Read>) -> (Vec<u8>, Box<dyn Read>) {
    let mut start = Vec::new();
    let mut failure = None;
    while start.len() < PEEKED && failure.is_none() {
        let mut more = [0; PEEKED];
        match bytes.read(&mut more[start.len()..]) {
            Ok(0) => break,
            Ok(read) => start.extend_from_slice(&more[start.len()..start.len() + read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => failure = Some(error),
        }
    }
    let again = io::Cursor::new(start.clone());
    match failure {
        None => (start, Box::new(again.chain(bytes))),
        Some(error) => (start, Box::new(again.chain(Fails(Some(error))))),
    }
}

/// A source that fails.
struct Fails(Option<io::Error>);

impl Read for Fails {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
