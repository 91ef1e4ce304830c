//! Positions of rows: file and line.

use std::sync::Arc;

/// The files that were read, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileNames {
    names: Vec<Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct FilePlace {
    pub(crate) file: u16,
    /// The line or, where there are no lines, the number of the record, from 1.
    pub(crate) line: u32,
}

impl FileNames {
    pub(crate) fn add_file(&mut self, name: &str) -> u16 {
        self.names.push(name.into());
        u16::try_from(self.names.len() - 1).unwrap_or(u16::MAX)
    }

    /// File and line, for people.
    pub(crate) fn format_place(&self, place: FilePlace) -> String {
        let name = self.names.get(usize::from(place.file)).map_or("?", |name| name);
        format!("{name}:{}", place.line)
    }
}
