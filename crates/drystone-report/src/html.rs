//! Text that becomes HTML, and data that becomes part of it, whatever they hold.

use std::fmt::Write;

/// Characters that show nothing or change how others are shown: controls, and those that turn the
/// direction of writing.
fn is_unseen(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Text as it can stand in an element or a quoted attribute. What would not be seen is shown as
/// `�`.
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_unseen(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A sentence as HTML: text between backticks is set as code.
pub fn render_prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape_html(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (at, part) in parts.into_iter().enumerate() {
        let escaped_part = escape_html(part);
        if at % 2 == 0 {
            out.push_str(&escaped_part);
        } else {
            let _ = write!(out, "<code>{escaped_part}</code>");
        }
    }
    out
}

/// JSON as it can stand in a script element: nothing in it ends the element or begins another, and
/// no line end is one only to some. It is still the same JSON.
pub fn embed_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            // Outside of strings JSON has none of these, and inside they may be written so.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_place() {
        assert_eq!(escape_html("<b a=\"x\" b='y'>&"), "&lt;b a=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
        assert_eq!(escape_html("a\u{0}b\u{1b}[31mc\u{202e}d"), "a\u{fffd}b\u{fffd}[31mc\u{fffd}d");
        assert_eq!(render_prose("`a<b` and a"), "<code>a&lt;b</code> and a");
        assert_eq!(render_prose("one ` alone"), "one ` alone");
        let json = serde_json::json!({ "</script><!--": "\u{2028}&\u{0}\"" }).to_string();
        let json_text = embed_json(&json);
        assert!(!json_text.contains(['<', '>', '&', '\u{2028}']));
        let again: serde_json::Value = serde_json::from_str(&json_text).expect("still JSON");
        assert_eq!(again.to_string(), json);
    }
}
