//! Choices of cleaning, each with its name.

use crate::model::Span;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A text that is no option.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{option} cannot be `{given}`; expected {expected}")]
pub struct OptionError {
    /// Name of the option.
    pub option: &'static str,
    /// Given value.
    pub given: String,
    /// Allowed values.
    pub expected: String,
}

/// An enum of named choices with one text form for the command line, for files and for people.
macro_rules! choices {
    ($(#[$doc:meta])* $type:ident, $option:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        drystone_core::word_enum! {
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
            #[serde(try_from = "String", into = "String")]
            pub enum $type { $($(#[$vdoc])* $variant = $text,)+ }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = OptionError;
            fn from_str(text: &str) -> Result<$type, OptionError> {
                Self::ALL.iter().copied().find(|c| c.name() == text).ok_or_else(|| OptionError {
                    option: $option,
                    given: text.to_string(),
                    expected: Self::ALL.iter().map(|c| c.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }

        impl TryFrom<String> for $type {
            type Error = OptionError;
            fn try_from(text: String) -> Result<$type, OptionError> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(choice: $type) -> String {
                choice.name().to_string()
            }
        }
    };
}
choices! {
    /// Field that gives a job's size.
    SizeField, "size" {
        /// Requested processors (field 8), else allocated ones (field 5).
        #[default]
        Requested = "requested",
        /// Allocated processors (field 5), else requested ones (field 8).
        Allocated = "allocated",
        /// Requested processors (field 8) only.
        RequestedOnly = "requested-only",
        /// Allocated processors (field 5) only.
        AllocatedOnly = "allocated-only",
        /// The larger of the two.
        Larger = "larger",
        /// The smaller of the two, of those that are positive.
        Smaller = "smaller",
    }
}

choices! {
    /// Treatment of a job that outlives its estimate.
    Overrun, "overrun" {
        /// It keeps its logged run time, as logs show.
        #[default]
        RunOn = "run-on",
        /// Its run time is cut at its estimate.
        Kill = "kill",
        /// Its estimate is raised to its run time.
        Raise = "raise",
        /// Every job's estimate is its run time: the "accurate estimates" of papers.
        Exact = "exact",
    }
}

choices! {
    /// Treatment of records of a certain kind.
    Keep, "this option" {
        /// They become jobs.
        #[default]
        Keep = "keep",
        /// They are dropped.
        Drop = "drop",
    }
}

choices! {
    /// Treatment of a record with a negative run time.
    NegativeRun, "negative-run" {
        /// It is dropped.
        #[default]
        Drop = "drop",
        /// Its run time becomes 0.
        Zero = "zero",
        /// Its run time becomes 10 s.
        Ten = "ten",
    }
}

choices! {
    /// Treatment of a job wider than the machine.
    TooWide, "too-wide" {
        /// It is dropped.
        #[default]
        Drop = "drop",
        /// It is dropped, and so is a record whose other size field (5 or 8) exceeds the machine.
        DropEither = "drop-either",
        /// It is an error.
        Error = "error",
    }
}

choices! {
    /// Treatment of a record whose job number was used before.
    Duplicates, "duplicates" {
        /// It becomes a job of its own; it is counted.
        #[default]
        Keep = "keep",
        /// It is dropped.
        Drop = "drop",
        /// It is an error.
        Error = "error",
    }
}

/// Substitute for a missing estimate (field 9 not positive).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MissingEstimate {
    /// `run`: the run time.
    #[default]
    Run,
    /// `run-min-1`: the run time, at least one second.
    RunMin1,
    /// `drop`: nothing; the record is dropped.
    Drop,
    /// A number of seconds.
    Seconds(Span),
    /// `factor(F)`: F times the run time, in thousandths: a model of users with known run times who
    /// ask for more.
    Factor(u32),
    /// `uniform(F)`: uniform from the run time up to 1 + F times the run time, F in thousandths and
    /// drawn with one seed for ever: the f-model (Feitelson & Mu'alem Weil 1998).
    Uniform(u32),
    /// `user-mean`: the mean run time of the user's earlier jobs that had ended by the submit, of
    /// all users' where the user has none, and an hour where there are none at all. Waits that the
    /// log records count.
    UserMean,
    /// `tsafrir`: drawn from few round values, none below the run time, as users give them
    /// (Tsafrir, Etsion & Feitelson 2005), with one seed for ever.
    Tsafrir,
}

impl MissingEstimate {
    /// Returns whether the substitute is the run time itself, so that any policy that plans with it
    /// knows the future.
    #[must_use]
    pub fn is_run(self) -> bool {
        matches!(self, MissingEstimate::Run | MissingEstimate::RunMin1)
    }
}

impl fmt::Display for MissingEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingEstimate::Run => f.pad("run"),
            MissingEstimate::RunMin1 => f.pad("run-min-1"),
            MissingEstimate::Drop => f.pad("drop"),
            MissingEstimate::Seconds(span) => fmt::Display::fmt(&span.0, f),
            MissingEstimate::Factor(thousandths) => f.pad(&format!("factor({})", f64::from(*thousandths) / 1_000.0)),
            MissingEstimate::Uniform(thousandths) => f.pad(&format!("uniform({})", f64::from(*thousandths) / 1_000.0)),
            MissingEstimate::UserMean => f.pad("user-mean"),
            MissingEstimate::Tsafrir => f.pad("tsafrir"),
        }
    }
}

impl FromStr for MissingEstimate {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<MissingEstimate, OptionError> {
        match text {
            "run" => Ok(MissingEstimate::Run),
            "run-min-1" => Ok(MissingEstimate::RunMin1),
            "drop" => Ok(MissingEstimate::Drop),
            "user-mean" => Ok(MissingEstimate::UserMean),
            "tsafrir" => Ok(MissingEstimate::Tsafrir),
            _ if parse_factor("factor", text).is_some_and(|factor| factor >= 1_000) => {
                Ok(MissingEstimate::Factor(parse_factor("factor", text).unwrap_or_default()))
            }
            _ if parse_factor("uniform", text).is_some() => {
                Ok(MissingEstimate::Uniform(parse_factor("uniform", text).unwrap_or_default()))
            }
            _ => match text.parse() {
                Ok(seconds) if (1..=crate::model::TIME_LIMIT).contains(&seconds) => {
                    Ok(MissingEstimate::Seconds(Span(seconds)))
                }
                _ => Err(OptionError {
                    option: "missing-estimate",
                    given: text.to_string(),
                    expected: "run, run-min-1, drop, tsafrir, factor(2), uniform(2), user-mean, or a positive number of seconds"
                        .to_string(),
                }),
            },
        }
    }
}

/// The number of `factor(1.5)` or another name, in thousandths, up to 1,000.
fn parse_factor(name: &str, text: &str) -> Option<u32> {
    let number: f64 = text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?.trim().parse().ok()?;
    (0.0..=1_000.0).contains(&number).then_some((number * 1_000.0).round() as u32)
}

impl TryFrom<String> for MissingEstimate {
    type Error = OptionError;
    fn try_from(text: String) -> Result<MissingEstimate, OptionError> {
        text.parse()
    }
}

impl From<MissingEstimate> for String {
    fn from(choice: MissingEstimate) -> String {
        choice.to_string()
    }
}
