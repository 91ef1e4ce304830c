//! CSV has no place for what determined it: that stands beside it, in `FILE.meta.json`.

use super::file::{Complete, Output};
use crate::exit::Failure;
use crate::meta::Determined;
use std::path::{Path, PathBuf};

/// The file that says what determined a CSV file. None for the standard output and for what is no
/// regular file.
pub(crate) fn beside(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") || path.metadata().is_ok_and(|m| !m.is_file()) {
        return None;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".meta.json");
    Some(beside.into())
}

/// A CSV file with what determined it beside it, both opened before the work begins.
pub(crate) struct Csv {
    out: Output,
    beside: Option<Output>,
}

impl Csv {
    /// Opens both.
    pub(crate) fn open(path: &Path) -> Result<Csv, Failure> {
        Ok(Csv { out: Output::create(path)?, beside: beside(path).as_deref().map(Output::create).transpose()? })
    }

    /// Writes both; they still need their names.
    pub(crate) fn write(self, csv: &[u8], determined: &Determined<'_>) -> Result<Vec<Complete>, Failure> {
        let csv = self.out.write_whole(csv)?;
        let beside = self.beside.map(|beside| beside.write_whole(&super::json(determined)?)).transpose()?;
        Ok([csv].into_iter().chain(beside).collect())
    }
}
