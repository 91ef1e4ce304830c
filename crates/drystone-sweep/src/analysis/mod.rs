//! Analysis of a sweep: rankings over several test cases, paired tests, the relation of parameters
//! to ranks, subspaces, Pareto fronts.

mod condition;
mod evidence;
mod paired;
mod pareto;
mod rank;
mod replicated;
mod table;

pub use condition::Subspace;
pub use paired::{PairedTest, PairedTests};
pub use pareto::{Front, OnFront};
pub use rank::{RankDistribution, RankShare, RankedCandidate, Ranking, SetQuality, TestCase, ValueDegradation};
pub use replicated::{CellStanding, ReplicatedCell, ReplicatedColumn, ReplicatedTable, ReplicationGroup};
pub use table::{CandidateError, CandidateTable, CaseSelection, DIGITS, StudyCandidate, is_clairvoyant, list_some};
