//! Columns of numbers and of texts as Parquet encodes them, each by itself, so that threads can
//! share a group of rows.

use super::columns::NO_NUMBER;
use ::parquet::basic::Encoding;
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnDescPtr;
use bytes::Bytes;
use std::sync::Arc;

/// A column of one group of rows, encoded.
pub(super) struct EncodedColumn {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// Encodes numbers, [`NO_NUMBER`] for rows without one, as differences: times that follow each
/// other take few bits. Rows behind the last cell have none.
pub(super) fn encode_numbers(descr: ColumnDescPtr, cells: &[i64], rows: usize) -> Result<EncodedColumn, ParquetError> {
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BINARY_PACKED);
    let mut levels: Vec<i16> = cells.iter().map(|&cell| i16::from(cell != NO_NUMBER)).collect();
    levels.resize(rows, 0);
    let values: Vec<i64> = cells.iter().copied().filter(|&cell| cell != NO_NUMBER).collect();
    encode_chunk(descr, Arc::new(properties.build()), |column| match column {
        ColumnWriter::Int64ColumnWriter(column) => column.write_batch(&values, Some(&levels), None),
        _ => Err(ParquetError::General("a column of numbers is one of INT64".to_string())),
    })
}

/// Encodes texts: a dictionary, and for each row that has a text its place there.
pub(super) fn encode_texts<'a>(
    descr: ColumnDescPtr,
    dictionary: impl ExactSizeIterator<Item = std::borrow::Cow<'a, str>>,
    places: &[u32],
    present: impl ExactSizeIterator<Item = bool>,
) -> Result<EncodedColumn, ParquetError> {
    let dictionary: Vec<ByteArray> = dictionary.map(|text| ByteArray::from(text.into_owned().into_bytes())).collect();
    let levels: Vec<i16> = present.map(i16::from).collect();
    let values: Vec<ByteArray> = places.iter().map(|&place| dictionary[place as usize].clone()).collect();
    // A search for a text finds it in the dictionary; the least and the greatest of all would be
    // found by comparing each with each.
    let properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
    encode_chunk(descr, Arc::new(properties.build()), |column| match column {
        ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&values, Some(&levels), None),
        _ => Err(ParquetError::General("a column of texts is one of BYTE_ARRAY".to_string())),
    })
}

/// The pages of a column one behind the other, as `write` fills it.
fn encode_chunk(
    descr: ColumnDescPtr,
    properties: WriterPropertiesPtr,
    write: impl FnOnce(&mut ColumnWriter<'_>) -> Result<usize, ParquetError>,
) -> Result<EncodedColumn, ParquetError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut column = get_column_writer(descr, properties, Box::new(SerializedPageWriter::new(&mut sink)));
    write(&mut column)?;
    let close = column.close()?;
    Ok(EncodedColumn { bytes: sink.into_inner()?.into(), close })
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

    /// Writes one column, and reads it with the reader of the crate: how many rows, which of them
    /// have a value, and the column.
    fn through<T>(
        physical: Physical,
        encode: impl Fn(ColumnDescPtr) -> EncodedColumn,
        read: impl Fn(ColumnReader) -> T,
    ) -> T {
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
            let result = through(
                Physical::INT64,
                |descr| {
                    let last = cells.iter().rposition(|&cell| cell != NO_NUMBER).map_or(0, |at| at + 1);
                    encode_numbers(descr, &cells[..last], cells.len()).expect("encoded")
                },
                |reader| {
                    let ColumnReader::Int64ColumnReader(mut reader) = reader else { panic!("numbers") };
                    let (mut values, mut levels) = (Vec::new(), Vec::new());
                    while reader.read_records(1_000, Some(&mut levels), None, &mut values).expect("read").0 > 0 {}
                    let mut values = values.into_iter();
                    let value = |level: i16| if level > 0 { values.next().expect("a value") } else { NO_NUMBER };
                    levels.into_iter().map(value).collect::<Vec<i64>>()
                },
            );
            prop_assert_eq!(result, cells);
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
                encode_texts(descr, dictionary, &places, cells.iter().map(Option::is_some)).expect("encoded")
            };
            let result = through(Physical::BYTE_ARRAY, encode, |reader| {
                let ColumnReader::ByteArrayColumnReader(mut reader) = reader else { panic!("texts") };
                let (mut values, mut levels) = (Vec::new(), Vec::new());
                while reader.read_records(1_000, Some(&mut levels), None, &mut values).expect("read").0 > 0 {}
                let mut values = values.into_iter();
                let value = |level: i16| (level > 0).then(|| values.next().expect("a value").data().to_vec());
                levels.into_iter().map(value).collect::<Vec<_>>()
            });
            let expected: Vec<Option<Vec<u8>>> =
                cells.iter().map(|cell| cell.map(|at| dictionary[at as usize].clone().into_bytes())).collect();
            prop_assert_eq!(result, expected);
        }
    }
}
