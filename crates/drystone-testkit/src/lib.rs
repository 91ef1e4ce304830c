//! Tries scheduling policies on hostile random workloads.
//!
//! Jobs that all come at once, run for no time, outlive their estimates, are withdrawn; machines of
//! one processor; estimates of a second and of a year: on each such case a policy must make a sound
//! schedule, go on the same after its state was saved and restored elsewhere, decide nothing by run
//! times that it cannot know, and keep what it guarantees itself. What fails is shrunk to a few
//! jobs and printed as a log, with the command that shows it.
//!
//! The author of a policy calls one function in one test:
//!
//! ```
//! use drystone_testkit::{Guarantee, assert_sound};
//!
//! // `register_policy(&MY_POLICY)` first, for a policy of another crate.
//! assert_sound("fcfs", &[Guarantee::Uninterrupted]);
//! ```
//!
//! It tries every parameter of the policy at every value that its declaration suggests, and draws
//! combinations. [`FamilyTrial`] has more choices: how many cases, how large, which parameters not,
//! which changes of a workload the schedule must follow.
//!
//! The built-in policies are held to the same: `tests/it/subject.rs` of this crate says what each
//! family guarantees and `tests/it/metamorphic.rs` which changes it follows. Policies that are
//! broken on purpose are found out there.

#![warn(missing_docs)]

mod case;
mod change;
mod check;
mod hostile;
mod parameters;
mod real;
mod resources;
mod sentence;
mod shrink;
mod subject;
mod trial;
mod watch;
mod world;

pub use case::{CaseLimits, CaseRow, PolicyCase, Random, YEAR};
pub use change::{CHANGES, CaseChange, check_change};
pub use check::{check_policy, simulate_case};
pub use parameters::{draw_policy, list_parameters, one_at_a_time};
pub use real::check_real;
pub use shrink::{CaseCheck, CaseFailure, attempt_real, attempt_with, try_random_case};
pub use subject::{Guarantee, Subject, parameter_value};
pub use trial::{FamilyTrial, assert_sound};
pub use watch::{FullObserver, WatchedFate};
pub use world::CaseWorld;
