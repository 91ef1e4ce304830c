//! Logs in Parquet, as `drystone workload convert` writes them.

use crate::output::LOG_COLUMNS;
use drystone::log::LogError;
use drystone::log::source::LogFile;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

/// First bytes of every Parquet file.
const MAGIC: &[u8; 4] = b"PAR1";

/// A log in Parquet as a log in the Standard Workload Format, for everything that reads one; `None`
/// for any other file. Its header is in the metadata of the file.
pub(crate) fn as_log(path: &Path) -> Option<Result<LogFile, LogError>> {
    // A pipe has to be left to readers that read it once.
    if !path.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic).ok().filter(|()| &magic == MAGIC)?;
    let name = path.display().to_string();
    let to_log_error = |source: io::Error| LogError::Read { file: name.clone().into(), line: 0, source };
    let read_log = || -> Result<LogFile, LogError> {
        file.rewind().map_err(to_log_error)?;
        let reader = SerializedFileReader::new(file).map_err(|error| to_log_error(io::Error::other(error)))?;
        let Some(places) = column_places(&reader) else {
            return Err(LogError::Table { file: name.clone().into(), format: "Parquet" });
        };
        let text = render_log(&reader, &places).map_err(|error| to_log_error(io::Error::other(error)))?;
        Ok(LogFile { bytes: Box::new(Cursor::new(text.into_bytes())), name: name.clone().into() })
    };
    Some(read_log())
}

/// Places of the columns of a log; `None` where one is missing.
fn column_places(reader: &SerializedFileReader<File>) -> Option<Vec<usize>> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let find = |name: &&str| {
        let place = (0..schema.num_columns()).find(|&at| schema.column(at).name() == *name)?;
        (schema.column(place).max_rep_level() == 0).then_some(place)
    };
    LOG_COLUMNS.iter().map(find).collect()
}

/// Header and records as text.
fn render_log(reader: &SerializedFileReader<File>, places: &[usize]) -> Result<String, ParquetError> {
    let mut text = String::new();
    for entry in reader.metadata().file_metadata().key_value_metadata().into_iter().flatten() {
        // A value of several lines would end the comment.
        let value = entry.value.as_deref().unwrap_or_default().replace(['\n', '\r'], " ");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "; {}: {value}", entry.key.replace(['\n', '\r'], " "));
    }
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let columns = places
            .iter()
            .map(|&place| column_values(group.get_column_reader(place)?, rows))
            .collect::<Result<Vec<Vec<String>>, ParquetError>>()?;
        for row in 0..rows {
            let fields: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
            let _ = writeln!(text, "{}", fields.join(" "));
        }
    }
    Ok(text)
}

/// Every value of a column of a group, as a log has it.
fn column_values(column: ColumnReader, rows: usize) -> Result<Vec<String>, ParquetError> {
    macro_rules! texts {
        ($reader:expr) => {{
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            while values.len() < rows {
                let (more, ..) = $reader.read_records(rows - values.len(), Some(&mut levels), None, &mut values)?;
                if more == 0 {
                    break;
                }
            }
            values.iter().map(ToString::to_string).collect::<Vec<String>>()
        }};
    }
    let texts = match column {
        ColumnReader::Int32ColumnReader(mut reader) => texts!(reader),
        ColumnReader::Int64ColumnReader(mut reader) => texts!(reader),
        ColumnReader::FloatColumnReader(mut reader) => texts!(reader),
        ColumnReader::DoubleColumnReader(mut reader) => texts!(reader),
        _ => return Err(ParquetError::General("a column of a log that does not hold numbers".to_string())),
    };
    if texts.len() != rows {
        return Err(ParquetError::General(format!("a column with {} values in a group of {rows} rows", texts.len())));
    }
    Ok(texts)
}
