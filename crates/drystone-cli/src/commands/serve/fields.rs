//! Fields of a form, as addresses carry them.

use std::fmt::Write;

/// Reads the fields of a query, in its order: `+` is a blank, `%2B` a plus.
pub(super) fn read_fields(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    pairs.map(|(name, value)| (decode_text(name), decode_text(value).trim().to_string())).collect()
}

pub(super) fn build_address(path: &str, fields: &[(&str, &str)]) -> String {
    let mut text = path.to_string();
    for (at, (name, value)) in fields.iter().enumerate() {
        let mark = if at == 0 { '?' } else { '&' };
        let _ = write!(text, "{mark}{}={}", encode_text(name), encode_text(value));
    }
    text
}

fn encode_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) => out.push(char::from(b)),
            b => {
                let _ = write!(out, "%{b:02X}");
            }
        }
    }
    out
}

fn decode_text(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        // `from_str_radix` would take a sign.
        let pair = pair.filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match (byte, pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(value)) => {
                out.push(value);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_survive_an_address() {
        for value in ["gpu:+8", "normal: MaxTRESPU=cpu=256", "a&b=c;d#e?f", "100%", "zwölf", "'\"<>", ""] {
            let text = build_address("/whatif", &[("change", value), ("nodes", "+1")]);
            let (path, query) = text.split_once('?').expect("fields");
            assert_eq!(path, "/whatif");
            let fields = read_fields(query);
            assert_eq!(fields, [("change".to_string(), value.to_string()), ("nodes".into(), "+1".into())], "{text}");
        }
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        for (query, value) in [("a=%", "%"), ("a=%4", "%4"), ("a=%+1", "% 1"), ("a=%zz", "%zz"), ("a=%ff", "\u{fffd}")]
        {
            assert_eq!(read_fields(query), [("a".to_string(), value.to_string())], "{query}");
        }
        assert_eq!(read_fields("&&a&"), [("a".to_string(), String::new())]);
    }
}
