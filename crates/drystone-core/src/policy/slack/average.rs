//! The average wait of the system, given or estimated.

use super::settings::{AverageWait, BORDERS, CLASSES};
use crate::model::Span;
use serde::{Deserialize, Serialize};

/// Initial value of the estimate: one job that waited for an hour.
const FIRST_GUESS: f64 = 3_600.0;

/// The newest wait counts at least as much as one in so many: about ten days of a log of 28,000
/// jobs a year.
const MEMORY: f64 = 1_000.0;

/// AWT. The estimate is the mean wait of the jobs started so far, beginning with one imaginary job
/// that waited for an hour; from the thousandth job on it forgets exponentially (the newest wait
/// weighs 1/1000), so that it follows the seasons of a machine. It is never less than a second.
/// Jobs that run only where they delay no other job do not count: their wait says nothing about the
/// system.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Average {
    seconds: f64,
    /// Waits seen, the imaginary one included; 0 where the average is given.
    seen: f64,
}

impl Average {
    fn new(setting: AverageWait) -> Average {
        match setting {
            AverageWait::Given(seconds) => Average { seconds, seen: 0.0 },
            _ => Average { seconds: FIRST_GUESS, seen: 1.0 },
        }
    }

    /// The average wait in seconds, above 0.
    fn mean_seconds(&self) -> f64 {
        if self.seen == 0.0 { self.seconds } else { self.seconds.max(1.0) }
    }

    /// A job starts after having waited.
    fn learn_wait(&mut self, wait: Span) {
        if self.seen > 0.0 {
            self.seen = (self.seen + 1.0).min(MEMORY);
            self.seconds += (wait.as_f64() - self.seconds) / self.seen;
        }
    }
}

/// AWT of every class of planned run times: one for all, or one each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Averages {
    classes: Vec<Average>,
}

impl Averages {
    pub(super) fn new(setting: AverageWait) -> Averages {
        let classes = match setting {
            AverageWait::Given(_) | AverageWait::Auto => vec![Average::new(setting)],
            AverageWait::ByLength => vec![Average::new(setting); CLASSES],
            AverageWait::GivenByLength(averages) => {
                averages.map(|seconds| Average::new(AverageWait::Given(seconds))).to_vec()
            }
        };
        Averages { classes }
    }

    fn class_index(&self, length: Span) -> usize {
        let class = BORDERS.iter().filter(|&&border| length.0 > border).count();
        class.min(self.classes.len() - 1)
    }

    /// The average wait of jobs of this length in seconds, above 0.
    pub(super) fn mean_seconds(&self, length: Span) -> f64 {
        self.classes[self.class_index(length)].mean_seconds()
    }

    /// A job of this length starts after having waited.
    pub(super) fn learn_wait(&mut self, wait: Span, length: Span) {
        let class = self.class_index(length);
        self.classes[class].learn_wait(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_a_mean_that_forgets() {
        let mut average = Average::new(AverageWait::Auto);
        assert_eq!(average.mean_seconds(), 3600.0);
        average.learn_wait(Span(0));
        assert_eq!(average.mean_seconds(), 1800.0);
        average.learn_wait(Span(1800));
        assert_eq!(average.mean_seconds(), 1800.0);
        (0..20_000).for_each(|_| average.learn_wait(Span(0)));
        assert_eq!(average.mean_seconds(), 1.0, "never zero");
        (0..20_000).for_each(|_| average.learn_wait(Span(7)));
        assert!((average.mean_seconds() - 7.0).abs() < 1e-6);
        let mut constant = Average::new(AverageWait::Given(2401.0));
        constant.learn_wait(Span(0));
        assert_eq!(constant.mean_seconds(), 2401.0);
    }

    /// Each class starts from an hour; a border belongs to the class below.
    #[test]
    fn lengths_have_averages_of_their_own() {
        let mut averages = Averages::new(AverageWait::ByLength);
        averages.learn_wait(Span(0), Span(600));
        averages.learn_wait(Span(7_200), Span(28_801));
        let means = [1, 600, 601, 3_600, 28_800, 28_801].map(|length| averages.mean_seconds(Span(length)));
        assert_eq!(means, [1800.0, 1800.0, 3600.0, 3600.0, 3600.0, 5400.0]);
        let mut constants = Averages::new(AverageWait::GivenByLength([60.0, 600.0, 1200.0, 2400.0]));
        constants.learn_wait(Span(0), Span(600));
        assert_eq!(
            [600, 601, 28_800, 28_801].map(|length| constants.mean_seconds(Span(length))),
            [60.0, 600.0, 1200.0, 2400.0]
        );
        let mut single = Averages::new(AverageWait::Auto);
        single.learn_wait(Span(0), Span(600));
        assert_eq!(single.mean_seconds(Span(100_000)), 1800.0);
    }
}
