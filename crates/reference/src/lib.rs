//! Naive, readable definitions of scheduling policies, and an independent checker of schedules.
//!
//! Nothing here is fast or clever. Every policy is written straight from its specification with
//! plain vectors and whole passes, shares nothing with Drystone's engine but the vocabulary of
//! [`drystone::model`], and agrees job by job with schedules that other people's implementations
//! computed (`tests/`). It exists to judge the fast implementation.
//!
//! | module | what | source |
//! |---|---|---|
//! | [`admission`] | jobs that may start by the limits that they share | by definition |
//! | [`easy`] | FCFS, first fit, EASY with every choice as an option | Tsafrir et al. 2007; Kettimuthu et al. 2005 |
//! | [`formula`] | orders by formula, and the named ones | the papers named there |
//! | [`predict`] | predictors of run times, corrections | Tsafrir et al. 2007; Gaussier et al. 2015 |
//! | [`tsafrir`] | the 18 policies of Tsafrir et al., as options of [`easy`] | Tsafrir, Etsion & Feitelson 2007 |
//! | [`statistics`] | their statistics | the same, sections 3 to 6 |
//! | [`gaussier`] | EASY, EASY-SJBF and EASY++ as in `predictsim` | Gaussier et al. 2015 |
//! | [`talby`] | conservative, slack-based priority and EASY backfilling with early or late notice of terminations, the first two with predictions | Talby & Feitelson 1999 |
//! | [`multiqueue`] | queues by run time with promised starts | Lawson, Smirni & Puiu 2002 |
//! | [`search`] | goal-oriented scheduling by exhaustive search | Chiang & Vasupongayya 2008 |
//! | [`suspension`] | selective suspension (SS, TSS) and immediate service (IS) | Kettimuthu et al. 2005 |
//! | [`vectors`] | EASY and conservative backfilling with several resources | [`vectors`] says it |
//! | [`supplied`] | EASY and conservative backfilling, the heuristic path of a search, with more or less of a resource over time | [`supplied`] says it |
//! | [`placed`] | FCFS, greedy, EASY and conservative backfilling where jobs are placed on nodes | [`placed`] says it |
//! | [`seated`] | the other policies where jobs are placed on nodes | [`seated`] says it |
//! | [`shapes`] | EASY where jobs have several sizes, change them, and power is limited | by definition |
//! | [`outages`] | FCFS, greedy, EASY, conservative backfilling and multiple queues on a machine that loses processors | [`outages`] says it |
//! | [`committed`] | a head that is chosen once, with backfilling that ends before it | Zhang et al. 2020 (RLScheduler) |
//! | [`capacity`] | schedules on a machine that loses processors | the same |
//! | [`nodes`] | processors, memory and devices of nodes that jobs are on | by definition |
//! | [`checker`] | capacity, arrival, completion, run time received, promises | the model every policy shares |
//!
//! Times are plain `i64` seconds and jobs plain structures, so that every rule reads as it is
//! printed.

pub mod admission;
pub mod capacity;
pub mod checker;
pub mod checkpoints;
pub mod committed;
pub mod easy;
pub mod formula;
pub mod gaussier;
mod job;
pub mod multiqueue;
pub mod nodes;
pub mod outages;
pub mod placed;
pub mod predict;
pub mod profile;
pub mod search;
pub mod seated;
pub mod shapes;
pub mod statistics;
pub mod supplied;
pub mod suspension;
pub mod talby;
pub mod tsafrir;
pub mod vectors;

pub use job::{JobIn, JobOut, jobs_of};
