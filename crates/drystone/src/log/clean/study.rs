//! Published studies: their names, machines and averages.

use super::choices::OptionError;
use crate::log::swf::SwfHeader;
use crate::model::Procs;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

drystone_core::word_enum! {
    /// A published study. Its options say how it turned records into jobs, as established by
    /// comparing two independent implementations with the published tables. Its name is also that
    /// of its policy variant: `easy@tsafrir2007`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum CleaningStudy {
        /// Tsafrir, Etsion, Feitelson: "Backfilling Using System-Generated Predictions" (TPDS
        /// 2007).
        Tsafrir2007 = "tsafrir2007",
        /// Gaussier, Glesser, Reis, Trystram: "Improving Backfilling by Using Machine Learning to
        /// Predict Running Times" (SC 2015).
        Gaussier2015 = "gaussier2015",
        /// Kettimuthu, Subramani, Srinivasan, Gopalsamy, Panda, Sadayappan: "Selective Preemption
        /// Strategies" (2005).
        Kettimuthu2005 = "kettimuthu2005",
        /// Lawson, Smirni, Puiu: "Self-Adapting Backfilling Scheduling for Parallel Systems" (ICPP
        /// 2002).
        Lawson2002 = "lawson2002",
        /// Talby, Feitelson: "Supporting Priorities and Improving Utilization of the IBM SP
        /// Scheduler Using Slack-Based Backfilling" (1999).
        Talby1999 = "talby1999",
        /// Chiang, Vasupongayya: "Design and Potential Performance of Goal-Oriented Job Scheduling
        /// Policies" (TPDS 2008).
        Chiang2008 = "chiang2008",
        /// Zhang, Dai, He, Bao, Xie: "RLScheduler: An Automated HPC Batch Job Scheduler Using
        /// Reinforcement Learning" (SC 2020).
        RlScheduler2020 = "rlscheduler2020",
    }
}

impl CleaningStudy {
    /// The machine it simulated, for logs where that is not what the header says. The log is
    /// recognised by its header.
    #[must_use]
    pub fn machine_procs(self, header: &SwfHeader) -> Option<Procs> {
        match (self, StudySite::from_header(header)?) {
            (CleaningStudy::Tsafrir2007 | CleaningStudy::Lawson2002, StudySite::Ctc) => Some(512),
            (CleaningStudy::Gaussier2015, StudySite::Ctc) => Some(338),
            (CleaningStudy::Kettimuthu2005, StudySite::Ctc) => Some(430),
            (CleaningStudy::Talby1999, StudySite::Kth) => Some(128),
            (CleaningStudy::Lawson2002, StudySite::Paragon) => Some(416),
            _ => None,
        }
    }

    /// Number of jobs of a log, in order of arrival, that it simulated in most tables; `None` for
    /// all.
    #[must_use]
    pub fn job_count(self) -> Option<usize> {
        (self == CleaningStudy::Kettimuthu2005).then_some(5_000)
    }

    /// Returns the jobs that its averages leave out.
    #[must_use]
    pub fn trim_rule(self) -> Trim {
        match self {
            CleaningStudy::Tsafrir2007 => Trim::Tsafrir,
            CleaningStudy::Gaussier2015
            | CleaningStudy::Kettimuthu2005
            | CleaningStudy::Lawson2002
            | CleaningStudy::Talby1999
            | CleaningStudy::Chiang2008
            | CleaningStudy::RlScheduler2020 => Trim::Nothing,
        }
    }
}

impl fmt::Display for CleaningStudy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CleaningStudy {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<CleaningStudy, OptionError> {
        CleaningStudy::ALL.iter().copied().find(|s| s.name() == text).ok_or_else(|| OptionError {
            option: "as",
            given: text.to_string(),
            expected: CleaningStudy::ALL.iter().map(|s| s.name()).collect::<Vec<_>>().join(", "),
        })
    }
}

impl TryFrom<String> for CleaningStudy {
    type Error = OptionError;
    fn try_from(text: String) -> Result<CleaningStudy, OptionError> {
        text.parse()
    }
}

impl From<CleaningStudy> for String {
    fn from(study: CleaningStudy) -> String {
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
enum StudySite {
    Ctc,
    Kth,
    Paragon,
}

impl StudySite {
    fn from_header(header: &SwfHeader) -> Option<StudySite> {
        let installation = header.installation()?;
        let computer = header.computer()?;
        if installation.contains("Cornell Theory Center") && computer.contains("SP2") {
            Some(StudySite::Ctc)
        } else if installation.contains("(KTH)") && computer.contains("SP2") {
            Some(StudySite::Kth)
        } else if installation.contains("SDSC") && computer.contains("Paragon") {
            Some(StudySite::Paragon)
        } else {
            None
        }
    }
}
