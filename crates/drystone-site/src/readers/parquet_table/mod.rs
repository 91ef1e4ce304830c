//! A table of jobs in Parquet, row by row as if it were text: its columns are named like those of
//! sacct, or by `--columns`.

mod arrow_schema;
mod form;

use self::form::CellForm;
use super::FileReading;
use super::lines::InputLine;
use super::sacct::{TableRows, TextLayout};
use super::table::{SAMPLED, TableSample};
use crate::error::SiteError;
use bytes::Bytes;
use parquet::column::reader::ColumnReader;
use parquet::data_type::AsBytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::io::Read;

/// Rows that are in memory at once.
const BATCH: usize = 1 << 13;
/// Separator of the values of a row: no value has it.
const PART: &str = "\u{1f}";

struct TableColumn {
    name: String,
    /// Its place among the leaves of the schema.
    place: usize,
    form: CellForm,
    /// The level of a value that is there.
    levels: i16,
    /// True if a row has a list of values.
    listed: bool,
}

/// Reads a whole table.
pub(super) fn read_parquet(
    mut input: impl Read,
    job: &mut FileReading<'_>,
    layout: &TextLayout,
) -> Result<(), SiteError> {
    let mut bytes = Vec::new();
    if let Err(error) = input.read_to_end(&mut bytes) {
        return job.note_broken(error, 0);
    }
    let file = job.name.to_string();
    let wrong = |error: ParquetError| SiteError::BadTable { file: file.clone(), problem: problem_of(&error) };
    let reader = SerializedFileReader::new(Bytes::from(bytes)).map_err(wrong)?;
    let columns = single_columns(&reader);
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let layout = TextLayout { delimiter: Some(PART.to_string()), ..layout.clone() };
    let mut rows: Option<TableRows> = None;
    let mut number = 0_u32;
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at).map_err(wrong)?;
        let mut remaining_rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut cells = columns
            .iter()
            .map(|column| ColumnCells::begin_column(column, group.as_ref()))
            .collect::<Result<Vec<ColumnCells<'_>>, ParquetError>>()
            .map_err(wrong)?;
        while remaining_rows > 0 {
            let batch = remaining_rows.min(BATCH);
            let texts =
                cells.iter_mut().map(|cells| cells.take_texts(batch)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
            let row = |row: usize| texts.iter().map(move |column| column[row].as_str());
            if rows.is_none() {
                let first = (0..batch.min(SAMPLED)).map(|at| row(at).map(String::from).collect()).collect();
                rows = Some(begin_rows(&columns, &names, first, &layout, job)?);
            }
            for at in 0..batch {
                number = number.saturating_add(1);
                job.note_lines(number)?;
                let line = row(at).collect::<Vec<_>>().join(PART);
                if let Some(rows) = &mut rows {
                    rows.take_row(&InputLine { bytes: line.as_bytes(), number, whole: true }, job)?;
                }
            }
            remaining_rows -= batch;
        }
    }
    match rows {
        Some(_) => Ok(()),
        None => begin_rows(&columns, &names, Vec::new(), &layout, job).map(|_| ()),
    }
}

/// An error in words that say what to do.
fn problem_of(error: &ParquetError) -> String {
    let text = error.to_string();
    match text.split_once("Disabled feature at compile time: ") {
        Some((_, codec)) => format!(
            "its columns are compressed with {codec}, which is not read; write it with zstd, snappy or gzip: python3 -c \"import pandas as p; \
             p.read_parquet('FILE').to_parquet('jobs.parquet', compression='zstd')\""
        ),
        None => text,
    }
}

/// The columns that have one value in a row, or one list of values.
fn single_columns(reader: &SerializedFileReader<Bytes>) -> Vec<TableColumn> {
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let arrow = pairs.iter().find(|pair| pair.key == "ARROW:schema").and_then(|pair| pair.value.as_deref());
    let durations = arrow.map_or(BTreeMap::new(), arrow_schema::duration_units);
    let schema = metadata.schema_descr();
    let root = |place: usize| schema.column(place).path().parts().first().cloned().unwrap_or_default();
    let alone = |place: usize| (0..schema.num_columns()).filter(|&index| root(index) == root(place)).count() == 1;
    let column = |place: usize| {
        let leaf = schema.column(place);
        let is_list = leaf.max_rep_level() > 0;
        if leaf.max_rep_level() > 1 || (is_list && !alone(place)) {
            return None;
        }
        let name = if is_list { root(place) } else { leaf.path().string() };
        let form = CellForm::from_descriptor(&leaf, durations.get(&name).copied());
        Some(TableColumn { name, place, form, levels: leaf.max_def_level(), listed: is_list })
    };
    (0..schema.num_columns()).filter_map(column).collect()
}

