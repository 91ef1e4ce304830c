//! Workloads from tables of other libraries.

use crate::error;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, cast::AsArray};
use arrow_schema::{DataType, Schema, TimeUnit};
use drystone::model::{Job, LogStatus, Machine, Provenance, Setting, Span, TIME_LIMIT, Time, Truth, Workload};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// A column that may be given: its name, whether it must be, what it holds.
struct WantedColumn {
    name: &'static str,
    needed: bool,
    meaning: &'static str,
}

const fn needed(name: &'static str, meaning: &'static str) -> WantedColumn {
    WantedColumn { name, needed: true, meaning }
}

const fn free(name: &'static str, meaning: &'static str) -> WantedColumn {
    WantedColumn { name, needed: false, meaning }
}

/// Every column. Others are ignored.
const COLUMNS: [WantedColumn; 12] = [
    needed("submit", "submit time: seconds, or timestamps"),
    needed("run", "run time: seconds, or durations"),
    needed("procs", "processors"),
    free("estimate", "the user's requested time: seconds, or durations; without it the run time stands for it"),
    free("job_id", "the log's number of the job"),
    free("user", "the user, a number or a name"),
    free("group", "the group, a number or a name"),
    free("executable", "the program, a number or a name"),
    free("queue", "the queue, a number or a name"),
    free("partition", "the partition, a number or a name"),
    free("memory_kb", "memory per processor in kilobytes"),
    free("status", "status: 0 failed, 1 completed, 5 cancelled"),
];

/// A column of a table: whole numbers, `None` where there is none.
#[derive(Default)]
struct GivenNumbers {
    values: Vec<Option<i64>>,
    /// Names that stand for numbers, in the order in which they came.
    names: BTreeMap<String, i64>,
    /// True for seconds since 1970.
    calendar: bool,
}

impl GivenNumbers {
    /// Adds what an array holds.
    fn add(&mut self, array: &dyn Array, column: &str) -> PyResult<()> {
        let per_second = |unit: &TimeUnit| match unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        };
        match array.data_type() {
            DataType::Int8 => self.whole::<Int8Type>(array),
            DataType::Int16 => self.whole::<Int16Type>(array),
            DataType::Int32 => self.whole::<Int32Type>(array),
            DataType::Int64 => self.whole::<Int64Type>(array),
            DataType::UInt8 => self.whole::<UInt8Type>(array),
            DataType::UInt16 => self.whole::<UInt16Type>(array),
            DataType::UInt32 => self.whole::<UInt32Type>(array),
            DataType::UInt64 => {
                let from = self.values.len();
                for (at, value) in array.as_primitive::<UInt64Type>().iter().enumerate() {
                    let whole = value.map(i64::try_from).transpose();
                    self.values
                        .push(whole.map_err(|_| refuse(column, from + at, &value.unwrap_or(0), "is too large"))?);
                }
                Ok(())
            }
            DataType::Float32 => {
                self.fractions(array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from)), column)
            }
            DataType::Float64 => self.fractions(array.as_primitive::<Float64Type>().iter(), column),
            DataType::Timestamp(unit, _) => {
                self.calendar = true;
                self.times(array, per_second(unit))
            }
            DataType::Duration(unit) => self.times(array, per_second(unit)),
            DataType::Utf8 => self.words(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => self.words(array.as_string::<i64>().iter()),
            DataType::Utf8View => self.words(array.as_string_view().iter()),
            DataType::Null => {
                self.values.extend(std::iter::repeat_n(None, array.len()));
                Ok(())
            }
            other => Err(error::table(
                &format!(
                    "column `{column}` holds {other}; expected whole numbers, floats, timestamps, durations or texts"
                ),
                Some(column),
                None,
            )),
        }
    }

    fn whole<T: ArrowPrimitiveType>(&mut self, array: &dyn Array) -> PyResult<()>
    where
        T::Native: Into<i64>,
    {
        self.values.extend(array.as_primitive::<T>().iter().map(|value| value.map(Into::into)));
        Ok(())
    }

    /// Rounded, as fractions in logs are.
    fn fractions(&mut self, values: impl Iterator<Item = Option<f64>>, column: &str) -> PyResult<()> {
        for value in values {
            let row = self.values.len();
            let whole = match value {
                None => None,
                Some(value) if value.is_finite() && value.abs() <= TIME_LIMIT as f64 => Some(value.round() as i64),
                Some(value) if value.is_nan() => return Err(refuse(column, row, &"NaN", "is no number")),
                Some(value) => return Err(refuse(column, row, &value, "is too large")),
            };
            self.values.push(whole);
        }
        Ok(())
    }

    fn times(&mut self, array: &dyn Array, per_second: i64) -> PyResult<()> {
        use arrow_array::types::{
            DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
            TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
        };
        fn read<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array) -> Vec<Option<i64>> {
            array.as_primitive::<T>().iter().collect()
        }
        let values = match array.data_type() {
            DataType::Timestamp(TimeUnit::Second, _) => read::<TimestampSecondType>(array),
            DataType::Timestamp(TimeUnit::Millisecond, _) => read::<TimestampMillisecondType>(array),
            DataType::Timestamp(TimeUnit::Microsecond, _) => read::<TimestampMicrosecondType>(array),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => read::<TimestampNanosecondType>(array),
            DataType::Duration(TimeUnit::Second) => read::<DurationSecondType>(array),
            DataType::Duration(TimeUnit::Millisecond) => read::<DurationMillisecondType>(array),
            DataType::Duration(TimeUnit::Microsecond) => read::<DurationMicrosecondType>(array),
            _ => read::<DurationNanosecondType>(array),
        };
        self.values.extend(values.into_iter().map(|value| value.map(|value| value.div_euclid(per_second))));
        Ok(())
    }

    fn words<'a>(&mut self, words: impl Iterator<Item = Option<&'a str>>) -> PyResult<()> {
        for word in words {
            let number = word.map(|word| {
                let next = self.names.len() as i64;
                *self.names.entry(word.to_string()).or_insert(next)
            });
            self.values.push(number);
        }
        Ok(())
    }
}

