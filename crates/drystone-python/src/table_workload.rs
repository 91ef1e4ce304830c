//! Workloads from tables of other libraries.

use crate::cells::{ArrowCells, TextCells, read_cells, refuse_value};
use crate::error;
use crate::names::{AttributeNames, WorkloadNames};
use crate::texts::{is_missing, is_no_limit, read_kilobytes, read_rounded, read_span, read_status, read_whole};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use drystone::model::{Job, LogStatus, Machine, Provenance, Span, TIME_LIMIT, Time, Truth, UNKNOWN, Workload};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Meaning of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnForm {
    Moment,
    Length,
    /// A length, or none where there is no limit.
    Limit,
    Number,
    Memory,
    Status,
    /// A number or a name.
    Attribute,
}

/// A column that is read: its name, whether it must be there, its values.
struct WantedColumn {
    name: &'static str,
    needed: bool,
    form: ColumnForm,
    meaning: &'static str,
}

const fn needed_column(name: &'static str, form: ColumnForm, meaning: &'static str) -> WantedColumn {
    WantedColumn { name, needed: true, form, meaning }
}

const fn optional_column(name: &'static str, form: ColumnForm, meaning: &'static str) -> WantedColumn {
    WantedColumn { name, needed: false, form, meaning }
}

/// Every column. Others are ignored.
const COLUMNS: [WantedColumn; 12] = [
    needed_column("submit", ColumnForm::Moment, "submit time: seconds, timestamps or dates"),
    needed_column("run", ColumnForm::Length, "run time: seconds, durations, or texts such as 1-02:00:00"),
    needed_column("procs", ColumnForm::Number, "processors"),
    optional_column(
        "estimate",
        ColumnForm::Limit,
        "the user's requested time: seconds, durations, or texts such as 1-02:00:00 or UNLIMITED",
    ),
    optional_column("job_id", ColumnForm::Number, "the log's number of the job, a whole number"),
    optional_column("user", ColumnForm::Attribute, "the user, a number or a name"),
    optional_column("group", ColumnForm::Attribute, "the group, a number or a name"),
    optional_column("executable", ColumnForm::Attribute, "the program, a number or a name"),
    optional_column("queue", ColumnForm::Attribute, "the queue, a number or a name"),
    optional_column("partition", ColumnForm::Attribute, "the partition, a number or a name"),
    optional_column("memory_kb", ColumnForm::Memory, "memory per processor: kilobytes, or texts such as 4G"),
    optional_column(
        "status",
        ColumnForm::Status,
        "status: 0 failed, 1 completed, 5 cancelled, or a state of Slurm such as COMPLETED",
    ),
];

const TEXTS_OF_DATES: &str = "texts (pandas.to_datetime and polars' str.to_datetime make timestamps of them)";

/// Names of the columns that are read, those first that must be there.
#[pyfunction]
pub(crate) fn column_names() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

/// A column of whole numbers, `None` where there is none.
#[derive(Default)]
struct ReadColumn {
    values: Vec<Option<i64>>,
    /// Texts that the values are places of.
    words: Vec<String>,
    /// True for seconds since 1970.
    calendar: bool,
}

impl WantedColumn {
    fn wrong_type(&self, column: &str, kind: &str) -> PyErr {
        error::table_error(&format!("column `{column}` holds {kind}; expected {}", self.meaning), Some(column), None)
    }

    /// Reads the cells as this column's values.
    fn read_cells(&self, cells: ArrowCells, column: &str) -> PyResult<ReadColumn> {
        let is_timed = matches!(self.form, ColumnForm::Moment | ColumnForm::Length | ColumnForm::Limit);
        let values = match cells {
            ArrowCells::Whole(values) => values,
            ArrowCells::Fraction(values) => self.whole_numbers(values, column)?,
            ArrowCells::Length(values) if is_timed => values,
            ArrowCells::Moment(values) if self.form == ColumnForm::Moment => {
                return Ok(ReadColumn { values, calendar: true, ..ReadColumn::default() });
            }
            ArrowCells::Length(_) => return Err(self.wrong_type(column, "durations")),
            ArrowCells::Moment(_) => return Err(self.wrong_type(column, "timestamps or dates")),
            ArrowCells::Text(texts) if self.form == ColumnForm::Attribute => {
                // A name without letters is none.
                let is_named = |code: &u32| !texts.words[*code as usize].trim().is_empty();
                let values = texts.codes.iter().map(|code| code.filter(|code| is_named(code)).map(i64::from)).collect();
                return Ok(ReadColumn { values, words: texts.words, calendar: false });
            }
            ArrowCells::Text(texts) => self.parse_numbers(&texts, column)?,
        };
        Ok(ReadColumn { values, ..ReadColumn::default() })
    }

