//! The ways in which published studies cleaned their logs.

use super::options::{Keep, MissingEstimate, NegativeRun, OptionError, Options, Overrun, SizeField, TooWide};
use crate::log::swf::Header;
use crate::model::Procs;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A published study. Its options say how it turned records into jobs, as established by comparing
/// two independent implementations with the published tables. Its name is also that of its policy
/// variant: `easy@tsafrir2007`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Study {
    /// Tsafrir, Etsion, Feitelson: "Backfilling Using System-Generated Predictions" (TPDS 2007).
    Tsafrir2007,
    /// Gaussier, Glesser, Reis, Trystram: "Improving Backfilling by Using Machine Learning to
    /// Predict Running Times" (SC 2015).
    Gaussier2015,
    /// Kettimuthu, Subramani, Srinivasan, Gopalsamy, Panda, Sadayappan: "Selective Preemption
    /// Strategies" (2005).
    Kettimuthu2005,
    /// Lawson, Smirni, Puiu: "Self-Adapting Backfilling Scheduling for Parallel Systems" (ICPP
    /// 2002).
    Lawson2002,
    /// Talby, Feitelson: "Supporting Priorities and Improving Utilization of the IBM SP Scheduler
    /// Using Slack-Based Backfilling" (1999).
    Talby1999,
    /// Chiang, Vasupongayya: "Design and Potential Performance of Goal-Oriented Job Scheduling
    /// Policies" (TPDS 2008).
    Chiang2008,
}

impl Study {
    /// Every study, in the order of the documentation.
    pub const ALL: &'static [Study] = &[
        Study::Tsafrir2007,
        Study::Gaussier2015,
        Study::Kettimuthu2005,
        Study::Lawson2002,
        Study::Talby1999,
        Study::Chiang2008,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Study::Tsafrir2007 => "tsafrir2007",
            Study::Gaussier2015 => "gaussier2015",
            Study::Kettimuthu2005 => "kettimuthu2005",
            Study::Lawson2002 => "lawson2002",
            Study::Talby1999 => "talby1999",
            Study::Chiang2008 => "chiang2008",
        }
    }

    /// Returns the conversion of the study.
    ///
    /// Not set, because no study used it throughout: Kettimuthu et al. simulated the first 5,000
    /// jobs in most tables (`take`) and also user estimates (`overrun` `raise`); Talby and
    /// Feitelson, and Chiang and Vasupongayya, simulated months apart.
    #[must_use]
    pub fn options(self) -> Options {
        let base = Options { study: Some(self), ..Options::default() };
        match self {
            Study::Tsafrir2007 => Options { size: SizeField::AllocatedOnly, ..base },
            Study::Gaussier2015 => Options {
                zero_run: Keep::Drop,
                missing_estimate: MissingEstimate::Drop,
                negative_submit: Keep::Drop,
                too_wide: TooWide::DropEither,
                overrun: Overrun::Kill,
                ..base
            },
            Study::Kettimuthu2005 | Study::Lawson2002 => {
                Options { zero_run: Keep::Drop, overrun: Overrun::Exact, ..base }
            }
            Study::Talby1999 => Options {
                size: SizeField::Allocated,
                negative_run: NegativeRun::Zero,
                missing_estimate: MissingEstimate::RunMin1,
                overrun: Overrun::Kill,
                ..base
            },
            Study::Chiang2008 => Options { overrun: Overrun::Exact, ..base },
        }
    }

    /// The machine it simulated, for logs where that is not what the header says. The log is
    /// recognised by its header.
    #[must_use]
    pub fn procs(self, header: &Header) -> Option<Procs> {
        match (self, Site::of(header)?) {
            (Study::Tsafrir2007 | Study::Lawson2002, Site::Ctc) => Some(512),
            (Study::Gaussier2015, Site::Ctc) => Some(338),
            (Study::Kettimuthu2005, Site::Ctc) => Some(430),
            (Study::Talby1999, Site::Kth) => Some(128),
            (Study::Lawson2002, Site::Paragon) => Some(416),
            _ => None,
        }
    }

    /// Returns the jobs that its averages leave out.
    #[must_use]
    pub fn trim(self) -> Trim {
        match self {
            Study::Tsafrir2007 => Trim::Tsafrir,
            Study::Gaussier2015 | Study::Kettimuthu2005 | Study::Lawson2002 | Study::Talby1999 | Study::Chiang2008 => {
                Trim::Nothing
            }
        }
    }
}

impl fmt::Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Study {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<Study, OptionError> {
        Study::ALL.iter().copied().find(|s| s.name() == text).ok_or_else(|| OptionError {
            option: "as",
            given: text.to_string(),
            expected: Study::ALL.iter().map(|s| s.name()).collect::<Vec<_>>().join(", "),
        })
    }
}

impl TryFrom<String> for Study {
    type Error = OptionError;
    fn try_from(text: String) -> Result<Study, OptionError> {
        text.parse()
    }
}

impl From<Study> for String {
    fn from(study: Study) -> String {
        study.name().to_string()
    }
}

/// Jobs that averages leave out, though they are simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Trim {
    /// None.
    #[default]
    Nothing,
    /// The first 1 % of all jobs to end, rounded down to whole jobs, and those that end after the
    /// last submit.
    Tsafrir,
}

/// A machine whose log the studies used, as far as one of them differs from its header.
enum Site {
    Ctc,
    Kth,
    Paragon,
}

impl Site {
    fn of(header: &Header) -> Option<Site> {
        let installation = header.installation()?;
        let computer = header.computer()?;
        if installation.contains("Cornell Theory Center") && computer.contains("SP2") {
            Some(Site::Ctc)
        } else if installation.contains("(KTH)") && computer.contains("SP2") {
            Some(Site::Kth)
        } else if installation.contains("SDSC") && computer.contains("Paragon") {
            Some(Site::Paragon)
        } else {
            None
        }
    }
}
