//! Scores of candidates, and the choice of those worth showing.

use drystone::model::SharedSort;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Value of a candidate on the weeks by which it is chosen; less is better.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CandidateScore {
    /// The value of the objective.
    pub quality: f64,
    /// Part by which the bound is exceeded; 0 where it is kept.
    pub excess: f64,
}

impl CandidateScore {
    /// Those that keep the bound first, then by quality.
    pub fn compare(&self, score: &CandidateScore) -> Ordering {
        self.excess.total_cmp(&score.excess).then(self.quality.total_cmp(&score.quality))
    }

    /// Returns whether two scores differ by no more than rounding; the smaller formula is then
    /// preferred.
    pub fn is_near(&self, score: &CandidateScore) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs();
        near(self.quality, score.quality) && near(self.excess, score.excess)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScoredCandidate {
    /// Its canonical text.
    pub formula: String,
    /// Number of its parts.
    pub size: usize,
    pub score: CandidateScore,
}

/// The candidates that no other is both as small and better than, smallest first.
pub fn pareto_front(mut candidates: Vec<ScoredCandidate>) -> Vec<ScoredCandidate> {
    candidates
        .sort_shared_by(|a, b| a.size.cmp(&b.size).then(a.score.compare(&b.score)).then(a.formula.cmp(&b.formula)));
    let mut front: Vec<ScoredCandidate> = Vec::new();
    for candidate in candidates {
        if front.last().is_none_or(|last| candidate.score.compare(&last.score) == Ordering::Less) {
            front.push(candidate);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(formula: &str, size: usize, quality: f64, excess: f64) -> ScoredCandidate {
        ScoredCandidate { formula: formula.to_string(), size, score: CandidateScore { quality, excess } }
    }

    #[test]
    fn a_front_has_what_is_smaller_or_better() {
        let candidates = vec![
            found("a", 3, 10.0, 0.0),
            found("b", 1, 12.0, 0.0),
            found("c", 5, 10.5, 0.0),
            found("d", 5, 8.0, 0.0),
            found("e", 2, 5.0, 0.2),
        ];
        let names: Vec<String> = pareto_front(candidates).into_iter().map(|candidate| candidate.formula).collect();
        assert_eq!(names, ["b", "a", "d"]);
    }
}
