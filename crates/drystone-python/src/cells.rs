//! Columns of Arrow as numbers, times and texts, whatever type they have.

use crate::error;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, cast::AsArray};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use pyo3::prelude::*;
use std::collections::HashMap;

/// Texts, each different one once.
#[derive(Default)]
pub(crate) struct TextCells {
    /// For each row the place of its text.
    pub(crate) codes: Vec<Option<u32>>,
    /// The texts in the order of their first appearance.
    pub(crate) words: Vec<String>,
    places: HashMap<String, u32>,
}

impl TextCells {
    fn push(&mut self, word: Option<&str>) {
        let code = word.map(|word| match self.places.get(word) {
            Some(&code) => code,
            None => {
                let code = self.words.len() as u32;
                self.words.push(word.to_string());
                self.places.insert(word.to_string(), code);
                code
            }
        });
        self.codes.push(code);
    }

    fn from_words<'a>(words: impl Iterator<Item = Option<&'a str>>) -> TextCells {
        let mut cells = TextCells::default();
        words.for_each(|word| cells.push(word));
        cells
    }

    fn word_at(&self, row: usize) -> Option<&str> {
        self.codes[row].map(|code| self.words[code as usize].as_str())
    }
}

/// The values of a column, `None` where there is none.
pub(crate) enum ArrowCells {
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers with fractions; NaN is none.
    Fraction(Vec<Option<f64>>),
    /// Points in time, in seconds since 1970.
    Moment(Vec<Option<i64>>),
    /// Spans of time, in seconds.
    Length(Vec<Option<i64>>),
    /// Texts.
    Text(TextCells),
}

/// Rounds to whole seconds, halves away from zero, as fractions in logs are rounded.
pub(crate) fn round_to_seconds(value: i64, per_second: i64) -> i64 {
    let (whole, rest) = (value / per_second, value % per_second);
    if rest.unsigned_abs() * 2 >= per_second.unsigned_abs() { whole + rest.signum() } else { whole }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn whole_values<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<Option<i64>>
where
    T::Native: Into<i64>,
{
    array.as_primitive::<T>().iter().map(|value| value.map(Into::into)).collect()
}

fn round_values<T: ArrowPrimitiveType>(array: &dyn Array, per_second: i64) -> Vec<Option<i64>>
where
    T::Native: Into<i64>,
{
    array
        .as_primitive::<T>()
        .iter()
        .map(|value| value.map(|value| round_to_seconds(value.into(), per_second)))
        .collect()
}

fn collect_fractions(values: impl Iterator<Item = Option<f64>>) -> ArrowCells {
    ArrowCells::Fraction(values.map(|value| value.filter(|value| !value.is_nan())).collect())
}

/// A value of a column that cannot be.
pub(crate) fn refuse_value(column: &str, row: usize, value: &dyn std::fmt::Display, problem: &str) -> PyErr {
    error::table_error(&format!("column `{column}`, row {row}: {value} {problem}"), Some(column), Some(row))
}

fn convert_decimals(
    values: impl Iterator<Item = Option<i128>>,
    scale: i8,
    column: &str,
    first: usize,
) -> PyResult<ArrowCells> {
    let values: Vec<Option<i128>> = values.collect();
    let power = 10i128.checked_pow(u32::from(scale.unsigned_abs())).unwrap_or(i128::MAX);
    let is_whole = |value: &Option<i128>| value.is_none_or(|value| scale <= 0 || value % power == 0);
    if !values.iter().all(is_whole) {
        return Ok(collect_fractions(values.into_iter().map(|value| value.map(|value| value as f64 / power as f64))));
    }
    let whole = |(row, value): (usize, Option<i128>)| -> PyResult<Option<i64>> {
        let Some(value) = value else { return Ok(None) };
        let number = if scale > 0 { Some(value / power) } else { value.checked_mul(power) };
        let number = number.and_then(|number| i64::try_from(number).ok());
        number.map(Some).ok_or_else(|| refuse_value(column, first + row, &value, "is too large"))
    };
    Ok(ArrowCells::Whole(values.into_iter().enumerate().map(whole).collect::<PyResult<_>>()?))
}

/// The values of an array; `first` is the row of its first value.
fn cells_of(array: &dyn Array, column: &str, first: usize) -> PyResult<ArrowCells> {
    use ArrowCells::{Length, Moment, Text, Whole};
    Ok(match array.data_type() {
        DataType::Null => Whole(vec![None; array.len()]),
        DataType::Int8 => Whole(whole_values::<Int8Type>(array)),
        DataType::Int16 => Whole(whole_values::<Int16Type>(array)),
        DataType::Int32 => Whole(whole_values::<Int32Type>(array)),
        DataType::Int64 => Whole(whole_values::<Int64Type>(array)),
        DataType::UInt8 => Whole(whole_values::<UInt8Type>(array)),
        DataType::UInt16 => Whole(whole_values::<UInt16Type>(array)),
        DataType::UInt32 => Whole(whole_values::<UInt32Type>(array)),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().iter().map(|value| value.map(i128::from));
            convert_decimals(values, 0, column, first)?
        }
        DataType::Float16 => {
            collect_fractions(array.as_primitive::<Float16Type>().iter().map(|v| v.map(|v| v.to_f64())))
        }
        DataType::Float32 => collect_fractions(array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from))),
        DataType::Float64 => collect_fractions(array.as_primitive::<Float64Type>().iter()),
        DataType::Decimal32(_, scale) => {
            let values = array.as_primitive::<Decimal32Type>().iter();
            convert_decimals(values.map(|value| value.map(i128::from)), *scale, column, first)?
        }
        DataType::Decimal64(_, scale) => {
            let values = array.as_primitive::<Decimal64Type>().iter();
            convert_decimals(values.map(|value| value.map(i128::from)), *scale, column, first)?
        }
        DataType::Decimal128(_, scale) => {
            convert_decimals(array.as_primitive::<Decimal128Type>().iter(), *scale, column, first)?
        }
        DataType::Decimal256(_, scale) => {
            let values = array.as_primitive::<Decimal256Type>().iter();
            convert_decimals(values.map(|value| value.and_then(|value| value.to_i128())), *scale, column, first)?
        }
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => Moment(convert_moments(array)),
        DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_) => Length(convert_lengths(array)),
        DataType::Interval(unit) if *unit != IntervalUnit::YearMonth => {
            Length(convert_intervals(array, column, first)?)
        }
        DataType::Utf8 => Text(TextCells::from_words(array.as_string::<i32>().iter())),
        DataType::LargeUtf8 => Text(TextCells::from_words(array.as_string::<i64>().iter())),
        DataType::Utf8View => Text(TextCells::from_words(array.as_string_view().iter())),
        DataType::Dictionary(..) => decode_dictionary(array, column, first)?,
        other => {
            let problem = format!(
                "column `{column}` holds {other}; expected numbers, timestamps, dates, durations, texts or categories"
            );
            return Err(error::table_error(&problem, Some(column), None));
        }
    })
}