    /// Fractions of times are rounded as fractions in logs are; everything else is whole.
    fn whole_numbers(&self, values: Vec<Option<f64>>, column: &str) -> PyResult<Vec<Option<i64>>> {
        let rounds = !matches!(self.form, ColumnForm::Number | ColumnForm::Status | ColumnForm::Attribute);
        let whole = |(row, value): (usize, Option<f64>)| match value {
            None => Ok(None),
            Some(f64::INFINITY) if self.form == ColumnForm::Limit => Ok(None),
            Some(value) if !value.is_finite() || value.abs() >= 9e15 => {
                Err(refuse_value(column, row, &value, "is too large"))
            }
            Some(value) if rounds || value.fract() == 0.0 => Ok(Some(value.round() as i64)),
            Some(value) => Err(refuse_value(column, row, &value, "is no whole number")),
        };
        values.into_iter().enumerate().map(whole).collect()
    }

    /// Texts that stand for numbers.
    fn parse_numbers(&self, texts: &TextCells, column: &str) -> PyResult<Vec<Option<i64>>> {
        let parse_word = |word: &String| -> Option<Option<i64>> {
            let value = match self.form {
                ColumnForm::Limit if is_no_limit(word) => return Some(None),
                ColumnForm::Status => read_status(word),
                _ if is_missing(word) => return Some(None),
                ColumnForm::Length | ColumnForm::Limit => read_span(word),
                ColumnForm::Memory => read_kilobytes(word),
                ColumnForm::Moment => read_rounded(word),
                _ => read_whole(word),
            };
            value.map(Some)
        };
        let numbers: Vec<Option<Option<i64>>> = texts.words.iter().map(parse_word).collect();
        if self.needed && !numbers.is_empty() && numbers.iter().all(Option::is_none) {
            let texts = if self.form == ColumnForm::Moment { TEXTS_OF_DATES } else { "texts" };
            return Err(self.wrong_type(column, texts));
        }
        let value = |(row, code): (usize, &Option<u32>)| match code {
            None => Ok(None),
            Some(code) => numbers[*code as usize].ok_or_else(|| {
                let text = format!("the text `{}`", texts.words[*code as usize]);
                refuse_value(column, row, &text, &format!("cannot be read; expected {}", self.meaning))
            }),
        };
        texts.codes.iter().enumerate().map(value).collect()
    }
}

/// The columns of a table by what they hold; `columns` says under which names they stand there.
struct ReadColumns {
    columns: BTreeMap<&'static str, ReadColumn>,
    /// Their names in the table.
    titles: BTreeMap<&'static str, String>,
    rows: usize,
}

impl ReadColumns {
    fn from_batches(
        batches: &[RecordBatch],
        schema: &Schema,
        names: &BTreeMap<String, String>,
    ) -> PyResult<ReadColumns> {
        if let Some(odd) = names.keys().find(|key| !COLUMNS.iter().any(|column| column.name == *key)) {
            let columns = column_names().join(", ");
            return Err(error::wrong_error(format!("columns: there is no `{odd}`; a workload has {columns}")));
        }
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let mut read_columns = ReadColumns { columns: BTreeMap::new(), titles: BTreeMap::new(), rows };
        for column in &COLUMNS {
            let title = names.get(column.name);
            let name = title.map_or(column.name, String::as_str);
            let places: Vec<usize> = (0..schema.fields().len()).filter(|&at| schema.field(at).name() == name).collect();
            let Some(&place) = places.first() else {
                if column.needed || title.is_some() {
                    return Err(missing_column(column, name, schema));
                }
                continue;
            };
            if places.len() > 1 {
                let problem = format!("there are {} columns `{name}`; expected one", places.len());
                return Err(error::table_error(&problem, Some(name), None));
            }
            let arrays: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(place).clone()).collect();
            read_columns.columns.insert(column.name, column.read_cells(read_cells(&arrays, name)?, name)?);
            read_columns.titles.insert(column.name, name.to_string());
        }
        Ok(read_columns)
    }

    fn refuse_value(&self, column: &'static str, row: usize, value: &dyn std::fmt::Display, problem: &str) -> PyErr {
        refuse_value(self.titles.get(column).map_or(column, String::as_str), row, value, problem)
    }

    /// A value that must be there, from `least` on.
    fn required_value(&self, column: &'static str, row: usize, least: i64, most: i64) -> PyResult<i64> {
        match self.optional_value(column, row) {
            None => Err(self.refuse_value(column, row, &"nothing", "stands there; every job needs a number")),
            Some(value) if (least..=most).contains(&value) => Ok(value),
            Some(value) => {
                Err(self.refuse_value(column, row, &value, &format!("is not possible; expected {least} to {most}")))
            }
        }
    }

    /// A value that may be missing.
    fn optional_value(&self, column: &'static str, row: usize) -> Option<i64> {
        self.columns.get(column).and_then(|read| read.values[row])
    }

    /// The estimate; `None` where there is no limit, as in logs: nothing, 0 or −1.
    fn time_limit(&self, row: usize) -> PyResult<Option<i64>> {
        match self.optional_value("estimate", row) {
            None | Some(-1 | 0) => Ok(None),
            Some(_) => self.required_value("estimate", row, 1, TIME_LIMIT).map(Some),
        }
    }

    /// Memory, −1 where it is not known.
    fn memory_kb(&self, row: usize) -> PyResult<i64> {
        self.optional_value("memory_kb", row).map_or(Ok(-1), |_| self.required_value("memory_kb", row, -1, i64::MAX))
    }

    /// The status. A table without this column is one of completed jobs; a job without a value in
    /// it has an unknown one, as in logs.
    fn job_status(&self, row: usize) -> PyResult<LogStatus> {
        let status = match self.optional_value("status", row) {
            Some(_) => self.required_value("status", row, -1, 5)?,
            None if self.columns.contains_key("status") => return Ok(LogStatus::Unknown),
            None => return Ok(LogStatus::Completed),
        };
        Ok(LogStatus::from_swf(status))
    }

    /// Rows in the order of arrival.
    fn arrival_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by_key(|&row| self.optional_value("submit", row));
        order
    }

    /// The numbers of a column that may hold names, and the names.
    fn numbered_attribute(
        &self,
        column: &'static str,
        arrivals: &[usize],
        earlier: Option<&AttributeNames>,
    ) -> PyResult<(Vec<i32>, AttributeNames)> {
        let Some(read) = self.columns.get(column) else {
            return Ok((vec![UNKNOWN; self.rows], AttributeNames::default()));
        };
        let mut numbers = vec![UNKNOWN; self.rows];
        let mut names = AttributeNames::seed_names(earlier, read.values.iter().copied(), read.words.is_empty());
        for &row in arrivals {
            let Some(value) = read.values[row] else { continue };
            let number = match read.words.get(usize::try_from(value).unwrap_or(usize::MAX)) {
                Some(word) => names.number_of_word(word),
                None => names.number_of_id(value),
            };
            numbers[row] = number.ok_or_else(|| self.refuse_value(column, row, &value, "is one name too many"))?;
        }
        Ok((numbers, names))
    }
}

