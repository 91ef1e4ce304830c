//! A table of jobs in Parquet, row by row as if it were text: its columns are named like those of
//! sacct, or by `--columns`.

use super::FileReading;
use super::lines::InputLine;
use super::sacct::{TableRows, TextLayout};
use crate::error::SiteError;
use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::ColumnReader;
use parquet::data_type::AsBytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::io::Read;

/// Rows that are in memory at once.
const BATCH: usize = 1 << 13;
/// Separator of the values of a row: no value has it.
const PART: char = '\u{1f}';

/// Reads a whole table.
pub(super) fn read(mut input: impl Read, job: &mut FileReading<'_>, layout: &TextLayout) -> Result<(), SiteError> {
    let mut bytes = Vec::new();
    if let Err(error) = input.read_to_end(&mut bytes) {
        return job.broken(error, 0);
    }
    let file = job.name.to_string();
    let wrong = |error: ParquetError| SiteError::BadTable { file: file.clone(), problem: error.to_string() };
    let reader = SerializedFileReader::new(Bytes::from(bytes)).map_err(wrong)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let columns: Vec<_> = schema.columns().iter().filter(|column| column.max_rep_level() == 0).cloned().collect();
    let places: Vec<usize> = (0..schema.num_columns()).filter(|&at| schema.column(at).max_rep_level() == 0).collect();
    let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
    let header = names.join(&PART.to_string());
    let layout = TextLayout { delimiter: Some(PART.to_string()), ..layout.clone() };
    let mut rows = TableRows::begin(&header, &layout, job)?;
    let mut number = 0_u32;
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at).map_err(wrong)?;
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut readers = places
            .iter()
            .zip(&columns)
            .map(|(&place, column)| {
                Ok(ColumnCells {
                    reader: group.get_column_reader(place)?,
                    form: NumberForm::of(column),
                    levels: column.max_def_level(),
                })
            })
            .collect::<Result<Vec<ColumnCells>, ParquetError>>()
            .map_err(wrong)?;
        while left > 0 {
            let batch = left.min(BATCH);
            let cells =
                readers.iter_mut().map(|cells| cells.take(batch)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
            for row in 0..batch {
                number = number.saturating_add(1);
                job.lines(number)?;
                let texts: Vec<&str> = cells.iter().map(|column| column[row].as_str()).collect();
                let line = texts.join(&PART.to_string());
                rows.take(&InputLine { bytes: line.as_bytes(), number, whole: true }, job)?;
            }
            left -= batch;
        }
    }
    Ok(())
}

/// Meaning of a column's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NumberForm {
    Plain,
    /// So many make a second; whether they count from 1970 in UTC, not in local time.
    Moment(i64, bool),
    /// Days since 1970.
    Day,
}

impl NumberForm {
    fn of(column: &ColumnDescriptor) -> NumberForm {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(of)), _) => {
                let parts = match of.unit {
                    TimeUnit::MILLIS => 1_000,
                    TimeUnit::MICROS => 1_000_000,
                    TimeUnit::NANOS => 1_000_000_000,
                };
                NumberForm::Moment(parts, of.is_adjusted_to_u_t_c)
            }
            (_, ConvertedType::TIMESTAMP_MILLIS) => NumberForm::Moment(1_000, true),
            (_, ConvertedType::TIMESTAMP_MICROS) => NumberForm::Moment(1_000_000, true),
            (_, ConvertedType::DATE) => NumberForm::Day,
            _ => NumberForm::Plain,
        }
    }

    fn text(self, value: i64) -> String {
        match self {
            NumberForm::Plain => value.to_string(),
            NumberForm::Moment(parts, utc) => {
                let seconds = value.div_euclid(parts);
                if utc { seconds.to_string() } else { local(seconds) }
            }
            NumberForm::Day => value.checked_mul(86_400).map(local).unwrap_or_default(),
        }
    }
}

/// A local time, where it is one that accounting may have.
fn local(seconds: i64) -> String {
    if (0..=i64::from(u32::MAX)).contains(&seconds) { crate::clock::text(seconds) } else { String::new() }
}

/// The values of a column of one group.
struct ColumnCells {
    reader: ColumnReader,
    form: NumberForm,
    /// The level of a value that is there.
    levels: i16,
}

impl ColumnCells {
    /// The texts of the next rows.
    fn take(&mut self, rows: usize) -> Result<Vec<String>, ParquetError> {
        let form = self.form;
        macro_rules! texts {
            ($reader:expr, $text:expr) => {{
                let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
                let mut done = 0;
                while done < rows {
                    let (more, ..) = $reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
                    if more == 0 {
                        return Err(ParquetError::General("fewer rows than the group says".to_string()));
                    }
                    done += more;
                }
                let mut values = values.into_iter().map($text);
                let there = |at: usize| self.levels == 0 || levels.get(at) == Some(&self.levels);
                (0..rows).map(|at| if there(at) { values.next().unwrap_or_default() } else { String::new() }).collect()
            }};
        }
        let float = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let clean = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace([PART, '\n', '\r'], " ");
        Ok(match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => texts!(reader, |value: bool| u8::from(value).to_string()),
            ColumnReader::Int32ColumnReader(reader) => texts!(reader, |value: i32| form.text(value.into())),
            ColumnReader::Int64ColumnReader(reader) => texts!(reader, |value: i64| form.text(value)),
            ColumnReader::Int96ColumnReader(reader) => {
                texts!(reader, |value: parquet::data_type::Int96| value.to_seconds().to_string())
            }
            ColumnReader::FloatColumnReader(reader) => texts!(reader, |value: f32| float(value.into())),
            ColumnReader::DoubleColumnReader(reader) => texts!(reader, float),
            ColumnReader::ByteArrayColumnReader(reader) => {
                texts!(reader, |value: parquet::data_type::ByteArray| clean(value.as_bytes()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                texts!(reader, |value: parquet::data_type::FixedLenByteArray| clean(value.as_bytes()))
            }
        })
    }
}
