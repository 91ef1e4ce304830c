//! Columns of numbers and of texts as Parquet encodes them.
//!
//! The writer of the crate `parquet` looks each value up in a dictionary by its bytes. Here texts are numbers already, and numbers that
//! follow each other are written as differences: ten million jobs of 44 columns take seconds.

use super::columns::NO_NUMBER;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::statistics::Statistics;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnDescPtr;
use bytes::Bytes;

/// Values of a block of differences, and of each of its parts.
const BLOCK: usize = 128;
const PART: usize = 32;

/// A column of one group of rows, encoded.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// Encodes numbers, [`NO_NUMBER`] for rows without one.
pub(super) fn numbers(descr: ColumnDescPtr, cells: &[i64]) -> Result<Chunk, ParquetError> {
    let missing = cells.iter().filter(|&&cell| cell == NO_NUMBER).count();
    let mut page = Vec::with_capacity(1 << 16);
    levels(cells.iter().map(|&cell| cell != NO_NUMBER), missing, &mut page);
    let some: Vec<i64>;
    let values = if missing == 0 {
        cells
    } else {
        some = cells.iter().copied().filter(|&cell| cell != NO_NUMBER).collect();
        &some
    };
    differences(values, &mut page);
    let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
    let statistics = Statistics::int64(least, most, None, Some(missing as u64), false);
    chunk(descr, None, page, cells.len(), Encoding::DELTA_BINARY_PACKED, Some(statistics))
}

/// Encodes texts: a dictionary, and for each row that has a text its place there.
pub(super) fn texts<'a>(
    descr: ColumnDescPtr,
    dictionary: impl ExactSizeIterator<Item = std::borrow::Cow<'a, str>>,
    places: &[u32],
    present: impl ExactSizeIterator<Item = bool>,
) -> Result<Chunk, ParquetError> {
    let count = dictionary.len();
    let mut plain = Vec::new();
    for text in dictionary {
        let length = u32::try_from(text.len()).map_err(|_| ParquetError::General("a text of 4 GB".to_string()))?;
        plain.extend_from_slice(&length.to_le_bytes());
        plain.extend_from_slice(text.as_bytes());
    }
    let rows = present.len();
    let mut page = Vec::with_capacity(1 << 16);
    levels(present, rows - places.len(), &mut page);
    let width = (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1);
    page.push(width as u8);
    runs(places, width, &mut page);
    chunk(descr, Some((plain, count)), page, rows, Encoding::RLE_DICTIONARY, None)
}

/// Puts the pages of a column one behind the other.
fn chunk(
    descr: ColumnDescPtr,
    dictionary: Option<(Vec<u8>, usize)>,
    page: Vec<u8>,
    rows: usize,
    encoding: Encoding,
    statistics: Option<Statistics>,
) -> Result<Chunk, ParquetError> {
    let number = |n: usize| u32::try_from(n).map_err(|_| ParquetError::General("too many values".to_string()));
    let mut sink = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut sink);
    let mut size = 0;
    let mut offsets = [None; 2];
    let mut encodings = vec![encoding, Encoding::RLE];
    let mut pages = Vec::new();
    if let Some((plain, count)) = dictionary {
        encodings.push(Encoding::PLAIN);
        let num_values = number(count)?;
        pages.push(Page::DictionaryPage { buf: plain.into(), num_values, encoding: Encoding::PLAIN, is_sorted: false });
    }
    pages.push(Page::DataPage {
        buf: page.into(),
        num_values: number(rows)?,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    });
    for page in pages {
        let at = usize::from(page.is_data_page());
        let length = page.buffer().len();
        let written = writer.write_page(CompressedPage::new(page, length))?;
        offsets[at] = Some(written.offset as i64);
        size += written.bytes_written as i64;
    }
    writer.close()?;
    let mut metadata = ColumnChunkMetaData::builder(descr)
        .set_encodings(encodings)
        .set_compression(Compression::UNCOMPRESSED)
        .set_num_values(rows as i64)
        .set_total_compressed_size(size)
        .set_total_uncompressed_size(size)
        .set_data_page_offset(offsets[1].unwrap_or(0))
        .set_dictionary_page_offset(offsets[0]);
    if let Some(statistics) = statistics {
        metadata = metadata.set_statistics(statistics);
    }
    let close = ColumnCloseResult {
        bytes_written: size as u64,
        rows_written: rows as u64,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok(Chunk { bytes: sink.into_inner()?.into(), close })
}

