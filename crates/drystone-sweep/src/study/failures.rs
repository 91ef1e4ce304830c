//! Failures of nodes and checkpoints as parameters of a study: `failures = { mtbf = "30d", node = 8
//! }`, `checkpoints = ["none", "young", "daly,cost=10m"]`.

use super::StudyReader;
use crate::error::SweepError;
use std::fmt::Display;
use std::str::FromStr;
use toml::{Spanned, Value};

impl StudyReader<'_> {
    /// Values of a key that are texts or tables of the words of a text, each on its own; `"none"`
    /// is none.
    pub(super) fn read_each<T: FromStr<Err: Display> + Display>(
        &self,
        (key, example): (&str, &str),
        raw: Option<&Spanned<Value>>,
    ) -> Result<Vec<Option<T>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let read_value = |value: &Value| match value {
            Value::String(text) if text == "none" => Ok(None),
            Value::String(text) => text.parse().map(Some).map_err(|problem: T::Err| problem.to_string()),
            Value::Table(table) => table_words(table)?.parse().map(Some).map_err(|problem: T::Err| problem.to_string()),
            _ => Err(format!("expected {example}, or \"none\", or a list of such")),
        };
        let wrong = |problem: String| self.error_at(raw.span(), format!("`{key}`: {problem}"));
        let parsed_values: Vec<Option<T>> = match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(format!("the list is empty; expected {example}")),
            Value::Array(values) => values.iter().map(read_value).collect(),
            value => read_value(value).map(|only| vec![only]),
        }
        .map_err(wrong)?;
        let text = |option: &Option<T>| option.as_ref().map_or("none".to_string(), ToString::to_string);
        self.without_repeats(key, raw.span(), parsed_values.iter().map(text).collect())?;
        Ok(parsed_values)
    }
}

/// The words of a table as they stand in a text.
fn table_words(table: &toml::map::Map<String, Value>) -> Result<String, String> {
    let word = |(key, value): (&String, &Value)| match value {
        Value::String(text) => Ok(format!("{key}={text}")),
        Value::Integer(number) => Ok(format!("{key}={number}")),
        Value::Float(number) => Ok(format!("{key}={number}")),
        _ => Err(format!("`{key}` takes a number or a text")),
    };
    Ok(table.iter().map(word).collect::<Result<Vec<_>, _>>()?.join(","))
}
