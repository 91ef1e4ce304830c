//! From a site's accounting to a workload.

mod anonymise;
pub mod capacity;
pub mod clock;
mod dependencies;
mod detect;
mod edge;
mod error;
mod example;
mod export;
pub mod fidelity;
mod fleet;
mod foreign;
mod format;
mod import;
mod job_demands;
mod job_partitions;
mod jobs;
mod licences_elsewhere;
mod limits;
mod machine;
mod manifest;
mod moldable;
mod options;
mod own_policy;
mod ranges;
mod readers;
mod resources;
mod rows;
mod rules;
mod scene;
mod site;
mod site_job;
mod submit_line;
mod sweep;
mod text;
pub mod waits;
mod watch;
mod words;
mod workload;

pub use anonymise::{AnonymousKey, Hide};
pub use error::{PoolError, SiteError, ask_commands};
pub use example::example_files;
pub use export::{BesideTables, ExportPurpose, Numbering};
pub use format::{is_site, open_folder, render_report, write_folder};
pub use import::{FileOpener, import_files};
pub use jobs::{JobMarks, LimitFrom, SiteJobFate};
pub use machine::PoolUnit;
pub use manifest::{
    FileRead, LogComment, Manifest, MeasuredWindow, NodeSummary, PartitionSummary, PoolSummary, RuleCount, SCHEMA,
    SiteSetting,
};
pub use moldable::MoldableTable;
pub use options::{Arrive, Counting, Het, ImportEffort, ImportOptions, Preempted, Size, Throttle, Wide, Withdraw};
pub use own_policy::with_conf;
pub use ranges::NodeRanges;
pub use readers::Carrier;
pub use resources::{Resourced, SiteResourceError};
pub use rules::{Count, Example, ImportRule, RuleEffect, RuleTally};
pub use scene::{SceneStage, SiteScene};
pub use site::{NO_WAITS, Site};
pub use site_job::SiteJob;
pub use text::{Flags, RecordState};
pub use watch::ImportObserver;
pub use workload::PoolWorkload;
