//! Requirements on a fidelity.

use super::result::{Fidelity, PoolFidelity};
use std::fmt;
use std::str::FromStr;

/// A measure and its bound: `within-10m=0.9` wants at least that, `mean-distance=600` at most.
#[derive(Clone, PartialEq, Debug)]
pub struct Requirement {
    measure: &'static Measure,
    bound: f64,
}

struct Measure {
    name: &'static str,
    /// True if more is better.
    more: bool,
    get: fn(&PoolFidelity) -> Option<f64>,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

static MEASURES: [Measure; 14] = [
    Measure { name: "within-1m", more: true, get: |p| p.errors.within_minute },
    Measure { name: "within-10m", more: true, get: |p| p.errors.within_ten_minutes },
    Measure { name: "within-1h", more: true, get: |p| p.errors.within_hour },
    Measure { name: "within-tenth", more: true, get: |p| p.errors.within_tenth },
    Measure { name: "spearman", more: true, get: |p| p.errors.spearman },
    Measure { name: "kendall", more: true, get: |p| p.errors.kendall },
    Measure { name: "skill-waits", more: true, get: |p| p.skill.waits },
    Measure { name: "skill-jobs", more: true, get: |p| p.skill.jobs },
    Measure { name: "skill-hours", more: true, get: |p| p.skill.hours },
    Measure { name: "mean-distance", more: false, get: |p| p.errors.mean_distance },
    Measure { name: "p90-distance", more: false, get: |p| p.errors.p90_distance },
    Measure { name: "wasserstein", more: false, get: |p| p.errors.wasserstein },
    Measure { name: "ks", more: false, get: |p| p.errors.kolmogorov_smirnov },
    Measure { name: "over-capacity", more: false, get: |p| Some(p.as_happened.over_capacity) },
];

/// A requirement that is not met.
#[derive(Clone, PartialEq, Debug)]
pub struct Unmet {
    /// The pool.
    pub pool: String,
    /// The measure.
    pub measure: &'static str,
    /// Its value; `None` where it has none.
    pub value: Option<f64>,
    /// The bound.
    pub bound: f64,
    /// True if the bound is a minimum.
    pub at_least: bool,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.map_or("unknown".to_string(), |v| format!("{v:.4}"));
        let wants = if self.at_least { "at least" } else { "at most" };
        write!(f, "{}: {} is {value}, and {wants} {} is required", self.pool, self.measure, self.bound)
    }
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Requirement, String> {
        let names = || MEASURES.iter().map(|m| m.name).collect::<Vec<_>>().join(", ");
        let wrong = || format!("expected MEASURE=NUMBER such as within-10m=0.9; measures are {}", names());
        let (name, bound) = text.split_once('=').ok_or_else(wrong)?;
        let measure = MEASURES.iter().find(|m| m.name == name.trim()).ok_or_else(wrong)?;
        let bound = bound.trim().parse().ok().filter(|b: &f64| b.is_finite()).ok_or_else(wrong)?;
        Ok(Requirement { measure, bound })
    }
}

impl Requirement {
    /// The pools that do not meet it.
    #[must_use]
    pub fn unmet(&self, fidelity: &Fidelity) -> Vec<Unmet> {
        let Measure { name, more, get } = self.measure;
        let fails = |value: Option<f64>| match value {
            None => true,
            Some(value) if *more => value < self.bound,
            Some(value) => value > self.bound,
        };
        let pools = fidelity.pools.iter().map(|pool| (pool.name.clone(), get(pool)));
        pools
            .filter(|(_, value)| fails(*value))
            .map(|(pool, value)| Unmet { pool, measure: name, value, bound: self.bound, at_least: *more })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_or_refused() {
        assert!("within-10m=0.9".parse::<Requirement>().is_ok_and(|r| r.bound == 0.9 && r.measure.more));
        assert!("mean-distance = 600".parse::<Requirement>().is_ok_and(|r| !r.measure.more));
        for text in ["within-10m", "wait=3", "ks=x", "ks=nan"] {
            assert!(text.parse::<Requirement>().is_err_and(|e| e.contains("skill-hours")), "{text}");
        }
    }
}
