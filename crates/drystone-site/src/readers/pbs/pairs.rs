//! `key=value key=value …`, values perhaps quoted or in parentheses.

use crate::text::parse_digits;

pub(super) struct RecordPairs<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> RecordPairs<'a> {
    /// Splits at blanks outside quotes and parentheses.
    pub(super) fn split_pairs(text: &'a [u8]) -> RecordPairs<'a> {
        let mut pairs = Vec::new();
        let mut at = 0;
        while at < text.len() {
            while text.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            let end = word_end(text, at);
            let word = &text[at..end];
            if let Some(equals) = memchr::memchr(b'=', word) {
                let value = &word[equals + 1..];
                let value_text = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
                pairs.push((&word[..equals], value_text));
            }
            at = end.max(at + 1);
        }
        RecordPairs(pairs)
    }

    /// The value of a key; of several the last.
    pub(super) fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.0.iter().rev().find(|(k, _)| *k == key.as_bytes()).map(|(_, v)| *v)
    }

    /// A moment in seconds since 1970, without their fraction; `None` for 0, which is "not yet".
    pub(super) fn parse_moment(&self, key: &str) -> Option<i64> {
        let whole = |text: &'a [u8]| &text[..memchr::memchr(b'.', text).unwrap_or(text.len())];
        self.get(key).map(whole).and_then(parse_digits).and_then(|n| i64::try_from(n).ok()).filter(|&n| n > 0)
    }
}

/// Returns the end of a word. What is opened and not closed ends at the next blank all the same.
fn word_end(text: &[u8], from: usize) -> usize {
    let (mut depth, mut in_quotes) = (0_u32, false);
    for (at, &byte) in text.iter().enumerate().skip(from) {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b'(' if !in_quotes => depth += 1,
            b')' if !in_quotes => depth = depth.saturating_sub(1),
            _ if byte.is_ascii_whitespace() && depth == 0 && !in_quotes => return at,
            _ => {}
        }
    }
    if depth == 0 && !in_quotes {
        return text.len();
    }
    text[from..].iter().position(u8::is_ascii_whitespace).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_within_quotes_and_parentheses_part_nothing() {
        let pairs = RecordPairs::split_pairs(
            b"user=a group=\"RConsole Users\" account=\"X\" exec_vnode=(n1:ncpus=2 x)+(n2:ncpus=1) end=5",
        );
        assert_eq!(pairs.get("group"), Some(&b"RConsole Users"[..]));
        assert_eq!(pairs.get("account"), Some(&b"X"[..]));
        assert_eq!(pairs.get("exec_vnode"), Some(&b"(n1:ncpus=2 x)+(n2:ncpus=1)"[..]));
        assert_eq!(pairs.parse_moment("end"), Some(5));
        assert_eq!(RecordPairs::split_pairs(b"a=\"open b=2 c=3").get("c"), Some(&b"3"[..]));
        assert_eq!(RecordPairs::split_pairs(b"etime=0").parse_moment("etime"), None);
        // As Cobalt writes it.
        assert_eq!(RecordPairs::split_pairs(b"ctime=1551434400.12").parse_moment("ctime"), Some(1_551_434_400));
    }
}
