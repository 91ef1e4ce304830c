//! Messages for people, on the standard error.

use anstyle::{AnsiColor, Style};
use drystone_report::document::make_visible;
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
pub(crate) fn overhear_messages<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = OVERHEARD.replace(Some(Vec::new()));
    let result = work();
    (result, OVERHEARD.replace(before).unwrap_or_default())
}

/// Returns whether a caller reports the messages of this thread.
pub(crate) fn is_overheard() -> bool {
    OVERHEARD.with_borrow(Option::is_some)
}

/// Silences notes and warnings.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says nothing where the pipe is closed (`2>&1 | head`): `eprintln!` would panic.
fn print_styled(style: Style, prefix: &str, text: &str) {
    let is_kept = OVERHEARD
        .with_borrow_mut(|messages| messages.as_mut().map(|messages| messages.push(text.to_string())).is_some());
    if is_kept {
        return;
    }
    let _ = writeln!(anstream::stderr(), "{style}{prefix}:{style:#} {}", make_visible(text));
}

pub(crate) fn print_error(text: &str) {
    print_styled(ERROR, "error", text);
}

pub(crate) fn print_warning(text: &str) {
    if is_overheard() || !is_quiet() {
        print_styled(WARNING, "warning", text);
    }
}

/// A warning that `--quiet` does not silence: the result is none.
pub(crate) fn print_loud_warning(text: &str) {
    print_styled(WARNING, "warning", text);
}

pub(crate) fn print_note(text: &str) {
    if is_overheard() || !is_quiet() {
        print_styled(NOTE, "note", text);
    }
}
