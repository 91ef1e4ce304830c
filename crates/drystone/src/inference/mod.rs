//! Inference: whether a difference of two simulations of the same jobs is more than the accident of
//! these weeks. All commands ask here.
//!
//! | given | unit | error |
//! |---|---|---|
//! | a log that was simulated whole | up to ten blocks of consecutive weeks | blocks are left out one by one (jackknife) |
//! | four or more windows of a log, each simulated apart | the window | the spread of the windows |
//! | several logs | the log | the spread of the logs; of two logs, the errors within them |
//!
//! The statistic is the mean logarithm of new / old, over all cases of a log: its loads, its
//! changes, its measures. Three times as much is as far from no change as a third, and no interval
//! reaches below −100 %. Cases of one log share its weeks, so a block is left out of all of them at
//! once, and a case that says the same again adds nothing.
//!
//! [`MeanDifference`] is the whole answer for one mean on one log: [`Estimate`] with interval and p
//! value, [`WeekSigns`], and a [`DifferenceVerdict`]. [`correct_family`] corrects p values of
//! several candidates for their number.
//!
//! Blocks, because a queue outlives a week, and they need no estimate of that dependence
//! (Schmeiser 1982). Half of the usual degrees of freedom, because a variance from k heavy-tailed
//! blocks is known as well as one from half as many normal ones. `docs/how-sure.md` has how often
//! the intervals hold; `coverage` of `crates/generators` measures that again.

mod difference;
mod estimate;
mod family;
mod mean;
mod signs;
mod student;

pub use difference::{DifferenceVerdict, MeanDifference, SAME_WORTH};
pub use estimate::{Estimate, EstimateBasis, LEAST_UNITS, MOST_BLOCKS, NoEstimate, PairedSums, PeriodSum};
pub use estimate::{blocks_of, jackknife_estimates, log_mean_ratio, says_nothing};
pub use family::{correct_among, correct_family};
pub use mean::{mean_interval, positive_mean_interval};
pub use signs::WeekSigns;
pub use student::{student_quantile, tail_probability};
