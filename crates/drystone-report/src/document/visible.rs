//! Escapes control characters in untrusted text.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with its control characters written out (`\u{1b}`): a terminal obeys them, and names
/// come out of logs, studies and stores that may come from any source. Line ends and tabs are left,
/// which our own texts have.
pub fn make_visible(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut visible_text = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_obeyed(c) {
            let _ = write!(visible_text, "{}", c.escape_unicode());
        } else {
            visible_text.push(c);
        }
    }
    Cow::Owned(visible_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(make_visible("KTH \u{1b}[31m\u{7}\r\u{9b}x\u{7f}"), r"KTH \u{1b}[31m\u{7}\u{d}\u{9b}x\u{7f}");
        assert!(matches!(make_visible("two lines,\n\ta tab, █ and ü"), Cow::Borrowed(_)));
    }
}
