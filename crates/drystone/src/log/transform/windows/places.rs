//! Places of windows in a log.

use super::mersenne::MersenneTwister;
use super::text::WindowRuleText;
use super::{LogWindow, WindowError, WindowLength, WindowPlacement, WindowRule};
use crate::draw::RandomDraw;
use crate::log::transform::find_submitted;
use crate::model::{Span, Time, Workload};
use std::ops::Range;

/// Key of the twister that seeds RLScheduler's draw by default: the first eight bytes of SHA-512 of
/// `1`, as `gym.utils.seeding` makes it of the seed 1.
const RLSCHEDULER_KEY: [u32; 2] = [0xA34E_FF4D, 0x23A8_F040];

/// Scale that windows are laid on: jobs by their places, or seconds from the first submit.
struct LogScale<'a> {
    workload: &'a Workload,
    rule: &'a WindowRule,
    /// Number of jobs, or of seconds.
    whole: u64,
    /// Length of a window.
    length: u64,
}

impl WindowRule {
    /// Finds the windows in a log.
    ///
    /// # Errors
    /// The log is too short, or a window that was asked for has no job.
    ///
    /// Cost: O(windows · log jobs).
    pub fn find_windows(&self, workload: &Workload) -> Result<Vec<LogWindow>, WindowError> {
        let (first, last) = workload.submit_range().unwrap_or_default();
        let (whole, length) = match self.length {
            WindowLength::Jobs(jobs) => (workload.len() as u64, u64::from(jobs)),
            WindowLength::Days(days) => ((last - first).0.unsigned_abs() + 1, u64::from(days) * DAY),
        };
        let scale = LogScale { workload, rule: self, whole, length };
        let beginnings = scale.window_beginnings()?;
        let mut windows = Vec::with_capacity(beginnings.len());
        for begin in beginnings {
            let window = scale.build_window(begin);
            if !window.counted.is_empty() {
                windows.push(window);
            } else if self.placement != WindowPlacement::All {
                return Err(WindowError::Empty { rule: WindowRuleText(self.to_string()), window: window.name });
            }
        }
        Ok(windows)
    }
}

/// Seconds of a day.
const DAY: u64 = Span::DAY.0.unsigned_abs();

