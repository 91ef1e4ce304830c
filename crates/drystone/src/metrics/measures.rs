//! The measures of a single job, one function each.
//!
//! Throughout, `wait` is the time between submit and end in which the job was not running (for jobs
//! never suspended: start − submit) and `run` the run time received. All formulas are in seconds.

use super::summary::Summary;
use crate::model::{EndedJob, Span};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Wait: time not running between submit and end.
#[must_use]
pub fn wait_time(wait: Span) -> f64 {
    wait.as_f64()
}

/// Response (turnaround): wait + run.
#[must_use]
pub fn response_time(wait: Span, run: Span) -> f64 {
    (wait + run).as_f64()
}

/// Slowdown (wait + run) / run = 1 + wait / run (Lawson & Smirni 2002).
///
/// `None` for a run time of 0, for which it is undefined: summaries leave such jobs out and count
/// them as excluded.
#[must_use]
pub fn job_slowdown(wait: Span, run: Span) -> Option<f64> {
    (run > Span::ZERO).then(|| 1.0 + wait.as_f64() / run.as_f64())
}

/// Bounded slowdown with a threshold of 10 s: max(1, (wait + run) / max(10, run)) (Tsafrir et al.
/// 2007).
#[must_use]
pub fn bounded_slowdown(wait: Span, run: Span) -> f64 {
    ((wait + run).as_f64() / run.as_f64().max(10.0)).max(1.0)
}

/// Bounded slowdown in the form of Kettimuthu et al. 2005: (wait + max(run, 10)) / max(run, 10).
/// Never below 1.
#[must_use]
pub fn bounded_slowdown_kettimuthu(wait: Span, run: Span) -> f64 {
    floored_slowdown(wait, run, 10.0)
}

/// Bounded slowdown with run times raised to at least 60 s: (wait + r) / r with r = max(60, run)
/// (Chiang & Vasupongayya 2008).
#[must_use]
pub fn bounded_slowdown_chiang(wait: Span, run: Span) -> f64 {
    floored_slowdown(wait, run, 60.0)
}

fn floored_slowdown(wait: Span, run: Span, floor: f64) -> f64 {
    let run = run.as_f64().max(floor);
    (wait.as_f64() + run) / run
}

/// Accuracy of a prediction: the smaller of prediction and run time divided by the larger; 1 is
/// perfect (Tsafrir et al. 2007, section 3.3). A prediction of 0 for a run time of 0 is perfect.
#[must_use]
pub fn prediction_accuracy(prediction: Span, run: Span) -> f64 {
    if prediction == run { 1.0 } else { prediction.min(run).as_f64() / prediction.max(run).as_f64() }
}

/// Wait in excess of a threshold: max(0, wait − threshold) (Chiang & Vasupongayya 2008).
#[must_use]
pub fn excessive_wait(wait: Span, threshold: Span) -> Span {
    Span(wait.0.saturating_sub(threshold.0)).max(Span::ZERO)
}

/// Slowdown ratio R = (s1 − sm) / min(s1, sm) of mean slowdowns under a single queue (s1) and under
/// multiple queues (sm): positive where multiple queues are better (Lawson & Smirni 2002). `None`
/// where the smaller is not positive.
#[must_use]
pub fn slowdown_ratio(single: f64, multiple: f64) -> Option<f64> {
    let least = single.min(multiple);
    (least > 0.0).then(|| (single - multiple) / least)
}

