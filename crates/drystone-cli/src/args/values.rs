//! Parsers of values on the command line; help, completions and errors name the possible ones.

use crate::output::ReportFormat;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use drystone::log::clean::OptionError;
use drystone::log::transform::{WindowError, WindowRule};
use drystone::metrics::{JobSelection, Scheme, Threshold};
use drystone::model::{Span, TIME_LIMIT};
use drystone::policy::{PolicySpec, SpecError};
use drystone::times::read_duration;
use std::str::FromStr;
use std::time::Duration;

pub(crate) fn word_parser<T>(values: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(values.iter().map(|&value| name(value))).try_map(move |word| {
        let matching_value = values.iter().copied().find(|&value| name(value) == word);
        matching_value.ok_or("unknown word")
    })
}

pub(crate) fn format_parser() -> impl TypedValueParser<Value = ReportFormat> {
    let options = ReportFormat::format_options().map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(options).try_map(|word| ReportFormat::find_by_name(&word).ok_or("unknown format"))
}

/// A value that is no word; the error lists the possible ones.
pub(crate) fn parse_value<T: FromStr<Err = OptionError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: OptionError| format!("expected {}", error.expected))
}

pub(crate) fn parse_selection(text: &str) -> Result<JobSelection, String> {
    text.parse().map_err(|error: drystone::metrics::UnknownWord| format!("expected {}", error.expected))
}

pub(crate) fn parse_window_rule(text: &str) -> Result<WindowRule, String> {
    text.parse().map_err(|error: WindowError| error.to_string())
}

/// Parses a number of jobs, or `all`.
pub(crate) fn parse_take(text: &str) -> Result<usize, String> {
    match text.trim() {
        "all" => Ok(usize::MAX),
        number => number.parse().map_err(|_| "expected a number of jobs, or all".to_string()),
    }
}

pub(crate) fn parse_scheme(text: &str) -> Result<Scheme, String> {
    text.parse().map_err(|error: drystone::metrics::UnknownWord| format!("expected {}", error.expected))
}

pub(crate) fn parse_threshold(text: &str) -> Result<Threshold, String> {
    text.parse().map_err(|error: drystone::metrics::UnknownWord| format!("expected {}", error.expected))
}

/// A calendar month, as logs are cut by it.
pub(crate) fn parse_month(text: &str) -> Result<String, String> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_month = |(year, month): (&str, &str)| {
        let number = month.parse().ok().filter(|number| (1..=12).contains(number));
        digits(year) && year.len() >= 4 && digits(month) && month.len() == 2 && number.is_some()
    };
    let right = text.rsplit_once('-').is_some_and(is_month);
    right.then(|| text.to_string()).ok_or_else(|| "expected a year and a month from 01 to 12, e.g. 1997-03".to_string())
}

/// A probability that says something.
pub(crate) fn parse_probability(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|p: &f64| *p > 0.0 && *p < 1.0);
    value.ok_or_else(|| "expected a number between 0 and 1, e.g. 0.95".to_string())
}

/// A length of time: seconds, a number with a unit, or as Slurm writes it.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let seconds = text.trim().parse::<f64>().ok().or_else(|| read_duration(text));
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|time| !time.is_zero());
    time.ok_or_else(|| "expected a time such as 60s, 5min, 2h or 1-12:00:00".to_string())
}

/// A share: `1%` or `0.01`.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let (number, per) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let value = number.trim().parse().ok().map(|value: f64| value / per).filter(|share| (0.0..=1.0).contains(share));
    value.ok_or_else(|| "expected a share such as 1% or 0.01".to_string())
}

/// A length of time in whole seconds; 0 is one.
pub(crate) fn parse_span(text: &str) -> Result<Span, String> {
    if text.trim() == "0" || read_duration(text) == Some(0.0) {
        return Ok(Span::ZERO);
    }
    let seconds = parse_time(text)?.as_secs_f64().round();
    let span = (seconds <= TIME_LIMIT as f64).then_some(Span(seconds as i64));
    span.ok_or_else(|| "expected a time below 2⁴⁰ s such as 7d, 12h, 3600 or 7-00:00:00".to_string())
}

/// An interval in whole seconds, one at least.
#[cfg(feature = "sites")]
pub(crate) fn parse_interval(text: &str) -> Result<Span, String> {
    let whole = parse_span(text)?;
    (whole > Span::ZERO)
        .then_some(whole)
        .ok_or_else(|| "expected a second at least, such as 30m, 6h or 1-0".to_string())
}

pub(crate) fn parse_policy(text: &str) -> Result<PolicySpec, String> {
    text.parse().map_err(|error: SpecError| error.problem)
}

/// A predictor; it stays a text, because predictors learn and each use needs a fresh one.
pub(crate) fn parse_predictor(text: &str) -> Result<String, String> {
    drystone::parts::predict::parse_forecast(text).map_err(|error: SpecError| error.problem)?;
    Ok(text.trim().to_string())
}

#[cfg(all(test, feature = "sites"))]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_second_at_least() {
        for text in ["", "x", "0", "0s", "0.4", "0.4s", "-5", "-6h", "1e30"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
        for (text, seconds) in [("1", 1), ("30m", 1_800), ("6h", 21_600), ("1-0", 86_400)] {
            assert_eq!(parse_interval(text), Ok(Span(seconds)), "{text}");
        }
    }
}
