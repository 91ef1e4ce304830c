//! Messages for people, on the standard error.

use anstyle::{AnsiColor, Style};
use drystone_report::document::visible;
use std::cell::RefCell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = Style::new().dimmed();

static QUIET: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Messages of this thread, collected for a caller that reports them.
    static OVERHEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does some work of which the messages are not printed but answered. Nor are there progress bars.
pub(crate) fn overhear<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = OVERHEARD.replace(Some(Vec::new()));
    let done = work();
    (done, OVERHEARD.replace(before).unwrap_or_default())
}

/// Returns whether a caller reports the messages of this thread.
pub(crate) fn is_overheard() -> bool {
    OVERHEARD.with_borrow(Option::is_some)
}

/// Silences notes and warnings.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Returns whether notes and warnings are silenced.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says nothing where the pipe is closed (`2>&1 | head`): `eprintln!` would panic.
fn say(style: Style, what: &str, text: &str) {
    let kept = OVERHEARD.with_borrow_mut(|heard| heard.as_mut().map(|heard| heard.push(text.to_string())).is_some());
    if kept {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{style}{what}:{style:#} {}", visible(text));
}

/// Prints an error.
pub(crate) fn error(text: &str) {
    say(ERROR, "error", text);
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    if is_overheard() || !is_quiet() {
        say(WARNING, "warning", text);
    }
}

/// A warning that `--quiet` does not silence: the result is none.
pub(crate) fn insist(text: &str) {
    say(WARNING, "warning", text);
}

/// Prints a note.
pub(crate) fn note(text: &str) {
    if is_overheard() || !is_quiet() {
        say(NOTE, "note", text);
    }
}
