//! CSV has no place for what determined it: that stands beside it, in `FILE.meta.json`.

use super::file::{Complete, OutputFile};
use crate::exit::CommandFailure;
use crate::meta::Determined;
use std::path::{Path, PathBuf};

/// The file that says what determined a CSV file. None for the standard output and for what is no
/// regular file.
pub(crate) fn meta_path_beside(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") || path.metadata().is_ok_and(|m| !m.is_file()) {
        return None;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".meta.json");
    Some(beside.into())
}

/// A CSV file with what determined it beside it, both opened before the work begins.
pub(crate) struct CsvWithOrigin {
    out: OutputFile,
    beside: Option<OutputFile>,
}

impl CsvWithOrigin {
    /// Opens both.
    pub(crate) fn open(path: &Path) -> Result<CsvWithOrigin, CommandFailure> {
        Ok(CsvWithOrigin {
            out: OutputFile::create(path)?,
            beside: meta_path_beside(path).as_deref().map(OutputFile::create).transpose()?,
        })
    }

    /// Writes both; they still need their names.
    pub(crate) fn write_both(self, csv: &[u8], inputs: &Determined<'_>) -> Result<Vec<Complete>, CommandFailure> {
        let csv = self.out.write_whole(csv)?;
        let beside = self.beside.map(|beside| beside.write_whole(&super::render_json(inputs)?)).transpose()?;
        Ok([csv].into_iter().chain(beside).collect())
    }
}
