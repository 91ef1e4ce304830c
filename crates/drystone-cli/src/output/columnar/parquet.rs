//! Columns as Parquet.

use super::{ColumnGetter, ColumnarFile};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::progress::WorkProgress;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows per group: few enough to hold a column of them in memory, many enough to compress well.
const GROUP: usize = 1 << 18;

impl<R> ColumnGetter<'_, R> {
    fn column_schema(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, repetition) = match self {
            ColumnGetter::Long(_) => (Physical::INT64, Repetition::REQUIRED),
            ColumnGetter::MaybeLong(_) => (Physical::INT64, Repetition::OPTIONAL),
            ColumnGetter::Double(_) => (Physical::DOUBLE, Repetition::REQUIRED),
            ColumnGetter::MaybeDouble(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
            ColumnGetter::Bool(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
            ColumnGetter::MaybeText(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
        };
        let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()
    }

    fn write_column<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        rows: &[R],
    ) -> Result<(), ParquetError> {
        match self {
            ColumnGetter::Long(get) => {
                write_values::<Int64Type, W>(group, &rows.iter().map(get).collect::<Vec<_>>(), None)
            }
            ColumnGetter::Double(get) => {
                write_values::<DoubleType, W>(group, &rows.iter().map(get).collect::<Vec<_>>(), None)
            }
            ColumnGetter::Bool(get) => {
                write_values::<BoolType, W>(group, &rows.iter().map(get).collect::<Vec<_>>(), None)
            }
            ColumnGetter::MaybeLong(get) => write_optional::<Int64Type, W>(group, rows.iter().map(get)),
            ColumnGetter::MaybeText(get) => {
                write_optional::<ByteArrayType, W>(group, rows.iter().map(|row| get(row).map(ByteArray::from)))
            }
            ColumnGetter::MaybeDouble(get) => write_optional::<DoubleType, W>(group, rows.iter().map(get)),
        }
    }
}

fn write_values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_string()));
    };
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

fn write_optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    let present: Vec<i16> = values.clone().map(|v| i16::from(v.is_some())).collect();
    write_values::<T, W>(group, &values.flatten().collect::<Vec<_>>(), Some(&present))
}

impl<R> ColumnarFile<'_, R> {
    pub(crate) fn write_rows(&self, out: &mut OutputFile, rows: &[R]) -> Result<(), CommandFailure> {
        self.write_groups(out, rows).map_err(|e| CommandFailure::write_error(out.name(), &io_error(e)))
    }

    fn write_groups(&self, out: &mut OutputFile, rows: &[R]) -> Result<(), ParquetError> {
        let progress = WorkProgress::for_writing(rows.len(), out);
        let fields = self.columns.iter().map(|(name, column)| Ok(Arc::new(column.column_schema(name)?)));
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Arc::new(Type::group_type_builder("schedule").with_fields(fields).build()?);
        let metadata = self.metadata.iter().map(|(k, v)| KeyValue::new((*k).to_string(), (*v).to_string())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(metadata))
            .set_created_by(format!("drystone {}", crate::meta::VERSION))
            .build();
        let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        for rows in rows.chunks(GROUP) {
            let mut group = writer.next_row_group()?;
            for (_, column) in self.columns {
                column.write_column(&mut group, rows)?;
            }
            group.close()?;
            progress.add_done(rows.len() as u64);
        }
        writer.close().map(drop)
    }
}

/// Returns the system's error, if there is one: a pipe that is closed is no failure.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        error => io::Error::other(error),
    }
}
