//! Changes that a site can make tomorrow, and their value.
//!
//! A site gives its log, its `slurm.conf` and a [`AdviceGoal`], such as `tradeoff(Tw:avgX)`, with
//! [`GoalGuard`]s, such as `maxW<+20%`. [`list_options`](list_options()) are the single changes
//! that are tried: settings of Slurm, and policies that a live scheduler could run. A
//! [`AdviceStudy`] simulates each over the whole period and keeps sums per week
//! ([`PeriodObserver`]), so that one simulation serves every split of the weeks into those to
//! choose by and those to judge by. [`give_advice`] repeats choosing and judging over many splits,
//! combines single changes that help, and says how often what was chosen held, or that nothing is
//! gained.
//!
//! The crate simulates nothing itself: a [`CandidateSimulator`] does.

mod advice;
mod conf;
mod figure;
mod goal;
mod health;
mod interval;
mod options;
mod sdiag;
mod search;
mod study;
mod unseen;
mod watch;

pub use advice::{Advice, AdviceReason, AdvisedWay, Figured, HalfJudgement, Tried, give_advice};
pub use conf::{ConfEdit, conf_edits};
pub use drystone_whatif::{LEAST, PeriodLength, Periods};
pub use figure::{ClassOf, GoalFigure, Thresholds};
pub use goal::{AdviceGoal, Bound, GoalGuard};
pub use health::{Evidence, HealthCase, HealthRemark, RecordedJob, check_health};
pub use options::{KnobChange, LivePolicy, SiteKnobs, list_options, quote_value};
pub use sdiag::{PassCost, SdiagError};
pub use search::AdviceSettings;
pub use study::{AdviceCandidate, AdviceStudy, CandidateSimulator, PeriodFigures};
pub use unseen::UnseenTest;
pub use watch::{EndedJobs, PeriodObserver};
