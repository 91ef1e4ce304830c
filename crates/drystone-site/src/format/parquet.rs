//! Numbers and texts as Parquet, by its low-level reader and writer.

use super::cells::{GroupTexts, NO_TEXT, SiteCells};
use super::columns::{COLUMNS, Column, Get, Holds, Text};
use super::encode::{self, Chunk};
use crate::site::Site;
use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::ColumnReader;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnDescPtr, Type};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// Rows per group.
const GROUP: usize = 1 << 17;

/// Writes the table of jobs, with so many threads: the bytes are the same for any number.
pub(super) fn write<W: Write + Send>(
    site: &Site,
    out: W,
    threads: usize,
    told: &dyn Fn(u64),
) -> Result<W, ParquetError> {
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
        .set_key_value_metadata(Some(metadata))
        .set_created_by("drystone".to_string())
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let descrs = writer.schema_descr().columns().to_vec();
    let cells = SiteCells::of(site);
    let groups: Vec<Range<usize>> =
        (0..site.len()).step_by(GROUP).map(|from| from..(from + GROUP).min(site.len())).collect();
    for some in groups.chunks(threads.max(1)) {
        for (rows, chunks) in some.iter().zip(encoded(&cells, some, &descrs)) {
            let mut group = writer.next_row_group()?;
            for Chunk { bytes, close } in chunks? {
                group.append_column(&bytes, close)?;
            }
            group.close()?;
            told(rows.len() as u64);
        }
    }
    writer.into_inner()
}

/// Some groups, each encoded by a thread of its own.
fn encoded(
    cells: &SiteCells<'_>,
    groups: &[Range<usize>],
    descrs: &[ColumnDescPtr],
) -> Vec<Result<Vec<Chunk>, ParquetError>> {
    let encode = |rows: &Range<usize>| Group::of(cells, rows.clone()).encode(descrs);
    if let [only] = groups {
        return vec![encode(only)];
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = groups.iter().map(|rows| scope.spawn(move || encode(rows))).collect();
        let joined = |worker: std::thread::ScopedJoinHandle<'_, Result<Vec<Chunk>, ParquetError>>| match worker.join() {
            Ok(chunks) => chunks,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().map(joined).collect()
    })
}

/// The cells of a group of rows.
struct Group<'a> {
    texts: GroupTexts<'a>,
    numbers: Vec<Vec<i64>>,
    /// Of columns of texts: numbers of texts, [`NO_TEXT`] for none.
    codes: Vec<Vec<u32>>,
    /// Of columns of numbers: which rows have one.
    present: Vec<Vec<bool>>,
}

impl<'a> Group<'a> {
    /// Looks each job up once.
    fn of(cells: &'a SiteCells<'a>, rows: Range<usize>) -> Group<'a> {
        let room = |holds: Holds| -> Vec<usize> {
            COLUMNS.iter().map(|column| if column.holds == holds { rows.len() } else { 0 }).collect()
        };
        let numbers = room(Holds::Number);
        let mut group = Group {
            texts: cells.texts(),
            numbers: numbers.iter().map(|&n| Vec::with_capacity(n)).collect(),
            codes: room(Holds::Text).iter().map(|&n| Vec::with_capacity(n)).collect(),
            present: numbers.iter().map(|&n| Vec::with_capacity(n)).collect(),
        };
        for at in rows {
            let job = group.texts.job(at);
            for (place, column) in COLUMNS.iter().enumerate() {
                match column.get {
                    Get::Number(get) => {
                        let number = get(&job);
                        group.present[place].push(number.is_some());
                        group.numbers[place].extend(number);
                    }
                    Get::Text(kind) => group.codes[place].push(group.texts.code(at, &job, kind)),
                }
            }
        }
        group
    }

    fn encode(self, descrs: &[ColumnDescPtr]) -> Result<Vec<Chunk>, ParquetError> {
        let mut places: Vec<u32> = Vec::new();
        let columns = COLUMNS.iter().zip(descrs).enumerate();
        let encode = |(place, (column, descr)): (usize, (&Column, &ColumnDescPtr))| match column.get {
            Get::Number(_) => encode::numbers(descr.clone(), &self.numbers[place], &self.present[place]),
            Get::Text(kind) => self.texts_of(kind, &self.codes[place], &mut places, descr.clone()),
        };
        columns.map(encode).collect()
    }

    /// A column of texts. `places` is empty of all but noughts between the calls.
    fn texts_of(
        &self,
        kind: Text,
        codes: &[u32],
        places: &mut Vec<u32>,
        descr: ColumnDescPtr,
    ) -> Result<Chunk, ParquetError> {
        let mut dictionary: Vec<u32> = Vec::new();
        let mut rows = Vec::with_capacity(codes.len());
        for &code in codes.iter().filter(|&&code| code != NO_TEXT) {
            let at = code as usize;
            if at >= places.len() {
                places.resize(at + 1, 0);
            }
            if places[at] == 0 {
                dictionary.push(code);
                places[at] = dictionary.len() as u32;
            }
            rows.push(places[at] - 1);
        }
        dictionary.iter().for_each(|&code| places[code as usize] = 0);
        let present: Vec<bool> = codes.iter().map(|&code| code != NO_TEXT).collect();
        encode::texts(descr, dictionary.iter().map(|&code| self.texts.text(kind, code)), &rows, &present)
    }
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
