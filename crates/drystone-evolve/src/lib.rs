//! Search for orders of waiting jobs.
//!
//! A candidate is a formula, put into a policy text in place of `?`, such as
//! `easy(order=?,backfill=?)`. Candidates are bred by mutation and crossover of expression trees
//! ([`vary`]), their weights tuned by local steps, and judged by simulations of some weeks of a log
//! ([`ChoiceGround`]); what the search found is then judged on the other weeks and on other logs
//! ([`PolicyVerdict`]), beside published orders and beside the best of as many formulas drawn at
//! random. [`regression`] finds orders the way of Carastan-Santos & de Camargo 2017: by fitting
//! functions to what trials say.

mod ground;
pub mod objective;
pub mod regression;
mod score;
mod search;
mod simplify;
mod simulate;
pub mod vary;
mod verdict;

pub use ground::{ChoiceGround, GroundError, LogWeeks};
pub use objective::ObjectiveGuard;
pub use score::{CandidateScore, ScoredCandidate, pareto_front};
pub use search::{EvolveSearch, EvolveSettings, EvolveState, SearchError};
pub use simplify::simplify_expr;
pub use simulate::{SimulationOutcome, Stopped, Template};
pub use verdict::{JudgedPolicy, OnLog, PolicyVerdict, judge_policies};
