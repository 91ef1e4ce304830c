//! The delay of the longest jobs follows the slowdown of the shortest.

use super::settings::{ClassDelay, Control};
use crate::model::Span;
use serde::{Deserialize, Serialize};

/// Weight of the newest batch in the average that the bounded controller follows.
const NEWEST: f64 = 0.2;

/// The delay in force and the batch that will change it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DelayController {
    settings: ClassDelay,
    /// D, in seconds.
    delay: f64,
    /// Completed jobs in the batch.
    completed: u32,
    /// Short ones among them.
    short: u32,
    /// Sum of their slowdowns, or of the logarithms.
    sum: f64,
    /// Value of the last batch.
    last: Option<f64>,
}

impl DelayController {
    pub(super) fn new(settings: ClassDelay) -> DelayController {
        let delay = match settings.control {
            Control::Bounded { .. } => 0.0,
            _ => settings.first,
        };
        DelayController { settings, delay, completed: 0, short: 0, sum: 0.0, last: None }
    }

    /// D, in whole seconds.
    pub(super) fn longest_delay(&self) -> Span {
        Span(self.delay.floor() as i64)
    }

    /// The delay of a job of the longest class with this prediction.
    pub(super) fn delay_of(&self, prediction: Span) -> Span {
        match self.settings.control {
            Control::Bounded { share, .. } => {
                self.longest_delay().min(Span((prediction.as_f64() * share).floor() as i64))
            }
            _ => self.longest_delay(),
        }
    }

    /// A job has completed. A run time of 0 s counts as 1 s.
    pub(super) fn note_completion(&mut self, short: bool, wait: Span, run: Span) {
        if short {
            let slowdown = 1.0 + wait.as_f64() / run.max(Span(1)).as_f64();
            self.short += 1;
            self.sum +=
                if matches!(self.settings.control, Control::Bounded { .. }) { slowdown.log2() } else { slowdown };
        }
        self.completed += u32::from(short || !self.settings.short_only);
        if self.completed >= self.settings.batch {
            self.close_interval();
        }
    }

    fn close_interval(&mut self) {
        let mean = (self.short > 0).then(|| self.sum / f64::from(self.short));
        match self.settings.control {
            Control::Fixed => {}
            Control::Paper { tolerance, first_change } => {
                let mean = mean.or(self.last).unwrap_or(1.0);
                let change = match self.last {
                    Some(last) => (mean - last) / mean.max(last),
                    None if first_change => mean,
                    None => 0.0,
                };
                if change.abs() > tolerance {
                    self.delay = (self.delay + change * self.settings.first).max(0.0);
                }
                self.last = Some(mean);
            }
            Control::Bounded { ceiling, .. } => {
                if let Some(mean) = mean {
                    let level = self.last.map_or(mean, |last| last + NEWEST * (mean - last));
                    self.delay = self.settings.first * level.min(ceiling);
                    self.last = Some(level);
                }
            }
        }
        (self.completed, self.short, self.sum) = (0, 0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(c: &mut DelayController, batch: &[(bool, i64)]) -> i64 {
        batch.iter().for_each(|&(short, wait)| c.note_completion(short, Span(wait), Span(10)));
        c.longest_delay().0
    }

    /// By hand, batches of two jobs of 10 s, D1 = 1000.
    #[test]
    fn the_papers_rule_by_hand() {
        let settings = ClassDelay { batch: 2, ..ClassDelay::from_paper(1_000.0) };
        let mut c = DelayController::new(settings);
        // s = 1 + 10/10 = 2: the first change is s itself.
        assert_eq!(feed(&mut c, &[(true, 10), (false, 500)]), 3_000);
        // s = 2.5: 0.5 / 2.5 = 0.2 is no change.
        assert_eq!(feed(&mut c, &[(true, 10), (true, 20)]), 3_000);
        // s = 1.25: −1.25 / 2.5 = −0.5.
        assert_eq!(feed(&mut c, &[(true, 0), (true, 5)]), 2_500);
        // No short job: s stays.
        assert_eq!(feed(&mut c, &[(false, 0), (false, 0)]), 2_500);
        // s = 5: 3.75 / 5 = 0.75.
        assert_eq!(feed(&mut c, &[(true, 40), (true, 40)]), 3_250);
        let mut c = DelayController::new(ClassDelay { control: Control::Fixed, ..settings });
        assert_eq!(feed(&mut c, &[(true, 10), (false, 500)]), 1_000);
        let control = Control::Paper { tolerance: 0.25, first_change: false };
        let mut c = DelayController::new(ClassDelay { control, ..settings });
        assert_eq!(feed(&mut c, &[(true, 10), (false, 500)]), 1_000);
    }

    #[test]
    fn a_batch_without_short_jobs_counts_as_slowdown_one_at_first() {
        let mut c = DelayController::new(ClassDelay { batch: 1, ..ClassDelay::from_paper(100.0) });
        assert_eq!(feed(&mut c, &[(false, 500)]), 200);
        let mut c = DelayController::new(ClassDelay { batch: 1, short_only: true, ..ClassDelay::from_paper(100.0) });
        assert_eq!(feed(&mut c, &[(false, 500)]), 100);
    }

    #[test]
    fn the_bounded_controller_keeps_its_bounds() {
        let control = Control::Bounded { ceiling: 4.0, share: 0.25 };
        let mut c = DelayController::new(ClassDelay { batch: 1, control, ..ClassDelay::from_paper(1_000.0) });
        assert_eq!(c.longest_delay(), Span(0));
        // Slowdown 4: log2 is 2.
        assert_eq!(feed(&mut c, &[(true, 30)]), 2_000);
        // Slowdown 1: 2 + 0.2 · (0 − 2) = 1.6.
        assert_eq!(feed(&mut c, &[(true, 0)]), 1_600);
        assert_eq!(feed(&mut c, &[(true, i64::MAX / 2); 50]), 4_000);
        assert_eq!(c.delay_of(Span(20_000)), Span(4_000));
        assert_eq!(c.delay_of(Span(12_000)), Span(3_000));
        assert_eq!(feed(&mut c, &[(true, 0); 100]), 0);
    }
}
