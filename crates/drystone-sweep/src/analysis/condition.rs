//! Subspaces: conditions on parameters.

use super::{CandidateTable, StudyCandidate};
use crate::DesignLevel;
use crate::error::SweepError;

/// Conditions that all must hold, such as `window=all,size<=3`. Commas within parentheses belong to
/// a value.
#[derive(Clone, Debug)]
pub struct Subspace {
    /// As it was written.
    pub text: String,
    conditions: Vec<(usize, Relation, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Longer signs first.
const RELATIONS: [(&str, Relation); 6] = [
    ("!=", Relation::Unequal),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("=", Relation::Equal),
    ("<", Relation::Less),
    (">", Relation::More),
];

impl Subspace {
    /// Reads conditions on these parameters.
    ///
    /// # Errors
    /// A parameter that does not exist, or a condition that is none.
    pub fn parse(text: &str, parameters: &[String]) -> Result<Subspace, SweepError> {
        let mut conditions = Vec::new();
        for condition in split_pieces(text) {
            let wrong = || {
                SweepError::analysis_error(format!(
                    "`{condition}` is no condition; write e.g. window=all or size<=3, with the parameters {}",
                    parameters.join(", ")
                ))
            };
            let at = condition.find(['=', '!', '<', '>']).ok_or_else(wrong)?;
            let (name, rest) = condition.split_at(at);
            let &(sign, relation) = RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(wrong)?;
            let value = rest[sign.len()..].trim();
            let place = parameters.iter().position(|p| p == name.trim()).ok_or_else(wrong)?;
            let is_ordering = !matches!(relation, Relation::Equal | Relation::Unequal);
            if value.is_empty() {
                return Err(wrong());
            }
            if is_ordering && value.parse::<f64>().is_err() {
                let problem =
                    format!("`{condition}`: {sign} compares numbers, and `{value}` is none; = and != are for words");
                return Err(SweepError::analysis_error(problem));
            }
            conditions.push((place, relation, value.to_string()));
        }
        Ok(Subspace { text: text.to_string(), conditions })
    }

    /// The conditions that ask for a value no candidate has, each as parameter, value and the
    /// values there are: a word written wrong, or nothing simulated yet.
    pub fn unmatched_conditions(&self, table: &CandidateTable) -> Vec<(String, String, Vec<String>)> {
        let mut strangers = Vec::new();
        for (place, relation, value) in &self.conditions {
            let levels = parameter_levels(table, *place);
            if matches!(relation, Relation::Equal | Relation::Unequal) && !levels.iter().any(|l| equals_level(l, value))
            {
                let levels = levels.iter().map(ToString::to_string).collect();
                strangers.push((table.parameters[*place].clone(), value.clone(), levels));
            }
        }
        strangers
    }

    /// Returns whether a candidate meets all conditions. Without a value none is met.
    pub fn holds_for(&self, candidate: &StudyCandidate) -> bool {
        self.conditions.iter().all(|(place, relation, value)| {
            let Some(level) = &candidate.point[*place] else { return false };
            let numbers = level.as_number().zip(value.parse::<f64>().ok());
            let equal = equals_level(level, value);
            let compare_numbers = |test: fn(f64, f64) -> bool| numbers.is_some_and(|(a, b)| test(a, b));
            match relation {
                Relation::Equal => equal,
                Relation::Unequal => !equal,
                Relation::Less => compare_numbers(|a, b| a < b),
                Relation::AtMost => compare_numbers(|a, b| a <= b),
                Relation::More => compare_numbers(|a, b| a > b),
                Relation::AtLeast => compare_numbers(|a, b| a >= b),
            }
        })
    }
}

fn equals_level(level: &DesignLevel, value: &str) -> bool {
    let numbers = level.as_number().zip(value.parse::<f64>().ok());
    numbers.map_or_else(|| level.to_string() == value, |(a, b)| a == b)
}

/// The pieces between the commas that are not within parentheses.
fn split_pieces(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut pieces) = (0u32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[from..]);
    pieces
}

pub(super) fn parameter_levels(table: &CandidateTable, at: usize) -> Vec<DesignLevel> {
    let mut levels: Vec<DesignLevel> = Vec::new();
    for level in table.candidates.iter().filter_map(|c| c.point[at].as_ref()) {
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    sort_levels(&mut levels);
    levels
}

/// Levels in a sensible order: numbers by value, then words as they come.
fn sort_levels(levels: &mut [DesignLevel]) {
    levels.sort_by(|a, b| match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_together() {
        let parameters = ["window".to_string(), "size".to_string()];
        let candidate = |window: &str, size: i64| StudyCandidate {
            number: 1,
            name: String::new(),
            policy: String::new(),
            policies: Vec::new(),
            point: vec![Some(DesignLevel::Text(window.to_string())), Some(DesignLevel::Int(size))],
            values: Vec::new(),
            simulations: Vec::new(),
        };
        for (text, window, size, expected) in [
            ("window=all,size<=3", "all", 3, true),
            ("window=all,size<=3", "all", 4, false),
            ("window=all,size<3", "all", 3, false),
            ("window!=all", "all", 3, false),
            ("window!=all", "extended", 3, true),
            ("size=2.0", "all", 2, true),
            ("size>2 , size >= 3", "all", 3, true),
            ("window=easy(a=1,b=(2,3)),size=3", "easy(a=1,b=(2,3))", 3, true),
            ("size=3,window=easy(a=1,b=2)", "easy(a=1,b=3)", 3, false),
        ] {
            let subspace = Subspace::parse(text, &parameters).expect(text);
            assert_eq!(subspace.holds_for(&candidate(window, size)), expected, "{text}");
        }
        // Where a parameter also has words, the store has its numbers as texts.
        for (text, window, expected) in [
            ("window<=2", "1.5", true),
            ("window<=2", "2.5", false),
            ("window=3", "3.0", true),
            ("window>0", "auto", false),
        ] {
            let subspace = Subspace::parse(text, &parameters).expect(text);
            assert_eq!(subspace.holds_for(&candidate(window, 1)), expected, "{text} of {window}");
        }
        for bad in ["", "size", "siz<3", "size<", "size<all", "size!3"] {
            assert!(Subspace::parse(bad, &parameters).is_err(), "{bad}");
        }
    }
}