/// A value that cannot be.
fn refuse(column: &str, row: usize, value: &dyn std::fmt::Display, problem: &str) -> PyErr {
    error::table(&format!("column `{column}`, row {row}: {value} {problem}"), Some(column), Some(row))
}

/// The columns of a table by what they hold; `columns` says under which names they stand there.
struct ReadColumns {
    columns: BTreeMap<&'static str, GivenNumbers>,
    rows: usize,
}

impl ReadColumns {
    fn of(batches: &[RecordBatch], schema: &Schema, names: &BTreeMap<String, String>) -> PyResult<ReadColumns> {
        if let Some(odd) = names.keys().find(|key| !COLUMNS.iter().any(|wanted| wanted.name == *key)) {
            let known: Vec<&str> = COLUMNS.iter().map(|wanted| wanted.name).collect();
            return Err(error::wrong(format!("columns: there is no `{odd}`; a workload has {}", known.join(", "))));
        }
        let mut read = ReadColumns { columns: BTreeMap::new(), rows: batches.iter().map(RecordBatch::num_rows).sum() };
        for wanted in &COLUMNS {
            let given = names.get(wanted.name);
            let name = given.map_or(wanted.name, String::as_str);
            if schema.column_with_name(name).is_none() {
                if wanted.needed || given.is_some() {
                    let known: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                    let problem = format!(
                        "there is no column `{name}` ({}); the table has {}; columns={{\"{}\": ...}} says which one it is",
                        wanted.meaning,
                        if known.is_empty() { "none".to_string() } else { known.join(", ") },
                        wanted.name
                    );
                    return Err(error::table(&problem, Some(name), None));
                }
                continue;
            }
            let mut numbers = GivenNumbers::default();
            for batch in batches {
                if let Some(array) = batch.column_by_name(name) {
                    numbers.add(array, name)?;
                }
            }
            if wanted.needed && !numbers.names.is_empty() {
                let problem = format!("column `{name}` holds texts; expected {}", wanted.meaning);
                return Err(error::table(&problem, Some(name), None));
            }
            read.columns.insert(wanted.name, numbers);
        }
        Ok(read)
    }

    /// A value that must be there, from `least` on.
    fn must(&self, column: &'static str, row: usize, least: i64, most: i64) -> PyResult<i64> {
        let value = self.columns.get(column).and_then(|numbers| numbers.values[row]);
        match value {
            None => Err(refuse(column, row, &"nothing", "stands there; every job needs a number")),
            Some(value) if (least..=most).contains(&value) => Ok(value),
            Some(value) => Err(refuse(column, row, &value, &format!("is not possible; expected {least} to {most}"))),
        }
    }

    /// A value that may be missing.
    fn may(&self, column: &'static str, row: usize) -> Option<i64> {
        self.columns.get(column).and_then(|numbers| numbers.values[row])
    }

    fn attribute(&self, column: &'static str, row: usize) -> PyResult<i32> {
        let value = self.may(column, row).unwrap_or(-1);
        i32::try_from(value).map_err(|_| refuse(column, row, &value, "is too large"))
    }
}

/// The workload that a table holds, on a machine of this many processors.
pub(crate) fn workload(
    batches: &[RecordBatch],
    schema: &Schema,
    procs: u32,
    names: &BTreeMap<String, String>,
    name: &str,
) -> PyResult<Workload> {
    let read = ReadColumns::of(batches, schema, names)?;
    if read.rows == 0 {
        return Err(error::table("the table has no rows; a workload needs at least one job", None, None));
    }
    let estimated = read.columns.contains_key("estimate");
    let (mut jobs, mut truth) = (Vec::with_capacity(read.rows), Vec::with_capacity(read.rows));
    for row in 0..read.rows {
        let submit = read.must("submit", row, -TIME_LIMIT, TIME_LIMIT)?;
        let run = read.must("run", row, 0, TIME_LIMIT)?;
        let width = read.must("procs", row, 1, i64::from(procs))?;
        let estimate = if estimated { read.must("estimate", row, 0, TIME_LIMIT)? } else { run };
        let mut job = Job::new(Time(submit), width as u32, Span(estimate));
        job.user = read.attribute("user", row)?;
        job.group = read.attribute("group", row)?;
        job.executable = read.attribute("executable", row)?;
        job.queue = read.attribute("queue", row)?;
        job.partition = read.attribute("partition", row)?;
        job.memory_kb = read.may("memory_kb", row).unwrap_or(-1);
        jobs.push(job);
        truth.push(Truth {
            run: Span(run),
            number: read.may("job_id", row).unwrap_or(row as i64 + 1),
            status: LogStatus::from_swf(read.may("status", row).unwrap_or(1)),
        });
    }
    let calendar = read.columns.get("submit").is_some_and(|numbers| numbers.calendar);
    let provenance = Provenance {
        name: name.to_string(),
        settings: vec![Setting { name: "from".to_string(), value: "a table".to_string() }],
        unix_start: calendar.then_some(0),
        ..Provenance::default()
    };
    Workload::new(Machine::new(procs), jobs, truth, provenance).map_err(|e| error::table(&e.to_string(), None, None))
}