impl LogScale<'_> {
    fn window_beginnings(&self) -> Result<Vec<u64>, WindowError> {
        let room = self.whole.saturating_sub(self.length);
        match &self.rule.placement {
            WindowPlacement::All => {
                self.check_end(self.length)?;
                Ok((0..self.whole / self.length).map(|at| at * self.length).collect())
            }
            WindowPlacement::Spread(count) => {
                let count = u64::from(*count);
                self.check_end(count * self.length)?;
                let place = |at: u64| u128::from(at) * u128::from(room) / u128::from((count - 1).max(1));
                Ok((0..count).map(|at| place(at) as u64).collect())
            }
            WindowPlacement::Drawn { count, seed, overlap } => {
                let mut draw = RandomDraw::new(*seed, 0);
                if *overlap {
                    // Beginnings differ: the same window twice is one.
                    self.check_end(self.length.saturating_add(u64::from(*count) - 1))?;
                    let mut beginnings: Vec<u64> = Vec::with_capacity(*count as usize);
                    while beginnings.len() < *count as usize {
                        let begin = draw_below(&mut draw, room + 1);
                        if !beginnings.contains(&begin) {
                            beginnings.push(begin);
                        }
                    }
                    return Ok(beginnings);
                }
                self.check_end(u64::from(*count) * self.length)?;
                let free = self.whole - u64::from(*count) * self.length;
                let mut gaps: Vec<u64> = (0..*count).map(|_| draw_below(&mut draw, free + 1)).collect();
                gaps.sort_unstable();
                Ok(gaps.iter().zip(0..).map(|(gap, at)| gap + at * self.length).collect())
            }
            WindowPlacement::From(places) => {
                let last = places.iter().copied().max().unwrap_or(0);
                self.check_end(u64::from(last) * self.rule_unit() + self.length)?;
                Ok(places.iter().map(|&place| u64::from(place) * self.rule_unit()).collect())
            }
            WindowPlacement::RlScheduler(count) => {
                // Beginnings lie from one length on to one length and two jobs before the end.
                self.check_end(2 * self.length + 2)?;
                let most = u32::try_from(self.whole - 2 * self.length - 2).unwrap_or(u32::MAX);
                let mut twister = MersenneTwister::new(&RLSCHEDULER_KEY);
                Ok((0..*count).map(|_| self.length + u64::from(twister.at_most(most))).collect())
            }
        }
    }

    /// Seconds or jobs of which the rule's numbers count one.
    fn rule_unit(&self) -> u64 {
        match self.rule.length {
            WindowLength::Jobs(_) => 1,
            WindowLength::Days(_) => DAY,
        }
    }

    /// Checks that the log reaches so far.
    fn check_end(&self, end: u64) -> Result<(), WindowError> {
        if end <= self.whole {
            return Ok(());
        }
        let text = |amount: u64| match self.rule.length {
            WindowLength::Jobs(_) => format!("{amount} jobs"),
            WindowLength::Days(_) => format!("{:.1} days", amount as f64 / DAY as f64),
        };
        Err(WindowError::TooShort {
            rule: WindowRuleText(self.rule.to_string()),
            needed: text(end),
            present: text(self.whole),
        })
    }

    fn build_window(&self, begin: u64) -> LogWindow {
        let (warm_up, cool_down) = (u64::from(self.rule.warm_up), u64::from(self.rule.cool_down));
        match self.rule.length {
            WindowLength::Jobs(_) => {
                let place = |at: u64| usize::try_from(at.min(self.whole)).unwrap_or(usize::MAX);
                let counted_places = place(begin)..place(begin + self.length);
                let simulated_places = place(begin.saturating_sub(warm_up))..place(begin + self.length + cool_down);
                LogWindow {
                    name: format!("jobs {}..{}", counted_places.start, counted_places.end),
                    counted: counted_places,
                    simulated: simulated_places,
                }
            }
            WindowLength::Days(_) => {
                let first = self.workload.submit_range().unwrap_or_default().0;
                let after = |seconds: u64| first + Span(i64::try_from(seconds).unwrap_or(i64::MAX));
                let (from, until) = (after(begin), after(begin + self.length));
                let early = from - Span(i64::try_from(warm_up * DAY).unwrap_or(i64::MAX));
                let late = after(begin + self.length + cool_down * DAY);
                let places = |from: Time, until: Time| -> Range<usize> {
                    find_submitted(self.workload, Some(from), Some(until))
                };
                LogWindow {
                    name: format!("{}..{}", from.0, until.0),
                    counted: places(from, until),
                    simulated: places(early, late),
                }
            }
        }
    }
}

