//! The standard output: data only.

use crate::exit::CommandFailure;
use std::io::{self, IsTerminal, Write};

const NAME: &str = "standard output";

/// Writes everything and flushes.
pub(crate) fn write_bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| CommandFailure::write_error(NAME, &e))
}

/// Returns whether a person reads it directly.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns the number of columns of the terminal, if a person reads it and the terminal reports it.
pub(crate) fn terminal_width() -> Option<usize> {
    // Some terminals (serial lines, editors, build services) say 0 for not knowing.
    comfy_table::Table::new().width().map(usize::from).filter(|&width| width > 0)
}

/// Returns whether it may be coloured.
pub(crate) fn is_styled() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
