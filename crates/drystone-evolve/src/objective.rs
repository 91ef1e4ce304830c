//! The bound that a search must respect, and sums of measures.

use drystone::metrics::MeasureObjective;
use drystone::policy::PolicySpec;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A bound that a candidate must keep: `wait_max<=1.5*easy`, or `wait_max<=86400`.
#[derive(Clone, Debug)]
pub struct ObjectiveGuard {
    pub of: MeasureObjective,
    /// The bound, or what the policy's value is multiplied by.
    pub factor: f64,
    /// The policy that it is measured by.
    pub policy: Option<PolicySpec>,
}

impl fmt::Display for ObjectiveGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<={}", self.of, self.factor)?;
        self.policy.as_ref().map_or(Ok(()), |policy| write!(f, "*{policy}"))
    }
}

impl FromStr for ObjectiveGuard {
    type Err = String;

    fn from_str(text: &str) -> Result<ObjectiveGuard, String> {
        let example = "write `wait_max<=1.5*easy` or `wait_max<=86400`";
        let (of, bound) = text.split_once("<=").ok_or_else(|| format!("`{text}` is no bound; {example}"))?;
        let (factor, policy) = match bound.split_once('*') {
            Some((factor, policy)) => (factor, Some(policy.parse::<PolicySpec>().map_err(|e| e.to_string())?)),
            None => (bound, None),
        };
        let factor = factor.trim().parse::<f64>().ok().filter(|factor| *factor > 0.0 && factor.is_finite());
        let factor = factor.ok_or_else(|| format!("`{bound}` does not begin with a number above 0; {example}"))?;
        Ok(ObjectiveGuard { of: of.parse()?, factor, policy })
    }
}

/// Jobs summed up: enough for every objective on one measure.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MeasureTally {
    pub sum: f64,
    /// Jobs.
    pub count: u64,
    pub max: f64,
}

impl MeasureTally {
    /// One more job; an undefined value does not count.
    pub fn push(&mut self, value: f64) {
        if !value.is_nan() {
            self.sum += value;
            self.count += 1;
            self.max = self.max.max(value);
        }
    }

    pub fn add_tally(&mut self, tally: &MeasureTally) {
        self.sum += tally.sum;
        self.count += tally.count;
        self.max = self.max.max(tally.max);
    }

    /// The mean, or the maximum; 0 without jobs.
    pub fn mean_or_maximum(&self, maximum: bool) -> f64 {
        match self.count {
            0 => 0.0,
            _ if maximum => self.max,
            count => self.sum / count as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_and_guards_are_read_as_they_are_written() {
        let objective: MeasureObjective = "bounded_slowdown_mean".parse().expect("valid");
        assert_eq!(objective, MeasureObjective::default());
        assert_eq!(objective.to_string(), "bounded_slowdown_mean");
        let guard: ObjectiveGuard = "wait_max<=1.5*easy".parse().expect("valid");
        assert_eq!(guard.to_string(), "wait_max<=1.5*easy");
        for (wrong, part) in [("bounded_slowdown", "no objective"), ("waits_mean", "no objective")] {
            assert!(wrong.parse::<MeasureObjective>().expect_err(wrong).contains(part));
        }
        for (wrong, part) in [
            ("wait_max", "no bound"),
            ("wait_max<=easy", "does not begin with a number"),
            ("wait_max<=-1*easy", "number above 0"),
            ("wait_max<=1.5*esy", "Did you mean `easy`"),
            ("wait<=2*easy", "no objective"),
        ] {
            assert!(wrong.parse::<ObjectiveGuard>().expect_err(wrong).contains(part), "{wrong}");
        }
    }

    #[test]
    fn tallies_add_up() {
        let mut tally = MeasureTally::default();
        [3.0, f64::NAN, 5.0].into_iter().for_each(|value| tally.push(value));
        tally.add_tally(&MeasureTally { sum: 1.0, count: 1, max: 1.0 });
        assert_eq!((tally.mean_or_maximum(false), tally.mean_or_maximum(true)), (3.0, 5.0));
    }
}