/// A number below `limit`, which is at least 1.
fn draw_below(draw: &mut RandomDraw, limit: u64) -> u64 {
    match usize::try_from(limit) {
        Ok(small) if u32::try_from(limit).is_ok() => draw.draw_below(small) as u64,
        // Seconds of more than a century.
        _ => ((draw.draw_unit() * limit as f64) as u64).min(limit - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Provenance, Truth};

    fn workload(submits: impl Iterator<Item = i64>) -> Workload {
        let jobs: Vec<Job> = submits.map(|at| Job::new(Time(at), 1, Span(1))).collect();
        let truth = (1..=jobs.len() as i64).map(|number| Truth { run: Span(1), number, status: LogStatus::Completed });
        let truth = truth.collect();
        Workload::new(Machine::new(1), jobs, truth, Provenance::default()).expect("valid")
    }

    fn windows(rule: &str, workload: &Workload) -> Vec<LogWindow> {
        let rule: WindowRule = rule.parse().expect("a rule");
        rule.find_windows(workload).unwrap_or_else(|problem| panic!("{problem}"))
    }

    fn starts(rule: &str, workload: &Workload) -> Vec<usize> {
        windows(rule, workload).iter().map(|window| window.counted.start).collect()
    }

    /// The windows of the published study of RLScheduler, which its authors' own code drew from a
    /// log of 10,000 jobs.
    #[test]
    fn rlscheduler_draws_the_windows_of_its_authors() {
        let log = workload(0..10_000);
        let author_starts = [1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085];
        assert_eq!(starts("rlscheduler", &log), author_starts);
        assert_eq!(starts("rlscheduler, count=3", &log), author_starts[..3]);
        assert!(windows("rlscheduler-256", &log).iter().all(|window| window.counted.len() == 256));
    }

    #[test]
    fn windows_behind_each_other_and_at_equal_distances() {
        let log = workload(0..1_000);
        assert_eq!(starts("jobs=300", &log), [0, 300, 600]);
        assert_eq!(starts("jobs=300, count=3", &log), [0, 350, 700]);
        assert_eq!(starts("jobs=100, count=1", &log), [0]);
        assert_eq!(starts("jobs=100, from=7+0", &log), [7, 0]);
        // Ten windows of a hundred fill the log.
        let tile_starts: Vec<usize> = (0..10).map(|at| 100 * at).collect();
        assert_eq!(starts("jobs=100, count=10", &log), tile_starts);
        assert_eq!(starts("jobs=100, count=10, seed=5", &log), tile_starts);
    }

    /// Windows drawn apart have no job in common, whatever the seed; those that may overlap stay
    /// within the log.
    #[test]
    fn drawn_windows_lie_apart_and_within() {
        let log = workload(0..1_000);
        let mut drawn_apart = Vec::new();
        for seed in 0..50 {
            let apart = windows(&format!("jobs=90, count=8, seed={seed}"), &log);
            assert!(apart.windows(2).all(|pair| pair[0].counted.end <= pair[1].counted.start));
            drawn_apart.push(apart[0].counted.start);
            let overlap_windows = windows(&format!("jobs=900, count=8, overlap=yes, seed={seed}"), &log);
            assert!(overlap_windows.iter().all(|window| window.counted.end <= 1_000 && window.counted.len() == 900));
        }
        drawn_apart.sort_unstable();
        drawn_apart.dedup();
        assert!(drawn_apart.len() > 20, "seeds differ");
    }

    /// A job every six hours from second 500 on, for ten days and a quarter.
    #[test]
    fn days_count_from_the_first_submit() {
        let log = workload((0..42).map(|at| 500 + 21_600 * at));
        let day_windows = windows("days=3", &log);
        assert_eq!(day_windows.len(), 3);
        assert_eq!((day_windows[1].name.as_str(), day_windows[1].counted.clone()), ("259700..518900", 12..24));
        let margins = windows("days=2, from=4, warm-up=1, cool-down=3", &log);
        assert_eq!((margins[0].counted.clone(), margins[0].simulated.clone()), (16..24, 12..36));
        let margins = windows("jobs=10, from=4, warm-up=5, cool-down=30", &log);
        assert_eq!((margins[0].counted.clone(), margins[0].simulated.clone()), (4..14, 0..42));
    }

    #[test]
    fn days_without_jobs_are_no_window_unless_asked_for() {
        let log = workload([0, 1, 86_400 * 5, 86_400 * 6].into_iter());
        assert_eq!(windows("days=1", &log).len(), 2);
        let rule: WindowRule = "days=1, from=2".parse().expect("a rule");
        assert!(matches!(rule.find_windows(&log), Err(WindowError::Empty { .. })));
    }

    #[test]
    fn short_logs_are_refused_in_a_sentence() {
        let rule: WindowRule = "jobs=256, count=10".parse().expect("a rule");
        let problem = rule.find_windows(&workload(0..2_000)).expect_err("too short").to_string();
        let expected = "jobs=256,count=10 needs 2560 jobs, and the log has 2000 jobs; ask for fewer or shorter windows";
        assert_eq!(problem, expected);
        for rule in ["days=15, count=10", "rlscheduler", "jobs=3", "jobs=1, from=5"] {
            let rule: WindowRule = rule.parse().expect("a rule");
            assert!(matches!(rule.find_windows(&workload(0..2)), Err(WindowError::TooShort { .. })), "{rule}");
            assert!(rule.find_windows(&workload(0..0)).is_err());
        }
    }
}
