//! Columns of numbers and of texts as Parquet encodes them.
//!
//! The writer of the crate `parquet` looks each value up in a dictionary by its bytes. Here texts are numbers already, and numbers that
//! follow each other are written as differences: ten million jobs of 44 columns take seconds.

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

/// Encodes numbers; `present` says of each row whether it has one.
pub(super) fn numbers(descr: ColumnDescPtr, values: &[i64], present: &[bool]) -> Result<Chunk, ParquetError> {
    let mut page = levels(present);
    differences(values, &mut page);
    let range = values.iter().fold(None, |range: Option<(i64, i64)>, &value| {
        Some(range.map_or((value, value), |(least, most)| (least.min(value), most.max(value))))
    });
    let nulls = (present.len() - values.len()) as u64;
    let statistics = Statistics::int64(range.map(|r| r.0), range.map(|r| r.1), None, Some(nulls), false);
    chunk(descr, None, page, present.len(), Encoding::DELTA_BINARY_PACKED, Some(statistics))
}

/// Encodes texts: a dictionary, and for each row that has a text its place there.
pub(super) fn texts<'a>(
    descr: ColumnDescPtr,
    dictionary: impl ExactSizeIterator<Item = std::borrow::Cow<'a, str>>,
    places: &[u32],
    present: &[bool],
) -> Result<Chunk, ParquetError> {
    let count = dictionary.len();
    let mut plain = Vec::new();
    for text in dictionary {
        let length = u32::try_from(text.len()).map_err(|_| ParquetError::General("a text of 4 GB".to_string()))?;
        plain.extend_from_slice(&length.to_le_bytes());
        plain.extend_from_slice(text.as_bytes());
    }
    let mut page = levels(present);
    let width = (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1);
    page.push(width as u8);
    runs(places, width, &mut page);
    chunk(descr, Some((plain, count)), page, present.len(), Encoding::RLE_DICTIONARY, None)
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

/// Which rows have a value: their length, and runs of noughts and ones.
fn levels(present: &[bool]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    let first = present.first().copied().unwrap_or(true);
    if present.iter().all(|&is| is == first) {
        run(present.len(), u32::from(first), 1, &mut bytes);
    } else {
        let levels: Vec<u32> = present.iter().map(|&is| u32::from(is)).collect();
        runs(&levels, 1, &mut bytes);
    }
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes
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