/// Makes the table of measures below into [`Measure`], its summaries ([`Measures`]) and what
/// computes it: a new line adds the measure everywhere.
macro_rules! measures {
    ($($(#[$doc:meta])* $measure:ident $field:ident $name:literal, $unit:ident, $defined:ident, $of:expr;)*) => {
        /// The measures that every report summarises.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Measure {
            $($(#[$doc])* $measure,)*
        }

        /// A summary for every [`Measure`]. Times are in seconds.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
        pub struct Measures {
            $($(#[$doc])* pub $field: Summary,)*
        }

        impl Measure {
            /// All of them, in the order in which they are reported.
            pub const ALL: [Measure; [$(Measure::$measure),*].len()] = [$(Measure::$measure),*];

            /// Returns the name for people.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Measure::$measure => $name,)*
                }
            }

            /// The word for it in files and on command lines.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self {
                    $(Measure::$measure => stringify!($field),)*
                }
            }

            /// Returns the unit of its values.
            #[must_use]
            pub fn unit(self) -> MetricUnit {
                match self {
                    $(Measure::$measure => MetricUnit::$unit,)*
                }
            }

            /// Returns the jobs that have it.
            #[must_use]
            pub fn defined_jobs(self) -> Defined {
                match self {
                    $(Measure::$measure => Defined::$defined,)*
                }
            }
        }

        impl Measures {
            /// The summary of one measure.
            #[must_use]
            pub fn get(&self, measure: Measure) -> &Summary {
                match measure {
                    $(Measure::$measure => &self.$field,)*
                }
            }

            /// From summaries in the order of [`Measure::ALL`].
            pub(super) fn from_array(summaries: [Summary; MEASURES]) -> Measures {
                let [$($field),*] = summaries;
                Measures { $($field),* }
            }
        }

        /// A measure of a job that waited for `time` and ran for `run`; an undefined one is NaN.
        #[inline]
        pub(super) fn one(measure: Measure, time: Span, run: Span) -> f64 {
            match measure {
                $(Measure::$measure => ($of)(time, run),)*
            }
        }
    };
}

// variant, field and id, what people call it, unit, which jobs have it, how it is computed from
// wait and run time.
measures! {
    /// [`wait_time`]: time not running between submit and end, in seconds.
    Wait wait "wait", Seconds, Always, |time, _: Span| wait_time(time);
    /// [`response_time`]: end − submit, in seconds.
    Response response "response", Seconds, Always, response_time;
    /// [`job_slowdown`]: 1 + wait / run; jobs that ran for 0 s are excluded and counted as such.
    Slowdown slowdown "slowdown", Ratio, WhereItRan, |time, run| job_slowdown(time, run).unwrap_or(f64::NAN);
    /// [`bounded_slowdown`], 10 s (Tsafrir et al.).
    BoundedSlowdown bounded_slowdown "bounded slowdown", Ratio, Always, bounded_slowdown;
    /// [`bounded_slowdown_kettimuthu`], 10 s (Kettimuthu et al.).
    BoundedSlowdownKettimuthu bounded_slowdown_kettimuthu "bounded slowdown (Kettimuthu)", Ratio, Always,
        bounded_slowdown_kettimuthu;
    /// [`bounded_slowdown_chiang`], run times of at least 60 s (Chiang & Vasupongayya).
    BoundedSlowdownChiang bounded_slowdown_chiang "bounded slowdown (Chiang)", Ratio, Always, bounded_slowdown_chiang;
}

pub(super) const MEASURES: usize = Measure::ALL.len();

/// Jobs that have a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defined {
    /// All of them.
    Always,
    /// Those that ran for more than 0 s.
    WhereItRan,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// A word that names none of the things it should name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown {what} '{word}', expected {expected}")]
pub struct UnknownWord {
    /// Kind of the name, e.g. `measure`.
    pub what: &'static str,
    /// The word given.
    pub word: String,
    /// The words or forms there are.
    pub expected: String,
}

impl FromStr for Measure {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Measure::ALL.into_iter().find(|m| m.id() == word).ok_or_else(|| UnknownWord {
            what: "measure",
            word: word.to_string(),
            expected: Measure::ALL.map(Measure::id).join(", "),
        })
    }
}

impl Measure {
    /// Its value for a job that waited so long and ran so long; NaN where it is undefined.
    #[must_use]
    pub fn value_of(self, wait: Span, run: Span) -> f64 {
        one(self, wait, run)
    }
}

/// All measures of one job, in the order of [`Measure::ALL`].
#[inline]
pub(super) fn all_measures(job_end: &EndedJob<'_>) -> [f64; MEASURES] {
    Measure::ALL.map(|measure| one(measure, job_end.wait_time(), job_end.outcome.ran))
}

/// Unit of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricUnit {
    /// Seconds.
    Seconds,
    /// A share of 1, which people read as per cent.
    Share,
    /// A number without a unit.
    Ratio,
    /// Count.
    Count,
}