/// Which rows have a value, of which so many have none: the length of this, and runs of noughts and ones.
fn levels(present: impl ExactSizeIterator<Item = bool>, missing: usize, out: &mut Vec<u8>) {
    let from = out.len();
    out.extend([0; 4]);
    let rows = present.len();
    if missing == 0 || missing == rows {
        run(rows, u32::from(missing == 0), 1, out);
    } else {
        let levels: Vec<u32> = present.map(u32::from).collect();
        runs(&levels, 1, out);
    }
    let length = (out.len() - from - 4) as u32;
    out[from..from + 4].copy_from_slice(&length.to_le_bytes());
}

/// Seven bits a byte, the last without its highest.
fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small numbers for small distances from 0, whatever the sign.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The same value so many times.
fn run(count: usize, value: u32, width: u32, out: &mut Vec<u8>) {
    varint((count as u64) << 1, out);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Runs of equal values, and between them values one by one in groups of eight.
fn runs(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let mut from = 0;
    let mut at = 0;
    while at < values.len() {
        let value = values[at];
        let length = values[at..].iter().take_while(|&&next| next == value).count();
        // What stands before a run has to fill its groups.
        let borrowed = (8 - (at - from) % 8) % 8;
        if length >= borrowed + 8 {
            groups(&values[from..at + borrowed], width, out);
            run(length - borrowed, value, width, out);
            from = at + length;
        }
        at += length;
    }
    groups(&values[from..], width, out);
}

fn groups(values: &[u32], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    varint((values.len().div_ceil(8) as u64) << 1 | 1, out);
    let mut bits = Bits::new(width);
    values.iter().for_each(|&value| bits.push(u64::from(value), out));
    (values.len()..values.len().next_multiple_of(8)).for_each(|_| bits.push(0, out));
    bits.finish(out);
}

/// Numbers as differences from one to the next, each block in as few bits as its largest takes.
fn differences(values: &[i64], out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint((BLOCK / PART) as u64, out);
    varint(values.len() as u64, out);
    varint(zigzag(values.first().copied().unwrap_or(0)), out);
    let mut steps = [0_i64; BLOCK];
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        let (block, before) = (block.0, &values[block.1..]);
        for ((step, &value), &last) in steps.iter_mut().zip(block).zip(before) {
            *step = value.wrapping_sub(last);
        }
        let steps = &steps[..block.len()];
        let least = steps.iter().copied().min().unwrap_or(0);
        varint(zigzag(least), out);
        let above = |step: i64| step.wrapping_sub(least) as u64;
        let mut widths = [0_u32; BLOCK / PART];
        for (width, part) in widths.iter_mut().zip(steps.chunks(PART)) {
            *width = u64::BITS - part.iter().fold(0, |all, &step| all | above(step)).leading_zeros();
        }
        out.extend(widths.map(|width| width as u8));
        for (&width, part) in widths.iter().zip(steps.chunks(PART)) {
            let mut bits = Bits::new(width);
            part.iter().for_each(|&step| bits.push(above(step), out));
            (part.len()..PART).for_each(|_| bits.push(0, out));
            bits.finish(out);
        }
    }
}

/// Numbers of so many bits, the lowest first.
struct Bits {
    width: u32,
    held: u128,
    count: u32,
}

impl Bits {
    fn new(width: u32) -> Bits {
        Bits { width, held: 0, count: 0 }
    }

    #[inline]
    fn push(&mut self, value: u64, out: &mut Vec<u8>) {
        self.held |= u128::from(value) << self.count;
        self.count += self.width;
        if self.count >= 64 {
            out.extend_from_slice(&(self.held as u64).to_le_bytes());
            self.held >>= 64;
            self.count -= 64;
        }
    }

    fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.held.to_le_bytes()[..self.count.div_ceil(8) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::basic::{Repetition, Type as Physical};
    use ::parquet::column::reader::ColumnReader;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::types::Type;
    use proptest::prelude::*;
    use std::borrow::Cow;
    use std::sync::Arc;

    /// Writes one column, and reads it with the reader of the crate: how many rows, which of them have a value, and the column.
    fn through<T>(physical: Physical, encode: impl Fn(ColumnDescPtr) -> Chunk, read: impl Fn(ColumnReader) -> T) -> T {
        let field = Type::primitive_type_builder("x", physical).with_repetition(Repetition::OPTIONAL).build();
        let schema = Type::group_type_builder("t").with_fields(vec![Arc::new(field.expect("a field"))]).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema.expect("a schema")), Arc::default())
            .expect("a writer");
        let descr = writer.schema_descr().column(0);
        let mut group = writer.next_row_group().expect("a group");
        let chunk = encode(descr);
        group.append_column(&chunk.bytes, chunk.close).expect("appended");
        group.close().expect("closed");
        let bytes = Bytes::from(writer.into_inner().expect("written"));
        let reader = SerializedFileReader::new(bytes).expect("a file");
        read(reader.get_row_group(0).expect("a group").get_column_reader(0).expect("a column"))
    }

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            4 => 1_700_000_000_i64..1_700_100_000,
            2 => 0_i64..3,
            1 => Just(NO_NUMBER),
            1 => any::<i64>(),
        ]
    }

    proptest! {
        #[test]
        fn numbers_come_back(cells in prop::collection::vec(number(), 1..700), same in 0..400_usize) {
            let mut cells = cells;
            cells.extend(std::iter::repeat_n(cells[0], same));
            let found = through(
                Physical::INT64,
                |descr| numbers(descr, &cells).expect("encoded"),
                |reader| {
                    let ColumnReader::Int64ColumnReader(mut reader) = reader else { panic!("numbers") };
                    let (mut values, mut levels) = (Vec::new(), Vec::new());
                    while reader.read_records(1_000, Some(&mut levels), None, &mut values).expect("read").0 > 0 {}
                    let mut values = values.into_iter();
                    let value = |level: i16| if level > 0 { values.next().expect("a value") } else { NO_NUMBER };
                    levels.into_iter().map(value).collect::<Vec<i64>>()
                },
            );
            prop_assert_eq!(found, cells);
        }

        #[test]
        fn texts_come_back(
            dictionary in prop::collection::vec("[a-zé]{0,9}", 1..300),
            cells in prop::collection::vec(prop::option::weighted(0.8, any::<u32>()), 1..600),
            same in 0..60_usize,
        ) {
            let mut cells: Vec<Option<u32>> = cells.into_iter().map(|c| c.map(|n| n % dictionary.len() as u32)).collect();
            cells.extend(std::iter::repeat_n(cells[0], same));
            let places: Vec<u32> = cells.iter().copied().flatten().collect();
            let encode = |descr| {
                let dictionary = dictionary.iter().map(|text| Cow::Borrowed(text.as_str()));
                texts(descr, dictionary, &places, cells.iter().map(Option::is_some)).expect("encoded")
            };
            let found = through(Physical::BYTE_ARRAY, encode, |reader| {
                let ColumnReader::ByteArrayColumnReader(mut reader) = reader else { panic!("texts") };
                let (mut values, mut levels) = (Vec::new(), Vec::new());
                while reader.read_records(1_000, Some(&mut levels), None, &mut values).expect("read").0 > 0 {}
                let mut values = values.into_iter();
                let value = |level: i16| (level > 0).then(|| values.next().expect("a value").data().to_vec());
                levels.into_iter().map(value).collect::<Vec<_>>()
            });
            let expected: Vec<Option<Vec<u8>>> =
                cells.iter().map(|cell| cell.map(|at| dictionary[at as usize].clone().into_bytes())).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
