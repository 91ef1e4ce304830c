//! Numbers and texts as Parquet, by its low-level reader and writer.

use super::cells::{GroupTexts, NO_TEXT, SiteCells};
use super::columns::{COLUMNS, Holds, NO_NUMBER, SiteColumn, Text, each_number};
use super::encode::{self, EncodedColumn};
use super::loaded::GroupCells;
use crate::site::Site;
use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::ColumnReader;
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
pub(super) fn write_jobs<W: Write + Send>(
    site: &Site,
    out: W,
    threads: usize,
    on_rows: &dyn Fn(u64),
) -> Result<W, ParquetError> {
    write_in_groups(site, out, (GROUP, threads), on_rows)
}

/// Writes it with so many rows a group.
fn write_in_groups<W: Write + Send>(
    site: &Site,
    out: W,
    (size, threads): (usize, usize),
    on_rows: &dyn Fn(u64),
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
    let cells = SiteCells::for_site(site);
    let rows: Vec<Range<usize>> =
        (0..site.len()).step_by(size).map(|from| from..(from + size).min(site.len())).collect();
    let mut groups: Vec<RowGroup<'_>> =
        (0..threads.clamp(1, rows.len().max(1))).map(|_| RowGroup::new(&cells)).collect();
    for some in rows.chunks(groups.len()) {
        for (rows, chunks) in some.iter().zip(encode_groups(&mut groups, some, &descrs)) {
            let mut group = writer.next_row_group()?;
            for EncodedColumn { bytes, close } in chunks? {
                group.append_column(&bytes, close)?;
            }
            group.close()?;
            on_rows(rows.len() as u64);
        }
    }
    writer.into_inner()
}

/// Some groups, each encoded by a thread of its own.
fn encode_groups(
    groups: &mut [RowGroup<'_>],
    rows: &[Range<usize>],
    descrs: &[ColumnDescPtr],
) -> Vec<Result<Vec<EncodedColumn>, ParquetError>> {
    if let ([group, ..], [only]) = (&mut *groups, rows) {
        return vec![group.encode_rows(only.clone(), descrs)];
    }
    std::thread::scope(|scope| {
        let start = |(group, rows): (_, &Range<usize>)| {
            let (group, rows): (&mut RowGroup<'_>, _) = (group, rows.clone());
            scope.spawn(move || group.encode_rows(rows, descrs))
        };
        let workers: Vec<_> = groups.iter_mut().zip(rows).map(start).collect();
        let worker_chunks =
            |worker: std::thread::ScopedJoinHandle<'_, Result<Vec<EncodedColumn>, ParquetError>>| match worker.join() {
                Ok(chunks) => chunks,
                Err(panic) => std::panic::resume_unwind(panic),
            };
        workers.into_iter().map(worker_chunks).collect()
    })
}

/// The cells of a group of rows. Its memory is reused for the next group.
struct RowGroup<'a> {
    texts: GroupTexts<'a>,
    /// Of each column of numbers, in order, up to the last row with one; [`NO_NUMBER`] for none.
    numbers: Vec<Vec<i64>>,
    /// Of each column of texts, in order: numbers of texts, [`NO_TEXT`] for none.
    codes: Vec<Vec<u32>>,
    /// Places of texts in a dictionary, from 1, by their numbers: noughts between two columns.
    places: Vec<u32>,
}

impl<'a> RowGroup<'a> {
    fn new(cells: &'a SiteCells<'a>) -> RowGroup<'a> {
        let count = |holds: Holds| COLUMNS.iter().filter(|column| column.holds == holds).count();
        RowGroup {
            texts: cells.group_texts(),
            numbers: vec![Vec::new(); count(Holds::Number)],
            codes: vec![Vec::new(); count(Holds::Text)],
            places: Vec::new(),
        }
    }

    fn encode_rows(
        &mut self,
        rows: Range<usize>,
        descrs: &[ColumnDescPtr],
    ) -> Result<Vec<EncodedColumn>, ParquetError> {
        let count = rows.len();
        self.fill_rows(rows);
        let RowGroup { texts, numbers, codes, places } = self;
        let (mut numbers, mut codes) = (numbers.iter(), codes.iter());
        let columns = COLUMNS.iter().zip(descrs);
        let encode = |(column, descr): (&SiteColumn, &ColumnDescPtr)| match column.text {
            None => encode::encode_numbers(descr.clone(), numbers.next().map_or(&[], Vec::as_slice), count),
            Some(text) => {
                let codes = codes.next().map_or(&[][..], Vec::as_slice);
                texts_of(texts, text, codes, places, descr.clone())
            }
        };
        columns.map(encode).collect()
    }

    /// Looks each job up once.
    fn fill_rows(&mut self, rows: Range<usize>) {
        self.numbers.iter_mut().for_each(Vec::clear);
        self.codes.iter_mut().for_each(Vec::clear);
        let kinds: Vec<Text> = COLUMNS.iter().filter_map(|column| column.text).collect();
        for (row, at) in rows.enumerate() {
            let job = self.texts.job_at(at);
            let mut numbers = self.numbers.iter_mut();
            // Many columns are empty in most accounting: they take neither time nor memory.
            each_number(&job, |number| match numbers.next() {
                Some(column) if number != NO_NUMBER => {
                    if column.len() < row {
                        column.resize(row, NO_NUMBER);
                    }
                    column.push(number);
                }
                _ => {}
            });
            for (&kind, column) in kinds.iter().zip(&mut self.codes) {
                column.push(self.texts.text_code(at, &job, kind));
            }
        }
    }
}

