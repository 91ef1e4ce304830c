//! Escapes control characters in untrusted text.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with its control characters written out (`\u{1b}`): a terminal obeys them, and names
/// come out of logs, studies and stores that may come from any source. Line ends and tabs are left,
/// which our own texts have.
pub fn visible(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if obeyed(c) {
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(visible("KTH \u{1b}[31m\u{7}\r\u{9b}x\u{7f}"), r"KTH \u{1b}[31m\u{7}\u{d}\u{9b}x\u{7f}");
        assert!(matches!(visible("two lines,\n\ta tab, █ and ü"), Cow::Borrowed(_)));
    }
}
