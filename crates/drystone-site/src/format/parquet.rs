//! Numbers and texts as Parquet, by its low-level reader and writer.

use super::columns::{COLUMNS, Holds, Value};
use crate::site::Site;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::ColumnReader;
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Rows per group.
const GROUP: usize = 1 << 17;

/// Writes the table of jobs.
pub(super) fn write<W: Write + Send>(site: &Site, out: W, told: &dyn Fn(u64)) -> Result<W, ParquetError> {
    let fields = COLUMNS.iter().map(|column| {
        let (physical, logical) = match column.holds {
            Holds::Number => (Physical::INT64, None),
            Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(column.name, physical);
        builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Arc::new(Type::group_type_builder("jobs").with_fields(fields).build()?);
    let metadata = vec![KeyValue::new("schema".to_string(), site.manifest.schema.clone())];
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(metadata))
        .set_created_by("drystone".to_string())
        .build();
    let pools: Vec<String> = site.manifest.pools.iter().map(|pool| pool.name.clone()).collect();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut from = 0;
    while from < site.len() {
        let until = (from + GROUP).min(site.len());
        let mut group = writer.next_row_group()?;
        rows(site, from..until, &pools, &mut group)?;
        group.close()?;
        told((until - from) as u64);
        from = until;
    }
    writer.into_inner()
}

/// One group: columns are filled together, so that each job is looked up once.
fn rows<W: Write + Send>(
    site: &Site,
    range: std::ops::Range<usize>,
    pools: &[String],
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), ParquetError> {
    let mut numbers: Vec<Vec<i64>> = vec![Vec::new(); COLUMNS.len()];
    let mut texts: Vec<Vec<ByteArray>> = vec![Vec::new(); COLUMNS.len()];
    let mut present: Vec<Vec<i16>> = vec![Vec::with_capacity(range.len()); COLUMNS.len()];
    for at in range {
        let job = site.job(at);
        for (place, column) in COLUMNS.iter().enumerate() {
            match (column.get)(&job, pools) {
                Value::None => {
                    present[place].push(0);
                    continue;
                }
                Value::Number(value) => numbers[place].push(value),
                Value::Text(text) => texts[place].push(ByteArray::from(text.as_bytes().to_vec())),
            }
            present[place].push(1);
        }
    }
    for (place, column) in COLUMNS.iter().enumerate() {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("more columns than the schema has".to_string()));
        };
        let levels = Some(present[place].as_slice());
        match column.holds {
            Holds::Number => writer.typed::<Int64Type>().write_batch(&numbers[place], levels, None)?,
            Holds::Text => writer.typed::<ByteArrayType>().write_batch(&texts[place], levels, None)?,
        };
        writer.close()?;
    }
    Ok(())
}

/// A column of one group as it is read: `None` where a job has nothing.
pub(super) enum Cells {
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<ByteArray>>),
}

/// Reads the table group by group. Columns that are missing are empty; columns that are more are left alone.
pub(super) fn read(file: File, mut take: impl FnMut(&[Cells], usize)) -> Result<(), ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.name().to_string()).collect();
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut cells = Vec::with_capacity(COLUMNS.len());
        for column in COLUMNS {
            let place = names.iter().position(|name| name == column.name);
            cells.push(match place {
                Some(place) => cell(group.get_column_reader(place)?, rows, column.holds)?,
                None => match column.holds {
                    Holds::Number => Cells::Numbers(vec![None; rows]),
                    Holds::Text => Cells::Texts(vec![None; rows]),
                },
            });
        }
        take(&cells, rows);
    }
    Ok(())
}

fn cell(reader: ColumnReader, rows: usize, holds: Holds) -> Result<Cells, ParquetError> {
    let mut levels = Vec::with_capacity(rows);
    let wrong = || ParquetError::General("a column of another type than expected".to_string());
    let short = || ParquetError::General("fewer rows than the group says".to_string());
    match (reader, holds) {
        (ColumnReader::Int64ColumnReader(mut reader), Holds::Number) => {
            let mut values = Vec::with_capacity(rows);
            let optional = read_all(rows, &mut levels, |levels, left| {
                reader.read_records(left, Some(levels), None, &mut values).map(|(records, ..)| records)
            })?;
            spread(values, &levels, rows, optional).map(Cells::Numbers).ok_or_else(short)
        }
        (ColumnReader::ByteArrayColumnReader(mut reader), Holds::Text) => {
            let mut values = Vec::with_capacity(rows);
            let optional = read_all(rows, &mut levels, |levels, left| {
                reader.read_records(left, Some(levels), None, &mut values).map(|(records, ..)| records)
            })?;
            spread(values, &levels, rows, optional).map(Cells::Texts).ok_or_else(short)
        }
        _ => Err(wrong()),
    }
}

/// Reads records until there are no more; whether cells may be empty.
fn read_all(
    rows: usize,
    levels: &mut Vec<i16>,
    mut read: impl FnMut(&mut Vec<i16>, usize) -> Result<usize, ParquetError>,
) -> Result<bool, ParquetError> {
    let mut done = 0;
    while done < rows {
        let more = read(levels, rows - done)?;
        if more == 0 {
            break;
        }
        done += more;
    }
    Ok(!levels.is_empty())
}

fn spread<T>(values: Vec<T>, levels: &[i16], rows: usize, optional: bool) -> Option<Vec<Option<T>>> {
    if !optional {
        return (values.len() == rows).then(|| values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    let cells: Vec<Option<T>> = levels.iter().map(|&level| if level > 0 { values.next() } else { None }).collect();
    (cells.len() == rows).then_some(cells)
}
