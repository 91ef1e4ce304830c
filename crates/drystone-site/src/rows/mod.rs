//! Rows of accounting, whatever they came from, in little memory.

mod draft;
mod folds;
mod intake;
mod places;
mod symbols;
mod table;
mod troubles;

pub(crate) use draft::Draft;
pub(crate) use intake::{Intake, Recipe, Settings, key_of};
pub(crate) use places::Place;
pub(crate) use symbols::{Cache, Interner, Symbol, Symbols};
pub(crate) use table::{NONE, Note, Row, RowPart, Shape, Table, Where, Who};
pub(crate) use troubles::Trouble;
