//! JSON whose shape differs from version to version.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Any JSON.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Loose {
    Null,
    Bool(bool),
    Whole(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    List(Vec<Loose>),
    Map(Vec<(String, Loose)>),
}

/// A number that may be set, infinite or missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    Missing,
    Infinite,
    Of(u64),
}

impl Loose {
    pub(crate) fn get(&self, key: &str) -> Option<&Loose> {
        match self {
            Loose::Map(pairs) => pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Loose::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> &[Loose] {
        match self {
            Loose::List(list) => list,
            _ => &[],
        }
    }

    /// `7`, `"7"`, `{"set": true, "infinite": false, "number": 7}`, or nothing. Slurm's own numbers
    /// for "none" and "no limit" count as these.
    pub(super) fn as_number(&self) -> Number {
        match self {
            Loose::Whole(4_294_967_294 | 18_446_744_073_709_551_614) => Number::Missing,
            Loose::Whole(4_294_967_295 | 18_446_744_073_709_551_615) => Number::Infinite,
            Loose::Whole(number) => Number::Of(*number),
            Loose::Float(number) if (0.0..9.0e18).contains(number) => Number::Of(*number as u64),
            Loose::Text(text) => text.trim().parse().map_or(Number::Missing, |n| Loose::Whole(n).as_number()),
            Loose::Map(_) => match (self.get("set"), self.get("infinite"), self.get("number")) {
                (_, Some(Loose::Bool(true)), _) => Number::Infinite,
                (Some(Loose::Bool(false)), ..) => Number::Missing,
                (_, _, Some(number)) => number.as_number(),
                // A span of time in parts.
                _ => self.get("seconds").map_or(Number::Missing, Loose::as_number),
            },
            _ => Number::Missing,
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Loose, D::Error> {
        deserializer.deserialize_any(LooseValue)
    }
}

struct LooseValue;

impl<'de> Visitor<'de> for LooseValue {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
        Ok(Loose::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
        Ok(u64::try_from(value).map_or(Loose::Negative(value), Loose::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
        Ok(Loose::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Loose, E> {
        Ok(Loose::Text(value.to_string()))
    }

    fn visit_string<E>(self, value: String) -> Result<Loose, E> {
        Ok(Loose::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Loose::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Loose::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(json: &str) -> Number {
        serde_json::from_str::<Loose>(json).expect("JSON").as_number()
    }

    #[test]
    fn numbers_have_many_shapes() {
        assert_eq!(number("7"), Number::Of(7));
        assert_eq!(number("\"7\""), Number::Of(7));
        assert_eq!(number(r#"{"set":true,"infinite":false,"number":7}"#), Number::Of(7));
        assert_eq!(number(r#"{"set":false,"infinite":false,"number":0}"#), Number::Missing);
        assert_eq!(number(r#"{"set":false,"infinite":true,"number":0}"#), Number::Infinite);
        assert_eq!(number(r#"{"seconds":5,"microseconds":1}"#), Number::Of(5));
        assert_eq!(number("7.0"), Number::Of(7));
        for json in ["null", "4294967294", "\"x\"", "[]", "-1", "true"] {
            assert_eq!(number(json), Number::Missing, "{json}");
        }
        assert_eq!(number("4294967295"), Number::Infinite);
    }
}
