//! Windows of a log, each simulated from an empty machine: how long they are, and where they lie.

mod mersenne;
mod places;
mod text;

use std::ops::Range;
pub use text::WindowRuleText;

/// Length of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowLength {
    /// This many jobs, in the order of arrival.
    Jobs(u32),
    /// The jobs submitted within this many days of 24 h.
    Days(u32),
}

/// Rule by which the beginnings of windows are found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowPlacement {
    /// One behind the other from the first job on, as many as have their full length. Days without
    /// a job make no window.
    All,
    /// This many at equal distances, the first at the beginning and the last at the end of the log.
    Spread(u32),
    /// This many drawn at random.
    Drawn {
        /// Number of windows.
        count: u32,
        /// Seed of the draw.
        seed: u64,
        /// True if windows may have jobs in common.
        overlap: bool,
    },
    /// Windows that begin at these jobs or days, counted from 0.
    From(Vec<u32>),
    /// This many as RLScheduler (Zhang et al. 2020) draws them with its default seed: they begin
    /// no earlier than one length after the first job, and may have jobs in common.
    RlScheduler(u32),
}

/// Windows of a log as a study asks for them.
///
/// ```
/// use drystone::log::transform::WindowRule;
///
/// let rule: WindowRule = "jobs=256, count=10, seed=1".parse().expect("a rule");
/// assert_eq!(rule.to_string(), "jobs=256,count=10,seed=1");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowRule {
    /// Length of each window.
    pub length: WindowLength,
    /// Places of the windows.
    pub placement: WindowPlacement,
    /// Jobs or days before a window that are simulated with it and do not count.
    pub warm_up: u32,
    /// Jobs or days behind a window that are simulated with it and do not count.
    pub cool_down: u32,
}

/// A window that was found in a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogWindow {
    /// Its limits: `jobs 1981..3005` by places from 0, or `0..1296000` in seconds of the log.
    pub name: String,
    /// Places of the jobs that count.
    pub counted: Range<usize>,
    /// Places of the jobs that are simulated: warm-up and cool-down as well.
    pub simulated: Range<usize>,
}

/// Reason for which a log has no such windows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WindowError {
    /// The text is no rule.
    #[error("{0}")]
    Text(String),
    /// The log is too short.
    #[error("{rule} needs {needed}, and the log has {present}; ask for fewer or shorter windows")]
    TooShort {
        /// The rule.
        rule: WindowRuleText,
        /// Length that the windows need.
        needed: String,
        /// Length of the log.
        present: String,
    },
    /// A window lies where no job was submitted.
    #[error(
        "{rule}: no job was submitted in the window {window}; ask for another seed, another place or longer windows"
    )]
    Empty {
        /// The rule.
        rule: WindowRuleText,
        /// Limits of the window.
        window: String,
    },
}

impl WindowRule {
    /// Returns whether windows may have jobs in common, warm-up and cool-down among them.
    #[must_use]
    pub fn may_overlap(&self) -> bool {
        let is_drawn = matches!(
            self.placement,
            WindowPlacement::Drawn { overlap: true, .. } | WindowPlacement::RlScheduler(_) | WindowPlacement::From(_)
        );
        is_drawn || self.has_margins()
    }

    /// Returns whether jobs are simulated that do not count.
    #[must_use]
    pub fn has_margins(&self) -> bool {
        self.warm_up > 0 || self.cool_down > 0
    }
}
