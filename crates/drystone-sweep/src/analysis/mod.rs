//! Analysis of a sweep: rankings over several test cases, the relation of parameters to ranks,
//! subspaces, Pareto fronts.

mod condition;
mod pareto;
mod rank;
mod table;

pub use condition::Subspace;
pub use pareto::{Front, OnFront};
pub use rank::{Against, Distribution, Ranked, Ranking, Share, Spread, TestCase};
pub use table::{Candidate, Choice, DIGITS, Table, clairvoyant};
