//! Published tables of scheduling studies, simulated again and compared cell by cell.
//!
//! A [`Study`] is data: which logs, how they are cleaned, which policy and which measure stand
//! behind each printed value, how far ours may be from it, and why. Those that come with the
//! program are in `studies/`, one readable file each; for another paper, write another file. The
//! engine ([`reproduce`]) knows no study.

mod cell;
pub mod coverage;
mod features;
mod logs;
mod measure;
mod parts;
mod price;
mod run;
mod study;

pub use cell::{Cell, Published, Verdict};
pub use features::{Feature, Paper, features};
pub use logs::{Library, LogState};
pub use measure::Measured;
pub use price::{PricedDelay, Promised};
pub use run::{ReproduceError, Reproduced, Row, TableResult, reproduce};
pub use study::{Column, LogRef, Resampling, RowSpec, Study, StudyError, Table, builtin};
