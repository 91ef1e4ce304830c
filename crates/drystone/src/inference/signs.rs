//! Counts of the weeks in which a mean is larger, and smaller.

use super::estimate::PeriodSum;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// From so many weeks that differ, all to one side, the direction is decided.
const DECIDING: usize = 8;
/// Sums of the same numbers in another order differ in the sixteenth digit.
const LAST_DIGIT: f64 = 1e-12;

/// Numbers of weeks, or other units, by the sign of the difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WeekSigns {
    /// Weeks in which the new mean is larger: jobs wait longer.
    pub longer: usize,
    /// Weeks in which it is smaller.
    pub shorter: usize,
    /// Weeks in which both are equal, those without jobs among them.
    pub equal: usize,
}

impl WeekSigns {
    /// Counts the signs of paired sums.
    #[must_use]
    pub fn count_signs(old: &[PeriodSum], new: &[PeriodSum]) -> WeekSigns {
        let mut signs = WeekSigns::default();
        for (old, new) in old.iter().zip(new) {
            match compare_means(old, new) {
                Ordering::Less => signs.shorter += 1,
                Ordering::Greater => signs.longer += 1,
                Ordering::Equal => signs.equal += 1,
            }
        }
        signs
    }

    /// Number of weeks.
    #[must_use]
    pub fn week_count(&self) -> usize {
        self.longer + self.shorter + self.equal
    }

    /// Returns the direction if at least eight weeks differ and all of them to one side: `Greater`
    /// where the new mean is larger. Chance does that once in 128 times at most.
    #[must_use]
    pub fn decided_direction(&self) -> Option<Ordering> {
        match (self.longer, self.shorter) {
            (longer, 0) if longer >= DECIDING => Some(Ordering::Greater),
            (0, shorter) if shorter >= DECIDING => Some(Ordering::Less),
            _ => None,
        }
    }

    /// Returns the probability that all units that differ go one way, if both ways are equally
    /// likely and no unit depends on another.
    #[must_use]
    pub fn chance_probability(&self) -> f64 {
        0.5_f64.powi((self.longer + self.shorter) as i32 - 1).min(1.0)
    }

    /// Describes the side of most weeks: `shorter in 44 of 52 weeks`; `None` where no week differs.
    #[must_use]
    pub fn describe(&self, unit: &str) -> Option<String> {
        let (word, most) = match self.longer.cmp(&self.shorter) {
            Ordering::Equal if self.longer == 0 => return None,
            Ordering::Less => ("shorter", self.shorter),
            _ => ("longer", self.longer),
        };
        let weeks = self.week_count();
        Some(format!("{word} in {most} of {weeks} {unit}{}", if weeks == 1 { "" } else { "s" }))
    }
}

/// Compares the means of a week; a week that lacks jobs on one side says nothing.
fn compare_means(old: &PeriodSum, new: &PeriodSum) -> Ordering {
    if old.count <= 0.0 || new.count <= 0.0 {
        return Ordering::Equal;
    }
    let (before, after) =
        if old.count == new.count { (old.sum, new.sum) } else { (old.sum / old.count, new.sum / new.count) };
    if (before - after).abs() <= LAST_DIGIT * before.abs().max(after.abs()) {
        Ordering::Equal
    } else {
        after.total_cmp(&before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_weeks_to_one_side_decide() {
        let sums = |values: &[f64]| -> Vec<PeriodSum> {
            values.iter().map(|&sum| PeriodSum { sum, count: if sum < 0.0 { 0.0 } else { 2.0 } }).collect()
        };
        let old = sums(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1.0, 0.0]);
        let new = sums(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, -1.0, 0.0]);
        let signs = WeekSigns::count_signs(&old, &new);
        assert_eq!((signs.longer, signs.shorter, signs.equal, signs.week_count()), (8, 0, 2, 10));
        assert_eq!(signs.decided_direction(), Some(Ordering::Greater));
        assert_eq!(signs.describe("week").as_deref(), Some("longer in 8 of 10 weeks"));
        let back = WeekSigns::count_signs(&new, &old);
        assert_eq!(
            (back.decided_direction(), back.describe("day").as_deref()),
            (Some(Ordering::Less), Some("shorter in 8 of 10 days"))
        );
        assert_eq!(WeekSigns::count_signs(&old[1..], &new[1..]).decided_direction(), None, "seven");
        assert_eq!(WeekSigns::count_signs(&old, &old).describe("week"), None);
    }

    /// Of other numbers of jobs, means are compared: 3 s over 3 jobs is less than 2 s over one.
    #[test]
    fn means_are_compared() {
        let signs =
            WeekSigns::count_signs(&[PeriodSum { sum: 3.0, count: 3.0 }], &[PeriodSum { sum: 2.0, count: 1.0 }]);
        assert_eq!(signs.longer, 1);
    }
}
