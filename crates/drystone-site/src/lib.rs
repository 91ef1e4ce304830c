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

pub use anonymise::{AnonymousKey, Hide};
pub use error::{ASK, SiteError};
pub use export::{BesideTables, ExportPurpose, Numbering};
pub use format::{is_site, open, report, write};
pub use import::{
    Arrive, Counting, FileOpener, Het, ImportEffort, ImportOptions, MeasuredWindow, Preempted, Size, Throttle, Wide,
    Withdraw, import,
};
pub use jobs::{JobMarks, LimitFrom, SiteJobFate};
pub use machine::PoolUnit;
pub use readers::Carrier;
pub use resources::{Resourced, SiteResourceError};
pub use rules::{Count, Example, ImportRule, RuleEffect, RuleTally};
pub use scene::{SceneStage, SiteScene};
pub use site::{
    FileRead, LogComment, Manifest, NO_WAITS, NodeSummary, PartitionSummary, PoolSummary, RuleCount, SCHEMA, Site,
    SiteJob, SiteSetting,
};
pub use text::{Flags, RecordState};
pub use watch::ImportObserver;
pub use workload::{PoolError, PoolWorkload};
