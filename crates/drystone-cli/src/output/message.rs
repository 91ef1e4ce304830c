//! Messages for people, on the standard error.

use anstyle::{AnsiColor, Style};
use std::sync::atomic::{AtomicBool, Ordering};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = Style::new().dimmed();

static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences notes and warnings.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether notes and warnings are silenced.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// What went wrong.
pub(crate) fn error(text: &str) {
    anstream::eprintln!("{ERROR}error:{ERROR:#} {text}");
}

/// What may surprise.
pub(crate) fn warning(text: &str) {
    if !is_quiet() {
        anstream::eprintln!("{WARNING}warning:{WARNING:#} {text}");
    }
}

/// What is good to know.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        anstream::eprintln!("{NOTE}note:{NOTE:#} {text}");
    }
}
