//! The standard output: data only.

use crate::exit::Failure;
use std::io::{self, IsTerminal, Write};

const NAME: &str = "standard output";

/// Writes everything and flushes.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| Failure::write(NAME, &e))
}

/// Whether a person reads it directly.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// How many columns the terminal has, where a person reads it and the terminal knows.
pub(crate) fn width() -> Option<usize> {
    // Some terminals (serial lines, editors, build services) say 0 for not knowing.
    comfy_table::Table::new().width().map(usize::from).filter(|&width| width > 0)
}

/// Whether it may be coloured.
pub(crate) fn is_styled() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
