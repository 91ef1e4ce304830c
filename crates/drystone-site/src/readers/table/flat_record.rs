//! A record as names and texts.

use crate::readers::json::JsonValue;

/// A record's values by the names of their places, in the order of the file.
pub(super) type FlatRecord = Vec<(String, String)>;

pub(super) fn text_of(value: &JsonValue) -> String {
    match value {
        JsonValue::Null => String::new(),
        JsonValue::Bool(value) => value.to_string(),
        JsonValue::Whole(number) => number.to_string(),
        JsonValue::Negative(number) => number.to_string(),
        JsonValue::Float(number) => number.to_string(),
        JsonValue::Text(text) => text.replace(['\u{1f}', '\n', '\r'], " "),
        JsonValue::List(list) => list.iter().map(text_of).collect::<Vec<_>>().join(","),
        JsonValue::Map(_) => String::new(),
    }
}