fn convert_moments(array: &dyn Array) -> Vec<Option<i64>> {
    match array.data_type() {
        DataType::Date32 => {
            array.as_primitive::<Date32Type>().iter().map(|day| day.map(|day| i64::from(day) * 86_400)).collect()
        }
        DataType::Date64 => round_values::<Date64Type>(array, 1_000),
        DataType::Timestamp(TimeUnit::Second, _) => round_values::<TimestampSecondType>(array, 1),
        DataType::Timestamp(unit @ TimeUnit::Millisecond, _) => {
            round_values::<TimestampMillisecondType>(array, per_second(*unit))
        }
        DataType::Timestamp(unit @ TimeUnit::Microsecond, _) => {
            round_values::<TimestampMicrosecondType>(array, per_second(*unit))
        }
        _ => round_values::<TimestampNanosecondType>(array, per_second(TimeUnit::Nanosecond)),
    }
}

fn convert_lengths(array: &dyn Array) -> Vec<Option<i64>> {
    match array.data_type() {
        DataType::Duration(TimeUnit::Second) => round_values::<DurationSecondType>(array, 1),
        DataType::Duration(unit @ TimeUnit::Millisecond) => {
            round_values::<DurationMillisecondType>(array, per_second(*unit))
        }
        DataType::Duration(unit @ TimeUnit::Microsecond) => {
            round_values::<DurationMicrosecondType>(array, per_second(*unit))
        }
        DataType::Duration(unit) => round_values::<DurationNanosecondType>(array, per_second(*unit)),
        DataType::Time32(TimeUnit::Second) => round_values::<Time32SecondType>(array, 1),
        DataType::Time32(unit) => round_values::<Time32MillisecondType>(array, per_second(*unit)),
        DataType::Time64(TimeUnit::Microsecond) => round_values::<Time64MicrosecondType>(array, 1_000_000),
        _ => round_values::<Time64NanosecondType>(array, 1_000_000_000),
    }
}

