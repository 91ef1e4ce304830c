//! Rows of accounting, whatever they came from, in little memory.

mod draft;
mod folds;
mod intake;
mod places;
mod symbols;
mod table;
mod troubles;
mod usage;

pub(crate) use draft::RowDraft;
pub(crate) use intake::{IntakeRecipe, ReadSettings, RowIntake, key_of};
pub(crate) use places::FilePlace;
pub(crate) use symbols::{Cache, Interner, Symbol, Symbols};
pub(crate) use table::{AccountingRow, AccountingTable, NONE, RowNote, RowPart, RowShape, Where, Who};
pub(crate) use troubles::RowTrouble;
pub(crate) use usage::RowUsage;
