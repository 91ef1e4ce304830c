//! Subspaces: conditions on parameters.

use crate::error::SweepError;
use crate::{Level, analysis::Candidate};

/// Conditions that all must hold, such as `window=all,size<=3`.
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
        for condition in text.split(',') {
            let wrong = || {
                SweepError::analysis(format!(
                    "`{condition}` is no condition; write e.g. window=all or size<=3, with the parameters {}",
                    parameters.join(", ")
                ))
            };
            let at = condition.find(['=', '!', '<', '>']).ok_or_else(wrong)?;
            let (name, rest) = condition.split_at(at);
            let &(sign, relation) = RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(wrong)?;
            let value = rest[sign.len()..].trim();
            let place = parameters.iter().position(|p| p == name.trim()).ok_or_else(wrong)?;
            let ordered = !matches!(relation, Relation::Equal | Relation::Unequal);
            if value.is_empty() || (ordered && value.parse::<f64>().is_err()) {
                return Err(wrong());
            }
            conditions.push((place, relation, value.to_string()));
        }
        Ok(Subspace { text: text.to_string(), conditions })
    }

    /// Whether a candidate meets all conditions. Without a value none is met.
    #[must_use]
    pub fn holds(&self, candidate: &Candidate) -> bool {
        self.conditions.iter().all(|(place, relation, wanted)| {
            let Some(level) = &candidate.point[*place] else { return false };
            let numbers = level.number().zip(wanted.parse::<f64>().ok());
            let equal = numbers.map_or_else(|| level.to_string() == *wanted, |(a, b)| a == b);
            let ordered = |test: fn(f64, f64) -> bool| numbers.is_some_and(|(a, b)| test(a, b));
            match relation {
                Relation::Equal => equal,
                Relation::Unequal => !equal,
                Relation::Less => ordered(|a, b| a < b),
                Relation::AtMost => ordered(|a, b| a <= b),
                Relation::More => ordered(|a, b| a > b),
                Relation::AtLeast => ordered(|a, b| a >= b),
            }
        })
    }
}

/// Levels in a sensible order: numbers by value, then words as they come.
pub(super) fn sorted(levels: &mut [Level]) {
    levels.sort_by(|a, b| match (a.number(), b.number()) {
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
        let candidate = |window: &str, size: i64| Candidate {
            number: 1,
            name: String::new(),
            policy: String::new(),
            point: vec![Some(Level::Text(window.to_string())), Some(Level::Int(size))],
            values: Vec::new(),
        };
        for (text, window, size, expected) in [
            ("window=all,size<=3", "all", 3, true),
            ("window=all,size<=3", "all", 4, false),
            ("window=all,size<3", "all", 3, false),
            ("window!=all", "all", 3, false),
            ("window!=all", "extended", 3, true),
            ("size=2.0", "all", 2, true),
            ("size>2 , size >= 3", "all", 3, true),
        ] {
            let subspace = Subspace::parse(text, &parameters).expect(text);
            assert_eq!(subspace.holds(&candidate(window, size)), expected, "{text}");
        }
        for bad in ["", "size", "siz<3", "size<", "size<all", "size!3"] {
            assert!(Subspace::parse(bad, &parameters).is_err(), "{bad}");
        }
    }
}
