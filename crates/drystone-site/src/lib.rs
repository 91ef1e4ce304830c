//! From a site's accounting to a workload.

mod anonymise;
mod asked;
pub mod capacity;
pub mod clock;
mod detect;
mod error;
mod export;
pub mod fidelity;
mod fleet;
mod format;
mod import;
mod jobs;
mod machine;
mod readers;
mod resources;
mod rows;
mod rules;
mod scene;
mod site;
mod sweep;
mod text;
pub mod waits;
mod watch;
mod workload;

pub use anonymise::{Hide, Key};
pub use error::{ASK, SiteError};
pub use export::{Beside, Numbering, Purpose};
pub use format::{is_site, open, report, write};
pub use import::{
    Arrive, Counting, Effort, Het, Opener, Options, Preempted, Size, Throttle, Wide, Window, Withdraw, import,
};
pub use jobs::{Kind, LimitFrom, Marks};
pub use machine::Unit;
pub use readers::Carrier;
pub use resources::{Resourced, SiteResourceError};
pub use rules::{Count, Effect, Example, Rule, Tally};
pub use scene::{Scene, Stage};
pub use site::{
    Comment, FileRead, Manifest, NO_WAITS, NodeSummary, PartitionSummary, PoolSummary, RuleCount, SCHEMA, Setting,
    Site, SiteJob,
};
pub use text::{Flags, State};
pub use watch::Watch;
pub use workload::{PoolError, PoolWorkload};