/// Begins with the columns that the names say.
///
/// # Errors
/// They are not known, or one that is needed is of a type without a meaning.
fn begin_rows(
    columns: &[TableColumn],
    names: &[String],
    first: Vec<Vec<String>>,
    layout: &TextLayout,
    job: &mut FileReading<'_>,
) -> Result<TableRows, SiteError> {
    let sample = TableSample::with_names(names.to_vec(), first);
    let rows = TableRows::begin_rows(&names.join(PART), sample, layout, job)?;
    for (column, read) in columns.iter().zip(rows.read_columns()) {
        if let (CellForm::Strange(kind), true) = (&column.form, read) {
            return Err(SiteError::BadTable {
                file: job.name.to_string(),
                problem: format!(
                    "the column `{}` is of the type {kind}, which has no meaning here; write it as text, a number, a time or a length of time, \
                     or skip it with a hyphen in --columns",
                    column.name
                ),
            });
        }
    }
    Ok(rows)
}

struct ColumnCells<'a> {
    reader: ColumnReader,
    column: &'a TableColumn,
}

impl<'a> ColumnCells<'a> {
    fn begin_column(column: &'a TableColumn, group: &dyn RowGroupReader) -> Result<ColumnCells<'a>, ParquetError> {
        Ok(ColumnCells { reader: group.get_column_reader(column.place)?, column })
    }

    fn take_texts(&mut self, rows: usize) -> Result<Vec<String>, ParquetError> {
        let TableColumn { form, levels: most, listed, .. } = self.column;
        macro_rules! texts {
            ($reader:expr, $text:expr) => {{
                let (mut values, mut levels, mut begins) =
                    (Vec::with_capacity(rows), Vec::with_capacity(rows), Vec::new());
                let mut done = 0;
                while done < rows {
                    let begins = listed.then_some(&mut begins);
                    let (more, ..) = $reader.read_records(rows - done, Some(&mut levels), begins, &mut values)?;
                    if more == 0 {
                        return Err(ParquetError::General("fewer rows than the group says".to_string()));
                    }
                    done += more;
                }
                let mut values = values.into_iter().map($text);
                match listed {
                    true => join_lists(&levels, &begins, *most, &mut values),
                    false => {
                        let there = |at: usize| *most == 0 || levels.get(at) == Some(most);
                        let value = |at| if there(at) { values.next().unwrap_or_default() } else { String::new() };
                        (0..rows).map(value).collect()
                    }
                }
            }};
        }
        let float = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        Ok(match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => texts!(reader, |value: bool| u8::from(value).to_string()),
            ColumnReader::Int32ColumnReader(reader) => {
                texts!(reader, |value: i32| form.format_number(value.into(), 32))
            }
            ColumnReader::Int64ColumnReader(reader) => texts!(reader, |value: i64| form.format_number(value, 64)),
            ColumnReader::Int96ColumnReader(reader) => {
                texts!(reader, |value: parquet::data_type::Int96| value.to_seconds().to_string())
            }
            ColumnReader::FloatColumnReader(reader) => texts!(reader, |value: f32| float(value.into())),
            ColumnReader::DoubleColumnReader(reader) => texts!(reader, float),
            ColumnReader::ByteArrayColumnReader(reader) => {
                texts!(reader, |value: parquet::data_type::ByteArray| form.format_bytes(value.as_bytes()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                texts!(reader, |value: parquet::data_type::FixedLenByteArray| form.format_bytes(value.as_bytes()))
            }
        })
    }
}

/// The values of lists, joined row by row: a row begins where the level of repetition is 0.
fn join_lists(levels: &[i16], begins: &[i16], most: i16, values: &mut dyn Iterator<Item = String>) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for (level, begin) in levels.iter().zip(begins) {
        if *begin == 0 {
            rows.push(String::new());
        }
        if *level == most
            && let (Some(row), Some(value)) = (rows.last_mut(), values.next())
        {
            if !row.is_empty() {
                row.push(',');
            }
            row.push_str(&value);
        }
    }
    rows
}