/// Intervals as DuckDB has them: a month has no length.
fn convert_intervals(array: &dyn Array, column: &str, first: usize) -> PyResult<Vec<Option<i64>>> {
    if *array.data_type() == DataType::Interval(IntervalUnit::DayTime) {
        let values = array.as_primitive::<IntervalDayTimeType>().iter();
        let seconds = |days: i32, ms: i32| i64::from(days) * 86_400 + round_to_seconds(i64::from(ms), 1_000);
        return Ok(values.map(|value| value.map(|value| seconds(value.days, value.milliseconds))).collect());
    }
    let values = array.as_primitive::<IntervalMonthDayNanoType>().iter().enumerate();
    let seconds = values.map(|(row, value)| match value {
        Some(value) if value.months != 0 => {
            Err(refuse_value(column, first + row, &format!("{} months", value.months), "have no length in seconds"))
        }
        Some(value) => Ok(Some(i64::from(value.days) * 86_400 + round_to_seconds(value.nanoseconds, 1_000_000_000))),
        None => Ok(None),
    });
    seconds.collect()
}

fn pick_values<T: Copy>(values: &[Option<T>], places: &[Option<usize>]) -> Vec<Option<T>> {
    places.iter().map(|place| place.and_then(|place| values.get(place).copied().flatten())).collect()
}

/// Categories: what they stand for, row by row.
fn decode_dictionary(array: &dyn Array, column: &str, first: usize) -> PyResult<ArrowCells> {
    let dictionary_array = array.as_any_dictionary();
    let places: Vec<Option<usize>> = if dictionary_array.values().is_empty() {
        vec![None; array.len()]
    } else {
        let keys = dictionary_array.keys();
        let at = dictionary_array.normalized_keys().into_iter().enumerate();
        at.map(|(row, place)| (!keys.is_null(row)).then_some(place)).collect()
    };
    Ok(match cells_of(dictionary_array.values().as_ref(), column, first)? {
        ArrowCells::Whole(values) => ArrowCells::Whole(pick_values(&values, &places)),
        ArrowCells::Fraction(values) => ArrowCells::Fraction(pick_values(&values, &places)),
        ArrowCells::Moment(values) => ArrowCells::Moment(pick_values(&values, &places)),
        ArrowCells::Length(values) => ArrowCells::Length(pick_values(&values, &places)),
        ArrowCells::Text(texts) => {
            let word = |place: &Option<usize>| place.and_then(|place| texts.word_at(place));
            ArrowCells::Text(TextCells::from_words(places.iter().map(word)))
        }
    })
}

/// The values of a column that comes in several arrays of one type.
pub(crate) fn read_cells(arrays: &[ArrayRef], column: &str) -> PyResult<ArrowCells> {
    let mut joined_cells: Option<ArrowCells> = None;
    let mut first = 0;
    for array in arrays {
        let part = cells_of(array.as_ref(), column, first)?;
        first += array.len();
        joined_cells = Some(match (joined_cells, part) {
            (None, part) => part,
            (Some(cells), part) => join_cells(cells, part),
        });
    }
    Ok(joined_cells.unwrap_or(ArrowCells::Whole(Vec::new())))
}

fn join_cells(base: ArrowCells, part: ArrowCells) -> ArrowCells {
    use ArrowCells::{Fraction, Length, Moment, Text, Whole};
    let floats = |values: Vec<Option<i64>>| values.into_iter().map(|value| value.map(|value| value as f64));
    match (base, part) {
        (Whole(mut values), Whole(part)) => {
            values.extend(part);
            Whole(values)
        }
        (Fraction(mut values), Fraction(part)) => {
            values.extend(part);
            Fraction(values)
        }
        // Decimals of one part may all be whole.
        (Whole(values), Fraction(part)) => Fraction(floats(values).chain(part).collect()),
        (Fraction(mut values), Whole(part)) => {
            values.extend(floats(part));
            Fraction(values)
        }
        (Moment(mut values), Moment(part)) => {
            values.extend(part);
            Moment(values)
        }
        (Length(mut values), Length(part)) => {
            values.extend(part);
            Length(values)
        }
        (Text(mut values), Text(part)) => {
            (0..part.codes.len()).for_each(|row| values.push(part.word_at(row)));
            Text(values)
        }
        // The arrays of a column have one type.
        (cells, _) => cells,
    }
}
