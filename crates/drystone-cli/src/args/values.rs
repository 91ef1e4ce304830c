//! How values on the command line are read, so that help, completions and errors name what is possible.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use drystone::log::clean::OptionError;
use drystone::metrics::Selection;
use drystone::policy::{PolicySpec, SpecError};
use std::str::FromStr;

/// One of a few words.
pub(crate) fn words<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |word| {
        let found = all.iter().copied().find(|&value| name(value) == word);
        found.ok_or("unknown word")
    })
}

/// A value that is no word; the error says what is possible.
pub(crate) fn value<T: FromStr<Err = OptionError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: OptionError| format!("expected {}", error.expected))
}

/// A rule of trimming.
pub(crate) fn selection(text: &str) -> Result<Selection, String> {
    text.parse().map_err(|error: drystone::metrics::UnknownWord| format!("expected {}", error.expected))
}

/// A probability that says something.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|p: &f64| *p > 0.0 && *p < 1.0);
    value.ok_or_else(|| "expected a number between 0 and 1, e.g. 0.95".to_string())
}

/// A policy.
pub(crate) fn policy(text: &str) -> Result<PolicySpec, String> {
    text.parse().map_err(|error: SpecError| error.problem)
}

/// A predictor; it stays a text, because predictors learn and each use needs a fresh one.
pub(crate) fn predictor(text: &str) -> Result<String, String> {
    drystone::parts::predict::forecast(text).map_err(|error: SpecError| error.problem)?;
    Ok(text.trim().to_string())
}