fn missing_column(column: &WantedColumn, name: &str, schema: &Schema) -> PyErr {
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let problem = format!(
        "there is no column `{name}` ({}); the table has {}; columns={{\"{}\": ...}} says which one it is",
        column.meaning,
        if columns.is_empty() { "none".to_string() } else { columns.join(", ") },
        column.name
    );
    error::table_error(&problem, Some(name), None)
}

/// A table as a workload.
pub(crate) struct TableWorkload {
    pub(crate) workload: Workload,
    pub(crate) names: WorkloadNames,
    /// Jobs without an estimate, whose run time stands for it.
    pub(crate) unlimited: usize,
}

/// The workload that a table holds, on a machine of this many processors. `earlier` are names that
/// keep their numbers. The provenance is that of the log that the table comes from, if it says so.
pub(crate) fn table_workload(
    batches: &[RecordBatch],
    schema: &Schema,
    procs: u32,
    names: &BTreeMap<String, String>,
    earlier: &WorkloadNames,
    provenance: Provenance,
) -> PyResult<TableWorkload> {
    let columns = ReadColumns::from_batches(batches, schema, names)?;
    if columns.rows == 0 {
        return Err(error::table_error("the table has no rows; a workload needs at least one job", None, None));
    }
    let arrivals = columns.arrival_order();
    let mut kept_names = WorkloadNames::default();
    let mut attributes = Vec::with_capacity(WorkloadNames::COLUMNS.len());
    for column in WorkloadNames::COLUMNS {
        let (numbers, names) = columns.numbered_attribute(column, &arrivals, earlier.column_names(column))?;
        kept_names.set_column(column, names);
        attributes.push(numbers);
    }
    let attribute = |column: usize, row: usize| attributes[column][row];
    let mut unlimited_count = 0;
    let (mut jobs, mut truth) = (Vec::with_capacity(columns.rows), Vec::with_capacity(columns.rows));
    for row in 0..columns.rows {
        let submit = columns.required_value("submit", row, -TIME_LIMIT, TIME_LIMIT)?;
        let run = columns.required_value("run", row, 0, TIME_LIMIT)?;
        let width = columns.required_value("procs", row, 1, i64::from(procs))?;
        let limit = columns.time_limit(row)?;
        unlimited_count += usize::from(limit.is_none());
        let mut job = Job::new(Time(submit), width as u32, Span(limit.unwrap_or(run)));
        job.user = attribute(0, row);
        job.group = attribute(1, row);
        job.executable = attribute(2, row);
        job.queue = attribute(3, row);
        job.partition = attribute(4, row);
        job.memory_kb = columns.memory_kb(row)?;
        jobs.push(job);
        truth.push(Truth {
            run: Span(run),
            number: columns.optional_value("job_id", row).unwrap_or(row as i64 + 1),
            status: columns.job_status(row)?,
        });
    }
    if !columns.columns.contains_key("estimate") {
        unlimited_count = 0;
    }
    let calendar = columns.columns.get("submit").is_some_and(|read| read.calendar);
    let unix_start = if calendar { Some(0) } else { provenance.unix_start };
    let provenance = Provenance { unix_start, ..provenance };
    let workload = Workload::new(Machine::new(procs), jobs, truth, provenance)
        .map_err(|e| error::table_error(&e.to_string(), None, None))?;
    Ok(TableWorkload { workload, names: kept_names, unlimited: unlimited_count })
}
