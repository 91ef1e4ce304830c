//! Changes that a site can make tomorrow, and their value.
//!
//! A site gives its log, its `slurm.conf` and a [`Goal`], such as `tradeoff(Tw:avgX)`, with
//! [`Guard`]s, such as `maxW<+20%`. [`options`](options()) are the single changes that are tried:
//! settings of Slurm, and policies that a live scheduler could run. A [`Study`] simulates each over
//! the whole period and keeps sums per week ([`Watch`]), so that one simulation serves every split
//! of the weeks into those to choose by and those to judge by. [`advise`] repeats choosing and
//! judging over many splits, combines single changes that help, and says how often what was chosen
//! held, or that nothing is gained.
//!
//! The crate simulates nothing itself: a [`Bench`] does.

mod advice;
mod conf;
mod figure;
mod goal;
mod health;
mod interval;
mod options;
mod periods;
mod sdiag;
mod search;
mod study;
mod watch;
mod whatif;

pub use advice::{Advice, Answer, Figured, Judgement, Reason, Tried, advise};
pub use conf::{Edit, edits};
pub use figure::{ClassOf, Figure, Thresholds};
pub use goal::{Bound, Goal, Guard};
pub use health::{Evidence, HealthCase, HealthRemark, RecordedJob, health};
pub use options::{Change, Live, Site, options};
pub use periods::{LEAST, Length, Periods};
pub use sdiag::{PassCost, SdiagError};
pub use search::Plan;
pub use study::{Bench, Candidate, Study, Sums};
pub use watch::Watch;
pub use whatif::{
    Applied, ApplyError, ArrivalChange, Border, Bordered, ChangeList, ClassChange, Closure, Left, LeftOut, LimitRule,
    Longer, MemoryAmount, NodeAmount, PairedChange, PairedWait, PartitionPremises, PoolPremises, Premises, SiteChange,
    SiteChangeError, apply, limit_candidates, moment, paired,
};
