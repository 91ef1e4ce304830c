//! Messages for people, on the standard error.

use super::visible::visible;
use anstyle::{AnsiColor, Style};
use std::io::Write;
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

/// Says nothing where the pipe is closed (`2>&1 | head`): `eprintln!` would panic.
fn say(style: Style, what: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{style}{what}:{style:#} {}", visible(text));
}

/// What went wrong.
pub(crate) fn error(text: &str) {
    say(ERROR, "error", text);
}

/// What may surprise.
pub(crate) fn warning(text: &str) {
    if !is_quiet() {
        say(WARNING, "warning", text);
    }
}

/// A warning that `--quiet` does not silence: the result is none.
pub(crate) fn insist(text: &str) {
    say(WARNING, "warning", text);
}

/// What is good to know.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        say(NOTE, "note", text);
    }
}
