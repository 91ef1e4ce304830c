//! Trimming: which jobs of a simulation count.

use super::measures::UnknownWord;
use crate::model::{EndedJob, JobId, LogStatus, Span, Time, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Selection of the jobs that count. Part of an experiment's description; printed with its results.
///
/// ```
/// use drystone::metrics::JobSelection;
/// use drystone::model::Span;
///
/// // Without the first and the last day.
/// let selection = JobSelection::Window { warm_up: Span::DAY, cool_down: Span::DAY };
/// assert_eq!(selection.to_string().parse(), Ok(selection));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobSelection {
    /// All jobs.
    #[default]
    All,
    /// Tsafrir et al. 2007: without the first ⌊n/100⌋ jobs in the order in which their terminations
    /// were handled, and of the others only those that ended no later than the last submit.
    Tsafrir,
    /// Jobs submitted from `from` up to, but not including, `until`, whenever they end. Chiang &
    /// Vasupongayya 2008 simulate a week before the month they report and let arrivals go on until
    /// all jobs of the month have started.
    Submitted {
        /// First submit that counts.
        from: Time,
        /// First submit after it that no longer counts.
        until: Time,
    },
    /// Jobs submitted no earlier than `warm_up` after the first submit and no later than
    /// `cool_down` before the last one.
    Window {
        /// Time left out at the beginning.
        warm_up: Span,
        /// Time left out at the end.
        cool_down: Span,
    },
    /// Jobs that completed according to their log (SWF status 1).
    Completed,
}

impl fmt::Display for JobSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobSelection::All => f.write_str("all"),
            JobSelection::Tsafrir => f.write_str("tsafrir"),
            JobSelection::Submitted { from, until } => write!(f, "submitted({from},{until})"),
            JobSelection::Window { warm_up, cool_down } => write!(f, "window({warm_up},{cool_down})"),
            JobSelection::Completed => f.write_str("completed"),
        }
    }
}

impl FromStr for JobSelection {
    type Err = UnknownWord;

    /// Reads what `Display` writes: `all`, `tsafrir`, `completed`, `submitted(FROM,UNTIL)`,
    /// `window(WARM_UP,COOL_DOWN)`, all in seconds, FROM before UNTIL and no period of less than
    /// nothing.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let parse = || -> Option<JobSelection> {
            Some(match word {
                "all" => JobSelection::All,
                "tsafrir" => JobSelection::Tsafrir,
                "completed" => JobSelection::Completed,
                _ => {
                    let (name, rest) = word.split_once('(')?;
                    let (first, second) = rest.strip_suffix(')')?.split_once(',')?;
                    let (first, second) = (first.trim().parse().ok()?, second.trim().parse().ok()?);
                    match name.trim() {
                        "submitted" if first < second => {
                            JobSelection::Submitted { from: Time(first), until: Time(second) }
                        }
                        "window" if first >= 0 && second >= 0 => {
                            JobSelection::Window { warm_up: Span(first), cool_down: Span(second) }
                        }
                        _ => return None,
                    }
                }
            })
        };
        parse().ok_or_else(|| UnknownWord {
            what: "selection",
            word: word.to_string(),
            expected:
                "all, tsafrir, completed, submitted(FROM,UNTIL) with FROM before UNTIL, or window(WARM_UP,COOL_DOWN), \
                       in seconds"
                    .to_string(),
        })
    }
}

impl JobSelection {
    /// Returns an upper bound of the jobs of a workload that count: exact but for
    /// [`JobSelection::Tsafrir`], which leaves out jobs that end late, known only after the
    /// simulation. Cost: O(n).
    #[must_use]
    pub fn at_most(self, workload: &Workload) -> usize {
        let jobs = workload.len();
        let Some(submits) = workload.submit_range() else { return 0 };
        match Selector::selection_rule(self, jobs as u64, submits).0 {
            SelectionRule::All => jobs,
            SelectionRule::Tsafrir { skip, .. } => jobs - skip as usize,
            SelectionRule::Submitted { from, to } => {
                workload.jobs().iter().filter(|job| (from..=to).contains(&job.submit)).count()
            }
            SelectionRule::Completed => workload.truth().iter().filter(|t| t.status == LogStatus::Completed).count(),
        }
    }
}

