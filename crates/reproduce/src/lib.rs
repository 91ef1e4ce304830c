//! Published tables of scheduling studies, simulated again and compared cell by cell.
//!
//! A [`PaperStudy`] is data: which logs, how they are cleaned, which policy and which measure stand
//! behind each printed value, how far ours may be from it, and why. Those that come with the
//! program are in `studies/`, one readable file each; for another paper, write another file. The
//! engine ([`reproduce_study`]) knows no study.

mod cell;
pub mod coverage;
mod error;
mod features;
mod logs;
mod measure;
mod parts;
mod price;
mod run;
mod study;

pub use cell::{CellVerdict, PublishedValue, StudyCell};
pub use error::ReproduceError;
pub use features::{Paper, PaperFeature, read_features};
pub use logs::{Library, LogState};
pub use measure::MeasureOfClass;
pub use price::{PricedDelay, PricedPromise};
pub use run::{Reproduced, StudyRow, TableResult, reproduce_study};
pub use study::{LogRef, PaperStudy, Resampling, RowSpec, StudyColumn, StudyError, StudyTable, read_builtin};
