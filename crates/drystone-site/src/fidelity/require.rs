//! Requirements on a fidelity.

use super::result::{Fidelity, PoolFidelity};
use std::fmt;
use std::str::FromStr;

/// A measure and its bound: `within-10m=0.9` wants at least that, `mean-distance=600` at most.
#[derive(Clone, PartialEq, Debug)]
pub struct FidelityRequirement {
    measure: &'static RequiredMeasure,
    bound: f64,
}

struct RequiredMeasure {
    name: &'static str,
    /// True if more is better.
    more: bool,
    get: fn(&PoolFidelity) -> Option<f64>,
}

impl PartialEq for RequiredMeasure {
    fn eq(&self, other: &RequiredMeasure) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for RequiredMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

static MEASURES: [RequiredMeasure; 14] = [
    RequiredMeasure { name: "within-1m", more: true, get: |p| p.errors.within_minute },
    RequiredMeasure { name: "within-10m", more: true, get: |p| p.errors.within_ten_minutes },
    RequiredMeasure { name: "within-1h", more: true, get: |p| p.errors.within_hour },
    RequiredMeasure { name: "within-tenth", more: true, get: |p| p.errors.within_tenth },
    RequiredMeasure { name: "spearman", more: true, get: |p| p.errors.spearman },
    RequiredMeasure { name: "kendall", more: true, get: |p| p.errors.kendall },
    RequiredMeasure { name: "skill-waits", more: true, get: |p| p.skill.waits },
    RequiredMeasure { name: "skill-jobs", more: true, get: |p| p.skill.jobs },
    RequiredMeasure { name: "skill-hours", more: true, get: |p| p.skill.hours },
    RequiredMeasure { name: "mean-distance", more: false, get: |p| p.errors.mean_distance },
    RequiredMeasure { name: "p90-distance", more: false, get: |p| p.errors.p90_distance },
    RequiredMeasure { name: "wasserstein", more: false, get: |p| p.errors.wasserstein },
    RequiredMeasure { name: "ks", more: false, get: |p| p.errors.kolmogorov_smirnov },
    RequiredMeasure { name: "over-capacity", more: false, get: |p| Some(p.as_happened.over_capacity) },
];

#[derive(Clone, PartialEq, Debug)]
pub struct UnmetRequirement {
    pub pool: String,
    pub measure: &'static str,
    /// Its value; `None` where it has none.
    pub value: Option<f64>,
    pub bound: f64,
    /// True if the bound is a minimum.
    pub at_least: bool,
}

impl fmt::Display for UnmetRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.map_or("unknown".to_string(), |v| format!("{v:.4}"));
        let wants = if self.at_least { "at least" } else { "at most" };
        write!(f, "{}: {} is {value}, and {wants} {} is required", self.pool, self.measure, self.bound)
    }
}

/// A text that is no requirement.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected MEASURE=NUMBER such as within-10m=0.9; measures are {}", MEASURES.iter().map(|m| m.name).collect::<Vec<_>>().join(", "))]
pub struct RequirementError {
    pub text: String,
}

impl FromStr for FidelityRequirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<FidelityRequirement, RequirementError> {
        let wrong = || RequirementError { text: text.to_string() };
        let (name, bound) = text.split_once('=').ok_or_else(wrong)?;
        let measure = MEASURES.iter().find(|m| m.name == name.trim()).ok_or_else(wrong)?;
        let bound = bound.trim().parse().ok().filter(|b: &f64| b.is_finite()).ok_or_else(wrong)?;
        Ok(FidelityRequirement { measure, bound })
    }
}

impl FidelityRequirement {
    /// The pools that do not meet it.
    pub fn find_unmet(&self, fidelity: &Fidelity) -> Vec<UnmetRequirement> {
        let RequiredMeasure { name, more, get } = self.measure;
        let fails = |value: Option<f64>| match value {
            None => true,
            Some(value) if *more => value < self.bound,
            Some(value) => value > self.bound,
        };
        let pools = fidelity.pools.iter().map(|pool| (pool.name.clone(), get(pool)));
        pools
            .filter(|(_, value)| fails(*value))
            .map(|(pool, value)| UnmetRequirement { pool, measure: name, value, bound: self.bound, at_least: *more })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_or_refused() {
        assert!("within-10m=0.9".parse::<FidelityRequirement>().is_ok_and(|r| r.bound == 0.9 && r.measure.more));
        assert!("mean-distance = 600".parse::<FidelityRequirement>().is_ok_and(|r| !r.measure.more));
        for text in ["within-10m", "wait=3", "ks=x", "ks=nan"] {
            assert!(
                text.parse::<FidelityRequirement>().is_err_and(|e| e.to_string().contains("skill-hours")),
                "{text}"
            );
        }
    }
}
