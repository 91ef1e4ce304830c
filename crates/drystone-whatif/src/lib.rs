//! Changes of a site: as values with a text form, and as what is simulated after them.
//!
//! A [`ChangeList`] is a list of [`SiteChange`]s, such as `nodes gpu:+8; load 1.2`. [`Premises`]
//! are what a simulation begins from: jobs, pools, outages, configurations. [`apply_changes`] makes
//! the premises after a scenario of those before it. Whatever depends on a true run time happens
//! here, to the workload, as in the cleaning of logs: no policy sees more than before.

mod apply;
mod candidates;
mod capacity;
mod change;
mod change_values;
mod conf_text;
mod jobs;
mod limit_text;
mod memory;
mod moment;
mod node_times;
mod paired;
mod periods;
mod places;
mod premises;
mod qos;
mod scan;
mod setting_text;
mod settings;
mod shared_limits;
mod state;
mod supply;
mod words;

pub use apply::apply_changes;
pub use candidates::limit_candidates;
pub use change::{ChangeList, SiteChange, change_words};
pub use change_values::{
    ArrivalChange, Border, Bordered, Closure, LeftOut, LimitRule, Longer, MemoryAmount, NodeAmount, SupplyAmount,
};
pub use moment::{MomentError, parse_moment};
pub use paired::{ClassChange, PairedChange, PairedWait, compare_waits};
pub use periods::{LEAST, PeriodLength, Periods, draw_halves};
pub use premises::{ApplyError, LimitRules, PartitionPremises, PoolPremises, Premises};
pub use scan::SiteChangeError;
pub use state::{Applied, LeftOutJobs};