/// Number of jobs seen and counted, and of the others by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trimmed {
    /// Jobs that ended.
    pub seen: u64,
    /// Jobs that count.
    pub kept: u64,
    /// Among the first ⌊n/100⌋ terminations, or submitted before the window.
    pub dropped_early: u64,
    /// Ended after the last submit, or submitted after the window.
    pub dropped_late: u64,
    /// Dropped for the status of their log.
    pub dropped_status: u64,
    /// Started before the simulation began.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_found: u64,
    /// Of a run time that is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_uncounted: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Decides job by job, in the order in which terminations are handled.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    selection: JobSelection,
    rule: SelectionRule,
    /// The period the selection is about, as far as it is known: its beginning moves while jobs are
    /// skipped.
    period: (Time, Time),
    trimmed: Trimmed,
    /// Jobs that never count.
    uncounted: BTreeSet<JobId>,
}

#[derive(Clone, Copy, Debug)]
enum SelectionRule {
    All,
    Tsafrir {
        /// Terminations that are still to be skipped.
        skip: u64,
        last_submit: Time,
    },
    /// Submits from the first up to and including the second.
    Submitted {
        from: Time,
        to: Time,
    },
    Completed,
}

impl Selector {
    /// A selector for `jobs` jobs with the given first and last submit.
    pub(super) fn new(selection: JobSelection, jobs: u64, submits: (Time, Time)) -> Selector {
        let (rule, period) = Selector::selection_rule(selection, jobs, submits);
        Selector { selection, rule, period, trimmed: Trimmed::default(), uncounted: BTreeSet::new() }
    }

    pub(super) fn without_jobs(self, exclusions: BTreeSet<JobId>) -> Selector {
        Selector { uncounted: exclusions, ..self }
    }

    /// A part of the workload follows that is simulated apart: it is trimmed by itself.
    pub(super) fn begin_part(&mut self, jobs: u64, submits: (Time, Time)) {
        (self.rule, self.period) = Selector::selection_rule(self.selection, jobs, submits);
    }

    fn selection_rule(selection: JobSelection, jobs: u64, submits: (Time, Time)) -> (SelectionRule, (Time, Time)) {
        let (first, last) = submits;
        match selection {
            JobSelection::All => (SelectionRule::All, submits),
            JobSelection::Completed => (SelectionRule::Completed, submits),
            JobSelection::Tsafrir => {
                let rule = SelectionRule::Tsafrir { skip: jobs / 100, last_submit: last };
                (rule, submits)
            }
            JobSelection::Submitted { from, until } => {
                let to = Time(until.0.saturating_sub(1));
                // Nothing can be said of times in which no job could be submitted.
                (SelectionRule::Submitted { from, to }, (from.max(first), until.min(last)))
            }
            JobSelection::Window { warm_up, cool_down } => {
                let from = first.saturating_add(warm_up);
                let to = Time(last.0.saturating_sub(cool_down.0));
                (SelectionRule::Submitted { from, to }, (from, to))
            }
        }
    }

    #[inline]
    pub(super) fn keeps_job(&mut self, job_end: &EndedJob<'_>) -> bool {
        self.trimmed.seen += 1;
        if job_end.outcome.found.is_some() {
            self.trimmed.dropped_found += 1;
            return false;
        }
        if !self.uncounted.is_empty() && self.uncounted.contains(&job_end.id) {
            self.trimmed.dropped_uncounted += 1;
            return false;
        }
        let drop_counter = match &mut self.rule {
            SelectionRule::All => None,
            SelectionRule::Tsafrir { skip, .. } if *skip > 0 => {
                *skip -= 1;
                self.period.0 = self.period.0.max(job_end.outcome.end);
                Some(&mut self.trimmed.dropped_early)
            }
            SelectionRule::Tsafrir { last_submit, .. } if job_end.outcome.end > *last_submit => {
                Some(&mut self.trimmed.dropped_late)
            }
            SelectionRule::Tsafrir { .. } => None,
            SelectionRule::Submitted { from, .. } if job_end.job.submit < *from => {
                Some(&mut self.trimmed.dropped_early)
            }
            SelectionRule::Submitted { to, .. } if job_end.job.submit > *to => Some(&mut self.trimmed.dropped_late),
            SelectionRule::Submitted { .. } => None,
            SelectionRule::Completed if job_end.truth.status == LogStatus::Completed => None,
            SelectionRule::Completed => Some(&mut self.trimmed.dropped_status),
        };
        if let Some(count) = drop_counter {
            *count += 1;
            return false;
        }
        self.trimmed.kept += 1;
        true
    }

    /// The period: for Tsafrir's rule from the last skipped termination to the last submit, for
    /// windows and submits what of them lies between the first and the last submit, otherwise from
    /// the first to the last submit.
    pub(super) fn period(&self) -> (Time, Time) {
        self.period
    }

    pub(super) fn trim_counts(&self) -> Trimmed {
        self.trimmed
    }
}
