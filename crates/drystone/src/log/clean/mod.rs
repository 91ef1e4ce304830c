//! Cleaning: from records to a workload, with an account of every record dropped, changed or
//! guessed.
//!
//! Nothing is silent: each rule has a name ([`Rule`]) and a count ([`Audit`]), and lists its
//! records on request. What is a matter of choice is an option ([`Options`]); published studies are
//! sets of options ([`Study`]).

mod audit;
mod cleaner;
mod options;
mod parts;
mod study;
mod usual;

pub use audit::{Audit, Effect, Entry, Rule};
pub use cleaner::Cleaner;
pub use options::{Duplicates, Keep, MissingEstimate, NegativeRun, OptionError, Options, Overrun, SizeField, TooWide};
pub use study::{Study, Trim};
