//! Troubles that may affect all rows: one such row is bad, most such rows are another file than
//! expected, which ends the import.

use crate::error::SiteError;

/// Trouble that may affect every row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowTrouble {
    /// A time without a zone, where none is given.
    NoZone,
    /// A time relative to the day on which it was printed.
    Relative,
    /// A time in a form that is not known.
    Form,
    /// Values cut to the width of their column.
    Padded,
}

/// Rows of each trouble, and the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Troubles {
    found: [Option<FoundTrouble>; 4],
}

#[derive(Clone, Debug)]
struct FoundTrouble {
    rows: u64,
    place: String,
    value: String,
}

impl Troubles {
    pub(super) fn add_trouble(&mut self, trouble: RowTrouble, place: impl FnOnce() -> String, value: &[u8]) {
        match &mut self.found[trouble as usize] {
            Some(entry) => entry.rows += 1,
            slot => {
                let value = String::from_utf8_lossy(value).into_owned();
                *slot = Some(FoundTrouble { rows: 1, place: place(), value });
            }
        }
    }

    /// Adds those of rows behind these.
    pub(super) fn absorb_troubles(&mut self, troubles: Troubles) {
        for (mine, slot) in self.found.iter_mut().zip(troubles.found) {
            match (mine, slot) {
                (Some(mine), Some(entry)) => mine.rows += entry.rows,
                (mine @ None, addition) => *mine = addition,
                _ => {}
            }
        }
    }

    /// Returns the error for a trouble of most of this many rows. Times without a zone do so from
    /// one in a hundred on: the rows are sound, and the zone is all that they lack.
    pub(super) fn main_trouble(&self, rows: u64) -> Option<SiteError> {
        for trouble in [RowTrouble::NoZone, RowTrouble::Relative, RowTrouble::Form, RowTrouble::Padded] {
            let Some(entry) = &self.found[trouble as usize] else { continue };
            let many = if trouble == RowTrouble::NoZone { 100 } else { 2 };
            let most = entry.rows * 2 > rows || (entry.rows > 1 && entry.rows * many > rows);
            if !most {
                continue;
            }
            let (place, value) = (entry.place.clone(), entry.value.clone());
            return Some(match trouble {
                RowTrouble::NoZone => SiteError::NoZone { place, time: value },
                RowTrouble::Relative => SiteError::RelativeTime { place, time: value },
                RowTrouble::Form => SiteError::TimeForm { place, time: value },
                RowTrouble::Padded => SiteError::Padded { place, example: format!("`{value}`") },
            });
        }
        None
    }
}
