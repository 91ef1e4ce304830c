//! Paces of jobs: slower runs that draw less power.

use super::{Decimal, JobShape};
use crate::model::Span;
use serde::{Deserialize, Serialize};

/// A number of a pace in the list of a job's paces: 0 is the full one, larger ones are slower.
pub type PaceNumber = u8;

/// A pace of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobPace {
    /// Speed as a share of the full one, above 0 and at most 1.
    pub speed: Decimal,
    /// Draw of each processor that the job holds, above idle.
    pub watts: u64,
}

impl JobPace {
    /// Returns the full pace.
    #[must_use]
    pub fn full_pace(watts: u64) -> JobPace {
        JobPace { speed: Decimal::ONE, watts }
    }

    /// Returns the time that a run takes at this pace, rounded up, given its time at the full one.
    #[must_use]
    pub fn run_time(self, run: Span) -> Span {
        if self.speed == Decimal::ONE { run } else { self.speed.of_speed(run) }
    }
}

impl JobShape {
    /// Returns a pace; the full one where the job has no such number.
    #[inline]
    #[must_use]
    pub fn numbered_pace(&self, number: PaceNumber) -> JobPace {
        self.paces.get(usize::from(number)).copied().unwrap_or(JobPace::full_pace(self.watts))
    }

    /// Returns whether the job has a pace of this number.
    #[must_use]
    pub fn has_pace(&self, number: PaceNumber) -> bool {
        number == 0 || usize::from(number) < self.paces.len()
    }

    /// Returns the numbers of the paces below the full one, fastest first.
    pub fn slower_paces(&self) -> impl DoubleEndedIterator<Item = PaceNumber> + use<> {
        1..PaceNumber::try_from(self.paces.len()).unwrap_or(PaceNumber::MAX).max(1)
    }

    /// Returns the least draw of a processor at any pace.
    #[must_use]
    pub fn least_watts(&self) -> u64 {
        self.paces.last().map_or(self.watts, |pace| pace.watts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_times_at_a_pace_are_exact_and_rounded_up() {
        let run = |speed: &str, seconds| {
            JobPace { speed: speed.parse().expect("a speed"), watts: 0 }.run_time(Span(seconds)).0
        };
        // 100 / 0.8 is 125; 100 / 0.7 is 142.86; 10 / 0.3 is 33.3; 3 / 0.000001 is three million.
        assert_eq!([run("0.8", 100), run("0.7", 100), run("0.3", 10), run("0.000001", 3)], [125, 143, 34, 3_000_000]);
        assert_eq!([run("1", 77), run("1.0", 77), run("0.5", 0)], [77, 77, 0]);
    }
}