fn texts_of(
    texts: &GroupTexts<'_>,
    kind: Text,
    codes: &[u32],
    places: &mut Vec<u32>,
    descr: ColumnDescPtr,
) -> Result<EncodedColumn, ParquetError> {
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
    encode::encode_texts(
        descr,
        dictionary.iter().map(|&code| texts.code_text(kind, code)),
        &rows,
        codes.iter().map(|&code| code != NO_TEXT),
    )
}

/// Reads the table group by group. Columns that are missing are empty; columns that are more are
/// left alone.
pub(super) fn read_groups(file: File, mut take: impl FnMut(&[GroupCells], usize)) -> Result<(), ParquetError> {
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
                Some(place) => read_cells(group.get_column_reader(place)?, rows, column.holds)?,
                None => match column.holds {
                    Holds::Number => GroupCells::Numbers(vec![None; rows]),
                    Holds::Text => GroupCells::Texts(vec![None; rows]),
                },
            });
        }
        take(&cells, rows);
    }
    Ok(())
}

fn read_cells(reader: ColumnReader, rows: usize, holds: Holds) -> Result<GroupCells, ParquetError> {
    let mut levels = Vec::with_capacity(rows);
    let wrong = || ParquetError::General("a column of another type than expected".to_string());
    let short = || ParquetError::General("fewer rows than the group says".to_string());
    match (reader, holds) {
        (ColumnReader::Int64ColumnReader(mut reader), Holds::Number) => {
            let mut values = Vec::with_capacity(rows);
            let optional = read_all(rows, &mut levels, |levels, count| {
                reader.read_records(count, Some(levels), None, &mut values).map(|(records, ..)| records)
            })?;
            spread_values(values, &levels, rows, optional).map(GroupCells::Numbers).ok_or_else(short)
        }
        (ColumnReader::ByteArrayColumnReader(mut reader), Holds::Text) => {
            let mut values = Vec::with_capacity(rows);
            let optional = read_all(rows, &mut levels, |levels, count| {
                reader.read_records(count, Some(levels), None, &mut values).map(|(records, ..)| records)
            })?;
            spread_values(values, &levels, rows, optional).map(GroupCells::Texts).ok_or_else(short)
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
    let mut row_count = 0;
    while row_count < rows {
        let more = read(levels, rows - row_count)?;
        if more == 0 {
            break;
        }
        row_count += more;
    }
    Ok(!levels.is_empty())
}

fn spread_values<T>(values: Vec<T>, levels: &[i16], rows: usize, optional: bool) -> Option<Vec<Option<T>>> {
    if !optional {
        return (values.len() == rows).then(|| values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    let cells: Vec<Option<T>> = levels.iter().map(|&level| if level > 0 { values.next() } else { None }).collect();
    (cells.len() == rows).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportObserver, ImportOptions, import_files};
    use std::cell::Cell;
    use std::fmt::Write as _;
    use std::io::{Cursor, Read};
    use std::path::{Path, PathBuf};

    #[test]
    fn any_number_of_threads_writes_the_same_bytes() {
        let mut text = "JobIDRaw|User|Submit|Start|End|State|AllocCPUS|NodeList|Priority\n".to_string();
        for job in 0..1_000_u32 {
            let user = job * 7 % 13;
            let start = 1_700_000_000 + job * 60 + job % 7;
            let priority = if job % 3 == 0 { String::new() } else { job.to_string() };
            let _ = writeln!(
                text,
                "{job}|u{user}|{start}|{start}|{}|COMPLETED|{}|n{}|{priority}",
                start + job,
                job % 9 + 1,
                job % 50
            );
        }
        let open =
            |_: &Path| -> std::io::Result<Box<dyn Read>> { Ok(Box::new(Cursor::new(text.clone().into_bytes()))) };
        let site =
            import_files(&[PathBuf::from("in memory")], &ImportOptions::default(), &open, ImportObserver::default())
                .expect("a site");
        let write_with = |threads: usize| {
            let row_count = Cell::new(0);
            let bytes =
                write_in_groups(&site, Vec::new(), (64, threads), &|rows| row_count.set(row_count.get() + rows));
            assert_eq!(row_count.get(), site.len() as u64);
            bytes.expect("written")
        };
        let reference = write_with(1);
        for threads in [0, 2, 5, 100] {
            assert!(write_with(threads) == reference, "{threads} threads write other bytes");
        }
    }
}
