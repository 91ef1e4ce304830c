//! `Key=value` pairs of one line; keys without regard to case, values quoted where they hold
//! blanks.

use super::error::{ConfError, ConfPlace};

/// The pairs of a line in order, keys as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfPairs {
    pub(crate) place: Option<ConfPlace>,
    pub(crate) list: Vec<(String, String)>,
}

impl ConfPairs {
    /// Splits a line.
    pub(crate) fn split_line(text: &str, place: &ConfPlace) -> Result<ConfPairs, ConfError> {
        let mut list = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (key, behind) = rest.split_once('=').ok_or_else(|| expected_pair(rest, place))?;
            let key = key.trim_end().trim_end_matches('+').trim_end();
            if key.is_empty() || key.contains(char::is_whitespace) {
                return Err(expected_pair(rest, place));
            }
            let (value, after) = split_value(behind.trim_start(), key, place)?;
            list.push((key.to_string(), value.to_string()));
            rest = after.trim_start();
        }
        Ok(ConfPairs { place: Some(place.clone()), list })
    }

    /// The value of a key; the last one counts.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.list.iter().rev().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// These pairs where they are, those of `defaults` elsewhere.
    pub(crate) fn merged_over(&self, defaults: &ConfPairs) -> ConfPairs {
        let missing = defaults.list.iter().filter(|(key, _)| self.get(key).is_none()).cloned();
        ConfPairs { place: self.place.clone(), list: missing.chain(self.list.iter().cloned()).collect() }
    }
}

fn expected_pair(rest: &str, place: &ConfPlace) -> ConfError {
    let word = rest.split_whitespace().next().unwrap_or(rest);
    ConfError::at_line(place, format!("expected `Key=value`, found `{word}`"))
}

/// The value at the beginning of `text`, and what follows it.
fn split_value<'a>(text: &'a str, key: &str, place: &ConfPlace) -> Result<(&'a str, &'a str), ConfError> {
    if let Some(inner) = text.strip_prefix('"') {
        return inner.split_once('"').ok_or_else(|| {
            ConfError::at_line(place, format!("the value of {key} begins with a quote that does not end on this line"))
        });
    }
    if text.is_empty() {
        return Err(ConfError::at_line(place, format!("{key} has no value; leave the key out, or write `{key}=\"\"`")));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    Ok((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn place() -> ConfPlace {
        ConfPlace { file: Path::new("f").into(), line: 7 }
    }

    #[test]
    fn values_may_be_quoted_and_empty() {
        let pairs = ConfPairs::split_line("A = \"x y=z\"  b=\"\" C=3", &place()).expect("pairs");
        assert_eq!((pairs.get("a"), pairs.get("B"), pairs.get("c")), (Some("x y=z"), Some(""), Some("3")));
    }

    #[test]
    fn a_key_wants_a_value() {
        let error = ConfPairs::split_line("A=1 B=", &place()).expect_err("no value").to_string();
        assert_eq!(error, "f:7: B has no value; leave the key out, or write `B=\"\"`");
    }

    #[test]
    fn what_is_no_pair_is_told() {
        let error = ConfPairs::split_line("A=1 stray", &place()).expect_err("no pair").to_string();
        assert_eq!(error, "f:7: expected `Key=value`, found `stray`");
    }
}
