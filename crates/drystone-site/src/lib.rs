//! From a site's accounting to a workload.

pub mod clock;
mod detect;
mod error;
mod import;
mod jobs;
mod machine;
mod readers;
mod rows;
mod rules;
mod sweep;
mod text;
mod watch;

pub use error::{ASK, SiteError};
pub use readers::Carrier;
pub use rules::{Count, Effect, Example, Rule, Tally};
pub use text::{Flags, State};
pub use watch::Watch;
