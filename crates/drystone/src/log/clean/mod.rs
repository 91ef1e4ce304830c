//! Cleaning: from records to a workload, with an account of every record dropped, changed or
//! guessed.
//!
//! Nothing is silent: each rule has a name ([`CleaningRule`]) and a count ([`Audit`]), and lists
//! its records on request. What is a matter of choice is an option ([`CleaningOptions`]); published
//! studies are sets of options ([`CleaningStudy`]).

mod audit;
mod choices;
mod cleaner;
mod options;
mod parts;
mod presets;
mod study;
mod usual;

pub use audit::{Audit, AuditEntry, CleaningEffect, CleaningRule};
pub use choices::{Duplicates, Keep, MissingEstimate, NegativeRun, OptionError, Overrun, SizeField, TooWide};
pub use cleaner::Cleaner;
pub use options::CleaningOptions;
pub use study::{CleaningStudy, Trim};
